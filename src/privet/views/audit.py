"""Breach probability of private associations: interesting among possible worlds.

A possible world is a table that gives the published views; an interesting world also
holds the association. All possible worlds count the same. Two views are counted
exactly; more of them exactly where that can be done, else between bounds. Corrected as
documented.
Wang, Lakshmanan 2006, sections 3 to 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from privet.engine.protocol import Run
from privet.errors import InputError, TooLarge
from privet.findings import Finding
from privet.policy import Promise, View
from privet.release.kinds import Warn
from privet.table import require_columns
from privet.values.adversaries import WORLDS
from privet.views import many_views, two_views
from privet.views.private_associations import (
    PrivateAssociation,
    RemainingView,
    check_condition,
    read_private_association,
    reduce_views,
)
from privet.views.release import OpenViews, Views
from privet.views.sql.view_tuples import ViewPair
from privet.views.verdict import combine_worlds, make_undecided, make_unsupported

NOWHERE = (
    "The views do not show both {person} and {secret}, so they say nothing about who "
    "has what."
)


def judge_views(
    views: Views, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge a reconstructor's promises on views, each by itself."""
    opened = OpenViews(views, run)
    try:
        return [
            _judge(opened, read_private_association(promise, views), warn)
            for promise in promises
        ]
    finally:
        opened.close()


def _judge(opened: OpenViews, secret: PrivateAssociation, warn: Warn) -> Finding:
    opened.run.check()
    views = opened.views
    if not (views.showing(secret.person) and views.showing(secret.secret)):
        nowhere = NOWHERE.format(person=secret.person, secret=secret.secret)
        return make_unsupported(secret, nowhere)
    if both := views.showing(secret.person, secret.secret):
        secret = replace(secret, published=True)
        sides = _pair_one_view(views, both[0], secret)
        found = two_views.judge_two_views(opened, secret, sides, warn)
        assert found is not None  # keys are people: nothing ties them together
        return found
    used, asked = secret.list_used_columns(), {secret.person, secret.secret}
    if secret.full:
        asked |= used & set(views.columns)
    parts = {
        worlds: reduce_views(views, asked, full=worlds == "full") for worlds in WORLDS
    }
    check_condition(used, parts[secret.against.worlds], secret.full)
    projected, full = (
        partial(_judge_worlds, opened, replace(secret, worlds=w), parts[w])
        for w in ("projected", "full")
    )
    first = projected(warn)
    # Rows that are matched keep their other columns, whatever these are.
    same = secret.model == "bag" or _list_columns(parts, 0) == _list_columns(parts, 1)
    second = replace(first) if same else full(_say_nothing)
    return combine_worlds(secret, first, second, views.accepted)


def _list_columns(
    parts: Mapping[str, Sequence[RemainingView]], at: int
) -> set[frozenset[str]]:
    return {part.columns for part in list(parts.values())[at]}


def _say_nothing(words: str) -> None:
    """What is to be said of the values that are asked for was said before."""


def _judge_worlds(
    opened: OpenViews,
    secret: PrivateAssociation,
    parts: Sequence[RemainingView],
    warn: Warn,
) -> Finding:
    """Judge one promise by the tables over what is left of some views."""
    sides = _pair_two_views(parts, secret)
    try:
        if sides is not None and two_views.suits(secret, sides):
            found = two_views.judge_two_views(opened, secret, sides, warn)
            if found is not None:
                return found
        views, run = opened.views, opened.run
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


# Several releases -------------------------------------------------------------------

MOST_COMPARED = 200_000
"""Tuples of a view that are compared with the rows of a table."""


def join_views(first: Views, *others: Views, run: Run | None = None) -> Views:
    """All views of several releases of the same rows, to be judged together.

    Whoever has them all joins them all: K views of one table. They are looked at as
    views of the first one's table, so every other release must show exactly what that
    table gives, in the same bins and levels; a release that came as files is compared
    tuple by tuple. A set of columns that stands in several releases counts once.

    >>> import privet as pv
    >>> from privet.demo.tables import clinic_path
    >>> patients = pv.read(str(clinic_path()), identifier="name", sensitive="problem")
    >>> join_views(Views(patients, ["name", "age"]), Views(patients, ["age", "job"]))
    Views(view-1: name, age; view-2: age, job)
    """
    if first.marker is not None:
        raise InputError(
            "The first of several releases must be views of a table that is at hand; "
            "got views that were loaded. Put the table's views first."
        )
    run = run or Run()
    joined = list(first.views)
    for other in others:
        for number, view in enumerate(other.views):
            _require_same_rows(first, other, number, run)
            if set(view.columns) not in [set(v.columns) for v in joined]:
                joined.append(View(view.columns, _name_apart(view, joined)))
    return Views(first.table, *joined, accepted=first.accepted)


def _name_apart(view: View, others: Sequence[View]) -> str:
    """A name no other view has."""
    taken = {v.name for v in others}
    names = [view.name, *(f"view-{k}" for k in range(1, len(taken) + 2))]
    return next(n for n in names if n not in taken)


def _require_same_rows(first: Views, other: Views, number: int, run: Run) -> None:
    """Refuse a view that the first table does not give."""
    view = other.views[number]
    require_columns(view.columns, first.table.schema, f"view {view.name!r}")
    if other.table is first.table:
        return
    if _list_labels(first, 0, view, run) != _list_labels(other, number, view, run):
        raise InputError(
            f"View {view.name!r} must show what the table gives, in the same bins and "
            "levels; it does not. Another delivery is not judged as views of this one."
        )


def _list_labels(
    views: Views, number: int, view: View, run: Run
) -> set[tuple[str | None, ...]]:
    """The different tuples of a view, as they are shown."""
    found = views.tuples(number, view.columns, run, most=MOST_COMPARED)
    domains = [found.domains[c] for c in found.columns]
    return {
        tuple(d[code] for d, code in zip(domains, row, strict=True))
        for row in found.rows
    }
