"""Conditions of secret queries as SQL over the tuples of a join, constants apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privet.engine import text_types
from privet.errors import InputError
from privet.views.sql.secret_query import Both, Constant, Test

if TYPE_CHECKING:
    from privet.views.sql.join import Relation

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

    where: Test | Both
    """What must hold."""

    def compiled(self, relation: Relation, full: bool) -> tuple[str, str]:
        """A condition on the tuples l, r and their key k, and what to join for it."""
        maker = _Maker(relation, full)
        test = maker.test(self.where)
        return test, maker.joins()


class _Maker:
    """Writes a condition as SQL without any constant in it."""

    def __init__(self, relation: Relation, full: bool) -> None:
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

    def test(self, node: Test | Both) -> str:
        if isinstance(node, Test):
            return self._test(node)
        if node.word == "NOT":
            return f"NOT ({self.test(node.parts[0])})"
        return "(" + f" {node.word} ".join(self.test(p) for p in node.parts) + ")"

    def _test(self, node: Test) -> str:
        cell, kind = self._cell(node.column)
        if node.other is None:
            return f"{cell} {node.sign}"
        if isinstance(node.other, str):
            other, their = self._cell(node.other)
            recoded = {node.column, node.other} & self._relation.recodings.keys()
            if kind != their or (recoded and node.sign in ORDERED):
                raise InputError(
                    "Columns that a secret query compares must be of one kind, and "
                    "ordered ones must not be shown in bins or by levels; "
                    f"{node.column!r} holds {kind}, {node.other!r} holds {their}."
                )
            return _compared(kind, cell, node.sign, other)
        if "LIKE" in node.sign:
            value = self._constant(node.other.text)
            return f"CAST({cell} AS VARCHAR) {node.sign} {value}"
        self._check(node, node.other, kind)
        value = self._constant(node.other.text)
        if kind == "text" and node.other.number:
            kind = "number"
        return _compared(kind, cell, node.sign, value)

    def _check(self, node: Test, constant: Constant, kind: str) -> None:
        """A comparison that no value can pass would make any promise look kept."""
        if constant.text is None:
            if "DISTINCT" not in node.sign:
                raise InputError(
                    f"A secret query must ask for missing values of {node.column!r} "
                    "by IS NULL: nothing is equal to NULL."
                )
        elif node.column in self._relation.recodings:
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

    def _fits(self, text: str, kind: str) -> bool:
        if kind == "boolean":
            return text in ("true", "false")
        if kind not in FITTING:
            return True
        given = self._relation.given({"v": [text]})
        test = f"SELECT TRY_CAST(v AS {FITTING[kind]}) IS NOT NULL AS fits FROM {given}"
        return bool(self._relation.one(test)["fits"])

    def _constant(self, text: str | None) -> str:
        self._constants.append(text)
        return f"q.q{len(self._constants) - 1}"

    def _cell(self, name: str) -> tuple[str, str]:
        relation = self._relation
        cell = self._cells[name]
        if name not in relation.coded:
            return cell, relation.places.kind(name)
        kind = relation.coded[name].domain.kind
        if name not in self._labelled:
            self._labelled[name] = f"v{len(self._labelled)}"
        return f"{self._labelled[name]}.label", kind

    def joins(self) -> str:
        """The labels of coded columns, and one row of constants."""
        relation, joined = self._relation, []
        for name, alias in self._labelled.items():
            labels = relation.labels(name)
            joined.append(
                f"LEFT JOIN {labels} {alias} ON {alias}.code = {self._cells[name]}"
            )
        if self._constants:
            table = relation.given(
                {f"q{j}": [text] for j, text in enumerate(self._constants)}
            )
            joined.append(f"CROSS JOIN {table} q")
        return " ".join(joined)


def _compared(kind: str, left: str, sign: str, right: str) -> str:
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
    return f"{text_types.same_number(left)} {sign} {text_types.same_number(right)}"
