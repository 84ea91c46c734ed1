"""Naive Bayes at equal ε: privet's noisy counts beside diffprivlib's and OpenDP's.

    PRIVET_DATA=folder python studies/classifier_epsilon.py [--draws 10] [--no-peers]

Adult, trained on its training file and scored on its testing file, for adding or
removing one person. Attributes: the eight categorical columns with the values its
documentation lists, and five numbers in public bins. privet publishes them under a
promise, which leaves every prediction as the noisy counts have it. Peers, in an
environment of their own below build/: OpenDP's Laplace noise on the same counts, read
off as naive Bayes here; diffprivlib's GaussianNB on the numbers, with declared bounds,
and on one indicator per value. A peer that cannot be installed is left out, and that is
said. Writes build/studies/classifier_epsilon.csv; a few minutes.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import uci

import classifier as study
import privet as pv

OUT = Path("build/studies")
EPSILONS = uci.sized(("0.05", "0.1", "0.5", "1", "5"), ("1",))
DELTA = "1e-6"
NOISES = ("laplace", "gauss")
PEERS = ("diffprivlib==0.6.6", "scikit-learn==1.6.1", "opendp==0.16.0")
PLACE = Path("build/peers-classifier")
READY = PLACE / ".ready"

VALUES = {
    "workclass": "Private,Self-emp-not-inc,Self-emp-inc,Federal-gov,Local-gov,"
    "State-gov,Without-pay,Never-worked",
    "education": "Bachelors,Some-college,11th,HS-grad,Prof-school,Assoc-acdm,Assoc-voc,"
    "9th,7th-8th,12th,Masters,1st-4th,10th,Doctorate,5th-6th,Preschool",
    "marital-status": "Married-civ-spouse,Divorced,Never-married,Separated,Widowed,"
    "Married-spouse-absent,Married-AF-spouse",
    "occupation": "Tech-support,Craft-repair,Other-service,Sales,Exec-managerial,"
    "Prof-specialty,Handlers-cleaners,Machine-op-inspct,Adm-clerical,Farming-fishing,"
    "Transport-moving,Priv-house-serv,Protective-serv,Armed-Forces",
    "relationship": "Wife,Own-child,Husband,Not-in-family,Other-relative,Unmarried",
    "race": "White,Asian-Pac-Islander,Amer-Indian-Eskimo,Other,Black",
    "sex": "Female,Male",
    "native-country": "United-States,Cambodia,England,Puerto-Rico,Canada,Germany,"
    "Outlying-US(Guam-USVI-etc),India,Japan,Greece,South,China,Cuba,Iran,Honduras,"
    "Philippines,Italy,Poland,Jamaica,Vietnam,Mexico,Portugal,Ireland,France,"
    "Dominican-Republic,Laos,Ecuador,Taiwan,Haiti,Columbia,Hungary,Guatemala,"
    "Nicaragua,Scotland,Thailand,Yugoslavia,El-Salvador,Trinadad&Tobago,Peru,Hong,"
    "Holand-Netherlands",
}
"""What the documentation of Adult lists, the unknown apart."""
CLASSES = ["<=50K", ">50K"]
BOUNDS = {
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_500),
    "hours-per-week": (1, 99),
}
"""Of the numbers, for whoever needs bounds; from the documentation, too."""


def declared() -> dict[str, pv.DeclaredDomain]:
    """The domains of all columns; what is not listed counts as unknown."""
    found = {c: pv.DeclaredDomain(v.split(","), "?") for c, v in VALUES.items()}
    return {**found, "class": pv.DeclaredDomain(CLASSES)}


def trained(train: pd.DataFrame) -> pv.NaiveBayes:
    """The original classifier."""
    names = [*VALUES, *study.BINS]
    return pv.NaiveBayes(bins=study.BINS).fit(train[names], train["income"].to_numpy())


def score(model: Any, test: pd.DataFrame) -> float:
    """How often a classifier is right."""
    found = model.predict(test[[*VALUES, *study.BINS]])
    return float((found == test["income"].to_numpy()).mean())


def published(model: pv.NaiveBayes, epsilon: str, noise: str, seed: int) -> Any:
    """The released classifier, with noise first."""
    privacy = pv.DifferentialPrivacy(
        epsilon,
        DELTA if noise == "gauss" else 0,
        noise=noise,
        domain=declared(),
        seed=seed,
    )
    method = pv.SafetyTransform(privacy=privacy)
    return pv.publish(model, study.policy(2), method=method).classifier()


# Peers --------------------------------------------------------------------------------

OPENDP = """
import json, sys
import numpy as np, opendp.prelude as dp
dp.enable_features("contrib")
path, epsilons, draws = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
held = np.load(path)
counts, attributes = held["counts"].tolist(), int(held["attributes"])
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
def one(epsilon):
    noise = dp.m.make_laplace(*space, scale=attributes / epsilon)
    assert noise.map(attributes) <= epsilon * (1 + 1e-9)
    return noise(counts)
