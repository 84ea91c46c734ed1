"""One method tried on a table: published, judged and measured; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from time import monotonic, process_time
from typing import Any

import attrs

from privet.comparison.candidate_methods import AS_IT_IS, Candidate
from privet.comparison.classifier_trial import (
    plan_answers,
    predict_held_out,
    publish_model,
)
from privet.comparison.method_figures import (
    ANSWERS,
    CLASSIFIER,
    FINISHED,
    TABLE,
    VIEWS,
    MethodResult,
    drop_missing,
    find_worst,
    list_table_figures,
    tell_promises,
)
from privet.engine.protocol import Listener, Progress, Run
from privet.errors import (
    Infeasible,
    NoAudit,
    NotCovered,
    NotTogether,
    PrivetError,
    Stopped,
    TooLarge,
)
from privet.findings import Audit
from privet.languages import mark
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.microdata.release import Release
from privet.policy import Policy
from privet.release.audit import audit
from privet.release.publish import publish
from privet.release.refine import Watcher
from privet.table import Table
from privet.views.release import ViewsRelease

REFUSALS: tuple[tuple[type[BaseException], str], ...] = (
    (Infeasible, "infeasible"),
    (NoAudit, "not applicable"),
    (Stopped, "stopped"),
    (TooLarge, "undecided"),
    (NotTogether, "breach"),
    (NotCovered, "not covered, and nothing is released"),
    (PrivetError, "refused"),
    (MemoryError, "refused"),
)
"""What is said of a method that gives no release, by why."""

NO_MEMORY = mark("There is too little memory.")


@dataclass(frozen=True)
class Trial:
    """A table, its policy, and who listens."""

    table: Table
    """The rows, with their roles."""
    policy: Policy
    """What must hold."""
    progress: Listener | None = None
    """Takes events of the engine."""
    watcher: Watcher | None = None
    """Takes moves of a search."""

    def listen(self, words: str, at: int, of: int) -> Trial:
        """The same, with events that say which method they are of."""
        if self.progress is None:
            return self
        tell = self.progress

        def pass_on(event: Progress) -> None:
            share = None if event.share == 1.0 else event.share  # 1 once, at the end
            tell(Progress(f"{words}: {event.doing}", at, of, share, event.rows))

        tell(Progress(words, at, of, None, None))
        return replace(self, progress=pass_on)


def try_method(trial: Trial, candidate: Candidate) -> tuple[MethodResult, Any]:
    """What a method reaches, and its release; None: there is none."""
    began, worked = monotonic(), process_time()
    blank = MethodResult(candidate.name, candidate.words, candidate.publishes)
    release: Any = None
    try:
        result, release = _TRIALS[_find_sort(candidate)](trial, candidate, blank)
    except (PrivetError, MemoryError) as error:
        result = replace(blank, **describe_refusal(error))
    spent, cpu = monotonic() - began, process_time() - worked
    figures = {**result.figures, "seconds": spent}
    result = replace(result, seconds=spent, cpu_seconds=cpu, figures=figures)
    return result, release


def _find_sort(candidate: Candidate) -> str:
    return AS_IT_IS if candidate.name == AS_IT_IS else candidate.publishes


def describe_refusal(error: BaseException) -> dict[str, Any]:
    """The verdict and the reason of a method that gives no release."""
    verdict = next(word for kind, word in REFUSALS if isinstance(error, kind))
    words = NO_MEMORY if isinstance(error, MemoryError) else str(error)
    if isinstance(error, NoAudit):  # a list of what else there is helps nobody here
        words = words.partition(" There is arithmetic for")[0]
    return {"verdict": verdict, "reason": words.partition("\n")[0]}


Tried = tuple[MethodResult, Any]


def _try_as_it_is(trial: Trial, candidate: Candidate, blank: MethodResult) -> Tried:
    """The table itself, judged as if it were released."""
    found = audit(trial.table, trial.policy, progress=trial.progress)
    Run().check()
    return describe_table(blank, show_unchanged(trial, found)), None


def show_unchanged(trial: Trial, found: Audit) -> Release:
    """The table as a release that changes nothing; it may well be unsafe."""
    policy = attrs.evolve(trial.policy, roles=trial.table.roles, origin=None)
    return Release(trial.table, policy, found, "as it is", Recipe())


def _try_table(trial: Trial, candidate: Candidate, blank: MethodResult) -> Tried:
    release = publish(
        trial.table,
        trial.policy,
        method=candidate.method,
        progress=trial.progress,
        watcher=trial.watcher,
    )
    return describe_table(blank, release), release


def describe_table(blank: MethodResult, release: Any) -> MethodResult:
    """A released table in numbers."""
    utility = None if release.utility is None else release.utility.to_dict()
    told = describe_audit(release.audit, exposure=True)
    figures = {**told["figures"], **list_table_figures(utility, told["exposure"])}
    if release.utility is not None and release.utility.ncp is not None:
        figures["ncp"] = float(release.utility.ncp)  # all digits
    early = release.ended if release.ended in ("time", "callback") else FINISHED
    own = {
        "verdict": release.verdict.value,
        "ended": early,
        "reason": EARLY if early != FINISHED else release.utility_note,
        "figures": figures,
        "hidden": _count_hidden(release, utility),
        "utility": utility,
    }
    return replace(blank, **{**told, **own})


EARLY = mark("Its search was stopped; with more time more may be shown.")


def describe_audit(found: Audit, *, exposure: bool = False) -> dict[str, Any]:
    """What an audit found, in numbers; no witness is in it."""
    told = found.exposure if exposure else None
    return {
        "verdict": found.verdict.value,
        "promises": tell_promises(found),
        "figures": drop_missing({"worst": find_worst(found)}),
        "exposure": None if told is None else told.to_dict(),
    }


def _count_hidden(release: Any, utility: Mapping[str, Any] | None) -> dict[str, Any]:
    """By column, how much is not shown as it was: numbers, never values."""
    recipe: Recipe | None = release.recipe
    ways = dict(_count_recipe(recipe)) if recipe is not None else {}
    told = {} if utility is None else utility["columns"]
    changed = {c: v for c, v in told.items() if v["cells_changed"] or c in ways}
    numbers = {
        c: {"cells": v["cells_changed"], "ncp": v["ncp"]} for c, v in changed.items()
    }
    return {c: {**numbers.get(c, {}), **ways.get(c, {})} for c in {**numbers, **ways}}


def _count_recipe(recipe: Recipe) -> Iterator[tuple[str, dict[str, int]]]:
    for column, how in recipe.columns.items():
        if isinstance(how, Hide):
            yield column, {"values": len(how.hidden)}
        elif isinstance(how, Cut):
            yield column, {"intervals": len(how.after) + 1}


def _try_views(trial: Trial, candidate: Candidate, blank: MethodResult) -> Tried:
    release = publish(
        trial.table, trial.policy, method=candidate.method, progress=trial.progress
    )
    assert isinstance(release, ViewsRelease)
    told = describe_audit(release.audit)
    figures = {**told["figures"], "pairs_kept": _count_pairs(release)}
    history = release.history
    if history is not None and not history.safe:
        told["verdict"] = history.verdict.value
    return replace(blank, **{**told, "figures": figures}), release


def _count_pairs(release: ViewsRelease) -> float:
    """The share of pairs of columns that stand in one view."""
    columns = release.views.columns
    together = {
        frozenset(pair)
        for view in release.views.views
        for pair in combinations(view.columns, 2)
    }
    return len(together) / max(len(columns) * (len(columns) - 1) // 2, 1)


def _try_classifier(trial: Trial, candidate: Candidate, blank: MethodResult) -> Tried:
    release = publish_model(trial.table, trial.policy, trial.progress)
    told = describe_audit(release.audit)
    unchanged = show_unchanged(trial, release.audit)
    learnt = predict_held_out(unchanged, trial.progress)
    figures = {**told["figures"], **drop_missing({"accuracy": learnt})}
    own = {"verdict": release.verdict.value, "figures": figures}
    return replace(blank, **{**told, **own, "reason": release.keeps}), release


def _try_answers(trial: Trial, candidate: Candidate, blank: MethodResult) -> Tried:
    plan = plan_answers(trial.table, trial.policy, trial.progress)
    told = describe_audit(plan.audit)
    figures = {**told["figures"], "standard_error": plan.standard_error}
    return replace(blank, **{**told, "figures": figures, "reason": plan.words}), None


_TRIALS: dict[str, Callable[[Trial, Candidate, MethodResult], Tried]] = {
    AS_IT_IS: _try_as_it_is,
    TABLE: _try_table,
    VIEWS: _try_views,
    CLASSIFIER: _try_classifier,
    ANSWERS: _try_answers,
}
"""How each sort of release is tried."""


@contextmanager
def hear_interrupts() -> Iterator[None]:
    """Ctrl-C as `KeyboardInterrupt`: compiled loops make another error of it."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        raise KeyboardInterrupt from None
