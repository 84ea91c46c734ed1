"""A table that keeps every promise as it is, which every method publishes unchanged."""

from __future__ import annotations

import warnings

from privet.engine.protocol import Run
from privet.findings import Audit, Verdict
from privet.microdata.recipe import UNCHANGED, Recipe
from privet.microdata.release import Release, judge_policy, refuse_unsafe
from privet.microdata.several_releases.outline import judge_release
from privet.policy import Policy
from privet.table import Table


def keeps_all(before: Audit) -> bool:
    """Whether a table keeps every promise and measure without any change."""
    fine = (Verdict.SAFE, Verdict.NOT_APPLICABLE)
    return all(f.verdict in fine for f in before.findings)


def publish_unchanged(
    table: Table, policy: Policy, before: Audit, run: Run, counted: Table | None = None
) -> Release:
    """The release of a table that keeps every promise; `counted`: its rows, at hand."""
    with warnings.catch_warnings(action="ignore"):  # said when it was judged before
        after = judge_policy(counted or table, policy, run=run)
    release = Release(
        _table=table,
        policy=policy,
        audit=after,
        method=UNCHANGED,
        recipe=Recipe(),
        before=before,
    )
    refuse_unsafe(release)
    return judge_release(release, run)
