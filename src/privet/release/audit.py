"""The verbs `audit` and `belief`: find the arithmetic for release and adversary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast, runtime_checkable

from privet.classifier import audit as bayes
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.engine.protocol import Listener, Run
from privet.errors import InputError, NoAudit, Stopped, warn
from privet.findings import Audit, Finding, Verdict
from privet.microdata import linkage
from privet.microdata.groups import Groups
from privet.microdata.privacy_models import audit as measures
from privet.microdata.skyline import audit as insider
from privet.microdata.skyline.background_knowledge import Sentence, belief_knowing
from privet.policy import Measure, Policy, Promise
from privet.responses import audit as channel
from privet.responses.design import Design, design_of
from privet.responses.release import Responses
from privet.table import Table
from privet.values.adversaries import (
    Adversary,
    Bayesian,
    Insider,
    Linker,
    Reconstructor,
)
from privet.values.beliefs import Belief, Ceiling
from privet.values.schema import Roles
from privet.views import audit as worlds
from privet.views.release import Views

Auditable = Table | Groups | Views | ClassifierViews | Scorecard | Responses | Design
"""What can be audited: a table as if it were released, or what is released of it."""

Judge = Callable[[Any, Sequence[Promise], Run, Callable[[str], None]], list[Finding]]

JUDGES: dict[tuple[type, type], Judge] = {
    (Table, Linker): linkage.judge_table,
    (Groups, Linker): linkage.judge_groups,
    (Table, Insider): insider.judge_table,
    (Groups, Insider): insider.judge_groups,
    (ClassifierViews, Bayesian): bayes.judge,
    (Scorecard, Bayesian): bayes.judge_card,
    (Responses, Bayesian): channel.judge,
    (Design, Bayesian): channel.judge,
    (Views, Reconstructor): worlds.judge_views,
}
"""The arithmetic there is."""

FITTING: dict[type, tuple[type, ...]] = {
    Linker: (Table, Groups),
    Insider: (Table, Groups),
    Reconstructor: (Views,),
    Bayesian: (ClassifierViews, Scorecard, Responses, Design),
}
"""What each adversary looks at; promises against others do not apply to it."""


LOOKED_AT = {
    Table: "a table",
    Groups: "groups",
    Views: "views",
    ClassifierViews: "a classifier",
    Scorecard: "a classifier",
    Responses: "disguised rows",
    Design: "a design",
}
"""How each release is called in a sentence."""


@runtime_checkable
class ReleasedTable(Protocol):
    """A release: a table as others see it, with the roles that are left."""

    @property
    def table(self) -> Table:
        """What is released."""


def audit(
    release: Auditable | ReleasedTable,
    promises: Policy | Promise | Measure | Sequence[Promise | Measure],
    *,
    strict: bool = False,
    max_seconds: float | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Audit:
    """Judge every promise on a table or a release, exactly, each with a witness.

    Parameters
    ----------
    release
        A table, judged as if it were released as it is; groups, views, a classifier;
        disguised rows, or the design that disguises them.
    promises
        A policy, or promises and measures.
    strict
        Whether a value that never occurs is an error instead of a warning.
    max_seconds
        Stop after this time; what is not decided by then is UNDECIDED.
    seed
        Makes draws repeatable, where tables behind many views are drawn at random;
        otherwise they come from the system's secure source.
    progress
        Takes `Progress` events.

    Examples
    --------
    >>> from privet import Linker, Promise, Groups
    >>> two = Groups.from_histograms([{"flu": 3, "aids": 1}, {"flu": 1, "aids": 1}])
    >>> found = audit(two, Promise(against=Linker(), about={"value": "aids"},
    ...                            limit=Ceiling("1/3")))
    >>> found.safe, found.worst.belief
    (False, Belief(prior=Fraction(1, 3), posterior=Fraction(1, 2)))
    """
    _refuse_unread(release)
    if hasattr(release, "transform"):  # a disguise is judged by its design
        release = design_of(release)
    elif isinstance(card := getattr(release, "card", None), Scorecard):
        release, promises = card, _as_released(promises)
    elif isinstance(shown := getattr(release, "views", None), Views):
        release, promises = shown, _as_released(promises)
    elif not isinstance(release, Auditable) and isinstance(release, ReleasedTable):
        release, promises = release.table, _as_released(promises)
    stated = _stated(release, promises)
    if isinstance(promises, Policy) and isinstance(release, Table):
        release = bound(release, promises)
    if isinstance(promises, Policy) and isinstance(release, Views):
        table = bound(release.table, promises)
        release = Views(table, *release.views, marker=release.marker)
    notes = Notes(strict)
    run = Run.starting(progress, max_seconds, seed)
    findings = _judge(release, stated, run, notes)
    title = promises.title if isinstance(promises, Policy) else ""
    return Audit(tuple(findings), title, tuple(notes.said))


FRAMES = ("pandas", "polars", "pyarrow", "duckdb", "pyspark", "pathlib")
"""Packages whose values must be read first, as texts must."""


def _refuse_unread(release: object) -> None:
    kind = type(release)
    if kind is str or kind.__module__.partition(".")[0] in FRAMES:
        raise InputError(
            f"A table must be read first; got {kind.__name__}. Say what its columns "
            "are for: pv.read(table, quasi=[...], sensitive=...)."
        )


def _as_released(promises: Any) -> Any:
    """A policy for what is left of its table: the release knows its own roles."""
    if not isinstance(promises, Policy):
        return promises
    return replace(promises, roles=Roles(), where={}, origin=None)


def bound(table: Table, policy: Policy) -> Table:
    """The rows a policy means, with the roles it gives their columns."""
    roles = policy.bind(table.schema, table.shown.known if table.shown else ())
    return table.meant_by(policy.where).with_roles(roles)


def belief(
    release: Auditable,
    adversary: Adversary,
    about: object = None,
    *,
    knowing: Sentence | None = None,
    progress: Listener | None = None,
) -> Belief:
    """How sure one adversary can be at worst, without any promise.

    Parameters
    ----------
    release, adversary, about
        What is looked at, by whom, and for which value; see `Promise`.
    knowing
        Any other sentence an insider knows about people by name: a function that is
        given who has what and says whether that fits.
    progress
        Takes `Progress` events.

    Examples
    --------
    >>> from privet import Groups, Linker
    >>> belief(Groups.from_histograms([{"flu": 3, "aids": 1}]), Linker()).posterior
    Fraction(3, 4)
    """
    if knowing is not None:
        return belief_knowing(release, adversary, about, knowing, Run(progress))
    found = audit(release, Promise(adversary, Ceiling(1), about), progress=progress)
    worst = found.findings[0].belief
    if worst is None:
        raise NoAudit(found.findings[0].note)
    return worst


class Notes:
    """What came up that a person should know, each once."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.said: list[str] = []

    def __call__(self, words: str) -> None:
        """Take a note; an error instead where that was asked for."""
        if self.strict:
            raise InputError(words)
        if words not in self.said:
            self.said.append(words)
            warn(words)


