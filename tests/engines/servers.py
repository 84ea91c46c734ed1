"""A Spark session and a PostgreSQL server for tests, started when first needed."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

PASSWORD = "canary-of-a-password"
"""It must not show anywhere."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def seeing_tests() -> dict[str, str]:
    """What the environment of a process must have that imports from the tests."""
    tests = str(Path(__file__).parents[1])
    before = filter(None, [os.environ.get("PYTHONPATH")])
    return {"PYTHONPATH": os.pathsep.join([tests, *before])}


# Spark ------------------------------------------------------------------------------


QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
"""How Java starts soon; nothing here runs long enough to be compiled twice."""

SHORT = {
    # Compiling a statement takes longer than running it over a few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""Settings for sessions that do little."""

SETTINGS = {
    **SHORT,
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # Times must not depend on where the session thinks it is.
    "spark.sql.session.timeZone": "America/New_York",
}


@cache
def spark() -> Any:
    """One session for all tests."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]").appName("privet tests")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    atexit.register(session.stop)
    return session


def spark_frame(table: pa.Table) -> Any:
    """An Arrow table as a DataFrame; times without a zone stay without."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    return spark().createDataFrame(table, schema)


# PostgreSQL -------------------------------------------------------------------------


@cache
def postgres() -> str:
    """The address of a server of our own, on the loopback only."""
    pytest.importorskip("adbc_driver_postgresql", reason="the driver is not installed")
    programs = _programs()
    root = Path(tempfile.mkdtemp(prefix="privet-postgres-"))
    root.chmod(0o755)
    data, port = root / "data", free_port()
    secret = root / "password"
    secret.write_text(PASSWORD)
    data.mkdir()
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(data, user)
        shutil.chown(root, user)
    initdb = ["initdb", "-D", data, "-U", "steward", "-A", "scram-sha-256"]
    _run(programs, [*initdb, f"--pwfile={secret}", "-E", "UTF8", "--locale=C"], user)
    options = (
        f"-p {port} -k {root} -c listen_addresses=127.0.0.1 -c fsync=off "
        "-c max_connections=20"
    )
    log = root / "log"
    start = ["pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "start"]
    _run(programs, start, user)
    atexit.register(_stop, programs, data, root, user)
    return f"postgresql://steward:{PASSWORD}@127.0.0.1:{port}/postgres"


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and not on_path:
        pytest.skip("PostgreSQL's server programs are not installed")
    return (found[-1] if found else Path(str(on_path))).parent


def _run(programs: Path, command: list[Any], user: str | None) -> None:
    program, *rest = map(str, command)
    subprocess.run(
        [str(programs / program), *rest],
        check=True,
        user=user,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )


def _stop(programs: Path, data: Path, root: Path, user: str | None) -> None:
    stop = ["pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"]
    _run(programs, stop, user)
    shutil.rmtree(root, ignore_errors=True)


POSTGRES_TYPES = {
    "text": "text",
    "integer": "bigint",
    "big": "numeric(38, 0)",
    "float": "double precision",
    "decimal": "numeric(15, 2)",
    "date": "date",
    "moment": "timestamp",
    "truth": "boolean",
}
"""What the kinds of columns are in PostgreSQL."""


@contextmanager
def connection() -> Iterator[Any]:
    """A connection of the owner, who may do anything."""
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(postgres(), autocommit=True) as con, con.cursor() as cursor:
        yield cursor


@contextmanager
def postgres_table(table: pa.Table, types: list[str]) -> Iterator[str]:
    """An Arrow table as a table of the server; gone afterwards."""
    name = f"people_{secrets.token_hex(4)}"
    numbered = [f"n{i}" for i in range(len(types))]
    with connection() as cursor:
        cursor.adbc_ingest(f"{name}_raw", table.rename_columns(numbered), mode="create")
        cells = ", ".join(
            f'CAST(n{i} AS {type_}) AS "{name_}"'
            for i, (name_, type_) in enumerate(
                zip(table.column_names, types, strict=True)
            )
        )
        cursor.execute(f"CREATE TABLE {name} AS SELECT {cells} FROM {name}_raw")
        cursor.execute(f"DROP TABLE {name}_raw")
    try:
        yield name
    finally:
        with connection() as cursor:
            cursor.execute(f"DROP TABLE {name} CASCADE")
