"""What studies found is kept in a known form, and what moved is told."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import published_views
import pytest
import result_files
from result_files import Result

import responses
import skyline

COLUMNS = {
    "classifier": {
        "releases": {"case", "mode", "alpha", "accuracy", "recall", "r", "recovered"},
        "closeness": {"case", "mode", "alpha", "r"},
        "anonymous": {"k", "same_cuts", "groups", "accuracy", "recall"},
        "noise": {"case", "epsilon", "accuracy", "spread"},
        "stairs": {"of", "r", "classes", "accuracy"},
    },
    "handicapping": {
        "errors": {
            *("data", "family", "size", "mode", "feasible"),
            *("base", "suppression", "removal"),
        },
        "inferences": {"data", "limit", "here"},
    },
    "handicapping_speed": {"speed": {"rows", "of", "seconds"}},
    "published_views": {"beliefs": {"people", "values", "model", "exact", "belief"}},
    "responses": {"curves": {"data", "scheme", "theta", "mean", "variance"}},
    "skyline": {"corners": {"of", "l", "k", "m"}, "groups": {"size", "groups"}},
    "skyline_speed": {"speed": {"rows", "l", "k", "m", "times"}},
}
"""What the figures need of each result."""


def test_every_result_is_known() -> None:
    assert set(COLUMNS) == {path.stem for path in result_files.FOLDER.glob("*.json")}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_result_has_its_form(name: str) -> None:
    found = result_files.read(name)
    assert set(COLUMNS[name]) == set(found.figures) == set(found.tolerance)
    assert found.command.startswith(f"python studies/{name}.py")
    for figure, columns in COLUMNS[name].items():
        assert found.figures[figure]
        for row in found.figures[figure]:
            assert columns <= set(row)
            numbers = [v for v in row.values() if isinstance(v, float)]
            assert all(map(math.isfinite, numbers))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_result_is_small_and_names_no_place(name: str) -> None:
    text = (result_files.FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert "/" not in json.loads(text)["command"].replace("studies/", "")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_result_is_written_as_it_stands(name: str, tmp_path: Path) -> None:
    result_files.write(name, result_files.read(name), tmp_path)
    kept = result_files.FOLDER / f"{name}.json"
    assert kept.read_bytes() == (tmp_path / f"{name}.json").read_bytes()


# What is deterministic comes out again ------------------------------------------------


@pytest.mark.parametrize(("people", "values"), [(2, 2), (3, 3), (2, 12), (12, 4)])
def test_views_are_as_their_study_finds_them(people: int, values: int) -> None:
    kept = [
        row
        for row in result_files.read("published_views").figures["beliefs"]
        if (row["people"], row["values"]) == (people, values)
    ]
    found = published_views.measure(people, values)
    assert kept == [result_files.shorten(row) for row in found]


def test_the_slides_points_are_the_talk_s() -> None:
    corners = result_files.read("skyline").figures["corners"]
    slides = [(c["l"], c["k"], c["m"]) for c in corners if c["of"] == "slides"]
    assert sorted(skyline.SLIDES) == slides


def test_kept_curves_are_exact_at_the_ends() -> None:
    rows = result_files.read("responses").figures["curves"]
    assert set(responses.THETAS) == {row["theta"] for row in rows}
    ends = [row for row in rows if row["theta"] in (0, 1)]
    assert all(row["mean"] == row["benchmark"] for row in ends)
    assert {0} == {row["variance"] for row in ends}


# Keeping ------------------------------------------------------------------------------

ONE = Result.of("python a.py", {"f": [{"of": "x", "n": 0.5, "k": 3}]}, {"f": 0.01})


def moved(**changes: Any) -> Result:
    rows = [{**row, **changes} for row in ONE.figures["f"]]
    return dataclasses.replace(ONE, figures={"f": rows})


def test_the_first_result_is_kept(tmp_path: Path) -> None:
    assert result_files.keep("a", ONE, tmp_path)
    assert ONE == result_files.read("a", tmp_path)


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({"n": 0.509}, True),
        ({"n": 0.52}, False),
        ({"k": 4}, False),
        ({"of": "y"}, False),
    ],
)
def test_what_moved_too_far_is_told_and_kept(
    changes: dict[str, Any],
    good: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    result_files.keep("a", ONE, tmp_path)
    assert good == result_files.keep("a", moved(**changes), tmp_path)
    assert moved(**changes) == result_files.read("a", tmp_path)
    assert good != ("was" in capsys.readouterr().out)


def test_seconds_may_move_as_they_will(tmp_path: Path) -> None:
    timed = dataclasses.replace(ONE, tolerance={"f": None})
    result_files.keep("a", timed, tmp_path)
    assert result_files.keep(
        "a", dataclasses.replace(moved(n=9.0), tolerance={"f": None}), tmp_path
    )


def test_rows_that_come_and_go_are_told(tmp_path: Path) -> None:
    result_files.keep("a", ONE, tmp_path)
    more = dataclasses.replace(ONE, figures={"f": [*ONE.figures["f"]] * 2})
    assert not result_files.keep("a", more, tmp_path)
    other = dataclasses.replace(ONE, figures={"g": []}, tolerance={"g": None})
    assert not result_files.keep("a", other, tmp_path)


def test_another_size_replaces_nothing_unless_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result_files.keep("a", ONE, tmp_path)
    larger = dataclasses.replace(moved(n=0.9), command="python a.py --sets 30")
    assert result_files.keep("a", larger, tmp_path)
    assert ONE == result_files.read("a", tmp_path)
    monkeypatch.setenv("PRIVET_RENEW", "1")
    assert result_files.keep("a", larger, tmp_path)
    assert larger == result_files.read("a", tmp_path)
