"""How what a release shows stands in its files: texts, or columns that keep a type.

A range is a label, or two columns with its ends (`age_from`, `age_to`); a third,
`age_missing`, says where a value may be missing, if it may anywhere. A hidden cell is a
marker, or empty. Either way a file says the same: each label has cells of its own, and
is read back from them, so that what is written is judged as labels are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from privet.engine.protocol import Spread
from privet.engine.sources.joined_columns import JoinedColumn
from privet.engine.sql import DECIMAL, literal
from privet.engine.text_types import DAY, WHOLE
from privet.errors import InputError
from privet.microdata.generalised_values import ANY, MISSING
from privet.table import Table
from privet.values.contingency import Domain
from privet.values.exact import fraction

LABELS, COLUMNS = "labels", "columns"
RANGES = (LABELS, COLUMNS)
"""How ranges may be written."""

MARKED, NULL = "marker", "null"
HIDDEN = (MARKED, NULL)
"""How hidden cells may be written."""

MARKER = "⊥"
"""How a hidden value is shown unless another text is chosen."""

WITH_ENDS = ("integer", "number", "date", "datetime")
"""Kinds of values whose ranges have ends with a type."""

ENDINGS = ("_from", "_to", "_missing")
"""What the columns of a range are called, after its own name."""

Ends = tuple[str | None, str | None, bool]
"""Where a range begins and ends, None: nowhere; and whether a value may be missing."""


def require_choice(value: object, what: str, among: Collection[str]) -> None:
    """Refuse what is no way to write ranges or hidden cells."""
    if value not in among:
        raise InputError(f"{what} must be one of {', '.join(among)}; got {value!r}.")


# From labels to cells ---------------------------------------------------------------

_INTERVAL = re.compile(r"(missing or )?(?:above (.+?))?(?: ?up to (.+))?")


def read_interval(label: str | None) -> Ends | None:
    """The ends of an interval that a column was cut into; None: it is a value.

    >>> read_interval("missing or up to 18"), read_interval("above 65")
    ((None, '18', True), ('65', None, False))
    """
    if label in (MISSING, "not missing"):
        return None, None, label == MISSING
    match = _INTERVAL.fullmatch(label or "")
    if not label or match is None:
        return None
    missing, low, high = match.groups()
    return low, high, bool(missing)


def _find_interval_ends(label: str | None) -> Ends:
    """The same; of a value it is both ends, and nothing but missing has none."""
    if label is None:
        return None, None, True
    return read_interval(label) or (label, label, False)


def _find_range_ends(label: str | None) -> Ends:
    """The ends of a range of values, both included; `*` has none."""
    if label is None or label == ANY:
        return None, None, label is None
    text = label.removeprefix(f"{MISSING} or ")
    low, high = text[1:-1].split(", ") if text.startswith("[") else (text, text)
    return low, high, text != label


READERS: Mapping[str, Callable[[str | None], Ends]] = {
    "intervals": _find_interval_ends,
    "ranges": _find_range_ends,
}
"""What reads the ends of a label, by how the manifest calls it."""


def spread_range(
    name: str, labels: Iterable[str | None], shown_as: str, type_: str
) -> Spread:
    """The columns with the ends of ranges, in place of their labels."""
    ends = {label: READERS[shown_as](label) for label in labels}
    missing = any(may for _, _, may in ends.values())
    cells: dict[str | None, tuple[str | None, ...]] = {
        label: (low, high, *([str(may).lower()] if missing else []))
        for label, (low, high, may) in ends.items()
    }
    several = 3 if missing else 2
    types = (type_, type_, "BOOLEAN")[:several]
    return Spread(name_ends(name, several), cells, types)


def spread_hidden(
    name: str, labels: Iterable[str | None], marker: str, type_: str
) -> Spread:
    """The column with empty cells in place of a marker."""
    return Spread((name,), {t: (None if t == marker else t,) for t in labels}, (type_,))


def name_ends(name: str, several: int = 2) -> tuple[str, ...]:
    """What the columns of a range are called."""
    return tuple(f"{name}{ending}" for ending in ENDINGS[:several])


def describe_ends(spread: Spread | None) -> dict[str, Any]:
    """What a manifest says of the columns with the ends of a range."""
    return {} if spread is None else {"written_as": list(spread.names)}


def refuse_taken(spread: Mapping[str, Spread], columns: Sequence[str]) -> None:
    """The columns of ranges must have names that no other column has."""
    taken = {c.casefold() for c in columns if c not in spread}
    for name, made in spread.items():
        for new in made.names:
            if new.casefold() in taken:
                raise InputError(
                    f"Range columns must have free names; {new!r}, of column {name!r}, "
                    "is taken. Rename that column, or write ranges as labels."
                )
            taken.add(new.casefold())


# Types ------------------------------------------------------------------------------

_KEPT = re.compile(
    r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)|DECIMAL\(\d+,\d+\)|DOUBLE|FLOAT|BOOLEAN|"
    r"DATE|TIME|TIMESTAMP(_S|_MS|_NS|TZ_NS| WITH TIME ZONE)?"
)
"""Types whose values are the same after they were written as texts."""

_NOT_FINITE = {"nan", "inf", "-inf"}
"""What a column of PostgreSQL's `numeric` may hold, and a decimal cannot."""

_BY_KIND = {"integer": "BIGINT", "number": "DOUBLE", "date": "DATE"}
_BY_KIND |= {"datetime": "TIMESTAMP", "boolean": "BOOLEAN"}


def find_types(table: Table) -> dict[str, str]:
    """The types of a table's columns, as far as its source has some."""
    bins = table.roles.bins
    return {
        c: type_
        for c, type_ in table.engine.list_types().items()
        if _KEPT.fullmatch(type_) and c not in bins
    }


