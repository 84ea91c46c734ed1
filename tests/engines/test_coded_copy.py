"""Values, codes and rows of a large text file from one scan, if the first rows have
all values; otherwise from several, with the same counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet as pv
from privet.engine import dictionaries
from privet.engine.counting import coded_copy, counter, precount
from privet.engine.counting.strategy import Limits
from privet.engine.protocol import CountQuery
from privet.values.contingency import Counts

COLUMNS = ("age", "town", "ill")
TALLY = CountQuery(("age", "town"), "ill")


def write_people(path: Path, last: str = "") -> Path:
    """Three thousand rows that mostly differ, a few with missing cells; and a last."""
    draw = np.random.default_rng(5)
    ages, towns = draw.integers(0, 40, 3000), draw.integers(0, 30, 3000)
    illnesses = draw.choice(["", '"flu, bad"', "none"], 3000)
    rows = zip(ages, towns, illnesses, strict=True)
    lines = [f"{a},t{t},{i}" for a, t, i in rows]
    path.write_text("\n".join([",".join(COLUMNS), *lines, *([last] if last else [])]))
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are treated as large ones."""
    monkeypatch.setattr(coded_copy, "LEAST_BYTES", 0)
    monkeypatch.setattr(dictionaries, "FIRST_ROWS", 1000)
    monkeypatch.setattr(precount, "FEW_ROWS", 500)


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether a copy had the codes, each time that was asked."""
    found: list[bool] = []
    covers = coded_copy.CodedCopy.covers

    def note(copy: Any, tables: Any) -> bool:
        found.append(covers(copy, tables))
        return found[-1]

    monkeypatch.setattr(coded_copy.CodedCopy, "covers", note)
    return found


@contextmanager
def opened(path: Path, **more: Any) -> Iterator[pv.Table]:
    with pv.read(path, quasi=["age", "town"], sensitive="ill", **more) as table:
        yield table


def count(table: pv.Table) -> Counts:
    domains = table.domains(list(COLUMNS), before=[TALLY])
    ((_, groups),) = table.count([TALLY])
    keys = groups.keys.columns()
    codes = (*(k[groups.group] for k in keys), groups.value)
    return Counts(tuple(domains[c] for c in COLUMNS), codes, groups.n)


def count_with_scans(path: Path, **more: Any) -> Counts:
    """The same by rows in memory: no text file is read twice there."""
    import pyarrow.csv as text

    kept = text.ConvertOptions(
        column_types=dict.fromkeys(COLUMNS, "string"), strings_can_be_null=True
    )
    kept.null_values = [""]
    with pv.read(
        text.read_csv(path, convert_options=kept),
        quasi=["age", "town"],
        sensitive="ill",
        **more,
    ) as table:
        return count(table)


@pytest.mark.usefixtures("small")
def test_one_scan_counts_the_same(tmp_path: Path, copied: list[bool]) -> None:
    path = write_people(tmp_path / "people.csv")
    with opened(path) as table:
        found, again = count(table), count(table)
    assert copied[0]
    assert not copied[-1]  # it is gone once it was counted
    assert count_with_scans(path) == found == again
    assert 3000 == found.total


@pytest.mark.usefixtures("small")
def test_codes_are_read_from_a_key_that_is_not_sorted_here(
    tmp_path: Path, copied: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_people(tmp_path / "people.csv")
    # Neither arrays nor sorted keys: the database groups by codes.
    none = Limits(cells_per_row=0, keys_at_once=0, key_bytes=2**60)
    monkeypatch.setattr(counter, "LIMITS", none)
    with opened(path) as table:
        found = count(table)
    assert any(copied)
    assert count_with_scans(path) == found


@pytest.mark.usefixtures("small")
def test_several_orders_are_copied_as_codes(tmp_path: Path, copied: list[bool]) -> None:
    path = write_people(tmp_path / "people.csv")
    tallies = [TALLY, CountQuery(("age",), "ill"), CountQuery(("town", "ill"), "age")]

    def count_several(table: pv.Table) -> list[Any]:
        table.domains(list(COLUMNS), before=tallies)
        return [
            (
                tally,
                [k.tolist() for k in g.keys.columns()],
                g.value.tolist(),
                g.n.tolist(),
            )
            for tally, g in table.count(tallies)
        ]

    with opened(path) as table:
        found = count_several(table)
    assert any(copied)
    with opened(path, where={"ill": ["none", "flu, bad", None]}) as table:
        assert found == count_several(table)


@pytest.mark.usefixtures("small")
def test_bins_are_codes_of_the_copy(tmp_path: Path, copied: list[bool]) -> None:
    path = write_people(tmp_path / "people.csv")
    bins = {"age": [0, 10, 20, 40]}
    with opened(path, bins=bins) as table:
        found = count(table)
    assert copied[0]
    with opened(path, bins=bins, where={"ill": ["none", "flu, bad", None]}) as table:
        assert found == count(table)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("last", ["99,t1,none", "1,elsewhere,none", ",t1,none"])
def test_a_value_behind_the_first_rows_is_counted(
    last: str, tmp_path: Path, copied: list[bool]
) -> None:
    path = write_people(tmp_path / "people.csv", last)
    with opened(path) as table:
        found = count(table)
    assert not any(copied)
    assert count_with_scans(path) == found
    assert 3001 == found.total


@pytest.mark.usefixtures("small")
def test_a_rare_value_speaks_against_a_copy(tmp_path: Path, copied: list[bool]) -> None:
    path = write_people(tmp_path / "people.csv")
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, "99,t1,none", *lines]))
    with opened(path) as table:
        found = count(table)
    assert not any(copied)
    assert 3001 == found.total


@pytest.mark.usefixtures("small")
def test_groups_are_the_same_with_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_people(tmp_path / "people.csv")

    def publish() -> list[list[int]]:
        asked, method = [pv.Measure(k_anonymity=10)], pv.Mondrian()
        with opened(path) as table:
            release = pv.publish(table, asked, method=method)
            assert release.grouped is not None
            found: list[list[int]] = release.grouped.partition.leaves.tolist()
            return found

    one = publish()
    monkeypatch.setattr(coded_copy, "LEAST_BYTES", 2**60)
    assert publish() == one
    assert len(one) > 50
