"""Commits that died: the next command settles them, says so, and trusts no stranger."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from privet.release.commit.intent import Intent
from release.examples import released, written
from release.test_whole import everything

DIE = """
import os, signal, sys
import privet as pv
from privet.release import write as writing
from privet.release import atomic_folder
from privet.release.commit import intent
from release.examples import bank, covering, discharged

what, place, limit = sys.argv[1:]

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if what == "before":
    writing.move = die
elif what == "after":
    move = writing.move
    writing.move = lambda *a, **o: (move(*a, **o), die())
elif what == "writing":
    writing.appear = die
elif what == "between":  # no exchange of names, and one of two moves
    atomic_folder._swap = lambda *_: False
    rename = atomic_folder.Path.rename
    def rename_once(self, other):
        rename(self, other)
        if str(other).endswith("-old"):
            die()
    atomic_folder.Path.rename = rename_once
with bank() as table:
    release = pv.publish(table, [discharged(limit), covering(limit)])
    release.write(f"{place}/out", custody=f"{place}/vault", replace=True)
"""


def die(what: str, place: Path, limit: str = "4/5") -> None:
    """A writer that is killed at one moment of its commit."""
    paths = (Path(__file__).parent.parent, Path(pv.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", DIE, what, str(place), limit],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        check=False,
    )
    assert -signal.SIGKILL == done.returncode


@pytest.mark.parametrize(
    ("what", "words", "new"),
    [
        ("writing", "stopped while it was written", False),
        ("before", "stopped before it appeared", False),
        ("between", "stopped before it appeared", False),
        ("after", "the rest was done now", True),
    ],
)
def test_the_next_command_settles_it_and_says_so(
    what: str, words: str, new: bool, tmp_path: Path
) -> None:
    written(tmp_path)
    before = everything(tmp_path)
    die(what, tmp_path)
    out, vault = str(tmp_path / "out"), str(tmp_path / "vault")
    if what == "between":  # there is nothing at its place to be verified
        with pytest.warns(pv.PrivacyWarning, match=words):
            with pytest.raises(pv.InputError, match="must not exist yet"):
                released().write(out, custody=vault)
    else:
        found = CliRunner().invoke(cli, ["verify", out, "--custody", vault, "-q"])
        assert (0, True) == (found.exit_code, words in found.output)
    assert new == (before != everything(tmp_path))
    assert pv.verify(out, custody=vault).good
    assert not list(tmp_path.rglob(".*"))


def test_custody_alone_leads_to_the_release(tmp_path: Path) -> None:
    """Whoever reads the record of a killed commit gets the one that fits."""
    written(tmp_path)
    before = everything(tmp_path)
    die("before", tmp_path)
    from privet.release.named_custody import read_custody

    with pytest.warns(pv.PrivacyWarning, match="stopped before it appeared"):
        record = read_custody(tmp_path / "vault")
    assert json.loads(before["vault/custody.json"]) == record
    assert before == everything(tmp_path)


def test_a_folder_that_cannot_be_reached_leaves_all_as_it_is(tmp_path: Path) -> None:
    """The release is on a disk that is not there: nobody knows whether it appeared."""
    (tmp_path / "disk").mkdir()
    place = tmp_path / "disk"
    written(place)
    shutil.move(place / "vault", tmp_path / "vault")
    (place / "vault").symlink_to(tmp_path / "vault")
    die("before", place)
    left = {p.name for p in (tmp_path / "vault").iterdir()}
    assert ".custody-commit" in left
    shutil.move(place, tmp_path / "elsewhere")
    from privet.release.named_custody import read_custody

    read_custody(tmp_path / "vault")
    assert left == {p.name for p in (tmp_path / "vault").iterdir()}
    shutil.move(tmp_path / "elsewhere", place)
    with pytest.warns(pv.PrivacyWarning, match="stopped before it appeared"):
        assert pv.verify(place / "out", custody=tmp_path / "vault").good
    assert not list((tmp_path / "vault").glob(".*"))


# Strangers ----------------------------------------------------------------------------


def forge(place: Path, **changed: Any) -> None:
    """A claim beside a release, as somebody may send it along."""
    stated = Intent(
        "0" * 12,
        place / "out",
        "0" * 64,
        place / "mine",
        {"thesis.doc": "0" * 64},
    ).to_dict()
    stated["intent"] |= changed
    (place / ".out.release-commit").write_text(json.dumps(stated), "utf-8")


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"over": ["thesis.doc"]},
        {"kept": {"../mine/thesis.doc": "0" * 64}},
        {"made": ["/tmp"]},
        {"token": "../../mine"},
        {"custody": 7},
        {"folder": "/"},
        {"ledger": "mine"},
    ],
)
def test_what_a_stranger_says_touches_nothing_else(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    written(tmp_path)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.doc").write_text("three years")
    (mine / f".thesis.doc.old-{'0' * 12}").write_text("two years")
    (mine / f".thesis.doc.new-{'0' * 12}").write_text("four years")
    before = everything(tmp_path)
    forge(tmp_path, **changed)
    with pytest.warns(pv.PrivacyWarning) if not changed else _quiet():
        assert pv.verify(tmp_path / "out").good
    assert before == everything(tmp_path)


def _quiet() -> Any:
    import warnings

    return warnings.catch_warnings(action="ignore")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda p: p.symlink_to("x")])
def test_a_claim_that_is_no_file_neither_hangs_nor_helps(
    make: Any, tmp_path: Path
) -> None:
    folder = written(tmp_path)
    make(tmp_path / ".out.release-commit")
    assert pv.verify(folder).good


# Ledgers ------------------------------------------------------------------------------


def test_an_entry_of_others_is_finished(tmp_path: Path) -> None:
    """Killed between the entry and its mark: it is entered once."""
    ledger = pv.Ledger.create(tmp_path / "ledger")
    (tmp_path / "theirs.csv").write_text("job\ncook\n", "utf-8")
    ledger.add(tmp_path / "theirs.csv")
    (tmp_path / "ledger/entries/000001/complete").unlink()
    claim = tmp_path / "ledger/.ledger-commit"
    claim.write_text(json.dumps({"number": 1}), "utf-8")
    (tmp_path / "ledger/entries/.000002.new").mkdir()
    (entry,) = pv.Ledger.open(tmp_path / "ledger").entries
    assert entry.complete
    assert not list((tmp_path / "ledger").rglob(".*"))


def test_three_file_systems(tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    place = shared / f"privet-{os.getpid()}"
    try:
        released().write(tmp_path / "out", custody=place / "vault")
        released("4/5").write(tmp_path / "out", custody=place / "vault", replace=True)
        assert pv.verify(tmp_path / "out", custody=place / "vault").good
        assert not list(place.rglob(".*"))
    finally:
        shutil.rmtree(place, ignore_errors=True)
