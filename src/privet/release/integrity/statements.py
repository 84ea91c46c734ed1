"""What a manifest says, held against what its files give: every number and sentence.

Sentences are never believed: they are written again from the facts, by the code that
wrote them first, and must be the same to the letter. So is the public note.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privet import __version__
from privet.findings import Exposed, Finding
from privet.languages import PUBLIC, speak
from privet.release.integrity.inventory import NotRegular, read_regular
from privet.release.kinds import ReleaseKind
from privet.release.manifest import DIGEST, digest_content, public_finding
from privet.release.note import NOTE
from privet.values.visible_text import escape_controls

MOST_NOTE_BYTES = 2**24
"""Of the public note."""

JUDGED = ("verdict", "basis", "worst", "measured")
"""What is found of a promise, beside what is promised."""


def is_same(one: object, other: object) -> bool:
    """Whether two parts of a document are written alike: 1 is neither true nor 1.0."""
    first, second = (json.dumps(part, sort_keys=True) for part in (one, other))
    return first == second


def check_digest(content: Mapping[str, Any]) -> list[str]:
    """Whether a manifest is as it was written, by what it says of itself."""
    if content[DIGEST] == digest_content(content):
        return []
    return ["release.json must be as it was written; its own digest differs."]


def compare_statements(
    kind: ReleaseKind, shown: Any, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """Parts of a manifest that are not what its files and facts give, and the note."""
    written = any(f["path"].lower().endswith(".csv") for f in content["files"])
    problems = [] if written == ("escaped" in content) else [_say_misstated("escaped")]
    with speak(PUBLIC):  # as they were written
        restated, note = kind.restate(shown, folder, content), kind.note(content)
    problems += [
        _say_misstated(key)
        for key, value in restated.items()
        if not is_same(content.get(key), value)
    ]
    problems += _compare_note(escape_controls(note), folder / NOTE)
    if problems and content["privet"] != __version__:
        problems.append(
            f"It says that version {content['privet']!r} of privet wrote it, whose "
            f"sentences may be others than those of {__version__}: check it with that."
        )
    return problems


def _say_misstated(key: str) -> str:
    return f"{key} of release.json must be what its files and facts give; it is not."


def _compare_note(wanted: str, path: Path) -> list[str]:
    """Whether the public note says what the manifest gives, to the letter."""
    try:
        found = read_regular(path, MOST_NOTE_BYTES)
    except FileNotFoundError:
        return [f"{NOTE} of the release must exist."]
    except NotRegular as error:
        return [f"{NOTE} must be a regular file; it is {error}."]
    except ValueError as error:
        return [f"{NOTE} must be the note of the manifest; {error}."]
    if found == wanted.encode("utf-8"):
        return []
    return [f"{NOTE} must say what release.json says, to the letter; it does not."]


# Findings ---------------------------------------------------------------------------


def compare_findings(
    claims: Sequence[Mapping[str, Any]], findings: Sequence[Finding]
) -> list[str]:
    """Promises and measures that do not recount to what a manifest says of them."""
    problems = []
    for claim, found in zip(claims, findings, strict=True):
        recounted = public_finding(found)
        if any(not is_same(claim.get(k), recounted.get(k)) for k in JUDGED):
            problems.append(
                f"Promise {found.promise.name!r} must recount to what the manifest "
                f"says: {_format_claim(claim)}; it is {_format_claim(recounted)}."
            )
        elif not is_same(claim, recounted):
            problems.append(
                f"Promise {found.promise.name!r} must be stated as privet states it; "
                "it is not."
            )
    return problems


def compare_exposure(content: Mapping[str, Any], told: Exposed | None) -> list[str]:
    """Whether what is exposed recounts to what a manifest says of it."""
    claimed = content.get("exposure")
    if told is None:
        return [] if claimed is None else [_DIFFERENT_EXPOSURE]
    counted = told.to_dict()
    if not isinstance(claimed, dict):
        return [_DIFFERENT_EXPOSURE]
    keys = [k for k in counted if k not in ("notes", "accepted", "columns")]
    same = all(is_same(claimed.get(k), counted[k]) for k in keys)
    columns, stated = counted["columns"], claimed.get("columns")
    same = same and set(claimed) == {*keys, "columns"}
    if not same or not isinstance(stated, dict) or stated.keys() != columns.keys():
        return [_DIFFERENT_EXPOSURE]
    fit = all(_fits(stated[c], columns[c]) for c in columns)
    return [] if fit else [_DIFFERENT_EXPOSURE]


_DIFFERENT_EXPOSURE = (
    "exposure of release.json must be what the released file exposes; it is not."
)


def _fits(claimed: Any, counted: Mapping[str, Any]) -> bool:
    """Figures of few columns may not have been counted, here or there."""
    if not isinstance(claimed, dict):
        return False
    few = claimed.get("few")
    if not isinstance(few, list) or not all(isinstance(f, dict) for f in few):
        return False
    if not few or not counted["few"]:
        counted, claimed = {**counted, "few": []}, {**claimed, "few": []}
    return is_same(dict(counted), claimed)


def _format_claim(claim: Mapping[str, Any]) -> str:
    """A verdict and its number; "safe at 1/2 (exact)"."""
    number = claim.get("worst", claim.get("measured", "no number"))
    return f"{claim.get('verdict')} at {number} ({claim.get('basis')})"
