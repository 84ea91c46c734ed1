"""Breach probabilities of views, and who has what in how many worlds, in words."""

from __future__ import annotations

from fractions import Fraction

from privet.findings import Finding, Reconstruction
from privet.release.kinds import Sentences
from privet.report.words import describe_groups_beyond, escape_name, format_cell
from privet.values.adversaries import join_words
from privet.values.beliefs import Ceiling
from privet.values.exact import percent

MOST_SAID = 10**9
"""Larger numbers of tables are not said."""

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
    return " ".join([told, *_explain_other_models(w, column)])


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


SENTENCES = {
    "reconstructor": Sentences(
        reach="Covered: someone who has these views of the table, knows how they were "
        "made, and holds every table that gives them for equally likely. Not covered: "
        "someone who knows more about the people, who holds some tables for likelier, "
        "or who has another release about the same people.",
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
