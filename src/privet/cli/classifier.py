"""The command that publishes a naive Bayes classifier of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet.cli.answer import Answer, answer_release, command
from privet.cli.options import (
    Places,
    TableArguments,
    combine_options,
    dry_run_option,
    language_option,
    ledger_option,
    name_ledger,
    policy_option,
    reads_table,
    replace_option,
    writes_release,
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


_counting = combine_options(
    click.option(
        "--target", multiple=True, help="What to predict; repeat it to join columns."
    ),
    click.option("--attribute", multiple=True, help="Predict from these columns only."),
    click.option(
        "--precedence", multiple=True, help="Classes that win ties, the first."
    ),
    click.option(
        "--drop-missing-target",
        is_flag=True,
        help="Leave out rows without a value of the target; how many is told.",
    ),
)
"""What is predicted, and from what."""

_flattening = combine_options(
    click.option(
        "--method",
        type=click.Choice(METHODS),
        help="How beliefs are flattened; tight unless a promise has a prior of its "
        "own.",
    ),
    click.option(
        "--zeros",
        type=click.Choice(["smooth", "full", "positive+top", "positive"]),
        default="smooth",
        show_default=True,
        help="What becomes of counts of 0.",
    ),
    click.option(
        "--step",
        type=click.IntRange(min=1),
        help="Predict so many classes only, the likeliest beforehand; with closeness.",
    ),
    click.option("--bits", type=click.IntRange(min=1), help="Publish coarser points."),
    click.option("--epsilon", help="Add noise to the counts first, such as 1."),
    click.option("--delta", help="With --epsilon: but for this chance, such as 1e-6."),
    click.option("--rho", help="Add noise with a zero-concentrated loss instead."),
    click.option("--margin", help="Move every number at random, such as by 0.1."),
)
"""How the classifier is made safe."""

_extras = combine_options(
    click.option("--counts", is_flag=True, help="Write exact whole counts, too."),
    click.option(
        "--rows", type=click.IntRange(min=1), help="Write synthetic rows, too."
    ),
    click.option("--views", is_flag=True, help="Write the rows as two-column files."),
    click.option(
        "--only-rows", is_flag=True, help="Publish the rows and their scorecard only."
    ),
)
"""What is written besides the scorecard."""


@command("Publish a naive Bayes classifier of a table.")
@policy_option("The policy file (TOML) with a promise against a bayesian.")
@writes_release()
@_counting
@_flattening
@_extras
@click.option(
    "--mitigations",
    is_flag=True,
    help="Compare what helps against inversion, and what it costs.",
)
@dry_run_option("Show what it would be")
@ledger_option
@replace_option
@language_option
@reads_table
def classifier(
    asked: TableArguments,
    to: Places,
    policy: str,
    mitigations: bool,
    ledger: str | None,
    **settings: Any,
) -> Answer:
    """Publish a classifier of TABLE that predicts as the original and tells less.

    \b
    Examples:
      privet classifier adult.csv -p policy.toml -o out --custody vault
      privet classifier adult.csv -p policy.toml --dry-run --mitigations
      privet classifier adult.csv -p policy.toml -o out --custody vault --epsilon 1
      privet classifier adult.csv -p policy.toml --dry-run --epsilon 1 --delta 1e-6
      privet classifier adult.csv -p policy.toml -o out --custody vault --rows 100000

    It predicts the table's target from its quasi columns. The scorecard is read back
    and judged before it appears; the original counts stay in custody. With noise,
    values are declared in the policy's [domain], or selected with some of epsilon and
    delta; what is published, or refused, then depends on noisy counts only. Nothing is
    written if a column of the table has no role. privet verify checks a release; with
    --custody also that every prediction is the original's.

    \b
    Exit codes: 0 released (or would be), 1 broken together with earlier releases,
    2 wrong use, 3 undecided, 4 infeasible, or the privacy budget is spent.
    """
    from privet.classifier.report import as_text, compare_release, summary
    from privet.engine.protocol import Run
    from privet.policy import Policy

    extras = _take_extras(settings)
    stated = _ask_noise(name_ledger(Policy.load(policy), ledger), settings)
    with asked.open_table(stated) as (table, listener):
        run = Run.start(listener, asked.max_seconds)
        release = _make_release(table, stated, settings, run)
        told = summary(release)
        if mitigations:
            told["mitigations"] = compare_release(release)
        if release.safe:
            told |= to.write(release, **extras)
    return answer_release(told, as_text(told))


def _ask_noise(policy: Policy, settings: dict[str, Any]) -> Policy:
    """The policy with the noise that was asked for on the command line."""
    from attrs import evolve

    from privet.values.noise.differential_privacy import DifferentialPrivacy

    names = ("epsilon", "delta", "rho")
    given = {k: v for k in names if (v := settings.pop(k)) is not None}
    if not given:
        return policy
    if policy.privacy is None:
        return evolve(policy, privacy=DifferentialPrivacy(**given))
    if "epsilon" in given or "rho" in given:
        given = {"epsilon": None, "rho": None, **given}
    return evolve(policy, privacy=evolve(policy.privacy, **given))


def _take_extras(settings: dict[str, Any]) -> dict[str, Any]:
    """What is written besides; rows that are all that is published are a setting."""
    extras = {key: settings.pop(key) for key in ("counts", "rows", "views")}
    only_rows = settings.pop("only_rows")
    if (extras["views"] or only_rows) and not extras["rows"]:
        flag = "--views" if extras["views"] else "--only-rows"
        raise click.UsageError(f"{flag} needs --rows: how many rows to write.")
    settings["rows"] = extras["rows"] if only_rows else None
    return extras | {"rows": None} if only_rows else extras


def _make_release(
    table: Table, policy: Policy, settings: dict[str, Any], run: Run
) -> ClassifierRelease:
    """Count first: what is wrong with the table is said before what cannot be made."""
    from privet.classifier.count import count_views
    from privet.classifier.publish import publish_classifier
    from privet.release.audit import bind_table
    from privet.release.custody_record import digest_files
    from privet.release.gate import require_decided

    bound = bind_table(table, policy)
    require_decided(bound.schema)
    views = count_views(
        bound,
        target=settings["target"] or None,
        attributes=settings["attribute"] or None,
        precedence=settings["precedence"] or None,
        smoothing=1 if settings["zeros"] == "smooth" else 0,
        drop_missing_target=settings["drop_missing_target"],
        privacy=policy.privacy,
        run=run,
    )
    source = {"files": digest_files(bound)}
    return publish_classifier(
        views, policy, method=_choose_method(settings), source=source, table=bound
    )


def _choose_method(settings: dict[str, Any]) -> Any:
    from privet.classifier.transforms.extended_safety_transform import (
        ExtendedSafetyTransform,
    )
    from privet.classifier.transforms.safety_transform import SafetyTransform
    from privet.errors import InputError

    name, zeros, bits, step = (settings[k] for k in ("method", "zeros", "bits", "step"))
    more = {k: settings[k] for k in ("margin", "rows") if settings[k]}
    if name is None and not (more or bits or step or zeros != "smooth"):
        return None
    if step and not (name or "closeness").startswith("closeness"):
        raise InputError("--step must go with --method closeness, or no --method.")
    if step or (name and name.startswith("closeness")):
        if more:
            flag = "only-rows" if "rows" in more else next(iter(more))
            raise InputError(f"--{flag} must go with tight, declared or paper.")
        kind = name or "closeness"
        return ExtendedSafetyTransform(
            rule="declared" if kind.endswith("declared") else "argmax",
            zeros=zeros,
            bits=bits,
            paper=kind.endswith("paper"),
            step=step,
        )
    return SafetyTransform(mode=name or "tight", zeros=zeros, bits=bits, **more)


def attack_classifier(folder: str, custody: str | None) -> Answer:
    """How much of a published classifier an inverter undoes, and what helps."""
    from privet.classifier.files import join_custody, read_custody
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
    lines = compare_release(join_custody(release, kept), kept.method)
    words = " ".join(inverter_words(lines[0]))
    return Answer(
        {"as": "inverter", **lines[0], "mitigations": lines[1:], "words": words},
        "\n".join([words, "", *format_mitigations(lines)]),
    )
