"""What a report must look like; nothing of it is ever quoted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from privet.responses.channels import Channel, Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import Design, Group, Question
from privet.values.exact import as_float

LONGEST_TOKEN = 100


class Malformed(Exception):
    """A request that is not a report; says which rule it breaks."""


def largest_body(design: Design) -> int:
    """How many bytes a report may have, generously."""
    widest = sum(
        len(json.dumps(q.name)) + max(len(json.dumps(v)) for v in q.values) + 8
        for q in design.questions
    )
    return 2 * widest + 400


def report_in(body: bytes, design: Design) -> tuple[dict[str, str | None], str | None]:
    """The report and the token of a request; or `Malformed`."""
    try:
        content = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Malformed("The request must be JSON.") from None
    if not isinstance(content, dict) or not set(content) <= {"report", "token"}:
        raise Malformed("The request must hold a report, and a token where needed.")
    token = content.get("token")
    if token is not None and not (
        isinstance(token, str) and 0 < len(token) <= LONGEST_TOKEN
    ):
        raise Malformed("The token must be text.")
    return _report(content.get("report"), design), token


def _report(report: Any, design: Design) -> dict[str, str | None]:
    if not isinstance(report, dict) or set(report) != set(design.columns):
        raise Malformed("The report must hold every question, and no other.")
    for question in design.questions:
        value = report[question.name]
        if value is None and design.one_of:
            continue
        if not isinstance(value, str) or value not in question.values:
            raise Malformed("Every answer must be one of the declared values.")
    if design.one_of:
        given = {c for c, v in report.items() if v is not None}
        if given not in [set(g.columns) for g in design.groups]:
            raise Malformed("The report must answer one group of questions.")
    return report


# What the browser needs -------------------------------------------------------------


def for_browser(design: Design, survey: str, *, tokens: bool) -> dict[str, Any]:
    """The design with chances as whole numbers, which a browser can draw exactly."""
    return {
        "title": design.title or "Survey",
        "survey": survey,
        "tokens": tokens,
        "one_of": design.one_of,
        "questions": [
            {
                "name": q.name,
                "ask": q.ask or q.name,
                "values": list(q.values),
                "edges": _edges(q),
            }
            for q in design.questions
        ],
        "groups": [_group(design, g) for g in design.groups],
    }


def _edges(question: Question) -> list[float] | None:
    """Cut points of a number that is asked for; dates are asked for by their range."""
    if question.bins is None:
        return None
    edges = [e for e in question.bins.edges if isinstance(e, Fraction)]
    return [as_float(e) for e in edges] or None


def _group(design: Design, group: Group) -> dict[str, Any]:
    size = design.size(group.columns)
    grown = group.channel.growth(size)
    return {
        "columns": list(group.columns),
        "growth": None if grown is None else float(grown),
        **_chances(group.channel, size),
    }


def _chances(channel: Channel, size: int) -> Mapping[str, Any]:
    match channel:
        case Keep():
            return {"kind": "public"}
        case Flip(truth=p) | KAry(truth=p):
            kind = "flip" if isinstance(channel, Flip) else "even"
            return {"kind": kind, "keep": str(p.numerator), "of": str(p.denominator)}
        case Replace(truth=p):
            return {
                "kind": "replace",
                "keep": str(p.numerator),
                "of": str(p.denominator),
                "instead": _whole(channel.shares(size)),
            }
        case Matrix(rows=rows):
            columns = zip(*rows, strict=True)
            return {"kind": "matrix", "columns_of": [_whole(c) for c in columns]}
    raise AssertionError(channel)


def _whole(shares: Any) -> list[str]:
    """Shares over one denominator, as whole numbers."""
    from math import lcm

    whole = lcm(*(s.denominator for s in shares))
    return [str(s.numerator * (whole // s.denominator)) for s in shares]
