"""Charts of groups: how large they are, who is unique, where somebody is surest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.languages import say, say_number, translate
from privet.report.chart_style import (
    BAR,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SHARES,
    STEP,
    UPRIGHT,
    WIDTH,
    Row,
    colour,
    count_axis,
    finish,
    list_in_order,
    name_alone,
    number_alike,
    percent_axis,
    shorten,
    start,
    tell_bars,
)
from privet.report.vega_lite import Chart, field, layer, part_scales
from privet.values.beliefs import Belief, Ceiling
from privet.values.exact import percent

EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)
"""The least sizes of bins: groups of 3 and 4 people are one bin."""


def label_sizes() -> list[str]:
    """The bins of sizes as an axis names them.

    >>> label_sizes()[:4], label_sizes()[-1]
    (['1', '2', '3–4', '5–9'], '1,000 and more')
    """
    ends = [b - 1 for b in EDGES[1:]]
    said = [
        f"{a:,}" if a == b else f"{a}–{b}" for a, b in zip(EDGES, ends, strict=False)
    ]
    return [*said, say("{n} and more", n=f"{EDGES[-1]:,}")]


def bin_sizes(sizes: Mapping[int, int]) -> list[int]:
    """People by the size of their group, in the bins of `label_sizes`.

    >>> bin_sizes({1: 5, 3: 2, 4: 1})[:4]
    [5, 0, 10, 0]
    """
    found = [0] * len(EDGES)
    for size, n in sizes.items():
        at = max(i for i, edge in enumerate(EDGES) if edge <= max(size, 1))
        found[at] += size * n
    return found


def draw_sizes(
    series: Mapping[str, Mapping[int, int]], counted: str = "people"
) -> Chart | None:
    """How many people are in groups of which size; a colour per table or release."""
    labels = label_sizes()
    binned = {name: bin_sizes(sizes) for name, sizes in series.items()}
    used = [i for i in range(len(EDGES)) if any(b[i] for b in binned.values())]
    if not used:
        return None
    shown = labels[: used[-1] + 1]
    rows: list[Row] = [
        {"size": label, "of": name, "people": n, "said": f"{n:,}" if n else ""}
        for name, bins in binned.items()
        for label, n in zip(shown, bins, strict=False)
    ]
    names, several = list(binned), len(binned) > 1
    colours = dict(zip(names, (GREY, BLUE, GREEN, ORANGE), strict=False))
    x = field(
        "size:O",
        sort=shown,
        title=say("{counted} who look alike", counted=translate(counted)),
        axis={"labelAngle": 0, "labelOverlap": False},
    )
    most = max(r["people"] for r in rows)
    y = field("people:Q", axis=count_axis(translate(counted), most))
    key: dict[str, Any] = {}
    if several:
        key = tell_bars("of:N", colours)
    side = {"xOffset": field("of:N", sort=names)} if several else {}
    bars = start(rows, width={"step": 34 if several else 54}, height=200)
    layers = [bars.mark("bar").encode(x=x, y=y, **key, **side)]
    if not several:
        text = bars.mark("text", dy=-6).encode(x=x, y=y, text="said:N")
        layers.append(text)
    told = [
        _count_groups(name if several else "", series[name], counted) for name in names
    ]
    return finish(layer(*layers), say("How many look alike"), *(f"{t}." for t in told))


def _count_groups(name: str, sizes: Mapping[int, int], counted: str) -> str:
    """How many groups there are, in one table, or in one of several that are named."""
    told = say_number(
        "{n} group; {all} {counted} in all",
        "{n} groups; {all} {counted} in all",
        sum(sizes.values()),
        all=f"{sum(s * n for s, n in sizes.items()):,}",
        counted=translate(counted),
    )
    return say("{name}: {told}", name=name, told=told) if name else told


# Uniqueness -------------------------------------------------------------------------


def draw_uniqueness(
    found: Sequence[Mapping[str, Any]], people: int, note: str = ""
) -> Chart | None:
    """How many people are unique, by number of known columns."""
    if not found or not people:
        return None
    some, any_ = say("on the columns named"), say("on some set of so many")
    labels = number_alike(
        [
            f"{u['columns']}: {shorten(', '.join(map(shorten, u['worst'])), 44)}"
            for u in found
        ]
    )
    named, every = (
        [
            {"set": label, "what": what, "people": u[of], "share": u[of] / people}
            for label, u in zip(labels, found, strict=True)
        ]
        for what, of in ((some, "unique"), (any_, "any_set"))
    )
    y = field("set:N", **list_in_order(labels), axis={"labelLimit": 320})
    x = field("share:Q", axis=percent_axis(say("share who are unique")), scale=SHARES)
    bars = start(named, width=WIDTH - 60, height={"step": STEP})
    hints = ["set:N", "people:Q"]
    bar = field("what:N", **name_alone(some, BLUE, BAR))
    tick = field("what:N", **name_alone(any_, ORANGE, UPRIGHT))
    ticks = start(every).mark("tick", thickness=3)
    return finish(
        layer(
            bars.mark("bar", height={"band": 0.6}).encode(
                x=x, y=y, color=bar, tooltip=hints
            ),
            ticks.encode(x=x, y=y, color=tick, tooltip=hints),
        ).add(**part_scales("color")),
        say("Who is unique, by number of known columns"),
        say(
            "Of {n}; the set named is the one on which most are unique.",
            n=f"{people:,}",
        ),
        note,
    )


# Where somebody is surest -----------------------------------------------------------


def draw_surest(
    groups: Sequence[Mapping[str, Any]],
    more: int,
    *,
    about: str,
    limit: Ceiling | None = None,
) -> Chart | None:
    """The groups where a promise is nearest to breaking; it quotes the table."""
    if not groups:
        return None
    labels = number_alike([_label_group(g) for g in groups])
    within, beyond = say("within the limit"), say("beyond the limit")
    rows = [
        {
            "group": label,
            "share": float(Fraction(g["share"])),
            "exact": g["share"],
            "said": say(
                "{n} of {all}: {value}",
                n=f"{g['part']:,}",
                all=f"{g['whole']:,}",
                value=shorten(g["value"], 24),
            ),
            "side": within if _is_within(g["share"], limit) else beyond,
        }
        for label, g in zip(labels, groups, strict=True)
    ]
    y = field("group:N", **list_in_order(labels), axis={"labelLimit": 330})
    x = field(
        "share:Q",
        axis=percent_axis(say("how sure of {column}", column=shorten(about))),
        scale=SHARES,
    )
    wide = WIDTH - 120
    marks = start(rows, width=wide, height={"step": STEP})
    there = {r["side"] for r in rows}
    sides = {s: c for s, c in ((within, BLUE), (beyond, ORANGE)) if s in there}
    key = field("side:N", **colour(sides)) if limit is not None else {"value": BLUE}
    layers = [
        marks.mark("bar", height={"band": 0.7}).encode(
            x=x, y=y, color=key, tooltip=["group:N", "exact:N"]
        ),
        # Beside the bars, where the limit does not strike it through.
        marks.mark("text", align="left", dx=8).encode(
            x={"value": wide}, y=y, text="said:N"
        ),
    ]
    if limit is not None:
        line = start([{"level": float(limit.level)}]).mark(
            "rule", color=ORANGE, strokeWidth=2, strokeDash=[4, 2]
        )
        layers.append(line.encode(x="level:Q"))
    return finish(
        layer(*layers),
        say("Where somebody is surest"),
        ""
        if limit is None
        else say("The upright line is the limit, {level}.", level=percent(limit.level)),
        say("and {n} more groups", n=f"{more:,}") if more else "",
    )


def _is_within(share: str, limit: Ceiling | None) -> bool:
    """Whether a promise allows it; whoever must stay below a limit may not reach it."""
    return limit is None or limit.holds(Belief(0, Fraction(share)))


def _label_group(group: Mapping[str, Any]) -> str:
    known = [f"{shorten(c, 14)} {shorten(v, 18)}" for c, v in group["knows"].items()]
    return shorten(", ".join(known) or say("everybody"), 56)
