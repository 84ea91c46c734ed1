"""Reports in a real browser: wide, on a phone, at night and on paper."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pypdf
import pytest

import privet as pv
from browser.chromium import BROWSER, Page
from privet.release.kinds import close_release
from privet.report.documents.document import Document, Grid, Section
from privet.report.documents.html import write_html
from report.releases import KINDS, KNOWING, make_release, read_loans

pytestmark = pytest.mark.skipif(
    "PRIVET_BROWSER" not in os.environ or BROWSER is None,
    reason="make test-browser runs these in chromium",
)

WIDTHS = {"wide": 1200, "narrow": 390}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    found = Page(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A private report and a public note of every kind, an audit and a ledger."""
    found: dict[str, Path] = {}
    for kind in KINDS:
        folder = make_release(kind, tmp_path_factory.mktemp("made"))
        release = pv.load(folder / "out")
        private = folder / "report.html"
        found[kind] = release.report(private, custody=folder / "vault")
        found[f"{kind}, public"] = release.report(folder / "note.html", public=True)
        close_release(release)
    folder = tmp_path_factory.mktemp("others")
    with read_loans() as loans:
        policy = pv.Policy([KNOWING], title="Loans")
        audit = pv.audit(loans, policy)
        found["audit"] = audit.report(folder / "a.html", of=loans, policy=policy)
        compared = pv.compare(loans, policy, methods=["mondrian", "full-domain"])
        found["comparison"] = compared.report(folder / "c.html")
    found["ledger"] = pv.Ledger.create(folder / "ledger").report(folder / "l.html")
    return found


NAMES = [*KINDS, *(f"{kind}, public" for kind in KINDS)]
NAMES += ["audit", "comparison", "ledger"]


def show(page: Page, file: Path, width: int, scheme: str = "light") -> None:
    page.events.clear()
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.call("Emulation.setEmulatedMedia", features=features)
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=844,
        deviceScaleFactor=1,
        mobile=width < 500,
    )
    page.open(file.as_uri(), "report")


def keep_picture(page: Page, name: str, width: int) -> None:
    if folder := os.environ.get("PRIVET_PICTURES"):
        page.screenshot(Path(folder) / f"report-{name}-{width}.png", width)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_asked_for_and_nothing_goes_wrong(
    page: Page, files: dict[str, Path], name: str
) -> None:
    show(page, files[name], WIDTHS["wide"])
    own = [files[name].as_uri(), "about:blank"]
    assert [] == [r["url"] for r in page.requests() if r["url"] not in own]
    assert [] == page.complaints()
    assert 0 == page.run("document.scripts.length")


OVERFLOW = """
(() => {
  const inside = e => e.closest('.box, figure') !== null;
  const wide = [...document.querySelectorAll('body *')].filter(e => !inside(e)
    && getComputedStyle(e).display !== 'none'
    && e.getBoundingClientRect().right > innerWidth + 1);
  return [document.documentElement.scrollWidth - innerWidth,
          wide.map(e => e.tagName + '.' + e.className)];
})()
"""


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_the_page(
    page: Page, files: dict[str, Path], name: str, width: int
) -> None:
    show(page, files[name], width)
    over, elements = page.run(OVERFLOW)
    assert over <= 0
    assert [] == elements
    keep_picture(page, name.replace(", ", "-").replace(" ", "-"), width)


@pytest.mark.parametrize("name", NAMES)
def test_charts_are_read_on_a_telephone(
    page: Page, files: dict[str, Path], name: str
) -> None:
    """Letters of 11 pixels do not shrink below 7.5: the chart is moved instead."""
    show(page, files[name], 390)
    drawn = page.run(
        "[...document.querySelectorAll('figure svg')].map(s => "
        "s.getBoundingClientRect().width / s.viewBox.baseVal.width)"
    )
    assert all(7.5 < scale * 11 < 11.1 for scale in drawn)


WHOLE = """
(() => {
  const grid = [...document.querySelectorAll('.box')].find(b =>
    b.textContent.includes('SHA-256'));
  const name = grid.querySelector('tbody th'), line = document.createRange();
  line.selectNodeContents(name);
  return [line.getClientRects().length, grid.scrollWidth - grid.clientWidth];
})()
"""


@pytest.mark.parametrize("name", ["disclosed, public", "buckets, public"])
def test_names_of_files_stay_whole_beside_digests(
    page: Page, files: dict[str, Path], name: str
) -> None:
    show(page, files[name], WIDTHS["wide"])
    assert [1, 0] == page.run(WHOLE)


def read_axe() -> str:
    """The checker of accessibility, as a Python package carries it."""
    spec = find_spec("axe_core_python")
    if spec is None or spec.origin is None:
        pytest.skip("axe-core-python is not installed")
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


