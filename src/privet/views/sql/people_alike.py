"""Every association of two views, where people who are alike are counted together.

Whoever is in one key only is there like everybody else with as many rows, so one of
them stands for all: a million people in 50,000 keys are some 60,000 lines. Only people
in several keys are listed one by one. Keys are known by the number of their sizes, and
the associations of the numbers of the keys in which they meet.
Wang, Lakshmanan 2006, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from privet.views.sql.join import JoinedViews
from privet.views.sql.some_associations import (
    FIELDS,
    AssociationKind,
    ListedAssociations,
    Meeting,
    NodeTables,
)

DOING = "listing associations"

_KEYS = ("one", "two", "more")
"""The numbers of one key or two, or the list of more: lists are slow to compare."""

_LISTED = (
    "CASE WHEN count(*) < 3 THEN min(z) END AS one, "
    "CASE WHEN count(*) = 2 THEN max(z) END AS two, CASE WHEN count(*) > 2 THEN "
    "list_sort(list(z) FILTER (WHERE keys > 2)) END AS more"
)
"""These, of the keys z in which something meets, out of all the keys of a person."""


class PeopleAlike:
    """People in one key by key and number of rows; the others one by one."""

    def __init__(self, relation: JoinedViews, nodes: NodeTables) -> None:
        self.relation, self.nodes = relation, nodes
        make, left = relation.make, nodes.left
        self._often = make(
            "often",
            lambda only: (
                f"SELECT i, count(*) AS keys FROM {left} {only} GROUP BY i "
                "HAVING count(*) > 1 AND i IS NOT NULL"
            ),
            "i",
            "counting people",
        )
        self.alike = make(
            "alike",
            lambda only: (
                "SELECT h, own, min(i) AS i, count(*) AS who FROM "
                f"({self.select_single(only)}) GROUP BY h, own"
            ),
            "h",
            "counting people",
        )
        self.moved = make(
            "moved",
            lambda _: (
                f"SELECT l.*, u.keys FROM {left} l JOIN {self._often} u ON l.i = u.i"
            ),
            "",
            "people in several keys",
        )

    def select_single(self, only: str = "") -> str:
        """Those who are in one key."""
        return (
            f"SELECT l.* FROM (SELECT * FROM {self.nodes.left} {only}) l "
            f"ANTI JOIN {self._often} u ON l.i = u.i WHERE l.i IS NOT NULL"
        )

    def count_refuted(self) -> int:
        """People who cannot have one value only: the views say so.

        Who is alone in a key has all of its values; who is in several keys has a value
        that all of them have.
        """
        crowded = f"SELECT h FROM {self.nodes.sizes} WHERE m = 1 AND n > 1"
        found = self.relation.fetch_one(
            f"SELECT (SELECT CAST(coalesce(sum(who), 0) AS BIGINT) FROM {self.alike} "
            f"WHERE h IN ({crowded})) + (SELECT count(*) FROM {self.fitting} WHERE "
            f"fitting = 0 OR i IN (SELECT i FROM {self.moved} WHERE h IN ({crowded}))) "
            "AS n"
        )
        return int(found["n"])

    @cached_property
    def met(self) -> str:
        """Values that people in several keys meet, and in how many: i, p, met."""
        return self._make_kept(
            "met",
            lambda only: (
                "SELECT i, p, count(*) AS met FROM (SELECT l.i, r.p FROM (SELECT * "
                f"FROM {self.moved} {only}) l JOIN {self.nodes.right} r ON l.h = r.h) "
                "GROUP BY i, p"
            ),
            "i",
        )

    @cached_property
    def fitting(self) -> str:
        """How many values are in all keys of such people: i, keys, fitting."""
        return self._make_kept(
            "fitting",
            lambda _: (
                "SELECT i, any_value(keys) AS keys, count(met) FILTER "
                "(WHERE met = keys) AS fitting FROM (SELECT k.i, k.keys, m.met "
                f"FROM {self._often} k LEFT JOIN {self.met} m ON k.i = m.i) GROUP BY i"
            ),
            "",
        )

    def _make_kept(self, name: str, select: Callable[[str], str], cut: str) -> str:
        """A table as long-lived as these people."""
        relation, doing = self.relation, "people in several keys"
        return relation.keep(
            f"{name} of {self.moved}", lambda: relation.make(name, select, cut, doing)
        )

    def list_for_model(self, model: str) -> AlikeAssociations:
        """Every association by what a model needs to know of its keys."""
        return AlikeAssociations(self, model)


class AlikeAssociations(ListedAssociations):
    """Every association by its kind, one person standing for all who are alike."""

    def __init__(self, people: PeopleAlike, model: str) -> None:
        self._people, self._model = people, model
        relation = people.relation
        self._meetings = relation.make(
            "meetings", lambda _: self._select_meetings(), "", DOING
        )
        pairs = relation.make(f"pairs_{model}", self._select_pairs, "i", DOING)
        kinds = relation.make(
            f"kinds_{model}", lambda _: _select_kinds(pairs), "", DOING
        )
        super().__init__(relation, pairs, kinds, people.nodes)

    # What is listed -----------------------------------------------------------------

    def _select_edges(self, people: str, more: str = "") -> str:
        """Where people and values meet."""
        nodes = self._people.nodes
        fields = ", ".join(FIELDS[self._model])
        return (
            f"SELECT l.h, l.i, r.p, {fields}{more} FROM ({people}) l JOIN "
            f"{nodes.right} r ON l.h = r.h JOIN {nodes.sizes} z ON l.h = z.h"
        )

    def _select_meetings(self) -> str:
        """A number for each kind of key, in the order of the sizes."""
        fields = ", ".join(FIELDS[self._model])
        met = [
            f"SELECT DISTINCT {fields} FROM ({self._select_edges(people)})"
            for people in (self._alike, f"SELECT * FROM {self._people.moved}")
        ]
        return (
            f"SELECT CAST(row_number() OVER (ORDER BY {fields}) AS INTEGER) AS z, "
            f"{fields} FROM ({' UNION '.join(met)})"
        )

    @property
    def _alike(self) -> str:
        return f"SELECT *, 1 AS s FROM {self._people.alike}"

    def _number_keys(self, edges: str, only: str) -> str:
        fields = ", ".join(FIELDS[self._model])
        return f"SELECT * FROM ({edges}) JOIN {self._meetings} USING ({fields}) {only}"

    def _select_pairs(self, only: str) -> str:
        """Associations: the numbers of their keys; n values that one could have."""
        which, restricted = self._people.nodes.which, self._model == "restricted"
        alone = self._number_keys(self._select_edges(self._alike, ", who"), only)
        number = "n" if restricted else "NULL"
        single = (
            "SELECT i, p, z AS one, NULL AS two, NULL AS more, "
            f"{number} AS n, true AS fits, who FROM ({alone}) WHERE {which}"
        )
        if restricted:
            return f"{single} UNION ALL {self._select_restricted(only)}"
        people = f"SELECT * FROM {self._people.moved}"
        moved = self._number_keys(self._select_edges(people, ", keys"), only)
        return (
            f"{single} UNION ALL SELECT i, p, {_LISTED}, NULL AS n, "
            f"true AS fits, 1 AS who FROM ({moved}) WHERE {which} GROUP BY i, p"
        )

    def _select_restricted(self, only: str) -> str:
        """One value only must be in all keys of a person; the others do not fit."""
        people = self._people
        kinds = [f"CASE WHEN b.fitting > 0 THEN a.{x} END AS {x}" for x in _KEYS]
        return (
            f"SELECT q.i, q.p, {', '.join(kinds)}, "
            "b.fitting AS n, q.met = b.keys AS fits, 1 AS who "
            f"FROM (SELECT * FROM {people.met} {only}) q JOIN {people.fitting} b "
            f"ON q.i = b.i JOIN ({self._list_keys()}) a ON q.i = a.i "
            f"WHERE {people.nodes.which}"
        )

    def _list_keys(self) -> str:
        """The numbers of the keys of each person in several."""
        return (
            f"SELECT i, {_LISTED} FROM (SELECT l.i, l.keys, e.z FROM "
            f"{self._people.moved} l JOIN {self._people.nodes.sizes} x ON l.h = x.h "
            f"JOIN {self._meetings} e ON x.m = e.m AND x.n = e.n) GROUP BY i"
        )

    # What is known of it ------------------------------------------------------------

    def fetch_kinds(self) -> list[AssociationKind]:
        """Every kind of association there is."""
        found = self._relation.ask(
            f"SELECT z, one, two, more, n, fits, pairs FROM {self._kinds} ORDER BY z"
        )
        met = self._numbered
        kinds = []
        for z, one, two, more, n, fits, pairs in zip(
            *(c.to_pylist() for c in found.columns), strict=True
        ):
            numbers = more or [k for k in (one, two) if k is not None]
            keys = tuple(met[k] for k in numbers)
            could = ((keys, n),) if n else ()
            kinds.append(AssociationKind(z, keys if fits else None, could, pairs))
        return kinds

    @cached_property
    def _numbered(self) -> dict[int, Meeting]:
        found = self._relation.ask(f"SELECT * FROM {self._meetings}")
        rows = zip(*(c.to_pylist() for c in found.columns), strict=True)
        return {z: tuple(sizes) for z, *sizes in rows}

    def count_people(self, kinds: Sequence[int]) -> int:
        """How many people have an association of these kinds."""
        if not kinds:
            return 0
        wanted = self._relation.make_small_table({"z": np.array(kinds, np.int64)})
        found = self._relation.fetch_one(
            "SELECT CAST(coalesce(sum(who), 0) AS BIGINT) AS n FROM (SELECT DISTINCT "
            f"i, who FROM ({self._select_of_kinds()}) WHERE z IN (SELECT z FROM "
            f"{wanted}))"
        )
        return int(found["n"])

    def _select_of_kinds(self) -> str:
        same = " AND ".join(f"e.{x} IS NOT DISTINCT FROM k.{x}" for x in (*_KEYS, "n"))
        return (
            f"SELECT k.z, e.i, e.p, e.who FROM {self._pairs} e JOIN {self._kinds} k "
            f"ON e.fits = k.fits AND {same}"
        )

    def _make_first(self, order: Mapping[int, int], most: int) -> str:
        """The first of the surest kinds, with everybody who is like somebody."""
        relation, people = self._relation, self._people
        ranks = relation.make_small_table(
            {
                "z": np.fromiter(order.keys(), np.int64),
                "rank": np.fromiter(order.values(), np.int64),
            }
        )
        chosen = relation.make(
            "chosen",
            lambda _: (
                f"SELECT g.z, g.rank, e.i, e.p FROM ({self._select_of_kinds()}) e "
                f"JOIN (SELECT * FROM {ranks} WHERE rank <= (SELECT min(rank) FROM "
                f"({self._add_up(ranks)}) WHERE total >= {int(most)} OR last)) g "
                "ON e.z = g.z"
            ),
            "",
            DOING,
        )
        # Whoever stands for others, and the others: by what they have in common.
        everybody = (
            f"SELECT a.i AS one, l.i FROM ({people.select_single()}) l "
            f"JOIN {people.alike} a ON l.h = a.h AND l.own = a.own "
            f"UNION ALL SELECT DISTINCT i, i FROM {people.moved}"
        )
        first = (
            "SELECT c.rank, c.i AS one, x.i FROM (SELECT DISTINCT rank, i FROM "
            f"{chosen}) c JOIN ({everybody}) x ON c.i = x.one "
            f"ORDER BY c.rank, x.i LIMIT {int(most)}"
        )
        return relation.make(
            "first",
            lambda _: (
                f"SELECT c.z, f.i, c.p, c.rank FROM ({first}) f JOIN {chosen} c "
                "ON f.one = c.i AND f.rank = c.rank "
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
    return (
        "SELECT row_number() OVER (ORDER BY first.i, first.p) AS z, *, first.i AS i, "
        "first.p AS p FROM (SELECT one, two, more, n, fits, CAST(sum(who) AS BIGINT) "
        f"AS pairs, min({{'i': i, 'p': p}}) AS first FROM {pairs} "
        "GROUP BY one, two, more, n, fits)"
    )
