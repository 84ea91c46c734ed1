"""The verbs `audit` and `belief`: find the arithmetic for release and adversary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from privet.engine.protocol import Listener, Run
from privet.engine.sources.dataframes import is_frame, list_frame_options
from privet.errors import InputError, NoAudit, Stopped, warn
from privet.findings import Audit, Finding, Verdict
from privet.languages import mark, say, translate
from privet.policy import Measure, Policy, Promise
from privet.release.enumeration import Sentence
from privet.release.kinds import (
    ReleaseKind,
    find_judging_kind,
    list_kinds,
)
from privet.report.joint_reasons import SEARCHED_TOO_LONG
from privet.report.words import describe_people_made
from privet.table import Table, read
from privet.values.adversaries import Adversary
from privet.values.beliefs import Belief, Ceiling
from privet.values.schema import Roles

if TYPE_CHECKING:
    from privet.release.verb_types import Auditable, AuditableRelease
else:  # what the verbs take, for whoever reads their hints while running
    Auditable = AuditableRelease = object


def audit(
    release: Auditable | AuditableRelease,
    promises: Policy | Promise | Measure | Sequence[Promise | Measure],
    *,
    strict: bool = False,
    exposure: bool = True,
    max_seconds: float | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Audit:
    """Judge every promise on a table or a release, exactly, each with a witness.

    Parameters
    ----------
    release
        A table, judged as if it were released as it is; groups, views, a classifier;
        disguised rows, or the design that disguises them. With a policy that says what
        the columns are for, also a frame: pandas, polars, pyarrow, DuckDB.
    promises
        A policy, or promises and measures.
    strict
        Whether a value that never occurs, or a promise that forbids nothing, is an
        error instead of a warning.
    exposure
        Whether to count, too, of how many people a table tells something to somebody
        who has all known columns.
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
    release = open_frame(release, promises)
    kind, value = _find_kind(release)
    named = promises
    if value is not release:
        promises = _as_released(promises)
    stated = _list_stated(promises)
    binding = kind.bind.get(_require_type(kind, value))
    if isinstance(promises, Policy) and binding is not None:
        value = binding(value, promises)
    run = Run.start(progress, max_seconds, seed)
    policy = promises if isinstance(promises, Policy) else None
    found = audit_settled(
        value, stated, policy, run=run, strict=strict, exposure=exposure
    )
    left_out = not exposure and _require_type(kind, value) in kind.watches
    notes = (*found.notes, NO_EXPOSURE) if left_out else found.notes
    notes = (*list_people_made(value), *notes)
    known = _judge_history(kind, release, value, named, run) if policy else None
    return attrs.evolve(found, notes=notes, history=known)


def _judge_history(
    kind: ReleaseKind, release: object, value: Any, policy: Any, run: Run
) -> Any:
    """What earlier releases add, where the private rows are at hand."""
    from privet.release.history import History, judge_history, leave_history

    if not (policy.ledger or policy.earlier):
        return History()
    table = _find_private(release, value)
    if kind.joint is None or table is None:
        return leave_history(release, policy)
    try:
        return judge_history(kind.joint.outline(value), table, policy, run)
    except Stopped:
        return leave_history(release, policy, SEARCHED_TOO_LONG)


def _find_private(release: object, value: Any) -> Table | None:
    """The private table that is judged as if it were released; None: not at hand."""
    if isinstance(value, Table):
        return value if isinstance(release, Table) and value.shown is None else None
    made_here = getattr(value, "marker", "") is None
    table = getattr(value, "table", None)
    return table if made_here and isinstance(table, Table) else None


def audit_settled(
    value: Any,
    stated: Sequence[Promise | Measure],
    policy: Policy | None,
    *,
    run: Run,
    strict: bool = False,
    exposure: bool = True,
) -> Audit:
    """Judge a value whose roles are settled; a policy says what is accepted."""
    kind, _ = _find_kind(value)
    notes, title = Notes(strict), policy.title if policy else ""
    make = kind.watches.get(_require_type(kind, value))
    if make is None:
        findings = _judge(kind, value, stated, run, notes)
        return Audit(tuple(findings), title, tuple(notes.said))
    watch = make(value, stated, policy.accepted if policy else (), exposure)
    findings = _judge(kind, watch.watched, stated, run, notes)
    told, uncovered = watch.finish(run)
    return Audit(tuple(findings), title, tuple(notes.said), tuple(uncovered), told)


