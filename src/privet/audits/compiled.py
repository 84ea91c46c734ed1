"""Loops compiled by numba where it is installed (`pip install "privet[fast]"`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

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
def compiled(loop: Callable[..., Any]) -> Callable[..., Any] | None:
    """A loop made fast, kept for the next time where there is room; None without."""
    if (module := numba()) is None:
        return None
    try:
        made: Callable[..., Any] = module.njit(cache=True)(loop)
    except RuntimeError:
        made = module.njit(loop)
    return made
