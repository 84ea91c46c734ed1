"""Hierarchies that are made for columns without one."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest

from privet.microdata.full_domain.automatic_hierarchies import build_hierarchy
from privet.values.contingency import Domain


def test_dates_go_from_month_to_century() -> None:
    born = ["1980-12-03", "1980-12-24", "1980-01-01"]
    born += ["1981-01-01", "1999-12-31", "2001-02-03"]
    found = build_hierarchy(Domain("born", born, "date"))
    assert ("1980-12-24", "1980-12", "year 1980", "1980s", "century 1900", "*") == (
        found.path("1980-12-24")
    )


def test_a_time_has_its_day() -> None:
    when = ["2024-05-01 08:00:00", "2024-05-01 09:30:00", "2024-05-02 08:00:00"]
    found = build_hierarchy(Domain("when", when, "datetime"))
    assert ("2024-05-01", "*") == found.path(when[1])[1:]


def test_quarters() -> None:
    days = [f"2024-{m:02d}-15" for m in range(1, 13)]
    found = build_hierarchy(Domain("day", days, "date"))
    assert "2024 quarter 3" == found.path("2024-09-15")[1]


def test_decimals_keep_their_digits() -> None:
    rates = [f"{r / 100:.2f}" for r in range(0, 60, 1)]
    found = build_hierarchy(Domain("rate", rates, "number"))
    assert ("0.25 to below 0.3", "0.2 to below 0.3") == found.path("0.27")[1:3]


def test_negative_numbers_are_rounded_down() -> None:
    found = build_hierarchy(Domain("x", ["-7", "-3", "2", "11"], "integer"))
    assert "-10 to below 0" == found.path("-7")[1]
    assert "-10 to below 0" == found.path("-3")[1]


def test_huge_numbers_are_cut_exactly() -> None:
    huge = [str(10**60 + n) for n in (1, 4, 5, 11)]
    found = build_hierarchy(Domain("x", huge, "integer"))
    assert found.path(huge[0])[1] == found.path(huge[1])[1]
    assert f"{10**60} to below {10**60 + 5}" == found.path(huge[0])[1]


@pytest.mark.parametrize("kind", ["integer", "number", "date", "text"])
def test_each_level_is_made_of_whole_finer_ones(kind: str) -> None:
    """`Hierarchy` refuses what is torn; here that nothing is lost or repeated."""
    dice = random.Random(kind)
    for _ in range(200):
        several = dice.randint(1, 40)
        if kind == "date":
            first = date(1900, 1, 1)
            drawn = {
                (first + timedelta(dice.randrange(60_000))).isoformat()
                for _ in range(several)
            }
        elif kind == "text":
            drawn = {f"{dice.randrange(10**5):05d}" for _ in range(several)}
        else:
            places = 0 if kind == "integer" else dice.randint(1, 4)
            scale = 10 ** dice.randint(0, 6)
            drawn = {
                f"{dice.uniform(-scale, scale):.{places}f}".replace("-0", "0", 1)
                if places == 0
                else f"{dice.uniform(-scale, scale):.{places}f}"
                for _ in range(several)
            }
        domain = Domain("x", sorted(drawn), kind)
        found = build_hierarchy(domain)
        assert set(found.levels) == drawn
        paths = list(found.levels.values())
        sizes = [len({p[i] for p in paths}) for i in range(found.depth - 1)]
        assert sizes == sorted(sizes, reverse=True)
        assert 1 == sizes[-1]
        assert len(set(sizes)) == len(sizes) or len(drawn) == 1


def test_prefixes_only_of_codes_of_one_length() -> None:
    assert 2 == build_hierarchy(Domain("town", ["Ayr", "Bonn", "Cork"])).depth
    assert 2 == build_hierarchy(Domain("zip", ["123", "1234"])).depth


def test_an_order_makes_runs() -> None:
    order = ["none", "low", "middle", "high", "top"]
    found = build_hierarchy(Domain("school", sorted(order)), order)
    assert ("low", "none to low", "none to high", "*") == found.path("low")
    assert ("top", "top", "top", "*") == found.path("top")


@pytest.mark.parametrize("values", [[], [None], ["1"], ["nan", "1"], ["inf", "2"]])
def test_odd_columns(values: list[str | None]) -> None:
    kind = "number" if values and values[0] is not None else "text"
    found = build_hierarchy(Domain("x", values, kind))
    assert all(p[-1] == "*" for p in found.levels.values())
