"""Utility: what an analyst keeps in a release: cells, information, predictions.

Suppressed cells are counted, and the mutual information of each column and the target,
in bits. A decision tree, cross-validated on the table and on the release, tells how
well the target can still be predicted (needs the extra `learn`); it is grown on
weighted cells: rows that look alike, counted by the engine.
Wang, Fung, Yu 2007, §5 measures utility by the error of such a tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from importlib import import_module
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import InputError, MissingExtra, TooLarge
from privet.microdata.release import Release
from privet.table import Table
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import percent

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

ORDERED = ("integer", "number", "date", "datetime")
"""Kinds of columns whose codes are in the order of their values."""

MOST_NUMBERS = 200_000_000
"""Numbers a matrix may hold: 800 MB."""

MOST_DEALT = 10**9
"""From here on rows are put into folds one by one: numpy deals no larger packs."""


# Weighted cells ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassCells:
    """Combinations of values that occur together with a class, and how often."""

    domains: tuple[Domain, ...]
    """One per column."""
    codes: tuple[Ints, ...]
    """The code of each cell, one array per column."""
    target: Domain
    """What is to be explained."""
    classes: Ints
    """The code of the target in each cell."""
    n: Ints
    """Rows (or summed weights) of each cell; positive."""

    def __len__(self) -> int:
        return len(self.n)

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.n.sum())

    def codes_of(self, column: str) -> Ints:
        """The codes of one column."""
        return self.codes[[d.name for d in self.domains].index(column)]

    def over(self, columns: Sequence[str]) -> ClassCells:
        """Only some columns; cells that look alike now stay apart."""
        at = [[d.name for d in self.domains].index(c) for c in columns]
        return replace(
            self,
            domains=tuple(self.domains[j] for j in at),
            codes=tuple(self.codes[j] for j in at),
        )

    def relabelled(self, relabels: Mapping[str, Relabel]) -> ClassCells:
        """The same cells as a release shows them."""
        pairs = [
            _relabel_column(d, c, relabels[d.name].texts)
            if d.name in relabels
            else (d, c)
            for d, c in zip(self.domains, self.codes, strict=True)
        ]
        return replace(
            self,
            domains=tuple(d for d, _ in pairs),
            codes=tuple(c for _, c in pairs),
        )

    def matrix(self) -> Floats:
        """One row per cell: ordered columns by rank, others one column per value."""
        width = sum(1 if d.kind in ORDERED else len(d) for d in self.domains)
        if len(self) * width > MOST_NUMBERS:
            raise TooLarge(
                f"A classifier of {len(self)} different rows and {width} values would "
                f"need {len(self) * width} numbers; at most {MOST_NUMBERS} are held. "
                "Bin or leave out the columns with the most values."
            )
        numbers = np.zeros((len(self), width), dtype=np.float32)
        at = 0
        for domain, codes in zip(self.domains, self.codes, strict=True):
            if domain.kind in ORDERED:
                numbers[:, at] = codes
                at += 1
            else:
                numbers[np.arange(len(self)), at + codes] = 1
                at += len(domain)
        return numbers


def _relabel_column(
    domain: Domain, codes: Ints, texts: Sequence[str | None]
) -> tuple[Domain, Ints]:
    """A column with other texts; it stays ordered if the texts are."""
    labels = list(dict.fromkeys(texts))
    code = {text: i for i, text in enumerate(labels)}
    new = np.array([code[text] for text in texts], dtype=np.int64)
    ordered = domain.kind in ORDERED and bool((np.diff(new) >= 0).all())
    kind = domain.kind if ordered else "text"
    return Domain(domain.name, labels, kind), new[codes]


def count_class_cells(
    table: Table, columns: Sequence[str], target: str, run: Run | None = None
) -> ClassCells:
    """Count a table's rows by some columns and the target; no row is fetched."""
    tally = CountQuery(tuple(columns), target)
    grouped = reduce(add, (part for _, part in table.count([tally], run or Run())))
    there = np.flatnonzero(grouped.n)  # rows of weight 0 are nobody
    group = grouped.group[there]
    found = ClassCells(
        grouped.by,
        tuple(
            np.asarray(c, dtype=np.int64)[group]
            for c in (grouped.keys.columns() if grouped.by else ())
        ),
        grouped.about,
        np.asarray(grouped.value, dtype=np.int64)[there],
        grouped.n[there],
    )
    return found.over(columns)


