"""Promises and the policy file that states them."""

from privet.policy.document import Policy
from privet.policy.measure import Measure
from privet.policy.promise import Promise, Purpose, Signoff
from privet.policy.view import View, views_of

__all__ = ["Measure", "Policy", "Promise", "Purpose", "Signoff", "View", "views_of"]
