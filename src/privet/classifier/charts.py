"""What there is to be seen of classifiers: what tells, how reliably, what is recovered.

Mozafari, Zaniolo 2009: amplification (equation 8) before and after SafetyTransform.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log
from typing import Any

import numpy as np

from privet.classifier.amplification import amplification
from privet.classifier.class_labels import read_classes
from privet.classifier.predict import PublishedNaiveBayes, posteriors_of_rows
from privet.classifier.publish import ClassifierRelease
from privet.classifier.release import ClassifierViews
from privet.classifier.scores import Floats, Scores
from privet.classifier.transforms.extended_safety_transform import (
    ExtendedSafetyTransform,
)
from privet.display import Exhibit
from privet.errors import InputError
from privet.findings import Verdict
from privet.languages import mark, say
from privet.report.chart_style import (
    AFTER,
    BEFORE,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SHARES,
    STEP,
    WIDTH,
    Row,
    as_number,
    colour,
    finish,
    list_in_order,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
    tell_bars,
)
from privet.report.charts import (
    draw_before_and_after,
    list_findings,
    list_promises,
)
from privet.report.documents.document import say_verdict
from privet.report.render import table_as_html
from privet.report.vega_lite import Chart, field, layer
from privet.report.words import SYMBOLS

STEPS = 10
"""Beliefs are put into so many bins where they are held against the truth."""

LOADED = (
    "A release must be made here to be compared with its counts; this one was loaded "
    "from its files."
)


# Amplification ----------------------------------------------------------------------


def list_doublings(scores: Scores, names: Sequence[str]) -> list[Row]:
    """By how many doublings each attribute can move the odds of two classes.

    Of the two classes whose odds can be moved most; None: without limit.
    """
    worst = amplification(scores)
    c, d = worst.classes
    found = []
    for name, table in zip(names, scores.log_factors, strict=True):
        with np.errstate(invalid="ignore"):
            lead = table[:, c] - table[:, d]
        most = float(np.nanmax(lead)) if len(lead) else 0.0
        endless = not np.isfinite(most)
        found.append({"attribute": name, "doublings": None if endless else most})
    return found


def draw_amplification(
    series: Mapping[str, Sequence[Row]], classes: int, target: str
) -> Chart | None:
    """What each attribute adds to how far odds can be moved, in doublings."""
    if classes < 2 or not any(series.values()):
        return None
    rows = next(iter(series.values()))
    ranked = sorted(rows, key=lambda r: -_as_height(r["doublings"]))
    kept, more = take_first([r["attribute"] for r in ranked])
    labels = dict(zip(kept, number_alike([shorten(a) for a in kept]), strict=True))
    finite = [r["doublings"] or 0 for s in series.values() for r in s]
    most = max([1.0, *finite])
    told = [
        {
            "attribute": labels[r["attribute"]],
            "of": name,
            "doublings": most * 1.15 if r["doublings"] is None else r["doublings"],
            "said": say("without limit") if r["doublings"] is None else "",
        }
        for name, own in series.items()
        for r in own
        if r["attribute"] in labels
    ]
    names = list(series)
    several = len(names) > 1
    y = field("attribute:N", **list_in_order(labels.values()))
    x = field("doublings:Q", title=say("doublings of the odds of two classes"))
    key: dict[str, Any] = {}
    if several:
        colours = dict(zip(names, (GREY, BLUE), strict=False))
        key = {
            **tell_bars("of:N", colours),
            "yOffset": field("of:N", sort=names),
        }
    marks = start(told, width=WIDTH - 40, height={"step": 13 if several else STEP})
    text = {k: v for k, v in key.items() if k == "yOffset"}
    return finish(
        layer(
            marks.mark("bar").encode(x=x, y=y, **key),
            marks.mark("text", align="left", dx=4).encode(
                x=x, y=y, text="said:N", **text
            ),
        ),
        say(
            "How far each attribute can move what is believed of {column}",
            column=shorten(target, 24),
        ),
        say("1 doubling: odds of 1 to 1 become 2 to 1. Attributes add up."),
        more,
    )


def _as_height(doublings: float | None) -> float:
    return float("inf") if doublings is None else doublings


def _draw_views(views: ClassifierViews) -> Chart | None:
    names = [a.name for a in views.attributes]
    rows = list_doublings(views.scores, names)
    return draw_amplification({say("all"): rows}, len(views.labels), views.target)


def _draw_release_amplification(release: ClassifierRelease) -> Chart | None:
    card = release.card
    names = [a.name for a in card.attributes]
    series = {say(AFTER): list_doublings(card.scores, names)}
    if release.made is not None:
        before = list_doublings(release.made.views.scores, names)
        series = {say(BEFORE): before, **series}
    return draw_amplification(series, len(card.labels), card.target)


# Reliability ------------------------------------------------------------------------


def bin_reliability(beliefs: Floats, right: Any) -> list[Row]:
    """Among rows that are believed so surely, how often the prediction is right."""
    top = beliefs.max(axis=1)
    at = np.minimum((top * STEPS).astype(int), STEPS - 1)
    return [
        {
            "sure": float(top[at == i].mean()),
            "right": float(right[at == i].mean()),
            "rows": int((at == i).sum()),
        }
        for i in range(STEPS)
        if (at == i).any()
    ]


def draw_reliability(series: Mapping[str, Sequence[Row]]) -> Chart | None:
    """How sure predictions are, and how often they are right."""
    rows = [{**r, "of": name} for name, own in series.items() for r in own]
    if not rows:
        return None
    names = list(series)
    axis = {"domain": [0, 1]}
    x = field(
        "sure:Q", scale=axis, axis=percent_axis(say("how sure the prediction is"))
    )
    y = field("right:Q", scale=axis, axis=percent_axis(say("how often it is right")))
    colours = dict(zip(names, (GREY, BLUE), strict=False))
    shapes = {"domain": names, "range": ["circle", "diamond"][: len(names)]}
    key = field("of:N", **colour(colours))
    even = start([{"sure": 0, "right": 0}, {"sure": 1, "right": 1}])
    marks = start(rows, width=280, height=280)
    return finish(
        layer(
            even.mark("line", color=GREY, strokeDash=[3, 3], strokeWidth=1).encode(
                x=x, y=y
            ),
            marks.mark("line", strokeWidth=1.5).encode(x=x, y=y, color=key),
            marks.mark("point", opacity=1).encode(
                x=x,
                y=y,
                color=key,
                shape=field("of:N", scale=shapes, legend={"title": None}),
                size=field("rows:Q", scale={"range": [30, 260]}, legend=None),
                tooltip=["of:N", "sure:Q", "right:Q", "rows:Q"],
            ),
        ),
        say("Are predictions as often right as they are sure?"),
        say(
            "On the dashed line they are; above it they are right more often than "
            "that. Larger: more rows."
        ),
    )


def _draw_release_reliability(
    release: ClassifierRelease, *, X: Any, y: Any
) -> Chart | None:
    """Original and release on rows with known classes; nothing of them is kept."""
    if release.made is None:
        raise InputError(LOADED)
    card, classifier = release.card, PublishedNaiveBayes(release.card)
    codes = classifier._encode_rows(X)
    labels = read_classes(card.labels, card.target_type)
    truth = np.asarray(y)
    if len(truth) != len(codes):
        raise InputError(
            f"y must have a class for each of {len(codes):,} rows; got {len(truth):,}."
        )
    before = posteriors_of_rows(release.made.views.scores, codes)
    after = posteriors_of_rows(card.scores, codes)
    return draw_reliability(
        {
            name: bin_reliability(shares, labels[shares.argmax(axis=1)] == truth)
            for name, shares in ((say(BEFORE), before), (say(AFTER), after))
        }
    )


# Closeness against accuracy ---------------------------------------------------------


def draw_closeness(steps: Sequence[Mapping[str, Any]]) -> Chart | None:
    """What can be predicted at which closeness to a prior: a staircase."""
    if not steps:
        return None
    alike, right = say("as the original"), say("rightly")
    last = max(s["r"] for s in steps) * 1.15
    rows = [
        {"r": r, "what": what, "share": s[field], "at": 2 * i + side}
        for what, field in ((alike, "alike"), (right, "right"))
        for i, s in enumerate(steps)
        for side, r in enumerate(
            (s["r"], steps[i + 1]["r"] if i + 1 < len(steps) else last)
        )
    ]
    points = _number_steps(steps, last)
    far: dict[str, Any] = {"type": "log"} if last > FAR else {"zero": False}
    x = field(
        "r:Q",
        scale={"domain": [1, last], "nice": False, **far},
        title=say("beliefs within this factor of the prior"),
    )
    y = field(
        "share:Q", axis=percent_axis(say("share of people predicted")), scale=SHARES
    )
    key = {
        "color": field("what:N", **colour({alike: BLUE, right: GREEN})),
        "strokeDash": field(
            "what:N",
            scale={"domain": [alike, right], "range": [[1, 0], [5, 3]]},
            legend={"title": None},
        ),
    }
    lines = start(rows, width=WIDTH, height=220).mark("line")
    marks = start(points)
    return finish(
        layer(
            lines.encode(x=x, y=y, order="at:Q", **key),
            marks.mark("point", color=BLUE).encode(x=x, y=y),
            marks.mark("text", align="left", dx=5, dy=-8).encode(
                x=x, y=y, text="said:N"
            ),
        ),
        say("What can be predicted, how close to the prior"),
        say("Beside each step, how many classes are predicted."),
        say("With each more of them beliefs must move further."),
    )


FAR = 20
"""Factors beyond this one are drawn by their logarithms."""
CLOSE = 0.06
"""Numbers within this part of both axes of each other would overlap."""


def _number_steps(steps: Sequence[Mapping[str, Any]], last: float) -> list[Row]:
    """Each step with how many classes it predicts, where there is room to say it."""
    rows: list[Row] = []
    far, told = last > FAR, (-1.0, -1.0)
    for s in steps:
        x = log(s["r"]) / log(last) if far else (s["r"] - 1) / (last - 1)
        room = max(abs(x - told[0]), abs(s["alike"] - told[1])) >= CLOSE
        told = (x, s["alike"]) if room else told
        said = str(len(s["classes"])) if room else ""
        rows.append({"r": s["r"], "share": s["alike"], "said": said})
    return rows


def _draw_views_closeness(views: ClassifierViews, *, prior: Any) -> Chart | None:
    steps = ExtendedSafetyTransform().staircase(views, prior)
    return draw_closeness([s.to_dict() for s in steps])


# Inversion --------------------------------------------------------------------------

GUESSED = (
    (mark("spreading classes evenly"), "baseline", "baseline_near"),
    (mark("the attack by itself"), "alone", "alone_near"),
    (mark("told the exponent"), "exact", "near"),
)
"""Who guesses, and which figures say how well: exactly, and nearly."""


def draw_inversion(measured: Mapping[str, Any]) -> Chart | None:
    """How many of the original counts an inverter works out."""
    exactly, nearly = say("exactly"), say("nearly")
    rows = [
        {"who": say(who), "what": what, "share": as_number(measured[key])}
        for who, exact, near in GUESSED
        for what, key in ((exactly, exact), (nearly, near))
        if measured.get(key) is not None
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(str(r["who"]) for r in rows))
    y = field("who:N", **list_in_order(names))
    across = percent_axis(say("share of original counts worked out"))
    marks = start(rows, width=WIDTH, height={"step": 14})
    return finish(
        marks.mark("bar").encode(
            x=field("share:Q", axis=across, scale=SHARES),
            y=y,
            yOffset=field("what:N", sort=[exactly, nearly]),
            **tell_bars("what:N", {exactly: ORANGE, nearly: GREY}),
            tooltip=["who:N", "what:N", "share:Q"],
        ),
        say("What an inverter recovers"),
        say(
            "Of {n} counts. The first is what anybody gets who knows the class sizes "
            "alone.",
            n=f"{measured['cells']:,}",
        ),
    )


def _find_inversion(release: ClassifierRelease) -> Mapping[str, Any] | None:
    for f in (*release.audit.findings, *release.audit.uncovered):
        if "baseline_near" in f.details:
            return f.details
    return None


def _draw_release_inversion(release: ClassifierRelease) -> Chart | None:
    found = _find_inversion(release)
    if found is None:
        raise InputError(
            "What an inverter recovers must be measured where the release is made; of "
            "this one nothing is known."
        )
    return draw_inversion(found)


# Values -----------------------------------------------------------------------------


def list_cells(views: ClassifierViews) -> list[dict[str, Any]]:
    """A line per attribute, value and class, with its count."""
    return [
        {"attribute": a.name, "value": v, "class": label, "n": n}
        for a, table in zip(views.attributes, views.cells, strict=True)
        for v, row in zip(a.values, table, strict=True)
        for label, n in zip(views.labels, row, strict=True)
    ]


def summarise_shown(release: ClassifierRelease) -> dict[str, Any]:
    """A release with its promises before and after, without any count."""
    return {
        "kind": "classifier",
        "verdict": release.verdict.value,
        "title": release.policy.title,
        "method": release.method,
        "keeps": release.keeps,
        "target": release.card.target,
        "classes": list(release.card.labels),
        "attributes": [a.name for a in release.card.attributes],
        "promises": list_promises(release),
    }


def _write_views(views: ClassifierViews, picture: str) -> str:
    lines = [(a.name, a.kind, f"{len(a.values):,}") for a in views.attributes]
    heads = (say("Attribute"), say("Type"), say("Values"))
    return (
        f"<div><p><strong>{escape(repr(views))}</strong></p>"
        f"{table_as_html(heads, lines)}{picture}</div>"
    )


def _write_release(release: ClassifierRelease, picture: str) -> str:
    told = summarise_shown(release)
    verdict = say_verdict(told["verdict"]).upper()
    head = f"{SYMBOLS[Verdict(told['verdict'])]} {verdict}, "
    lines = [
        (
            f"{SYMBOLS[Verdict(p['verdict'])]} {p['promise']}",
            _shorten_share(p["before"]),
            _shorten_share(p["posterior"]),
        )
        for p in told["promises"]
    ]
    heads = (say("Promise"), say("Before"), say("After"))
    return (
        f"<div><p><strong>{escape(head + told['method'])}</strong></p>{picture}"
        f"{table_as_html(heads, lines)}"
        f"<p>{escape(told['keeps'])}</p></div>"
    )


def _shorten_share(share: str | None) -> str:
    """A fraction, or about that much where it has many digits."""
    if share is None or len(share) <= 12:
        return share or ""
    return say("about {share}", share=f"{as_number(share):.4g}")


EXHIBITS = {
    "ClassifierViews": Exhibit(
        page=_write_views,
        lines=list_cells,
        charts={"amplification": _draw_views, "closeness": _draw_views_closeness},
        picture=_draw_views,
    ),
    "ClassifierRelease": Exhibit(
        page=_write_release,
        lines=lambda r: list_findings(r.audit.to_dict()["findings"]),
        charts={
            "promises": draw_before_and_after,
            "amplification": _draw_release_amplification,
            "reliability": _draw_release_reliability,
            "inversion": _draw_release_inversion,
        },
        picture=draw_before_and_after,
    ),
}
"""What shows itself here."""
