"""Beliefs before and after a release (prior, posterior), and the limits set to them.

A ceiling limits the posterior (a confidence threshold), a shift forbids moving it from
below one level to another, a ratio bounds it by the prior. As a fraction of small
numbers a ceiling is exact for all groups of a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import attrs

from privet.errors import InputError
from privet.values import exact
from privet.values.converters import name_fields
from privet.values.exact import Number


@attrs.frozen(field_transformer=name_fields)
class Belief:
    """How sure somebody is, before and after seeing the release.

    >>> Belief("5/24", 0.8)
    Belief(prior=Fraction(5, 24), posterior=Fraction(4, 5))
    """

    prior: Fraction = attrs.field(converter=exact.probability)
    """Without the release's help about this one person."""
    posterior: Fraction = attrs.field(converter=exact.probability)
    """With it."""


@attrs.frozen(init=False)
class Ceiling:
    """A limit on the posterior: *at most* this much, or *below* it.

    >>> Ceiling("1/2").holds(Belief(0, "1/2")), Ceiling(below=0.5).holds(Belief(0, 0.5))
    (True, False)
    """

    level: Fraction
    """Where the limit lies, in (0, 1]."""
    strict: bool
    """True for *below*, False for *at most*."""

    def __init__(
        self, at_most: Number | None = None, *, below: Number | None = None
    ) -> None:
        if (at_most is None) == (below is None):
            got = "none" if below is None else "both"
            raise InputError(f"Ceiling must have one of at_most and below; got {got}.")
        word, value = ("below", below) if at_most is None else ("at_most", at_most)
        level = exact.level(value, word)  # type: ignore[arg-type]
        if not 0 < level <= 1:
            got = exact.quote_value(value)
            raise InputError(f"{word} must be above 0 and at most 1; got {got}.")
        self.__attrs_init__(level, at_most is None)

    def __repr__(self) -> str:
        return f"Ceiling({'below=' if self.strict else ''}{str(self.level)!r})"

    def holds(self, belief: Belief) -> bool:
        """Whether this belief stays within the limit."""
        if self.strict:
            return belief.posterior < self.level
        return belief.posterior <= self.level

    def forbids_something(self, priors: Sequence[Fraction] | None = None) -> bool:
        """Whether any belief is beyond it: none is above 1."""
        return self.strict or self.level < 1

    def to_dict(self) -> dict[str, str]:
        """The limit as a policy writes it."""
        return {"below" if self.strict else "at_most": str(self.level)}


@attrs.frozen(init=False)
class Shift:
    """No mind is moved across: from below `start` to `end` or more, nor back.

    >>> Shift("0.51", "0.8").holds(Belief("0.5", "0.79"))
    True
    """

    start: Fraction
    """The lower level, in (0, 1)."""
    end: Fraction
    """The upper level, above `start`."""

    def __init__(self, start: Number, end: Number) -> None:
        self.__attrs_init__(exact.level(start, "from"), exact.level(end, "to"))
        if not 0 < self.start < self.end < 1:
            raise InputError(
                "from and to must satisfy 0 < from < to < 1; "
                f"got from = {self.start} and to = {self.end}."
            )

    def holds(self, belief: Belief) -> bool:
        """Whether the belief crosses in neither direction."""
        up = belief.prior < self.start and belief.posterior >= self.end
        down = belief.prior > self.end and belief.posterior <= self.start
        return not (up or down)

    def forbids_something(self, priors: Sequence[Fraction] | None = None) -> bool:
        """Whether a belief with one of these priors can cross; None: any prior.

        >>> Shift("0.5", "0.8").forbids_something([Fraction(1, 2)] * 2)
        False
        """
        return priors is None or any(p < self.start or p > self.end for p in priors)

    def to_dict(self) -> dict[str, str]:
        """The limit as a policy writes it."""
        return {"from": str(self.start), "to": str(self.end)}


@attrs.frozen(init=False)
class Ratio:
    """The posterior stays within a factor of the prior, up and down.

    >>> Ratio(2).holds(Belief("1/2", "1/4")), Ratio(2).holds(Belief("1/2", "1/5"))
    (True, False)
    """

    factor: Fraction
    """At least 1."""

    def __init__(self, factor: Number) -> None:
        self.__attrs_init__(exact.level(factor, "within"))
        if self.factor < 1:
            raise InputError(f"within must be at least 1; got {self.factor}.")

    def holds(self, belief: Belief) -> bool:
        """Whether both quotients stay within the factor."""
        low, high = sorted((belief.prior, belief.posterior))
        return high <= self.factor * low

    def forbids_something(self, priors: Sequence[Fraction] | None = None) -> bool:
        """Whether any belief is beyond it: one that falls to nothing always is."""
        return True

    def to_dict(self) -> dict[str, str]:
        """The limit as a policy writes it."""
        return {"within": str(self.factor)}


Limit = Ceiling | Shift | Ratio
"""The three ways to bound a belief."""


def read_limit(keys: Mapping[str, Number]) -> Limit:
    """The limit that a policy's keys describe."""
    if "exactly" in keys:
        return Ceiling(keys["exactly"])
    if "at_most" in keys or "below" in keys:
        return Ceiling(keys.get("at_most"), below=keys.get("below"))
    if "within" in keys:
        return Ratio(keys["within"])
    return Shift(keys["from"], keys["to"])


# Limits as fractions of small numbers -----------------------------------------------

NEVER = Fraction(-1)
"""No belief is low enough."""


def largest_fraction_within(limit: Ceiling, people: int) -> Fraction:
    """The highest belief that keeps a limit, among fractions of at most so many people.

    A share of N people, N at most `people`, keeps the limit just if it is not above
    this fraction, whose terms are small whatever digits the limit has.

    >>> largest_fraction_within(Ceiling("0.3333333333333333333333"), 10)
    Fraction(3, 10)
    >>> largest_fraction_within(Ceiling(below="1/2"), 7)
    Fraction(3, 7)
    """
    # The nearest of all such fractions: none lies between it and the limit, so the
    # answer is this one or the next lower.
    near = limit.level.limit_denominator(people)
    if near < limit.level or (near == limit.level and not limit.strict):
        return near
    return _find_next_lower(near, people)


def _find_next_lower(share: Fraction, people: int) -> Fraction:
    """The next lower fraction whose denominator is at most so large."""
    if share == 0:
        return NEVER
    # Neighbours in a Farey sequence differ by 1 / (b d): a d is 1 modulo b, d as large
    # as can be. Below 2/3 with up to 10: 2 d is 1 modulo 3, so d = 8 and 15/24 = 5/8.
    a, b = share.numerator, share.denominator
    step = pow(a, -1, b) if b > 1 else 0
    d = people - (people - step) % b
    return Fraction(a * d - 1, b * d)
