"""Measures a policy may ask for: k-anonymity, l-diversity, t-closeness and kin.

Each says what it asks and how it is written in a policy: anonymity ((alpha, k) too),
diversity (distinct, entropy, recursive), closeness to everybody (earth mover's
distance, beta-likeness, delta-disclosure) and risks of re-identification (prosecutor,
journalist, marketer, sample uniques). How they are measured is in
`microdata/privacy_models`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from privet.errors import InputError, suggest_names
from privet.values.adversaries import as_cell
from privet.values.exact import fraction, quote_value
from privet.values.frozen_dict import FrozenDict

AT_LEAST, AT_MOST, BELOW = "at least", "at most", "below"


@dataclass(frozen=True)
class MeasureKind:
    """One measure: which levels it takes, and what it looks at."""

    words: str
    """What is measured."""
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
    """What else must or may be said."""


_ONE = Fraction(1)

KINDS = {
    "k_anonymity": MeasureKind(
        "the smallest number of people who look alike in every quasi column",
        whole=True,
        least=_ONE,
        sensitive=False,
    ),
    "alpha_k_anonymity": MeasureKind(
        "the largest share of one value among people who look alike, who must be at "
        "least k",
        AT_MOST,
        most=_ONE,
        options=("k",),
        share=True,
    ),
    "distinct_l_diversity": MeasureKind(
        "the fewest different values among people who look alike",
        whole=True,
        least=_ONE,
    ),
    "entropy_l_diversity": MeasureKind(
        "the least exponential of the entropy of the values of people who look alike",
        least=_ONE,
    ),
    "recursive_l_diversity": MeasureKind(
        "the largest l such that the most frequent value is rarer than c times all "
        "from the l-th most frequent on",
        whole=True,
        least=_ONE,
        options=("c",),
    ),
    "t_closeness": MeasureKind(
        "the largest distance between the values of people who look alike and those "
        "of everybody",
        AT_MOST,
        most=_ONE,
        options=("distance", "hierarchy"),
    ),
    "beta_likeness": MeasureKind(
        "the largest relative gain of a value's share among people who look alike",
        AT_MOST,
    ),
    "enhanced_beta_likeness": MeasureKind(
        "the same, and no gain above minus the logarithm of the value's share",
        AT_MOST,
    ),
    "delta_disclosure": MeasureKind(
        "the largest logarithm of how a value's share changes, up or down",
        BELOW,
    ),
    "prosecutor_risk": MeasureKind(
        "the largest chance to pick the right row of a person known to be in the table",
        AT_MOST,
        most=_ONE,
        sensitive=False,
        share=True,
    ),
    "journalist_risk": MeasureKind(
        "the largest chance to pick the right person of the population for a row",
        AT_MOST,
        most=_ONE,
        sensitive=False,
        options=("population",),
        share=True,
    ),
    "marketer_risk": MeasureKind(
        "the share of rows somebody gets right who matches all of them",
        AT_MOST,
        most=_ONE,
        sensitive=False,
        share=True,
    ),
    "sample_uniques": MeasureKind(
        "the share of rows that look like no other row",
        AT_MOST,
        most=_ONE,
        sensitive=False,
        share=True,
    ),
}
"""The measures there are."""

MEASURES = {key: kind.words for key, kind in KINDS.items()}
"""Familiar measures by the key a policy uses, and what they mean."""

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
    """One of `MEASURES`."""
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
            "name": name or f"{kind} {KINDS[kind].sense} {level}",
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._check()

    def _check(self) -> None:
        """Options go with their measures, and some measures need theirs."""
        options = KINDS[self.kind].options
        given: dict[str, Any] = {"c": self.c, "k": self.k, "hierarchy": self.hierarchy}
        given |= {"population": self.population}
        given |= {"distance": None if self.distance == "equal" else self.distance}
        for key, value in given.items():
            if value is not None and key not in options:
                owner = next(n for n, kind in KINDS.items() if key in kind.options)
                raise InputError(
                    f"{key} must go with {owner}; got it with {self.kind}."
                )
        if self.about is not None and not KINDS[self.kind].sensitive:
            raise InputError(
                f"about must go with a measure of a sensitive column; got it with "
                f"{self.kind}."
            )
        if self.kind == "recursive_l_diversity" and self.c is None:
            raise InputError("recursive_l_diversity must have c, such as 3; got none.")
        if (self.distance == "hierarchical") != (self.hierarchy is not None):
            raise InputError(
                "hierarchy must be given for the hierarchical distance, and for no "
                f"other; got distance {self.distance!r}."
            )
        if self.missing == "wildcard" and KINDS[self.kind].sensitive:
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
    def is_share(self) -> bool:
        """Whether it is a share of people, told in hundredths."""
        return KINDS[self.kind].share

    @property
    def sense(self) -> str:
        """Whether the level is the least or the most that is allowed."""
        return KINDS[self.kind].sense

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
    if len(levels) != 1 or not set(levels) <= set(KINDS):
        unknown = next((k for k in levels if k not in KINDS), "")
        hint = f" {suggest_names(unknown, [*KINDS, *OPTIONS])}" if unknown else ""
        raise InputError(
            f"A measure must be one of {', '.join(KINDS)}; "
            f"got {', '.join(levels) or 'none'}.{hint}"
        )
    ((name, value),) = levels.items()
    kind = KINDS[name]
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
