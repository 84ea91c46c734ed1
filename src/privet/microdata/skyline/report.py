"""The skyline in words: one plain dictionary first, then shown from it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from privet.languages import (
    join_words,
    mark,
    say,
    say_number,
    translate,
)
from privet.microdata.skyline.insider_words import describe_knowledge
from privet.microdata.skyline.skyline_find import Corner, Frontier
from privet.report.words import SENSITIVE, escape_name, format_cell, format_fact
from privet.values.adversaries import (
    Insider,
)
from privet.values.exact import percent, write_in_full

if TYPE_CHECKING:
    from rich.console import RenderableType


HEADS = (
    mark("values ruled out"),
    mark("other people known"),
    mark("people with the same value"),
    mark("can be sure"),
)
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
        "chart": found.list_surface(),
        "familiar": {
            "k_anonymity": found.smallest,
            "distinct_l_diversity": None if found.lists else found.fewest,
            "recursive_diversity": recursive,
        },
        "names": list_models(found),
        "groups": found.groups,
        "people": found.people,
        "knowing_nothing": str(found.least),
        "notes": list_notes(found),
        "sensitive": translate(SENSITIVE),
    }


_KEYS = ("rules_out", "knows_others", "same_as")


def _describe_point(corner: Corner) -> dict[str, Any]:
    return {
        **dict(zip(_KEYS, corner.point, strict=True)),
        "belief": str(corner.belief),
        "basis": "exact" if corner.exact else "bound",
        "attack": corner.attack.to_dict() if corner.attack else None,
        "words": Insider(*corner.point).words(),
    }


def write_headline(found: Frontier) -> str:
    """The frontier in a sentence."""
    level, column = write_in_full(found.confidence), escape_name(found.about)
    if not found.safe:
        return say(
            "Nobody need know anything more to be {sure} sure of somebody's "
            "{column}; that is not below {level}.",
            sure=percent(found.least),
            column=column,
            level=level,
        )
    return say_number(
        "Insiders who know at most this much stay below {level} sure of "
        "anybody's {column}.",
        "Insiders who know at most one of these {n} combinations stay below "
        "{level} sure of anybody's {column}.",
        len(found.corners),
        level=level,
        column=column,
    )


def list_models(found: Frontier) -> list[str]:
    """The same counts by the names stewards are asked for."""
    said = [say("{k}-anonymous", k=found.smallest)]
    if found.fewest > 1:
        said.append(say("distinct {l}-diverse", l=found.fewest))
    if found.recursive is not None:
        c, l = found.recursive
        said.append(say("recursive ({c}, {l})-diverse", c=c, l=l))
    return said


def list_notes(found: Frontier) -> list[str]:
    """What else must be said."""
    said = []
    if not all(c.exact for c in found.corners):
        said.append(
            say(
                "People have several values each: where more than two are "
                "ruled out, how sure somebody can be is an upper bound."
            )
        )
    for kind in found.at_cap:
        option = {"rules_out": "l", "knows_others": "k", "same_as": "m"}[kind]
        cap = found.caps[_KEYS.index(kind)]
        said.append(
            say(
                "The search ended at {kind} = {cap}; insiders may know more. "
                "Look further with --max-{option} (max_{option}).",
                kind=kind,
                cap=cap,
                option=option,
            )
        )
    return said


def _describe_models(found: Frontier) -> str:
    return say_number(
        "The release has one group of {people} people and is {models}.",
        "The release has {n} groups of {people} people and is {models}.",
        found.groups,
        people=f"{found.people:,}",
        models=join_words(list_models(found)),
    )


def skyline_as_text(found: Frontier) -> str:
    """Plain text, the result first."""
    lines = [f"{'✓' if found.safe else '✗'} {write_headline(found)}", ""]
    if found.corners:
        heads = _name_heads()
        width = [len(h) for h in heads[:-1]]
        lines.append("  ".join(heads))
        for corner in found.corners:
            cells = [f"{n:>{w}}" for n, w in zip(corner.point, width, strict=True)]
            lines.append("  ".join([*cells, _format_belief(found, corner)]))
        lines += ["", *(f"{line}\n" for line in _list_attacks(found))]
    last = [*list_notes(found), translate(SENSITIVE)]
    return "\n".join([*lines, _describe_models(found), *last])


def _name_heads() -> list[str]:
    return [translate(head) for head in HEADS]


def _format_belief(found: Frontier, corner: Corner) -> str:
    sure = percent(corner.belief, unlike=found.confidence)
    return sure if corner.exact else say("at most {level}", level=sure)


def _list_attacks(found: Frontier) -> list[str]:
    """The worst case of the last combination that has one; bounds have none."""
    cases = [c for c in found.corners if c.attack is not None]
    if not cases:
        return []
    attack, last = cases[-1].attack, cases[-1] is found.corners[-1]
    assert attack is not None
    column, value = escape_name(found.about), format_cell(attack.value)
    told = {
        "knowledge": describe_knowledge(found.about, attack),
        "sure": _format_belief(found, cases[-1]),
        "believed": format_fact(found.about, value),
    }
    if found.lists:
        told["believed"] = say("{column} has {value}", column=column, value=value)
    if last:
        return [
            say(
                "The last of them at worst: someone who knows {knowledge} "
                "can be {sure} sure that the person's {believed}.",
                **told,
            )
        ]
    return [
        say(
            "The last exact one at worst: someone who knows {knowledge} can "
            "be {sure} sure that the person's {believed}.",
            **told,
        )
    ]


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
        table = Table(*_name_heads())
        for corner in found.corners:
            table.add_row(*map(str, corner.point), _format_belief(found, corner))
        parts += [Text(), table, *map(Text, _list_attacks(found))]
    parts += [
        Text(),
        Text(_describe_models(found)),
        *(Text(n) for n in list_notes(found)),
    ]
    return Group(*parts, Text(translate(SENSITIVE), "dim"))


def as_html(found: Frontier, picture: str = "") -> str:
    """For a notebook; one piece, nothing loaded from anywhere."""
    heads = "".join(f'<th scope="col">{h}</th>' for h in _name_heads())
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(str(x))}</td>" for x in (*c.point, _format_belief(found, c))
        )
        + "</tr>"
        for c in found.corners
    )
    said = [_describe_models(found), *list_notes(found)]
    said = [*_list_attacks(found), *said]
    more = "".join(f"<p>{escape(line)}</p>" for line in said)
    sign = "✓" if found.safe else "✗"
    return (
        f"<div><p><strong>{sign} {escape(write_headline(found))}</strong></p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{picture}{more}"
        f"<p><small>{escape(translate(SENSITIVE))}</small></p></div>"
    )
