"""The short public note that travels with a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from privet.languages import mark, say, say_number, translate
from privet.values.exact import fraction, percent, write_in_full

NOTE = "README.txt"
"""What a release says to whoever receives it."""

RECOUNT = mark("Recount it yourself: privet verify <this folder>")
ROWS = mark("Rows are in a random order. Columns that name people are never released.")
BUCKETS = (
    mark("Who of a group has which value is not told."),
    mark(
        "The file people has everybody's known values, and the number of their group."
    ),
    mark("The file values says how many of each group have each value."),
)


def write_note(
    manifest: Mapping[str, Any],
    untitled: str,
    sections: Mapping[str, Sequence[str]],
    last: Sequence[str],
) -> str:
    """A note of every kind: a title, sections of sentences, and what to do with it."""
    lines = [manifest["title"] or translate(untitled), ""]
    lines += [
        say("This is a public note; it tells nothing that is not in the release.")
    ]
    open_ = map(translate, manifest["not_promised"])
    missing = [f"{line[0].upper()}{line[1:]}." for line in open_]
    every = {**sections, mark("What is not promised"): missing}
    for heading, told in every.items():
        lines += ["", translate(heading), *(f"- {line}" for line in told)]
    return "\n".join([*lines, "", *map(translate, last), ""])


def write_table_note(manifest: Mapping[str, Any], rows: str = ROWS) -> str:
    """What the recipients of tables should know, from the public manifest alone.

    `rows` says what became of the rows.
    """
    changed = [_describe_change(c, about) for c, about in manifest["columns"].items()]
    if "group" in manifest:
        changed += map(translate, BUCKETS)
    people = list(_describe_person(manifest))
    nothing = [] if people else [say("Nothing.")]
    changed = [line for line in changed if line] or nothing
    changed += [
        say("{label} means {meaning}.", label=k, meaning=translate(words))
        for k, words in manifest.get("labels", {}).items()
    ]
    if "chosen" in manifest:
        changed += describe_choice(manifest["chosen"])
    escaped = [translate(manifest["escaped"])] if "escaped" in manifest else []
    changed += [*people, translate(rows), *escaped]
    sections = {
        mark("What was changed"): changed,
        mark("What is promised"): _list_promised(manifest),
    }
    if told := _describe_exposure(manifest):
        sections[mark("What it tells all the same")] = told
    return write_note(manifest, mark("A released table"), sections, [RECOUNT])


def _list_promised(manifest: Mapping[str, Any]) -> list[str]:
    """What is promised of a table, and how near it comes to the limits."""
    promised = [_describe_promise(p) for p in manifest["promises"] if "worst" in p]
    return promised + [
        say("{name}; it is {value}.", name=m["name"], value=m["measured"])
        for m in manifest.get("measures", ())
        if "measured" in m
    ]


TAKEN = {
    "first": mark("Of {columns} it shows the cell of the first row."),
    "last": mark("Of {columns} it shows the cell of the last row."),
    "least": mark("Of {columns} it shows the least value."),
    "most": mark("Of {columns} it shows the largest value."),
    "commonest": mark("Of {columns} it shows the commonest value."),
    "set": mark("Of {columns} it shows the list of different values."),
    "count": mark("Of {columns} it shows the number of rows with a value."),
}
"""What was taken of a person's rows, by rule."""


def _describe_person(manifest: Mapping[str, Any]) -> Iterator[str]:
    """How several rows of a person became one."""
    told = manifest.get("person")
    if told is None:
        return
    yield say("Each row is one person, who may have had several rows before.")
    if "order" in told:
        yield say(
            "The rows of a person were put in the order of {columns}.",
            columns=_join(told["order"]),
        )
    for rule, sentence in TAKEN.items():
        if rule in told:
            yield say(sentence, columns=_join(told[rule]))


def describe_choice(stated: Mapping[str, Any]) -> list[str]:
    """Which levels of hierarchies were chosen, who is suppressed, and how good it is.

    >>> told = {"by": "levels", "optimum": "within 3 %", "suppressed": 1}
    >>> describe_choice({**told, "shown_as": "left out"})[1:]
    ['1 person is left out.', 'Another choice of levels might cost up to 3 % less.']
    """
    lines, people = [_say_levels(stated)], stated["suppressed"]
    if people and stated["shown_as"] == "starred":
        lines.append(
            say_number(
                "{n} person shows * in every known column: one more group.",
                "{n} people show * in every known column: one more group.",
                people,
            )
        )
    elif people:
        lines.append(
            say_number("{n} person is left out.", "{n} people are left out.", people)
        )
    return [*lines, _say_optimum(stated)]


def _say_optimum(stated: Mapping[str, Any]) -> str:
    """How good a choice of levels is."""
    if stated["by"] == "subtrees" and stated["optimum"] == "local":
        return say("No step up or down one branch keeps more; another choice might.")
    if stated["by"] == "subtrees":
        return say("Another choice might keep more.")
    if stated["optimum"] == "proved":
        return say("No other choice of levels keeps more.")
    far = stated["optimum"].removeprefix("within ")
    return say("Another choice of levels might cost up to {share} less.", share=far)


def _say_levels(stated: Mapping[str, Any]) -> str:
    if stated["by"] == "subtrees":
        return say(
            "Each branch of a hierarchy is shown at a level of its own, the "
            "same for everybody."
        )
    return say(
        "Each column is shown at one level of its hierarchy, the same for everybody."
    )


