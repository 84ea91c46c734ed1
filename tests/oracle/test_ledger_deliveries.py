"""Deliveries told by digests and public files give what the rows themselves give."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

import privet as pv
from privet.engine.protocol import Run
from privet.microdata.delivered_rows import build_history, count_delivery
from privet.microdata.joint_counts import ask_promises
from privet.microdata.recipe import Hide, Recipe

CASES = int(os.environ.get("PRIVET_CASES", "7"))

PROMISE = pv.Promise(
    against=pv.Linker(), about={"ill": "hiv"}, limit=pv.Ceiling("2/3"), name="p"
)
ROLES = pv.Roles(identifier="name", quasi=("job", "city"), sensitive="ill")

Row = tuple[str, str, str, str]


def read_rows(rows: Sequence[Row]) -> pv.Table:
    columns = zip(*rows, strict=True)
    names = ("name", "job", "city", "ill")
    table = pa.table({n: list(c) for n, c in zip(names, columns, strict=True)})
    return pv.read(table).with_roles(ROLES)


def draw_person(draws: random.Random, name: str) -> Row:
    return (
        name,
        draws.choice("abc"),
        draws.choice("xy"),
        draws.choice(("hiv", "ok", "ok")),
    )


def draw_deliveries(draws: random.Random) -> list[list[Row]]:
    """Two or three deliveries: some people come, some go, some rows change."""
    people = [draw_person(draws, f"n{i}") for i in range(draws.randint(6, 9))]
    found = [people]
    for d in range(draws.randint(1, 2)):
        people = [p for p in people if draws.random() < 0.85] or people[:1]
        people = [
            p if draws.random() < 0.9 else draw_person(draws, p[0]) for p in people
        ]
        new = range(draws.randint(0, 4))
        people = [*people, *(draw_person(draws, f"d{d}{i}") for i in new)]
        found.append(people)
    return found


def draw_recipes(draws: random.Random, number: int) -> list[Recipe]:
    """Each hides as much as the one before, or more."""
    hidden: set[str] = set()
    found = []
    for _ in range(number):
        hidden |= {v for v in "abc" if draws.random() < 0.3}
        some = tuple(sorted(hidden))
        shown = tuple(sorted(set("abc") - hidden))
        found.append(Recipe({"job": Hide(some, shown)} if len(some) > 1 else {}))
    return found


def judge_by_ledger(
    folder: Path, deliveries: Sequence[Sequence[Row]], recipes: Sequence[Recipe]
) -> object:
    """The last one judged by a ledger that knows the others by digests."""
    from privet.microdata.release import Release
    from privet.microdata.several_releases.outline import outline_release
    from privet.release.history import judge_history

    policy = pv.Policy(promises=PROMISE, roles=ROLES, ledger=str(folder))
    pv.Ledger.create(folder)
    history = None
    for number, (rows, recipe) in enumerate(zip(deliveries, recipes, strict=True)):
        table = read_rows(rows)
        with warnings.catch_warnings(action="ignore"):
            audit = pv.audit(table, PROMISE, exposure=False)
        release = Release(table, policy, audit, "recipe", recipe=recipe)
        history = judge_history(outline_release(release), table, policy, Run())
        entry = history.draft_entry(str(number), folder, folder, "")
        assert history.ledger is not None
        history.ledger.enter(entry, history.write_files)
    assert history is not None
    return history


def test_digests_tell_what_rows_tell(tmp_path: Path) -> None:
    draws = random.Random(16)
    judged = 0
    for case in range(CASES):
        deliveries = draw_deliveries(draws)
        recipes = draw_recipes(draws, len(deliveries))
        if any(
            {r[0] for r in a}.isdisjoint({r[0] for r in b})
            for a in deliveries
            for b in deliveries
        ):
            continue
        table = read_rows(deliveries[-1])
        (question,) = ask_promises([PROMISE], table)
        wanted = build_history(
            [
                count_delivery(read_rows(rows), recipe, str(i), Run())
                for i, (rows, recipe) in enumerate(
                    zip(deliveries, recipes, strict=True)
                )
            ]
        ).judge(question, newest_only=True)
        found = judge_by_ledger(tmp_path / str(case), deliveries, recipes)
        (finding,) = found.findings  # type: ignore[attr-defined]
        if len({tuple(sorted(d)) for d in deliveries}) < len(deliveries):
            continue  # the same rows again, which are judged otherwise
        assert wanted.verdict == finding.verdict, (case, wanted, finding)
        if wanted.files is not None:
            assert wanted.files == finding.belief.posterior
            assert str(wanted.matching) == finding.details["matching"]
        judged += 1
    assert 2 * judged >= CASES
