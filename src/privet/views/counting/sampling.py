"""Possible worlds drawn at random, all equally likely: coupling from the past.

Tuples of the join are switched on and off by fair coins, one after the other, and none
is switched off that a view needs. What the coins of the far past did is unknown, so for
each tuple two answers are kept: whether it is surely there, and whether it may be. Once
both agree the draw is perfect (coupling from the past, with bounding chains); where
they never agree the interval says so. Thousands of draws share each step, as the bits
of one integer.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.values.noise.binomial import bound_by_chernoff

SWEEPS = (8, 16, 32, 64, 128)
"""How far into the past one looks, until every answer is known."""

FEW, MANY = 1 << 12, 1 << 17
"""Draws at the least and at the most."""

WORK = 1 << 28
"""Coins that are tossed in one sweep, in all draws together, about."""

MOST_TUPLES = 20_000
"""Tuples of a join that are drawn."""

ERROR = Fraction(1, 10**6)
"""How likely any interval of one audit misses the truth, at the most."""


@dataclass(frozen=True)
class Draws:
    """How often something held: surely, and possibly."""

    number: int
    """Draws."""
    surely: int
    """Those in which it held."""
    possibly: int
    """Those in which it may have held."""

    def interval(self, error: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds that miss the share of worlds with at most this probability."""
        if not self.number:
            return Fraction(0), Fraction(1)
        # Half of the error for each side; draws in doubt count against both bounds.
        each = float(error) / 2
        low = _lower_bound(self.surely, self.number, each)
        high = 1 - _lower_bound(self.number - self.possibly, self.number, each)
        return low, high


def _lower_bound(hits: int, number: int, error: float) -> Fraction:
    """A share so low that as many hits or more are less likely than `error`.

    Rounded down to ten digits, and one unit more, since the product is a float.
    """
    scale = 10**10
    low = bound_by_chernoff(hits, number, error)
    return Fraction(max(int(low * scale) - 1, 0), scale)


def make_key(seed: int | None) -> bytes:
    """Where draws come from: the system's secure source, or a seed."""
    if seed is None:
        return secrets.token_bytes(32)
    return hashlib.sha256(f"privet worlds {seed}".encode()).digest()


class WorldSampler:
    """Draws of possible worlds of one connected part of a join."""

    def __init__(
        self,
        tuples: Sequence[Sequence[int]],
        key: bytes,
        check: Callable[[], None] = lambda: None,
        *,
        draws: int | None = None,
    ) -> None:
        """Take, for each join tuple, the view tuples it needs."""
        wanted = draws or min(max(WORK // len(tuples), FEW), MANY)
        self.number = -(-wanted // 8) * 8  # coins come in bytes
        self._key, self._check = key, check
        self._all = (1 << self.number) - 1  # one bit per draw
        self._tuples = tuples
        self._inside: dict[int, list[int]] = defaultdict(list)
        for e, needed in enumerate(tuples):
            for t in needed:
                self._inside[t].append(e)
        self.surely = [0] * len(tuples)
        self.possibly = [self._all] * len(tuples)

    def draw(self, asked: Sequence[int]) -> int:
        """Toss until all is known about the tuples asked for; draws left in doubt."""
        doubt = self.number
        for sweeps in SWEEPS:
            self._toss_from_past(sweeps)
            if not (doubt := self.count_doubtful(asked)):
                break
        return doubt

    def count_doubtful(self, asked: Sequence[int]) -> int:
        """Draws in which it is not known whether some of these tuples are there."""
        doubt = 0
        for e in asked:
            doubt |= self.possibly[e] ^ self.surely[e]
        return doubt.bit_count()

    def count_held(self, supports: Sequence[int]) -> Draws:
        """How often one of some tuples was there."""
        surely = possibly = 0
        for e in supports:
            surely |= self.surely[e]
            possibly |= self.possibly[e]
        return Draws(self.number, surely.bit_count(), possibly.bit_count())

    def count_restricted(
        self, by_value: Mapping[int, Sequence[int]], value: int
    ) -> Draws:
        """Of draws in which a person has one value only, those with this value.

        Takes the person's tuples by value; all must be known about them.
        """
        # A bit per draw: a value so far, a second one, the value asked for.
        once = twice = wanted = 0
        for v, supports in by_value.items():
            here = 0
            for e in supports:
                here |= self.surely[e]
            twice |= once & here
            once |= here
            wanted = here if v == value else wanted
        one = once & ~twice
        having = (one & wanted).bit_count()
        return Draws(one.bit_count(), having, having)

    def _toss_from_past(self, sweeps: int) -> None:
        """The same coins as before, and older ones before them."""
        self.surely = [0] * len(self._tuples)
        self.possibly = [self._all] * len(self._tuples)
        # Sweep 1 is the latest. Coins go by the sweep's number, so 16 sweeps end with
        # the same 8 as before: answers that were known stay.
        for sweep in range(sweeps, 0, -1):
            for e in range(len(self._tuples)):
                if not e % 64:
                    self._check()
                self._toss(e, self._draw_coins(sweep, e))

    def _draw_coins(self, sweep: int, e: int) -> int:
        name = sweep.to_bytes(4, "big") + e.to_bytes(4, "big")
        made = hashlib.shake_128(self._key + name).digest(self.number // 8)
        return int.from_bytes(made, "big")

    def _toss(self, e: int, heads: int) -> None:
        """Heads: it is there. Tails: it is gone, unless a view needs it."""
        # Draws in which each view tuple of e has another tuple, possibly and surely.
        # Not even possibly: e is needed. Surely: e is not. Else it is in doubt.
        spared = certain = self._all
        for t in self._tuples[e]:
            spared &= self._combine_draws(self.possibly, self._inside[t], e)
            certain &= self._combine_draws(self.surely, self._inside[t], e)
        self.surely[e] = heads | (self._all ^ spared)
        self.possibly[e] = heads | (self._all ^ certain)

    def _combine_draws(
        self, state: Sequence[int], among: Sequence[int], but: int
    ) -> int:
        """The draws in which one of several tuples is there, another left aside."""
        found = 0
        for e in among:
            if e != but:
                found |= state[e]
                if found == self._all:
                    break
        return found
