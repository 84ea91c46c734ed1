"""Options that commands share, and how they open a table."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from privet.cli import terminal
from privet.languages import LANGUAGES

if TYPE_CHECKING:
    from privet.cli.progress import ProgressLine
    from privet.policy import Policy
    from privet.release.integrity.signature import SigningKey
    from privet.table import Table


Wanted = Mapping[str, tuple[str | None, ...]]
"""The values of each column that rows must have."""


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Gives a command an option, or several."""


def combine_options(*options: Decorator) -> Decorator:
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


# What to print ----------------------------------------------------------------------

json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    expose_value=False,
    callback=terminal.remember_option,
    help="Print one JSON object.",
)


def quiet_option(what: str) -> Decorator:
    """Print what a script needs only."""
    return click.option(
        "--quiet",
        "-q",
        is_flag=True,
        expose_value=False,
        callback=terminal.remember_option,
        help=f"Print the {what} only.",
    )


language_option = click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default="en",
    show_default=True,
    envvar="PRIVET_LANGUAGE",
    show_envvar=True,
    expose_value=False,
    callback=terminal.remember_option,
    help="What results are said in; keys, verdicts, errors and the files of a release "
    "stay as they are.",
)


# What several commands take ---------------------------------------------------------

strict_option = click.option(
    "--strict",
    is_flag=True,
    help="A value that never occurs, or a promise that forbids nothing, is an error.",
)
memory_option = click.option("--memory-limit", metavar="SIZE", help="Such as 4GB.")
replace_option = click.option(
    "--replace", is_flag=True, help="Write over an earlier release."
)


def policy_option(help_: str, *, required: bool = True) -> Decorator:
    """The policy; without a default, for nobody shall be judged by chance."""
    return click.option(
        "--policy", "-p", required=required, type=click.Path(), help=help_
    )


ledger_option = click.option(
    "--ledger",
    type=click.Path(file_okay=False),
    help="The folder that knows every release about the same people; the policy's "
    "ledger unless you name one.",
)


def name_ledger(policy: Policy, ledger: str | None) -> Policy:
    """The policy with the ledger that was named on the command line."""
    if ledger is None:
        return policy
    from attrs import evolve

    return evolve(policy, ledger=str(Path(ledger).expanduser().resolve()))


def format_option(help_: str) -> Decorator:
    """How tables of a release are written."""
    formats = click.Choice(["parquet", "csv", "xlsx", "sav", "dta"])
    return click.option("--format", "form", type=formats, help=help_)


def dry_run_option(help_: str) -> Decorator:
    """Do everything but write."""
    return click.option("--dry-run", is_flag=True, help=f"{help_}; write nothing.")


def confidence_option(help_: str) -> Decorator:
    """How sure an estimate is meant to be."""
    share = click.FloatRange(0, 1, min_open=True, max_open=True)
    return click.option(
        "--confidence", type=share, default=0.95, show_default=True, help=help_
    )


_reading = (
    click.option(
        "--table",
        help="Table of a database, sheet of a spreadsheet, or file in a .zip file.",
    ),
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
        metavar="NAME",
        help="Of a text file: utf-8, cp1252, utf-16 and others; it is looked at unless "
        "you say so.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a text file names its columns; it is looked "
        "at unless you say so.",
    ),
    click.option(
        "--names",
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
    click.option(
        "--dates",
        type=click.Choice(["dmy", "mdy", "ymd", "text"]),
        help="Order of day, month and year in dates that are texts; columns are "
        "looked at unless you say so. text leaves dates as they are.",
    ),
    click.option(
        "--decimal",
        type=click.Choice([",", ".", "text"]),
        help="What stands before the decimals of numbers that are texts; columns are "
        "looked at unless you say so. text leaves numbers with commas as they are.",
    ),
    memory_option,
    click.option(
        "--spill",
        type=click.Path(file_okay=False, exists=True),
        help="Folder for what does not fit into memory.",
    ),
    click.option("--threads", type=click.IntRange(min=1), help="Cores to use."),
    json_option,
    quiet_option("result"),
    click.option(
        "--engine",
        type=click.Choice(["duckdb", "spark"]),
        default="duckdb",
        show_default=True,
        help="What reads files and counts their rows. A database counts its own.",
    ),
    click.option(
        "--master",
        metavar="ADDRESS",
        help="Where Spark runs: spark://host:7077, sc://host, local[2].",
    ),
    click.option(
        "--max-seconds",
        type=click.FloatRange(min=0, min_open=True),
        callback=_check_seconds,
        help="How long the whole command may take; what is not decided by then is "
        "undecided. A search stops early enough for what it reached to be written.",
    ),
)
"""How to read the table, what to print, what counts, and for how long."""

