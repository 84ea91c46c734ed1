"""Guesses of what each column is for: identifier, quasi-identifier, sensitive, target.

They come from names and labels, kinds and numbers of values, and from what a sample of
the values looks like. What one column tells of the whole table helps with the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from privet.draft.content import Content
from privet.draft.multiplicity import Multiplicity, find_multiple, find_personal
from privet.draft.topics import HEALTH, MONEY, TOPICS, find_topic
from privet.draft.vocabulary import (
    AGE,
    AIM,
    BIRTH,
    CARE,
    DIRECT,
    KNOWN,
    NAME,
    NOT_AGES,
    NUMBER,
    ORIGIN,
    OTHER,
    PEOPLE,
    POST,
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

CONFIDENCES = ("sure", "likely", "unsure")
"""How much a guess can be relied on; a person looks at what is unsure first."""

FEW_VALUES = 20


@dataclass(frozen=True)
class Guess:
    """What a column is probably for."""

    name: str
    """The column."""
    role: str
    """identifier, quasi, sensitive, other, drop, target, unit or weight."""
    reason: str
    """Why, in one clause."""
    confidence: str
    """sure, likely or unsure."""
    item: str = ""
    """What of the checklist it is about: "health", "email" and the like."""
    target: bool = False
    """Whether a sensitive column is also what analysts want to explain."""
    bare: bool = False
    """Whether nothing told what the column is for, and its kind alone was looked at."""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InputError(f"role must be one of {ROLES}; got {self.role!r}.")
        if self.confidence not in CONFIDENCES:
            raise InputError(
                f"confidence must be one of {CONFIDENCES}; got {self.confidence!r}."
            )
        if not self.reason.isprintable():
            raise InputError(f"reason must be one line of text; got {self.reason!r}.")

    @property
    def sure(self) -> bool:
        """False where a person should look first."""
        return self.confidence != "unsure"

    def to_dict(self) -> dict[str, object]:
        """The guess for machines."""
        return {
            "name": self.name,
            "role": self.role,
            "reason": self.reason,
            "confidence": self.confidence,
            "sure": self.sure,
        }


@dataclass(frozen=True)
class SeenColumn:
    """All that is known of one column."""

    column: ColumnSummary
    """Its kind and numbers of values."""
    content: Content = field(default_factory=Content)
    """What its values look like."""
    numbers: Multiplicity = field(default_factory=Multiplicity)
    """What was counted of it."""
    label: str = ""
    """What a file says of it in words."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.column.name

    @property
    def kind(self) -> str:
        """What values it has."""
        return self.column.kind

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return split_words(self.column.name)

    @cached_property
    def told(self) -> tuple[str, ...]:
        """The words of its name, and of its label."""
        return (*self.words, *split_words(self.label)[:-1])

    def where(self, word: str) -> str:
        """Where a word was found."""
        return f"{word!r} in its {'name' if word in self.words else 'label'}"


Rule = Callable[[SeenColumn], Guess | None]


def choose_confidence(certain: bool, *, otherwise: str = "unsure") -> str:
    """The word for how certain something is."""
    return "sure" if certain else otherwise


# Rules, in the order in which they are asked ------------------------------------------


def _guess_constant(seen: SeenColumn) -> Guess | None:
    if seen.column.rows > 1 and seen.column.distinct <= 1:
        return Guess(seen.name, "drop", "the same in every row", "sure")
    return None


def _guess_weight(seen: SeenColumn) -> Guess | None:
    word = find_multiple(seen.column)
    if not word or not seen.numbers.weight:
        return None
    reason = f"whole numbers called {word!r}: {seen.numbers.weight}"
    return Guess(seen.name, "weight", reason, "sure")


def _guess_by_pattern(seen: SeenColumn) -> Guess | None:
    pattern = seen.content.pattern
    if pattern is None:
        return None
    named = DIRECT.find(seen.told) or find_personal(seen.words, NUMBER)
    certain = pattern.plain or bool(named)
    reason = f"its values have the form of {pattern.words}"
    confidence = choose_confidence(certain, otherwise="likely")
    return Guess(seen.name, "identifier", reason, confidence, pattern.key)


