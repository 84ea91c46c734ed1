"""Inverse of a channel: unbiased estimates of true shares, and the likeliest ones.

With P* the shares of reports and P those of the truth, the one-group scheme (Eq. 2 and
3) and the two-group scheme (Eq. 4) are P* = M P; undoing M is right on average and may
leave 0 to 1, so the likeliest shares that are shares are found, too. Tensors have one
axis per piece. Numbers may be fractions or floats: the same formulas give the estimate
exactly or quickly. Zhan, Chang, Matwin 2004, sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from privet.errors import TooLarge
from privet.responses.channels import Channel, Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import MarginalChannel

Tensor = Any
"""An array of fractions (objects) or of floats."""

GAP = 1e-9
"""How far from the largest likelihood an iteration may stop."""

MOST_STEPS = 100_000

DENSE = 512
"""Cells up to which the whole matrix is written out."""

SMALLEST = 1e-13
"""How little is left in the end of what keeps shares positive."""


def invert_channel(pieces: Sequence[MarginalChannel], shares: Tensor) -> Tensor:
    """The unbiased estimate of the truth: M⁻¹ applied to shares of reports."""
    return _apply_along_axes(pieces, shares, _undo)


def weigh_reports(pieces: Sequence[MarginalChannel], event: Tensor) -> Tensor:
    """What each report counts for an event: M⁻ᵀ applied to the event."""
    return _apply_along_axes(pieces, event, _weigh)


def apply_channel(pieces: Sequence[MarginalChannel], shares: Tensor) -> Tensor:
    """The shares of reports that true shares lead to: M applied to them."""
    return _apply_along_axes(pieces, shares, _push_forward)


def apply_transpose(pieces: Sequence[MarginalChannel], ratios: Tensor) -> Tensor:
    """Mᵀ applied to a number per report."""
    return _apply_along_axes(pieces, ratios, _pull_back)


Along = Callable[[MarginalChannel, Tensor, Callable[[Fraction], Any]], Tensor]


def _apply_along_axes(
    pieces: Sequence[MarginalChannel], tensor: Tensor, work: Along
) -> Tensor:
    """Work on each axis in turn; the axis comes first meanwhile."""
    number: Callable[[Fraction], Any] = Fraction if tensor.dtype == object else float
    for i, piece in enumerate(pieces):
        first = np.moveaxis(tensor, i, 0)
        tensor = np.moveaxis(work(piece, first, number), 0, i)
    return tensor


def _to_vector(values: Sequence[Fraction], tensor: Tensor, number: Any) -> Tensor:
    # (size, 1, …, 1): along the first axis, the same for all others.
    found = np.array([number(v) for v in values], dtype=tensor.dtype)
    return found.reshape(-1, *(1,) * (tensor.ndim - 1))


def _to_matrix(rows: Any, tensor: Tensor, number: Any) -> Tensor:
    return np.array([[number(v) for v in row] for row in rows], dtype=tensor.dtype)


def invert_in_floats(channel: Channel, size: int) -> Tensor:
    """The inverse of a channel's matrix, in floats."""
    if isinstance(channel, Matrix):
        return channel.undone
    return np.array(channel.inverse(size), dtype=float)


def _invert_piece(piece: MarginalChannel, tensor: Tensor) -> Tensor:
    if tensor.dtype == object:
        return np.array(piece.channel.inverse(piece.size), dtype=object)
    return invert_in_floats(piece.channel, piece.size)


def _undo(piece: MarginalChannel, t: Tensor, number: Any) -> Tensor:
    match piece.channel:
        case Keep():
            return t
        case Flip(truth=p):
            # The opposite of combination x is size - 1 - x: the axis reversed.
            return (number(p) * t - number(1 - p) * t[::-1]) / number(2 * p - 1)
        case KAry(truth=p) as channel:
            r = channel.other(piece.size)
            # 32 % said yes, with truth 0.8: (0.32 - 0.2) / (0.8 - 0.2) = 20 %.
            return (t - number(r) * t.sum(axis=0)) / number(p - r)
        case Replace(truth=p) as channel:
            drawn = _to_vector(channel.shares(piece.size), t, number)
            return (t - number(1 - p) * drawn * t.sum(axis=0)) / number(p)
        case Matrix():
            return np.tensordot(_invert_piece(piece, t), t, axes=1)
    raise AssertionError(piece.channel)


def _weigh(piece: MarginalChannel, t: Tensor, number: Any) -> Tensor:
    match piece.channel:
        case Replace(truth=p) as channel:
            drawn = _to_vector(channel.shares(piece.size), t, number)
            return (t - number(1 - p) * (drawn * t).sum(axis=0)) / number(p)
        case Matrix():
            return np.tensordot(_invert_piece(piece, t).T, t, axes=1)
    return _undo(piece, t, number)  # the others are symmetric


