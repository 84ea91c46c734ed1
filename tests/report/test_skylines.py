"""A skyline shows itself, in text, on a terminal and in a notebook."""

from __future__ import annotations

import json
from fractions import Fraction
from io import StringIO

import pyarrow as pa
import pytest
from rich.console import Console

import privet as pv
from privet.microdata.finding_sentences import phrase_measure
from privet.microdata.privacy_models.models import MODELS

EVIL = "<b>Tom\x1b[31m</b>"


def frontier(**keys: object) -> pv.Frontier:
    groups = [{"a": 2, "b": 2, EVIL: 2, "d": 1}, {"a": 1, "b": 1, EVIL: 1}]
    return pv.skyline(pv.Groups.from_histograms(groups), "0.9", **keys)


def test_everything_shown_comes_from_one_dictionary() -> None:
    found = frontier()
    told = json.loads(json.dumps(found.to_dict()))
    assert [
        tuple(p[k] for k in ("rules_out", "knows_others", "same_as"))
        for p in told["points"]
    ] == found.points
    assert ["3-anonymous", "distinct 3-diverse"] == told["names"][:2]
    assert told["headline"] in found.explain()


def test_a_terminal_and_a_notebook_are_not_obeyed() -> None:
    found = frontier()
    page = StringIO()
    Console(file=page, width=100).print(found)
    assert "values ruled out" in page.getvalue()
    assert "<b>" not in found._repr_html_()
    for text in (page.getvalue(), found._repr_html_(), found.explain()):
        assert "\x1b[31m" not in text


def test_caps_are_reported() -> None:
    found = frontier(max_k=0, max_m=0)
    assert ["knows_others", "same_as"] == found.at_cap
    assert "Look further with --max-k (max_k)." in found.explain()
    assert all(k == m == 0 for _, k, m in found.points)


def test_the_repr_is_short() -> None:
    assert "Frontier(below 9/10: [(" in repr(frontier())


@pytest.mark.parametrize("confidence", ["0", "1.1", "much"])
def test_confidence_is_a_probability(confidence: str) -> None:
    with pytest.raises(pv.InputError, match="confidence must be"):
        pv.skyline(pv.Groups.from_histograms([{"a": 1}]), confidence)


def test_what_has_no_skyline() -> None:
    with pytest.raises(pv.NoAudit, match="has no skyline"):
        pv.skyline("out", "0.9")
    with pytest.raises(pv.InputError, match="about must be 'value' here"):
        pv.skyline(pv.Groups.from_histograms([{"a": 1}]), "0.9", about="ill")
    with pytest.raises(pv.InputError, match="max_l must be a whole number from 0"):
        frontier(max_l=-1)


@pytest.mark.parametrize("key", MODELS)
def test_every_measure_has_its_sentence(key: str) -> None:
    measure = pv.Measure(**{key: 1}, **MODELS[key].required)
    said = phrase_measure(measure, Fraction(1), "2 people", "group is 1")
    assert said[0].isupper() or said[0].isdigit()
    assert said.endswith(".")
    assert "1" in said
    assert "None" not in said


def test_levels_and_what_lies_beyond_them() -> None:
    groups = pv.Groups.from_histograms([{"a": 3, "b": 1}, {"a": 1, "b": 3}])
    found = pv.audit(groups, pv.Measure(t_closeness="0.2")).worst
    assert (
        "✗ BREACH  t_closeness at most 1/5\n"
        "  Level: at most 1/5. Measured: 0.250, counted exactly.\n"
        "  The values of people who look alike are up to 0.250 away from those of "
        "everybody (4 people: group is 1).\n"
        "  All 2 groups (up to 8 people) are above the level."
    ) == repr(found)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"u": [1, 1, 2], "q": ["a"] * 3, "s": ["x", "y", "x"]}, "one value"),
        ({"u": [1, 1, 2], "q": ["a", "b", "a"], "s": ["x", "x", "y"]}, "one group"),
        ({"u": [1, 1, 3], "q": ["a"] * 3, "s": [["x"], ["x", "y"], []]}, "one value"),
    ],
)
def test_people_who_are_not_in_one_place_have_no_skyline(
    rows: dict[str, list[object]], words: str
) -> None:
    with (
        pv.read(pa.table(rows), quasi="q", sensitive="s", unit="u") as table,
        pytest.raises(pv.PrivetError, match=words),
    ):
        pv.skyline(table, confidence="0.9")
