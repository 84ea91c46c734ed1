"""Sentences of the sources into catalogues: `make catalogues`.

`privet.pot` lists every sentence that is said; each `privet.po` has them in a language,
and its twin `privet.mo` is what privet reads. A sentence that was written anew stands
in each language without a translation, until somebody gives one: a test finds it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "privet"
LOCALE = SOURCES / "locale"
TEMPLATE = LOCALE / "privet.pot"
LANGUAGES = ("de", "fr", "es")
KEYWORDS = {"say": None, "mark": None, "say_number": (1, 2)}
"""The functions whose first words are sentences, the last with one for several."""


Message = str | tuple[str, ...]
"""A sentence, or one for a single thing and one for several."""

NOBODYS = tuple(
    b'"' + name
    for name in (
        b"POT-Creation-Date",
        b"PO-Revision-Date",
        b"Report-Msgid-Bugs-To",
        b"Last-Translator",
        b"Language-Team",
        b"Generated-By",
    )
)
"""Lines of a header that tell nothing here, or change without a reason."""

DOORS = ("privet.languages",)
"""Where those functions are imported from."""

DOOR = SOURCES / "languages.py"
"""Where they are written; it says how words are joined."""


def extract() -> Catalog:
    """Every sentence that is written in the sources, with the files that say it."""
    found = Catalog(
        project="privet", version="1", copyright_holder="", fuzzy=False, charset="utf-8"
    )
    for name, message in _read_sources():
        found.add(message, locations=[(name, None)])
    return found


def _read_sources() -> Iterator[tuple[str, Message]]:
    """The sentences of each file that says some through the door for languages."""
    for path in sorted(SOURCES.rglob("*.py")):
        names = list_imported(ast.parse(path.read_text(encoding="utf-8")))
        if path == DOOR:
            names = set(KEYWORDS)
        if not names:
            continue
        own = list_sentences(path, names)
        words = {name: KEYWORDS[name] for name in names}
        for found in extract_from_file("python", str(path), keywords=words):
            message = found[1]
            if (message if isinstance(message, str) else message[0]) in own:
                yield path.relative_to(ROOT).as_posix(), message


def list_imported(tree: ast.Module) -> set[str]:
    """Which of the functions that say sentences a module imports."""
    return KEYWORDS.keys() & {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in DOORS
        for alias in node.names
    }


def list_sentences(path: Path, names: set[str]) -> set[str]:
    """Literal sentences; a method that happens to be called `say` says none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        call.args[0].value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in names
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }


def find_file(language: str, ending: str = "po") -> Path:
    """The catalogue of a language."""
    return LOCALE / language / "LC_MESSAGES" / f"privet.{ending}"


def read_catalogue(language: str) -> Catalog:
    """What is translated; nothing yet where there is no file."""
    path = find_file(language)
    if not path.exists():
        return Catalog(locale=language, fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def update(language: str, template: Catalog) -> Catalog:
    """The sentences of the sources, with what was translated of them before.

    Translations of sentences that are not there are kept as comments (`#~`), in case
    they come back, or come with another branch.
    """
    known, fresh = read_catalogue(language), Catalog(locale=language, fuzzy=False)
    fresh.copyright_holder, fresh.project, fresh.version = "", "privet", "1"
    before = {m.id: m for m in (*known, *known.obsolete.values()) if m.id and m.string}
    for message in template:
        if message.id:
            found = before.pop(message.id, None)
            said = None if found is None else found.string
            fresh.add(message.id, said, locations=message.locations)
    for message in before.values():
        message.locations = []
        fresh.obsolete[message.id] = message
    return fresh


def as_po(catalogue: Catalog) -> bytes:
    """A catalogue as a file: in the order of its sentences, with no date in it."""
    file = BytesIO()
    write_po(
        file,
        catalogue,
        width=88,
        omit_header=False,
        sort_output=True,
        include_lineno=False,
    )
    kept = [
        line
        for line in file.getvalue().splitlines()
        if not line.startswith((*NOBODYS, b"# ")) and line != b"#"
    ]
    return b"\n".join(kept) + b"\n"


def as_mo(po: bytes, language: str) -> bytes:
    """The compiled twin of a catalogue."""
    known, file = read_po(BytesIO(po), locale=language), BytesIO()
    compiled = _Compiled(locale=language, fuzzy=False)
    for message in known:
        if message.id:
            compiled.add(message.id, message.string)
    write_mo(file, compiled)
    return file.getvalue()


class _Compiled(Catalog):
    """A catalogue whose header says what gettext needs: no dates, no tools."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        """How it is written, and how this language counts."""
        return [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Plural-Forms", self.plural_forms),
        ]


def main() -> None:
    """Write the template, and every catalogue with its twin."""
    template = extract()
    TEMPLATE.write_bytes(as_po(template))
    for language in LANGUAGES:
        po = as_po(update(language, template))
        find_file(language).parent.mkdir(parents=True, exist_ok=True)
        find_file(language).write_bytes(po)
        find_file(language, "mo").write_bytes(as_mo(po, language))


if __name__ == "__main__":
    main()
