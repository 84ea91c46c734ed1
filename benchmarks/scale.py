"""An audit and a release of many rows in little memory, on DuckDB and on Spark.

    python benchmarks/scale.py [duckdb|spark|both] [rows ...]

The rows are those of `audit.py`: 9 columns of texts, skewed, partly missing. The audit
has two promises against linkers who know two and four columns; the release, by top-down
disclosure, keeps them, is written, read back and recounted. DuckDB may use 1 GB (give
PRIVET_MEMORY another limit), Spark a driver and two cores with 2 GB. Each line is a
process of its own; the memory is the most that it held, Java's beside it for Spark.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from audit import ABOUT, CARDS, make
from measure import folder, sized

KNOWS = (("job", "city"), ("sex", "school", "ward", "race"))
ROWS = sized([1_000_000, 10_000_000], [20_000])
LIMIT = os.environ.get("PRIVET_MEMORY", "1GB")
CLUSTER = {
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
}


def opened(engine: str, path: str) -> Any:
    """The table, counted by one of the engines."""
    import privet as pv

    roles = {"quasi": [c for c in CARDS if c != ABOUT], "sensitive": ABOUT}
    if engine == "duckdb":
        return pv.read(path, **roles, memory_limit=LIMIT, threads=2)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for key, value in CLUSTER.items():
        builder = builder.config(key, value)
    return pv.read(builder.getOrCreate().read.parquet(path), **roles)


def work(engine: str, task: str, path: str) -> None:
    """Run one task in this process, and print what it cost."""
    import privet as pv

    begin = time.perf_counter()
    promises = [pv.Promise(pv.Linker(k), pv.Ceiling("0.9")) for k in KNOWS]
    with opened(engine, path) as table:
        ready = time.perf_counter()
        if task == "audit":
            found = pv.audit(table, promises)
        else:
            made = Path(tempfile.mkdtemp(prefix="release-", dir=folder()))
            out = made / "out"
            release = pv.publish(table, promises)
            found = release.audit
            accept = {ABOUT: "some columns are promised about, and measured"}
            release.write(out, custody=made / "vault", accept=accept)
            shutil.rmtree(made)
        worst = [str(f.belief.posterior) for f in found.findings]
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    java = _java()
    print(
        json.dumps(
            {
                "seconds": round(done - ready, 1),
                "start": round(ready - begin, 1),
                "peak": peak,
                "java": java,
                "worst": worst,
            }
        )
    )


def _java() -> int:
    """The most memory that a child of this process held, in MiB."""
    most = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            said = dict(
                line.split(":", 1) for line in status.read_text().splitlines() if line
            )
        except OSError:
            continue
        if said["PPid"].strip() == str(os.getpid()) and "VmHWM" in said:
            most = max(most, int(said["VmHWM"].split()[0]) // 1024)
    return most


def main(engines: tuple[str, ...], sizes: list[int]) -> None:
    for rows in sizes:
        path = str(make(rows))
        print(f"{rows:,} rows, {Path(path).stat().st_size >> 20} MiB of Parquet")
        for task in ("audit", "release"):
            answers = set()
            for engine in engines:
                done = subprocess.run(
                    [sys.executable, __file__, engine, task, path],
                    check=True,
                    stdout=subprocess.PIPE,
                    text=True,
                )
                cost = json.loads(done.stdout.splitlines()[-1])
                answers.add(tuple(cost["worst"]))
                java = f" + {cost['java']} MiB of Java" if cost["java"] else ""
                print(
                    f"  {task:8} {engine:7} {cost['seconds']:7.1f} s  "
                    f"peak {cost['peak']} MiB{java}  worst {', '.join(cost['worst'])}"
                )
            assert len(answers) == 1, "engines must agree"


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[2] in ("audit", "release"):
        work(*sys.argv[1:])
    else:
        asked = sys.argv[1] if len(sys.argv) > 1 else "duckdb"
        both = ("duckdb", "spark") if asked == "both" else (asked,)
        main(both, [int(n) for n in sys.argv[2:]] or ROWS)
