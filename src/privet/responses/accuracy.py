"""Testing on disguised data: a classifier's accuracy from a disguised test set alone.

Each disguised record is scored with everything it may have been, weighted so that the
mean score is the accuracy on the true records: for any number of groups and any
channel, in the order of the paper's Eq. 4, since that of its Eq. 7 does not fit.

For naive Bayes with two classes very many columns may be disguised. A record may have
been any of the products of all columns' values; its log-odds are a sum over columns. So
the columns are split in two halves, whose sums are listed, and a pair of sums is looked
up instead of tried. This removes most of the work, not the variance.
Zhan, Chang, Matwin 2004, section 3.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.protocol import Run
from privet.engine.randomise.exact_sampling import Codes
from privet.errors import ColumnNotFound, InputError, TooLarge, suggest_names
from privet.responses.channel_inverse import invert_in_floats, weigh_reports
from privet.responses.channels import Flip, Keep
from privet.responses.design import Design, MarginalChannel, design_of
from privet.responses.estimate import (
    FEWEST,
    Estimate,
    clip_interval,
    cut_interval,
    spread_interval,
)
from privet.responses.intervals import hoeffding, read_confidence
from privet.responses.release import MOST_CELLS, Responses
from privet.responses.transformer import (
    as_arrow,
    as_frame_like,
    decode_answers,
    encode_answers,
)

Table = dict[str, Codes]
"""Codes of records, by column."""

Correct = Callable[[Table], NDArray[np.bool_]]
"""Whether the prediction for each record is its label; both are in the record."""

MOST_TURNS = 4096
"""Alternatives of one record that are scored: twelve yes-or-no groups."""

Floats = NDArray[np.float64]


def score_disguised(
    classifier: Any,
    X: Any,
    y: Any,
    disguise: Any,
    *,
    target: str | None = None,
    public_class: bool = False,
    confidence: float = 0.95,
) -> Estimate:
    """The accuracy a classifier has on the true records behind a disguised test set.

    Parameters
    ----------
    classifier
        Anything with `predict`.
    X, y
        The disguised records and their labels; `y` has the name of its question.
    disguise
        The `Design`, or the `RandomizedResponse` that disguised them.
    target
        The labels' question, where `y` has no name of its own.
    public_class
        Whether labels are no question of the design and were not disguised.
    confidence
        Of the intervals.
    """
    if not callable(getattr(classifier, "predict", None)):
        raise InputError(
            f"A classifier must have predict; got {type(classifier).__name__}."
        )
    design = design_of(disguise)
    frame = as_arrow(X)
    known = find_class(design, y, target, public=public_class)
    true = {c: encode_answers(design.question(c), frame[c]) for c in frame.column_names}
    labels, values = _encode_labels(design, known, y)

    def is_correct(records: Table) -> NDArray[np.bool_]:
        columns = {
            c: decode_answers(design.question(c), frame[c].type, records[c])
            for c in frame.column_names
        }
        found = np.asarray(classifier.predict(as_frame_like(X, pa.table(columns))))
        return np.asarray(found == values[records[LABEL]], dtype=bool)

    return estimate_accuracy(
        design, true, labels, known, is_correct, confidence=confidence
    )


HOW_NAMED = (
    "Give y the name of its question (a pandas or polars Series), or say target=…; a "
    "class that is no question and was not disguised needs public_class=True"
)


def find_class(
    design: Design, y: Any, target: str | None, *, public: bool
) -> str | None:
    """The question that labels answer; None where they were not disguised, as said."""
    own = getattr(y, "name", None)
    name = own if isinstance(own, str) else target
    if public:
        if name in design.columns:
            raise InputError(
                f"A public class must be no question of the design; {name!r} is one."
            )
        return None
    if name is None:
        raise InputError(f"The class must have a name; got none. {HOW_NAMED}.")
    if name not in design.columns:
        raise ColumnNotFound(
            f"The class {name!r} must be a question of the design. "
            f"{suggest_names(name, design.columns)} {HOW_NAMED}."
        )
    return name


LABEL = "\0label"
"""The label's place in a record, which no column can have."""


