"""Loops compiled by numba where it is installed (`pip install "privet[fast]"`).

Ctrl-C and the end of the time wait until a compiled loop has ended. Numba runs a little
Python to hand over what was found; an exception there is an error in numba, or the end
of the process.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from types import FrameType, FunctionType
from typing import Any

SWITCH = "PRIVET_NUMBA"
"""Set this variable to 0 to do without numba."""


def import_numba() -> Any:
    """The module, or None where it is missing or switched off."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        return import_module("numba")
    except ImportError:
        return None


def compile_together(
    loops: Mapping[str, Callable[..., Any]], make: Callable[[Any], Any]
) -> dict[str, Any]:
    """Loops, each made by `make`; by these names they call each other.

    All see what their modules hold, the first of them first. Whoever calls them from
    Python is stopped before or behind them.
    """
    made: dict[str, Any] = {}
    for module in dict.fromkeys(loop.__module__ for loop in loops.values()):
        made = {**vars(import_module(module)), **made}
    for name, loop in loops.items():
        made[name] = make(FunctionType(loop.__code__, made, name))
    return {name: _hold_signals(made[name]) for name in loops}


def jit(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled loop, kept for the next time where there is room to keep it."""
    module = import_numba()
    try:
        fast: Callable[..., Any] = module.njit(cache=True)(loop)
    except RuntimeError:
        fast = module.njit(loop)
    return fast


# Signals wait -----------------------------------------------------------------------

HEARD = [getattr(signal, s) for s in ("SIGINT", "SIGALRM") if hasattr(signal, s)]
"""What stops work by an exception."""


def _hold_signals(do: Callable[..., Any]) -> Callable[..., Any]:
    """The same loop, which no signal stops half-way."""
    compiled = not hasattr(do, "compile")

    @wraps(do)
    def call(*given: Any) -> Any:
        nonlocal compiled
        if not compiled:  # takes seconds, and is Python all the way: it may be stopped
            do.compile(tuple(map(import_numba().typeof, given)))  # type: ignore[attr-defined]
            compiled = True
        if threading.current_thread() is not threading.main_thread():
            return do(*given)
        held = HeldSignals()
        try:
            held.hold()
            return do(*given)
        finally:
            held.let()

    return call


class HeldSignals:
    """Signals that wait for a while; only the main thread hears any."""

    def __init__(self) -> None:
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._waiting: list[int] = []

    def hold(self) -> None:
        """Let them wait from now on, where somebody listens."""
        for number in HEARD:
            before = signal.getsignal(number)
            if callable(before):
                self._before[number] = before
                signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._waiting.append(number)

    def let(self) -> None:
        """Hear them as before; what came meanwhile is heard first."""
        try:
            while self._before:
                number = next(iter(self._before))
                before = self._before[number]
                signal.signal(number, before)
                del self._before[number]
                if number in self._waiting:
                    before(number, None)
        finally:
            if self._before:  # one stopped the work before all were let
                self.let()
