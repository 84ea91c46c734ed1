"""Promises about a number within a window, through the front door."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.policy import file_keys
from privet.values.windows import Within

TEN: dict[str, Any] = {"pay": {"within": "10 %"}}
HALF = pv.Ceiling("1/2")


def table_of(pay: list[Any], **columns: list[Any]) -> pa.Table:
    return pa.table({**columns, "pay": pay})


def read(pay: list[Any], groups: list[str], **options: Any) -> pv.Table:
    columns = options.pop("columns", {})
    frame = table_of(pay, job=groups, **columns)
    return pv.read(frame, quasi=["job"], sensitive="pay", **options)


# What a policy says -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("10 %", "10 %"),
        ("12.50%", "12.5 %"),
        (500, "500"),
        (0.25, "0.25"),
        (Fraction(1, 3), "1/3"),
        ("30 days", "30 days"),
        ("1 day", "1 day"),
    ],
)
def test_widths_survive_being_written(given: Any, written: str) -> None:
    promise = pv.Promise(pv.Linker(), HALF, {"pay": {"within": given}}, "p")
    policy = pv.Policy(roles=pv.Roles(sensitive="pay"), promises=[promise])
    assert {"pay": {"within": written}} == promise.to_dict()["about"]
    again = pv.Policy.from_toml(policy.to_toml())
    assert policy.promises == again.promises


def test_a_policy_file_and_its_schema() -> None:
    text = """
    [columns]
    quasi = ["job"]
    sensitive = ["pay"]
    [[promise]]
    against = "linker"
    about = { pay = { within = 500 } }
    at_most = 0.5
    """
    (promise,) = pv.Policy.from_toml(text).promises
    assert {"pay": Within(Fraction(500))} == promise.about
    assert "linker about pay within 500" == promise.name
    form = file_keys.SECTIONS["promise"]["about"].form
    assert file_keys.fits({"pay": {"within": "10 %"}}, form)
    assert not file_keys.fits({"pay": {}}, form)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"within": 0}, "above 0; got 0"),
        ({"within": "-5 %"}, "above 0; got -5 %"),
        ({"within": "wide"}, "within must be a width such as 500"),
        ({"within": True}, "within must be a width such as 500"),
        ({"near": 5}, "got a table with 'near'"),
        ({}, "got a table with nothing"),
    ],
)
def test_wrong_widths_are_refused(wrong: Any, said: str) -> None:
    with pytest.raises(pv.InputError) as error:
        pv.Promise(pv.Linker(), HALF, {"pay": wrong})
    assert said in str(error.value)


def test_other_adversaries_have_no_windows() -> None:
    for who in (pv.Bayesian(), pv.Reconstructor()):
        with pytest.raises(pv.InputError, match="judged against linkers and insiders"):
            pv.Promise(who, HALF, TEN)


# Which columns ----------------------------------------------------------------------


def test_columns_without_windows_are_refused() -> None:
    jobs = ["a", "a", "b"]
    with read(["x", "y", "z"], jobs) as table, pytest.raises(pv.InputError) as error:
        pv.belief(table, pv.Linker(), TEN)
    assert "column of numbers or dates; 'pay' is text" in str(error.value)
    with (
        read([1, 2, 3], jobs, bins={"pay": [2]}) as table,
        pytest.raises(pv.InputError, match="'pay' is in bins"),
    ):
        pv.belief(table, pv.Linker(), TEN)
    with (
        read([1, 2, 3], jobs) as table,
        pytest.raises(pv.InputError, match="which holds numbers; got '3 days'"),
    ):
        pv.belief(table, pv.Linker(), {"pay": {"within": "3 days"}})


def test_dates_have_windows_of_days() -> None:
    days = [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), None]
    with read(days, ["a"] * 4) as table:
        found = [
            pv.belief(table, pv.Linker(), {"pay": {"within": w}}).posterior
            for w in ("1 day", "2 days")
        ]
        assert [Fraction(1, 2), Fraction(3, 4)] == found
        with pytest.raises(pv.InputError, match="which holds dates; got '500'"):
            pv.belief(table, pv.Linker(), {"pay": {"within": 500}})


def test_infinite_and_large_numbers() -> None:
    pay = [float("inf"), float("inf"), 1e308, 5e-324, float("nan"), -1e308]
    with read(pay, ["a"] * 6) as table:
        found = pv.belief(table, pv.Linker(), {"pay": {"within": 1}})
    assert Fraction(1, 3) == found.posterior


# What is told -----------------------------------------------------------------------


def test_the_witness_names_the_window() -> None:
    promise = pv.Promise(pv.Linker(), HALF, {"pay": {"within": 10}}, "p")
    pay = [1, 5, 11, 12, 30, 2, 2, 40, 41]
    with read(pay, ["a"] * 5 + ["b"] * 4) as table:
        found = pv.audit(table, [promise]).worst
    told = json.loads(json.dumps(found.to_dict()))
    assert ("breach", "exact", "3/5") == (
        told["verdict"],
        told["basis"],
        told["posterior"],
    )
    assert {"pay": {"from": "1", "to": "11"}} == told["witness"]["about"]
    assert {"pay": {"within": "10"}} == told["about"]
    assert (
        "Someone who knows that a person's job is a can be 60 % sure (3 of 5 rows) "
        "that pay lies between 1 and 11. Without that, 55.6 % (5 of 9)."
    ) == told["words"]
    assert "pay to within 10, against" in told["promised"]


def test_negative_windows_are_named_from_the_lowest() -> None:
    with read([-10, -11, 5], ["a"] * 3) as table:
        found = pv.audit(table, [pv.Promise(pv.Linker(), HALF, TEN, "p")]).worst
    assert ("-11", "-10") == found.witness.window


def test_people_with_several_numbers_are_bounded() -> None:
    who = ["1", "1", "2", "3"]
    frame = table_of([10, 10.5, 20, 40], job=["a"] * 4, who=who)
    promise = pv.Promise(pv.Linker(), HALF, TEN, "p")
    with pv.read(frame, quasi=["job"], sensitive="pay", unit="who") as table:
        (found,) = pv.audit(table, [promise]).findings
    assert ("undecided", "bound") == (found.verdict.value, found.basis.value)


# Insiders ---------------------------------------------------------------------------


def test_people_known_by_name() -> None:
    frame = table_of([10, 11, 12, 30], who=["Al", "Bo", "Cy", "Di"], job=["a"] * 4)
    options: Any = {"quasi": ["job"], "sensitive": "pay", "identifier": "who"}
    with pv.read(frame, **options) as table:

        def sure(within: object = "10 %", **knowledge: Any) -> Fraction:
            who = pv.Insider(victim="Al", **knowledge)
            return pv.belief(table, who, {"pay": {"within": within}}).posterior

        # 10 and 11 of four; of 10, 12 and 30, once Bo has 11; without 30 both of 2.
        assert Fraction(1, 2) == sure()
        assert Fraction(1, 3) == sure(knows_others={"Bo": "11"})
        assert Fraction(2, 3) == sure(rules_out=["30"])
        assert Fraction(1) == sure("20 %", rules_out=["30"])
        # If Bo's number lies in the window, so does Al's: 2 * 3 of 2 * 3 + 2 * 1.
        assert Fraction(3, 4) == sure(same_as=["Bo"])
        with pytest.raises(pv.NoAudit, match="same_as must name people"):
            sure(same_as=1)


def test_companions_in_another_group_are_a_bound() -> None:
    """Nobody's number is known for 20 of 22; 10 of 40 have the same one elsewhere."""
    apart = [1_000 * 3**i for i in range(30)]
    pay = [1, 5_000, *[None] * 20, *[100] * 10, *apart]
    insider = pv.Insider(rules_out=1, same_as=1)
    levels = ("51/100", "11/20", "3/5")
    promises = [pv.Promise(insider, pv.Ceiling(x), TEN, x) for x in levels]
    with read(pay, ["a"] * 22 + ["b"] * 40) as table:
        found = pv.audit(table, promises).findings
    assert ["breach", "undecided", "safe"] == [f.verdict.value for f in found]
    # In one group the odds are 1 * 20/21; 1 of the one times 3/4 of the other.
    assert Fraction(21, 41) == found[0].belief.posterior
    for bounded in found[1:]:
        assert "bound" == bounded.basis.value
        assert Fraction(4, 7) == bounded.belief.posterior
        assert Fraction(21, 41) == bounded.at_least
    assert "upper bound" in found[1].explain()


