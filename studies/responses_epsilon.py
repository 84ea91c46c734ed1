"""Naive Bayes at equal ε per record: what is asked of whom, and a peer beside it.

    PRIVET_DATA=folder python studies/responses_epsilon.py [--seeds 20] [--no-peer]

Adult, first 10,000 rows, in zeros and ones by the median. Everything is disguised, the
class too. Designs: what `privet plan --epsilon --target` proposes; one pair of an
attribute and the class per person with all of ε; everything with a part of ε. The peer
is multi-freq-ldpy's SMP[GRR] on the same pairs, columns and split, in an environment of
its own below build/; its frequencies are smoothed as ours are. Accuracy and recall on
true records, beside the undisguised classifier and the majority class: a classifier
that always says the majority class has recall 0 and does not count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from fractions import Fraction
from math import exp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import responses_data as data
import uci
from responses_data import Binary

import privet as pv
from responses import accuracy, learnt

EPSILONS = uci.sized(("0.5", "1", "2", "4", "8"), ("0.5", "8"))
STATED = {"0.5": 0.721, "1": 0.718, "2": 0.788, "4": 0.805, "8": 0.8145}
"""What the peer was measured at before, over 3 seeds, with `sex` constant."""
LABEL = "y"
READY = Path("build/peers-responses/.ready")
"""Left by the benchmark of responses, which has the same peer."""
PEER = "multi-freq-ldpy==0.2.5"
Score = tuple[float, float]
"""Accuracy and recall."""


def names(table: Binary) -> list[str]:
    """The attributes."""
    return [f"q{j}" for j in range(table.train.shape[1])]


# Designs ----------------------------------------------------------------------------


def planned(table: Binary, epsilon: str) -> pv.Design:
    """What privet plan proposes; it looks at no record."""
    privet = Path(sys.executable).with_name("privet")
    with TemporaryDirectory() as place:
        asked, proposed = Path(place) / "asked.toml", Path(place) / "proposed.toml"
        asked.write_text(split(table, epsilon).to_toml(), encoding="utf-8")
        words = ["--epsilon", epsilon, "--target", LABEL, "--output", proposed]
        subprocess.run([privet, "plan", asked, *words], check=True, capture_output=True)
        return pv.Design.load(proposed)


def truth_for(epsilon: float, size: int) -> Fraction:
    """The truth of so many values for ε, in six digits; rounded down."""
    return Fraction(int(10**6 * exp(epsilon) / (exp(epsilon) + size - 1)), 10**6)


def sampled(table: Binary, epsilon: str) -> pv.Design:
    """One pair of an attribute and the class per person, with all of ε."""
    truth = truth_for(float(epsilon), 4)
    groups = [pv.Group([c, LABEL], pv.KAry(truth)) for c in names(table)]
    return pv.Design(questions(table), groups, one_of=True)


def split(table: Binary, epsilon: str) -> pv.Design:
    """Everything, each with a part of ε."""
    part = pv.KAry(truth_for(float(epsilon) / (len(names(table)) + 1), 2))
    return pv.Design(
        questions(table), [pv.Group(c, part) for c in (*names(table), LABEL)]
    )


def questions(table: Binary) -> list[pv.Question]:
    """Yes or no each."""
    return [pv.Question(c, ["0", "1"]) for c in (*names(table), LABEL)]


def scores(table: Binary, design: pv.Design, seed: int) -> Score:
    """Accuracy and recall of one classifier."""
    columns = dict(zip(names(table), table.train.T, strict=True))
    true = pa.table({**columns, LABEL: table.labels})
    disguise = pv.RandomizedResponse(design=design, seed=seed)
    seen = disguise.fit_transform(true)
    label: Any = Named(seen[LABEL].to_numpy())
    model = pv.DisguisedNaiveBayes(disguise).fit(seen.select(names(table)), label)
    test = pa.table(dict(zip(names(table), table.test.T, strict=True)))
    return judged(table, model.predict(test))


def judged(table: Binary, found: Any) -> Score:
    """Accuracy and recall of predictions for the test records."""
    positive = table.answers == 1
    return float((found == table.answers).mean()), float(found[positive].mean())


class Named(np.ndarray):  # type: ignore[type-arg]
    """Labels that know which question they answer."""

    name = LABEL

    def __new__(cls, values: Any) -> Named:
        """The same values, with a name."""
        return np.asarray(values).view(cls)


# The peer ---------------------------------------------------------------------------

PEER_SCRIPT = """
import json, sys
import numpy as np
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Aggregator_MI
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Client
path, epsilons, seeds = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
pairs = np.load(path)
d = pairs.shape[1]
def one(epsilon):
    reports = [SMP_GRR_Client(row, [4] * d, d, epsilon) for row in pairs]
    asked = np.bincount([j for j, _ in reports], minlength=d)
    shares = SMP_GRR_Aggregator_MI(reports, [4] * d, d, epsilon)
    return [asked.tolist(), [list(map(float, s)) for s in shares]]
