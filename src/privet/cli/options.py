"""Options that commands share, and how they open a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from privet.cli import terminal

if TYPE_CHECKING:
    from privet.engine.protocol import Listener
    from privet.policy import Policy
    from privet.table import Table


Wanted = Mapping[str, tuple[str | None, ...]]
"""The values of each column that rows must have."""


def combine_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Options that belong together, in this order."""

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add_options


def _check_seconds(_ctx: object, _param: object, seconds: float | None) -> float | None:
    if seconds is not None and seconds != seconds:  # noqa: PLR0124 - not a number
        raise click.BadParameter("must be a number of seconds.")
    return seconds


def _split_names(_ctx: object, _param: object, line: str | None) -> list[str] | None:
    return None if line is None else next(csv.reader([line], skipinitialspace=True))


def _remember_option(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Remember what `open_table` needs to know; few commands do."""
    ctx.meta[f"privet.{param.name}"] = value
    return value


_common = (
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option("--quiet", "-q", is_flag=True, help="Print the result only."),
    click.option(
        "--engine",
        type=click.Choice(["duckdb", "spark"]),
        default="duckdb",
        show_default=True,
        expose_value=False,
        callback=_remember_option,
        help="What reads files and counts their rows. A database counts its own.",
    ),
    click.option(
        "--master",
        metavar="ADDRESS",
        expose_value=False,
        callback=_remember_option,
        help="Where Spark runs: spark://host:7077, sc://host, local[2].",
    ),
    click.option(
        "--max-seconds",
        type=click.FloatRange(min=0, min_open=True),
        callback=_check_seconds,
        help="Stop after this time; what is not decided by then is undecided.",
    ),
)
"""What to print, what counts, and for how long."""

places = combine_options(
    click.option(
        "--output", "-o", type=click.Path(), help="The folder of the release."
    ),
    click.option(
        "--custody",
        type=click.Path(file_okay=False),
        help="The folder for the private record; it never travels.",
    ),
)
"""Where a release goes, and what is kept of it."""

_reading = (
    click.option("--table", help="Table of a DuckDB file or a PostgreSQL database."),
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
        "--header",
        callback=_split_names,
        metavar="NAMES",
        help="Names of the columns of a text file that has none, with commas between.",
    ),
    click.option(
        "--null",
        multiple=True,
        metavar="TEXT",
        help="Text that stands for a missing value, such as '?' or NA; in quotes it is "
        "a value like others.",
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

READING = (
    "table",
    "delimiter",
    "encoding",
    "header",
    "null",
    "memory_limit",
    "spill",
    "threads",
)
"""What those options are called, but for --where."""

replace_option = click.option(
    "--replace", is_flag=True, help="Write over an earlier release."
)


def policy_option(help_: str, *, required: bool = True) -> Callable[..., Any]:
    """The policy; without a default, for nobody shall be judged by chance."""
    return click.option(
        "--policy", "-p", required=required, type=click.Path(), help=help_
    )


def format_option(help_: str) -> Callable[..., Any]:
    """How tables of a release are written."""
    formats = click.Choice(["parquet", "csv"])
    return click.option("--format", "form", type=formats, help=help_)


# What a command is asked ------------------------------------------------------------


@dataclass(frozen=True)
class TableArguments:
    """The table a command was given, and how its result is to be printed."""

    source: str
    """The table, as it was named."""
    where: Wanted
    """The rows that are asked for."""
    reading: Mapping[str, Any]
    """How to read it."""
    as_json: bool
    """Whether to print one JSON object."""
    quiet: bool
    """Whether to print the result only."""
    max_seconds: float | None
    """When to stop."""

    @property
    def silent(self) -> bool:
        """Whether nothing is said beside the result."""
        return self.quiet or self.as_json

    @contextmanager
    def open_table(
        self, policy: Policy | None = None
    ) -> Iterator[tuple[Table, Listener | None]]:
        """The rows that were asked for and that the policy means; and a bar."""
        chosen = self.where if policy is None else self._choose_rows(policy)
        with _read_source(self.source, chosen, self.reading) as table:
            with terminal.show_bar(self.silent) as listener:
                yield table, listener

    def _choose_rows(self, policy: Policy) -> Wanted:
        """What is wrong with the policy is said before rows are chosen by it."""
        if policy.where:
            with _read_source(self.source, {}, self.reading) as table:
                policy.bind(table.schema)
        return _intersect_rows(policy, self.where)

    def say_notes(self, said: Iterable[str], reported: Iterable[str]) -> None:
        """Print warnings that the report does not have; a verdict alone has none."""
        kept = () if self.quiet and not self.as_json else tuple(reported)
        terminal.say_notes(note for note in said if note not in kept)

    def tell(self, told: Mapping[str, Any], text: str) -> None:
        """Print what became of a release: its verdict, its report, its place."""
        if self.as_json:
            terminal.emit(terminal.as_one_object(dict(told)))
        elif self.quiet:
            terminal.emit(told["verdict"])
        else:
            terminal.emit(text)
            if "folder" in told:
                terminal.emit(f"\nReleased: {told['folder']}. Kept: {told['custody']}.")
            terminal.emit(f"\n{told['sensitive']}")


def reads_table(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that takes a TABLE, which it is given as what was `TableArguments`."""

    @wraps(command)
    def gather_arguments(**given: Any) -> Any:
        reading = {key: given.pop(key) for key in READING}
        keys = ("source", "as_json", "quiet", "max_seconds")
        own = {key: given.pop(key) for key in keys}
        where = parse_where(given.pop("where"))
        return command(TableArguments(where=where, reading=reading, **own), **given)

    table = click.argument("source", metavar="TABLE", type=click.Path())
    found: Callable[..., Any] = combine_options(table, *_reading, *_common)(
        gather_arguments
    )
    return found


def as_words(reading: Mapping[str, Any]) -> list[str]:
    """How a table was read, to be said again on the command line."""
    usual = {"encoding": "utf-8"}
    words: list[str] = []
    for key in ("table", "delimiter", "encoding", "header", "null"):
        given = reading[key]
        if not given or given == usual.get(key):
            continue
        if key == "header":
            line = io.StringIO()
            csv.writer(line, lineterminator="").writerow(given)
            given = line.getvalue()
        for value in (given,) if isinstance(given, str) else given:
            words += [f"--{key}", value]
    for key, value in _recall_engine().items():
        if value != "duckdb":
            words += [f"--{key}", value]
    return words


def _read_source(source: str, where: Wanted, reading: Mapping[str, Any]) -> Table:
    from privet.table import read

    return read(source, where=where, **reading, **_recall_engine())


def _recall_engine() -> dict[str, Any]:
    """The engine that was asked for on the command line, and where it is."""
    context = click.get_current_context(silent=True)
    said = {} if context is None else context.meta
    named = {key: said.get(f"privet.{key}") for key in ("engine", "master")}
    return {key: value for key, value in named.items() if value is not None}


def without_secrets(source: str) -> str:
    """An address as it may be shown: no password, no parameters.

    >>> without_secrets("postgresql://ann:secret@host:5432/db?password=x")
    'postgresql://ann@host:5432/db'
    >>> without_secrets("people.csv")
    'people.csv'
    """
    if "://" not in source:
        return source
    parts = urlsplit(source)
    user, at, host = parts.netloc.rpartition("@")
    place = user.split(":", maxsplit=1)[0] + at + host
    return parts._replace(netloc=place, query="", fragment="").geturl()


def parse_where(tests: tuple[str, ...]) -> dict[str, tuple[str | None, ...]]:
    """The rows that --where asks for."""
    wanted: dict[str, tuple[str | None, ...]] = {}
    for column, value in _split_pairs(tests, "--where"):
        values = (value,) if value else ("", None)
        wanted[column] = (*wanted.get(column, ()), *values)
    return wanted


def parse_files(given: tuple[str, ...], option: str) -> dict[str, str]:
    """Files by column."""
    return dict(_split_pairs(given, option, file=True))


def parse_hidden(values: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The values that --hide names."""
    wanted: dict[str, tuple[str, ...]] = {}
    for column, value in _split_pairs(values, "--hide"):
        wanted[column] = (*wanted.get(column, ()), value)
    return wanted


def _split_pairs(
    given: tuple[str, ...], option: str, *, file: bool = False
) -> Iterator[tuple[str, str]]:
    form = "COLUMN=FILE" if file else "COLUMN=VALUE"
    for pair in given:
        column, sign, value = pair.partition("=")
        if not sign or (file and not (column and value)):
            raise click.UsageError(f"{option} must be {form}; got {pair!r}.")
        yield column, value


def _intersect_rows(policy: Policy, asked: Wanted) -> Wanted:
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
