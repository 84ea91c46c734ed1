"""What a client of Spark Connect does: audits, publishes and groups; prints it."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import privet as pv
from privet.microdata.generalisation import distributed_rows


def main(folder: str) -> None:
    from pyspark.sql import SparkSession

    from engines.servers import SETTINGS
    from engines.test_connect import GROUPS, PROMISES, ROLES, table

    builder = SparkSession.builder.remote("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    frame = spark.createDataFrame(table())
    with pv.read(frame, **ROLES, where={"job": ["Cook", "Judge", None]}) as people:
        release = pv.publish(people, PROMISES)
        release.write(Path(folder) / "out", custody=Path(folder) / "vault")
        distributed_rows.HERE = 1  # the server's machines cut
        groups = pv.publish(people, GROUPS, method=pv.Mondrian())
        groups.write(Path(folder) / "groups", custody=Path(folder) / "vault 2")
        said = [f.to_dict() for f in release.audit.findings]
        answer = {
            "hidden": release.hidden,
            "findings": said,
            "exposure": release.audit.to_dict()["exposure"],
            "frame": str(type(frame)),
        }
    print(json.dumps(answer))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