def _guess_identifier(seen: SeenColumn) -> Guess | None:
    found = DIRECT.find(seen.told) or find_personal(seen.words, NAME)
    if not found or seen.kind == "boolean":
        return None
    often = seen.column.distinct * 50 < seen.column.rows
    reason = seen.where(found) + (", though with few values" if often else "")
    item = "name" if NAME.find([found]) or "name" in found else ""
    return Guess(seen.name, "identifier", reason, choose_confidence(not often), item)


def _guess_by_number(seen: SeenColumn) -> Guess | None:
    found = find_personal(seen.words, NUMBER)
    if not found or seen.kind in ("boolean", "date", "datetime"):
        return None
    if seen.column.distinct == seen.column.rows:
        reason = f"{seen.where(found)}, no value twice"
        return Guess(seen.name, "identifier", reason, "sure", "record")
    if seen.numbers.person:
        reason = f"{seen.where(found)}: {seen.numbers.person}"
        return Guess(seen.name, "unit", reason, "sure", "record")
    said = seen.numbers.against or "some values stand in several rows"
    reason = f"{seen.where(found)}, but {said}"
    if seen.column.distinct * 10 >= seen.column.rows:
        return Guess(seen.name, "identifier", reason, "unsure", "record")
    return None


def _guess_sensitive(seen: SeenColumn) -> Guess | None:
    told = find_topic(seen.told)
    if told is None:
        return None
    topic, found = told
    vague = seen.kind in ("date", "datetime") or (
        seen.column.telling and seen.kind == "text"
    )
    reason = f"{seen.where(found)}: {topic.key}"
    return Guess(
        seen.name, "sensitive", reason, choose_confidence(not vague), topic.key
    )


def _guess_free_text(seen: SeenColumn) -> Guess | None:
    if not seen.content.free_text or not seen.column.varied:
        return None
    reason = "free text: anything about anybody may stand there"
    return Guess(seen.name, "drop", reason, "likely", "text")


def _guess_person_name(seen: SeenColumn) -> Guess | None:
    if not seen.content.names or KNOWN.find(seen.told):
        return None
    often = seen.column.distinct * 50 < seen.column.rows
    reason = "its values look like names of people"
    confidence = "unsure" if often else "likely"
    return Guess(seen.name, "identifier", reason, confidence, "name")


def _guess_origin(seen: SeenColumn) -> Guess | None:
    found = ORIGIN.find(seen.told)
    if not found and seen.content.known != "origins":
        return None
    reason = seen.where(found) if found else "its values are origins of people"
    said = f"{reason}: origin, often visible"
    return Guess(seen.name, "quasi", said, "sure" if found else "likely", "origin")


def _guess_age(seen: SeenColumn) -> Guess | None:
    """Ages by whole words, or by their beginning or end where the numbers fit."""
    if found := BIRTH.find(seen.told) or AGE.find(seen.told):
        return Guess(seen.name, "quasi", seen.where(found), "sure", "date")
    like = [
        w
        for w in seen.words
        if w.startswith("age") or w.endswith("age")
        if len(w) <= 9 and not NOT_AGES.find([w])
    ]
    if not like or not seen.content.like_ages:
        return None
    reason = f"{seen.where(like[0])}, and numbers like ages"
    return Guess(seen.name, "quasi", reason, "likely", "date")


def _guess_quasi(seen: SeenColumn) -> Guess | None:
    if found := POST.find(seen.told):
        return Guess(seen.name, "quasi", seen.where(found), "sure", "place")
    if found := KNOWN.find(seen.told):
        return Guess(seen.name, "quasi", seen.where(found), "sure")
    return None


def _guess_by_values(seen: SeenColumn) -> Guess | None:
    """Words in the values, where the name says nothing."""
    if topic := seen.content.topic:
        reason = f"its values have words about {topic.key}"
        return Guess(seen.name, "sensitive", reason, "likely", topic.key)
    if known := seen.content.known:
        reason = f"its values are {known}"
        item = "place" if known in ("states", "places") else ""
        return Guess(seen.name, "quasi", reason, "likely", item)
    return None


