"""Learning from rows of any size, and testing on them: as from frames, and by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import privet as pv
from privet.cli import cli
from privet.responses.channels import Keep

MATRIX = pv.Matrix([[0.7, 0.1, 0.2], [0.2, 0.8, 0.1], [0.1, 0.1, 0.7]])


def design(channel: object = MATRIX) -> pv.Design:
    return pv.Design(
        [
            pv.Question("job", ["cook", "baker", "smith", "maid"]),
            pv.Question("age", bins=[30, 50]),
            pv.Question("pay", ["high", "low", "mid"]),  # not in alphabetical order
        ],
        [
            pv.Group("job", pv.KAry("0.85")),
            pv.Group("age", pv.Replace("0.8", ["1/2", "1/4", "1/4"])),
            pv.Group("pay", channel),
        ],
    )


def people(number: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    pay = rng.choice(["high", "low", "mid"], number, p=[0.2, 0.5, 0.3])
    jobs = {"high": [6, 2, 1, 1], "low": [1, 2, 2, 5], "mid": [1, 6, 2, 1]}
    old = {"high": 60, "low": 25, "mid": 40}
    return pd.DataFrame(
        {
            "job": [
                rng.choice(["cook", "baker", "smith", "maid"], p=np.array(jobs[p]) / 10)
                for p in pay
            ],
            "age": [int(old[p] + rng.integers(-12, 12)) for p in pay],
            "pay": pay,
        }
    )


def seen(number: int, channel: object = MATRIX, seed: int = 1) -> pd.DataFrame:
    disguise = pv.RandomizedResponse(design=design(channel), seed=seed)
    return disguise.transform(people(number, seed))


@pytest.mark.parametrize(
    "channel", [MATRIX, pv.KAry("0.8"), Keep()], ids=lambda c: c.kind
)
def test_rows_teach_what_frames_teach(channel: object) -> None:
    frame, asked = seen(3_000, channel), design(channel)
    plain = pv.DisguisedNaiveBayes(asked).fit(frame[["job", "age"]], frame["pay"])
    with pv.read(frame) as table:
        responses = pv.Responses(table, asked)
        for rows in (responses, table):
            model = pv.DisguisedNaiveBayes(asked).fit(rows, "pay")
            assert list(plain.classes_) == list(model.classes_)
            assert np.allclose(plain.log_prior_, model.log_prior_)
            for c in ("job", "age"):
                assert np.allclose(plain.log_likelihood_[c], model.log_likelihood_[c])
        found = model.score_rows(responses)
    wanted = plain.score_disguised(frame[["job", "age"]], frame["pay"])
    assert wanted.unbiased == pytest.approx(found.unbiased)
    assert wanted.standard_error == pytest.approx(found.standard_error)
    assert wanted.interval == pytest.approx(found.interval)


def test_the_score_is_that_of_true_records() -> None:
    """Learnt and tested on disguised rows; the truth lies in the interval."""
    asked = design(pv.KAry("0.9"))
    with pv.read(seen(40_000, pv.KAry("0.9"))) as table:
        model = pv.DisguisedNaiveBayes(asked).fit(table, "pay")
    true = people(20_000, 7)
    right = (model.predict(true[["job", "age"]]) == true["pay"]).mean()
    disguise = pv.RandomizedResponse(design=asked, seed=8)
    with pv.read(disguise.transform(true)) as table:
        found = model.score_rows(table, confidence=0.999)
    assert found.interval[0] < right < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.15


def test_predictions_bin_what_the_design_bins() -> None:
    asked = design()
    with pv.read(seen(2_000)) as table:
        model = pv.DisguisedNaiveBayes(asked).fit(table, "pay")
    raw = pa.table({"job": ["cook"] * 4, "age": [29, 30, 49, 80]})
    labels = ["below 30", "30 to below 50", "30 to below 50", "50 and more"]
    told = pa.table({"job": ["cook"] * 4, "age": labels})
    assert np.allclose(model.predict_proba(raw), model.predict_proba(told))
    missing = pa.table({"job": ["cook"], "age": pa.array([None], pa.int64())})
    assert 1 == pytest.approx(model.predict_proba(missing).sum())


def test_rows_are_rated_by_what_was_counted_anyway() -> None:
    """The same as by counting each question once more; a matrix stands for itself."""
    frame, asked = seen(3_000), design()
    with pv.read(frame) as table:
        model = pv.DisguisedNaiveBayes(asked).fit(table, "pay")
        learnt = model.misfit_
        model.score_rows(table)
        assert learnt == model.misfit_
        wanted = min(
            pv.estimate(table, alone(asked, c)).misfit().logarithm
            for c in asked.columns
        )
    assert (3, 0, 3_000) == (learnt.questions, learnt.pairs, learnt.rows)
    assert min(wanted + np.log(3), 0) == pytest.approx(learnt.logarithm)


def alone(asked: pv.Design, column: str) -> pv.Design:
    """The design with one of its questions."""
    groups = [g for g in asked.groups if g.columns == (column,)]
    return pv.Design([asked.question(column)], groups)


def test_very_many_records_are_scored_by_halves() -> None:
    """22 attributes and a class: 8 million records, of which few occur."""
    names = [f"q{i}" for i in range(23)]
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, 400)
    columns = {c: (rng.random(400) < 0.3 + 0.4 * label).astype(int) for c in names[:-1]}
    frame = pd.DataFrame({**columns, names[-1]: label})
    disguise = pv.RandomizedResponse(truth="0.99", seed=4)
    shown = disguise.fit_transform(frame)
    model = pv.DisguisedNaiveBayes(disguise).fit(shown[names[:-1]], shown[names[-1]])
    with pv.read(shown) as table:
        found = model.score_rows(table)
    wanted = model.score_disguised(shown[names[:-1]], shown[names[-1]])
    assert wanted.unbiased == pytest.approx(found.unbiased)
    assert wanted.standard_error == pytest.approx(found.standard_error)


def test_models_are_written_and_loaded(tmp_path: Path) -> None:
    with pv.read(seen(2_000)) as table:
        model = pv.DisguisedNaiveBayes(design()).fit(table, "pay")
        model.save(tmp_path / "m.json")
        again = pv.DisguisedNaiveBayes.load(tmp_path / "m.json")
        true = people(50)[["job", "age"]]
        assert list(model.predict(true)) == list(again.predict(true))
        assert model.score_rows(table) == again.score_rows(table)
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "m.json")


@pytest.mark.parametrize("classes", [[10, 9, -3], [2.0, -1.0, 8.0], [True, False]])
def test_a_loaded_model_s_classes_are_what_they_were(
    classes: list[object], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"job": rng.choice(["a", "b"], 400), "got": rng.choice(classes, 400)}
    )
    questions = [pv.Question("job", ["a", "b"]), pv.Question("got", classes)]
    both = pv.Design(questions, [pv.Group(q.name, pv.KAry("0.9")) for q in questions])
    disguised = pv.RandomizedResponse(design=both, seed=1).transform(frame)
    model = pv.DisguisedNaiveBayes(both).fit(disguised[["job"]], disguised["got"])
    with pv.read(disguised) as table:
        counted = pv.DisguisedNaiveBayes(both).fit(table, "got")
    for i, learnt in enumerate((model, counted)):
        learnt.save(tmp_path / f"{i}.json")
        again = pv.DisguisedNaiveBayes.load(tmp_path / f"{i}.json")
        assert sorted(classes) == learnt.classes_.tolist() == again.classes_.tolist()
        assert model.score(frame[["job"]], frame["got"]) == again.score(
            frame[["job"]], frame["got"]
        )
        assert np.allclose(model.log_prior_, again.log_prior_)


SPOILED = {
    "type": ("type", "date"),
    "another type": ("type", "integer"),
    "kind": ("kind", "another model"),
    "class": ("class", "wage"),
    "classes": ("classes", ["high", "low"]),
    "prior": ("log_prior", [0.5]),
    "not a number": ("log_prior", [float("nan")] * 3),
    "table": ("log_likelihood", {"job": [[0.1]]}),
    "no table": ("log_likelihood", {}),
    "design": ("design", {"question": []}),
}


@pytest.mark.parametrize("name", SPOILED)
def test_other_files_are_no_models(tmp_path: Path, name: str) -> None:
    with pv.read(seen(500)) as table:
        content = pv.DisguisedNaiveBayes(design()).fit(table, "pay").to_dict()
    key, value = SPOILED[name]
    path = tmp_path / "m.json"
    path.write_text(json.dumps({**content, key: value}))
    with pytest.raises(pv.InputError, match="privet learn wrote"):
        pv.DisguisedNaiveBayes.load(path)
    path.write_text("{")
    with pytest.raises(pv.InputError, match="privet learn wrote"):
        pv.DisguisedNaiveBayes.load(path)


def test_the_class_is_found_by_name_or_refused() -> None:
    with pv.read(seen(500)) as table:
        learner = pv.DisguisedNaiveBayes(design())
        with pytest.raises(pv.ColumnNotFound, match="pay"):
            learner.fit(table, "Pay")
        with pytest.raises(pv.InputError, match="must be named"):
            learner.fit(table)
        with pytest.raises(pv.InputError, match="beside the class"):
            learner.fit_rows(table, "pay", attributes=["pay"])
        named = pv.DisguisedNaiveBayes(design(), target="pay").fit(table)
        assert ("job", "age") == named.columns_
        few = learner.fit_rows(table, "pay", attributes=["age"])
        assert ("age",) == few.columns_
        other = pv.Responses(table, design(pv.KAry("0.5")))
        with pytest.raises(pv.InputError, match="another one"):
            few.score_rows(other)


def test_a_class_without_its_name_is_not_taken_as_public() -> None:
    """Its accuracy was told as if labels were true: far below what it is."""
    asked = design(pv.KAry("0.7"))
    frame = seen(20_000, pv.KAry("0.7"))
    model = pv.DisguisedNaiveBayes(asked).fit(frame[["job", "age"]], frame["pay"])
    true = people(5_000, 9)
    right = (model.predict(true[["job", "age"]]) == true["pay"]).mean()
    found = model.score_disguised(frame[["job", "age"]], frame["pay"])
    assert right == pytest.approx(found.value, abs=0.06)
    tested = frame[["job", "age"]], frame["pay"].to_numpy()
    assert found == model.score_disguised(*tested)  # it knows which class it learnt
    with pytest.raises(pv.InputError, match="must have a name"):
        pv.score_disguised(model, *tested, asked)
    named = pv.score_disguised(model, *tested, asked, target="pay")
    assert found.unbiased == pytest.approx(named.unbiased)


# From the command line --------------------------------------------------------------

DESIGN = """
[[question]]
name = "smokes"
values = ["no", "yes"]
truth = 0.9

