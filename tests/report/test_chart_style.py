"""The one style: colours told apart on paper, light and dark; and pictures."""

from __future__ import annotations

import itertools
import re
import sys
from typing import Any

import numpy as np
import pytest

import privet as pv
from privet.report import chart_style
from privet.report.chart_style import (
    BLUE,
    DASHES,
    GREY,
    HOLLOW,
    SERIES,
    as_altair,
    count_axis,
    finish,
    number_alike,
    percent_axis,
    render_inline,
    render_png,
    render_svg,
    shorten,
    start,
    take_first,
    tell_bars,
)
from privet.report.vega_lite import field, hconcat, layer, vconcat

PAGES = ("#ffffff", "#111111", "#1e1e1e")
"""Paper, and the dark pages of JupyterLab and of editors."""

# What people see who lack one sort of cones: Viénot, Brettel, Mollon 1999, linear RGB.
SEEN = {
    "all": np.eye(3),
    "no red": np.array(
        [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]
    ),
    "no green": np.array(
        [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]
    ),
    "no blue": np.array(
        [[1, 0.14461, -0.14461], [0, 0.85924, 0.14076], [0, 0.85924, 0.14076]]
    ),
}


def linear(colour: str) -> Any:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return np.array(
        [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    )


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def lab(rgb: Any) -> Any:
    to_xyz = np.array(
        [
            [0.4124, 0.3576, 0.1805],
            [0.2126, 0.7152, 0.0722],
            [0.0193, 0.1192, 0.9505],
        ]
    )
    x, y, z = (np.clip(to_xyz @ rgb, 0, None) / [0.9505, 1, 1.089]).tolist()
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colour", SERIES)
def test_marks_stand_out_on_every_page(colour: str, page: str) -> None:
    assert 3 <= contrast(colour, page)


@pytest.mark.parametrize("eyes", SEEN)
def test_colours_are_told_apart(eyes: str) -> None:
    """15 is a difference nobody overlooks; 2.3 one that can just be seen."""
    seen = {c: lab(np.clip(SEEN[eyes] @ linear(c), 0, 1)) for c in SERIES}
    apart = {
        (a, b): float(np.linalg.norm(seen[a] - seen[b]))
        for a, b in itertools.combinations(SERIES, 2)
    }
    assert min(apart.values()) >= 15, min(apart, key=apart.__getitem__)


def test_a_pattern_goes_with_each_colour() -> None:
    assert len(SERIES) == len({tuple(d) for d in DASHES})


def test_bars_side_by_side_are_told_apart_in_grey_print() -> None:
    """Grey and blue are equally light, so the grey ones are hollow."""
    assert contrast(GREY, BLUE) < 1.2
    rows = [{"a": of, "n": 1, "of": of} for of in ("before", "after")]
    names = {"before": GREY, "after": BLUE}
    chart = start(rows).mark("bar").encode(x="n:Q", y="a:N", **tell_bars("of:N", names))
    svg = render_svg(finish(chart, "Bars"))
    # Each once as a bar, once in the legend.
    assert 2 == svg.count(f'fill="{HOLLOW}"')
    assert 2 == svg.count(f'fill="{BLUE}"')


@pytest.mark.parametrize(
    ("most", "labels"),
    [(4_000, ["0", "2,000", "4,000"]), (40_000, ["0", "20k", "40k"]), (3, ["0", "3"])],
)
def test_counts_are_written_out_while_they_are_short(
    most: int, labels: list[str]
) -> None:
    axis = count_axis("rows", most)
    chart = start([{"n": most}]).mark("bar").encode(x=field("n:Q", axis=axis))
    texts = re.findall(
        r"<text[^>]*>([^<]*)</text>", render_svg(finish(chart, "Counts"))
    )
    assert set(labels) <= set(texts)
    assert "0k" not in texts


def make() -> Any:
    rows = [{"a": "x", "n": 1}, {"a": "<b>&\"'", "n": 3}]
    chart = start(rows).mark("bar").encode(x="n:Q", y="a:N")
    return finish(chart, "A title <i>", "Below it")


def test_text_has_the_colour_of_the_page() -> None:
    svg = render_svg(make())
    fills = set(re.findall(r'<text[^>]* fill="([^"]+)"', svg))
    assert {"currentColor"} == fills


def test_a_picture_within_a_page_loads_nothing_and_is_read_out() -> None:
    html = render_inline(make())
    assert html.startswith('<svg role="img" aria-label="A title &lt;i&gt;. Below it"')
    for word in ("http", "src=", "href=", "<script", "<style", "<i>", "<b>"):
        assert word not in html
    assert "&lt;b&gt;&amp;" in html


def test_parts_of_two_pictures_are_not_mixed_up() -> None:
    rows = [{"a": 1, "n": 1.0}, {"a": 2, "n": 9.0}]
    charts = [
        finish(start(rows).mark("rect", clip=True).encode(x="a:O", color=f"{c}:Q"), c)
        for c in ("n", "a")
    ]
    names = [re.findall(r' id="([^"]+)"', render_inline(c)) for c in charts]
    assert all(names)
    assert set() == set(names[0]) & set(names[1])
    for chart, own in zip(charts, names, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", render_inline(chart))) <= set(own)


def test_png_is_on_paper() -> None:
    assert render_png(make()).startswith(b"\x89PNG")


def test_nothing_is_fetched() -> None:
    """A chart whose data are elsewhere is refused, not loaded."""
    chart = make().add(data={"url": "https://localhost:1/x.json"})
    with pytest.raises(ValueError, match="localhost"):
        render_svg(chart)


@pytest.mark.parametrize("joined", [layer, hconcat, vconcat])
def test_altair_s_chart_is_the_one_that_is_drawn(joined: Any) -> None:
    rows = start([{"a": "x", "low": 1, "high": 3}], width=90)
    x = field("low:Q", axis=percent_axis("how many"), scale={"domain": [0, 4]})
    parts = (
        rows.mark("rule").encode(x=x, x2="high:Q", y=field("a:N", title=None)),
        rows.mark("text", dx=4).encode(x=x, y="a:N", text="a:N", tooltip=["a:N"]),
    )
    for made in (parts[0], joined(*parts)):
        chart = finish(made, "A title")
        altair = as_altair(chart)
        assert type(altair).__module__.startswith("altair.")
        assert render_svg(chart) == render_svg(altair)
        assert "shown otherwise" in render_svg(
            altair.properties(title="shown otherwise")
        )


def test_a_title_is_cut_where_it_is_too_wide() -> None:
    def draw(title: str) -> str:
        return render_svg(finish(start([{"n": 1}]).mark("bar").encode(x="n:Q"), title))

    assert f"{'m' * 47}</text>" in draw("m" * 47)
    assert "…</text>" in draw("m" * 60)
    assert f"{'i' * 120}</text>" in draw("i" * 120)


# Labels -----------------------------------------------------------------------------


def test_labels_are_short_and_visible() -> None:
    assert "missing" == shorten(None)
    assert 38 == len(shorten("x" * 1000))
    assert "a\\x1bb" == shorten("a\x1bb")
    assert "\\n" in shorten("a\nb")


def test_no_two_labels_are_one_bar() -> None:
    labels = ["a", "a", "a (2)", "a"]
    assert len(labels) == len(set(number_alike(labels)))


def test_lists_say_how_many_more_there_are() -> None:
    assert ([0, 1], "and 998 more") == take_first(range(1000), 2)
    assert ([0, 1], "") == take_first(range(2), 2)


# Without the extra ------------------------------------------------------------------

GROUPS = pv.Groups.from_histograms([{"flu": 2, "none": 3}])


def test_without_the_extra_there_is_the_table_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chart_style, "find_spec", lambda name: None)
    chart_style.can_draw.cache_clear()
    try:
        html = pv.audit(GROUPS, pv.Promise(pv.Insider(), pv.Ceiling(1)))._repr_html_()
    finally:
        chart_style.can_draw.cache_clear()
    assert "<svg" not in html
    assert "<table" in html


def test_without_the_extra_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(pv.MissingExtra, match=r"pip install 'privet\[report\]'"):
        GROUPS.chart()


def test_without_the_renderer_a_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chart = make()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(pv.MissingExtra, match=r"pip install 'privet\[report\]'"):
        render_svg(chart)


def test_a_chart_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(pv.InputError, match="'groups', 'beliefs', 'nearest'"):
        GROUPS.chart("belefs")