def _encode_labels(
    design: Design, known: str | None, y: Any
) -> tuple[Codes, NDArray[Any]]:
    """The code of each label, and the label of each code."""
    cells: Any = y.to_arrow() if hasattr(y, "to_arrow") else np.asarray(y)
    plain = cells.to_numpy(zero_copy_only=False) if hasattr(cells, "type") else cells
    if known is None:
        values, codes = np.unique(plain, return_inverse=True)
        return codes.astype(np.int64), values
    question = design.question(known)
    kind = pa.array(plain).type
    values = decode_answers(question, kind, np.arange(len(question))).to_numpy(
        zero_copy_only=False
    )
    return encode_answers(question, pa.array(plain)), values


def estimate_accuracy(
    design: Design,
    records: Mapping[str, Codes],
    labels: Codes,
    label: str | None,
    correct: Correct,
    *,
    confidence: float = 0.95,
    shortcut: Callable[[Table], Floats | None] | None = None,
) -> Estimate:
    """The accuracy on the true records, from the disguised ones.

    `label` is the label's question; None where it was not disguised. A `shortcut`
    scores records without trying everything each may have been, where it can.
    """
    n, wanted = len(labels), read_confidence(confidence)
    if not n:
        raise InputError("A test set must have records; got none.")
    _refuse_one_of(design)
    columns = [*records, *([label] if label else [])]
    pieces = [p for p in design.pieces(columns) if not isinstance(p.channel, Keep)]
    for piece in pieces:
        _refuse_unseen(piece, columns)
    distinct, times = _find_distinct({**records, LABEL: labels})
    score: Floats | None = None
    if prod(_count_alternatives(p) for p in pieces) <= MOST_TURNS:
        score = np.zeros(len(times))
        for weight, changed in _list_alternatives(design, pieces, label, distinct):
            # The mean of the sum over all x of M⁻¹[x][s] g(x) is g(truth).
            score += weight * correct(changed)
    elif shortcut is not None:
        score = shortcut(distinct)
    if score is None:
        raise _too_many(pieces)
    return _estimate_from_scores(score, times, pieces, n, wanted)


def _refuse_one_of(design: Design) -> None:
    if design.one_of:
        raise InputError(
            "A test set must have whole records: not estimable by a design that asks "
            "each person one group of questions only. Test on records that are true."
        )


def _refuse_unseen(piece: MarginalChannel, columns: Sequence[str]) -> None:
    if missing := [c for c in piece.columns if c not in columns]:
        raise InputError(
            f"A test set must have the column {missing[0]!r}: it was disguised "
            "together with others."
        )


def _too_many(pieces: Sequence[MarginalChannel]) -> TooLarge:
    turns = prod(_count_alternatives(p) for p in pieces)
    return TooLarge(
        f"Not estimable: each record may have been {turns:,} others, and their errors "
        "multiply. Test on records that are true, or disguise fewer groups."
    )


def _count_alternatives(piece: MarginalChannel) -> int:
    return 2 if isinstance(piece.channel, Flip) else piece.size


def _find_distinct(table: Table) -> tuple[Table, Codes]:
    """Each record once, and how often it occurs."""
    columns = np.stack(list(table.values()), axis=1)
    rows, times = np.unique(columns, axis=0, return_counts=True)
    return dict(zip(table, rows.T, strict=True)), times


def _list_alternatives(
    design: Design, pieces: Sequence[MarginalChannel], label: str | None, records: Table
) -> Iterator[tuple[Floats, Table]]:
    """Everything the records may have been, with what it counts."""
    each = [list(_list_piece_alternatives(design, p, label, records)) for p in pieces]
    for choice in product(*each):
        weight = np.ones(len(records[LABEL]))
        changed = dict(records)
        for counts, columns in choice:
            weight = weight * counts
            changed |= columns
        yield weight, changed


