"""Differentially private naive Bayes: noise on every count, of declared values or not.

Values and classes are declared, or selected with some of the privacy loss; so which
cells there are tells nothing of a person. Noise goes on every cell, those without a row
too. Class sizes are read off the noisy cells, and whatever comes later is made of
these counts and of what was declared: it costs nothing.
Vaidya, Shafiq, Basu, Hong 2013, section 4; Canonne, Kamath, Steinke 2020, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random, SystemRandom
from typing import Any

import attrs

from privet.classifier.class_labels import recognise_names
from privet.classifier.count import BETWEEN
from privet.classifier.encoding import bins_of
from privet.classifier.release import Attribute, ClassifierViews, Value, order
from privet.engine.randomise.discrete_noise import (
    Below,
    draw_gaussian,
    draw_laplace,
)
from privet.errors import Infeasible, InputError
from privet.values.noise.declared_domain import DeclaredDomain, join_domains
from privet.values.noise.differential_privacy import DifferentialPrivacy, NoisePlan
from privet.values.noise.private_selection import FINE, PrivateSelection

OTHER = "other"
"""What values are counted as that are not selected."""

Cells = list[list[Fraction]]
"""Counts by value and class."""


def make_dice(seed: int | None) -> Below:
    """Draws from the system's secure source, or anew from a seed."""
    dice: Random = SystemRandom() if seed is None else Random(seed)
    return dice.randrange


def settle_privacy(
    epsilon: Fraction | None, privacy: DifferentialPrivacy | None, seed: int | None
) -> DifferentialPrivacy | None:
    """What a method says of noise, by its short form or in full; None: nothing."""
    if epsilon is not None and privacy is not None:
        raise InputError("epsilon must go without privacy, which has one of its own.")
    if privacy is not None and not isinstance(privacy, DifferentialPrivacy):
        raise InputError(f"privacy must be a DifferentialPrivacy; got {privacy!r}.")
    if privacy is None:
        return None if epsilon is None else DifferentialPrivacy(epsilon, seed=seed)
    if seed is None or privacy.seed is not None:
        return privacy
    return attrs.evolve(privacy, seed=seed)


def plan_noise(views: ClassifierViews, privacy: DifferentialPrivacy) -> NoisePlan:
    """How the loss is spent; what is declared decides it, and no count."""
    declared = find_domains(views, privacy)
    names = [*(a.name for a in views.attributes), views.target]
    domains = (*declared.attributes, declared.labels)
    selected = [n for n, d in zip(names, domains, strict=True) if d is None]
    if selected and (privacy.rho is not None or not privacy.delta):
        raise InputError(
            f"The values of {', '.join(map(repr, selected))} must be declared, or be "
            "selected with some of epsilon and a delta; they are neither. Declare them "
            "in [domain] of the policy, or give epsilon with a delta, such as 1e-6."
        )
    return privacy.plan(len(views.attributes), len(selected))


def add_noise(views: ClassifierViews, privacy: DifferentialPrivacy) -> ClassifierViews:
    """The counts, differentially private: whole, and at least 0, in every cell."""
    _refuse_unbounded(views, privacy)
    plan, below = plan_noise(views, privacy), make_dice(privacy.seed)
    shape = _settle_shape(views, find_domains(views, privacy), plan, below)
    noisy = [
        [[n + _draw(plan, below) for n in row] for row in table]
        for table in shape.place_counts(views, plan.grid)
    ]
    return _fit_tables(views, shape, noisy, plan.grid)


def _draw(plan: NoisePlan, below: Below) -> int:
    draw = draw_laplace if plan.noise == "laplace" else draw_gaussian
    return draw(plan.size, below)


def _refuse_unbounded(views: ClassifierViews, privacy: DifferentialPrivacy) -> None:
    """The loss is right only if no person counts more than it was planned for."""
    heavy = views.heaviest is None or views.heaviest > privacy.most
    if heavy or views.rows_per_person > privacy.rows_per_person:
        raise InputError(
            "Counts must be made under the limits of the privacy loss, rows_per_person "
            f"{privacy.rows_per_person} and heaviest {privacy.most}; they were "
            "not. Count with NaiveBayes(privacy=…), or by privet classifier."
        )
    if views.prior is not None:
        raise InputError(
            "class_prior must be left out with noise: how common a class is, is read "
            "off the noisy counts."
        )


# Domains ----------------------------------------------------------------------------


