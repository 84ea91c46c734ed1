"""Ranges as two columns and empty cells: what is written is read, judged, guarded."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from release.test_forged import forge, resign

AGES = [21, 22, 23, 24, 31, 32, 33, 34, None, None, 50, 60]
ILL = ["x", "x", "x", "y", "x", "y", "z", "x", "y", "z", "x", "y"]
JOBS = ["a", "a", "b", "b", None, None, "c", "c", "a", "b", "c", "c"]
PEOPLE = pa.table(
    {
        "age": pa.array(AGES, pa.int16()),
        "job": JOBS,
        "ill": ILL,
    }
)
PROMISE = pv.Promise(pv.Linker(["age", "job"]), pv.Ceiling("1/2"), "ill")
ENDS = ["age_from", "age_to", "age_missing"]


def publish(people: pa.Table = PEOPLE, **options: Any) -> pv.Release:
    table = pv.read(people, quasi=["age", "job"], sensitive="ill")
    return pv.publish(table, [PROMISE], method=pv.TopDownDisclosure(**options))


def written(folder: Path, form: str = "csv") -> Path:
    release = publish(hidden="null", ranges="columns")
    release.write(folder / "out", custody=folder / "vault", format=form)
    return folder / "out"


def is_refused(folder: Path) -> bool:
    try:
        return not pv.verify(folder).good
    except pv.InputError:
        return True


def read_columns(folder: Path) -> dict[str, Any]:
    columns = json.loads((folder / "release.json").read_text())["columns"]
    assert isinstance(columns, dict)
    return columns


def test_the_manifest_says_how_columns_are_written(tmp_path: Path) -> None:
    columns = read_columns(written(tmp_path))
    assert ENDS == columns["age"]["written_as"]
    assert ("null", "null") == (
        columns["job"]["shown_as"],
        columns["job"]["written_as"],
    )
    note = (tmp_path / "out" / "README.txt").read_text()
    assert "age is shown in two columns: above age_from up to age_to" in note
    assert "Their cells are empty, as those of missing values are." in note


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "sav", "dta"])
def test_what_is_loaded_shows_labels_again(tmp_path: Path, form: str) -> None:
    loaded = pv.load(written(tmp_path, form))
    labels = publish(hidden="null").table.domains(["age", "job"])
    shown = loaded.table.domains(["age", "job"])
    assert set(labels["age"].labels) == set(shown["age"].labels)
    assert set(labels["job"].labels) == set(shown["job"].labels)


@pytest.mark.parametrize("method", [pv.TopDownDisclosure, pv.Mondrian])
@pytest.mark.parametrize("form", ["xlsx", "sav", "dta"])
def test_ends_keep_their_types_in_every_file(
    tmp_path: Path, form: str, method: Any
) -> None:
    days = [date(2020, 1, 1 + i) for i in range(12)]
    rows = {"day": days, "cost": [i / 4 for i in range(12)], "ill": ILL}
    with pv.read(pa.table(rows), quasi=["day", "cost"], sensitive="ill") as table:
        promise = pv.Promise(pv.Linker(["day", "cost"]), pv.Ceiling("1/2"), "ill")
        release = pv.publish(table, promise, method=method(ranges="columns"))
        release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    columns = read_columns(tmp_path / "out")
    kinds = {c: about["type"] for c, about in columns.items() if "written_as" in about}
    assert kinds
    assert kinds.items() <= {"day": "date", "cost": "number"}.items()


@pytest.mark.parametrize("method", [pv.TopDownDisclosure, pv.Mondrian])
@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "dta"])
@pytest.mark.parametrize(("unit", "zone"), [("us", "UTC"), ("ns", None), ("ns", "UTC")])
def test_ends_of_moments_are_written_and_recounted(
    tmp_path: Path, form: str, method: Any, unit: str, zone: str | None
) -> None:
    """Ends lost their zone, and many files of zones or of pandas could not be."""
    moments = [datetime(2017, 1, 1 + i, 5, 38, 21, tzinfo=UTC) for i in range(12)]
    type_ = pa.timestamp(unit, zone)
    rows = {"at": pa.array(moments, pa.timestamp("us", "UTC")).cast(type_), "ill": ILL}
    with pv.read(pa.table(rows), quasi="at", sensitive="ill") as table:
        promise = pv.Promise(pv.Linker(["at"]), pv.Ceiling("1/2"), "ill")
        release = pv.publish(table, promise, method=method(ranges="columns"))
        release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
        ends = release.to_arrow().schema
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    assert ["at_from", "at_to"] == read_columns(tmp_path / "out")["at"]["written_as"]
    assert type_ == ends.field("at_to").type


@pytest.mark.parametrize("form", ["xlsx", "sav", "dta"])
def test_moments_of_pandas_stay_moments_in_every_file(
    tmp_path: Path, form: str
) -> None:
    moments = pa.array([10**9 * i for i in range(4)], pa.timestamp("ns"))
    rows = pa.table({"job": ["a"] * 4, "at": moments})
    with pv.read(rows, quasi="job", sensitive="at") as table:
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "at")
        release = pv.publish(table, promise)
        release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
    sheet = "table" if form == "xlsx" else None
    with pv.read(tmp_path / "out" / f"table.{form}", table=sheet) as found:
        assert "datetime" == found.domains(["at"])["at"].kind


def test_parts_of_a_microsecond_are_refused_by_name(tmp_path: Path) -> None:
    rows = pa.table({"job": ["a"] * 2, "at": pa.array([1, 2], pa.timestamp("ns"))})
    with pv.read(rows, quasi="job", sensitive="at") as table:
        release = pv.publish(table, pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "at"))
        with pytest.raises(pv.InputError, match="'at' must hold whole microseconds"):
            release.write(tmp_path / "o", custody=tmp_path / "v", format="xlsx")


def column(name: str, **keys: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda content: content["columns"][name].update(keys)


@pytest.mark.forgeries
@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["columns"]["age"].pop("written_as"),
        lambda c: c["columns"]["job"].pop("written_as"),
        column("age", written_as=["age_to", "age_from", "age_missing"]),
        column("age", written_as=["age_from", "age_to"]),
        column("age", written_as=["age_from"]),
        column("age", written_as=[]),
        column("age", written_as="null"),
        column("age", written_as="nothing"),
        column("age", written_as=7),
        column("age", shown_as="ranges"),
        column("age", shown_as="sets"),
        column("age", type="date"),
        column("job", written_as=["job_from", "job_to"]),
        column("job", shown_as="⊥"),
        column("ill", written_as="null"),
        column("ill", written_as=["ill_from", "ill_to"], shown_as="intervals"),
    ],
)
def test_forged_manifests_are_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    folder = written(tmp_path)
    forge(folder, change)
    assert is_refused(folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("age_from", "from"),
        (",false,", ",maybe,"),
        (",21,", ",old,"),
        ("\n21,21,", '\n"21, 4","21",'),
    ],
)
def test_forged_cells_are_refused(tmp_path: Path, old: str, new: str) -> None:
    folder = written(tmp_path)
    file = folder / "table.csv"
    text = file.read_text(encoding="utf-8")
    changed = text.replace(old, new, 1)
    if changed == text:  # the age that stands alone is another one
        changed = text.replace(",false,", ",7;8,", 1)
    file.write_text(changed, encoding="utf-8")
    resign(folder)
    assert is_refused(folder)


def test_a_text_like_the_marker_is_no_empty_cell(tmp_path: Path) -> None:
    """Cells that a reader tells apart are never counted as one."""
    folder = written(tmp_path)
    before = pv.load(folder).table.domains(["job"])["job"].labels
    file = folder / "table.csv"
    header, *rows = file.read_text(encoding="utf-8").splitlines()
    at = header.split(",").index("job")
    cells = [row.split(",") for row in rows]
    hidden = next(row for row in cells if not row[at])
    hidden[at] = "⊥"
    lines = [header, *(",".join(row) for row in cells)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    resign(folder)
    assert not pv.verify(folder).good
    assert "⊥" in before


def test_names_that_are_taken_are_refused() -> None:
    more = PEOPLE.append_column("Age_From", pa.array(ILL))
    table = pv.read(more, quasi=["age", "job"], sensitive="ill", other="Age_From")
    with pytest.raises(pv.InputError, match="'age_from', of column 'age', is taken"):
        pv.publish(table, [PROMISE], method=pv.TopDownDisclosure(ranges="columns"))


@pytest.mark.parametrize("key", ["hidden", "ranges"])
@pytest.mark.parametrize("method", [pv.TopDownDisclosure, pv.Mondrian])
def test_other_ways_to_write_are_refused(method: Any, key: str) -> None:
    with pytest.raises(pv.InputError, match=f"{key} must be one of"):
        method(**{key: "somehow"})


def test_the_recipe_keeps_how_it_is_written(tmp_path: Path) -> None:
    written(tmp_path)
    recipe = pv.Recipe.load(tmp_path / "vault")
    assert ("null", "columns") == (recipe.hidden, recipe.ranges)
    table = pv.read(PEOPLE, quasi=["age", "job"], sensitive="ill")
    again = pv.publish(table, [PROMISE], recipe=recipe)
    again.write(tmp_path / "next", custody=tmp_path / "vault2")
    names = pq.read_schema(tmp_path / "next" / "table.parquet").names
    assert [*ENDS, "job", "ill"] == names
    types = pq.read_schema(tmp_path / "next" / "table.parquet").types
    assert [pa.int16(), pa.int16(), pa.bool_()] == types[:3]
    assert pv.verify(tmp_path / "next").good


def test_a_later_delivery_reads_both_forms(tmp_path: Path) -> None:
    release = publish(hidden="null", ranges="columns")
    since = pv.read(PEOPLE, quasi=["age", "job"], sensitive="ill")
    rows = PEOPLE.to_pylist() * 2
    later = pv.read(pa.Table.from_pylist(rows), quasi=["age", "job"], sensitive="ill")
    try:
        made = pv.publish(later, [PROMISE], recipe=release.recipe, since=since)
    except pv.Infeasible:
        return
    assert made.recipe is not None
    assert ("null", "columns") == (made.recipe.hidden, made.recipe.ranges)


def test_the_command_line_writes_both(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(
        'columns = { quasi = ["age", "job"], sensitive = ["ill"] }\n'
        '[[promise]]\nagainst = "linker"\nabout = "ill"\nat_most = 0.5\n'
    )
    for method in ("disclose", "mondrian"):
        out = tmp_path / method
        told = CliRunner().invoke(
            cli,
            [
                "publish",
                str(tmp_path / "people.parquet"),
                *("-p", str(tmp_path / "policy.toml"), "-o", str(out)),
                *("--custody", str(tmp_path / f"vault-{method}"), "--method", method),
                *("--ranges", "columns", "--hidden", "null", "--quiet"),
            ],
        )
        assert ("safe\n", 0) == (told.stdout, told.exit_code)
        assert {"age_from", "age_to"} <= set(
            pq.read_schema(out / "table.parquet").names
        )
        assert 0 == CliRunner().invoke(cli, ["verify", str(out)]).exit_code
