"""Which way the loops of Mondrian are run: compiled by numba, or in numpy."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from privet.microdata.generalisation import mondrian_loops
from privet.microdata.generalisation.domain_order import DomainArrays
from privet.microdata.generalisation.kernels import (
    NUMPY,
    BestSplits,
    Cells,
    GroupRules,
    SplitCriterion,
    SplitKernels,
)
from privet.microdata.suppression.disclosure_loops import Ints
from privet.values.jit import all_of, numba

WORTH = 20_000
"""Tables with fewer cells are cut before numba is imported."""


def cutter(cells: int) -> SplitKernels:
    """The loops for a table with so many cells."""
    return NUMPY if cells < WORTH else compiled() or NUMPY


@cache
def compiled() -> SplitKernels | None:
    """The compiled loops; None without numba."""
    return None if numba() is None else wrapped("numba", all_of(mondrian_loops))


def wrapped(name: str, of: dict[str, Any] | None = None) -> SplitKernels:
    """The loops one step at a time behind the same signatures."""
    loops = SimpleNamespace(**(of or vars(mondrian_loops)))

    def do_survey(
        cells: Cells, start: int, stop: int, shape: DomainArrays, aim: SplitCriterion
    ) -> BestSplits:
        found = BestSplits.of(len(shape.kind))
        loops.survey(
            cells, start, stop, *_plain(shape), *aim, *_scratch(shape, aim), *found
        )
        return found

    def do_tally(
        cells: Cells, start: int, stop: int, column: int, cut: int, rules: GroupRules
    ) -> tuple[Ints, int]:
        hist = np.zeros((2, int(rules.offset[-1])), dtype=np.int64)
        left = loops.tally(
            cells, start, stop, column, cut, rules.about, rules.offset, hist
        )
        return hist, int(left)

    def do_part(cells: Cells, start: int, stop: int, column: int, cut: int) -> int:
        return int(loops.part(cells, start, stop, column, cut))

    def do_finish(
        cells: Cells,
        start: int,
        stop: int,
        shape: DomainArrays,
        aim: SplitCriterion,
        rules: GroupRules,
        worst: Ints,
    ) -> Ints:
        scratch = _scratch(shape, aim)
        lines: Ints = loops.finish(
            cells, start, stop, *_plain(shape), *aim, *scratch, *rules, worst
        )
        return lines

    return SplitKernels(name, do_survey, do_tally, do_part, do_finish)


def _plain(shape: DomainArrays) -> tuple[Any, ...]:
    """What the loops need of a shape."""
    return (shape.kind, shape.size, shape.at, shape.first, shape.nodes, shape.spread)


def _scratch(shape: DomainArrays, aim: SplitCriterion) -> tuple[Ints, Ints]:
    """Room for a histogram of each column, left empty, and for places that occur."""
    return _room(len(shape.kind), shape.at.shape[1], aim.classes)


@cache
def _room(columns: int, places: int, classes: int) -> tuple[Ints, Ints]:
    hist = np.zeros((columns, places, classes), dtype=np.int64)
    return hist, np.zeros(places, dtype=np.int64)
