"""Rules in words: one plain dictionary first, then shown from it; and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from privet.languages import (
    join_words,
    mark,
    say,
    say_number,
    translate,
)
from privet.policy import Promise
from privet.policy.toml import write_sections
from privet.report.words import (
    SENSITIVE,
    cut_short,
    escape_name,
    format_cell,
    format_count,
    format_fact,
    format_facts,
    format_prior,
    format_share,
    format_share_of,
)
from privet.values.exact import percent, write_in_full

if TYPE_CHECKING:
    from rich.console import RenderableType

    from privet.microdata.discovery.discovery import (
        Commonplace,
        Discovery,
        Inference,
    )

HEADS = (
    mark("known"),
    mark("gives away"),
    mark("people"),
    mark("at worst"),
    mark("in everybody"),
    mark("lift"),
)
"""What is told of a rule, in a table."""

MOST_VALUES = 8
"""Values of one column that the picture has a column for."""

MOST_ROWS = 30
"""Known columns that the picture has a line for."""

WIDEST = 14
"""Letters of a heading of the picture."""

FEW = 5
"""A group of fewer people is small: whoever is in it is hardly hidden at all."""

STOPS = {
    "time": mark("Stopped at the time limit."),
    "interrupted": mark("Stopped by Ctrl-C."),
    "rules": mark(
        "Stopped: there are too many rules. Ask about fewer values, for a "
        "higher confidence or for larger groups."
    ),
}
"""Why not all sets were looked at."""


def summarise_discovery(found: Discovery) -> dict[str, Any]:
    """Everything there is to show; probabilities are fractions in text."""
    return {
        "headline": write_headline(found),
        "ended": found.ended,
        "confidence": str(found.confidence),
        "columns": found.columns,
        "support": found.support,
        "known": {a: list(own) for a, own in found.known.items()},
        "people": found.people,
        "counted": found.counted,
        "rules": [r.to_dict() for r in found.rules],
        "everybody": [c.to_dict() for c in found.everybody],
        "matrix": found.matrix(),
        "sets": [
            {"columns": n, "looked_at": looked, "of": of}
            for n, (looked, of) in found.sets.items()
        ],
        "notes": list_notes(found),
        "sensitive": translate(SENSITIVE),
    }


# Sentences --------------------------------------------------------------------------


def write_headline(found: Discovery) -> str:
    """What the table gives away, in a sentence that claims no more than was counted."""
    told = {
        "sure": write_in_full(found.confidence),
        "known": _describe_known(found),
        "where": _say_where(found),
    }
    if not found.rules and found.everybody:
        return say_number(
            "One value is more than {sure} sure without any column; who "
            "knows {known} learns no other as surely{where}.",
            "{n} values are more than {sure} sure without any column; who "
            "knows {known} learns no other as surely{where}.",
            len(found.everybody),
            **told,
        )
    if not found.rules:
        return say(
            "Nobody who knows {known} is more than {sure} sure of a value "
            "that was looked for{where}.",
            **told,
        )
    values = say_number(
        "one value", "{n} values", len({(r.about, r.value) for r in found.rules})
    )
    told["where"] = _say_size(found)
    return say_number(
        "One rule gives away {values}: who knows {known} is more than {sure} "
        "sure{where}.",
        "{n} rules give away {values}: who knows {known} is more than {sure} "
        "sure{where}.",
        len(found.rules),
        values=values,
        **told,
    )


def _say_where(found: Discovery) -> str:
    looked = "" if found.complete else say(", as far as was looked")
    return f"{_say_size(found)}{looked}"


def _say_size(found: Discovery) -> str:
    """Of which groups it was looked at."""
    if found.support == 1:
        return ""
    return say(" in groups of {n} and more", n=f"{found.support:,}")


def _describe_known(found: Discovery) -> str:
    """How many columns of how many somebody knows."""
    several = max(found.sets, default=0)
    of = max((len(own) for own in found.known.values()), default=0)
    if of == 1:
        return say("the one column")
    if several == 1:
        return say("one of {all} columns", all=of)
    return say("at most {n} of {all} columns", n=several, all=of)


def describe_rule(rule: Inference) -> str:
    """A rule by its worst group, and how many people are beyond the confidence."""
    w = rule.witness
    return say(
        "Someone who knows that a person's {facts} can be {sure} sure "
        "({share}) that {believed}. Without that, {prior}.",
        facts=format_facts(w.knows),
        sure=percent(rule.confidence),
        share=format_share_of(w.part, w.whole, w.counted),
        believed=format_fact(rule.about, format_cell(rule.value)),
        prior=format_prior(w),
    )


def describe_commonplace(value: Commonplace) -> str:
    """A value that everybody may be believed to have."""
    return say(
        "{fact} for {share} of everybody ({counts})",
        fact=format_fact(value.about, format_cell(value.value)),
        share=percent(value.share),
        counts=format_share(value.part, value.whole),
    )


def list_notes(found: Discovery) -> list[str]:
    """What else must be said: what was not looked at, and why."""
    said = [translate(STOPS[found.ended])] if found.ended in STOPS else []
    for size, (looked, of) in found.sets.items():
        if looked < of:
            said.append(_say_unlooked(size, of, of - looked))
    if any(r.audited > r.confidence for r in found.rules):
        said.append(
            say(
                "Groups of fewer than {n} were left out here; an audit looks "
                "at them, and may find more.",
                n=f"{found.support:,}",
            )
        )
    small = sum(r.witness.whole < FEW for r in found.rules)
    if 2 * small > len(found.rules) and found.support < FEW:
        said.append(
            say(
                "Most of these rules are about groups of fewer than {n}; "
                "--support {n} (support={n}) leaves such groups out.",
                n=FEW,
            )
        )
    if found.counted == "people":
        said.append(
            say("Somebody with several rows is counted in each of their groups.")
        )
    return [*said, *map(translate, found.notes)]


def _say_unlooked(size: int, of: int, left: int) -> str:
    """That some sets of so many columns were not looked at."""
    told = {"left": f"{left:,}", "size": size}
    if size == 1:
        return say(
            "Of {all} set of one column, {left} were not looked at; what is "
            "listed is final.",
            all=f"{of:,}",
            **told,
        )
    return say_number(
        "Of {n} set of {size} columns, {left} were not looked at; what is "
        "listed is final.",
        "Of {n} sets of {size} columns, {left} were not looked at; what is "
        "listed is final.",
        of,
        **told,
    )


def format_target(about: str, value: str | None) -> str:
    """A value with its column."""
    return f"{escape_name(about)} = {cut_short(format_cell(value))}"


def format_lift(lift: Fraction) -> str:
    """How many times as sure.

    >>> format_lift(Fraction(96, 25)), format_lift(Fraction(1234))
    ('3.8', '1,234')
    """
    return f"{float(lift):,.1f}" if lift < 100 else f"{float(lift):,.0f}"


def _name_heads() -> list[str]:
    return [translate(head) for head in HEADS]


def _list_cells(rule: Inference) -> tuple[str, ...]:
    w = rule.witness
    return (
        join_words([escape_name(c) for c in rule.columns]),
        format_target(rule.about, rule.value),
        f"{rule.people:,}",
        f"{percent(rule.confidence)} ({format_share(w.part, w.whole)})",
        percent(rule.floor),
        format_lift(rule.lift),
    )


def _describe_everybody(found: Discovery) -> str:
    if not found.everybody:
        return ""
    said = list(map(describe_commonplace, found.everybody[:5]))
    more = len(found.everybody) - 5
    said += [say("and {n} more", n=more)] if more > 0 else []
    return say("Whatever is hidden: {values}.", values="; ".join(said))


def _say_rest(found: Discovery, top: int) -> str:
    left = len(found.rules) - top
    if left <= 0:
        return ""
    return say_number("And {n} more rule.", "And {n} more rules.", left)


# The picture ------------------------------------------------------------------------

LEGEND = mark("1: this column alone gives it away; 2, 3: with so many in all; ·: not.")
"""What the picture's numbers mean."""


