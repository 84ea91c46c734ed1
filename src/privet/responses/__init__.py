"""Randomized response: from disguised answers to estimates and classifiers."""

from __future__ import annotations

from privet.release.kinds import ReleaseKind
from privet.responses.audit import judge
from privet.responses.design import Design, design_of
from privet.responses.files import (
    FORM,
    ResponsesParts,
    find_differences,
    open_responses,
)
from privet.responses.release import Responses
from privet.responses.report import SENTENCES
from privet.responses.transformer import RandomizedResponse
from privet.values.adversaries import Bayesian

KIND = ReleaseKind(
    name="responses",
    values={Responses: "disguised rows", Design: "a design"},
    judges={(Responses, Bayesian): judge, (Design, Bayesian): judge},
    shows={RandomizedResponse: design_of},
    parts=ResponsesParts,
    open=open_responses,
    find_differences=find_differences,
    close=Responses.close,
    unpromised=True,
    form=FORM,
    sentences=SENTENCES,
)
"""Disguised rows as a kind of release."""
