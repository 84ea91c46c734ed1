"""Figures of how often trees and classifiers err, and how long a disclosure takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from making.figure_style import Row, mark_line, tell_lines, tell_points
from making.markdown import table
from privet.report.chart_style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    finish,
    percent_axis,
    start,
)
from privet.report.vega_lite import field, hconcat, layer, vconcat

# Handicapping: Figures 3 and 4, Table 3 -----------------------------------------------

ERRORS = {
    "BE, original table": ("base", "paper", GREY, "triangle"),
    "SE, release, the paper's way": ("suppression", "paper", BLUE, "circle"),
    "SE, release, usual search": ("suppression", "maximal", GREEN, "square"),
    "RE, columns removed": ("removal", "paper", ORANGE, "diamond"),
}
"""Each line: which error, in which mode."""
TABLES = ("CRX", "Adult", "German")
STATED = {
    "CRX": (40, 27, 15, 8, 6),
    "Adult": (1333, 786, 365, 324, 318),
    "German": (496, 337, 174, 162, 161),
}
"""The paper's Table 3."""


def draw_errors(found: dict[str, Sequence[Row]]) -> Any:
    """Error of a tree by number of sensitive columns, a row of panels per table."""
    panels = [
        hconcat(
            *(_errors_of(found["errors"], data, family) for family in ("Top", "Ran"))
        )
        for data in TABLES
    ]
    return finish(
        vconcat(*panels),
        "What hiding costs a decision tree, and what removing columns would cost",
        "TopN: the N most telling columns are sensitive. RanN: random ones, the mean.",
        "Averaged over thresholds that have a release at all. The axis begins at 10 %;",
        "where one sign covers another, both errors are the same within a point.",
    )


def _errors_of(errors: Sequence[Row], data: str, family: str) -> Any:
    own = [r for r in errors if (r["data"], r["family"]) == (data, family)]
    rows = [
        {"N": row["size"], "of": name, "error": row[error]}
        for name, (error, mode, _, _) in ERRORS.items()
        for row in own
        if row["mode"] == mode and row["feasible"]
    ]
    return mark_line(
        start(rows, width=250, height=140, title=f"{data}, {family}N"), 55
    ).encode(
        x=field("N:O", axis={"title": "N, sensitive columns", "labelAngle": 0}),
        y=field(
            "error:Q",
            scale={"domain": [0.1, 0.5]},
            axis=percent_axis("error on the testing part"),
        ),
        **tell_points("of:N", {n: (h, s) for n, (*_, h, s) in ERRORS.items()}),
    )


def tell_inferences(found: dict[str, Sequence[Row]]) -> str:
    """Table 3: how many inferences are above each threshold, and what the paper has."""
    rows = found["inferences"]
    limits = list(dict.fromkeys(row["limit"] for row in rows))
    head = ("table", *(f"above {float(limit):.0%}" for limit in limits))
    lines: list[tuple[str, ...]] = []
    for data in TABLES:
        here = {r["limit"]: r["here"] for r in rows if r["data"] == data}
        lines += [
            (f"{data}, here", *(f"{here[limit]:,}" for limit in limits)),
            (f"{data}, the paper", *(f"{n:,}" for n in STATED[data])),
        ]
    return table(head, lines)


TIMED = {
    "one": ("one attacker, seven columns", BLUE, [1, 0]),
    "several": ("three to six attackers, the mean", ORANGE, [6, 3]),
    "count": ("a GROUP BY of the seven columns", GREY, [2, 2]),
}
"""What was timed, and how its line looks."""


def draw_times(found: dict[str, Sequence[Row]]) -> Any:
    """Figure 4: seconds by rows, (a) for one set of known columns, (b) for several."""
    rows = [{**r, "what": TIMED[r["of"]][0]} for r in found["speed"]]
    thousands = [n * 200_000 for n in range(6)]
    across = {"title": "rows", "values": thousands, "format": ",d"}
    marks = mark_line(start(rows, width=420, height=220)).encode(
        x=field("rows:Q", scale={"domain": [0, 1_000_000]}, axis=across),
        y=field("seconds:Q", axis={"title": "CPU seconds", "tickCount": 5}),
        **tell_lines("what:N", {name: (h, d) for name, h, d in TIMED.values()}),
    )
    return finish(
        marks,
        "How the time of a release grows with the rows, at a limit of 90 %",
        "Adult, expanded; from the file to a release that was written and recounted.",
    )


# Disguised answers: the curves over θ -------------------------------------------------

SCHEMES = {
    "whole records flipped": ("joint", ORANGE, [6, 3]),
    "answers one by one": ("independent", BLUE, [1, 0]),
}


def draw_accuracy(found: dict[str, Sequence[Row]]) -> Any:
    """Figures 1 (a) and 2 (a): how often the classifier is right."""
    return finish(
        _curves(found["curves"], "mean", "mean accuracy"),
        "How often naive Bayes is right that learnt from disguised records",
        "Dotted: always saying the more frequent class. Exact at 0 and at 1.",
        "The axes begin where the panels need it, not at 0.",
    )


def draw_variance(found: dict[str, Sequence[Row]]) -> Any:
    """Figures 1 (b) and 2 (b): how much that varies between disguises."""
    return finish(
        _curves(found["curves"], "variance", "variance of the accuracy"),
        "How much the accuracy varies from one disguise to the next",
    )


def _curves(rows: Sequence[Row], figure: str, title: str) -> Any:
    names = list(dict.fromkeys(row["data"] for row in rows))
    panels = [_curve(rows, name, figure, title) for name in names]
    return vconcat(*(hconcat(*panels[i : i + 2]) for i in range(0, len(panels), 2)))


def _curve(rows: Sequence[Row], data: str, figure: str, title: str) -> Any:
    words = {scheme: name for name, (scheme, _, _) in SCHEMES.items()}
    own = [
        {"theta": r["theta"], "of": words[r["scheme"]], "y": r[figure]}
        for r in rows
        if r["data"] == data
    ]
    axis = percent_axis(title) if figure == "mean" else {"title": title, "tickCount": 4}
    marks = mark_line(start(own, width=250, height=150, title=data)).encode(
        x=field("theta:Q", axis={"title": "θ, probability of truth"}),
        y=field("y:Q", scale=_leave_room(own, figure), axis=axis),
        **tell_lines("of:N", {n: (h, d) for n, (_, h, d) in SCHEMES.items()}),
    )
    if figure != "mean":
        return marks
    majority = next(r["majority"] for r in rows if r["data"] == data)
    line = start([{"y": majority}]).mark("rule", strokeDash=[1, 4])
    return layer(marks, line.encode(y="y:Q"))


def _leave_room(rows: Sequence[Row], figure: str) -> dict[str, Any]:
    """A scale whose highest point stays inside, so that titles are in line."""
    if figure == "mean":
        return {"zero": False}
    return {"domain": [0, 1.08 * max(row["y"] for row in rows)], "nice": False}
