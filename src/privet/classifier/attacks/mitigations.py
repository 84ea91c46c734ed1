"""Mitigations of the inversion attack: what each leaves to it, and what each costs.

Somebody who knows how a classifier was flattened works out original counts. Noise
first, moving every number within a declared margin, coarse points and small tables
leave less of them, and change some predictions. One line for each way; and the way
that keeps a promise against inversion and changes the fewest predictions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import attrs

from privet.classifier.agreement import WeightedTuples
from privet.classifier.attacks.inversion import InversionMeasure
from privet.classifier.attacks.inversion_promise import (
    Attacked,
    judge_inversion,
    list_attacked,
    measure_release,
)
from privet.classifier.noise.dp_noise import domains_of, plan_noise
from privet.classifier.noise.noisy_inversion import expect_inversion
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.extended_safety_transform import (
    ExtendedSafetyTransform,
)
from privet.classifier.transforms.safety_transform import SafetyTransform
from privet.errors import Infeasible, InputError, TooLarge
from privet.findings import Verdict
from privet.languages import mark, say, say_number
from privet.policy import Promise
from privet.values.adversaries import Bayesian
from privet.values.noise.differential_privacy import DifferentialPrivacy

Method = SafetyTransform | ExtendedSafetyTransform
"""How a classifier can be made safe."""

EXPECTED = mark("Expected, by the noisy counts alone.")
"""Of figures under noise."""

EPSILONS = ("1", "0.1")
"""Privacy losses that are tried."""
MARGINS = ("0.1", "0.5")
"""Margins that are tried."""
BITS = (12, 8)
"""Lengths of points that are tried."""
ROWS = (100_000, 10_000, 1_000)
"""Sizes of synthetic tables that are tried."""

LADDERS: dict[str, tuple[Any, ...]] = {
    "bits": (20, 18, 16, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4),
    "margin": tuple(
        Fraction(x) for x in ("0.02", "0.05", "0.1", "0.2", "0.4", "0.8", "1.5")
    ),
    "rows": (300_000, 100_000, 30_000, 10_000, 5_000, 2_000, 1_000, 500, 200),
}
"""Settings of each mitigation, the one that changes least first. Noise is not among
them: an epsilon that was chosen by looking at the counts would promise too much."""


@dataclass(frozen=True)
class MitigationCost:
    """What one way of publishing costs, and what it leaves to an inverter."""

    name: str
    """The way: `noise first`, `margin jitter`, `coarse points` or `small table`."""
    setting: str
    """How it was set, such as `epsilon 1`."""
    agreement: float | None
    """Share of people predicted as the original does, as the counts have them."""
    recovered: float | None
    """Share of the original counts that an aided inverter works out exactly."""
    near: float | None = None
    """Share that it works out within one or a tenth."""
    alone: float | None = None
    """Share that an inverter works out exactly by itself."""
    exponent: float | None = None
    """What the inverter takes for the exponent by itself."""
    note: str = ""
    """Why there are no numbers, where there are none."""

    def to_dict(self) -> dict[str, Any]:
        """For a report."""
        return dict(vars(self))


def compare_mitigations(
    views: ClassifierViews, promises: Sequence[Promise], method: Method | None = None
) -> list[MitigationCost]:
    """Publish a classifier in each way, attack it, and see what it still predicts.

    Parameters
    ----------
    views
        The original counts.
    promises
        What is promised, against a bayesian.
    method
        How it is made safe; each way changes one setting of it.
    """
    chosen = method or choose_method(promises)
    tried = MitigationTrial(views, list(promises), zeros=chosen.zeros)
    return [
        tried.try_method(name, setting, way)
        for name, setting, way in list_mitigations(chosen, views)
    ]


def choose_method(promises: Sequence[Promise]) -> Method:
    """SafetyTransform, unless somebody has another prior than the uniform one."""
    priors = [p.against.prior for p in promises if isinstance(p.against, Bayesian)]
    if all(prior == "uniform" for prior in priors):
        return SafetyTransform()
    return ExtendedSafetyTransform()


def measure_cost(
    views: ClassifierViews,
    method: Method,
    shown: Sequence[Scorecard | ClassifierViews],
    attacked: Attacked,
) -> MitigationCost:
    """What one release costs and tells."""
    tried = MitigationTrial(views, [], zeros=method.zeros)
    measured = measure_release(attacked, views, method)
    same = min(tried.people.agreement(x) for x in shown)
    return _make_cost(mark("this release"), describe_settings(method), same, measured)


def expect_cost(
    noisy: ClassifierViews,
    method: Method,
    shown: Sequence[Scorecard | ClassifierViews],
) -> MitigationCost:
    """The same of a release with noise, by the noisy counts: no other is looked at."""
    assert method.noise is not None
    people = WeightedTuples.of(noisy.scores)
    found = expect_inversion(noisy, plan_noise(noisy, method.noise))
    same = min(people.agreement(x) for x in shown)
    cost = _make_cost(mark("this release"), describe_settings(method), same, found)
    return replace(cost, alone=cost.recovered, note=EXPECTED)


def _make_cost(
    name: str, setting: str, same: float, measured: InversionMeasure
) -> MitigationCost:
    return MitigationCost(
        name,
        setting,
        same,
        float(measured.exact),
        float(measured.near),
        None if measured.alone is None else float(measured.alone),
        measured.exponent,
    )


def describe_settings(method: Method) -> str:
    """The mitigations of a method, in words."""
    said = {
        "epsilon": "epsilon {}",
        "delta": "delta {}",
        "rho": "rho {}",
        "margin": "margin {}",
        "bits": say("{n} bits", n="{}"),
        "rows": say("{n} rows", n="{:,}"),
    }
    found = {k: getattr(method.noise, k, None) for k in ("epsilon", "delta", "rho")}
    found |= {k: getattr(method, k, None) for k in ("margin", "bits", "rows")}
    return ", ".join(
        said[k].format(f"{float(v):g}" if isinstance(v, Fraction) else v)
        for k, v in found.items()
        if v
    )


def list_mitigations(
    method: Method, views: ClassifierViews
) -> Iterator[tuple[str, str, Method]]:
    """A method without mitigation, and with each."""
    if isinstance(method, ExtendedSafetyTransform):
        plain: Method = attrs.evolve(method, bits=None, epsilon=None, privacy=None)
        yield mark("precise points"), "", plain
        if not method.paper:
            yield from _list_coarse_points(plain)
        return
    bare = _take_off(method)
    yield mark("precise points"), "", bare
    for e in EPSILONS:
        noise = _suppose_declared(Fraction(e), views)
        yield mark("noise first"), f"epsilon {e}", attrs.evolve(bare, privacy=noise)
    for m in MARGINS:
        yield (
            mark("margin jitter"),
            f"margin {m}",
            attrs.evolve(bare, margin=Fraction(m)),
        )
    yield from _list_coarse_points(bare)
    for n in ROWS if bare.mode == "tight" else ():
        yield (
            mark("small table"),
            say_number("{n} row", "{n} rows", n),
            attrs.evolve(bare, rows=n),
        )


def _suppose_declared(epsilon: Fraction, views: ClassifierViews) -> DifferentialPrivacy:
    """Noise as it would be, had the values that occur been declared."""
    return DifferentialPrivacy(
        epsilon,
        rows_per_person=views.rows_per_person,
        heaviest=views.heaviest,
        grid=Fraction(1, (views.heaviest or Fraction(1)).denominator),
        domain=domains_of(views),
    )


def _take_off(method: SafetyTransform) -> SafetyTransform:
    return attrs.evolve(
        method,
        bits=None,
        epsilon=None,
        margin=None,
        rows=None,
        seed=None,
        privacy=None,
    )


def _list_coarse_points(plain: Method) -> Iterator[tuple[str, str, Method]]:
    for b in BITS:
        yield mark("coarse points"), say("{n} bits", n=b), attrs.evolve(plain, bits=b)


class MitigationTrial:
    """One classifier, published again and again."""

    def __init__(
        self, views: ClassifierViews, promises: list[Promise], *, zeros: str
    ) -> None:
        self.views, self.promises = views, promises
        prepared = SafetyTransform(zeros=zeros).prepared(views)
        self.people = WeightedTuples.of(prepared.scores)

    def try_method(self, name: str, setting: str, method: Method) -> MitigationCost:
        """Publish it in one way."""
        try:
            made = method.apply(self.views, self.promises)
        except (Infeasible, InputError, TooLarge) as no:
            return MitigationCost(name, setting, None, None, note=str(no))
        shown = made.card if made.table is None else made.table.views
        attacked = list_attacked(made, self.views, method)
        measured = measure_release(attacked, self.views, method, only_aided=True)
        return _make_cost(name, setting, self.people.agreement(shown), measured)

    def keeps(self, method: Method, against: Sequence[Promise]) -> float | None:
        """The share of people predicted alike, where promises are kept; or None."""
        try:
            made = method.apply(self.views, self.promises)
        except (Infeasible, InputError, TooLarge):
            return None
        attacked = list_attacked(made, self.views, method)
        found = judge_inversion(against, attacked, self.views, method, only_aided=True)
        if any(f.verdict is not Verdict.SAFE for f in found):
            return None
        return self.people.agreement(
            made.card if made.table is None else made.table.views
        )


# The cheapest that keeps a promise --------------------------------------------------


def list_cheapest(
    views: ClassifierViews,
    promises: Sequence[Promise],
    against: Sequence[Promise],
    method: Method,
) -> Iterator[Method]:
    """Ways that kept promises against inversion, the one that changes least first.

    Each way is set as weakly as keeps them, by halving its list of settings. What is
    drawn anew may fall otherwise, so that stronger settings of each way follow.
    """
    trial = MitigationTrial(views, list(promises), zeros=method.zeros)
    found = []
    for key in _list_keys(method):
        kept = _set_weakly(trial, method, key, against)
        if kept is not None:
            found.append((kept[0], kept[1], key))
    found.sort(key=lambda x: x[0], reverse=True)
    yield from (way for _, way, _ in found)
    for _, way, key in found:
        ladder = LADDERS[key]
        for setting in ladder[ladder.index(getattr(way, key)) + 1 :]:
            yield attrs.evolve(method, **{key: setting})


def _list_keys(method: Method) -> list[str]:
    if isinstance(method, ExtendedSafetyTransform):
        return [] if method.paper else ["bits"]
    return [k for k in LADDERS if k != "rows" or method.mode == "tight"]


def _set_weakly(
    trial: MitigationTrial, method: Method, key: str, against: Sequence[Promise]
) -> tuple[float, Method] | None:
    """One mitigation, set as weakly as keeps the promises."""
    ladder = LADDERS[key]
    low, high = 0, len(ladder)
    best: tuple[float, Method] | None = None
    while low < high:
        middle = (low + high) // 2
        way: Method = attrs.evolve(method, **{key: ladder[middle]})
        same = trial.keeps(way, against)
        if same is None:
            low = middle + 1
        else:
            best, high = (same, way), middle
    return best
