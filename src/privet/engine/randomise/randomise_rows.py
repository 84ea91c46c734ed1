"""Randomized response on rows: read in batches, drawn anew and written.

They are never all in memory. Reports are counted here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from privet.engine import sql, text_types
from privet.engine.duckdb.session import ROWS_AT_ONCE, Session
from privet.engine.export.row_writer import guard_name, open_file
from privet.engine.protocol import CountQuery, CountRequest, Engine, Run
from privet.engine.randomise.exact_sampling import Codes, Disguise, RandomBits
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.errors import InputError

Cells = list[tuple[tuple[str | None, ...], int]]
"""Combinations of values as texts, each with how many rows have it."""

MOST_CELLS = 2_000_000
"""Combinations that are counted without a dictionary."""

NO_CODES: Codes = np.zeros(0, np.int64)

MARK = b"privet.disguised"
"""Under this key a Parquet file says that its rows are disguised."""


@dataclass(frozen=True)
class RandomisedColumns:
    """Columns that are disguised by one draw."""

    columns: tuple[str, ...]
    """Which."""
    disguise: Disguise
    """How."""
    always: bool = False
    """Whether every row reports them, also where one group is drawn for each."""


@dataclass(frozen=True)
class Randomisation:
    """Rows to be disguised and written."""

    path: str
    """The file; it must not exist yet."""
    format: str
    """`csv`, `parquet`, `xlsx`, `sav` or `dta`."""
    columns: tuple[str, ...]
    """Which columns, in this order."""
    labels: Mapping[str, tuple[str, ...]]
    """The values of each column, in the order of the design."""
    codes: Mapping[str, Codes]
    """For each code of the engine, the place of its value in `labels`."""
    groups: tuple[RandomisedColumns, ...]
    """What is disguised with what."""
    one_of: bool = False
    """Whether each row reports one group only, drawn at random."""
    bits: RandomBits | None = None
    """Where randomness comes from; None: the operating system."""


class DisguiseBatches:
    """What is done to batches of codes; it goes to where the rows are."""

    def __init__(self, drawing: Randomisation, position: Callable[[str], int]) -> None:
        self._drawing = drawing
        self._at = {c: position(c) for c in drawing.columns}
        self._values = [make_cells(drawing.labels[c], drawing.format) for c in self._at]

    @property
    def bits(self) -> RandomBits | None:
        """Where randomness comes from; None: the operating system."""
        return self._drawing.bits

    @property
    def scratch(self) -> Path:
        """A folder beside the file, where rows may wait until they are written."""
        path = Path(self._drawing.path)
        return path.with_name(f".{path.name}.rows")

    @property
    def columns(self) -> list[int]:
        """The columns that are read, by their position."""
        return sorted(self._at.values())

    def draw(self, batch: pa.RecordBatch, bits: RandomBits) -> pa.RecordBatch:
        """The codes that are reported; -1 where nothing is."""
        drawing = self._drawing
        true = {
            c: drawing.codes[c][batch[f"k{i}"].to_numpy()] for c, i in self._at.items()
        }
        for c, codes in true.items():
            if len(codes) and codes.min() < 0:
                raise InputError(
                    f"Column {c!r} must not have missing values, unless the design "
                    "says with missing what they count as."
                )
        found = disguise_rows(true, drawing.groups, bits, one_of=drawing.one_of)
        reports = [pa.array(found[c]) for c in drawing.columns]
        return pa.record_batch(reports, names=self.names)

    @property
    def names(self) -> list[str]:
        """What the columns of reports are called until they are shown."""
        return [f"r{i}" for i in range(len(self._drawing.columns))]

    def show(self, reports: pa.RecordBatch) -> pa.RecordBatch:
        """Reports as they are written."""
        columns = [
            _decode_column(values, codes.to_numpy())
            for values, codes in zip(self._values, reports.columns, strict=True)
        ]
        return pa.record_batch(columns, schema=self.schema())

    def schema(self) -> pa.Schema:
        """The columns of the file."""
        fields = [
            pa.field(
                guard_name(c, self._drawing.format), _decode_column(v, NO_CODES).type
            )
            for c, v in zip(self._drawing.columns, self._values, strict=True)
        ]
        return pa.schema(fields, metadata={MARK: b"1"})

    def write(self, reports: Iterable[pa.RecordBatch]) -> int:
        """Write the file; how many rows it has."""
        rows = 0
        path, format_ = self._drawing.path, self._drawing.format
        with open_file(path, format_, self.schema()) as file:
            for batch in reports:
                file.write_batch(self.show(batch))
                rows += len(batch)
        return rows


class RowRandomiser:
    """Disguises the people of one source."""

    def __init__(
        self, session: Session, change: DisguiseBatches, bits: RandomBits | None
    ) -> None:
        self._session = session
        self._change = change
        self._bits = bits or RandomBits()

    def write(self, statement: str, run: Run) -> int:
        """Write reports instead of the codes selected; how many rows the file has."""
        work = partial(self._stream, statement)
        return self._session.run_watched(work, run, "disguising", (1, 1))

    def _stream(self, statement: str) -> int:
        reader = self._session.con.sql(statement).to_arrow_reader(ROWS_AT_ONCE)
        try:
            drawn = (self._change.draw(batch, self._bits) for batch in reader)
            return self._change.write(drawn)
        finally:
            reader.close()


def disguise_rows(
    true: Mapping[str, Codes],
    groups: Sequence[RandomisedColumns],
    bits: RandomBits,
    *,
    one_of: bool,
) -> dict[str, Codes]:
    """The reports of some rows, by column; -1 where a row does not report it."""
    found: dict[str, Codes] = {}
    if one_of:
        return _disguise_one_group(true, groups, bits)
    for group in groups:
        reports = group.disguise([true[c] for c in group.columns], bits)
        found |= dict(zip(group.columns, reports, strict=True))
    return found


def _disguise_one_group(
    true: Mapping[str, Codes], groups: Sequence[RandomisedColumns], bits: RandomBits
) -> dict[str, Codes]:
    rows = len(next(iter(true.values())))
    found = {c: np.full(rows, -1, dtype=np.int64) for c in true}
    drawn = [g for g in groups if not g.always]
    # (rows,): the group that each row reports; the others stay -1.
    asked = bits.draw_below(len(drawn), rows) if drawn else np.zeros(rows, np.int64)
    for group in groups:
        at = np.arange(rows)
        if not group.always:
            at = np.flatnonzero(asked == drawn.index(group))
        reports = group.disguise([true[c][at] for c in group.columns], bits)
        for c, codes in zip(group.columns, reports, strict=True):
            found[c][at] = codes
    return found


# Writing ----------------------------------------------------------------------------


def make_cells(labels: Sequence[str], format_: str) -> pa.Array:
    """The values of a column as they are written: whole numbers as such."""
    if format_ == "csv":
        return pa.array([_guard_label(v) for v in labels], pa.string())
    if all(_is_whole(v) for v in labels):
        return pa.array([int(v) for v in labels], pa.int64())
    return pa.array(labels, pa.string())


def _is_whole(label: str) -> bool:
    try:
        number = int(label)
    except ValueError:
        return False
    return str(number) == label and abs(number) < 2**63


def _guard_label(label: str) -> str:
    """A text that a spreadsheet does not take for a formula; numbers stay."""
    if not label.startswith(tuple(sql.FORMULA)):
        return label
    try:
        float(label)
    except ValueError:
        return f"'{label}"
    return label if label.lower().lstrip("+-")[:1].isdigit() else f"'{label}"


def _decode_column(values: pa.Array, codes: Codes) -> pa.Array:
    # As an index -1 would be the last value; the mask hides it.
    missing = codes < 0
    mask = missing if missing.any() else None
    if pa.types.is_integer(values.type):
        return pa.array(values.to_numpy()[codes], mask=mask)
    width = np.int8 if len(values) < 2**7 else np.int32
    index = pa.array(codes.astype(width), mask=mask)
    return pa.DictionaryArray.from_arrays(index, values)


# Counting reports -------------------------------------------------------------------


def count_cells(
    engine: Engine, sets: Sequence[Sequence[str]], run: Run
) -> Iterator[Cells]:
    """The same for any engine, by its own counting."""
    tallies = [CountQuery(tuple(columns[:-1]), columns[-1]) for columns in sets]
    found: dict[CountQuery, Cells] = {t: [] for t in tallies}
    for tally, part in engine.count(CountRequest(list(found)), run):
        order = [*(d.name for d in part.by), part.about.name]
        for g in range(len(part)):
            for value, n in part.histogram(g).items():
                cell = dict(zip(order, (*part.labels(g), value), strict=True))
                names = (*tally.by, tally.about)
                found[tally].append((tuple(cell[c] for c in names), n))
    yield from (found[t] for t in tallies)


def tabulate_cells(
    session: Session, sets: Sequence[Sequence[int]], source: Source, run: Run
) -> Iterator[Cells]:
    """Rows per combination of values, for each set of columns.

    Values need no dictionary here: there are few, since a design declares them. What
    is stored by column is read set by set, each column once; a text file at one go.
    """
    apart = len(sets) == 1 or (source.frame is None and not source.textual)
    statement = (_count_one_by_one if apart else _count_at_one_go)(sets, source)
    work = partial(session.fetch, statement, most=MOST_CELLS)
    try:
        found = session.run_watched(work, run, "counting", (1, 1)).to_pydict()
    except DoesNotFit:
        raise InputError(
            "Reports must have values that a design declares; these columns have more "
            f"than {MOST_CELLS:,} combinations of values. Is this the right file?"
        ) from None
    used = sorted({c for s in sets for c in s})
    for i, columns in enumerate(sets):
        mark = i if apart else sql.mask(columns, used)
        at = [k for k, g in enumerate(found["g"]) if g == mark]
        yield [
            (tuple(found[f"t{c}"][k] for c in columns), int(found["n"][k])) for k in at
        ]


def _select_text(column: int, source: Source) -> str:
    textual = source.is_text(column)
    return text_types.text_of(f"c{column}", textual=textual, json=source.json)


def _count_one_by_one(sets: Sequence[Sequence[int]], source: Source) -> str:
    used = sorted({c for s in sets for c in s})
    parts = []
    for i, columns in enumerate(sets):
        cells = {c: _select_text(c, source) for c in columns}
        texts = ", ".join(
            f"{cells.get(c, 'CAST(NULL AS VARCHAR)')} AS t{c}" for c in used
        )
        named = ", ".join(f"c{c}" for c in dict.fromkeys(columns))
        parts.append(
            f"SELECT {i} AS g, n, {texts} FROM "
            f"(SELECT {named}, count(*) AS n FROM pv_people GROUP BY {named})"
        )
    return " UNION ALL ".join(parts)


def _count_at_one_go(sets: Sequence[Sequence[int]], source: Source) -> str:
    used = sorted({c for s in sets for c in s})
    texts = ", ".join(f"{_select_text(c, source)} AS t{c}" for c in used)
    named = ", ".join(f"c{c}" for c in used)
    each = dict.fromkeys(tuple(sorted(set(s))) for s in sets)  # twice counts twice
    wanted = ", ".join("(" + ", ".join(f"c{c}" for c in s) + ")" for s in each)
    return (
        f"SELECT g, n, {texts} FROM (SELECT {named}, GROUPING_ID({named}) AS g, "
        f"count(*) AS n FROM pv_people GROUP BY GROUPING SETS ({wanted}))"
    )
