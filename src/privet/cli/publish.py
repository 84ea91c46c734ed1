"""The commands that make and check releases: publish and verify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    language_option,
    ledger_option,
    memory_option,
    name_ledger,
    parse_files,
    parse_values,
    policy_option,
    quiet_option,
    reads_table,
    replace_option,
    writes_release,
)
from privet.languages import mark, say, translate

if TYPE_CHECKING:
    from privet.microdata.recipe import Recipe
    from privet.policy import Policy
    from privet.release.kinds import Verification
    from privet.table import Table


MARKER = "⊥"
"""Shown for hidden values unless another text is asked for."""

NO_SIGNOFF = mark("The policy has no [signoff]; custody records nobody's name.")

_grouping = combine_options(
    click.option(
        "--form",
        "shape",
        type=click.Choice(["generalised", "buckets"]),
        help="How mondrian shows groups: ranges and sets of values, or two tables.",
    ),
    click.option(
        "--utility",
        type=click.Choice(["ncp", "information", "distortion"]),
        help="What is worth showing: information about the target; for mondrian also "
        "small ranges (ncp), for disclose as many cells as can be (distortion).",
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
        help="A column's value hierarchy as ARX writes it; repeat it for several "
        "columns. For disclose, auto makes one: COLUMN=auto.",
    ),
    click.option(
        "--suppress",
        metavar="SHARE",
        help="Suppress up to this share of the people, such as 0.05: they show *, and "
        "are one more group. For mondrian by information and in buckets, the widest "
        "groups are left out.",
    ),
    click.option(
        "--hide",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="For mondrian: a value that no group may name; repeat it for several.",
    ),
    click.option(
        "--leave-out",
        is_flag=True,
        help="For full-domain: leave suppressed people out instead of showing *. For "
        "mondrian: leave out the widest groups.",
    ),
    click.option(
        "--weigh",
        multiple=True,
        metavar="COLUMN=NUMBER",
        help="For full-domain: how much a column's precision is worth; 1 unless said.",
    ),
    click.option(
        "--price",
        metavar="NUMBER",
        help="For full-domain and mondrian: what a suppressed person costs, where * in "
        "every column costs 1. Below 1 more is suppressed.",
    ),
)
"""How groups are made."""

_disclosing = combine_options(
    click.option(
        "--paper",
        is_flag=True,
        help="For disclose: the published algorithm to the letter, value by value.",
    ),
    click.option(
        "--split",
        type=click.Choice(["valid", "infogain"]),
        help="For disclose: cut ordered columns at the best place that keeps the "
        "promises, which is usual, or at the most informative one or not at all.",
    ),
    click.option(
        "--weighted/--unweighted",
        default=None,
        help="For disclose: whether gains count by the share of rows they concern; "
        "they do unless --paper.",
    ),
    click.option(
        "--ordered",
        multiple=True,
        metavar="COLUMN",
        help="For disclose: a column that is cut into intervals; repeat it for "
        "several, '' for none. Numbers and dates without bins unless you say so.",
    ),
    click.option(
        "--improve",
        type=click.Choice(["short", "thorough", "no"]),
        help="For disclose: exchange shown values for others in the end: a few times, "
        "which is usual, until none helps or --max-seconds are over, or not.",
    ),
)
"""How values are disclosed."""

SEARCHING = ("paper", "split", "improve", "hierarchies", "keep", "marker")
"""Options of a search, which a recipe does without, or has itself."""

TAKES = {
    "disclose": (
        *("marker", "keep", "recipe", "hidden", "ranges", "utility", "paper", "split"),
        *("weighted", "ordered", "improve", "hierarchies"),
    ),
    "mondrian": (
        *("form", "utility", "same_cuts", "hierarchies", "suppress", "leave_out"),
        *("price", "hide", "hidden", "ranges"),
    ),
    "full-domain": ("hierarchies", "suppress", "leave_out", "weights", "price"),
}
"""The options of each method."""

TAKES["subtrees"] = TAKES["full-domain"]
SPELLED = {"hierarchies": "hierarchy", "weights": "weigh"}
"""Options that are called otherwise in Python."""


@command("Make a release that keeps every promise.")
@policy_option("The policy file (TOML); privet init drafts one.")
@writes_release()
@click.option(
    "--method",
    type=click.Choice(list(TAKES)),
    default="disclose",
    show_default=True,
    help="How the table is made safe: disclose hides single values, mondrian makes "
    "groups of people, full-domain shows each column at one level of its hierarchy, "
    "subtrees each branch at its own.",
)
@_grouping
@_disclosing
@format_option(
    "How the table is written; parquet unless the ending of -o says otherwise. "
    "Excel, SPSS (sav) and Stata (dta) need privet[files]."
)
@click.option(
    "--marker", default=MARKER, show_default=True, help="Shown for hidden values."
)
@click.option(
    "--hidden",
    type=click.Choice(["marker", "null"]),
    help="How hidden cells are written: as the marker (mondrian: *), which is usual, "
    "or as nothing, like missing values; then a column keeps its type.",
)
@click.option(
    "--ranges",
    type=click.Choice(["labels", "columns"]),
    help="How ranges of numbers and dates are written: as texts, which is usual, or as "
    "two columns with their ends, such as age_from and age_to.",
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Never hide its values.")
@click.option(
    "--recipe",
    type=click.Path(exists=True, dir_okay=False),
    help="Start from an earlier release's recipe.json, and hide more where that is "
    "needed, instead of searching.",
)
@click.option(
    "--since",
    type=click.Path(),
    help="With --recipe: the table of that release; the one its custody names unless "
    "you say so.",
)
@click.option(
    "--hold-back",
    is_flag=True,
    help="With --recipe: hide no more, but hold new rows back until enough have come.",
)
@click.option(
    "--no-utility",
    "unmeasured",
    is_flag=True,
    help="Do not tell, in numbers, what the release keeps of the table.",
)
@dry_run_option("Show what would be hidden")
@ledger_option
@replace_option
@language_option
@reads_table
def publish(
    asked: TableArguments,
    to: Places,
    policy: str,
    recipe: str | None,
    since: str | None,
    hold_back: bool,
    unmeasured: bool,
    ledger: str | None,
    **how: Any,
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
      privet publish may.csv -p policy.toml -o may --custody vault-may \\
          --recipe vault/recipe.json --hold-back
      privet publish loans.csv -p policy.toml -o out --custody vault \\
          --ranges columns --hidden null

    The release is read back and recounted before it appears. --max-seconds stops the
    search with what is safe so far, in time to write it. Nothing is written after
    Ctrl-C, or if that time is over, or if a promise cannot be kept, or a column of the
    table has no role.

    \b
    Exit codes: 0 released (or would be), 1 broken together with earlier releases,
    2 wrong use, 3 undecided or not covered, 4 infeasible.
    """
    from privet.microdata.report import as_text, summarise_release
    from privet.policy import Policy
    from privet.release.gate import require_decided
    from privet.release.publish import publish as make

    stated = _name_earlier(name_ledger(Policy.load(policy), ledger), recipe)
    if recipe is None and (since or hold_back):
        raise click.UsageError("--since and --hold-back go with --recipe.")
    settings = _gather_settings(recipe, **how)
    with (
        asked.open_table(stated) as (table, listener),
        _open_delivery(asked, table, recipe, since, hold_back) as before,
    ):
        require_decided(table.with_roles(stated.bind(table.schema)).schema)
        release = make(
            table,
            stated,
            method=_choose_method(how["method"], stated, table, settings),
            recipe=_load_recipe(recipe, how["hidden"], how["ranges"]),
            since=before,
            hold_back=hold_back,
            utility=not unmeasured,
            progress=listener,
            watcher=None if listener is None else listener.watch,
        )
        told = summarise_release(release)
        if release.safe:
            told |= to.write(release, format=to.form, progress=listener)
    no_name = f"{translate(terminal.NOTE)} {translate(NO_SIGNOFF)}"
    asides = () if stated.signoff else (no_name,)
    return answer_release(told, as_text(told), asides)


