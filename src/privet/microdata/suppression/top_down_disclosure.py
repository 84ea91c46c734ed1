"""Top-Down Disclosure (TDD): suppress everything, then show what costs least privacy.

All values of the quasi-identifying columns are suppressed first. Then the candidate w
with the highest Score(w) = InfoGain(w) / (PrivLoss(w) + 1), the most information per
loss of privacy, is disclosed, again and again, as long as every promise of the whole
release holds. A candidate is valid if every template still holds, and beneficial if the
suppressed rows hold more than one class.
Wang, Fung, Yu 2007, §4 (Algorithm 4.1), §4.1 (Score, InfoGain, PrivLoss), §6 (intervals
of continuous attributes); corrected as documented.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError
from privet.microdata.suppression.cubes.count_cube import ConfAfterDisclosure, Cube
from privet.microdata.suppression.kernels import CubeGroups
from privet.microdata.suppression.taxonomy import (
    Taxonomy,
    find_nodes,
    number_sides,
    place_values,
)
from privet.values.arrays import Flags, Floats, Ints
from privet.values.contingency import Domain

UserGain = Callable[[Ints], Floats]
"""What showing each hidden value is worth, from the counts of the hidden values of
one column: one row per value, one column per class."""

TIE = 1e-12
"""Scores and losses this close are equal."""


@dataclass(frozen=True)
class Disclosure:
    """A candidate: a value to disclose, or a place to cut an ordered column."""

    attribute: int
    """Which attribute."""
    code: int
    """The value's code; of a cut, the last value below it."""
    gain: float
    """InfoGain: what it is worth."""
    loss: float
    """PrivLoss: the average rise of the confidences it touches."""
    score: float
    """Score: gain per loss."""
    column: str = ""
    """The column's name."""

    def __str__(self) -> str:
        return f"showing a value of {self.column}"


@dataclass(frozen=True)
class DisclosureStep:
    """A move that was made."""

    column: str
    """Whose value was shown."""
    value: str | None
    """The value; of a cut, the largest below it."""
    cut: bool
    """Whether an ordered column was cut."""
    gain: float
    """InfoGain: what it was worth."""
    loss: float
    """PrivLoss: the average rise of the confidences it touched."""
    score: float
    """Score: gain per loss."""
    confidences: tuple[Fraction, ...]
    """Conf(QID → value) of each template afterwards."""

    def to_dict(self) -> dict[str, Any]:
        """For the custody record."""
        return {**vars(self), "confidences": [str(c) for c in self.confidences]}


