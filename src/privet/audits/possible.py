"""The possible worlds of a small release, listed one by one.

Everything else computes; this file only counts. It answers any question about a small
release, however odd the knowledge, and it is what the fast formulas are tested by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import factorial, prod

from privet.errors import InputError, TooLarge
from privet.releases.groups import Groups

World = tuple[tuple[str | None, ...], ...]
"""Who has what: a value for each person of each group."""

MOST_WORLDS = 1_000_000
"""Worlds that are listed without complaint."""


def how_many(groups: Groups) -> int:
    """The number of ways to deal each group's values to its people.

    >>> how_many(Groups.from_histograms([{"flu": 2, "aids": 2}, {"flu": 1, "hiv": 1}]))
    12
    """
    return prod(_arrangements(list(h.values())) for h in groups.histograms())


def worlds(groups: Groups, *, most: int = MOST_WORLDS) -> Iterator[World]:
    """Every world, each once; all are equally likely."""
    number = how_many(groups)
    if number > most:
        raise TooLarge(
            f"The release must have at most {most} possible worlds to be listed; "
            f"it has {number if number < 10**30 else 'more than 10**30'}."
        )
    return product(*(list(_deals(h)) for h in groups.histograms()))


def belief(
    groups: Groups,
    victim: tuple[int, int],
    value: str | None,
    *,
    knowing: Callable[[World], bool] = lambda world: True,
    most: int = MOST_WORLDS,
) -> Fraction:
    """The share of the worlds that fit what is known in which the victim has the value.

    Parameters
    ----------
    victim
        The group and the person in it, both counted from 0.
    knowing
        Whether a world fits what is known; any sentence about people's values.

    Examples
    --------
    >>> two = Groups.from_histograms([{"flu": 2, "aids": 2}])
    >>> belief(two, (0, 0), "aids", knowing=lambda world: world[0][1] == "flu")
    Fraction(2, 3)
    """
    group, person = victim
    fitting = having = 0
    for world in worlds(groups, most=most):
        if knowing(world):
            fitting += 1
            having += world[group][person] == value
    if not fitting:
        raise InputError("What is known must fit some world; it fits none.")
    return Fraction(having, fitting)


def _arrangements(counts: list[int]) -> int:
    return factorial(sum(counts)) // prod(factorial(n) for n in counts)


def _deals(histogram: dict[str | None, int]) -> Iterator[tuple[str | None, ...]]:
    """All distinct orders of a multiset."""
    if not any(histogram.values()):
        yield ()
        return
    for value, n in histogram.items():
        if n:
            for rest in _deals({**histogram, value: n - 1}):
                yield (value, *rest)
