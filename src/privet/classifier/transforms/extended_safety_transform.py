"""EST, the ExtendedSafetyTransform: r-closeness to a given prior, predictions kept.

The paper's own way, here for comparison, splits labels, flattens, and merges them or
fails; in closed form its scores are the prior to the power 1 - 1/k times the originals
to the power delta/k. Its checks (Lemma 12) look at the two largest counts only, so they
pass where predictions flip; whether they do is looked at here, too. Where no release
can have both the predictions and the closeness, this says so, with a row that shows it.
Mozafari, Zaniolo 2009, section 7.2, Figure 7, Lemma 12, Statement 14.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, floor, lcm, log, log2

import attrs

from privet.classifier.amplification import pair_log_odds
from privet.classifier.audit import priors
from privet.classifier.noise.dp_noise import add_noise, settle_privacy
from privet.classifier.release import ClassifierViews
from privet.classifier.scores import GUARD, Scores, ln_of, log_of
from privet.classifier.transforms.closeness_refusals import (
    ClosenessRefusal,
    describe_row,
)
from privet.classifier.transforms.closeness_search import (
    ClosenessSearch,
    Weighing,
    to_grid,
)
from privet.classifier.transforms.leads import find_narrow_lead
from privet.classifier.transforms.r_closeness import (
    AccuracyStep,
    Prior,
    accuracy_steps,
    balance_classes,
    block_weights,
    certify_r,
    find_crossing_blocks,
    find_least_r,
    least_r_for_top,
    limit_r,
    staircase,
    step_weights,
)
from privet.classifier.transforms.rounding import (
    CardRounder,
    FlattenedCard,
    find_gap,
)
from privet.classifier.transforms.safety_transform import (
    WITH_NOISE,
    ZEROS,
    check_bits,
    check_choice,
    check_whole,
    describe_smoothing,
    read_positive,
)
from privet.classifier.transforms.zero_counts import BEST_OF, KEEPS, fill_zeros
from privet.errors import Infeasible, InputError, TooLarge, Undecided
from privet.policy import Promise
from privet.release.audit import audit
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Ceiling, Ratio, Shift
from privet.values.converters import name_fields
from privet.values.exact import Number, fraction
from privet.values.noise.differential_privacy import DifferentialPrivacy

# The paper's EST --------------------------------------------------------------------


@dataclass(frozen=True)
class PaperEst:
    """What the paper's EST does to a classifier."""

    power: int
    """delta: counts are raised to this before labels are split."""
    root: int
    """k of its SafetyTransform."""
    parts: tuple[int, ...]
    """Into how many labels each class is split: the prior in whole numbers."""
    splits: bool
    """Whether its check before splitting passes: Lemma 12."""
    merges: bool
    """Whether its check before merging passes; FAIL if not."""

    @property
    def exponent(self) -> Fraction:
        """What scores are raised to in the end."""
        return Fraction(self.power, self.root)

    @property
    def moves(self) -> list[float]:
        """By how many doublings the belief in each class is moved in the end."""
        return [log_of(Fraction(f)) * (1 - 1 / self.root) for f in self.parts]


def run_paper_est(
    scores: Scores,
    sizes: Sequence[int],
    prior: Prior,
    r: Fraction,
    *,
    power: int | None = None,
    root: int | None = None,
) -> PaperEst:
    """Follow the paper; `power` and `root` are its delta and k, if one wants others."""
    seen = _PaperCounts.of(scores, sizes, prior)
    delta = power or seen.power(log(r)) or max(1, ceil(seen.most / seen.lead))
    k = root or seen.root(log(r), delta)
    merged = seen.lead_of_parts(delta) / k
    return PaperEst(
        delta,
        k,
        seen.parts,
        seen.lead * delta >= seen.most - GUARD,
        merged >= seen.most - GUARD,
    )


def statement_14_least_log_r(
    scores: Scores, sizes: Sequence[int], prior: Prior
) -> float:
    """The r from which on Statement 14 certifies something; its natural logarithm."""
    seen = _PaperCounts.of(scores, sizes, prior)
    return seen.n * (2 * seen.n + 3) * seen.most * seen.spread / seen.lead


