"""The joint judgement of releases of the same rows: which arithmetic fits which kinds.

First what can be computed from another release is dropped: it tells nothing new. What
is left is judged as far as there is arithmetic: tables, groups and untransformed counts
by worlds of the same rows, a table and views by a bound or a listing, a table and
disguised answers by the channel's largest ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from privet.errors import InputError, TooLarge
from privet.findings import Basis, Verdict
from privet.release.joint.computable import drop_computable, is_computable
from privet.release.joint.joint_results import (
    JointQuestion,
    JointResult,
    leave_open,
    require_ceiling,
)
from privet.release.joint.labelled_rows import LabelledRows, split_files
from privet.release.joint.outlines import ReleaseOutline
from privet.release.joint.same_rows import Labels
from privet.release.joint.surest_values import SurestValues
from privet.release.joint.table_and_views import TableAndViews
from privet.release.joint.tables_together import judge_tables
from privet.report import joint_reasons as words
from privet.values.beliefs import Belief, Ceiling, Ratio, Shift


def judge_together(
    releases: Sequence[ReleaseOutline],
    questions: Sequence[JointQuestion],
    rows: LabelledRows | None = None,
    *,
    several_rows: bool = False,
    apart: Sequence[frozenset[str]] = (),
    check: Callable[[], None] = lambda: None,
) -> list[JointResult]:
    """Judge promises against somebody who has all of these releases.

    Parameters
    ----------
    releases
        Outlines, the new release last.
    questions
        What must be judged for each promise.
    rows
        The private rows, counted over the columns that releases show or somebody
        knows; None: what needs counts is left open.
    several_rows
        Whether somebody may have several rows.
    apart
        Pairs of releases, by name, that have nobody in common.
    check
        May raise to stop.
    """
    return [
        _judge_question(releases, q, rows, several_rows, apart, check)
        for q in questions
    ]


def _judge_question(
    releases: Sequence[ReleaseOutline],
    question: JointQuestion,
    rows: LabelledRows | None,
    several_rows: bool,
    apart: Sequence[frozenset[str]],
    check: Callable[[], None],
) -> JointResult:
    newest = releases[-1]
    same = [r for r in releases if not _is_independent(r, newest, apart)]
    other = next((r for r in same if not r.rows or r.rows != newest.rows), None)
    if other is not None:
        return _leave_other_rows(question, other, newest)
    left = drop_computable(same)
    fewer = len(left) < len(releases)
    if len(left) == 1 and fewer:
        return _judge_nothing_new(question, left[0], newest, rows, several_rows, check)
    return replace(
        _judge_left(question, left, rows, several_rows, check), nothing_new=False
    )


def _is_independent(
    one: ReleaseOutline, newest: ReleaseOutline, apart: Sequence[frozenset[str]]
) -> bool:
    """Whether disguised answers of others are one of two: they tell nothing."""
    return (
        one is not newest
        and frozenset((one.name, newest.name)) in apart
        and "responses" in (one.kind, newest.kind)
    )


def _leave_other_rows(
    question: JointQuestion, other: ReleaseOutline, newest: ReleaseOutline
) -> JointResult:
    both = other.name, newest.name
    tables = other.kind == newest.kind == "table"
    return JointResult(
        question.promise,
        Verdict.UNDECIDED,
        reason=words.say_other_rows(both),
        between=both,
        ask="deliveries" if tables and other.rows and newest.rows else "",
    )


def _judge_nothing_new(
    question: JointQuestion,
    left: ReleaseOutline,
    newest: ReleaseOutline,
    rows: LabelledRows | None,
    several_rows: bool,
    check: Callable[[], None],
) -> JointResult:
    """Of releases that one of them tells, that one decides."""
    said = words.EARLIER_TELLS_NOTHING_NEW if left is newest else words.NOTHING_NEW
    linker = question.promise.against.kind == "linker" and not several_rows
    countable = linker and left.counted and not left.transformed
    if rows is None or not countable:
        return JointResult(
            question.promise, Verdict.NOT_APPLICABLE, nothing_new=True, reason=said
        )
    found = judge_tables(question, [left], rows, check)
    kept = found.verdict is Verdict.SAFE
    return replace(
        found, nothing_new=True, reason=said if kept else f"{said} {found.reason}"
    )


def _judge_left(
    question: JointQuestion,
    left: Sequence[ReleaseOutline],
    rows: LabelledRows | None,
    several_rows: bool,
    check: Callable[[], None],
) -> JointResult:
    """Releases of which none can be computed from another."""
    kinds = {r.kind for r in left}
    if kinds == {"views"} and not any(r.counted for r in left):
        return leave_open(question, left, "", ask="views")
    if kinds == {"responses"}:
        return _judge_channels(question, left)
    if question.promise.against.kind == "insider":
        return leave_open(question, left, words.INSIDER)
    if several_rows:
        return leave_open(question, left, words.ONE_PERSON_SEVERAL_ROWS)
    if question.promise.against.kind == "linker" and rows is not None:
        return _judge_linker(question, left, rows, check)
    return _leave_pair(question, left)


def _judge_linker(
    question: JointQuestion,
    left: Sequence[ReleaseOutline],
    rows: LabelledRows,
    check: Callable[[], None],
) -> JointResult:
    counted = [r for r in left if r.counted and not r.transformed]
    views = [r for r in left if r.kind == "views" and not r.counted]
    answers = [r for r in left if r.kind == "responses" and r.gamma is not None]
    if len(counted) == len(left):
        return judge_tables(question, left, rows, check)
    if len(counted) == 1 == len(left) - len(views) and not counted[0].boxes:
        return _judge_views(question, counted[0], views, rows)
    if len(counted) + len(answers) == len(left) and counted:
        return _judge_answers(question, counted, answers, rows, check)
    return _leave_pair(question, left)


def _leave_pair(question: JointQuestion, left: Sequence[ReleaseOutline]) -> JointResult:
    """Name the pair of kinds for which there is no arithmetic."""
    one, other = _find_odd_pair(left)
    reason = words.say_no_arithmetic((one.name, other.name), (one.kind, other.kind))
    return leave_open(question, [one, other], reason)


def _find_odd_pair(
    left: Sequence[ReleaseOutline],
) -> tuple[ReleaseOutline, ReleaseOutline]:
    """Two that are of different kinds, or changed; else the last two."""
    pairs = [(a, b) for i, b in enumerate(left) for a in left[:i]]
    odd = [p for p in pairs if p[0].kind != p[1].kind or p[0].transformed]
    return (odd or pairs)[-1]


# A table and views; a table and disguised answers -----------------------------------


def _judge_views(
    question: JointQuestion,
    table: ReleaseOutline,
    views: Sequence[ReleaseOutline],
    rows: LabelledRows,
) -> JointResult:
    """A table and views of its rows: by listing where that is possible, or a bound."""
    left, limit = [table, *views], require_ceiling(question)
    tables, told = split_files(table), tuple(f for v in views for f in split_files(v))
    if len(tables) != 1:
        return _leave_pair(question, left)
    shown = [c for f in told for c in f.columns]
    known = [c for s in question.known for c in s]
    columns = tuple(dict.fromkeys([*shown, *known, question.about]))
    both = TableAndViews(rows, tables[0], told, columns)
    try:
        asked = SurestValues.of(question, rows.list_values(question.about))
        listed = both.worlds <= MOST_LISTED
        worst = Fraction(0)
        for known_set in question.known:
            found = (both.beliefs if listed else both.bounds)(known_set, question.about)
            there = _list_occurring(rows, known_set)
            for person, beliefs in found.items():
                surest = asked.find(beliefs) if person in there else None
                worst = worst if surest is None else max(worst, surest[1])
    except (TooLarge, InputError) as error:
        return leave_open(question, left, str(error))
    return _conclude_views(question, left, limit, worst, exact=listed)


MOST_LISTED = 100_000
"""Worlds of a table and views that are listed rather than bounded."""


def _list_occurring(rows: LabelledRows, known: Sequence[str]) -> set[Labels]:
    at = [rows.columns.index(c) for c in known]
    return {tuple(row[i] for i in at) for row in rows.rows}


def _conclude_views(
    question: JointQuestion,
    left: Sequence[ReleaseOutline],
    limit: Ceiling,
    worst: Fraction,
    *,
    exact: bool,
) -> JointResult:
    names = tuple(r.name for r in left)
    found = JointResult(
        question.promise,
        Verdict.SAFE,
        files=worst,
        basis=Basis.EXACT if exact else Basis.BOUND,
        between=names,
        reason=words.WITHIN_FILES,
    )
    if limit.holds(Belief(0, worst)):
        return found
    if exact:
        told = words.say_files_beyond(worst, None)
        return replace(found, verdict=Verdict.BREACH, reason=told)
    told = words.say_bound_beyond(names, worst)
    return replace(found, verdict=Verdict.UNDECIDED, reason=told)


def raise_odds(share: Fraction, factor: Fraction) -> Fraction:
    """A belief after its odds rose by a factor: of 1/2 by 9, 9/10."""
    return factor * share / (factor * share + 1 - share)


def _judge_answers(
    question: JointQuestion,
    counted: Sequence[ReleaseOutline],
    answers: Sequence[ReleaseOutline],
    rows: LabelledRows,
    check: Callable[[], None],
) -> JointResult:
    """Tables and attributable disguised rows: odds rise by at most gamma squared.

    Not by gamma alone, since the answers of others in the group speak too.
    """
    left = [*counted, *answers]
    if len(counted) > 1:
        return _leave_pair(question, left)
    alone = judge_tables(question, counted, rows, check)
    if alone.files is None:
        return replace(alone, between=tuple(r.name for r in left))
    factor = Fraction(1)
    for release in answers:
        assert release.gamma is not None
        factor *= release.gamma**2
    worst = raise_odds(alone.files, factor)
    limit = require_ceiling(question)
    found = _conclude_views(question, left, limit, worst, exact=False)
    return replace(found, prior=alone.prior)


def _judge_channels(
    question: JointQuestion, left: Sequence[ReleaseOutline]
) -> JointResult:
    """Answers of the same people, disguised again and again: channels multiply."""
    names = tuple(r.name for r in left)
    if any(r.gamma is None for r in left):
        return _leave_pair(question, left)
    factor = Fraction(1)
    for release in left:
        assert release.gamma is not None
        factor *= release.gamma
    limit = question.promise.limit
    if isinstance(limit, Ceiling) and not question.priors and limit.level < 1:
        return leave_open(question, left, words.say_any_prior(names))
    worst = max((raise_odds(p, factor) for p in question.priors), default=None)
    kept = _keeps_factor(limit, factor, question.priors)
    return JointResult(
        question.promise,
        Verdict.SAFE if kept else Verdict.UNDECIDED,
        files=worst,
        basis=Basis.BOUND,
        between=names,
        reason=words.say_channels(factor, kept=kept),
    )


def _keeps_factor(
    limit: Ceiling | Shift | Ratio, factor: Fraction, priors: Sequence[Fraction]
) -> bool:
    """Whether no answer can break a limit if odds change by at most a factor."""
    if isinstance(limit, Ratio):
        return factor <= limit.factor
    if isinstance(limit, Shift):
        odds = limit.end * (1 - limit.start) / (limit.start * (1 - limit.end))
        return factor < odds
    return all(limit.holds(Belief(p, raise_odds(p, factor))) for p in priors)


def tells_nothing_new(
    newest: ReleaseOutline, releases: Sequence[ReleaseOutline]
) -> ReleaseOutline | None:
    """A release from which the newest can be computed, if there is one."""
    return next((r for r in releases if is_computable(newest, r)), None)
