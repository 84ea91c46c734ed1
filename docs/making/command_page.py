"""The page of the command line: every command with its options."""

from __future__ import annotations

import inspect
from typing import Any

import click

from making.markdown import page, table
from privet.cli import cli

_WIDE: dict[str, Any] = {"terminal_width": 88, "max_content_width": 88}
"""The same pages in a wide terminal and in a narrow one."""


def command_page() -> str:
    """Every command with its options."""
    context = click.Context(cli, info_name="privet", **_WIDE, **cli.context_settings)
    parts = [f"```text\n{cli.get_help(context)}\n```"]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        parts.append(_command(name, command, context))
    return page("Command line", *parts)


def _command(name: str, command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent, **_WIDE)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = [
        (f"`{shown}`", help_ or "")
        for p in command.get_params(context)
        if isinstance(p, click.Option) and (record := p.get_help_record(context))
        for shown, help_ in [record]
    ]
    parts = [f"## `privet {name}`", f"```text\n{usage}\n```"]
    parts.append(_click_help(command.help or ""))
    return "\n\n".join([*parts, table(("option", "meaning"), rows)])


def _click_help(text: str) -> str:
    """Help text as Markdown; what click keeps as it is goes into a fence."""
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        literal, _, body = part.partition("\n")
        if literal == "\b":
            parts.append(f"```text\n{body}\n```")
        else:
            parts.append(part.replace("\n", " "))
    return "\n\n".join(parts)
