"""Figures 8 and 9 of the paper on publishing classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from making.figure_style import Row, mark_line, tell_lines
from privet.report.chart_style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SHARES,
    finish,
    percent_axis,
    start,
)
from privet.report.vega_lite import field, hconcat, layer, share_scales

CASES = {
    "Adult, 3 raw": (BLUE, [1, 0]),
    "Adult, 8 categorical": (ORANGE, [6, 3]),
    "Adult, 13 binned": (GREEN, [2, 2]),
}
CLOSEST = 2
"""No release with the original's predictions is closer to 75 : 25 than this."""


def draw_closeness(found: dict[str, Sequence[Row]]) -> Any:
    """Figure 8: how close to the prior releases come, by the limit they keep."""
    panels = [
        _closeness(found["closeness"], mode, title)
        for mode, title in (("tight", "privet's exponent"), ("paper", "the paper's"))
    ]
    return finish(
        hconcat(*panels, **share_scales("y")),
        "How far beliefs move from 75 : 25, by the amplification that is allowed",
        "r: every belief is within this factor of the prior. Dotted: r = 2, which no",
        "release with the original's predictions can go below.",
    )


def _closeness(rows: Sequence[Row], mode: str, title: str) -> Any:
    own = [r for r in rows if r["mode"] == mode and r["case"] in CASES]
    log = {"type": "log", "nice": False}
    marks = mark_line(start(own, width=250, height=180, title=title)).encode(
        x=field(
            "alpha:Q",
            scale=log,
            axis={
                "title": "amplification allowed",
                "values": [2, 5, 10, 20, 50, 100, 200],
            },
        ),
        y=field(
            "r:Q",
            scale={"type": "log", "domain": [1, 100]},
            axis={
                "title": "r, closeness reached",
                "values": [1, 2, 5, 10, 20, 50, 100],
            },
        ),
        **tell_lines("case:N", CASES),
    )
    least = start([{"r": CLOSEST}]).mark("rule", strokeDash=[1, 4])
    return layer(marks, least.encode(y="r:Q"))


WAYS = {
    "same ranges for everybody": (BLUE, [1, 0]),
    "each group its own": (ORANGE, [6, 3]),
    "privet's release": (GREY, [2, 2]),
}


def draw_anonymous(found: dict[str, Sequence[Row]]) -> Any:
    """Figure 9: learnt from k-anonymous rows, beside the published classifier."""
    ours = next(r for r in found["releases"] if r["case"] == "3 raw")
    panels = [
        _anonymous(found["anonymous"], ours, figure, title)
        for figure, title in (("accuracy", "(a) accuracy"), ("recall", "(b) recall"))
    ]
    return finish(
        hconcat(*panels),
        "A classifier learnt from k-anonymous rows, beside the published one",
        "Adult, three attributes, on its testing file. Recall of the rarer class.",
    )


def _anonymous(rows: Sequence[Row], ours: Row, figure: str, title: str) -> Any:
    same, own, release = WAYS
    sizes = sorted({row["k"] for row in rows})
    shown = [
        {"k": r["k"], "of": same if r["same_cuts"] else own, "share": r[figure]}
        for r in rows
    ] + [{"k": k, "of": release, "share": ours[figure]} for k in sizes]
    return mark_line(start(shown, width=250, height=180, title=title)).encode(
        x=field(
            "k:Q",
            scale={"type": "log", "nice": False},
            axis={"title": "k", "values": sizes, "labelOverlap": False},
        ),
        y=field("share:Q", scale=SHARES, axis=percent_axis(figure)),
        **tell_lines("of:N", WAYS),
    )
