"""Count cubes of quasi-identifiers, and what disclosing a value would do to them.

A cube has one row per combination of values that occurs, with its count and, for each
rule, the count of people with the protected value. Rows form groups: those that look
alike in the release. Disclosing a value only ever splits groups, hence

* a group without any protected value can never become a worse one: it is dropped;
* the confidence after disclosing x is the larger of the confidence now and that of the
  two parts of each group that holds x: no released table is ever built;
* these maxima may keep entries of groups that were split since, for a group is never
  worse than the worse of its parts. After a move only the split groups need a look.

Wang, Fung, Yu 2007, section 4.3; corrected as documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet import exact
from privet.beliefs import Ceiling

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DENSE = 6
"""A table of all group-value pairs is used while it has this many cells per row."""


@dataclass
class Outlook:
    """What disclosing each value of one attribute would make of one cube."""

    confidence: Floats
    """Per rule and value: the confidence afterwards, as far as it is above the one
    now; for an ordered attribute per cut after the value."""
    broken: Flags
    """Per value: whether some promise would be broken."""

    @classmethod
    def empty(cls, values: int, rules: int) -> Outlook:
        """Nothing seen yet."""
        return cls(np.zeros((rules, values)), np.zeros(values, dtype=bool))


@dataclass(frozen=True)
class View:
    """Some rows of a cube, with their groups numbered from 0."""

    rows: Ints
    groups: Ints
    """The groups that occur."""
    local: Ints
    """The number of each row's group among them."""


@dataclass(frozen=True)
class Cells:
    """People of groups by value: where they are, how many, how many are protected."""

    group: Ints
    value: Ints
    total: Ints
    protected: Ints
    """One column per rule."""


