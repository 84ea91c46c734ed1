"""The files of disguised rows: what of writing and opening them is their own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from privet.engine.protocol import Run
from privet.errors import Infeasible, InputError, PrivacyWarning
from privet.findings import Audit, Verdict
from privet.languages import mark, say, translate
from privet.policy import Policy
from privet.release.custody_record import digest_files, now, policy_text
from privet.release.destination import Destination
from privet.release.history import History, list_open
from privet.release.joint.outlines import ReleaseOutline, ShownColumn
from privet.release.kinds import Form
from privet.release.manifest import ManifestEntries, WrittenFile, restate_open
from privet.release.note import RECOUNT, write_note
from privet.release.verify import MANIFEST, open_files
from privet.release.write import ReleaseParts, write_table
from privet.responses.design import Design
from privet.responses.disguise import binned, plan_randomisation
from privet.responses.recovery.attacks import judge_collector
from privet.responses.release import Responses, find_code
from privet.responses.report import describe_promised
from privet.table import Table
from privet.values.adversaries import Collector
from privet.values.schema import Roles

NOT_PROMISED = (
    mark(
        "protection of somebody who answers again: every further report about the same "
        "truth spends ε once more, unless the same report is given again"
    ),
    mark("protection of columns that the design calls public"),
    mark(
        "protection of one answer against somebody who knows how answers "
        "hang together, beyond what is said of the whole record"
    ),
    mark(
        "protection of why somebody left a question out: that tells something, without "
        "limit if it depends on the truth"
    ),
    mark("protection against a second release of the same people"),
    mark(
        "anonymity: the promise holds even where it is known whose row is "
        "whose, and does not hide whose it is"
    ),
)
"""What a disguise does not cover; said in every manifest."""

TRUTH = "This file tells where the true answers are. It never travels."

KEYS = ("design", "privacy")
"""What only manifests of disguised rows say."""

FORM: Form = {
    "files": lambda c: len(c["files"]) == 1,
    "method": lambda c: c["method"] == "randomized response",
}
"""What must hold of the manifest of disguised rows."""


# Writing ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ResponsesParts(ReleaseParts):
    """What disguised rows are written from."""

    table: Table
    """The true answers."""
    design: Design
    """What is asked, and how it is disguised."""
    policy: Policy | None = None
    """What the design must keep."""
    audit: Audit | None = None
    """The policy's promises, judged on the design."""
    judged: History | None = None
    """What earlier releases add."""
    promised: ClassVar[str] = "what the design says"

    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """A report for every row, drawn anew."""
        table, path = self.table, draft.folder / draft.file
        plan = plan_randomisation(table, self.design, str(path), draft.format, run=run)
        recodings = binned(table, self.design).recodings
        return [write_table(path, lambda: table.engine.draw(plan, recodings, run))]

    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """The design, and what it gives away at most."""
        design = self.design
        self._attack_draft(draft, run)
        return ManifestEntries(
            "responses",
            title=design.title or (self.policy.title if self.policy else ""),
            method="randomized response",
            columns=_describe_columns(design),
            audit=self.audit,
            not_promised=list_open(NOT_PROMISED, self.judged),
            how={"design": design.to_dict(), "privacy": describe_privacy(design)},
        )

    def _attack_draft(self, draft: Destination, run: Run) -> None:
        """Judge what is promised against a collector on the very rows drawn here.

        It is an estimate that takes minutes, so nobody is made to recount it: the
        manifest does not hold it.
        """
        promises = self.policy.promises if self.policy else ()
        stated = [p for p in promises if isinstance(p.against, Collector)]
        if not stated:
            return
        path = draft.folder / draft.file
        with open_files(path, Roles(), guarded=draft.format == "csv") as table:
            found = judge_collector(Responses(table, self.design), stated, run, None)
        for finding in found:
            if finding.verdict is Verdict.BREACH:
                raise Infeasible(
                    f"The disguised rows do not keep {finding.promise.name!r}: "
                    f"{finding.note}",
                    promise=finding.promise,
                    best=finding.belief.posterior if finding.belief else None,
                    advice=("Disguise more: lower the truth of the questions.",),
                )

    @property
    def history(self) -> History | None:
        """What it was judged with."""
        return self.judged

    def build_record(
        self, content: Mapping[str, Any], found: Audit | None
    ) -> dict[str, Any]:
        """Where the truth is, and how it was disguised."""
        table = self.table
        return {
            "sensitive": TRUTH,
            "made": now(),
            "source": digest_files(table),
            "rows": content["files"][0]["rows"],
            "engine": {table.engine.name: table.engine.version},
            "method": content["method"],
            "design": self.design.to_dict(),
            "draws": mark(
                "From the operating system's secure source; they were not kept."
            ),
            "policy": None if self.policy is None else policy_text(self.policy),
        }


