"""Pictures of pages as a browser shows them, for a README that a forge shows as it is.

`make pictures` makes the page with the code that is documented, opens it in chromium,
and keeps the picture in `docs/assets`. Few machines that build the site have a browser,
and no two draw the same pixels: so each picture carries the digest of the page it was
taken of, and `make docs` and a test make the page anew, and fail where the picture is
missing, or is of another page.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv

import privet as pv
from privet.demo.patients import POLICY, make_patients
from privet.release.handover.report_file import find_maker
from privet.report.chart_style import as_spec
from privet.report.documents.document import Document, Picture
from privet.report.documents.html import write_html

ASSETS = Path(__file__).parents[1] / "assets"
WIDTH, HEIGHT = 980, 970
"""What of a page is shown, in the pixels of its style sheet."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEYWORD = b"Source"
"""What a PNG file calls the text that names where it comes from."""
VERSIONS = re.compile(r"\b(privet|duckdb) \d[\w.+]*")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


# The pages ----------------------------------------------------------------------------


def report_demo() -> Document:
    """What `privet report patients.csv -p policy.toml` writes of the demo's table."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        pa_csv.write_csv(make_patients(), "patients.csv")
        Path("policy.toml").write_text(POLICY, encoding="utf-8")
        policy = pv.Policy.load("policy.toml")
        with pv.read("patients.csv") as table:
            found = pv.audit(table, policy)
            return find_maker(found)(found, of=table, policy=policy)


PAGES: Mapping[str, Callable[[], Document]] = {"report.png": report_demo}
"""Every page that is shown, by its picture in `docs/assets`."""


def digest_page(document: Document) -> str:
    """What a page is, whatever the hour, the versions and the fonts of the machine.

    Charts count as their specifications: what they become depends on fonts.
    """
    page = write_html(replace(document, made="", version=""))
    page = re.sub(r"<svg.*?</svg>", "", page, flags=re.S)
    page = VERSIONS.sub(r"\1", page)
    charts = json.dumps(list(list_specs(document)), sort_keys=True)
    return hashlib.sha256(f"{page}\n{charts}".encode()).hexdigest()


def list_specs(document: Document) -> Iterator[dict[str, Any]]:
    """The charts of a document, without the version of what draws them."""
    for section in document.sections:
        for part in section.parts:
            if not isinstance(part, Picture) or (chart := part.draw()) is None:
                continue
            yield {k: v for k, v in as_spec(chart).items() if k != "$schema"}


# PNG files ----------------------------------------------------------------------------


def list_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a PNG file: their names and what they hold."""
    at = len(SIGNATURE)
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        at += 12 + size


def write_chunk(name: bytes, held: bytes) -> bytes:
    """One part of a PNG file."""
    checked = struct.pack(">I", zlib.crc32(name + held))
    return struct.pack(">I", len(held)) + name + held + checked


def with_source(png: bytes, source: str) -> bytes:
    """A PNG file that says what it was made of."""
    text = write_chunk(b"tEXt", KEYWORD + b"\0" + source.encode("latin-1"))
    head = len(SIGNATURE) + 25  # the header has 13 bytes, and comes first
    return png[:head] + text + png[head:]


def read_source(png: bytes) -> str:
    """What a PNG file says it was made of; empty if nothing."""
    for name, held in list_chunks(png):
        key, _, text = held.partition(b"\0")
        if (name, key) == (b"tEXt", KEYWORD):
            return text.decode("latin-1")
    return ""


def take_picture(html: str) -> bytes:
    """The top of a page, as chromium shows it."""
    browser = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if browser is None:
        raise SystemExit("chromium must be installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "page.html", Path(folder) / "page.png"
        page.write_text(html, encoding="utf-8")
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        words += ["--force-device-scale-factor=1.5", f"--user-data-dir={folder}/user"]
        words += [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}"]
        call = [browser, *words, page.as_uri()]
        subprocess.run(call, check=True, capture_output=True, timeout=120)
        return picture.read_bytes()


# All of them --------------------------------------------------------------------------


def list_stale(folder: Path = ASSETS) -> list[str]:
    """Pictures that are missing, or of a page that is not made like that today."""
    return [
        name
        for name, make in PAGES.items()
        if not (folder / name).is_file()
        or read_source((folder / name).read_bytes()) != digest_page(make())
    ]


def main() -> int:
    """Take every picture that is not current."""
    for name in list_stale():
        document = PAGES[name]()
        png = take_picture(write_html(document))
        (ASSETS / name).write_bytes(with_source(png, digest_page(document)))
        print(f"written: docs/assets/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
