"""An attack written out: who is known to have what, so that anybody can recount it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import perm
from typing import Any

from privet.errors import InputError
from privet.values.frozen import FrozenDict

Cell = str | None | tuple[str | None, ...]
"""A value of the sensitive column, or a set of them where it holds sets."""


@dataclass(frozen=True)
class AttackedGroup:
    """One group of the release, and whom of it the insider knows."""

    where: Mapping[str, str | None]
    """What its people look like."""
    histogram: Mapping[Cell, int]
    """How many of them have each value."""
    known: Mapping[Cell, int] = field(default_factory=dict)
    """People whose value is known: how many have each."""
    companions: int = 0
    """People of it who share the victim's value, if they have it."""
    names: Mapping[str, Cell] = field(default_factory=dict)
    """The people known by name, and their values."""
    companion_names: tuple[str, ...] = ()
    """The companions known by name."""

    def __post_init__(self) -> None:
        for key in ("where", "histogram", "known", "names"):
            object.__setattr__(self, key, FrozenDict(getattr(self, key)))

    def to_dict(self) -> dict[str, Any]:
        """For machines; values as pairs, since a missing value has no text."""
        named = {"names": {n: _plain(v) for n, v in self.names.items()}}
        called = {"companion_names": list(self.companion_names)}
        return {
            "group": dict(self.where),
            "histogram": _pairs(self.histogram),
            "known": _pairs(self.known),
            "companions": self.companions,
            **(named if self.names else {}),
            **(called if self.companion_names else {}),
        }


@dataclass(frozen=True)
class Attack:
    """What an insider knows about one victim, and how sure that makes them."""

    value: str | None
    """The value believed."""
    rules_out: tuple[str | None, ...]
    """Values the victim does not have."""
    crowds: tuple[AttackedGroup, ...]
    """The groups involved, the victim's first."""
    belief: Fraction
    """How sure the insider is."""
    victim: str = ""
    """The victim's name, where one is known."""

    @property
    def known(self) -> int:
        """How many other people's values are used."""
        return sum(n for c in self.crowds for n in c.known.values())

    @property
    def companions(self) -> int:
        """How many people are used who share the victim's value."""
        return sum(c.companions for c in self.crowds)

    def recount(self) -> Fraction:
        """The belief again, by counting the ways to deal values to the people named.

        >>> four = Crowd({}, {"Flu": 1, "Cancer": 1, "AIDS": 1, "Cold": 1}, {"Flu": 1})
        >>> Attack("AIDS", ("Cancer",), (four,), Fraction(1, 2)).recount()
        Fraction(1, 2)
        """
        return recounted(self.value, self.rules_out, self.crowds)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        victim = {"victim": self.victim} if self.victim else {}
        return {
            **victim,
            "rules_out": list(self.rules_out),
            "groups": [c.to_dict() for c in self.crowds],
        }


def recounted(
    value: str | None, rules_out: Sequence[str | None], crowds: Sequence[AttackedGroup]
) -> Fraction:
    """How likely the victim, of the first crowd, has the value.

    If the victim has it, companions may have any value; if not, they all lack it.
    """
    first, *others = crowds
    having, lacking = _with_victim(first, value, rules_out)
    for crowd in others:
        cards = _left(crowd)
        everybody = sum(cards.values())
        without = everybody - _holders(cards, value)
        having *= _dealt(crowd) * perm(everybody, crowd.companions)
        lacking *= _dealt(crowd) * perm(without, crowd.companions)
    if not having + lacking:
        raise impossible()
    return Fraction(having, having + lacking)


def impossible() -> InputError:
    """What is known contradicts the release, or itself."""
    return InputError(
        "What an insider knows must fit some table that would give this release; "
        "it fits none."
    )


def _with_victim(
    crowd: AttackedGroup, value: str | None, rules_out: Sequence[str | None]
) -> tuple[int, int]:
    """Ways to deal the victim's group where the victim has the value, and not."""
    cards = _left(crowd)
    having = lacking = 0
    for card, n in cards.items():
        if not n or any(has(card, x) for x in rules_out):
            continue
        rest = sum(cards.values()) - 1
        if has(card, value):
            having += n * perm(rest, crowd.companions)
        else:
            rest -= _holders(cards, value)
            lacking += n * perm(rest, crowd.companions)
    return _dealt(crowd) * having, _dealt(crowd) * lacking


def _left(crowd: AttackedGroup) -> dict[Cell, int]:
    """The cards left once the people known have theirs."""
    cards = dict(crowd.histogram)
    for card, n in crowd.known.items():
        cards[card] = max(cards.get(card, 0) - n, 0)
    return cards


def _dealt(crowd: AttackedGroup) -> int:
    """Ways to give the people known their values; 0 where there are too few."""
    ways = 1
    for card, n in crowd.known.items():
        ways *= perm(crowd.histogram.get(card, 0), n)
    return ways


def _holders(cards: Mapping[Cell, int], value: str | None) -> int:
    return sum(n for card, n in cards.items() if has(card, value))


def has(card: Cell, value: str | None) -> bool:
    """Whether somebody with this cell has the value."""
    return value in card if isinstance(card, tuple) else card == value


def _plain(cell: Cell) -> Any:
    return list(cell) if isinstance(cell, tuple) else cell


def _pairs(counts: Mapping[Cell, int]) -> list[list[Any]]:
    return [[_plain(v), n] for v, n in counts.items()]