def _guess_target(seen: SeenColumn) -> Guess | None:
    found = AIM.find(seen.words)
    if not found or seen.column.varied:
        return None
    confidence = choose_confidence(seen.column.distinct <= FEW_VALUES)
    return Guess(seen.name, "target", seen.where(found), confidence)


def _guess_other(seen: SeenColumn) -> Guess | None:
    found = OTHER.find(seen.words)
    if not found or seen.kind not in ("integer", "number", "text"):
        return None
    return Guess(seen.name, "other", seen.where(found), "likely", bare=True)


def _guess_by_variety(seen: SeenColumn) -> Guess | None:
    column, content = seen.column, seen.content
    if column.kind == "integer" and column.telling and content.quantiles:
        return _guess_row_number(seen)
    if column.kind not in ("text", "other", "integer"):
        return None
    if column.telling:
        reason = "nearly every row has its own value"
        confidence = choose_confidence(column.kind == "text")
        return Guess(seen.name, "identifier", reason, confidence, "record")
    labelled = NAME.find(seen.words) or NUMBER.find(seen.words)
    if column.varied and (labelled or column.kind == "text"):
        reason = "many different values"
        return Guess(seen.name, "identifier", reason, "unsure", "record")
    return None


NAMELESS = re.compile(r"column1|Unnamed: 0|row[._]?names?|__index_level_0__", re.I)
"""What columns are called that other programs wrote before all others."""


def _guess_row_number(seen: SeenColumn) -> Guess | None:
    """Whole numbers that run through, or all have as many digits."""
    least, most = seen.content.spread
    if seen.column.distinct < seen.column.rows:
        return None
    if NAMELESS.fullmatch(seen.name):
        reason = "no value twice, and no name: rows as they were numbered"
        return Guess(seen.name, "identifier", reason, "likely", "record")
    if most - least < 2 * seen.column.rows:
        reason = "no value twice, and they number the rows"
        return Guess(seen.name, "identifier", reason, "likely", "record")
    if seen.content.same_length:
        reason = "no value twice, and all have as many digits"
        return Guess(seen.name, "identifier", reason, "unsure", "record")
    return None


def _guess_hidden(seen: SeenColumn) -> Guess | None:
    if not seen.content.hidden:
        return None
    reason = f"{seen.content.hidden} stand in some of its values"
    return Guess(seen.name, "identifier", reason, "unsure", "text")


def _guess_by_kind(seen: SeenColumn) -> Guess:
    column = seen.column
    if column.kind in ("date", "datetime"):
        reason = "a date that others may know"
        return Guess(seen.name, "quasi", reason, "unsure", "date")
    few = column.kind == "integer" and column.distinct <= FEW_VALUES
    if few or column.kind in ("text", "boolean"):
        reason = "values that others may know"
        return Guess(seen.name, "quasi", reason, "unsure", bare=True)
    return Guess(seen.name, "other", "nothing says what it is for", "unsure", bare=True)


RULES: tuple[Rule, ...] = (
    _guess_constant,
    _guess_weight,
    _guess_by_pattern,
    _guess_identifier,
    _guess_by_number,
    _guess_sensitive,
    _guess_free_text,
    _guess_origin,
    _guess_age,
    _guess_quasi,
    _guess_person_name,
    _guess_by_values,
    _guess_target,
    _guess_hidden,
    _guess_by_variety,
    _guess_other,
    _guess_by_kind,
)
"""Asked in this order; the first that answers is believed."""


# The whole table ----------------------------------------------------------------------


