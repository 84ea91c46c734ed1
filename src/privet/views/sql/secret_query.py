"""Secret queries: one SELECT over the table, read by the engine and never run.

DuckDB parses the text; what it found is looked through piece by piece, and only what
is known here becomes a condition, written as SQL over the tuples of a join. Constants
reach statements as a table.
Wang, Lakshmanan 2006, section 3.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.engine import arrow, text_types
from privet.engine.duckdb.session import Session
from privet.engine.protocol import Recoding, Run
from privet.errors import ColumnNotFound, InputError, suggest_names
from privet.values.contingency import Domain
from privet.views.sql.view_tuples import make_table

if TYPE_CHECKING:
    from privet.views.sql.join import JoinedViews


COMPARED = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "<>",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
    "COMPARE_DISTINCT_FROM": "IS DISTINCT FROM",
    "COMPARE_NOT_DISTINCT_FROM": "IS NOT DISTINCT FROM",
}
JOINED = {"CONJUNCTION_AND": "AND", "CONJUNCTION_OR": "OR", "OPERATOR_NOT": "NOT"}
LIKE = {"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE"}
TRUTHS = {"t": "true", "f": "false", "true": "true", "false": "false"}
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
ALLOWED = (
    "Comparisons of a column with a constant or a column, IN, BETWEEN, LIKE, IS NULL, "
    "AND, OR and NOT are."
)


@dataclass(frozen=True)
class Constant:
    """A constant of a query: its text, and whether it was a number."""

    text: str | None
    """As it was written; None: NULL."""
    number: bool = False
    """Whether it is one."""


@dataclass(frozen=True)
class ColumnTest:
    """A column compared with something."""

    column: str
    """The column."""
    sign: str
    """How it is compared."""
    other: Constant | tuple[Constant, ...] | str | None = None
    """A constant, several for IN and NOT IN, another column, or nothing."""


@dataclass(frozen=True)
class Connective:
    """Several conditions together."""

    word: str
    """AND, OR or NOT."""
    parts: tuple[Any, ...]
    """Tests, or more of this."""


@dataclass(frozen=True)
class Query:
    """What a secret query asks."""

    columns: tuple[str, str]
    """The two columns it selects."""
    where: ColumnTest | Connective | None
    """Its condition."""

    def tests(self) -> Iterator[ColumnTest]:
        """Every comparison in it."""
        pending: list[Any] = [self.where] if self.where else []
        while pending:
            node = pending.pop()
            if isinstance(node, ColumnTest):
                yield node
            else:
                pending += node.parts

    def list_used_columns(self) -> set[str]:
        """The columns its condition looks at."""
        found = set()
        for test in self.tests():
            found.add(test.column)
            if isinstance(test.other, str):
                found.add(test.other)
        return found


# Simplifying ------------------------------------------------------------------------

MOST_TESTS = 64
"""Comparisons of a condition, once values that are asked for by = are one list."""

LISTED = {"OR": ("=", "IN"), "AND": ("<>", "NOT IN")}
"""What many comparisons of a column with constants amount to."""


def simplify(node: ColumnTest | Connective) -> ColumnTest | Connective:
    """The same condition with fewer comparisons.

    >>> ages = [ColumnTest("age", "=", Constant(n, True)) for n in "1231"]
    >>> simplify(Connective("OR", tuple(ages))).sign
    'IN'
    """
    if isinstance(node, ColumnTest):
        return node
    parts = [simplify(p) for p in node.parts]
    if node.word == "NOT":
        (inner,) = parts
        twice = isinstance(inner, Connective) and inner.word == "NOT"
        return inner.parts[0] if twice else Connective("NOT", (inner,))  # type: ignore[union-attr]
    flat: list[ColumnTest | Connective] = []
    for part in parts:
        same = isinstance(part, Connective) and part.word == node.word
        flat += part.parts if same else [part]  # type: ignore[union-attr]
    found = _list_constants(list(dict.fromkeys(flat)), *LISTED[node.word])
    return found[0] if len(found) == 1 else Connective(node.word, tuple(found))


def _list_constants(
    parts: Sequence[ColumnTest | Connective], sign: str, together: str
) -> list[ColumnTest | Connective]:
    """Comparisons of one column with several constants by = (or <>) as one."""
    by: dict[object, list[Constant]] = {}
    for at, part in enumerate(parts):
        key: object = at
        given: list[Constant] = []
        if isinstance(part, ColumnTest) and part.sign in (sign, together):
            others = part.other if isinstance(part.other, tuple) else (part.other,)
            given = [
                c for c in others if isinstance(c, Constant) and c.text is not None
            ]
            if len(given) == len(others):
                key = (part.column, given[0].number)
        by.setdefault(key, []).extend(given)
    found: list[ColumnTest | Connective] = []
    for key, constants in by.items():
        if isinstance(key, int):
            found.append(parts[key])
        else:
            column = key[0]  # type: ignore[index]
            several = tuple(dict.fromkeys(constants))
            one = ColumnTest(column, sign, several[0])
            listed = ColumnTest(column, together, several)
            found.append(listed if len(several) > 1 else one)
    return found


def _require_short(where: ColumnTest | Connective) -> None:
    tests = sum(1 for _ in Query(("", ""), where).tests())
    if tests > MOST_TESTS:
        raise InputError(
            f"The condition of a secret query must have at most {MOST_TESTS} "
            f"comparisons, lists of values counted once; it has {tests}. Ask by IN or "
            "BETWEEN, or make several promises."
        )


# Reading ----------------------------------------------------------------------------


def read_query(
    session: Session, text: str, columns: Sequence[str], tables: Sequence[str]
) -> Query:
    """A secret query over these columns of one of these tables."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(
            "A secret query must be text; this one has halves of characters in it."
        )
    session.register("pv_query", arrow.frame(v=arrow.texts([text])))
    try:
        found = json.loads(
            session.fetch_one("SELECT json_serialize_sql(v) FROM pv_query")
        )
    finally:
        session.unregister("pv_query")
    statements: list[Any] = found.get("statements") or []
    if found.get("error") or len(statements) != 1:
        raise InputError(
            "A secret query must be one SELECT statement; got "
            + (f"{len(statements)} of them." if statements else "what is none.")
        )
    return _Reader(columns, tables).read(statements[0]["node"])


