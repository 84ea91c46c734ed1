"""The command `views`: what published projections of a table give away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from privet.cli.answer import Answer, answer_audit, command, say_released
from privet.cli.options import (
    Places,
    TableArguments,
    format_option,
    language_option,
    ledger_option,
    name_ledger,
    policy_option,
    reads_table,
    replace_option,
    strict_option,
    writes_release,
)
from privet.languages import say

if TYPE_CHECKING:
    from privet.engine.protocol import Listener
    from privet.findings import Audit
    from privet.policy import Policy
    from privet.table import Table
    from privet.views.release import Views


@command("Judge, propose or release views of a table.")
@policy_option("The policy file (TOML); its [[view]] sections declare the views.")
@writes_release()
@format_option(
    "How views are written; parquet unless you say so. Excel, SPSS (sav) and Stata "
    "(dta) need privet[files]."
)
@click.option(
    "--propose", is_flag=True, help="Propose pairs of views that keep every promise."
)
@ledger_option
@replace_option
@strict_option
@language_option
@reads_table
def views(
    asked: TableArguments,
    to: Places,
    policy: str,
    propose: bool,
    strict: bool,
    ledger: str | None,
) -> Answer:
    """Judge the views of TABLE that a policy declares, and release them if asked to.

    \b
    Examples:
      privet views patients.csv -p policy.toml
      privet views patients.csv -p policy.toml -o out --custody vault
      privet views patients.csv -p policy.toml --propose
      privet views patients.csv -p policy.toml --propose -o out --custody vault

    Proposals share columns as they are, in bins, or at a level of the policy's
    [hierarchy] files; with -o the first of them is released. Views are released
    without duplicates and in random order, each in a file of its own; they are read
    back and recounted before they appear. Nothing is proposed or released if a column
    of the table has no role.

    \b
    Exit codes: 0 every promise is kept, 1 one is broken, 2 wrong use,
    3 one could not be decided, 4 infeasible.
    """
    from privet.policy import Policy
    from privet.release.gate import require_decided
    from privet.views.release import Views
    from privet.views.report import list_key_risks

    stated = name_ledger(Policy.load(policy), ledger)
    if propose:
        return _propose(asked, stated, to)
    put = {}
    with asked.open_table(stated) as (table, bar):
        if to.wanted:
            require_decided(table.with_roles(stated.bind(table.schema)).schema)
        found = _judge_views(table, stated, strict, asked.max_seconds, bar)
        if found.safe:
            put = _release(Views(table, *stated.views), stated, to, bar)
    lines = list_key_risks(found)
    if put:
        lines.append(f"\n{say_released(put)}")
    return answer_audit(found, "\n".join(lines) if lines else None)


def _propose(asked: TableArguments, policy: Policy, to: Places) -> Answer:
    """Pairs of views that keep every promise; the first is released if asked for."""
    from privet.engine.protocol import Run
    from privet.release.gate import require_decided
    from privet.views.report import describe_proposal, proposals_as_text
    from privet.views.split import SplitViews

    with asked.open_table(policy) as (table, bar):
        require_decided(table.with_roles(policy.bind(table.schema)).schema)
        run = Run.start(bar, asked.max_seconds)
        found = SplitViews().propose(table, policy, run=run)
        told = [describe_proposal(p) for p in found]
        put = _release(found[0].views, found[0].settled(policy), to, bar)
    places = {"folder": to.output, "custody": to.custody}
    released = say("Released the first: {folder}. Kept: {custody}.", **places)
    return Answer(
        {"proposals": told},
        proposals_as_text(told),
        released if put else None,
        quiet=proposals_as_text(told, brief=True),
    )


def _judge_views(
    table: Table,
    policy: Policy,
    strict: bool,
    max_seconds: float | None,
    bar: Listener | None,
) -> Audit:
    from privet.errors import InputError
    from privet.release.audit import audit
    from privet.views.release import Views

    if not policy.views:
        raise InputError(
            "A policy must declare views to be judged: add [[view]] sections with "
            "columns, or let privet propose some with --propose."
        )
    policy.bind(table.schema)
    shown = Views(table, *policy.views)
    return audit(shown, policy, strict=strict, max_seconds=max_seconds, progress=bar)


def _release(
    shown: Views, policy: Policy, to: Places, bar: Listener | None
) -> dict[str, Any]:
    """Make a release of views if that is asked for; where it is then."""
    from privet.views.publish import publish_views

    if not to.wanted:
        return {}
    release = publish_views(shown, policy, progress=bar)
    return to.write(release, format=to.form, progress=bar)
