"""Through the front door: exposure equals the definition, and SAFE covers everybody.

For random tables, roles and promises: the figures are counted again person by person;
and wherever an audit is SAFE, nobody who has all known columns is surer of a value that
matters than the largest limit the policy sets for it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest

import privet as pv

CASES = int(os.environ.get("PRIVET_CASES", "24"))

Row = dict[str, str | None]


def draw_rows(draw: random.Random) -> list[Row]:
    values = {"a": "12", "b": "xy", "o": "pq", "t": "GB", "s": ["flu", "hiv", None]}
    return [
        {c: draw.choice(list(v)) for c, v in values.items()}
        for _ in range(draw.randint(2, 9))
    ]


def draw_roles(draw: random.Random) -> pv.Roles:
    other = ["o"] if draw.random() < 0.5 else []
    return pv.Roles(
        quasi=["a", "b"],
        sensitive=["s"],
        other=other,
        drop=[] if other else ["o"],
        target="t" if draw.random() < 0.5 else None,
    )


def draw_promise(draw: random.Random, roles: pv.Roles) -> pv.Promise:
    known = roles.list_known("s")
    adversary = draw.choice(
        [
            pv.Linker(),
            pv.Linker(knows=known),
            pv.Linker(knows=draw.sample(known, draw.randint(0, len(known)))),
            pv.Linker(knows_any=draw.randint(1, 3)),
            pv.Insider(rules_out=draw.randint(0, 1)),
        ]
    )
    level = Fraction(draw.randint(1, 6), 6)
    limit = pv.Ceiling(below=level) if draw.random() < 0.3 else pv.Ceiling(level)
    about = draw.choice(["s", {"s": "hiv"}, {"s": ["hiv", "flu"]}])
    return pv.Promise(adversary, limit, about)


def share(rows: list[Row], row: Row, known: tuple[str, ...], value: object) -> Fraction:
    alike = [r for r in rows if all(r[c] == row[c] for c in known)]
    return Fraction(sum(r["s"] == value for r in alike), len(alike))


def is_beyond(belief: Fraction, limit: pv.Ceiling) -> bool:
    return belief >= limit.level if limit.strict else belief > limit.level


def list_values(promise: pv.Promise, rows: list[Row]) -> list[object]:
    if isinstance(promise.about, dict):
        given = promise.about["s"]
        return list(given) if isinstance(given, tuple) else [given]
    return list({r["s"] for r in rows})


def draw_cases() -> Iterator[tuple[list[Row], pv.Roles, list[pv.Promise]]]:
    draw = random.Random(16)
    for _ in range(CASES):
        roles = draw_roles(draw)
        promises = [draw_promise(draw, roles) for _ in range(draw.randint(1, 2))]
        yield draw_rows(draw), roles, promises


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
def test_figures_equal_the_definition_and_safe_covers_everybody() -> None:
    safe = uncovered = 0
    for rows, roles, promises in draw_cases():
        columns = {c: pa.array([r[c] for r in rows], pa.string()) for c in rows[0]}
        table = pv.read(pa.table(columns)).with_roles(roles)
        found = pv.audit(table, promises)
        (told,) = found.exposure.columns
        known = roles.list_known("s")
        assert set(known) == set(told.known)
        check_figures(rows, known, told, promises)
        safe += found.safe
        uncovered += found.verdict is pv.Verdict.NOT_COVERED
        if found.safe:
            check_covered(rows, known, promises)
    assert safe
    assert uncovered


def check_figures(
    rows: list[Row], known: tuple[str, ...], told: object, promises: list[pv.Promise]
) -> None:
    values = {r["s"] for r in rows if r["s"] is not None}

    def is_certain(row: Row, columns: tuple[str, ...]) -> bool:
        return any(share(rows, row, columns, v) == 1 for v in values)

    alike = [[r for r in rows if all(r[c] == p[c] for c in known)] for p in rows]
    assert sum(len(a) == 1 for a in alike) == told.unique
    assert sum(is_certain(r, known) for r in rows) == told.certain
    limits = dict.fromkeys((p.limit, tuple(list_values(p, rows))) for p in promises)
    stated = {(b.limit, b.about): b for b in told.beyond}
    for promise in promises:
        about = promise.about
        named = None if about == "s" else tuple(list_values(promise, rows))
        beyond = [
            any(
                is_beyond(share(rows, r, known, v), promise.limit)
                for v in list_values(promise, rows)
            )
            for r in rows
        ]
        assert sum(beyond) == stated[promise.limit, named].people
    assert limits
    for few in told.few:
        sets = [
            s for n in range(few.columns + 1) for s in combinations(known, n) if n < 4
        ]
        assert sum(any(is_certain(r, s) for s in sets) for r in rows) == few.certain


def check_covered(
    rows: list[Row], known: tuple[str, ...], promises: list[pv.Promise]
) -> None:
    """Some promise's limit below certainty holds for each value that matters."""
    matter = {v for p in promises for v in list_values(p, rows)}
    for value in matter:
        limits = [p.limit for p in promises if value in list_values(p, rows)]
        beliefs = [share(rows, r, known, value) for r in rows]
        assert any(
            not any(is_beyond(b, limit) for b in beliefs)
            for limit in limits
            if limit.level < 1 or limit.strict
        )


