"""What is known by name: equal to listing every world, also beside numbers."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, permutations, product

import pyarrow as pa
import pytest

import privet as pv

pytestmark = pytest.mark.engines

NAMES = ["Ann", "Bob", "Cy", "Di", "Ed", "Flo", "Gus"]
World = dict[str, str]


def people(dice: random.Random) -> list[tuple[str, str, str]]:
    several = dice.randint(3, 6)
    return [(n, dice.choice("pq"), dice.choice("abc")) for n in NAMES[:several]]


def worlds(rows: list[tuple[str, str, str]]) -> list[World]:
    groups = sorted({g for _, g, _ in rows})
    deals = []
    for group in groups:
        names = [n for n, g, _ in rows if g == group]
        cards = [v for _, g, v in rows if g == group]
        every = set(permutations(cards))
        deals.append([dict(zip(names, deal, strict=True)) for deal in sorted(every)])
    return [{k: v for part in d for k, v in part.items()} for d in product(*deals)]


def chosen(given: object, pool: list[str], number: int) -> list[tuple[str, ...]]:
    """The people given, or every set of up to so many."""
    if not isinstance(given, int):
        return [tuple(given)]
    return [c for n in range(number + 1) for c in combinations(pool, n)]


def by_definition(rows: list, insider: pv.Insider, value: str) -> Fraction | None:
    every, best = worlds(rows), None
    values = sorted({v for _, _, v in rows})
    others = [n for n, _, _ in rows if n != insider.victim]
    us = chosen(insider.knows_others, others, 9)
    if isinstance(insider.knows_others, int):
        us = chosen(insider.knows_others, others, insider.knows_others)
    for known in us:
        pool = [n for n in others if n not in known]
        same = chosen(
            insider.same_as,
            pool,
            insider.same_as if isinstance(insider.same_as, int) else 0,
        )
        for vs in same:
            if set(vs) & set(known):
                continue
            choices = (
                [tuple(insider.knows_others.values())]
                if not isinstance(insider.knows_others, int)
                else list(product(values, repeat=len(known)))
            )
            for ys in choices:
                for out in chosen(
                    insider.rules_out,
                    [v for v in values if v != value],
                    insider.rules_out if isinstance(insider.rules_out, int) else 0,
                ):
                    fitting = [
                        w
                        for w in every
                        if all(w[n] == y for n, y in zip(known, ys, strict=True))
                        and w[insider.victim] not in out
                        and (
                            w[insider.victim] == value or all(w[v] != value for v in vs)
                        )
                    ]
                    if fitting:
                        have = sum(w[insider.victim] == value for w in fitting)
                        share = Fraction(have, len(fitting))
                        best = share if best is None else max(best, share)
    return best


def random_insider(dice: random.Random, rows: list) -> pv.Insider:
    names = [n for n, _, _ in rows]
    dice.shuffle(names)
    victim, *rest = names
    ruled: object = dice.choice([0, 1, ["a"], ["b"], []])
    known: object = dice.choice([0, 1, 2, {}])
    same: object = dice.choice([0, 1, 2, []])
    if dice.random() < 0.6 and rest:
        known = {rest.pop(): dice.choice("abc")}
    if dice.random() < 0.6 and rest:
        same = [rest.pop()]
    return pv.Insider(ruled, known, same, victim)


@pytest.mark.parametrize("seed", range(60))
def test_named_and_mixed_knowledge(seed: int) -> None:
    dice = random.Random(seed)
    rows = people(dice)
    present = {v for _, _, v in rows}
    while present != set("abc"):  # a value that never occurs is warned of
        rows = people(dice)
        present = {v for _, _, v in rows}
    insider = random_insider(dice, rows)
    names, groups, values = zip(*rows, strict=True)
    table = pa.table({"name": names, "group": groups, "ill": values})
    with pv.read(table, identifier="name", quasi="group", sensitive="ill") as t:
        for value in sorted(set(values)):
            expected = by_definition(rows, insider, value)
            if expected is None:
                with pytest.raises(pv.InputError, match="fits none"):
                    pv.belief(t, insider, {"ill": value})
                continue
            found = pv.audit(t, pv.Promise(insider, pv.Ceiling(1), {"ill": value}))
            assert expected == found.worst.belief.posterior, (rows, insider, value)
            witness = found.worst.witness
            if witness is not None:
                assert witness.attack.recount() == expected
