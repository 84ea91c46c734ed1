"""Does a release still serve those who classify? The paper's Figure 3, done again.

    PRIVET_DATA=folder python studies/handicapping.py [--sets 30] [--workers 2]

For CRX, Adult and German: the error of a decision tree on the original table (base
error, BE), on the release (suppression error, SE) and on the table without its
sensitive columns (removal error, RE). See README.md beside this file for what is as in
the paper and what is not. Wang, Fung, Yu 2007, section 5.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from itertools import chain
from pathlib import Path
from random import Random
from time import monotonic

import handicapping_report as report
import numpy as np
import result_files
import uci
from cells import MARKER, cells_of, shown
from uci import DataSet

import privet as pv
from privet.microdata.utility import ClassCells, find_best_leaf, predict_classes
from privet.values.contingency import Domain

MODES = {
    "paper": pv.TopDownDisclosure(paper=True),
    "maximal": pv.TopDownDisclosure(),
}
LEAVES = uci.sized((2, 5, 10, 15, 20, 30, 50, 100), (5, 30))
"""The sizes of leaves that cross-validation chooses from."""
SETS, SEED = uci.sized(30, 1), 2007
OUT = Path("build/studies")


@dataclass(frozen=True)
class Case:
    """A choice of sensitive columns."""

    data: str
    """The table."""
    family: str
    """"Top" for the most telling columns, "Ran" for random ones."""
    size: int
    """How many columns are sensitive."""
    draw: int
    """Which random choice; 0 for Top."""
    sensitive: tuple[str, ...]
    """Which they are."""


@dataclass(frozen=True)
class Outcome:
    """The errors of one release."""

    threshold: str
    """The highest confidence allowed."""
    mode: str
    """One of `MODES`."""
    feasible: bool
    """Whether any release keeps the promises."""
    base: float
    """Error on the original table."""
    removal: float
    """Error without the sensitive columns."""
    suppression: float | None = None
    """Error on the release; None if there is none."""
    hidden: float | None = None
    """Share of the cells of the masking columns that are hidden."""
    bits: float | None = None
    """What its columns tell about the class, each by itself, added up."""


Row = tuple[Case, Outcome]


# The templates ----------------------------------------------------------------------


def cases(data: DataSet, sets: int) -> list[Case]:
    """TopN, and as many random choices of N columns, for every N of the paper."""
    sizes = range(1, len(data.top) + 1)
    top = [Case(data.name, "Top", n, 0, data.top[:n]) for n in sizes]
    rng = Random(SEED)
    drawn = [
        Case(data.name, "Ran", n, draw, tuple(sorted(rng.sample(data.categorical, n))))
        for n in sizes
        for draw in range(sets)
    ]
    return top + drawn


def find_domain(cells: ClassCells, column: str) -> Domain:
    """The values of one column."""
    return next(d for d in cells.domains if d.name == column)


def rare_values(cells: ClassCells, column: str) -> list[str]:
    """The less frequent half of a column's values: those worth protecting."""
    labels, codes = find_domain(cells, column).labels, cells.codes_of(column)
    often = np.bincount(codes, weights=cells.n, minlength=len(labels))
    order = sorted(np.flatnonzero(often), key=lambda c: (often[c], labels[c]))
    return [labels[c] for c in order[: len(order) // 2]]


def promises(
    cells: ClassCells, sensitive: Sequence[str], quasi: Sequence[str], threshold: str
) -> list[pv.Promise]:
    """Nobody who knows all other columns may be surer of a rare value than allowed."""
    rare = {column: rare_values(cells, column) for column in sensitive}
    return [
        pv.Promise(
            pv.Linker(quasi), pv.Ceiling(threshold), {column: values}, name=column
        )
        for column, values in rare.items()
        if values
    ]


# The errors -------------------------------------------------------------------------


def rows_for(cells: ClassCells, part: str) -> np.ndarray:
    """How many rows of each cell belong to the training or the testing part."""
    code = find_domain(cells, uci.PART).code(part)
    return np.where(cells.codes_of(uci.PART) == code, cells.n, 0)


def error(cells: ClassCells, columns: Sequence[str], leaf: int) -> float:
    """The share of the testing part that a tree of the training part gets wrong."""
    train, test = rows_for(cells, "train"), rows_for(cells, "test")
    matrix = cells.over(columns).matrix()
    said = predict_classes(matrix, cells.classes, train, leaf=leaf)
    return float(test[said != cells.classes].sum() / test.sum())


def chosen_leaf(
    cells: ClassCells, columns: Sequence[str], leaves: Sequence[int] = LEAVES
) -> int:
    """How far trees are pruned: by cross-validation of the original training part.

    A small table is cut into folds ten times, for the folds matter there.
    """
    train = rows_for(cells, "train")
    here = np.flatnonzero(train)
    only = replace(
        cells,
        codes=tuple(c[here] for c in cells.codes),
        classes=cells.classes[here],
        n=train[here],
    )
    repeats = uci.sized(10, 1) if train.sum() < 5_000 else 1
    return find_best_leaf(only.over(columns), leaves, repeats=repeats)


@dataclass(frozen=True)
class Bench:
    """A table made ready for its cases."""

    data: DataSet
    """What it is."""
    rows: object
    """Rows that look alike put together."""
    original: ClassCells
    """Its cells as they are."""
    leaf: int
    """How far trees are pruned."""
    base: float
    """The base error."""


def set_up(data: DataSet, folder: Path, *, leaves: Sequence[int] = LEAVES) -> Bench:
    """Read a table, choose the pruning, measure the base error."""
    rows = uci.read_weighted(data, folder)
    cells = cells_of(rows, [*data.used, uci.PART], data.target, uci.WEIGHT)
    leaf = chosen_leaf(cells, data.used, leaves)
    return Bench(data, rows, cells, leaf, error(cells, data.used, leaf))


def measure(bench: Bench, sensitive: Sequence[str]) -> list[Outcome]:
    """Every threshold and mode for one choice of sensitive columns."""
    data = bench.data
    quasi = [c for c in data.used if c not in sensitive]
    removal = error(bench.original, quasi, bench.leaf)
    found = []
    with pv.read(
        bench.rows,
        quasi=quasi,
        sensitive=sensitive,
        target=data.target,
        weight=uci.WEIGHT,
        threads=1,
    ) as table:
        for threshold in data.thresholds:
            stated = promises(bench.original, sensitive, quasi, threshold)
            for mode in MODES:
                outcome = Outcome(threshold, mode, False, bench.base, removal)
                found.append(released(bench, table, stated, outcome))
    return found


def released(
    bench: Bench, table: pv.Table, stated: Sequence[pv.Promise], outcome: Outcome
) -> Outcome:
    """Publish the whole table, as the paper does, then train and test on its parts."""
    try:
        release = pv.publish(table, stated, method=MODES[outcome.mode])
    except pv.Infeasible:
        return outcome
    data, quasi = bench.data, table.roles.quasi
    cells = as_shown(bench.original, release)
    hidden = [hidden_rows(cells, column) for column in quasi]
    return replace(
        outcome,
        feasible=True,
        suppression=error(cells, data.used, bench.leaf),
        hidden=float(np.sum(hidden) / (len(quasi) * cells.total)),
        bits=float(sum(told_bits(cells, column) for column in quasi)),
    )


def as_shown(cells: ClassCells, release: pv.Release) -> ClassCells:
    """The cells of a table as its release shows them."""
    return shown(cells, release.hidden or {}, release.intervals or {})


def hidden_rows(cells: ClassCells, column: str) -> np.ndarray:
    """How many rows of each cell have the value of a column hidden."""
    code = find_domain(cells, column).code(MARKER)
    return np.where(cells.codes_of(column) == code, cells.n, 0)


def told_bits(cells: ClassCells, column: str) -> float:
    """The mutual information of what is shown of a column and the class."""
    labels, classes = cells.codes_of(column), cells.classes
    counts = np.zeros((labels.max() + 1, classes.max() + 1))
    np.add.at(counts, (labels, classes), cells.n)
    joint = counts / counts.sum()
    alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / alone[some])).sum())


