"""The summary of an audit as text, for a terminal, and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from privet.findings import Verdict
from privet.languages import mark, say, translate
from privet.report.words import (
    SYMBOLS,
    escape_name,
    name_verdict,
    numbered,
    say_name,
)
from privet.values.visible_text import escape_controls

if TYPE_CHECKING:
    from rich.console import RenderableType

Summary = dict[str, Any]
"""What `privet.report.summary` makes."""

COLOURS = {
    "safe": "green",
    "breach": "red",
    "undecided": "yellow",
    "not covered": "yellow",
}
"""Colour never stands alone: a symbol and the word go with it."""

LISTS = ((mark("Notes"), "notes"), (mark("What to do"), "advice"))
"""Numbered lists of a report: their headings and where they are."""


LEFT = "text-align:left;vertical-align:top"
"""How cells stand; notebooks put them to the right."""

MOST_LINES = 100
"""Lines of a table in a notebook."""

HISTORY = mark("Earlier releases:")
"""The heading of what is known of them."""

EXPOSURE = mark("Exposure, promised or not:")
"""The heading of how many people something is told of."""


def _format_verdict(found: Summary) -> str:
    verdict = found["verdict"]
    return f"{SYMBOLS[Verdict(verdict)]} {name_verdict(verdict).upper()}"


def _format_headline(summary: Summary) -> str:
    return f"{SYMBOLS[Verdict(summary['verdict'])]} {summary['headline']}"


def _list_lines(finding: Summary) -> Iterator[str]:
    """What is said of a finding, nothing twice."""
    said = (finding[key] for key in ("figures", "words", "beyond", "note"))
    yield from dict.fromkeys(escape_controls(line) for line in said if line)


# Plain text -------------------------------------------------------------------------


def as_text(summary: Summary, *, whole: bool = False) -> str:
    """Plain text, verdict first; the whole with what it covers and who may see it."""
    lines = [_format_headline(summary)]
    if summary["title"]:
        lines.append(escape_name(summary["title"]))
    for finding in summary["findings"]:
        lines += ["", finding_as_text(finding)]
    if summary["exposure"]:
        told = (f"  {s}" for s in summary["exposure"]["words"])
        lines += ["", translate(EXPOSURE), *told]
    if summary["history"]:
        told = (f"  {s}" for s in list_history(summary["history"]))
        lines += ["", translate(HISTORY), *told]
    for head, key in LISTS:
        if summary[key]:
            steps = (f"  {s}" for s in numbered(summary[key]))
            lines += ["", say("{heading}:", heading=translate(head)), *steps]
    if whole:
        lines += ["", *summary["reach"], summary["sensitive"]]
    return "\n".join(lines)


def list_history(history: Summary) -> list[str]:
    """What is known of earlier releases, and what they come to, a line each."""
    lines = [translate(str(line)) for line in history["words"]]
    for f in history["findings"]:
        said = translate(f["note"] or f["words"])
        told = f"{name_verdict(f['verdict']).lower()}. {said}".strip()
        lines.append(f"{say_name(f)}: {told}")
    return lines


def finding_as_text(finding: Summary) -> str:
    """One finding, its name first."""
    head = f"{_format_verdict(finding)}  {say_name(finding)}"
    return "\n".join([head, *(f"  {line}" for line in _list_lines(finding))])


# A terminal -------------------------------------------------------------------------


def as_rich(summary: Summary) -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    colour = COLOURS.get(summary["verdict"], "")
    parts: list[RenderableType] = [Text(_format_headline(summary), f"bold {colour}")]
    if summary["title"]:
        parts.append(Text(escape_name(summary["title"]), "dim"))
    for finding in summary["findings"]:
        parts += [Text(), finding_as_rich(finding)]
    if summary["exposure"]:
        parts += [Text(), Text(translate(EXPOSURE), "bold")]
        parts += [Padding(Text(s), (0, 0, 0, 2)) for s in summary["exposure"]["words"]]
    if summary["history"]:
        parts += [Text(), Text(translate(HISTORY), "bold")]
        said = list_history(summary["history"])
        parts += [Padding(Text(s), (0, 0, 0, 2)) for s in said]
    for head, key in LISTS:
        if summary[key]:
            parts += [
                Text(),
                Text(translate(head), "bold"),
                _render_steps(summary[key]),
            ]
    small = [*summary["reach"], summary["sensitive"]]
    return Group(*parts, Text(), *(Text(line, "dim") for line in small))


def finding_as_rich(finding: Summary) -> RenderableType:
    """One finding for a terminal."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    colour = COLOURS.get(finding["verdict"], "dim")
    head = Text.assemble(
        (_format_verdict(finding), f"bold {colour}"),
        (f"  {say_name(finding)}", "bold"),
    )
    return Group(head, *(Padding(Text(t), (0, 0, 0, 2)) for t in _list_lines(finding)))


