"""privet: publish the garden, keep the hedge.

Tells the owner of a table about people how sure an adversary could be of one person,
exactly and with a witness. Import everything from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "Audit": "finding",
    "Basis": "finding",
    "Bayesian": "adversary",
    "Belief": "beliefs",
    "Bins": "roles",
    "Breach": "errors",
    "Ceiling": "beliefs",
    "ClassifierViews": "releases.classifier",
    "Collector": "audits.collector",
    "ColumnNotFound": "errors",
    "Counts": "counts",
    "Design": "releases.design",
    "DisguisedNaiveBayes": "learn.disguised",
    "EmptyTable": "errors",
    "EngineError": "errors",
    "Estimate": "learn.solving",
    "ExtendedSafetyTransform": "publishers.extended",
    "Finding": "finding",
    "Flip": "releases.channels",
    "Frontier": "audits.frontier",
    "Group": "releases.design",
    "Groups": "releases.groups",
    "Infeasible": "errors",
    "InputError": "errors",
    "Insider": "adversary",
    "Inverter": "audits.inversion",
    "KAry": "releases.channels",
    "Linker": "adversary",
    "Matrix": "releases.channels",
    "Measure": "policy",
    "MissingExtra": "errors",
    "Mondrian": "publishers",
    "NaiveBayes": "learn.naive_bayes",
    "NoAudit": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "PrivacyWarning": "errors",
    "PrivetError": "errors",
    "Progress": "engines.base",
    "Promise": "policy",
    "Purpose": "policy",
    "Question": "releases.questions",
    "RandomizedResponse": "publishers.randomized",
    "Ratio": "beliefs",
    "Recipe": "releases.recipe",
    "Reconstructor": "adversary",
    "Release": "publishers",
    "Replace": "releases.channels",
    "Responses": "releases.responses",
    "RoleConflict": "errors",
    "Roles": "roles",
    "SafetyTransform": "publishers.safety",
    "Shift": "beliefs",
    "Signoff": "policy",
    "SplitViews": "publishers",
    "Stopped": "errors",
    "Table": "table",
    "TooLarge": "errors",
    "TopDownDisclosure": "publishers",
    "Verdict": "finding",
    "View": "policy",
    "Views": "releases.views",
    "Witness": "finding",
    "audit": "audits",
    "belief": "audits",
    "disguise": "publishers.respond",
    "estimate": "learn.estimates",
    "load": "publishers",
    "publish": "publishers",
    "read": "table",
    "score_disguised": "learn.accuracy",
    "skyline": "audits.frontier",
    "verify": "publishers",
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
    from privet.adversary import Bayesian, Insider, Linker, Reconstructor
    from privet.audits import audit, belief
    from privet.audits.collector import Collector
    from privet.audits.frontier import Frontier, skyline
    from privet.audits.inversion import Inverter
    from privet.beliefs import Belief, Ceiling, Ratio, Shift
    from privet.counts import Counts
    from privet.engines.base import Progress
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
    from privet.finding import Audit, Basis, Finding, Verdict, Witness
    from privet.learn.accuracy import score_disguised
    from privet.learn.disguised import DisguisedNaiveBayes
    from privet.learn.estimates import estimate
    from privet.learn.naive_bayes import NaiveBayes
    from privet.learn.solving import Estimate
    from privet.policy import Measure, Policy, Promise, Purpose, Signoff, View
    from privet.publishers import (
        Mondrian,
        Release,
        SplitViews,
        TopDownDisclosure,
        load,
        publish,
        verify,
    )
    from privet.publishers.extended import ExtendedSafetyTransform
    from privet.publishers.randomized import RandomizedResponse
    from privet.publishers.respond import disguise
    from privet.publishers.safety import SafetyTransform
    from privet.releases.channels import Flip, KAry, Matrix, Replace
    from privet.releases.classifier import ClassifierViews
    from privet.releases.design import Design, Group
    from privet.releases.groups import Groups
    from privet.releases.questions import Question
    from privet.releases.recipe import Recipe
    from privet.releases.responses import Responses
    from privet.releases.views import Views
    from privet.roles import Bins, Roles
    from privet.table import Table, read


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    found: object = getattr(import_module(f"privet.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
