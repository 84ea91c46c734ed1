"""Waiting for a statement: whenever it ends, its result or its own error comes out."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import pytest

from privet.engine import run as runs
from privet.engine.protocol import Run, limit_time
from privet.engine.run import StatementRunner
from privet.errors import Stopped


class Place(StatementRunner):
    """A place where Python functions run instead of statements."""

    is_open = True
    stopped = False

    def interrupt(self) -> None:
        self.stopped = True


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(runs, "POLL", 0.001)
    return Place("here")


def delay(monkeypatch: pytest.MonkeyPatch, then: Callable[[Future[Any]], None]) -> None:
    """Let time pass between the end of a wait and what is made of it."""

    def wait_and_dawdle(futures: list[Future[Any]], timeout: float) -> Any:
        found = wait(futures, timeout)
        then(futures[0])
        return found

    monkeypatch.setattr(runs, "wait", wait_and_dawdle)


def test_a_statement_that_ends_just_after_a_wait_gives_its_result(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    delay(monkeypatch, lambda future: future.exception(5))
    for pause in (0, 0.002, 0.02):
        found = place.run_watched(lambda p=pause: time.sleep(p) or 7, Run(), "counting")
        assert 7 == found


def test_a_time_out_of_the_work_itself_is_its_error(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    delay(monkeypatch, lambda future: time.sleep(0.005))

    def fail() -> None:
        time.sleep(0.003)
        raise TimeoutError("the network's")

    with pytest.raises(TimeoutError, match="the network's"):
        place.run_watched(fail, Run(), "counting")


def test_a_limit_stops_the_statement(place: Place) -> None:
    def work() -> str:
        while not place.stopped:
            time.sleep(0.001)
        return "stopped"

    with pytest.raises(Stopped):
        place.run_watched(work, Run.start(None, 0.02, None), "counting")
    assert place.stopped


# Delays, cancellations and errors at every step -------------------------------------

STEPS = ("submit", "wait", "look", "tell", "end")
"""What waiting does, in order: hand over, wait, look at the clock, tell, take."""

PAUSES = (0.0, 0.002, 0.02)
"""Shorter than a wait, about as long, and several waits long."""


def happen_at(
    step: str, place: Place, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]
) -> Run:
    """A run in which something happens once, at one step of the waiting."""
    left = [act]

    def once() -> None:
        if left:
            left.pop()()

    if step == "submit":
        submit = place._worker.submit
        monkeypatch.setattr(place._worker, "submit", lambda *w: (once(), submit(*w))[1])
    if step == "wait":
        monkeypatch.setattr(runs, "wait", lambda f, t: (once(), wait(f, t))[1])
    if step == "look":
        monkeypatch.setattr(Run, "check", lambda self: once())
    if step == "end":
        monkeypatch.setattr(runs, "wait", lambda f, t: (wait(f, t), once())[0])
    return Run((lambda event: once()) if step == "tell" else None)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("pause", PAUSES)
@pytest.mark.parametrize("work", PAUSES)
def test_a_delay_at_any_step_changes_nothing(
    step: str,
    pause: float,
    work: float,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = happen_at(step, place, monkeypatch, lambda: time.sleep(pause))
    assert 7 == place.run_watched(lambda: time.sleep(work) or 7, run, "counting")


class Cancelled(Exception):
    """Somebody does not want to wait any more."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stopped, Cancelled])
@pytest.mark.parametrize("step", STEPS)
def test_a_stop_at_any_step_stops_the_statement(
    step: str,
    error: type[BaseException],
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[bool] = []

    def work() -> None:
        while not place.stopped:
            time.sleep(0.001)
        ended.append(True)

    def stop() -> None:
        raise error

    run = happen_at(step, place, monkeypatch, stop)
    with pytest.raises(error):
        place.run_watched(work, run, "counting")
    monkeypatch.undo()
    place.stopped = False
    assert 7 == place.run_watched(lambda: 7, Run(), "counting")  # nothing runs on


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("work", PAUSES)
def test_an_error_of_the_statement_comes_out_whatever_the_step(
    step: str, work: float, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        time.sleep(work)
        raise ZeroDivisionError("the statement's")

    run = happen_at(step, place, monkeypatch, lambda: time.sleep(0.004))
    with pytest.raises(ZeroDivisionError, match="the statement's"):
        place.run_watched(fail, run, "counting")


def test_a_second_ctrl_c_does_not_leave_the_statement_running(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def interrupt() -> None:
        asked.append("again")
        if len(asked) < 3:
            raise KeyboardInterrupt
        place.stopped = True

    def work() -> None:
        while not place.stopped:
            time.sleep(0.001)

    monkeypatch.setattr(place, "interrupt", interrupt)
    run = happen_at("tell", place, monkeypatch, lambda: time.sleep(0))
    monkeypatch.setattr(runs, "wait", _interrupt_once())
    with pytest.raises(KeyboardInterrupt):
        place.run_watched(work, run, "counting")
    assert 3 <= len(asked)  # once more where the statement takes its time to end


def _interrupt_once() -> Callable[[list[Future[Any]], float], Any]:
    left = [True]

    def wait_or_stop(futures: list[Future[Any]], timeout: float) -> Any:
        if left:
            left.pop()
            raise KeyboardInterrupt
        return wait(futures, timeout)

    return wait_or_stop


def test_a_limit_of_the_whole_work_stops_runs_that_have_none(place: Place) -> None:
    def work() -> None:
        while not place.stopped:
            time.sleep(0.001)

    with limit_time(0.02), limit_time(100), pytest.raises(Stopped):
        place.run_watched(work, Run(), "counting")
    assert place.stopped
    assert Run().end is None
