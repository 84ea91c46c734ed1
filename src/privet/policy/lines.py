"""On which line of a TOML text each key stands."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any


def lines_of(text: str) -> dict[str, int]:
    r"""The line on which each key of a TOML text stands.

    A key stands where the shortest readable beginning of the text that has it was
    extended; so TOML's own reader decides, and nothing is parsed twice over.

    >>> lines_of('title = "x"\n\n[columns]\nquasi = [\n  "job",\n]\n')
    {'title': 1, 'columns': 3, 'columns.quasi': 4}
    """
    found: dict[str, int] = {}
    lines = text.splitlines(keepends=True)
    start = 1
    for i in range(len(lines)):
        try:
            content = tomllib.loads("".join(lines[: i + 1]))
        except tomllib.TOMLDecodeError:
            continue
        for key in _paths(content):
            found.setdefault(key, start)
        start = i + 2
    return found


def _paths(content: Mapping[str, Any], at: str = "") -> list[str]:
    paths = []
    for key, value in content.items():
        path = f"{at}.{key}" if at else key
        sections = value if isinstance(value, list) else []
        if sections and all(isinstance(s, dict) for s in sections):
            for i, section in enumerate(sections, 1):
                paths += [f"{path}[{i}]", *_paths(section, f"{path}[{i}]")]
            continue
        paths.append(path)
        if isinstance(value, dict):
            paths += _paths(value, path)
    return paths


def line_of(key: str, lines: Mapping[str, int]) -> int | None:
    """The line of a key, or of the closest thing around it that has one."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)
