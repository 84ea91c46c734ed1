"""K views together, as somebody has them who joins all releases: never a belief beyond
the limit where privet says SAFE, in every model, with and without conditions.

Worlds are listed by definition, over the columns asked about and over whole tuples.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import factorial, prod

import pytest

import privet as pv
from oracle import tables
from oracle.test_worlds import opened, people, some_rows, values
from privet.engine.protocol import Run
from privet.errors import TooLarge
from privet.findings import Verdict
from privet.values.contingency import Domain
from privet.views.audit import join_views
from privet.views.counting.bag_matchings import count_matchings
from privet.views.counting.general_join import join_views as join_tuples
from privet.views.counting.inclusion_exclusion import (
    count_covers,
    count_functional_covers,
)
from privet.views.many_views import judge_tuples
from privet.views.private_associations import PrivateAssociation
from privet.views.sql.view_tuples import ViewTuples
from privet.views.verdict import combine_worlds, make_undecided

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore:Value:privet.errors.PrivacyWarning"),
]

CASES = int(os.environ.get("PRIVET_CASES", "30"))
COLUMNS = {"who": "ABC", "x": "uv", "b": "kl", "c": "yz", "ill": "fg"}
MODELS = ("unrestricted", "restricted", "functional", "bag")
LIMITS = ("1/3", "1/2", "3/5", "3/4", "9/10", "0.99")
CONDITIONS = {
    "": lambda r: True,
    "x = 'u'": lambda r: r["x"] == "u",
    "ill <> 'f' or x is null": lambda r: r["ill"] not in ("f", None) or r["x"] is None,
    "b = 'k' and not (c = 'z')": lambda r: r["b"] == "k" and r["c"] not in ("z", None),
}
USED = {"": "", "x = 'u'": "x", "ill <> 'f' or x is null": "ill x"}
MOST_JOINED = 10


def some_views(rng):
    """Two to four sets of columns; who and ill stand apart."""
    shape = []
    for k in range(rng.randint(2, 4)):
        view = rng.sample(["x", "b", "c"], rng.randint(0 if k < 2 else 1, 2))
        view += [["who"], ["ill"], [], rng.choice([["who"], ["ill"]])][k]
        shape.append(sorted(view))
    return [v for k, v in enumerate(shape) if v not in shape[:k]]


def connected(shape, asked):
    """The sets of columns that what is asked leads to."""
    reached = set(asked)
    while more := {c for v in shape if reached & set(v) for c in v} - reached:
        reached |= more
    return [v for v in shape if reached & set(v)]


def some_case(rng):
    """Rows, views, a model and a condition with few enough tables to list."""
    while True:
        rows = some_rows(rng, COLUMNS, 5, missing=0.04)
        shape, where = some_views(rng), rng.choice(["", "", *CONDITIONS])
        used = set(USED.get(where, "b c").split())
        if not used <= {c for v in shape for c in v} or not people(rows):
            continue
        asked = {"who", "ill"} | used
        kept = connected(tables.kept(shape, asked, full=False), asked)
        full = tables.kept(shape, asked, full=True)
        if len(tables.join(rows, full)) <= MOST_JOINED:
            return rows, shape, where, kept, full


def list_pairs(rows):
    return [(i, p) for i in people(rows) for p in values(rows) if p is not None]


def list_shares(rows, views, model, holds):
    """Of every association, by definition; None where the model has no table."""
    if model == "bag":
        return list_bag_shares(rows, views, holds)
    worlds = list(tables.worlds(rows, views))
    found = {}
    for i, p in list_pairs(rows):
        mine = [w for w in worlds if tables.fits(w, model, "who", i, "ill")]
        having = sum(
            any(r["who"] == i and r["ill"] == p and holds(r) for r in w) for w in mine
        )
        found[i, p] = Fraction(having, len(mine)) if mine else None
    return found


def list_bag_shares(rows, views, holds):
    """All ways in which so many people may have the rows that all views come from."""
    joined = tables.join(rows, views)
    bags = [Counter(tuple(r[c] for c in v) for r in rows) for v in views]
    whole, having = 0, Counter()
    for world in list_tables(joined, views, bags):
        weight = factorial(len(rows)) // prod(factorial(n) for n in world)
        whole += weight
        held = [r for r, n in zip(joined, world, strict=True) if n]
        for pair in {(r["who"], r["ill"]) for r in held if holds(r)}:
            having[pair] += weight
    return {pair: Fraction(having[pair], whole) for pair in list_pairs(rows)}


def list_tables(joined, views, bags):
    """Every table of whole numbers over the join with these margins."""
    if not joined:
        if not any(n for bag in bags for n in bag.values()):
            yield ()
        return
    first, *rest = joined
    cells = [tuple(first[c] for c in v) for v in views]
    for n in range(min(b[t] for b, t in zip(bags, cells, strict=True)) + 1):
        left = [b - Counter({t: n}) for b, t in zip(bags, cells, strict=True)]
        for more in list_tables(rest, views, left):
            yield (n, *more)


def expected(projected, full, limit):
    if any(s is not None and s > limit for s in projected.values()):
        return Verdict.BREACH
    if any(s is None or s > limit for s in [*projected.values(), *full.values()]):
        return Verdict.UNDECIDED
    return Verdict.SAFE


def judge(rows, shape, where, limits):
    """A finding for each model, from one audit: opening a table is what takes time."""
    about = f"select who, ill from T where {where}" if where else None
    with opened(rows) as table:
        parts = [pv.Views(table, view) for view in shape]
        views = join_views(*parts)
        promises = [
            pv.Promise(pv.Reconstructor(model, worlds="full"), pv.Ceiling(limit), about)
            for model, limit in limits.items()
        ]
        return pv.audit(views, promises).findings


def check(found, shares, limit, case):
    """Nothing beyond the limit where privet says SAFE; the verdict by definition."""
    if found.verdict is Verdict.SAFE:
        assert all(
            s is not None and s <= limit for some in shares for s in some.values()
        ), case
    assert expected(*shares, limit) is found.verdict, case
    for worlds, some in zip(("projected", "full"), shares, strict=True):
        told = found.details.get("worlds", {}).get(worlds, {}).get("share")
        known = [s for s in some.values() if s is not None]
        if told is not None and None not in some.values():
            assert max(known, default=0) == Fraction(told), case


def require_variety(seen, cases):
    """Every model, and every verdict, came up."""
    if cases >= 60:
        assert {m for m, _ in seen} == set(MODELS)
        every = {Verdict.SAFE, Verdict.BREACH, Verdict.UNDECIDED}
        assert {v for _, v in seen} == every


def test_the_views_of_several_releases_together():
    """Through the front door."""
    rng = random.Random("together")
    seen = Counter()
    while seen.total() < CASES:
        rows, shape, where, kept, full = some_case(rng)
        limits = {model: Fraction(rng.choice(LIMITS)) for model in MODELS}
        holds = CONDITIONS[where]
        judged = judge(rows, shape, where, limits)
        for (model, limit), found in zip(limits.items(), judged, strict=True):
            shares = [list_shares(rows, views, model, holds) for views in (kept, full)]
            case = rows, shape, model, where, limit, shares, found
            check(found, shares, limit, case)
            seen[model, found.verdict] += 1
    require_variety(seen, CASES)


# The same without an engine: as many cases as are wanted ------------------------------


def see(rows, columns):
    """The tuples of a view in codes, as the engine gives them."""
    domains = {
        c: Domain(c, sorted({r[c] for r in rows}, key=lambda v: (v is not None, v)))
        for c in columns
    }
    bag = Counter(tuple(domains[c].code(r[c]) for c in columns) for r in rows)
    return ViewTuples(
        tuple(columns), tuple(sorted(bag)), domains, tuple(bag[t] for t in sorted(bag))
    )


def judge_arithmetic(rows, model, limit, holds, views):
    """What `audit` does, on tuples that are at hand."""
    promise = pv.Promise(pv.Reconstructor(model, worlds="full"), pv.Ceiling(limit))
    secret = PrivateAssociation(promise, "who", "ill", None, None, None, promise.limit)
    found = []
    for worlds, shape in zip(("projected", "full"), views, strict=True):
        seen = [see(rows, columns) for columns in shape]
        domains = {c: d for t in seen for c, d in t.domains.items()}

        def test(joined, domains=domains):
            shown = [{c: domains[c][v] for c, v in row.items()} for row in joined]
            return {at for at, row in enumerate(shown) if holds(row)}

        asked = replace(secret, worlds=worlds)
        given = None if holds is CONDITIONS[""] else test
        try:
            found.append(judge_tuples(asked, seen, Run(), str, given))
        except TooLarge as large:
            found.append(make_undecided(asked, str(large)))
    return combine_worlds(secret, *found)


def test_the_arithmetic_of_views_together():
    rng = random.Random("arithmetic")
    seen = Counter()
    for _ in range(CASES):
        rows, shape, where, kept, full = some_case(rng)
        model, limit = rng.choice(MODELS), Fraction(rng.choice(LIMITS))
        holds = CONDITIONS[where]
        shares = [list_shares(rows, views, model, holds) for views in (kept, full)]
        found = judge_arithmetic(rows, model, limit, holds, (kept, full))
        check(found, shares, limit, (rows, shape, model, where, limit, shares, found))
        seen[model, found.verdict] += 1
    require_variety(seen, CASES)


SHAPES = (
    (["who", "b"], ["b", "ill"]),
    (["who", "b"], ["b", "c"], ["c", "ill"]),
    (["who", "b"], ["who", "c"], ["b", "ill"]),
    (["who", "b", "c"], ["c", "ill"], ["b"]),
    (["who"], ["b"], ["ill"]),
    (["who", "b"], ["b", "c"], ["c", "ill"], ["who", "c"]),
    (["who", "b"], ["b", "c"], ["c", "x"], ["x", "ill"]),
)


def by_listing(joined, tuples, functional):
    found = 0
    for bits in product((False, True), repeat=len(joined)):
        world = [j for j, bit in zip(joined, bits, strict=True) if bit]
        if {t for needed, _, _ in world for t in needed} != tuples:
            continue
        having = {(i, p) for _, i, p in world}
        found += not functional or len(having) == len({i for i, _ in having})
    return found


def some_join(rng):
    """A random join, some of whose tuples are not allowed."""
    shape = rng.choice(SHAPES)
    rows = some_rows(rng, COLUMNS, 5, missing=0)
    seen = [
        [dict(zip(v, t, strict=True)) for t in sorted(tables.project(rows, v))]
        for v in shape
    ]
    joined = [
        (frozenset(needed), ord(row["who"]), ord(row["ill"]))
        for row, needed in join_tuples(seen)
    ]
    kept = [j for j in joined if rng.random() < 0.85] if rng.random() < 0.6 else joined
    return kept, {t for needed, _, _ in joined for t in needed}


def test_covers_by_inclusion_and_exclusion():
    rng = random.Random("covers")
    for _ in range(CASES):
        kept, tuples = some_join(rng)
        if len(kept) > MOST_JOINED:
            continue
        truth = by_listing(kept, tuples, functional=False)
        assert truth == count_covers([needed for needed, _, _ in kept], tuples)
        truth = by_listing(kept, tuples, functional=True)
        assert truth == count_functional_covers(kept, tuples)


def test_matchings_of_bags():
    rng = random.Random("bags")
    for _ in range(CASES):
        shape = rng.choice(SHAPES)
        rows = some_rows(rng, COLUMNS, 5, missing=0)
        bags = [Counter(tuple(r[c] for c in v) for r in rows) for v in shape]
        seen = [
            [dict(zip(v, t, strict=True)) for t in sorted(bag)]
            for v, bag in zip(shape, bags, strict=True)
        ]
        joined = join_tuples(seen)
        times = dict(enumerate(bag[t] for bag in bags for t in sorted(bag)))
        whole = count_matchings([needed for _, needed in joined], times)
        truth = list_bag_shares(rows, shape, lambda r: True)
        for (i, p), share in truth.items():
            left = [n for r, n in joined if (r["who"], r["ill"]) != (i, p)]
            assert share == 1 - Fraction(count_matchings(left, times), whole)