def _join(names: Sequence[str]) -> str:
    return ", ".join(names)


def _describe_exposure(manifest: Mapping[str, Any]) -> list[str]:
    """Of how many people something is told, and what of it was accepted, and why."""
    told = manifest.get("exposure")
    if told is None:
        return []
    lines = []
    if told["known"]:
        lines.append(
            say(
                "Unique on {columns}: {n} of {all} people.",
                columns=", ".join(told["known"]),
                n=f"{told['unique']:,}",
                all=f"{told['people']:,}",
            )
        )
    for column, about in told["columns"].items():
        lines.append(
            say(
                "Somebody who has all of these is certain of {column} for {n} people.",
                column=column,
                n=f"{about['certain']:,}",
            )
        )
    return lines + [_say_accepted(e) for e in manifest.get("accepted", ())]


def _say_accepted(entry: Mapping[str, Any]) -> str:
    told = {"column": entry["about"], "why": entry["why"]}
    if "up_to" in entry:
        return say(
            "No promise limits what is learnt of {column}; that was "
            "accepted, up to {n} people: {why}",
            n=f"{entry['up_to']:,}",
            **told,
        )
    return say(
        "No promise limits what is learnt of {column}; that was accepted: {why}", **told
    )


LABELS = {
    "intervals": mark("{column} is shown in intervals."),
    "ranges": mark("{column} is shown in ranges of values."),
    "sets": mark("{column} is shown in sets of values."),
    "levels": mark("{column} is shown by a level of its hierarchy."),
}
"""How columns are shown that do not show each value."""


def _describe_change(column: str, about: Mapping[str, Any]) -> str:
    shown = about.get("shown_as", "")
    if about.get("lists") == "json":
        return say(
            "{column} holds lists, each written as JSON: [] is an empty one.",
            column=column,
        )
    if "written_as" in about:
        return _describe_written(column, about)
    if (how := LABELS.get(shown)) is not None:
        return f"{say(how, column=column)}{_describe_nodes(about)}"
    if "hidden_values" in about:
        return say(
            "{column}: {n} values are hidden and shown as {marker}, which "
            "stands for any of them.",
            column=column,
            n=about["hidden_values"],
            marker=shown,
        )
    if "bins" in about:
        return say(
            "{column} is shown in ranges that were fixed beforehand.", column=column
        )
    return ""


def _describe_nodes(about: Mapping[str, Any]) -> str:
    """What else is said where each value is shown by a node of its own level."""
    if "hidden_values" not in about:
        return ""
    return " " + say(
        "Each value has the finest one that may be shown; what is left of it "
        "reads “other”. {n} values are hidden behind one label, which stands "
        "for any of them.",
        n=about["hidden_values"],
    )


def _describe_written(column: str, about: Mapping[str, Any]) -> str:
    """How ranges and hidden cells stand in the file, where that is no text."""
    if about["written_as"] == "null":
        return _describe_empty(column, about)
    low, high, *missing = about["written_as"]
    told = {"column": column, "low": low, "high": high}
    if about["shown_as"] == "intervals":
        said = say(
            "{column} is shown in two columns: above {low} up to {high}; "
            "where both are equal, it is that value. Where one is empty, "
            "there is no such end.",
            **told,
        )
    else:
        said = say(
            "{column} is shown in two columns: from {low} to {high}, both "
            "included. Where one is empty, there is no such end.",
            **told,
        )
    more = (say("{column} says whether it may be missing.", column=m) for m in missing)
    return " ".join([said, *more])


def _describe_empty(column: str, about: Mapping[str, Any]) -> str:
    """What an empty cell stands for."""
    if "hidden_values" in about:
        return say(
            "{column}: {n} values are hidden. Their cells are empty, as "
            "those of missing values are.",
            column=column,
            n=about["hidden_values"],
        )
    if about["shown_as"] == "sets":
        return say(
            "{column} is shown in sets of values; an empty cell stands for "
            "any value, or none.",
            column=column,
        )
    if about["shown_as"] == "ranges":
        return say(
            "{column} is shown in ranges of values; an empty cell stands for "
            "any value, or none.",
            column=column,
        )
    return say(
        "{column} is shown in {form} of values; an empty cell stands for any "
        "value, or none.",
        column=column,
        form=about["shown_as"],
    )


def _describe_promise(promise: Mapping[str, Any]) -> str:
    level = fraction(promise["at_most" if "at_most" in promise else "below"])
    worst = percent(fraction(promise["worst"]), unlike=level)
    return say(
        "{name}: {limit}; the worst case in this table is {worst}.",
        name=promise["name"],
        limit=describe_limit(promise),
        worst=worst,
    )


def describe_limit(promise: Mapping[str, Any]) -> str:
    """The limit of a promise in a manifest.

    >>> limits = {"below": "99/100"}, {"from": "1/2", "to": "4/5"}
    >>> tuple(describe_limit(x) for x in limits)
    ('below 99 %', 'not from below 50 % to 80 % or back')
    >>> describe_limit({"within": "2"})
    'within a factor of 2'
    """
    if "within" in promise:
        return say("within a factor of {factor}", factor=promise["within"])
    if "from" in promise:
        start, end = (write_in_full(fraction(promise[key])) for key in ("from", "to"))
        return say("not from below {start} to {end} or back", start=start, end=end)
    if "at_most" in promise:
        return say("at most {level}", level=write_in_full(fraction(promise["at_most"])))
    return say("below {level}", level=write_in_full(fraction(promise["below"])))
