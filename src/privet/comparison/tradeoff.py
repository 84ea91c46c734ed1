"""The trade-off: what each limit costs, by method, as one limit is swept over a grid.

Limits are tried from the loosest to the strictest. A release that turns out to keep the
next limit as well is judged under it and taken over: a search whose every move raises
beliefs would make the same moves again. In the end a release found for a stricter limit
counts for every looser one, so that a looser limit never looks worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

from privet.comparison.candidate_methods import Asked, Candidate, choose_candidates
from privet.comparison.comparison import (
    INTERRUPTED,
    TIME,
    find_end,
    gather_notes,
    open_trial,
    share_time,
)
from privet.comparison.limit_grid import LimitGrid
from privet.comparison.method_figures import (
    FINISHED,
    NOT_TRIED,
    TABLE,
    MethodResult,
    find_worst,
    rank_value,
    require_figure,
    tell_promises,
)
from privet.comparison.method_trial import Trial, hear_interrupts, try_method
from privet.comparison.result_file import ResultFile, digest_counts
from privet.display import Tabulated
from privet.engine.protocol import Listener, Progress, Run, limit_time
from privet.errors import InputError, PrivetError, Stopped, warn
from privet.findings import Verdict
from privet.languages import mark
from privet.microdata.linkage import settle_rules
from privet.policy import Policy
from privet.policy.policy import Stated
from privet.release.audit import audit
from privet.release.refine import Watcher
from privet.values.exact import Number

if TYPE_CHECKING:
    from rich.console import RenderableType

USUAL = ("disclosure", "mondrian", "same-cuts", "buckets", "full-domain")
"""Methods that are swept unless others are named: the fast ones."""

NOT_KEPT = mark(
    "Results are not kept from run to run where earlier releases are judged, too: they "
    "may change."
)


@dataclass(frozen=True)
class TradeoffPoint:
    """One method at one limit."""

    limit: Fraction
    """The limit."""
    method: str
    """The method."""
    result: MethodResult
    """What its search reached at this limit."""
    value: float | None = None
    """The figure of that; None: it does not keep every promise."""
    best: float | None = None
    """The figure of the best release that keeps this limit …"""
    best_at: Fraction | None = None
    """… and the limit it was found for: this one, or a stricter one."""
    taken_over: bool = False
    """Whether the release of the next looser limit keeps this one, too."""

    @property
    def same(self) -> bool:
        """Whether nothing better was found at a stricter limit."""
        return self.value == self.best

    def to_dict(self) -> dict[str, Any]:
        """For machines; limits as fractions in text."""
        return {
            "limit": str(self.limit),
            "method": self.method,
            "verdict": self.result.verdict,
            "reason": self.result.reason,
            "seconds": self.result.seconds,
            "value": self.value,
            "best": self.best,
            "best_at": None if self.best_at is None else str(self.best_at),
            "taken_over": self.taken_over,
            "figures": dict(self.result.figures),
        }


@dataclass(frozen=True)
class Tradeoff(Tabulated):
    """What each limit costs, by method. Private: its figures tell of the table.

    `Tradeoff.of` makes one.
    """

    swept: str
    """The promise or measure, as the policy calls it."""
    key: str
    """What its limit is called: at_most, below, or the key of a measure."""
    limits: tuple[Fraction, ...]
    """The grid, the loosest first."""
    methods: tuple[str, ...]
    """The methods, in the order they were tried."""
    points: tuple[TradeoffPoint, ...]
    """A point for each limit and method that was tried."""
    by: str = "ncp"
    """The figure that is compared."""
    ended: str = FINISHED
    """"finished", "time" or "interrupted"."""
    notes: tuple[str, ...] = ()
    """What else must be said."""

    @classmethod
    def of(
        cls,
        table: Any,
        promises: Stated,
        swept: str,
        over: Iterable[Number],
        *,
        methods: Asked = USUAL,
        by: str = "ncp",
        suppress: Number = 0,
        resume: str | PathLike[str] | None = None,
        max_seconds: float | None = None,
        progress: Listener | None = None,
        watcher: Watcher | None = None,
    ) -> Tradeoff:
        """Sweep one limit of a policy over a grid, for each method.

        Parameters
        ----------
        table, promises
            The private table, and a policy or promises and measures.
        swept
            Which limit: the name of a promise or measure; of a measure also its key,
            such as ``"k_anonymity"``, or ``"recursive_l_diversity.c"``.
        over
            The limits, such as ``[2, 5, 10]`` or ``["0.1", "0.25", "0.5"]``.
        methods, suppress
            As `compare` takes them; the fast methods unless you say so.
        by
            The figure that is compared, such as "ncp" or "accuracy".
        resume
            A file of results: what it holds of the same counts, policy, method and
            version is not worked out again, and what is new is added to it. Private.
        max_seconds
            How long all of it may take; what is ready by then is told.
        progress, watcher
            Take events of the engine and of the moves of a search.

        Examples
        --------
        >>> import privet as pv
        >>> from privet.demo.tables import bank_path
        >>> loans = pv.read(str(bank_path()), quasi=["job", "country"],
        ...                 sensitive="bankruptcy", drop=["child", "rating"],
        ...                 weight="count")
        >>> found = Tradeoff.of(loans, [pv.Measure(k_anonymity=2)], "k_anonymity",
        ...                     [2, 6], methods="mondrian")
        >>> [(int(p.limit), round(p.best, 2)) for p in found.points]
        [(2, 0.04), (6, 0.33)]
        """
        require_figure(by)
        chosen = choose_candidates(methods, suppress)
        _require_tables(chosen)
        trial = open_trial(table, promises, progress, watcher)
        grid = LimitGrid.build(trial.policy, swept, over)
        with limit_time(max_seconds), gather_notes() as notes:
            sweep = _Sweep(_settle(trial), grid, chosen, by)
            said = sweep.open_file(resume)
            sweep.walk()
        for note in notes:
            warn(note)
        return cls(
            grid.name,
            grid.key,
            grid.limits,
            tuple(c.name for c in chosen),
            tuple(keep_best(sweep.points, grid.limits, by)),
            by,
            sweep.ended,
            (*said, *notes),
        )

    @property
    def complete(self) -> bool:
        """Whether every method was tried at every limit."""
        wanted = len(self.limits) * len(self.methods)
        early = any(not _is_final(p.result) for p in self.points)
        return self.ended == FINISHED and len(self.points) == wanted and not early

    def curve(self, method: str) -> list[tuple[Fraction, float | None]]:
        """Limits, the strictest first, and the best figure of a method at each."""
        own = {p.limit: p.best for p in self.points if p.method == method}
        return [(limit, own[limit]) for limit in reversed(self.limits) if limit in own]

    def to_dict(self) -> dict[str, Any]:
        """For machines; limits as fractions in text."""
        from privet.comparison import report

        return report.summarise_tradeoff(self)

    def _list_columns(self) -> dict[str, list[Any]]:
        """The columns of its frame, a line per point."""
        return {
            "limit": [float(p.limit) for p in self.points],
            "method": [p.method for p in self.points],
            "verdict": [p.result.verdict for p in self.points],
            "value": [p.value for p in self.points],
            "best": [p.best for p in self.points],
            "best_at": [p.best_at and float(p.best_at) for p in self.points],
            "seconds": [p.result.seconds for p in self.points],
        }

    def explain(self) -> str:
        """Limits by methods, as plain text."""
        from privet.comparison import report

        return report.tradeoff_as_text(self)

    def __repr__(self) -> str:
        from privet.comparison import report

        return f"Tradeoff({report.write_tradeoff_headline(self)})"

    def __rich__(self) -> RenderableType:
        from privet.comparison import report

        return report.tradeoff_as_rich(self)


def _settle(trial: Trial) -> Trial:
    """The table with what its columns tell, found once: no limit changes that."""
    policy, run = trial.policy, Run(trial.progress)
    try:
        found = settle_rules(trial.table, [*policy.promises, *policy.measures], run)
    except PrivetError:  # each method says so itself
        return trial
    return replace(trial, table=found)


def _require_tables(chosen: Sequence[Candidate]) -> None:
    for candidate in chosen:
        if candidate.publishes != TABLE or candidate.method is None:
            raise InputError(
                "methods of a trade-off must publish tables; got "
                f"{candidate.name!r}, which does not."
            )


def keep_best(
    points: Sequence[TradeoffPoint], limits: Sequence[Fraction], by: str
) -> Iterator[TradeoffPoint]:
    """The points with the best release that keeps each limit, by method.

    What keeps a stricter limit keeps every looser one, too. Limits go from the loosest.
    """
    best: dict[str, tuple[float, Fraction]] = {}
    found: dict[int, TradeoffPoint] = {}
    place = {limit: i for i, limit in enumerate(limits)}
    order = sorted(range(len(points)), key=lambda i: -place[points[i].limit])
    for at in order:
        point = points[at]
        value = point.result.figures.get(by) if point.result.kept else None
        known = best.get(point.method)
        if value is not None and (
            known is None or rank_value(by, value) <= rank_value(by, known[0])
        ):
            known = best[point.method] = value, point.limit
        figure, where = known or (None, None)
        found[at] = replace(point, value=value, best=figure, best_at=where)
    return (found[i] for i in range(len(points)))


@dataclass
class _Sweep:
    """The search for all points, from the loosest limit to the strictest."""

    trial: Trial
    grid: LimitGrid
    chosen: Sequence[Candidate]
    by: str
    points: list[TradeoffPoint] = field(default_factory=list)
    ended: str = FINISHED
    file: ResultFile | None = None
    _last: dict[str, tuple[MethodResult, Any]] = field(default_factory=dict)

    def open_file(self, path: str | PathLike[str] | None) -> tuple[str, ...]:
        """Read what is known already; what must be said about that."""
        if path is None:
            return ()
        if self.trial.policy.ledger or self.trial.policy.earlier:
            return (NOT_KEPT,)
        secret = digest_counts(self.trial.table, Run(self.trial.progress))
        self.file = ResultFile(path, secret)
        return ()

    def walk(self) -> None:
        """Every limit, and every method at each."""
        pairs = [(limit, c) for limit in self.grid.limits for c in self.chosen]
        end = find_end()
        for at, (limit, candidate) in enumerate(pairs):
            if end is not None and monotonic() >= end:
                self.ended = TIME
                return
            left = len(pairs) - at
            try:
                with hear_interrupts(), limit_time(share_time(end, left)):
                    self._tell(at, len(pairs))
                    self.points.append(self._find_point(limit, candidate))
            except KeyboardInterrupt:
                self.ended = INTERRUPTED
                return

    def _tell(self, at: int, of: int) -> None:
        if self.trial.progress is not None:
            done = Progress("trade-off", at + 1, of, at / of, None)
            self.trial.progress(done)

    def _find_point(self, limit: Fraction, candidate: Candidate) -> TradeoffPoint:
        """What is known, or taken over, or searched for."""
        policy = self.grid.set_limit(limit)
        known = None if self.file is None else self.file.find(policy, candidate)
        if known is not None:
            self._last.pop(candidate.name, None)
            return TradeoffPoint(limit, candidate.name, known)
        taken = self._take_over(policy, candidate)
        if taken is not None:
            result = taken
        else:
            trial = replace(self.trial, policy=policy, progress=None)
            result, release = try_method(trial, candidate)
            self._last[candidate.name] = result, release
        if self.file is not None and _is_final(result):
            self.file.keep(policy, candidate, result)
        over = taken is not None
        return TradeoffPoint(limit, candidate.name, result, taken_over=over)

    def _take_over(self, policy: Policy, candidate: Candidate) -> MethodResult | None:
        """The release of the looser limit, if it keeps this one when judged anew."""
        result, release = self._last.get(candidate.name, (None, None))
        if result is None or release is None or not _is_final(result):
            return None
        at = self.grid.find_place()
        stricter = (*policy.promises, *policy.measures)[at]
        if not _seems_kept(release.audit.findings[at], stricter):
            return None
        return _judge_anew(policy, result, release)


def _is_final(result: MethodResult) -> bool:
    """Whether another run would find the same: it had all the time it wanted."""
    return result.ended == FINISHED and result.verdict not in ("stopped", NOT_TRIED)


def _seems_kept(finding: Any, stricter: Any) -> bool:
    """Whether what was found under a looser limit is within the stricter one."""
    if finding.belief is not None:
        return bool(stricter.limit.holds(finding.belief))
    return finding.value is not None and bool(stricter.holds(finding.value))


def _judge_anew(
    policy: Policy, result: MethodResult, release: Any
) -> MethodResult | None:
    """A release judged under a stricter policy; None unless that is kept, too."""
    began, worked = monotonic(), process_time()
    try:
        found = audit(release, policy)
        Run().check()
    except Stopped:
        return None
    if found.verdict not in (Verdict.SAFE, Verdict.NOT_COVERED):
        return None
    told = None if found.exposure is None else found.exposure.to_dict()
    spent = monotonic() - began
    figures = {**result.figures, "seconds": spent}
    worst = find_worst(found)
    figures |= {} if worst is None else {"worst": worst}
    return replace(
        result,
        verdict=found.verdict.value,
        promises=tell_promises(found),
        exposure=told,
        figures=figures,
        seconds=spent,
        cpu_seconds=process_time() - worked,
    )
