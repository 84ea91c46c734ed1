"""The coarse-to-fine loop: the best move that keeps every promise, until stopped.

The release is safe before the first move and after each one, so the loop may stop at
any time with a safe release in hand. Judging a move is the business of the state, and
always of the whole release: promises that hold group by group may break together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from privet.engine.protocol import LIMIT

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
    left: int | None = None
    """How many values, cuts or groups could be tried now, as last counted."""
    share: float | None = None
    """How much of all that is to be decided is decided, as far as that can be told."""
    seconds: float | None = None
    """How long the search will take yet, by what it took so far; None: no telling."""


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

    def count_left(self) -> Mapping[str, int]:
        """How many values or cuts of each column, or groups, could be tried now."""


@dataclass(frozen=True)
class Refinement(Generic[Step]):
    """What the loop did, and why it ended."""

    steps: tuple[Step, ...]
    """Every move, in order."""
    ended: str
    """"finished", "time" or "callback"."""
    left: Mapping[str, int] = field(default_factory=dict)
    """What was left to try when it was stopped: how many values or cuts of each column,
    or how many groups."""


def refine(
    state: State[Move, Step],
    *,
    max_seconds: float | None = None,
    watcher: Watcher | None = None,
) -> Refinement[Step]:
    """Make the best move again and again, until none is left or somebody stops it.

    Where the whole work has a limit, the loop leaves time for what follows it. Ctrl-C
    is not caught here: who presses it wants nothing.
    """
    end, steps = find_end(max_seconds), list[Step]()
    outlook = _Outlook(state, watched=watcher is not None)
    while (move := state.find_best_move()) is not None:
        if end is not None and monotonic() > end:
            return Refinement(tuple(steps), "time", state.count_left())
        steps.append(state.apply(move))
        if watcher is None:
            continue
        told = outlook.describe(len(steps), str(move), state.find_worst_belief())
        if watcher(told) is False:
            return Refinement(tuple(steps), "callback", state.count_left())
    return Refinement(tuple(steps), "finished")


CERTAIN = 0.05
"""Shares below this say little about how long a search will take."""


class _Outlook:
    """How much is left to try, counted now and then: it may cost as much as a move."""

    def __init__(self, state: State[Any, Any], *, watched: bool) -> None:
        self._state = state
        self._next = 0.0
        self._left: int | None = None
        self._began = monotonic()
        self._first = (self.count_left() if watched else None) or 0

    def count_left(self) -> int | None:
        """The last count; at most a twentieth of the time is spent on it."""
        begin = monotonic()
        if begin >= self._next:
            self._left = sum(self._state.count_left().values())
            self._next = monotonic() + max(0.1, 20 * (monotonic() - begin))
        return self._left

    def describe(self, moves: int, doing: str, worst: Fraction) -> RefinementProgress:
        """How far the search is, and how long it will take."""
        left = self.count_left()
        if left is None:
            return RefinementProgress(moves, doing, worst)
        # A move may decide many values, or let more be tried: then moves are counted.
        done = max(moves, self._first - left)
        share = done / (done + left)
        seconds = None
        if share >= CERTAIN:
            seconds = (monotonic() - self._began) * (1 - share) / share
        return RefinementProgress(moves, doing, worst, left, share, seconds)


SPARE = 0.1
"""The share of a time limit that is left for what follows a search, at least."""


def find_end(max_seconds: float | None) -> float | None:
    """When to stop; None: when nothing is left."""
    limit = LIMIT.get()
    ends = [] if max_seconds is None else [monotonic() + max_seconds]
    if limit:
        least = (limit.end - limit.began) * SPARE
        ends.append(min(limit.search_end, limit.end - least))
    return min(ends, default=None)
