"""Naive Bayes classifiers: published with the same predictions, and what they tell."""

from __future__ import annotations

from operator import attrgetter

from privet.classifier.audit import judge, judge_card
from privet.classifier.files import (
    ClassifierParts,
    find_differences,
    find_unproved,
    open_card,
    restore_release,
)
from privet.classifier.publish import ClassifierRelease, publish_classifier
from privet.classifier.release import ClassifierViews
from privet.classifier.report import SENTENCES
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.extended_safety_transform import (
    ExtendedSafetyTransform,
)
from privet.classifier.transforms.rounding import FlattenedCard
from privet.classifier.transforms.safety_transform import SafetyTransform
from privet.release.kinds import ReleaseKind
from privet.values.adversaries import Bayesian

KIND = ReleaseKind(
    name="classifier",
    values={ClassifierViews: "a classifier", Scorecard: "a classifier"},
    judges={(ClassifierViews, Bayesian): judge, (Scorecard, Bayesian): judge_card},
    shows={ClassifierRelease: attrgetter("card"), FlattenedCard: attrgetter("card")},
    publish=publish_classifier,
    publishes=(object,),  # a model of anybody's; what is none is refused by name
    methods=(SafetyTransform, ExtendedSafetyTransform),
    options=("progress",),
    parts=ClassifierParts,
    open=open_card,
    find_differences=find_differences,
    restore=restore_release,
    sentences=SENTENCES,
    prove=find_unproved,
    proved="this is its release, and every prediction the original's",
)
"""A classifier as a kind of release."""
