"""Which columns give away what, as charts."""

from __future__ import annotations

from fractions import Fraction

from privet.languages import say, translate
from privet.microdata.discovery.discovery import Discovery
from privet.report.chart_style import (
    BLUE,
    GREY,
    ORANGE,
    SHARES,
    STEP,
    WIDTH,
    finish,
    list_in_order,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
)
from privet.report.vega_lite import Chart, field, layer
from privet.values.exact import percent

MOST_KNOWN, MOST_TOLD = 30, 15
"""Lines and columns of the matrix."""


def draw_matrix(found: Discovery) -> Chart | None:
    """The fewest columns of a rule with both: 1 is a column that tells by itself."""
    matrix = found.matrix()
    known, more = take_first(list(matrix), MOST_KNOWN)
    about, left = take_first(list(found.known), MOST_TOLD)
    if not known or not about:
        return None
    lines = dict(zip(known, number_alike([shorten(c, 26) for c in known]), strict=True))
    heads = dict(zip(about, number_alike([shorten(c, 26) for c in about]), strict=True))
    rows = [
        {
            "known": lines[c],
            "about": heads[a],
            "fewest": n,
            "said": "" if n is None else n,
        }
        for c in known
        for a, n in matrix[c].items()
        if a in heads
    ]
    x = field(
        "about:N",
        **list_in_order(heads.values(), axis={"orient": "top", "labelAngle": -30}),
    )
    y = field("known:N", **list_in_order(lines.values()))
    marks = start(rows, width={"step": 46}, height={"step": STEP + 2})
    told = marks.add(transform=[{"filter": "isValid(datum.fewest)"}])
    return finish(
        layer(
            marks.mark("rect", stroke=GREY, strokeWidth=0.5, fillOpacity=0).encode(
                x=x, y=y
            ),
            told.mark("circle", opacity=0.5, color=BLUE).encode(
                x=x,
                y=y,
                size=field(
                    "fewest:Q",
                    scale={"domain": [1, 4], "range": [430, 120]},
                    legend=None,
                ),
            ),
            told.mark("text", fontWeight="bold").encode(x=x, y=y, text="said:N"),
        ),
        say("Which columns give away which"),
        say(
            "1: the column alone makes somebody more than {level} sure of a value; 2: "
            "together with one other.",
            level=percent(found.confidence),
        ),
        say("known columns: {more}", more=more) if more else "",
        say("columns given away: {more}", more=left) if left else "",
    )


def draw_rules(found: Discovery, top: int = 15, by: str = "people") -> Chart | None:
    """The first rules with how sure they make somebody; they quote values."""
    rules = found.rank(by, top)
    if not rules:
        return None
    labels = number_alike(
        [
            shorten(
                f"{', '.join(shorten(c, 18) for c in r.columns)} → "
                f"{shorten(r.about, 18)} {shorten(r.value, 20)}",
                60,
            )
            for r in rules
        ]
    )
    rows = [
        {
            "rule": label,
            "sure": float(r.confidence),
            "floor": float(r.floor),
            "exact": str(r.confidence),
            "said": f"{r.people:,}",
        }
        for label, r in zip(labels, rules, strict=True)
    ]
    left = len(found.rules) - len(rules)
    y = field("rule:N", **list_in_order(labels), axis={"labelLimit": 340})
    axis = percent_axis(say("how sure"))
    marks = start(rows, width=WIDTH - 80, height={"step": STEP})
    x = field("sure:Q", axis=axis, scale=SHARES)
    level = Fraction(found.confidence)
    line = start([{"level": float(level)}])
    return finish(
        layer(
            marks.mark("rule", strokeWidth=3, color=BLUE).encode(
                x="floor:Q", x2="sure:Q", y=y
            ),
            marks.mark("tick", color=GREY, thickness=2).encode(x="floor:Q", y=y),
            marks.mark("point", size=70, opacity=1).encode(
                x=x, y=y, tooltip=["rule:N", "exact:N"]
            ),
            marks.mark("text", align="left", dx=10).encode(x=x, y=y, text="said:N"),
            line.mark("rule", color=ORANGE, strokeDash=[4, 2]).encode(x="level:Q"),
        ),
        say("What gives most away"),
        say(
            "From the share in everybody (grey) to how sure somebody becomes; beside "
            "it, of how many {counted}.",
            counted=translate(found.counted),
        ),
        say(
            "The upright line is the confidence asked for, {level}.",
            level=percent(level),
        ),
        say("and {n} more rules", n=f"{left:,}") if left else "",
    )
