"""Every sentence a steward reads; no arithmetic here but showing numbers.

Which attackers a promise covers, and which it does not.

Long labels of groups, made short enough to be read in a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from privet.findings import Audit, Basis, Finding, Reconstruction, Verdict, Witness
from privet.microdata import report as insiders
from privet.microdata import report as measured
from privet.policy import Measure, Promise
from privet.values.adversaries import Bayesian, Insider, Linker, listed
from privet.values.beliefs import Belief, Ceiling, Limit, Ratio, Shift
from privet.values.exact import percent, written
from privet.views import report

REACH = {
    "reconstructor": report.REACH,
    "linker": (
        "Covered: someone who sees this table and knows the listed columns of one "
        "person. Not covered: someone who knows more columns, who knows other people "
        "in the table, or who has another release about the same people."
    ),
    "bayesian": (
        "Covered: someone who takes the published numbers of the classifier at face "
        "value, whatever they know of a person's attributes. Not covered: what the "
        "predictions themselves tell of a person; attributes other than the class; "
        "someone who knows rows of the table, or several releases of it; and someone "
        "who works out the original counts from how the release was made."
    ),
    "insider": (
        "Covered: someone who sees the groups, knows who is in which, and knows as "
        "much more as the promise says: values a person does not have, other people's "
        "values, people who share the person's value. Not covered: someone who knows "
        "more, who believes some values likelier than others beforehand, or who has "
        "another release about the same people."
    ),
    "responses": (
        "Covered: someone who sees one disguised row of a person, knows what is "
        "listed, and holds the stated prior. Not covered: several disguised rows of "
        "the same person, and someone whose prior ties the answers together; "
        'prior = "any" covers that one too.'
    ),
    "measure": (
        "A measure counts how many look alike. It does not say what can be learnt "
        "about them: people who look alike may share a secret."
    ),
}
"""What a promise against each adversary covers, and what it does not."""


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

CHANCES = "chances"
"""What a witness counts who is not counted but reckoned: shares of a belief."""

SYMBOLS = {
    Verdict.SAFE: "✓",
    Verdict.BREACH: "✗",
    Verdict.UNDECIDED: "?",
    Verdict.NOT_APPLICABLE: "–",
}

BASES = {
    Basis.EXACT: "counted exactly",
    Basis.BOUND: "a proved upper bound",
    Basis.SAMPLED: "estimated from samples",
}


# The verdict ------------------------------------------------------------------------

_DONE = {
    Verdict.BREACH: "broken",
    Verdict.UNDECIDED: "undecided",
    Verdict.SAFE: "kept",
}


def headline(audit: Audit) -> str:
    """The verdict in a sentence.

    What does not apply, or is undecided beside something worse, is said too.
    """
    if audit.verdict is Verdict.NOT_APPLICABLE:
        return "Nothing was judged: no promise applies here."
    found = Counter(f.verdict for f in audit.findings)
    worst, number = found[audit.verdict], len(audit.findings)
    said = [f"{_of(worst, number)} {_DONE[audit.verdict]}"]
    if audit.verdict is Verdict.BREACH and (some := found[Verdict.UNDECIDED]):
        said.append(f"{some} {_are(some)} undecided")
    if some := found[Verdict.NOT_APPLICABLE]:
        said.append(f"{some} {'does' if some == 1 else 'do'} not apply here")
    return f"{audit.verdict.value.capitalize()}: {'; '.join(said)}."


def _of(some: int, number: int) -> str:
    if some < number:
        return f"{some} of {number} promises {_are(some)}"
    if number == 1:
        return "the promise is"
    return f"{'both' if number == 2 else f'all {number}'} promises are"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


# One finding ------------------------------------------------------------------------


def explain(finding: Finding) -> str:
    """One finding in plain words."""
    if isinstance(finding.promise, Measure):
        return _measured(finding)
    if finding.belief is None:
        return finding.note
    if finding.witness is None:
        return finding.note or (
            "Nobody in the table has a value the promise is about, so there is nothing "
            "to be sure of: 0 %."
        )
    if isinstance(finding.witness, Reconstruction):
        return report.explain(finding.witness, finding, value, plain)
    return _sure(finding.witness, finding.promise.limit)


def _sure(w: Witness, bound: Limit) -> str:
    if w.sees:
        return _seeing(w, bound)
    if w.counted == CHANCES:
        return _moved(w, bound)
    if w.attack is not None:
        return _insider(w, bound)
    who = "Someone who knows " + (
        f"that a person's {_facts(w.knows)}" if w.knows else "nothing but the table"
    )
    sure = (
        f"{who} can be {_apart(w.belief, bound)} sure ({_share(w.part, w.whole)} "
        f"{_unit(w.counted, w.whole)}) that {plain(w.column)} is {value(w.value)}."
    )
    if not w.knows:
        return sure
    before = f"{percent(w.belief.prior)} ({_share(w.prior_part, w.prior_whole)})"
    return f"{sure} Without that, {before}."


def _moved(w: Witness, bound: Limit) -> str:
    """What somebody makes of a published classifier."""
    known = f" and knows that a person's {_facts(w.knows)}" if w.knows else ""
    return (
        f"Someone who has the classifier{known} can be {_apart(w.belief, bound)} sure "
        f"that {plain(w.column)} is {value(w.value)}. "
        f"Before, {percent(w.belief.prior)}."
    )


def _insider(w: Witness, bound: Limit) -> str:
    assert w.attack is not None
    known = insiders.knowledge(w.column, w.attack, value, plain)
    whose = f"{plain(w.attack.victim)}'s" if w.attack.victim else "the person's"
    sure = (
        f"Someone who knows {known} can be {_apart(w.belief, bound)} sure that "
        f"{whose} {plain(w.column)} is {value(w.value)}."
    )
    alone = f"{percent(Fraction(w.part, w.whole))} ({_share(w.part, w.whole)} "
    everybody = f"{percent(w.belief.prior)} ({_share(w.prior_part, w.prior_whole)})"
    return (
        f"{sure} Of those who look the same, {alone}{_unit(w.counted, w.whole)}) have "
        f"it; of everybody, {everybody}."
    )


def _seeing(w: Witness, bound: Limit) -> str:
    """What a disguised row gives away."""
    known = f" and knowing that {_facts(w.knows)}" if w.knows else ""
    return (
        f"Seeing the report {_facts(w.sees)}{known}, one can be "
        f"{_apart(w.belief, bound)} sure that {plain(w.column)} is {value(w.value)}; "
        f"before, {percent(w.belief.prior)}."
    )


def _apart(belief: Belief, bound: Limit) -> str:
    """The posterior; with more digits where it would look like the limit itself."""
    level = bound.level if isinstance(bound, Ceiling) else None
    return percent(belief.posterior, unlike=level)


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def _unit(counted: str, number: int) -> str:
    one = {"rows": "row", "people": "person"}
    return one.get(counted, counted) if number == 1 else counted


def _counted(number: int, counted: str) -> str:
    return f"{number:,} {_unit(counted, number)}"


def _facts(knows: Mapping[str, str | None]) -> str:
    return listed([f"{plain(c)} is {cut_short(value(v))}" for c, v in knows.items()])


def value(cell: str | None) -> str:
    r"""A cell in a sentence; quoted where it would mislead.

    >>> value("Flu"), value(None), value("missing"), value(" x\n")
    ('Flu', 'missing', "'missing'", "' x\\n'")
    """
    if cell is None:
        return "missing"
    odd = not cell.strip() or cell != cell.strip() or not cell.isprintable()
    return repr(cell) if odd or cell == "missing" else cell


def plain(name: str) -> str:
    """A name on one line; what a terminal would obey is escaped."""
    return name if name.isprintable() else repr(name)[1:-1]


def _measured(finding: Finding) -> str:
    w = finding.witness
    if w is None or finding.value is None:
        return finding.note
    assert isinstance(finding.promise, Measure)
    facts = _facts(w.knows) if w.knows else ""
    people = _counted(w.whole, w.counted)
    return measured.sentence(finding.promise, finding.value, people, facts)


def reached(finding: Finding) -> str:
    """The belief or what was measured; empty where nothing was counted."""
    stated = finding.promise
    if isinstance(stated, Measure):
        return "" if finding.value is None else measured.number(stated, finding.value)
    return "" if finding.belief is None else _apart(finding.belief, stated.limit)


def figures(finding: Finding) -> str:
    """The limit beside what was found."""
    stated, found = finding.promise, finding.belief
    how = f", {BASES[finding.basis]}" if finding.basis else ""
    if isinstance(stated, Measure):
        got = reached(finding)
        told = f" Measured: {got}{how}." if got else ""
        return f"Level: {stated.sense} {measured.level(stated)}.{told}"
    if found is None:
        return f"Promised: {promised(stated)}."
    worst = reached(finding)
    if not isinstance(stated.limit, Ceiling):
        worst = f"from {percent(found.prior)} to {worst}"
    return f"Limit: {limit(stated.limit)}. Worst case: {worst}{how}."


def limit(bound: Limit) -> str:
    """A limit in words."""
    match bound:
        case Ceiling(level=level, strict=strict):
            return f"{'below' if strict else 'at most'} {written(level)}"
        case Shift(start=start, end=end):
            return f"not from below {written(start)} to {written(end)} or back"
        case Ratio(factor=factor):
            return f"within a factor of {factor}"


def promised(stated: Promise | Measure) -> str:
    """What was promised, as a clause."""
    if isinstance(stated, Measure):
        name = stated.kind.replace("_", "-")
        return f"{name} of {stated.sense} {measured.level(stated)}"
    return f"{_about(stated)}, against {stated.against.words()}: {limit(stated.limit)}"


def _about(promise: Promise) -> str:
    about = promise.about
    if isinstance(about, dict):
        return listed([f"{plain(c)} is {_values(v)}" for c, v in about.items()])
    if isinstance(about, tuple):
        return f"the sensitive column is {_values(about)}"
    return f"any value of {plain(about) if about else 'the sensitive column'}"


def _values(values: object) -> str:
    if isinstance(values, tuple):
        return " or ".join(value(v) for v in values)
    return (
        "any value" if values == "*" else value(None if values is None else str(values))
    )


def beyond(finding: Finding) -> str:
    """How much of the table is beyond the limit."""
    groups, above, witness = finding.groups, finding.groups_above, finding.witness
    if not groups:
        return ""
    if isinstance(witness, Reconstruction):
        return report.beyond(finding, witness)
    what = _past(finding)
    if not above:
        none = f"None of the {groups:,} groups is"
        return f"{'The one group is not' if groups == 1 else none} {what}."
    counted = witness.counted if witness else "rows"
    people = _counted(finding.people_above, counted)
    if groups == 1:
        return f"The one group ({people}) is {what}."
    if counted == "people":  # somebody with several rows may be in several groups
        people = f"up to {people}"
    some = f"All {groups:,}" if above == groups else f"{above:,} of {groups:,}"
    return f"{some} groups ({people}) {_are(above)} {what}."


def _past(finding: Finding) -> str:
    """On which side of the line a group is that breaks the promise."""
    if isinstance(finding.promise, Measure):
        least = finding.promise.sense == "at least"
        return f"{'below' if least else 'above'} the level"
    return f"beyond the limit{_by_itself(finding)}"


def _by_itself(finding: Finding) -> str:
    """Companions may be in another group; then a group alone says less."""
    stated = finding.promise
    if isinstance(stated, Measure) or not isinstance(stated.against, Insider):
        return ""
    one_by_one = stated.against.same_as and finding.groups > 1
    return ", each by itself" if one_by_one else ""


# What to do, and how far it reaches -------------------------------------------------


def advice(audit: Audit) -> list[str]:
    """What to do next."""
    steps = []
    broken = [f for f in audit.findings if f.verdict is Verdict.BREACH]
    if broken:
        what = "classifier as it is" if all(map(_is_bayesian, broken)) else NEITHER
        if all(isinstance(f.witness, Reconstruction) for f in broken):
            what = "views as they are"
        steps.append(f"Do not release the {what}.")
        steps += dict.fromkeys(step for f in broken for step in _repairs(f))
        steps.append("Audit again after every change.")
        if any(_is_bayesian(f) for f in broken):
            steps.append("Or let privet classifier flatten its numbers.")
        if any(f.witness and f.witness.counted == "people" for f in broken):
            steps.append("Make one row per person to publish it with privet publish.")
        elif any(_can_be_hidden(f) for f in broken):
            steps.append("Or let privet publish hide the values that give it away.")
    if any(f.verdict is Verdict.UNDECIDED for f in audit.findings):
        steps.append("Treat an undecided promise as broken until it is judged.")
    return steps


NEITHER = "table as it is"
"""What is not released otherwise."""


def _is_bayesian(finding: Finding) -> bool:
    stated = finding.promise
    return isinstance(stated, Promise) and isinstance(stated.against, Bayesian)


def _can_be_hidden(finding: Finding) -> bool:
    """Whether a linker could be kept in the dark by hiding what is known."""
    stated = finding.promise
    if isinstance(stated, Measure) or not isinstance(stated.against, Linker):
        return False
    prior = finding.belief.prior if finding.belief else 0
    return stated.limit.holds(Belief(prior, prior))


def _repairs(finding: Finding) -> Iterable[str]:
    """What would help against one breach."""
    stated, witness = finding.promise, finding.witness
    if isinstance(stated, Measure):
        yield (
            "Make rare combinations of the quasi columns coarser, or drop them; privet "
            "publish --method mondrian does so."
        )
        return
    if isinstance(stated.against, Insider):
        yield (
            "Make the groups of people who look the same larger and more varied "
            "(coarser quasi columns, or fewer of them); privet publish --method "
            "mondrian does so."
        )
    if isinstance(witness, Reconstruction):
        yield (
            "Share fewer columns between views, or coarser ones; privet views "
            "--propose looks for such views."
        )
    if not isinstance(stated.against, Linker) or not witness:
        return
    columns = [plain(c) for c in witness.knows]
    if not _can_be_hidden(finding):
        yield (
            f"Leave out the column {plain(witness.column)}: "
            f"{percent(witness.belief.prior)} have the value in the whole table, so no "
            "coarser table keeps the promise. Or allow more."
        )
    elif len(columns) == 1:
        yield f"Make the column {columns[0]} coarser (bins, fewer values) or drop it."
    elif columns:
        yield (
            f"Make the columns {listed(columns)} coarser (bins, fewer values), or "
            "leave one of them out."
        )


def reach(audit: Audit) -> list[str]:
    """Which attackers the judged promises cover, and which they do not."""
    kinds = dict.fromkeys(_reaching(f) for f in audit.findings if f.basis)
    return [REACH[k] for k in kinds if k in REACH]


def _reaching(finding: Finding) -> str:
    if isinstance(finding.promise, Measure):
        return "measure"
    seen = finding.witness is not None and finding.witness.sees
    return "responses" if seen else finding.promise.against.kind


def numbered(steps: Sequence[str]) -> list[str]:
    """Steps with their numbers."""
    return [f"{i}. {step}" for i, step in enumerate(steps, 1)]