READING = (
    "table",
    "delimiter",
    "encoding",
    "header",
    "names",
    "null",
    "dates",
    "decimal",
    "memory_limit",
    "spill",
    "threads",
    "engine",
    "master",
)
"""What those options are called that `read` takes as they are."""


TEXT_READING = ("delimiter", "encoding", "header", "names", "null", "dates", "decimal")
"""Those about text files, which a policy remembers."""

USUAL = {"engine": "duckdb"}
"""What is meant where nothing is said."""


# Options that a command gets as one value -------------------------------------------


@dataclass(frozen=True)
class TableArguments:
    """The table a command was given."""

    source: str
    """The table, as it was named."""
    where: Wanted
    """The rows that are asked for."""
    reading: Mapping[str, Any]
    """How to read it."""
    max_seconds: float | None
    """When to stop."""

    @contextmanager
    def open_table(
        self, policy: Policy | None = None
    ) -> Iterator[tuple[Table, ProgressLine | None]]:
        """The rows that were asked for and that the policy means; and a bar."""
        chosen = self.where if policy is None else self._choose_rows(policy)
        with self._read(chosen, policy) as table, terminal.show_bar() as listener:
            yield table, listener

    def open_other(self, source: str, like: Table) -> Table:
        """Another table, read in the same way."""
        from privet.table import read

        reading = {**self.reading, **like.source.text.to_dict()}
        return read(source, where=self.where, **reading)

    def list_text_options(self) -> dict[str, Any]:
        """What was said of how the text file is written."""
        given = {key: self.reading[key] for key in TEXT_READING}
        return {k: v for k, v in given.items() if v not in (None, (), USUAL.get(k))}

    def _choose_rows(self, policy: Policy) -> Wanted:
        """What is wrong with the policy is said before rows are chosen by it."""
        if policy.where:
            with self._read({}, policy) as table:
                policy.bind(table.schema)
        return _intersect_rows(policy, self.where)

    def _read(self, where: Wanted, policy: Policy | None) -> Table:
        """The table, as the command line says, or else as the policy remembers."""
        from privet.engine.sources.find_source import list_options
        from privet.table import read

        taken = list_options(self.source) if policy else ()
        known = {k: v for k, v in policy.file.items() if k in taken} if policy else {}
        reading = {**self.reading, **known, **self.list_text_options()}
        return read(self.source, where=where, **reading)


