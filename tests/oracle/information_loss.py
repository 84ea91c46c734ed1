"""What a release keeps, from its definition: slowly, row by row, with fractions.

Nothing is shared with the package. A released cell is what the written file shows, read
as its values with a share each; every figure is a sum over rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import isclose, log, log2, sqrt
from typing import Any

Row = dict[str, str | None]
Shares = dict[str | None, Fraction]
Parts = dict[str | None, float]
FOLDS, BUCKETS = 5, 20


@dataclass(frozen=True)
class Cell:
    """What the file shows of one cell."""

    text: str | None
    values: tuple[str | None, ...]
    """What it may stand for, evenly."""
    blank: bool = False
    """Whether it shows nothing."""
    group: Mapping[str | None, int] | None = None
    """Of buckets: the values of the group instead."""

    @property
    def shares(self) -> Shares:
        if self.group is not None:
            people = sum(self.group.values())
            return {v: Fraction(n, people) for v, n in self.group.items()}
        return {v: Fraction(1, len(self.values)) for v in self.values}

    @property
    def changed(self) -> bool:
        return self.blank or len(self.shares) > 1


@dataclass
class Definition:
    """A source and the rows of the file made of it."""

    source: list[Row]
    released: list[dict[str, Cell]]
    known: list[str]
    order: dict[str, list[str | None]]
    """All values of each column, as they are ordered."""
    ordered: list[str]
    """Columns whose order means something."""
    numeric: list[str]
    codes: dict[str, list[str | None]]
    """All values of each column, as the source orders them."""
    group: Callable[[dict[str, Cell]], Any] | None = None
    """Of buckets: what tells groups apart."""
    apart: list[Row] | None = None
    """Of buckets: sensitive values as they stand together."""
    behind: list[Row] | None = None
    """The source row of each released one, where it can be told."""

    # Rows, groups -------------------------------------------------------------------

    @property
    def left_out(self) -> int:
        return len(self.source) - len(self.released)

    def rows_changed(self) -> int:
        changed = sum(any(c.changed for c in row.values()) for row in self.released)
        return changed + self.left_out

    def cells_changed(self, column: str) -> int:
        return sum(row[column].changed for row in self.released) + self.left_out

    def ncp(self, column: str) -> Fraction:
        most = len(self.order[column]) - 1
        if not most:
            return Fraction(0)
        cells = [row[column] for row in self.released]
        lost = [1 if c.blank else Fraction(len(c.shares) - 1, most) for c in cells]
        return (sum(lost, Fraction(0)) + self.left_out) / len(self.source)

    def look(self, row: dict[str, Cell]) -> Any:
        if self.group is not None:
            return self.group(row)
        return tuple(row[c].text for c in self.known)

    def groups(self) -> Counter[Any]:
        return Counter(map(self.look, self.released))

    def discernibility(self) -> int:
        groups, total = self.groups(), 0
        for row in self.released:
            nothing = self.group is None and all(row[c].blank for c in self.known)
            total += len(self.source) if nothing else groups[self.look(row)]
        return total + self.left_out * len(self.source)

    # Distributions ------------------------------------------------------------------

    def before(self, *columns: str) -> dict[Any, Fraction]:
        n = len(self.source)
        found = Counter(tuple(r[c] for c in columns) for r in self.source)
        return {k: Fraction(v, n) for k, v in found.items()}

    def after(self, *columns: str) -> dict[Any, Fraction]:
        n = len(self.released)
        if self.apart is not None and all(c in self.apart[0] for c in columns):
            found = Counter(tuple(r[c] for c in columns) for r in self.apart)
            return {k: Fraction(v, n) for k, v in found.items()}
        total: Counter[Any] = Counter()
        for row in self.released:
            cells: dict[Any, Fraction] = {(): Fraction(1)}
            for c in columns:
                cells = {
                    (*k, v): w * s
                    for k, w in cells.items()
                    for v, s in row[c].shares.items()
                }
            for k, w in cells.items():
                total[k] += w / n  # type: ignore[assignment]
        return dict(total)  # type: ignore[arg-type]

    def moved(self, *columns: str) -> Fraction:
        before, after = self.before(*columns), self.after(*columns)
        keys = {*before, *after}
        return (
            sum(
                (
                    abs(before.get(k, Fraction(0)) - after.get(k, Fraction(0)))
                    for k in keys
                ),
                Fraction(0),
            )
            / 2
        )

    def moved_in_order(self, column: str) -> Fraction:
        before, after = self.before(column), self.after(column)
        total, far = Fraction(0), Fraction(0)
        for value in self.order[column]:
            far += before.get((value,), Fraction(0)) - after.get((value,), Fraction(0))
            total += abs(far)
        return total / max(len(self.order[column]) - 1, 1)

    # Bits ---------------------------------------------------------------------------

    def bits(self, *columns: str) -> float:
        return entropy(self.before(*columns))

    def bits_kept(self, column: str) -> float:
        before, total = self.before(column), 0.0
        for row in self.released:
            cell = row[column]
            if cell.group is not None:  # the share of the group against all
                for value, s in cell.shares.items():
                    total += float(s) * log2(s / before[(value,)])
                continue
            total -= log2(sum(before[(v,)] for v in cell.shares))
        return total / len(self.source)

    def whole_kept(self) -> float:
        n = len(self.source)
        if self.apart is None:
            alike = Counter(
                tuple(c.text for c in row.values()) for row in self.released
            )
            return -sum(k / n * log2(k / n) for k in alike.values())
        assert self.behind is not None
        assert self.group is not None
        alike = Counter(tuple(r.values()) for r in self.behind)
        told = -sum(k / n * log2(k / n) for k in alike.values())
        names = list(self.apart[0])
        people = Counter(map(self.group, self.released))
        both = Counter(
            (self.group(row), *(truth[c] for c in names))
            for row, truth in zip(self.released, self.behind, strict=True)
        )
        unsure = sum(-k / n * log2(k / people[key[0]]) for key, k in both.items())
        return max(told - unsure, 0.0)

    # Pairs --------------------------------------------------------------------------

    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.order, 2))

    def information(self, joint: Mapping[Any, Fraction]) -> float:
        return max(sum(entropy(m) for m in margins(joint)) - entropy(joint), 0.0)

    def cramers_v(self, joint: Mapping[Any, Fraction], a: str, b: str) -> float | None:
        fewest = min(len(self.order[a]), len(self.order[b])) - 1
        if not fewest:
            return None
        first, second = margins(joint)
        excess = sum(w * w / (first[x] * second[y]) for (x, y), w in joint.items()) - 1
        return sqrt(excess / fewest)

    def correlation(self, a: str, b: str) -> tuple[float | None, float | None]:
        before = [(r[a], r[b]) for r in self.source]
        real = [(Fraction(x), Fraction(y)) for x, y in before if None not in (x, y)]
        shown = [(middle(row[a]), middle(row[b])) for row in self.released]
        seen = [(x, y) for x, y in shown if x is not None and y is not None]
        return pearson(real), pearson(seen)

    # Held-out accuracy --------------------------------------------------------------

    def accuracies(self, target: str) -> list[tuple[float, float]]:
        """Least and largest share that is right, whichever class a tie takes: before,
        after, and learnt from the release for rows of the source."""
        assert self.behind is not None
        names = [target, *(c for c in self.order if c != target)]
        place = {c: {v: i for i, v in enumerate(o)} for c, o in self.codes.items()}
        rows = sorted(
            range(len(self.source)),
            key=lambda i: [place[c][self.source[i][c]] for c in names],
        )
        shown: dict[int, dict[str, Cell]] = {}
        for row, truth in zip(self.released, self.behind, strict=True):
            shown[next(i for i in rows if self.source[i] is truth)] = row
        bucket = {c: self._buckets(c) for c in names[1:]}
        fold = {i: at % FOLDS for at, i in enumerate(rows)}
        right = [[0, 0], [0, 0], [0, 0]]
        for part in range(FOLDS):
            train = [i for i in rows if fold[i] != part]
            own = self._train(target, bucket, [(self._as_is(i), 1) for i in train])
            theirs = self._train(
                target, bucket, [(shown_row(shown[i]), 1) for i in train if i in shown]
            )
            for i in (i for i in rows if fold[i] == part):
                seen = shown_row(shown[i]) if i in shown else None
                tests = [
                    (own, self._as_is(i)),
                    (theirs, seen),
                    (theirs, self._as_is(i)),
                ]
                for at, (model, row) in enumerate(tests):
                    if row is None:
                        continue
                    low, high = self._judge(model, row, bucket, self.source[i][target])
                    right[at][0] += low
                    right[at][1] += high
        totals = [len(rows), len(shown), len(rows)]
        return [(a / n, b / n) for (a, b), n in zip(right, totals, strict=True)]

    def _as_is(self, i: int) -> dict[str, Parts]:
        return {c: {self.source[i][c]: 1.0} for c in self.order}

    def _buckets(self, column: str) -> dict[str | None, int]:
        values = self.order[column]
        if len(values) <= BUCKETS:
            return {v: i for i, v in enumerate(values)}
        often = Counter(r[column] for r in self.source)
        if column in self.ordered:
            below, found, seen = 0, {}, {}
            for v in values:
                cut = BUCKETS * below // len(self.source)
                found[v] = seen.setdefault(cut, len(seen))
                below += often[v]
            return found
        common = sorted(values, key=lambda v: (-often[v], self.codes[column].index(v)))
        return {v: min(i, BUCKETS - 1) for i, v in enumerate(common)}

    def _train(
        self,
        target: str,
        bucket: dict[str, dict[str | None, int]],
        rows: Sequence[tuple[dict[str, Parts], int]],
    ) -> tuple[dict[Any, float], dict[Any, float]]:
        classes: dict[Any, float] = dict.fromkeys(self.order[target], 0.0)
        inside: dict[Any, float] = {}
        for row, _ in rows:
            for label, w in row[target].items():
                classes[label] += w
                for c, places in bucket.items():
                    for v, s in row[c].items():
                        key = label, c, places[v]
                        inside[key] = inside.get(key, 0.0) + w * s
        return classes, inside

    def _judge(
        self,
        model: tuple[dict[Any, float], dict[Any, float]],
        row: dict[str, Parts],
        bucket: dict[str, dict[str | None, int]],
        truth: str | None,
    ) -> tuple[bool, bool]:
        classes, inside = model
        scores = {}
        for label, people in classes.items():
            if not people:
                continue
            score = log(people)
            for c, places in bucket.items():
                size = len(set(places.values()))
                chance = sum(
                    s * (inside.get((label, c, places[v]), 0) + 1) / (people + size)
                    for v, s in row[c].items()
                )
                score += log(chance)
            scores[label] = score
        best = max(scores.values())
        winners = [k for k, s in scores.items() if isclose(s, best, abs_tol=1e-7)]
        return winners == [truth], truth in winners


def shown_row(row: dict[str, Cell]) -> dict[str, Parts]:
    return {c: {v: float(s) for v, s in x.shares.items()} for c, x in row.items()}


def entropy(shares: Mapping[Any, Fraction]) -> float:
    return -sum(float(s) * log2(s) for s in shares.values() if s)


def margins(joint: Mapping[Any, Fraction]) -> tuple[dict[Any, Fraction], ...]:
    found: tuple[dict[Any, Fraction], ...] = ({}, {})
    for key, w in joint.items():
        for at in (0, 1):
            found[at][key[at]] = found[at].get(key[at], Fraction(0)) + w
    return found


def middle(cell: Cell) -> Fraction | None:
    numbers = [Fraction(v) for v in cell.shares if v is not None]
    return (min(numbers) + max(numbers)) / 2 if numbers else None


def pearson(points: Sequence[tuple[Fraction, Fraction]]) -> float | None:
    if not points:
        return None
    n = len(points)
    mean = [sum(p[j] for p in points) / n for j in (0, 1)]
    far = [[p[j] - mean[j] for p in points] for j in (0, 1)]
    spread = [sum(d * d for d in side) for side in far]
    if not all(spread):
        return None
    both = sum(x * y for x, y in zip(*far, strict=True))
    return float(both) / sqrt(spread[0] * spread[1])
