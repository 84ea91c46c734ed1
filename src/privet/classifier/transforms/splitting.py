"""The paper's own EST, for comparison: split labels, flatten, merge, or fail.

In closed form its scores are the prior to the power 1 - 1/k times the originals to the
power delta/k. Its checks (Lemma 12) look at the two largest counts only, so they pass
where predictions flip; whether they do is looked at here, too.
Mozafari, Zaniolo 2009, section 7.2, Figure 7, Lemma 12, Statement 14.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm, log

from privet.classifier.scores import GUARD, Scores, log_of
from privet.classifier.transforms.gap import led_by_less
from privet.classifier.transforms.r_closeness import Prior


@dataclass(frozen=True)
class PaperEst:
    """What the paper's EST does to a classifier."""

    power: int
    """delta: counts are raised to this before labels are split."""
    root: int
    """k of its SafetyTransform."""
    parts: tuple[int, ...]
    """Into how many labels each class is split: the prior in whole numbers."""
    splits: bool
    """Whether its check before splitting passes: Lemma 12."""
    merges: bool
    """Whether its check before merging passes; FAIL if not."""

    @property
    def exponent(self) -> Fraction:
        """What scores are raised to in the end."""
        return Fraction(self.power, self.root)

    @property
    def moves(self) -> list[float]:
        """By how many doublings the belief in each class is moved in the end."""
        return [log_of(Fraction(f)) * (1 - 1 / self.root) for f in self.parts]


def paper_est(
    scores: Scores,
    sizes: Sequence[int],
    prior: Prior,
    r: Fraction,
    *,
    power: int | None = None,
    root: int | None = None,
) -> PaperEst:
    """Follow the paper; `power` and `root` are its delta and k, if one wants others."""
    seen = _Counts.of(scores, sizes, prior)
    delta = power or seen.power(log(r)) or max(1, ceil(seen.most / seen.lead))
    k = root or seen.root(log(r), delta)
    merged = seen.lead_of_parts(delta) / k
    return PaperEst(
        delta,
        k,
        seen.parts,
        seen.lead * delta >= seen.most - GUARD,
        merged >= seen.most - GUARD,
    )


def least_of_statement_14(scores: Scores, sizes: Sequence[int], prior: Prior) -> float:
    """The r from which on Statement 14 certifies something; its natural logarithm."""
    seen = _Counts.of(scores, sizes, prior)
    return seen.n * (2 * seen.n + 3) * seen.most * seen.spread / seen.lead


def bound_of_statement_14(n: int, ratio: Fraction) -> Fraction:
    """The r below which Statement 14 certifies nothing, whatever the counts.

    >>> float(bound_of_statement_14(3, Fraction(3)))
    7625597484987.0
    """
    return ratio ** (2 * n * n + 3 * n)


@dataclass(frozen=True)
class _Counts:
    """What the paper looks at, as natural logarithms."""

    n: int
    """Attributes."""
    parts: tuple[int, ...]
    """The prior in whole numbers."""
    columns: tuple[tuple[float, ...], ...]
    """Counts of every class."""
    lead: float
    """S_M: the largest count by the next one that is smaller."""
    spread: float
    """M/m: the largest of all counts by the least."""

    @classmethod
    def of(cls, scores: Scores, sizes: Sequence[int], prior: Prior) -> _Counts:
        whole = lcm(*(f.denominator for f in prior))
        parts = [int(f * whole) for f in prior]
        columns = tuple(
            tuple(_ln(row[c] * p) for t in scores.factors for row in t)
            for c, p in enumerate(sizes)
        )
        numbers = [
            *(_ln(Fraction(p)) for p in sizes),
            *(x for col in columns for x in col),
        ]
        return cls(
            scores.attributes,
            tuple(parts),
            columns,
            _lead([x for column in columns for x in column]),
            max(numbers) - min(numbers),
        )

    @property
    def most(self) -> float:
        """F~: the most labels a class is split into."""
        return log(max(self.parts))

    def power(self, r: float) -> int | None:
        """The least delta that fulfils equation (21); None: none does."""
        steps = self.n * (2 * self.n + 3)
        room = self.lead * r - self.most * steps * self.spread
        if room <= GUARD:
            return None
        return floor((self.most * self.most * steps + self.most * r) / room) + 1

    def root(self, r: float, delta: int) -> int:
        """The k of SafetyTransform on counts to the power delta, split."""
        n = self.n
        spread = delta * self.spread + self.most
        return max(1, ceil(n * (2 * n + 3) * spread / r))

    def lead_of_parts(self, delta: int) -> float:
        """S_M of the counts to the power delta, split."""
        return _lead(
            [
                delta * x - log(f)
                for column, f in zip(self.columns, self.parts, strict=True)
                for x in column
            ]
        )


def _lead(numbers: Sequence[float]) -> float:
    """How far the largest is above the next one that differs; nothing differs: 0+."""
    top = max(numbers)
    below = [x for x in numbers if x < top - GUARD]
    return top - max(below) if below else GUARD


def _ln(x: Fraction) -> float:
    return log_of(x) * log(2)


# In truth ---------------------------------------------------------------------------


def flipped_by(scores: Scores, found: PaperEst) -> Mapping[int, int] | None:
    """A row that the paper's EST ranks otherwise; None: there is none.

    `TooLarge` where there are too many rows to look at.
    """
    moves = found.moves
    for c in range(scores.classes):
        for d in range(scores.classes):
            if moves[d] > moves[c]:
                gained = (moves[d] - moves[c]) / float(found.exponent)
                row = led_by_less(scores, (c, d), gained * (1 - 1e-12))
                if row is not None:
                    return row
    return None
