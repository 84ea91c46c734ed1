"""The commands that make and check releases: publish and verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet.cli import terminal
from privet.cli.options import (
    TableArguments,
    combine_options,
    format_option,
    parse_files,
    parse_hidden,
    places,
    policy_option,
    reads_table,
    replace_option,
)

if TYPE_CHECKING:
    from privet.policy import Policy
    from privet.table import Table


MARKER = "⊥"
"""Shown for hidden values unless another text is asked for."""

NO_SIGNOFF = "The policy has no [signoff]; custody records nobody's name."

_grouping = combine_options(
    click.option(
        "--form",
        "shape",
        type=click.Choice(["generalised", "buckets"]),
        help="How mondrian shows groups: ranges and sets of values, or two tables.",
    ),
    click.option(
        "--utility",
        type=click.Choice(["ncp", "information"]),
        help="How mondrian cuts: small ranges, or what tells about the target.",
    ),
    click.option(
        "--same-cuts",
        is_flag=True,
        help="For mondrian: the same ranges and sets for everybody.",
    ),
    click.option(
        "--hierarchy",
        multiple=True,
        metavar="COLUMN=FILE",
        help="For mondrian: a column's value hierarchy as ARX writes it; repeat it for "
        "several columns.",
    ),
    click.option(
        "--suppress",
        metavar="SHARE",
        help="For mondrian: leave out up to this share of the people, such as 0.05, in "
        "the widest groups.",
    ),
    click.option(
        "--hide",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="For mondrian: a value that no group may name; repeat it for several.",
    ),
)
"""How Mondrian makes groups."""


@click.command(short_help="Make a release that keeps every promise.")
@policy_option("The policy file (TOML); privet init drafts one.")
@places
@click.option(
    "--method",
    type=click.Choice(["disclose", "mondrian"]),
    default="disclose",
    show_default=True,
    help="How the table is made safe: disclose hides single values, mondrian makes "
    "groups of people.",
)
@_grouping
@format_option("How the table is written; parquet unless -o ends in .csv.")
@click.option(
    "--marker", default=MARKER, show_default=True, help="Shown for hidden values."
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Never hide its values.")
@click.option(
    "--recipe",
    type=click.Path(exists=True, dir_okay=False),
    help="Apply an earlier release's recipe.json again instead of searching.",
)
@click.option(
    "--dry-run", is_flag=True, help="Show what would be hidden; write nothing."
)
@replace_option
@reads_table
def publish(
    asked: TableArguments,
    policy: str,
    output: str | None,
    custody: str | None,
    form: str | None,
    recipe: str | None,
    dry_run: bool,
    replace: bool,
    **how: Any,
) -> None:
    """Publish TABLE with values hidden, or people grouped, so that every promise of
    the policy holds.

    \b
    Examples:
      privet publish loans.csv -p policy.toml -o out --custody vault
      privet publish loans.csv -p policy.toml --dry-run
      privet publish loans.csv -p policy.toml -o out --custody vault \\
          --method mondrian --hierarchy job=jobs.csv
      privet publish may.csv -p policy.toml -o may --custody vault-may \\
          --recipe vault/recipe.json

    The release is read back and recounted before it appears. Ctrl-C and
    --max-seconds stop the search with what is safe so far. Nothing is written if
    a promise cannot be kept.

    \b
    Exit codes: 0 released (or would be), 2 wrong use, 3 undecided, 4 infeasible.
    """
    from privet.microdata.recipe import Recipe
    from privet.microdata.report import as_text, summarise_release
    from privet.policy import Policy
    from privet.release.publish import publish as make

    if not dry_run and (output is None or custody is None):
        raise click.UsageError("Give -o and --custody, or --dry-run.")
    stated = Policy.load(policy)
    settings = _gather_settings(recipe, **how)
    with (
        terminal.gather_warnings() as said,
        asked.open_table(stated) as (table, listener),
        terminal.show_moves(asked.silent) as watcher,
    ):
        release = make(
            table,
            stated,
            method=_choose_method(how["method"], stated, table, settings),
            recipe=None if recipe is None else Recipe.load(Path(recipe)),
            max_seconds=asked.max_seconds,
            progress=listener,
            watcher=watcher,
        )
        told = summarise_release(release)
        if not dry_run and release.safe:
            put = {"folder": str(output), "custody": str(custody)}
            release.write(
                put["folder"],
                custody=put["custody"],
                format=form,
                replace=replace,
                progress=listener,
            )
            told |= put
    asked.tell(told, as_text(told))
    terminal.say_notes(said)
    if not stated.signoff and not asked.silent:
        terminal.say_notes([NO_SIGNOFF])
    sys.exit(terminal.EXIT[told["verdict"]])


def _gather_settings(
    recipe: str | None,
    *,
    method: str,
    marker: str,
    keep: tuple[str, ...],
    shape: str | None,
    same_cuts: bool,
    hierarchy: tuple[str, ...],
    hide: tuple[str, ...],
    **others: Any,
) -> dict[str, Any]:
    """The options of one method; those of the other must not be given."""
    grouping = {
        "form": shape,
        **others,
        "same_cuts": same_cuts,
        "hierarchies": parse_files(hierarchy, "--hierarchy"),
        "hide": parse_hidden(hide),
    }
    given = {k: v for k, v in grouping.items() if v not in (None, False, {})}
    if method == "mondrian":
        others = {"--keep": keep, "--recipe": recipe, "--marker": marker != MARKER}
        _refuse_options(method, others)
        return given
    _refuse_options(method, {f"--{key}": value for key, value in given.items()})
    return {"marker": marker, "keep": keep}


def _refuse_options(method: str, given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value:
            name = option.replace("hierarchies", "hierarchy").replace("_", "-")
            raise click.UsageError(f"{name} does not go with --method {method}.")


def _choose_method(
    method: str, policy: Policy, table: Table, options: dict[str, Any]
) -> Any:
    from privet.microdata.generalisation.publish import Mondrian
    from privet.microdata.suppression.publish import choose_method

    if method == "mondrian":
        return Mondrian(**options)
    return choose_method(policy, table, **options)


@click.command(short_help="Recount a release from its files alone.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", "-q", is_flag=True, help="Print the result only.")
@click.option("--memory-limit", metavar="SIZE", help="Such as 4GB.")
@click.option(
    "--custody",
    type=click.Path(file_okay=False),
    help="The private record: proves that the manifest is the one it was kept for, "
    "and that a classifier predicts as before.",
)
def verify(
    folder: str,
    as_json: bool,
    quiet: bool,
    memory_limit: str | None,
    custody: str | None,
) -> None:
    """Check the release in FOLDER as a recipient would: digests and promises.

    \b
    Examples:
      privet verify out
      privet verify out --custody vault

    Every promise of the manifest is counted again from the released file. Who
    holds the private record can also tell whether the manifest was changed.

    \b
    Exit codes: 0 as the manifest says, 1 not, 2 wrong use.
    """
    from privet.release.verify import verify as check

    found = check(folder, custody=custody, memory_limit=memory_limit)
    told: dict[str, Any] = {
        "verdict": "verified" if found.good else "refused",
        "problems": list(found.problems),
        "audit": found.audit.to_dict() if found.audit else None,
    }
    if as_json:
        terminal.emit(terminal.as_one_object(told))
    elif quiet:
        terminal.emit(told["verdict"])
    else:
        _show_verification(found.good, told)
        if found.good and custody is not None:
            terminal.emit(f"  {_describe_custody(folder)}")
    sys.exit(0 if found.good else terminal.EXIT["breach"])


def _describe_custody(folder: str) -> str:
    """What the private record proves beyond the recount."""
    from privet.release.kinds import import_kind
    from privet.release.verify import read_manifest

    return f"Custody fits: {import_kind(read_manifest(Path(folder))['kind']).proved}."


def _show_verification(good: bool, told: dict[str, Any]) -> None:
    safe = ", and safe" if told["audit"] else ""  # a disguise may promise nothing else
    head = f"✓ Verified: the release is what its manifest says{safe}."
    if not good:
        head = "✗ Refused: the release is not what its manifest says, or not safe."
    terminal.emit(head)
    for problem in told["problems"]:
        terminal.emit(f"  {problem}")
    for finding in told["audit"]["findings"] if told["audit"] else ():
        terminal.emit(f"  {finding['promise']}: {finding['figures']}")
