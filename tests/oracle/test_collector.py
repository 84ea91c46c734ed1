"""The collector's guesses and their stated success equal enumeration."""

from __future__ import annotations

from fractions import Fraction
from time import monotonic

import numpy as np
import pytest

import privet as pv
from privet.responses.attacks import (
    _choose_truths,
    _compute_chances,
    estimate_recovered,
)
from privet.responses.channel_inverse import apply_channel, maximise_likelihood

CHANNELS = [
    pv.KAry("0.6"),
    pv.KAry("0.1"),
    pv.Replace("0.4", ["1/2", "1/3", "1/6", 0]),
    pv.Replace("0.4"),
    pv.Matrix(
        [[0.7, 0.2, 0, 0.1], [0.1, 0.6, 0.3, 0], [0.2, 0, 0.5, 0.1], [0, 0.2, 0.2, 0.8]]
    ),
]


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda c: c.kind)
@pytest.mark.parametrize("seed", range(3))
def test_guesses_are_the_likeliest_truths(channel: pv.KAry, seed: int) -> None:
    question = pv.Question("q", [str(v) for v in range(4)])
    design = pv.Design([question], [pv.Group("q", channel)])
    pieces = design.pieces(["q"])
    counts = np.random.default_rng(seed).integers(1, 60, 4)
    shares = maximise_likelihood(pieces, counts)
    chances = np.stack([apply_channel(pieces, e) for e in np.eye(4)], axis=1)
    best = _choose_truths(pieces, shares)
    for y in range(4):
        joint = chances[y] * shares
        assert joint[best[y]] == pytest.approx(joint.max())
    assert chances[np.arange(4), best] == pytest.approx(
        _compute_chances(pieces[0], best)
    )


def test_the_stated_share_is_unbiased_where_guesses_are_fixed() -> None:
    """A question nearly always answered truly is guessed right as often."""
    question = pv.Question("q", ["0", "1"])
    group = pv.Group("q", pv.KAry("9/10"))
    design = pv.Design([question], [group])
    found = estimate_recovered(
        design, group, np.array([[0], [1]]), np.array([500, 500])
    )
    assert Fraction(9, 10) == pytest.approx(found)


def test_sixty_thousand_values_are_attacked_in_time() -> None:
    questions = [pv.Question(c, [str(v) for v in range(250)]) for c in "ab"]
    group = pv.Group("ab", pv.KAry("0.9"))
    design = pv.Design(questions, [pv.Group(["a", "b"], group.channel)])
    rng = np.random.default_rng(1)
    seen = rng.integers(0, 250, (5000, 2))
    start = monotonic()
    found = estimate_recovered(
        design, design.groups[0], seen, np.ones(5000, dtype=np.int64)
    )
    assert 0.8 < found <= 1
    assert monotonic() - start < 20
