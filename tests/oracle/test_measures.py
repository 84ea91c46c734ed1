"""Every familiar measure equals its definition, as a fraction where it is one."""

from __future__ import annotations

import random
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from oracle import measures as slow
from privet.microdata.privacy_models.class_scores import GroupScores

pytestmark = pytest.mark.engines

TREE = {
    "1": ("low", "any"),
    "2": ("low", "any"),
    "3": ("high", "any"),
    "4": ("high", "any"),
}


def people(dice: random.Random) -> slow.Rows:
    rows = [
        (dice.choice("pqr"), dice.choice("1234")) for _ in range(dice.randint(4, 30))
    ]
    return rows + [("p", v) for v in "1234"]


def measured(rows: slow.Rows, *measures: pv.Measure) -> list[pv.Finding]:
    groups, values = zip(*rows, strict=True)
    table = pa.table({"g": groups, "s": pa.array([int(v) for v in values])})
    with pv.read(table, quasi="g", sensitive="s") as t:
        return list(pv.audit(t, measures).findings)


@pytest.mark.parametrize("seed", range(12))
def test_exact_measures(seed: int) -> None:
    dice = random.Random(seed)
    rows = people(dice)
    c = Fraction(dice.choice(["1/2", "1", "2", "3"]))
    sizes = [sum(h.values()) for h in slow.groups(rows).values()]
    expected = {
        "k_anonymity": slow.k_anonymity(rows),
        "alpha_k_anonymity": slow.alpha(rows),
        "distinct_l_diversity": slow.distinct(rows),
        "recursive_l_diversity": slow.recursive(rows, c),
        "t_closeness": slow.equal(rows),
        "beta_likeness": slow.beta(rows),
        "prosecutor_risk": Fraction(1, min(sizes)),
        "marketer_risk": Fraction(len(sizes), sum(sizes)),
        "sample_uniques": Fraction(sum(n == 1 for n in sizes), sum(sizes)),
    }
    more = {"recursive_l_diversity": {"c": c}}
    stated = [pv.Measure(**{kind: 1}, **more.get(kind, {})) for kind in expected]
    found = measured(rows, *stated)
    assert expected == {f.promise.kind: f.value for f in found}


@pytest.mark.parametrize("seed", range(12))
def test_levels_are_decided_exactly(seed: int) -> None:
    """At the measured value the measure holds; a little beyond, it does not.

    A share of at most 1 is kept by every table: such a measure does not apply.
    """
    dice = random.Random(seed)
    rows = people(dice)
    little = Fraction(1, 10**12)
    values = {
        "t_closeness": slow.equal(rows),
        "beta_likeness": slow.beta(rows),
        "alpha_k_anonymity": slow.alpha(rows),
    }
    for kind, value in values.items():
        at, below = measured(
            rows,
            pv.Measure("a", **{kind: value}),
            pv.Measure("b", **{kind: max(value - little, 0)}),
        )
        empty = kind == "alpha_k_anonymity" and value == 1
        kept = pv.Verdict.NOT_APPLICABLE if empty else pv.Verdict.SAFE
        assert kept is at.verdict
        if value:
            assert pv.Verdict.BREACH is below.verdict


@pytest.mark.parametrize("seed", range(12))
def test_measures_with_logarithms(seed: int) -> None:
    dice = random.Random(seed)
    rows = people(dice)
    level = Fraction(dice.choice(["1/2", "1", "2", "9"]))
    entropy, delta, enhanced = measured(
        rows,
        pv.Measure(entropy_l_diversity=1),
        pv.Measure(delta_disclosure=1),
        pv.Measure(enhanced_beta_likeness=level),
    )
    assert pytest.approx(slow.entropy(rows), abs=1e-8) == float(entropy.value)
    assert pytest.approx(slow.delta(rows), abs=1e-8) == float(delta.value)
    assert (slow.delta(rows) < 1) == (delta.verdict is pv.Verdict.SAFE)
    assert slow.enhanced_holds(rows, level) == (enhanced.verdict is pv.Verdict.SAFE)


