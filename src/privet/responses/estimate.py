"""Estimates of true shares P(E) from disguised rows alone: the verb `estimate`.

Counts of reports are undone once, for the unbiased estimate and the likeliest one, with
its standard error and intervals.
Zhan, Chang, Matwin 2004, sections 3.1 to 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, floor, inf, isinf, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.display import Displayed
from privet.engine.protocol import Listener, Run
from privet.engine.sources.dataframes import list_frame_options
from privet.errors import EmptyTable, InputError
from privet.languages import mark
from privet.responses.channel_inverse import (
    Tensor,
    apply_channel,
    covariance,
    invert_channel,
    maximise_likelihood,
    variance,
    weigh_reports,
)
from privet.responses.channels import Matrix
from privet.responses.design import Design, MarginalChannel, design_of
from privet.responses.design_misfit import DesignMisfit, find_misfit
from privet.responses.expressions import (
    Expression,
    evaluate_event,
    express_equalities,
    parse_expression,
)
from privet.responses.intervals import hoeffding, read_confidence, sure_interval, wilson
from privet.responses.release import Responses
from privet.table import Table, read
from privet.values.exact import EXACT, Number

FEWEST = 30
"""Answers from which on an interval is taken from a standard error."""

EXACT_CELLS = 4096
"""Up to so many cells estimates are computed in fractions first."""


# From counts of reports -------------------------------------------------------------


@dataclass(frozen=True)
class Estimate(Displayed):
    """A share of the truth, and how far to trust it."""

    value: float
    """The likeliest share: always from 0 to 1."""
    unbiased: float
    """Right on average; may lie outside of 0 to 1."""
    standard_error: float
    """Of the unbiased estimate: chance of sampling and of the disguise. Infinite for
    one answer."""
    interval: tuple[float, float]
    """Where the truth lies, with the confidence asked for; within 0 to 1."""
    unclipped: tuple[float, float]
    """The same interval before it was cut to 0 and 1."""
    confidence: float = 0.95
    """How often such intervals hold the truth."""
    n: int = 0
    """From how many answers."""
    note: str = ""
    """What else must be said."""
    sure: tuple[float, float] | None = None
    """A wider one that needs no normal distribution: it holds at least as often."""

    @property
    def estimable(self) -> bool:
        """Whether the answers say anything: the interval is narrower than 0 to 1."""
        return self.interval[1] - self.interval[0] < 1

    @staticmethod
    def unrelated(
        first: tuple[int, int],
        second: tuple[int, int],
        truths: tuple[Number, Number],
        *,
        confidence: Number = 0.95,
    ) -> tuple[Estimate, Estimate]:
        """Shares of two questions, one of them unrelated, from two samples.

        Parameters
        ----------
        first, second
            How many said yes, of how many.
        truths
            With which probability the question that is meant was answered in each.
        confidence
            Of the intervals.
        """
        from privet.responses.unrelated_question import estimate_from_two_samples

        return estimate_from_two_samples(first, second, truths, confidence=confidence)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "value": self.value,
            "unbiased": self.unbiased,
            "standard_error": None
            if isinf(self.standard_error)
            else self.standard_error,
            "interval": list(self.interval),
            "unclipped": list(self.unclipped),
            "confidence": self.confidence,
            "n": self.n,
            "sure": None if self.sure is None else list(self.sure),
            "note": self.note,
        }

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Estimate({self.value:.4g}, unbiased {self.unbiased:.4g} "
            f"± {self.standard_error:.2g}, {100 * self.confidence:g}% from {low:.4g} "
            f"to {high:.4g}, n = {self.n:,})"
        )


def estimate_share(
    pieces: tuple[MarginalChannel, ...],
    counts: NDArray[np.int64],
    where: NDArray[np.bool_],
    *,
    confidence: float,
) -> Estimate:
    """One share from counts of reports."""
    return SolvedCounts(pieces, counts).estimate(where, confidence=confidence)


@dataclass(frozen=True)
class SolvedCounts:
    """Counts of reports, undone once for all shares that are asked of them."""

    pieces: tuple[MarginalChannel, ...]
    """Between the columns and their reports."""
    counts: NDArray[np.int64]
    """How often each combination was reported, one axis per piece."""
    inside: NDArray[np.bool_] | None = None
    """Which combinations are there at all; None: all."""

    @cached_property
    def n(self) -> int:
        """How many answers there are."""
        return count_answers(self.counts)

    @cached_property
    def undone(self) -> Tensor:
        """Unbiased counts of the truth, in fractions where there are few cells."""
        long = any(
            isinstance(p.channel, Matrix) and p.size > EXACT for p in self.pieces
        )
        if long or self.counts.size > EXACT_CELLS:
            return invert_channel(self.pieces, self.counts.astype(float))
        # Fractions as objects: numpy adds and multiplies them as they are.
        return invert_channel(self.pieces, self.counts.astype(object) * Fraction(1))

    @cached_property
    def likeliest(self) -> Tensor:
        """The likeliest shares."""
        return maximise_likelihood(self.pieces, self.counts)

    def estimate_unbiased(self, where: NDArray[np.bool_]) -> float:
        """The unbiased share of some combinations."""
        return float(self.undone[where].sum() / self.n)

    def estimate(self, where: NDArray[np.bool_], *, confidence: float) -> Estimate:
        """The share of some combinations."""
        n, raw = self.n, self.estimate_unbiased(where)
        weight = weigh_reports(self.pieces, where.astype(float))
        spread = float(variance(self.counts / n, weight, n)) if n > 1 else inf
        error = sqrt(max(spread, 0.0))
        here = np.ones(weight.shape, bool) if self.inside is None else self.inside
        seen, counted = self.counts[here], weight[here]
        wide = max(error, self._find_fitted_error(weight))
        usual, sure = find_intervals(seen, counted, raw, wide, confidence)
        value = min(max(float((self.likeliest * where).sum()), 0.0), 1.0)
        ends = _include(cut_interval(usual, sure), value)
        return Estimate(
            value,
            raw,
            error,
            ends,
            usual,
            confidence,
            n,
            _WIDE if ends == (0.0, 1.0) else "",
            clip_interval(sure),
        )

    def _find_fitted_error(self, weight: Tensor) -> float:
        """The standard error under the likeliest shares.

        Where reports are hardly possible the error among them may be far too small.
        """
        if self.n < 2:
            return inf
        seen = apply_channel(self.pieces, self.likeliest)
        return sqrt(max(float(variance(seen, weight, self.n)), 0.0))

    def ratio(
        self,
        both: NDArray[np.bool_],
        given: NDArray[np.bool_],
        *,
        confidence: float,
    ) -> Estimate:
        """The share among those for whom something disguised is true.

        By the delta method: a quotient of estimates is not unbiased, and its error is
        right for many answers.
        """
        n, whole = self.n, self.estimate_unbiased(given)
        if whole <= 0:
            raise InputError(
                "Not estimable: the share of those that are given is estimated at 0 or "
                "less. Ask more people."
            )
        raw = self.estimate_unbiased(both) / whole
        part, all_ = (
            weigh_reports(self.pieces, e.astype(float)) for e in (both, given)
        )
        # Of a/b the change is (da - (a/b) db) / b: what each report counts.
        score = (part - raw * all_) / whole
        spread = float(variance(self.counts / n, score, n)) if n > 1 else inf
        error = sqrt(max(spread, 0.0))
        sure = self._bound_ratio(both, given, (part, all_), confidence)
        usual = sure
        if n >= FEWEST and error:
            z = NormalDist().inv_cdf((1 + confidence) / 2)
            usual = spread_interval(raw, z * error)
        share = float((self.likeliest * given).sum())
        value = float((self.likeliest * both).sum()) / share if share > 0 else raw
        value = min(max(value, 0.0), 1.0)
        ends = _include(cut_interval(usual, sure), value)
        note = _WIDE if ends == (0.0, 1.0) else ""
        return Estimate(value, raw, error, ends, usual, confidence, n, note, sure)

    def _bound_ratio(
        self,
        both: NDArray[np.bool_],
        given: NDArray[np.bool_],
        weight: tuple[Tensor, Tensor],
        confidence: float,
    ) -> Ends:
        """Both shares within Hoeffding's bounds at once; their quotient between."""
        # Each may miss half as often: 97.5 % each are 95 % of both.
        each = (1 + confidence) / 2
        part, whole = (
            hoeffding(float(w.max() - w.min()), self.n, each) for w in weight
        )
        top, below = self.estimate_unbiased(both), self.estimate_unbiased(given)
        low = max(top - part, 0.0) / (below + whole)
        high = (top + part) / (below - whole) if below > whole else 1.0
        return clip_interval((low, high))


