"""Spark counts: any DataFrame of a session the user hands over, or files it reads.

Of files, those that everybody sees, and those that only a cluster reaches.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import attrs
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from privet.engine.protocol import Run
from privet.engine.randomise.exact_sampling import RandomBits
from privet.engine.randomise.randomise_rows import DisguiseBatches
from privet.engine.remote.connection import Connection, RemoteColumn
from privet.engine.remote.partitioned_counts import PartitionedCounts
from privet.engine.remote.spark_files import read_spread
from privet.engine.remote.spark_partitions import SparkPartitionedCounts
from privet.engine.run import DoesNotFit
from privet.engine.sources.find_source import find_root, find_source
from privet.engine.sources.header_line import describe_doubt, weigh_header
from privet.engine.sources.source import Source, TextOptions
from privet.engine.sql import Dialect
from privet.errors import EngineError, InputError, MissingExtra, PrivetError

T = TypeVar("T")

DIALECT = Dialect(
    same="{a} <=> {b}",
    text="STRING",
    big="BIGINT",
    hash="(xxhash64({columns}) & 9223372036854775807)",
    grouping_sets=False,  # it would copy each row once per set
    distinct="approx_count_distinct({column})",
    small="/*+ BROADCAST({tables}) */ ",
    sorts=False,  # it would count twice, to find out where to cut
)
"""How Spark spells what databases spell differently."""

FULL = ("maxResultSize", "OutOfMemory", "Java heap space", "RESOURCE_EXHAUSTED")
"""What Spark says when something does not fit."""

STOPPED = ("cancelled", "canceled", "CANCELED", "interrupted")
"""What Spark says when somebody stopped it."""

OPAQUE = ("map", "variant", "void", "interval", "time")
"""Types that begin like this cannot be compared or sent; they are shown as texts."""

WRITING = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""How Spark must write files so that all columns come back as they were."""


@dataclass(frozen=True)
class DataFrameAddress:
    """A DataFrame, as an address."""

    frame: Any = field(repr=False)
    """The user's."""
    textual: bool = False
    """Whether all of its columns are texts of a file."""

    def open(self, words: str) -> Spark:
        """A place of our own in the session of the frame."""
        return Spark(self.frame, words, textual=self.textual)


