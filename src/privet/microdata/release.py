"""A released table: what may be published of it, before and after it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import attrs

from privet.display import Reportable
from privet.engine.protocol import Run
from privet.errors import Infeasible
from privet.findings import Audit, Finding, Verdict
from privet.microdata.exposure.coverage import (
    accept_by_name,
    find_uncovered,
    list_accepted,
)
from privet.microdata.exposure.exposure import Exposure
from privet.microdata.generalisation.forms import GroupedForm
from privet.microdata.generalisation.mondrian import SplitStep as Split
from privet.microdata.privacy_models.models import is_monotone
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.microdata.skyline.household_findings import asks_households
from privet.microdata.suppression.exchange import ExchangeStep
from privet.microdata.suppression.sweeps import SweepStep
from privet.microdata.suppression.top_down_disclosure import DisclosureStep
from privet.policy import Measure, Policy, Promise
from privet.release.audit import audit_settled
from privet.release.history import History
from privet.release.write import TableRelease
from privet.report.words import format_measured
from privet.table import Table

if TYPE_CHECKING:
    from privet.microdata.information_loss.utility_report import UtilityReport


@dataclass(frozen=True, eq=False)
class Release(TableRelease, Reportable):
    """A table that keeps every promise, and how it was made."""

    _table: Table
    """What is judged: the private rows as they will be shown, or the public file."""
    policy: Policy
    """What was promised."""
    audit: Audit
    """What an adversary could learn from it."""
    method: str
    """How it was made."""
    recipe: Recipe | None = None
    """What is hidden; None once loaded from public files."""
    steps: tuple[DisclosureStep | SweepStep | ExchangeStep | Split, ...] = ()
    """The moves that led to it."""
    before: Audit | None = None
    """What an adversary could have learnt from the table itself."""
    history: History | None = None
    """What earlier releases add; None once loaded from public files."""
    ended: str = "finished"
    """Why the last move was the last."""
    left: Mapping[str, int] = field(default_factory=dict)
    """What was left to try when the search was stopped: how many values or cuts of each
    column, or how many groups."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The public document; empty until it is written."""
    grouped: GroupedForm | None = None
    """The groups of a release made by Mondrian; None once loaded."""
    folder: Path | None = None
    """Where it was loaded from; None: it was made here."""
    _origin: Table | None = None
    """The private table, where what is judged is another one."""
    made_by: object = None
    """The method with its options; None once loaded, and where a recipe was applied."""
    held_back: tuple[int, int] | None = None
    """New rows that wait for a later delivery, and how many new ones there are."""
    measured: bool = True
    """Whether it is told, in numbers, what the release keeps of its table."""
    _figures: dict[str, tuple[UtilityReport | None, str]] = field(
        default_factory=dict, repr=False
    )

    @property
    def exposure(self) -> Exposure | None:
        """Of how many people the release tells something, promised or not."""
        told = self.audit.exposure
        assert told is None or isinstance(told, Exposure)
        return told

    @property
    def together(self) -> Audit | None:
        """What somebody could learn who also has the earlier releases."""
        return None if self.history is None else self.history.together

    @property
    def verdict(self) -> Verdict:
        """What it may be called; what it comes to with earlier releases goes first."""
        if self.history is not None and not self.history.safe:
            return self.history.verdict
        return self.audit.verdict

    def accept(self, accept: Mapping[str, str]) -> Self:
        """The release with columns accepted that no promise covers, and why."""
        entries = accept_by_name(accept, self._table.roles.sensitive)
        entries = (*self.policy.accepted, *entries)
        policy = attrs.evolve(self.policy, accepted=entries)
        return replace(
            self, policy=policy, audit=accept_exposure(self._table, policy, self.audit)
        )

    @property
    def safe(self) -> bool:
        """Whether every promise that applies is kept, earlier releases included."""
        return self.audit.safe and (self.history is None or self.history.safe)

    @property
    def hidden(self) -> dict[str, list[str | None]] | None:
        """The hidden values by column; None once loaded from public files."""
        if self.recipe is None:
            return None if self.grouped is None else {}
        return {
            c: list(how.hidden)
            for c, how in self.recipe.columns.items()
            if isinstance(how, Hide)
        }

    @property
    def intervals(self) -> dict[str, list[str | None]] | None:
        """The values ordered columns were cut after; None once loaded."""
        if self.recipe is None:
            return None
        return {
            c: list(how.after)
            for c, how in self.recipe.columns.items()
            if isinstance(how, Cut)
        }

    @property
    def _private(self) -> Table:
        """The table the release was made from."""
        return self._origin or self._table

    @cached_property
    def table(self) -> Table:
        """What is released, as its readers see it: no identifiers, nothing hidden.

        Of a release made here it is drafted when it is first asked for.
        """
        if self.folder is not None:
            return self._table
        from privet.microdata.files import open_judged_table

        drafted = self._drafted
        assert drafted.kept is not None
        assert drafted.content is not None
        folder = drafted.kept.path / "release"
        found = open_judged_table(folder, drafted.content)
        kept = replace(found.source, words="the release", kept=drafted)
        return replace(found, words="the release", source=kept)

    def columns(self) -> tuple[str, ...]:
        """The columns that are published: all but identifiers."""
        if self.grouped is not None:
            named = (c for f in self.grouped.files for c in f.columns)
            return tuple(dict.fromkeys(named))
        roles = self._table.roles
        dropped = {*roles.withheld, roles.unit}
        return tuple(c for c in self._table.schema.names if c not in dropped)

    @property
    def utility(self) -> UtilityReport | None:
        """What it keeps of its table, in numbers; None: see `utility_note`.

        Worked out when first asked for, while the table is open. Private: it tells of
        the table.
        """
        return self._measure()[0]

    @property
    def utility_note(self) -> str:
        """Why there are no numbers; empty where there are."""
        return self._measure()[1]

    def _measure(self) -> tuple[UtilityReport | None, str]:
        from privet.microdata.information_loss.loss_measures import (
            NOT_ASKED,
            measure_in_time,
        )

        if not self.measured:
            return None, NOT_ASKED
        if "found" not in self._figures:
            self._figures["found"] = measure_in_time(self)
        return self._figures["found"]

    def hidden_cells(self) -> dict[str, int]:
        """How many cells of each column are hidden."""
        from privet.microdata.files import count_hidden_cells

        return count_hidden_cells(self, Run())

    def __repr__(self) -> str:
        if self.grouped is not None:
            groups = f"{len(self.grouped.partition)} groups"
            return f"Release({self.method}, {self.audit.verdict.value}, {groups})"
        # Which values are hidden is told by `hidden` alone, never by being printed.
        hidden = sum(map(len, (self.hidden or {}).values()))
        shown = "" if self.hidden is None else f", hidden {_count_values(hidden)}"
        cuts = len(self.intervals or {})
        cut = f", cut {cuts} {'column' if cuts == 1 else 'columns'}" if cuts else ""
        return f"Release({self.method}, {self.audit.verdict.value}{shown}{cut})"

    def to_dict(self) -> dict[str, Any]:
        """For machines: promises before and after, and how much is hidden, not what."""
        from privet.microdata.charts.exhibits import summarise_shown

        return summarise_shown(self)


