"""The knowledge skyline over (l, k, m) as a chart: safe below, corners numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from textwrap import wrap
from typing import Any

from privet.errors import InputError
from privet.languages import mark, say, say_number
from privet.microdata.skyline.insider_words import describe_knowledge
from privet.microdata.skyline.skyline_find import Frontier
from privet.report.chart_style import (
    DASHES,
    GREEN,
    ORANGE,
    SERIES,
    Row,
    colour,
    finish,
    shorten,
    start,
)
from privet.report.vega_lite import Chart, field, hconcat, layer, share_scales, vconcat
from privet.values.exact import percent, write_in_full

MOST_PANELS = 5
"""Panels side by side, one per number of values that are ruled out."""

MOST_CORNERS = 12
"""Corners that are numbered and told."""

LINE = 105
"""Letters of a line of words."""

HERE = mark("this release")


def draw_skyline(
    frontier: Frontier,
    others: Mapping[str, Frontier] | None = None,
    *,
    name: str = "",
    attacks: bool = False,
) -> Chart | None:
    """What insiders may know: a panel per l, m across and k up; the safe region filled.

    `others` are laid over it, by name. `attacks` tells, for each corner, the case that
    comes nearest to the confidence; it quotes the table.
    """
    every = {name or say(HERE): frontier, **(others or {})}
    if not frontier.surface:
        return None
    if len(every) > len(SERIES):
        raise InputError(
            f"At most {len(SERIES)} skylines fit into one chart; got {len(every)}."
        )
    panels = choose_panels(list(every.values()))
    every_corner = list_corners(frontier)
    corners = every_corner[:MOST_CORNERS]
    most = _find_ends(list(every.values()), panels)
    drawn = [_draw_panel(every, l, corners, most) for l in panels]
    chart = hconcat(*drawn, spacing=14, **share_scales("x", "y", "color"))
    told = _draw_words(frontier, corners, attacks)
    if told is not None:
        chart = vconcat(chart, told, spacing=18)
    more = len(every_corner) - len(corners)
    left = sorted({p[0] for p in frontier.surface} - set(panels))
    return finish(
        chart,
        say(
            "What insiders may know and stay below {level} sure of {column}",
            level=write_in_full(frontier.confidence),
            column=shorten(frontier.about),
        ),
        say(
            "Filled: safe. Numbers: the most that may be known; beyond them somebody "
            "is too sure."
        ),
        say("And {n} more corners, without a number.", n=f"{more:,}") if more else "",
        say("Not drawn: {numbers} values ruled out.", numbers=_list_numbers(left))
        if left
        else "",
    )


def _list_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def choose_panels(every: Sequence[Frontier]) -> list[int]:
    """Which numbers of ruled out values are drawn: those with corners first."""
    there = {p[0] for f in every for p in f.surface}
    cornered = {p[0] for f in every for p in f.points}
    ranked = [*sorted(cornered), *sorted(there - cornered)]
    return sorted(ranked[:MOST_PANELS])


def list_corners(frontier: Frontier) -> list[dict[str, Any]]:
    """The corners with their numbers and their beliefs."""
    return [
        {"number": i, "l": c.point[0], "k": c.point[1], "m": c.point[2], "corner": c}
        for i, c in enumerate(frontier.corners, 1)
    ]


def _find_ends(every: Sequence[Frontier], panels: Sequence[int]) -> tuple[int, int]:
    points = [p for f in every for p in f.surface if p[0] in panels]
    return max(p[1] for p in points), max(p[2] for p in points)


def _draw_panel(
    every: Mapping[str, Frontier],
    l: int,
    corners: Sequence[Mapping[str, Any]],
    most: tuple[int, int],
) -> Chart:
    # The number above the highest point stays inside, so that titles are in line.
    ends = {"k": most[0] + max(1, most[0] / 8), "m": most[1] + 1}
    x = field(
        "m:Q",
        scale={"domain": [-0.5, ends["m"]], "nice": False, "zero": False},
        axis={
            "title": say("people with the same value"),
            "tickMinStep": 1,
            "format": "d",
        },
    )
    y = field(
        "k:Q",
        scale={"domain": [-0.5, ends["k"]], "nice": False, "zero": False},
        axis={"title": say("other people known"), "tickMinStep": 1, "format": "d"},
    )
    ruled = say_number("{n} value ruled out", "{n} values ruled out", l)
    own, *others = every.values()
    cells = [
        {"m": m - 0.5, "m2": m + 0.5, "k": -0.5, "k2": k + 0.5}
        for a, k, m in own.surface
        if a == l
    ]
    size = {"width": 150, "height": 150, "title": {"text": ruled, "fontSize": 11}}
    region = start(cells, **size).mark("rect", color=GREEN, opacity=0.35)
    layers = [region.encode(x=x, y=y, x2="m2:Q", y2="k2:Q")]
    names = list(every)
    if others:
        rows = [r for n, f in every.items() for r in _trace_edge(n, f, l)]
        dashes = {"domain": names, "range": list(DASHES[: len(names)])}
        key = colour(dict(zip(names, SERIES, strict=False)))
        edge = start(rows).mark("line", strokeWidth=2)
        layers.append(
            edge.encode(
                x=x,
                y=y,
                order="at:Q",
                color=field("of:N", **key),
                strokeDash=field("of:N", scale=dashes, legend={"title": None}),
            )
        )
    points = [
        {"m": c["m"], "k": c["k"], "number": str(c["number"])}
        for c in corners
        if c["l"] == l
    ]
    dots = start(points)
    layers += [
        dots.mark("point", size=60, color=ORANGE, filled=True, opacity=1).encode(
            x=x, y=y
        ),
        dots.mark("text", dx=8, dy=-7, fontWeight="bold").encode(
            x=x, y=y, text="number:N"
        ),
    ]
    return layer(*layers)


def _trace_edge(name: str, frontier: Frontier, l: int) -> list[Row]:
    """The upper edge of a safe region, from left to right and down."""
    steps = sorted((m, k) for a, k, m in frontier.surface if a == l)
    corners = [(m + side, k + 0.5) for m, k in steps for side in (-0.5, 0.5)]
    if corners:
        corners.append((corners[-1][0], -0.5))
    return [{"of": name, "at": i, "m": m, "k": k} for i, (m, k) in enumerate(corners)]


def _draw_words(
    frontier: Frontier, corners: Sequence[Mapping[str, Any]], attacks: bool
) -> Chart | None:
    """The corners in words, a line each."""
    if not corners:
        return None
    lines: list[str] = []
    for c in corners:
        said = (_describe_attack if attacks else _describe_corner)(frontier, c)
        lines += wrap(f"{c['number']}.  {said}", LINE, subsequent_indent="\u2003")
    rows = [{"at": i, "said": line} for i, line in enumerate(lines)]
    marks = start(rows, width=10, height={"step": 17}).mark("text", align="left")
    y = field("at:O", axis=None)
    return marks.encode(y=y, x={"value": 0}, text=field("said:N"))


def _describe_corner(frontier: Frontier, corner: Mapping[str, Any]) -> str:
    found = corner["corner"]
    return say(
        CORNER if found.exact else CORNER_BOUND,
        l=corner["l"],
        k=corner["k"],
        m=corner["m"],
        sure=percent(Fraction(found.belief), unlike=frontier.confidence),
    )


CORNER = mark("{l} ruled out, {k} others known, {m} with the same value: {sure} sure")
CORNER_BOUND = mark(
    "{l} ruled out, {k} others known, {m} with the same value: at most {sure} sure"
)
"""What is known at a corner, and how sure that makes."""


def _describe_attack(frontier: Frontier, corner: Mapping[str, Any]) -> str:
    found = corner["corner"]
    if found.attack is None:
        return _describe_corner(frontier, corner)
    known = describe_knowledge(frontier.about, found.attack)
    told = say(
        "who knows {known} is {sure} sure of {value}",
        known=known,
        sure=percent(found.belief, unlike=frontier.confidence),
        value=shorten(found.attack.value, 20),
    )
    return shorten(told, 3 * LINE)
