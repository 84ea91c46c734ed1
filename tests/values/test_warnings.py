"""Warnings point at the line that called privet, however deep they were raised."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

import privet as pv
from privet.errors import warn


def of_mixed_types() -> None:
    pv.read(pd.DataFrame({"a": ["x", 1], "s": ["u", "v"]}))


def of_floats() -> None:
    frame = pd.DataFrame({"a": [1.0, None], "s": ["u", "v"]})
    with pv.read(frame, quasi="a", sensitive="s") as table:
        pv.audit(table, [pv.Measure(k_anonymity=1)])


def of_values_from_data() -> None:
    pv.RandomizedResponse(truth="0.5").fit(pd.DataFrame({"a": ["x", "y", "z"]}))


def of_anything() -> None:
    warn("Something.")


@pytest.mark.parametrize(
    "cause", [of_mixed_types, of_floats, of_values_from_data, of_anything]
)
def test_a_warning_points_here(cause: Callable[[], None]) -> None:
    with pytest.warns(pv.PrivacyWarning) as said:
        cause()
    assert {__file__} == {w.filename for w in said}
