"""Guessed roles (quasi-identifier, sensitive and others), and a policy to correct.

Only names, kinds, numbers of different values and, of sensitive columns, the share of
the commonest value are looked at; no cell is copied.
"""

from privet.draft.common_values import count_shares
from privet.draft.draft_policy import draft_policy
from privet.draft.guess_roles import Guess, guess_roles
from privet.engine.protocol import ColumnSummary

__all__ = ["ColumnSummary", "Guess", "count_shares", "draft_policy", "guess_roles"]
