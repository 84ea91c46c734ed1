"""The commands that ask without knowing: disguise and estimate."""

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
    from privet.responses.estimate import Estimate
    from privet.responses.estimates import Estimates

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
    with terminal.warned() as said, asked.opened() as (table, listener):
        stated = loaded(design)
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
        terminal.emit(_written(told, stated))
    terminal.say_notes(said)


def _written(told: dict[str, Any], design: Design) -> str:
    rows = f"{told['rows']:,} disguised row{'' if told['rows'] == 1 else 's'}"
    lines = [f"✓ Written: {rows} in {told['folder']}.", ""]
    lines += [given_away(design)]
    lines += [
        "",
        f"Kept: {told['custody']}. The true answers stay where they are; delete them "
        "if nobody needs them any more.",
    ]
    return "\n".join(lines)


def given_away(design: Design) -> str:
    """What one disguised row tells about its person, question by question."""
    secret = [c for c in design.columns if c not in design.public]
    lines = ["What one disguised row gives away about its person:"]
    for column in secret:
        lines.append(f"  {column}: ε {_epsilon(design, [column])}")
    lines.append(f"  the whole record: ε {_epsilon(design, None)}")
    if design.public:
        lines.append(f"  public: {', '.join(design.public)}")
    return "\n".join(lines)


def _epsilon(design: Design, columns: list[str] | None) -> str:
    grown = design.growth(columns)
    if grown is None:
        return "infinite: some truths can be told for certain"
    factor = f"odds times {float(grown):.4g} at most"
    return f"{design.epsilon(columns):.3g} ({factor})"


def loaded(design: str | None) -> Design:
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
    from privet.responses.estimates import estimate as estimates

    if given is not None and not expression:
        raise click.UsageError("Give an EXPRESSION together with --given.")
    with terminal.warned():
        responses = _responses(source, design, table, memory_limit)
        try:
            found = estimates(responses, responses.design, confidence=confidence)
            shares = _asked(found, expression, given)
        finally:
            responses.close()
    if as_json:
        rows = [{"share": what, **e.to_dict()} for what, e in shares]
        terminal.emit(terminal.as_one_object({"estimates": rows}))
    else:
        for what, e in shares:
            terminal.emit(f"{e.value:.6g}" if quiet else _line(what, e))


def _responses(
    source: str, design: str | None, table: str | None, memory_limit: str | None
) -> Any:
    from privet.release.publish import load
    from privet.release.verify import is_release
    from privet.responses.release import Responses
    from privet.table import read

    if is_release(source):
        found = load(source, memory_limit=memory_limit)
        if not isinstance(found, Responses):
            raise click.UsageError(f"{source!r} is a release, but not of answers.")
        return found
    if source.endswith((".duckdb", ".db")) and table is None:
        from privet.responses.collect.store import answers

        return answers(Path(source), None if design is None else loaded(design))
    return Responses(
        read(source, table=table, memory_limit=memory_limit), loaded(design)
    )


def _asked(
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


def _line(what: str, e: Estimate) -> str:
    from privet.values.exact import fraction, written

    low, high = e.interval
    text = (
        f"{what}: {_percent(e.value)} ({written(fraction(e.confidence))} sure from "
        f"{_percent(low)} to {_percent(high)}, {e.n:,} answer{'' if e.n == 1 else 's'})"
    )
    return f"{text}\n  {e.note}" if e.note else text


def show_collector(source: str, *, as_json: bool) -> NoReturn:
    """Attack disguised answers: which share of records a collector guesses right."""
    from privet.responses.attacks import Collector

    with terminal.warned():
        responses = _responses(source, None, None, None)
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
