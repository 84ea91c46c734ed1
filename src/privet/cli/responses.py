"""The commands that ask without knowing: disguise and estimate.

The commands for a survey of one's own: plan and collect.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet.cli import terminal
from privet.cli.answer import Answer, command
from privet.cli.options import (
    Places,
    TableArguments,
    confidence_option,
    format_option,
    json_option,
    language_option,
    ledger_option,
    memory_option,
    name_ledger,
    policy_option,
    quiet_option,
    reads_table,
    replace_option,
    writes_release,
)
from privet.languages import say

if TYPE_CHECKING:
    from privet.responses.design import Design
    from privet.responses.estimate import Estimate, Estimates
    from privet.responses.release import Responses


design_option = click.option(
    "--design",
    "-d",
    type=click.Path(exists=True, dir_okay=False),
    help="The design file (TOML or JSON): questions and how each is disguised.",
)


@command("Disguise every answer of a table by chance.")
@design_option
@writes_release("The release.", required=True)
@policy_option(
    "A policy whose promises against a Bayesian the design must keep.", required=False
)
@click.option(
    "--drop",
    multiple=True,
    metavar="COLUMN",
    help="Leave this column out, which the design does not name.",
)
@format_option(
    "How the table is written; parquet unless the ending of -o says otherwise. "
    "Excel, SPSS (sav) and Stata (dta) need privet[files]."
)
@ledger_option
@replace_option
@language_option
@reads_table
def disguise(
    asked: TableArguments,
    to: Places,
    design: str | None,
    policy: str | None,
    ledger: str | None,
    drop: tuple[str, ...],
) -> Answer:
    """Disguise every answer of TABLE with the chances a design states.

    \b
    Examples:
      privet disguise answers.csv -d design.toml -p policy.toml -o out --custody vault

    Chances are exact and come from the operating system. Columns the design does not
    name must be left out by name: with --drop, or by a role in the policy. The file
    may be larger than memory. Nothing is written if the design breaks a promise of
    the policy.

    \b
    Exit codes: 0 written, 2 wrong use, 3 there is no promise about answers, or it is
    not safe together with earlier releases, 4 the design breaks a promise.
    """
    from privet.policy import Policy
    from privet.responses.publish import disguise as make
    from privet.responses.report import describe_release
    from privet.values.schema import Roles

    if policy is None and ledger is not None:
        raise click.UsageError("Give -p: a ledger is judged by the policy's promises.")
    promised = None if policy is None else name_ledger(Policy.load(policy), ledger)
    with asked.open_table() as (table, listener):
        stated = load_design(design)
        found = make(
            table.with_roles(Roles(drop=drop)),
            stated,
            str(to.output),
            custody=str(to.custody),
            policy=promised,
            format=to.form,
            replace=to.replace,
            sign=to.signer,
            progress=listener,
        )
        found.close()
    told = {
        "verdict": "written",
        "rows": found.manifest["files"][0]["rows"],
        "privacy": found.manifest["privacy"],
        "history": found.history.to_dict() if found.history else None,
        "folder": to.output,
        "custody": to.custody,
    }
    return Answer(told, describe_release(told, stated), verdict="written")


def load_design(design: str | None) -> Design:
    """The design a command was given."""
    from privet.responses.design import Design

    if design is None:
        raise click.UsageError("Give the design with -d.")
    return Design.load(design)


# Estimating -------------------------------------------------------------------------


@command("Estimate shares from disguised answers.")
@click.argument("source", metavar="ANSWERS", type=click.Path())
@click.argument("expression", nargs=-1)
@design_option
@click.option(
    "--given",
    metavar="EXPRESSION",
    help="Estimate among those for whom this is true.",
)
@confidence_option("How often the intervals shall hold the truth.")
@click.option("--table", help="Table of a DuckDB database file.")
@language_option
@json_option
@quiet_option("shares")
@memory_option
def estimate(
    source: str,
    expression: tuple[str, ...],
    given: str | None,
    confidence: float,
    **reading: Any,
) -> Answer:
    """Estimate shares of the truth from disguised ANSWERS.

    \b
    Examples:
      privet estimate out
      privet estimate out "smokes = yes and not age = 'below 30'"
      privet estimate out "smokes = yes" --given "age = 'below 30'"
      privet estimate answers.duckdb -d design.toml

    ANSWERS is the folder of a release, a table with -d, or the database that privet
    collect writes, also while it runs. Each EXPRESSION uses =, !=, in, and, or, not
    and brackets; without one, every answer to every question is estimated.
    """
    from privet.responses.estimate import estimate as estimates
    from privet.responses.report import describe_misfit, format_estimate, say_unasked

    if given is not None and not expression:
        raise click.UsageError("Give an EXPRESSION together with --given.")
    with open_answers(source, **reading) as responses:
        found = estimates(responses, responses.design, confidence=confidence)
        shares, misfit = _estimate_shares(found, expression, given), found.misfit()
        unasked = [] if expression else _list_unasked(found, shares)
    lines = [format_estimate(what, e) for what, e in shares]
    lines += [say_unasked(column) for column in unasked]
    lines.append(describe_misfit(misfit))
    return Answer(
        {
            "estimates": [{"share": what, **e.to_dict()} for what, e in shares],
            "misfit": misfit.to_dict(),
            "unasked": unasked,
        },
        "\n".join(lines),
        quiet="\n".join(f"{e.value:.6g}" for _, e in shares),
    )


@contextmanager
def open_answers(source: str, **reading: Any) -> Iterator[Responses]:
    """Disguised answers; what their design warns of was said when it was made."""
    with terminal.gather_warnings():
        responses = _read_responses(source, **reading)
        try:
            yield responses
        finally:
            responses.close()


def _read_responses(
    source: str,
    design: str | None = None,
    table: str | None = None,
    memory_limit: str | None = None,
) -> Responses:
    from privet.release.verify import is_release, load
    from privet.responses.release import Responses
    from privet.table import read

    if is_release(source):
        found = load(source, memory_limit=memory_limit)
        if not isinstance(found, Responses):
            raise click.UsageError(f"{source!r} is a release, but not of answers.")
        return found
    if source.endswith((".duckdb", ".db")) and table is None:
        from privet.responses.collect.store import read_answers

        stated = None if design is None else load_design(design)
        return read_answers(Path(source), stated, memory_limit=memory_limit)
    return Responses(
        read(source, table=table, memory_limit=memory_limit), load_design(design)
    )


def _list_unasked(found: Estimates, shares: list[tuple[str, Estimate]]) -> list[str]:
    """Disguised questions that nobody was asked yet."""
    told = {what.rpartition(" = ")[0] for what, _ in shares}
    secret = [c for c in found.design.columns if c not in found.design.public]
    return [c for c in secret if c not in told]


def _estimate_shares(
    found: Estimates, expressions: tuple[str, ...], given: str | None
) -> list[tuple[str, Estimate]]:
    if expressions:
        return [
            (_name_share(text, given), found.share(text, given=given))
            for text in expressions
        ]
    return [
        (f"{column} = {value}", e)
        for column, shares in found.every_share().items()
        for value, e in shares.items()
    ]


def _name_share(text: str, given: str | None) -> str:
    if not given:
        return text
    return say("{share}, given {condition}", share=text, condition=given)


def attack_answers(source: str) -> Answer:
    """Which share of disguised records a collector guesses right."""
    from privet.responses.recovery.attacks import attack_responses
    from privet.responses.report import describe_attack

    with open_answers(source) as responses:
        found = attack_responses(responses)
    return Answer(found.to_dict(), describe_attack(found))


# Planning ---------------------------------------------------------------------------


@command("How many answers, and how much truth, are needed.")
@click.argument("design", type=click.Path(exists=True, dir_okay=False))
@click.option("--error", metavar="SHARE", help="Wanted error, such as 0.02 for ± 2 %.")
@click.option("--epsilon", help="Wanted ε of a whole record; proposes a design.")
@click.option(
    "--target",
    metavar="COLUMN",
    help="With --epsilon: what a classifier shall be learnt to predict.",
)
@confidence_option("How often the error shall stay within what is wanted.")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), help="Write the design here."
)
@language_option
@json_option
def plan(
    design: str,
    error: str | None,
    epsilon: str | None,
    target: str | None,
    confidence: float,
    output: str | None,
) -> Answer:
    """Tell what DESIGN gives away and how many answers it needs, before asking.

    \b
    Examples:
      privet plan design.toml
      privet plan design.toml --error 0.02
      privet plan design.toml --epsilon 1 -o stricter.toml
      privet plan design.toml --epsilon 4 --target income

    With --epsilon the questions get as much truth as a whole record's ε allows. If
    it is better to ask each person some of the questions only, drawn at random, that
    design is proposed. With --target each of them is asked together with the target,
    as naive Bayes needs it.
    """
    from privet.responses.planning import list_sample_sizes, plan_design
    from privet.responses.report import describe_survey

    if target is not None and epsilon is None:
        raise click.UsageError("Give --target together with --epsilon.")
    if output is not None:
        terminal.refuse_existing(Path(output))
    better = None
    with terminal.say_warnings():
        stated = load_design(design)
        if epsilon is not None:
            better = plan_design(stated, epsilon, target)
            stated = better.design
    within = error or "0.02"
    needs = list_sample_sizes(stated, error=within, confidence=confidence)
    if output is not None:
        terminal.write_new(Path(output), stated.to_toml())
    told = {
        "growth": None if stated.growth() is None else str(stated.growth()),
        "epsilon": None if stated.growth() is None else stated.epsilon(),
        "one_of": stated.one_of,
        "needs": [vars(n) for n in needs],
        "design": stated.to_dict(),
    }
    text = describe_survey(stated, better, needs, error=within, confidence=confidence)
    proposed = "\n" + stated.to_toml().rstrip() if better and output is None else None
    return Answer(told, text, proposed)


# Collecting -------------------------------------------------------------------------


@click.command(short_help="Serve a survey whose answers are disguised.")
@click.argument("design", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    default="answers.duckdb",
    show_default=True,
    help="The DuckDB file that disguised answers are kept in; it may have some.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8610,
    show_default=True,
    help="At which port; 0 takes any that is free.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A name that respondents reach it by, such as that of the web server in "
    "front; may be repeated. Under other names nothing is served.",
)
@click.option(
    "--tokens",
    type=click.IntRange(min=1),
    help="Issue so many one-time invitations; answers need one from then on.",
)
@click.option(
    "--tokens-to",
    type=click.Path(dir_okay=False),
    help="The new file for the invitations; it is private.",
)
def collect(
    design: str,
    output: str,
    host: str,
    port: int,
    names: tuple[str, ...],
    tokens: int | None,
    tokens_to: str | None,
) -> None:
    """Serve the survey of DESIGN on this machine until Ctrl-C.

    \b
    Examples:
      privet collect design.toml -o answers.duckdb
      privet collect design.toml --tokens 500 --tokens-to invitations.txt
      privet collect design.toml --name survey.example.org
      privet estimate answers.duckdb

    Answers are disguised in the respondent's browser; only disguised ones are sent,
    and nothing else stays on the device. A confirmed answer is on the disk, and one
    that is sent again is stored once. No addresses or times are kept or logged. To
    reach others, put a web server with HTTPS in front: without it the page asks
    nothing, except on this machine. Needs the extra collect.
    """
    from privet.responses.collect.service import Service, serve
    from privet.responses.collect.store import Store

    if (tokens is None) != (tokens_to is None):
        raise click.UsageError("Give --tokens and --tokens-to together.")
    if tokens_to is not None:
        terminal.refuse_existing(Path(tokens_to))
    with terminal.say_warnings():
        stated = load_design(design)
        store = Store(Path(output), stated)
    needed = store.wants_tokens or tokens is not None
    service = Service((host, port), store, tokens=needed, names=names)
    if tokens is not None and tokens_to is not None:
        from privet.release.atomic_folder import save

        save(Path(tokens_to), "\n".join(store.issue(tokens)) + "\n", private=True)

    def announce(url: str) -> None:
        where = f"{url}#token=…" if needed else url
        terminal.say(f"The survey is at {where} (Ctrl-C ends it).")
        terminal.say(f"Disguised answers go to {output}.")

    try:
        serve(service, announce)
    except KeyboardInterrupt:
        terminal.say("The survey is closed. What was confirmed is kept.")