def draw_matrix(found: Discovery) -> tuple[list[str], list[list[str]]]:
    """The picture's headings and lines: which columns give away which.

    Columns that are given away stand above; where there is one, its values do.
    """
    one = next(iter(found.known)) if len(found.known) == 1 else None
    fewest: dict[tuple[str, Any], int] = {}
    people: dict[Any, int] = {}
    for rule in found.rules:
        at = rule.about if one is None else (rule.value,)
        people[at] = max(people.get(at, 0), rule.people)
        for column in rule.columns:
            size = len(rule.columns)
            fewest[column, at] = min(fewest.get((column, at), size), size)
    targets: list[Any] = (
        list(found.known)
        if one is None
        else sorted(people, key=lambda at: -people[at])[:MOST_VALUES]
    )
    lines = [
        [escape_name(c), *(_draw_mark(found, fewest, c, at) for at in targets)]
        for c in found.list_known()[:MOST_ROWS]
    ]
    heads = [at if one is None else format_cell(at[0]) for at in targets]
    return ["", *(_shorten(escape_name(h)) for h in heads)], lines


def _draw_mark(
    found: Discovery, fewest: dict[tuple[str, Any], int], column: str, at: Any
) -> str:
    if isinstance(at, str) and column not in found.known[at]:
        return ""
    return str(fewest.get((column, at), "·"))


def _shorten(head: str) -> str:
    return head if len(head) <= WIDEST else head[: WIDEST - 1] + "…"


