"""The command `skyline`: how much insiders may know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from privet.cli import terminal
from privet.cli.answer import Answer, command
from privet.cli.options import (
    TableArguments,
    language_option,
    policy_option,
    reads_table,
)

AT_LEAST_0 = click.IntRange(min=0)


@command("Find how much insiders may know.")
@policy_option(
    "The policy file (TOML), for the roles of columns; a release has its own.",
    required=False,
)
@click.option(
    "--confidence",
    default="0.95",
    show_default=True,
    help="How sure an insider must not become.",
)
@click.option("--about", help="The sensitive column, where there are several.")
@click.option(
    "--max-l", type=AT_LEAST_0, default=20, show_default=True, help="Values ruled out."
)
@click.option(
    "--max-k", type=AT_LEAST_0, default=50, show_default=True, help="People known."
)
@click.option(
    "--max-m", type=AT_LEAST_0, default=50, show_default=True, help="Companions."
)
@language_option
@reads_table
def skyline(
    asked: TableArguments, policy: str | None, confidence: str, **bounds: Any
) -> Answer:
    """Find how much insiders may know about people in TABLE and still be unsure.

    \b
    Examples:
      privet skyline patients.csv -p policy.toml
      privet skyline out --confidence 0.8
      privet skyline patients.csv -p policy.toml --json | jq .points

    TABLE is what privet audit takes, or the folder of a release. Each line is as much
    as one insider may know: values a person does not have, other people's values, and
    people who have the same value as the person. The companions of --max-m are those
    people. Nothing is written.

    \b
    Exit codes: 0 somebody without further knowledge stays unsure, 1 not even that,
    2 wrong use.
    """
    from privet.microdata.skyline.skyline_find import skyline as find

    with _open_table(asked, policy) as (table, bar):
        found = find(
            table, confidence, max_seconds=asked.max_seconds, progress=bar, **bounds
        )
    return Answer(
        found.to_dict(),
        found,
        verdict="safe" if found.safe else "breach",
        quiet="\n".join(" ".join(map(str, p)) for p in found.points),
    )


@contextmanager
def _open_table(asked: TableArguments, policy: str | None) -> Iterator[tuple[Any, Any]]:
    """The table as the policy means it, or what a release shows."""
    from privet.engine.sources.find_source import require_there
    from privet.errors import InputError
    from privet.microdata.release import Release
    from privet.policy import Policy
    from privet.release.audit import bind_table
    from privet.release.verify import is_release, load

    if is_release(asked.source):
        release = load(asked.source, memory_limit=asked.reading["memory_limit"])
        if not isinstance(release, Release):
            raise InputError(
                "A skyline must be of a table or of groups; "
                f"{Path(asked.source).name!r} is a release of another kind."
            )
        with release.table as table, terminal.show_bar() as bar:
            yield table, bar
        return
    if policy is None:
        require_there(asked.source)
        raise click.UsageError("A table must have a policy: give one with -p.")
    stated = Policy.load(policy)
    with asked.open_table(stated) as (table, bar):
        yield bind_table(table, stated), bar
