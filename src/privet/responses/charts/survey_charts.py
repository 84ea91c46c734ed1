"""Charts of a survey: how answers are disguised, what is estimated, how many to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from privet.display import Exhibit
from privet.errors import InputError
from privet.languages import say, say_number
from privet.report.chart_style import (
    BLUE,
    GREY,
    ORANGE,
    SHARES,
    STEP,
    WIDTH,
    Row,
    colour,
    finish,
    list_in_order,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
)
from privet.report.render import table_as_html
from privet.report.vega_lite import Chart, field, layer
from privet.responses.design import Design
from privet.responses.estimate import Estimate, Estimates, estimate
from privet.responses.planning import list_sample_sizes
from privet.responses.release import Responses
from privet.values.exact import as_float, percent

MOST_WRITTEN = 12
"""Answers of a channel whose chances are written out."""
MOST_ANSWERS = 40
"""Answers of a list of shares."""

ERRORS = ("0.01", "0.015", "0.02", "0.03", "0.04", "0.05", "0.07", "0.1")
"""For which errors answers are counted."""


# How answers are disguised ----------------------------------------------------------


def list_disguise(design: Design) -> list[Row]:
    """A line per question: how often the truth is reported, and what it gives away."""
    found = []
    for q in design.questions:
        public = q.name in design.public
        grown = None if public else design.growth([q.name])
        found.append(
            {
                "question": q.name,
                "answers": len(q.values),
                "public": public,
                "truth": None if public else _find_truth(design, q.name),
                "growth": None if grown is None else str(grown),
            }
        )
    return found


def _find_truth(design: Design, name: str) -> float | None:
    """The least chance that an answer is reported as it is; None: it has none."""
    pieces = design.pieces([name])
    if len(pieces) != 1 or pieces[0].columns != (name,):
        return None
    matrix = pieces[0].channel.matrix(pieces[0].size)
    return float(min(matrix[i][i] for i in range(pieces[0].size)))


def draw_disguise(design: Design) -> Chart | None:
    """How often each answer is reported as it is, and how sure a report makes one.

    Sure of what was thought even beforehand, one to one.
    """
    told = [r for r in list_disguise(design) if not r["public"]]
    first, more = take_first(told)
    if not first:
        return None
    names = number_alike([shorten(r["question"]) for r in first])
    truth = say("reported as it is")
    sure = say("how sure a report makes of what was thought even")
    rows = []
    for name, r in zip(names, first, strict=True):
        if r["truth"] is not None:
            rows.append({"question": name, "what": truth, "share": r["truth"]})
        grown = None if r["growth"] is None else Fraction(r["growth"])
        after = 1.0 if grown is None else as_float(grown / (1 + grown))
        rows.append({"question": name, "what": sure, "share": after})
    y = field("question:N", **list_in_order(names))
    x = field("share:Q", axis=percent_axis(say("chance")), scale=SHARES)
    key = colour({truth: BLUE, sure: ORANGE})
    shapes = field(
        "what:N",
        scale={"domain": [truth, sure], "range": ["circle", "diamond"]},
        legend={"title": None},
    )
    marks = start(rows, width=WIDTH, height={"step": STEP})
    return finish(
        marks.mark("point", size=90).encode(
            x=x,
            y=y,
            color=field("what:N", **key),
            shape=shapes,
            tooltip=["question:N", "what:N", "share:Q"],
        ),
        say("How answers are disguised"),
        _describe_record(design),
        more,
    )


def _describe_record(design: Design) -> str:
    grown = design.growth()
    if grown is None:
        return say("Of the whole record a report may make somebody certain.")
    factor = f"{as_float(grown):.4g}"
    return say("A whole record moves odds by {factor} at the most.", factor=factor)


def draw_channel(design: Design, column: str) -> Chart | None:
    """What is reported for each truth: the chances of one question's channel."""
    question = design.question(column)
    pieces = design.pieces([column])
    if len(pieces) != 1 or pieces[0].columns != (column,):
        raise InputError(
            f"{column!r} must be disguised by itself to be drawn; it is not."
        )
    if len(question.values) > MOST_ANSWERS:
        raise InputError(
            f"{column!r} must have at most {MOST_ANSWERS} answers to be drawn; it has "
            f"{len(question.values):,}."
        )
    matrix = pieces[0].channel.matrix(pieces[0].size)
    labels = number_alike([shorten(v, 20) for v in question.values])
    rows = [
        {"truth": truth, "report": report, "chance": float(matrix[j][i])}
        for i, truth in enumerate(labels)
        for j, report in enumerate(labels)
    ]
    for row in rows:
        row["said"] = percent(Fraction(str(row["chance"])).limit_denominator(10_000))
    across = {"title": say("reported"), "labelAngle": -30}
    x = field("report:N", sort=labels, axis=across)
    y = field("truth:N", sort=labels, axis={"title": say("true")})
    written = len(labels) <= MOST_WRITTEN
    wide, high = (54, 34) if written else (18, 18)
    marks = start(rows, width={"step": wide}, height={"step": high})
    size = {"domain": [0, 1], "range": [0, 900 if written else 250]}
    squares = marks.mark("square", color=BLUE, opacity=0.45).encode(
        x=x, y=y, size=field("chance:Q", scale=size, legend=None)
    )
    chances = [marks.mark("text").encode(x=x, y=y, text="said:N")] if written else []
    return finish(
        layer(squares, *chances),
        say("What is reported of {column}", column=shorten(column)),
        say("Each line adds up to 100 %."),
        "" if written else say("The larger, the likelier."),
    )


