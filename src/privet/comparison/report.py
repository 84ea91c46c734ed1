"""A comparison and a trade-off in words: side by side, readable in 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from privet.comparison.candidate_methods import AS_IT_IS
from privet.comparison.method_figures import (
    FIGURES,
    NOT_TRIED,
    TABLE,
    MethodResult,
)
from privet.display import Exhibit
from privet.languages import mark, say, say_number, translate
from privet.release.handover.release_report import describe_judged
from privet.report.comparison_charts import (
    draw_comparison,
    draw_tradeoff,
    name_figure,
)
from privet.report.documents.document import (
    Document,
    Grid,
    Listing,
    Part,
    Picture,
    Section,
    keep_sections,
    say_verdict,
)
from privet.report.documents.private_report import (
    describe_method,
    describe_policy,
    sign_off,
    stamp_document,
)
from privet.report.render import table_as_html
from privet.report.words import escape_name
from privet.values.exact import percent

if TYPE_CHECKING:
    from rich.console import RenderableType

    from privet.comparison.comparison import Comparison
    from privet.comparison.tradeoff import Tradeoff
    from privet.policy import Policy
    from privet.table import Table

WIDTH = 80
MARK = "*"
LEGEND = mark(
    "{mark}: no other release is better in {aims} and as good in all of them."
)
PRIVATE = mark(
    "These figures tell of the private table. Keep them where the table is kept; do "
    "not send them along with a release."
)
COLUMNS = {
    "ncp": mark("NCP"),
    "cells_changed": mark("cells"),
    "accuracy": mark("accuracy"),
    "worst": mark("worst"),
    "certain": mark("certain"),
    "seconds": mark("s"),
}
"""The figures of the table on a terminal, and what stands above them."""
MEANINGS = {
    "ncp": mark(
        "NCP, of known columns: 0 is as it was, 1 shows nothing (buckets keep them, "
        "and part sensitive values from people instead)"
    ),
    "cells_changed": mark("cells: the share that is not as it was"),
    "accuracy": mark(
        "accuracy: of the target, learnt from the release, on original rows"
    ),
    "worst": mark("worst: the highest belief of any promise"),
    "certain": mark(
        "certain: people of whom somebody is, in the column where they are most"
    ),
}


def head_figure(name: str) -> str:
    """What stands above a figure.

    >>> head_figure("cells_changed"), head_figure("bits_kept")
    ('cells', 'bits kept')
    """
    return say(COLUMNS[name]) if name in COLUMNS else name_figure(name)


def show_figure(name: str, value: float | None, cells: int = 0) -> str:
    """A figure as people read it.

    >>> show_figure("ncp", 0.12345), show_figure("accuracy", 0.875)
    ('0.123', '87.5 %')
    """
    if value is None:
        return "-"
    if name == "cells_changed" and cells:
        return percent(Fraction(int(value), cells))
    if name in ("accuracy", "worst", "pairs_kept"):
        return percent(Fraction(value).limit_denominator(10**9))
    if name == "seconds":
        return f"{value:.1f}"
    if name in ("ncp", "standard_error"):
        return f"{value:.3f}" if name == "ncp" else f"{value:.4g}"
    return f"{value:,.0f}" if name != "bits_kept" else f"{value:.2f}"


def count_cells(result: MethodResult) -> int:
    """All cells that a release could show."""
    told = result.utility
    return 0 if told is None else int(told["rows"]) * len(told["columns"])


# A comparison -----------------------------------------------------------------------


def summarise_comparison(found: Comparison) -> dict[str, Any]:
    """For machines."""
    front = found.pareto
    best = found.best
    return {
        "verdict": find_verdict(found),
        "ended": found.ended,
        "complete": found.complete,
        "people": found.people,
        "by": found.by,
        "objectives": list(found.objectives),
        "best": None if best is None else best.name,
        "pareto": list(front),
        "methods": [{**r.to_dict(), "pareto": r.name in front} for r in found.results],
        "notes": list(found.notes),
        "words": write_headline(found),
    }


def find_verdict(found: Comparison) -> str:
    """That of the best release; infeasible if none keeps every promise."""
    if not found.complete:
        return "undecided"
    kept = (r for r in found.results if r.kept and r.name != AS_IT_IS)
    first = found.best or next(kept, None)
    return "infeasible" if first is None else first.verdict


def write_headline(found: Comparison) -> str:
    """The best release in a sentence."""
    tried = sum(r.verdict != NOT_TRIED for r in found.results)
    early = "" if found.complete else say("Not everything was tried to its end.")
    of = _count_tried(tried, len(found.results), early=bool(early))
    best = found.best
    if best is None:
        none = say(
            "Of {methods} none gives a table that keeps every promise.", methods=of
        )
        return f"{none} {early}".strip()
    kept = sum(r.kept and r.publishes == best.publishes for r in found.results)
    kept -= any(r.name == AS_IT_IS and r.kept for r in found.results)
    first = say_number(
        "Of {methods} {n} gives a table that keeps every promise; {best} is first by "
        "{figure}: {value}.",
        "Of {methods} {n} give a table that keeps every promise; {best} is first by "
        "{figure}: {value}.",
        kept,
        methods=of,
        best=best.name,
        figure=head_figure(found.by),
        value=show_figure(found.by, best.figures.get(found.by)),
    )
    return f"{first} {early}".strip()


def _count_tried(tried: int, every: int, *, early: bool) -> str:
    """How many methods were tried, and of how many where not all were."""
    if early:
        return say_number(
            "{tried} of {n} method", "{tried} of {n} methods", every, tried=tried
        )
    return say_number("{n} method", "{n} methods", tried)


def _list_shown(found: Comparison) -> list[str]:
    """The figures that somebody has, the one it is ranked by among them."""
    names = dict.fromkeys([*COLUMNS, found.by])
    has = {f for r in _list_ranked(found) for f in r.figures}
    return [n for n in names if n in has]


def _list_ranked(found: Comparison) -> list[MethodResult]:
    """The lines of the table: every release of it, also those that break a promise."""
    return [r for r in found.results if r.publishes == TABLE and _is_measured(r)]


def _is_measured(result: MethodResult) -> bool:
    return bool({"ncp", "worst"} & set(result.figures))


def list_cells(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """The headings and the lines of the table."""
    names, front = _list_shown(found), found.pareto
    heads = ["", say("method"), say("verdict"), *map(head_figure, names)]
    lines = [
        [
            MARK if r.name in front else "",
            escape_name(r.name),
            say_verdict(r.verdict),
            *(show_figure(n, r.figures.get(n), count_cells(r)) for n in names),
        ]
        for r in _list_ranked(found)
    ]
    return heads, lines


def _list_others(found: Comparison) -> list[str]:
    """Everything that is no line of the table, and what its lines do not say."""
    ranked = {r.name for r in _list_ranked(found)}
    return [
        _describe_other(r)
        if r.name not in ranked
        else f"{r.name}: {translate(r.reason)}"
        for r in found.results
        if r.name not in ranked or r.reason
    ]


def _describe_other(result: MethodResult) -> str:
    told = [
        f"{translate(FIGURES[n].words)}: {show_figure(n, result.figures[n])}"
        for n in ("accuracy", "pairs_kept", "standard_error")
        if result.kept and n in result.figures
    ]
    said = ". ".join(t for t in (*told, translate(result.reason).rstrip(".")) if t)
    head = f"{escape_name(result.name)}: {say_verdict(result.verdict)}."
    return f"{head} {said}.".replace(". .", ".")


def _explain_columns(found: Comparison) -> list[str]:
    shown = _list_shown(found)
    words = "; ".join(say(m) for n, m in MEANINGS.items() if n in shown)
    if not found.pareto:
        return [f"{words}."]
    *most, last = [head_figure(o) for o in found.objectives]
    aims = say("{first} or {second}", first=", ".join(most), second=last)
    return [say(LEGEND, mark=MARK, aims=aims if most else last), f"{words}."]


def align_cells(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines below their headings; numbers stand to the right."""
    wide = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    left = 3
    between = "  " if sum(wide) + 2 * len(wide) <= WIDTH else " "
    return [
        between.join(
            cell.ljust(w) if i < left else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, wide, strict=True))
        ).rstrip()
        for line in (heads, *lines)
    ]


