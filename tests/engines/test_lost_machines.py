"""A machine is lost in the middle of an audit and of a release: nothing changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines import cluster_job
from engines.cluster import Cluster, Job, cluster, writing

pytestmark = pytest.mark.spark

ROWS = 24_000
FILES = 12


def make(folder: Path) -> pa.Table:
    """People in many files, so that there are many tasks."""
    rng = np.random.default_rng(8)
    table = pa.table(
        {
            "name": [f"person {i}" for i in range(ROWS)],
            "job": [f"job {j}" for j in rng.integers(0, 6, ROWS)],
            "city": [f"city {c}" for c in rng.zipf(1.4, ROWS) % 20],
            "age": rng.integers(40, 80, ROWS),
            "block": np.arange(ROWS) // cluster_job.WITHIN,
            "within": np.arange(ROWS) % cluster_job.WITHIN,
            "smokes": np.where(np.arange(ROWS) % 3 == 0, "yes", "no"),
            "ill": np.array(["flu", "flu", "cold", "hiv"])[rng.integers(0, 4, ROWS)],
        }
    )
    folder.mkdir()
    for i in range(FILES):
        part = table.slice(i * ROWS // FILES, ROWS // FILES)
        pq.write_table(part, folder / f"{i:02}.parquet", row_group_size=ROWS)
    return table


def rows_of(path: Path) -> Counter[tuple[object, ...]]:
    columns = pq.read_table(path).to_pydict()
    return Counter(zip(*columns.values(), strict=True))


def judge(reports: pa.Table) -> None:
    """Each row once, and a fifth of the answers turned round, give or take chance."""
    block, within, smokes = (reports[c].to_numpy() for c in reports.column_names)
    who = block * cluster_job.WITHIN + within
    assert np.array_equal(np.arange(ROWS), np.sort(who))
    turned = int(((smokes == "yes") != (who % 3 == 0)).sum())
    assert abs(turned - ROWS / 5) < 5 * sqrt(ROWS * 0.2 * 0.8)


def lose_a_machine(
    job: Job, machines: Cluster, begun: Callable[[], bool], again: bool = True
) -> None:
    """Kill one as soon as work has begun; another one comes for the next task."""
    job.wait(lambda: job.executors() == 2, "two executors")
    job.wait(begun, "the middle of the work")
    machines.kill_worker()
    if again:
        machines.add_worker()


def test_a_machine_lost_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    make(tmp_path / "people")
    with pv.read(tmp_path / "people", **cluster_job.ROLES) as people:
        expected = cluster_job.said(pv.audit(people, cluster_job.PROMISES))
        release = pv.publish(people, cluster_job.PROMISES)
        release.write(tmp_path / "here", custody=tmp_path / "vault")
        groups = cluster_job.grouped(people)
        groups.write(tmp_path / "groups", custody=tmp_path / "vault of groups")
    (tmp_path / "cluster").mkdir()
    with cluster(tmp_path / "cluster") as machines:
        job = Job(
            Path(cluster_job.__file__),
            *(machines.master, str(tmp_path / "people"), str(tmp_path)),
        )
        try:
            job.wait(lambda: job.executors() == 2, "two executors")
            job.tell("audit")
            lose_a_machine(job, machines, job.counting)
            assert expected == job.answer()["answer"]
            assert any(not e["isActive"] for e in job.ask("allexecutors"))
            tries = [job.tried_again()]

            job.tell("publish")
            part = ".out-*.partial-*/table.parquet"
            lose_a_machine(job, machines, lambda: writing(tmp_path, part))
            found = job.answer()["answer"]
            tries.append(job.tried_again())

            job.tell("groups")
            lose_a_machine(job, machines, job.counting)
            cut = job.answer()["answer"]
            tries.append(job.tried_again())

            job.tell("disguise")
            part = ".reports.parquet.rows"
            lose_a_machine(job, machines, lambda: writing(tmp_path, part), False)
            reports = pq.read_table(job.answer()["answer"])
            tries.append(job.tried_again())
        finally:
            job.stop()
    assert release.hidden == found["hidden"]
    assert cluster_job.said(release.audit) == found["findings"]
    assert 0 < tries[0] < tries[1] < tries[2] < tries[3], "nothing was tried again"
    assert cluster_job.said(groups.audit) == cut["findings"]
    assert rows_of(tmp_path / "groups" / "table.parquet") == rows_of(
        Path(cut["out"]) / "table.parquet"
    )
    out = Path(found["out"])
    assert FILES == len(list((out / "table.parquet").iterdir()))
    assert rows_of(tmp_path / "here" / "table.parquet") == rows_of(
        out / "table.parquet"
    )
    assert pv.verify(out).good
    judge(reports)
    assert [] == [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]
