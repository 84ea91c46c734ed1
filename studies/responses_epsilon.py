"""Naive Bayes at equal ε per record: one question per person, or a part of ε each.

    PRIVET_DATA=folder python studies/responses_epsilon.py [--seeds 20]

Adult, first 10,000 rows, in zeros and ones by the median. Everything is disguised, the
class too. Either each person reports one pair of an attribute and the class with all of
ε (what others call sampling, SMP), or everything with a part of ε. Accuracy and recall
on true records, beside the undisguised classifier and the majority class: a classifier
that always says the majority class has recall 0 and does not count.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import responses_data as data
import uci
from responses_data import Binary

import privet as pv
from privet.learn.planning import truth_for
from responses import accuracy, learnt

EPSILONS = ("0.5", "1", "2", "4", "8")
LABEL = "y"


def names(table: Binary) -> list[str]:
    """The attributes."""
    return [f"q{j}" for j in range(table.train.shape[1])]


def sampled(table: Binary, epsilon: str) -> pv.Design:
    """One pair of an attribute and the class per person, with all of ε."""
    truth = truth_for(epsilon, 4)
    groups = [pv.Group([c, LABEL], pv.KAry(truth)) for c in names(table)]
    return pv.Design(questions(table), groups, one_of=True)


def split(table: Binary, epsilon: str) -> pv.Design:
    """Everything, each with a part of ε."""
    part = pv.KAry(truth_for(f"{float(epsilon) / (len(names(table)) + 1):.9f}", 2))
    return pv.Design(
        questions(table), [pv.Group(c, part) for c in (*names(table), LABEL)]
    )


def questions(table: Binary) -> list[pv.Question]:
    """Yes or no each."""
    return [pv.Question(c, ["0", "1"]) for c in (*names(table), LABEL)]


def scores(table: Binary, design: pv.Design, seed: int) -> tuple[float, float]:
    """Accuracy and recall of one classifier."""
    columns = dict(zip(names(table), table.train.T, strict=True))
    true = pa.table({**columns, LABEL: table.labels})
    disguise = pv.RandomizedResponse(design=design, seed=seed)
    seen = disguise.fit_transform(true)
    label: Any = Named(seen[LABEL].to_numpy())
    model = pv.DisguisedNaiveBayes(disguise).fit(seen.select(names(table)), label)
    test = pa.table(dict(zip(names(table), table.test.T, strict=True)))
    found = model.predict(test)
    positive = table.answers == 1
    return float((found == table.answers).mean()), float(found[positive].mean())


class Named(np.ndarray):  # type: ignore[type-arg]
    """Labels that know which question they answer."""

    name = LABEL

    def __new__(cls, values: Any) -> Named:
        """The same values, with a name."""
        return np.asarray(values).view(cls)


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    asked = parser.parse_args()
    folder = data.find_folder()
    if folder is None:
        print(f"{uci.HOW_TO_GET} And {data.CANCER} (doi:10.24432/C5HP4Z).")
        return 0
    table = data.adult(folder, "median")
    plain = accuracy(learnt(table.train, table.labels, 1), table.test, table.answers)
    print(f"Adult, median: undisguised {plain:.4f}, majority {table.majority:.4f}")
    print("    ε   one pair per person            everything, a part of ε each")
    for epsilon in EPSILONS:
        cells = []
        for design in (sampled(table, epsilon), split(table, epsilon)):
            found = np.array([scores(table, design, s) for s in range(asked.seeds)])
            error = found[:, 0].std(ddof=1) / np.sqrt(len(found))
            mean, recall = found.mean(axis=0)
            cells.append(f"{mean:.4f} ± {error:.4f}, recall {recall:.3f}")
        print(f"{epsilon:>5}   {cells[0]}   {cells[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