print(json.dumps([[one(e) for _ in range(draws)] for e in epsilons]))
"""

DIFFPRIVLIB = """
import json, sys, warnings
import numpy as np
from diffprivlib.models import GaussianNB
warnings.simplefilter("ignore")
path, epsilons, draws = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
held = np.load(path)
def one(epsilon, kind, seed):
    bounds = held[kind + "_low"], held[kind + "_high"]
    model = GaussianNB(epsilon=epsilon, bounds=bounds, random_state=seed)
    model.fit(held[kind + "_train"], held["train"])
    return float((model.predict(held[kind + "_test"]) == held["test"]).mean())
kinds = ("numbers", "indicators")
print(json.dumps({k: [[one(e, k, s) for s in range(draws)] for e in epsilons]
                  for k in kinds}))
"""


def find_peers() -> Path | None:
    """The interpreter of the peers' environment; None where it cannot be made."""
    python = PLACE / "bin" / "python"
    if READY.exists():
        return python
    if uci.SMOKE:
        return None
    venv.create(PLACE, with_pip=True)
    words = [str(python), "-m", "pip", "install", "-q", *PEERS]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        return None
    READY.touch()
    return python


def ask_peer(python: Path, script: str, file: str, draws: int) -> Any:
    """What a peer prints, as JSON; None where it fails, and that is said."""
    words = [json.dumps(list(map(float, EPSILONS))), str(draws)]
    done = subprocess.run(
        [str(python), "-c", script, str(OUT / file), *words],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"A peer is left out: {done.stderr.strip().splitlines()[-1]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def count_declared(model: pv.NaiveBayes) -> list[tuple[str, tuple[str, ...], Any]]:
    """Each attribute's values, and a count per declared value and class."""
    domains, found = declared(), []
    for a, table in zip(model.views_.attributes, model.views_.cells, strict=True):
        listed = a.values if a.edges else domains[a.name].listed
        counts = np.zeros((len(listed), len(CLASSES)), dtype=np.int64)
        for value, row in zip(a.values, table, strict=True):
            at = listed.index(value) if a.edges else domains[a.name].find(value)
            for label, n in zip(model.views_.labels, row, strict=True):
                counts[at, CLASSES.index(label)] += n
        found.append((a.name, tuple(map(str, listed)), counts))
    return found


def score_opendp(
    python: Path, model: pv.NaiveBayes, test: pd.DataFrame, draws: int
) -> list[list[float]] | None:
    """Accuracy of naive Bayes by OpenDP's noisy counts, for every ε."""
    tables = count_declared(model)
    flat = np.concatenate([counts.ravel() for _, _, counts in tables])
    np.savez(OUT / "counts.npz", counts=flat, attributes=len(tables))
    told = ask_peer(python, OPENDP, "counts.npz", draws)
    if told is None:
        return None
    codes = encode(tables, test)
    truth = test["income"].to_numpy()
    return [[read_off(tables, codes, noisy, truth) for noisy in part] for part in told]


def encode(tables: Any, test: pd.DataFrame) -> list[Any]:
    """Where each cell of the test rows stands among the declared values."""
    domains, found = declared(), []
    for name, listed, _ in tables:
        column = test[name]
        if name in study.BINS:
            edges = study.BINS[name]
            labels = pv.Bins(edges).labels()
            cut = np.searchsorted(edges, column.to_numpy(), side="right")
            at = [listed.index(x) if x in listed else -1 for x in labels]
            found.append(np.array(at)[cut])
        else:
            place = {v: domains[name].find(v) for v in column.unique()}
            found.append(column.map(place).to_numpy())
    return found


def read_off(tables: Any, codes: list[Any], noisy: list[int], truth: Any) -> float:
    """Accuracy of add-one naive Bayes by counts with noise."""
    start, total, sizes = 0, 0.0, []
    for (_, listed, _), at in zip(tables, codes, strict=True):
        part = np.array(noisy[start : start + 2 * len(listed)]).reshape(-1, 2)
        start += part.size
        sizes.append(part.sum(axis=0))
        logs = np.log(np.maximum(part, 0) + 1.0)
        logs -= np.log((np.maximum(part, 0) + 1.0).sum(axis=0))
        total = total + np.where(at[:, None] < 0, 0.0, logs[at])
    size = np.maximum(np.mean(sizes, axis=0), 1)
    best = (np.log(size) + total).argmax(axis=1)
    return float((np.array(CLASSES)[best] == truth).mean())


def score_diffprivlib(
    python: Path, train: pd.DataFrame, test: pd.DataFrame, draws: int
) -> dict[str, list[list[float]]] | None:
    """Accuracy of diffprivlib's GaussianNB, for every ε, on both kinds of columns."""
    held: dict[str, Any] = {
        "train": train["income"].to_numpy() == CLASSES[1],
        "test": test["income"].to_numpy() == CLASSES[1],
        "numbers_low": np.array([low for low, _ in BOUNDS.values()], float),
        "numbers_high": np.array([high for _, high in BOUNDS.values()], float),
    }
    for name, frame in (("train", train), ("test", test)):
        held[f"numbers_{name}"] = frame[list(BOUNDS)].to_numpy(float)
        columns = [frame[c] == v for c, text in VALUES.items() for v in text.split(",")]
        held[f"indicators_{name}"] = np.stack(columns, axis=1).astype(float)
    wide = held["indicators_train"].shape[1]
    held |= {"indicators_low": np.zeros(wide), "indicators_high": np.ones(wide)}
    np.savez(OUT / "rows.npz", **held)
    return ask_peer(python, DIFFPRIVLIB, "rows.npz", draws)


# The study ----------------------------------------------------------------------------

Lines = dict[str, list[list[float]]]
"""Accuracies by name, for every ε and draw."""


def measure(train: pd.DataFrame, test: pd.DataFrame, draws: int) -> Lines:
    """Privet's accuracies."""
    model = trained(train)
    return {
        f"privet, {noise}": [
            [score(published(model, e, noise, s), test) for s in range(draws)]
            for e in EPSILONS
        ]
        for noise in NOISES
    }


def measure_peers(train: pd.DataFrame, test: pd.DataFrame, draws: int) -> Lines:
    """Those of the peers that are there."""
    python = find_peers()
    if python is None:
        print("The peers are left out, since they are not installed.")
        return {}
    found: Lines = {}
    if (told := score_opendp(python, trained(train), test, draws)) is not None:
        found["OpenDP, laplace"] = told
    theirs = score_diffprivlib(python, train, test, draws)
    for kind, lines in (theirs or {}).items():
        found[f"diffprivlib, {kind}"] = lines
    return found


def show(lines: Lines, plain: float, majority: float) -> None:
    """A line per classifier, a column per ε."""
    print(f"Adult: without noise {plain:.4f}, majority {majority:.4f}")
    print(f"{'ε':24}" + "".join(f"{e:>18}" for e in EPSILONS))
    for name, parts in lines.items():
        cells = [f"{np.mean(x):.4f} ± {np.std(x):.4f}" for x in parts]
        print(f"{name:24}" + "".join(f"{c:>18}" for c in cells))


def save(lines: Lines) -> None:
    """One line per draw."""
    with (OUT / "classifier_epsilon.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["classifier", "epsilon", "draw", "accuracy"])
        for name, parts in lines.items():
            for e, part in zip(EPSILONS, parts, strict=True):
                writer.writerows([name, e, i, f"{x:.5f}"] for i, x in enumerate(part))


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=uci.sized(10, 2))
    parser.add_argument("--no-peers", action="store_true")
    asked = parser.parse_args()
    folder = uci.find_folder()
    if folder is None:
        print(uci.HOW_TO_GET)
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    train, test = study.rows(folder)
    lines = measure(train, test, asked.draws)
    if not asked.no_peers:
        lines |= measure_peers(train, test, asked.draws)
    answers = test["income"].to_numpy()
    show(lines, score(trained(train), test), float((answers == CLASSES[0]).mean()))
    save(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
