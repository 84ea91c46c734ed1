"""The privacy budget of a ledger: what earlier releases cost, and what is left.

Losses of releases about the same people add up. A release that would overdraw the
budget is refused before any noise is drawn; one that was entered stays spent, whether
it ever appeared or not.
Bun, Steinke 2016, lemma 1.7; Dwork, Roth 2014, theorem 3.16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.errors import Infeasible, InputError
from privet.policy import Policy
from privet.release.ledger import Ledger, LedgerEntry
from privet.report import ledger_words as words
from privet.values.noise.privacy_budget import PrivacyBudget, PrivacyLoss, bound_spent


def read_loss(entry: LedgerEntry) -> PrivacyLoss | None:
    """What a release in a ledger costs; None: it has no noise."""
    return None if entry.loss is None else PrivacyLoss(**entry.loss)


@dataclass(frozen=True)
class SpentBudget:
    """What the releases of a ledger come to."""

    losses: tuple[PrivacyLoss, ...]
    """Of those with noise."""
    others: tuple[str, ...]
    """Those without, by name: no budget covers them."""
    budget: PrivacyBudget | None = None
    """What they may come to, where a policy says so."""

    @classmethod
    def of(
        cls, entries: Sequence[LedgerEntry], budget: PrivacyBudget | None = None
    ) -> SpentBudget:
        """What is spent in a ledger."""
        found = [(e, read_loss(e)) for e in entries]
        return cls(
            tuple(loss for _, loss in found if loss is not None),
            tuple(e.name for e, loss in found if loss is None),
            budget,
        )

    @property
    def delta(self) -> Fraction:
        """The chance at which epsilon is told: the budget's, or what was spent."""
        if self.budget is not None:
            return self.budget.delta
        return sum((loss.delta for loss in self.losses), Fraction(0))

    @property
    def epsilon(self) -> Fraction | None:
        """What is spent; None: no epsilon holds at that chance."""
        return bound_spent(self.losses, self.delta)

    @property
    def left(self) -> Fraction | None:
        """What is left of the budget; None without one, or where it is overdrawn."""
        return None if self.budget is None else self.budget.left(self.losses)

    def to_dict(self) -> dict[str, Any]:
        """For machines; numbers as fractions in text."""
        told: Mapping[str, Any] = {
            "epsilon": self.epsilon,
            "rho": sum((x.rho for x in self.losses), Fraction(0)) or None,
            "delta": self.delta,
            "budget": self.budget and self.budget.epsilon,
            "left": self.left,
        }
        return {k: None if v is None else str(v) for k, v in told.items()}


def refuse_noiseless(policy: Policy, what: str) -> None:
    """Under a budget, and where noise is asked for, nothing goes out without."""
    if policy.budget is not None or policy.privacy is not None:
        section = "budget" if policy.privacy is None else "privacy"
        raise InputError(
            f"{what} must have noise under a policy with [{section}]; it would have "
            f"none. {words.WITHOUT_NOISE}"
        )


def refuse_overdrawn(policy: Policy, loss: PrivacyLoss) -> None:
    """Refuse a release whose noise would cost more than is left, before it is drawn."""
    budget, folder = policy.budget, policy.ledger_folder()
    if budget is None:
        return
    if folder is None:
        raise InputError(
            "A budget must go with a ledger, which knows what is spent of it. Name "
            "one: ledger = FOLDER in the policy, or --ledger."
        )
    spent = SpentBudget.of(Ledger.open(folder).entries, budget)
    if spent.others:
        raise Infeasible(words.say_uncounted(spent.others[0]))
    if budget.left([*spent.losses, loss]) is None:
        cost = bound_spent([loss], budget.delta)
        raise Infeasible(words.say_overdrawn(spent.to_dict(), cost), best=spent.left)
