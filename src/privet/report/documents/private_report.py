"""The private report: verdict first, each promise with its witness, and who signs.

Made from an audit and from plain dictionaries, as a custody record has them; what only
one kind of release has to say comes from its own folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from privet.findings import Audit, Finding
from privet.languages import say, translate, which_language
from privet.policy import Measure, Promise
from privet.report.belief_charts import draw_promises
from privet.report.charts import draw_exposure, draw_own_beliefs, tell_exposure
from privet.report.documents.document import (
    Document,
    Facts,
    Grid,
    Judgement,
    Listing,
    Paragraph,
    Part,
    Picture,
    Program,
    Section,
    SignatureLines,
    keep_sections,
)
from privet.report.documents.recorded_findings import retell
from privet.report.render import list_history
from privet.report.vega_lite import Chart
from privet.report.words import (
    BASES,
    describe_promise,
    escape_name,
    format_bound,
    format_figures,
    format_limit,
    format_measured,
    format_reached,
    say_name,
)
from privet.values.beliefs import Ceiling
from privet.values.exact import percent

Told = Mapping[str, Any]
"""A summary, or a part of a custody record."""

SOURCE_KEYS = ("source", "rows", "engine", "made", "method", "manifest_sha256")
"""What a record tells of how something was made."""


# Audits -----------------------------------------------------------------------------


def describe_audit(
    audit: Audit, record: Told | None = None, *, title: str = ""
) -> Document:
    """The report of an audit; `record` says what was judged, as custody records do."""
    kept = record or {}
    return start_document(
        "audit",
        title or audit.title or say("Audit of a table"),
        audit,
        keep_sections(
            list_judgements(audit),
            describe_exposure(audit),
            list_advice(audit),
            describe_accepted(kept.get("accepted") or ()),
            describe_together(audit.to_dict()["history"]),
            describe_reach(audit),
            describe_method(kept),
            describe_policy(kept),
            sign_off(kept.get("signoff")),
        ),
        data={"audit": audit.to_dict()},
    )


def start_document(
    kind: str,
    title: str,
    audit: Audit,
    sections: Sequence[Section],
    *,
    data: Told,
) -> Document:
    """A private document whose verdict is that of an audit."""
    told = audit.to_dict()
    return Document(
        kind=kind,
        private=True,
        title=escape_name(title),
        headline=told["headline"],
        verdict=told["verdict"],
        beside=say_beside(audit),
        sections=sections,
        data=data,
        **stamp_document(),
    )


def stamp_document() -> dict[str, str]:
    """When a document is made, in which language, and by which version."""
    from privet import __version__

    made = datetime.now(UTC).isoformat(timespec="seconds")
    return {"language": which_language(), "made": made, "version": __version__}


def say_beside(audit: Audit) -> str:
    """The limit that decides, beside the verdict."""
    worst = audit.worst
    figures = format_figures(worst)
    if not figures:
        return ""
    name = escape_name(worst.promise.name)
    return say("Worst of all, “{name}”: {figures}", name=name, figures=figures)


# Promises ---------------------------------------------------------------------------


def list_judgements(audit: Audit, before: Told | None = None) -> Section:
    """Each promise with its limit and its witness, before and after."""
    told = audit.to_dict()["findings"]
    was = {f["promise"]: f for f in (before or {}).get("findings", ())}
    found = (*audit.findings, *audit.uncovered)
    parts: list[Part] = [Picture(_name_picture(was), lambda: draw_promises(told, was))]
    parts += [
        _judge(finding, about, _find_before(finding, was.get(about["promise"])))
        for finding, about in zip(found, told, strict=True)
    ]
    return Section("promises", say("What was promised, and what was found"), parts)


def _find_before(finding: Finding, recorded: Told | None) -> Told | None:
    """What was found in the table itself, said in the reader's language."""
    stated = finding.promise
    if recorded is None or not isinstance(stated, Promise | Measure):
        return recorded
    return retell(recorded, stated)


