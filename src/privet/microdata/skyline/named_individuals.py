"""An insider who knows people by name: the background knowledge itself, exactly.

Every placement of people who are only numbers is tried where the odds are concave
(congregation): all of the people known in one group, all companions in one group.
Chen, LeFevre, Ramakrishnan 2007, "“Congregation” Property".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import attrs
import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit
from privet.findings import Attack, AttackedGroup, Cell, impossible, recount_belief
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.skyline import APART, TOGETHER, WITH_KNOWN, SkylineCheck
from privet.microdata.skyline.witness import (
    build_attacked_group,
    count_left,
    place_people,
    select_most_frequent,
)
from privet.policy import Promise
from privet.table import Table
from privet.values.adversaries import Insider
from privet.values.equivalence_classes import EquivalenceClasses

Key = tuple[int, ...]
"""The codes that describe a group."""


def are_named(insider: Insider) -> bool:
    """Whether somebody is known by name."""
    others, same = insider.knows_others, insider.same_as
    called = [*(others if isinstance(others, Mapping) else ())]
    called += () if isinstance(same, int) else same
    return insider.victim is not None or bool(called)


def is_named(promise: Promise) -> bool:
    """Whether a promise is about people by name."""
    return isinstance(promise.against, Insider) and are_named(promise.against)


@dataclass
class NamedPeople:
    """The people named, their groups, and what is known of them."""

    insider: Insider
    homes: Mapping[str, Key]
    """The group of each person named."""
    groups: dict[Key, AttackedGroup] = field(default_factory=dict)
    """The groups of people named, once they have passed by."""
    protect: frozenset[str | None] | None = None
    """The values that matter; None: every value."""

    def add(self, batch: EquivalenceClasses, fold: SkylineCheck) -> SkylineCheck:
        """Some more groups: those of people named are kept, the others folded."""
        own = {
            g: key for key in set(self.homes.values()) for g in find_group(batch, key)
        }
        for g, key in own.items():
            self.groups[key] = self._mark_known(build_attacked_group(batch, g), key)
        # Groups without anybody named matter only as a place for nameless companions:
        # people known there say nothing of the victim by themselves.
        if not (isinstance(self.insider.same_as, int) and self.insider.same_as):
            return fold
        rest = np.setdiff1d(np.arange(len(batch)), list(own))
        return fold.add(batch.take(rest)) if len(rest) else fold

    def _mark_known(self, group: AttackedGroup, key: Key) -> AttackedGroup:
        here = [n for n, home in self.homes.items() if home == key]
        others, same = self.insider.knows_others, self.insider.same_as
        names = (
            {n: v for n, v in others.items() if n in here}
            if isinstance(others, Mapping)
            else {}
        )
        called = () if isinstance(same, int) else tuple(n for n in same if n in here)
        known: dict[Cell, int] = {}
        for value in names.values():
            known[value] = known.get(value, 0) + 1
        return attrs.evolve(
            group,
            known=known,
            names=names,
            companions=len(called),
            companion_names=called,
        )

    def attack(self, fold: SkylineCheck, point: Point) -> Attack | None:
        """The best attack on the victim; None where they can have no such value."""
        assert self.insider.victim is not None
        home = self.homes[self.insider.victim]
        self._require_possible(home)
        best: Attack | None = None
        wrong: InputError | None = None
        for value in self._list_values(self.groups[home]):
            for ruled, groups in self._list_placements(value, home, fold, point):
                try:
                    belief = recount_belief(value, ruled, groups)
                except InputError as error:
                    wrong = error
                    continue
                if best is None or belief > best.belief:
                    name = self.insider.victim
                    best = Attack(value, ruled, groups, belief, name)
        if best is None and wrong is not None:
            raise wrong
        return best

    def _require_possible(self, home: Key) -> None:
        """What is known must be possible, whatever the victim is believed to have."""
        given = self.insider.rules_out
        out = given if isinstance(given, tuple) else ()
        for key, group in self.groups.items():
            counts = count_left(group)
            several = all(counts.get(c, -1) >= 0 for c in group.known)
            some = any(n and c not in out for c, n in counts.items())
            if not several or (key == home and not some):
                raise impossible()

    def _list_values(self, group: AttackedGroup) -> list[str | None]:
        every: list[str | None] = list(group.histogram)  # type: ignore[arg-type]
        return every if self.protect is None else sorted(self.protect, key=str)

    def _list_placements(
        self, value: str | None, home: Key, fold: SkylineCheck, point: Point
    ) -> Iterator[tuple[tuple[str | None, ...], tuple[AttackedGroup, ...]]]:
        """Where people who are only numbers may be: all in one group each."""
        victim = self.groups[home]
        touched = [c for key, c in self.groups.items() if key != home]
        rest = tuple(touched)
        given = self.insider.rules_out
        out = given if isinstance(given, tuple) else ()
        if not count_left(victim).get(value) or value in out:
            yield out, (victim, *rest)  # the belief is 0, if what is known fits at all
            return
        ruled = self._choose_ruled_out(victim, value, point)
        (own,) = place_people(victim, victim, value, ruled, point, TOGETHER)
        yield ruled, (own, *rest)
        if not point.k and not point.m:
            return
        for i, other in enumerate(touched):
            beside = rest[:i] + rest[i + 1 :]
            for groups in _place_apart(victim, other, value, ruled, point):
                yield ruled, (*groups, *beside)
        if point.m and fold.kept is not None:
            for g in range(len(fold.kept)):
                other = build_attacked_group(fold.kept, g)
                if other.histogram.get(value):
                    for groups in _place_apart(victim, other, value, ruled, point):
                        yield ruled, (*groups, *rest)

    def _choose_ruled_out(
        self, victim: AttackedGroup, value: str | None, point: Point
    ) -> tuple[str | None, ...]:
        if isinstance(self.insider.rules_out, tuple):
            return self.insider.rules_out
        assert isinstance(point.l, int)
        return select_most_frequent(count_left(victim), value, point.l)


def _place_apart(
    victim: AttackedGroup,
    other: AttackedGroup,
    value: str | None,
    ruled: Sequence[str | None],
    point: Point,
) -> Iterator[tuple[AttackedGroup, ...]]:
    for shape in (WITH_KNOWN, APART):
        yield place_people(victim, other, value, ruled, point, shape)


# Looking people up ------------------------------------------------------------------


def find_group(batch: EquivalenceClasses, key: Key) -> list[int]:
    """The group with these codes, if the batch has it."""
    same = np.ones(len(batch), dtype=bool)
    for column, code in zip(batch.keys.columns(), key, strict=True):
        same &= column == code
    return np.flatnonzero(same).tolist()


def require_identifier(table: Table) -> str:
    """The column people are looked up in by name."""
    if len(table.roles.identifier) != 1:
        got = ", ".join(map(repr, table.roles.identifier)) or "none"
        raise NoAudit(
            "People can be known by name only where a table has one identifier column; "
            f"got {got}. A release has none: audit the table it was made from."
        )
    return table.roles.identifier[0]


def find_people(
    insider: Insider, table: Table, tally: CountQuery, run: Run
) -> NamedPeople:
    """Look the people named up in the one identifier column."""
    column = require_identifier(table)
    others, same = insider.knows_others, insider.same_as
    called = [
        insider.victim,
        *(others if isinstance(others, Mapping) else ()),
        *(() if isinstance(same, int) else same),
    ]
    homes = {}
    for name in called:
        assert name is not None
        homes[name] = find_home(name, column, table, tally, run)
    return NamedPeople(insider, homes)


def find_home(name: str, column: str, table: Table, tally: CountQuery, run: Run) -> Key:
    """The group of a person."""
    found: list[tuple[Key, int]] = []
    for _, batch in table.count([tally], run, only={column: [name]}):
        found += [(batch.keys[g], int(batch.total[g])) for g in range(len(batch))]
    people = sum(n for _, n in found)
    if len(found) != 1 or people != 1:
        raise InputError(
            f"{name!r} must be one person of column {column!r}; got {people} "
            f"{table.counted}."
        )
    return found[0][0]
