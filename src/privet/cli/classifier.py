"""The command that publishes a naive Bayes classifier of a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet.cli import terminal
from privet.cli.options import (
    TableArguments,
    places,
    policy_option,
    reads_table,
    replace_option,
)

if TYPE_CHECKING:
    from privet.classifier.publish import ClassifierRelease
    from privet.engine.protocol import Run
    from privet.policy import Policy
    from privet.table import Table

METHODS = (
    "tight",
    "declared",
    "paper",
    "closeness",
    "closeness-declared",
    "closeness-paper",
)


@click.command(short_help="Publish a naive Bayes classifier of a table.")
@policy_option("The policy file (TOML) with a promise against a bayesian.")
@places
@click.option(
    "--target", multiple=True, help="What to predict; repeat it to join columns."
)
@click.option("--attribute", multiple=True, help="Predict from these columns only.")
@click.option("--precedence", multiple=True, help="Classes that win ties, the first.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="How beliefs are flattened; tight unless a promise has a prior of its own.",
)
@click.option(
    "--zeros",
    type=click.Choice(["smooth", "full", "positive+top", "positive"]),
    default="smooth",
    show_default=True,
    help="What becomes of counts of 0.",
)
@click.option("--bits", type=click.IntRange(min=1), help="Publish coarser points.")
@click.option("--epsilon", help="Add noise to the counts first, such as 1.")
@click.option("--margin", help="Move every number at random, such as by 0.1.")
@click.option("--counts", is_flag=True, help="Write exact whole counts, too.")
@click.option("--rows", type=click.IntRange(min=1), help="Write synthetic rows, too.")
@click.option("--views", is_flag=True, help="Write the rows as two-column files.")
@click.option(
    "--only-rows", is_flag=True, help="Publish the rows and their scorecard only."
)
@click.option(
    "--mitigations",
    is_flag=True,
    help="Compare what helps against inversion, and what it costs.",
)
@click.option("--dry-run", is_flag=True, help="Show what it would be; write nothing.")
@replace_option
@reads_table
def classifier(
    asked: TableArguments,
    policy: str,
    output: str | None,
    custody: str | None,
    counts: bool,
    rows: int | None,
    views: bool,
    only_rows: bool,
    mitigations: bool,
    dry_run: bool,
    replace: bool,
    **settings: Any,
) -> None:
    """Publish a classifier of TABLE that predicts as the original and tells less.

    \b
    Examples:
      privet classifier adult.csv -p policy.toml -o out --custody vault
      privet classifier adult.csv -p policy.toml --dry-run --mitigations
      privet classifier adult.csv -p policy.toml -o out --custody vault --epsilon 1
      privet classifier adult.csv -p policy.toml -o out --custody vault --rows 100000

    It predicts the table's target from its quasi columns. The scorecard is read back
    and judged before it appears; the original counts stay in custody. privet verify
    checks a release; with --custody also that every prediction is the original's.

    \b
    Exit codes: 0 released (or would be), 2 wrong use, 3 undecided, 4 infeasible.
    """
    from privet.classifier.report import as_text, compare_release, summary
    from privet.engine.protocol import Run
    from privet.policy import Policy

    if not dry_run and (output is None or custody is None):
        raise click.UsageError("Give -o and --custody, or --dry-run.")
    if (views or only_rows) and not rows:
        flag = "--views" if views else "--only-rows"
        raise click.UsageError(f"{flag} needs --rows: how many rows to write.")
    stated = Policy.load(policy)
    settings["rows"], rows = (rows, None) if only_rows else (None, rows)
    with (
        terminal.gather_warnings() as said,
        asked.open_table(stated) as (table, listener),
    ):
        run = Run.start(listener, asked.max_seconds)
        release = _make_release(table, stated, settings, run)
    told = summary(release)
    if mitigations:
        told["mitigations"] = compare_release(release)
    if not dry_run:
        put = {"folder": str(output), "custody": str(custody)}
        release.write(
            put["folder"],
            custody=put["custody"],
            counts=counts,
            rows=rows,
            views=views,
            replace=replace,
        )
        told |= put
    asked.tell(told, as_text(told))
    terminal.say_notes(said)
    sys.exit(terminal.EXIT[told["verdict"]])


def _make_release(
    table: Table,
    policy: Policy,
    settings: dict[str, Any],
    run: Run,
) -> ClassifierRelease:
    from privet.classifier.count import count_views
    from privet.classifier.publish import publish_classifier
    from privet.release.audit import bind_table
    from privet.release.verify import digest

    meant = bind_table(table, policy)
    views = count_views(
        meant,
        target=settings["target"] or None,
        attributes=settings["attribute"] or None,
        precedence=settings["precedence"] or None,
        smoothing=1 if settings["zeros"] == "smooth" else 0,
        run=run,
    )
    paths = [{"path": p, "sha256": digest(Path(p))} for p in meant.source.paths]
    return publish_classifier(
        views, policy, method=_choose_method(settings), source={"files": paths}
    )


def _choose_method(settings: dict[str, Any]) -> Any:
    from privet.classifier.transforms.extended_safety_transform import (
        ExtendedSafetyTransform,
    )
    from privet.classifier.transforms.safety_transform import SafetyTransform
    from privet.errors import InputError

    name, zeros, bits = (settings[k] for k in ("method", "zeros", "bits"))
    more = {k: settings[k] for k in ("epsilon", "margin", "rows") if settings[k]}
    if name is None and not (more or bits or zeros != "smooth"):
        return None
    if name and name.startswith("closeness"):
        if more:
            flag = "only-rows" if "rows" in more else next(iter(more))
            raise InputError(f"--{flag} must go with tight, declared or paper.")
        rule = "declared" if name.endswith("declared") else "argmax"
        paper = name.endswith("paper")
        return ExtendedSafetyTransform(rule=rule, zeros=zeros, bits=bits, paper=paper)
    return SafetyTransform(mode=name or "tight", zeros=zeros, bits=bits, **more)


def show_inverter(folder: str, custody: str | None, *, as_json: bool) -> None:
    """Attack a published classifier; say how much of it is undone, and what helps."""
    from dataclasses import replace

    from privet.classifier.files import read_custody
    from privet.classifier.publish import ClassifierRelease
    from privet.classifier.report import (
        compare_release,
        format_mitigations,
        inverter_words,
    )
    from privet.release.verify import load

    if custody is None:
        raise click.UsageError(
            "Give --custody: the inverter's guesses are compared with the counts there."
        )
    release, kept = load(folder), read_custody(Path(custody))
    if not isinstance(release, ClassifierRelease):
        raise click.UsageError("--as inverter attacks a published classifier.")
    lines = compare_release(replace(release, private=kept.counts), kept.method)
    told = {"as": "inverter", **lines[0], "mitigations": lines[1:]}
    told["words"] = " ".join(inverter_words(lines[0]))
    if as_json:
        terminal.emit(terminal.as_one_object(told))
    else:
        terminal.emit("\n".join([str(told["words"]), "", *format_mitigations(lines)]))
    sys.exit(0)
