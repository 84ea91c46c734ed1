"""The one style of all charts, and how they become SVG and PNG without a network.

Text and lines take the colour of the page around them, so that a chart is read on
paper, on a light page and on a dark one. The colours of marks are told apart by people
who see fewer colours, keep their distance from white and from black, and never stand
alone: a shape, a pattern or a word goes with them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from html import escape
from importlib.util import find_spec
from typing import Any

from privet.errors import MissingExtra
from privet.languages import mark, say
from privet.report.vega_lite import Chart, Spec, field
from privet.report.words import escape_name

Row = dict[str, Any]
"""One line of a chart's data."""

INK = "currentColor"
"""Whatever colour the text around a chart has."""

BLUE, ORANGE, GREEN, PURPLE, GREY = (
    "#3595eb",
    "#e56a04",
    "#29794f",
    "#ad42a2",
    "#939495",
)
"""What marks are drawn in. Orange is what breaks a promise, and the limit itself."""

SERIES = (BLUE, ORANGE, GREEN, PURPLE, GREY)
"""Several of a kind, in this order."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 4])
"""What goes with the colours, for lines."""

BEFORE, AFTER = mark("before"), mark("after")
"""What a legend calls a table, and what is released of it."""

COUNTED = (mark("people"), mark("rows"), mark("chances"))
"""What charts count, as their axes call it."""

VERDICTS = {
    "safe": GREEN,
    "breach": ORANGE,
    "undecided": PURPLE,
    "not covered": PURPLE,
    "not applicable": GREY,
}

WIDTH, STEP = 420, 22
"""How wide a chart is, and how high one of its bars, in points."""

MOST = 20
"""Bars and lines of a list; what else there is is said in a last line."""

LONGEST = 38
"""Letters of a label; the middle of a longer one is left out."""

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

CONFIG: dict[str, Any] = {
    "aria": False,
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None, "continuousWidth": 300, "continuousHeight": 300},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": GREY,
        "gridOpacity": 0.25,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelLimit": 260,
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "orient": "top",
        "labelLimit": 340,
    },
    "title": {
        "color": INK,
        "subtitleColor": INK,
        "anchor": "start",
        "fontSize": 13,
        "subtitleFontSize": 11,
        "fontWeight": "bold",
        "offset": 12,
        "limit": 620,
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 11},
    "text": {"color": INK, "fontSize": 11},
    "rule": {"color": INK},
    "bar": {"color": BLUE},
    "point": {"size": 70, "filled": True, "color": BLUE, "opacity": 1},
    "tick": {"opacity": 1},
    "line": {"color": BLUE, "strokeWidth": 2},
    "range": {"category": list(SERIES)},
}
"""The style, as Vega-Lite writes it."""

NEEDS = "Charts need the extra 'report': pip install 'privet[report]'."


# What is there ----------------------------------------------------------------------


@cache
def can_draw() -> bool:
    """Whether what draws is there; it needs no Altair."""
    return find_spec("vl_convert") is not None


def require_altair() -> Any:
    """Altair, or a sentence that says what is missing."""
    try:
        import altair
    except ImportError:
        raise MissingExtra(NEEDS) from None
    return altair


def as_altair(chart: Chart) -> Any:
    """The same as Altair knows charts, for people who change it."""
    return _build_altair(require_altair(), chart.to_dict())


def _build_altair(alt: Any, spec: Spec, rows: Any = None) -> Any:
    """Altair's chart of the same parts, each of which is one of its charts, too."""
    joined = next((key for key in JOINED if key in spec), None)
    own = alt.Data(**spec["data"]) if "data" in spec else rows
    rest = {k: v for k, v in spec.items() if k not in (joined, *APART)}
    if joined is not None:
        parts = [_build_altair(alt, part, own) for part in spec[joined]]
        chart = getattr(alt, joined)(*parts).properties(**rest)
    else:
        chart = alt.Chart(own, **rest).encode(**spec["encoding"])
    return chart.configure(**spec["config"]) if "config" in spec else chart


JOINED = ("layer", "hconcat", "vconcat")
"""How charts are put together, as Vega-Lite and Altair call it."""

APART = ("data", "encoding", "config")
"""What Altair is told in words of its own."""


