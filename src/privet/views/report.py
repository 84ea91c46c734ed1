"""Breach probabilities of views, and who has what in how many worlds, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privet.findings import Audit, Finding, Reconstruction
from privet.policy import Promise
from privet.release.kinds import Sentences
from privet.report.documents.document import Grid, Listing, Part, Program, Section
from privet.report.documents.released_columns import list_columns
from privet.report.documents.worked_examples import (
    PANDAS,
    SQL,
    R,
    quote_name,
    quote_text,
    read_in_pandas,
    read_in_r,
    read_in_sql,
)
from privet.report.language import say
from privet.report.words import describe_groups_beyond, escape_name, format_cell
from privet.values.adversaries import join_words
from privet.values.beliefs import Ceiling
from privet.values.exact import percent

if TYPE_CHECKING:
    from privet.views.release import ViewsRelease
    from privet.views.split import Proposal

MOST_SAID = 10**9
"""Larger numbers of tables are not said."""

MOST_KEYS = 5
"""Keys that are listed as those to look at first."""

NUMBERS = {2: "two", 3: "three", 4: "four"}


def explain(finding: Finding) -> str:
    """The association that is surest, and what other models say of it."""
    w = finding.witness
    assert isinstance(w, Reconstruction)
    ((column, person),) = w.knows.items()
    limit = getattr(finding.promise, "limit", None)
    level = limit.level if isinstance(limit, Ceiling) else None
    holds = f"{format_cell(person)} has {format_cell(w.value)}"
    share = rounded(w.shares[w.model] or Fraction(0), level)
    views = f"these {NUMBERS.get(w.views, str(w.views))} views"
    if w.views == 1:
        views = "this view"
    told = {
        "unrestricted": _explain_unrestricted(w, holds, share, views),
        "restricted": f"If each {escape_name(column)} has one row, {share} of the "
        f"tables that would give {views} say that {holds}.",
        "functional": f"If everybody has one {escape_name(w.column)}, {share} of the "
        f"tables that would give {views} say that {holds}.",
        "bag": f"If rows are matched at random and duplicates are kept, it is {share} "
        f"that {holds}.",
    }[w.model]
    others = _explain_other_models(w, column)
    return " ".join([told, *others, *explain_worlds(finding)])


def explain_worlds(finding: Finding) -> list[str]:
    """The share over the columns asked about, and the one over whole tuples."""
    worlds = finding.details.get("worlds")
    if not worlds or worlds["projected"]["share"] == worlds["full"]["share"]:
        return []
    shares = [_format_worlds(worlds[w]) for w in ("projected", "full")]
    return [
        f"Over the columns asked about: {shares[0]}; over whole tuples of all views: "
        f"{shares[1]}."
    ]


def _format_worlds(told: Mapping[str, Any]) -> str:
    """One of the two shares.

    >>> _format_worlds({"share": "5/7"}), _format_worlds({"share": None})
    ('71 %', 'not counted')
    """
    if "at_least" in told:
        return f"at least {rounded(Fraction(told['at_least']))}"
    return "not counted" if told["share"] is None else rounded(Fraction(told["share"]))


def _explain_unrestricted(w: Reconstruction, holds: str, share: str, views: str) -> str:
    if w.shares[w.model] == 1:
        return f"Every table that would give {views} says that {holds}: 100 %."
    if w.whole > MOST_SAID or Fraction(w.part, w.whole) != w.shares[w.model]:
        return f"Of all tables that would give {views}, {share} say that {holds}."
    where = f"{_describe_keys(w)} " if any(w.keys) and not w.alone else ""
    tables = "table" if w.whole == 1 else "tables"
    first = f"{where}{w.whole:,} {tables} would give {views}"
    return f"{first}; in {w.part:,} of them {holds}: {share}."


def _describe_keys(w: Reconstruction) -> str:
    """The keys in which they meet: elsewhere there may be many more tables."""
    keys = [
        join_words([f"{escape_name(c)} is {format_cell(v)}" for c, v in key.items()])
        for key in w.keys
    ]
    return (
        f"Where {' or '.join(keys[:3])}," if all(keys) and len(keys) <= 3 else "There,"
    )


def _explain_other_models(w: Reconstruction, column: str) -> list[str]:
    """The other models, beside."""
    said = []
    for model, share in w.shares.items():
        if model == w.model:
            continue
        if model == "restricted" and share is None:
            said.append(
                f"That each {escape_name(column)} has one row, the views refute."
            )
        elif model == "restricted" and share is not None:
            said.append(
                f"If each {escape_name(column)} has one row: {_format_chance(share)}."
            )
        elif model == "bag" and share is not None:
            said.append(f"If rows are matched at random: {_format_chance(share)}.")
        elif share is not None:
            said.append(f"If anybody may have several rows: {rounded(share)}.")
    return said


def _format_chance(share: Fraction) -> str:
    """One in so many, where it is.

    >>> tuple(_format_chance(Fraction(x)) for x in ("1/3", "1", "2/3"))
    ('1 in 3', 'certain', '67 %')
    """
    if share == 1:
        return "certain"
    if share.numerator == 1 and share.denominator <= 1000:
        return f"1 in {share.denominator:,}"
    return rounded(share)


def rounded(share: Fraction, unlike: Fraction | None = None) -> str:
    """In whole hundredths, where they are not the limit's and not 0 or 100.

    >>> rounded(Fraction(161, 265)), rounded(Fraction(999, 1000))
    ('61 %', '99.9 %')
    """
    whole = round(share * 100)
    plain = 0 < whole < 100 and (unlike is None or round(unlike * 100) != whole)
    return f"{whole} %" if plain else percent(share, unlike=unlike)


def describe_beyond(finding: Finding) -> str:
    """How much of the table is beyond the limit."""
    w = finding.witness
    if not isinstance(w, Reconstruction):
        return describe_groups_beyond(finding)
    groups, above = finding.groups, finding.groups_above
    many = "" if groups == 1 else "s"
    what = (
        f"association{many}" if w.listed else f"group{many} of people who share a key"
    )
    people = finding.people_above
    if not people:
        return f"Nobody is beyond the limit (of {groups:,} {what})."
    who = "One person is" if people == 1 else f"{people:,} people are"
    return f"{who} beyond the limit, by {above:,} of {groups:,} {what}."


# Keys and proposals -----------------------------------------------------------------


def list_key_risks(found: Audit) -> list[str]:
    """How risk is spread over the keys, where every association was judged."""
    lines: list[str] = []
    for finding in found.findings:
        if "histogram" not in (details := finding.details):
            continue
        lines.append(f"\nHow sure one can be, by key ({finding.promise.name}):")
        lines += [
            f"  {part['from']:>6} and more: {_spell(part['keys'], 'key')}, "
            f"{_spell(part['associations'], 'association')}"
            for part in details["histogram"]
            if part["keys"]
        ]
        lines.append(f"  people in several keys: {details['people_in_several_keys']:,}")
        lines.append("Keys to look at first:")
        lines += map(_describe_key, details["worst_keys"][:MOST_KEYS])
    return lines


def _describe_key(key: Mapping[str, Any]) -> str:
    """A key in which much is given away."""
    named = [f"{c} {'missing' if v is None else v}" for c, v in key["key"].items()]
    return (
        f"  {', '.join(named) or 'everybody'}: "
        f"{_spell(key['people'], 'person', 'people')}, "
        f"{_spell(key['values'], 'value')}; one row per person: "
        f"{key['restricted'] or 'refuted'}"
    )


def describe_proposal(proposal: Proposal) -> dict[str, Any]:
    """A pair of views that keeps every promise, as JSON says it."""
    worst = proposal.audit.worst.belief
    return {
        "views": [list(v.columns) for v in proposal.views.views],
        "bins": {c: b.to_list() for c, b in proposal.bins.items()},
        "levels": dict(proposal.levels),
        "kept": str(proposal.kept),
        "worst": str(worst.posterior) if worst else "",
    }


def proposals_as_text(told: Sequence[Mapping[str, Any]], *, brief: bool = False) -> str:
    """Proposals as a policy has them, under what each keeps unless that is too long."""
    lines: list[str] = []
    for i, proposal in enumerate(told, 1):
        kept = percent(Fraction(proposal["kept"]))
        worst = percent(Fraction(proposal["worst"] or 0))
        if not brief:
            lines.append(f"# {i}. keeps {kept} of the pairs of columns; worst {worst}")
        for columns in proposal["views"]:
            listed = ", ".join(map(_quote, columns))
            lines.append(f"[[view]]\ncolumns = [{listed}]")
        for column, level in proposal["levels"].items():
            lines.append(f"# {column} at level {level} of its hierarchy")
        if proposal["bins"]:
            lines.append("[bins]")
            for column, edges in proposal["bins"].items():
                lines.append(f"{_quote(column)} = [{', '.join(edges)}]")
        lines.append("")
    return "\n".join(lines)


def _spell(number: int, one: str, more: str = "") -> str:
    """So many things.

    >>> _spell(1, "key"), _spell(2000, "person", "people")
    ('1 key', '2,000 people')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def _quote(name: str) -> str:
    """A column's name as TOML writes it."""
    return json.dumps(name, ensure_ascii=False)


