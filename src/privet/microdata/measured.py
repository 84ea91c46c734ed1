"""Familiar measures in words."""

from __future__ import annotations

from fractions import Fraction

from privet.policy import Measure
from privet.values.exact import percent

SENTENCES = {
    "k_anonymity": "The table is {value}-anonymous: the smallest group of people who "
    "look alike in every quasi column has {people}{facts}.",
    "alpha_k_anonymity": "Among people who look alike, one value is had by up to "
    "{value}{who}{k}.",
    "distinct_l_diversity": "People who look alike have at least {value} different "
    "{values}{who}.",
    "entropy_l_diversity": "The values of people who look alike are as varied as "
    "{value} equally frequent ones, at the least{who}.",
    "recursive_l_diversity": "The table is recursively ({c}, {value})-diverse{who}.",
    "t_closeness": "The values of people who look alike are up to {value} away from "
    "those of everybody{who}.",
    "beta_likeness": "Among people who look alike, a value's share grows by up to "
    "{value}{who}.",
    "enhanced_beta_likeness": "Among people who look alike, a value's share grows by "
    "up to {value}{who}; rare values may grow less than frequent ones.",
    "delta_disclosure": "Among people who look alike, the logarithm of a value's share "
    "moves by up to {value}{who}.",
    "prosecutor_risk": "Who knows that a person is in the table finds the right row "
    "with a chance of up to {value}{who}.",
    "journalist_risk": "Who takes a row finds the right person of the population with "
    "a chance of up to {value}{who}.",
    "marketer_risk": "Who matches every row gets {value} of them right.",
    "sample_uniques": "{value} of the rows look like no other row.",
}
"""What a measure found, by its key."""

SHARES = (
    "alpha_k_anonymity",
    "prosecutor_risk",
    "journalist_risk",
    "marketer_risk",
    "sample_uniques",
)
"""Measures that are shares of people."""


def number(measure: Measure, value: Fraction) -> str:
    """What was measured, as people read it.

    >>> number(Measure(prosecutor_risk="1/2"), Fraction(1, 4))
    '25 %'
    >>> number(Measure(t_closeness="1/2"), Fraction(1, 3))
    '0.333'
    """
    if measure.kind in SHARES:
        return percent(value, unlike=measure.level)
    if value.denominator == 1:
        return str(value)
    for digits in range(3, 10):
        text = f"{float(value):.{digits}f}"
        if value == measure.level or Fraction(text) != measure.level:
            return text
    return (
        f"slightly {'more' if value > measure.level else 'less'} than {level(measure)}"
    )


def level(measure: Measure) -> str:
    """The level as the policy means it."""
    if measure.kind in SHARES:
        return percent(measure.level)
    return str(measure.level)


def sentence(measure: Measure, value: Fraction, people: str, facts: str) -> str:
    """What was found; `facts` describe the group that decides."""
    several = "" if measure.k is None else f"; they must be at least {measure.k:,}"
    return SENTENCES[measure.kind].format(
        values="value" if value == 1 else "values",
        k=several,
        value=number(measure, value),
        people=people,
        facts=f" ({facts})" if facts else "",
        who=f" ({people}: {facts})" if facts else f" ({people})",
        c=measure.c,
    )
