"""What somebody is surest of, by how sure one is of each value of a column.

Of single values that is the likeliest that matters. Of a number within a window it is
the window whose values are likeliest together: nobody has two of them, so that beliefs
add up, and bounds add up to a bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.release.joint.joint_results import JointQuestion
from privet.release.joint.outlines import Value
from privet.values.contingency import Domain
from privet.values.windows import Span, Windows

Members = tuple[int, ...]
"""The places of the values believed in a column's list: one, or those of a window."""


@dataclass(frozen=True, eq=False)
class SurestValues:
    """Which values of a column matter, alone or as windows."""

    values: Sequence[Value]
    """The raw values; others name them by their place here."""
    wanted: frozenset[int] | None = None
    """Those that matter; None: every value."""
    windows: Windows | None = None
    """The windows, where a promise is about those."""

    @classmethod
    def of(cls, question: JointQuestion, values: Sequence[Value]) -> SurestValues:
        """What a promise asks about a column with these values."""
        if question.within is not None:
            domain = Domain(question.about, values)
            windows = Windows.of(domain, question.within, untyped=True)
            return cls(values, windows=windows)
        if question.values is None:
            return cls(values)
        asked = (i for i, v in enumerate(values) if v in question.values)
        return cls(values, frozenset(asked))

    def matters(self, value: object) -> bool:
        """Whether a single value matters."""
        return self.wanted is None or value in self.wanted

    def find(self, beliefs: Mapping[Any, Fraction]) -> tuple[Members, Fraction] | None:
        """The value or the window one is surest of; None where nothing matters."""
        if self.windows is not None:
            return self._find_window(self.windows, beliefs)
        some = {v: b for v, b in beliefs.items() if self.matters(v)}
        if not some:
            return None
        value = max(some, key=lambda v: some[v])
        return (value,), some[value]

    def _find_window(
        self, windows: Windows, beliefs: Mapping[Any, Fraction]
    ) -> tuple[Members, Fraction] | None:
        placed = sorted((int(windows.place[v]), v, b) for v, b in beliefs.items() if b)
        numbers = [p for p in placed if p[0] < len(windows)]
        best: tuple[int, int, Fraction] | None = None
        end, inside = 0, Fraction(0)
        for start, (place, _, own) in enumerate(numbers):
            # The window moves on: it takes in values at its end, and lets one go.
            while end < len(numbers) and numbers[end][0] < windows.stop[place]:
                inside += numbers[end][2]
                end += 1
            if best is None or inside > best[2]:
                best = start, end, inside
            inside -= own
        if best is None:
            return None
        start, end, sure = best
        return tuple(v for _, v, _ in numbers[start:end]), min(sure, Fraction(1))

    def name(self, members: Members) -> tuple[Value, Span | None]:
        """A value; or a window in words, and from which value to which."""
        if self.windows is None:
            return self.values[members[0]], None
        places = [int(self.windows.place[v]) for v in members]
        span = self.windows.name_span(min(places), max(places))
        return str(span), span