AXE = """
axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(
  v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).slice(0, 3).join(', ')))
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing(
    page: Page, files: dict[str, Path], name: str, scheme: str
) -> None:
    show(page, files[name], WIDTHS["wide"], scheme)
    page.run(f"(() => {{ {read_axe()} }})()")
    assert [] == page.run(AXE)


def test_axe_would_find_something(page: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    said = '<p style="color:#ccc;background:#fff">hard to read</p>'
    text = f'<main id="report">{said}</main>'
    bad.write_text(f"<!DOCTYPE html><html><body>{text}</body></html>", encoding="utf-8")
    show(page, bad, WIDTHS["wide"])
    page.run(f"(() => {{ {read_axe()} }})()")
    found = " ".join(page.run(AXE))
    assert "color-contrast" in found
    assert "html-has-lang" in found


# Paper ------------------------------------------------------------------------------


def print_pages(page: Page, file: Path) -> list[str]:
    """What stands on each page of paper, without spaces: a strip is read upwards."""
    show(page, file, WIDTHS["wide"])
    told = page.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
    place = file.with_suffix(".pdf")
    place.write_bytes(base64.b64decode(told["data"]))
    if folder := os.environ.get("PRIVET_PICTURES"):
        (Path(folder) / f"report-{file.parent.name}.pdf").write_bytes(
            place.read_bytes()
        )
    found = pypdf.PdfReader(place).pages
    return ["".join(sheet.extract_text().split()) for sheet in found]


@pytest.mark.parametrize("name", ["disclosed", "audit", "classifier", "answers"])
def test_every_page_of_paper_says_that_it_is_private(
    page: Page, files: dict[str, Path], name: str
) -> None:
    sheets = print_pages(page, files[name])
    assert len(sheets) > 1
    assert all("PRIVATE" in sheet for sheet in sheets)


def test_no_sheet_is_printed_for_the_last_lines_of_a_page_alone(
    page: Page, files: dict[str, Path]
) -> None:
    """Above and beside the text stands all that they say."""
    sheets = print_pages(page, files["disclosed"])
    assert not any("Onefile,withoutscripts" in sheet for sheet in sheets)


def test_no_page_of_a_public_note_says_so(page: Page, files: dict[str, Path]) -> None:
    sheets = print_pages(page, files["disclosed, public"])
    assert all("Publicnote" in sheet for sheet in sheets)
    assert not any("PRIVATE" in sheet for sheet in sheets)


# Tables -----------------------------------------------------------------------------

LONG = "x" * 120
"""A column whose name is one long word."""


def write_tables(folder: Path, *tables: Grid) -> Path:
    """A private report that holds tables, and nothing else."""
    section = Section("tables", "Tables", tables)
    file = folder / "tables.html"
    told = Document("audit", True, "Tables", "Nothing was judged.", [section])
    file.write_text(write_html(told), encoding="utf-8")
    return file


@pytest.mark.parametrize("media", ["screen", "print"])
def test_long_names_leave_the_numbers_beside_them_in_sight(
    page: Page, tmp_path: Path, media: str
) -> None:
    line = [LONG, "1.000", "100 %", "0.125", "55.5 %"]
    heads = ["Column", "Moved", "Entropy kept", "NCP", "Cells"]
    file = write_tables(tmp_path, Grid(heads, [line], LONG))
    show(page, file, 1200)
    page.call("Emulation.setEmulatedMedia", media=media)
    width = {"screen": 1200, "print": 680}[media]  # of A4 between its margins
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=844,
        deviceScaleFactor=1,
        mobile=False,
    )
    table, box, lines = page.run(
        "(() => { const t = document.querySelector('table'); return [t.offsetWidth,"
        " t.parentElement.clientWidth, [...t.querySelectorAll('td')].map(c =>"
        " c.firstChild && new Set([...Array(c.textContent.length).keys()].map(i => {"
        " const r = document.createRange(); r.setStart(c.firstChild, i);"
        " r.setEnd(c.firstChild, i + 1); return r.getBoundingClientRect().top"
        " })).size)]; })()"
    )
    page.call("Emulation.setEmulatedMedia", media="")
    assert table <= box
    assert [1, 1, 1, 1] == lines


def test_a_short_table_is_on_one_page_of_paper(page: Page, tmp_path: Path) -> None:
    tables = [
        Grid(["File", "Digest"], [[f"first{i}.", "a"], [f"last{i}.", "b"]], f"of{i}.")
        for i in range(30)
    ]
    sheets = print_pages(page, write_tables(tmp_path, *tables))
    assert len(sheets) > 1
    for i in range(30):
        parts = (f"of{i}.", f"first{i}.", f"last{i}.")
        found = {n for n, s in enumerate(sheets) for part in parts if part in s}
        assert 1 == len(found)
