"""The gallery: its page is one session, whose pictures are what its code makes.

A ``python`` block is run, in the order of the page, in an empty folder that holds the
papers' tables. Where it says ``picture`` too, its last line must be a chart, which is
put below it. Nothing of it is kept: `make docs` draws every picture anew.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.demo.tables import bank_path, clinic_path
from privet.display import Displayed
from privet.report.chart_style import render_inline

PAGE = Path(__file__).parents[1] / "gallery.md"
FENCE = re.compile(r"^```python(?P<picture> picture)?\n(?P<code>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Picture:
    """One chart of the page."""

    code: str
    """What made it."""
    chart: Any
    """The chart."""
    of: tuple[str, str | None] | None
    """Which value was asked for which of its charts, the last time one was."""


def draw_pictures(text: str) -> Iterator[tuple[re.Match[str], Picture | None]]:
    """Run the blocks of a page; each with its picture, where it has one."""
    names: dict[str, Any] = {"__name__": "gallery"}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for path in (bank_path(), clinic_path()):
            shutil.copy(str(path), folder)
        for block in FENCE.finditer(text):
            with watch_charts() as asked, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                last = run_code(block["code"], names)
            if not block["picture"]:
                yield block, None
                continue
            if not hasattr(last, "to_dict") or isinstance(last, Displayed):
                raise ValueError(f"A picture must end with a chart:\n{block['code']}")
            yield block, Picture(block["code"], last, asked[-1] if asked else None)


def run_code(code: str, names: dict[str, Any]) -> Any:
    """Run statements; what the last one is, if it is an expression."""
    tree = ast.parse(code)
    *first, last = tree.body
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<gallery>", "exec"), names)
        return None
    exec(compile(ast.Module(first, []), "<gallery>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<gallery>", "eval"), names)


@contextmanager
def watch_charts() -> Iterator[list[tuple[str, str | None]]]:
    """Which values are asked for which of their charts."""
    asked: list[tuple[str, str | None]] = []
    plain = Displayed.chart

    def chart(self: Any, which: str | None = None, **options: Any) -> Any:
        asked.append((type(self).__name__, which))
        return plain(self, which, **options)

    Displayed.chart = chart  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        Displayed.chart = plain  # type: ignore[method-assign]


def gallery_page(text: str) -> str:
    """The page with its pictures below the code that made them."""
    parts, at = [], 0
    for block, picture in draw_pictures(text):
        parts += [text[at : block.start()], f"```python\n{block['code']}```\n"]
        if picture is not None:
            # Blank lines would end the piece of HTML.
            drawn = re.sub(r"\n\s*\n", "\n", render_inline(picture.chart))
            parts.append(f'\n<figure tabindex="0">{drawn}</figure>\n')
        at = block.end()
    return "".join([*parts, text[at:]])
