"""Charts of methods side by side, and of what limits cost, from their summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.languages import mark, say
from privet.report.chart_style import (
    BLUE,
    GREY,
    SERIES,
    SHARES,
    WIDTH,
    Row,
    colour,
    finish,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
    tell_lines,
)
from privet.report.vega_lite import Chart, Spec, field, layer

FRONT, OTHERS = mark("no other is better in everything"), mark("another one is")
"""Whether a method is on the front of the comparison, whose objectives may be more."""

LOSSES = ("ncp", "cells_changed", "rows_changed", "rows_left_out", "discernibility")
"""Figures of which less is better."""


def draw_comparison(told: Mapping[str, Any], by: str | None = None) -> Chart | None:
    """Every method that reached something: how sure somebody stays, and what it costs.

    `told` is what a comparison's `to_dict` says; `by` one of its figures.
    """
    figure = by or told["by"]
    fitting = [
        m
        for m in told["methods"]
        if m["figures"].get("worst") is not None
        and m["figures"].get(figure) is not None
    ]
    first, more = take_first(fitting, 30)
    if not first:
        return None
    names = number_alike([shorten(m["name"], 28) for m in first])
    rows: list[Row] = [
        {
            "method": name,
            "worst": float(m["figures"]["worst"]),
            "cost": float(m["figures"][figure]),
            "what": say(FRONT if m["pareto"] else OTHERS),
        }
        for name, m in zip(names, first, strict=True)
    ]
    x = field(
        "worst:Q",
        axis=percent_axis(say("how sure somebody is, at worst")),
        scale=SHARES,
    )
    heights = {"domain": list(find_heights(rows)), "nice": False}
    y = field("cost:Q", title=_name_axis(figure), scale=heights)
    front, others = say(FRONT), say(OTHERS)
    shapes = {"domain": [front, others], "range": ["diamond", "circle"]}
    marks = start(rows, width=WIDTH, height=HEIGHT)
    return finish(
        layer(
            marks.mark("point", size=90).encode(
                x=x,
                y=y,
                color=field("what:N", **colour({front: BLUE, others: GREY})),
                shape=field("what:N", scale=shapes, legend={"title": None}),
                tooltip=["method:N", "worst:Q", "cost:Q"],
            ),
            *(
                start([label])
                .mark("rule", color=GREY)
                .encode(x=x, y=y, x2="to", y2="up")
                for label in place_labels(rows)
                if abs(label["dy"]) > FAR
            ),
            *(
                start([label])
                .mark("text", align=label["align"], dx=label["dx"], dy=label["dy"])
                .encode(x=x, y=y, text="method:N")
                for label in place_labels(rows)
            ),
        ),
        say("Methods side by side"),
        told["words"],
        more,
    )


def name_figure(figure: str) -> str:
    """What a figure is called beside an axis, or above a column.

    >>> name_figure("cells_changed")
    'cells changed'
    """
    return say(NAMES[figure]) if figure in NAMES else figure.replace("_", " ")


NAMES = {
    "ncp": mark("NCP"),
    "cells_changed": mark("cells changed"),
    "rows_changed": mark("rows changed"),
    "rows_left_out": mark("rows left out"),
    "discernibility": mark("discernibility"),
    "bits_kept": mark("bits kept"),
    "accuracy": mark("accuracy"),
    "pairs_kept": mark("pairs kept"),
    "standard_error": mark("standard error"),
    "worst": mark("worst"),
    "certain": mark("certain"),
    "unique": mark("unique"),
    "seconds": mark("seconds"),
}
"""Figures in words."""


def _name_axis(figure: str) -> str:
    if figure in LOSSES:
        return say("{figure} (less is better)", figure=name_figure(figure))
    return say("{figure} (as measured)", figure=name_figure(figure))


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels."""

HEIGHT = 260
LETTER, LINE, MARK = 6.2, 13.0, 6.0
"""Pixels of a letter of a label, of its line, and of half a mark."""

