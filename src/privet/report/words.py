"""Every sentence a steward reads; no arithmetic here but showing numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.adversary import Linker, listed
from privet.beliefs import Ceiling, Limit, Ratio, Shift
from privet.exact import percent
from privet.finding import Audit, Finding, Verdict, Witness
from privet.policy import Measure, Promise

SENSITIVE = (
    "This report quotes the private table. Keep it where the table is kept; "
    "do not send it along with a release."
)

REACH = {
    "linker": (
        "Covered: someone who sees the table as it is and knows the listed columns of "
        "one person. Not covered: other columns, other releases of the same people, "
        "and people who know how the table was made safe."
    ),
}
"""What a promise against each adversary covers, and what it does not."""

SYMBOLS = {
    Verdict.SAFE: "✓",
    Verdict.BREACH: "✗",
    Verdict.UNDECIDED: "?",
    Verdict.NOT_APPLICABLE: "–",
}

HEADLINES = {
    Verdict.SAFE: "Safe: every promise is kept.",
    Verdict.BREACH: "Breach: {bad} of {all} promises {are} broken.",
    Verdict.UNDECIDED: "Undecided: {bad} of {all} promises could not be judged.",
    Verdict.NOT_APPLICABLE: "Nothing here can be judged.",
}


def headline(audit: Audit) -> str:
    """The verdict in a sentence."""
    bad = sum(f.verdict is audit.verdict for f in audit.findings)
    return HEADLINES[audit.verdict].format(
        bad=bad, all=len(audit.findings), are="is" if bad == 1 else "are"
    )


def explain(finding: Finding) -> str:
    """One finding in plain words."""
    if isinstance(finding.promise, Measure):
        return _measured(finding)
    if finding.belief is None:
        return finding.note
    if finding.witness is None:
        return (
            "Nobody in the table has a value the promise is about, so there is nothing "
            "to be sure of: 0 %."
        )
    return f"{_sure(finding.witness)} {_before(finding.witness)}"


def _sure(w: Witness) -> str:
    who = "Someone who knows " + (
        f"that a person's {_facts(w.knows)}" if w.knows else "nothing but the table"
    )
    return (
        f"{who} can be {percent(w.belief.posterior)} sure ({w.part} of {w.whole} "
        f"{_unit(w, w.whole)}) that {w.column} is {value(w.value)}."
    )


def _before(w: Witness) -> str:
    return (
        f"Without that, {percent(w.belief.prior)} ({w.prior_part} of {w.prior_whole})."
    )


def _unit(w: Witness, number: int) -> str:
    one = {"rows": "row", "people": "person"}
    return one[w.counted] if number == 1 else w.counted


def _facts(knows: Mapping[str, str | None]) -> str:
    return listed([f"{c} is {value(v)}" for c, v in knows.items()])


def value(cell: str | None) -> str:
    """A cell in a sentence."""
    if cell is None:
        return "missing"
    return cell if cell.strip() else repr(cell)


def limit(bound: Limit | None) -> str:
    """A limit in words."""
    match bound:
        case Ceiling(level=level, strict=strict):
            return f"{'below' if strict else 'at most'} {percent(level)}"
        case Shift(start=start, end=end):
            return f"not from below {percent(start)} to {percent(end)} or back"
        case Ratio(factor=factor):
            return f"within a factor of {factor}"
    return ""


def promised(stated: Promise | Measure) -> str:
    """What was promised, as a sentence without its subject's name."""
    if isinstance(stated, Measure):
        return f"{stated.kind.replace('_', '-')} of at least {stated.level}"
    return f"{_about(stated)}, against {stated.against.words()}: {limit(stated.limit)}"


def _about(promise: Promise) -> str:
    about = promise.about
    if isinstance(about, dict):
        return listed([f"{c} is {_values(v)}" for c, v in about.items()])
    if isinstance(about, tuple):
        return f"the sensitive column is {_values(about)}"
    return f"any value of {about}" if about else "any value of the sensitive column"


def _values(values: object) -> str:
    if isinstance(values, tuple):
        return " or ".join(value(v) for v in values)
    return (
        "any value" if values == "*" else value(None if values is None else str(values))
    )


def _measured(finding: Finding) -> str:
    w = finding.witness
    if w is None or finding.value is None:
        return finding.note
    who = f"The people whose {_facts(w.knows)}" if w.knows else "All people"
    return (
        f"{who} are the fewest who look alike: {w.whole} {_unit(w, w.whole)}, so the "
        f"table is {finding.value}-anonymous."
    )


def beyond(finding: Finding) -> str:
    """How much of the table is beyond the limit."""
    if not finding.groups:
        return ""
    counted = finding.witness.counted if finding.witness else "rows"
    what = (
        "below the level" if isinstance(finding.promise, Measure) else "above the limit"
    )
    if not finding.groups_above:
        return f"None of the {finding.groups:,} groups is {what}."
    return (
        f"{finding.groups_above:,} of {finding.groups:,} groups "
        f"({finding.people_above:,} {counted}) "
        f"{'is' if finding.groups_above == 1 else 'are'} {what}."
    )


def advice(audit: Audit) -> list[str]:
    """What to do next."""
    steps = []
    broken = [f for f in audit.findings if f.verdict is Verdict.BREACH]
    linkers = [f for f in broken if _is_linker(f)]
    if linkers:
        columns = sorted({c for f in linkers if f.witness for c in f.witness.knows})
        steps.append(
            "Do not release the table as it is. Make the columns "
            f"{listed(columns)} coarser (bins, fewer values), or leave one of them out."
            if columns
            else "Do not release the sensitive column: its share alone is too high."
        )
    if any(isinstance(f.promise, Measure) for f in broken):
        steps.append("Merge or drop rare combinations of the quasi columns.")
    if broken:
        steps.append("Audit again after every change.")
    if any(f.verdict is Verdict.UNDECIDED for f in audit.findings):
        steps.append("Treat an undecided promise as broken until it is judged.")
    return steps


def _is_linker(finding: Finding) -> bool:
    stated = finding.promise
    return isinstance(stated, Promise) and isinstance(stated.against, Linker)


def reach(audit: Audit) -> list[str]:
    """Which attackers the promises cover, and which they do not."""
    kinds = dict.fromkeys(
        f.promise.against.kind for f in audit.findings if isinstance(f.promise, Promise)
    )
    return [REACH[k] for k in kinds if k in REACH]


def explain_audit(audit: Audit) -> str:
    """The whole audit in plain words."""
    lines = [headline(audit)]
    for f in audit.findings:
        lines.append(f"{SYMBOLS[f.verdict]} {f.promise.name}: {explain(f)}")
    return "\n".join([*lines, *numbered(advice(audit))])


def numbered(steps: Sequence[str]) -> list[str]:
    """Steps with their numbers."""
    return [f"{i}. {step}" for i, step in enumerate(steps, 1)]
