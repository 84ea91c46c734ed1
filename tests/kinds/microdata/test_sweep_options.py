"""The options of disclosure in sweeps: chance, utilities, hierarchies, progress."""

from __future__ import annotations

import random
from math import log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.suppression.significance import compute_tail, find_bar
from privet.release.refine import RefinementProgress


def noisy_table(rows: int = 4000) -> pa.Table:
    """A code of 1,000 values that tells nothing; a sex that tells the class."""
    dice = random.Random(5)
    sex = [dice.choice("fm") for _ in range(rows)]
    return pa.table(
        {
            "code": [f"{dice.randrange(1000):04d}" for _ in range(rows)],
            "sex": sex,
            "ill": ["yes" if dice.random() < 0.1 else "no" for _ in range(rows)],
            "t": ["a" if dice.random() < 0.45 + 0.1 * (s == "f") else "b" for s in sex],
        }
    )


ILL = pv.Promise(pv.Linker(["code", "sex"]), pv.Ceiling("2/5"), {"ill": "yes"})


def read_noisy() -> pv.Table:
    return pv.read(noisy_table(), quasi=["code", "sex"], sensitive="ill", target="t")


def test_the_bar_of_chance() -> None:
    """Vectors of chi-square: 3.841 at 5 % with one degree, 18.307 with ten."""
    assert pytest.approx(0.05, abs=1e-6) == compute_tail(3.8414588, 1)
    assert pytest.approx(0.05, abs=1e-6) == compute_tail(18.3070381, 10)
    assert pytest.approx(0.01, abs=1e-6) == compute_tail(9.2103404, 2)
    assert pytest.approx(1.7147e-5, rel=1e-4) == find_bar(46_071, 10**6, 2)
    assert pytest.approx(18.3070381 / (2 * 50 * log(2)), rel=1e-6) == find_bar(
        1, 50, 11
    )
    assert 0.0 == find_bar(10, 100, 1)


def test_noise_does_not_outbid_what_tells_something() -> None:
    release = pv.publish(read_noisy(), [ILL])
    first = release.steps[0]
    assert "sex" == first.column
    assert {"f", "m"} == set(first.values)
    assert "sex" not in release.hidden
    assert "finished" == release.ended


def test_weighted_and_maximal_are_heard() -> None:
    few = pv.publish(read_noisy(), [ILL], method=pv.TopDownDisclosure(maximal=False))
    assert {"sex"} == {s.column for s in few.steps}
    assert "chosen" == few.ended
    plain = pv.publish(read_noisy(), [ILL], method=pv.TopDownDisclosure(weighted=False))
    assert plain.steps[0].gain >= few.steps[0].gain


def test_a_function_as_utility() -> None:
    method = pv.TopDownDisclosure(utility=lambda counts: 1.0 / counts.sum(axis=1))
    release = pv.publish(read_noisy(), [ILL], method=method)
    assert all(f.verdict is pv.Verdict.SAFE for f in release.audit.findings)
    assert "finished" == release.ended


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_rows(rows: int) -> None:
    table = pa.table(
        {"a": ["x"] * rows, "b": [None] * rows, "s": [f"v{i}" for i in range(rows)]}
    )
    source = pv.read(table, quasi=["a", "b"], sensitive="s")
    promise = pv.Promise(pv.Linker(["a", "b"]), pv.Ceiling("1/2"), about="s")
    if rows == 1:
        with pytest.raises(pv.Infeasible):
            pv.publish(source, [promise])
    else:
        assert pv.publish(source, [promise]).safe


def test_many_protected_values() -> None:
    """A promise about each of 300 values is one rule, and every value is counted."""
    dice = random.Random(3)
    table = pa.table(
        {
            "a": [f"a{dice.randrange(60)}" for _ in range(3000)],
            "b": [f"b{dice.randrange(5)}" for _ in range(3000)],
            "s": [f"s{int(dice.random() ** 3 * 300)}" for _ in range(3000)],
        }
    )
    source = pv.read(table, quasi=["a", "b"], sensitive="s")
    promise = pv.Promise(pv.Linker(["a", "b"]), pv.Ceiling("1/4"), about="s")
    release = pv.publish(source, [promise])
    assert release.safe
    assert {1} == {len(s.confidences) for s in release.steps}
    worst = release.audit.findings[0].belief.posterior
    assert max(release.steps[-1].confidences) == worst


def test_progress_tells_share_and_time() -> None:
    told: list[RefinementProgress] = []
    pv.publish(read_noisy(), [ILL], watcher=told.append)
    sweeps = [t for t in told if t.doing.startswith("sweeping")]
    assert all(t.share is not None and 0 <= t.share <= 1 for t in sweeps)
    assert sweeps
    assert all(t.seconds is None or t.seconds >= 0 for t in told)


def test_hierarchies_are_made_and_refused() -> None:
    method = pv.TopDownDisclosure(hierarchies={"code": "auto"})
    release = pv.publish(read_noisy(), [ILL], method=method)
    called = release.recipe.columns["code"].called
    assert called
    assert all("…" in name for name in called.values())
    for options in ({"paper": True}, {"hidden": "null"}):
        with pytest.raises(pv.InputError, match="hierarchies must be left out"):
            pv.TopDownDisclosure(hierarchies={"code": "auto"}, **options)
    with pytest.raises(pv.InputError, match="improve must be one of"):
        pv.TopDownDisclosure(improve="yes")
    missing = pv.TopDownDisclosure(hierarchies={"sex": {"f": ["any"]}})
    with pytest.raises(pv.InputError, match="must have a row for every value"):
        pv.publish(read_noisy(), [ILL], method=missing)


