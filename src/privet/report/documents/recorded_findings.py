"""Findings of a custody record, said again in the language of the reader.

A record keeps the sentences of the day it was made, in the language that was spoken.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from privet.errors import PrivetError
from privet.findings import Basis, Finding, Verdict, Witness
from privet.languages import LANGUAGES, speak
from privet.policy import Measure, Promise
from privet.values.beliefs import Belief
from privet.values.windows import Span

Told = Mapping[str, Any]
"""A finding, as a record has it."""

SENTENCES = ("promised", "figures", "words", "beyond", "note")
"""What is said of a finding."""

MEASURED = {"knows", "count", "of", "counted"}
COUNTED = {*MEASURED, "about", "prior_count", "prior_of"}
"""What a record has of witnesses that are counts and nothing else."""


def retell(told: Told, stated: Promise | Measure) -> Told:
    """A recorded finding with its sentences in the language that is spoken.

    It is made again from its numbers, and taken only if that gives, in one of the
    languages, what the record says to the letter; otherwise the record stands.
    """
    again = _rebuild(told, stated)
    if again is None or not any(_says_same(again, told, name) for name in LANGUAGES):
        return told
    said = again.to_dict()
    return {**told, **{key: said[key] for key in SENTENCES}}


def _says_same(again: Finding, told: Told, language: str) -> bool:
    with speak(language):
        said = again.to_dict()
    return all(said[key] == told.get(key) for key in SENTENCES)


def _rebuild(told: Told, stated: Promise | Measure) -> Finding | None:
    """The finding that was recorded; None: it has more than counts."""
    try:
        return Finding(
            stated,
            Verdict(told["verdict"]),
            None if told["basis"] is None else Basis(told["basis"]),
            _read_belief(told),
            _read_witness(told["witness"]),
            value=_read_share(told["measured"]),
            at_least=_read_share(told["at_least"]),
            groups=told["groups"],
            groups_above=told["groups_above"],
            people_above=told["people_above"],
            note=told["note"],
            details=told["details"],
        )
    except (KeyError, TypeError, ValueError, ArithmeticError, PrivetError):
        return None


def _read_share(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _read_belief(told: Told) -> Belief | None:
    prior, posterior = _read_share(told["prior"]), _read_share(told["posterior"])
    return None if prior is None or posterior is None else Belief(prior, posterior)


def _read_witness(told: Told | None) -> Witness | None:
    """The case that decides; an attack cannot be made again from what is recorded."""
    if told is None:
        return None
    if told.keys() == MEASURED:
        people = told["count"], told["of"]
        return Witness(told["knows"], "", None, *people, 0, 1, told["counted"])
    if told.keys() != COUNTED:
        raise ValueError
    ((column, about),) = told["about"].items()
    # A number within a window is recorded by both of its ends.
    span = Span(about["from"], about["to"]) if isinstance(about, Mapping) else None
    return Witness(
        knows=told["knows"],
        column=column,
        value=about if span is None else str(span),
        part=told["count"],
        whole=told["of"],
        prior_part=told["prior_count"],
        prior_whole=told["prior_of"],
        counted=told["counted"],
        window=span,
    )
