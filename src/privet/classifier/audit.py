"""Breaches by a published classifier: what a Bayesian adversary believes of a victim.

Whom the adversary can be surest about, and whether that keeps every promise: a breach
from L1 to L2 is a limit of kind `Shift`, r-closeness one of kind `Ratio`.
Mozafari, Zaniolo 2009, sections 4 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, Protocol

from privet.classifier.amplification import (
    allowed_amplification,
    breach_amplification,
    pair_odds,
)
from privet.classifier.possible_tables import (
    MOST_STEPS,
    AveragedPosteriors,
    estimate_steps,
    factor_bound,
    find_worst_odds,
)
from privet.classifier.posterior_bounds import PosteriorBound, find_extreme_posterior
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import Scores
from privet.engine.protocol import Run
from privet.errors import Infeasible, InputError, find_nearest, suggest_names
from privet.findings import Basis, Finding, Verdict, Witness
from privet.policy import Promise
from privet.release.kinds import Warn
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Belief, Ceiling, Limit, Shift

Prior = Sequence[Fraction]
"""What is believed of each class beforehand."""


class Classifier(Protocol):
    """What can be judged: scores with names."""

    @property
    def target(self) -> str:
        """What is predicted."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, the weakest first."""

    @property
    def scores(self) -> Scores:
        """What an adversary takes for the scores."""

    @property
    def counted(self) -> Any:
        """Whole counts to average over, or None."""

    @property
    def slack(self) -> Fraction:
        """How far a posterior of the scores may be off; 0: they are exact."""

    def victim(self, known: Mapping[str, str | None]) -> dict[int, int]:
        """What is known of a person, by index."""

    def victim_index(self, name: str) -> int:
        """Where an attribute stands."""

    def told(self, known: Mapping[int, int]) -> dict[str, str | None]:
        """The same in names and values."""


@dataclass(frozen=True)
class PosteriorCase:
    """The belief of one victim in one class, and how far it is proved."""

    label: int
    prior: Fraction
    found: PosteriorBound

    @property
    def others(self) -> PosteriorCase:
        """The same of all the other classes together."""
        value, bound = 1 - self.found.value, 1 - self.found.bound
        return PosteriorCase(
            self.label, 1 - self.prior, PosteriorBound(value, bound, self.found.known)
        )

    @property
    def belief(self) -> Belief:
        """The belief that is attained."""
        return Belief(self.prior, self.found.value)

    @property
    def bound(self) -> Belief:
        """The belief that is never passed."""
        return Belief(self.prior, self.found.bound)

    def gravity(self, limit: Limit) -> tuple[bool, bool, Fraction]:
        """Beyond the limit first; then what may be; then the largest move."""
        wrong, open_ = not limit.holds(self.belief), not limit.holds(self.bound)
        value = self.found.value
        if isinstance(limit, Ceiling):
            return wrong, open_, value
        # A move from 0, or to 0, is larger than every factor: 2**60.
        up = (
            Fraction(value, self.prior) if self.prior else Fraction(2**60 * (value > 0))
        )
        down = Fraction(self.prior, value) if value else Fraction(2**60)
        return wrong, open_, max(up, down)


def find_cases(
    views: Classifier, promise: Promise, labels: Sequence[int], prior: Prior
) -> Iterator[PosteriorCase]:
    """What decides a promise about classes: their highest and lowest posteriors."""
    against = promise.against
    assert isinstance(against, Bayesian)
    one = isinstance(promise.limit, Ceiling) and not isinstance(against.knows, Mapping)
    find = _make_finder(views, against)
    for label in labels:
        for highest in [True] if one else [True, False]:
            found = widened(find(label, highest), views.slack, highest)
            yield PosteriorCase(label, prior[label], found)


def _make_finder(
    views: Classifier, against: Bayesian
) -> Callable[[int, bool], PosteriorBound]:
    """What finds the highest or lowest posterior of a class."""
    if isinstance(against.knows, Mapping):
        return partial(_bound_one_victim, views, against, views.victim(against.knows))
    kept, at_most = resolve_knowledge(views, against)
    scores = views.scores if kept is None else views.scores.over(kept)
    counts = (
        None if views.counted is None else AveragedPosteriors.of(views.counted, kept)
    )

    def find(label: int, highest: bool) -> PosteriorBound:
        if against.averaging == "rows":
            found = find_extreme_posterior(
                scores, label, highest=highest, attributes=at_most
            )
        else:
            found = _bound_averaged_posterior(scores, counts, label, highest, at_most)
        return _restore_indices(found, kept)

    return find


