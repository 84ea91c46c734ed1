"""What the browser of a respondent gets: the page's files and the design.

Chances are whole numbers, which a browser can draw exactly.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from math import ceil, lcm
from typing import Any

from privet.responses.channels import Channel, Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import Design, Group, Question
from privet.values.exact import as_float

FILES = {
    "/": ("survey.html", "text/html"),
    "/survey.js": ("survey.js", "text/javascript"),
    "/outbox.js": ("outbox.js", "text/javascript"),
    "/draws.js": ("draws.js", "text/javascript"),
    "/survey.css": ("survey.css", "text/css"),
}
"""The page's files by path, with their types."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""On every reply: no scripts but ours, nothing cached, nothing told to others."""


@lru_cache
def read_static(name: str) -> bytes:
    """A file of the page."""
    return (resources.files("privet.responses.collect") / "static" / name).read_bytes()


def name_survey(design: Design) -> str:
    """A name for what is asked and how it is disguised; a title changes neither."""
    stated = {k: v for k, v in design.to_dict().items() if k != "title"}
    text = json.dumps(stated, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def describe_for_browser(design: Design, *, tokens: bool) -> dict[str, Any]:
    """The design as the page needs it."""
    return {
        "title": design.title or "Survey",
        "survey": name_survey(design),
        "tokens": tokens,
        "one_of": design.one_of,
        "told": _tell(design.growth()),
        "questions": [
            {
                "name": q.name,
                "ask": q.ask or q.name,
                "values": list(q.values),
                "edges": _list_edges(q),
            }
            for q in design.questions
        ],
        "groups": [_describe_group(design, g) for g in design.groups],
    }


def _list_edges(question: Question) -> list[float] | None:
    """Cut points of a number that is asked for; dates are asked for by their range."""
    if question.bins is None:
        return None
    edges = [e for e in question.bins.edges if isinstance(e, Fraction)]
    return [as_float(e) for e in edges] or None


def _describe_group(design: Design, group: Group) -> dict[str, Any]:
    size = design.size(group.columns)
    return {
        "columns": list(group.columns),
        "told": _tell(group.channel.growth(size)),
        **_describe_channel(group.channel, size),
    }


def _tell(growth: Fraction | None) -> dict[str, int] | None:
    """How sure somebody can become, in percent and rounded up; None is certainty.

    Odds of 1 to 9 times 3 are 3 to 9: 25 %.
    """
    if growth is None:
        return None
    return {
        "tenth": ceil(100 * growth / (growth + 9)),
        "half": ceil(100 * growth / (growth + 1)),
    }


def _describe_channel(channel: Channel, size: int) -> Mapping[str, Any]:
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
                "instead": _to_whole_numbers(channel.shares(size)),
            }
        case Matrix(rows=rows):
            columns = zip(*rows, strict=True)
            return {
                "kind": "matrix",
                "columns_of": [_to_whole_numbers(c) for c in columns],
            }
    raise AssertionError(channel)


def _to_whole_numbers(shares: Sequence[Fraction]) -> list[str]:
    """Shares over one denominator, as whole numbers."""
    whole = lcm(*(s.denominator for s in shares))
    return [str(s.numerator * (whole // s.denominator)) for s in shares]
