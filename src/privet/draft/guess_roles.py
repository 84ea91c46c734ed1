"""Guesses of what each column is for: identifier, quasi-identifier, sensitive, target.

They come from names, kinds and numbers of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from privet.draft.vocabulary import (
    AGE,
    AIM,
    BIRTH,
    DIRECT,
    FILLERS,
    HEAVY,
    KNOWN,
    MULTIPLE,
    NAME,
    NUMBER,
    PERSON,
    POST,
    PROTECTED,
    Vocabulary,
    split_words,
)
from privet.engine.protocol import ColumnSummary
from privet.errors import InputError

ROLES = (
    "identifier",
    "quasi",
    "sensitive",
    "other",
    "drop",
    "target",
    "unit",
    "weight",
)
"""What a column may be guessed to be; none is left without a role."""

FEW_VALUES = 20


@dataclass(frozen=True)
class Guess:
    """What a column is probably for."""

    name: str
    """The column."""
    role: str
    """One of `ROLES`."""
    reason: str
    """Why, in one clause."""
    sure: bool
    """False where a person should look first."""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InputError(f"role must be one of {ROLES}; got {self.role!r}.")
        if not self.reason.isprintable():
            raise InputError(f"reason must be one line of text; got {self.reason!r}.")


Rule = Callable[[ColumnSummary, tuple[str, ...]], Guess | None]


def _guess_constant(column: ColumnSummary, _words: tuple[str, ...]) -> Guess | None:
    if column.rows > 1 and column.distinct <= 1:
        return Guess(column.name, "drop", "the same in every row", True)
    return None


def _guess_weight(column: ColumnSummary, words: tuple[str, ...]) -> Guess | None:
    parts = words[:-1] or words
    only = all(MULTIPLE.find([word]) or FILLERS.find([word]) for word in parts)
    found = MULTIPLE.find(parts)
    if column.kind != "integer" or not found or not only:
        return None
    reason = f"whole numbers called {found!r}: how many rows each row stands for"
    return Guess(column.name, "weight", reason, not HEAVY.find([found]))


def _guess_identifier(column: ColumnSummary, words: tuple[str, ...]) -> Guess | None:
    found = DIRECT.find(words) or _find_personal(words, NAME)
    if not found:
        return None
    often = column.distinct * 50 < column.rows
    reason = f"{found!r} in its name" + (", though with few values" if often else "")
    return Guess(column.name, "identifier", reason, not often)


def _guess_by_number(column: ColumnSummary, words: tuple[str, ...]) -> Guess | None:
    found = _find_personal(words, NUMBER)
    if not found:
        return None
    reason = f"{found!r} in its name"
    if column.distinct == column.rows:
        return Guess(column.name, "identifier", f"{reason}, no value twice", True)
    sure = column.distinct * 50 >= column.rows
    return Guess(column.name, "unit", f"{reason}, some values in several rows", sure)


def _find_personal(words: tuple[str, ...], kind: Vocabulary) -> str:
    """Give the word of this kind, if all the others are words for people."""
    parts = words[:-1] or words
    others = [word for word in parts if not kind.find([word])]
    return kind.find(parts) if all(PERSON.find([word]) for word in others) else ""


def _guess_sensitive(column: ColumnSummary, words: tuple[str, ...]) -> Guess | None:
    found = PROTECTED.find(words)
    if not found:
        return None
    sure = column.kind not in ("date", "datetime") and not column.telling
    return Guess(column.name, "sensitive", f"{found!r} in its name", sure)


def _guess_quasi(column: ColumnSummary, words: tuple[str, ...]) -> Guess | None:
    for known in (BIRTH, AGE, POST, KNOWN):
        if found := known.find(words):
            return Guess(column.name, "quasi", f"{found!r} in its name", True)
    return None


def _guess_target(column: ColumnSummary, words: tuple[str, ...]) -> Guess | None:
    found = AIM.find(words)
    if not found or column.varied:
        return None
    sure = column.distinct <= FEW_VALUES
    return Guess(column.name, "target", f"{found!r} in its name", sure)


def _guess_by_variety(column: ColumnSummary, words: tuple[str, ...]) -> Guess | None:
    labelled = NAME.find(words) or NUMBER.find(words)
    if column.kind not in ("text", "integer", "other"):
        return None
    if column.telling:
        reason = "nearly every row has its own value"
        return Guess(column.name, "identifier", reason, column.kind == "text")
    if column.varied and (labelled or column.kind == "text"):
        return Guess(column.name, "identifier", "many different values", False)
    return None


def _guess_by_kind(column: ColumnSummary, _words: tuple[str, ...]) -> Guess:
    if column.kind in ("date", "datetime"):
        return Guess(column.name, "quasi", "a date that others may know", False)
    few = column.kind == "integer" and column.distinct <= FEW_VALUES
    if few or column.kind in ("text", "boolean"):
        return Guess(column.name, "quasi", "values that others may know", False)
    return Guess(column.name, "other", "nothing says what it is for", False)


RULES: tuple[Rule, ...] = (
    _guess_constant,
    _guess_weight,
    _guess_identifier,
    _guess_by_number,
    _guess_sensitive,
    _guess_quasi,
    _guess_target,
    _guess_by_variety,
    _guess_by_kind,
)
"""Asked in this order; the first that answers is believed."""


def guess_roles(columns: Sequence[ColumnSummary]) -> tuple[Guess, ...]:
    """Guess what each column is for; at most one target, one unit, one weight."""
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        raise InputError("columns must have different names; got one twice.")
    guesses = [_guess(column) for column in columns]
    guesses = _keep_one(guesses, "target", otherwise="other")
    guesses = _keep_one(guesses, "weight", otherwise="other")
    # People are counted, or multiplicities added, not both.
    weighed = any(guess.role == "weight" for guess in guesses)
    return tuple(_keep_one(guesses, "unit", otherwise="identifier", none=weighed))


def _guess(column: ColumnSummary) -> Guess:
    words = split_words(column.name)
    answers = (rule(column, words) for rule in RULES)
    guess = next(answer for answer in answers if answer)
    if not column.nearly:
        return guess
    what = "dates" if column.nearly.startswith("date") else "numbers"
    return replace(guess, reason=f"{guess.reason}; {NEARLY.format(what)}", sure=False)


NEARLY = (
    "nearly all of its values are {}, but it is read as text; texts that stand for "
    "missing values can be named with --null"
)


def _keep_one(
    guesses: list[Guess], role: str, *, otherwise: str, none: bool = False
) -> list[Guess]:
    """Leave a role to the last of the surest, where targets usually stand."""
    rivals = [
        (guess.sure, at) for at, guess in enumerate(guesses) if guess.role == role
    ]
    lost = {at for _, at in (rivals if none else sorted(rivals)[:-1])}
    other = "a weight" if none else f"the {role}"
    return [
        replace(
            guess,
            role=otherwise,
            reason=f"{guess.reason}, but another column is {other}",
            sure=False,
        )
        if at in lost
        else guess
        for at, guess in enumerate(guesses)
    ]
