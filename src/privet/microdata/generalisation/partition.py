"""Equivalence classes and what each shows in place of values: ranges, sets, nothing.

The grammar of generalised values, which every manifest repeats: one value as it is;
`[20, 39]` any number or date from 20 to 39, both included; `{Cook, Judge}` one of
these; `not {Cook, Judge}` any other; `*` any value; `missing or [20, 39]`; a missing
value alone stays missing. Inside a set `missing` is a missing value. A text that could
be misread is written in double quotes, as JSON does it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privet.microdata.generalisation.domain_order import (
    NOBODY,
    ORDERED,
    TREE,
    OrderedDomain,
    quote_value,
)
from privet.microdata.generalisation.kernels import Cells
from privet.microdata.generalised_values import ANY, MISSING
from privet.values.arrays import Floats, Ints
from privet.values.contingency import Domain

GRAMMAR = {
    "[a, b]": "any value from a to b, both included",
    "{a, b}": "one of the values a and b",
    "not {a, b}": "any other value of the column",
    ANY: "any value",
    f"{MISSING} or …": "a missing value, or what follows; in { } one of the values",
    '"…"': "a text in quotes, as JSON writes it",
}
"""How to read what a generalised column shows."""

BLOCK = 2**20
"""Cells that are looked at together."""

WIDEST = 1.0
"""The width of a label that says nothing."""

MASKED = 64
"""Values whose sets are bits of one integer."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The groups (equivalence classes) Mondrian arrived at."""

    attributes: tuple[OrderedDomain, ...]
    """The quasi-identifying columns, as they stand in the cells."""
    others: tuple[Domain, ...]
    """The columns behind them."""
    cells: Cells
    """The distinct rows, those of a group side by side."""
    leaves: Ints
    """Start, stop and people of each group."""
    tree: Ints
    """How the groups were made; see `generalisation/kernels.py: LINE`."""
    suppressed: int = 0
    """How many people are in no group."""
    blocks_of: tuple[Ints, ...] = ()
    """Where everybody has the same cuts: which range each position is in, by column."""

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
            run = _count_consecutive(self.leaves, first)
            many = int(np.searchsorted(stops[:run], start + BLOCK, side="right"))
            last = first + max(many, 1)
            cells = self.cells[start : self.leaves[last - 1, 1]]
            yield slice(first, last), cells, self.leaves[first:last, 0] - start
            first = last

    @cached_property
    def labels(self) -> tuple[GroupLabels, ...]:
        """What each column shows."""
        return tuple(self._label_groups(d) for d in range(len(self.attributes)))

    def _label_groups(self, d: int) -> GroupLabels:
        if self.blocks_of:
            return self._label_by_range(d)
        attribute, texts = self.attributes[d], dict[str | None, int]()
        of = np.empty(len(self), dtype=np.int32)
        known: dict[Key, int] = {}
        width: list[float] = []
        for groups, cells, starts in self.blocks():
            keys, at = _find_keys(attribute, cells[:, d], starts)
            for key in keys:
                if key not in known:
                    text, wide = _label_key(attribute, key)
                    known[key] = texts.setdefault(text, len(texts))
                    width += [wide] if known[key] == len(width) else []
            number = np.array([known[key] for key in keys], dtype=np.int32)
            of[groups] = number[at]
        return GroupLabels(list(texts), of, np.array(width))

    def _label_by_range(self, d: int) -> GroupLabels:
        """A group shows the range its people are in, whether or not they fill it."""
        attribute, block = self.attributes[d], self.blocks_of[d]
        # All cells of a group are in one range: the first will do.
        own = block[self.cells[self.leaves[:, 0], d]]
        used, of = np.unique(own, return_inverse=True)
        shown = [_label_range(attribute, np.flatnonzero(block == b)) for b in used]
        texts, width = zip(*shown, strict=True)
        return GroupLabels(list(texts), of.astype(np.int32), np.array(width))

    @cached_property
    def loss(self) -> Floats:
        """NCP: how blurred each group is, the sum of its columns' widths."""
        total = np.zeros(len(self))
        for labels in self.labels:
            total += labels.width[labels.of]
        return total

    def average_widths(self) -> dict[str, float]:
        """How blurred each column is on average, from 0 (not at all) to 1."""
        share = self.leaves[:, 2] / max(self.people, 1)
        return {
            a.name: float((share * labels.width[labels.of]).sum())
            for a, labels in zip(self.attributes, self.labels, strict=True)
        }


