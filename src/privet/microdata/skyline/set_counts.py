"""Counts of one group's sets: who has a value, who has two, and who has neither.

For l values ruled out, T are the people with neither the value s nor one ruled out, and
A those with s and none ruled out. With pairs and triples counted, every choice of up to
two values is one line of a table; beyond, T is bounded by pairs, over all who have s.
Chen, LeFevre, Ramakrishnan 2007, set-valued attributes (whole sets are permuted).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from privet.values.arrays import Flags, Ints

EXACT = 2
"""Values ruled out up to which every choice is tried."""


class Choices(NamedTuple):
    """What may be ruled out beside a value, and what that leaves."""

    tail: Ints
    """T: people with neither the value nor one ruled out."""
    holders: Ints
    """A: people with the value and none ruled out; somebody at least."""
    ruled: Ints
    """The values ruled out, as two positions each; -1: none."""

    def keep_best(self) -> Choices:
        """Without those that another one beats for every number of people known."""
        # The most holders first, then the least tail: each must lower the tail.
        order = np.lexsort((self.tail, -self.holders))
        tail = self.tail[order]
        before = np.minimum.accumulate(np.append(np.iinfo(np.int64).max, tail[:-1]))
        kept = order[tail < before]
        return Choices(self.tail[kept], self.holders[kept], self.ruled[kept])


@dataclass(frozen=True, eq=False)
class GroupSets:
    """The sets of one group, and how many people have each."""

    has: Flags
    """Whether each set holds each value; (sets, values)."""
    n: Ints
    """How many people have each set."""

    @property
    def people(self) -> int:
        """How many there are."""
        return int(self.n.sum())

    @cached_property
    def pairs(self) -> Ints:
        """People with two values; with one of them, where both are the same."""
        held = self.has.astype(np.int64)
        return np.asarray((held * self.n[:, None]).T @ held)

    @property
    def having(self) -> Ints:
        """People with each value."""
        return np.diagonal(self.pairs)

    def list_choices(self, s: int, l: int) -> Choices:
        """What may be ruled out beside the value at a position: up to l values."""
        a, together = int(self.having[s]), self.pairs[s]
        if l > EXACT:
            return self._bound_choice(s, l)
        nothing = np.full((1, 2), -1)
        if l == 0:
            return Choices(np.array([self.people - a]), np.array([a]), nothing)
        # People with x and without s; those with s and x go, too.
        lacking = self.having - together
        if l == 1:
            holders, tail = a - together, self.people - a - lacking
            ruled = np.stack([np.arange(len(together)), np.full(len(together), -1)], 1)
        else:
            own = self.has[self.has[:, s]].astype(np.int64)
            three = (own * self.n[self.has[:, s]][:, None]).T @ own
            x, y = np.triu_indices(len(together))  # x = y rules out one
            holders = a - together[x] - together[y] + three[x, y]
            both = self.pairs[x, y] - three[x, y]
            tail = self.people - a - lacking[x] - lacking[y] + both
            ruled = np.stack([x, np.where(x == y, -1, y)], 1)
        # s itself is not ruled out; and somebody must be left who has it.
        fine = (holders > 0) & (ruled != s).all(axis=1)
        return Choices(
            np.append(tail[fine], self.people - a),
            np.append(holders[fine], a),
            np.concatenate([ruled[fine], nothing]),
        )

    def _bound_choice(self, s: int, l: int) -> Choices:
        """Too few in the tail and too many holders make the odds too low: a bound.

        Who has two of the values is counted twice, which only lowers the tail.
        """
        a = int(self.having[s])
        lacking = np.delete(self.having - self.pairs[s], s)
        most = int(np.sort(lacking)[::-1][:l].sum())
        tail = max(self.people - a - most, 0)
        return Choices(np.array([tail]), np.array([a]), np.full((1, 2), -1))

    def rule_out(self, s: int, out: Sequence[int]) -> Choices:
        """These values ruled out beside one; none where nobody would be left."""
        left = ~self.has[:, list(out)].any(axis=1)
        holders = int(self.n[left & self.has[:, s]].sum())
        several = int(holders > 0)
        tail = int(self.n[left].sum()) - holders
        empty = np.full((several, 2), -1)
        return Choices(np.array([tail] * several), np.array([holders] * several), empty)


def index_sets(
    sets: Iterable[Sequence[Any]],
) -> tuple[list[Any], Flags]:
    """The values of some sets, and which of them each has.

    >>> values, has = index_sets([("a", "b"), (), ("a",)])
    >>> values, has.tolist()
    (['a', 'b'], [[True, True], [False, False], [True, False]])
    """
    listed = list(sets)
    values = list(dict.fromkeys(v for own in listed for v in own))
    at = {v: j for j, v in enumerate(values)}
    has = np.zeros((len(listed), len(values)), dtype=bool)
    for i, own in enumerate(listed):
        has[i, [at[v] for v in own]] = True
    return values, has