def _align(
    heads: Sequence[str], lines: Sequence[Sequence[str]], left: int
) -> list[str]:
    """Lines of cells below their headings; the first ones stand to the left."""
    wide = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(w) if i < left else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, wide, strict=True))
        ).rstrip()
        for line in (heads, *lines)
    ]


# Text -------------------------------------------------------------------------------


def discovery_as_text(found: Discovery, top: int = 10, by: str = "people") -> str:
    """Plain text: the result, the picture, the first rules, what is left to say."""
    parts = [write_headline(found)]
    rules = found.rank(by, top)
    if found.rules:
        heads, lines = draw_matrix(found)
        parts.append("\n".join([*_align(heads, lines, 1), translate(LEGEND)]))
    if rules:
        parts.append(
            "\n".join(_align(_name_heads(), [_list_cells(r) for r in rules], 2))
        )
        rest = _say_rest(found, top)
        parts.append("\n".join(filter(None, [describe_rule(rules[0]), rest])))
    last = [_describe_everybody(found), *list_notes(found), _describe_look(found)]
    return "\n\n".join([*parts, "\n".join([*filter(None, last), translate(SENSITIVE)])])


def _describe_look(found: Discovery) -> str:
    looked = sum(n for n, _ in found.sets.values())
    people = format_count(found.people, found.counted)
    sets = say_number("{n} set of columns", "{n} sets of columns", looked)
    if found.support == 1:
        return say("Looked at {sets}; {people} in all.", sets=sets, people=people)
    return say(
        "Looked at {sets}, groups of {n} and more; {people} in all.",
        sets=sets,
        n=f"{found.support:,}",
        people=people,
    )


def as_rich(found: Discovery, top: int = 10, by: str = "people") -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    rules = found.rank(by, top)
    parts: list[RenderableType] = [Text(write_headline(found), "bold")]
    if found.rules:
        heads, lines = draw_matrix(found)
        picture = Table()
        for head in heads:
            picture.add_column(Text(head))
        for line in lines:
            picture.add_row(*map(Text, line))
        parts += [Text(), picture, Text(translate(LEGEND), "dim")]
    if rules:
        table = Table(*_name_heads())
        for rule in rules:
            table.add_row(*map(Text, _list_cells(rule)))
        parts += [
            Text(),
            table,
            Text(describe_rule(rules[0])),
            Text(_say_rest(found, top)),
        ]
    last = [_describe_everybody(found), *list_notes(found), _describe_look(found)]
    return Group(
        *parts, *(Text(n) for n in last if n), Text(translate(SENSITIVE), "dim")
    )


@dataclass(frozen=True)
class RankedRules:
    """The first rules of a discovery, as they were asked for; it shows itself."""

    found: Discovery
    """All of them."""
    top: int = 10
    """How many are shown."""
    by: str = "people"
    """By what they are ranked."""

    def explain(self) -> str:
        """In plain words."""
        return discovery_as_text(self.found, self.top, self.by)

    def __rich__(self) -> RenderableType:
        return as_rich(self.found, self.top, self.by)


def as_html(found: Discovery, picture: str = "", top: int = 10) -> str:
    """For a notebook; one piece, nothing loaded from anywhere."""
    parts = [f"<p><strong>{escape(write_headline(found))}</strong></p>"]
    if found.rules:
        drawn = picture or (
            f"{_draw_table(*draw_matrix(found))}<p><small>{escape(translate(LEGEND))}</small></p>"
        )
        parts.append(drawn)
        cells = [list(_list_cells(r)) for r in found.rank(top=top)]
        parts.append(_draw_table(_name_heads(), cells))
    last = [_say_rest(found, top), _describe_everybody(found), *list_notes(found)]
    parts += [f"<p>{escape(n)}</p>" for n in (*last, _describe_look(found)) if n]
    small = f"<p><small>{escape(translate(SENSITIVE))}</small></p>"
    return f"<div>{''.join(parts)}{small}</div>"


def _draw_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(h)}</th>' for h in heads)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(c)}</td>" for c in line) + "</tr>"
        for line in lines
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"


# Promises ---------------------------------------------------------------------------


def write_promises(promises: Sequence[Promise]) -> str:
    """Promises as TOML; one about a missing value, which TOML lacks, is a comment."""
    named = [p for p in promises if not _is_missing(p)]
    text = write_sections({"promise": [p.to_dict() for p in named]}) if named else ""
    lost = [p.name for p in promises if _is_missing(p)]
    if not lost:
        return text
    said = [
        "# "
        + say(
            "A missing value cannot be named in a policy file; in Python it is None:"
        ),
        *(f"# {name.encode('unicode_escape').decode()}" for name in lost),
    ]
    return "\n".join([*([text] if text else []), *said]) + "\n"


def _is_missing(promise: Promise) -> bool:
    assert isinstance(promise.about, dict)
    return None in promise.about.values()
