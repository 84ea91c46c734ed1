"""Weighted cells: counted by the engine, recoded as released, cut into folds."""

from __future__ import annotations

import pyarrow as pa
import pytest

import privet as pv
from privet.engine.protocol import Relabel
from privet.microdata import utility
from privet.microdata.utility import count_class_cells, find_best_leaf, split_into_folds

ROWS = pa.table(
    {
        "age": [30, 40, 30, 30, 50],
        "job": ["a", None, "a", "b", "b"],
        "class": ["x", "y", "x", "y", "x"],
        "n": [2, 1, 3, 1, 0],
    }
)


@pytest.fixture
def people() -> utility.ClassCells:
    table = pv.read(ROWS, quasi=["age", "job"], target="class", weight="n")
    return count_class_cells(table, ["job", "age"], "class")


def rows(found: utility.ClassCells) -> dict[tuple[str | None, ...], int]:
    columns = [
        [d[c] for c in codes]
        for d, codes in zip(found.domains, found.codes, strict=True)
    ]
    labels = [found.target[c] for c in found.classes]
    return dict(zip(zip(*columns, labels, strict=True), found.n.tolist(), strict=True))


def test_rows_that_look_alike_are_one_cell(people: utility.ClassCells) -> None:
    """Weights are added, missing is a value, weight 0 is nobody; in the order asked."""
    expected = {("a", "30", "x"): 5, (None, "40", "y"): 1, ("b", "30", "y"): 1}
    assert expected == rows(people)
    assert 7 == people.total


def test_ordered_columns_are_ranks_and_others_indicators(
    people: utility.ClassCells,
) -> None:
    width = 1 + len(people.domains[0])
    assert (3, width) == people.matrix().shape
    assert [2, 2, 2] == (people.matrix()[:, :-1].sum(axis=1) + 1).tolist()
    age = people.codes_of("age")
    assert age.tolist() == people.matrix()[:, -1].tolist()


def test_cells_as_a_release_shows_them(people: utility.ClassCells) -> None:
    texts = tuple("⊥" if v in ("a", "b") else v for v in people.domains[0].labels)
    shown = people.relabelled({"job": Relabel(texts)})
    assert {("⊥", "30", "x"), ("⊥", "30", "y"), (None, "40", "y")} == set(rows(shown))
    assert "integer" == shown.domains[1].kind


def test_hidden_numbers_are_in_no_order(people: utility.ClassCells) -> None:
    shown = people.relabelled({"age": Relabel(("⊥", "40", "⊥"))})
    assert "text" == shown.domains[1].kind
    cut = people.relabelled({"age": Relabel(("up to 30", "above 30", "above 30"))})
    assert "integer" == cut.domains[1].kind


def test_a_matrix_that_is_too_large_is_refused(
    people: utility.ClassCells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(utility, "MOST_NUMBERS", 10)
    with pytest.raises(pv.TooLarge, match="3 different rows and 4 values"):
        people.matrix()


def test_folds_are_parts_of_the_whole_by_chance() -> None:
    """Two classes of 1,003 and 7 rows in 4 folds."""
    many = pa.table(
        {"job": ["a", "b", "c"], "class": ["x", "x", "y"], "n": [3, 1000, 7]}
    )
    table = pv.read(many, quasi="job", target="class", weight="n")
    found = count_class_cells(table, ["job"], "class")
    parts = split_into_folds(found, 4)
    assert found.n.tolist() == parts.sum(axis=0).tolist()
    of_x = parts[:, found.classes == found.target.code("x")].sum(axis=1)
    of_y = parts[:, found.classes == found.target.code("y")].sum(axis=1)
    assert [250, 251, 251, 251] == of_x.tolist()
    assert [1, 2, 2, 2] == of_y.tolist()
    assert parts.tolist() == split_into_folds(found, 4).tolist()
    assert parts.tolist() != split_into_folds(found, 4, seed=1).tolist()


def test_huge_packs_are_dealt_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utility, "MOST_DEALT", 100)
    many = pa.table({"job": ["a", "b"], "class": ["x", "x"], "n": [8, 1000]})
    table = pv.read(many, quasi="job", target="class", weight="n")
    parts = split_into_folds(count_class_cells(table, ["job"], "class"), 4)
    assert [8, 1000] == parts.sum(axis=0).tolist()
    # 1000 rows in 4 folds: 250 each, give or take 4 standard deviations of 13.7.
    assert (abs(parts[:, 1] - 250) < 55).all()


def test_leaves_are_as_large_as_the_data_can_do_with() -> None:
    """A rule for the 8 rows of each job: a fine tree. 6 and 2 in each: a simple one."""
    job = [f"job {i}" for i in range(40) for _ in range(8)]
    by_job = ["xy"[i % 2] for i in range(40) for _ in range(8)]
    by_nothing = (["x"] * 6 + ["y"] * 2) * 40
    chosen = []
    for classes in (by_job, by_nothing):
        table = pv.read(pa.table({"job": job, "class": classes}), quasi="job")
        chosen.append(
            find_best_leaf(count_class_cells(table, ["job"], "class"), [2, 100])
        )
    assert [2, 100] == chosen
