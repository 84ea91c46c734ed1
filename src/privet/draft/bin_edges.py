"""Round bin edges near the quantiles of a column, as anybody could have chosen them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from fractions import Fraction

from privet.draft.content import Content
from privet.draft.vocabulary import AGE, BIRTH, POST, split_words
from privet.engine.protocol import ColumnSummary

FEW_VALUES = 20
"""Columns with more values are safer in bins."""

ENOUGH = 40
"""Of fewer values a quantile is somebody's value, and no edge is near it."""

AGES = (18, 30, 45, 65, 80)
YEARS = (1940, 1960, 1980, 2000)
CUTS = (4, 8, 12, 16)
"""Which of the twenty steps of a distribution are cut: a fifth of the rows each."""


def is_wide(column: ColumnSummary) -> bool:
    """Whether a column has so many values, in an order, that bins help."""
    orderly = column.kind in ("integer", "number", "date", "datetime")
    code = POST.find(split_words(column.name))  # 01234 and 01235 are not amounts
    return orderly and column.distinct > FEW_VALUES and not code


def suggest_edges(column: ColumnSummary, content: Content) -> list[str]:
    """Edges as TOML has them; none where nothing tells what they could be."""
    words, dated = split_words(column.name), column.kind in ("date", "datetime")
    known = content.looked_at >= ENOUGH and content.quantiles
    if dated:
        edges = _cut_dates(content.quantiles) if known else []
        if not edges and BIRTH.find(words):
            edges = [f"{year}-01-01" for year in YEARS]
        return [f'"{edge}"' for edge in edges]
    least, most = content.spread
    if AGE.find(words) and (not known or (content.like_ages and most > 20)):
        return [str(edge) for edge in AGES if not known or least < edge <= most]
    if known:
        return [_write(edge) for edge in round_quantiles(content)]
    return [str(year) for year in YEARS] if BIRTH.find(words) else []


def round_quantiles(content: Content) -> list[Fraction]:
    """The quantiles, each rounded as far as its neighbours allow.

    Incomes at 12 345, 23 456, 45 678 and 98 765 are cut at 12 000, 25 000, 50 000 and
    100 000; latitudes at 33.91, 33.99, 34.02 and 34.11 at hundredths.
    """
    exact = [Fraction(content.quantiles[at]) for at in (0, *CUTS, -1)]
    points = list(dict.fromkeys(exact))
    edges = []
    for before, point, after in zip(points, points[1:], points[2:], strict=False):
        unit = _find_unit(min(point - before, after - point) / 2)
        if content.whole:
            unit = max(unit, Fraction(1))
        edge = round(point / unit) * unit
        if points[0] < edge <= points[-1]:
            edges.append(edge)
    return sorted(set(edges))


def _find_unit(most: Fraction) -> Fraction:
    """The largest of 1, 2 and 5 times a power of ten that is not above this."""
    power = Fraction(10) ** math.floor(math.log10(most))
    return max(
        unit for unit in (power / 2, power, 2 * power, 5 * power) if unit <= most
    )


def _write(edge: Fraction) -> str:
    whole = edge.denominator == 1 and abs(edge) < 10**15
    return str(edge.numerator) if whole else f"{float(edge):.12g}"


def _cut_dates(quantiles: Sequence[float]) -> list[str]:
    """First days of years, or of quarters or months where the time is short."""
    days = [date.fromordinal(int(n)) for n in quantiles]
    span = (days[-1] - days[0]).days
    months = 12 if span > 4 * 365 else 3 if span > 365 else 1
    edges = []
    for at in CUTS:
        number = days[at].year * 12 + days[at].month - 1
        year, month = divmod(round(number / months) * months, 12)
        edge = date(year, month + 1, 1)
        if days[0] < edge <= days[-1]:
            edges.append(edge)
    return [str(edge) for edge in sorted(set(edges))]
