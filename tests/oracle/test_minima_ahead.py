"""Many groups judged ahead by running minima: never against what exact trials say."""

from __future__ import annotations

import random

import numpy as np
import pytest

from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.incremental import Requirement, RunningMinima
from privet.values.arrays import Ints
from privet.values.beliefs import Ceiling

POINTS = [Point(0, 0, 1), Point(1, 0, 2), Point(1, 2, 1), Point(0, 1, 3)]


def some_groups(rng: random.Random, several: int, values: int) -> Ints:
    counts = (0, 1, 2, 3, 8)
    rows = [[rng.choice(counts) for _ in range(values)] for _ in range(several)]
    return np.array(rows)


@pytest.mark.parametrize("seed", range(40))
def test_groups_ahead_are_judged_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    values, several = rng.randint(5, 8), 30
    limits = [Ceiling(rng.choice(("2/3", "4/5", "9/10"))) for _ in range(2)]
    asked = [Requirement(rng.choice(POINTS), limit) for limit in limits]
    empty = RunningMinima.empty(asked, values)
    now = empty.with_groups(some_groups(rng, 1, values) + 9)
    while not now.is_safe():  # nothing is split then
        now = empty.with_groups(some_groups(rng, 1, values) + 9)
    met = 0
    for _ in range(5):
        groups = some_groups(rng, several, values)
        hopeless, lowering = now.find_hopeless(groups), now.find_lowering(groups)
        later = now
        for i, group in enumerate(groups):
            after = later.split(group[None, :])
            if hopeless[i]:
                assert after is None
            if not lowering[i]:  # safe in its turn, whatever came before it
                assert after is not None
                assert later.beliefs() == after.beliefs()
            met += int(hopeless[i]) + int(not lowering[i])
            later = later if after is None else after
        now = later
    assert met
