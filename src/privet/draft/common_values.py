"""How frequent the commonest value of a sensitive column is: no limit is below."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privet.draft.guess_roles import Guess
from privet.engine.protocol import CountQuery, Run
from privet.table import Table
from privet.values.schema import Roles


def count_shares(
    table: Table, guesses: Sequence[Guess], run: Run
) -> dict[str, Fraction]:
    """The share of the commonest value of each column that is guessed to be sensitive.

    People or weights are counted where a column was guessed to tell them.
    """
    named = {g.role: g.name for g in guesses}
    roles = Roles(unit=named.get("unit"), weight=named.get("weight"))
    counted = table.with_roles(roles)
    tallies = [CountQuery((), g.name) for g in guesses if g.role == "sensitive"]
    shares = {}
    for tally, batch in counted.count(tallies, run):
        whole = int(batch.total.sum())
        most = int(batch.n.max(initial=0))
        shares[tally.about] = Fraction(most, whole) if whole else Fraction(0)
    return shares
