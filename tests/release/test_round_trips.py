"""A release, written and read back, is the private table with the recipe applied."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import privet as pv
from privet.findings import Verdict
from privet.microdata.suppression.sweeps import SweepStep
from release.byhand import (
    Case,
    Cells,
    State,
    cases,
    csv_rows,
    keeps,
    parquet_rows,
    released,
    state_of,
    told,
)

pytestmark = pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")

BRIEFLY = settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
"""Every example opens engines and writes files; making it smaller takes minutes."""

ACCEPTED = dict.fromkeys(("ill", "debt"), "promises are random, few are full")

READERS = {"parquet": parquet_rows, "csv": csv_rows}


def published(case: Case) -> pv.Release | None:
    """The release; None where none exists, which is checked by hand."""
    try:
        return pv.publish(case.table(), case.promises)
    except pv.Infeasible:
        assert not keeps(case, most_hidden(case))
        return None


def most_hidden(case: Case) -> State:
    columns = {c for p in case.promises for c in p.against.knows or ()}
    if any(p.against.knows is None for p in case.promises):
        columns |= {"job", "age", "region", "free"}
    plain = State({}, {})
    maskable = columns - {"debt"}
    counted = [r for r in case.rows if case.size(r)]
    return State({c: {plain.cell(case, c, r) for r in counted} for c in maskable}, {})


def read_back(case: Case, path: Path) -> tuple[list[str], Counter[Cells], int]:
    """Columns, rows with how often they count, and how many rows the file has."""
    names, rows = READERS[path.suffix[1:]](path)
    found: Counter[Cells] = Counter()
    for row in rows:
        cells = dict(zip(names, row, strict=True))
        n = int(cells.pop("n") or 0) if case.weighted else 1
        if case.kind == "double" and path.suffix == ".csv" and is_plain(case, cells):
            cells["age"] = told(float(cells["age"] or ""))
        found[tuple(cells.values())] += n
    return [c for c in names if c != "n"], found, len(rows)


def is_plain(case: Case, cells: dict[str, str | None]) -> bool:
    """Whether an age is shown as the number it is."""
    values = {r["age"] for r in case.rows if r["age"] is not None}
    try:
        return cells["age"] is not None and float(cells["age"]) is not None and values
    except ValueError:
        return False


@given(cases(), st.sampled_from(["parquet", "csv"]))
@BRIEFLY
def test_written_rows_are_the_source_with_the_recipe_applied(
    case: Case, form: str
) -> None:
    release = published(case)
    if release is None:
        return
    with TemporaryDirectory() as place:
        folder = Path(place) / "out"
        release.write(
            folder, custody=Path(place) / "vault", format=form, accept=ACCEPTED
        )
        path = folder / f"table.{form}"
        names, found, rows = read_back(case, path)
        assert [c for c in release.columns() if c != "n"] == names
        assert not {"name", "n"} & set(names)
        assert released(case, state_of(case, release), names) == found
        assert rows == (len(found) if case.weighted else len(case.rows))
        checked = pv.verify(folder)
        assert ((), True) == (checked.problems, checked.good)
        with pv.load(folder).table as table:
            loaded = pv.load(folder)
            assert None is loaded.hidden
            loaded.table.close()
            assert loaded.audit.safe
            assert pv.audit(table, loaded.policy).safe


@given(cases())
@BRIEFLY
def test_every_state_on_the_way_keeps_every_promise(case: Case) -> None:
    release = published(case)
    if release is None:
        return
    assert all(f.verdict is Verdict.SAFE for f in release.audit.findings)
    # What is exchanged in the end is told as a whole; all sweeps come before.
    sweeps = [s for s in release.steps if isinstance(s, SweepStep)]
    ordered = {*(release.intervals or ()), *(s.column for s in sweeps if s.cut)}
    # A promise about values nobody has is kept, whatever is shown: nothing is hidden.
    touched = {s.column for s in sweeps} | set(release.hidden or ())
    every = most_hidden(case).hidden
    hidden = {c: set(every[c]) for c in touched - ordered}
    cuts: dict[str, list[Any]] = {c: [] for c in ordered}
    assert keeps(case, State(hidden, cuts))
    for step, value in ((s, v) for s in sweeps for v in s.values):
        if step.cut:
            cuts[step.column].append(end_of(case, value))
            cuts[step.column].sort(key=lambda v: (v is not None, v))
        else:
            hidden[step.column].remove(value)
        assert keeps(case, State(hidden, cuts))
    if len(sweeps) == len(release.steps):
        lone = {c: v if len(v) > 1 else set() for c, v in hidden.items()}
        assert {c: v for c, v in lone.items() if v} == state_of(case, release).hidden


def end_of(case: Case, text: str | None) -> Any:
    values = {told(r["age"]): r["age"] for r in case.rows}
    return values[told(float(text)) if text and case.kind == "double" else text]


@given(cases())
@BRIEFLY
def test_nothing_more_could_be_shown(case: Case) -> None:
    release = published(case)
    if release is None:
        return
    state = state_of(case, release)
    assert keeps(case, state)
    for column, values in state.hidden.items():
        assert len(values) > 1
        for value in values:
            more = {**state.hidden, column: values - {value}}
            assert not keeps(case, State(more, state.cuts))
    for column, ends in state.cuts.items():
        for end in further_ends(case, column, ends):
            more_ends = sorted([*ends, end], key=lambda v: (v is not None, v))
            assert not keeps(
                case, State(state.hidden, {**state.cuts, column: more_ends})
            )


def further_ends(case: Case, column: str, ends: list[Any]) -> list[Any]:
    """Values, but the largest, that an ordered column is not cut at yet."""
    values = {told(r[column]): r[column] for r in case.rows if case.size(r)}
    numbers = [v for v in values.values() if told(v) != "nan"]
    ordered = sorted(numbers, key=lambda v: (v is not None, v))
    last = [] if "nan" in values else ordered[-1:]
    return [v for v in ordered if v not in ends and v not in last]


# Order ------------------------------------------------------------------------------


def test_rows_are_written_in_another_order_every_time(tmp_path: Path) -> None:
    rows = 50
    table = pa.table(
        {
            "name": [f"person {i}" for i in range(rows)],
            "job": [f"job {i // 2:02}" for i in range(rows)],
            "ill": ["x", "y"] * (rows // 2),
        }
    )
    promise = pv.Promise(pv.Linker("job"), pv.Ceiling("1/2"), {"ill": "x"})
    source = pv.read(table, identifier="name", quasi="job", sensitive="ill")
    release = pv.publish(source, [promise])
    orders = []
    for i in range(2):
        for form in ("parquet", "csv"):
            folder = tmp_path / f"{form}{i}"
            release.write(folder, custody=tmp_path / f"c{form}{i}", format=form)
            names, found = READERS[form](folder / f"table.{form}")
            assert ["job", "ill"] == names  # and no number of a row
            orders.append(list(found))
    expected = list(zip(*(table[c].to_pylist() for c in ("job", "ill")), strict=True))
    assert all(expected == sorted(order) for order in orders)
    assert 5 == len({tuple(order) for order in [expected, *orders]})


def test_the_file_of_the_table_is_digested_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("job,ill\n" + "cook,flu\njudge,none\n" * 20)
    read: list[str] = []
    digest = hashlib.file_digest

    def note(file: Any, *how: Any) -> Any:
        read.append(file.name)
        return digest(file, *how)

    monkeypatch.setattr(hashlib, "file_digest", note)
    with pv.read(path, quasi="job", sensitive="ill") as table:
        release = pv.publish(table, pv.Measure(k_anonymity=5), method=pv.Mondrian())
        vault = tmp_path / "vault"
        release.write(tmp_path / "out", custody=vault, accept={"ill": "a test"})
    assert 1 == read.count(str(path))  # it may be large
    record = json.loads((vault / "custody.json").read_text(encoding="utf-8"))
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [{"path": str(path), "sha256": expected}] == record["source"]
    assert [expected] == record["rows_from"]["files"]