class Spark(Connection):
    """The rows of one DataFrame. What we make in its session has names of our own."""

    name = "spark"
    dialect = DIALECT
    failures = (Exception,)

    def __init__(self, frame: Any, words: str, *, textual: bool = False) -> None:
        super().__init__(words)
        self._names: list[str] = list(frame.columns)
        self._textual = textual
        self._spark = frame.sparkSession
        self._token = secrets.token_hex(4)
        self._made: set[str] = set()
        self._holds: list[PartitionedCounts] = []
        self.version: str = self._spark.version
        self.run_guarded(partial(self._show, frame))

    def _show(self, frame: Any) -> None:
        """Call the rows pv_everybody; columns that differ by case only stay apart."""
        numbered = frame.toDF(*(f"c{i}" for i in range(len(self._names))))
        cells = (
            _make_comparable(f.name, f.dataType.simpleString()) for f in numbered.schema
        )
        everybody = numbered.selectExpr(*cells)
        self._types = [f.dataType for f in everybody.schema]
        everybody.createOrReplaceTempView(self._make_name("pv_everybody"))

    def _make_name(self, name: str) -> str:
        """A name that nobody else in the session uses."""
        called = name.replace("pv_", f"pv_{self._token}_", 1)
        self._made.add(called)
        return called

    def _rename_tables(self, statement: str) -> str:
        return re.sub(r"\bpv_", f"pv_{self._token}_", statement)

    def _disconnect(self) -> None:
        """Forget what was made; the session stays the user's."""
        for kept in self._holds:
            kept.close()
        for name in self._made:
            self._spark.catalog.dropTempView(name)

    def list_columns(self) -> tuple[RemoteColumn, ...]:
        """The columns of the frame."""
        return tuple(RemoteColumn(n, textual=self._textual) for n in self._names)

    # Statements ---------------------------------------------------------------------

    def fetch(self, statement: str, most: int | None = None) -> pa.Table:
        """Run a statement; only what it counts reaches the driver.

        A result can have as many rows as the table. Where that may be too many, it is
        kept by the executors until its size is known.
        """
        found = self.run_tagged(lambda: self._spark.sql(self._rename_tables(statement)))
        if most is None or (self.total is not None and self.total <= most):
            return found.toArrow()
        found = found.persist()
        try:
            if found.count() > most:
                raise DoesNotFit
            return found.toArrow()
        finally:
            found.unpersist()

    def run_tagged(self, work: Callable[[], T]) -> T:
        """Run work in this thread so that it can be told from others', and stopped."""
        self._spark.addTag(self._tag)
        return work()

    def hold(self, statement: str, sizes: Sequence[int], run: Run) -> PartitionedCounts:
        """Let the executors keep what a statement counts: codes, and last people."""
        make = partial(self.run_tagged, lambda: self._keep_counts(statement, sizes))
        return self.run_watched(make, run, "counting")

    def _keep_counts(self, statement: str, sizes: Sequence[int]) -> PartitionedCounts:
        kept = SparkPartitionedCounts(
            self, self._spark.sql(self._rename_tables(statement)), sizes
        )
        self._holds.append(kept)
        return kept

    @property
    def _tag(self) -> str:
        return f"privet-{self._token}"

    def interrupt(self) -> None:
        """Cancel what runs for us."""
        with suppress(Exception):  # nothing runs
            self._spark.interruptTag(self._tag)

    def explain(self, error: BaseException) -> BaseException:
        """What an error of Spark means; none of its text is passed on."""
        if isinstance(error, PrivetError | DoesNotFit):
            return error
        text = str(error)
        if any(word in text for word in FULL):
            return DoesNotFit()
        if any(word in text for word in STOPPED):
            return KeyboardInterrupt()
        if "ModuleNotFoundError" in text:
            return InputError(
                "The Python of Spark's machines must have privet installed, too, to "
                "disguise rows, cut groups, or read JSON lines; it has not. "
                "PYSPARK_PYTHON says which Python that is."
            )
        condition = getattr(error, "getCondition", lambda: None)()
        why = condition if isinstance(condition, str) else type(error).__name__
        return EngineError(
            f"Spark could not read {self.words} ({why}). Its own message is withheld, "
            "since it may quote people's data."
        )

    def view(self, name: str, select: str) -> None:
        """Let statements see what is selected under a name."""

        def show() -> None:
            found = self._spark.sql(self._rename_tables(select))
            found.createOrReplaceTempView(self._make_name(name))

        self.run_watched(show, Run(), "opening", (1, 1))

    def upload(self, name: str, frame: pa.Table, column: int) -> None:
        """Let statements see a small table."""
        from pyspark.sql import types as t

        known = {
            "v": self._types[column],
            "code": t.IntegerType(),
            "w": t.LongType(),
            "label": t.StringType(),
        }
        fields = [t.StructField(n, known[n]) for n in frame.column_names]
        made = self._spark.createDataFrame(frame, t.StructType(fields))
        made.createOrReplaceTempView(self._make_name(name))

    def drop(self, name: str) -> None:
        """Take an uploaded table away again."""
        called = self._make_name(name)
        self.run_guarded(lambda: self._spark.catalog.dropTempView(called))

    # Writing ------------------------------------------------------------------------

    @contextmanager
    def stream(self, select: str, scratch: Path, run: Run) -> Iterator[Any]:
        """Rows, written by the executors to a folder that all of them share."""

        def write() -> None:
            self._spark.addTag(self._tag)
            with self._apply_settings(WRITING):
                self._spark.sql(self._rename_tables(select)).write.parquet(
                    uri_of(scratch)
                )

        with self._collect_written(write, scratch, run) as rows:
            yield rows

    @contextmanager
    def draw(
        self, select: str, change: DisguiseBatches, run: Run
    ) -> Iterator[Iterable[pa.RecordBatch]]:
        """Reports, drawn by the executors, each partition from its own secure source.

        Nothing is shuffled after the draw, so of a task that was run twice one result
        survives, whole.
        """
        if change.bits is not None:
            raise InputError("A seed must be left out where Spark disguises rows.")

        def draw_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            source = RandomBits()
            return (change.draw(batch, source) for batch in batches)

        def write() -> None:
            self._spark.addTag(self._tag)
            rows = self._spark.sql(self._rename_tables(select))
            schema = ", ".join(f"{name} BIGINT" for name in change.names)
            drawn = rows.mapInArrow(draw_batches, schema)
            drawn.write.parquet(uri_of(change.scratch))

        with self._collect_written(write, change.scratch, run) as reports:
            yield reports.to_batches()

    @contextmanager
    def _collect_written(
        self, write: Callable[[], None], scratch: Path, run: Run
    ) -> Iterator[ds.Dataset]:
        """What the executors write to a folder that all of them share."""
        try:
            self.run_watched(write, run, "writing", (1, 2))
            files = sorted(map(str, scratch.glob("part-*.parquet")))
            if not files:
                raise _not_shared()
            yield ds.dataset(files, format="parquet")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def write_parts(
        self, select: str, names: list[str], folder: Path, parts: int
    ) -> int:
        """Write files whose rows are in the order of a keyed hash of what they show.

        An order that only depends on what is shown says nothing about the source; and
        a task that is run again after a machine was lost gives the same rows again,
        which it would not if each row drew a number.
        """
        from pyspark.sql import functions as f

        self._spark.addTag(self._tag)
        with self._apply_settings(WRITING):
            rows = self._spark.sql(self._rename_tables(select))
            cells = [f.col(c) for c in rows.columns]
            texts = [f.coalesce(c.cast("string"), f.lit("\x00")) for c in cells]
            secret = f.lit(secrets.token_hex(32))
            key = f.sha2(f.concat_ws("\x01", secret, *texts), 256)
            keyed = rows.withColumn("pv_key", key).repartitionByRange(parts, "pv_key")
            shuffled = keyed.sortWithinPartitions("pv_key", *rows.columns)
            shown = shuffled.drop("pv_key").toDF(*names)
            shown.write.option("compression", "zstd").parquet(uri_of(folder))
        return _tidy_folder(folder)

    @contextmanager
    def _apply_settings(self, wanted: Mapping[str, str]) -> Iterator[None]:
        """Settings of the user's session that hold while something is done."""
        conf = self._spark.conf
        before = {key: conf.get(key, None) for key in wanted}
        try:
            for key, value in wanted.items():
                conf.set(key, value)
            yield
        finally:
            for key, value in before.items():
                conf.unset(key) if value is None else conf.set(key, value)


