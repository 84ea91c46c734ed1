"""Which way the loops of Mondrian are run: compiled by numba, or in numpy."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from privet.publishers import cutloops
from privet.publishers.attributes import Shape
from privet.publishers.cutting import NUMPY, Aim, Cells, Cutter, Rules, Survey
from privet.publishers.kernels import SWITCH, jit
from privet.publishers.loops import Ints

WORTH = 20_000
"""Tables with fewer cells are cut before numba is imported."""


def cutter(cells: int) -> Cutter:
    """The loops for a table with so many cells."""
    return NUMPY if cells < WORTH else compiled() or NUMPY


@cache
def compiled() -> Cutter | None:
    """The compiled loops; None without numba."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        numba = import_module("numba")
        extending = import_module("numba.extending")
    except ImportError:
        return None
    for helper in HELPERS:
        extending.register_jitable(helper)
    return wrapped("numba", partial(jit, numba))


HELPERS = (
    cutloops.times_log,
    cutloops.told,
    cutloops.occurring,
    cutloops.in_order,
    cutloops.begins,
    cutloops.even,
    cutloops.telling,
    cutloops.values_of,
    cutloops.survey,
    cutloops.tally,
    cutloops.part,
    cutloops.worst_of,
    cutloops.allowed,
    cutloops.grown,
    cutloops.best_column,
    cutloops.keep_worst,
)


def wrapped(name: str, jit: Callable[[Any], Any] = lambda loop: loop) -> Cutter:
    """The loops one step at a time behind the same signatures."""
    fast_survey, fast_tally = jit(cutloops.survey), jit(cutloops.tally)
    fast_part, fast_finish = jit(cutloops.part), jit(cutloops.finish)

    def do_survey(
        cells: Cells, start: int, stop: int, shape: Shape, aim: Aim
    ) -> Survey:
        found = Survey.of(len(shape.kind))
        fast_survey(
            cells, start, stop, *_plain(shape), *aim, *_scratch(shape, aim), *found
        )
        return found

    def do_tally(
        cells: Cells, start: int, stop: int, column: int, cut: int, rules: Rules
    ) -> tuple[Ints, int]:
        hist = np.zeros((2, int(rules.offset[-1])), dtype=np.int64)
        left = fast_tally(
            cells, start, stop, column, cut, rules.about, rules.offset, hist
        )
        return hist, int(left)

    def do_part(cells: Cells, start: int, stop: int, column: int, cut: int) -> int:
        return int(fast_part(cells, start, stop, column, cut))

    def do_finish(
        cells: Cells,
        start: int,
        stop: int,
        shape: Shape,
        aim: Aim,
        rules: Rules,
        worst: Ints,
    ) -> Ints:
        scratch = _scratch(shape, aim)
        lines: Ints = fast_finish(
            cells, start, stop, *_plain(shape), *aim, *scratch, *rules, worst
        )
        return lines

    return Cutter(name, do_survey, do_tally, do_part, do_finish)


def _plain(shape: Shape) -> tuple[Any, ...]:
    """What the loops need of a shape."""
    return (shape.kind, shape.size, shape.at, shape.first, shape.nodes, shape.spread)


def _scratch(shape: Shape, aim: Aim) -> tuple[Ints, Ints]:
    """Room for a histogram of each column, left empty, and for places that occur."""
    return _room(len(shape.kind), shape.at.shape[1], aim.classes)


@cache
def _room(columns: int, places: int, classes: int) -> tuple[Ints, Ints]:
    hist = np.zeros((columns, places, classes), dtype=np.int64)
    return hist, np.zeros(places, dtype=np.int64)