def widened(found: PosteriorBound, slack: Fraction, highest: bool) -> PosteriorBound:
    """What surely is attained and never passed, where scores are not exact."""
    if not slack:
        return found
    # Surely attained is a slack less than found, never passed a slack more; of the
    # lowest posterior it is the other way round.
    off = slack if highest else -slack
    value, bound = found.value - off, found.bound + off
    inside = [min(max(x, Fraction(0)), Fraction(1)) for x in (value, bound)]
    digits = [Fraction(round(x * 10**12), 10**12) for x in inside]
    return PosteriorBound(digits[0], digits[1], found.known)


def resolve_knowledge(
    views: Classifier, against: Bayesian
) -> tuple[tuple[int, ...] | None, int | None]:
    """Which attributes may be known, and how many at most; None: all."""
    if isinstance(against.knows, tuple):
        return tuple(views.victim_index(name) for name in against.knows), None
    if isinstance(against.knows, int):
        return None, min(against.knows, views.scores.attributes)
    return None, views.scores.attributes if views.slack else None


def _restore_indices(
    found: PosteriorBound, kept: tuple[int, ...] | None
) -> PosteriorBound:
    if kept is None:
        return found
    known = {kept[i]: t for i, t in found.known.items()}
    return PosteriorBound(found.value, found.bound, known)


def _bound_one_victim(
    views: Classifier,
    against: Bayesian,
    known: dict[int, int],
    label: int,
    highest: bool,
) -> PosteriorBound:
    rows = views.scores.posterior(known)
    if rows is None:
        raise InputError("Somebody must fit what is known; nobody does.")
    if against.averaging == "rows":
        return PosteriorBound(rows[label], rows[label], known)
    low, high = _bound_beliefs(views.scores, views.counted, known)
    ends = (low[label], high[label]) if highest else (high[label], low[label])
    return PosteriorBound(*ends, known)


def _bound_beliefs(
    scores: Scores, counts: Any, known: Mapping[int, int]
) -> tuple[Sequence[Fraction], Sequence[Fraction]]:
    """The belief in each class of somebody who averages: at least, and at most."""
    if counts is not None and estimate_steps(counts, known) <= MOST_STEPS:
        exactly = AveragedPosteriors.of(counts).posterior(known)
        assert exactly is not None
        return exactly, exactly
    rows = scores.posterior(known)
    assert rows is not None
    # Without counts, never twice the odds of a random row, nor half of them.
    apart = Fraction(2) if counts is None else factor_bound(scores, known)
    # Also against all other classes together, as it holds against each: a belief of
    # 4/5, odds of 4, lies from odds of 2 to odds of 8, that is from 2/3 to 8/9.
    low, high = ([f * p / (f * p + 1 - p) for p in rows] for f in (1 / apart, apart))
    return low, high


def _bound_averaged_posterior(
    scores: Scores,
    counts: AveragedPosteriors | None,
    label: int,
    highest: bool,
    at_most: int | None,
) -> PosteriorBound:
    """The extreme posterior of somebody who averages over the possible tables."""
    others = [d for d in range(scores.classes) if d != label]
    found = [
        _bound_pair_odds(scores, counts, (label, d) if highest else (d, label), at_most)
        for d in others
    ]
    # Each pair at its own worst victim. One victim need not be the worst of all
    # pairs, so with three classes or more this is a bound only.
    bound = _posterior_from_odds([most for _, most, _ in found], highest)
    if len(others) == 1:
        least, _, known = found[0]
        value = _posterior_from_odds([least], highest)
        return PosteriorBound(value, bound, known)
    victims = [known for _, _, known in found if known]
    side = 0 if highest else 1  # what is surely attained
    values = [
        (_bound_beliefs(scores, counts, known)[side][label], known) for known in victims
    ]
    if not values:
        return PosteriorBound(bound, bound, {})
    value, known = (max if highest else min)(values, key=lambda v: v[0])
    return PosteriorBound(value, bound, known)


def _bound_pair_odds(
    scores: Scores, counts: Any, pair: tuple[int, int], at_most: int | None
) -> tuple[Fraction | None, Fraction | None, Mapping[int, int]]:
    """Odds attained and odds never passed (None: infinite), with a victim."""
    if counts is not None:
        found = find_worst_odds(counts, scores, pair, attributes=at_most)
        sure = found.most is None and bool(found.known)
        return (None if sure else found.least), found.most, found.known
    rows = pair_odds(scores.normalised, pair, at_most)
    if rows.odds is None:
        return None, None, rows.known
    return rows.odds / 2, 2 * rows.odds, rows.known


def _posterior_from_odds(odds: Sequence[Fraction | None], highest: bool) -> Fraction:
    """A posterior from the odds against (for) each of the other classes."""
    if highest:
        rest = sum((1 / o for o in odds if o), start=Fraction(0))
        return 1 / (1 + rest) if all(o is None or o for o in odds) else Fraction(0)
    if any(o is None for o in odds):
        return Fraction(0)
    return 1 / (1 + sum((o for o in odds if o), start=Fraction(0)))


