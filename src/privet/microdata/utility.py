"""What the analyst kept of a table in a release: cells, information, predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError
from privet.microdata.cells import cells_of, split
from privet.microdata.release import Release
from privet.microdata.tree import tested
from privet.table import Table
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import percent

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
        return f"Kept({'; '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "target": self.target,
            "bits_of_target": self.entropy,
            "columns": {c.name: c.to_dict() for c in self.columns},
            "predictions": self.predictions and self.predictions.to_dict(),
        }


def kept(
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
    >>> kept(pv.publish(loans, promise))["country"].hidden_share
    Fraction(5, 12)
    """
    if release.recipe is None:
        raise InputError(
            "release must be one that publish made, which still knows its table; got "
            "one loaded from files."
        )
    run = Run()
    table, plain = release.table, replace(release.table, relabels={})
    target = table.roles.target
    names = _known(release)
    hidden = release.hidden_cells()
    rows = _counted(plain, [CountQuery((), c) for c in names], run)
    bits = _bits(plain, table, names, target, run) if target else {}
    columns = tuple(
        RetainedColumn(c, hidden.get(c, 0), int(total.n.sum()), *bits.get(c, ()))
        for c, total in zip(names, rows, strict=True)
    )
    entropy = _target_entropy(plain, target, run) if target else None
    learnt = _predictions(release, folds, leaf, run) if classifier else None
    return RetainedUtility(columns, target, entropy, learnt)


def _known(release: Release) -> list[str]:
    """Quasi columns and others that were hidden; without the target."""
    assert release.recipe is not None
    named = dict.fromkeys([*release.table.roles.quasi, *release.recipe.columns])
    return [c for c in named if c != release.table.roles.target]


def _counted(
    table: Table, tallies: Sequence[CountQuery], run: Run
) -> list[EquivalenceClasses]:
    """Each count, put together from its parts."""
    parts: dict[CountQuery, list[EquivalenceClasses]] = {t: [] for t in tallies}
    for tally, part in table.count(tallies, run):
        parts[tally].append(part)
    return [reduce(add, parts[t]) for t in tallies]


# Information ------------------------------------------------------------------------


def _bits(
    plain: Table, shown: Table, names: Sequence[str], target: str, run: Run
) -> dict[str, tuple[float, float]]:
    tallies = [CountQuery((c,), target) for c in names]
    before, after = (_counted(t, tallies, run) for t in (plain, shown))
    return {
        c: (information(b), min(information(a), information(b)))
        for c, b, a in zip(names, before, after, strict=True)
    }


def information(grouped: EquivalenceClasses) -> float:
    """Mutual information of the groups and the value counted in them, in bits."""
    classes = np.bincount(grouped.value, weights=grouped.n)
    sizes = np.bincount(grouped.group, weights=grouped.n)
    joint = _spread(grouped.n)
    return max(_spread(classes) + _spread(sizes) - joint, 0.0)


def _target_entropy(table: Table, target: str, run: Run) -> float:
    (counted,) = _counted(table, [CountQuery((), target)], run)
    return _spread(counted.n)


def _spread(n: NDArray[Any]) -> float:
    """The entropy of counts in bits.

    >>> _spread(np.array([1, 1, 2]))
    1.5
    """
    share = n[n > 0] / n.sum()
    return float(-(share * np.log2(share)).sum())


# Predictions ------------------------------------------------------------------------


def _predictions(release: Release, folds: int, leaf: int, run: Run) -> Predictions:
    table = release.table
    target = _target(table)
    if folds < 2 or leaf < 1:
        raise InputError(
            f"folds must be at least 2 and leaf at least 1; got {folds} and {leaf}."
        )
    columns = [*_known(release), *(c for c in table.roles.sensitive if c != target)]
    before = cells_of(replace(table, relabels={}), columns, target, run)
    if before.total < FEWEST_ROWS:
        raise InputError(
            f"A table must have at least {FEWEST_ROWS} rows to train a classifier; "
            f"got {before.total}."
        )
    after = before.relabelled(table.relabels)
    parts = split(before, folds)
    right, guesses = tested(before.matrix(), before.classes, parts, leaf=leaf)
    kept_right, others = tested(after.matrix(), before.classes, parts, leaf=leaf)
    same = [
        part[a == b].sum() for part, a, b in zip(parts, guesses, others, strict=True)
    ]
    most = np.bincount(before.classes, weights=before.n).max()

    def share(rows: object) -> Fraction:
        return Fraction(int(np.sum(rows)), before.total)  # type: ignore[call-overload]

    return Predictions(
        share(right), share(kept_right), share(same), share(most), folds=folds
    )


def _target(table: Table) -> str:
    if table.roles.target is None:
        raise InputError(
            "A table must have a target to train a classifier; declare one with target."
        )
    return table.roles.target
