"""Design of a survey: its questions, and the channel that disguises each group of them.

Respondent and collector share it, as a TOML or JSON file with the same keys, in which
every problem is told at once. The paper's one-group and two-group schemes are designs
whose questions are flipped together, in one group or in two.
Zhan, Chang, Matwin 2004, sections 3.2 and 3.3.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import log, prod
from os import PathLike
from pathlib import Path
from typing import Any

import attrs

from privet.display import Displayed
from privet.errors import ColumnNotFound, InputError, PrivetError, suggest_names, warn
from privet.languages import say, say_number
from privet.responses.channels import (
    CHANNELS,
    KEYS,
    Channel,
    Flip,
    KAry,
    Keep,
    Replace,
    condition_number,
    mix_channels,
    parse_channel,
)
from privet.values.known_cells import as_cell
from privet.values.schema import Bins, as_names

# Questions --------------------------------------------------------------------------


@attrs.frozen(init=False)
class Question:
    """One question, or one column: its name and every answer there is.

    >>> Question("age", bins=[30, 50]).values
    ('below 30', '30 to below 50', '50 and more')
    """

    name: str
    """The column."""
    values: tuple[str, ...]
    """The answers, declared beforehand: those that occur would tell something."""
    bins: Bins | None = None
    """Cut points of a numeric answer; its ranges are the values then."""
    ask: str = ""
    """The question as a respondent reads it."""
    missing: str | None = None
    """Which of the values a missing answer counts as."""

    def __init__(
        self,
        name: str,
        values: Sequence[object] | None = None,
        *,
        bins: Bins | Sequence[Any] | None = None,
        ask: str = "",
        missing: str | None = None,
    ) -> None:
        _require_text(name, "name of a question")
        _require_text(ask or "-", f"ask of {name!r}")
        cut = Bins(bins) if bins is not None and not isinstance(bins, Bins) else bins
        if (cut is None) == (values is None):
            raise InputError(f"Question {name!r} must have values or bins, and one.")
        found = _read_values(name, values, cut)
        self.__attrs_init__(name, found, cut, ask, missing)
        if missing is not None and missing not in self.values:
            raise InputError(
                f"missing of {name!r} must be one of its values; got {missing!r}."
            )

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {v: i for i, v in enumerate(self.values)}

    def code(self, value: object) -> int:
        """The place of an answer among the values; an error if it is none."""
        if value is None and self.missing is not None:
            value = self.missing
        label = as_cell(value) if value is not None else None
        found = self._codes.get(label) if label is not None else None
        if found is None:
            raise InputError(
                f"An answer to {self.name!r} must be one of the declared values. "
                f"{suggest_names('', self.values)}"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        stated: dict[str, Any] = {"name": self.name}
        if self.ask:
            stated["ask"] = self.ask
        if self.bins is not None:
            stated["bins"] = self.bins.to_list()
        else:
            stated["values"] = list(self.values)
        return stated | ({} if self.missing is None else {"missing": self.missing})


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str) or not value:
        raise InputError(f"The {what} must be text; got {value!r}.")


def _read_values(name: str, values: Any, cut: Bins | None) -> tuple[str, ...]:
    if cut is not None:
        return cut.labels()
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"values of {name!r} must be a list; got {values!r}.")
    found = tuple(as_cell(v) for v in values)
    if len(found) < 2 or len(set(found)) < len(found):
        raise InputError(
            f"values of {name!r} must be at least two different ones; "
            f"got {len(set(found))} different of {len(found)}."
        )
    return found


# Designs ----------------------------------------------------------------------------

MOST_VALUES = 65_536
"""Values of a group."""

SHAKY = 1000
"""Condition numbers above this leave estimates hardly any digit."""


@attrs.frozen(init=False)
class Group:
    """Columns that are disguised by one draw: a group of the paper's schemes."""

    columns: tuple[str, ...]
    """Which; most groups have one."""
    channel: Channel
    """How."""

    def __init__(self, columns: str | Sequence[str], channel: Channel) -> None:
        if not isinstance(channel, CHANNELS):
            raise InputError(
                f"A channel must be Flip, KAry, Matrix or Replace; got {channel!r}."
            )
        named = as_names(columns, "columns of a group")
        if not named:
            raise InputError("columns of a group must name a question; got none.")
        self.__attrs_init__(named, channel)


