"""The tuples of views: which columns are joined, and different rows in codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from privet.engine import arrow, sql
from privet.engine.dictionaries import Dictionary
from privet.engine.duckdb.session import Session, too_little_memory
from privet.engine.projections import Projection
from privet.engine.protocol import Recoding, Run
from privet.engine.run import DoesNotFit
from privet.errors import TooLarge
from privet.values.contingency import Domain


@dataclass(frozen=True)
class ViewPair:
    """The columns of a join of two views."""

    key: tuple[str, ...]
    """What both views have; empty: everybody is in one group."""
    person: str
    """Whom it is about; in the left view."""
    secret: str
    """What nobody should learn; in the right view."""
    left: tuple[str, ...] = ()
    """Other columns of the left view that tell its tuples apart."""
    right: tuple[str, ...] = ()
    """The same for the right view."""
    weight: str | None = None
    """A column of multiplicities."""
    marker: str | None = None
    """A column that says which view a row is of, where views come as files."""
    views: tuple[int, int] = (0, 1)
    """The numbers of the two views in it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is joined or told apart."""
        return (*self.key, self.person, self.secret, *self.left, *self.right)


class ViewRows:
    """The rows of one view, with codes where values cannot be compared as they are."""

    def __init__(
        self,
        projection: Projection,
        coded: Mapping[str, Dictionary],
        named: Mapping[str, str],
        *,
        plain: bool = False,
    ) -> None:
        self.projection = projection
        self.coded = coded
        self.named = named
        self._plain = plain  # codes as they are; else NULL for what is missing

    def cell(self, name: str) -> str:
        """A value of the row `s`, or its code; missing is always NULL."""
        c = self.projection.position(name)
        if name not in self.coded:
            return f"s.c{c}"
        missing = null_code(self.coded[name].domain)
        code = f"s.k{c}" if self.projection.holds_codes else f"d{c}.code"
        return code if missing is None or self._plain else f"nullif({code}, {missing})"

    def select(self, more: Sequence[str], only: Sequence[str]) -> str:
        """The rows with their columns called as asked, and more."""
        cells = [
            f"{self.cell(name)} AS {called}" for called, name in self.named.items()
        ]
        used = [n for n in dict.fromkeys(self.named.values()) if n in self.coded]
        held = self.projection.holds_codes
        joins = "" if held else " ".join(self._join(name) for name in used)
        where = f"WHERE {' AND '.join(only)}" if only else ""
        people = f"{self.projection.people} s"
        return f"SELECT {', '.join([*cells, *more])} FROM {people} {joins} {where}"

    def _join(self, name: str) -> str:
        c = self.projection.position(name)
        same = sql.DUCKDB.same.format(a=f"s.c{c}", b=f"d{c}.v")
        return f"JOIN {self.coded[name].table} d{c} ON {same}"


def null_code(domain: Domain) -> int | None:
    """The code of the missing value, if it occurs."""
    if len(domain) and domain[0] is None:
        return 0
    if isinstance(domain.labels, list | tuple):  # relabelled: in any place
        return next((i for i, v in enumerate(domain.labels) if v is None), None)
    return None


@dataclass(frozen=True)
class ViewTuples:
    """The different tuples of a view, in codes."""

    columns: tuple[str, ...]
    """What the columns are called."""
    rows: tuple[tuple[int, ...], ...]
    """The tuples."""
    domains: Mapping[str, Domain]
    """The values of each column, by code."""
    times: tuple[int, ...] = ()
    """How many rows of the table each tuple stands for."""


def count_tuples(
    projection: Projection, columns: Sequence[str], sides: ViewPair, run: Run
) -> tuple[int, int]:
    """The rows of the first view of `sides`, and how many of them differ."""
    if projection.holds_codes:  # what was fetched differs
        different = projection.session.fetch_one(
            f"SELECT count(*) FROM {projection.people}"
        )
        return projection.total or 0, int(different)
    named = {f"o{j}": name for j, name in enumerate(columns)}
    rows = ViewRows(projection, {}, named).select(
        (), _list_conditions(projection, sides)
    )
    statement = (
        f"SELECT (SELECT count(*) FROM ({rows})) AS n, "
        f"(SELECT count(*) FROM (SELECT DISTINCT * FROM ({rows}))) AS d"
    )
    work = partial(projection.session.fetch, statement)
    found = projection.session.run_watched(work, run, "counting rows", (1, 1))
    return int(found["n"][0].as_py()), int(found["d"][0].as_py())


def _list_conditions(projection: Projection, sides: ViewPair) -> list[str]:
    """Conditions on the rows of the first view."""
    only = []
    if sides.weight:
        only.append(f"{projection.weight(sides.weight)} > 0")
    if sides.marker:
        at = projection.position(sides.marker)
        only.append(f"CAST(s.c{at} AS VARCHAR) = '{sides.views[0]}'")
    return only


def fetch_tuples(
    projection: Projection,
    columns: Sequence[str],
    sides: ViewPair,
    recodings: Mapping[str, Recoding],
    run: Run,
    most: int,
) -> ViewTuples:
    """The different tuples of the first view of `sides`, if there are not too many."""
    coded = projection.code_all(columns, recodings, run)
    named = {f"o{j}": name for j, name in enumerate(columns)}
    rows = ViewRows(projection, coded, named, plain=True)
    only = _list_conditions(projection, sides)
    weight = f"{projection.weight(sides.weight)} AS w"
    statement = (
        f"SELECT {', '.join(named)}, CAST(sum(w) AS BIGINT) AS w FROM "
        f"({rows.select([weight], only)}) GROUP BY ALL LIMIT {most + 1}"
    )
    try:
        found = projection.session.run_watched(
            partial(projection.session.fetch, statement), run, "reading views", (1, 1)
        )
    except DoesNotFit:
        raise too_little_memory() from None
    if len(found) > most:
        raise TooLarge(
            f"More than two views that no key links are judged up to {most} tuples "
            "each; there are more."
        )
    arrays = [column.to_pylist() for column in found.columns]
    listed = sorted(zip(*arrays, strict=True))
    domains = {n: d.domain for n, d in coded.items()}
    shown = tuple(row[:-1] for row in listed)
    return ViewTuples(tuple(columns), shown, domains, tuple(r[-1] for r in listed))


def make_table(session: Session, table: str, columns: Mapping[str, Any]) -> None:
    """A table of our own with these columns; texts unless they are arrays."""
    made = {
        name: arrow.integers(v) if isinstance(v, np.ndarray) else arrow.texts(v)
        for name, v in columns.items()
    }
    session.register(f"{table}_frame", arrow.frame(**made))
    session.ask(f"CREATE TEMP TABLE {table} AS SELECT * FROM {table}_frame")
    session.unregister(f"{table}_frame")
