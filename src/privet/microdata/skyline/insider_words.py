"""What an insider knows, in words: values ruled out, people known, companions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from privet.findings import Attack, AttackedGroup, Cell, Finding
from privet.microdata.skyline.evidence import sway
from privet.microdata.skyline.household_findings import HouseholdAttack
from privet.policy import Promise
from privet.report import words
from privet.report.words import escape_name, format_cell
from privet.values.adversaries import Insider, join_words
from privet.values.beliefs import Belief
from privet.values.exact import percent
from privet.values.known_cells import EXCLUDE, SHARE, Members


def describe_knowledge(column: str, attack: Attack) -> str:
    """What the insider knows, as clauses that follow "someone who knows"."""
    own, *others = attack.groups
    whose = f"{escape_name(attack.victim)}'s" if attack.victim else "a person's"
    clauses = [f"that {whose} {_join_facts(own)}"] if own.where else []
    if attack.rules_out:
        out = " nor ".join(_list_ruled_out(attack))
        their = "their" if clauses else whose
        lead = "neither " if len(attack.rules_out) > 1 else "not "
        clauses.append(f"that {their} {escape_name(column)} is {lead}{out}")
    if isinstance(attack, HouseholdAttack):
        clauses += _describe_household(attack, column)
        return join_words(clauses)
    alike = "of the others who look the same" if own.where else "of the others"
    clauses += _describe_people(own, alike, column)
    for group in others:
        place = f"of the people whose {_join_facts(group)}"
        clauses += _describe_people(group, place, column)
    return join_words(clauses) if clauses else "nothing but the table"


def _describe_household(attack: HouseholdAttack, column: str) -> Iterator[str]:
    """Who belongs together, and what of their values is known."""
    own, *others = attack.groups
    first, *rest = attack.members
    who = [_name_others(first - 1, "who", own)] if first > 1 else []
    who += [_name_others(n, "whose", g) for n, g in zip(rest, others, strict=True)]
    yield f"that they have the same {escape_name(attack.column)} as {join_words(who)}"
    yield _describe_relation(attack.relation, escape_name(column))


def _name_others(n: int, lead: str, group: AttackedGroup) -> str:
    """So many other members, and what they look like."""
    others = "one other" if n == 1 else f"{n:,} others"
    if not group.where:
        return others
    alike = f"look{'s' if n == 1 else ''} the same"
    return f"{others} {lead} {alike if lead == 'who' else _join_facts(group)}"


def _describe_relation(relation: Members, column: str) -> str:
    if relation == SHARE:
        return f"that all of them share one {column}"
    if relation == EXCLUDE:
        return f"that no two of them have the same {column}"
    assert isinstance(relation, Mapping)
    if "alike" in relation:
        often = percent(relation["alike"])
        return f"that each of the others has the same {column} with {often}"
    return f"how their values of {column} go together"


def describe_households(finding: Finding) -> Iterator[str]:
    """How many households are beyond the limit, and how many contradict the groups."""
    told = finding.details.get("households")
    if told is None or finding.belief is None:  # not everything was judged
        return
    several, people = told["households"], f"{told['people']:,} people"
    lead = f"{told['beyond']:,} of {several:,} households ({people})"
    if not told["beyond"]:
        lead = f"None of {several:,} households of two or more"
    yield f"{lead} {_conjugate_be(finding, told['beyond'])} beyond the limit."
    if told["contradicted"]:
        yield (
            f"Of {told['contradicted']:,} the groups show that what is known cannot be "
            "true; nobody believes it."
        )


def _conjugate_be(finding: Finding, number: int) -> str:
    """Where people are known besides, households are judged by a bound."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Insider)
    bounded = stated.against.knows_others or stated.against.same_as
    if number and bounded:
        return "may be"
    return "is" if number < 2 else "are"


def _list_ruled_out(attack: Attack) -> list[str]:
    """The values ruled out; how surely is said where that is not for certain."""
    cells = [format_cell(v) for v in attack.rules_out]
    if not attack.sure:
        return cells
    both = zip(cells, attack.sure, strict=True)
    return [
        c if p == 1 else f"{c} (of which they are {percent(p)} sure)" for c, p in both
    ]


def _describe_people(group: AttackedGroup, place: str, column: str) -> Iterator[str]:
    for name, has in group.names.items():
        yield f"that {escape_name(name)} has {_format_cell(has)}"
    unnamed = dict(group.known)
    for has in group.names.values():
        unnamed[has] -= 1
    have = [f"{_say_how_many(n)} {_format_cell(v)}" for v, n in unnamed.items() if n]
    if have:
        yield f"that {place} {join_words(have)}"
    for name in group.companion_names:
        yield f"that {escape_name(name)} has the same {escape_name(column)}"
    if more := group.companions - len(group.companion_names):
        them = "of them" if have else place
        number = "one" if more == 1 else f"{more:,}"
        same = f"the same {escape_name(column)}"
        yield f"that {number} {them} {_conjugate_have(more)} {same}"


def _say_how_many(n: int) -> str:
    return f"{'one' if n == 1 else f'{n:,}'} {_conjugate_have(n)}"


def _conjugate_have(n: int) -> str:
    return "has" if n == 1 else "have"


def _join_facts(group: AttackedGroup) -> str:
    return join_words(
        [f"{escape_name(c)} is {format_cell(v)}" for c, v in group.where.items()]
    )


def _format_cell(cell: Cell) -> str:
    if isinstance(cell, tuple):
        return join_words([format_cell(v) for v in cell]) if cell else "nothing"
    return "a missing value" if cell is None else format_cell(cell)


def describe_evidence(finding: Finding) -> Iterator[str]:
    """How much surer evidence may make an insider, where a promise allows for some."""
    stated, w = finding.promise, finding.witness
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Insider)
    ratio = stated.against.evidence
    if ratio > 1 and w is not None:
        most = Belief(0, sway(w.belief.posterior, ratio))
        yield (
            f"Evidence that is up to {ratio} times likelier if it is so would make "
            f"them at most {words.format_posterior(most, stated.limit)} sure."
        )
