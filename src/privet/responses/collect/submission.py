"""A submission: one disguised report, as the survey page sends it.

A report must look as the design says; nothing of what came is ever quoted. The page
makes a random key for each submission, so that one that is sent again, because the
reply was lost, is stored once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from privet.responses.design import Design

Report = Mapping[str, str | None]
"""A disguised answer, by question."""

LONGEST_TOKEN = 100

KEY = re.compile("[0-9a-f]{32}")
"""128 random bits, as the page writes them: nobody meets another one's by accident."""


class MalformedReport(Exception):
    """A request that is not a report; says which rule it breaks."""


@attrs.frozen
class Submission:
    """A report, and what makes sure that it is counted once."""

    report: Report
    """The disguised answers."""
    key: bytes
    """Digest of the random key of this submission; a second one is not stored."""
    token: bytes | None = None
    """Digest of the invitation it uses up."""


def digest_token(token: str) -> bytes:
    """What is kept of a token or a key."""
    return hashlib.sha256(token.encode()).digest()


def largest_body(design: Design) -> int:
    """How many bytes a report may have, generously."""
    widest = sum(
        len(json.dumps(q.name)) + max(len(json.dumps(v)) for v in q.values) + 8
        for q in design.questions
    )
    return 2 * widest + 500


def parse_submission(body: bytes, design: Design) -> Submission:
    """The submission in a request; or `MalformedReport`."""
    try:
        content = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise MalformedReport("The request must be JSON.") from None
    known = {"report", "submission", "token"}
    if not isinstance(content, dict) or not set(content) <= known:
        raise MalformedReport(
            "The request must hold a report, its submission key, and a token where "
            "one is needed; nothing else."
        )
    report = _check_report(content.get("report"), design)
    key = content.get("submission")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise MalformedReport("The submission key must be 32 digits from 0 to f.")
    token = content.get("token")
    return Submission(
        report, digest_token(key), None if token is None else _check_token(token)
    )


def _check_token(token: Any) -> bytes:
    if (
        not isinstance(token, str)
        or not token.isascii()
        or not 0 < len(token) <= LONGEST_TOKEN
    ):
        raise MalformedReport("The token must be text as it was issued.")
    return digest_token(token)


def _check_report(report: Any, design: Design) -> dict[str, str | None]:
    if not isinstance(report, dict) or set(report) != set(design.columns):
        raise MalformedReport("The report must hold every question, and no other.")
    for question in design.questions:
        value = report[question.name]
        if value is None and design.one_of:
            continue
        if not isinstance(value, str) or value not in question.values:
            raise MalformedReport("Every answer must be one of the declared values.")
    given = {c for c, v in report.items() if v is not None}
    if given not in design.list_asked():
        raise MalformedReport(
            "The report must answer what is asked of everybody, and one group of the "
            "other questions."
        )
    return report
