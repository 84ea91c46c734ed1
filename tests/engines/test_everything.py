"""Every audit and every publisher says the same of rows that stay elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
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
from engines.tables import PLACES, People, opened, same
from privet.policy.measures import list_measures

KINDS = (
    *("text", "text", "integer", "decimal", "date", "truth", "big", "moment"),
    *("float", "text", "text", "integer"),
)
NAMES = [f"{kind} {i}" for i, kind in enumerate(KINDS)]
WHO, JOB, AGE, PAY, BORN, OWNS, NUMBER, SEEN, SCORE, ILL, RISK, TIMES = NAMES

VALUES: list[list[Any]] = [
    ["Cook", "Jüdge", "世界 😀", 'it\'s "so"; --', "", None],
    [20, 30, 40, 2**53, 2**53 + 1, None],
    [Decimal("1.50"), Decimal("2.00"), Decimal("-0.01"), None],
    [date(1, 1, 1), date(1999, 12, 31), date(9999, 12, 31), None],
    [True, False, None],
    [2**63, 2**64 + 1, -(2**70), None],
    [datetime(2024, 5, 1, 12, 30, 0, 5), datetime(1950, 1, 1), None],
    [0.1, 0.1 + 2**-54, -0.0, 0.0, 1e300, None],
    ["flu", "flu", "flu", "hiv", "none", None],
    ["high", "low"],
    [1, 2, 3],
]

ROLES: dict[str, Any] = {
    "identifier": WHO,
    "quasi": [JOB, AGE, PAY, BORN, OWNS, NUMBER, SEEN],
    "sensitive": ILL,
    "target": RISK,
    "other": [SCORE, TIMES],
}


def some_people(rows: int, seed: int) -> People:
    """Everybody has a name; most else repeats, and is missing at times."""
    rng = Random(seed)
    return People(
        KINDS,
        [(f"Zoë {i}", *(rng.choice(v) for v in VALUES)) for i in range(rows)],
    )


# Questions --------------------------------------------------------------------------


def findings(table: pv.Table, *stated: Any) -> Any:
    with warnings.catch_warnings(action="ignore"):  # of many columns and few rows
        return [f.to_dict() for f in pv.audit(table, list(stated)).findings]


def linkers(table: pv.Table) -> Any:
    return findings(
        table,
        *(
            pv.Promise(pv.Linker([c]), pv.Ceiling("1/2"), ILL)
            for c in (JOB, AGE, PAY, BORN, OWNS, NUMBER, SEEN, SCORE)
        ),
        pv.Promise(pv.Linker([JOB, PAY, OWNS]), pv.Ceiling("3/4"), {ILL: "hiv"}),
        pv.Promise(pv.Linker(knows_any=2), pv.Ceiling("1/2"), ILL),
        pv.Promise(pv.Linker([NUMBER]), pv.Ceiling(below="1/2"), ILL),
        pv.Promise(pv.Linker([JOB]), pv.Ceiling("1/2"), {OWNS: "true"}),
    )


def insiders(table: pv.Table) -> Any:
    few = table.with_roles(pv.Roles(quasi=(JOB, OWNS), sensitive=(ILL,)))
    return findings(
        few,
        pv.Promise(pv.Insider(), pv.Ceiling("1/2"), ILL),
        pv.Promise(pv.Insider(1, 2, 1), pv.Ceiling("9/10"), ILL),
        pv.Promise(pv.Insider(rules_out=2), pv.Ceiling("9/10"), {ILL: "hiv"}),
    )


def by_name(table: pv.Table) -> Any:
    few = table.with_roles(pv.Roles(identifier=(WHO,), quasi=(JOB,), sensitive=(ILL,)))
    told = pv.Insider(["flu"], same_as=["Zoë 2"], victim="Zoë 1")
    beliefs = [
        pv.belief(few, told, {ILL: "hiv"}),
        pv.belief(few, pv.Insider(victim="Zoë 3"), {ILL: "hiv"}),
    ]
    return [(b.prior, b.posterior) for b in beliefs]


def frontier(table: pv.Table) -> Any:
    few = table.with_roles(pv.Roles(quasi=(JOB, OWNS), sensitive=(ILL,)))
    return pv.skyline(few, "9/10", max_l=2, max_k=2, max_m=2).to_dict()


def measures(table: pv.Table) -> Any:
    few = table.with_roles(pv.Roles(quasi=(JOB,), sensitive=(ILL,)))
    levels = {"k_anonymity": 2, "distinct_l_diversity": 2, "entropy_l_diversity": 1}
    more = {"alpha_k_anonymity": {"k": 2}, "recursive_l_diversity": {"c": 2}}
    stated = [
        pv.Measure(**{key: levels.get(key, 1)}, **more.get(key, {}))
        for key in list_measures()
        if key != "journalist_risk"  # takes a file of the population
    ]
    return findings(few, *stated)


def units(table: pv.Table) -> Any:
    several = table.with_roles(
        pv.Roles(quasi=(AGE, OWNS), sensitive=(ILL,), unit=NUMBER)
    )
    return findings(several, pv.Promise(pv.Linker(), pv.Ceiling("1/2"), ILL))


def weights(table: pv.Table) -> Any:
    several = table.with_roles(
        pv.Roles(quasi=(AGE, OWNS), sensitive=(ILL,), weight=TIMES)
    )
    return findings(several, pv.Promise(pv.Linker(), pv.Ceiling("1/2"), ILL))


def bins(table: pv.Table) -> Any:
    binned = table.with_roles(
        pv.Roles(
            quasi=(AGE, BORN),
            sensitive=(ILL,),
            bins={AGE: pv.Bins([25, 35]), BORN: pv.Bins(["2000-01-01"])},
        )
    )
    return findings(binned, pv.Promise(pv.Linker(), pv.Ceiling("1/2"), ILL))


def groups(table: pv.Table) -> Any:
    few = table.with_roles(pv.Roles(quasi=(JOB, PAY), sensitive=(ILL,)))
    found = few.groups()
    return findings(found, pv.Promise(pv.Insider(1, 1, 1), pv.Ceiling("9/10")))


def classifier(table: pv.Table) -> Any:
    return (
        pv.NaiveBayes().fit_table(table, attributes=[JOB, AGE, OWNS]).views_.to_dict()
    )


def bayesians(table: pv.Table) -> Any:
    views = pv.NaiveBayes().fit_table(table, attributes=[JOB, OWNS]).views_
    return findings(views, pv.Promise(pv.Bayesian(), pv.Ceiling("9/10"), RISK))


def views(table: pv.Table) -> Any:
    shown = pv.Views(table, [WHO, JOB], [JOB, ILL])
    return findings(
        shown,
        pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("1/2")),
        pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"), {WHO: "Zoë 1", ILL: "hiv"}),
    )


QUESTIONS: dict[str, Callable[[pv.Table], Any]] = {
    f.__name__: f
    for f in (
        *(linkers, insiders, by_name, frontier, measures, units, weights, bins),
        *(groups, classifier, bayesians, views),
    )
}

Both = tuple[str, pv.Table, pv.Table]


@pytest.fixture(scope="module", params=PLACES)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """The same people here and elsewhere."""
    folder, people = tmp_path_factory.mktemp("everything"), some_people(90, 7)
    with ExitStack() as stack:
        here, there = (
            stack.enter_context(opened(people, kind, folder, **ROLES))
            for kind in ("arrow", request.param)
        )
        yield request.param, here, there


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_audit_says_the_same(question: str, both: Both) -> None:
    _, here, there = both
    ask = QUESTIONS[question]
    expected = ask(here)
    assert expected == ask(there)
    assert expected


# Publishers -------------------------------------------------------------------------


def shown(folder: Path) -> Any:
    """Every table of a release, its rows in any order."""
    found = {}
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        rows = sorted(repr([same(v) for v in r.values()]) for r in table.to_pylist())
        found[path.name] = (str(table.schema), rows)
    assert found
    return found


WHY = {ILL: "columns of every kind are to be written; together they single out"}


def written(release: Any, folder: Path, **options: Any) -> Any:
    """What a release says of itself, and what it shows."""
    release.write(folder / "out", custody=folder / "vault", **options)
    assert pv.verify(folder / "out").good
    return [f.to_dict() for f in release.audit.findings], shown(folder / "out")


def promised(*columns: str, limit: str = "4/5") -> list[Any]:
    return [pv.Promise(pv.Linker(list(columns)), pv.Ceiling(limit), ILL)]


def take(table: pv.Table, **roles: Any) -> pv.Table:
    """Some columns of a table; the others are left out."""
    named = {c for v in roles.values() for c in ([v] if isinstance(v, str) else v)}
    return table.with_roles(
        pv.Roles(**roles, drop=tuple(c for c in NAMES if c not in named))
    )


def top_down(table: pv.Table, folder: Path) -> Any:
    release = pv.publish(table, promised(JOB, AGE, PAY, BORN))
    shown_rows = written(release, folder, accept=WHY)
    return release.hidden, release.intervals, release.steps, shown_rows


def recipe(table: pv.Table, folder: Path) -> Any:
    again = pv.publish(table, promised(JOB, OWNS)).recipe
    release = pv.publish(table, promised(JOB, OWNS), recipe=again)
    return written(release, folder, accept=WHY)


def weighted(table: pv.Table, folder: Path) -> Any:
    several = take(table, quasi=(JOB, BORN), sensitive=(ILL,), weight=TIMES)
    return written(pv.publish(several, promised(JOB, BORN)), folder)


def generalised(table: pv.Table, folder: Path) -> Any:
    few = take(table, quasi=(JOB, AGE, BORN), sensitive=(ILL,), target=RISK)
    stated = [*promised(JOB, AGE), *promised(JOB, AGE, BORN, RISK, limit="9/10")]
    method = pv.Mondrian(utility="information", suppress="1/20")
    return written(pv.publish(few, stated, method=method), folder)


def same_cuts(table: pv.Table, folder: Path) -> Any:
    few = take(table, quasi=(AGE, PAY, BORN), sensitive=(ILL,))
    stated = [pv.Measure(k_anonymity=4), *promised(AGE, PAY, BORN, limit="99/100")]
    method = pv.Mondrian(same_cuts=True)
    return written(pv.publish(few, stated, method=method), folder)


def buckets(table: pv.Table, folder: Path) -> Any:
    few = take(table, quasi=(JOB, NUMBER, SEEN), sensitive=(ILL,))
    stated = [pv.Promise(pv.Insider(1, 1, 1), pv.Ceiling("19/20"), ILL)]
    return written(pv.publish(few, stated, method=pv.Mondrian(form="buckets")), folder)


def safe_classifier(table: pv.Table, folder: Path) -> Any:
    model = pv.NaiveBayes().fit_table(table, attributes=[JOB, OWNS, PAY])
    stated = [pv.Promise(pv.Bayesian(), pv.Ceiling("3/5"), RISK)]
    release = pv.publish(model, stated, method=pv.SafetyTransform())
    accept = {"inversion": "a test"}
    release.write(folder / "out", custody=folder / "vault", accept=accept)
    assert pv.verify(folder / "out").good
    return release.card.to_dict()


def disguised(table: pv.Table, folder: Path) -> Any:
    """Draws are not the same twice; what is kept and how many there are is."""
    design = pv.Design(
        [
            pv.Question(RISK, ["high", "low"]),
            pv.Question(OWNS, ["false", "true"], missing="false"),
        ],
        [pv.Group(RISK, pv.Flip("1")), pv.Group(OWNS, pv.Flip("0.75"))],
    )
    alone = pv.Bayesian(unrelated=True)
    policy = pv.Policy(promises=(pv.Promise(alone, pv.Ratio(3), OWNS),))
    places = {"folder": folder / "out", "custody": folder / "vault"}
    asked = take(table, quasi=(RISK, OWNS))
    responses = pv.disguise(asked, design, policy=policy, **places)
    assert pv.verify(folder / "out").good
    assert {RISK, OWNS} == pv.estimate(responses, design).every_share().keys()
    responses.close()
    rows = pq.read_table(folder / "out" / "table.parquet")
    return sorted(rows[RISK].to_pylist()), design.to_dict()


PUBLISHERS: dict[str, Callable[[pv.Table, Path], Any]] = {
    f.__name__: f
    for f in (
        *(top_down, recipe, weighted, generalised, same_cuts, buckets),
        *(safe_classifier, disguised),
    )
}


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of PySpark, about pandas
@pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")
@pytest.mark.parametrize("publisher", PUBLISHERS)
def test_every_publisher_shows_the_same(
    publisher: str, both: Both, tmp_path: Path
) -> None:
    _, here, there = both
    publish = PUBLISHERS[publisher]
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    expected = publish(here, tmp_path / "here")
    assert expected == publish(there, tmp_path / "there")
    assert ["out", "vault"] == sorted(p.name for p in (tmp_path / "there").iterdir())


@pytest.mark.parametrize("kind", PLACES)
def test_reports_are_estimated_where_they_are(kind: str, tmp_path: Path) -> None:
    rng = Random(3)
    rows = [(rng.choice(["no", "yes"]), rng.choice("abc")) for _ in range(60)]
    people = People(("text", "text"), rows)
    smokes, ward = people.names
    design = pv.Design(
        [pv.Question(smokes, ["no", "yes"]), pv.Question(ward, list("abc"))],
        [pv.Group(smokes, pv.Flip("0.8")), pv.Group(ward, pv.KAry("0.9"))],
    )
    found = []
    for where in ("arrow", kind):
        with opened(people, where, tmp_path) as table:
            estimates = pv.estimate(table, design)
            asked = ({smokes: "yes"}, {smokes: "yes", ward: "b"})
            found.append([estimates.share(**a).to_dict() for a in asked])
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", PLACES)
def test_views_are_proposed_where_they_are(kind: str, tmp_path: Path) -> None:
    rng = Random(9)
    rows = [(f"{i}", rng.choice("ab"), rng.choice("xyz")) for i in range(24)]
    people = People(("text",) * 3, rows)
    who, ward, ill = people.names
    roles = {"identifier": who, "other": ward, "sensitive": ill}
    stated = [pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("1/2"))]
    found = []
    for where in ("arrow", kind):
        with opened(people, where, tmp_path, **roles) as table:
            release = pv.publish(table, stated, method=pv.SplitViews())
            (tmp_path / where).mkdir()
            found.append(written(release, tmp_path / where))
    assert found[0] == found[1]


@pytest.mark.spark
def test_lists_are_sets_on_spark() -> None:
    from engines.servers import spark_frame

    rng = Random(4)
    words = ["flu", "hiv", "a, b", "it's", ""]
    sets = [rng.sample(words, rng.randrange(3)) for _ in range(30)]
    table = pa.table(
        {
            "g": [rng.choice("pq") for _ in sets],
            "s": pa.array(sets, pa.list_(pa.string())),
        }
    )
    stated = [
        pv.Promise(pv.Insider(1, 1, 1), pv.Ceiling("1/2")),
        pv.Promise(pv.Insider(), pv.Ceiling("1/2"), {"s": "a, b"}),
    ]
    found = []
    for source in (table, spark_frame(table)):
        with pv.read(source, quasi="g", sensitive="s") as people:
            found.append(findings(people, *stated))
    assert found[0] == found[1]
