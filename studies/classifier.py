"""Mozafari, Zaniolo 2009, section 8, done again: what flattening a classifier costs.

    python studies/classifier.py
    python studies/classifier.py mitigations

The first prints tables, and writes build/studies/classifier.csv and figures: some
minutes. The second prints what helps against inversion, and no more: a minute or two.
PRIVET_DATA names the folder of the UCI files; without it the study says so and ends.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import result_files
import uci

import privet as pv

OUT = Path("build/studies")
RICH = ">50K"
PRIOR = {"<=50K": Fraction(3, 4), RICH: Fraction(1, 4)}
RAW = ("age", "education-num", "hours-per-week")
BINS = {
    "age": [25, 35, 45, 55, 65],
    "fnlwgt": [100_000, 200_000, 300_000],
    "capital-gain": [1, 5_000, 10_000],
    "capital-loss": [1, 1_800, 2_200],
    "hours-per-week": [20, 35, 41, 50],
}
CASES = {
    "3 raw": (RAW, None),
    "8 categorical": (uci.ADULT.categorical, None),
    "13 binned": ((*uci.ADULT.categorical, *BINS), BINS),
}
ALPHAS = uci.sized((2, 10), (2,))
MODES = ("tight", "paper", "declared")


@dataclass(frozen=True)
class Line:
    """What came out of one release."""

    case: str
    mode: str
    alpha: int
    k: float
    """One over the exponent: the root the paper speaks of."""
    same: float
    """Share of test rows predicted as before."""
    accuracy: float
    precision: float
    recall: float
    f: float
    log_loss: float
    log_loss_before: float
    r: float
    """Closeness to the prior 75 : 25."""
    recovered: float
    """Share of the counts that the inverter recovers."""


def rows(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Adult's training and testing file, incomplete rows too."""
    names = list(uci.ADULT.columns)
    parts = []
    for file in uci.ADULT.files:
        part = pd.read_csv(
            folder / file, names=names, skipinitialspace=True, comment="|"
        )
        part["income"] = part["income"].str.rstrip(".")
        parts.append(part.iloc[:: uci.sized(1, 10)].reset_index(drop=True))
    return parts[0], parts[1]


def trained(case: str, train: pd.DataFrame) -> pv.NaiveBayes:
    """The original classifier, add-one smoothed."""
    names, bins = CASES[case]
    return pv.NaiveBayes(bins=bins).fit(train[list(names)], train["income"].to_numpy())


def promise(alpha: int) -> pv.Promise:
    """At most alpha/(1 + alpha) sure: with two classes, an amplification of alpha."""
    return pv.Promise(pv.Bayesian(), pv.Ceiling(Fraction(alpha, 1 + alpha)))


def policy(alpha: int) -> pv.Policy:
    """The same; what can be worked out of the counts is studied by itself."""
    known = pv.Accepted(of="inversion", why="it is studied", who="the reader")
    return pv.Policy([promise(alpha)], accepted=[known])


def measured(
    case: str, mode: str, alpha: int, model: pv.NaiveBayes, test: pd.DataFrame
) -> Line:
    """Publish, and see what is left."""
    method = pv.SafetyTransform(mode=mode)
    safe = pv.publish(model, policy(alpha), method=method)
    names, _ = CASES[case]
    matrix, truth = test[list(names)], test["income"].to_numpy()
    published, views = safe.classifier(), model.views_
    found = published.predict(matrix)
    sizes = dict(zip(views.labels, views.sizes, strict=True))
    assert safe.exponent is not None
    return Line(
        case,
        mode,
        alpha,
        float(1 / safe.exponent),
        float((found == model.predict(matrix)).mean()),
        *scores(truth, found),
        log_loss(truth, published, matrix),
        log_loss(truth, model, matrix),
        closeness(safe.card),
        float(pv.Inverter(sizes).attack(safe).right(views)),
    )


def scores(truth: Any, found: Any) -> tuple[float, float, float, float]:
    """Accuracy, and precision, recall and F of the rarer class."""
    hit = float(((found == RICH) & (truth == RICH)).sum())
    precision = hit / max(float((found == RICH).sum()), 1.0)
    recall = hit / float((truth == RICH).sum())
    f = 2 * precision * recall / max(precision + recall, 1e-12)
    return float((found == truth).mean()), precision, recall, f


def log_loss(truth: Any, model: Any, matrix: pd.DataFrame) -> float:
    """The mean of -ln p of what is true; 0.6931 is a coin."""
    shares = model.predict_proba(matrix)
    at = np.searchsorted(model.classes_, truth)
    return float(-np.log(shares[np.arange(len(at)), at]).mean())


def closeness(card: Any) -> float:
    """The least r for which every belief is r-close to the prior.

    Of two classes, one is believed least where the other is believed most.
    """
    found, (first, second) = 1.0, card.labels
    for label, other in ((first, second), (second, first)):
        high = pv.belief(card, pv.Bayesian(), {card.target: label}).posterior
        moved = high / PRIOR[label], PRIOR[other] / (1 - high)
        found = max(found, *map(float, moved))
    return found


def main(words: Sequence[str] = ()) -> int:
    """Run the study, print the tables, write the lines and the figures."""
    import classifier_others as others
    import classifier_report as report

    folder = uci.find_checked()
    if folder is None:
        return 0
    train, test = rows(folder)
    if "mitigations" in words:
        print("\n".join(others.mitigations(trained("8 categorical", train))))
        return 0
    models = {case: trained(case, train) for case in CASES}
    found = [
        measured(case, mode, alpha, models[case], test)
        for case in CASES
        for alpha in ALPHAS
        for mode in MODES
    ]
    more = report.More.of(models, train, test)
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "classifier.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(asdict(found[0])))
        writer.writeheader()
        writer.writerows(asdict(line) for line in found)
    print(report.text(found, more))
    report.draw(found, more, OUT)
    result = report.as_result(found, more)
    return 0 if result_files.keep("classifier", result) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
