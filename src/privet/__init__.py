"""privet: publish the garden, keep the hedge.

Tells the owner of a table about people how sure an adversary could be of one person,
exactly and with a witness. Import everything from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "Audit": "findings",
    "Basis": "findings",
    "Bayesian": "values.adversaries",
    "Belief": "values.beliefs",
    "Bins": "values.schema",
    "Breach": "errors",
    "Ceiling": "values.beliefs",
    "ClassifierViews": "classifier.release",
    "Collector": "responses.attacks",
    "ColumnNotFound": "errors",
    "Counts": "values.contingency",
    "Design": "responses.design",
    "DisguisedNaiveBayes": "responses.disguised_naive_bayes",
    "EmptyTable": "errors",
    "EngineError": "errors",
    "Estimate": "responses.estimate",
    "ExtendedSafetyTransform": "classifier.transforms.extended_safety_transform",
    "Finding": "findings",
    "Flip": "responses.channels",
    "Frontier": "microdata.skyline.skyline_find",
    "Group": "responses.design",
    "Groups": "microdata.groups",
    "Infeasible": "errors",
    "InputError": "errors",
    "Insider": "values.adversaries",
    "Inverter": "classifier.attacks.inversion",
    "KAry": "responses.channels",
    "Linker": "values.adversaries",
    "Matrix": "responses.channels",
    "Measure": "policy",
    "MissingExtra": "errors",
    "Mondrian": "microdata.generalisation.publish",
    "NaiveBayes": "classifier.naive_bayes",
    "NoAudit": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "PrivacyWarning": "errors",
    "PrivetError": "errors",
    "Progress": "engine.protocol",
    "Promise": "policy",
    "Purpose": "policy",
    "Question": "responses.design",
    "RandomizedResponse": "responses.transformer",
    "Ratio": "values.beliefs",
    "Recipe": "microdata.recipe",
    "Reconstructor": "values.adversaries",
    "Release": "microdata.release",
    "Replace": "responses.channels",
    "Responses": "responses.release",
    "RoleConflict": "errors",
    "Roles": "values.schema",
    "SafetyTransform": "classifier.transforms.safety_transform",
    "Shift": "values.beliefs",
    "Signoff": "policy",
    "SplitViews": "views.split",
    "Stopped": "errors",
    "Table": "table",
    "TooLarge": "errors",
    "TopDownDisclosure": "microdata.suppression.publish",
    "Verdict": "findings",
    "View": "policy",
    "Views": "views.release",
    "Witness": "findings",
    "audit": "release.audit",
    "belief": "release.audit",
    "disguise": "responses.publish",
    "estimate": "responses.estimate",
    "load": "release.verify",
    "publish": "release.publish",
    "read": "table",
    "score_disguised": "responses.accuracy",
    "skyline": "microdata.skyline.skyline_find",
    "verify": "release.verify",
}
"""Where each public name lives; it is imported when first used."""

__all__ = [
    "Audit",
    "Basis",
    "Bayesian",
    "Belief",
    "Bins",
    "Breach",
    "Ceiling",
    "ClassifierViews",
    "Collector",
    "ColumnNotFound",
    "Counts",
    "Design",
    "DisguisedNaiveBayes",
    "EmptyTable",
    "EngineError",
    "Estimate",
    "ExtendedSafetyTransform",
    "Finding",
    "Flip",
    "Frontier",
    "Group",
    "Groups",
    "Infeasible",
    "InputError",
    "Insider",
    "Inverter",
    "KAry",
    "Linker",
    "Matrix",
    "Measure",
    "MissingExtra",
    "Mondrian",
    "NaiveBayes",
    "NoAudit",
    "Policy",
    "PolicyError",
    "PrivacyWarning",
    "PrivetError",
    "Progress",
    "Promise",
    "Purpose",
    "Question",
    "RandomizedResponse",
    "Ratio",
    "Recipe",
    "Reconstructor",
    "Release",
    "Replace",
    "Responses",
    "RoleConflict",
    "Roles",
    "SafetyTransform",
    "Shift",
    "Signoff",
    "SplitViews",
    "Stopped",
    "Table",
    "TooLarge",
    "TopDownDisclosure",
    "Verdict",
    "View",
    "Views",
    "Witness",
    "__version__",
    "audit",
    "belief",
    "disguise",
    "estimate",
    "load",
    "publish",
    "read",
    "score_disguised",
    "skyline",
    "verify",
]

if TYPE_CHECKING:
    from privet.classifier.attacks.inversion import Inverter
    from privet.classifier.naive_bayes import NaiveBayes
    from privet.classifier.release import ClassifierViews
    from privet.classifier.transforms.extended_safety_transform import (
        ExtendedSafetyTransform,
    )
    from privet.classifier.transforms.safety_transform import SafetyTransform
    from privet.engine.protocol import Progress
    from privet.errors import (
        Breach,
        ColumnNotFound,
        EmptyTable,
        EngineError,
        Infeasible,
        InputError,
        MissingExtra,
        NoAudit,
        PolicyError,
        PrivacyWarning,
        PrivetError,
        RoleConflict,
        Stopped,
        TooLarge,
    )
    from privet.findings import Audit, Basis, Finding, Verdict, Witness
    from privet.microdata.generalisation.publish import Mondrian
    from privet.microdata.groups import Groups
    from privet.microdata.recipe import Recipe
    from privet.microdata.release import Release
    from privet.microdata.skyline.skyline_find import Frontier, skyline
    from privet.microdata.suppression.publish import TopDownDisclosure
    from privet.policy import Measure, Policy, Promise, Purpose, Signoff, View
    from privet.release.audit import audit, belief
    from privet.release.publish import publish
    from privet.release.verify import load, verify
    from privet.responses.accuracy import score_disguised
    from privet.responses.attacks import Collector
    from privet.responses.channels import Flip, KAry, Matrix, Replace
    from privet.responses.design import Design, Group, Question
    from privet.responses.disguised_naive_bayes import DisguisedNaiveBayes
    from privet.responses.estimate import Estimate, estimate
    from privet.responses.publish import disguise
    from privet.responses.release import Responses
    from privet.responses.transformer import RandomizedResponse
    from privet.table import Table, read
    from privet.values.adversaries import Bayesian, Insider, Linker, Reconstructor
    from privet.values.beliefs import Belief, Ceiling, Ratio, Shift
    from privet.values.contingency import Counts
    from privet.values.schema import Bins, Roles
    from privet.views.release import Views
    from privet.views.split import SplitViews


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    found: object = getattr(import_module(f"privet.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
