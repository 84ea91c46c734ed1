"""The private report of an audit, a release of any kind, or a ledger; and public notes.

A private report is made from the release and its custody record: that of a release made
here is drawn up as if it were written, that of one which was loaded is read. A public
note is made from the public manifest, and can hold nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from privet.errors import InputError
from privet.findings import Audit
from privet.languages import say, say_number
from privet.policy import Measure, Policy, Promise
from privet.policy.policy import Stated, as_policy
from privet.release.audit import audit as judge
from privet.release.budget import SpentBudget
from privet.release.custody_record import describe_table, policy_text
from privet.release.kinds import ReleaseKind, find_judging_kind, import_kind
from privet.release.ledger import Ledger
from privet.release.named_custody import read_custody
from privet.release.verify import compare_record, read_policy
from privet.report.charts import draw_ledger, name_kind
from privet.report.documents.document import (
    Document,
    Grid,
    Listing,
    Paragraph,
    Part,
    Picture,
    Section,
    keep_sections,
)
from privet.report.documents.private_report import (
    describe_accepted,
    describe_audit,
    describe_exposure,
    describe_method,
    describe_policy,
    describe_reach,
    describe_together,
    list_advice,
    list_judgements,
    sign_off,
    stamp_document,
    start_document,
)
from privet.report.documents.public_note import describe_public
from privet.report.ledger_words import LOSSES, list_spent
from privet.report.words import escape_name
from privet.table import Table

Place = str | PathLike[str]


# Audits -----------------------------------------------------------------------------


def report_audit(
    audit: Audit, *, of: Table | None = None, policy: Policy | None = None
) -> Document:
    """What was found; `of` and `policy` are what was judged, and by what."""
    return describe_audit(audit, describe_judged(of, policy))


def describe_judged(of: Table | None, policy: Policy | None) -> dict[str, Any]:
    """What a record tells of a table and a policy, as far as they are given."""
    return {**(describe_table(of) if of else {}), **_describe_stated(policy)}


def _describe_stated(policy: Policy | None) -> dict[str, Any]:
    """What a record tells of a policy."""
    if policy is None:
        return {}
    return {
        "policy": policy_text(policy),
        "signoff": policy.signoff.to_dict() if policy.signoff else None,
        "accepted": [a.to_dict() for a in policy.accepted],
    }


# Releases ---------------------------------------------------------------------------


def report_release(
    release: Any, *, custody: Place | None = None, policy: Stated | None = None
) -> Document:
    """What was promised, found, done and given up, with the witnesses of both.

    `policy` judges it anew, by other promises than its own.
    """
    kind = _find_kind(release)
    record = _find_record(release, kind, custody)
    audit = _judge(release, policy)
    manifest = release.manifest
    title = manifest.get("title") or record.get("title") or _name_release(audit)
    before = record.get("before")
    sections = keep_sections(
        None if audit is None else list_judgements(audit, before),
        _say_unrecorded(record),
        None if audit is None else describe_exposure(audit),
        *kind.sections(release, record),
        None if audit is None else list_advice(audit),
        describe_accepted(_list_accepted(record, manifest)),
        describe_together(record.get("history")),
        None if audit is None else describe_reach(audit),
        describe_method(
            {"method": manifest.get("method"), **record}, manifest.get("files", ())
        ),
        describe_policy(record),
        sign_off(record.get("signoff")),
    )
    data = {
        "manifest": dict(manifest),
        "audit": None if audit is None else audit.to_dict(),
        "before": before,
        "utility": record.get("utility"),
        "history": record.get("history"),
    }
    if audit is None:
        return _describe_unpromised(title, sections, data)
    return start_document("release", title, audit, sections, data=data)


def _name_release(audit: Audit | None) -> str:
    return (audit.title if audit else "") or say("A release")


def _describe_unpromised(
    title: str, sections: Sequence[Section], data: Mapping[str, Any]
) -> Document:
    """A release under no promise that could be judged: what its disguise does."""
    return Document(
        kind="release",
        private=True,
        title=escape_name(title),
        headline=say("No promise of it can be judged; what it does is told below."),
        sections=sections,
        data=data,
        **stamp_document(),
    )


def _find_kind(release: object) -> ReleaseKind:
    found = find_judging_kind(release)
    assert found is not None
    return found[0]


def _judge(release: Any, policy: Stated | None) -> Audit | None:
    """What an adversary could learn from it, by its own promises or by others."""
    if policy is not None:
        return judge(release, policy)
    found = getattr(release, "audit", None)
    if found is not None:
        assert isinstance(found, Audit)
        return found
    if not release.manifest.get("promises"):
        return None
    own = read_policy(release.manifest)
    stated: list[Promise | Measure] = [*own.promises, *own.measures]
    return judge(release, as_policy(stated, own.roles))


def _find_record(
    release: Any, kind: ReleaseKind, custody: Place | None
) -> Mapping[str, Any]:
    """The private record: as it was kept, or as it would be; empty: nobody has it."""
    folder = _find_folder(release)
    if custody is not None:
        kept = Path(custody).expanduser()
        if folder is None:
            raise InputError(
                "custody must be that of a release which is loaded from its folder; "
                "this one was made here, and has what a record says."
            )
        if problems := compare_record(folder, kept):
            raise InputError("\n".join(problems))
        return read_custody(kept)
    if folder is not None:
        return {}
    own = kind.parts(release).build_record(release.manifest, release.audit)
    return {**own, **(release.history.build_record(own) if release.history else {})}


def _find_folder(release: Any) -> Path | None:
    """Where a release was loaded from; None: it was made here."""
    if hasattr(release, "folder"):
        found: Path | None = release.folder
        return found
    paths = release.rows.source.paths  # disguised rows are written when they are made
    return Path(paths[0]).parent if paths else Path()


def _say_unrecorded(record: Mapping[str, Any]) -> Section | None:
    if record:
        return None
    said = say(
        "The custody record was not given: what was found in the table itself, what is "
        "hidden and what it cost are not told. Give the folder of the private record."
    )
    return Section("record", say("The private record"), [Paragraph(said)])


def _list_accepted(
    record: Mapping[str, Any], manifest: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """What was accepted; who did is in the private record alone."""
    found: Sequence[Mapping[str, Any]] = (
        record.get("accepted") or manifest.get("accepted") or ()
    )
    return found


# Public notes -----------------------------------------------------------------------


def note_release(release: Any) -> Document:
    """What recipients should know of a release that was written."""
    if not getattr(release, "manifest", None):
        raise InputError(
            "A public note must be of a release that was written; this one was not. "
            "Write it first, and take what write gives back, or load its folder."
        )
    return note_manifest(release.manifest)


def note_manifest(manifest: Mapping[str, Any]) -> Document:
    """What recipients should know, from the public manifest alone."""
    kind = import_kind(manifest["kind"])
    return describe_public(manifest, kind.note(manifest), kind.examples(manifest))


# Ledgers ----------------------------------------------------------------------------


def report_ledger(ledger: Ledger) -> Document:
    """Every release about the same people, and what their noise spent."""
    told = ledger.to_dict()
    entries = told["releases"]
    number = len(entries)
    headline = say_number(
        "{n} release about the same people is in the ledger.",
        "{n} releases about the same people are in the ledger.",
        number,
    )
    seen = Picture(
        say("Which release shows which column."), lambda: draw_ledger(ledger)
    )
    parts: list[Part] = [seen, _tabulate_entries(entries)] if entries else []
    if remarks := _list_remarks(entries):
        parts.append(Listing(remarks))
    spent = SpentBudget.of(ledger.entries, None)
    lines = list_spent(spent.to_dict()) if spent.losses else []
    return Document(
        kind="ledger",
        private=True,
        title=say("Ledger of releases"),
        headline=headline,
        sections=keep_sections(
            Section("releases", say("The releases"), parts),
            Section("spent", say("What noise spent"), [Listing(lines)])
            if lines
            else None,
            describe_method({}),
            sign_off(None),
        ),
        data=told,
        **stamp_document(),
    )


def _tabulate_entries(entries: Sequence[Mapping[str, Any]]) -> Grid:
    heads = (
        say("Number"),
        say("Title"),
        say("Kind"),
        say("Made"),
        say("People"),
        say("Columns"),
        say("Where"),
    )
    lines = [
        (
            str(e["number"]),
            escape_name(e["title"]) or "—",
            name_kind(e["kind"]),
            e["made"],
            "?" if e["people"] is None else f"{e['people']:,}",
            ", ".join(map(escape_name, e["columns"])),
            escape_name(e["place"]) or "—",
        )
        for e in entries
    ]
    return Grid(heads, lines, say("The releases"))


def _list_remarks(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """What must be known of some of them."""
    lines = []
    for e in entries:
        if e["assumed"]:
            lines.append(f"{e['number']}. {e['assumed']}")
        if not e["complete"]:
            said = say("Never completed: it counts as released.")
            lines.append(f"{e['number']}. {said}")
        if e.get("loss"):
            loss = ", ".join(f"{LOSSES[k]} {v}" for k, v in e["loss"].items())
            lines.append(say("{number}. Noise: {loss}.", number=e["number"], loss=loss))
    return lines


DOCUMENTS = {
    "Audit": report_audit,
    "ClassifierRelease": report_release,
    "Ledger": report_ledger,
    "Release": report_release,
    "Responses": report_release,
    "ViewsRelease": report_release,
}
"""What there is a private report of here."""