[[question]]
name = "age"
bins = [30, 50]
truth = 0.85

[[question]]
name = "ill"
values = ["no", "yes"]
truth = 0.9
"""
KEPT = """
[[promise]]
against = "bayesian"
about = "ill"
within = 9
unrelated = true
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{'yes' if i % 3 == 0 else 'no'},{20 + i % 50},{'yes' if i % 3 == 0 else 'no'}"
        for i in range(6_000)
    ]
    Path("a.csv").write_text("smokes,age,ill\n" + "\n".join(rows) + "\n")
    Path("d.toml").write_text(DESIGN)
    Path("p.toml").write_text(KEPT)
    made = run(
        *("disguise", "a.csv", "-d", "d.toml", "-p", "p.toml"),
        *("-o", "out", "--custody", "vault"),
    )
    assert 0 == made.exit_code, made.output
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def test_learn_and_score_a_release(here: Path) -> None:
    learnt = run("learn", "out", "--target", "ill", "-o", "m.json")
    assert 0 == learnt.exit_code, learnt.output
    assert "model of ill from 2 questions" in learnt.output
    found = run("score", "m.json", "out")
    assert 0 == found.exit_code, found.output
    assert "Always saying the commonest class" in found.output
    told = json.loads(run("score", "m.json", "out", "--json").output)
    low, high = told["accuracy"]["interval"]
    # Ill is smokes: whoever knows that is always right. One draw of 40 may miss it.
    assert low < 1 < high + 0.1
    assert told["majority"] == pytest.approx(2 / 3, abs=0.05)
    assert 2 == run("learn", "out", "--target", "ill", "-o", "m.json").exit_code


