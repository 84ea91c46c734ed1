"""Promises (privacy templates and criteria), views, and what the release is for.

A promise says: no adversary may hold a belief about this beyond a limit. Against a
linker that is a privacy template <QID → value, h>, against an insider a privacy
criterion (l, k, m, c). A view is some columns of the table, published without
duplicates.
Wang, Fung, Yu 2007, §3.1; Chen, LeFevre, Ramakrishnan 2007, "Basic 3D Privacy
Criterion".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import attrs

from privet.errors import InputError
from privet.values.adversaries import Adversary
from privet.values.beliefs import Ceiling, Limit
from privet.values.frozen_dict import FrozenDict
from privet.values.known_cells import as_cell
from privet.values.schema import as_names
from privet.values.visible_text import require_encodable
from privet.values.windows import Within

Values = str | None | tuple[str | None, ...]
"""One value of a column or several; None: missing."""

About = None | str | tuple[str | None, ...] | FrozenDict[str, Values | Within]
"""What a belief is about; see `Promise.about`."""


@attrs.frozen(init=False)
class Promise:
    """No *adversary* may hold a *belief* about *this* beyond a *limit*."""

    against: Adversary
    """Who must not learn it."""
    limit: Limit
    """How sure they may be."""
    about: About = None
    """``{"column": "value"}``, or "*" for every value, or several values; a number
    within a window, ``{"column": {"within": "10 %"}}``; a column (every value of it);
    values of the one sensitive column; None: that column."""
    name: str = ""
    """How reports call the promise."""

    def __init__(
        self,
        against: Adversary,
        limit: Limit,
        about: object = None,
        name: str = "",
    ) -> None:
        _require(against, Adversary, "against", "an adversary such as Linker()")
        _require(limit, Limit, "limit", "a limit such as Ceiling('1/2')")
        _require(name, str, "name", "text")
        require_encodable(name, "name")
        if against.limit_key != "at_most" and not isinstance(limit, Ceiling):
            raise InputError(
                f"limit must be a Ceiling against {against.kind}s; got {limit!r}."
            )
        read = _read_about(about)
        _refuse_windows(read, against)
        self.__attrs_init__(against, limit, read, name or _name_promise(against, read))

    def to_dict(self) -> dict[str, Any]:
        """The promise as a policy writes it."""
        stated = {} if self.about is None else {"about": _as_lists(self.about)}
        return {
            "name": self.name,
            **self.against.to_dict(),
            **stated,
            **self._limit_to_dict(),
        }

    def _limit_to_dict(self) -> dict[str, str]:
        """The limit, under the key that fits the adversary."""
        limit, key = self.limit.to_dict(), self.against.limit_key
        return {key if k == "at_most" else k: v for k, v in limit.items()}


def _refuse_windows(about: About, against: Adversary) -> None:
    """Only groups of people who look alike are counted window by window."""
    windows = isinstance(about, dict) and any(
        isinstance(v, Within) for v in about.values()
    )
    if windows and "groups" not in against.looks_at:
        raise InputError(
            "about must name values against "
            f"{against.kind}s; a number within a window is judged against linkers and "
            "insiders."
        )


def _as_lists(about: Any) -> Any:
    if isinstance(about, Within):
        return about.to_dict()
    if isinstance(about, dict):
        return {c: _as_lists(v) for c, v in about.items()}
    return list(about) if isinstance(about, tuple) else about


def _require(value: object, kind: Any, what: str, words: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{what} must be {words}; got {value!r}.")


def _read_about(about: object) -> About:
    if about is None or isinstance(about, str):
        return about
    if isinstance(about, Mapping) and about:
        for column in about:
            _require(column, str, "A column of about", "a name")
        return FrozenDict({c: _read_asked(v, f"about {c!r}") for c, v in about.items()})
    if isinstance(about, Sequence | set | frozenset) and about:
        several = read_values(about, "about")
        assert isinstance(several, tuple)
        return several
    raise InputError(
        "about must be a column, values, or a column with its value such as "
        f"{{'bankruptcy': 'Discharged'}}; got {about!r}."
    )


def _read_asked(given: object, what: str) -> Values | Within:
    """Values, or how wide the windows are that a number may lie in."""
    if isinstance(given, Within):
        return given
    if isinstance(given, Mapping):
        return Within.from_key(given, what)
    return read_values(given, what)


def read_values(given: object, what: str) -> Values:
    """One value or several as the texts engines show; None stays None."""
    if isinstance(given, set | frozenset):
        given = sorted(given, key=str)
    if not isinstance(given, list | tuple):
        return None if given is None else as_cell(given)
    if not given:
        raise InputError(f"{what} must have at least one value; got none.")
    return tuple(None if v is None else as_cell(v) for v in given)


def _name_promise(against: Adversary, about: About) -> str:
    """Who, knowing what, about what: different promises get different names."""
    known = [
        f"{k} {_format_value(list(v) if k == 'unknown' and _is_table(v) else v, ', ')}"
        for k, v in against.to_dict().items()
        if k != "against" and v
    ]
    who = f"{against.kind} ({'; '.join(known)})" if known else against.kind
    if isinstance(about, dict):
        about = ", ".join(
            f"{c} within {v}" if isinstance(v, Within) else f"{c} = {_format_value(v)}"
            for c, v in about.items()
        )
    elif isinstance(about, tuple):
        about = _format_value(about)
    return f"{who} about {about or against.subject}"


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def _format_value(value: Any, between: str = " or ") -> str:
    if isinstance(value, list | tuple):
        return between.join(_format_value(v) for v in value)
    if isinstance(value, Mapping):
        return between.join(f"{c} = {_format_value(v)}" for c, v in value.items())
    return "any value" if value == "*" else "missing" if value is None else str(value)


# Purpose and sign-off ---------------------------------------------------------------

UTILITIES = ("information", "distortion")
"""What an analyst may want to keep as much of as possible."""


@dataclass(frozen=True)
class Purpose:
    """What the analyst wants from the release."""

    utility: str = "information"
    """Information about the target, or how many cells are shown."""

    def __post_init__(self) -> None:
        if self.utility not in UTILITIES:
            raise InputError(
                f"utility must be one of {', '.join(UTILITIES)}; got {self.utility!r}."
            )


@dataclass(frozen=True)
class Signoff:
    """Who answers for a release, since when, and what it is given out for."""

    name: str
    """Who."""
    date: str
    """When, as year-month-day."""
    purpose: str
    """What for."""

    def __post_init__(self) -> None:
        for key in ("name", "date", "purpose"):
            value = getattr(self, key)
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"{key} must be text; got {value!r}.")
            require_encodable(value, key)
        try:
            date.fromisoformat(self.date)
        except ValueError:
            raise InputError(
                f"date must be a date such as 2026-03-31; got {self.date!r}."
            ) from None

    def to_dict(self) -> dict[str, str]:
        """The sign-off as a policy writes it."""
        return {"name": self.name, "date": self.date, "purpose": self.purpose}


# Views ------------------------------------------------------------------------------


def _read_columns(columns: str | Iterable[str]) -> tuple[str, ...]:
    found = as_names(columns, "the columns of a view")
    if not found:
        raise InputError("A view must have columns; got none.")
    return found


@attrs.frozen
class View:
    """Some columns of a table, published together.

    >>> View(["name", "age"])
    View(columns=('name', 'age'), name='')
    """

    columns: tuple[str, ...] = attrs.field(converter=_read_columns)
    """Which columns."""
    name: str = ""
    """What the view is called; the name of its file."""

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.name, str) or not _is_plain(self.name):
            raise InputError(
                "The name of a view must be letters, digits, dots, - and _, since its "
                f"file is called so; got {self.name!r}."
            )

    def to_dict(self) -> dict[str, Any]:
        """The view as a policy writes it."""
        named = {"name": self.name} if self.name else {}
        return named | {"columns": list(self.columns)}


def _is_plain(name: str) -> bool:
    letters = name.replace("-", "").replace("_", "").replace(".", "").replace(" ", "")
    return not name or (letters.isalnum() and not name.startswith((".", " ")))


def views_of(stated: Iterable[View | str | Iterable[str]]) -> tuple[View, ...]:
    """Views from views or lists of columns; each called by its own name."""
    if isinstance(stated, str | View) or not hasattr(stated, "__iter__"):
        raise InputError(f"views must be several lists of columns; got {stated!r}.")
    made = [v if isinstance(v, View) else View(v) for v in stated]
    called = [v.name or f"view-{i}" for i, v in enumerate(made, 1)]
    if twice := next((n for n in called if called.count(n) > 1), None):
        raise InputError(f"Each view must have its own name; got {twice!r} twice.")
    folded = [n.casefold() for n in called]
    if len(set(folded)) < len(folded):
        raise InputError("Names of views must differ in more than capital letters.")
    return tuple(View(v.columns, n) for v, n in zip(made, called, strict=True))


def is_query(about: object) -> bool:
    """Whether a promise is about a secret query rather than a column.

    >>> is_query("select name, problem from T"), is_query("problem")
    (True, False)
    """
    return isinstance(about, str) and bool(
        re.match(r"\s*(select|with|from)\s", about, re.IGNORECASE)
    )


def select_promises(kind: str, promises: Iterable[Promise]) -> list[Promise]:
    """The promises against adversaries who look at a kind of release.

    "groups" are tables and groups, "views", "classifier" and "responses" what they say.
    """
    return [p for p in promises if kind in p.against.looks_at]
