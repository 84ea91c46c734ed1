"""Keyed digests of rows and of people: who is in two tables, without saying who it is.

A digest is SHA-256 of a key and the cells, cut to 128 bits. The key has 64 letters, one
whole block of SHA-256, so that a digest is the compression function keyed by a secret
state and then run over the cells: what HMAC does on its inner side. HMAC's outer side
only keeps others from lengthening a message whose whole digest they see; here half of
the digest is cut off, nobody is asked to believe a message, and cells are written so
that no two rows give the same text. Among 10 million rows two different ones share a
digest with a probability of 1 in 10 ** 24.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from privet.engine import arrow, sql, text_types
from privet.engine.duckdb.session import Session
from privet.engine.protocol import Run
from privet.errors import InputError

KEY_LETTERS = 64
"""Letters of a key: 256 random bits, as hexadecimal digits."""

KEY = "pv_digest_key"
"""What statements call the key, so that none of them quotes it."""


@dataclass(frozen=True)
class DigestQuery:
    """Which digests are written."""

    path: str
    """The Parquet file; it must not exist yet."""
    key: str
    """What digests depend on: 64 hexadecimal digits."""
    columns: tuple[str, ...]
    """The columns of a row, in this order."""
    person: tuple[str, ...] = ()
    """The columns that tell people apart; empty: the whole row does."""
    weight: str | None = None
    """A column that says how many people a row stands for."""

    def __post_init__(self) -> None:
        digits = set("0123456789abcdef")
        if len(self.key) != KEY_LETTERS or not set(self.key) <= digits:
            raise InputError(f"A key must be {KEY_LETTERS} hexadecimal digits.")
        if not self.columns:
            raise InputError("A digest must be of columns; got none.")


def hold_key(session: Session, key: str) -> None:
    """Let statements use a key that none of them quotes."""
    session.register("pv_given_key", arrow.frame(k=arrow.texts([key])))
    session.ask(f"SET VARIABLE {KEY} = (SELECT k FROM pv_given_key)")
    session.unregister("pv_given_key")


def digest_cells(cells: Sequence[str], key: str = f"getvariable('{KEY}')") -> str:
    """The digest of these texts: each with its length, a missing one as a dash."""
    told = " || ".join(f"coalesce(length({c}) || ':' || {c}, '-')" for c in cells)
    return f"unhex(left(sha256({key} || {told}), 32))"


@dataclass(frozen=True)
class RowMarks:
    """How often several files of digests have each row, as further columns of it."""

    names: tuple[str, ...]
    """What the columns are called, one for each file."""
    files: tuple[str, ...]
    """The files."""
    columns: tuple[str, ...]
    """The columns that digests are of."""
    key_file: str
    """Where the key is."""


def mark_rows(
    rows: str,
    marks: RowMarks,
    positions: Mapping[str, int],
    cell: Callable[[str], str],
    *,
    textual: bool,
) -> str:
    """Rows with further columns that say how often files of digests have them."""
    # Read by the statement, so that none quotes it.
    key = f"(SELECT left(content, {KEY_LETTERS}) FROM read_text("
    key += f"{sql.literal(marks.key_file)}))"
    digest = digest_cells([cell(c) for c in marks.columns], key)
    kept = [f"e.c{i}" for i in range(len(positions))]
    kind = "VARCHAR" if textual else "BIGINT"
    more = [
        f"CAST(coalesce(m{k}.n, 0) AS {kind}) AS c{len(positions) + k}"
        for k in range(len(marks.files))
    ]
    joins = " ".join(
        f"LEFT JOIN {_count_digests(scan_digests(file), 'row')} m{k} ON e.d = m{k}.d"
        for k, file in enumerate(marks.files)
    )
    told = f"(SELECT s.*, {digest} AS d FROM ({rows}) s) e"
    return f"SELECT {', '.join([*kept, *more])} FROM {told} {joins}"


def write_cell(cell: str, *, textual: bool, json: bool) -> str:
    """The text of a cell, alike in every kind of file: 5.0 is 5, midnight no time.

    >>> write_cell("c0", textual=True, json=False).startswith("CASE WHEN suffix(c0,")
    True
    """
    text = text_types.text_of(cell, textual=textual, json=json)
    return (
        f"CASE WHEN suffix({text}, '.0') AND regexp_full_match({text}, "
        f"'-?[0-9]+[.]0') THEN left({text}, length({text}) - 2) "
        f"WHEN suffix({text}, ' 00:00:00') AND regexp_full_match({text}, "
        f"'[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} 00:00:00') THEN left({text}, 10) "
        f"ELSE {text} END"
    )


def write_digests(
    session: Session,
    query: DigestQuery,
    people: str,
    cell: Callable[[str], str],
    run: Run,
) -> int:
    """Write the digests of these people; how many people they are.

    `cell` says how a statement calls the text of a column.
    """
    hold_key(session, query.key)
    row = digest_cells([cell(c) for c in query.columns])
    person = digest_cells([cell(c) for c in query.person]) if query.person else "NULL"
    n = f"CAST({cell(query.weight)} AS BIGINT)" if query.weight else "1"
    rows = f"SELECT {person} AS person, {row} AS row, {n} AS n FROM {people} s"
    counted = (
        "SELECT CAST(person AS BLOB) AS person, row, CAST(sum(n) AS BIGINT) AS n "
        f"FROM ({rows}) WHERE n > 0 GROUP BY person, row ORDER BY row, person"
    )
    with session.write_file(query.path) as path:
        copy = sql.copy(counted, path, "parquet")
        work = partial(session.con.execute, copy)
        session.run_watched(work, run, "digesting rows", (1, 1))
        total = session.fetch_one(f"SELECT sum(n) FROM {scan_digests(path)}")
    return int(total or 0)


def scan_digests(path: str | Path) -> str:
    """A file of digests, for statements."""
    return f"read_parquet({sql.literal(str(path))}, hive_partitioning = false)"


@dataclass(frozen=True)
class Overlap:
    """How two tables have people in common, told by their digests."""

    kept: int
    """People with the same row in both."""
    new: int
    """People of the second with a row that the first has not."""
    gone: int
    """People of the first with a row that the second has not."""
    people: int
    """People of the second who are in the first, with whatever row."""

    @property
    def same_rows(self) -> bool:
        """Whether both tables have the same rows."""
        return not self.new and not self.gone


def compare_digests(first: str | Path, second: str | Path) -> Overlap:
    """Who of two tables is in both; digests must have been made alike."""
    session = Session("the ledger", reads=[str(first), str(second)])
    try:
        one, other = (_count_digests(scan_digests(p), "row") for p in (first, second))
        both = (
            "SELECT coalesce(a.n, 0) AS a, coalesce(b.n, 0) AS b "
            f"FROM {one} a FULL JOIN {other} b ON a.d = b.d"
        )
        found = session.ask(
            "SELECT coalesce(sum(least(a, b)), 0) AS kept, "
            "coalesce(sum(greatest(a - b, 0)), 0) AS gone, "
            f"coalesce(sum(greatest(b - a, 0)), 0) AS new FROM ({both})"
        ).to_pylist()[0]
        one, other = (
            _count_digests(scan_digests(p), "coalesce(person, row)")
            for p in (first, second)
        )
        shared = session.fetch_one(
            "SELECT coalesce(sum(least(a.n, b.n)), 0) "
            f"FROM {one} a JOIN {other} b ON a.d = b.d"
        )
    finally:
        session.close()
    kept, new, gone = (int(found[key]) for key in ("kept", "new", "gone"))
    return Overlap(kept, new, gone, int(shared))


def compare_distinct(first: str | Path, second: str | Path) -> bool:
    """Whether two tables have the same different rows, however often each."""
    session = Session("the ledger", reads=[str(first), str(second)])
    try:
        one, other = (_count_digests(scan_digests(p), "row") for p in (first, second))
        alone = session.fetch_one(
            f"SELECT count(*) FROM {one} a FULL JOIN {other} b ON a.d = b.d "
            "WHERE a.d IS NULL OR b.d IS NULL"
        )
    finally:
        session.close()
    return not alone


def _count_digests(scan: str, by: str) -> str:
    return f"(SELECT {by} AS d, sum(n) AS n FROM {scan} GROUP BY ALL)"
