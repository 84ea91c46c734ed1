"""The paper's own EST, for comparison: split labels, flatten, merge, or fail.

In closed form its scores are the prior to the power 1 - 1/k times the originals to the
power delta/k. Its checks (Lemma 12) pass where predictions flip; whether they do is
told here, too. Mozafari, Zaniolo 2009, section 7.2, Figure 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm, log

from privet.audits.amplification import pair_odds
from privet.releases.classifier import ClassifierViews
from privet.releases.scores import Scores, log_of


@dataclass(frozen=True)
class PaperEst:
    """What the paper's EST would do."""

    power: Fraction
    """delta: counts are raised to this before labels are split."""
    root: int
    """k of its SafetyTransform."""
    fails: bool
    """Whether its own check before merging fails (FAIL)."""
    keeps_order: bool
    """Whether the ranking of classes is kept for every row, in truth."""

    @property
    def exponent(self) -> Fraction:
        """What scores are raised to in the end."""
        return self.power / self.root


def paper_est(
    views: ClassifierViews,
    prior: Sequence[Fraction],
    r: Fraction,
    *,
    power: Fraction | None = None,
    root: int | None = None,
) -> PaperEst:
    """Follow the paper; `power` and `root` are its delta and k, if one wants others."""
    whole = lcm(*(f.denominator for f in prior))
    parts = max(int(f * whole) for f in prior)
    counts = sorted((n for t in views.cells for row in t for n in row), reverse=True)
    first, second = counts[0], next((n for n in counts if n < counts[0]), counts[0])
    lead = log(first / second) if second else float("inf")
    delta = power if power is not None else Fraction(max(1, ceil(log(parts) / lead)))
    k = root if root is not None else _root(views, r, delta)
    merged = lead * float(delta) / k
    return PaperEst(
        delta,
        k,
        merged < log(parts),
        _keeps_order(views.scores, prior, delta / k, k),
    )


def _root(views: ClassifierViews, r: Fraction, delta: Fraction) -> int:
    n = len(views.attributes)
    numbers = [*views.sizes, *(x for t in views.cells for row in t for x in row)]
    spread = float(delta) * log(max(numbers) / min(x for x in numbers if x))
    return max(1, ceil(n * (2 * n + 3) * spread / log(float(r))))


def _keeps_order(
    scores: Scores, prior: Sequence[Fraction], exponent: Fraction, k: int
) -> bool:
    """Whether moving classes by the prior changes no order: linear in the counts."""
    moved = [float(log_of(f)) * (1 - 1 / k) for f in prior]
    for c in range(scores.classes):
        for d in range(scores.classes):
            # d gains on c; that is harmless only if c is never above d.
            if c != d and moved[d] > moved[c]:
                odds = pair_odds(scores, (c, d)).odds
                if odds is None or odds > 1:
                    return False
    return True


def bound_of_statement_14(n: int, ratio: Fraction) -> Fraction:
    """The r below which the paper's Statement 14 never certifies anything.

    >>> float(bound_of_statement_14(3, Fraction(3)))
    7625597484987.0
    """
    return ratio ** (2 * n * n + 3 * n)
