"""Ctrl-C on the command line: sent again until the command has heard it.

Compiled code that calls Python may forget what was raised meanwhile, and so may
whatever runs while an object is thrown away: Ctrl-C is pressed, and the command goes on
to its end. Pressing it once more is what a person would do; so the clock does it.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

AGAIN = 0.5
"""Seconds of work after which it is pressed again. A clock of work, not of time: where
nothing works, something waits that hears Ctrl-C."""


def listen() -> None:
    """From now on; where Ctrl-C was switched off, as behind a shell, it stays off."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _hear)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGPROF, _press_again)


def rest() -> None:
    """The command has heard it, and ends."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, 0)


def _hear(number: int, frame: FrameType | None) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, AGAIN, AGAIN)
    raise KeyboardInterrupt


def _press_again(number: int, frame: FrameType | None) -> None:
    """Unless it was heard, and what was begun is being cleaned up.

    Whoever listens to Ctrl-C by now decides what it means.
    """
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return
        error = error.__context__
    signal.raise_signal(signal.SIGINT)
