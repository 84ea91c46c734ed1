"""Promises, familiar measures, and what the release is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from privet.adversary import Adversary
from privet.beliefs import Limit
from privet.errors import InputError, what_exists

About = None | str | tuple[str | None, ...] | dict[str, Any]
"""What a belief is about; see `Promise.about`."""


@dataclass(frozen=True)
class Promise:
    """No *adversary* may hold a *belief* about *this* beyond a *limit*."""

    against: Adversary
    """Who must not learn it."""
    limit: Limit
    """How sure they may be."""
    about: About = None
    """``{"column": "value"}``, or "*" for every value, or several values; a column
    (every value of it); values of the one sensitive column; None: that column."""
    name: str = ""
    """How reports call the promise."""

    def __init__(
        self,
        against: Adversary,
        limit: Limit,
        about: object = None,
        name: str = "",
    ) -> None:
        object.__setattr__(self, "against", against)
        object.__setattr__(self, "limit", limit)
        object.__setattr__(self, "about", _about(about))
        object.__setattr__(self, "name", name or _name(self))

    def to_dict(self) -> dict[str, Any]:
        """The promise as a policy writes it."""
        about = list(self.about) if isinstance(self.about, tuple) else self.about
        if isinstance(about, dict):
            about = {
                c: list(v) if isinstance(v, tuple) else v for c, v in about.items()
            }
        stated = {} if about is None else {"about": about}
        return {
            "name": self.name,
            **self.against.to_dict(),
            **stated,
            **self.limit.to_dict(),
        }


def _about(about: object) -> About:
    if about is None or isinstance(about, str):
        return about
    if isinstance(about, Mapping):
        if not about:
            raise InputError("about must name a column; got an empty table.")
        return {_text(c) or "": _values(v) for c, v in about.items()}
    if isinstance(about, Sequence | set):
        return tuple(_text(v) for v in about)
    raise InputError(
        "about must be a column, values, or a column with its value such as "
        f"{{'bankruptcy': 'Discharged'}}; got {about!r}."
    )


def _values(values: object) -> str | tuple[str | None, ...] | None:
    if isinstance(values, list | tuple | set):
        return tuple(_text(v) for v in values)
    return _text(values)


def _text(value: object) -> str | None:
    """A cell as the engine shows it.

    >>> _text(True), _text(4), _text("x")
    ('true', '4', 'x')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal | date):
        return str(value)
    raise InputError(f"A value must be text, a number or a date; got {value!r}.")


def _name(promise: Promise) -> str:
    about = promise.about
    if isinstance(about, dict):
        about = ", ".join(f"{c} = {_shown(v)}" for c, v in about.items())
    elif isinstance(about, tuple):
        about = _shown(about)
    return f"{promise.against.kind} about {about or 'the sensitive column'}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " or ".join(_shown(v) for v in value)
    return "any value" if value == "*" else "missing" if value is None else str(value)


MEASURES = {
    "k_anonymity": "the smallest number of people who look alike in every quasi column",
}
"""Familiar measures by the key a policy uses, and what they mean."""


@dataclass(frozen=True)
class Measure:
    """A familiar measure that must reach a level; a finding without a belief.

    >>> Measure(k_anonymity=5).name
    'k_anonymity at least 5'
    """

    kind: str
    """One of `MEASURES`."""
    level: Fraction
    """What it must reach."""
    name: str = ""
    """How reports call it."""

    def __init__(self, name: str = "", **levels: int) -> None:
        if len(levels) != 1 or not set(levels) <= set(MEASURES):
            unknown = next((k for k in levels if k not in MEASURES), "")
            raise InputError(
                f"A measure must be one of {', '.join(MEASURES)}; "
                f"got {', '.join(levels) or 'none'}. "
                + (what_exists(unknown, list(MEASURES)) if unknown else "")
            )
        ((kind, level),) = levels.items()
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise InputError(
                f"{kind} must be a whole number of at least 1; got {level!r}."
            )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "level", Fraction(level))
        object.__setattr__(self, "name", name or f"{kind} at least {level}")

    def to_dict(self) -> dict[str, Any]:
        """The measure as a policy writes it."""
        return {"name": self.name, self.kind: int(self.level)}


UTILITIES = ("information", "distortion")


@dataclass(frozen=True)
class Purpose:
    """What the analyst wants from the release."""

    utility: str = "information"
    """Information about the target, or as few hidden cells as possible."""

    def __post_init__(self) -> None:
        if self.utility not in UTILITIES:
            raise InputError(
                f"utility must be one of {', '.join(UTILITIES)}; got {self.utility!r}."
            )
