"""What there is to be seen of views: columns, the graph between them, the risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from privet.display import Exhibit
from privet.findings import Verdict
from privet.languages import mark, say
from privet.policy import Promise
from privet.release.audit import audit
from privet.report.belief_charts import draw_people, draw_promises
from privet.report.chart_style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SHARES,
    STEP,
    WIDTH,
    as_number,
    colour,
    count_axis,
    finish,
    list_in_order,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
)
from privet.report.charts import list_findings
from privet.report.documents.document import say_verdict
from privet.report.render import table_as_html
from privet.report.vega_lite import Chart, field, hconcat, layer
from privet.report.words import SYMBOLS
from privet.values.adversaries import Reconstructor
from privet.values.beliefs import Ceiling
from privet.values.exact import percent
from privet.views.connectivity import ConnectivityGraph
from privet.views.release import Views, ViewsRelease

MOST_NODES = 80
"""Nodes of a graph that are drawn; the first of each view."""

MOST_KEYS = 12
"""Keys of a list."""
LONGEST_NAME = 70
"""Letters of a promise's name below a title."""


# Columns ----------------------------------------------------------------------------


def list_shown(views: Views) -> list[dict[str, Any]]:
    """A line per view and column; no cell of a row."""
    return [
        {"view": v.name, "column": c, "role": views.table.schema.role(c) or ""}
        for v in views.views
        for c in v.columns
    ]


def draw_views(views: Views) -> Chart | None:
    """Which view shows which column: a column in two views joins them."""
    names, more = take_first(list(views.columns), 40)
    labels = dict(zip(names, number_alike([shorten(c) for c in names]), strict=True))
    often = {c: len(views.showing(c)) for c in names}
    joins, alone = say("joins views"), say("in one view")
    shown = {v.name: shorten(v.name, 16) for v in views.views}
    rows = [
        {
            "view": shown[r["view"]],
            "column": labels[r["column"]],
            "what": joins if often[r["column"]] > 1 else alone,
        }
        for r in list_shown(views)
        if r["column"] in labels
    ]
    marks = start(rows, width={"step": 70}, height={"step": STEP})
    x = field(
        "view:N",
        **list_in_order(shown.values()),
        axis={"orient": "top", "labelAngle": 0, "grid": True},
    )
    y = field("column:N", **list_in_order(labels.values()), axis={"grid": True})
    shapes = field(
        "what:N",
        scale={"domain": [joins, alone], "range": ["diamond", "square"]},
        legend={"title": None},
    )
    key = field("what:N", **colour({joins: ORANGE, alone: BLUE}))
    return finish(
        marks.mark("point", size=150).encode(x=x, y=y, color=key, shape=shapes),
        say("Which view shows which column"),
        more,
    )


# The connectivity graph -------------------------------------------------------------


