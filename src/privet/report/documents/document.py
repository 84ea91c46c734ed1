"""A document as a plain value: sections of paragraphs, tables, facts and pictures.

What a report says is settled here, once; `html.py` and `record.py` only write it down,
so that a page, a Markdown file and a JSON record of the same release say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privet.languages import mark, say
from privet.report.vega_lite import Chart

KINDS = ("audit", "release", "comparison", "ledger")
"""What there are documents of."""

VERDICTS = {
    "safe": mark("safe"),
    "breach": mark("breach"),
    "undecided": mark("undecided"),
    "not covered": mark("not covered"),
    "not applicable": mark("not applicable"),
    "infeasible": mark("infeasible"),
    "refused": mark("refused"),
    "stopped": mark("stopped"),
    "not tried": mark("not tried"),
}
"""What became of a promise, as it is said."""


def say_verdict(verdict: str) -> str:
    """A verdict in the reader's language."""
    return say(VERDICTS[verdict]) if verdict in VERDICTS else verdict


def say_made(document: Document) -> str:
    """When and by what a document was made, and how to read its numbers."""
    made = say("Made {time} by privet {v}.", time=document.made, v=document.version)
    if document.language == "en":
        return made
    # 1,234 is a bit more than one in Berlin; numbers look the same in every language.
    numbers = say(
        "Numbers are written as in English: 1,234 is one thousand two hundred and "
        "thirty-four, 0.5 is one half."
    )
    return f"{made} {numbers}"


# Parts ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    text: str
    """What they say."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {"type": "paragraph", "text": self.text}


@dataclass(frozen=True)
class Listing:
    """Sentences one below the other."""

    items: Sequence[str]
    """What they say."""
    ordered: bool = False
    """Whether they are steps, which have numbers."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {"type": "list", "ordered": self.ordered, "items": list(self.items)}


@dataclass(frozen=True)
class Facts:
    """Names and what is true of them."""

    pairs: Sequence[tuple[str, str]]
    """Each name with its value."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        told = [{"name": name, "value": value} for name, value in self.pairs]
        return {"type": "facts", "facts": told}


@dataclass(frozen=True)
class Grid:
    """Lines of cells below their headings."""

    heads: Sequence[str]
    """What stands above each column; the first names the lines."""
    lines: Sequence[Sequence[str]]
    """The cells, a line each."""
    caption: str
    """What it shows."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "type": "table",
            "caption": self.caption,
            "columns": list(self.heads),
            "rows": [list(line) for line in self.lines],
        }


@dataclass(frozen=True)
class Program:
    """A worked example, to be copied."""

    language: str
    """What it is written in: pandas, R, SQL, or a shell."""
    text: str
    """Its lines."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {"type": "program", "language": self.language, "text": self.text}


@dataclass(frozen=True)
class Picture:
    """A chart of what the sentences around it say."""

    title: str
    """What it shows."""
    draw: Callable[[], Chart | None] = field(compare=False)
    """Draws it when it is written; None: there is nothing to be seen."""

    def to_dict(self) -> dict[str, Any]:
        """For machines, which read the numbers beside it."""
        return {"type": "picture", "title": self.title}


@dataclass(frozen=True)
class Judgement:
    """One promise: its limit, what was found, and by which witness."""

    name: str
    """How the promise is called."""
    verdict: str
    """What became of it."""
    figures: Sequence[tuple[str, str]]
    """Its limit and what was found, before and after."""
    witnesses: Sequence[tuple[str, str]]
    """Who could be how sure of what, before and after."""
    notes: Sequence[str] = ()
    """What else must be said."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        told = ({"name": n, "value": v} for n, v in self.figures)
        seen = ({"name": n, "text": t} for n, t in self.witnesses)
        return {
            "type": "judgement",
            "name": self.name,
            "verdict": self.verdict,
            "figures": list(told),
            "witnesses": list(seen),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class SignatureLines:
    """Where people sign who answer for it."""

    lines: Sequence[tuple[str, str]]
    """What is signed, and who did already; empty: a line to write on."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        told = [{"name": name, "value": value} for name, value in self.lines]
        return {"type": "signatures", "lines": told}


Part = (
    Paragraph | Listing | Facts | Grid | Program | Picture | Judgement | SignatureLines
)
"""What a section may hold."""


# Sections and documents -------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """Some parts under a heading."""

    key: str
    """Its name for machines, the same in every language."""
    title: str
    """Its heading."""
    parts: Sequence[Part]
    """What it holds."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        parts = [part.to_dict() for part in self.parts]
        return {"key": self.key, "title": self.title, "parts": parts}


@dataclass(frozen=True)
class Document:
    """What is handed over: private, for who answers; or public, for recipients."""

    kind: str
    """What it is of, one of `KINDS`."""
    private: bool
    """Whether it quotes the private table, and never travels."""
    title: str
    """What it is called."""
    headline: str
    """Its verdict in a sentence; of a public note what it is about."""
    sections: Sequence[Section]
    """What it says; sections that hold nothing are left out when it is made."""
    verdict: str = ""
    """The verdict; empty where nothing was judged."""
    beside: str = ""
    """The limit that decides, beside the verdict."""
    language: str = "en"
    """What it is written in, as two letters."""
    made: str = ""
    """When it was made, in UTC."""
    version: str = ""
    """The version of privet that made it."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The same for machines: fractions as text, as `to_dict` of the value has them."""

    def to_dict(self) -> dict[str, Any]:
        """The record, as its schema says."""
        return {
            "report": 1,
            "privet": self.version,
            "kind": self.kind,
            "private": self.private,
            "language": self.language,
            "made": self.made,
            "title": self.title,
            "verdict": self.verdict or None,
            "headline": self.headline,
            "beside": self.beside,
            "sections": [section.to_dict() for section in self.sections],
            "data": dict(self.data),
        }


def keep_sections(*found: Section | None) -> tuple[Section, ...]:
    """Sections that have something to say."""
    return tuple(s for s in found if s is not None and s.parts)
