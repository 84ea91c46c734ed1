"""What the analyst kept, against numbers worked out by hand."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from math import log2
from pathlib import Path

import pyarrow as pa
import pytest

import privet as pv
from privet.demo.tables import bank_path
from privet.microdata.recipe import Cut, Hide
from privet.microdata.utility import measure_utility

PROMISE = pv.Promise(
    against=pv.Linker(knows=["job", "country"]),
    about={"bankruptcy": "Discharged"},
    limit=pv.Ceiling("3/4"),
)
LOOSE = pv.Promise(pv.Linker(["job"]), pv.Ceiling(1), {"ill": "yes"})


def entropy(*counts: int) -> float:
    whole = sum(counts)
    return -sum(n / whole * log2(n / whole) for n in counts if n)


@pytest.fixture
def bank() -> pv.Table:
    return pv.read(
        str(bank_path()),
        quasi=["job", "country", "child"],
        sensitive="bankruptcy",
        target="rating",
        weight="count",
    )


def shop(**columns: list[object]) -> pv.Table:
    """40 rows of weight 1: the job tells the rating, 24 times x and 16 times y."""
    rows = {
        "job": ["a"] * 24 + ["b"] * 16,
        "rating": ["x"] * 24 + ["y"] * 16,
        "ill": ["yes"] * 40,
    } | columns
    quasi = [c for c in rows if c not in ("rating", "ill")]
    return pv.read(pa.table(rows), quasi=quasi, sensitive="ill", target="rating")


# Cells ------------------------------------------------------------------------------


def test_the_maximal_release_hides_10_of_24_countries(bank: pv.Table) -> None:
    """Canada and the UK have 5 rows each; nothing else is hidden."""
    found = measure_utility(pv.publish(bank, PROMISE))
    shares = {c.name: c.hidden_share for c in found.columns}
    assert {"job": 0, "country": Fraction(10, 24), "child": 0} == shares
    assert (10, 24) == (found["country"].hidden, found["country"].rows)


def test_the_papers_release_hides_20_cells(bank: pv.Table) -> None:
    """Table 2: Trader (6 rows) and Clerk (4), UK (5) and Canada (5)."""
    method = pv.TopDownDisclosure(paper=True)
    found = measure_utility(pv.publish(bank, PROMISE, method=method))
    assert [10, 10, 0] == [c.hidden for c in found.columns]


def test_a_column_without_a_cut_is_hidden_everywhere() -> None:
    recipe = pv.Recipe({"age": Cut(())})
    table = shop(age=list(range(40)))
    found = measure_utility(pv.publish(table, LOOSE, recipe=recipe))
    assert 1 == found["age"].hidden_share
    assert 0 == found["age"].after


# Information ------------------------------------------------------------------------


def test_information_before_and_after_by_hand(bank: pv.Table) -> None:
    """Country by rating (G, B): US 4, 6; France 1, 3; UK 5, 0; Canada 5, 0."""
    recipe = pv.Recipe({"country": Hide(("US", "France"))})
    loose = pv.Promise(PROMISE.against, pv.Ceiling(1), PROMISE.about)
    found = measure_utility(pv.publish(bank, loose, recipe=recipe))
    all_bits = entropy(15, 9)
    before = all_bits - 10 / 24 * entropy(4, 6) - 4 / 24 * entropy(1, 3)
    after = all_bits - 14 / 24 * entropy(5, 9)
    assert 0.95443 == round(found.entropy, 5) == round(all_bits, 5)
    assert 0.41466 == round(found["country"].before, 5) == round(before, 5)
    assert 0.40593 == round(found["country"].after, 5) == round(after, 5)


def test_hiding_values_of_one_class_loses_nothing(bank: pv.Table) -> None:
    """Everybody in Canada and the UK is rated G."""
    country = measure_utility(pv.publish(bank, PROMISE))["country"]
    assert country.before == pytest.approx(country.after)


def test_missing_is_a_value_and_tells_what_it_tells() -> None:
    table = shop(job=[None] * 24 + ["b"] * 16)
    found = measure_utility(pv.publish(table, LOOSE, recipe=pv.Recipe()))
    assert found["job"].before == pytest.approx(entropy(24, 16))
    hidden = pv.Recipe({"job": Hide((None, "b"))})
    found = measure_utility(pv.publish(table, LOOSE, recipe=hidden), classifier=True)
    assert 0 == found["job"].after
    assert Fraction(24, 40) == found.predictions.after


def test_without_a_target_only_cells_are_counted() -> None:
    rows = pa.table({"job": ["a", "b"] * 20, "ill": ["yes", "no"] * 20})
    table = pv.read(rows, quasi="job", sensitive="ill")
    release = pv.publish(table, LOOSE)
    found = measure_utility(release)
    assert "RetainedUtility(job 0 % hidden)" == repr(found)
    assert found.entropy is None
    assert found["job"].before is None
    with pytest.raises(pv.InputError, match="must have a target"):
        measure_utility(release, classifier=True)


# Predictions ------------------------------------------------------------------------


def test_a_tree_that_sees_nothing_says_what_is_commonest() -> None:
    """Without the job 24 of 40 are right, and the same as before: those rated x."""
    hidden = pv.Recipe({"job": Hide(("a", "b"))})
    found = measure_utility(
        pv.publish(shop(), LOOSE, recipe=hidden), classifier=True
    ).predictions
    assert 1 == found.before
    assert Fraction(24, 40) == found.after == found.agreement == found.majority


def test_a_release_that_hides_nothing_agrees_with_the_table() -> None:
    found = measure_utility(pv.publish(shop(), LOOSE), classifier=True).predictions
    assert 1 == found.before == found.after == found.agreement


def test_weights_are_rows() -> None:
    """The same table with rows that look alike put together."""
    few = pa.table(
        {
            "job": ["a", "a", "b", "b"],
            "rating": ["x", "x", "y", "y"],
            "ill": ["yes"] * 4,
            "n": [12, 12, 8, 8],
        }
    )
    table = pv.read(few, quasi="job", sensitive="ill", target="rating", weight="n")
    hidden = pv.Recipe({"job": Hide(("a", "b"))})
    both = [
        measure_utility(pv.publish(t, LOOSE, recipe=hidden), classifier=True)
        for t in (shop(), table)
    ]
    assert both[0] == both[1]


def test_cuts_keep_the_order_of_numbers() -> None:
    """Up to 23 is x, above is y: one cut there keeps everything."""
    table = shop(job=["a"] * 40, age=list(range(40)))
    release = pv.publish(table, LOOSE, recipe=pv.Recipe({"age": Cut(("23",))}))
    found = measure_utility(release, classifier=True, leaf=1)
    assert found["age"].after == pytest.approx(entropy(24, 16))
    assert 1 == found.predictions.after
    assert Fraction(35, 40) <= found.predictions.before


def test_few_rows_and_odd_numbers_are_refused(bank: pv.Table) -> None:
    release = pv.publish(bank, PROMISE)
    with pytest.raises(pv.InputError, match="folds must be at least 2"):
        measure_utility(release, classifier=True, folds=1)
    few = pa.table({"job": ["a", "b"], "ill": ["yes", "no"], "rating": ["x", "y"]})
    small = pv.read(few, quasi="job", sensitive="ill", target="rating")
    with pytest.raises(pv.InputError, match="at least 20 rows"):
        measure_utility(pv.publish(small, LOOSE), classifier=True)


def test_the_missing_extra_is_named(
    bank: pv.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    release = pv.publish(bank, PROMISE)
    assert measure_utility(release).predictions is None
    with pytest.raises(pv.MissingExtra, match=r"pip install 'privet\[learn\]'"):
        measure_utility(release, classifier=True)


# Shapes -----------------------------------------------------------------------------


def test_a_loaded_release_does_not_know_its_table(
    bank: pv.Table, tmp_path: Path
) -> None:
    known = ["job", "country", "child", "rating"]
    covering = pv.Promise(pv.Linker(known), PROMISE.limit, PROMISE.about)
    made = pv.publish(bank, [PROMISE, covering])
    made.write(tmp_path / "out", custody=tmp_path / "vault")
    with pytest.raises(pv.InputError, match="loaded from files"):
        measure_utility(pv.load(tmp_path / "out"))


def test_it_shows_itself_and_survives_json(bank: pv.Table) -> None:
    found = measure_utility(pv.publish(bank, PROMISE), classifier=True, leaf=2)
    assert "country 41.7 % hidden, 0.415 of 0.415 bits" in repr(found)
    assert "a tree is right in" in repr(found)
    content = json.loads(json.dumps(found.to_dict()))
    assert {"target", "bits_of_target", "columns", "predictions"} == set(content)
    assert 10 == content["columns"]["country"]["hidden"]
    assert "5/8" == content["predictions"]["majority"]
