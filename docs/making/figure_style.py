"""What the papers' figures share: lines and points that are told apart twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.report.chart_style import colour, require_altair

Row = dict[str, Any]
"""One point of a figure."""


def tell_lines(
    field: str, lines: Mapping[str, tuple[str, Sequence[int]]]
) -> dict[str, Any]:
    """Colours and dashes of lines, and their legend."""
    alt = require_altair()
    hues = {name: hue for name, (hue, _) in lines.items()}
    dashes = alt.Scale(domain=list(lines), range=[list(d) for _, d in lines.values()])
    legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2)
    return {
        "color": alt.Color(field, **{**colour(hues), "legend": legend}),
        "strokeDash": alt.StrokeDash(field, scale=dashes, legend=legend),
    }


def tell_points(field: str, points: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Colours and shapes of points, and their legend."""
    alt = require_altair()
    hues = {name: hue for name, (hue, _) in points.items()}
    shapes = alt.Scale(domain=list(points), range=[s for _, s in points.values()])
    return {
        "color": alt.Color(field, **colour(hues)),
        "shape": alt.Shape(field, scale=shapes, legend=alt.Legend(title=None)),
    }


def mark_line(chart: Any, size: int = 35) -> Any:
    """A thin line with its points."""
    return chart.mark_line(point={"filled": True, "size": size}, strokeWidth=1.5)