# Table 3 ----------------------------------------------------------------------------

LIMITS = ("0.1", "0.3", "0.5", "0.7", "0.9")
"""The thresholds of the paper's Table 3."""


def inferences(data: DataSet, folder: Path) -> list[dict[str, object]]:
    """How many groups of the original table give a rare value away, by threshold."""
    rows = uci.read_weighted(data, folder)
    cells = cells_of(rows, data.used, data.target, uci.WEIGHT)
    quasi = [c for c in data.used if c not in data.top]
    found = []
    with pv.read(rows, quasi=quasi, sensitive=data.top, weight=uci.WEIGHT) as table:
        for limit in LIMITS:
            stated = [
                pv.Promise(p.against, p.limit, {column: value})
                for p in promises(cells, data.top, quasi, limit)
                for column, values in p.about.items()
                for value in values
            ]
            above = sum(f.groups_above for f in pv.audit(table, stated).findings)
            found.append({"data": data.name, "limit": limit, "here": above})
    return found


# Running ----------------------------------------------------------------------------


def data_sets() -> dict[str, DataSet]:
    """The paper's tables, and the two small ones with their numeric columns too."""
    if uci.SMOKE:
        return {uci.CRX.name: uci.CRX}
    wider = {d.name: d for d in (uci.CRX.with_numbers(), uci.GERMAN.with_numbers())}
    return uci.ALL | wider


