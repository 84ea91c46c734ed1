"""The measures of information loss, worked out from counts: see `measure_loss`.

A released cell stands for a set of values, each with a share. The distribution after is
that of the released rows, each cell spread over its values; the two cells of a pair are
spread independently of each other.
Xu et al. 2006 (NCP); Bayardo, Agrawal 2005 (discernibility); de Waal, Willenborg 1999
(non-uniform entropy); Li, Li, Venkatasubramanian 2007 (ordered distance).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from time import monotonic

import numpy as np

from privet.engine.protocol import LIMIT, Run
from privet.errors import Stopped, TooLarge
from privet.languages import mark
from privet.microdata.information_loss.cell_counts import (
    CellCounts,
    MeasuredColumn,
    WholeRows,
    find_changed,
)
from privet.microdata.information_loss.distribution_distances import (
    correlate,
    cramers_v,
    measure_entropy,
    mutual_information,
    ordered_distance,
    total_variation,
)
from privet.microdata.information_loss.held_out_accuracy import (
    HeldOutAccuracy,
    cross_validate_bayes,
    explain_unfit,
)
from privet.microdata.information_loss.pair_tables import Pair
from privet.microdata.information_loss.released_cells import (
    ReleasedCells,
    open_cells,
)
from privet.microdata.information_loss.utility_report import (
    ColumnUtility,
    PairUtility,
    UtilityReport,
)
from privet.microdata.release import Release
from privet.values.arrays import Floats, Ints
from privet.values.contingency import sum_by_key

MOST_PAIRS = 100
"""So many pairs of columns are compared, those that changed most first."""

MOST_CELLS = 4_000_000
"""Pairs with more combinations of values than this are left out."""

MOST_RUNS = 20_000_000
"""So are those that would take more sums."""

AT_ONCE = 2**16
"""Rows that are added up together: as many as stay in the processor's cache."""

Counts = Mapping[str, CellCounts]


SHARE = 5
"""Figures take at most a fifth of the time that is left: the rest is for writing."""

ROWS_LEFT_OUT = mark("The entropy of whole rows is left out: there are too many rows.")
NO_TARGET = mark("Accuracy is left out: no target is declared.")
WEIGHTED = mark("Accuracy is left out: rows with weights are too many to be drawn.")
NOT_ASKED = mark("Switched off.")
LOADED = mark("A release loaded from its files does not know its table any more.")
NO_TIME = mark("The time limit left no time for them.")
TOO_MUCH = mark("The table is too large for them.")


def measure_in_time(release: Release) -> tuple[UtilityReport | None, str]:
    """The figures, or why there are none; a release is never lost for their sake."""
    if release.recipe is None and release.grouped is None:
        return None, LOADED
    limit = LIMIT.get()
    now = monotonic()
    end = None if limit is None else now + (limit.end - now) / SHARE
    try:
        return measure_loss(release, Run(deadline=end)), ""
    except Stopped:
        Run().check()  # not only the figures are out of time
        return None, NO_TIME
    except (TooLarge, MemoryError):
        return None, TOO_MUCH


def measure_loss(release: Release, run: Run) -> UtilityReport:
    """Every figure of a release that was made here."""
    return measure_cells(open_cells(release, run), release._private.roles.target, run)


def measure_cells(cells: ReleasedCells, target: str | None, run: Run) -> UtilityReport:
    """Every figure of cells beside what is shown of them."""
    counts = cells.count_columns(run)
    columns = [_measure_column(c, counts[c.name]) for c in cells.columns]
    run.check()
    whole = cells.count_whole(run)
    rows, released = _count_rows(counts)
    chosen, same, left = _choose_pairs(cells.columns, columns, target, rows > released)
    pairs = _measure_pairs(cells, chosen, run)
    found, note = _measure_accuracy(cells, counts, target, run)
    notes = [note] if note else []
    if whole.before is None:
        notes.append(ROWS_LEFT_OUT)
    known = [c.ncp for c in columns if c.ncp is not None]
    bits, kept = _measure_whole(whole, rows)
    return UtilityReport(
        rows,
        whole.changed + rows - released,
        rows - released,
        tuple(sorted(columns, key=_rank_column)),
        sum(known, Fraction(0)) / len(known) if known else None,
        None if whole.groups is None else len(whole.groups),
        None if whole.groups is None else _average(whole.groups),
        _measure_discernibility(whole, rows, released),
        bits,
        kept,
        tuple(sorted(pairs, key=lambda p: (-p.moved, p.columns))),
        same,
        (*left, *(p for p in chosen if p not in {q.columns for q in pairs})),
        found,
        tuple(notes),
    )


