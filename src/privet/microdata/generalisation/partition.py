"""Equivalence classes and what each shows in place of values: ranges, sets, nothing.

The grammar of generalised values, which every manifest repeats: one value as it is;
`[20, 39]` any number or date from 20 to 39, both included; `{Cook, Judge}` one of
these; `not {Cook, Judge}` any other; `begins with {Ca, Co}` any text that begins like
this; `*` any value; `missing or [20, 39]`; a missing value alone stays missing. Inside
a set `missing` is a missing value. A text that could be misread is written in double
quotes, as JSON does it. No label names more than a dozen values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.languages import mark
from privet.microdata.generalisation.domain_order import (
    NOBODY,
    ORDERED,
    TREE,
    OrderedDomain,
    quote_value,
)
from privet.microdata.generalisation.splits.split_task import Cells
from privet.microdata.generalised_values import ANY, BEGINS, MISSING
from privet.microdata.level_choice import LevelChoice
from privet.values.arrays import Floats, Ints
from privet.values.contingency import Domain

GRAMMAR = {
    "[a, b]": mark("any value from a to b, both included"),
    "{a, b}": mark("one of the values a and b"),
    "not {a, b}": mark("any other value of the column"),
    ANY: mark("any value"),
    f"{MISSING} or …": mark(
        "a missing value, or what follows; in { } one of the values"
    ),
    '"…"': mark("a text in quotes, as JSON writes it"),
}
"""How to read what a generalised column shows."""

PREFIXES = {f"{BEGINS} {{a, b}}": mark("any value that begins with one of these texts")}
"""What is said besides where values are shown by how they begin."""


def explain_labels(labels: Iterable[str | None]) -> dict[str, str]:
    """How to read these labels."""
    begin = (f"{BEGINS} {{", f"{MISSING} or {BEGINS} {{")
    used = any(label is not None and label.startswith(begin) for label in labels)
    return {**GRAMMAR, **(PREFIXES if used else {})}


def explain_levels() -> dict[str, str]:
    """How to read labels of hierarchies."""
    return {sign: GRAMMAR[sign] for sign in (ANY, '"…"')}


MOST_NAMED = 12
"""Values, beginnings or nodes that one label names; of more, a wider label is shown."""

BLOCK = 2**20
"""Cells that are looked at together."""

WIDEST = 1.0
"""The width of a label that says nothing."""

ANYTHING = -1
"""The range of people who are starred."""

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
    """How the groups were made; see `generalisation/split_task.py: LINE`."""
    suppressed: int = 0
    """How many people are in no group."""
    blocks_of: tuple[Ints, ...] = ()
    """Where everybody has the same cuts: which range each position is in, by column."""
    names_of: tuple[tuple[str | None, ...], ...] = ()
    """What each of those ranges is called, by column; empty: by what it holds."""
    starred: int = 0
    """How many people are in the last group, which shows `*` in every column."""
    stars: bool = False
    """Whether it was chosen together with the cuts who is starred."""
    starred_lines: tuple[int, ...] = ()
    """The lines of the tree they came from, where groups have cuts of their own."""
    choice: LevelChoice | None = None
    """What full-domain search chose; None: groups were made otherwise."""
    blank: bool = False
    """Whether `*` is written as an empty cell, and a missing value looks like it."""

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
        found = tuple(self._label_groups(d) for d in range(len(self.attributes)))
        return tuple(map(_blank_missing, found)) if self.blank else found

    def _label_groups(self, d: int) -> GroupLabels:
        if self.blocks_of:
            return self._label_by_range(d)
        attribute, texts = self.attributes[d], dict[str | None, int]()
        of = np.empty(len(self), dtype=np.int32)
        known: dict[Key, int] = {}
        width: list[float] = []
        for groups, keys, at in self._group_keys(d):
            for key in keys:
                if key not in known:
                    text, wide = _label_key(attribute, key)
                    known[key] = texts.setdefault(text, len(texts))
                    width += [wide] if known[key] == len(width) else []
            number = np.array([known[key] for key in keys], dtype=np.int32)
            of[groups] = number[at]
        found = GroupLabels(list(texts), of, np.array(width))
        return _star_last(found) if self.starred else found

    def _label_by_range(self, d: int) -> GroupLabels:
        """A group shows the range its people are in, whether or not they fill it."""
        block = self.blocks_of[d]
        # All cells of a group are in one range: the first will do.
        own = block[self.cells[self.leaves[:, 0], d]]
        if self.starred:
            own[-1] = ANYTHING
        used, of = np.unique(own, return_inverse=True)
        shown = [self._label_block(d, int(b)) for b in used]
        texts, width = zip(*shown, strict=True)
        return GroupLabels(list(texts), of.astype(np.int32), np.array(width))

    def _label_block(self, d: int, block: int) -> tuple[str | None, float]:
        """What a range is called, and how wide it is."""
        if block == ANYTHING:
            return ANY, WIDEST
        attribute = self.attributes[d]
        positions = np.flatnonzero(self.blocks_of[d] == block)
        if not self.names_of:
            return _label_range(attribute, positions)
        wide = (len(positions) - 1) / max(len(attribute) - 1, 1)
        return self.names_of[d][block], wide

    def list_sets(self, d: int) -> tuple[list[Runs], Ints]:
        """The different sets of values a column shows, and which each group has."""
        attribute, labels = self.attributes[d], self.labels[d]
        known: dict[Runs, int] = {((0, len(attribute) - 1),): 0}
        number: dict[Key, int] = {}
        of = np.empty(len(self), dtype=np.int64)
        for groups, keys, at in self._group_keys(d):
            for key in keys:
                if key not in number:  # blocks of groups have most keys in common
                    runs = _list_runs(attribute, key)
                    number[key] = known.setdefault(runs, len(known))
            of[groups] = np.array([number[k] for k in keys], dtype=np.int64)[at]
        anything = np.array([text == ANY for text in labels.texts])
        of[anything[labels.of]] = 0  # the first set has all values
        return list(known), of

    def _group_keys(self, d: int) -> Sequence[KeyBlock]:
        """The keys of some groups at a time, and which of them each has."""
        if d not in self._kept_keys:
            self._kept_keys[d] = list(self._find_group_keys(d))
        return self._kept_keys[d]

    @cached_property
    def _kept_keys(self) -> dict[int, list[KeyBlock]]:
        """What groups show is asked for labels first, and for figures then."""
        return {}

    def _find_group_keys(self, d: int) -> Iterator[KeyBlock]:
        attribute = self.attributes[d]
        if not self.blocks_of:
            for groups, cells, starts in self.blocks():
                keys, at = _find_keys(attribute, cells[:, d], starts)
                yield groups, keys, at.astype(np.int32)
            return
        block = self.blocks_of[d]
        own = block[self.cells[self.leaves[:, 0], d]]
        used, of = np.unique(own, return_inverse=True)
        first = np.zeros(1, dtype=np.int64)
        keys = [
            _find_keys(attribute, np.flatnonzero(block == b), first)[0][0] for b in used
        ]
        yield slice(0, len(self)), keys, of.ravel().astype(np.int32)

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


def _blank_missing(labels: GroupLabels) -> GroupLabels:
    """Labels of which none tells a missing value from any value."""
    texts = labels.texts
    if None not in texts or ANY not in texts:
        return labels
    of = np.where(labels.of == texts.index(None), texts.index(ANY), labels.of)
    return _drop_unused(labels, of)


def _star_last(labels: GroupLabels) -> GroupLabels:
    """Labels of which the last group has the one that tells nothing."""
    texts, width = labels.texts, labels.width
    if ANY not in texts:
        texts, width = [*texts, ANY], np.append(width, WIDEST)
    of = np.append(labels.of[:-1], texts.index(ANY))
    return _drop_unused(GroupLabels(texts, of, width), of)


def _drop_unused(labels: GroupLabels, of: NDArray[Any]) -> GroupLabels:
    """Without texts that no group has: files name none of them."""
    used, new = np.unique(of, return_inverse=True)
    kept = [labels.texts[int(i)] for i in used]
    return GroupLabels(kept, new.astype(np.int32), labels.width[used])


# Labels -----------------------------------------------------------------------------

Key = int | bytes
"""What tells what a group shows: its ends, or the set of its positions."""

KeyBlock = tuple[slice, list[Key], NDArray[np.int32]]
"""Some groups, their different keys, and which of these each has."""

Runs = tuple[tuple[int, int], ...]
"""A set of positions: the first and last of each stretch of neighbours."""


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


def measure_range(attribute: OrderedDomain, positions: Ints) -> float:
    """How wide the label of a range of positions is."""
    return _label_range(attribute, positions)[1]


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
    text, positions = _choose_label(attribute, positions)
    if attribute.hidden and _names_hidden(attribute, positions):
        return ANY, WIDEST
    return text, _measure_width(attribute, positions)


def _list_runs(attribute: OrderedDomain, key: Key) -> Runs:
    """The positions a group's text stands for, all names aside."""
    if attribute.as_ranges:
        rest, high = divmod(int(key), len(attribute) + 1)
        missing, low = divmod(rest, len(attribute) + 1)
        return ((0, 0),) * missing + (((low, high),) if low <= high else ())
    if isinstance(key, bytes):
        positions = np.frombuffer(key, dtype=np.int64).tolist()
    else:
        positions = [p for p in range(key.bit_length()) if key >> p & 1]
    if attribute.kind == TREE and len(positions) > 1:
        positions = _find_below(attribute, positions).tolist()
    else:
        positions = _choose_label(attribute, positions)[1]
    found: list[tuple[int, int]] = []
    for p in positions:
        if found and found[-1][1] == p - 1:
            found[-1] = found[-1][0], p
        else:
            found.append((p, p))
    return tuple(found)


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
        several = len(_find_below(attribute, positions))
    return (several - 1) / (len(attribute) - 1)


