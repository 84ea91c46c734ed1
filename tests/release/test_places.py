"""Releases of rows that stay elsewhere equal those of files, and tell no secrets."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.servers import PASSWORD
from engines.tables import PLACES, People, opened, same

KINDS = ("text", "integer", "decimal", "date", "moment", "truth", "text", "float")
VALUES: tuple[list[Any], ...] = (
    ["Cook", "Jüdge", "=1+1", "世界", "", None],
    [20, 30, 40, 2**53 + 1, None],
    [Decimal("1.50"), Decimal("2.00"), None],
    [date(1960, 1, 1), date(1999, 12, 31), None],
    [datetime(2024, 5, 1, 12, 30, 0, 5), datetime(1950, 1, 1)],
    [True, False, None],
    ["flu", "flu", "flu", "hiv", "none", None],
    [0.1, -0.0, 0.0, 1e300, 2.0],
)


def some_people(rows: int, seed: int) -> People:
    """Rows in fours that differ by illness only, as a rule: little must be hidden."""
    rng = Random(seed)
    known = [[rng.choice(values) for values in VALUES] for _ in range(rows // 4)]
    ill = [rng.choice(VALUES[6]) for _ in range(rows)]
    return People(
        KINDS, [(*known[i // 4][:6], ill[i], known[i // 4][7]) for i in range(rows)]
    )


def promises() -> list[pv.Promise]:
    return [
        pv.Promise(pv.Linker(["text 0", "integer 1"]), pv.Ceiling("3/4"), "text 6"),
        pv.Promise(
            pv.Linker(["decimal 2", "date 3", "truth 5"]),
            pv.Ceiling("4/5"),
            {"text 6": "hiv"},
        ),
        pv.Promise(pv.Linker(), pv.Ceiling("9/10"), "text 6", "all columns"),
    ]


def options() -> dict[str, Any]:
    names = [f"{kind} {i}" for i, kind in enumerate(KINDS)]
    other = ["float 7", "moment 4"]
    quasi = [n for n in names if n not in ("text 6", *other)]
    return {"quasi": quasi, "sensitive": "text 6", "other": other}


def rows_of(table: pa.Table) -> Counter[tuple[str, ...]]:
    """Rows by what they show; of two zeros one."""
    rows = (map(same, row.values()) for row in table.to_pylist())
    return Counter(tuple(map(repr, row)) for row in rows)


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_release_is_the_same(kind: str, seed: int, tmp_path: Path) -> None:
    people = some_people(120, seed)
    found: dict[str, tuple[Any, ...]] = {}
    for where in ("arrow", kind):
        with opened(people, where, tmp_path, **options()) as table:
            release = pv.publish(table, promises())
            out = tmp_path / f"out {where}"
            release.write(out, custody=tmp_path / f"vault {where}")
            shown = pq.read_table(out / "table.parquet")
            manifest = json.loads((out / "release.json").read_text())
            del manifest["digest"]
            for file in manifest["files"]:
                del file["sha256"], file["bytes"]  # rows are shuffled
            found[where] = (
                release.hidden,
                release.intervals,
                [f.to_dict() for f in release.audit.findings],
                shown.schema,
                rows_of(shown),
                manifest,
            )
        assert pv.verify(out).good
    for expected, other in zip(found["arrow"], found[kind], strict=True):
        assert expected == other
    custody = json.loads((tmp_path / f"vault {kind}" / "custody.json").read_text())
    assert [kind] == list(custody["engine"])


@pytest.mark.parametrize("kind", PLACES)
def test_weights_and_spreadsheets(kind: str, tmp_path: Path) -> None:
    rows = [("=Cook", "flu", 3), ("=Cook", "hiv", 2), ("Judge", "flu", 4)]
    rows.append(("Judge", "hiv", 1))
    people = People(("text", "text", "integer"), rows)
    job, ill, n = people.names
    texts = {}
    for where in ("arrow", kind):
        with opened(
            people, where, tmp_path, quasi=job, sensitive=ill, weight=n
        ) as table:
            promise = pv.Promise(pv.Linker(), pv.Ceiling("4/5"), ill)
            release = pv.publish(table, promise)
            out = tmp_path / f"{where}.out"
            release.write(out, custody=tmp_path / f"vault {where}", format="csv")
            texts[where] = sorted((out / "table.csv").read_text().splitlines())
    assert texts["arrow"] == texts[kind]
    assert any(line.startswith("'=Cook") for line in texts[kind])


@pytest.mark.parametrize("kind", PLACES)
def test_mondrian_gives_the_same_groups(kind: str, tmp_path: Path) -> None:
    people = some_people(80, 3)
    promise = pv.Promise(
        pv.Linker(["integer 1", "date 3"]), pv.Ceiling("9/10"), "text 6"
    )
    drop = [n for n in people.names if n not in ("integer 1", "date 3", "text 6")]
    quasi = {"quasi": ["integer 1", "date 3"], "sensitive": "text 6", "drop": drop}
    found = []
    for where in ("arrow", kind):
        with opened(people, where, tmp_path, **quasi) as table:
            release = pv.publish(table, promise, method=pv.Mondrian())
            release.write(tmp_path / where, custody=tmp_path / f"vault {where}")
            found.append([f.to_dict() for f in release.audit.findings])
            found.append(rows_of(pq.read_table(tmp_path / where / "table.parquet")))
    assert found[:2] == found[2:]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of PySpark, about pandas
@pytest.mark.parametrize("kind", PLACES)
def test_custody_of_disguised_answers_tells_what_counted(
    kind: str, tmp_path: Path
) -> None:
    people = People(("text",), [("yes",), ("no",)] * 5)
    asked = [pv.Question("text 0", ["yes", "no"])]
    design = pv.Design(asked, [pv.Group(["text 0"], pv.Flip("0.8"))])
    policy = pv.Policy(promises=(pv.Promise(pv.Bayesian(), pv.Ratio(4), "text 0"),))
    places = {"folder": tmp_path / "out", "custody": tmp_path / "vault"}
    with opened(people, kind, tmp_path) as table:
        pv.disguise(table, design, policy=policy, **places).close()
        counted = {table.engine.name: table.engine.version}
    custody = json.loads((tmp_path / "vault" / "custody.json").read_text("utf-8"))
    assert counted == custody["engine"]


# Secrets ----------------------------------------------------------------------------


@pytest.mark.postgres
def test_a_password_shows_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = some_people(40, 4)
    said: list[str] = []
    with ExitStack() as stack:
        table = stack.enter_context(opened(people, "postgres", tmp_path, **options()))
        said += [repr(table), str(table.source), repr(table.engine)]
        release = pv.publish(table, promises())
        release.write(tmp_path / "out", custody=tmp_path / "vault")
        said += [repr(release), str(release.audit), json.dumps(release.audit.to_dict())]
        said += [p.read_text() for p in (tmp_path / "vault").iterdir()]
        said += [
            p.read_text()
            for p in (tmp_path / "out").iterdir()
            if p.suffix != ".parquet"
        ]
        uri = table.source.address.uri
    for wrong in (
        uri.replace(PASSWORD, f"{PASSWORD}-not"),
        uri.replace("/postgres", "/nothing"),
        uri.replace("127.0.0.1:", "127.0.0.1:1"),
        uri + "?nonsense=1",
    ):
        with pytest.raises(pv.PrivetError) as error:
            pv.read(wrong, table="people")
        said.append(_told(error.value))
    with pytest.raises(pv.InputError, match="must exist in the PostgreSQL") as error:
        pv.read(uri, table="nobody")
    said.append(_told(error.value))
    captured = capsys.readouterr()
    assert not [text for text in [*said, *captured] if PASSWORD in text]


def _told(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error, chain=True))
