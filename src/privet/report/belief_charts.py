"""Charts of beliefs that all kinds of release share: promises, and people.

Each is a function from the plain dictionaries of `report/summary.py` to a chart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.languages import mark, say, translate
from privet.report.chart_style import (
    AFTER,
    BEFORE,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SERIES,
    SHARES,
    STEP,
    WIDTH,
    Row,
    as_number,
    colour,
    count_axis,
    count_scale,
    finish,
    list_in_order,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
    tell_lines,
)
from privet.report.vega_lite import Chart, field, layer
from privet.values.exact import percent

Summary = Mapping[str, Any]
"""A finding, as `report/summary.py` has it."""

NAME = 48
"""Letters of a promise's name."""

NOTHING = mark("knowing nothing")
"""What the prior is called."""

ENDS = {
    "safe": mark("kept"),
    "breach": mark("broken"),
    "undecided": mark("undecided"),
    "not covered": mark("not covered"),
    "not applicable": mark("not applicable"),
}
"""What is said of the point where a belief ends."""

LIMIT = mark("limit")
"""What the limit of a promise is called."""

COLOURS = {
    NOTHING: GREY,
    BEFORE: BLUE,
    "kept": GREEN,
    "broken": ORANGE,
    "undecided": PURPLE,
    "not covered": PURPLE,
    "not applicable": GREY,
}
SHAPES = {
    NOTHING: "circle",
    BEFORE: "diamond",
    "kept": "triangle-left",
    "broken": "cross",
    "undecided": "square",
    "not covered": "triangle-up",
    "not applicable": "square",
}
"""Colours never stand alone."""


# Promises ---------------------------------------------------------------------------


def find_level(
    limit: Mapping[str, str], prior: str | None, posterior: str | None = None
) -> Fraction | None:
    """How sure a limit lets somebody become who believed this before.

    Where a limit looks both ways and the belief falls, it is how unsure.

    >>> find_level({"at_most": "1/2"}, None), find_level({"within": "2"}, "1/3")
    (Fraction(1, 2), Fraction(2, 3))
    >>> find_level({"within": "2"}, "1/3", "1/4")
    Fraction(1, 6)
    """
    down = _is_lower_end(limit, prior, posterior)
    for key in ("at_most", "below", "exactly", "from" if down else "to"):
        if key in limit:
            return Fraction(str(limit[key]))
    if "within" in limit and prior is not None:
        factor, before = Fraction(limit["within"]), Fraction(prior)
        return before / factor if down else min(factor * before, Fraction(1))
    return None


def _is_lower_end(
    limit: Mapping[str, str], prior: str | None, posterior: str | None
) -> bool:
    """Whether it is the lower end of a limit that such a belief comes near to."""
    if prior is None or posterior is None:
        return False
    if "to" in limit:
        return Fraction(prior) > Fraction(limit["to"])
    return "within" in limit and Fraction(posterior) < Fraction(prior)


def find_room(finding: Summary) -> Fraction | None:
    """How far a belief may still move before a promise breaks; below 0: broken."""
    limit, prior, posterior = (finding[k] for k in ("limit", "prior", "posterior"))
    level = find_level(limit, prior, posterior)
    if level is None or posterior is None:
        return None
    room = level - Fraction(posterior)
    return -room if _is_lower_end(limit, prior, posterior) else room


def list_nearest(findings: Sequence[Summary]) -> list[Summary]:
    """The promises with a belief, the one nearest to breaking first."""
    told = [(find_room(f), f) for f in findings]
    fitting = [(room, f) for room, f in told if room is not None]
    return [f for _, f in sorted(fitting, key=lambda pair: pair[0])]


