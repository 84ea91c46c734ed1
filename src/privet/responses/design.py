"""A design: what is asked, and how each answer is disguised; both sides share it.

Zhan, Chang, Matwin 2004, section 3: their one-group and two-group schemes are designs
whose questions are flipped together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import log, prod
from os import PathLike
from pathlib import Path
from typing import Any

from privet.errors import ColumnNotFound, InputError, warn, what_exists
from privet.responses.channels import (
    CHANNELS,
    Channel,
    Flip,
    KAry,
    Keep,
    Replace,
    channel_from,
)
from privet.responses.mixing import condition, mixed
from privet.responses.questions import Question
from privet.values.schema import names

MOST_VALUES = 65_536
"""Values of a group."""

SHAKY = 1000
"""Condition numbers above this leave estimates hardly any digit."""


@dataclass(frozen=True)
class Group:
    """Columns that are disguised by one draw."""

    columns: tuple[str, ...]
    """Which; most groups have one."""
    channel: Channel
    """How."""

    def __init__(self, columns: str | Sequence[str], channel: Channel) -> None:
        if not isinstance(channel, CHANNELS):
            raise InputError(
                f"A channel must be Flip, KAry, Matrix or Replace; got {channel!r}."
            )
        object.__setattr__(self, "columns", names(columns, "columns of a group"))
        object.__setattr__(self, "channel", channel)


@dataclass(frozen=True)
class MarginalChannel:
    """A channel between some columns and their reports, independent of other pieces."""

    columns: tuple[str, ...]
    """The columns, the last varying fastest."""
    size: int
    """How many combinations of values they have."""
    channel: Channel
    """How they are disguised."""


@dataclass(frozen=True)
class Design:
    """What is asked of each person, and with which chances it is disguised."""

    questions: tuple[Question, ...]
    """The columns."""
    groups: tuple[Group, ...]
    """Every column in one group; groups are disguised independently."""
    title: str = ""
    """What the survey is called."""
    one_of: bool = False
    """Whether each person is asked about one group only, drawn at random."""

    def __init__(
        self,
        questions: Sequence[Question],
        groups: Sequence[Group],
        *,
        title: str = "",
        one_of: bool = False,
    ) -> None:
        object.__setattr__(self, "questions", tuple(questions))
        object.__setattr__(self, "groups", tuple(groups))
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "one_of", bool(one_of))
        self._check_columns()
        for group in self.groups:
            self._check_group(group)

    # What must hold -----------------------------------------------------------------

    def _check_columns(self) -> None:
        for part, kind in ((self.questions, Question), (self.groups, Group)):
            for one in part:
                if not isinstance(one, kind):
                    raise InputError(
                        f"A design must be made of questions and groups; got "
                        f"{type(one).__name__} for a {kind.__name__}."
                    )
        named = names([q.name for q in self.questions], "questions")
        if not named:
            raise InputError("A design must have questions; got none.")
        grouped = [c for g in self.groups for c in g.columns]
        for c in grouped:
            if c not in named:
                raise ColumnNotFound(
                    f"Column {c!r} of a group must be a question. "
                    f"{what_exists(c, named)}"
                )
        for c in named:
            times = grouped.count(c)
            if times == 0 or (times > 1 and not self.one_of):
                raise InputError(
                    f"Question {c!r} must be disguised in one group; it is in {times}."
                )
        self._refuse_nested()

    def _refuse_nested(self) -> None:
        """Which of the groups a row answers must be seen by what it leaves out."""
        for i, group in enumerate(self.groups):
            others = [set(g.columns) for g in (*self.groups[:i], *self.groups[i + 1 :])]
            if any(set(group.columns) <= other for other in others):
                raise InputError(
                    f"{' and '.join(map(repr, group.columns))} must not be asked by "
                    "another group, too, unless each asks something of its own."
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
                f"{words} are flipped together: whether two of them agree is published "
                "as it is, ε is infinite, and a collector can recover most records. "
                "Disguise each by itself unless you repeat the paper.",
            )
        if (shaky := condition(group.channel, size)) > SHAKY:
            warn(
                f"{words} {'are' if len(sizes) > 1 else 'is'} disguised so strongly "
                f"that estimates carry {shaky:.0f} times the error; expect to need "
                "very many answers.",
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

    def question(self, name: str) -> Question:
        """A question by its name."""
        for q in self.questions:
            if q.name == name:
                return q
        raise ColumnNotFound(
            f"Column {name!r} must be a question of the design. "
            f"{what_exists(name, self.columns)}"
        )

    def size(self, columns: Sequence[str]) -> int:
        """How many combinations of values some columns have."""
        return prod(len(self.question(c)) for c in columns)

    def growth(self, columns: Sequence[str] | None = None) -> Fraction | None:
        """e^ε of the whole record, or of some columns; None where it is infinite.

        Given the public columns, which are no secret.
        """
        asked = self.columns if columns is None else columns
        found = Fraction(1)
        for group in self.groups:
            if isinstance(group.channel, Keep) or not set(group.columns) & set(asked):
                continue
            grown = group.channel.growth(self.size(group.columns))
            if grown is None:
                return None
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
            return (self._mixed(columns),)
        groups = [g for g in self.groups if set(g.columns) & set(columns)]
        return tuple(self.piece(g, columns) for g in groups)

    def asking(self, columns: Sequence[str]) -> list[Group]:
        """The groups that hold all of some columns."""
        return [g for g in self.groups if set(columns) <= set(g.columns)]

    def _mixed(self, columns: Sequence[str]) -> MarginalChannel:
        """One channel for columns that several groups ask, one of them drawn."""
        words = " and ".join(map(repr, columns))
        found = [self.piece(g, columns) for g in self.asking(columns)]
        if not found:
            raise InputError(
                f"{words} must be asked of the same person to be estimated together: "
                "not estimable by this design, which asks each person one group of "
                "questions only."
            )
        widest = max(found, key=lambda p: len(p.columns))
        if set(widest.columns) > set(columns):
            return self._mixed(widest.columns)
        if len({p.columns for p in found}) > 1:
            found = [self._ordered(p, widest.columns) for p in found]
        channel = mixed([p.channel for p in found], widest.size, words)
        return MarginalChannel(widest.columns, widest.size, channel)

    def _ordered(
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
            channel = Replace(group.channel.truth, self._summed(group, asked))
        if channel is None:
            return MarginalChannel(group.columns, size, group.channel)
        return MarginalChannel(asked, part, channel)

    def _summed(self, group: Group, asked: Sequence[str]) -> list[Fraction]:
        """The distribution of a part of what is drawn instead of the truth."""
        assert isinstance(group.channel, Replace)
        shares = group.channel.shares(self.size(group.columns))
        sizes = [range(len(self.question(c))) for c in group.columns]
        at = [group.columns.index(c) for c in asked]
        found: dict[tuple[int, ...], Fraction] = {}
        for values, share in zip(product(*sizes), shares, strict=True):
            key = tuple(values[i] for i in at)
            found[key] = found.get(key, Fraction(0)) + share
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
        from privet.responses.design_file import design_from

        return design_from(stated)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Design:
        """Read a design from a TOML or JSON file."""
        from privet.responses.design_file import read_design

        return read_design(Path(path))

    def to_toml(self) -> str:
        """The design as a TOML file."""
        from privet.responses.design_file import as_toml

        return as_toml(self.to_dict())


def independent(
    questions: Sequence[Question], channels: Mapping[str, Channel], **more: Any
) -> Design:
    """Every question disguised by itself."""
    return Design(
        questions, [Group(q.name, channels[q.name]) for q in questions], **more
    )


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
    "channel_from",
    "design_of",
    "independent",
]