def split_into_folds(cells: ClassCells, folds: int, seed: int = 0) -> Ints:
    """Each row put into one of several folds by chance: rows of each cell per fold.

    Every fold gets its share of each class, give or take a row: in a small table the
    commonest class would else change with the fold that is left out.
    """
    rng = np.random.default_rng(seed)
    parts = np.zeros((folds, len(cells)), dtype=np.int64)
    for label in np.unique(cells.classes):
        here = np.flatnonzero(cells.classes == label)
        parts[:, here] = _deal_rows(cells.n[here], folds, rng)
    return parts


def _deal_rows(n: Ints, folds: int, rng: np.random.Generator) -> Ints:
    """Rows of some cells dealt into folds of the same size, as from a shuffled pack."""
    if n.sum() >= MOST_DEALT:
        return np.asarray(rng.multinomial(n, np.full(folds, 1 / folds)).T)
    parts, left = [], n.copy()
    for fold in range(folds):
        # 10 rows into 3 folds: 10 // 3, 7 // 2 and 4 // 1, so 3, 3 and 4.
        size = int(left.sum()) // (folds - fold)
        part = rng.multivariate_hypergeometric(left, size, method="marginals")
        parts.append(part)
        left = left - part
    return np.array(parts)


# Decision trees ---------------------------------------------------------------------


def predict_classes(
    matrix: Floats, classes: Ints, train: Ints, *, leaf: int
) -> NDArray[np.int64]:
    """The class of every cell, by a tree grown on some rows of them.

    Parameters
    ----------
    matrix, classes
        The cells and their classes.
    train
        How many rows of each cell the tree is grown on.
    leaf
        The fewest rows a leaf may have: the larger, the simpler the tree.
    """
    here = np.flatnonzero(train)
    # Half a row less: the tree compares sums of floats with a product of floats.
    fewest = min((leaf - 0.5) / float(train.sum()), 0.5)
    tree = _import_learner()(
        criterion="entropy", min_weight_fraction_leaf=fewest, random_state=0
    )
    tree.fit(matrix[here], classes[here], sample_weight=train[here])
    found: NDArray[np.int64] = tree.predict(matrix)
    return found


def cross_validate(
    matrix: Floats, classes: Ints, parts: Ints, *, leaf: int
) -> tuple[Ints, list[NDArray[np.int64]]]:
    """Cross-validation: rows of each fold predicted rightly, and the predictions."""
    everybody = parts.sum(axis=0)
    guesses = [
        predict_classes(matrix, classes, everybody - part, leaf=leaf) for part in parts
    ]
    right = [
        part[guess == classes].sum() for part, guess in zip(parts, guesses, strict=True)
    ]
    return np.array(right, dtype=np.int64), guesses


def find_best_leaf(
    cells: ClassCells, candidates: Sequence[int], *, folds: int = 10, repeats: int = 1
) -> int:
    """The size of leaves that predicts best in cross-validation; the largest of those.

    >>> from privet.values.contingency import Domain
    >>> alike = ClassCells((Domain("a", "x"),), (np.zeros(2, int),),
    ...                    Domain("b", "yn"), np.array([0, 1]), np.array([30, 20]))
    >>> find_best_leaf(alike, [1, 5])
    5
    """
    matrix = cells.matrix()
    rounds = [split_into_folds(cells, folds, seed) for seed in range(repeats)]

    def count_right(leaf: int) -> int:
        found = (
            cross_validate(matrix, cells.classes, parts, leaf=leaf) for parts in rounds
        )
        return sum(int(rows.sum()) for rows, _ in found)

    return max(candidates, key=lambda leaf: (count_right(leaf), leaf))


def _import_learner() -> Any:
    try:
        return import_module("sklearn.tree").DecisionTreeClassifier
    except ImportError:
        raise MissingExtra(
            "A classifier must have scikit-learn to be trained; it is not installed. "
            "Install privet with the extra learn: pip install 'privet[learn]'."
        ) from None


