"""Every figure of a paper is drawn on its page, from numbers that a study found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import examples
import pytest
from making.figures import ASKED, FIGURES, RESULTS, draw_figure, read_result
from making.figures import with_figures as put_figures

from privet.report.chart_style import as_spec, render_inline

PAGES = sorted((examples.ROOT / "docs" / "explanation").glob("*.md"))
MOST_BYTES = 100_000


def asked() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    return [found["name"] for text in texts for found in ASKED.finditer(text)]


def test_every_figure_stands_on_one_page() -> None:
    assert sorted(FIGURES) == sorted(asked())


def test_every_paper_has_a_figure() -> None:
    papers = {
        "handicapping-confidence",
        "publishing-classifiers",
        "disguised-answers",
        "privacy-skyline",
        "published-views",
    }
    drawn = {p.stem for p in PAGES if ASKED.search(p.read_text(encoding="utf-8"))}
    assert papers == drawn


def test_every_result_is_drawn() -> None:
    assert {path.stem for path in RESULTS.glob("*.json")} == {
        result for result, _ in FIGURES.values()
    }


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_picture_or_a_table(name: str) -> None:
    drawn = draw_figure(name)
    if isinstance(drawn, str):
        assert drawn.startswith("| ")
        return
    assert '"url"' not in json.dumps(as_spec(drawn))
    html = render_inline(drawn)
    assert len(html) < MOST_BYTES
    for word in ("NaN", "undefined", "http", "<script", "href", "src="):
        assert word not in html


@pytest.mark.parametrize("name", FIGURES)
def test_a_page_says_which_command_made_a_figure(name: str) -> None:
    page = put_figures(f"Before\n\n<!-- figure: {name} -->\n\nAfter\n")
    command = read_result(FIGURES[name][0])["command"]
    assert command in page
    assert (examples.ROOT / re.findall(r"\S+\.py", command)[0]).exists()
    order = [page.index(word) for word in ("Before", command, "After")]
    assert sorted(order) == order


def test_a_figure_that_does_not_exist_fails() -> None:
    with pytest.raises(ValueError, match="must be one of"):
        put_figures("<!-- figure: another -->\n")


def test_a_result_that_is_missing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("making.figures.RESULTS", tmp_path)
    with pytest.raises(FileNotFoundError):
        put_figures("<!-- figure: views-beliefs -->\n")