def _list_piece_alternatives(
    design: Design, piece: MarginalChannel, label: str | None, records: Table
) -> Iterator[tuple[Floats, Table]]:
    """What one group may have been; M⁻¹[x][s] is what it counts."""
    names = [LABEL if c == label else c for c in piece.columns]
    if isinstance(piece.channel, Flip):
        truth, wide = float(piece.channel.truth), float(2 * piece.channel.truth - 1)
        ones = np.ones(len(records[LABEL]))
        # Truth 0.8: as it is counts 4/3, turned round -1/3; together 1.
        yield ones * truth / wide, {}
        yield -ones * (1 - truth) / wide, {c: 1 - records[c] for c in names}
        return
    sizes = [len(design.question(c)) for c in piece.columns]
    undone = invert_in_floats(piece.channel, piece.size)
    # (records,): the report of each as one number, the last column fastest.
    seen = np.ravel_multi_index([records[c] for c in names], sizes)
    for x in range(piece.size):
        values = np.unravel_index(x, sizes)
        shape = records[LABEL].shape
        same = {c: np.full(shape, v) for c, v in zip(names, values, strict=True)}
        yield undone[x][seen], same


def _estimate_from_scores(
    score: Floats,
    times: Codes,
    pieces: Sequence[MarginalChannel],
    n: int,
    confidence: float,
) -> Estimate:
    raw = float((score * times).sum() / n)
    spread = float((times * (score - raw) ** 2).sum() / (n - 1)) if n > 1 else np.inf
    error = sqrt(spread / n)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    reach = prod(_measure_reach(p) for p in pieces)
    half = hoeffding(reach, n, confidence)
    wide = half if n < FEWEST or not error else z * error
    usual = spread_interval(raw, wide)
    certain = spread_interval(raw, half)
    ends = cut_interval(usual, certain)
    return Estimate(
        min(max(raw, 0.0), 1.0),
        raw,
        error,
        ends,
        usual,
        confidence,
        n,
        "Not estimable: the interval is all there is." if ends == (0.0, 1.0) else "",
        clip_interval(certain),
    )


def _measure_reach(piece: MarginalChannel) -> float:
    """The length of the interval that the scores of one group lie in."""
    if isinstance(piece.channel, Flip):
        return float(1 / abs(2 * piece.channel.truth - 1))
    # Scores of one report lie between the sums of its negative and of its positive
    # weights. Truth 0.8: from -1/3 to 4/3, a length of 5/3.
    undone = invert_in_floats(piece.channel, piece.size)
    return float(np.abs(undone).sum(axis=0).max())


# Rows that are counted where they are ------------------------------------------------


@dataclass(frozen=True)
class ScoredClassifier:
    """A classifier of columns, as far as its accuracy needs it."""

    attributes: tuple[str, ...]
    """What it predicts from."""
    label: str
    """What it predicts: a question of the design."""
    correct: Callable[[Sequence[str]], NDArray[np.bool_]]
    """Whether it is right, for every record of some columns: one axis each."""
    shortcut: Callable[[Table], Floats | None]
    """What disguised records count, without trying everything each may have been."""


