"""The summary of an audit as text, for a terminal, and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from privet.finding import Verdict
from privet.report.summary import shown_percent
from privet.report.words import SYMBOLS, numbered

if TYPE_CHECKING:
    from rich.console import RenderableType

COLOURS = {"safe": "green", "breach": "red", "undecided": "yellow"}


def _sign(verdict: str) -> str:
    """Colour never stands alone: a symbol and the word go with it."""
    return f"{SYMBOLS[Verdict(verdict)]} {verdict.upper()}"


def _numbers(finding: dict[str, Any]) -> str:
    """The figures of a finding in a line."""
    if finding["measured"] is not None:
        return f"measured {finding['measured']}; {finding['promised']}"
    if finding["posterior"] is None:
        return str(finding["promised"])
    before, after = shown_percent(finding["prior"]), shown_percent(finding["posterior"])
    (kind, level), *_ = finding["limit"].items()
    bound = f"limit {kind.replace('_', ' ')} {shown_percent(level)}"
    return f"{before} → {after}, {bound}; basis {finding['basis']}"


def _lines(finding: dict[str, Any]) -> Iterator[str]:
    yield _numbers(finding)
    yield finding["words"]
    if finding["beyond"]:
        yield finding["beyond"]
    if finding["note"] and finding["note"] != finding["words"]:
        yield finding["note"]


def as_text(summary: dict[str, Any], *, whole: bool = False) -> str:
    """Plain text, verdict first; the whole with what it covers and who may see it."""
    lines = [summary["headline"]]
    for finding in summary["findings"]:
        lines += ["", f"{_sign(finding['verdict'])}  {finding['promise']}"]
        lines += [f"  {line}" for line in _lines(finding)]
    for head, steps in (("What to do", summary["advice"]), ("Notes", summary["notes"])):
        if steps:
            lines += ["", f"{head}:", *(f"  {s}" for s in numbered(steps))]
    if whole:
        lines += ["", *summary["reach"], summary["sensitive"]]
    return "\n".join(lines)


def as_rich(summary: dict[str, Any]) -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    def text(words: str, style: str = "") -> Text:
        return Text(words, style=style)

    parts: list[RenderableType] = [
        text(summary["headline"], f"bold {COLOURS.get(summary['verdict'], '')}")
    ]
    for finding in summary["findings"]:
        colour = COLOURS.get(finding["verdict"], "dim")
        head = text(_sign(finding["verdict"]), f"bold {colour}")
        parts += [text(""), head.append(f"  {finding['promise']}", "bold default")]
        parts += [Padding(text(line), (0, 0, 0, 2)) for line in _lines(finding)]
    for head_, steps in (("What to do", "advice"), ("Notes", "notes")):
        if summary[steps]:
            parts += [text(""), text(head_, "bold")]
            parts += [Padding(text(s), (0, 0, 0, 2)) for s in numbered(summary[steps])]
    small = [*summary["reach"], summary["sensitive"]]
    parts += [text(""), *(text(s, "dim") for s in small)]
    return Group(*parts)


def as_html(summary: dict[str, Any]) -> str:
    """For a notebook; one piece, nothing loaded from anywhere."""
    rows = "".join(
        "<tr><td>{}</td><td>{}</td><td>{}</td></tr>".format(
            escape(_sign(f["verdict"])),
            escape(f["promise"]),
            "<br>".join(escape(line) for line in _lines(f)),
        )
        for f in summary["findings"]
    )
    steps = "".join(f"<li>{escape(s)}</li>" for s in summary["advice"])
    notes = "".join(f"<p>{escape(n)}</p>" for n in summary["notes"])
    return (
        f"<p><strong>{escape(summary['headline'])}</strong></p>"
        f"<table><thead><tr><th>Verdict</th><th>Promise</th><th>Worst case</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
        + (f"<ol>{steps}</ol>" if steps else "")
        + notes
        + f"<p><small>{escape(summary['sensitive'])}</small></p>"
    )
