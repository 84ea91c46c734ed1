"""Any sentence of background knowledge about people by name, over the worlds it leaves.

The reconstructions of the groups involved are listed one by one: the breach probability
is the share of those that fit the knowledge in which the victim has the value.
Chen, LeFevre, Ramakrishnan 2007, "Probability Definition".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit
from privet.microdata.skyline.audit import query_for_insider
from privet.microdata.skyline.evidence import sway
from privet.microdata.skyline.named_individuals import (
    Key,
    find_group,
    find_home,
    require_identifier,
)
from privet.policy import Promise
from privet.release import enumeration
from privet.release.enumeration import NoWorld, Sentence
from privet.table import Table
from privet.values.adversaries import Insider
from privet.values.beliefs import Belief, Ceiling
from privet.values.windows import Within

Histogram = dict[str | None, int]


def find_belief_knowing(
    table: object, insider: object, about: object, knowing: Sentence, run: Run
) -> Belief:
    """The worst belief about a victim by name, given a sentence."""
    if not isinstance(table, Table) or not isinstance(insider, Insider):
        raise NoAudit("knowing must be asked of a table, about an insider's victim.")
    if insider.victim is None:
        raise InputError("knowing must be about a victim; got none.")
    tally, values = query_for_insider(Promise(insider, Ceiling(1), about), table)
    if isinstance(values, Within):
        raise NoAudit(
            "knowing must be asked about values; a number within a window is judged "
            "without a sentence."
        )
    homes = _Homes(table, tally, run)
    _, own = homes(insider.victim)
    wanted = list(own) if values is None else [_as_text(v) for v in values]
    fits = _combine_knowledge(insider, knowing)
    beliefs: dict[str | None, Fraction] = {}
    wrong: InputError | None = None
    for v in wanted:
        try:
            beliefs[v] = enumeration.belief_about(insider.victim, v, homes, fits(v))
        except NoWorld as error:  # companions may contradict one value only
            wrong = error
    if not beliefs and wrong is not None:
        raise wrong
    worst = max(beliefs, key=lambda v: beliefs[v])
    after = sway(beliefs[worst], insider.evidence)
    return Belief(homes.count_share(worst), after)


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


def _combine_knowledge(
    insider: Insider, knowing: Sentence
) -> Callable[[str | None], Sentence]:
    """The sentence together with what the insider knows by name, for each value."""
    out, others, same = insider.rules_out, insider.knows_others, insider.same_as
    if any(isinstance(n, int) and n for n in (out, others, same)):
        raise InputError(
            "knowing must go with people by name, not with numbers of people or values."
        )
    ruled = () if isinstance(out, int) else out
    known = others if isinstance(others, Mapping) else {}
    companions = () if isinstance(same, int) else same
    victim = insider.victim or ""

    def combine_for(value: str | None) -> Sentence:
        def fits(has: Mapping[str, str | None]) -> bool:
            return (
                has[victim] not in ruled
                and all(has[n] == v for n, v in known.items())
                and (has[victim] == value or all(has[n] != value for n in companions))
                and bool(knowing(has))
            )

        return fits

    return combine_for


class _Homes:
    """Looks people up, and counts their groups when they are first asked for."""

    def __init__(self, table: Table, tally: CountQuery, run: Run) -> None:
        self._table, self._tally, self._run = table, tally, run
        self._column = require_identifier(table)
        self._known: dict[Key, Histogram] = {}

    def __call__(self, name: str) -> tuple[Key, Histogram]:
        key = find_home(name, self._column, self._table, self._tally, self._run)
        if key not in self._known:
            for _, batch in self._table.count([self._tally], self._run):
                for g in find_group(batch, key):
                    self._known[key] = batch.histogram(g)
        return key, self._known[key]

    def count_share(self, value: str | None) -> Fraction:
        """How many of everybody have a value."""
        ((_, everybody),) = self._table.count(
            [CountQuery((), self._tally.about)], self._run
        )
        return Fraction(everybody.histogram(0).get(value, 0), int(everybody.total[0]))