def draw_answers(design: Design, errors: Sequence[str] = ERRORS) -> Chart | None:
    """How many answers an error needs, disguised and not."""
    disguised, plain = say("disguised"), say("as they are")
    rows = []
    for error in errors:
        needs = list_sample_sizes(design, error=error)
        if not needs:
            return None
        worst = max(needs, key=lambda n: n.answers)
        for what, n in ((disguised, worst.answers), (plain, worst.plain)):
            rows.append({"error": float(Fraction(error)), "what": what, "answers": n})
    x = field(
        "error:Q",
        axis={"title": say("error of a share, ±"), "format": "%"},
        scale={"zero": False, "nice": False},
    )
    y = field(
        "answers:Q",
        scale={"type": "log"},
        axis={
            "title": say("answers needed"),
            "format": "~s",
            "values": [10**i for i in range(15)],
        },
    )
    key = {
        "color": field("what:N", **colour({disguised: BLUE, plain: GREY})),
        "strokeDash": field(
            "what:N",
            scale={"domain": [disguised, plain], "range": [[1, 0], [5, 3]]},
            legend={"title": None},
        ),
    }
    marks = start(rows, width=WIDTH, height=220)
    return finish(
        marks.mark("line").encode(
            x=x, y=y, tooltip=["what:N", "error:Q", "answers:Q"], **key
        ),
        say("How many answers are needed"),
        say(
            "Of the question that needs most, whatever the truth is, with 95 % "
            "confidence."
        ),
    )


# What is estimated ------------------------------------------------------------------


def list_shares(shares: Mapping[str, Mapping[str, Estimate]]) -> list[Row]:
    """A line per question and answer, with its estimate."""
    return [
        {"question": question, "answer": answer, **_tell(e)}
        for question, answers in shares.items()
        for answer, e in answers.items()
    ]


def _tell(e: Estimate) -> Row:
    return {
        "value": e.value,
        "low": e.interval[0],
        "high": e.interval[1],
        "unbiased": e.unbiased,
        "n": e.n,
    }


def draw_shares(
    rows: Sequence[Mapping[str, Any]], confidence: float, reported: bool = True
) -> Chart | None:
    """Estimated shares with intervals, beside what was reported."""
    first, more = take_first(list(rows), MOST_ANSWERS)
    if not first:
        return None
    labels = number_alike(
        [f"{shorten(r['question'], 20)}: {shorten(r['answer'], 20)}" for r in first]
    )
    true, seen = say("estimated truth"), say("reported")
    told = [
        {"answer": label, "what": what, "share": r[field]}
        for label, r in zip(labels, first, strict=True)
        for what, field in ((true, "value"), (seen, "reported"))
        if r.get(field) is not None
    ]
    spans = [
        {"answer": label, "low": r["low"], "high": r["high"]}
        for label, r in zip(labels, first, strict=True)
    ]
    y = field("answer:N", **list_in_order(labels), axis={"labelLimit": 300})
    ends = [r["high"] for r in first] + [t["share"] for t in told]
    scale = {"domain": [0, find_end(max(ends))]}
    x = field("share:Q", axis=percent_axis(say("share of people")), scale=scale)
    said = {true: BLUE, seen: GREY} if reported else {true: BLUE}
    shapes = field(
        "what:N",
        scale={"domain": list(said), "range": ["circle", "cross"][: len(said)]},
        legend={"title": None},
    )
    marks = start(told, width=WIDTH, height={"step": STEP})
    return finish(
        layer(
            start(spans)
            .mark("rule", strokeWidth=4, color=BLUE, opacity=0.4)
            .encode(x=field("low:Q"), x2="high:Q", y=y),
            marks.mark("point", size=60).encode(
                x=x, y=y, color=field("what:N", **colour(said)), shape=shapes
            ),
        ),
        say("What is estimated, with its interval"),
        say(
            "The interval holds the truth with {level} confidence.",
            level=f"{100 * confidence:g} %",
        ),
        more,
    )