def _describe_reach(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, by its model."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    return (
        f"“{escape_name(stated.name)}” covers {stated.against.words()}, knows how "
        "these views were made, and holds every such table for equally likely. Not "
        "covered: someone who knows more about the people, or who holds some tables "
        "for likelier."
    )


SENTENCES = {
    "reconstructor": Sentences(
        reach=_describe_reach,
        explain=explain,
        beyond=describe_beyond,
        subject="views as they are",
        repairs=lambda finding: (
            "Share fewer columns between views, or coarser ones; privet views "
            "--propose looks for such views.",
        ),
    ),
}
"""What is said of findings about views."""


# Documents --------------------------------------------------------------------------


def describe_work(release: ViewsRelease, record: Mapping[str, Any]) -> list[Section]:
    """Which views are released, and where risk is greatest."""
    rows = {f["path"].rpartition(".")[0]: f for f in release.manifest.get("files", ())}
    heads = (say("View"), say("Columns"), say("Rows"))
    lines = [
        (
            escape_name(view.name),
            ", ".join(map(escape_name, view.columns)),
            f"{rows[view.name]['rows']:,}" if view.name in rows else "—",
        )
        for view in release.views.views
    ]
    said = say(
        "Values are as they were. What an analyst loses is which rows of different "
        "views belong together, and how often a row occurs."
    )
    parts: list[Part] = [Grid(heads, lines, say("The views")), Listing([said])]
    risks = [line.strip() for line in list_key_risks(release.audit) if line.strip()]
    parts += [Listing(risks)] if risks else []
    return [Section("work", say("What was done, and what it cost"), parts)]


