"""Publish views as they are if they keep every promise, or split a table into two."""

from __future__ import annotations

import attrs

from privet.engine.protocol import Listener, Run
from privet.errors import Infeasible, InputError
from privet.findings import Basis, Verdict
from privet.policy import Policy
from privet.policy.policy import Stated, as_policy
from privet.release.audit import audit as judge
from privet.release.audit import bind_table
from privet.table import Table
from privet.values.adversaries import Reconstructor
from privet.views.release import Views, ViewsRelease
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
    views = Views(bind_table(views.table, policy), *views.views)
    found = judge(views, [*policy.promises, *policy.measures], progress=progress)
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
    return ViewsRelease(views, policy, found)


def _refuse_unjudged(policy: Policy) -> None:
    """Files without duplicates cannot be recounted for those who see duplicates."""
    for promise in policy.promises:
        known = promise.against
        if isinstance(known, Reconstructor) and known.model == "bag":
            raise InputError(
                "Views are released without duplicates, so a promise must not be of "
                f"the bag model; {promise.name!r} is. Take another model."
            )