def _fold(lines: Sequence[str]) -> str:
    """Sentences that fit the width, those that go on indented."""
    return "\n".join(
        "\n".join(wrap(line, WIDTH, subsequent_indent="  ") or [""]) for line in lines
    )


def comparison_as_text(found: Comparison) -> str:
    """Plain text: the best, the table, what cannot be had, what is to be said."""
    parts = [_fold([write_headline(found)])]
    heads, lines = list_cells(found)
    if lines:
        parts.append("\n".join(align_cells(heads, lines)))
        parts.append(_fold(_explain_columns(found)))
    rest = _list_others(found)
    if rest:
        parts.append(_fold(rest))
    return "\n\n".join([*parts, _fold([*found.notes, say(PRIVATE)])])


def comparison_as_rich(found: Comparison) -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.text import Text

    heads, lines = list_cells(found)
    parts: list[RenderableType] = [Text(write_headline(found), "bold"), Text()]
    if lines:
        parts += [_draw_table(heads, lines), Text()]
        parts += [Text(line, "dim") for line in _explain_columns(found)]
    rest = _list_others(found)
    parts += [Text(), *map(Text, rest)] if rest else []
    return Group(*parts, *map(Text, found.notes), Text(), Text(say(PRIVATE), "dim"))


def comparison_as_html(found: Comparison, picture: str) -> str:
    """For a notebook."""
    heads, lines = list_cells(found)
    parts = [f"<p><strong>{escape(write_headline(found))}</strong></p>{picture}"]
    if lines:
        parts += [
            table_as_html(heads, lines),
            *map(_write_small, _explain_columns(found)),
        ]
    rest = "".join(f"<li>{escape(line)}</li>" for line in _list_others(found))
    parts += [f"<ul>{rest}</ul>"] * bool(rest)
    parts += map(_write_small, (*found.notes, say(PRIVATE)))
    return f"<div>{''.join(parts)}</div>"