def draw_promises(
    findings: Sequence[Summary],
    before: Mapping[str, Summary] | None = None,
    title: str = "",
) -> Chart | None:
    """The worst belief of each promise beside its limit; nearest to breaking first.

    `before` has what the table itself tells, by the names of promises.
    """
    first, more = take_first(list_nearest(findings))
    if not first:
        return None
    names = number_alike([shorten(f["promise"], NAME) for f in first])
    rows = [
        row
        for name, finding in zip(names, first, strict=True)
        for row in _list_points(name, finding, (before or {}).get(finding["promise"]))
    ]
    size = {"width": WIDTH, "height": {"step": STEP}}
    y = field("promise:N", **list_in_order(names), axis={"labelLimit": 300})
    x = field("belief:Q", scale=SHARES, axis=percent_axis(say("how sure")))
    spans = _find_spans(rows)
    lines = start(spans, **size).mark("rule", strokeWidth=1.5, color=GREY)
    limits = [r for r in rows if r["what"] == say(LIMIT)]
    shown = [r for r in rows if r["what"] != say(LIMIT)]
    told = [n for n in COLOURS if any(r["what"] == say(n) for r in shown)]
    said = [say(n) for n in told]
    colours = dict(zip(said, (COLOURS[n] for n in told), strict=True))
    points = start(shown).mark("point", size=80, filled=True, opacity=1)
    return finish(
        layer(
            lines.encode(y=y, x=field("low:Q"), x2="high:Q"),
            start(limits)
            .mark("tick", color=ORANGE, thickness=3, size=STEP - 4)
            .encode(x=x, y=y, tooltip=_hints()),
            points.encode(
                x=x,
                y=y,
                color=field("what:N", **colour(colours)),
                shape=field(
                    "what:N",
                    scale={"domain": said, "range": [SHAPES[n] for n in told]},
                    legend={"title": None},
                ),
                tooltip=_hints(),
            ),
        ),
        title or say("How sure somebody could be, promise by promise"),
        say(
            "The upright line is the limit; the promise nearest to breaking comes "
            "first."
        )
        if first[1:]
        else say("The upright line is the limit."),
        more,
    )


def _hints() -> list[str]:
    return ["promise:N", "what:N", "exact:N"]


def _list_points(name: str, finding: Summary, before: Summary | None) -> list[Row]:
    level = find_level(finding["limit"], finding["prior"], finding["posterior"])
    told = {
        NOTHING: finding["prior"],
        BEFORE: None if before is None else before["posterior"],
        ENDS[finding["verdict"]]: finding["posterior"],
        LIMIT: None if level is None else str(level),
    }
    return [
        {"promise": name, "what": say(what), "belief": as_number(share), "exact": share}
        for what, share in told.items()
        if share is not None
    ]


