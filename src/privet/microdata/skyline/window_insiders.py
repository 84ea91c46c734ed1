"""SkylineCheck for a number within a window: the window takes the place of a value.

A window with `a` people of a group of N leaves T = N - a, less the l values outside it
that most have; without companions the belief is a / (a + max(T - k, 0)), the highest
over all windows, which with values ruled out need not be the fullest. With companions
the attack inside one group (CF1) is counted per window. For those on two groups windows
are too many for minima of their own: the least CF2 of any window and group times the
least CF3 of any (CF4 and CF5 alike) is a bound, and told as one where it decides.
Chen, LeFevre, Ramakrishnan 2007, "Five Sufficient Statistics".
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from privet.engine.protocol import CountQuery
from privet.errors import InputError, NoAudit, TooLarge
from privet.findings import (
    Attack,
    AttackedGroup,
    Basis,
    Cell,
    Finding,
    Verdict,
    Witness,
    recount_belief,
)
from privet.languages import mark, say
from privet.microdata.linkage import describe_window_floor
from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import NEAR, Floats, Point
from privet.microdata.skyline.named_individuals import NamedPeople
from privet.microdata.skyline.skyline import TOGETHER, SkylineCheck
from privet.microdata.skyline.witness import (
    build_attacked_group,
    choose_ruled_out,
    place_people,
)
from privet.microdata.window_counts import WindowCounts, count_windows
from privet.microdata.worst_linkage import count_span
from privet.policy import Promise
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import Belief, Ceiling
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Span, Windows

BOUND = mark(
    "Companions may be in another group: this is an upper bound on how sure somebody "
    "can be that a number lies in a window; of one group alone it is {least}."
)


# Odds -------------------------------------------------------------------------------


@dataclass(frozen=True)
class WindowMinima:
    """The least factors of attacks on two groups, over all windows and groups seen."""

    together: Fraction | None = None
    """CF1, of one group; None: no number seen."""
    with_known: Fraction = Fraction(1)
    """CF2, meaningless while `together` is None."""
    companions: Fraction = Fraction(1)
    """CF3."""
    victim: Fraction = Fraction(1)
    """CF4."""
    apart: Fraction = Fraction(1)
    """CF5."""

    def __or__(self, other: WindowMinima) -> WindowMinima:
        if self.together is None or other.together is None:
            return self if other.together is None else other
        return WindowMinima(
            min(self.together, other.together),
            min(self.with_known, other.with_known),
            min(self.companions, other.companions),
            min(self.victim, other.victim),
            min(self.apart, other.apart),
        )

    def bound_odds(self, m: int) -> Fraction | None:
        """No odds are lower than this; None: no number seen."""
        if self.together is None or not m:
            return self.together
        two = self.with_known * self.companions, self.victim * self.apart
        return min(self.together, *two)

    def bound_belief(self, m: int) -> Fraction:
        """Nobody is surer than this; exactly so without companions."""
        odds = self.bound_odds(m)
        return Fraction(0) if odds is None else closed_forms.belief_from_odds(odds)


NOTHING = WindowMinima()
"""The minima of no group."""


@dataclass(frozen=True, eq=False)
class WindowOdds:
    """The windows of some groups with T, for one point (l, k, m)."""

    counts: WindowCounts
    point: Point
    tail: Ints

    @classmethod
    def of(
        cls, batch: EquivalenceClasses, windows: Windows, point: Point
    ) -> WindowOdds:
        """The windows of whole groups."""
        given = point.l if isinstance(point.l, tuple) else ()
        return cls.from_counts(count_windows(batch, windows, given), point)

    @classmethod
    def from_counts(cls, counts: WindowCounts, point: Point) -> WindowOdds:
        """The same once people with given values are gone."""
        several = point.l if isinstance(point.l, int) else 0
        return cls(counts, point, counts.count_tail(several))

    @property
    def _lacking(self) -> Ints:
        return self.counts.whole - self.counts.count

    @property
    def _odds(self) -> Floats:
        a, b = self.counts.count, self._lacking
        return closed_forms.cf1_floats(self.tail, a, b, self.point.k, self.point.m)

    def find_odds(self, window: int) -> Fraction:
        """CF1 of one window, exactly."""
        tail, a = int(self.tail[window]), int(self.counts.count[window])
        b = int(self.counts.whole[window]) - a
        return closed_forms.cf1(tail, a, b, self.point.k, self.point.m)

    def find_least(self) -> int | None:
        """The window with the least CF1; of equals, most people, then the first."""
        odds = self._odds
        if not len(odds):
            return None
        near = np.flatnonzero(odds <= odds.min() * (1 + NEAR))
        triples = np.stack([self.tail[near], self.counts.count[near]], axis=1)
        _, first = np.unique(
            np.column_stack([triples, self._lacking[near]]), axis=0, return_index=True
        )
        count = self.counts.count
        return min(
            (int(near[i]) for i in first),
            key=lambda w: (self.find_odds(w), -int(count[w]), w),
        )

    def find_beyond(self, limit: Ceiling) -> Flags:
        """Which groups break the limit by an attack inside them, exactly."""
        found = np.zeros(len(self.counts.total), dtype=bool)
        if limit.holds(Belief(0, 1)):
            return found
        odds, theta = self._odds, float((1 - limit.level) / limit.level)
        beyond = odds < theta
        close = np.abs(odds - theta) <= NEAR * max(theta, NEAR)
        for w in np.flatnonzero(close).tolist():
            belief = closed_forms.belief_from_odds(self.find_odds(w))
            beyond[w] = not limit.holds(Belief(0, belief))
        found[self.counts.group[self.counts.at[beyond]]] = True
        return found

    def minima(self) -> WindowMinima:
        """The least of each factor, exactly."""
        least = self.find_least()
        if least is None:
            return WindowMinima()
        k, m = self.point.k, self.point.m
        return WindowMinima(
            self.find_odds(least),
            self._find_cf2(k),
            self._find_cf5(0, m),
            self._find_cf2(0),
            self._find_cf5(k, m),
        )

    def _find_cf2(self, k: int) -> Fraction:
        a = self.counts.count
        found = closed_forms.cf2_floats(self.tail, a, k)
        near = np.flatnonzero(found <= found.min() * (1 + NEAR))
        pairs = {(int(self.tail[i]), int(a[i])) for i in near}
        return min(closed_forms.cf2(t, n, k) for t, n in pairs)

    def _find_cf5(self, k: int, m: int) -> Fraction:
        a, b = self.counts.count, self._lacking
        found = closed_forms.cf5_floats(a, b, k, m)
        near = np.flatnonzero(found <= found.min() * (1 + NEAR))
        pairs = {(int(a[i]), int(b[i])) for i in near}
        return min(closed_forms.cf5(x, y, k, m) for x, y in pairs)


# The audit --------------------------------------------------------------------------


@dataclass
class WindowInsiderAudit:
    """One promise about a number within a window while groups pass by."""

    promise: Promise
    tally: CountQuery
    point: Point
    limit: Ceiling
    windows: Windows
    named: NamedPeople | None = None
    minima: WindowMinima = NOTHING
    best: tuple[Fraction, AttackedGroup, Span] | None = None
    """The best attack inside one group: odds, the group, the window."""
    groups: int = 0
    above: int = 0
    people_above: int = 0

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""
        if self.named is not None:
            self.named.add(batch, SkylineCheck([0]))
            return
        found = WindowOdds.of(batch, self.windows, self.point)
        self.groups += len(batch)
        beyond = found.find_beyond(self.limit)
        self.above += int(beyond.sum())
        self.people_above += int(batch.total[beyond].sum())
        self.minima |= found.minima()
        least = found.find_least()
        if least is None:
            return
        odds, cell = found.find_odds(least), int(found.counts.at[least])
        group = int(found.counts.group[cell])
        if self.best is None or odds < self.best[0]:
            span = found.counts.name_span(least)
            self.best = odds, build_attacked_group(batch, group), span

    def attack(self) -> tuple[Attack, Span] | None:
        """The best attack inside one group; None where nobody has a number."""
        if self.named is not None:
            return attack_named_windows(self.named, self.windows, self.point)
        if self.best is None:
            return None
        _, group, span = self.best
        domain, value = self.windows.domain, str(span)
        given = self.point.l if isinstance(self.point.l, tuple) else ()
        out = [domain[code] for code in given]
        merged = merge_window(group, self.windows, span, out)
        ruled = choose_ruled_out(self.point, merged, value, domain)
        placed = place_people(merged, merged, value, ruled, self.point, TOGETHER)
        return Attack(value, ruled, placed, recount_belief(value, ruled, placed)), span

    def finding(self, everybody: EquivalenceClasses, counted: str) -> Finding:
        """What became of the promise."""
        told = self.attack()
        belief, witness = Belief(0, 0), None
        if told is not None:
            witness = self._build_witness(*told, everybody, counted)
            belief = witness.belief
        found = Finding(
            promise=self.promise,
            verdict=Verdict.SAFE if self.limit.holds(belief) else Verdict.BREACH,
            basis=Basis.EXACT,
            belief=belief,
            witness=witness,
            groups=self.groups,
            groups_above=self.above,
            people_above=self.people_above,
            details=describe_window_floor(everybody, self.windows, self.limit),
        )
        return found if self.named is not None else self._weigh_companions(found)

    def _weigh_companions(self, found: Finding) -> Finding:
        """What companions in other groups may add: it may acquit, never accuse."""
        assert found.belief is not None
        most = self.minima.bound_belief(self.point.m)
        if found.verdict is Verdict.BREACH or most <= found.belief.posterior:
            return found
        belief = Belief(found.belief.prior, most)
        kept = self.limit.holds(belief)
        return replace(
            found,
            verdict=Verdict.SAFE if kept else Verdict.UNDECIDED,
            basis=Basis.BOUND,
            belief=belief,
            at_least=found.belief.posterior,
            witness=None,
            note=say(BOUND, least=found.belief.posterior),
        )

    def _build_witness(
        self, attack: Attack, span: Span, everybody: EquivalenceClasses, counted: str
    ) -> Witness:
        own = attack.groups[0]
        return Witness(
            knows=own.where,
            column=self.tally.about,
            value=str(span),
            part=own.histogram.get(str(span), 0),
            whole=sum(own.histogram.values()),
            prior_part=count_span(everybody, self.windows, span),
            prior_whole=int(everybody.total[0]),
            counted=counted,
            attack=attack,
            window=span,
        )


def merge_window(
    group: AttackedGroup,
    windows: Windows,
    span: Span,
    ruled: Collection[str | None] = (),
) -> AttackedGroup:
    """The group with all numbers of a window as one value: what it says in words.

    Those that are ruled out stay apart.
    """
    ends = [int(windows.place[_find_code(windows, x)]) for x in span]
    inside = range(min(ends), max(ends) + 1)

    def name(cell: Cell) -> Cell:
        gone = cell is None or cell in ruled
        code = None if gone else windows.domain.code(cell)
        lies = code is not None and int(windows.place[code]) in inside
        return str(span) if lies else cell

    def merge(counts: Any) -> dict[Cell, int]:
        found: dict[Cell, int] = {}
        for cell, n in counts.items():
            found[name(cell)] = found.get(name(cell), 0) + n
        return found

    names = {who: name(cell) for who, cell in group.names.items()}
    histogram, known = merge(group.histogram), merge(group.known)
    return attrs.evolve(group, histogram=histogram, known=known, names=names)


# People by name ---------------------------------------------------------------------

MOST_WINDOWS = 2_000
"""Windows of a victim's group that are tried one by one."""


