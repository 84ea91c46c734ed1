"""The commands that make and check releases: publish and verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet.cli import terminal
from privet.cli.answer import Answer, answer_release, command
from privet.cli.options import (
    Places,
    TableArguments,
    combine_options,
    dry_run_option,
    format_option,
    json_option,
    memory_option,
    parse_files,
    parse_hidden,
    policy_option,
    quiet_option,
    reads_table,
    replace_option,
    writes_release,
)

if TYPE_CHECKING:
    from privet.policy import Policy
    from privet.table import Table


MARKER = "⊥"
"""Shown for hidden values unless another text is asked for."""

NO_SIGNOFF = "note: The policy has no [signoff]; custody records nobody's name."

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


@command("Make a release that keeps every promise.")
@policy_option("The policy file (TOML); privet init drafts one.")
@writes_release()
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
@dry_run_option("Show what would be hidden")
@replace_option
@reads_table
def publish(
    asked: TableArguments, to: Places, policy: str, recipe: str | None, **how: Any
) -> Answer:
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

    stated = Policy.load(policy)
    settings = _gather_settings(recipe, **how)
    with (
        asked.open_table(stated) as (table, listener),
        terminal.show_moves() as watcher,
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
        if release.safe:
            told |= to.write(release, format=to.form, progress=listener)
    asides = () if stated.signoff else (NO_SIGNOFF,)
    return answer_release(told, as_text(told), asides)


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


@command("Recount a release from its files alone.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@json_option
@quiet_option("result")
@memory_option
@click.option(
    "--custody",
    type=click.Path(file_okay=False),
    help="The private record: proves that the manifest is the one it was kept for, "
    "and that a classifier predicts as before.",
)
def verify(folder: str, memory_limit: str | None, custody: str | None) -> Answer:
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
    lines = _list_verified(told)
    if found.good and custody is not None:
        lines.append(f"  {_describe_custody(folder)}")
    return Answer(told, "\n".join(lines), verdict=told["verdict"])


def _describe_custody(folder: str) -> str:
    """What the private record proves beyond the recount."""
    from privet.release.kinds import import_kind
    from privet.release.verify import read_manifest

    return f"Custody fits: {import_kind(read_manifest(Path(folder))['kind']).proved}."


def _list_verified(told: dict[str, Any]) -> list[str]:
    safe = ", and safe" if told["audit"] else ""  # a disguise may promise nothing else
    head = f"✓ Verified: the release is what its manifest says{safe}."
    if told["verdict"] == "refused":
        head = "✗ Refused: the release is not what its manifest says, or not safe."
    findings = told["audit"]["findings"] if told["audit"] else ()
    figures = [f"{finding['promise']}: {finding['figures']}" for finding in findings]
    return [head, *(f"  {line}" for line in [*told["problems"], *figures])]