def _stated(release: Any, promises: Any) -> list[Promise | Measure]:
    if not isinstance(release, Auditable):
        raise NoAudit(f"{type(release).__name__} cannot be audited. {_pairs()}")
    stated: list[Any]
    if isinstance(promises, Policy):
        stated = [*promises.promises, *promises.measures]
    elif isinstance(promises, Promise | Measure):
        stated = [promises]
    else:
        stated = list(promises)
    if not stated:
        raise InputError("An audit must have promises; got none.")
    for p in stated:
        if not isinstance(p, Promise | Measure):
            raise InputError(f"A promise must be a Promise; got {type(p).__name__}.")
    return stated


def _judge(
    release: Auditable, stated: list[Promise | Measure], run: Run, notes: Notes
) -> list[Finding]:
    found: dict[int, Finding] = {}
    for kind in dict.fromkeys(_kind(p) for p in stated):
        at = [i for i, p in enumerate(stated) if _kind(p) is kind]
        judged = _of_kind(release, kind, [stated[i] for i in at], run, notes)
        found.update(zip(at, judged, strict=True))
    if not any(f.basis or f.verdict is Verdict.UNDECIDED for f in found.values()):
        kinds = sorted({_kind(p).__name__ for p in stated})
        raise NoAudit(
            f"No promise can be judged on {type(release).__name__}: there are only "
            f"promises against {', '.join(kinds)}. {_pairs()}"
        )
    return [found[i] for i in range(len(stated))]


def _kind(stated: Promise | Measure) -> type:
    return Measure if isinstance(stated, Measure) else type(stated.against)


def _of_kind(
    release: Auditable, kind: type, stated: list[Any], run: Run, notes: Notes
) -> list[Finding]:
    judge: Judge | None = JUDGES.get((type(release), kind))
    if kind is Measure and isinstance(release, Table | Groups):
        judge = cast("Judge", measures.judge)
    if judge is None:
        return [_not_judged(p, release) for p in stated]
    try:
        return judge(release, stated, run, notes)
    except Stopped as stop:
        return [Finding(p, Verdict.UNDECIDED, note=str(stop)) for p in stated]


def _not_judged(promise: Promise | Measure, release: Auditable) -> Finding:
    if isinstance(promise, Measure):
        return Finding(
            promise,
            Verdict.NOT_APPLICABLE,
            note=f"A measure of groups does not apply to {LOOKED_AT[type(release)]}.",
        )
    kind = type(promise.against)
    if type(release) in FITTING[kind]:
        return Finding(
            promise,
            Verdict.UNDECIDED,
            note="This version of privet has no arithmetic yet for this adversary: "
            f"{promise.against.words()}. The promise is neither kept nor broken.",
        )
    return Finding(
        promise,
        Verdict.NOT_APPLICABLE,
        note=f"This adversary ({promise.against.kind}) does not look at "
        f"{LOOKED_AT[type(release)]}.",
    )


def _pairs() -> str:
    pairs = [f"{r.__name__} with {a.__name__}" for r, a in JUDGES]
    return f"There is arithmetic for {', '.join(pairs)}."
