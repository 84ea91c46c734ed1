"""Linkage: the confidence of QID → value, for a linker who knows the QID.

A promise against a linker is a privacy template <QID → value, h>; the quasi-identifier
(QID) is a set of columns. The confidence of ``known values -> value`` is the share of
the rows with the known values that also have the value; Conf, the worst over all
equivalence classes of the QID, is the posterior, the share of the value in the whole
table the prior. The audit is a fold: it keeps the worst case over groups, and parts can
be merged.
Wang, Fung, Yu 2007, §3 and §3.1 (privacy templates, confidence).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit, TooLarge, find_nearest
from privet.findings import Basis, Finding, Verdict, Witness
from privet.microdata.groups import Groups
from privet.microdata.list_columns import count_by_member, list_members, read_sets
from privet.policy import Promise
from privet.release.kinds import Warn
from privet.table import ReleasedAs, Table, require_columns
from privet.values import exact
from privet.values.adversaries import Linker
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

# The worst case over groups ---------------------------------------------------------


@dataclass(frozen=True)
class LinkageCase:
    """One person an adversary looks at: what is known, what is believed, how surely."""

    part: int
    """People who fit and have the value …"""
    whole: int
    """… out of those who fit."""
    known: tuple[str | None, ...]
    """The values known, in the order of the columns."""
    value: str | None
    """The value believed."""
    rank: tuple[int, ...]
    """Where the case stands in the table's own order; settles ties."""

    @property
    def belief(self) -> Fraction:
        """How sure the adversary is."""
        return Fraction(self.part, self.whole)

    def worse_than(self, other: LinkageCase) -> bool:
        """Surer; of equals, with more people; of those, first in the table's order."""
        self_, other_ = (self.belief, self.part), (other.belief, other.part)
        return self_ > other_ or (self_ == other_ and self.rank < other.rank)


@dataclass(frozen=True)
class WorstLinkage:
    """The worst case among the groups seen so far, and how many are beyond the limit.

    ``WorstLinkage(limit)`` is the empty fold; ``left | right`` merges disjoint groups.
    """

    limit: Ceiling
    """What a belief is held against, to count the groups beyond it."""
    values: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""
    case: LinkageCase | None = None
    """The worst so far."""
    groups: int = 0
    """Groups seen."""
    groups_above: int = 0
    """Groups beyond the limit."""
    people_above: int = 0
    """People in them."""

    def add(self, batch: EquivalenceClasses) -> WorstLinkage:
        """With some more whole groups."""
        rows = self._select_rows(batch)
        group = batch.group if rows is None else batch.group[rows]
        part = batch.n if rows is None else batch.n[rows]
        whole = batch.total[group]
        compare = exact.reaches if self.limit.strict else exact.exceeds
        # Several values of a group may be beyond the limit; it counts once.
        above = np.zeros(len(batch), dtype=bool)
        above[group[compare(part, whole, self.limit.level)]] = True
        here = replace(
            self,
            case=_find_worst_case(batch, rows, part, whole),
            groups=len(batch),
            groups_above=int(above.sum()),
            people_above=int(batch.total[above].sum()),
        )
        return self | here

    def _select_rows(self, batch: EquivalenceClasses) -> NDArray[np.intp] | None:
        """The rows whose value matters; None: all of them."""
        if self.values is None:
            return None
        return np.flatnonzero(np.isin(batch.value, self.values))

    def __or__(self, other: WorstLinkage) -> WorstLinkage:
        if self.case is None or (
            other.case is not None and other.case.worse_than(self.case)
        ):
            case = other.case
        else:
            case = self.case
        return replace(
            self,
            case=case,
            groups=self.groups + other.groups,
            groups_above=self.groups_above + other.groups_above,
            people_above=self.people_above + other.people_above,
        )


