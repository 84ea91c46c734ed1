"""A release appears whole or not at all, whatever happens while it is written."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from privet.release.commit.claims import hold_claim
from release.examples import bank, discharged, released, written
from release.test_forged import answers, classifier, views

NAMES = {"release.json", "README.txt", "table.parquet"}


def everything(place: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    files = (p for p in place.rglob("*") if p.is_file())
    return {str(p.relative_to(place)): p.read_bytes() for p in files}


# Whatever the disk does -------------------------------------------------------------


class Disk:
    """Counts what is forced to disk, and does something at one of these moments."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.at = -1
        self.act: Callable[[str], None] = lambda _: None
        self._fsync = os.fsync
        patch.setattr(os, "fsync", self.fsync)

    def fsync(self, handle: int) -> None:
        self.calls += 1
        if self.calls == self.at:
            self.act(str(Path(f"/proc/self/fd/{handle}").readlink()))
        self._fsync(handle)


pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="finds files by /proc, as Linux has it"
)

MOMENTS = 12
"""Table, manifest, note, folder; what will come, its name, the same in custody; recipe,
custody, their names; the folder's name."""


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def raising(error: BaseException) -> Callable[[str], None]:
    def act(_: str) -> None:
        raise error

    return act


def test_a_write_reaches_the_disk_in_twelve_moments(disk: Disk, tmp_path: Path) -> None:
    written(tmp_path)
    assert MOMENTS == disk.calls


@pytest.mark.parametrize("moment", range(1, MOMENTS))
@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (OSError(errno.ENOSPC, ""), pv.InputError, "disk is full"),
        (OSError(errno.EROFS, ""), pv.InputError, "read-only"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
    ],
)
def test_what_fails_leaves_nothing(
    disk: Disk, tmp_path: Path, moment: int, error: Any, expected: Any, words: Any
) -> None:
    disk.at, disk.act = moment, raising(error)
    with pytest.raises(expected, match=words):
        released().write(tmp_path / "out", custody=tmp_path / "a" / "vault")
    assert [] == list(tmp_path.rglob("*"))


@pytest.mark.parametrize("moment", range(1, MOMENTS))
def test_what_fails_leaves_the_old_release_and_its_custody(
    disk: Disk, tmp_path: Path, moment: int
) -> None:
    folder = written(tmp_path)
    before = everything(tmp_path)
    disk.at, disk.act = disk.calls + moment, raising(OSError(errno.ENOSPC, ""))
    release = released("4/5")
    with pytest.raises(pv.InputError, match="full"):
        release.write(folder, custody=tmp_path / "vault", replace=True)
    assert before == everything(tmp_path)
    assert 0o600 == (tmp_path / "vault" / "custody.json").stat().st_mode & 0o777


def press_ctrl_c(_: str) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("act", [raising(OSError(errno.EIO, "")), press_ctrl_c])
def test_once_it_is_there_it_stays(
    disk: Disk, tmp_path: Path, act: Callable[[str], None]
) -> None:
    disk.at, disk.act = MOMENTS, act
    written(tmp_path)
    assert pv.verify(tmp_path / "out").good
    assert {"custody.json", "recipe.json"} == {
        p.name for p in (tmp_path / "vault").iterdir()
    }


# A publisher never signs its own work -----------------------------------------------


