"""Files that Spark reads: those everybody sees, and those only a cluster reaches."""

from __future__ import annotations

import os
import re
import secrets
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from privet.engine.remote.spark import Frame, require_pyspark, uri_of
from privet.engine.remote.spark_files import read_spread
from privet.engine.sources.find_source import find_source, root_of
from privet.engine.sources.source import Source, TextOptions
from privet.engine.sources.text_files import delimiter_of
from privet.errors import EngineError, InputError, PrivetError

INFER = "spark.sql.sources.partitionColumnTypeInference.enabled"

QUIET = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
"""How a session of our own differs from others."""


def from_cluster(source: Any, master: str | None, text: TextOptions) -> Source:
    """Files as a DataFrame of the session that runs, or of one at `master`."""
    called = [os.fspath(s) for s in (source if _several(source) else [source])]
    session = session_at(master)
    if any("://" in c for c in called):
        return _from_addresses(session, called, text)
    found = find_source(source, text=text)
    if found.attach:
        raise InputError(
            f"Spark must be given Parquet files or text files; {found.words} is "
            "neither. Convert it to Parquet, or hand over a DataFrame."
        )
    try:
        frame, names = _frame(session, found, root_of(*called), text)
    except Exception as error:
        if isinstance(error, PrivetError):
            raise
        failed = _unread(found.words, error)
    else:
        place = Frame(frame, textual=found.textual)
        return replace(found, place=place, names=names, scan="", rows=None)
    raise failed


def _unread(words: str, error: Exception) -> InputError:
    """What Spark's refusal means; none of its text is passed on."""
    condition = getattr(error, "getCondition", lambda: None)()
    if condition in ("COLUMN_ALREADY_EXISTS", "AMBIGUOUS_REFERENCE"):
        return InputError(
            f"Columns of {words} must differ by more than case where Spark reads them, "
            "unless spark.sql.caseSensitive is true in its session. Rename one of them."
        )
    return InputError(f"Spark must be able to read {words}; it is not.")


def _frame(
    session: Any, found: Source, root: Path, text: TextOptions
) -> tuple[Any, tuple[str, ...]]:
    """What Spark reads, and how the columns are called."""
    if found.json or text.null:
        return read_spread(session, found)
    files = [_exactly(uri_of(Path(p))) for p in found.paths]
    names = found.names or ()
    if not found.textual:
        frame = _read_parquet(session, files, uri_of(root))
        return frame.select(*(f"`{_ticked(n)}`" for n in names)), names
    delimiter = delimiter_of(Path(found.paths[0]), text)
    schema = ", ".join(f"c{i} STRING" for i in range(len(names)))
    return _read_csv(session, files, text, delimiter, schema).toDF(*names), names


def session_at(master: str | None) -> Any:
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
        f"Spark must be running at {_shown(master)}, or start there; it does not. Look "
        "at its own log. Spark needs Java 17, unless you connect with sc://…"
    )


def _shown(master: str | None) -> str:
    """An address without what may be secret in it."""
    return "this machine" if master is None else master.split("/;", maxsplit=1)[0]


def _several(source: Any) -> bool:
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
            frame = _read_csv(session, called, text, text.delimiter or ",")
            return Source(None, textual=True, words=words, place=Frame(frame, True))
        return Source(None, words=words, place=Frame(_read_parquet(session, called)))
    except Exception as error:
        failed = _unread(words, error)
    raise failed


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
    reader = session.read.option("header", text.header is None)
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
        "encoding": text.encoding,
    }
    for key, value in options.items():
        reader = reader.option(key, value)
    return (reader.schema(schema) if schema else reader).csv(files)


def _exactly(path: str) -> str:
    """A path that is no pattern to Hadoop, whatever it looks like."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def _ticked(name: str) -> str:
    return name.replace("`", "``")