def _find_spans(rows: Sequence[Row]) -> list[Row]:
    """From the least to the largest belief of each promise."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["what"] != say(LIMIT):
            found.setdefault(row["promise"], []).append(row["belief"])
    return [{"promise": p, "low": min(b), "high": max(b)} for p, b in found.items()]


# One finding ------------------------------------------------------------------------


def draw_finding(finding: Summary) -> Chart | None:
    """One promise: what was believed before, the worst case, and the limit."""
    return draw_promises([finding], title=say("How sure somebody could be"))


def draw_counts(finding: Summary) -> Chart | None:
    """The counts behind a belief: those who fit, and everybody."""
    witness = finding["witness"]
    if not witness or not witness.get("of") or "prior_of" not in witness:
        return None
    having, lacking = say("with the value"), say("without it")
    told = [
        (EVERYBODY, witness["prior_count"], witness["prior_of"]),
        (FITTING, witness["count"], witness["of"]),
    ]
    rows = [
        {
            "who": say(who, n=f"{part:,}", all=f"{whole:,}"),
            "what": what,
            "at": at,
            "share": n / whole,
            "count": n,
        }
        for who, part, whole in told
        if whole
        for at, (what, n) in enumerate(((having, part), (lacking, whole - part)))
    ]
    colours = {having: BLUE, lacking: GREY}
    bars = start(rows, width=WIDTH, height={"step": STEP + 6}).mark(
        "bar", stroke=None, height={"band": 0.7}
    )
    return finish(
        bars.encode(
            x=field("share:Q", axis=percent_axis(_say_share(witness["counted"]))),
            y=field("who:N", **list_in_order(r["who"] for r in rows)),
            color=field("what:N", **colour(colours)),
            order=field("at:Q"),
            tooltip=["who:N", "what:N", "count:Q"],
        ),
        say("By which counts"),
        say(
            "{prior} of everybody, {share} of those who fit.",
            prior=percent(Fraction(witness["prior_count"], witness["prior_of"])),
            share=percent(Fraction(witness["count"], witness["of"])),
        ),
    )


EVERYBODY = mark("everybody: {n} of {all}")
FITTING = mark("who fit what is known: {n} of {all}")
"""Who is counted."""


def _say_share(counted: str) -> str:
    """What an axis of shares is called."""
    return say("share of {counted}", counted=translate(counted))


# People -----------------------------------------------------------------------------


def accumulate(bins: Sequence[int]) -> list[tuple[Fraction, int]]:
    """Of how many people somebody is at least so sure, from counts in equal steps.

    The last bin holds those who are certain.

    >>> accumulate([2, 1, 1])
    [(Fraction(0, 1), 4), (Fraction(1, 2), 2), (Fraction(1, 1), 1)]
    """
    steps = len(bins) - 1
    return [(Fraction(i, steps), sum(bins[i:])) for i in range(steps + 1)]


def draw_beliefs(
    series: Mapping[str, Sequence[int]],
    limits: Sequence[Fraction] = (),
    *,
    column: str,
    counted: str = "people",
) -> Chart | None:
    """Of how many people somebody is how sure: a line per table or release.

    `series` has counts of people by how sure one is of their own value, in equal steps
    with certainty last, by the name of what was counted.
    """
    told = {name: bins for name, bins in series.items() if sum(bins)}
    if not told:
        return None
    rows: list[Row] = [
        {"of": name, "sure": float(sure), "people": n}
        for name, bins in told.items()
        for sure, n in accumulate(bins)
    ]
    names = list(told)
    marks = start(rows, width=WIDTH, height=220)
    x = field(
        "sure:Q",
        scale=SHARES,
        axis=percent_axis(say("somebody is at least so sure of their value")),
    )
    most = max(r["people"] for r in rows)
    y = field("people:Q", axis=count_axis(translate(counted), most))
    shown = dict(zip(names, _pick_colours(names), strict=True))
    key: dict[str, Any] = {"color": {"value": BLUE}}
    if len(names) > 1:
        key = tell_lines("of:N", shown)
    hints = ["of:N", "sure:Q", "people:Q"]
    layers = [
        marks.mark("line", point={"filled": True, "size": 22}).encode(
            x=x, y=y, tooltip=hints, **key
        ),
        *_draw_limits(limits),
    ]
    said = "; ".join(
        say(
            CERTAIN if len(told) == 1 else CERTAIN_OF,
            name=name,
            n=f"{bins[-1]:,}",
            all=f"{sum(bins):,}",
        )
        for name, bins in told.items()
    )
    return finish(
        layer(*layers),
        say(
            "Of how many people somebody is how sure of {column}",
            column=shorten(column),
        ),
        f"{said[:1].upper()}{said[1:]}.",
        say(
            "Counted at each point; lines only join them. {limits}",
            limits=_explain_limits(limits),
        ).strip(),
    )


CERTAIN = mark("somebody is certain of {n} of {all}")
CERTAIN_OF = mark("{name}, somebody is certain of {n} of {all}")
"""Of how many people somebody is certain, where there is one table, or several."""


def _pick_colours(names: Sequence[str]) -> list[str]:
    fixed = {say(BEFORE): GREY, say(AFTER): BLUE}
    return [fixed.get(n) or SERIES[i % len(SERIES)] for i, n in enumerate(names)]


def _explain_limits(limits: Sequence[Fraction]) -> str:
    if len(set(limits)) > 1:
        return say("The upright lines are limits of the policy.")
    return say("The upright line is a limit of the policy.") if limits else ""


def _draw_limits(limits: Sequence[Fraction]) -> list[Chart]:
    if not limits:
        return []
    rows = [{"level": float(level)} for level in sorted(set(limits))]
    return [
        start(rows)
        .mark("rule", color=ORANGE, strokeWidth=2, strokeDash=[4, 2])
        .encode(x=field("level:Q"))
    ]


# People beyond a limit --------------------------------------------------------------


def draw_people(findings: Sequence[Summary]) -> Chart | None:
    """How many people are beyond the limit of each promise."""
    judged = [f for f in findings if f["posterior"] is not None]
    ranked = sorted(judged, key=lambda f: -f["people_above"])
    first, more = take_first(ranked)
    if not first:
        return None
    names = number_alike([shorten(f["promise"], NAME) for f in first])
    rows = [
        {
            "promise": name,
            "people": f["people_above"],
            "said": say(
                "{people} (in {n} of {all} groups)",
                people=f"{f['people_above']:,}",
                n=f"{f['groups_above']:,}",
                all=f"{f['groups']:,}",
            ),
        }
        for name, f in zip(names, first, strict=True)
    ]
    bars = start(rows, width=WIDTH - 100, height={"step": STEP})
    y = field("promise:N", **list_in_order(names), axis={"labelLimit": 300})
    most = first[0]["people_above"]
    x = field(
        "people:Q",
        axis=count_axis(say("people beyond the limit"), most),
        scale=count_scale(most),
    )
    return finish(
        layer(
            bars.mark("bar", color=ORANGE, height={"band": 0.6}).encode(x=x, y=y),
            bars.mark("text", align="left", dx=4).encode(x=x, y=y, text="said:N"),
        ),
        say("Of how many people somebody is too sure"),
        more,
    )
