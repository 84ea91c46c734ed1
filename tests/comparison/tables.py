"""Small tables of people and policies for them."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

import privet as pv

CANARY = "CANARY-7f3a"


def make_rows(seed: int, rows: int = 60, *, canary: str = "flu") -> pa.Table:
    """People with an age, a town and a job, an illness and whether they pay."""
    rng = random.Random(seed)
    towns, jobs = ["Ayr", "Bonn", "Cork", None], ["cook", "judge", "smith"]
    people: dict[str, list[Any]] = {
        "name": [f"{CANARY}-{i}" for i in range(rows)],
        "age": [rng.randint(20, 60) for _ in range(rows)],
        "town": [rng.choice(towns) for _ in range(rows)],
        "job": [rng.choice(jobs) for _ in range(rows)],
        "ill": [rng.choice([canary, "asthma", "none", None]) for _ in range(rows)],
        "pays": [rng.choice(["yes", "no"]) for _ in range(rows)],
    }
    return pa.table(people)


def read_rows(seed: int, rows: int = 60, **more: Any) -> pv.Table:
    return pv.read(
        make_rows(seed, rows, **more),
        identifier="name",
        quasi=["age", "town", "job"],
        sensitive="ill",
        other="pays",
        target="pays",
    )


def make_policy(level: object = "3/4", k: int | None = 3) -> pv.Policy:
    promise = pv.Promise(
        pv.Linker(knows=["age", "town", "job", "pays"]),
        pv.Ceiling(level),  # type: ignore[arg-type]
        "ill",
        "nobody is sure",
    )
    measures = [] if k is None else [pv.Measure(k_anonymity=k)]
    return pv.Policy([promise], measures=measures)
