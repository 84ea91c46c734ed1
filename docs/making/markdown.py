"""Pieces of a page."""

from __future__ import annotations

import json

MADE = (
    "<!-- Made by docs/generate.py; run `make docs-pages` after a change. -->\n"
    "<!-- fmt: off -->"  # examples stand as their docstrings have them
)


def page(title: str, *parts: str) -> str:
    """A page that says what made it."""
    return "\n\n".join([MADE, f"# {title}", *(p.strip("\n") for p in parts)]) + "\n"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table; bars in cells stay in their cell."""

    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"

    return "\n".join([line(head), line(("---",) * len(head)), *map(line, rows)])


def fields(meanings: dict[str, str]) -> str:
    """What each field of a document means."""
    rows = [(f"`{field}`", said) for field, said in meanings.items()]
    return table(("field", "meaning"), rows)


def shown(content: object) -> str:
    """A document as it is."""
    return f"```json\n{json.dumps(content, ensure_ascii=False, indent=2)}\n```"
