"""Publish a classifier that predicts the same, by SafetyTransform or EST; its release.

Mozafari, Zaniolo 2009, sections 6 and 7.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from privet.classifier.release import ClassifierViews, from_categorical
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.extended_safety_transform import (
    ExtendedSafetyTransform,
)
from privet.classifier.transforms.rounding import FlattenedCard, SyntheticTable
from privet.classifier.transforms.safety_transform import (
    SafetyTransform,
    bayesian_promises,
)
from privet.classifier.transforms.synthetic import make_synthetic_table
from privet.engine.protocol import Listener, Run
from privet.errors import Infeasible, InputError
from privet.findings import Audit, Verdict
from privet.policy import Policy, Promise
from privet.policy.policy import Stated, as_policy
from privet.release.audit import audit
from privet.release.destination import Destination
from privet.release.kinds import import_kind
from privet.release.write import write
from privet.values.adversaries import Bayesian

if TYPE_CHECKING:
    from privet.classifier.predict import PublishedNaiveBayes

Method = SafetyTransform | ExtendedSafetyTransform
"""How a classifier can be made safe."""


@dataclass(frozen=True, eq=False)
class ClassifierRelease:
    """A classifier that keeps every promise, and how it was made."""

    card: Scorecard
    """What is published."""
    policy: Policy
    """What was promised."""
    audit: Audit
    """What an adversary could learn from it."""
    method: str
    """How it was made."""
    keeps: str
    """What is kept of the original's predictions, in words."""
    made: FlattenedCard | None = None
    """The original counts and the certificate; None once loaded from public files."""
    before: Audit | None = None
    """What an adversary could have learnt from the original."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """Where the counts come from, for the custody record."""
    private: ClassifierViews | None = field(default=None, repr=False)
    """The counts before any noise; None once loaded."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the method was set, for the custody record."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The public document; empty until it is written."""
    folder: Path | None = None
    """Where it was loaded from."""

    @property
    def safe(self) -> bool:
        """Whether every promise that applies is kept."""
        return self.audit.safe

    @property
    def exponent(self) -> Fraction | None:
        """What scores were raised to; private, and None once loaded."""
        return None if self.made is None else self.made.proof.exponent

    def classifier(self) -> PublishedNaiveBayes:
        """The released classifier as scikit-learn knows classifiers."""
        from privet.classifier.predict import PublishedNaiveBayes

        return PublishedNaiveBayes(self.card)

    def table(self, rows: int) -> SyntheticTable:
        """Counts of a synthetic table of so many rows that keeps every promise too."""
        if self.made is None:
            raise InputError("A release that was loaded is written already.")
        if self.made.table is not None:
            raise InputError("A release of synthetic rows has them already.")
        return make_synthetic_table(self.made, bayesian_promises(self.policy), rows)

    def write(
        self,
        folder: str | PathLike[str],
        *,
        custody: str | PathLike[str],
        counts: bool = False,
        rows: int | None = None,
        views: bool = False,
        replace: bool = False,
    ) -> ClassifierRelease:
        """Write the release to a new folder, whole or not at all.

        Parameters
        ----------
        folder
            Where it goes.
        custody
            Where the private record goes; it never travels.
        counts
            Whether to write exact whole counts besides the scorecard.
        rows
            Write a synthetic table of so many rows, too.
        views
            Write the synthetic rows as one file of two columns per attribute instead.
        replace
            Whether an earlier release may be written over.
        """
        parts = import_kind("classifier").parts(self, counts, rows, views)
        place, kept = (Path(p).expanduser().resolve() for p in (folder, custody))
        destination = Destination(place, "scorecard.json", "json", kept)
        content = write(parts, destination, replace=replace, run=Run())
        return changed(self, manifest=content, folder=destination.folder)

    def __repr__(self) -> str:
        return f"ClassifierRelease({self.method}, {self.audit.verdict.value})"


def publish_classifier(
    model: Any,
    promises: Stated,
    *,
    method: Method | None = None,
    source: Mapping[str, Any] | None = None,
    progress: Listener | None = None,
) -> ClassifierRelease:
    """Make a release of a classifier that keeps every promise; or `Infeasible`."""
    views = views_from(model)
    if len(views.labels) == 1:
        raise InputError(
            f"A classifier must tell classes apart; {views.target!r} has one only."
        )
    policy = as_policy(promises)
    stated = bayesian_promises(policy)
    chosen = method or choose_method(stated)
    with warnings.catch_warnings(action="ignore"):
        before = audit(views, [*policy.promises, *policy.measures])
    made = chosen.apply(views, stated)
    after = audit(made.card, [*policy.promises, *policy.measures], progress=progress)
    options = attrs.asdict(chosen, recurse=False)
    release = ClassifierRelease(
        card=made.card,
        policy=policy,
        audit=after,
        method=chosen.kind,
        keeps=made.keeps,
        made=made,
        before=before,
        source=source or {},
        private=views,
        options={k: str(v) for k, v in options.items() if v is not None},
    )
    _refuse_unsafe(release)
    return release


def views_from(model: Any) -> ClassifierViews:
    """The counts of whatever can be published: views, NaiveBayes or CategoricalNB."""
    if isinstance(model, ClassifierViews):
        return model
    found = getattr(model, "views_", None)
    return found if isinstance(found, ClassifierViews) else from_categorical(model)


def choose_method(promises: Sequence[Promise]) -> Method:
    """SafetyTransform, unless somebody has another prior than the uniform one."""
    priors = [p.against.prior for p in promises if isinstance(p.against, Bayesian)]
    if all(prior == "uniform" for prior in priors):
        return SafetyTransform()
    return ExtendedSafetyTransform()


def read_method(kind: str, options: Mapping[str, str]) -> Method:
    """The method a custody record tells of."""
    texts = {k: options[k] for k in ("mode", "rule", "zeros") if k in options}
    whole = {k: int(options[k]) for k in ("bits", "rows", "seed") if k in options}
    parts = {k: Fraction(options[k]) for k in ("epsilon", "margin") if k in options}
    if kind.endswith(ExtendedSafetyTransform().kind):
        paper = options.get("paper") == "True"
        return ExtendedSafetyTransform(paper=paper, **texts, **whole)  # type: ignore[arg-type]
    return SafetyTransform(**texts, **whole, **parts)  # type: ignore[arg-type]


def _refuse_unsafe(release: ClassifierRelease) -> None:
    kept = (Verdict.SAFE, Verdict.NOT_APPLICABLE)
    for finding in release.audit.findings:
        if finding.verdict not in kept:
            reached = finding.belief.posterior if finding.belief else None
            raise Infeasible(
                f"{release.method.capitalize()} does not reach "
                f"{finding.promise.name!r}: {finding.explain() or finding.note}",
                promise=finding.promise,
                best=reached,
                advice=("Allow a larger move of beliefs.",),
            )