def _name_picture(before: Told) -> str:
    if before:
        return say("How sure somebody could be, before and after, beside each limit.")
    return say("How sure somebody could be, beside each limit.")


def _judge(finding: Finding, told: Told, before: Told | None) -> Judgement:
    return Judgement(
        name=say_name(told),
        verdict=told["verdict"],
        figures=_list_figures(finding, before),
        witnesses=_list_witnesses(told, before),
        notes=_list_notes(finding, told),
    )


def _list_figures(finding: Finding, before: Told | None) -> list[tuple[str, str]]:
    stated = finding.promise
    if not isinstance(stated, Promise | Measure):
        return []
    figures = [(say("Limit"), _say_limit(stated))]
    was = "" if before is None else _format_before(stated, before)
    if was:
        figures.append((say("Worst case before"), was))
    reached = format_reached(finding)
    if reached:
        name = say("Worst case after") if was else say("Worst case")
        figures.append((name, reached))
    if finding.basis is not None:
        figures.append((say("How it is known"), translate(BASES[finding.basis])))
    return figures


def _say_limit(stated: Promise | Measure) -> str:
    if isinstance(stated, Measure):
        return format_bound(stated)
    return format_limit(stated.limit)


def _format_before(stated: Promise | Measure, before: Told) -> str:
    """What was found in the table itself, from a record of it."""
    if isinstance(stated, Measure):
        found = before.get("measured")
        return "" if found is None else format_measured(stated, Fraction(found))
    sure = before.get("posterior")
    level = stated.limit.level if isinstance(stated.limit, Ceiling) else None
    return "" if sure is None else percent(Fraction(sure), unlike=level)


def _list_witnesses(told: Told, before: Told | None) -> list[tuple[str, str]]:
    after = _join_words(told)
    if before is None:
        return [(say("Who could be how sure"), after)]
    return [
        (say("In the table itself"), _join_words(before)),
        (say("In what is released"), after),
    ]


def _join_words(told: Told) -> str:
    said = dict.fromkeys(str(told[key]) for key in ("words", "beyond") if told.get(key))
    return " ".join(said)


def _list_notes(finding: Finding, told: Told) -> list[str]:
    notes = []
    if isinstance(finding.promise, Promise | Measure):
        promised = describe_promise(finding.promise)
        notes.append(say("Promised: {promise}.", promise=promised))
    if told["note"] and told["note"] not in _join_words(told):
        notes.append(told["note"])
    return notes


# What else an audit says ------------------------------------------------------------


def describe_exposure(audit: Audit) -> Section | None:
    """Of how many people something is told, promised or not."""
    told = audit.to_dict()["exposure"]
    if told is None:
        return None
    parts: list[Part] = [Listing(told["words"])]
    if told.get("columns"):
        parts.append(_tabulate_exposure(told))
        seen = tell_exposure(audit.exposure)
        parts.append(Picture(say("What is told, promised or not."), _draw(seen)))
        parts += [
            Picture(
                say("How sure somebody is of {column}.", column=escape_name(c)),
                _draw_column(seen, c),
            )
            for c in list(told["columns"])[:MOST_COLUMNS]
        ]
    return Section("exposure", say("What is exposed, promised or not"), parts)


MOST_COLUMNS = 6
"""Columns that have a picture of their own."""


def _draw(told: Told) -> Any:
    return lambda: draw_exposure(told)


def _draw_column(told: Told, column: str) -> Any:
    def draw() -> Chart | None:
        return draw_own_beliefs(told, column)

    return draw


def _tabulate_exposure(told: Told) -> Grid:
    heads = (say("Column"), say("People"), say("Unique"), say("Certain"))
    lines = [
        (
            escape_name(column),
            f"{about['people']:,}",
            f"{about['unique']:,}",
            f"{about['certain']:,}",
        )
        for column, about in told["columns"].items()
    ]
    known = ", ".join(escape_name(c) for c in told["known"]) or say("the table alone")
    caption = say("People of whom somebody learns who knows {known}", known=known)
    return Grid(heads, lines, caption)


