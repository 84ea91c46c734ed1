"""Sentences about several releases together: what was judged, and what was not."""

from __future__ import annotations

from fractions import Fraction

from privet.values.exact import percent

NOTHING_NEW = (
    "This release can be computed from what is out already: it tells nothing new."
)
EARLIER_TELLS_NOTHING_NEW = (
    "What is out already can be computed from this release: it tells nothing besides."
)
WITHIN = (
    "Somebody who has the files of all releases stays within the limit, and so does "
    "somebody who can tell which of their rows belong together."
)
ONE_PERSON_SEVERAL_ROWS = (
    "People who have several rows are not judged across releases; what they give away "
    "together cannot be told."
)
OTHER_ROWS = (
    "An earlier release was made from other rows, or with other bins; what they give "
    "away together cannot be told."
)
INSIDER = (
    "What an insider learns from several releases together cannot be told; only that "
    "one tells nothing new could be."
)
NEARLY_TOLD = (
    "That is so for whoever takes columns as known that known ones tell in nearly all "
    "rows, but not in all."
)
SEARCHED_TOO_LONG = "The time limit ran out before the releases were judged together."


def name_pair(names: tuple[str, ...]) -> str:
    """Which releases leave something open."""
    return " and ".join(repr(name) for name in names)


def say_files_beyond(files: Fraction, matching: Fraction | None) -> str:
    """That the files alone tell too much."""
    told = f"Somebody who has the files of all releases can be {percent(files)} sure"
    if matching is None:
        return f"{told}."
    matched = percent(matching)
    return f"{told}; who can tell which of their rows belong together, {matched}."


def say_matching_beyond(files: Fraction, matching: Fraction, bound: bool) -> str:
    """That only who can match rows goes beyond the limit."""
    at_most = "at most " if bound else ""
    return (
        "Who can tell which rows of the releases belong together would hold "
        f"{percent(matching)}; the files alone give {at_most}{percent(files)}. Order, "
        "time or other sources may match rows, the files do not."
    )


def say_bound_beyond(names: tuple[str, ...], bound: Fraction) -> str:
    """That nothing is proved where a bound is beyond the limit."""
    return (
        f"What {name_pair(names)} give away together is not known: it is at most "
        f"{percent(bound)}, which is beyond the limit, and there are too many tables "
        "behind them to count."
    )


def say_no_arithmetic(names: tuple[str, ...], kinds: tuple[str, ...]) -> str:
    """That there is no arithmetic for a pair of kinds."""
    return (
        f"What {name_pair(names)} ({' and '.join(kinds)}) give away together cannot be "
        "told: neither can be computed from the other, and there is no arithmetic for "
        "such a pair."
    )


def say_other_rows(names: tuple[str, ...]) -> str:
    """That releases are of different rows."""
    return (
        f"{name_pair(names)} were made from other rows, or with other bins; what they "
        "give away together cannot be told from this."
    )


def say_boxes_half_known(names: tuple[str, ...]) -> str:
    """That who knows some of the columns of groups is not judged."""
    return (
        f"{name_pair(names)}: of the columns that groups are made of somebody knows "
        "only some; what the releases tell that person together cannot be told."
    )


WITHIN_FILES = "Somebody who has the files of all releases stays within the limit."


def say_any_prior(names: tuple[str, ...]) -> str:
    """That a ceiling cannot be held against every prior."""
    return (
        f"What {name_pair(names)} give away together depends on what somebody believed "
        "before; the promise must state a prior, or limit the change."
    )


def say_channels(factor: Fraction, *, kept: bool) -> str:
    """How far two disguises of the same people move somebody."""
    told = (
        "The same people answered several times: their answers together change odds "
        f"by a factor of at most {factor}"
    )
    return f"{told}, which is within the limit." if kept else f"{told}."


WITHIN_DELIVERIES = (
    "Who came, who stayed and who left are told apart by whoever has all deliveries; "
    "even so everybody stays within the limit."
)
PARTS = {
    "new": "a person came with the later delivery",
    "gone": "a person left before the later delivery",
    "kept": "a person is in both deliveries",
    "came and left": "a person came and left in between",
    "in some deliveries only": "in which deliveries a person is",
    "changed": "how a person's row changed, and that the value asked about did not",
}


def say_incomparable(names: tuple[str, ...]) -> str:
    """That neither of two recipes shows less than the other."""
    return (
        f"{name_pair(names)} were made from other rows, and neither shows everywhere "
        "less than the other; what they give away together cannot be told. Start from "
        "the earlier recipe."
    )


def say_cancelled(first: str, last: str) -> str:
    """That who came and left cannot be told from others."""
    return (
        f"Some people came with {first!r} and left after {last!r}, and others with "
        "equal rows left and came meanwhile; what all deliveries give away of them "
        "cannot be told."
    )


def say_difference_beyond(part: str, belief: Fraction) -> str:
    """That whoever subtracts the files learns too much."""
    return (
        f"Whoever subtracts the deliveries and knows that {PARTS[part]} can be "
        f"{percent(belief)} sure."
    )


def say_difference_bounded(belief: Fraction) -> str:
    """That the difference might tell too much."""
    return (
        "Some who came have the same rows as some who left; whoever subtracts the "
        f"deliveries can be at most {percent(belief)} sure, which is beyond the limit, "
        "and whether anybody can is not known."
    )


def say_part_beyond(part: str, belief: Fraction) -> str:
    """That who knows the part of a person would learn too much."""
    return (
        f"Who can tell which rows are whose, and knows {_as_fact(part)}, would hold "
        f"{percent(belief)}; the files do not tell it."
    )


def _as_fact(part: str) -> str:
    told = PARTS[part]
    return told if told.startswith(("in ", "how ")) else f"that {told}"


def say_not_plain(column: str) -> str:
    """That the column asked about is not shown as it is."""
    return (
        f"Column {column!r} is not shown as it is in every delivery; what they give "
        "away of it together cannot be told."
    )


def say_accepted(why: str, said: str) -> str:
    """That somebody accepted what matched rows would tell."""
    return f"{said} Accepted: {why}"
