"""Exposure in words, what no promise covers, and what to do about that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.findings import Finding
from privet.languages import (
    join_alternatives,
    join_words,
    mark,
    say,
    say_number,
    translate,
)
from privet.microdata.exposure.exposure import Beyond, ColumnExposure, Exposure
from privet.policy.acceptance import Uncovered
from privet.policy.toml import quote, write_sections
from privet.report.words import escape_name, format_cell, format_within
from privet.values.exact import percent
from privet.values.windows import Within


def describe_exposure(told: Exposure) -> list[str]:
    """Of how many people a table tells something, a line each."""
    lines = []
    if told.known and told.people:
        lines.append(
            say_number(
                "{n} of {all} people is unique on {columns}.",
                "{n} of {all} people are unique on {columns}.",
                told.unique,
                all=f"{told.people:,}",
                columns=join_names(told.known),
            )
        )
    for column in told.columns:
        lines += _describe_exposed(column)
    for entry in told.accepted:
        about = escape_name(entry.about)
        if entry.up_to is None:
            lines.append(
                say("Accepted of {column}: {why}", column=about, why=entry.why)
            )
        else:
            lines.append(
                say(
                    "Accepted of {column}, up to {people} people: {why}",
                    column=about,
                    people=f"{entry.up_to:,}",
                    why=entry.why,
                )
            )
    return [*lines, *map(translate, told.notes)]


def _describe_exposed(told: ColumnExposure) -> list[str]:
    # At most two, at most three; whoever has as many as there are has all of them.
    """What somebody learns of one column who has all known columns, or few."""
    few = [f for f in told.few if 1 < f.columns < len(told.known)]
    lines = [f"{_say_certain(told)}{_list_few({f.columns: f.certain for f in few})}."]
    for i, b in enumerate(told.beyond):
        if not b.limit.forbids_something():  # nobody is surer than 100 %
            continue
        others = _list_few({f.columns: f.beyond[i] for f in few})
        lines.append(f"{_say_surer(told, b)}{others}.")
    return lines


def _say_surer(told: ColumnExposure, beyond: Beyond) -> str:
    """Of how many people somebody is surer than a limit allows."""
    about = _describe_values(escape_name(told.column), beyond.about)
    level = percent(beyond.limit.level)
    if not beyond.people:
        people = say("nobody")
    else:
        people = say(
            "{people} people, {true} rightly",
            people=f"{beyond.people:,}",
            true=f"{beyond.true:,}",
        )
        people = say("at most {people}", people=people) if told.at_most else people
    if beyond.limit.strict:
        return say(
            "{about}, at least {level} sure: {people}",
            about=about,
            level=level,
            people=people,
        )
    return say(
        "{about}, more than {level} sure: {people}",
        about=about,
        level=level,
        people=people,
    )


def _say_certain(told: ColumnExposure) -> str:
    """Of how many people somebody is certain, who has the columns or the table."""
    name = escape_name(told.column)
    people = _count_people(told.certain, told.people)
    if told.at_most:
        people = say("at most {people}", people=people)
    if told.known:
        return say(
            "{column}: whoever has all of these is certain of {people}",
            column=name,
            people=people,
        )
    return say(
        "{column}: whoever has the table is certain of {people}",
        column=name,
        people=people,
    )


_NUMBERS = {1: mark("one"), 2: mark("two"), 3: mark("three")}


def _list_few(people: Mapping[int, int]) -> str:
    """The same figure for whoever has few of the columns."""
    return "".join(
        say(
            "; with at most {columns} of them {people}",
            columns=translate(_NUMBERS[columns]),
            people=f"{n:,}",
        )
        for columns, n in people.items()
    )


def _describe_values(column: str, values: Sequence[object] | Within | None) -> str:
    if values is None:
        return column
    if isinstance(values, Within):
        return say(
            "{column} to within {size}", column=column, size=format_within(values)
        )
    return say("{column} is {value}", column=column, value=_list_values(values))


def describe_limit(column: str, beyond: Beyond) -> str:
    """Which values of a column a limit is about; nothing: every value."""
    if beyond.about is None:
        return ""
    return _describe_values(escape_name(column), beyond.about)


def _list_values(values: Sequence[object]) -> str:
    cells = [format_cell(None if v is None else str(v)) for v in values]
    return join_alternatives(cells)


def _count_people(some: int, number: int) -> str:
    return say("{some} of {all} people", some=f"{some:,}", all=f"{number:,}")


def join_names(names: Sequence[str]) -> str:
    """Columns in a sentence."""
    return join_words([escape_name(c) for c in names])


def explain_uncovered(finding: Finding) -> str:
    """That nothing limits what is learnt of a column, and whom it concerns."""
    assert isinstance(finding.promise, Uncovered)
    details = finding.details
    known = (
        join_names(details["known"]) if details["known"] else say("all known columns")
    )
    told = say(
        "No promise limits how sure of {column} somebody may be who has {known}",
        column=escape_name(finding.promise.about),
        known=known,
    )
    if details["people"] is None:
        return say("{told}; of how many people was not counted.", told=told)
    if not details["people"]:
        return say(
            "{told}; nobody is beyond a limit of the policy now, but by chance.",
            told=told,
        )
    people = _count_people(details["people"], details["of"])
    told = say("{told}: it concerns {people}.", told=told, people=people)
    most = details["accepted_up_to"]
    if most is None:
        return told
    return say("{told} Accepted were {people}.", told=told, people=f"{most:,}")


def suggest_cover(finding: Finding) -> list[str]:
    """A promise that would cover, or the entry that accepts it."""
    assert isinstance(finding.promise, Uncovered)
    column = finding.promise.about
    known = ", ".join(quote(c) for c in finding.details["known"])
    people = finding.details["people"]
    entry = {"about": column, **({} if people is None else {"up_to": people})}
    entry |= {"why": "…", "who": "…"}
    toml = f'[[promise]] against = "linker", knows = [{known}], about = {quote(column)}'
    accept = say("Or let somebody accept it by name:")
    return [
        say(
            "Promise something of {column} against whoever has all known "
            "columns: {toml}, and a limit.",
            column=escape_name(column),
            toml=toml,
        ),
        f"{accept}\n{write_sections({'accepted': [entry]}).rstrip()}",
    ]
