"""A progress bar for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from privet.engine.protocol import Listener
from privet.engine.protocol import Progress as Event
from privet.release.refine import RefinementProgress, Watcher
from privet.values.exact import percent


@contextmanager
def draw_progress_bar() -> Iterator[Listener]:
    """A bar on standard error that goes away when the work is done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rows]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("opening", total=None, rows="")

        def listen(event: Event) -> None:
            rows = "" if event.rows is None else f"{event.rows:,} rows"
            bar.update(
                task,
                description=f"{event.doing} ({event.statement} of {event.of})",
                total=None if event.share is None else 1.0,
                completed=event.share or 0.0,
                rows=rows,
            )

        yield listen


@contextmanager
def draw_moves_bar() -> Iterator[Watcher]:
    """The moves of a search and the worst belief now; goes away in the end."""
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")

        def watch(event: RefinementProgress) -> None:
            bar.update(
                task,
                description=f"{event.moves:,} moves, {event.doing}; worst case "
                f"{percent(event.worst)}",
            )

        yield watch