def _find_below(attribute: OrderedDomain, positions: Sequence[int]) -> Ints:
    """All positions below the nodes that are named, not only the group's."""
    level = _find_level(attribute, positions)
    children = attribute.nodes[level]
    named = np.isin(children, children[list(positions)])
    if len(np.unique(children[named])) > MOST_NAMED:
        above = attribute.nodes[level + 1]
        named = above == above[positions[0]]
    return np.flatnonzero(named)


def _format_range(domain: Domain, missing: bool, low: int, high: int) -> str | None:
    if low > high:  # nobody has a value
        return None
    first, last = domain[low], domain[high]
    text = f"{first}" if low == high else f"[{first}, {last}]"
    return f"{MISSING} or {text}" if missing else text


def format_label(attribute: OrderedDomain, positions: Sequence[int]) -> str | None:
    """What a group shows whose people have the values at these positions."""
    return _choose_label(attribute, positions)[0]


def _choose_label(
    attribute: OrderedDomain, positions: Sequence[int]
) -> tuple[str | None, Sequence[int]]:
    """What a group shows, and the positions of all values that may mean."""
    if len(positions) == 1:
        (alone,) = positions
        text = None if attribute.texts[alone] is None else attribute.spelled[alone]
        return text, positions
    if attribute.kind == TREE:
        return _format_nodes(_find_nodes(attribute, positions)), positions
    if len(positions) == len(attribute):
        return ANY, positions
    inside = set(positions)
    others = [p for p in range(len(attribute)) if p not in inside]
    few = min(len(positions), len(others)) <= MOST_NAMED
    if few and not attribute.hidden.isdisjoint(others):
        few = len(positions) <= MOST_NAMED
        others = list(range(len(attribute)))
    if few and len(positions) <= len(others):
        return _format_set(attribute, positions), positions
    if few:
        return "not " + _format_set(attribute, others), positions
    return _format_beginnings(attribute, positions)


