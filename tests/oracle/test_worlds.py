"""Beliefs about views against all tables that give them, listed one by one."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv
from oracle import tables
from privet.errors import NoAudit

pytestmark = pytest.mark.engines

TWO = (["who", "x"], ["x", "ill"])
WIDE = (["who", "x", "job"], ["x", "ill", "drug"])
CHAIN = (["who", "b"], ["b", "c"], ["c", "ill"])
STAR = (["who", "x"], ["x", "ill"], ["x", "b"])
CYCLE = (["who", "b"], ["b", "c"], ["c", "ill"], ["who", "c"])
LONG = (["who", "b"], ["b", "c"], ["c", "x"], ["x", "ill"])


def opened(rows: list[dict]) -> pv.Table:
    names = list(rows[0])
    arrays = {n: pa.array([r[n] for r in rows], pa.string()) for n in names}
    return pv.read(pa.table(arrays), identifier="who", sensitive="ill")


def some_rows(rng: random.Random, columns: dict[str, str], most: int, missing=0.1):
    """A few rows; each column takes the letters given, or is missing."""
    return [
        {
            c: None if rng.random() < missing else rng.choice(letters)
            for c, letters in columns.items()
        }
        for _ in range(rng.randint(1, most))
    ]


def belief(views, model, i, p, **options):
    about = {"who": i, "ill": p}
    try:
        return pv.belief(views, pv.Reconstructor(model, **options), about).posterior
    except NoAudit:
        return None


def truth_of(rows, views, i, p, model="unrestricted", **options):
    """By definition."""
    return tables.share(rows, views, ("who", i), ("ill", p), model, **options)


def people(rows):
    return sorted({r["who"] for r in rows if r["who"] is not None})


def values(rows):
    return sorted({r["ill"] for r in rows}, key=str)


def small(rows, views, *, full=False, most=11):
    kept = tables.kept(views, {"who", "ill"}, full=full)
    return len(tables.join(rows, kept)) <= most


def cases(number, columns, views, *, most=7, seed=0, full=False):
    """Random tables with few enough worlds."""
    rng = random.Random(f"{seed} {views}")
    found = []
    while len(found) < number:
        rows = some_rows(rng, columns, most)
        if people(rows) and small(rows, views, full=full):
            found.append(rows)
    return found


@pytest.mark.parametrize("rows", cases(3, {"who": "ABC", "x": "uv", "ill": "fgh"}, TWO))
def test_two_views_each_association_in_each_model(rows):
    views = pv.Views(opened(rows), *TWO)
    for i in people(rows):
        for p in values(rows):
            for model in ("unrestricted", "restricted"):
                truth = truth_of(rows, TWO, i, p, model)
                assert truth == belief(views, model, i, p), (i, p, model)
            truth = tables.dealt(rows, ["x"], ("who", i), ("ill", p))
            assert truth == belief(views, "bag", i, p), (i, p)


@pytest.mark.parametrize(
    "rows", cases(5, {"who": "ABCD", "x": "uv", "ill": "fgh"}, TWO)
)
def test_everybody_has_one_value(rows):
    """Also people in several keys, and keys with too few people anywhere."""
    views = pv.Views(opened(rows), *TWO)
    for i in people(rows):
        for p in values(rows):
            truth = tables.share(rows, TWO, ("who", i), ("ill", p), "functional")
            assert truth == belief(views, "functional", i, p)


@pytest.mark.parametrize(
    "rows", cases(5, {"who": "ABCD", "x": "uv", "ill": "fg"}, TWO, most=8, seed=3)
)
@pytest.mark.parametrize("limit", ["1/2", "0.72", "9/10"])
def test_every_association_at_once(rows, limit):
    shares = {
        (i, p): tables.share(rows, TWO, ("who", i), ("ill", p))
        for i in people(rows)
        for p in values(rows)
        if p is not None
    }
    views = pv.Views(opened(rows), *TWO)
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling(limit))
    found = pv.audit(views, promise).findings[0]
    worst = max(shares.values(), default=Fraction(0))
    assert worst == found.belief.posterior
    above = {i for (i, _), s in shares.items() if s > Fraction(limit)}
    assert len(above) == found.people_above
    if found.witness is not None:
        named = found.witness.knows["who"], found.witness.value
        assert worst == shares[named]
        restricted = tables.share(
            rows, TWO, ("who", named[0]), ("ill", named[1]), "restricted"
        )
        assert restricted == found.witness.shares["restricted"]
        dealt = tables.dealt(rows, ["x"], ("who", named[0]), ("ill", named[1]))
        assert dealt == found.witness.shares["bag"]
        assert worst == found.witness.shares["unrestricted"]


@pytest.mark.parametrize(
    "rows", cases(4, {"who": "ABC", "x": "uv", "ill": "fg"}, TWO, most=8, seed=4)
)
@pytest.mark.parametrize("model", ["restricted", "unrestricted", "bag"])
def test_wildcards_are_audited_one_by_one(rows, model):
    views = pv.Views(opened(rows), *TWO)
    p = (
        next(v for v in values(rows) if v is not None)
        if values(rows) != [None]
        else None
    )
    if p is None:
        return
    shares = {
        i: tables.dealt(rows, ["x"], ("who", i), ("ill", p))
        if model == "bag"
        else tables.share(rows, TWO, ("who", i), ("ill", p), model)
        for i in people(rows)
    }
    promise = pv.Promise(
        pv.Reconstructor(model), pv.Ceiling("3/5"), {"who": "*", "ill": p}
    )
    found = pv.audit(views, promise).findings[0]
    known = [s for s in shares.values() if s is not None]
    if not known:
        assert pv.Verdict.UNDECIDED is found.verdict
        return
    assert max(known) == (found.belief.posterior if found.belief else None)
    assert sum(s > Fraction(3, 5) for s in known) == found.people_above


@pytest.mark.parametrize(
    "rows",
    cases(
        3,
        {"who": "AB", "job": "mn", "x": "uv", "ill": "fg", "drug": "rs"},
        WIDE,
        most=6,
        seed=5,
        full=True,
    ),
)
def test_worlds_of_whole_tuples(rows):
    views = pv.Views(opened(rows), *WIDE)
    for i in people(rows):
        for p in values(rows):
            for model in ("unrestricted", "restricted"):
                truth = truth_of(rows, WIDE, i, p, model, full=True)
                assert truth == belief(views, model, i, p, worlds="full"), (i, p, model)
                truth = truth_of(rows, WIDE, i, p, model)
                assert truth == belief(views, model, i, p)


QUERIES = {
    "ill = 'f'": lambda r: r["ill"] == "f",
    "x = 'u' or x is null": lambda r: r["x"] in ("u", None),
    "not (x in ('v')) and who <> 'A'": lambda r: r["x"] == "u" and r["who"] != "A",
    "who < 'C' and ill like 'g%'": lambda r: r["who"] < "C" and r["ill"] == "g",
    "x between 'a' and 'u'": lambda r: r["x"] == "u",
    "x <> ill": lambda r: r["x"] is not None and r["ill"] is not None,
}


@pytest.mark.parametrize("condition", ["= null", "like null", "not like null"])
def test_what_no_value_can_pass_is_refused(condition):
    """It would make any promise look kept."""
    views = pv.Views(opened([{"who": "A", "x": "u", "ill": "f"}]), *TWO)
    about = f"select who, ill from T where x {condition}"
    with pytest.raises(pv.InputError, match="by IS NULL"):
        pv.audit(views, pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"), about))


@pytest.mark.filterwarnings("ignore:Value:privet.errors.PrivacyWarning")
@pytest.mark.parametrize(
    "rows", cases(5, {"who": "ABC", "x": "uv", "ill": "fg"}, TWO, most=8, seed=6)
)
@pytest.mark.parametrize("where", QUERIES)
def test_secret_queries(rows, where):
    def holds(row):
        return row["ill"] is not None and QUERIES[where](row)

    shares = [
        tables.share(rows, TWO, ("who", i), ("ill", p), where=holds)
        for i in people(rows)
        for p in values(rows)
        if p is not None
    ]
    views = pv.Views(opened(rows), *TWO)
    about = f"select who, ill from T where {where}"
    with warnings.catch_warnings():
        found = pv.belief(views, pv.Reconstructor(), about).posterior
    assert max(shares, default=Fraction(0)) == found


CROSSED = {
    "job = drug": lambda r: r["job"] == r["drug"] and r["job"] is not None,
    "job = 'm' and drug = 'r'": lambda r: r["job"] == "m" and r["drug"] == "r",
}


@pytest.mark.parametrize(
    "rows",
    cases(
        3,
        {"who": "AB", "job": "mr", "x": "u", "ill": "fg", "drug": "rm"},
        WIDE,
        most=6,
        seed=7,
        full=True,
    ),
)
@pytest.mark.parametrize("where", CROSSED)
def test_conditions_over_both_views(rows, where):
    shares = [
        tables.share(
            rows, WIDE, ("who", i), ("ill", p), full=True, where=CROSSED[where]
        )
        for i in people(rows)
        for p in values(rows)
        if p is not None
    ]
    views = pv.Views(opened(rows), *WIDE)
    about = f"SELECT who, ill FROM t WHERE {where}"
    found = pv.belief(views, pv.Reconstructor(worlds="full"), about)
    assert max(shares, default=Fraction(0)) == found.posterior


# More views -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    cases(4, {"who": "ABC", "b": "uv", "c": "xy", "ill": "fgh"}, CHAIN, seed=8),
)
def test_chains_of_three_views(rows):
    views = pv.Views(opened(rows), *CHAIN)
    for i in people(rows):
        for p in values(rows):
            for model in ("unrestricted", "restricted"):
                found = belief(views, model, i, p)
                truth = truth_of(rows, CHAIN, i, p, model)
                assert truth == found, (i, p, model)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "rows",
    cases(3, {"who": "AB", "x": "uv", "b": "kl", "ill": "fg"}, STAR, seed=9, full=True),
)
def test_several_views_on_one_key(rows, full):
    views = pv.Views(opened(rows), *STAR)
    worlds = "full" if full else "projected"
    for i in people(rows):
        for p in values(rows):
            truth = tables.share(rows, STAR, ("who", i), ("ill", p), full=full)
            assert truth == belief(views, "unrestricted", i, p, worlds=worlds)


@pytest.mark.parametrize("shape", [CYCLE, LONG])
def test_other_view_sets_are_listed_where_they_are_small(shape):
    columns = {"who": "ABC", "b": "uv", "c": "xy", "x": "kl", "ill": "fg"}
    for rows in cases(6, columns, shape, seed=10):
        views = pv.Views(opened(rows), *shape)
        for i in people(rows):
            for p in values(rows):
                truth = tables.share(rows, shape, ("who", i), ("ill", p))
                assert truth == belief(views, "unrestricted", i, p), (i, p)


def test_bounds_enclose_the_truth():
    from privet.views.counting import general_join

    rng = random.Random(11)
    for _ in range(25):
        rows = some_rows(rng, {"who": "ABC", "b": "uv", "c": "xy", "ill": "fgh"}, 7, 0)
        seen = [
            [dict(zip(v, t, strict=True)) for t in sorted(tables.project(rows, v))]
            for v in CHAIN
        ]
        joined = general_join.join_views(seen)
        near = general_join.split_join(joined, "who", "ill").near
        for part in (j for js in near.values() for j in js if j.small):
            for i, p in part.supports:
                exact, bounds = part.share(i, p), part.bound_share(i, p)
                assert bounds.low <= exact.low <= bounds.high


def test_no_share_is_below_a_half():
    rng = random.Random(12)
    for _ in range(30):
        rows = some_rows(rng, {"who": "ABC", "b": "uv", "c": "xy", "ill": "fg"}, 6, 0)
        if not small(rows, CHAIN):
            continue
        for i in people(rows):
            for p in values(rows):
                found = tables.share(rows, CHAIN, ("who", i), ("ill", p))
                assert found == 0 or found >= Fraction(1, 2)