class _Reader:
    """Takes a parsed statement apart, and refuses what it does not know."""

    def __init__(self, columns: Sequence[str], tables: Sequence[str]) -> None:
        self._columns = columns
        self._tables = tables
        self._called: set[str] = set()

    def read(self, node: Mapping[str, Any]) -> Query:
        plain = node.get("type") == "SELECT_NODE" and not any(
            (
                node.get("modifiers"),
                (node.get("cte_map") or {}).get("map"),
                node.get("group_expressions"),
                node.get("group_sets"),
                node.get("having"),
                node.get("sample"),
                node.get("qualify"),
                node.get("aggregate_handling", "STANDARD_HANDLING")
                != "STANDARD_HANDLING",
            )
        )
        if not plain:
            raise InputError(
                "A secret query must be a plain SELECT … FROM … WHERE …; this one has "
                "more, such as ORDER BY, LIMIT, GROUP BY, WITH or UNION."
            )
        self._check_table(node["from_table"])
        chosen = node["select_list"]
        if len(chosen) != 2 or any(c["class"] != "COLUMN_REF" for c in chosen):
            raise InputError(
                "A secret query must select two columns: the one that names people and "
                "the private one."
            )
        first, second = (self._read_column(c) for c in chosen)
        where = node.get("where_clause")
        if where is None:
            return Query((first, second), None)
        simple = simplify(self._read_condition(where))
        _require_short(simple)
        return Query((first, second), simple)

    def _check_table(self, source: Mapping[str, Any]) -> None:
        known = [t.casefold() for t in self._tables]
        named = str(source.get("table_name", ""))
        plain = source["type"] == "BASE_TABLE" and not any(
            source.get(k)
            for k in ("schema_name", "catalog_name", "sample", "at_clause")
        )
        if not plain or named.casefold() not in known:
            raise InputError(
                "A secret query must select from the declared table alone, and call it "
                f"{' or '.join(self._tables)}."
            )
        self._called = {named.casefold(), str(source.get("alias", "")).casefold()}

    def _read_column(self, node: Mapping[str, Any]) -> str:
        *before, name = node["column_names"]
        if len(before) > 1 or (before and before[0].casefold() not in self._called):
            raise InputError("Columns of a secret query must be of its table.")
        if name in self._columns:
            return str(name)
        same = [c for c in self._columns if c.casefold() == name.casefold()]
        if len(same) == 1:
            return same[0]
        raise ColumnNotFound(
            f"Column {name!r} of a secret query must exist in the table. "
            f"{suggest_names(name, self._columns)}"
        )

    def _read_condition(self, node: Mapping[str, Any]) -> ColumnTest | Connective:
        kind = node["type"]
        if kind in JOINED:
            return Connective(
                JOINED[kind], tuple(self._read_condition(c) for c in node["children"])
            )
        if kind in ("OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"):
            sign = kind.removeprefix("OPERATOR_").replace("_", " ")
            return ColumnTest(self._require_column(node["children"][0]), sign)
        if kind in ("COMPARE_IN", "COMPARE_NOT_IN"):
            return self._read_membership(node)
        if kind == "COMPARE_BETWEEN":
            column = self._require_column(node["input"])
            low, high = (
                self._read_constant(node["lower"]),
                self._read_constant(node["upper"]),
            )
            return Connective(
                "AND", (ColumnTest(column, ">=", low), ColumnTest(column, "<=", high))
            )
        if kind == "FUNCTION" and node.get("function_name") in LIKE:
            return self._read_like(node)
        if kind in COMPARED:
            return self._read_comparison(node)
        raise _make_unknown_error()

    def _read_membership(self, node: Mapping[str, Any]) -> Connective:
        column, *values = node["children"]
        name = self._require_column(column)
        found = Connective(
            "OR", tuple(ColumnTest(name, "=", self._read_constant(v)) for v in values)
        )
        return found if node["type"] == "COMPARE_IN" else Connective("NOT", (found,))

    def _read_like(self, node: Mapping[str, Any]) -> ColumnTest:
        inside = node.get("children") or [
            a["expression"] for a in node.get("arguments", ())
        ]
        if len(inside) != 2:
            raise _make_unknown_error()
        pattern = self._read_constant(inside[1])
        return ColumnTest(
            self._require_column(inside[0]), LIKE[node["function_name"]], pattern
        )

    def _read_comparison(self, node: Mapping[str, Any]) -> ColumnTest:
        left, right, sign = node["left"], node["right"], COMPARED[node["type"]]
        # 5 < age is read as age > 5.
        if left["class"] != "COLUMN_REF":
            left, right, sign = right, left, TURNED.get(sign, sign)
        column = self._require_column(left)
        if right["class"] == "COLUMN_REF":
            return ColumnTest(column, sign, self._read_column(right))
        return ColumnTest(column, sign, self._read_constant(right))

    def _require_column(self, node: Mapping[str, Any]) -> str:
        if node["class"] != "COLUMN_REF":
            raise _make_unknown_error()
        return self._read_column(node)

    def _read_constant(self, node: Mapping[str, Any]) -> Constant:
        """As either version of DuckDB writes it; DATE '2020-01-01' is its text."""
        if node["class"] == "CAST":
            child = self._read_constant(node["child"])
            truth = (node.get("cast_type") or {}).get("id") == "BOOLEAN"
            return Constant(TRUTHS.get(child.text or "")) if truth else child
        if node["class"] != "CONSTANT":
            raise _make_unknown_error()
        if "literal" in node:
            kind, text = node["literal"]["kind"], node["literal"].get("text")
            return Constant(
                None if kind.startswith("NULL") else text,
                kind in ("INTEGER", "NUMERIC", "FLOAT"),
            )
        value = node["value"]
        if value.get("is_null"):
            return Constant(None)
        kind, inside = value["type"]["id"], value["value"]
        if kind == "DECIMAL":
            inside = _format_decimal(
                inside, (value["type"]["type_info"] or {}).get("scale", 0)
            )
        number = kind not in ("VARCHAR", "BOOLEAN", "STRING_LITERAL")
        text = str(inside).lower() if isinstance(inside, bool) else str(inside)
        return Constant(text, number)