# Coverage ---------------------------------------------------------------------------


def test_a_window_covers_its_column_for_whoever_knows_all() -> None:
    frame = table_of([1, 10, 100, 1000], job=["a"] * 4, town=["x"] * 4)
    with pv.read(frame, quasi=["job", "town"], sensitive="pay") as table:
        assert pv.audit(table, [pv.Promise(pv.Linker(), HALF, TEN)]).safe
        fewer = pv.Promise(pv.Linker(knows=["job"]), HALF, TEN)
        assert "not covered" == pv.audit(table, [fewer]).verdict.value
        exact = pv.Promise(pv.Linker(), HALF, "pay")
        assert "not covered" == pv.audit(table, [fewer, exact]).verdict.value
        wider = pv.Promise(pv.Linker(), HALF, {"pay": {"within": "20 %"}})
        assert pv.audit(table, [fewer, wider]).safe


# Releases ---------------------------------------------------------------------------

PAY = [30, 31, 33, 44, 31, 41, 52, None, 36, 47, 61, 28, 35, 46, 58, 71]


def staff() -> pa.Table:
    job = ["Cook"] * 8 + ["Clerk"] * 8
    town = (["Ely"] * 4 + ["Rye"] * 4) * 2
    return pa.table({"job": job, "town": town, "pay": pa.array(PAY, pa.int64())})


def policy_with(**more: Any) -> pv.Policy:
    roles = pv.Roles(quasi=["job", "town"], sensitive="pay")
    promise = pv.Promise(pv.Linker(), HALF, TEN, "rough")
    return pv.Policy(roles=roles, promises=[promise], **more)


