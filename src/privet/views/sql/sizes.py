"""How large keys are, and what is known of people in several of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

LOG2 = log(2)

CLOSE = 1e-9
"""Logarithms nearer than this are not told apart."""

TIE = 1e-13
"""Nor are sums of what keys add to 1/2, relatively."""


@dataclass(frozen=True)
class KeySizes:
    """Keys of the same two sizes."""

    people: int
    """m: different people, missing included."""
    secrets: int
    """n: different values, missing included."""
    keys: int
    """How many keys have these sizes."""
    pairs: int
    """Associations of somebody with some value in them."""
    single: int
    """People in them who are in no other key."""


@dataclass(frozen=True)
class AssociationPairs:
    """Associations of people in several keys that meet in the same kinds of keys."""

    kinds: tuple[int, ...]
    """The numbers of the sizes of the keys in which they meet."""
    person: str | None
    """One such person …"""
    secret: str | None
    """… and value."""


@dataclass(frozen=True)
class Bound:
    """The chance to miss an association, as a logarithm."""

    keys: int
    """In how many keys it may hold."""
    part: float
    """The sum, over these keys, of the logarithms of twice the chance to miss it."""

    @property
    def log(self) -> float:
        """The logarithm of the chance itself."""
        return self.part - self.keys * LOG2