def bound_of_statement_14(n: int, ratio: Fraction) -> Fraction:
    """The r below which Statement 14 certifies nothing, whatever the counts.

    >>> float(bound_of_statement_14(3, Fraction(3)))
    7625597484987.0
    """
    return ratio ** (2 * n * n + 3 * n)


@dataclass(frozen=True)
class _PaperCounts:
    """What the paper looks at, as natural logarithms."""

    n: int
    """Attributes."""
    parts: tuple[int, ...]
    """The prior in whole numbers."""
    columns: tuple[tuple[float, ...], ...]
    """Counts of every class."""
    lead: float
    """S_M: the largest count by the next one that is smaller."""
    spread: float
    """M/m: the largest of all counts by the least."""

    @classmethod
    def of(cls, scores: Scores, sizes: Sequence[int], prior: Prior) -> _PaperCounts:
        whole = lcm(*(f.denominator for f in prior))
        parts = [int(f * whole) for f in prior]
        columns = tuple(
            tuple(ln_of(row[c] * p) for t in scores.factors for row in t)
            for c, p in enumerate(sizes)
        )
        numbers = [
            *(ln_of(Fraction(p)) for p in sizes),
            *(x for col in columns for x in col),
        ]
        return cls(
            scores.attributes,
            tuple(parts),
            columns,
            _lead([x for column in columns for x in column]),
            max(numbers) - min(numbers),
        )

    @property
    def most(self) -> float:
        """F~: the most labels a class is split into."""
        return log(max(self.parts))

    def power(self, r: float) -> int | None:
        """The least delta that fulfils equation (21); None: none does."""
        steps = self.n * (2 * self.n + 3)
        # (delta lead - most)/k >= most with k = steps (delta spread + most)/r, solved
        # for delta.
        room = self.lead * r - self.most * steps * self.spread
        if room <= GUARD:
            return None
        return floor((self.most * self.most * steps + self.most * r) / room) + 1

    def root(self, r: float, delta: int) -> int:
        """The k of SafetyTransform on counts to the power delta, split."""
        n = self.n
        spread = delta * self.spread + self.most
        return max(1, ceil(n * (2 * n + 3) * spread / r))

    def lead_of_parts(self, delta: int) -> float:
        """S_M of the counts to the power delta, split."""
        return _lead(
            [
                delta * x - log(f)
                for column, f in zip(self.columns, self.parts, strict=True)
                for x in column
            ]
        )


def _lead(numbers: Sequence[float]) -> float:
    """How far the largest is above the next one that differs; nothing differs: 0+."""
    top = max(numbers)
    below = [x for x in numbers if x < top - GUARD]
    return top - max(below) if below else GUARD


# Whether it keeps rankings in truth -------------------------------------------------


def find_flipped_row(scores: Scores, found: PaperEst) -> Mapping[int, int] | None:
    """A row that the paper's EST ranks otherwise; None: there is none.

    `TooLarge` where there are too many rows to look at.
    """
    moves = found.moves
    for c in range(scores.classes):
        for d in range(scores.classes):
            if moves[d] > moves[c]:
                # Moves come after the power: in the original's doublings the second
                # class gains so much, and any narrower lead of the first flips.
                gained = (moves[d] - moves[c]) / float(found.exponent)
                row = find_narrow_lead(scores, (c, d), gained * (1 - 1e-12))
                if row is not None:
                    return row
    return None


# ExtendedSafetyTransform ------------------------------------------------------------

RULES = ("argmax", "declared")
"""Whether the best label is read off the beliefs, or off beliefs and offsets."""

STEPS = 2**18
"""Exponents are multiples of one in this, or finer where they are very small."""

LARGEST = Fraction(10**100)
"""A larger factor allows no more than this one."""