_WIDE = mark("Not estimable: the interval is all there is. Ask more people.")


Ends = tuple[float, float]


def find_intervals(
    counts: NDArray[np.int64],
    weight: Tensor,
    raw: float,
    error: float,
    confidence: float,
) -> tuple[Ends, Ends]:
    """Where the share lies: as often as it says, and surely as often.

    If reports count one of two numbers only, the share is a straight line of a
    binomial one, whose intervals (Wilson's, and Clopper and Pearson's) are mapped;
    otherwise by the standard error, and by Hoeffding's bound.
    """
    n = count_answers(counts)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = float(weight.min()), float(weight.max())
    upper = np.isclose(weight, high, rtol=1e-12, atol=1e-12)
    if bool((upper | np.isclose(weight, low, rtol=1e-12, atol=1e-12)).all()):
        # Truth 0.8: a yes counts 4/3, a no -1/3. 30 to 40 % who say yes are a share
        # of -1/3 + 5/3 * 0.3 = 1/6 to 1/3.
        part = clamp_count(int(counts[upper].sum()), n, low, high)
        both = wilson(part, n, z), sure_interval(part, n, confidence)
        usual, sure = (
            (low + (high - low) * a, low + (high - low) * b) for a, b in both
        )
        return usual, sure
    sure = spread_interval(raw, hoeffding(high - low, n, confidence))
    if n < FEWEST or not error:  # too few for a standard error to tell anything
        return sure, sure
    return spread_interval(raw, z * error), sure


