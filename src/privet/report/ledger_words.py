"""Sentences about a release and its history: what is known of earlier releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.findings import Verdict
from privet.languages import mark, say, say_number, translate

NOTHING_KNOWN = mark(
    "Nothing is known of earlier releases about the same "
    "people: there is no ledger. Somebody who has another "
    "release, too, may learn more."
)
FIRST = mark("It is the first release in the ledger.")
MEASURE = mark(
    "Measures are of one file alone; what several releases "
    "give away together is not known without a promise."
)
MEASURES_ALONE = mark(
    "Measures are of this file alone: what they come to for "
    "whoever has the earlier releases, too, was not judged."
)
NOT_PROMISED_WITHOUT = mark(
    "protection against a second release of the same people: "
    "nothing is known of earlier ones"
)
"""What the public is told where there is no ledger."""

NOT_PROMISED_WITH = mark(
    "protection against other releases of the same people than "
    "those its publisher keeps a ledger of"
)
"""What the public is told where there is one."""

ASSUMED = mark(
    "whether it is about the same people is not known; later releases stay undecided"
)
"""What is said of what others published, where no private table was named."""

ROWS_ELSEWHERE = mark(
    "The private rows are needed to judge a release together "
    "with others; audit the private table instead."
)
REMOTE = mark(
    "The rows stay elsewhere; deliveries are compared where "
    "DuckDB reads the table. Export it as Parquet first."
)
MANY_ROWS = mark(
    "Earlier deliveries have too many different rows to be judged together."
)
DIFFERENT_FILES = mark(
    "What an earlier delivery showed cannot be matched with "
    "the digests of its people; what they give away together "
    "cannot be told."
)
LOSSES = {"pure_epsilon": "epsilon", "rho": "rho", "delta": "delta"}
"""What the parts of a loss are called."""

RELATIONS = {
    "same rows": mark("{release} ({kind}): the same rows"),
    "other delivery": mark("{release} ({kind}): another delivery"),
    "unknown": mark(
        "{release} ({kind}): whether it is about the same people cannot be told"
    ),
}


WITHOUT_NOISE = (
    "Noise is on the counts of classifiers: give epsilon, or leave the section out."
)
UNBUDGETED = mark(
    "Losses of releases with noise add up: declare a [budget] "
    "for them, and they are limited together."
)
COMPOSED = mark(
    "What it comes to with earlier releases that have noise, "
    "too, is limited by the budget."
)


def say_uncounted(name: str) -> str:
    """That a release without noise is in a ledger with a budget."""
    return (
        f"A budget must be of releases with noise; {name!r} is in the ledger, too, and "
        "has none. Keep a ledger of its own for what the budget covers."
    )


def say_overdrawn(spent: Mapping[str, Any], cost: Fraction | None) -> str:
    """That a release would cost more than is left."""
    left, whole = spent["left"], _format_loss(spent["budget"])
    rest = "nothing is left" if left is None else f"{_format_loss(left)} is left"
    asked = "more than any" if cost is None else _format_loss(str(cost))
    return (
        f"The budget must not be overdrawn: of epsilon {whole}, {rest}, and this "
        f"release would cost {asked}. Nothing was drawn. Ask for less, or let the "
        "budget be."
    )


def list_spent(spent: Mapping[str, Any]) -> list[str]:
    """What the noise of all releases in a ledger comes to, and what is left."""
    loss, left = _say_loss(spent), spent["left"]
    if spent["budget"] is None:
        return [say("Spent on noise: {loss}.", loss=loss)]
    whole = _format_loss(spent["budget"])
    if left is None:
        return [
            say(
                "Spent on noise: {loss}; of {budget}, nothing is left.",
                loss=loss,
                budget=whole,
            )
        ]
    return [
        say(
            "Spent on noise: {loss}; of {budget}, {left} is left.",
            loss=loss,
            budget=whole,
            left=_format_loss(left),
        )
    ]


def _say_loss(spent: Mapping[str, Any]) -> str:
    """What all losses come to, by the measure that holds them."""
    epsilon, rho = spent["epsilon"], spent["rho"]
    if epsilon is None and rho:
        return f"rho {_format_loss(rho)}"
    told = say("more than any epsilon")
    if epsilon is not None:
        told = f"epsilon {_format_loss(epsilon)}"
    if spent["delta"] == "0":
        return told
    return say("{loss} at delta {delta}", loss=told, delta=_format_loss(spent["delta"]))


def _format_loss(number: str) -> str:
    return f"{float(Fraction(number)):.6g}"


def describe_history(*, known: bool, earlier: Sequence[Mapping[str, Any]]) -> list[str]:
    """What was known of earlier releases, a sentence each."""
    if not known:
        return [translate(NOTHING_KNOWN)]
    if not earlier:
        return [translate(FIRST)]
    return [
        say_number(
            "Judged together with {n} earlier release.",
            "Judged together with {n} earlier releases.",
            len(earlier),
        ),
        *(f"{describe_earlier(e)}." for e in earlier),
    ]


def describe_earlier(earlier: Mapping[str, Any]) -> str:
    """One earlier release, and what it has to do with the new one."""
    told = say(
        RELATIONS[earlier["relation"]], release=earlier["release"], kind=earlier["kind"]
    )
    if earlier["relation"] == "other delivery" and "new" in earlier:
        rows = {k: f"{earlier[k]:,}" for k in ("new", "kept", "gone")}
        told = say(
            "{earlier}, {new} rows new, {kept} kept, {gone} gone", earlier=told, **rows
        )
    if not earlier["complete"]:
        told = say(
            "{earlier}; it was never completed, and counts as released", earlier=told
        )
    return told


def list_not_promised(lines: Sequence[str], *, known: bool) -> list[str]:
    """What no promise covers, with what the ledger covers of several releases."""
    said = NOT_PROMISED_WITH if known else NOT_PROMISED_WITHOUT
    return [said if "second release" in line else line for line in lines]


def say_accepted(why: str) -> str:
    """That somebody accepted what only matched rows tell."""
    return say("Who can match rows was accepted: {why}", why=why)


def say_mixed(name: str) -> str:
    """That releases of the same rows and other deliveries are not judged at once."""
    return say(
        "What several releases of these rows, such as {name}, give "
        "away together with other deliveries cannot be told.",
        name=f"{name!r}",
    )


def say_not_together(verdict: Verdict) -> str:
    """Why nothing was written, where only several releases break a promise."""
    if verdict is Verdict.BREACH:
        return "Together with earlier releases a promise is broken; nothing is written."
    return "Together with earlier releases nothing is certain; nothing is written."


def list_entries(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """The releases in a ledger, a line each and one for what must be known of it."""
    if not entries:
        return [say("No release is in the ledger yet.")]
    return [line for e in entries for line in _list_entry(e)]


def _list_entry(e: Mapping[str, Any]) -> Iterator[str]:
    what = e["title"] or Path(e["place"]).name
    if e["people"] is not None:
        what = say("{title}, {people} people", title=what, people=f"{e['people']:,}")
    shown = ", ".join(e["columns"])
    yield f"{e['number']}. {e['made']}  {e['kind']}  {what}: {shown}"
    if e["place"]:
        yield f"   {e['place']}"
    if e.get("loss"):
        told = (f"{LOSSES[k]} {_format_loss(v)}" for k, v in e["loss"].items())
        yield "   " + say("Noise: {losses}.", losses=", ".join(told))
    if e["assumed"]:
        yield "   " + say(
            "Published by others: {known}.", known=translate(e["assumed"])
        )
    if not e["complete"]:
        yield "   " + say("Never completed: it counts as released.")


def say_not_counted(name: str) -> str:
    """That an earlier delivery cannot be compared row by row."""
    return say(
        "What {name} showed was not kept in a form that can be "
        "compared with other deliveries: its table stayed in a "
        "database, or has too many different rows. What they give "
        "away together cannot be told; export such a table as "
        "Parquet before it is released.",
        name=f"{name!r}",
    )
