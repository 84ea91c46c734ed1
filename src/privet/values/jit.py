"""Loops compiled by numba where it is installed (`pip install "privet[fast]"`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FunctionType
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
    """Loops of one module, each made by `make`; by these names they call each other."""
    made = dict(vars(import_module(next(iter(loops.values())).__module__)))
    for name, loop in loops.items():
        made[name] = make(FunctionType(loop.__code__, made, name))
    return {name: made[name] for name in loops}


def jit(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled loop, kept for the next time where there is room to keep it."""
    module = import_numba()
    try:
        fast: Callable[..., Any] = module.njit(cache=True)(loop)
    except RuntimeError:
        fast = module.njit(loop)
    return fast