def clamp_count(part: int, n: int, low: float, high: float) -> int:
    """A count that the design can expect: a share of 0 to 1 and no other leads to it.

    Of 400 people at truth 3/4 all say yes; the count is taken as 300, which is what a
    share of 1 leads to. A monotone function of the count, so intervals keep what they
    promise.
    """
    if high == low:
        return part
    least, most = -low / (high - low), (1 - low) / (high - low)
    # Whole numbers must not be missed by the last digit of a float.
    return min(max(part, floor(n * least + 1e-9)), ceil(n * most - 1e-9))


def spread_interval(raw: float, half: float) -> Ends:
    """An interval about an estimate, which is cut to 0 and 1 beforehand.

    The truth is there, too, so the cut estimate is no further from it.
    """
    middle = min(max(raw, 0.0), 1.0)
    return middle - half, middle + half


def cut_interval(usual: Ends, sure: Ends) -> Ends:
    """An interval cut to 0 and 1; if nothing is left of it, the wider one."""
    for ends in (usual, sure):
        low, high = clip_interval(ends)
        if low < high:
            return low, high
    return 0.0, 1.0


def clip_interval(ends: Ends) -> Ends:
    """An interval cut to 0 and 1."""
    return min(max(ends[0], 0.0), 1.0), max(min(ends[1], 1.0), 0.0)


def count_answers(counts: NDArray[np.int64]) -> int:
    """How many answers were counted; an error if there are none."""
    n = int(counts.sum())
    if not n:
        raise EmptyTable("Answers must be there to estimate from; there are none.")
    return n