def _format_decimal(digits: Any, scale: int) -> str:
    """A whole number of so many places behind the point.

    >>> _format_decimal(-45, 1)
    '-4.5'
    """
    from decimal import Decimal

    return str(Decimal(int(digits)).scaleb(-scale))


def _make_unknown_error() -> InputError:
    return InputError(
        f"The condition of a secret query must be made of what is known here. {ALLOWED}"
    )


ORDERED = ("<", ">", "<=", ">=")

WHOLE = "[+-]?[0-9]{1,38}"
"""What a whole number looks like that the engine holds exactly."""

FITTING = {
    "integer": "DOUBLE",
    "number": "DOUBLE",
    "date": "TIMESTAMP",
    "datetime": "TIMESTAMP",
}
"""What a constant must be to be compared with a column of a kind."""


@dataclass(frozen=True)
class Condition:
    """The condition of a query, for the tuples of a join."""

    where: ColumnTest | Connective
    """What must hold."""

    def to_sql(self, relation: JoinedViews, full: bool) -> tuple[str, str]:
        """A condition on the tuples l, r and their key k, and what to join for it."""
        maker = _JoinMaker(relation, full)
        test = maker.write_test(self.where)
        return test, maker.write_joins()

    def find_satisfying(self, listed: LabelledTuples) -> list[int]:
        """The numbers of the tuples that satisfy the condition."""
        maker = _TupleMaker(listed)
        test = maker.write_test(self.where)
        found = listed.ask(
            f"SELECT t.n FROM {listed.table} t {maker.write_joins()} WHERE {test}"
        )
        return [int(n) for n in found["n"].to_pylist()]


