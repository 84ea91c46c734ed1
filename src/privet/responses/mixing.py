"""Several channels as one, where chance decides which is used; and how shaky one is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from privet.errors import InputError
from privet.responses.channels import LARGEST, Channel, Flip, KAry, Keep, Matrix


def mixed(channels: Sequence[Channel], size: int, what: str) -> Channel:
    """The channel of a report whose channel was drawn, all as likely.

    >>> mixed([KAry("0.8"), KAry("0.6")], 3, "x")
    KAry(truth=Fraction(7, 10))
    """
    first = channels[0]
    if all(c == first for c in channels):
        return first
    even = [c for c in channels if isinstance(c, KAry)]
    found: Channel
    if len(even) == len(channels):
        found = KAry(sum((c.truth for c in even), Fraction(0)) / len(even))
    else:
        _refuse_large(size, what)
        tables = [c.matrix(size) for c in channels]
        found = Matrix(
            [
                [sum((t[y][x] for t in tables), Fraction(0)) / len(tables) for x in at]
                for y, at in enumerate([range(size)] * size)
            ]
        )
    if why := found.refusal(size):
        raise InputError(f"{what}, over all groups that ask it, {why}.")
    return found


def _refuse_large(size: int, what: str) -> None:
    if size > LARGEST:
        raise InputError(
            f"{what} must have at most {LARGEST:,} values to be asked in several "
            f"groups with different channels; got {size:,}."
        )


def condition(channel: Channel, size: int) -> float:
    """By how much errors of reports grow in estimates, at worst."""
    if isinstance(channel, Flip):
        return float(1 / abs(2 * channel.truth - 1))
    if isinstance(channel, KAry):
        return float(1 / abs(channel.truth - channel.other(size)))
    if isinstance(channel, Keep) or size > LARGEST // 2:
        return 1.0
    rows = np.array(channel.matrix(size), dtype=float)
    return float(np.linalg.cond(rows))
