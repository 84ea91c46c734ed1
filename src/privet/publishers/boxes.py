"""What a group shows in place of its people's values: ranges, sets, or nothing.

The grammar, which every manifest repeats: one value as it is; `[20, 39]` any number or
date from 20 to 39, both included; `{Cook, Judge}` one of these; `*` any value; `missing
or [20, 39]`; a missing value alone stays missing. Inside a set `missing` is a missing
value. A text that could be misread is written in double quotes, as JSON does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from privet.counts import Domain
from privet.publishers.attributes import TREE, Attribute
from privet.publishers.cutting import Cells
from privet.publishers.loops import Ints

ANY, MISSING = "*", "missing"

GRAMMAR = {
    "[a, b]": "any value from a to b, both included",
    "{a, b}": "one of the values a and b",
    ANY: "any value",
    f"{MISSING} or …": "a missing value, or what follows; in { } one of the values",
    '"…"': "a text in quotes, as JSON writes it",
}
"""How to read what a generalised column shows."""

BLOCK = 2**20
"""Cells that are looked at together."""

MASKED = 64
"""Values whose sets are bits of one integer."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The groups Mondrian arrived at."""

    attributes: tuple[Attribute, ...]
    """The quasi-identifying columns, as they stand in the cells."""
    others: tuple[Domain, ...]
    """The columns behind them."""
    cells: Cells
    """The distinct rows, those of a group side by side."""
    leaves: Ints
    """Start, stop and people of each group."""
    tree: tuple[tuple[int, ...], ...] = ()
    """How the groups were made; see `privet.publishers.grouping`."""
    suppressed: int = 0
    """How many people are in no group."""

    def __len__(self) -> int:
        return len(self.leaves)

    @property
    def people(self) -> int:
        """How many there are in all groups."""
        return int(self.leaves[:, 2].sum())

    def blocks(self) -> Iterator[tuple[slice, Cells, Ints]]:
        """Some groups at a time: which, their cells, where each begins in these."""
        first = 0
        while first < len(self.leaves):
            start = self.leaves[first, 0]
            stops = self.leaves[first:, 1]
            run = _consecutive(self.leaves, first)
            many = int(np.searchsorted(stops[:run], start + BLOCK, side="right"))
            last = first + max(many, 1)
            cells = self.cells[start : self.leaves[last - 1, 1]]
            yield slice(first, last), cells, self.leaves[first:last, 0] - start
            first = last

    def labels(self, d: int) -> tuple[list[str | None], Ints]:
        """What a column shows: the different texts, and which one each group has."""
        attribute, texts = self.attributes[d], dict[str | None, int]()
        shown = np.empty(len(self), dtype=np.int64)
        known: dict[bytes, int] = {}
        for groups, cells, starts in self.blocks():
            keys = _keys(attribute, cells[:, d], starts)
            for g, key in enumerate(keys, groups.start):
                if key not in known:
                    text = _text(attribute, key)
                    known[key] = texts.setdefault(text, len(texts))
                shown[g] = known[key]
        return list(texts), shown

    def widths(self) -> dict[str, float]:
        """How blurred each column is on average, from 0 (not at all) to 1."""
        from privet.publishers.attributes import shape
        from privet.publishers.cutting import aim, cutter

        every, even = shape(self.attributes), aim(-1, 1)
        loops, total = cutter(len(self.cells)), np.zeros(len(self.attributes))
        for start, stop, people in self.leaves.tolist():
            total += people * loops.survey(self.cells, start, stop, every, even).width
        names = [a.name for a in self.attributes]
        return dict(zip(names, (total / max(self.people, 1)).tolist(), strict=True))


def _consecutive(leaves: Ints, first: int) -> int:
    """How many groups from the first on lie side by side, none left out."""
    gaps = np.flatnonzero(leaves[first + 1 :, 0] != leaves[first:-1, 1])
    return int(gaps[0]) + 1 if len(gaps) else len(leaves) - first


