"""What the study of classifiers compares with: k-anonymity, noise, other data."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import uci

import classifier as study
import privet as pv

SIZES = uci.sized((2, 5, 10, 20, 50, 100, 200, 500), (10,))
"""k of k-anonymity, as in the paper's Figure 9."""
LOSSES = uci.sized(("0.01", "0.1", "1", "10"), ("1",))
"""Privacy losses of noise first, epsilon."""
DRAWS = uci.sized(8, 2)
ALPHAS = uci.sized((2, 3, 5, 10, 20, 50, 100, 200), (2, 10))
RANGE = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)\]")


# Figure 9: beside k-anonymity ---------------------------------------------------------


@dataclass(frozen=True)
class Anonymous:
    """A classifier that learnt from k-anonymous rows."""

    k: int
    same_cuts: bool
    """Whether every row has the same ranges, as in the paper's anonymizer."""
    groups: int
    accuracy: float
    recall: float


def anonymous(
    k: int, train: pd.DataFrame, test: pd.DataFrame, *, same_cuts: bool
) -> Anonymous:
    """Publish k-anonymous rows by Mondrian, learn from them, and predict.

    A row counts as a part of each value in its ranges, all parts alike: what somebody
    does who has the released rows only.
    """
    names = list(study.RAW)
    shown = released(k, train, same_cuts=same_cuts)
    kinds, classes = shown.groupby(names, sort=False).ngroup(), study.PRIOR
    labels = shown["income"].to_numpy()
    logs = np.array([log((labels == c).mean()) for c in classes])[None, :]
    for name in names:
        table = spread(shown[name], labels, list(classes), train[name].max())
        logs = logs + table[np.clip(test[name], 0, len(table) - 1)]
    found = np.array(list(classes))[logs.argmax(axis=1)]
    accuracy, _, recall, _ = study.scores(test["income"].to_numpy(), found)
    return Anonymous(k, same_cuts, kinds.nunique(), accuracy, recall)


def released(k: int, train: pd.DataFrame, *, same_cuts: bool) -> pd.DataFrame:
    """The rows as a release shows them: a range in place of a number."""
    people = train[[*study.RAW, "income"]]
    method = pv.Mondrian(same_cuts=same_cuts)
    with (
        TemporaryDirectory() as place,
        pv.read(people, quasi=list(study.RAW), sensitive="income") as table,
    ):
        made = pv.publish(table, [pv.Measure(k_anonymity=k)], method=method)
        accept = {"income": "k-anonymity, which is compared, promises nothing of it"}
        made.write(Path(place) / "out", custody=Path(place) / "vault", accept=accept)
        return pd.read_parquet(Path(place) / "out" / "table.parquet")


def spread(column: pd.Series, labels: Any, classes: Sequence[str], most: int) -> Any:
    """Logarithms of the share of each value within each class, add-one smoothed."""
    counts = np.ones((most + 1, len(classes)))
    for shown, rows in column.groupby(column):
        low, high = ends(str(shown), most)
        here = labels[rows.index.to_numpy()]
        for c, label in enumerate(classes):
            counts[low : high + 1, c] += (here == label).sum() / (high - low + 1)
    return np.log(counts / counts.sum(axis=0))


def ends(shown: str, most: int) -> tuple[int, int]:
    """The lowest and the highest value a released cell stands for."""
    if shown == "*":
        return 0, most
    if found := RANGE.fullmatch(shown):
        return int(float(found[1])), int(float(found[2]))
    return int(float(shown)), int(float(shown))


# Noise first --------------------------------------------------------------------------


@dataclass(frozen=True)
class Noisy:
    """The classifier after noise on its counts, over several draws."""

    case: str
    epsilon: str
    accuracy: float
    spread: float
    """Standard deviation between draws."""


def noisy(case: str, epsilon: str, model: pv.NaiveBayes, test: pd.DataFrame) -> Noisy:
    """Publish with noise first, several times, and see how often it is right."""
    names, truth = list(study.CASES[case][0]), test["income"].to_numpy()
    # The values are in Adult's documentation: they are taken for declared.
    domain = {a.name: a.values for a in model.views_.attributes}
    domain |= {"class": model.views_.labels}
    found = []
    for seed in range(DRAWS):
        privacy = pv.DifferentialPrivacy(epsilon, domain=domain, seed=seed)
        method = pv.SafetyTransform(privacy=privacy)
        safe = pv.publish(model, study.policy(2), method=method).classifier()
        found.append(float((safe.predict(test[names]) == truth).mean()))
    return Noisy(case, epsilon, float(np.mean(found)), float(np.std(found, ddof=1)))


