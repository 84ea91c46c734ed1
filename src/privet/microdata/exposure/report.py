"""Exposure in words, what no promise covers, and what to do about that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.findings import Finding
from privet.microdata.exposure.exposure import ColumnExposure, Exposure
from privet.policy.acceptance import Uncovered
from privet.policy.toml import quote, write_sections
from privet.report.words import escape_name, format_cell
from privet.values.adversaries import join_words
from privet.values.exact import percent
from privet.values.windows import Within


def describe_exposure(told: Exposure) -> list[str]:
    """Of how many people a table tells something, a line each."""
    lines = []
    if told.known and told.people:
        lines.append(
            f"{_count_people(told.unique, told.people)} "
            f"{'is' if told.unique == 1 else 'are'} unique on "
            f"{join_names(told.known)}."
        )
    for column in told.columns:
        lines += _describe_exposed(column)
    for entry in told.accepted:
        most = "" if entry.up_to is None else f", up to {entry.up_to:,} people"
        lines.append(f"Accepted of {escape_name(entry.about)}{most}: {entry.why}")
    return [*lines, *told.notes]


def _describe_exposed(told: ColumnExposure) -> list[str]:
    """What somebody learns of one column who has all known columns, or few."""
    most = "at most " if told.at_most else ""
    who = "whoever has all of these" if told.known else "whoever has the table"
    # At most two, at most three; whoever has as many as there are has all of them.
    few = [f for f in told.few if 1 < f.columns < len(told.known)]
    certain = _list_few({f.columns: f.certain for f in few})
    name = escape_name(told.column)
    lines = [
        f"{name}: {who} is certain of {most}"
        f"{_count_people(told.certain, told.people)}{certain}."
    ]
    for i, b in enumerate(told.beyond):
        if not b.limit.forbids_something():  # nobody is surer than 100 %
            continue
        sure = "at least" if b.limit.strict else "more than"
        people = f"{most}{b.people:,} people, {b.true:,} rightly"
        others = _list_few({f.columns: f.beyond[i] for f in few})
        value = _describe_values(b.about)
        lines.append(
            f"{name}{value}, {sure} {percent(b.limit.level)} sure: "
            f"{people if b.people else 'nobody'}{others}."
        )
    return lines


_NUMBERS = {1: "one", 2: "two", 3: "three"}


def _list_few(people: Mapping[int, int]) -> str:
    """The same figure for whoever has few of the columns."""
    return "".join(
        f"; with at most {_NUMBERS[columns]} of them {n:,}"
        for columns, n in people.items()
    )


def _describe_values(values: Sequence[object] | Within | None) -> str:
    if values is None:
        return ""
    if isinstance(values, Within):
        return f" to within {values}"
    return f" is {_list_values(values)}"


def _list_values(values: Sequence[object]) -> str:
    return " or ".join(format_cell(None if v is None else str(v)) for v in values)


def _count_people(some: int, number: int) -> str:
    return f"{some:,} of {number:,} people"


def join_names(names: Sequence[str]) -> str:
    """Columns in a sentence."""
    return join_words([escape_name(c) for c in names])


def explain_uncovered(finding: Finding) -> str:
    """That nothing limits what is learnt of a column, and whom it concerns."""
    assert isinstance(finding.promise, Uncovered)
    known = finding.details["known"]
    who = f"who has {join_names(known)}" if known else "who has all known columns"
    lead = (
        f"No promise limits how sure of {escape_name(finding.promise.about)} somebody "
        f"may be {who}"
    )
    if finding.details["people"] is None:
        return f"{lead}; of how many people was not counted."
    if not finding.details["people"]:
        return f"{lead}; nobody is beyond a limit of the policy now, but by chance."
    people = _count_people(finding.details["people"], finding.details["of"])
    told = f"{lead}: it concerns {people}."
    most = finding.details["accepted_up_to"]
    return told if most is None else f"{told} Accepted were {most:,}."


def suggest_cover(finding: Finding) -> list[str]:
    """A promise that would cover, or the entry that accepts it."""
    assert isinstance(finding.promise, Uncovered)
    column = finding.promise.about
    known = ", ".join(quote(c) for c in finding.details["known"])
    people = finding.details["people"]
    return [
        f"Promise something of {escape_name(column)} against whoever has all known "
        f'columns: [[promise]] against = "linker", knows = [{known}], '
        f"about = {quote(column)}, and a limit.",
        "Or let somebody accept it by name:\n"
        + write_sections(
            {
                "accepted": [
                    {
                        "about": column,
                        **({} if people is None else {"up_to": people}),
                        "why": "…",
                        "who": "…",
                    }
                ]
            }
        ).rstrip(),
    ]
