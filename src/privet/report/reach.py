"""Which attackers a promise covers, and which it does not."""

from __future__ import annotations

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
