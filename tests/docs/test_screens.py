"""Pictures that are kept as files are what the code prints, and load nothing."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import examples
import pytest
from making import screens

MOST_BYTES = 40_000


def test_the_kept_pictures_are_what_the_code_makes() -> None:
    assert [] == screens.list_stale(), "Take them over: make docs-pages"


def test_a_missing_or_altered_picture_is_found(tmp_path: Path) -> None:
    assert list(screens.SCREENS) == screens.list_stale(tmp_path)
    assert list(screens.SCREENS) == screens.write_screens(tmp_path)
    assert [] == screens.list_stale(tmp_path)
    path = tmp_path / "terminal.svg"
    path.write_text(path.read_text("utf-8").replace("80", "81"), encoding="utf-8")
    assert ["terminal.svg"] == screens.list_stale(tmp_path)


@pytest.mark.parametrize("name", screens.SCREENS)
def test_a_picture_is_small_and_stands_alone(name: str) -> None:
    svg = (screens.ASSETS / name).read_text(encoding="utf-8")
    assert len(svg) < MOST_BYTES
    assert ["http://www.w3.org/2000/svg"] == re.findall(r"https?://[^\"' ]+", svg)
    for word in ("@font-face", "url(http", "<script", "href"):
        assert word not in svg
    root = ElementTree.fromstring(svg)
    assert root[0].tag.endswith("title")
    assert "audit" in (root[0].text or "")


def read_lines(svg: str) -> list[str]:
    """What a picture shows, line by line."""
    parts = re.findall(r'<text [^>]*?y="([\d.]+)"[^>]*>(.*?)</text>', svg)
    lines: dict[str, str] = {}
    for y, text in parts:
        lines[y] = lines.get(y, "") + text.replace("&#160;", " ")
    return list(lines.values())


def test_the_terminal_says_what_the_readme_says() -> None:
    svg = (screens.ASSETS / "terminal.svg").read_text(encoding="utf-8")
    shown = " ".join(" ".join(read_lines(svg)).split())
    readme = (examples.ROOT / "README.md").read_text(encoding="utf-8")
    printed = readme.split("$ privet audit bank.csv")[1].split("$ echo")[0]
    for line in printed.splitlines()[1:]:
        told = " ".join(line.split()).rstrip(":")
        assert told in shown.replace("&#x27;", "'").replace("&#39;", "'")


def test_the_readme_shows_it_on_its_first_screen() -> None:
    lines = (examples.ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (at,) = [i for i, line in enumerate(lines) if "docs/assets/terminal.svg" in line]
    assert at < 20
