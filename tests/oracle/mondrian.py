"""Mondrian from its definition: slowly, on rows, with fractions.

Nothing is shared with the package: groups are lists of rows, every cut is tried on a
copy of the whole release, which is judged from scratch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2, perm
from typing import Any

Row = dict[str, Any]
Group = list[Row]


@dataclass
class Column:
    """A known column: its values in order, and how they may be told apart."""

    name: str
    order: list[Any]
    """All values; a cut parts what comes before from what comes after."""
    at: dict[Any, Fraction] | None = None
    """Where values of an ordered column lie; None: categories."""
    paths: dict[Any, tuple[str, ...]] | None = None
    """Of a tree: the nodes above each value, itself first."""

    def cuts(self, group: Group) -> list[int]:
        """The places before which a group may be cut."""
        places = sorted({self.order.index(r[self.name]) for r in group})
        if self.paths is None:
            return places[1:]
        children = [self._child(self.order[p], group) for p in places]
        return [
            p
            for p, one, before in zip(places[1:], children[1:], children, strict=False)
            if one != before
        ]

    def _level(self, group: Group) -> int:
        """The level below the lowest node above all values of a group."""
        assert self.paths is not None
        paths = [self.paths[r[self.name]] for r in group]
        level = 0
        while len({p[level + 1 :] for p in paths}) > 1:
            level += 1
        return level

    def _child(self, value: Any, group: Group) -> tuple[str, ...]:
        assert self.paths is not None
        return self.paths[value][self._level(group) :]

    def width(self, group: Group) -> Fraction:
        """How wide the column is in a group."""
        values = {r[self.name] for r in group}
        if len(values) < 2:
            return Fraction(0)
        if self.at is not None:
            places = [self.at[v] for v in values]
            return max(places) - min(places)
        if self.paths is not None:
            nodes = {self._child(v, group) for v in values}
            level = self._level(group)
            values = {v for v in self.order if self.paths[v][level:] in nodes}
        return Fraction(len(values) - 1, len(self.order) - 1)


@dataclass
class Promised:
    """An insider (or a linker: nothing known) about one column."""

    column: str
    l: int
    k: int
    m: int
    holds: Callable[[Fraction], bool]
    values: set[Any] | None = None


@dataclass
class Mondrian:
    """A table, what must hold, and what a good cut is."""

    rows: list[Row]
    columns: list[Column]
    promised: list[Promised]
    least: int = 1
    target: str | None = None
    groups: list[Group] = field(default_factory=list)

    def safe(self, groups: Sequence[Group]) -> bool:
        """Whether a whole release keeps everything."""
        if any(people(g) < self.least for g in groups):
            return False
        return all(p.holds(belief(groups, p)) for p in self.promised)

    def run(self) -> list[Group] | None:
        """The final groups; None if everybody in one group is unsafe."""
        self.groups = [self.rows]
        if not self.safe(self.groups):
            return None
        numbers = {id(self.rows): 0}
        waiting = [self.rows]
        while waiting:
            waiting.sort(key=lambda g: (-self._blur(g), numbers[id(g)]))
            group = waiting.pop(0)
            parts = self.split(group)
            if parts is None:
                continue
            self.groups = [g for g in self.groups if g is not group] + list(parts)
            for part in parts:
                numbers[id(part)] = len(numbers)
            waiting += parts
        return self.groups

    def _blur(self, group: Group) -> Any:
        if self.target is None:
            return people(group) * sum(c.width(group) for c in self.columns)
        cuts = [self.cut(c, group) for c in self.columns]
        return max((best[1] for best in cuts if best), default=0.0)

    def split(self, group: Group) -> tuple[Group, Group] | None:
        """The first cut that leaves the whole release safe."""
        others = [g for g in self.groups if g is not group]
        for _, cut in self.candidates(group):
            parts = self.parted(group, *cut)
            if self.safe([*others, *parts]):
                return parts
        return None

    def candidates(self, group: Group) -> list[tuple[Any, tuple[Column, int]]]:
        """The best cut of each column, the best column first; then all other cuts."""
        found = []
        for i, c in enumerate(self.columns):
            ranked = self.cuts(c, group)
            if not ranked:
                continue
            gain = ranked[0][1]
            column = (-gain if self.target else 0, -c.width(group), i)
            for rank, (place, _) in enumerate(ranked):
                found.append(((rank > 0, column, rank), (c, place)))
        return sorted(found, key=lambda f: f[0])

    def cut(self, c: Column, group: Group) -> tuple[int, float] | None:
        """The most even cut, or the most informative one; the first of equals."""
        return next(iter(self.cuts(c, group)), None)

    def cuts(self, c: Column, group: Group) -> list[tuple[int, float]]:
        """Every cut of a column, the best first, of equals the lowest."""
        scores = []
        for place in c.cuts(group):
            left, right = self.parted(group, c, place)
            if self.target is None:
                scores.append((place, min(people(left), people(right))))
            else:
                worth = self.bits(group) - self.bits(left) - self.bits(right)
                scores.append((place, round(worth, 9)))
        return sorted(scores, key=lambda s: (-s[1], s[0]))

    def bits(self, group: Group) -> float:
        """Entropy of the target, times people."""
        counts = histogram(group, self.target or "").values()
        return sum(n * -log2(n / people(group)) for n in counts)

    def parted(self, group: Group, c: Column, place: int) -> tuple[Group, Group]:
        """A group on both sides of a place."""
        left = [r for r in group if c.order.index(r[c.name]) < place]
        return left, [r for r in group if c.order.index(r[c.name]) >= place]


def people(group: Group) -> int:
    return sum(r["n"] for r in group)


def histogram(group: Group, column: str) -> Counter[Any]:
    counts: Counter[Any] = Counter()
    for r in group:
        counts[r[column]] += r["n"]
    return counts


def belief(groups: Sequence[Group], p: Promised) -> Fraction:
    """An insider's worst belief: every group for the victim, every one for the rest."""
    counted = [histogram(g, p.column) for g in groups]
    values = {v for h in counted for v in h} if p.values is None else p.values
    worst = Fraction(0)
    for s in values:
        having = [h for h in counted if h[s]]
        for victims in having:
            for others in having:
                for known in range(2):
                    odds = _odds(victims, others, s, p, known)
                    worst = max(worst, 1 / (1 + odds))
    return worst


def _odds(
    b: Counter[Any], c: Counter[Any], s: Any, p: Promised, known: int
) -> Fraction:
    """Odds against s: the victim in b, companions in c, the k people in b or in c."""
    a, total = b[s], sum(b.values())
    falling = sorted((n for v, n in b.items() if v != s), reverse=True)
    tail = total - a - sum(falling[: p.l])
    if b is c:
        if tail <= p.k:
            return Fraction(0)
        return Fraction(tail - p.k, a) * _lack(b, s, p.k + 1, p.m)
    if known == 0:
        return Fraction(max(tail - p.k, 0), a) * _lack(c, s, 0, p.m)
    return Fraction(tail, a) * _lack(c, s, p.k, p.m)


def _lack(c: Counter[Any], s: Any, k: int, m: int) -> Fraction:
    total = sum(c.values())
    without = total - c[s]
    if m == 0:
        return Fraction(1)
    if without - k < m:
        return Fraction(0)
    return Fraction(perm(without - k, m), perm(total - k, m))
