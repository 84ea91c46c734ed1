"""Publish views as they are if they keep every promise, or split a table into two."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from privet.engine.protocol import Listener, Run
from privet.errors import Infeasible, InputError
from privet.findings import Basis, Finding, Verdict
from privet.policy import Measure, Policy, Promise, View
from privet.policy.policy import Stated, as_policy
from privet.release.audit import audit as judge
from privet.release.audit import bind_table
from privet.release.budget import refuse_noiseless
from privet.release.history import judge_history
from privet.release.joint.outlines import ReleaseOutline
from privet.table import Table
from privet.values.adversaries import Reconstructor
from privet.views.private_associations import read_private_association
from privet.views.release import Views, ViewsRelease, outline_views
from privet.views.split import SplitViews

FLOOR = (
    "Make the shared columns coarser (bins), or share fewer of them.",
    "Leave the private column, or the one that names people, out of the views.",
    "Let privet propose other views: privet views TABLE -p POLICY --propose.",
)


def publish(
    subject: Table | Views,
    promises: Stated,
    *,
    method: SplitViews | None = None,
    progress: Listener | None = None,
) -> ViewsRelease:
    """Release views as they are; or split a table into two that keep every promise."""
    if isinstance(subject, Views):
        if method is not None:
            raise InputError(
                "method must be left out for views, which are released as they are; "
                f"got {type(method).__name__}. Split the table instead."
            )
        return publish_views(subject, promises, progress=progress)
    policy = as_policy(promises, subject.roles)
    chosen = (method or SplitViews()).for_policy(policy.hierarchy_files())
    found = chosen.propose(
        bind_table(subject, policy), list(policy.promises), run=Run(progress)
    )
    return publish_views(found[0].views, found[0].settled(policy), progress=progress)


def publish_views(
    views: Views,
    promises: Stated,
    *,
    progress: Listener | None = None,
) -> ViewsRelease:
    """Release views as they are, if they keep every promise; else `Infeasible`."""
    policy = as_policy(promises, views.roles)
    if policy is not promises:
        policy = attrs.evolve(policy, views=views.views)
    _refuse_unjudged(policy)
    accepted = policy.accepted or views.accepted
    views = views.bind(bind_table(views.table, policy), accepted)
    named = tuple(_name_columns(p, views) for p in policy.promises)
    policy = attrs.evolve(policy, promises=named)
    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    found = judge(views, stated, progress=progress)
    Run().check()  # what ran out of time was not judged
    broken = [
        f for f in found.findings if f.verdict in (Verdict.BREACH, Verdict.UNDECIDED)
    ]
    if broken:
        reached = broken[0].belief.posterior if broken[0].belief else None
        raise Infeasible(
            f"The views do not keep {broken[0].promise.name!r}. "
            f"{'' if reached is None else f'It comes to {float(reached):.3g}. '}"
            f"{broken[0].note}".strip(),
            promise=broken[0].promise,
            best=reached,
            advice=FLOOR,
        )
    for finding in found.findings:
        if finding.basis is Basis.SAMPLED:
            raise Infeasible(
                f"Views must keep {finding.promise.name!r} by proof to be released; "
                "here only draws of tables say so, and nobody could recount those.",
                promise=finding.promise,
                best=finding.belief.posterior if finding.belief else None,
                advice=FLOOR,
            )
    refuse_noiseless(policy, "Views")
    history = judge_history(outline_views(views), views.table, policy, Run(progress))
    return ViewsRelease(views, policy, found, history=history)


def _name_columns(promise: Promise, views: Views) -> Promise:
    """A promise that names the columns no view shows: files do not tell their roles."""
    if not isinstance(promise.against, Reconstructor):
        return promise
    secret = read_private_association(promise, views)
    columns = secret.person, secret.secret
    if secret.query is not None or all(views.showing(c) for c in columns):
        return promise
    about = {
        c: "*" if values is None else values
        for c, values in zip(columns, (secret.people, secret.values), strict=True)
    }
    return Promise(promise.against, promise.limit, about, promise.name)


def judge_joined(
    table: Table, outlines: Sequence[ReleaseOutline], promise: Promise, run: Run
) -> Finding:
    """Judge a promise on the views of several releases of one table, as one."""
    sets = dict.fromkeys(tuple(sorted(s)) for o in outlines for s in o.sets)
    shown = [View(columns, f"view-{i}") for i, columns in enumerate(sets, 1)]
    return judge(Views(table, *shown), [promise], progress=run.listener).findings[0]


def _refuse_unjudged(policy: Policy) -> None:
    """Files without duplicates cannot be recounted for those who see duplicates."""
    for promise in policy.promises:
        known = promise.against
        if isinstance(known, Reconstructor) and known.model == "bag":
            raise InputError(
                "Views are released without duplicates, so a promise must not be of "
                f"the bag model; {promise.name!r} is. Take another model."
            )