@attrs.frozen(field_transformer=name_fields)
class ExtendedSafetyTransform:
    """Keep beliefs within a factor of a prior (r-closeness), whatever prior that is.

    >>> ExtendedSafetyTransform(step=2).step
    2
    >>> ExtendedSafetyTransform(epsilon="1/2").noise.plan(3)
    NoisePlan(noise='laplace', size=Fraction(6, 1))
    """

    rule: str = "argmax"
    """`argmax`: predictions are the most believed class, which bounds how near to the
    prior beliefs can be; `declared`: offsets are published beside the beliefs, and any
    factor above 1 can be kept."""
    zeros: str = "smooth"
    """What becomes of counts of 0; see `SafetyTransform`."""
    bits: int | None = None
    """Publish coarse points with so many bits."""
    paper: bool = False
    """Follow the paper, for comparison: split classes, flatten, merge. Where its own
    checks fail, and where they pass but a ranking changes, it is `Infeasible`."""
    step: int | None = None
    """Predict so many classes only, the likeliest beforehand: the best of them for
    every row. See `staircase` for what that keeps, and how close to the prior."""
    epsilon: Fraction | None = attrs.field(default=None, converter=read_positive)
    """Add noise to the counts first; see `SafetyTransform`."""
    privacy: DifferentialPrivacy | None = None
    """The same, with everything there is to say of it."""

    def __attrs_post_init__(self) -> None:
        settle_privacy(self.epsilon, self.privacy, None)
        check_choice(self.rule, RULES, "rule")
        check_choice(self.zeros, ZEROS, "zeros")
        check_bits(self.bits)
        check_whole(self.step, "step", least=1)
        plain = (self.rule, self.zeros, self.bits, self.paper)
        if self.step is not None and plain != ("argmax", "smooth", None, False):
            raise InputError(
                "step must go with rule='argmax', smoothed counts and all bits."
            )
        if self.paper and (self.rule != "argmax" or self.bits is not None):
            raise InputError(
                "paper must go with rule='argmax' and all bits: that is the paper's "
                "way."
            )

    @property
    def kind(self) -> str:
        """How manifests call it."""
        return ("paper's " if self.paper else "") + "extended safety transform"

    @property
    def noise(self) -> DifferentialPrivacy | None:
        """The noise that is added first; None: none."""
        return settle_privacy(self.epsilon, self.privacy, None)

    def prepared(self, views: ClassifierViews) -> ClassifierViews:
        """The counts whose predictions are kept: with noise, smoothed if need be."""
        if self.noise is not None:
            views = add_noise(views, self.noise)
        smooth = self.zeros == "smooth" and views.scores.has_zeros
        return views.smoothed(1) if smooth else views

    def staircase(
        self, views: ClassifierViews, prior: Mapping[str, Number]
    ) -> list[AccuracyStep]:
        """What can be predicted at which closeness to a prior: rows for a chart.

        Parameters
        ----------
        views
            The counts of a classifier; `views_` of a `NaiveBayes`.
        prior
            A probability for every class.
        """
        shares = {c: fraction(p, "prior") for c, p in prior.items()}
        stated = Promise(Bayesian(prior=shares), Ratio(1))
        return accuracy_steps(
            self.prepared(views), shared_prior([stated], views.labels)
        )

    def apply(
        self, views: ClassifierViews, promises: Sequence[Promise]
    ) -> FlattenedCard:
        """Make a scorecard that keeps every promise, or raise `Infeasible`."""
        given, views = views, self.prepared(views)
        scores = fill_zeros(views.scores, self.zeros)
        keeps = KEEPS["full" if self.zeros == "smooth" else self.zeros]
        keeps += WITH_NOISE if self.noise else describe_smoothing(given, views)
        base = CardRounder(views, scores, *find_gap(views.scores), keeps)
        prior = shared_prior(promises, views.labels)
        if self.step is not None:
            return self._apply_step(base, prior, promises, self.step)
        r = min(LARGEST, *(factor_of(p) for p in promises))
        if self.paper:
            return _apply_paper_est(base, prior, r, promises[0])
        if self.rule == "declared":
            return self._apply_declared(base, prior, r, promises)
        return self._apply_argmax(base, prior, r, promises)

    # Argmax ---------------------------------------------------------------------------

    def _apply_argmax(
        self,
        base: CardRounder,
        prior: Prior,
        r: Fraction,
        promises: Sequence[Promise],
    ) -> FlattenedCard:
        needed = find_least_r(base.scores, prior)
        no = ClosenessRefusal(base.views, promises[0], prior, r)
        if r < Fraction(needed.r) * (1 - Fraction(1, 10**9)):
            raise no.say_impossible(needed)
        search = ClosenessSearch(base.scores, prior)
        blocks = find_crossing_blocks(base.scores)
        limit, weights = limit_r(prior, blocks), block_weights(prior, blocks, float(r))
        if weights is None or float(r) <= limit * (1 + 1e-12):
            at = self._settle(search, no, needed.r, limit)
            made = _round_weighing(base, search, at, promises)
            return made or no.refuse_open(needed.r, search.measure(at))
        moves = [log2(w) for w in weights]
        exponent = self._find_largest_exponent(base, moves, prior, float(r))
        at = Weighing(float(exponent), tuple(log(w) for w in weights))
        more = search.raise_power(at, float(r)) if self._may_search(search) else at
        made = None if more == at else _round_weighing(base, search, more, promises)
        return made or self._flatten_until_safe(
            base, exponent, lambda _: moves, False, promises
        )

    def _may_search(self, search: ClosenessSearch) -> bool:
        """Whether powers and weights of any kind are looked for.

        Weights between classes that beat each other need all bits to keep rankings.
        """
        return search.scores.classes > 2 and self.bits is None and search.is_small

    def _settle(
        self,
        search: ClosenessSearch,
        no: ClosenessRefusal,
        needed: float,
        limit: float,
    ) -> Weighing:
        """A power and weights between what is needed and what small powers reach."""
        r = float(no.r)
        if search.scores.classes == 2:
            raise no.say_limit(needed, limit)
        if not self._may_search(search):
            raise no.say_open(needed, limit)
        answer = search.settle(r)
        if answer.found is not None:
            return search.raise_power(answer.found, r)
        low, high, _ = search.bracket(r if answer.settled else needed, limit)
        if answer.settled:
            raise no.say_none(needed, low, high)
        raise no.say_open(needed, high)

    # A step of the staircase ----------------------------------------------------------

    def _apply_step(
        self, base: CardRounder, prior: Prior, promises: Sequence[Promise], step: int
    ) -> FlattenedCard:
        """Predict the likeliest classes beforehand only, and the best of them."""
        stairs, r = staircase(prior), min(LARGEST, *map(factor_of, promises))
        if step > len(stairs):
            raise InputError(f"step must be at most {len(stairs)}; got {step}.")
        limit, predicted = stairs[step - 1]
        names = ", ".join(base.views.labels[c] for c in predicted)
        kept = base.keeps.replace(KEEPS["full"], f"{BEST_OF} {names} for every row", 1)
        base = replace(base, keeps=kept)
        search = ClosenessSearch(base.scores, prior, predicted)
        no = ClosenessRefusal(base.views, promises[0], prior, r)
        if not search.is_small:
            raise no.say_open(1.0, limit)
        needed = max(least_r_for_top(prior, c) for c in search.rows.list_best())
        if r < Fraction(needed) * (1 - Fraction(1, 10**9)):
            raise no.say_not_predicted(needed, names)
        weights = step_weights(prior, predicted, float(r))
        at = None if weights is None else search.start_flat(weights, float(r))
        if at is None:
            at = self._settle(search, no, needed, limit)
        at = search.raise_power(at, float(r))
        made = _round_weighing(base, search, at, promises)
        return made or no.refuse_open(needed, search.measure(at))

    def _find_largest_exponent(
        self, base: CardRounder, moves: Sequence[float], prior: Prior, r: float
    ) -> Fraction:
        """The largest exponent whose beliefs are proved to stay within r."""
        low, high = 0.0, 1.0
        if certify_r(base.scores, high, moves, prior) <= r * (1 - 1e-9):
            return Fraction(1)
        # `low` keeps to r and `high` does not; 60 halvings are as fine as floats.
        for _ in range(60):
            middle = (low + high) / 2
            if certify_r(base.scores, middle, moves, prior) <= r * (1 - 1e-9):
                low = middle
            else:
                high = middle
        return _round_to_grid(low)

    # Declared rule --------------------------------------------------------------------

    def _apply_declared(
        self,
        base: CardRounder,
        prior: Prior,
        r: Fraction,
        promises: Sequence[Promise],
    ) -> FlattenedCard:
        if base.scores.classes == 2:
            exponent, moved_by = spread_two_classes(base.scores, prior, r)
            return self._flatten_until_safe(base, exponent, moved_by, True, promises)
        moves, mean = balance_classes(base.scores)
        start = 1.0 if mean <= 0 else min(1.0, log_of(r) / mean)
        exponent = _round_to_grid(start)
        # The prior, and moves that grow with the exponent: F_c 2**(beta m_c).
        beliefs = [log_of(f) for f in prior]

        def compute_moves(beta: Fraction) -> list[float]:
            return [b + m * float(beta) for b, m in zip(beliefs, moves, strict=True)]

        return self._flatten_until_safe(base, exponent, compute_moves, True, promises)

    # Together -------------------------------------------------------------------------

    def _flatten_until_safe(
        self,
        base: CardRounder,
        exponent: Fraction,
        moves: Callable[[Fraction], Sequence[float]],
        ruled: bool,
        promises: Sequence[Promise],
    ) -> FlattenedCard:
        """Round, judge, and flatten a little more until every promise is kept."""
        for _ in range(60):
            made = base.round_card(
                exponent, bits=self.bits, moves=moves(exponent), ruled=ruled
            )
            if audit(made.card, list(promises)).safe:
                return made
            exponent = _round_to_grid(float(exponent) * 0.97)
        raise Undecided(
            f"Whether promise {promises[0].name!r} can be kept was not settled: no "
            "flattening that was tried keeps it as it is written.",
            promise=promises[0],
            advice=(
                "Allow a larger factor: within in the policy.",
                *(() if ruled else ("Or publish with --method closeness-declared.",)),
            ),
        )


