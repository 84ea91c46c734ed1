"""The draft of a policy for a table: text, guesses, doubts and what was looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from privet.draft.checklist import Looked, fill_checklist
from privet.draft.common_values import CommonValues, count_shares
from privet.draft.content import look_at
from privet.draft.guess_roles import Guess, guess_roles
from privet.draft.multiplicity import count_multiplicities
from privet.draft.people_rows import draft_people
from privet.draft.policy_text import Doubt, Drafted, find_doubts, write_policy
from privet.engine.protocol import ColumnSummary, Listener, Run
from privet.engine.sql_engine import SqlEngine
from privet.policy.policy import Policy
from privet.table import Table, require_columns
from privet.values.person_rows import PersonRows
from privet.values.schema import Roles


@dataclass(frozen=True)
class PolicyDraft:
    """A policy that a person must read, correct and sign."""

    text: str
    """The policy file in TOML, with comments: what to save and to correct."""
    guesses: tuple[Guess, ...]
    """What each column is for: its name, role, reason and confidence."""
    doubts: tuple[Doubt, ...]
    """What a person must decide first, each in one line (`words`)."""
    checklist: tuple[Looked, ...]
    """HIPAA's eighteen and GDPR's special categories: each item with the columns that
    answered; none where it was not found."""

    @cached_property
    def policy(self) -> Policy:
        """The policy as it stands; an error where nothing can be promised yet."""
        return Policy.from_toml(self.text)

    def to_dict(self) -> dict[str, object]:
        """The draft for machines."""
        return {
            "policy": self.text,
            "columns": [guess.to_dict() for guess in self.guesses],
            "doubts": [doubt.to_dict() for doubt in self.doubts],
            "checklist": [one.to_dict() for one in self.checklist],
        }


def name_table(table: Table) -> str:
    """What a file is called, without the folders it is in; empty: nothing is."""
    paths = table.source.paths
    return Path(paths[0]).name if len(paths) == 1 else ""


def draft_policy(
    table: Table,
    *,
    title: str = "",
    labels: Mapping[str, str] | None = None,
    file: Mapping[str, object] | None = None,
    progress: Listener | None = None,
    max_seconds: float | None = None,
) -> PolicyDraft:
    """Draft a policy for a table: what is each column for, and what to promise?

    Names, types and numbers of different values are looked at, and a sample of about
    2,000 rows. Nothing is decided: a person corrects and signs the draft.

    Parameters
    ----------
    table
        An open table; roles it has already are not looked at.
    title
        What the policy calls the release.
    labels
        What a questionnaire or a codebook says of columns, by their names; files of
        SPSS, Stata and SAS bring their own.
    file
        How the text file was read, for the draft to remember it.
    progress, max_seconds
        Who is told how far it is, and how long it may take.

    Examples
    --------
    >>> import privet as pv, pyarrow as pa
    >>> people = pa.table({
    ...     "sex": ["F", "M"] * 30,
    ...     "illness": ["flu", "none", "asthma"] * 20,
    ... })
    >>> draft = pv.draft_policy(pv.read(people))
    >>> [(guess.name, guess.role, guess.confidence) for guess in draft.guesses]
    [('sex', 'quasi', 'sure'), ('illness', 'sensitive', 'sure')]
    >>> [promise.name for promise in draft.policy.promises]
    ['nobody learns illness']
    """
    run = Run.start(progress, max_seconds)
    labels = {**table.source.labels, **(labels or {})}
    require_columns(list(labels), table.schema, "labels")
    columns = table.engine.describe(run)
    contents = look_at(table, columns, run)
    numbers = count_multiplicities(table, columns, run)
    called = name_table(table)
    guesses = guess_roles(columns, contents, numbers, labels, called=called)
    person = draft_people(table, columns, guesses, run)
    drafted = Drafted(
        columns,
        guesses,
        title or f"Policy for {called or 'the table'}",
        contents,
        _count_shares(table, columns, guesses, person, run),
        {**(file or {}), **table.source.list_found()},
        person=person,
        missing=_list_missing_codes(table, run),
    )
    text = write_policy(drafted)
    return PolicyDraft(text, guesses, find_doubts(drafted), fill_checklist(guesses))


def _list_missing_codes(table: Table, run: Run) -> tuple[str, ...]:
    """Texts of a file that may stand for missing values."""
    engine = table.engine
    return engine.list_missing_codes(run) if isinstance(engine, SqlEngine) else ()


def _count_shares(
    table: Table,
    columns: Sequence[ColumnSummary],
    guesses: Sequence[Guess],
    person: PersonRows | None,
    run: Run,
) -> dict[str, CommonValues]:
    """The shares of sensitive values in everybody, as they will be released.

    Of a list everybody counts who has a value at some time; of what is one value per
    person, the people are made and counted.
    """
    shares = count_shares(table, guesses, run, columns)
    if person is None:
        return shares
    single = [
        replace(g, role="other") if g.name in person.set else g
        for g in guesses
        if g.role != "unit"
    ]
    roles = Roles(identifier=tuple(g.name for g in guesses if g.role == "identifier"))
    with table.with_roles(roles).per_person(person) as people:
        return shares | count_shares(people, single, run, columns)
