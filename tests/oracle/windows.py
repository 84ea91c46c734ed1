"""A number within a window, by definition: every window, every piece of knowledge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Histogram = dict[str | None, int]
"""How many people have each text; None: missing."""
Window = Callable[[Fraction], bool]


def list_windows(texts: Iterable[str | None], within: str) -> Iterator[Window]:
    """Every window that starts at a number; as a policy writes the width."""
    numbers = {Fraction(t) for t in texts if t is not None}
    for x in numbers:
        if not within.endswith("%"):
            yield _between(x, x + Fraction(within))
        elif x == 0:
            yield _between(x, x)
        else:
            far = x * (1 + Fraction(within[:-1].strip()) / 100)
            yield _between(min(x, far), max(x, far))


def _between(low: Fraction, high: Fraction) -> Window:
    return lambda y: low <= y <= high


def lies(window: Window, text: str | None) -> bool:
    """Whether a cell is a number in the window."""
    return text is not None and window(Fraction(text))


def belief(
    groups: Sequence[Histogram], within: str, l: int = 0, k: int = 0
) -> Fraction:
    """The surest belief of a victim: up to l values ruled out, up to k others known."""
    texts = {t for g in groups for t in g}
    windows = list(list_windows(texts, within))
    worst = Fraction(0)
    for group in groups:
        for left in _know_others(group, k):
            for ruled in _rule_out(group, l):
                may = {t: n for t, n in left.items() if n and t not in ruled}
                whole = sum(may.values())
                for window in windows if whole else ():
                    inside = sum(n for t, n in may.items() if lies(window, t))
                    worst = max(worst, Fraction(inside, whole))
    return worst


def _rule_out(group: Histogram, l: int) -> Iterator[tuple[str | None, ...]]:
    """Up to l values that the victim does not have."""
    for several in range(min(l, len(group)) + 1):
        yield from combinations(sorted(group, key=str), several)


def _know_others(group: Histogram, k: int) -> Iterator[Counter[str | None]]:
    """What is left of a group once up to k people's values are known."""
    people = [t for t, n in group.items() for _ in range(n)]
    for several in range(min(k, len(people) - 1) + 1):
        for known in set(combinations(sorted(people, key=str), several)):
            left = Counter(people)
            left.subtract(known)
            yield left


def share(rows: Sequence[tuple[object, ...]], within: str) -> Fraction:
    """The surest belief of a linker: rows end with the number, the rest is known."""
    groups: dict[tuple[object, ...], Histogram] = {}
    for *known, text in rows:
        own = groups.setdefault(tuple(known), {})
        own[text] = own.get(text, 0) + 1  # type: ignore[index]
    return belief(list(groups.values()), within)
