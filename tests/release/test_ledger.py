"""A ledger: what is kept, what is noticed, and what a crash leaves behind."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import privet as pv
from privet.engine.digests import DigestQuery, compare_digests
from privet.engine.protocol import Run
from privet.release import write as writing
from privet.release.commit.claims import hold_claim

HIV = {"ill": "hiv"}
ROWS = {
    "name": ["Ann", "Ben", "Cid", "Dan"],
    "job": ["cook", "cook", "smith", "smith"],
    "ill": ["hiv", "canary", "ok", "ok"],
}


def make_policy(ledger: Path) -> pv.Policy:
    promise = pv.Promise(against=pv.Linker(), about=HIV, limit=pv.Ceiling("1/2"))
    roles = pv.Roles(identifier="name", quasi="job", sensitive="ill")
    return pv.Policy(promises=promise, roles=roles, ledger=str(ledger))


def publish(folder: Path, name: str = "1", rows: dict[str, list[str]] = ROWS) -> None:
    table = pv.read(pa.table(rows))
    release = pv.publish(table, make_policy(folder / "ledger"))
    release.write(folder / f"out-{name}", custody=folder / f"vault-{name}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pv.Ledger.create(tmp_path / "ledger")
    publish(tmp_path)
    return tmp_path


def test_an_entry_is_private_and_quotes_nobody(folder: Path) -> None:
    (entry,) = pv.Ledger.open(folder / "ledger").entries
    assert (1, "table", 4, True) == (
        entry.number,
        entry.outline.kind,
        entry.people,
        entry.complete,
    )
    for path in (folder / "ledger").rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert wanted == stat.S_IMODE(path.stat().st_mode), path
        if path.is_file() and path.name != "shown.parquet":  # which is public
            assert b"canary" not in path.read_bytes()
            assert b"Ann" not in path.read_bytes()


def test_people_are_told_apart(tmp_path: Path) -> None:
    """New, kept and gone, as rows and as people; of equal rows so many as there are."""
    tables = [
        {"name": ["A", "B", "B", "C"], "x": [1, 2, 2, None]},
        {"name": ["A", "B", "D", "C"], "x": ["1.0", "2", "3", "7"]},
    ]
    files = [tmp_path / f"{i}.parquet" for i in range(2)]
    for rows, file in zip(tables, files, strict=True):
        query = DigestQuery(str(file), "ab" * 32, ("name", "x"), ("name",))
        with pv.read(pa.table(rows)) as table:
            assert 4 == table.engine.digest(query, Run())
    found = compare_digests(*files)
    assert (2, 2, 2, 3) == (found.kept, found.new, found.gone, found.people)


def test_another_key_gives_other_digests(tmp_path: Path) -> None:
    files = [tmp_path / f"{i}.parquet" for i in range(2)]
    with pv.read(pa.table(ROWS)) as table:
        for file, key in zip(files, ("ab" * 32, "cd" * 32), strict=True):
            table.engine.digest(DigestQuery(str(file), key, ("name",)), Run())
    assert 0 == compare_digests(*files).people


# Bad ledgers ------------------------------------------------------------------------


def change_entry(ledger: Path) -> None:
    path = ledger / "entries/000001/entry.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content | {"people": 5}), "utf-8")


def remove_entry(ledger: Path) -> None:
    shutil.rmtree(ledger / "entries/000001")


def change_digests(ledger: Path) -> None:
    (ledger / "entries/000001/people.parquet").write_bytes(b"PAR1")


def cut_head(ledger: Path) -> None:
    path = ledger / "head.json"
    path.write_text(path.read_text("utf-8")[:20], "utf-8")


def change_head(ledger: Path) -> None:
    path = ledger / "head.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content | {"entries": 0, "last": ""}), "utf-8")


def change_key(ledger: Path) -> None:
    (ledger / "key").write_text("00" * 32)


def copy_entry(ledger: Path) -> None:
    shutil.copytree(ledger / "entries/000001", ledger / "entries/000002")


@pytest.mark.parametrize(
    "spoil",
    [
        shutil.rmtree,
        lambda ledger: (ledger / "ledger.json").unlink(),
        lambda ledger: (ledger / "key").unlink(),
        lambda ledger: shutil.rmtree(ledger / "entries"),
        change_entry,
        remove_entry,
        change_digests,
        cut_head,
        change_head,
        change_key,
        copy_entry,
    ],
)
def test_a_ledger_that_was_spoiled(
    folder: Path, spoil: Callable[[Path], object]
) -> None:
    spoil(folder / "ledger")
    with pytest.raises(pv.InputError, match="The ledger"):
        publish(folder, "2")
    assert not (folder / "out-2").exists()
    assert not (folder / "vault-2").exists()


def test_a_ledger_of_another_table(folder: Path) -> None:
    others = {**ROWS, "name": ["Eve", "Fay", "Gus", "Hal"]}
    with pytest.raises(pv.InputError, match="nobody of them is in it"):
        publish(folder, "2", others)
    assert not (folder / "out-2").exists()


def test_other_columns_leave_doubt(folder: Path) -> None:
    rows = {"job": ROWS["job"], "ill": ROWS["ill"]}
    policy = make_policy(folder / "ledger")
    promise = policy.promises[0]
    stated = pv.Policy(
        promises=promise,
        roles=pv.Roles(quasi="job", sensitive="ill"),
        ledger=policy.ledger,
    )
    release = pv.publish(pv.read(pa.table(rows)), stated)
    assert ("undecided", False) == (release.verdict.value, release.safe)
    with pytest.raises(pv.NotTogether, match="nothing is certain"):
        release.write(folder / "out-2", custody=folder / "vault-2")


# Two at once, and crashes -----------------------------------------------------------


def test_two_at_once(folder: Path) -> None:
    table = pv.read(pa.table(ROWS))
    release = pv.publish(table, make_policy(folder / "ledger"))
    with (
        hold_claim(folder / "ledger/.ledger-commit"),
        pytest.raises(pv.InputError, match="must not be in use"),
    ):
        release.write(folder / "out-2", custody=folder / "vault-2")
    publish(folder, "3")
    with pytest.raises(pv.InputError, match="another one was entered meanwhile"):
        release.write(folder / "out-2", custody=folder / "vault-2")
    assert not (folder / "out-2").exists()
    assert 2 == len(pv.Ledger.open(folder / "ledger"))


def test_what_fails_is_not_entered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(writing, "move", fail)
    with pytest.raises(pv.InputError, match="the disk is full"):
        publish(folder, "2")
    monkeypatch.undo()
    assert 1 == len(pv.Ledger.open(folder / "ledger"))
    publish(folder, "2")
    assert [True, True] == [
        e.complete for e in pv.Ledger.open(folder / "ledger").entries
    ]


def test_a_crash_leaves_an_entry_that_counts(folder: Path) -> None:
    """Between the entry and the release: as a process that died would leave it."""
    (folder / "ledger/entries/000001/complete").unlink()
    shutil.rmtree(folder / "out-1")
    (entry,) = pv.Ledger.open(folder / "ledger").entries
    assert not entry.complete
    release = pv.publish(pv.read(pa.table(ROWS)), make_policy(folder / "ledger"))
    assert release.history is not None
    told = release.history.to_dict()
    assert [False] == [e["complete"] for e in told["releases"]]
    assert "counts as released" in " ".join(told["words"])


def test_a_crash_before_the_head_is_written(folder: Path) -> None:
    head = (folder / "ledger/head.json").read_bytes()
    publish(folder, "2")
    (folder / "ledger/head.json").write_bytes(head)
    assert 2 == len(pv.Ledger.open(folder / "ledger"))
    publish(folder, "3")
    assert 3 == len(pv.Ledger.open(folder / "ledger"))


# What others published --------------------------------------------------------------


def test_what_others_published(folder: Path) -> None:
    file = folder / "theirs.csv"
    file.write_text("job,ill\ncook,hiv\ncook,canary\nsmith,ok\nsmith,ok\n", "utf-8")
    table = pv.read(pa.table(ROWS), identifier="name", quasi="job", sensitive="ill")
    ledger = pv.Ledger.open(folder / "ledger").add(file, of=table, title="theirs")
    assert ("table", "theirs", "") == (
        ledger.entries[-1].outline.kind,
        ledger.entries[-1].title,
        ledger.entries[-1].assumed,
    )
    publish(folder, "2")  # it shows the same rows, and tells nothing new
    file.write_text("job,ill\ncook,hiv\ncook,canary\nsmith,ok\n", "utf-8")
    ledger = pv.Ledger.open(folder / "ledger").add(file, of=table)
    assert "views" == ledger.entries[-1].outline.kind
    file.write_text("job,ill\ncook,hiv\n", "utf-8")
    with pytest.raises(pv.InputError, match="as they are"):
        ledger.add(file, of=table)


def test_what_is_not_known_of_others(tmp_path: Path) -> None:
    ledger = pv.Ledger.create(tmp_path / "ledger")
    file = tmp_path / "theirs.csv"
    file.write_text("job,ill\ncook,hiv\n", "utf-8")
    ledger = ledger.add(file)
    assert "not known" in ledger.entries[-1].assumed
    release = pv.publish(pv.read(pa.table(ROWS)), make_policy(tmp_path / "ledger"))
    assert "undecided" == release.verdict.value
