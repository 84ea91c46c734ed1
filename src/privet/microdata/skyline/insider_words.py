"""What an insider knows, in words: values ruled out, people known, companions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from privet.findings import Attack, AttackedGroup, Cell, Finding
from privet.languages import (
    join_words,
    say,
    say_number,
)
from privet.microdata.skyline.evidence import sway
from privet.microdata.skyline.household_findings import HouseholdAttack
from privet.policy import Promise
from privet.report import words
from privet.report.words import escape_name, format_cell, format_fact
from privet.values.adversaries import (
    Insider,
)
from privet.values.beliefs import Belief
from privet.values.exact import percent
from privet.values.known_cells import EXCLUDE, SHARE, Members


def describe_knowledge(column: str, attack: Attack) -> str:
    """What the insider knows, as clauses that follow "someone who knows"."""
    own, *others = attack.groups
    name = escape_name(attack.victim) if attack.victim else ""
    clauses = []
    if own.where:
        facts = _join_facts(own)
        told = say("that a person's {facts}", facts=facts)
        clauses = [
            say("that {name}'s {facts}", name=name, facts=facts) if name else told
        ]
    if attack.rules_out:
        clauses.append(
            _describe_ruled_out(escape_name(column), attack, name, bool(clauses))
        )
    if isinstance(attack, HouseholdAttack):
        clauses += _describe_household(attack, column)
        return join_words(clauses)
    alike = (
        say("of the others who look the same") if own.where else say("of the others")
    )
    clauses += _describe_people(own, alike, column)
    for group in others:
        place = say("of the people whose {facts}", facts=_join_facts(group))
        clauses += _describe_people(group, place, column)
    return join_words(clauses) if clauses else say("nothing but the table")


def _say_neither(values: Sequence[str]) -> str:
    first, *others = values
    if not others:
        return say("not {value}", value=first)
    told = say("neither {value}", value=first)
    for other in others:
        told = say("{values} nor {value}", values=told, value=other)
    return told


def _describe_ruled_out(column: str, attack: Attack, name: str, told: bool) -> str:
    """Which values the victim does not have."""
    values = _say_neither(_list_ruled_out(attack))
    if told:
        return say("that their {column} is {values}", column=column, values=values)
    if name:
        return say(
            "that {name}'s {column} is {values}",
            name=name,
            column=column,
            values=values,
        )
    return say("that a person's {column} is {values}", column=column, values=values)


def _describe_household(attack: HouseholdAttack, column: str) -> Iterator[str]:
    """Who belongs together, and what of their values is known."""
    own, *others = attack.groups
    first, *rest = attack.members
    who = [_name_alike(first - 1, own)] if first > 1 else []
    who += [_name_others(n, g) for n, g in zip(rest, others, strict=True)]
    yield say(
        "that they have the same {column} as {people}",
        column=escape_name(attack.column),
        people=join_words(who),
    )
    yield _describe_relation(attack.relation, escape_name(column))


def _name_alike(n: int, group: AttackedGroup) -> str:
    """So many other members who look the same."""
    if not group.where:
        return say_number("one other", "{n} others", n)
    return say_number("one other who looks the same", "{n} others who look the same", n)


def _name_others(n: int, group: AttackedGroup) -> str:
    """So many other members, and what they look like."""
    if not group.where:
        return say_number("one other", "{n} others", n)
    return say_number(
        "one other whose {facts}",
        "{n} others whose {facts}",
        n,
        facts=_join_facts(group),
    )


def _describe_relation(relation: Members, column: str) -> str:
    if relation == SHARE:
        return say("that all of them share one {column}", column=column)
    if relation == EXCLUDE:
        return say("that no two of them have the same {column}", column=column)
    assert isinstance(relation, Mapping)
    if "alike" in relation:
        often = percent(relation["alike"])
        return say(
            "that each of the others has the same {column} with {chance}",
            column=column,
            chance=often,
        )
    return say("how their values of {column} go together", column=column)


def describe_households(finding: Finding) -> Iterator[str]:
    """How many households are beyond the limit, and how many contradict the groups."""
    told = finding.details.get("households")
    if told is None or finding.belief is None:  # not everything was judged
        return
    yield _count_beyond(finding, told)
    if told["contradicted"]:
        yield say(
            "Of {n} the groups show that what is known cannot be true; "
            "nobody believes it.",
            n=f"{told['contradicted']:,}",
        )


def _count_beyond(finding: Finding, told: Mapping[str, int]) -> str:
    """Where people are known besides, households are judged by a bound."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Insider)
    every, beyond = f"{told['households']:,}", told["beyond"]
    if not beyond:
        return say(
            "None of {all} households of two or more is beyond the limit.", all=every
        )
    some = {"all": every, "people": f"{told['people']:,}"}
    if stated.against.knows_others or stated.against.same_as:
        return say(
            "{n} of {all} households ({people} people) may be beyond the limit.",
            n=f"{beyond:,}",
            **some,
        )
    return say_number(
        "{n} of {all} households ({people} people) is beyond the limit.",
        "{n} of {all} households ({people} people) are beyond the limit.",
        beyond,
        **some,
    )


def _list_ruled_out(attack: Attack) -> list[str]:
    """The values ruled out; how surely is said where that is not for certain."""
    cells = [format_cell(v) for v in attack.rules_out]
    if not attack.sure:
        return cells
    both = zip(cells, attack.sure, strict=True)
    return [
        c
        if p == 1
        else say(
            "{value} (of which they are {chance} sure)", value=c, chance=percent(p)
        )
        for c, p in both
    ]


def _describe_people(group: AttackedGroup, place: str, column: str) -> Iterator[str]:
    for name, has in group.names.items():
        yield say(
            "that {name} has {value}", name=escape_name(name), value=_format_cell(has)
        )
    unnamed = dict(group.known)
    for has in group.names.values():
        unnamed[has] -= 1
    have = [
        say_number("one has {value}", "{n} have {value}", n, value=_format_cell(v))
        for v, n in unnamed.items()
        if n
    ]
    if have:
        yield say("that {place} {people}", place=place, people=join_words(have))
    same = escape_name(column)
    for name in group.companion_names:
        yield say(
            "that {name} has the same {column}", name=escape_name(name), column=same
        )
    if more := group.companions - len(group.companion_names):
        them = say("of them") if have else place
        yield say_number(
            "that one {place} has the same {column}",
            "that {n} {place} have the same {column}",
            more,
            place=them,
            column=same,
        )


def _join_facts(group: AttackedGroup) -> str:
    return join_words([format_fact(c, format_cell(v)) for c, v in group.where.items()])


def _format_cell(cell: Cell) -> str:
    if isinstance(cell, tuple):
        return join_words([format_cell(v) for v in cell]) if cell else say("nothing")
    return say("a missing value") if cell is None else format_cell(cell)


def describe_evidence(finding: Finding) -> Iterator[str]:
    """How much surer evidence may make an insider, where a promise allows for some."""
    stated, w = finding.promise, finding.witness
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Insider)
    ratio = stated.against.evidence
    if ratio > 1 and w is not None:
        most = Belief(0, sway(w.belief.posterior, ratio))
        yield say(
            "Evidence that is up to {times} times likelier if it is so would "
            "make them at most {sure} sure.",
            times=ratio,
            sure=words.format_posterior(most, stated.limit),
        )
