"""The sentences all kinds of release share; no arithmetic but showing numbers.

What only one kind of release has to say stands in the `report.py` of its folder and is
found by its record in `release/kinds.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privet.findings import Audit, Basis, Finding, Verdict, Witness
from privet.languages import (
    join_alternatives,
    join_words,
    mark,
    say,
    say_number,
    translate,
)
from privet.policy import Measure, Promise
from privet.policy.acceptance import Uncovered
from privet.policy.measures import AT_MOST, BELOW
from privet.values.beliefs import Belief, Ceiling, Limit, Ratio, Shift
from privet.values.exact import all_digits, percent, write_in_full
from privet.values.person_rows import PeopleMade
from privet.values.windows import DAYS, Within

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


SENSITIVE = mark(
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


VERDICTS = {
    Verdict.SAFE: mark("Safe"),
    Verdict.BREACH: mark("Breach"),
    Verdict.UNDECIDED: mark("Undecided"),
    Verdict.NOT_COVERED: mark("Not covered"),
    Verdict.NOT_APPLICABLE: mark("Not applicable"),
}

BASES = {
    Basis.EXACT: mark("counted exactly"),
    Basis.BOUND: mark("a proved upper bound"),
    Basis.SAMPLED: mark("estimated from samples"),
    Basis.MODEL: mark("the upper end of an estimate by a model"),
    Basis.ATTACK: mark("by the best attack there is here"),
}


def name_verdict(verdict: Verdict | str) -> str:
    """A verdict as a word, for people.

    >>> name_verdict("not covered")
    'Not covered'
    """
    return translate(VERDICTS[Verdict(verdict)])


# The verdict ------------------------------------------------------------------------


def write_headline(audit: Audit) -> str:
    """The verdict in a sentence.

    What does not apply, or is undecided beside something worse, is said too.
    """
    found, uncovered = Counter(f.verdict for f in audit.findings), audit.uncovered
    if audit.verdict is Verdict.NOT_APPLICABLE:
        return say("Nothing was judged: no promise applies here.")
    if audit.verdict is Verdict.NOT_COVERED:
        said = [_count_uncovered(uncovered)]
    elif not found[audit.verdict]:
        said = [translate(TOGETHER[audit.verdict])]
    else:
        said = list(_list_counts(audit, found))
    verdict = name_verdict(audit.verdict)
    return say("{verdict}: {findings}.", verdict=verdict, findings="; ".join(said))


def _list_counts(audit: Audit, found: Mapping[Verdict, int]) -> Iterator[str]:
    """How many promises the verdict is about, and what is true of the others."""
    yield _say_how_many(audit.verdict, found[audit.verdict], len(audit.findings))
    if audit.verdict is Verdict.BREACH and (some := found[Verdict.UNDECIDED]):
        yield say_number("{n} is undecided", "{n} are undecided", some)
    if audit.uncovered:
        yield _count_uncovered(audit.uncovered)
    if some := found[Verdict.NOT_APPLICABLE]:
        yield say_number("{n} does not apply here", "{n} do not apply here", some)


TOGETHER = {
    Verdict.BREACH: mark("together with earlier releases a promise is broken"),
    Verdict.UNDECIDED: mark("together with earlier releases nothing is certain"),
}
"""What is said where only several releases break a promise."""


def _count_uncovered(uncovered: Sequence[Finding]) -> str:
    """What nobody promised or accepted: columns, or that counts are worked out."""
    kinds = [f.promise.of for f in uncovered if isinstance(f.promise, Uncovered)]
    number = sum(of != "inversion" for of in kinds)
    if not number:
        return say("no promise covers inversion, and nobody accepted that")
    if "inversion" in kinds:
        return say_number(
            "no promise covers a sensitive column and inversion, and nobody "
            "accepted that",
            "no promise covers {n} sensitive columns and inversion, and "
            "nobody accepted that",
            number,
        )
    return say_number(
        "no promise covers a sensitive column, and nobody accepted that",
        "no promise covers {n} sensitive columns, and nobody accepted that",
        number,
    )


def _say_how_many(verdict: Verdict, some: int, number: int) -> str:
    if verdict is Verdict.BREACH:
        return _say_broken(some, number)
    if verdict is Verdict.UNDECIDED:
        return _say_undecided(some, number)
    if some < number:
        return say_number(
            "{n} of {all} promises is kept",
            "{n} of {all} promises are kept",
            some,
            all=number,
        )
    if number > 2:
        return say("all {n} promises are kept", n=number)
    return say("the promise is kept") if number == 1 else say("both promises are kept")


def _say_undecided(some: int, number: int) -> str:
    if some < number:
        return say_number(
            "{n} of {all} promises is undecided",
            "{n} of {all} promises are undecided",
            some,
            all=number,
        )
    if number > 2:
        return say("all {n} promises are undecided", n=number)
    return (
        say("the promise is undecided")
        if number == 1
        else say("both promises are undecided")
    )


def _say_broken(some: int, number: int) -> str:
    if some < number:
        return say_number(
            "{n} of {all} promises is broken",
            "{n} of {all} promises are broken",
            some,
            all=number,
        )
    if number > 2:
        return say("all {n} promises are broken", n=number)
    return (
        say("the promise is broken") if number == 1 else say("both promises are broken")
    )


# One finding ------------------------------------------------------------------------


def explain(finding: Finding) -> str:
    """One finding in plain words."""
    if isinstance(finding.promise, Uncovered):
        return _find_sentences(finding).explain(finding)
    note = translate(finding.note)
    if isinstance(finding.promise, Measure):
        if finding.witness is None or finding.value is None:
            return note
        return _find_sentences(finding).explain(finding)
    if finding.belief is None:
        return note
    if finding.witness is None:
        return note or say(
            "Nobody in the table has a value the promise is about, so there "
            "is nothing to be sure of: 0 %."
        )
    return _find_sentences(finding).explain(finding)


def explain_plainly(finding: Finding) -> str:
    """What was found about an adversary that has no sentence of its own."""
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    known = f" ({format_facts(w.knows)})" if w.knows else ""
    said = say(
        "{who} can be {sure} sure that {believed}. Without that, {prior}.",
        who=f"{stated.against.words()}{known}",
        sure=format_posterior(w.belief, stated.limit),
        believed=format_believed(w),
        prior=percent(w.belief.prior),
    )
    return f"{said[:1].upper()}{said[1:]}"


def describe_common_reach(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, and what no promise covers."""
    stated = finding.promise
    assert not isinstance(stated, Uncovered)
    whom = describe_promise(stated)
    if isinstance(finding.promise, Promise):
        whom = finding.promise.against.words()
    return say(
        "Covered: {whom}. Not covered: someone who knows more, or who has "
        "another release about the same people.",
        whom=whom,
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
    return say("{part} of {whole}", part=f"{part:,}", whole=f"{whole:,}")


def format_share_of(part: int, whole: int, counted: str) -> str:
    """Some of so many rows or people.

    >>> format_share_of(1, 2, "people"), format_share_of(1, 1, "rows")
    ('1 of 2 people', '1 of 1 row')
    """
    some = f"{part:,}"
    if counted == "people":
        return say_number(
            "{part} of {n} person", "{part} of {n} people", whole, part=some
        )
    if counted == "rows":
        return say_number("{part} of {n} row", "{part} of {n} rows", whole, part=some)
    return f"{format_share(part, whole)} {counted}"


def format_count(number: int, counted: str) -> str:
    """So many rows or people."""
    if counted == "people":
        return say_number("{n} person", "{n} people", number)
    if counted == "rows":
        return say_number("{n} row", "{n} rows", number)
    return f"{number:,} {counted}"


def format_prior(w: Witness) -> str:
    """How sure one would be of the witness's value knowing nothing."""
    return f"{percent(w.belief.prior)} ({format_share(w.prior_part, w.prior_whole)})"


def format_facts(knows: Mapping[str, str | None]) -> str:
    """What is known of a person, column by column."""
    return join_words(
        [format_fact(c, cut_short(format_cell(v))) for c, v in knows.items()]
    )


def format_fact(column: str, value: str) -> str:
    """That a column has a value."""
    return say("{column} is {value}", column=escape_name(column), value=value)


def format_cell(cell: str | None) -> str:
    r"""A cell in a sentence; quoted where it would mislead.

    >>> tuple(format_cell(x) for x in ("Flu", None, "missing", " x\n"))
    ('Flu', 'missing', "'missing'", "' x\\n'")
    """
    missing = say("missing")
    if cell is None:
        return missing
    odd = not cell.strip() or cell != cell.strip() or not cell.isprintable()
    return repr(cell) if odd or cell == missing else cell


def format_believed(w: Witness) -> str:
    """What is believed of somebody: a value, or between which numbers one lies."""
    if w.window is None or w.window.low == w.window.high:
        return format_fact(w.column, format_cell(w.value))
    window = format_window(w.window.low, w.window.high)
    return say("{column} lies {window}", column=escape_name(w.column), window=window)


def format_window(low: str, high: str) -> str:
    """Between which numbers something lies; or the one number."""
    if low == high:
        return format_cell(low)
    told = {"low": format_cell(low), "high": format_cell(high)}
    return say("between {low} and {high}", **told)


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
    if found > measure.level:
        return say("slightly more than {level}", level=format_level(measure))
    return say("slightly less than {level}", level=format_level(measure))


def format_bound(measure: Measure) -> str:
    """The level of a measure, and on which side of it one must stay."""
    level = format_level(measure)
    if measure.sense == AT_MOST:
        return say("at most {level}", level=level)
    if measure.sense == BELOW:
        return say("below {level}", level=level)
    return say("at least {level}", level=level)


def format_level(measure: Measure) -> str:
    """The level as the policy means it."""
    return percent(measure.level) if measure.is_share else str(measure.level)


# The limit and what was found -------------------------------------------------------


def say_name(finding: Mapping[str, Any]) -> str:
    """What a finding is called: a promise as it was named, what none covers in words.

    >>> say_name({"verdict": "not covered", "promise": "", "about": "illness"})
    'no promise covers illness'
    """
    column = finding.get("about")
    if finding["verdict"] != Verdict.NOT_COVERED or not isinstance(column, str):
        return escape_name(finding["promise"])
    if finding["promise"] == INVERSION:
        return say("no promise covers inversion")
    return say("no promise covers {column}", column=escape_name(column))


INVERSION = Uncovered("", "inversion").name
"""What a finding is called in records where nobody promised anything of inversion."""


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
    if isinstance(stated, Uncovered):
        return ""
    got = _format_reached_how(finding)
    if isinstance(stated, Measure):
        level = say("Level: {level}.", level=format_bound(stated))
        return (
            say("{level} Measured: {value}.", level=level, value=got) if got else level
        )
    if found is None:
        return say("Promised: {promise}.", promise=describe_promise(stated))
    limit = format_limit(stated.limit)
    if isinstance(stated.limit, Ceiling):
        return say("Limit: {limit}. Worst case: {worst}.", limit=limit, worst=got)
    return say(
        "Limit: {limit}. Worst case: from {prior} to {worst}.",
        limit=limit,
        prior=percent(found.prior),
        worst=got,
    )


def _format_reached_how(finding: Finding) -> str:
    """The belief or what was measured, and how it was found out."""
    got = format_reached(finding)
    if not got or not finding.basis:
        return got
    return f"{got}, {translate(BASES[finding.basis])}"


def format_limit(bound: Limit) -> str:
    """A limit in words."""
    match bound:
        case Ceiling(level=level, strict=strict):
            told = write_in_full(level)
            if strict:
                return say("below {level}", level=told)
            return say("at most {level}", level=told)
        case Shift(start=start, end=end):
            return say(
                "not from below {start} to {end} or back",
                start=write_in_full(start),
                end=write_in_full(end),
            )
        case Ratio(factor=factor):
            return say("within a factor of {factor}", factor=factor)


def describe_promise(stated: Promise | Measure) -> str:
    """What was promised, as a clause."""
    if isinstance(stated, Measure):
        name = stated.kind.replace("_", "-")
        return say("{measure} of {level}", measure=name, level=format_bound(stated))
    return say(
        "{about}, against {whom}: {limit}",
        about=_describe_about(stated),
        whom=stated.against.words(),
        limit=format_limit(stated.limit),
    )


def _describe_about(promise: Promise) -> str:
    about, subject = promise.about, translate(promise.against.subject)
    if about is None and not promise.against.about_is:
        return subject
    if isinstance(about, dict):
        return join_words([_describe_wanted(c, v) for c, v in about.items()])
    if isinstance(about, tuple):
        return say("the sensitive column is {value}", value=_format_values(about))
    return say("any value of {column}", column=escape_name(about) if about else subject)


def format_within(size: Within) -> str:
    """How wide windows are, for people."""
    if size.unit != DAYS:
        return str(size)
    if size.size == 1:
        return say("1 day")
    return say("{n} days", n=all_digits(size.size))


def _describe_wanted(column: str, values: object) -> str:
    if isinstance(values, Within):
        return say(
            "{column} to within {size}",
            column=escape_name(column),
            size=format_within(values),
        )
    return format_fact(column, _format_values(values))


def _format_values(values: object) -> str:
    if isinstance(values, tuple):
        return join_alternatives([format_cell(v) for v in values])
    return (
        say("any value")
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
    said = say(
        "{rows} stood for {people}, up to {most} for one.",
        rows=format_count(made.rows, "rows"),
        people=format_count(made.people, "people"),
        most=f"{made.most:,}",
    )
    if not made.tied:
        return said
    tied = say_number(
        "For {n} of them several rows were the first or last, and their "
        "other cells decided.",
        "For {n} of them several rows were the first or last, and their "
        "other cells decided.",
        made.tied,
    )
    return f"{said} {tied}"


def describe_groups_beyond(finding: Finding, past: str = "") -> str:
    """How many groups break the promise, and how many people are in them."""
    groups, above, witness = finding.groups, finding.groups_above, finding.witness
    past = past or say("beyond the limit")
    if not above:
        return say_number(
            "The one group is not {past}.",
            "None of the {n} groups is {past}.",
            groups,
            past=past,
        )
    counted = witness.counted if witness else "rows"
    people = format_count(finding.people_above, counted)
    if groups == 1:
        return say("The one group ({people}) is {past}.", people=people, past=past)
    if counted == "people":  # somebody with several rows may be in several groups
        people = say("up to {people}", people=people)
    if above == groups:
        return say(
            "All {groups} groups ({people}) are {past}.",
            groups=f"{groups:,}",
            people=people,
            past=past,
        )
    return say_number(
        "{n} of {groups} groups ({people}) is {past}.",
        "{n} of {groups} groups ({people}) are {past}.",
        above,
        groups=f"{groups:,}",
        people=people,
        past=past,
    )


# What to do, and how far it reaches -------------------------------------------------


def advise(audit: Audit) -> list[str]:
    """What to do next."""
    steps = []
    broken = [f for f in audit.findings if f.verdict is Verdict.BREACH]
    if broken:
        said = [(_find_sentences(f), f) for f in broken]
        subjects = {s.subject for s, _ in said}
        what = subjects.pop() if len(subjects) == 1 else NEITHER
        steps.append(say("Do not release the {subject}.", subject=translate(what)))
        steps += dict.fromkeys(step for s, f in said for step in s.repairs(f))
        steps.append(say("Audit again after every change."))
        steps += dict.fromkeys(step for s, f in said for step in s.offers(f))
    for f in audit.uncovered:
        steps += _find_sentences(f).repairs(f)
    if any(f.verdict is Verdict.UNDECIDED for f in audit.findings):
        steps.append(say("Treat an undecided promise as broken until it is judged."))
    return steps


NEITHER = mark("table as it is")
"""What is not released where promises of several kinds are broken."""


def describe_reach(audit: Audit) -> list[str]:
    """Which attackers the judged promises cover, and which they do not."""
    judged = (f for f in audit.findings if f.basis)
    said = dict.fromkeys(_find_sentences(f).reach(f, audit) for f in judged)
    return [line for line in said if line]


def numbered(steps: Sequence[str]) -> list[str]:
    """Steps with their numbers."""
    return [f"{i}. {step}" for i, step in enumerate(steps, 1)]