class _Maker:
    """Writes a condition as SQL without any constant in it."""

    def __init__(self, relation: JoinedViews | LabelledTuples) -> None:
        self._relation = relation
        self._constants: list[str | None] = []

    def write_test(self, node: ColumnTest | Connective) -> str:
        if isinstance(node, ColumnTest):
            return self._write_comparison(node)
        if node.word == "NOT":
            return f"NOT ({self.write_test(node.parts[0])})"
        return "(" + f" {node.word} ".join(self.write_test(p) for p in node.parts) + ")"

    def _write_comparison(self, node: ColumnTest) -> str:
        cell, kind = self._find_cell(node.column)
        if node.other is None:
            return f"{cell} {node.sign}"
        if isinstance(node.other, str):
            other, their = self._find_cell(node.other)
            recoded = {node.column, node.other} & self._relation.recodings.keys()
            if kind != their or (recoded and node.sign in ORDERED):
                raise InputError(
                    "Columns that a secret query compares must be of one kind, and "
                    "ordered ones must not be shown in bins or by levels; "
                    f"{node.column!r} holds {kind}, {node.other!r} holds {their}."
                )
            return _compare_by_kind(kind, cell, node.sign, other)
        if isinstance(node.other, tuple):
            return self._write_membership(node, node.other, cell, kind)
        if "LIKE" in node.sign:
            self._refuse_null(node, node.other)
            value = self._add_constant(node.other.text)
            return f"CAST({cell} AS VARCHAR) {node.sign} {value}"
        self._check(node, [node.other], kind)
        value = self._add_constant(node.other.text)
        if kind == "text" and node.other.number:
            kind = "number"
        return _compare_by_kind(kind, cell, node.sign, value)

    def _write_membership(
        self, node: ColumnTest, constants: Sequence[Constant], cell: str, kind: str
    ) -> str:
        """One of several values, which are a table of their own."""
        self._check(node, constants, kind)
        if kind == "text" and constants[0].number:
            kind = "number"
        texts = [c.text for c in constants]
        given = self._relation.make_small_table({"v": texts})
        among = f"SELECT {_normalise(kind, 'g.v')} FROM {given} g"
        return f"{_normalise(kind, cell)} {node.sign} ({among})"

    def _check(
        self, node: ColumnTest, constants: Sequence[Constant], kind: str
    ) -> None:
        """A comparison that no value can pass would make any promise look kept."""
        for constant in constants:
            self._refuse_null(node, constant)
        texts = [c.text for c in constants if c.text is not None]
        if not texts:
            return
        if node.column in self._relation.recodings:
            domain = self._find_domain(node.column)
            if node.sign in ORDERED or any(domain.code(t) is None for t in texts):
                raise InputError(
                    f"Column {node.column!r} is shown in bins or by levels, so a "
                    "secret query must compare it by = with one of them; it does not."
                )
        elif not self._fits(texts, kind):
            raise InputError(
                f"Column {node.column!r} holds values of kind {kind}, so a secret "
                "query must compare it with such a value; it does not."
            )

    def _refuse_null(self, node: ColumnTest, constant: Constant) -> None:
        if constant.text is None and "DISTINCT" not in node.sign:
            raise InputError(
                f"A secret query must ask for missing values of {node.column!r} by IS "
                "NULL: nothing is equal to NULL, or like it."
            )

    def _fits(self, texts: Sequence[str], kind: str) -> bool:
        if kind == "boolean":
            return set(texts) <= {"true", "false"}
        if kind not in FITTING:
            return True
        given = self._relation.make_small_table({"v": list(texts)})
        fits = f"bool_and(TRY_CAST(v AS {FITTING[kind]}) IS NOT NULL)"
        return bool(
            self._relation.fetch_one(f"SELECT {fits} AS fits FROM {given}")["fits"]
        )

    def _add_constant(self, text: str | None) -> str:
        self._constants.append(text)
        return f"q.q{len(self._constants) - 1}"

    def _find_cell(self, name: str) -> tuple[str, str]:
        """Where a column is, and of which kind."""
        raise NotImplementedError

    def _find_domain(self, name: str) -> Domain:
        """What a recoded column shows."""
        raise NotImplementedError

    def write_joins(self) -> str:
        """One row of constants."""
        if not self._constants:
            return ""
        table = self._relation.make_small_table(
            {f"q{j}": [text] for j, text in enumerate(self._constants)}
        )
        return f"CROSS JOIN {table} q"


