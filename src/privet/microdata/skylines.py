"""A skyline in one plain dictionary, in words, for a terminal and for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from privet.microdata import insiders
from privet.microdata.skyline.skyline_find import Corner, Frontier
from privet.report.words import SENSITIVE, plain, value
from privet.values.adversaries import Insider
from privet.values.exact import percent, written

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADS = ("values ruled out", "other people known", "people with the same value")
"""What l, k and m are, in a table."""


def skyline_summary(found: Frontier) -> dict[str, Any]:
    """Everything there is to show; probabilities are fractions in text."""
    recursive = found.recursive and {"c": found.recursive[0], "l": found.recursive[1]}
    return {
        "verdict": "safe" if found.safe else "breach",
        "headline": headline(found),
        "confidence": str(found.confidence),
        "about": found.about,
        "points": [_point(c) for c in found.corners],
        "caps": dict(zip(_KEYS, found.caps, strict=True)),
        "at_cap": found.at_cap,
        "chart": found.chart(),
        "familiar": {
            "k_anonymity": found.smallest,
            "distinct_l_diversity": found.fewest,
            "recursive_diversity": recursive,
        },
        "names": names(found),
        "groups": found.groups,
        "people": found.people,
        "knowing_nothing": str(found.least),
        "notes": notes(found),
        "sensitive": SENSITIVE,
    }


_KEYS = ("rules_out", "knows_others", "same_as")


def _point(corner: Corner) -> dict[str, Any]:
    return {
        **dict(zip(_KEYS, corner.point, strict=True)),
        "belief": str(corner.belief),
        "attack": corner.attack.to_dict() if corner.attack else None,
        "words": Insider(*corner.point).words(),
    }


def headline(found: Frontier) -> str:
    """The frontier in a sentence."""
    level = written(found.confidence)
    if not found.safe:
        return (
            f"Nobody need know anything more to be {percent(found.least)} sure of "
            f"somebody's {plain(found.about)}; that is not below {level}."
        )
    several = len(found.corners)
    ways = "this much" if several == 1 else f"one of these {several} combinations"
    return (
        f"Insiders who know at most {ways} stay below {level} sure of anybody's "
        f"{plain(found.about)}."
    )


def names(found: Frontier) -> list[str]:
    """The same counts by the names stewards are asked for."""
    said = [f"{found.smallest}-anonymous"]
    if found.fewest > 1:
        said.append(f"distinct {found.fewest}-diverse")
    if found.recursive is not None:
        c, l = found.recursive
        said.append(f"recursive ({c}, {l})-diverse")
    return said


def notes(found: Frontier) -> list[str]:
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


def _named(found: Frontier) -> str:
    *most, last = names(found)
    both = f"{', '.join(most)} and {last}" if most else last
    groups = "one group" if found.groups == 1 else f"{found.groups:,} groups"
    return f"The release has {groups} of {found.people:,} people and is {both}."


def skyline_as_text(found: Frontier) -> str:
    """Plain text, the result first."""
    lines = [f"{'✓' if found.safe else '✗'} {headline(found)}", ""]
    if found.corners:
        width = [len(h) for h in HEADS]
        lines.append("  ".join(HEADS) + "  can be sure")
        for corner in found.corners:
            cells = [f"{n:>{w}}" for n, w in zip(corner.point, width, strict=True)]
            lines.append("  ".join([*cells, _sure(found, corner)]))
        lines += ["", _example(found, found.corners[-1]), ""]
    return "\n".join([*lines, _named(found), *notes(found), SENSITIVE])


def _sure(found: Frontier, corner: Corner) -> str:
    return percent(corner.belief, unlike=found.confidence)


def _example(found: Frontier, corner: Corner) -> str:
    attack = corner.attack
    assert attack is not None
    known = insiders.knowledge(found.about, attack, value, plain)
    return (
        f"The last of them at worst: someone who knows {known} can be "
        f"{_sure(found, corner)} sure that the person's {plain(found.about)} is "
        f"{value(attack.value)}."
    )


def as_rich(found: Frontier) -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    colour = "green" if found.safe else "red"
    sign = "✓" if found.safe else "✗"
    parts: list[RenderableType] = [Text(f"{sign} {headline(found)}", f"bold {colour}")]
    if found.corners:
        table = Table(*HEADS, "can be sure")
        for corner in found.corners:
            table.add_row(*map(str, corner.point), _sure(found, corner))
        parts += [Text(), table, Text(_example(found, found.corners[-1]))]
    parts += [Text(), Text(_named(found)), *(Text(n) for n in notes(found))]
    return Group(*parts, Text(SENSITIVE, "dim"))


def as_html(found: Frontier) -> str:
    """For a notebook; one piece, nothing loaded from anywhere."""
    heads = "".join(f'<th scope="col">{h}</th>' for h in (*HEADS, "can be sure"))
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(str(x))}</td>" for x in (*c.point, _sure(found, c)))
        + "</tr>"
        for c in found.corners
    )
    said = [_named(found), *notes(found)]
    if found.corners:
        said.insert(0, _example(found, found.corners[-1]))
    more = "".join(f"<p>{escape(line)}</p>" for line in said)
    sign = "✓" if found.safe else "✗"
    return (
        f"<div><p><strong>{sign} {escape(headline(found))}</strong></p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"
        f"<p><small>{escape(SENSITIVE)}</small></p></div>"
    )
