"""Declared domains: which values a column may have, said without looking at the table.

Noise hides a person only where the list of values does not tell of them. So the list is
declared: written out, or taken from a file that is public anyhow. What is outside goes
to a value that is declared for it, or is an error that the steward alone sees.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import attrs

from privet.errors import InputError, suggest_names
from privet.values.frozen_dict import FrozenDict
from privet.values.known_cells import as_cell

Value = str | None
"""A value as text; None: missing."""

PUBLIC_FROM = "public from "
"""How a policy says that a file lists the values."""

KEYS = ("values", "other", "missing")
"""What a policy may say of one domain."""


def _read_values(given: Any) -> tuple[Value, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"A domain must be a list of values; got {given!r}.")
    found = tuple(None if v is None else as_cell(v) for v in given)
    if twice := [v for v in found if found.count(v) > 1]:
        raise InputError(f"A domain must hold each value once; got {twice[0]!r} twice.")
    return found


@attrs.frozen(slots=False)
class DeclaredDomain:
    """The values a column may have, whoever is in the table.

    >>> jobs = DeclaredDomain(["nurse", "cook"], other="another")
    >>> jobs.listed, jobs.find("cook"), jobs.find("astronaut")
    (('nurse', 'cook', 'another'), 1, 2)
    """

    values: tuple[Value, ...] = attrs.field(default=(), converter=_read_values)
    """In the order in which they are published; None: missing."""
    other: str | None = None
    """What any other value is counted as; None: it is an error."""
    file: str = ""
    """A public file with the values, which is read when they are needed."""

    def __attrs_post_init__(self) -> None:
        if not (self.values or self.file or self.other is not None):
            raise InputError("A domain must have values, or a file of them; got none.")
        if self.other is not None and not (self.other and isinstance(self.other, str)):
            raise InputError(f"other must be a value as text; got {self.other!r}.")

    @property
    def listed(self) -> tuple[Value, ...]:
        """Every value that is published, the one for others among them."""
        more = () if self.other is None or self.other in self.values else (self.other,)
        return (*self.values, *more)

    @cached_property
    def _places(self) -> dict[Value, int]:
        return {v: i for i, v in enumerate(self.listed)}

    def find(self, value: Value) -> int | None:
        """Where a value is counted; None: nowhere."""
        found = self._places.get(value)
        if found is None and self.other is not None:
            return self._places[self.other]
        return found

    def resolve(self, column: str, beside: Path) -> DeclaredDomain:
        """The same with the values of its file."""
        if not self.file:
            return self
        found = read_public_values(beside / Path(self.file).expanduser(), column)
        missing = (None,) if None in self.values else ()
        return DeclaredDomain((*found, *missing), self.other)

    @classmethod
    def from_key(cls, key: object) -> DeclaredDomain:
        """Read what a policy says: a list, `public from FILE`, or a table of both."""
        if isinstance(key, DeclaredDomain):
            return key
        if isinstance(key, str):
            return cls(file=_read_file_name(key))
        if not isinstance(key, Mapping):
            return cls(key)
        if strange := [k for k in key if k not in KEYS]:
            raise InputError(
                f"A domain must be said by {', '.join(KEYS)}; got {strange[0]!r}. "
                f"{suggest_names(str(strange[0]), KEYS)}"
            )
        return cls._from_table(key)

    @classmethod
    def _from_table(cls, key: Mapping[str, Any]) -> DeclaredDomain:
        given, missing = key.get("values", []), key.get("missing", False)
        if not isinstance(missing, bool):
            raise InputError(f"missing must be true or false; got {missing!r}.")
        file = _read_file_name(given) if isinstance(given, str) else ""
        values = [] if file else list(given)
        return cls([*values, *([None] if missing else [])], key.get("other"), file)

    def to_key(self) -> Any:
        """As a policy writes it."""
        values = [v for v in self.values if v is not None]
        told: Any = f"{PUBLIC_FROM}{self.file}" if self.file else values
        more: dict[str, Any] = {} if self.other is None else {"other": self.other}
        more |= {"missing": True} if None in self.values else {}
        if not more:
            return told
        return ({"values": told} if told else {}) | more


def _read_file_name(text: str) -> str:
    name = text.removeprefix(PUBLIC_FROM).strip()
    if not text.startswith(PUBLIC_FROM) or not name:
        raise InputError(
            f"A domain must be a list of values, or '{PUBLIC_FROM}FILE'; got {text!r}."
        )
    return name


def read_domains(given: Mapping[str, Any]) -> FrozenDict[str, DeclaredDomain]:
    """Declared domains by column."""
    if not isinstance(given, Mapping) or not all(isinstance(c, str) for c in given):
        raise InputError(
            "domain must be values per column such as {'sex': ['f', 'm']}; got "
            f"{type(given).__name__}."
        )
    return FrozenDict({c: DeclaredDomain.from_key(key) for c, key in given.items()})


def join_domains(parts: Sequence[DeclaredDomain], between: str) -> DeclaredDomain:
    """The domain of several columns whose values are joined to one.

    >>> sex, ill = DeclaredDomain(["f", "m"]), DeclaredDomain(["no", "yes"])
    >>> join_domains([sex, ill], " + ").values
    ('f + no', 'f + yes', 'm + no', 'm + yes')
    """
    listed = [[str(v) for v in p.listed if v is not None] for p in parts]
    return DeclaredDomain([between.join(row) for row in product(*listed)])


# Files ------------------------------------------------------------------------------


def read_public_values(path: Path, column: str) -> list[str]:
    """The values of a public file: a line each, or a column of a CSV file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"The public file of domain {column!r}, {str(path)!r}, must be readable "
            "UTF-8 text; it is not."
        ) from None
    if path.suffix.lower() == ".csv":
        lines = _read_column(text, path, column)
    else:
        lines = [line.strip() for line in text.splitlines()]
    found = list(dict.fromkeys(v for v in lines if v))
    if not found:
        raise InputError(
            f"The public file {str(path)!r} must list values; it is empty."
        )
    return found


def _read_column(text: str, path: Path, column: str) -> list[str]:
    rows = list(csv.reader(text.splitlines()))
    names = rows[0] if rows else []
    if column not in names:
        raise InputError(
            f"The public file {str(path)!r} must have a column {column!r}. "
            f"{suggest_names(column, names)}"
        )
    at = names.index(column)
    return [row[at] for row in rows[1:] if len(row) > at]