def write_responses_note(content: Mapping[str, Any]) -> str:
    """That answers were disguised, and what ε is."""
    told = content["privacy"]
    changed = [
        say(
            "Every answer was disguised by chance, as the design in "
            "release.json says. No single row can be relied on; shares of "
            "many rows can be estimated."
        ),
    ]
    if told["public"]:
        public = ", ".join(told["public"])
        changed += [say("Not disguised, since public: {columns}.", columns=public)]
    if "escaped" in content:
        changed += [translate(content["escaped"])]
    with warnings.catch_warnings():  # said when the design was made
        warnings.simplefilter("ignore", PrivacyWarning)
        promised = describe_promised(Design.from_dict(content["design"]))
    sections = {mark("What was changed"): changed, mark("What is promised"): promised}
    last = [mark("Estimate from it: privet estimate <this folder>"), RECOUNT]
    return write_note(content, mark("Disguised answers"), sections, last)


def outline_responses(design: Design) -> ReleaseOutline:
    """What disguised rows show of each column, for the ledger.

    Whose row is whose may be known. What is public stands beside it undisguised: the
    odds that a row gives then have no bound.
    """
    return ReleaseOutline(
        name="",
        kind="responses",
        rows="",
        columns={c: ShownColumn() for c in design.columns},
        transformed=True,
        attributable=True,
        gamma=None if design.public else design.growth(),
    )


# Opening ----------------------------------------------------------------------------


def open_responses(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> Responses:
    """Disguised rows and the design that their manifest holds."""
    stated = content.get("design")
    if not isinstance(stated, Mapping):
        raise InputError(f"{MANIFEST} of disguised rows must hold their design.")
    path = folder / content["files"][0]["path"]
    table = open_files(path, Roles(), guarded="escaped" in content, **options)
    try:
        return Responses(table, Design.from_dict(stated), dict(content))
    except BaseException:
        table.close()
        raise


def find_differences(
    responses: Responses, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """What is not as the manifest and its design say."""
    return find_misfits(responses, content["files"][0]["rows"], Run())


def _describe_columns(design: Design) -> dict[str, Any]:
    """What the manifest says of each question."""
    shown = {
        c: "as it is" if c in design.public else "disguised" for c in design.columns
    }
    return {c: {"type": "text", "shown_as": how} for c, how in shown.items()}


def restate(
    responses: Responses, folder: Path, content: Mapping[str, Any]
) -> dict[str, Any]:
    """What a manifest must say, given its design."""
    design = responses.design
    return {
        "title": design.title or content["title"],
        "columns": _describe_columns(design),
        "design": design.to_dict(),
        "privacy": describe_privacy(design),
        "not_promised": restate_open(NOT_PROMISED, content),
    }


def find_misfits(responses: Responses, rows: int, run: Run) -> list[str]:
    """What does not fit the design: rows, columns, values."""
    table, design = responses.rows, responses.design
    problems = []
    if (found := table.engine.rows(run)) != rows:
        problems.append(f"The table must have {rows} rows; it has {found}.")
    if set(table.schema.names) != set(design.columns):
        problems.append("The table must have the columns the design names.")
        return problems
    cells = table.engine.tabulate([[c] for c in design.columns], run)
    for column, values in zip(design.columns, cells, strict=True):
        question = design.question(column)
        for (value,), _ in values:
            asked = column not in design.public
            missing = design.one_of and value is None and asked
            if not missing and find_code(question, value) is None:
                problems.append(
                    f"Column {column!r} must hold values that the design declares."
                )
                break
    if not problems and responses.count_beyond(run):
        problems.append("Every row must answer one group of the design's questions.")
    return problems


def describe_privacy(design: Design) -> dict[str, Any]:
    """What the design gives away at most: e^ε of the record and of each column."""
    grown = design.growth()
    secret = [c for c in design.columns if c not in design.public]
    return {
        "growth": None if grown is None else str(grown),
        "epsilon": None if grown is None else round(design.epsilon(), 6),
        "columns": {c: _format_growth(design.growth([c])) for c in secret},
        "public": list(design.public),
    }


def _format_growth(grown: Any) -> str | None:
    return None if grown is None else str(grown)
