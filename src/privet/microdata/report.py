"""Tables, groups and skylines in words: what was found, before, after, and the cost.

A release and a skyline are told as one plain dictionary first, then shown from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.engine.protocol import CountQuery
from privet.findings import Attack, AttackedGroup, Cell, Finding
from privet.microdata.privacy_models.models import find_model
from privet.microdata.release import Release
from privet.microdata.skyline.skyline_find import Corner, Frontier
from privet.policy import Measure, Promise
from privet.release.kinds import Sentences
from privet.report import words
from privet.report.summary import finding
from privet.report.words import SENSITIVE, escape_name, format_cell
from privet.values.adversaries import Insider, join_words
from privet.values.beliefs import Belief
from privet.values.exact import percent, write_in_full

if TYPE_CHECKING:
    from rich.console import RenderableType


ENDED = {
    "finished": "Every value that may be shown is shown.",
    "time": "Stopped at the time limit: more values might have been shown.",
    "callback": "Stopped on request: more values might have been shown.",
    "interrupt": "Stopped by Ctrl-C: more values might have been shown.",
    "recipe": "Made by an earlier release's recipe.",
}
MOST_NAMED = 20
"""Columns without a role that are named one by one."""

ENDED_GROUPS = {
    "finished": "No group can be split further.",
    "time": "Stopped at the time limit: groups might have been split further.",
    "callback": "Stopped on request: groups might have been split further.",
    "interrupt": "Stopped by Ctrl-C: groups might have been split further.",
}


def summarise_release(release: Release) -> dict[str, Any]:
    """What was promised, reached, and given up."""
    return {
        "verdict": "safe" if release.safe else "undecided",
        "title": release.policy.title,
        "method": release.method,
        "ended": release.ended,
        "moves": len(release.steps),
        "columns": dict(_describe_columns(release)),
        "without_role": list_without_role(release),
        "groups": _describe_groups(release),
        "promises": list(_compare_promises(release)),
        "together": None
        if release.together is None
        else [finding(f) for f in release.together.findings],
        "sensitive": words.SENSITIVE,
    }


def _describe_columns(release: Release) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is not shown as it was; nothing is said of the other columns."""
    recipe = release.recipe
    if recipe is None:
        return
    plain = replace(release.table, relabels={})
    tallies = [CountQuery((), c) for c in recipe.columns]
    for tally, counts in plain.count(tallies):
        texts = release.table.relabels[tally.about].texts
        shown = [texts[int(code)] for code in counts.value]
        hidden = [text == recipe.marker for text in shown]
        if not any(hidden):
            yield tally.about, {"intervals": len(set(shown)), "values": len(shown)}
            continue
        yield (
            tally.about,
            {
                "hidden_values": sum(hidden),
                "values": len(shown),
                "hidden_cells": int(counts.n[np.array(hidden)].sum()),
                "cells": int(counts.n.sum()),
            },
        )


def list_without_role(release: Release) -> list[str]:
    """Columns that are published although the policy says nothing about them."""
    roles, recipe = release.table.roles, release.recipe
    minded = {*roles.columns(), *roles.bins, *(recipe.columns if recipe else ())}
    names = set(release.table.schema.names) - minded
    return [c for c in release.columns() if c in names]


def _describe_groups(release: Release) -> dict[str, Any] | None:
    """How many groups there are, how large, and how blurred each column is."""
    if release.grouped is None:
        return None
    partition = release.grouped.partition
    sizes = partition.leaves[:, 2]
    return {
        "form": release.grouped.form,
        "groups": len(partition),
        "people": partition.people,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "suppressed": partition.suppressed,
        "width": {c: round(w, 4) for c, w in partition.average_widths().items()},
    }


def _compare_promises(release: Release) -> Iterator[dict[str, Any]]:
    before = release.before.findings if release.before else release.audit.findings
    for was, now in zip(before, release.audit.findings, strict=True):
        told, then = finding(now), finding(was)
        yield {
            "promise": told["promise"],
            "verdict": told["verdict"],
            "limit": told["limit"],
            "before": then["posterior"] or then["measured"],
            "after": told["posterior"] or told["measured"],
            "change": _format_change(was, now),
            "words": told["words"],
            "note": told["note"],
        }