@pytest.mark.parametrize("several", [2, 3, 7])
def test_equal_shares_reach_their_entropy(several: int) -> None:
    """A tie that doubles cannot decide."""
    rows = [("p", str(v)) for v in range(several) for _ in range(11)]
    at, above = measured(
        rows,
        pv.Measure("a", entropy_l_diversity=several),
        pv.Measure("b", entropy_l_diversity=several + Fraction(1, 10**15)),
    )
    assert (pv.Verdict.SAFE, pv.Verdict.BREACH) == (at.verdict, above.verdict)


@pytest.mark.parametrize("seed", range(15))
def test_distances_are_those_of_the_transport_problem(seed: int) -> None:
    pytest.importorskip("scipy", reason="it comes with scikit-learn")
    dice = random.Random(seed)
    rows = people(dice)
    values = "1234"
    order = {(a, b): Fraction(abs(int(a) - int(b)), 3) for a in values for b in values}
    tree = {
        (a, b): Fraction(0 if a == b else 1 if TREE[a][0] == TREE[b][0] else 2, 2)
        for a in values
        for b in values
    }
    ordered, hierarchical = measured(
        rows,
        pv.Measure("o", t_closeness=1, distance="ordered"),
        pv.Measure("h", t_closeness=1, distance="hierarchical", hierarchy=TREE),
    )
    assert pytest.approx(slow.moved(rows, order), abs=1e-9) == float(ordered.value)
    assert pytest.approx(slow.moved(rows, tree), abs=1e-9) == float(hierarchical.value)


def test_distances_of_small_groups_among_many_values_are_quick() -> None:
    """What a group lacks is summed in runs and below nodes, not value by value."""
    several, whole = 60_000, 100
    rows = [(f"{i // 2:06}", str(i)) for i in range(several)]
    tree = {str(i): (f"about {i // whole}", "any") for i in range(several)}
    start = time.process_time()
    ordered, hierarchical = measured(
        rows,
        pv.Measure("o", t_closeness=1, distance="ordered"),
        pv.Measure("h", t_closeness=1, distance="hierarchical", hierarchy=tree),
    )
    assert time.process_time() - start < 10
    # The first two have half each; behind them everybody's share is yet to come.
    behind = Fraction((several - 1) * (several - 2), 2 * several)
    low = Fraction(1, 2) - Fraction(1, several) + behind
    assert low / (several - 1) == ordered.value
    # Two move to the other 98 of their node at half the height, and on to all others.
    near, far = Fraction(whole - 2, several), 1 - Fraction(whole, several)
    assert near / 2 + far == hierarchical.value


@pytest.mark.parametrize("seed", range(20))
def test_missing_values(seed: int) -> None:
    dice = random.Random(seed)
    rows = [
        tuple(dice.choice(["x", "y", None]) for _ in range(3))
        for _ in range(dice.randint(3, 15))
    ]
    rows += [("x", "y", "x")] * 2
    columns = {
        c: pa.array(v, pa.string())
        for c, v in zip("abc", zip(*rows, strict=True), strict=True)
    }
    with pv.read(pa.table(columns), quasi=["a", "b", "c"]) as table:
        own, dropped, wild, matched, alone = pv.audit(
            table,
            [
                pv.Measure("own", k_anonymity=1),
                pv.Measure("drop", k_anonymity=1, missing="drop"),
                pv.Measure("wild", k_anonymity=1, missing="wildcard"),
                pv.Measure("all", marketer_risk=1, missing="wildcard"),
                pv.Measure("unique", sample_uniques=1, missing="wildcard"),
            ],
        ).findings
    whole = [r for r in rows if None not in r]
    alike = slow.alike_with_wildcards(rows)
    assert min(rows.count(r) for r in rows) == own.value
    assert min(whole.count(r) for r in whole) == dropped.value
    assert min(alike) == wild.value
    assert sum(Fraction(1, n) for n in alike) / len(rows) == matched.value
    assert Fraction(alike.count(1), len(rows)) == alone.value


def test_dropping_rows_changes_everybody_too() -> None:
    columns = {
        "g": ["p", "p", "q", "q", None, "p"],
        "s": ["1", "2", "1", "1", "2", None],
    }
    with pv.read(pa.table(columns), quasi="g", sensitive="s") as table:
        close, diverse = pv.audit(
            table,
            [
                pv.Measure(t_closeness=1, missing="drop"),
                pv.Measure(distinct_l_diversity=1, missing="drop"),
            ],
        ).findings
        # Alone: nothing else asks for everybody.
        (even,) = pv.audit(
            table, pv.Measure(entropy_l_diversity=1, missing="drop")
        ).findings
    rows = [("p", "1"), ("p", "2"), ("q", "1"), ("q", "1")]
    assert slow.equal(rows) == close.value
    assert slow.distinct(rows) == diverse.value
    assert pytest.approx(slow.entropy(rows)) == float(even.value)


