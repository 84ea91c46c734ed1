"""Tables with some values hidden: found by a search, or by an earlier recipe."""

from __future__ import annotations

import warnings

from privet.engine.protocol import Run
from privet.errors import InputError, NoAudit
from privet.findings import Audit
from privet.microdata.earlier_releases import judge_together
from privet.microdata.recipe import Recipe
from privet.microdata.release import Release, judged, refuse_unsafe
from privet.microdata.skyline.named_individuals import is_named
from privet.microdata.suppression.publish import TopDownDisclosure, method_for
from privet.policy import Policy
from privet.release.refine import Refinement, Watcher
from privet.table import Table, require_columns
from privet.values.adversaries import Linker


def publish_hidden(
    table: Table,
    policy: Policy,
    method: TopDownDisclosure | None,
    recipe: Recipe | None,
    *,
    run: Run,
    max_seconds: float | None,
    watcher: Watcher | None,
) -> Release:
    """Make a release with values hidden; or raise `Infeasible`."""
    chosen = method or method_for(policy, table)
    _refuse_unjudged(policy)
    if recipe is not None:
        require_columns(list(recipe.columns), table.schema, "the recipe")
    with warnings.catch_warnings():
        before = judged(table, policy, run=run)
    if recipe is None:
        linkers = [p for p in policy.promises if isinstance(p.against, Linker)]
        found, refined = chosen.disclose(
            table, linkers, run=run, max_seconds=max_seconds, watcher=watcher
        )
    else:
        found, refined = recipe, Refinement((), "recipe")
    shown = _shown(table, found, run)
    with warnings.catch_warnings(action="ignore"):  # said once, above
        after = judged(shown, policy, run=run)
    release = Release(
        table=shown,
        policy=policy,
        audit=after,
        method=chosen.kind if recipe is None else "recipe",
        recipe=found,
        steps=refined.steps,
        before=before,
        together=_together(table, policy, found, run),
        ended=refined.ended,
    )
    refuse_unsafe(release)
    return release


def _shown(table: Table, recipe: Recipe, run: Run) -> Table:
    """The table as a recipe shows it."""
    domains = table.domains(list(recipe.columns), run)
    return table.relabelled(recipe.relabels(domains, table.roles.bins))


def _together(table: Table, policy: Policy, recipe: Recipe, run: Run) -> Audit | None:
    """What somebody could learn who also has the earlier releases, if there are any."""
    if not policy.earlier:
        return None
    return judge_together(table, recipe, policy.promises, policy.custodies(), run)


def _refuse_unjudged(policy: Policy) -> None:
    """Nothing is published while a promise that applies cannot be judged."""
    kinds = {p.against.kind for p in policy.promises}
    if "linker" not in kinds:
        raise NoAudit(
            "A table must have promises against a linker to be published by top-down "
            f"disclosure; got {', '.join(sorted(kinds)) or 'none'}."
        )
    if any(is_named(p) for p in policy.promises):
        raise InputError(
            "A promise about people by name must not be in a policy that is published: "
            "what it says of them would travel with the release. Audit it apart."
        )