def _format_change(was: Finding, now: Finding) -> str:
    """The worst case before and after, as people read it; empty if nobody counted."""
    before, after = words.format_reached(was), words.format_reached(now)
    return f"{before} → {after}" if before and after else ""


def as_text(told: Mapping[str, Any]) -> str:
    """Plain text, verdict first."""
    kept = sum(p["verdict"] == "safe" for p in told["promises"])
    lines = [f"✓ Safe: every promise is kept ({kept})."]
    if told["verdict"] != "safe":
        lines = ["? Undecided: together with an earlier release nothing is certain."]
    for p in told["promises"]:
        lines += ["", f"{words.escape_name(p['promise'])}"]
        if p["change"]:
            lines.append(f"  Worst case: {p['change']}.")
        lines.append(f"  {p['note'] or p['words']}")
    lines += [
        "",
        *(
            _format_hidden(told)
            if told["groups"] is None
            else _format_groups(told["groups"])
        ),
    ]
    if told["without_role"]:
        lines += ["", _warn_without_role(told["without_role"])]
    for f in told["together"] or ():
        lines += ["", f"With the earlier release, {f['promise']}: {f['verdict']}."]
        lines += [f"  {f['note'] or f['words']}"]
    if told["groups"] is not None:
        return "\n".join([*lines, "", ENDED_GROUPS[told["ended"]]])
    moves = "1 move" if told["moves"] == 1 else f"{told['moves']:,} moves"
    lines += ["", f"{ENDED[told['ended']]} ({moves})"]
    return "\n".join(lines)


def _warn_without_role(columns: list[str]) -> str:
    names = [words.escape_name(c) for c in columns[:MOST_NAMED]]
    if len(columns) > MOST_NAMED:
        names.append(f"{len(columns) - MOST_NAMED:,} more")
    named = join_words(names)
    verb = "has" if len(columns) == 1 else "have"
    return (
        f"Published as in the table: {named}, which {verb} no role in the policy. What "
        "names people must be an identifier; what others may know of them, quasi."
    )


def _format_hidden(told: Mapping[str, Any]) -> list[str]:
    changed = [f"  {_format_column(c, a)}" for c, a in told["columns"].items()]
    return [
        "What is hidden:",
        *(changed or ["  Nothing: the table was safe as it is."]),
    ]


def _format_groups(about: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{about['groups']:,} groups of {about['smallest']:,} to {about['largest']:,} "
        f"people ({about['people']:,} in all)."
    ]
    if about["groups"] == 1:
        lines = [f"One group of everybody ({about['people']:,} in all)."]
    if about["suppressed"]:
        lines.append(f"{about['suppressed']:,} people in wide groups are left out.")
    if about["form"] == "buckets":
        return [*lines, "Known values are shown as they are; who has which is not."]
    lines.append("Average width of what is shown, of the whole column:")
    return lines + [
        f"  {words.escape_name(c)}: {100 * w:.1f} %" for c, w in about["width"].items()
    ]


def _format_column(name: str, about: Mapping[str, Any]) -> str:
    if "intervals" in about:
        return f"{name}: {about['values']:,} values as {about['intervals']:,} intervals"
    cells = f"{about['hidden_cells']:,} of {about['cells']:,} cells"
    return f"{name}: {about['hidden_values']:,} of {about['values']:,} values ({cells})"


