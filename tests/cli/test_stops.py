"""Stops mean what people think: Ctrl-C, and a limit of time for the whole command."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import privet as pv
from crash.scenarios import COMMANDS, Scenario, list_tree
from privet.cli import cli
from privet.engine import protocol
from privet.engine.protocol import limit_time
from privet.release.refine import RefinementProgress
from release.examples import bank, covering, discharged


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Scenario("disclosure", ledger=False, replace=False).lay_out()
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(cli, list(words), prog_name="privet")
    return found.exit_code, found.output


@pytest.mark.parametrize("kind", list(COMMANDS))
def test_what_does_not_fit_is_not_written(here: Path, kind: str) -> None:
    before = list_tree(here)
    places = ("-o", "out", "--custody", "safe/vault", "--max-seconds", "0.001")
    code, said = run(*COMMANDS[kind], *places)
    assert 3 == code, said
    assert "time limit" in said
    assert before == list_tree(here)


@pytest.mark.parametrize("kind", ["disclosure", "groups"])
def test_a_search_that_is_stopped_says_what_was_left(
    here: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows the search is taken to need more time than there is."""
    monkeypatch.setattr(protocol, "WRITING", 1e9)
    places = ("-o", "out", "--custody", "safe/vault", "--max-seconds", "500")
    code, said = run(*COMMANDS[kind], *places, "--json")
    told = json.loads(said[said.index("{") :].partition("\nnote:")[0])
    assert (0, "time", 0) == (code, told["ended"], told["moves"])
    kept = json.loads(Path("safe/vault/custody.json").read_text("utf-8"))
    assert ("time", told["left"]) == (kept["ended"], kept["left"])
    wanted = {"groups": 1} if kind == "groups" else {"job": 5, "country": 3, "child": 2}
    assert wanted == told["left"]
    assert pv.verify("out", custody="safe/vault").good
    code, said = run(*COMMANDS[kind], *places, "--replace")
    assert "Stopped at the time limit" in said
    assert ("not tried" if kind == "groups" else "job (5)") in said


def test_a_limit_that_is_kept_changes_nothing(here: Path) -> None:
    places = ("-o", "out", "--custody", "safe/vault", "--max-seconds", "500")
    code, said = run(*COMMANDS["disclosure"], *places, "--json")
    told = json.loads(said[said.index("{") :].partition("\nnote:")[0])
    assert (0, "finished", {}) == (code, told["ended"], told["left"])


def test_a_limit_in_python() -> None:
    promises = [discharged("3/4"), covering("3/4")]
    with bank() as table:
        with pytest.raises(pv.Stopped):
            pv.publish(table, promises, max_seconds=1e-6)
        with limit_time(500, share=1e9):
            stopped = pv.publish(table, promises)
        assert ("time", True) == (stopped.ended, stopped.safe)
        assert "finished" == pv.publish(table, promises, max_seconds=500).ended


def test_writing_may_take_too_long(tmp_path: Path) -> None:
    with bank() as table:
        release = pv.publish(table, [discharged("3/4"), covering("3/4")])
        with pytest.raises(pv.Stopped):
            release.write(tmp_path / "out", custody=tmp_path / "v", max_seconds=1e-6)
    assert [] == list(tmp_path.iterdir())


def test_arithmetic_that_looks_at_no_clock_is_stopped(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alarm rings where nobody asks how late it is."""
    from privet.microdata.suppression.sweeps import SweepState

    def think(self: object) -> None:
        while True:
            pass

    monkeypatch.setattr(SweepState, "find_best_move", think)
    begin = time.monotonic()
    places = ("-o", "out", "--custody", "safe/vault", "--max-seconds", "5")
    code, said = run(*COMMANDS["disclosure"], *places)
    assert 3 == code, said
    assert time.monotonic() - begin < 7 + 20  # others may use the machine
    assert not Path("out").exists()
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_ctrl_c_comes_out_of_a_search() -> None:
    def press(event: RefinementProgress) -> None:
        signal.raise_signal(signal.SIGINT)

    # Whoever runs tests in several processes may have switched Ctrl-C off.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with bank() as table, pytest.raises(KeyboardInterrupt):
            pv.publish(table, [discharged("3/4"), covering("3/4")], watcher=press)
    finally:
        signal.signal(signal.SIGINT, before)
