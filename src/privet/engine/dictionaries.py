"""Dictionary encoding: each value of a column gets a small integer as its code.

NULL has a code of its own, the first: of 7, NULL and 5 the codes are 2, 0 and 1. The
distinct values of columns are gathered in as few scans as fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import overload

import numpy as np
import pyarrow as pa

from privet.engine import arrow, sql, text_types
from privet.engine.duckdb.session import Session, too_little_memory
from privet.engine.protocol import Recoding, Relabel, Run
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.errors import InputError, warn
from privet.languages import say
from privet.values.contingency import Domain
from privet.values.schema import Bins, Column

COLUMNS_AT_ONCE = 32
"""Columns whose values one statement collects; GROUPING_ID takes 63 at the most."""

FIRST_ROWS = 100_000
"""Rows whose values may be all that a long table has."""


# Distinct values --------------------------------------------------------------------


class DistinctValues:
    """Tables of the values of each column: pv_values_0, pv_values_1, …"""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._collected: set[int] = set()
        self.sizes: dict[int, int] = {}
        """How many different values columns have, where that is known by now."""

    def gather(self, columns: Sequence[int], run: Run) -> None:
        """Gather the values of columns that are not known yet."""
        fresh = [c for c in dict.fromkeys(columns) if c not in self._collected]
        scans = range(0, len(fresh), COLUMNS_AT_ONCE)
        for i, start in enumerate(scans):
            few = fresh[start : start + COLUMNS_AT_ONCE]
            self._collect(few, run, (i + 1, len(scans) + 1))

    def learn(self, c: int, cells: str, run: Run) -> None:
        """Take the values of a column from combinations that were counted."""
        if c in self._collected:
            return
        found = f"SELECT c{c} AS v, CAST(sum(n) AS BIGINT) AS n FROM {cells} GROUP BY v"
        table, step = f"pv_values_{c}", (3, 3)
        self.sizes[c] = self._session.make(found, table, run, "reading values", step)
        if self._session.total is None:
            total = self._session.fetch_one(
                f"SELECT CAST(sum(n) AS BIGINT) FROM {table}"
            )
            self._session.total = int(total or 0)
        self._collected.add(c)

    def _collect(self, columns: Sequence[int], run: Run, step: tuple[int, int]) -> None:
        """Gather the distinct values of columns, in one scan where that fits.

        One grouping set per column, marked g, and one of no column, which has all rows.
        """
        try:
            values = sql.select_values(columns, "pv_people")
            self._session.make(values, "pv_found", run, "reading values", step)
        except DoesNotFit:
            self._collect_less(columns, run, step)
            return
        self._session.total = self._count_found(columns)
        self._keep_found(columns, run, step)

    def _count_found(self, columns: Sequence[int]) -> int:
        whole = sql.mask([], columns)
        count = self._session.ask(f"SELECT n FROM pv_found WHERE g = {whole}")
        return int(count["n"][0].as_py()) if len(count) else 0

    def _keep_found(
        self, columns: Sequence[int], run: Run, step: tuple[int, int]
    ) -> None:
        """A table of the values of each column, from those of all together."""
        for c in columns:
            own = f"SELECT c{c} AS v FROM pv_found WHERE g = {sql.mask([c], columns)}"
            table = f"pv_values_{c}"
            self.sizes[c] = self._session.make(own, table, run, "reading values", step)
        self._session.ask("DROP TABLE pv_found")
        self._collected.update(columns)

    def guess(self, columns: Sequence[int], run: Run) -> Sequence[int] | None:
        """Take the first rows' values for all; which are new, or None: there are more.

        Where a value occurs once in 100,000 rows, others will turn up behind them.
        """
        fresh = [c for c in dict.fromkeys(columns) if c not in self._collected]
        if not fresh:
            return None
        names, step = ", ".join(f"c{c}" for c in fresh), (1, 2)
        few = f"(SELECT {names} FROM pv_people LIMIT {FIRST_ROWS})"
        values = sql.select_values(fresh, few)
        try:
            self._session.make(values, "pv_found", run, "reading values", step)
        except DoesNotFit:
            return None
        rare = self._session.fetch_one("SELECT count(*) FROM pv_found WHERE n = 1")
        if rare or self._count_found(fresh) < FIRST_ROWS:
            self._session.ask("DROP TABLE pv_found")
            return None
        self._keep_found(fresh, run, step)
        return fresh

    def forget(self, columns: Sequence[int]) -> None:
        """Gather the values of some columns again."""
        self._collected.difference_update(columns)
        for c in columns:
            self.sizes.pop(c, None)

    def _collect_less(
        self, columns: Sequence[int], run: Run, step: tuple[int, int]
    ) -> None:
        """The same for half of the columns at a time; a single one in hash parts."""
        half = len(columns) // 2
        if half:
            self._collect(columns[:half], run, step)
            self._collect(columns[half:], run, step)
            return
        for parts in sql.PARTS[1:]:
            try:
                self._collect_parts(columns[0], parts, run, step)
                return
            except DoesNotFit:
                continue
        raise DoesNotFit

    def _collect_parts(
        self, c: int, parts: int, run: Run, step: tuple[int, int]
    ) -> None:
        self._session.ask(
            f"CREATE OR REPLACE TEMP TABLE pv_values_{c} AS "
            f"SELECT c{c} AS v, count(*) AS n FROM pv_people WHERE false GROUP BY c{c}"
        )
        for number in range(parts):
            part = sql.Part(number, parts)
            values = sql.select_values_in_part(c, part, sql.DUCKDB)
            insert = f"INSERT INTO pv_values_{c} {values}"
            self._session.run(insert, run, f"reading values, {part.words}", step)
        total = self._session.fetch_one(
            f"SELECT CAST(sum(n) AS BIGINT) FROM pv_values_{c}"
        )
        self._session.total = int(total or 0)
        self._collected.add(c)


# Codes and labels -------------------------------------------------------------------

LABELS_AT_ONCE = 1_000_000
"""Labels that are fetched together."""

FEW_LABELS = 100_000
"""Up to so many labels are fetched at once and kept, and outlive the session."""


class SourceLabels(Sequence[str | None]):
    """The values of a column as the source wrote them, fetched when first needed."""

    def __init__(
        self, session: Session, table: str, text: str, size: int | None
    ) -> None:
        """Labels by their codes; where nobody counted them they are few."""
        self._session = session
        self._table = table
        self._text = text
        self._counted = size

    @property
    def is_wanted(self) -> bool:
        """Whether these labels are to be kept, and were not fetched yet."""
        few = self._counted is None or self._counted <= FEW_LABELS
        return few and "_all" not in vars(self)

    def select(self, number: int) -> str:
        """A statement for all of them, each with a number of the column."""
        return sql.select_labels(self._table, self._text, f"{number} AS i, ")

    def keep(self, labels: pa.ChunkedArray) -> None:
        """Have what was fetched together with others."""
        self._all = labels

    @cached_property
    def _size(self) -> int:
        return len(self._all) if self._counted is None else self._counted

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str | None]:
        for start in range(0, self._size, LABELS_AT_ONCE):
            yield from self[start : start + LABELS_AT_ONCE]

    @overload
    def __getitem__(self, code: int) -> str | None: ...
    @overload
    def __getitem__(self, code: slice) -> Sequence[str | None]: ...
    def __getitem__(self, code: int | slice) -> str | Sequence[str | None] | None:
        if isinstance(code, slice):
            wanted = range(*code.indices(self._size))
            first = min(wanted, default=0)
            found = self._read_between(first, max(wanted, default=-1) + 1)
            return [found[c - first] for c in wanted]
        if not 0 <= code < self._size:
            raise IndexError(code)
        if self._size <= FEW_LABELS:
            return self._texts[code]
        return self._read_between(code, code + 1)[0]

    def _read_between(self, start: int, stop: int) -> list[str | None]:
        if self._size <= FEW_LABELS:
            return self._texts[start:stop]
        if self._size <= LABELS_AT_ONCE:
            found = self._all.slice(start, stop - start)
        else:
            only = f"WHERE code >= {int(start)} AND code < {int(stop)}"
            found = self._fetch(only)
        texts: list[str | None] = found.to_pylist()
        return texts

    @cached_property
    def _all(self) -> pa.ChunkedArray:
        return self._fetch("")

    @cached_property
    def _texts(self) -> list[str | None]:
        found: list[str | None] = self._all.to_pylist()
        return found

    def _fetch(self, only: str) -> pa.ChunkedArray:
        statement = sql.select_labels(self._table, self._text, only=only)
        return self._session.ask(f"{statement} ORDER BY code")["label"]


def fetch_few_labels(session: Session, columns: Sequence[SourceLabels]) -> None:
    """Fetch what is to be kept of several columns by one statement for many."""
    wanted = [labels for labels in columns if labels.is_wanted]
    for start in range(0, len(wanted), COLUMNS_AT_ONCE):
        few = wanted[start : start + COLUMNS_AT_ONCE]
        all_ = " UNION ALL ".join(labels.select(i) for i, labels in enumerate(few))
        found = session.ask(f"{all_} ORDER BY i, code")
        ends = np.searchsorted(arrow.numbers(found["i"]), range(len(few) + 1))
        for labels, first, end in zip(few, ends[:-1], ends[1:], strict=True):
            labels.keep(found["label"].slice(first, end - first))


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
        source: Source,
        values: DistinctValues | None = None,
    ) -> None:
        self._session = session
        self._columns = columns
        self._source = source
        self._values = values or DistinctValues(session)
        self._made: dict[tuple[int, Recoding | None], Dictionary] = {}
        self._guessed: Sequence[int] = ()
        self._lock = Lock()

    def code_columns(
        self, columns: Sequence[int], recodings: Mapping[str, Recoding], run: Run
    ) -> dict[int, Dictionary]:
        """The dictionaries of some columns; one scan gathers what is new."""
        wanted = {c: recodings.get(self._columns[c].name) for c in columns}
        with self._lock:
            try:
                return self._make_dictionaries(wanted, run)
            except DoesNotFit:
                pass
        raise too_little_memory()

    def are_made(self, columns: Sequence[int]) -> bool:
        """Whether columns as they are have dictionaries by now, of few labels."""
        made = [self._made.get((c, None)) for c in columns]
        return all(d is not None and len(d.domain) <= FEW_LABELS for d in made)

    def guess_columns(
        self, columns: Sequence[int], recodings: Mapping[str, Recoding], run: Run
    ) -> dict[int, Dictionary] | None:
        """Dictionaries of what the first rows hold; None where there is more.

        Whoever codes all rows by them knows whether they were right.
        """
        wanted = {c: recodings.get(self._columns[c].name) for c in columns}
        with self._lock:
            guessed = self._values.guess(columns, run)
            if guessed is None:
                return None
            self._guessed = guessed
            try:
                return self._make_dictionaries(wanted, run)
            except (DoesNotFit, InputError):  # what is wrong comes up again
                pass
        self.forget_guessed()
        return None

    def forget_guessed(self) -> None:
        """Make the dictionaries anew: there were other values behind the first rows."""
        with self._lock:
            self._values.forget(self._guessed)
            self._made = {
                key: made
                for key, made in self._made.items()
                if key[0] not in self._guessed
            }
            self._guessed = ()

    def find_kind(self, c: int, run: Run) -> str:
        """The kind of a column, found from its values."""
        with self._lock:
            self._values.gather([c], run)
            return self._recognise_kind(c)[0]

    # Codes --------------------------------------------------------------------------

    def _make_dictionaries(
        self, wanted: Mapping[int, Recoding | None], run: Run
    ) -> dict[int, Dictionary]:
        self._values.gather(list(wanted), run)
        made = {c: self._make_dictionary(c, how, run) for c, how in wanted.items()}
        labels = [d.domain.labels for d in self._made.values()]
        own = [few for few in labels if isinstance(few, SourceLabels)]
        fetch_few_labels(self._session, own)
        return made

    def _make_dictionary(self, c: int, how: Recoding | None, run: Run) -> Dictionary:
        if (c, how) not in self._made:
            if isinstance(how, Relabel):
                made = self._relabel(c, how, run)
            else:
                made = self._make_plain(c, how, run)
            self._made[c, how] = made
        return self._made[c, how]

    def _make_plain(self, c: int, cut: Bins | None, run: Run) -> Dictionary:
        table = f"pv_dictionary_{c}_{len(self._made)}"
        kind, text = self._recognise_kind(c)
        codes = (
            self._code_values(c, kind, text)
            if cut is None
            else self._code_bins(c, cut, kind)
        )
        self._session.make(codes, table, run, "coding values", (1, 1))
        domain = self._make_domain(c, cut, kind, table, text)
        if cut is not None or c not in self._values.sizes:
            self._narrow(table, len(domain))
        return Dictionary(table, domain)

    def _relabel(self, c: int, how: Relabel, run: Run) -> Dictionary:
        """The same values with other labels; those that look alike become one."""
        base = self._make_dictionary(c, how.base, run)
        if len(how.texts) != len(base.domain):
            raise InputError(
                f"Column {base.domain.name!r} must have {len(how.texts)} values to be "
                f"relabelled; it has {len(base.domain)}."
            )
        # Codes 0 1 2 shown as x y x: the texts x y, and the new codes 0 1 0.
        texts = list(dict.fromkeys(how.texts))
        code = {text: i for i, text in enumerate(texts)}
        table = f"pv_dictionary_{c}_{len(self._made)}"
        narrow = np.min_scalar_type(max(len(texts) - 1, 0))
        new = arrow.integers(np.array([code[t] for t in how.texts], narrow))
        old = arrow.integers(np.arange(len(how.texts), dtype=np.uint32))
        self._session.register(f"{table}_new", arrow.frame(old=old, new=new))
        self._session.make(
            sql.recoded(base.table, f"{table}_new"), table, run, "coding values", (1, 1)
        )
        self._session.unregister(f"{table}_new")
        return Dictionary(table, Domain(base.domain.name, texts))

    def _recognise_kind(self, c: int) -> tuple[str, str]:
        """The kind of a column, and its values `v` as they are shown.

        The kind of texts is what all of them allow. JSON texts lose their quotes,
        unless there are numbers beside them.
        """
        kind, json = self._columns[c].kind, self._source.json
        if not self._source.is_text(c):
            # 0.0 and -0.0 are equal, so one value: it is shown without a sign.
            zero = "CASE WHEN v = 0 THEN CAST(abs(v) AS VARCHAR) ELSE {} END"
            text = text_types.text_of("v", textual=False, json=False)
            return kind, zero.format(text) if kind == "number" else text
        asked = ", ".join(["count(v)", *text_types.count_fitting("v", json=json)])
        row = self._session.ask(f"SELECT {asked} FROM pv_values_{c}").to_pylist()[0]
        texts, quoted, *fits = row.values()
        text = text_types.text_of("v", textual=True, json=json and quoted == texts)
        known = (
            text_types.recognise_kind(texts, quoted, *fits) if kind == "text" else kind
        )
        return known, text

    def _code_values(self, c: int, kind: str, text: str) -> str:
        size = self._values.sizes.get(c)
        if not self._source.is_text(c):
            return sql.code_values(f"pv_values_{c}", ["v"], size)
        ordered = text_types.order_values(f"pv_values_{c}", text, kind)
        by = text_types.list_order_columns(kind)
        return sql.code_values(f"({ordered})", by, size)

    def _code_bins(self, c: int, cut: Bins, kind: str) -> str:
        rule = "dates" if cut.are_dates else "numbers"
        fits = ("date", "datetime") if cut.are_dates else ("integer", "number")
        text = "v"
        if kind not in fits and self._session.fetch_one(
            f"SELECT count(v) FROM pv_values_{c}"
        ):
            raise InputError(
                f"Column {self._columns[c].name!r} must hold {rule} to be binned by "
                f"{rule}; it holds values of kind {kind}. "
                f"Convert it to {rule} first, or leave it out of the bins."
            )
        if self._source.json or not cut.are_dates:
            textual, json = self._source.is_text(c), self._source.json
            text = text_types.text_of("v", textual=textual, json=json)
        return text_types.bin_values(f"pv_values_{c}", text, cut)

    def _make_domain(
        self, c: int, cut: Bins | None, kind: str, table: str, text: str
    ) -> Domain:
        name = self._columns[c].name
        if cut is not None:
            return Domain(name, (None, *cut.labels()), "text")
        size = None
        if self._values.sizes.get(c, FEW_LABELS + 1) > FEW_LABELS:
            size = self._session.fetch_one(f"SELECT count(DISTINCT code) FROM {table}")
        if self._is_pandas_float(c):
            self._warn_of_floats(name, table)
        return Domain(name, SourceLabels(self._session, table, text, size), kind)

    def _is_pandas_float(self, c: int) -> bool:
        """Whether pandas may have made floats of integers."""
        types = getattr(self._source.frame, "dtypes", None)
        return types is not None and str(types.iloc[c]) == "float64"

    def _warn_of_floats(self, name: str, table: str) -> None:
        """A pandas column of integers turns into floats once a value is missing."""
        whole = self._session.fetch_one(
            "SELECT count(*) > count(v) AND count(v) > 0 AND "
            f"coalesce(bool_and(v = trunc(v)), false) FROM {table}"
        )
        if whole:
            warn(
                say(
                    "Column {column} holds whole numbers as floats, since a "
                    "pandas column of integers has no missing values: 39 "
                    "shows as 39.0. Convert the column to 'Int64' first.",
                    column=repr(name),
                )
            )

    def _narrow(self, table: str, size: int) -> None:
        """Codes in as few bytes as hold them, where that was not known before."""
        width = sql.code_type(size)
        if width != "UINTEGER":
            self._session.ask(f"ALTER TABLE {table} ALTER code TYPE {width}")
