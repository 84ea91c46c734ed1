"""Naive Bayes classifiers: published with the same predictions, and what they tell."""

from __future__ import annotations

from operator import attrgetter

from privet.classifier.attacks.inversion_promise import judge_counts, judge_shown
from privet.classifier.audit import judge, judge_card
from privet.classifier.classifier_note import write_classifier_note
from privet.classifier.files import (
    FORM,
    KEYS,
    ClassifierParts,
    find_differences,
    find_unproved,
    open_card,
    restate,
    restore_release,
)
from privet.classifier.publish import (
    ClassifierRelease,
    outline_classifier,
    publish_classifier,
)
from privet.classifier.release import ClassifierViews
from privet.classifier.report import SENTENCES, describe_work, write_examples
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.extended_safety_transform import (
    ExtendedSafetyTransform,
)
from privet.classifier.transforms.rounding import FlattenedCard
from privet.classifier.transforms.safety_transform import SafetyTransform
from privet.languages import mark
from privet.release.kinds import JointParts, ReleaseKind
from privet.values.adversaries import Bayesian, Inverter

KIND = ReleaseKind(
    name="classifier",
    values={ClassifierViews: mark("a classifier"), Scorecard: mark("a classifier")},
    judges={
        (ClassifierViews, Bayesian): judge,
        (Scorecard, Bayesian): judge_card,
        (ClassifierViews, Inverter): judge_counts,
        (Scorecard, Inverter): judge_shown,
    },
    shows={ClassifierRelease: attrgetter("card"), FlattenedCard: attrgetter("card")},
    publish=publish_classifier,
    publishes=(object,),  # a model of anybody's; what is none is refused by name
    methods=(SafetyTransform, ExtendedSafetyTransform),
    options=("progress",),
    parts=ClassifierParts,
    open=open_card,
    find_differences=find_differences,
    note=write_classifier_note,
    restate=restate,
    keys=KEYS,
    form=FORM,
    restore=restore_release,
    sentences=SENTENCES,
    sections=describe_work,
    examples=write_examples,
    joint=JointParts(outline=outline_classifier),
    prove=find_unproved,
    proved=mark("this is its release, and the proof of what it keeps holds"),
)
"""A classifier as a kind of release."""
