"""What an insider knows, in the words that name one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.languages import join_words, say, say_number
from privet.values import exact
from privet.values.known_cells import EXCLUDE, SHARE, Members


def say_ruled_out(out: Any, sure: Sequence[Fraction] | None) -> str:
    """How many values are ruled out, and how surely."""
    number = _count(out)
    values = say_number("one value", "{n} values", number, n=number)
    values = values if number else say("no values")
    if sure is None:
        return values
    chances = join_words([exact.percent(p) for p in sure])
    return say("{values} ({chances} sure)", values=values, chances=chances)


def say_others(others: Any) -> str:
    """Of how many other people the value is known."""
    number = _count(others)
    if not number:
        return say("no other people")
    return say_number("one other person", "{n} other people", number, n=number)


def say_companions(same: Any) -> str:
    """How many people with the victim's value are known."""
    number = _count(same)
    if not number:
        return say("no people")
    return say_number("one person", "{n} people", number, n=number)


def phrase_members(members: Members) -> str:
    """What people who belong together do, as far as is known."""
    if members == SHARE:
        return say("share one value")
    if members == EXCLUDE:
        return say("all have different values")
    assert isinstance(members, Mapping)
    if "alike" in members:
        return say(
            "have one value with {chance}", chance=exact.percent(members["alike"])
        )
    return say("have values that go together as declared")


def _count(amount: Any) -> int:
    return amount if isinstance(amount, int) else len(amount)
