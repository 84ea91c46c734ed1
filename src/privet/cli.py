"""The command line: parse, call one function, show, exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet import __version__, terminal

if TYPE_CHECKING:
    from privet.draft import Guess
    from privet.engines.base import Listener
    from privet.policy import Policy
    from privet.table import Table


class Commands(click.Group):
    """Lists commands as a steward meets them, and explains what they raise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order they were added."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever it raises becomes a message and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            terminal.fail("Stopped before it was done.", terminal.INTERRUPTED)
        except Exception as error:
            terminal.fail(*terminal.explained(error))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="privet")
def cli() -> None:
    """How sure could an attacker be of one person in your table?

    \b
    privet demo                             see it work on a made-up hospital
    privet init  patients.csv -o p.toml     draft a policy for your table
    privet audit patients.csv -p p.toml     a verdict per promise, with a witness

    \b
    Exit codes: 0 safe, 1 breach, 2 wrong use, 3 undecided, 4 infeasible,
    70 a bug in privet, 130 stopped with Ctrl-C.
    """


# Options ----------------------------------------------------------------------------


def _several(*options: Callable[..., Any]) -> Callable[..., Any]:
    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return with_options


def _a_time(_ctx: object, _param: object, seconds: float | None) -> float | None:
    if seconds is not None and seconds != seconds:  # noqa: PLR0124 - not a number
        raise click.BadParameter("must be a number of seconds.")
    return seconds


common = _several(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option("--quiet", "-q", is_flag=True, help="Print the result only."),
    click.option(
        "--engine",
        type=click.Choice(["duckdb"]),
        default="duckdb",
        show_default=True,
        help="What counts the rows.",
    ),
    click.option(
        "--max-seconds",
        type=click.FloatRange(min=0, min_open=True),
        callback=_a_time,
        help="Stop after this time; what is not decided by then is undecided.",
    ),
)
"""Options every command that reads a table takes."""

table_options = _several(
    click.option("--table", help="Table of a DuckDB database file."),
    click.option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Only rows with this value, among those the policy means; repeat it for "
        "several values or columns. COLUMN= is a missing value.",
    ),
    click.option("--delimiter", help="Between two values of a text file."),
    click.option(
        "--encoding",
        default="utf-8",
        show_default=True,
        help="Of a text file: utf-8, latin-1 or utf-16.",
    ),
    click.option(
        "--null",
        multiple=True,
        metavar="TEXT",
        help="Text that stands for a missing value, such as '?' or NA.",
    ),
    click.option("--memory-limit", metavar="SIZE", help="Such as 4GB."),
    click.option(
        "--spill",
        type=click.Path(file_okay=False, exists=True),
        help="Folder for what does not fit into memory.",
    ),
    click.option("--threads", type=click.IntRange(min=1), help="Cores to use."),
)
"""How to read the table."""


# Commands ---------------------------------------------------------------------------


@cli.command(short_help="Make a table of patients and audit it.")
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
    """Make a table of patients and a policy in FOLDER, and audit them.

    \b
    Examples:
      privet demo
      privet audit privet-demo/patients.csv -p privet-demo/policy.toml --json

    FOLDER is privet-demo if you name none. The patients never lived.
    """
    from privet.demo.story import tell

    tell(Path(folder), rows=rows, replace=replace, say=terminal.say, show=terminal.show)


@cli.command(short_help="Draft a policy for your table.")
@click.argument("source", metavar="TABLE", type=click.Path())
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write it here.")
@table_options
@common
def init(
    source: str,
    output: str | None,
    where: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    engine: str,  # there is one so far
    max_seconds: float | None,
    **reading: Any,
) -> None:
    """Draft a commented policy for TABLE: guesses what each column is for.

    \b
    Examples:
      privet init patients.csv -o policy.toml
      privet init hospital.duckdb --table visits -o policy.toml

    Nothing is decided: read every line of the draft before you use it. What is
    unsure is said on standard error too.
    """
    from shlex import join

    from privet.draft import draft_policy, guess_roles
    from privet.engines.base import Run

    if output is not None:
        terminal.refuse_existing(Path(output))
    silent = quiet or as_json
    with _opened(source, _where(where), reading, silent) as (table, listener):
        columns = table.engine.describe(Run.starting(listener, max_seconds))
    guesses = guess_roles(columns)
    text = draft_policy(columns, guesses, title=f"Policy for {Path(source).name}")
    if output is not None:
        terminal.write_new(Path(output), text)
    if as_json:
        found = {"policy": text, "columns": [vars(g) for g in guesses]}
        terminal.emit(terminal.as_one_object(found))
    elif output is None:
        terminal.emit(text.removesuffix("\n"))
    if not silent:
        _say_doubts(guesses)
        call = join(["privet", "audit", source, "-p", output or "policy.toml"])
        terminal.say(f"Read the draft, correct it, then: {call}")