@dataclass(frozen=True)
class MarginalChannel:
    """A channel between some columns and their reports, independent of other pieces."""

    columns: tuple[str, ...]
    """The columns, the last varying fastest."""
    size: int
    """How many combinations of values they have."""
    channel: Channel
    """How they are disguised."""


@attrs.frozen(init=False)
class Design(Displayed):
    """What is asked of each person, and with which chances it is disguised."""

    questions: tuple[Question, ...]
    """The columns."""
    groups: tuple[Group, ...]
    """Every column in one group; groups are disguised independently. Those of one
    column come first."""
    title: str = ""
    """What the survey is called."""
    one_of: bool = False
    """Whether each person is asked about one group only, drawn at random; what is
    public is asked of everybody."""

    def __init__(
        self,
        questions: Sequence[Question],
        groups: Sequence[Group],
        *,
        title: str = "",
        one_of: bool = False,
    ) -> None:
        self.__attrs_init__(tuple(questions), tuple(groups), title, bool(one_of))
        self._check_columns()
        object.__setattr__(self, "groups", self._sort_groups())
        for group in self.groups:
            self._check_group(group)

    def _sort_groups(self) -> tuple[Group, ...]:
        """As a file writes them: single questions in their order, then the others.

        Which group a person is asked is drawn by its place, and remembered: the same
        design, written and read, must ask the same.
        """
        place = {c: i for i, c in enumerate(self.columns)}
        single = [g for g in self.groups if len(g.columns) == 1]
        several = [g for g in self.groups if len(g.columns) != 1]
        return (*sorted(single, key=lambda g: place[g.columns[0]]), *several)

    # What must hold -----------------------------------------------------------------

    def _check_columns(self) -> None:
        for part, kind in ((self.questions, Question), (self.groups, Group)):
            for one in part:
                if not isinstance(one, kind):
                    raise InputError(
                        f"A design must be made of questions and groups; got "
                        f"{type(one).__name__} for a {kind.__name__}."
                    )
        named = as_names([q.name for q in self.questions], "questions")
        if not named:
            raise InputError("A design must have questions; got none.")
        grouped = [c for g in self.groups for c in g.columns]
        for c in grouped:
            if c not in named:
                raise ColumnNotFound(
                    f"Column {c!r} of a group must be a question. "
                    f"{suggest_names(c, named)}"
                )
        for c in named:
            times = grouped.count(c)
            if times == 0 or (times > 1 and not self.one_of):
                raise InputError(
                    f"Question {c!r} must be disguised in one group; it is in {times}."
                )
        self._refuse_nested()
        self._refuse_half_public()

    def _refuse_nested(self) -> None:
        """Which of the groups a row answers must be seen by what it leaves out."""
        for i, group in enumerate(self.groups):
            others = [set(g.columns) for g in (*self.groups[:i], *self.groups[i + 1 :])]
            if any(set(group.columns) <= other for other in others):
                raise InputError(
                    f"{' and '.join(map(repr, group.columns))} must not be asked by "
                    "another group, too, unless each asks something of its own."
                )

    def _refuse_half_public(self) -> None:
        """Where one group is drawn, what is public is asked of everybody besides."""
        drawn = {c for g in self.drawn for c in g.columns}
        if self.one_of and not drawn:
            raise InputError(
                "A design with one_of must disguise something, of which each person is "
                "asked a part; everything is public."
            )
        for c in self.public:
            if c in drawn:
                raise InputError(
                    f"Question {c!r} must be public or disguised; it is both."
                )

    def _check_group(self, group: Group) -> None:
        words = " and ".join(map(repr, group.columns))
        sizes = [len(self.question(c)) for c in group.columns]
        size = prod(sizes)
        if size > MOST_VALUES and not isinstance(group.channel, Flip | Keep):
            raise InputError(
                f"{words} must have at most {MOST_VALUES:,} values together to be "
                f"disguised together; got {size:,}."
            )
        if why := group.channel.refusal(size):
            raise InputError(f"{words} {why}.")
        if isinstance(group.channel, Flip) and any(s != 2 for s in sizes):
            raise InputError(f"{words} must have two values each to be flipped.")
        if isinstance(group.channel, Flip) and len(sizes) > 1:
            warn(
                say(
                    "{columns} are flipped together: whether two of them "
                    "agree is published as it is, ε is infinite, and a "
                    "collector can recover most records. Disguise each by "
                    "itself unless you repeat the paper.",
                    columns=words,
                )
            )
        if (shaky := condition_number(group.channel, size)) > SHAKY:
            warn(
                say_number(
                    "{columns} is disguised so strongly that estimates carry "
                    "{times} times the error; expect to need very many "
                    "answers.",
                    "{columns} are disguised so strongly that estimates "
                    "carry {times} times the error; expect to need very many "
                    "answers.",
                    len(sizes),
                    columns=words,
                    times=f"{shaky:.0f}",
                )
            )

    # What there is ------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, in the order they are asked."""
        return tuple(q.name for q in self.questions)

    @property
    def public(self) -> tuple[str, ...]:
        """The columns that are not disguised."""
        return tuple(
            c for g in self.groups if isinstance(g.channel, Keep) for c in g.columns
        )

    @property
    def drawn(self) -> tuple[Group, ...]:
        """The secret groups; with one_of, one of them is drawn for each person."""
        return tuple(g for g in self.groups if not isinstance(g.channel, Keep))

    def list_asked(self) -> list[frozenset[str]]:
        """The sets of questions a person may be asked: all, or what is public and one
        of the groups that are drawn.
        """
        if not self.one_of:
            return [frozenset(self.columns)]
        return [frozenset((*self.public, *g.columns)) for g in self.drawn]

    def question(self, name: str) -> Question:
        """A question by its name."""
        for q in self.questions:
            if q.name == name:
                return q
        raise ColumnNotFound(
            f"Column {name!r} must be a question of the design. "
            f"{suggest_names(str(name), self.columns)}"
        )

    def size(self, columns: Sequence[str]) -> int:
        """How many combinations of values some columns have."""
        return prod(len(self.question(c)) for c in columns)

    def growth(self, columns: Sequence[str] | None = None) -> Fraction | None:
        """e^ε of the whole record, or of some columns; None where it is infinite.

        Of local differential privacy, given the public columns, which are no secret.
        """
        asked = self.columns if columns is None else columns
        found = Fraction(1)
        for group in self.groups:
            if isinstance(group.channel, Keep) or not set(group.columns) & set(asked):
                continue
            grown = group.channel.growth(self.size(group.columns))
            if grown is None:
                return None
            # One group is reported, or all of them, and then factors multiply.
            found = max(found, grown) if self.one_of else found * grown
        return found

    def epsilon(self, columns: Sequence[str] | None = None) -> float:
        """The natural logarithm of `growth`, for reading."""
        grown = self.growth(columns)
        return float("inf") if grown is None else _log(grown)

    def pieces(self, columns: Sequence[str]) -> tuple[MarginalChannel, ...]:
        """Independent channels that cover some columns, and no more than needed.

        Where a group's channel has no part for the columns asked, all of its columns
        are covered.
        """
        for c in columns:
            self.question(c)
        if self.one_of:
            return self._mix_pieces(columns)
        groups = [g for g in self.groups if set(g.columns) & set(columns)]
        return tuple(self.piece(g, columns) for g in groups)

    def _mix_pieces(self, columns: Sequence[str]) -> tuple[MarginalChannel, ...]:
        """What is public as it is, and one channel for all else."""
        open_ = [g for g in self.groups if isinstance(g.channel, Keep)]
        shown = [self.piece(g, columns) for g in open_ if set(g.columns) & set(columns)]
        secret = [c for c in columns if c not in self.public]
        return (*([self._mix_groups(secret)] if secret else []), *shown)

    def asking(self, columns: Sequence[str]) -> list[Group]:
        """The groups that hold all of some columns."""
        return [g for g in self.groups if set(columns) <= set(g.columns)]

    def _mix_groups(self, columns: Sequence[str]) -> MarginalChannel:
        """One channel for columns that several groups ask, one of them drawn."""
        words = " and ".join(map(repr, columns))
        found = [self.piece(g, columns) for g in self.asking(columns)]
        if not found:
            raise InputError(
                f"{words} must be asked of the same person to be estimated together: "
                "not estimable by this design, which asks each person one group of "
                "questions only."
            )
        # A matrix covers all of its group, though fewer columns are asked for.
        widest = max(found, key=lambda p: len(p.columns))
        if set(widest.columns) > set(columns):
            return self._mix_groups(widest.columns)
        if len({p.columns for p in found}) > 1:
            found = [self._reorder_piece(p, widest.columns) for p in found]
        # Groups are drawn evenly, so those that ask these columns are, too.
        channel = mix_channels([p.channel for p in found], widest.size, words)
        return MarginalChannel(widest.columns, widest.size, channel)

    def _reorder_piece(
        self, piece: MarginalChannel, columns: tuple[str, ...]
    ) -> MarginalChannel:
        """The same piece with its columns in another order."""
        if piece.columns == columns or isinstance(piece.channel, KAry | Flip | Keep):
            return MarginalChannel(columns, piece.size, piece.channel)
        raise InputError(
            f"{' and '.join(map(repr, columns))} must be named in the same order by "
            "every group that asks them."
        )

    def piece(self, group: Group, columns: Sequence[str]) -> MarginalChannel:
        """The channel of a group between some of its columns and their reports."""
        asked = tuple(c for c in group.columns if c in columns)
        size, part = self.size(group.columns), self.size(asked)
        channel = group.channel.marginal(size, part)
        if isinstance(group.channel, Replace) and channel is None:
            channel = Replace(group.channel.truth, self._sum_shares(group, asked))
        if channel is None:
            return MarginalChannel(group.columns, size, group.channel)
        return MarginalChannel(asked, part, channel)

    def _sum_shares(self, group: Group, asked: Sequence[str]) -> list[Fraction]:
        """The distribution of a part of what is drawn instead of the truth."""
        assert isinstance(group.channel, Replace)
        shares = group.channel.shares(self.size(group.columns))
        sizes = [range(len(self.question(c))) for c in group.columns]
        at = [group.columns.index(c) for c in asked]
        found: dict[tuple[int, ...], Fraction] = {}
        for values, share in zip(product(*sizes), shares, strict=True):
            key = tuple(values[i] for i in at)
            found[key] = found.get(key, Fraction(0)) + share
        # In the order of the combinations, the last column varying fastest.
        return [found[key] for key in sorted(found)]

    # In and out ---------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        alone = {g.columns[0]: g for g in self.groups if len(g.columns) == 1}
        together = [g for g in self.groups if len(g.columns) > 1]
        stated: dict[str, Any] = {"title": self.title} if self.title else {}
        if self.one_of:
            stated["one_of"] = True
        stated["question"] = [
            q.to_dict() | (alone[q.name].channel.to_dict() if q.name in alone else {})
            for q in self.questions
        ]
        if together:
            stated["together"] = [
                {"columns": list(g.columns), **g.channel.to_dict()} for g in together
            ]
        return stated

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Design:
        """The design that keys describe; see `to_dict`."""
        return parse_design(stated)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Design:
        """Read a design from a TOML or JSON file."""
        return read_design(Path(path))

    def to_toml(self) -> str:
        """The design as a TOML file."""
        from privet.policy.toml import write_sections

        return write_sections(self.to_dict())