@pytest.mark.parametrize("paper", [False, True], ids=["sweeps", "paper"])
def test_several_empty_bins_are_no_reason_to_stop(paper: bool) -> None:
    """Everybody is below 30: an interval of two empty bins tells nothing."""
    columns = {
        "job": list("aabbb"),
        "age": [10, 20, 25, 15, 12],
        "ill": ["yes", "yes", "no", "no", "no"],
        "t": list("ababa"),
    }
    roles = {"quasi": ["job", "age"], "sensitive": "ill", "target": "t"}
    promise = pv.Promise(pv.Linker(["job", "age"]), pv.Ceiling("1/2"), {"ill": "yes"})
    method = pv.TopDownDisclosure(ordered=["age"], split="infogain", paper=paper)
    table = pv.read(pa.table(columns), bins={"age": [30, 50]}, **roles)
    release = pv.publish(table, promise, method=method)
    assert {"job": ["a", "b"]} == release.hidden
    assert pv.Minimality().attack(release).fitting > 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"hierarchies": {"q": {"a": ["X"]}}}, "a row for every value"),
        ({"hierarchies": {"q": {"a": ["X", "Z"], "b": ["X", "W"]}}}, "must be nested"),
        ({"keep": ["nobody"]}, "nobody"),
        ({"ordered": ["s"]}, "columns whose values may be hidden"),
    ],
)
def test_nonsense_is_refused_where_nothing_must_be_hidden(
    given: Any, words: str
) -> None:
    frame = pa.table({"q": ["a", "b"] * 2, "s": ["x", "x", "y", "y"]})
    table = pv.read(frame, quasi="q", sensitive="s")
    stated = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "s")
    assert "as it is" == pv.publish(table, stated).method
    with pytest.raises(pv.InputError, match=words):
        pv.publish(table, stated, method=pv.TopDownDisclosure(**given))


def test_a_label_must_not_read_like_a_value() -> None:
    rows = [("x", "yes"), ("x", "no"), ("y", "no"), ("y", "no"), ("z", "no")] * 2
    table = pa.table(
        {"a": [a for a, _ in rows] + ["other u"], "s": [s for _, s in rows] + ["no"]}
    )
    levels = {"x": ["u"], "y": ["u"], "z": ["u"], "other u": ["w"]}
    source = pv.read(table, quasi=["a"], sensitive="s")
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling("1/4"), {"s": "yes"})
    method = pv.TopDownDisclosure(hierarchies={"a": levels})
    with pytest.raises(pv.InputError, match="must not read like one of its values"):
        pv.publish(source, [promise], method=method)


@pytest.mark.parametrize(
    ("node", "beside", "words"),
    [("other A", "F", "Labels .* must differ"), ("C", "⊥", "must not be a label")],
)
def test_a_label_stands_for_one_thing(node: str, beside: str, words: str) -> None:
    """Of A only a may be shown: its rest reads "other A", and hidden values "⊥"."""
    values = [*"aaaab", *"eeccd", *"dffgg"]
    ill = [*"xyxyx", *"yyxxy", *"yxxyy"]
    source = pv.read(pa.table({"q": values, "s": ill}), quasi="q", sensitive="s")
    above = {"abe": "A", "cd": node, "fg": beside}
    levels = {value: [name] for below, name in above.items() for value in below}
    method = pv.TopDownDisclosure(hierarchies={"q": levels})
    promise = pv.Promise(pv.Linker(), pv.Ceiling("2/3"), "s")
    with pytest.raises(pv.InputError, match=words):
        pv.publish(source, [promise], method=method)


def test_a_later_delivery_of_nodes(tmp_path: Path) -> None:
    """What was shown by nodes is hidden when more must be hidden, and stays safe."""
    dice = random.Random(8)
    rows = [
        (f"{dice.randrange(12) + 100}", dice.choice("fm"), dice.random() < 0.3)
        for _ in range(90)
    ]
    tables = [
        pa.table(
            {
                "code": [c for c, _, _ in rows[:many]],
                "sex": [s for _, s, _ in rows[:many]],
                "ill": ["yes" if ill else "no" for _, _, ill in rows[:many]],
            }
        )
        for many in (70, 90)
    ]
    first, second = (pv.read(t, quasi=["code", "sex"], sensitive="ill") for t in tables)
    promise = pv.Promise(pv.Linker(["code", "sex"]), pv.Ceiling("1/2"), {"ill": "yes"})
    levels = {str(c): [f"{str(c)[:2]}…"] for c in range(100, 112)}
    method = pv.TopDownDisclosure(hierarchies={"code": levels})
    release = pv.publish(first, [promise], method=method)
    assert release.recipe.columns["code"].called
    release.accept({"ill": "made up"}).write(
        tmp_path / "out", custody=tmp_path / "vault"
    )
    recipe = pv.Recipe.load(tmp_path / "vault")
    later = pv.publish(second, [promise], recipe=recipe, since=first)
    assert all(f.verdict is pv.Verdict.SAFE for f in later.audit.findings)
    assert not later.recipe.columns["code"].called