# From disguised rows ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Estimates(Displayed):
    """What can be estimated from some disguised rows."""

    responses: Responses
    """The disguised rows."""
    confidence: float = 0.95
    """Of the intervals."""
    run: Run = field(default_factory=Run)
    """Who listens to progress."""

    @property
    def design(self) -> Design:
        """How the rows were disguised."""
        return self.responses.design

    def share(
        self,
        expression: str | None = None,
        *,
        given: str | None = None,
        **equal: object,
    ) -> Estimate:
        """The share of people for whom something is true.

        Parameters
        ----------
        expression
            With and, or, not, in and brackets: ``"smokes = yes and not age = old"``.
        given
            Another expression: the share among those for whom it is true.
        equal
            Or a value per column; all of them must be so.
        """
        asked = self._read_expression(expression, equal)
        if given is None:
            return self._estimate_event(asked)
        return self._estimate_given(asked, parse_expression(self.design, given))

    def _read_expression(
        self, text: str | None, equal: dict[str, object]
    ) -> Expression:
        if (text is None) == (not equal):
            raise InputError(
                "A share must be asked of an expression or of values of columns, and "
                "of one of them."
            )
        if text is not None:
            return parse_expression(self.design, text)
        return express_equalities(self.design, equal)

    def _estimate_event(self, asked: Expression) -> Estimate:
        pieces = self.design.pieces(asked.columns)
        (counts,) = self.responses.counts([pieces], self.run)
        where = evaluate_event(self.design, _list_columns(pieces), asked).reshape(
            counts.shape
        )
        return estimate_share(pieces, counts, where, confidence=self.confidence)

    def _estimate_given(self, asked: Expression, given: Expression) -> Estimate:
        columns = tuple(dict.fromkeys((*asked.columns, *given.columns)))
        pieces = self.design.pieces(columns)
        (counts,) = self.responses.counts([pieces], self.run)
        inside, where = (
            evaluate_event(self.design, _list_columns(pieces), e).reshape(counts.shape)
            for e in (given, asked)
        )
        if set(given.columns) <= set(self.design.public):  # it is known who they are
            known = SolvedCounts(pieces, counts * inside, inside)
            return known.estimate(where & inside, confidence=self.confidence)
        known = SolvedCounts(pieces, counts)
        return known.ratio(where & inside, inside, confidence=self.confidence)

    def shares(self, *columns: str) -> dict[tuple[str, ...], Estimate]:
        """The share of every combination of values of some columns."""
        if not columns:
            raise InputError("Shares must be asked of at least one column.")
        pieces = self.design.pieces(columns)
        (counts,) = self.responses.counts([pieces], self.run)
        return self._estimate_shares(columns, SolvedCounts(pieces, counts))

    def every_share(self) -> dict[str, dict[str, Estimate]]:
        """The share of every answer to every disguised question, counted at once.

        Without questions that nobody was asked yet, where each person is asked some.
        """
        secret = [c for c in self.design.columns if c not in self.design.public]
        pieces = [self.design.pieces([c]) for c in secret]
        counts = self.responses.counts(pieces, self.run)
        found = {}
        any_ = any(counted.any() for counted in counts)
        for column, some, counted in zip(secret, pieces, counts, strict=True):
            if any_ and not counted.any():
                continue
            shares = self._estimate_shares((column,), SolvedCounts(some, counted))
            found[column] = {value: e for (value,), e in shares.items()}
        return found

    def _estimate_shares(
        self, columns: tuple[str, ...], known: SolvedCounts
    ) -> dict[tuple[str, ...], Estimate]:
        found = {}
        values = [self.design.question(c).values for c in columns]
        for some in product(*values):
            asked = express_equalities(
                self.design, dict(zip(columns, some, strict=True))
            )
            where = evaluate_event(self.design, _list_columns(known.pieces), asked)
            shaped = where.reshape(known.counts.shape)
            found[some] = known.estimate(shaped, confidence=self.confidence)
        return found

    def to_dict(self) -> dict[str, Any]:
        """For machines: every share of every disguised question."""
        return {
            column: {value: e.to_dict() for value, e in shares.items()}
            for column, shares in self.every_share().items()
        }

    def misfit(self) -> DesignMisfit:
        """Whether the answers look as if they were disguised otherwise, or not at all.

        Passing is no sign of it; it does not show that the design fits.
        """
        return find_misfit(self.responses, self.run)

    def covariance(self, *columns: str, disguise_only: bool = False) -> Tensor:
        """The covariance matrix of the unbiased shares of all combinations."""
        if not columns:
            raise InputError("A covariance must be asked of at least one column.")
        pieces = self.design.pieces(columns)
        (counts,) = self.responses.counts([pieces], self.run)
        n = count_answers(counts)
        if n == 1 and not disguise_only:
            raise InputError("A covariance must have at least two answers; got one.")
        return covariance(pieces, counts / n, n, disguise_only=disguise_only)


def estimate(
    seen: Any,
    design: Any,
    *,
    confidence: Number = 0.95,
    progress: Listener | None = None,
) -> Estimates:
    """Estimate shares of the truth from disguised rows.

    Parameters
    ----------
    seen
        The disguised rows: `Responses`, or anything `read` takes.
    design
        How they were disguised: a `Design`, or the `RandomizedResponse` that did it.
    confidence
        How often the intervals shall hold the truth.
    progress
        Takes `Progress` events.
    """
    wanted, found = read_confidence(confidence), design_of(design)
    if isinstance(seen, Responses):
        responses = Responses(seen.rows, found)
    else:
        responses = Responses(_open_answers(seen), found)
    return Estimates(responses, wanted, Run(progress))


def _open_answers(seen: Any) -> Table:
    """Answers as a table; texts of a frame are what the design lists, as they are."""
    spelled = "text" if list_frame_options(seen) else None
    if isinstance(seen, Table):
        return seen
    return read(seen, dates=spelled, decimal=spelled)


def _include(ends: Ends, value: float) -> Ends:
    """An interval that holds what is told.

    The likeliest shares are those of all values together, and add up; an interval looks
    at one value. Two answers, one of each of two values, at a truth of 1/20: each is
    likeliest at 1/2, and each by itself above 94 %.
    """
    return min(ends[0], value), max(ends[1], value)


def _list_columns(pieces: tuple[MarginalChannel, ...]) -> list[str]:
    return [c for p in pieces for c in p.columns]
