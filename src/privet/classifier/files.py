"""The files of a published classifier: what of writing and opening them is its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
from privet.engine.protocol import Run
from privet.errors import InputError
from privet.findings import Audit
from privet.policy import Measure, Promise
from privet.release.atomic_folder import as_json, save, sync
from privet.release.audit import audit
from privet.release.custody_record import now, policy_text
from privet.release.destination import Destination
from privet.release.manifest import ManifestEntries, WrittenFile
from privet.release.note import describe_limit, write_note
from privet.release.verify import CUSTODY, read_policy
from privet.release.write import ReleaseParts, describe_file, refuse_release
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


def open_card(folder: Path, content: Mapping[str, Any], **options: Any) -> Scorecard:
    """The scorecard of a release, which is judged."""
    return Scorecard.from_dict(_read(folder / CARD))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        raise InputError(f"{path.name} must be readable JSON; it is not.") from None


def find_differences(
    card: Scorecard, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """What is wrong with a published classifier, as its manifest has it."""
    policy = read_policy(content)
    files = [f["path"] for f in content["files"]]
    return find_wrong_files(card, folder, files, [*policy.promises, *policy.measures])


def restore_release(card: Scorecard, **told: Any) -> ClassifierRelease:
    """A classifier that was loaded."""
    keeps = told["manifest"].get("keeps", "")
    return ClassifierRelease(card=card, keeps=keeps, **told)


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


@dataclass(frozen=True, eq=False)
class ClassifierParts(ReleaseParts):
    """What a classifier is written from."""

    release: ClassifierRelease
    """What is released."""
    counts: bool = False
    """Whether exact whole counts are written besides the scorecard."""
    rows: int | None = None
    """How many synthetic rows are written, too."""
    apart: bool = False
    """Whether these are written as one file of two columns per attribute."""

    @cached_property
    def table(self) -> SyntheticTable | None:
        """The synthetic rows."""
        assert self.release.made is not None
        return self.release.table(self.rows) if self.rows else self.release.made.table

    def refuse(self) -> None:
        """A classifier must be made here, safe, and without a seed."""
        refuse_release(made=self.release.made is not None, safe=self.release.safe)
        if self.release.options.get("seed"):
            raise InputError(
                "A release with a seed must not be published: whoever guesses the seed "
                "takes the noise off. Leave the seed out."
            )

    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """The scorecard, and whatever else is asked for."""
        card, folder = self.release.card, draft.folder
        save(folder / CARD, as_json(card.to_dict()))
        files = [describe_file(folder / CARD)]
        if self.counts:
            counts = make_whole_counts(scores_from_card(card), card)
            save(folder / COUNTS, as_json(counts.to_dict()))
            files.append(describe_file(folder / COUNTS))
        if self.table is not None:
            for i, columns in enumerate(draw_rows(self.table.views, apart=self.apart)):
                path = folder / (f"view-{i + 1:02}.parquet" if self.apart else TABLE)
                _save_rows(path, columns)
                files.append(describe_file(path, self.table.views.rows))
        return files

    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """What is kept of the predictions, and what of the noise and the rows."""
        release = self.release
        columns: dict[str, Any] = {
            a.name: {"role": "attribute", "type": a.kind, "values": len(a.values)}
            for a in release.card.attributes
        }
        columns[release.card.target] = {"role": "target", "type": "text"}
        more: dict[str, Any] = {}
        if release.options.get("epsilon"):
            more["epsilon"] = release.options["epsilon"]
        if self.table is not None:
            flipped = self.table.flipped
            more["synthetic"] = {
                "rows": self.table.views.rows,
                "odds": f"{self.table.drift:.6g}",
                "flipped": None if flipped is None else list(flipped),
            }
        return ManifestEntries(
            "classifier",
            title=release.policy.title,
            method=release.method,
            columns=columns,
            audit=release.audit,
            not_promised=NOT_PROMISED,
            how={"keeps": release.keeps, "flattened": FLATTENED},
            more=more,
        )

    def write_note(self, content: Mapping[str, Any]) -> str:
        """How to use it, and what is promised."""
        use = [f"{CARD} says in itself how to predict with it."]
        use += [f"It keeps {content['keeps']}.", content["flattened"]]
        if "epsilon" in content:
            use += [f"Noise was added to the counts: epsilon {content['epsilon']}."]
        if "synthetic" in content:
            rows, odds = content["synthetic"]["rows"], content["synthetic"]["odds"]
            use += [
                f"The {rows:,} synthetic rows keep the order of classes with odds over "
                f"{odds} on the scorecard."
            ]
        promised = [
            f"{p['name']}: {describe_limit(p)}; the worst case is "
            f"{percent(fraction(p['worst']))}."
            for p in content["promises"]
            if "worst" in p
        ]
        sections = {"How to use it": use, "What is promised": promised}
        last = ["Check it yourself: privet verify <this folder>"]
        return write_note(content, "A released classifier", sections, last)

    def build_record(
        self, content: Mapping[str, Any], found: Audit | None
    ) -> dict[str, Any]:
        """Counts, exponent, certificate, witnesses, times."""
        release, policy, table = self.release, self.release.policy, self.table
        assert release.made is not None
        assert release.private is not None
        return {
            "kind": "classifier",
            "sensitive": "This file holds the private counts. It never travels.",
            "made": now(),
            "source": dict(release.source),
            "signoff": policy.signoff.to_dict() if policy.signoff else None,
            "method": release.method,
            "options": dict(release.options),
            "counts": release.private.to_dict(),
            "prepared": release.made.views.to_dict(),
            "certificate": release.made.proof.to_dict(),
            "synthetic": None if table is None else _describe_synthetic(table),
            "policy": policy_text(policy),
            "before": release.before.to_dict() if release.before else None,
            "after": release.audit.to_dict(),  # as recounted, and what does not apply
        }


def _save_rows(path: Path, columns: Mapping[str, list[str | None]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {name: pa.array(cells, pa.string()) for name, cells in columns.items()}
    pq.write_table(pa.table(arrays), path)
    sync(path)


def _describe_synthetic(table: SyntheticTable) -> dict[str, Any]:
    return {
        "exponent": str(table.exponent),
        "margin": f"{table.margin:.6g}",
        "counts": table.views.to_dict(),
    }