# Making charts ----------------------------------------------------------------------


def start(rows: Iterable[Row], **size: Any) -> Chart:
    """A chart of some rows, which stand in it and nowhere else."""
    return Chart({"data": {"values": list(rows)}, **size})


def finish(chart: Chart, title: str, *subtitle: str) -> Chart:
    """A whole chart: with its title, in the one style.

    The title and what is below it are read out, too, where a chart is not seen.
    """
    said = [show(line) for line in subtitle if line]
    told: Spec = {"text": show(title), **({"subtitle": said} if said else {})}
    if all(map(_surely_fits, (show(title), *said))):
        told["limit"] = 0  # else every letter is measured once more
    described = " ".join([f"{show(title)}.", *said])
    return chart.add(title=told, description=described, config=CONFIG)


def _surely_fits(line: str) -> bool:
    """Whether a line of a title is within its limit, however it is printed.

    >>> _surely_fits("a" * 76), _surely_fits("a" * 77), _surely_fits("W" * 48)
    (True, False, False)
    """
    wide = sum(0.3 if c == " " else 0.62 if c in NARROW else 1 for c in line)
    style = CONFIG["title"]
    return bool(wide * style["fontSize"] <= style["limit"])


NARROW = frozenset("abcdefghijklnopqrstuvxyz0123456789.,:;()")
"""Letters that are no wider than 0.62 of their height, in bold print, too."""


def show(label: object) -> str:
    """A name as a chart says it: no control characters, and on one line."""
    return escape_name(str(label))


def shorten(label: object, longest: int = LONGEST) -> str:
    """A label that fits beside a bar.

    >>> shorten("a" * 30 + "b" * 30, 11)
    'aaaaa…bbbbb'
    """
    text = say("missing") if label is None else show(label)
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}…{text[-half:]}"


