"""The case study of the skyline, and what its groups are like."""

from __future__ import annotations

import pytest
import uci

import privet as pv
import skyline

FOLDER = uci.find_folder()


def test_the_smallest_diverse_groups_give_the_points_of_the_slides() -> None:
    six = {str(i): 1 for i in range(6)}
    groups = pv.Groups.from_histograms([six, {**six, "0": 2}])
    points = pv.skyline(groups, confidence=skyline.CONFIDENCE).points
    assert sorted(skyline.SLIDES) == sorted(tuple(p) for p in points)


@pytest.mark.skipif(FOLDER is None, reason=f"the data is not here. {uci.HOW_TO_GET}")
def test_adult_in_diverse_groups() -> None:
    with skyline.table(FOLDER) as people:
        assert 45_222 == len(people)
        release, points = skyline.found(people)
    assert pv.Verdict.SAFE is release.audit.findings[0].verdict
    assert [] == [p for p in points if not skyline.below(p, skyline.SLIDES)]
    assert {(0, 4, 0), (1, 3, 1), (2, 2, 1), (3, 1, 2)} <= set(points)
