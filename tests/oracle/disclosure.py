"""Top-down disclosure as its definition reads: explicit released tables, no shortcuts.

Every confidence is counted anew from the released rows of every candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2
from typing import Any

Row = dict[str, Any]
HIDDEN = "⊥"


@dataclass(frozen=True)
class Template:
    """No group over `qid` may have more than a share `limit` of `value`."""

    qid: tuple[str, ...]
    column: str
    value: Any
    limit: Fraction
    strict: bool = False

    @property
    def rule(self) -> tuple[frozenset[str], str, Any]:
        return frozenset(self.qid), self.column, self.value

    def holds(self, confidence: Fraction) -> bool:
        return confidence < self.limit if self.strict else confidence <= self.limit


@dataclass(frozen=True)
class Step:
    attribute: str
    value: Any
    gain: float
    loss: float
    score: float
    confidences: tuple[Fraction, ...]


@dataclass
class Disclosure:
    """The state: which values are hidden, which intervals were cut."""

    rows: Sequence[Row]
    templates: Sequence[Template]
    target: str | None
    fixed: frozenset[str] = frozenset()
    ordered: frozenset[str] = frozenset()
    """Attributes that are cut into intervals instead."""
    utility: str = "information"
    split: str = "infogain"
    weighted: bool = False
    hidden: dict[str, set[Any]] = field(default_factory=dict)
    cuts: dict[str, list[Any]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        for j in self.attributes():
            if j in self.ordered:
                self.cuts[j] = []
            else:
                self.hidden[j] = {r[j] for r in self.rows}

    def attributes(self) -> list[str]:
        """Maskable attributes in the order of their first appearance."""
        named = dict.fromkeys(j for t in self.templates for j in t.qid)
        return [j for j in named if j not in self.fixed]

    def rules(self) -> list[Template]:
        return list({t.rule: t for t in self.templates}.values())

    # The released table -------------------------------------------------------------

    def shown(
        self, row: Row, hidden: Mapping[str, set[Any]], cuts: Mapping[str, list[Any]]
    ) -> dict[str, Any]:
        cells = dict(row)
        for j, values in hidden.items():
            if row[j] in values:
                cells[j] = HIDDEN
        for j, points in cuts.items():
            cells[j] = sum(order(row[j]) > order(c) for c in points)
        return cells

    def confidence(self, rule: Template, table: Sequence[Row]) -> Fraction:
        groups: dict[tuple[Any, ...], list[int]] = {}
        for row in table:
            sums = groups.setdefault(tuple(row[j] for j in rule.qid), [0, 0])
            sums[0] += row["n"]
            sums[1] += row["n"] * (row[rule.column] == rule.value)
        return max(
            (Fraction(b, a) for a, b in groups.values() if a), default=Fraction(0)
        )

    def table(
        self,
        hidden: Mapping[str, set[Any]] | None = None,
        cuts: Mapping[str, list[Any]] | None = None,
    ) -> list[Row]:
        hidden = self.hidden if hidden is None else hidden
        cuts = self.cuts if cuts is None else cuts
        return [self.shown(row, hidden, cuts) for row in self.rows]

    def feasible(self) -> bool:
        table = self.table()
        return all(t.holds(self.confidence(t, table)) for t in self.templates)

    # Candidates ---------------------------------------------------------------------

    def candidates(self) -> list[tuple[str, Any, list[Row], Callable[[Row], bool]]]:
        """(attribute, value or cut, the pool it is taken from, who is taken out)."""
        found = []
        for j in self.attributes():
            if j in self.ordered:
                found += self.cut_candidates(j)
                continue
            pool = [r for r in self.rows if r[j] in self.hidden[j]]
            for v in self.hidden[j]:
                found.append((j, v, pool, lambda r, j=j, v=v: r[j] == v))
        return found

    def cut_candidates(
        self, j: str
    ) -> list[tuple[str, Any, list[Row], Callable[[Row], bool]]]:
        found = []
        points = sorted(self.cuts[j], key=order)
        for i in range(len(points) + 1):
            low = order(points[i - 1]) if i else (-1,)
            high = order(points[i]) if i < len(points) else (2,)
            pool = [r for r in self.rows if low < order(r[j]) <= high]
            values = sorted({r[j] for r in pool}, key=order)
            options = [
                (j, c, pool, lambda r, j=j, c=c: order(r[j]) <= order(c))
                for c in values[:-1]
            ]
            if self.split == "valid":
                options = [o for o in options if self.valid(*self.after(o[0], o[1]), j)]
            if options:
                gains = [self.gain(pool, o[3]) for o in options]
                best = max(gains)
                found.append(
                    next(
                        o
                        for o, g in zip(options, gains, strict=True)
                        if abs(g - best) <= 1e-12
                    )
                )
        return found

    def after(
        self, j: str, value: Any
    ) -> tuple[dict[str, set[Any]], dict[str, list[Any]]]:
        if j in self.ordered:
            return self.hidden, {**self.cuts, j: [*self.cuts[j], value]}
        return {**self.hidden, j: self.hidden[j] - {value}}, self.cuts

    def valid(
        self,
        hidden: Mapping[str, set[Any]],
        cuts: Mapping[str, list[Any]],
        j: str,
    ) -> bool:
        table = self.table(hidden, cuts)
        return all(
            t.holds(self.confidence(t, table)) for t in self.templates if j in t.qid
        )

    def beneficial(self, pool: Sequence[Row]) -> bool:
        if self.utility == "distortion":
            return True
        return len({r[self.target] for r in pool if r["n"]}) > 1

    def gain(self, pool: Sequence[Row], taken: Callable[[Row], bool]) -> float:
        if self.utility == "distortion":
            return float(sum(r["n"] for r in pool if taken(r)))
        inside = [r for r in pool if taken(r)]
        rest = [r for r in pool if not taken(r)]
        whole = size(pool)
        gain = (
            self.entropy(pool)
            - size(inside) / whole * self.entropy(inside)
            - (size(rest) / whole * self.entropy(rest) if rest else 0.0)
        )
        return gain * (whole / size(self.rows) if self.weighted else 1.0)

    def entropy(self, rows: Sequence[Row]) -> float:
        classes: Counter[Any] = Counter()
        for r in rows:
            classes[r[self.target]] += r["n"]
        whole = sum(classes.values())
        return -sum(n / whole * log2(n / whole) for n in classes.values() if n)

    # The loop -----------------------------------------------------------------------

    def step(self, *, only_beneficial: bool = True) -> bool:
        """Disclose the best valid candidate; False if there is none."""
        before = [self.confidence(t, self.table()) for t in self.rules()]
        scored = []
        for j, value, pool, taken in self.candidates():
            state = self.after(j, value)
            if not self.valid(*state, j):
                continue
            if only_beneficial and not self.beneficial(pool):
                continue
            table = self.table(*state)
            gains = self.gain(pool, taken)
            losses = [
                self.confidence(t, table) - c
                for t, c in zip(self.rules(), before, strict=True)
                if j in t.qid
            ]
            loss = float(sum(losses) / len(losses))
            scored.append((gains / (loss + 1), loss, j, value, gains))
        if not scored:
            return False
        top = max(s[0] for s in scored)
        ties = [s for s in scored if s[0] >= top - 1e-12]
        least = min(s[1] for s in ties)
        ties = [s for s in ties if s[1] <= least + 1e-12]
        names = self.attributes()
        score, loss, j, value, gains = min(
            ties, key=lambda s: (names.index(s[2]), order(s[3]))
        )
        self.hidden, self.cuts = self.after(j, value)
        table = self.table()
        after = tuple(self.confidence(t, table) for t in self.rules())
        self.steps.append(Step(j, value, gains, loss, score, after))
        return True

    def run(self, *, maximal: bool = False) -> Disclosure:
        while self.step():
            pass
        while maximal and self.step(only_beneficial=False):
            pass
        return self


def size(rows: Sequence[Row]) -> int:
    return sum(r["n"] for r in rows)


def order(value: Any) -> tuple[Any, ...]:
    """Missing first, then by value."""
    return (0,) if value is None else (1, value)
