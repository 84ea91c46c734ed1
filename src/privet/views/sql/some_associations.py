"""Some private associations of two views: the keys in which they meet, by kind.

For each association the sizes of the keys in which it may hold, its association cover;
associations with the same sizes are answered together: how many there are, for example
which, and the first.
Wang, Lakshmanan 2006, sections 3.1 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.views.sql.join import JoinedViews
from privet.views.sql.one_association import (
    FIELDS,
    AssociationKind,
    Meeting,
    NodeTables,
    OneAssociation,
)
from privet.views.sql.secret_query import Condition


@dataclass(frozen=True)
class ListedAssociation:
    """One association of a kind."""

    number: int
    """The kind."""
    person: str | None
    """Whom it is about …"""
    secret: str | None
    """… and the value."""
    held: bool | None
    """Whether a row of the table has both; None where that is not known."""


class ListedAssociations:
    """Associations listed by kind."""

    def __init__(
        self, relation: JoinedViews, pairs: str, kinds: str, nodes: NodeTables
    ) -> None:
        self._relation = relation
        self._pairs, self._kinds = pairs, kinds
        self._nodes = nodes

    def fetch_kinds(self) -> list[AssociationKind]:
        """Every kind of association there is."""
        found = self._relation.ask(
            f"SELECT z, k, c, pairs FROM {self._kinds} ORDER BY z"
        )
        return [
            AssociationKind(
                r["z"],
                None if r["k"] is None else _read_meetings(r["k"]),
                tuple((_read_meetings(c["k"]), c["n"]) for c in r["c"] or ()),
                r["pairs"],
            )
            for r in found.to_pylist()
        ]

    def count_people(self, kinds: Sequence[int]) -> int:
        """How many people have an association of these kinds."""
        if not kinds:
            return 0
        among = ", ".join(str(int(z)) for z in kinds)
        found = self._relation.fetch_one(
            f"SELECT count(DISTINCT e.i) AS n FROM {self._pairs} e "
            f"JOIN {self._kinds} z ON e.k IS NOT DISTINCT FROM z.k "
            "AND e.c IS NOT DISTINCT FROM z.c "
            f"WHERE z.z IN ({among})"
        )
        return int(found["n"])

    def find_one(self, kind: AssociationKind) -> OneAssociation:
        """An association of a kind: the first."""
        chosen = f"SELECT i, p FROM {self._kinds} WHERE z = {int(kind.number)}"
        return OneAssociation(self._relation, self._nodes, chosen)

    def fetch_first(
        self, order: Mapping[int, int], most: int
    ) -> list[ListedAssociation]:
        """Associations by the ranks of their kinds, a few; and whether they are true.

        The table says that; views that come as files do not (None).
        """
        relation, sides = self._relation, self._relation.sides
        some = self._make_first(order, most)
        true = "NULL"
        if not sides.marker:
            held = (
                f"SELECT DISTINCT r.i, r.p FROM ({relation.rows(2)}) r JOIN {some} s "
                "ON r.i = s.i AND r.p IS NOT DISTINCT FROM s.p"
            )
            true = (
                f"EXISTS (SELECT 1 FROM ({held}) t WHERE t.i = f.i "
                "AND t.p IS NOT DISTINCT FROM f.p)"
            )
        found = relation.ask(
            f"SELECT f.z, {relation.text(sides.person, 'f.i')} AS i, "
            f"{relation.text(sides.secret, 'f.p')} AS p, {true} AS held "
            f"FROM {some} f ORDER BY f.rank, f.i, f.p"
        )
        return [
            ListedAssociation(
                r["z"],
                relation.label(sides.person, r["i"]),
                relation.label(sides.secret, r["p"]),
                r["held"],
            )
            for r in found.to_pylist()
        ]

    def _make_first(self, order: Mapping[int, int], most: int) -> str:
        """A table of the first associations by the ranks of their kinds."""
        relation = self._relation
        ranks = relation.make_small_table(
            {
                "z": np.fromiter(order.keys(), np.int64),
                "rank": np.fromiter(order.values(), np.int64),
            }
        )
        return relation.make(
            "first",
            lambda _: (
                f"SELECT k.z, e.i, e.p, g.rank FROM {self._pairs} e "
                f"JOIN {self._kinds} k ON e.k IS NOT DISTINCT FROM k.k "
                f"AND e.c IS NOT DISTINCT FROM k.c JOIN {ranks} g ON k.z = g.z "
                f"ORDER BY g.rank, e.i, e.p LIMIT {int(most)}"
            ),
            "",
            "listing associations",
        )


def _read_meetings(listed: list[dict[str, Any]]) -> tuple[Meeting, ...]:
    return tuple(
        tuple(_to_masks(v) if name == "f" else v for name, v in one.items())
        for one in listed
    )


def _to_masks(pairs: list[dict[str, int]]) -> tuple[int, ...]:
    """Bit masks of left tuples, one per right tuple."""
    # Both count from 1: (b, a) of (1, 1), (1, 2) and (2, 1) give the masks 3 and 1.
    masks: dict[int, int] = {}
    for pair in pairs:
        masks[pair["b"]] = masks.get(pair["b"], 0) | 1 << (pair["a"] - 1)
    return tuple(masks[b] for b in sorted(masks))


class SomeAssociations:
    """The associations of some people with some values."""

    def __init__(
        self,
        relation: JoinedViews,
        people: Sequence[object] | None,
        secrets: Sequence[object] | None,
        *,
        every_key: bool = False,
        full: bool = False,
        condition: Condition | None = None,
    ) -> None:
        """Look at the keys of these people; all of them if `every_key`, else those
        that these values have too.
        """
        self._relation, self._full = relation, full
        self._condition = condition
        self._whose = self._build_condition(relation.sides.person, people, "i")
        self._which = self._build_condition(relation.sides.secret, secrets, "p")
        self._every_key = every_key or secrets is None
        everybody = people is None and condition is None and not relation.sides.marker
        self._all_rows = everybody and self._every_key  # no key is left out
        self._build()

    def _build_condition(
        self, name: str, values: Sequence[object] | None, cell: str
    ) -> str:
        """Missing people are nobody; a missing value counts where it is asked for."""
        if values is None:
            return f"{cell} IS NOT NULL"
        return self._relation.build_condition(name, values, cell)

    def _build(self) -> None:
        make = self._relation.make
        self._keys = self._relation.make_keyed(
            lambda: make("keys", lambda _: self._select_keys(), "", "reading keys")
        )
        self._left_tuples, self._left = self._make_side(0, "left", ("i", "s", "own"))
        self._right_tuples, self._right = self._make_side(
            1, "right", ("p", "t", "holders")
        )
        self._sizes = make("sizes", lambda _: self._select_sizes(), "", "counting keys")

    def _make_side(
        self, side: int, name: str, calls: tuple[str, str, str]
    ) -> tuple[str, str]:
        """The different tuples of a view, and how many of them each node has."""
        if not self._full and self._condition is None:
            return "", self._make_nodes(side, name, calls)
        tuples = self._relation.make(
            f"{name}_tuples",
            lambda only: self._select_tuples(side, only),
            "r.h",
            ("counting people", "counting values")[side],
        )
        node, nodes, rows = calls
        select = (
            f"SELECT h, {node}, count(*) AS {nodes}, CAST(sum(w) AS BIGINT) AS "
            f"{rows} FROM {tuples} GROUP BY h, {node}"
        )
        return tuples, self._relation.make(name, lambda _: select, "", "counting")

    def _make_nodes(self, side: int, name: str, calls: tuple[str, str, str]) -> str:
        """The same where each node has one tuple, and nobody asks for it."""
        node, nodes, rows = calls

        def select(only: str) -> str:
            tuples = self._select_tuples(side, only)
            counts = f"a AS {nodes}, CAST(w AS BIGINT) AS {rows}"
            return f"SELECT h, {node}, {counts} FROM ({tuples})"

        doing = ("counting people", "counting values")[side]
        return self._relation.make(name, select, "r.h", doing)

    def list_for_model(self, model: str) -> ListedAssociations:
        """The associations by what a model needs to know of their keys."""
        make = self._relation.make
        pairs = make(
            f"pairs_{model}",
            lambda only: self._select_pairs(model, only),
            "e.i",
            "listing associations",
        )
        select = (
            "SELECT row_number() OVER (ORDER BY first.i, first.p) AS z, *, first.i "
            "AS i, first.p AS p FROM ("
            "SELECT k, c, count(*) AS pairs, "
            f"min({{'i': i, 'p': p}}) AS first FROM {pairs} GROUP BY k, c)"
        )
        kinds = make(f"kinds_{model}", lambda _: select, "", "listing associations")
        return ListedAssociations(self._relation, pairs, kinds, self.nodes)

    def find_kind(self, model: str) -> AssociationKind | None:
        """What a model needs to know of the first association, if there is one."""
        kinds = self.list_for_model(model).fetch_kinds()
        return kinds[0] if kinds else None

    def count_overall(self) -> tuple[int, int]:
        """How many people and values there are in all, missing ones included."""
        return self._relation.count_overall()

    @property
    def nodes(self) -> NodeTables:
        """The tables of what is in the keys."""
        return NodeTables(self._left, self._right, self._sizes, self._keys, self._which)

    # What is listed -----------------------------------------------------------------

    def _select_keys(self) -> str:
        """The keys of the people asked for, and of the values unless all count."""
        relation = self._relation
        names = ", ".join([*relation.keys, "h"])
        whose = "" if self._all_rows else f"WHERE {self._whose}"
        of_victim = f"SELECT DISTINCT {names} FROM ({relation.rows(0)}) {whose}"
        if self._every_key:
            return of_victim
        of_value = (
            f"SELECT DISTINCT {names} FROM ({relation.rows(1)}) WHERE {self._which}"
        )
        return f"{of_victim} INTERSECT {of_value}"

    def _select_tuples(self, side: int, only: str) -> str:
        """The different tuples of a view in those keys, numbered for each node."""
        relation = self._relation
        extra = (relation.sides.left, relation.sides.right)[side] if self._full else ()
        names = [("i", "p")[side], *(f"e{j}" for j in range(len(extra)))]
        columns = ", ".join(f"r.{n}" for n in names)
        same = " AND ".join(
            ["r.h = k.h", *(f"r.{x} IS NOT DISTINCT FROM k.{x}" for x in relation.keys)]
        )
        rows = f"SELECT * FROM ({relation.rows(side, full=self._full)}) r {only}"
        amount = "sum(r.w)" if relation.has_weights else "count(*)"
        joined = f"({rows}) r JOIN {self._keys} k ON {same}"
        if self._all_rows:
            joined = f"({rows}) r"
        grouped = (
            f"SELECT r.h, {columns}, {amount} AS w FROM {joined} "
            f"GROUP BY r.h, {columns}"
        )
        if not extra:
            return f"SELECT *, 1 AS a FROM ({grouped})"
        node = names[0]
        # Tuples 1 to s of a person in a key, or 1 to t of a value: the bits of masks.
        number = f"row_number() OVER (PARTITION BY h, {node})"
        return f"SELECT *, {number} AS a FROM ({grouped})"

    def _select_sizes(self) -> str:
        return (
            "SELECT l.h, l.m, r.n, l.rows FROM (SELECT h, CAST(sum(s) AS BIGINT) AS m, "
            f"CAST(sum(own) AS BIGINT) AS rows FROM {self._left} GROUP BY h) l JOIN "
            f"(SELECT h, CAST(sum(t) AS BIGINT) AS n FROM {self._right} GROUP BY h) r "
            "ON l.h = r.h"
        )

    def _select_edges(self, model: str, only: str) -> str:
        """Keys of each association; with a condition, the tuples that satisfy it."""
        fields = ", ".join(FIELDS[model])
        base = (
            f"SELECT l.h, l.i, r.p, {fields} FROM {self._left} l "
            f"JOIN {self._right} r ON l.h = r.h JOIN {self._sizes} z ON l.h = z.h "
            f"WHERE {self._whose}"
        )
        if self._condition is None:
            return f"SELECT * FROM ({base}) e {only}"
        # Restricted: a condition chooses among associations, not among their keys.
        how = "LEFT JOIN" if model == "restricted" else "JOIN"
        return (
            f"SELECT e.*, f.f FROM (SELECT * FROM ({base}) e {only}) e {how} "
            f"({self._select_satisfying()}) f ON e.h = f.h AND e.i = f.i "
            "AND e.p IS NOT DISTINCT FROM f.p"
        )

    def _select_satisfying(self) -> str:
        assert self._condition is not None
        relation = self._relation
        test, joins = self._condition.to_sql(relation, self._full)
        return (
            "SELECT l.h, l.i, r.p, list({'b': r.a, 'a': l.a} ORDER BY r.a, l.a) AS f "
            f"FROM {self._left_tuples} l JOIN {self._right_tuples} r ON l.h = r.h "
            f"JOIN {self._keys} k ON l.h = k.h {joins} "
            f"WHERE l.i IS NOT NULL AND ({test}) GROUP BY l.h, l.i, r.p"
        )

    def _select_pairs(self, model: str, only: str) -> str:
        names = list(FIELDS[model])
        if self._condition is not None and model != "restricted":
            names.append("f")
        meeting = "{" + ", ".join(f"'{n}': {n}" for n in names) + "}"
        satisfied = (
            ", bool_or(f IS NOT NULL) AS ok" if self._condition else ", true AS ok"
        )
        pairs = (
            f"SELECT i, p, list({meeting} ORDER BY {', '.join(names)}) AS k{satisfied} "
            f"FROM ({self._select_edges(model, only)}) GROUP BY i, p"
        )
        if model != "restricted":
            return (
                f"SELECT i, p, k, NULL AS c FROM ({pairs}) WHERE {self._which} AND ok"
            )
        # One value only must be in all keys of a person: those that meet in fewer keys
        # than `number` are no candidates, and have no k.
        number = f"SELECT i, count(*) AS number FROM {self._left} GROUP BY i"
        counted = (
            "SELECT i, k, count(*) AS n FROM pv_p WHERE len(k) = number GROUP BY i, k"
        )
        return (
            f"WITH pv_p AS (SELECT q.*, n.number FROM ({pairs}) q JOIN ({number}) n "
            "ON q.i = n.i), pv_c AS (SELECT i, list({'k': k, 'n': n} ORDER BY k) AS c "
            f"FROM ({counted}) GROUP BY i) SELECT q.i, q.p, CASE WHEN len(q.k) = "
            "q.number THEN q.k END AS k, d.c FROM pv_p q LEFT JOIN pv_c d ON q.i = d.i "
            f"WHERE {self._which} AND q.ok"
        )

    def count_refuted(self) -> int:
        """People asked for who cannot have one value only: the views say so.

        Who is alone in a key has all of its values; who is in several keys has a value
        that all of them have.
        """
        number = (
            f"SELECT i, count(*) AS number FROM {self._left} WHERE {self._whose} "
            "GROUP BY i"
        )
        crowded = (
            f"SELECT l.h FROM (SELECT h FROM {self._left} GROUP BY h HAVING "
            f"count(*) = 1) l JOIN (SELECT h FROM {self._right} GROUP BY h HAVING "
            "count(*) > 1) r ON l.h = r.h"
        )
        common = (
            f"SELECT l.i FROM {self._left} l JOIN ({number}) n ON l.i = n.i AND "
            f"n.number > 1 JOIN {self._right} r ON l.h = r.h "
            "GROUP BY l.i, r.p, n.number HAVING count(*) = n.number"
        )
        found = self._relation.fetch_one(
            f"SELECT count(*) AS n FROM ({number}) q WHERE q.i IN (SELECT i FROM "
            f"{self._left} WHERE h IN ({crowded})) OR "
            f"(q.number > 1 AND q.i NOT IN ({common}))"
        )
        return int(found["n"])
