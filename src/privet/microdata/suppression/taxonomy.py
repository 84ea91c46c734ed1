"""Taxonomy: the nodes of a hierarchy above a column's values, disclosed coarse to fine.

Any set of nodes may be shown. A value carries the label of its lowest shown node; where
none is shown, it is hidden. That its parent be shown is not asked: one refused prefix
would hide all below it. What is left of a node when others below it are shown reads
"other", and its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.errors import InputError
from privet.values.arrays import Flags, Ints
from privet.values.contingency import Domain
from privet.values.hierarchies import Hierarchy

OTHER = "other {}"
"""How the rest of a node is called."""


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The nodes of each level above some values, from coarse to fine."""

    nodes: tuple[Ints, ...]
    """Per level: the node of each value; -1 where it has none."""
    names: tuple[tuple[str, ...], ...]
    """Per level: what its nodes are called."""

    @classmethod
    def build(cls, hierarchy: Hierarchy, domain: Domain) -> Taxonomy:
        """The levels between the root and the values; missing values have none."""
        hierarchy.require(domain.labels, domain.name)
        paths = [None if v is None else hierarchy.path(v) for v in domain.labels]
        depth = hierarchy.depth
        nodes, names = list[Ints](), list[tuple[str, ...]]()
        for level in range(depth - 2, 0, -1):
            found: dict[str, int] = {}
            own = [
                -1 if path is None else found.setdefault(path[level], len(found))
                for path in paths
            ]
            if 1 < len(found) < len(domain):
                nodes.append(np.array(own, dtype=np.int64))
                names.append(tuple(found))
        return cls(tuple(nodes), tuple(names))

    def name_classes(
        self, domain: Domain, climbed: Ints, hidden: Flags
    ) -> dict[str | None, str]:
        """What values are called that are shown by a node above them.

        `climbed` is the level of each value's node, -1 for none; `hidden` are those
        that are not shown themselves.
        """
        called: dict[str | None, str] = {}
        taken: set[str] = set()
        for level, (own, names) in enumerate(zip(self.nodes, self.names, strict=True)):
            here = hidden & (climbed == level)
            for node in np.unique(own[here]).tolist():
                values = np.flatnonzero(here & (own == node))
                rest = int((own == node).sum()) > len(values)
                name = OTHER.format(names[node]) if rest else names[node]
                if name in taken:
                    raise InputError(
                        f"Labels of column {domain.name!r} must differ; {name!r} is "
                        "the rest of a node, and another node. Rename that one in the "
                        "hierarchy."
                    )
                taken.add(name)
                for code in values.tolist():
                    called[domain[code]] = name
        _refuse_same(domain, called)
        return called


def _refuse_same(domain: Domain, called: dict[str | None, str]) -> None:
    """A label must not read like a value that it does not stand for."""
    by_name: dict[str, list[str | None]] = {}
    for value, name in called.items():
        by_name.setdefault(name, []).append(value)
    for name, values in by_name.items():
        if domain.code(name) is not None and values != [name]:
            raise InputError(
                f"A label of column {domain.name!r} must not read like one of its "
                f"values; {name!r} does. Rename the node in the hierarchy."
            )


def find_nodes(own: Ints, open_: Flags, refused: Flags) -> Ints:
    """The nodes of a level that have values to be told apart, and are not refused."""
    some = own[open_]
    found = np.unique(some[some >= 0])
    return np.asarray(found[~refused[found]])


def place_values(own: Ints, open_: Flags, nodes: Ints) -> Ints:
    """The place of each value's node among some nodes; -1: none of them."""
    size = int(own.max(initial=-1)) + 1
    place = np.full(size + 1, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return np.where(open_ & (own >= 0), place[own], -1)


def number_sides(own: Sequence[Ints], climbed: Ints, first: int) -> Ints:
    """A number for the node that each value carries, from `first` on; 0: none."""
    found = np.zeros(len(climbed), dtype=np.int64)
    for level, nodes in enumerate(own):
        here = climbed == level
        found[here] = first + nodes[here]
        first += int(nodes.max(initial=-1)) + 1
    return found