@dataclass(frozen=True)
class DomainChoice:
    """What is declared of each attribute and of the classes; None: nothing."""

    attributes: tuple[DeclaredDomain | None, ...]
    """In the order of the attributes."""
    labels: DeclaredDomain | None
    """Of the classes, joined where several columns make one."""
    parts: tuple[DeclaredDomain, ...] = ()
    """Of the columns whose values are joined."""


def find_domains(views: ClassifierViews, privacy: DifferentialPrivacy) -> DomainChoice:
    """The declared domains of a classifier's columns; cut points declare bins."""
    stated = privacy.domain
    attributes = tuple(_find_domain(a, stated.get(a.name)) for a in views.attributes)
    if views.target in stated:
        return DomainChoice(attributes, stated[views.target])
    parts = [stated.get(name) for name in views.target.split(BETWEEN)]
    known = tuple(p for p in parts if p is not None)
    if len(known) < len(parts):
        return DomainChoice(attributes, None)
    return DomainChoice(attributes, join_domains(known, BETWEEN), known)


def _find_domain(
    attribute: Attribute, stated: DeclaredDomain | None
) -> DeclaredDomain | None:
    if not attribute.edges:
        return stated
    bins = bins_of(attribute.edges).labels()
    if stated is None:
        return DeclaredDomain(bins)
    missing = [None] if None in stated.values else []
    return DeclaredDomain([*bins, *missing], stated.other)


def domains_of(views: ClassifierViews) -> dict[str, DeclaredDomain]:
    """The values that occur, as if they had been declared; to compare with only."""
    found = {a.name: DeclaredDomain(a.values) for a in views.attributes}
    return {**found, views.target: DeclaredDomain(views.labels)}


# The shape of the tables ------------------------------------------------------------


@dataclass(frozen=True)
class TableShape:
    """Which cells there are, and where each value and class is counted."""

    attributes: tuple[DeclaredDomain, ...]
    """The values of each attribute."""
    labels: tuple[str, ...]
    """The classes, the weakest first."""
    find_label: Callable[[str], int | None]
    """Where a class is counted; None: nowhere."""

    def place_counts(self, views: ClassifierViews, grid: Fraction) -> Iterator[Cells]:
        """Every count in its cell, in steps of the grid; an error where one has none.

        The error is for the steward alone, like the counts.
        """
        at = [self.find_label(label) for label in views.labels]
        triples = zip(views.attributes, views.cells, self.attributes, strict=True)
        for attribute, table, domain in triples:
            found = [[Fraction(0)] * len(self.labels) for _ in domain.listed]
            for value, row in zip(attribute.values, table, strict=True):
                place = domain.find(value)
                if place is None:
                    raise _make_outside_error(attribute.name)
                for c, n in zip(at, row, strict=True):
                    if c is not None:
                        found[place][c] += Fraction(n) / grid
            # Sums of floats are off by a little; what is counted is on the grid.
            yield [[Fraction(round(n)) for n in row] for row in found]


def _make_outside_error(column: str) -> InputError:
    return InputError(
        f"Every value of {column!r} must be in its domain; some are not. Declare what "
        f'they count as: {column} = {{ values = […], other = "{OTHER}" }}.'
    )


def _settle_shape(
    views: ClassifierViews, declared: DomainChoice, plan: NoisePlan, below: Below
) -> TableShape:
    """Which values and classes are published: those declared, or drawn."""
    values, labels = _count_holders(views)
    attributes = tuple(
        _select_values(held, plan.selection, below) if domain is None else domain
        for domain, held in zip(declared.attributes, values, strict=True)
    )
    if declared.labels is None:
        chosen = [str(v) for v in _choose(labels, plan.selection, below)]
        ordered = order(chosen, [c for c in views.precedes if c in chosen])
        places = {c: i for i, c in enumerate(ordered)}
        shape = TableShape(attributes, ordered, places.get)
    else:
        ordered = order(map(str, declared.labels.listed), views.precedes)
        shape = TableShape(attributes, ordered, _make_label_finder(views, declared))
    _refuse_one_class(views.target, ordered)
    return shape


def _refuse_one_class(target: str, labels: Sequence[str]) -> None:
    if len(labels) < 2:
        raise Infeasible(
            f"Fewer than two classes of {target!r} are declared, or held by enough "
            "people to be selected with this epsilon and delta.",
            advice=("Declare the classes in [domain], or allow a larger loss.",),
        )