def design_of(design: Any) -> Design:
    """A design, or that of a disguise which has one or was used already."""
    for found in (design, getattr(design, "design_", getattr(design, "design", None))):
        if isinstance(found, Design):
            return found
    raise InputError(
        "design must be a Design, or a RandomizedResponse that has one or has "
        f"disguised rows; got {type(design).__name__}."
    )


def _log(number: Fraction) -> float:
    return log(number.numerator) - log(number.denominator)


__all__ = [
    "Design",
    "Group",
    "MarginalChannel",
    "Question",
    "parse_channel",
    "design_of",
]


# Design files -----------------------------------------------------------------------

TOP = ("title", "one_of", "question", "together")
OF_QUESTION = ("name", "ask", "values", "bins", "missing", "instead", *KEYS)
OF_GROUP = ("columns", "instead", *KEYS)
MOST_BYTES = 2**20
"""A design is small; what is larger is something else."""


def read_design(path: Path) -> Design:
    """Read a design file."""
    if not path.is_file():
        raise InputError(f"The design {str(path)!r} must be a file; there is none.")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"The design {str(path)!r} must be a small text file.")
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            stated = json.loads(text, parse_float=Decimal)
        else:
            stated = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        if isinstance(error, PrivetError):
            raise
        raise InputError(
            f"The design {str(path)!r} must be TOML, or JSON if its name ends in "
            f".json; it is not: {error}."
        ) from None
    return parse_design(stated)


