"""Progress says what is done, how far it is and how long it takes; then it is over."""

from __future__ import annotations

import io
from fractions import Fraction

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

import privet as pv
from privet.cli import progress
from privet.cli.progress import JUDGING, ProgressLine
from privet.engine.protocol import Progress as Event
from privet.release.refine import RefinementProgress
from release.examples import bank, covering, discharged


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "monotonic", made)
    return made


@pytest.fixture
def bar() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[about]}"),
    )
    console = Console(file=io.StringIO(), width=120)
    return Progress(*columns, console=console)


def test_what_how_far_and_how_long(bar: Progress, clock: Clock) -> None:
    line = ProgressLine(bar)
    line(Event("counting", 1, 2, 0.0, None))
    clock.now += 10
    line(Event("counting", 1, 2, 0.25, 250_000))
    (task,) = bar.tasks
    assert ("counting (1 of 2)", 0.25) == (task.description, task.completed)
    assert "250,000 rows, about 31 s more" == task.fields["about"]


def test_a_phase_that_is_over_leaves_no_bar(bar: Progress, clock: Clock) -> None:
    line = ProgressLine(bar)
    line(Event("writing", 1, 1, 0.9, 900))
    line(Event("writing", 1, 1, 1.0, 1000))
    (task,) = bar.tasks
    assert (JUDGING, None, 0, "") == (
        task.description,
        task.total,
        task.completed,
        task.fields["about"],
    )


def test_a_new_phase_has_its_own_clock(bar: Progress, clock: Clock) -> None:
    line = ProgressLine(bar)
    line(Event("counting", 1, 2, 0.5, None))
    clock.now += 1000
    line(Event("counting", 2, 2, 0.0, None))
    clock.now += 4
    line(Event("counting", 2, 2, 0.5, None))
    assert "about 5 s more" == bar.tasks[0].fields["about"]


def test_a_search_tells_moves_and_what_is_left(bar: Progress, clock: Clock) -> None:
    line = ProgressLine(bar)
    line(Event("counting", 1, 2, 0.5, None))
    half = Fraction(1, 2)
    line.watch(RefinementProgress(1, "show a value of job", half, 199))
    line.watch(RefinementProgress(100, "show a value of job", half, 100, 0.5, 10.0))
    (task,) = bar.tasks
    assert (0.5, 1.0) == (task.completed, task.total)
    assert "worst case 50 %, 100 left to try, about 11 s more" == task.fields["about"]


def test_every_statement_is_told_to_be_over() -> None:
    """From the first count to the last of reading back."""
    events: list[Event] = []
    moves: list[RefinementProgress] = []
    with bank() as table:
        release = pv.publish(
            table,
            [discharged("3/4"), covering("3/4")],
            progress=events.append,
            watcher=moves.append,
        )
        assert release.safe
    running: tuple[str, int] | None = None
    for event in events:
        assert running in (None, (event.doing, event.statement))
        running = None if event.share == 1.0 else (event.doing, event.statement)
    assert running is None
    assert moves[0].left is not None


def test_reading_back_is_told(tmp_path: object) -> None:
    events: list[Event] = []
    with bank() as table:
        release = pv.publish(table, [discharged("3/4"), covering("3/4")])
        folder = f"{tmp_path}/out"
        release.write(folder, custody=f"{tmp_path}/vault", progress=events.append)
    told = {e.doing for e in events}
    assert any(d.startswith("reading back: ") for d in told)
    assert "writing" in told
