"""Single values that no group may name: hidden after grouping, and judged again."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from contract.test_canary import commanded

pytestmark = pytest.mark.engines

TOWNS = ["Ayr", "Bonn", "Cork", "Dax", "Elba"]
UP = {
    "Ayr": ["north"],
    "Bonn": ["north"],
    "Cork": ["south"],
    "Dax": ["south"],
    "Elba": ["south"],
}
K = pv.Measure(k_anonymity=3)
NOBODY_CERTAIN = pv.Promise(pv.Linker(), pv.Ceiling(below=1))


def people(seed: int) -> pa.Table:
    dice = random.Random(seed)
    rows = range(dice.randint(30, 60))
    return pa.table(
        {
            "town": [dice.choice([*TOWNS, None]) for _ in rows],
            "age": [dice.randint(20, 29) for _ in rows],
            "ill": [dice.choice("xyz") for _ in rows],
        }
    )


def released(rows: pa.Table, place: Path, method: pv.Mondrian) -> list[dict[str, str]]:
    with pv.read(rows, quasi=["town", "age"], sensitive="ill") as table:
        release = pv.publish(table, [K, NOBODY_CERTAIN], method=method)
        release.write(place / "out", custody=place / "vault")
    assert pv.verify(place / "out").good
    rows = pq.read_table(place / "out" / "table.parquet").to_pylist()
    return [dict(row) for row in rows]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("levels", [None, UP])
@pytest.mark.parametrize("same_cuts", [False, True])
def test_no_label_names_a_hidden_value(
    seed: int, levels: dict[str, list[str]] | None, same_cuts: bool, tmp_path: Path
) -> None:
    rows = people(seed)
    oldest = str(max(rows["age"].to_pylist()))
    method = pv.Mondrian(
        hide={"town": ["Cork"], "age": [oldest]},
        hierarchies={"town": levels} if levels else None,
        same_cuts=same_cuts,
    )
    shown = released(rows, tmp_path, method)
    assert len(rows) == len(shown)
    assert not any("Cork" in (row["town"] or "") for row in shown)
    assert not any(oldest in str(row["age"]) for row in shown)
    sizes = Counter((row["town"], row["age"]) for row in shown)
    assert min(sizes.values()) >= 3
    public = (tmp_path / "out" / "release.json").read_text()
    assert "Cork" not in public
    recipe = json.loads((tmp_path / "vault" / "recipe.json").read_text())
    assert ["Cork"] == recipe["hidden"]["town"]


def test_groups_that_look_alike_are_one(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "town": ["Ayr"] * 3 + ["Bonn"] * 3 + ["Cork"] * 3,
            "ill": list("xxx") + list("yyy") + list("xyz"),
        }
    )
    with pv.read(rows, quasi="town", sensitive="ill") as table:
        method = pv.Mondrian(hide={"town": ["Ayr", "Bonn"]})
        release = pv.publish(table, [K], method=method)
        belief = pv.belief(release, pv.Linker())
    assert (1, 2) == belief.posterior.as_integer_ratio()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hide": {"town": ["Oz"]}}, "1 of 1 never occur"),
        ({"hide": {"ill": ["x"]}}, "quasi columns"),
        ({"hide": {"twon": ["Ayr"]}}, "town"),
        ({"hide": {"town": ["Ayr"]}, "form": "buckets"}, "buckets"),
    ],
)
def test_what_cannot_be_hidden(options: dict[str, object], words: str) -> None:
    with (
        pv.read(people(0), quasi=["town", "age"], sensitive="ill") as table,
        pytest.raises(pv.PrivetError, match=words),
    ):
        pv.publish(table, [K], method=pv.Mondrian(**options))  # type: ignore[arg-type]


def test_on_the_command_line(tmp_path: Path) -> None:
    pq.write_table(people(1), tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(
        '[columns]\nquasi = ["town", "age"]\nsensitive = ["ill"]\n'
        "[[measure]]\nk_anonymity = 3\n"
        '[[promise]]\nagainst = "linker"\nbelow = 1\n'
    )
    words = ["publish", f"{tmp_path}/people.parquet", "-p", f"{tmp_path}/policy.toml"]
    words += ["-o", f"{tmp_path}/out", "--custody", f"{tmp_path}/vault"]
    words += ["--method", "mondrian"]
    code, said = commanded(*words, "--hide", "town=Dax", "--quiet")
    assert 0 == code, said
    towns = pq.read_table(tmp_path / "out" / "table.parquet")["town"].to_pylist()
    assert not any("Dax" in (t or "") for t in towns)
    code, said = commanded(*words, "--hide", "town")
    assert 2 == code
    assert "--hide must be COLUMN=VALUE" in said
