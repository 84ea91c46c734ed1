"""What a collector recovers from disguised records: stated beside what is true.

    PRIVET_DATA=folder python studies/responses_recovery.py [--rows 10000]

Adult in zeros and ones by the median and by the middle of the range, each answer
disguised by itself at truth 0.9, 0.8, 0.7 and 0.6, and three answers that always agree.
Whole records are guessed by `pv.Collector().attack`, which never sees the truth; beside
its figures stand the share that is really right, that of guessing each answer by
itself, that of the best attack of another make (EM over all records, in this file, the
number of steps chosen in hindsight), and that of whoever knows the population, which
nobody without the truth can reach for sure.

It fails where a figure is further off than the bars below; where rows are too few to be
sure of that, the attack says so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import responses_data as data
import uci
from numpy.typing import NDArray
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
    others: float
    """The share that was right by the best attack of another make."""
    known: float
    """The share that is right for whoever knows how common each record is."""
    commonest: float
    """The share of the commonest record."""
    few: bool
    """Whether rows are said to be too few."""

    @property
    def problems(self) -> list[str]:
        """What must hold and does not."""
        best, found = max(self.real, self.independent, self.others), []
        for what, true in (("its own", self.real), ("the best", best)):
            if abs(self.stated - true) > CLOSE:
                told = f"{self.stated:.3f} stated, {what} {true:.3f}."
                found.append(f"{self.name}: {told}")
        if self.up_to < best - BELOW:
            found.append(f"{self.name}: up to {self.up_to:.3f}, {best:.3f} true.")
        return found


# Another make -----------------------------------------------------------------------

STEPS = (1, 3, 10, 30, 100, 300, 1000)
"""After how many steps EM is stopped; which was best is known afterwards only."""

Shares = NDArray[np.float64]
"""One axis per answer."""


def disguised_shares(shares: Shares, truth: float) -> Shares:
    """How common each report is, answer by answer: kept, or the other one."""
    for axis in range(shares.ndim):
        shares = truth * shares + (1 - truth) * np.flip(shares, axis)
    return shares


def fitted_shares(seen: Bits, truth: float) -> Iterator[Shares]:
    """How common each record is, by EM from even shares, after ever more steps."""
    told = np.zeros([2] * seen.shape[1])
    np.add.at(told, tuple(seen.T), 1 / len(seen))
    found = np.full(told.shape, 1 / told.size)
    for step in range(1, STEPS[-1] + 1):
        # The channel is its own transpose.
        odd = disguised_shares(found, truth)
        found = found * disguised_shares(told / odd, truth)
        if step in STEPS:
            yield found


def likeliest_records(shares: Shares, truth: float) -> NDArray[np.int64]:
    """The place of the likeliest record for each report: one axis per answer.

    Answer by answer, the better of what was reported and the other one.
    """
    place = np.arange(shares.size).reshape(shares.shape)
    for axis in range(shares.ndim):
        other, there = np.flip(shares, axis), np.flip(place, axis)
        turn = (1 - truth) * other > truth * shares
        shares = np.where(turn, (1 - truth) * other, truth * shares)
        place = np.where(turn, there, place)
    return place


def guessed_right(shares: Shares, true: Bits, seen: Bits, truth: float) -> float:
    """Which share of records is right."""
    guess = likeliest_records(shares, truth)[tuple(seen.T)]
    return float((guess == np.ravel_multi_index(true.T, shares.shape)).mean())


def best_of_others(true: Bits, seen: Bits, truth: float) -> float:
    """The best of all numbers of steps, by the truth."""
    fitted = fitted_shares(seen, truth)
    return max(guessed_right(shares, true, seen, truth) for shares in fitted)


def by_population(true: Bits, seen: Bits, truth: float) -> float:
    """Guessing by how common each record really is."""
    shares = np.zeros([2] * true.shape[1])
    np.add.at(shares, tuple(true.T), 1 / len(true))
    return guessed_right(shares, true, seen, truth)


# The attack -------------------------------------------------------------------------


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
        best_of_others(true, seen, float(truth)),
        by_population(true, seen, float(truth)),
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
    print(f"{'':22} stated   ±    up to  real   one by one  others  known  commonest")
    wrong = []
    for name, true, truth in settings(asked.rows):
        found = attacked(name, true, truth, seed=77)
        wrong += found.problems
        print(
            f"{found.name:22} {found.stated:6.3f} {found.spread:6.3f} "
            f"{found.up_to:6.3f} {found.real:6.3f} {found.independent:8.3f} "
            f"{found.others:10.3f} {found.known:6.3f} {found.commonest:8.3f}"
            f"{'   too few' if found.few else ''}",
            flush=True,
        )
    print("\n".join(wrong) or "As it must be: within 5 points, and 'up to' above.")
    return 1 if wrong and asked.rows >= 10_000 else 0


if __name__ == "__main__":
    sys.exit(main())
