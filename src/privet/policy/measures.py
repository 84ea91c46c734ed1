"""Measures a policy may ask for: k-anonymity, l-diversity, t-closeness and kin.

Each says what it asks and how it is written in a policy: anonymity ((alpha, k) too),
diversity (distinct, entropy, recursive), closeness to everybody (earth mover's
distance, beta-likeness, delta-disclosure) and risks of re-identification (prosecutor,
journalist, marketer, sample uniques). Each is one record in
`microdata/privacy_models/models.py`, which is looked up when a measure is stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import Any

from privet.errors import InputError, suggest_names
from privet.values.exact import fraction, quote_value
from privet.values.frozen_dict import FrozenDict
from privet.values.known_cells import as_cell
from privet.values.visible_text import require_encodable

AT_LEAST, AT_MOST, BELOW = "at least", "at most", "below"


@dataclass(frozen=True, kw_only=True)
class MeasureKind:
    """One measure as a policy sees it: which levels and options it takes."""

    key: str
    """What a policy calls it."""
    meaning: str
    """What is measured, in words."""
    sense: str = AT_LEAST
    """Whether a level is the least or the most that is allowed."""
    whole: bool = False
    """Whether levels are whole numbers."""
    least: Fraction = Fraction(0)
    """The lowest level that makes sense …"""
    most: Fraction | None = None
    """… and the highest."""
    sensitive: bool = True
    """Whether it looks at a sensitive column."""
    share: bool = False
    """Whether it is a share of people."""
    options: tuple[str, ...] = ()
    """What else may be said: some of `OPTIONS`."""
    required: Mapping[str, str] = field(default_factory=FrozenDict)
    """Options that must be said, each with an example."""


HOME = "privet.microdata.privacy_models.models"
"""Where the records are; a policy lies below it and finds them by this name."""


def list_measures() -> Mapping[str, MeasureKind]:
    """Every measure a policy may ask for, by its key; imported when first asked for."""
    models: Mapping[str, MeasureKind] = import_module(HOME).MODELS
    return models


MISSING = ("value", "drop", "wildcard")
"""How a missing value is read: as a value, as no row, as any value."""

DISTANCES = ("equal", "ordered", "hierarchical")
"""How far apart two values are: all alike, by their order, by a hierarchy."""

OPTIONS = ("about", "missing", "c", "k", "distance", "hierarchy", "population")
"""Keys beside the level."""


@dataclass(frozen=True)
class Measure:
    """A familiar measure that must reach a level; a finding without a belief.

    >>> Measure(k_anonymity=5).name
    'k_anonymity at least 5'
    >>> Measure(t_closeness="0.2", distance="ordered").name
    't_closeness at most 1/5'
    """

    kind: str
    """The key of the measure."""
    level: Fraction
    """What it must reach, or not exceed."""
    name: str = ""
    """How reports call it."""
    about: str | None = None
    """The sensitive column; None: the only one."""
    missing: str = "value"
    """How missing values are read: one of `MISSING`."""
    c: Fraction | None = None
    """The factor of recursive diversity."""
    k: int | None = None
    """The least people who look alike, beside alpha."""
    distance: str = "equal"
    """How far apart values are: one of `DISTANCES`."""
    hierarchy: Mapping[str, tuple[str, ...]] | None = None
    """Each value's ancestors, from the nearest to the one all share."""
    population: str | None = None
    """A table of everybody who might be in the sample."""

    def __init__(
        self,
        name: str = "",
        *,
        about: str | None = None,
        missing: str = "value",
        c: Any = None,
        k: int | None = None,
        distance: str = "equal",
        hierarchy: Mapping[str, Sequence[str]] | None = None,
        population: str | None = None,
        **levels: Any,
    ) -> None:
        if not isinstance(name, str):
            raise InputError(f"name must be text; got {name!r}.")
        require_encodable(name, "name")
        kind, level = _read_level(levels)
        values = {
            "kind": kind,
            "level": level,
            "about": _require_text(about, "about"),
            "missing": _require_choice(missing, MISSING, "missing"),
            "c": None if c is None else _require_positive(c, "c"),
            "k": None if k is None else _require_whole(k, "k"),
            "distance": _require_choice(distance, DISTANCES, "distance"),
            "hierarchy": None if hierarchy is None else _read_hierarchy(hierarchy),
            "population": _require_text(population, "population"),
            "name": name or f"{kind} {list_measures()[kind].sense} {level}",
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._check()

    def _check(self) -> None:
        """Options go with their measures, and some measures need theirs."""
        own = self._record
        given: dict[str, Any] = {"c": self.c, "k": self.k, "hierarchy": self.hierarchy}
        given |= {"population": self.population}
        given |= {"distance": None if self.distance == "equal" else self.distance}
        for key, value in given.items():
            if value is not None and key not in own.options:
                known = list_measures().values()
                owner = next(kind.key for kind in known if key in kind.options)
                raise InputError(
                    f"{key} must go with {owner}; got it with {self.kind}."
                )
        if self.about is not None and not own.sensitive:
            raise InputError(
                f"about must go with a measure of a sensitive column; got it with "
                f"{self.kind}."
            )
        for key, example in own.required.items():
            if given[key] is None:
                raise InputError(
                    f"{self.kind} must have {key}, such as {example}; got none."
                )
        if (self.distance == "hierarchical") != (self.hierarchy is not None):
            raise InputError(
                "hierarchy must be given for the hierarchical distance, and for no "
                f"other; got distance {self.distance!r}."
            )
        if self.missing == "wildcard" and own.sensitive:
            raise InputError(
                "missing must be 'value' or 'drop' for a measure of a sensitive "
                "column; got 'wildcard', which is about quasi columns."
            )
        if self.missing == "wildcard" and self.population is not None:
            raise InputError(
                "missing must be 'value' or 'drop' where a population is counted; "
                "got 'wildcard'."
            )

    @property
    def _record(self) -> MeasureKind:
        return list_measures()[self.kind]

    @property
    def is_share(self) -> bool:
        """Whether it is a share of people, told in hundredths."""
        return self._record.share

    @property
    def sense(self) -> str:
        """Whether the level is the least or the most that is allowed."""
        return self._record.sense

    def holds(self, value: Fraction) -> bool:
        """Whether a value is as the level asks.

        >>> Measure(k_anonymity=5).holds(Fraction(4))
        False
        """
        if self.sense == AT_LEAST:
            return value >= self.level
        return value <= self.level if self.sense == AT_MOST else value < self.level

    def forbids_something(self) -> bool:
        """Whether any table fails: everybody looks like one person at least.

        >>> Measure(t_closeness=1).forbids_something()
        False
        >>> Measure(recursive_l_diversity=1, c=3).forbids_something()
        False
        """
        own = self._record
        if self.c is not None:  # less than 3 times everybody, the commonest value is
            return self.level > own.least or self.c <= 1
        if self.k is not None and self.k > 1:
            return True
        if self.sense == AT_LEAST:
            return self.level > own.least
        return own.most is None or self.level < own.most or self.sense != AT_MOST

    def to_dict(self) -> dict[str, Any]:
        """The measure as a policy writes it."""
        more: dict[str, Any] = {
            "about": self.about,
            "missing": None if self.missing == "value" else self.missing,
            "c": None if self.c is None else _as_number(self.c),
            "k": self.k,
            "distance": None if self.distance == "equal" else self.distance,
            "hierarchy": self.hierarchy
            and {v: list(above) for v, above in self.hierarchy.items()},
            "population": self.population,
        }
        stated = {"name": self.name, self.kind: _as_number(self.level)}
        return stated | {key: value for key, value in more.items() if value is not None}


def _read_level(levels: Mapping[str, Any]) -> tuple[str, Fraction]:
    known = list_measures()
    if len(levels) != 1 or not set(levels) <= set(known):
        unknown = next((k for k in levels if k not in known), "")
        hint = f" {suggest_names(unknown, [*known, *OPTIONS])}" if unknown else ""
        raise InputError(
            f"A measure must be one of {', '.join(known)}; "
            f"got {', '.join(levels) or 'none'}.{hint}"
        )
    ((name, value),) = levels.items()
    kind = known[name]
    if kind.whole:
        return name, Fraction(_require_whole(value, name))
    level = fraction(value, name)
    if level < kind.least or (kind.most is not None and level > kind.most):
        top = "" if kind.most is None else f" and at most {kind.most}"
        raise InputError(
            f"{name} must be at least {kind.least}{top}; got {quote_value(value)}."
        )
    return name, level


def _require_whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{what} must be a whole number of at least 1; got {value!r}.")
    return value


def _require_positive(value: Any, what: str) -> Fraction:
    number = fraction(value, what)
    if number <= 0:
        raise InputError(f"{what} must be above 0; got {quote_value(value)}.")
    return number


def _require_text(value: Any, what: str) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise InputError(f"{what} must be text; got {value!r}.")
    return value


def _require_choice(value: Any, known: Sequence[str], what: str) -> str:
    if value not in known:
        raise InputError(
            f"{what} must be one of {', '.join(known)}; got {value!r}. "
            f"{suggest_names(str(value), known)}"
        )
    return str(value)


def _read_hierarchy(hierarchy: Any) -> FrozenDict[str, tuple[str, ...]]:
    if not isinstance(hierarchy, Mapping) or not hierarchy:
        raise InputError(
            "hierarchy must be ancestors per value, such as {'Flu': ['lungs', 'any']}; "
            f"got {hierarchy!r}."
        )
    rows = {as_cell(v): _read_ancestors(above) for v, above in hierarchy.items()}
    if len({len(above) for above in rows.values()}) > 1:
        raise InputError("hierarchy must give every value as many ancestors.")
    if len({above[-1] for above in rows.values()}) > 1:
        raise InputError("hierarchy must end in one ancestor that all values share.")
    parents: dict[tuple[int, str], str] = {}
    for above in rows.values():
        for depth, (child, parent) in enumerate(pairwise(above)):
            if parents.setdefault((depth, child), parent) != parent:
                raise InputError(f"hierarchy must give {child!r} one parent; got two.")
    return FrozenDict(rows)


def _read_ancestors(above: Any) -> tuple[str, ...]:
    listed = (above,) if isinstance(above, str) else above
    if not isinstance(listed, Sequence) or not listed:
        raise InputError(f"hierarchy must give each value ancestors; got {above!r}.")
    return tuple(as_cell(a) for a in listed)


def _as_number(number: Fraction) -> int | str:
    return int(number) if number.denominator == 1 else str(number)
