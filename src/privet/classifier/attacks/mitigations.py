"""Mitigations of the inversion attack: what each leaves to it, and what each costs.

Somebody who knows how a classifier was flattened works out original counts. Noise
first, moving every number within a declared margin, coarse points and small tables
leave less of them, and change some predictions. One line for each way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import attrs

from privet.classifier.agreement import WeightedTuples
from privet.classifier.attacks.inversion import Inverter
from privet.classifier.publish import Method, choose_method
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.extended_safety_transform import (
    ExtendedSafetyTransform,
)
from privet.classifier.transforms.safety_transform import SafetyTransform
from privet.errors import Infeasible, InputError, TooLarge
from privet.policy import Promise

EPSILONS = ("1", "0.1")
"""Privacy losses that are tried."""
MARGINS = ("0.1", "0.5")
"""Margins that are tried."""
BITS = (12, 8)
"""Lengths of points that are tried."""
ROWS = (100_000, 10_000, 1_000)
"""Sizes of synthetic tables that are tried."""


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
    """Share of the original counts that an inverter works out."""
    exponent: float | None = None
    """What the inverter takes for the exponent."""
    note: str = ""
    """Why there are no numbers, where there are none."""

    def to_dict(self) -> dict[str, Any]:
        """For a report."""
        return dict(vars(self))


def compare_mitigations(
    views: ClassifierViews,
    promises: Sequence[Promise],
    method: Method | None = None,
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
        for name, setting, way in list_mitigations(chosen)
    ]


def measure_release(
    views: ClassifierViews, method: Method, shown: Sequence[Scorecard | ClassifierViews]
) -> MitigationCost:
    """What one release costs and tells: the most of all that it shows."""
    tried = MitigationTrial(views, [], zeros=method.zeros)
    margin = getattr(method, "margin", None)
    lines = [
        tried.measure_cost("this release", _describe_settings(method), x, margin)
        for x in shown
    ]
    return max(lines, key=lambda x: x.recovered or 0.0)


def _describe_settings(method: Method) -> str:
    """The mitigations of a method, in words."""
    said = {
        "epsilon": "epsilon {}",
        "margin": "margin {}",
        "bits": "{} bits",
        "rows": "{:,} rows",
    }
    found = {k: getattr(method, k, None) for k in said}
    return ", ".join(
        said[k].format(f"{float(v):g}" if isinstance(v, Fraction) else v)
        for k, v in found.items()
        if v is not None
    )


def list_mitigations(method: Method) -> Iterator[tuple[str, str, Method]]:
    """A method without mitigation, and with each."""
    if isinstance(method, ExtendedSafetyTransform):
        plain: Method = attrs.evolve(method, bits=None)
        yield "precise points", "", plain
        if not method.paper:
            yield from _list_coarse_points(plain)
        return
    bare = attrs.evolve(
        method, bits=None, epsilon=None, margin=None, rows=None, seed=None
    )
    yield "precise points", "", bare
    for e in EPSILONS:
        yield "noise first", f"epsilon {e}", attrs.evolve(bare, epsilon=Fraction(e))
    for m in MARGINS:
        yield "margin jitter", f"margin {m}", attrs.evolve(bare, margin=Fraction(m))
    yield from _list_coarse_points(bare)
    for n in ROWS if bare.mode == "tight" else ():
        yield "small table", f"{n:,} rows", attrs.evolve(bare, rows=n)


def _list_coarse_points(plain: Method) -> Iterator[tuple[str, str, Method]]:
    for b in BITS:
        yield "coarse points", f"{b} bits", attrs.evolve(plain, bits=b)


class MitigationTrial:
    """One classifier, published again and again."""

    def __init__(
        self, views: ClassifierViews, promises: list[Promise], *, zeros: str
    ) -> None:
        self.views, self.promises = views, promises
        prepared = SafetyTransform(zeros=zeros).prepared(views)
        self.smoothing = prepared.smoothing
        self.people = WeightedTuples.of(prepared.scores)
        self.sizes = dict(zip(views.labels, map(ceil, views.sizes), strict=True))

    def try_method(self, name: str, setting: str, method: Method) -> MitigationCost:
        """Publish it in one way."""
        try:
            made = method.apply(self.views, self.promises)
        except (Infeasible, InputError, TooLarge) as no:
            return MitigationCost(name, setting, None, None, note=str(no))
        shown = made.card if made.table is None else made.table.views
        return self.measure_cost(name, setting, shown, getattr(method, "margin", None))

    def measure_cost(
        self,
        name: str,
        setting: str,
        shown: Scorecard | ClassifierViews,
        margin: Fraction | None,
    ) -> MitigationCost:
        """What is published costs and tells so much."""
        attacker = Inverter(self.sizes, smoothing=self.smoothing, margin=margin or 0)
        found = attacker.attack(shown)
        right = float(found.right(self.views))
        same = self.people.agreement(shown)
        return MitigationCost(name, setting, same, right, found.exponent)
