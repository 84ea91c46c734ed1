"""What a policy asks of the columns of a table, held against the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from privet.errors import Problem, what_exists
from privet.policy.promises import Promise
from privet.policy.view import is_query
from privet.values.adversaries import Bayesian, Insider, Linker, Reconstructor
from privet.values.beliefs import Ceiling
from privet.values.schema import Roles

if TYPE_CHECKING:
    from privet.policy.policy import Policy

Named = tuple[str, Sequence[str]]
"""A key that names columns, and the columns."""


def misfits(policy: Policy, roles: Roles, columns: Sequence[str]) -> list[Problem]:
    """What a policy asks of columns that are not there, or not meant for it."""
    problems = [
        Problem(
            f"{key} must name columns of the table; got {name!r}. "
            f"{what_exists(name, columns)}",
            key,
        )
        for key, names in _named(policy, roles)
        for name in names
        if name not in columns
    ]
    for i, promise in enumerate(policy.promises, 1):
        if isinstance(promise.against, Linker | Insider):
            problems += _misused(f"promise[{i}]", promise, roles)
    return problems


def _named(policy: Policy, roles: Roles) -> Iterator[Named]:
    for role in ("identifier", "quasi", "sensitive"):
        yield f"columns.{role}", getattr(roles, role)
    for role in ("target", "unit", "weight"):
        name = getattr(roles, role)
        yield f"columns.{role}", [name] if name else []
    free = {"bins": roles.bins, "where": policy.where, "hierarchy": policy.hierarchies}
    for section, named in free.items():
        for column in named:
            yield f"{section}.{column}", [column]
    for i, view in enumerate(policy.views, 1):
        yield f"view[{i}].columns", view.columns
    for i, promise in enumerate(policy.promises, 1):
        if isinstance(promise.against, Linker):
            yield f"promise[{i}].knows", promise.against.knows or ()
        # What a Bayesian's promise is about may be a class instead of a column.
        if not isinstance(promise.against, Bayesian):
            yield f"promise[{i}].about", _about(promise)


def _about(promise: Promise) -> Sequence[str]:
    if isinstance(promise.against, Reconstructor) and is_query(promise.about):
        return ()
    if isinstance(promise.about, dict):
        return tuple(promise.about)
    return (promise.about,) if isinstance(promise.about, str) else ()


def _misused(at: str, promise: Promise, roles: Roles) -> Iterator[Problem]:
    """What would be refused when the promise is judged, said with its line."""
    known = promise.against.knows if isinstance(promise.against, Linker) else ()
    about = _about(promise) or roles.sensitive
    counted = {roles.unit, roles.weight}
    rules = [
        ("knows", "must not hold an identifier", known, roles.identifier),
        ("knows", "must not hold the unit or weight", known, counted),
        ("knows", "must not hold what the promise is about", known, about),
        ("about", "must not be an identifier", about, roles.identifier),
        ("about", "must not be the unit or weight", about, counted),
    ]
    for key, rule, names, wrong in rules:
        if bad := [n for n in names or () if n in wrong]:
            got = ", ".join(map(repr, bad))
            yield Problem(f"{at}.{key} {rule}; got {got}.", f"{at}.{key}")
    yield from _missing(at, promise, roles)


def _missing(at: str, promise: Promise, roles: Roles) -> Iterator[Problem]:
    if not _about(promise) and len(roles.sensitive) != 1:
        got = ", ".join(map(repr, roles.sensitive)) or "none"
        yield Problem(
            f"{at}.about must name a column unless one is sensitive; got {got}.",
            f"{at}.about",
        )
    linker = promise.against
    if isinstance(linker, Linker) and linker.knows is None and not roles.quasi:
        yield Problem(
            f"{at}.knows must name columns unless some are quasi; got none.",
            f"{at}.knows",
        )
    if not isinstance(promise.limit, Ceiling):
        key = next(iter(promise.limit.to_dict()))
        yield Problem(
            f"{at} must be limited by at_most or below against a "
            f"{promise.against.kind}; got {key}.",
            f"{at}.{key}",
        )
