"""The verb `compare`: one policy, every method that fits, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextlib import suppress as suppress_errors
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from privet.comparison.candidate_methods import (
    AS_IT_IS,
    Asked,
    Candidate,
    choose_candidates,
)
from privet.comparison.method_figures import (
    FIGURES,
    FINISHED,
    NOT_TRIED,
    OBJECTIVES,
    TABLE,
    MethodResult,
    find_pareto,
    rank_value,
    require_figure,
)
from privet.comparison.method_trial import Trial, hear_interrupts, try_method
from privet.comparison.peers.peer_trial import (
    PEERS,
    PeerSettings,
    require_peers,
    try_peer,
)
from privet.display import Reportable, Tabulated
from privet.engine.protocol import LIMIT, Listener, Run, limit_time
from privet.errors import (
    InputError,
    NoAudit,
    PrivacyWarning,
    Stopped,
    warn,
)
from privet.languages import mark
from privet.policy.policy import Stated, as_policy
from privet.release.audit import bind_table, open_frame
from privet.release.refine import Watcher
from privet.table import Table
from privet.values.exact import Number

if TYPE_CHECKING:
    from rich.console import RenderableType

TIME, INTERRUPTED = "time", "interrupted"
"""Why a comparison ended before everything was tried."""

MOST_RESERVE = 2.0
"""Seconds of a time limit that are kept for telling what was found."""


@dataclass(frozen=True)
class Comparison(Tabulated, Reportable):
    """What every method reaches on one table. Private: its figures tell of the table.

    No cell is in it: what is hidden is counted, not named.
    """

    results: tuple[MethodResult, ...]
    """Every method, ranked: releases of the table that keep every promise first."""
    people: int | None
    """Rows of the table; None where not even those could be counted in time."""
    by: str = "ncp"
    """The figure they are ranked by."""
    objectives: tuple[str, ...] = OBJECTIVES
    """The figures that are looked at for the Pareto front."""
    ended: str = FINISHED
    """"finished", "time" or "interrupted"."""
    notes: tuple[str, ...] = ()
    """What else must be said."""

    @property
    def complete(self) -> bool:
        """Whether every method was tried to its end."""
        early = any(r.ended != FINISHED or r.verdict == "stopped" for r in self.results)
        return self.ended == FINISHED and not early

    @property
    def pareto(self) -> tuple[str, ...]:
        """Releases of the table that no other is better than, and as good in all."""
        ranked = [r for r in self.results if is_ranked(r)]
        front = find_pareto([r.figures for r in ranked], self.objectives)
        return tuple(r.name for r, best in zip(ranked, front, strict=True) if best)

    @property
    def best(self) -> MethodResult | None:
        """The first of the ranking; None: no method keeps every promise."""
        return next((r for r in self.results if is_ranked(r)), None)

    def __getitem__(self, name: str) -> MethodResult:
        found = next((r for r in self.results if r.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def rank(self, by: str) -> Comparison:
        """The same, ranked by another figure."""
        return replace(self, results=rank_results(self.results, by), by=by)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        from privet.comparison import report

        return report.summarise_comparison(self)

    def _list_columns(self) -> dict[str, list[Any]]:
        """The columns of its frame, a line per method."""
        named = ("name", "publishes", "verdict", "reason", "ended", "cpu_seconds", "by")
        front = set(self.pareto)
        found = {n: [getattr(r, n) for r in self.results] for n in named}
        figures = {f: [r.figures.get(f) for r in self.results] for f in FIGURES}
        floats = {
            f: [None if v is None else float(v) for v in values]
            for f, values in figures.items()
        }
        return {**found, "pareto": [r.name in front for r in self.results], **floats}

    def explain(self) -> str:
        """Side by side, as plain text."""
        from privet.comparison import report

        return report.comparison_as_text(self)

    def __repr__(self) -> str:
        from privet.comparison import report

        return f"Comparison({report.write_headline(self)})"

    def __rich__(self) -> RenderableType:
        from privet.comparison import report

        return report.comparison_as_rich(self)


def is_ranked(result: MethodResult) -> bool:
    """Whether it is a release of the table that keeps every promise."""
    return result.kept and result.publishes == TABLE and result.name != AS_IT_IS


def rank_results(
    results: Sequence[MethodResult], by: str = "ncp"
) -> tuple[MethodResult, ...]:
    """Releases of the table first, the best first; then what else is kept, the rest."""
    require_figure(by)

    def find_place(result: MethodResult) -> Any:
        place = 0 if is_ranked(result) else 1 if result.kept else 2
        return place, rank_value(by, result.figures.get(by)) if place == 0 else ()

    return tuple(sorted(results, key=find_place))


# The verb ---------------------------------------------------------------------------


def compare(
    table: Any,
    promises: Stated,
    *,
    methods: Asked = None,
    by: str = "ncp",
    objectives: Sequence[str] = OBJECTIVES,
    suppress: Number = 0,
    peers: str | Sequence[str] = (),
    peer_python: str | None = None,
    arx_jar: str | None = None,
    max_seconds: float | None = None,
    progress: Listener | None = None,
    watcher: Watcher | None = None,
) -> Comparison:
    """Try every method that fits on one table, and put what they reach side by side.

    Nothing is written. A method that cannot keep the policy is listed with the reason.

    Parameters
    ----------
    table
        The private table; or a frame, if a policy says what its columns are for.
    promises
        A policy, or promises and measures.
    methods
        Names of methods, such as ``["mondrian", "full-domain"]``; or methods by names
        of your own, such as ``{"five": pv.Mondrian(suppress="0.05")}``. All of them
        unless you say so.
    by
        The figure they are ranked by, such as "ncp", "accuracy" or "cells_changed".
    objectives
        Figures for the Pareto front: a release is on it if no other is better in one
        of them and as good in all.
    suppress
        The share of the people that methods may suppress which choose them so that more
        is kept; yours, too, where they do not say it themselves.
    peers
        Other programs to run on the same table, each in a process of its own: "arx",
        "anjana", "anonypy", "pycanon". What they make is judged by our audit.
    peer_python, arx_jar
        The Python that has them, this one unless you say so; and the jar of ARX, the
        one that PRIVET_ARX in the environment names unless you say so.
    max_seconds
        How long all of it may take; each method gets its part of what is left. What is
        ready by then is told, and marked incomplete.
    progress, watcher
        Take events of the engine and of the moves of a search.

    Examples
    --------
    >>> import privet as pv
    >>> from privet.demo.tables import bank_path
    >>> loans = pv.read(str(bank_path()), quasi=["job", "country"],
    ...                 sensitive="bankruptcy", drop=["child", "rating"],
    ...                 weight="count")
    >>> promise = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), "bankruptcy")
    >>> found = compare(loans, [promise], methods=["as-it-is", "mondrian", "buckets"])
    >>> [(r.name, r.verdict) for r in found.results]
    [('buckets', 'safe'), ('mondrian', 'safe'), ('as-it-is', 'breach')]
    """
    aims = tuple(require_figure(o, "objectives") for o in objectives)
    chosen = choose_candidates(methods, suppress)
    programs = require_peers(peers)
    settings = PeerSettings(suppress, peer_python, arx_jar)
    require_figure(by)
    trial = open_trial(table, promises, progress, watcher)
    with limit_time(max_seconds), gather_notes() as notes:
        people = _count_people(trial)
        results, ended = _try_all(trial, _list_work(chosen, programs, settings))
    found = Comparison(rank_results(results, by), people, by, aims, ended, tuple(notes))
    for note in notes:
        warn(note)
    return found


def _count_people(trial: Trial) -> int | None:
    with suppress_errors(Stopped):
        return trial.table.engine.rows(Run(trial.progress))
    return None


def open_trial(
    table: Any,
    promises: Stated,
    progress: Listener | None = None,
    watcher: Watcher | None = None,
) -> Trial:
    """The table a policy means, opened once for all methods."""
    opened = open_frame(table, promises)
    if not isinstance(opened, Table):
        raise NoAudit(f"Methods are compared on tables; got {type(opened).__name__}.")
    if opened.shown is not None:
        raise InputError(
            "A table must hold rows as they are; got a release, which is in groups."
        )
    policy = as_policy(promises, opened.roles)
    return Trial(bind_table(opened, policy), policy, progress, watcher)


def find_end() -> float | None:
    """When the last method must be done: a little before the time limit."""
    limit = LIMIT.get()
    if limit is None:
        return None
    return limit.end - min(MOST_RESERVE, (limit.end - limit.began) / 10)


Work = tuple[MethodResult, Callable[[Trial], MethodResult]]
"""What is said of a method before it is tried, and how it is tried."""


def _list_work(
    chosen: Sequence[Candidate], peers: Sequence[str], settings: PeerSettings
) -> list[Work]:
    """Our methods, then other programs."""
    own: list[Work] = [
        (
            MethodResult(c.name, c.words, c.publishes),
            lambda trial, c=c: try_method(trial, c)[0],  # type: ignore[misc]
        )
        for c in chosen
    ]
    return own + [
        (
            MethodResult(name, PEERS[name], by=name),
            lambda trial, name=name: try_peer(trial, name, settings),
        )
        for name in peers
    ]


def _try_all(trial: Trial, work: Sequence[Work]) -> tuple[list[MethodResult], str]:
    results: list[MethodResult] = []
    ended, end = FINISHED, find_end()
    for at, (blank, attempt) in enumerate(work):
        if ended == FINISHED and end is not None and monotonic() >= end:
            ended = TIME
        if ended != FINISHED:
            results.append(replace(blank, verdict=NOT_TRIED, reason=WHY[ended]))
            continue
        try:
            with hear_interrupts(), limit_time(share_time(end, len(work) - at)):
                results.append(attempt(trial.listen(blank.name, at + 1, len(work))))
        except KeyboardInterrupt:
            ended = INTERRUPTED
            results.append(replace(blank, verdict="stopped", reason=WHY[ended]))
    return results, ended


WHY = {
    TIME: mark("The time was over."),
    INTERRUPTED: mark("Stopped with Ctrl-C."),
}
"""Why a method was not tried."""


def share_time(end: float | None, left: int) -> float | None:
    """Seconds for the next of so many pieces of work; None: as long as it takes."""
    return None if end is None else max((end - monotonic()) / left, 0.001)


@contextmanager
def gather_notes() -> Iterator[list[str]]:
    """Warnings about privacy, each once, instead of one by each method."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrivacyWarning)
        yield notes
    notes += dict.fromkeys(str(w.message) for w in caught)
