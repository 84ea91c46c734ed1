"""Whether merging classes may worsen a privacy model is as its record claims.

Every model is worked out by its definition on small random tables, before and after
any two of their classes are merged. Where the record says that merging never worsens
it, no table may refute that; where it does not say so, one must.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf, log
from typing import Any

import pytest

import privet as pv
from oracle import measures as slow
from privet.microdata.privacy_models.models import MODELS, PrivacyModel, is_monotone

Label = tuple[str | None, ...]
"""What the people of a class have in common, column by column."""

TREE = {
    "1": ("low", "any"),
    "2": ("low", "any"),
    "3": ("high", "any"),
    "4": ("high", "any"),
}
CASES = 500
SLACK = 1e-12
"""Of what is worked out in floats."""


@dataclass(frozen=True)
class People:
    """A small table, and everybody it is a sample of."""

    rows: list[tuple[Label, str | None]]
    population: dict[Label, int]

    def labels(self) -> list[Label]:
        return list(dict.fromkeys(label for label, _ in self.rows))

    def merge(self, one: Label, other: Label) -> People:
        """One class of two; what it says is missing only where both say nothing."""
        both = tuple(
            a if a == b else f"{a} or {b}" for a, b in zip(one, other, strict=True)
        )
        population: dict[Label, int] = {}
        for label, n in self.population.items():
            new = both if label in (one, other) else label
            population[new] = population.get(new, 0) + n
        rows = [(both if lab in (one, other) else lab, v) for lab, v in self.rows]
        return People(rows, population)


def draw_people(dice: random.Random) -> People:
    cells, values = ["x", "y", None], ["1", "2", "3", "4", None]
    weights = [dice.choice([1, 1, 3, 9]) for _ in values]
    rows: list[tuple[Label, str | None]] = []
    for _ in range(dice.randint(2, 5)):
        label = (dice.choice(cells), dice.choice(cells))
        drawn = dice.choices(values, weights, k=dice.choice([1, 1, 2, 3, 4, 6]))
        rows += [(label, value) for value in drawn]
    population = {label: 0 for label, _ in rows}
    for label, _ in rows:
        population[label] += 1
    return People(rows, {lab: n + dice.randint(0, 2) for lab, n in population.items()})


# The definitions --------------------------------------------------------------------


def sizes(rows: slow.Rows) -> list[int]:
    return [sum(h.values()) for h in slow.groups(rows).values()]


def alpha_with_k(rows: slow.Rows, k: int = 1) -> Any:
    return slow.alpha(rows) if min(sizes(rows)) >= k else inf


def closeness(rows: slow.Rows, distance: str = "equal", **_: Any) -> Fraction:
    if distance == "equal":
        return slow.equal(rows)
    q = slow.everybody(rows)
    values = sorted(q)
    if distance == "ordered":
        steps = max(len(values) - 1, 1)
        below = [set(values[:i]) for i in range(1, len(values))]
        cuts = [(one, Fraction(1, steps)) for one in below]
    else:  # what must leave each node; two leaves are one height, or two, of two apart
        nodes = [{v for v in values if v == leaf} for leaf in values]
        nodes += [{v for v in values if TREE[v][0] == side} for side in ("low", "high")]
        cuts = [(one, Fraction(1, 4)) for one in nodes]

    def moved(h: Any) -> Fraction:
        gap = {v: slow.share(h, v) - slow.share(q, v) for v in values}
        flows = [abs(sum(gap[v] for v in one)) * far for one, far in cuts]
        return sum(flows, start=Fraction(0))

    return max(map(moved, slow.groups(rows).values()))


def least_enhanced_level(rows: slow.Rows) -> Any:
    """The least level that is kept; none is where a gain passes -ln q."""
    q = slow.everybody(rows)
    gains = [
        (slow.share(h, v) / slow.share(q, v) - 1, slow.share(q, v))
        for h in slow.groups(rows).values()
        for v in h
    ]
    if any(gain > 0 and gain > -log(share) for gain, share in gains):
        return inf
    return max(gain for gain, _ in gains)


def delta_ratio(rows: slow.Rows) -> Fraction:
    """How much a share changes, as a factor; its logarithm is the measure."""
    q = slow.everybody(rows)
    ratios = [
        slow.share(h, v) / slow.share(q, v)
        for h in slow.groups(rows).values()
        for v in h
    ]
    return max(max(ratio, 1 / ratio) for ratio in ratios)


BY_VALUES: dict[str, Callable[..., Any]] = {
    "alpha_k_anonymity": alpha_with_k,
    "distinct_l_diversity": slow.distinct,
    "entropy_l_diversity": slow.entropy,
    "recursive_l_diversity": slow.recursive,
    "t_closeness": closeness,
    "beta_likeness": slow.beta,
    "enhanced_beta_likeness": least_enhanced_level,
    "delta_disclosure": delta_ratio,
}
"""Models of (class, value) of every row."""

BY_SIZES: dict[str, Callable[[list[int]], Any]] = {
    "k_anonymity": min,
    "prosecutor_risk": lambda alike: Fraction(1, min(alike)),
    "journalist_risk": lambda alike: Fraction(1, min(alike)),
    "marketer_risk": lambda alike: sum(Fraction(1, n) for n in alike) / len(alike),
    "sample_uniques": lambda alike: Fraction(alike.count(1), len(alike)),
}
"""Models of how many people every row could be of."""


def work_out(key: str, missing: str, people: People, **options: Any) -> Any:
    """A model by its definition; None where no row is left."""
    rows = people.rows
    if missing == "drop":
        sensitive = MODELS[key].sensitive
        whole = [(lab, v) for lab, v in rows if None not in lab]
        rows = [(lab, v) for lab, v in whole if v is not None or not sensitive]
    if not rows:
        return None
    if key in BY_VALUES:
        return BY_VALUES[key]([(str(lab), str(v)) for lab, v in rows], **options)
    labels = [lab for lab, _ in rows]
    if missing == "wildcard":
        return BY_SIZES[key](slow.alike_with_wildcards(labels))
    if options.get("population"):
        return BY_SIZES[key]([people.population[lab] for lab in labels])
    return BY_SIZES[key]([labels.count(lab) for lab in labels])


# The claims -------------------------------------------------------------------------

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "alpha_k_anonymity": [{}, {"k": 2}, {"k": 3}],
    "recursive_l_diversity": [{"c": Fraction(c)} for c in ("1/2", "1", "2", "7/2")],
    "t_closeness": [
        {},
        {"distance": "ordered"},
        {"distance": "hierarchical", "hierarchy": TREE},
    ],
    "journalist_risk": [{}, {"population": "everybody.csv"}],
}


def list_measures() -> Iterator[Any]:
    for key, model in MODELS.items():
        for options in OPTIONS.get(key, [{}]):
            for missing in list_readings(model, options):
                measure = pv.Measure(**{key: 1}, missing=missing, **options)
                said = [str(o) for o in options.values() if o is not TREE]
                yield pytest.param(measure, options, id="-".join([key, missing, *said]))


def list_readings(model: PrivacyModel, options: dict[str, Any]) -> list[str]:
    if model.sensitive or "population" in options:
        return ["value", "drop"]
    return ["value", "drop", "wildcard"]


TRUE_AND_OF_NO_USE = {("sample_uniques", "drop")}
"""Never worsened by merging either, though the record claims it for values only: a
search counts every row, so it could not be led by what is left of them."""


def is_worse(measure: pv.Measure, after: Any, before: Any) -> bool:
    slack = SLACK if isinstance(before, float) and before < inf else 0
    if measure.sense == "at least":
        return bool(after < before - slack)
    return bool(after > before + slack)


def search_refutation(measure: pv.Measure, options: dict[str, Any]) -> Any:
    """A table and two of its classes whose merging worsens the measure."""
    for seed in range(CASES):
        people = draw_people(random.Random(seed))
        if measure.distance != "equal" and measure.missing == "value":
            whole = [(lab, v) for lab, v in people.rows if v is not None]
            people = People(whole, people.population)  # None has no place there
        before = work_out(measure.kind, measure.missing, people, **options)
        for one, other in combinations(people.labels(), 2):
            merged = people.merge(one, other)
            after = work_out(measure.kind, measure.missing, merged, **options)
            if None not in (before, after) and is_worse(measure, after, before):
                return people.rows, one, other, before, after
    return None


def test_every_model_has_its_definition() -> None:
    assert set(MODELS) == {*BY_VALUES, *BY_SIZES}


@pytest.mark.parametrize(("measure", "options"), list(list_measures()))
def test_merging_worsens_no_more_than_the_record_says(
    measure: pv.Measure, options: dict[str, Any]
) -> None:
    stays = (
        is_monotone(measure) or (measure.kind, measure.missing) in TRUE_AND_OF_NO_USE
    )
    assert stays == (search_refutation(measure, options) is None)


def test_a_value_that_one_of_two_classes_has_is_rarer_in_both() -> None:
    """Half of everybody have 1: a quarter of q, none of p, a fifth of both together."""
    p, q, r = [("p", "2")], [("q", "1"), *[("q", "2")] * 3], [("r", "1")] * 3
    assert Fraction(2) == delta_ratio(p + q + r)
    assert Fraction(5, 2) == delta_ratio([("pq", v) for _, v in p + q] + r)
    apart = pv.Groups.from_histograms([{"2": 1}, {"1": 1, "2": 3}, {"1": 3}])
    merged = pv.Groups.from_histograms([{"1": 1, "2": 4}, {"1": 3}])
    measure = pv.Measure(delta_disclosure="0.8")  # between ln 2 and ln 5/2
    assert pv.audit(apart, measure).safe
    assert not pv.audit(merged, measure).safe


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
@pytest.mark.parametrize("seed", range(5))
def test_what_flows_through_an_order_or_a_tree_is_the_distance(
    distance: str, seed: int
) -> None:
    pytest.importorskip("scipy", reason="it comes with scikit-learn")
    drawn = draw_people(random.Random(seed)).rows
    rows = [(str(lab), v) for lab, v in drawn if v is not None]
    rows += [("all", v) for v in TREE]
    ground = {
        (a, b): Fraction(abs(int(a) - int(b)), 3)
        if distance == "ordered"
        else Fraction(0 if a == b else 1 if TREE[a][0] == TREE[b][0] else 2, 2)
        for a in TREE
        for b in TREE
    }
    expected = slow.moved(rows, ground)
    assert pytest.approx(expected, abs=1e-9) == float(closeness(rows, distance))
