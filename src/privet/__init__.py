"""privet: publish the garden, keep the hedge.

Tells the owner of a table about people how sure an adversary could be of one person,
exactly and with a witness. Import everything from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "Accepted": "policy",
    "AssociationCover": "views.connectivity",
    "Audit": "findings",
    "Basis": "findings",
    "Bayesian": "values.adversaries",
    "Belief": "values.beliefs",
    "Bins": "values.schema",
    "Breach": "errors",
    "Ceiling": "values.beliefs",
    "ClassifierViews": "classifier.release",
    "Collector": "values.adversaries",
    "ColumnNotFound": "errors",
    "Comparison": "comparison.comparison",
    "ConnectivityGraph": "views.connectivity",
    "Counts": "values.contingency",
    "DeclaredDomain": "values.noise.declared_domain",
    "DerivedColumn": "policy",
    "Design": "responses.design",
    "DifferentialPrivacy": "values.noise.differential_privacy",
    "Discovery": "microdata.discovery.discovery",
    "DisguisedNaiveBayes": "responses.disguised_naive_bayes",
    "EmptyTable": "errors",
    "EngineError": "errors",
    "Estimate": "responses.estimate",
    "Exposure": "microdata.exposure.exposure",
    "ExtendedSafetyTransform": "classifier.transforms.extended_safety_transform",
    "Finding": "findings",
    "Flip": "responses.channels",
    "Frontier": "microdata.skyline.skyline_find",
    "FullDomain": "microdata.full_domain.publish",
    "Group": "responses.design",
    "Groups": "microdata.groups",
    "Infeasible": "errors",
    "Inference": "microdata.discovery.discovery",
    "InputError": "errors",
    "Insider": "values.adversaries",
    "Inverter": "values.adversaries",
    "KAry": "responses.channels",
    "Ledger": "release.ledger",
    "LedgerEntry": "release.ledger",
    "Linker": "values.adversaries",
    "Matrix": "responses.channels",
    "Measure": "policy",
    "Minimality": "microdata.minimality.minimality",
    "MissingExtra": "errors",
    "Mondrian": "microdata.generalisation.publish",
    "NaiveBayes": "classifier.naive_bayes",
    "NoAudit": "errors",
    "NotCovered": "errors",
    "NotTogether": "errors",
    "Policy": "policy",
    "PolicyDraft": "draft.policy_draft",
    "PolicyError": "errors",
    "PrivacyBudget": "values.noise.privacy_budget",
    "PrivacyLoss": "values.noise.privacy_budget",
    "PrivacyWarning": "errors",
    "PrivetError": "errors",
    "Progress": "engine.protocol",
    "Promise": "policy",
    "PublicKey": "release.integrity.signature",
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
    "Signature": "release.integrity.signature",
    "SigningKey": "release.integrity.signature",
    "Signoff": "policy",
    "SplitViews": "views.split",
    "Stopped": "errors",
    "Table": "table",
    "TooLarge": "errors",
    "TopDownDisclosure": "microdata.suppression.publish",
    "Tradeoff": "comparison.tradeoff",
    "Undecided": "errors",
    "UtilityReport": "microdata.information_loss.utility_report",
    "Verdict": "findings",
    "View": "policy",
    "Views": "views.release",
    "Witness": "findings",
    "audit": "release.audit",
    "belief": "release.audit",
    "compare": "comparison.comparison",
    "discover": "microdata.discovery.discovery",
    "disguise": "responses.publish",
    "draft_policy": "draft.policy_draft",
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
    "Accepted",
    "AssociationCover",
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
    "Comparison",
    "ConnectivityGraph",
    "Counts",
    "DeclaredDomain",
    "DerivedColumn",
    "Design",
    "DifferentialPrivacy",
    "Discovery",
    "DisguisedNaiveBayes",
    "EmptyTable",
    "EngineError",
    "Estimate",
    "Exposure",
    "ExtendedSafetyTransform",
    "Finding",
    "Flip",
    "Frontier",
    "FullDomain",
    "Group",
    "Groups",
    "Infeasible",
    "Inference",
    "InputError",
    "Insider",
    "Inverter",
    "KAry",
    "Ledger",
    "LedgerEntry",
    "Linker",
    "Matrix",
    "Measure",
    "Minimality",
    "MissingExtra",
    "Mondrian",
    "NaiveBayes",
    "NoAudit",
    "NotCovered",
    "NotTogether",
    "Policy",
    "PolicyDraft",
    "PolicyError",
    "PrivacyBudget",
    "PrivacyLoss",
    "PrivacyWarning",
    "PrivetError",
    "Progress",
    "Promise",
    "PublicKey",
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
    "Signature",
    "SigningKey",
    "Signoff",
    "SplitViews",
    "Stopped",
    "Table",
    "TooLarge",
    "TopDownDisclosure",
    "Tradeoff",
    "Undecided",
    "UtilityReport",
    "Verdict",
    "View",
    "Views",
    "Witness",
    "__version__",
    "audit",
    "belief",
    "compare",
    "discover",
    "disguise",
    "draft_policy",
    "estimate",
    "load",
    "publish",
    "read",
    "score_disguised",
    "skyline",
    "verify",
]

if TYPE_CHECKING:
    from privet.classifier.naive_bayes import NaiveBayes
    from privet.classifier.release import ClassifierViews
    from privet.classifier.transforms.extended_safety_transform import (
        ExtendedSafetyTransform,
    )
    from privet.classifier.transforms.safety_transform import SafetyTransform
    from privet.comparison.comparison import Comparison, compare
    from privet.comparison.tradeoff import Tradeoff
    from privet.draft.policy_draft import PolicyDraft, draft_policy
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
        NotCovered,
        NotTogether,
        PolicyError,
        PrivacyWarning,
        PrivetError,
        RoleConflict,
        Stopped,
        TooLarge,
        Undecided,
    )
    from privet.findings import Audit, Basis, Finding, Verdict, Witness
    from privet.microdata.discovery.discovery import Discovery, Inference, discover
    from privet.microdata.exposure.exposure import Exposure
    from privet.microdata.full_domain.publish import FullDomain
    from privet.microdata.generalisation.publish import Mondrian
    from privet.microdata.groups import Groups
    from privet.microdata.information_loss.utility_report import UtilityReport
    from privet.microdata.minimality.minimality import Minimality
    from privet.microdata.recipe import Recipe
    from privet.microdata.release import Release
    from privet.microdata.skyline.skyline_find import Frontier, skyline
    from privet.microdata.suppression.publish import TopDownDisclosure
    from privet.policy import (
        Accepted,
        DerivedColumn,
        Measure,
        Policy,
        Promise,
        Purpose,
        Signoff,
        View,
    )
    from privet.release.audit import audit, belief
    from privet.release.integrity.signature import PublicKey, Signature, SigningKey
    from privet.release.ledger import Ledger, LedgerEntry
    from privet.release.publish import publish
    from privet.release.verify import load, verify
    from privet.responses.accuracy import score_disguised
    from privet.responses.channels import Flip, KAry, Matrix, Replace
    from privet.responses.design import Design, Group, Question
    from privet.responses.disguised_naive_bayes import DisguisedNaiveBayes
    from privet.responses.estimate import Estimate, estimate
    from privet.responses.publish import disguise
    from privet.responses.release import Responses
    from privet.responses.transformer import RandomizedResponse
    from privet.table import Table, read
    from privet.values.adversaries import (
        Bayesian,
        Collector,
        Insider,
        Inverter,
        Linker,
        Reconstructor,
    )
    from privet.values.beliefs import Belief, Ceiling, Ratio, Shift
    from privet.values.contingency import Counts
    from privet.values.noise.declared_domain import DeclaredDomain
    from privet.values.noise.differential_privacy import DifferentialPrivacy
    from privet.values.noise.privacy_budget import PrivacyBudget, PrivacyLoss
    from privet.values.schema import Bins, Roles
    from privet.views.connectivity import AssociationCover, ConnectivityGraph
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