def number_alike(labels: Sequence[str]) -> list[str]:
    """The same labels, none of them twice: a chart would draw both as one.

    >>> number_alike(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    taken = set(labels)
    found: list[str] = []
    for label in labels:
        at, own = 2, label
        while own in found or (own != label and own in taken):
            own, at = f"{label} ({at})", at + 1
        found.append(own)
    return found


def take_first(rows: Sequence[Any], most: int = MOST) -> tuple[list[Any], str]:
    """The first rows, and how many more there are, in words."""
    left = len(rows) - most
    return list(rows[:most]), say("and {n} more", n=f"{left:,}") if left > 0 else ""


def as_number(share: object) -> float | None:
    """An exact share, as text or fraction, as a chart places it."""
    return None if share is None else float(Fraction(str(share)))


SHARES: Spec = {"domain": [0, 1]}
"""The scale of shares: all of it, whatever there is to be shown."""


NUMBERS: Spec = {"labelLimit": 0}
"""Numbers along an axis are short; nobody need measure whether they fit."""


def percent_axis(title: str, **more: Any) -> Spec:
    """An axis from 0 to 100 %."""
    return {"title": title, "format": "%", "tickCount": 6, **NUMBERS, **more}


MOST_TICKS = 10
"""Up to so many things are counted one by one along an axis."""
LONG = 10_000
"""From so many on, thousands are written as k."""


def count_axis(title: str, most: int) -> Spec:
    """An axis of whole numbers."""
    if most <= MOST_TICKS:
        values = list(range(most + 1))
        return {"title": title, "values": values, "format": "d", **NUMBERS}
    # 4,000 is read at once, 4,000,000 is not; 0 is never 0k.
    form = "," if most < LONG else "~s"
    said = f"datum.value ? format(datum.value, '{form}') : '0'"
    return {"title": title, "labelExpr": said, "tickMinStep": 1, **NUMBERS}


def count_scale(most: int) -> Spec:
    """A scale from 0 on, also where there is nothing to count."""
    return {"domainMin": 0, **({} if most else {"domainMax": 1})}


def colour(names: Mapping[str, str], title: str | None = None) -> Spec:
    """A scale with a legend: each name in its own colour."""
    scale = {"domain": list(names), "range": list(names.values())}
    return {"scale": scale, "legend": {"title": title}}


def name_alone(name: str, fill: str, shape: str) -> Spec:
    """A colour with a legend of its own, whose sign looks like its mark."""
    drawn = {"symbolType": shape, "symbolStrokeColor": fill, "symbolStrokeWidth": 3}
    scale = {"domain": [name], "range": [fill]}
    return {"scale": scale, "legend": {"title": None, **drawn}}


BAR, UPRIGHT = "square", "M0,-1L0,1"
"""Signs of a legend: of bars, and of the ticks across them."""


def tell_bars(by: str, names: Mapping[str, str]) -> Spec:
    """Bars side by side, told apart in grey print, too: those in grey are hollow."""
    fills = {n: HOLLOW if fill == GREY else fill for n, fill in names.items()}
    return {"fill": field(by, **colour(fills)), "stroke": field(by, **colour(names))}


HOLLOW = "rgba(147,148,149,0.25)"
"""Grey that lets the page through."""


def tell_lines(by: str, names: Mapping[str, str]) -> Spec:
    """Lines by their colours and dashes, with a legend of lines."""
    dashes = [DASHES[i % len(DASHES)] for i in range(len(names))]
    legend = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2}
    dash = {"domain": list(names), "range": dashes}
    return {
        "color": field(by, **{**colour(names), "legend": legend}),
        "strokeDash": field(by, scale=dash, legend=legend),
    }


def list_in_order(labels: Iterable[str], **more: Any) -> dict[str, Any]:
    """What an axis of names needs so that they stay in their order."""
    return {"sort": list(dict.fromkeys(labels)), "title": None, **more}


# Pictures ---------------------------------------------------------------------------


def as_spec(chart: Chart) -> dict[str, Any]:
    """A chart as plain Vega-Lite."""
    found: dict[str, Any] = chart.to_dict()
    return found


@cache
def wake_renderer() -> None:
    """Let what draws start beside other work; that takes as long as drawing a page.

    To put a chart into HTML makes its thread, and does not wait for it.
    """
    if can_draw():
        with suppress(Exception):  # what is wrong is said when something is drawn
            _import_converter().vega_to_html({}, bundle=False)


def render_svg(chart: Chart) -> str:
    """A chart as an SVG file."""
    svg: str = _import_converter().vegalite_to_svg(as_spec(chart), allowed_base_urls=[])
    return _name_parts(svg, "part")


def render_png(chart: Chart, scale: float = 2) -> bytes:
    """A chart as a PNG file, on paper white."""
    spec = as_spec(chart)
    spec["background"] = "white"
    png: bytes = _import_converter().vegalite_to_png(
        spec, scale=scale, allowed_base_urls=[]
    )
    return png


def _import_converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra(NEEDS) from None
    return vl_convert


def _name_parts(svg: str, name: str) -> str:
    """The same with its parts numbered from 0; the renderer goes on counting."""
    seen: dict[str, str] = {}

    def rename(found: re.Match[str]) -> str:
        return found[1] + seen.setdefault(found[2], f"{name}-{len(seen)}")

    return REFERENCE.sub(rename, svg)


REFERENCE = re.compile(r'(<(?:clipPath|linearGradient) id="|="url\(#)([\w-]+)')
"""Where a part of an SVG is named, or referred to."""


ROLES = re.compile(r' (?:role="graphics-[\w-]+"|aria-roledescription="[^"]*")')
"""What parts of an SVG are said to be, which have no name: the whole has one."""


def render_inline(chart: Chart) -> str:
    """A chart as SVG within a page: it shrinks with it, and is read out as one.

    A page that lets it shrink only so far finds its own width in `--own`.
    """
    svg = render_svg(chart)
    said = escape(str(chart.to_dict().get("description", "")), quote=True)
    inside = svg.partition(">")[2]
    head = re.search(r'viewBox="([^"]*)"', svg)
    width = re.search(r'width="([\d.]+)"', svg)
    assert head is not None
    assert width is not None
    # Parts that are referred to by name must not be taken for those of another chart.
    mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
    inside = ROLES.sub("", _name_parts(inside, f"chart-{mark}"))
    return (
        f'<svg role="img" aria-label="{said}" viewBox="{head[1]}" '
        f'style="--own:{width[1]}px;width:100%;max-width:var(--own);height:auto;'
        f'color:inherit">{inside}'
    )
