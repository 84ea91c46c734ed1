"""Decomposition of a table into two views that keep every promise.

What a reconstructor learns depends on the columns that two views share, on which they
are joined. So sets of shared columns are tried, as they are or coarser, those first
that leave the analyst the most columns side by side; the first that keep every promise
are proposed. A shared column is made coarser so that more people share a value: numbers
and dates in bins, others by the levels of a hierarchy.
Wang, Lakshmanan 2006, section 1, decompose a table; how to find views is not theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice, product
from math import log, prod
from pathlib import Path
from typing import Any

import attrs

from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import Infeasible, InputError
from privet.findings import Audit
from privet.languages import join_words, mark
from privet.policy import Accepted, Policy, Promise
from privet.policy.promises import select_promises
from privet.release.audit import audit as judge
from privet.release.audit import bind_table
from privet.table import Table, require_columns
from privet.values.contingency import Domain
from privet.values.converters import name_fields
from privet.values.exact import fraction
from privet.values.frozen_dict import FrozenDict
from privet.values.hierarchies import Given, Hierarchy, read_hierarchy
from privet.values.schema import LARGEST_EDGE, Bins, as_names
from privet.views.private_associations import read_private_association
from privet.views.release import Views
from privet.views.verdict import keeps_projected

# Coarser columns --------------------------------------------------------------------

LEVELS = (16, 8, 4, 2)
"""Into how many bins a number or a date may be cut to be shared."""

NUMBERS = ("integer", "number")
DATES = ("date", "datetime")
"""The kinds of columns that are cut into bins."""

Edge = Any
"""A fraction, or a date: in one column all are of one kind."""

MOST_VALUES = 100_000
"""Different values of a column that may be cut into bins, or shown by levels."""


@dataclass(frozen=True)
class Coarsening:
    """How a column is shared: as it is, in bins, or at a level of its hierarchy."""

    bins: Bins | None = None
    """Where it is cut."""
    level: int = 0
    """The level of its hierarchy; 0: as it is."""
    texts: tuple[str | None, ...] = ()
    """What is shown at that level, by code."""
    worth: Fraction = Fraction(1)
    """How much of the column is left."""

    @property
    def relabel(self) -> Relabel | None:
        """What the engine shows instead of values."""
        return Relabel(self.texts) if self.level else None


def list_coarsenings(
    table: Table, column: str, hierarchy: Hierarchy | None, run: Run
) -> list[Coarsening]:
    """As it is; also in fewer and fewer bins, or by the levels of a hierarchy."""
    domain = table.domains([column], run)[column]
    if hierarchy is not None:
        hierarchy.require(iter(domain.labels), column)
    if column in table.recodings or not 2 < len(domain) <= MOST_VALUES:
        return [Coarsening()]
    if hierarchy is not None:
        return [Coarsening(), *_list_levels(domain, hierarchy)]
    if domain.kind not in NUMBERS + DATES:
        return [Coarsening()]
    return [Coarsening(), *_list_binnings(table, column, domain, run)]


def _list_levels(domain: Domain, hierarchy: Hierarchy) -> Iterator[Coarsening]:
    before = len(domain)
    for level in range(1, hierarchy.depth):
        texts = tuple(
            None if v is None else hierarchy.path(v)[level] for v in domain.labels
        )
        left = len(set(texts))
        if 1 < left < before:
            yield Coarsening(level=level, texts=texts, worth=_worth(left, len(domain)))
            before = left


def _list_binnings(
    table: Table, column: str, domain: Domain, run: Run
) -> Iterator[Coarsening]:
    read = _parse_date if domain.kind in DATES else _parse_number
    ((_, counts),) = table.count([CountQuery((), column)], run)
    rows: Counter[Edge] = Counter()
    for code, n in zip(counts.value, counts.n, strict=True):
        text = domain[int(code)]
        if text is not None and (value := read(text)) is not None:
            rows[value] += int(n)
    for level in LEVELS:
        edges = _choose_edges(sorted(rows.items()), level)
        if edges and len(edges) + 1 < len(domain):
            yield Coarsening(Bins(edges), worth=_worth(len(edges) + 1, len(domain)))


def _parse_number(text: str) -> Edge | None:
    """A number as its digits say; None: nothing is cut there.

    >>> _parse_number("9007199254740993"), _parse_number("nan")
    (Fraction(9007199254740993, 1), None)
    """
    try:
        value = fraction(text)
    except InputError:
        return None
    return value if abs(value) <= LARGEST_EDGE else None


def _parse_date(text: str) -> Edge | None:
    """The day of a date or a moment; None: nothing is cut there."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _worth(left: int, of: int) -> Fraction:
    """How much of what values tell is left, if all are as frequent.

    >>> _worth(2, 8)
    Fraction(1, 3)
    """
    return Fraction(log(left) / log(of)).limit_denominator(100)


