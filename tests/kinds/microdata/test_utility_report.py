"""What a release keeps: by hand, through every door, private, and never in the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import prod
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from privet.demo.tables import bank_path
from privet.engine.protocol import Run
from privet.microdata.information_loss import (
    grouped_cells,
    loss_measures,
    released_cells,
    row_samples,
)
from privet.microdata.information_loss.pair_tables import MOST_CELLS, cover_pairs
from privet.microdata.information_loss.report import describe_utility
from privet.microdata.recipe import Cut, Hide

KNOWN = ["job", "country", "child", "rating"]
PROMISE = pv.Promise(
    pv.Linker(KNOWN), pv.Ceiling("3/4"), {"bankruptcy": "Discharged"}, name="nobody"
)
POLICY = """
[columns]
quasi = ["job", "country", "child"]
sensitive = "bankruptcy"
target = "rating"
weight = "count"
[[promise]]
against = "linker"
knows = ["job", "country", "child", "rating"]
about = { bankruptcy = "Discharged" }
at_most = 0.75
"""


@pytest.fixture
def bank() -> Iterator[pv.Table]:
    with pv.read(
        str(bank_path()),
        quasi=["job", "country", "child"],
        sensitive="bankruptcy",
        target="rating",
        weight="count",
    ) as table:
        yield table


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY, encoding="utf-8")
    return str(path)


# Figures by hand --------------------------------------------------------------------


def test_hidden_countries_by_hand(bank: pv.Table) -> None:
    """US 10, France 4, UK and Canada 5 each; the last two are hidden."""
    found = pv.publish(bank, PROMISE).utility
    assert found is not None
    country = found["country"]
    assert (24, 10, 0) == (found.rows, found.rows_changed, found.rows_left_out)
    assert (10, Fraction(10, 24)) == (country.changed, country.ncp)
    assert Fraction(10, 72) == found.ncp
    assert (1.9, 1.4834) == (round(country.bits, 4), round(country.bits_kept, 4))
    assert 0 == country.moved
    assert country.moved_in_order is None
    assert 3 * 4**2 + 2 * 6**2 == found.discernibility
    assert (5, Fraction(24, 5)) == (found.groups, found.average_group)
    assert "country" == found.columns[0].name
    assert ("job", "country") == found.pairs[0].columns
    assert Fraction(15, 24) == found.accuracy.majority


def test_an_interval_counts_its_values_and_its_middle() -> None:
    """Ages 20, 30 and 60 as [20, 30] and 60: 2 of 3 values in 4 of 6 rows."""
    rows = {
        "age": [20, 20, 30, 30, 60, 60],
        "wage": [2, 2, 3, 3, 6, 6],
        "ill": ["yes", "no"] * 3,
    }
    with pv.read(pa.table(rows), quasi=["age"], other="wage", sensitive="ill") as table:
        loose = pv.Promise(pv.Linker(["age"]), pv.Ceiling("3/4"), {"ill": "yes"})
        recipe = pv.Recipe({"age": Cut(("30",), "integer")})
        found = pv.publish(table, loose, recipe=recipe).utility
    age = found["age"]
    assert (4, Fraction(4, 6) * Fraction(1, 2)) == (age.changed, age.ncp)
    assert (0, 0) == (age.moved, age.moved_in_order)
    (pair,) = (p for p in found.pairs if p.columns == ("age", "wage"))
    assert pytest.approx(1) == pair.correlation[0]
    # 25 beside 2 or 3, and 60 beside 6: less than a line.
    assert pytest.approx(0.97073, abs=1e-5) == pair.correlation[1]
    assert Fraction(1, 3) == pytest.approx(pair.moved)
    assert found.accuracy is None
    assert ("Accuracy is left out: no target is declared.",) == found.notes


def test_a_release_that_hides_everything_keeps_nothing() -> None:
    ill = ["yes", "yes", "no", "no"] * 10
    rows = {"job": ["a", "b"] * 20, "ill": ill, "t": ["x", "y"] * 20}
    with pv.read(pa.table(rows), quasi="job", sensitive="ill", target="t") as table:
        loose = pv.Promise(pv.Linker(["job"]), pv.Ceiling("3/4"), {"ill": "yes"})
        hidden = pv.Recipe({"job": Hide(("a", "b"))})
        found = pv.publish(table, loose, recipe=hidden).utility
    assert (1, 0) == (found.ncp, found["job"].bits_kept)
    assert "-0.0" not in "\n".join(describe_utility(found.to_dict(), ""))
    assert 40 * 40 == found.discernibility
    before, after = next(p for p in found.pairs if p.columns == ("job", "t")).cramers_v
    assert (1, 0) == (pytest.approx(before), after)
    assert 1 == found.accuracy.before


def test_what_is_safe_as_it_is_keeps_everything(bank: pv.Table) -> None:
    loose = pv.Promise(pv.Linker(KNOWN), pv.Ceiling("0.9"), PROMISE.about)
    found = pv.publish(bank, loose).utility
    assert (0, 0, 0) == (found.rows_changed, found.cells_changed, found.ncp)
    assert ((), 10) == (found.pairs, found.pairs_same)
    assert found.bits == found.bits_kept
    assert found.accuracy.before == found.accuracy.after == found.accuracy.on_originals
    assert "  Every cell is as it was." in describe_utility(found.to_dict(), "")


# Bounds -----------------------------------------------------------------------------


def test_pairs_beyond_the_budget_are_named(
    bank: pv.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_measures, "MOST_PAIRS", 1)
    found = pv.publish(bank, PROMISE).utility
    assert [("country", "rating")] == [p.columns for p in found.pairs]
    assert 3 == len(found.pairs_left_out)
    assert 10 == len(found.pairs) + found.pairs_same + len(found.pairs_left_out)
    text = "\n".join(describe_utility(found.to_dict(), ""))
    assert "3 pairs not compared: too many, or too large." in text


@pytest.mark.parametrize("method", [None, pv.Mondrian(), pv.Mondrian(form="buckets")])
def test_large_pairs_are_left_out_by_every_method(
    bank: pv.Table, monkeypatch: pytest.MonkeyPatch, method: Any
) -> None:
    monkeypatch.setattr(loss_measures, "MOST_CELLS", 3)
    stated = [PROMISE] if method is None else [PROMISE, pv.Measure(k_anonymity=4)]
    found = pv.publish(bank, stated, method=method).utility
    assert () == found.pairs
    assert 10 == found.pairs_same + len(found.pairs_left_out)


def test_large_tables_are_sampled_and_not_counted_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = {
        "job": ["a", "b", "c"] * 100,
        "ill": ["yes", "no", "no"] * 100,
        "t": ["x", "y", "y"] * 100,
    }
    with pv.read(pa.table(rows), quasi="job", sensitive="ill", target="t") as table:
        loose = pv.Promise(pv.Linker([]), pv.Ceiling("3/4"), {"ill": "yes"})
        recipe = pv.Recipe({"job": Hide(("a", "b"))})
        monkeypatch.setattr(row_samples, "SAMPLE", 150)
        some = pv.publish(table, loose, recipe=recipe).utility
        monkeypatch.setattr(released_cells, "MOST_WHOLE", 100)
        large = pv.publish(table, loose, recipe=recipe).utility
    assert some.accuracy.drawn
    assert 140 <= some.accuracy.rows <= 160  # three kinds of row, each rounded
    assert some.bits is not None
    assert (None, None) == (large.bits, large.bits_kept)
    assert large.accuracy is None or large.accuracy.drawn
    assert any("too many rows" in note for note in large.notes)
    assert some["job"] == large["job"]
    assert some.discernibility == large.discernibility


WAYS = [
    {},
    {"suppress": "0.1"},
    {"same_cuts": True, "suppress": "0.1"},
    {"utility": "information"},
    {"form": "buckets"},
]


@pytest.mark.parametrize("options", WAYS)
def test_figures_are_the_same_however_rows_are_added_up(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(8)
    sizes = {"age": 30, "town": 12, "job": 5, "ill": 4, "wage": 9, "vote": 2}
    rows = {c: draw.integers(0, s, 2_000) for c, s in sizes.items()}
    texts = {c: v if c == "age" else v.astype(str) for c, v in rows.items()}
    known = {"quasi": ["age", "town", "job"], "sensitive": "ill", "other": "wage"}
    method, found = pv.Mondrian(**options), []
    for at_once in (2**60, 0):  # pair by pair; several columns together
        monkeypatch.setattr(grouped_cells, "JOINT_ROWS", at_once)
        with pv.read(pa.table(texts), **known, target="vote") as table:
            release = pv.publish(table, pv.Measure(k_anonymity=3), method=method)
            found.append(release.utility.to_dict())
    assert found[0] == found[1]
    assert found[0]["pairs"]


def test_every_pair_that_fits_is_in_a_shared_table() -> None:
    sizes = {"a": 74, "b": 7, "c": 70_000, "d": 16, "e": 41, "f": 300}
    pairs = list(combinations(sizes, 2))
    sets = cover_pairs(pairs, sizes)
    assert all(prod(sizes[c] for c in own) <= MOST_CELLS for own in sets)
    for a, b in pairs:
        fits = sizes[a] * sizes[b] <= MOST_CELLS
        assert fits == any({a, b} <= {*own} for own in sets)
    assert len(sets) < sum("c" not in pair for pair in pairs)


# Doors ------------------------------------------------------------------------------


def test_it_is_private_and_in_custody(bank: pv.Table, tmp_path: Path) -> None:
    release = pv.publish(bank, PROMISE)
    found = release.utility
    written = release.write(tmp_path / "out", custody=tmp_path / "vault")
    custody = json.loads((tmp_path / "vault" / "custody.json").read_text("utf-8"))
    assert found.to_dict() == custody["utility"]
    assert written.utility is found  # worked out once
    public = b"".join(p.read_bytes() for p in (tmp_path / "out").iterdir())
    for word in (b"utility", b"discernibility", b"ncp", b"NCP", b"cramers"):
        assert word not in public
    loaded = pv.load(tmp_path / "out")
    assert loaded.utility is None
    assert "does not know its table" in loaded.utility_note


def test_it_can_be_switched_off(bank: pv.Table, tmp_path: Path) -> None:
    release = pv.publish(bank, PROMISE, utility=False)
    assert (None, "Switched off.") == (release.utility, release.utility_note)
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    custody = json.loads((tmp_path / "vault" / "custody.json").read_text("utf-8"))
    assert custody["utility"] is None


def test_the_command_prints_it_in_text_and_json(policy: str) -> None:
    words = ["publish", str(bank_path()), "-p", policy, "--dry-run"]
    text = CliRunner().invoke(cli, words).output
    assert "What the release keeps (private" in text
    assert "  country   41.7 %  0.417        78.1 %  0.000\n" in text
    told = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert "country" == next(iter(told["utility"]["columns"]))
    assert 120 == told["utility"]["discernibility"]
    assert "" == told["utility_note"]
    off = json.loads(CliRunner().invoke(cli, [*words, "--json", "--no-utility"]).stdout)
    assert (None, "Switched off.") == (off["utility"], off["utility_note"])


def test_views_have_no_such_numbers() -> None:
    rows = pa.table({"name": ["a", "b"], "job": ["c", "d"], "ill": ["e", "f"]})
    table = pv.read(rows, identifier="name", sensitive="ill", other="job")
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("3/4"))
    with pytest.raises(pv.InputError, match="utility must be left out"):
        pv.publish(table, promise, method=pv.SplitViews(), utility=False)


def test_a_release_is_not_lost_for_want_of_time(
    bank: pv.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures get a fifth of what is left; then they are left out, and said so."""

    def wait(_release: object, run: Any) -> None:
        assert run.end - monotonic() < 25
        while True:
            run.check()

    monkeypatch.setattr(loss_measures, "measure_loss", wait)
    monkeypatch.setattr(loss_measures, "SHARE", 1000)
    release = pv.publish(bank, PROMISE)
    release.write(tmp_path / "out", custody=tmp_path / "vault", max_seconds=100)
    assert pv.verify(tmp_path / "out").good
    assert "The time limit left no time for them." == release.utility_note


