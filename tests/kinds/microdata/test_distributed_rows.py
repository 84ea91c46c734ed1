"""Groups that machines cut where the cells are: those that one machine arrives at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.tables import PLACES, People, opened
from privet.engine.protocol import CountQuery, CountUnit, Run
from privet.engine.remote.partitioned_counts import (
    LeafBlocks,
    LeafLabels,
    LeafWork,
    Lines,
    PairCounter,
    PartitionedCounts,
    SplitTree,
    Take,
    Work,
)
from privet.microdata.generalisation import distributed_rows, mondrian
from privet.microdata.generalisation.partition import Partition

JOBS = ["Cook", "Judge", "Trader", "Nurse", "Clerk", None]
ILLS = ["flu", "flu", "flu", "cold", "hiv", None]
KINDS = ("text", "integer", "date", "text", "text", "integer")
NAMES = [f"{kind} {i}" for i, kind in enumerate(KINDS)]
ROLES: dict[str, Any] = {
    "quasi": NAMES[:3],
    "sensitive": NAMES[3],
    "target": NAMES[4],
    "weight": NAMES[5],
}


def some_people(rows: int, seed: int) -> People:
    from datetime import date

    rng = Random(seed)
    days = [date(2024, 1, d) for d in range(1, 20)]
    return People(
        KINDS,
        [
            (
                rng.choice(JOBS),
                rng.choice([None, *range(18, 60)]),
                rng.choice(days),
                rng.choice(ILLS),
                rng.choice(["yes", "no"]),
                rng.randrange(1, 4),
            )
            for _ in range(rows)
        ],
    )


STATED: dict[str, Sequence[pv.Promise | pv.Measure]] = {
    "linker": [pv.Promise(pv.Linker(NAMES[:2]), pv.Ceiling("3/5"), NAMES[3])],
    "k": [pv.Measure(k_anonymity=7)],
    "several": [
        pv.Promise(pv.Linker(NAMES[:3]), pv.Ceiling("1/2"), {NAMES[3]: "hiv"}),
        pv.Promise(pv.Insider(rules_out=1), pv.Ceiling("9/10"), NAMES[3]),
        pv.Measure(k_anonymity=4),
    ],
    "companions": [pv.Promise(pv.Insider(same_as=1), pv.Ceiling("9/10"), NAMES[3])],
}


# Machines in this process ------------------------------------------------------------


class Machines:
    """An engine whose lines are kept in some batches, as if by several machines."""

    def __init__(self, table: pv.Table) -> None:
        self._table = table
        self.held: Kept | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table.engine, name)

    def hold(
        self, columns: Sequence[str], amount: CountUnit, recodings: Any, run: Run
    ) -> PartitionedCounts:
        domains = self._table.domains(list(columns))
        tally = CountQuery(tuple(columns[:-1]), columns[-1])
        ((_, g),) = self._table.count([tally])
        keys = dict(zip((d.name for d in g.by), g.keys.columns(), strict=True))
        codes = [keys[c][g.group] for c in columns[:-1]]
        order = np.random.default_rng(5).permutation(len(g.n))
        lines = np.column_stack([*codes, g.value, g.n])[order]
        self.held = Kept(lines, [len(domains[c]) for c in columns])
        return self.held


class Kept(PartitionedCounts):
    def __init__(self, lines: Any, sizes: Sequence[int]) -> None:
        super().__init__(sizes)
        self.lines, self.people = len(lines), int(lines[:, -1].sum())
        self.closed, self.handed_over = 0, 0
        named = {f"h{j}": pa.array(column) for j, column in enumerate(lines.T)}
        self._batches = pa.table(named).to_batches(max_chunksize=17)

    def _partitions(self) -> Iterator[list[pa.RecordBatch]]:
        for i in range(3):
            yield self._batches[i::3]

    def _count_pairs(self, look: PairCounter, run: Run) -> pa.Table:
        told = [b for p in self._partitions() for b in look(p)]
        whole = pa.Table.from_batches(told).group_by(["pair", "key"])
        summed = whole.aggregate([("n", "sum"), ("lines", "sum")])
        return summed.rename_columns({"n_sum": "n", "lines_sum": "lines"})

    def map_leaves(
        self, tree: SplitTree, wanted: Sequence[int], work: Work, run: Run
    ) -> Any:
        look = self._select_leaves(tree, wanted)
        parts = [b for p in self._partitions() for b in LeafLabels(look)(p)]
        whole = pa.Table.from_batches(parts)
        found = []
        for i, leaf in enumerate(wanted):
            own = whole.filter(pa.compute.equal(whole["leaf"], i))
            (block,) = LeafWork(look.width, work)(own).to_pylist()
            self.handed_over += 1
            found.append((leaf, block["lines"], block["told"]))
        return Done(found, len(self.sizes) + 1)

    def fetch_blocks(
        self, tree: SplitTree | None, wanted: Sequence[int], run: Run, take: Take
    ) -> None:
        look = LeafBlocks(self._select_leaves(tree, wanted))
        for batch in (b for p in self._partitions() for b in look(p)):
            for row in batch.to_pylist():
                take(wanted[row["leaf"]], _lines(row["lines"], len(self.sizes) + 1))

    def close(self) -> None:
        self.closed += 1


class Done:
    def __init__(self, found: list[tuple[int, bytes, bytes]], width: int) -> None:
        self._found, self._width = found, width

    def fetch_results(self, run: Run) -> dict[int, bytes]:
        return {leaf: told for leaf, _, told in self._found}

    def fetch_blocks(self, run: Run, take: Take) -> None:
        for leaf, lines, _ in self._found:
            take(leaf, _lines(lines, self._width))

    def close(self) -> None:
        pass


def _lines(text: bytes, width: int) -> Lines:
    return np.frombuffer(text, dtype=np.int32).reshape(-1, width)


# The same groups ---------------------------------------------------------------------


def shown(partition: Partition) -> list[Any]:
    """Every group: what it shows, its people, and its cells in any order."""
    texts = [[labels.texts[i] for i in labels.of] for labels in partition.labels]
    found = []
    for i, (start, stop, people) in enumerate(partition.leaves.tolist()):
        cells = sorted(map(tuple, partition.cells[start:stop].tolist()))
        found.append((tuple(t[i] for t in texts), people, cells))
    return found


@pytest.mark.parametrize(
    ("stated", "utility", "at_once"),
    [
        ("linker", "ncp", 40),
        ("k", "ncp", 40),
        ("several", "ncp", 1),
        ("several", "ncp", 30),
        ("several", "information", 30),
        ("several", "information", 10_000),
        ("companions", "ncp", 40),
    ],
)
def test_the_groups_are_the_same(
    stated: str,
    utility: str,
    at_once: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mondrian, "AT_ONCE", at_once)
    monkeypatch.setattr(distributed_rows, "AT_ONCE", at_once)
    promises = [p for p in STATED[stated] if isinstance(p, pv.Promise)]
    measures = [p for p in STATED[stated] if isinstance(p, pv.Measure)]
    method = pv.Mondrian(utility=utility)
    found = []
    with opened(some_people(150, 4), "arrow", tmp_path, **ROLES) as table:
        machines = Machines(table)
        for engine, here in ((table.engine, 0), (machines, 10)):
            monkeypatch.setattr(distributed_rows, "HERE", here)
            own = replace(table, engine=engine)
            prepared = method.prepare(own, promises, measures, Run())
            partition, refined = method.group(own, prepared)
            found.append((shown(partition), partition.tree.tolist(), refined.steps))
    assert machines.held is not None
    assert machines.held.closed == 1
    local = stated != "companions"
    assert (machines.held.handed_over > 0) == (local and at_once > 1)
    assert found[0] == found[1]
    assert len(found[0][0]) > 5


def test_few_cells_are_brought_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed_rows, "HERE", 100)
    with opened(some_people(300, 4), "arrow", tmp_path, **ROLES) as table:
        few = replace(table, engine=Machines(table))
        few = few.with_roles(attrs.evolve(table.roles, quasi=NAMES[:1], target=None))
        found = distributed_rows.hold_distinct_rows(few, [NAMES[0], NAMES[3]], Run())
        assert not isinstance(found, distributed_rows.DistributedRows)
        assert found is not None
        assert sum(r[-1] for r in some_people(300, 4).rows) == found.people


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("stated", ["several", "companions"])
def test_places_cut_or_hand_over(
    kind: str, stated: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed_rows, "HERE", 10)
    monkeypatch.setattr(distributed_rows, "AT_ONCE", 60)
    known = [*NAMES[:3], NAMES[4]]
    whole = pv.Promise(pv.Linker(known), pv.Ceiling("9/10"), NAMES[3])
    people, found = some_people(200, 6), []
    for where in ("arrow", kind):
        with opened(people, where, tmp_path, **ROLES) as table:
            release = pv.publish(table, [*STATED[stated], whole], method=pv.Mondrian())
            release.write(tmp_path / where, custody=tmp_path / f"vault {where}")
            rows = pq.read_table(tmp_path / where / "table.parquet").to_pylist()
            said = [f.to_dict() for f in release.audit.findings]
            found.append((said, sorted(map(str, rows))))
    assert found[0] == found[1]