def _choose_edges(values: Sequence[tuple[Edge, int]], bins: int) -> list[Edge]:
    """Cuts that put about as many rows into each bin.

    >>> _choose_edges([(1, 2), (2, 2), (3, 2), (4, 2)], 2)
    [3]
    """
    total, seen = sum(n for _, n in values), 0
    edges: list[Edge] = []
    for value, n in values:
        # The bin in which this value begins. A frequent value fills several: rows 6 1 1
        # of values 1 2 3 in 4 bins are cut at 2 and at 3.
        share = seen * bins // total
        if seen and share > len(edges):
            edges.append(value)
        seen += n
    return edges


# The search -------------------------------------------------------------------------

MOST_CANDIDATES = 20_000
"""Sets of shared columns that are compared by what the analyst keeps."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """Two views that keep every promise."""

    views: Views
    """The views, with the bins they need."""
    kept: Fraction
    """The share of pairs of columns that stand in one view; coarse ones count less."""
    audit: Audit
    """What a reconstructor learns from them."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """At which level of its hierarchy a column is shown, where it is coarser."""

    @property
    def bins(self) -> Mapping[str, Bins]:
        """The bins of columns that are shown coarser."""
        return self.views.roles.bins

    def settled(self, policy: Policy) -> Policy:
        """A policy for these views, as they are released."""
        return attrs.evolve(
            policy,
            roles=self.views.roles,
            views=self.views.views,
            where={},
            origin=None,
        )


def _read_sets(
    sets: Sequence[str | Iterable[str]], what: str = "sets"
) -> tuple[tuple[str, ...], ...]:
    if isinstance(sets, str) or not isinstance(sets, Sequence):
        raise InputError(f"{what} must be lists of columns; got {sets!r}.")
    return tuple(as_names(s, what) for s in sets)


def _read_hierarchies(
    hierarchies: Mapping[str, Given | Hierarchy],
) -> FrozenDict[str, Given | Hierarchy]:
    if not isinstance(hierarchies, Mapping):
        raise InputError(
            f"hierarchies must be a hierarchy per column; got {hierarchies!r}."
        )
    return FrozenDict(hierarchies)


def _require_count(_split: Any, field: attrs.Attribute[Any], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{field.name} must be a whole number from 1; got {value!r}.")


@attrs.frozen(field_transformer=name_fields)
class SplitViews:
    """Split a table into two views that keep every promise.

    Examples
    --------
    >>> import privet as pv
    >>> from privet.demo.tables import clinic_path
    >>> patients = pv.read(str(clinic_path()), identifier="name",
    ...                    sensitive="problem")
    >>> promise = pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("1/3"))
    >>> split = pv.SplitViews(leave_out=["number", "age", "job"])
    >>> split.propose(patients, [promise])[0].views
    Views(view-1: name; view-2: problem)
    """

    together: tuple[tuple[str, ...], ...] = attrs.field(
        default=(), converter=_read_sets
    )
    """Columns that must stand in one view, set by set."""
    apart: tuple[tuple[str, ...], ...] = attrs.field(default=(), converter=_read_sets)
    """Columns of which no two may stand in one view, set by set."""
    leave_out: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns that are not published."""
    proposals: int = attrs.field(default=3, validator=_require_count)
    """How many to look for."""
    max_audits: int = attrs.field(default=100, validator=_require_count)
    """How many sets of shared columns are judged at the most."""
    hierarchies: Mapping[str, Given | Hierarchy] = attrs.field(
        factory=dict, converter=_read_hierarchies
    )
    """By column, an ARX file or the levels of each value, to share it more coarsely."""

    def propose(
        self,
        table: Table,
        promises: Policy | Promise | Sequence[Promise],
        *,
        run: Run | None = None,
    ) -> list[Proposal]:
        """Pairs of views that keep every promise, the most useful first."""
        stated = _select_promises(promises)
        method = self
        accepted: tuple[Accepted, ...] = ()
        if isinstance(promises, Policy):
            table, accepted = bind_table(table, promises), promises.accepted
            method = self.for_policy(promises.hierarchy_files())
        search = _ViewSearch(method, table, stated, run or Run(), accepted)
        return search.find_proposals()

    def for_policy(self, files: Mapping[str, Path]) -> SplitViews:
        """The same with the hierarchies of a policy, where it has none of its own."""
        return attrs.evolve(self, hierarchies={**files, **self.hierarchies})


