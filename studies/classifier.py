"""Mozafari, Zaniolo 2009, section 8, done again: what flattening a classifier costs.

    python studies/classifier.py

Prints tables, and writes build/studies/classifier.csv and figures. PRIVET_DATA names
the folder of the UCI files; without it the study says so and ends.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import uci

import privet as pv
from privet.audits.amplification import amplification
from privet.audits.extremes import extreme
from privet.publishers.safety import MODES

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
ALPHAS = (2, 10)
SIZES = (2, 5, 10, 50, 100, 200, 500)
"""k of k-anonymity, as in the paper's Figure 9."""


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
        parts.append(part)
    return parts[0], parts[1]


def trained(case: str, train: pd.DataFrame) -> pv.NaiveBayes:
    """The original classifier, add-one smoothed."""
    names, bins = CASES[case]
    return pv.NaiveBayes(bins=bins).fit(train[list(names)], train["income"].to_numpy())


def promise(alpha: int) -> pv.Promise:
    """From 1/2 to alpha/(1 + alpha) allows an amplification of alpha."""
    return pv.Promise(pv.Bayesian(), pv.Shift("1/2", Fraction(alpha, 1 + alpha)))


def measured(
    case: str, mode: str, alpha: int, model: pv.NaiveBayes, test: pd.DataFrame
) -> Line:
    """Publish, and see what is left."""
    method = pv.SafetyTransform(mode=mode)
    safe = pv.publish(model, [promise(alpha)], method=method)
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
    """The least r for which every belief is r-close to the prior."""
    found, most = 1.0, len(card.attributes)
    for c, label in enumerate(card.labels):
        high = extreme(card.scores, c, highest=True, attributes=most).bound
        low = extreme(card.scores, c, highest=False, attributes=most).bound
        found = max(found, float(high / PRIOR[label]), float(PRIOR[label] / low))
    return found


# Figure 9: beside k-anonymity -------------------------------------------------------


