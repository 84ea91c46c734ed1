"""Charts of a release beside its table: what is hidden, what is kept, what moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError
from privet.languages import mark, say
from privet.microdata.information_loss.cell_counts import (
    MeasuredColumn,
)
from privet.microdata.information_loss.loss_measures import spread_column, spread_pair
from privet.microdata.information_loss.released_cells import (
    ReleasedCells,
    open_cells,
)
from privet.microdata.recipe import Cut
from privet.microdata.release import Release
from privet.report.chart_style import (
    AFTER,
    BAR,
    BEFORE,
    BLUE,
    GREY,
    ORANGE,
    SHARES,
    STEP,
    UPRIGHT,
    WIDTH,
    Row,
    count_axis,
    finish,
    list_in_order,
    name_alone,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
    tell_bars,
)
from privet.report.vega_lite import (
    Chart,
    field,
    hconcat,
    layer,
    part_scales,
    share_scales,
    vconcat,
)
from privet.table import Table, require_columns
from privet.values.arrays import Floats

MOST_VALUES = 16
"""Bars of a distribution; numbers are put into so many bins, of texts the commonest are
named."""

LOADED = (
    "A release must be made here to be compared with its table; this one was loaded "
    "from its files."
)


def open_private(release: Release) -> Table:
    """The table a release was made from, with nothing hidden."""
    if release.folder is not None:
        raise InputError(LOADED)
    return replace(release._private, relabels={})


# Hidden -----------------------------------------------------------------------------


def count_hidden_values(release: Release) -> list[Row]:
    """How many rows each hidden value stands in, most first; counted at once."""
    hidden = {c: v for c, v in (release.hidden or {}).items() if v}
    if not hidden:
        return []
    found: list[Row] = []
    for tally, part in open_private(release).count(
        [CountQuery((), c) for c in hidden], Run()
    ):
        for code, n in zip(part.value.tolist(), part.n.tolist(), strict=True):
            value = part.about[code]
            if value in hidden[tally.about]:
                found.append({"column": tally.about, "value": value, "rows": n})
    return sorted(found, key=lambda r: -r["rows"])


def draw_hidden(release: Release) -> Chart | None:
    """Which values are hidden, column by value. It names them: it was asked to."""
    if release.hidden is None:
        raise InputError(LOADED)
    rows = count_hidden_values(release)
    if not rows:
        return None
    first, more = take_first(rows, 30)
    labels = number_alike([shorten(r["value"], 28) for r in first])
    told = [
        {**r, "value": v, "column": shorten(r["column"], 20), "said": f"{r['rows']:,}"}
        for r, v in zip(first, labels, strict=True)
    ]
    columns = list(dict.fromkeys(r["column"] for r in told))
    panels = []
    for column in columns:
        own = [r for r in told if r["column"] == column]
        y = field(
            "value:N",
            **list_in_order((r["value"] for r in own), axis={"title": column}),
        )
        last = column == columns[-1]
        axis = count_axis(say("cells hidden") if last else "", told[0]["rows"])
        x = field("rows:Q", axis=axis if last else {**axis, **BARE})
        bars = start(own, width=WIDTH - 80, height={"step": STEP})
        panels.append(
            layer(
                bars.mark("bar", color=GREY).encode(x=x, y=y),
                bars.mark("text", align="left", dx=4).encode(x=x, y=y, text="said:N"),
            )
        )
    chart = vconcat(*panels, spacing=8, **share_scales("x"))
    return finish(
        chart, say("What is hidden, column by value"), _say_whole(release), more
    )


def _say_whole(release: Release) -> str:
    """Columns in one interval: none of their values is hidden by name."""
    columns = {} if release.recipe is None else release.recipe.columns
    cut = {c: how for c, how in columns.items() if isinstance(how, Cut)}
    whole = [c for c, how in cut.items() if not how.after]
    if not whole:
        return ""
    named = ", ".join(shorten(c, 20) for c in whole)
    return say("In one interval, of which nothing is shown: {columns}.", columns=named)


BARE = {"labels": False, "ticks": False}
"""An axis whose numbers are below the last of several panels."""


def draw_changed(utility: Mapping[str, Any]) -> Chart | None:
    """What is kept of each column: cells as they were, and what the others tell."""
    columns = utility["columns"]
    if not columns or not utility["rows"]:
        return None
    first, more = take_first(list(columns.items()))
    names = number_alike([shorten(c) for c, _ in first])
    cells, bits = say("cells as they were"), say("information kept")
    same, kept = [], []
    for name, (_, told) in zip(names, first, strict=True):
        left = 1 - told["cells_changed"] / utility["rows"]
        share = told["bits_kept"] / told["bits"] if told["bits"] else 1.0
        same.append({"column": name, "what": cells, "share": left})
        kept.append({"column": name, "what": bits, "share": share})
    x = field("share:Q", axis=percent_axis(say("share that is kept")), scale=SHARES)
    y = field("column:N", **list_in_order(names))
    bar = field("what:N", **name_alone(cells, BLUE, BAR))
    tick = field("what:N", **name_alone(bits, ORANGE, UPRIGHT))
    marks = start(same, width=WIDTH, height={"step": STEP})
    ticks = start(kept).mark("tick", thickness=3, size=STEP - 4)
    return finish(
        layer(
            marks.mark("bar", height={"band": 0.6}).encode(x=x, y=y, color=bar),
            ticks.encode(x=x, y=y, color=tick),
        ).add(**part_scales("color")),
        say("What is kept of each column"),
        say(
            LEFT_OUT if utility["rows_left_out"] else CHANGED,
            n=f"{utility['rows_changed']:,}",
            all=f"{utility['rows']:,}",
            left=f"{utility['rows_left_out']:,}",
        ),
        more,
    )


CHANGED = mark("{n} of {all} rows changed.")
LEFT_OUT = mark("{n} of {all} rows changed, {left} of them left out.")
"""What became of the rows."""


# Distributions ----------------------------------------------------------------------


def _open(release: Release, columns: Sequence[str]) -> ReleasedCells:
    if release.recipe is None and release.grouped is None:
        raise InputError(LOADED)
    require_columns(columns, release._private.schema, "a chart")
    cells = open_cells(release, Run())
    there = [c.name for c in cells.columns]
    for column in columns:
        if column not in there:
            raise InputError(
                f"Column {column!r} must be released to be compared; it is not. "
                f"Released are {', '.join(map(repr, there))}."
            )
    return cells


def compare_column(release: Release, column: str) -> list[Row]:
    """The shares of values of a column before and after, in bins where they are many.

    After, a cell that stands for several values is spread over them.
    """
    cells = _open(release, [column])
    (found,) = (c for c in cells.columns if c.name == column)
    before, after = spread_column(found, cells.count_columns(Run())[column])
    bins, labels = bin_values(found, before)
    return [
        {
            "value": label,
            BEFORE: float(before[bins == i].sum()),
            AFTER: float(after[bins == i].sum()),
        }
        for i, label in enumerate(labels)
    ]


def bin_values(column: MeasuredColumn, before: Floats) -> tuple[Any, list[str]]:
    """The bin of each place of a column, and what the bins are called.

    Numbers are put into bins that hold about as many values each; of texts the
    commonest are named, and the others are one bin.
    """
    places = column.places
    texts = [column.domain[int(c)] for c in column.codes]
    if places <= MOST_VALUES:
        return np.arange(places), number_alike([shorten(t, 26) for t in texts])
    if column.ordered:
        bins = np.arange(places) * MOST_VALUES // places
        ends = [
            (np.flatnonzero(bins == i)[0], np.flatnonzero(bins == i)[-1])
            for i in range(MOST_VALUES)
        ]
        labels = [f"{shorten(texts[a], 12)} … {shorten(texts[b], 12)}" for a, b in ends]
        return bins, number_alike(labels)
    common = np.argsort(-before, kind="stable")[: MOST_VALUES - 1]
    bins = np.full(places, len(common))
    bins[common] = np.arange(len(common))
    rest = say("{n} other values", n=f"{places - len(common):,}")
    named = [shorten(texts[i], 26) for i in common.tolist()]
    return bins, number_alike([*named, rest])


def draw_column(release: Release, column: str) -> Chart | None:
    """The values of a column before and after."""
    rows = compare_column(release, column)
    labels = [r["value"] for r in rows]
    before, after = say(BEFORE), say(AFTER)
    told = [
        {"value": r["value"], "of": say(of), "share": r[of]}
        for r in rows
        for of in (BEFORE, AFTER)
    ]
    marks = start(told, width=WIDTH, height={"step": 13})
    return finish(
        marks.mark("bar").encode(
            x=field("share:Q", axis=percent_axis(say("share of rows"))),
            y=field("value:N", **list_in_order(labels)),
            yOffset=field("of:N", sort=[before, after]),
            **tell_bars("of:N", {before: GREY, after: BLUE}),
            tooltip=["value:N", "of:N", "share:Q"],
        ),
        say("{column}, before and after", column=shorten(column)),
        say("A cell that stands for several values is spread over them."),
    )


def compare_pair(release: Release, pair: tuple[str, str]) -> dict[str, Any]:
    """The shares of pairs of values before and after, and what the bins are called."""
    cells = _open(release, pair)
    of = {c.name: c for c in cells.columns}
    a, b = of[pair[0]], of[pair[1]]
    order = [c.name for c in cells.columns]
    asked = (a, b) if order.index(a.name) < order.index(b.name) else (b, a)
    names = asked[0].name, asked[1].name
    ((_, counts),) = cells.count_pairs([names], Run())
    shares = spread_pair(*asked, counts)
    if shares is None:
        raise InputError(
            f"{pair[0]!r} and {pair[1]!r} must have fewer values together to be drawn."
        )
    before, after = shares if asked == (a, b) else (s.T for s in shares)
    bins_a, labels_a = bin_values(a, before.sum(axis=1))
    bins_b, labels_b = bin_values(b, before.sum(axis=0))
    return {
        "rows": labels_a,
        "columns": labels_b,
        BEFORE: _sum_bins(before, (bins_a, bins_b), (len(labels_a), len(labels_b))),
        AFTER: _sum_bins(after, (bins_a, bins_b), (len(labels_a), len(labels_b))),
    }


def _sum_bins(
    joint: Floats, bins: tuple[Any, Any], shape: tuple[int, int]
) -> list[list[float]]:
    found = np.zeros(shape)
    np.add.at(found, (bins[0][:, None], bins[1][None, :]), joint)
    return [[float(x) for x in line] for line in found]


def draw_pair(release: Release, columns: Sequence[str]) -> Chart | None:
    """The pairs of values of two columns before and after, the darker the commoner."""
    if isinstance(columns, str) or len(columns) != 2:
        raise InputError(f"columns must be two columns; got {columns!r}.")
    first, second = columns
    told = compare_pair(release, (first, second))
    most = max(max(map(max, told[of])) for of in (BEFORE, AFTER))
    panels = []
    for of in (BEFORE, AFTER):
        rows = [
            {"a": a, "b": b, "share": share}
            for a, line in zip(told["rows"], told[of], strict=True)
            for b, share in zip(told["columns"], line, strict=True)
            if share > 0
        ]
        x = field(
            "b:N",
            **list_in_order(told["columns"], axis={"labelAngle": -40}),
        )
        y = field("a:N", **list_in_order(told["rows"]))
        size = field(
            "share:Q",
            scale={"domain": [0, most], "range": [0, 360]},
            legend={"title": say("share of rows"), "format": "%", "orient": "right"},
        )
        marks = start(rows, width={"step": 24}, height={"step": STEP}, title=say(of))
        points = marks.mark("square", opacity=1, color=GREY if of == BEFORE else BLUE)
        panels.append(
            points.encode(x=x, y=y, size=size, tooltip=["a:N", "b:N", "share:Q"])
        )
    return finish(
        hconcat(*panels, **share_scales("size")),
        say(
            "{first} and {second}, before and after",
            first=shorten(first),
            second=shorten(second),
        ),
        say(
            "The larger, the commoner. Cells that stand for several values are spread."
        ),
    )
