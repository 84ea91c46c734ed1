"""Views published with their duplicates: rows of all views matched at random.

Each view lists every row of the table once, so a world matches the rows of one view to
those of the next wherever they agree, and all matchings count the same. Rows that the
same others agree with are counted together; what is left is dealt view tuple by view
tuple, with how many rows each still has to give.
Wang, Lakshmanan 2006, have views without duplicates only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import comb, factorial, prod

from privet.views.counting.elimination import Budget
from privet.views.counting.inclusion_exclusion import EACH, find_alike

MOST_STATES = 50_000
"""Ways in which rows are left, at any time."""

Needs = tuple[int, ...]
"""The view tuples of a join tuple, one of each view, the views in order."""


def count_matchings(
    joined: Sequence[Needs], rows: Mapping[int, int], budget: Budget | None = None
) -> int | None:
    """Ways to match all rows of all views; None where there are too many to count.

    Two people and two values in one key, each in one row:

    >>> key = [(0, 2), (0, 3), (1, 2), (1, 3)]
    >>> rows = dict.fromkeys(range(4), 1)
    >>> count_matchings(key, rows), count_matchings(key[1:], rows)
    (2, 1)
    """
    budget = budget or Budget()
    if not budget.affords(EACH * len(joined)):
        return None
    if rows.keys() - {t for needed in joined for t in needed}:
        return 0
    cells, left = _merge_alike(joined, rows)
    dealt = _deal(_order_cells(cells), left, budget)
    if dealt is None:
        return None
    # Dealt by the first view; rows of the others may change places among themselves.
    first = {needed[0] for needed in cells}
    return dealt * prod(factorial(n) for t, n in left.items() if t not in first)


def _merge_alike(
    joined: Sequence[Needs], rows: Mapping[int, int]
) -> tuple[list[Needs], dict[int, int]]:
    """View tuples that may be exchanged as one, with the rows of all of them."""
    alike = find_alike(Counter(frozenset(needed) for needed in joined), rows)
    left: dict[int, int] = defaultdict(int)
    for t, n in rows.items():
        left[alike.of[t]] += n
    return sorted({tuple(alike.of[t] for t in needed) for needed in joined}), left


def _order_cells(cells: Sequence[Needs]) -> list[Needs]:
    """Join tuples in an order in which few view tuples are open at a time."""
    of: dict[int, set[Needs]] = defaultdict(set)
    for needed in cells:
        for t in needed:
            of[t].add(needed)
    open_: set[int] = set()
    order: list[Needs] = []
    while of:
        # Next comes what opens the fewest new ones, near what is open.
        near = [t for t in open_ if t in of] or list(of)
        t = min(near, key=lambda t: (len({u for c in of[t] for u in c} - open_), t))
        for needed in sorted(of[t]):
            order.append(needed)
            open_.update(needed)
            for u in needed:
                if u != t:
                    of[u].discard(needed)
        del of[t]
        for u in [u for u, rest in of.items() if not rest]:
            del of[u]
    return order


def _deal(
    order: Sequence[Needs], rows: Mapping[int, int], budget: Budget
) -> int | None:
    """Sum over how many rows each join tuple gets, of the ways to choose them."""
    last = {t: at for at, needed in enumerate(order) for t in needed}
    # What the open view tuples have left, in the order they came, and in how many ways.
    names: list[int] = []
    states: dict[tuple[int, ...], int] = {(): 1}
    for at, needed in enumerate(order):
        new = [t for t in needed if t not in names]
        names += new
        begun = tuple(rows[t] for t in new)
        places = [names.index(t) for t in needed]
        closing = [p for p, t in zip(places, needed, strict=True) if last[t] == at]
        more: dict[tuple[int, ...], int] = defaultdict(int)
        for state, ways in states.items():
            left = [*state, *begun]
            for n in _list_amounts(left, places, closing):
                then = list(left)
                for p in places:
                    then[p] -= n
                kept = tuple(v for p, v in enumerate(then) if p not in closing)
                more[kept] += ways * comb(left[places[0]], n)
        if len(more) > MOST_STATES or not budget.affords(len(more)):
            return None
        names = [t for p, t in enumerate(names) if p not in closing]
        states = more
    return states.get((), 0)


def _list_amounts(
    left: Sequence[int], places: Sequence[int], closing: Sequence[int]
) -> Sequence[int]:
    """How many rows a join tuple may get: all that are left where it is the last."""
    most = min(left[p] for p in places)
    if not closing:
        return range(most + 1)
    wanted = {left[p] for p in closing}
    amount = wanted.pop()
    return [amount] if not wanted and amount <= most else []