def _make_comparable(column: str, type_: str) -> str:
    """A column whose values can be compared and sent."""
    if type_.startswith("map") or type_.startswith("variant"):
        return f"to_json({column}) AS {column}"
    if type_.startswith(OPAQUE) and not type_.startswith("timestamp"):
        return f"CAST({column} AS STRING) AS {column}"
    if type_.startswith(("string collate", "char", "varchar")):
        return f"CAST({column} AS STRING) COLLATE UTF8_BINARY AS {column}"
    return column


def uri_of(path: Path) -> str:
    """How Spark calls a path that every machine sees; Hadoop decodes nothing."""
    return f"file://{path.absolute()}"


def _tidy_folder(folder: Path) -> int:
    """Give the files of a folder plain names, remove Spark's marks; count the rows."""
    if not (folder / "_SUCCESS").exists():
        raise _not_shared()
    parts = sorted(folder.glob("part-*.parquet"))
    for path in folder.iterdir():
        if path not in parts:
            path.unlink()
    rows = 0
    for i, part in enumerate(parts):
        rows += pq.read_metadata(part).num_rows
        part.rename(folder / f"part-{i:05}.parquet")
    return rows


def _not_shared() -> EngineError:
    return EngineError(
        "Spark wrote the rows, but they did not arrive here. The folder of the "
        "release must be shared with the machines that write it."
    )


def require_pyspark() -> Any:
    """The package; or what to install."""
    try:
        import pyspark
    except ImportError:
        raise MissingExtra(
            "Spark needs the extra 'spark': pip install 'privet[spark]'. It also needs "
            "Java 17, unless you connect to a server with sc://…"
        ) from None
    return pyspark


# Files that Spark reads -------------------------------------------------------------

INFER = "spark.sql.sources.partitionColumnTypeInference.enabled"

QUIET = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
"""How a session of our own differs from others."""


LOOKED_AT = 1_000
"""Rows that tell a header from a row."""


def from_cluster(source: Any, master: str | None, text: TextOptions) -> Source:
    """Files as a DataFrame of the session that runs, or of one at `master`."""
    called = [os.fspath(s) for s in (source if _is_several(source) else [source])]
    session = open_session(master)
    if any("://" in c for c in called):
        return _from_addresses(session, called, text)
    found = find_source(source, text=text)
    if found.attach or found.staging is not None or found.frame is not None:
        raise InputError(
            f"Spark must be given Parquet files or text files; {found.words} is "
            "neither. Convert it to Parquet, or hand over a DataFrame."
        )
    try:
        frame, names = _read_frame(session, found, find_root(*called))
    except Exception as error:
        if isinstance(error, PrivetError):
            raise
        failed = _explain_refusal(found.words, error)
    else:
        address = DataFrameAddress(frame, textual=found.textual)
        return replace(found, address=address, names=names, scan="", rows=None)
    raise failed


def _explain_refusal(words: str, error: Exception) -> InputError:
    """What Spark's refusal means; none of its text is passed on."""
    condition = getattr(error, "getCondition", lambda: None)()
    if condition in ("COLUMN_ALREADY_EXISTS", "AMBIGUOUS_REFERENCE"):
        return InputError(
            f"Columns of {words} must differ by more than case where Spark reads them, "
            "unless spark.sql.caseSensitive is true in its session. Rename one of them."
        )
    return InputError(f"Spark must be able to read {words}; it is not.")


