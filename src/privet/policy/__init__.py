"""Promises (privacy templates and criteria), and the policy file that states them."""

from privet.policy.acceptance import Accepted, DerivedColumn
from privet.policy.measures import Measure
from privet.policy.policy import Policy
from privet.policy.promises import Promise, Purpose, Signoff, View, views_of

__all__ = [
    "Accepted",
    "DerivedColumn",
    "Measure",
    "Policy",
    "Promise",
    "Purpose",
    "Signoff",
    "View",
    "views_of",
]