def _count_rows(counts: Counts) -> tuple[int, int]:
    one = next(iter(counts.values()))
    return int(one.n.sum()), int(one.released.sum())


def _rank_column(column: ColumnUtility) -> tuple[Fraction, float, float]:
    """What changed most comes first; of equals, what moved and lost most."""
    return -column.changed_share, -column.moved, column.kept_share


# Columns ----------------------------------------------------------------------------


def _measure_column(column: MeasuredColumn, counts: CellCounts) -> ColumnUtility:
    (label,) = counts.labels
    rows, released = int(counts.n.sum()), int(counts.released.sum())
    texts = _sum_by(label, counts.released, column.sets.count)
    before, after = spread_column(column, counts)
    changed = find_changed(column)
    told = _tell_parted if column.parted else _tell_sets
    bits = measure_entropy(before)
    return ColumnUtility(
        column.name,
        rows,
        int(texts[changed].sum()) + rows - released,
        _penalise(column, texts, rows) if column.known else None,
        bits,
        _limit_bits(told(column, texts, before) / rows, bits),
        total_variation(before, after),
        ordered_distance(before, after) if column.ordered else None,
    )


def spread_column(column: MeasuredColumn, counts: CellCounts) -> tuple[Floats, Floats]:
    """The shares of a column's values before, and after."""
    (place,), (label,) = counts.places, counts.labels
    rows, released = int(counts.n.sum()), int(counts.released.sum())
    texts = _sum_by(label, counts.released, column.sets.count)
    before = counts.joint
    if before is None:
        before = _sum_by(place, counts.n, column.places)
    after = column.sets.spread(texts[:, None])[:, 0] / max(released, 1)
    return before / rows, after


def _sum_by(at: Ints, n: Ints | Floats, size: int) -> Floats:
    return np.bincount(at, weights=n, minlength=size).astype(np.float64)


def _penalise(column: MeasuredColumn, texts: Floats, rows: int) -> Fraction:
    """NCP: 0 for a value, 1 for nothing; of 5 of 9 values (5 - 1) / (9 - 1)."""
    most = column.places - 1
    if most == 0:
        return Fraction(0)
    sets = column.sets
    width = np.where(sets.blank, most, sets.size - 1)
    lost = sum(
        int(n) * int(w) for n, w in zip(texts.tolist(), width.tolist(), strict=True)
    )
    left_out = rows - int(texts.sum())
    return Fraction(lost + left_out * most, rows * most)


def _tell_sets(column: MeasuredColumn, texts: Floats, before: Floats) -> float:
    """Bits that all cells tell: the rarer what a text stands for, the more."""
    inside = column.sets.sum_inside(before)
    there = texts > 0
    return float(-(texts[there] * np.log2(inside[there])).sum())


def _tell_parted(column: MeasuredColumn, texts: Floats, before: Floats) -> float:
    """Bits that a group tells of its people's values: what they differ from all."""
    sets = column.sets
    rows = texts[sets.owner] * sets.share
    return float((rows * np.log2(sets.share / before[sets.start])).sum())


# Whole rows -------------------------------------------------------------------------


def _average(groups: Ints) -> Fraction:
    return Fraction(int(groups.sum()), max(len(groups), 1))


def _measure_discernibility(whole: WholeRows, rows: int, released: int) -> int | None:
    """Each row counts those it looks like; one that shows nothing counts all rows."""
    if whole.groups is None or whole.blank is None:
        return None
    squares = [
        sum(n * n for n in part.tolist()) for part in (whole.groups, whole.blank)
    ]
    nothing = int(whole.blank.sum()) + rows - released
    return int(squares[0] - squares[1]) + nothing * rows


