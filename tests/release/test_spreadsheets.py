"""A released CSV opens in a spreadsheet without computing anything, and reads back."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import privet as pv
from release.byhand import csv_rows

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "'quoted", "\t=1", "\r=1", "-", "="]
HARMLESS = ["1+1", " =1", "a=b", "-5", "+5", "-1.5e3", "", "\n=1"]


def write(table: pa.Table, folder: Path) -> bytes:
    """Write a table of which nobody is surer than one half of anything."""
    other = [c for c in table.column_names if c not in ("job", "ill")]
    source = pv.read(table, quasi="job", sensitive="ill", other=other)
    release = pv.publish(source, [pv.Promise(pv.Linker(), pv.Ceiling("1/2"))])
    assert {} == release.hidden
    release.write(folder, custody=folder.with_name("vault"), format="csv")
    return (folder / "table.csv").read_bytes()


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_get_a_quote(text: str, tmp_path: Path) -> None:
    jobs = [text, "Cook"]
    table = pa.table({"job": jobs * 2, "ill": ["x", "x", "y", "y"]})
    written = write(table, tmp_path / "out")
    assert f"'{text}".encode() in written
    assert not written.replace(b'"', b"").startswith(text.encode())
    assert sorted(jobs * 2) == sorted(str(r[0]) for r in csv_rows_of(tmp_path))
    assert pv.verify(tmp_path / "out").good


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay_as_they_are(text: str, tmp_path: Path) -> None:
    table = pa.table({"job": [text, "Cook"] * 2, "ill": ["x", "x", "y", "y"]})
    written = write(table, tmp_path / "out")
    assert b"'" not in written
    assert pv.verify(tmp_path / "out").good


def csv_rows_of(place: Path) -> list[tuple[str | None, ...]]:
    return csv_rows(place / "out" / "table.csv")[1]


def test_numbers_are_left_alone(tmp_path: Path) -> None:
    ill = ["x", "x", "y", "y"]
    table = pa.table({"job": ["a", "b"] * 2, "ill": ill, "income": [-5, 7] * 2})
    assert b"-5" in write(table, tmp_path / "out").replace(b"'-5", b"")


def test_missing_and_empty_stay_two_things(tmp_path: Path) -> None:
    jobs = [None, None, "", "", "a", "a"]
    write(
        pa.table({"job": jobs, "ill": ["x", None, None, "", "", "x"]}), tmp_path / "out"
    )
    expected = {(None, "x"), (None, None), ("", None), ("", ""), ("a", ""), ("a", "x")}
    assert expected == set(csv_rows_of(tmp_path))
    with pv.load(tmp_path / "out").table as loaded:
        domains = loaded.domains(["job", "ill"])
        assert [None, "", "a"] == sorted(
            domains["job"].labels, key=lambda v: (v is not None, v)
        )
        assert {None, "", "x"} == set(domains["ill"].labels)


def test_a_delimiter_in_a_column_name_misleads_nobody(tmp_path: Path) -> None:
    ill = ["x", "x", "y", "y"]
    table = pa.table({"job": ["a", "b"] * 2, "ill": ill, "a;b;c;d;e": [1, 2] * 2})
    write(table, tmp_path / "out")
    assert pv.verify(tmp_path / "out").good


@pytest.mark.parametrize("name", ["year=2024", "a?b", "a[1]", "a*", "it's", 'q"q'])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_may_have_any_name(name: str, form: str, tmp_path: Path) -> None:
    table = pa.table({"job": ["a", "b"] * 2, "ill": ["x", "x", "y", "y"]})
    source = pv.read(table, quasi="job", sensitive="ill")
    release = pv.publish(source, [pv.Promise(pv.Linker("job"), pv.Ceiling("1/2"))])
    for folder in (tmp_path / name, tmp_path / "aXb"):  # which a pattern would match
        folder.mkdir()
        release.write(folder / "out", custody=folder / "vault", format=form)
    assert ((), True) == (
        pv.verify(tmp_path / name / "out").problems,
        pv.verify(tmp_path / name / "out").good,
    )


def test_names_of_columns_are_cells_too(tmp_path: Path) -> None:
    names = ["job", "ill", "=1+1", "'quoted"]
    table = pa.table({c: ["x", "y"] if c == "ill" else ["z", "z"] for c in names})
    written = write(table, tmp_path / "out")
    assert b"job,ill,'=1+1,''quoted" == written.splitlines()[0]
    with pv.load(tmp_path / "out").table as loaded:
        assert tuple(names) == loaded.schema.names
    assert pv.verify(tmp_path / "out").good


@pytest.mark.parametrize("name", ["=1+1", "-a", "'quoted"])
def test_names_of_disguised_columns_get_a_quote(name: str, tmp_path: Path) -> None:
    group = pv.Group(name, pv.Flip("0.8"))
    design = pv.Design([pv.Question(name, ["no", "yes"])], [group])
    policy = pv.Policy(promises=(pv.Promise(pv.Bayesian(), pv.Ratio(5), name),))
    options = {"format": "csv", "policy": policy}
    with pv.read(pa.table({name: ["yes", "no"]})) as table:
        out, vault = tmp_path / "out", tmp_path / "vault"
        pv.disguise(table, design, out, custody=vault, **options).close()
    assert f'"\'{name}"' == (out / "table.csv").read_text().splitlines()[0]
    assert pv.verify(out).good
