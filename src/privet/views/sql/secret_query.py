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
from typing import TYPE_CHECKING, Any

from privet.engine import arrow, text_types
from privet.engine.duckdb.session import Session
from privet.errors import ColumnNotFound, InputError, suggest_names

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
class Comparison:
    """A column compared with something."""

    column: str
    """The column."""
    sign: str
    """How it is compared."""
    other: Constant | str | None = None
    """A constant, another column, or nothing."""


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
    where: Comparison | Connective | None
    """Its condition."""

    def tests(self) -> Iterator[Comparison]:
        """Every comparison in it."""
        pending: list[Any] = [self.where] if self.where else []
        while pending:
            node = pending.pop()
            if isinstance(node, Comparison):
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


# Reading ----------------------------------------------------------------------------


def read_query(
    session: Session, text: str, columns: Sequence[str], tables: Sequence[str]
) -> Query:
    """A secret query over these columns of one of these tables."""
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
        return Query(
            (first, second), None if where is None else self._read_condition(where)
        )

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

    def _read_condition(self, node: Mapping[str, Any]) -> Comparison | Connective:
        kind = node["type"]
        if kind in JOINED:
            return Connective(
                JOINED[kind], tuple(self._read_condition(c) for c in node["children"])
            )
        if kind in ("OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"):
            sign = kind.removeprefix("OPERATOR_").replace("_", " ")
            return Comparison(self._require_column(node["children"][0]), sign)
        if kind in ("COMPARE_IN", "COMPARE_NOT_IN"):
            return self._read_membership(node)
        if kind == "COMPARE_BETWEEN":
            column = self._require_column(node["input"])
            low, high = (
                self._read_constant(node["lower"]),
                self._read_constant(node["upper"]),
            )
            return Connective(
                "AND", (Comparison(column, ">=", low), Comparison(column, "<=", high))
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
            "OR", tuple(Comparison(name, "=", self._read_constant(v)) for v in values)
        )
        return found if node["type"] == "COMPARE_IN" else Connective("NOT", (found,))

    def _read_like(self, node: Mapping[str, Any]) -> Comparison:
        inside = node.get("children") or [
            a["expression"] for a in node.get("arguments", ())
        ]
        if len(inside) != 2:
            raise _make_unknown_error()
        pattern = self._read_constant(inside[1])
        return Comparison(
            self._require_column(inside[0]), LIKE[node["function_name"]], pattern
        )

    def _read_comparison(self, node: Mapping[str, Any]) -> Comparison:
        left, right, sign = node["left"], node["right"], COMPARED[node["type"]]
        # 5 < age is read as age > 5.
        if left["class"] != "COLUMN_REF":
            left, right, sign = right, left, TURNED.get(sign, sign)
        column = self._require_column(left)
        if right["class"] == "COLUMN_REF":
            return Comparison(column, sign, self._read_column(right))
        return Comparison(column, sign, self._read_constant(right))

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

    where: Comparison | Connective
    """What must hold."""

    def to_sql(self, relation: JoinedViews, full: bool) -> tuple[str, str]:
        """A condition on the tuples l, r and their key k, and what to join for it."""
        maker = _Maker(relation, full)
        test = maker.write_test(self.where)
        return test, maker.write_joins()


class _Maker:
    """Writes a condition as SQL without any constant in it."""

    def __init__(self, relation: JoinedViews, full: bool) -> None:
        sides = relation.sides
        self._relation = relation
        self._cells = {
            name: f"k.{x}" for x, name in zip(relation.keys, sides.key, strict=True)
        }
        self._cells |= {sides.person: "l.i", sides.secret: "r.p"}
        if full:
            for alias, names in (("l", sides.left), ("r", sides.right)):
                for j, name in enumerate(names):
                    self._cells.setdefault(name, f"{alias}.e{j}")
        self._constants: list[str | None] = []
        self._labelled: dict[str, str] = {}

    def write_test(self, node: Comparison | Connective) -> str:
        if isinstance(node, Comparison):
            return self._write_comparison(node)
        if node.word == "NOT":
            return f"NOT ({self.write_test(node.parts[0])})"
        return "(" + f" {node.word} ".join(self.write_test(p) for p in node.parts) + ")"

    def _write_comparison(self, node: Comparison) -> str:
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
        if "LIKE" in node.sign:
            self._refuse_null(node, node.other)
            value = self._add_constant(node.other.text)
            return f"CAST({cell} AS VARCHAR) {node.sign} {value}"
        self._check(node, node.other, kind)
        value = self._add_constant(node.other.text)
        if kind == "text" and node.other.number:
            kind = "number"
        return _compare_by_kind(kind, cell, node.sign, value)

    def _check(self, node: Comparison, constant: Constant, kind: str) -> None:
        """A comparison that no value can pass would make any promise look kept."""
        self._refuse_null(node, constant)
        if constant.text is None:
            return
        if node.column in self._relation.recodings:
            domain = self._relation.coded[node.column].domain
            if node.sign in ORDERED or domain.code(constant.text) is None:
                raise InputError(
                    f"Column {node.column!r} is shown in bins or by levels, so a "
                    "secret query must compare it by = with one of them; it does not."
                )
        elif not self._fits(constant.text, kind):
            raise InputError(
                f"Column {node.column!r} holds values of kind {kind}, so a secret "
                "query must compare it with such a value; it does not."
            )

    def _refuse_null(self, node: Comparison, constant: Constant) -> None:
        if constant.text is None and "DISTINCT" not in node.sign:
            raise InputError(
                f"A secret query must ask for missing values of {node.column!r} by IS "
                "NULL: nothing is equal to NULL, or like it."
            )

    def _fits(self, text: str, kind: str) -> bool:
        if kind == "boolean":
            return text in ("true", "false")
        if kind not in FITTING:
            return True
        given = self._relation.make_small_table({"v": [text]})
        test = f"SELECT TRY_CAST(v AS {FITTING[kind]}) IS NOT NULL AS fits FROM {given}"
        return bool(self._relation.fetch_one(test)["fits"])

    def _add_constant(self, text: str | None) -> str:
        self._constants.append(text)
        return f"q.q{len(self._constants) - 1}"

    def _find_cell(self, name: str) -> tuple[str, str]:
        relation = self._relation
        cell = self._cells[name]
        if name not in relation.coded:
            return cell, relation.projection.kind(name)
        kind = relation.coded[name].domain.kind
        if name not in self._labelled:
            self._labelled[name] = f"v{len(self._labelled)}"
        return f"{self._labelled[name]}.label", kind

    def write_joins(self) -> str:
        """The labels of coded columns, and one row of constants."""
        relation, joined = self._relation, []
        for name, alias in self._labelled.items():
            labels = relation.make_label_table(name)
            joined.append(
                f"LEFT JOIN {labels} {alias} ON {alias}.code = {self._cells[name]}"
            )
        if self._constants:
            table = relation.make_small_table(
                {f"q{j}": [text] for j, text in enumerate(self._constants)}
            )
            joined.append(f"CROSS JOIN {table} q")
        return " ".join(joined)


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
