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

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit, TooLarge, find_nearest
from privet.findings import Basis, Finding, Verdict, Witness
from privet.languages import (
    join_alternatives,
    join_words,
    mark,
    say,
    translate,
)
from privet.microdata import list_columns
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
from privet.microdata.list_columns import SEVERAL_LISTS, list_members, read_sets
from privet.microdata.worst_linkage import (
    LinkageCase,
    WorstLinkage,
    WorstWindow,
    count_span,
)
from privet.policy import Measure, Promise
from privet.release.kinds import Warn
from privet.table import ReleasedAs, Table, require_columns
from privet.values.adversaries import (
    Insider,
    Linker,
)
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.dependencies import Rules
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import percent
from privet.values.windows import Windows, Within

Asked = tuple[object, ...] | Within | None
"""The values a promise is about, or how wide windows are; None: every value."""

# Judging ----------------------------------------------------------------------------

MOST_SETS = 5_000
"""Sets of columns that one promise may have counted."""

GUESSED = mark(
    "Who takes {columns} as known, too, is at most {most} sure; who does not, {least}. "
    "{why}: {rules}."
)
NEARLY = mark("Known columns tell it in nearly all rows, but not in all")
THROUGH = mark("What is hidden of known columns shows through")
BOUNDED = mark(
    "Who knows some of the columns may not tell a person's group, and is at most as "
    "sure as of the worst group."
)
SEVERAL_NUMBERS = mark(
    "Some people have several numbers: each is counted, so that nobody is surer than "
    "this that one of them lies in a window."
)