@contextmanager
def _open_delivery(
    asked: TableArguments,
    table: Table,
    recipe: str | None,
    since: str | None,
    hold_back: bool,
) -> Iterator[Table | None]:
    """The table of the earlier delivery, where it is named or still where it was."""
    from privet.release.named_custody import find_delivery

    if recipe is None:
        yield None
        return
    found = since or find_delivery(Path(recipe).parent, table)
    if found is None:
        if hold_back:
            raise click.UsageError(
                "Give --since: the table of the earlier release is not where its "
                "custody says, or was changed."
            )
        yield None
        return
    with asked.open_other(found, table) as before:
        yield before


def _name_earlier(policy: Policy, recipe: str | None) -> Policy:
    """The policy with the release whose recipe is applied, where its custody is."""
    from attrs import evolve

    from privet.release.verify import CUSTODY

    if recipe is None or not (Path(recipe).parent / CUSTODY).is_file():
        return policy
    folder = Path(recipe).resolve().parent
    if folder in {c.resolve() for c in policy.custodies()}:
        return policy
    return evolve(policy, earlier=(*policy.earlier, str(folder)))


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
    weigh: tuple[str, ...],
    ordered: tuple[str, ...],
    weighted: bool | None,
    **others: Any,
) -> dict[str, Any]:
    """The options of one method; those of the others must not be given."""
    asked = {
        "form": shape,
        **others,
        "same_cuts": same_cuts,
        "hierarchies": parse_files(hierarchy, "--hierarchy"),
        "hide": parse_values(hide, "--hide"),
        "weights": _parse_weights(weigh),
        "marker": None if marker == MARKER else marker,
        "keep": keep,
        "recipe": recipe,
    }
    given = {k: v for k, v in asked.items() if v not in (None, False, {}, ())}
    if weighted is not None:
        given["weighted"] = weighted
    if ordered:
        given["ordered"] = tuple(c for c in ordered if c)
    for key in given:
        if key not in TAKES[method]:
            name = SPELLED.get(key, key).replace("_", "-")
            raise click.UsageError(f"--{name} does not go with --method {method}.")
        if recipe is not None and key in SEARCHING:
            name = SPELLED.get(key, key)
            raise click.UsageError(f"--{name} does not go with --recipe.")
    _refuse_idle(given)
    given.pop("recipe", None)
    return given


