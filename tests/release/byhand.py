"""Releases by hand: random tables, a recipe applied row by row, files read plainly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

import privet as pv

Row = dict[str, Any]
Cells = tuple[str | None, ...]

ODD = [
    None, "", " ", "a", "b", "=1+1", "-x", "+y", "@z", "'q", "''", "\tt", "\rr", "-5",
    "007", "1.50", "a,b", 'q"q', '"', "two\nlines", "null", "NULL", "Ärger 😀", "⊤",
]  # fmt: skip
"""Texts that files, spreadsheets or readers might take for something else."""

AGES: dict[str, st.SearchStrategy[Any]] = {
    "int64": st.one_of(st.none(), st.integers(-3, 6)),
    "big": st.one_of(st.none(), st.sampled_from([10**k for k in (19, 20, 30)])),
    "double": st.one_of(
        st.none(), st.sampled_from([float("nan"), -1.5, 0.1, 2.0, 1e300, 1e-7])
    ),
    "decimal": st.sampled_from([Decimal("-1.50"), Decimal("0.00"), Decimal("7.25")]),
    "date": st.one_of(st.none(), st.dates(date(1990, 1, 1), date(1990, 1, 6))),
}
TYPES = {
    "int64": pa.int64(),
    "big": pa.decimal128(38, 0),
    "double": pa.float64(),
    "decimal": pa.decimal128(10, 2),
    "date": pa.date32(),
}
EDGES: dict[str, list[Any]] = {
    "int64": [0, 3],
    "double": [0, 1],
    "date": ["1990-01-03"],
}


@dataclass(frozen=True)
class Case:
    """A table, its promises, and how it is read."""

    rows: list[Row]
    kind: str
    promises: list[pv.Promise]
    weighted: bool
    bins: Mapping[str, list[Any]]

    def table(self) -> pv.Table:
        columns = {c: [r[c] for r in self.rows] for c in self.rows[0]}
        types = {"age": TYPES[self.kind], "n": pa.int64()}
        arrow = pa.table(
            {c: pa.array(v, types.get(c, pa.string())) for c, v in columns.items()}
        )
        return pv.read(
            arrow if self.weighted else arrow.drop_columns(["n"]),
            identifier="name",
            quasi=["job", "age", "region"],
            sensitive=["ill", "debt"],
            target="rating",
            other="free",
            weight="n" if self.weighted else None,
            bins=self.bins,
        )

    def size(self, row: Row) -> int:
        return int(row["n"]) if self.weighted else 1


def limits() -> st.SearchStrategy[pv.Ceiling]:
    parts = st.sampled_from(["1/3", "1/2", "3/5", "3/4", "9/10", "1"])
    allowed = parts.filter(lambda p: p != "1")  # which forbids nothing
    return st.one_of(allowed.map(pv.Ceiling), parts.map(lambda p: pv.Ceiling(below=p)))


def promises(name: str) -> st.SearchStrategy[pv.Promise]:
    known = st.lists(
        st.sampled_from(["job", "age", "region", "debt"]), max_size=3, unique=True
    )
    linkers = st.one_of(
        known.map(pv.Linker), st.sampled_from([pv.Linker(), pv.Linker(knows_any=2)])
    )
    about = st.sampled_from(
        [{"ill": "x"}, {"ill": "*"}, "ill", {"ill": ["x", None]}, {"ill": "y"}]
    )
    return st.builds(pv.Promise, linkers, limits(), about, st.just(name))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(list(AGES)))
    jobs = draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=5, unique=True))
    person = st.fixed_dictionaries(
        {
            "job": st.sampled_from(jobs),
            "age": AGES[kind],
            "region": st.sampled_from(["N", "S", "W"]),
            "ill": st.sampled_from(["x", "y", "z", None]),
            "debt": st.sampled_from(["yes", "no"]),
            "rating": st.sampled_from(["G", "B", "=G"]),
            "free": st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
            "n": st.integers(0, 3),
        }
    )
    rows = draw(st.lists(person, min_size=2, max_size=24))
    weighted = draw(st.booleans())
    if weighted:
        rows[0]["n"] = 1
    binned = draw(st.booleans()) and kind in EDGES
    return Case(
        [{"name": f"person {i}", **row} for i, row in enumerate(rows)],
        kind,
        [draw(promises(f"promise {i}")) for i in range(draw(st.integers(1, 3)))],
        weighted,
        {"age": EDGES[kind]} if binned else {},
    )


# Texts ------------------------------------------------------------------------------


def told(value: Any) -> str | None:
    """A value as text, the same for equal values."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return "nan" if isnan(value) else repr(value + 0.0)
    return value.isoformat() if isinstance(value, date) else str(value)


def place(value: Any) -> tuple[int, Any]:
    """Missing first, what is no number last."""
    if value is None:
        return 0, 0
    return (2, 0) if isinstance(value, float) and isnan(value) else (1, value)


def bin_label(value: Any, bins: pv.Bins) -> str | None:
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    at = value if isinstance(value, date) else Fraction(value)
    return bins.labels()[sum(at >= edge for edge in bins.edges)]


