"""Breach probability of private associations: interesting among possible worlds.

A possible world is a table that gives the published views; an interesting world also
holds the association. All possible worlds count the same. Two views are counted
exactly; more of them exactly where that can be done, else between bounds. Corrected as
documented.
Wang, Lakshmanan 2006, sections 3 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from privet.engine.protocol import Run
from privet.errors import TooLarge
from privet.findings import Finding
from privet.policy import Promise
from privet.release.kinds import Warn
from privet.views import many_views, two_views
from privet.views.private_associations import (
    PrivateAssociation,
    RemainingView,
    check_condition,
    read_private_association,
    reduce_views,
)
from privet.views.release import Views
from privet.views.sql.view_tuples import ViewPair
from privet.views.verdict import make_undecided, make_unsupported

NOWHERE = (
    "The views do not show both {person} and {secret}, so they say nothing about who "
    "has what."
)


def judge_views(
    views: Views, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge a reconstructor's promises on views, each by itself."""
    return [
        _judge(views, read_private_association(promise, views), run, warn)
        for promise in promises
    ]


def _judge(views: Views, secret: PrivateAssociation, run: Run, warn: Warn) -> Finding:
    if not (views.showing(secret.person) and views.showing(secret.secret)):
        nowhere = NOWHERE.format(person=secret.person, secret=secret.secret)
        return make_unsupported(secret, nowhere)
    if both := views.showing(secret.person, secret.secret):
        secret = replace(secret, published=True)
        sides = _pair_one_view(views, both[0], secret)
        return two_views.judge_two_views(views, secret, sides, run, warn)
    full = secret.full
    parts = reduce_views(views, secret.person, secret.secret, full=full)
    check_condition(secret.list_used_columns(), parts, full)
    if (sides_ := _pair_two_views(parts, secret)) is not None:
        return two_views.judge_two_views(views, secret, sides_, run, warn)
    try:
        return many_views.judge_many_views(views, secret, parts, run, warn)
    except TooLarge as large:
        return make_undecided(secret, str(large))


def _pair_one_view(views: Views, number: int, secret: PrivateAssociation) -> ViewPair:
    """One view shows both: each person is a key, and meets what is in the view."""
    shown = frozenset(views.views[number].columns)
    check_condition(
        secret.list_used_columns(), [RemainingView(number, shown)], full=True
    )
    more = sorted(secret.list_used_columns() - {secret.person, secret.secret})
    return ViewPair(
        (secret.person, *more), secret.person, secret.secret, views=(number, number)
    )


def _pair_two_views(
    parts: Sequence[RemainingView], secret: PrivateAssociation
) -> ViewPair | None:
    """The sides of a join, where two views are all that matters."""
    if len(parts) != 2:
        return None
    left, right = parts if secret.person in parts[0].columns else parts[::-1]
    key = left.columns & right.columns
    asked = {secret.person, secret.secret}
    return ViewPair(
        tuple(sorted(key)),
        secret.person,
        secret.secret,
        tuple(sorted(left.columns - key - asked)),
        tuple(sorted(right.columns - key - asked)),
        views=(left.number, right.number),
    )
