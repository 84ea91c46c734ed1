"""One line on a terminal: what is being done, how far it is, how long it will take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from privet.engine.protocol import Progress as Event
from privet.release.refine import RefinementProgress
from privet.values.exact import percent

JUDGING = "judging what was counted"
"""What is done between statements of the engine."""

CERTAIN = 0.05
"""Shares below this say little about how long it will take."""


class ProgressLine:
    """The line; it takes events of the engine, and of the moves of a search.

    A phase that is over is never shown: its bar gives way to what is done next.
    """

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("opening", total=None, about="")
        self._phase: tuple[Any, ...] = ("opening",)
        self._began = monotonic()

    def __call__(self, event: Event) -> None:
        """Take an event of the engine."""
        if event.share == 1.0:
            self._enter(("judging",), JUDGING)
            return
        steps = f" ({event.statement} of {event.of})" if event.of > 1 else ""
        self._enter((event.doing, event.statement), f"{event.doing}{steps}")
        rows = "" if event.rows is None else f"{event.rows:,} rows"
        self._bar.update(
            self._task,
            total=1.0 if event.share else None,
            completed=event.share or 0.0,
            about=join(rows, self._foresee(event.share)),
        )

    def watch(self, event: RefinementProgress) -> None:
        """Take a move of a search."""
        self._enter(("search",), "searching")
        more = event.seconds
        self._bar.update(
            self._task,
            description=f"{event.moves:,} moves, {event.doing}",
            total=None if event.share is None else 1.0,
            completed=event.share or 0.0,
            about=join(
                f"worst case {percent(event.worst)}",
                "" if event.left is None else f"{event.left:,} left to try",
                "" if more is None else f"about {format_seconds(more)} more",
            ),
        )

    def _enter(self, phase: tuple[Any, ...], words: str) -> None:
        """Begin another phase; the bar and the clock of the last one are over."""
        if phase == self._phase:
            return
        self._phase, self._began = phase, monotonic()
        self._bar.reset(self._task, description=words, about="")
        self._bar.tasks[0].total = None  # which reset takes for "as before"

    def _foresee(self, share: float | None) -> str:
        """How long the phase will still take, as far as its share tells."""
        if share is None or share < CERTAIN:
            return ""
        left = (monotonic() - self._began) * (1 - share) / share
        return f"about {format_seconds(left)} more"


def join(*parts: str) -> str:
    """What there is to say, with commas between."""
    return ", ".join(p for p in parts if p)


def format_seconds(seconds: float) -> str:
    """A time to wait, roughly.

    >>> format_seconds(3.2), format_seconds(200), format_seconds(9000)
    ('4 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{int(seconds) + 1} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def draw_progress() -> Iterator[ProgressLine]:
    """The line, on standard error; it goes away when the work is done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[about]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield ProgressLine(bar)