def test_no_time_at_all_is_still_an_error(
    bank: pv.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def use_up(_release: object, run: Any) -> None:
        end = run.end + 4 * (run.end - monotonic())
        while monotonic() <= end:
            pass
        run.check()

    monkeypatch.setattr(loss_measures, "measure_loss", use_up)
    release = pv.publish(bank, PROMISE)
    with pytest.raises(pv.Stopped):
        release.write(tmp_path / "out", custody=tmp_path / "vault", max_seconds=3)
    assert not (tmp_path / "out").exists()


def test_no_cell_of_anybody_is_in_it() -> None:
    rows = {
        "job": ["canary-a", "canary-b", "canary-c"] * 10,
        "ill": ["canary-yes", "canary-no", "canary-no"] * 10,
        "t": ["canary-x"] * 15 + ["canary-y"] * 15,
    }
    with pv.read(pa.table(rows), quasi="job", sensitive="ill", target="t") as table:
        for method in (pv.Mondrian(), pv.Mondrian(form="buckets"), None):
            stated: Any = [pv.Measure(k_anonymity=15)]
            if method is None:
                linker = pv.Linker(["job"])
                stated = pv.Promise(linker, pv.Ceiling("3/4"), {"ill": "canary-yes"})
            found = pv.publish(table, stated, method=method).utility
            told = found.to_dict()
            text = "\n".join(describe_utility(told, ""))
            assert "canary" not in text + json.dumps(told) + repr(found)


def test_rows_are_read_once_for_all_figures() -> None:
    """Columns, pairs, groups and whole rows follow from the distinct rows."""
    rows = {
        "job": [f"job {i % 7}" for i in range(600)],
        "town": [f"town {i % 11}" for i in range(600)],
        "ill": ["yes" if i % 13 == 0 else "no" for i in range(600)],
        "t": ["x" if i % 5 else "y" for i in range(600)],
    }
    promise = pv.Promise(pv.Linker(["job", "town"]), pv.Ceiling("1/9"), {"ill": "yes"})
    quasi, counted = ["job", "town"], []

    def listen(event: Any) -> None:
        if event.doing == "counting" and event.share == 1.0:
            counted.append(event)

    with pv.read(pa.table(rows), quasi=quasi, sensitive="ill", target="t") as table:
        release = pv.publish(table, promise, utility=False)
        found = loss_measures.measure_loss(release, Run(listen))
    assert release.hidden
    assert len(found.pairs) > 1
    assert len(counted) <= 1
