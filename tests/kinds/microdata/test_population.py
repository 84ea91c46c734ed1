"""Journalist risk of a generalised release: who of a population a label allows."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv

pytestmark = pytest.mark.engines

TOWNS = ["Ayr", "Bonn, left", "Cork", "*", "not {x}", "missing", None]


def people(dice: random.Random, rows: int) -> list[tuple[str | None, int | None]]:
    ages = [None, *range(20, 30)]
    return [(dice.choice(TOWNS), dice.choice(ages)) for _ in range(rows)]


def as_table(rows: list[tuple[str | None, int | None]]) -> pa.Table:
    town, age = zip(*rows, strict=True)
    ill = [str(i % 3) for i in range(len(rows))]
    return pa.table({"town": list(town), "age": list(age), "ill": ill})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("same_cuts", [False, True])
def test_by_looking_at_everybody(seed: int, same_cuts: bool, tmp_path: Path) -> None:
    """A group's labels allow exactly the values that its leaf covers or lists."""
    dice = random.Random(seed)
    everybody = people(dice, 120)
    sample = dice.sample(everybody, 40)
    pq.write_table(as_table(everybody), tmp_path / "everybody.parquet")
    risk = pv.Measure(journalist_risk=1, population=str(tmp_path / "everybody.parquet"))
    with pv.read(as_table(sample), quasi=["town", "age"], sensitive="ill") as table:
        method = pv.Mondrian(same_cuts=same_cuts)
        certain = pv.Promise(pv.Linker(), pv.Ceiling(below=1))
        stated = [pv.Measure(k_anonymity=4), risk, certain]
        release = pv.publish(table, stated, method=method)
        release.write(tmp_path / "out", custody=tmp_path / "vault")
        assert release.grouped is not None
        partition = release.grouped.partition
        (found,) = (f.value for f in release.audit.findings if f.promise == risk)
        worst = 0.0
        for g in range(len(partition)):
            labels = [lab.texts[lab.of[g]] for lab in partition.labels]
            allowed = sum(
                all(allows(lab, v) for lab, v in zip(labels, person, strict=True))
                for person in everybody
            )
            worst = max(worst, 1 / allowed)
    assert worst == pytest.approx(float(found))
    assert pv.verify(tmp_path / "out").good


def allows(label: str | None, value: str | int | None) -> bool:
    """The grammar once more, in the words of the manifest."""
    if label is None or value is None:
        if label is None:
            return value is None
        rest = label.removeprefix("not ")
        listed = "missing" in rest.replace('"missing"', "").strip("{}").split(", ")
        return (
            label == "*"
            or label.startswith("missing or ")
            or (rest.startswith("{") and listed != label.startswith("not {"))
        )
    label = label.removeprefix("missing or ")
    if label == "*":
        return True
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return int(low) <= int(value) <= int(high)
    plain = (
        f'"{value}"' if value in ("Bonn, left", "*", "not {x}", "missing") else value
    )
    if label.startswith(("{", "not {")):
        inside = f"{plain}" in label.removeprefix("not ")
        return inside != label.startswith("not {")
    return label == str(plain)


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    rows = as_table(people(random.Random(1), 60))
    pq.write_table(rows, tmp_path / "everybody.parquet")
    risk = pv.Measure(journalist_risk=1, population=str(tmp_path / "everybody.parquet"))
    above = {t: ["a" if t in TOWNS[:3] else "b"] for t in TOWNS if t is not None}
    for method, words in (
        (pv.Mondrian(form="buckets"), "apart from its groups"),
        (pv.Mondrian(hierarchies={"town": above}), "name of a hierarchy's node"),
    ):
        with (
            pv.read(rows, quasi=["town", "age"], sensitive="ill") as table,
            pytest.raises(pv.PrivetError, match=words),
        ):
            pv.publish(table, [pv.Measure(k_anonymity=9), risk], method=method)
