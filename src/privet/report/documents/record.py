"""A document as a record for the file: JSON that a published schema describes, and
Markdown.

A record of processing, a data protection impact assessment or a repository of research
data takes one of them; both say what the page says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from privet.findings import Verdict
from privet.languages import say
from privet.report.documents.document import (
    Document,
    Facts,
    Grid,
    Judgement,
    Listing,
    Paragraph,
    Picture,
    Program,
    Section,
    SignatureLines,
    say_made,
    say_verdict,
)
from privet.report.words import SYMBOLS
from privet.values.visible_text import escape_controls, escape_json

SCHEMA = Path(__file__).parent / "report.schema.json"
"""What the JSON record looks like, as JSON Schema says it."""

FENCES = {"pandas": "python", "R": "r", "SQL": "sql", "TOML": "toml"}
"""What Markdown calls the languages of examples."""


def write_json(document: Document) -> str:
    """The record as one JSON object."""
    return escape_json(json.dumps(document.to_dict(), ensure_ascii=False, indent=2)) + (
        "\n"
    )


def load_schema() -> dict[str, Any]:
    """The schema of the JSON record."""
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


# Markdown ---------------------------------------------------------------------------


def write_markdown(document: Document) -> str:
    """The same as Markdown; pictures are left out, their numbers are not."""
    whose = say("Public note. It tells nothing that is not in the release.")
    if document.private:
        whose = say(
            "PRIVATE. This report tells of the private table. Keep it where the table "
            "is kept; do not send it along with a release."
        )
    made = _show(say_made(document))
    lines = [f"# {_show(document.title)}", "", f"**{_show(whose)}**", "", made]
    sign = f"{_sign(document.verdict)} " if document.verdict else ""
    lines += ["", f"**{sign}{_show(document.headline)}**"]
    lines += ["", _show(document.beside)] if document.beside else []
    for section in document.sections:
        lines += ["", *_write_section(section)]
    return "\n".join(lines) + "\n"


def _show(text: object) -> str:
    r"""Text that Markdown takes for nothing else.

    >>> print(_show("a*b|c<d"))
    a\*b\|c&lt;d
    """
    plain = escape_controls(str(text)).replace("&", "&amp;").replace("<", "&lt;")
    for letter in "\\`*_[]|#":
        plain = plain.replace(letter, f"\\{letter}")
    return " ".join(plain.split())


def _sign(verdict: str) -> str:
    known = verdict in tuple(Verdict)
    symbol = SYMBOLS[Verdict(verdict)] if known else "✗"
    return f"{symbol} {say_verdict(verdict).upper()}"


def _write_section(section: Section) -> list[str]:
    lines = [f"## {_show(section.title)}"]
    for part in section.parts:
        if written := WRITERS[type(part)](part):
            lines += ["", *written]
    return lines


def _write_pairs(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [f"- {_show(name)}: {_show(value)}" for name, value in pairs]


def _write_grid(part: Grid) -> list[str]:
    rows = [[_show(cell) for cell in line] for line in (part.heads, *part.lines)]
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return [
        f"{_show(part.caption)}:",
        "",
        head,
        f"|{' --- |' * len(part.heads)}",
        *rest,
    ]


def _write_program(part: Program) -> list[str]:
    text = escape_controls(part.text)
    ticks = "`" * (max((len(r) for r in _list_ticks(text)), default=0) + 3)
    fence = FENCES.get(part.language, "sh")
    return [f"{_show(part.language)}:", "", f"{ticks}{fence}", text, ticks]


def _list_ticks(text: str) -> list[str]:
    return ["".join(c for c in line if c == "`") for line in text.splitlines()]


def _write_judgement(part: Judgement) -> list[str]:
    lines = [f"### {_sign(part.verdict)} {_show(part.name)}", ""]
    lines += _write_pairs(part.figures)
    lines += _write_pairs([(n, t) for n, t in part.witnesses if t])
    return [*lines, *(f"- {_show(note)}" for note in part.notes)]


def _write_listing(part: Listing) -> list[str]:
    return [
        f"{f'{i}.' if part.ordered else '-'} {_show(item)}"
        for i, item in enumerate(part.items, 1)
    ]


WRITERS: dict[type, Callable[[Any], list[str]]] = {
    Paragraph: lambda part: [_show(part.text)],
    Listing: _write_listing,
    Facts: lambda part: _write_pairs(part.pairs),
    Grid: _write_grid,
    Program: _write_program,
    Picture: lambda part: [],
    Judgement: _write_judgement,
    SignatureLines: lambda part: _write_pairs(
        [(name, value or "____________________") for name, value in part.lines]
    ),
}
"""How each part is written."""
