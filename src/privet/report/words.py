"""The sentences all kinds of release share; no arithmetic but showing numbers.

What only one kind of release has to say stands in the `report.py` of its folder and is
found by its record in `release/kinds.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from privet.findings import Audit, Basis, Finding, Verdict, Witness
from privet.policy import Measure, Promise
from privet.policy.acceptance import Uncovered
from privet.values.adversaries import join_words
from privet.values.beliefs import Belief, Ceiling, Limit, Ratio, Shift
from privet.values.exact import percent, write_in_full
from privet.values.person_rows import PeopleMade
from privet.values.windows import Within

if TYPE_CHECKING:
    from privet.release.kinds import Sentences

LONGEST = 70
"""Letters of a set of values that are read out."""


def cut_short(label: str) -> str:
    """A set of values as it is read out; files and JSON have all of it.

    >>> cut_short("{Cook, Judge}")
    '{Cook, Judge}'
    >>> cut_short("not {" + ", ".join(map(str, range(10_000, 10_050))) + "}")
    'not {10000, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008, …}'
    """
    is_set = label.startswith(("{", "not {", "missing or {")) and label.endswith("}")
    if not is_set or len(label) <= LONGEST or ", " not in label[:LONGEST]:
        return label
    return label[: label.rindex(", ", 0, LONGEST)] + ", …}"


SENSITIVE = (
    "This report quotes the private table. Keep it where the table is kept; "
    "do not send it along with a release."
)

SYMBOLS = {
    Verdict.SAFE: "✓",
    Verdict.BREACH: "✗",
    Verdict.UNDECIDED: "?",
    Verdict.NOT_COVERED: "!",
    Verdict.NOT_APPLICABLE: "–",
}

BASES = {
    Basis.EXACT: "counted exactly",
    Basis.BOUND: "a proved upper bound",
    Basis.SAMPLED: "estimated from samples",
    Basis.MODEL: "the upper end of an estimate by a model",
    Basis.ATTACK: "by the best attack there is here",
}


# The verdict ------------------------------------------------------------------------

_DONE = {
    Verdict.BREACH: "broken",
    Verdict.UNDECIDED: "undecided",
    Verdict.SAFE: "kept",
}


def write_headline(audit: Audit) -> str:
    """The verdict in a sentence.

    What does not apply, or is undecided beside something worse, is said too.
    """
    found, uncovered = Counter(f.verdict for f in audit.findings), audit.uncovered
    if audit.verdict is Verdict.NOT_APPLICABLE:
        return "Nothing was judged: no promise applies here."
    if audit.verdict is Verdict.NOT_COVERED:
        return f"Not covered: {_count_uncovered(uncovered)}."
    if not found[audit.verdict]:
        return f"{audit.verdict.value.capitalize()}: {TOGETHER[audit.verdict]}."
    worst, number = found[audit.verdict], len(audit.findings)
    said = [f"{_say_how_many(worst, number)} {_DONE[audit.verdict]}"]
    if audit.verdict is Verdict.BREACH and (some := found[Verdict.UNDECIDED]):
        said.append(f"{some} {_conjugate(some)} undecided")
    if uncovered:
        said.append(_count_uncovered(uncovered))
    if some := found[Verdict.NOT_APPLICABLE]:
        said.append(f"{some} {'does' if some == 1 else 'do'} not apply here")
    return f"{audit.verdict.value.capitalize()}: {'; '.join(said)}."


TOGETHER = {
    Verdict.BREACH: "together with earlier releases a promise is broken",
    Verdict.UNDECIDED: "together with earlier releases nothing is certain",
}
"""What is said where only several releases break a promise."""


def _count_uncovered(uncovered: Sequence[Finding]) -> str:
    """What nobody promised or accepted: columns, or that counts are worked out."""
    kinds = [f.promise.of for f in uncovered if isinstance(f.promise, Uncovered)]
    number = sum(of != "inversion" for of in kinds)
    columns = "a sensitive column" if number == 1 else f"{number} sensitive columns"
    inversion = ["inversion"] * ("inversion" in kinds)
    named = " and ".join([*([columns] if number else []), *inversion])
    return f"no promise covers {named}, and nobody accepted that"


def _say_how_many(some: int, number: int) -> str:
    if some < number:
        return f"{some} of {number} promises {_conjugate(some)}"
    if number == 1:
        return "the promise is"
    return f"{'both' if number == 2 else f'all {number}'} promises are"


def _conjugate(number: int) -> str:
    return "is" if number == 1 else "are"


# One finding ------------------------------------------------------------------------


def explain(finding: Finding) -> str:
    """One finding in plain words."""
    if isinstance(finding.promise, Uncovered):
        return _find_sentences(finding).explain(finding)
    if isinstance(finding.promise, Measure):
        if finding.witness is None or finding.value is None:
            return finding.note
        return _find_sentences(finding).explain(finding)
    if finding.belief is None:
        return finding.note
    if finding.witness is None:
        return finding.note or (
            "Nobody in the table has a value the promise is about, so there is nothing "
            "to be sure of: 0 %."
        )
    return _find_sentences(finding).explain(finding)


def explain_plainly(finding: Finding) -> str:
    """What was found about an adversary that has no sentence of its own."""
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    who, known = (
        stated.against.words(),
        f" ({format_facts(w.knows)})" if w.knows else "",
    )
    return (
        f"{who[:1].upper()}{who[1:]}{known} can be "
        f"{format_posterior(w.belief, stated.limit)} sure that "
        f"{format_believed(w)}. Without that, {percent(w.belief.prior)}."
    )


def describe_common_reach(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, and what no promise covers."""
    stated = finding.promise
    assert not isinstance(stated, Uncovered)
    whom = describe_promise(stated)
    if isinstance(finding.promise, Promise):
        whom = finding.promise.against.words()
    return (
        f"Covered: {whom}. Not covered: someone who knows more, or who has another "
        "release about the same people."
    )


