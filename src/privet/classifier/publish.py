"""Publish a classifier that predicts the same, by SafetyTransform or EST; its release.

Mozafari, Zaniolo 2009, sections 6 and 7.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from privet.classifier.attacks.inversion_promise import (
    find_uncovered,
    judge_inversion,
    list_attacked,
    measure_release,
    select_inversion,
    settle_findings,
)
from privet.classifier.attacks.mitigations import (
    Method,
    choose_method,
    describe_settings,
    list_cheapest,
)
from privet.classifier.audit import refuse_survey_keys
from privet.classifier.count import BETWEEN
from privet.classifier.noise.dp_noise import plan_noise
from privet.classifier.noise.noisy_inversion import (
    describe_expected,
    expect_inversion,
    judge_noisy,
)
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
from privet.display import Reportable
from privet.engine.protocol import Listener, Run
from privet.errors import Infeasible, InputError, TooLarge
from privet.findings import Audit, Basis, Verdict
from privet.policy import Accepted, Measure, Policy, Promise
from privet.policy.policy import Stated, as_policy
from privet.release.audit import audit
from privet.release.budget import refuse_noiseless, refuse_overdrawn
from privet.release.history import History, judge_history
from privet.release.integrity.signature import Signer
from privet.release.joint.outlines import LOSS, ReleaseOutline, ShownColumn
from privet.release.kinds import import_kind
from privet.release.write import write
from privet.table import Table
from privet.values.noise.differential_privacy import DifferentialPrivacy
from privet.values.noise.privacy_budget import PrivacyLoss

if TYPE_CHECKING:
    from privet.classifier.predict import PublishedNaiveBayes


@dataclass(frozen=True, eq=False)
class ClassifierRelease(Reportable):
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
    history: History | None = None
    """What earlier releases add; None once loaded."""

    @property
    def verdict(self) -> Verdict:
        """What it may be called; what it comes to with earlier releases goes first."""
        if self.history is not None and not self.history.safe:
            return self.history.verdict
        return self.audit.verdict

    @property
    def safe(self) -> bool:
        """Whether every promise that applies is kept, earlier releases included."""
        return self.audit.safe and (self.history is None or self.history.safe)

    @property
    def exponent(self) -> Fraction | None:
        """What scores were raised to; private, and None once loaded."""
        return None if self.made is None else self.made.proof.exponent

    @property
    def noise(self) -> DifferentialPrivacy | None:
        """The noise on its counts; None: none, or it was loaded."""
        stated = self.options.get("privacy")
        return None if stated is None else DifferentialPrivacy(**stated)

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
        sign: Signer = None,
        accept: Mapping[str, str] | None = None,
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
        sign
            A `SigningKey`, or the file of one.
        accept
            ``{"inversion": "why"}``: that original counts can be worked out, where no
            promise is made against that.
        """
        released = self if accept is None else self.accept(accept)
        parts = import_kind("classifier").parts(released, counts, rows, views)
        destination = parts.resolve(folder, custody, None)
        content = write(parts, destination, replace=replace, run=Run(), sign=sign)
        return changed(released, manifest=content, folder=destination.folder)

    def accept(self, accept: Mapping[str, str]) -> ClassifierRelease:
        """The release with inversion accepted, and why."""
        if set(accept) != {"inversion"}:
            raise InputError(
                f"accept must be {{'inversion': 'why'}}; got {dict(accept)!r}."
            )
        entry = Accepted(of="inversion", why=accept["inversion"])
        rest = [a for a in self.policy.accepted if a.of != "inversion"]
        policy = attrs.evolve(self.policy, accepted=(*rest, entry))
        return changed(
            self, policy=policy, audit=attrs.evolve(self.audit, uncovered=())
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines: promises before and after; no count."""
        from privet.classifier.charts import summarise_shown

        return summarise_shown(self)

    def __repr__(self) -> str:
        return f"ClassifierRelease({self.method}, {self.audit.verdict.value})"


def publish_classifier(
    model: Any,
    promises: Stated,
    *,
    method: Method | None = None,
    source: Mapping[str, Any] | None = None,
    table: Table | None = None,
    progress: Listener | None = None,
) -> ClassifierRelease:
    """Make a release of a classifier that keeps every promise; or `Infeasible`."""
    views = views_from(model)
    policy = as_policy(promises)
    stated = bayesian_promises(policy)
    refuse_survey_keys(stated)
    chosen = settle_noise(method or choose_method(stated), policy)
    if chosen.noise is None:
        chosen, made = _flatten(views, policy, chosen)
    else:
        refuse_overdrawn(policy, plan_noise(views, chosen.noise).loss)
        made = chosen.apply(views, stated)
    told: list[Promise | Measure] = [*policy.promises, *policy.measures]
    with warnings.catch_warnings(action="ignore"):
        # Under noise whatever is found is found in the noisy counts.
        before = audit(views if chosen.noise is None else made.views, told)
    after = audit(made.card, told, progress=progress)
    release = ClassifierRelease(
        card=made.card,
        policy=policy,
        audit=_judge_inversion(after, policy, views, chosen, made),
        method=chosen.kind,
        keeps=made.keeps,
        made=made,
        before=before,
        source=source or {},
        private=views,
        options=describe_options(chosen),
    )
    _refuse_unsafe(release)
    return changed(release, history=_judge_history(release, table, Run(progress)))


def _flatten(
    views: ClassifierViews, policy: Policy, method: Method
) -> tuple[Method, FlattenedCard]:
    """A card of the counts as they are, and the method as it was set in the end."""
    if len(views.labels) == 1:
        raise InputError(
            f"A classifier must tell classes apart; {views.target!r} has one only."
        )
    against = select_inversion(policy.promises)
    return _make_card(views, bayesian_promises(policy), against, method)


def settle_noise(method: Method, policy: Policy) -> Method:
    """The method with everything that it and the policy say of noise."""
    asked = method.noise or policy.privacy
    if method.privacy is None and method.epsilon is not None and policy.privacy:
        asked = attrs.evolve(policy.privacy, epsilon=method.epsilon, rho=None)
    if asked is None:
        refuse_noiseless(policy, "A classifier")
        return method
    domain = {**policy.domains(), **asked.domain}
    return attrs.evolve(
        method, epsilon=None, privacy=attrs.evolve(asked, domain=domain)
    )


def describe_options(method: Method) -> dict[str, Any]:
    """How a method was set, for the custody record."""
    options = attrs.asdict(method, recurse=False)
    found: dict[str, Any] = {k: str(v) for k, v in options.items() if v is not None}
    if method.noise is not None:
        found["privacy"] = method.noise.to_dict()
    return found


def _make_card(
    views: ClassifierViews,
    stated: Sequence[Promise],
    against: Sequence[Promise],
    method: Method,
) -> tuple[Method, FlattenedCard]:
    """A card, by the method as it is or with the mitigation that costs least."""
    made = method.apply(views, stated)
    if not against or describe_settings(method):
        return method, made
    attacked = list_attacked(made, views, method)
    found = judge_inversion(against, attacked, views, method, only_aided=True)
    if all(f.verdict is Verdict.SAFE for f in found):
        return method, made
    for way in list_cheapest(views, stated, against, method):
        drawn = _draw_kept(views, stated, against, way)
        if drawn is not None:
            return way, drawn
    worst = max(found, key=lambda f: f.belief.posterior if f.belief else 0)
    raise Infeasible(
        f"No mitigation keeps {worst.promise.name!r}. {worst.note}",
        promise=worst.promise,
        best=worst.belief.posterior if worst.belief else None,
        advice=("Allow a larger share of counts, or publish fewer attributes.",),
    )


TRIES = 5
"""How often noise is drawn until a promise against inversion is kept."""


def _draw_kept(
    views: ClassifierViews,
    stated: Sequence[Promise],
    against: Sequence[Promise],
    way: Method,
) -> FlattenedCard | None:
    """A card that keeps promises against inversion; None: no draw gave one."""
    for _ in range(TRIES):
        try:
            made = way.apply(views, stated)
        except (Infeasible, InputError, TooLarge):
            return None
        attacked = list_attacked(made, views, way)
        found = judge_inversion(against, attacked, views, way)
        if all(f.verdict is Verdict.SAFE for f in found):
            return made
    return None


def _judge_inversion(
    found: Audit,
    policy: Policy,
    views: ClassifierViews,
    method: Method,
    made: FlattenedCard,
) -> Audit:
    """An audit with what can be worked out of the original counts."""
    if method.noise is not None:
        return _judge_noisy_inversion(found, policy, made.views, method.noise)
    against = select_inversion(policy.promises)
    attacked = list_attacked(made, views, method)
    judged = judge_inversion(against, attacked, views, method)
    told = tuple(settle_findings(found.findings, judged))
    # What is accepted however much it is need not be worked out.
    whole = any(a.of == "inversion" and a.up_to is None for a in policy.accepted)
    if against or whole:
        return attrs.evolve(found, findings=told)
    measured = measure_release(attacked, views, method, only_aided=True)
    open_ = find_uncovered(against, policy.accepted, measured, views.target)
    return attrs.evolve(found, findings=told, uncovered=(*found.uncovered, *open_))


def _judge_noisy_inversion(
    found: Audit, policy: Policy, noisy: ClassifierViews, privacy: DifferentialPrivacy
) -> Audit:
    """The same under noise, by the noisy counts and no others."""
    against = select_inversion(policy.promises)
    judged = judge_noisy(against, noisy, privacy)
    told = tuple(settle_findings(found.findings, judged))
    plan = plan_noise(noisy, privacy)
    measured = expect_inversion(noisy, plan)
    words = describe_expected(measured, plan)
    open_ = find_uncovered(against, policy.accepted, measured, noisy.target, words)
    return attrs.evolve(found, findings=told, uncovered=(*found.uncovered, *open_))


def _judge_history(
    release: ClassifierRelease, table: Table | None, run: Run
) -> History:
    """What earlier releases of the table add, where it is at hand."""
    policy = release.policy
    if table is not None:
        return judge_history(outline_classifier(release), table, policy, run)
    if policy.ledger or policy.earlier:
        raise InputError(
            "A classifier must be made from its table to be judged with earlier "
            "releases: privet classifier does so. Or leave ledger and earlier out."
        )
    return History()


def outline_classifier(release: ClassifierRelease) -> ReleaseOutline:
    """What a classifier shows of each column, for the ledger: changed counts."""
    card = release.card
    targets = tuple(card.target.split(BETWEEN))
    loss = find_loss(release)
    names = [*(a.name for a in card.attributes), *targets]
    told = json.dumps(card.to_dict(), sort_keys=True)
    return ReleaseOutline(
        name="",
        kind="classifier",
        rows="",
        columns={c: ShownColumn() for c in names},
        sets=tuple((a.name, *targets) for a in card.attributes),
        transformed=True,
        digest=hashlib.sha256(told.encode()).hexdigest(),
        more={} if loss is None else {LOSS: loss.to_dict()},
    )


def find_loss(release: ClassifierRelease) -> PrivacyLoss | None:
    """What the noise of a release costs; None: it has none."""
    if release.noise is None or release.made is None:
        return None
    return plan_noise(release.made.views, release.noise).loss


def views_from(model: Any) -> ClassifierViews:
    """The counts of whatever can be published: views, NaiveBayes or CategoricalNB."""
    if isinstance(model, ClassifierViews):
        return model
    found = getattr(model, "views_", None)
    return found if isinstance(found, ClassifierViews) else from_categorical(model)


def read_method(kind: str, options: Mapping[str, Any]) -> Method:
    """The method a custody record tells of."""
    given: dict[str, Any] = {
        k: options[k] for k in ("mode", "rule", "zeros") if k in options
    }
    whole = ("bits", "rows", "seed", "step")
    given |= {k: int(options[k]) for k in whole if k in options}
    given |= {k: Fraction(options[k]) for k in ("epsilon", "margin") if k in options}
    if "privacy" in options:
        given["privacy"] = DifferentialPrivacy(**options["privacy"])
    if kind.endswith(ExtendedSafetyTransform().kind):
        paper = options.get("paper") == "True"
        return ExtendedSafetyTransform(paper=paper, **given)
    return SafetyTransform(**given)


SMALLER = (
    "Allow a larger share of counts, set a stronger mitigation, or set none: then the "
    "one that costs least is found."
)


SMALLER_LOSS = "Allow a larger share of counts, or a smaller epsilon."


def _refuse_unsafe(release: ClassifierRelease) -> None:
    kept = (Verdict.SAFE, Verdict.NOT_APPLICABLE)
    for finding in release.audit.findings:
        if finding.verdict not in kept:
            reached = finding.belief.posterior if finding.belief else None
            inverted = finding.basis is Basis.ATTACK
            smaller = SMALLER if release.noise is None else SMALLER_LOSS
            raise Infeasible(
                f"{release.method.capitalize()} does not reach "
                f"{finding.promise.name!r}: {finding.explain() or finding.note}",
                promise=finding.promise,
                best=reached,
                advice=(smaller if inverted else "Allow a larger move of beliefs.",),
            )
