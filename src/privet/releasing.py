"""The commands that make and check releases: publish and verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet import terminal
from privet.options import (
    common,
    hidden_of,
    opened,
    places,
    rows_meant,
    table_options,
    where_of,
)

if TYPE_CHECKING:
    from privet.policy import Policy
    from privet.publishers import Release
    from privet.table import Table


@click.command(short_help="Make a release that keeps every promise.")
@click.argument("source", metavar="TABLE", type=click.Path())
@click.option(
    "--policy",
    "-p",
    required=True,
    type=click.Path(),
    help="The policy file (TOML); privet init drafts one.",
)
@places
@click.option(
    "--method",
    type=click.Choice(["disclose", "mondrian"]),
    default="disclose",
    show_default=True,
    help="How the table is made safe: disclose hides single values, mondrian makes "
    "groups of people.",
)
@click.option(
    "--form",
    "shape",
    type=click.Choice(["generalised", "buckets"]),
    help="How mondrian shows groups: ranges and sets of values, or two tables.",
)
@click.option(
    "--utility",
    type=click.Choice(["ncp", "information"]),
    help="How mondrian cuts: small ranges, or what tells about the target.",
)
@click.option(
    "--same-cuts",
    is_flag=True,
    help="For mondrian: the same ranges and sets for everybody.",
)
@click.option(
    "--hierarchy",
    multiple=True,
    metavar="COLUMN=FILE",
    help="For mondrian: a column's value hierarchy as ARX writes it; repeat it for "
    "several columns.",
)
@click.option(
    "--suppress",
    metavar="SHARE",
    help="For mondrian: leave out up to this share of the people, such as 0.05, in the "
    "widest groups.",
)
@click.option(
    "--hide",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="For mondrian: a value that no group may name; repeat it for several.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "csv"]),
    help="How the table is written; parquet unless -o ends in .csv.",
)
@click.option(
    "--marker", default="⊥", show_default=True, help="Shown for hidden values."
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
@click.option("--replace", is_flag=True, help="Write over an earlier release.")
@table_options
@common
def publish(
    source: str,
    policy: str,
    output: str | None,
    custody: str | None,
    method: str,
    shape: str | None,
    utility: str | None,
    same_cuts: bool,
    hierarchy: tuple[str, ...],
    suppress: str | None,
    hide: tuple[str, ...],
    form: str | None,
    marker: str,
    keep: tuple[str, ...],
    recipe: str | None,
    dry_run: bool,
    replace: bool,
    where: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    engine: str,  # there is one so far
    max_seconds: float | None,
    **reading: Any,
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
    from privet.policy import Policy
    from privet.report.released import as_text, summary

    if not dry_run and (output is None or custody is None):
        raise click.UsageError("Give -o and --custody, or --dry-run.")
    stated = Policy.load(policy)
    silent = quiet or as_json
    chosen = rows_meant(source, stated, where_of(where), reading)
    options: dict[str, Any] = {"marker": marker, "keep": keep}
    given: dict[str, Any] = {"form": shape, "utility": utility, "suppress": suppress}
    grouping = {k: v for k, v in given.items() if v is not None}
    if same_cuts:
        grouping["same_cuts"] = True
    if hierarchy:
        grouping["hierarchies"] = _files(hierarchy)
    if hide:
        grouping["hide"] = hidden_of(hide)
    if method == "mondrian":
        _refuse_options("mondrian", {"--keep": keep, "--recipe": recipe})
        options = grouping
    else:
        _refuse_options("disclose", {f"--{k}": v for k, v in grouping.items()})
    with (
        terminal.warned() as said,
        opened(source, chosen, reading, silent) as (table, listener),
        terminal.moves(silent) as watcher,
    ):
        chosen_method = _method(method, stated, table, options)
        release = _made(
            table, stated, recipe, chosen_method, max_seconds, listener, watcher
        )
        told = summary(release)
        if not dry_run and release.safe:
            assert output is not None
            assert custody is not None
            release.write(
                output, custody=custody, format=form, replace=replace, progress=listener
            )
            told |= {"folder": output, "custody": custody}
    _tell(told, as_text(told), as_json=as_json, quiet=quiet)
    for note in said:
        terminal.say(f"note: {note}")
    if not stated.signoff and not silent:
        terminal.say(
            "note: The policy has no [signoff]; custody records nobody's name."
        )
    sys.exit(terminal.EXIT[told["verdict"]])


def _files(given: tuple[str, ...]) -> dict[str, str]:
    """Files by column, from COLUMN=FILE."""
    for text in given:
        if not all(text.partition("=")[::2]):
            raise click.BadParameter(
                f"must be COLUMN=FILE; got {text!r}.", param_hint="--hierarchy"
            )
    return {c: file for c, _, file in (text.partition("=") for text in given)}


def _refuse_options(method: str, given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value:
            name = option.replace("hierarchies", "hierarchy").replace("_", "-")
            raise click.UsageError(f"{name} does not go with --method {method}.")


def _method(method: str, policy: Policy, table: Table, options: dict[str, Any]) -> Any:
    from privet.publishers import Mondrian
    from privet.publishers.topdown import method_for

    if method == "mondrian":
        return Mondrian(**options)
    return method_for(policy, table, **options)


def _made(
    table: Table,
    policy: Policy,
    recipe: str | None,
    method: Any,
    max_seconds: float | None,
    listener: Any,
    watcher: Any,
) -> Release:
    from privet.publishers import publish as make
    from privet.releases.recipe import Recipe

    return make(
        table,
        policy,
        method=method,
        recipe=None if recipe is None else Recipe.load(Path(recipe)),
        max_seconds=max_seconds,
        progress=listener,
        watcher=watcher,
    )


def _tell(told: dict[str, Any], text: str, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        terminal.emit(terminal.as_one_object(told))
    elif quiet:
        terminal.emit(told["verdict"])
    else:
        terminal.emit(text)
        if "folder" in told:
            terminal.emit(f"\nReleased: {told['folder']}. Kept: {told['custody']}.")
        terminal.emit(f"\n{told['sensitive']}")


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
    from privet.publishers import verify as check

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
    sys.exit(0 if found.good else terminal.EXIT["breach"])


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