class _JoinMaker(_Maker):
    """Writes a condition on two joined views."""

    def __init__(self, relation: JoinedViews, full: bool) -> None:
        super().__init__(relation)
        sides = relation.sides
        self._joined = relation
        self._cells = {
            name: f"k.{x}" for x, name in zip(relation.keys, sides.key, strict=True)
        }
        self._cells |= {sides.person: "l.i", sides.secret: "r.p"}
        if full:
            for alias, names in (("l", sides.left), ("r", sides.right)):
                for j, name in enumerate(names):
                    self._cells.setdefault(name, f"{alias}.e{j}")
        self._labelled: dict[str, str] = {}

    def _find_cell(self, name: str) -> tuple[str, str]:
        relation = self._joined
        cell = self._cells[name]
        if name not in relation.coded:
            return cell, relation.projection.kind(name)
        kind = relation.coded[name].domain.kind
        if name not in self._labelled:
            self._labelled[name] = f"v{len(self._labelled)}"
        return f"{self._labelled[name]}.label", kind

    def _find_domain(self, name: str) -> Domain:
        return self._joined.coded[name].domain

    def write_joins(self) -> str:
        """The labels of coded columns, and one row of constants."""
        joined = []
        for name, alias in self._labelled.items():
            labels = self._joined.make_label_table(name)
            joined.append(
                f"LEFT JOIN {labels} {alias} ON {alias}.code = {self._cells[name]}"
            )
        return " ".join([*joined, super().write_joins()])


