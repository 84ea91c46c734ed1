"""Writing, loading and verifying a published classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace as changed
from os import PathLike
from pathlib import Path
from typing import Any

from privet.classifier.modelreading import (
    CARD,
    COUNTS,
    TABLE,
    Stated,
    read_card,
    wrong_files,
)
from privet.classifier.publish import ClassifierRelease
from privet.classifier.release import ClassifierViews
from privet.classifier.transforms.flattening import SyntheticTable
from privet.classifier.transforms.tables import columns_of, ratios, whole_counts
from privet.errors import EngineError, InputError
from privet.findings import Audit
from privet.microdata.files import Destination
from privet.policy import Promise
from privet.release.appearing import appear, now
from privet.release.atomic_folder import as_json, beside, save, sync
from privet.release.audit import audit
from privet.release.manifest import (
    FLATTENED,
    NOT_PROMISED_OF_CLASSIFIERS,
    WrittenFile,
    public_finding,
)
from privet.release.note import bound
from privet.release.verify import digest
from privet.release.write import explained, policy_text, refuse_place
from privet.values.exact import fraction, percent


def write(
    release: ClassifierRelease,
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str],
    extras: Mapping[str, Any],
    replace: bool,
) -> ClassifierRelease:
    """Write a release; it appears whole or not at all."""
    place = Destination(
        Path(folder).expanduser().resolve(),
        CARD,
        "json",
        Path(custody).expanduser().resolve(),
    )
    _refuse(release, place, replace)
    assert release.made is not None
    table = release.made.table
    if extras["rows"]:
        table = release.table(extras["rows"])
    with explained(place), beside(place.folder) as partial:
        files = _files(release, partial, extras, table)
        found = _recount(release, partial, files)
        content = manifest(release, files, found, table)
        record = custody_record(release, found, table)
        appear(partial, place, content, note(content), record, replace=replace)
    return changed(release, manifest=content, folder=place.folder)


def _refuse(release: ClassifierRelease, place: Destination, replace: bool) -> None:
    refuse_place(place, replace)
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


# What -------------------------------------------------------------------------------


def _files(
    release: ClassifierRelease,
    partial: Path,
    extras: Mapping[str, Any],
    table: SyntheticTable | None,
) -> list[WrittenFile]:
    save(partial / CARD, as_json(release.card.to_dict()))
    files = [_written(partial / CARD, 0)]
    if extras["counts"]:
        counts = whole_counts(ratios(release.card), release.card)
        save(partial / COUNTS, as_json(counts.to_dict()))
        files.append(_written(partial / COUNTS, 0))
    if table is not None:
        for name, columns in _named(table.views, apart=bool(extras["views"])):
            _save_rows(partial / name, columns)
            files.append(_written(partial / name, table.views.rows))
    return files


def _named(views: ClassifierViews, *, apart: bool) -> Iterator[tuple[str, Any]]:
    parts = columns_of(views, apart=apart)
    for i, columns in enumerate(parts, 1):
        yield (f"view-{i:02}.parquet" if apart else TABLE), columns


def _save_rows(path: Path, columns: Mapping[str, list[str | None]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {name: pa.array(cells, pa.string()) for name, cells in columns.items()}
    pq.write_table(pa.table(arrays), path)
    sync(path)


def _written(path: Path, rows: int) -> WrittenFile:
    return WrittenFile(path.name, rows, digest(path))


def _recount(
    release: ClassifierRelease, partial: Path, files: list[WrittenFile]
) -> Audit:
    """Read what was written, as a stranger would, and judge it again."""
    card = read_card(partial)
    stated: Stated = [*release.policy.promises, *release.policy.measures]
    found = audit(card, stated)
    same = _outcome(found) == _outcome(release.audit)
    if not same or wrong_files(card, partial, [f.path for f in files], stated):
        raise EngineError(
            "What was written does not recount to what was promised; nothing is "
            "released. Please report this as a bug."
        )
    return found


def _outcome(found: Audit) -> list[tuple[object, ...]]:
    return [(f.verdict, f.belief and f.belief.posterior) for f in found.findings]


# Documents --------------------------------------------------------------------------


def manifest(
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
        "not_promised": list(NOT_PROMISED_OF_CLASSIFIERS),
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


def note(content: Mapping[str, Any]) -> str:
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
        f"- {p['name']}: {bound(p)}; the worst case is {percent(fraction(p['worst']))}."
        for p in content["promises"]
        if "worst" in p
    ]
    lines += ["", "What is not promised"]
    lines += [f"- {line[0].upper()}{line[1:]}." for line in content["not_promised"]]
    lines += ["", "Check it yourself: privet verify <this folder>", ""]
    return "\n".join(lines)


def custody_record(
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
        "synthetic": None if table is None else _synthetic(table),
        "policy": policy_text(policy),
        "before": release.before.to_dict() if release.before else None,
        "after": found.to_dict(),
    }


def _synthetic(table: SyntheticTable) -> dict[str, Any]:
    return {
        "exponent": str(table.exponent),
        "margin": f"{table.margin:.6g}",
        "counts": table.views.to_dict(),
    }
