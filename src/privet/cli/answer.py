"""What a command answers, and the one way to show it: as text, as JSON or quietly."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from privet.cli import terminal
from privet.languages import say, speak

if TYPE_CHECKING:
    from privet.findings import Audit

CODES = {
    **terminal.EXIT,
    "verified": terminal.EXIT["safe"],
    "refused": terminal.EXIT["breach"],
    "written": terminal.EXIT["safe"],
    "infeasible": terminal.INFEASIBLE,
    "": terminal.EXIT["safe"],
}
"""Exit codes by verdict; what judges nothing has none, and was done."""


@dataclass(frozen=True)
class Answer:
    """The result of a command, however it is shown."""

    content: Mapping[str, Any]
    """What --json prints: one object."""
    text: Any = None
    """What is printed otherwise: text, or what shows itself; nothing if None."""
    more: str | None = None
    """Text below it."""
    verdict: str = ""
    """Decides the exit code, and is what --quiet prints."""
    quiet: str | None = None
    """What --quiet prints instead; without a verdict it is the text."""
    reported: Sequence[str] = ()
    """Warnings that the text and the JSON object hold already."""
    asides: Sequence[str] = ()
    """Lines beside the result, for whoever reads the text."""

    def __post_init__(self) -> None:
        assert self.verdict in CODES, self.verdict

    @property
    def code(self) -> int:
        """The exit code."""
        return CODES[self.verdict]

    @property
    def brief(self) -> Any:
        """What --quiet prints."""
        return (self.verdict or self.text) if self.quiet is None else self.quiet


def command(short_help: str) -> Callable[[Callable[..., Answer]], click.Command]:
    """A command whose function gives an answer: it is shown, and decides the exit."""

    def make_command(function: Callable[..., Answer]) -> click.Command:
        @wraps(function)
        def show_and_exit(**given: Any) -> None:
            with speak(terminal.find_language()):
                with terminal.gather_warnings() as said:
                    answer = function(**given)
                _show(answer, said)
            sys.exit(answer.code)

        return click.command(short_help=short_help)(show_and_exit)

    return make_command


def _show(answer: Answer, said: Sequence[str]) -> None:
    """Print an answer as it was asked for, and beside it what was warned of."""
    as_json, quiet = terminal.is_asked("as_json"), terminal.is_asked("quiet")
    if as_json:
        terminal.emit(terminal.as_one_object(answer.content))
    else:
        for part in (answer.brief,) if quiet else (answer.text, answer.more):
            if part is not None:
                terminal.show(part)
    reported = () if quiet and not as_json else answer.reported
    terminal.say_notes(note for note in said if note not in reported)
    for line in () if terminal.is_silent() else answer.asides:
        terminal.say(line)


# Answers that several commands give -------------------------------------------------


def answer_audit(found: Audit, more: str | None = None) -> Answer:
    """A verdict per promise."""
    return Answer(
        found.to_dict(),
        found,
        more,
        verdict=found.verdict.value,
        reported=found.notes,
    )


def say_released(told: Mapping[str, Any]) -> str:
    """Where a release is, and where what is kept of it."""
    places = {"folder": told["folder"], "custody": told["custody"]}
    return say("Released: {folder}. Kept: {custody}.", **places)


def answer_release(
    told: Mapping[str, Any], text: str, asides: Sequence[str] = ()
) -> Answer:
    """What became of a release: its verdict, its report, its places."""
    parts = [text]
    if "folder" in told:
        parts.append(say_released(told))
    parts.append(told["sensitive"])
    return Answer(told, "\n\n".join(parts), verdict=told["verdict"], asides=asides)
