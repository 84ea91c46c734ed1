"""Guessed roles (quasi-identifier, sensitive and others), and a policy to correct.

Only names, kinds and numbers of different values are looked at, never a cell.
"""

from privet.draft.draft_policy import draft_policy
from privet.draft.guess_roles import Guess, guess_roles
from privet.engine.protocol import ColumnSummary

__all__ = ["ColumnSummary", "Guess", "draft_policy", "guess_roles"]
