"""Familiar measures from the same groups: findings without a belief."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from privet.engines.base import Run, Tally
from privet.errors import InputError
from privet.finding import Basis, Finding, Verdict, Witness
from privet.grouped import Grouped
from privet.policy import Measure
from privet.releases.groups import Groups
from privet.table import Table

Labels = Callable[[int], tuple[str | None, ...]]
"""Gives the values that describe a group."""


@dataclass(frozen=True)
class Smallest:
    """A fold over groups that keeps the smallest one."""

    level: int = 1
    size: int | None = None
    known: tuple[str | None, ...] = ()
    groups: int = 0
    groups_below: int = 0
    people_below: int = 0

    def add(self, sizes: NDArray[np.int64], labels: Labels) -> Smallest:
        """With some more groups of these sizes."""
        if len(sizes) == 0:
            return self
        below = sizes < self.level
        at = int(np.argmin(sizes))
        return self | replace(
            self,
            size=int(sizes[at]),
            known=labels(at),
            groups=len(sizes),
            groups_below=int(below.sum()),
            people_below=int(sizes[below].sum()),
        )

    def __or__(self, other: Smallest) -> Smallest:
        mine = other.size is None or (self.size is not None and self.size <= other.size)
        best = self if mine else other
        return replace(
            best,
            groups=self.groups + other.groups,
            groups_below=self.groups_below + other.groups_below,
            people_below=self.people_below + other.people_below,
        )


def judge(
    release: Table | Groups,
    measures: Sequence[Measure],
    run: Run,
    warn: Callable[[str], None],
) -> list[Finding]:
    """Measure the groups of all quasi columns."""
    folds = [Smallest(int(m.level)) for m in measures]
    for sizes, labels in _sizes(release, run):
        folds = [f.add(sizes, labels) for f in folds]
    columns = release.quasi if isinstance(release, Groups) else release.roles.quasi
    return [
        _finding(m, f, columns, release.counted)
        for m, f in zip(measures, folds, strict=True)
    ]


def _sizes(
    release: Table | Groups, run: Run
) -> Iterator[tuple[NDArray[np.int64], Labels]]:
    """The sizes of the groups of all quasi columns, batch by batch."""
    if isinstance(release, Groups):
        yield release.grouped.total, release.grouped.labels
        return
    if not release.roles.quasi:
        raise InputError("k_anonymity must have quasi columns; none is declared.")
    # A group over all quasi columns is a value of the last one in a group of the rest.
    *rest, last = release.roles.quasi
    for _, batch in release.count([Tally(tuple(rest), last)], run):
        yield batch.n, partial(_labels, batch)


def _labels(batch: Grouped, row: int) -> tuple[str | None, ...]:
    return (*batch.labels(int(batch.group[row])), batch.about[int(batch.value[row])])


def _finding(
    measure: Measure, fold: Smallest, columns: Sequence[str], counted: str
) -> Finding:
    size = fold.size or 0
    return Finding(
        promise=measure,
        verdict=Verdict.SAFE if size >= measure.level else Verdict.BREACH,
        basis=Basis.EXACT,
        value=Fraction(size),
        witness=Witness(
            dict(zip(columns, fold.known, strict=False)),
            "",
            None,
            size,
            size,
            0,
            1,
            counted,
        ),
        groups=fold.groups,
        groups_above=fold.groups_below,
        people_above=fold.people_below,
    )
