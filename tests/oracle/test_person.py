"""One row per person, against a plain loop over dictionaries."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import privet as pv

CASES = int(os.environ.get("PRIVET_CASES", "5"))

RULES = ("first", "last", "least", "most", "commonest", "set", "count")

Row = dict[str, Any]


def first_of(rows: list[Row], order: str, columns: list[str], *, last: bool) -> Row:
    """By definition: no row before it in the order, and then none by those cells."""

    def place(row: Row) -> Any:
        def cell(value: Any) -> Any:
            missing = (value is not None) if last else (value is None)
            return missing, value if value is not None else 0

        def text(value: Any) -> Any:
            missing = (value is not None) if last else (value is None)
            return missing, value if value is not None else ""

        ties = [text(row[c]) if c in ("town", "ill") else cell(row[c]) for c in columns]
        return cell(row[order]), ties

    return max(rows, key=place) if last else min(rows, key=place)


def one_row(rows: list[Row], rules: dict[str, list[str]]) -> Row:
    """What a person's rows become."""
    found: Row = {"id": rows[0]["id"], "sex": rows[0]["sex"]}
    for rule in ("first", "last"):
        columns = sorted(rules[rule], key=list(rows[0]).index)
        chosen = first_of(rows, "visit", columns, last=rule == "last")
        found |= {c: chosen[c] for c in columns}
    for rule in ("least", "most", "commonest", "set", "count"):
        for c in rules[rule]:
            values = [r[c] for r in rows if r[c] is not None]
            if rule == "count":
                found[c] = len(values)
            elif rule == "set":
                found[c] = sorted(set(values))
            elif not values:
                found[c] = None
            elif rule == "commonest":
                often = Counter(values)
                found[c] = min(v for v in values if often[v] == max(often.values()))
            else:
                found[c] = min(values) if rule == "least" else max(values)
    return found


def draw_rows(rng: random.Random) -> list[Row]:
    rows = []
    for person in range(rng.randint(1, 6)):
        sex = rng.choice("mf")
        for _ in range(rng.randint(1, 5)):
            rows.append(
                {
                    "id": f"p{person}",
                    "visit": rng.choice([None, 2, 9, 10, 11]),
                    "sex": sex,
                    "town": rng.choice([None, "Ely", "Bath", "Zürich", "a,b"]),
                    "ill": rng.choice([None, "flu", 'say "x"', "[b]", "NULL"]),
                    "cost": rng.choice([None, -3, 0, 5, 40, 7]),
                    "day": rng.choice([None, date(2020, 1, 5), date(1999, 12, 31)]),
                }
            )
    rng.shuffle(rows)
    if all(r["visit"] is None for r in rows):
        rows[0]["visit"] = 2
    for column in ("cost", "day"):
        if all(r[column] is None for r in rows):
            rows[0][column] = 5 if column == "cost" else date(2020, 1, 5)
    return rows


def draw_rules(rng: random.Random) -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {rule: [] for rule in RULES}
    for column in ("town", "ill"):
        rules[rng.choice(["first", "last", "commonest", "set", "count"])].append(column)
    for column in ("cost", "day"):
        rules[rng.choice(RULES)].append(column)
    return rules


def write_source(rows: list[Row], form: str, folder: Path) -> Any:
    table = pa.Table.from_pylist(
        rows,
        schema=pa.schema(
            [
                ("id", pa.string()),
                ("visit", pa.int64()),
                ("sex", pa.string()),
                ("town", pa.string()),
                ("ill", pa.string()),
                ("cost", pa.int64()),
                ("day", pa.date32()),
            ]
        ),
    )
    if form == "arrow":
        return table
    path = folder / f"rows.{form}"
    if form == "csv":
        pa.csv.write_csv(table, path)
    elif form == "parquet":
        pa.parquet.write_table(table, path)
    else:
        path.write_text("\n".join(json.dumps(r, default=str) for r in rows))
    return str(path)


def read_people(
    table: pv.Table, textual: bool, rules: dict[str, list[str]]
) -> list[Row]:
    """What the engine has, values as they were meant."""
    names = table.schema.names
    found = table.engine.session.ask("SELECT * FROM pv_people").to_pylist()
    return [
        {n: _mean(n, row[f"c{i}"], rules, textual) for i, n in enumerate(names)}
        for row in found
    ]


