"""Design misfit: reports that a design can hardly produce, whatever the truth is.

Each report's share lies between the least and the largest entry of its row of M. How
seldom chance goes as far beyond as was counted is a tail of the binomial distribution;
the smallest of all tails, times their number, is a probability that holds (Bonferroni).
Passing says that there is no sign of it, and nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import Run
from privet.errors import InputError
from privet.responses.channels import Flip, KAry, Keep, Replace
from privet.responses.design import Design, MarginalChannel
from privet.responses.release import Responses
from privet.values.noise.binomial import tail_logarithm

Floats = NDArray[np.float64]

SELDOM = 0.001
"""Below this probability reports do not look disguised by the design."""

MOST_PAIRS = 45
"""Pairs of questions that are looked at: those of ten questions."""

MOST_CELLS = 4096
"""Combinations of values of a pair that are looked at."""


@dataclass(frozen=True)
class DesignMisfit:
    """How seldom the design leads to such reports, at the most."""

    logarithm: float
    """The natural logarithm of that probability; 0 where nothing is unusual."""
    columns: tuple[str, ...]
    """The question, or the pair of them, that looks least like the design."""
    questions: int
    """How many questions were looked at."""
    pairs: int
    """How many pairs of questions were looked at."""
    rows: int
    """How many answers there are to the one with the most."""

    @property
    def sign(self) -> bool:
        """Whether the reports do not look disguised by the design."""
        return self.logarithm < log(SELDOM)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "sign": self.sign,
            "probability": exp(self.logarithm),
            "log10": self.logarithm / log(10),
            "columns": list(self.columns),
            "questions": self.questions,
            "pairs": self.pairs,
        }


def find_misfit(responses: Responses, run: Run | None = None) -> DesignMisfit:
    """The question or pair of questions whose reports fit the design least."""
    design = responses.design
    secret = [c for c in design.columns if c not in design.public]
    single = [(c,) for c in secret]
    pairs = _list_pairs(design, secret)
    sets = [design.pieces(columns) for columns in (*single, *pairs)]
    counts = responses.counts(sets, run) if sets else []
    return _rate_all(list(zip((*single, *pairs), sets, counts, strict=True)))


def rate_columns(
    design: Design, counts: Mapping[str, NDArray[np.int64]]
) -> DesignMisfit:
    """The same of single questions, from how often each value was reported."""
    looked = []
    for column, reported in counts.items():
        pieces = () if column in design.public else design.pieces([column])
        # A matrix over several questions says nothing of one of them.
        if [len(reported)] == [p.size for p in pieces]:
            looked.append(((column,), pieces, reported))
    return _rate_all(looked)


Looked = tuple[tuple[str, ...], Sequence[MarginalChannel], NDArray[np.int64]]
"""Columns that were looked at, their channels, and how often each report came."""


def _rate_all(looked: Sequence[Looked]) -> DesignMisfit:
    found = [(_rate_reports(pieces, n), columns) for columns, pieces, n in looked]
    least, columns = min(found, default=(0.0, ()))
    rows = max((int(n.sum()) for _, _, n in looked), default=0)
    # Of so many numbers the smallest is small more often than one of them.
    whole = min(least + log(max(len(found), 1)), 0.0)
    single = sum(len(c) == 1 for c, _, _ in looked)
    return DesignMisfit(whole, columns, single, len(looked) - single, rows)


def _list_pairs(design: Design, secret: Sequence[str]) -> list[tuple[str, ...]]:
    """Pairs that are asked of the same people and have few combinations of values."""
    found: list[tuple[str, ...]] = []
    for pair in combinations(secret, 2):
        try:
            pieces = design.pieces(pair)
        except InputError:  # no group asks both
            continue
        if np.prod([p.size for p in pieces]) <= MOST_CELLS:
            found.append(pair)
    return found if len(found) <= MOST_PAIRS else []


def _rate_reports(
    pieces: Sequence[MarginalChannel], counts: NDArray[np.int64]
) -> float:
    """The logarithm of how seldom the design leads that far, for one table."""
    n = int(counts.sum())
    low, high = np.ones(1), np.ones(1)
    for piece in pieces:
        least, most = _bound_rows(piece)
        low, high = np.outer(low, least).ravel(), np.outer(high, most).ravel()
    seen = counts.ravel()
    tails = [0.0]
    # A count between both ends is usual; its tails are about one half or more.
    for i in np.flatnonzero(seen > n * high):
        tails.append(tail_logarithm(int(seen[i]), n, float(high[i])))
    for i in np.flatnonzero(seen < n * low):
        tails.append(tail_logarithm(n - int(seen[i]), n, 1 - float(low[i])))
    # Two tails for each value; of two values one tells the other.
    ways = 2 if len(seen) == 2 else 2 * len(seen)
    return min(min(tails) + log(ways), 0.0)


def _bound_rows(piece: MarginalChannel) -> tuple[Floats, Floats]:
    """The least and the largest chance of each report, whatever is true."""
    match piece.channel:
        case Keep():
            return np.zeros(piece.size), np.ones(piece.size)
        case KAry(truth=p) as even:
            ends = sorted((float(p), float(even.other(piece.size))))
        case Flip(truth=p):
            both = float(min(p, 1 - p)), float(max(p, 1 - p))
            ends = [both[0] if piece.size == 2 else 0.0, both[1]]
        case Replace(truth=p) as drawn:
            rest = np.array([float((1 - p) * q) for q in drawn.shares(piece.size)])
            return rest, rest + float(p)
        case _:
            rows = np.array(piece.channel.matrix(piece.size), dtype=float)
            return rows.min(axis=1), rows.max(axis=1)
    return np.full(piece.size, ends[0]), np.full(piece.size, ends[1])
