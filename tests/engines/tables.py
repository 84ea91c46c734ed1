"""One table, written as every kind of source that `read` accepts."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.servers import POSTGRES_TYPES, postgres, postgres_table, spark_frame
from privet.engine.protocol import CountQuery

Cells = dict[tuple[str | None, ...], int]

TYPES = {
    "text": pa.string(),
    "integer": pa.int64(),
    "big": pa.decimal128(38, 0),
    "float": pa.float64(),
    "decimal": pa.decimal128(15, 2),
    "date": pa.date32(),
    "moment": pa.timestamp("us"),
    "truth": pa.bool_(),
}
"""What the kinds of columns are in Arrow."""

READ: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integer": int,
    "big": int,
    "float": float,
    "decimal": Decimal,
    "date": date.fromisoformat,
    "moment": datetime.fromisoformat,
    "truth": lambda text: {"true": True, "false": False}[text.lower()],
}
"""How the label of a value is read back."""


@dataclass(frozen=True)
class People:
    """Rows of Python values, with the kind of each column."""

    kinds: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    @property
    def names(self) -> list[str]:
        return [f"{kind} {i}" for i, kind in enumerate(self.kinds)]

    def column(self, i: int) -> list[Any]:
        return [row[i] for row in self.rows]

    def arrow(self) -> pa.Table:
        columns = [pa.array(self.column(i), TYPES[k]) for i, k in enumerate(self.kinds)]
        return pa.table(columns, names=self.names)

    def counted(self) -> Counter[tuple[Any, ...]]:
        """How often each row occurs, by looking."""
        return Counter(tuple(map(same, row)) for row in self.rows)


def same(value: Any) -> Any:
    """Values that are one to an engine, as one."""
    if isinstance(value, float):
        return "nan" if isnan(value) else value + 0.0
    return value


# Sources ----------------------------------------------------------------------------


def as_text(value: Any) -> str:
    """A cell of a text file: texts in quotes, nothing for what is missing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(value)


def write_csv(people: People, path: Path, delimiter: str = ",") -> Path:
    lines = [people.names, *people.rows]
    text = "\n".join(delimiter.join(map(as_text, line)) for line in lines) + "\n"
    path.write_bytes(text.encode())
    return path


def write_json(people: People, path: Path) -> Path:
    def plain(value: Any) -> Any:
        if isinstance(value, Decimal):
            return float(value)
        return value.isoformat() if isinstance(value, date) else value

    lines = [
        json.dumps(dict(zip(people.names, map(plain, row), strict=True)))
        for row in people.rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_parquet(people: People, path: Path) -> Path:
    pq.write_table(people.arrow(), path)
    return path


def write_database(people: People, path: Path) -> Path:
    with duckdb.connect(str(path)) as con:
        con.register("frame", people.arrow())
        con.execute("CREATE TABLE people AS SELECT * FROM frame")
    return path


def objects(people: People) -> pd.DataFrame:
    """A frame of Python objects."""
    columns = {
        name: pd.Series(people.column(i), dtype=object)
        for i, name in enumerate(people.names)
    }
    return pd.DataFrame(columns)


@contextmanager
def relation(people: People, path: str = ":memory:") -> Iterator[Any]:
    with duckdb.connect(path) as con:
        con.register("frame", people.arrow())
        yield con.sql("SELECT * FROM frame")


@contextmanager
def opened(people: People, kind: str, folder: Path, **options: Any) -> Iterator[Any]:
    """The table as one kind of source."""
    with source(people, kind, folder) as (found, more):
        with pv.read(found, **more, **options) as table:
            yield table


@contextmanager
def source(
    people: People, kind: str, folder: Path
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A source, and how it is read."""
    if kind == "spark":
        yield spark_frame(people.arrow()), {}
    elif kind == "postgres":
        types = [POSTGRES_TYPES[k] for k in people.kinds]
        with postgres_table(people.arrow(), types) as name:
            yield postgres(), {"table": name}
    elif kind == "relation":
        with relation(people) as found:
            yield found, {}
    elif kind == "database":
        path = folder / "people.duckdb"
        path.unlink(missing_ok=True)
        yield write_database(people, path), {"table": "people"}
    elif kind in FILES:
        ending, write = FILES[kind]
        yield write(people, folder / f"people{ending}"), {}
    else:
        yield FRAMES[kind](people), {}


FILES: dict[str, tuple[str, Callable[[People, Path], Path]]] = {
    "csv": (".csv", write_csv),
    "tsv": (".tsv", lambda people, path: write_csv(people, path, "\t")),
    "json lines": (".jsonl", write_json),
    "parquet": (".parquet", write_parquet),
}

FRAMES: dict[str, Callable[[People], Any]] = {
    "arrow": People.arrow,
    "batch": lambda people: people.arrow().combine_chunks().to_batches()[0],
    "reader": lambda people: people.arrow().to_reader(),
    "dataset": lambda people: ds.dataset(people.arrow()),
    "polars": lambda people: pl.from_arrow(people.arrow()),
    "pandas, arrow": lambda people: people.arrow().to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "pandas, objects": objects,
}

KINDS = (*FILES, *FRAMES, "relation", "database")
"""All kinds of sources."""

PLACES = (
    pytest.param("spark", marks=pytest.mark.spark),
    pytest.param("postgres", marks=pytest.mark.postgres),
)
"""Where rows stay; tested in runs of their own."""

EVERYWHERE = (*KINDS, *PLACES)
"""All kinds of sources, and all places."""

TYPED = tuple(k for k in KINDS if k not in ("csv", "tsv", "json lines"))
"""Those that say themselves what type a value has."""


# Counts -----------------------------------------------------------------------------


def cells(table: pv.Table, by: Sequence[str], about: str) -> Cells:
    """What the engine counts, every cell with its labels; none may come twice."""
    found: Cells = {}
    for _, batch in table.count([CountQuery(tuple(by), about)]):
        names = [d.name for d in batch.by]
        order = [names.index(c) for c in by]
        for g in range(len(batch)):
            labels = batch.labels(g)
            known = tuple(labels[i] for i in order)
            for value, n in batch.histogram(g).items():
                assert (*known, value) not in found
                found[*known, value] = n
    return found


def totals(table: pv.Table, by: Sequence[str], about: str) -> Cells:
    """The size of each group."""
    found: Cells = {}
    for _, batch in table.count([CountQuery(tuple(by), about)]):
        for g in range(len(batch)):
            assert batch.labels(g) not in found
            found[batch.labels(g)] = int(batch.total[g])
    return found


def values(counted: Cells, kinds: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """Cells by the values their labels stand for."""
    found: dict[tuple[Any, ...], int] = {}
    for labels, n in counted.items():
        key = tuple(
            None if text is None else same(READ[kind](text))
            for text, kind in zip(labels, kinds, strict=True)
        )
        assert key not in found, "two labels of one value"
        found[key] = n
    return found


def csv_lines(rows: Sequence[Sequence[Any]], **options: Any) -> str:
    """Lines as Python writes them."""
    from io import StringIO

    out = StringIO()
    csv.writer(out, lineterminator="\n", **options).writerows(rows)
    return out.getvalue()