PLACES: tuple[tuple[str, float, float], ...] = tuple(
    (align, side * 9, dy)
    for dy in (-8, 8, 0, -21, 21, -34, 34, -47, 47)
    for align, side in (("left", 1), ("right", -1))
)
"""Where a label may stand beside its mark, the best place first."""
FAR = 10
"""Labels further above or below than this have a line to their mark."""


def find_heights(rows: Sequence[Row]) -> tuple[float, float]:
    """The lowest and the highest cost that the chart has room for."""
    costs = [r["cost"] for r in rows]
    low, high = min(0.0, *costs), max(0.0, *costs)
    return low, high + ((high - low) or 1.0) * 0.08


def place_labels(rows: Sequence[Row]) -> list[Row]:
    """Each label where it lies on no mark and on no other label, if there is room.

    Methods at the same place share a label.
    """
    low, high = find_heights(rows)
    found: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        down = (high - row["cost"]) / (high - low) * HEIGHT
        found.setdefault((round(row["worst"] * WIDTH), round(down)), []).append(row)
    taken = [(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in found]
    placed = []
    for (x, y), same in sorted(found.items(), key=lambda one: (one[0][1], one[0][0])):
        text = ", ".join(r["method"] for r in same)
        place = min(PLACES, key=lambda p: _measure_overlap(x, y, text, p, taken))
        taken.append(_find_box(x, y, text, place))
        align, dx, dy = place
        placed.append(
            {
                **same[0],
                **{"method": text, "align": align, "dx": dx, "dy": dy},
                "to": same[0]["worst"] + dx / WIDTH,
                "up": same[0]["cost"] - dy * (high - low) / HEIGHT,
            }
        )
    return placed


def _find_box(x: float, y: float, text: str, place: tuple[str, float, float]) -> Box:
    align, dx, dy = place
    wide = LETTER * len(text)
    left = x + dx - (wide if align == "right" else 0)
    return left, y + dy - LINE / 2, left + wide, y + dy + LINE / 2


def _measure_overlap(
    x: float,
    y: float,
    text: str,
    place: tuple[str, float, float],
    taken: Sequence[Box],
) -> float:
    """Square pixels a label shares with others, and those outside the chart."""
    left, top, right, bottom = _find_box(x, y, text, place)
    shared = sum(
        max(min(right, r) - max(left, le), 0) * max(min(bottom, b) - max(top, t), 0)
        for le, t, r, b in taken
    )
    beyond = max(-left, 0) + max(right - WIDTH, 0)
    return shared + LINE * beyond + WIDTH * (max(-top, 0) + max(bottom - HEIGHT, 0))


def draw_tradeoff(told: Mapping[str, Any]) -> Chart | None:
    """What each limit costs, a line per method; `told` is a trade-off's `to_dict`."""
    methods, more = take_first(list(told["methods"]), len(SERIES))
    labels = dict(
        zip(methods, number_alike([shorten(m, 28) for m in methods]), strict=True)
    )
    rows: list[Row] = [
        {
            "limit": float(Fraction(p["limit"])),
            "method": labels[p["method"]],
            "cost": float(p["best"]),
        }
        for p in told["points"]
        if p["best"] is not None and p["method"] in labels
    ]
    if not rows:
        return None
    names = list(labels.values())
    x = field("limit:Q", axis=_name_limit(str(told["key"])))
    y = field("cost:Q", title=name_figure(str(told["by"])))
    key = tell_lines("method:N", dict(zip(names, SERIES, strict=False)))
    marks = start(rows, width=WIDTH, height=240).mark(
        "line", point={"filled": True, "size": 35}
    )
    return finish(
        marks.encode(x=x, y=y, tooltip=["method:N", "limit:Q", "cost:Q"], **key),
        say("What each limit costs"),
        told["words"],
        say("methods: {more}", more=more) if more else "",
    )


def _name_limit(key: str) -> Spec:
    """The axis of limits: how sure somebody may be, or the level of a measure."""
    if key in ("at_most", "below"):
        return percent_axis(say("how sure somebody may be, at the most"))
    return {"title": say("level of {measure}", measure=key), "tickCount": 6}