def _keys(attribute: Attribute, places: Ints, starts: Ints) -> list[bytes]:
    """What tells what a group shows: its ends, or the set of its places."""
    if attribute.as_ranges:
        return _ends(attribute, places.astype(np.int64), starts)
    if len(attribute) <= MASKED:
        bits = np.left_shift(np.uint64(1), places.astype(np.uint64))
        masks = np.bitwise_or.reduceat(bits, starts)
        return [m.tobytes() for m in masks]
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(places)]))
    pairs = np.unique(group * len(attribute) + places)
    edges = np.searchsorted(pairs, np.arange(len(starts) + 1) * len(attribute))
    own = (pairs % len(attribute)).astype(np.int64)
    return [own[a:b].tobytes() for a, b in pairwise(edges.tolist())]


def _ends(attribute: Attribute, places: Ints, starts: Ints) -> list[bytes]:
    """Whether a value is missing, and the first and last of the others; -1: none."""
    high = np.maximum.reduceat(places, starts)
    missing = np.zeros(len(starts), dtype=np.int64)
    if attribute.domain[0] is None:
        missing = np.maximum.reduceat((places == 0).astype(np.int64), starts)
        places = np.where(places == 0, len(attribute), places)
        high = np.where(high == 0, -1, high)
    low = np.minimum.reduceat(places, starts)
    return [row.tobytes() for row in np.column_stack([missing, low, high])]


def _text(attribute: Attribute, key: bytes) -> str | None:
    if attribute.as_ranges:
        missing, low, high = np.frombuffer(key, dtype=np.int64).tolist()
        return _range(attribute.domain, bool(missing), low, high)
    if len(attribute) <= MASKED:
        mask = int(np.frombuffer(key, dtype=np.uint64)[0])
        return shown(attribute, [p for p in range(MASKED) if mask >> p & 1])
    return shown(attribute, np.frombuffer(key, dtype=np.int64).tolist())


def _range(domain: Domain, missing: bool, low: int, high: int) -> str | None:
    if high < 0:
        return None
    first, last = domain[low], domain[high]
    text = f"{first}" if low == high else f"[{first}, {last}]"
    return f"{MISSING} or {text}" if missing else text


def shown(attribute: Attribute, places: Sequence[int]) -> str | None:
    """What a group shows whose people have the values at these places."""
    codes = attribute.codes()[list(places)]
    if len(places) == 1:
        value = attribute.domain[int(codes[0])]
        return None if value is None else spelled(value)
    if attribute.kind == TREE:
        return _nodes(attribute, places)
    if len(places) == len(attribute):
        return ANY
    return _set([attribute.domain[int(c)] for c in codes])


def _nodes(attribute: Attribute, places: Sequence[int]) -> str:
    """The lowest node above the values, or those of its children that have some."""
    nodes, level = attribute.nodes, 0
    while nodes[level + 1, places[0]] != nodes[level + 1, places[-1]]:
        level += 1
    above = nodes[level + 1, places[0]]
    children = set(nodes[level, nodes[level + 1] == above].tolist())
    own = list(dict.fromkeys(nodes[level, list(places)].tolist()))
    names = attribute.names
    if len(own) == len(children) and not _names_missing(names[level], own):
        return spelled(names[level + 1][above]) if above_all(attribute, level) else ANY
    found = [names[level][node] for node in own]
    return _set([None if n == "\0missing" else n for n in found])


def above_all(attribute: Attribute, level: int) -> bool:
    """Whether the level above still has a name of its own, and is not just the top."""
    return attribute.names[level + 1] != (ANY,)


def _names_missing(names: Sequence[str], nodes: Sequence[int]) -> bool:
    return any(names[node] == "\0missing" for node in nodes)


def _set(values: Sequence[str | None]) -> str:
    named = sorted(spelled(v) for v in values if v is not None)
    missing = [MISSING] if None in values else []
    return "{" + ", ".join([*named, *missing]) + "}"


def spelled(value: str) -> str:
    """A text, in quotes where it could be taken for something else.

    >>> spelled("Cook"), spelled("a, b"), spelled("missing")
    ('Cook', '"a, b"', '"missing"')
    """
    plain = value and value == value.strip() and not set(value) & set('{}[]",')
    if plain and value != ANY and not value.startswith(MISSING):
        return value
    return json.dumps(value, ensure_ascii=False)
