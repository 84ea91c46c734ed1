"""Channels of randomized response: how likely each report is for each truth, exactly.

``M[y][x]`` is the probability that y is reported where x is true; columns sum to 1. A
channel works on the values of one question, or on the combinations of a group's. `Flip`
is Warner's randomized response (1965) and, on several questions, the paper's one-group
scheme; `KAry` is k-ary randomized response, `Replace` the unrelated question. The
largest ratio in a row of M is e^ε of local differential privacy, the amplification
gamma of Evfimievski et al. Where chance decides which of several channels is used, they
are one channel, too. Zhan, Chang, Matwin 2004, sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError
from privet.values.converters import name_fields
from privet.values.exact import (
    Number,
    Rows,
    fraction,
    invert_matrix,
    is_singular,
    probability,
)

LARGEST = 1024
"""Values of a group whose whole matrix is written out."""


class Channel(Protocol):
    """How the values of a group are disguised, together."""

    kind: ClassVar[str]

    def matrix(self, size: int) -> Rows:
        """``M[y][x]`` over so many values."""

    def inverse(self, size: int) -> Rows:
        """The matrix that undoes it on average."""

    def growth(self, size: int) -> Fraction | None:
        """The largest ``P(y|x) / P(y|x')``; None where it is infinite.

        e^ε of local differential privacy; the amplification gamma.
        """

    def marginal(self, size: int, part: int) -> Channel | None:
        """The channel between a part of the group and its reports, if there is one.

        `part` values are left of `size`, each standing for as many of the others.
        """

    def refusal(self, size: int) -> str:
        """Why the channel does not fit so many values, or cannot be undone; or ""."""

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""


@dataclass(frozen=True)
class Keep:
    """Reported as it is: for what is public anyway."""

    kind: ClassVar[str] = "public"

    def matrix(self, size: int) -> Rows:
        """The identity."""
        return _fill_diagonal(size, Fraction(1), Fraction(0))

    def inverse(self, size: int) -> Rows:
        """The identity."""
        return self.matrix(size)

    def growth(self, size: int) -> Fraction | None:
        """Infinite: whoever sees the report knows the truth."""
        return Fraction(1) if size == 1 else None

    def marginal(self, size: int, part: int) -> Keep:
        """Parts are reported as they are, too."""
        return self

    def refusal(self, size: int) -> str:
        """Fits everything."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        return {"public": True}


@attrs.frozen(field_transformer=name_fields)
class Flip:
    """Yes-or-no answers: all as they are with this probability, else all turned round.

    Warner's randomized response of one answer; of several, the one-group scheme.

    >>> Flip(0.8).matrix(2)[1]
    (Fraction(1, 5), Fraction(4, 5))
    """

    kind: ClassVar[str] = "flip"
    truth: Fraction = attrs.field(converter=probability)
    """With which probability the answers are true."""

    def matrix(self, size: int) -> Rows:
        """Truth on one diagonal, its complement on the other."""
        return _fill_both_diagonals(size, self.truth, 1 - self.truth)

    def inverse(self, size: int) -> Rows:
        """Closed form."""
        wide = 2 * self.truth - 1
        return _fill_both_diagonals(size, self.truth / wide, (self.truth - 1) / wide)

    def growth(self, size: int) -> Fraction | None:
        """Finite for one answer only: of two, whether they agree is published."""
        low = min(self.truth, 1 - self.truth)
        return max(self.truth, 1 - self.truth) / low if size == 2 and low else None

    def marginal(self, size: int, part: int) -> Flip:
        """A part of the answers is turned round with the others."""
        return self

    def refusal(self, size: int) -> str:
        """Powers of two, and not one half."""
        if size & (size - 1):
            return "must have two values per question to be flipped"
        if self.truth == Fraction(1, 2):
            return f"must not be flipped with truth 1/2. {_NOTHING}"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        return {"flip": str(self.truth)}


@attrs.frozen(field_transformer=name_fields)
class KAry:
    """The truth with this probability, else any of the other values, each as likely.

    k-ary randomized response.

    >>> KAry(0.8).matrix(3)[0]
    (Fraction(4, 5), Fraction(1, 10), Fraction(1, 10))
    """

    kind: ClassVar[str] = "k-ary"
    truth: Fraction = attrs.field(converter=probability)
    """With which probability the answer is true."""

    @classmethod
    def within(cls, growth: Number, size: int) -> KAry:
        """The most truthful one whose e^ε is this much, over so many values.

        >>> KAry.within(4, size=2).truth
        Fraction(4, 5)
        """
        ratio = fraction(growth, "growth")
        if ratio <= 1:
            raise InputError(f"growth must be above 1; got {ratio}.")
        return cls(ratio / (ratio + size - 1))

    def other(self, size: int) -> Fraction:
        """With which probability each other value is reported."""
        return (1 - self.truth) / (size - 1)

    def matrix(self, size: int) -> Rows:
        """Truth on the diagonal, the rest evenly."""
        return _fill_diagonal(size, self.truth, self.other(size))

    def inverse(self, size: int) -> Rows:
        """Closed form."""
        other = self.other(size)
        apart = self.truth - other
        return _fill_diagonal(size, (1 - other) / apart, -other / apart)

    def growth(self, size: int) -> Fraction | None:
        """The truth against another value, or the other way round."""
        low, high = sorted((self.truth, self.other(size)))
        return high / low if low else None

    def marginal(self, size: int, part: int) -> KAry:
        """Other values of the group that share the part count as true, too."""
        # Truth 0.5 over 2 x 3 values, 0.1 each of the others: 0.7 over the two.
        same = Fraction(size, part) - 1
        return KAry(self.truth + same * self.other(size))

    def refusal(self, size: int) -> str:
        """At least two values, and not all as likely."""
        if size < 2:
            return "must have at least two values"
        if self.truth == Fraction(1, size):
            return f"must not have truth 1/{size} over {size} values. {_NOTHING}"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        return {"truth": str(self.truth)}


def _read_rows(rows: Sequence[Sequence[Number]]) -> Rows:
    try:
        read = tuple(
            tuple(probability(p, f"matrix[{y}][{x}]") for x, p in enumerate(row))
            for y, row in enumerate(rows)
        )
    except TypeError:
        raise InputError(f"matrix must be a list of rows; got {rows!r}.") from None
    if not read or any(len(row) != len(read) for row in read):
        raise InputError("matrix must have as many columns as rows.")
    for x, column in enumerate(zip(*read, strict=True)):
        if (total := sum(column)) != 1:
            raise InputError(
                f"Column {x} of a matrix must sum to 1: it holds the reports of "
                f"one truth; got {total}."
            )
    return read


@attrs.frozen
class Matrix:
    """Any channel: one row per report, one column per truth; columns sum to 1.

    >>> Matrix([[0.9, 0.2], [0.1, 0.8]]).growth(2)
    Fraction(8, 1)
    """

    kind: ClassVar[str] = "matrix"
    rows: Rows = attrs.field(converter=_read_rows)
    """``rows[y][x]``: the probability of report y where x is true."""

    def matrix(self, size: int) -> Rows:
        """As it is."""
        return self.rows

    def inverse(self, size: int) -> Rows:
        """By elimination in fractions."""
        return self._inverse

    @cached_property
    def _inverse(self) -> Rows:
        found = invert_matrix(self.rows)
        assert found is not None
        return found

    @cached_property
    def undone(self) -> NDArray[np.float64]:
        """The inverse in floats, for many values."""
        return np.linalg.inv(np.array(self.rows, dtype=float))

    def growth(self, size: int) -> Fraction | None:
        """The worst row: its largest entry over its smallest."""
        # A row of zeros is a report that nobody gives.
        rows = [row for row in self.rows if any(row)]
        if any(not min(row) for row in rows):
            return None
        return max(max(row) / min(row) for row in rows)

    def marginal(self, size: int, part: int) -> Channel | None:
        """Unknown but for the whole."""
        return self if part == size else None

    def refusal(self, size: int) -> str:
        """As many rows as values, and a determinant."""
        if len(self.rows) != size:
            return (
                f"must have a matrix of {size} rows, one per value; it has "
                f"{len(self.rows)}"
            )
        if size > LARGEST:
            return f"must have at most {LARGEST:,} values for a matrix; got {size:,}"
        if is_singular(self.rows):
            return f"must not have a matrix with determinant 0. {_NOTHING}"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        return {"matrix": [[str(p) for p in row] for row in self.rows]}


def _read_shares(instead: Sequence[Number] | None) -> tuple[Fraction, ...] | None:
    if instead is None:
        return None
    shares = tuple(probability(p, "instead") for p in instead)
    if (total := sum(shares)) != 1:
        raise InputError(f"instead must sum to 1; got {total}.")
    return shares


@attrs.frozen(field_transformer=name_fields)
class Replace:
    """The truth with this probability, else a draw from a public distribution.

    The unrelated question: "were you born in May?" is such a draw.

    >>> Replace(0.5, [0.5, 0.5]).matrix(2) == Flip("3/4").matrix(2)
    True
    """

    kind: ClassVar[str] = "replace"
    truth: Fraction = attrs.field(converter=probability)
    """With which probability the truth is kept."""
    instead: tuple[Fraction, ...] | None = attrs.field(
        default=None, converter=_read_shares
    )
    """How likely each value is otherwise; None: all alike."""

    def shares(self, size: int) -> tuple[Fraction, ...]:
        """How likely each value is where the truth is not kept."""
        return self.instead or (Fraction(1, size),) * size

    def matrix(self, size: int) -> Rows:
        """Each row: its share, and the truth on the diagonal."""
        rest = [(1 - self.truth) * q for q in self.shares(size)]
        return tuple(
            tuple(rest[y] + (self.truth if x == y else 0) for x in range(size))
            for y in range(size)
        )

    def inverse(self, size: int) -> Rows:
        """Closed form: what was drawn is taken off again."""
        rest = [(1 - self.truth) * q for q in self.shares(size)]
        return tuple(
            tuple(((1 if x == y else 0) - rest[y]) / self.truth for x in range(size))
            for y in range(size)
        )

    def growth(self, size: int) -> Fraction | None:
        """Finite if every value may be drawn."""
        low = (1 - self.truth) * min(self.shares(size))
        return 1 + self.truth / low if low else None

    def marginal(self, size: int, part: int) -> Channel | None:
        """Only `Design` knows which values are one; see `Design.piece`."""
        return self if self.instead is None or part == size else None

    def refusal(self, size: int) -> str:
        """One share per value, and some truth."""
        if self.instead is not None and len(self.instead) != size:
            return f"must have {size} shares in instead; it has {len(self.instead)}"
        return "" if self.truth else f"must have a truth above 0. {_NOTHING}"

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        shares = {} if self.instead is None else {"instead": self.instead}
        return {
            "replace": str(self.truth),
            **{k: [str(q) for q in v] for k, v in shares.items()},
        }


_NOTHING = (
    "Such reports say nothing about the truth, so nothing could be estimated; choose "
    "another probability, or the unrelated question (Replace)"
)

CHANNELS = (Keep, Flip, KAry, Matrix, Replace)
"""All there are."""

KEYS = ("public", "flip", "truth", "matrix", "replace")
"""What a design file says of a channel, one of them."""


def parse_channel(keys: Mapping[str, Any], what: str) -> Channel:
    """The channel that a design's keys describe."""
    given = [k for k in KEYS if k in keys]
    if len(given) != 1:
        raise InputError(
            f"{what} must have one of {', '.join(KEYS)}; "
            f"got {' and '.join(given) or 'none'}."
        )
    value = keys[given[0]]
    if "instead" in keys and given[0] != "replace":
        raise InputError(f"instead of {what} must come with replace; got {given[0]}.")
    if given[0] == "public":
        if value is not True:
            raise InputError(f"public of {what} must be true; got {value!r}.")
        return Keep()
    if given[0] == "replace":
        return Replace(value, keys.get("instead"))
    makers: dict[str, Any] = {"flip": Flip, "truth": KAry, "matrix": Matrix}
    made: Channel = makers[given[0]](value)
    return made


def _fill_diagonal(size: int, same: Fraction, other: Fraction) -> Rows:
    return tuple(
        tuple(same if x == y else other for x in range(size)) for y in range(size)
    )


def _fill_both_diagonals(size: int, same: Fraction, opposite: Fraction) -> Rows:
    """One value on the diagonal, one on the other; both where they meet."""
    return tuple(
        tuple(
            # Opposite: of two answers 01 and 10, which are 1 and 2 of 0 … 3.
            (same if x == y else Fraction(0))
            + (opposite if x == size - 1 - y else Fraction(0))
            for x in range(size)
        )
        for y in range(size)
    )


# Several channels as one ------------------------------------------------------------


def mix_channels(channels: Sequence[Channel], size: int, what: str) -> Channel:
    """The channel of a report whose channel was drawn, all as likely.

    >>> mix_channels([KAry("0.8"), KAry("0.6")], 3, "x")
    KAry(truth=Fraction(7, 10))
    """
    first = channels[0]
    if all(c == first for c in channels):
        return first
    even = [c for c in channels if isinstance(c, KAry)]
    found: Channel
    if len(even) == len(channels):
        # The mean of k-ary matrices is k-ary.
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


def condition_number(channel: Channel, size: int) -> float:
    """By how much errors of reports grow in estimates, at worst."""
    # M is symmetric with eigenvalues 1 and 2p - 1, or 1 and p - r.
    if isinstance(channel, Flip):
        return float(1 / abs(2 * channel.truth - 1))
    if isinstance(channel, KAry):
        return float(1 / abs(channel.truth - channel.other(size)))
    if isinstance(channel, Keep):
        return 1.0
    if isinstance(channel, Replace):
        return _condition_replacement(channel, size)
    rows = np.array(channel.matrix(size), dtype=float)
    return float(np.linalg.cond(rows))


def _condition_replacement(channel: Replace, size: int) -> float:
    """The same of M = p I + (1 - p) q 1ᵀ, without making M.

    Beside the plane of q and 1 every vector is only shortened to p; in the plane M is
    a matrix of 2 x 2. With q uniform the plane is a line, and the answer is 1 / p.
    """
    p = float(channel.truth)
    ends = np.array([[float(q), 1.0] for q in channel.shares(size)])
    basis, sizes, _ = np.linalg.svd(ends, full_matrices=False)
    basis = basis[:, sizes > 1e-12 * sizes[0]]  # (values, 1 or 2)
    q, ones = basis.T @ ends[:, 0], basis.T @ ends[:, 1]
    inside = p * np.eye(len(q)) + (1 - p) * np.outer(q, ones)
    found = [*np.linalg.svd(inside, compute_uv=False).tolist()]
    found += [p] if size > len(q) else []
    return max(found) / min(found) if min(found) else float("inf")
