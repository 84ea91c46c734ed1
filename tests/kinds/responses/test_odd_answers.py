"""Odd input to disguises, estimates and classifiers: told in a sentence, or right."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv


def design(*values: object, missing: str | None = None) -> pv.Design:
    question = pv.Question("q", values or ("0", "1"), missing=missing)
    return pv.Design([question], [pv.Group("q", pv.KAry("0.9"))])


def binned(missing: str | None = None) -> pv.RandomizedResponse:
    question = pv.Question("q", bins=[3], missing=missing)
    asked = pv.Design([question], [pv.Group("q", pv.KAry("0.9"))])
    return pv.RandomizedResponse(design=asked)


def disguised(values: tuple[object, ...], cells: object, **more: str) -> pa.Table:
    rows = pa.table({"q": cells})
    return pv.RandomizedResponse(design=design(*values, **more)).transform(rows)


KINDS = {
    "nothing but missing": (("0", "1"), pa.nulls(9), pa.string()),
    "a number and a word": (("1", "x"), pa.array([1] * 9), pa.string()),
    "one number spelt twice": (("1", "1.0"), pa.array([1.0] * 9), pa.string()),
    "too large for its kind": (("1", "300"), pa.array([1] * 9, pa.int8()), pa.string()),
    "a word among decimals": (("1", "x"), pa.array([Decimal(1)] * 9), pa.string()),
    "dates": (
        ("2020-01-01", "2021-01-01"),
        pa.array([date(2020, 1, 1)] * 9),
        pa.date32(),
    ),
    "numbers": (("1", "2"), pa.array([1] * 9, pa.int8()), pa.int8()),
}


@pytest.mark.parametrize("name", KINDS)
def test_reports_have_a_kind_that_holds_every_value(name: str) -> None:
    """Any value may be reported, whatever occurs; the reports can be estimated from."""
    values, cells, kind = KINDS[name]
    missing = {"missing": str(values[0])} if name == "nothing but missing" else {}
    found = disguised(values, cells, **missing)
    assert kind == found["q"].type
    assert 9 == pv.estimate(found, design(*values)).share(q=values[0]).n


MIXED = pd.DataFrame({"q": [1, "a", None]})
TWICE = pd.DataFrame([["0", "1"]], columns=["q", "q"])
ROWS = pa.table({"q": ["0", "1"]})
REFUSED: dict[str, tuple[str, Callable[[], object]]] = {
    "lists": ("single values", lambda: disguised(("1", "2"), pa.array([[1], [2]]))),
    "kinds mixed": ("cells of one kind", lambda: as_disguised(MIXED)),
    "a column twice": ("each column name once", lambda: as_disguised(TWICE)),
    "a group of none": ("got none", lambda: pv.Group([], pv.KAry("0.9"))),
    "no text": ("must be text", lambda: pv.estimate(ROWS, design()).share({"q": 0})),
    "given no text": (
        "must be text",
        lambda: pv.estimate(ROWS, design()).share(q=0, given=5),
    ),
    "no name": ("must be a question", lambda: pv.estimate(ROWS, design()).shares(3)),
    "no record": ("must be a dictionary", lambda: answer(["0"])),
    "a record of lists": ("text, numbers", lambda: answer({"q": [1]})),
    "a memory of another kind": ("memory must be", lambda: answer({"q": 0}, [])),
    "a short key": ("memory must be", lambda: answer({"q": 0}, {"key": "00"})),
    "a word to be binned": ("to be binned", lambda: binned().answer({"q": "x"})),
    "missing, undeclared": ("one of", lambda: binned().answer({"q": None})),
}


def as_disguised(frame: object) -> object:
    return pv.RandomizedResponse(design=design()).transform(frame)


def answer(record: object, memory: object = None) -> object:
    return pv.RandomizedResponse(design=design()).answer(record, memory)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(name: str) -> None:
    words, attempt = REFUSED[name]
    with pytest.raises(pv.PrivetError, match=words):
        attempt()


@pytest.mark.parametrize("cell", [b"canary", ["canary"], "canary", {"canary": 1}])
def test_nobodys_answer_is_quoted(cell: object) -> None:
    with pytest.raises(pv.PrivetError) as refused:
        answer({"q": cell})
    assert "canary" not in str(refused.value)
    with pytest.raises(pv.PrivetError) as refused:
        disguised(("0", "1"), pa.array([cell]))
    assert "canary" not in str(refused.value)


def test_numbers_of_any_size_are_binned() -> None:
    sure = pv.Design(
        [pv.Question("q", bins=[3], missing="3 and more")], [pv.Group("q", pv.KAry(1))]
    )
    disguise = pv.RandomizedResponse(design=sure)
    for value in (10**400, "1e300", Decimal(3), np.int64(7), 3.0, None):
        assert {"q": "3 and more"} == disguise.answer({"q": value})
    for value in (-(10**400), "5/2", 2.99):
        assert {"q": "below 3"} == disguise.answer({"q": value})
    rows = pa.table({"q": pa.array([1, None, 5])})
    reports = disguise.transform(rows)["q"].to_pylist()
    assert ["below 3", "3 and more", "3 and more"] == reports


def test_a_classifier_needs_labels_that_are_no_attribute() -> None:
    questions = [pv.Question(c, ["0", "1"]) for c in "qy"]
    asked = pv.Design(questions, [pv.Group(c, pv.KAry("0.9")) for c in "qy"])
    frame = pd.DataFrame({"q": ["0", "1", "1"], "y": ["0", "1", "1"]})
    with pytest.raises(pv.InputError, match="beside records"):
        pv.DisguisedNaiveBayes(asked).fit(frame[["q"]])
    with pytest.raises(pv.InputError, match="beside the class"):
        pv.DisguisedNaiveBayes(asked).fit(frame, frame["y"])


# Figures ----------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=6).filter(sum),
    st.integers(1, 20),
)
def test_what_is_told_lies_in_its_interval(counts: list[int], parts: int) -> None:
    """Also where shares of all values together are far from those of each."""
    question = pv.Question("q", [str(v) for v in range(len(counts))])
    asked = pv.Design([question], [pv.Group("q", pv.Replace(f"{parts}/20"))])
    cells = [str(v) for v, n in enumerate(counts) for _ in range(n)]
    found = pv.estimate(pa.table({"q": cells}), asked)
    for share in found.shares("q").values():
        low, high = share.interval
        assert 0 <= low <= share.value <= high <= 1
        assert low < high


def test_a_design_that_was_read_asks_the_same_group() -> None:
    """A respondent's memory picks the group by its place in the design."""
    questions = [pv.Question(c, ["0", "1"]) for c in "abc"]
    groups = [pv.Group(["b", "c"], pv.KAry("1/2")), pv.Group("a", pv.KAry("0.9"))]
    made = pv.Design(questions, groups, one_of=True)
    read = pv.Design.from_dict(made.to_dict())
    assert made == read
    record = dict.fromkeys("abc", "0")
    for i in range(20):
        memory = {"key": f"{i:064x}"}
        one, other = (
            pv.RandomizedResponse(design=d).answer(record, dict(memory))
            for d in (made, read)
        )
        assert one == other
