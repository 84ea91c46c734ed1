"""What a disguised row gives away, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from privet.findings import Finding
from privet.policy import Promise
from privet.release.kinds import Sentences
from privet.report import words
from privet.values.exact import Number, fraction, percent, write_in_full

if TYPE_CHECKING:
    from privet.responses.attacks import Recovery
    from privet.responses.design import Design
    from privet.responses.estimate import Estimate
    from privet.responses.planning import Plan, SampleSize


def explain(finding: Finding) -> str:
    """What somebody makes of one report."""
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    known = f" and knowing that {words.format_facts(w.knows)}" if w.knows else ""
    return (
        f"Seeing the report {words.format_facts(w.sees)}{known}, one can be "
        f"{words.format_posterior(w.belief, stated.limit)} sure that "
        f"{words.escape_name(w.column)} is "
        f"{words.format_cell(w.value)}; before, {percent(w.belief.prior)}."
    )


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
    return "\n".join(lines)


def describe_disclosure(design: Design) -> str:
    """What one disguised row tells about its person, question by question."""
    secret = [c for c in design.columns if c not in design.public]
    lines = ["What one disguised row gives away about its person:"]
    for column in secret:
        lines.append(f"  {column}: ε {_format_epsilon(design, [column])}")
    lines.append(f"  the whole record: ε {_format_epsilon(design, None)}")
    if design.public:
        lines.append(f"  public: {', '.join(design.public)}")
    return "\n".join(lines)


def _format_epsilon(design: Design, columns: list[str] | None) -> str:
    grown = design.growth(columns)
    if grown is None:
        return "infinite: some truths can be told for certain"
    factor = f"odds times {float(grown):.4g} at most"
    return f"{design.epsilon(columns):.3g} ({factor})"


def format_estimate(what: str, e: Estimate) -> str:
    """A share and how sure it is."""
    low, high = e.interval
    text = (
        f"{what}: {_format_percent(e.value)} "
        f"({write_in_full(fraction(e.confidence))} sure from "
        f"{_format_percent(low)} to {_format_percent(high)}, {_spell(e.n, 'answer')})"
    )
    return f"{text}\n  {e.note}" if e.note else text


def describe_attack(found: Recovery) -> str:
    """Which share of records a collector guesses right."""
    lines = [
        f"A collector who has these {found.rows:,} rows and the design, and nothing "
        "else, guesses right:"
    ]
    for columns, share in found.groups.items():
        lines.append(f"  {', '.join(columns)}: {_format_percent(share)} of people")
    lines.append(f"  whole records: about {_format_percent(found.records)}")
    return "\n".join(lines)


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
    lines.append(
        f"\nAnswers needed for an error of ± {write_in_full(fraction(error))} with "
        f"{write_in_full(fraction(confidence))} confidence, whatever the truth is:"
    )
    for need in needs:
        lines.append(f"  {need.about}: {need.answers:,} (undisguised: {need.plain:,})")
    return "\n".join(lines)


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


SENTENCES = {
    "responses": Sentences(
        reach="Covered: someone who sees one disguised row of a person, knows what is "
        "listed, and holds the stated prior. Not covered: several disguised rows of "
        "the same person, and someone whose prior ties the answers together; "
        'prior = "any" covers that one too.',
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
