"""The methods that are compared, each with its name and how to ask for it alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import attrs

from privet.comparison.method_figures import ANSWERS, CLASSIFIER, TABLE, VIEWS
from privet.errors import InputError, suggest_names
from privet.microdata.full_domain.publish import FullDomain
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.suppression.publish import TopDownDisclosure
from privet.values.exact import Number
from privet.views.split import SplitViews

AS_IT_IS = "as-it-is"
"""The table itself: what all others are compared with."""


@dataclass(frozen=True)
class Candidate:
    """A method that is tried."""

    name: str
    """As `methods` names it."""
    words: str
    """What it does."""
    publishes: str = TABLE
    """What it would publish."""
    method: Any = None
    """What `publish` takes; None where the method has its own way."""


CANDIDATES = (
    Candidate(AS_IT_IS, "the table as it is"),
    Candidate(
        "disclosure-target",
        "hides values, keeps what tells of the target",
        method=TopDownDisclosure(utility="information"),
    ),
    Candidate(
        "disclosure",
        "hides values, as few cells as it can",
        method=TopDownDisclosure(utility="distortion"),
    ),
    Candidate("mondrian", "groups with ranges of their own", method=Mondrian()),
    Candidate(
        "mondrian-target",
        "the same, cut by what tells of the target",
        method=Mondrian(utility="information"),
    ),
    Candidate(
        "same-cuts", "the same ranges for everybody", method=Mondrian(same_cuts=True)
    ),
    Candidate(
        "same-cuts-target",
        "the same, cut by what tells of the target",
        method=Mondrian(same_cuts=True, utility="information"),
    ),
    Candidate(
        "buckets",
        "known values as they are, sensitive ones by group",
        method=Mondrian(form="buckets"),
    ),
    Candidate("full-domain", "one level of each hierarchy", method=FullDomain()),
    Candidate(
        "subtrees",
        "each branch of a hierarchy at its own level",
        method=FullDomain(subtrees=True),
    ),
    Candidate("views", "two views of the table", VIEWS, SplitViews()),
    Candidate("classifier", "a classifier of the target", CLASSIFIER),
    Candidate("answers", "disguised answers to the target", ANSWERS),
)
"""Every method there is, in the order they are tried."""

Asked = str | Iterable[str] | Mapping[str, Any] | None
"""Names of methods; or methods by names of one's own."""


def choose_candidates(methods: Asked, suppress: Number = 0) -> tuple[Candidate, ...]:
    """The methods that were asked for; all of them unless somebody asks."""
    known = {c.name: c for c in CANDIDATES}
    if methods is None:
        methods = [*known]
    names = [methods] if isinstance(methods, str) else list(methods)
    if not names:
        raise InputError("methods must be one at least; got none.")
    if isinstance(methods, Mapping):
        own = [_name_method(str(n), m) for n, m in methods.items()]
        return tuple(_let_suppress(c, suppress) for c in own)
    for name in names:
        if name not in known:
            raise InputError(
                f"methods must be names of methods; got {name!r}. "
                f"{suggest_names(str(name), [*known], most=20)}"
            )
    chosen = [known[name] for name in dict.fromkeys(names)]
    return tuple(_let_suppress(c, suppress) for c in chosen)


def _name_method(name: str, method: Any) -> Candidate:
    fits = (TopDownDisclosure, Mondrian, FullDomain, SplitViews)
    if not isinstance(method, fits):
        raise InputError(
            f"methods must be methods such as Mondrian(); got {type(method).__name__} "
            f"for {name!r}."
        )
    sort = VIEWS if isinstance(method, SplitViews) else TABLE
    return Candidate(name, "as you set it", sort, method)


def _let_suppress(candidate: Candidate, suppress: Number) -> Candidate:
    """The method with people it may suppress, where it says nothing itself.

    Only where they are chosen so that more is kept: groups that are left out once all
    is done make every figure worse.
    """
    method = candidate.method
    if not suppress or not isinstance(method, Mondrian | FullDomain) or method.suppress:
        return candidate
    if isinstance(method, Mondrian) and not method.stars:
        return candidate
    return replace(candidate, method=attrs.evolve(method, suppress=suppress))
