"""The public documents tell nothing that is not in the release or public policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet.release.manifest import digest_content
from release.examples import bank, bank_release, covering, discharged, jobs, written

PUBLIC = {"release.json", "README.txt"}
ALL = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "ill", "all columns")


# The manifest -----------------------------------------------------------------------


def test_the_manifest_is_as_designed(tmp_path: Path) -> None:
    policy = pv.Policy(
        promises=(
            pv.Promise(
                pv.Linker(["job", "country"]),
                pv.Ceiling("3/4"),
                {"bankruptcy": "Discharged"},
                "nobody learns a discharge",
            ),
            covering("3/4"),
        ),
        title="Loan ratings, research file",
        roles=bank().roles,
    )
    method = pv.TopDownDisclosure(paper=True)
    release = pv.publish(bank(), policy, method=method)
    content = dict(release.write(tmp_path / "out", custody=tmp_path / "v").manifest)
    assert json.loads((tmp_path / "out" / "release.json").read_text()) == content
    assert content.pop("digest") == digest_content(content)
    (file,) = content.pop("files")
    assert 64 == len(file.pop("sha256"))
    assert (tmp_path / "out" / "table.parquet").stat().st_size == file.pop("bytes")
    assert {"path": "table.parquet", "rows": 7} == file
    hidden = {"role": "quasi", "type": "text", "hidden_values": 2, "shown_as": "⊥"}
    assert {
        "job": hidden,
        "country": hidden,
        "child": {"role": "quasi", "type": "text"},
        "bankruptcy": {"role": "sensitive", "type": "text"},
        "rating": {"role": "target", "type": "text"},
        "count": {"role": "weight", "type": "integer"},
    } == content.pop("columns")
    assert [
        {
            "name": "nobody learns a discharge",
            "against": {"linker": ["job", "country"]},
            "about": {"bankruptcy": "Discharged"},
            "at_most": "3/4",
            "verdict": "safe",
            "basis": "exact",
            "worst": "1/2",
        },
        {
            "name": "all columns",
            "against": {"linker": ["job", "country", "child", "rating"]},
            "about": {"bankruptcy": "Discharged"},
            "at_most": "3/4",
            "verdict": "safe",
            "basis": "exact",
            "worst": "1/2",
        },
    ] == content.pop("promises")
    exposure = content.pop("exposure")
    known = ["job", "country", "child", "rating"]
    assert (24, known) == (exposure["people"], exposure["known"])
    (told,) = exposure["columns"].values()
    assert ["bankruptcy"] == list(exposure["columns"])
    assert [{"limit": {"at_most": "3/4"}, "people": 0, "true": 0}] == told["beyond"]
    assert [
        "protection against somebody who knows other columns than the promise names",
        "protection against a second release of the same people: "
        "nothing is known of earlier ones",
        "protection of people who have several rows",
        "protection against somebody who draws conclusions from how values were "
        "chosen to be hidden",
    ] == content.pop("not_promised")
    assert {
        "privet": pv.__version__,
        "manifest": 1,
        "kind": "groups",
        "title": "Loan ratings, research file",
        "method": "top-down disclosure",
        "derived": [],
        "weight": "count",
    } == content


@pytest.mark.parametrize(
    ("linker", "expected"),
    [
        (pv.Linker(["job"]), {"linker": ["job"]}),
        (pv.Linker([]), {"linker": []}),
        (pv.Linker(), {"linker": {}}),
        (pv.Linker(knows_any=1), {"linker": {"knows_any": 1}}),
    ],
)
def test_who_a_promise_is_against(
    linker: pv.Linker, expected: Any, tmp_path: Path
) -> None:
    promise = pv.Promise(linker, pv.Ceiling("1/2"), "ill")
    table = jobs(["a", "b", None] * 2, ["x", None, "y", "y", "x", None])
    release = pv.publish(table, [promise, ALL, pv.Measure(k_anonymity=1)])
    out = release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert expected == out.manifest["promises"][0]["against"]
    assert promise == pv.load(tmp_path / "out").policy.promises[0]
    assert 1 == out.manifest["measures"][0]["k_anonymity"]
    assert pv.verify(tmp_path / "out").good


def test_a_target_that_is_sensitive_stays_the_target(tmp_path: Path) -> None:
    table = jobs(["a", "b"] * 2, ["x", "x", "y", "y"], target="ill")
    release = pv.publish(
        table, [pv.Promise(pv.Linker("job"), pv.Ceiling("1/2"), "ill")]
    )
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    roles = pv.load(tmp_path / "out").table.roles
    assert (("ill",), "ill") == (roles.sensitive, roles.target)


# Canaries ---------------------------------------------------------------------------


def test_hidden_values_and_names_are_only_in_custody(tmp_path: Path) -> None:
    people = pa.table(
        {
            "name": [f"CANARY-NAME-{i}" for i in range(6)],
            "job": ["CANARY-SPY", "CANARY-KING", "Cook", "Cook", "Clerk", "Clerk"],
            "age": [97531, 86420, 3, 4, 5, 6],
            "ill": ["yes", "yes", "no", "yes", "no", "yes"],
        }
    )
    table = pv.read(people, identifier="name", quasi=["job", "age"], sensitive="ill")
    promise = pv.Promise(pv.Linker(["job"]), pv.Ceiling("3/4"), {"ill": "yes"})
    aged = pv.Promise(pv.Linker(["age"]), pv.Ceiling("3/4"), {"ill": "yes"}, "aged")
    both = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), {"ill": "yes"}, "all columns")
    release = pv.publish(table, [promise, aged, both])
    assert {"CANARY-SPY", "CANARY-KING"} <= set((release.hidden or {})["job"])
    for form in ("csv", "parquet"):
        folder = tmp_path / form / "out"
        folder.parent.mkdir()
        release.write(folder, custody=folder.parent / "vault", format=form)
        for path in folder.iterdir():
            data = path.read_bytes()
            assert not [c for c in (b"CANARY", b"97531", b"86420") if c in data]
        vault = folder.parent / "vault"
        assert "CANARY-SPY" in (vault / "recipe.json").read_text(encoding="utf-8")
        assert "CANARY-SPY" in (vault / "custody.json").read_text(encoding="utf-8")
        assert {0o600} == {p.stat().st_mode & 0o777 for p in vault.iterdir()}


def test_public_documents_quote_no_digest_of_the_source(tmp_path: Path) -> None:
    folder = written(tmp_path)
    record = json.loads((tmp_path / "vault" / "custody.json").read_text())
    (source,) = record["source"]
    for name in PUBLIC:
        text = (folder / name).read_text(encoding="utf-8")
        assert source["sha256"] not in text
        assert Path(source["path"]).name not in text
        assert "Canada" not in text


# The marker -------------------------------------------------------------------------


def hiding(values: list[str | None], **options: Any) -> pv.Release:
    """Two of three values must be hidden: one of them is always ill."""
    ill = ["x" if i == 0 else "y" for i in range(len(values))]
    promise = pv.Promise(pv.Linker("job"), pv.Ceiling("1/2"), {"ill": "x"})
    method = pv.TopDownDisclosure(**options)
    return pv.publish(jobs(values, ill), [promise], method=method)


def test_the_marker_must_not_be_a_value() -> None:
    with pytest.raises(pv.InputError, match="marker must not be a value"):
        hiding(["a", "⊥", "b", "b"])
    assert hiding(["a", "⊥", "b", "b"], marker="*").safe


@pytest.mark.parametrize("marker", ["*", "hidden", "=x", "-", "'", "a,b", '"'])
def test_other_markers(marker: str, tmp_path: Path) -> None:
    release = hiding(["a", "b", "c", "c"], marker=marker)
    for form in ("csv", "parquet"):
        out = release.write(tmp_path / form, custody=tmp_path / f"c{form}", format=form)
        assert marker == out.manifest["columns"]["job"]["shown_as"]
        assert pv.verify(tmp_path / form).good


@pytest.mark.parametrize("marker", ["", " ", " x", "\u200b", "a\nb"])
def test_a_marker_must_be_visible(marker: str) -> None:
    with pytest.raises(pv.InputError, match="visible"):
        pv.TopDownDisclosure(marker=marker)


def test_a_lone_hidden_value_is_shown() -> None:
    table = jobs(["a", "b"], ["x", "y"])
    promise = pv.Promise(pv.Linker("job"), pv.Ceiling("1"), {"ill": "x"})
    release = pv.publish(table, [promise], watcher=lambda _: False)
    assert ({}, {}) == (release.hidden, release.hidden_cells())


def test_an_ordered_column_that_is_not_cut_shows_the_marker(tmp_path: Path) -> None:
    people = pa.table({"age": [1, 2, None], "ill": ["x", "y", "z"]})
    table = pv.read(people, quasi="age", sensitive="ill")
    release = pv.publish(table, [pv.Promise(pv.Linker("age"), pv.Ceiling("1/3"))])
    out = release.write(tmp_path / "out", custody=tmp_path / "vault")
    expected = {"role": "quasi", "type": "integer", "hidden_values": 3, "shown_as": "⊥"}
    assert expected == out.manifest["columns"]["age"]
    assert {"age": 3} == release.hidden_cells()
    shown = pv.load(tmp_path / "out").table.domains(["age"])["age"]
    assert ["⊥"] == list(shown.labels)


def test_the_note_says_how_many_values_are_hidden(tmp_path: Path) -> None:
    note = (written(tmp_path) / "README.txt").read_text(encoding="utf-8")
    assert "country: 2 values are hidden and shown as ⊥" in note
    assert "at most 75 %; the worst case in this table is 66.7 %" in note


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_texts_keep_the_kind_of_what_they_say(tmp_path: Path, form: str) -> None:
    source = tmp_path / "t.csv"
    rows = ["a,{},1,2020-01-01", "b,{},22,1999-12-31"]
    lines = ["job,ill,age,born", *(row.format(ill) for row in rows for ill in "xy")]
    source.write_text("\n".join(lines) + "\n")
    other = ["age", "born"]
    with pv.read(source, quasi="job", sensitive="ill", other=other) as table:
        out = pv.publish(table, [ALL]).write(
            tmp_path / "out", custody=tmp_path / "vault", format=form
        )
    kinds = {c: told["type"] for c, told in out.manifest["columns"].items()}
    assert {"job": "text", "ill": "text", "age": "integer", "born": "date"} == kinds
    assert pv.verify(tmp_path / "out").good


def test_the_last_text_decides_the_kind(tmp_path: Path) -> None:
    """The first thousand look like numbers."""
    source = tmp_path / "t.csv"
    pairs = [f"a,{ill},{i % 5},{i % 5}" for i in range(1500) for ill in "xy"]
    lines = ["job,ill,number,mixed", *pairs, "a,x,5,none", "a,y,5,none"]
    source.write_text("\n".join(lines) + "\n")
    other = ["number", "mixed"]
    with pv.read(source, quasi="job", sensitive="ill", other=other) as table:
        out = pv.publish(table, [ALL]).write(
            tmp_path / "out", custody=tmp_path / "vault"
        )
    kinds = {c: told["type"] for c, told in out.manifest["columns"].items()}
    assert ("integer", "text") == (kinds["number"], kinds["mixed"])


# Numbers written as text ------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1.5", "2.50", "-3"], "double"),
        (["1", "-2", "+3"], "int64"),
        (["1e2", "1e3", "7"], "double"),
        (["0.1", "0.10000000000000000001", "7"], "string"),
        (["-0.5", "0", "1.5"], "double"),
        (["123456789012345678901", "2", "3"], "string"),
        (["2024-01-31", "2024-02-01", "2024-02-02"], "date32[day]"),
        (["007", "008", "009"], "string"),
    ],
)
def test_texts_become_numbers_only_if_nothing_is_lost(
    texts: list[str], expected: str, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    lines = ["job,ill", *(f"a,{t}" for t in texts)]
    (tmp_path / "source.csv").write_text("\n".join(lines) + "\n")
    table = pv.read(tmp_path / "source.csv", quasi="job", sensitive="ill")
    promise = pv.Promise(pv.Linker("job"), pv.Ceiling("0.99"), "ill")
    release = pv.publish(table, [promise])
    out = release.write(tmp_path / "out", custody=tmp_path / "vault")
    schema = pq.read_schema(tmp_path / "out" / "table.parquet")
    assert expected == str(schema.field("ill").type)
    assert "1/3" == out.manifest["promises"][0]["worst"]


def test_a_promise_about_missing_values_can_be_kept_on_file(tmp_path: Path) -> None:
    promise = pv.Promise(pv.Linker("job"), pv.Ceiling("1/2"), {"ill": [None, "x"]})
    release = pv.publish(jobs(["a", "b"] * 2, ["x", None, "y", "y"]), [promise])
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    record = json.loads((tmp_path / "vault" / "custody.json").read_text())
    assert [None, "x"] == record["policy"][0]["about"]["ill"]
    assert pv.verify(tmp_path / "out").good


def test_an_unsafe_or_loaded_release_is_not_written(tmp_path: Path) -> None:
    loaded = pv.load(written(tmp_path))
    with pytest.raises(pv.InputError, match="written already"):
        loaded.write(tmp_path / "again", custody=tmp_path / "other")
    assert bank_release().safe
    with pytest.raises(pv.Infeasible):
        pv.publish(bank(), [discharged("1/5")])


def test_equally_bad_cases_may_have_other_witnesses(tmp_path: Path) -> None:
    """x and y both come to 1/2; which of them is met first depends on the file."""
    table = jobs(
        ["b", "b", "a", "a", "c", "c"], ["y", "z", "x", "y", "y", "x"], target="ill"
    )
    promise = pv.Promise(pv.Linker("job"), pv.Ceiling("1/2"), "ill")
    release = pv.publish(table, [promise])
    for form in ("csv", "parquet"):
        release.write(tmp_path / form, custody=tmp_path / f"c{form}", format=form)
        assert pv.verify(tmp_path / form).good


@pytest.mark.parametrize("texts", [["1e2", "100", "7"], ["-0.0", "0", "1.5"]])
def test_one_number_written_twice_is_one_value(
    texts: list[str], tmp_path: Path
) -> None:
    lines = ["job,ill", *(f"a,{t}" for t in texts)]
    (tmp_path / "source.csv").write_text("\n".join(lines) + "\n")
    table = pv.read(tmp_path / "source.csv", quasi="job", sensitive="ill")
    promise = pv.Promise(pv.Linker("job"), pv.Ceiling("0.99"), "ill")
    release = pv.publish(table, [promise])
    for form in ("csv", "parquet"):
        out = release.write(tmp_path / form, custody=tmp_path / f"c{form}", format=form)
        assert "2/3" == out.manifest["promises"][0]["worst"]
        assert pv.verify(tmp_path / form).good
