"""The papers' figures, drawn from what the studies found, where a page asks for them.

A page says ``<!-- figure: NAME -->``, and there the site has the picture, with the
command that made its numbers below it. The numbers are in `studies/results`; a figure
that is asked for and is not there fails the build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from making import classifier_figures, error_figures, knowledge_figures
from privet.report.chart_style import render_inline

RESULTS = Path(__file__).parents[2] / "studies" / "results"
ASKED = re.compile(r"^<!-- figure: (?P<name>[\w-]+) -->$", re.M)

FIGURES: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "classifier-closeness": ("classifier", classifier_figures.draw_closeness),
    "classifier-anonymous": ("classifier", classifier_figures.draw_anonymous),
    "handicapping-errors": ("handicapping", error_figures.draw_errors),
    "handicapping-inferences": ("handicapping", error_figures.tell_inferences),
    "handicapping-times": ("handicapping_speed", error_figures.draw_times),
    "responses-accuracy": ("responses", error_figures.draw_accuracy),
    "responses-variance": ("responses", error_figures.draw_variance),
    "skyline-corners": ("skyline", knowledge_figures.draw_corners),
    "skyline-speed": ("skyline_speed", knowledge_figures.draw_speed),
    "views-beliefs": ("published_views", knowledge_figures.draw_views),
}
"""Every figure: the result it is drawn from, and by what; a table is Markdown."""


def read_result(name: str) -> dict[str, Any]:
    """What a study found."""
    found: dict[str, Any] = json.loads(
        (RESULTS / f"{name}.json").read_text(encoding="utf-8")
    )
    return found


def draw_figure(name: str) -> Any:
    """A figure's chart, or its table."""
    if name not in FIGURES:
        raise ValueError(
            f"A figure must be one of {', '.join(sorted(FIGURES))}; got {name!r}."
        )
    result, draw = FIGURES[name]
    return draw(read_result(result)["figures"])


def show_figure(name: str) -> str:
    """A figure as a piece of a page, with where its numbers come from."""
    drawn = draw_figure(name)
    command = read_result(FIGURES[name][0])["command"]
    made = f"Numbers of `{command}`."
    if isinstance(drawn, str):
        return f"{drawn}\n\n<small>{made}</small>"
    # Blank lines would end the piece of HTML.
    picture = re.sub(r"\n\s*\n", "\n", render_inline(drawn))
    said = f"Numbers of <code>{escape(command)}</code>."
    caption = f"<figcaption>{said}</figcaption>"
    return f'<figure tabindex="0">{picture}{caption}</figure>'


def with_figures(text: str) -> str:
    """A page with its figures in their places."""
    return ASKED.sub(lambda asked: show_figure(asked["name"]), text)
