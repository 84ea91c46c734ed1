"""Types of texts: numbers and dates recognised, ordered and told apart exactly."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from privet.engine.sql import DECIMAL, literal
from privet.values.exact import count_decimals
from privet.values.schema import Bins

WHOLE = r"[+-]?(0|[1-9][0-9]*)"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
MOMENT = DAY + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"

TEXT_KINDS = {
    "integer": (WHOLE, "HUGEINT"),
    "number": (DECIMAL, "DOUBLE"),
    "date": (DAY, "DATE"),
    "datetime": (MOMENT, "TIMESTAMP"),
}
"""What all texts of a column must look like to be of a kind; the first one counts."""

PIECES = r"^([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?$"
"""Sign, digits before the point, digits after it, exponent."""

MOST_DIGITS = 400
"""Digits of an edge that has no end, such as 1/3; it is rounded up there."""


def text_of(cell: str, *, textual: bool, json: bool) -> str:
    """The text of a cell: as the file has it, or as the engine writes its type."""
    if json:
        return f"json_extract_string({cell}, '$')"
    return cell if textual else f"CAST({cell} AS VARCHAR)"


def count_fitting(
    cell: str, *, json: bool, among: Collection[str] = TEXT_KINDS
) -> list[str]:
    """How many texts are quoted in JSON, and how many fit each of `TEXT_KINDS`.

    None fits a kind that is not among those asked for.
    """
    text = text_of(cell, textual=True, json=json)
    quoted = f"starts_with({cell}, '\"')" if json else "false"
    tests = [quoted] + [
        f"regexp_full_match({text}, '{pattern}') "
        f"AND TRY_CAST({text} AS {cast}) IS NOT NULL"
        if kind in among
        else "false"
        for kind, (pattern, cast) in TEXT_KINDS.items()
    ]
    return [f"CAST(count(*) FILTER (WHERE {t}) AS BIGINT)" for t in tests]


def list_possible_kinds(texts: int, *fits: int) -> list[str]:
    """The kinds that so many texts allow, of which so many fit each kind.

    >>> list_possible_kinds(3, 2, 3, 0, 0)
    ['number']
    """
    return [k for k, n in zip(TEXT_KINDS, fits, strict=True) if n == texts]


def find_near_kind(texts: int, *fits: int) -> str:
    """The kind that nine in ten of so many texts have, but not all; or nothing.

    >>> tuple(find_near_kind(100, 0, numbers, 0, 0) for numbers in (98, 100, 80))
    ('number', '', '')
    """
    found = zip(reversed(TEXT_KINDS), reversed(fits), strict=True)
    return next((k for k, n in found if texts * 9 <= n * 10 and n < texts), "")


def recognise_kind(texts: int, quoted: int, *fits: int) -> str:
    """The kind of a column with so many texts, of which so many fit each kind.

    What JSON has in quotes is no number.

    >>> recognise_kind(3, 0, 2, 3, 0, 0), recognise_kind(0, 0, 0, 0, 0, 0)
    ('number', 'text')
    >>> recognise_kind(3, 3, 3, 3, 0, 0)
    'text'
    """
    kinds = list_possible_kinds(texts, *fits)
    if quoted:
        kinds = [k for k in kinds if k in ("date", "datetime")]
    return kinds[0] if kinds and texts else "text"


def order_values(values: str, text: str, kind: str) -> str:
    """Values of texts with what orders them: o0, and for numbers o1 and o2 after it.

    1.50 and 1.5 are one value, as are 1e3 and 1000 or 0 and -0; 0.1 and
    0.10000000000000000001 are two.
    """
    if kind == "number":
        return _order_numbers(values, text)
    cast = {"integer": "HUGEINT", "date": "DATE", "datetime": "TIMESTAMP"}.get(kind)
    key = f"TRY_CAST({text} AS {cast})" if cast else text
    return f"SELECT v, {key} AS o0 FROM {values}"


def list_order_columns(kind: str) -> tuple[str, ...]:
    """The columns of `order_values` for a kind."""
    return ("o0", "o1", "o2") if kind == "number" else ("o0",)


def _order_numbers(values: str, text: str) -> str:
    """A number is 0.digits times 10 ** place; sign, place and digits order it.

    -12.50 is -1, 2, "125": o0 = -1, o1 = -2, o2 = "874:", since of two negative
    numbers the larger digits come first, and the colon comes after all digits.
    """
    pieces = (
        f"SELECT v, {text} AS t, regexp_extract({text}, '{PIECES}', "
        f"['s', 'i', 'f', 'e']) AS p FROM {values}"
    )
    parts = (
        "SELECT v, t, p.s AS s, ltrim(p.i || p.f, '0') AS digits, length(p.f) AS after,"
        f" coalesce(TRY_CAST(p.e AS BIGINT), 0) AS power FROM ({pieces})"
    )
    signed = (
        "SELECT v, digits, length(digits) - after + power AS place, CASE t "
        "WHEN 'nan' THEN NULL WHEN 'inf' THEN 2 WHEN '-inf' THEN -2 "
        "ELSE CASE WHEN digits = '' THEN 0 WHEN s = '-' THEN -1 WHEN t IS NOT NULL "
        f"THEN 1 END END AS o0 FROM ({parts})"
    )
    return (
        "SELECT v, o0, CASE abs(o0) WHEN 1 THEN o0 * place ELSE 0 END AS o1, "
        "CASE o0 WHEN -1 THEN translate(rtrim(digits, '0'), '0123456789', '9876543210')"
        f" || ':' ELSE rtrim(digits, '0') END AS o2 FROM ({signed})"
    )


def normalise_number(text: str) -> str:
    """A text that is the same for texts of the same number; others stay themselves."""
    # 0.digits times 10 ** place again: 1.50 and 0.015e2 are 15e1, 1500 is 15e4.
    pieces = f"regexp_extract({text}, '{PIECES}', ['s', 'i', 'f', 'e'])"
    digits = f"ltrim({pieces}.i || {pieces}.f, '0')"
    place = (
        f"length({digits}) - length({pieces}.f) "
        f"+ coalesce(TRY_CAST({pieces}.e AS BIGINT), 0)"
    )
    return (
        f"CASE WHEN regexp_full_match({text}, '[1-9][0-9]*') "
        f"THEN rtrim({text}, '0') || 'e' || length({text}) "
        f"WHEN NOT regexp_full_match({text}, '{DECIMAL}') "
        f"OR TRY_CAST({text} AS DOUBLE) IS NULL THEN {text} "
        f"WHEN {digits} = '' THEN '0' "
        f"ELSE replace({pieces}.s, '+', '') || rtrim({digits}, '0') || 'e' || "
        f"({place}) END"
    )


# Missing values ---------------------------------------------------------------------

MISSING_WORDS: tuple[str, ...] = (
    "NA",
    "N/A",
    "n/a",
    "NaN",
    "nan",
    "NULL",
    "null",
    "None",
    "nil",
)
MISSING_WORDS += (".", "..", "-", "--", "?", "#N/A", "missing", "Missing")
"""Texts that often stand for a missing value, in any column."""

MISSING_CODES = ("-7", "-8", "-9", "-77", "-88", "-99", "-777", "-888", "-999", "-9999")
"""Numbers that often do, where no other number is below zero."""


def count_missing_codes(cell: str) -> list[str]:
    """How often each text that may mean nothing stands in a column; and its others."""
    usual = [f"count(*) FILTER (WHERE {cell} = {literal(w)})" for w in MISSING_WORDS]
    codes = [f"count(*) FILTER (WHERE {cell} = '{code}')" for code in MISSING_CODES]
    listed = ", ".join(map(literal, (*MISSING_WORDS, *MISSING_CODES)))
    number = f"TRY_CAST({cell} AS DOUBLE)"
    others = f"{cell} NOT IN ({listed})"
    return [
        *usual,
        *codes,
        f"count(*) FILTER (WHERE {others})",
        f"count(*) FILTER (WHERE {others} AND {number} >= 0)",
    ]


def choose_missing_codes(columns: Collection[list[int]]) -> tuple[str, ...]:
    """The texts that may mean nothing, by the counts of each column."""
    found: dict[str, None] = {}
    for counts in columns:
        *times, others, positive = counts
        words, codes = times[: len(MISSING_WORDS)], times[len(MISSING_WORDS) :]
        found |= {w: None for w, n in zip(MISSING_WORDS, words, strict=True) if n}
        if others and positive == others:
            found |= {c: None for c, n in zip(MISSING_CODES, codes, strict=True) if n}
    return tuple(found)


# Bins -------------------------------------------------------------------------------


def bin_values(values: str, text: str, cut: Bins) -> str:
    """The code of each value's bin; missing values and those not a number have 0."""
    if cut.are_dates:
        cells = f"SELECT v, TRY_CAST({text} AS TIMESTAMP) AS o0 FROM {values}"
        edges = [f"CAST('{edge}' AS TIMESTAMP)" for edge in cut.edges]
        value = "o0"
    else:
        cells = _order_numbers(values, text)
        edges = [_order_edge(edge) for edge in cut.edges if isinstance(edge, Fraction)]
        value = "(o0, o1, o2)"
    # 1, and 1 for each edge that is not above it: of edges 10 and 20, 15 has code 2.
    steps = " + ".join(f"CAST({value} >= {edge} AS INTEGER)" for edge in edges)
    return (
        f"SELECT v, CAST(CASE WHEN o0 IS NULL THEN 0 ELSE 1 + {steps} END "
        f"AS UINTEGER) AS code FROM ({cells})"
    )


def _order_edge(edge: Fraction) -> str:
    """An edge as the columns of `order_values`.

    >>> tuple(_order_edge(Fraction(x)) for x in ("-12.5", "0", "3/100"))
    ("(-1, -2, '874:')", "(0, 0, '')", "(1, -1, '3')")
    """
    after = count_decimals(edge)
    scale = MOST_DIGITS if after is None else min(after, MOST_DIGITS)
    # Rounded up: a value of no more digits is below both, or at or above both.
    whole = -(-edge.numerator * 10**scale // edge.denominator)
    if not whole:
        return "(0, 0, '')"
    digits = str(abs(whole))
    sign, place = (1 if whole > 0 else -1), len(digits) - scale
    digits = digits.rstrip("0")
    if sign < 0:
        digits = digits.translate(str.maketrans("0123456789", "9876543210")) + ":"
    return f"({sign}, {sign * place}, {literal(digits)})"