def _read_frame(session: Any, found: Source, root: Path) -> tuple[Any, tuple[str, ...]]:
    """What Spark reads, and how the columns are called."""
    text = found.text
    if found.json or text.null:
        return read_spread(session, found)
    files = [_escape_pattern(uri_of(Path(p))) for p in found.paths]
    names = found.names or ()
    if not found.textual:
        frame = _read_parquet(session, files, uri_of(root))
        return frame.select(*(f"`{_escape_ticks(n)}`" for n in names)), names
    delimiter = found.delimiter
    schema = ", ".join(f"c{i} STRING" for i in range(len(names)))
    return _read_csv(session, files, text, delimiter, schema).toDF(*names), names


def open_session(master: str | None) -> Any:
    """The session at an address: spark://…, local[2], yarn, k8s://… or sc://…"""
    require_pyspark()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("privet")
    for key, value in QUIET.items():
        builder = builder.config(key, value)
    if master is not None:
        remote = master.startswith("sc://")
        builder = builder.remote(master) if remote else builder.master(master)
    try:
        with warnings.catch_warnings(action="ignore"):  # of the packages it needs
            return builder.getOrCreate()
    except Exception:
        pass
    raise EngineError(
        f"Spark must be running at {_hide_secrets(master)}, or start there; it does "
        "not. Look "
        "at its own log. Spark needs Java 17, unless you connect with sc://…"
    )


def _hide_secrets(master: str | None) -> str:
    """An address without what may be secret in it."""
    return "this machine" if master is None else master.split("/;", maxsplit=1)[0]


def _is_several(source: Any) -> bool:
    return isinstance(source, Sequence) and not isinstance(source, str)


def _from_addresses(session: Any, called: list[str], text: TextOptions) -> Source:
    """Files only the cluster reaches, told apart by how their names end."""
    endings = {Path(urlsplit(c).path.rstrip("/")).suffix.lower() for c in called}
    words = "the files at " + urlsplit(called[0])._replace(netloc="…").geturl()
    if text.null:
        raise InputError(
            "null must be left out where only Spark reaches the text files; got "
            f"{list(text.null)!r}. Convert them to Parquet first."
        )
    try:
        if endings == {".csv"}:
            frame = _read_named(session, called, text, words)
            return Source(
                None, textual=True, words=words, address=DataFrameAddress(frame, True)
            )
        return Source(
            None, words=words, address=DataFrameAddress(_read_parquet(session, called))
        )
    except PrivetError:
        raise
    except Exception as error:
        failed = _explain_refusal(words, error)
    raise failed


def _read_named(session: Any, called: list[str], text: TextOptions, words: str) -> Any:
    """Text files with names for their columns: their own, unless those are a row."""
    delimiter = text.delimiter or ","
    if text.header is None:
        bare = attrs.evolve(text, header=False)
        few = _read_csv(session, called[:1], bare, delimiter).limit(LOOKED_AT).collect()
        if text.names is None and weigh_header(_as_records(few)).is_doubtful:
            raise InputError(describe_doubt(words))
        text = bare if text.names else text
    frame = _read_csv(session, called, text, delimiter)
    return frame.toDF(*text.names) if text.names else frame


def _as_records(rows: list[Any]) -> list[list[str]]:
    """Some rows of a DataFrame as records of a file."""
    return [["" if cell is None else str(cell) for cell in row] for row in rows]


def _read_parquet(session: Any, files: list[str], root: str | None = None) -> Any:
    """Parquet files; what the names of their folders say are texts."""
    before = session.conf.get(INFER, "true")
    session.conf.set(INFER, "false")
    try:
        reader = session.read.option("basePath", root) if root else session.read
        return reader.parquet(*files)
    finally:
        session.conf.set(INFER, before)


def _read_csv(
    session: Any, files: list[str], text: TextOptions, delimiter: str, schema: str = ""
) -> Any:
    """Text files, every value as the text it is."""
    reader = session.read.option("header", text.header is not False)
    options = {
        "sep": delimiter,
        "quote": '"',
        "escape": '"',
        "multiLine": True,
        "mode": "FAILFAST",
        # Nothing is missing, "" is empty: Spark tells them apart if what stands for
        # the first is no text that occurs.
        "nullValue": secrets.token_hex(16),
        "emptyValue": "",
        "encoding": text.encoding or "utf-8",
    }
    for key, value in options.items():
        reader = reader.option(key, value)
    return (reader.schema(schema) if schema else reader).csv(files)


def _escape_pattern(path: str) -> str:
    """A path that is no pattern to Hadoop, whatever it looks like."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def _escape_ticks(name: str) -> str:
    return name.replace("`", "``")