@dataclass(frozen=True, eq=False)
class GroupLabels:
    """What a column shows in each group."""

    texts: list[str | None]
    """The different texts."""
    of: NDArray[np.int32]
    """Which of them each group has."""
    width: Floats
    """How wide each of them is, from 0 to 1."""


# Labels -----------------------------------------------------------------------------

Key = int | bytes
"""What tells what a group shows: its ends, or the set of its positions."""


def _count_consecutive(leaves: Ints, first: int) -> int:
    """How many groups from the first on lie side by side, none left out."""
    gaps = np.flatnonzero(leaves[first + 1 :, 0] != leaves[first:-1, 1])
    return int(gaps[0]) + 1 if len(gaps) else len(leaves) - first


def _find_keys(
    attribute: OrderedDomain, positions: Ints, starts: Ints
) -> tuple[list[Key], Ints]:
    """The different keys of some groups, and which of them each has."""
    if attribute.as_ranges:
        packed = _pack_ends(attribute, positions.astype(np.int64), starts)
    elif len(attribute) <= MASKED:
        # Positions 0 and 2 are the bits 101.
        bits = np.left_shift(np.uint64(1), positions.astype(np.uint64))
        packed = np.bitwise_or.reduceat(bits, starts)
    else:
        return _find_set_keys(attribute, positions, starts)
    keys = np.unique(packed)  # few: looked up faster than numbered by sorting
    return keys.tolist(), np.searchsorted(keys, packed)


def _find_set_keys(
    attribute: OrderedDomain, positions: Ints, starts: Ints
) -> tuple[list[Key], Ints]:
    """Sets of many values: their positions one after the other."""
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(positions)]))
    # Sorted, the pairs of a group lie side by side: its positions, each once.
    pairs = np.unique(group * len(attribute) + positions)
    edges = np.searchsorted(pairs, np.arange(len(starts) + 1) * len(attribute))
    own = (pairs % len(attribute)).astype(np.int64)
    keys = dict[Key, int]()
    at = [
        keys.setdefault(own[a:b].tobytes(), len(keys))
        for a, b in pairwise(edges.tolist())
    ]
    return list(keys), np.array(at)


def _label_range(attribute: OrderedDomain, positions: Ints) -> tuple[str | None, float]:
    """What a range of positions shows, and how wide it is."""
    ((key,), _) = _find_keys(attribute, positions, np.zeros(1, dtype=np.int64))
    return _label_key(attribute, key)


def _pack_ends(attribute: OrderedDomain, positions: Ints, starts: Ints) -> Ints:
    """Whether a value is missing, and the first and last of the others, in one."""
    high = np.maximum.reduceat(positions, starts)
    missing = np.zeros(len(starts), dtype=np.int64)
    size = len(attribute)
    if attribute.domain[0] is None:
        missing = np.maximum.reduceat((positions == 0).astype(np.int64), starts)
        positions = np.where(positions == 0, size, positions)
    low = np.minimum.reduceat(positions, starts)
    # Of 9 values, missing or from 3 to 7: (1 * 10 + 3) * 10 + 7 = 137.
    return np.asarray((missing * (size + 1) + low) * (size + 1) + high)


