"""What a policy leaves open by name, and which columns it says follow from others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from privet.errors import InputError
from privet.values.schema import as_names
from privet.values.visible_text import require_encodable

ACCEPTABLE = ("linkage", "matching", "worlds", "inversion")
"""What may be accepted: what somebody learns who has all known columns; who can match
the rows of several releases; who counts tables with unrelated views; who undoes a
classifier."""


@attrs.frozen
class Accepted:
    """Something that no promise covers, accepted by somebody, for a reason."""

    about: str = ""
    """The sensitive column; empty where there is none to name, as with inversion."""
    of: str = "linkage"
    """One of `ACCEPTABLE`."""
    up_to: int | None = None
    """How many people may be concerned; None: any number."""
    why: str = attrs.field(default="", kw_only=True)
    """The reason; public."""
    who: str = attrs.field(default="", kw_only=True)
    """Who accepted it; kept in custody."""

    def __attrs_post_init__(self) -> None:
        if self.of not in ACCEPTABLE:
            raise InputError(
                f"of must be one of {', '.join(ACCEPTABLE)}; got {self.of!r}."
            )
        if not isinstance(self.about, str) or (
            not self.about and self.of in ("linkage", "matching")
        ):
            raise InputError(f"about must name a column; got {self.about!r}.")
        if not isinstance(self.why, str) or not self.why.strip():
            raise InputError(f"why must give a reason; got {self.why!r}.")
        if not isinstance(self.who, str):
            raise InputError(f"who must be text; got {self.who!r}.")
        for key in ("about", "why", "who"):
            require_encodable(getattr(self, key), key)
        if self.up_to is not None and not _is_whole(self.up_to):
            raise InputError(
                f"up_to must be a number of people from 0; got {self.up_to!r}."
            )

    def covers(self, people: int) -> bool:
        """Whether so many people are within what was accepted."""
        return self.up_to is None or people <= self.up_to

    def to_dict(self) -> dict[str, Any]:
        """The entry as a policy writes it."""
        stated = {
            "about": self.about,
            "of": self.of,
            "up_to": self.up_to,
            "why": self.why,
            "who": self.who,
        }
        return {k: v for k, v in stated.items() if v is not None and v != ""}

    def to_public(self) -> dict[str, Any]:
        """The entry as recipients may read it: without who accepted it."""
        return {k: v for k, v in self.to_dict().items() if k != "who"}


@attrs.frozen
class Uncovered:
    """That a release tells something which no promise limits; what a finding is about
    where there is no promise.
    """

    about: str
    """The column."""
    of: str = "linkage"
    """One of `ACCEPTABLE`."""

    @property
    def name(self) -> str:
        """How reports call it."""
        what = self.of if self.of == "inversion" else self.about
        return f"no promise covers {what}"

    def to_dict(self) -> dict[str, Any]:
        """What it is about."""
        return {"name": self.name, "about": self.about}


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def accepted_of(stated: Accepted | Iterable[Accepted]) -> tuple[Accepted, ...]:
    """Entries, at most one of each sort per column."""
    several = (stated,) if isinstance(stated, Accepted) else tuple(stated)
    for one in several:
        if not isinstance(one, Accepted):
            raise InputError(f"accepted must hold Accepted entries; got {one!r}.")
    named = [(a.about, a.of) for a in several]
    if twice := next((n for n in named if named.count(n) > 1), None):
        raise InputError(
            f"accepted must name {twice[1]} of {twice[0] or 'a release'!r} once; it "
            "stands twice."
        )
    return several


# Derived columns --------------------------------------------------------------------


@attrs.frozen
class DerivedColumn:
    """That a column follows from one or two others; or that it does not, and why."""

    column: str
    """What is told."""
    by: tuple[str, ...] = attrs.field(converter=as_names)
    """What tells it."""
    denied: str = ""
    """Why it does not follow, where that is said; empty: it does."""

    def __attrs_post_init__(self) -> None:
        if not 1 <= len(self.by) <= 2:
            raise InputError(
                "A derived column must be told by one or two columns; got "
                f"{len(self.by)}."
            )
        if self.column in self.by:
            raise InputError(
                f"Column {self.column!r} must be told by others; got itself."
            )

    @classmethod
    def from_key(cls, column: str, key: str | Sequence[str] | Mapping[str, Any]) -> Any:
        """What a policy file has under the name of a column."""
        if not isinstance(key, Mapping):
            return cls(column, key)
        if set(key) != {"not_from", "why"} or not isinstance(key["why"], str):
            raise InputError(
                "A column that does not follow must have not_from and why; got "
                f"{', '.join(key)}."
            )
        if not key["why"].strip():
            raise InputError("why must give a reason; got none.")
        return cls(column, key["not_from"], denied=key["why"])

    def to_key(self) -> Any:
        """The entry as a policy writes it."""
        by = self.by[0] if len(self.by) == 1 else list(self.by)
        return {"not_from": by, "why": self.denied} if self.denied else by


def derived_of(
    stated: DerivedColumn | Iterable[DerivedColumn],
) -> tuple[DerivedColumn, ...]:
    """Entries, one per column."""
    several = (stated,) if isinstance(stated, DerivedColumn) else tuple(stated)
    for one in several:
        if not isinstance(one, DerivedColumn):
            raise InputError(f"derived must hold DerivedColumn entries; got {one!r}.")
    named = [d.column for d in several]
    if twice := next((n for n in named if named.count(n) > 1), None):
        raise InputError(f"derived must name a column once; got {twice!r} twice.")
    return several