print(json.dumps([[one(e) for _ in range(seeds)] for e in epsilons]))
"""


def peer(table: Binary, seeds: int) -> list[list[Score]]:
    """The same classifier from the peer's frequencies of pairs, for every ε."""
    place = Path("build/studies")
    place.mkdir(parents=True, exist_ok=True)
    np.save(place / "pairs.npy", 2 * table.train + table.labels[:, None])
    words = [str(place / "pairs.npy"), json.dumps(list(map(float, EPSILONS)))]
    done = subprocess.run(
        [str(environment()), "-c", PEER_SCRIPT, *words, str(seeds)],
        check=True,
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    return [
        [by_pairs(table, *one, float(e)) for one in runs]
        for e, runs in zip(EPSILONS, told, strict=True)
    ]


def by_pairs(table: Binary, asked: Any, shares: Any, epsilon: float) -> Score:
    """Naive Bayes from shares of (value, class), smoothed as `DisguisedNaiveBayes`."""
    joint = np.array(shares).reshape(-1, 2, 2)
    prior = np.average(joint.sum(axis=1), axis=0, weights=asked)
    worth = np.array(asked) * ((np.exp(epsilon) - 1) / (np.exp(epsilon) + 3)) ** 2
    counts = joint * worth[:, None, None]
    told = np.log((counts + 1) / (counts.sum(axis=1, keepdims=True) + 2))
    found = np.log(np.clip(prior, 1e-6, 1)) + table.test @ told[:, 1]
    return judged(table, (found + (1 - table.test) @ told[:, 0]).argmax(axis=1))


def environment() -> Path:
    """The peer's Python, made where it is missing."""
    place = READY.parent
    python = place / "bin" / "python"
    if not READY.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", PEER], check=True)
    return python


# The table --------------------------------------------------------------------------


def shown(found: list[Score]) -> str:
    """Mean accuracy, its standard error and mean recall."""
    rates = np.array(found)
    error = rates[:, 0].std(ddof=1) / np.sqrt(len(rates))
    mean, recall = rates.mean(axis=0)
    return f"{mean:.4f} ± {error:.4f}, recall {recall:.3f}"


def report(table: Binary, seeds: int, *, beside: bool) -> None:
    """Every ε for one table."""
    plain = accuracy(learnt(table.train, table.labels, 1), table.test, table.answers)
    print(f"{table.name}: undisguised {plain:.4f}, majority {table.majority:.4f}")
    kinds = {"planned": planned, "one pair each": sampled, "all, in parts": split}
    theirs = peer(table, seeds) if beside else []
    for i, epsilon in enumerate(EPSILONS):
        print(f"  ε = {epsilon}")
        for kind, design in kinds.items():
            made = design(table, epsilon)
            found = [scores(table, made, s) for s in range(seeds)]
            asked = max(len(g.columns) for g in made.groups) if made.one_of else 15
            print(f"    {kind:14} {shown(found)}   ({asked} answers each)")
        if beside:
            before = f"(stated before: {STATED[epsilon]})"
            print(f"    {'peer':14} {shown(theirs[i])}   {before}")


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=uci.sized(20, 2))
    parser.add_argument("--no-peer", action="store_true")
    asked = parser.parse_args()
    folder = data.find_folder()
    if folder is None:
        print(f"{uci.HOW_TO_GET} And {data.CANCER} (doi:10.24432/C5HP4Z).")
        return 0
    beside = not asked.no_peer
    if beside and uci.SMOKE and not READY.exists():
        print("The peer is left out, since it is not installed.")
        beside = False
    for literal in (True, False):
        table = data.adult(folder, "median", literal=literal)
        report(table, asked.seeds, beside=beside)
    return 0


if __name__ == "__main__":
    sys.exit(main())
