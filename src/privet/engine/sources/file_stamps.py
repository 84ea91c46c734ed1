"""File stamps: what tells that a file is another one now, or was written to.

Values are coded and combinations counted once, and kept. Whoever counts one promise
before a file changed and another one after it gets a verdict that holds for neither.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from privet.errors import EngineError

Stamp = tuple[int, int, int, int, int]
"""Device, number, size and times: what tells that a file is another one now."""


def take_stamp(found: os.stat_result) -> Stamp:
    """What tells a file from what it is later."""
    times = found.st_mtime_ns, found.st_ctime_ns
    return (found.st_dev, found.st_ino, found.st_size, *times)


class WatchedFiles:
    """The files of a session, which must stay as they are once their rows are read."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._opened = self._take_stamps()
        self._held: dict[str, Stamp] | None = None

    def hold(self) -> None:
        """From now on they must stay as they are.

        Until then only their columns were looked at, so another file may have taken
        the place of one. But what only the last of its times tells DuckDB cannot see,
        and would take what it knows of the old file for the new one.
        """
        if self._held is not None:
            return
        held = self._take_stamps()
        for path, now in held.items():
            then = self._opened.get(path, now)
            if now != then and now[:-1] == then[:-1]:
                raise explain_change(path)
        self._held = held

    def check(self) -> None:
        """Refuse what was read of a file that has changed.

        One that is gone needs no refusal: what reads it fails.
        """
        if error := self._find_change(self._held or {}):
            raise error

    def find_reason(self) -> EngineError | None:
        """Why a statement fails, if that is because of a file."""
        gone = [path for path in self._opened if not os.path.lexists(path)]
        if gone:
            return EngineError(
                f"File {gone[0]!r} must stay where it is while it is read; it is gone."
            )
        return self._find_change(self._held or {})

    def _find_change(self, held: Mapping[str, Stamp]) -> EngineError | None:
        now = self._take_stamps() if held else {}
        paths = [p for p, stamp in now.items() if stamp != held.get(p, stamp)]
        return explain_change(paths[0]) if paths else None

    def _take_stamps(self) -> dict[str, Stamp]:
        found = {}
        for path in self._paths:
            with suppress(OSError):
                found[path] = take_stamp(os.stat(path))  # noqa: PTH116 - many files
        return found


def explain_change(path: str) -> EngineError:
    """What to say of a file that changed under our hands."""
    return EngineError(
        f"The table changed while it was read: {path!r} was written to since it was "
        "opened. Count a copy that nobody writes to."
    )
