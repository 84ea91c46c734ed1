"""Loops compiled by numba where it is installed (`pip install "privet[fast]"`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

from privet.audits import loops

SWITCH = "PRIVET_NUMBA"
"""Set this variable to 0 to do without numba."""


@cache
def numba() -> Any:
    """The module, or None where it is missing or switched off."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        return import_module("numba")
    except ImportError:
        return None


@cache
def compiled(loop: str) -> Callable[..., Any] | None:
    """A loop of `privet.audits.loops` made fast; None without numba."""
    if (module := numba()) is None:
        return None
    made = _all(module)
    return made[loop]


@cache
def _all(module: Any) -> dict[str, Callable[..., Any]]:
    """Every loop, compiled when it is first called; helpers before their callers."""
    made: dict[str, Callable[..., Any]] = {}
    for name in loops.IN_ORDER:
        plain = getattr(loops, name)
        own = FunctionType(plain.__code__, {**vars(loops), **made}, name)
        own.__module__ = loops.__name__
        own.__qualname__ = name
        made[name] = _jit(module, own)
    return made


def _jit(module: Any, loop: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled loop, kept for the next time where there is room to keep it."""
    try:
        fast: Callable[..., Any] = module.njit(cache=True)(loop)
    except RuntimeError:
        fast = module.njit(loop)
    return fast
