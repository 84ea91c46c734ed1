"""Rules are found as their definition says: every set, every value, row by row."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from oracle.by_definition import Row, all_sets
from privet.engine.counting import dense_arrays
from privet.engine.duckdb import engine as duckdb_engine
from privet.microdata.discovery import levelwise_search

CASES = int(os.environ.get("PRIVET_CASES", "40"))
LEVELS = ("1/2", "1/3", "2/3", "3/4", "0.9", "1/10")
KNOWN = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Case:
    """A small table, and what is asked of it."""

    rows: list[Row]
    times: list[int]
    people: list[str | None] | None
    level: Fraction
    columns: int
    support: int

    def read(self) -> pv.Table:
        columns: dict[str, object] = {
            c: pa.array([r[c] for r in self.rows], pa.string()) for c in self.rows[0]
        }
        more: dict[str, str] = {}
        if self.people is not None:
            columns["who"] = pa.array(self.people, pa.string())
            more = {"unit": "who"}
        elif set(self.times) != {1}:
            columns["w"], more = self.times, {"weight": "w"}
        return pv.read(pa.table(columns), quasi=KNOWN, sensitive="s", **more)

    def discover(self, table: pv.Table, **more: object) -> pv.Discovery:
        return pv.discover(
            table,
            confidence=self.level,
            columns=self.columns,
            support=self.support,
            **more,
        )

    # By definition ------------------------------------------------------------------

    def group(self, columns: Sequence[str]) -> dict[tuple, list[int]]:
        """The rows of each group that counts anybody."""
        found: dict[tuple, list[int]] = {}
        for i, row in enumerate(self.rows):
            if self.times[i]:
                found.setdefault(tuple(row[c] for c in columns), []).append(i)
        return found

    def count(self, rows: Sequence[int]) -> int:
        if self.people is not None:
            return len({self.people[i] for i in rows})
        return sum(self.times[i] for i in rows)

    def shares(self, columns: Sequence[str], value: object) -> dict[tuple, tuple]:
        """By group, how many have the value, of how many."""
        return {
            key: (
                self.count([i for i in rows if self.rows[i]["s"] == value]),
                self.count(rows),
            )
            for key, rows in self.group(columns).items()
        }

    def beyond(self, columns: Sequence[str], value: object) -> dict[tuple, tuple]:
        """The groups that make a rule."""
        return {
            key: (part, whole)
            for key, (part, whole) in self.shares(columns, value).items()
            if whole >= self.support and Fraction(part, whole) > self.level
        }

    def rules(self) -> dict[tuple, tuple]:
        """Every minimal rule: its confidence, people, groups, and what an audit says.

        What everybody gives away has the empty set, whatever the support is.
        """
        found = {}
        values = {r["s"] for r, n in zip(self.rows, self.times, strict=True) if n}
        for value in values:
            [(part, whole)] = self.shares((), value).values()
            if Fraction(part, whole) > self.level:
                continue
            for columns in all_sets(KNOWN, self.columns):
                smaller = [
                    s for k in range(len(columns)) for s in combinations(columns, k)
                ]
                groups = self.beyond(columns, value)
                if groups and not any(self.beyond(s, value) for s in smaller):
                    every = self.shares(columns, value).values()
                    found[columns, value] = (
                        max(Fraction(*g) for g in groups.values()),
                        sum(whole for _, whole in groups.values()),
                        len(groups),
                        Fraction(part, whole),
                        max(Fraction(*g) for g in every),
                    )
        return found

    def common(self) -> set[tuple]:
        values = {r["s"] for r, n in zip(self.rows, self.times, strict=True) if n}
        shares = {v: Fraction(*self.shares((), v)[()]) for v in values}
        return {(v, share) for v, share in shares.items() if share > self.level}


def draw(seed: int) -> Case:
    dice = random.Random(seed)
    number = dice.randint(1, dice.choice([6, 14, 30]))
    width = {c: dice.randint(1, 4) for c in KNOWN}
    labels = ["flu", "hiv", "none", None, "*", "missing"]

    def cell(c: str) -> str | None:
        at = dice.randrange(width[c])
        return None if at == 3 else f"{c}{at}"

    several = dice.randint(1, 6)
    rows: list[Row] = [
        {**{c: cell(c) for c in KNOWN}, "s": dice.choice(labels[:several])}
        for _ in range(number)
    ]
    times, people = [1] * number, None
    kind = dice.choice(["rows", "rows", "weights", "people"])
    if kind == "weights":
        times = [dice.randint(0, 4) for _ in rows]
        times[0] = times[0] or 1
    if kind == "people":
        pool = [f"p{i}" for i in range(max(number // 2, 1))]
        people = [dice.choice([*pool, None]) for _ in rows]
    return Case(
        rows,
        times,
        people,
        Fraction(dice.choice(LEVELS)),
        dice.randint(1, 4),
        dice.choice([1, 1, 2, 3, 5]),
    )


@cache
def solve(seed: int) -> tuple[Case, pv.Discovery, pv.Audit | None]:
    """A case, what is found, and what an audit of all rules says."""
    case = draw(seed)
    with case.read() as table:
        found = case.discover(table)
        promises = found.promises()
        audit = pv.audit(table, promises, exposure=False) if promises else None
    return case, found, audit


def summary(found: pv.Discovery) -> dict[tuple, tuple]:
    return {
        (r.columns, r.value): (r.confidence, r.people, r.groups, r.floor, r.audited)
        for r in found.rules
    }


def test_every_minimal_rule_and_no_other() -> None:
    for seed in range(CASES):
        case, found, _ = solve(seed)
        assert case.rules() == summary(found), seed
        assert case.common() == {(v.value, v.share) for v in found.everybody}, seed
        assert found.complete
        assert all(looked == of for looked, of in found.sets.values())


def test_the_witness_is_a_group_that_attains_the_confidence() -> None:
    for seed in range(CASES):
        case, found, _ = solve(seed)
        for rule in found.rules:
            w = rule.witness
            assert rule.columns == tuple(w.knows)
            groups = case.beyond(rule.columns, rule.value)
            assert (w.part, w.whole) == groups[tuple(w.knows.values())]
            most = max(p for p, n in groups.values() if p * w.whole == w.part * n)
            assert most == w.part


def test_people_come_first_then_lift() -> None:
    for seed in range(CASES):
        _, found, _ = solve(seed)
        ranked = [(r.people, r.lift) for r in found.rules]
        assert sorted(ranked, reverse=True) == ranked
        lifts = [r.lift for r in found.rank("lift")]
        assert sorted(lifts, reverse=True) == lifts
        assert found.rank("lift", 2) == found.rank("lift")[:2]


def test_an_audit_of_the_pasted_promises_finds_the_same() -> None:
    """At a support of 1 all figures agree; above it small groups are audited, too."""
    tried = 0
    for seed in range(CASES):
        case, found, audit = solve(seed)
        judged = audit.findings if audit else ()
        for rule, finding in zip(found.rules, judged, strict=False):
            tried += 1
            assert pv.Verdict.BREACH is finding.verdict
            assert rule.audited == finding.belief.posterior
            assert rule.floor == finding.belief.prior
            if case.support == 1:
                assert rule.confidence == rule.audited
                assert rule.witness == finding.witness
                assert rule.people == finding.people_above
                assert rule.groups == finding.groups_above
    assert tried > CASES // 4


def test_pasted_text_gives_the_same_promises() -> None:
    for seed in range(CASES):
        _, found, _ = solve(seed)
        head = '[columns]\nquasi = ["a", "b", "c", "d"]\nsensitive = "s"\n\n'
        named = [p for p in found.promises() if p.about != {"s": None}]
        if named:
            policy = pv.Policy.from_toml(head + found.to_toml())
            assert named == list(policy.promises)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, pv.Stopped])
def test_whatever_stops_it_what_is_found_is_final(stop: type[BaseException]) -> None:
    early = 0
    for seed in range(CASES // 5):
        case, every, _ = solve(seed)
        whole = summary(every)
        with case.read() as table:
            for last in (1, 3, 8):
                events: Counter[str] = Counter()

                def listen(event, last=last, events=events) -> None:
                    events[event.doing] += 1
                    if events[levelwise_search.DOING] >= last:
                        raise stop("enough")

                found = case.discover(table, progress=listen)
                early += not found.complete
                assert summary(found).items() <= whole.items()
                if found.complete:
                    assert whole == summary(found)
                    continue
                # Every set of a size comes before those of the next one.
                sizes = [n for n, (looked, of) in found.sets.items() if looked < of]
                done = {k: v for k, v in whole.items() if len(k[0]) < min(sizes)}
                assert done.items() <= summary(found).items()
                assert "not looked at" in found.explain()
    assert early > CASES // 20


def test_sorted_counts_are_those_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_arrays, "CELLS_PER_ROW", 0)
    monkeypatch.setattr(dense_arrays, "BLOCK", 5)
    for seed in range(CASES // 5):
        case, found, _ = solve(seed)
        with case.read() as table:
            assert found == case.discover(table)


def test_rows_that_are_not_held_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As every engine counts that is no DuckDB, or has no room."""
    monkeypatch.setattr(duckdb_engine, "HELD_BYTES", 2**50)
    for seed in range(CASES // 5):
        case, found, _ = solve(seed)
        with case.read() as table:
            assert found == case.discover(table)


def test_no_more_rules_are_kept_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levelwise_search, "MOST_RULES", 3)
    stopped = 0
    for seed in range(CASES // 5):
        case = draw(seed)
        with case.read() as table:
            found = case.discover(table)
        assert summary(found).items() <= case.rules().items()
        if not found.complete:
            stopped += 1
            assert "rules" == found.ended
            assert 3 <= len(found.rules)
    assert stopped


def test_lists_give_each_of_their_values_away() -> None:
    """Each person of a list has each of its values."""
    rows = [("x", "[a, b]"), ("x", "[a]"), ("y", "[]"), ("y", "[b]"), ("y", None)]
    table = pa.table(
        {
            "k": [k for k, _ in rows],
            "s": pa.array(
                [None if s is None else s.strip("[]").split(", ") for _, s in rows],
                pa.list_(pa.string()),
            ),
        }
    )
    with pv.read(table, quasi="k", sensitive="s") as people:
        found = pv.discover(people, confidence="2/5")
        audit = pv.audit(people, found.promises())
    got = {(r.value, r.confidence, r.people, r.floor) for r in found.rules}
    assert {
        ("a", Fraction(1), 2, Fraction(2, 5)),
        ("b", Fraction(1, 2), 2, Fraction(2, 5)),
    } == got
    assert [r.confidence for r in found.rules] == [
        f.belief.posterior for f in audit.findings[:2]
    ]


def test_bins_and_chosen_rows_are_those_of_an_audit() -> None:
    dice = np.random.default_rng(2)
    table = pa.table(
        {
            "age": dice.integers(0, 90, 300),
            "job": dice.choice(["Cook", "Judge", "Nurse"], 300),
            "year": dice.choice([2023, 2024], 300),
            "ill": dice.choice(["flu", "hiv", "no"], 300, p=[0.3, 0.2, 0.5]),
        }
    )
    with pv.read(
        table,
        quasi=["age", "job"],
        sensitive="ill",
        bins={"age": [18, 65]},
        where={"year": 2024},
    ) as people:
        found = pv.discover(people, confidence="0.3", known=["age", "job"])
        audit = pv.audit(people, found.promises())
    assert found.rules
    assert {"below 18", "18 to below 65", "65 and more"} >= {
        r.witness.knows["age"] for r in found.rules if "age" in r.columns
    }
    for rule, finding in zip(found.rules, audit.findings, strict=False):
        assert rule.confidence == finding.belief.posterior
        assert rule.witness.whole == finding.witness.whole
