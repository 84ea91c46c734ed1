"""What a killed process leaves can be read by nobody, and the next one removes it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.engine import scratch
from privet.engine.scratch import ScratchFolder, remove_leftovers

pytestmark = pytest.mark.engines

CANARY = b"CANARY-7f3a"
ROWS = 400_000
SPILLED = 4_000_000
"""Bytes in files from which on an audit has really spilled."""

POLICY = """
[columns]
quasi = ["name", "street"]
sensitive = ["ill"]
[[promise]]
against = "linker"
knows = ["name", "street"]
about = "ill"
at_most = 0.5
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with the marker in every cell of two long columns."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("people")
    names = [f"{CANARY.decode()}-{n}" for n in rng.permutation(ROWS)]
    streets = [f"{n}-{CANARY.decode()}" for n in rng.permutation(ROWS)]
    ill = rng.choice(["yes", "no"], ROWS)
    table = pa.table({"name": names, "street": streets, "ill": ill})
    pq.write_table(table, folder / "people.parquet")
    (folder / "policy.toml").write_text(POLICY)
    return folder


def audit(people: Path, spill: Path) -> subprocess.Popen[bytes]:
    limits = ["--memory-limit", "60MB", "--threads", "1", "--spill", str(spill)]
    arguments = ["people.parquet", "-p", "policy.toml", *limits]
    return subprocess.Popen(
        [sys.executable, "-m", "privet", "audit", *arguments],
        cwd=people,
        env={**os.environ, "TMPDIR": str(spill)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file()]


def kill_when_spilled(process: subprocess.Popen[bytes], spill: Path) -> int:
    """How many bytes it had written when it was killed."""
    size = 0
    while process.poll() is None and size < SPILLED:
        time.sleep(0.02)
        size = sum(p.stat().st_size for p in files(spill) if p.exists())
    process.send_signal(signal.SIGKILL)
    process.wait()
    return size


def test_a_killed_audit_leaves_no_cell_and_its_folder_goes_with_the_next(
    people: Path, tmp_path: Path
) -> None:
    size = kill_when_spilled(audit(people, tmp_path), tmp_path)
    assert size >= SPILLED  # else nothing was tested
    left = files(tmp_path)
    assert left
    assert [] == [p for p in left if CANARY in p.read_bytes()]
    with pv.read(people / "people.parquet", spill=tmp_path) as table:
        living = list(tmp_path.iterdir())
        assert 1 == len(living)  # its own
        assert ROWS == len(table)
    assert [] == list(tmp_path.iterdir())


def test_folders_of_living_processes_stay(people: Path, tmp_path: Path) -> None:
    living = audit(people, tmp_path)
    try:
        while not [p for p in files(tmp_path) if p.name == scratch.OWNER]:
            time.sleep(0.02)
            assert living.poll() is None
        assert 0 == remove_leftovers(tmp_path)
        assert [p for p in files(tmp_path) if p.name == scratch.OWNER]
    finally:
        living.kill()
        living.wait()
    assert 1 == remove_leftovers(tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_only_our_own_folders_are_removed(tmp_path: Path) -> None:
    """Not one without a lock, a link, or a folder of another name."""
    for name in ("privet-unlocked", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "other" / scratch.OWNER).touch()
    (tmp_path / "privet-link").symlink_to(tmp_path / "other")
    (tmp_path / "privet-file").touch()
    assert 0 == remove_leftovers(tmp_path)
    assert 4 == len(list(tmp_path.iterdir()))


def test_a_folder_is_not_removed_by_a_copy_of_the_process(tmp_path: Path) -> None:
    folder = ScratchFolder(tmp_path)
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        folder.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.is_dir()
    folder.close()
    assert not folder.path.exists()


def test_where_files_cannot_be_locked_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on some network drives: everything works, and leftovers stay."""

    class Refusing:
        LOCK_EX = LOCK_NB = 0

        @staticmethod
        def flock(*_: object) -> None:
            raise OSError(37, "No locks available")

    monkeypatch.setattr(scratch, "fcntl", Refusing)
    with ScratchFolder(tmp_path) as folder:
        (folder / "cells").touch()
        assert 0 == remove_leftovers(tmp_path)
        assert (folder / "cells").exists()
    assert [] == list(tmp_path.iterdir())


def test_where_there_is_no_flock_windows_locks_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: set[str] = set()

    class Windows:
        LK_NBLCK = 2

        @staticmethod
        def locking(descriptor: int, mode: int, length: int) -> None:
            assert (2, 1) == (mode, length)
            name = str(Path(f"/proc/self/fd/{descriptor}").readlink())
            if name in held:
                raise OSError(13, "Permission denied")
            held.add(name.replace(scratch.UNOWNED, scratch.OWNER))

    monkeypatch.setattr(scratch, "fcntl", None)
    monkeypatch.setattr(scratch, "msvcrt", Windows)
    with ScratchFolder(tmp_path) as folder:
        assert 0 == remove_leftovers(tmp_path)
        held.clear()  # as if it had been killed
        assert 1 == remove_leftovers(tmp_path)
        assert not folder.exists()


def test_no_other_file_is_made_for_a_while() -> None:
    """What else is temporary has no name that could outlive its process."""
    source = Path(pv.__file__).parent
    using = [
        str(path.relative_to(source))
        for path in sorted(source.rglob("*.py"))
        if re.search(r"^(import|from) tempfile", path.read_text(), re.MULTILINE)
    ]
    unnamed = "microdata/generalisation/distinct_rows.py"
    assert ["engine/scratch.py", unnamed] == using
    made = re.findall(r"tempfile\.(\w+)\(", (source / unnamed).read_text())
    assert {"TemporaryFile"} == set(made)
