"""Intervals that have a width, and reports that a design can hardly produce."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, log
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from privet.responses.design_misfit import find_misfit
from privet.responses.estimate import SolvedCounts
from privet.values.noise.binomial import tail_logarithm


def design(truth: str, size: int = 2, number: int = 1) -> pv.Design:
    names = [f"q{i}" for i in range(number)]
    values = [str(v) for v in range(size)]
    return pv.Design(
        [pv.Question(c, values) for c in names],
        [pv.Group(c, pv.KAry(truth)) for c in names],
    )


def shares(asked: pv.Design, counts: list[int], **more: float) -> list[pv.Estimate]:
    solved = SolvedCounts(asked.pieces(["q0"]), np.array(counts))
    some = np.eye(len(counts), dtype=bool)
    return [solved.estimate(w, confidence=0.95, **more) for w in some]


def test_all_say_yes() -> None:
    """400 of 400 at 3/4: from 90.9 %, and not 100 % exactly."""
    yes = shares(design("3/4"), [0, 400])[1]
    assert yes.sure == pytest.approx((0.909, 1), abs=0.001)
    assert yes.interval[0] == pytest.approx(0.91, abs=0.005)
    assert 1 == yes.interval[1]
    assert yes.value == 1
    assert yes.unbiased == pytest.approx(1.5)


@pytest.mark.parametrize("truth", ["3/4", "0.55", "1/5", "1", "0.95"])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_no_interval_of_two_values_is_without_width(truth: str, n: int) -> None:
    for yes in range(n + 1):
        for found in shares(design(truth), [n - yes, yes]):
            assert found.interval[0] < found.interval[1]


@pytest.mark.parametrize("truth", ["0.8", "0.4", "0.2"])
@pytest.mark.parametrize("n", [3, 31])
def test_no_interval_of_three_values_is_without_width(truth: str, n: int) -> None:
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for found in shares(design(truth, 3), [a, b, n - a - b]):
                assert found.interval[0] < found.interval[1]


@pytest.mark.parametrize("truth", ["3/4", "3/5", "9/10"])
@pytest.mark.parametrize("true", ["0", "1/20", "1/2", "19/20", "1"])
def test_sure_intervals_hold_as_often_as_they_say(truth: str, true: str) -> None:
    """Enumerated over every count: clamping it is monotone, so nothing is lost."""
    n, p, pi = 40, Fraction(truth), Fraction(true)
    lam = p * pi + (1 - p) * (1 - pi)
    held = Fraction(0)
    for yes in range(n + 1):
        low, high = shares(design(truth), [n - yes, yes])[1].sure or (0, 1)
        if low - 1e-12 <= pi <= high + 1e-12:
            held += comb(n, yes) * lam**yes * (1 - lam) ** (n - yes)
    assert held >= Fraction(95, 100)


def test_a_quotient_has_a_width() -> None:
    asked = design("3/4", number=2)
    rows = pa.table({"q0": ["1"] * 300 + ["0"] * 100, "q1": ["1"] * 400})
    found = pv.estimate(rows, asked).share("q1 = 1", given="q0 = 1")
    assert found.interval[0] < found.interval[1]


# Reports that can hardly be ---------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "k", "p"), [(10, 8, "1/2"), (60, 20, "1/3"), (9, 0, "1/4")]
)
def test_tails_are_those_of_the_binomial(n: int, k: int, p: str) -> None:
    share = Fraction(p)
    exact = sum(comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k, n + 1))
    assert float(exact) == pytest.approx(exp(tail_logarithm(k, n, float(share))))


def misfit(asked: pv.Design, columns: dict[str, list[str]]) -> object:
    with pv.read(pa.table(columns)) as table:
        return find_misfit(pv.Responses(table, asked))


def test_answers_that_nobody_disguised_are_told() -> None:
    """400 yes of 400 at 3/4: once in 10^49.7."""
    found = misfit(design("3/4"), {"q0": ["1"] * 400})
    assert found.sign
    assert -49.7 == pytest.approx(found.logarithm / log(10), abs=0.05)
    usual = misfit(design("3/4"), {"q0": ["1"] * 300 + ["0"] * 100})
    assert not usual.sign


def test_pairs_tell_what_single_questions_do_not() -> None:
    """Two answers that always agree, each half and half: no noise is on them."""
    half = ["1"] * 300 + ["0"] * 300
    found = misfit(design("3/4", number=2), {"q0": half, "q1": half})
    assert found.sign
    assert ("q0", "q1") == found.columns
    assert (2, 1) == (found.questions, found.pairs)


@pytest.mark.parametrize("true", ["0", "1/2", "1"])
def test_the_level_is_kept(true: str) -> None:
    """Enumerated: 5 in 100 at most look unusual at 5 %, whatever is true."""
    from privet.responses.design_misfit import _rate_reports

    asked, n, pi = design("3/4"), 50, Fraction(true)
    lam = (1 + 2 * pi) / 4
    alarms = Fraction(0)
    for yes in range(n + 1):
        rate = _rate_reports(asked.pieces(["q0"]), np.array([n - yes, yes]))
        if exp(rate) <= 0.05:
            alarms += comb(n, yes) * lam**yes * (1 - lam) ** (n - yes)
    assert alarms <= Fraction(5, 100)
    if true == "1":  # and it has power: a third of them is used at the border
        assert alarms > Fraction(1, 100)


@pytest.mark.parametrize("one_of", [False, True])
def test_disguised_answers_give_no_sign(one_of: bool) -> None:
    values = [str(v) for v in range(4)]
    asked = pv.Design(
        [pv.Question(c, values) for c in ("a", "b", "c")],
        [
            pv.Group("a", pv.KAry("0.6")),
            pv.Group("b", pv.Replace("0.5", ["1/2", "1/4", "1/8", "1/8"])),
            pv.Group("c", pv.KAry("0.1")),
        ],
        one_of=one_of,
    )
    rng = np.random.default_rng(0)
    rows = pa.table({c: rng.choice(values, 3_000, p=[1, 0, 0, 0]) for c in "abc"})
    seen = pv.RandomizedResponse(design=asked, seed=5).transform(rows)
    with pv.read(seen) as table:
        found = find_misfit(pv.Responses(table, asked))
    assert not found.sign
    assert (3, 0 if one_of else 3) == (found.questions, found.pairs)


def test_estimates_come_with_a_warning_or_without_a_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = '[[question]]\nname = "q"\nvalues = ["no", "yes"]\ntruth = 0.75\n'
    Path("d.toml").write_text(asked)
    for name, yes in (("bad.csv", 400), ("good.csv", 200)):
        rows = ["q", *["yes"] * yes, *["no"] * (400 - yes)]
        Path(name).write_text("\n".join(rows) + "\n")
    bad, good = (
        CliRunner().invoke(cli, ["estimate", name, "-d", "d.toml"])
        for name in ("bad.csv", "good.csv")
    )
    assert "do not look disguised by this design" in bad.output
    assert "once in 10^49" in bad.output
    assert "No sign that" in good.output
    assert "fit" not in good.output