def _label_key(attribute: OrderedDomain, key: Key) -> tuple[str | None, float]:
    """What a group shows, and how wide that is."""
    if attribute.as_ranges:
        rest, high = divmod(int(key), len(attribute) + 1)
        missing, low = divmod(rest, len(attribute) + 1)
        first = 0 if missing else low
        if not attribute.hidden.isdisjoint((low, high)):
            return ANY, WIDEST
        text = _format_range(attribute.domain, bool(missing), low, high)
        return text, float(attribute.at[high] - attribute.at[first])
    if isinstance(key, bytes):
        positions = np.frombuffer(key, dtype=np.int64).tolist()
    else:
        positions = [p for p in range(MASKED) if key >> p & 1]
    if attribute.hidden and _names_hidden(attribute, positions):
        return ANY, WIDEST
    return format_label(attribute, positions), _measure_width(attribute, positions)


def _names_hidden(attribute: OrderedDomain, positions: Sequence[int]) -> bool:
    """Whether a group with these values would show the name of a hidden one."""
    if attribute.kind == TREE and len(positions) > 1:
        named = _find_nodes(attribute, positions)
        return any(attribute.texts[p] in named for p in attribute.hidden)
    return not attribute.hidden.isdisjoint(positions)


def _measure_width(attribute: OrderedDomain, positions: Sequence[int]) -> float:
    if len(positions) < 2:
        return 0.0
    if attribute.kind == ORDERED:
        return float(attribute.at[positions[-1]] - attribute.at[positions[0]])
    several = len(positions)
    if attribute.kind == TREE:
        children = attribute.nodes[_find_level(attribute, positions)]
        # All values below the children that are named, not only the group's.
        several = int(np.isin(children, children[list(positions)]).sum())
    return (several - 1) / (len(attribute) - 1)


def _format_range(domain: Domain, missing: bool, low: int, high: int) -> str | None:
    if low > high:  # nobody has a value
        return None
    first, last = domain[low], domain[high]
    text = f"{first}" if low == high else f"[{first}, {last}]"
    return f"{MISSING} or {text}" if missing else text


def format_label(attribute: OrderedDomain, positions: Sequence[int]) -> str | None:
    """What a group shows whose people have the values at these positions."""
    if len(positions) == 1:
        alone = positions[0]
        return None if attribute.texts[alone] is None else attribute.spelled[alone]
    if attribute.kind == TREE:
        return _format_nodes(_find_nodes(attribute, positions))
    if len(positions) == len(attribute):
        return ANY
    inside = set(positions)
    others = [p for p in range(len(attribute)) if p not in inside]
    if len(positions) <= len(others) or not attribute.hidden.isdisjoint(others):
        return _format_set(attribute, positions)
    return "not " + _format_set(attribute, others)


def _find_level(attribute: OrderedDomain, positions: Sequence[int]) -> int:
    """The level of the children of the lowest node above some values."""
    nodes, level = attribute.nodes, 0
    while nodes[level + 1, positions[0]] != nodes[level + 1, positions[-1]]:
        level += 1
    return level


def _find_nodes(attribute: OrderedDomain, positions: Sequence[int]) -> list[str]:
    """The lowest node above the values, or those of its children that have some."""
    level = _find_level(attribute, positions)
    children, above = attribute.nodes[level], attribute.nodes[level + 1]
    inside = set(children[above == above[positions[0]]].tolist())
    own = list(dict.fromkeys(children[list(positions)].tolist()))
    found = [attribute.names[level][node] for node in own]
    if len(own) == len(inside) and NOBODY not in found:
        return [attribute.names[level + 1][above[positions[0]]]]
    return found


def _format_nodes(names: Sequence[str]) -> str:
    """One node by its name, several as a set."""
    if len(names) == 1:
        return ANY if names[0] == ANY else quote_value(names[0])
    named = sorted(quote_value(name) for name in names if name != NOBODY)
    return _join_names([*named, *([MISSING] if NOBODY in names else [])])


def _format_set(attribute: OrderedDomain, positions: Sequence[int]) -> str:
    names = attribute.spelled
    return _join_names(
        [names[p] for p in sorted(positions, key=attribute.rank.__getitem__)]
    )


def _join_names(names: Sequence[str]) -> str:
    return "{" + ", ".join(names) + "}"
