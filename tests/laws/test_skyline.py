"""Laws of an insider's worst case: it folds, grows with knowledge, falls by merging."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from oracle.releases import fast
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.skyline import SkylineCheck

HISTOGRAM = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 6), min_size=1)
RELEASE = st.lists(HISTOGRAM, min_size=1, max_size=6)
KNOWLEDGE = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4))


@given(RELEASE, KNOWLEDGE, st.data())
@settings(max_examples=60, deadline=None)
def test_parts_of_a_release_merge(release, knowledge, data) -> None:
    whole = pv.Groups.from_histograms(release).grouped
    left = data.draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole)))
    mine = np.array(left)
    empty = SkylineCheck(range(4))
    parts = [
        empty.add(whole.take(np.flatnonzero(chosen))) if chosen.any() else empty
        for chosen in (mine, ~mine)
    ]
    point = Point(*knowledge)
    expected = empty.add(whole).belief(point)
    assert expected == (parts[0] | parts[1]).belief(point)
    assert expected == (parts[1] | parts[0]).belief(point)
    assert len(whole) == (parts[0] | parts[1]).groups


@given(RELEASE, KNOWLEDGE, st.integers(0, 2))
@settings(max_examples=80, deadline=None)
def test_knowing_more_never_lowers_the_worst_case(release, knowledge, which) -> None:
    more = [n + (i == which) for i, n in enumerate(knowledge)]
    assert fast(release, *knowledge) <= fast(release, *more)


@given(st.lists(HISTOGRAM, min_size=2, max_size=5), KNOWLEDGE)
@settings(max_examples=80, deadline=None)
def test_merging_two_groups_never_raises_it(release, knowledge) -> None:
    first, second, *rest = release
    both = dict(Counter(first) + Counter(second))
    assert fast([both, *rest], *knowledge) <= fast(release, *knowledge)


@given(RELEASE, KNOWLEDGE)
@settings(max_examples=60, deadline=None)
def test_the_groups_kept_serve_every_point(release, knowledge) -> None:
    groups = pv.Groups.from_histograms(release).grouped
    fold = SkylineCheck(range(4)).add(groups)
    assert fold.kept is not None
    again = SkylineCheck(range(4)).add(fold.kept)
    assert fold.belief(Point(*knowledge)) == again.belief(Point(*knowledge))
    assert fold.belief(Point(*knowledge)) == fast(release, *knowledge)


HUGE = 10**30


@pytest.mark.parametrize(
    "known", [(HUGE, 0, 0), (0, HUGE, 0), (0, 0, HUGE), (2, 2, HUGE)]
)
def test_numbers_beyond_any_table(known: tuple[int, int, int]) -> None:
    """Who knows more people than there are is certain; nothing passes 64 bits."""
    rows = {"g": ["p", "p", "q"], "s": ["x", "y", "x"]}
    insider = pv.Insider(*known)
    with pv.read(pa.table(rows), quasi="g", sensitive="s") as table:
        assert 1 == pv.belief(table, insider).posterior
        promise = pv.Promise(insider, pv.Ceiling("1/2"))
        with pytest.raises(pv.Infeasible, match="the belief is 1"):
            pv.publish(table, [promise], method=pv.Mondrian())


def test_no_end_to_look_for() -> None:
    groups = pv.Groups.from_histograms([dict.fromkeys("abcdef", 1)])
    far = pv.skyline(groups, "0.95", max_l=HUGE, max_k=HUGE, max_m=HUGE)
    assert pv.skyline(groups, "0.95").points == far.points
    assert [] == far.at_cap
