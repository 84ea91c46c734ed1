"""Full-domain generalisation through the front door."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from time import sleep
from typing import Any

import attrs
import pyarrow as pa
import pytest

import privet as pv
from privet.cli import cli
from privet.microdata.full_domain.full_domain_search import FullDomainResult
from privet.microdata.full_domain.publish import refuse_levels
from privet.microdata.full_domain.suppression_pool import PoolSearch
from privet.release.manifest import digest_content

JOBS = {"Cook": ["Service"], "Maid": ["Service"], "Judge": ["Law"], "Clerk": ["Law"]}


def people(dice: random.Random, rows: int) -> dict[str, list[Any]]:
    return {
        "age": [dice.choice([21, 23, 38, 44, 47, 71]) for _ in range(rows)],
        "job": [dice.choice([*JOBS, None]) for _ in range(rows)],
        "ill": [dice.choice(["flu", "hiv", "none"]) for _ in range(rows)],
    }


def read(rows: dict[str, list[Any]]) -> pv.Table:
    return pv.read(pa.table(rows), quasi=["age", "job"], sensitive="ill")


def ask(limit: str = "0.6") -> list[Any]:
    linker = pv.Promise(pv.Linker(), pv.Ceiling(limit), "ill")
    return [linker, pv.Measure(k_anonymity=2)]


def test_labels_are_the_hierarchys_own() -> None:
    rows = {
        "age": [21, 23, 38, 39],
        "job": ["Cook", "Maid", "Judge", "Clerk"],
        "ill": ["flu", "hiv", "flu", "hiv"],
    }
    method = pv.FullDomain(hierarchies={"job": JOBS})
    shown = pv.publish(read(rows), ask("1/2"), method=method).to_arrow()
    assert {"Service", "Law"} == set(shown["job"].to_pylist())
    assert {"20 to below 25", "35 to below 40"} == set(shown["age"].to_pylist())


def test_starred_people_stay_and_are_one_group() -> None:
    rows = {
        "age": [21] * 4 + [38] * 4 + [71, 72],
        "job": ["Cook"] * 9 + ["Maid"],
        "ill": ["flu", "hiv"] * 5,
    }
    release = pv.publish(read(rows), ask("1/2"), method=pv.FullDomain(suppress="0.2"))
    shown = release.to_arrow().to_pylist()
    starred = [r for r in shown if r["age"] == "*"]
    assert 2 == len(starred)
    assert {"*"} == {r["job"] for r in starred}
    assert 10 == len(shown)
    left = pv.publish(
        read(rows), ask("1/2"), method=pv.FullDomain(suppress="0.2", leave_out=True)
    )
    assert 8 == len(left.to_arrow())


@pytest.mark.parametrize("leave_out", [False, True])
def test_whom_the_search_chose_is_suppressed_however_lines_are_mixed(
    leave_out: bool,
) -> None:
    # Lines that jump between branches: values stand otherwise than they are numbered.
    towns = {"a": ["n"], "b": ["s"], "c": ["n"], "d": ["s"]}
    rows = {
        "town": ["b", "b", "b", "b", "a", "a", "c", "d"],
        "ill": ["flu", "hiv", "none", "flu", "flu", "hiv", "hiv", "flu"],
    }
    table = pv.read(pa.table(rows), quasi=["town"], sensitive="ill")
    method = pv.FullDomain(
        hierarchies={"town": towns}, suppress="0.25", leave_out=leave_out
    )
    shown = pv.publish(table, ask("1/2"), method=method).to_arrow()["town"].to_pylist()
    starred = {} if leave_out else {"*": 2}
    assert {"a": 2, "b": 4, **starred} == Counter(shown)


def test_weights_and_price_move_the_choice() -> None:
    """Who needs ages has them, and jobs are `*`; and the other way round."""
    rows = {
        "age": [21, 21, 38, 38] * 2,
        "job": ["Cook", "Judge"] * 4,
        "ill": ["flu", "flu", "flu", "flu", "hiv", "hiv", "hiv", "hiv"],
    }
    asked = [pv.Measure(k_anonymity=4)]
    found = {}
    for column in ("age", "job"):
        method = pv.FullDomain(weights={column: 5})
        shown = pv.publish(read(rows), asked, method=method).grouped
        assert shown is not None
        found[column] = shown.partition.average_widths()
    assert 0 == found["age"]["age"] < found["age"]["job"]
    assert 0 == found["job"]["job"] < found["job"]["age"]


def test_it_is_verified_and_keeps_its_method(tmp_path: Path) -> None:
    table = read(people(random.Random(3), 40))
    method = pv.FullDomain(hierarchies={"job": JOBS}, suppress="0.2", subtrees=True)
    release = pv.publish(table, ask("0.7"), method=method)
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert "full-domain" == pv.load(tmp_path / "out").method
    assert pv.verify(tmp_path / "out").good


@pytest.mark.parametrize(
    "lie",
    [
        {"suppressed": 1},
        {"shown_as": "left out"},
        {"by": "subtrees"},
        {"optimum": "local"},
        {"cost": 0.5},
        None,
    ],
)
def test_what_a_manifest_says_of_the_choice_is_not_believed(
    tmp_path: Path, lie: dict[str, Any] | None
) -> None:
    table = read(
        {
            "age": [21] * 4 + [38] * 4 + [71, 72],
            "job": ["Cook"] * 9 + ["Maid"],
            "ill": ["flu", "hiv"] * 5,
        }
    )
    method = pv.FullDomain(suppress="0.2")
    release = pv.publish(table, ask("1/2"), method=method, utility=False)
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    path = tmp_path / "out" / "release.json"
    told = json.loads(path.read_text())
    assert 2 == told["chosen"]["suppressed"]
    note = (tmp_path / "out" / "README.txt").read_text()
    assert "2 people show * in every known column: one more group." in note
    assert "No other choice of levels keeps more." in note
    if lie is None:
        del told["chosen"]
    else:
        told["chosen"] |= lie
    told["digest"] = digest_content(told)
    path.write_text(json.dumps(told))
    try:
        good = pv.verify(tmp_path / "out").good
    except pv.InputError:
        good = False
    assert not good


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    rows = people(random.Random(4), 60)
    lines = [",".join(rows)]
    lines += [
        ",".join("" if v is None else str(v) for v in r)
        for r in zip(*rows.values(), strict=True)
    ]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    Path("p.toml").write_text(
        '[columns]\nquasi = ["age", "job"]\nsensitive = ["ill"]\n'
        '[[promise]]\nagainst = "linker"\nabout = "ill"\nat_most = 0.7\n'
    )
    common = ["publish", "t.csv", "-p", "p.toml", "--suppress", "0.1", "-q"]
    for method in ("full-domain", "subtrees"):
        to = ["-o", method, "--custody", f"v-{method}", "--weigh", "age=2"]
        done = CliRunner().invoke(cli, [*common, *to, "--method", method])
        assert 0 == done.exit_code, done.output
    wrong = CliRunner().invoke(
        cli, ["publish", "t.csv", "-p", "p.toml", "--leave-out", "--dry-run"]
    )
    assert 2 == wrong.exit_code
    assert "--leave-out does not go with --method disclose" in wrong.output


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"weights": {"age": 0}}, "must be above 0"),
        ({"price": -1}, "price must be 0 or more"),
        ({"suppress": 1}, "suppress must be from 0 to below 1"),
        ({"order": {"job": ["a"]}, "hierarchies": {"job": JOBS}}, "or an order"),
    ],
)
def test_nonsense_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(pv.InputError, match=words):
        pv.FullDomain(**given)


def test_windows_that_everybody_breaks_are_infeasible() -> None:
    rows = {"age": [1, 2, 3], "job": ["a", "b", "c"], "ill": [1.5, 2.5, 9.5]}
    window = pv.Promise(pv.Linker(), pv.Ceiling("0.5"), {"ill": {"within": 2}})
    with pytest.raises(pv.Infeasible, match="2/3") as found:
        pv.publish(read(rows), window, method=pv.FullDomain())
    assert Fraction(2, 3) == found.value.best


def test_weights_of_unknown_columns_are_refused() -> None:
    rows = {"age": [1, 2, 3], "job": ["a", "b", "c"], "ill": [1.5, 2.5, 9.5]}
    with pytest.raises(pv.InputError, match="'ill' is none"):
        pv.publish(read(rows), ask(), method=pv.FullDomain(weights={"ill": 2}))


def test_what_cannot_be_kept_is_infeasible() -> None:
    rows = {"age": [1, 2, 3], "job": ["a", "b", "c"], "ill": ["x", "x", "y"]}
    with pytest.raises(pv.Infeasible):
        pv.publish(read(rows), ask("0.5"), method=pv.FullDomain(suppress="0.3"))


@pytest.mark.parametrize(
    ("suppress", "companions", "proved"),
    [("0", False, True), ("0.05", False, False), ("0", True, False)],
)
def test_only_a_search_that_tries_everything_says_cannot(
    suppress: str, companions: bool, proved: bool
) -> None:
    """A set of people to suppress may be missed; so may what a bound refuses."""
    nothing = FullDomainResult(None, 1.0, 1.0, None, 3, 8)
    told = str(refuse_levels(nothing, pv.FullDomain(suppress=suppress), companions))
    assert "3 of 8 combinations were judged" in told
    assert proved == ("cannot" in told)
    assert proved != ("may be safe" in told)


def test_measures_that_larger_groups_worsen_are_judged_node_by_node() -> None:
    """delta-disclosure cannot lead Mondrian; here no node is taken that breaks it."""
    rows = {
        "age": [1, 2, 3, 4, 11, 12, 13, 14],
        "job": ["a"] * 8,
        "ill": ["x", "y"] * 4,
    }
    release = pv.publish(
        read(rows), pv.Measure(delta_disclosure="0.5"), method=pv.FullDomain()
    )
    assert [pv.Verdict.SAFE] == [f.verdict for f in release.audit.findings]
    assert release.grouped is not None
    assert 2 == len(release.grouped.partition)


def test_subtrees_that_were_cut_short_claim_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("privet.microdata.full_domain.subtrees.MOST_ROLLED", 1)
    table = read(people(random.Random(3), 40))
    method = pv.FullDomain(hierarchies={"job": JOBS}, subtrees=True)
    release = pv.publish(table, ask("0.7"), method=method, utility=False)
    assert release.grouped is not None
    choice = release.grouped.partition.choice
    assert choice is not None
    assert "open" == choice.optimum


def test_only_people_are_counted_and_left_out() -> None:
    rows = {"age": [1, 1, 3], "job": ["a"] * 3, "ill": ["x"] * 3}
    method = pv.FullDomain(suppress="0.4", leave_out=True)
    release = pv.publish(read(rows), pv.Measure(k_anonymity=2), method=method)
    shown = release.accept({"ill": "a test"}).to_arrow()
    assert [1, 1] == shown["age"].to_pylist()


@pytest.mark.parametrize("about", ["ill", {"pay": {"within": 1}}])
def test_who_is_left_may_keep_what_everybody_does_not(about: Any) -> None:
    """Four of six have flu, and 2 of 4 once two are left out: no 'cannot' before."""
    rows = {
        "age": [1, 1, 1, 1, 9, 9],
        "job": ["Cook"] * 6,
        "ill": ["flu", "hiv", "flu", "hiv", "flu", "flu"],
        "pay": [1, 8, 1, 8, 1, 1],
    }
    table = pv.read(pa.table(rows), quasi=["age", "job"], sensitive=["ill", "pay"])
    half = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), about)
    with pytest.raises(pv.Infeasible, match="2/3"):
        pv.publish(table, half, method=pv.FullDomain(suppress="0.4"))
    method = pv.FullDomain(suppress="0.4", leave_out=True)
    release = pv.publish(table, half, method=method)
    assert 4 == len(release.table)
    with pytest.raises(pv.Infeasible, match=r"No level .* was found"):
        pv.publish(table, half, method=attrs.evolve(method, suppress="0.1"))


def test_a_value_called_star_is_no_star() -> None:
    people = {
        "age": [1] * 5,
        "job": ["*", "*", "Cook", "Cook", "Maid"],
        "ill": ["x"] * 5,
    }
    method = pv.FullDomain(suppress="0.4", price="0.1")
    release = pv.publish(read(people), pv.Measure(k_anonymity=2), method=method)
    rows = release.accept({"ill": "a test"}).to_arrow()
    shown = Counter(rows["job"].to_pylist())
    assert 5 == shown.total()
    assert min(shown.values()) >= 2


def test_a_search_that_finds_nothing_ends_with_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing can be shown by then, and nobody knows that nothing could be."""
    judged, choose = list[int](), PoolSearch.choose

    def choose_slowly(*given: Any) -> Any:
        judged.append(1)
        sleep(0.05)
        return choose(*given)

    monkeypatch.setattr(PoolSearch, "choose", choose_slowly)
    dice = random.Random(12)
    rows: dict[str, list[Any]] = {
        c: [dice.randrange(64) for _ in range(200)] for c in ("age", "job", "zip")
    }
    rows["ill"] = [i % 4 > 0 for i in range(200)]
    table = pv.read(pa.table(rows), quasi=["age", "job", "zip"], sensitive="ill")
    method = pv.FullDomain(suppress="0.1", leave_out=True)
    with pytest.raises(pv.Stopped, match="time limit"):
        pv.publish(table, ask("0.5"), method=method, max_seconds=1.5)
    assert len(judged) < 60