def _measure_whole(
    whole: WholeRows, rows: int
) -> tuple[float, float] | tuple[None, None]:
    """The entropy of whole rows, and what those released tell of it."""
    if whole.before is None or whole.after is None:
        return None, None
    before = measure_entropy(whole.before / rows)
    after = float(-(whole.after / rows * np.log2(whole.after / rows)).sum())
    return before, _limit_bits(after - whole.parted / rows, before)


def _limit_bits(told: float, most: float) -> float:
    """What rounding makes less than nothing, or more than there is, is neither.

    >>> _limit_bits(-0.0, 1.0), _limit_bits(1.0000000001, 1.0)
    (0.0, 1.0)
    """
    return min(max(0.0, told), most)


# Pairs ------------------------------------------------------------------------------


def _choose_pairs(
    columns: Sequence[MeasuredColumn],
    measured: Sequence[ColumnUtility],
    target: str | None,
    left_out: bool,
) -> tuple[list[Pair], int, list[Pair]]:
    """Pairs to compare, how many are as they were, and those that are left out."""
    share = {c.name: c.changed_share for c in measured}
    size = {c.name: c.places for c in columns}
    parted = {c.name for c in columns if c.parted}
    every = list(combinations([c.name for c in columns], 2))
    # Buckets show their values together: of two of them nothing is lost.
    moved = [
        (a, b)
        for a, b in every
        if left_out or ((share[a] or share[b]) and not {a, b} <= parted)
    ]
    fit = [(a, b) for a, b in moved if size[a] * size[b] <= MOST_CELLS]
    fit.sort(key=lambda p: (target not in p, -share[p[0]] - share[p[1]], p))
    left = [p for p in moved if p not in {*fit}] + fit[MOST_PAIRS:]
    return fit[:MOST_PAIRS], len(every) - len(moved), left


def _measure_pairs(
    cells: ReleasedCells, pairs: Sequence[Pair], run: Run
) -> list[PairUtility]:
    if not pairs:
        return []
    of = {c.name: c for c in cells.columns}
    found = []
    for (a, b), counts in cells.count_pairs(pairs, run):
        run.check()
        shares = spread_pair(of[a], of[b], counts)
        if shares is not None:
            found.append(_compare_pair(of[a], of[b], counts, shares))
    return found


def _compare_pair(
    a: MeasuredColumn,
    b: MeasuredColumn,
    counts: CellCounts,
    shares: tuple[Floats, Floats],
) -> PairUtility:
    before, after = shares
    return PairUtility(
        (a.name, b.name),
        total_variation(before, after),
        (cramers_v(before), cramers_v(after)),
        (mutual_information(before), mutual_information(after)),
        _correlate_pair(a, b, counts, (before, after)),
    )


def _correlate_pair(
    a: MeasuredColumn,
    b: MeasuredColumn,
    counts: CellCounts,
    shares: tuple[Floats, Floats],
) -> tuple[float | None, float | None] | None:
    """Pearson's correlation of values, and of the midpoints of what is shown."""
    if a.numbers is None or b.numbers is None:
        return None
    x, y = np.repeat(a.numbers, b.places), np.tile(b.numbers, a.places)
    before = correlate(x, y, shares[0].ravel())
    if a.parted or b.parted:
        return before, correlate(x, y, shares[1].ravel())
    assert a.midpoints is not None
    assert b.midpoints is not None
    middle = a.midpoints[counts.labels[0]], b.midpoints[counts.labels[1]]
    return before, correlate(*middle, counts.released.astype(np.float64))


def spread_pair(
    a: MeasuredColumn, b: MeasuredColumn, counts: CellCounts
) -> tuple[Floats, Floats] | None:
    """The shares of pairs of values before, and after; None: it would take too long."""
    after = _spread_pair(a, b, counts)
    if after is None:
        return None
    before = counts.joint
    if before is None:
        before = _sum_pair(counts.places, counts.n, a.places, b.places)
        before = before.reshape(a.places, b.places)
    return before / before.sum(), after