@pytest.mark.parametrize("kind", ["entropy_l_diversity", "delta_disclosure"])
def test_levels_beyond_any_float(kind: str) -> None:
    rows = [("p", "1"), ("p", "2"), ("q", "1")]
    (found,) = measured(rows, pv.Measure(**{kind: 10**400}))
    assert (kind == "delta_disclosure") == (found.verdict is pv.Verdict.SAFE)


def test_what_is_found_is_said_in_words() -> None:
    rows = {"g": ["p", "q", "q"], "s": [1, 1, 2]}
    with pv.read(pa.table(rows), quasi="g", sensitive="s") as table:
        diverse, alpha = pv.audit(
            table,
            [pv.Measure(distinct_l_diversity=1), pv.Measure(alpha_k_anonymity=1, k=2)],
        ).findings
    assert "at least 1 different value (1 row" in diverse.explain()
    assert "(1 row: g is p); they must be at least 2." in alpha.explain()


def test_infinite_numbers_have_an_order() -> None:
    values = [float("inf"), 1.5, float("-inf"), 1.5]
    table = pa.table({"g": ["p", "p", "q", "q"], "s": values})
    close = pv.Measure(t_closeness=1, distance="ordered")
    with pv.read(table, quasi="g", sensitive="s") as t:
        assert Fraction(1, 4) == pv.audit(t, close).findings[0].value
    table = pa.table({"g": ["p", "q"], "s": [float("nan"), 1.0]})
    with (
        pv.read(table, quasi="g", sensitive="s") as t,
        pytest.raises(pv.InputError, match="some are NaN"),
    ):
        pv.audit(t, close)


def test_a_population(tmp_path) -> None:
    (tmp_path / "all.csv").write_text("g\n" + "p\n" * 5 + "q\n" * 3, encoding="utf-8")
    with pv.read(pa.table({"g": ["p", "q"]}), quasi="g") as table:
        (found,) = pv.audit(
            table,
            pv.Measure(journalist_risk=1, population=str(tmp_path / "all.csv")),
        ).findings
        assert Fraction(1, 3) == found.value
    with pv.read(pa.table({"g": ["p", "z"]}), quasi="g") as table:
        measure = pv.Measure(journalist_risk=1, population=str(tmp_path / "all.csv"))
        with pytest.raises(pv.InputError, match="must hold everybody"):
            pv.audit(table, measure)


def test_a_population_without_gaps(tmp_path) -> None:
    (tmp_path / "all.csv").write_text("g\n" + "p\n" * 5 + "q\n" * 3, encoding="utf-8")
    everybody = {"journalist_risk": 1, "population": str(tmp_path / "all.csv")}
    with pv.read(pa.table({"g": ["p", "q", None]}), quasi="g") as table:
        (found,) = pv.audit(table, pv.Measure(missing="drop", **everybody)).findings
    assert Fraction(1, 3) == found.value
    groups = pv.Groups.from_histograms([{"x": 2}])
    with pytest.raises(pv.NoAudit, match="must be compared with a table"):
        pv.audit(groups, pv.Measure(**everybody))
    with pytest.raises(pv.InputError, match="where a population is counted"):
        pv.Measure(missing="wildcard", **everybody)


@pytest.mark.parametrize("smallest", [False, True])
def test_the_worst_is_found_among_any_number_of_nearly_equal_groups(
    smallest: bool,
) -> None:
    """Floats cannot tell these groups apart, and there are more than a few of them."""
    whole = np.full(3000, 10**15 + 1) + np.arange(3000) % 7
    part = np.full(3000, 10**14)
    whole[2500] = 10**15 + (9 if smallest else 0)
    scores = GroupScores(part, whole, np.zeros(3000, dtype=bool))
    exact = [Fraction(int(a), int(b)) for a, b in zip(part, whole, strict=True)]
    assert exact[2500] == (min(exact) if smallest else max(exact))
    assert 2500 == scores.find_worst(smallest)