@cache
def _bench(name: str, folder: Path) -> Bench:
    return set_up(data_sets()[name], folder)


def _measured(
    job: tuple[str, tuple[str, ...], Path],
) -> tuple[tuple[str, tuple[str, ...]], list[Outcome], int]:
    name, sensitive, folder = job
    bench = _bench(name, folder)
    return (name, sensitive), measure(bench, sensitive), bench.leaf


def run(folder: Path, sets: int, workers: int) -> tuple[list[Row], dict[str, int]]:
    """All cases of all tables; equal choices are measured once."""
    wanted = list(
        chain.from_iterable(
            cases(data, sets if name in uci.ALL else 0)
            for name, data in data_sets().items()
        )
    )
    distinct = dict.fromkeys((c.data, c.sensitive) for c in wanted)
    jobs = [(name, sensitive, folder) for name, sensitive in distinct]
    found: dict[tuple[str, tuple[str, ...]], list[Outcome]] = {}
    leaves: dict[str, int] = {}
    for key, outcomes, leaf in _done(jobs, workers):
        found[key], leaves[key[0]] = outcomes, leaf
    rows = [(c, o) for c in wanted for o in found[c.data, c.sensitive]]
    return rows, leaves


def _done(jobs: Sequence[tuple[str, tuple[str, ...], Path]], workers: int) -> Iterable:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        done = pool.map(_measured, jobs)
        for i, one in enumerate(done, 1):
            if i % 50 == 0:
                print(f"{i} of {len(jobs)} choices measured", file=sys.stderr)
            yield one


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Every case and outcome, one line each."""
    names = [f.name for f in (*fields(Case), *fields(Outcome))]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for case, outcome in rows:
            line = asdict(case) | asdict(outcome)
            writer.writerow(line | {"sensitive": " ".join(case.sensitive)})


def main() -> int:
    """Run the study, print the table, write the rows and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=SETS, help="random sets per N")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    folder = uci.find_checked()
    if folder is None:
        return 0
    start = monotonic()
    rows, leaves = run(folder, options.sets, options.workers)
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(rows, options.out / "handicapping.csv")
    print(report.text(rows, leaves))
    print(report.draw(rows, options.out / "handicapping"))
    command = f"python studies/handicapping.py --sets {options.sets}"
    figures = {
        "errors": [asdict(mean) for mean in report.means(rows)],
        "inferences": [r for d in uci.ALL.values() for r in inferences(d, folder)],
    }
    tolerance = {"errors": 0.005, "inferences": 0.0}
    result = result_files.Result.of(command, figures, tolerance)
    same = result_files.keep("handicapping", result)
    print(f"{monotonic() - start:.0f} seconds.")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
