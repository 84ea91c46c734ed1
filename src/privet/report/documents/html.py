"""A document as one HTML file: no script, nothing is loaded, charts stand in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from privet.findings import Verdict
from privet.languages import say
from privet.report.chart_style import can_draw, render_inline
from privet.report.documents.document import (
    Document,
    Facts,
    Grid,
    Judgement,
    Listing,
    Paragraph,
    Part,
    Picture,
    Program,
    Section,
    SignatureLines,
    say_made,
    say_verdict,
)
from privet.report.documents.page_style import SORTS, write_style
from privet.report.words import SYMBOLS
from privet.values.visible_text import escape_controls

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may do with the page: draw it, and nothing else."""

SHORT = 8
"""Lines of a table that stay on one page of paper, below their headings."""

NO_CHARTS = "Charts are left out: they need the extra 'report'."


def write_html(document: Document) -> str:
    """The whole file."""
    whose = _name_reader(document)
    kind = "private" if document.private else "public"
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="{_show(document.language)}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="robots" content="noindex, nofollow">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_show(f'{whose}: {document.title}')}</title>",
        f"<style>{write_style(_write_strip(document))}</style>",
        "</head>",
        f'<body class="{kind}">',
        f'<div class="strip" aria-hidden="true">{_show(_write_strip(document))}</div>',
        *_write_head(document),
        '<main id="report">',
        *_write_verdict(document),
        *_write_contents(document.sections),
        *(line for section in document.sections for line in _write_section(section)),
        *([] if can_draw() else [f"<p>{_show(say(NO_CHARTS))}</p>"]),
        "</main>",
        *_write_foot(document),
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts)


def _show(text: object) -> str:
    """Text in a page: what would do something is written out."""
    return escape(escape_controls(str(text)), quote=True)


# Around it --------------------------------------------------------------------------


def _name_reader(document: Document) -> str:
    return say("Private report") if document.private else say("Public note")


def _say_whose(document: Document) -> str:
    """Who may see it, above everything."""
    if document.private:
        return say(
            "PRIVATE. This report tells of the private table. Keep it where the table "
            "is kept; do not send it along with a release."
        )
    return say("Public note. It tells nothing that is not in the release.")


def _write_strip(document: Document) -> str:
    whose = say("PRIVATE") if document.private else say("Public note")
    return f"{whose} · {document.title}"


def _write_head(document: Document) -> list[str]:
    return [
        "<header>",
        f'<p class="whose">{_show(_say_whose(document))}</p>',
        f"<h1>{_show(document.title)}</h1>",
        f'<p class="made">{_show(say_made(document))}</p>',
        "</header>",
    ]


def _write_verdict(document: Document) -> list[str]:
    sort = SORTS.get(document.verdict, "none")
    sign = _write_sign(document.verdict) if document.verdict else ""
    return [
        f'<div class="verdict is-{sort}">',
        f'<p class="said">{sign} {_show(document.headline)}</p>',
        *([f"<p>{_show(document.beside)}</p>"] if document.beside else []),
        "</div>",
    ]


def _write_sign(verdict: str) -> str:
    """The word and its symbol; the colour never stands alone."""
    known = verdict in tuple(Verdict)
    symbol = SYMBOLS[Verdict(verdict)] if known else "✗"
    return f'<span class="sign">{symbol} {_show(say_verdict(verdict))}</span>'


def _write_contents(sections: Sequence[Section]) -> list[str]:
    items = "".join(
        f'<li><a href="#{_show(s.key)}">{_show(s.title)}</a></li>' for s in sections
    )
    return [f'<nav aria-label="{_show(say("Contents"))}"><ol>{items}</ol></nav>']


def _write_foot(document: Document) -> list[str]:
    said = say(
        "One file, without scripts; nothing in it is loaded from anywhere. privet {v}.",
        v=document.version,
    )
    whose = _show(_say_whose(document))
    return ["<footer>", f"<p>{whose}</p>", f"<p>{_show(said)}</p>", "</footer>"]


# Sections ---------------------------------------------------------------------------


