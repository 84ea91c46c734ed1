"""Worst posteriors: how sure anybody can be of a class, by what they take the rest for.

What decides a promise about a classifier: the highest and lowest posterior of each
class, over everything that may be known and every reading of what is not, for somebody
who takes the victim for a random row or averages over the possible tables.
Mozafari, Zaniolo 2009, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

from privet.classifier.amplification import pair_odds
from privet.classifier.limited_knowledge import (
    DeclaredReading,
    find_any_extreme,
    restrict,
)
from privet.classifier.possible_tables import (
    MOST_STEPS,
    AveragedPosteriors,
    estimate_steps,
    factor_bound,
    find_worst_odds,
)
from privet.classifier.posteriors.posterior_bounds import (
    PosteriorBound,
    find_extreme_posterior,
)
from privet.classifier.scores import Known, Scores
from privet.errors import InputError
from privet.policy import Promise
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Belief, Ceiling, Limit

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
    def attributes(self) -> Sequence[Any]:
        """The columns that predict it."""

    @property
    def model(self) -> Scores:
        """The same where what is not known is summed over, as counts and rows do."""

    @property
    def slack(self) -> Fraction:
        """How far a posterior of the scores may be off; 0: they are exact."""

    @property
    def model_slack(self) -> Fraction:
        """How much further one of the model may be off, where points are added up."""

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
        beyond = [not limit.holds(b) for b in (self.belief, self.bound)]
        wrong, open_ = all(beyond) or (beyond[0] and self._is_sure(limit)), any(beyond)
        value = self.found.value
        if isinstance(limit, Ceiling):
            return wrong, open_, value
        # A move from 0, or to 0, is larger than every factor: 2**60.
        up = (
            Fraction(value, self.prior) if self.prior else Fraction(2**60 * (value > 0))
        )
        down = Fraction(self.prior, value) if value else Fraction(2**60)
        return wrong, open_, max(up, down)

    def _is_sure(self, limit: Limit) -> bool:
        """Whether an extreme lies beyond a limit if what is attained of it does.

        The highest posterior is no less than `value`, so it is as far above a limit;
        whether it is below one, where that is rounded down, the bound tells.
        """
        value, bound = self.found.value, self.found.bound
        above = isinstance(limit, Ceiling) or value > self.prior
        return value <= bound if above else value >= bound


Finder = Callable[[int, bool], PosteriorBound]
"""What finds the highest or lowest posterior of a class."""


def find_cases(
    views: Classifier,
    promise: Promise,
    labels: Sequence[int],
    prior: Prior,
    *,
    room: Fraction = Fraction(0),
) -> Iterator[PosteriorCase]:
    """What decides a promise about classes: their highest and lowest posteriors.

    `room` is how far below a limit they must stay.
    """
    against = promise.against
    assert isinstance(against, Bayesian)
    one = isinstance(promise.limit, Ceiling) and not isinstance(against.knows, Mapping)
    find = _make_finder(views, against, prior)
    for label in labels:
        for highest in [True] if one else [True, False]:
            slack = views.slack + _model_slack(views, against) + room
            found = widened(find(label, highest), slack, highest)
            yield PosteriorCase(label, prior[label], found)


def _make_finder(views: Classifier, against: Bayesian, prior: Prior) -> Finder:
    """What finds extremes, by what the unknown is taken for."""
    if against.reading == "model":
        return _make_model_finder(views, against)
    if against.reading != "any":
        reading = DeclaredReading(views, against)

        def find(label: int, highest: bool) -> PosteriorBound:
            return reading.find_extreme([label], highest=highest, before=prior[label])

        return find
    known = views.victim(against.knows) if isinstance(against.knows, Mapping) else {}
    if against.averaging == "rows":
        return partial(_find_any, views, known)
    if isinstance(against.knows, Mapping):
        return partial(_bound_any_victim, views, known)
    counts = None if views.counted is None else AveragedPosteriors.of(views.counted)
    most = views.scores.attributes if views.slack else None

    def find_averaged(label: int, highest: bool) -> PosteriorBound:
        return _bound_averaged_posterior(views.scores, counts, label, highest, most)

    return find_averaged


def _find_any(
    views: Classifier, known: Known, label: int, highest: bool
) -> PosteriorBound:
    """The extreme of whoever knows this, and perhaps all the rest, too."""
    skips = bool(views.slack)  # on a card what is unknown may add nothing
    _refuse_nobody(views, known)
    return find_any_extreme(views.scores, known, label, highest=highest, skips=skips)


def _bound_any_victim(
    views: Classifier, known: Known, label: int, highest: bool
) -> PosteriorBound:
    """The same of somebody who averages over tables: at most twice the odds."""
    rows = _find_any(views, known, label, highest)
    if len(known) == views.scores.attributes:
        return _bound_one_victim(views, "worlds", known, label, highest)
    side, better = (0, max) if highest else (1, min)  # what is surely attained
    victims = (known, dict(rows.known))
    values = [
        (_bound_beliefs(views.scores, views.counted, v)[side][label], i)
        for i, v in enumerate(victims)
    ]
    value, at = better(values)
    factor = Fraction(2) if highest else Fraction(1, 2)
    return PosteriorBound(value, _times_odds(rows.bound, factor), victims[at])


def _times_odds(belief: Fraction, factor: Fraction) -> Fraction:
    return factor * belief / (factor * belief + 1 - belief)


def _make_model_finder(views: Classifier, against: Bayesian) -> Finder:
    """Extremes of somebody who takes the unknown for what the model expects."""
    if isinstance(against.knows, Mapping):
        known = views.victim(against.knows)
        return partial(_bound_one_victim, views, against.averaging, known)
    kept, at_most = resolve_knowledge(views, against)
    scores = views.model if kept is None else views.model.over(kept)
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


def _model_slack(views: Classifier, against: Bayesian) -> Fraction:
    """How far adding up what is known may be off what the model expects."""
    return views.model_slack if against.reading == "model" else Fraction(0)


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
) -> tuple[tuple[int, ...] | None, int]:
    """Which attributes may be known, and how many at most; None: all."""
    if isinstance(against.knows, tuple):
        kept = tuple(views.victim_index(name) for name in against.knows)
        return kept, len(kept)
    assert isinstance(against.knows, int)
    return None, min(against.knows, views.scores.attributes)


def _restore_indices(
    found: PosteriorBound, kept: tuple[int, ...] | None
) -> PosteriorBound:
    if kept is None:
        return found
    known = {kept[i]: t for i, t in found.known.items()}
    return PosteriorBound(found.value, found.bound, known)


def _refuse_nobody(views: Classifier, known: Known) -> None:
    if known and views.model.posterior(known) is None:
        raise InputError("Somebody must fit what is known; nobody does.")


def _bound_one_victim(
    views: Classifier, averaging: str, known: Known, label: int, highest: bool
) -> PosteriorBound:
    """What the model makes of one victim."""
    _refuse_nobody(views, known)
    rows = views.model.posterior(known)
    assert rows is not None
    if averaging == "rows":
        return PosteriorBound(rows[label], rows[label], known)
    low, high = _bound_beliefs(views.model, views.counted, known)
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


def bound_all_pairs(
    views: Classifier, against: Bayesian, victim: Mapping[int, int]
) -> dict[tuple[int, int], Fraction | None]:
    """The highest odds of each class against each other, or a bound on them."""
    if isinstance(against.knows, Mapping) and against.reading == "model":
        if against.averaging == "rows":
            return compute_row_odds(views.model, victim)
        return bound_victim_odds(views.model, views.counted, victim)
    view, at_most = _see_pairs(views, against)
    twice = 2 if against.averaging == "worlds" else 1
    found = {}
    for c in range(view.classes):
        for d in range(view.classes):
            if c != d:
                odds = pair_odds(view, (c, d), at_most).odds
                found[c, d] = None if odds is None else twice * odds
    return found


def _see_pairs(views: Classifier, against: Bayesian) -> tuple[Scores, int | None]:
    """The scores in which pairs of classes are compared, and how many may be known."""
    if against.reading == "model":
        kept, most = resolve_knowledge(views, against)
        return views.model if kept is None else views.model.over(kept), most
    known = views.victim(against.knows) if isinstance(against.knows, Mapping) else {}
    view = restrict(views.scores, known)
    return view, view.attributes if views.slack else None


def find_all_known(
    views: Classifier, promise: Promise, worst: PosteriorCase
) -> Fraction | None:
    """The belief in the same class of somebody who knows all attributes.

    None where nothing weaker is promised; that one is never passed.
    """
    against = promise.against
    assert isinstance(against, Bayesian)
    if against.reading == "any" or isinstance(against.knows, Mapping):
        return None
    found = _find_any(views, {}, worst.label, True)
    return widened(found, views.slack, highest=True).bound
