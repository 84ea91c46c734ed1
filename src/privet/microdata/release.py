"""A released table: what may be published of it, before and after it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import attrs

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
from privet.microdata.suppression.top_down_disclosure import DisclosureStep
from privet.policy import Measure, Policy, Promise
from privet.release.audit import audit_settled
from privet.release.history import History
from privet.release.write import TableRelease
from privet.table import Table


@dataclass(frozen=True, eq=False)
class Release(TableRelease):
    """A table that keeps every promise, and how it was made."""

    table: Table
    """What is released: the private rows as they will be shown, or the public file."""
    policy: Policy
    """What was promised."""
    audit: Audit
    """What an adversary could learn from it."""
    method: str
    """How it was made."""
    recipe: Recipe | None = None
    """What is hidden; None once loaded from public files."""
    steps: tuple[DisclosureStep | Split, ...] = ()
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
    origin: Table | None = None
    """The private table, where what is released is another one."""
    made_by: object = None
    """The method with its options; None once loaded, and where a recipe was applied."""
    held_back: tuple[int, int] | None = None
    """New rows that wait for a later delivery, and how many new ones there are."""

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
        entries = accept_by_name(accept, self.table.roles.sensitive)
        entries = (*self.policy.accepted, *entries)
        policy = attrs.evolve(self.policy, accepted=entries)
        return replace(
            self, policy=policy, audit=accept_exposure(self.table, policy, self.audit)
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
    def private(self) -> Table:
        """The table the release was made from."""
        return self.origin or self.table

    def columns(self) -> tuple[str, ...]:
        """The columns that are published: all but identifiers."""
        if self.grouped is not None:
            named = (c for f in self.grouped.files for c in f.columns)
            return tuple(dict.fromkeys(named))
        roles = self.table.roles
        dropped = {*roles.withheld, roles.unit}
        return tuple(c for c in self.table.schema.names if c not in dropped)

    def hidden_cells(self) -> dict[str, int]:
        """How many cells of each column are hidden."""
        from privet.microdata.files import count_hidden_cells

        return count_hidden_cells(self, Run())

    def __repr__(self) -> str:
        if self.grouped is not None:
            groups = f"{len(self.grouped.partition)} groups"
            return f"Release({self.method}, {self.audit.verdict.value}, {groups})"
        hidden = self.hidden
        shown = "" if hidden is None else f", hidden {hidden}"
        cuts = self.intervals
        cut = f", cut {cuts}" if cuts else ""
        return f"Release({self.method}, {self.audit.verdict.value}{shown}{cut})"


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


def refuse_unsafe(release: Release) -> None:
    """What breaks a promise is not a release."""
    fine = (Verdict.SAFE, Verdict.NOT_APPLICABLE)
    broken = [f for f in release.audit.findings if f.verdict not in fine]
    if not broken:
        return
    finding = broken[0]
    reached = finding.belief.posterior if finding.belief else finding.value
    why = (
        "The recipe does not keep"
        if release.method == "recipe"
        else f"{release.method.capitalize()} does not reach"
    )
    raise Infeasible(
        f"{why} {finding.promise.name!r} on this table: it comes to {reached}. "
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


def _suggest_remedies(release: Release, finding: Finding) -> list[str]:
    if release.method == "recipe":
        return ["Publish anew without the recipe."]
    steps = ["Bin the quasi columns, or leave some of them out."]
    if isinstance(finding.promise, Measure) and not is_monotone(finding.promise):
        steps.insert(0, NOT_STEERED)
    if release.grouped is None and (
        not isinstance(finding.promise, Promise)
        or finding.promise.against.kind == "insider"
    ):
        steps.insert(0, "Publish groups instead, with --method mondrian (Mondrian()).")
    return steps
