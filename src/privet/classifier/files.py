"""The files of a published classifier: what of writing and opening them is its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import attrs

from privet.classifier.attacks.inversion_promise import (
    hide_findings,
    judge_inversion,
    list_attacked,
    select_inversion,
)
from privet.classifier.attacks.mitigations import Method
from privet.classifier.classifier_note import CARD
from privet.classifier.noise.noisy_inversion import judge_noisy
from privet.classifier.noise.stated_noise import is_stated, state_privacy
from privet.classifier.publish import ClassifierRelease, read_method
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.rounding import (
    Certificate,
    FlattenedCard,
    SyntheticTable,
    check_certificate,
)
from privet.classifier.transforms.synthetic import (
    draw_rows,
    make_whole_counts,
    scores_from_card,
)
from privet.classifier.transforms.zero_counts import (
    BEST_OF,
    KEEPS,
    fill_zeros,
)
from privet.engine.protocol import Run
from privet.errors import InputError
from privet.findings import Audit, Basis, Finding, Verdict
from privet.languages import PUBLIC, mark, speak
from privet.policy import Measure, Promise
from privet.release.atomic_folder import as_json, save, sync
from privet.release.audit import audit
from privet.release.commit.intent import recover
from privet.release.custody_record import now, policy_text, record_accepted
from privet.release.destination import Destination
from privet.release.gate import refuse_undecided
from privet.release.history import History, list_open
from privet.release.integrity.bounded_json import parse_bounded
from privet.release.integrity.inventory import NotRegular, read_regular
from privet.release.kinds import Form
from privet.release.manifest import (
    ManifestEntries,
    WrittenFile,
    is_count,
    restate_open,
)
from privet.release.verify import CUSTODY, read_policy
from privet.release.write import (
    ReleaseParts,
    describe_file,
    refuse_release,
    refuse_uncovered,
)
from privet.values.adversaries import Bayesian, Inverter

COUNTS, TABLE = "counts.json", "table.parquet"

INVERSION = mark(
    "protection against somebody who works out the original counts from how the "
    "release was made, which the class sizes and patience may be enough for"
)

NOT_PROMISED = (
    mark(
        "that nobody learns the prediction for a person: it is the same as "
        "the original's"
    ),
    mark("protection of the attributes: only the class is covered"),
    INVERSION,
    mark("protection against somebody who knows rows of the table"),
    mark("protection against a second release of the same people"),
)
"""What no promise about a classifier covers; said in every manifest."""

FLATTENED = mark(
    "Its probabilities are flattened: thresholds other than the most likely class, and "
    "calibration, are not the original's."
)
"""What users of a published classifier must know."""

MOST_BYTES, MOST_DIGITS = 2**28, 4_000
"""Of a card or of counts, which may be large numbers."""

KEYS = (
    "keeps",
    "flattened",
    "measures",
    "privacy",
    "synthetic",
    "covers",
    "inversion",
    "accepted",
)
"""What only manifests of classifiers say."""

STARTS = (*KEEPS.values(), BEST_OF)
"""How the sentence begins that says what is kept."""

METHODS = (
    "safety transform",
    "extended safety transform",
    "paper's extended safety transform",
)
"""How classifiers are made safe."""


def _are_flipped(flipped: Any) -> bool:
    pair = isinstance(flipped, list) and len(flipped) == 2
    whole = pair and all(map(is_count, flipped)) and flipped[0] <= flipped[1]
    return flipped is None or bool(whole)


def _are_about_the_class(content: Mapping[str, Any]) -> bool:
    """Whether promises that are judged are about the class, by name or silently."""
    columns = content["columns"].items()
    (target,) = (c for c, about in columns if about.get("role") == "target")
    judged = [p for p in content["promises"] if "bayesian" in (p.get("against") or ())]
    told = [p["about"] for p in judged if "about" in p]
    named = [list(t) if isinstance(t, dict) else [t] for t in told]
    return all(names == [target] for names in named)


FORM: Form = {
    "columns": lambda c: (
        sum(about.get("role") == "target" for about in c["columns"].values()) == 1
    ),
    "files": lambda c: (
        isinstance(c.get("keeps"), str) and c["files"][0]["path"] == CARD
    ),
    "promises": _are_about_the_class,
    "privacy": lambda c: "privacy" not in c or is_stated(c["privacy"]),
    "method": lambda c: c["method"] in METHODS and c["keeps"].startswith(STARTS),
    "synthetic": lambda c: (
        isinstance(c["synthetic"], dict)
        and isinstance(c["synthetic"].get("odds"), str)
        and _are_flipped(c["synthetic"].get("flipped", 0))
    ),
}
"""What must hold of the manifest of a classifier."""

Stated = list[Promise | Measure]
"""What is promised."""


# Opening ----------------------------------------------------------------------------


def find_wrong_files(
    card: Scorecard, folder: Path, files: list[str], stated: Stated
) -> list[str]:
    """What is wrong with the files beside the scorecard, and with the card itself."""
    found = [] if card.tells_apart else ["No two classes of the card may ever tie."]
    stated = [p for p in stated if not _is_inversion(p)]  # that needs the original
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


def _is_inversion(stated: Promise | Measure) -> bool:
    return isinstance(stated, Promise) and isinstance(stated.against, Inverter)


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
    attributes = [(a.name, a.values) for a in views.attributes]
    return views.target_type, views.labels, attributes


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
        return parse_bounded(read_regular(path, MOST_BYTES), digits=MOST_DIGITS)
    except (ValueError, OSError, NotRegular):
        raise InputError(f"{path.name} must be readable JSON; it is not.") from None


def find_differences(
    card: Scorecard, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """What is wrong with a published classifier, as its manifest has it."""
    policy = read_policy(content)
    files = [f["path"] for f in content["files"]]
    stated: Stated = [*policy.promises, *policy.measures]
    found = find_wrong_files(card, folder, files, stated)
    with speak(PUBLIC):  # as it was written
        covered = describe_covered(audit(card, stated))
    if content.get("covers") != covered:
        found.append("covers of release.json must say whom the promises cover.")
    return found


def describe_covered(found: Audit) -> list[dict[str, Any]]:
    """Whom each promise covers; and how sure whoever knows all is, where it is less."""
    lines = []
    for finding in found.findings:
        stated = finding.promise
        if isinstance(stated, Promise) and isinstance(stated.against, Bayesian):
            sure = finding.details.get("knows_all")
            line = {"promise": stated.name, "who": stated.against.words()}
            lines.append(line if sure is None else {**line, "knows_all": sure})
    return lines


def state_inversion(finding: Finding) -> dict[str, Any]:
    """A promise against inversion, and that it is kept; not what was measured."""
    stated = finding.promise.to_dict()
    return {
        **{k: stated[k] for k in ("name", "exactly", "below", "near") if k in stated},
        "verdict": finding.verdict.value,
        "basis": Basis.ATTACK.value,
    }


def _make_public(found: Audit) -> Audit:
    """An audit as recipients can recount it."""
    return attrs.evolve(found, findings=tuple(hide_findings(found.findings)))


def _list_not_promised(release: ClassifierRelease) -> list[str]:
    """What is open; inversion is not where a promise limits it."""
    promised = select_inversion(release.policy.promises)
    return [x for x in NOT_PROMISED if x != INVERSION or not promised]


def _list_open_lines(content: Mapping[str, Any]) -> list[str]:
    """The same, as a manifest must say it."""
    promised = select_inversion(read_policy(content).promises)
    return [x for x in NOT_PROMISED if x != INVERSION or not promised]


def _describe_columns(card: Scorecard) -> dict[str, Any]:
    """What the manifest says of the attributes and the class."""
    columns: dict[str, Any] = {
        a.name: {"role": "attribute", "type": a.kind, "values": len(a.values)}
        for a in card.attributes
    }
    return columns | {card.target: {"role": "target", "type": card.target_type}}


def restate(
    card: Scorecard, folder: Path, content: Mapping[str, Any]
) -> dict[str, Any]:
    """What a manifest must say, given the card and what it states of it."""
    rows = {f["rows"] for f in content["files"] if f["path"].endswith(".parquet")}
    files = [
        f | ({"rows": 0} if f["path"].endswith(".json") else {})
        for f in content["files"]
    ]
    told = {
        "not_promised": restate_open(_list_open_lines(content), content),
        "columns": _describe_columns(card),
        "flattened": FLATTENED,
        "files": files,
    }
    if rows or "synthetic" in content:
        stated = content["synthetic"]
        told["synthetic"] = {
            "rows": rows.pop() if len(rows) == 1 else None,
            "odds": f"{float(stated['odds']):.6g}",
            "flipped": stated["flipped"],
        }
    return told


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
    table: SyntheticTable | None = None
    """The synthetic rows that were written, if any."""


def read_custody(custody: Path) -> CustodyModel:
    """Read a custody record."""
    recover(custody=custody.resolve())
    return read_record(_read(custody / CUSTODY))


def read_record(record: Any) -> CustodyModel:
    """What a custody record that was read already keeps."""
    try:
        return CustodyModel(
            ClassifierViews.from_dict(record["counts"]),
            ClassifierViews.from_dict(record["prepared"]),
            Certificate.from_dict(record["certificate"]),
            read_method(record["method"], record["options"]),
            record["manifest_sha256"],
            _read_synthetic(record["synthetic"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise InputError(
            f"{CUSTODY} must be the record of a classifier that privet wrote."
        ) from None


def join_custody(release: ClassifierRelease, kept: CustodyModel) -> ClassifierRelease:
    """A classifier that was loaded, with the counts it was made of."""
    made = FlattenedCard(release.card, kept.prepared, kept.proof, "", table=kept.table)
    return replace(release, private=kept.counts, made=made)


def _read_synthetic(stated: Any) -> SyntheticTable | None:
    if stated is None:
        return None
    views = ClassifierViews.from_dict(stated["counts"])
    margin, exponent = float(stated["margin"]), Fraction(stated["exponent"])
    return SyntheticTable(views, margin, 0.0, None, exponent)


def _has_original_counts(kept: CustodyModel) -> bool:
    """Whether the counts whose predictions were kept are the original ones."""
    if kept.method.noise is not None:  # of other values, too, meant to be
        return _name_columns(kept.counts) == _name_columns(kept.prepared)
    if getattr(kept.method, "rows", None):
        return bool(_shape(kept.counts) == _shape(kept.prepared))  # others, meant to be
    return bool(kept.method.prepared(kept.counts).to_dict() == kept.prepared.to_dict())


def _name_columns(views: ClassifierViews) -> list[str]:
    return [views.target, *(a.name for a in views.attributes)]


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
    found += _find_inverted(card, kept, content)
    if hashlib.sha256(as_json(content).encode()).hexdigest() != kept.manifest:
        found.append("The custody record must be this release's; it is another one's.")
    return found


def _find_inverted(
    card: Scorecard, kept: CustodyModel, content: Mapping[str, Any]
) -> list[str]:
    """Promises against inversion that the attack breaks, with the counts at hand."""
    promises = select_inversion(read_policy(content).promises)
    if not promises:
        return []
    if kept.method.noise is not None:
        judged = judge_noisy(promises, kept.prepared, kept.method.noise)
        return _compare_inversion(judged, content)
    made = FlattenedCard(card, kept.prepared, kept.proof, "")
    if getattr(kept.method, "rows", None) and kept.table is not None:
        made = replace(made, table=kept.table)
    more = [] if made.table is not None or kept.table is None else [kept.table]
    attacked = list_attacked(made, kept.counts, kept.method, more)
    judged = judge_inversion(promises, attacked, kept.counts, kept.method)
    return _compare_inversion(judged, content)


def _compare_inversion(
    judged: Sequence[Finding], content: Mapping[str, Any]
) -> list[str]:
    found = [
        f"Promise {f.promise.name!r} must be kept against inversion; it is not."
        for f in judged
        if f.verdict is not Verdict.SAFE
    ]
    if content.get("inversion") != [state_inversion(f) for f in judged] and not found:
        found.append("inversion of release.json must be as the custody record has it.")
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
    views: bool = False
    """Whether these are written as one file of two columns per attribute."""

    def resolve(
        self,
        folder: str | PathLike[str],
        custody: str | PathLike[str],
        format_: str | None,
    ) -> Destination:
        """A folder, whatever it is called."""
        place, kept = (Path(p).expanduser().resolve() for p in (folder, custody))
        return Destination(place, CARD, "json", kept)

    @cached_property
    def counts_text(self) -> str | None:
        """The exact whole counts as their file has them, if they are written."""
        if not self.counts:
            return None
        card = self.release.card
        return as_json(make_whole_counts(scores_from_card(card), card).to_dict())

    @cached_property
    def table(self) -> SyntheticTable | None:
        """The synthetic rows."""
        assert self.release.made is not None
        return self.release.table(self.rows) if self.rows else self.release.made.table

    def refuse(self) -> None:
        """A classifier must be made here, safe, decided, and without a seed."""
        made, release = self.release.made is not None, self.release
        if release.private is not None:
            refuse_undecided(release.private.undecided, release.policy.roles)
        kept = attrs.evolve(release.audit, uncovered=()) if made else release.audit
        refuse_release(made=made, audit=kept, history=release.history)
        if self._has_seed:
            raise InputError(
                "A release with a seed must not be published: whoever guesses the seed "
                "takes the noise off. Leave the seed out."
            )
        refuse_uncovered(release.audit)
        self._refuse_inversion()
        self._refuse_counts()

    def _refuse_counts(self) -> None:
        """Whole counts that no recipient could read are not written."""
        if self.counts_text is not None and len(self.counts_text) > MOST_BYTES:
            raise InputError(
                f"{COUNTS} must have at most {MOST_BYTES:,} bytes; it would have "
                f"{len(self.counts_text):,}. Publish the scorecard, or fewer "
                "attributes."
            )

    @property
    def _has_seed(self) -> bool:
        noise = self.release.noise
        drawn = noise is not None and noise.seed is not None
        return drawn or "seed" in self.release.options

    @property
    def spends(self) -> bool:
        """Noise is drawn from a budget."""
        return self.release.noise is not None

    def _refuse_inversion(self) -> None:
        """Rows beside the card must not tell more of the original counts, either."""
        release = self.release
        promises = select_inversion(release.policy.promises)
        if self.table is None or not (self.rows and promises) or self.spends:
            return  # under noise whatever is made of the noisy counts was judged
        assert release.made is not None
        assert release.private is not None
        method = read_method(release.method, release.options)
        attacked = list_attacked(release.made, release.private, method, [self.table])
        for f in judge_inversion(promises, attacked, release.private, method):
            if f.verdict is not Verdict.SAFE:
                raise InputError(
                    f"Synthetic rows must keep {f.promise.name!r}, too. {f.note} Write "
                    "fewer, or none."
                )

    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """The scorecard, and whatever else is asked for."""
        card, folder = self.release.card, draft.folder
        save(folder / CARD, as_json(card.to_dict()))
        files = [describe_file(folder / CARD)]
        if self.counts_text is not None:
            save(folder / COUNTS, self.counts_text)
            files.append(describe_file(folder / COUNTS))
        if self.table is not None:
            for i, columns in enumerate(draw_rows(self.table.views, apart=self.views)):
                path = folder / (f"view-{i + 1:02}.parquet" if self.views else TABLE)
                _save_rows(path, columns)
                files.append(describe_file(path, self.table.views.rows))
        return files

    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """What is kept of the predictions, and what of the noise and the rows."""
        release = self.release
        more: dict[str, Any] = {"covers": describe_covered(release.audit)}
        if kept := [f for f in release.audit.findings if f.basis is Basis.ATTACK]:
            more["inversion"] = [state_inversion(f) for f in kept]
        if entries := [a for a in release.policy.accepted if a.of == "inversion"]:
            more["accepted"] = [a.to_public() for a in entries]
        if release.noise is not None and release.made is not None:
            more["privacy"] = state_privacy(release.noise, release.made.views)
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
            columns=_describe_columns(release.card),
            audit=_make_public(release.audit),
            not_promised=list_open(_list_not_promised(release), release.history),
            how={"keeps": release.keeps, "flattened": FLATTENED},
            more=more,
        )

    @property
    def history(self) -> History | None:
        """What it was judged with."""
        return self.release.history

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
            **record_accepted(policy),
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
