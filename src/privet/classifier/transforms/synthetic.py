"""Steps 3 and 4 of SafetyTransform: counts that add up again, and synthetic tables.

A scorecard becomes ratios, exact whole counts, or a table of so many rows. Exact counts
are a model file and never a table; a table keeps what is further apart than its margin,
and must keep every promise, too.
Mozafari, Zaniolo 2009, sections 6.2.3 and 6.2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import exp, gcd, lcm, log, prod
from random import Random, SystemRandom
from typing import Any

from privet.classifier.noise.dp_noise import apportion
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import Floats, Scores, ln_of, pick_best_classes
from privet.classifier.transforms.rounding import (
    CardRounder,
    FlattenedCard,
    SyntheticTable,
    factor_words,
    find_gap,
)
from privet.errors import Infeasible, InputError
from privet.policy import Promise
from privet.release.audit import audit

MOST_TUPLES = 1_000_000
"""Tuples that are looked at one by one."""

ROOM_BITS = 40
"""Bits of a count beyond those that keep every ranking."""

LONGEST = 13_287
"""Bits of a whole count: no more than 4,000 digits. Longer ones are refused, for no
reader of a release takes them."""


def scores_from_card(card: Scorecard) -> Scores:
    """The beliefs of a card as fractions, rounded so little that no ranking changes.

    Sums of points differ by at least one, hence scores by more than 1 + 0.69/scale;
    each factor is rounded up by less than a share of that.
    """
    if card.rule is not None:
        raise InputError(
            "A classifier with a declared rule must be published as a scorecard: its "
            "counts alone would predict otherwise."
        )
    # 2**bits > 4 scale (n + 1), so n + 1 roundings are below 1/(4 scale); and as many
    # more bits as make them nothing beside the room that `keeps_with_room` leaves.
    bits = (card.scale * (len(card.attributes) + 1)).bit_length() + 2 + ROOM_BITS
    power = _Powers(card.scale, bits)
    return Scores(
        tuple(power.of(b) for b in card.base),
        tuple(tuple(tuple(map(power.of, row)) for row in t) for t in card.points),
    )


class _Powers:
    """Two to the power of points by scale, rounded up to so many bits."""

    def __init__(self, scale: int, bits: int) -> None:
        # log10(2) = 0.30103 digits for each bit.
        digits = bits * 302 // 1000 + 12
        self.context = Context(prec=digits, rounding=ROUND_CEILING)
        self.scale, self.bits = scale, bits
        self.known: dict[int, Fraction] = {}

    def of(self, points: int) -> Fraction:
        if points not in self.known:
            # A power from 1 to 2 is rounded; doubling it is exact.
            whole, rest = divmod(points, self.scale)
            part = self.context.divide(Decimal(rest), Decimal(self.scale))
            value = self.context.power(Decimal(2), part)
            scaled = self.context.multiply(value, Decimal(2**self.bits))
            up = int(scaled.to_integral_value(ROUND_CEILING))
            self.known[points] = Fraction(up, 2**self.bits) * Fraction(2) ** whole
        return self.known[points]


def make_whole_counts(
    scores: Scores, like: Scorecard | ClassifierViews
) -> ClassifierViews:
    """Step 3: integer counts with exactly these scores, but for a common factor.

    N = W T times the sums of the other attributes, P = W times all sums: marginals of
    the table of all scores. Good as a file; far too large for rows.
    """
    sums = [[sum(col) for col in zip(*t, strict=True)] for t in scores.factors]
    sizes = [
        w * prod((s[c] for s in sums), start=Fraction(1))
        for c, w in enumerate(scores.weights)
    ]
    cells = [
        [[x * sizes[c] / s[c] for c, x in enumerate(row)] for row in table]
        for table, s in zip(scores.factors, sums, strict=True)
    ]
    numbers = [*sizes, *(x for t in cells for row in t for x in row)]
    # X = P**(1 - n) N … N: a factor in all counts is the same factor in X.
    scale = lcm(*(x.denominator for x in numbers))
    common = gcd(*(int(x * scale) for x in numbers))
    if max(int(p * scale) // common for p in sizes).bit_length() > LONGEST:
        raise InputError(
            f"Whole counts must have at most {LONGEST:,} bits; these would be longer. "
            "Publish the scorecard, or fewer attributes."
        )

    def to_whole(x: Fraction) -> int:
        return int(x * scale) // common

    return ClassifierViews(
        like.target,
        like.labels,
        like.attributes,
        tuple(map(to_whole, sizes)),
        tuple(tuple(tuple(map(to_whole, row)) for row in table) for table in cells),
        target_type=like.target_type,
    )


def make_table_counts(
    scores: Scores, like: Scorecard | ClassifierViews, rows: int
) -> ClassifierViews:
    """Step 4: counts of a table of so many rows, as near to the scores as they come.

    Every value occurs in every class.
    """
    view = scores.normalised
    least = max((len(t) for t in view.factors), default=1)
    if rows < least * view.classes:
        raise InputError(
            f"A synthetic table must have at least {least * view.classes:,} rows, for "
            f"every value occurs in every class; got {rows:,}."
        )
    total = sum(view.weights)
    sizes = _apportion_with_least([w / total for w in view.weights], rows, least)
    cells = [
        [
            _apportion_with_least([row[c] for row in table], sizes[c], 1)
            for c in range(view.classes)
        ]
        for table in view.factors
    ]
    return ClassifierViews(
        like.target,
        like.labels,
        like.attributes,
        tuple(sizes),
        tuple(tuple(zip(*columns, strict=True)) for columns in cells),
        target_type=like.target_type,
    )


def _apportion_with_least(
    shares: Sequence[Fraction], total: int, least: int
) -> list[int]:
    """Whole numbers near to the shares of a total, each at least so much.

    >>> _apportion_with_least([Fraction(9, 10), Fraction(1, 10), Fraction(0)], 10, 1)
    [8, 1, 1]
    """
    found = [max(least, n) for n in apportion(list(shares), total)]
    while (over := sum(found) - total) > 0:
        at = max(
            range(len(found)), key=lambda i: (found[i] - shares[i] * total, found[i])
        )
        if found[at] <= least:
            at = max(range(len(found)), key=lambda i: found[i])
        # Half of what can be spared, so that few rounds are needed.
        found[at] -= min(over, max(1, (found[at] - least) // 2))
    return found


# What a table keeps -----------------------------------------------------------------


def drift_between(before: Scores, after: Scores) -> Fraction:
    """Odds above this keep their order between two classifiers, whatever the row."""
    worst = Fraction(1)
    classes = range(before.classes)
    for c in classes:
        for d in classes:
            if c == d:
                continue
            # The most by which the odds of c against d fall, whatever the row.
            drift = before.weights[c] / before.weights[d]
            drift *= after.weights[d] / after.weights[c]
            for old, new in zip(before.factors, after.factors, strict=True):
                drift *= max(
                    a[c] * b[d] / (a[d] * b[c]) for a, b in zip(old, new, strict=True)
                )
            worst = max(worst, drift)
    return worst


def count_flips(before: Scores, after: Scores) -> tuple[int, int] | None:
    """How many tuples predict otherwise, and of how many; None: too many to look at."""
    whole = prod(len(t) for t in before.factors)
    if whole > MOST_TUPLES:
        return None
    old, new = (pick_best_classes(_score_tuples(s)) for s in (before, after))
    return int((old != new).sum()), whole


def _score_tuples(scores: Scores) -> Floats:
    """The score of every tuple, by class, the last attribute varying fastest."""
    sums = scores.log_weights[None, :]
    for table in scores.log_factors:
        # (tuples so far, 1, classes) + (1, values, classes)
        sums = (sums[:, None, :] + table[None, :, :]).reshape(-1, scores.classes)
    return sums


def margin_of_drift(drift: Fraction, exponent: Fraction) -> float:
    """The margin as odds of the original: natural logarithm, rounded up a little."""
    return ln_of(drift) / float(exponent) * (1 + 1e-9)


def odds_of_margin(margin_of: float) -> float:
    """A margin as odds."""
    return exp(min(margin_of, 700.0))


# Rows -------------------------------------------------------------------------------


def draw_rows(
    views: ClassifierViews, *, apart: bool = False, seed: int | None = None
) -> list[dict[str, list[str | None]]]:
    """The rows of counts: one table, or one of two columns per attribute.

    Within a class each column is in an order of its own; rows are shuffled as a whole,
    in every table anew. Randomness comes from the operating system.
    """
    dice: Random = SystemRandom() if seed is None else Random(seed)
    target = [
        c for c, n in zip(views.labels, views.sizes, strict=True) for _ in range(n)
    ]
    columns = [_draw_column(views, i, dice) for i in range(len(views.attributes))]
    names = [a.name for a in views.attributes]
    if not apart:
        whole: dict[str, list[Any]] = dict(zip(names, columns, strict=True))
        whole[views.target] = target
        return [_shuffle_rows(whole, dice)]
    return [
        _shuffle_rows({name: column, views.target: target}, dice)
        for name, column in zip(names, columns, strict=True)
    ]


def _draw_column(views: ClassifierViews, i: int, dice: Random) -> list[str | None]:
    found: list[str | None] = []
    for c in range(len(views.labels)):
        part = [
            v
            for v, row in zip(views.attributes[i].values, views.cells[i], strict=True)
            for _ in range(row[c])
        ]
        dice.shuffle(part)
        found += part
    return found


def _shuffle_rows(
    columns: dict[str, list[Any]], dice: Random
) -> dict[str, list[str | None]]:
    length = len(next(iter(columns.values())))
    places = list(range(length))
    dice.shuffle(places)
    return {name: [column[p] for p in places] for name, column in columns.items()}


# Tables that keep every promise -----------------------------------------------------


def make_synthetic_table(
    made: FlattenedCard,
    promises: Sequence[Promise],
    rows: int,
    also: Callable[[ClassifierViews], bool] = lambda _: True,
) -> SyntheticTable:
    """A table of so many rows that keeps every promise, and whatever else must hold.

    Rounding to rows moves beliefs a little; the exponent is lowered until all is kept.
    """
    exact = scores_from_card(made.card)
    steepness = Fraction(1)
    for _ in range(60):
        scores = exact if steepness == 1 else _flatten_scores(exact, steepness)
        views = make_table_counts(scores, made.card, rows)
        if audit(views, list(promises)).safe and also(views):
            drift = drift_between(scores, views.scores)
            exponent = made.proof.exponent * steepness
            return SyntheticTable(
                views,
                margin_of_drift(drift, exponent) + made.margin,
                odds_of_margin(margin_of_drift(drift, Fraction(1))),
                count_flips(exact, views.scores),
                exponent,
            )
        steepness *= Fraction(98, 100)
    raise Infeasible(
        f"A table of {rows:,} rows does not keep every promise: whole rows are too "
        "coarse.",
        advice=("Ask for more rows, or publish the scorecard.",),
    )


def _flatten_scores(scores: Scores, power: Fraction) -> Scores:
    """Scores to a power, to about fifteen digits: rows are far coarser than that."""

    def flatten(x: Fraction) -> Fraction:
        return Fraction(float(x) ** float(power))

    return Scores(
        tuple(map(flatten, scores.weights)),
        tuple(tuple(tuple(map(flatten, row)) for row in t) for t in scores.factors),
    )


def publish_rows_only(
    made: FlattenedCard, promises: Sequence[Promise], rows: int
) -> FlattenedCard:
    """The scorecard of a synthetic table: it tells no more than the rows do."""

    def make_card(views: ClassifierViews, keeps: str = "") -> FlattenedCard:
        base = CardRounder(views, views.scores, *find_gap(views.scores), keeps)
        return base.round_card(Fraction(1))

    table = make_synthetic_table(
        made, promises, rows, lambda v: audit(make_card(v).card, list(promises)).safe
    )
    odds = factor_words(log(table.drift))
    keeps = f"{made.keeps}, but for classes whose published odds are within {odds}"
    return replace(make_card(table.views, keeps), margin=table.margin, table=table)
