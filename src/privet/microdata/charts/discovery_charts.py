"""Which columns give away what, as charts."""

from __future__ import annotations

from fractions import Fraction

from privet.display import Chart
from privet.languages import say, translate
from privet.microdata.discovery.discovery import Discovery
from privet.report.chart_style import (
    BLUE,
    GREY,
    ORANGE,
    STEP,
    WIDTH,
    finish,
    list_in_order,
    number_alike,
    percent_axis,
    require_altair,
    shorten,
    start,
    take_first,
)
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
    alt = require_altair()
    x = alt.X(
        "about:N",
        **list_in_order(heads.values(), axis=alt.Axis(orient="top", labelAngle=-30)),
    )
    y = alt.Y("known:N", **list_in_order(lines.values()))
    marks = start(rows, width=alt.Step(46), height=alt.Step(STEP + 2))
    told = marks.transform_filter("isValid(datum.fewest)")
    return finish(
        alt.layer(
            marks.mark_rect(stroke=GREY, strokeWidth=0.5, fillOpacity=0).encode(
                x=x, y=y
            ),
            told.mark_circle(opacity=0.5, color=BLUE).encode(
                x=x,
                y=y,
                size=alt.Size(
                    "fewest:Q",
                    scale=alt.Scale(domain=[1, 4], range=[430, 120]),
                    legend=None,
                ),
            ),
            told.mark_text(fontWeight="bold").encode(x=x, y=y, text="said:N"),
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
    alt = require_altair()
    left = len(found.rules) - len(rules)
    y = alt.Y("rule:N", **list_in_order(labels), axis=alt.Axis(labelLimit=340))
    axis = percent_axis(say("how sure"))
    marks = start(rows, width=WIDTH - 80, height=alt.Step(STEP))
    x = alt.X("sure:Q", axis=axis).scale(domain=[0, 1])
    level = Fraction(found.confidence)
    line = start([{"level": float(level)}])
    return finish(
        alt.layer(
            marks.mark_rule(strokeWidth=3, color=BLUE).encode(
                x="floor:Q", x2="sure:Q", y=y
            ),
            marks.mark_tick(color=GREY, thickness=2).encode(x="floor:Q", y=y),
            marks.mark_point(size=70, opacity=1).encode(
                x=x, y=y, tooltip=["rule:N", "exact:N"]
            ),
            marks.mark_text(align="left", dx=10).encode(x=x, y=y, text="said:N"),
            line.mark_rule(color=ORANGE, strokeDash=[4, 2]).encode(x="level:Q"),
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