class SuppressedAttribute:
    """A masking attribute: its counts by class, and which values are suppressed."""

    def __init__(
        self,
        domain: Domain,
        classes: Ints,
        *,
        ordered: bool,
        never: Flags | None = None,
        taxonomy: Taxonomy | None = None,
    ) -> None:
        self.domain = domain
        self.classes = classes
        self.ordered = ordered
        self.never = np.zeros(len(domain), dtype=bool) if never is None else never
        """Values that would break a promise whenever they are shown."""
        self.taxonomy = taxonomy
        """The nodes above the values, which may be shown in their place."""
        above = taxonomy.nodes if taxonomy else ()
        self.levels: tuple[Ints, ...] = (*above, np.arange(len(domain)))
        """Per level, from coarse to fine, the node of each value; last, the values."""
        self.hide_all()

    def __len__(self) -> int:
        return len(self.domain)

    def hide_all(self) -> None:
        """Nothing is shown yet, and nothing refused."""
        self.hidden: Flags = self.classes.sum(axis=1) > 0
        self.climbed: Ints = np.full(len(self), -1, dtype=np.int64)
        """The level whose node each value that is not shown carries; -1: none."""
        self.cuts: list[int] = []
        """Codes after which an ordered column was cut."""
        self.forget_refused()

    def forget_refused(self) -> None:
        """Nothing is refused yet but what is never shown."""
        self.refusals = [np.zeros(len(o), dtype=bool) for o in self.levels[:-1]]
        self.refusals.append(self.never.copy())

    @property
    def refused(self) -> Flags:
        """Values, or cuts, that are never shown, or that a sweep refused."""
        return self.refusals[-1]

    def copy(self) -> SuppressedAttribute:
        """The same; what is shown later in one is not shown in the other."""
        other = SuppressedAttribute(
            self.domain,
            self.classes,
            ordered=self.ordered,
            never=self.never,
            taxonomy=self.taxonomy,
        )
        other.adopt(self)
        return other

    def adopt(self, other: SuppressedAttribute) -> None:
        """Show what another state of the column shows."""
        self.hidden, self.cuts = other.hidden.copy(), [*other.cuts]
        self.climbed = other.climbed.copy()

    def find_open(self, level: int) -> Flags:
        """The values that a node of a level would show more of."""
        return np.asarray(self.hidden & (self.climbed < level))

    def list_nodes(self, level: int) -> Ints:
        """The nodes of a level that could be shown, as far as is known."""
        if level == len(self.levels) - 1:
            return np.flatnonzero(self.hidden & ~self.refused)
        own, refused = self.levels[level], self.refusals[level]
        return find_nodes(own, self.find_open(level), refused)

    def place(self, level: int, nodes: Ints) -> Ints:
        """The place of each value among some nodes; -1: none of them."""
        return place_values(self.levels[level], self.find_open(level), nodes)

    def show(self, level: int, nodes: Ints) -> None:
        """Show some nodes of a level."""
        at = np.flatnonzero(self.place(level, nodes) >= 0)
        if level == len(self.levels) - 1:
            self.hidden[at] = False
        else:
            self.climbed[at] = level

    def name_nodes(self, level: int, nodes: Ints) -> tuple[str | None, ...]:
        """What nodes of a level are called."""
        above = self.taxonomy.names if self.taxonomy else ()
        names = [*above, self.domain.labels][level]
        return tuple(names[n] for n in nodes.tolist())

    def find_alone(self) -> Flags:
        """Values that are the only ones with their label: as good as shown."""
        there = np.flatnonzero(self.classes.any(axis=1))
        _, of = np.unique(self.number_labels()[there], return_inverse=True)
        alone = np.zeros(len(self), dtype=bool)
        alone[there] = (np.bincount(of) == 1)[of] if len(there) else False
        return alone

    def number_labels(self) -> Ints:
        """What is shown of each value: 0 for what is hidden, or its interval."""
        above = number_sides(self.levels[:-1], self.climbed, len(self) + 1)
        label = np.where(self.hidden, above, np.arange(len(self)) + 1)
        if self.ordered:
            for i, (low, high) in enumerate(self.list_intervals()):
                label[low : high + 1] = i
        return np.asarray(label)

    def list_intervals(self) -> list[tuple[int, int]]:
        """The intervals of an ordered column, as first and last code."""
        ends = [*sorted(self.cuts), len(self) - 1]
        starts = [0, *(c + 1 for c in sorted(self.cuts))]
        return list(zip(starts, ends, strict=True))

    def find_interval(self, code: int) -> tuple[int, int]:
        """The interval a code lies in."""
        return next(i for i in self.list_intervals() if i[0] <= code <= i[1])


@dataclass(frozen=True)
class Candidates:
    """The candidates of one attribute, one row each."""

    codes: Ints
    gain: Floats
    beneficial: Flags