def _write_section(section: Section) -> list[str]:
    return [
        f'<section id="{_show(section.key)}">',
        f"<h2>{_show(section.title)}</h2>",
        *(line for part in section.parts for line in _write_part(part)),
        "</section>",
    ]


def _write_part(part: Part) -> list[str]:
    return WRITERS[type(part)](part)


def _write_paragraph(part: Paragraph) -> list[str]:
    return [f"<p>{_show(part.text)}</p>"]


def _write_listing(part: Listing) -> list[str]:
    tag = "ol" if part.ordered else "ul"
    items = "".join(f"<li>{_show(item)}</li>" for item in part.items)
    return [f"<{tag}>{items}</{tag}>"] if part.items else []


def _write_pairs(pairs: Sequence[tuple[str, str]], kind: str) -> str:
    inside = "".join(
        f"<div><dt>{_show(n)}</dt><dd>{_show(v)}</dd></div>"
        if kind == "figures"
        else f"<dt>{_show(n)}</dt><dd>{_show(v)}</dd>"
        for n, v in pairs
    )
    return f'<dl class="{kind}">{inside}</dl>'


def _write_facts(part: Facts) -> list[str]:
    return [_write_pairs(part.pairs, "facts")] if part.pairs else []


DIGEST = re.compile(r"\b([0-9a-f]{32})([0-9a-f]{32})\b")
BREAKABLE = r"\1<wbr>\2"
"""A SHA-256 may go on in a second line, so that the names beside it stay whole."""


def _write_grid(part: Grid) -> list[str]:
    """A table in a box of its own, which moves where the page is too narrow."""
    heads = "".join(f'<th scope="col">{_show(h) or "&nbsp;"}</th>' for h in part.heads)
    lines = "".join(f"<tr>{_write_line(line)}</tr>" for line in part.lines)
    size = "short" if len(part.lines) <= SHORT else "long"
    return [
        f'<div class="box {size}" role="region" tabindex="0" '
        f'aria-label="{_show(part.caption)}">',
        f"<table><caption>{_show(part.caption)}</caption>",
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>",
    ]


def _write_line(line: Sequence[str]) -> str:
    first, *rest = line
    return f'<th scope="row">{_show(first)}</th>' + "".join(
        f"<td>{DIGEST.sub(BREAKABLE, _show(cell))}</td>" for cell in rest
    )


def _write_program(part: Program) -> list[str]:
    label = _show(say("Example in {language}", language=part.language))
    return [
        f'<div class="program"><p>{_show(part.language)}</p>',
        f'<div class="box" role="region" tabindex="0" aria-label="{label}">'
        f"<pre><code>{_show(part.text)}</code></pre></div></div>",
    ]


def _write_picture(part: Picture) -> list[str]:
    if not can_draw():
        return []
    chart = part.draw()
    if chart is None:
        return []
    caption = f"<figcaption>{_show(part.title)}</figcaption>"
    # On a narrow screen it is moved sideways, by the keyboard as well.
    return [f'<figure tabindex="0">{render_inline(chart)}{caption}</figure>']


def _write_judgement(part: Judgement) -> list[str]:
    sort = SORTS.get(part.verdict, "none")
    seen = [(n, t) for n, t in part.witnesses if t]
    return [
        f'<article class="is-{sort}">',
        f"<h3>{_write_sign(part.verdict)} <span>{_show(part.name)}</span></h3>",
        *([_write_pairs(part.figures, "figures")] if part.figures else []),
        *([_write_pairs(seen, "seen")] if seen else []),
        *(f"<p>{_show(note)}</p>" for note in part.notes),
        "</article>",
    ]


def _write_signatures(part: SignatureLines) -> list[str]:
    items = "".join(
        f"<li>{_show(value) or '&nbsp;'}<span>{_show(name)}</span></li>"
        for name, value in part.lines
    )
    return [f'<ul class="signatures">{items}</ul>']


WRITERS: dict[type, Callable[[Any], list[str]]] = {
    Paragraph: _write_paragraph,
    Listing: _write_listing,
    Facts: _write_facts,
    Grid: _write_grid,
    Program: _write_program,
    Picture: _write_picture,
    Judgement: _write_judgement,
    SignatureLines: _write_signatures,
}
"""How each part is written."""
