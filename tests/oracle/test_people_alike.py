"""People who are alike are counted as if everybody were listed one by one.

Every association of random tables, in each model, by both ways: the shares, how many
associations and people each has, the first of them, what other models say of it, and
who is refuted.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import privet as pv
from privet.engine.protocol import Run
from privet.views.sql.one_association import AssociationKind
from privet.views.sql.people_alike import PeopleAlike
from privet.views.sql.some_associations import ListedAssociations, SomeAssociations
from privet.views.sql.view_tuples import ViewPair
from privet.views.two_views import answer

pytestmark = pytest.mark.engines

MODELS = ("restricted", "functional", "bag", "unrestricted")
PAIR = ViewPair(("zip",), "who", "ill")


def draw(seed: int) -> tuple[pa.Table, str | None]:
    """A few people, some of whom moved, with cells missing; and perhaps weights."""
    dice = random.Random(seed)
    rows, people = dice.choice([1, 4, 12, 60]), dice.choice([2, 6, 40])
    keys, values = dice.choice([1, 3, 8]), dice.choice([1, 2, 5])
    stay = dice.random() if dice.random() < 0.7 else 1
    homes: dict[int, int] = {}
    cells: list[tuple[str | None, ...]] = []
    for _ in range(rows):
        i, z = dice.randrange(people), dice.randrange(keys)
        z = homes.setdefault(i, z) if dice.random() < stay else z
        named = (f"p{i}", f"z{z}", f"d{dice.randrange(values)}")
        cells.append(tuple(None if dice.random() < 0.06 else c for c in named))
    columns = zip(*cells, strict=True)
    table = {n: list(c) for n, c in zip(("who", "zip", "ill"), columns, strict=True)}
    weights = [dice.randrange(4) for _ in range(rows)]
    weighted = "w" if dice.random() < 0.4 and any(weights) else None
    made = pa.table(table | ({"w": weights} if weighted else {}))
    return made.cast(_type(made)), weighted


def _type(table: pa.Table) -> pa.Schema:
    """Columns without any value are of texts, too."""
    kinds = [(n, pa.int64() if n == "w" else pa.string()) for n in table.column_names]
    return pa.schema(kinds)


@pytest.mark.parametrize("seed", range(12, 24))
@pytest.mark.parametrize("values", [None, ["d0", None]], ids=["every", "some"])
def test_people_alike_count_as_everybody_listed(
    seed: int, values: list[str | None] | None
) -> None:
    rows, weight = draw(seed)
    with pv.read(rows, identifier="who", sensitive="ill", weight=weight) as table:
        views = pv.Views(table, ["who", "zip"], ["zip", "ill"])
        with views.relate(PAIR, Run()) as relation:
            listed = SomeAssociations(relation, None, values, every_key=True)
            alike = PeopleAlike(relation, values)
            assert listed.count_refuted() == alike.count_refuted()
            assert listed.count_overall() == alike.count_overall()
            for model in MODELS:
                fast = alike.list_for_model(model)
                compare(listed.list_for_model(model), fast, model)


def compare(slow: ListedAssociations, fast: ListedAssociations, model: str) -> None:
    """What is known of everybody listed, and of those who stand for others."""
    one_by_one, together = (_by_share(found, model) for found in (slow, fast))
    assert list(one_by_one) == list(together)
    for share, kinds in together.items():
        others = one_by_one[share]
        assert sum(k.pairs for k in others) == sum(k.pairs for k in kinds)
        numbers = [[k.number for k in some] for some in (others, kinds)]
        assert slow.count_people(numbers[0]) == fast.count_people(numbers[1])
        assert others[0].meetings == kinds[0].meetings
        told, one = slow.find_one(others[0]), fast.find_one(kinds[0])
        assert told.fetch_example() == one.fetch_example()
        for other in MODELS:
            alone = _share(other, told.find_kind(other))
            assert alone == _share(other, one.find_kind(other))
        assert share == _share(model, one.find_kind(model))
    if model != "restricted":  # there kinds are told apart by shares
        assert slow.fetch_kinds() == fast.fetch_kinds()
    for most in (3, 1000):
        assert _list_first(slow, one_by_one, most) == _list_first(fast, together, most)


def _share(model: str, kind: AssociationKind) -> object:
    """What a model answers; the functional one is not asked where people moved."""
    if model == "functional":
        return kind.meetings
    found = answer(model, kind)
    return None if found is None else found.high


def _by_share(
    found: ListedAssociations, model: str
) -> dict[object, list[AssociationKind]]:
    """Kinds by their share."""
    kinds: dict[object, list[AssociationKind]] = {}
    for kind in found.fetch_kinds():
        kinds.setdefault(_share(model, kind), []).append(kind)
    return {share: kinds[share] for share in sorted(kinds, key=str)}


def _list_first(
    found: ListedAssociations,
    kinds: dict[object, list[AssociationKind]],
    most: int,
) -> list[tuple[object, ...]]:
    """The first associations, ranked in an order of their shares that is no order."""
    ranks = {
        kind.number: at % 3 for at, some in enumerate(kinds.values()) for kind in some
    }
    listed = found.fetch_first(ranks, most) if ranks else []
    return [(ranks[one.number], one.person, one.secret, one.held) for one in listed]


def test_three_promises_share_what_is_counted() -> None:
    """Each finding is the same as alone, whichever was judged before."""
    rows, _ = draw(3)
    promises = [
        pv.Promise(pv.Reconstructor(model=model), pv.Ceiling(limit))
        for model in MODELS
        for limit in ("0.4", "0.9")
    ]
    with pv.read(rows, identifier="who", sensitive="ill") as table:
        views = pv.Views(table, ["who", "zip"], ["zip", "ill"])
        together = pv.audit(views, [*promises, *promises[::-1]]).findings
        alone = [pv.audit(views, promise).findings[0] for promise in promises]
        left = table.engine.session.fetch_one("SELECT count(*) FROM duckdb_tables()")
    assert [*alone, *alone[::-1]] == list(together)
    assert not left or left < 10, "tables made for promises are dropped"