# What was kept ----------------------------------------------------------------------

FEWEST_ROWS = 20
"""In fewer rows a cross-validation says nothing."""


@dataclass(frozen=True)
class RetainedColumn:
    """What is left of one column."""

    name: str
    """As the table calls it."""
    hidden: int
    """Rows in which the release hides the value."""
    rows: int
    """All rows."""
    before: float | None = None
    """Bits it tells about the target in the private table; None without a target."""
    after: float | None = None
    """Bits it tells about the target in the release; never more."""

    @property
    def hidden_share(self) -> Fraction:
        """The share of its cells that are hidden."""
        return Fraction(self.hidden, max(self.rows, 1))

    def __str__(self) -> str:
        hidden = f"{self.name} {percent(self.hidden_share)} hidden"
        if self.before is None or self.after is None:
            return hidden
        return f"{hidden}, {self.after:.3f} of {self.before:.3f} bits"

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "hidden": self.hidden,
            "rows": self.rows,
            "bits_before": self.before,
            "bits_after": self.after,
        }


@dataclass(frozen=True)
class Predictions:
    """How a decision tree does on the table and on the release, cross-validated."""

    before: Fraction
    """Share of rows predicted rightly by a tree of the private table."""
    after: Fraction
    """Share of rows predicted rightly by a tree of the release."""
    agreement: Fraction
    """Share of rows of which both trees say the same."""
    majority: Fraction
    """Share of the commonest class: what is right without any column."""
    folds: int
    """Into how many parts the rows were cut, each predicted from the others."""

    def __str__(self) -> str:
        return (
            f"a tree is right in {percent(self.after)} instead of "
            f"{percent(self.before)}, the same in {percent(self.agreement)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines; shares as fractions in text."""
        shares = ("before", "after", "agreement", "majority")
        return {s: str(getattr(self, s)) for s in shares} | {"folds": self.folds}


@dataclass(frozen=True)
class RetainedUtility:
    """What the analyst kept of a table in a release. Private: it tells of the table."""

    columns: tuple[RetainedColumn, ...]
    """The columns that may be known from outside."""
    target: str | None = None
    """What the analyst wants to explain."""
    entropy: float | None = None
    """Bits there are to be told about the target."""
    predictions: Predictions | None = None
    """How a classifier does; None unless asked for."""

    def __getitem__(self, name: str) -> RetainedColumn:
        return next(c for c in self.columns if c.name == name)

    def __repr__(self) -> str:
        parts = [*map(str, self.columns)]
        if self.predictions:
            parts.append(str(self.predictions))
        return f"RetainedUtility({'; '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "target": self.target,
            "bits_of_target": self.entropy,
            "columns": {c.name: c.to_dict() for c in self.columns},
            "predictions": self.predictions and self.predictions.to_dict(),
        }


def measure_utility(
    release: Release, *, classifier: bool = False, folds: int = 5, leaf: int = 5
) -> RetainedUtility:
    """What the analyst kept of the table in a release of it.

    Parameters
    ----------
    release
        A release that `publish` made; one loaded from its files does not know the
        table any more.
    classifier
        Whether to train decision trees on the table and on the release too; needs the
        extra `learn`. They see the quasi and sensitive columns.
    folds, leaf
        How the trees are cross-validated, and the fewest rows a leaf may have.

    Examples
    --------
    >>> import privet as pv
    >>> from privet.demo.tables import bank_path
    >>> loans = pv.read(str(bank_path()), quasi=["job", "country"],
    ...                 sensitive="bankruptcy", target="rating", weight="count")
    >>> promise = pv.Promise(pv.Linker(["job", "country"]), pv.Ceiling("3/4"),
    ...                      {"bankruptcy": "Discharged"})
    >>> measure_utility(pv.publish(loans, promise))["country"].hidden_share
    Fraction(5, 12)
    """
    if release.recipe is None:
        raise InputError(
            "release must be one that publish made, which still knows its table; got "
            "one loaded from files."
        )
    run = Run()
    table, plain = release._table, replace(release._table, relabels={})
    target = table.roles.target
    names = _list_known_columns(release)
    hidden = release.hidden_cells()
    rows = _count_whole(plain, [CountQuery((), c) for c in names], run)
    bits = _measure_information(plain, table, names, target, run) if target else {}
    columns = tuple(
        RetainedColumn(c, hidden.get(c, 0), int(total.n.sum()), *bits.get(c, ()))
        for c, total in zip(names, rows, strict=True)
    )
    entropy = _target_entropy(plain, target, run) if target else None
    learnt = _compare_predictions(release, folds, leaf, run) if classifier else None
    return RetainedUtility(columns, target, entropy, learnt)


