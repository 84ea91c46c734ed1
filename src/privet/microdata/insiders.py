"""What an insider knows, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from privet.findings import Attack, AttackedGroup, Cell
from privet.values.adversaries import listed

Show = Callable[[str | None], str]
"""How a cell stands in a sentence."""

Plain = Callable[[str], str]
"""How a name does."""


def knowledge(column: str, attack: Attack, show: Show, plain: Plain) -> str:
    """What the insider knows, as clauses that follow "someone who knows"."""
    own, *others = attack.crowds
    whose = f"{plain(attack.victim)}'s" if attack.victim else "a person's"
    clauses = [f"that {whose} {_facts(own, show, plain)}"] if own.where else []
    if attack.rules_out:
        out = " nor ".join(show(v) for v in attack.rules_out)
        their = "their" if clauses else whose
        lead = "neither " if len(attack.rules_out) > 1 else "not "
        clauses.append(f"that {their} {plain(column)} is {lead}{out}")
    alike = "of the others who look the same" if own.where else "of the others"
    clauses += _people(own, alike, column, show, plain)
    for crowd in others:
        place = f"of the people whose {_facts(crowd, show, plain)}"
        clauses += _people(crowd, place, column, show, plain)
    return listed(clauses) if clauses else "nothing but the table"


def _people(
    crowd: AttackedGroup, place: str, column: str, show: Show, plain: Plain
) -> Iterator[str]:
    for name, value in crowd.names.items():
        yield f"that {plain(name)} has {_cell(value, show)}"
    unnamed = dict(crowd.known)
    for value in crowd.names.values():
        unnamed[value] -= 1
    have = [f"{_some(n)} {_cell(v, show)}" for v, n in unnamed.items() if n]
    if have:
        yield f"that {place} {listed(have)}"
    for name in crowd.companion_names:
        yield f"that {plain(name)} has the same {plain(column)}"
    if more := crowd.companions - len(crowd.companion_names):
        them = "of them" if have else place
        number = "one" if more == 1 else f"{more:,}"
        yield f"that {number} {them} {_has(more)} the same {plain(column)}"


def _some(n: int) -> str:
    return f"{'one' if n == 1 else f'{n:,}'} {_has(n)}"


def _has(n: int) -> str:
    return "has" if n == 1 else "have"


def _facts(crowd: AttackedGroup, show: Show, plain: Plain) -> str:
    return listed([f"{plain(c)} is {show(v)}" for c, v in crowd.where.items()])


def _cell(cell: Cell, show: Show) -> str:
    if isinstance(cell, tuple):
        return listed([show(v) for v in cell]) if cell else "nothing"
    return "a missing value" if cell is None else show(cell)