def attack_named_windows(
    named: NamedPeople, windows: Windows, point: Point
) -> tuple[Attack, Span] | None:
    """The best attack on a victim by name, over the windows of the victim's group."""
    if point.m:
        raise NoAudit(
            "same_as must name people, or be 0, where a victim is known by name and a "
            f"number lies within a window; got {point.m}."
        )
    assert named.insider.victim is not None
    home = named.homes[named.insider.victim]
    named._require_possible(home)
    given = named.insider.rules_out
    ruled = given if isinstance(given, tuple) else ()
    best: tuple[Attack, Span] | None = None
    wrong: InputError | None = None
    for span in _list_spans(named.groups[home], windows, ruled):
        groups = {
            key: merge_window(g, windows, span, ruled)
            for key, g in named.groups.items()
        }
        own = replace(named, groups=groups, protect=frozenset([str(span)]))
        try:
            found = own.attack(SkylineCheck([0]), point)
        except InputError as error:  # companions may contradict one window only
            wrong = error
            continue
        if found is not None and (best is None or found.belief > best[0].belief):
            best = found, span
    if best is None and wrong is not None:
        raise wrong
    return best


def _list_spans(
    group: AttackedGroup, windows: Windows, ruled: Collection[str | None]
) -> list[Span]:
    """The windows that start at each number of a group."""
    cells = [c for c, n in group.histogram.items() if n and c not in ruled]
    codes = [windows.domain.code(c) for c in cells if isinstance(c, str)]
    places = windows.place[[c for c in codes if c is not None]]
    there = np.sort(places[places < len(windows)])
    if len(there) > MOST_WINDOWS:
        raise TooLarge(
            f"A victim's group must hold at most {MOST_WINDOWS:,} different numbers to "
            f"try every window; there are {len(there):,}."
        )
    last = np.searchsorted(there, windows.stop[there]) - 1
    ends = zip(there.tolist(), there[last].tolist(), strict=True)
    return [windows.name_span(first, end) for first, end in ends]


def _find_code(windows: Windows, label: str) -> int:
    code = windows.domain.code(label)
    assert code is not None
    return code