def describe_knowledge(column: str, attack: Attack) -> str:
    """What the insider knows, as clauses that follow "someone who knows"."""
    own, *others = attack.groups
    whose = f"{escape_name(attack.victim)}'s" if attack.victim else "a person's"
    clauses = [f"that {whose} {_join_facts(own)}"] if own.where else []
    if attack.rules_out:
        out = " nor ".join(format_cell(v) for v in attack.rules_out)
        their = "their" if clauses else whose
        lead = "neither " if len(attack.rules_out) > 1 else "not "
        clauses.append(f"that {their} {escape_name(column)} is {lead}{out}")
    alike = "of the others who look the same" if own.where else "of the others"
    clauses += _describe_people(own, alike, column)
    for group in others:
        place = f"of the people whose {_join_facts(group)}"
        clauses += _describe_people(group, place, column)
    return join_words(clauses) if clauses else "nothing but the table"


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


def phrase_measure(measure: Measure, found: Fraction, people: str, facts: str) -> str:
    """What was found; `facts` describe the group that decides."""
    several = "" if measure.k is None else f"; they must be at least {measure.k:,}"
    return find_model(measure).sentence.format(
        values="value" if found == 1 else "values",
        k=several,
        value=words.format_measured(measure, found),
        people=people,
        facts=f" ({facts})" if facts else "",
        who=f" ({people}: {facts})" if facts else f" ({people})",
        c=measure.c,
    )


def _explain_measure(finding: Finding) -> str:
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert finding.value is not None
    assert isinstance(stated, Measure)
    known = words.format_facts(w.knows) if w.knows else ""
    people = words.format_count(w.whole, w.counted)
    return phrase_measure(stated, finding.value, people, known)


def _describe_measure_beyond(finding: Finding) -> str:
    assert isinstance(finding.promise, Measure)
    least = finding.promise.sense == "at least"
    return words.describe_groups_beyond(
        finding, f"{'below' if least else 'above'} the level"
    )


# Linkers and insiders ---------------------------------------------------------------


def _explain_linker(finding: Finding) -> str:
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    who = "Someone who knows " + (
        f"that a person's {words.format_facts(w.knows)}"
        if w.knows
        else "nothing but the table"
    )
    sure = (
        f"{who} can be {words.format_posterior(w.belief, stated.limit)} sure "
        f"({words.format_share(w.part, w.whole)} "
        f"{words.name_unit(w.counted, w.whole)}) that "
        f"{escape_name(w.column)} is {format_cell(w.value)}."
    )
    return f"{sure} Without that, {words.format_prior(w)}." if w.knows else sure


def _explain_insider(finding: Finding) -> str:
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    if w.attack is None:
        return _explain_linker(finding)
    whose = f"{escape_name(w.attack.victim)}'s" if w.attack.victim else "the person's"
    sure = (
        f"Someone who knows {describe_knowledge(w.column, w.attack)} can be "
        f"{words.format_posterior(w.belief, stated.limit)} sure that {whose} "
        f"{escape_name(w.column)} is "
        f"{format_cell(w.value)}."
    )
    alone = (
        f"{percent(Fraction(w.part, w.whole))} ({words.format_share(w.part, w.whole)} "
    )
    return (
        f"{sure} Of those who look the same, {alone}"
        f"{words.name_unit(w.counted, w.whole)}) "
        f"have it; of everybody, {words.format_prior(w)}."
    )


