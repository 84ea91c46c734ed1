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

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit, TooLarge, find_nearest
from privet.findings import Basis, Finding, Verdict, Witness
from privet.microdata.dependence.finer_groups import find_asked, list_quasi_known
from privet.microdata.dependence.told_columns import (
    KnownSets,
    UndoneRules,
    close_for_hiding,
    close_sets,
    find_undone,
    phrase_rule,
    sort_columns,
    with_rules,
)
from privet.microdata.groups import Groups
from privet.microdata.list_columns import count_by_member, list_members, read_sets
from privet.policy import Measure, Promise
from privet.release.kinds import Warn
from privet.table import ReleasedAs, Table, require_columns
from privet.values import exact
from privet.values.adversaries import Insider, Linker, join_words
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.dependencies import Rules
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import percent

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

GUESSED = (
    "Who takes {columns} as known, too, is at most {most} sure; who does not, {least}. "
    "{why}: {rules}."
)
NEARLY = "Known columns tell it in nearly all rows, but not in all"
THROUGH = "What is hidden of known columns shows through"
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
    bounds: tuple[CountQuery, ...] = ()
    """The same with columns that are not surely known; these bound the belief."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """Which columns are taken as known besides, and by which counts."""

    @property
    def all_tallies(self) -> tuple[CountQuery, ...]:
        """Everything to be counted."""
        return (*self.tallies, *self.bounds)


def judge_table(
    table: Table, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge a linker's promises on a table, from one count."""
    table = find_table_rules(table, promises, run)
    undone = find_undone(table, run)
    questions = [query_templates(promise, table, undone) for promise in promises]
    columns = dict.fromkeys(
        c for q in questions for t in q.all_tallies for c in (*t.by, t.about)
    )
    everybody = {q.column: CountQuery((), q.column) for q in questions}
    tallies = [*(t for q in questions for t in q.all_tallies), *everybody.values()]
    domains = table.domains(list(columns), run, before=tallies)
    lists = {
        c: sets for c in everybody if (sets := read_sets(table, domains[c])) is not None
    }
    single = {c: list_members(domains[c], sets) for c, sets in lists.items()}
    folds = [
        dict.fromkeys(
            q.all_tallies,
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


def find_table_rules(table: Table, promises: Sequence[Promise], run: Run) -> Table:
    """The table with what its columns tell, where that matters to a promise."""
    wanted = []
    for promise in promises:
        column, _ = read_released_about(promise, table)
        wanted += [(s, column) for s in _list_qids(promise, column, table)]
    return with_rules(table, wanted, run)


def settle_rules(table: Table, stated: Sequence[Promise | Measure], run: Run) -> Table:
    """The same for a table that is published: its rules are found once, now.

    Insiders and measures look at groups of the quasi columns.
    """
    wanted: list[tuple[tuple[str, ...], str]] = []
    for each in stated:
        if isinstance(each, Promise) and isinstance(each.against, Linker):
            column, _ = read_released_about(each, table)
            wanted += [(s, column) for s in _list_qids(each, column, table)]
        elif isinstance(each, Measure) or isinstance(each.against, Insider):
            asked = find_asked(each, table)
            wanted.append((list_quasi_known(table), asked[0] if asked else ""))
    found = with_rules(table, wanted, run)
    return replace(found, rules=found.rules or Rules())


def query_templates(
    promise: Promise,
    table: Table,
    undone: UndoneRules | None = None,
    hiding: Collection[str] | None = None,
) -> TemplateQuery:
    """What must be counted to judge a promise on a table.

    Known columns come with what they tell; `undone` are the rules by which a release
    shows what it hides. `hiding` says that values will be hidden, but not those of
    these columns.
    """
    column, values = read_released_about(promise, table)
    qids = list(_list_qids(promise, column, table))
    sets = close_sets(table, qids, column, undone)
    if hiding is not None:
        sets = close_for_hiding(table, qids, column, hiding)
    exact = _is_exact(promise, column, table)
    return TemplateQuery(
        promise,
        tuple(CountQuery(s, column) for s in sets.exact),
        column,
        values,
        require_ceiling(promise),
        exact,
        tuple(CountQuery(s, column) for s in sets.bounds),
        _describe_told(sets, qids, column, table),
    )


def _describe_told(
    sets: KnownSets, qids: Sequence[tuple[str, ...]], column: str, table: Table
) -> dict[str, Any]:
    """Which columns are taken as known, by which counts; and what cannot be told."""
    if table.rules is None:
        return {}
    known = {c for s in qids for c in s}
    few = [
        {"column": d.column, "by": list(d.by), "checks": d.checks}
        for d in table.rules.too_few
        if set(d.by) <= known and d.column not in known and d.column != column
    ]
    used = {r.column for r in sets.rules}
    told: dict[str, Any] = {
        "columns": list(sort_columns(table, used)),
        "rules": [r.to_dict() for r in sets.rules],
        "shows_through": [r.to_dict() for r in sets.through],
        "too_few_rows": few,
    }
    if not table.rules.pairs:
        told["pairs"] = "not looked at"
    return {"derived": told} if any(told.values()) else {}


def _is_exact(promise: Promise, column: str, table: Table) -> bool:
    """Whether a linker can tell a person's group: by all columns, or needs none."""
    shown = table.shown
    if shown is None:
        return True
    linker = promise.against
    assert isinstance(linker, Linker)
    if linker.knows_any is not None:
        others = [c for c in table.roles.other if c != column]
        return linker.knows_any >= len(shown.known) + len(others)
    known = set(linker.knows or ())
    return not known & {*shown.known, *shown.beside} or set(shown.known) <= known


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
    if column in table.roles.withheld:
        what = "an identifier" if column in table.roles.identifier else "dropped"
        raise InputError(
            f"about must be a column that is released; {column!r} is {what}. It is "
            "never released."
        )
    return column, values


def _as_tuple(values: object) -> tuple[object, ...]:
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def _list_qids(
    promise: Promise, column: str, table: Table
) -> Iterable[tuple[str, ...]]:
    linker = promise.against
    assert isinstance(linker, Linker)
    if table.shown is not None:
        return _list_group_columns(linker, column, table, table.shown)
    if linker.knows is not None:
        check_known(linker.knows, column, table)
        return [linker.knows]
    known = _require_known(
        tuple(c for c in (*table.roles.quasi, *table.roles.other) if c != column)
    )
    if linker.knows_any is None:
        return [known]
    # Knowing more never lowers the worst confidence of rows, so the largest sets
    # decide. People with several rows can be in many groups, where it may: all sets.
    size = min(linker.knows_any, len(known))
    return _list_subsets(known, range(size + 1) if table.roles.unit else [size])


def _list_subsets(known: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, ...]]:
    number = sum(comb(len(known), k) for k in sizes)
    if number > MOST_SETS:
        raise TooLarge(
            f"knows_any = {sizes[-1]} of {len(known)} columns asks for {number} "
            f"sets of columns; at most {MOST_SETS} are counted. Lower it, or name the "
            "columns with knows."
        )
    return [s for k in sizes for s in combinations(known, k)]


def _list_group_columns(
    linker: Linker, column: str, table: Table, shown: ReleasedAs
) -> list[tuple[str, ...]]:
    """The groups of a release that shows known columns in groups.

    Who knows fewer columns may take several groups into account, and is at most as
    sure as of the worst of them; columns that are shown as they are part the groups.
    """
    sets = list_known_beside(linker, column, table.roles.other, shown)
    for beside in sets:
        check_known(beside, column, table)
    if linker.knows is not None and not {*shown.known, *shown.beside} & {*linker.knows}:
        return sets
    # The columns as they are known tell others; those shown make the groups.
    known = (*shown.by, *shown.known)
    return [tuple(dict.fromkeys((*known, *beside))) for beside in sets]


def list_known_beside(
    linker: Linker, column: str, others: Sequence[str], shown: ReleasedAs
) -> list[tuple[str, ...]]:
    """Sets of columns a linker knows that a release in groups shows as they are.

    >>> shown = ReleasedAs(known=("age", "town"), by=("age", "town"))
    >>> list_known_beside(Linker(knows=["age", "ward"]), "ill", ["ward", "bed"], shown)
    [('ward',)]
    >>> list_known_beside(Linker(), "ill", ["ward", "bed"], shown)
    [('ward', 'bed')]
    >>> list_known_beside(Linker(knows_any=1), "ill", ["ward", "bed"], shown)
    [('ward',), ('bed',)]
    """
    if linker.knows is not None:
        return [
            tuple(c for c in linker.knows if c not in (*shown.known, *shown.beside))
        ]
    plain = tuple(c for c in others if c != column and c not in shown.beside)
    if linker.knows_any is None:
        return [plain]
    # The more of them are known, the finer the parts: the largest sets decide.
    return _list_subsets(plain, [min(linker.knows_any, len(plain))])


def _require_known(known: tuple[str, ...]) -> tuple[str, ...]:
    if not known:
        raise InputError(
            "A linker must know some columns: declare quasi columns, or give knows."
        )
    return known


def check_known(known: Sequence[str], column: str, table: Table) -> None:
    """What a linker is said to know must be released, and not be asked about."""
    require_columns(known, table.schema, "knows")
    for c in known:
        if c in table.roles.withheld:
            what = (
                "an identifier" if c in table.roles.identifier else "a dropped column"
            )
            raise InputError(
                f"knows must not hold {what}; {c!r} is one. None is released."
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
    tally, worst = _find_worst_qid({t: folds[t] for t in question.tallies})
    if worst.case is None:  # no protected value occurs
        return _judge_template(question, worst, Belief(0, 0), None)
    witness = _build_witness(tally, worst.case, everybody, counted)
    found = _judge_template(question, worst, witness.belief, witness)
    floor = describe_floor(everybody, worst.values, question.limit)
    found = replace(found, details={**found.details, **floor})
    if not question.bounds or found.verdict is Verdict.BREACH:
        return found
    wide, most = _find_worst_qid({t: folds[t] for t in question.bounds})
    guessed = sorted(set(wide.by) - set(tally.by), key=wide.by.index)
    return _weigh_guesses(question, found, most, guessed)


def _weigh_guesses(
    question: TemplateQuery,
    found: Finding,
    most: WorstLinkage,
    guessed: Sequence[str],
) -> Finding:
    """With what is not surely known: that may acquit or leave open, never accuse."""
    assert most.case is not None
    assert found.belief is not None
    belief = Belief(found.belief.prior, most.case.belief)
    if belief.posterior <= found.belief.posterior:
        return found
    kept = question.limit.holds(belief)
    return replace(
        found,
        verdict=Verdict.SAFE if kept else Verdict.UNDECIDED,
        basis=Basis.BOUND,
        belief=belief,
        at_least=found.belief.posterior if question.exact else None,
        witness=None,
        groups=most.groups,
        groups_above=most.groups_above,
        people_above=most.people_above,
        note=GUESSED.format(
            columns=join_words(list(map(repr, guessed))),
            most=percent(belief.posterior),
            least=percent(found.belief.posterior),
            **_describe_guess(question.told["derived"]),
        ),
    )


def _describe_guess(told: Mapping[str, Any]) -> dict[str, str]:
    """Why a column is not surely known, and by which rules it may be."""
    if shown := told["shows_through"]:
        return {"why": THROUGH, "rules": "; ".join(map(phrase_rule, shown))}
    nearly = [phrase_rule(r) for r in told["rules"] if not r["exact"]]
    return {"why": NEARLY, "rules": "; ".join(nearly)}


def describe_floor(
    everybody: EquivalenceClasses, values: Sequence[int] | None, limit: Ceiling
) -> dict[str, Any]:
    """The commonest value, where its share in everybody is beyond the limit.

    Nothing that is hidden or grouped brings a belief below that share.
    """
    asked = slice(None) if values is None else np.isin(everybody.value, values)
    codes, n = everybody.value[asked], everybody.n[asked]
    if not len(n):
        return {}
    most, whole = int(np.argmax(n)), int(everybody.total[0])
    share = Fraction(int(n[most]), whole)
    if limit.holds(Belief(share, share)):
        return {}
    value = everybody.about[int(codes[most])]
    return {"in_everybody": {"value": value, "count": int(n[most]), "of": whole}}


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
            details=question.told,
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
        details=question.told,
    )
