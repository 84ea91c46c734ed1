"""The command line: parse, call one function, show, exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from privet import __version__

if TYPE_CHECKING:
    from privet.engines.base import Listener
    from privet.finding import Audit
    from privet.table import Table

EXIT = {"safe": 0, "not applicable": 0, "breach": 1, "undecided": 3}
"""Exit codes by verdict; 2 is wrong use, 4 is infeasible."""

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


class Commands(click.Group):
    """Lists commands in the order a steward meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order they were added."""
        return list(self.commands)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="privet")
def cli() -> None:
    """How sure could an attacker be of one person in your table?

    \b
    privet demo                          see it work on a made-up hospital
    privet init  patients.csv > p.toml   draft a policy for your table
    privet audit patients.csv -p p.toml  a verdict per promise, the worst case in words

    Exit codes: 0 safe, 1 breach, 2 wrong use, 3 undecided, 4 infeasible.
    """


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options every command that reads a table takes."""
    options = [
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--quiet", "-q", is_flag=True, help="Print the verdict only."),
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
            help="Stop after this time; what is not decided by then is undecided.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How to read the table."""
    options = [
        click.option("--table", "table_name", help="Table of a DuckDB database file."),
        click.option(
            "--where",
            multiple=True,
            metavar="COLUMN=VALUE",
            help="Only rows with this value; repeat it for several.",
        ),
        click.option("--delimiter", help="Between two values of a text file."),
        click.option("--encoding", default="utf-8", show_default=True),
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
    ]
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@click.argument("folder", type=click.Path(file_okay=False), default="privet-demo")
@click.option(
    "--rows", type=click.IntRange(min=1000), default=50_000, show_default=True
)
@click.option("--replace", is_flag=True, help="Write over an earlier demo.")
def demo(folder: str, rows: int, replace: bool) -> None:
    """Make a table of patients, a policy, and audit the one with the other.

    \b
    Example:
      privet demo
      privet audit privet-demo/patients.csv -p privet-demo/policy.toml --json
    """
    from privet.demo.story import tell

    with helpful():
        tell(Path(folder), rows=rows, replace=replace, show=_show)


@cli.command()
@click.argument("source", metavar="TABLE")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write it here.")
@table_options
def init(source: str, output: str | None, **options: Any) -> None:
    """Draft a commented policy for TABLE: guesses what each column is for.

    \b
    Example:
      privet init patients.csv -o policy.toml

    Nothing is decided: read every line of the draft before you use it.
    """
    from privet.draft import draft_policy, guess_roles
    from privet.engines.base import Run

    with helpful(), opened(source, options, quiet=False) as (table, progress):
        columns = table.engine.describe(Run(progress))
    guesses = guess_roles(columns)
    text = draft_policy(columns, guesses, title=f"Policy for {Path(source).name}")
    if output is None:
        click.echo(text, nl=False)
    else:
        with helpful():
            _write_new(Path(output), text)
    for guess in guesses:
        if not guess.sure:
            click.echo(f"unsure of {guess.name}: {guess.reason}", err=True)


@cli.command()
@click.argument("source", metavar="TABLE")
@click.option("--policy", "-p", required=True, help="The policy file (TOML).")
@click.option("--strict", is_flag=True, help="A value that never occurs is an error.")
@table_options
@common
def audit(
    source: str,
    policy: str,
    strict: bool,
    as_json: bool,
    quiet: bool,
    engine: str,  # there is one so far
    max_seconds: float | None,
    **options: Any,
) -> None:
    """Judge every promise of a policy on TABLE, as if it were released as it is.

    \b
    Examples:
      privet audit loans.csv -p policy.toml
      privet audit 'visits-*.parquet' -p policy.toml --json | jq .verdict
      privet audit hospital.duckdb --table visits -p policy.toml --memory-limit 4GB

    \b
    Exit codes: 0 every promise is kept, 1 one is broken, 2 wrong use,
    3 one could not be decided.
    """
    import warnings

    from privet.audits import audit as judge
    from privet.policy import Policy

    with helpful():
        stated = Policy.load(policy)
        options["where"] = {**stated.where, **_where(options["where"])}
        with opened(source, options, quiet=quiet or as_json) as (table, progress):
            with warnings.catch_warnings(action="ignore"):  # they are in the notes
                found = judge(
                    table,
                    stated,
                    strict=strict,
                    max_seconds=max_seconds,
                    progress=progress,
                )
    _show(found, as_json=as_json, quiet=quiet)
    sys.exit(EXIT[found.verdict])


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes SHELL complete privet's commands and options.

    \b
    Example:
      eval "$(privet completion bash)"
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(cli, {}, "privet", "_PRIVET_COMPLETE").source())


# What commands share ----------------------------------------------------------------


@contextmanager
def helpful() -> Iterator[None]:
    """Turn what privet raises into a message and an exit code."""
    from privet.errors import Infeasible, PrivetError

    try:
        yield
    except Infeasible as error:
        _fail(str(error), 4)
    except PrivetError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("Stopped. Nothing was left behind.", INTERRUPTED)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"privet: {message}", err=True)
    sys.exit(code)


@contextmanager
def opened(
    source: str, options: dict[str, Any], *, quiet: bool
) -> Iterator[tuple[Table, Listener | None]]:
    """A table and, on a terminal, a progress bar for it."""
    from privet.table import read

    where = options.pop("where")
    table = read(
        source,
        table=options["table_name"],
        where=where if isinstance(where, dict) else _where(where),
        delimiter=options["delimiter"],
        encoding=options["encoding"],
        null=options["null"],
        memory_limit=options["memory_limit"],
        spill=options["spill"],
        threads=options["threads"],
    )
    with table, bar(quiet) as listener:
        yield table, listener


def _where(tests: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    wanted: dict[str, tuple[str, ...]] = {}
    for test in tests:
        column, sign, value = test.partition("=")
        if not sign:
            raise click.UsageError(f"--where must be COLUMN=VALUE; got {test!r}.")
        wanted[column] = (*wanted.get(column, ()), value)
    return wanted


@contextmanager
def bar(quiet: bool) -> Iterator[Listener | None]:
    """A progress bar on a terminal; nothing when output is piped."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from privet.report.progress import progress_bar

    with progress_bar() as listener:
        yield listener


def _show(found: Audit, *, as_json: bool = False, quiet: bool = False) -> None:
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    elif quiet:
        click.echo(found.verdict.value)
    elif sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(found)
    else:
        from privet.report.render import as_text

        click.echo(as_text(found.to_dict(), whole=True))


def _write_new(path: Path, text: str) -> None:
    from privet.errors import InputError

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            f"{str(path)!r} must not exist yet; nothing is written over. Choose "
            "another name, or remove it first."
        ) from None
    except OSError as error:
        raise InputError(f"{str(path)!r} must be writable: {error.strerror}.") from None


def main() -> None:
    """The command `privet`."""
    cli(prog_name="privet")