def _write_small(line: str) -> str:
    return f"<p><small>{escape(line)}</small></p>"


def _draw_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), pad_edge=False)
    for i, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if i < 3 else "right")
    for line in lines:
        table.add_row(*map(Text, line))
    return table


# A trade-off ------------------------------------------------------------------------


def summarise_tradeoff(found: Tradeoff) -> dict[str, Any]:
    """For machines; limits as fractions in text."""
    return {
        "verdict": "" if found.complete else "undecided",
        "ended": found.ended,
        "complete": found.complete,
        "swept": found.swept,
        "key": found.key,
        "by": found.by,
        "limits": [str(limit) for limit in found.limits],
        "methods": list(found.methods),
        "points": [p.to_dict() for p in found.points],
        "notes": list(found.notes),
        "words": write_tradeoff_headline(found),
    }


def write_tradeoff_headline(found: Tradeoff) -> str:
    """What was swept, and by what it is judged."""
    early = "" if found.complete else say("Not everything was tried.")
    told = say_number(
        "What {n} limit of {promise} costs, by {figure} ({meaning}).",
        "What {n} limits of {promise} cost, by {figure} ({meaning}).",
        len(found.limits),
        promise=repr(found.swept),
        figure=head_figure(found.by),
        meaning=translate(FIGURES[found.by].words),
    )
    return f"{told} {early}".strip()


RUNNING = mark(
    "The best release that keeps each limit. One found for a stricter limit keeps "
    "every looser one, too, and stands there where it is better (=)."
)


def list_tradeoff_cells(found: Tradeoff) -> tuple[list[str], list[list[str]]]:
    """Limits, the strictest first, by methods."""
    told: Mapping[tuple[Fraction, str], Any] = {
        (p.limit, p.method): p for p in found.points
    }
    heads = [found.key, *(escape_name(m) for m in found.methods)]
    lines = []
    for limit in reversed(found.limits):
        cells = [_show_point(found, told.get((limit, m))) for m in found.methods]
        lines.append([format_limit(limit), *cells])
    return heads, lines


def _show_point(found: Tradeoff, point: Any) -> str:
    if point is None:
        return "…"
    if point.best is None:
        return "-"
    taken = "=" if point.best_at != point.limit and not point.same else " "
    return f"{show_figure(found.by, point.best)}{taken}"


def format_limit(limit: Fraction) -> str:
    """A limit as a policy would write it.

    >>> format_limit(Fraction(1, 4)), format_limit(Fraction(1, 3))
    ('0.25', '1/3')
    """
    exact = Fraction(str(float(limit))) == limit
    return f"{float(limit):g}" if exact else str(limit)