def interval_label(value: Any, ends: Sequence[Any], missing: bool) -> str:
    """The interval of a value in words, from the ends of the intervals."""
    below = [e for e in ends if place(e) < place(value)]
    above = [e for e in ends if place(e) >= place(value)]
    if above and above[0] is None:
        return "missing"
    low = f"above {engine_text(below[-1])}" if below and below[-1] is not None else ""
    high = f"up to {engine_text(above[0])}" if above else ""
    words = " ".join(part for part in (low, high) if part) or "not missing"
    return f"missing or {words}" if missing and not below else words


def engine_text(value: Any) -> str | None:
    return value.isoformat() if isinstance(value, date) else told(value)


# A recipe by hand -------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """What is hidden, and where ordered columns are cut."""

    hidden: Mapping[str, set[str | None]]
    cuts: Mapping[str, list[Any]]

    def cell(self, case: Case, column: str, row: Row) -> str | None:
        value = row[column]
        if column in self.cuts:
            ends = self.cuts[column]
            if not ends:
                return "⊥"
            missing = any(r[column] is None for r in case.rows)
            words = interval_label(value, ends, missing)
            beside = {
                told(r[column])
                for r in case.rows
                if case.size(r) and interval_label(r[column], ends, missing) == words
            }
            # A value alone in its interval is shown as it is.
            return told(value) if beside <= {told(value)} else words
        text = told(value)
        if column in case.bins:
            text = bin_label(value, pv.Bins(case.bins[column]))
        return "⊥" if text in self.hidden.get(column, ()) else text


def ends_of(case: Case, column: str, texts: Sequence[str | None]) -> list[Any]:
    """The values behind the texts an ordered column was cut at."""
    values = {told(r[column]): r[column] for r in case.rows}
    numbers = {told(float(t)) for t in texts if t and case.kind == "double"}
    assert {t for t in texts if case.kind != "double"} <= set(values)
    assert numbers <= set(values)
    return [
        values[told(float(t))] if t and case.kind == "double" else values[t]
        for t in texts
    ]


def state_of(case: Case, release: pv.Release) -> State:
    hidden, cuts = release.hidden, release.intervals
    assert hidden is not None
    assert cuts is not None
    return State(
        {c: set(v) for c, v in hidden.items()},
        {c: ends_of(case, c, v) for c, v in cuts.items()},
    )


def released(case: Case, state: State, columns: Sequence[str]) -> Counter[Cells]:
    """The rows of a release as they must be, with how often."""
    found: Counter[Cells] = Counter()
    for row in case.rows:
        cells = tuple(state.cell(case, c, row) for c in columns)
        found[cells] += case.size(row)
    return +found


def keeps(case: Case, state: State) -> bool:
    """Whether a state keeps every promise, counted row by row."""
    return all(_holds(case, state, promise) for promise in case.promises)


def _holds(case: Case, state: State, promise: pv.Promise) -> bool:
    column = promise.about if isinstance(promise.about, str) else "ill"
    named = promise.about["ill"] if isinstance(promise.about, dict) else "*"
    named = named if isinstance(named, tuple) else (named,)
    values = {r["ill"] for r in case.rows} if "*" in named else set(named)
    return all(
        promise.limit.holds(pv.Belief(0, share))
        for known in _sets(promise, column)
        for share in _shares(case, state, known, values)
    )


def _sets(promise: pv.Promise, column: str) -> list[tuple[str, ...]]:
    linker, quasi = promise.against, ("job", "age", "region", "free")
    assert isinstance(linker, pv.Linker)
    if linker.knows_any is not None:
        return list(combinations(quasi, linker.knows_any))
    return [quasi if linker.knows is None else linker.knows]


def _shares(
    case: Case, state: State, known: Sequence[str], values: set[str | None]
) -> list[Fraction]:
    whole: Counter[Cells] = Counter()
    part: Counter[tuple[Cells, str | None]] = Counter()
    for row in case.rows:
        group = tuple(state.cell(case, c, row) for c in known)
        whole[group] += case.size(row)
        part[group, row["ill"]] += case.size(row)
    return [
        Fraction(n, whole[group])
        for (group, value), n in part.items()
        if value in values and whole[group]
    ]


# Files ------------------------------------------------------------------------------


def parquet_rows(path: Path) -> tuple[list[str], list[Cells]]:
    table = pq.read_table(path)
    rows = zip(*(c.to_pylist() for c in table.columns), strict=True)
    return table.column_names, [tuple(map(told, row)) for row in rows]


def csv_rows(path: Path) -> tuple[list[str], list[Cells]]:
    """A CSV file as its grammar reads; nothing at all is missing, "" is empty text."""
    text = path.read_bytes().decode()
    cell = re.compile(r'("(?:[^"]|"")*"|[^,\n"]*)(,|\n)')
    rows: list[list[str | None]] = [[]]
    at = 0
    while at < len(text):
        found = cell.match(text, at)
        assert found is not None
        raw, end = found.groups()
        quoted = raw[1:-1].replace('""', '"') if raw.startswith('"') else raw
        rows[-1].append(quoted if raw else None)
        at = found.end()
        if end == "\n":
            rows.append([])
    header, *body = rows[:-1]
    return [str(c) for c in header], [tuple(map(_unguarded, r)) for r in body]


def _unguarded(cell: str | None) -> str | None:
    return cell[1:] if cell is not None and cell.startswith("'") else cell
