"""What recipients get to read runs as it is, and describes the files as they are."""

from __future__ import annotations

import io
import json
import re
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privet as pv
from privet.release.handover.release_report import note_manifest
from privet.release.kinds import close_release
from privet.report.documents.dataset_description import STATED, TYPES
from privet.report.documents.document import Program
from privet.report.documents.public_note import split_note
from privet.report.documents.released_columns import list_columns
from privet.report.documents.worked_examples import choose_columns
from report.releases import KINDS, make_release

STATE = {
    "license": "https://creativecommons.org/licenses/by/4.0/",
    "url": "https://example.org/loans",
    "creator": "A registry",
    "published": "2026-03-31",
}


@pytest.fixture(scope="module", params=list(KINDS))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return make_release(request.param, tmp_path_factory.mktemp("made")) / "out"


def read_manifest(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "release.json").read_text("utf-8"))
    return found


def list_programs(manifest: dict[str, Any]) -> dict[str, str]:
    note = note_manifest(manifest)
    (use,) = (s for s in note.sections if s.key == "use")
    return {p.language: p.text for p in use.parts if isinstance(p, Program)}


def read_columns(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        return list(pd.read_parquet(path).columns)
    return list(pd.read_csv(path).columns)


# Examples ---------------------------------------------------------------------------


def test_every_language_is_there(made: Path) -> None:
    assert ["pandas", "R", "SQL"] == list(list_programs(read_manifest(made)))


def add_people(out: Path) -> None:
    """Somebody to predict something of, where a classifier asks for that."""
    if (out / "scorecard.json").exists():
        rows = {"job": ["Trader", "Cook"], "country": ["UK", "US"], "child": ["No"] * 2}
        pd.DataFrame(rows).to_csv("../people.csv", index=False)


def run_pandas(text: str) -> str:
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(text, "example", "exec"), {})
    return said.getvalue()


