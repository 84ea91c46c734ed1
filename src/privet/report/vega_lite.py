"""Charts as plain Vega-Lite: rows, a mark, and what of the rows each channel shows.

Altair says the same with classes; to import them and to check a chart by them takes
longer than to draw it. So charts are made here, and `Displayed.chart` gives Altair's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]
"""A piece of a chart, as Vega-Lite writes it."""

TYPES = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}
"""What values are, by the letter after a field's name."""


def field(shorthand: str, **options: Any) -> Spec:
    """What a channel shows: a field of the rows and its type, with an axis or a scale.

    >>> field("share:Q", title=None)
    {'field': 'share', 'type': 'quantitative', 'title': None}
    """
    name, _, letter = shorthand.partition(":")
    return {"field": name, "type": TYPES[letter], **options}


@dataclass(frozen=True)
class Chart:
    """One chart, or several on, beside or below each other."""

    spec: Spec
    """All of it; the methods give new charts."""

    def mark(self, kind: str, **style: Any) -> Chart:
        """The same rows as bars, points or lines."""
        return Chart({**self.spec, "mark": {"type": kind, **style}})

    def encode(self, **channels: Any) -> Chart:
        """What each channel shows: a field, its shorthand, or a list of those."""
        told = {name: _read_channel(name, c) for name, c in channels.items()}
        return Chart({**self.spec, "encoding": told})

    def add(self, **more: Any) -> Chart:
        """The same with some more keys of Vega-Lite."""
        return Chart({**self.spec, **more})

    def to_dict(self) -> Spec:
        """For whatever draws it."""
        return dict(self.spec)


def _read_channel(name: str, given: Any) -> Any:
    if isinstance(given, list):
        return [_read_channel(name, one) for one in given]
    if not isinstance(given, str):
        return given
    if name in ("x2", "y2"):  # the end of a bar; it has the type of its beginning
        return {"field": given.partition(":")[0]}
    return field(given)


def layer(*charts: Chart) -> Chart:
    """Charts on each other: as wide and high as the first that says how."""
    specs = [dict(chart.spec) for chart in charts]
    whole: Spec = {}
    for size in ("width", "height"):
        found = [spec.pop(size) for spec in specs if size in spec]
        whole |= {size: found[0]} if found else {}
    return Chart({**whole, **_share_rows(specs), "layer": specs})


def _share_rows(specs: Sequence[Spec]) -> Spec:
    """The rows of all of them, taken out of each; nothing where they differ."""
    rows = specs[0].get("data")
    if rows is None or any(spec.get("data") is not rows for spec in specs):
        return {}
    for spec in specs:
        del spec["data"]
    return {"data": rows}


def hconcat(*charts: Chart, **more: Any) -> Chart:
    """Charts beside each other."""
    return Chart({"hconcat": [chart.spec for chart in charts], **more})


def vconcat(*charts: Chart, **more: Any) -> Chart:
    """Charts below each other."""
    return Chart({"vconcat": [chart.spec for chart in charts], **more})


def share_scales(*names: str) -> Mapping[str, Any]:
    """What charts beside each other need that are read by the same scale.

    >>> share_scales("x")
    {'resolve': {'scale': {'x': 'shared'}}}
    """
    return {"resolve": {"scale": dict.fromkeys(names, "shared")}}


def part_scales(*names: str) -> Mapping[str, Any]:
    """What charts on each other need that have a scale and a legend of their own each.

    >>> part_scales("color")
    {'resolve': {'scale': {'color': 'independent'}}}
    """
    return {"resolve": {"scale": dict.fromkeys(names, "independent")}}
