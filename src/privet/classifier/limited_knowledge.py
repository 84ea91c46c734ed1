"""Limited knowledge: what somebody believes who takes the unknown for something.

Whoever may average the attributes that are not known over any distribution can be as
sure as whoever knows all: the belief is linear in that distribution, so its extremes
are at single completions. Less is believed only by somebody whose reading of the
unknown is declared: the published model, independent shares (tilted, perhaps), every
joint distribution with given marginals, or the rows of a public table.
Not in the paper: its section 4 lets an adversary know every quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import ceil, comb, floor, prod
from typing import Any, Protocol

import numpy as np

from privet.classifier.posteriors.posterior_bounds import (
    PosteriorBound,
    find_extreme_posterior,
)
from privet.classifier.scores import Floats, Known, Scores
from privet.errors import InputError
from privet.values.adversaries import Bayesian

MOST_COMPLETIONS = 1_000_000
"""Whole tuples that are looked at one by one."""

MOST_WORK = 20_000_000
"""Whole tuples times sets of known attributes that are looked at."""

MOST_PROGRAMS, LARGEST_PROGRAM = 2_000, 4_096
"""Linear programs that are solved, and completions of one."""

MOST_EXACT = 4_000
"""Completions of which a belief is averaged in fractions."""

NOISE, DIGITS = 1e-10, 10**11
"""How far sums of floats may be off; and how many digits of them are told."""


class Named(Protocol):
    """Scores whose attributes and values have names."""

    @property
    def scores(self) -> Scores:
        """The scores."""

    @property
    def attributes(self) -> Sequence[Any]:
        """The columns, each with its name and values."""

    def victim_index(self, name: str) -> int:
        """Where an attribute stands."""

    def victim(self, known: Mapping[str, str | None]) -> dict[int, int]:
        """What is known of a person, by index."""


# Anything at all --------------------------------------------------------------------


def find_any_extreme(
    scores: Scores, fixed: Known, label: int, *, highest: bool, skips: bool
) -> PosteriorBound:
    """The extreme belief over all completions of what is known of somebody.

    Where an attribute that is not known may add nothing (`skips`), as on a scorecard,
    that counts as one more value of it.
    """
    rest = restrict(scores, fixed)
    found = find_extreme_posterior(
        rest, label, highest=highest, attributes=rest.attributes if skips else None
    )
    known = {i: t for i, t in found.known.items() if i not in fixed}
    return PosteriorBound(found.value, found.bound, {**known, **fixed})


def restrict(scores: Scores, fixed: Known) -> Scores:
    """The scores of everybody who fits what is known: its values weigh on classes."""
    if not fixed:
        return Scores(scores.weights, scores.factors, realistic=True)
    ones, weights = (Fraction(1),) * scores.classes, scores.of(fixed)
    if not all(weights):  # a class that nobody who fits has: it stays as a value
        factors = [
            (t[fixed[i]],) if i in fixed else t for i, t in enumerate(scores.factors)
        ]
        return Scores(scores.weights, tuple(factors), realistic=True)
    factors = [(ones,) if i in fixed else t for i, t in enumerate(scores.factors)]
    return Scores(weights, tuple(factors), realistic=True)


# Declared readings ------------------------------------------------------------------


@dataclass(frozen=True)
class _KnownSet:
    """Some attributes that are known: completions as (values known, values unknown)."""

    known: tuple[int, ...]
    """The attributes."""
    shape: tuple[int, ...]
    """How many values each has."""

    def at(self, place: int) -> dict[int, int]:
        """The values known at a place of the first axis."""
        values = np.unravel_index(place, self.shape) if self.shape else ()
        return {i: int(t) for i, t in zip(self.known, values, strict=True)}


class DeclaredReading:
    """Somebody's beliefs under a declared reading of the attributes not known."""

    def __init__(self, views: Named, against: Bayesian) -> None:
        self.views, self.against = views, against
        self.scores = views.scores
        self.way: str = against.reading
        self.sizes = [len(table) for table in self.scores.factors]
        self.fixed: dict[int, int] = {}
        self.allowed = list(range(self.scores.attributes))
        self.most = len(self.allowed)
        if isinstance(against.knows, Mapping):
            self.fixed = views.victim(against.knows)
            self.allowed, self.most = [], 0
        elif isinstance(against.knows, tuple):
            self.allowed = [views.victim_index(name) for name in against.knows]
            self.most = len(self.allowed)
        elif isinstance(against.knows, int):
            self.most = min(against.knows, self.most)
        self.declared = self._read_declared()

    # What was declared ----------------------------------------------------------------

    def _read_declared(self) -> Any:
        """Shares by attribute and value, or how many rows each tuple has."""
        assert isinstance(self.against.unknown, Mapping)
        told = self.against.unknown[self.way]
        return self._read_rows(told) if self.way == "table" else self._read_each(told)

    def _read_each(self, told: Mapping[str, Any]) -> list[list[Fraction]]:
        for name in told:
            self.views.victim_index(name)
        found = []
        for i, attribute in enumerate(self.views.attributes):
            if attribute.name not in told:
                if i not in self.fixed:
                    raise InputError(
                        f"unknown must give {self.way} for every attribute that may "
                        f"not be known; {attribute.name!r} has none."
                    )
                found.append([Fraction(1)] * len(attribute.values))
                continue
            shares = told[attribute.name]
            if strange := [v for v in shares if attribute.code(v) is None]:
                raise InputError(
                    f"unknown must give {self.way} for values that occur in "
                    f"{attribute.name!r}; {strange[0]!r} does not."
                )
            found.append([shares.get(v, Fraction(0)) for v in attribute.values])
        return found

    def _read_rows(self, told: Sequence[Mapping[str, str]]) -> dict[Any, int]:
        found: dict[tuple[int, ...], int] = {}
        for row in told:
            codes = self.views.victim(
                {a.name: row[a.name] for a in self.views.attributes if a.name in row}
            )
            if len(codes) < self.scores.attributes:
                raise InputError(
                    "unknown must give a table with every attribute in every row; one "
                    "is missing."
                )
            key = tuple(codes[i] for i in range(self.scores.attributes))
            found[key] = found.get(key, 0) + 1
        return found

    # Completions ----------------------------------------------------------------------

    @property
    def is_small(self) -> bool:
        """Whether all completions can be looked at, for everything that is known."""
        cells = prod(self.sizes)
        sets = len(self._list_lengths()) and sum(
            comb(len(self.allowed), size) for size in self._list_lengths()
        )
        if cells * self.scores.classes > MOST_COMPLETIONS or sets * cells > MOST_WORK:
            return False
        return self.way != "marginals" or self._has_few_programs()

    def _has_few_programs(self) -> bool:
        try:
            import scipy.optimize  # noqa: F401 - comes with the extra `learn`
        except ImportError:
            return False
        several = [
            prod(self.sizes[i] for i in known)
            for size in self._list_lengths()
            for known in combinations(self.allowed, size)
        ]
        return (
            sum(several) <= MOST_PROGRAMS
            and prod(n for i, n in enumerate(self.sizes) if i not in self.fixed)
            <= LARGEST_PROGRAM
        )

    def _list_lengths(self) -> list[int]:
        """How many attributes are known, where the worst case may be."""
        if self.way == "marginals" or self.against.tilt > 1:
            return list(range(self.most + 1))
        # An average over one more attribute never passes its own worst value.
        return [self.most]

    @cached_property
    def posteriors(self) -> Floats:
        """The belief in each class, by values of all attributes; nan: nobody fits."""
        found: Floats = self.scores.log_weights
        for table in self.scores.log_factors:
            found = found[..., None, :] + table
        with np.errstate(invalid="ignore"):
            shares: Floats = np.exp2(found - found.max(axis=-1, keepdims=True))
            shares = shares / shares.sum(axis=-1, keepdims=True)
        for i in range(self.scores.attributes):
            if i in self.fixed:
                shares = shares.take([self.fixed[i]], axis=i)
        return shares

    @cached_property
    def weights(self) -> Floats:
        """How likely each completion is, as declared; a table's rows by tuple."""
        shape = [1 if i in self.fixed else n for i, n in enumerate(self.sizes)]
        found: Floats = np.zeros(shape)
        for key, n in self.declared.items():
            at = tuple(0 if i in self.fixed else t for i, t in enumerate(key))
            if all(key[i] == t for i, t in self.fixed.items()):
                found[at] += n
        return found

    def _weigh(self, known: Sequence[int]) -> Floats:
        """How likely completions are where these attributes are known."""
        if self.way == "table":
            return self.weights
        found: Floats = np.ones([1] * self.scores.attributes)
        for i, shares in enumerate(self.declared):
            if i not in known and i not in self.fixed:
                along = [1] * self.scores.attributes
                along[i] = len(shares)
                found = found * np.array(shares, dtype=float).reshape(along)
        return np.broadcast_to(found, self.posteriors.shape[:-1])

    # The worst case -------------------------------------------------------------------

    def find_extreme(
        self, labels: Sequence[int], *, highest: bool, before: Fraction
    ) -> PosteriorBound:
        """The highest or lowest belief in a set of classes over all that may be known.

        Where there is too much to look at, what whoever knows all can reach is the
        bound, and the belief `before` stands for one that is attained.
        """
        if not self.is_small:
            return self._bound_by_any(labels, highest, before)
        if highest:
            return self._find_highest(labels)
        # The lowest belief in some classes is the highest in all others.
        others = [c for c in range(self.scores.classes) if c not in labels]
        found = self._find_highest(others)
        return PosteriorBound(1 - found.value, 1 - found.bound, found.known)

    def _bound_by_any(
        self, labels: Sequence[int], highest: bool, before: Fraction
    ) -> PosteriorBound:
        found = [
            find_any_extreme(
                self.scores, self.fixed, label, highest=highest, skips=False
            )
            for label in labels
        ]
        bound = min(sum((f.bound for f in found), start=Fraction(0)), Fraction(1))
        value = min(before, bound) if highest else max(before, bound)
        return PosteriorBound(value, bound, found[0].known)

    def _find_highest(self, labels: Sequence[int]) -> PosteriorBound:
        belief = self.posteriors[..., list(labels)].sum(axis=-1)
        best: list[tuple[float, float, _KnownSet, int]] = []
        for seen in self._list_known_sets():
            low, high = self._average(belief, seen)
            if not np.isnan(high).all():
                place = int(np.nanargmax(high))
                best.append((float(high[place]), float(low[place]), seen, place))
        if not best:
            return PosteriorBound(Fraction(0), Fraction(0), {})
        top = max(b[0] for b in best)
        return self._settle(labels, [b for b in best if b[0] >= top - 1e-9])

    def _settle(
        self,
        labels: Sequence[int],
        best: Sequence[tuple[float, float, _KnownSet, int]],
    ) -> PosteriorBound:
        """The largest of candidates that floats cannot tell apart, in fractions."""
        high, low, seen, place = max(best, key=lambda b: (b[0], b[1]))
        known = {**seen.at(place), **self.fixed}
        exactly = self._average_exactly(labels, best)
        if exactly is not None:
            return PosteriorBound(exactly[0], exactly[0], exactly[1])
        # Outwards, to as many digits as the noise has.
        value = Fraction(floor((low - NOISE) * DIGITS), DIGITS)
        bound = Fraction(ceil((high + NOISE) * DIGITS), DIGITS)
        return PosteriorBound(max(value, Fraction(0)), min(bound, Fraction(1)), known)

    def _list_known_sets(self) -> Iterator[_KnownSet]:
        for size in self._list_lengths():
            for known in combinations(sorted(self.allowed), size):
                shape = tuple(self.sizes[i] for i in known)
                yield _KnownSet(known, shape)

    def _in_lines(self, cells: Floats, seen: _KnownSet) -> Floats:
        """Cells by (values known, values unknown)."""
        moved = np.moveaxis(cells, seen.known, range(len(seen.known)))
        lines: Floats = moved.reshape(prod(seen.shape), -1)
        return lines

    def _average(self, belief: Floats, seen: _KnownSet) -> tuple[Floats, Floats]:
        """What is attained and never passed, by values known; nan: nobody fits."""
        q = self._in_lines(belief, seen)
        possible = ~np.isnan(q)
        w = self._in_lines(self._weigh(seen.known), seen) * possible
        q = np.where(possible, q, 0.0)
        whole = w.sum(axis=1, keepdims=True)
        # Where what is declared has no such person, nothing is declared of them.
        silent = whole[:, 0] <= 0
        with np.errstate(invalid="ignore", divide="ignore"):
            w = w / whole
        if self.way == "marginals":
            low, high = self._solve_programs(q, w, possible, seen)
        elif self.against.tilt > 1:
            low = high = _tilt(q, w, float(self.against.tilt))
        else:
            low = high = (q * w).sum(axis=1)
        most = np.where(possible, q, -1.0).max(axis=1)
        nobody = ~possible.any(axis=1)
        high = np.where(silent, most, high)
        low = np.where(silent, most, low)
        high[nobody] = np.nan
        return low, high

    # Marginals ------------------------------------------------------------------------

    def _solve_programs(
        self, q: Floats, w: Floats, possible: Any, seen: _KnownSet
    ) -> tuple[Floats, Floats]:
        """The most over every joint distribution with the marginals given."""
        rows, sums = self._list_margins(seen)
        solved = [
            _solve_program(q[line], rows, sums, possible[line])
            for line in range(len(q))
        ]
        low, high = zip(*solved, strict=True)
        return np.array(low), np.array(high)

    def _list_margins(self, seen: _KnownSet) -> tuple[Floats, Floats]:
        """For each value of each attribute not known: its completions, its share."""
        axes = [
            i
            for i in range(self.scores.attributes)
            if i not in seen.known and i not in self.fixed
        ]
        shape = [self.sizes[i] for i in axes]
        rows, sums = [np.ones(prod(shape))], [1.0]
        for a, i in enumerate(axes):
            codes = np.indices(shape)[a].ravel()
            for t, share in enumerate(self.declared[i]):
                rows.append((codes == t).astype(float))
                sums.append(float(share))
        return np.array(rows), np.array(sums)

    # Exactly --------------------------------------------------------------------------

    def _average_exactly(
        self,
        labels: Sequence[int],
        best: Sequence[tuple[float, float, _KnownSet, int]],
    ) -> tuple[Fraction, dict[int, int]] | None:
        """The same in fractions, where the candidates are few; None elsewhere."""
        unknown = [prod(self.sizes) // prod(seen.shape) for _, _, seen, _ in best]
        if self.way == "marginals" or sum(unknown) > MOST_EXACT:
            return None
        found = []
        for _, _, seen, place in best:
            known = {**seen.at(place), **self.fixed}
            found.append((self._average_one(labels, known), known))
        return max(found, key=lambda f: f[0])

    def _average_one(self, labels: Sequence[int], known: Known) -> Fraction:
        """The belief of somebody who knows this, in fractions."""
        lines = []
        for values in product(
            *([known[i]] if i in known else range(n) for i, n in enumerate(self.sizes))
        ):
            scores = self.scores.of(dict(enumerate(values)))
            total = sum(scores)
            if total:
                belief = sum((scores[c] for c in labels), start=Fraction(0)) / total
                lines.append((belief, self._weigh_one(values, known)))
        whole = sum((w for _, w in lines), start=Fraction(0))
        if not whole:
            return max(q for q, _ in lines)
        left, found = Fraction(1), Fraction(0)
        for q, w in sorted(lines, reverse=True):
            part = min(left, self.against.tilt * w / whole)
            left, found = left - part, found + part * q
        return found

    def _weigh_one(self, values: Sequence[int], known: Known) -> Fraction:
        if self.way == "table":
            return Fraction(self.declared.get(tuple(values), 0))
        return prod(
            (self.declared[i][t] for i, t in enumerate(values) if i not in known),
            start=Fraction(1),
        )


def _tilt(q: Floats, w: Floats, tilt: float) -> Floats:
    """The most over every distribution at most so many times as likely: sort and fill.

    Beliefs 0.9 and 0.1, even chances, a tilt of 3/2: 3/4 of the first and 1/4 of the
    second are 0.7.
    """
    order = np.argsort(-q, axis=1)
    best = np.take_along_axis(q, order, axis=1)
    filled = np.minimum(np.cumsum(tilt * np.take_along_axis(w, order, axis=1), 1), 1.0)
    found: Floats = (np.diff(filled, axis=1, prepend=0.0) * best).sum(axis=1)
    return found


def _solve_program(
    q: Floats, rows: Floats, sums: Floats, possible: Any
) -> tuple[float, float]:
    """The most that a linear program attains, and what its dual proves."""
    from scipy.optimize import linprog

    limits = [(0.0, None if there else 0.0) for there in possible]
    solved = linprog(-q, A_eq=rows, b_eq=sums, bounds=limits, method="highs")
    top = float(np.where(possible, q, 0.0).max())
    if solved.status != 0:  # no joint distribution fits what can be
        return top, top
    # Any prices of the margins prove a bound: their own sum, and what a completion is
    # worth beyond them at most.
    prices = -solved.eqlin.marginals
    beyond = float((q - prices @ rows)[possible].max())
    return float(-solved.fun), min(top, float(prices @ sums) + max(beyond, 0.0))
