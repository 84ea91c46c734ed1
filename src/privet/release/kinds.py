"""The kinds of release there are: one frozen record each, kept by its own folder.

Whatever must know a kind of release asks its record here: the verbs `audit`, `belief`,
`publish`, `load` and `verify`, the form of the manifest, and the sentences of a report.
A new kind is a folder with a `KIND` and a line in `HOMES`. Folders are imported when
they are first asked for, so that none of them knows another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from privet.engine.protocol import Run
from privet.findings import Audit, Exposed, Finding, Verdict
from privet.languages import mark
from privet.policy import Measure, Policy
from privet.policy.acceptance import Uncovered
from privet.report import words
from privet.values.beliefs import Belief

if TYPE_CHECKING:
    from privet.release.integrity.signature import Signature
    from privet.release.joint.joint_results import JointQuestion, JointResult
    from privet.release.joint.labelled_rows import LabelledRows
    from privet.release.joint.outlines import ReleaseOutline
    from privet.release.write import ReleaseParts
    from privet.report.documents.document import Program, Section
    from privet.table import Table

HOMES = {
    "groups": "privet.microdata",
    "classifier": "privet.classifier",
    "responses": "privet.responses",
    "views": "privet.views",
}
"""The folder of each kind, by the word its manifests say."""

Warn = Callable[[str], None]
"""Takes what a person should know about an audit."""

Judge = Callable[[Any, Sequence[Any], Run, Warn], list[Finding]]
"""The arithmetic for one pair of value and adversary: release, promises of one
adversary's kind, run, notes in; a finding for each promise out."""

Form = Mapping[str, Callable[[Mapping[str, Any]], bool]]
"""What must hold of a manifest, by its key."""


def _no_steps(finding: Finding) -> Sequence[str]:
    return ()


def _close_nothing(release: object) -> None:
    """Of a release that is read as a whole nothing stays open."""


def _no_sections(release: object, record: Mapping[str, Any]) -> Sequence[Section]:
    return ()


def _no_examples(manifest: Mapping[str, Any]) -> Sequence[Program]:
    return ()


def _keep_shown(shown: object, **told: object) -> object:
    return shown


@dataclass(frozen=True)
class Sentences:
    """What a steward reads about findings of one sort."""

    reach: Callable[[Finding, Audit], str]
    """Which attackers a promise covers, and which it does not, beside all others that
    were judged; empty where the other sentences say so."""
    explain: Callable[[Finding], str]
    """A finding that has a witness, in plain words."""
    beyond: Callable[[Finding], str]
    """How much of the release is beyond the limit."""
    subject: str = mark("table as it is")
    """What must not be released where the promise is broken."""
    repairs: Callable[[Finding], Sequence[str]] = _no_steps
    """What would help against a breach."""
    offers: Callable[[Finding], Sequence[str]] = _no_steps
    """What privet itself can do about it; said last."""


def _keep_outline(outline: ReleaseOutline, table: Table, run: Run) -> ReleaseOutline:
    return outline


@dataclass(frozen=True)
class JointParts:
    """What of judging several releases together is of one kind only."""

    outline: Callable[[Any], ReleaseOutline]
    """What a release shows of each column; its name and rows are left empty."""
    complete: Callable[[ReleaseOutline, Table, Run], ReleaseOutline] = _keep_outline
    """An outline as the ledger kept it, with what only the private table tells."""
    ask: Callable[[Sequence[Any], Table, Sequence[Any]], list[JointQuestion]] | None = (
        None
    )
    """What must be asked of several releases: promises about this kind, the table, and
    what is accepted."""
    count: Callable[..., LabelledRows] | None = None
    """The private rows by what releases show of them: table, outlines, questions."""
    join: Callable[..., Finding] | None = None
    """Judge releases of this kind as if they were one: table, outlines, promise."""
    deliver: Callable[..., list[JointResult]] | None = None
    """Judge a later delivery with earlier ones: table, outline, earlier, questions."""
    keep: Callable[..., None] | None = None
    """Write to an entry's folder what a later delivery is compared with."""


@dataclass(frozen=True)
class Verification:
    """What a recipient finds: what does not fit the manifest, and the recount."""

    problems: tuple[str, ...]
    """What differs; empty if everything is as the manifest says."""
    audit: Audit | None
    """The promises, recounted from the files; None where they cannot be read."""
    unpromised: bool = False
    """Whether the release makes no promise that could be judged."""
    signature: Signature | None = None
    """Who signed it; None: nobody, so that anybody could have written it."""

    @property
    def good(self) -> bool:
        """Whether the release is what its manifest says, and safe."""
        kept = self.unpromised or (self.audit is not None and self.audit.safe)
        return not self.problems and kept

    @property
    def open(self) -> bool:
        """Whether all that can be recounted is as it should be, and something cannot.

        A promise about people who belong together is judged with a private column.
        """
        if self.problems or self.audit is None or self.good or self.audit.uncovered:
            return False
        unjudged = [f for f in self.audit.findings if f.verdict is Verdict.UNDECIDED]
        fine = (Verdict.SAFE, Verdict.NOT_APPLICABLE, Verdict.UNDECIDED)
        return all(f.verdict in fine for f in self.audit.findings) and all(
            f.belief is None for f in unjudged
        )


class Watch(Protocol):
    """Looks on while promises are judged, and says what is exposed besides."""

    @property
    def watched(self) -> Any:
        """What is to be judged, so that it can look on."""

    def finish(self, run: Run) -> tuple[Exposed | None, list[Finding]]:
        """What is exposed, and a finding for what no promise covers."""


