"""Publish a table by suppression (top-down disclosure) or generalisation (Mondrian)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from privet.engine.protocol import Listener, Run
from privet.errors import InputError
from privet.microdata.full_domain.publish import FullDomain
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

GROUPING = (Mondrian, FullDomain)
"""Methods that make groups of people."""


def publish_table(
    table: Table,
    promises: Stated,
    *,
    method: TopDownDisclosure | Mondrian | FullDomain | None = None,
    recipe: Recipe | None = None,
    since: Table | None = None,
    hold_back: bool = False,
    utility: bool = True,
    progress: Listener | None = None,
    watcher: Watcher | None = None,
) -> Release:
    """Make a release of a table that keeps every promise; or raise `Infeasible`."""
    limits: dict[str, Any] = {"progress": progress, "watcher": watcher}
    made = _publish(table, promises, method, recipe, since, hold_back, **limits)
    return replace(made, measured=utility)


def _publish(
    table: Table,
    promises: Stated,
    method: TopDownDisclosure | Mondrian | FullDomain | None,
    recipe: Recipe | None,
    since: Table | None,
    hold_back: bool,
    *,
    progress: Listener | None,
    watcher: Watcher | None,
) -> Release:
    policy, run = as_policy(promises, table.roles), Run(progress)
    table = bind_table(table, policy)
    if since is not None:
        _refuse_lists(table, policy, run, LISTS)
    if table.source.address is not None:
        _refuse_lists(table, policy, run, LISTS_ELSEWHERE)
    _refuse_several_rows(table)
    limits: dict[str, Any] = {
        "run": run,
        "watcher": watcher,
    }
    _refuse_misplaced(method, recipe, since, hold_back)
    if since is not None:
        assert recipe is not None
        assert not isinstance(method, GROUPING)
        before = bind_table(since, policy).with_roles(table.roles)
        return publish_later(
            table, policy, method, recipe, before, hold_back=hold_back, **limits
        )
    if not isinstance(method, GROUPING):
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
    if since is not None and (recipe is None or isinstance(method, GROUPING)):
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
    "what two deliveries tell together is counted of single values only. Leave since "
    "out, or make a column of each value."
)
LISTS_ELSEWHERE = (
    "they are published of rows that are read here. Export the table to Parquet first."
)


def _refuse_lists(table: Table, policy: Policy, run: Run, why: str) -> None:
    """Refuse promises about lists where single values are needed, and say why."""
    columns = (
        read_about(p, None if p.about else table.protected(), table)[0]
        for p in policy.promises_about("groups")
    )
    refuse_lists(table, columns, run, why)


def _refuse_several_rows(table: Table) -> None:
    """People with several rows are in several groups; hiding values may not help."""
    if table.roles.unit:
        raise InputError(
            "A table must have one row per person to be published; "
            f"unit {table.roles.unit!r} says it may have several. Say how rows become "
            "people: [person] in the policy, or person=… of pv.read."
        )