@pytest.mark.skipif(
    "PRIVET_DATA" not in os.environ,
    reason="PRIVET_DATA must name a folder with anonymize/, the tables that ARX ships",
)
@pytest.mark.parametrize(
    ("name", "secret", "measures", "levels", "subtrees"),
    [
        (
            "adult",
            "occupation",
            {"k_anonymity": 5, "distinct_l_diversity": 3, "t_closeness": "0.5"},
            0.345974,
            0.325,
        ),
        ("health", "health", {"k_anonymity": 5, "t_closeness": "0.3"}, 0.268468, 0.24),
    ],
)
def test_the_optimum_of_real_tables(
    name: str, secret: str, measures: dict[str, Any], levels: float, subtrees: float
) -> None:
    """What exhaustive search and ARX find; and less by subtrees."""
    folder = Path(os.environ["PRIVET_DATA"]) / "anonymize" / name
    quasi = [f.stem for f in folder.glob("*.csv") if f.stem not in (name, secret)]
    whole = pv.read(folder / f"{name}.csv")
    others = [c for c in whole.schema.names if c not in {*quasi, secret}]
    table = pv.read(folder / f"{name}.csv", quasi=quasi, sensitive=secret, drop=others)
    asked = [pv.Measure(**{key: level}) for key, level in measures.items()]
    given = {c: str(folder / f"{c}.csv") for c in quasi}
    found = []
    for below in (False, True):
        method = pv.FullDomain(hierarchies=given, suppress="0.05", subtrees=below)
        release = pv.publish(table, asked, method=method, utility=False)
        assert release.grouped is not None
        partition = release.grouped.partition
        lost = (partition.loss * partition.leaves[:, 2]).sum() / partition.people
        found.append(lost / len(quasi))
    assert levels == pytest.approx(found[0], abs=1e-6)
    assert found[1] <= subtrees
