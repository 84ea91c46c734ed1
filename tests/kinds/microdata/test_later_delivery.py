"""A later delivery: hide more, or hold newcomers back, until whoever subtracts the
files stays within the limit."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv
from privet.findings import Verdict
from privet.microdata.joint_counts import ask_promises
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.microdata.suppression.later_delivery import (
    TwoDeliveries,
    hide_more,
    hold_rows_back,
)

CASES = int(os.environ.get("PRIVET_CASES", "18"))

Row = tuple[str, str, str, str]


def make_table(rows: Sequence[Row]) -> pv.Table:
    names = ("id", "job", "city", "ill")
    columns = {c: [row[i] for row in rows] for i, c in enumerate(names)}
    return pv.read(
        pa.table(columns), identifier="id", quasi=["job", "city"], sensitive="ill"
    )


def promise(limit: str = "1/2", *known: str) -> pv.Promise:
    linker = pv.Linker(knows=list(known) or ["job", "city"])
    return pv.Promise(linker, pv.Ceiling(limit), {"ill": "hiv"}, "nobody learns hiv")


def people(*rows: str) -> list[Row]:
    """Rows such as "Spy UK hiv", each somebody else's."""
    found = []
    for i, row in enumerate(rows):
        job, city, ill = row.split()
        found.append((f"{i}", job, city, ill))
    return found


STAYED = ["Spy UK ok", "Spy UK ok", "Spy UK hiv", "Cook US ok", "Cook US ok"]


def test_the_recipe_again_shows_a_single_newcomer() -> None:
    """Each delivery is safe alone; their difference is ('Spy', 'UK', 'hiv')."""
    first, second = people(*STAYED), people(*STAYED, "Spy UK hiv")
    both = TwoDeliveries.count(make_table(first), make_table(second), Recipe())
    for rows in (first, second):
        assert pv.audit(make_table(rows), promise()).safe
    (found,) = both.judge(ask_promises([promise()], both.table))
    assert (Verdict.BREACH, Fraction(1)) == (found.verdict, found.files)
    assert found.witness is not None
    assert {"job": "Spy", "city": "UK"} == found.witness.knows
    with pytest.raises(pv.Infeasible, match="One new person is seen by whoever") as no:
        hide_more(both, [promise()])
    assert "at least 2 people" in no.value.advice[0]


def test_more_is_hidden_until_the_difference_holds() -> None:
    """Two came, each alone in a group: with job and city hidden they are two of two."""
    first = people(*STAYED)
    second = people(*STAYED, "Spy UK hiv", "Cook US ok")
    both = TwoDeliveries.count(make_table(first), make_table(second), Recipe())
    recipe, refined, audit = hide_more(both, [promise()])
    assert audit.safe
    assert audit.findings[0].belief is not None
    assert Fraction(1, 2) == audit.findings[0].belief.posterior
    assert "finished" == refined.ended
    hidden = {c: how for c, how in recipe.columns.items() if isinstance(how, Hide)}
    assert {"job", "city"} == set(hidden)
    assert all(
        {"Spy", "Cook"} & set(h.hidden) or {"UK", "US"} & set(h.hidden)
        for h in hidden.values()
    )


def test_what_the_old_recipe_hides_stays_hidden() -> None:
    old = Recipe({"job": Hide(("Spy", "Cook"), ("Clerk",)), "city": Cut(("1",))})
    rows = ["Spy 1 ok", "Cook 2 ok", "Clerk 1 ok", "Clerk 2 hiv", "Clerk 2 ok"]
    first = people(*rows)
    second = people(*rows, "Judge 3 ok", "Clerk 1 ok", "Clerk 3 ok")
    both = TwoDeliveries.count(make_table(first), make_table(second), old)
    recipe, _, audit = hide_more(both, [promise()])
    assert audit.safe
    job, city = recipe.columns["job"], recipe.columns["city"]
    assert isinstance(job, Hide)
    assert isinstance(city, Cut)
    assert {"Spy", "Cook", "Judge"} <= set(job.hidden)
    assert set(city.after) <= {"1"}


