"""What the papers' figures share: lines and points that are told apart twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.report.chart_style import colour
from privet.report.vega_lite import Chart, field

Row = dict[str, Any]
"""One point of a figure."""


def tell_lines(
    name: str, lines: Mapping[str, tuple[str, Sequence[int]]]
) -> dict[str, Any]:
    """Colours and dashes of lines, and their legend."""
    hues = {line: hue for line, (hue, _) in lines.items()}
    dashes = {"domain": list(lines), "range": [list(d) for _, d in lines.values()]}
    legend = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2}
    return {
        "color": field(name, **{**colour(hues), "legend": legend}),
        "strokeDash": field(name, scale=dashes, legend=legend),
    }


def tell_points(name: str, points: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Colours and shapes of points, and their legend."""
    hues = {line: hue for line, (hue, _) in points.items()}
    shapes = {"domain": list(points), "range": [s for _, s in points.values()]}
    return {
        "color": field(name, **colour(hues)),
        "shape": field(name, scale=shapes, legend={"title": None}),
    }


def mark_line(chart: Chart, size: int = 35) -> Chart:
    """A thin line with its points."""
    return chart.mark("line", point={"filled": True, "size": size}, strokeWidth=1.5)