def _describe_insider_beyond(finding: Finding) -> str:
    """Companions may be in another group; then a group alone says less."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Insider)
    one_by_one = stated.against.same_as and finding.groups > 1
    past = "beyond the limit" + (", each by itself" if one_by_one else "")
    return words.describe_groups_beyond(finding, past)


# What would help --------------------------------------------------------------------


def _can_be_hidden(finding: Finding) -> bool:
    """Whether a linker could be kept in the dark by hiding what is known."""
    assert isinstance(finding.promise, Promise)
    prior = finding.belief.prior if finding.belief else 0
    return finding.promise.limit.holds(Belief(prior, prior))


def _repair_linkage(finding: Finding) -> Sequence[str]:
    witness = finding.witness
    if witness is None:
        return ()
    columns = [escape_name(c) for c in witness.knows]
    if not _can_be_hidden(finding):
        return (
            f"Leave out the column {escape_name(witness.column)}: "
            f"{percent(witness.belief.prior)} have the value in the whole table, so no "
            "coarser table keeps the promise. Or allow more.",
        )
    if not columns:
        return ()
    if len(columns) == 1:
        one = f"Make the column {columns[0]} coarser (bins, fewer values) or drop it."
        return (one,)
    return (
        f"Make the columns {join_words(columns)} coarser (bins, fewer values), or "
        "leave one of them out.",
    )


def _offer_publishing(finding: Finding) -> Sequence[str]:
    if finding.witness and finding.witness.counted == "people":
        return ("Make one row per person to publish it with privet publish.",)
    return ()


def _offer_hiding(finding: Finding) -> Sequence[str]:
    hide = "Or let privet publish hide the values that give it away."
    return _offer_publishing(finding) or ((hide,) if _can_be_hidden(finding) else ())


SENTENCES = {
    "linker": Sentences(
        reach="Covered: someone who sees this table and knows the listed columns of "
        "one person. Not covered: someone who knows more columns, who knows other "
        "people in the table, or who has another release about the same people.",
        explain=_explain_linker,
        beyond=words.describe_groups_beyond,
        repairs=_repair_linkage,
        offers=_offer_hiding,
    ),
    "insider": Sentences(
        reach="Covered: someone who sees the groups, knows who is in which, and knows "
        "as much more as the promise says: values a person does not have, other "
        "people's values, people who share the person's value. Not covered: someone "
        "who knows more, who believes some values likelier than others beforehand, or "
        "who has another release about the same people.",
        explain=_explain_insider,
        beyond=_describe_insider_beyond,
        repairs=lambda finding: (
            "Make the groups of people who look the same larger and more varied "
            "(coarser quasi columns, or fewer of them); privet publish --method "
            "mondrian does so.",
        ),
        offers=_offer_publishing,
    ),
    "measure": Sentences(
        reach="A measure counts how many look alike. It does not say what can be "
        "learnt about them: people who look alike may share a secret.",
        explain=_explain_measure,
        beyond=_describe_measure_beyond,
        repairs=lambda finding: (
            "Make rare combinations of the quasi columns coarser, or drop them; privet "
            "publish --method mondrian does so.",
        ),
        offers=_offer_publishing,
    ),
}
"""What is said of findings about tables and groups."""


# The skyline ------------------------------------------------------------------------

HEADS = ("values ruled out", "other people known", "people with the same value")
"""What l, k and m are, in a table."""


def summarise_skyline(found: Frontier) -> dict[str, Any]:
    """Everything there is to show; probabilities are fractions in text."""
    recursive = found.recursive and {"c": found.recursive[0], "l": found.recursive[1]}
    return {
        "verdict": "safe" if found.safe else "breach",
        "headline": write_headline(found),
        "confidence": str(found.confidence),
        "about": found.about,
        "points": [_describe_point(c) for c in found.corners],
        "caps": dict(zip(_KEYS, found.caps, strict=True)),
        "at_cap": found.at_cap,
        "chart": found.chart(),
        "familiar": {
            "k_anonymity": found.smallest,
            "distinct_l_diversity": found.fewest,
            "recursive_diversity": recursive,
        },
        "names": list_models(found),
        "groups": found.groups,
        "people": found.people,
        "knowing_nothing": str(found.least),
        "notes": list_notes(found),
        "sensitive": SENSITIVE,
    }


_KEYS = ("rules_out", "knows_others", "same_as")


def _describe_point(corner: Corner) -> dict[str, Any]:
    return {
        **dict(zip(_KEYS, corner.point, strict=True)),
        "belief": str(corner.belief),
        "attack": corner.attack.to_dict() if corner.attack else None,
        "words": Insider(*corner.point).words(),
    }


def write_headline(found: Frontier) -> str:
    """The frontier in a sentence."""
    level = write_in_full(found.confidence)
    if not found.safe:
        return (
            f"Nobody need know anything more to be {percent(found.least)} sure of "
            f"somebody's {escape_name(found.about)}; that is not below {level}."
        )
    several = len(found.corners)
    ways = "this much" if several == 1 else f"one of these {several} combinations"
    return (
        f"Insiders who know at most {ways} stay below {level} sure of anybody's "
        f"{escape_name(found.about)}."
    )


def list_models(found: Frontier) -> list[str]:
    """The same counts by the names stewards are asked for."""
    said = [f"{found.smallest}-anonymous"]
    if found.fewest > 1:
        said.append(f"distinct {found.fewest}-diverse")
    if found.recursive is not None:
        c, l = found.recursive
        said.append(f"recursive ({c}, {l})-diverse")
    return said


def list_notes(found: Frontier) -> list[str]:
    """What else must be said."""
    said = []
    for kind in found.at_cap:
        option = {"rules_out": "l", "knows_others": "k", "same_as": "m"}[kind]
        cap = found.caps[_KEYS.index(kind)]
        said.append(
            f"The search ended at {kind} = {cap}; insiders may know more. Look further "
            f"with --max-{option} (max_{option})."
        )
    return said


def _describe_models(found: Frontier) -> str:
    *most, last = list_models(found)
    both = f"{', '.join(most)} and {last}" if most else last
    groups = "one group" if found.groups == 1 else f"{found.groups:,} groups"
    return f"The release has {groups} of {found.people:,} people and is {both}."


def skyline_as_text(found: Frontier) -> str:
    """Plain text, the result first."""
    lines = [f"{'✓' if found.safe else '✗'} {write_headline(found)}", ""]
    if found.corners:
        width = [len(h) for h in HEADS]
        lines.append("  ".join(HEADS) + "  can be sure")
        for corner in found.corners:
            cells = [f"{n:>{w}}" for n, w in zip(corner.point, width, strict=True)]
            lines.append("  ".join([*cells, _format_belief(found, corner)]))
        lines += ["", _describe_attack(found, found.corners[-1]), ""]
    return "\n".join([*lines, _describe_models(found), *list_notes(found), SENSITIVE])


def _format_belief(found: Frontier, corner: Corner) -> str:
    return percent(corner.belief, unlike=found.confidence)


def _describe_attack(found: Frontier, corner: Corner) -> str:
    attack = corner.attack
    assert attack is not None
    known = describe_knowledge(found.about, attack)
    return (
        f"The last of them at worst: someone who knows {known} can be "
        f"{_format_belief(found, corner)} sure that the person's "
        f"{escape_name(found.about)} is "
        f"{format_cell(attack.value)}."
    )


def as_rich(found: Frontier) -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    colour = "green" if found.safe else "red"
    sign = "✓" if found.safe else "✗"
    parts: list[RenderableType] = [
        Text(f"{sign} {write_headline(found)}", f"bold {colour}")
    ]
    if found.corners:
        table = Table(*HEADS, "can be sure")
        for corner in found.corners:
            table.add_row(*map(str, corner.point), _format_belief(found, corner))
        parts += [Text(), table, Text(_describe_attack(found, found.corners[-1]))]
    parts += [
        Text(),
        Text(_describe_models(found)),
        *(Text(n) for n in list_notes(found)),
    ]
    return Group(*parts, Text(SENSITIVE, "dim"))


def as_html(found: Frontier) -> str:
    """For a notebook; one piece, nothing loaded from anywhere."""
    heads = "".join(f'<th scope="col">{h}</th>' for h in (*HEADS, "can be sure"))
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(str(x))}</td>" for x in (*c.point, _format_belief(found, c))
        )
        + "</tr>"
        for c in found.corners
    )
    said = [_describe_models(found), *list_notes(found)]
    if found.corners:
        said.insert(0, _describe_attack(found, found.corners[-1]))
    more = "".join(f"<p>{escape(line)}</p>" for line in said)
    sign = "✓" if found.safe else "✗"
    return (
        f"<div><p><strong>{sign} {escape(write_headline(found))}</strong></p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"
        f"<p><small>{escape(SENSITIVE)}</small></p></div>"
    )