def flip(path: str) -> None:
    data = bytearray(Path(path).read_bytes())
    data[len(data) // 2] ^= 0xFF
    Path(path).write_bytes(data)


def say_discharged(path: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    changed = text.replace("Never", "Discharged")
    assert changed != text
    Path(path).write_text(changed, encoding="utf-8")


def drop_a_row(path: str) -> None:
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [x for x in lines if "Doctor" not in x or ",B," not in x]
    assert len(lines) > len(kept)
    Path(path).write_text("".join(kept), encoding="utf-8")


def empty(path: str) -> None:
    Path(path).write_bytes(b"")


@pytest.mark.parametrize(
    ("form", "harm"),
    [
        ("csv", say_discharged),
        ("csv", drop_a_row),
        ("csv", empty),
        ("parquet", flip),
        ("parquet", empty),
    ],
)
def test_what_does_not_recount_is_not_released(
    disk: Disk, tmp_path: Path, form: str, harm: Callable[[str], None]
) -> None:
    disk.at, disk.act = 1, harm
    with pytest.raises(pv.EngineError, match=r"does not recount|could not read"):
        written(tmp_path, form)
    assert [] == list(tmp_path.rglob("*"))


@pytest.mark.parametrize("kind", [views, classifier, answers])
def test_no_kind_of_release_signs_its_own_work(
    kind: Callable[[Path], None], disk: Disk, tmp_path: Path
) -> None:
    disk.at, disk.act = 1, empty
    with pytest.raises(pv.EngineError, match=r"does not recount|could not read"):
        kind(tmp_path)
    assert [] == list(tmp_path.rglob("*"))


# What is refused before anything is written -----------------------------------------


def refused(words: str, folder: Path, place: Path, **options: Any) -> None:
    before = everything(place)
    given = {"custody": place / "vault"} | options
    with pytest.raises(pv.InputError, match=words):
        released().write(folder, **given)
    assert before == everything(place)


def test_custody_stays_out_of_the_release(tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused("never travels", out, tmp_path, custody=out)
    refused("never travels", out, tmp_path, custody=out / "vault")
    (tmp_path / "link").symlink_to(out)
    refused("never travels", out, tmp_path, custody=tmp_path / "link" / "vault")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    folder = written(tmp_path)
    refused("must not exist yet", folder, tmp_path, custody=tmp_path / "other")
    refused("another release", tmp_path / "new", tmp_path)
    (tmp_path / "file").write_text("mine")
    refused("must be a folder", tmp_path / "new", tmp_path, custody=tmp_path / "file")
    refused("must not exist yet", tmp_path / "file", tmp_path, custody=tmp_path / "o")


def test_the_folder_above_must_exist(tmp_path: Path) -> None:
    refused("must exist", tmp_path / "nowhere" / "out", tmp_path)


@pytest.mark.parametrize("replace", [False, True])
def test_files_of_others_are_never_removed(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.doc").write_text("three years")
    refused("must not exist", tmp_path / "mine", tmp_path, replace=replace)
    folder = written(tmp_path)
    (folder / "thesis.doc").write_text("three years")
    other = {"custody": tmp_path / "other", "replace": replace}
    refused("must (not exist|hold nothing but)", folder, tmp_path, **other)


def test_a_read_only_folder(ordinary: Path) -> None:
    ordinary.chmod(0o500)
    refused("no permission", ordinary / "out", ordinary)


def test_replace_changes_everything_at_once(tmp_path: Path) -> None:
    folder = written(tmp_path)
    old = everything(tmp_path)
    released("4/5").write(
        folder, custody=tmp_path / "vault", format="csv", replace=True
    )
    new = everything(tmp_path)
    assert pv.verify(folder).good
    assert {"release.json", "README.txt", "table.csv"} == {
        p.name for p in folder.iterdir()
    }
    assert old["vault/custody.json"] != new["vault/custody.json"]
    assert {"out", "vault"} == {p.name for p in tmp_path.iterdir()}


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert pv.verify(written(tmp_path)).good


# Other processes --------------------------------------------------------------------

WORKER = """
import os, sys, time, random, shutil, signal, json, resource
import privet as pv
import privet.engine.duckdb.engine, privet.release.write
from release.examples import bank_release

def kill(place, moments):
    # No engine runs in this process: only its children open tables.
    for i in range(moments):
        ready, go = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                release = bank_release()
                os.write(go, b"!")
                release.write(f"{place}/out", custody=f"{place}/vault", replace=True)
            finally:
                os._exit(0)
        os.read(ready, 1)
        time.sleep(random.random() * 0.3)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(json.dumps(sorted(os.listdir(place))))
        if os.path.isdir(f"{place}/out"):
            shutil.copytree(f"{place}/out", f"{place}-seen/{i}")

def once(folder, custody):
    release = bank_release()
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        release.write(folder, custody=custody)
        print("written")
    except pv.InputError as error:
        print(error)

def small(folder, custody):
    import pyarrow as pa
    n = 20000
    table = pa.table({"job": ["a", "a", "b", "b"] * (n // 4),
                      "ill": ["x", "y"] * (n // 2), "text": ["a long text"] * n})
    source = pv.read(table, quasi="job", sensitive="ill", other="text")
    promise = pv.Promise(pv.Linker(["job", "text"]), pv.Ceiling("1/2"), {"ill": "x"})
    release = pv.publish(source, [promise])
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
    try:
        release.write(folder, custody=custody, format="csv")
        print("written")
    except pv.InputError as error:
        print(error)

if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    {"kill": lambda p: kill(p, 8), "once": once, "small": small}[what](*rest)
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    paths = (Path(__file__).parent.parent, Path(pv.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_kill_leaves_a_whole_release_or_none(tmp_path: Path) -> None:
    place, seen = tmp_path / "place", tmp_path / "place-seen"
    place.mkdir()
    with start("kill", str(place)) as process:
        lines = process.communicate(timeout=120)[0].splitlines()
    told = [set(json.loads(line)) for line in lines]
    assert 8 == len(told)
    for names in told:
        strangers = names - {"out", "vault", ".out.release-commit"}
        assert all(n.startswith(".out.partial-") for n in strangers)
        assert len(strangers) <= 1  # the next writer removed the last one's
    assert sum("out" in names for names in told) == len(list(seen.glob("*")))
    assert all(pv.verify(folder).good for folder in seen.glob("*"))
    with warnings.catch_warnings(action="ignore"):  # what the last one left
        released().write(place / "out", custody=place / "vault", replace=True)
    assert {"out", "vault"} == {p.name for p in place.iterdir()}
    assert pv.verify(place / "out").good


def test_two_writers_of_one_folder(tmp_path: Path) -> None:
    workers = [
        start("once", str(tmp_path / "out"), str(tmp_path / custody))
        for custody in ("one", "two")
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert "ready\n" == worker.stdout.readline()
    told = [w.communicate("go\n", timeout=60)[0].strip() for w in both_at_once(workers)]
    assert 1 == told.count("written")
    assert any("must not be in use" in t or "must not exist yet" in t for t in told)
    kept = [c for c in ("one", "two") if (tmp_path / c).exists()]
    assert [("one", "two")[told.index("written")]] == kept
    assert pv.verify(tmp_path / "out").good
    assert {"out", *kept} == {p.name for p in tmp_path.iterdir()}


def both_at_once(workers: list[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return workers


def test_a_living_writers_folder_is_left_alone(tmp_path: Path) -> None:
    living, dead = tmp_path / ".out.partial-living", tmp_path / ".new.partial-dead"
    for folder in (living, dead):
        folder.mkdir()
        (folder / "table.csv").write_text("half")
    with hold_claim(tmp_path / ".out.release-commit"):
        refused("in use", tmp_path / "out", tmp_path)
        with pytest.warns(pv.PrivacyWarning, match="stopped while it was written"):
            released().write(tmp_path / "new", custody=tmp_path / "vault")
    assert (True, False) == (living.exists(), dead.exists())


def test_custody_in_use_is_said(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with hold_claim(tmp_path / "vault" / ".custody-commit"):
        refused("in use", tmp_path / "out", tmp_path)
    assert {"vault"} == {p.name for p in tmp_path.iterdir()}


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    with start("small", str(tmp_path / "out"), str(tmp_path / "vault")) as process:
        told = process.communicate(timeout=60)[0]
    assert "could not be written" in told
    assert [] == list(tmp_path.iterdir())


def test_a_table_of_several_rows_per_person_is_refused() -> None:
    recipe = released().recipe
    table = bank(weight=None, unit="count")
    with pytest.raises(pv.InputError, match="one row per person"):
        pv.publish(table, [discharged("1")], recipe=recipe)
