"""Every association of two views, where people who are alike are counted together.

Whoever is in one key only is there like everybody else with as many rows, so one of
them stands for all: a million people in 50,000 keys are some 60,000 lines. Values that
as many rows of a key have are alike too. Only people in several keys are listed one by
one, with the values they meet. Keys are known by one number made of their sizes, and
associations by the numbers of the keys in which they meet; in the restricted model by
how many values somebody could have, which is all that matters there.
Wang, Lakshmanan 2006, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from privet.views.sql.all_associations import AllAssociations
from privet.views.sql.join import JoinedViews
from privet.views.sql.one_association import (
    FIELDS,
    AssociationKind,
    Meeting,
    NodeTables,
)
from privet.views.sql.some_associations import ListedAssociations

DOING = "listing associations"

_KIND = ("one", "two", "more", "n", "fits")
"""What tells kinds apart: the numbers of one key or two, or the list of more, for lists
are slow to compare; the values one could have, and whether this is one of them."""

_POSSIBLE = "(m > 1 OR n = 1)"
"""Whether somebody in a key can have one value only: who is alone has them all."""

_WIDE = 1 << 62
"""Numbers of keys below this are of 64 bits."""


class PeopleAlike:
    """People in one key by key and number of rows; the others one by one."""

    def __init__(
        self, relation: JoinedViews, values: Sequence[object] | None = None
    ) -> None:
        """Look at every association, or at those with some values."""
        self.relation = relation
        self._all = relation.keep("all", lambda: AllAssociations(relation))
        self.alike = self._make_kept("alike", self._select_alike, "h")
        self.several = self._make_kept("several_keys", self._select_several, "i")
        self.moved = self._make_kept("moved", lambda _: self._select_moved(), "")
        self.nodes = self._collect_nodes(values)

    def _make_kept(self, name: str, select: Callable[[str], str], cut: str) -> str:
        """A table that the next promise reads too."""
        relation, doing = self.relation, "people in several keys"
        return relation.keep(name, lambda: relation.make(name, select, cut, doing))

    def _select_alike(self, only: str) -> str:
        single = f"SELECT * FROM ({self._all.select_single()}) {only}"
        return (
            "SELECT a.*, z.m, z.n, z.rows FROM (SELECT h, own, min(i) AS i, count(*) "
            f"AS who FROM ({single}) GROUP BY h, own) a "
            f"JOIN {self._all.nodes.sizes} z ON a.h = z.h"
        )

    def _select_several(self, only: str) -> str:
        nodes = self._all.nodes
        keys = (
            f"SELECT l.i, z.m, z.n FROM (SELECT * FROM {nodes.left} {only}) l "
            f"JOIN {nodes.sizes} z ON l.h = z.h WHERE l.i IS NOT NULL"
        )
        return (
            f"SELECT i, count(*) AS keys, bool_and({_POSSIBLE}) AS possible "
            f"FROM ({keys}) GROUP BY i"
        )

    def _select_moved(self) -> str:
        nodes = self._all.nodes
        return (
            "SELECT l.h, l.i, l.own, u.keys, z.m, z.n, z.rows "
            f"FROM {nodes.left} l JOIN {self.several} u ON l.i = u.i "
            f"JOIN {nodes.sizes} z ON l.h = z.h"
        )

    def _collect_nodes(self, values: Sequence[object] | None) -> NodeTables:
        """What the keys show, with one person for all who are alike."""
        left = " UNION ALL ".join(
            f"SELECT h, i, own FROM {table}" for table in (self.alike, self.moved)
        )
        nodes = replace(self._all.nodes, left=f"({left})")
        if values is None:
            return nodes
        relation = self.relation
        which = relation.build_condition(relation.sides.secret, values, "p")
        return replace(nodes, which=which)

    def select_like(self, lines: str) -> str:
        """Everybody who is like those of some lines, of whom who is told: one, i."""
        alone = f"SELECT DISTINCT i AS one, i FROM {lines} WHERE who = 1"
        crowd = f"SELECT count(*) AS n FROM {lines} WHERE who > 1"
        if not self.relation.fetch_one(crowd)["n"]:  # the rows need not be read
            return alone
        others = (
            f"SELECT a.* FROM {self.alike} a SEMI JOIN {lines} e ON a.i = e.i "
            "WHERE a.who > 1"
        )
        single = self._all.select_single(f"SEMI JOIN ({others}) o ON k.h = o.h")
        return (
            f"{alone} UNION ALL SELECT a.i, l.i FROM ({single}) l "
            f"JOIN ({others}) a ON l.h = a.h AND l.own = a.own"
        )

    def count_overall(self) -> tuple[int, int]:
        """How many people and values there are in all, missing ones included."""
        return self._all.count_overall()

    def count_refuted(self) -> int:
        """People who cannot have one value only: the views say so.

        Who is alone in a key has all of its values; who is in several keys has a value
        that all of them have.
        """
        found = self.relation.fetch_one(
            f"SELECT (SELECT CAST(coalesce(sum(who), 0) AS BIGINT) FROM {self.alike} "
            f"WHERE NOT {_POSSIBLE}) + (SELECT count(*) FROM {self.fitting} WHERE "
            "fitting = 0 OR NOT possible) AS n"
        )
        return int(found["n"])

    # People in several keys -----------------------------------------------------------

    def make_met(self, model: str) -> str:
        """Values that people in several keys meet, the numbers of these keys, and how
        many they are: i, p, keys, met, one, two, more.
        """
        if model == "restricted" and not self.relation.sides.marker:
            model = "bag"  # which of them does not matter there, so as to share them
        return self._make_kept(
            f"met_{FIELDS[model][0]}", lambda only: self._select_met(model, only), "i"
        )

    def _select_met(self, model: str, only: str) -> str:
        edges = (
            f"SELECT l.i, r.p, l.keys, {self.number_key(model)} AS z FROM "
            f"{self.nodes.right} r JOIN (SELECT * FROM {self.moved} {only}) l "
            "ON l.h = r.h"
        )
        last = "CASE WHEN count(*) = 2 THEN max(z) END AS two"
        return (
            f"SELECT i, p, 2 AS keys, count(*) AS met, min(z) AS one, {last}, "
            f"NULL AS more FROM ({edges} WHERE l.keys = 2) GROUP BY i, p UNION ALL "
            "SELECT i, p, min(keys), count(*), CASE WHEN count(*) < 3 THEN min(z) END, "
            f"{last}, CASE WHEN count(*) > 2 THEN list_sort(list(z)) END "
            f"FROM ({edges} WHERE l.keys > 2) GROUP BY i, p"
        )

    @cached_property
    def fitting(self) -> str:
        """How many values are in all keys of such people: i, possible, fitting."""
        counted = (
            "SELECT i, count(*) FILTER (WHERE met = keys) AS fitting "
            f"FROM {self.make_met('restricted')} GROUP BY i"
        )
        return self._make_kept(
            "fitting",
            lambda _: (
                f"SELECT c.*, u.possible FROM ({counted}) c "
                f"JOIN {self.several} u ON c.i = u.i"
            ),
            "",
        )

    # Numbers of keys ------------------------------------------------------------------

    def number_key(self, model: str) -> str:
        """One number for all that a model needs to know of a key, in their order."""
        # Of sizes up to 99: 12 people and 3 values are key 1203.
        first, *others = _list_varied(model)
        width = "BIGINT" if self._base ** (len(others) + 1) < _WIDE else "HUGEINT"
        number = f"CAST({first} AS {width})"
        for size in others:
            number = f"({number} * {self._base} + {size})"
        return number

    def read_key(self, model: str, number: int) -> Meeting:
        """What a number says of a key."""
        sizes: list[int] = []
        for _ in _list_varied(model):
            number, size = divmod(number, self._base)
            sizes.append(size)
        ones = len(FIELDS[model]) - len(sizes)
        return (*reversed(sizes), *(1,) * ones)

    @cached_property
    def _base(self) -> int:
        """More than any size."""
        sizes = "greatest(max(m), max(n), coalesce(max(rows), 0))"
        found = self.relation.fetch_one(
            f"SELECT coalesce({sizes}, 0) AS most FROM {self.nodes.sizes}"
        )
        return int(found["most"]) + 1

    def list_for_model(self, model: str) -> AlikeAssociations:
        """Every association by what a model needs to know of its keys."""
        return AlikeAssociations(self, model)


def _list_varied(model: str) -> list[str]:
    """The sizes that differ: everybody and every value has one node here."""
    return [name for name in FIELDS[model] if name not in ("s", "t")]


class AlikeAssociations(ListedAssociations):
    """Every association by its kind, one person standing for all who are alike."""

    def __init__(self, people: PeopleAlike, model: str) -> None:
        self._people, self._model = people, model
        self._restricted = model == "restricted"
        make = people.relation.make
        self._single = make("single", self._select_single, "a.h", DOING)
        pairs = f"({self._select_lines()})"
        kinds = make(f"kinds_{model}", lambda _: _select_kinds(pairs), "", DOING)
        super().__init__(people.relation, pairs, kinds, people.nodes)

    # What is listed -----------------------------------------------------------------

    def _select_single(self, only: str) -> str:
        """People in one key, by values of as many rows: the first, and how many."""
        people = self._people
        same = ["h", "holders"] if self._model == "bag" else ["h"]
        values = (
            f"SELECT {', '.join(same)}, min(p) AS p, count(*) AS times FROM "
            f"{people.nodes.right} WHERE {people.nodes.which} GROUP BY ALL"
        )
        kind = f"{people.number_key(self._model)} AS one"
        if self._restricted:
            kind = f"CAST({_POSSIBLE} AS INTEGER) AS one, n"
        return (
            f"SELECT a.h, a.i, v.* EXCLUDE (h), {kind}, a.who FROM (SELECT * FROM "
            f"{people.alike} a {only}) a JOIN ({values}) v ON a.h = v.h"
        )

    def _select_lines(self) -> str:
        """A line for associations that are alike: h is NULL for people in several
        keys, p is the first of `times` values.
        """
        number = "n" if self._restricted else "NULL"
        holders = "holders" if self._model == "bag" else "NULL"
        single = (
            f"SELECT h, i, p, {holders} AS holders, one, NULL AS two, NULL AS more, "
            f"{number} AS n, true AS fits, who, times FROM {self._single}"
        )
        people = self._people
        if self._restricted:
            moved = people.relation.make(
                "restricted", lambda _: self._select_restricted(), "", DOING
            )
            return (
                f"{single} UNION ALL SELECT NULL, i, p, NULL, one, NULL, NULL, n, "
                f"fits, 1, times FROM {moved}"
            )
        return (
            f"{single} UNION ALL SELECT NULL, i, p, NULL, one, two, more, NULL, true, "
            f"1, 1 FROM {people.make_met(self._model)} WHERE {people.nodes.which}"
        )

    def _select_restricted(self) -> str:
        """One value only must be in all keys of a person; the others do not fit."""
        people = self._people
        values = (
            "SELECT i, met = keys AS fits, min(p) AS p, count(*) AS times FROM "
            f"{people.make_met(self._model)} WHERE {people.nodes.which} GROUP BY ALL"
        )
        return (
            "SELECT q.*, f.fitting AS n, CASE WHEN f.fitting > 0 THEN "
            "CAST(f.possible AS INTEGER) END AS one "
            f"FROM ({values}) q JOIN {people.fitting} f ON q.i = f.i"
        )

    def _select_values(self, lines: str) -> str:
        """Each association of some lines: z, rank, i, p."""
        people = self._people
        right = f"SELECT * FROM {people.nodes.right} WHERE {people.nodes.which}"
        alike = "AND e.holders = r.holders" if self._model == "bag" else ""
        single = (
            f"SELECT e.z, e.rank, e.i, r.p FROM ({right}) r JOIN {lines} e "
            f"ON e.h = r.h {alike}"
        )
        moved = f"SELECT z, rank, i, p FROM {lines} WHERE h IS NULL"
        if self._restricted:
            met = people.make_met(self._model)
            moved = (
                f"SELECT e.z, e.rank, e.i, q.p FROM (SELECT * FROM {met} WHERE "
                f"{people.nodes.which}) q JOIN (SELECT * FROM {lines} WHERE h IS NULL) "
                "e ON e.i = q.i AND e.fits = (q.met = q.keys)"
            )
        return f"{single} UNION ALL {moved}"

    # What is known of it ------------------------------------------------------------

    def fetch_kinds(self) -> list[AssociationKind]:
        """Every kind of association there is."""
        if self._restricted:
            return list(self._fetch_restricted())
        found = self._relation.ask(
            "SELECT z, CAST(one AS VARCHAR) AS one, CAST(two AS VARCHAR) AS two, "
            f"CAST(more AS VARCHAR[]) AS more, pairs FROM {self._kinds} ORDER BY z"
        )
        known: dict[str, Meeting] = {}
        kinds = []
        for z, one, two, more, pairs in zip(
            *(c.to_pylist() for c in found.columns), strict=True
        ):
            numbers = more or ((one,) if two is None else (one, two))
            for number in numbers:
                if number not in known:
                    known[number] = self._people.read_key(self._model, int(number))
            keys = tuple(known[number] for number in numbers)
            kinds.append(AssociationKind(z, keys, (), pairs))
        return kinds

    def _fetch_restricted(self) -> Iterator[AssociationKind]:
        """The same of kinds that are told apart otherwise: keys are the first one's."""
        found = self._relation.ask(
            "SELECT k.z, k.n, k.fits, k.pairs, list({'m': s.m, 'n': s.n} ORDER BY "
            f"s.m, s.n) AS keys FROM {self._kinds} k JOIN {self._nodes.left} l "
            f"ON k.i = l.i JOIN {self._nodes.sizes} s ON l.h = s.h GROUP BY ALL "
            "ORDER BY k.z"
        )
        for r in found.to_pylist():
            keys = tuple((key["m"], key["n"], 1, 1) for key in r["keys"])
            could = ((keys, r["n"]),) if r["n"] else ()
            met = keys if r["fits"] else None
            yield AssociationKind(r["z"], met, could, r["pairs"])

    def count_people(self, kinds: Sequence[int]) -> int:
        """How many people have an association of these kinds."""
        if not kinds:
            return 0
        wanted = self._relation.make_small_table({"z": np.array(kinds, np.int64)})
        found = self._relation.fetch_one(
            "SELECT CAST(coalesce(sum(who), 0) AS BIGINT) AS n FROM (SELECT DISTINCT "
            f"i, who FROM ({self._select_of_kinds(wanted)}))"
        )
        return int(found["n"])

    def _select_of_kinds(self, wanted: str) -> str:
        """The lines of the kinds z of a table."""
        same = " AND ".join(f"e.{x} IS NOT DISTINCT FROM k.{x}" for x in _KIND)
        return (
            f"SELECT k.* EXCLUDE (i, p, pairs, first), e.h, e.i, e.p, e.holders, e.who "
            f"FROM {self._pairs} e JOIN (SELECT * FROM {self._kinds} JOIN {wanted} "
            f"USING (z)) k ON {same}"
        )

    def _make_first(self, order: Mapping[int, int], most: int) -> str:
        """The first of the surest kinds, with everybody who is like somebody."""
        relation = self._relation
        ranks = relation.make_small_table(
            {
                "z": np.fromiter(order.keys(), np.int64),
                "rank": np.fromiter(order.values(), np.int64),
            }
        )
        enough = relation.make(
            "enough",
            lambda _: (
                f"SELECT * FROM {ranks} WHERE rank <= (SELECT min(rank) FROM "
                f"({self._add_up(ranks)}) WHERE total >= {int(most)} OR last)"
            ),
            "",
            DOING,
        )
        lines = relation.make(
            "lines", lambda _: self._select_of_kinds(enough), "", DOING
        )
        first = (
            f"SELECT c.rank, c.i AS one, x.i FROM (SELECT DISTINCT rank, i FROM {lines}"
            f") c JOIN ({self._people.select_like(lines)}) x "
            f"ON c.i = x.one ORDER BY c.rank, x.i LIMIT {int(most)}"
        )
        return relation.make(
            "first",
            lambda _: (
                f"SELECT c.z, f.i, c.p, c.rank FROM ({self._select_values(lines)}) c "
                f"JOIN ({first}) f ON f.one = c.i AND f.rank = c.rank "
                f"ORDER BY c.rank, f.i, c.p LIMIT {int(most)}"
            ),
            "",
            DOING,
        )

    def _add_up(self, ranks: str) -> str:
        """Of each rank, how many associations it and those before have."""
        return (
            "SELECT rank, sum(sum(pairs)) OVER (ORDER BY rank) AS total, "
            "rank = max(rank) OVER () AS last "
            f"FROM {self._kinds} k JOIN {ranks} g ON k.z = g.z GROUP BY rank"
        )


def _select_kinds(pairs: str) -> str:
    kind = ", ".join(_KIND)
    return (
        "SELECT row_number() OVER (ORDER BY first.i, first.p) AS z, *, first.i AS i, "
        f"first.p AS p FROM (SELECT {kind}, CAST(sum(who * times) AS BIGINT) AS pairs, "
        f"min({{'i': i, 'p': p}}) AS first FROM {pairs} GROUP BY {kind})"
    )
