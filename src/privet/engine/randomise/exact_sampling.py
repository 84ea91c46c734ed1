"""Exact sampling for randomized response: a probability is a fraction, never rounded.

A uniform number is drawn 16 bits at a time. Nearly always the first 16 tell on which
side of a boundary it lies; where they do not, more are drawn until they do. With shares
1/3 and 2/3 the boundary is at 21845⅓ of 65536: words up to 21844 mean the first, those
from 21846 the second, and only 21845, one draw in 65536, needs another word.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 2**16
"""Values of one word of the source."""

Codes = NDArray[np.int64]
Several = list[Codes]
"""The codes of a group, one array per column."""

Disguise = Callable[[Several, "RandomBits"], Several]
"""Takes what is true, gives what is reported."""


class RandomBits:
    """Random words: of the operating system's secure source, or of a seed.

    With a seed everybody who knows it can undo the disguise; that is for tests.
    """

    def __init__(self, seed: bytes | None = None) -> None:
        self._seed = seed
        self._drawn = 0

    def draw_words(self, number: int) -> NDArray[np.uint16]:
        """So many words of 16 bits."""
        return np.frombuffer(self._draw_bytes(2 * number), dtype=np.uint16)

    def draw_word(self) -> int:
        """One more word."""
        return int.from_bytes(self._draw_bytes(2), "little")

    def draw_below(self, bound: int, number: int) -> Codes:
        """Whole numbers from 0 to below a bound, all as likely."""
        if bound == 1:
            return np.zeros(number, dtype=np.int64)
        kind, whole = (np.uint32, 2**32) if bound <= 2**31 else (np.uint64, 2**64)
        # The largest multiple of the bound: what is drawn beyond it would make small
        # numbers likelier, and is drawn again. Of 0 … 7 below 3 only 0 … 5 count.
        most = whole - whole % bound
        found: NDArray[Any] = np.empty(0, dtype=kind)
        while len(found) < number:
            missing = number - len(found)
            size = missing * np.dtype(kind).itemsize
            fresh = np.frombuffer(self._draw_bytes(size), dtype=kind)
            found = np.concatenate([found, fresh[fresh <= kind(most - 1)]])
        return np.asarray(found % np.asarray(bound, kind), dtype=np.int64)

    def _draw_bytes(self, number: int) -> bytes:
        if self._seed is None:
            return os.urandom(number)
        self._drawn += 1
        count = self._drawn.to_bytes(8, "little")
        return hashlib.shake_128(self._seed + count).digest(number)


class ExactChoice:
    """One of several outcomes, each with its own exact probability."""

    def __init__(self, shares: Sequence[Fraction]) -> None:
        # 1/2, 1/3 and 1/6 end at 3, 5 and 6 of 6.
        self._whole = lcm(*(s.denominator for s in shares))
        parts = (s.numerator * (self._whole // s.denominator) for s in shares)
        self._ends = [0, *accumulate(parts)]
        assert self._ends[-1] == self._whole, "shares must sum to 1"
        self._table = self._settle_words()

    def _settle_words(self) -> NDArray[np.int32]:
        """The outcome of each first word; -1 where a boundary lies inside of it."""
        table = np.full(WORD, -1, dtype=np.int32)
        for i, (low, high) in enumerate(
            zip(self._ends[:-1], self._ends[1:], strict=True)
        ):
            # Word w is all from w/65536 to below (w + 1)/65536: that must be inside.
            first = -(-low * WORD // self._whole)
            last = high * WORD // self._whole
            table[first:last] = i
        return table

    def draw(self, number: int, bits: RandomBits) -> Codes:
        """So many outcomes."""
        words = bits.draw_words(number)  # one per outcome, each an index of the table
        found = self._table[words].astype(np.int64)
        for i in np.flatnonzero(found < 0):
            found[i] = self.settle(int(words[i]), bits)
        return found

    def settle(self, word: int, bits: RandomBits) -> int:
        """The outcome of a number that begins with a word, drawn on as needed."""
        number, scale = word, WORD
        while True:  # it lies from number/scale to below (number + 1)/scale
            i = bisect_right(self._ends, number * self._whole // scale) - 1
            if (number + 1) * self._whole <= self._ends[i + 1] * scale:
                return i
            number, scale = number * WORD + bits.draw_word(), scale * WORD


class ExactCoin:
    """Heads with an exact probability."""

    def __init__(self, heads: Fraction) -> None:
        # Of 1/3: words below 21845 are heads, above it tails, and 21845 is drawn on.
        self._first = heads.numerator * WORD // heads.denominator
        self._choice = ExactChoice([heads, 1 - heads])
        self._sure = heads in (0, 1)
        self._heads = heads == 1

    def toss(self, number: int, bits: RandomBits) -> NDArray[np.bool_]:
        """Which of so many tosses are heads."""
        if self._sure:
            return np.full(number, self._heads)
        words = bits.draw_words(number)
        found = words < self._first
        for i in np.flatnonzero(words == self._first):
            found[i] = self._choice.settle(int(words[i]), bits) == 0
        return np.asarray(found, dtype=bool)


# What is done to a group ------------------------------------------------------------


def report_truth(codes: Several, _bits: RandomBits) -> Several:
    """Reported as it is."""
    return codes


def flip_all(truth: Fraction) -> Disguise:
    """All answers as they are, or all turned round."""
    coin = ExactCoin(1 - truth)

    def disguise(codes: Several, bits: RandomBits) -> Several:
        # One toss per row for all its answers, which are 0 or 1: c ^ 1 is the other.
        turned = coin.toss(len(codes[0]), bits)
        return [c ^ turned for c in codes]

    return disguise


def draw_evenly(truth: Fraction, sizes: Sequence[int]) -> Disguise:
    """The truth, or any other combination, all as likely."""
    coin, size = ExactCoin(1 - truth), int(np.prod(sizes, dtype=object))

    def disguise(codes: Several, bits: RandomBits) -> Several:
        whole = _packed(codes, sizes)
        at = np.flatnonzero(coin.toss(len(whole), bits))
        # 1 to size - 1 steps on, in a ring: any other combination, never the truth.
        step = 1 + bits.draw_below(size - 1, len(at))
        whole[at] = (whole[at] + step) % size
        return _unpacked(whole, sizes)

    return disguise


def replace_by_draw(
    truth: Fraction, shares: Sequence[Fraction], sizes: Sequence[int]
) -> Disguise:
    """The truth, or a draw from a public distribution."""
    coin, choice = ExactCoin(1 - truth), ExactChoice(shares)

    def disguise(codes: Several, bits: RandomBits) -> Several:
        whole = _packed(codes, sizes)
        at = np.flatnonzero(coin.toss(len(whole), bits))
        whole[at] = choice.draw(len(at), bits)
        return _unpacked(whole, sizes)

    return disguise


def draw_by_matrix(
    columns: Sequence[Sequence[Fraction]], sizes: Sequence[int]
) -> Disguise:
    """One distribution of reports for each truth."""
    choices = [ExactChoice(column) for column in columns]

    def disguise(codes: Several, bits: RandomBits) -> Several:
        whole = _packed(codes, sizes)
        found = np.empty_like(whole)
        for truth, choice in enumerate(choices):
            at = np.flatnonzero(whole == truth)
            found[at] = choice.draw(len(at), bits)
        return _unpacked(found, sizes)

    return disguise


def _packed(codes: Several, sizes: Sequence[int]) -> Codes:
    """One number per row: with sizes (3, 4), codes (2, 1) are 2·4 + 1 = 9."""
    whole = codes[0].astype(np.int64)  # always a copy
    for column, size in zip(codes[1:], sizes[1:], strict=True):
        whole = whole * size + column
    return whole


def _unpacked(whole: Codes, sizes: Sequence[int]) -> Several:
    found: Several = []
    for size in reversed(sizes[1:]):
        whole, column = np.divmod(whole, size)
        found.append(column)
    return [whole, *reversed(found)]
