"""Sizes of memory as people write them."""

from __future__ import annotations

import os
import re

from privet.errors import InputError

SHARE = 4
"""What is held beside the database may take one part in so many of its limit."""

UNITS = {
    "": 1,
    "B": 1,
    "BYTES": 1,
    **{f"{p}B": 1000**i for i, p in enumerate("KMGTPE", 1)},
    **{f"{p}IB": 1024**i for i, p in enumerate("KMGTPE", 1)},
}


def size_of(limit: str) -> int:
    """Bytes of a memory limit as DuckDB takes it.

    >>> size_of("4GB"), size_of("1.5 KiB")
    (4000000000, 1536)
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(limit))
    unit = found[2].upper() if found else "?"
    if found is None or unit not in UNITS:
        raise InputError(f"memory_limit must be a size such as 4GB; got {limit!r}.")
    return int(float(found[1]) * UNITS[unit])


def memory_here() -> int:
    """The bytes of memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