def _format_beginnings(
    attribute: OrderedDomain, positions: Sequence[int]
) -> tuple[str, Sequence[int]]:
    """How the values of a group begin; `*` where they have nothing in common."""
    texts = attribute.texts
    inside = [t for p in positions if (t := texts[p]) is not None]
    missing = len(inside) < len(positions)
    length = _count_common_letters(inside)
    if not length:
        return ANY, range(len(attribute))
    begin = sorted({t[:length] for t in inside})
    meant = [
        p
        for p, t in enumerate(texts)
        if (missing if t is None else t.startswith(tuple(begin)))
    ]
    if len(meant) == len(attribute):
        return ANY, meant
    text = f"{BEGINS} {_join_names([quote_value(b) for b in begin])}"
    return (f"{MISSING} or {text}" if missing else text), meant


def _count_common_letters(texts: Sequence[str]) -> int:
    """The most letters of texts of which there are few enough different ones."""
    low, high = 0, max(map(len, texts))
    while low < high:
        middle = (low + high + 1) // 2
        few = len({t[:middle] for t in texts}) <= MOST_NAMED
        low, high = (middle, high) if few else (low, middle - 1)
    return low


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
    whole = attribute.names[level + 1][above[positions[0]]]
    if len(own) == len(inside) and NOBODY not in found:
        return [whole]
    if len(found) <= MOST_NAMED:
        return found
    return [whole, NOBODY] if NOBODY in found and whole != ANY else [whole]


def format_node(name: str) -> str:
    """What is written for a node of a hierarchy."""
    return ANY if name == ANY else quote_value(name)


def _format_nodes(names: Sequence[str]) -> str:
    """One node by its name, several as a set."""
    if len(names) == 1:
        return format_node(names[0])
    named = sorted(quote_value(name) for name in names if name != NOBODY)
    return _join_names([*named, *([MISSING] if NOBODY in names else [])])


def _format_set(attribute: OrderedDomain, positions: Sequence[int]) -> str:
    names = attribute.spelled
    return _join_names(
        [names[p] for p in sorted(positions, key=attribute.rank.__getitem__)]
    )


def _join_names(names: Sequence[str]) -> str:
    return "{" + ", ".join(names) + "}"
