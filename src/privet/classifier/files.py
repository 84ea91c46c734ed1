"""The files of a published classifier: written, recounted, loaded and verified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import replace as changed
from os import PathLike
from pathlib import Path
from typing import Any

from privet.classifier.publish import ClassifierRelease, Method, read_method
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.rounding import (
    Certificate,
    SyntheticTable,
    check_certificate,
)
from privet.classifier.transforms.synthetic import (
    draw_rows,
    make_whole_counts,
    scores_from_card,
)
from privet.classifier.transforms.zero_counts import fill_zeros
from privet.errors import EngineError, InputError, PrivetError
from privet.findings import Audit
from privet.policy import Measure, Promise
from privet.release.atomic_folder import as_json, make_beside, save, sync
from privet.release.audit import audit
from privet.release.kinds import Verification
from privet.release.manifest import WrittenFile, public_finding
from privet.release.note import describe_limit
from privet.release.verify import (
    CUSTODY,
    compare_findings,
    digest,
    find_changed_files,
    read_policy,
)
from privet.release.write import (
    MISCOUNTED,
    Destination,
    appear,
    explain_refusals,
    now,
    policy_text,
    refuse_destination,
)
from privet.values.exact import fraction, percent

CARD, COUNTS, TABLE = "scorecard.json", "counts.json", "table.parquet"

NOT_PROMISED = (
    "that nobody learns the prediction for a person: it is the same as the original's",
    "protection of the attributes: only the class is covered",
    "protection against somebody who works out the original counts from how the "
    "release was made, which the class sizes and patience may be enough for",
    "protection against somebody who knows rows of the table, or has a second release",
)
"""What no promise about a classifier covers; said in every manifest."""

FLATTENED = (
    "Its probabilities are flattened: thresholds other than the most likely class, and "
    "calibration, are not the original's."
)
"""What users of a published classifier must know."""

Stated = list[Promise | Measure]
"""What is promised."""


# Opening ----------------------------------------------------------------------------


def find_wrong_files(
    card: Scorecard, folder: Path, files: list[str], stated: Stated
) -> list[str]:
    """What is wrong with the files beside the scorecard, and with the card itself."""
    found = [] if card.tells_apart else ["No two classes of the card may ever tie."]
    if COUNTS in files:
        counts = _read_counts(_read(folder / COUNTS), f"{COUNTS} must be counts")
        found += _check_promises(counts, stated, COUNTS)
        if _shape(counts) != _shape(card):
            found.append(f"{COUNTS} must be of the scorecard's classes and values.")
    rows = [f for f in files if f.endswith(".parquet")]
    if rows:
        found += _check_promises(
            _count_synthetic_rows(card, folder, rows), stated, rows[0]
        )
    return found


def _read_counts(stated: Any, rule: str) -> ClassifierViews:
    """Counts that were written as JSON; anything else is refused."""
    try:
        return ClassifierViews.from_dict(stated)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise InputError(f"{rule} that privet wrote; it is not.") from None


def _check_promises(views: ClassifierViews, stated: Stated, name: str) -> list[str]:
    if audit(views, stated).safe:
        return []
    return [f"{name} must keep every promise; it does not."]


def _shape(views: Any) -> Any:
    return views.labels, [(a.name, a.values) for a in views.attributes]


def _count_synthetic_rows(
    card: Scorecard, folder: Path, files: list[str]
) -> ClassifierViews:
    """Count synthetic rows again, by the engine, as a recipient would."""
    from privet.classifier.count import count_views
    from privet.table import read

    names = [a.name for a in card.attributes]
    if len(files) == 1 and files[0] == TABLE:
        with read(str(folder / TABLE)) as table:
            return count_views(table, target=card.target, attributes=names)
    parts = []
    for file, name in zip(sorted(files), names, strict=True):
        with read(str(folder / file)) as table:
            parts.append(count_views(table, target=card.target, attributes=[name]))
    return replace(
        parts[0],
        attributes=tuple(p.attributes[0] for p in parts),
        cells=tuple(p.cells[0] for p in parts),
    )


def list_shown(release: ClassifierRelease) -> list[Scorecard | ClassifierViews]:
    """Whatever a release shows: its scorecard, and its synthetic rows as counts."""
    if release.made is not None:
        table = release.made.table
        return [release.card] if table is None else [release.card, table.views]
    assert release.folder is not None
    names = [f["path"] for f in release.manifest["files"]]
    rows = [name for name in names if name.endswith(".parquet")]
    counted = (
        [_count_synthetic_rows(release.card, release.folder, rows)] if rows else []
    )
    return [release.card, *counted]


def read_card(folder: Path) -> Scorecard:
    """The scorecard of a release."""
    return Scorecard.from_dict(_read(folder / CARD))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        raise InputError(f"{path.name} must be readable JSON; it is not.") from None


def load_classifier(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> ClassifierRelease:
    """Open a published classifier from its public files."""
    for problem in find_changed_files(folder, content):
        raise InputError(problem)
    release = _open_release(folder, content)
    if wrong := _find_differences(release, content):
        raise InputError("\n".join(wrong))
    return release


def _open_release(folder: Path, content: Mapping[str, Any]) -> ClassifierRelease:
    policy, card = read_policy(content), read_card(folder)
    return ClassifierRelease(
        card=card,
        policy=policy,
        audit=audit(card, [*policy.promises, *policy.measures]),
        method=content.get("method", ""),
        keeps=content.get("keeps", ""),
        manifest=content,
        folder=folder,
    )


def _find_differences(
    release: ClassifierRelease, content: Mapping[str, Any]
) -> list[str]:
    assert release.folder is not None
    stated: Stated = [*release.policy.promises, *release.policy.measures]
    files = [f["path"] for f in content["files"]]
    wrong = find_wrong_files(release.card, release.folder, files, stated)
    return wrong + compare_findings(content["promises"], release.audit.findings)


def verify_classifier(
    folder: Path, content: Mapping[str, Any], custody: Path | None, **options: Any
) -> Verification:
    """Check a published classifier; with custody, that it predicts as the original."""
    wrong = find_changed_files(folder, content)
    if any("must exist" in p for p in wrong):
        return Verification(tuple(wrong), None)
    try:
        release = _open_release(folder, content)
        wrong += _find_differences(release, content)
        if custody is not None:
            wrong += find_unproved(release.card, custody, content)
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


def read_custody(custody: Path) -> CustodyModel:
    """Read a custody record."""
    record = _read(custody / CUSTODY)
    try:
        return CustodyModel(
            ClassifierViews.from_dict(record["counts"]),
            ClassifierViews.from_dict(record["prepared"]),
            Certificate.from_dict(record["certificate"]),
            read_method(record["method"], record["options"]),
            record["manifest_sha256"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise InputError(
            f"{CUSTODY} must be the record of a classifier that privet wrote."
        ) from None


def _has_original_counts(kept: CustodyModel) -> bool:
    """Whether the counts whose predictions were kept are the original ones."""
    if getattr(kept.method, "epsilon", None) or getattr(kept.method, "rows", None):
        return bool(_shape(kept.counts) == _shape(kept.prepared))  # others, meant to be
    return bool(kept.method.prepared(kept.counts).to_dict() == kept.prepared.to_dict())


def find_unproved(
    card: Scorecard, custody: Path, content: Mapping[str, Any]
) -> list[str]:
    """What the custody record does not prove of a card: that it ranks as it should."""
    kept = read_custody(custody)
    if _shape(kept.prepared) != _shape(card):
        return ["The custody record must be of this classifier; it is another one's."]
    if not _has_original_counts(kept):
        return ["The counts of the custody record must be those it kept; they differ."]
    scores = kept.prepared.scores
    found = list(
        check_certificate(
            card, scores, fill_zeros(scores, kept.method.zeros), kept.proof
        )
    )
    if hashlib.sha256(as_json(content).encode()).hexdigest() != kept.manifest:
        found.append("The custody record must be this release's; it is another one's.")
    return found


# Writing ----------------------------------------------------------------------------


def write(
    release: ClassifierRelease,
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str],
    extras: Mapping[str, Any],
    replace: bool,
) -> ClassifierRelease:
    """Write a release; it appears whole or not at all."""
    destination = Destination(
        Path(folder).expanduser().resolve(),
        CARD,
        "json",
        Path(custody).expanduser().resolve(),
    )
    _refuse(release, destination, replace)
    assert release.made is not None
    table = release.made.table
    if extras["rows"]:
        table = release.table(extras["rows"])
    with explain_refusals(destination), make_beside(destination.folder) as partial:
        files = _write_files(release, partial, extras, table)
        found = _recount(release, partial, files)
        content = build_manifest(release, files, found, table)
        record = build_custody_record(release, found, table)
        appear(
            partial, destination, content, write_note(content), record, replace=replace
        )
    return changed(release, manifest=content, folder=destination.folder)


def _refuse(
    release: ClassifierRelease, destination: Destination, replace: bool
) -> None:
    refuse_destination(destination, replace)
    if release.made is None:
        raise InputError(
            "A release that was loaded from files is written already; copy the folder."
        )
    if not release.safe:
        raise InputError("A release must keep every promise to be written.")
    if release.options.get("seed"):
        raise InputError(
            "A release with a seed must not be published: whoever guesses the seed "
            "takes the noise off. Leave the seed out."
        )


# Files ------------------------------------------------------------------------------


def _write_files(
    release: ClassifierRelease,
    partial: Path,
    extras: Mapping[str, Any],
    table: SyntheticTable | None,
) -> list[WrittenFile]:
    save(partial / CARD, as_json(release.card.to_dict()))
    files = [_describe_file(partial / CARD, 0)]
    if extras["counts"]:
        counts = make_whole_counts(scores_from_card(release.card), release.card)
        save(partial / COUNTS, as_json(counts.to_dict()))
        files.append(_describe_file(partial / COUNTS, 0))
    if table is not None:
        for name, columns in _draw_files(table.views, apart=bool(extras["views"])):
            _save_rows(partial / name, columns)
            files.append(_describe_file(partial / name, table.views.rows))
    return files


def _draw_files(views: ClassifierViews, *, apart: bool) -> Iterator[tuple[str, Any]]:
    parts = draw_rows(views, apart=apart)
    for i, columns in enumerate(parts, 1):
        yield (f"view-{i:02}.parquet" if apart else TABLE), columns


def _save_rows(path: Path, columns: Mapping[str, list[str | None]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {name: pa.array(cells, pa.string()) for name, cells in columns.items()}
    pq.write_table(pa.table(arrays), path)
    sync(path)


def _describe_file(path: Path, rows: int) -> WrittenFile:
    return WrittenFile(path.name, rows, digest(path))


def _recount(
    release: ClassifierRelease, partial: Path, files: list[WrittenFile]
) -> Audit:
    """Read what was written, as a stranger would, and judge it again."""
    card = read_card(partial)
    stated: Stated = [*release.policy.promises, *release.policy.measures]
    found = audit(card, stated)
    same = _outcome(found) == _outcome(release.audit)
    if not same or find_wrong_files(card, partial, [f.path for f in files], stated):
        raise EngineError(MISCOUNTED)
    return found


def _outcome(found: Audit) -> list[tuple[object, ...]]:
    return [(f.verdict, f.belief and f.belief.posterior) for f in found.findings]


# Documents --------------------------------------------------------------------------


def build_manifest(
    release: ClassifierRelease,
    files: list[WrittenFile],
    found: Audit,
    table: SyntheticTable | None,
) -> dict[str, Any]:
    """The public document."""
    from privet import __version__

    columns: dict[str, Any] = {
        a.name: {"role": "attribute", "type": a.kind, "values": len(a.values)}
        for a in release.card.attributes
    }
    columns[release.card.target] = {"role": "target", "type": "text"}
    content: dict[str, Any] = {
        "privet": __version__,
        "manifest": 1,
        "kind": "classifier",
        "title": release.policy.title,
        "files": [f.to_dict() for f in files],
        "columns": columns,
        "method": release.method,
        "keeps": release.keeps,
        "flattened": FLATTENED,
        "promises": [
            public_finding(f) for f in found.findings if isinstance(f.promise, Promise)
        ],
        "not_promised": list(NOT_PROMISED),
    }
    if release.options.get("epsilon"):
        content["epsilon"] = release.options["epsilon"]
    if table is not None:
        content["synthetic"] = {
            "rows": table.views.rows,
            "odds": f"{table.drift:.6g}",
            "flipped": None if table.flipped is None else list(table.flipped),
        }
    return content


def write_note(content: Mapping[str, Any]) -> str:
    """What recipients should know, from the public manifest alone."""
    lines = [content["title"] or "A released classifier", ""]
    lines += ["This is a public note; it tells nothing that is not in the release."]
    lines += ["", "How to use it", f"- {CARD} says in itself how to predict with it."]
    lines += [f"- It keeps {content['keeps']}.", f"- {content['flattened']}"]
    if "epsilon" in content:
        lines += [f"- Noise was added to the counts: epsilon {content['epsilon']}."]
    if "synthetic" in content:
        rows, odds = content["synthetic"]["rows"], content["synthetic"]["odds"]
        lines += [
            f"- The {rows:,} synthetic rows keep the order of classes with odds over "
            f"{odds} on the scorecard."
        ]
    lines += ["", "What is promised"]
    lines += [
        f"- {p['name']}: {describe_limit(p)}; the worst case is "
        f"{percent(fraction(p['worst']))}."
        for p in content["promises"]
        if "worst" in p
    ]
    lines += ["", "What is not promised"]
    lines += [f"- {line[0].upper()}{line[1:]}." for line in content["not_promised"]]
    lines += ["", "Check it yourself: privet verify <this folder>", ""]
    return "\n".join(lines)


def build_custody_record(
    release: ClassifierRelease, found: Audit, table: SyntheticTable | None
) -> dict[str, Any]:
    """What the steward keeps: counts, exponent, certificate, witnesses, times."""
    made, policy = release.made, release.policy
    assert made is not None
    assert release.private is not None
    return {
        "custody": 1,
        "kind": "classifier",
        "sensitive": "This file holds the private counts. It never travels.",
        "made": now(),
        "source": dict(release.source),
        "signoff": policy.signoff.to_dict() if policy.signoff else None,
        "method": release.method,
        "options": dict(release.options),
        "counts": release.private.to_dict(),
        "prepared": made.views.to_dict(),
        "certificate": made.proof.to_dict(),
        "synthetic": None if table is None else _describe_synthetic(table),
        "policy": policy_text(policy),
        "before": release.before.to_dict() if release.before else None,
        "after": found.to_dict(),
    }


def _describe_synthetic(table: SyntheticTable) -> dict[str, Any]:
    return {
        "exponent": str(table.exponent),
        "margin": f"{table.margin:.6g}",
        "counts": table.views.to_dict(),
    }
