"""The tight exponent with three and more classes: exactly what the promise allows.

With all classes alike beforehand a limit bounds the sum of the largest posteriors.
Posteriors to a larger exponent majorise those to a smaller one, so these sums grow with
the exponent, and halving finds the largest that is safe: one step more, and there is
somebody who passes the limit. Where a search is not finished within its budget the
exponent counts as unsafe; what two classes' odds allow is safe without any search.
Mozafari, Zaniolo 2009, section 6.2.2, Step 2; not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.classifier.posteriors.set_beliefs import (
    MOST_NODES,
    BeliefSearch,
    SearchAnswer,
    SetLimit,
    list_set_limits,
    passes,
)
from privet.classifier.scores import Known, Scores
from privet.policy import Promise
from privet.values.adversaries import Bayesian

FINEST = 2**10
"""Exponents are multiples of one in this; finer below one half, and so on."""

MOST_IN_ALL = 4 * MOST_NODES
"""Partial tuples that are looked at for all exponents together."""


@dataclass(frozen=True)
class TightExponent:
    """The largest safe exponent of a grid, and why there is no larger one."""

    exponent: Fraction
    """It is proved to be safe."""
    beyond: Fraction | None = None
    """The next larger one; None: scores may stay as they are, or nothing was tried."""
    passed: SetLimit | None = None
    """The limit that is passed there; None: it is not known whether any is."""
    known: Known | None = None
    """Who passes it."""
    nodes: int = 0
    """Partial tuples that were looked at."""
    part: float = 1.0
    """The part of the limit's odds that is passed: half for whoever averages over
    tables, less where points are moved."""

    @property
    def exact(self) -> bool:
        """Whether no larger exponent of the grid is safe."""
        return self.nodes > 0 and (self.beyond is None or self.passed is not None)

    def check(self, scores: Scores, exponent: Fraction) -> Iterator[str]:
        """What is wrong with it, for scores and what they were raised to."""
        if exponent > self.exponent:
            yield "The exponent must be one that was found safe; it is larger."
        if self.beyond is None or self.passed is None or self.known is None:
            return
        inside = all(0 <= i < scores.attributes for i in self.known) and all(
            0 <= t < len(scores.factors[i]) for i, t in self.known.items()
        )
        if not inside or not passes(
            scores, self.passed, self.known, self.beyond, self.part
        ):
            yield "The next larger exponent must pass a limit for whom it says."

    def to_dict(self) -> dict[str, Any]:
        """For the custody record."""
        passed, known = self.passed, self.known
        return {
            "exponent": str(self.exponent),
            "beyond": None if self.beyond is None else str(self.beyond),
            "classes": None if passed is None else list(passed.classes),
            "level": None if passed is None else str(passed.level),
            "strict": None if passed is None else passed.strict,
            "known": None if known is None else [list(x) for x in known.items()],
            "nodes": self.nodes,
            "part": self.part,
        }

    @classmethod
    def from_dict(cls, stated: Any) -> TightExponent:
        """Read what `to_dict` wrote."""
        passed = known = None
        if stated["classes"] is not None:
            classes = tuple(int(c) for c in stated["classes"])
            level, strict = Fraction(stated["level"]), bool(stated["strict"])
            passed = SetLimit(classes, level, strict)
            known = {int(i): int(t) for i, t in stated["known"]}
        beyond = None if stated["beyond"] is None else Fraction(stated["beyond"])
        exponent, nodes = Fraction(stated["exponent"]), int(stated["nodes"])
        return cls(exponent, beyond, passed, known, nodes, float(stated["part"]))


def search_exponent(
    scores: Scores, promise: Promise, safe: Fraction, margin: Fraction = Fraction(0)
) -> TightExponent:
    """The largest exponent for a promise about all classes alike beforehand.

    With two classes, and where there are too many sets of classes or values, or the
    limit forbids nothing, it is the one that is safe by the odds of two classes.
    """
    search = make_search(scores, promise, margin)
    if search is None or safe == 1:
        return TightExponent(safe)
    return find_tight_exponent(search, safe)


def make_search(
    scores: Scores, promise: Promise, margin: Fraction = Fraction(0)
) -> BeliefSearch | None:
    """What finds whoever passes the limit of a promise; None: there is nothing to."""
    against, k = promise.against, scores.classes
    assert isinstance(against, Bayesian)
    limits = list_set_limits(promise.limit, [Fraction(1, k)] * k)
    if k < 3 or not limits:
        return None
    twice = 2 if against.averaging == "worlds" else 1
    search = BeliefSearch(scores, tuple(limits), twice=twice, margin=float(margin))
    return search if search.is_affordable else None


def find_tight_exponent(search: BeliefSearch, safe: Fraction) -> TightExponent:
    """The largest exponent of the grid that passes no limit.

    Parameters
    ----------
    search
        What finds whoever passes a limit; for all classes and a uniform prior.
    safe
        An exponent above 0 that is safe by the odds of two classes.
    """
    bisection = _Bisection(search, safe)
    top = Fraction(1)
    if bisection.is_safe(top):
        return TightExponent(top, nodes=bisection.nodes)
    while not bisection.is_safe(top / 2):
        top /= 2
    # 512 to 1024 of 1024 parts of the octave that is left: 10 halvings.
    low, high = FINEST // 2, FINEST
    while high - low > 1:
        middle = (low + high) // 2
        if bisection.is_safe(top * middle / FINEST):
            low = middle
        else:
            high = middle
    found, beyond = (top * parts / FINEST for parts in (low, high))
    last = bisection.answers[beyond]
    return TightExponent(
        max(found, safe),
        beyond,
        last.passed,
        last.known,
        bisection.nodes,
        search.allow_part(beyond),
    )


class _Bisection:
    """Exponents that were tried, and who passed a limit."""

    def __init__(self, search: BeliefSearch, safe: Fraction) -> None:
        self.search, self.safe = search, safe
        self.nodes = 0
        self.passed: list[SearchAnswer] = []
        self.answers: dict[Fraction, SearchAnswer] = {}

    def is_safe(self, exponent: Fraction) -> bool:
        """Whether an exponent is proved to be safe."""
        if exponent <= self.safe:
            return True
        # Whoever passed a limit before mostly does so again, which costs no search.
        again = (a for a in self.passed if self.search.find_again(exponent, a))
        left = min(MOST_NODES, MOST_IN_ALL - self.nodes)
        found = next(again, None) or self.search.run(exponent, left)
        if found not in self.passed:
            self.nodes += found.nodes
            if found.passed is not None:
                self.passed.append(found)
        self.answers[exponent] = found
        return found.is_safe
