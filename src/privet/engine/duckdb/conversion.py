"""Conversion: rows of other formats on their way into files that DuckDB reads."""

from __future__ import annotations

import base64
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privet.engine.duckdb.session import (
    Session,
    memory_here,
    parse_size,
    too_little_memory,
)
from privet.engine.protocol import Run
from privet.engine.run import DoesNotFit
from privet.engine.scratch import ScratchFolder
from privet.engine.sources.source import Feed, FilePart, StagingRoom
from privet.engine.sources.staged_rows import KEY, StagedRows, name_key
from privet.engine.sql import literal

EXACT = 2**53
"""Up to here every whole number is a floating one."""

FREE = 9, 10
"""The share of free space and of memory that may be taken, unless a limit is said."""


def convert(
    parts: Sequence[FilePart], words: str, options: Mapping[str, Any]
) -> StagedRows:
    """Convert files, one after the other."""
    session = Session(words, **options)
    staged = None
    try:
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        staged = StagedRows(ScratchFolder(options.get("spill")), key)
        give_key(session, staged)
        for i, part in enumerate(parts):
            work = _Conversion(session, part, staged, options)
            step = (i + 1, len(parts))
            staged = session.run_watched(work.run, Run(), "converting", step)
        return staged
    except BaseException as error:
        if staged is not None:
            staged.folder.close()
        if isinstance(error, DoesNotFit):
            raise too_little_memory() from None
        raise
    finally:
        session.close()


def give_key(session: Session, staged: StagedRows) -> None:
    """Let a session read and write the files."""
    session.ask(f"PRAGMA add_parquet_key('{KEY}', '{staged.key}')")


@dataclass(frozen=True)
class _Conversion:
    """One file on its way."""

    session: Session
    part: FilePart
    staged: StagedRows
    options: Mapping[str, Any]

    def run(self) -> StagedRows:
        """Convert it, in this thread; what there is then."""
        place = self.session.output
        with (
            self.part.open(place, self._measure_room()) as feed,
            self.session.stop_also(feed.stop),
        ):
            return self._copy(feed, place)

    def _measure_room(self) -> StagingRoom:
        """What converting may take."""
        some, of = FREE
        disk, memory = (self.options.get(k) for k in ("spill_limit", "memory_limit"))
        free = shutil.disk_usage(self.staged.folder.path).free
        return StagingRoom(
            free * some // of if disk is None else parse_size(disk),
            memory_here() * some // of if memory is None else parse_size(memory),
        )

    def _copy(self, feed: Feed, place: Path) -> StagedRows:
        con, staged = self.session.con, self.staged
        own = place / "staged.parquet"
        try:
            if feed.frame is not None:
                con.register("pv_feed", feed.frame)
            else:
                con.execute(f"SET VARIABLE files = [{literal(feed.path)}]")
            copied = con.execute(
                f"COPY (SELECT * FROM {feed.scan}) TO {literal(str(own))} "
                f"(FORMAT parquet, {name_key('')})"
            ).fetchall()
            whole = self._find_whole(own) if feed.frame is not None else frozenset()
            kept = staged.folder.path / f"{len(staged.paths)}.parquet"
            shutil.move(own, kept)
        finally:
            own.unlink(missing_ok=True)
            if feed.frame is not None:
                with suppress(Exception):
                    con.unregister("pv_feed")
        return replace(
            staged,
            paths=(*staged.paths, str(kept)),
            rows=staged.rows + int(copied[0][0]),
            names=feed.names,
            mixed=feed.mixed,
            labels=feed.labels,
            whole=whole,
        )

    def _find_whole(self, file: Path) -> frozenset[int]:
        """Columns whose floating numbers are all whole: 39, not 39.0."""
        scan = f"read_parquet({literal(str(file))}, {name_key()})"
        con = self.session.con
        types = con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
        names = [t[0] for t in types if t[1] in ("DOUBLE", "FLOAT")]
        if not names:
            return frozenset()
        tests = ", ".join(
            f"count({n}) > 0 AND coalesce(bool_and(isfinite({n}) AND {n} = trunc({n}) "
            f"AND abs({n}) < {EXACT}), false)"
            for n in names
        )
        found = con.execute(f"SELECT {tests} FROM {scan}").fetchall()[0]
        wholes = (n for n, whole in zip(names, found, strict=True) if whole)
        return frozenset(int(n.removeprefix("c")) for n in wholes)