def _select_promises(promises: Policy | Promise | Sequence[Promise]) -> list[Promise]:
    if isinstance(promises, Policy):
        given = list(promises.promises)
    else:
        given = [promises] if isinstance(promises, Promise) else list(promises)
    found = select_promises("views", given)
    if not found:
        raise InputError(
            mark(
                "A table must have promises against a reconstructor to be split into "
                "views."
            )
        )
    return found


@dataclass
class _ViewSearch:
    """The search for a decomposition of one table."""

    method: SplitViews
    table: Table
    promises: list[Promise]
    run: Run
    accepted: tuple[Accepted, ...] = ()
    tried: list[Proposal] = field(default_factory=list)

    def find_proposals(self) -> list[Proposal]:
        self._check()
        if not self._needed:  # what shares nothing gives away the least
            self._judge_floor()
        found: list[Proposal] = []
        for shared in islice(self._list_candidates(), self.method.max_audits):
            proposal = self._make_proposal(shared)
            self.tried.append(proposal)
            if proposal.audit.safe:
                found.append(proposal)
            if len(found) == self.method.proposals:
                break
        return found or [self._propose_least()]

    def _propose_least(self) -> Proposal:
        """Views that share as little as they can; or nothing helps."""
        floor = self._judge_floor()
        if not self._is_allowed({c: Coarsening() for c in self._needed}):
            best = min(self.tried, key=lambda p: _worst_posterior(p.audit) or 0)
            raise self._make_infeasible(best, "that together and apart allow")
        if not floor.audit.safe:
            raise self._make_infeasible(floor, self._say_floor())
        return floor

    def _judge_floor(self) -> Proposal:
        """Over the columns asked about nothing gives away less than the floor; over
        whole tuples a column that is shared may help.
        """
        floor = self._make_proposal({c: Coarsening() for c in self._needed})
        if not all(map(keeps_projected, floor.audit.findings)):
            raise self._make_infeasible(floor, self._say_floor())
        return floor

    def _say_floor(self) -> str:
        what = f"only {join_words(self._needed)}" if self._needed else "no column"
        return f"that share {what}"

    def _make_proposal(self, shared: Mapping[str, Coarsening]) -> Proposal:
        views = self._make_views(shared)
        self.run.check()
        audit = judge(
            views,
            self.promises,
            max_seconds=self.run.left,
            progress=self.run.listener,
        )
        levels = {c: o.level for c, o in shared.items() if o.level}
        return Proposal(views, self._measure_kept(shared), audit, levels)

    def _check(self) -> None:
        method, schema = self.method, self.table.schema
        named = [c for s in (*method.together, *method.apart) for c in s]
        require_columns([*named, *method.leave_out], schema, "the split")
        everything = Views(
            self.table, [c for c in schema.names if c not in self._hidden]
        )
        secrets = [read_private_association(p, everything) for p in self.promises]
        asked = {(a.person, a.secret) for a in secrets}
        if len(asked) != 1:
            raise InputError(
                "Promises must be about one column of people and one private column to "
                "split a table."
            )
        ((self.person, self.secret),) = asked
        asked_for = {self.person, self.secret}
        used = {c for a in secrets for c in a.list_used_columns()} - asked_for
        shared = {c for a in secrets if not a.full for c in a.list_used_columns()}
        self._needed = [c for c in self._others if c in shared]
        if gone := sorted(used - set(self._others)):
            raise InputError(
                f"A secret query must look at columns that are published; it uses "
                f"{gone[0]!r}, which is left out."
            )
        for columns in method.together:
            if {self.person, self.secret} <= set(columns):
                raise InputError(
                    f"together must not hold {self.person!r} and {self.secret!r}: then "
                    "one view would publish who has what."
                )

    @property
    def _hidden(self) -> set[str]:
        roles = self.table.roles
        return {*self.method.leave_out, *roles.drop, roles.weight or ""}

    @property
    def _others(self) -> list[str]:
        asked = {self.person, self.secret, *self._hidden}
        return [c for c in self.table.schema.names if c not in asked]

    # Candidates ---------------------------------------------------------------------

    def _list_candidates(self) -> Iterator[dict[str, Coarsening]]:
        """Sets of shared columns that the rules allow, the most useful first."""
        options = {c: self._list_options(c) for c in self._others}
        if prod(map(len, options.values())) > MOST_CANDIDATES:
            options = {  # too many levels: columns as they are, or not
                c: [o for o in given if o is None or o == Coarsening()]
                for c, given in options.items()
            }
        chosen = islice(product(*options.values()), MOST_CANDIDATES)
        found = [
            {c: o for c, o in zip(options, some, strict=True) if o is not None}
            for some in chosen
        ]
        allowed = [s for s in found if self._is_allowed(s)]
        if not allowed:
            raise InputError(
                "together and apart must leave some pair of views; they exclude all."
            )
        return iter(
            sorted(allowed, key=lambda s: (-self._measure_kept(s), len(s), list(s)))
        )

    def _list_options(self, column: str) -> list[Coarsening | None]:
        """Not shared, shared as it is, or coarser.

        What a secret query looks at is shared as it is, or nobody could judge it.
        """
        if column in self._needed:
            return [Coarsening()]
        given = self.hierarchies.get(column)
        return [None, *list_coarsenings(self.table, column, given, self.run)]

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """What values are called at coarser levels, by column."""
        given = self.method.hierarchies
        require_columns(list(given), self.table.schema, "hierarchies")
        return {c: read_hierarchy(h, f"Hierarchy of {c!r}") for c, h in given.items()}

    def _split_columns(
        self, shared: Mapping[str, Coarsening]
    ) -> tuple[list[str], list[str]]:
        """The columns of both views; what need not be with people is with secrets."""
        left = [self.person, *shared]
        with_people = {
            c for s in self.method.together if self.person in s for c in s
        } | {
            b
            for s in self.method.apart
            if self.secret in s
            for b in s
            if b != self.secret
        }
        beside = [c for c in self._others if c in with_people and c not in shared]
        rest = [c for c in self._others if c not in shared and c not in beside]
        return [*left, *beside], [*shared, self.secret, *rest]

    def _is_allowed(self, shared: Mapping[str, Coarsening]) -> bool:
        sides = [set(side) for side in self._split_columns(shared)]
        whole = all(any(set(s) <= side for side in sides) for s in self.method.together)
        split = not any(
            {a, b} <= side
            for s in self.method.apart
            for a, b in combinations(s, 2)
            for side in sides
        )
        return whole and split

    def _make_views(self, shared: Mapping[str, Coarsening]) -> Views:
        bins = {c: o.bins for c, o in shared.items() if o.bins is not None}
        roles = attrs.evolve(self.table.roles, bins={**self.table.roles.bins, **bins})
        order = self.table.schema.names.index
        left, right = (sorted(side, key=order) for side in self._split_columns(shared))
        relabels = {c: r for c, o in shared.items() if (r := o.relabel) is not None}
        table = self.table.with_roles(roles).relabelled(relabels)
        return Views(table, left, right, accepted=self.accepted)

    def _measure_kept(self, shared: Mapping[str, Coarsening]) -> Fraction:
        """Pairs of columns that stand side by side, by what is left of them."""
        columns = [self.person, self.secret, *self._others]
        worth = {c: shared[c].worth if c in shared else Fraction(1) for c in columns}
        sides = [set(side) for side in self._split_columns(shared)]
        pairs = list(combinations(columns, 2))
        # Name and problem apart, age in both views: 2 of 3 pairs stand together.
        together = [p for p in pairs if any(set(p) <= side for side in sides)]
        return sum((worth[a] * worth[b] for a, b in together), Fraction(0)) / len(pairs)

    def _make_infeasible(self, found: Proposal, which: str) -> Infeasible:
        finding = found.audit.worst
        reached = _worst_posterior(found.audit)
        shown = "" if reached is None else f", which come to {float(reached):.4g}"
        return Infeasible(
            f"No two views keep {finding.promise.name!r}: not even views {which}"
            f"{shown}. {finding.note}".rstrip(),
            promise=finding.promise,
            best=reached,
            advice=(
                "Allow more than that, or promise it in the restricted model.",
                "Leave one of the two columns out of what is published.",
            ),
        )


def _worst_posterior(found: Audit) -> Fraction | None:
    belief = found.worst.belief
    return belief.posterior if belief else None
