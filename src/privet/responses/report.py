"""What a disguised row gives away, in words."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING, Any

from privet.display import draw_value
from privet.errors import PrivacyWarning
from privet.findings import Audit, Finding
from privet.languages import (
    join_all,
    mark,
    say,
    say_number,
    translate,
)
from privet.policy import Promise
from privet.release.kinds import Sentences
from privet.report import words
from privet.report.documents.document import (
    Grid,
    Listing,
    Paragraph,
    Part,
    Picture,
    Program,
    Section,
)
from privet.report.documents.worked_examples import write_estimates
from privet.report.render import HISTORY, list_history
from privet.values.adversaries import (
    Bayesian,
)
from privet.values.exact import Number, as_float, fraction, percent, write_in_full

if TYPE_CHECKING:
    from privet.responses.design import Design
    from privet.responses.design_misfit import DesignMisfit
    from privet.responses.estimate import Estimate
    from privet.responses.planning import Plan, SampleSize
    from privet.responses.recovery.attacks import Recovery
    from privet.responses.release import Responses


def explain(finding: Finding) -> str:
    """What somebody makes of one report."""
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    sure = words.format_posterior(w.belief, stated.limit)
    told = {
        "report": words.format_facts(w.sees),
        "sure": sure,
        "believed": words.format_fact(w.column, words.format_cell(w.value)),
        "prior": percent(w.belief.prior),
    }
    if w.knows:
        facts = words.format_facts(w.knows)
        said = say(
            "Seeing the report {report} and knowing that {facts}, one can be "
            "{sure} sure that {believed}; before, {prior}.",
            facts=facts,
            **told,
        )
    else:
        said = say(
            "Seeing the report {report}, one can be {sure} sure that "
            "{believed}; before, {prior}.",
            **told,
        )
    return f"{said} {_say_alone(finding.details, sure)}".rstrip()


def _say_alone(details: Mapping[str, Any], sure: str) -> str:
    """What that rests on: how answers hang together, or that they do not."""
    if details.get("unrelated"):
        return say(
            "That assumes that the answers declared unrelated say nothing "
            "about this one; for somebody who knows how the answers hang "
            "together: {record}.",
            record=percent(fraction(details["record"])),
        )
    alone = percent(fraction(details["alone"])) if "alone" in details else sure
    if alone == sure:
        return ""
    return say(
        "That is for somebody who knows how the answers hang together; for "
        "somebody to whom the other answers say nothing about this one: "
        "{alone}.",
        alone=alone,
    )


TIED = mark("for somebody who knows how the answers hang together")
UNTIED = mark("for somebody to whom the other answers say nothing about this one")


def say_odds(details: Mapping[str, Any]) -> str:
    """How far a report moves the odds of an answer, whatever was believed before."""
    told = say(
        "Whatever somebody believed before, a report can move the odds that "
        "{believed} {factor}.",
        believed=words.format_fact(details["column"], details["value"]),
        factor=_say_factor(details["odds"]),
    )
    if details["unrelated"]:
        more = say(
            "That assumes that the answers declared unrelated say nothing "
            "about this one; for somebody who knows how the answers hang "
            "together, {factor}.",
            factor=_say_factor(details["record"]),
        )
    elif details["alone"] == details["odds"]:
        return told
    else:
        more = say(
            "That is for somebody who knows how the answers hang together; "
            "for somebody to whom the other answers say nothing about this "
            "one, {factor}.",
            factor=_say_factor(details["alone"]),
        )
    return f"{told} {more}"


def _say_factor(factor: str | None) -> str:
    if factor is None:
        return say("without limit")
    return say("by a factor of {factor}", factor=factor)


# A release, an estimate, an attack --------------------------------------------------


def describe_release(told: Mapping[str, Any], design: Design) -> str:
    """What was written, and what it gives away."""
    lines = [
        say_number(
            "✓ Written: {n} disguised row in {folder}.",
            "✓ Written: {n} disguised rows in {folder}.",
            told["rows"],
            folder=told["folder"],
        ),
        "",
        describe_disclosure(design),
        "",
        say(
            "Kept: {custody}. The true answers stay where they are; delete "
            "them if nobody needs them any more.",
            custody=told["custody"],
        ),
    ]
    if told["history"]:
        earlier = (f"  {line}" for line in list_history(told["history"]))
        lines += ["", translate(HISTORY), *earlier]
    return "\n".join(lines)


def describe_disclosure(design: Design) -> str:
    """What one disguised row tells: of the whole record first, then of one answer."""
    lines: list[str] = []
    for head, below in _list_disclosed(design):
        indent = "  " * bool(lines)
        lines += [f"{indent}{head}", *(f"    {line}" for line in below)]
    return "\n".join(lines)


def _list_disclosed(design: Design) -> list[tuple[str, list[str]]]:
    """The same as headings with their lines; the first is that of all."""
    secret = [c for c in design.columns if c not in design.public]
    public = ", ".join(design.public)
    if not secret:
        said = say("Nothing is disguised; public: {columns}.", columns=public)
        return [(said, [])]
    told: list[tuple[str, list[str]]] = [
        (say("What one disguised row gives away about its person:"), []),
        (
            say("the whole record, {whom}:", whom=translate(TIED)),
            [_format_growth(design, None)],
        ),
    ]
    if len(secret) > 1:
        lines = [f"{c}: {_format_growth(design, [c])}" for c in secret]
        told.append((say("one answer, {whom}:", whom=translate(UNTIED)), lines))
    if design.public:
        told.append((say("public: {columns}", columns=public), []))
    return told


def _format_growth(design: Design, columns: list[str] | None) -> str:
    grown = design.growth(columns)
    if grown is None:
        return say("without limit (ε infinite): some truths can be told for certain")
    return say(
        "odds times {factor} at most (ε {epsilon}); what was thought even "
        "becomes {sure} at most",
        factor=f"{as_float(grown):.4g}",
        epsilon=f"{design.epsilon(columns):.3g}",
        sure=say_sure(Fraction(1, 2), grown),
    )


def say_sure(prior: Fraction, factor: Fraction | None) -> str:
    """How sure a belief can become, rounded up to whole percent.

    >>> say_sure(Fraction(1, 100), Fraction(9)), say_sure(Fraction(1, 2), Fraction(999))
    ('9 %', 'practically certain')
    """
    if factor is None:
        return say("certain")
    sure = factor * prior / (factor * prior + 1 - prior)
    return f"{ceil(100 * sure)} %" if sure <= Fraction(99, 100) else translate(ALMOST)


ALMOST = mark("practically certain")


def describe_promised(design: Design) -> list[str]:
    """What a public note promises of a row: of the record, then of one answer."""
    secret = [c for c in design.columns if c not in design.public]
    grown = design.growth()
    if not secret:
        return [say("Nothing: every column is public.")]
    lines = [
        say(
            "Nothing about whole records, since ε is infinite: somebody who "
            "knows how the answers hang together can be certain of some."
        )
    ]
    if grown is not None:
        lines = [f"{_say_record(design, grown)} {_list_suspicions(grown)}"]
    if len(secret) > 1:
        told = "; ".join(f"{c} {_say_times(design.growth([c]))}" for c in secret)
        lines.append(
            say("One answer, {whom}: {answers}.", whom=translate(UNTIED), answers=told)
        )
    return lines


def _say_record(design: Design, grown: Fraction) -> str:
    """How far a row moves what is believed of the whole record."""
    told = {
        "whom": translate(TIED),
        "factor": f"{as_float(grown):.4g}",
        "epsilon": f"{design.epsilon():.3g}",
    }
    if design.public:
        return say(
            "The whole record, {whom}: seeing a row multiplies the odds of "
            "anything about its person that is not public by {factor} at "
            "most (ε is {epsilon}).",
            **told,
        )
    return say(
        "The whole record, {whom}: seeing a row multiplies the odds of "
        "anything about its person by {factor} at most (ε is {epsilon}).",
        **told,
    )


def _say_times(grown: Fraction | None) -> str:
    if grown is None:
        return say("without limit")
    return say(
        "by {factor}, from 50 % to {sure}",
        factor=f"{as_float(grown):.4g}",
        sure=say_sure(Fraction(1, 2), grown),
    )


def _list_suspicions(grown: Fraction) -> str:
    """What a suspicion becomes: 1 in 100, 1 in 10, 1 in 2."""
    told = [
        say(
            "1 in {n} becomes {sure} at most", n=n, sure=say_sure(Fraction(1, n), grown)
        )
        for n in (100, 10, 2)
    ]
    return say("Of what was suspected before, {beliefs}.", beliefs=", ".join(told))


def format_estimate(what: str, e: Estimate) -> str:
    """A share and how sure it is."""
    low, high = e.interval
    text = say_number(
        "{what}: {share} ({confidence} sure from {low} to {high}, {n} answer)",
        "{what}: {share} ({confidence} sure from {low} to {high}, {n} answers)",
        e.n,
        what=what,
        share=_format_percent(e.value),
        confidence=write_in_full(fraction(e.confidence)),
        low=_format_percent(low),
        high=_format_percent(high),
    )
    return f"{text}\n  {translate(e.note)}" if e.note else text


def describe_misfit(found: DesignMisfit) -> str:
    """Whether answers look disguised by their design; never that they are."""
    looked = say_number("{n} question", "{n} questions", found.questions)
    if found.pairs:
        looked = say_number(
            "{questions} and {n} pair of them",
            "{questions} and {n} pairs of them",
            found.pairs,
            questions=looked,
        )
    if not found.sign:
        return say(
            "No sign that these answers were disguised otherwise than the "
            "design says ({looked} looked at).",
            looked=looked,
        )
    columns = join_all(found.columns)
    power = -ceil(found.logarithm / log(10))
    return say(
        "! These answers do not look disguised by this design: whatever is "
        "true, chance leads to such reports of {columns} less often than "
        "once in 10^{power}. Is it the right design, and are they disguised "
        "at all? Estimates from them mean nothing then.",
        columns=columns,
        power=power,
    )


def say_unasked(column: str) -> str:
    """Where each person is asked some questions, and nobody this one."""
    return say("{column}: nobody was asked this yet.", column=column)


def describe_model(told: Mapping[str, Any]) -> str:
    """What was learnt, and where it is."""
    shares = ", ".join(
        f"{label} {_format_percent(p)}" for label, p in told["classes"].items()
    )
    return "\n".join(
        [
            say_number(
                "✓ Written: {file}, a naive Bayes model of {column} from {n} question.",
                "✓ Written: {file}, a naive Bayes model of {column} from {n} "
                "questions.",
                len(told["attributes"]),
                file=told["file"],
                column=told["class"],
            ),
            "  " + say("Estimated shares of the class: {shares}.", shares=shares),
            "  "
            + say(
                "It was learnt from disguised answers alone: it tells no "
                "more of one person than they do."
            ),
        ]
    )


def describe_accuracy(found: Estimate, column: str, majority: float) -> str:
    """How often predictions are right for true records."""
    what = say(
        "Right about {column}, on the true records behind these answers", column=column
    )
    most = say(
        "Always saying the commonest class would be right for {share}.",
        share=_format_percent(majority),
    )
    return f"{format_estimate(what, found)}\n{most}"


def say_recovered(told: Mapping[str, Any]) -> str:
    """Which share of records a collector guesses right, in a sentence or three."""
    shares = {k: _format_percent(told[k]) for k in ("records", "spread", "up_to")}
    found = say(
        "From {rows} rows a collector guesses {records} of whole records "
        "right (± {spread}), up to {up_to}; an estimate by a fitted "
        "population.",
        rows=f"{told['rows']:,}",
        **shares,
    )
    beside = say(
        "Taking everybody for the commonest record is right for {commonest}, "
        "taking reports as the truth for {reported}.",
        commonest=_format_percent(told["commonest"]),
        reported=_format_percent(told["reported"]),
    )
    return " ".join([found, beside, *([translate(TOO_FEW)] if told["few"] else [])])


TOO_FEW = mark(
    "The rows are too few to tell it more closely: count on the upper "
    "figure, and on what the design says of the whole record."
)


def describe_attack(found: Recovery) -> str:
    """Which share of records a collector guesses right."""
    shares = {
        k: _format_percent(getattr(found, k))
        for k in ("records", "spread", "up_to", "commonest", "reported")
    }
    lines = [
        say(
            "A collector who has these {rows} rows and the design, and "
            "nothing else, guesses right:",
            rows=f"{found.rows:,}",
        ),
        "  " + say("whole records: {records} (± {spread}), up to {up_to}", **shares),
        "    "
        + say(
            "taking everybody for the commonest record: {commonest}; taking "
            "reports as the truth: {reported}",
            **shares,
        ),
    ]
    for columns, share in found.groups.items():
        most = found.answers.get(columns)
        told = {"columns": ", ".join(columns), "share": _format_percent(share)}
        line = say("{columns}: {share} of people", **told)
        if most is not None:
            line = say(
                "{columns}: {share} of people (commonest: {most})",
                most=_format_percent(most),
                **told,
            )
        lines.append(f"  {line}")
    lines.append(
        "  " + say("fitted: {model}. An estimate, not a guarantee.", model=found.model)
    )
    return "\n".join([*lines, *([f"  {translate(TOO_FEW)}"] if found.few else [])])


def _format_percent(share: float) -> str:
    """An estimate, which is no exact number."""
    return f"{100 * share:.1f} %"


# A plan -----------------------------------------------------------------------------


def describe_survey(
    design: Design,
    plan: Plan | None,
    needs: Sequence[SampleSize],
    *,
    error: Number,
    confidence: float,
) -> str:
    """What a design gives away, what was planned, and how many answers it needs."""
    lines = [describe_disclosure(design)]
    if plan is not None:
        lines.append(f"\n{_describe_plan(plan)}")
        if design.public:
            lines.append(say(ASKED_OF_ALL, columns=", ".join(design.public)))
    if not needs:
        return "\n".join(lines)
    lines.append(
        "\n"
        + say(
            "Answers needed for an error of ± {error} with {confidence} "
            "confidence, whatever the truth is:",
            error=write_in_full(fraction(error)),
            confidence=write_in_full(fraction(confidence)),
        )
    )
    for need in needs:
        lines.append(
            "  "
            + say(
                "{about}: {answers} (undisguised: {plain})",
                about=need.about,
                answers=f"{need.answers:,}",
                plain=f"{need.plain:,}",
            )
        )
    return "\n".join(lines)


ASKED_OF_ALL = mark(
    "Public and asked of everybody: {columns}. That is no secret, so it "
    "takes no part of ε, and answers needed are the same with and without it."
)


def _describe_plan(better: Plan) -> str:
    if better.design.one_of:
        return say_number(
            "Ask each person one question only, drawn at random: the error "
            "is {times} times smaller than if everybody answers everything "
            "with a part of ε.",
            "Ask each person {n} questions only, drawn at random: the error "
            "is {times} times smaller than if everybody answers everything "
            "with a part of ε.",
            better.asked,
            times=f"{better.together / better.one_of:.1f}",
        )
    if better.one_of < better.together:
        return say(
            "Ask everybody everything, and disguise all answers as one: the "
            "error is {times} times smaller than if each answer has a part "
            "of ε.",
            times=f"{better.together / better.one_of:.1f}",
        )
    if better.one_of == float("inf"):
        return say("Ask everybody everything, each question with its part of ε.")
    return say(
        "Ask everybody everything, each question with its part of ε: some "
        "questions per person would make the error {times} times as large.",
        times=f"{better.one_of / better.together:.1f}",
    )


def _describe_reach(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, by its prior."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Bayesian)
    told = {"name": words.escape_name(stated.name), "whom": stated.against.words()}
    if finding.details.get("unrelated"):
        return say(
            "“{name}” covers {whom}, who sees one disguised row of a person. "
            "Not covered: several disguised rows of the same person, and "
            "somebody who knows how answers that were declared unrelated "
            "hang together.",
            **told,
        )
    return say(
        "“{name}” covers {whom}, who sees one disguised row of a person and "
        "may know how the answers hang together. Not covered: several "
        "disguised rows of the same person.",
        **told,
    )


def _describe_collector(finding: Finding, audit: Audit) -> str:
    """Whom a promise against a collector covers."""
    return say(
        "“{name}” covers a collector who has these rows and the design, as "
        "far as the attack shipped here goes; it is an estimate. Not "
        "covered: somebody who knows more of the people, or another attack. "
        "What the design says of the whole record is the guarantee.",
        name=words.escape_name(finding.promise.name),
    )


def _repair_design(finding: Finding) -> Sequence[str]:
    """What would help where a disguised row tells too much."""
    return (
        say(
            "Change more answers: ask under a design with a smaller epsilon; "
            "privet plan proposes one."
        ),
    )


SENTENCES = {
    "collector": Sentences(
        reach=_describe_collector,
        explain=words.explain_plainly,
        beyond=words.describe_groups_beyond,
        subject=mark("disguised rows as they are"),
        repairs=_repair_design,
    ),
    "responses": Sentences(
        reach=_describe_reach,
        explain=explain,
        beyond=words.describe_groups_beyond,
        subject=mark("disguised rows as they are"),
        repairs=_repair_design,
    ),
}
"""What is said of findings about disguised rows."""


# Documents --------------------------------------------------------------------------


def describe_work(release: Responses, record: Mapping[str, Any]) -> list[Section]:
    """How answers were disguised, what a row gives away, and what that costs."""
    design = release.design
    secret = [c for c in design.columns if c not in design.public]
    heads = (say("Question"), say("Values"), say("Odds move at most by"))
    lines = [
        (
            words.escape_name(c),
            str(len(design.question(c))),
            say("public") if c in design.public else _say_moved(design, c),
        )
        for c in design.columns
    ]
    parts: list[Part] = [Grid(heads, lines, say("How answers are disguised"))]
    for head, below in _list_disclosed(design):
        parts.append(Paragraph(f"{head[:1].upper()}{head[1:]}"))
        parts += [Listing(below)] * bool(below)
    if record.get("draws"):
        parts.append(Listing([translate(str(record["draws"]))]))
    if secret:
        title = say("How often each answer stays as it was.")
        parts.append(Picture(title, lambda: draw_value(release, "disguise")))
    return [Section("work", say("What was done, and what it cost"), parts)]


def _say_moved(design: Design, column: str) -> str:
    grown = design.growth([column])
    return say("without limit") if grown is None else f"{as_float(grown):.4g}"


MOST_WEIGHTS = 12
"""Values of a question whose estimate is written out."""


def write_examples(manifest: Mapping[str, Any]) -> list[Program]:
    """How recipients estimate the shares of a question: each report weighs so much."""
    from privet.responses.design import Design

    with warnings.catch_warnings():  # said when the design was made
        warnings.simplefilter("ignore", PrivacyWarning)
        design = Design.from_dict(manifest["design"])
    path = manifest["files"][0]["path"]
    for column in design.columns:
        labels = list(map(str, design.question(column).values))
        pieces = design.pieces([column])
        if column in design.public or len(labels) > MOST_WEIGHTS or len(pieces) != 1:
            continue
        undo = pieces[0].channel.inverse(pieces[0].size)
        if pieces[0].columns != (column,):
            continue
        weights = [[float(cell) for cell in row] for row in undo]
        return write_estimates(path, column, labels, weights)
    return []
