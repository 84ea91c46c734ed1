"""A command gives an answer; text, JSON, quiet and exit code come with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from privet.cli import answer as answers
from privet.cli import options, terminal
from privet.cli.answer import CODES, Answer, command
from privet.cli.options import json_option, quiet_option
from privet.errors import warn
from privet.findings import Verdict

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"

Run = Callable[..., Result]


def run(written: click.Command, *words: str) -> Result:
    return CliRunner().invoke(written, [*words])


# The recipe -------------------------------------------------------------------------


@pytest.fixture
def enough(folder: Path) -> Run:
    """The command that the guide writes, on the loans."""
    recipe = GUIDE.read_text(encoding="utf-8").split("**A command.**")[1]
    code = recipe.split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {"click": click, **vars(options), **vars(answers)}
    exec(code, names)
    return lambda *words: run(names["enough"], "loans.csv", *words)


def test_the_guide_s_command_shows_its_answer_as_it_is_asked_for(enough: Run) -> None:
    shown = enough()
    rows = int(shown.stdout.split()[0])
    assert (0, f"{rows} rows.\n", "") == (shown.exit_code, shown.stdout, shown.stderr)
    assert {"rows": rows} == json.loads(enough("--json").stdout)
    assert "safe\n" == enough("--quiet").stdout
    assert {"rows": rows} == json.loads(enough("--json", "--quiet").stdout)


@pytest.mark.parametrize("manner", [(), ("--json",), ("-q",)])
def test_the_exit_code_is_that_of_the_verdict(enough: Run, manner: tuple[str]) -> None:
    assert 0 == enough(*manner).exit_code
    assert 1 == enough("--at-least", "1000", *manner).exit_code


def test_options_of_tables_come_with_it(enough: Run) -> None:
    found = json.loads(enough("--where", "country=UK", "--json").stdout)["rows"]
    assert 0 < found < json.loads(enough("--json").stdout)["rows"]
    wrong = enough("--where", "country")
    assert (2, "") == (wrong.exit_code, wrong.stdout)


# One rule for all -------------------------------------------------------------------


class Shows:
    """A result that shows itself."""

    def explain(self) -> str:
        return "a picture"


def made(answer: Answer, *warnings: str) -> click.Command:
    """A command that warns and answers."""

    @command("Try.")
    @json_option
    @quiet_option("result")
    def try_it() -> Answer:
        for words in warnings:
            warn(words)
        return answer

    return try_it


WHOLE = Answer({"a": 1}, Shows(), "below", asides=["read on"])


@pytest.mark.parametrize(
    ("answer", "words", "out", "err"),
    [
        (WHOLE, (), "a picture\nbelow\n", "read on\n"),
        (WHOLE, ("--json",), '{\n  "a": 1\n}\n', ""),
        (WHOLE, ("-q",), "a picture\n", ""),
        (Answer({}, "all", quiet="1 2"), ("-q",), "1 2\n", ""),
        (Answer({}, "all", verdict="safe"), ("-q",), "safe\n", ""),
        (Answer({}, "all", verdict="safe", quiet=""), ("-q",), "\n", ""),
        (Answer({}), (), "", ""),
        (Answer({}), ("-q",), "", ""),
    ],
)
def test_an_answer_is_shown(
    answer: Answer, words: tuple[str, ...], out: str, err: str
) -> None:
    found = run(made(answer), *words)
    assert (0, out, err) == (found.exit_code, found.stdout, found.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), ["note: new", "read on"]),
        (("--json",), ["note: new"]),
        (("-q",), ["note: old", "note: new"]),
    ],
)
def test_warnings_are_said_once(words: tuple[str, ...], said: list[str]) -> None:
    """What the report has is not said again; a verdict alone has nothing."""
    answer = Answer({}, "all", verdict="safe", reported=["old"], asides=["read on"])
    found = run(made(answer, "old", "new", "new"), *words)
    assert said == found.stderr.splitlines()


@pytest.mark.parametrize("verdict", CODES)
def test_every_verdict_has_its_code(verdict: str) -> None:
    assert CODES[verdict] == run(made(Answer({}, verdict=verdict))).exit_code


def test_audits_say_nothing_that_has_no_code() -> None:
    assert {*Verdict} == {*terminal.EXIT} == {*CODES} & {*Verdict}
    with pytest.raises(AssertionError):
        Answer({}, verdict="perhaps")
