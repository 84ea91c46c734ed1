"""A limit on moving minds that no prior can meet forbids nothing, and is told so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import privet as pv

COUNTS = pv.ClassifierViews.from_counts(
    {"50K": 2, "70K": 5},
    {
        "Adr": {"W": {"50K": 1, "70K": 4}, "P": {"50K": 1, "70K": 1}},
        "Age": {"40": {"50K": 1, "70K": 5}, "50": {"50K": 1, "70K": 0}},
    },
)


def judge(limit: Any, **options: Any) -> pv.Audit:
    about = options.pop("about", None)
    strict = options.pop("strict", False)
    promise = pv.Promise(pv.Bayesian(**options), limit, about)
    return pv.audit(COUNTS, promise, strict=strict)


def test_from_a_half_with_two_classes() -> None:
    """Both classes begin at 1/2: neither is below it, nor above 0.8."""
    found = judge(pv.Shift("0.5", "0.8"))
    assert pv.Verdict.NOT_APPLICABLE is found.verdict
    assert not found.safe
    assert "no belief begins where the limit forbids" in found.findings[0].note
    with pytest.raises(pv.InputError, match="must forbid something"):
        judge(pv.Shift("0.5", "0.8"), strict=True)


def test_just_above_a_half_is_not_empty() -> None:
    assert pv.Verdict.BREACH is judge(pv.Shift("0.51", "0.8")).verdict


@pytest.mark.parametrize(
    ("prior", "about", "empty"),
    [
        ({"50K": "0.3", "70K": "0.7"}, None, False),  # 0.3 may rise to 0.999
        ({"50K": "0.3", "70K": "0.7"}, "70K", True),  # 0.7 is between
    ],
)
def test_priors_of_ones_own(prior: Any, about: str | None, empty: bool) -> None:
    found = judge(pv.Shift("0.5", "0.999"), prior=prior, about=about)
    assert empty == (pv.Verdict.NOT_APPLICABLE is found.verdict)


def test_a_classifier_is_not_written_under_an_empty_promise(tmp_path: Path) -> None:
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.5", "0.8"))
    release = pv.publish(COUNTS, [promise])
    with pytest.raises(pv.NotCovered, match="It forbids nothing, so keeping it"):
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert [] == list(tmp_path.iterdir())


def test_beliefs_are_asked_without_a_limit() -> None:
    assert pv.belief(COUNTS, pv.Bayesian(), about="70K").posterior > 0
