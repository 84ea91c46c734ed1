"""Pictures of pages are there, small, and of the pages that the code makes today."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import examples
import pytest
from making import page_pictures
from making.page_pictures import digest_page, with_source, write_chunk

from privet.report.documents.document import Document, Paragraph, Picture, Section

MOST_BYTES = 300_000
KEPT = page_pictures.ASSETS / "report.png"


def make_document(*parts: Picture | Paragraph) -> Document:
    sections = (Section("one", "One", parts),)
    return Document("audit", True, "Loans", "Kept.", sections, made="now", version="1")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Document:
    """A document in place of the demo's report."""
    found = make_document(Paragraph("Somebody"))
    monkeypatch.setattr(page_pictures, "PAGES", {"report.png": lambda: found})
    return found


def test_the_kept_pictures_are_of_the_pages_of_today() -> None:
    assert [] == page_pictures.list_stale(), "Take them anew: make pictures"


def test_a_picture_is_small_and_a_whole_png() -> None:
    png = KEPT.read_bytes()
    assert png.startswith(page_pictures.SIGNATURE)
    assert len(png) < MOST_BYTES
    names = [name for name, _ in page_pictures.list_chunks(png)]
    assert (b"IHDR", b"tEXt", b"IEND") == (names[0], names[1], names[-1])


def test_a_missing_or_older_picture_is_found(tmp_path: Path, small: Document) -> None:
    assert ["report.png"] == page_pictures.list_stale(tmp_path)
    (tmp_path / "report.png").write_bytes(KEPT.read_bytes())
    assert ["report.png"] == page_pictures.list_stale(tmp_path)
    bare = page_pictures.SIGNATURE + write_chunk(b"IHDR", bytes(13))
    taken = with_source(bare + write_chunk(b"IEND", b""), digest_page(small))
    (tmp_path / "report.png").write_bytes(taken)
    assert [] == page_pictures.list_stale(tmp_path)


def test_a_digest_is_of_words_and_charts_and_not_of_the_hour() -> None:
    from privet.report.chart_style import start

    def draw(*counts: int) -> Picture:
        rows = [{"n": n} for n in counts]
        return Picture("Sizes", lambda: start(rows).mark("bar").encode(x="n:Q"))

    page = make_document(Paragraph("by privet 0.1.0 and duckdb 1.5.0"), draw(1, 2))
    later = replace(page, made="then", version="2")
    assert digest_page(page) == digest_page(later)
    newer = make_document(Paragraph("by privet 0.2.0 and duckdb 2.0.0"), draw(1, 2))
    assert digest_page(page) == digest_page(newer)
    others = [
        make_document(Paragraph("by nobody"), draw(1, 2)),
        make_document(Paragraph("by privet 0.1.0 and duckdb 1.5.0"), draw(1, 3)),
    ]
    assert 3 == len({digest_page(one) for one in (page, *others)})


def test_the_site_is_not_built_with_an_older_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Document
) -> None:
    import pictures

    monkeypatch.setattr("making.screens.list_stale", list)
    with pytest.raises(ValueError, match=r"report\.png .*make pictures"):
        pictures.on_pre_build()


def test_the_readme_shows_it_on_its_first_screen() -> None:
    lines = (examples.ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (at,) = [i for i, line in enumerate(lines) if "docs/assets/report.png" in line]
    assert at < 20
