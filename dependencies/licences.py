"""Hold the licence of every locked package against a list: `make audit`.

What users install with privet must be permissive; tools for development may also have
a licence that binds changes of the tool itself. An unknown licence is a failure, and so
is a locked package that is not there to be looked at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from closure import find_needed, list_installed, read_needs
from license_expression import ExpressionError, get_spdx_licensing
from packaging.markers import Marker

HERE = Path(__file__).parent

PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT"),
    *("MIT-0", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
    "Apache-2.0 WITH LLVM-exception",
}
"""Allowed everywhere."""

TOOLS_ONLY = {"MPL-2.0"}
"""Allowed for what only developers run."""

WORDS = {
    "MIT License": "MIT",
    "MIT license": "MIT",
    "BSD License": "BSD-3-Clause",
    "BSD": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "ISC license": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Classifiers and the words of older packages, by their SPDX name."""

STATED = {"atheris": "Apache-2.0"}
"""Packages whose metadata say nothing; read in the LICENSE file they carry."""


def main(*folders: str) -> int:
    """Look at every locked package; 1 if one is not allowed."""
    installed = list_installed(folders)
    shipped = find_needed(read_needs(extras=True), installed)
    locked = {n for lock in HERE.glob("*.txt") for n in read_names(lock.read_text())}
    problems = [
        problem
        for name in sorted(locked)
        for problem in judge(name, installed.get(name), shipped=name in shipped)
    ]
    for problem in problems:
        print(problem)
    print(
        f"Licences: {len(locked)} locked packages, {len(shipped)} of them for users; "
        f"{len(problems)} not allowed."
    )
    return bool(problems)


def read_names(lock: str) -> list[str]:
    """The packages of a lock that this platform and this Python need."""
    found = re.findall(r"(?m)^([A-Za-z0-9._-]+)==[^\s;]+(?: *; *([^\\\n]+))?", lock)
    return [n for n, marker in found if not marker or Marker(marker).evaluate()]


def judge(name: str, found: Distribution | None, *, shipped: bool) -> list[str]:
    """What is wrong with the licence of a package."""
    if found is None:
        return [f"{name} is locked, but not installed: its licence cannot be read."]
    stated = find_licence(found.metadata) or STATED.get(name, "")
    if not stated:
        return [f"{name} must state a licence; it states none."]
    allowed = PERMISSIVE if shipped else PERMISSIVE | TOOLS_ONLY
    if is_allowed(stated, allowed):
        return []
    return [f"{name} must have an allowed licence; it has {stated!r}."]


def find_licence(metadata: Any) -> str:
    """The licence a package states, as an SPDX expression where that is known."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    lines = metadata.get_all("Classifier", [])
    classes = [c.split(" :: ")[-1] for c in lines if c.startswith("License :: ")]
    text = (metadata.get("License") or "").strip()
    if text and text != "UNKNOWN" and "\n" not in text:
        known = WORDS.get(text, text)
        if not classes or is_allowed(known, PERMISSIVE | TOOLS_ONLY):
            return known
    return " AND ".join(WORDS.get(c, c) for c in classes if c != "OSI Approved")


def is_allowed(stated: str, allowed: Iterable[str]) -> bool:
    """Whether an expression can be met by allowed licences alone.

    >>> is_allowed("GPL-3.0-only OR MIT", {"MIT"})
    True
    >>> is_allowed("GPL-3.0-only AND MIT", {"MIT"})
    False
    """
    try:
        return _meets(get_spdx_licensing().parse(stated, validate=True), set(allowed))
    except ExpressionError:
        return False


def _meets(node: Any, allowed: set[str]) -> bool:
    parts = [_meets(part, allowed) for part in node.args] if node.args else []
    match getattr(node, "operator", ""):
        case " AND ":
            return all(parts)
        case " OR ":
            return any(parts)
    return node.render() in allowed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
