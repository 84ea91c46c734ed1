"""A private table as another program gets it: codes in place of values.

Every known value is called by its place (`v17`), every sensitive one too; levels of
hierarchies have names of our own. So no text of a cell leaves this process, and what
comes back needs no parsing: a name stands for the values it was given for. Numbers of
known columns are handed over as numbers, since programs cut them into ranges.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privet.comparison.counted_rows import RowCounts, count_distinct
from privet.engine.protocol import Run
from privet.errors import InputError
from privet.microdata.full_domain.automatic_hierarchies import build_hierarchy
from privet.microdata.generalisation.domain_order import (
    order_by_hierarchy,
    parse_number,
)
from privet.policy import Policy
from privet.table import Table
from privet.values.arrays import Floats, Ints
from privet.values.contingency import Domain
from privet.values.hierarchies import Hierarchy

NUMBERS = ("integer", "number", "date", "datetime")

MOST_ROWS = 5_000_000
"""Rows that are handed over at the most."""

MOST_NODES = 1_000_000
"""Names of levels, likewise."""


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """A column that may be known, with the levels above its values."""

    domain: Domain
    """Its values."""
    levels: tuple[Ints, ...]
    """The node above each value, a line per level, the values themselves first."""
    numbers: Floats | None
    """The number of each value; None: it has no numbers, or some are missing."""

    def name_places(self, level: int) -> list[str]:
        """What each value is called at a level."""
        letter = "v" if level == 0 else f"l{level}n"
        return [f"{letter}{node}" for node in self.levels[level].tolist()]

    def list_meanings(self) -> dict[str, tuple[int, ...]]:
        """The values that each name stands for."""
        found: dict[str, list[int]] = {}
        for level in range(len(self.levels)):
            for place, name in enumerate(self.name_places(level)):
                found.setdefault(name, []).append(place)
        return {name: tuple(places) for name, places in found.items()}


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Everything that is handed over, and what it takes to read the answer."""

    known: tuple[KnownColumn, ...]
    """The columns that may be known."""
    rows: RowCounts
    """All published columns, the known ones first; one line per row."""
    about: int
    """Which of them is the sensitive one that measures look at; -1: none."""

    @classmethod
    def build(cls, table: Table, policy: Policy, about: str | None) -> CodedTable:
        """The rows that a policy means, as codes."""
        roles, run = table.roles, Run()
        if not roles.quasi:
            raise InputError("A table must have quasi columns to be put into groups.")
        if roles.unit:  # whose rows are in several groups is not counted by rows
            raise InputError(
                "A table must have one row per person for other programs; unit "
                f"{roles.unit!r} says it may have several."
            )
        left_out = {*roles.withheld, roles.unit, roles.weight}
        rest = [
            c for c in table.schema.names if c not in left_out and c not in roles.quasi
        ]
        names = [*roles.quasi, *rest]
        counted = count_distinct(table, names, run)
        total = int(counted.n.sum())
        if total > MOST_ROWS:
            raise InputError(
                f"A table must have at most {MOST_ROWS:,} rows for other programs; "
                f"it has {total:,}."
            )
        line = np.repeat(np.arange(len(counted.n)), counted.n)
        rows = RowCounts(
            counted.domains,
            tuple(c[line] for c in counted.codes),
            np.ones(total, dtype=np.int64),
        )
        files = policy.hierarchy_files()
        known = tuple(
            _describe_known(d, table, files) for d in rows.domains[: len(roles.quasi)]
        )
        return cls(known, rows, names.index(about) if about in names else -1)

    def write(self, folder: Path, asked: Mapping[str, Any]) -> None:
        """The rows, the levels, and what is asked for."""
        heads = [f"q{i}" for i in range(len(self.known))]
        names = [np.array(c.name_places(0), dtype=object) for c in self.known]
        cells = [
            name[code]
            for name, code in zip(names, self.rows.codes, strict=False)  # known first
        ]
        secret = (
            self.rows.codes[self.about] if self.about >= 0 else self.rows.n * 0
        ).tolist()
        with (folder / "rows.csv").open("w", encoding="ascii", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*heads, "s"])
            writer.writerows(zip(*cells, (f"s{v}" for v in secret), strict=True))
        for head, column in zip(heads, self.known, strict=True):
            _write_levels(folder / f"{head}.csv", column)
        numbers = [
            None if c.numbers is None else [float(v) for v in c.numbers]
            for c in self.known
        ]
        request = {**asked, "quasi": heads, "numbers": numbers}
        (folder / "request.json").write_text(json.dumps(request), encoding="ascii")
        _write_properties(folder / "request.properties", asked, heads)


def _describe_known(
    domain: Domain, table: Table, files: Mapping[str, Path]
) -> KnownColumn:
    name, bins = domain.name, table.roles.bins.get(domain.name)
    hierarchy = (
        Hierarchy.load(files[name])
        if name in files
        else build_hierarchy(domain, (), bins)
    )
    hierarchy.require(iter(domain.labels), name)
    ordered = order_by_hierarchy(domain, hierarchy)
    above = tuple(line[ordered.position].astype(np.int64) for line in ordered.nodes[1:])
    if len(domain) * (1 + len(above)) > MOST_NODES:
        raise InputError(
            f"Column {name!r} must have fewer values to be handed to other programs."
        )
    levels = (np.arange(len(domain)), *above)
    return KnownColumn(domain, levels, _read_numbers(domain, bins is not None))


def _read_numbers(domain: Domain, binned: bool) -> Floats | None:
    if binned:  # bins are in their order
        return np.arange(len(domain)).astype(np.float64)
    if domain.kind not in NUMBERS or None in domain.labels:
        return None
    found = np.array([parse_number(str(v), domain.kind) for v in domain.labels])
    return found if bool(np.isfinite(found).all()) else None


def _write_levels(path: Path, column: KnownColumn) -> None:
    lines = [column.name_places(level) for level in range(len(column.levels))]
    with path.open("w", encoding="ascii", newline="") as file:
        csv.writer(file, delimiter=";").writerows(zip(*lines, strict=True))


def _write_properties(
    path: Path, asked: Mapping[str, Any], heads: Sequence[str]
) -> None:
    """The same for Java, which reads no JSON by itself."""
    lines = [f"{k}={'' if v is None else v}" for k, v in asked.items()]
    path.write_text("\n".join([*lines, f"quasi={','.join(heads)}", ""]), "ascii")