def _push_forward(piece: MarginalChannel, t: Tensor, number: Any) -> Tensor:
    match piece.channel:
        case Keep():
            return t
        case Flip(truth=p):
            return number(p) * t + number(1 - p) * t[::-1]
        case KAry(truth=p) as channel:
            r = channel.other(piece.size)
            return number(p - r) * t + number(r) * t.sum(axis=0)
        case Replace(truth=p) as channel:
            drawn = _to_vector(channel.shares(piece.size), t, number)
            return number(p) * t + number(1 - p) * drawn * t.sum(axis=0)
        case Matrix(rows=rows):
            return np.tensordot(_to_matrix(rows, t, number), t, axes=1)
    raise AssertionError(piece.channel)


def _pull_back(piece: MarginalChannel, t: Tensor, number: Any) -> Tensor:
    match piece.channel:
        case Replace(truth=p) as channel:
            drawn = _to_vector(channel.shares(piece.size), t, number)
            return number(p) * t + number(1 - p) * (drawn * t).sum(axis=0)
        case Matrix(rows=rows):
            turned = zip(*rows, strict=True)
            return np.tensordot(_to_matrix(turned, t, number), t, axes=1)
    return _push_forward(piece, t, number)


# Covariance -------------------------------------------------------------------------


def variance(shares: Tensor, weight: Tensor, n: int) -> Any:
    """The variance of an estimate, of sampling and disguise; unbiased.

    The estimate is the mean of what each report counts, so this is the variance of
    that mean: a quadratic form of ``M⁻¹ (diag f - f fᵀ) M⁻ᵀ / (n - 1)``.
    """
    # 32 % said yes at truth 0.8, weights 4/3 and -1/3: 0.32 * 0.68 / 0.6**2 = 0.604
    # over n - 1.
    mean = (shares * weight).sum()
    return ((shares * weight * weight).sum() - mean * mean) / (n - 1)


def covariance(
    pieces: Sequence[MarginalChannel],
    shares: Tensor,
    n: int,
    *,
    disguise_only: bool = False,
) -> Tensor:
    """The covariance of all estimated shares, flattened; with n - 1, unbiased.

    With `disguise_only` that of a fixed table: ``(M⁻¹ diag(f) M⁻ᵀ - diag(π)) / n``.
    """
    cells = shares.size
    if cells > 4096:
        raise TooLarge(f"A covariance of {cells:,} × {cells:,} numbers is refused.")
    each = np.eye(cells, dtype=int).astype(shares.dtype)
    rows = np.array(  # M⁻¹, cells x reports
        [weigh_reports(pieces, e.reshape(shares.shape)).ravel() for e in each]
    )
    flat = shares.ravel()
    spread: Tensor = (rows * flat) @ rows.T
    pi = rows @ flat
    if disguise_only:
        return (spread - np.diag(pi)) / n
    return (spread - np.outer(pi, pi)) / (n - 1)


# The simplex ------------------------------------------------------------------------


def maximise_likelihood(pieces: Sequence[MarginalChannel], counts: Tensor) -> Tensor:
    """The shares, none negative, under which the reports are the likeliest."""
    n = counts.sum()
    if not n:
        return np.full(counts.shape, 1.0 / counts.size)
    plain = invert_channel(pieces, counts / n)
    if plain.min() >= 0:  # then it has the largest likelihood of all
        return plain
    if len(pieces) == 1:
        channel = pieces[0].channel
        if isinstance(channel, KAry):
            return maximise_k_ary(counts, channel.truth, channel.other(len(counts)))
        if pieces[0].size == 2:
            return np.clip(plain, 0.0, 1.0)
    if counts.size <= DENSE:
        return maximise_by_newton(pieces, counts / n)
    return maximise_by_em(pieces, counts / n)


def maximise_k_ary(counts: Tensor, truth: Fraction, other: Fraction) -> Tensor:
    """The same for a k-ary channel in closed form; exact if counts are fractions."""
    exact = counts.dtype == object
    n = counts if exact else counts.astype(float)
    apart = truth - other
    up = apart > 0
    c: Any = abs(Fraction(other) / apart)
    c = c if exact else float(c)
    # Truth 0.8 of three values: c = 1/7. Reports of 16, 4 and 0 give a scale of
    # 20/(1 + 2/7) = 140/9 and shares 31/35, 4/35 and 0; the inverse has -1/7.
    order = np.argsort(-n if up else n, kind="stable")
    size = _count_support(n[order], c, up)
    support = order[:size]
    found, total = n * 0, n[support].sum()
    if not total:  # nobody reported any of them: all as likely
        found[support] = Fraction(1, size) if exact else 1 / size
        return found
    scale = total / (1 + size * c) if up else total / (size * c - 1)
    found[support] = n[support] / scale - c if up else c - n[support] / scale
    return found if exact else np.maximum(found, 0.0)


