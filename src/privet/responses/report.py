"""What a disguised row gives away, in words."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING, Any

from privet.errors import PrivacyWarning
from privet.findings import Audit, Finding
from privet.policy import Promise
from privet.release.kinds import Sentences
from privet.report import words
from privet.report.documents.document import (
    Grid,
    Listing,
    Part,
    Picture,
    Program,
    Section,
)
from privet.report.documents.worked_examples import (
    PANDAS,
    SQL,
    R,
    quote_name,
    quote_text,
    quote_value,
    read_in_pandas,
    read_in_r,
    read_in_sql,
)
from privet.report.language import say
from privet.report.render import HISTORY, list_history
from privet.values.adversaries import Bayesian
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
    known = f" and knowing that {words.format_facts(w.knows)}" if w.knows else ""
    sure = words.format_posterior(w.belief, stated.limit)
    told = (
        f"Seeing the report {words.format_facts(w.sees)}{known}, one can be {sure} "
        f"sure that {words.escape_name(w.column)} is {words.format_cell(w.value)}; "
        f"before, {percent(w.belief.prior)}."
    )
    return f"{told} {_say_alone(finding.details, sure)}".rstrip()


def _say_alone(details: Mapping[str, Any], sure: str) -> str:
    """What that rests on: how answers hang together, or that they do not."""
    if details.get("unrelated"):
        return f"That {ASSUMED}; {TIED}: {percent(fraction(details['record']))}."
    alone = percent(fraction(details["alone"])) if "alone" in details else sure
    return "" if alone == sure else f"That is {TIED}; {UNTIED}: {alone}."


TIED = "for somebody who knows how the answers hang together"
UNTIED = "for somebody to whom the other answers say nothing about this one"
ASSUMED = "assumes that the answers declared unrelated say nothing about this one"


def say_odds(details: Mapping[str, Any]) -> str:
    """How far a report moves the odds of an answer, whatever was believed before."""
    told = (
        "Whatever somebody believed before, a report can move the odds that "
        f"{details['column']} is {details['value']} {_say_factor(details['odds'])}."
    )
    if details["unrelated"]:
        return f"{told} That {ASSUMED}; {TIED}, {_say_factor(details['record'])}."
    if details["alone"] == details["odds"]:
        return told
    return f"{told} That is {TIED}; {UNTIED}, {_say_factor(details['alone'])}."


def _say_factor(factor: str | None) -> str:
    return "without limit" if factor is None else f"by a factor of {factor}"


# A release, an estimate, an attack --------------------------------------------------


def describe_release(told: Mapping[str, Any], design: Design) -> str:
    """What was written, and what it gives away."""
    lines = [
        f"✓ Written: {_spell(told['rows'], 'disguised row')} in {told['folder']}.",
        "",
        describe_disclosure(design),
        "",
        f"Kept: {told['custody']}. The true answers stay where they are; delete them "
        "if nobody needs them any more.",
    ]
    if told["history"]:
        lines += ["", HISTORY, *(f"  {line}" for line in list_history(told["history"]))]
    return "\n".join(lines)


def describe_disclosure(design: Design) -> str:
    """What one disguised row tells: of the whole record first, then of one answer."""
    secret = [c for c in design.columns if c not in design.public]
    if not secret:
        return f"Nothing is disguised; public: {', '.join(design.public)}."
    lines = [
        "What one disguised row gives away about its person:",
        f"  the whole record, {TIED}:",
        f"    {_format_growth(design, None)}",
    ]
    if len(secret) > 1:
        lines.append(f"  one answer, {UNTIED}:")
        lines += [f"    {c}: {_format_growth(design, [c])}" for c in secret]
    if design.public:
        lines.append(f"  public: {', '.join(design.public)}")
    return "\n".join(lines)


def _format_growth(design: Design, columns: list[str] | None) -> str:
    grown = design.growth(columns)
    if grown is None:
        return "without limit (ε infinite): some truths can be told for certain"
    return (
        f"odds times {as_float(grown):.4g} at most (ε {design.epsilon(columns):.3g}); "
        f"what was thought even becomes {say_sure(Fraction(1, 2), grown)} at most"
    )


def say_sure(prior: Fraction, factor: Fraction | None) -> str:
    """How sure a belief can become, rounded up to whole percent.

    >>> say_sure(Fraction(1, 100), Fraction(9)), say_sure(Fraction(1, 2), Fraction(999))
    ('9 %', 'practically certain')
    """
    if factor is None:
        return "certain"
    sure = factor * prior / (factor * prior + 1 - prior)
    return f"{ceil(100 * sure)} %" if sure <= Fraction(99, 100) else ALMOST


ALMOST = "practically certain"


def describe_promised(design: Design) -> list[str]:
    """What a public note promises of a row: of the record, then of one answer."""
    secret = [c for c in design.columns if c not in design.public]
    grown = design.growth()
    hidden = " that is not public" if design.public else ""
    if not secret:
        return ["Nothing: every column is public."]
    if grown is None:
        lines = [
            "Nothing about whole records, since ε is infinite: somebody who knows how "
            "the answers hang together can be certain of some."
        ]
    else:
        lines = [
            f"The whole record, {TIED}: seeing a row multiplies the odds of anything "
            f"about its person{hidden} by {as_float(grown):.4g} at most (ε is "
            f"{design.epsilon():.3g}). {_list_suspicions(grown)}"
        ]
    if len(secret) > 1:
        told = (f"{c} {_say_times(design.growth([c]))}" for c in secret)
        lines.append(f"One answer, {UNTIED}: {'; '.join(told)}.")
    return lines


def _say_times(grown: Fraction | None) -> str:
    if grown is None:
        return "without limit"
    return f"by {as_float(grown):.4g}, from 50 % to {say_sure(Fraction(1, 2), grown)}"


def _list_suspicions(grown: Fraction) -> str:
    """What a suspicion becomes: 1 in 100, 1 in 10, 1 in 2."""
    told = [
        f"1 in {n} becomes {say_sure(Fraction(1, n), grown)} at most"
        for n in (100, 10, 2)
    ]
    return f"Of what was suspected before, {', '.join(told)}."


def format_estimate(what: str, e: Estimate) -> str:
    """A share and how sure it is."""
    low, high = e.interval
    text = (
        f"{what}: {_format_percent(e.value)} "
        f"({write_in_full(fraction(e.confidence))} sure from "
        f"{_format_percent(low)} to {_format_percent(high)}, {_spell(e.n, 'answer')})"
    )
    return f"{text}\n  {e.note}" if e.note else text


def describe_misfit(found: DesignMisfit) -> str:
    """Whether answers look disguised by their design; never that they are."""
    looked = _spell(found.questions, "question")
    looked += f" and {_spell(found.pairs, 'pair')} of them" if found.pairs else ""
    if not found.sign:
        return (
            "No sign that these answers were disguised otherwise than the design says "
            f"({looked} looked at)."
        )
    power = ceil(found.logarithm / log(10))
    return (
        "! These answers do not look disguised by this design: whatever is true, "
        f"chance leads to such reports of {' and '.join(found.columns)} less often "
        f"than once in 10^{-power}. Is it the right design, and are they disguised at "
        "all? Estimates from them mean nothing then."
    )


def say_unasked(column: str) -> str:
    """Where each person is asked some questions, and nobody this one."""
    return f"{column}: nobody was asked this yet."


def describe_model(told: Mapping[str, Any]) -> str:
    """What was learnt, and where it is."""
    shares = ", ".join(
        f"{label} {_format_percent(p)}" for label, p in told["classes"].items()
    )
    return "\n".join(
        [
            f"✓ Written: {told['file']}, a naive Bayes model of {told['class']} from "
            f"{_spell(len(told['attributes']), 'question')}.",
            f"  Estimated shares of the class: {shares}.",
            "  It was learnt from disguised answers alone: it tells no more of one "
            "person than they do.",
        ]
    )


def describe_accuracy(found: Estimate, column: str, majority: float) -> str:
    """How often predictions are right for true records."""
    what = f"Right about {column}, on the true records behind these answers"
    return (
        f"{format_estimate(what, found)}\n"
        f"Always saying the commonest class would be right for "
        f"{_format_percent(majority)}."
    )


def say_recovered(told: Mapping[str, Any]) -> str:
    """Which share of records a collector guesses right, in a sentence or three."""
    found = (
        f"From {told['rows']:,} rows a collector guesses "
        f"{_format_percent(told['records'])} of whole records right "
        f"(± {_format_percent(told['spread'])}), up to "
        f"{_format_percent(told['up_to'])}; an estimate by a fitted population."
    )
    beside = (
        f"Taking everybody for the commonest record is right for "
        f"{_format_percent(told['commonest'])}, taking reports as the truth for "
        f"{_format_percent(told['reported'])}."
    )
    return " ".join([found, beside, *([TOO_FEW] if told["few"] else [])])


TOO_FEW = (
    "The rows are too few to tell it more closely: count on the upper figure, and on "
    "what the design says of the whole record."
)


def describe_attack(found: Recovery) -> str:
    """Which share of records a collector guesses right."""
    lines = [
        f"A collector who has these {found.rows:,} rows and the design, and nothing "
        "else, guesses right:",
        f"  whole records: {_format_percent(found.records)} "
        f"(± {_format_percent(found.spread)}), up to {_format_percent(found.up_to)}",
        "    taking everybody for the commonest record: "
        f"{_format_percent(found.commonest)}; taking reports as the truth: "
        f"{_format_percent(found.reported)}",
    ]
    for columns, share in found.groups.items():
        most = found.answers.get(columns)
        beside = "" if most is None else f" (commonest: {_format_percent(most)})"
        lines.append(
            f"  {', '.join(columns)}: {_format_percent(share)} of people{beside}"
        )
    lines.append(f"  fitted: {found.model}. An estimate, not a guarantee.")
    return "\n".join([*lines, *([f"  {TOO_FEW}"] if found.few else [])])


def _format_percent(share: float) -> str:
    """An estimate, which is no exact number."""
    return f"{100 * share:.1f} %"


def _spell(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"


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
        lines.append(_describe_plan(plan))
        if design.public:
            lines.append(ASKED_OF_ALL.format(", ".join(design.public)))
    if not needs:
        return "\n".join(lines)
    lines.append(
        f"\nAnswers needed for an error of ± {write_in_full(fraction(error))} with "
        f"{write_in_full(fraction(confidence))} confidence, whatever the truth is:"
    )
    for need in needs:
        lines.append(f"  {need.about}: {need.answers:,} (undisguised: {need.plain:,})")
    return "\n".join(lines)


ASKED_OF_ALL = (
    "Public and asked of everybody: {}. That is no secret, so it takes no part of ε, "
    "and answers needed are the same with and without it."
)


def _describe_plan(better: Plan) -> str:
    if better.design.one_of:
        number = "one question" if better.asked == 1 else f"{better.asked} questions"
        return (
            f"\nAsk each person {number} only, drawn at random: the error is "
            f"{better.together / better.one_of:.1f} times smaller than if everybody "
            "answers everything with a part of ε."
        )
    if better.one_of < better.together:
        return (
            "\nAsk everybody everything, and disguise all answers as one: the error is "
            f"{better.together / better.one_of:.1f} times smaller than if each answer "
            "has a part of ε."
        )
    if better.one_of == float("inf"):
        return "\nAsk everybody everything, each question with its part of ε."
    return (
        "\nAsk everybody everything, each question with its part of ε: some questions "
        f"per person would make the error {better.one_of / better.together:.1f} times "
        "as large."
    )


def _describe_reach(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, by its prior."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Bayesian)
    apart = finding.details.get("unrelated")
    tied = "may know how the answers hang together"
    ties = ", and somebody who knows how answers that were declared unrelated hang"
    return (
        f"“{words.escape_name(stated.name)}” covers {stated.against.words()}, who sees "
        f"one disguised row of a person{'' if apart else f' and {tied}'}. Not covered: "
        "several disguised rows of the same person"
        f"{f'{ties} together' if apart else ''}."
    )


def _describe_collector(finding: Finding, audit: Audit) -> str:
    """Whom a promise against a collector covers."""
    return (
        f"“{words.escape_name(finding.promise.name)}” covers a collector who has these "
        "rows and the design, as far as the attack shipped here goes; it is an "
        "estimate. Not covered: somebody who knows more of the people, or another "
        "attack. What the design says of the whole record is the guarantee."
    )


SENTENCES = {
    "collector": Sentences(
        reach=_describe_collector,
        explain=words.explain_plainly,
        beyond=words.describe_groups_beyond,
        subject="disguised rows as they are",
        repairs=lambda finding: (
            "Change more answers: ask under a design with a smaller epsilon; privet "
            "plan proposes one.",
        ),
    ),
    "responses": Sentences(
        reach=_describe_reach,
        explain=explain,
        beyond=words.describe_groups_beyond,
        subject="disguised rows as they are",
        repairs=lambda finding: (
            "Change more answers: ask under a design with a smaller epsilon; privet "
            "plan proposes one.",
        ),
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
    said = [line.strip() for line in describe_disclosure(design).splitlines()]
    parts: list[Part] = [
        Grid(heads, lines, say("How answers are disguised")),
        Listing([line for line in said if line]),
    ]
    if record.get("draws"):
        parts.append(Listing([str(record["draws"])]))
    if secret:
        title = say("How often each answer stays as it was.")
        parts.append(Picture(title, lambda: release.chart("disguise")))
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
        return _write_estimates(path, column, labels, weights)
    return []


def _write_estimates(
    path: str, column: str, labels: Sequence[str], weights: Sequence[Sequence[float]]
) -> list[Program]:
    """The mean of the weights of all reports is the estimate; `weights[x][y]`."""
    why = say("Each report weighs so much for each true value; the mean is unbiased.")
    told = (
        (PANDAS, _estimate_in_pandas),
        (R, _estimate_in_r),
        (SQL, _estimate_in_sql),
    )
    return [
        Program(name, "\n".join(write(path, column, labels, weights, why)))
        for name, write in told
    ]


def _estimate_in_pandas(
    path: str,
    column: str,
    labels: Sequence[str],
    weights: Sequence[Sequence[float]],
    why: str,
) -> list[str]:
    lines = [
        f"    {quote_text(true)}: {{"
        + ", ".join(
            f"{quote_text(seen)}: {w:.10g}" for seen, w in zip(labels, row, strict=True)
        )
        + "},"
        for true, row in zip(labels, weights, strict=True)
    ]
    reports = f"table[{quote_text(column)}].dropna().astype(str)"
    return [
        "import pandas as pd",
        "",
        f"table = {read_in_pandas(path)}",
        f"# {why}",
        "weights = {",
        *lines,
        "}",
        f"reports = {reports}",
        "for value, weight in weights.items():",
        "    print(value, reports.map(weight).mean())",
    ]


def _estimate_in_r(
    path: str,
    column: str,
    labels: Sequence[str],
    weights: Sequence[Sequence[float]],
    why: str,
) -> list[str]:
    named = ", ".join(map(quote_text, labels))
    cells = ", ".join(f"{w:.10g}" for row in weights for w in row)
    return [
        f"table <- {read_in_r(path)}",
        f"# {why}",
        f"values <- c({named})",
        f"weights <- matrix(c({cells}), ncol = length(values), byrow = TRUE)",
        f"reports <- table[[{quote_text(column)}]]",
        "seen <- match(as.character(reports[!is.na(reports)]), values)",
        "setNames(rowMeans(weights[, seen]), values)",
    ]


def _estimate_in_sql(
    path: str,
    column: str,
    labels: Sequence[str],
    weights: Sequence[Sequence[float]],
    why: str,
) -> list[str]:
    shares = [
        f"  avg(CASE CAST({quote_name(column)} AS VARCHAR) "
        + " ".join(
            f"WHEN {quote_value(seen)} THEN {w:.10g}"
            for seen, w in zip(labels, row, strict=True)
        )
        + f" END) AS {quote_name(true)}"
        for true, row in zip(labels, weights, strict=True)
    ]
    return [f"-- {why}", "SELECT", ",\n".join(shares), f"FROM {read_in_sql(path)};"]
