"""Guessed roles (quasi-identifier, sensitive and others), and a policy to correct.

Names, kinds and numbers of different values are looked at, and what a sample of the
values looks like; values are named only where many people share them.
"""

from privet.draft.guess_roles import Guess, guess_roles
from privet.draft.policy_draft import PolicyDraft, draft_policy
from privet.engine.protocol import ColumnSummary

__all__ = ["ColumnSummary", "Guess", "PolicyDraft", "draft_policy", "guess_roles"]