def test_examples_run_and_agree(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "out"
    shutil.copytree(made, copy)
    monkeypatch.chdir(copy)
    add_people(copy)
    programs = list_programs(read_manifest(made))
    rows = duckdb.sql(re.sub(r"(?m)^--.*$", "", programs["SQL"])).fetchall()
    assert rows
    kind = read_manifest(made)["kind"]
    said = run_pandas(programs["pandas"])
    if kind == "classifier":
        predicted = [line.split()[-1] for line in said.splitlines()[1:]]
        assert [label for _, label in rows] == predicted
        return
    lines = [line for line in said.splitlines() if "dtype" not in line]
    found = [re.search(r"(-?\d+\.?\d*)\s*$", line) for line in lines]
    numbers = [float(match[1]) for match in found if match]
    told = rows[0] if kind == "responses" else [row[-1] for row in rows]
    assert sorted(float(x) for x in told) == pytest.approx(sorted(numbers), rel=1e-4)


def test_a_card_predicts_the_same_in_sql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = make_release("classifier", tmp_path) / "out"
    rows = {"job": ["Trader", "Cook"], "country": ["UK", "US"], "child": ["No"] * 2}
    people = pd.DataFrame(rows)
    monkeypatch.chdir(out)
    expected = pv.load(out).classifier().predict(people)
    programs = list_programs(read_manifest(out))
    people.to_csv("../people.csv", index=False)
    found = duckdb.sql(programs["SQL"]).fetchall()
    assert list(expected) == [label for _, label in found]


def test_one_report_is_still_a_matrix_in_r(tmp_path: Path) -> None:
    # Without drop = FALSE, R makes a vector of one column, and rowMeans fails.
    out = make_release("answers", tmp_path) / "out"
    program = list_programs(read_manifest(out))["R"]
    assert "rowMeans(weights[, seen, drop = FALSE])" in program


def test_estimates_are_near_the_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = make_release("answers", tmp_path) / "out"
    monkeypatch.chdir(out)
    (row,) = duckdb.sql(list_programs(read_manifest(out))["SQL"]).fetchall()
    no, yes = row
    assert 0.75 == pytest.approx(no, abs=0.06)  # 12,000 answers: 6 standard errors
    assert 1 == pytest.approx(no + yes)


# Columns ----------------------------------------------------------------------------


def test_columns_are_those_of_the_files(made: Path) -> None:
    for path, columns in list_columns(read_manifest(made)).items():
        assert sorted(read_columns(made / path)) == sorted(c.name for c in columns)


def test_a_note_is_split_as_it_was_written(made: Path) -> None:
    text = (made / "README.txt").read_text("utf-8")
    title, sections = split_note(text)
    assert title == text.splitlines()[0]
    items = [line for lines in sections.values() for line in lines]
    assert [f"- {i}" for i in items] == [
        line for line in text.splitlines() if line.startswith("- ")
    ]
    assert "What is not promised" in sections


def test_the_note_says_all_that_the_text_says(made: Path) -> None:
    note = json.dumps(note_manifest(read_manifest(made)).to_dict(), ensure_ascii=False)
    for line in (made / "README.txt").read_text("utf-8").splitlines():
        if line.startswith("- "):
            assert json.dumps(line[2:], ensure_ascii=False)[1:-1] in note


# Catalogues -------------------------------------------------------------------------


def describe(out: Path, form: str, tmp_path: Path, **state: str) -> dict[str, Any]:
    release = pv.load(out)
    try:
        place = release.report(tmp_path / f"{form}.json", format=form, state=state)
    finally:
        close_release(release)
    found: dict[str, Any] = json.loads(place.read_text("utf-8"))
    return found


def test_croissant_has_what_its_specification_asks_for(
    made: Path, tmp_path: Path
) -> None:
    found = describe(made, "croissant", tmp_path, **STATE)
    manifest = read_manifest(made)
    assert "sc:Dataset" == found["@type"]
    assert "http://mlcommons.org/croissant/1.0" == found["conformsTo"]
    for key in ("name", "description", "license", "url", "creator", "datePublished"):
        assert found[key]
    files = {f["path"]: f for f in manifest["files"]}
    assert set(files) == {f["@id"] for f in found["distribution"]}
    for file in found["distribution"]:
        assert "cr:FileObject" == file["@type"]
        assert files[file["@id"]]["sha256"] == file["sha256"]
        assert file["contentUrl"]
        assert file["encodingFormat"]
    for records in found["recordSet"]:
        for field in records["field"]:
            assert field["dataType"] in TYPES.values()
            path = field["source"]["fileObject"]["@id"]
            assert field["source"]["extract"]["column"] in read_columns(made / path)


READ_BY_CROISSANT = {".csv": "text/csv", ".parquet": "application/x-parquet"}
"""Names of formats that mlcroissant reads; it compares them letter by letter."""


def test_croissant_s_own_tool_can_read_the_files(made: Path, tmp_path: Path) -> None:
    found = describe(made, "croissant", tmp_path, **STATE)
    files = {f["@id"]: f["encodingFormat"] for f in found["distribution"]}
    for records in found["recordSet"]:
        for field in records["field"]:
            path = field["source"]["fileObject"]["@id"]
            assert READ_BY_CROISSANT[Path(path).suffix] == files[path]
    assert {"equivalentProperty", "samplingRate"} <= set(found["@context"])


def test_dcat_has_distributions_with_digests(made: Path, tmp_path: Path) -> None:
    found = describe(made, "dcat", tmp_path, **STATE)
    manifest = read_manifest(made)
    assert "dcat:Dataset" == found["@type"]
    assert manifest["digest"] == found["dct:identifier"]
    told = [
        d["spdx:checksum"]["spdx:checksumValue"] for d in found["dcat:distribution"]
    ]
    assert [f["sha256"] for f in manifest["files"]] == [t["@value"] for t in told]
    assert {"@id": STATE["url"]} == found["dcat:landingPage"]


def test_what_nobody_stated_is_left_out(tmp_path: Path) -> None:
    out = make_release("disclosed", tmp_path) / "out"
    found = describe(out, "croissant", tmp_path)
    assert not {"license", "url", "creator", "datePublished"} & set(found)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"licence": "x"}, "must be one of license"),
        ({"license": " "}, "license must be stated as text"),
        ({"published": "yesterday"}, "published must be a date"),
    ],
)
def test_what_is_stated_must_make_sense(
    tmp_path: Path, state: dict[str, str], message: str
) -> None:
    out = make_release("disclosed", tmp_path) / "out"
    with pytest.raises(pv.InputError, match=message):
        describe(out, "dcat", tmp_path, **state)
    assert {"license", "url", "creator", "published"} == set(STATED)


