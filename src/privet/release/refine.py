"""The coarse-to-fine loop: the best move that keeps every promise, until stopped.

The release is safe before the first move and after each one, so the loop may stop at
any time with a safe release in hand. Judging a move is the business of the state, and
always of the whole release: promises that hold group by group may break together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Generic, Protocol, TypeVar

Move = TypeVar("Move")
Step = TypeVar("Step")
Step_co = TypeVar("Step_co", covariant=True)


@dataclass(frozen=True)
class RefinementProgress:
    """How far a refinement is; sent to the callback after every move."""

    moves: int
    """Moves made so far."""
    doing: str
    """The last move in words; it names columns, never values."""
    worst: Fraction
    """The highest belief of any promise now."""


Watcher = Callable[[RefinementProgress], bool | None]
"""Takes progress; returning False stops the loop with what is reached."""


class State(Protocol[Move, Step_co]):
    """A safe release that knows its best next move."""

    def find_best_move(self) -> Move | None:
        """The best move that keeps every promise; None if there is none."""

    def apply(self, move: Move) -> Step_co:
        """Make a move."""

    def find_worst_belief(self) -> Fraction:
        """The highest belief of any promise."""


@dataclass(frozen=True)
class Refinement(Generic[Step]):
    """What the loop did, and why it ended."""

    steps: tuple[Step, ...]
    """Every move, in order."""
    ended: str
    """"finished", "time", "callback" or "interrupt"."""


def refine(
    state: State[Move, Step],
    *,
    max_seconds: float | None = None,
    watcher: Watcher | None = None,
) -> Refinement[Step]:
    """Make the best move again and again, until none is left or somebody stops it."""
    end = None if max_seconds is None else monotonic() + max_seconds
    steps: list[Step] = []
    try:
        while (move := state.find_best_move()) is not None:
            if end is not None and monotonic() > end:
                return Refinement(tuple(steps), "time")
            steps.append(state.apply(move))
            event = RefinementProgress(len(steps), str(move), state.find_worst_belief())
            if watcher is not None and watcher(event) is False:
                return Refinement(tuple(steps), "callback")
    except KeyboardInterrupt:
        # A move cut short was judged before it began: the release is safe with it and
        # without it. What is returned is audited once more in any case.
        return Refinement(tuple(steps), "interrupt")
    return Refinement(tuple(steps), "finished")
