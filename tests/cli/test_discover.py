"""privet discover: rules, the picture, promises to paste, stops, odd tables."""

from __future__ import annotations

import csv
import json
import random
import signal
from collections.abc import Sequence
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from privet.microdata.discovery import discovery, levelwise_search

from .conftest import ALL_COLUMNS, BROKEN, COLUMNS, Privet

pytestmark = pytest.mark.engines


def write(name: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return name


@pytest.fixture
def policy(folder: Path) -> str:
    (folder / "roles.toml").write_text(ALL_COLUMNS + BROKEN, encoding="utf-8")
    return "roles.toml"


def test_the_bank(privet: Privet, policy: str) -> None:
    result = privet("discover", "loans.csv", "-p", policy)
    assert 0 == result.exit_code, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("9 rules give away 3 values: who knows at most 3 of 4 ")
    row = next(x for x in lines if x.startswith("job ") and "Discharged" in x)
    assert ["6", "66.7", "%", "(4", "of", "6)", "20.8", "%", "3.2"] == row.split()[-9:]
    picture = next(x for x in lines if x.split()[:2] == ["rating", "1"])
    assert ["rating", "1", "1", "·"] == picture.split()
    assert "do not send it along with a release" in result.stdout


def test_one_person_is_one_row(privet: Privet, folder: Path) -> None:
    rows = [("a", "x"), *[("b", "x"), ("b", "y"), ("b", "z")] * 3]
    write("few.csv", ["job", "ill"], rows)
    told = privet("discover", "few.csv", "--about", "ill").stdout
    assert "can be 100 % sure (1 of 1 row) that ill is x." in told


def test_the_object(privet: Privet, policy: str) -> None:
    told = json.loads(privet("discover", "loans.csv", "-p", policy, "--json").stdout)
    assert ("finished", "1/2", 3, 1) == tuple(
        told[k] for k in ("ended", "confidence", "columns", "support")
    )
    rule = next(r for r in told["rules"] if r["about"] == {"bankruptcy": "Discharged"})
    assert ("2/3", "5/24", "16/5", 6) == tuple(
        rule[k] for k in ("confidence", "floor", "lift", "people")
    )
    assert {"job": {"bankruptcy": 1}}.items() <= told["matrix"].items()
    assert [{"columns": 1, "looked_at": 4, "of": 4}] == told["sets"][:1]


def test_fewer_are_shown_and_all_are_in_the_object(privet: Privet, policy: str) -> None:
    shown = privet("discover", "loans.csv", "-p", policy, "--top", "2", "--by", "lift")
    assert "And 7 more rules." in shown.stdout
    first = next(
        x for x in shown.stdout.splitlines() if "Discharged  " in x and "%" in x
    )
    assert first.startswith("country")
    quiet = privet("discover", "loans.csv", "-p", policy, "-q", "--top", "1")
    assert "15\t4/5\tcountry\tbankruptcy\tNever\n" == quiet.stdout


def test_pasted_promises_are_judged_as_told(privet: Privet, policy: str) -> None:
    text = privet("discover", "loans.csv", "-p", policy, "--toml").stdout
    Path("pasted.toml").write_text(ALL_COLUMNS + "\n" + text, encoding="utf-8")
    told = json.loads(privet("discover", "loans.csv", "-p", policy, "--json").stdout)
    found = json.loads(
        privet("audit", "loans.csv", "-p", "pasted.toml", "--json").stdout
    )
    assert "breach" == found["verdict"]
    judged = [
        (f["posterior"], f["prior"], f["people_above"]) for f in found["findings"]
    ]
    expected = [(r["confidence"], r["floor"], r["people"]) for r in told["rules"]]
    assert expected == judged[: len(expected)]


def test_no_policy_is_needed(privet: Privet) -> None:
    result = privet(
        "discover",
        "loans.csv",
        *("--about", "bankruptcy=Discharged", "--known", "job", "--known", "country"),
        *("--columns", "1", "--confidence", "0.3", "--json"),
    )
    told = json.loads(result.stdout)
    assert {"bankruptcy": ["job", "country"]} == told["known"]
    assert {"Discharged"} == {r["about"]["bankruptcy"] for r in told["rules"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "about must name what may be given away"),
        (("--about", "bankrupcy"), "Did you mean"),
        (("--about", "bankruptcy", "--known", "jib"), "Did you mean"),
        (
            ("--about", "bankruptcy", "--known", "bankruptcy"),
            "known must hold a column",
        ),
        (("--every", "--known", "job"), "every must not be given with"),
        (("--about", "bankruptcy", "--confidence", "1"), "below 1; got 1"),
        (("--about", "bankruptcy", "--confidence", "x"), "must be a number"),
    ],
)
def test_what_cannot_be_asked(
    privet: Privet, words: tuple[str, ...], said: str
) -> None:
    result = privet("discover", "loans.csv", *words)
    assert 2 == result.exit_code
    assert said in result.stderr


