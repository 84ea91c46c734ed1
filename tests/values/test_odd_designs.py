"""Designs, disguises and questions that are odd: refused with a rule, or done right."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import privet as pv
from privet.responses.estimate import estimate_share
from privet.values.exact import PRIMES, _vanishes, invert_matrix, is_singular

SMALL = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.lists(
            st.integers(-2, 2).map(lambda i: Fraction(i, 3)), min_size=n, max_size=n
        ),
        min_size=n,
        max_size=n,
    )
)


@settings(max_examples=80)
@given(SMALL)
def test_singular_is_what_has_no_inverse(rows: list[list[Fraction]]) -> None:
    fixed = tuple(map(tuple, rows))
    assert is_singular(fixed) == (invert_matrix(fixed) is None)


@settings(max_examples=80)
@given(SMALL)
def test_a_matrix_times_its_inverse_is_one(rows: list[list[Fraction]]) -> None:
    fixed = tuple(map(tuple, rows))
    found = invert_matrix(fixed)
    assume(found is not None)
    one = [[Fraction(i == j) for j in range(len(rows))] for i in range(len(rows))]
    assert one == (np.array(rows, dtype=object) @ np.array(found)).tolist()


def test_the_inverse_of_a_channel_of_forty_values_is_its_closed_form() -> None:
    channel = pv.KAry("0.37")
    assert channel.inverse(40) == invert_matrix(channel.matrix(40))


def test_a_determinant_that_one_prime_divides_is_not_zero() -> None:
    rows = ((Fraction(PRIMES[0]), Fraction(0)), (Fraction(0), Fraction(1)))
    assert _vanishes(rows, PRIMES[0])
    assert not is_singular(rows)


def even(size: int) -> pv.Design:
    """A k-ary channel, written as a matrix."""
    rest = Fraction(1, 2 * (size - 1))
    rows = [
        [Fraction(1, 2) if i == j else rest for j in range(size)] for i in range(size)
    ]
    values = [str(v) for v in range(size)]
    return pv.Design([pv.Question("q", values)], [pv.Group("q", pv.Matrix(rows))])


def test_a_large_matrix_gives_what_its_closed_form_does() -> None:
    size = 90
    design, counts = even(size), np.arange(size) + 5
    same = pv.Design(design.questions, [pv.Group("q", pv.KAry("1/2"))])
    where = np.arange(size) < 30
    found = [
        estimate_share(d.pieces(["q"]), counts, where, confidence=0.95)
        for d in (design, same)
    ]
    assert found[1].unbiased == pytest.approx(found[0].unbiased, abs=1e-12)
    assert found[1].value == pytest.approx(found[0].value, abs=1e-6)
    assert found[1].standard_error == pytest.approx(found[0].standard_error)


@pytest.mark.parametrize(
    "make",
    [
        lambda q, g: pv.Design([q], ["q"]),
        lambda q, g: pv.Design(["q"], [g]),
        lambda q, g: pv.Group("q", 0.8),
        lambda q, g: pv.Group("q", pv.KAry),
    ],
)
def test_parts_of_a_wrong_kind_are_refused(make: object) -> None:
    question, group = pv.Question("q", [0, 1]), pv.Group("q", pv.KAry("0.8"))
    with pytest.raises(pv.InputError, match="got"):
        make(question, group)  # type: ignore[operator]


@pytest.mark.parametrize("what", ["channels", "values", "bins"])
def test_a_misspelt_column_of_a_disguise_is_refused(what: str) -> None:
    given_ = {"channels": pv.KAry("0.9"), "values": [0, 1], "bins": [5]}
    disguise = pv.RandomizedResponse(truth=0.8, **{what: {"smoke": given_[what]}})
    with pytest.raises(pv.ColumnNotFound, match="Did you mean 'smokes'"):
        disguise.transform(pa.table({"smokes": [0, 1]}))


def test_decimals_stay_decimals_and_lists_are_refused() -> None:
    kind = pa.decimal128(10, 2)
    rows = pa.table({"q": pa.array([Decimal("1.50"), Decimal("2.00")], kind)})
    disguise = pv.RandomizedResponse(truth=1, values={"q": ["1.5", "2"]})
    assert rows["q"].to_pylist() == disguise.transform(rows)["q"].to_pylist()
    with pytest.raises(pv.InputError, match="single values"):
        pv.RandomizedResponse(truth=1).transform(pa.table({"q": [[1], [2]]}))


@pytest.mark.parametrize("confidence", [0, 1, -1, "x", None, 1 - 1e-16, float("nan")])
def test_a_confidence_is_one(confidence: object) -> None:
    design = even(3)
    with pytest.raises(pv.InputError, match="confidence must"):
        pv.estimate(pa.table({"q": ["0"]}), design, confidence=confidence)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["(" * 2000 + "q = 1" + ")" * 2000, "not " * 9999])
def test_expressions_nested_without_end_are_refused(text: str) -> None:
    seen = pv.estimate(
        pa.table({"q": ["0", "1"]}),
        pv.Design([pv.Question("q", [0, 1])], [pv.Group("q", pv.KAry(0.8))]),
    )
    with pytest.raises(pv.InputError, match="nested"):
        seen.share(text)
    with pytest.raises(pv.InputError, match="at least one column"):
        seen.covariance()


@pytest.mark.parametrize(
    "channel",
    [
        pv.KAry("1/2"),
        pv.KAry("1/50"),
        pv.Replace("1/2"),
        pv.Replace("1/3", [Fraction(i, 300) for i in range(1, 25)]),
    ],
    ids=str,
)
def test_a_number_of_known_columns_is_the_worst_set(channel: pv.KAry) -> None:
    """Companions of different sizes: which of them is known matters."""
    sizes = {"a": 2, "b": 2, "c": 6}
    questions = [pv.Question(c, [str(v) for v in range(k)]) for c, k in sizes.items()]
    design = pv.Design(questions, [pv.Group(list(sizes), channel)])

    def worst(knows: object) -> Fraction:
        found = pv.belief(design, pv.Bayesian(knows=knows), {"a": "1"})  # type: ignore[arg-type]
        return found.posterior

    assert max(worst([c]) for c in "bc") == worst(1)
    assert worst(["b", "c"]) == worst(2) == worst(7) == worst(None)
    assert worst([]) == worst(0) <= worst(1) <= worst(2)


def test_columns_of_one_matrix_are_each_estimated_from_all_rows() -> None:
    """Both need the whole group's counts, which are taken once."""
    rows = [
        [Fraction(7, 10) if x == y else Fraction(1, 10) for x in range(4)]
        for y in range(4)
    ]
    questions = [pv.Question(c, ["0", "1"]) for c in "ab"]
    design = pv.Design(questions, [pv.Group(["a", "b"], pv.Matrix(rows))])
    seen = pa.table({"a": ["0", "1", "1"] * 20, "b": ["1", "1", "0"] * 20})
    found = pv.estimate(seen, design).every_share()
    assert {60} == {e.n for shares in found.values() for e in shares.values()}
    assert 1 == pytest.approx(sum(e.unbiased for e in found["a"].values()))
    assert pv.estimate(seen, design).share(a=1) == found["a"]["1"]
