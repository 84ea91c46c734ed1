"""Breach probabilities of views, and who has what in how many worlds, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privet.findings import Audit, Finding, Reconstruction
from privet.languages import (
    join_alternatives,
    join_words,
    mark,
    say,
    say_number,
    translate,
)
from privet.policy import Promise
from privet.release.kinds import Sentences
from privet.report.documents.document import Grid, Listing, Part, Program, Section
from privet.report.documents.released_columns import list_columns
from privet.report.documents.worked_examples import (
    PANDAS,
    SQL,
    R,
    keep_missing_in_r,
    list_texts,
    quote_name,
    quote_text,
    read_in_pandas,
    read_in_r,
    read_in_sql,
)
from privet.report.words import (
    describe_groups_beyond,
    escape_name,
    format_cell,
    format_fact,
)
from privet.values.beliefs import Ceiling
from privet.values.exact import percent

if TYPE_CHECKING:
    from privet.views.release import ViewsRelease
    from privet.views.split import Proposal

MOST_SAID = 10**9
"""Larger numbers of tables are not said."""

MOST_KEYS = 5
"""Keys that are listed as those to look at first."""

NUMBERS = {2: mark("two"), 3: mark("three"), 4: mark("four")}


def explain(finding: Finding) -> str:
    """The association that is surest, and what other models say of it."""
    w = finding.witness
    assert isinstance(w, Reconstruction)
    ((column, person),) = w.knows.items()
    limit = getattr(finding.promise, "limit", None)
    level = limit.level if isinstance(limit, Ceiling) else None
    told = {
        "holds": say(
            "{person} has {value}",
            person=format_cell(person),
            value=format_cell(w.value),
        ),
        "share": rounded(w.shares[w.model] or Fraction(0), level),
        "views": _name_views(w.views),
    }
    others = _explain_other_models(w, column)
    said = _explain_model(w, escape_name(column), told)
    return " ".join([said, *others, *explain_worlds(finding)])


def _explain_model(w: Reconstruction, column: str, told: Mapping[str, str]) -> str:
    """The association by the model that was asked for."""
    if w.model == "restricted":
        return say(
            "If each {column} has one row, {share} of the tables that would "
            "give {views} say that {holds}.",
            column=column,
            **told,
        )
    if w.model == "functional":
        return say(
            "If everybody has one {column}, {share} of the tables that would "
            "give {views} say that {holds}.",
            column=escape_name(w.column),
            **told,
        )
    if w.model == "bag":
        return say(
            "If rows are matched at random and duplicates are kept, it is "
            "{share} that {holds}.",
            share=told["share"],
            holds=told["holds"],
        )
    return _explain_unrestricted(w, told)


def _name_views(number: int) -> str:
    if number == 1:
        return say("this view")
    many = translate(NUMBERS[number]) if number in NUMBERS else str(number)
    return say("these {n} views", n=many)


def explain_worlds(finding: Finding) -> list[str]:
    """The share over the columns asked about, and the one over whole tuples."""
    worlds = finding.details.get("worlds")
    if not worlds or worlds["projected"]["share"] == worlds["full"]["share"]:
        return []
    shares = {w: _format_worlds(worlds[w]) for w in ("projected", "full")}
    return [
        say(
            "Over the columns asked about: {projected}; over whole tuples of "
            "all views: {full}.",
            **shares,
        )
    ]


def _format_worlds(told: Mapping[str, Any]) -> str:
    """One of the two shares.

    >>> _format_worlds({"share": "5/7"}), _format_worlds({"share": None})
    ('71 %', 'not counted')
    """
    if "at_least" in told:
        return say("at least {share}", share=rounded(Fraction(told["at_least"])))
    if told["share"] is None:
        return say("not counted")
    return rounded(Fraction(told["share"]))


def _explain_unrestricted(w: Reconstruction, told: Mapping[str, str]) -> str:
    if w.shares[w.model] == 1:
        return say(
            "Every table that would give {views} says that {holds}: 100 %.",
            views=told["views"],
            holds=told["holds"],
        )
    if w.whole > MOST_SAID or Fraction(w.part, w.whole) != w.shares[w.model]:
        return say(
            "Of all tables that would give {views}, {share} say that {holds}.", **told
        )
    said = say_number(
        "{n} table would give {views}; in {part} of them {holds}: {share}.",
        "{n} tables would give {views}; in {part} of them {holds}: {share}.",
        w.whole,
        part=f"{w.part:,}",
        **told,
    )
    return f"{_describe_keys(w)} {said}" if any(w.keys) and not w.alone else said


def _describe_keys(w: Reconstruction) -> str:
    """The keys in which they meet: elsewhere there may be many more tables."""
    keys = [
        join_words([format_fact(c, format_cell(v)) for c, v in key.items()])
        if key
        else ""
        for key in w.keys
    ]
    if not all(keys) or len(keys) > 3:
        return say("There,")
    return say("Where {keys},", keys=join_alternatives(keys))


def _explain_other_models(w: Reconstruction, column: str) -> list[str]:
    """The other models, beside."""
    said = []
    name = escape_name(column)
    for model, share in w.shares.items():
        if model == w.model:
            continue
        if model == "restricted" and share is None:
            said.append(
                say("That each {column} has one row, the views refute.", column=name)
            )
        elif model == "restricted" and share is not None:
            said.append(
                say(
                    "If each {column} has one row: {chance}.",
                    column=name,
                    chance=_format_chance(share),
                )
            )
        elif model == "bag" and share is not None:
            said.append(
                say(
                    "If rows are matched at random: {chance}.",
                    chance=_format_chance(share),
                )
            )
        elif share is not None:
            said.append(
                say(
                    "If anybody may have several rows: {chance}.", chance=rounded(share)
                )
            )
    return said


def _format_chance(share: Fraction) -> str:
    """One in so many, where it is.

    >>> tuple(_format_chance(Fraction(x)) for x in ("1/3", "1", "2/3"))
    ('1 in 3', 'certain', '67 %')
    """
    if share == 1:
        return say("certain")
    if share.numerator == 1 and share.denominator <= 1000:
        return say("1 in {n}", n=f"{share.denominator:,}")
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
    groups, people = finding.groups, finding.people_above
    what = say_number(
        "{n} group of people who share a key",
        "{n} groups of people who share a key",
        groups,
    )
    if w.listed:
        what = say_number("{n} association", "{n} associations", groups)
    if not people:
        return say("Nobody is beyond the limit (of {what}).", what=what)
    return say_number(
        "One person is beyond the limit, by {some} of {what}.",
        "{n} people are beyond the limit, by {some} of {what}.",
        people,
        some=f"{finding.groups_above:,}",
        what=what,
    )


# Keys and proposals -----------------------------------------------------------------


def list_key_risks(found: Audit) -> list[str]:
    """How risk is spread over the keys, where every association was judged."""
    lines: list[str] = []
    for finding in found.findings:
        if "histogram" not in (details := finding.details):
            continue
        lines.append(
            "\n"
            + say(
                "How sure one can be, by key ({promise}):", promise=finding.promise.name
            )
        )
        lines += [f"  {_describe_bar(b)}" for b in details["histogram"] if b["keys"]]
        lines.append(
            "  "
            + say(
                "people in several keys: {n}",
                n=f"{details['people_in_several_keys']:,}",
            )
        )
        lines.append(say("Keys to look at first:"))
        lines += map(_describe_key, details["worst_keys"][:MOST_KEYS])
    return lines


def _describe_bar(part: Mapping[str, Any]) -> str:
    """How many keys are as risky as that."""
    return say(
        "{share} and more: {keys}, {associations}",
        share=f"{part['from']:>6}",
        keys=say_number("{n} key", "{n} keys", part["keys"]),
        associations=say_number(
            "{n} association", "{n} associations", part["associations"]
        ),
    )


def _describe_key(key: Mapping[str, Any]) -> str:
    """A key in which much is given away."""
    named = [f"{c} {say('missing') if v is None else v}" for c, v in key["key"].items()]
    return "  " + say(
        "{key}: {people}, {values}; one row per person: {share}",
        key=", ".join(named) or say("everybody"),
        people=say_number("{n} person", "{n} people", key["people"]),
        values=say_number("{n} value", "{n} values", key["values"]),
        share=key["restricted"] or say("refuted"),
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
            what = say(
                "keeps {kept} of the pairs of columns; worst {worst}",
                kept=kept,
                worst=worst,
            )
            lines.append(f"# {i}. {what}")
        for columns in proposal["views"]:
            listed = ", ".join(map(_quote, columns))
            lines.append(f"[[view]]\ncolumns = [{listed}]")
        for column, level in proposal["levels"].items():
            lines.append(
                "# "
                + say(
                    "{column} at level {level} of its hierarchy",
                    column=column,
                    level=level,
                )
            )
        if proposal["bins"]:
            lines.append("[bins]")
            for column, edges in proposal["bins"].items():
                lines.append(f"{_quote(column)} = [{', '.join(edges)}]")
        lines.append("")
    return "\n".join(lines)


def _quote(name: str) -> str:
    """A column's name as TOML writes it."""
    return json.dumps(name, ensure_ascii=False)