class Cube:
    """The groups of one quasi-identifier while values are disclosed."""

    def __init__(
        self,
        attributes: Sequence[int],
        codes: Sequence[Ints],
        fixed: Ints,
        total: Ints,
        protected: Ints,
        limits: Sequence[Sequence[Ceiling]],
    ) -> None:
        self.attributes = tuple(attributes)
        self.limits = [tuple(of_rule) for of_rule in limits]
        self._codes = [np.asarray(c, dtype=np.int64) for c in codes]
        self._total = total
        self._protected = protected
        _, group = np.unique(fixed, return_inverse=True)
        self._group = group.astype(np.int64).ravel()
        groups = int(self._group.max(initial=-1)) + 1
        self._sums = _sums(self._group, total, groups)
        self._protected_sums = _columns(self._group, protected, groups)
        self.confidences = [
            self._highest(np.arange(groups), r) for r in range(self.rules)
        ]
        self._live = np.arange(len(total))
        self._still_harmful(np.arange(groups))

    @property
    def rules(self) -> int:
        """How many rules the cube is judged by."""
        return len(self.limits)

    def holds(self) -> bool:
        """Whether every rule holds now."""
        return not any(
            _over(self._protected_sums[:, r], self._sums, limit).any()
            for r, limits in enumerate(self.limits)
            for limit in limits
        )

    def worst_group(self, rule: int) -> tuple[int, int]:
        """The counts of the group that attains a rule's confidence."""
        part, whole = self._protected_sums[:, rule], self._sums
        at = exact.highest(part[whole > 0], whole[whole > 0])[0]
        return int(part[whole > 0][at]), int(whole[whole > 0][at])

    def _highest(self, groups: Ints, rule: int) -> Fraction:
        whole = self._sums[groups]
        part = self._protected_sums[groups, rule]
        part, whole = part[whole > 0], whole[whole > 0]
        if len(whole) == 0:
            return Fraction(0)
        at = exact.highest(part, whole)[0]
        return Fraction(int(part[at]), int(whole[at]))

    # Looking ahead ------------------------------------------------------------------

    def view(self, rows: Ints | None = None) -> View:
        """Some rows, or all that may still do harm."""
        here = self._live if rows is None else rows
        group = self._group[here]
        occurs = np.zeros(len(self._sums), dtype=bool)
        occurs[group] = True
        number = np.cumsum(occurs) - 1
        return View(here, np.flatnonzero(occurs), number[group])

    def outlook(
        self, attribute: int, values: int, hidden: Flags | None, view: View
    ) -> Outlook:
        """What disclosing each value would do, as far as some rows tell.

        `hidden` says which values are hidden now; None: the attribute is ordered, and
        the question is what cutting after each value would do.
        """
        codes = self._codes[self.attributes.index(attribute)][view.rows]
        rows, local = view.rows, view.local
        if hidden is not None and not hidden.all():
            inside = np.flatnonzero(hidden[codes])
            rows, local, codes = rows[inside], local[inside], codes[inside]
        found = Outlook.empty(values, self.rules)
        if len(rows) == 0:
            return found
        cells = self._cells(rows, local * values + codes, view.groups, values)
        if hidden is not None:
            self._values_ahead(cells, found)
        else:
            self._cuts_ahead(cells, found)
        return found

    def _cells(self, rows: Ints, key: Ints, groups: Ints, values: int) -> Cells:
        """Sums by group and value, in their order."""
        size = len(groups) * values
        if size > DENSE * len(rows):
            names, key = np.unique(key, return_inverse=True)
            key = key.ravel()
        else:
            names = np.arange(size)
        total = _sums(key, self._total[rows], len(names))
        there = np.flatnonzero(total)
        protected = _columns(key, self._protected[rows], len(names))[there]
        cell = names[there]
        return Cells(groups[cell // values], cell % values, total[there], protected)

    def _values_ahead(self, cells: Cells, found: Outlook) -> None:
        """Each value taken out of each group: it, and what remains."""
        rest = self._sums[cells.group] - cells.total
        remain = rest > 0
        for r, limits in enumerate(self.limits):
            part = cells.protected[:, r]
            other = self._protected_sums[cells.group, r] - part
            ahead = part / cells.total
            ahead[remain] = np.maximum(ahead[remain], other[remain] / rest[remain])
            np.maximum.at(found.confidence[r], cells.value, ahead)
            for limit in limits:
                bad = _over(part, cells.total, limit)
                bad[remain] |= _over(other[remain], rest[remain], limit)
                found.broken[cells.value[bad]] = True

    def _cuts_ahead(self, cells: Cells, found: Outlook) -> None:
        """Each group cut after each of its values but the last.

        A cut between two values that occur in the group cuts it as one right after the
        lower of them would, so what is found there holds for a range of cuts.
        """
        inner = np.flatnonzero(cells.group[1:] == cells.group[:-1])
        if len(inner) == 0:
            return
        first, last = cells.value[inner], cells.value[inner + 1] - 1
        left = _running(cells.group, cells.total)[inner]
        right = self._sums[cells.group[inner]] - left
        for r, limits in enumerate(self.limits):
            part = _running(cells.group, cells.protected[:, r])[inner]
            other = self._protected_sums[cells.group[inner], r] - part
            ahead = np.maximum(part / left, other / right)
            _raise_ranges(found.confidence[r], first, last, ahead)
            for limit in limits:
                bad = _over(part, left, limit) | _over(other, right, limit)
                found.broken |= _covered(first[bad], last[bad], len(found.broken))

    # Moving -------------------------------------------------------------------------

    def split(self, attribute: int, low: int, high: int) -> Ints:
        """Part the rows with codes from low to high from the rest of their groups.

        The live rows of the groups that were split are returned.
        """
        codes = self._codes[self.attributes.index(attribute)][self._live]
        moved = self._live[(codes >= low) & (codes <= high)]
        old, local = np.unique(self._group[moved], return_inverse=True)
        local = local.ravel()
        total = _sums(local, self._total[moved], len(old))
        protected = _columns(local, self._protected[moved], len(old))
        new = len(self._sums) + np.arange(len(old))
        self._group[moved] = new[local]
        self._sums[old] -= total
        self._protected_sums[old] -= protected
        self._sums = np.concatenate([self._sums, total])
        self._protected_sums = np.concatenate([self._protected_sums, protected])
        touched = np.concatenate([old, new])
        for r in range(self.rules):
            here = self._highest(touched, r)
            self.confidences[r] = max(self.confidences[r], here)
        return self._still_harmful(touched)

    def _still_harmful(self, touched: Ints) -> Ints:
        """Drop groups that became harmless; the live rows of the others touched."""
        dead = touched[~self._protected_sums[touched].any(axis=1)]
        state = np.zeros(len(self._sums), dtype=np.int8)
        state[touched] = 1
        state[dead] = 2
        now = state[self._group[self._live]]
        if len(dead):
            self._live, now = self._live[now < 2], now[now < 2]
        return self._live[now == 1]


def _over(part: Ints, whole: Ints, limit: Ceiling) -> Flags:
    compare = exact.reaches if limit.strict else exact.exceeds
    return compare(part, whole, limit.level)


def _sums(key: Ints, n: Ints, size: int) -> Ints:
    """Sums by key; exact, since counts stay below 2**53."""
    sums: Ints = np.bincount(key, weights=n, minlength=size).astype(np.int64)
    return sums


def _columns(key: Ints, n: Ints, size: int) -> Ints:
    return np.stack([_sums(key, n[:, r], size) for r in range(n.shape[1])], axis=1)


def _running(group: Ints, n: Ints) -> Ints:
    """Running sums that begin anew with each group."""
    sums = np.cumsum(n)
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    before = np.repeat(sums[first] - n[first], np.diff(np.r_[first, len(group)]))
    return np.asarray(sums - before)


def _raise_ranges(level: Floats, first: Ints, last: Ints, to: Floats) -> None:
    """Raise level[first..last] to at least `to`, for many ranges at once.

    Each range is covered by two blocks whose length is a power of two; blocks are
    then pushed down level by level.
    """
    size = len(level)
    depth = np.frexp((last - first + 1).astype(np.float64))[1].astype(np.int64) - 1
    blocks = np.zeros((int(depth.max()) + 1, size))
    np.maximum.at(blocks, (depth, first), to)
    np.maximum.at(blocks, (depth, last - (1 << depth) + 1), to)
    for d in range(len(blocks) - 1, 0, -1):
        half = 1 << (d - 1)
        np.maximum(blocks[d - 1], blocks[d], out=blocks[d - 1])
        np.maximum(
            blocks[d - 1][half:], blocks[d][: size - half], out=blocks[d - 1][half:]
        )
    np.maximum(level, blocks[0], out=level)


def _covered(first: Ints, last: Ints, size: int) -> Flags:
    """Which positions lie in some range."""
    edges = np.zeros(size + 1, dtype=np.int64)
    np.add.at(edges, first, 1)
    np.add.at(edges, last + 1, -1)
    return np.cumsum(edges[:-1]) > 0