def _find_sentences(finding: Finding) -> Sentences:
    """What the kind of release has to say that the finding is about."""
    from privet.release.kinds import find_sentences

    return find_sentences(finding)


def format_posterior(belief: Belief, bound: Limit) -> str:
    """The posterior; with more digits where it would look like the limit itself."""
    level = bound.level if isinstance(bound, Ceiling) else None
    return percent(belief.posterior, unlike=level)


def format_share(part: int, whole: int) -> str:
    """Some of so many."""
    return f"{part:,} of {whole:,}"


def name_unit(counted: str, number: int) -> str:
    """What is counted, of one or of several."""
    one = {"rows": "row", "people": "person"}
    return one.get(counted, counted) if number == 1 else counted


def format_count(number: int, counted: str) -> str:
    """So many rows or people."""
    return f"{number:,} {name_unit(counted, number)}"


def format_prior(w: Witness) -> str:
    """How sure one would be of the witness's value knowing nothing."""
    return f"{percent(w.belief.prior)} ({format_share(w.prior_part, w.prior_whole)})"


def format_facts(knows: Mapping[str, str | None]) -> str:
    """What is known of a person, column by column."""
    return join_words(
        [f"{escape_name(c)} is {cut_short(format_cell(v))}" for c, v in knows.items()]
    )


def format_cell(cell: str | None) -> str:
    r"""A cell in a sentence; quoted where it would mislead.

    >>> tuple(format_cell(x) for x in ("Flu", None, "missing", " x\n"))
    ('Flu', 'missing', "'missing'", "' x\\n'")
    """
    if cell is None:
        return "missing"
    odd = not cell.strip() or cell != cell.strip() or not cell.isprintable()
    return repr(cell) if odd or cell == "missing" else cell


def format_believed(w: Witness) -> str:
    """What is believed of somebody: a value, or between which numbers one lies."""
    lies = w.window is not None and w.window.low != w.window.high
    verb = "lies" if lies else "is"
    return f"{escape_name(w.column)} {verb} {format_cell(w.value)}"


def escape_name(name: str) -> str:
    """A name on one line; what a terminal would obey is escaped."""
    return name if name.isprintable() else repr(name)[1:-1]


# Measures ---------------------------------------------------------------------------


def format_measured(measure: Measure, found: Fraction) -> str:
    """What was measured, as people read it.

    >>> format_measured(Measure(prosecutor_risk="1/2"), Fraction(1, 4))
    '25 %'
    >>> format_measured(Measure(t_closeness="1/2"), Fraction(1, 3))
    '0.333'
    """
    if measure.is_share:
        return percent(found, unlike=measure.level)
    if found.denominator == 1:
        return str(found)
    for digits in range(3, 10):
        text = f"{float(found):.{digits}f}"
        if found == measure.level or Fraction(text) != measure.level:
            return text
    more = "more" if found > measure.level else "less"
    return f"slightly {more} than {format_level(measure)}"


def format_level(measure: Measure) -> str:
    """The level as the policy means it."""
    return percent(measure.level) if measure.is_share else str(measure.level)


# The limit and what was found -------------------------------------------------------


def format_reached(finding: Finding) -> str:
    """The belief or what was measured; empty where nothing was counted."""
    stated = finding.promise
    if isinstance(stated, Uncovered):
        return ""
    if isinstance(stated, Measure):
        return "" if finding.value is None else format_measured(stated, finding.value)
    return (
        "" if finding.belief is None else format_posterior(finding.belief, stated.limit)
    )


def format_figures(finding: Finding) -> str:
    """The limit beside what was found."""
    stated, found = finding.promise, finding.belief
    how = f", {BASES[finding.basis]}" if finding.basis else ""
    if isinstance(stated, Uncovered):
        return ""
    if isinstance(stated, Measure):
        got = format_reached(finding)
        told = f" Measured: {got}{how}." if got else ""
        return f"Level: {stated.sense} {format_level(stated)}.{told}"
    if found is None:
        return f"Promised: {describe_promise(stated)}."
    worst = format_reached(finding)
    if not isinstance(stated.limit, Ceiling):
        worst = f"from {percent(found.prior)} to {worst}"
    return f"Limit: {format_limit(stated.limit)}. Worst case: {worst}{how}."