def parse_design(stated: Any) -> Design:
    """The design that keys describe; all that is wrong with it in one message."""
    if not isinstance(stated, Mapping):
        raise InputError(f"A design must be keys and values; got {stated!r}.")
    problems: list[str] = _find_unknown(stated, TOP, "A design")
    questions, groups = [], []
    alone = {c for t in _read_tables(stated, "together") for c in _list_columns(t)}
    for i, keys in enumerate(_read_tables(stated, "question"), 1):
        what = f"question {i}"
        problems += _find_unknown(keys, OF_QUESTION, what)
        try:
            question = _parse_question(keys)
            questions.append(question)
            if question.name not in alone or any(k in keys for k in KEYS):
                groups.append(Group(question.name, parse_channel(keys, what)))
        except PrivetError as error:
            problems.append(str(error))
    for i, keys in enumerate(_read_tables(stated, "together"), 1):
        what = f"together {i}"
        problems += _find_unknown(keys, OF_GROUP, what)
        try:
            groups.append(Group(keys.get("columns", ()), parse_channel(keys, what)))
        except PrivetError as error:
            problems.append(str(error))
    title, one_of = stated.get("title", ""), stated.get("one_of", False)
    if not isinstance(title, str):
        problems.append(f"title of a design must be text; got {title!r}.")
    if not isinstance(one_of, bool):
        problems.append(f"one_of of a design must be true or false; got {one_of!r}.")
    if problems:
        raise InputError("\n".join(problems))
    return Design(questions, groups, title=title, one_of=one_of)


def _parse_question(keys: Mapping[str, Any]) -> Question:
    return Question(
        keys.get("name", ""),
        keys.get("values"),
        bins=keys.get("bins"),
        ask=keys.get("ask", ""),
        missing=keys.get("missing"),
    )


def _list_columns(keys: Mapping[str, Any]) -> list[str]:
    """The columns a group names; what are none is told where the group is made."""
    columns = keys.get("columns", ())
    listed = columns if isinstance(columns, list) else [columns]
    return [c for c in listed if isinstance(c, str)]


def _read_tables(stated: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = stated.get(key, [])
    if not isinstance(found, list) or not all(isinstance(t, Mapping) for t in found):
        raise InputError(f"{key} of a design must be a list of tables: [[{key}]].")
    return found


def _find_unknown(keys: Mapping[str, Any], known: Any, what: str) -> list[str]:
    return [
        f"{what} must have known keys; got {key!r}. {suggest_names(key, known)}"
        for key in keys
        if key not in known
    ]