def list_people_made(value: object) -> list[str]:
    """How many rows stood for how many people, where a table's rows became so."""
    table = value if isinstance(value, Table) else getattr(value, "table", None)
    made = table.people_made if isinstance(table, Table) else None
    return [] if made is None else [describe_people_made(made)]


NO_EXPOSURE = mark(
    "Of how many people something is told was not counted, since that was asked for."
)


def open_frame(subject: Any, promises: object = None) -> Any:
    """A frame as a table, whose roles a policy settles; anything else is itself.

    A path must be read first, and so must a frame of whose columns nothing is known.
    """
    kind = type(subject)
    frame = is_frame(subject)
    if frame and isinstance(promises, Policy) and promises.roles != Roles():
        said = [k for k in list_frame_options(subject) if k in promises.file]
        return read(subject, **{key: promises.file[key] for key in said})
    if frame or kind is str or kind.__module__.partition(".")[0] == "pathlib":
        given = "; or give a policy that says so" if frame else ""
        raise InputError(
            f"A table must be read first; got {kind.__name__}. Say what its columns "
            f"are for: pv.read(table, quasi=[...], sensitive=...){given}."
        )
    return subject


def _as_released(promises: Any) -> Any:
    """A policy for what is left of its table: the release knows its own roles."""
    if not isinstance(promises, Policy):
        return promises
    return attrs.evolve(promises, roles=Roles(), where={}, person=None, origin=None)


def bind_table(table: Table, policy: Policy) -> Table:
    """The rows a policy means, with the roles it gives their columns."""
    shown = table.shown
    elsewhere = (*shown.known, *shown.beside) if shown else ()
    roles = policy.bind(table.schema, elsewhere)
    bound = table.meant_by(policy.where).with_roles(roles).per_person(policy.person)
    return replace(bound, derived=policy.derived or table.derived)


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
        return _judge_sentence(release, adversary, about, knowing, Run(progress))
    kind, value = _find_kind(open_frame(release))
    promise = Promise(adversary, Ceiling(1), about)  # whatever is found stays below
    notes = Notes(strict=False, sets_empty_apart=False)
    (found,) = _judge(kind, value, [promise], Run(progress), notes)
    if found.belief is None:
        raise NoAudit(found.note)
    return found.belief


class Notes:
    """What came up that a person should know, each once."""

    def __init__(self, strict: bool, *, sets_empty_apart: bool = True) -> None:
        self.strict = strict
        self.sets_empty_apart = sets_empty_apart
        """Whether promises that forbid nothing are told apart from those kept."""
        self.said: list[str] = []

    def __call__(self, words: str) -> None:
        """Take a note; an error instead where that was asked for."""
        if self.strict:
            raise InputError(words)
        if words not in self.said:
            self.said.append(words)
            warn(words)


def _find_kind(release: object) -> tuple[ReleaseKind, Any]:
    found = find_judging_kind(release)
    if found is None:
        raise NoAudit(f"{type(release).__name__} cannot be audited. {_list_pairs()}")
    return found


def _require_type(kind: ReleaseKind, value: object) -> type:
    found = kind.type_of(value)
    assert found is not None
    return found


def _judge_sentence(
    release: object, adversary: Adversary, about: object, knowing: Sentence, run: Run
) -> Belief:
    """The belief of somebody who knows a sentence, where there is arithmetic for it."""
    found = find_judging_kind(release)
    if found is None or found[0].knowing is None:
        raise NoAudit("knowing must be asked of a table, about an insider's victim.")
    return found[0].knowing(release, adversary, about, knowing, run)


def _list_stated(promises: Any) -> list[Promise | Measure]:
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
    kind: ReleaseKind,
    value: Any,
    stated: Sequence[Promise | Measure],
    run: Run,
    notes: Notes,
) -> list[Finding]:
    found: dict[int, Finding] = {}
    for sort in dict.fromkeys(_find_sort(p) for p in stated):
        at = [i for i, p in enumerate(stated) if _find_sort(p) is sort]
        judged = _judge_sort(kind, value, sort, [stated[i] for i in at], run, notes)
        found.update(zip(at, judged, strict=True))
    if not any(f.basis or f.verdict is Verdict.UNDECIDED for f in found.values()):
        sorts = sorted({_find_sort(p).__name__ for p in stated})
        raise NoAudit(
            f"No promise can be judged on {type(value).__name__}: there are only "
            f"promises against {', '.join(sorts)}. {_list_pairs()}"
        )
    if notes.sets_empty_apart:
        found = {i: _set_empty_apart(kind, f, notes) for i, f in found.items()}
    return [found[i] for i in range(len(stated))]


