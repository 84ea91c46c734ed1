"""Laws of familiar measures: they fold, and most never suffer from merging."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from privet.microdata.privacy_models.audit import WorstGroup
from privet.microdata.privacy_models.class_scores import Batch
from privet.microdata.privacy_models.models import MODELS, is_monotone

HISTOGRAM = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 6), min_size=1)
RELEASE = st.lists(HISTOGRAM, min_size=2, max_size=6)
STATED = [
    pv.Measure(**{key: 1}, **({"c": 2} if "c" in model.options else {}))
    for key, model in MODELS.items()
]


def value(release, measure: pv.Measure) -> Fraction:
    found = pv.audit(pv.Groups.from_histograms(release), measure)
    assert found.findings[0].value is not None
    return found.findings[0].value


@pytest.mark.parametrize(
    "measure", [m for m in STATED if is_monotone(m)], ids=lambda m: m.kind
)
@given(release=RELEASE)
@settings(max_examples=25, deadline=None)
def test_merging_two_groups_never_worsens_a_monotone_measure(measure, release) -> None:
    first, second, *rest = release
    merged = [dict(Counter(first) + Counter(second)), *rest]
    before, after = value(release, measure), value(merged, measure)
    slack = Fraction(2, 10**9) if "entropy" in measure.kind else 0
    if measure.sense == "at least":
        assert after >= before - slack
    else:
        assert after <= before


@pytest.mark.parametrize("measure", STATED, ids=lambda m: m.kind)
@given(release=RELEASE, data=st.data())
@settings(max_examples=15, deadline=None)
def test_parts_of_a_release_merge(measure, release, data) -> None:
    groups = pv.Groups.from_histograms(release)
    whole = groups.grouped
    left = data.draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole)))
    mine = np.array(left)
    everybody = np.zeros(len(whole.about), dtype=np.int64)
    np.add.at(everybody, whole.value, whole.n)
    parts = [
        WorstGroup(measure).add(Batch(whole.take(np.flatnonzero(some)), everybody))
        for some in (mine, ~mine)
    ]
    expected = WorstGroup(measure).add(Batch(whole, everybody))
    found = parts[0] | parts[1]
    for name in ("value", "groups", "beyond", "people_beyond", "people", "overall"):
        assert getattr(expected, name) == getattr(found, name)
