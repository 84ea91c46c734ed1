"""The commands that ask without knowing: disguise and estimate.

The commands for a survey of one's own: plan and collect.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from privet.cli import terminal
from privet.cli.options import (
    TableArguments,
    format_option,
    policy_option,
    reads_table,
    replace_option,
)

if TYPE_CHECKING:
    from privet.responses.design import Design
    from privet.responses.estimate import Estimate, Estimates


_design = click.option(
    "--design",
    "-d",
    type=click.Path(exists=True, dir_okay=False),
    help="The design file (TOML or JSON): questions and how each is disguised.",
)


@click.command(short_help="Disguise every answer of a table by chance.")
@_design
@click.option("--output", "-o", required=True, type=click.Path(), help="The release.")
@click.option(
    "--custody",
    required=True,
    type=click.Path(file_okay=False),
    help="The folder for the private record; it never travels.",
)
@policy_option(
    "A policy whose promises against a Bayesian the design must keep.", required=False
)
@format_option("How the table is written; parquet unless -o ends in .csv.")
@replace_option
@reads_table
def disguise(
    asked: TableArguments,
    design: str | None,
    output: str,
    custody: str,
    policy: str | None,
    form: str | None,
    replace: bool,
) -> None:
    """Disguise every answer of TABLE with the chances a design states.

    \b
    Examples:
      privet disguise answers.csv -d design.toml -o out --custody vault
      privet disguise answers.parquet -d design.toml -o out --custody vault \\
          -p policy.toml

    Chances are exact and come from the operating system. Columns the design does not
    name are left out. The file may be larger than memory. Nothing is written if the
    design breaks a promise of the policy.

    \b
    Exit codes: 0 written, 2 wrong use, 4 the design breaks a promise.
    """
    from privet.policy import Policy
    from privet.responses.publish import disguise as make

    promised = None if policy is None else Policy.load(policy)
    with terminal.gather_warnings() as said, asked.open_table() as (table, listener):
        stated = load_design(design)
        found = make(
            table,
            stated,
            output,
            custody=custody,
            policy=promised,
            format=form,
            replace=replace,
            progress=listener,
        )
        found.close()
    told = {
        "verdict": "written",
        "rows": found.manifest["files"][0]["rows"],
        "privacy": found.manifest["privacy"],
        "folder": output,
        "custody": custody,
    }
    if asked.as_json:
        terminal.emit(terminal.as_one_object(told))
    elif asked.quiet:
        terminal.emit(told["verdict"])
    else:
        terminal.emit(_describe_release(told, stated))
    terminal.say_notes(said)


def _describe_release(told: dict[str, Any], design: Design) -> str:
    rows = f"{told['rows']:,} disguised row{'' if told['rows'] == 1 else 's'}"
    lines = [f"✓ Written: {rows} in {told['folder']}.", ""]
    lines += [describe_disclosure(design)]
    lines += [
        "",
        f"Kept: {told['custody']}. The true answers stay where they are; delete them "
        "if nobody needs them any more.",
    ]
    return "\n".join(lines)


def describe_disclosure(design: Design) -> str:
    """What one disguised row tells about its person, question by question."""
    secret = [c for c in design.columns if c not in design.public]
    lines = ["What one disguised row gives away about its person:"]
    for column in secret:
        lines.append(f"  {column}: ε {_format_epsilon(design, [column])}")
    lines.append(f"  the whole record: ε {_format_epsilon(design, None)}")
    if design.public:
        lines.append(f"  public: {', '.join(design.public)}")
    return "\n".join(lines)


def _format_epsilon(design: Design, columns: list[str] | None) -> str:
    grown = design.growth(columns)
    if grown is None:
        return "infinite: some truths can be told for certain"
    factor = f"odds times {float(grown):.4g} at most"
    return f"{design.epsilon(columns):.3g} ({factor})"


def load_design(design: str | None) -> Design:
    """The design a command was given."""
    from privet.responses.design import Design

    if design is None:
        raise click.UsageError("Give the design with -d.")
    return Design.load(design)


# Estimating -------------------------------------------------------------------------


@click.command(short_help="Estimate shares from disguised answers.")
@click.argument("source", metavar="ANSWERS", type=click.Path())
@click.argument("expression", nargs=-1)
@_design
@click.option(
    "--given",
    metavar="EXPRESSION",
    help="Estimate among those for whom this is true.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="How often the intervals shall hold the truth.",
)
@click.option("--table", help="Table of a DuckDB database file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", "-q", is_flag=True, help="Print the shares only.")
@click.option("--memory-limit", metavar="SIZE", help="Such as 4GB.")
def estimate(
    source: str,
    expression: tuple[str, ...],
    design: str | None,
    given: str | None,
    confidence: float,
    table: str | None,
    as_json: bool,
    quiet: bool,
    memory_limit: str | None,
) -> None:
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

    if given is not None and not expression:
        raise click.UsageError("Give an EXPRESSION together with --given.")
    with terminal.gather_warnings():
        responses = _open_responses(source, design, table, memory_limit)
        try:
            found = estimates(responses, responses.design, confidence=confidence)
            shares = _estimate_shares(found, expression, given)
        finally:
            responses.close()
    if as_json:
        rows = [{"share": what, **e.to_dict()} for what, e in shares]
        terminal.emit(terminal.as_one_object({"estimates": rows}))
    else:
        for what, e in shares:
            terminal.emit(f"{e.value:.6g}" if quiet else _format_estimate(what, e))


def _open_responses(
    source: str, design: str | None, table: str | None, memory_limit: str | None
) -> Any:
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

        return read_answers(
            Path(source), None if design is None else load_design(design)
        )
    return Responses(
        read(source, table=table, memory_limit=memory_limit), load_design(design)
    )


def _estimate_shares(
    found: Estimates, expressions: tuple[str, ...], given: str | None
) -> list[tuple[str, Estimate]]:
    if expressions:
        among = f", given {given}" if given else ""
        return [
            (f"{text}{among}", found.share(text, given=given)) for text in expressions
        ]
    return [
        (f"{column} = {value}", e)
        for column, shares in found.every_share().items()
        for value, e in shares.items()
    ]


def _percent(share: float) -> str:
    """An estimate, which is no exact number."""
    return f"{100 * share:.1f} %"


def _format_estimate(what: str, e: Estimate) -> str:
    from privet.values.exact import fraction, write_in_full

    low, high = e.interval
    text = (
        f"{what}: {_percent(e.value)} "
        f"({write_in_full(fraction(e.confidence))} sure from "
        f"{_percent(low)} to {_percent(high)}, {e.n:,} answer{'' if e.n == 1 else 's'})"
    )
    return f"{text}\n  {e.note}" if e.note else text


def show_collector(source: str, *, as_json: bool) -> NoReturn:
    """Attack disguised answers: which share of records a collector guesses right."""
    from privet.responses.attacks import Collector

    with terminal.gather_warnings():
        responses = _open_responses(source, None, None, None)
        try:
            found = Collector().attack(responses)
        finally:
            responses.close()
    if as_json:
        terminal.emit(terminal.as_one_object(found.to_dict()))
        sys.exit(0)
    terminal.emit(
        f"A collector who has these {found.rows:,} rows and the design, and nothing "
        "else, guesses right:"
    )
    for columns, share in found.groups.items():
        terminal.emit(f"  {', '.join(columns)}: {_percent(share)} of people")
    terminal.emit(f"  whole records: about {_percent(found.records)}")
    sys.exit(0)


# Planning ---------------------------------------------------------------------------


@click.command(short_help="How many answers, and how much truth, are needed.")
@click.argument("design", type=click.Path(exists=True, dir_okay=False))
@click.option("--error", metavar="SHARE", help="Wanted error, such as 0.02 for ± 2 %.")
@click.option("--epsilon", help="Wanted ε of a whole record; proposes a design.")
@click.option(
    "--target",
    metavar="COLUMN",
    help="With --epsilon: what a classifier shall be learnt to predict.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="How often the error shall stay within what is wanted.",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), help="Write the design here."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(
    design: str,
    error: str | None,
    epsilon: str | None,
    target: str | None,
    confidence: float,
    output: str | None,
    as_json: bool,
) -> None:
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
    from privet.values.exact import fraction, write_in_full

    if target is not None and epsilon is None:
        raise click.UsageError("Give --target together with --epsilon.")
    if output is not None:
        terminal.refuse_existing(Path(output))
    better = None
    with terminal.gather_warnings() as said:
        stated = load_design(design)
        if epsilon is not None:
            better = plan_design(stated, epsilon, target)
            stated = better.design
    terminal.say_notes(said)
    needs = list_sample_sizes(stated, error=error or "0.02", confidence=confidence)
    if output is not None:
        terminal.write_new(Path(output), stated.to_toml())
    told = {
        "growth": None if stated.growth() is None else str(stated.growth()),
        "epsilon": None if stated.growth() is None else stated.epsilon(),
        "one_of": stated.one_of,
        "needs": [vars(n) for n in needs],
        "design": stated.to_dict(),
    }
    if as_json:
        terminal.emit(terminal.as_one_object(told))
        return
    terminal.emit(describe_disclosure(stated))
    if better is not None:
        terminal.emit(_describe_plan(better))
    terminal.emit(
        "\nAnswers needed for an error of ± "
        f"{write_in_full(fraction(error or '0.02'))} with "
        f"{write_in_full(fraction(confidence))} confidence, whatever the truth is:"
    )
    for need in needs:
        terminal.emit(f"  {need.about}: {need.answers:,} (undisguised: {need.plain:,})")
    if better is not None and output is None:
        terminal.emit("\n" + stated.to_toml().rstrip())


def _describe_plan(better: Any) -> str:
    if better.design.one_of:
        number = "one question" if better.asked == 1 else f"{better.asked} questions"
        return (
            f"\nAsk each person {number} only, drawn at random: the error is "
            f"{better.together / better.one_of:.1f} times smaller than if everybody "
            "answers everything with a part of ε."
        )
    if better.one_of < better.together:
        return (
            "\nAsk everybody everything, and disguise all answers as one: the error is "
            f"{better.together / better.one_of:.1f} times smaller than if each answer "
            "has a part of ε."
        )
    if better.one_of == float("inf"):
        return "\nAsk everybody everything, each question with its part of ε."
    return (
        "\nAsk everybody everything, each question with its part of ε: some questions "
        f"per person would make the error {better.one_of / better.together:.1f} times "
        "as large."
    )


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
    tokens: int | None,
    tokens_to: str | None,
) -> None:
    """Serve the survey of DESIGN on this machine until Ctrl-C.

    \b
    Examples:
      privet collect design.toml -o answers.duckdb
      privet collect design.toml --tokens 500 --tokens-to invitations.txt
      privet estimate answers.duckdb

    Answers are disguised in the respondent's browser; only disguised ones are sent. A
    confirmed answer is on the disk. No addresses or times are kept or logged. To
    reach others, put a web server with HTTPS in front: browsers allow the secure
    source of chance only there, or on this machine.
    """
    from privet.responses.collect.service import Service, serve
    from privet.responses.collect.store import Store

    if (tokens is None) != (tokens_to is None):
        raise click.UsageError("Give --tokens and --tokens-to together.")
    if tokens_to is not None:
        terminal.refuse_existing(Path(tokens_to))
    with terminal.gather_warnings() as said:
        stated = load_design(design)
        store = Store(Path(output), stated)
    terminal.say_notes(said)
    needed = store.wants_tokens
    if tokens is not None and tokens_to is not None:
        from privet.release.atomic_folder import save

        save(Path(tokens_to), "\n".join(store.issue(tokens)) + "\n", private=True)
        needed = True
    service = Service((host, port), store, tokens=needed)

    def announce(url: str) -> None:
        where = f"{url}#token=…" if needed else url
        terminal.say(f"The survey is at {where} (Ctrl-C ends it).")
        terminal.say(f"Disguised answers go to {output}.")

    try:
        serve(service, announce)
    except KeyboardInterrupt:
        terminal.say("The survey is closed. What was confirmed is kept.")
