"""A manifest that was changed, or files that were, are found out on reading."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet.demo.tables import clinic_path
from privet.release.manifest import digest_content
from release.examples import copied, written

Change = Callable[[dict[str, Any]], Any]


def forge(folder: Path, change: Change) -> None:
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    if "digest" in content:  # whoever forges the rest forges that, too
        content["digest"] = digest_content(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def resign(folder: Path, name: str = "table.csv") -> None:
    """Make size and digest fit whatever the file is now."""
    data = (folder / name).read_bytes()
    now = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    forge(folder, lambda c: c["files"][0].update(now))


def without(key: str) -> Change:
    return lambda c: c.pop(key)


def setting(**keys: Any) -> Change:
    return lambda c: c.update(keys)


def file(**keys: Any) -> Change:
    return lambda c: c["files"][0].update(keys)


def promise(**keys: Any) -> Change:
    return lambda c: c["promises"][0].update(keys)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without("manifest"), "must be a manifest that privet wrote"),
        (without("files"), "it lacks files"),
        (without("columns"), "it lacks columns"),
        (without("promises"), "it lacks promises"),
        (setting(manifest=2), "must be of form 1; got 2"),
        (setting(kind="views"), "other keys, such as 'derived'"),
        (setting(kind="poem"), "of kind 'poem'"),
        (setting(kind=["groups"]), "of kind ['groups']"),
        (setting(kind={}), "of kind {}"),
        (setting(files=[]), "files of release.json"),
        (setting(files="table.csv"), "files of release.json"),
        (setting(columns=[]), "columns of release.json"),
        (setting(columns={"job": "quasi"}), "columns of release.json"),
        (setting(promises={}), "promises of release.json"),
        (setting(weight="nothing"), "weight of release.json"),
        (setting(weight=["count"]), "weight of release.json"),
        (setting(columns=None, weight="count"), "columns of release.json"),
        (setting(form="buckets"), "files of release.json"),
        (setting(group=[], count="count"), "group of release.json"),
        (setting(group="job", count={}), "group of release.json"),
        (lambda c: c["columns"]["job"].update(role="spy"), "columns of release.json"),
        (file(path="../x"), "files of release.json"),
        (file(path="/etc/passwd"), "files of release.json"),
        (file(path="..\\x"), "files of release.json"),
        (file(path=".hidden"), "files of release.json"),
        (file(path=7), "files of release.json"),
        (file(rows="9"), "files of release.json"),
        (file(rows=-1), "files of release.json"),
        (file(sha256=None), "files of release.json"),
    ],
)
def test_what_is_no_manifest(tmp_path: Path, change: Change, words: str) -> None:
    folder = copied(tmp_path, "csv")
    forge(folder, change)
    for read in (pv.load, pv.verify):
        with pytest.raises(pv.InputError, match=re.escape(words)):
            read(folder)


@pytest.mark.forgeries
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (file(sha256="0" * 64), "digest differs"),
        (file(rows=10), "must have 10 rows; it has 9"),
        (file(path="other.csv"), "'other.csv' of the release must exist"),
        (promise(worst="1/2"), "must recount to what the manifest says"),
        (promise(verdict="breach"), "must recount to what the manifest says"),
        (promise(basis="bound"), "safe at 2/3 (bound); it is safe at 2/3 (exact)"),
        (promise(at_most="1/2"), "must recount to what the manifest says"),
        (promise(about={"bankruptcy": "Never"}), "must recount"),
        (promise(about={"nothing": "Never"}), "Column 'nothing'"),
        (promise(against={"linker": ["country"]}), "must recount"),
        (promise(against={"linker": ["wages"]}), "Column 'wages'"),
        (promise(against={"wizard": ["job"]}), "Each promise of release.json"),
        (promise(against={"linker": {"wand": 1}}), "Each promise of release.json"),
        (promise(against={}), "Each promise of release.json"),
        (promise(against=None), "Each promise of release.json"),
        (promise(at_most="much"), "Each promise of release.json"),
        (lambda c: c["promises"][0].pop("at_most"), "Each promise of release.json"),
        (lambda c: c["columns"].pop("child"), "the columns the manifest names"),
        (
            lambda c: c["columns"].update(x={"role": "quasi", "type": "text"}),
            "Column 'x' must exist",
        ),
        (setting(measures=[{"k_anonymity": "many"}]), "Each measure of release.json"),
        (setting(measures=[{"k_anonymity": 1}]), "must recount"),
        (
            setting(
                measures=[{"k_anonymity": 2, "verdict": "safe", "measured": "2"}],
            ),
            "says: safe at 2 (None); it is safe at 4 (exact)",
        ),
        (
            setting(
                measures=[{"k_anonymity": 1, "verdict": "safe", "measured": "4"}],
            ),
            "says: safe at 4 (None); it is not applicable at 4 (exact)",
        ),
    ],
)
def test_what_does_not_fit_the_files(
    tmp_path: Path, change: Change, words: str
) -> None:
    folder = copied(tmp_path, "csv")
    forge(folder, change)
    found = pv.verify(folder)
    assert not found.good
    assert words in " ".join(found.problems)
    with pytest.raises(pv.InputError, match=re.escape(words)):
        pv.load(folder)


def views(folder: Path, **how: Any) -> None:
    """A release of two views."""
    with pv.read(
        str(clinic_path()),
        identifier="name",
        sensitive="problem",
        other=["age", "job", "number"],
    ) as table:
        shown = pv.Views(table, ["name"], ["problem"])
        limit = pv.Ceiling("1/2")
        release = pv.publish(shown, [pv.Promise(pv.Reconstructor("restricted"), limit)])
        release.write(folder / "out", custody=folder / "vault", **how)


def classifier(folder: Path, **how: Any) -> None:
    """A release of a classifier."""
    counts = {"Adr": {"W": {"a": 1, "b": 4}, "P": {"a": 2, "b": 1}}}
    model = pv.ClassifierViews.from_counts({"a": 3, "b": 5}, counts)
    release = pv.publish(model, [pv.Promise(pv.Bayesian(), pv.Ratio(3))])
    why = {"inversion": "a test"}
    release.write(folder / "out", custody=folder / "vault", accept=why, **how)


def answers(folder: Path, **how: Any) -> None:
    """A release of disguised answers."""
    asked = [pv.Question("smokes", ["no", "yes"])]
    design = pv.Design(asked, [pv.Group("smokes", pv.Flip("0.8"))])
    policy = pv.Policy(promises=(pv.Promise(pv.Bayesian(), pv.Ratio(5), "smokes"),))
    with pv.read(pa.table({"smokes": ["yes", "no"]})) as table:
        out, vault = folder / "out", folder / "vault"
        pv.disguise(table, design, out, custody=vault, policy=policy, **how).close()


@pytest.mark.forgeries
@pytest.mark.parametrize("kind", [views, classifier, answers])
@pytest.mark.parametrize(
    "keys", [{"basis": "sampled"}, {"worst": "1/7"}, {"verdict": "breach"}]
)
def test_no_kind_of_release_may_claim_another_finding(
    kind: Callable[[Path], None], keys: dict[str, str], tmp_path: Path
) -> None:
    kind(tmp_path)
    assert pv.verify(tmp_path / "out").good
    forge(tmp_path / "out", promise(**keys))
    found = pv.verify(tmp_path / "out")
    assert not found.good
    assert "must recount to what the manifest says" in " ".join(found.problems)


def test_disguised_rows_have_no_form_of_tables(tmp_path: Path) -> None:
    answers(tmp_path)
    forge(tmp_path / "out", setting(form="buckets"))
    with pytest.raises(pv.InputError, match="has 1 other keys, such as 'form'"):
        pv.verify(tmp_path / "out")


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '"x"', "[" * 100_000])
def test_what_is_no_json(tmp_path: Path, text: str) -> None:
    folder = copied(tmp_path)
    (folder / "release.json").write_text(text)
    for read in (pv.load, pv.verify):
        with pytest.raises(pv.InputError, match=r"release\.json must be"):
            read(folder)


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    for read in (pv.load, pv.verify):
        with pytest.raises(pv.InputError, match=r"has no release\.json"):
            read(tmp_path)


@pytest.mark.parametrize(
    "change", [setting(title="Ours"), setting(promises=[]), setting(not_promised=[])]
)
def test_whoever_holds_custody_can_tell_any_manifest(
    tmp_path: Path, change: Change
) -> None:
    """What nobody could recount, such as a promise that was taken out."""
    folder = written(tmp_path, "csv")
    assert pv.verify(folder, custody=tmp_path / "vault").good
    forge(folder, change)
    found = pv.verify(folder, custody=tmp_path / "vault")
    assert "the one the custody record was kept for; it is not." in found.problems[0]
    assert not found.good
    with pytest.raises(pv.InputError, match=r"custody must be the folder of a custody"):
        pv.verify(folder, custody=tmp_path)


def test_a_missing_table(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "table.parquet").unlink()
    assert ("File 'table.parquet' of the release must exist.",) == (
        pv.verify(folder).problems
    )
    with pytest.raises(pv.InputError, match="must exist"):
        pv.load(folder)


def swap(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


def one_row_less(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:-1])


def one_column_more(text: str) -> str:
    head, *rest = text.splitlines()
    return "\n".join([head + ",name", *(line + ",Ann" for line in rest)]) + "\n"


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (swap("Never", "Discharged"), "must recount"),
        (one_row_less, "rows; it has 8"),
        (one_column_more, "the columns the manifest names"),
        (swap("country", "land"), "Column 'country' must exist"),
    ],
)
def test_a_changed_table(
    tmp_path: Path, change: Callable[[str], str], words: str, signed: bool
) -> None:
    folder = copied(tmp_path, "csv")
    path = folder / "table.csv"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    if signed:
        resign(folder)
    found = pv.verify(folder)
    assert not found.good
    assert words in " ".join(found.problems)
    assert signed == ("digest" not in " ".join(found.problems))
    with pytest.raises(pv.InputError, match=words if signed else "digest differs"):
        pv.load(folder)


def test_bytes_that_are_no_table(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "table.parquet").write_bytes(b"not a table")
    assert 2 == len(pv.verify(folder).problems)
    resign(folder, "table.parquet")
    with pytest.raises(pv.InputError, match="must be a Parquet file"):
        pv.load(folder)
