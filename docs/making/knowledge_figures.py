"""Figures of what attackers know: the skyline's case study and speed, and views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from making.figure_style import Row, mark_line, tell_lines, tell_points
from privet.report.chart_style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SHARES,
    finish,
    percent_axis,
    start,
)
from privet.report.vega_lite import field

SIDE = 118
"""How wide one of several panels is."""
SKYLINES = {
    "here": (BLUE, "circle"),
    "slides": (ORANGE, "diamond"),
    "both": (GREEN, "square"),
}


# The case study of the skyline --------------------------------------------------------


def draw_corners(found: dict[str, Sequence[Row]]) -> Any:
    """What the most knowing insiders know, here and on the slides."""
    points = {}
    for row in found["corners"]:
        key = (row["l"], row["k"], row["m"])
        points.setdefault(key, []).append(row["of"])
    both = {("here",): "here", ("slides",): "slides", ("here", "slides"): "both"}
    rows = [
        {"l": f"{l} ruled out", "k": k, "m": m, "of": both[tuple(sorted(of))]}
        for (l, k, m), of in sorted(points.items())
    ]
    axis = {"tickMinStep": 1, "format": "d"}
    marks = (
        start(rows, width=SIDE, height=SIDE)
        .mark("point", size=110)
        .encode(
            x=field(
                "m:Q",
                scale={"domain": [-0.4, 4.4]},
                axis={"title": "m, same value", "values": [0, 1, 2, 3, 4], **axis},
            ),
            y=field(
                "k:Q",
                scale={"domain": [-0.4, 4.4]},
                axis={"title": "k, people known", "values": [0, 1, 2, 3, 4], **axis},
            ),
            **tell_points("of:N", SKYLINES),
            column=field("l:N", title=None),
        )
    )
    sizes = found["groups"]
    return finish(
        marks,
        "Who stays below 95 % sure of an occupation, at the most knowing",
        f"Adult in {sum(r['groups'] for r in sizes):,} (3, 6)-diverse groups of "
        f"{sizes[0]['size']} to {sizes[-1]['size']} people; l values ruled out.",
        "What the slides list and these groups do not reach fails in skewed groups.",
    )


# The speed of the check ---------------------------------------------------------------

INSIDERS = {
    "(10, 10, 10)": (BLUE, [1, 0]),
    "(10, 5, 5)": (ORANGE, [6, 3]),
    "(0, 5, 5)": (GREEN, [2, 2]),
    "(10, 2, 2)": (PURPLE, [8, 3, 2, 3]),
}
"""How much an insider knows: (l, k, m)."""


def draw_speed(found: dict[str, Sequence[Row]]) -> Any:
    """How many times faster the check is than a dynamic program, by rows."""
    rows = [
        {**row, "insider": f"({row['l']}, {row['k']}, {row['m']})"}
        for row in found["speed"]
    ]
    times = {"type": "log", "domain": [1, 200]}
    marks = mark_line(start(rows, width=420, height=240)).encode(
        x=field(
            "rows:Q",
            scale={"domainMin": 0},
            axis={
                "title": "millions of rows, in 100,000 groups",
                "values": [1, 2, 3, 4, 5],
            },
        ),
        y=field(
            "times:Q",
            scale=times,
            axis={
                "title": "times faster",
                "values": [1, 2, 5, 10, 20, 50, 100, 200],
                "format": "d",
            },
        ),
        **tell_lines("insider:N", INSIDERS),
    )
    return finish(
        marks,
        "How many times faster SkylineCheck is than a dynamic program",
        "CPU time on groups that are counted already, for insiders (l, k, m).",
        "Both compiled, on one machine, in one run; each step of the scale multiplies.",
    )


# Views of one key ---------------------------------------------------------------------

LINES = {
    "2 people": (BLUE, [1, 0]),
    "3 people": (ORANGE, [6, 3]),
    "4 people": (GREEN, [2, 2]),
    "12 people": (PURPLE, [8, 3, 2, 3]),
    "one value each": (INK, [1, 3]),
}
"""How many people meet in the key; if all have one value, that does not matter."""


def draw_views(found: dict[str, Sequence[Row]]) -> Any:
    """How likely one association is, by how many people and values meet in a key."""
    rows = [
        {**row, "line": _line(row)}
        for row in found["beliefs"]
        if _line(row) in LINES
        if row["model"] == "unrestricted" or row["people"] == 2
    ]
    marks = mark_line(start(rows, width=420, height=240)).encode(
        x=field(
            "values:Q",
            axis={
                "title": "values that meet in the key",
                "values": [2, 3, 4, 6, 8, 12],
            },
        ),
        y=field(
            "belief:Q",
            scale=SHARES,
            axis=percent_axis("how likely one of them is this person's"),
        ),
        **tell_lines("line:N", LINES),
    )
    return finish(
        marks,
        "How sure one can be of a person and a value of the same key",
        "All tables behind the views: never below one half. Tables in which the person",
        "has one value: one over the number of values, however many people there are.",
    )


def _line(row: Row) -> str:
    if row["model"] == "restricted":
        return "one value each"
    return f"{row['people']} people"
