"""What a collector recovers from disguised records: stated beside what is true.

    PRIVET_DATA=folder python studies/responses_recovery.py [--rows 10000]

Adult in zeros and ones by the median and by the middle of the range, each answer
disguised by itself at truth 0.9, 0.8, 0.7 and 0.6, and three answers that always agree.
Whole records are guessed by `pv.Collector().attack`, which never sees the truth; beside
its figures stand the share that is really right, that of guessing each answer by
itself, and that of an attacker who knows the population.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import responses_data as data
import uci
from responses_data import Bits

import privet as pv

TRUTHS = ("0.9", "0.8", "0.7", "0.6")
CLOSE, BELOW = 0.05, 0.02
"""How far stated figures may be from real ones; and how far `up to` below them."""


@dataclass(frozen=True)
class Attacked:
    """One setting."""

    name: str
    """The table and the truth."""
    stated: float
    """The share of records, as stated."""
    spread: float
    """Its standard deviation."""
    up_to: float
    """The upper figure."""
    real: float
    """The share that was right."""
    independent: float
    """The share that was right guessing answers independently."""
    commonest: float
    """The share of the commonest record."""
    few: bool
    """Whether rows are said to be too few."""

    @property
    def problems(self) -> list[str]:
        """What must hold and does not."""
        best, found = max(self.real, self.independent), []
        if abs(self.stated - best) > CLOSE:
            found.append(f"{self.name}: {self.stated:.3f} stated, {best:.3f} true.")
        if self.up_to < best - BELOW:
            found.append(f"{self.name}: up to {self.up_to:.3f}, {best:.3f} true.")
        return found


def attacked(name: str, true: Bits, truth: str, seed: int) -> Attacked:
    """Disguise, attack, and compare with the truth."""
    import pyarrow as pa

    names = [f"q{j}" for j in range(true.shape[1])]
    questions = [pv.Question(c, ["0", "1"]) for c in names]
    design = pv.Design(questions, [pv.Group(c, pv.KAry(truth)) for c in names])
    disguise = pv.RandomizedResponse(design=design, seed=seed)
    shown = disguise.transform(pa.table(dict(zip(names, true.T, strict=True))))
    with pv.read(shown) as table:
        found = pv.Collector().attack(pv.Responses(table, design))
    seen = np.stack([shown[c].to_numpy() for c in names], axis=1)
    shares = [
        float((found.guess_codes(seen, independently=by) == true).all(axis=1).mean())
        for by in (False, True)
    ]
    common = np.unique(true, axis=0, return_counts=True)[1].max() / len(true)
    return Attacked(
        f"{name}, {truth}",
        *(found.records, found.spread, found.up_to),
        *shares,
        float(common),
        found.few,
    )


def tied(number: int, seed: int) -> Bits:
    """Three answers that always agree."""
    one = np.random.default_rng(seed).integers(0, 2, number)
    return np.stack([one] * 3, axis=1)


def settings(rows: int) -> Iterator[tuple[str, Bits, str]]:
    """The tables and truths."""
    folder = data.find_folder()
    assert folder is not None
    for mode in ("median", "midrange"):
        table = data.adult(folder, mode, rows)
        true = np.concatenate([table.train, table.test])
        for truth in TRUTHS:
            yield f"Adult, {mode}", true, truth
    yield "three tied answers", tied(4_000, 1), "0.75"


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=uci.sized(10_000, 200))
    asked = parser.parse_args()
    if data.find_folder() is None:
        print(f"{uci.HOW_TO_GET} And {data.CANCER} (doi:10.24432/C5HP4Z).")
        return 0
    print("                       stated   ±     up to   real  independent  commonest")
    wrong = []
    for name, true, truth in settings(asked.rows):
        found = attacked(name, true, truth, seed=77)
        wrong += found.problems
        print(
            f"{found.name:22} {found.stated:6.3f} {found.spread:6.3f} "
            f"{found.up_to:6.3f} {found.real:6.3f} {found.independent:8.3f} "
            f"{found.commonest:10.3f}{'   too few' if found.few else ''}",
            flush=True,
        )
    print("\n".join(wrong) or "As it must be: within 5 points, and 'up to' above.")
    return 1 if wrong and asked.rows >= 10_000 else 0


if __name__ == "__main__":
    sys.exit(main())
