"""A client of Spark Connect, which has no Java of its own, gets the same answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines import connect_job
from engines.servers import seeing_tests

pytestmark = pytest.mark.spark

ROLES: dict[str, Any] = {"quasi": ["job", "age"], "sensitive": "ill"}
PROMISES = [
    pv.Promise(pv.Linker(["job"]), pv.Ceiling("2/3"), "ill"),
    pv.Promise(pv.Linker(["job", "age"]), pv.Ceiling("3/4"), "ill"),
]
GROUPS = [*PROMISES, pv.Measure(k_anonymity=2)]


def table() -> pa.Table:
    rows = [
        ("Cook", 40, "flu"),
        ("Cook", 40, "flu"),
        ("Cook", 41, "hiv"),
        ("Judge", None, "hiv"),
        ("Judge", 50, "hiv"),
        ("Judge", 50, None),
        (None, 40, "flu"),
        ("Trader", 40, "flu"),
    ]
    columns = [pa.array(c) for c in zip(*rows, strict=True)]
    return pa.table(columns, names=["job", "age", "ill"])


def test_connect(tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="Spark Connect's packages are not installed")
    where = {"job": ["Cook", "Judge", None]}
    with pv.read(table(), **ROLES, where=where) as people:
        release = pv.publish(people, PROMISES)
        release.write(tmp_path / "here", custody=tmp_path / "kept")
        groups = pv.publish(people, GROUPS, method=pv.Mondrian())
        groups.write(tmp_path / "in groups", custody=tmp_path / "kept 2")
    done = subprocess.run(
        [sys.executable, connect_job.__file__, str(tmp_path)],
        env={
            "PYSPARK_PYTHON": sys.executable,
            **os.environ,
            **seeing_tests(),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert 0 == done.returncode, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert "connect" in found["frame"]
    assert release.hidden == found["hidden"]
    assert [f.to_dict() for f in release.audit.findings] == found["findings"]
    assert release.audit.to_dict()["exposure"] == found["exposure"]
    assert shown(tmp_path / "here") == shown(tmp_path / "out")
    assert shown(tmp_path / "in groups") == shown(tmp_path / "groups")


def shown(folder: Path) -> Counter[tuple[Any, ...]]:
    rows = pq.read_table(folder / "table.parquet").to_pylist()
    return Counter(tuple(row.values()) for row in rows)
