"""What naive Bayes keeps when answers are disguised: the paper's figures, done again.

    PRIVET_DATA=folder python studies/responses.py [--repeats 100]

For Adult (first 10,000 rows) and Breast-Cancer: a classifier is learnt from disguised
records and tested on true ones, for 13 probabilities of truth; mean and variance over
100 disguises; for the paper's joint flip and for answers disguised one by one, with
the share of records that the collector recovers.
Zhan, Chang, Matwin 2004, section 4. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import responses_data as data
import result_files
import uci
from responses_data import Binary, Bits

import privet as pv

THETAS = (0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 1)
OUT = Path("build/studies")
SCHEMES = ("joint", "independent")


@dataclass(frozen=True)
class Row:
    """One point of a curve."""

    data: str
    """The table."""
    scheme: str
    """joint or independent."""
    theta: float
    """The probability of truth."""
    mean: float
    """The mean accuracy."""
    variance: float
    """Its variance."""
    recovered: float
    """The share of records that the collector recovers; nan: see the other study."""
    benchmark: float
    """The accuracy without any disguise."""
    majority: float
    """The accuracy of always saying the more frequent class."""


# One run ----------------------------------------------------------------------------


def named(records: Bits) -> Any:
    """Records as a frame, a column per attribute."""
    import pandas as pd

    return pd.DataFrame(records, columns=[f"q{j}" for j in range(records.shape[1])])


def learnt(seen: Bits, labels: Bits, theta: float) -> pv.DisguisedNaiveBayes:
    """The paper's classifier, by the public one: the class was not disguised.

    Whole records that are flipped and single answers have the same channel on each
    attribute, which is all that naive Bayes with a public class needs.
    """
    questions = [pv.Question(c, ["0", "1"]) for c in named(seen).columns]
    groups = [pv.Group(q.name, pv.Flip(str(theta))) for q in questions]
    design = pv.Design(questions, groups)
    model = pv.DisguisedNaiveBayes(design, public_class=True, paper=True)
    return model.fit(named(seen), labels)


def accuracy(model: pv.DisguisedNaiveBayes, records: Bits, labels: Bits) -> float:
    """On true records; ties go to the first class."""
    return float((model.predict(named(records)) == labels).mean())


def disguised(table: Binary, theta: float, scheme: str, rng: Any) -> Bits:
    """Keep where r < θ, strictly, else complement: whole records or single answers."""
    shape = (len(table.train), 1) if scheme == "joint" else table.train.shape
    return np.where(rng.random(shape) < theta, table.train, 1 - table.train)


def recovered(table: Binary, seen: Bits, theta: float, scheme: str) -> float:
    """The share of training records that the collector guesses wholly right.

    Of answers disguised one by one `responses_recovery.py` tells it: that attack takes
    minutes, so here stands nothing.
    """
    if scheme != "joint":
        return float("nan")
    group = joint_design(table.train.shape[1], theta).groups[0]
    guess = pv.Collector().guess(group, seen)
    return float((guess == table.train).all(axis=1).mean())


def joint_design(width: int, theta: float) -> pv.Design:
    """The paper's one group; it warns, as it must."""
    import warnings

    questions = [pv.Question(f"q{j}", ["0", "1"]) for j in range(width)]
    group = pv.Group([q.name for q in questions], pv.Flip(str(theta)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pv.Design(questions, [group])


def curve(table: Binary, scheme: str, repeats: int, rng: Any) -> Iterator[Row]:
    """Every θ for one table."""
    plain = accuracy(learnt(table.train, table.labels, 1), table.test, table.answers)
    for theta in THETAS:
        found, shares = [], []
        for i in range(repeats):
            seen = disguised(table, theta, scheme, rng)
            model = learnt(seen, table.labels, theta)
            found.append(accuracy(model, table.test, table.answers))
            if i < 10:
                shares.append(recovered(table, seen, theta, scheme))
        yield Row(
            table.name,
            scheme,
            theta,
            found[0] if len(set(found)) == 1 else float(np.mean(found)),
            0.0 if len(set(found)) == 1 else float(np.var(found, ddof=1)),
            float(np.mean(shares)),
            plain,
            table.majority,
        )


def tables(folder: Path) -> list[Binary]:
    """The four tables."""
    return [
        data.adult(folder, "midrange"),
        data.adult(folder, "median"),
        data.cancer(folder, "midrange", number=True),
        data.cancer(folder, "median", number=False),
    ]


# What must hold ---------------------------------------------------------------------


def problems(rows: list[Row], repeats: int) -> list[str]:
    """What the curves must show, and do not."""
    found = []
    for name in dict.fromkeys(r.data for r in rows):
        for scheme in SCHEMES:
            own = {r.theta: r for r in rows if (r.data, r.scheme) == (name, scheme)}
            found += _ends(own)
            found += _symmetry(own, repeats)
            worst = min(own.values(), key=lambda r: r.mean)
            if worst.theta != 0.51:
                found.append(f"{name}, {scheme}: the mean is lowest at {worst.theta}.")
    return found


def _ends(own: dict[float, Row]) -> list[str]:
    return [
        f"{own[t].data}, {own[t].scheme}: θ = {t} must be exact."
        for t in (0, 1)
        if own[t].mean != own[t].benchmark or own[t].variance
    ]


def _symmetry(own: dict[float, Row], repeats: int) -> list[str]:
    found = []
    for low, high in ((0.1, 0.9), (0.2, 0.8), (0.3, 0.7), (0.4, 0.6), (0.45, 0.55)):
        one, other = own[low], own[high]
        most = 3 * sqrt((one.variance + other.variance) / repeats)
        if abs(one.mean - other.mean) > most:
            found.append(
                f"{one.data}, {one.scheme}: {low} and {high} differ beyond chance."
            )
    return found


# Showing ----------------------------------------------------------------------------


def text(rows: list[Row]) -> str:
    """The curves as a table."""
    lines = [
        "Mean accuracy (variance in 1e-4; share of records the collector recovers)"
    ]
    for name in dict.fromkeys(r.data for r in rows):
        own = [r for r in rows if r.data == name]
        lines += ["", f"{name}: undisguised {own[0].benchmark:.4f}, majority class "]
        lines[-1] += f"{own[0].majority:.4f}"
        lines.append("    θ   joint                        independent")
        for theta in THETAS:
            cells = [
                f"{r.mean:.4f} ({1e4 * r.variance:6.1f}; {r.recovered:7.2%})"
                for r in own
                if r.theta == theta
            ]
            lines.append(f"{theta:5}   {'      '.join(cells)}")
    return "\n".join(lines)


def figure(rows: list[Row], path: Path) -> str:
    """Mean, variance and recovery over θ."""
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return "No figures: matplotlib is not installed."
    names = list(dict.fromkeys(r.data for r in rows))
    grid, panels = plt.subplots(
        3, len(names), figsize=(4 * len(names), 9), layout="constrained", squeeze=False
    )
    for j, name in enumerate(names):
        for scheme, color, mark in zip(
            SCHEMES, ("#b3261e", "#1d6b3c"), "os", strict=True
        ):
            own = [r for r in rows if (r.data, r.scheme) == (name, scheme)]
            x = [r.theta for r in own]
            for i, what in enumerate(("mean", "variance", "recovered")):
                y = [getattr(r, what) for r in own]
                panels[i][j].plot(x, y, color=color, marker=mark, ms=4, label=scheme)
        panels[0][j].axhline(own[0].majority, color="#888888", ls=":", label="majority")
        panels[0][j].set_title(name)
        panels[2][j].set_xlabel("θ, probability of truth")
    for i, what in enumerate(("mean accuracy", "variance", "records recovered")):
        panels[i][0].set_ylabel(what)
    panels[0][0].legend(frameon=False)
    for ending in ("svg", "png"):
        grid.savefig(path.with_suffix(f".{ending}"), dpi=110)
    plt.close(grid)
    return f"Figures: {path}.svg and .png"


def write(rows: list[Row], path: Path) -> None:
    """The curves as a file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(r) for r in rows)


def as_result(rows: list[Row], repeats: int) -> result_files.Result:
    """The curves, as they are kept."""
    command = f"python studies/responses.py --repeats {repeats}"
    figures = {"curves": [asdict(row) for row in rows]}
    return result_files.Result.of(command, figures, {"curves": 0.01})


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=uci.sized(100, 2))
    asked = parser.parse_args()
    folder = data.find_folder()
    if folder is None:
        print(f"{uci.HOW_TO_GET} And {data.CANCER} (doi:10.24432/C5HP4Z).")
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2004)
    rows = [
        row
        for table in tables(folder)
        for scheme in SCHEMES
        for row in curve(table, scheme, asked.repeats, rng)
    ]
    write(rows, OUT / "responses.csv")
    print(text(rows))
    print(figure(rows, OUT / "responses"))
    wrong = problems(rows, asked.repeats)
    print(
        "\n".join(wrong) or "As it must be: exact at 0 and 1, symmetric, worst at .51."
    )
    same = result_files.keep("responses", as_result(rows, asked.repeats))
    return 1 if not same or (wrong and asked.repeats >= 100) else 0


if __name__ == "__main__":
    sys.exit(main())
