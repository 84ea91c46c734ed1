"""What commands share: printing results, saying things, explaining what went wrong.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from privet.languages import mark, translate
from privet.values.visible_text import escape_controls, escape_json, hide_secrets

if TYPE_CHECKING:
    from privet.cli.progress import ProgressLine

EXIT = {
    "safe": 0,
    "breach": 1,
    "not applicable": 2,
    "undecided": 3,
    "not covered": 3,
}
"""Exit codes by verdict."""

WRONG, INFEASIBLE, BUG, INTERRUPTED = 2, 4, 70, 130
"""The other exit codes; the last is what a shell expects of Ctrl-C."""

NOTE = mark("note:")
"""What is said before a warning."""

STOPPED = "Stopped before it was done."
"""What is said after Ctrl-C."""

GRACE = 0.5
"""Seconds after a time limit in which work may notice by itself that it is over."""

WIDEST = 100
"""Columns of a terminal that a report fills; longer lines are hard to read."""


# What is asked for ------------------------------------------------------------------


def remember_option(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep how a result is to be shown; what a command does never depends on it."""
    ctx.meta[f"privet.{param.name}"] = value


def is_asked(option: str) -> bool:
    """Whether the command that runs was given an option of those that are kept."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(f"privet.{option}"))


def find_language() -> str:
    """The language that was asked for, where a command offers several."""
    context = click.get_current_context(silent=True)
    return (context.meta.get("privet.language") if context else None) or "en"


def is_silent() -> bool:
    """Whether nothing is said beside the result."""
    return is_asked("as_json") or is_asked("quiet")


# Results ----------------------------------------------------------------------------


def show(found: Any) -> None:
    """Print a result: text, or what shows itself, in a terminal or as plain text."""
    if isinstance(found, str):
        emit(found)
    elif _is_terminal(sys.stdout):
        from rich.console import Console

        console = Console(highlight=False)
        console.print(found, width=min(console.width, WIDEST))
    else:
        emit(found.explain())


def as_one_object(content: Mapping[str, Any]) -> str:
    """JSON that standard output can hold."""
    import json

    encoding = getattr(sys.stdout, "encoding", None) or ""
    plain = encoding.lower() != "utf-8"
    return escape_json(json.dumps(content, ensure_ascii=plain, indent=2))


def emit(text: str) -> None:
    """Print a result; a reader who has seen enough, such as head, is no error."""
    try:
        click.echo(escape_controls(text))
    except OSError as error:
        _silence()
        if not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, "standard output") from None


def _silence() -> None:
    """Lose what is still to be printed, so that Python does not try again at exit."""
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())


def write_new(path: Path, text: str) -> None:
    """Write a whole file, or none; never over another one."""
    refuse_existing(path)
    file = path.open("x", encoding="utf-8")
    try:
        with file:
            file.write(text)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def refuse_existing(path: Path) -> None:
    """Nothing is written over."""
    from privet.errors import InputError

    if path.exists() or path.is_symlink():
        raise InputError(
            f"{str(path)!r} must not exist yet; nothing is written over. Choose "
            "another name, or remove it first."
        )


# Messages ---------------------------------------------------------------------------


def say_notes(notes: Iterable[str]) -> None:
    """Print warnings that came up."""
    for note in notes:
        say(f"{translate(NOTE)} {translate(note)}")


def say(text: str) -> None:
    """Print a message beside the result; that nobody listens is no error."""
    with suppress(OSError):
        click.echo(escape_controls(hide_secrets(text)), err=True)


@contextmanager
def show_bar() -> Iterator[ProgressLine | None]:
    """How far the work is, on a terminal; nothing when messages are piped."""
    if is_silent() or not _is_terminal(sys.stderr):
        yield None
        return
    from privet.cli.progress import draw_progress

    with draw_progress() as line:
        yield line


def _is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


@contextmanager
def gather_warnings() -> Iterator[list[str]]:
    """Gather warnings about privacy; those of libraries are not for stewards."""
    import warnings

    from privet.errors import PrivacyWarning

    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrivacyWarning)
        yield said
    said += dict.fromkeys(str(w.message) for w in caught)


@contextmanager
def say_warnings() -> Iterator[None]:
    """Print warnings about privacy at once, before there is a result."""
    with gather_warnings() as said:
        yield
    say_notes(said)


# Time -------------------------------------------------------------------------------


@contextmanager
def keep_time(max_seconds: float | None) -> Iterator[None]:
    """Let a whole command take so many seconds at most; then it is stopped."""
    from privet.engine.protocol import WRITING, limit_time

    with limit_time(max_seconds, WRITING), _set_alarm(max_seconds):
        yield


@contextmanager
def _set_alarm(max_seconds: float | None) -> Iterator[None]:
    """Stop arithmetic that looks at no clock, where the system can wake us."""
    import signal
    import threading

    main = threading.current_thread() is threading.main_thread()
    if max_seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: object) -> None:
        from privet.engine.protocol import TOO_LATE
        from privet.errors import Stopped

        raise Stopped(TOO_LATE)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max_seconds + GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Errors -----------------------------------------------------------------------------


def fail(message: str, code: int) -> NoReturn:
    """Say why, and leave."""
    say(f"privet: {message}")
    sys.exit(code)


def explain_error(error: Exception) -> tuple[str, int]:
    """A message that quotes nobody's data, and an exit code."""
    from privet.errors import (
        Breach,
        Infeasible,
        NotCovered,
        NotTogether,
        PrivetError,
        Stopped,
        Undecided,
    )

    codes = {
        Breach: EXIT["breach"],
        Stopped: EXIT["undecided"],
        NotCovered: EXIT["not covered"],
        NotTogether: EXIT["undecided"],
        Undecided: EXIT["undecided"],
    }
    if isinstance(error, Infeasible | Undecided):
        steps = [f"{i}. {step}" for i, step in enumerate(error.advice, 1)]
        code = codes.get(type(error), INFEASIBLE)
        return "\n".join([str(error), *steps]), code
    if isinstance(error, PrivetError):
        return str(error), codes.get(type(error), WRONG)
    if isinstance(error, MemoryError):
        return "There is too little memory. Try --memory-limit and --spill.", WRONG
    if isinstance(error, OSError) and error.strerror:
        place = f"{str(error.filename)!r}: " if error.filename else ""
        return f"{place}{error.strerror}.", WRONG
    return _describe_bug(error), BUG


def _describe_bug(error: Exception) -> str:
    if os.environ.get("PRIVET_DEBUG"):
        import traceback

        say("".join(traceback.format_exception(error)))
    return (
        f"This is a bug in privet: {type(error).__name__}. Please report it. Its "
        "message is withheld, since it may quote people's data; with PRIVET_DEBUG=1 "
        "in the environment it is shown, with a traceback."
    )


PLAINER = {"✓": "+", "✗": "x", "–": "-", "→": "->", "…": "..."}
"""What stands for a sign where a terminal or a file cannot hold it."""


def hold_any_text() -> None:
    """Let standard output and error take any text, whatever their encoding."""
    codecs.register_error("privet", _replace_signs)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="privet")


def _replace_signs(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(PLAINER.get(c) or ascii(c)[1:-1] for c in lost), error.end