@dataclass(frozen=True)
class TemplateQuery:
    """The templates <QID → value, h> of a promise: which groups, values and limit."""

    promise: Promise
    tallies: tuple[CountQuery, ...]
    """The quasi-identifiers, sets of columns, to look at; the worst one counts."""
    column: str
    """What the belief is about."""
    values: Asked
    """The values that matter; None: every value."""
    limit: Ceiling
    exact: bool = True
    """Whether the groups are those the linker sees; otherwise they bound the belief."""
    bounds: tuple[CountQuery, ...] = ()
    """The same with columns that are not surely known; these bound the belief."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """Which columns are taken as known besides, and by which counts."""
    why: str = BOUNDED
    """What is said of a bound."""

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
        dict.fromkeys(q.all_tallies, _start_fold(q, (domains | single)[q.column], warn))
        for q in questions
    ]
    overall: dict[str, EquivalenceClasses] = {}
    several: set[str] = set()
    for tally, counted in table.count(tallies, run):
        batch, column = counted, tally.about
        if column in lists:
            several |= {column} if list_columns.has_several_lists(counted) else set()
            batch = list_columns.count_by_member(counted, lists[column], single[column])
        if not tally.by:
            overall[tally.about] = batch
        for fold in folds:
            if tally in fold:
                fold[tally] = fold[tally].add(batch)
    bound: dict[str, Any] = {"exact": False, "why": SEVERAL_LISTS}
    questions = [replace(q, **bound) if q.column in several else q for q in questions]
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
        fold = _start_fold(question, groups.grouped.about, warn, untyped=True)
        folds = {tally: fold.add(groups.grouped)}
        found.append(_build_finding(question, folds, groups.everybody, groups.counted))
    return found


def _start_fold(
    question: TemplateQuery, domain: Domain, warn: Warn, *, untyped: bool = False
) -> WorstLinkage:
    """No group yet, of values or of windows; `untyped`: texts may be numbers."""
    if isinstance(question.values, Within):
        windows = Windows.of(domain, question.values, untyped=untyped)
        return WorstWindow(question.limit, windows=windows)
    return WorstLinkage(question.limit, find_codes(question.values, domain, warn))


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


def settle_rules(
    table: Table,
    stated: Sequence[Promise | Measure],
    run: Run,
    counted: Table | None = None,
) -> Table:
    """The same for a table that is published: its rules are found once, now.

    Insiders and measures look at groups of the quasi columns. Where all rows were
    counted, `counted` is the table that counts from there.
    """
    wanted: list[tuple[tuple[str, ...], str]] = []
    for each in stated:
        if isinstance(each, Promise) and isinstance(each.against, Linker):
            column, _ = read_released_about(each, table)
            wanted += [(s, column) for s in _list_qids(each, column, table)]
        elif isinstance(each, Measure) or isinstance(each.against, Insider):
            asked = find_asked(each, table)
            wanted.append((list_quasi_known(table), asked[0] if asked else ""))
    found = with_rules(counted or table, wanted, run)
    return replace(table, rules=found.rules or Rules(), coarse=found.coarse)


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
) -> tuple[str, Asked]:
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
        if isinstance(values, Within):
            return column, values
        return column, None if values == "*" else _as_tuple(values)
    column = default if default is not None else (table.protected() if table else "")
    return column, None if stated is None else _as_tuple(stated)


def read_released_about(promise: Promise, table: Table) -> tuple[str, Asked]:
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
    if isinstance(values, Within):
        _require_plain(column, table)
    return column, values


def _require_plain(column: str, table: Table) -> None:
    """Windows are counted over numbers or dates that are shown as they are."""
    if column in table.roles.bins or column in table.roles.quasi:
        what = "in bins" if column in table.roles.bins else "a quasi column"
        raise InputError(
            "within must be about a column that is shown as it is; "
            f"{column!r} is {what}. Name the column alone: what it shows are its "
            "values then."
        )


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
    told = {"value": repr(value), "column": repr(domain.name)}
    said = say("Value {value} never occurs in column {column}.", **told)
    if not close:
        return said
    hint = say("Did you mean {names}?", names=join_alternatives([*map(repr, close)]))
    return f"{said} {hint}"


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
    windows = worst.windows if isinstance(worst, WorstWindow) else None
    witness = _build_witness(tally, worst.case, everybody, counted, windows)
    found = _judge_template(question, worst, witness.belief, witness)
    if windows is None:
        floor = describe_floor(everybody, worst.values, question.limit)
    else:
        floor = describe_window_floor(everybody, windows, question.limit)
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
        note=say(
            GUESSED,
            columns=join_words(list(map(repr, guessed))),
            most=percent(belief.posterior),
            least=percent(found.belief.posterior),
            **_describe_guess(question.told["derived"]),
        ),
    )


def _describe_guess(told: Mapping[str, Any]) -> dict[str, str]:
    """Why a column is not surely known, and by which rules it may be."""
    if shown := told["shows_through"]:
        rules = "; ".join(map(phrase_rule, shown))
        return {"why": translate(THROUGH), "rules": rules}
    nearly = [phrase_rule(r) for r in told["rules"] if not r["exact"]]
    return {"why": translate(NEARLY), "rules": "; ".join(nearly)}


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


def describe_window_floor(
    everybody: EquivalenceClasses, windows: Windows, limit: Ceiling
) -> dict[str, Any]:
    """The same for the window of everybody that most are in."""
    found = WorstWindow(limit, windows=windows).add(everybody).case
    if found is None or limit.holds(Belief(found.belief, found.belief)):
        return {}
    assert found.span is not None
    named = {"window": found.span.to_dict(), "count": found.part, "of": found.whole}
    return {"in_everybody": {"value": str(found.span), **named}}


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
    tally: CountQuery,
    case: LinkageCase,
    everybody: EquivalenceClasses,
    counted: str,
    windows: Windows | None,
) -> Witness:
    if windows is None or case.span is None:
        same = np.flatnonzero(everybody.value == case.rank[-1])
        having = int(everybody.n[same[0]])
    else:
        having = count_span(everybody, windows, case.span)
    return Witness(
        knows=dict(zip(tally.by, case.known, strict=True)),
        column=tally.about,
        value=case.value,
        part=case.part,
        whole=case.whole,
        prior_part=having,
        prior_whole=int(everybody.total[0]),
        counted=counted,
        window=case.span,
    )


def _judge_template(
    question: TemplateQuery,
    worst: WorstLinkage,
    belief: Belief,
    witness: Witness | None,
) -> Finding:
    kept = question.limit.holds(belief)
    several = isinstance(worst, WorstWindow) and worst.bound
    if not question.exact or several:
        return Finding(
            promise=question.promise,
            verdict=Verdict.SAFE if kept else Verdict.UNDECIDED,
            basis=Basis.BOUND,
            belief=belief,
            groups=worst.groups,
            note=SEVERAL_NUMBERS if question.exact else question.why,
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
