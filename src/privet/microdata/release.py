"""A released table: what may be published of it, before and after it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privet.engine.protocol import Run
from privet.errors import Infeasible
from privet.findings import Audit, Finding, Verdict
from privet.microdata.generalisation.forms import GroupedForm
from privet.microdata.generalisation.mondrian import SplitStep as Split
from privet.microdata.privacy_models.models import is_monotone
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.microdata.suppression.top_down_disclosure import DisclosureStep
from privet.policy import Measure, Policy, Promise
from privet.release.audit import audit
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
    together: Audit | None = None
    """What somebody could learn who also has the earlier releases."""
    ended: str = "finished"
    """Why the last move was the last."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The public document; empty until it is written."""
    grouped: GroupedForm | None = None
    """The groups of a release made by Mondrian; None once loaded."""
    folder: Path | None = None
    """Where it was loaded from; None: it was made here."""
    origin: Table | None = None
    """The private table, where what is released is another one."""

    @property
    def safe(self) -> bool:
        """Whether every promise that applies is kept, earlier releases included."""
        return self.audit.safe and (self.together is None or self.together.safe)

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
        dropped = {*roles.identifier, roles.unit}
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
    table: Table,
    policy: Policy,
    *,
    run: Run,
    strict: bool = False,
) -> Audit:
    """Audit a table whose roles are settled already."""
    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    return audit(table, stated, strict=strict, progress=run.listener)


def refuse_unsafe(release: Release) -> None:
    """What breaks a promise is not a release."""
    broken = [f for f in release.audit.findings if f.verdict is not Verdict.SAFE]
    broken = [f for f in broken if f.verdict is not Verdict.NOT_APPLICABLE]
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
        f"{why} {finding.promise.name!r} on this table: it comes to {reached}.",
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
        isinstance(finding.promise, Measure)
        or finding.promise.against.kind == "insider"
    ):
        steps.insert(0, "Publish groups instead, with --method mondrian (Mondrian()).")
    return steps
