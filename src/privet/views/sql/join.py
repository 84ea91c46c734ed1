"""Two views joined on what they share: per key, the sides of its connectivity graph.

Keys are told apart by a 64-bit hash, which is checked to be different for different
keys, so composite and missing keys cost nothing extra. Missing people and values are
nodes like others. What does not fit into memory is counted in hash parts.
Wang, Lakshmanan 2006, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import sql, text_types
from privet.engine.duckdb.session import too_little_memory
from privet.engine.projections import Projection
from privet.engine.protocol import JoiningEngine, Recoding, Run
from privet.engine.row_filter import TYPED, select_typed
from privet.engine.run import DoesNotFit, check_complete
from privet.errors import TooLarge
from privet.views.sql.view_tuples import ViewPair, ViewRows, make_table

T = TypeVar("T")

MOST_LABELS = 10_000_000
"""Values of a column that a condition looks at one by one."""

NEAR = 1000
"""Keys whose rows are copied to be looked at again."""

SALTS = 8
"""Hashes that are tried until no two keys share one."""


_numbers = count()


@dataclass(frozen=True)
class WholeTuples:
    """How large two views are if all their columns tell tuples apart."""

    pairs: int
    """Associations of somebody with some value of the same key."""
    supports: int
    """The most join tuples one of them has in a key."""
    merged: bool
    """Whether anybody or any value has several tuples in a key."""


class JoinedViews:
    """Two views of one source, joined on what they share."""

    def __init__(
        self,
        projection: Projection,
        sides: ViewPair,
        recodings: Mapping[str, Recoding],
        run: Run,
    ) -> None:
        self.sides, self.run = sides, run
        self.recodings = recodings
        self.session = projection.session
        self.projection = projection
        if sides.weight is not None:
            projection.check_weight(sides.weight, run)
        self.coded = projection.code_needed(sides.columns, recodings, run)
        self._salt = 0
        self._number = next(_numbers)
        self._made: list[str] = []
        self._kept: dict[str, Any] = {}
        self._keeping: list[str] = []
        self._near = ""

    def close(self) -> None:
        """Drop what was made."""
        self._keeping.clear()
        self._kept.clear()
        self.forget()
        self.projection.close()

    def keep(self, name: str, build: Callable[[], T]) -> T:
        """What the next promise needs too, built once with its tables."""
        if name not in self._kept:
            before = set(self._made)
            self._kept[name] = build()
            self._keeping += [t for t in self._made if t not in before]
        found: T = self._kept[name]
        return found

    def forget(self) -> None:
        """Drop what was made and is not kept; look at all keys again."""
        for table in self._made:
            if table not in self._keeping:
                self.session.ask(f"DROP TABLE IF EXISTS {table}")
        self._made = list(self._keeping)
        self._near = ""

    def __enter__(self) -> JoinedViews:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Rows ---------------------------------------------------------------------------

    @property
    def keys(self) -> list[str]:
        """How statements call the columns of the key."""
        return [f"x{i}" for i in range(len(self.sides.key))]

    def rows(self, side: int, *, full: bool = False) -> str:
        """The rows of one side (2: both): node, key, the key's hash, and weight."""
        if self._near and not full:
            # Where the side is NULL, a row of a table is of both.
            of = f"coalesce(side, {side}) = {side}"
            return f"SELECT * FROM {self._near} WHERE {of}"
        sides = self.sides
        named = dict(zip(self.keys, sides.key, strict=True))
        nodes = {"i": sides.person, "p": sides.secret}
        named |= {n: c for n, c in nodes.items() if side in ("ip".index(n), 2)}
        extra = (sides.left, sides.right)[side] if full else ()
        named |= {f"e{j}": name for j, name in enumerate(extra)}
        rows = ViewRows(self.projection, self.coded, named)
        cells = [rows.cell(name) for name in sides.key]
        weight = self.projection.weight(sides.weight)
        more = [f"{self.hashed(cells)} AS h", f"{weight} AS w"]
        only = []
        if sides.weight:
            only.append(f"{weight} > 0")
        if sides.marker:
            at = self.projection.position(sides.marker)
            only.append(f"CAST(s.c{at} AS VARCHAR) = '{sides.views[side]}'")
        return rows.select(more, only)

    @property
    def has_weights(self) -> bool:
        """Whether a row may stand for several."""
        # Rows of some keys that were copied are counted together.
        copied = bool(self._near)
        return copied or bool(self.sides.weight) or self.projection.holds_codes

    def look_at(self, hashes: Sequence[int]) -> None:
        """From now on, only at the rows of some keys, which are copied."""
        self._near = ""
        among = ", ".join(str(int(h)) for h in hashes)
        names = ", ".join([*self.keys, "h"])
        views = [
            f"SELECT {names}, {cells}, sum(w) AS w FROM ({rows}) WHERE h IN ({among}) "
            "GROUP BY ALL"
            for rows, cells in self._select_sides()
        ]
        select = " UNION ALL BY NAME ".join(views)
        self._near = self.make("near", lambda _: select, "", "reading keys")

    def look_at_person(self, person: object) -> None:
        """From now on, only at the rows of the keys somebody is in, unless many."""
        whose = self.build_condition(self.sides.person, [person], "i")
        keys = self.ask(
            f"SELECT DISTINCT h FROM ({self.rows(0)}) WHERE {whose} LIMIT {NEAR + 1}"
        )
        if len(keys) <= NEAR:
            self.look_at(keys["h"].to_pylist())

    def _select_sides(self) -> list[tuple[str, str]]:
        """Rows and what to keep of them: of a table in one go, of files for each."""
        if self.sides.marker:
            cells = ("i, NULL AS p, 0 AS side", "p, NULL AS i, 1 AS side")
            return [(self.rows(side), cell) for side, cell in enumerate(cells)]
        return [(self.rows(2), "i, p, NULL AS side")]

    def hashed(self, cells: Sequence[str]) -> str:
        """The hash of a key."""
        if not cells:
            return "CAST(0 AS UBIGINT)"
        return f"hash({', '.join([*cells, str(self._salt)] if self._salt else cells)})"

    # Statements ---------------------------------------------------------------------

    def make(
        self, name: str, select: Callable[[str], str], cut: str, doing: str
    ) -> str:
        """A table of our own; where it does not fit, made in hash parts.

        `select` takes a condition that cuts its rows by the hash of `cut`.
        """
        table = f"pv_{name}_{self._number}_{next(_numbers)}"
        self._made.append(table)
        for parts in sql.PARTS if cut else (1,):
            try:
                self._fill_table(table, select, cut, parts, doing)
            except DoesNotFit:
                continue
            return table
        raise too_little_memory()

    def _fill_table(
        self, table: str, select: Callable[[str], str], cut: str, parts: int, doing: str
    ) -> None:
        first = f"CREATE OR REPLACE TEMP TABLE {table} AS "
        for part in range(parts):
            only = f"WHERE hash({cut}) % {parts} = {part}" if parts > 1 else ""
            step = doing if parts == 1 else f"{doing}, part {part + 1} of {parts}"
            head = first if part == 0 else f"INSERT INTO {table} "
            self._run_watched(partial(self._execute, head + select(only)), step)

    def _execute(self, statement: str) -> None:
        self.session.con.execute(statement)

    def ask(self, statement: str, doing: str = "counting") -> pa.Table:
        """What a statement selects."""
        try:
            return self._run_watched(partial(self.session.fetch, statement), doing)
        except DoesNotFit:
            pass
        raise too_little_memory()

    def read_column(self, statement: str, rows: int, doing: str) -> NDArray[np.uint32]:
        """A column of small whole numbers, of as many rows as there are."""
        found = np.empty(rows, dtype=np.uint32)
        work = partial(self.session.fill_columns, statement, [found])
        check_complete(self._run_watched(work, doing), rows)
        return found

    def _run_watched(self, work: Callable[[], Any], doing: str) -> Any:
        return self.session.run_watched(work, self.run, doing, (1, 1))

    def fetch_one(self, statement: str) -> Any:
        """The first row a statement selects, or None."""
        found = self.ask(statement)
        return found.slice(0, 1).to_pylist()[0] if len(found) else None

    def make_keyed(self, build: Callable[[], str]) -> str:
        """A table with the columns of the key and h; keys must not share a hash."""
        names = ", ".join([*self.keys, "h"])
        for salt in range(self._salt, SALTS):  # what is kept was made by an earlier one
            self._salt = salt
            table = build()
            same = self.fetch_one(
                "SELECT count(*) = count(DISTINCT h) AS same FROM "
                f"(SELECT DISTINCT {names} FROM {table})"
            )
            if same["same"] or not self.keys:
                return table
        raise AssertionError("keys cannot be told apart")

    def count_with_choices(self) -> int:
        """How many keys have at least two people and two values."""
        several = [
            f"SELECT h FROM (SELECT DISTINCT h, {node} FROM ({self.rows(side)})) "
            "GROUP BY h HAVING count(*) > 1"
            for side, node in enumerate("ip")
        ]
        found = self.fetch_one(
            f"SELECT count(*) AS n FROM ({several[0]}) a JOIN ({several[1]}) b "
            "ON a.h = b.h"
        )
        return int(found["n"])

    def count_spread(self) -> int:
        """How many people are in several keys, missing ones included."""
        rows = f"SELECT DISTINCT {self._name_cells('i')} FROM ({self.rows(0)})"
        found = self.fetch_one(
            f"SELECT count(*) AS n FROM (SELECT i FROM ({rows}) GROUP BY i "
            "HAVING count(*) > 1)"
        )
        return int(found["n"])

    def count_crowded(self) -> int:
        """How many keys have more values than people."""
        found = self.fetch_one(
            f"SELECT count(*) AS n FROM ({self._select_sizes()}) WHERE people < secrets"
        )
        return int(found["n"])

    def count_whole_tuples(self) -> WholeTuples:
        """Associations, and how many whole tuples of a person and a value meet."""
        most = "max(CAST(s AS HUGEINT) * t)"
        found = self.fetch_one(
            "SELECT CAST(coalesce(sum(CAST(people AS HUGEINT) * secrets), 0) AS "
            f"VARCHAR) AS pairs, CAST(coalesce({most}, 0) AS BIGINT) AS supports, "
            f"coalesce(max(k) > 1, false) AS merged FROM ({self._select_sizes()})"
        )
        return WholeTuples(int(found["pairs"]), found["supports"], found["merged"])

    def _name_cells(self, *more: str) -> str:
        return ", ".join([*self.keys, *more])

    def _select_sizes(self) -> str:
        """Per key: people and values, the most tuples one of either has, and the most
        of all nodes, missing ones included.
        """
        left, right = (self._select_side_sizes(side) for side in (0, 1))
        same = [f"a.{x} IS NOT DISTINCT FROM b.{x}" for x in self.keys]
        return (
            "SELECT a.nodes AS people, b.nodes AS secrets, a.own AS s, b.own AS t, "
            f"greatest(a.most, b.most) AS k FROM ({left}) a JOIN ({right}) b "
            f"ON {' AND '.join(same) or 'true'}"
        )

    def _select_side_sizes(self, side: int) -> str:
        node, extra = "ip"[side], (self.sides.left, self.sides.right)[side]
        cells = [node, *(f"e{j}" for j in range(len(extra)))]
        rows = self.rows(side, full=True)
        tuples = f"SELECT DISTINCT {self._name_cells(*cells)} FROM ({rows})"
        named = self._name_cells(node)
        nodes = f"SELECT {named}, count(*) AS k FROM ({tuples}) GROUP BY ALL"
        own = f"coalesce(max(k) FILTER (WHERE {node} IS NOT NULL), 0) AS own"
        counts = f"count(*) AS nodes, {own}, max(k) AS most"
        return f"SELECT {self._name_cells(counts)} FROM ({nodes}) GROUP BY ALL"

    def count_overall(self) -> tuple[int, int]:
        """How many people and values there are in all, missing ones included."""
        counted = [
            f"(SELECT count(*) FROM (SELECT DISTINCT {node} FROM ({self.rows(side)})))"
            for side, node in enumerate("ip")
        ]
        found = self.fetch_one(
            f"SELECT {counted[0]} AS people, {counted[1]} AS secrets"
        )
        return found["people"], found["secrets"]

    # Values -------------------------------------------------------------------------

    def text(self, name: str, cell: str) -> str:
        """A cell as the table shows it; codes are shown by `label`."""
        if name in self.coded:
            return cell
        text = f"CAST({cell} AS VARCHAR)"
        if self.projection.kind(name) == "number":
            zero = f"CAST(abs({cell}) AS VARCHAR)"  # which may have a sign
            return f"CASE WHEN {cell} = 0 THEN {zero} ELSE {text} END"
        return text

    def select_key_columns(self, alias: str) -> list[str]:
        """The columns of the key, as they are shown."""
        return [
            f"{self.text(name, f'{alias}.{x}')} AS {x}"
            for x, name in zip(self.keys, self.sides.key, strict=True)
        ]

    def label(self, name: str, cell: Any) -> str | None:
        """What `text` gave, as the table shows it."""
        if cell is None or name not in self.coded:
            return None if cell is None else str(cell)
        return self.coded[name].domain[int(cell)]

    def build_condition(self, name: str, values: Sequence[object], cell: str) -> str:
        """A condition: the cell has one of these values."""
        if name in self.coded:
            codes = [self.coded[name].domain.code(v) for v in values]
            return _match_codes(
                cell, [c for c in codes if c is not None], None in values
            )
        given = self.make_small_table({"v": [_to_text(v) for v in values]})
        kind = self.projection.kind(name)
        select = f"SELECT DISTINCT v FROM {given}"
        if kind in TYPED:
            select = select_typed(given, self.projection.type_of(name), kind)
        else:
            cell = text_types.text_of(cell, textual=kind == "text", json=False)
        same = sql.DUCKDB.same.format(a="w.v", b=cell)
        return f"EXISTS (SELECT 1 FROM ({select}) w WHERE {same})"

    def make_label_table(self, name: str) -> str:
        """A table of a coded column's codes and the texts they stand for."""
        domain = self.coded[name].domain
        if len(domain) > MOST_LABELS:
            raise TooLarge(
                f"A condition on {name!r} must compare at most {MOST_LABELS} values; "
                f"it has {len(domain)}."
            )
        codes = np.arange(len(domain), dtype=np.uint32)
        return self.make_small_table({"code": codes, "label": list(domain.labels)})

    def make_small_table(self, columns: Mapping[str, Any]) -> str:
        """A small table of our own with these columns; texts unless they are arrays."""
        table = f"pv_given_{self._number}_{next(_numbers)}"
        make_table(self.session, table, columns)
        self._made.append(table)
        return table


def relate(
    engine: JoiningEngine,
    sides: ViewPair,
    recodings: Mapping[str, Recoding],
    run: Run,
) -> JoinedViews:
    """Two views of the rows of an engine, joined."""
    projection = engine.open_projection(sides.columns, sides.weight, recodings, run)
    return JoinedViews(projection, sides, recodings, run)


def _match_codes(cell: str, codes: Sequence[int], missing: bool) -> str:
    tests = [f"{cell} IN ({', '.join(map(str, codes))})"] if codes else []
    tests += [f"{cell} IS NULL"] if missing else []
    return f"({' OR '.join(tests)})" if tests else "false"


def _to_text(value: object) -> str | None:
    return None if value is None else str(value)