def anonymous(
    k: int, train: pd.DataFrame, test: pd.DataFrame
) -> tuple[int, float, float]:
    """Accuracy and recall of the same classifier, trained on k-anonymous rows.

    Numbers are cut into ranges of one width per column, the narrowest (in sum of
    doublings) for which at most 2 % of the rows have fewer than k alike; those are
    left out, as generalising anonymizers do.
    """
    for levels in sorted(product(range(8), repeat=3), key=lambda w: (sum(w), w)):
        wide = [2**level for level in levels]
        ranges = train[list(RAW)] // wide
        alike = ranges.groupby(list(RAW))["age"].transform("size")
        if (alike < k).mean() <= 0.02:
            kept = alike >= k
            model = pv.NaiveBayes().fit(ranges[kept], train["income"][kept].to_numpy())
            found = model.predict(test[list(RAW)] // wide)
            accuracy, _, recall, _ = scores(test["income"].to_numpy(), found)
            return k, accuracy, recall
    raise ValueError(f"no range is wide enough for {k}")


# Figure 8: other numbers of attributes, other data ----------------------------------


def made_up() -> Iterator[tuple[str, int, float, list[float]]]:
    """Uniform and skewed counts: ln A, and the r that alpha = 2, 10, 100 come to."""
    dice = np.random.default_rng(0)
    for name, spread in (("uniform", 100.0), ("skewed", 1.0)):
        for n in (3, 5, 8, 14):
            views = _counts(dice, n, spread)
            worst = amplification(views.scores).odds
            assert worst is not None
            reached = [
                closeness(pv.publish(views, [promise(alpha)]).card)
                for alpha in (2, 10, 100)
            ]
            yield name, n, log(worst), reached


def _counts(dice: np.random.Generator, n: int, spread: float) -> pv.ClassifierViews:
    labels, size = ("<=50K", RICH), 15_000
    tables = {}
    for i in range(n):
        shares = [dice.dirichlet(np.full(8, spread)) for _ in labels]
        columns = [dice.multinomial(size, s).tolist() for s in shares]
        tables[f"a{i}"] = {
            f"v{t}": dict(zip(labels, row, strict=True))
            for t, row in enumerate(zip(*columns, strict=True))
        }
    sizes = dict.fromkeys(labels, size)
    return pv.ClassifierViews.from_counts(sizes, tables, smoothing=1)


# Telling ----------------------------------------------------------------------------


def text(found: Sequence[Line], others: Sequence[tuple[int, float, float]]) -> str:
    """The tables for the terminal."""
    lines = [
        "Adult, trained on 32,561 rows, tested on 16,281; add-one smoothing.",
        "case            alpha mode         k    same accuracy precision recall      F"
        "  log loss (before)      r  recovered",
    ]
    lines += [
        f"{x.case:15} {x.alpha:5} {x.mode:8} {x.k:7.1f} {x.same:6.4f}   "
        f"{x.accuracy:.4f}    {x.precision:.4f} {x.recall:.4f} {x.f:.4f}    "
        f"{x.log_loss:.4f} ({x.log_loss_before:.4f}) {x.r:7.3f}    {x.recovered:5.1%}"
        for x in found
    ]
    ours = next(x for x in found if x.case == "3 raw")
    lines += ["", "Figure 9, 3 raw attributes: trained on k-anonymous rows, and ours."]
    lines += [f"k = {k:3}: accuracy {a:.4f}, recall {r:.4f}" for k, a, r in others]
    lines += [f"ours   : accuracy {ours.accuracy:.4f}, recall {ours.recall:.4f}"]
    lines += ["", "Figure 8, made-up counts: r at alpha = 2, 10, 100 (prior 75 : 25)."]
    lines += [
        f"{name:8} {n:2} attributes, ln A = {a:5.1f}: "
        + ", ".join(f"{r:.3f}" for r in reached)
        for name, n, a, reached in made_up()
    ]
    return "\n".join(lines)


def draw(
    model: pv.NaiveBayes,
    found: Sequence[Line],
    others: Sequence[tuple[int, float, float]],
    folder: Path,
) -> None:
    """Figures 8 and 9."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    alphas = (2, 3, 5, 10, 20, 50, 100, 200)
    for mode in ("tight", "paper"):
        method = pv.SafetyTransform(mode=mode)
        cards = [pv.publish(model, [promise(a)], method=method).card for a in alphas]
        left.plot(alphas, [closeness(c) for c in cards], marker="o", label=mode)
    left.axhline(2, linestyle=":", color="grey", label="least of any release")
    left.set(xscale="log", xlabel="amplification allowed", ylabel="r-closeness")
    left.legend()
    ours = next(x for x in found if x.case == "3 raw")
    ks = [k for k, _, _ in others]
    right.plot(ks, [a for _, a, _ in others], marker="o", label="accuracy, k-anonymous")
    right.plot(ks, [r for _, _, r in others], marker="s", label="recall, k-anonymous")
    right.axhline(ours.accuracy, linestyle="--", label="accuracy, ours")
    right.axhline(ours.recall, linestyle="--", color="C1", label="recall, ours")
    right.set(xscale="log", xlabel="k", ylim=(0, 1))
    right.legend()
    figure.tight_layout()
    figure.savefig(folder / "classifier.png", dpi=150)


def main() -> int:
    """Run the study, print the tables, write the lines and the figures."""
    folder = uci.find_folder()
    if folder is None:
        print(f"Skipped: the data is not here. {uci.HOW_TO_GET}")
        return 0
    uci.check(folder)
    train, test = rows(folder)
    models = {case: trained(case, train) for case in CASES}
    found = [
        measured(case, mode, alpha, models[case], test)
        for case in CASES
        for alpha in ALPHAS
        for mode in MODES
    ]
    others = [anonymous(k, train, test) for k in SIZES]
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "classifier.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(asdict(found[0])))
        writer.writeheader()
        writer.writerows(asdict(line) for line in found)
    print(text(found, others))
    draw(models["3 raw"], found, others, OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
