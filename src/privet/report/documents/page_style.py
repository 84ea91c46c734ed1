"""The one style of pages that are handed over: on a screen of any size, and on paper.

Colours are those of a page in daylight, and others at night; each keeps a contrast of
4.5 to 1 with what is behind it, and none stands alone. On paper a strip beside the text
says on every page whether it is private.
"""

from __future__ import annotations

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1d2429",
    "soft": "#55606a",
    "line": "#cfd6db",
    "tint": "#f3f5f7",
    "link": "#0a58a8",
    "safe": "#17613c",
    "safe-tint": "#e9f5ee",
    "breach": "#a02b0c",
    "breach-tint": "#fdeee9",
    "open": "#7a2c78",
    "open-tint": "#f8ecf7",
    "none": "#4d565e",
    "none-tint": "#eef0f2",
}
DARK = {
    "paper": "#14181c",
    "ink": "#e6eaed",
    "soft": "#a9b3bb",
    "line": "#3a434b",
    "tint": "#1d2328",
    "link": "#8cc4ff",
    "safe": "#7fd6a5",
    "safe-tint": "#12291d",
    "breach": "#ffab8f",
    "breach-tint": "#33170e",
    "open": "#eaa9e5",
    "open-tint": "#2d172c",
    "none": "#b6bfc6",
    "none-tint": "#22282d",
}
"""What everything is drawn in: text, lines, and each verdict with its background."""

SORTS = {
    "safe": "safe",
    "breach": "breach",
    "infeasible": "breach",
    "undecided": "open",
    "not covered": "open",
}
"""Which of these colours a verdict has; others have those of `none`."""

RULES = """
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
header, main, footer { max-width: 56rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
h1, h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; margin: .6rem 0 .2rem; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .75rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 0; }
p, ul, ol, dl, figure { margin: .6rem 0; }
p, li, dd, dt { overflow-wrap: anywhere; }
li { margin: .25rem 0; }
a { color: var(--link); }
.whose { margin: 0; padding: .45rem .8rem; border: 2px solid currentColor;
  border-radius: .3rem; font-weight: 600; }
.private .whose { color: var(--breach); background: var(--breach-tint); }
.public .whose { color: var(--safe); background: var(--safe-tint); }
.made { color: var(--soft); margin: 0; font-size: .9rem; }
.strip { display: none; }
.verdict { border-left: .5rem solid var(--own); background: var(--own-tint);
  padding: .9rem 1.1rem; margin: 1.25rem 0; border-radius: .2rem; }
.verdict p { margin: .2rem 0; }
.verdict .said { font-size: 1.2rem; font-weight: 600; }
.sign { display: inline-block; color: var(--own); border: 1.5px solid var(--own);
  border-radius: .25rem; padding: 0 .45rem; font-weight: 700; font-size: .9rem;
  white-space: nowrap; text-transform: uppercase; letter-spacing: .03em; }
.is-safe { --own: var(--safe); --own-tint: var(--safe-tint); }
.is-breach { --own: var(--breach); --own-tint: var(--breach-tint); }
.is-open { --own: var(--open); --own-tint: var(--open-tint); }
.is-none { --own: var(--none); --own-tint: var(--none-tint); }
nav { font-size: .95rem; }
nav ol { columns: 2 16rem; padding-left: 1.4rem; }
nav li { margin: 0 0 .5rem; break-inside: avoid; }
article { border: 1px solid var(--line); border-left: .35rem solid var(--own);
  border-radius: .2rem; padding: .8rem 1rem; margin: .9rem 0; }
article h3 { display: flex; flex-wrap: wrap; gap: .3rem .7rem; align-items: baseline; }
article p { margin: .4rem 0; }
.figures { display: flex; flex-wrap: wrap; gap: .4rem 2rem; margin: .5rem 0; }
.figures div { min-width: 6rem; }
.figures dt, .seen dt { color: var(--soft); font-size: .85rem; }
.figures dd { margin: 0; font-weight: 600; }
.seen dd { margin: 0 0 .5rem; }
.facts { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr;
  gap: .3rem 1rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; }
.box { overflow-x: auto; margin: .8rem 0; border: 1px solid var(--line);
  border-radius: .2rem; }
.box:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
caption { text-align: left; padding: .5rem .6rem; font-weight: 600;
  overflow-wrap: anywhere; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem;
  border-top: 1px solid var(--line); }
thead th { background: var(--tint); }
tbody th { font-weight: 600; min-width: 8rem; max-width: 24rem;
  overflow-wrap: break-word; }
td { font-variant-numeric: tabular-nums; }
figure { overflow-x: auto; }
figure svg { display: block; min-width: min(29rem, var(--own)); }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .3rem; }
pre { margin: 0; padding: .7rem .9rem; background: var(--tint); font-size: .88rem;
  line-height: 1.45; }
code, pre { font-family: ui-monospace, "Liberation Mono", Consolas, monospace; }
.program { margin: .9rem 0; }
.program p { margin: 0 0 .25rem; font-weight: 600; }
.signatures { display: grid;
  grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr));
  gap: 2.2rem 1.5rem; margin: 2.5rem 0 1rem; padding: 0; list-style: none; }
.signatures li { border-top: 1px solid var(--ink); padding-top: .3rem; margin: 0; }
.signatures span { display: block; color: var(--soft); font-size: .85rem; }
footer { color: var(--soft); font-size: .88rem; border-top: 1px solid var(--line);
  margin-top: 2.5rem; padding-top: .8rem; padding-bottom: 2rem; }
@media (max-width: 40rem) {
  header, main, footer { padding-left: .9rem; padding-right: .9rem; }
  h1 { font-size: 1.4rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .5rem; }
}
"""
"""On a screen."""

