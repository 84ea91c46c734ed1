"""Privacy models (k-anonymity, l-diversity, t-closeness and kin) audited on a release.

Familiar measures from the same equivalence classes: findings without a belief. All of
them come from one count of (group, value). A missing value is a value of its own
unless a measure says otherwise. How each is scored is told by its record in
`models.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import EmptyTable, InputError, NoAudit
from privet.findings import Basis, Finding, Verdict, Witness
from privet.microdata.groups import Groups
from privet.microdata.list_columns import refuse_lists
from privet.microdata.privacy_models.class_scores import Batch, GroupScores
from privet.microdata.privacy_models.missing_values import drop_missing, match_wildcards
from privet.microdata.privacy_models.models import find_model, score_groups
from privet.microdata.privacy_models.population import count_in_population
from privet.microdata.skyline.closed_forms import Ints
from privet.policy import Measure
from privet.policy.measures import AT_LEAST
from privet.table import Table, require_columns
from privet.values.equivalence_classes import EquivalenceClasses

LISTS = (
    "familiar measures are about one value per person. State a promise against a "
    "linker or an insider, who are judged on lists."
)


@dataclass(frozen=True)
class WorstGroup:
    """The worst group so far by one measure; ``|`` merges disjoint groups."""

    measure: Measure
    value: Fraction | None = None
    known: tuple[str | None, ...] = ()
    size: int = 0
    groups: int = 0
    beyond: int = 0
    people_beyond: int = 0
    people: int = 0
    overall: Fraction = Fraction(0)
    """Rows that count, where the measure is one figure of all groups together."""

    def add(self, batch: Batch) -> WorstGroup:
        """With some more groups."""
        groups = batch.groups
        if not len(groups):
            return self
        overall = find_model(self.measure).overall
        found = score_groups(self.measure, batch)
        worst = self._find_worst(found)
        own = Fraction(int(found.part[worst]), int(found.whole[worst]))
        here = replace(
            self,
            value=own,
            known=groups.labels(worst),
            size=int(batch.people[worst]),
            groups=len(groups),
            beyond=int(found.beyond.sum()),
            people_beyond=int(groups.total[found.beyond].sum()),
            people=int(groups.total.sum()),
            overall=Fraction(0) if overall is None else overall(batch),
        )
        return self | here

    def _find_worst(self, found: GroupScores) -> int:
        worst = found.find_worst(self.smallest)
        if found.beyond[worst] or not found.beyond.any():
            return worst
        # Where the level depends on the value, the largest need not be beyond it.
        some = np.flatnonzero(found.beyond)
        inner = GroupScores(found.part[some], found.whole[some], found.beyond[some])
        return int(some[inner.find_worst(self.smallest)])

    @property
    def smallest(self) -> bool:
        """Whether small numbers are bad."""
        return self.measure.sense == AT_LEAST

    def __or__(self, other: WorstGroup) -> WorstGroup:
        if self.value is None or other.value is None:
            best = self if other.value is None else other
        else:
            self_, other_ = (
                (self.beyond > 0, self.value),
                (other.beyond > 0, other.value),
            )
            # Where small numbers are bad, -2 is worse than -3.
            if self.smallest:
                self_, other_ = (self_[0], -self_[1]), (other_[0], -other_[1])
            best = self if self_ >= other_ else other
        return replace(
            best,
            groups=self.groups + other.groups,
            beyond=self.beyond + other.beyond,
            people_beyond=self.people_beyond + other.people_beyond,
            people=self.people + other.people,
            overall=self.overall + other.overall,
        )

    def finding(self, columns: Sequence[str], counted: str) -> Finding:
        """What became of the measure."""
        value, kept = self.value, not self.beyond
        whole = find_model(self.measure).overall is not None
        if whole:
            value = self.overall / self.people
            kept = self.measure.holds(value)
        return Finding(
            promise=self.measure,
            verdict=Verdict.SAFE if kept else Verdict.BREACH,
            basis=Basis.EXACT,
            value=value,
            witness=Witness(
                dict(zip(columns, self.known, strict=True)),
                "",
                None,
                self.size,
                self.size,
                0,
                1,
                counted,
            ),
            groups=0 if whole else self.groups,
            groups_above=0 if whole else self.beyond,
            people_above=0 if whole else self.people_beyond,
        )


def judge(
    release: Table | Groups,
    measures: Sequence[Measure],
    run: Run,
    warn: Callable[[str], None],
) -> list[Finding]:
    """Measure the equivalence classes over all quasi-identifiers."""
    counting = _GroupCounts(release, run)
    about = counting.choose_columns(measures)
    found: dict[int, Finding] = {}
    for column in dict.fromkeys(about):
        at = [i for i, c in enumerate(about) if c == column]
        folds = counting.fold([measures[i] for i in at], column)
        found |= dict(zip(at, folds, strict=True))
    return [found[i] for i in range(len(measures))]


class _GroupCounts:
    """Groups of a release, counted as often as there are sensitive columns."""

    def __init__(self, release: Table | Groups, run: Run) -> None:
        self._release, self._run = release, run
        if isinstance(release, Groups):
            self.quasi: tuple[str, ...] = release.quasi
        else:
            known = release.schema.names
            self.quasi = tuple(c for c in known if c in release.roles.quasi)

    def choose_columns(self, measures: Sequence[Measure]) -> list[str]:
        """The column each measure is counted with; any will do for sizes."""
        wanted = [self._choose_about(m) for m in measures]
        some = next((c for c in wanted if c), None)
        return [c or some or self._choose_any_column() for c in wanted]

    def _choose_about(self, measure: Measure) -> str | None:
        if not find_model(measure).sensitive:
            return None
        if isinstance(self._release, Groups):
            if measure.about not in (None, self._release.about):
                about = self._release.about
                raise InputError(
                    f"about must be {about!r} here; got {measure.about!r}."
                )
            return self._release.about
        column = measure.about or self._release.protected()
        require_columns([column], self._release.schema, "about")
        if column in self.quasi:
            raise InputError(f"about must not be a quasi column; got {column!r}.")
        refuse_lists(self._release, [column], self._run, LISTS)
        return column

    def _choose_any_column(self) -> str:
        """What to count beside the quasi columns where nothing else is asked."""
        if isinstance(self._release, Groups):
            return self._release.about
        if not self.quasi:
            raise InputError("A measure must have quasi columns; none is declared.")
        return self.quasi[-1]

    def fold(self, measures: Sequence[Measure], about: str) -> list[Finding]:
        """Judge measures about one column from one count."""
        folds = [WorstGroup(m) for m in measures]
        dropped = self._count_without_missing(measures, about)
        kept: list[EquivalenceClasses] = []
        everybody: Ints | None = None
        for tally, groups in self._count(about):
            if not tally.by and tally.about == about and everybody is None:
                everybody = _count_values(groups)
            if tally.by or not self.quasi:
                kept += (
                    [groups] if any(m.missing == "wildcard" for m in measures) else []
                )
                folds = [
                    f
                    if f.measure.missing == "wildcard"
                    else f.add(self._build_batch(f.measure, groups, everybody, dropped))
                    for f in folds
                ]
        folds = [_add_wildcards(f, kept) for f in folds]
        if any(f.value is None for f in folds):
            raise EmptyTable("A measure must have people; every row has a gap.")
        return [f.finding(self.quasi, self._release.counted) for f in folds]

    def _count(self, about: str) -> Iterator[tuple[CountQuery, EquivalenceClasses]]:
        by = tuple(c for c in self.quasi if c != about)
        if isinstance(self._release, Groups):
            yield CountQuery((), about), self._release.everybody
            yield CountQuery(("",), about), self._release.grouped
            return
        if about not in self.quasi:
            # Everybody comes first: groups are compared with them as they arrive.
            tallies = [CountQuery((), about), CountQuery(by, about)]
            yield from self._release.count(tallies if by else tallies[:1], self._run)
            return
        # A group over all quasi columns is a value of one in a group of the rest.
        for _, groups in self._release.count([CountQuery(by, about)], self._run):
            yield CountQuery((*by, about), ""), groups.split_by_value(self.quasi)

    def _build_batch(
        self,
        measure: Measure,
        groups: EquivalenceClasses,
        everybody: Ints | None,
        dropped: Ints | None,
    ) -> Batch:
        if measure.missing == "drop":
            groups = drop_missing(groups, values=find_model(measure).sensitive)
            everybody = dropped
        if measure.population is not None:
            if not isinstance(self._release, Table):
                raise NoAudit("A population must be compared with a table; got groups.")
            people = count_in_population(
                measure.population, groups, self._release, self._run
            )
            return Batch(groups, everybody, people)
        return Batch(groups, everybody)

    def _count_without_missing(
        self, measures: Sequence[Measure], about: str
    ) -> Ints | None:
        """Everybody whose row has no gap; needs a count of its own."""
        if not any(
            m.missing == "drop" and find_model(m).against_everybody for m in measures
        ):
            return None
        total: Ints | None = None
        for tally, groups in self._count(about):
            if tally.by or not self.quasi:
                here = _count_values(drop_missing(groups, values=True))
                total = here if total is None else total + here
        return total


def _add_wildcards(fold: WorstGroup, kept: list[EquivalenceClasses]) -> WorstGroup:
    if fold.measure.missing != "wildcard":
        return fold
    whole, alike = match_wildcards(kept)
    return fold.add(Batch(whole, None, alike))


def _count_values(groups: EquivalenceClasses) -> Ints:
    counts = np.zeros(len(groups.about), dtype=np.int64)
    np.add.at(counts, groups.value, groups.n)
    return counts