def _count_support(ordered: Tensor, c: Any, up: bool) -> int:
    """How many shares are above 0: as many as stay so, the reports being in order."""
    totals = np.cumsum(ordered)
    sizes = np.arange(1, len(ordered) + 1)
    if ordered.dtype == object:
        sizes = sizes.astype(object)
    # The last one stays at or above 0, with nothing divided: n (1 + s c) >= c total.
    if up:
        fits = ordered * (1 + sizes * c) >= c * totals
    else:
        fits = (c * totals >= ordered * (sizes * c - 1)) | (totals == 0)
    return int(np.flatnonzero(fits.astype(bool))[-1]) + 1


def maximise_by_newton(pieces: Sequence[MarginalChannel], shares: Tensor) -> Tensor:
    """The same for few cells: Newton's steps along a path inside of the simplex.

    Columns of M sum to 1, so ``Σ f log Mπ - Σ π`` has its maximum where Σ π = 1; a
    term ``μ Σ log π`` keeps shares positive, and μ goes to 0. EM needs thousands of
    steps where the likeliest share is 0; this needs about fifty.
    """
    matrix = np.ones((1, 1))
    for piece in pieces:
        own = np.eye(piece.size)
        # Column x of a piece is what it makes of a sure x.
        matrix = np.kron(
            matrix, np.stack([apply_channel((piece,), e) for e in own], axis=1)
        )
    f = shares.ravel()
    there = f > 0
    m, f = matrix[there], f[there]  # reports that occurred x cells
    pi = np.full(shares.size, 1.0 / shares.size)
    mu = 1.0 / shares.size
    while mu > SMALLEST:
        mu /= 8
        for _ in range(4):
            pi = _step_by_newton(m, f, pi, mu)
    found: Tensor = (pi / pi.sum()).reshape(shares.shape)
    return found


def _step_by_newton(m: Tensor, f: Tensor, pi: Tensor, mu: float) -> Tensor:
    """One step uphill that stays inside."""
    seen = m @ pi
    slope = m.T @ (f / seen) - 1 + mu / pi
    # Minus the second derivative: positive definite, so the step is uphill.
    bend = (m.T * (f / seen**2)) @ m + np.diag(mu / pi**2)
    step = np.linalg.solve(bend, slope)
    down = step < 0
    # The step at which the first share would be 0; 95 % of it at most.
    room = float((-pi[down] / step[down]).min(initial=np.inf))
    return pi + min(1.0, 0.95 * room) * step


def maximise_by_em(pieces: Sequence[MarginalChannel], shares: Tensor) -> Tensor:
    """The same by expectation and maximisation, stopped by the optimality gap.

    Two steps tell where the path leads; a longer one is tried, and taken if it does not
    make the reports less likely (Varadhan and Roland's squared extrapolation). Where
    shares go to 0 that needs a hundredth of the steps.
    """
    pi = np.full(shares.shape, 1.0 / shares.size)
    for _ in range(MOST_STEPS):
        one, gap, _ = _step_by_em(pieces, shares, pi)
        if gap <= GAP:
            return one / one.sum()
        two, gap, likely = _step_by_em(pieces, shares, one)
        if gap <= GAP:
            return two / two.sum()
        pi = _extrapolate(pieces, shares, (pi, one, two), likely)
    return pi / pi.sum()


def _step_by_em(
    pieces: Sequence[MarginalChannel], shares: Tensor, pi: Tensor
) -> tuple[Tensor, float, float]:
    """One step, how far from optimal its start was, and how likely the reports were."""
    seen = apply_channel(pieces, pi)
    there = shares > 0
    ratio = np.divide(shares, seen, out=np.zeros_like(pi), where=there)
    # At the maximum no gain is above 1, and those of positive shares are 1.
    gain = apply_transpose(pieces, ratio)
    likely = float((shares[there] * np.log(seen[there])).sum())
    return pi * gain, float(gain.max()) - 1, likely


def _extrapolate(
    pieces: Sequence[MarginalChannel],
    shares: Tensor,
    path: tuple[Tensor, Tensor, Tensor],
    likely: float,
) -> Tensor:
    """A point beyond two steps; the second step where none is as likely."""
    start, one, two = path
    slope = one - start
    bend = two - one - slope
    size = float(np.linalg.norm(bend))
    # With length 1 the new point is `two`; above 1 it lies beyond.
    length = float(np.linalg.norm(slope)) / size if size > 0 else 1.0
    while length > 1.01:
        new = start + 2 * length * slope + length**2 * bend
        new = np.maximum(new, two * 1e-3)  # no share may vanish at once
        found, _, reached = _step_by_em(pieces, shares, new / new.sum())
        if reached >= likely:
            return found
        length = (length + 1) / 2 if length < 4 else length / 4
    return two


def project_to_simplex(values: Tensor) -> Tensor:
    """The nearest shares, by Euclid's distance; biased, but cheap."""
    flat = np.sort(values.ravel())[::-1]
    # 0.9, 0.3, -0.2: sums -0.1, 0.1, 0; the last above is 0.3, so tau = 0.1.
    sums = (np.cumsum(flat) - 1) / np.arange(1, len(flat) + 1)
    tau = sums[np.flatnonzero(flat > sums)[-1]]
    found: Tensor = np.maximum(values - tau, 0)
    return found
