"""Where chance decides which group a person is asked: estimates equal enumeration."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import privet as pv
from oracle.designs import channels
from oracle.responses import of_group
from privet.responses.channel_inverse import invert_channel
from privet.responses.channels import Keep
from privet.responses.design import MarginalChannel
from privet.responses.disguise import plan_columns

SIZES = {"a": 2, "b": 3, "c": 2}
GROUPS = (("a", "c"), ("c", "b"), ("b", "a"))


@st.composite
def drawn(draw: st.DrawFn) -> pv.Design:
    """Two or three overlapping groups, each with any channel that disguises."""
    questions = [pv.Question(c, [str(v) for v in range(k)]) for c, k in SIZES.items()]
    some = GROUPS[: draw(st.integers(2, 3))]
    groups = []
    for columns in some:
        size = SIZES[columns[0]] * SIZES[columns[1]]
        usable = channels(size, flip=False).filter(
            lambda c, s=size: not c.refusal(s) and not isinstance(c, Keep)
        )
        groups.append(pv.Group(columns, draw(usable)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        return pv.Design(questions, groups, one_of=True)


def cell(design: pv.Design, columns: tuple[str, ...], values: dict[str, int]) -> tuple:
    sizes = [len(design.question(c)) for c in columns]
    return np.ravel_multi_index([values[c] for c in columns], sizes)


def estimable(design: pv.Design, columns: tuple[str, ...]) -> MarginalChannel | None:
    """None where nobody is asked both, or all channels together say nothing."""
    try:
        pieces = design.pieces(columns)
    except pv.InputError:
        return None
    return pieces[0] if len(pieces) == 1 else None


@settings(max_examples=30)
@given(drawn(), st.sampled_from([("c",), ("a",), ("b",), ("a", "c"), ("c", "b")]))
def test_shares_are_unbiased(design: pv.Design, columns: tuple[str, ...]) -> None:
    """For every record, over the groups it may be asked and all reports, exactly."""
    piece = estimable(design, columns)
    assume(piece is not None)
    assume(not any(g.always for g in plan_columns(design)))  # asked of everybody
    asking = design.asking(piece.columns)
    for record in product(*(range(k) for k in SIZES.values())):
        true = dict(zip(SIZES, record, strict=True))
        mean = np.array([Fraction(0)] * piece.size, dtype=object)
        for group in asking:
            sizes = [SIZES[c] for c in group.columns]
            mine = tuple(true[c] for c in group.columns)
            for report, p in of_group(mine, sizes, group.channel).items():
                seen = dict(zip(group.columns, report, strict=True))
                one = np.array([Fraction(0)] * piece.size, dtype=object)
                one[cell(design, piece.columns, seen)] = p / len(asking)
                mean = mean + invert_channel((piece,), one)
        wanted = np.array([Fraction(0)] * piece.size, dtype=object)
        wanted[cell(design, piece.columns, true)] = Fraction(1)
        assert (wanted == mean).all()


def test_a_class_asked_with_everything_is_estimated_from_everybody() -> None:
    """Groups of different sizes disguise the class differently; the mean is right."""
    values = {"a": 2, "b": 12, "y": 2}
    questions = [pv.Question(c, [str(v) for v in range(k)]) for c, k in values.items()]
    groups = [
        pv.Group(["a", "y"], pv.KAry("0.9")),
        pv.Group(["b", "y"], pv.KAry("0.3")),
    ]
    design = pv.Design(questions, groups, one_of=True)
    rng = np.random.default_rng(0)
    n = 60_000
    table = {c: rng.integers(0, k, n) for c, k in values.items()}
    table["y"] = (rng.random(n) < 0.2).astype(int)
    import pyarrow as pa

    seen = pv.RandomizedResponse(design=design, seed=1).transform(pa.table(table))
    found = pv.estimate(seen, design).share(y=1)
    assert n == found.n
    assert found.unbiased == pytest.approx(0.2, abs=4 * found.standard_error)
    assert 4 * found.standard_error < 0.03


@pytest.mark.parametrize("groups", [[["a"], ["a", "b"]], [["a", "b"], ["b", "a"]]])
def test_no_group_is_part_of_another(groups: list[list[str]]) -> None:
    questions = [pv.Question(c, ["0", "1"]) for c in "ab"]
    made = [pv.Group(g, pv.KAry("0.9")) for g in groups]
    with pytest.raises(pv.InputError, match="another group"):
        pv.Design(questions, made, one_of=True)