def _spread_pair(
    a: MeasuredColumn, b: MeasuredColumn, counts: CellCounts
) -> Floats | None:
    """The distribution of both columns after; None: it would take too long."""
    if counts.apart:
        joint = _sum_pair(counts.apart, counts.released, a.places, b.places)
        return _normalise(joint.reshape(a.places, b.places))
    if a.sets.count * b.places > b.sets.count * a.places:
        shown = None if counts.shown is None else counts.shown.T
        turned = replace(counts, labels=counts.labels[::-1], shown=shown)
        found = _spread_first(b, a, turned)
        return None if found is None else found.T
    return _spread_first(a, b, counts)


def _spread_first(
    a: MeasuredColumn, b: MeasuredColumn, counts: CellCounts
) -> Floats | None:
    """Texts of the one by values of the other first; then values of both."""
    pair, n = _sum_texts(counts, b.sets.count)
    first, second = pair // b.sets.count, pair % b.sets.count
    runs = np.diff(b.sets.first_run)[second]
    size = a.sets.count * (b.places + 1)
    if size > 2 * MOST_CELLS or runs.sum() > MOST_RUNS:
        return None
    if len(a.sets.owner) * b.places > MOST_RUNS * 4:
        return None
    owner, run = b.sets.expand(second)
    given = n[owner] * b.sets.share[run]
    line = first[owner] * (b.places + 1)
    rise = _sum_by(line + b.sets.start[run], given, size)
    rise -= _sum_by(line + b.sets.stop[run], given, size)
    table = np.cumsum(rise.reshape(a.sets.count, b.places + 1), axis=1)[:, :-1]
    return _normalise(a.sets.spread(np.maximum(table, 0.0)))


def _sum_texts(counts: CellCounts, size: int) -> tuple[Ints, Ints]:
    """Rows by both texts: those that occur."""
    if counts.shown is not None:
        return _list_there(counts.shown.ravel())
    first, second, n = *counts.labels, counts.released
    if not n.all():
        released = n > 0
        first, second, n = first[released], second[released], n[released]
    lines = int(first.max(initial=-1)) + 1
    if lines * size > MOST_CELLS:
        return sum_by_key(_pack_pair((first, second), size), n)
    return _list_there(_sum_pair((first, second), n, lines, size))


def _list_there(sums: Floats) -> tuple[Ints, Ints]:
    """Where somebody is, and how many."""
    there = np.flatnonzero(sums)
    return there, sums[there].astype(np.int64)


def _sum_pair(pair: Sequence[Ints], n: Ints, lines: int, size: int) -> Floats:
    """Rows by two numbers, the first below `lines`, the second below `size`.

    Sums of whole numbers are exact, so that blocks of rows can be added up.
    """
    whole = lines * size
    if len(n) <= AT_ONCE or whole > AT_ONCE // 4:
        return _sum_by(_pack_pair(pair, size), n, whole)
    sums = np.zeros(whole)
    for start in range(0, len(n), AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        sums += _sum_by(_pack_pair([c[rows] for c in pair], size), n[rows], whole)
    return sums


def _pack_pair(pair: Sequence[Ints], size: int) -> Ints:
    """Two numbers as one; they may come in narrow integers."""
    key = np.multiply(pair[0], size, dtype=np.int64)
    key += pair[1]
    return np.asarray(key)


def _normalise(joint: Floats) -> Floats:
    whole = joint.sum()
    return joint / whole if whole else joint


# The target -------------------------------------------------------------------------


def _measure_accuracy(
    cells: ReleasedCells, counts: Counts, target: str | None, run: Run
) -> tuple[HeldOutAccuracy | None, str]:
    """How well the target can be predicted; or why that is not measured."""
    aim = next((c for c in cells.columns if c.name == target), None)
    if target is None or aim is None:
        return None, NO_TARGET
    rows, _ = _count_rows(counts)
    unfit = explain_unfit(aim.places, rows)
    if unfit:
        return None, unfit
    sample = cells.sample(run)
    if sample is None:
        return None, WEIGHTED
    unfit = explain_unfit(aim.places, int(sample.n.sum()))
    if unfit:
        return None, unfit
    run.check()
    return cross_validate_bayes(cells.columns, counts, target, sample), ""