def list_advice(audit: Audit) -> Section | None:
    """What to do next, and what came up."""
    told = audit.to_dict()
    parts: list[Part] = [Listing(told["advice"], ordered=True)] * bool(told["advice"])
    parts += [Listing(told["notes"])] * bool(told["notes"])
    return Section("advice", say("What to do"), parts) if parts else None


def describe_accepted(accepted: Sequence[Told]) -> Section:
    """What no promise covers, who accepted it, and why."""
    title = say("What was accepted, and why")
    if not accepted:
        return Section("accepted", title, [Paragraph(say("Nothing was accepted."))])
    heads = (say("About"), say("Of"), say("Up to"), say("Reason"), say("Accepted by"))
    lines = [
        (
            escape_name(entry.get("about", "")) or "—",
            str(entry.get("of", "linkage")),
            f"{entry['up_to']:,}" if "up_to" in entry else say("any number"),
            str(entry["why"]),
            str(entry.get("who", "")) or "—",
        )
        for entry in accepted
    ]
    return Section("accepted", title, [Grid(heads, lines, title)])


def describe_together(history: Told | None) -> Section | None:
    """What is known of earlier releases about the same people."""
    if not history:
        return None
    title = say("Earlier releases about the same people")
    return Section("ledger", title, [Listing(list_history(dict(history)))])


def describe_reach(audit: Audit) -> Section | None:
    """Whom the promises cover, and whom not."""
    told = audit.to_dict()["reach"]
    title = say("Whom the promises cover, and whom not")
    return Section("reach", title, [Listing(told)]) if told else None


# How it was made --------------------------------------------------------------------


def describe_method(record: Told, files: Sequence[Told] = ()) -> Section:
    """Method, versions, digests."""
    from privet import __version__

    facts = [(say("Judged by"), f"privet {__version__}")]
    if method := record.get("method"):
        facts.append((say("Method"), str(method)))
    facts += [
        (say("Counted by"), f"{name} {version}")
        for name, version in (record.get("engine") or {}).items()
    ]
    if record.get("rows") is not None:
        facts.append((say("Rows of the table"), f"{record['rows']:,}"))
    if made := record.get("made"):
        facts.append((say("Released"), str(made)))
    if digest := record.get("manifest_sha256"):
        facts.append((say("SHA-256 of release.json"), str(digest)))
    parts: list[Part] = [Facts(facts)]
    source = record.get("source")
    if isinstance(source, Sequence) and source:
        parts.append(_tabulate_files(source, say("The private table")))
    if files:
        parts.append(_tabulate_files(files, say("What is released")))
    return Section("method", say("How it was made: method, versions, digests"), parts)


def _tabulate_files(files: Sequence[Told], caption: str) -> Grid:
    lines = [(escape_name(str(f["path"])), str(f["sha256"])) for f in files]
    return Grid((say("File"), "SHA-256"), lines, caption)


def describe_policy(record: Told) -> Section | None:
    """The policy as it was written."""
    text = record.get("policy")
    if not isinstance(text, str) or not text.strip():
        return None
    return Section("policy", say("The policy"), [Program("TOML", text.strip())])


def sign_off(signed: Told | None) -> Section:
    """Where those sign who answer for it."""
    given = signed or {}
    lines = (
        (say("Answers for it: name"), str(given.get("name", ""))),
        (say("Date"), str(given.get("date", ""))),
        (say("Given out for"), str(given.get("purpose", ""))),
        (say("Signature"), ""),
        (say("Checked by, with date"), ""),
        (say("Signature"), ""),
    )
    return Section("signoff", say("Sign-off"), [SignatureLines(lines)])


DOCUMENTS = {"Audit": describe_audit}
"""What there is a private report of here."""