def draw_rows(draw: random.Random, many: int, start: int) -> list[Row]:
    return [
        (
            f"{start + i}",
            draw.choice("pqr"),
            draw.choice("xy"),
            draw.choice(["hiv", "ok", "ok"]),
        )
        for i in range(many)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_modes_end_safe_or_say_why_not(seed: int) -> None:
    draw = random.Random(seed)
    ended: Counter[str] = Counter()
    for _ in range(CASES // 3):
        stayed, left = (
            draw_rows(draw, 8, 0),
            draw_rows(draw, draw.choice([0, 0, 2]), 50),
        )
        came = draw_rows(draw, draw.randint(1, 6), 100)
        before, now = make_table(stayed + left), make_table(stayed + came)
        both = TwoDeliveries.count(before, now, Recipe())
        stated = [promise("2/3"), promise("3/4", "job")]
        questions = ask_promises(stated, now)
        try:
            recipe, _, audit = hide_more(both, stated)
        except pv.Infeasible:
            ended["cannot"] += 1
        else:
            ended["safe" if audit.safe else "open"] += 1
            again = both.judge(questions, recipe)
            assert audit.safe == all(r.verdict is Verdict.SAFE for r in again)
        try:
            held = hold_rows_back(both, stated)
        except pv.Infeasible:
            ended["held cannot"] += 1
            continue
        ended["held"] += 1
        assert held.audit.safe
        assert {row[3] for row in came} or not held.people
        assert len(now) - held.people == sum(held.deliveries.second.rows.values())
        with held.as_table() as less:
            kept = TwoDeliveries.count(before, less, Recipe())
            assert all(r.verdict is Verdict.SAFE for r in kept.judge(questions))
    assert {"safe", "held"} <= set(ended)


def test_a_single_newcomer_waits() -> None:
    first, second = people(*STAYED), people(*STAYED, "Spy UK hiv")
    both = TwoDeliveries.count(make_table(first), make_table(second), Recipe())
    held = hold_rows_back(both, [promise()])
    assert (1, {("Spy", "UK", "hiv", "5"): 1}) == (held.people, dict(held.rows))
    with held.as_table() as table:
        assert 5 == len(table)


def test_those_who_left_cannot_be_held_back() -> None:
    first, second = people(*STAYED, "Spy UK hiv"), people(*STAYED)
    both = TwoDeliveries.count(make_table(first), make_table(second), Recipe())
    with pytest.raises(pv.Infeasible, match="cannot be kept by holding new rows back"):
        hold_rows_back(both, [promise()])


def test_a_changed_row_left_and_came() -> None:
    first = people(*STAYED, "Cook US ok")
    second = [*first[:-1], ("5", "Cook", "US", "hiv")]
    both = TwoDeliveries.count(make_table(first), make_table(second), Recipe())
    assert 1 == both.newcomers
    (found,) = both.judge(ask_promises([promise()], both.table))
    assert (Verdict.BREACH, Fraction(1)) == (found.verdict, found.files)


def test_publish_hides_more_since_an_earlier_delivery() -> None:
    first = make_table(people(*STAYED))
    second = make_table(people(*STAYED, "Spy UK hiv", "Cook US ok"))
    release = pv.publish(second, promise(), recipe=Recipe(), since=first)
    assert release.safe
    assert release.together is not None
    assert release.together.safe
    assert {"job", "city"} == set(release.hidden or {})


def test_publish_holds_new_rows_back() -> None:
    first = make_table(people(*STAYED))
    second = make_table(people(*STAYED, "Spy UK hiv", "Cook US ok"))
    release = pv.publish(
        second, promise(), recipe=Recipe(), since=first, hold_back=True
    )
    assert release.safe
    assert 6 == len(release.table)
    assert {} == release.hidden
    assert (1, 2) == release.held_back


def test_an_insider_leaves_deliveries_open() -> None:
    first = make_table(people(*STAYED))
    second = make_table(people(*STAYED, "Spy UK hiv", "Cook US ok"))
    insider = pv.Promise(pv.Insider(), pv.Ceiling("9/10"), {"ill": "hiv"})
    release = pv.publish(second, [promise(), insider], recipe=Recipe(), since=first)
    assert release.audit.safe
    assert not release.safe


def test_since_needs_a_recipe() -> None:
    table = make_table(people(*STAYED))
    with pytest.raises(pv.InputError, match="since must come with the recipe"):
        pv.publish(table, promise(), since=table)
    with pytest.raises(pv.InputError, match="hold_back must come with since"):
        pv.publish(table, promise(), recipe=Recipe(), hold_back=True)
