"""National spelling: decimal commas, days before months, times with zones.

A column of texts is respelled as 3.14, 1980-12-03 or 2017-01-14 05:38:21 (UTC) if all
of its values are written in one such way and no other reading fits. Where two fit, the
user is asked, or the texts stay what they are and that is said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from privet.engine.sources.source import TextOptions
from privet.engine.sql import literal
from privet.errors import InputError, warn
from privet.languages import say

TIME = r"( [0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"
CLOCK = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
BETWEEN = (".", "/", "-")
"""What stands between day, month and year."""

ENDING = "|".join(
    f"[0-9]{{1,2}}{re.escape(b)}[0-9]{{1,2}}{re.escape(b)}[0-9]{{4}}" for b in BETWEEN
)
BEGINNING = "|".join(
    f"[0-9]{{4}}{re.escape(b)}[0-9]{{1,2}}{re.escape(b)}[0-9]{{1,2}}" for b in BETWEEN
)
ORDERS = {
    "dmy": (f"({ENDING}){TIME}", "%d{b}%m{b}%Y"),
    "mdy": (f"({ENDING}){TIME}", "%m{b}%d{b}%Y"),
    "ymd": (f"({BEGINNING}){TIME}", "%Y{b}%m{b}%d"),
}
"""What dates of each order look like, and how they are read."""

ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"
"""Dates that every reader knows: they need no respelling."""

ZONED = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
    r" ?(Z|UTC|GMT|[+-][0-9]{2}(:?[0-9]{2})?)"
)
"""A time with its zone."""

WHOLE = r"[+-]?(0|[1-9][0-9]*)"
COMMA = rf"({WHOLE}|[+-]?[1-9][0-9]{{0,2}}(\.[0-9]{{3}})+)(,[0-9]+)?"
"""A number whose decimals come after a comma; points may group thousands."""

POINT = rf"({WHOLE}|[+-]?[1-9][0-9]{{0,2}}(,[0-9]{{3}})+)(\.[0-9]+)?"
"""A number whose decimals come after a point; commas may group thousands."""

TWICE = r".*\..*\..*"
"""Two points: they group thousands."""

POINTED = r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}"
"""A number whose point may group thousands, too."""


CONTINENTAL = ";"
"""What parts the cells where the comma is that of decimals."""


def read_date(cell: str, order: str) -> str:
    """The moment that a cell of some order means; NULL if it means none."""
    pattern, written = ORDERS[order]
    formats = ", ".join(
        literal(written.format(b=b) + clock) for b in BETWEEN for clock in CLOCK
    )
    return (
        f"CASE WHEN regexp_full_match({cell}, '{pattern}') "
        f"THEN try_strptime({cell}, [{formats}]) END"
    )


def read_zoned(cell: str) -> str:
    """The moment, in UTC, of a cell with a zone; NULL if it has none."""
    # DuckDB knows no blank before a zone, UTC only behind one; older ones need a colon
    # in it, and seconds before it.
    plain = f"regexp_replace({cell}, ' ?(UTC|GMT)$', 'Z')"
    plain = rf"regexp_replace({plain}, ' (Z|[+-][0-9:]+)$', '\1')"
    plain = rf"regexp_replace({plain}, '([+-][0-9]{{2}})([0-9]{{2}})$', '\1:\2')"
    plain = rf"regexp_replace({plain}, '([T ][0-9]{{2}}:[0-9]{{2}})([Z+-])', '\1:00\2')"
    return (
        f"CASE WHEN regexp_full_match({cell}, '{ZONED}') "
        f"THEN make_timestamp(epoch_us(TRY_CAST({plain} AS TIMESTAMPTZ))) END"
    )


# What a few values allow ------------------------------------------------------------

HINTS = {
    "date": re.compile(f"({ENDING}|{BEGINNING}){TIME}"),
    "zoned": re.compile(ZONED),
    "number": re.compile(f"({COMMA})|({POINT})"),
}


def find_hints(
    columns: Mapping[int, Sequence[str | None]],
    text: TextOptions,
    *,
    json: bool,
    delimiter: str = "",
) -> dict[int, str]:
    """What a few values of columns may be, of those that may have to be respelled."""
    found = {c: find_hint(texts) for c, texts in columns.items()}
    commas = text.decimal == "," or "number" in found.values()
    commas = commas or delimiter == CONTINENTAL
    # 1.234 is one and a bit, unless the file may have decimal commas.
    also = {c: "number" for c, hint in found.items() if hint == "pointed" and commas}
    kinds = {h for h in ("date", "zoned") if text.dates != "text"}
    kinds |= {"number"} if text.decimal != "text" and not json else set()
    return {c: hint for c, hint in (found | also).items() if hint in kinds}


def find_hint(texts: Sequence[str | None]) -> str:
    """What a few values of a column may all be; empty: nothing that is respelled.

    >>> find_hint(["03.12.1980", None]), find_hint(["3,14", "2"]), find_hint(["3", "2"])
    ('date', 'number', '')
    """
    present = [text for text in texts if text is not None]
    for hint, pattern in HINTS.items():
        if present and all(pattern.fullmatch(text) for text in present):
            return _sharpen_hint(present, hint)
    return ""


def _sharpen_hint(texts: Sequence[str], hint: str) -> str:
    if hint == "date":
        return "" if all(re.fullmatch(ISO, text) for text in texts) else hint
    if hint == "number" and not any("," in t or t.count(".") > 1 for t in texts):
        return "pointed" if any(re.fullmatch(POINTED, t) for t in texts) else ""
    return hint


# What all values are ----------------------------------------------------------------

TESTS = {
    "date": ("dmy", "mdy", "differ", "ymd", "timed"),
    "zoned": ("zoned",),
    "number": ("comma", "point", "commas", "twice", "pointed"),
}
"""What is counted of a column beside its values, by what a few of them allow."""


def count_spellings(cell: str, hint: str) -> list[str]:
    """Statements that count the values of a column, and those that fit each test."""
    dmy, mdy, ymd = (read_date(cell, order) for order in ORDERS)
    conditions = {
        "dmy": f"({dmy}) IS NOT NULL",
        "mdy": f"({mdy}) IS NOT NULL",
        "differ": f"({dmy}) IS DISTINCT FROM ({mdy})",
        "ymd": f"({ymd}) IS NOT NULL",
        "timed": f"contains({cell}, ':')",
        "zoned": f"({read_zoned(cell)}) IS NOT NULL",
        "comma": f"regexp_full_match({cell}, '{COMMA}')",
        "point": f"regexp_full_match({cell}, '{POINT}')",
        "commas": f"contains({cell}, ',')",
        "twice": f"regexp_full_match({cell}, '{TWICE}')",
        "pointed": f"regexp_full_match({cell}, '{POINTED}|{WHOLE}')",
    }
    asked = [f"count(*) FILTER (WHERE {conditions[test]})" for test in TESTS[hint]]
    return [f"count({cell})", *asked]


@dataclass(frozen=True)
class Spelling:
    """How the columns of a file are written, as far as they do not tell themselves."""

    respelled: Mapping[int, str] = field(default_factory=dict)
    """How cells of some columns become ours; {} stands for the cell."""
    order: str = ""
    """The order of dates, where all columns of dates have one."""
    decimal: str = ""
    """What stands before decimals, where columns tell."""


def decide_spelling(
    counts: Mapping[int, tuple[str, Sequence[int]]],
    names: Sequence[str],
    text: TextOptions,
    delimiter: str = "",
) -> Spelling:
    """What to respell, by the counts of each column; ask where two readings fit."""
    respelled: dict[int, str] = {}
    orders, marks = set(), set()
    doubts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for c, (hint, (present, *numbers)) in counts.items():
        found = dict(zip(TESTS[hint], numbers, strict=True))
        if hint == "zoned":
            if found["zoned"] == present:
                respelled[c] = _as_text(read_zoned("{}"))
            continue
        if hint == "date":
            way = _choose_order(present, found, text.dates)
        else:
            way = _choose_decimal(present, found, text.decimal)
        if way in ORDERS:
            orders.add(way)
            respelled[c] = _respell_date(way, timed=found["timed"] > 0)
        elif way in RESPELL:
            marks.add(way)
            respelled[c] = RESPELL[way]
        elif way:
            doubts[way, hint].append(names[c])
        elif hint == "number" and found["pointed"] == present:
            doubts["pointed", hint].append(names[c])
    commas = "," in marks or delimiter == CONTINENTAL
    if text.decimal is not None or not commas:
        doubts.pop(("pointed", "number"), None)
    _tell_doubts(doubts)
    order = orders.pop() if len(orders) == 1 else ""
    return Spelling(respelled, order, marks.pop() if len(marks) == 1 else "")


def _tell_doubts(columns: Mapping[tuple[str, str], Sequence[str]]) -> None:
    """Ask what must be known of some columns, and tell what was done with others."""
    if asked := columns.get(("?", "date")):
        raise InputError(_ask_order(asked))
    unlike = [columns.get(("!", hint), ()) for hint in ("date", "number")]
    if any(unlike):
        warn(_tell_unlike([*unlike[0], *unlike[1]]))
    if unclear := columns.get(("?", "number")):
        warn(_tell_unclear(unclear))
    if pointed := columns.get(("pointed", "number")):
        warn(_tell_pointed(pointed))


def _choose_order(present: int, found: Mapping[str, int], said: str | None) -> str:
    """The order of all values; "?": two fit; "!": another than was said; or none."""
    if said == "text":
        return ""
    fits = [order for order in ORDERS if found[order] == present]
    if said is not None and said in fits:
        return said
    if said is not None:  # which answers for the day and the month only
        return "ymd" if "ymd" in fits else "!" if fits else ""
    if len(fits) > 1 and found["differ"]:
        return "?"
    return fits[0] if fits else ""


def _choose_decimal(present: int, found: Mapping[str, int], said: str | None) -> str:
    """What stands before all decimals; "?": both may; "!": another than was said."""
    if said == "text":
        return ""
    fits = {",": found["comma"] == present, ".": found["point"] == present}
    grouped = found["commas"] or found["twice"]
    if said is not None:
        spelled = found["commas"] or (said == "," and found["pointed"] + found["twice"])
        if fits[said] or not any(fits.values()):
            return said if fits[said] and spelled else ""
        return "!" if grouped else ""
    if not grouped:
        return ""
    if all(fits.values()):
        return "?"
    return next((mark for mark, fit in fits.items() if fit), "")


RESPELL = {",": "replace(replace({}, '.', ''), ',', '.')", ".": "replace({}, ',', '')"}
"""Numbers as they are spelled here, by what stands before their decimals."""


def _respell_date(order: str, *, timed: bool) -> str:
    moment = read_date("{}", order)
    return _as_text(moment if timed else f"CAST({moment} AS DATE)")


def _as_text(moment: str) -> str:
    return f"CAST({moment} AS VARCHAR)"


def respell(cell: str, how: str | None, *, json: bool = False) -> str:
    """A cell as it is spelled here; what cannot be respelled stays as it is."""
    if how is None:
        return cell
    if not json:
        return f"coalesce({how.replace('{}', cell)}, {cell})"
    text = how.replace("{}", f"json_extract_string({cell}, '$')")
    return f"CAST(coalesce('\"' || {text} || '\"', {cell}) AS JSON)"


def _ask_order(names: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names))
    return (
        f"The order of day and month must be known in {listed}: both orders fit all "
        "dates there. Say --dates dmy (dates='dmy') if the day comes first, --dates "
        "mdy if the month does, or --dates text to leave them as texts."
    )


def _tell_unclear(names: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names))
    return say(
        "Numbers with commas are left as texts in {columns}: 1,234 may be "
        "one thousand or one and a bit. Say --decimal , (decimal=',') or "
        "--decimal . (decimal='.').",
        columns=listed,
    )


def _tell_unlike(names: Sequence[str]) -> str:
    return say(
        "Dates or numbers are left as texts in {columns}: they are written otherwise "
        "than --dates or --decimal says, which goes for all columns of the file.",
        columns=", ".join(map(repr, names)),
    )


def _tell_pointed(names: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names))
    return say(
        "The point is read as that of decimals in {columns}, though the file has "
        "decimal commas elsewhere or semicolons between cells. Say --decimal , "
        "(decimal=',') if it groups thousands, --decimal . (decimal='.') if not.",
        columns=listed,
    )