# Texts that look like something else -------------------------------------------------


def write_codes(folder: Path, method: Any, format_: str) -> dict[str, Any]:
    """A release whose texts look like numbers and truth, and are missing at times."""
    rows = {
        "zip": ["01234", "00123", None, "01234"] * 6,
        "sick": ["no", "yes", "NA", "no"] * 6,
    }
    policy = [pv.Measure(k_anonymity=3)]
    with pv.read(pd.DataFrame(rows), quasi=["zip"], sensitive="sick") as table:
        made = pv.publish(table, policy, method=method).accept({"sick": "test"})
        made.write(folder / "out", custody=folder / "vault", format=format_)
    return read_manifest(folder / "out")


CODES = {
    ("01234", "no"): 12,
    ("00123", "yes"): 6,
    (None, "NA"): 6,
}


@pytest.mark.filterwarnings("ignore:The default engine")  # of pandas, for Excel
@pytest.mark.parametrize("form", ["generalised", "buckets"])
@pytest.mark.parametrize("format_", ["csv", "parquet", "xlsx"])
def test_examples_keep_codes_and_count_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any, format_: str
) -> None:
    manifest = write_codes(tmp_path, pv.Mondrian(form=form), format_)
    monkeypatch.chdir(tmp_path / "out")
    programs = list_programs(manifest)
    if format_ != "xlsx":  # DuckDB loads what reads it from elsewhere
        rows = duckdb.sql(re.sub(r"(?m)^--.*$", "", programs["SQL"])).fetchall()
        assert {(by, about): n for by, about, n in rows} == CODES
    said = run_pandas(programs["pandas"])
    for (by, about), number in CODES.items():
        assert re.search(rf"{by or 'NaN'} +{about} +{number}", said)


def test_codes_and_nobody_at_all_are_counted_in_r(tmp_path: Path) -> None:
    # R fails on aggregate() of no rows, and drops those with a missing value.
    program = list_programs(write_codes(tmp_path, pv.Mondrian(), "csv"))["R"]
    assert 'colClasses = c("zip" = "character", "sick" = "character")' in program
    assert "addNA" in program
    assert "aggregate" not in program


def test_what_hides_least_is_counted(tmp_path: Path) -> None:
    rows = {
        "job": ["a", "b", "c", "d"] * 6,
        "town": ["N", "N", "N", "S"] * 6,
        "sick": ["no", "yes", "no", "yes"] * 6,
    }
    stated = [pv.Promise(pv.Linker(), pv.Ceiling("2/3"), {"sick": "yes"})]
    with pv.read(pd.DataFrame(rows), quasi=["job", "town"], sensitive="sick") as table:
        made = pv.publish(table, stated, method=pv.TopDownDisclosure())
        made.write(tmp_path / "out", custody=tmp_path / "vault")
    manifest = read_manifest(tmp_path / "out")
    hidden = {c: about.get("hidden_values") for c, about in manifest["columns"].items()}
    counted = choose_columns(manifest)
    assert {"job": 3, "town": 2, "sick": None} == hidden
    assert counted is not None
    assert "town" == counted.by.name
