"""Opening a published classifier: loading, and verifying as a recipient would."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privet.classifier.publish import ClassifierRelease, Method, method_from
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.rounding import Certificate, problems
from privet.classifier.transforms.zero_counts import filled
from privet.errors import InputError, PrivetError
from privet.policy import Measure, Promise
from privet.release.atomic_folder import as_json
from privet.release.audit import audit
from privet.release.verify import (
    CUSTODY,
    Verification,
    changed_files,
    policy_from,
    unlike_findings,
)

CARD, COUNTS, TABLE = "scorecard.json", "counts.json", "table.parquet"

Stated = list[Promise | Measure]
"""What is promised."""


def wrong_files(
    card: Scorecard, folder: Path, files: list[str], stated: Stated
) -> list[str]:
    """What is wrong with the files beside the scorecard, and with the card itself."""
    found = [] if card.tells_apart else ["No two classes of the card may ever tie."]
    if COUNTS in files:
        counts = _views(_read(folder / COUNTS), f"{COUNTS} must be counts")
        found += _beyond(counts, stated, COUNTS)
        if _shape(counts) != _shape(card):
            found.append(f"{COUNTS} must be of the scorecard's classes and values.")
    rows = [f for f in files if f.endswith(".parquet")]
    if rows:
        found += _beyond(_counted(card, folder, rows), stated, rows[0])
    return found


def _views(stated: Any, rule: str) -> ClassifierViews:
    """Counts that were written as JSON; anything else is refused."""
    try:
        return ClassifierViews.from_dict(stated)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise InputError(f"{rule} that privet wrote; it is not.") from None


def _beyond(views: ClassifierViews, stated: Stated, name: str) -> list[str]:
    if audit(views, stated).safe:
        return []
    return [f"{name} must keep every promise; it does not."]


def _shape(views: Any) -> Any:
    return views.labels, [(a.name, a.values) for a in views.attributes]


def _counted(card: Scorecard, folder: Path, files: list[str]) -> ClassifierViews:
    """Count synthetic rows again, by the engine, as a recipient would."""
    from privet.classifier.count import views_of
    from privet.table import read

    names = [a.name for a in card.attributes]
    if len(files) == 1 and files[0] == TABLE:
        with read(str(folder / TABLE)) as table:
            return views_of(table, target=card.target, attributes=names)
    parts = []
    for file, name in zip(sorted(files), names, strict=True):
        with read(str(folder / file)) as table:
            parts.append(views_of(table, target=card.target, attributes=[name]))
    return replace(
        parts[0],
        attributes=tuple(p.attributes[0] for p in parts),
        cells=tuple(p.cells[0] for p in parts),
    )


def shown_by(release: ClassifierRelease) -> list[Scorecard | ClassifierViews]:
    """Whatever a release shows: its scorecard, and its synthetic rows as counts."""
    if release.made is not None:
        table = release.made.table
        return [release.card] if table is None else [release.card, table.views]
    assert release.folder is not None
    names = [f["path"] for f in release.manifest["files"]]
    rows = [name for name in names if name.endswith(".parquet")]
    counted = [_counted(release.card, release.folder, rows)] if rows else []
    return [release.card, *counted]


def read_card(folder: Path) -> Scorecard:
    """The scorecard of a release."""
    return Scorecard.from_dict(_read(folder / CARD))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        raise InputError(f"{path.name} must be readable JSON; it is not.") from None


def load_classifier(folder: Path, content: Mapping[str, Any]) -> ClassifierRelease:
    """Open a published classifier from its public files."""
    for problem in changed_files(folder, content):
        raise InputError(problem)
    release = _opened(folder, content)
    if wrong := _differences(release, content):
        raise InputError("\n".join(wrong))
    return release


def _opened(folder: Path, content: Mapping[str, Any]) -> ClassifierRelease:
    policy, card = policy_from(content), read_card(folder)
    return ClassifierRelease(
        card=card,
        policy=policy,
        audit=audit(card, [*policy.promises, *policy.measures]),
        method=content.get("method", ""),
        keeps=content.get("keeps", ""),
        manifest=content,
        folder=folder,
    )


def _differences(release: ClassifierRelease, content: Mapping[str, Any]) -> list[str]:
    assert release.folder is not None
    stated: Stated = [*release.policy.promises, *release.policy.measures]
    files = [f["path"] for f in content["files"]]
    wrong = wrong_files(release.card, release.folder, files, stated)
    return wrong + unlike_findings(content["promises"], release.audit.findings)


def verify_classifier(
    folder: Path, content: Mapping[str, Any], custody: Path | None
) -> Verification:
    """Check a published classifier; with custody, that it predicts as the original."""
    wrong = changed_files(folder, content)
    if any("must exist" in p for p in wrong):
        return Verification(tuple(wrong), None)
    try:
        release = _opened(folder, content)
        wrong += _differences(release, content)
        if custody is not None:
            wrong += unproved(release.card, custody, content)
    except PrivetError as error:
        return Verification((*wrong, str(error)), None)
    return Verification(tuple(wrong), release.audit)


@dataclass(frozen=True, eq=False)
class CustodyModel:
    """What the custody record of a classifier keeps."""

    counts: ClassifierViews
    """The original counts."""
    prepared: ClassifierViews
    """The counts whose predictions were kept: smoothed, with noise, or of rows."""
    proof: Certificate
    """Why they are kept."""
    method: Method
    """How it was made safe."""
    manifest: str
    """The digest of the manifest it belongs to."""


def kept_in(custody: Path) -> CustodyModel:
    """Read a custody record."""
    record = _read(custody / CUSTODY)
    try:
        return CustodyModel(
            ClassifierViews.from_dict(record["counts"]),
            ClassifierViews.from_dict(record["prepared"]),
            Certificate.from_dict(record["certificate"]),
            method_from(record["method"], record["options"]),
            record["manifest_sha256"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise InputError(
            f"{CUSTODY} must be the record of a classifier that privet wrote."
        ) from None


def _prepared_from(kept: CustodyModel) -> bool:
    """Whether the counts whose predictions were kept are the original ones."""
    if getattr(kept.method, "epsilon", None) or getattr(kept.method, "rows", None):
        return bool(_shape(kept.counts) == _shape(kept.prepared))  # others, meant to be
    return bool(kept.method.prepared(kept.counts).to_dict() == kept.prepared.to_dict())


def unproved(card: Scorecard, custody: Path, content: Mapping[str, Any]) -> list[str]:
    """What the custody record does not prove of a card: that it ranks as it should."""
    kept = kept_in(custody)
    if _shape(kept.prepared) != _shape(card):
        return ["The custody record must be of this classifier; it is another one's."]
    if not _prepared_from(kept):
        return ["The counts of the custody record must be those it kept; they differ."]
    scores = kept.prepared.scores
    found = list(problems(card, scores, filled(scores, kept.method.zeros), kept.proof))
    if hashlib.sha256(as_json(content).encode()).hexdigest() != kept.manifest:
        found.append("The custody record must be this release's; it is another one's.")
    return found
