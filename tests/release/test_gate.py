"""Nothing is written of a table with columns nobody decided about; others and drops."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli

ROLES: dict[str, Any] = {"identifier": "name", "quasi": "age", "sensitive": "ill"}
FORMS = [pv.TopDownDisclosure(), pv.Mondrian(), pv.Mondrian(form="buckets")]


def rows(n: int = 60, seed: int = 3) -> pa.Table:
    dice = random.Random(seed)
    return pa.table(
        {
            "name": [f"n{i}" for i in range(n)],
            "age": [20 + dice.randrange(6) for _ in range(n)],
            "ill": [dice.choice(["flu", "flu", "hiv", "cold"]) for _ in range(n)],
            "ward": [dice.choice(["A", "B"]) for _ in range(n)],
            "note": [f"secret-{i}" for i in range(n)],
        }
    )


def linker(limit: str = "9/10", **known: Any) -> pv.Promise:
    return pv.Promise(pv.Linker(**known), pv.Ceiling(limit), "ill", "nobody learns it")


@pytest.mark.parametrize("method", FORMS)
def test_a_table_with_an_undecided_column_is_not_written(
    method: Any, tmp_path: Path
) -> None:
    with pv.read(rows(), **ROLES) as table:
        release = pv.publish(table, [linker(knows="age")], method=method)
        with pytest.raises(pv.InputError) as refused:
            release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert 'other = ["ward", "note"]' in str(refused.value)
    assert 'drop = ["ward", "note"]' in str(refused.value)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("method", FORMS)
def test_other_is_read_back_and_drop_is_nowhere(
    method: Any, form: str, tmp_path: Path
) -> None:
    stated = [linker(), pv.Promise(pv.Linker(knows_any=1), pv.Ceiling("9/10"), "ill")]
    with pv.read(rows(), other="ward", drop="note", **ROLES) as table:
        release = pv.publish(table, stated, method=method)
        release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
    manifest = json.loads((tmp_path / "out/release.json").read_text())
    assert "other" == manifest["columns"]["ward"]["role"]
    assert "note" not in manifest["columns"]
    for file in tmp_path.rglob("*"):
        if file.is_file() and file.suffix != ".parquet":
            assert "secret-" not in file.read_text()
    assert ((), True) == ((found := pv.verify(tmp_path / "out")).problems, found.good)
    loaded = pv.load(tmp_path / "out")
    buckets = "group" in manifest
    assert (() if buckets else ("ward",)) == loaded.table.roles.other
    assert [f.belief for f in release.audit.findings] == [
        f.belief for f in loaded.audit.findings
    ]


@pytest.mark.parametrize("seed", range(8))
def test_a_linker_knows_every_quasi_and_other_column(seed: int) -> None:
    data = rows(30, seed)
    with pv.read(data, other="ward", drop="note", **ROLES) as table:
        both = pv.belief(table, pv.Linker(), "ill")
        named = pv.belief(table, pv.Linker(["age", "ward"]), "ill")
        one = pv.belief(table, pv.Linker(knows_any=1), "ill")
        single = [pv.belief(table, pv.Linker(c), "ill") for c in ("age", "ward")]
    assert named == both
    assert max(b.posterior for b in single) == one.posterior
    assert worst(data, ["age", "ward"]) == both.posterior


def worst(data: pa.Table, known: list[str]) -> Fraction:
    """The surest belief about an illness, by the definition."""
    people = data.to_pylist()
    groups: dict[Any, list[str]] = {}
    for one in people:
        groups.setdefault(tuple(one[c] for c in known), []).append(one["ill"])
    return max(
        Fraction(have.count(v), len(have)) for have in groups.values() for v in have
    )


@pytest.mark.parametrize("same_cuts", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_groups_are_judged_with_what_is_known_beside_them(
    seed: int, same_cuts: bool, tmp_path: Path
) -> None:
    """Every ward within every group is within the limit, recounted from the file."""
    data = rows(200, seed)
    method = pv.Mondrian(same_cuts=same_cuts)
    with pv.read(data, other="ward", drop="note", **ROLES) as table:
        release = pv.publish(table, [linker("3/5")], method=method)
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    written = pq.read_table(tmp_path / "out/table.parquet")
    reached = release.audit.findings[0].belief
    assert reached is not None
    assert worst(written, ["age", "ward"]) == reached.posterior <= Fraction(3, 5)
    assert worst(data, ["ward"]) <= Fraction(3, 5)


def test_what_is_known_beside_groups_may_be_infeasible() -> None:
    with pv.read(rows(), other=["ward", "note"], **ROLES) as table:
        with pytest.raises(pv.Infeasible, match="groups show ward and note as in"):
            pv.publish(table, [linker("1/2")], method=pv.Mondrian())
        # Buckets show them beside people, and tell no more than the group.
        pv.publish(table, [linker("9/10")], method=pv.Mondrian(form="buckets"))


def test_hiding_may_hide_other_columns() -> None:
    with pv.read(rows(), other=["ward", "note"], **ROLES) as table:
        release = pv.publish(table, [linker("7/10")])
    assert release.hidden is not None
    assert "note" in release.hidden


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(
        "name,age,ill,ward\n"
        + "".join(f"n{i},{20 + i % 2},{'xy'[i // 2 % 2]},w\n" for i in range(8))
    )
    return tmp_path


COLUMNS = '[columns]\nidentifier="name"\nquasi="age"\nsensitive="ill"\n{more}\n'
LINKED = '[[promise]]\nagainst="linker"\nabout="ill"\nat_most=1\n'
VIEWED = (
    '[[view]]\ncolumns=["name","age"]\n[[view]]\ncolumns=["age","ill"]\n'
    '[[promise]]\nagainst="reconstructor"\nabout="ill"\nat_most=1\n'
)
PLACES = ("-o", "out", "--custody", "vault")


@pytest.mark.parametrize(
    ("words", "stated"),
    [
        (("publish",), LINKED),
        (("publish", "--dry-run"), LINKED),
        (("publish", "--method", "mondrian"), LINKED),
        (("views",), VIEWED),
        (("views", "--propose"), VIEWED),
        (("classifier", "--target", "ill"), LINKED),
    ],
)
def test_every_command_says_what_to_decide(
    here: Path, words: tuple[str, ...], stated: str
) -> None:
    Path("p.toml").write_text(COLUMNS.format(more="") + stated)
    call = (words[0], "t.csv", "-p", "p.toml", *words[1:])
    done = CliRunner().invoke(cli, (*call, *PLACES))
    assert 2 == done.exit_code
    assert 'other = ["ward"]   # published as they are' in done.output
    assert not Path("out").exists()
    assert not Path("vault").exists()


def test_an_answer_to_no_question_must_be_left_out_by_name(here: Path) -> None:
    design = '[[question]]\nname = "ill"\nvalues = ["x", "y"]\ntruth = 0.8\n'
    promise = '[[promise]]\nagainst = "bayesian"\nabout = "ill"\nwithin = 4\n'
    Path("d.toml").write_text(design)
    Path("p.toml").write_text(promise)
    call = ("disguise", "t.csv", "-d", "d.toml", "-p", "p.toml", *PLACES)
    done = CliRunner().invoke(cli, call)
    assert 2 == done.exit_code
    assert "--drop name --drop age --drop ward" in done.output
    assert not Path("out").exists()
    drops = [w for c in ("name", "age", "ward") for w in ("--drop", c)]
    both = CliRunner().invoke(cli, (*call, *drops, "--drop", "ill"))
    assert "'ill' is both" in both.output
    assert 0 == CliRunner().invoke(cli, (*call, *drops)).exit_code


def test_a_classifier_of_an_undecided_table_is_not_written(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(3), name="a factor of three")
    roles = {"identifier": "name", "quasi": "age", "target": "ill"}
    with pv.read(rows(), **roles) as table:
        model = pv.NaiveBayes().fit_table(table)
    release = pv.publish(model, [promise])
    with pytest.raises(pv.InputError, match="'ward' and 'note' have none"):
        release.write(tmp_path / "out", custody=tmp_path / "vault")


def test_views_never_show_a_dropped_column() -> None:
    with pv.read(rows(), drop="note", **ROLES) as table:
        with pytest.raises(pv.InputError, match="must not show a column that is drop"):
            pv.Views(table, ["name", "note"])
