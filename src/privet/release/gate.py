"""What must be decided before anything of a table is written: a role for every column.

A column nobody decided about would be published by default. So nothing is written of a
table that has one, of whatever kind the release is; the message says what to add.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from privet.errors import InputError
from privet.policy.toml import quote
from privet.values.schema import Roles, Schema

MOST_NAMED = 20
"""Columns that the sentence names one by one; the lines to paste have all of them."""


def require_decided(schema: Schema) -> None:
    """Refuse a table to be released that has columns without a role.

    >>> from privet.values.schema import Column
    >>> columns = Column("age"), Column("note")
    >>> require_decided(Schema(columns, Roles(quasi="age", drop="note")))
    >>> require_decided(Schema(columns, Roles(quasi="age")))
    Traceback (most recent call last):
    privet.errors.InputError: Every column must have a role before anything is written.
    'note' has none. Decide, and add to the policy:
    [columns]
    other = ["note"]   # published as they are, and may be known
    # or: drop = ["note"]   # left out of every release
    """
    refuse_undecided(schema.list_undecided())


def refuse_undecided(columns: Sequence[str], roles: Roles | None = None) -> None:
    """Refuse columns without a role, unless these roles give them one."""
    open_ = [c for c in columns if roles is None or not roles.role(c)]
    if open_:
        listed = ", ".join(quote(c) for c in open_)
        raise InputError(
            "Every column must have a role before anything is written.\n"
            f"{_join_names(open_)} {'has' if len(open_) == 1 else 'have'} none. "
            "Decide, and add to the policy:\n"
            "[columns]\n"
            f"other = [{listed}]   # published as they are, and may be known\n"
            f"# or: drop = [{listed}]   # left out of every release"
        )


def require_asked(schema: Schema, asked: Sequence[str], roles: Roles) -> None:
    """Refuse a table to be disguised that has columns nobody decided about.

    What the design asks is decided, and what the table's or these roles leave out.
    """
    both = [c for c in asked if c in (*roles.drop, *schema.roles.drop)]
    if both:
        raise InputError(
            f"A column must be in the design or dropped; {both[0]!r} is both."
        )
    open_ = [c for c in schema.list_undecided() if c not in asked and not roles.role(c)]
    if open_:
        options = " ".join(f"--drop {shlex.quote(c)}" for c in open_)
        listed = ", ".join(quote(c) for c in open_)
        raise InputError(
            "Every column must be in the design, or be left out by name, before "
            f"anything is written.\n{_join_names(open_)} "
            f"{'is' if len(open_) == 1 else 'are'} neither. Add it to the design, or "
            f"give these options:\n{options}\n"
            f"or add to the policy:\n[columns]\ndrop = [{listed}]   # left out"
        )


def _join_names(columns: Sequence[str]) -> str:
    named = [repr(c) for c in columns[:MOST_NAMED]]
    if len(columns) > MOST_NAMED:
        named.append(f"{len(columns) - MOST_NAMED:,} more")
    *most, last = named
    return f"{', '.join(most)} and {last}" if most else last