def _describe_reach(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, by its model."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    return say(
        "“{name}” covers {whom}, knows how these views were made, and holds "
        "every such table for equally likely. Not covered: someone who knows "
        "more about the people, or who holds some tables for likelier.",
        name=escape_name(stated.name),
        whom=stated.against.words(),
    )


SENTENCES = {
    "reconstructor": Sentences(
        reach=_describe_reach,
        explain=explain,
        beyond=describe_beyond,
        subject=mark("views as they are"),
        repairs=lambda finding: (
            say(
                "Share fewer columns between views, or coarser ones; privet "
                "views --propose looks for such views."
            ),
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
    wide = {p: cs for p, cs in list_columns(manifest).items() if len(cs) > 1}
    if not wide:
        return []
    path, columns = next(iter(wide.items()))
    first, second = (c.name for c in columns[:2])
    texts = list_texts(columns[:2])
    why = say("Views have no duplicates: count different values, not people.")
    by, about = quote_text(first), quote_text(second)
    pandas = [
        "import pandas as pd",
        "",
        f"view = {read_in_pandas(path, texts)}",
        f"# {why}",
        f"print(view.groupby({by}, dropna=False)[{about}].nunique())",
    ]
    in_r = [
        f"view <- {read_in_r(path, texts)}",
        f"# {why}",
        f"tapply(view[[{about}]], {keep_missing_in_r(f'view[{by}]')},",
        "       FUN = function(values) length(unique(na.omit(values))))",
    ]
    sql = [
        f"-- {why}",
        f"SELECT {quote_name(first)}, count(DISTINCT {quote_name(second)}) AS values",
        f"FROM {read_in_sql(path, texts)}",
        "GROUP BY 1",
        "ORDER BY 1;",
    ]
    told = ((PANDAS, pandas), (R, in_r), (SQL, sql))
    return [Program(name, "\n".join(lines)) for name, lines in told]