def _refuse_idle(given: Mapping[str, Any]) -> None:
    """Nothing that is asked for may be without effect."""
    for key in ("leave_out", "price"):
        if key in given and "suppress" not in given:
            name = key.replace("_", "-")
            raise click.UsageError(
                f"--{name} must go with --suppress: nobody is suppressed without it."
            )
    if "paper" not in given:
        return
    for key, own in (("split", "infogain"), ("improve", "no")):
        if given.get(key, own) != own:
            raise click.UsageError(
                f"--{key} must be {own} with --paper, whose algorithm has no other; "
                f"got {given[key]}."
            )


def _parse_weights(weigh: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for given in weigh:
        column, sign, number = given.rpartition("=")
        if not sign or not column:
            raise click.UsageError(f"--weigh must be COLUMN=NUMBER; got {given!r}.")
        found[column] = number
    return found


def _list_written(hidden: str | None, ranges: str | None) -> dict[str, str]:
    """How cells are written, as far as that was asked for."""
    given = {"hidden": hidden, "ranges": ranges}
    return {key: value for key, value in given.items() if value is not None}


def _load_recipe(
    recipe: str | None, hidden: str | None, ranges: str | None
) -> Recipe | None:
    """An earlier recipe, whose cells may be written otherwise now."""
    from dataclasses import replace

    from privet.microdata.recipe import Recipe

    if recipe is None:
        return None
    written: dict[str, Any] = _list_written(hidden, ranges)
    return replace(Recipe.load(Path(recipe)), **written)


def _choose_method(
    method: str, policy: Policy, table: Table, options: dict[str, Any]
) -> Any:
    from privet.microdata.generalisation.publish import Mondrian
    from privet.microdata.suppression.publish import choose_method

    if method == "mondrian":
        return Mondrian(**options)
    if method in ("full-domain", "subtrees"):
        from privet.microdata.full_domain.publish import FullDomain

        return FullDomain(subtrees=method == "subtrees", **options)
    return choose_method(policy, table, **options)


@command("Recount a release from its files alone.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@json_option
@quiet_option("result")
@language_option
@memory_option
@click.option(
    "--custody",
    type=click.Path(file_okay=False),
    help="The private record: proves that the manifest is the one it was kept for, "
    "and that a classifier predicts as before.",
)
@click.option(
    "--signed-by",
    multiple=True,
    metavar="PUBLIC",
    type=click.Path(),
    help="A public key that you have from its owner; one of those you name must have "
    "signed the release.",
)
def verify(
    folder: str,
    memory_limit: str | None,
    custody: str | None,
    signed_by: tuple[str, ...],
) -> Answer:
    """Check the release in FOLDER as a recipient would: files, promises, signature.

    \b
    Examples:
      privet verify out
      privet verify out --signed-by registry.pub
      privet verify out --custody vault

    Nothing in FOLDER is believed. It must hold the files that the manifest lists and
    nothing else, and every promise and sentence is worked out again from them. Whose
    release it is only a signature tells. Who holds the private record can also tell
    whether the manifest was changed.

    \b
    Exit codes: 0 as the manifest says, 1 not, 2 wrong use, 3 as it says, but a promise
    cannot be recounted without the private table.
    """
    from privet.release.integrity.report import describe_signature
    from privet.release.verify import verify as check

    found = check(
        folder, custody=custody, signed_by=signed_by, memory_limit=memory_limit
    )
    told: dict[str, Any] = {
        "verdict": _call_verification(found),
        "problems": list(found.problems),
        "audit": found.audit.to_dict() if found.audit else None,
        "signature": found.signature.to_dict() if found.signature else None,
    }
    lines = _list_verified(told)
    if found.good and custody is not None:
        lines.append(f"  {_describe_custody(folder)}")
    lines.append(describe_signature(found.signature))
    return Answer(told, "\n".join(lines), verdict=told["verdict"])


def _call_verification(found: Verification) -> str:
    """What a recipient may call a release."""
    if found.good:
        return "verified"
    return "undecided" if found.open else "refused"


def _describe_custody(folder: str) -> str:
    """What the private record proves beyond the recount."""
    from privet.release.kinds import import_kind
    from privet.release.verify import read_manifest

    kind = import_kind(read_manifest(Path(folder))["kind"])
    return say("Custody fits: {proved}.", proved=translate(kind.proved))


def _list_verified(told: dict[str, Any]) -> list[str]:
    head = say("✓ Verified: the release is what its manifest says, and safe.")
    if not told["audit"]:  # a disguise may promise nothing else
        head = say("✓ Verified: the release is what its manifest says.")
    if told["verdict"] == "refused":
        head = say("✗ Refused: the release is not what its manifest says, or not safe.")
    elif told["verdict"] == "undecided":
        head = say(
            "? Undecided: the release is what its manifest says, but not "
            "every promise can be recounted from it."
        )
    findings = told["audit"]["findings"] if told["audit"] else ()
    figures = [f"{f['promise']}: {_say_figures(f)}" for f in findings]
    exposed = (told["audit"] or {}).get("exposure") or {"words": ()}
    lines = [*told["problems"], *figures, *exposed["words"]]
    return [head, *(f"  {line}" for line in lines)]


def _say_figures(finding: dict[str, Any]) -> str:
    """The figures of a finding; of answers also whom they are true of."""
    told = finding["figures"] or finding["words"]
    if finding["verdict"] == "undecided":  # what was not counted has no figures
        told = finding["words"]
    if told == finding["words"] or "alone" not in finding["details"]:
        return str(told)
    return f"{told} {finding['words']}"
