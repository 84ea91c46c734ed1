"""Dictionaries: each value of a column gets a small integer, NULL one of its own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import pyarrow as pa

from privet.counts import Domain
from privet.engines import sql
from privet.engines.base import Recoding, Relabel, Run
from privet.engines.failures import DoesNotFit
from privet.engines.session import Session, too_little_memory
from privet.errors import InputError, PrivacyWarning
from privet.roles import Bins, Column

COLUMNS_AT_ONCE = 32
"""Columns whose values one statement collects; GROUPING_ID takes 63 at the most."""

LABELS_AT_ONCE = 1_000_000
"""Labels that are fetched together; those of larger domains are asked for singly."""


class Labels(Sequence[str | None]):
    """The values of a column as the source wrote them, fetched when first needed."""

    def __init__(self, session: Session, table: str, size: int) -> None:
        self._session = session
        self._table = table
        self._size = size
        if size <= LABELS_AT_ONCE // 10:  # few: they outlive the session
            _ = self._all

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, code: int) -> str | None: ...
    @overload
    def __getitem__(self, code: slice) -> Sequence[str | None]: ...
    def __getitem__(self, code: int | slice) -> str | Sequence[str | None] | None:
        if isinstance(code, slice):
            return [self[c] for c in range(*code.indices(len(self)))]
        if not 0 <= code < self._size:
            raise IndexError(code)
        if self._size <= LABELS_AT_ONCE:
            label: str | None = self._all[code].as_py()
            return label
        only = sql.labels(self._table, sql.DUCKDB, f"WHERE code = {int(code)}")
        found: str | None = self._session.ask(only)["label"][0].as_py()
        return found

    @cached_property
    def _all(self) -> pa.ChunkedArray:
        return self._session.ask(sql.labels(self._table, sql.DUCKDB))["label"]


@dataclass(frozen=True)
class Dictionary:
    """A column whose values are coded."""

    table: str
    """The engine's table of values and codes."""
    domain: Domain
    """The values, each at its code."""


