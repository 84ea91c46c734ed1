"""A later delivery of a table: hide more than before, or hold newcomers back.

Whoever has both deliveries tells who came, who stayed and who left. *Hide more*: the
search starts with everything hidden, goes no further than the old recipe shows, and
takes the part of a person as one more known column that cannot be hidden; it ends with
the finest state on its way whose visible difference holds too. *Hold back*: new rows
wait until enough have come. One newcomer alone cannot be protected while the sensitive
column is shown, whatever is hidden.
Wang, Fung, Yu 2007, §4 (Algorithm 4.1), §3.2 (Corollary 3.2).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil

import attrs
import numpy as np
import pyarrow as pa

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import Run
from privet.errors import Infeasible, InputError
from privet.findings import Audit
from privet.microdata.delivered_rows import (
    DeliveredRows,
    WholeRow,
    build_history,
    count_delivery,
    find_presence,
    merge_domains,
)
from privet.microdata.joint_counts import ask_promises
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.microdata.suppression.cubes.count_cube import Cube
from privet.microdata.suppression.templates import (
    DisclosureProblem,
    prepare_disclosure,
)
from privet.microdata.suppression.top_down_disclosure import (
    DisclosureState,
    DisclosureStep,
    Utility,
)
from privet.policy import Accepted, Promise
from privet.release.joint.delivery_history import Presence
from privet.release.joint.joint_results import JointQuestion, JointResult
from privet.release.refine import Refinement, Watcher, refine
from privet.table import Table, read
from privet.values.adversaries import Linker
from privet.values.arrays import Flags
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.schema import Column, Schema

PART = "part of a delivery"
"""The column that says whether a person is new, stayed or left."""
PARTS: Mapping[Presence, str] = {(0,): "gone", (0, 1): "kept", (1,): "new"}

BEFORE, NOW = "the earlier delivery", "this delivery"


@dataclass(frozen=True, eq=False)
class TwoDeliveries:
    """An earlier delivery with its recipe, and the rows of the one to come."""

    first: DeliveredRows
    second: DeliveredRows
    table: Table
    """The new table, with its roles."""

    @classmethod
    def count(
        cls, earlier: Table, table: Table, recipe: Recipe, run: Run | None = None
    ) -> TwoDeliveries:
        """Count the rows of both, one scan each."""
        before = earlier.with_roles(table.roles)
        return cls(
            count_delivery(before, recipe, BEFORE, run),
            count_delivery(table, recipe, NOW, run),
            table,
        )

    def judge(
        self, questions: Sequence[JointQuestion], recipe: Recipe | None = None
    ) -> list[JointResult]:
        """Judge both deliveries, the later one shown by another recipe perhaps."""
        second = self.second if recipe is None else replace(self.second, recipe=recipe)
        history = build_history([self.first, second])
        return [history.judge(q) for q in questions]

    @property
    def newcomers(self) -> int:
        """How many people are new."""
        return sum(find_presence([self.first, self.second]).get((1,), {}).values())


def select_linkers(promises: Sequence[Promise]) -> list[Promise]:
    """The promises that are kept by hiding."""
    return [p for p in promises if isinstance(p.against, Linker)]


# Hide more --------------------------------------------------------------------------


def hide_more(
    deliveries: TwoDeliveries,
    promises: Sequence[Promise],
    *,
    accepted: Sequence[Accepted] = (),
    utility: Utility | None = None,
    ordered: Callable[[str, Domain], bool] = lambda column, domain: False,
    run: Run | None = None,
    watcher: Watcher | None = None,
) -> tuple[Recipe, Refinement[DisclosureStep], Audit]:
    """The finest recipe found that shows no more than the old one and keeps all parts.

    What somebody learns who has both deliveries comes with it; it is safe, or open
    where no state on the way keeps the visible difference within the limits.

    Raises
    ------
    Infeasible
        Where the newcomers, or those who left, show their values with all hidden.
    """
    linkers, run = select_linkers(promises), run or Run()
    questions = ask_promises(linkers, deliveries.table, accepted)
    problem = _prepare_parts(deliveries, questions, ordered, run)
    _refuse_too_few(deliveries, problem, linkers)
    chosen = utility or Utility("distortion")
    cubes = [cube for cube in problem.cubes if isinstance(cube, Cube)]
    state = DisclosureState(
        problem.attributes, cubes, utility=chosen, maximal=True, split="valid"
    )
    refined = refine(state, watcher=watcher)
    finest: tuple[Recipe, Refinement[DisclosureStep], Audit] | None = None
    for recipe, steps in _list_states(deliveries, problem, refined.steps):
        run.check()
        found = [r.to_finding() for r in deliveries.judge(questions, recipe)]
        audit = Audit(tuple(found))
        reached = recipe, Refinement(steps, refined.ended, refined.left), audit
        if audit.safe:
            return reached
        finest = finest or reached
    assert finest is not None
    return finest


def _prepare_parts(
    deliveries: TwoDeliveries,
    questions: Sequence[JointQuestion],
    ordered: Callable[[str, Domain], bool],
    run: Run,
) -> DisclosureProblem:
    """Everybody ever delivered, by part; candidates are what the old recipe shows."""
    old = deliveries.first.recipe

    def is_ordered(column: str, domain: Domain) -> bool:
        how = old.columns.get(column)
        return ordered(column, domain) if how is None else isinstance(how, Cut)

    table = _unite(deliveries)
    stated = [p for q in questions for p in _with_part(q)]
    return prepare_disclosure(
        table,
        stated,
        keep=[PART],
        ordered=is_ordered,
        run=run,
        withheld=lambda domain: find_withheld(domain, old),
    )


def find_withheld(domain: Domain, old: Recipe) -> Flags:
    """Values that the old recipe does not show; of cuts, where it does not cut."""
    how = old.columns.get(domain.name)
    if how is None:
        return np.zeros(len(domain), dtype=bool)
    texts = how.texts(domain, old.marker)
    if isinstance(how, Hide):
        own = zip(texts, domain.labels, strict=True)
        return np.array([t != v for t, v in own], dtype=bool)
    # A cut after a value is the old one's if the next value has another interval.
    same = [a == b for a, b in pairwise(texts)]
    return np.array([*same, True][: len(domain)], dtype=bool)


def _with_part(question: JointQuestion) -> Iterator[Promise]:
    """The promise against somebody who also knows the part of a person."""
    promise, values = question.promise, question.values
    asked: object = "*" if values is None else list(values)
    about = {question.about: question.within or asked}
    for known in question.known:
        linker = Linker(knows=[*known, PART])
        yield Promise(linker, promise.limit, about, promise.name)


def _unite(deliveries: TwoDeliveries) -> Table:
    """Both deliveries as one table in memory, each row with its part."""
    both, first = [deliveries.first, deliveries.second], deliveries.first
    if PART in first.columns:
        raise InputError(f"A table must have no column called {PART!r}; it has one.")
    names = first.released
    domains = [merge_domains(c, both) for c in names]
    places = [{v: i for i, v in enumerate(d.labels)} for d in domains]
    at = [first.columns.index(c) for c in names]
    parts = sorted(set(PARTS.values()))
    cells: Counter[tuple[int, ...]] = Counter()
    for presence, rows in find_presence(both).items():
        for row, n in rows.items():
            coded = tuple(place[row[i]] for place, i in zip(places, at, strict=True))
            cells[*coded, parts.index(PARTS[presence])] += n
    codes = np.array(list(cells), dtype=np.int64).reshape(len(cells), -1)
    engine = InMemory(
        [*domains, Domain(PART, parts)],
        list(codes.T),
        np.array(list(cells.values()), dtype=np.int64),
    )
    roles = deliveries.table.roles
    known = attrs.evolve(
        roles,
        identifier=(),
        drop=(),
        unit=None,
        weight=None,
        bins={},
        quasi=(*roles.quasi, PART),
    )
    columns = tuple(Column(d.name, d.kind) for d in domains)
    return Table(engine, Schema((*columns, Column(PART)), known))


def _list_states(
    deliveries: TwoDeliveries,
    problem: DisclosureProblem,
    steps: Sequence[DisclosureStep],
) -> Iterator[tuple[Recipe, tuple[DisclosureStep, ...]]]:
    """The recipe after all moves, then after all but the last, down to none."""
    for many in range(len(steps), -1, -1):
        yield _build_state(deliveries, problem, steps[:many]), tuple(steps[:many])


def _build_state(
    deliveries: TwoDeliveries,
    problem: DisclosureProblem,
    steps: Sequence[DisclosureStep],
) -> Recipe:
    old = deliveries.first.recipe
    shown: dict[str, list[str | None]] = defaultdict(list)
    for step in steps:
        shown[step.column].append(step.value)
    columns: dict[str, Hide | Cut] = dict(old.columns)
    for attribute in problem.attributes:
        domain, name = attribute.domain, attribute.domain.name
        if attribute.ordered:
            after = [v for v in domain.labels if v in set(shown[name])]
            how = old.columns.get(name)  # None: every value was shown
            alone = how.alone if isinstance(how, Cut) else tuple(domain.labels)
            columns[name] = Cut(tuple(after), domain.kind, alone)
            continue
        there = attribute.classes.any(axis=1)
        values = [domain[int(i)] for i in np.flatnonzero(there)]
        hidden = tuple(v for v in values if v not in set(shown[name]))
        if len(hidden) > 1 or name in old.columns:
            columns[name] = Hide(
                hidden, tuple(v for v in values if v in set(shown[name]))
            )
    return replace(old, columns=columns)


def _refuse_too_few(
    deliveries: TwoDeliveries, problem: DisclosureProblem, linkers: Sequence[Promise]
) -> None:
    """Raise where a part shows its values even with everything hidden."""
    for cube, promises in zip(problem.cubes, problem.promises, strict=True):
        for rule, floor in enumerate(cube.confidences):
            for promise in promises[rule]:
                if promise.limit.holds(Belief(0, floor)):
                    continue
                part, whole = cube.worst_group(rule)
                raise _refuse_part(deliveries.newcomers, promise, part, whole)


def _refuse_part(new: int, promise: Promise, part: int, whole: int) -> Infeasible:
    assert isinstance(promise.limit, Ceiling)
    needed = ceil(1 / promise.limit.level) + (
        promise.limit.strict and promise.limit.level.numerator == 1
    )
    alone = (
        "One new person is seen by whoever subtracts the deliveries: nothing that is "
        "hidden of other columns protects that person while the column asked about is "
        "shown. "
        if new == 1
        else ""
    )
    return Infeasible(
        f"{alone}Promise {promise.name!r} cannot be kept by hiding more: of those who "
        f"came, stayed or left, {part} of {whole} have one value even with everything "
        "hidden that may be.",
        promise=promise,
        best=Fraction(part, whole),
        advice=[
            f"Hold new rows back until at least {needed} people with different values "
            "have come.",
            "Leave the sensitive column out of this delivery.",
        ],
    )


# Hold rows back ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HeldBack:
    """Which new rows wait for the next delivery, and what is delivered now."""

    deliveries: TwoDeliveries
    """Both deliveries, without the rows that wait."""
    rows: Mapping[WholeRow, int]
    """The rows that wait."""
    audit: Audit
    """What somebody learns who has both deliveries."""

    @property
    def people(self) -> int:
        """How many wait."""
        return sum(self.rows.values())

    def as_table(self) -> Table:
        """The rows to deliver now: those of the table, where a column names them.

        Without one, values are texts as the source writes them.
        """
        second, roles = self.deliveries.second, self.deliveries.table.roles
        rows = Counter(second.rows)
        if key := self._find_key():
            at = second.columns.index(key)
            return self.deliveries.table.select_people({key: [row[at] for row in rows]})
        # Without a column of multiplicities equal rows stand as often as they occur.
        lines = list(rows if roles.weight else rows.elements())
        columns = {
            c: pa.array([row[i] for row in lines], pa.string())
            for i, c in enumerate(second.columns)
        }
        if roles.weight:
            columns[roles.weight] = pa.array([rows[row] for row in lines], pa.int64())
        return read(pa.table(columns)).with_roles(attrs.evolve(roles, drop=()))

    def _find_key(self) -> str | None:
        """An identifier that tells all rows apart, those that wait included."""
        second = self.deliveries.second
        rows = [*second.rows, *self.rows]
        if self.deliveries.table.roles.weight:
            return None
        for column in self.deliveries.table.roles.identifier:
            at = second.columns.index(column)
            names = {row[at] for row in rows}
            several = sum(second.rows.values()) + self.people > len(names)
            if None not in names and not several:
                return column
        return None


def hold_rows_back(
    deliveries: TwoDeliveries,
    promises: Sequence[Promise],
    accepted: Sequence[Accepted] = (),
) -> HeldBack:
    """Hold new rows back until those who come keep every promise among themselves.

    Raises
    ------
    Infeasible
        Where even without a newcomer those who left, or stayed, are seen.
    """
    questions = ask_promises(select_linkers(promises), deliveries.table, accepted)
    if any(q.within is not None for q in questions):
        raise InputError(
            "hold_back must be left out where a promise is about a number within a "
            "window: holding single rows back can make others surer. Hide more than "
            "the earlier delivery does instead."
        )
    waiting: Counter[WholeRow] = Counter()
    both, released = [deliveries.first, deliveries.second], deliveries.second.released
    new = Counter(find_presence(both).get((1,), {}))
    domains = {c: merge_domains(c, both) for c in released}
    recipe = deliveries.second.recipe
    shown = {c: _show_values(domain, recipe) for c, domain in domains.items()}
    while excess := _find_excess(deliveries.second, new, questions, shown):
        waiting += excess
        new -= excess
    held = _hold(deliveries, waiting, questions)
    if held.audit.safe or not new:
        return _require_safe(held, questions)
    # Newcomers who cancel with leavers, or are told by a finer file: nobody comes.
    return _require_safe(_hold(deliveries, waiting + new, questions), questions)


def _hold(
    deliveries: TwoDeliveries,
    waiting: Counter[WholeRow],
    questions: Sequence[JointQuestion],
) -> HeldBack:
    rows = Counter(deliveries.second.rows) - waiting
    left = replace(deliveries, second=replace(deliveries.second, rows=rows))
    found = [r.to_finding() for r in left.judge(questions)]
    return HeldBack(left, waiting, Audit(tuple(found)))


def _require_safe(held: HeldBack, questions: Sequence[JointQuestion]) -> HeldBack:
    if held.audit.safe:
        return held
    worst = held.audit.worst
    raise Infeasible(
        f"Promise {worst.promise.name!r} cannot be kept by holding new rows back: "
        f"{worst.note}",
        promise=questions[0].promise,
        best=worst.belief.posterior if worst.belief else None,
        advice=["Hide more than the earlier delivery does."],
    )


def _find_excess(
    second: DeliveredRows,
    new: Counter[WholeRow],
    questions: Sequence[JointQuestion],
    shown: Mapping[str, Mapping[str | None, str | None]],
) -> Counter[WholeRow]:
    """New rows of one value that are too many in their groups; none: all is well."""
    for question in questions:
        assert isinstance(question.promise.limit, Ceiling)
        for known in question.known:
            groups = _group_rows(second, new, known, question.about, shown)
            found: Counter[WholeRow] = Counter()
            for group in groups.values():
                found += _take_excess(group, question, question.promise.limit)
            if found:
                return found
    return Counter()


Group = dict[str | None, list[tuple[WholeRow, int]]]


def _show_values(domain: Domain, recipe: Recipe) -> dict[str | None, str | None]:
    how = recipe.columns.get(domain.name)
    labels = list(domain.labels)
    texts = labels if how is None else how.texts(domain, recipe.marker)
    return dict(zip(labels, texts, strict=True))


def _group_rows(
    second: DeliveredRows,
    new: Counter[WholeRow],
    known: Sequence[str],
    about: str,
    shown: Mapping[str, Mapping[str | None, str | None]],
) -> dict[tuple[str | None, ...], Group]:
    at, asked = [second.columns.index(c) for c in known], second.columns.index(about)
    found: dict[tuple[str | None, ...], Group] = defaultdict(lambda: defaultdict(list))
    for row, n in sorted(new.items(), key=repr):
        key = tuple(shown[c][row[i]] for c, i in zip(known, at, strict=True))
        found[key][row[asked]].append((row, n))
    return found


def _take_excess(
    group: Group, question: JointQuestion, limit: Ceiling
) -> Counter[WholeRow]:
    """Rows of the first value that is too frequent in a group: as few as needed."""
    whole = sum(n for rows in group.values() for _, n in rows)
    for value, rows in group.items():
        if question.values is not None and value not in question.values:
            continue
        having = sum(n for _, n in rows)
        many = 0
        # Of 3 of 4 within 1/2 two wait, and 1 of 2 come.
        while many < having:
            if limit.holds(Belief(0, Fraction(having - many, whole - many))):
                break
            many += 1
        if many:
            return _take(rows, many)
    return Counter()


def _take(rows: Sequence[tuple[WholeRow, int]], many: int) -> Counter[WholeRow]:
    found: Counter[WholeRow] = Counter()
    for row, n in rows:
        found[row] = min(n, many)
        many -= found[row]
        if not many:
            break
    return found