def reads_table(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that takes a TABLE: it gets `asked`, its `TableArguments`."""

    @wraps(command)
    def gather_arguments(**given: Any) -> Any:
        reading = {key: given.pop(key) for key in READING}
        own = {key: given.pop(key) for key in ("source", "max_seconds")}
        where = parse_where(given.pop("where"))
        asked = TableArguments(where=where, reading=reading, **own)
        with terminal.keep_time(asked.max_seconds):
            return command(asked=asked, **given)

    table = click.argument("source", metavar="TABLE", type=click.Path())
    return combine_options(table, *_reading)(gather_arguments)


@dataclass(frozen=True)
class Places:
    """Where a release goes, and what is kept of it."""

    output: str | None
    """The folder of the release, or the file of its table."""
    custody: str | None
    """The folder for the private record."""
    form: str | None = None
    """How its tables are written."""
    replace: bool = False
    """Whether to write over an earlier release."""
    dry_run: bool | None = None
    """Whether to write nothing; None where nothing needs to be written anyway."""
    signer: SigningKey | None = None
    """Who signs it."""

    def __post_init__(self) -> None:
        missing = (self.output, self.custody).count(None)
        if self.dry_run is None and missing == 1:
            raise click.UsageError("Give -o and --custody together.")
        if self.dry_run is False and missing:
            raise click.UsageError("Give -o and --custody, or --dry-run.")

    @property
    def wanted(self) -> bool:
        """Whether a release is to be written."""
        return self.output is not None and not self.dry_run

    def write(self, release: Any, **how: Any) -> dict[str, str]:
        """Write a release if that is wanted; where it is then.

        A dry run refuses what writing would refuse.
        """
        if self.dry_run:
            self._rehearse(release, **how)
        if not self.wanted:
            return {}
        release.write(
            self.output,
            custody=self.custody,
            replace=self.replace,
            sign=self.signer,
            **how,
        )
        return {"folder": str(self.output), "custody": str(self.custody)}

    def _rehearse(self, release: Any, *, progress: object = None, **how: Any) -> None:
        from privet.release.kinds import find_judging_kind
        from privet.release.write import rehearse

        form = how.pop("format", None)
        found = find_judging_kind(release)
        assert found is not None
        parts = found[0].parts(release, **how)
        place = None
        if self.output is not None and self.custody is not None:
            place = parts.resolve(self.output, self.custody, form)
        rehearse(parts, place, replace=self.replace)


def writes_release(
    help_: str = "The folder of the release.", *, required: bool = False
) -> Decorator:
    """A command that writes a release: it gets `to`, its `Places`."""

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gather_places(**given: Any) -> Any:
            own = {f.name: given.pop(f.name) for f in fields(Places) if f.name in given}
            signer = _load_signer(given.pop("sign"), given.pop("sign_password"))
            return command(to=Places(**own, signer=signer), **given)

        output = click.option(
            "--output", "-o", required=required, type=click.Path(), help=help_
        )
        custody = click.option(
            "--custody",
            required=required,
            type=click.Path(file_okay=False),
            help="The folder for the private record; it never travels.",
        )
        return combine_options(output, custody, *_signing)(gather_places)

    return add_options


_signing = (
    click.option(
        "--sign",
        metavar="KEY",
        type=click.Path(),
        help="Sign the release with a private key that privet keys new made.",
    ),
    click.option(
        "--sign-password",
        metavar="FILE",
        type=click.Path(),
        help="With --sign: the file whose first line is the key's password.",
    ),
)


def _load_signer(key: str | None, password: str | None) -> SigningKey | None:
    """The key that signs, before anything else is done."""
    if key is None:
        if password is not None:
            raise click.UsageError("--sign-password goes with --sign.")
        return None
    from privet.release.integrity.signature import SigningKey

    return SigningKey.load(key, password=read_password(password))


def read_password(path: str | None) -> bytes | None:
    """The first line of a file; None: there is no password."""
    if path is None:
        return None
    from privet.errors import InputError

    try:
        with Path(path).expanduser().open("rb") as file:
            line = file.readline().rstrip(b"\r\n")
    except OSError as error:
        raise InputError(
            f"The password file {path!r} must be readable: {error.strerror}."
        ) from None
    if not line:
        raise InputError(
            f"The password file {path!r} must have a first line; got none."
        )
    return line


# What options mean ------------------------------------------------------------------


def as_words(reading: Mapping[str, Any]) -> list[str]:
    """How a table was read, to be said again; the policy remembers the rest."""
    words: list[str] = []
    for key in ("table", "engine", "master"):
        if reading[key] and reading[key] != USUAL.get(key):
            words += [f"--{key}", reading[key]]
    return words


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


def parse_values(values: tuple[str, ...], option: str) -> dict[str, tuple[str, ...]]:
    """The values that an option names, by column."""
    wanted: dict[str, tuple[str, ...]] = {}
    for column, value in _split_pairs(values, option):
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