class DisclosureState:
    """The state of a top-down disclosure; see `privet.release.refine`."""

    def __init__(
        self,
        attributes: Sequence[SuppressedAttribute],
        cubes: Sequence[Cube],
        *,
        utility: Utility,
        maximal: bool,
        split: str,
    ) -> None:
        self.attributes = list(attributes)
        self.cubes = list(cubes)
        self.utility = utility
        self.maximal = maximal
        self.split = split
        self._outlooks = {
            (q, a): ConfAfterDisclosure.empty(len(self.attributes[a]), cube.rules)
            for q, cube in enumerate(cubes)
            for a in cube.attributes
        }
        for q, cube in enumerate(cubes):
            self._look_ahead(q, cube, cube.view())

    def _find_open_values(self, a: int) -> Flags:
        """Which values may be shown yet; what breaks a promise will always do so."""
        attribute = self.attributes[a]
        if attribute.ordered:
            return np.ones(len(attribute), dtype=bool)
        pool = attribute.classes[attribute.hidden]
        if not self.maximal and not self.utility.is_beneficial(pool):
            return np.zeros(len(attribute), dtype=bool)
        return np.asarray(self._find_valid(a) & attribute.hidden)

    def find_worst_belief(self) -> Fraction:
        """The highest confidence of any template."""
        confidences = [c for cube in self.cubes for c in cube.confidences]
        return max(confidences, default=Fraction(0))

    # Choosing -----------------------------------------------------------------------

    def find_best_move(self) -> Disclosure | None:
        """The best valid and beneficial move; beneficial or not once none is."""
        moves = [
            m for a in range(len(self.attributes)) for m in self._list_moves(a, True)
        ]
        if not moves and self.maximal:
            moves = [
                m
                for a in range(len(self.attributes))
                for m in self._list_moves(a, False)
            ]
        return self._choose_winner(moves)

    def _choose_winner(self, moves: list[Disclosure]) -> Disclosure | None:
        """The winner: Score, then lower PrivLoss, then order of columns and values."""
        if not moves:
            return None
        # Scores that differ by rounding alone are ties.
        top = max(m.score for m in moves) - TIE
        moves = [m for m in moves if m.score >= top]
        least = min(m.loss for m in moves) + TIE
        return min(
            (m for m in moves if m.loss <= least),
            key=lambda m: (m.attribute, self._rank(m)),
        )

    def _rank(self, move: Disclosure) -> tuple[object, ...]:
        attribute = self.attributes[move.attribute]
        if attribute.ordered:
            return (move.code,)
        label = attribute.domain[move.code]
        return (label is not None, label or "")

    def _list_moves(self, a: int, only_beneficial: bool) -> list[Disclosure]:
        """The moves of one attribute that can win: valid ones of the best score."""
        offer = self._list_candidates(a)
        if offer is None:
            return []
        valid = self._find_valid(a)[offer.codes]
        if only_beneficial:
            valid &= offer.beneficial
        at = np.flatnonzero(valid)
        if len(at) == 0:
            return []
        codes, gain = offer.codes[at], offer.gain[at]
        loss = self._loss(a)[codes]
        score = gain / (loss + 1)
        close = np.flatnonzero(score >= score.max() - TIE)
        name = self.attributes[a].domain.name
        return [
            Disclosure(
                a, int(codes[i]), float(gain[i]), float(loss[i]), float(score[i]), name
            )
            for i in close
        ]

    def _list_candidates(self, a: int) -> Candidates | None:
        attribute = self.attributes[a]
        if attribute.ordered:
            return self._choose_cuts(a)
        codes = np.flatnonzero(attribute.hidden)
        if len(codes) == 0:
            return None
        classes = attribute.classes[codes]
        several = self.utility.is_beneficial(classes)
        gain = self.utility.compute_value_gains(classes)
        return Candidates(codes, gain, np.full(len(codes), several))

    def _choose_cuts(self, a: int) -> Candidates | None:
        """One cut per interval: the most informative, or the best valid one."""
        attribute = self.attributes[a]
        valid = self._find_valid(a)
        codes, gains, several = [], [], []
        for low, high in attribute.list_intervals():
            classes = attribute.classes[low : high + 1]
            gain = self.utility.compute_cut_gains(classes)
            if self.split == "valid":
                # No cut comes after `high`: one entry fewer than values.
                gain = np.where(valid[low:high], gain, -np.inf)
            if len(gain) == 0 or gain.max() == -np.inf:
                continue
            best = int(np.flatnonzero(gain >= gain.max() - TIE)[0])
            codes.append(low + best)
            gains.append(float(gain[best]))
            several.append(self.utility.is_beneficial(classes))
        if not codes:
            return None
        return Candidates(np.array(codes), np.array(gains), np.array(several))

    def _find_valid(self, a: int) -> Flags:
        valid = ~self.attributes[a].never
        for outlook in self._list_outlooks(a):
            valid &= ~outlook.broken
        return valid

    def _list_outlooks(self, a: int) -> list[ConfAfterDisclosure]:
        return [self._outlooks[q, a] for q, cube in self._find_cubes(a)]

    def _find_cubes(self, a: int) -> list[tuple[int, Cube]]:
        return [(q, c) for q, c in enumerate(self.cubes) if a in c.attributes]

    def _loss(self, a: int) -> Floats:
        """PrivLoss: the average rise of Conf over the templates with the attribute."""
        rise = np.zeros(len(self.attributes[a]))
        rules = 0
        for q, cube in self._find_cubes(a):
            # A line per template: one number now, one ahead for each value.
            now = np.array([[float(c)] for c in cube.confidences])
            ahead = self._outlooks[q, a].confidence
            rise += np.maximum(ahead - now, 0).sum(axis=0)
            rules += cube.rules
        return np.asarray(rise / rules)

    def count_left(self) -> dict[str, int]:
        """How many values of each column could be shown now, or cuts be made."""
        found = {}
        for a, attribute in enumerate(self.attributes):
            offer = self._list_candidates(a)
            valid = 0 if offer is None else int(self._find_valid(a)[offer.codes].sum())
            if valid:
                found[attribute.domain.name] = valid
        return found

    def may_show_more(self) -> bool:
        """Whether a value or a cut is left that is not known to break a promise."""
        for a, attribute in enumerate(self.attributes):
            valid = self._find_valid(a)
            if attribute.ordered:
                spans = attribute.list_intervals()
                if any(valid[low:high].any() for low, high in spans):
                    return True
            # The last hidden value of a column is shown whatever comes.
            elif attribute.hidden.sum() > 1 and (valid & attribute.hidden).any():
                return True
        return False

    # Moving -------------------------------------------------------------------------

    def apply(self, move: Disclosure) -> DisclosureStep:
        """Show the value, or cut the column, in every cube that has it."""
        attribute = self.attributes[move.attribute]
        low = high = move.code
        if attribute.ordered:
            # [0, 9] cut after 4: codes 0 to 4 go, 5 to 9 stay.
            low, _ = attribute.find_interval(move.code)
            attribute.cuts.append(move.code)
        else:
            attribute.hidden[move.code] = False
        for q, cube in self._find_cubes(move.attribute):
            self._look_ahead(q, cube, cube.split(move.attribute, low, high))
        return DisclosureStep(
            attribute.domain.name,
            attribute.domain[move.code],
            attribute.ordered,
            move.gain,
            move.loss,
            move.score,
            tuple(c for cube in self.cubes for c in cube.confidences),
        )

    def _look_ahead(self, q: int, cube: Cube, groups: CubeGroups) -> None:
        """Look ahead from some groups; what was seen before stays true."""
        wanted = [self._find_open_values(a) for a in cube.attributes]
        ordered = [self.attributes[a].ordered for a in cube.attributes]
        found = cube.look_ahead(groups, wanted, ordered)
        for a, fresh in zip(cube.attributes, found, strict=True):
            known = self._outlooks[q, a]
            # Entries of groups split since may stay: the worse part is at least as bad.
            np.maximum(known.confidence, fresh.confidence, out=known.confidence)
            known.broken |= fresh.broken


