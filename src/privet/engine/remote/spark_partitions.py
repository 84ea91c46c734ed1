"""Partitioned counts on Spark: lines that executors keep, and what they do to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from privet.engine.protocol import Run
from privet.engine.remote.partitioned_counts import (
    BLOCKS,
    LeafBlocks,
    LeafLabels,
    LeafWork,
    PairCounter,
    PartitionedCounts,
    SplitTree,
    Take,
    Work,
)
from privet.engine.run import DoesNotFit
from privet.errors import TooLarge

if TYPE_CHECKING:
    from privet.engine.remote.spark import Spark

MOST_SUMS = 8_000_000
"""Sums that come to the driver at once."""


class SparkPartitionedCounts(PartitionedCounts):
    """Lines of a DataFrame that is kept in the memory and on the disks of executors."""

    def __init__(self, connection: Spark, frame: Any, sizes: Sequence[int]) -> None:
        super().__init__(sizes)
        self._connection = connection
        names = [f"h{j}" for j in range(len(self.sizes) + 1)]
        self._frame = frame.toDF(*names).persist()
        people = names[-1]
        total = self._frame.selectExpr("count(*) AS lines", f"sum({people}) AS people")
        found = total.toArrow()
        self.lines = int(found["lines"][0].as_py())
        self.people = int(found["people"][0].as_py() or 0)

    def close(self) -> None:
        """Let the executors forget the lines."""
        self._frame.unpersist()

    def _count_pairs(self, look: PairCounter, run: Run) -> pa.Table:
        def ask() -> pa.Table:
            from pyspark.sql import functions as f

            schema = "pair INT, key BIGINT, n BIGINT, lines BIGINT"
            told = self._frame.mapInArrow(look, schema)
            sums = told.groupBy("pair", "key").agg(
                f.sum("n").alias("n"), f.sum("lines").alias("lines")
            )
            found = sums.limit(MOST_SUMS + 1).toArrow()
            if len(found) > MOST_SUMS:
                raise DoesNotFit
            return found

        try:
            return self._run_watched(ask, run, "counting parts")
        except DoesNotFit:
            raise TooLarge(
                f"Two columns must have at most {MOST_SUMS:,} combinations of values "
                "where machines cut parts of the table; there are more. Put one of "
                "them into bins."
            ) from None

    def map_leaves(
        self, tree: SplitTree, wanted: Sequence[int], work: Work, run: Run
    ) -> SparkLeafResults:
        """Do something to each of some leaves, by the executors, all at once."""
        look = self._select_leaves(tree, wanted)
        columns = ", ".join(f"h{j} INT" for j in range(look.width + 1))
        parted = self._frame.mapInArrow(LeafLabels(look), f"leaf INT, {columns}")
        working = LeafWork(look.width, work)

        def apply_work(part: pa.Table) -> pa.Table:  # Spark counts its arguments
            return working(part)

        made = parted.groupBy("leaf").applyInArrow(apply_work, BLOCKS)
        return SparkLeafResults(self, made.persist(), tuple(wanted))

    def fetch_blocks(
        self, tree: SplitTree | None, wanted: Sequence[int], run: Run, take: Take
    ) -> None:
        """Hand over the lines of some leaves, partition by partition."""
        made = self._frame.mapInArrow(
            LeafBlocks(self._select_leaves(tree, wanted)), BLOCKS
        )
        self._hand_over(made, wanted, run, take)

    def _hand_over(
        self, frame: Any, wanted: Sequence[int], run: Run, take: Take
    ) -> None:
        def work() -> None:
            for row in frame.select("leaf", "lines").toLocalIterator():
                lines = np.frombuffer(row["lines"], dtype=np.int32)
                take(wanted[row["leaf"]], lines.reshape(-1, len(self.sizes) + 1))

        self._run_watched(work, run, "fetching parts")

    def _run_watched(self, work: Callable[[], Any], run: Run, doing: str) -> Any:
        return self._connection.run_watched(
            partial(self._connection.run_tagged, work), run, doing
        )


class SparkLeafResults:
    """What executors did to parts; they keep it until it was fetched."""

    def __init__(
        self, kept: SparkPartitionedCounts, frame: Any, wanted: tuple[int, ...]
    ) -> None:
        self._kept = kept
        self._frame = frame
        self._wanted = wanted

    def fetch_results(self, run: Run) -> dict[int, bytes]:
        """What the work told of each leaf."""

        def ask() -> dict[int, bytes]:
            found = self._frame.select("leaf", "told").toArrow()
            leaves = found["leaf"].to_pylist()
            texts = found["told"].to_pylist()
            return {self._wanted[i]: t for i, t in zip(leaves, texts, strict=True)}

        made: dict[int, bytes] = self._kept._run_watched(ask, run, "cutting parts")
        return made

    def fetch_blocks(self, run: Run, take: Take) -> None:
        """Hand over the lines of every leaf, in the order the work gave them."""
        self._kept._hand_over(self._frame, self._wanted, run, take)

    def close(self) -> None:
        """Let the executors forget it."""
        self._frame.unpersist()
