"""Other views that keep the promises: which columns they share, and how finely.

What a reconstructor learns depends on what the two views share. So sets of shared
columns are tried, as they are or in coarser bins, those first that leave the analyst
the most columns side by side; the first that keep every promise are proposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from math import log

import numpy as np

from privet.adversary import Reconstructor
from privet.audits import audit as judge
from privet.audits import bound
from privet.audits.secrets import ask
from privet.engines.base import Run, Tally
from privet.errors import Infeasible, InputError
from privet.finding import Audit
from privet.policy import Policy, Promise
from privet.releases.views import Views
from privet.roles import Bins, names
from privet.table import Table, require_columns

LEVELS = (16, 8, 4, 2)
"""Into how many bins a number may be cut to be shared."""

MOST_CANDIDATES = 20_000
"""Sets of shared columns that are compared by what the analyst keeps."""

MOST_VALUES = 100_000
"""Different numbers of a column that may be cut into bins."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """Two views that keep every promise."""

    views: Views
    """The views, with the bins they need."""
    kept: Fraction
    """The share of pairs of columns that stand in one view; coarse ones count less."""
    audit: Audit
    """What a reconstructor learns from them."""

    @property
    def bins(self) -> Mapping[str, Bins]:
        """The bins of columns that are shown coarser."""
        return self.views.roles.bins


@dataclass(frozen=True)
class SplitViews:
    """Split a table into two views that keep every promise.

    Examples
    --------
    >>> import privet as pv
    >>> from privet.demo.tables import clinic_path
    >>> patients = pv.read(str(clinic_path()), identifier="name",
    ...                    sensitive="problem")
    >>> promise = pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("1/3"))
    >>> pv.SplitViews(leave_out=["number"]).propose(patients, [promise])[0].views
    Views(view-1: name; view-2: age, job, problem)
    """

    together: tuple[tuple[str, ...], ...] = ()
    """Columns that must stand in one view, set by set."""
    apart: tuple[tuple[str, ...], ...] = ()
    """Columns of which no two may stand in one view, set by set."""
    leave_out: tuple[str, ...] = ()
    """Columns that are not published."""
    proposals: int = 3
    """How many to look for."""
    max_audits: int = 100
    """How many sets of shared columns are judged at the most."""

    def __post_init__(self) -> None:
        for key in ("together", "apart"):
            sets = getattr(self, key)
            if isinstance(sets, str) or not isinstance(sets, Sequence):
                raise InputError(f"{key} must be lists of columns; got {sets!r}.")
            made = tuple(names(s, key) for s in sets)
            object.__setattr__(self, key, made)
        object.__setattr__(self, "leave_out", names(self.leave_out, "leave_out"))
        for key in ("proposals", "max_audits"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{key} must be a whole number from 1; got {value!r}.")

    def propose(
        self,
        table: Table,
        promises: Policy | Promise | Sequence[Promise],
        *,
        run: Run | None = None,
    ) -> list[Proposal]:
        """Pairs of views that keep every promise, the most useful first."""
        stated = _promises(promises)
        if isinstance(promises, Policy):
            table = bound(table, promises)
        return _Search(self, table, stated, run or Run()).proposals()


def _promises(promises: Policy | Promise | Sequence[Promise]) -> list[Promise]:
    if isinstance(promises, Policy):
        given = list(promises.promises)
    else:
        given = [promises] if isinstance(promises, Promise) else list(promises)
    found = [p for p in given if isinstance(p.against, Reconstructor)]
    if not found:
        raise InputError(
            "A table must have promises against a reconstructor to be split into views."
        )
    return found


@dataclass(frozen=True)
class _Choice:
    """How a column is shared: as it is, or cut into bins."""

    bins: Bins | None = None
    worth: Fraction = Fraction(1)
    """How much of the column is left."""


@dataclass
class _Search:
    """The search for one table."""

    method: SplitViews
    table: Table
    promises: list[Promise]
    run: Run
    tried: int = field(default=0)

    def proposals(self) -> list[Proposal]:
        self._check()
        found: list[Proposal] = []
        floor: Audit | None = None
        for shared in self._candidates():
            self.tried += 1
            if (
                self.tried > self.method.max_audits
                or len(found) >= self.method.proposals
            ):
                break
            views = self._views(shared)
            try:
                audit = judge(views, self.promises, progress=self.run.listener)
            except InputError:  # a secret query about a column that is not shared
                continue
            if audit.safe:
                found.append(Proposal(views, self._kept(shared), audit))
        if not found:
            floor = judge(self._views({}), self.promises, progress=self.run.listener)
            self._refuse(floor)
            found = [Proposal(self._views({}), self._kept({}), floor)]
        return found

    def _check(self) -> None:
        method, schema = self.method, self.table.schema
        named = [c for s in (*method.together, *method.apart) for c in s]
        require_columns([*named, *method.leave_out], schema, "the split")
        everything = Views(
            self.table, [c for c in schema.names if c not in self._hidden]
        )
        asked = {
            (a.person, a.secret) for p in self.promises if (a := ask(p, everything))
        }
        if len(asked) != 1:
            raise InputError(
                "Promises must be about one column of people and one private column to "
                "split a table."
            )
        ((self.person, self.secret),) = asked
        for columns in method.together:
            if {self.person, self.secret} <= set(columns):
                raise InputError(
                    f"together must not hold {self.person!r} and {self.secret!r}: then "
                    "one view would publish who has what."
                )

    @property
    def _hidden(self) -> set[str]:
        return {*self.method.leave_out, self.table.roles.weight or ""}

    @property
    def _others(self) -> list[str]:
        asked = {self.person, self.secret, *self._hidden}
        return [c for c in self.table.schema.names if c not in asked]

    # Candidates ---------------------------------------------------------------------

    def _candidates(self) -> Iterator[dict[str, _Choice]]:
        """Sets of shared columns that the rules allow, the most useful first."""
        choices = {c: self._choices(c) for c in self._others}
        size = 1
        for options in choices.values():
            size *= 1 + len(options)
        if size > MOST_CANDIDATES:  # too many levels: columns as they are, or not
            choices = {c: options[:1] for c, options in choices.items()}
        found = [
            {c: o for c, o in zip(choices, chosen, strict=True) if o is not None}
            for chosen in product(*([None, *o] for o in choices.values()))
        ]
        allowed = [s for s in found[:MOST_CANDIDATES] if self._is_allowed(s)]
        if not allowed:
            raise InputError(
                "together and apart must leave some pair of views; they exclude all."
            )
        return iter(sorted(allowed, key=lambda s: (-self._kept(s), len(s), list(s))))

    def _choices(self, column: str) -> list[_Choice]:
        """As it is; and, of numbers, in fewer and fewer bins."""
        domain = self.table.domains([column], self.run)[column]
        plain = [_Choice()]
        if column in self.table.recodings or len(domain) > MOST_VALUES:
            return plain
        if domain.kind not in ("integer", "number") or len(domain) <= 2:
            return plain
        ((_, counts),) = self.table.count([Tally((), column)], self.run)
        values = [domain[int(v)] for v in counts.value]
        number = [
            (float(v), int(n)) for v, n in zip(values, counts.n, strict=True) if v
        ]
        number = [(v, n) for v, n in sorted(number) if np.isfinite(v)]
        for level in LEVELS:
            edges = _edges(number, level)
            if edges and len(edges) + 1 < len(domain):
                worth = log(len(edges) + 1) / log(len(domain))
                plain.append(
                    _Choice(Bins(edges), Fraction(worth).limit_denominator(100))
                )
        return plain

    def _sides(self, shared: Mapping[str, _Choice]) -> tuple[list[str], list[str]]:
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
        mine = [c for c in self._others if c in with_people and c not in shared]
        rest = [c for c in self._others if c not in shared and c not in mine]
        return [*left, *mine], [*shared, self.secret, *rest]

    def _is_allowed(self, shared: Mapping[str, _Choice]) -> bool:
        sides = [set(side) for side in self._sides(shared)]
        whole = all(any(set(s) <= side for side in sides) for s in self.method.together)
        split = not any(
            {a, b} <= side
            for s in self.method.apart
            for a, b in combinations(s, 2)
            for side in sides
        )
        return whole and split

    def _views(self, shared: Mapping[str, _Choice]) -> Views:
        bins = {c: o.bins for c, o in shared.items() if o.bins is not None}
        roles = replace(self.table.roles, bins={**self.table.roles.bins, **bins})
        order = self.table.schema.names.index
        left, right = (sorted(side, key=order) for side in self._sides(shared))
        return Views(self.table.with_roles(roles), left, right)

    def _kept(self, shared: Mapping[str, _Choice]) -> Fraction:
        """Pairs of columns that stand side by side, by what is left of them."""
        columns = [self.person, self.secret, *self._others]
        worth = {c: shared[c].worth if c in shared else Fraction(1) for c in columns}
        sides = [set(side) for side in self._sides(shared)]
        pairs = list(combinations(columns, 2))
        together = [p for p in pairs if any(set(p) <= side for side in sides)]
        return sum((worth[a] * worth[b] for a, b in together), Fraction(0)) / len(pairs)

    def _refuse(self, floor: Audit) -> None:
        """Even views that share nothing break a promise: nothing else can help."""
        if floor.safe:
            return
        finding = floor.worst
        reached = finding.belief.posterior if finding.belief else None
        shown = "" if reached is None else f", which comes to {float(reached):.4g}"
        raise Infeasible(
            f"No two views keep {finding.promise.name!r}: not even views that share no "
            f"column{shown}. {finding.note}".rstrip(),
            promise=finding.promise,
            best=reached,
            advice=(
                "Allow more than that, or promise it in the restricted model.",
                "Leave one of the two columns out of what is published.",
            ),
        )


def _edges(values: Sequence[tuple[float, int]], bins: int) -> list[str]:
    """Cuts that put about as many rows into each bin.

    >>> _edges([(1.0, 2), (2.0, 2), (3.0, 2), (4.0, 2)], 2)
    ['3']
    """
    total, seen = sum(n for _, n in values), 0
    edges: list[str] = []
    for value, n in values:
        share = seen * bins // total
        if seen and share > len(edges):
            edges.append(repr(value).removesuffix(".0"))
        seen += n
    return edges
