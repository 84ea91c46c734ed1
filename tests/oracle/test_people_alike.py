"""People who are alike are counted as if everybody were listed one by one.

Every association of random tables, in each model, by both ways: the kinds, how many
associations and people each has, the first of them, and who is refuted.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import privet as pv
from privet.engine.protocol import Run
from privet.views.sql.people_alike import PeopleAlike
from privet.views.sql.some_associations import SomeAssociations
from privet.views.sql.view_tuples import ViewPair

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
def test_people_alike_count_as_everybody_listed(seed: int) -> None:
    rows, weight = draw(seed)
    with pv.read(rows, identifier="who", sensitive="ill", weight=weight) as table:
        views = pv.Views(table, ["who", "zip"], ["zip", "ill"])
        with views.relate(PAIR, Run()) as relation:
            listed = SomeAssociations(relation, None, None, every_key=True)
            alike = PeopleAlike(relation, listed.nodes)
            assert listed.count_refuted() == alike.count_refuted()
            for model in MODELS:
                slow, fast = listed.list_for_model(model), alike.list_for_model(model)
                kinds = slow.fetch_kinds()
                assert kinds == fast.fetch_kinds()
                numbers = [kind.number for kind in kinds]
                for some in (numbers[:1], numbers[1:4], numbers):
                    assert slow.count_people(some) == fast.count_people(some)
                for kind in kinds[:3]:
                    assert slow.fetch_example(kind) == fast.fetch_example(kind)
                ranks = {number: number % 3 for number in numbers}
                for most in (3, 1000):
                    first = slow.fetch_first(ranks, most) if kinds else []
                    assert first == (fast.fetch_first(ranks, most) if kinds else [])


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