def place_nodes(graph: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where the nodes of a connectivity graph stand: a column per view.

    What hangs together stands together. Of too many, the first pieces that fit, whole:
    somebody whose partners are left out would seem to have none. Only of a first piece
    that is too large itself, the first nodes of each view.
    """
    nodes, sides = graph["nodes"], len(graph["views"])
    most = max(MOST_NODES // max(sides, 1), 1)
    placed: list[dict[str, Any]] = []
    heights = [0] * sides
    for piece in list_pieces(len(nodes), graph["edges"]):
        needs = [sum(nodes[n]["view"] == side for n in piece) for side in range(sides)]
        if placed and any(h + n > most for h, n in zip(heights, needs, strict=True)):
            continue
        for number in piece:
            at = nodes[number]["view"]
            if heights[at] < most:
                placed.append({**_label_node(number, nodes[number]), "at": heights[at]})
                heights[at] += 1
    for node in placed:  # shorter sides stand in the middle
        node["at"] += (max(heights) - heights[node["view"]]) / 2
    return placed


def list_pieces(nodes: int, edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """The nodes that hang together, piece by piece, in the order of their first ones.

    >>> list_pieces(5, [(0, 3), (1, 4), (3, 2)])
    [[0, 2, 3], [1, 4]]
    """
    beside: dict[int, list[int]] = {n: [] for n in range(nodes)}
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    found: list[list[int]] = []
    seen: set[int] = set()
    for first in range(nodes):
        piece, left = set[int](), [first]
        while left:
            at = left.pop()
            if at not in seen:
                seen.add(at)
                piece.add(at)
                left += beside[at]
        found += [sorted(piece)] if piece else []
    return found


def _label_node(number: int, node: Mapping[str, Any]) -> dict[str, Any]:
    said = ", ".join(shorten(v, 16) for v in node["cells"].values())
    return {"number": number, "view": node["view"], "label": shorten(said, 34)}


def draw_graph(graph: Mapping[str, Any]) -> Chart | None:
    """Which tuples of the views can belong together; it quotes the table."""
    placed = place_nodes(graph)
    if not placed:
        return None
    of = {node["number"]: node for node in placed}
    lines = [
        {
            "x": of[a]["view"],
            "x2": of[b]["view"],
            "y": of[a]["at"],
            "y2": of[b]["at"],
        }
        for a, b in graph["edges"]
        if a in of and b in of
    ]
    sides = len(graph["views"])
    heads = [shorten(", ".join(columns), 30) for columns in graph["views"]]
    high = max(node["at"] for node in placed)
    x_scale = {"domain": [-0.6, sides - 0.4], "nice": False, "zero": False}
    y_scale = {
        "domain": [-1.2, high + 0.5],
        "reverse": True,
        "nice": False,
        "zero": False,
    }
    x, y = (
        field("x:Q", scale=x_scale, axis=None),
        field("y:Q", scale=y_scale, axis=None),
    )
    nodes = [
        {"x": n["view"], "y": n["at"], "label": n["label"], "side": n["view"]}
        for n in placed
    ]
    tops = [{"x": i, "y": -0.9, "label": h} for i, h in enumerate(heads)]
    size = {"width": 230 * sides, "height": max(int(26 * (high + 2)), 90)}
    dots = start(nodes)
    left = [n for n in nodes if n["side"] == 0]
    right = [n for n in nodes if n["side"] > 0]
    missing = len(graph["nodes"]) - len(placed)
    return finish(
        layer(
            start(lines, **size)
            .mark("rule", color=GREY, strokeWidth=1.2)
            .encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
            dots.mark("point", size=60).encode(x=x, y=y),
            start(left)
            .mark("text", align="right", dx=-9)
            .encode(x=x, y=y, text="label:N"),
            start(right)
            .mark("text", align="left", dx=9)
            .encode(x=x, y=y, text="label:N"),
            start(tops)
            .mark("text", fontWeight="bold")
            .encode(x=x, y=y, text="label:N"),
        ),
        say("Who may have which {column}", column=shorten(graph["secret"], 24)),
        say("A line joins what stands together in a row of the views' join."),
        say("and {n} more nodes", n=f"{missing:,}") if missing else "",
    )


def _draw_connectivity(views: Views, about: object = None) -> Chart | None:
    return draw_graph(views.connectivity(about).to_dict())


# Risk -------------------------------------------------------------------------------


def draw_keys(findings: Sequence[Mapping[str, Any]]) -> Chart | None:
    """How many associations are how sure, by the keys of the join."""
    told = next((f for f in findings if "histogram" in f["details"]), None)
    if told is None:
        return None
    bins = told["details"]["histogram"]
    labels = [_label_level(part["from"]) for part in bins]
    rows = [
        {"sure": label, "what": what, "n": part[what], "said": f"{part[what]:,}"}
        for label, part in zip(labels, bins, strict=True)
        for what in COUNTED
    ]
    panels = []
    for what, fill in zip(COUNTED, (BLUE, GREEN), strict=True):
        own = [r for r in rows if r["what"] == what]
        y = field("sure:N", **list_in_order(labels))
        x = field("n:Q", axis=count_axis(say(what), max(r["n"] for r in own)))
        bars = start(own, width=WIDTH // 2 - 30, height={"step": STEP})
        panels.append(
            layer(
                bars.mark("bar", color=fill, height={"band": 0.7}).encode(x=x, y=y),
                bars.mark("text", align="left", dx=4).encode(x=x, y=y, text="said:N"),
            )
        )
    several = told["details"]["people_in_several_keys"]
    return finish(
        hconcat(*panels, spacing=28),
        say("How sure one can be, by key of the join"),
        say(
            "{promise}; {n} people are in several keys.",
            promise=shorten(told["promise"], LONGEST_NAME),
            n=f"{several:,}",
        ),
    )


COUNTED = (mark("keys"), mark("associations"))
"""What is counted by how sure one can be."""


def _label_level(level: str) -> str:
    if level == "1":
        return say("certain")
    return say("{n} and more", n=percent(Fraction(level)))


def draw_worst_keys(findings: Sequence[Mapping[str, Any]]) -> Chart | None:
    """The keys to look at first: how many people and values meet in them."""
    told = next((f for f in findings if f["details"].get("worst_keys")), None)
    if told is None:
        return None
    first, more = take_first(told["details"]["worst_keys"], MOST_KEYS)
    names = number_alike([_label_key(k["key"]) for k in first])
    rows = [
        {
            "key": name,
            "what": say(model),
            "sure": as_number(k[model]),
            "exact": k[model],
        }
        for name, k in zip(names, first, strict=True)
        for model in MODELS
        if k[model] is not None
    ]
    sizes = [
        {"key": n, "said": f"{k['people']:,} × {k['values']:,}"}
        for n, k in zip(names, first, strict=True)
    ]
    y = field("key:N", **list_in_order(names), axis={"labelLimit": 300})
    x = field("sure:Q", axis=percent_axis(say("how sure")), scale=SHARES)
    models, title = {say(m): c for m, c in MODELS.items()}, say(POSSIBLE)
    shapes = field(
        "what:N",
        scale={"domain": list(models), "range": ["circle", "diamond"]},
        legend={"title": title},
    )
    key = field("what:N", **colour(models, title))
    marks = start(rows, width=WIDTH - 60, height={"step": STEP})
    return finish(
        layer(
            marks.mark("point", size=80).encode(
                x=x, y=y, color=key, shape=shapes, tooltip=["key:N", "exact:N"]
            ),
            start(sizes)
            .mark("text", align="left", dx=WIDTH - 50)
            .encode(y=y, x={"value": 0}, text="said:N"),
        ),
        say("Keys to look at first"),
        say("On the right, people and values that meet in the key."),
        more,
    )


MODELS = {mark("unrestricted"): BLUE, mark("restricted"): ORANGE}
POSSIBLE = mark("tables that are possible")
"""Which tables somebody thinks possible, and what a legend calls that."""


def _label_key(key: Mapping[str, str | None]) -> str:
    said = [f"{shorten(c, 14)} {shorten(v, 18)}" for c, v in key.items()]
    return shorten(", ".join(said) or say("everybody"), 44)


def _judge(views: Views, about: object) -> list[dict[str, Any]]:
    """Every association, judged when it is asked for; nothing is promised by it."""
    named = say("every association")
    found = audit(views, Promise(Reconstructor(), Ceiling(1), about, named))
    told: list[dict[str, Any]] = found.to_dict()["findings"]
    return told


def _list_found(release: ViewsRelease) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = release.audit.to_dict()["findings"]
    return told


def draw_release(release: ViewsRelease) -> Chart | None:
    """Each promise beside its limit."""
    return draw_promises(_list_found(release))


# Pages ------------------------------------------------------------------------------


def _write_views(views: Views, picture: str) -> str:
    lines = [(v.name, ", ".join(v.columns)) for v in views.views]
    heads = (say("View"), say("Columns"))
    return f"<div>{table_as_html(heads, lines)}{picture}</div>"


def _write_release(release: ViewsRelease, picture: str) -> str:
    verdict = release.audit.verdict
    said = say_verdict(verdict.value).upper()
    head = f"{SYMBOLS[Verdict(verdict)]} {said}, {release.method}"
    lines = [(v.name, ", ".join(v.columns)) for v in release.views.views]
    return (
        f"<div><p><strong>{escape(head)}</strong></p>{picture}"
        f"{table_as_html((say('View'), say('Columns')), lines)}</div>"
    )


def _write_graph(graph: ConnectivityGraph, picture: str) -> str:
    return f"<div><p><strong>{escape(repr(graph))}</strong></p>{picture}</div>"


EXHIBITS = {
    "Views": Exhibit(
        page=_write_views,
        lines=list_shown,
        charts={
            "columns": draw_views,
            "graph": _draw_connectivity,
            "keys": lambda v, about=None: draw_keys(_judge(v, about)),
            "worst": lambda v, about=None: draw_worst_keys(_judge(v, about)),
        },
        picture=draw_views,
    ),
    "ViewsRelease": Exhibit(
        page=_write_release,
        lines=lambda r: list_findings(_list_found(r)),
        charts={
            "promises": draw_release,
            "columns": lambda r: draw_views(r.views),
            "keys": lambda r: draw_keys(_list_found(r)),
            "worst": lambda r: draw_worst_keys(_list_found(r)),
            "people": lambda r: draw_people(_list_found(r)),
        },
        picture=draw_release,
    ),
    "ConnectivityGraph": Exhibit(
        page=_write_graph,
        lines=lambda g: [n.to_dict() for n in g.nodes],
        charts={"graph": lambda g: draw_graph(g.to_dict())},
        picture=lambda g: draw_graph(g.to_dict()),
    ),
}
"""What shows itself here."""
