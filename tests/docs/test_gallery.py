"""The gallery has every chart of every value, and its code makes each picture."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import import_module

import pytest
from making.gallery import FENCE, PAGE, Picture, draw_pictures, gallery_page

from privet.display import HOMES
from privet.report.chart_style import as_spec, render_inline

MOST_BYTES = 100_000
"""Of one picture: a page of them stays light."""


@cache
def pictures() -> tuple[Picture, ...]:
    found = draw_pictures(PAGE.read_text(encoding="utf-8"))
    return tuple(picture for _, picture in found if picture is not None)


WANTED = [
    (name, which)
    for name, home in HOMES.items()
    for which in import_module(home).EXHIBITS[name].charts
]


@pytest.mark.parametrize(("name", "which"), WANTED)
def test_every_chart_has_its_picture(name: str, which: str) -> None:
    usual = next(iter(import_module(HOMES[name]).EXHIBITS[name].charts))
    asked = {(p.of[0], p.of[1]) for p in pictures() if p.of is not None}
    assert (name, which) in asked or (which == usual and (name, None) in asked)


NUMBER = len(re.findall("^```python picture$", PAGE.read_text(encoding="utf-8"), re.M))


@pytest.mark.parametrize("at", range(NUMBER))
def test_every_picture_is_vega_lite_that_stands_alone(at: int) -> None:
    """Altair checks the form while it is written; the renderer draws it offline."""
    picture = pictures()[at]
    spec = as_spec(picture.chart)
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    assert '"url"' not in json.dumps(spec)
    html = render_inline(picture.chart)
    assert len(html) < MOST_BYTES
    assert "NaN" not in html
    assert "undefined" not in html
    for word in ("http", "<script", "href", "src="):
        assert word not in html


def test_a_block_without_a_picture_fails() -> None:
    with pytest.raises(ValueError, match="must end with a chart"):
        gallery_page("```python picture\n1 + 1\n```\n")


def test_a_block_that_fails_is_not_left_out() -> None:
    with pytest.raises(ZeroDivisionError):
        gallery_page("```python\n1 / 0\n```\n")


def test_the_page_has_its_pictures_below_their_code() -> None:
    text = (
        "Before\n\n```python\nimport privet as pv\n```\n\n"
        "```python picture\npv.Groups.from_histograms([{'a': 1, 'b': 2}]).chart()\n"
        "```\n\nAfter\n"
    )
    page = gallery_page(text)
    inside = page.split("<figure")[1].split("</figure>")[0]
    assert "\n\n" not in inside
    order = [page.index(w) for w in ("Before", "from_histograms", "<svg", "After")]
    assert sorted(order) == order
    assert 2 == len(FENCE.findall(text))
