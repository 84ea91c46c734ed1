"""The verb `publish`: change a table until every promise holds, at the least cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from privet.engine.protocol import Listener, Run
from privet.errors import InputError
from privet.microdata.generalisation.publish import Mondrian, publish_groups
from privet.microdata.linkage import about
from privet.microdata.list_columns import refuse_lists
from privet.microdata.recipe import Recipe
from privet.microdata.release import Release
from privet.microdata.suppression.publish import TopDownDisclosure, publish_hidden
from privet.policy import Policy
from privet.policy.policy import Stated, policy_of
from privet.release.audit import bound
from privet.release.refine import Watcher
from privet.release.verify import load, verify
from privet.table import Table
from privet.values.adversaries import Insider, Linker
from privet.views.release import Views
from privet.views.showing import ViewsRelease, publish_views
from privet.views.split import SplitViews

if TYPE_CHECKING:
    from privet.classifier.publish import ClassifierRelease
    from privet.classifier.transforms.extended_safety_transform import (
        ExtendedSafetyTransform,
    )
    from privet.classifier.transforms.safety_transform import SafetyTransform

__all__ = [
    "Mondrian",
    "Release",
    "SplitViews",
    "TopDownDisclosure",
    "load",
    "publish",
    "verify",
]


@overload
def publish(
    table: Views,
    promises: Stated,
    *,
    progress: Listener | None = None,
) -> ViewsRelease: ...


@overload
def publish(
    table: Table,
    promises: Stated,
    *,
    method: SplitViews,
    progress: Listener | None = None,
) -> ViewsRelease: ...


@overload
def publish(
    table: Table,
    promises: Stated,
    *,
    method: TopDownDisclosure | Mondrian | None = None,
    recipe: Recipe | None = None,
    max_seconds: float | None = None,
    progress: Listener | None = None,
    watcher: Watcher | None = None,
) -> Release: ...


@overload
def publish(
    table: Any,
    promises: Stated,
    *,
    method: SafetyTransform | ExtendedSafetyTransform | None = None,
    recipe: None = None,
    max_seconds: float | None = None,
    progress: Listener | None = None,
    watcher: None = None,
) -> ClassifierRelease: ...


def publish(
    table: Any,
    promises: Stated,
    *,
    method: Any = None,
    recipe: Recipe | None = None,
    max_seconds: float | None = None,
    progress: Listener | None = None,
    watcher: Watcher | None = None,
) -> Release | ClassifierRelease | ViewsRelease:
    """Make a release that keeps every promise; or raise `Infeasible`.

    Parameters
    ----------
    table
        The private table; views of it, which are released as they are if they keep
        every promise; or a classifier: a `NaiveBayes`, its `ClassifierViews`, or a
        fitted `CategoricalNB`.
    promises
        A policy, or promises and measures.
    method
        How to make it safe: `TopDownDisclosure()`, which hides values, by default;
        `Mondrian()`, which makes groups; or `SplitViews()`, which makes two views. For
        a classifier `SafetyTransform()`, or `ExtendedSafetyTransform()` where a promise
        has a prior of its own.
    recipe
        An earlier release's recipe to apply again instead; refused if it breaks a
        promise now.
    max_seconds
        Stop improving the release after this time; what is reached is safe.
    progress, watcher
        Take events of the engine and of the moves; a watcher that returns False stops.

    Examples
    --------
    >>> import privet as pv
    >>> from privet.demo.tables import bank_path
    >>> loans = pv.read(str(bank_path()), quasi=["job", "country", "child"],
    ...                 sensitive="bankruptcy", target="rating", weight="count")
    >>> promise = pv.Promise(against=pv.Linker(knows=["job", "country"]),
    ...                      about={"bankruptcy": "Discharged"},
    ...                      limit=pv.Ceiling("3/4"))
    >>> publish(loans, [promise]).hidden
    {'country': ['Canada', 'UK']}
    """
    if isinstance(table, Views):
        return publish_views(table, promises, progress=progress)
    if not isinstance(table, Table):
        from privet.classifier.publish import publish_classifier

        return publish_classifier(table, promises, method=method, progress=progress)
    policy = policy_of(promises, table.roles)
    table = bound(table, policy)
    run = Run(progress)
    if isinstance(method, SplitViews):
        chosen = method.for_policy(policy.hierarchy_files())
        best = chosen.propose(table, list(policy.promises), run=run)[0]
        return publish_views(best.views, best.settled(policy), progress=progress)
    _refuse_lists(table, policy, run)
    _refuse_several_rows(table)
    limits: dict[str, Any] = {
        "run": run,
        "max_seconds": max_seconds,
        "watcher": watcher,
    }
    if not isinstance(method, Mondrian):
        return publish_hidden(table, policy, method, recipe, **limits)
    if recipe is not None:
        raise InputError(
            "A recipe must be for hidden values to be applied again; groups are made "
            "anew from each delivery. Leave the recipe out."
        )
    return publish_groups(table, policy, method, **limits)


LISTS = (
    "a release is made of one value per person. Make a column of each value, or audit "
    "the table only."
)


def _refuse_lists(table: Table, policy: Policy, run: Run) -> None:
    """Promises are kept value by value, which a column of lists is not made of."""
    judging = [p for p in policy.promises if isinstance(p.against, Linker | Insider)]
    columns = (
        about(p, None if p.about else table.protected(), table)[0] for p in judging
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