def _list_unreached(found: Tradeoff) -> list[str]:
    """Methods that keep none of the limits, and why."""
    lines = []
    for method in found.methods:
        own = [p for p in found.points if p.method == method]
        if own and all(p.best is None for p in own):
            verdict = say_verdict(own[0].result.verdict)
            lines.append(f"{method}: {verdict}. {translate(own[0].result.reason)}")
    return lines


def tradeoff_as_text(found: Tradeoff) -> str:
    """Plain text."""
    heads, lines = list_tradeoff_cells(found)
    table = _split_wide(heads, lines)
    last = [*_list_unreached(found), *found.notes, say(PRIVATE)]
    return "\n\n".join(
        [_fold([write_tradeoff_headline(found)]), table, _fold([say(RUNNING), *last])]
    )


def _split_wide(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Blocks of as many methods as fit the width."""
    wide = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    blocks, at = [], 1
    while at < len(heads):
        stop, used = at, wide[0]
        while stop < len(heads) and used + 2 + wide[stop] <= WIDTH:
            used, stop = used + 2 + wide[stop], stop + 1
        stop = max(stop, at + 1)
        chosen = [0, *range(at, stop)]
        blocks.append(
            "\n".join(
                "  ".join(line[i].rjust(wide[i]) for i in chosen).rstrip()
                for line in (heads, *lines)
            )
        )
        at = stop
    return "\n\n".join(blocks)


def tradeoff_as_rich(found: Tradeoff) -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.text import Text

    heads, lines = list_tradeoff_cells(found)
    last = [*_list_unreached(found), *found.notes]
    return Group(
        Text(write_tradeoff_headline(found), "bold"),
        Text(),
        Text(_split_wide(heads, lines)),
        Text(),
        Text(say(RUNNING), "dim"),
        *map(Text, last),
        Text(say(PRIVATE), "dim"),
    )


def tradeoff_as_html(found: Tradeoff, picture: str) -> str:
    """For a notebook."""
    heads, lines = list_tradeoff_cells(found)
    last = (say(RUNNING), *_list_unreached(found), *found.notes, say(PRIVATE))
    small = "".join(map(_write_small, last))
    return (
        f"<div><p><strong>{escape(write_tradeoff_headline(found))}</strong></p>"
        f"{picture}{table_as_html(heads, lines)}{small}</div>"
    )


# Documents --------------------------------------------------------------------------


def report_comparison(
    found: Comparison, *, of: Table | None = None, policy: Policy | None = None
) -> Document:
    """Every method side by side; `of` and `policy` are what was compared, by what."""
    told, record = summarise_comparison(found), describe_judged(of, policy)
    heads, lines = list_cells(found)
    parts: list[Part] = [
        Picture(say("What every method keeps."), lambda: draw_comparison(told))
    ]
    if lines:
        names = [[line[1], line[0], *line[2:]] for line in lines]
        shown = [heads[1], say("front"), *heads[2:]]
        parts.append(Grid(shown, names, say("The methods, the best first")))
        parts.append(Listing(_explain_columns(found)))
    rest = _list_others(found)
    others = Section("others", say("What else was tried"), [Listing(rest)])
    notes = Section("notes", say("What must be said"), [Listing(found.notes)])
    return Document(
        kind="comparison",
        private=True,
        title=_name_comparison(policy),
        headline=told["words"],
        verdict=told["verdict"],
        sections=keep_sections(
            Section("methods", say("The methods side by side"), parts),
            others if rest else None,
            notes if found.notes else None,
            describe_method(record),
            describe_policy(record),
            sign_off(record.get("signoff")),
        ),
        data=told,
        **stamp_document(),
    )


def _name_comparison(policy: Policy | None) -> str:
    if policy is None or not policy.title:
        return say("Comparison of methods")
    return say("Comparison of methods: {title}", title=escape_name(policy.title))


EXHIBITS = {
    "Comparison": Exhibit(
        page=comparison_as_html,
        lines=lambda c: c.to_dict()["methods"],
        charts={"methods": lambda c, by=None: draw_comparison(c.to_dict(), by)},
        picture=lambda c: draw_comparison(c.to_dict()),
    ),
    "Tradeoff": Exhibit(
        page=tradeoff_as_html,
        lines=lambda t: t.to_dict()["points"],
        charts={"costs": lambda t: draw_tradeoff(t.to_dict())},
        picture=lambda t: draw_tradeoff(t.to_dict()),
    ),
}
"""What shows itself here."""

DOCUMENTS = {"Comparison": report_comparison}
"""What there is a report of here."""
