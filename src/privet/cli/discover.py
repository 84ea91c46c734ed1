"""The command `discover`: which columns of a table give away what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from privet.cli.answer import Answer, command
from privet.cli.options import (
    TableArguments,
    language_option,
    policy_option,
    reads_table,
)

if TYPE_CHECKING:
    from privet.microdata.discovery.discovery import Discovery

AT_LEAST_1 = click.IntRange(min=1)


@command("Find which columns give away what.")
@policy_option(
    "The policy file (TOML), for the roles of columns; or name them with --about.",
    required=False,
)
@click.option(
    "--about",
    multiple=True,
    metavar="COLUMN[=VALUE]",
    help="What may be given away; repeat it for several. The sensitive columns of the "
    "policy unless you say so; COLUMN= is a missing value.",
)
@click.option(
    "--known",
    multiple=True,
    metavar="COLUMN",
    help="A column somebody may know; repeat it for several. All that are published "
    "and not sensitive unless you say so.",
)
@click.option(
    "--every", is_flag=True, help="Every column may be given away by all others."
)
@click.option(
    "--confidence",
    default="0.5",
    show_default=True,
    help="How sure somebody must be for it to count: surer than this.",
)
@click.option(
    "--columns",
    type=AT_LEAST_1,
    default=3,
    show_default=True,
    help="How many columns somebody knows at the most.",
)
@click.option(
    "--support",
    type=AT_LEAST_1,
    default=1,
    show_default=True,
    help="How many people a group must have.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many rules are shown; --json has all.",
)
@click.option(
    "--by",
    type=click.Choice(["people", "lift"]),
    default="people",
    show_default=True,
    help="Which rules come first: those about most people, or those that tell most "
    "beyond the share in everybody.",
)
@click.option(
    "--toml", is_flag=True, help="Print the rules as promises to paste into a policy."
)
@language_option
@reads_table
def discover(
    asked: TableArguments,
    policy: str | None,
    about: Sequence[str],
    known: Sequence[str],
    top: int,
    by: str,
    toml: bool,
    **sought: Any,
) -> Answer:
    """Find which columns of TABLE give away which values, and how surely.

    \b
    Examples:
      privet discover patients.csv -p policy.toml
      privet discover patients.csv --about illness --columns 2 --support 20
      privet discover patients.csv -p policy.toml --toml --top 5 >> policy.toml

    A rule is a smallest set of columns by which somebody's value is surer than the
    confidence. Values that are as common as that in everybody are listed apart: no
    hiding helps there. Ctrl-C and --max-seconds stop the search with what it found,
    which is final. Nothing is written.

    \b
    Exit codes: 0 every set of columns was looked at, whatever was found, 2 wrong use,
    3 stopped before that.
    """
    from privet.microdata.discovery.discovery import discover as find
    from privet.microdata.discovery.report import RankedRules
    from privet.policy import Policy

    stated = None if policy is None else Policy.load(policy)
    with asked.open_table(stated) as (table, bar):
        found = find(
            table,
            stated,
            about=_read_about(about),
            known=list(known) or None,
            max_seconds=asked.max_seconds,
            progress=bar,
            **sought,
        )
    verdict = "" if found.complete else "undecided"
    return Answer(
        found.to_dict(),
        found.to_toml(top, by=by) if toml else RankedRules(found, top, by),
        verdict=verdict,
        quiet=found.to_toml(top, by=by) if toml else _list_briefly(found, top, by),
    )


def _read_about(given: Sequence[str]) -> dict[str, Any] | None:
    """Columns, or values of some; an empty value is a missing one."""
    found: dict[str, Any] = {}
    for pair in given:
        column, sign, value = pair.partition("=")
        if not sign:
            found[column] = "*"
        elif found.get(column) != "*":
            found.setdefault(column, []).append(value or None)
    return found or None


def _list_briefly(found: Discovery, top: int, by: str) -> str:
    """A line per rule for scripts: people, confidence, columns, column, value."""
    return "\n".join(
        "\t".join(
            [
                str(r.people),
                str(r.confidence),
                ",".join(r.columns),
                r.about,
                "" if r.value is None else r.value,
            ]
        )
        for r in found.rank(by, top)
    )
