"""The verb `publish`: change a table until every promise holds, at the least cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

from privet.engine.protocol import Listener, limit_time
from privet.errors import InputError
from privet.policy.policy import Stated
from privet.release.audit import open_frame
from privet.release.kinds import ReleaseKind, list_kinds
from privet.release.refine import Watcher
from privet.table import Table

if TYPE_CHECKING:
    from privet.release.verb_types import (
        ClassifierRelease,
        Frame,
        FullDomain,
        ListenOptions,
        Mondrian,
        Recipe,
        Release,
        SearchOptions,
        SplitViews,
        TopDownDisclosure,
        TransformMethod,
        TransformOptions,
        Views,
        ViewsRelease,
    )


@overload
def publish(
    table: Views, promises: Stated, **options: Unpack[ListenOptions]
) -> ViewsRelease: ...


@overload
def publish(
    table: Table | Frame,
    promises: Stated,
    *,
    method: SplitViews,
    **options: Unpack[ListenOptions],
) -> ViewsRelease: ...


@overload
def publish(
    table: Table | Frame,
    promises: Stated,
    *,
    method: TopDownDisclosure | Mondrian | FullDomain | None = None,
    **options: Unpack[SearchOptions],
) -> Release: ...


@overload
def publish(
    table: Any,
    promises: Stated,
    *,
    method: TransformMethod | None = None,
    **options: Unpack[TransformOptions],
) -> ClassifierRelease: ...


def publish(
    table: Any,
    promises: Stated,
    *,
    method: Any = None,
    recipe: Recipe | None = None,
    since: Table | None = None,
    hold_back: bool = False,
    utility: bool = True,
    max_seconds: float | None = None,
    progress: Listener | None = None,
    watcher: Watcher | None = None,
) -> Release | ClassifierRelease | ViewsRelease:
    """Make a release that keeps every promise; or raise `Infeasible`.

    Parameters
    ----------
    table
        The private table, or a frame of pandas, polars, pyarrow or DuckDB if a policy
        says what its columns are for; views of it, which are released as they are if
        they keep every promise; or a classifier: a `NaiveBayes`, its `ClassifierViews`,
        or a fitted `CategoricalNB`.
    promises
        A policy, or promises and measures.
    method
        How to make it safe: `TopDownDisclosure()`, which hides values, by default;
        `Mondrian()`, which makes groups; `FullDomain()`, which shows each column at a
        level of its hierarchy; or `SplitViews()`, which makes two views. For
        a classifier `SafetyTransform()`, or `ExtendedSafetyTransform()` where a promise
        has a prior of its own.
    recipe
        An earlier release's recipe to apply again instead; refused if it breaks a
        promise now.
    since
        With a recipe: the table of the delivery it was made for. Then more is hidden
        than the recipe hides, until whoever subtracts the two deliveries stays within
        every limit, too.
    hold_back
        With `since`: hide no more than the recipe, and hold new rows back instead,
        until enough have come.
    utility
        Whether to tell, in numbers, what a released table keeps: `Release.utility`.
    max_seconds
        How long it may take, with counting and judging. The search stops early enough
        for what it reached, which is safe, to be judged; what does not fit is
        `Stopped`.
    progress, watcher
        Take events of the engine and of the moves; a watcher that returns False stops.

    Examples
    --------
    >>> import privet as pv
    >>> from privet.demo.tables import bank_path
    >>> loans = pv.read(str(bank_path()), quasi=["job", "country", "child"],
    ...                 sensitive="bankruptcy", target="rating", weight="count")
    >>> promise = pv.Promise(against=pv.Linker(knows=["job", "country"]),
    ...                      about={"bankruptcy": "Discharged"},
    ...                      limit=pv.Ceiling("3/4"))
    >>> publish(loans, [promise]).hidden
    {'country': ['Canada', 'UK']}
    """
    given = {
        "recipe": recipe,
        "since": None if since is None else open_frame(since, promises),
        "hold_back": hold_back or None,
        "utility": None if utility else False,
        "progress": progress,
        "watcher": watcher,
    }
    table = open_frame(table, promises)
    kind = _find_publisher(table, method)
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in kind.options:
            raise InputError(f"{name} must be left out for a release of {kind.name}.")
    assert kind.publish is not None
    made: Release | ClassifierRelease | ViewsRelease
    with limit_time(max_seconds):
        made = kind.publish(table, promises, method=method, **options)
    return made


def _find_publisher(subject: object, method: object) -> ReleaseKind:
    """The kind of release that is made: of what is given, by the method asked for."""
    takes = []
    for kind in list_kinds():  # one that will do is enough: the others take time
        if not isinstance(subject, kind.publishes):
            continue
        takes.append(kind)
        if object not in kind.publishes and _makes(kind, method):
            return kind
    # Whoever takes anybody's model takes what no other kind knows.
    able = [k for k in takes if object not in k.publishes] or takes
    for kind in able:
        if _makes(kind, method):
            return kind
    methods = [m.__name__ for kind in able for m in kind.methods]
    raise InputError(
        f"method must fit what is published, {type(subject).__name__}; got "
        f"{type(method).__name__}. It takes: {', '.join(methods)}."
    )


def _makes(kind: ReleaseKind, method: object) -> bool:
    return method is None or isinstance(method, kind.methods)
