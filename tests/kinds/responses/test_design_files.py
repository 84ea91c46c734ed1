"""A design that is written and read again is the same design."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from privet.responses.channels import Keep

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
odd = st.sampled_from(["a.b", 'say "x"', "#", "[x]", "\\", "a\nb", "\x00\x7f\u202e"])
words = (texts | odd).filter(bool)
inside = st.fractions(0, 1).filter(lambda p: p not in (0, Fraction(1, 2), 1))
edges = st.lists(
    st.fractions() | st.integers(-(10**30), 10**30), min_size=1, max_size=3
)


@st.composite
def questions(draw: st.DrawFn, name: str) -> pv.Question:
    ask = draw(words | st.just(""))
    if draw(st.booleans()):
        cuts = sorted(set(draw(edges)))
        return pv.Question(name, bins=cuts, ask=ask)
    values = draw(st.lists(words, min_size=2, max_size=4, unique=True))
    missing = draw(st.none() | st.sampled_from(values))
    return pv.Question(name, values, ask=ask, missing=missing)


@st.composite
def channels(draw: st.DrawFn, size: int) -> object:
    truth = draw(inside.filter(lambda p: p != Fraction(1, size)))
    even = [Fraction(1, size)] * size
    mixed = [
        [truth / size + (1 - truth) * (x == y) for x in range(size)]
        for y in range(size)
    ]
    made = [pv.KAry(truth), pv.Replace(truth), pv.Replace(truth, even)]
    made.append(pv.Matrix(mixed))
    return draw(st.sampled_from([*made, *([pv.Flip(truth)] if size == 2 else [])]))


@st.composite
def designs(draw: st.DrawFn) -> pv.Design:
    names = draw(st.lists(words, min_size=1, max_size=4, unique=True))
    asked = [draw(questions(n)) for n in names]
    groups = [pv.Group(q.name, draw(channels(len(q)))) for q in asked[:2]]
    if rest := asked[2:]:
        groups.append(pv.Group([q.name for q in rest], pv.KAry("99/100")))
    one_of = draw(st.booleans())
    return pv.Design(asked, groups, title=draw(words | st.just("")), one_of=one_of)


@settings(max_examples=80)
@given(designs())
@pytest.mark.filterwarnings("ignore")
def test_designs_survive_being_written(design: pv.Design) -> None:
    assert design.to_dict() == tomllib.loads(design.to_toml())
    assert design == pv.Design.from_dict(tomllib.loads(design.to_toml()))
    assert design == pv.Design.from_dict(json.loads(json.dumps(design.to_dict())))


def test_what_utf8_cannot_hold_cannot_be_written() -> None:
    question = pv.Question("q", ["yes", "\udc00"])
    with pytest.raises(pv.InputError, match="must be text UTF-8 can hold"):
        pv.Design([question], [pv.Group("q", pv.KAry("3/4"))]).to_toml()


def test_with_one_of_a_question_is_public_or_drawn() -> None:
    """Otherwise one column would hold the truth and a disguise of it."""
    questions = [pv.Question(c, ["no", "yes"]) for c in "abc"]
    both = [pv.Group(["a", "b"], Keep()), pv.Group(["b", "c"], pv.KAry("1/2"))]
    with pytest.raises(pv.InputError, match="'b' must be public or disguised"):
        pv.Design(questions, both, one_of=True)
    with pytest.raises(pv.InputError, match="disguise something"):
        pv.Design(questions, [pv.Group(["a", "b", "c"], Keep())], one_of=True)
