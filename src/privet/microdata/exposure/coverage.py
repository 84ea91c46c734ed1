"""What promises cover of a table: whom they are against, and which values they limit.

For each sensitive column the values that matter are those its promises name, all of
them if one names none. Each must be limited, below certainty, for a linker who has all
known columns, or for an insider. Whoever knows all quasi columns but not the target or
another column beside them is covered as far as counting shows that those add nothing:
nobody with all known columns is beyond that limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from privet.errors import InputError, suggest_names
from privet.findings import Finding, Verdict
from privet.microdata.exposure.exposure import ColumnExposure, Exposure
from privet.microdata.linkage import read_about
from privet.microdata.skyline.named_individuals import is_named
from privet.policy import Accepted, Measure, Promise
from privet.policy.acceptance import Uncovered
from privet.policy.promises import select_promises
from privet.table import Table
from privet.values.adversaries import Insider, Linker
from privet.values.beliefs import Ceiling
from privet.values.windows import Within

Values = tuple[object, ...] | Within | None
"""The values a promise is about, or how wide windows are; None: every value."""
Stated = Sequence[Promise | Measure]
"""What is promised."""


def find_uncovered(
    table: Table,
    stated: Stated,
    accepted: Sequence[Accepted],
    told: Exposure | None,
) -> list[Finding]:
    """A finding for each sensitive column that is neither covered nor accepted."""
    entries = {a.about: a for a in accepted if a.of == "linkage"}
    counted = {c.column: c for c in told.columns} if told else {}
    found = []
    for column in table.roles.sensitive:
        exposed = counted.get(column)
        if is_covered(table, stated, column, exposed):
            continue
        entry = entries.get(column)
        if entry is not None and _is_accepted(entry, exposed):
            continue
        found.append(_build_finding(column, exposed, entry))
    return found


def list_accepted(
    table: Table, stated: Stated, accepted: Sequence[Accepted], told: Exposure
) -> list[Accepted]:
    """The entries that are needed, and suffice."""
    counted = {c.column: c for c in told.columns}
    return [
        a
        for a in accepted
        if a.of == "linkage"
        and not is_covered(table, stated, a.about, counted.get(a.about))
        and _is_accepted(a, counted.get(a.about))
    ]


def _is_accepted(entry: Accepted, exposed: ColumnExposure | None) -> bool:
    if exposed is None:  # nobody counted how many people are concerned
        return entry.up_to is None
    return entry.covers(count_concerned(exposed))


def count_concerned(exposed: ColumnExposure) -> int:
    """People of whom somebody with all known columns is surer than any limit allows;
    of whom somebody is certain, where the policy sets no limit.
    """
    if not exposed.beyond:
        return exposed.certain
    return max(b.people for b in exposed.beyond)


def _build_finding(
    column: str, exposed: ColumnExposure | None, entry: Accepted | None
) -> Finding:
    people = None if exposed is None else count_concerned(exposed)
    details = {
        "people": people,
        "of": None if exposed is None else exposed.people,
        "known": [] if exposed is None else list(exposed.known),
        "certain": None if exposed is None else exposed.certain,
        "accepted_up_to": None if entry is None else entry.up_to,
    }
    return Finding(
        Uncovered(column),
        Verdict.NOT_COVERED,
        people_above=people or 0,
        details=details,
    )


# Which promises cover ---------------------------------------------------------------


def is_covered(
    table: Table, stated: Stated, column: str, exposed: ColumnExposure | None
) -> bool:
    """Whether every value that matters is limited for whoever has all known columns."""
    promises = list(list_promises(stated, column, table.roles.sensitive))
    covering = [
        values
        for promise, values in promises
        if _covers(promise, values, table, column, exposed)
    ]
    # Of no promise at all every value matters.
    matter = [values for _, values in promises] or [None]
    return all(_are_within(values, covering) for values in matter)


def _covers(
    promise: Promise,
    values: Values,
    table: Table,
    column: str,
    exposed: ColumnExposure | None,
) -> bool:
    limit = promise.limit
    if not isinstance(limit, Ceiling) or (limit.level >= 1 and not limit.strict):
        return False
    missing = _list_missing(promise, table, column)
    if missing is None:
        return False
    return not missing or _adds_nothing(limit, values, exposed)


def _list_missing(
    promise: Promise, table: Table, column: str
) -> tuple[str, ...] | None:
    """Known columns that a promise against all quasi columns leaves out.

    None where the promise is against somebody who knows less than these.
    """
    quasi, beside = _split_known(table, column)
    against = promise.against
    if isinstance(against, Insider):
        return None if is_named(promise) else tuple(beside)
    assert isinstance(against, Linker)
    everything = [*quasi, *beside]
    if against.knows is not None:
        lacks = set(everything) - set(against.knows)
        return None if lacks & set(quasi) else tuple(c for c in beside if c in lacks)
    other = [c for c in table.roles.other if c in beside]
    if against.knows_any is not None and against.knows_any < len(quasi) + len(other):
        return None
    return tuple(c for c in beside if c not in other)


def find_beside(
    promises: Sequence[Promise], table: Table, accepted: Sequence[Accepted]
) -> dict[Promise, tuple[str, ...]]:
    """Known columns that the promises which cover a column leave out, for each such.

    In one release it is counted that these add nothing. Of promises about the same
    column the most lenient is asked to hold with them; none if one names them all, or
    somebody accepted that nothing covers the column.
    """
    taken = {a.about for a in accepted if a.of == "linkage"}
    found: dict[Promise, tuple[str, ...]] = {}
    for column in (c for c in table.roles.sensitive if c not in taken):
        stated = [
            (p, values, missing)
            for p, values in list_promises(promises, column, table.roles.sensitive)
            if isinstance(p.limit, Ceiling)
            and p.limit.forbids_something()
            and (missing := _list_missing(p, table, column)) is not None
        ]
        whole = [values for _, values, missing in stated if not missing]
        open_ = [
            (p, values, missing)
            for p, values, missing in stated
            if isinstance(p.against, Linker) and not _are_within(values, whole)
        ]
        for asked in dict.fromkeys(values for _, values, _ in open_):
            same = [(p, missing) for p, values, missing in open_ if values == asked]
            widest, missing = max(same, key=lambda each: _order_limit(each[0].limit))
            found[widest] = missing
    return found


def _are_within(values: Values, others: Sequence[Values]) -> bool:
    """Whether values are among those of some other promises.

    Who is limited in every window is limited in every number: nobody is surer of one
    than of a window around it. Windows are wider than single values, and that one has
    no number is in none of them.
    """
    windows = [w for w in others if isinstance(w, Within)]
    if isinstance(values, Within):
        return any(w.covers(values) for w in windows)
    if None in others:
        return True
    if values is None:
        return False
    limited = {v for w in others if isinstance(w, tuple) for v in w}
    numbers = {v for v in values if windows and v is not None}
    return set(values) <= limited | numbers


def _order_limit(limit: object) -> tuple[Fraction, bool]:
    """How much a limit allows: below 1/2 less than at most 1/2."""
    assert isinstance(limit, Ceiling)
    return limit.level, not limit.strict


def _split_known(table: Table, column: str) -> tuple[list[str], list[str]]:
    """The quasi columns, under the names people know them by, and those beside them."""
    known = table.roles.list_known(column)
    quasi = [c for c in known if c in table.roles.quasi]
    beside = [c for c in known if c not in quasi]
    if table.shown is not None:
        quasi = list(table.shown.known)
    return quasi, [c for c in beside if c not in quasi]


def _adds_nothing(
    limit: Ceiling, values: Values, exposed: ColumnExposure | None
) -> bool:
    """Whether nobody who has all known columns is beyond the limit, by count."""
    if exposed is None or exposed.at_most:
        return False
    return any(
        b.limit == limit and b.about == values and b.people == 0 for b in exposed.beyond
    )


def list_promises(
    stated: Stated, column: str, sensitive: Sequence[str]
) -> Iterator[tuple[Promise, Values]]:
    """The promises of linkers and insiders about a column, with their values."""
    promises = [p for p in stated if isinstance(p, Promise)]
    only = sensitive[0] if len(sensitive) == 1 else ""
    for promise in select_promises("groups", promises):
        try:
            about, values = read_about(promise, only)
        except InputError:  # said where the promise is judged
            continue
        if about == column and isinstance(promise.against, Linker | Insider):
            yield promise, values


def list_limits(
    stated: Stated, column: str, sensitive: Sequence[str]
) -> Iterator[tuple[Ceiling, Values]]:
    """Each limit that a policy sets for a column, with the values it is about."""
    yield from dict.fromkeys(
        (promise.limit, values)
        for promise, values in list_promises(stated, column, sensitive)
        if isinstance(promise.limit, Ceiling)
    )


def accept_by_name(
    accept: Mapping[str, str], sensitive: Sequence[str]
) -> tuple[Accepted, ...]:
    """Entries for sensitive columns, with the reasons given for them."""
    if wrong := [c for c in accept if c not in sensitive]:
        raise InputError(
            f"accept must name columns that are sensitive; got {wrong[0]!r}. "
            f"{suggest_names(wrong[0], sensitive)}"
        )
    return tuple(Accepted(column, why=why) for column, why in accept.items())
