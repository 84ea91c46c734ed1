"""The accuracy of naive Bayes with two classes where very many columns are disguised.

A record may have been any of the products of all columns' values; its log-odds are a
sum over columns. So the columns are split in two halves, whose sums are listed, and a
pair of sums is looked up instead of tried. This removes most of the work of
`privet.responses.accuracy`, not the variance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from privet.engine.randomise.exact_sampling import Codes
from privet.responses.channel_inverse import in_floats
from privet.responses.channels import Keep
from privet.responses.design import Design, MarginalChannel

Floats = NDArray[np.float64]

MOST = 2048
"""Combinations of values in one half: eleven yes-or-no columns."""

AT_ONCE = 4096
"""Records that are scored together."""


@dataclass(frozen=True)
class ColumnHalf:
    """Some columns: every combination of their values, by falling log-odds."""

    odds: Floats
    """The log-odds of each combination, falling."""
    weight: Floats
    """What each combination counts, one column per pattern of reports."""
    pattern: Codes
    """The pattern of each record."""


def split(
    pieces: Sequence[MarginalChannel],
) -> tuple[list[MarginalChannel], list[MarginalChannel]] | None:
    """Pieces in two halves of about the same size; None where that does not help."""
    left: list[MarginalChannel] = []
    right: list[MarginalChannel] = []
    for piece in sorted(pieces, key=lambda p: -p.size):
        smaller = min((left, right), key=lambda h: prod(p.size for p in h))
        smaller.append(piece)
    large = any(prod(p.size for p in h) > MOST for h in (left, right))
    joint = any(len(p.columns) > 1 for p in pieces)
    return None if large or joint else (left, right)


def says_second(
    design: Design,
    columns: Sequence[str],
    records: Mapping[str, Codes],
    odds: Mapping[str, Floats],
    bias: float,
) -> Floats | None:
    """How much each disguised record counts for a prediction of the second class.

    `odds` are the log-odds of the second class for each value of a column; `bias` those
    without any. None where the columns cannot be split.
    """
    pieces = design.pieces(columns)
    halves = split([p for p in pieces if not isinstance(p.channel, Keep)])
    if halves is None:
        return None
    open_ = [c for p in pieces if isinstance(p.channel, Keep) for c in p.columns]
    rows = len(next(iter(records.values())))
    known = np.full(rows, bias)
    for c in open_:
        known += odds[c][records[c]]
    a, b = (_half(h, records, odds, rows) for h in halves)
    found = np.empty(rows)
    for offset in np.unique(known):
        at = np.flatnonzero(known == offset)
        for some in np.array_split(at, -(-len(at) // AT_ONCE)):
            found[some] = _looked_up(a, b, float(offset), some)
    return found


def _half(
    pieces: Sequence[MarginalChannel],
    records: Mapping[str, Codes],
    odds: Mapping[str, Floats],
    rows: int,
) -> ColumnHalf:
    sums = np.zeros(1)
    seen = np.zeros((rows, 0), dtype=np.int64)
    for piece in pieces:
        (column,) = piece.columns
        sums = np.add.outer(sums, odds[column]).ravel()
        seen = np.column_stack([seen, records[column]])
    patterns, back = np.unique(seen, axis=0, return_inverse=True)
    weight = np.ones((1, len(patterns)))
    for i, piece in enumerate(pieces):
        own = in_floats(piece.channel, piece.size)[:, patterns[:, i]]
        weight = (weight[:, None, :] * own[None, :, :]).reshape(-1, len(patterns))
    order = np.argsort(-sums, kind="stable")
    return ColumnHalf(sums[order], weight[order], back.ravel())


def _looked_up(a: ColumnHalf, b: ColumnHalf, offset: float, rows: Codes) -> Floats:
    """Sums over all pairs whose log-odds are above zero; a tie is the first class."""
    falling = np.searchsorted(-a.odds, b.odds + offset, side="left")
    upto = np.vstack([np.zeros((1, a.weight.shape[1])), np.cumsum(a.weight, axis=0)])
    some = upto[falling][:, a.pattern[rows]]
    found: Floats = (b.weight[:, b.pattern[rows]] * some).sum(axis=0)
    return found