def _mean(name: str, cell: Any, rules: dict[str, list[str]], textual: bool) -> Any:
    if name == "visit" or cell is None:
        return None
    if name in rules["set"]:
        if isinstance(cell, str):
            cell = json.loads(cell)
        return [_value(name, v) for v in cell]
    if name in rules["count"]:
        return int(cell)
    if isinstance(cell, str) and cell.startswith('"') and textual:
        cell = json.loads(cell)
    return _value(name, cell)


def _value(name: str, cell: Any) -> Any:
    if name == "cost":
        return int(cell)
    if name == "day" and isinstance(cell, str):
        return date.fromisoformat(cell)
    return cell


@pytest.mark.parametrize("form", ["arrow", "parquet", "csv", "jsonl"])
def test_people_are_what_a_loop_makes_of_rows(form: str, tmp_path: Path) -> None:
    rng = random.Random(66)
    for _ in range(CASES):
        rows, rules = draw_rows(rng), draw_rules(rng)
        person = {"by": "id", "order": "visit", **rules}
        source = write_source(rows, form, tmp_path)
        with pv.read(source, person=person, drop="visit") as table:
            by_id: dict[str, list[Row]] = {}
            for row in rows:
                by_id.setdefault(row["id"], []).append(row)
            expected = [one_row(own, rules) for own in by_id.values()]
            for one in expected:
                one["visit"] = None
            found = read_people(table, form == "jsonl", rules)
            key = lambda row: row["id"]  # noqa: E731
            assert sorted(expected, key=key) == sorted(found, key=key)
            made = table.people_made
            assert made is not None
            assert (len(rows), len(by_id)) == (made.rows, made.people)
            assert max(map(len, by_id.values())) == made.most
            assert count_tied(by_id, rules) == made.tied


def count_tied(by_id: dict[str, list[Row]], rules: dict[str, list[str]]) -> int:
    """People of whom several rows are first or last and differ there."""
    tied = 0
    for rows in by_id.values():
        several = False
        for rule in ("first", "last"):
            columns = rules[rule]
            at = [r["visit"] for r in rows if r["visit"] is not None]
            end = (min(at) if rule == "first" else max(at)) if at else None
            cells = {tuple(r[c] for c in columns) for r in rows if r["visit"] == end}
            several |= bool(columns) and len(cells) > 1
        tied += several
    return tied


def test_neither_chance_nor_the_file_decides() -> None:
    """However rows are shuffled, the people are the same."""
    rng = random.Random(1)
    rows = draw_rows(rng) * 2
    rules = {"first": ["town"], "last": ["ill"], "commonest": ["cost"], "set": ["day"]}
    seen = set()
    for _ in range(10):
        rng.shuffle(rows)
        person = {"by": "id", "order": "visit", **rules}
        with pv.read(pa.Table.from_pylist(rows), person=person, drop="visit") as table:
            people = table.engine.session.ask("SELECT * FROM pv_people ORDER BY c0")
            seen.add(str(people.to_pylist()))
    assert 1 == len(seen)


def test_a_release_of_people_is_audited_as_such() -> None:
    """What a linker learns of the people, by the definition on their rows."""
    rng = random.Random(7)
    for _ in range(CASES):
        rows = draw_rows(rng)
        people: dict[str, list[Row]] = {}
        for row in rows:
            people.setdefault(row["id"], []).append(row)
        rules = {r: [] for r in RULES} | {"last": ["town"], "set": ["ill"]}
        made = [one_row(own, rules) for own in people.values()]
        person = {"by": "id", "order": "visit", "last": "town", "set": "ill"}
        table = pv.read(
            pa.Table.from_pylist(rows),
            quasi=["sex", "town"],
            sensitive="ill",
            drop=["visit", "cost", "day"],
            person=person,
        )
        promise = pv.Promise(against=pv.Linker(), about="ill", limit=pv.Ceiling("0.99"))
        groups: dict[Any, list[Row]] = {}
        for one in made:
            groups.setdefault((one["sex"], one["town"]), []).append(one)
        worst = max(
            (
                Fraction(sum(v in o["ill"] for o in own), len(own))
                for own in groups.values()
                for v in {v for o in own for v in o["ill"]}
            ),
            default=Fraction(0),
        )
        with table:
            found = pv.audit(table, [promise]).findings[0]
        assert found.belief is not None
        assert worst == found.belief.posterior