PRINT = """
@page { margin: 16mm 12mm 18mm 16mm;
  @bottom-left { content: WHOSE; font: 700 8pt sans-serif; color: #55606a; }
  @bottom-right { content: counter(page) " / " counter(pages);
    font: 8pt sans-serif; color: #55606a; } }
@media print {
  body { font-size: 10pt; margin-right: 9mm; }
  header, main, footer { max-width: none; padding: 0; }
  header { padding-top: 0; }
  nav, footer { display: none; }
  h2 { margin-top: 1.4rem; }
  h2, h3, caption { break-after: avoid; }
  article, figure, tr, .verdict, .signatures, .program { break-inside: avoid; }
  .short { break-inside: avoid; }
  thead { display: table-header-group; }
  .box { overflow: visible; border: 0; }
  table { font-size: 8.5pt; }
  th, td { overflow-wrap: anywhere; padding: .2rem .4rem; min-width: 5em; }
  tbody th { max-width: 70mm; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 8pt; }
  figure { overflow: visible; }
  figure svg { max-width: 100%; min-width: 0; }
  a { color: inherit; text-decoration: none; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .strip { display: block; position: fixed; top: 0; bottom: 0; right: 0; width: 7mm;
    writing-mode: vertical-rl; text-align: center; font: 700 8pt/7mm sans-serif;
    letter-spacing: .12em; white-space: nowrap; overflow: hidden; }
  .private .strip { color: var(--breach); border-left: 1.5pt solid var(--breach); }
  .public .strip { color: var(--soft); border-left: .75pt solid var(--line); }
}
"""
"""On paper: what belongs together stays together, and each page says whose it is."""


def write_style(whose: str) -> str:
    """The whole style sheet; paper is always white. `whose` stands on every page."""
    letters = "".join(c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in whose)
    paper = PRINT.replace("WHOSE", f'"{letters}"')
    night = f"@media screen and (prefers-color-scheme: dark) {{ {_declare(DARK)} }}"
    return f"{_declare(LIGHT)}\n{night}\n{RULES}{paper}"


def _declare(colours: dict[str, str]) -> str:
    said = " ".join(f"--{name}: {value};" for name, value in colours.items())
    return f":root {{ {said} }}"