def _count_values(number: int) -> str:
    return "1 value" if number == 1 else f"{number:,} values"


def judge_policy(
    table: Table, policy: Policy, *, run: Run, exposure: bool = True
) -> Audit:
    """Audit a table whose roles are settled already."""
    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    listening = Run(run.listener)
    found = audit_settled(table, stated, policy, run=listening, exposure=exposure)
    listening.check()  # what ran out of time was not judged
    return found


def judge_before(table: Table, policy: Policy, *, run: Run) -> Audit:
    """What the table itself would tell; of exposure, which is not counted, nothing.

    Whether something is covered may depend on that count, so it is not said either.
    """
    found = judge_policy(table, policy, run=run, exposure=False)
    return attrs.evolve(found, uncovered=())


def accept_exposure(table: Table, policy: Policy, found: Audit) -> Audit:
    """An audit with what a policy accepts; nothing is counted again."""
    told = found.exposure
    if not isinstance(told, Exposure):
        return found
    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    given = (table, stated, policy.accepted)
    return attrs.evolve(
        found,
        uncovered=find_uncovered(*given, told),
        exposure=replace(told, accepted=tuple(list_accepted(*given, told))),
    )


def list_broken(release: Release) -> list[Finding]:
    """What a release does not keep."""
    fine = (Verdict.SAFE, Verdict.NOT_APPLICABLE)
    return [f for f in release.audit.findings if f.verdict not in fine]


def find_reached(finding: Finding) -> tuple[Fraction | None, str]:
    """What something comes to, and as it is told."""
    reached = finding.belief.posterior if finding.belief else finding.value
    if isinstance(finding.promise, Measure) and finding.value is not None:
        return reached, format_measured(finding.promise, finding.value)
    return reached, str(reached)


def refuse_unsafe(release: Release) -> None:
    """What breaks a promise is not a release."""
    broken = list_broken(release)
    if not broken:
        return
    finding = broken[0]
    reached, told = find_reached(finding)
    why = (
        "The recipe does not keep"
        if release.method == "recipe"
        else f"{release.method.capitalize()} does not reach"
    )
    raise Infeasible(
        f"{why} {finding.promise.name!r} on this table: it comes to {told}. "
        f"{finding.note}".rstrip(),
        promise=finding.promise,
        best=reached,
        advice=_suggest_remedies(release, finding),
    )


NOT_STEERED = (
    "The search cannot be led by this measure, since larger groups may worsen it; it "
    "is checked in the end. State one beside it that can lead: a larger k_anonymity, "
    "or the same measure with missing values as values."
)


BIN_QUASI = "Bin the quasi columns, or leave some of them out."


def _blur_telling(finding: Finding) -> Iterator[str]:
    """What to do about columns by which hidden ones show through."""
    for rule in finding.details.get("derived", {}).get("shows_through", ()):
        by = " or ".join(repr(c) for c in rule["by"])
        yield (
            f"Declare {by} as quasi, so that it is blurred, too, or drop it: as it is "
            f"shown now, it tells {rule['column']!r}."
        )


NOT_UNDONE = (
    "Households are checked in the end. Mondrian with cuts of its own for each group "
    "undoes splits for them: --method mondrian without --same-cuts (Mondrian())."
)


def _suggest_remedies(release: Release, finding: Finding) -> list[str]:
    if release.method == "recipe":
        return ["Publish anew without the recipe."]
    steps = [*_blur_telling(finding), BIN_QUASI]
    if isinstance(finding.promise, Measure) and not is_monotone(finding.promise):
        steps.insert(0, NOT_STEERED)
    if release.grouped is not None and asks_households(finding.promise):
        steps.insert(0, NOT_UNDONE)
    if release.grouped is None and (
        not isinstance(finding.promise, Promise)
        or finding.promise.against.kind == "insider"
    ):
        steps.insert(0, "Publish groups instead, with --method mondrian (Mondrian()).")
    return steps
