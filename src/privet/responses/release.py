"""Responses: rows disguised by randomized response, and the design behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import Run
from privet.engine.randomise.randomise_rows import Cells
from privet.errors import InputError
from privet.responses.design import Design, MarginalChannel, Question
from privet.table import Table, require_columns
from privet.values.exact import fraction

MOST_CELLS = 2**22
"""Cells of a table of shares that is held in memory."""


@dataclass(frozen=True, eq=False)
class Responses:
    """What a collector holds: rows in which nobody's answer can be relied on."""

    rows: Table
    """The disguised rows."""
    design: Design
    """How they were disguised."""
    manifest: dict[str, Any] = field(default_factory=dict, repr=False)
    """The public document, where the rows come from a release."""

    def __post_init__(self) -> None:
        require_columns(self.design.columns, self.rows.schema, "the design")
        if self.rows.roles.weight or self.rows.roles.unit:
            raise InputError("Disguised rows must stand for one answer each.")

    def __repr__(self) -> str:
        asked = ", ".join(self.design.columns)
        return f"Responses({self.rows.words}: {asked})"

    def close(self) -> None:
        """Let go of the rows."""
        self.rows.close()

    def counts(
        self, sets: Sequence[Sequence[MarginalChannel]], run: Run | None = None
    ) -> list[NDArray[np.int64]]:
        """How often each combination was reported: one axis per piece, for each set."""
        columns = [[c for p in pieces for c in p.columns] for pieces in sets]
        for pieces in sets:
            _refuse_large(pieces)
        found = self.rows.engine.tabulate(columns, run or Run())
        return [
            self._fill_tensor(pieces, names, cells)
            for pieces, names, cells in zip(sets, columns, found, strict=True)
        ]

    def _fill_tensor(
        self, pieces: Sequence[MarginalChannel], columns: Sequence[str], cells: Cells
    ) -> NDArray[np.int64]:
        questions = [self.design.question(c) for c in columns]
        counts = np.zeros([len(q) for q in questions], dtype=np.int64)
        for values, n in cells:
            if self.design.one_of and None in values:
                continue  # this row was asked something else
            at = [find_code(q, v) for q, v in zip(questions, values, strict=True)]
            if None in at:
                _refuse_value(questions[at.index(None)])
            counts[tuple(at)] += n
        return counts.reshape([p.size for p in pieces])


def find_code(question: Question, text: str | None) -> int | None:
    """The place of a text among the values, also as another spelling of a number."""
    try:
        return question.code(text)
    except InputError:
        pass
    try:
        number = fraction(text)  # type: ignore[arg-type]
    except InputError:
        return None
    for i, value in enumerate(question.values):
        try:
            if fraction(value) == number:
                return i
        except InputError:
            continue
    return None


def _refuse_value(question: Question) -> None:
    raise InputError(
        f"Column {question.name!r} must hold the values its design declares, and no "
        "others; it holds another one, or a missing one. Is this the disguised file?"
    )


def _refuse_large(pieces: Sequence[MarginalChannel]) -> None:
    cells = 1
    for piece in pieces:
        cells *= piece.size
    if cells > MOST_CELLS:
        from privet.errors import TooLarge

        raise TooLarge(
            f"Shares of {cells:,} combinations are not estimable at once; ask about "
            "fewer columns."
        )
