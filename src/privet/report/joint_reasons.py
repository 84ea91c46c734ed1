"""Sentences about several releases together: what was judged, and what was not."""

from __future__ import annotations

from fractions import Fraction

from privet.languages import (
    join_all,
    mark,
    say,
    translate,
)
from privet.values.exact import percent

NOTHING_NEW = mark(
    "This release can be computed from what is out already: it tells nothing new."
)
EARLIER_TELLS_NOTHING_NEW = mark(
    "What is out already can be computed from this release: it tells nothing besides."
)
WITHIN = mark(
    "Somebody who has the files of all releases stays within "
    "the limit, and so does somebody who can tell which of "
    "their rows belong together."
)
ONE_PERSON_SEVERAL_ROWS = mark(
    "People who have several rows are not judged across "
    "releases; what they give away together cannot be told."
)
OTHER_ROWS = mark(
    "An earlier release was made from other rows, or with "
    "other bins; what they give away together cannot be told."
)
INSIDER = mark(
    "What an insider learns from several releases together "
    "cannot be told; only that one tells nothing new could be."
)
NEARLY_TOLD = mark(
    "That is so for whoever takes columns as known that known "
    "ones tell in nearly all rows, but not in all."
)
SEARCHED_TOO_LONG = mark(
    "The time limit ran out before the releases were judged together."
)


def name_pair(names: tuple[str, ...]) -> str:
    """Which releases leave something open."""
    return join_all([repr(name) for name in names])


def say_files_beyond(files: Fraction, matching: Fraction | None) -> str:
    """That the files alone tell too much."""
    sure = percent(files)
    if matching is None:
        return say(
            "Somebody who has the files of all releases can be {sure} sure.", sure=sure
        )
    return say(
        "Somebody who has the files of all releases can be {sure} sure; who "
        "can tell which of their rows belong together, {matched}.",
        sure=sure,
        matched=percent(matching),
    )


def say_matching_beyond(files: Fraction, matching: Fraction, bound: bool) -> str:
    """That only who can match rows goes beyond the limit."""
    alone, matched = percent(files), percent(matching)
    if bound:
        return say(
            "Who can tell which rows of the releases belong together would "
            "hold {matched}; the files alone give at most {alone}. Order, "
            "time or other sources may match rows, the files do not.",
            matched=matched,
            alone=alone,
        )
    return say(
        "Who can tell which rows of the releases belong together would hold "
        "{matched}; the files alone give {alone}. Order, time or other "
        "sources may match rows, the files do not.",
        matched=matched,
        alone=alone,
    )


def say_bound_beyond(names: tuple[str, ...], bound: Fraction) -> str:
    """That nothing is proved where a bound is beyond the limit."""
    return say(
        "What {pair} give away together is not known: it is at "
        "most {bound}, which is beyond the limit, and there are "
        "too many tables behind them to count.",
        pair=name_pair(names),
        bound=percent(bound),
    )


def say_no_arithmetic(names: tuple[str, ...], kinds: tuple[str, ...]) -> str:
    """That there is no arithmetic for a pair of kinds."""
    return say(
        "What {names} ({kinds}) give away together cannot be told: neither "
        "can be computed from the other, and there is no arithmetic for such "
        "a pair.",
        names=name_pair(names),
        kinds=join_all(kinds),
    )


def say_other_rows(names: tuple[str, ...]) -> str:
    """That releases are of different rows."""
    return say(
        "{pair} were made from other rows, or with other bins; "
        "what they give away together cannot be told from this.",
        pair=name_pair(names),
    )


def say_boxes_half_known(names: tuple[str, ...]) -> str:
    """That who knows some of the columns of groups is not judged."""
    return say(
        "{pair}: of the columns that groups are made of somebody "
        "knows only some; what the releases tell that person "
        "together cannot be told.",
        pair=name_pair(names),
    )


WITHIN_FILES = mark(
    "Somebody who has the files of all releases stays within the limit."
)


def say_any_prior(names: tuple[str, ...]) -> str:
    """That a ceiling cannot be held against every prior."""
    return say(
        "What {pair} give away together depends on what somebody "
        "believed before; the promise must state a prior, or limit "
        "the change.",
        pair=name_pair(names),
    )


def say_channels(factor: Fraction, *, kept: bool) -> str:
    """How far two disguises of the same people move somebody."""
    if kept:
        return say(
            "The same people answered several times: their answers together "
            "change odds by a factor of at most {factor}, which is within "
            "the limit.",
            factor=factor,
        )
    return say(
        "The same people answered several times: their answers together "
        "change odds by a factor of at most {factor}.",
        factor=factor,
    )


WITHIN_DELIVERIES = mark(
    "Who came, who stayed and who left are told apart by "
    "whoever has all deliveries; even so everybody stays "
    "within the limit."
)
PARTS = {
    "new": mark("that a person came with the later delivery"),
    "gone": mark("that a person left before the later delivery"),
    "kept": mark("that a person is in both deliveries"),
    "came and left": mark("that a person came and left in between"),
    "in some deliveries only": mark("in which deliveries a person is"),
    "changed": mark(
        "how a person's row changed, and that the value asked about did not"
    ),
}


def say_incomparable(names: tuple[str, ...]) -> str:
    """That neither of two recipes shows less than the other."""
    return say(
        "{pair} were made from other rows, and neither shows "
        "everywhere less than the other; what they give away "
        "together cannot be told. Start from the earlier recipe.",
        pair=name_pair(names),
    )


def say_cancelled(first: str, last: str) -> str:
    """That who came and left cannot be told from others."""
    return say(
        "Some people came with {first} and left after {last}, and "
        "others with equal rows left and came meanwhile; what all "
        "deliveries give away of them cannot be told.",
        first=f"{first!r}",
        last=f"{last!r}",
    )


def say_difference_beyond(part: str, belief: Fraction) -> str:
    """That whoever subtracts the files learns too much."""
    return say(
        "Whoever subtracts the deliveries and knows {fact} can be {sure} sure.",
        fact=translate(PARTS[part]),
        sure=percent(belief),
    )


def say_difference_bounded(belief: Fraction) -> str:
    """That the difference might tell too much."""
    return say(
        "Some who came have the same rows as some who left; "
        "whoever subtracts the deliveries can be at most {belief} "
        "sure, which is beyond the limit, and whether anybody can "
        "is not known.",
        belief=percent(belief),
    )


def say_part_beyond(part: str, belief: Fraction) -> str:
    """That who knows the part of a person would learn too much."""
    return say(
        "Who can tell which rows are whose, and knows {fact}, would hold "
        "{sure}; the files do not tell it.",
        fact=translate(PARTS[part]),
        sure=percent(belief),
    )


def say_not_plain(column: str) -> str:
    """That the column asked about is not shown as it is."""
    return say(
        "Column {column} is not shown as it is in every delivery; "
        "what they give away of it together cannot be told.",
        column=f"{column!r}",
    )


def say_accepted(why: str, said: str) -> str:
    """That somebody accepted what matched rows would tell."""
    return say("{said} Accepted: {why}", said=said, why=why)
