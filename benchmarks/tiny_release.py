"""A release of sixty rows: how many statements, and CPU time beside opening DuckDB.

    python benchmarks/tiny_release.py

From a CSV file to a release that was read back and recounted, by disclosure and by
Mondrian; the least of ten after a first one. The floor opens and closes DuckDB as
often as the release does. The bars: 120 statements, and 12 times the floor.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import privet as pv
from measure import judged, sized

RUNS = sized(10, 1)
STATEMENTS, TIMES_FLOOR = 120, 12
METHODS = {"disclosure": pv.TopDownDisclosure, "mondrian": pv.Mondrian}
PROMISE = pv.Promise(pv.Linker(["job", "city", "sex"]), pv.Ceiling("0.7"))


class Noted:
    """A connection that counts what it is asked."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, asked: list[str]) -> None:
        self._connection, self._asked = connection, asked

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connection, name)
        if name not in ("execute", "sql"):
            return found

        def ask(statement: str, *rest: Any, **more: Any) -> Any:
            self._asked.append(statement)
            return found(statement, *rest, **more)

        return ask


def make(folder: Path) -> str:
    """A small table, the same every time."""
    dice, path = random.Random(1), folder / "people.csv"
    values = ("abc", "xyz", "mf", ("flu", "cold", "hiv"))
    rows = [",".join(dice.choice(v) for v in values) for _ in range(60)]
    path.write_text("\n".join(["job,city,sex,illness", *rows, ""]))
    return str(path)


def release(path: str, method: Callable[[], Any]) -> None:
    place = Path(tempfile.mkdtemp())
    try:
        with pv.read(path, quasi=["job", "city", "sex"], sensitive="illness") as table:
            made = pv.publish(table, pv.Policy([PROMISE]), method=method())
            made.write(place / "out", custody=place / "vault")
    finally:
        shutil.rmtree(place)


def count(work: Callable[[], object]) -> tuple[int, int]:
    """How many statements, and how many databases are opened for them."""
    asked: list[str] = []
    opened, connect = [], duckdb.connect

    def note(*given: Any, **named: Any) -> Any:
        opened.append(given)
        return Noted(connect(*given, **named), asked)

    duckdb.connect = note
    try:
        work()
    finally:
        duckdb.connect = connect
    return len(asked), len(opened)


def least(work: Callable[[], object]) -> float:
    found = []
    for _ in range(RUNS):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> int:
    folder, good = Path(tempfile.mkdtemp()), []
    path = make(folder)
    for name, method in METHODS.items():

        def work(method: Callable[[], Any] = method) -> None:
            release(path, method)

        work()
        statements, opened = count(work)
        ours, floor = least(work), opened * least(lambda: duckdb.connect().close())
        print(
            f"{name}: {statements} statements (bar {STATEMENTS}), {opened} databases, "
            f"{ours:.3f} cpu-s, which open in {floor:.3f}: {ours / floor:.1f} times "
            f"(bar {TIMES_FLOOR})"
        )
        good += [statements <= STATEMENTS, ours <= TIMES_FLOOR * floor]
    shutil.rmtree(folder)
    return judged(all(good))


if __name__ == "__main__":
    sys.exit(main())