FINE = 40
"""Bits beyond those that keep rankings, where weights come near to undoing some."""


def _round_weighing(
    base: CardRounder,
    search: ClosenessSearch,
    at: Weighing,
    promises: Sequence[Promise],
) -> FlattenedCard | None:
    """The card of a power and weights; None: as it is written it breaks a promise."""
    made = base.round_card(
        to_grid(at.power), moves=at.moves, finer=FINE, predicted=search.predicted
    )
    return made if audit(made.card, list(promises)).safe else None


def spread_two_classes(
    scores: Scores, prior: Prior, r: Fraction
) -> tuple[Fraction, Callable[[Fraction], list[float]]]:
    """The largest exponent for two classes with a declared rule, and the moves for it.

    The odds of the second class are spread over all that is r-close to the prior.
    """
    first, second = prior
    # Both classes must be r-close: prior 3/4, 1/4 within 2 lets the second be
    # from max(1/8, -1/2) = 1/8 to min(1/2, 5/8) = 1/2.
    low = max(second / r, 1 - r * first)
    high = min(r * second, 1 - first / r)
    ends = [_log_odds(low), _log_odds(high)]
    logs = pair_log_odds(scores)
    most, least = float(logs[1, 0]), -float(logs[0, 1])
    wide = (ends[1] - ends[0]) * (1 - 1e-9)
    start = min(1.0, wide / (most - least)) if most > least else 1.0

    def compute_moves(exponent: Fraction) -> list[float]:
        # The middle of the odds goes to the middle of what is allowed.
        return [0.0, sum(ends) / 2 - float(exponent) * (most + least) / 2]

    return _round_to_grid(start), compute_moves