class _TupleMaker(_Maker):
    """Writes a condition on tuples whose labels are listed."""

    def __init__(self, listed: LabelledTuples) -> None:
        super().__init__(listed)
        self._listed = listed

    def _find_cell(self, name: str) -> tuple[str, str]:
        listed = self._listed
        return f"t.c{listed.columns.index(name)}", listed.domains[name].kind

    def _find_domain(self, name: str) -> Domain:
        return self._listed.domains[name]


class LabelledTuples:
    """Tuples of some columns as a table of texts, to be tested by a condition."""

    def __init__(
        self,
        session: Session,
        domains: Mapping[str, Domain],
        recodings: Mapping[str, Recoding],
        tuples: Sequence[Sequence[int]],
        run: Run,
    ) -> None:
        """Take the values of each column by code, and tuples of codes of them all."""
        self.columns = tuple(domains)
        self.domains, self.recodings = domains, recodings
        self._session, self._run = session, run
        self._made: list[str] = []
        columns = {
            f"c{j}": [domains[c][row[j]] for row in tuples]
            for j, c in enumerate(self.columns)
        }
        self.table = self.make_small_table({"n": np.arange(len(tuples)), **columns})

    def __enter__(self) -> LabelledTuples:
        return self

    def __exit__(self, *_: object) -> None:
        for table in self._made:
            self._session.ask(f"DROP TABLE IF EXISTS {table}")

    def make_small_table(self, columns: Mapping[str, Any]) -> str:
        """A small table of our own with these columns; texts unless they are arrays."""
        table = f"pv_tuples_{next(_numbers)}"
        make_table(self._session, table, columns)
        self._made.append(table)
        return table

    def ask(self, statement: str) -> Any:
        """What a statement selects."""
        work = partial(self._session.fetch, statement)
        return self._session.run_watched(work, self._run, "testing tuples", (1, 1))

    def fetch_one(self, statement: str) -> Any:
        """The first row a statement selects."""
        return self.ask(statement).slice(0, 1).to_pylist()[0]


_numbers = count()


def _normalise(kind: str, cell: str) -> str:
    """A value so that what is the same value is the same."""
    if kind in ("date", "datetime"):
        return f"TRY_CAST({cell} AS TIMESTAMP)"
    text = f"CAST({cell} AS VARCHAR)"
    whole = kind in ("integer", "number")
    return text_types.normalise_number(text) if whole else text


def _compare_by_kind(kind: str, left: str, sign: str, right: str) -> str:
    """A comparison of two values of a kind, of which there may be texts only."""
    if kind in ("date", "datetime"):
        left, right = (f"TRY_CAST({c} AS TIMESTAMP)" for c in (left, right))
        return f"{left} {sign} {right}"
    left, right = (f"CAST({c} AS VARCHAR)" for c in (left, right))
    if kind not in ("integer", "number"):
        return f"{left} {sign} {right}"
    if sign in ORDERED:  # whole numbers by all their digits
        whole = [f"TRY_CAST({c} AS HUGEINT)" for c in (left, right)]
        floats = [f"TRY_CAST({c} AS DOUBLE)" for c in (left, right)]
        exact = " AND ".join(
            f"regexp_full_match({c}, '{WHOLE}')" for c in (left, right)
        )
        return (
            f"CASE WHEN {exact} THEN {whole[0]} {sign} {whole[1]} "
            f"ELSE {floats[0]} {sign} {floats[1]} END"
        )
    first, second = (text_types.normalise_number(side) for side in (left, right))
    return f"{first} {sign} {second}"