def score_counted(
    classifier: ScoredClassifier,
    responses: Responses,
    *,
    confidence: float = 0.95,
    run: Run | None = None,
) -> tuple[Estimate, dict[str, NDArray[np.int64]]]:
    """The accuracy on the true records behind disguised rows, from their counts.

    And how often each value of each column was reported. What a report counts is M⁻ᵀ
    applied to "the prediction is right" as an event of whole records, column by column;
    where there are too many records for that, each report that occurred is scored by
    halves of its columns.
    """
    design, wanted = responses.design, read_confidence(confidence)
    _refuse_one_of(design)
    columns = [*classifier.attributes, classifier.label]
    pieces = design.pieces(columns)
    for piece in pieces:
        _refuse_unseen(piece, columns)
    names = [c for p in pieces for c in p.columns]
    if design.size(names) <= MOST_CELLS:
        (counts,) = responses.counts([pieces], run)
        event = classifier.correct(names).reshape(counts.shape).astype(float)
        score, times = weigh_reports(pieces, event).ravel(), counts.ravel()
        reported = _sum_columns(design, names, counts)
    else:
        table, times = responses.list_distinct(names, run)
        reported = {
            c: np.bincount(codes, times, len(design.question(c))).astype(np.int64)
            for c, codes in table.items()
        }
        table[LABEL] = table[classifier.label]
        found = classifier.shortcut(table)
        if found is None:
            raise _too_many([p for p in pieces if not isinstance(p.channel, Keep)])
        score = found
    if not (n := int(times.sum())):
        raise InputError("A test set must have records; got none.")
    secret = [p for p in pieces if not isinstance(p.channel, Keep)]
    return _estimate_from_scores(score, times, secret, n, wanted), reported


def _sum_columns(
    design: Design, names: Sequence[str], counts: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """How often each value of each column was reported, from counts of records."""
    cells = counts.reshape([len(design.question(c)) for c in names])
    axes = range(len(names))
    return {
        c: cells.sum(axis=tuple(j for j in axes if j != i)) for i, c in enumerate(names)
    }


# Two classes, and very many columns -------------------------------------------------

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
        # The large ones first, each to the half with fewer combinations so far.
        smaller = min((left, right), key=lambda h: prod(p.size for p in h))
        smaller.append(piece)
    large = any(prod(p.size for p in h) > MOST for h in (left, right))
    joint = any(len(p.columns) > 1 for p in pieces)
    return None if large or joint else (left, right)


def score_second_class(
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
    a, b = (_make_half(h, records, odds, rows) for h in halves)
    found = np.empty(rows)
    # Records with the same sum over public columns have one threshold.
    for offset in np.unique(known):
        at = np.flatnonzero(known == offset)
        for some in np.array_split(at, -(-len(at) // AT_ONCE)):
            found[some] = _sum_pairs(a, b, float(offset), some)
    return found


def _make_half(
    pieces: Sequence[MarginalChannel],
    records: Mapping[str, Codes],
    odds: Mapping[str, Floats],
    rows: int,
) -> ColumnHalf:
    sums = np.zeros(1)  # by combination of values, the last piece varying fastest
    seen = np.zeros((rows, 0), dtype=np.int64)
    for piece in pieces:
        (column,) = piece.columns
        sums = np.add.outer(sums, odds[column]).ravel()
        seen = np.column_stack([seen, records[column]])
    patterns, back = np.unique(seen, axis=0, return_inverse=True)
    weight = np.ones((1, len(patterns)))  # combinations x patterns of reports
    for i, piece in enumerate(pieces):
        # (values, patterns): M⁻¹[x][s] where s is what the pattern reports.
        own = invert_in_floats(piece.channel, piece.size)[:, patterns[:, i]]
        weight = (weight[:, None, :] * own[None, :, :]).reshape(-1, len(patterns))
    order = np.argsort(-sums, kind="stable")
    return ColumnHalf(sums[order], weight[order], back.ravel())


def _sum_pairs(a: ColumnHalf, b: ColumnHalf, offset: float, rows: Codes) -> Floats:
    """Sums over all pairs whose log-odds are above zero; a tie is the first class."""
    # How many combinations of a, from the top, go with each of b; their sums so far.
    falling = np.searchsorted(-a.odds, b.odds + offset, side="left")
    upto = np.vstack([np.zeros((1, a.weight.shape[1])), np.cumsum(a.weight, axis=0)])
    some = upto[falling][:, a.pattern[rows]]  # combinations of b x records
    found: Floats = (b.weight[:, b.pattern[rows]] * some).sum(axis=0)
    return found
