"""What a disguised row gives away, in words."""

from __future__ import annotations

from privet.findings import Finding
from privet.policy import Promise
from privet.release.kinds import Sentences
from privet.report import words
from privet.values.exact import percent


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