def choose_type(kind: str, values: Iterable[str | None], own: str | None = None) -> str:
    """The type of a column of such values, perhaps its own; empty: text.

    >>> own = "DECIMAL(9,2)"
    >>> [choose_type("number", [v, None], own) for v in ("1.50", "nan")]
    ['DECIMAL(9,2)', '']
    """
    known = [v for v in values if v is not None]
    odd = (
        own is not None
        and own.startswith("DECIMAL")
        and not _NOT_FINITE.isdisjoint(known)
    )
    if own is not None and not odd:
        return own
    if kind == "integer" and not all(-(2**63) <= int(v) < 2**63 for v in known):
        return ""
    if kind == "number" and not all(map(_keeps_digits, known)):
        return ""
    return _BY_KIND.get(kind, "")


def _keeps_digits(text: str) -> bool:
    """Whether a float keeps every digit, and numbers that differ different."""
    try:
        value = abs(fraction(text))
    except InputError:
        return False
    digits = re.sub(r"[eE].*|[^0-9]", "", text).lstrip("0")
    return not digits or (len(digits) <= 15 and 10**-290 <= value <= 10**290)


# From cells to labels ---------------------------------------------------------------


def join_written(columns: Mapping[str, Mapping[str, Any]]) -> dict[str, JoinedColumn]:
    """How columns are read from those they are written as, by what a manifest says."""
    return dict(_list_joined(columns))


def _list_joined(
    columns: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[str, JoinedColumn]]:
    for name, about in columns.items():
        written, shown = about.get("written_as"), about.get("shown_as")
        if written == NULL:
            yield name, JoinedColumn((name,), _mark_with(find_marker(about)))
        elif written is not None:
            writers = {"intervals": _write_interval, "ranges": _write_range}
            known = [list(name_ends(name, several)) for several in (2, 3)]
            if shown not in writers or written not in known:
                raise InputError(
                    f"Column {name!r} must be written as release.json may say; it is "
                    "not."
                )
            yield name, JoinedColumn(tuple(written), writers[shown])


def find_marker(about: Mapping[str, Any]) -> str:
    """What an empty cell stands for, in a column where hidden cells are empty."""
    return MARKER if "hidden_values" in about else ANY


def _mark_with(marker: str) -> Callable[[Sequence[str]], str]:
    """Empty cells as the marker; a text that begins like it gets one more."""
    known = literal(marker)

    def write(cells: Sequence[str]) -> str:
        (cell,) = cells
        return (
            f"CASE WHEN {cell} IS NULL THEN {known} WHEN starts_with({cell}, {known}) "
            f"THEN concat({known}, {cell}) ELSE {cell} END"
        )

    return write


def _write_interval(cells: Sequence[str]) -> str:
    low, high, missing = _name_cells(cells)
    return (
        f"CASE WHEN {low} IS NULL AND {high} IS NULL "
        f"THEN CASE WHEN {missing} THEN NULL ELSE 'not missing' END "
        f"ELSE concat(CASE WHEN {missing} THEN 'missing or ' ELSE '' END, "
        f"CASE WHEN {low} = {high} THEN {low} WHEN {low} IS NULL "
        f"THEN concat('up to ', {high}) WHEN {high} IS NULL "
        f"THEN concat('above ', {low}) "
        f"ELSE concat('above ', {low}, ' up to ', {high}) END) END"
    )


def _write_range(cells: Sequence[str]) -> str:
    low, high, missing = _name_cells(cells)
    return (
        f"CASE WHEN {low} IS NULL AND {high} IS NULL "
        f"THEN CASE WHEN {missing} THEN NULL ELSE '{ANY}' END "
        f"ELSE concat(CASE WHEN {missing} THEN '{MISSING} or ' ELSE '' END, "
        f"CASE WHEN {low} = {high} THEN {low} "
        f"ELSE concat('[', {low}, ', ', {high}, ']') END) END"
    )


def _name_cells(cells: Sequence[str]) -> tuple[str, str, str]:
    low, high, *rest = cells
    missing = f"coalesce({rest[0]} = 'true', false)" if rest else "false"
    return low, high, missing


_FORMS = {
    "integer": WHOLE,
    "number": DECIMAL,
    "date": DAY,
    "datetime": rf"{DAY}[T ][0-9:]+(\.[0-9]{{1,9}})?([+-][0-9]{{2}}(:[0-9]{{2}})?)?",
}
"""What texts of a kind look like; some stay texts in a file, such as zones in CSV."""

_SAME_KIND = {"number": ("integer", "number"), "datetime": ("date", "datetime")}


def find_unlike_ends(table: Table, columns: Mapping[str, Any]) -> list[str]:
    """Columns of ranges, in the file itself, that do not hold what they must."""
    problems = []
    for name, about in columns.items():
        written = about.get("written_as")
        if written in (None, NULL):
            continue
        fits = _SAME_KIND.get(about["type"], (about["type"],))
        domains = table.domains(list(written))
        for part, domain in domains.items():
            values = set(domain.labels) - {None}
            flag = part.endswith(ENDINGS[2]) and part == written[-1]
            good = values <= {"true", "false"} if flag else _holds(domain, fits)
            if values and not good:
                problems.append(
                    f"Column {part!r} must hold what release.json says of {name!r}."
                )
    return problems


def _holds(domain: Domain, kinds: Collection[str]) -> bool:
    """Whether a column of a file has one of the kinds, or texts that look so."""
    if domain.kind != "text":
        return domain.kind in kinds
    form = re.compile("|".join(_FORMS[kind] for kind in kinds if kind in _FORMS))
    return all(v is None or form.fullmatch(v) for v in domain.labels)
