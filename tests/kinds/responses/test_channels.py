"""How shaky estimates by a channel are."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

import privet as pv
from privet.responses.channels import condition_number


def test_replacement_is_as_shaky_as_its_matrix() -> None:
    draw = random.Random(1)
    for _ in range(200):
        size = draw.randint(2, 9)
        weights = [draw.randint(0, 5) for _ in range(size - 1)] + [1]
        shares = [Fraction(w, sum(weights)) for w in weights]
        channel = pv.Replace(Fraction(draw.randint(1, 20), 20), shares)
        slow = np.linalg.cond(np.array(channel.matrix(size), dtype=float))
        assert slow == pytest.approx(condition_number(channel, size), rel=1e-8)


@pytest.mark.parametrize("size", [512, 513, 5000])
def test_many_values_are_no_excuse(size: int) -> None:
    found = condition_number(pv.Replace("0.0001"), size)
    assert 10_000 == pytest.approx(found)