# InfoGain ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Utility:
    """What disclosing a value is worth to the analyst: InfoGain, or another gain."""

    kind: str = "information"
    """Information about the target, or the number of cells shown."""
    of_everybody: int = 0
    """The number of rows, where gains are weighted by the share of the pool."""
    yours: UserGain | None = None
    """Somebody's own measure."""

    def is_beneficial(self, classes: Ints) -> bool:
        """Whether the pool has anything to tell: more than one class."""
        if self.kind != "information":
            return True
        return int((classes.sum(axis=0) > 0).sum()) > 1

    def compute_value_gains(self, classes: Ints) -> Floats:
        """InfoGain: the gain of taking each value out of the suppressed pool."""
        if self.yours is not None:
            return self._compute_user_gain(classes)
        if self.kind == "distortion":
            return np.asarray(classes.sum(axis=1), dtype=np.float64)
        return self._gain(classes, classes.sum(axis=0))

    def _compute_user_gain(self, classes: Ints) -> Floats:
        assert self.yours is not None
        gain = np.asarray(self.yours(classes), dtype=np.float64)
        if gain.shape != (len(classes),) or not np.isfinite(gain).all():
            raise InputError(
                "utility must give one finite number per hidden value; "
                f"got an array of shape {gain.shape}."
            )
        return gain

    def compute_cut_gains(self, classes: Ints) -> Floats:
        """The gain of cutting after each value but the last."""
        below = np.cumsum(classes, axis=0)[:-1]
        if self.yours is not None:
            pool = classes.sum(axis=0)
            # A cut makes two values of the pool: below, and the rest.
            halves = [
                self._compute_user_gain(np.stack([b, pool - b]))[0] for b in below
            ]
            return np.array(halves)
        if self.kind == "distortion":
            return np.asarray(below.sum(axis=1), dtype=np.float64)
        return self._gain(below, classes.sum(axis=0))

    def _gain(self, inside: Ints, pool: Ints) -> Floats:
        """InfoGain: E(pool) - |in| / |pool| E(in) - |rest| / |pool| E(rest)."""
        # A line per candidate, a column per class. Two yes out of 2 yes, 2 no: 1 bit.
        whole = max(int(pool.sum()), 1)  # an interval of empty bins has nobody
        taken = inside.sum(axis=1)
        gain: Floats = (
            compute_entropy(pool[None, :])
            - taken / whole * compute_entropy(inside)
            - (whole - taken) / whole * compute_entropy(pool - inside)
        )
        return gain * float(whole / self.of_everybody) if self.of_everybody else gain


def compute_entropy(classes: Ints) -> Floats:
    """Entropy in bits of each row of counts; 0 for an empty row."""
    whole = classes.sum(axis=1, keepdims=True)
    share = np.divide(classes, whole, out=np.zeros(classes.shape), where=whole > 0)
    logs = np.log2(share, out=np.zeros(classes.shape), where=share > 0)
    entropy: NDArray[np.float64] = -(share * logs).sum(axis=1)
    return entropy
