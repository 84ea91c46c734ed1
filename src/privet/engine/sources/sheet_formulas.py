"""Formulas of an Excel sheet that nobody has worked out: their cells seem empty.

Excel keeps the result beside each formula; programs that write .xlsx files often leave
it out. Readers then see nothing there, as if the value were missing.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from posixpath import join, normpath
from xml.etree import ElementTree

WORKBOOK, LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
MOST_LISTED = 1 << 20
"""Bytes of the list of sheets; a longer one is not looked at."""

PIECE = 1 << 22
"""Bytes of a sheet that are looked at together."""

# <c r="E5"><f>E4*2</f><v /></c>; a text may be empty: <c t="str"><f>…</f><v></v></c>.
_OPEN = re.compile(
    rb"<c(?![^>]*\st=\"str\")(?:\s[^>]*)?>\s*<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)\s*"
    rb"(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)


def count_open_formulas(path: str, sheet: str) -> int:
    """How many formulas of a sheet have no result; 0 where that cannot be told."""
    if not zipfile.is_zipfile(path):
        return 0
    try:
        with zipfile.ZipFile(path) as archive:
            member = _find_member(archive, sheet)
            return 0 if member is None else _count_in(archive, member)
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, OSError, ValueError):
        return 0  # calamine says what is wrong with the file


def _find_member(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The file of a sheet, by the name it has in the workbook."""
    lists = (WORKBOOK, LINKS)
    if not set(lists) <= set(archive.namelist()):
        return None  # of another kind, such as .ods
    if any(archive.getinfo(name).file_size > MOST_LISTED for name in lists):
        return None
    book, links = (ElementTree.fromstring(archive.read(name)) for name in lists)
    sought = next(
        (
            value
            for each in book.iter()
            if each.tag.endswith("}sheet") and each.get("name") == sheet
            for key, value in each.attrib.items()
            if key.endswith("}id")
        ),
        None,
    )
    for link in links:
        if sought is not None and link.get("Id") == sought:
            target = link.get("Target", "")
            return normpath(join("xl", target)).lstrip("/")
    return None


def _count_in(archive: zipfile.ZipFile, member: str) -> int:
    with archive.open(member) as file:
        pieces = iter(lambda: file.read(PIECE), b"")
        return sum(len(_OPEN.findall(cells)) for cells in _end_with_cells(pieces))


def _end_with_cells(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces of a sheet that end where a cell does; only those with formulas."""
    rest = b""
    for piece in pieces:
        whole, end, rest = (rest + piece).rpartition(b"</c>")
        if b"<f" in whole:
            yield whole + end