def _make_label_finder(
    views: ClassifierViews, declared: DomainChoice
) -> Callable[[str], int | None]:
    """Where a class is counted; one outside its domain is an error."""
    assert declared.labels is not None
    whole, parts = declared.labels, declared.parts
    ordered = order(map(str, whole.listed), views.precedes)

    def find(label: str) -> int:
        at = whole.find(_settle_parts(label, parts))
        if at is None:
            raise _make_outside_error(views.target)
        return ordered.index(str(whole.listed[at]))

    return find


def _settle_parts(label: str, parts: Sequence[DeclaredDomain]) -> str:
    """A class of several columns, each value that is another one counted so."""
    named = label.split(BETWEEN)
    if len(named) != len(parts):
        return label
    places = [(p, p.find(v)) for p, v in zip(parts, named, strict=True)]
    return BETWEEN.join(
        v if at is None else str(p.listed[at])
        for v, (p, at) in zip(named, places, strict=True)
    )


def _count_holders(
    views: ClassifierViews,
) -> tuple[Sequence[Mapping[Value, Any]], Mapping[Value, Any]]:
    """How many people have each value, and each class."""
    if views.holders is not None:
        people: dict[Value, Any] = {}
        people.update(views.holders.labels.items())
        return views.holders.values, people
    values = [
        {v: sum(row) for v, row in zip(a.values, table, strict=True)}
        for a, table in zip(views.attributes, views.cells, strict=True)
    ]
    return values, dict(zip(views.labels, views.sizes, strict=True))


def _select_values(
    held: Mapping[Value, Any], rule: PrivateSelection | None, below: Below
) -> DeclaredDomain:
    """The values that are published; all others count as one more."""
    chosen = _choose(held, rule, below)
    return DeclaredDomain([v for v in chosen if v != OTHER], OTHER)


def _choose(
    held: Mapping[Value, Any], rule: PrivateSelection | None, below: Below
) -> list[Value]:
    """Values drawn by how many people hold them, in an order that tells nothing."""
    assert rule is not None
    found = [v for v, n in held.items() if below(FINE) < rule.chance(int(n)) * FINE]
    return sorted(found, key=lambda v: (v is None, v or ""))


# Sizes ------------------------------------------------------------------------------


def _fit_tables(
    views: ClassifierViews,
    shape: TableShape,
    noisy: Sequence[Cells],
    grid: Fraction,
) -> ClassifierViews:
    """Counts that are whole, not negative, and add up to the same class sizes."""
    # (attributes, classes): noise makes the sums differ; their mean is the size.
    sums = [[sum(column) for column in zip(*t, strict=True)] for t in noisy]
    sizes = [
        max(1, round(sum(s[c] for s in sums) * grid / len(sums)))
        for c in range(len(shape.labels))
    ]
    return ClassifierViews(
        views.target,
        shape.labels,
        tuple(
            # The kind of a column is found by looking at its cells: it is not told.
            Attribute(a.name, domain.listed, "text", a.edges)
            for a, domain in zip(views.attributes, shape.attributes, strict=True)
        ),
        tuple(sizes),
        tuple(_fit_to_sizes(table, sizes) for table in noisy),
        smoothing=views.smoothing,
        undecided=views.undecided,
        precedes=views.precedes,
        target_type=recognise_names(shape.labels),
    )


def _fit_to_sizes(table: Cells, sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Cells that add up to the class sizes again, by largest remainders."""
    columns = []
    for c, size in enumerate(sizes):
        column = [max(Fraction(0), row[c]) for row in table]
        if not any(column):
            column = [Fraction(1)] * len(column)
        columns.append(apportion(column, size))
    return tuple(zip(*columns, strict=True))


def apportion(shares: list[Fraction], total: int) -> list[int]:
    """Whole numbers in the proportion of the shares that add up to the total.

    >>> apportion([Fraction(1), Fraction(1), Fraction(2)], 7)
    [2, 2, 3]
    """
    whole = sum(shares)
    exact = [s * total / whole for s in shares]
    down = [int(x) for x in exact]
    # The largest remainders first; 1.75, 1.75 and 3.5 give the first two one more.
    rest = sorted(range(len(shares)), key=lambda i: (down[i] - exact[i], i))
    for i in rest[: total - sum(down)]:
        down[i] += 1
    return down