def format_limit(bound: Limit) -> str:
    """A limit in words."""
    match bound:
        case Ceiling(level=level, strict=strict):
            return f"{'below' if strict else 'at most'} {write_in_full(level)}"
        case Shift(start=start, end=end):
            return (
                f"not from below {write_in_full(start)} to {write_in_full(end)} or back"
            )
        case Ratio(factor=factor):
            return f"within a factor of {factor}"


def describe_promise(stated: Promise | Measure) -> str:
    """What was promised, as a clause."""
    if isinstance(stated, Measure):
        name = stated.kind.replace("_", "-")
        return f"{name} of {stated.sense} {format_level(stated)}"
    whom, limit = stated.against.words(), format_limit(stated.limit)
    return f"{_describe_about(stated)}, against {whom}: {limit}"


def _describe_about(promise: Promise) -> str:
    about, subject = promise.about, promise.against.subject
    if about is None and not promise.against.about_is:
        return subject
    if isinstance(about, dict):
        return join_words(
            [
                f"{escape_name(c)} to within {v}"
                if isinstance(v, Within)
                else f"{escape_name(c)} is {_format_values(v)}"
                for c, v in about.items()
            ]
        )
    if isinstance(about, tuple):
        return f"the sensitive column is {_format_values(about)}"
    return f"any value of {escape_name(about) if about else subject}"


def _format_values(values: object) -> str:
    if isinstance(values, tuple):
        return " or ".join(format_cell(v) for v in values)
    return (
        "any value"
        if values == "*"
        else format_cell(None if values is None else str(values))
    )


def describe_beyond(finding: Finding) -> str:
    """How much of the release is beyond the limit."""
    return _find_sentences(finding).beyond(finding) if finding.groups else ""


def describe_people_made(made: PeopleMade) -> str:
    """How many rows stood for how many people.

    >>> describe_people_made(PeopleMade(rows=6, people=3, most=3))
    '6 rows stood for 3 people, up to 3 for one.'
    """
    people = "1 person" if made.people == 1 else f"{made.people:,} people"
    rows = "1 row" if made.rows == 1 else f"{made.rows:,} rows"
    said = f"{rows} stood for {people}, up to {made.most:,} for one."
    if made.tied:
        tied = "1 of them" if made.tied == 1 else f"{made.tied:,} of them"
        said += (
            f" For {tied} several rows were the first or last, and their other cells "
            "decided."
        )
    return said


def describe_groups_beyond(finding: Finding, past: str = "beyond the limit") -> str:
    """How many groups break the promise, and how many people are in them."""
    groups, above, witness = finding.groups, finding.groups_above, finding.witness
    if not above:
        none = f"None of the {groups:,} groups is"
        return f"{'The one group is not' if groups == 1 else none} {past}."
    counted = witness.counted if witness else "rows"
    people = format_count(finding.people_above, counted)
    if groups == 1:
        return f"The one group ({people}) is {past}."
    if counted == "people":  # somebody with several rows may be in several groups
        people = f"up to {people}"
    some = f"All {groups:,}" if above == groups else f"{above:,} of {groups:,}"
    return f"{some} groups ({people}) {_conjugate(above)} {past}."


# What to do, and how far it reaches -------------------------------------------------


def advise(audit: Audit) -> list[str]:
    """What to do next."""
    steps = []
    broken = [f for f in audit.findings if f.verdict is Verdict.BREACH]
    if broken:
        said = [(_find_sentences(f), f) for f in broken]
        subjects = {s.subject for s, _ in said}
        what = subjects.pop() if len(subjects) == 1 else NEITHER
        steps.append(f"Do not release the {what}.")
        steps += dict.fromkeys(step for s, f in said for step in s.repairs(f))
        steps.append("Audit again after every change.")
        steps += dict.fromkeys(step for s, f in said for step in s.offers(f))
    for f in audit.uncovered:
        steps += _find_sentences(f).repairs(f)
    if any(f.verdict is Verdict.UNDECIDED for f in audit.findings):
        steps.append("Treat an undecided promise as broken until it is judged.")
    return steps


NEITHER = "table as it is"
"""What is not released where promises of several kinds are broken."""


def describe_reach(audit: Audit) -> list[str]:
    """Which attackers the judged promises cover, and which they do not."""
    judged = (f for f in audit.findings if f.basis)
    said = dict.fromkeys(_find_sentences(f).reach(f, audit) for f in judged)
    return [line for line in said if line]


def numbered(steps: Sequence[str]) -> list[str]:
    """Steps with their numbers."""
    return [f"{i}. {step}" for i, step in enumerate(steps, 1)]
