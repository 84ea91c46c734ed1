"""Reading files as they are, beside what their own libraries take for it.

    python benchmarks/reading.py [percent]

A spreadsheet of 100 MB, an SPSS file of 500 MB and a CSV file of 1 GB are read, or so
many percent of that: each by its own library alone (python-calamine and pyreadstat in
parts, DuckDB with one GROUP BY of four columns), and by privet to the groups of the
same columns. What privet starts to read a file counts as its own, in time and in
memory. Then the first verdict on the CSV file: `privet audit` of one promise about
these columns, from a new process on. The bar: at most 3 times as long as DuckDB alone
takes for that GROUP BY of the file.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from measure import TIMES, Cost, apart, best, costs, folder, judged, sized

SHEET, SPSS, CSV = sized((100, 500, 1_000), (1, 1, 2))
"""Megabytes of each file at 100 percent."""

BY, ABOUT = ("c0", "c1", "c3"), "c2"
BAR = 3
COLUMNS = 10
POLICY = """\
[columns]
quasi = ["c0", "c1", "c3"]
sensitive = ["c2"]
other = []
drop = [{rest}]

[[promise]]
name = "nobody learns c2"
against = "linker"
knows = ["c0", "c1", "c3"]
about = "c2"
at_most = 0.9
"""


# Files ------------------------------------------------------------------------------


def make_columns(rows: int, seed: int) -> list[object]:
    """Three categories, numbers, and texts of which few are alike."""
    import numpy as np

    rng = np.random.default_rng(seed)
    few = [rng.integers(0, n, rows) for n in (20, 40, 15)]
    numbers = [rng.integers(0, 10_000, rows) for _ in range(4)]
    amounts = [rng.integers(0, 10**7, rows) / 100 for _ in range(3)]
    return [*few, *numbers, *amounts]


def make_csv(megabytes: int) -> Path:
    """A text file of so many megabytes."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    path = folder() / f"reading-{megabytes}.csv"
    if path.exists():
        return path
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        part = 0
        while file.tell() < megabytes * 1_000_000:
            rows = sized(200_000, 10_000)
            names = [f"c{i}" for i in range(COLUMNS)]
            table = pa.table(dict(zip(names, make_columns(rows, part), strict=True)))
            options = pacsv.WriteOptions(include_header=part == 0)
            pacsv.write_csv(table, file, options)
            part += 1
    beside.rename(path)
    return path


def make_spss(megabytes: int) -> Path:
    """An SPSS file; it has eight bytes per number."""
    import pandas as pd
    import pyreadstat

    path = folder() / f"reading-{megabytes}.sav"
    if not path.exists():
        columns = make_columns(megabytes * 1_000_000 // (8 * COLUMNS), 1)
        frame = pd.DataFrame({f"c{i}": c for i, c in enumerate(columns)}, dtype=float)
        pyreadstat.write_sav(frame, path)
    return path


def make_sheet(megabytes: int) -> Path:
    """Spreadsheets have a million rows at the most: columns make it large."""
    import xlsxwriter

    path = folder() / f"reading-{megabytes}.xlsx"
    if path.exists():
        return path
    rows = megabytes * sized(2_600, 2_000)
    wide = 8
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("people")
        names = [f"c{i}" for i in range(COLUMNS * wide)]
        sheet.write_row(0, 0, names)
        parts = [make_columns(rows, seed) for seed in range(wide)]
        columns = [c.tolist() for part in parts for c in part]
        for i, row in enumerate(zip(*columns, strict=True), start=1):
            sheet.write_row(i, 0, row)
    return path


# Work -------------------------------------------------------------------------------


def by_calamine(path: str) -> None:
    """The floor: every cell, once."""
    from python_calamine import CalamineWorkbook

    sheet = CalamineWorkbook.from_path(path).get_sheet_by_index(0)
    assert sum(1 for _ in sheet.iter_rows()) > 1


def by_pyreadstat(path: str) -> None:
    """The floor: every cell, once, in parts."""
    import pyreadstat

    read = partial(pyreadstat.read_sav, path, output_format="dict", row_limit=100_000)
    at = 0
    while rows := len(read(row_offset=at)[0]["c0"]):
        at += rows


def by_duckdb(path: str) -> None:
    """The floor: one count of four columns, with DuckDB's own guesses."""
    import duckdb

    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    names = ", ".join((*BY, ABOUT))
    con.sql(
        f"SELECT {names}, count(*) FROM read_csv('{path}') GROUP BY {names}"
    ).to_arrow_table()


def by_privet(path: str) -> None:
    """The same four columns, counted."""
    import privet as pv

    with pv.read(path, quasi=BY, sensitive=ABOUT) as table:
        assert len(table.groups()) > 1


def by_command(path: str) -> None:
    """The first verdict, as a user asks for it."""
    policy = Path(path).with_suffix(".toml")
    rest = ", ".join(f'"c{i}"' for i in range(4, COLUMNS))
    policy.write_text(POLICY.format(rest=rest), encoding="utf-8")
    program = Path(sys.executable).with_name("privet")
    done = subprocess.run(
        [program, "audit", path, "-p", policy, "--quiet"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split()[0] in ("SAFE", "BREACH", "safe", "breach"), done.stderr


def with_children(cost: Cost) -> Cost:
    """The cost, with what the processes took that were started meanwhile."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = children.ru_utime + children.ru_stime
    return Cost(cost.seconds, cost.cpu + spent, cost.peak + children.ru_maxrss / 1024)


WORK = {
    "calamine": by_calamine,
    "pyreadstat": by_pyreadstat,
    "duckdb": by_duckdb,
    "privet": by_privet,
    "command": by_command,
}


def compare(path: Path, *names: str) -> dict[str, Cost]:
    """The best of each in turn, since the machine may be busy now and then."""
    found: dict[str, list[Cost]] = {name: [] for name in names}
    for _ in range(TIMES):
        for name, so_far in found.items():
            so_far.append(apart(__file__, name, str(path)))
    return {name: best(runs) for name, runs in found.items()}


def main(percent: int) -> int:
    sheet, spss, csv = (max(1, size * percent // 100) for size in (SHEET, SPSS, CSV))
    for path, floor in (
        (make_sheet(sheet), "calamine"),
        (make_spss(spss), "pyreadstat"),
    ):
        found = compare(path, floor, "privet")
        print(f"{path.name}, {path.stat().st_size / 1e6:.0f} MB; best of {TIMES}")
        for name, cost in found.items():
            print(f"  {name:12} {cost}")
        print(f"  ratio {found['privet'].seconds / found[floor].seconds:.2f}")
    path = make_csv(csv)
    found = compare(path, "duckdb", "privet", "command")
    print(f"{path.name}, {path.stat().st_size / 1e6:.0f} MB; best of {TIMES}")
    for name, cost in found.items():
        print(f"  {name:12} {cost}")
    ratio = found["command"].seconds / found["duckdb"].seconds
    print(f"  first verdict: {ratio:.2f} times one count by DuckDB (bar {BAR})")
    return judged(ratio <= BAR)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _, name, given = sys.argv
        cost = costs(lambda: WORK[name](given))
        print(json.dumps(asdict(with_children(cost))))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