def _list_known_columns(release: Release) -> list[str]:
    """Quasi columns and others that were hidden; without the target."""
    assert release.recipe is not None
    named = dict.fromkeys([*release._table.roles.quasi, *release.recipe.columns])
    return [c for c in named if c != release._table.roles.target]


def _count_whole(
    table: Table, tallies: Sequence[CountQuery], run: Run
) -> list[EquivalenceClasses]:
    """Each count, put together from its parts."""
    parts: dict[CountQuery, list[EquivalenceClasses]] = {t: [] for t in tallies}
    for tally, part in table.count(tallies, run):
        parts[tally].append(part)
    return [reduce(add, parts[t]) for t in tallies]


# Information ------------------------------------------------------------------------


def _measure_information(
    plain: Table, shown: Table, names: Sequence[str], target: str, run: Run
) -> dict[str, tuple[float, float]]:
    tallies = [CountQuery((c,), target) for c in names]
    before, after = (_count_whole(t, tallies, run) for t in (plain, shown))
    return {
        c: (mutual_information(b), min(mutual_information(a), mutual_information(b)))
        for c, b, a in zip(names, before, after, strict=True)
    }


def mutual_information(grouped: EquivalenceClasses) -> float:
    """Mutual information of the groups and the value counted in them, in bits."""
    classes = np.bincount(grouped.value, weights=grouped.n)
    sizes = np.bincount(grouped.group, weights=grouped.n)
    # Two even classes that the group tells: 1 + 1 - 1 bits.
    joint = _entropy(grouped.n)
    return max(_entropy(classes) + _entropy(sizes) - joint, 0.0)


def _target_entropy(table: Table, target: str, run: Run) -> float:
    (counted,) = _count_whole(table, [CountQuery((), target)], run)
    return _entropy(counted.n)


def _entropy(n: NDArray[Any]) -> float:
    """The entropy of counts in bits.

    >>> _entropy(np.array([1, 1, 2]))
    1.5
    """
    share = n[n > 0] / n.sum()
    return float(-(share * np.log2(share)).sum())


# Predictions ------------------------------------------------------------------------


def _compare_predictions(
    release: Release, folds: int, leaf: int, run: Run
) -> Predictions:
    table = release._table
    target = _require_target(table)
    if folds < 2 or leaf < 1:
        raise InputError(
            f"folds must be at least 2 and leaf at least 1; got {folds} and {leaf}."
        )
    columns = [
        *_list_known_columns(release),
        *(c for c in table.roles.sensitive if c != target),
    ]
    before = count_class_cells(replace(table, relabels={}), columns, target, run)
    if before.total < FEWEST_ROWS:
        raise InputError(
            f"A table must have at least {FEWEST_ROWS} rows to train a classifier; "
            f"got {before.total}."
        )
    after = before.relabelled(table.relabels)
    parts = split_into_folds(before, folds)
    right, guesses = cross_validate(before.matrix(), before.classes, parts, leaf=leaf)
    kept_right, others = cross_validate(
        after.matrix(), before.classes, parts, leaf=leaf
    )
    same = [
        part[a == b].sum() for part, a, b in zip(parts, guesses, others, strict=True)
    ]
    most = np.bincount(before.classes, weights=before.n).max()

    def share(rows: object) -> Fraction:
        return Fraction(int(np.sum(rows)), before.total)  # type: ignore[call-overload]

    return Predictions(
        share(right), share(kept_right), share(same), share(most), folds=folds
    )


def _require_target(table: Table) -> str:
    if table.roles.target is None:
        raise InputError(
            "A table must have a target to train a classifier; declare one with target."
        )
    return table.roles.target
