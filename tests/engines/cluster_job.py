"""What the driver of a cluster does: audits and publishes, line by line.

python cluster_job.py MASTER TABLE FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import privet as pv
from engines.servers import SHORT
from privet.engine.protocol import Run
from privet.engine.remote import remote_writer
from privet.microdata.generalisation import distributed_rows
from privet.responses.channels import Keep
from privet.responses.disguise import plan_randomisation

ROLES: dict[str, Any] = {
    "identifier": "name",
    "quasi": ["job", "city", "age"],
    "sensitive": "ill",
    "drop": ["block", "within", "smokes"],
}
PROMISES = [
    pv.Promise(pv.Linker(["job", "city"]), pv.Ceiling("11/20"), "ill"),
    pv.Promise(pv.Linker(["job", "age"]), pv.Ceiling("3/5"), {"ill": "flu"}),
    pv.Promise(pv.Linker(["job", "city", "age"]), pv.Ceiling("0.99"), "ill"),
]


BLOCKS, WITHIN = 160, 150
"""Rows are told apart by two columns of so many values."""


def design() -> pv.Design:
    """Who it is stays, the answer is turned round for one in five."""
    return pv.Design(
        [
            pv.Question("block", range(BLOCKS)),
            pv.Question("within", range(WITHIN)),
            pv.Question("smokes", ["no", "yes"]),
        ],
        [
            pv.Group("block", Keep()),
            pv.Group("within", Keep()),
            pv.Group("smokes", pv.Flip("0.8")),
        ],
    )


def disguised(people: pv.Table, path: Path) -> str:
    """Disguise the answers of everybody."""
    people.engine.draw(
        plan_randomisation(people, design(), str(path), "parquet"), {}, Run()
    )
    return str(path)


def grouped(people: pv.Table) -> pv.Release:
    """Groups of people; where machines keep the cells, they cut them."""
    stated = [*PROMISES, pv.Measure(k_anonymity=20)]
    return pv.publish(people, stated, method=pv.Mondrian())


def said(found: pv.Audit) -> Any:
    """Every finding with its integers."""
    return [f.to_dict() for f in found.findings]


def main(master: str, table: str, folder: str) -> None:
    from pyspark.sql import SparkSession

    settings = {
        **SHORT,
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        # What a lost machine had is asked for once more, not for a quarter of a minute.
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "500ms",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.files.maxPartitionBytes": "64k",
        "spark.sql.files.openCostInBytes": "64k",
    }
    builder = SparkSession.builder.master(master).appName("privet cluster test")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    context = spark.sparkContext
    page = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"
    print(json.dumps({"page": page}), flush=True)
    remote_writer.ROWS_PER_FILE = 2_000
    distributed_rows.HERE, distributed_rows.AT_ONCE = 1_000, 2_000
    with pv.read(spark.read.parquet(table), **ROLES) as people:
        for number, line in enumerate(sys.stdin):
            if line.strip() == "audit":
                answer = said(pv.audit(people, PROMISES))
            elif line.strip() == "disguise":
                answer = disguised(people, Path(folder) / "reports.parquet")
            else:
                groups = line.strip() == "groups"
                release = grouped(people) if groups else pv.publish(people, PROMISES)
                out = Path(folder) / f"out-{number}"
                release.write(out, custody=Path(folder) / f"vault-{number}")
                answer = {"findings": said(release.audit), "out": str(out)}
                answer["hidden"] = {} if groups else release.hidden
            print(json.dumps({"answer": answer}), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
