"""Systems that refuse what Linux does: each refusal is imitated, and got round."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import privet as pv
from privet.release import atomic_folder
from privet.release.commit import claims
from release.examples import released, written
from release.test_whole import everything


@pytest.fixture(autouse=True)
def _made_before(tmp_path: Path) -> None:
    """The release is made before anything is refused."""
    released(), released("4/5")


def refuse_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows opens no folder."""
    plain = os.open

    def open_files(path: Any, flags: int, *more: Any, **options: Any) -> int:
        if "dir_fd" not in options and Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return plain(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", open_files)


def refuse_flushing_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows flushes only what may be written to."""
    import fcntl

    plain = os.fsync

    def flush(handle: int) -> None:
        if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        plain(handle)

    monkeypatch.setattr(os, "fsync", flush)


def refuse_flushing_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Network folders of macOS know no flushing."""
    import stat

    plain = os.fsync

    def flush(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.ENOTSUP, "Operation not supported")
        plain(handle)

    monkeypatch.setattr(os, "fsync", flush)


def refuse_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network folders have no locks."""
    import fcntl

    def lock(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(
        claims,
        "fcntl",
        SimpleNamespace(flock=lock, LOCK_EX=fcntl.LOCK_EX, LOCK_NB=fcntl.LOCK_NB),
    )


def have_no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither module is there."""
    monkeypatch.setattr(claims, "fcntl", None)
    monkeypatch.setattr(claims, "msvcrt", None)


def lock_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no fcntl; it locks bytes of a file, from where one stands in it."""
    import fcntl

    def lock(handle: int, how: int, count: int) -> None:
        assert (1, 2**30) == (count, os.lseek(handle, 0, os.SEEK_CUR))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    monkeypatch.setattr(claims, "fcntl", None)
    monkeypatch.setattr(claims, "msvcrt", SimpleNamespace(locking=lock, LK_NBLCK=2))


def refuse_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows exchanges no names, nor do some file systems."""
    monkeypatch.setattr(atomic_folder, "SWAP", {})


def have_an_old_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A C library without the call."""
    monkeypatch.setattr(atomic_folder.ctypes, "CDLL", lambda *_, **__: object())


def keep_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows removes no file that is open."""
    plain = os.unlink

    def remove(path: Any, **options: Any) -> None:
        if "dir_fd" not in options:
            wanted = Path(path).lstat()
            for handle in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
                try:
                    found = os.fstat(handle)
                except OSError:
                    continue
                if os.path.samestat(found, wanted):
                    raise PermissionError(errno.EACCES, "The file is in use")
        plain(path, **options)

    monkeypatch.setattr(os, "unlink", remove)


REFUSALS = (
    refuse_folders,
    refuse_flushing_what_is_read,
    refuse_flushing_folders,
    refuse_locks,
    have_no_locks,
    lock_bytes,
    refuse_swaps,
    have_an_old_library,
    keep_open_files,
)


@pytest.mark.parametrize("refuse", REFUSALS)
def test_a_release_is_written_and_replaced(
    refuse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch)
    folder = written(tmp_path)
    released("4/5").write(folder, custody=tmp_path / "vault", replace=True)
    monkeypatch.undo()
    assert pv.verify(folder, custody=tmp_path / "vault").good
    assert {"out", "vault"} == {p.name for p in tmp_path.iterdir()}
    kept = {"custody.json", "recipe.json"}
    assert kept == {p.name for p in (tmp_path / "vault").iterdir()}


def test_everything_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Windows does it; a ledger, too."""
    pv.Ledger.create(tmp_path / "ledger")
    for refuse in (refuse_folders, lock_bytes, refuse_swaps, keep_open_files):
        refuse(monkeypatch)
    before = everything(tmp_path)
    ledger = pv.Ledger.open(tmp_path / "ledger")
    file = tmp_path / "theirs.csv"
    file.write_text("job\ncook\n", "utf-8")
    ledger.add(file)
    folder = written(tmp_path)
    monkeypatch.undo()
    assert before.keys() < everything(tmp_path).keys()
    assert [True] == [e.complete for e in pv.Ledger.open(tmp_path / "ledger").entries]
    assert pv.verify(folder).good
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize("refuse", [refuse_locks, have_no_locks])
def test_without_locks_a_living_writer_is_known_by_its_number(
    refuse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch)
    with (
        claims.hold_claim(tmp_path / ".out.release-commit"),
        pytest.raises(pv.InputError, match="must not be in use"),
    ):
        written(tmp_path)
    monkeypatch.setattr(claims, "_name_process", lambda: DEAD)
    claims.take_claim(tmp_path / ".out.release-commit").write({})
    monkeypatch.undo()
    refuse(monkeypatch)
    assert pv.verify(written(tmp_path)).good


DEAD = {"process": 2**22 + 1, "machine": claims.socket.gethostname()}
"""No process has this number."""


def test_an_empty_folder_is_filled_where_renames_refuse_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.rename

    def rename(old: Any, new: Any, **options: Any) -> None:
        if Path(new).exists():
            raise FileExistsError(errno.EEXIST, "File exists")
        plain(old, new, **options)

    monkeypatch.setattr(os, "rename", rename)
    (tmp_path / "out").mkdir()
    folder = written(tmp_path)
    monkeypatch.undo()
    assert pv.verify(folder).good
