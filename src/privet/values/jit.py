"""Loops compiled by numba where it is installed (`pip install "privet[fast]"`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import FunctionType, ModuleType
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


@cache
def compile_loop(module: ModuleType, loop: str) -> Callable[..., Any] | None:
    """A loop of a module made fast; None without numba."""
    return None if import_numba() is None else compile_module(module)[loop]


@cache
def compile_module(module: ModuleType) -> dict[str, Any]:
    """A module's loops, compiled when first called; they call each other compiled."""
    made = dict(vars(module))
    for name, loop in vars(module).items():
        if isinstance(loop, FunctionType):
            made[name] = jit(FunctionType(loop.__code__, made, name))
    return made


def jit(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled loop, kept for the next time where there is room to keep it."""
    module = import_numba()
    try:
        fast: Callable[..., Any] = module.njit(cache=True)(loop)
    except RuntimeError:
        fast = module.njit(loop)
    return fast