def test_learn_from_a_file_and_from_a_running_survey(here: Path) -> None:
    import duckdb

    from privet.responses.collect.store import Store

    asked = ("--target", "ill", "--from", "smokes")
    file = run("learn", "out/table.parquet", "-d", "d.toml", *asked, "-o", "a.json")
    assert 0 == file.exit_code, file.output
    store = Store(Path("live.duckdb"), pv.Design.load("d.toml"))
    with duckdb.connect("live.duckdb") as con:  # as if answers had come in
        con.execute("INSERT INTO answers SELECT * FROM 'out/table.parquet'")
    live = run("learn", "live.duckdb", *asked, "-o", "b.json")
    assert 0 == live.exit_code, live.output
    assert 0 == run("score", "b.json", "live.duckdb").exit_code
    store.close()
    one, other = (pv.DisguisedNaiveBayes.load(f"{name}.json") for name in "ab")
    assert ("smokes",) == other.columns_
    assert np.allclose(one.log_prior_, other.log_prior_)


def test_a_running_survey_is_not_held_in_memory(tmp_path: Path) -> None:
    """Its answers are copied to a file, which is removed with them."""
    import gc

    import duckdb

    from privet.responses.collect.store import Store, read_answers

    path = tmp_path / "live.duckdb"
    store = Store(path, design())
    with duckdb.connect(str(path)) as con:
        con.execute(
            "INSERT INTO answers SELECT 'cook', 'below 30', 'low' FROM range(9)"
        )
    before = pa.total_allocated_bytes()
    found = read_answers(path)
    assert 0 == pa.total_allocated_bytes() - before
    (file,) = map(Path, found.rows.source.paths)
    assert file.exists()
    with duckdb.connect(str(path)) as con:  # the service goes on meanwhile
        con.execute("INSERT INTO answers VALUES ('maid', '50 and more', 'high')")
    assert (9, 10) == (len(found.rows), len(read_answers(path).rows))
    assert 9 == pv.estimate(found, found.design).share(pay="low").n
    found.close()
    del found
    gc.collect()
    assert not file.exists()
    store.close()