def test_identifiers_and_releases_are_not_asked_about(privet: Privet) -> None:
    text = COLUMNS.replace('drop = ["child", "rating"]', 'identifier = "child"')
    Path("p.toml").write_text(text + BROKEN, encoding="utf-8")
    result = privet("discover", "loans.csv", "-p", "p.toml", "--about", "child")
    assert (2, True) == (result.exit_code, "is an identifier" in result.stderr)
    with pytest.raises(pv.NoAudit, match="got a str"):
        pv.discover("loans.csv")
    with pytest.raises(pv.InputError, match="policy must be a Policy; got a str"):
        pv.discover(pv.read("loans.csv"), "p.toml")


def test_a_value_that_never_occurs_is_said(privet: Privet, policy: str) -> None:
    words = ("discover", "loans.csv", "-p", policy, "--about", "bankruptcy=Discharge")
    result = privet(*words)
    assert 0 == result.exit_code
    assert "'Discharge' never occurs" in result.stdout
    assert "Nobody who knows at most 3 of 4 " in result.stdout


def test_every_column_against_all_others(privet: Privet, policy: str) -> None:
    told = json.loads(
        privet("discover", "loans.csv", "-p", policy, "--every", "--json").stdout
    )
    columns = {"job", "country", "child", "bankruptcy", "rating"}
    assert columns == set(told["known"])
    assert all({*own} == columns - {a} for a, own in told["known"].items())
    text = privet("discover", "loans.csv", "-p", policy, "--every").stdout
    head = next(x for x in text.splitlines() if x.split() == list(told["known"]))
    assert "bankruptcy" in head


# Stops --------------------------------------------------------------------------------


