"""Publishing a table in groups: from the promises to a release that keeps them."""

from __future__ import annotations

import warnings

from privet.engine.protocol import Run
from privet.errors import NoAudit
from privet.findings import Audit, Finding, Verdict
from privet.microdata.generalisation.forms import closing, in_form
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.release import Release, judged, refuse_unsafe
from privet.policy import Measure, Policy, Promise
from privet.release.refine import Watcher
from privet.table import Table
from privet.values.adversaries import Insider, Linker

NOT_TOGETHER = (
    "What this release gives away together with an earlier one cannot be told: groups "
    "overlap with whatever was shown before."
)


def publish_groups(
    table: Table,
    policy: Policy,
    method: Mondrian,
    *,
    run: Run,
    max_seconds: float | None,
    watcher: Watcher | None,
) -> Release:
    """Make a release in groups; or raise `Infeasible`."""
    _refuse_nothing_to_judge(policy)
    method = method.for_policy(policy.hierarchy_files())
    prepared = method.prepare(table, policy.promises, policy.measures, run)
    with warnings.catch_warnings():
        before = judged(prepared.as_table(table), policy, run=run)
    partition, refined = method.group(
        table, prepared, max_seconds=max_seconds, watcher=watcher
    )
    grouped = in_form(partition, table, method.form)
    with closing(grouped):
        with warnings.catch_warnings(action="ignore"):  # said once, above
            after = judged(grouped.files[-1].counts, policy, run=run)
        release = Release(
            table=grouped.table,
            policy=policy,
            audit=after,
            method=method.kind,
            steps=refined.steps,
            before=before,
            together=_together(policy),
            ended=refined.ended,
            grouped=grouped,
            origin=table,
        )
        refuse_unsafe(release)
    return release


def _refuse_nothing_to_judge(policy: Policy) -> None:
    seen = [p for p in policy.promises if isinstance(p.against, Linker | Insider)]
    if not seen and not policy.measures:
        kinds = sorted({p.against.kind for p in policy.promises})
        raise NoAudit(
            "A table must have promises against a linker or an insider, or measures, "
            f"to be published in groups; got {', '.join(kinds)}."
        )


def _together(policy: Policy) -> Audit | None:
    """Nothing is known of several releases of which one is in groups."""
    if not policy.earlier:
        return None
    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    return Audit(
        tuple(Finding(p, Verdict.UNDECIDED, note=NOT_TOGETHER) for p in stated)
    )
