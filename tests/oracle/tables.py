"""Tables behind views by definition: every set of join tuples is tried.

Slow on purpose, and independent of the package: a world is a set of tuples over the
columns that matter whose projections are the views; shares are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb

Row = dict[str, object]


def project(rows: Sequence[Row], columns: Sequence[str]) -> set[tuple[object, ...]]:
    return {tuple(row[c] for c in columns) for row in rows}


def kept(views: Sequence[Sequence[str]], asked: set[str], *, full: bool):
    """Columns of each view that matter: asked for, or shared with another view."""
    left = [set(v) for v in views]
    while not full:
        new = [
            v & (asked | set().union(*(w for j, w in enumerate(left) if j != i)))
            for i, v in enumerate(left)
        ]
        new = [
            v
            for i, v in enumerate(new)
            if not any(v < w for w in new) and v not in new[:i]
        ]
        if new == left:
            break
        left = new
    return [sorted(v) for v in left if v]


def join(rows: Sequence[Row], views: Sequence[Sequence[str]]) -> list[Row]:
    """Every tuple whose projections are all in the views."""
    found: list[Row] = [{}]
    for view in views:
        tuples = [dict(zip(view, t, strict=True)) for t in project(rows, view)]
        found = [
            {**a, **b}
            for a in found
            for b in tuples
            if all(a[c] == b[c] for c in a.keys() & b.keys())
        ]
    return found


def worlds(rows: Sequence[Row], views: Sequence[Sequence[str]]) -> Iterator[list[Row]]:
    """Every set of join tuples that gives the views."""
    joined = join(rows, views)
    wanted = [project(rows, view) for view in views]
    for bits in product((False, True), repeat=len(joined)):
        world = [row for row, bit in zip(joined, bits, strict=True) if bit]
        if [project(world, view) for view in views] == wanted:
            yield world


def share(rows, views, person, secret, model="unrestricted", *, full=False, where=None):
    """The share of worlds that hold (person, secret); None: there is no world.

    `person` and `secret` are (column, value).
    """
    (ic, i), (pc, p) = person, secret
    views = kept(views, {ic, pc}, full=full)
    whole = part = 0
    for world in worlds(rows, views):
        if not fits(world, model, ic, i, pc):
            continue
        whole += 1
        part += any(
            r[ic] == i and r[pc] == p and (where is None or where(r)) for r in world
        )
    return Fraction(part, whole) if whole else None


def fits(world, model, ic, i, pc) -> bool:
    if model == "unrestricted":
        return True
    people = {i} if model == "restricted" else {r[ic] for r in world}
    return all(len({r[pc] for r in world if r[ic] == who}) == 1 for who in people)


def dealt(rows, key, person, secret) -> Fraction:
    """Rows of each key matched at random: all ways to deal the values are tried."""
    (ic, i), (pc, p) = person, secret
    missed = Fraction(1)
    for x in {tuple(r[c] for c in key) for r in rows}:
        inside = [r for r in rows if tuple(r[c] for c in key) == x]
        mine = sum(r[ic] == i for r in inside)
        having = [j for j, r in enumerate(inside) if r[pc] == p]
        ways = list(combinations(range(len(inside)), mine))
        assert len(ways) == comb(len(inside), mine)
        missed *= Fraction(sum(not set(w) & set(having) for w in ways), len(ways))
    return 1 - missed


def covers(m: int, n: int, keep=lambda edges: True) -> int:
    """Edge sets of the complete bipartite graph that leave no node bare."""
    edges = list(product(range(m), range(n)))
    found = 0
    for bits in range(1 << len(edges)):
        chosen = [e for j, e in enumerate(edges) if bits >> j & 1]
        if {a for a, _ in chosen} == set(range(m)) and {b for _, b in chosen} == set(
            range(n)
        ):
            found += keep(chosen)
    return found
