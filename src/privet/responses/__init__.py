"""Randomized response: from disguised answers to estimates and classifiers."""

from __future__ import annotations

from privet.languages import mark
from privet.release.kinds import JointParts, ReleaseKind
from privet.responses.audit import judge
from privet.responses.design import Design, design_of
from privet.responses.files import (
    FORM,
    KEYS,
    ResponsesParts,
    find_differences,
    open_responses,
    outline_responses,
    restate,
    write_responses_note,
)
from privet.responses.recovery.attacks import judge_collector
from privet.responses.release import Responses
from privet.responses.report import SENTENCES, describe_work, write_examples
from privet.responses.transformer import RandomizedResponse
from privet.values.adversaries import Bayesian, Collector

KIND = ReleaseKind(
    name="responses",
    values={Responses: mark("disguised rows"), Design: mark("a design")},
    judges={
        (Responses, Bayesian): judge,
        (Design, Bayesian): judge,
        (Responses, Collector): judge_collector,
    },
    shows={RandomizedResponse: design_of},
    parts=ResponsesParts,
    open=open_responses,
    find_differences=find_differences,
    note=write_responses_note,
    restate=restate,
    keys=KEYS,
    close=Responses.close,
    unpromised=True,
    form=FORM,
    sentences=SENTENCES,
    sections=describe_work,
    examples=write_examples,
    joint=JointParts(outline=outline_responses),
)
"""Disguised rows as a kind of release."""
