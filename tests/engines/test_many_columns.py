"""Files with many columns: scans are shared, and every column has its own type."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.draft.guess_roles import guess_roles
from privet.engine.protocol import Run

pytestmark = pytest.mark.engines

COLUMNS: dict[str, tuple[list[str], pa.DataType]] = {
    "whole": (["1", "-7", ""], pa.int64()),
    "long": (["1", "99999999999999999999", "2"], pa.string()),
    "number": (["1.5", "2e3", "0"], pa.float64()),
    "exact": (["0.1", "0.10000000000000000001", "1"], pa.string()),
    "tiny": (["1e-320", "2.5", "1"], pa.string()),
    "day": (["2024-02-29", "", "1999-01-01"], pa.date32()),
    "moment": (["2024-02-29 10:00", "2024-02-29T11:00", ""], pa.timestamp("us")),
    "code": (["01", "2", "3"], pa.string()),
    "none": (["", "", ""], pa.string()),
}


def wide(path: Path, times: int) -> Path:
    """A file with every column of COLUMNS so many times."""
    names = [f"{name}{i}" for i in range(times) for name in COLUMNS]
    cells = [texts for _ in range(times) for texts, _ in COLUMNS.values()]
    lines = [",".join(("job", "ill", *names))]
    for row in range(3):
        lines.append(",".join(("Cook", "yn"[row % 2], *(c[row] for c in cells))))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_texts_are_written_as_what_all_of_them_are(tmp_path: Path) -> None:
    stated = pv.Promise(pv.Linker(knows="job"), pv.Ceiling("0.9"), about="ill")
    source = wide(tmp_path / "wide.csv", 2)
    other = [f"{name}{i}" for i in (0, 1) for name in COLUMNS]
    why = {"ill": "every person has texts of their own, which are to be written"}
    with pv.read(source, quasi="job", sensitive="ill", other=other) as table:
        release = pv.publish(table, [stated])
        release.write(tmp_path / "out", custody=tmp_path / "vault", accept=why)
    written = pq.read_schema(tmp_path / "out" / "table.parquet")
    expected = {f"{name}{i}": t for i in (0, 1) for name, (_, t) in COLUMNS.items()}
    assert expected == {n: written.field(n).type for n in expected}


def test_columns_share_scans(tmp_path: Path) -> None:
    run = Run.start(max_seconds=15)  # a scan for each would take a minute
    with pv.read(wide(tmp_path / "wide.csv", 60)) as table:
        found = {c.name: c for c in table.engine.describe(run)}
    one = found["whole59"]
    assert ("integer", 3, 1) == (one.kind, one.distinct, one.missing)
    kinds = [found[c].kind for c in ("code3", "day7", "none0", "moment59", "long1")]
    assert ["text", "date", "text", "datetime", "integer"] == kinds


def test_columns_that_are_nearly_numbers_are_told(tmp_path: Path) -> None:
    rows = [f"{i},2024-01-{1 + i % 28:02},{i},a{i}" for i in range(50)]
    rows[30] = "unknown,never,1,x"
    lines = ["height,seen,age,job", *rows]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pv.read(tmp_path / "t.csv") as table:
        found = table.engine.describe(Run())
    assert ["text", "text", "integer", "text"] == [c.kind for c in found]
    assert ["number", "date", "", ""] == [c.nearly for c in found]
    height, seen, age, _ = guess_roles(found)
    assert "nearly all of its values are numbers" in height.reason
    assert "nearly all of its values are dates" in seen.reason
    assert not height.sure
    assert "nearly" not in age.reason