def _log_odds(belief: Fraction) -> float:
    """The odds of a belief as a logarithm; a hundred doublings are as good as sure."""
    if not 0 < belief < 1:
        return -100.0 if belief <= 0 else 100.0
    return min(100.0, max(-100.0, log_of(belief / (1 - belief))))


def _round_to_grid(exponent: float) -> Fraction:
    """An exponent rounded down to a fraction with a power of two below."""
    steps = STEPS
    while exponent * steps < 1024 and steps < 2**60:
        steps *= 2
    return Fraction(max(1, int(exponent * steps)), steps)


# The paper's way --------------------------------------------------------------------


def _apply_paper_est(
    base: CardRounder, prior: Prior, r: Fraction, promise: Promise
) -> FlattenedCard:
    """Split, flatten and merge; or FAIL, or refuse what its checks let pass."""
    views, scores = base.views, base.scores
    if r <= 1:
        raise _make_fail_error(
            promise, statement_14_least_log_r(scores, views.sizes, prior)
        )
    found = run_paper_est(scores, views.sizes, prior, r)
    if not (found.splits and found.merges):
        raise _make_fail_error(
            promise, statement_14_least_log_r(scores, views.sizes, prior)
        )
    try:
        row = find_flipped_row(scores, found)
    except TooLarge as no:
        raise Infeasible(
            f"Promise {promise.name!r}: the checks of the paper's EST pass, but "
            f"whether every ranking is kept cannot be proved: {no}",
            promise=promise,
            advice=("Leave paper out: then it is proved.",),
        ) from None
    if row is not None:
        raise _make_flip_error(views, promise, found, row)
    return base.round_card(found.exponent, moves=found.moves)


