"""The loop may be stopped at any time, with a safe release in hand."""

from __future__ import annotations

import random
import time
from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv
from privet.engine.protocol import limit_time
from privet.release.refine import RefinementProgress, find_end, refine


class Counting:
    """A state whose moves are numbers; it is whole after each of them."""

    def __init__(self, moves: int, interrupt_at: int | None = None) -> None:
        self.left = moves
        self.done: list[int] = []
        self.interrupt_at = interrupt_at

    def find_best_move(self) -> int | None:
        if self.interrupt_at == len(self.done):
            raise KeyboardInterrupt
        return self.left or None

    def apply(self, move: int) -> int:
        self.left -= 1
        self.done.append(move)
        return move

    def find_worst_belief(self) -> Fraction:
        return Fraction(len(self.done), 10)

    def count_left(self) -> dict[str, int]:
        return {"moves": self.left}


def test_every_move_is_made_in_order() -> None:
    refined = refine(Counting(3))
    assert ((3, 2, 1), "finished") == (refined.steps, refined.ended)


def test_a_watcher_sees_every_move_and_may_stop() -> None:
    seen: list[RefinementProgress] = []

    def watch(event: RefinementProgress) -> bool:
        seen.append(event)
        return event.moves < 2

    refined = refine(Counting(5), watcher=watch)
    assert ((5, 4), "callback") == (refined.steps, refined.ended)
    assert [(1, Fraction(1, 10)), (2, Fraction(2, 10))] == [
        (e.moves, e.worst) for e in seen
    ]


def test_time_runs_out() -> None:
    refined = refine(Counting(5), max_seconds=0)
    assert ((), "time") == (refined.steps, refined.ended)
    assert {"moves": 5} == refined.left


def test_time_is_left_for_what_follows() -> None:
    """Half a second came before: a search of what takes three times that is over."""
    with limit_time(2, share=3.0):
        time.sleep(0.55)
        refined = refine(Counting(5))
    assert ((), "time", {"moves": 5}) == (refined.steps, refined.ended, refined.left)
    with limit_time(2000, share=3.0):
        assert "finished" == refine(Counting(5)).ended


def test_ctrl_c_is_not_caught() -> None:
    with pytest.raises(KeyboardInterrupt):
        refine(Counting(5, interrupt_at=2))


@pytest.mark.engines
@pytest.mark.parametrize("seed", range(8))
def test_stopped_anywhere_the_release_is_safe(seed: int) -> None:
    dice = random.Random(seed)
    rows = 40
    table = pa.table(
        {
            "a": [dice.choice("pqrst") for _ in range(rows)],
            "b": [dice.randint(0, 9) for _ in range(rows)],
            "s": [dice.choice(["ill", "well", "well"]) for _ in range(rows)],
            "k": [dice.choice("yn") for _ in range(rows)],
        }
    )
    promise = pv.Promise(pv.Linker(["a", "b", "k"]), pv.Ceiling("0.7"), {"s": "ill"})
    with pv.read(table, quasi=["a", "b"], sensitive="s", target="k") as people:
        whole = pv.publish(people, promise)
        shares = [Fraction(0)]
        for stop in range(len(whole.steps) + 1):
            release = pv.publish(
                people, promise, watcher=lambda e, stop=stop: e.moves < stop
            )
            assert release.safe
            shares.append(release.audit.worst.belief.posterior)
    assert sorted(shares) == shares  # showing more never lowers the worst belief


def test_the_time_left_is_told_by_what_it_took_so_far() -> None:
    """Ten moves are to be made: after each the share, from a twentieth on a time."""
    told: list[RefinementProgress] = []
    refine(Counting(10), watcher=told.append)
    assert told[0].share is not None
    assert all(t.seconds is None or t.seconds >= 0 for t in told)
    shares = [t.share for t in told if t.share is not None]
    assert sorted(shares) == shares
    assert 0 < shares[0] <= shares[-1] <= 1


def test_a_long_search_foresees_its_end() -> None:
    class Slow(Counting):
        def apply(self, move: int) -> int:
            time.sleep(0.12)
            return super().apply(move)

    told: list[RefinementProgress] = []
    refine(Slow(6), watcher=told.append)
    seconds = [t.seconds for t in told]
    assert all(s is not None for s in seconds[1:])
    assert seconds[-1] is not None
    assert seconds[-1] < 0.3


def test_a_tenth_of_the_time_is_left_for_what_follows() -> None:
    """Before the search there was hardly anything, so that nothing would be."""
    with limit_time(100):
        end = find_end(None)
    assert end is not None
    assert 85 < end - time.monotonic() <= 90