def find_end(most: float) -> float:
    """Where an axis of shares ends that begins at 0: small ones would be one dot.

    >>> find_end(0.04), find_end(0.31), find_end(0.7)
    (0.1, 0.5, 1.0)
    """
    return next((end for end in (0.1, 0.2, 0.5) if most <= end), 1.0)


def summarise_shares(found: Estimates) -> list[Row]:
    """Every share with what was reported; counted at once when it is asked for."""
    rows = list_shares(found.every_share())
    columns = list(dict.fromkeys(r["question"] for r in rows))
    counts = found.responses.count_columns([[c] for c in columns], found.run)
    for column, counted in zip(columns, counts, strict=True):
        values, n = found.design.question(column).values, int(counted.sum())
        told = dict(zip(values, counted.tolist(), strict=True))
        for row in rows:
            if row["question"] == column and n:
                row["reported"] = told[row["answer"]] / n
    return rows


def _draw_estimates(found: Estimates) -> Chart | None:
    return draw_shares(summarise_shares(found), found.confidence)


def draw_estimate(e: Estimate) -> Chart | None:
    """One share: the likeliest value, its interval, and a wider one that is surer."""
    level = f"{100 * e.confidence:g} %"
    usual, sure = (
        say("{level} interval", level=level),
        say("at least {share}", share=level),
    )
    spans: list[Row] = [{"what": usual, "low": e.interval[0], "high": e.interval[1]}]
    if e.sure is not None:
        spans.append({"what": sure, "low": e.sure[0], "high": e.sure[1]})
    names = [str(s["what"]) for s in spans]
    y = field("what:N", **list_in_order(names))
    scale = {"domain": [0, find_end(max(s["high"] for s in spans))]}
    x = field("low:Q", axis=percent_axis(say("share of people")), scale=scale)
    marks = start(spans, width=WIDTH, height={"step": STEP + 2})
    dots = start([{"what": n, "low": e.value} for n in names])
    return finish(
        layer(
            marks.mark("rule", strokeWidth=5, color=BLUE, opacity=0.45).encode(
                x=x, x2="high:Q", y=y
            ),
            dots.mark("point", size=80).encode(x=x, y=y),
        ),
        say("Estimated: {share}", share=f"{100 * e.value:.1f} %"),
        say_number("From {n} answer.", "From {n} answers.", e.n),
        say("The first holds the truth about as often as it says, the second at least.")
        if e.sure is not None
        else "",
    )


# Values -----------------------------------------------------------------------------


def _write_design(design: Design, picture: str) -> str:
    title = escape(design.title or say("Design of a survey"))
    lines = [
        (
            r["question"],
            f"{r['answers']:,}",
            say("public") if r["public"] else say("disguised"),
            "" if r["truth"] is None else f"{100 * r['truth']:.3g} %",
        )
        for r in list_disguise(design)
    ]
    heads = (say("Question"), say("Answers"), "", say("Reported as it is"))
    return (
        f"<div><p><strong>{title}</strong></p>{table_as_html(heads, lines)}"
        f"{picture}</div>"
    )


def _write_responses(found: Responses, picture: str) -> str:
    head = escape(say("Disguised answers: {rows}", rows=found.rows.words))
    told = _write_design(found.design, picture)
    return f"<div><p><strong>{head}</strong></p>{told}</div>"


def _write_estimate(e: Estimate, picture: str) -> str:
    note = f"<p>{escape(e.note)}</p>" if e.note else ""
    return f"<div><p>{escape(repr(e))}</p>{picture}{note}</div>"


def _write_estimates(found: Estimates, picture: str) -> str:
    said = say(
        "Estimates of {columns}; ask for .chart() or .to_frame() to count them.",
        columns=", ".join(found.design.columns),
    )
    return f"<div><p>{escape(said)}</p>{picture}</div>"


EXHIBITS = {
    "Design": Exhibit(
        page=_write_design,
        lines=list_disguise,
        charts={
            "disguise": draw_disguise,
            "channel": draw_channel,
            "answers": draw_answers,
        },
        picture=draw_disguise,
    ),
    "Responses": Exhibit(
        page=_write_responses,
        lines=lambda r: list_disguise(r.design),
        charts={
            "shares": lambda r: _draw_estimates(estimate(r, r.design)),
            "disguise": lambda r: draw_disguise(r.design),
        },
        picture=lambda r: draw_disguise(r.design),
    ),
    "Estimate": Exhibit(
        page=_write_estimate,
        lines=lambda e: [_tell(e)],
        charts={"interval": draw_estimate},
        picture=draw_estimate,
    ),
    "Estimates": Exhibit(
        page=_write_estimates,
        lines=summarise_shares,
        charts={"shares": _draw_estimates},
    ),
}
"""What shows itself here."""