def guess_roles(
    columns: Sequence[ColumnSummary],
    contents: Mapping[str, Content] | None = None,
    numbers: Mapping[str, Multiplicity] | None = None,
    labels: Mapping[str, str] | None = None,
    *,
    called: str = "",
) -> tuple[Guess, ...]:
    """Guess what each column is for; at most one target, one unit, one weight.

    What the table is `called` may tell what it is about.
    """
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        raise InputError("columns must have different names; got one twice.")
    seen = [
        SeenColumn(
            column,
            (contents or {}).get(column.name, Content()),
            (numbers or {}).get(column.name, Multiplicity()),
            (labels or {}).get(column.name, ""),
        )
        for column in columns
    ]
    guesses = [guess_alone(one) for one in seen]
    guesses = _keep_one(guesses, "weight", otherwise="other")
    # People are counted, or multiplicities added, not both.
    weighed = any(guess.role == "weight" for guess in guesses)
    guesses = _keep_one(guesses, "unit", otherwise="identifier", none=weighed)
    guesses = _keep_one(guesses, "target", otherwise="other")
    return tuple(_guess_by_context(guesses, called))


def guess_alone(seen: SeenColumn) -> Guess:
    """The guess for a column that stands alone."""
    answers = (rule(seen) for rule in RULES)
    guess = next(answer for answer in answers if answer)
    if seen.numbers.against and find_multiple(seen.column):
        guess = replace(
            guess,
            reason=f"{guess.reason}; no weight, since {seen.numbers.against}",
            confidence="unsure",
        )
    if not seen.column.nearly:
        return guess
    what = "dates" if seen.column.nearly.startswith("date") else "numbers"
    reason = f"{guess.reason}; {NEARLY.format(what)}"
    return replace(guess, reason=reason, confidence="unsure")


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
            confidence="unsure",
            bare=role == "target",
        )
        if at in lost
        else guess
        for at, guess in enumerate(guesses)
    ]


def _guess_by_context(guesses: Sequence[Guess], called: str) -> list[Guess]:
    """What a table is about speaks for columns of which nothing else is known."""
    if topic := find_subject(guesses, called):
        about = f"but the table is about {topic}"
        return [_hold_back(g, topic, about) for g in guesses]
    if is_about_people(guesses) and not any(g.role == "sensitive" for g in guesses):
        return [_hold_back(g, "", "and the table is about people") for g in guesses]
    return list(guesses)


def _hold_back(guess: Guess, item: str, about: str) -> Guess:
    """Take a column that nothing explains, or a target, for sensitive."""
    if guess.role == "target":
        return replace(
            guess,
            role="sensitive",
            reason=f"{guess.reason}, {about}",
            confidence="likely" if item else "unsure",
            item=item,
            target=True,
        )
    if not guess.bare or guess.role not in ("quasi", "other"):
        return guess
    reason = f"nothing says what it is for, {about}"
    return replace(
        guess, role="sensitive", reason=reason, confidence="unsure", item=item
    )


def find_subject(guesses: Sequence[Guess], called: str = "") -> str:
    """The topic of a table: its name says so, or enough of its columns are about it.

    Two columns and an eighth of them are enough, or four; of ten columns, one is.
    """
    words = split_words(called)
    for topic in TOPICS:
        if topic is MONEY:
            continue  # wages stand in tables about anything
        keys = ("health", "sexuality") if topic is HEALTH else (topic.key,)
        told = sum(_is_secret(g, k) for g in guesses for k in keys)
        if told and topic is HEALTH:  # wards and patients are of a hospital
            told += sum(bool(CARE.find(split_words(g.name))) for g in guesses)
        enough = told >= 4 or (told >= 2 and told * 8 >= len(guesses))
        few = told >= 1 and len(guesses) <= 10
        named = topic.names.find(words) or topic.values.find(words)
        if enough or few or named:
            said = [k for k in keys if any(_is_secret(g, k) for g in guesses)]
            return topic.key if named or not said else said[0]
    return ""


def _is_secret(guess: Guess, item: str) -> bool:
    return guess.role == "sensitive" and guess.item == item


def is_about_people(guesses: Sequence[Guess]) -> bool:
    """Whether a column tells ages, sexes, origins or names of people."""
    for guess in guesses:
        if PEOPLE.find(split_words(guess.name)):
            return True
        if guess.reason.endswith("are sexes") or "numbers like ages" in guess.reason:
            return True
    return False
