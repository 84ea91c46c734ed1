"""The short public note that travels with a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from privet.values.exact import fraction, percent, write_in_full

NOTE = "README.txt"
"""What a release says to whoever receives it."""

RECOUNT = "Recount it yourself: privet verify <this folder>"
ROWS = "Rows are in a random order. Columns that name people are never released."
BUCKETS = (
    "Who of a group has which value is not told.",
    "The file people has everybody's known values, and the number of their group.",
    "The file values says how many of each group have each value.",
)


def write_note(
    manifest: Mapping[str, Any],
    untitled: str,
    sections: Mapping[str, Sequence[str]],
    last: Sequence[str],
) -> str:
    """A note of every kind: a title, sections of sentences, and what to do with it."""
    lines = [manifest["title"] or untitled, ""]
    lines += ["This is a public note; it tells nothing that is not in the release."]
    missing = [f"{line[0].upper()}{line[1:]}." for line in manifest["not_promised"]]
    for heading, told in {**sections, "What is not promised": missing}.items():
        lines += ["", heading, *(f"- {line}" for line in told)]
    return "\n".join([*lines, "", *last, ""])


def write_table_note(manifest: Mapping[str, Any], rows: str = ROWS) -> str:
    """What the recipients of tables should know, from the public manifest alone.

    `rows` says what became of the rows.
    """
    changed = [_describe_change(c, about) for c, about in manifest["columns"].items()]
    if "group" in manifest:
        changed += list(BUCKETS)
    people = list(_describe_person(manifest))
    changed = [line for line in changed if line] or ([] if people else ["Nothing."])
    changed += [
        f"{k} means {words}." for k, words in manifest.get("labels", {}).items()
    ]
    if "chosen" in manifest:
        changed += describe_choice(manifest["chosen"])
    changed += [
        *people,
        rows,
        *([manifest["escaped"]] if "escaped" in manifest else []),
    ]
    promised = [_describe_promise(p) for p in manifest["promises"] if "worst" in p]
    promised += [
        f"{m['name']}; it is {m['measured']}."
        for m in manifest.get("measures", ())
        if "measured" in m
    ]
    sections = {"What was changed": changed, "What is promised": promised}
    if told := _describe_exposure(manifest):
        sections["What it tells all the same"] = told
    return write_note(manifest, "A released table", sections, [RECOUNT])


TAKEN = {
    "first": "the cell of the first row",
    "last": "the cell of the last row",
    "least": "the least value",
    "most": "the largest value",
    "commonest": "the commonest value",
    "set": "the list of different values",
    "count": "the number of rows with a value",
}
"""What was taken of a person's rows, by rule."""


def _describe_person(manifest: Mapping[str, Any]) -> Iterator[str]:
    """How several rows of a person became one."""
    told = manifest.get("person")
    if told is None:
        return
    yield "Each row is one person, who may have had several rows before."
    if "order" in told:
        yield f"The rows of a person were put in the order of {_join(told['order'])}."
    for rule, words in TAKEN.items():
        if rule in told:
            yield f"Of {_join(told[rule])} it shows {words}."


def describe_choice(stated: Mapping[str, Any]) -> list[str]:
    """Which levels of hierarchies were chosen, who is suppressed, and how good it is.

    >>> told = {"by": "levels", "optimum": "within 3 %", "suppressed": 1}
    >>> describe_choice({**told, "shown_as": "left out"})[1:]
    ['1 person is left out.', 'Another choice of levels might cost up to 3 % less.']
    """
    what = "column is shown at one level of its hierarchy"
    best = "No other choice of levels keeps more."
    if stated["by"] == "subtrees":
        what = "branch of a hierarchy is shown at a level of its own"
        best = "Another choice might keep more."
        if stated["optimum"] == "local":
            best = "No step up or down one branch keeps more; another choice might."
    elif stated["optimum"] != "proved":
        far = stated["optimum"].removeprefix("within ")
        best = f"Another choice of levels might cost up to {far} less."
    lines, people = [f"Each {what}, the same for everybody."], stated["suppressed"]
    several = "1 person" if people == 1 else f"{people:,} people"
    if people and stated["shown_as"] == "starred":
        verb = "shows" if people == 1 else "show"
        lines.append(f"{several} {verb} * in every known column: one more group.")
    elif people:
        lines.append(f"{several} {'is' if people == 1 else 'are'} left out.")
    return [*lines, best]