def test_a_memory_limit_holds_for_a_running_survey(here: Path) -> None:
    from privet.responses.collect.store import Store

    Store(Path("live.duckdb"), pv.Design.load("d.toml")).close()
    refused = run("estimate", "live.duckdb", "--memory-limit", "much")
    assert 2 == refused.exit_code
    assert "memory_limit must be a value DuckDB takes" in refused.output


def test_answers_that_were_never_disguised_are_told(here: Path) -> None:
    """Everybody says no: at truth 9/10 chance does not do that."""
    rows = "smokes,age,ill\n" + "no,below 30,no\n" * 400
    Path("raw.csv").write_text(rows, encoding="utf-8")
    asked = ("raw.csv", "-d", "d.toml")
    learnt = run("learn", *asked, "--target", "ill", "-o", "m.json")
    assert 0 == learnt.exit_code, learnt.output
    assert "do not look disguised by this design" in learnt.output
    assert (
        "do not look disguised by this design" in run("score", "m.json", *asked).output
    )
    told = json.loads(run("score", "m.json", *asked, "--json").output)
    assert (True, 3, 0) == tuple(
        told["misfit"][k] for k in ("sign", "questions", "pairs")
    )
    good = run("learn", "out", "--target", "ill", "-o", "good.json").output
    assert "No sign that these answers were disguised otherwise" in good


def test_what_is_wrong_is_told(here: Path) -> None:
    wrong = run("learn", "out", "--target", "illl", "-o", "m.json")
    assert 2 == wrong.exit_code
    assert "'ill'" in wrong.output
    assert not Path("m.json").exists()
    assert 2 == run("score", "d.toml", "out").exit_code
    assert 2 == run("learn", "a.csv", "--target", "ill", "-o", "m.json").exit_code
