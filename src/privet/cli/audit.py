"""The commands `demo`, `init` and `audit`: see it work, draft a policy, judge by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from privet.cli import terminal
from privet.cli.answer import Answer, answer_audit, command
from privet.cli.classifier import attack_classifier
from privet.cli.options import (
    TableArguments,
    as_words,
    language_option,
    ledger_option,
    name_ledger,
    parse_values,
    policy_option,
    reads_table,
    strict_option,
    without_secrets,
)
from privet.cli.responses import attack_answers
from privet.languages import translate

if TYPE_CHECKING:
    from privet.findings import Audit
    from privet.policy import Policy


@click.command(short_help="Make a table of patients, audit and publish it.")
@click.argument("folder", type=click.Path(file_okay=False), default="privet-demo")
@click.option(
    "--rows",
    type=click.IntRange(min=1000),
    default=50_000,
    show_default=True,
    help="How many patients to make up.",
)
@click.option("--replace", is_flag=True, help="Write over the files of a demo.")
def demo(folder: str, rows: int, replace: bool) -> None:
    """Make a table of patients and a policy in FOLDER, audit and publish them.

    \b
    Examples:
      privet demo
      privet audit privet-demo/patients.csv -p privet-demo/policy.toml --json

    FOLDER is privet-demo if you name none. The patients never lived.
    """
    from privet.demo.story import tell

    tell(
        Path(folder),
        rows=rows,
        replace=replace,
        say=terminal.say,
        show=terminal.show,
        emit=terminal.emit,
    )


@command("Draft a policy for your table.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write it here.")
@reads_table
def init(asked: TableArguments, output: str | None) -> Answer:
    """Draft a commented policy for TABLE: guesses what each column is for.

    \b
    Examples:
      privet init patients.csv -o policy.toml
      privet init hospital.duckdb --table visits -o policy.toml

    Nothing is decided: read every line of the draft before you use it. What is
    unsure is said on standard error too.
    """
    from shlex import join

    from privet.draft import draft_policy

    if output is not None:
        terminal.refuse_existing(Path(output))
    shown = without_secrets(asked.source)
    with asked.open_table() as (table, listener):
        draft = draft_policy(
            table,
            title=f"Policy for {Path(shown).name}",
            file=asked.list_text_options(),
            progress=listener,
            max_seconds=asked.max_seconds,
        )
    if output is not None:
        terminal.write_new(Path(output), draft.text)
    how = as_words(asked.reading)
    call = join(["privet", "audit", shown, "-p", output or "policy.toml", *how])
    doubts = [f"In doubt: {doubt.words}" for doubt in draft.doubts]
    return Answer(
        draft.to_dict(),
        draft.text.removesuffix("\n") if output is None else None,
        asides=[*doubts, f"Read the draft, correct it, then: {call}"],
    )


@command("Judge a table by a policy.")
@policy_option("The policy file (TOML); privet init drafts one.", required=False)
@strict_option
@click.option(
    "--as",
    "attacker",
    type=click.Choice(["inverter", "collector", "minimality"]),
    help="Attack instead of judging: a published classifier, disguised answers, or a "
    "small released table by whoever knows how it was made.",
)
@click.option("--custody", type=click.Path(), help="With --as: the private record.")
@click.option(
    "--domain",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="With --as minimality: a value that a column may have; repeat it for several. "
    "COLUMN= is a missing value.",
)
@click.option(
    "--no-exposure",
    is_flag=True,
    help="Do not count of how many people something is told beyond the promises.",
)
@ledger_option
@language_option
@reads_table
def audit(
    asked: TableArguments,
    policy: str | None,
    strict: bool,
    attacker: str | None,
    custody: str | None,
    domain: tuple[str, ...],
    no_exposure: bool,
    ledger: str | None,
) -> Answer:
    """Judge every promise of a policy on TABLE, as if it were released as it is.

    \b
    Examples:
      privet audit loans.csv -p policy.toml
      privet audit 'visits-*.parquet' -p policy.toml --json | jq .verdict
      privet audit hospital.duckdb --table visits -p policy.toml --memory-limit 4GB
      privet audit out --as inverter --custody vault
      privet audit out --as collector
      privet audit out --as minimality -p policy.toml --custody vault

    TABLE is a file (CSV, Parquet, JSON, Arrow, a spreadsheet, SPSS, Stata, SAS), a
    pattern in quotes, a folder of Parquet files, a database with --table, or the
    folder of a release. Nothing is written.

    \b
    Exit codes: 0 every promise is kept, 1 one is broken, 2 wrong use,
    3 one could not be decided, or a sensitive column is not covered.
    """
    from privet.policy import Policy
    from privet.release.audit import audit as judge
    from privet.release.verify import is_release

    if domain and attacker != "minimality":
        raise click.UsageError("--domain goes with --as minimality only.")
    if attacker == "inverter":
        return attack_classifier(asked.source, custody)
    if attacker == "collector":
        return attack_answers(asked.source)
    if attacker == "minimality":
        return _attack_method(asked, policy, custody, domain)
    if policy is None:
        _refuse_without_policy(asked.source)
    stated = name_ledger(Policy.load(policy), ledger)
    if is_release(asked.source):
        return answer_audit(_audit_release(asked, stated, exposure=not no_exposure))
    with asked.open_table(stated) as (table, bar):
        found = judge(
            table,
            stated,
            strict=strict,
            exposure=not no_exposure,
            max_seconds=asked.max_seconds,
            progress=bar,
        )
    return answer_audit(found)


def _refuse_without_policy(source: str) -> NoReturn:
    from shlex import join

    from privet.engine.sources.find_source import require_there
    from privet.release.verify import is_release

    if is_release(source):
        raise click.UsageError(
            "A release must be judged by a policy: give one with -p. Its own promises "
            f"are recounted by: {join(['privet', 'verify', source])}"
        )
    require_there(source)
    raise click.UsageError("Missing option '--policy' / '-p'.")


def _audit_release(asked: TableArguments, policy: Policy, *, exposure: bool) -> Audit:
    """Judge a release by a policy, which may be another one than it was made for."""
    from privet.release.audit import audit as judge
    from privet.release.kinds import close_release
    from privet.release.verify import load

    release = load(asked.source, memory_limit=asked.reading["memory_limit"])
    with terminal.gather_warnings():
        found = judge(release, policy, exposure=exposure)
    close_release(release)
    return found


def _attack_method(
    asked: TableArguments,
    policy: str | None,
    custody: str | None,
    domain: tuple[str, ...],
) -> Answer:
    """What a released table tells whoever knows how it was made."""
    from privet.microdata.minimality.minimality import Minimality, read_dictionaries
    from privet.microdata.release import Release
    from privet.microdata.report import METHOD_GRANTED, describe_originals
    from privet.policy import Policy
    from privet.release.kinds import close_release
    from privet.release.verify import is_release, load
    from privet.report.words import SENSITIVE

    if not is_release(asked.source):
        raise click.UsageError("--as minimality attacks the folder of a release.")
    stated = None if policy is None else Policy.load(policy)
    release = load(asked.source, memory_limit=asked.reading["memory_limit"])
    if not isinstance(release, Release):
        close_release(release)
        raise click.UsageError("--as minimality attacks a released table.")
    known = {} if custody is None else read_dictionaries(custody)
    known |= {
        c: tuple(v or None for v in w)
        for c, w in parse_values(domain, "--domain").items()
    }
    try:
        attacker = Minimality(domain=known)
        found = attacker.attack(release, stated, max_seconds=asked.max_seconds)
    finally:
        close_release(release)
    said = describe_originals(found)
    verdict = "breach" if found.beyond else ""
    words = [*said, translate(METHOD_GRANTED)]
    told = {"as": "minimality", "verdict": verdict or None, **found.to_dict()}
    return Answer(
        {**told, "words": " ".join(words), "sensitive": translate(SENSITIVE)},
        "\n".join([*words, translate(SENSITIVE)]),
        verdict=verdict,
    )