def _make_fail_error(promise: Promise, needed: float) -> Infeasible:
    small = needed < log(10**12)
    digits = f"10 to the power {needed / log(10):,.0f}"
    least = f"{ceil(exp(needed)):,}" if small else digits
    return Infeasible(
        f"Promise {promise.name!r}: the paper's EST fails (FAIL): classes that were "
        "split may not be merged again. Its Statement 14 asks for a factor of at least "
        f"{least}.",
        promise=promise,
        best=Fraction(ceil(exp(needed))) if small else None,
        advice=("Leave paper out.", "Or publish with a declared rule."),
    )


def _make_flip_error(
    views: ClassifierViews, promise: Promise, found: PaperEst, known: Mapping[int, int]
) -> Infeasible:
    return Infeasible(
        f"Promise {promise.name!r}: the checks of the paper's EST pass (delta = "
        f"{found.power}, k = {found.root}), and yet a row is ranked otherwise "
        f"({describe_row(views, known)}). Lemma 12 looks at the two largest counts "
        "only.",
        promise=promise,
        advice=("Leave paper out.", "Or publish with a declared rule."),
    )


# Promises ---------------------------------------------------------------------------


def shared_prior(promises: Sequence[Promise], labels: Sequence[str]) -> list[Fraction]:
    """The prior all promises share."""
    found = {tuple(priors(p, labels)) for p in promises}
    if len(found) > 1:
        raise InputError(
            "Promises must share one prior for ExtendedSafetyTransform; they have "
            f"{len(found)}. Publish for one prior at a time."
        )
    prior = list(found.pop())
    if any(f <= 0 for f in prior):
        raise InputError("prior must give every class more than 0.")
    return prior


def factor_of(promise: Promise) -> Fraction:
    """The factor that keeps a promise: a shift from L1 to L2 needs L2/L1."""
    against = promise.against
    assert isinstance(against, Bayesian)
    match promise.limit:
        case Ratio(factor=factor):
            return factor
        case Shift(start=start, end=end):
            return end / start
        case Ceiling():
            raise InputError(
                f"Promise {promise.name!r} must be limited by within, or from and to, "
                "for ExtendedSafetyTransform; a ceiling needs no prior."
            )