def _find_worst_case(
    batch: EquivalenceClasses,
    rows: NDArray[np.intp] | None,
    part: NDArray[np.int64],
    whole: NDArray[np.int64],
) -> LinkageCase | None:
    if len(part) == 0:
        return None
    ties = exact.find_highest(part, whole)
    # Groups are in the table's order, so the first of the largest settles the tie.
    best = ties[np.argmax(part[ties])]
    row = int(best if rows is None else rows[best])
    group = int(batch.group[row])
    return LinkageCase(
        int(part[best]),
        int(whole[best]),
        batch.labels(group),
        batch.about[int(batch.value[row])],
        (*batch.keys[group], int(batch.value[row])),
    )


# Judging ----------------------------------------------------------------------------

MOST_SETS = 5_000
"""Sets of columns that one promise may have counted."""

BOUNDED = (
    "Who knows some of the columns may not tell a person's group, and is at most as "
    "sure as of the worst group."
)


@dataclass(frozen=True)
class TemplateQuery:
    """The templates <QID → value, h> of a promise: which groups, values and limit."""

    promise: Promise
    tallies: tuple[CountQuery, ...]
    """The quasi-identifiers, sets of columns, to look at; the worst one counts."""
    column: str
    """What the belief is about."""
    values: tuple[object, ...] | None
    """The values that matter; None: every value."""
    limit: Ceiling
    exact: bool = True
    """Whether the groups are those the linker sees; otherwise they bound the belief."""


