"""Views as a release: written once each, recounted, loaded, verified, refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.demo.tables import clinic_path
from privet.views.counting.bipartite_covers import star_rho

pytestmark = pytest.mark.engines

VIEWS = (["name", "age"], ["age", "job", "problem"])
ONE_ROW = pv.Promise(
    pv.Reconstructor("restricted"),
    pv.Ceiling("1/3"),
    {"name": ["George", "John", "Sarah"], "problem": "*"},
    "nobody at 45",
)


@pytest.fixture
def patients():
    with pv.read(
        str(clinic_path()),
        identifier="name",
        sensitive="problem",
        other=["age", "job", "number"],
    ) as table:
        yield table


def opened(columns, **roles):
    decided = {roles.get(r) for r in ("identifier", "sensitive", "weight", "unit")}
    other = [c for c in columns if c not in decided]
    return pv.read(pa.table(columns), **({"other": other} | roles))


@pytest.mark.parametrize("form", ["parquet", "csv", "xlsx", "sav", "dta"])
def test_views_survive_a_round_trip(patients, tmp_path, form):
    release = pv.publish(pv.Views(patients, *VIEWS), [ONE_ROW])
    release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
    found = pv.verify(tmp_path / "out")
    assert found.good, found.problems
    loaded = pv.load(tmp_path / "out")
    assert Fraction(1, 3) == loaded.audit.worst.belief.posterior
    about = {"name": "George", "problem": "HIV"}
    again = pv.belief(loaded.views, pv.Reconstructor(), about).posterior
    assert Fraction(161, 265) == again
    loaded.table.close()


def test_duplicates_are_removed_and_nothing_else_is_written(patients, tmp_path):
    release = pv.publish(
        pv.Views(patients, ["age"], ["job", "problem"]), [ONE_ROW_NONE]
    )
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert {"view-1.parquet", "view-2.parquet", "release.json", "README.txt"} == names
    ages = pq.read_table(tmp_path / "out" / "view-1.parquet")
    assert [30, 42, 45] == sorted(ages["age"].to_pylist())
    assert 3 == pq.read_metadata(tmp_path / "out" / "view-2.parquet").num_rows


ONE_ROW_NONE = pv.Promise(
    pv.Reconstructor(), pv.Ceiling("1/2"), {"name": "*", "problem": "*"}, "not shown"
)


def test_the_manifest_says_which_views_there_are(patients, tmp_path):
    release = pv.publish(pv.Views(patients, *VIEWS), [ONE_ROW])
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    content = json.loads((tmp_path / "out" / "release.json").read_text())
    assert "views" == content["kind"]
    assert [list(v) for v in VIEWS] == [v["columns"] for v in content["views"]]
    assert "witness" not in json.dumps(content)
    custody = json.loads((tmp_path / "vault" / "custody.json").read_text())
    assert custody["after"]["verdict"] == "safe"


def test_what_breaks_a_promise_is_not_released(patients):
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"))
    with pytest.raises(pv.Infeasible, match="do not keep") as caught:
        pv.publish(pv.Views(patients, *VIEWS), [promise])
    assert caught.value.best == 1


def test_a_bag_promise_cannot_be_recounted_from_views(patients):
    promise = pv.Promise(pv.Reconstructor("bag"), pv.Ceiling(1))
    with pytest.raises(pv.InputError, match="bag model"):
        pv.publish(pv.Views(patients, *VIEWS), [promise])


def test_changed_files_are_refused(patients, tmp_path):
    pv.publish(pv.Views(patients, *VIEWS), [ONE_ROW]).write(
        tmp_path / "out", custody=tmp_path / "vault", format="csv"
    )
    path = tmp_path / "out" / "view-1.csv"
    path.write_text(path.read_text().replace("Sarah", "Sally"))
    assert not pv.verify(tmp_path / "out").good
    with pytest.raises(pv.InputError, match="digest"):
        pv.load(tmp_path / "out")


@pytest.mark.parametrize("model", ["unrestricted", "restricted"])
def test_views_that_share_no_column_are_explained_and_released(
    patients, model, tmp_path
):
    promise = pv.Promise(pv.Reconstructor(model), pv.Ceiling("3/5"))
    release = pv.publish(pv.Views(patients, ["name"], ["problem"]), [promise])
    told = release.audit.worst.explain()
    if model == "unrestricted":
        assert told.startswith("16,081 tables would give these two views; in 9,281 of")
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").good


def test_views_that_show_neither_column_are_recounted(patients, tmp_path):
    """The files do not tell which columns name people and are private; they say it."""
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"))
    release = pv.publish(pv.Views(patients, ["age"], ["job"]), [promise])
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").good


def test_long_sums_are_refused_at_once():
    with pytest.raises(pv.TooLarge, match="too long to be added"):
        star_rho([300, 300, 2])
    assert star_rho([2, 2, 20_000]) > Fraction(1, 2)


def test_a_forged_figure_is_refused(patients, tmp_path):
    pv.publish(pv.Views(patients, *VIEWS), [ONE_ROW]).write(
        tmp_path / "out", custody=tmp_path / "vault"
    )
    path = tmp_path / "out" / "release.json"
    path.write_text(path.read_text().replace('"worst": "1/3"', '"worst": "1/4"'))
    (problem,) = pv.verify(tmp_path / "out").problems
    assert "release.json must be as it was written; its own digest differs." == problem


def test_nothing_is_written_over(patients, tmp_path):
    release = pv.publish(pv.Views(patients, *VIEWS), [ONE_ROW])
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    with pytest.raises(pv.InputError, match="must not exist"):
        release.write(tmp_path / "out", custody=tmp_path / "other")
    release.write(tmp_path / "out", custody=tmp_path / "vault", replace=True)


def test_bins_are_shown_in_the_views(tmp_path):
    table = pv.read(
        str(clinic_path()),
        identifier="name",
        sensitive="problem",
        other=["age", "job", "number"],
        bins={"age": [40]},
    )
    promise = pv.Promise(
        pv.Reconstructor("restricted"),
        pv.Ceiling("1/3"),
        {"name": "Alan", "problem": "*"},
    )
    with table:
        pv.publish(pv.Views(table, *VIEWS), [promise]).write(
            tmp_path / "out", custody=tmp_path / "vault"
        )
    ages = pq.read_table(tmp_path / "out" / "view-1.parquet")["age"].to_pylist()
    assert {"below 40", "40 and more"} == set(ages)
    assert pv.verify(tmp_path / "out").good


# Values that are hard to keep apart ---------------------------------------------------


def test_composite_keys_are_never_glued_together():
    table = opened(
        {
            "who": ["1", "2", "3", "4"],
            "x": ["a", "ab", "a", "ab"],
            "y": ["bc", "c", "bc", "c"],
            "ill": ["f", "g", "h", "i"],
        }
    )
    views = pv.Views(table, ["who", "x", "y"], ["x", "y", "ill"])
    found = pv.belief(views, pv.Reconstructor(), {"who": "1", "ill": "g"})
    assert 0 == found.posterior
    found = pv.belief(views, pv.Reconstructor(), {"who": "1", "ill": "h"})
    assert Fraction(5, 7) == found.posterior


def test_numbers_dates_and_huge_integers_are_values():
    import datetime as dt

    table = opened(
        {
            "who": pa.array([2**62, 2**62 + 1]),
            "day": pa.array([dt.date(2020, 1, 1)] * 2),
            "ill": pa.array([1.5, float("nan")]),
        }
    )
    views = pv.Views(table, ["who", "day"], ["day", "ill"])
    found = pv.belief(views, pv.Reconstructor(), {"who": 2**62, "ill": 1.5})
    assert Fraction(5, 7) == found.posterior
    about = "select who, ill from T where day >= '2019-12-31' and ill < 2"
    assert Fraction(5, 7) == pv.belief(views, pv.Reconstructor(), about).posterior


def test_weights_of_zero_are_nobody():
    table = opened(
        {
            "who": ["a", "b", "c"],
            "x": ["u"] * 3,
            "ill": ["f", "g", "h"],
            "n": [1, 2, 0],
        },
        weight="n",
    )
    views = pv.Views(table, ["who", "x"], ["x", "ill"])
    about = {"who": "a", "ill": "f"}
    assert Fraction(5, 7) == pv.belief(views, pv.Reconstructor(), about).posterior
    bag = pv.belief(views, pv.Reconstructor("bag"), about).posterior
    assert Fraction(1, 3) == bag


@pytest.mark.parametrize("link", [["x"], ["x", "y"]], ids=["two", "three"])
def test_weights_below_zero_are_refused(link):
    rows = {"who": ["a", "b"], "x": ["u"] * 2, "y": ["v"] * 2, "ill": ["f", "g"]}
    table = opened({**rows, "n": [1, -1]}, weight="n")
    middle = [link] if len(link) > 1 else []
    views = pv.Views(table, ["who", "x"], *middle, [link[-1], "ill"])
    with pytest.raises(pv.InputError, match="Weight column 'n' must hold whole"):
        pv.belief(views, pv.Reconstructor(), {"who": "a", "ill": "f"})


def test_one_view_with_both_columns_publishes_it(patients):
    views = pv.Views(patients, ["name", "problem"], ["age"])
    belief = pv.belief(views, pv.Reconstructor(), {"name": "George", "problem": "HIV"})
    assert 1 == belief.posterior
    other = pv.belief(views, pv.Reconstructor(), {"name": "George", "problem": "Cold"})
    assert 0 == other.posterior


@pytest.mark.parametrize("model", ["unrestricted", "restricted", "functional", "bag"])
def test_what_one_view_publishes_is_certain_in_every_model(model):
    """Even of somebody with two values, who refutes that everybody has one."""
    rows = {"name": ["A", "A", "B"], "ill": ["f", "g", "f"], "x": ["u", "v", "u"]}
    with opened(rows, identifier="name", sensitive="ill") as table:
        views = pv.Views(table, ["name", "ill"], ["x", "ill"])
        promise = pv.Promise(pv.Reconstructor(model), pv.Ceiling("9/10"))
        found = pv.audit(views, promise).worst
        assert found.verdict is pv.Verdict.BREACH
        assert "this view" in found.explain()
        about = {"name": "B", "ill": "g"}
        assert 0 == pv.belief(views, pv.Reconstructor(model), about).posterior


def test_every_association_is_told_with_its_keys(patients):
    views = pv.Views(patients, *VIEWS)
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7"))
    told = pv.audit(views, promise).to_dict()["findings"][0]["details"]
    first, *_, last = told["worst_keys"]
    assert {"age": "30"} == first["key"]
    assert ("1", "1", "1") == (first["unrestricted"], first["restricted"], first["bag"])
    assert ("161/265", "1/3", "1/3") == (
        last["unrestricted"],
        last["restricted"],
        last["bag"],
    )


def test_wildcards_are_told_one_by_one_true_or_not(patients):
    about = {"name": "George", "problem": "*"}
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7"), about)
    told = pv.audit(pv.Views(patients, *VIEWS), promise).worst.details["associations"]
    assert {"Cold": False, "Diarrhea": False, "HIV": True} == {
        t["value"]: t["in_table"] for t in told
    }
    assert {"161/265"} == {t["share"] for t in told}


def test_keys_that_one_row_each_cannot_explain_come_after_certain_ones():
    rows = {
        "name": ["A", "A", "B", "C", "D", "D"],
        "x": [1, 1, 2, 3, 3, 3],
        "ill": ["f", "g", "f", "f", "f", "g"],
    }
    with opened(rows, identifier="name", sensitive="ill") as table:
        views = pv.Views(table, ["name", "x"], ["x", "ill"])
        promise = pv.Promise(pv.Reconstructor(), pv.Ceiling(1))
        keys = pv.audit(views, promise).worst.details["worst_keys"]
    assert [(1, 1), (1, 2), (2, 2)] == [(k["people"], k["values"]) for k in keys]
    assert ["1", None, "1/2"] == [k["restricted"] for k in keys]


def test_views_that_share_nothing_are_one_key(patients):
    views = pv.Views(patients, ["name"], ["problem"])
    belief = pv.belief(views, pv.Reconstructor(), {"name": "George", "problem": "HIV"})
    assert Fraction(9281, 16081) == belief.posterior


def test_a_value_that_never_occurs_is_said(patients):
    views = pv.Views(patients, *VIEWS)
    with pytest.warns(pv.PrivacyWarning, match="never occurs"):
        belief = pv.belief(views, pv.Reconstructor(), {"name": "Ann", "problem": "HIV"})
    assert 0 == belief.posterior


# Wrong use --------------------------------------------------------------------------

CANARY = "Kanarienvogel"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select name from T", "select two columns"),
        ("select * from T", "select two columns"),
        ("select name, name from T", "two different columns"),
        ("select name, problem from U", "declared table alone"),
        ("select name, problem from T, T", "declared table alone"),
        ("select name, problem from main.T", "declared table alone"),
        ("select name, problem from read_csv('x')", "declared table alone"),
        ("select name, problem from (select * from T)", "declared table alone"),
        ("select name, problem from T limit 1", "plain SELECT"),
        ("select name, problem from T group by all", "plain SELECT"),
        ("with x as (select 1) select name, problem from T", "plain SELECT"),
        ("select name, problem from T union select name, problem from T", "plain"),
        ("select name, problem from T; drop table T", "one SELECT"),
        ("select name, problem from T; select 1", "one SELECT"),
        ("select name, problem from T where", "one SELECT"),
        ("select name, nobody from T", "must exist"),
        (f"select name, problem from T where upper(job) = '{CANARY}'", "known here"),
        (f"select name, problem from T where job = (select '{CANARY}')", "known here"),
        ("select name, problem from T where exists (select 1)", "known here"),
        ("select name, problem from T where job = 'x'", "projected away"),
        ("select name, problem from T where number = 1", "projected away"),
    ],
)
def test_secret_queries_are_one_plain_select(patients, query, message):
    views = pv.Views(patients, *VIEWS)
    with pytest.raises(pv.InputError, match=message) as caught:
        pv.belief(views, pv.Reconstructor(), query)
    assert CANARY not in str(caught.value)


def test_a_query_about_bins_compares_bins():
    """A number compared with a bin would match nobody, and look safe."""
    rows = {"name": list("ABCD"), "age": [20, 21, 40, 41], "ill": list("fgfg")}
    with opened(rows, identifier="name", sensitive="ill", bins={"age": [30]}) as table:
        views = pv.Views(table, ["name", "age"], ["age", "ill"])

        def asked(where):
            about = f"select name, ill from T where {where}"
            return pv.belief(views, pv.Reconstructor(), about).posterior

        label = next(v for v in table.domains(["age"])["age"].labels if v)
        assert Fraction(5, 7) == asked(f"age = '{label}'")
        for wrong in ("age > 30", "age = 20", "age BETWEEN 1 AND 50"):
            with pytest.raises(pv.InputError, match="shown in bins"):
                asked(wrong)


ODD = {
    "name": list("ABCD"),
    "age": ["9", "10", "10", None],
    "paid": ["10", "9", "10", "10"],
    "day": ["2020-01-01", "2020-01-02", "2020-01-02", "2020-01-03"],
    "ok": ["true", "false", "true", "true"],
    "ill": list("fgfg"),
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_query_compares_values_by_their_kind(tmp_path, form):
    """Texts of a file may be numbers: 9 is less than 10, and 9007199254740993 exact."""
    import pyarrow.csv

    path = tmp_path / f"odd.{form}"
    big = [str(2**53), str(2**53 + 1), str(2**53 + 1), "1"]
    if form == "csv":
        pyarrow.csv.write_csv(pa.table({**ODD, "big": big}), path)
    else:
        whole = {c: [v and int(v) for v in ODD[c]] for c in ("age", "paid")}
        more = {"big": [int(v) for v in big]}
        days = pa.array(ODD["day"]).cast(pa.date32())
        truths = [v == "true" for v in ODD["ok"]]
        pq.write_table(
            pa.table({**ODD, **whole, **more, "day": days, "ok": truths}), path
        )
    shared = ["age", "paid", "day", "ok", "big"]
    with pv.read(path, identifier="name", sensitive="ill", other=shared) as table:
        views = pv.Views(table, ["name", *shared], [*shared, "ill"])

        def who(where):
            about = f"select name, ill from T where {where}"
            promise = pv.Promise(pv.Reconstructor(), pv.Ceiling(1), about)
            told = pv.audit(views, promise).findings[0].details
            return "".join(t["person"] for t in told.get("associations", ()))

        for where, expected in {
            "age < paid": "A",
            "age > paid": "B",
            "age = paid": "C",
            "age <> paid": "AB",
            "age >= 9.5": "BC",
            "big > 9007199254740992": "BC",
            "day > '2020-01-01' and day < '2020-01-03'": "BC",
            "ok = true and age is not null": "AC",
            "age is not distinct from null": "D",
        }.items():
            assert expected == who(where), where
        for wrong in (
            "age > 'x'", "age = ''", "day = 'soon'", "ok = 'yes'", "age = null",
            "age in (9, null)",
        ):  # fmt: skip
            with pytest.raises((pv.InputError, pv.PrivacyWarning)):
                who(wrong)


def test_a_query_about_a_value_that_never_occurs_is_said(patients):
    about = "select name, problem from T where problem = 'Hiv'"
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling(1), about)
    with pytest.warns(pv.PrivacyWarning, match="'Hiv' never occurs"):
        pv.audit(pv.Views(patients, *VIEWS), promise)


def test_a_query_never_runs(patients, tmp_path):
    path = tmp_path / "made"
    query = f"copy (select 1) to '{path}'"
    with pytest.raises(pv.PrivetError):
        pv.belief(pv.Views(patients, *VIEWS), pv.Reconstructor(), f"select {query}")
    assert not path.exists()


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([], "at least one view"),
        ([[]], "must have columns"),
        ([["name", "agee"]], "Did you mean 'age'"),
        ([["name", "name"]], "each column name once"),
    ],
)
def test_views_refuse_nonsense(patients, views, message):
    with pytest.raises(pv.InputError, match=message):
        pv.Views(patients, *views)


def test_limits_of_other_kinds_are_refused(patients):
    promise = pv.Promise(pv.Reconstructor(), pv.Ratio(2))
    with pytest.raises(pv.InputError, match="at_most or below"):
        pv.audit(pv.Views(patients, *VIEWS), promise)


def test_other_adversaries_do_not_look_at_views(patients):
    both = [pv.Promise(pv.Linker(["age"]), pv.Ceiling(1)), ONE_ROW]
    found = pv.audit(pv.Views(patients, *VIEWS), both)
    assert pv.Verdict.NOT_APPLICABLE is found.findings[0].verdict
    assert found.safe


def test_a_bracket_that_straddles_the_limit_is_undecided():
    n = 6
    rows = [
        (f"p{i}", f"b{j}", f"c{k}", f"d{i}")
        for i in range(n)
        for j in range(n)
        for k in range(n)
        if (i + j + k) % 2 == 0
    ]
    who, b, c, ill = (list(x) for x in zip(*rows, strict=True))
    table = opened({"who": who, "b": b, "c": c, "ill": ill, "e": c})
    views = pv.Views(
        table, ["who", "b"], ["b", "c"], ["c", "ill"], ["who", "c"], ["b", "ill"]
    )
    about = {"who": "p0", "ill": "d0"}
    low = pv.audit(views, pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"), about))
    assert pv.Verdict.BREACH is low.verdict
    assert pv.Basis.BOUND is low.findings[0].basis
    finding = low.findings[0]
    between = (finding.at_least + finding.belief.posterior) / 2
    middle = pv.audit(views, pv.Promise(pv.Reconstructor(), pv.Ceiling(between), about))
    assert pv.Verdict.UNDECIDED is middle.verdict
    assert pv.Basis.BOUND is middle.findings[0].basis


def test_what_does_not_fit_is_counted_in_parts(monkeypatch):
    """Every table is made in 8 hash parts; the answers are the same."""
    from privet.engine.run import DoesNotFit
    from privet.views.sql.join import JoinedViews

    rows = [(f"p{i % 60}", f"k{i % 7}", f"s{i * i % 5}") for i in range(150)]
    who, x, ill = (list(c) for c in zip(*rows, strict=True))
    columns = {"who": [*who, None], "x": [*x, None], "ill": [*ill, "s1"]}
    views = pv.Views(
        opened(columns, identifier="who", sensitive="ill"), ["who", "x"], ["x", "ill"]
    )
    asked = [
        pv.Promise(pv.Reconstructor(), pv.Ceiling("0.8"), name="all"),
        pv.Promise(pv.Reconstructor(), pv.Ceiling("0.8"), {"who": "p1", "ill": "*"}),
        pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("0.8"), {"ill": "s1"}),
    ]

    def told():
        return [
            (f.verdict, f.belief, f.groups, f.groups_above, f.people_above)
            for f in pv.audit(views, asked).findings
        ]

    whole = told()
    filled, parted = JoinedViews._fill_table, []

    def too_much(self, table, select, cut, parts, doing):
        if cut and parts == 1:
            raise DoesNotFit
        parted.append(parts)
        filled(self, table, select, cut, parts, doing)

    monkeypatch.setattr(JoinedViews, "_fill_table", too_much)
    assert whole == told()
    assert 8 in parted


def test_nobody_is_named_where_nobody_is_published(tmp_path):
    columns = {"who": [CANARY, "b"], "x": ["u", "u"], "ill": ["f", "g"]}
    table = opened(columns, identifier="who", sensitive="ill")
    release = pv.publish(
        pv.Views(table, ["x"], ["ill"]),
        [pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"), {"who": "*", "ill": "*"})],
    )
    release.write(tmp_path / "out", custody=tmp_path / "vault", format="csv")
    for path in (tmp_path / "out").iterdir():
        assert CANARY not in path.read_text(encoding="utf-8")


def test_cells_are_in_the_views_alone(tmp_path):
    """Not in the manifest, the note, progress or errors; nothing is left behind."""
    rows = {
        "name": ["canary-1", "canary-2", "canary-3"],
        "age": [40, 40, 40],
        "ill": ["canary-f", "canary-g", "canary-f"],
    }
    said = []
    with opened(rows, identifier="name", sensitive="ill") as table:
        views = pv.Views(table, ["name", "age"], ["age", "ill"])
        promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.9"))
        release = pv.publish(views, [promise], progress=lambda e: said.append(repr(e)))
        release.write(tmp_path / "out", custody=tmp_path / "vault", format="csv")
        for limit, about in (
            ("1/2", None),
            ("0.9", "select name, ill from T where age > 'old'"),
            ("0.9", "select name, ill from T where nothing = 1"),
        ):
            wrong = pv.Promise(pv.Reconstructor(), pv.Ceiling(limit), about)
            with pytest.raises(pv.PrivetError) as caught:
                pv.publish(views, [wrong])
            said.append(str(caught.value))
    public = [tmp_path / "out" / "release.json", tmp_path / "out" / "README.txt"]
    for text in (*said, *(p.read_text() for p in public)):
        assert "canary" not in text
    assert {"out", "vault"} == {p.name for p in tmp_path.iterdir()}