def _join(names: Sequence[str]) -> str:
    return ", ".join(names)


def _describe_exposure(manifest: Mapping[str, Any]) -> list[str]:
    """Of how many people something is told, and what of it was accepted, and why."""
    told = manifest.get("exposure")
    if told is None:
        return []
    people = told["people"]
    lines = []
    if told["known"]:
        known = ", ".join(told["known"])
        lines.append(f"Unique on {known}: {told['unique']:,} of {people:,} people.")
    for column, about in told["columns"].items():
        lines.append(
            f"Somebody who has all of these is certain of {column} for "
            f"{about['certain']:,} people."
        )
    for entry in manifest.get("accepted", ()):
        most = f", up to {entry['up_to']:,} people" if "up_to" in entry else ""
        lines.append(
            f"No promise limits what is learnt of {entry['about']}; that was accepted"
            f"{most}: {entry['why']}"
        )
    return lines


LABELS = {
    "intervals": "in intervals",
    "ranges": "in ranges of values",
    "sets": "in sets of values",
    "levels": "by a level of its hierarchy",
}
"""How columns are shown that do not show each value."""


def _describe_change(column: str, about: Mapping[str, Any]) -> str:
    shown = about.get("shown_as", "")
    if about.get("lists") == "json":
        return f"{column} holds lists, each written as JSON: [] is an empty one."
    if "written_as" in about:
        return _describe_written(column, about)
    if (how := LABELS.get(shown)) is not None:
        return f"{column} is shown {how}.{_describe_nodes(about)}"
    if "hidden_values" in about:
        return (
            f"{column}: {about['hidden_values']} values are hidden and shown as "
            f"{shown}, which stands for any of them."
        )
    if "bins" in about:
        return f"{column} is shown in ranges that were fixed beforehand."
    return ""


def _describe_nodes(about: Mapping[str, Any]) -> str:
    """What else is said where each value is shown by a node of its own level."""
    if "hidden_values" not in about:
        return ""
    return (
        " Each value has the finest one that may be shown; what is left of it reads "
        f"“other”. {about['hidden_values']} values are hidden behind one label, which "
        "stands for any of them."
    )


def _describe_written(column: str, about: Mapping[str, Any]) -> str:
    """How ranges and hidden cells stand in the file, where that is no text."""
    if about["written_as"] == "null":
        if "hidden_values" not in about:
            return (
                f"{column} is shown in {about['shown_as']} of values; an empty cell "
                "stands for any value, or none."
            )
        return (
            f"{column}: {about['hidden_values']} values are hidden. Their cells are "
            "empty, as those of missing values are."
        )
    low, high, *missing = about["written_as"]
    ends = f"from {low} to {high}, both included"
    if about["shown_as"] == "intervals":
        ends = f"above {low} up to {high}; where both are equal, it is that value"
    empty = "Where one is empty, there is no such end."
    told = f"{column} is shown in two columns: {ends}. {empty}"
    return told + "".join(f" {m} says whether it may be missing." for m in missing)


def _describe_promise(promise: Mapping[str, Any]) -> str:
    level = fraction(promise["at_most" if "at_most" in promise else "below"])
    worst = percent(fraction(promise["worst"]), unlike=level)
    limit = describe_limit(promise)
    return f"{promise['name']}: {limit}; the worst case in this table is {worst}."


def describe_limit(promise: Mapping[str, Any]) -> str:
    """The limit of a promise in a manifest.

    >>> limits = {"below": "99/100"}, {"from": "1/2", "to": "4/5"}
    >>> tuple(describe_limit(x) for x in limits)
    ('below 99 %', 'not from below 50 % to 80 % or back')
    >>> describe_limit({"within": "2"})
    'within a factor of 2'
    """
    if "within" in promise:
        return f"within a factor of {promise['within']}"
    if "from" in promise:
        start, end = (write_in_full(fraction(promise[key])) for key in ("from", "to"))
        return f"not from below {start} to {end} or back"
    limit = "at_most" if "at_most" in promise else "below"
    return f"{limit.replace('_', ' ')} {write_in_full(fraction(promise[limit]))}"
