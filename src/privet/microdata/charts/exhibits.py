"""What there is to be seen of tables, groups, releases, skylines and discoveries."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Any

from privet.display import Exhibit
from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError
from privet.findings import Verdict
from privet.languages import mark, say
from privet.microdata.charts.discovery_charts import draw_matrix, draw_rules
from privet.microdata.charts.group_charts import (
    draw_sizes,
    draw_surest,
    draw_uniqueness,
)
from privet.microdata.charts.group_counts import (
    count_groups,
    count_uniqueness,
    describe_groups,
    list_surest,
)
from privet.microdata.charts.release_charts import (
    LOADED,
    draw_changed,
    draw_column,
    draw_hidden,
    draw_pair,
    open_private,
)
from privet.microdata.charts.skyline_charts import draw_skyline
from privet.microdata.discovery import report as discovery_report
from privet.microdata.groups import Groups
from privet.microdata.release import Release
from privet.microdata.skyline import report as skyline_report
from privet.microdata.skyline.skyline_find import Frontier
from privet.policy import Measure, Promise
from privet.report.belief_charts import draw_beliefs
from privet.report.chart_style import (
    AFTER,
    BEFORE,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    STEP,
    colour,
    finish,
    list_in_order,
    number_alike,
    shorten,
    start,
    take_first,
)
from privet.report.charts import (
    draw_before_and_after,
    draw_exposure,
    draw_own_beliefs,
    list_findings,
    list_levels,
    list_promises,
    tell_exposure,
)
from privet.report.documents.document import say_verdict
from privet.report.render import table_as_html
from privet.report.vega_lite import Chart, field
from privet.report.words import (
    SYMBOLS,
    escape_name,
    format_bound,
    format_limit,
)
from privet.table import Table, require_columns
from privet.values.beliefs import Ceiling
from privet.values.exact import fraction
from privet.values.schema import as_names
from privet.values.windows import Within

MOST_GROUPS = 15
"""Groups of a list."""
ANY_COLUMNS = (
    "A promise must be about columns that are named for its groups to be drawn; it is "
    "about any of them. Name them with knows=[...]: the finding says which are worst."
)

ROLES = {
    mark("identifier"): PURPLE,
    mark("quasi"): BLUE,
    mark("sensitive"): ORANGE,
    mark("target"): GREEN,
    mark("other"): GREY,
}
"""The colours of roles."""


# Tables -----------------------------------------------------------------------------


def list_columns(table: Table) -> list[dict[str, Any]]:
    """A line per column: its name, its type and what it is for; no cell of a row."""
    return [
        {"column": c.name, "type": c.kind, "role": table.schema.role(c.name) or ""}
        for c in table.schema.columns
    ]


def draw_roles(table: Table) -> Chart | None:
    """The columns by what they are for."""
    first, more = take_first(list_columns(table), 40)
    names = number_alike([shorten(c["column"], 30) for c in first])
    rows = [
        {"column": name, "role": _name_role(c["role"]), "type": c["type"]}
        for name, c in zip(names, first, strict=True)
    ]
    roles = list(dict.fromkeys(r["role"] for r in rows))
    own = {say(role): fill for role, fill in ROLES.items()}
    order = list(dict.fromkeys(r for r in (*own, *roles) if r in roles))
    colours = {r: own.get(r, GREY) for r in order}
    marks = start(rows, width={"step": 84}, height={"step": STEP - 4})
    x = field(
        "role:N",
        sort=order,
        title=None,
        axis={"orient": "top", "labelAngle": 0, "grid": True},
    )
    y = field("column:N", **list_in_order(names, axis={"grid": True}))
    points = marks.mark("square", size=150, opacity=1)
    key = {**colour(colours), "legend": None}
    return finish(
        points.encode(x=x, y=y, color=field("role:N", **key)),
        say("What the columns are for"),
        more,
    )


def _name_role(roles: str) -> str:
    """The first of the roles of a column, as a chart names it."""
    return say(roles.split(",", maxsplit=1)[0] or UNDECIDED)


UNDECIDED = mark("not decided")
"""The role of a column that nobody gave one."""


def _write_table(table: Table, picture: str) -> str:
    lines = [(c["column"], c["type"], c["role"]) for c in list_columns(table)]
    heads = (say("Column"), say("Type"), say("Role"))
    return (
        f"<div><p><strong>{escape(escape_name(table.words))}</strong></p>"
        f"{table_as_html(heads, lines)}{picture}</div>"
    )


def _draw_table_groups(table: Table, about: str | None = None) -> Chart | None:
    found = count_groups(table, about)
    return draw_sizes({say("all"): found.sizes}, found.counted)


def _draw_table_beliefs(
    table: Table, about: str | None = None, *, limit: Any = None
) -> Chart | None:
    found = count_groups(table, about)
    if found.about is None:
        raise InputError("A table must have a sensitive column to be sure of.")
    levels = [] if limit is None else [fraction(limit, "limit")]
    return draw_beliefs(
        {say("all"): found.own}, levels, column=found.about, counted=found.counted
    )


def _draw_table_uniqueness(table: Table, about: str | None = None) -> Chart | None:
    found = count_groups(table, about)
    if found.groups is None:
        raise InputError(
            "Uniqueness must be counted from groups that fit into memory, with a "
            "sensitive column beside them; there are too many, or no such column."
        )
    unique, note = count_uniqueness(found.groups, Run().check)
    if table.roles.unit is not None:
        several = say("Somebody with several rows is counted in each group.")
        note = f"{note} {several}".strip()
    return draw_uniqueness([u.to_dict() for u in unique], found.people, note)


def _draw_table_surest(
    table: Table,
    promise: Promise | None = None,
    *,
    knows: str | Sequence[str] = (),
    about: str | None = None,
    limit: Any = None,
) -> Chart | None:
    """The groups where a promise is nearest to breaking; counted in one statement."""
    values = None
    if promise is not None:
        knows = promise.against.list_known_columns() or knows
        if not knows and getattr(promise.against, "knows_any", None):
            raise InputError(ANY_COLUMNS)
        if limit is None and isinstance(promise.limit, Ceiling):
            limit = promise.limit
        named, values = _read_about(promise.about)
        about = about or named
    column = about or table.protected()
    by = as_names(knows, "knows") or tuple(
        c for c in table.schema.names if c in table.roles.list_known(column)
    )
    require_columns([*by, column], table.schema, "a chart")
    level = _read_limit(limit)
    best: list[dict[str, Any]] = []
    groups = 0
    for _, part in table.count([CountQuery(tuple(by), column)], Run()):
        some, left = list_surest(part, MOST_GROUPS, values)
        groups += len(some) + left
        best += some
    best.sort(key=lambda g: (-Fraction(g["share"]), -g["whole"]))
    first = best[:MOST_GROUPS]
    return draw_surest(first, groups - len(first), about=column, limit=level)


def _read_limit(limit: Any) -> Ceiling | None:
    """A limit as a promise has it, or as a number: at most so sure."""
    return limit if limit is None or isinstance(limit, Ceiling) else Ceiling(limit)


def _read_about(about: Any) -> tuple[str | None, list[object] | None]:
    """The column a promise is about, and its values; None: every value."""
    if not isinstance(about, dict):
        return (about if isinstance(about, str) else None), None
    ((column, stated),) = list(about.items())[:1]
    several = stated if isinstance(stated, list | tuple) else [stated]
    if isinstance(stated, Within) or "*" in several:
        return column, None
    return column, list(several)


# Groups -----------------------------------------------------------------------------


def _list_groups(groups: Groups) -> list[dict[str, Any]]:
    grouped = groups.grouped
    return [
        {
            **{d.name: d[c] for d, c in zip(grouped.by, grouped.keys[g], strict=True)},
            "people": int(grouped.total[g]),
            "values": int(grouped.start[g + 1] - grouped.start[g]),
            "commonest": int(grouped.n[grouped.start[g] : grouped.start[g + 1]].max()),
        }
        for g in range(len(grouped))
    ]


def _draw_groups_beliefs(groups: Groups, *, limit: Any = None) -> Chart | None:
    found = describe_groups(groups)
    levels = [] if limit is None else [fraction(limit, "limit")]
    return draw_beliefs({say("all"): found.own}, levels, column=groups.about)


def _draw_groups_sizes(groups: Groups) -> Chart | None:
    return draw_sizes({say("all"): describe_groups(groups).sizes}, groups.counted)


def _draw_groups_surest(groups: Groups, *, limit: Any = None) -> Chart | None:
    rows, more = list_surest(groups.grouped, MOST_GROUPS)
    level = _read_limit(limit)
    return draw_surest(rows, more, about=groups.about, limit=level)


def _write_groups(groups: Groups, picture: str) -> str:
    return f"<div><p><strong>{escape(repr(groups))}</strong></p>{picture}</div>"


# Releases ---------------------------------------------------------------------------


def summarise_shown(release: Release) -> dict[str, Any]:
    """A release without what it hides: only how much; nothing is counted for it."""
    hidden = release.hidden
    return {
        "kind": "groups",
        "verdict": release.verdict.value,
        "title": release.policy.title,
        "method": release.method,
        "ended": release.ended,
        "moves": len(release.steps),
        "hidden_values": None
        if hidden is None
        else {c: len(values) for c, values in hidden.items()},
        "groups": None if release.grouped is None else len(release.grouped.partition),
        "promises": list_promises(release, "measured"),
    }


def _draw_release_beliefs(release: Release, column: str | None = None) -> Chart | None:
    """Of how many people somebody is how sure, before and after; counts the table."""
    after = None if release.exposure is None else tell_exposure(release.exposure)
    about = column or next(iter(release._private.roles.sensitive), None)
    if about is None:
        raise InputError("A release must have a sensitive column to be sure of.")
    if after is not None and about in after["columns"]:
        own, levels = after["columns"][about]["own_belief"], list_levels(after, about)
    else:
        own, levels = count_groups(release._table, about).own, []
    series = {say(AFTER): own}
    if release.folder is None:
        before = count_groups(open_private(release), about).own
        series = {say(BEFORE): before, **series}
    return draw_beliefs(series, levels, column=about, counted=release._private.counted)


def _draw_release_groups(release: Release) -> Chart | None:
    """How many look alike, before and after; counts both."""
    after = count_groups(release._table)
    series = {say(AFTER): after.sizes}
    if release.folder is None:
        before = count_groups(open_private(release)).sizes
        series = {say(BEFORE): before, **series}
    return draw_sizes(series, after.counted)


def _draw_release_kept(release: Release) -> Chart | None:
    if release.utility is None:
        raise InputError(release.utility_note or LOADED)
    return draw_changed(release.utility.to_dict())


def _write_release(release: Release, picture: str) -> str:
    told = summarise_shown(release)
    sign = SYMBOLS[Verdict(told["verdict"])]
    head = f"{sign} {say_verdict(told['verdict']).upper()}, {told['method']}"
    title = escape(escape_name(told["title"]))
    lines = [
        (
            f"{SYMBOLS[Verdict(p['verdict'])]} {p['promise']}",
            "" if p["before"] is None else p["before"],
            p["posterior"] or p["measured"] or "",
            limit,
        )
        for p, limit in zip(told["promises"], _list_limits(release), strict=True)
    ]
    heads = (say("Promise"), say("Before"), say("After"), say("Limit"))
    table = table_as_html(heads, lines)
    return (
        f"<div><p><strong>{escape(head)}</strong></p>"
        f"{f'<p>{title}</p>' if title else ''}{picture}{table}"
        f"<p>{escape(_describe_hidden(told))}</p></div>"
    )


def _list_limits(release: Release) -> list[str]:
    """The limit of each finding in words; nothing was promised of some."""
    stated = (f.promise for f in (*release.audit.findings, *release.audit.uncovered))
    return [
        format_bound(p)
        if isinstance(p, Measure)
        else format_limit(p.limit)
        if isinstance(p, Promise)
        else ""
        for p in stated
    ]


def _describe_hidden(told: dict[str, Any]) -> str:
    """How much is hidden; which values these are is told by `hidden` alone."""
    if told["groups"] is not None:
        return say("{n} groups.", n=f"{told['groups']:,}")
    hidden = {c: n for c, n in (told["hidden_values"] or {}).items() if n}
    if not hidden:
        return ""
    named = ", ".join(f"{escape_name(c)} {n:,}" for c, n in hidden.items())
    return say(
        "Values hidden: {named}. Ask for release.hidden to see which.", named=named
    )


# The others -------------------------------------------------------------------------


def _list_exposed(exposure: Any) -> list[dict[str, Any]]:
    return [
        {
            "column": name,
            "people": c["people"],
            "unique": c["unique"],
            "certain": c["certain"],
            "groups": c["groups"],
        }
        for name, c in exposure.to_dict()["columns"].items()
    ]


def _write_exposure(exposure: Any, picture: str) -> str:
    said = "".join(f"<li>{escape(line)}</li>" for line in exposure.explain())
    return f"<div>{picture}<ul>{said}</ul></div>"


def _draw_exposed_beliefs(exposure: Any, column: str | None = None) -> Chart | None:
    return draw_own_beliefs(tell_exposure(exposure), column)


def _list_points(frontier: Frontier) -> list[dict[str, Any]]:
    return [
        {
            "rules_out": c.point[0],
            "knows_others": c.point[1],
            "same_as": c.point[2],
            "belief": float(c.belief),
            "exact": c.exact,
        }
        for c in frontier.corners
    ]


def _list_rules(found: Any) -> list[dict[str, Any]]:
    return [
        {
            "columns": r.columns,
            "about": r.about,
            "value": r.value,
            "confidence": float(r.confidence),
            "people": r.people,
            "groups": r.groups,
            "floor": float(r.floor),
            "lift": float(r.lift),
        }
        for r in found.rules
    ]


def _list_kept(utility: Any) -> list[dict[str, Any]]:
    told = utility.to_dict()["columns"]
    return [{"column": name, **figures} for name, figures in told.items()]


def _write_kept(utility: Any, picture: str) -> str:
    return f"<div><p><strong>{escape(repr(utility))}</strong></p>{picture}</div>"


EXHIBITS = {
    "Table": Exhibit(
        page=_write_table,
        lines=list_columns,
        charts={
            "roles": draw_roles,
            "groups": _draw_table_groups,
            "beliefs": _draw_table_beliefs,
            "uniqueness": _draw_table_uniqueness,
            "nearest": _draw_table_surest,
        },
        picture=draw_roles,
    ),
    "Groups": Exhibit(
        page=_write_groups,
        lines=_list_groups,
        charts={
            "groups": _draw_groups_sizes,
            "beliefs": _draw_groups_beliefs,
            "nearest": _draw_groups_surest,
        },
        picture=_draw_groups_sizes,
    ),
    "Release": Exhibit(
        page=_write_release,
        lines=lambda r: list_findings(r.audit.to_dict()["findings"]),
        charts={
            "promises": draw_before_and_after,
            "beliefs": _draw_release_beliefs,
            "groups": _draw_release_groups,
            "hidden": draw_hidden,
            "kept": _draw_release_kept,
            "column": draw_column,
            "pair": draw_pair,
        },
        picture=draw_before_and_after,
    ),
    "UtilityReport": Exhibit(
        page=_write_kept,
        lines=_list_kept,
        charts={"kept": lambda u: draw_changed(u.to_dict())},
        picture=lambda u: draw_changed(u.to_dict()),
    ),
    "Exposure": Exhibit(
        page=_write_exposure,
        lines=_list_exposed,
        charts={
            "people": lambda e: draw_exposure(tell_exposure(e)),
            "beliefs": lambda e, column=None: draw_own_beliefs(
                tell_exposure(e), column
            ),
        },
        picture=lambda e: draw_exposure(tell_exposure(e)),
    ),
    "Frontier": Exhibit(
        page=skyline_report.as_html,
        lines=_list_points,
        charts={"skyline": draw_skyline},
        picture=draw_skyline,
    ),
    "Discovery": Exhibit(
        page=discovery_report.as_html,
        lines=_list_rules,
        charts={"columns": draw_matrix, "rules": draw_rules},
        picture=draw_matrix,
    ),
}
"""What shows itself here."""
