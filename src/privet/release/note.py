"""The short public note that travels with a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    changed = [line for line in changed if line] or ["Nothing."]
    changed += [
        f"{k} means {words}." for k, words in manifest.get("labels", {}).items()
    ]
    changed += [rows, *([manifest["escaped"]] if "escaped" in manifest else [])]
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


def _describe_change(column: str, about: Mapping[str, Any]) -> str:
    if about.get("shown_as") == "intervals":
        return f"{column} is shown in intervals."
    if about.get("shown_as") in ("ranges", "sets"):
        return f"{column} is shown in {about['shown_as']} of values."
    if about.get("shown_as") == "levels":
        return f"{column} is shown by a level of its hierarchy."
    if "shown_as" in about:
        return (
            f"{column}: {about['hidden_values']} values are hidden and shown as "
            f"{about['shown_as']}, which stands for any of them."
        )
    if "bins" in about:
        return f"{column} is shown in ranges that were fixed beforehand."
    return ""


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
