"""What is promised of a release, however it was handed over."""

from __future__ import annotations

from collections.abc import Sequence

from privet.policy import Measure, Policy, Promise
from privet.values.schema import Roles

Stated = Policy | Promise | Sequence[Promise | Measure]
"""What is promised."""


def policy_of(promises: Stated, roles: Roles | None = None) -> Policy:
    """A policy as it is; promises and measures as one, with the roles of a table."""
    if isinstance(promises, Policy):
        return promises
    one = isinstance(promises, Promise | Measure)
    stated = [promises] if one else list(promises)  # type: ignore[arg-type]
    return Policy(
        promises=tuple(p for p in stated if isinstance(p, Promise)),
        measures=tuple(p for p in stated if isinstance(p, Measure)),
        roles=roles or Roles(),
    )