@cli.command(short_help="Judge a table by a policy.")
@click.argument("source", metavar="TABLE", type=click.Path())
@click.option(
    "--policy",
    "-p",
    required=True,
    type=click.Path(),
    help="The policy file (TOML); privet init drafts one.",
)
@click.option("--strict", is_flag=True, help="A value that never occurs is an error.")
@table_options
@common
def audit(
    source: str,
    policy: str,
    strict: bool,
    where: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    engine: str,  # there is one so far
    max_seconds: float | None,
    **reading: Any,
) -> None:
    """Judge every promise of a policy on TABLE, as if it were released as it is.

    \b
    Examples:
      privet audit loans.csv -p policy.toml
      privet audit 'visits-*.parquet' -p policy.toml --json | jq .verdict
      privet audit hospital.duckdb --table visits -p policy.toml --memory-limit 4GB

    TABLE is a CSV, Parquet or JSON lines file, a pattern in quotes, a folder of
    Parquet files, or a DuckDB database with --table. Nothing is written.

    \b
    Exit codes: 0 every promise is kept, 1 one is broken, 2 wrong use,
    3 one could not be decided.
    """
    from privet.audits import audit as judge
    from privet.policy import Policy

    stated = Policy.load(policy)
    asked = _where(where)
    if stated.where:  # say what is wrong with the policy before rows are chosen by it
        with _opened(source, {}, reading, silent=True) as (table, _):
            stated.bind(table.schema)
    chosen = _narrowed(stated, asked)
    silent = quiet or as_json
    with (
        terminal.warned() as said,
        _opened(source, chosen, reading, silent) as (table, bar),
    ):
        found = judge(
            table, stated, strict=strict, max_seconds=max_seconds, progress=bar
        )
    terminal.show(found, as_json=as_json, quiet=quiet)
    for note in said:  # notes are part of a report; a verdict alone has none
        if note not in found.notes or (quiet and not as_json):
            terminal.say(f"note: {note}")
    sys.exit(terminal.EXIT[found.verdict])


@cli.command(short_help="Let your shell complete commands and options.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes SHELL complete privet's commands and options.

    \b
    Examples:
      eval "$(privet completion bash)"
      privet completion fish > ~/.config/fish/completions/privet.fish
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None
    terminal.emit(maker(cli, {}, "privet", "_PRIVET_COMPLETE").source())


# Reading ----------------------------------------------------------------------------

Wanted = Mapping[str, tuple[str | None, ...]]
"""The values of each column that rows must have."""


@contextmanager
def _opened(
    source: str, where: Wanted, reading: Mapping[str, Any], silent: bool
) -> Iterator[tuple[Table, Listener | None]]:
    """A table and, on a terminal, a progress bar for it."""
    from privet.table import read

    with read(source, where=where, **reading) as table:
        with terminal.bar(silent) as listener:
            yield table, listener


def _where(tests: tuple[str, ...]) -> dict[str, tuple[str | None, ...]]:
    wanted: dict[str, tuple[str | None, ...]] = {}
    for test in tests:
        column, sign, value = test.partition("=")
        if not sign:
            raise click.UsageError(f"--where must be COLUMN=VALUE; got {test!r}.")
        values = (value,) if value else ("", None)
        wanted[column] = (*wanted.get(column, ()), *values)
    return wanted


def _narrowed(policy: Policy, asked: Wanted) -> Wanted:
    """The rows both the policy and the command line mean."""
    from privet.errors import InputError

    both = {**policy.where, **asked}
    for column in policy.where.keys() & asked.keys():
        both[column] = tuple(v for v in asked[column] if v in policy.where[column])
        if not both[column]:
            meant = ", ".join(map(repr, policy.where[column]))
            raise InputError(
                f"--where must choose among the rows the policy means; it means "
                f"{column} to be {meant}."
            )
    return both


def _say_doubts(guesses: Sequence[Guess]) -> None:
    for guess in guesses:
        if not guess.sure:
            role = guess.role or "no role"
            terminal.say(f"unsure of {guess.name!r}: {role}, because {guess.reason}")


def main() -> None:
    """The command `privet`."""
    terminal.hold_any_text()
    cli(prog_name="privet")
