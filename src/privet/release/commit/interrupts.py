"""Ctrl-C and the end of the time while a release is written: heard at once, but never
half-way through.

The first one stops the work; from then on, and while names change, others wait until
everything is settled. Once the release is there it is too late to stop.
"""

from __future__ import annotations

import signal
import threading
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import Any, Self

LAST: ContextVar[bool] = ContextVar("privet_last", default=False)
"""Whether a release is all that a process is for: once it is there, Ctrl-C has nothing
left to stop, and what follows only tells of it."""

HEARD = [s for s in ("SIGINT", "SIGALRM") if hasattr(signal, s)]


class Interrupts:
    """How signals are heard for a while; in other threads than the main one none is."""

    def __init__(self) -> None:
        self.late = False
        """Whether the work is done, and cannot be stopped any more."""
        self._held = False
        self._waiting: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for name in HEARD:
                number = getattr(signal, name)
                before = signal.getsignal(number)
                if callable(before):
                    self._before[number] = before
                    signal.signal(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        last = self.late and LAST.get()
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_IGN if last else before)
        if error is None and not self.late:
            self._raise_waiting()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._held:
            self._waiting.append(number)
            return
        self._held = True
        self._before[number](number, frame)
        self._held = False  # whoever listened before did not mean to stop

    def _raise_waiting(self) -> None:
        while self._waiting:
            number = self._waiting.pop(0)
            self._before[number](number, None)

    def hold(self) -> None:
        """Let others wait from now on."""
        self._held = True

    def let(self) -> None:
        """Hear them again; what came meanwhile is heard first."""
        self._raise_waiting()
        self._held = False
