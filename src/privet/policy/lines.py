"""On which line of a TOML text each key stands."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from typing import Any


def lines_of(text: str) -> dict[str, int]:
    r"""The line on which each key of a TOML text stands.

    The text is cut into statements, each the fewest lines that TOML's own reader
    accepts by themselves; so nothing is parsed twice over.

    >>> lines_of('title = "x"\n\n[columns]\nquasi = [\n  "job",\n]\n')
    {'title': 1, 'columns': 3, 'columns.quasi': 4}
    """
    found: dict[str, int] = {}
    sections: Counter[str] = Counter()
    at, start, statement = "", 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        try:
            content = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # a list or a text that goes on
        if statement.lstrip().startswith("["):
            at = _section(content, sections)
            paths = [at]
        else:
            paths = _paths(content, at)
        found.update((path, start) for path in paths if path not in found)
        start, statement = number + 1, ""
    return found


def _section(header: Mapping[str, Any], sections: Counter[str]) -> str:
    """The path a header such as ``[[promise]]`` or ``[promise.about]`` opens."""
    path = ""
    while header:
        ((name, inside),) = header.items()
        path += f".{name}" if path else name
        if isinstance(inside, list):
            sections[path] += 1
            inside = inside[0]
        if path in sections:
            path += f"[{sections[path]}]"
        header = inside
    return path


def _paths(content: Mapping[str, Any], at: str) -> list[str]:
    paths = []
    for key, value in content.items():
        path = f"{at}.{key}" if at else key
        if isinstance(value, list) and value and all(map(_is_table, value)):
            for i, section in enumerate(value, 1):
                paths += [f"{path}[{i}]", *_paths(section, f"{path}[{i}]")]
            continue
        paths.append(path)
        if isinstance(value, dict):
            paths += _paths(value, path)
    return paths


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def line_of(key: str, lines: Mapping[str, int]) -> int | None:
    """The line of a key, or of the closest thing around it that has one."""
    while key and key not in lines:
        if (first := lines.get(f"{key}[1]")) is not None:
            return first
        key = key.rpartition(".")[0]
    return lines.get(key)
