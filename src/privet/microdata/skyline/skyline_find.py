"""SkylineFind: every most knowing insider (l, k, m) who stays unsure at a confidence.

Safety falls with each kind of background knowledge, so the safe points lie below a
frontier, the knowledge skyline; its corners are found by halving.
Chen, LeFevre, Ramakrishnan 2007, "Skyline Exploratory Tool".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any

import attrs

from privet.display import Displayed
from privet.engine.protocol import CountQuery, Listener, Run
from privet.errors import InputError, NoAudit
from privet.findings import Attack
from privet.microdata.groups import Groups
from privet.microdata.list_columns import read_sets
from privet.microdata.skyline.audit import (
    refuse_in_several_groups,
    refuse_several_values,
)
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.sets import SetSkyline
from privet.microdata.skyline.skyline import SkylineCheck
from privet.microdata.skyline.witness import build_attack
from privet.table import Table, require_columns
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import Number, fraction

if TYPE_CHECKING:
    from rich.console import RenderableType

Triple = tuple[int, int, int]
"""Values ruled out, people known, companions: (l, k, m)."""

MOST = Point(20, 50, 50)
"""How far the search goes unless it is asked to go further."""


@dataclass(frozen=True)
class Corner:
    """One maximal safe point of the skyline, and the best attack at it."""

    point: Triple
    """(l, k, m)."""
    belief: Fraction
    """How sure such an insider can be; below the confidence."""
    attack: Attack | None = None
    """The case that attains it; None of a bound."""
    exact: bool = True
    """Whether the belief is exact; of more than two values of lists it is a bound."""


@dataclass(frozen=True)
class Frontier(Displayed):
    """What insiders may know without becoming too sure; sensitive, for it quotes."""

    confidence: Fraction
    """Insiders stay below this."""
    corners: tuple[Corner, ...]
    """The maximal safe points; none if the release alone says too much."""
    surface: tuple[Triple, ...]
    """For every l and m the largest safe k."""
    caps: Triple
    """How far was looked."""
    smallest: int
    """People of the smallest group: the release is so-many-anonymous."""
    fewest: int
    """The fewest different values of a group: distinct l-diversity."""
    recursive: tuple[int, int] | None
    """The least whole c with the largest l of recursive (c, l)-diversity."""
    groups: int
    """Equivalence classes: groups of people who look the same."""
    people: int
    """People in them."""
    about: str
    """The sensitive column."""
    least: Fraction = Fraction(0)
    """How sure somebody can be who knows nothing more."""
    lists: bool = False
    """Whether people have several values each."""

    @property
    def points(self) -> list[Triple]:
        """The maximal safe points (l, k, m), sorted."""
        return [c.point for c in self.corners]

    @property
    def at_cap(self) -> list[str]:
        """Which kinds of knowledge the search did not see the end of."""
        kinds = ("rules_out", "knows_others", "same_as")
        return [
            kind
            for i, kind in enumerate(kinds)
            if any(c.point[i] >= self.caps[i] for c in self.corners)
            and (self.lists or not (i == 0 and self.caps[0] > self.fewest - 2))
        ]

    @property
    def safe(self) -> bool:
        """Whether at least somebody without further knowledge stays unsure."""
        return bool(self.corners)

    def list_surface(self) -> list[dict[str, int]]:
        """For every l and m the largest safe k, a dictionary each."""
        kinds = ("rules_out", "knows_others", "same_as")
        return [dict(zip(kinds, point, strict=True)) for point in self.surface]

    def to_dict(self) -> dict[str, Any]:
        """For machines, probabilities as fractions in text."""
        from privet.microdata.skyline import report

        return report.summarise_skyline(self)

    def explain(self) -> str:
        """The whole skyline in plain words."""
        from privet.microdata.skyline import report

        return report.skyline_as_text(self)

    def __repr__(self) -> str:
        return f"Frontier(below {self.confidence}: {self.points})"

    def __rich__(self) -> RenderableType:
        from privet.microdata.skyline import report

        return report.as_rich(self)


def skyline(
    release: Any,
    confidence: Number,
    *,
    about: str | None = None,
    max_l: int = MOST.l,  # type: ignore[assignment]
    max_k: int = MOST.k,
    max_m: int = MOST.m,
    max_seconds: float | None = None,
    progress: Listener | None = None,
) -> Frontier:
    """Find how much insiders may know and still be less sure than a confidence.

    Parameters
    ----------
    release
        Groups; a table, taken as if it were released as it is; or a release.
    confidence
        How sure an insider must not become; they stay *below* it.
    about
        The sensitive column, where there are several.
    max_l, max_k, max_m
        How far to look: values ruled out, other people known, people with the same
        value.
    max_seconds
        Give up after this time, with `Stopped`.
    progress
        Takes `Progress` events.

    Examples
    --------
    >>> from privet import Groups
    >>> six = Groups.from_histograms([dict.fromkeys("abcdef", 1)])
    >>> skyline(six, "0.95").points
    [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 3), (4, 0, 4)]
    """
    level = fraction(confidence, "confidence")
    if not 0 < level <= 1:
        raise InputError(f"confidence must be above 0 and at most 1; got {confidence}.")
    caps = Point(
        *(
            _check_cap(*c)
            for c in (("max_l", max_l), ("max_k", max_k), ("max_m", max_m))
        )
    )
    fold, column = _fold_release(release, about, caps, Run.start(progress, max_seconds))
    if isinstance(fold, SetSkyline):
        return _find_set_frontier(fold, column, level, caps)
    return _find_frontier(fold, column, level, caps)


def _check_cap(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{name} must be a whole number from 0; got {value!r}.")
    return value


def _fold_release(
    release: Any, about: str | None, caps: Point, run: Run
) -> tuple[SkylineCheck | SetSkyline, str]:
    release = getattr(release, "_table", release)
    if isinstance(release, Groups):
        if about not in (None, release.about):
            raise InputError(f"about must be {release.about!r} here; got {about!r}.")
        start = _start_fold(caps, release.grouped.about)
        return _add_groups(start, release.grouped), release.about
    if not isinstance(release, Table):
        raise NoAudit(
            f"{type(release).__name__} has no skyline; groups, tables and releases "
            "with groups have one."
        )
    column = about or release.protected()
    require_columns([column], release.schema, "about")
    by = [c for c in release.schema.names if c in release.roles.quasi and c != column]
    groups, everybody = CountQuery(tuple(by), column), CountQuery((), column)
    domain = release.domains([column], run, before=[groups])[column]
    sets = read_sets(release, domain)
    fold: SkylineCheck | SetSkyline = _start_fold(caps, domain)
    if sets is not None:
        fold = SetSkyline.start(sets, caps)
    for tally, batch in release.count([everybody, groups], run):
        if tally == everybody:
            overall = batch
        if tally == groups:
            fold = _add_groups(fold, batch)
    refuse_in_several_groups(fold.people, overall, release)
    return fold, column


def _start_fold(caps: Point, domain: Domain) -> SkylineCheck:
    assert isinstance(caps.l, int)
    return SkylineCheck(range(min(caps.l, len(domain)) + 1))


def _add_groups(
    fold: SkylineCheck | SetSkyline, batch: EquivalenceClasses
) -> SkylineCheck | SetSkyline:
    """More groups; ruling out all values but one is certainty, and not followed."""
    refuse_several_values(batch)
    if isinstance(fold, SetSkyline):
        return fold.add(batch)
    last = max(int((batch.start[1:] - batch.start[:-1]).min()) - 2, 0)
    several = tuple(r for r in fold.rulings if isinstance(r, int) and r <= last)
    return attrs.evolve(fold, rulings=several).add(batch)


def _find_frontier(
    fold: SkylineCheck, about: str, level: Fraction, caps: Point
) -> Frontier:
    assert isinstance(caps.l, int)
    last = max(r for r in fold.rulings if isinstance(r, int))
    # Who knows everybody is certain: no point lies as far out as there are people.
    far = Point(min(caps.l, last), min(caps.k, fold.people), min(caps.m, fold.people))
    surface = find_surface(lambda p: fold.belief(p) < level, far)
    corners = [_build_corner(fold, Point(*p)) for p in find_maximal(surface)]
    return Frontier(
        confidence=level,
        corners=tuple(corners),
        surface=tuple(surface),
        caps=(caps.l, caps.k, caps.m),
        smallest=fold.smallest,
        fewest=fold.fewest,
        recursive=_find_recursive(fold, last),
        groups=fold.groups,
        people=fold.people,
        about=about,
        least=fold.belief(Point(0, 0, 0)),
    )


def _find_set_frontier(
    fold: SetSkyline, about: str, level: Fraction, caps: Point
) -> Frontier:
    """The same of lists; safety falls with l there, too, and bounds rise with it."""
    assert isinstance(caps.l, int)
    people = fold.people
    far = Point(len(fold.checks) - 1, min(caps.k, people), min(caps.m, people))
    surface = find_surface(lambda p: fold.belief(p) < level, far)
    return Frontier(
        confidence=level,
        corners=tuple(_build_set_corner(fold, p) for p in find_maximal(surface)),
        surface=tuple(surface),
        caps=(caps.l, caps.k, caps.m),
        smallest=fold.smallest,
        fewest=0,
        recursive=None,
        groups=fold.groups,
        people=people,
        about=about,
        least=fold.belief(Point(0, 0, 0)),
        lists=True,
    )


def _build_set_corner(fold: SetSkyline, point: Triple) -> Corner:
    found = fold.build_attack(Point(*point))
    return Corner(point, fold.belief(Point(*point)), found, fold.is_exact(point[0]))


def _build_corner(fold: SkylineCheck, point: Point) -> Corner:
    case = fold.find_worst(point)
    assert case is not None
    assert fold.kept is not None
    assert isinstance(point.l, int)
    found = build_attack(case, fold.kept, point)
    return Corner((point.l, point.k, point.m), case.belief, found)


def _find_recursive(fold: SkylineCheck, last: int) -> tuple[int, int] | None:
    """Recursive (c, l)-diversity is the point (l - 2, 0, 0) at c / (c + 1)."""
    if fold.fewest < 2:
        return None
    case = fold.find_worst(Point(last, 0, 0))
    if case is None or not case.odds:
        return None
    # c_1 < c r means c > 1 / R: odds of 2/3 need a c above 3/2, so 2.
    return int(1 / case.odds) + 1, last + 2


def find_maximal(points: Sequence[Triple]) -> list[Triple]:
    """The points no other point has at least as much of everything as.

    >>> find_maximal([(0, 4, 0), (0, 3, 0), (1, 3, 1)])
    [(0, 4, 0), (1, 3, 1)]
    """

    def is_below(p: Triple, q: Triple) -> bool:
        return p != q and all(x <= y for x, y in zip(p, q, strict=True))

    return sorted(p for p in set(points) if not any(is_below(p, q) for q in points))


def find_surface(safe: Callable[[Point], bool], caps: Point) -> list[Triple]:
    """For every l and m the largest safe k within the caps.

    Safety falls in each coordinate, so for each (l, m) the largest safe k lies at or
    below those of (l - 1, m) and (l, m - 1); it is found by halving.
    """
    assert isinstance(caps.l, int)
    found: list[Triple] = []
    before: dict[int, int] = {}
    for l in range(caps.l + 1):
        here: dict[int, int] = {}
        for m in range(caps.m + 1):
            most = min(before.get(m, caps.k if l == 0 else -1), here.get(m - 1, caps.k))
            k = _find_largest(lambda k, l=l, m=m: safe(Point(l, k, m)), most)  # type: ignore[misc]
            if k < 0:
                break
            here[m] = k
            found.append((l, k, m))
        if not here:
            break
        before = here
    return found


def _find_largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` that holds, or -1; small ones are likelier."""
    if most < 0 or not holds(0):
        return -1
    if holds(most):
        return most
    low = 0
    for step in (2**i for i in count()):
        high = min(low + step, most)
        if high == most or not holds(high):
            break
        low = high
    # low holds and high does not: 1, 3, 7, 15 … were tried, then halves between.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