# Lists ------------------------------------------------------------------------------


def draw_lists(draw: random.Random) -> list[dict[str, object]]:
    return [
        {
            "a": draw.choice("12"),
            "b": draw.choice("xy"),
            "s": draw.choice(
                [None, *(draw.sample(["flu", "hiv", "tbc"], n) for n in range(4))]
            ),
        }
        for _ in range(draw.randint(2, 9))
    ]


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
def test_of_lists_people_are_counted_and_not_their_values() -> None:
    """Who has several values one is sure of is one person; each by definition."""
    draw = random.Random(19)
    for _ in range(CASES // 3):
        rows = draw_lists(draw)
        level, named = Fraction(draw.randint(1, 5), 6), draw.random() < 0.5
        about = {"s": ["hiv", "flu"]} if named else "s"
        lists = pa.array([r["s"] for r in rows], pa.list_(pa.string()))
        plain = {c: [r[c] for r in rows] for c in "ab"}
        frame = pa.table({**plain, "s": lists})
        table = pv.read(frame, quasi=["a", "b"], sensitive="s")
        found = pv.audit(table, pv.Promise(pv.Linker(), pv.Ceiling(level), about))
        (told,) = found.exposure.columns
        check_lists(rows, level, ["hiv", "flu"] if named else list(VALUES), told)


VALUES = ("flu", "hiv", "tbc")


def check_lists(
    rows: list[dict[str, object]], level: Fraction, named: list[str], told: object
) -> None:
    certain = beyond = true = 0
    own = [0] * 21
    for person in rows:
        alike = [r for r in rows if all(r[c] == person[c] for c in "ab")]
        belief = {
            v: Fraction(sum(v in (r["s"] or ()) for r in alike), len(alike))
            for v in VALUES
        }
        certain += any(b == 1 for b in belief.values())
        sure = {v for v in named if belief[v] > level}
        beyond += bool(sure)
        true += bool(sure & set(person["s"] or ()))
        best = max((belief[v] for v in person["s"] or ()), default=Fraction(0))
        own[int(best * 20)] += 1
    assert len(rows) == told.people
    assert certain == told.certain
    assert (beyond, true) == (told.beyond[0].people, told.beyond[0].true)
    assert tuple(own) == told.own


@pytest.mark.parametrize("about", ["s", {"s": {"within": 1}}])
def test_no_more_people_are_right_than_there_are(about: object) -> None:
    """Who has several rows is counted with each value, but is one person."""
    rows = {"who": [1, 1, 1, 2], "a": ["x"] * 4, "s": [10, 11, 12, 30]}
    roles = {"identifier": "who", "unit": "who", "quasi": "a", "sensitive": "s"}
    table = pv.read(pa.table(rows), **roles)
    found = pv.audit(table, pv.Promise(pv.Linker(), pv.Ceiling("0.4"), about))
    (beyond,) = found.exposure.columns[0].beyond
    assert (2, 2) == (beyond.people, beyond.true)
