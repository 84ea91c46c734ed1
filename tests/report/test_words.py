"""The sentences a steward reads."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet import (
    Bayesian,
    Belief,
    Ceiling,
    Finding,
    Linker,
    Ratio,
    Shift,
    Witness,
)
from privet.findings import Basis, Verdict
from privet.release.kinds import list_kinds
from privet.report import words
from report.examples import (
    audit,
    judged,
    measured,
    nobody,
    not_applicable,
    promise,
    undecided,
)

# One finding ------------------------------------------------------------------------


def test_the_sentence_of_the_design() -> None:
    assert (
        "Someone who knows that a person's job is Trader and country is UK can be 80 % "
        "sure (4 of 5 rows) that bankruptcy is Discharged. Without that, 20.8 % (5 of "
        "24)."
    ) == judged().explain()


@pytest.mark.parametrize(
    ("witness", "sentence"),
    [
        (
            Witness({"job": None}, "ill", None, 1, 1, 3, 9000, "people"),
            "Someone who knows that a person's job is missing can be 100 % sure (1 of "
            "1 person) that ill is missing. Without that, less than 0.1 % (3 of "
            "9,000).",
        ),
        (
            Witness({}, "ill", "Flu", 5, 8, 5, 8),
            "Someone who knows nothing but the table can be 62.5 % sure (5 of 8 rows) "
            "that ill is Flu.",
        ),
        (
            Witness({"job": ""}, "ill", "missing", 12_345, 20_000, 1, 2),
            "Someone who knows that a person's job is '' can be 61.7 % sure (12,345 of "
            "20,000 rows) that ill is 'missing'. Without that, 50 % (1 of 2).",
        ),
        (
            Witness({"a\nb": "x\x1b[31m"}, "\x07", " y", 3, 4, 1, 2),
            "Someone who knows that a person's a\\nb is 'x\\x1b[31m' can be 75 % sure "
            "(3 of 4 rows) that \\x07 is ' y'. Without that, 50 % (1 of 2).",
        ),
    ],
)
def test_sentences(witness: Witness, sentence: str) -> None:
    assert sentence == judged(witness).explain()


def test_a_breach_by_a_hair_does_not_look_like_the_limit() -> None:
    hair = judged(Witness({"job": "Cook"}, "ill", "Flu", 1251, 2500, 1, 2))
    assert "can be 50.04 % sure (1,251 of 2,500 rows)" in hair.explain()
    assert (
        "Limit: at most 50 %. Worst case: 50.04 %, counted exactly."
        == words.format_figures(hair)
    )


def test_a_value_that_never_occurs() -> None:
    assert nobody().explain().endswith("so there is nothing to be sure of: 0 %.")


def test_what_was_not_judged_says_why() -> None:
    assert "The time limit ran out." == undecided().explain()
    assert "It looks elsewhere." == not_applicable().explain()


def test_a_measure() -> None:
    assert (
        "The table is 1-anonymous: the smallest group of people who look alike in "
        "every quasi column has 1 row (job is Judge)."
    ) == measured(1).explain()
    assert "has 1,234 rows" in measured(1234).explain()


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (judged(), "Limit: at most 50 %. Worst case: 80 %, counted exactly."),
        (
            judged(limit=Ceiling(below="4/5")),
            "Limit: below 80 %. Worst case: 80 %, counted exactly.",
        ),
        (
            judged(limit=Ceiling("1/3")),
            "Limit: at most 1/3. Worst case: 80 %, counted exactly.",
        ),
        (
            judged(limit=Shift("0.1", "0.9")),
            "Limit: not from below 10 % to 90 % or back. Worst case: from 20.8 % to "
            "80 %, counted exactly.",
        ),
        (
            judged(limit=Ratio(2)),
            "Limit: within a factor of 2. Worst case: from 20.8 % to 80 %, counted "
            "exactly.",
        ),
        (
            Finding(promise(), Verdict.SAFE, Basis.BOUND, Belief("1/9", "1/4")),
            "Limit: at most 50 %. Worst case: 25 %, a proved upper bound.",
        ),
        (measured(4), "Level: at least 5. Measured: 4, counted exactly."),
        (
            undecided(),
            "Promised: bankruptcy is Discharged, against someone who knows a person's "
            "job and country: at most 50 %.",
        ),
    ],
)
def test_figures(finding: Finding, expected: str) -> None:
    assert expected == words.format_figures(finding)


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (None, "any value of the sensitive column"),
        ("ill", "any value of ill"),
        ({"ill": "*"}, "ill is any value"),
        ({"ill": None}, "ill is missing"),
        ({"ill": ["Flu", None]}, "ill is Flu or missing"),
        (["Flu", "Cold"], "the sensitive column is Flu or Cold"),
        ({"name": "Tom", "ill": "Flu"}, "name is Tom and ill is Flu"),
    ],
)
def test_what_was_promised(about: object, expected: str) -> None:
    said = words.describe_promise(promise(about=about))
    assert said.startswith(f"{expected}, against someone who knows a person's job and")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, ""),
        ({"groups": 1}, "The one group is not beyond the limit."),
        ({"groups": 8000}, "None of the 8,000 groups is beyond the limit."),
        (
            {"groups": 1, "groups_above": 1, "people_above": 5},
            "The one group (5 rows) is beyond the limit.",
        ),
        (
            {"groups": 9, "groups_above": 1, "people_above": 1},
            "1 of 9 groups (1 row) is beyond the limit.",
        ),
        (
            {"groups": 9, "groups_above": 2, "people_above": 1200},
            "2 of 9 groups (1,200 rows) are beyond the limit.",
        ),
        (
            {"groups": 9, "groups_above": 9, "people_above": 24},
            "All 9 groups (24 rows) are beyond the limit.",
        ),
    ],
)
def test_how_much_is_beyond(keys: dict[str, Any], expected: str) -> None:
    assert expected == words.describe_beyond(judged(**keys))
    below = expected.replace("beyond the limit", "below the level")
    assert below == words.describe_beyond(measured(4, **keys))


# The verdict ------------------------------------------------------------------------

SAFE, BREACH = judged(limit=Ceiling(1)), judged()


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([SAFE], "Safe: the promise is kept."),
        ([SAFE] * 2, "Safe: both promises are kept."),
        ([SAFE] * 3, "Safe: all 3 promises are kept."),
        (
            [SAFE, not_applicable()],
            "Safe: 1 of 2 promises is kept; 1 does not apply here.",
        ),
        ([BREACH], "Breach: the promise is broken."),
        ([BREACH, SAFE], "Breach: 1 of 2 promises is broken."),
        ([BREACH, BREACH, SAFE], "Breach: 2 of 3 promises are broken."),
        (
            [BREACH, SAFE, undecided(), not_applicable(), not_applicable()],
            "Breach: 1 of 5 promises is broken; 1 is undecided; 2 do not apply here.",
        ),
        ([undecided()], "Undecided: the promise is undecided."),
        ([undecided(), SAFE], "Undecided: 1 of 2 promises is undecided."),
        ([not_applicable()], "Nothing was judged: no promise applies here."),
    ],
)
def test_headlines(findings: list[Finding], expected: str) -> None:
    assert expected == words.write_headline(audit(*findings))


# Advice and reach -------------------------------------------------------------------

STOP, AGAIN = "Do not release the table as it is.", "Audit again after every change."
HIDE = "Or let privet publish hide the values that give it away."


def test_nothing_to_do_where_all_is_safe() -> None:
    assert [] == words.advise(audit(SAFE, not_applicable()))


def test_advice_names_the_columns_once() -> None:
    columns = (
        "Make the columns job and country coarser (bins, fewer values), or leave one "
        "of them out."
    )
    assert [STOP, columns, AGAIN, HIDE] == words.advise(audit(BREACH, BREACH))


def test_advice_about_one_column() -> None:
    one = judged(Witness({"zip": "1"}, "ill", "Flu", 4, 5, 1, 4))
    only = "Make the column zip coarser (bins, fewer values) or drop it."
    assert [STOP, only, AGAIN, HIDE] == words.advise(audit(one))


def test_advice_where_no_coarser_table_can_help() -> None:
    common = judged(Witness({"zip": "1"}, "ill", "Flu", 4, 5, 3, 4))
    assert words.advise(audit(common))[1].startswith(
        "Hiding cannot help: ill is Flu for 75 % of everybody (3 of 4), so no coarser"
    )
    assert HIDE not in words.advise(audit(common))


def test_advice_about_measures_and_the_undecided() -> None:
    rare = (
        "Make rare combinations of the quasi columns coarser, or drop them; privet "
        "publish --method mondrian does so."
    )
    wait = "Treat an undecided promise as broken until it is judged."
    assert [STOP, rare, AGAIN, wait] == words.advise(audit(measured(2), undecided()))


def test_reach_is_said_once_per_kind_that_was_judged() -> None:
    bayesian = Finding(
        promise("b", against=Bayesian()), Verdict.NOT_APPLICABLE, note="no"
    )
    found = audit(BREACH, SAFE, measured(9), bayesian)
    said = {sort: s for kind in list_kinds() for sort, s in kind.sentences.items()}
    linkers = [said["linker"].reach(f, found) for f in (BREACH, SAFE)]
    expected = dict.fromkeys([*linkers, said["measure"].reach(measured(9), found)])
    assert list(expected) == words.describe_reach(found)
    assert [] == words.describe_reach(audit(undecided()))
    for reach in expected:
        assert "Not covered" in reach or "does not say" in reach


def test_a_linker_who_knows_nothing_is_no_reason_to_coarsen() -> None:
    bare = judged(Witness({}, "ill", "Flu", 4, 5, 4, 5), against=Linker([]))
    assert "leave out the column ill" in words.advise(audit(bare))[1]


def test_people_with_several_rows_may_be_in_several_groups() -> None:
    years, ill = [1, 2, 2, 3, 3], ["y", "y", "y", "n", "n"]
    visits = pa.table({"who": [1, 1, 2, 3, 4], "year": years, "ill": ill})
    table = pv.read(visits, quasi="year", sensitive="ill", unit="who")
    about_y = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"ill": "y"})
    found = pv.audit(table, about_y)
    assert "2 of 3 groups (up to 3 people) are" in words.describe_beyond(found.worst)
    advice = (
        "To publish it with privet publish, say in [person] of the policy how rows "
        "become people."
    )
    assert advice in words.advise(found)


@pytest.mark.parametrize("source", ["loans.csv", pa.table({"a": [1]})])
def test_what_was_not_read_is_not_audited(source: object) -> None:
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"))
    with pytest.raises(pv.InputError, match=r"must be read first; got .* pv\.read\("):
        pv.audit(source, promise)  # type: ignore[arg-type]
