"""The public note for recipients: from the public manifest alone, so that it can hold
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from privet.languages import mark, say, translate
from privet.report.documents.document import (
    Document,
    Facts,
    Grid,
    Listing,
    Paragraph,
    Part,
    Program,
    Section,
    keep_sections,
)
from privet.report.documents.private_report import stamp_document
from privet.report.documents.released_columns import (
    list_columns,
    say_role,
    say_shown,
    say_type,
)
from privet.report.words import escape_name

KINDS = {
    "groups": mark("A table about people"),
    "views": mark("Views of a table about people"),
    "classifier": mark("A classifier"),
    "responses": mark("Disguised answers"),
}
"""What is released."""

Manifest = Mapping[str, Any]


def describe_public(
    manifest: Manifest, note: str, examples: Sequence[Program]
) -> Document:
    """What recipients should know; `note` is the text that travels with the files."""
    title, told = split_note(note)
    first = say(
        "{kind}: what is in it, what is promised, how to check it and how to use it.",
        kind=say(KINDS[manifest["kind"]]),
    )
    own = [
        Section(f"note-{i}", heading, [Listing(lines)])
        for i, (heading, lines) in enumerate(told.items(), 1)
    ]
    return Document(
        kind="release",
        private=False,
        title=escape_name(title),
        headline=first,
        sections=keep_sections(
            describe_files(manifest),
            describe_columns(manifest),
            describe_cells(manifest),
            *own,
            describe_check(manifest),
            describe_use(examples),
        ),
        data={"manifest": dict(manifest)},
        **stamp_document(),
    )


def split_note(text: str) -> tuple[str, dict[str, list[str]]]:
    r"""The title of a note and its sections, as `release/note.py` writes them.

    >>> split_note("Loans\n\nPublic.\n\nChanged\n- a\n- b\n\nRecount it.\n")
    ('Loans', {'Changed': ['a', 'b']})
    """
    title, *blocks = text.strip("\n").split("\n\n")
    found: dict[str, list[str]] = {}
    for block in blocks:
        heading, *lines = block.split("\n")
        if lines and lines[0].startswith("- "):
            found[heading] = list(_join_lines(lines))
    return title, found


def _join_lines(lines: Sequence[str]) -> Iterator[str]:
    """Items of a list; a line that begins none goes on with the one before."""
    item = ""
    for line in lines:
        if line.startswith("- "):
            if item:
                yield item
            item = line.removeprefix("- ")
        else:
            item = f"{item} {line}"
    yield item


# Sections ---------------------------------------------------------------------------


def describe_files(manifest: Manifest) -> Section:
    """What is in the folder."""
    heads = (say("File"), say("Rows"), say("Bytes"), "SHA-256")
    lines = [
        (
            f["path"],
            f"{f['rows']:,}" if f["rows"] else "—",
            f"{f['bytes']:,}",
            f["sha256"],
        )
        for f in manifest["files"]
    ]
    facts = Facts(
        (
            (say("What it is"), say(KINDS[manifest["kind"]])),
            (say("Made by"), f"privet {manifest['privet']}, {manifest['method']}"),
            (say("Digest of the manifest"), manifest["digest"]),
        )
    )
    files = Grid(heads, lines, say("The files"))
    return Section("files", say("What you have"), [facts, files])


def describe_columns(manifest: Manifest) -> Section:
    """What the columns mean."""
    several = len(manifest["files"]) > 1
    where = _place_columns(manifest) if several else {}
    heads = [say("Column"), say("Holds"), say("What it is for"), say("How it is shown")]
    heads += [say("File")] * several
    lines = [
        [
            escape_name(name),
            say_type(about),
            say_role(about),
            say_shown(about),
            *([", ".join(where.get(name, ()))] * several),
        ]
        for name, about in manifest["columns"].items()
    ]
    title = say("What the columns mean")
    return Section("columns", title, [Grid(heads, lines, say("The columns"))])


def _place_columns(manifest: Manifest) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, columns in list_columns(manifest).items():
        for column in columns:
            found.setdefault(column.column, []).append(path)
    return {name: list(dict.fromkeys(paths)) for name, paths in found.items()}


def describe_cells(manifest: Manifest) -> Section | None:
    """What ⊥, ranges and sets in a cell mean."""
    columns = [c for found in list_columns(manifest).values() for c in found]
    signs = dict.fromkeys(c.marker for c in columns if c.marker)
    meaning = say(
        "any of the values of its column that are hidden; it is no value of its own, "
        "and not a missing one"
    )
    lines = [(sign, meaning) for sign in signs]
    labels = manifest.get("labels", {})
    lines += [(label, translate(words)) for label, words in labels.items()]
    if any(c.about.get("written_as") == "null" for c in columns):
        lines.append((say("an empty cell"), say("a hidden value, or a missing one")))
    if not lines:
        return None
    heads = (say("A cell"), say("means"))
    title = say("How to read a cell")
    return Section("cells", title, [Grid(heads, lines, title)])


def describe_check(manifest: Manifest) -> Section:
    """How to verify it."""
    said = say(
        "Nothing here needs to be believed: every promise is counted again from the "
        "files themselves. If the publisher gave you a public key, name it with "
        "--signed-by; only a signature tells whose release it is."
    )
    steps = (
        "pip install privet\nprivet verify .\nprivet verify . --signed-by publisher.pub"
    )
    parts: list[Part] = [Paragraph(said), Program(say("In the folder"), steps)]
    return Section("verify", say("How to check it"), parts)


def describe_use(examples: Sequence[Program]) -> Section | None:
    """How to analyse it."""
    if not examples:
        return None
    said = say(
        "The same in several languages, with the names of these files and columns. SQL "
        "is that of DuckDB, which reads the files as they are."
    )
    return Section("use", say("Worked examples"), [Paragraph(said), *examples])