class Dictionaries:
    """The dictionaries of one source, made when first needed and kept."""

    def __init__(
        self,
        session: Session,
        columns: tuple[Column, ...],
        *,
        textual: bool,
        pandas: bool,
    ) -> None:
        self._session = session
        self._columns = columns
        self._textual = textual
        self._pandas = pandas
        self._collected: set[int] = set()
        self._made: dict[tuple[int, Recoding | None], Dictionary] = {}

    def of(
        self, columns: Sequence[int], recodings: Mapping[str, Recoding], run: Run
    ) -> dict[int, Dictionary]:
        """The dictionaries of some columns; one scan gathers what is new."""
        try:
            fresh = [c for c in dict.fromkeys(columns) if c not in self._collected]
            for i in range(0, len(fresh), COLUMNS_AT_ONCE):
                self._collect(fresh[i : i + COLUMNS_AT_ONCE], run)
            wanted = {c: recodings.get(self._columns[c].name) for c in columns}
            return {c: self._dictionary(c, how, run) for c, how in wanted.items()}
        except DoesNotFit:
            raise too_little_memory() from None

    def _collect(self, columns: Sequence[int], run: Run) -> None:
        """Gather the distinct values of columns, in one scan where that fits."""
        try:
            self._make(sql.values_of(columns, "people"), "found", run, "reading values")
        except DoesNotFit:
            self._collect_singly(columns, run)
            return
        for c in columns:
            own = f"SELECT c{c} AS v FROM found WHERE g = {sql.mask([c], columns)}"
            self._make(own, f"values_{c}", run, "reading values")
        whole = sql.mask([], columns)
        count = self._session.ask(f"SELECT n FROM found WHERE g = {whole}")
        self._session.total = int(count["n"][0].as_py()) if len(count) else 0
        self._session.ask("DROP TABLE found")
        self._collected.update(columns)

    def _collect_singly(self, columns: Sequence[int], run: Run) -> None:
        for c in columns:
            own = f"SELECT DISTINCT c{c} AS v FROM people"
            self._make(own, f"values_{c}", run, "reading values")
            self._collected.add(c)

    def _make(self, select: str, table: str, run: Run, doing: str) -> None:
        def work() -> None:
            self._session.con.execute(
                f"CREATE OR REPLACE TEMP TABLE {table} AS {select}"
            )

        self._session.watched(work, run, doing)

    def _dictionary(self, c: int, how: Recoding | None, run: Run) -> Dictionary:
        if (c, how) not in self._made:
            if isinstance(how, Relabel):
                made = self._relabelled(c, how, run)
            else:
                made = self._plain(c, how, run)
            self._narrow(made.table, len(made.domain))
            self._made[c, how] = made
        return self._made[c, how]

    def _plain(self, c: int, cut: Bins | None, run: Run) -> Dictionary:
        table, kind = f"dictionary_{c}_{len(self._made)}", self._kind(c)
        self._make(self._codes(c, cut, kind), table, run, "coding values")
        return Dictionary(table, self._domain(c, cut, kind, table))

    def _relabelled(self, c: int, how: Relabel, run: Run) -> Dictionary:
        """The same values with other labels; those that look alike become one."""
        base = self._dictionary(c, how.base, run)
        if len(how.texts) != len(base.domain):
            raise InputError(
                f"Column {base.domain.name!r} must have {len(how.texts)} values to be "
                f"relabelled; it has {len(base.domain)}."
            )
        texts = list(dict.fromkeys(how.texts))
        code = {text: i for i, text in enumerate(texts)}
        table = f"dictionary_{c}_{len(self._made)}"
        new = pa.array([code[t] for t in how.texts], pa.uint32())
        old = pa.array(range(len(how.texts)), pa.uint32())
        self._session.register(f"{table}_new", pa.table({"old": old, "new": new}))
        self._make(sql.recoded(base.table, f"{table}_new"), table, run, "coding values")
        self._session.unregister(f"{table}_new")
        return Dictionary(table, Domain(base.domain.name, texts))

    def _kind(self, c: int) -> str:
        """The kind of a column; for texts, what all of its values allow."""
        if not self._textual:
            return self._columns[c].kind
        row = self._session.ask(sql.recognise(f"values_{c}")).to_pylist()[0]
        texts, *fits = row.values()
        return sql.recognised(texts, fits)

    def _codes(self, c: int, cut: Bins | None, kind: str) -> str:
        if cut is not None:
            return self._bins(c, cut, kind)
        key = sql.TEXT_KEYS[kind] if self._textual else ("v",)
        return sql.dictionary(f"values_{c}", key)

    def _bins(self, c: int, cut: Bins, kind: str) -> str:
        rule = "dates" if cut.are_dates else "numbers"
        fits = ("date", "datetime") if cut.are_dates else ("integer", "number")
        if kind not in fits:
            raise InputError(
                f"Column {self._columns[c].name!r} must hold {rule} to be binned by "
                f"{rule}; it holds values of kind {kind}."
            )
        cast = "DATE" if cut.are_dates else "DOUBLE"
        value = f"TRY_CAST(v AS {cast})"
        if not cut.are_dates:  # not a number is no number: treat it as missing
            value = f"CASE WHEN NOT isnan({value}) THEN {value} END"
        edges = [f"CAST({sql.literal(e)} AS {cast})" for e in _plain(cut)]
        return sql.binned(f"values_{c}", value, edges)

    def _domain(self, c: int, cut: Bins | None, kind: str, table: str) -> Domain:
        name = self._columns[c].name
        if cut is not None:
            return Domain(name, (None, *cut.labels()), "text")
        size = self._session.one(f"SELECT count(DISTINCT code) FROM {table}")
        domain = Domain(name, Labels(self._session, table, size), kind)
        if self._pandas and kind == "number" and 1 < size <= LABELS_AT_ONCE:
            _warn_of_floats(domain)
        return domain

    def _narrow(self, table: str, size: int) -> None:
        width = "UTINYINT" if size <= 2**8 else "USMALLINT" if size <= 2**16 else ""
        if width:
            self._session.ask(f"ALTER TABLE {table} ALTER code TYPE {width}")


def _plain(cut: Bins) -> list[str]:
    """The edges as DuckDB reads them."""
    return [str(e) if cut.are_dates else repr(float(e)) for e in cut.edges]  # type: ignore[arg-type]


def _warn_of_floats(domain: Domain) -> None:
    """A pandas column of integers turns into floats once a value is missing."""
    first, *rest = domain.labels
    if first is None and all((t or "").endswith(".0") for t in rest):
        warnings.warn(
            f"Column {domain.name!r} holds whole numbers as floats, since a pandas "
            "column of integers has no missing values: 39 shows as 39.0. Convert the "
            "column to 'Int64' first.",
            PrivacyWarning,
            stacklevel=2,
        )