def _render_steps(steps: list[str]) -> RenderableType:
    """Numbers in a column of their own, so that long steps stay aligned."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=4, justify="right")
    grid.add_column()
    for number, step in enumerate(steps, 1):
        grid.add_row(Text(f"{number}."), Text(step))
    return grid


# A notebook -------------------------------------------------------------------------


def as_html(summary: Summary, picture: str = "") -> str:
    """For a notebook; one piece, nothing loaded from anywhere."""
    title = (
        f"<p>{escape(escape_name(summary['title']))}</p>" if summary["title"] else ""
    )
    lists = "".join(
        f"<p><strong>{translate(head)}</strong></p><ol>{_render_items(summary[key])}</ol>"
        for head, key in LISTS
        if summary[key]
    )
    exposed = ""
    if summary["exposure"]:
        items = "".join(f"<li>{escape(s)}</li>" for s in summary["exposure"]["words"])
        exposed = f"<p><strong>{translate(EXPOSURE)}</strong></p><ul>{items}</ul>"
    if summary["history"]:
        said = list_history(summary["history"])
        items = "".join(f"<li>{escape(s)}</li>" for s in said)
        exposed += f"<p><strong>{translate(HISTORY)}</strong></p><ul>{items}</ul>"
    small = "".join(
        f"<p><small>{escape(line)}</small></p>"
        for line in (*summary["reach"], summary["sensitive"])
    )
    return (
        f"<div><p><strong>{escape(_format_headline(summary))}</strong></p>{title}"
        f"{picture}{_render_table(summary['findings'])}{exposed}{lists}{small}</div>"
    )


def finding_as_html(finding: Summary, picture: str = "") -> str:
    """One finding for a notebook."""
    return f"<div>{_render_table([finding])}{picture}</div>"


def table_as_html(heads: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Lines of plain cells as a table; a very long one is cut, and says so."""
    head = "".join(f'<th scope="col" style="{LEFT}">{escape(h)}</th>' for h in heads)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="{LEFT}">{escape(escape_controls(str(cell)))}</td>'
            for cell in line
        )
        + "</tr>"
        for line in lines[:MOST_LINES]
    )
    left = len(lines) - MOST_LINES
    told = say("and {n} more", n=f"{left:,}")
    more = f"<p><small>{told}</small></p>" if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _render_items(steps: list[str]) -> str:
    return "".join(f"<li>{escape(step)}</li>" for step in steps)


def _render_table(findings: list[Summary]) -> str:
    rows = "".join(_render_row(f) for f in findings)
    heads = "".join(
        f'<th scope="col" style="text-align:left">{head}</th>'
        for head in (say("Verdict"), say("Promise"), say("Worst case"))
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _render_row(finding: Summary) -> str:
    colour = COLOURS.get(finding["verdict"], "")
    edge = f"border-left:4px solid {colour};" if colour else ""
    cells = (
        (f"{edge}white-space:nowrap", escape(_format_verdict(finding))),
        ("", escape(say_name(finding))),
        ("", "<br>".join(escape(line) for line in _list_lines(finding))),
    )
    inside = "".join(
        f'<td style="text-align:left;vertical-align:top;{style}">{text}</td>'
        for style, text in cells
    )
    return f"<tr>{inside}</tr>"
