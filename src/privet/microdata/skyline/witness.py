"""From the best odds to the attack behind them: who must be known to have what.

The background knowledge is written out for one victim t: the values ruled out (x), the
people known (u, with their values y) and the companions (v), placed as congregation
says: all in one group each.
Chen, LeFevre, Ramakrishnan 2007, "“Congregation” Property".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from privet.findings import (
    Attack,
    AttackedGroup,
    Cell,
    Witness,
    has,
    recount_belief,
)
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.skyline import APART, TOGETHER, InsiderCase
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses


def build_attack(case: InsiderCase, kept: EquivalenceClasses, point: Point) -> Attack:
    """The attack behind a case, as anybody can recount it."""
    value = kept.about[case.value]
    victim, other = (
        build_attacked_group(kept, case.victim),
        build_attacked_group(kept, case.other),
    )
    ruled = choose_ruled_out(point, victim, value, kept.about)
    groups = place_people(victim, other, value, ruled, point, case.shape)
    return Attack(value, ruled, groups, recount_belief(value, ruled, groups))


def build_witness(
    column: str, found: Attack, everybody: EquivalenceClasses, counted: str
) -> Witness:
    """The attack beside how many have the value, in the group and in all."""
    own = found.groups[0]
    code = everybody.about.code(found.value)
    having = int(everybody.n[everybody.value == code].sum())
    return Witness(
        knows=own.where,
        column=column,
        value=found.value,
        part=own.histogram.get(found.value, 0),
        whole=sum(own.histogram.values()),
        prior_part=having,
        prior_whole=int(everybody.total[0]),
        counted=counted,
        attack=found,
    )


def build_attacked_group(groups: EquivalenceClasses, g: int) -> AttackedGroup:
    """One group, with what its people look like."""
    names = [d.name for d in groups.by]
    where = dict(zip(names, groups.labels(g), strict=True))
    counts: dict[Cell, int] = {v: n for v, n in groups.histogram(g).items()}  # noqa: C416
    return AttackedGroup(where, counts)


def choose_ruled_out(
    point: Point, victim: AttackedGroup, value: str | None, domain: Domain
) -> tuple[str | None, ...]:
    """The values ruled out: those given, or the most frequent others."""
    if isinstance(point.l, tuple):
        return tuple(domain[code] for code in point.l)
    return select_most_frequent(count_left(victim), value, point.l)


def select_most_frequent(
    counts: Mapping[Cell, int], value: str | None, several: int
) -> tuple[str | None, ...]:
    """So many values but this one, the most frequent first."""
    others = [c for c in sort_by_count(counts) if c != value and counts[c]]
    return tuple(others[:several])  # type: ignore[arg-type]


def place_people(
    victim: AttackedGroup,
    other: AttackedGroup,
    value: str | None,
    ruled: Sequence[str | None],
    point: Point,
    shape: str,
) -> tuple[AttackedGroup, ...]:
    """The groups with as many people known and companions as the attack needs.

    Companions by name leave fewer people to know; who would know more of them than
    are left is certain already.
    """
    k, m = point.k, point.m
    tail = {
        c: n for c, n in count_left(victim).items() if not _has_any(c, (value, *ruled))
    }
    without = sum(n for c, n in count_left(victim).items() if not has(c, value))
    known = min(k, sum(tail.values()), max(without - victim.companions, 0))
    if shape == TOGETHER:
        # Who knows the whole tail is certain already.
        more = min(m, without - known) if known < sum(tail.values()) else 0
        return (_add_known(victim, _select_people(tail, known), more),)
    lacking = {c: n for c, n in count_left(other).items() if not has(c, value)}
    room = sum(lacking.values())
    if shape == APART:
        known = min(k, room, max(room + 1 - other.companions, 0))
        # One companion more than lack the value: one has it, so the victim has. Further
        # ones add nothing.
        more = min(m, room - known + 1)
        return victim, _add_known(other, _select_people(lacking, known), more)
    return (
        _add_known(victim, _select_people(tail, known), 0),
        _add_known(other, {}, min(m, room + 1)),
    )


def _has_any(cell: Cell, values: Sequence[str | None]) -> bool:
    return any(has(cell, v) for v in values)


def count_left(group: AttackedGroup) -> dict[Cell, int]:
    """How many have each value, besides the people known."""
    known = group.known
    return {c: n - known.get(c, 0) for c, n in group.histogram.items()}


def sort_by_count(counts: Mapping[Cell, int]) -> list[Cell]:
    """Values, the most frequent first; equal ones stay in their order."""
    return sorted(counts, key=lambda c: -counts[c])


def _select_people(counts: dict[Cell, int], several: int) -> dict[Cell, int]:
    """So many people, of the most frequent values first."""
    found: dict[Cell, int] = {}
    for cell in sort_by_count(counts):
        if several and counts[cell]:
            found[cell] = min(several, counts[cell])
            several -= found[cell]
    return found


def _add_known(
    group: AttackedGroup, known: dict[Cell, int], companions: int
) -> AttackedGroup:
    both = dict(group.known)
    for cell, n in known.items():
        both[cell] = both.get(cell, 0) + n
    return attrs.evolve(group, known=both, companions=group.companions + companions)
