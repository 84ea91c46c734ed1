"""Logical expressions E over answers (and, or, not): sets of combinations of values.

Zhan, Chang, Matwin 2004, section 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError
from privet.responses.design import Design

Event = NDArray[np.bool_]
Meaning = Callable[[dict[str, NDArray[np.int64]]], Event]
"""Takes the codes of the columns, one array each; gives where the expression holds."""

TOKEN = re.compile(
    r"""\s*(?: (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<sign>!=|<>|==|=|\(|\)|,)
      | (?P<word>[^\s=!<>(),'"]+) )""",
    re.VERBOSE,
)
DEEPEST = 50
WORDS = ("and", "or", "not", "in")


@dataclass(frozen=True)
class Expression:
    """What a share is asked of."""

    columns: tuple[str, ...]
    """The columns it names, each once."""
    meaning: Meaning
    """Where it holds."""
    text: str
    """As it was written."""


@dataclass
class _Parser:
    design: Design
    text: str
    tokens: list[tuple[str, str]]
    columns: list[str] = field(default_factory=list)
    at: int = 0
    depth: int = 0

    def fail(self, rule: str) -> InputError:
        return InputError(
            f"An expression must be such as \"smokes = yes and not age = 'below 30'\"; "
            f"{rule}"
        )

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        found = self.peek()
        self.at += 1
        return found

    def accept(self, word: str) -> bool:
        kind, text = self.peek()
        same = kind in ("word", "sign") and text.lower() == word
        self.at += same
        return same

    def parse_or(self) -> Meaning:
        parts = [self.parse_and()]
        while self.accept("or"):
            parts.append(self.parse_and())
        return lambda codes: np.logical_or.reduce([p(codes) for p in parts])

    def parse_and(self) -> Meaning:
        parts = [self.parse_nested()]
        while self.accept("and"):
            parts.append(self.parse_nested())
        return lambda codes: np.logical_and.reduce([p(codes) for p in parts])

    def parse_nested(self) -> Meaning:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail(f"this one is nested more than {DEEPEST} times.")
        try:
            return self.parse_term()
        finally:
            self.depth -= 1

    def parse_term(self) -> Meaning:
        if self.accept("not"):
            negated = self.parse_nested()
            return lambda codes: ~negated(codes)
        if self.accept("("):
            inside = self.parse_or()
            if not self.accept(")"):
                raise self.fail("a bracket is not closed.")
            return inside
        return self.parse_comparison()

    def parse_comparison(self) -> Meaning:
        column = self.parse_value("a column")
        question = self.design.question(column)
        if column not in self.columns:
            self.columns.append(column)
        if self.accept("in"):
            wanted = [question.code(v) for v in self.parse_list()]
            return lambda codes: np.isin(codes[column], wanted)
        kind, sign = self.take()
        if kind != "sign" or sign not in ("=", "==", "!=", "<>"):
            raise self.fail(f"after {column!r} there must be =, != or in.")
        code = question.code(self.parse_value(f"a value of {column!r}"))
        if sign in ("!=", "<>"):
            return lambda codes: codes[column] != code
        return lambda codes: codes[column] == code

    def parse_list(self) -> list[str]:
        if not self.accept("("):
            raise self.fail("after in there must be a list in brackets.")
        found = [self.parse_value("a value")]
        while self.accept(","):
            found.append(self.parse_value("a value"))
        if not self.accept(")"):
            raise self.fail("a bracket is not closed.")
        return found

    def parse_value(self, what: str) -> str:
        kind, text = self.take()
        if kind == "quoted":
            return re.sub(r"\\(.)", r"\1", text[1:-1])
        if kind != "word":
            raise self.fail(f"{what} is missing.")
        return text


def parse_expression(design: Design, text: str) -> Expression:
    """An expression from its text.

    >>> from privet.responses.channels import KAry
    >>> from privet.responses.design import Group, Question
    >>> smokes = Question("smokes", ["no", "yes"])
    >>> design = Design([smokes], [Group("smokes", KAry(0.8))])
    >>> parse_expression(design, "not smokes = yes").columns
    ('smokes',)
    """
    if not isinstance(text, str):
        raise InputError(
            'An expression must be text such as "smokes = yes"; got '
            f"{type(text).__name__}."
        )
    parser = _Parser(design, text, _split_tokens(text))
    meaning = parser.parse_or()
    if parser.peek()[0] != "end":
        raise parser.fail(f"{parser.peek()[1]!r} is too much.")
    return Expression(tuple(parser.columns), meaning, text)


def _split_tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None:
            raise InputError(
                f"An expression must be made of names, values, =, !=, in, and, or, "
                f"not and brackets; got {text[at:].strip()[0]!r}."
            )
        kind = match.lastgroup or ""
        found.append((kind, match[kind]))
        at = match.end()
    return found


def express_equalities(design: Design, wanted: dict[str, object]) -> Expression:
    """All of some columns having these values."""
    codes = {c: design.question(c).code(v) for c, v in wanted.items()}

    def holds(at: dict[str, NDArray[np.int64]]) -> Event:
        found: Event = np.logical_and.reduce([at[c] == k for c, k in codes.items()])
        return found

    text = " and ".join(f"{c} = {v}" for c, v in wanted.items())
    return Expression(tuple(codes), holds, text)


def evaluate_event(
    design: Design, columns: Sequence[str], expression: Expression
) -> Event:
    """Where an expression holds, over all combinations of some columns' values."""
    sizes = [len(design.question(c)) for c in columns]
    # (columns, *sizes): the code of each column in every combination.
    codes = np.indices(sizes, dtype=np.int64)
    found = expression.meaning(dict(zip(columns, codes, strict=True)))
    return np.broadcast_to(found, sizes)