def press_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C when so many sets were looked at."""
    original, seen = levelwise_search.LevelwiseSearch._look_at, 0

    def look(self: levelwise_search.LevelwiseSearch, *given: Any) -> None:
        nonlocal seen
        seen += 1
        if seen > number:
            seen = 0
            signal.raise_signal(signal.SIGINT)
        original(self, *given)

    monkeypatch.setattr(levelwise_search.LevelwiseSearch, "_look_at", look)


@pytest.mark.parametrize("number", [0, 2, 5])
def test_ctrl_c_gives_what_is_found(
    privet: Privet, policy: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("discover", "loans.csv", "-p", policy, "--confidence", "0.8")
    every = json.loads(privet(*words, "--json").stdout)["rules"]
    press_at(number, monkeypatch)
    # Whoever runs tests in several processes may have switched Ctrl-C off.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = privet(*words, "--json")
        shown = privet(*words)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 3 == result.exit_code
    told = json.loads(result.stdout)
    assert "interrupted" == told["ended"]
    assert [r for r in every if r in told["rules"]] == told["rules"]
    assert "Stopped by Ctrl-C." in told["notes"]
    assert (3, True) == (shown.exit_code, "not looked at" in shown.stdout)


def test_the_time_is_over(privet: Privet, policy: str) -> None:
    words = ("discover", "loans.csv", "-p", policy, "--max-seconds", "0.001")
    result = privet(*words)
    assert (3, True) == (result.exit_code, "time limit" in result.stderr)


def test_time_ends_the_search_and_not_the_answer(
    privet: Privet, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walk(self: levelwise_search.LevelwiseSearch) -> None:
        self._walk_level(1)
        raise pv.Stopped("The time limit ran out before the count was complete.")

    monkeypatch.setattr(levelwise_search.LevelwiseSearch, "walk", walk)
    result = privet("discover", "loans.csv", "-p", policy, "--confidence", "0.9")
    assert 3 == result.exit_code
    assert "Stopped at the time limit." in result.stdout
    assert "Of 6 sets of 2 columns, 6 were not looked at" in result.stdout


def test_progress_is_told(folder: Path) -> None:
    seen = []
    with pv.read("loans.csv", sensitive="bankruptcy", weight="count") as table:
        pv.discover(table, progress=seen.append)
    own = [e for e in seen if e.doing == levelwise_search.DOING]
    assert {1, 2, 3} >= {e.statement for e in own} >= {1}
    assert {3} == {e.of for e in own}
    assert all(0 <= e.share < 1 for e in own)


# Odd tables ---------------------------------------------------------------------------


def test_one_column_is_not_enough(privet: Privet) -> None:
    write("one.csv", ["s"], [["x"], ["y"]])
    result = privet("discover", "one.csv", "--about", "s", "--header")
    assert 2 == result.exit_code
    assert "known must hold a column beside 's'" in result.stderr


def test_one_row(privet: Privet) -> None:
    write("one.csv", ["k", "s"], [["x", "y"]])
    result = privet("discover", "one.csv", "--about", "s", "--header")
    assert 0 == result.exit_code
    assert "s is y for 100 % of everybody (1 of 1)" in result.stdout


def test_nothing_but_missing_values(privet: Privet) -> None:
    write("none.csv", ["k", "s"], [["", ""]] * 3)
    result = privet("discover", "none.csv", "--about", "s", "--header")
    assert 0 == result.exit_code
    assert "s is missing for 100 % of everybody (3 of 3)" in result.stdout


def test_the_headline_claims_no_more_than_was_counted(privet: Privet) -> None:
    """What everybody gives away is told; small groups are not said to be safe."""
    rows = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"], ["c", "z"]]
    write("few.csv", ["k", "s"], rows)
    words = ("discover", "few.csv", "--header", "--about", "s")
    low = privet(*words, "--confidence", "0.1").stdout
    assert low.startswith("3 values are more than 10 % sure without any column;")
    large = privet(*words, "--support", "2").stdout
    assert "of a value that was looked for in groups of 2 and more." in large


def test_a_missing_value_is_a_value_and_cannot_be_pasted(privet: Privet) -> None:
    rows = [["x", ""], ["x", ""], ["y", "a"], ["y", "b"], ["", "a"]]
    write("some.csv", ["k", "s"], rows)
    words = ("discover", "some.csv", "--header")
    text = privet(*words, "--about", "s", "--toml").stdout
    assert 'knows = ["k"]' in text
    assert "# A missing value cannot be named in a policy file" in text
    assert "# linker (knows k) about s = missing" in text
    missing = json.loads(privet(*words, "--about", "s=", "--json").stdout)
    assert [{"s": None}] == [r["about"] for r in missing["rules"]]


def test_thousands_of_values_and_a_row_number(privet: Privet) -> None:
    dice = random.Random(3)
    rows = [
        [i, dice.randrange(3000), dice.choice("ab"), dice.randrange(1500)]
        for i in range(4000)
    ]
    write("many.csv", ["row", "zip", "sex", "s"], rows)
    result = privet("discover", "many.csv", "--about", "s", "--columns", "2", "--json")
    told = json.loads(result.stdout)
    assert {"s": ["zip", "sex"]} == told["known"]
    assert any("'row' was left out" in n for n in told["notes"])
    assert len(told["rules"]) > 1000
    assert all(Fraction(r["confidence"]) > Fraction(1, 2) for r in told["rules"])
    asked = privet("discover", "many.csv", "--about", "s", "--known", "row", "--json")
    assert {1} == {len(r["columns"]) for r in json.loads(asked.stdout)["rules"]}


def test_too_many_sets_are_refused(folder: Path) -> None:
    head = [f"c{i}" for i in range(70)]
    write("wide.csv", [*head, "s"], [[*range(70), "x"], [*range(70), "y"]])
    with pv.read("wide.csv", sensitive="s", header=True) as table:
        with pytest.raises(pv.TooLarge, match="sets of columns; at most"):
            pv.discover(table, columns=4)


def test_a_column_that_hides_values_is_said(privet: Privet) -> None:
    rows = [["⊥", "x"], ["⊥", "y"], ["a", "x"], ["a", "x"]]
    write("hidden.csv", ["k", "s"], rows)
    result = privet("discover", "hidden.csv", "--header", "--about", "s")
    assert "Columns that hide values ('k')" in result.stdout


# In Python ----------------------------------------------------------------------------


def test_a_discovery_shows_itself(folder: Path) -> None:
    with pv.read("loans.csv", sensitive="bankruptcy", weight="count") as table:
        found = pv.discover(table, support=5)
    assert repr(found).startswith("Discovery(")
    assert "<table>" in found._repr_html_()
    from rich.console import Console

    console = Console(record=True, width=100, file=StringIO())
    console.print(found)
    assert "gives away" in console.export_text()
    frame = found.to_frame()
    assert len(found.rules) == len(frame)
    assert {
        "columns",
        "about",
        "value",
        "confidence",
        "people",
        "groups",
        "floor",
        "lift",
    } == {*frame.columns}
    assert [p.limit for p in found.promises(1, at_most="0.7")] == [pv.Ceiling("0.7")]
    with pytest.raises(pv.InputError, match="by must be one of"):
        found.rank("size")
    with pytest.raises(pv.InputError, match="top must be a whole number"):
        found.rank(top=-1)


def test_small_groups_that_were_left_out_are_said(privet: Privet) -> None:
    rows = [["a", "x"]] * 3 + [["a", "y"]] + [["b", "x"]] + [["c", "y"]] * 9
    write("small.csv", ["k", "s"], rows)
    words = ("discover", "small.csv", "--header", "--about", "s=x", "--support")
    assert "Groups of fewer than 4 were left out" in privet(*words, "4").stdout
    told = json.loads(privet(*words, "4", "--json").stdout)["rules"]
    assert [("3/4", "1")] == [(r["confidence"], r["audited"]) for r in told]
    assert "left out" not in privet(*words, "1").stdout


@pytest.mark.parametrize(
    ("key", "value"), [("columns", 0), ("support", 0), ("columns", 1.5)]
)
def test_numbers_are_whole(folder: Path, key: str, value: object) -> None:
    with pv.read("loans.csv", sensitive="bankruptcy", weight="count") as table:
        with pytest.raises(pv.InputError, match=f"{key} must be a whole number from 1"):
            pv.discover(table, **{key: value})


def test_without_pandas_a_sentence_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    with pv.read("loans.csv", sensitive="bankruptcy", weight="count") as table:
        found = pv.discover(table)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        found.to_frame()


def test_the_default_confidence_is_one_half() -> None:
    assert pv.Ceiling("1/2").level == discovery.CONFIDENCE