def write_examples(manifest: Mapping[str, Any]) -> list[Program]:
    """How recipients use one view: which values occur together, not how often."""
    files = {p: [c.name for c in cs] for p, cs in list_columns(manifest).items()}
    wide = {p: names for p, names in files.items() if len(names) > 1}
    if not wide:
        return []
    path, (first, second, *_) = next(iter(wide.items()))
    why = say("Views have no duplicates: count different values, not people.")
    by, about = quote_text(first), quote_text(second)
    pandas = [
        "import pandas as pd",
        "",
        f"view = {read_in_pandas(path)}",
        f"# {why}",
        f"print(view.groupby({by}, dropna=False)[{about}].nunique())",
    ]
    in_r = [
        f"view <- {read_in_r(path)}",
        f"# {why}",
        f"aggregate(view[{about}], by = view[{by}],",
        "          FUN = function(values) length(unique(values)))",
    ]
    sql = [
        f"-- {why}",
        f"SELECT {quote_name(first)}, count(DISTINCT {quote_name(second)}) AS values",
        f"FROM {read_in_sql(path)}",
        "GROUP BY 1",
        "ORDER BY 1;",
    ]
    told = ((PANDAS, pandas), (R, in_r), (SQL, sql))
    return [Program(name, "\n".join(lines)) for name, lines in told]
