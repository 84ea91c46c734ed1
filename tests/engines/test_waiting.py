"""Waiting for a statement: whenever it ends, its result or its own error comes out."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import pytest

from privet.engine import run as runs
from privet.engine.protocol import Run
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
