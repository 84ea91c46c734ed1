"""SafetyTransform: flatten the posteriors of a classifier, keep its predictions.

Scores are raised to a power of at most 1 (Step 2), which keeps every ranking: the
release is NBC-equivalent to the original. The right power follows from the original's
amplification: that of the release is the same odds to that power; with three and more
classes a search allows more. Step 1, without zeros, is in `zero_counts`; Steps 3 and 4
are in `synthetic`.
Mozafari, Zaniolo 2009, section 6.2, Figure 2; corrected as the page on the paper says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor, log
from typing import cast

import attrs

from privet.classifier.amplification import allowed_amplification, amplification
from privet.classifier.audit import find_asked_classes, keeps_with_room
from privet.classifier.noise.dp_noise import add_noise, settle_privacy
from privet.classifier.release import ClassifierViews
from privet.classifier.scores import Scores, log_of
from privet.classifier.transforms.largest_exponent import raise_exponent
from privet.classifier.transforms.r_closeness import balance_classes
from privet.classifier.transforms.rounding import (
    MOST_BITS,
    CardRounder,
    FlattenedCard,
    Jitter,
    find_gap,
)
from privet.classifier.transforms.tight_exponent import (
    TightExponent,
    search_exponent,
)
from privet.classifier.transforms.zero_counts import KEEPS, WAYS, fill_zeros
from privet.errors import Infeasible, InputError, NoAudit, suggest_names
from privet.policy import Policy, Promise
from privet.values.adversaries import Bayesian
from privet.values.converters import name_fields
from privet.values.exact import Number, fraction
from privet.values.logarithms import log_bracket
from privet.values.noise.differential_privacy import DifferentialPrivacy

MODES = ("tight", "paper", "declared")
"""How the exponent is chosen, and what is published with it."""

ZEROS = ("smooth", *WAYS)
"""What becomes of counts of 0."""

WITH_NOISE = ", as the counts with noise have it"
"""Of what predictions are kept."""

ROOM = Fraction(1, 10**9)
"""How far below a limit beliefs stay on a card: whole counts are rounded once more."""

FINEST = 2**10
"""The exponent is a multiple of one in this, or finer where it is very small."""


def read_positive(value: Number | None, what: str = "number") -> Fraction | None:
    """A number above 0; None is left out."""
    if value is None:
        return None
    found = fraction(value, what)
    if not 0 < found <= 1000:
        raise InputError(f"{what} must be above 0 and at most 1000; got {value!r}.")
    return found


@attrs.frozen(field_transformer=name_fields)
class SafetyTransform:
    """Raise scores to a power: the same predictions, and beliefs closer together.

    >>> SafetyTransform(epsilon="0.5").epsilon
    Fraction(1, 2)
    """

    mode: str = "tight"
    """`tight`: the largest exponent that is safe; `paper`: the paper's own, smaller
    one; `declared`: class offsets are published beside the model, so that beliefs may
    be flattened less."""
    zeros: str = "smooth"
    """Counts of 0: `smooth` adds one to every count and keeps the smoothed
    classifier's ranking; `full`, `positive+top` and `positive` replace zeros and keep
    what they say of the counts as they are."""
    bits: int | None = None
    """Publish coarse points with so many bits; then close calls may flip."""
    epsilon: Fraction | None = attrs.field(default=None, converter=read_positive)
    """Add noise to the counts first, with this privacy loss for adding or removing one
    person; short for `privacy=DifferentialPrivacy(epsilon)`."""
    margin: Fraction | None = attrs.field(default=None, converter=read_positive)
    """Move every number at random, so far that odds of the original within a factor of
    e to this may change their order; whoever undoes the exponent finds counts with as
    much doubt."""
    rows: int | None = None
    """Publish a synthetic table of so many rows and its own scorecard only: the fewer
    rows, the less can be worked out, and the more predictions change."""
    seed: int | None = None
    """Draw the noise anew from this number; such a release is not publishable."""
    privacy: DifferentialPrivacy | None = None
    """Noise on the counts, with everything there is to say of it; whatever is made of
    the noisy counts costs nothing more."""

    def __attrs_post_init__(self) -> None:
        settle_privacy(self.epsilon, self.privacy, self.seed)
        check_choice(self.mode, MODES, "mode")
        check_choice(self.zeros, ZEROS, "zeros")
        check_bits(self.bits)
        check_whole(self.rows, "rows", least=1)
        check_whole(self.seed, "seed", least=0)
        others = (self.bits, self.margin, self.mode)
        if self.rows is not None and others != (None, None, "tight"):
            raise InputError("rows must go without bits and margin, in tight mode.")

    @property
    def kind(self) -> str:
        """How manifests call it."""
        return "safety transform"

    @property
    def noise(self) -> DifferentialPrivacy | None:
        """The noise that is added first; None: none."""
        return settle_privacy(self.epsilon, self.privacy, self.seed)

    # The pipeline ---------------------------------------------------------------------

    def prepared(self, views: ClassifierViews) -> ClassifierViews:
        """The counts whose predictions are kept: with noise, and smoothed."""
        if self.noise is not None:
            views = add_noise(views, self.noise)
        if self.zeros == "smooth" and views.scores.has_zeros:
            return views.smoothed(1)
        return views

    def apply(
        self, views: ClassifierViews, promises: Sequence[Promise]
    ) -> FlattenedCard:
        """Make a scorecard that keeps every promise, or raise `Infeasible`."""
        prepared = self.prepared(views)
        original = prepared.scores
        scores = fill_zeros(original, self.zeros)
        shifts, tight = self._find_exponent(prepared, scores, promises)
        exponent, jitter = tight.exponent, self._draw_jitter(scores)
        base = CardRounder(
            prepared,
            scores,
            *find_gap(original),
            self._describe_kept(views, prepared),
            jitter,
        )
        # Rounding may pass a limit by a little; one step lower each time, it ends.
        while True:
            moves = [m * float(exponent) for m in shifts]
            made = base.round_card(
                exponent, bits=self.bits, moves=moves, ruled=self.mode == "declared"
            )
            if all(keeps_with_room(made.card, p, ROOM) for p in promises):
                proof = replace(made.proof, tight=tight if tight.nodes else None)
                return self._as_rows(replace(made, proof=proof), promises)
            exponent = _lower(exponent, promises[0])

    def _find_exponent(
        self, views: ClassifierViews, scores: Scores, promises: Sequence[Promise]
    ) -> tuple[list[float], TightExponent]:
        """How far each class is moved by a declared rule, and the exponent."""
        moves = [0.0] * scores.classes
        if self.mode == "tight":
            margin = self.margin or Fraction(0)
            each = [_tight_exponent(views, scores, p, margin) for p in promises]
            return moves, min(each, key=lambda found: found.exponent)
        if self.mode == "declared":
            moves, exponent = _balance(scores, promises)
        else:
            exponent = _paper_exponent(views, scores, promises)
        exponent = self._lower_for_jitter(exponent, promises, scores.classes)
        return moves, TightExponent(exponent)

    def _as_rows(
        self, made: FlattenedCard, promises: Sequence[Promise]
    ) -> FlattenedCard:
        if self.rows is None:
            return made
        from privet.classifier.transforms.synthetic import publish_rows_only

        return publish_rows_only(made, promises, self.rows)

    def _draw_jitter(self, scores: Scores) -> Jitter | None:
        if self.margin is None:
            return None
        return Jitter.draw(self.margin, scores, self.seed)

    def _lower_for_jitter(
        self, exponent: Fraction, promises: Sequence[Promise], classes: int
    ) -> Fraction:
        """The exponent, less what moving the numbers may add to beliefs."""
        limits = [limit_of(p, classes) for p in promises]
        least = min((x for x in limits if x is not None), default=None)
        if self.margin is None or least is None or least <= 1:
            return exponent
        # exponent (ln A + margin) <= ln alpha, where ln A is ln alpha by the exponent
        # so far. A limit of 8, 1/2 and a margin of 0.1: 1/2 / (1 + 0.05/ln(8)) = 0.488.
        added = float(exponent * self.margin) / log(least)
        return _round_to_grid(float(exponent) / (1 + added), promises[0])

    def _describe_kept(self, views: ClassifierViews, prepared: ClassifierViews) -> str:
        """What is kept, and of what."""
        kept = KEEPS["full" if self.zeros == "smooth" else self.zeros]
        if self.noise is not None:
            return kept + WITH_NOISE
        return kept + describe_smoothing(views, prepared)


def describe_smoothing(views: ClassifierViews, prepared: ClassifierViews) -> str:
    """That something was added to the counts, where it was not before."""
    if views.smoothing == prepared.smoothing:
        return ""
    return f", after adding {prepared.smoothing} to every count"


# Limits and exponents ---------------------------------------------------------------


def bayesian_promises(policy: Policy) -> list[Promise]:
    """The promises a classifier is judged by; an error where there are none."""
    found = [
        p
        for p in policy.promises_about("classifier")
        if isinstance(p.against, Bayesian)
    ]
    if not found:
        kinds = sorted({p.against.kind for p in policy.promises})
        raise NoAudit(
            "A classifier must have promises against a bayesian to be published; got "
            f"{', '.join(kinds) or 'none'}."
        )
    return found


def limit_of(promise: Promise, classes: int, *, paper: bool = False) -> Fraction | None:
    """The amplification that keeps a promise; half if the adversary averages tables."""
    against = promise.against
    assert isinstance(against, Bayesian)
    if against.prior != "uniform":
        raise InputError(
            f"Promise {promise.name!r} must have a uniform prior for SafetyTransform; "
            "use ExtendedSafetyTransform for others."
        )
    try:
        odds = allowed_amplification(promise.limit, classes, paper=paper)
    except Infeasible as no:
        raise Infeasible(
            f"Promise {promise.name!r} cannot be kept: {no}",
            promise=promise,
            best=no.best,
            advice=no.advice,
        ) from None
    if odds is None or against.averaging == "rows":
        return odds
    if odds <= 2:
        raise Infeasible(
            f"Promise {promise.name!r} cannot be proved to be kept: somebody who "
            "averages over tables may be twice as sure as odds of "
            f"{float(odds):.4g} allow.",
            promise=promise,
            best=Fraction(2, 3),
            advice=("Allow odds above 2, or average over rows.",),
        )
    return odds / 2


def _balance(
    scores: Scores, promises: Sequence[Promise]
) -> tuple[list[float], Fraction]:
    """How far a declared rule moves each class, and the exponent that allows."""
    moves, mean = balance_classes(scores)
    limits = [limit_of(p, scores.classes) for p in promises]
    ends = [log_of(x) / mean for x in limits if x is not None and mean > 0]
    return moves, _round_to_grid(min([1.0, *ends]), promises[0])


def _tight_exponent(
    views: ClassifierViews, scores: Scores, promise: Promise, margin: Fraction
) -> TightExponent:
    """The largest exponent on a grid that keeps one promise.

    The one that keeps it for whoever knows all keeps it for everybody. Points may be
    moved by as much as the margin says.
    """
    against = promise.against
    assert isinstance(against, Bayesian)
    if against.prior != "uniform":
        return TightExponent(_descend_for_prior(views, scores, promise, margin))
    limit = limit_of(promise, scores.classes)
    if limit is None:
        return TightExponent(Fraction(1))
    start = _start_exponent(scores, limit, promise, margin)
    tight = search_exponent(scores, promise, start, margin)
    named = find_asked_classes(views, promise, lambda _: None)
    if against.reading == "any" and len(named) in (0, scores.classes):
        return tight
    raised = raise_exponent(views, scores, promise, tight.exponent, margin)
    return tight if raised == tight.exponent else TightExponent(raised)


def _start_exponent(
    scores: Scores, limit: Fraction, promise: Promise, margin: Fraction
) -> Fraction:
    """The exponent that is safe by the odds of two classes."""
    found = amplification(scores).odds
    assert found is not None  # zeros were replaced
    # exponent (ln A + margin) <= ln alpha. Odds of 64, a limit of 8 and a margin of
    # 0.1: ln(8) / (ln(64) + 0.1) = 0.488.
    apart = log_of(found) + float(margin) / log(2)
    if not margin and found <= limit:
        return Fraction(1)
    start = _round_to_grid(min(1.0, log_of(limit) / max(apart, 1e-300)), promise)
    while not margin and not _is_within(found, start, limit):
        start = _lower(start, promise)
    return start


def _descend_for_prior(
    views: ClassifierViews, scores: Scores, promise: Promise, margin: Fraction
) -> Fraction:
    """The largest exponent that keeps a promise with a prior of somebody's own.

    No small one need do: the flattest beliefs are alike, and the prior is not.
    """
    found = raise_exponent(views, scores, promise, Fraction(0), margin)
    if not found:
        raise Infeasible(
            f"Promise {promise.name!r} is kept by no exponent alone: the flatter "
            "beliefs are, the more all classes are alike, and the prior is not.",
            promise=promise,
            advice=("Publish with ExtendedSafetyTransform: --method closeness.",),
        )
    return found


def _is_within(odds: Fraction, exponent: Fraction, limit: Fraction) -> bool:
    """Whether odds to a power are at most a limit; surely, if it says so."""
    # The upper bound of one logarithm against the lower one of the other.
    _, most = log_bracket(odds, 256)
    least, _ = log_bracket(limit, 256)
    return most * exponent <= least


def _round_to_grid(wanted: float, promise: Promise) -> Fraction:
    """The exponent rounded down to a fraction with a power of two below."""
    # Ten bits of the exponent, also of a small one: 0.4 is 1638 of 4096.
    steps = FINEST
    while wanted * steps < 1024 and steps < 2**40:
        steps *= 2
    parts = floor(wanted * steps + 1e-9)
    if parts < 1:
        raise _make_no_room_error(promise)
    return min(Fraction(1), Fraction(parts, steps))


def _lower(exponent: Fraction, promise: Promise) -> Fraction:
    steps = max(exponent.denominator, FINEST)
    lower = Fraction(floor(exponent * steps) - 1, steps)
    if lower <= 0:
        raise _make_no_room_error(promise)
    return lower


def _make_no_room_error(promise: Promise) -> Infeasible:
    return Infeasible(
        f"Promise {promise.name!r} leaves no room for predictions: every class would "
        "have to be equally likely for everybody.",
        promise=promise,
        advice=("Allow a larger move of beliefs, or more bits where you set them.",),
    )


def _paper_exponent(
    views: ClassifierViews, scores: Scores, promises: Sequence[Promise]
) -> Fraction:
    """Step 2 as printed, one over the paper's k: n(2n + 3) log w / log alpha."""
    n = scores.attributes
    # w is the largest of all counts by the least, class sizes among them.
    counts = [Fraction(p) for p in views.sizes]
    counts += [
        x * p
        for table in scores.factors
        for row in table
        for x, p in zip(row, views.sizes, strict=True)
    ]
    w = max(counts) / min(counts)
    roots = [Fraction(1)]
    for p in promises:
        limit = limit_of(p, scores.classes, paper=True)
        if limit is not None:
            if limit <= 1:
                raise _make_no_room_error(p)
            k = n * (2 * n + 3) * log_of(w) / log_of(limit)
            roots.append(Fraction(1, max(1, -floor(-k))))
    return min(roots)


def check_bits(bits: object) -> None:
    """Refuse what is no number of bits."""
    check_whole(bits, "bits", least=1, most=MOST_BITS)


def check_whole(
    value: object, what: str, *, least: int, most: int | None = None
) -> None:
    """Refuse what is no whole number, or too small or large a one; None is left out."""
    if value is None:
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    number = cast("int", value)
    if not whole or number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most:,}"
        raise InputError(f"{what} must be {limits}; got {value!r}.")


def check_choice(value: str, known: Sequence[str], what: str) -> None:
    """Refuse a word that is none of those known."""
    if value not in known:
        raise InputError(
            f"{what} must be one of {', '.join(known)}; got {value!r}. "
            f"{suggest_names(str(value), known)}"
        )
