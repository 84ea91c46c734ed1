"""Every command and option says what it does, and teaches by example."""

from __future__ import annotations

import inspect

import click
import pytest

from privet.cli import cli
from privet.engine.protocol import Engine

COMMANDS = list(cli.commands.items())


def options(command: click.Command) -> list[click.Option]:
    return [p for p in command.params if isinstance(p, click.Option)]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[n for n, _ in COMMANDS])
def test_commands_explain_themselves(name: str, command: click.Command) -> None:
    shown = command.get_help(click.Context(command, info_name=f"privet {name}"))
    assert "Example" in shown
    assert f"privet {name}" in (command.help or "")
    assert len(command.get_short_help_str(200)) <= 60
    assert [] == [o.name for o in options(command) if not o.help]
    for option in options(command):
        assert all(word in shown for word in option.opts)
    for argument in command.params:
        if isinstance(argument, click.Argument):
            assert argument.human_readable_name.strip("[]") in (command.help or "")


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[n for n, _ in COMMANDS])
def test_helps_are_sentences(name: str, command: click.Command) -> None:
    ends = [(o.help or "")[-1] for o in options(command)]
    assert {"."} >= set(ends)


def test_the_first_page_names_every_exit_code() -> None:
    shown = cli.help or ""
    for code in ("0 safe", "1 breach", "2 wrong use", "3 undecided", "4 infeasible"):
        assert code in shown
    assert "130" in shown


def test_every_engine_method_is_documented() -> None:
    methods = [
        m for n, m in vars(Engine).items() if inspect.isfunction(m) and n[0] != "_"
    ]
    assert methods
    assert [] == [m.__name__ for m in methods if not m.__doc__]
