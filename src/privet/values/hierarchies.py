"""Value hierarchies (taxonomies): what a value is called at coarser levels.

They are read from the files ARX uses: one row per value, the value first and then what
it is called at each level, ``Cook;Service;Manual;*``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import attrs

from privet.errors import InputError, suggest_names
from privet.values.frozen_dict import FrozenDict

TOP = "*"
"""What stands above all values where a hierarchy has no single top."""

Given = str | PathLike[str] | Mapping[str, Sequence[str]]
"""A file, or the levels of each value."""


@attrs.frozen(init=False)
class Hierarchy:
    """The levels above each value; those that share a level share all above it.

    >>> jobs = Hierarchy({"Cook": ["Manual"], "Driver": ["Manual"], "Judge": ["Law"]})
    >>> jobs.path("Cook")
    ('Cook', 'Manual', '*')
    """

    levels: FrozenDict[str, tuple[str, ...]]
    """What each value is called above itself, from fine to coarse."""
    words: str = "The hierarchy"
    """How messages call it."""

    def __init__(
        self, levels: Mapping[str, Sequence[str]], words: str = "The hierarchy"
    ) -> None:
        paths = {v: tuple(path) for v, path in levels.items()}
        _check(paths, words)
        tops = {path[-1] if path else value for value, path in paths.items()}
        if len(tops) > 1 or not any(paths.values()):
            paths = {v: (*path, TOP) for v, path in paths.items()}
        self.__attrs_init__(FrozenDict(paths), words)

    def path(self, value: str) -> tuple[str, ...]:
        """A value and what it is called at each level above."""
        return value, *self.levels[value]

    @property
    def depth(self) -> int:
        """How many levels there are, the values themselves included."""
        return 1 + len(next(iter(self.levels.values())))

    def require(self, values: Iterable[str | None], column: str) -> None:
        """Every value of a column must have its row; none of them is quoted."""
        missing = sum(v is not None and v not in self.levels for v in values)
        if missing:
            raise InputError(
                f"{self.words} must have a row for every value of column {column!r}; "
                f"{missing} of them have none. Add them to the file."
            )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Hierarchy:
        """Read an ARX hierarchy: a line per value, separated by ; (or , or a tab)."""
        file = Path(path).expanduser()
        words = f"Hierarchy file {str(file)!r}"
        lines = _read_lines(file, words)
        rows = list(csv.reader(lines, delimiter=_find_delimiter(lines)))
        width = len(rows[0])
        for number, row in enumerate(rows, 1):
            if len(row) != width:
                raise InputError(
                    f"{words} must have as many levels in each line; line {number} "
                    f"has {len(row)} entries, the first line {width}."
                )
            if any(not entry.strip() for entry in row[1:]):
                raise InputError(f"{words} must have no gaps; line {number} has one.")
        twice = len(rows) - len({row[0] for row in rows})
        if twice:
            raise InputError(
                f"{words} must have one line per value; {twice} values stand there "
                "more than once."
            )
        return cls({row[0]: row[1:] for row in rows}, words)


def read_hierarchy(given: Given | Hierarchy, what: str) -> Hierarchy:
    """A hierarchy from a file, or from levels written out."""
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, str | PathLike):
        return Hierarchy.load(given)
    if isinstance(given, Mapping):
        return Hierarchy(
            {str(v): _require_levels(p, what) for v, p in given.items()}, what
        )
    raise InputError(
        f"{what} must be a file, or the levels of each value; "
        f"got {type(given).__name__}."
    )


def _require_levels(path: object, what: str) -> tuple[str, ...]:
    if isinstance(path, str) or not isinstance(path, Sequence):
        raise InputError(f"{what} must have a list of levels per value.")
    return tuple(str(level) for level in path)


def _read_lines(file: Path, words: str) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        beside = sorted(p.name for p in file.parent.glob("*.csv"))
        raise InputError(
            f"{words} must exist. {suggest_names(file.name, beside)}"
        ) from (None)
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{words} must be readable UTF-8 text; it is not.") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{words} must have a line per value; it is empty.")
    return lines


def _find_delimiter(lines: Sequence[str]) -> str:
    """What separates levels: the first of ; tab , that stands in every line."""
    everywhere = [d for d in ";\t," if all(d in line for line in lines)]
    return everywhere[0] if everywhere else ";"


def _check(paths: Mapping[str, tuple[str, ...]], words: str) -> None:
    if not paths:
        raise InputError(f"{words} must have values; it has none.")
    lengths = {len(p) for p in paths.values()}
    if len(lengths) > 1:
        raise InputError(
            f"{words} must have as many levels for each value; got "
            f"{min(lengths)} and {max(lengths)}."
        )
    above: dict[tuple[int, str], tuple[str, ...]] = {}
    for path in paths.values():
        for level in range(len(path)):
            # Cook;Service;Manual beside Maid;Service;Office tears Service in two.
            rest = path[level + 1 :]
            if above.setdefault((level, path[level]), rest) != rest:
                raise InputError(
                    f"{words} must be nested: {path[level]!r} at level {level + 1} "
                    "has different levels above it in different lines."
                )
    _refuse_same_names(paths, words)


def _refuse_same_names(paths: Mapping[str, tuple[str, ...]], words: str) -> None:
    """A name means one set of values, at whatever level it stands."""
    below: dict[tuple[int, str], set[str]] = {}
    for value, path in paths.items():
        for level, name in enumerate((value, *path)):
            below.setdefault((level, name), set()).add(value)
    meant: dict[str, set[str]] = {}
    for (_, name), values in below.items():
        if meant.setdefault(name, values) != values:
            raise InputError(
                f"{words} must use a name for one thing; {name!r} stands for "
                "different values at different levels. Rename one of them."
            )
