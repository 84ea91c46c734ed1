"""Zhan, Chang, Matwin 2004: what it says, where it is wrong, and what holds instead."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from oracle import responses as slow
from privet.responses.audit import breach_limit, list_cases
from privet.responses.channel_inverse import apply_channel, invert_channel
from privet.responses.channels import Keep
from privet.responses.design import MarginalChannel

F = Fraction


def yes_no(*names: str) -> list[pv.Question]:
    return [pv.Question(n, ["0", "1"]) for n in names]


def joint(truth: object, *names: str) -> pv.Design:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        return pv.Design(yes_no(*names), [pv.Group(list(names), pv.Flip(truth))])


def exact(values: list[object]) -> np.ndarray:
    return np.array([Fraction(v) for v in values], dtype=object)


# What is right ----------------------------------------------------------------------


def test_equations_1_and_2_one_group() -> None:
    """P*(E) = θ P(E) + (1-θ) P(opp E), and back; for every expression of the group."""
    design = joint("0.8", "a", "b", "c")
    pieces = design.pieces(["a", "b", "c"])
    truth = exact(["0.1", "0.05", "0.2", "0.15", "0.25", "0", "0.05", "0.2"])
    seen = apply_channel(pieces, truth)
    for at in range(8):
        assert F(4, 5) * truth[at] + F(1, 5) * truth[7 - at] == seen[at]
    assert (truth == invert_channel(pieces, seen)).all()
    either = np.array([a or b for a, b, _ in product(range(2), repeat=3)])
    assert truth[either].sum() == invert_channel(pieces, seen)[either].sum()


def test_equations_4_and_5_two_groups() -> None:
    """M2 is the Kronecker product of two M1; its determinant is (2p-1)⁴."""
    p, q = F(4, 5), F(1, 5)
    one = [[p, q], [q, p]]
    two = np.kron(exact([p, q, q, p]).reshape(2, 2), exact([p, q, q, p]).reshape(2, 2))
    assert [p * p, p * q, q * p, q * q] == list(two[0])
    determinant = F(1)
    for row in (one, one):
        determinant *= (row[0][0] * row[1][1] - row[0][1] * row[1][0]) ** 2
    assert (2 * p - 1) ** 4 == determinant
    design = pv.Design(
        yes_no("a", "b"), [pv.Group("a", pv.Flip(p)), pv.Group("b", pv.Flip(p))]
    )
    truth = exact(["0.4", "0.3", "0.2", "0.1"])
    seen = apply_channel(design.pieces(["a", "b"]), truth.reshape(2, 2))
    assert (two @ truth == seen.ravel()).all()


def test_warner_in_plain_words() -> None:
    design = pv.Design(yes_no("smokes"), [pv.Group("smokes", pv.Flip("0.8"))])
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("0.9"), {"smokes": "1"})
    found = pv.audit(design, promise).worst
    assert pv.Belief("1/2", "4/5") == found.belief
    assert (
        "Seeing the report smokes is 1, one can be 80 % sure that smokes is 1; before, "
        "50 %." == found.explain()
    )


# Errata -----------------------------------------------------------------------------


def test_r1_a_public_class_needs_its_own_formula() -> None:
    """Eq. 2 for the pair expects .15 .10 .35 .40 where .25 0 .25 .50 is true."""
    rows = [(1, 1), (1, 1), (0, 0), (1, 0)]
    truth = exact(["1/4", "0", "1/4", "1/2"])  # 00 01 10 11
    public = pv.Design(
        yes_no("a", "y"), [pv.Group("a", pv.Flip("0.6")), pv.Group("y", Keep())]
    )
    both = joint("0.6", "a", "y").pieces(["a", "y"])
    right = public.pieces(["a", "y"])
    wrong_mean, right_mean = exact([0] * 4), exact([0] * 4)
    for seen, p in slow.disguises(public, rows):
        shares = exact([0] * 4)
        for a, y in seen:
            shares[2 * a + y] += F(1, 4)
        wrong_mean = wrong_mean + p * invert_channel(both, shares)
        right_mean = (
            right_mean + p * invert_channel(right, shares.reshape(2, 2)).ravel()
        )
    assert [F("0.15"), F("0.1"), F("0.35"), F("0.4")] == list(wrong_mean)
    assert (truth == right_mean).all()


def test_r2_equation_7_is_in_another_order_than_its_matrix() -> None:
    """p = 0.8: P*(cc) is .76; the printed order gives .712, and 31/30 for .9 back."""
    p = F(4, 5)
    pieces = (
        MarginalChannel(("a",), 2, pv.Flip(p)),
        MarginalChannel(("b",), 2, pv.Flip(p)),
    )
    cc, c_, _c, __ = (F(v) for v in ("0.9", "0.6", "0.5", "0.2"))
    true = exact([cc, c_, _c, __]).reshape(2, 2)
    seen = apply_channel(pieces, true)
    assert F("0.76") == seen[0][0]
    assert cc == invert_channel(pieces, seen)[0][0]
    # Eq. 7 lists cc, both reversed, first reversed, second reversed.
    printed = exact([cc, __, _c, c_]).reshape(2, 2)
    assert F("0.712") == apply_channel(pieces, printed)[0][0]
    shown = exact([seen[0][0], seen[1][1], seen[1][0], seen[0][1]]).reshape(2, 2)
    assert F(31, 30) == invert_channel(pieces, shown)[0][0]


def test_r4_the_opposite_is_not_the_negation() -> None:
    """P(not 11) is not P(00)."""
    truth = exact(["0.4", "0.3", "0.2", "0.1"])
    seen = apply_channel(joint("0.8", "a", "b").pieces(["a", "b"]), truth)
    assert F(4, 5) * truth[3] + F(1, 5) * truth[0] == seen[3]
    assert F(4, 5) * truth[3] + F(1, 5) * (1 - truth[3]) != seen[3]


def test_r5_a_report_may_give_everything_away() -> None:
    """Population {110: 0.9, 000: 0.1}, θ = 1/2: 001 comes from 110 alone."""
    prior = {(1, 1, 0): F(9, 10), (0, 0, 0): F(1, 10)}
    half = {x: {x: F(1, 2), tuple(1 - v for v in x): F(1, 2)} for x in prior}
    joined = {x: p * half[x].get((0, 0, 1), F(0)) for x, p in prior.items()}
    assert 1 == joined[1, 1, 0] / sum(joined.values())
    # At 0.8, too, and whoever knows one answer knows the others.
    design = joint("0.8", "a", "b", "c")
    found = slow.posterior(design, prior, (0, 0, 1))
    assert 1 == found[1, 1, 0]
    assert 1 == pv.belief(design, pv.Bayesian(), {"a": "1"}).posterior


def test_r6_joint_flips_have_no_finite_epsilon() -> None:
    design = joint("0.8", "a", "b")
    assert (0, 1) not in slow.reports(design, (1, 1))
    assert design.growth() is None
    assert float("inf") == design.epsilon()
    alone = pv.Design(
        yes_no("a", "b"), [pv.Group("a", pv.Flip("0.8")), pv.Group("b", pv.Flip("0.8"))]
    )
    assert 16 == alone.growth() == slow.growth(alone)


def test_r6_parities_are_published() -> None:
    """Whether two answers of a group agree is told by every report."""
    design = joint("0.6", "a", "b", "c")
    for record in product(range(2), repeat=3):
        for report in slow.reports(design, record):
            assert record[0] ^ record[1] == report[0] ^ report[1]


def test_r7_independent_noise_is_not_independent_data() -> None:
    """A2 = A1 in the population: the report of one group tells about the other."""
    design = pv.Design(
        yes_no("a", "b"), [pv.Group("a", pv.Flip("0.8")), pv.Group("b", pv.Flip("0.8"))]
    )
    prior = {(0, 0): F(1, 2), (1, 1): F(1, 2)}
    found = slow.posterior(design, prior, (1, 1))
    assert F(16, 17) == found[1, 1]  # above the 4/5 of one report
    any_prior = pv.Promise(pv.Bayesian(prior="any"), pv.Shift("1/2", "0.9"), "a")
    assert not pv.audit(design, any_prior).safe  # which covers it: ε of the record


def test_r8_two_equal_groups_are_not_one() -> None:
    one = joint("0.8", "a", "b")
    two = pv.Design(
        yes_no("a", "b"), [pv.Group("a", pv.Flip("0.8")), pv.Group("b", pv.Flip("0.8"))]
    )
    assert slow.reports(one, (1, 1)) != slow.reports(two, (1, 1))


@pytest.mark.parametrize("truth", [0, 1])
def test_r9_the_ends_are_exact(truth: int) -> None:
    rows = pa.table({"a": [0, 1] * 500})
    seen = pv.RandomizedResponse(truth=truth).transform(rows)
    assert all(
        (x == y) is bool(truth)
        for x, y in zip(rows["a"].to_pylist(), seen["a"].to_pylist(), strict=True)
    )


def test_r11_a_label_disguised_on_its_own_is_one_more_group() -> None:
    """Leaving the label as it is biases the accuracy; reversing it does not."""
    from privet.responses.accuracy import LABEL, estimate_accuracy

    design = pv.Design(
        yes_no("a", "y"), [pv.Group("a", pv.Flip("0.8")), pv.Group("y", pv.Flip("0.7"))]
    )
    rows = [(1, 1), (0, 1), (0, 0)]

    def correct(table: dict[str, np.ndarray]) -> np.ndarray:
        return table["a"] == table[LABEL]

    def mean(label: str | None) -> float:
        return sum(
            float(p)
            * estimate_accuracy(
                design,
                {"a": np.array([r[0] for r in seen])},
                np.array([r[1] for r in seen]),
                label,
                correct,
            ).unbiased
            for seen, p in slow.disguises(design, rows)
        )

    assert mean("y") == pytest.approx(2 / 3)
    assert mean(None) != pytest.approx(2 / 3)


def test_r12_the_error_depends_on_how_many_answer() -> None:
    """SE about 0.5 / (|2θ-1| √n), at the worst share."""
    from privet.responses.estimate import estimate_share

    design = pv.Design(yes_no("a"), [pv.Group("a", pv.Flip("0.6"))])
    for n in (100, 10_000):
        counts = np.array([n // 2, n // 2])
        found = estimate_share(
            design.pieces(["a"]), counts, np.array([False, True]), confidence=0.95
        )
        assert found.standard_error == pytest.approx(0.5 / (0.2 * n**0.5), rel=0.01)


def test_r13_estimates_stay_shares() -> None:
    from privet.responses.estimate import estimate_share

    design = pv.Design(yes_no("a"), [pv.Group("a", pv.Flip("0.6"))])
    found = estimate_share(
        design.pieces(["a"]),
        np.array([90, 10]),
        np.array([False, True]),
        confidence=0.9,
    )
    assert found.unbiased == pytest.approx(-1.5)
    assert 0 == found.value
    assert found.interval[0] == 0 > found.unclipped[0]


# Beside the errata ------------------------------------------------------------------


def test_at_one_half_there_is_nothing_to_estimate() -> None:
    with pytest.raises(pv.InputError, match="unrelated question"):
        pv.Design(yes_no("a"), [pv.Group("a", pv.Flip("1/2"))])


def test_the_unrelated_question_is_another_channel() -> None:
    """p = 1/2 with a fair coin is Warner's θ = 3/4: e^ε = 3."""
    asked = pv.Replace("1/2", ["1/2", "1/2"])
    assert asked.matrix(2) == pv.Flip("3/4").matrix(2)
    assert 3 == asked.growth(2)
    prevalence = pv.Replace("0.7", ["0.9", "0.1"])
    assert prevalence.growth(2) == 1 + F("0.7") / (F("0.3") * F("0.1"))
    rare = pv.Replace("0.7", [1, 0])
    assert rare.growth(2) is None


def test_breach_limits() -> None:
    """No prior below 1/2 is moved to 4/5 or more if e^ε is at most 4."""
    assert 4 == breach_limit(F(1, 2), F(4, 5))
    limit = pv.Shift("1/2", "4/5")
    for truth, safe in (("4/5", True), ("0.81", False)):
        design = pv.Design(yes_no("a"), [pv.Group("a", pv.Flip(truth))])
        promise = pv.Promise(pv.Bayesian(prior="any"), limit, "a")
        assert safe is pv.audit(design, promise).safe


def test_every_case_of_a_design_is_a_distribution() -> None:
    design = pv.Design(yes_no("a"), [pv.Group("a", pv.KAry("0.8"))])
    found = list(list_cases(design, "a", pv.Bayesian()))
    assert [{"a": "0"}, {"a": "1"}] == [dict(c.sees) for c in found]
