"""Groups made finer by columns beside them: for insiders, and for measures of groups.

Both look at groups of the quasi columns. Where these are shown coarsely, a column that
they tell, or that tells what they hide, splits the groups of whoever knows the rule. So
a promise that is kept is judged again by the finer groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import attrs

from privet.engine.protocol import Run
from privet.findings import Basis, Finding, Verdict
from privet.languages import (
    join_words,
    mark,
    say,
)
from privet.microdata.dependence.told_columns import (
    UndoneRules,
    close_sets,
    find_undone,
    is_coarse,
    phrase_rule,
    sort_columns,
)
from privet.policy import Measure, Promise
from privet.release.kinds import Judge, Warn
from privet.table import Table
from privet.values.dependencies import Rule

FINER = mark("Who takes {columns} as known, too, sees finer groups. {rules}.")


def judge_finer(judge: Judge) -> Judge:
    """A judge of groups who judges those again that other columns make finer."""

    def judge_again(
        table: Any, stated: Sequence[Any], run: Run, warn: Warn
    ) -> list[Finding]:
        found = judge(table, stated, run, warn)
        if not is_coarse(table) or not (table.rules and table.rules.told):
            return found
        groups = _FinerGroups(table, find_undone(table, run))
        return [
            groups.weigh(f, judge, run) if f.verdict is Verdict.SAFE else f
            for f in found
        ]

    return judge_again


def list_finer(table: Table, stated: Promise | Measure, run: Run) -> list[str]:
    """Columns beside the groups of a release that make them finer."""
    if not is_coarse(table) or not (table.rules and table.rules.told):
        return []
    return _FinerGroups(table, find_undone(table, run)).list_columns(stated)


def list_quasi_known(table: Table) -> tuple[str, ...]:
    """What whoever knows the quasi columns knows, as they are and as they are shown."""
    told = table.shown.known if table.shown else ()
    return tuple(dict.fromkeys((*table.roles.quasi, *told)))


def find_asked(stated: Promise | Measure, table: Table) -> tuple[str, ...]:
    """The columns a promise or a measure is about; they part no groups.

    Without one that is named, no sensitive column does.
    """
    about = stated.about
    if isinstance(about, str):
        return (about,)
    return tuple(about) if isinstance(about, dict) else table.roles.sensitive


@dataclass(frozen=True, eq=False)
class _FinerGroups:
    """A release in groups, and the rules by which it shows what it hides."""

    table: Table
    undone: UndoneRules

    def list_columns(self, stated: Promise | Measure) -> list[str]:
        """The columns by which groups may be finer."""
        asked = find_asked(stated, self.table)
        about, known = asked[0] if asked else "", list_quasi_known(self.table)
        sets = close_sets(self.table, [known], about, self.undone)
        every = [c for columns in (*sets.exact, *sets.bounds) for c in columns]
        return [c for c in dict.fromkeys(every) if c not in (*known, *asked)]

    def weigh(self, found: Finding, judge: Judge, run: Run) -> Finding:
        """A promise that is kept, by the finer groups: told surely, or perhaps."""
        assert isinstance(found.promise, Promise | Measure)
        asked = find_asked(found.promise, self.table)
        known = sort_columns(self.table, list_quasi_known(self.table))
        sets = close_sets(
            self.table,
            [list_quasi_known(self.table)],
            asked[0] if asked else "",
            self.undone,
        )
        for several, sure in ((sets.exact, True), (sets.bounds, False)):
            for columns in several:
                more = [c for c in columns if c not in (*known, *asked)]
                if more:
                    finer = self._split(more)
                    (again,) = judge(finer, [found.promise], run, lambda words: None)
                    if again.verdict is not Verdict.SAFE:
                        rules = [*sets.rules, *sets.through]
                        return _tell_finer(again, more, rules, sure=sure)
        return found

    def _split(self, columns: Sequence[str]) -> Table:
        """The table with more quasi columns, which have no other role."""
        roles = self.table.roles
        parted = attrs.evolve(
            roles,
            quasi=(*roles.quasi, *columns),
            other=tuple(c for c in roles.other if c not in columns),
            sensitive=tuple(c for c in roles.sensitive if c not in columns),
            target=None if roles.target in columns else roles.target,
        )
        return self.table.with_roles(parted)


def _tell_finer(
    found: Finding, columns: Sequence[str], rules: Sequence[Rule], *, sure: bool
) -> Finding:
    note = say(
        FINER,
        columns=join_words(list(map(repr, columns))),
        rules="; ".join(phrase_rule(r.to_dict()) for r in rules),
    )
    if sure:
        return replace(found, note=note)
    return replace(
        found,
        verdict=Verdict.UNDECIDED,
        basis=Basis.BOUND,
        witness=None,
        note=note,
    )
