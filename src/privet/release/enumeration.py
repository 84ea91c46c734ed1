"""The possible worlds of a small release, listed one by one.

Everything else computes; this file only counts. It answers any question about a small
release, however odd the knowledge, and it is what the fast formulas are tested by.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import NoReturn

from privet.errors import InputError, TooLarge

World = tuple[tuple[str | None, ...], ...]
"""Who has what: a value for each person of each group."""

Histogram = Mapping[str | None, int]
"""How many people of a group have each value."""

Sentence = Callable[[Mapping[str, str | None]], object]
"""Takes who has what, by name; says whether that fits what is known."""

MOST_WORLDS = 1_000_000
"""Worlds that are listed without complaint."""


def count_worlds(groups: Sequence[Histogram]) -> int:
    """The number of ways to deal each group's values to its people.

    >>> count_worlds([{"flu": 2, "aids": 2}, {"flu": 1, "hiv": 1}])
    12
    """
    return prod(_count_arrangements(list(h.values())) for h in groups)


def list_worlds(
    groups: Sequence[Histogram], *, most: int = MOST_WORLDS
) -> Iterator[World]:
    """Every world, each once; all are equally likely."""
    number = count_worlds(groups)
    if number > most:
        raise TooLarge(
            f"The release must have at most {most} possible worlds to be listed; "
            f"it has {number if number < 10**30 else 'more than 10**30'}."
        )
    return product(*(list(_list_deals(h)) for h in groups))


def belief(
    groups: Sequence[Histogram],
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
    >>> one = [{"flu": 2, "aids": 2}]
    >>> belief(one, (0, 0), "aids", knowing=lambda world: world[0][1] == "flu")
    Fraction(2, 3)
    """
    group, person = victim
    fitting = having = 0
    for world in list_worlds(groups, most=most):
        if knowing(world):
            fitting += 1
            having += world[group][person] == value
    if not fitting:
        raise NoWorld("What is known must fit some world; it fits none.")
    return Fraction(having, fitting)


class NoWorld(InputError):
    """What is known contradicts the release, or itself."""


class _Asked(Exception):
    """Somebody is asked about who was not looked up yet."""


class Known(Mapping[str, str | None]):
    """Who has what in one world; asks for people it does not have."""

    def __init__(self, cells: Iterable[tuple[str, str | None]]) -> None:
        self._cells = dict(cells)

    def __getitem__(self, name: str) -> str | None:
        if name not in self._cells:
            raise _Asked(name)
        return self._cells[name]

    def __iter__(self) -> NoReturn:
        raise _no_list()

    def __len__(self) -> NoReturn:
        raise _no_list()


def _no_list() -> InputError:
    return InputError(
        "A sentence must ask for people by their names, such as has['Ed'] == 'Flu'; "
        "got one that lists everybody."
    )


def belief_about(
    victim: str,
    value: str | None,
    home: Callable[[str], tuple[Hashable, Histogram]],
    knowing: Sentence,
    *,
    most: int = MOST_WORLDS,
) -> Fraction:
    """How likely a person has a value, given any sentence about people by name.

    Parameters
    ----------
    home
        The group of a person, and its histogram.
    knowing
        Whether a world fits; it is asked about people by their names.

    Examples
    --------
    >>> belief_about("Tom", "aids", lambda name: (0, {"flu": 2, "aids": 2}),
    ...              lambda has: has["Ed"] == "flu")
    Fraction(2, 3)
    """
    homes = {victim: home(victim)}
    while True:
        try:
            return _count_share(victim, value, homes, knowing, most)
        except _Asked as asked:
            name = str(asked.args[0])
            homes[name] = home(name)


def _count_share(
    victim: str,
    value: str | None,
    homes: Mapping[str, tuple[Hashable, Histogram]],
    knowing: Sentence,
    most: int,
) -> Fraction:
    number = prod(len(histogram) for _, histogram in homes.values())
    if number > most:
        raise TooLarge(
            f"A sentence must be about few people: at most {most} ways to give them "
            f"values are tried; there are {number}."
        )
    fitting = having = 0
    for world, ways in _deal_values(homes):
        if knowing(world):
            fitting += ways
            having += ways * (world[victim] == value)
    if not fitting:
        raise NoWorld("What is known must fit some world; it fits none.")
    return Fraction(having, fitting)


def _deal_values(
    homes: Mapping[str, tuple[Hashable, Histogram]],
) -> Iterator[tuple[Known, int]]:
    """Values for the people, and in how many ways they can get them."""
    choices = [[(name, v) for v in h] for name, (_, h) in homes.items()]
    for deal in product(*choices):
        # All others get what is left in as many ways, whatever these have. Two of
        # {flu: 2, aids: 2}: both flu in 2 * 1 ways, flu and aids in 2 * 2.
        left = {group: dict(h) for group, h in homes.values()}
        ways = 1
        for name, v in deal:
            cards = left[homes[name][0]]
            ways *= cards[v]
            cards[v] -= 1
        if ways:
            yield Known(deal), ways


def _count_arrangements(counts: list[int]) -> int:
    return factorial(sum(counts)) // prod(factorial(n) for n in counts)


def _list_deals(histogram: Histogram) -> Iterator[tuple[str | None, ...]]:
    """All distinct orders of a multiset."""
    if not any(histogram.values()):
        yield ()
        return
    for value, n in histogram.items():
        if n:
            for rest in _list_deals({**histogram, value: n - 1}):
                yield (value, *rest)
