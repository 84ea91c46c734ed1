"""Exactness at the threshold: equal is safe for 'at most' and a breach for 'below'."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv

pytestmark = pytest.mark.engines


def verdicts(part: int, whole: int, level: object) -> tuple[str, str]:
    """What a share of part / whole is against a limit, 'at most' and 'below'."""
    rows = pa.table({"s": ["yes", "no"], "n": [part, whole - part]})
    with pv.read(rows, sensitive="s", weight="n") as table:
        found = pv.audit(
            table,
            [
                pv.Promise(pv.Linker([]), pv.Ceiling(level), {"s": "yes"}),
                pv.Promise(pv.Linker([]), pv.Ceiling(below=level), {"s": "yes"}),
            ],
        )
    return tuple(f.verdict.value for f in found.findings)


def keeping(level: object) -> str:
    """What a share within 'at most' is: at most 1 is no limit, and does not apply."""
    return "not applicable" if level == 1 else "safe"


@pytest.mark.parametrize(
    ("part", "whole", "level"),
    [
        (1, 10, 0.1),
        (3, 10, 0.3),
        (7, 10, "0.7"),
        (1, 3, "1/3"),
        (29, 100, 0.29),
        (1, 1, 1),
        (2**52 // 3, 2**52 // 3 * 3, Fraction(1, 3)),
    ],
)
def test_equal_to_the_limit(part: int, whole: int, level: object) -> None:
    assert (keeping(level), "breach") == verdicts(part, whole, level)


def test_floats_would_get_these_wrong() -> None:
    assert 0.1 + 0.2 > 0.3  # what exact numbers are for
    assert ("safe", "breach") == verdicts(3, 10, 0.3)
    third = Fraction(1, 3)
    near = Fraction(3002399751580330, 9007199254740990)  # rounds to the same float
    assert float(near) == float(third + Fraction(1, 10**18))
    assert ("safe", "safe") == verdicts(
        3002399751580330, 9007199254740990, third + Fraction(1, 10**18)
    )


@settings(max_examples=40)
@given(st.integers(1, 2**50), st.integers(1, 2**50), st.integers(1, 10**12))
def test_decided_as_fractions_decide(part: int, rest: int, den: int) -> None:
    whole = part + rest
    share = Fraction(part, whole)
    level = min(Fraction(1), max(Fraction(1, den), Fraction(round(share * den), den)))
    assert (
        keeping(level) if share <= level else "breach",
        "safe" if share < level else "breach",
    ) == verdicts(part, whole, level)


@pytest.mark.parametrize("level", [0, -1, "1.0001", 2, "nan", "", True, None])
def test_limits_outside_are_refused(level: object) -> None:
    with pytest.raises(pv.InputError):
        pv.Ceiling(level)
