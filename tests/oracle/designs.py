"""Random small designs, of all channels, alone and in groups."""

from __future__ import annotations

import warnings
from fractions import Fraction

from hypothesis import strategies as st

import privet as pv
from privet.responses.channels import Keep

CHANCES = st.integers(0, 12).map(lambda i: Fraction(i, 12))


def channels(size: int, *, flip: bool) -> st.SearchStrategy[object]:
    """Channels over so many values; those that cannot be undone included."""
    some = [
        CHANCES.map(pv.KAry),
        CHANCES.filter(bool).map(pv.Replace),
        st.lists(st.integers(1, 4), min_size=size, max_size=size).flatmap(
            lambda w: CHANCES.filter(bool).map(
                lambda p: pv.Replace(p, [Fraction(i, sum(w)) for i in w])
            )
        ),
        st.just(Keep()),
    ]
    if size <= 4:
        columns = st.lists(
            st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(any),
            min_size=size,
            max_size=size,
        )
        some.append(columns.map(_matrix))
    if flip:
        some.append(CHANCES.map(pv.Flip))
    return st.one_of(some)


def _matrix(columns: list[list[int]]) -> pv.Matrix:
    shares = [[Fraction(v, sum(c)) for v in c] for c in columns]
    return pv.Matrix(list(zip(*shares, strict=True)))


@st.composite
def designs(draw: st.DrawFn, most: int = 3) -> pv.Design:
    """Designs of up to three questions; None where the draw cannot be one."""
    names = [f"q{i}" for i in range(draw(st.integers(1, most)))]
    sizes = [draw(st.integers(2, 3)) for _ in names]
    questions = [
        pv.Question(n, [str(v) for v in range(s)])
        for n, s in zip(names, sizes, strict=True)
    ]
    groups, at = [], 0
    while at < len(names):
        width = draw(st.integers(1, min(2, len(names) - at)))
        inside = sizes[at : at + width]
        size = inside[0] * (inside[1] if width == 2 else 1)
        flip = all(s == 2 for s in inside)
        channel = draw(
            channels(size, flip=flip).filter(lambda c, s=size: not c.refusal(s))
        )
        groups.append(pv.Group(names[at : at + width], channel))
        at += width
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        return pv.Design(questions, groups)
