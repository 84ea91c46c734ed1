"""Publish a table by suppression (top-down disclosure) or generalisation (Mondrian)."""

from __future__ import annotations

from typing import Any

from privet.engine.protocol import Listener, Run
from privet.errors import InputError
from privet.microdata.generalisation.publish import Mondrian, publish_groups
from privet.microdata.linkage import read_about
from privet.microdata.list_columns import refuse_lists
from privet.microdata.recipe import Recipe
from privet.microdata.release import Release
from privet.microdata.suppression.publish import (
    TopDownDisclosure,
    publish_later,
    publish_suppressed,
)
from privet.policy import Policy
from privet.policy.policy import Stated, as_policy
from privet.release.audit import bind_table
from privet.release.refine import Watcher
from privet.table import Table


def publish_table(
    table: Table,
    promises: Stated,
    *,
    method: TopDownDisclosure | Mondrian | None = None,
    recipe: Recipe | None = None,
    since: Table | None = None,
    hold_back: bool = False,
    progress: Listener | None = None,
    watcher: Watcher | None = None,
) -> Release:
    """Make a release of a table that keeps every promise; or raise `Infeasible`."""
    policy, run = as_policy(promises, table.roles), Run(progress)
    table = bind_table(table, policy)
    _refuse_lists(table, policy, run)
    _refuse_several_rows(table)
    limits: dict[str, Any] = {
        "run": run,
        "watcher": watcher,
    }
    _refuse_misplaced(method, recipe, since, hold_back)
    if since is not None:
        assert recipe is not None
        assert not isinstance(method, Mondrian)
        before = since.meant_by(policy.where).with_roles(table.roles)
        return publish_later(
            table, policy, method, recipe, before, hold_back=hold_back, **limits
        )
    if not isinstance(method, Mondrian):
        return publish_suppressed(table, policy, method, recipe, **limits)
    if recipe is not None:
        raise InputError(
            "A recipe must be for hidden values to be applied again; groups are made "
            "anew from each delivery. Leave the recipe out."
        )
    return publish_groups(table, policy, method, **limits)


def _refuse_misplaced(
    method: object, recipe: Recipe | None, since: Table | None, hold_back: bool
) -> None:
    """A later delivery starts from the recipe of the earlier one."""
    if since is not None and (recipe is None or isinstance(method, Mondrian)):
        raise InputError(
            "since must come with the recipe of the earlier delivery, which hides "
            "values. Load it from its custody: pv.Recipe.load(…)."
        )
    if hold_back and since is None:
        raise InputError(
            "hold_back must come with since, the table of the earlier delivery: new "
            "rows are those it lacks."
        )


LISTS = (
    "a release is made of one value per person. Make a column of each value, or audit "
    "the table only."
)


def _refuse_lists(table: Table, policy: Policy, run: Run) -> None:
    """Promises are kept value by value, which a column of lists is not made of."""
    columns = (
        read_about(p, None if p.about else table.protected(), table)[0]
        for p in policy.promises_about("groups")
    )
    refuse_lists(table, columns, run, LISTS)


def _refuse_several_rows(table: Table) -> None:
    """People with several rows are in several groups; hiding values may not help."""
    if table.roles.unit:
        raise InputError(
            "A table must have one row per person to be published; "
            f"unit {table.roles.unit!r} says it may have several. Make one row per "
            "person first."
        )