@dataclass(frozen=True, eq=False)
class ReleaseKind:
    """Everything the rest of privet must know of one kind of release."""

    name: str
    """The kind, as manifests have it."""
    values: Mapping[type, str]
    """What of it can be judged, and how each is called in a sentence."""
    judges: Mapping[tuple[type, type], Judge]
    """The arithmetic there is, by value and adversary; `Measure` for measures."""
    parts: Callable[..., ReleaseParts]
    """What of writing a release is its own; `release/write.py` does the rest."""
    open: Callable[..., Any]
    """What is in the files of a release, to be judged: folder, manifest, options in."""
    find_differences: Callable[[Any, Path, Mapping[str, Any]], list[str]]
    """What of that, in this folder, is not as the manifest says, findings aside."""
    note: Callable[[Mapping[str, Any]], str]
    """What recipients should know, from the public manifest alone."""
    restate: Callable[[Any, Path, Mapping[str, Any]], Mapping[str, Any]]
    """What the manifest must say, as far as what was opened and what it states itself
    tell: the value of each such key."""
    sentences: Mapping[str, Sentences]
    """What is said of findings, by the adversary's kind or as `finding_sort` has it."""
    shows: Mapping[type, Callable[[Any], Any]] = field(default_factory=dict)
    """Releases and other makers of this kind, and what of them is judged."""
    bind: Mapping[type, Callable[[Any, Policy], Any]] = field(default_factory=dict)
    """How a policy settles the rows and roles of a value before it is judged."""
    watches: Mapping[type, Callable[..., Watch]] = field(default_factory=dict)
    """Who counts what a value exposes beyond what is promised: value, what is stated,
    what is accepted, and whether to count in."""
    knowing: Callable[..., Belief] | None = None
    """The belief of somebody who knows any sentence about people."""
    publish: Callable[..., Any] | None = None
    """Make a release that keeps every promise, or raise `Infeasible`."""
    publishes: tuple[type, ...] = ()
    """What `publish` takes."""
    methods: tuple[type, ...] = ()
    """How it can be made safe; a table is published by the kind that has the method."""
    options: tuple[str, ...] = ()
    """Options of the verb `publish` that mean something here, besides the method."""
    close: Callable[[Any], None] = _close_nothing
    """Let go of the files of what was opened."""
    restore: Callable[..., Any] = _keep_shown
    """The release of what was opened, once it recounted, given policy, audit, method,
    manifest and folder; or what was opened itself."""
    unpromised: bool = False
    """Whether it may be released without a promise that could be judged."""
    keys: tuple[str, ...] = ()
    """What only manifests of this kind say."""
    form: Form = field(default_factory=dict)
    """What must hold of a manifest of this kind, besides what holds of all."""
    prove: Callable[[Any, Path, Mapping[str, Any]], list[str]] | None = None
    """What a custody folder does not prove of what was opened; None: it proves only
    that the manifest is the one it was kept for."""
    joint: JointParts | None = None
    """What of judging it with earlier releases is its own; None: it cannot be."""
    sections: Callable[[Any, Mapping[str, Any]], Sequence[Section]] = _no_sections
    """What its private report says of what was done and what it cost: release and
    custody record, which is empty where nobody gave it."""
    examples: Callable[[Mapping[str, Any]], Sequence[Program]] = _no_examples
    """How recipients use it, from the public manifest alone."""
    proved: str = mark("this is the release it was kept for")
    """What a custody record that fits proves."""

    def type_of(self, value: object) -> type | None:
        """Which of its values this is; a subclass counts as what it extends."""
        return next((t for t in self.values if isinstance(value, t)), None)


def import_kind(name: str) -> ReleaseKind:
    """The record of a kind."""
    kind = import_module(HOMES[name]).KIND
    assert isinstance(kind, ReleaseKind)
    return kind


def list_kinds() -> Iterator[ReleaseKind]:
    """Every kind, imported one by one."""
    return map(import_kind, HOMES)


def find_judging_kind(release: object) -> tuple[ReleaseKind, Any] | None:
    """The kind that can judge a value, and what of the value it judges."""
    # Who has a value of a kind has imported it: the others need not be.
    known = sorted(HOMES, key=lambda name: HOMES[name] not in sys.modules)
    for kind in map(import_kind, known):
        if kind.type_of(release) is not None:
            return kind, release
        for maker, shown in kind.shows.items():
            if isinstance(release, maker):
                return kind, shown(release)
    return None


def close_release(release: object) -> None:
    """Let go of the files of a release that was loaded."""
    found = find_judging_kind(release)
    if found is not None:
        found[0].close(found[1])


def finding_sort(finding: Finding) -> str:
    """Whose sentences a finding is told in: a measure's, or those of its adversary.

    A Bayesian who sees a disguised row is told about as responses are.
    """
    if isinstance(finding.promise, Uncovered):
        return "inversion" if finding.promise.of == "inversion" else "uncovered"
    if isinstance(finding.promise, Measure):
        return "measure"
    seen = finding.witness is not None and finding.witness.sees
    return "responses" if seen else finding.promise.against.kind


def find_sentences(finding: Finding) -> Sentences:
    """What is said of a finding, by the kind of release it is about.

    Of an adversary who has no sentences of its own, what is true of all of them.
    """
    sort = finding_sort(finding)
    own = (k.sentences[sort] for k in list_kinds() if sort in k.sentences)
    return next(own, None) or Sentences(
        reach=words.describe_common_reach,
        explain=words.explain_plainly,
        beyond=words.describe_groups_beyond,
    )
