"""Full-domain search on two tables with hierarchies, or on a lattice that is made up.

    PRIVET_DATA=folder python benchmarks/full_domain.py

Below PRIVET_DATA stand anonymize/adult and anonymize/health: a table each, and a
hierarchy in ARX's form for every known column. Adult is asked for k = 5, distinct
l = 3 and t = 0.5, health for k = 5 and t = 0.3, both with 5 % of the people suppressed.
NCP is the mean over known columns and people, suppressed ones at 1; the bars are what
exhaustive search finds, and for subtrees what the other tools do not reach. Seconds are
those of the whole publish, from a table that is open. Without the folder a synthetic
table stands in, whose optimum is only told.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from measure import costs, judged, sized

SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "adult": (
        "occupation",
        {"k_anonymity": 5, "distinct_l_diversity": 3, "t_closeness": "0.5"},
    ),
    "health": ("health", {"k_anonymity": 5, "t_closeness": "0.3"}),
}
BARS = {
    ("adult", False): (0.345975, 20.0),
    ("adult", True): (0.325, 30.0),
    ("health", False): (0.268469, 10.0),
    ("health", True): (0.240, 15.0),
}
"""The most NCP and seconds, by table and whether subtrees are asked for."""
ROWS, COLUMNS = sized((30_000, 6), (300, 3))
"""The synthetic table."""


def place_of_data() -> Path | None:
    given = os.environ.get("PRIVET_DATA")
    folder = Path(given) / "anonymize" if given else None
    return folder if folder and folder.is_dir() else None


def read_table(folder: Path, name: str) -> tuple[Any, dict[str, str]]:
    """A table with its roles, and the hierarchies of its known columns."""
    import privet as pv

    home, secret = folder / name, SETTINGS[name][0]
    quasi = sorted(f.stem for f in home.glob("*.csv") if f.stem not in (name, secret))
    with pv.read(home / f"{name}.csv") as whole:
        others = [c for c in whole.schema.names if c not in {*quasi, secret}]
    table = pv.read(home / f"{name}.csv", quasi=quasi, sensitive=secret, drop=others)
    return table, {c: str(home / f"{c}.csv") for c in quasi}


def make_table() -> tuple[Any, dict[str, Any]]:
    """Columns of 16 values below hierarchies of halves, and a protected one."""
    import numpy as np
    import pyarrow as pa

    import privet as pv

    rng = np.random.default_rng(7)
    names = [f"c{i}" for i in range(COLUMNS)]
    columns = {c: [f"{v:04b}" for v in rng.binomial(15, 0.4, ROWS)] for c in names}
    columns["secret"] = [str(v) for v in rng.integers(0, 6, ROWS)]
    values = [f"{v:04b}" for v in range(16)]
    levels = {v: [v[:3] + "-", v[:2] + "--", v[:1] + "---", "*"] for v in values}
    table = pv.read(pa.table(columns), quasi=names, sensitive="secret")
    return table, dict.fromkeys(names, levels)


def publish(table: Any, given: dict[str, Any], asked: dict[str, Any], subtrees: bool):
    import privet as pv

    measures = [pv.Measure(**{key: level}) for key, level in asked.items()]
    method = pv.FullDomain(hierarchies=given, suppress="0.05", subtrees=subtrees)
    return pv.publish(table, measures, method=method, utility=False)


def tell(name: str, table: Any, given: dict[str, Any], subtrees: bool) -> bool:
    """Publish, say what came out, and whether it is within its bars."""
    asked = SETTINGS.get(name, ("", {"k_anonymity": 5, "t_closeness": "0.4"}))[1]
    made: list[Any] = []
    cost = costs(lambda: made.append(publish(table, given, asked, subtrees)))
    found = made[0].grouped.partition.choice
    how = "subtrees" if subtrees else "levels"
    print(
        f"{name:10} {how:9} NCP {found.cost:.6f} ({found.optimum}), "
        f"{found.suppressed:,} starred, {found.judged:,} of {found.nodes:,} judged  "
        f"{cost}"
    )
    most, seconds = BARS.get((name, subtrees), (1.0, 120.0))
    return found.cost <= most and cost.seconds <= seconds


def main() -> int:
    folder, good = place_of_data(), True
    if folder is None:
        print("PRIVET_DATA has no anonymize/: a synthetic table stands in.")
    made = list(SETTINGS) if folder else ["synthetic"]
    for name in made:
        table, given = read_table(folder, name) if folder else make_table()
        with table:
            for subtrees in (False, True):
                good &= tell(name, table, given, subtrees)
    return judged(good)


if __name__ == "__main__":
    sys.exit(main())
