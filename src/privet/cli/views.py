"""The command `views`: what published projections of a table give away."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from privet.cli import terminal
from privet.cli.options import (
    TableArguments,
    format_option,
    places,
    policy_option,
    reads_table,
    replace_option,
)

if TYPE_CHECKING:
    from privet.engine.protocol import Listener
    from privet.findings import Audit
    from privet.policy import Policy
    from privet.table import Table
    from privet.views.release import Views
    from privet.views.split import Proposal


MOST_KEYS = 5
"""Keys that are listed in a terminal."""


@click.command(short_help="Judge, propose or release views of a table.")
@policy_option("The policy file (TOML); its [[view]] sections declare the views.")
@places
@format_option("How views are written; parquet unless you say so.")
@click.option(
    "--propose", is_flag=True, help="Propose pairs of views that keep every promise."
)
@replace_option
@click.option("--strict", is_flag=True, help="A value that never occurs is an error.")
@reads_table
def views(
    asked: TableArguments,
    policy: str,
    output: str | None,
    custody: str | None,
    form: str | None,
    propose: bool,
    replace: bool,
    strict: bool,
) -> None:
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
    back and recounted before they appear.

    \b
    Exit codes: 0 every promise is kept, 1 one is broken, 2 wrong use,
    3 one could not be decided, 4 infeasible.
    """
    from privet.policy import Policy
    from privet.views.release import Views

    if (output is None) != (custody is None):
        raise click.UsageError("Give -o and --custody together.")
    stated = Policy.load(policy)
    release = None
    if output is not None:
        release = partial(
            _release, output=output, custody=str(custody), form=form, replace=replace
        )
    if propose:
        _propose(asked, stated, release)
        if output is not None and not asked.silent:
            terminal.emit(f"Released the first: {output}. Kept: {custody}.")
        return
    with terminal.gather_warnings() as said, asked.open_table(stated) as (table, bar):
        found = _judge_views(table, stated, strict, asked.max_seconds, bar)
        if release is not None and found.safe:
            release(Views(table, *stated.views), stated, bar)
    terminal.show(found, as_json=asked.as_json, quiet=asked.quiet)
    if not asked.silent:
        _show_details(found)
        if output is not None and found.safe:
            terminal.emit(f"\nReleased: {output}. Kept: {custody}.")
    asked.say_notes(said, found.notes)
    sys.exit(terminal.EXIT[found.verdict])


def _propose(asked: TableArguments, policy: Policy, release: Any) -> None:
    """Show pairs of views that keep every promise; release the first if asked to."""
    from privet.engine.protocol import Run
    from privet.views.split import SplitViews

    with terminal.gather_warnings(), asked.open_table(policy) as (table, bar):
        found = SplitViews().propose(table, policy, run=Run(bar))
        told = [_describe_proposal(p) for p in found]
        if release is not None:
            release(found[0].views, found[0].settled(policy), bar)
    _show_proposals(told, as_json=asked.as_json, quiet=asked.quiet)


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
    shown: Views,
    policy: Policy,
    bar: Listener | None,
    *,
    output: str,
    custody: str,
    form: str | None,
    replace: bool,
) -> None:
    from privet.views.publish import publish_views

    release = publish_views(shown, policy, progress=bar)
    release.write(output, custody=custody, format=form, replace=replace, progress=bar)


def _show_details(found: Audit) -> None:
    """How risk is spread over the keys, where every association was judged."""
    for finding in found.findings:
        if "histogram" not in (details := finding.details):
            continue
        terminal.emit(f"\nHow sure one can be, by key ({finding.promise.name}):")
        for part in details["histogram"]:
            if part["keys"]:
                terminal.emit(
                    f"  {part['from']:>6} and more: {_spell(part['keys'], 'key')}, "
                    f"{_spell(part['associations'], 'association')}"
                )
        terminal.emit(
            f"  people in several keys: {details['people_in_several_keys']:,}"
        )
        _show_keys(details["worst_keys"][:MOST_KEYS])


def _show_keys(keys: list[dict[str, Any]]) -> None:
    """The keys in which most is given away."""
    terminal.emit("Keys to look at first:")
    for key in keys:
        named = [f"{c} {'missing' if v is None else v}" for c, v in key["key"].items()]
        restricted = key["restricted"] or "refuted"
        terminal.emit(
            f"  {', '.join(named) or 'everybody'}: "
            f"{_spell(key['people'], 'person', 'people')}, "
            f"{_spell(key['values'], 'value')}; one row per person: {restricted}"
        )


def _describe_proposal(proposal: Proposal) -> dict[str, Any]:
    worst = proposal.audit.worst.belief
    return {
        "views": [list(v.columns) for v in proposal.views.views],
        "bins": {c: b.to_list() for c, b in proposal.bins.items()},
        "levels": dict(proposal.levels),
        "kept": str(proposal.kept),
        "worst": str(worst.posterior) if worst else "",
    }


def _show_proposals(told: list[dict[str, Any]], *, as_json: bool, quiet: bool) -> None:
    from fractions import Fraction

    from privet.values.exact import percent

    if as_json:
        terminal.emit(terminal.as_one_object({"proposals": told}))
        return
    for i, proposal in enumerate(told, 1):
        kept = percent(Fraction(proposal["kept"]))
        if not quiet:
            worst = percent(Fraction(proposal["worst"] or 0))
            terminal.emit(f"# {i}. keeps {kept} of the pairs of columns; worst {worst}")
        for columns in proposal["views"]:
            listed = ", ".join(map(_quoted, columns))
            terminal.emit(f"[[view]]\ncolumns = [{listed}]")
        for column, level in proposal["levels"].items():
            terminal.emit(f"# {column} at level {level} of its hierarchy")
        if proposal["bins"]:
            terminal.emit("[bins]")
            for column, edges in proposal["bins"].items():
                terminal.emit(f"{_quoted(column)} = [{', '.join(edges)}]")
        terminal.emit("")


def _spell(number: int, one: str, more: str = "") -> str:
    """So many things.

    >>> _spell(1, "key"), _spell(2000, "person", "people")
    ('1 key', '2,000 people')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def _quoted(name: str) -> str:
    """A column's name as TOML writes it."""
    return json.dumps(name, ensure_ascii=False)
