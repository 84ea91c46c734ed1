"""A recipe is applied again to a later delivery, and the result judged afresh."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.recipe import Cut, Hide
from release.examples import bank, covering, discharged, jobs, released, written

PROMISE = pv.Promise(pv.Linker("job"), pv.Ceiling("1/2"), {"ill": "x"})
FIRST = (["a", "a", "b", "b", "c", "c"], ["x", "x", "y", "y", "x", "y"])
"""a must hide behind b; c may be shown."""


def first() -> pv.Recipe:
    release = pv.publish(jobs(*FIRST), [PROMISE])
    assert {"job": ["a", "b"]} == release.hidden
    assert release.recipe is not None
    return release.recipe


def shown(release: pv.Release) -> set[str | None]:
    return set(release.table.domains(["job"])["job"].labels)


# On file ----------------------------------------------------------------------------


def test_the_custody_folder_keeps_the_recipe(tmp_path: Path) -> None:
    written(tmp_path)
    expected = released().recipe
    assert expected == pv.Recipe.load(tmp_path / "vault")
    assert expected == pv.Recipe.load(tmp_path / "vault" / "recipe.json")
    record = json.loads((tmp_path / "vault" / "custody.json").read_text())
    assert expected == pv.Recipe.from_dict(record["recipe"])
    stated = [discharged("3/4"), covering("3/4")]
    again = pv.publish(bank(), stated, recipe=expected)
    assert released().audit.worst.belief == again.audit.worst.belief
    again.write(tmp_path / "again", custody=tmp_path / "vault2")
    assert pv.verify(tmp_path / "again").good


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"recipe": 2, "columns": {}},
        {"recipe": 1},
        {"recipe": 1, "columns": {"job": "hide"}},
        {"recipe": 1, "columns": {"job": {}}},
        {"recipe": 1, "columns": {"job": {"hide": "a"}}},
        {"recipe": 1, "columns": {"job": {"hide": [1]}}},
        {"recipe": 1, "columns": {"job": {"hide": ["a"], "show": "b"}}},
        {"recipe": 1, "columns": {"age": {"cut_after": ["1"], "kind": 7}}},
    ],
)
def test_what_is_no_recipe(content: Any, tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_text(json.dumps(content))
    with pytest.raises(pv.InputError, match="recipe must be a file that privet wrote"):
        pv.Recipe.load(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_what_is_no_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_text(text)
    with pytest.raises(pv.InputError, match="cannot be read"):
        pv.Recipe.load(tmp_path)
    with pytest.raises(pv.InputError, match="cannot be read"):
        pv.Recipe.load(tmp_path / "nothing.json")


# Later ------------------------------------------------------------------------------


def test_a_value_never_seen_is_hidden_beside_hidden_ones(tmp_path: Path) -> None:
    later = jobs([*FIRST[0], "new"], [*FIRST[1], "y"])
    release = pv.publish(later, [PROMISE], recipe=first())
    assert {"⊥", "c"} == shown(release)
    out = release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert 3 == out.manifest["columns"]["job"]["hidden_values"]
    assert "recipe" == out.manifest["method"]
    assert pv.verify(tmp_path / "out").good
    # It is told by the recipe on file as well, and no later one learns it as shown.
    assert first() == pv.Recipe.load(tmp_path / "vault")


def test_a_missing_value_never_seen_is_hidden_too() -> None:
    later = jobs([*FIRST[0], None], [*FIRST[1], "y"])
    assert {"⊥", "c"} == shown(pv.publish(later, [PROMISE], recipe=first()))


def test_a_new_value_of_a_column_that_hides_nothing_is_shown_and_judged() -> None:
    free = pv.publish(jobs(["a", "b"] * 2, ["x", "x", "y", "y"]), [PROMISE]).recipe
    assert pv.Recipe() == free
    calm = jobs(["a", "b", "new"] * 2, ["x", "x", "x", "y", "y", "y"])
    assert {"a", "b", "new"} == shown(pv.publish(calm, [PROMISE], recipe=free))
    risky = jobs(["a", "b", "a", "b", "new"], ["x", "x", "y", "y", "x"])
    with pytest.raises(pv.Infeasible, match="recipe does not keep") as caught:
        pv.publish(risky, [PROMISE], recipe=free)
    assert ("Publish anew without the recipe.",) == caught.value.advice


def test_a_recipe_that_breaks_a_promise_now_is_refused() -> None:
    later = jobs(["a", "a", "b", "c"], ["x", "x", "y", "x"])
    with pytest.raises(pv.Infeasible, match="recipe does not keep") as caught:
        pv.publish(later, [PROMISE], recipe=first())
    assert (PROMISE, 1) == (caught.value.promise, caught.value.best)


def test_values_that_are_gone_do_not_matter(tmp_path: Path) -> None:
    later = jobs(["b", "b", "c", "c"], ["y", "y", "x", "y"])
    release = pv.publish(later, [PROMISE], recipe=first())
    assert {"⊥", "c"} == shown(release)
    out = release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert 1 == out.manifest["columns"]["job"]["hidden_values"]


def test_a_missing_column_is_named() -> None:
    table = pv.read(pa.table({"work": ["a"], "ill": ["x"]}), sensitive="ill")
    with pytest.raises(pv.PolicyError, match="must name columns of the table"):
        pv.publish(table, [PROMISE], recipe=first())


# Ordered columns --------------------------------------------------------------------

AGES = pv.Promise(pv.Linker("age"), pv.Ceiling("1/2"), {"ill": "x"})


def ages(values: list[Any], ill: list[str]) -> pv.Table:
    table = pa.table({"age": values, "ill": ill})
    return pv.read(table, quasi="age", sensitive="ill")


def test_cut_values_may_be_gone() -> None:
    recipe = pv.Recipe({"age": Cut(("18", "65"), "integer")})
    later = ages([17, 20, 70, 90], ["y", "y", "y", "x"])
    release = pv.publish(later, [AGES], recipe=recipe)
    expected = ["up to 18", "above 18 up to 65", "above 65"]
    assert sorted(expected) == sorted(release.table.domains(["age"])["age"].labels)
    decimals = ages([17.5, 18.5, 65.5, 66.0], ["y", "y", "y", "x"])
    release = pv.publish(decimals, [AGES], recipe=recipe)
    assert sorted(expected) == sorted(release.table.domains(["age"])["age"].labels)


def test_cut_missing_values_and_days() -> None:
    recipe = pv.Recipe({"age": Cut((None, "65"), "integer")})
    later = ages([70, 20, 70, 20], ["x", "x", "y", "y"])
    release = pv.publish(later, [AGES], recipe=recipe)
    expected = ["up to 65", "above 65"]
    assert sorted(expected) == sorted(release.table.domains(["age"])["age"].labels)
    from datetime import date

    days = pv.Recipe({"age": Cut(("1990-01-02",), "date")})
    later = ages([date(1990, 1, d) for d in (1, 3, 1, 3)], ["x", "x", "y", "y"])
    release = pv.publish(later, [AGES], recipe=days)
    expected = ["up to 1990-01-02", "above 1990-01-02"]
    assert sorted(expected) == sorted(release.table.domains(["age"])["age"].labels)


def test_a_column_of_another_kind_is_not_cut() -> None:
    recipe = pv.publish(ages([1, 2, 3, 4], ["y", "x", "y", "x"]), [AGES]).recipe
    assert recipe is not None
    for values in (["1", "2", "3", "n/a"], [True, False, True, False]):
        with pytest.raises(pv.InputError, match="must still hold values of kind"):
            pv.publish(ages(values, ["x", "y", "y", "y"]), [AGES], recipe=recipe)


def test_a_column_hidden_as_a_whole_stays_hidden() -> None:
    recipe = pv.publish(ages([1, 2], ["x", "y"]), [AGES]).recipe
    assert pv.Recipe({"age": Cut((), "integer")}) == recipe
    release = pv.publish(ages([3, 7, 9], ["x", "y", "y"]), [AGES], recipe=recipe)
    assert ["⊥"] == list(release.table.domains(["age"])["age"].labels)


def test_bins_nobody_was_in_count_as_never_seen() -> None:
    promise = pv.Promise(pv.Linker("age"), pv.Ceiling("1/2"), {"ill": "x"})

    def binned(values: list[int], ill: list[str]) -> pv.Table:
        table = pa.table({"age": values, "ill": ill})
        return pv.read(table, quasi="age", sensitive="ill", bins={"age": [10, 20, 30]})

    release = pv.publish(binned([1, 1, 12, 12], ["x", "x", "y", "y"]), [promise])
    assert release.recipe is not None
    expected = Hide(("below 10", "10 to below 20"), ())
    assert {"age": expected} == release.recipe.columns
    later = binned([1, 12, 25, 35], ["x", "y", "y", "y"])
    again = pv.publish(later, [promise], recipe=release.recipe)
    assert ["⊥"] == list(again.table.domains(["age"])["age"].labels)
