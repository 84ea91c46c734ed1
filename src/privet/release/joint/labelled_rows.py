"""The private rows, counted by what several releases show of them.

The steward counts once: how many people have each combination of raw values, where of
values that no release tells apart any one may stand for all. From that come the files
of all releases, and what somebody sees who can match their rows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from privet.errors import InputError
from privet.release.joint.outlines import Box, ReleaseOutline, ShownColumn, Value
from privet.release.joint.same_rows import JointColumn, Labels, SameRows

FUSED = "\x00"
"""Between the names of columns that boxes show as one."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """How many people have each combination of values."""

    columns: tuple[str, ...]
    """The columns that were counted."""
    values: tuple[tuple[Value, ...], ...]
    """For each column the raw values that occur; a code is a place in it."""
    rows: Mapping[Labels, int]
    """People by code of each column; a value may stand for those shown like it."""

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.values):
            raise InputError("Rows must have values for each of their columns.")

    def list_values(self, column: str) -> tuple[Value, ...]:
        """The raw values of a column."""
        return self.values[self.columns.index(column)]

    @property
    def people(self) -> int:
        """Everybody."""
        return sum(self.rows.values())

    def count_value(self, column: str, code: int) -> int:
        """Everybody who has a value."""
        at = self.columns.index(column)
        return sum(n for row, n in self.rows.items() if row[at] == code)


@dataclass(frozen=True, eq=False)
class PseudoTable:
    """One file of one release: the columns it tells together, row by row."""

    name: str
    columns: Mapping[str, ShownColumn]
    boxes: tuple[Box, ...] = ()


def split_files(release: ReleaseOutline) -> list[PseudoTable]:
    """A release as tables: one, or one per attribute of an untransformed classifier."""
    return [
        PseudoTable(
            release.name,
            {c: release.columns[c] for c in together},
            release.boxes if set(release.boxed) <= set(together) else (),
        )
        for together in release.told_together
    ]


@dataclass(frozen=True, eq=False)
class JointTable:
    """The rows as several files of them show each value."""

    source: LabelledRows
    files: tuple[PseudoTable, ...]

    @cached_property
    def boxed(self) -> tuple[str, ...]:
        """Columns that some groups show as boxes: they are one column here."""
        found = dict.fromkeys(c for f in self.files for b in f.boxes[:1] for c in b)
        return tuple(found)

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """All other columns that any file shows, and those counted besides."""
        return tuple(c for c in self.source.columns if c not in self.boxed)

    @cached_property
    def columns(self) -> tuple[JointColumn, ...]:
        """Each column as all files show it; boxed columns last, as one."""
        found = [
            JointColumn(c, tuple(self._label_column(f, c) for f in self.files))
            for c in self.plain
        ]
        return (*found, self._fused) if self.boxed else tuple(found)

    def _label_column(self, file: PseudoTable, column: str) -> Labels:
        values = self.source.list_values(column)
        if column not in file.columns:
            return (0,) * len(values)
        return file.columns[column].label_values(values)

    # Boxes --------------------------------------------------------------------------

    @cached_property
    def _areas(self) -> list[dict[tuple[object, ...], Labels]]:
        """For each file, the labels of the boxed columns that occur, and the codes
        they allow: one set per column, as a bit mask.
        """
        return [self._find_areas(f) for f in self.files]

    def _find_areas(self, file: PseudoTable) -> dict[tuple[object, ...], Labels]:
        """Each box with each label of the boxed columns that it says nothing of.

        A column of another file's boxes may be shown as it is here, or not at all.
        """
        inside = tuple(file.boxes[0]) if file.boxes else ()
        labels = {c: self._label_column(file, c) for c in self.boxed if c not in inside}
        shown = {self._pick(row, labels) for row in self.source.rows}
        found: dict[tuple[object, ...], Labels] = {}
        for i, box in enumerate(file.boxes or ({},)):
            for key in shown:
                own = dict(zip(labels, key, strict=True))
                found[(i, *key)] = tuple(
                    _mask_label(labels[c], own[c])
                    if c in own
                    else self._mask(c, box[c])
                    for c in self.boxed
                )
        return found

    def _pick(self, row: Labels, labels: Mapping[str, Labels]) -> Labels:
        at = map(self.source.columns.index, labels)
        return tuple(of[row[i]] for i, of in zip(at, labels.values(), strict=True))

    def _mask(self, column: str, allowed: Sequence[Value]) -> int:
        inside = set(allowed)
        values = self.source.list_values(column)
        return sum(1 << code for code, v in enumerate(values) if v in inside)

    @cached_property
    def _links(self) -> list[tuple[tuple[object, ...], ...]]:
        """Every way in which a tuple of values may be shown by all files at once."""
        found: list[tuple[tuple[tuple[object, ...], ...], Labels]] = [
            ((), tuple((1 << len(self.source.list_values(c))) - 1 for c in self.boxed))
        ]
        for areas in self._areas:
            found = [
                ((*keys, key), shared)
                for keys, allowed in found
                for key, area in areas.items()
                if all(
                    shared := tuple(a & b for a, b in zip(allowed, area, strict=True))
                )
            ]
        return [keys for keys, _ in found]

    @cached_property
    def _fused(self) -> JointColumn:
        numbers = [{key: i for i, key in enumerate(areas)} for areas in self._areas]
        return JointColumn(
            FUSED.join(self.boxed),
            tuple(
                tuple(number[keys[k]] for keys in self._links)
                for k, number in enumerate(numbers)
            ),
        )

    @cached_property
    def has_nested_boxes(self) -> bool:
        """Whether in each block one of two files shows a single label.

        Then only do people meet as in a shuffle, however many raw tuples a box holds.
        """
        if not self.boxed:
            return True
        column = self._fused
        for block in set(column.blocks):
            shown = [{s for s, b in of.items() if b == block} for of in column.block_of]
            if min(map(len, shown)) > 1:
                return False
        return len(self.files) <= 2

    def _find_link(self, row: Labels) -> int | None:
        """Which link a raw row lies on; None if a box overlaps with another."""
        keys: list[tuple[object, ...]] = []
        at = [self.source.columns.index(c) for c in self.boxed]
        for file, areas in zip(self.files, self._areas, strict=True):
            fits = [
                key
                for key, area in areas.items()
                if all(mask >> row[i] & 1 for mask, i in zip(area, at, strict=True))
            ]
            if len(fits) != 1:
                raise InputError(
                    f"Each row must lie in one group of {file.name!r}; one lies in "
                    f"{len(fits)}."
                )
            keys.append(fits[0])
        return self._link_number[tuple(keys)]

    @cached_property
    def _link_number(self) -> dict[tuple[tuple[object, ...], ...], int]:
        return {keys: i for i, keys in enumerate(self._links)}

    # Counts -------------------------------------------------------------------------

    @cached_property
    def rows(self) -> Counter[Labels]:
        """People by raw value of each column of `columns`."""
        at = [self.source.columns.index(c) for c in self.plain]
        found: Counter[Labels] = Counter()
        fused: dict[Labels, Labels] = {}
        for row, n in self.source.rows.items():
            plain = tuple(row[i] for i in at)
            if self.boxed:
                if row not in fused:
                    link = self._find_link(row)
                    assert link is not None
                    fused[row] = (link,)
                plain += fused[row]
            found[plain] += n
        return found

    @cached_property
    def same_rows(self) -> SameRows:
        """The files, as counts of labels."""
        shown: list[Counter[Labels]] = [Counter() for _ in self.files]
        for row, n in self.rows.items():
            for k, file in enumerate(shown):
                labels = (
                    c.labels[k][v] for c, v in zip(self.columns, row, strict=True)
                )
                file[tuple(labels)] += n
        return SameRows(self.columns, tuple(shown))

    def place_known(self, known: Sequence[str]) -> tuple[str, ...]:
        """The names of known columns here; boxed ones must all be known."""
        boxed = [c for c in known if c in self.boxed]
        if boxed and set(boxed) != set(self.boxed):
            raise InputError("Of columns shown as boxes all must be known, or none.")
        plain = tuple(c for c in known if c not in self.boxed)
        return (*plain, FUSED.join(self.boxed)) if boxed else plain

    def list_persons(
        self, known: Sequence[str], about: str
    ) -> Iterator[tuple[Labels, int, dict[int, Fraction]]]:
        """One person of each group of matched rows: the known values, how many look
        like that, and what somebody believes who can match rows.
        """
        names = [c.name for c in self.columns]
        at, asked = [names.index(c) for c in known], names.index(about)
        together = list(zip(*self.columns[asked].labels, strict=True))
        shared, groups = Counter(together), {}
        for row, n in self.rows.items():
            key = tuple(self._show(i, row[i]) for i in at)
            if key not in groups:
                groups[key] = tuple(row[i] for i in at), Counter[Labels]()
            groups[key][1][together[row[asked]]] += n
        alike: dict[Labels, list[int]] = defaultdict(list)
        for value, shown in enumerate(together):
            alike[shown].append(value)
        for values, group in groups.values():
            whole = group.total()
            # Raw values that no file tells apart share their people equally.
            yield (
                values,
                whole,
                {
                    v: Fraction(n, whole * shared[s])
                    for s, n in group.items()
                    for v in alike[s]
                },
            )

    def _show(self, i: int, value: int) -> Labels:
        return tuple(s[value] for s in self.columns[i].labels)


def _mask_label(labels: Labels, label: int) -> int:
    """The codes that a label stands for, as a bit mask."""
    return sum(1 << code for code, s in enumerate(labels) if s == label)