# Figure 8: other numbers of attributes, other data ------------------------------------


@dataclass(frozen=True)
class Closeness:
    """How close to the prior 75 : 25 releases of one classifier come."""

    case: str
    log_worst: float
    """ln A of the original."""
    tight: tuple[float, ...]
    """r for each of ALPHAS."""
    paper: tuple[float, ...]


def curve(case: str, model: Any) -> Closeness:
    """The r that each limit comes to, by our exponent and by the paper's."""
    views = getattr(model, "views_", model)
    worst = amplification(views)
    found = {
        mode: tuple(
            study.closeness(
                pv.publish(
                    views, study.policy(a), method=pv.SafetyTransform(mode=mode)
                ).card
            )
            for a in ALPHAS
        )
        for mode in ("tight", "paper")
    }
    return Closeness(case, log(worst), found["tight"], found["paper"])


def amplification(views: pv.ClassifierViews) -> Fraction:
    """The highest odds of one of two classes against the other."""
    found = [pv.belief(views, pv.Bayesian(), {views.target: c}) for c in views.labels]
    high = max(belief.posterior for belief in found)
    return high / (1 - high)


def made_up() -> Iterator[tuple[str, pv.ClassifierViews]]:
    """Uniform and skewed counts of 3 to 14 attributes."""
    dice = np.random.default_rng(0)
    for name, even in (("uniform", 100.0), ("skewed", 1.0)):
        for n in uci.sized((3, 5, 8, 14), (3,)):
            yield f"{name}, {n} attributes", _counts(dice, n, even)


def _counts(dice: np.random.Generator, n: int, even: float) -> pv.ClassifierViews:
    labels, size = tuple(study.PRIOR), 15_000
    tables = {}
    for i in range(n):
        shares = [dice.dirichlet(np.full(8, even)) for _ in labels]
        columns = [dice.multinomial(size, s).tolist() for s in shares]
        tables[f"a{i}"] = {
            f"v{t}": dict(zip(labels, row, strict=True))
            for t, row in enumerate(zip(*columns, strict=True))
        }
    sizes = dict.fromkeys(labels, size)
    return pv.ClassifierViews.from_counts(sizes, tables, smoothing=1)


# The staircase ------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """Closeness, and how often a classifier of some classes only is right."""

    r: float
    classes: tuple[str, ...]
    accuracy: float


def staircase(
    target: str, names: Sequence[str], train: pd.DataFrame, test: pd.DataFrame
) -> list[Step]:
    """The steps for the prior that the shares of the classes are."""
    model = pv.NaiveBayes().fit(train[list(names)], train[target].to_numpy())
    views = model.views_
    prior = {
        c: Fraction(n, views.rows)
        for c, n in zip(views.labels, views.sizes, strict=True)
    }
    found = pv.ExtendedSafetyTransform().staircase(views, prior)
    shares = model.predict_proba(test[list(names)])
    return [Step(s.r, s.classes, _right(s, model, shares, test[target])) for s in found]


def _right(stair: Any, model: pv.NaiveBayes, shares: Any, truth: pd.Series) -> float:
    only = np.isin(model.classes_, stair.classes)
    found = model.classes_[np.where(only, shares, -1.0).argmax(axis=1)]
    return float((found == truth.to_numpy()).mean())


# What helps against inversion ---------------------------------------------------------


def mitigations(model: pv.NaiveBayes) -> list[str]:
    """What an inverter works out of a release, and of each way to publish it."""
    privet = Path(sys.executable).with_name("privet")
    with TemporaryDirectory() as place:
        out, vault = Path(place) / "out", Path(place) / "vault"
        safe = pv.publish(model, study.policy(2))
        safe.write(out, custody=vault)
        words = ["audit", out, "--as", "inverter", "--custody", vault]
        done = subprocess.run(
            [privet, *words], check=True, capture_output=True, text=True
        )
    return done.stdout.splitlines()