@pytest.mark.engines
@pytest.mark.parametrize("method", [pv.TopDownDisclosure(), pv.Mondrian()])
def test_a_release_is_verified_and_a_changed_promise_is_not(
    method: Any, tmp_path: Path
) -> None:
    policy = policy_with()
    with pv.read(staff()).with_roles(policy.roles) as table:
        pv.publish(table, policy, method=method).write(
            tmp_path / "out", custody=tmp_path / "vault"
        )
    told = pv.verify(tmp_path / "out")
    assert told.good
    (finding,) = told.audit.findings
    assert {"pay": Within(Fraction(1, 10), "share")} == finding.promise.about
    manifest = next((tmp_path / "out").glob("*.json"))
    manifest.write_text(manifest.read_text().replace('"10 %"', '"90 %"'))
    assert not pv.verify(tmp_path / "out").good


@pytest.mark.engines
def test_nothing_is_published_that_cannot_keep_a_window() -> None:
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/10"), TEN, "rough")
    with pv.read(staff(), quasi=["job", "town"], sensitive="pay") as table:
        for method in (pv.TopDownDisclosure(), pv.Mondrian()):
            with pytest.raises(pv.Infeasible, match="cannot be kept") as error:
                pv.publish(table, [promise], method=method)
            assert Fraction(1, 4) == error.value.best


@pytest.mark.engines
def test_linkers_who_know_columns_beside_groups() -> None:
    frame = staff().append_column("bed", pa.array(["1", "2"] * 8))
    options: Any = {"quasi": ["job", "town"], "sensitive": "pay", "other": ["bed"]}
    promise = pv.Promise(pv.Linker(), HALF, TEN, "rough")
    with pv.read(frame, **options) as table:
        made = pv.publish(table, [promise], method=pv.Mondrian())
    assert made.audit.safe
    assert made.audit.worst.belief.posterior <= Fraction(1, 2)
    with pv.read(frame, **options) as table:
        insider = pv.Promise(
            pv.Insider(knows_others=1, same_as=1), pv.Ceiling("3/4"), TEN, "known"
        )
        made = pv.publish(table, [insider, promise], method=pv.Mondrian())
    assert made.audit.safe


@pytest.mark.engines
def test_two_releases_of_the_same_rows_are_judged_together(tmp_path: Path) -> None:
    """Jobs in one, towns in the other: matched rows tell more than either."""
    pv.Ledger.create(tmp_path / "ledger")
    source = tmp_path / "staff.parquet"
    pq.write_table(staff(), source)
    for i, (keep, drop) in enumerate((("job", "town"), ("town", "job"))):
        policy = pv.Policy(
            roles=pv.Roles(quasi=[keep], sensitive="pay", drop=[drop]),
            promises=[pv.Promise(pv.Linker(), HALF, TEN, "rough")],
            ledger=str(tmp_path / "ledger"),
        )
        with pv.read(source).with_roles(policy.roles) as table:
            made = pv.publish(table, policy, method=pv.TopDownDisclosure())
            if i == 0:
                made.write(tmp_path / "one", custody=tmp_path / "vault")
    (found,) = made.history.findings
    # Numbers that occur once tell which rows are one person's: 3 of 4 cooks in Ely,
    # but that 31 occurs twice.
    assert ("breach", "exact") == (found.verdict.value, found.basis.value)
    assert Fraction(1, 2) < found.belief.posterior <= Fraction(3, 4)
    assert ("30", "33") == found.witness.window
    assert "3/4" == found.details["matching"]


@pytest.mark.engines
def test_a_later_delivery_hides_more(tmp_path: Path) -> None:
    promise = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), TEN, "rough")
    policy = pv.Policy(
        roles=pv.Roles(quasi=["job", "town"], sensitive="pay"), promises=[promise]
    )
    now = pa.concat_tables(
        [
            staff(),
            pa.table(
                {"job": ["Cook"] * 4, "town": ["Ely"] * 4, "pay": [1, 10, 20, 90]}
            ),
        ]
    )
    with (
        pv.read(staff()).with_roles(policy.roles) as first,
        pv.read(now).with_roles(policy.roles) as second,
    ):
        earlier = pv.publish(first, policy, method=pv.TopDownDisclosure())
        options: Any = {"recipe": earlier.recipe, "since": first}
        made = pv.publish(second, policy, **options)
        assert made.audit.safe
        with pytest.raises(pv.InputError, match="hold_back must be left out"):
            pv.publish(second, policy, **options, hold_back=True)


@pytest.mark.engines
def test_who_knows_the_method() -> None:
    frame = pa.table(
        {"job": ["a", "a", "b", "b", "c"], "pay": pa.array([1, 1, 9, 20, 30])}
    )
    promise = pv.Promise(pv.Linker(), pv.Ceiling("3/5"), {"pay": {"within": 1}}, "p")
    with pv.read(frame, quasi=["job"], sensitive="pay") as table:
        made = pv.publish(table, [promise], method=pv.TopDownDisclosure())
        found = pv.Minimality().attack(made)
    assert found.fitting >= 1
    assert found.worst is not None
    assert {b.value for b in found.beliefs} <= {"1", "9", "20", "30"}