EMPTY = {
    "measure": mark(
        "It forbids nothing, so keeping it proves nothing: every table reaches its "
        "level."
    ),
    "ceiling": mark(
        "It forbids nothing, so keeping it proves nothing: nobody is surer than that."
    ),
    "move": mark(
        "It forbids nothing, so keeping it proves nothing: no belief begins where the "
        "limit forbids to move it."
    ),
}
"""What is said of a promise that every release keeps."""


def _set_empty_apart(kind: ReleaseKind, found: Finding, notes: Notes) -> Finding:
    """A promise that every release keeps is told as empty, and is never SAFE."""
    stated = found.promise
    if found.verdict is not Verdict.SAFE or not isinstance(stated, Promise | Measure):
        return found
    if isinstance(stated, Measure):
        why = "" if stated.forbids_something() else EMPTY["measure"]
    elif isinstance(stated.limit, Ceiling):
        why = "" if stated.limit.forbids_something() else EMPTY["ceiling"]
    else:
        open_ = stated.limit.forbids_something(_list_priors(kind, found, stated))
        why = "" if open_ else EMPTY["move"]
    if not why:
        return found
    if notes.strict:
        raise InputError(
            f"Promise {stated.name!r} must forbid something; "
            f"{why.partition(': ')[2]} Choose another limit, or leave it out."
        )
    return replace(found, verdict=Verdict.NOT_APPLICABLE, note=translate(why))


def _list_priors(
    kind: ReleaseKind, found: Finding, stated: Promise
) -> list[Fraction] | None:
    """How sure the adversary may be beforehand of what is promised; None: anything."""
    prior = getattr(stated.against, "prior", None)
    if isinstance(prior, Mapping) and stated.about is not None:
        asked = [stated.about] if isinstance(stated.about, str) else stated.about or ()
        return [p for c, p in prior.items() if c in asked] or list(prior.values())
    if isinstance(prior, Mapping):
        return [*prior.values(), *(1 - p for p in prior.values())]
    # Uniform: the same for all classes; several questions may have different numbers.
    several = kind.name == "responses" and stated.about is None
    if prior != "uniform" or several or found.belief is None:
        return None
    one = [found.belief.prior]
    # Of nothing in particular, sets of classes are judged, too: all but one of them is
    # the set that is likeliest beforehand.
    return one + [1 - p for p in one] if stated.about is None else one


def _find_sort(stated: Promise | Measure) -> type:
    """Whose arithmetic a promise needs: its adversary's, or that of measures."""
    return Measure if isinstance(stated, Measure) else type(stated.against)


def _judge_sort(
    kind: ReleaseKind,
    value: Any,
    sort: type,
    stated: list[Any],
    run: Run,
    notes: Notes,
) -> list[Finding]:
    judge = kind.judges.get((_require_type(kind, value), sort))
    if judge is None:
        return [
            _not_applicable(p, kind.values[_require_type(kind, value)]) for p in stated
        ]
    try:
        return judge(value, stated, run, notes)
    except Stopped as stop:
        return [
            Finding(p, Verdict.UNDECIDED, note=translate(str(stop))) for p in stated
        ]


def _not_applicable(promise: Promise | Measure, words: str) -> Finding:
    note = (
        say("A measure of groups does not apply to {values}.", values=translate(words))
        if isinstance(promise, Measure)
        else say(
            "This adversary ({kind}) does not look at {values}.",
            kind=promise.against.kind,
            values=translate(words),
        )
    )
    return Finding(promise, Verdict.NOT_APPLICABLE, note=note)


def _list_pairs() -> str:
    pairs = [
        f"{value.__name__} with {sort.__name__}"
        for kind in list_kinds()
        for value, sort in kind.judges
        if sort is not Measure
    ]
    return f"There is arithmetic for {', '.join(pairs)}."
