"""The commands for a survey of one's own: plan and collect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privet.cli import terminal
from privet.cli.responses import given_away, loaded

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
    from privet.responses.planning import designed, every_answer
    from privet.values.exact import fraction, written

    if target is not None and epsilon is None:
        raise click.UsageError("Give --target together with --epsilon.")
    if output is not None:
        terminal.refuse_existing(Path(output))
    better = None
    with terminal.warned() as said:
        stated = loaded(design)
        if epsilon is not None:
            better = designed(stated, epsilon, target)
            stated = better.design
    terminal.say_notes(said)
    needs = every_answer(stated, error=error or "0.02", confidence=confidence)
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
    terminal.emit(given_away(stated))
    if better is not None:
        terminal.emit(_proposal(better))
    terminal.emit(
        f"\nAnswers needed for an error of ± {written(fraction(error or '0.02'))} with "
        f"{written(fraction(confidence))} confidence, whatever the truth is:"
    )
    for need in needs:
        terminal.emit(f"  {need.about}: {need.answers:,} (undisguised: {need.plain:,})")
    if better is not None and output is None:
        terminal.emit("\n" + stated.to_toml().rstrip())


def _proposal(better: Any) -> str:
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
    with terminal.warned() as said:
        stated = loaded(design)
        store = Store(Path(output), stated)
    terminal.say_notes(said)
    needed = store.wants_tokens
    if tokens is not None and tokens_to is not None:
        from privet.release.atomic_folder import save

        save(Path(tokens_to), "\n".join(store.issue(tokens)) + "\n", private=True)
        needed = True
    service = Service((host, port), store, tokens=needed)

    def ready(url: str) -> None:
        where = f"{url}#token=…" if needed else url
        terminal.say(f"The survey is at {where} (Ctrl-C ends it).")
        terminal.say(f"Disguised answers go to {output}.")

    try:
        serve(service, ready)
    except KeyboardInterrupt:
        terminal.say("The survey is closed. What was confirmed is kept.")
