"""The files of a published classifier, field by field, for the reference."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import privet as pv
from privet.classifier.count import count_views

FILES = {
    "scorecard.json": "The classifier: points to add.",
    "counts.json": "With `--counts`: whole counts with the scorecard's beliefs.",
    "table.parquet": "With `--rows`: synthetic rows.",
    "view-01.parquet, …": "With `--views`: the same rows, one file of two columns per "
    "attribute, each shuffled on its own.",
}

CLASSIFIER_FIELDS = {
    "kind": "`classifier`.",
    "files.rows": "How many synthetic rows it has; 0 for the other files.",
    "columns.role": "`attribute` or `target`.",
    "columns.type": "What the texts of its values are.",
    "columns.values": "How many values an attribute has.",
    "method": "`safety transform`, `extended safety transform`, or the paper's.",
    "keeps": "What is kept of the original's predictions, in words; where close calls "
    "may flip, the odds within which they may.",
    "flattened": "What users must know: probabilities are not the original's.",
    "covers": "Whom each promise covers.",
    "covers.promise": "Its name.",
    "covers.who": "Whom it covers, in words.",
    "covers.knows_all": "How sure somebody can be who knows all attributes, where the "
    "promise is against somebody who takes the unknown for something.",
    "inversion": "Promises against inversion, kept as far as the best attack tells.",
    "inversion.name": "The promise.",
    "inversion.exactly": "The share of original counts that may be got exactly.",
    "inversion.near": "How near a guess is, and the share that may be so near.",
    "inversion.verdict": "`safe`.",
    "inversion.basis": "`attack`: the best attack, told the exponent, got no more.",
    "accepted": "What is not promised and accepted all the same.",
    "accepted.of": "`inversion`.",
    "accepted.why": "The reason.",
    "privacy": "Of the noise on the counts, where there is some.",
    "privacy.epsilon": "Its privacy loss.",
    "privacy.delta": "But for this chance.",
    "privacy.rho": "Or its zero-concentrated loss.",
    "privacy.rows_per_person": "For adding or removing a person with so many rows …",
    "privacy.heaviest": "… that count so much at most.",
    "privacy.noise": "`laplace` or `gauss`.",
    "privacy.values": "Whether the values were `declared`, or `selected` by noise.",
    "synthetic": "Of synthetic rows, where there are some.",
    "synthetic.rows": "How many there are.",
    "synthetic.odds": "Classes whose published odds are within this factor may change "
    "places.",
    "synthetic.flipped": "How many tuples are predicted otherwise, and of how many; "
    "null: too many to look at.",
    "promises.prior": "What is believed of each class beforehand, where not uniform.",
    "promises.from": "The limit: who believed less than this must not come to believe "
    "…",
    "promises.to": "… as much as this, nor the other way round.",
    "promises.within": "Or: beliefs within this factor of the prior.",
    "promises.basis": "`bound`: no belief is stronger. `exact`: it was computed.",
}
"""What the manifest of a classifier has of its own, or in another sense."""

SCORECARD_FIELDS = {
    "form": "`privet scorecard 1`.",
    "how": "How to predict with it, in words.",
    "target": "What is predicted.",
    "target_type": "What the names of the classes are: `integer`, `number` or "
    "`boolean`; without it they are texts.",
    "classes": "Its values, the weakest first: with equal sums, which never occur, the "
    "last would win.",
    "scale": "So many points double a belief.",
    "base": "Points of each class before anything is known.",
    "rule": "With a declared rule only: points that are added for the prediction, not "
    "for the belief.",
    "attributes": "The columns it looks at.",
    "attributes.name": "The column.",
    "attributes.type": "What the texts of its values are: `text`, `integer`, `number`, "
    "`date` or `datetime`.",
    "attributes.edges": "Public cut points, where values are bins.",
    "attributes.values": "Its values.",
    "attributes.values.value": "A value; null: missing.",
    "attributes.values.points": "Its points, one whole number per class, in the order "
    "of `classes`. All are multiples of the number of classes, and the beliefs of all "
    "values of an attribute add up to 1 in each class, nearly.",
}

CUSTODY_FIELDS = {
    "custody": "The form of this document: 1.",
    "kind": "`classifier`.",
    "sensitive": "That it holds the private counts.",
    "made": "When.",
    "source": "The files that were counted, and their digests.",
    "signoff": "Who allowed the release, where the policy says so.",
    "accepted": "What was accepted, and by whom.",
    "method": "How it was made safe.",
    "options": "How the method was set, as texts.",
    "counts": "The original counts; `target_type` as in the scorecard; `dropped`: rows "
    "that were left out, since they have no class.",
    "prepared": "The counts whose predictions are kept: smoothed, with noise, or those "
    "of the synthetic rows.",
    "certificate": "Why the predictions are kept.",
    "certificate.exponent": "What scores were raised to, a fraction in text.",
    "certificate.bits": "Points are binary logarithms times two to this.",
    "certificate.gap": "B: different scores differ by at least a factor of 1 + 1/B.",
    "certificate.gap_from": "`tuples` or `integers`: how that is known.",
    "certificate.shifts": "By how many points the belief in each class was moved.",
    "certificate.coarse": "Whether close calls may flip.",
    "certificate.jitter": "By how many points every number was moved at most.",
    "certificate.gauge": "Points that went from values to the base, by attribute and "
    "class.",
    "certificate.tight": "With three and more classes, why the exponent is not larger: "
    "the next larger one, who passes which limit there, and how much was looked at.",
    "certificate.predicted": "The classes of which the best is kept, by index, where a "
    "step of the staircase was published; null: all rankings are kept.",
    "synthetic": "Exponent, margin and counts of the synthetic rows, or null.",
    "policy": "The policy, as TOML.",
    "history": "What was known of earlier releases, and what they tell together.",
    "before": "What could have been learnt from the original.",
    "after": "What can be learnt from the release.",
    "manifest_sha256": "Which manifest it belongs to.",
}

POLICY = """\
title = "Ratings, published model"

[columns]
quasi  = ["job"]
target = "rating"
weight = "count"
drop = ["country", "child", "bankruptcy"]

[domain]
job    = { values = ["Clerk", "Cook", "Trader"], other = "another" }
rating = ["B", "G"]

[[promise]]
name    = "the classifier moves no mind"
against = "bayesian"
about   = "rating"
from    = 0.51
to      = 0.8

[[accepted]]
of  = "inversion"
why = "the counts are in the annual report"
who = "A. Steward"
"""


def classifier_sample(
    **extras: Any,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Manifest, scorecard and custody record of a classifier of the bank table."""
    from privet.demo.tables import bank_path
    from privet.release.audit import bind_table

    policy = pv.Policy.from_toml(POLICY)
    method = extras.pop("method", pv.SafetyTransform(bits=6))
    with (
        tempfile.TemporaryDirectory() as folder,
        pv.read(str(bank_path())) as table,
    ):
        place = Path(folder)
        views = count_views(bind_table(table, policy), smoothing=1)
        made = pv.publish(views, policy, method=method)
        made = made.write(place / "out", custody=place / "vault", **extras)
        card = json.loads((place / "out" / "scorecard.json").read_text("utf-8"))
        custody = json.loads((place / "vault" / "custody.json").read_text("utf-8"))
        return dict(made.manifest), card, custody
