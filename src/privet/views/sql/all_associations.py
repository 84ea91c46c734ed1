"""Every association of two views, by the sizes m and n of its connectivity graphs.

All pairs of one key share one probability, so keys are counted by their two sizes and
no association is listed that others are equal to. Only people in several keys are
looked at one by one, and their values only where bounds leave a doubt.
Wang, Lakshmanan 2006, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isinf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine import arrow
from privet.errors import InputError
from privet.views.sql.join import JoinedViews
from privet.views.sql.one_association import NodeTables, OneAssociation

LOG2 = log(2)

CLOSE = 1e-9
"""Logarithms nearer than this are not told apart."""

TIE = 1e-13
"""Nor are sums of what keys add to 1/2, relatively."""


@dataclass(frozen=True)
class KeySizes:
    """Keys of the same two sizes."""

    people: int
    """m: different people, missing included."""
    secrets: int
    """n: different values, missing included."""
    keys: int
    """How many keys have these sizes."""
    pairs: int
    """Associations of somebody with some value in them."""
    single: int
    """People in them who are in no other key."""


@dataclass(frozen=True)
class AssociationPairs:
    """Associations of people in several keys that meet in the same kinds of keys."""

    kinds: tuple[int, ...]
    """The numbers of the sizes of the keys in which they meet."""
    person: str | None
    """One such person …"""
    secret: str | None
    """… and value."""


@dataclass(frozen=True)
class Bound:
    """The chance to miss an association, as a logarithm."""

    keys: int
    """In how many keys it may hold."""
    part: float
    """The sum, over these keys, of the logarithms of twice the chance to miss it."""

    @property
    def log(self) -> float:
        """The logarithm of the chance itself."""
        return self.part - self.keys * LOG2


def _hash_short(cell: str) -> str:
    return f"CAST(hash({cell}) >> 32 AS UINTEGER)"


SHORT_HASH = _hash_short("i")
"""What people with several rows are found by: of ten million 0.2 % share one."""

MANY, SORTED_BYTES = 100_000, 12
"""From so many rows on hashes are sorted; what a row takes: a hash, and its copy."""

_ROWS = ", count(*) AS rows, count(i) AS named"


class AllAssociations:
    """The keys of two views by their sizes, and the people in several of them."""

    def __init__(self, relation: JoinedViews) -> None:
        self._relation = relation
        self._amount = "sum(w)" if relation.has_weights else "count(*)"
        self._right = relation.make_keyed(self._make_right)
        doing = "people in several keys"
        self.often = self._make_often()
        self._where = relation.make("where", self._select_where, "i", doing)
        self._ids = relation.make("ids", self._select_ids, "i", doing)
        self._left = relation.make("left", self._select_left, "i", doing)
        self._keys = relation.make("keys", self._select_keys, "", "counting keys")
        lost = relation.fetch_one(
            f"SELECT count(*) AS n FROM {self._keys} WHERE m IS NULL OR n IS NULL"
        )
        if lost["n"]:
            raise InputError(
                "Views must be of one table: every key of one view must occur in the "
                f"other; {lost['n']} do not."
            )

    # What is counted ----------------------------------------------------------------

    def _make_right(self) -> str:
        """The values of each key; of a table also the rows, and those with a person."""
        relation = self._relation
        names = ", ".join([*relation.keys, "p"])
        side, counts = (1, "") if relation.sides.marker else (2, _ROWS)
        if counts:
            counts += f", CAST({self._amount} AS BIGINT) AS holders"

        def select(only: str) -> str:
            rows = f"SELECT * FROM ({relation.rows(side)}) {only}"
            pairs = f"SELECT {names}{counts} FROM ({rows}) GROUP BY {names}"
            return f"SELECT *, {relation.hashed(relation.keys)} AS h FROM ({pairs})"

        return relation.make("right", select, "h", "counting values")

    def _make_often(self) -> str:
        """Hashes of people with several rows, and of those who share one with others.

        What follows counts their rows and keys, so whoever has one row does no harm.
        """
        relation, doing = self._relation, "counting people"
        rows = self._count_sorted()
        if not rows:
            return relation.make("often", self._select_often, "i", doing)
        found = relation.read_column(
            f"SELECT {SHORT_HASH} AS g FROM ({relation.rows(0)})", rows, doing
        )
        found.sort()  # several times faster than grouping people who mostly differ
        return relation.make_small_table({"g": np.unique(found[1:][_repeats(found)])})

    def _count_sorted(self) -> int:
        """The rows, if they are many and their hashes fit into memory; else 0."""
        relation = self._relation
        if relation.sides.marker:
            return 0
        found = relation.fetch_one(
            f"SELECT CAST(coalesce(sum(rows), 0) AS BIGINT) AS n FROM {self._right}"
        )
        rows = int(found["n"])
        fits = rows >= MANY and rows * SORTED_BYTES <= relation.session.room
        return rows if fits else 0

    def _select_often(self, only: str) -> str:
        return (
            f"SELECT {SHORT_HASH} AS g FROM ({self._relation.rows(0)}) {only} "
            "GROUP BY g HAVING count(*) > 1"
        )

    def _select_where(self, only: str) -> str:
        """The keys of those people; hashed after the others are left out."""
        relation = self._relation
        names = ", ".join([*relation.keys, "i", "w"])
        cells = ", ".join([*relation.keys, "i"])
        return (
            f"SELECT {relation.hashed(relation.keys)} AS h, i, count(*) AS rows, "
            f"CAST({self._amount} AS BIGINT) AS own FROM (SELECT {names} FROM "
            f"({relation.rows(0)}) {only}) r "
            f"SEMI JOIN {self.often} u ON {SHORT_HASH} = u.g GROUP BY {cells}"
        )

    def _select_ids(self, only: str) -> str:
        """People with several rows: those in one key by key, the others one by one."""
        # A line (h, NULL, n people) for each key, and (NULL, i, 1) for each person in
        # several: what follows reads h IS NULL as that.
        people = (
            "SELECT i, CASE WHEN count(*) = 1 THEN min(h) END AS h, sum(rows) AS rows "
            f"FROM {self._where} {only} GROUP BY i"
        )
        return (
            "SELECT h, CASE WHEN h IS NULL THEN i END AS i, count(*) AS n, count(i) AS "
            "named, CAST(sum(rows) AS BIGINT) AS rows, CAST(coalesce(sum(rows) FILTER "
            f"(WHERE i IS NOT NULL), 0) AS BIGINT) AS named_rows FROM ({people}) "
            "GROUP BY 1, 2"
        )

    def _select_left(self, only: str) -> str:
        return (
            f"SELECT r.* FROM (SELECT * FROM {self._where} {only}) r JOIN "
            f"(SELECT i FROM {self._ids} WHERE h IS NULL) u "
            "ON r.i IS NOT DISTINCT FROM u.i"
        )

    def _select_keys(self, _only: str) -> str:
        """Whoever has one row is counted as a row; the others are put right."""
        rows = f"SELECT h{_ROWS} FROM ({self._relation.rows(0)}) GROUP BY h"
        if not self._relation.sides.marker:
            rows = f"SELECT h, rows, named FROM {self._right}"
        # m of a key: 5 rows, 3 of them one person's, are 5 + (1 - 3) = 3 people. Who is
        # in several keys counts towards m in each, but towards `single` in none.
        people = (
            f"SELECT h, rows AS m, named, named AS single FROM ({rows}) UNION ALL "
            "SELECT h, n - rows, named - named_rows, named - named_rows "
            f"FROM {self._ids} WHERE h IS NOT NULL UNION ALL "
            "SELECT h, 1 - rows, CASE WHEN i IS NULL THEN 0 ELSE 1 - rows END, "
            f"CASE WHEN i IS NULL THEN 0 ELSE -rows END FROM {self._left}"
        )
        left = (
            "SELECT h, CAST(sum(m) AS BIGINT) AS m, CAST(sum(named) AS BIGINT) AS "
            f"named, CAST(sum(single) AS BIGINT) AS single FROM ({people}) GROUP BY h"
        )
        total = self._unless_files("CAST(sum(holders) AS BIGINT)")
        right = (
            f"SELECT h, count(*) AS n, count(p) AS given, {total} AS rows "
            f"FROM {self._right} GROUP BY h"
        )
        return (
            "SELECT coalesce(a.h, b.h) AS h, a.m, a.named, a.single, b.n, b.given, "
            f"b.rows FROM ({left}) a FULL JOIN ({right}) b ON a.h = b.h"
        )

    def _unless_files(self, cell: str) -> str:
        """A number of rows, which views that come as files do not tell."""
        return "NULL" if self._relation.sides.marker else cell

    # What others read ---------------------------------------------------------------

    @property
    def nodes(self) -> NodeTables:
        """What all keys show; of the people, those who are in several."""
        holders = self._unless_files("holders")
        return NodeTables(
            self._left,
            f"(SELECT h, p, {holders} AS holders FROM {self._right})",
            f"(SELECT h, m, n, rows FROM {self._keys})",
            self._right,
        )

    def select_single(self, among: str = "") -> str:
        """People in one key, with their rows: h, own, i; `among` joins the keys k.h."""
        relation = self._relation
        return (
            f"SELECT k.h, CAST(k.w AS BIGINT) AS own, k.i FROM ({relation.rows(0)}) k "
            f"{among} ANTI JOIN {self.often} u ON {_hash_short('k.i')} = u.g "
            "WHERE k.i IS NOT NULL UNION ALL SELECT k.h, k.own, k.i FROM (SELECT "
            f"min(h) AS h, CAST(sum(own) AS BIGINT) AS own, i FROM {self._where} "
            f"WHERE i IS NOT NULL GROUP BY i HAVING count(*) = 1) k {among}"
        )

    def find_association(self, person: str | None, value: str | None) -> OneAssociation:
        """Somebody who is in several keys, and a value of one of them."""
        relation, sides = self._relation, self._relation.sides
        whose = relation.build_condition(sides.person, [person], "i")
        which = relation.build_condition(sides.secret, [value], "p")
        chosen = (
            f"SELECT (SELECT i FROM {self._left} WHERE {whose} LIMIT 1) AS i, "
            f"(SELECT p FROM {self._right} WHERE {which} LIMIT 1) AS p"
        )
        return OneAssociation(relation, self.nodes, chosen)

    # Keys ---------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> list[KeySizes]:
        """Keys that have somebody and some value, by their sizes."""
        found = self._relation.ask(
            "SELECT m, n, count(*) AS keys, CAST(sum(CAST(named AS HUGEINT) * given) "
            "AS VARCHAR) AS pairs, CAST(sum(single) AS BIGINT) AS single "
            f"FROM {self._keys} WHERE named > 0 AND given > 0 GROUP BY m, n "
            "ORDER BY m, n"
        )
        return [
            KeySizes(r["m"], r["n"], r["keys"], int(r["pairs"]), r["single"])
            for r in found.to_pylist()
        ]

    def count_overall(self) -> tuple[int, int]:
        """How many people and values there are in all, missing ones included."""
        # Somebody in 3 keys is in 3 of the m, in 3 lines of `left`, and once in `ids`.
        found = self._relation.fetch_one(
            f"SELECT (SELECT CAST(sum(m) AS BIGINT) FROM {self._keys}) "
            f"- (SELECT count(*) FROM {self._left}) "
            f"+ (SELECT count(*) FROM {self._ids} WHERE h IS NULL) AS people, "
            f"(SELECT count(*) FROM (SELECT DISTINCT p FROM {self._right})) AS secrets"
        )
        return found["people"], found["secrets"]

    def count_several(self) -> int:
        """How many people are in several keys."""
        found = self._relation.fetch_one(
            f"SELECT count(*) AS n FROM {self._ids} WHERE h IS NULL AND i IS NOT NULL"
        )
        return int(found["n"])

    def look_at_sizes(self, m: int, n: int) -> tuple[str | None, str | None]:
        """Look at one key of these sizes from now on; somebody in it, and a value.

        Somebody who is in no other key, if there is such a person.
        """
        relation = self._relation
        key = relation.fetch_one(
            f"SELECT h, single FROM {self._keys} WHERE m = {int(m)} AND n = {int(n)} "
            "AND named > 0 AND given > 0 ORDER BY single = 0, h LIMIT 1"
        )
        relation.look_at([key["h"]])
        others = f"SELECT i FROM {self._left} WHERE i IS NOT NULL"
        person = self._fetch_first_value(
            "i", relation.sides.person, 0, f"i IN ({others}),"
        )
        value = self._fetch_first_value("p", relation.sides.secret, 1, "")
        if not key["single"]:
            self.look_at_person(person)
        return person, value

    def _fetch_first_value(
        self, cell: str, name: str, side: int, order: str
    ) -> str | None:
        relation = self._relation
        found = relation.fetch_one(
            f"SELECT {relation.text(name, cell)} AS v FROM ({relation.rows(side)}) "
            f"WHERE {cell} IS NOT NULL ORDER BY {order} {cell} LIMIT 1"
        )
        return relation.label(name, found["v"])

    def look_at_person(self, person: str | None) -> None:
        """Look at the keys of somebody who is in several of them from now on."""
        relation = self._relation
        whose = relation.build_condition(relation.sides.person, [person], "i")
        keys = relation.ask(f"SELECT h FROM {self._left} WHERE {whose}")
        relation.look_at(keys["h"].to_pylist())

    def list_worst_keys(self, kinds: Sequence[int], most: int) -> list[dict[str, Any]]:
        """The first keys of these sizes, in the order of the sizes given."""
        relation = self._relation
        ranks = relation.make_small_table(
            {
                "z": np.arange(len(kinds)),
                "m": np.array([self.sizes[z].people for z in kinds], np.int64),
                "n": np.array([self.sizes[z].secrets for z in kinds], np.int64),
            }
        )
        first = (
            f"SELECT z.z, k.h, k.m, k.n FROM {self._keys} k JOIN {ranks} z "
            "ON k.m = z.m AND k.n = z.n WHERE named > 0 AND given > 0 "
            f"ORDER BY z.z, k.h LIMIT {int(most)}"
        )
        often = "NULL AS most, 0"
        if not relation.sides.marker:
            often = "max(r.holders) AS most, sum(r.holders)"
        shown = relation.select_key_columns("r")
        keys = relation.ask(
            f"SELECT {', '.join(['z, f.m AS people, f.n AS secrets', *shown])}, "
            f"{often} AS rows FROM {self._right} r JOIN ({first}) f ON f.h = r.h "
            "GROUP BY ALL ORDER BY ALL"
        )
        named = list(zip(relation.keys, relation.sides.key, strict=True))
        return [
            {
                "key": {name: relation.label(name, row[x]) for x, name in named},
                "people": row["people"],
                "values": row["secrets"],
                "kind": kinds[row["z"]],
                "often": None
                if row["most"] is None
                else Fraction(int(row["most"]), int(row["rows"])),
            }
            for row in keys.to_pylist()
        ]

    # People in several keys -----------------------------------------------------------

    def judge_several(self, logs: Sequence[float], beyond: Sequence[bool]) -> None:
        """Bound what can be learnt of each person in several keys.

        Takes, for each of `sizes`, the logarithm of twice the chance not to meet there,
        and whether one meeting is beyond the limit already.
        """
        relation, sizes = self._relation, self.sizes
        given = relation.make_small_table(
            {
                "z": np.arange(len(sizes), dtype=np.int32),
                "m": np.array([s.people for s in sizes], np.int64),
                "n": np.array([s.secrets for s in sizes], np.int64),
                "d": np.array(logs, np.float64),
                "b": np.array(beyond, np.uint8),
            }
        )
        self._met = relation.make(
            "met",
            lambda _: (
                f"SELECT l.i, l.h, z.z, z.d, z.b > 0 AS b FROM {self._left} l "
                f"JOIN {self._keys} k ON l.h = k.h JOIN {given} z "
                "ON k.m = z.m AND k.n = z.n WHERE l.i IS NOT NULL AND k.given > 0"
            ),
            "",
            "people in several keys",
        )
        # l: the logarithm of the least chance to miss a value, were it in all c keys.
        self._seen: list[str] = []  # tables of those who came already
        self._people = relation.make(
            "several",
            lambda only: (
                "SELECT i, sum(d) AS d, count(*) AS c, bool_or(b) AS b, "
                f"sum(d) - count(*) * {LOG2!r} AS l FROM {self._met} {only} GROUP BY i"
            ),
            "i",
            "people in several keys",
        )

    def count_surely_beyond(self) -> int:
        """People in several keys, one of which is beyond the limit by itself."""
        found = self._relation.fetch_one(
            f"SELECT count(*) AS n FROM {self._people} WHERE b"
        )
        return int(found["n"])

    def find_doubtful(self, bound: float) -> list[AssociationPairs]:
        """Kinds of keys in which people meet a value twice, who may be beyond."""
        who = f"NOT b AND l <= {_format_number(bound)}"
        self._doubted = self._relation.make(
            "doubted",
            lambda _: self._select_pairs(who),
            "",
            "people in several keys",
        )
        return self._fetch_pairs(f"SELECT * FROM {self._doubted}")

    def fetch_contenders(self, best: Bound, most: int) -> list[AssociationPairs] | None:
        """Those who may meet a value more surely, a few at a time; None: no more.

        Nobody comes twice. Logarithms that are close tell little of the chances that
        keys add to 1/2 each; of as many keys the sums of those decide.
        """
        surer = (
            f"(l < {_format_number(best.log - CLOSE)} OR "
            f"(l < {_format_number(best.log + CLOSE)} AND "
            f"(c <> {int(best.keys)} OR d < {_format_number(best.part * (1 + TIE))})))"
        )
        relation = self._relation
        unseen = " ".join(f"ANTI JOIN {t} ON {t}.i = q.i" for t in self._seen)
        first = (
            f"SELECT q.i FROM {self._people} q {unseen} WHERE {surer} "
            f"ORDER BY l, d LIMIT {int(most)}"
        )
        some = relation.make("some", lambda _: first, "", "people in several keys")
        self._seen.append(some)
        if not relation.fetch_one(f"SELECT count(*) AS n FROM {some}")["n"]:
            return None
        return self._fetch_pairs(self._select_pairs(f"i IN (SELECT i FROM {some})"))

    def _select_pairs(self, who: str) -> str:
        return (
            "SELECT t.i, r.p, list(t.z ORDER BY t.z) AS zs FROM "
            f"(SELECT i FROM {self._people} WHERE {who}) s JOIN {self._met} t "
            f"ON s.i = t.i JOIN {self._right} r ON t.h = r.h "
            "WHERE r.p IS NOT NULL GROUP BY t.i, r.p"
        )

    def _fetch_pairs(self, pairs: str) -> list[AssociationPairs]:
        relation, sides = self._relation, self._relation.sides
        person = relation.text(sides.person, "first.i")
        secret = relation.text(sides.secret, "first.p")
        found = relation.ask(
            f"SELECT zs, {person} AS i, {secret} AS p FROM (SELECT zs, "
            "min({'i': i, 'p': p}) AS first "
            f"FROM ({pairs}) GROUP BY zs)",
            "people in several keys",
        )
        return [
            AssociationPairs(
                tuple(r["zs"]),
                relation.label(sides.person, r["i"]),
                relation.label(sides.secret, r["p"]),
            )
            for r in found.to_pylist()
        ]

    def count_people_with(self, kinds: Sequence[tuple[int, ...]]) -> int:
        """Doubtful people who meet some value in one of these kinds of keys."""
        if not kinds:
            return 0
        session = self._relation.session
        session.register("pv_kinds_given", arrow.frame(zs=arrow.lists(kinds)))
        try:
            found = self._relation.fetch_one(
                f"SELECT count(DISTINCT e.i) AS n FROM {self._doubted} e "
                "JOIN pv_kinds_given g ON e.zs = g.zs"
            )
        finally:
            session.unregister("pv_kinds_given")
        return int(found["n"])


def _repeats(ordered: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which numbers, from the second on, are as the one before."""
    # Of 3 5 5 7: no, yes, no.
    same: NDArray[np.bool_] = ordered[1:] == ordered[:-1]
    return same


def _format_number(bound: float) -> str:
    return "CAST('-inf' AS DOUBLE)" if isinf(bound) else repr(bound)