def judge_table(
    table: Table, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge a linker's promises on a table, from one count."""
    questions = [query_templates(promise, table) for promise in promises]
    columns = dict.fromkeys(
        c for q in questions for t in q.tallies for c in (*t.by, t.about)
    )
    everybody = {q.column: CountQuery((), q.column) for q in questions}
    tallies = [*(t for q in questions for t in q.tallies), *everybody.values()]
    domains = table.domains(list(columns), run, before=tallies)
    lists = {
        c: sets for c in everybody if (sets := read_sets(table, domains[c])) is not None
    }
    single = {c: list_members(domains[c], sets) for c, sets in lists.items()}
    folds = [
        dict.fromkeys(
            q.tallies,
            WorstLinkage(
                q.limit, find_codes(q.values, (domains | single)[q.column], warn)
            ),
        )
        for q in questions
    ]
    overall: dict[str, EquivalenceClasses] = {}
    for tally, counted in table.count(tallies, run):
        batch, column = counted, tally.about
        if column in lists:
            batch = count_by_member(counted, lists[column], single[column])
        if not tally.by:
            overall[tally.about] = batch
        for fold in folds:
            if tally in fold:
                fold[tally] = fold[tally].add(batch)
    return [
        _build_finding(q, fold, overall[q.column], table.counted)
        for q, fold in zip(questions, folds, strict=True)
    ]


def judge_groups(
    groups: Groups, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge a linker who sees a person's group, and nothing else, in a release."""
    found = []
    for promise in promises:
        limit = require_ceiling(promise)
        _, values = read_about(promise, groups.about)
        tally = CountQuery(groups.quasi, groups.about)
        _require_group_columns(promise, groups)
        question = TemplateQuery(promise, (tally,), groups.about, values, limit)
        fold = WorstLinkage(
            limit, find_codes(question.values, groups.grouped.about, warn)
        )
        folds = {tally: fold.add(groups.grouped)}
        found.append(_build_finding(question, folds, groups.everybody, groups.counted))
    return found


def _require_group_columns(promise: Promise, groups: Groups) -> None:
    linker = promise.against
    assert isinstance(linker, Linker)
    knows_all = linker.knows is None and linker.knows_any is None
    if not knows_all and set(linker.knows or ()) != set(groups.quasi):
        raise NoAudit(
            "Groups must be judged by a linker who knows all of their columns "
            f"({', '.join(groups.quasi)}); audit the table itself for one who knows "
            "fewer."
        )


# From a promise to a count ----------------------------------------------------------


def query_templates(promise: Promise, table: Table) -> TemplateQuery:
    """What must be counted to judge a promise on a table."""
    column, values = read_released_about(promise, table)
    sets = [
        tuple(sorted(s, key=table.schema.names.index))
        for s in _list_qids(promise, column, table)
    ]
    tallies = tuple(CountQuery(s, column) for s in sets)
    exact = table.shown is None or _is_exact(promise, table.shown)
    return TemplateQuery(
        promise, tallies, column, values, require_ceiling(promise), exact
    )


def _is_exact(promise: Promise, shown: ReleasedAs) -> bool:
    """Whether a linker can tell a person's group: by all columns, or needs none."""
    linker = promise.against
    assert isinstance(linker, Linker)
    if linker.knows_any is not None:
        return linker.knows_any >= len(shown.known)
    return not linker.knows or set(shown.known) <= set(linker.knows)


def require_ceiling(promise: Promise) -> Ceiling:
    """The limit of a promise, which must be a ceiling."""
    if not isinstance(promise.limit, Ceiling):
        raise InputError(
            f"A promise against a {promise.against.kind} must be limited by at_most or "
            f"below; got {promise.limit!r}."
        )
    return promise.limit


def read_about(
    promise: Promise, default: str | None, table: Table | None = None
) -> tuple[str, tuple[object, ...] | None]:
    """The column and the values a promise is about; None for every value."""
    stated = promise.about
    if isinstance(stated, str):
        return stated, None
    if isinstance(stated, dict):
        if len(stated) != 1:
            raise InputError(
                f"about must name one column for a {promise.against.kind}; "
                f"got {', '.join(map(repr, stated)) or 'none'}."
            )
        ((column, values),) = stated.items()
        return column, None if values == "*" else _as_tuple(values)
    column = default if default is not None else (table.protected() if table else "")
    return column, None if stated is None else _as_tuple(stated)


def read_released_about(
    promise: Promise, table: Table
) -> tuple[str, tuple[object, ...] | None]:
    """See `read_about`; the column must be one that a table releases."""
    column, values = read_about(
        promise, None if promise.about else table.protected(), table
    )
    require_columns([column], table.schema, "about")
    if column in table.roles.identifier:
        raise InputError(
            f"about must not be an identifier; {column!r} is one. It is never released."
        )
    return column, values


def _as_tuple(values: object) -> tuple[object, ...]:
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def _list_qids(
    promise: Promise, column: str, table: Table
) -> Iterable[tuple[str, ...]]:
    linker = promise.against
    assert isinstance(linker, Linker)
    quasi = tuple(c for c in table.roles.quasi if c != column)
    if table.shown is not None:
        return [_find_group_columns(linker, column, table, table.shown)]
    if linker.knows is not None:
        _check_known(linker.knows, column, table)
        return [linker.knows]
    if linker.knows_any is None:
        return [_require_quasi(quasi)]
    size = min(linker.knows_any, len(_require_quasi(quasi)))
    # Knowing more never lowers the worst confidence of rows, so the largest sets
    # decide. People with several rows can be in many groups, where it may: all sets.
    sizes = range(size + 1) if table.roles.unit else [size]
    number = sum(comb(len(quasi), k) for k in sizes)
    if number > MOST_SETS:
        raise TooLarge(
            f"knows_any = {linker.knows_any} of {len(quasi)} columns asks for {number} "
            f"sets of columns; at most {MOST_SETS} are counted. Lower it, or name the "
            "columns with knows."
        )
    return [s for k in sizes for s in combinations(quasi, k)]


def _find_group_columns(
    linker: Linker, column: str, table: Table, shown: ReleasedAs
) -> tuple[str, ...]:
    """The groups of a release that shows known columns in groups.

    Who knows fewer columns may take several groups into account, and is at most as
    sure as of the worst of them.
    """
    known = linker.knows
    if known == ():
        return ()
    beside = [c for c in known or () if c not in shown.known]
    _check_known(beside, column, table)
    return (*shown.by, *beside)


def _require_quasi(quasi: tuple[str, ...]) -> tuple[str, ...]:
    if not quasi:
        raise InputError(
            "A linker must know some columns: declare quasi columns, or give knows."
        )
    return quasi


def _check_known(known: Sequence[str], column: str, table: Table) -> None:
    require_columns(known, table.schema, "knows")
    for c in known:
        if c in table.roles.identifier:
            raise InputError(
                f"knows must not hold an identifier; {c!r} is one. None is released."
            )
        if c in (table.roles.weight, table.roles.unit):
            raise InputError(f"knows must not hold the unit or weight column {c!r}.")
    if column in known:
        raise InputError(f"knows must not hold {column!r}, which the promise is about.")


def find_codes(
    values: Sequence[object] | None, domain: Domain, warn: Warn
) -> tuple[int, ...] | None:
    """The codes of values, with a warning for those that never occur."""
    if values is None:
        return None
    codes = []
    for value in values:
        code = domain.code(value)
        if code is None:
            warn(say_never_occurs(value, domain))
        else:
            codes.append(code)
    return tuple(codes)


def say_never_occurs(value: object, domain: Domain) -> str:
    """That a value never occurs, and which ones are close."""
    known = [v for v in domain.labels[:1000] if v is not None]
    close = find_nearest(str(value), known)
    hint = " Did you mean " + " or ".join(map(repr, close)) + "?" if close else ""
    return f"Value {value!r} never occurs in column {domain.name!r}.{hint}"


# From a count to a finding ----------------------------------------------------------


def _build_finding(
    question: TemplateQuery,
    folds: dict[CountQuery, WorstLinkage],
    everybody: EquivalenceClasses,
    counted: str,
) -> Finding:
    tally, worst = _find_worst_qid(folds)
    if worst.case is None:  # no protected value occurs
        belief = Belief(0, 0)
        return _judge_template(question, worst, belief, None)
    witness = _build_witness(tally, worst.case, everybody, counted)
    return _judge_template(question, worst, witness.belief, witness)


def _find_worst_qid(
    folds: dict[CountQuery, WorstLinkage],
) -> tuple[CountQuery, WorstLinkage]:
    """The set of columns with the worst case; the first among equals."""
    best: tuple[CountQuery, WorstLinkage] | None = None
    for tally, worst in folds.items():
        if best is None or _is_surer(worst.case, best[1].case):
            best = tally, worst
    assert best is not None
    return best


def _is_surer(case: LinkageCase | None, other: LinkageCase | None) -> bool:
    if case is None or other is None:
        return case is not None
    return (case.belief, case.part) > (other.belief, other.part)


def _build_witness(
    tally: CountQuery, case: LinkageCase, everybody: EquivalenceClasses, counted: str
) -> Witness:
    same = np.flatnonzero(everybody.value == case.rank[-1])
    return Witness(
        knows=dict(zip(tally.by, case.known, strict=True)),
        column=tally.about,
        value=case.value,
        part=case.part,
        whole=case.whole,
        prior_part=int(everybody.n[same[0]]),
        prior_whole=int(everybody.total[0]),
        counted=counted,
    )


def _judge_template(
    question: TemplateQuery,
    worst: WorstLinkage,
    belief: Belief,
    witness: Witness | None,
) -> Finding:
    kept = question.limit.holds(belief)
    if not question.exact:
        return Finding(
            promise=question.promise,
            verdict=Verdict.SAFE if kept else Verdict.UNDECIDED,
            basis=Basis.BOUND,
            belief=belief,
            groups=worst.groups,
            note=BOUNDED,
        )
    return Finding(
        promise=question.promise,
        verdict=Verdict.SAFE if kept else Verdict.BREACH,
        basis=Basis.EXACT,
        belief=belief,
        witness=witness,
        groups=worst.groups,
        groups_above=worst.groups_above,
        people_above=worst.people_above,
    )