def bound_victim_odds(
    scores: Scores, counts: Any, known: Mapping[int, int]
) -> dict[tuple[int, int], Fraction | None]:
    """What the odds between classes never pass for one victim; None: infinite."""
    low, high = _bound_beliefs(scores, counts, known)
    return _tabulate_odds(high, low)


def compute_row_odds(
    scores: Scores, known: Mapping[int, int]
) -> dict[tuple[int, int], Fraction | None]:
    """The odds between classes of somebody who takes one victim for a random row."""
    found = scores.posterior(known)
    assert found is not None
    return _tabulate_odds(found, found)


def _tabulate_odds(
    high: Sequence[Fraction], low: Sequence[Fraction]
) -> dict[tuple[int, int], Fraction | None]:
    return {
        (c, d): p / q if q else None
        for c, p in enumerate(high)
        for d, q in enumerate(low)
        if c != d
    }


MOST_CLASSES = 10
"""With more classes, not every set of them is looked at."""


# Promises ---------------------------------------------------------------------------


def judge(
    views: Classifier, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge promises against a Bayesian on a classifier."""
    return [_judge_promise(views, p, run, warn) for p in promises]


def judge_card(
    card: Scorecard, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge promises on a scorecard: in whole points first, which is exact."""
    return [
        _judge_in_points(card, p) or _judge_promise(card, p, run, warn)
        for p in promises
    ]


def _judge_in_points(card: Scorecard, promise: Promise) -> Finding | None:
    """Safe, where no class leads another by more than the limit allows to anybody."""
    against, k = promise.against, len(card.labels)
    assert isinstance(against, Bayesian)
    if against.prior != "uniform" or isinstance(against.knows, Mapping):
        return None
    twice = 2 if against.averaging == "worlds" else 1  # as sure as anybody averaging is
    try:
        odds = allowed_amplification(promise.limit, k)
    except Infeasible:
        return None
    if k == 1 or not card.is_within(None if odds is None else odds / twice):
        return None
    label, bound, known = card.find_surest(twice)
    prior = Fraction(1, k)
    case = PosteriorCase(label, prior, PosteriorBound(bound, bound, known))
    return _make_finding(card, promise, case, Verdict.SAFE, Basis.BOUND)


def _judge_promise(
    views: Classifier, promise: Promise, run: Run, warn: Warn
) -> Finding:
    prior = priors(promise, views.labels)
    asked = _find_asked_classes(views, promise, warn)
    run.check()
    cases = list(find_cases(views, promise, asked, prior))
    if not cases:
        return Finding(promise, Verdict.SAFE, Basis.EXACT, Belief(0, 0))
    worst = max(cases, key=lambda c: c.gravity(promise.limit))
    wrong, unsure, _ = worst.gravity(promise.limit)
    if wrong:
        return _make_finding(views, promise, worst, Verdict.BREACH, Basis.EXACT)
    together = not unsure and promise.about is None
    if together and (sets := _find_crossing_set(views, promise, prior, cases)):
        return sets
    basis = Basis.EXACT if all(c.found.exact for c in cases) else Basis.BOUND
    verdict = Verdict.UNDECIDED if unsure else Verdict.SAFE
    return _make_finding(views, promise, worst, verdict, basis)


def priors(promise: Promise, labels: Sequence[str]) -> list[Fraction]:
    """What is believed of each class beforehand."""
    against = promise.against
    assert isinstance(against, Bayesian)
    if isinstance(against.prior, str):
        return [Fraction(1, len(labels))] * len(labels)
    missing = [c for c in labels if c not in against.prior]
    if missing:
        raise InputError(
            f"prior must give every class a probability; {missing[0]!r} has none."
        )
    return [against.prior[c] for c in labels]


def _find_asked_classes(views: Classifier, promise: Promise, warn: Warn) -> list[int]:
    """The classes a promise is about, by index."""
    about: Any = promise.about
    if isinstance(about, Mapping):
        if set(about) != {views.target}:
            got = ", ".join(map(repr, about))
            raise InputError(
                f"about must be the class {views.target!r} or a label; got {got}."
            )
        about = about[views.target]
    if about is None or about in ("*", views.target):
        return list(range(len(views.labels)))
    asked = list(about) if isinstance(about, tuple) else [about]
    for label in asked:
        if label not in views.labels:
            close = find_nearest(str(label), views.labels)
            hint = f" {suggest_names(str(label), views.labels)}" if close else ""
            warn(f"Class {label!r} never occurs in {views.target!r}.{hint}")
    return [views.labels.index(c) for c in asked if c in views.labels]


# Sets of classes --------------------------------------------------------------------


def _find_crossing_set(
    views: Classifier,
    promise: Promise,
    prior: Sequence[Fraction],
    cases: Sequence[PosteriorCase],
) -> Finding | None:
    """A set of classes whose probability crosses, or may, where single ones do not.

    None where it is proved that none does: by the amplification, or set by set.
    """
    shift, k, against = promise.limit, len(views.labels), promise.against
    assert isinstance(against, Bayesian)
    if k < 3 or not isinstance(shift, Shift):
        return None
    for case in cases:  # everything but one class
        if not shift.holds(case.others.belief):
            named = f"anything but {views.labels[case.label]}"
            return _make_finding(
                views, promise, case.others, Verdict.BREACH, Basis.EXACT, named=named
            )
    odds = _bound_all_pairs(views, against, cases[0].found.known)
    # Mediant inequality: where every p_c/p_d is within the gain of F_c/F_d, so are
    # the odds of every set of classes against the rest.
    gain = breach_amplification(shift)
    if all(
        o is not None and o * prior[d] <= gain * prior[c] for (c, d), o in odds.items()
    ):
        return None
    if k <= MOST_CLASSES and all(
        _set_is_safe(shift, prior, odds, chosen, k)
        for size in range(1, k)
        for chosen in combinations(range(k), size)
    ):
        return None
    worst = max(cases, key=lambda c: c.gravity(shift))
    note = (
        "No single class crosses the limit; whether a set of classes does could not "
        "be decided."
    )
    return _make_finding(views, promise, worst, Verdict.UNDECIDED, Basis.BOUND, note)


def _bound_all_pairs(
    views: Classifier, against: Bayesian, victim: Mapping[int, int]
) -> dict[tuple[int, int], Fraction | None]:
    """The highest odds of each class against each other, or a bound on them."""
    if isinstance(against.knows, Mapping):
        if against.averaging == "rows":
            return compute_row_odds(views.scores, victim)
        return bound_victim_odds(views.scores, views.counted, victim)
    kept, at_most = resolve_knowledge(views, against)
    view = views.scores if kept is None else views.scores.over(kept)
    view = view if at_most is None else view.normalised
    twice = 2 if against.averaging == "worlds" else 1
    found = {}
    for c in range(view.classes):
        for d in range(view.classes):
            if c != d:
                odds = pair_odds(view, (c, d), at_most).odds
                found[c, d] = None if odds is None else twice * odds
    return found


def _set_is_safe(
    shift: Shift,
    prior: Sequence[Fraction],
    odds: Mapping[tuple[int, int], Fraction | None],
    chosen: tuple[int, ...],
    classes: int,
) -> bool:
    """Whether a set of classes surely crosses neither way; its complement does both."""
    before, reach = sum(prior[c] for c in chosen), _bound_set(odds, chosen, classes)
    up = before < shift.start and reach >= shift.end
    down = before < 1 - shift.end and reach >= 1 - shift.start
    return not (up or down)


def _bound_set(
    odds: Mapping[tuple[int, int], Fraction | None],
    chosen: tuple[int, ...],
    classes: int,
) -> Fraction:
    """What the probability of a set of classes never passes."""
    others = [d for d in range(classes) if d not in chosen]
    total = Fraction(0)
    for c in chosen:
        # p_d >= p_c / o for every other d: p_c is at most p(others) / rest. Odds of 2
        # against each of two others: rest = 1, so p_c is at most 1/2.
        finite = [o for d in others if (o := odds[c, d]) is not None]
        rest = sum((1 / o for o in finite if o), start=Fraction(0))
        if not rest or any(o == 0 for o in finite):
            if any(o == 0 for o in finite):
                continue  # it never occurs together with one of the others
            return Fraction(1)
        total += 1 / rest
    return total / (1 + total)


# Findings ---------------------------------------------------------------------------


def _make_finding(
    views: Classifier,
    promise: Promise,
    worst: PosteriorCase,
    verdict: Verdict,
    basis: Basis,
    note: str = "",
    named: str = "",
) -> Finding:
    shown = worst.belief if verdict is Verdict.BREACH else worst.bound
    witness = Witness(
        knows=views.told(worst.found.known),
        column=views.target,
        value=named or views.labels[worst.label],
        part=shown.posterior.numerator,
        whole=shown.posterior.denominator,
        prior_part=worst.prior.numerator,
        prior_whole=worst.prior.denominator,
        counted="chances",
    )
    if verdict is Verdict.UNDECIDED and not note:
        note = (
            f"The belief is at least {float(worst.belief.posterior):.4g} and at most "
            f"{float(worst.bound.posterior):.4g}; the limit lies between."
        )
    return Finding(promise, verdict, basis, shown, witness, note=note)
