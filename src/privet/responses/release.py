"""Responses: rows disguised by randomized response, and the design behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.display import Reportable
from privet.engine.protocol import Run
from privet.engine.randomise.randomise_rows import Cells
from privet.engine.scratch import ScratchFolder
from privet.errors import InputError, TooLarge
from privet.release.commit.released_rows import ReleasedRows, StoredRows, store_table
from privet.release.history import History
from privet.responses.design import Design, MarginalChannel, Question
from privet.table import Table, require_columns
from privet.values.exact import fraction

MOST_CELLS = 2**22
"""Cells of a table of shares that is held in memory."""


@dataclass(frozen=True, eq=False)
class Responses(ReleasedRows, Reportable):
    """What a collector holds: rows in which nobody's answer can be relied on."""

    rows: Table
    """The disguised rows."""
    design: Design
    """How they were disguised."""
    manifest: dict[str, Any] = field(default_factory=dict, repr=False)
    """The public document, where the rows come from a release."""
    history: History | None = field(default=None, repr=False)
    """What earlier releases add; None once loaded from public files."""
    _checked: list[bool] = field(default_factory=list, init=False, repr=False)
    """Whether rows were found to answer one group each, where one is asked."""

    def __post_init__(self) -> None:
        require_columns(self.design.columns, self.rows.schema, "the design")
        if self.rows.roles.weight or self.rows.roles.unit:
            raise InputError("Disguised rows must stand for one answer each.")

    def __repr__(self) -> str:
        asked = ", ".join(self.design.columns)
        return f"Responses({self.rows.words}: {asked})"

    def to_dict(self) -> dict[str, Any]:
        """For machines: how the rows were disguised; no answer of anybody."""
        return {"kind": "responses", "design": self.design.to_dict()}

    def close(self) -> None:
        """Let go of the rows."""
        self.rows.close()

    @cached_property
    def _stored(self) -> StoredRows:
        """The disguised rows as they are; nothing is drawn again."""
        scratch = ScratchFolder()
        try:
            path = store_table(self.rows, scratch, "table")
        except BaseException:
            scratch.close()
            raise
        return StoredRows({"table": path}, scratch)

    def _store_rows(self) -> StoredRows:
        return self._stored

    def count_beyond(self, run: Run | None = None) -> int:
        """Rows that answer more than was asked of one person, or less.

        Where one group is drawn for each, a row that answers two of them tells more
        than the design says.
        """
        if not self.design.one_of:
            return 0
        secret = [c for c in self.design.columns if c not in self.design.public]
        asked = {frozenset(g.columns) for g in self.design.drawn}
        (cells,) = self.rows.engine.tabulate([secret], run or Run())
        return sum(
            n
            for values, n in cells
            if frozenset(
                c for c, v in zip(secret, values, strict=True) if v is not None
            )
            not in asked
        )

    def _require_one_group(self, run: Run | None) -> None:
        if self._checked:
            return
        if beyond := self.count_beyond(run):
            raise InputError(
                "Every row must answer one group of the design's questions; "
                f"{beyond:,} answer more than one, or none. Is this the disguised file?"
            )
        self._checked.append(True)

    def counts(
        self, sets: Sequence[Sequence[MarginalChannel]], run: Run | None = None
    ) -> list[NDArray[np.int64]]:
        """How often each combination was reported: one axis per piece, for each set."""
        columns = [[c for p in pieces for c in p.columns] for pieces in sets]
        for pieces in sets:
            _refuse_large(pieces)
        self._require_one_group(run)
        found = self.rows.engine.tabulate(columns, run or Run())
        return [
            self._fill_tensor(pieces, names, cells)
            for pieces, names, cells in zip(sets, columns, found, strict=True)
        ]

    def _fill_tensor(
        self, pieces: Sequence[MarginalChannel], columns: Sequence[str], cells: Cells
    ) -> NDArray[np.int64]:
        questions = [self.design.question(c) for c in columns]
        return self._fill_cells(questions, cells).reshape([p.size for p in pieces])

    def count_columns(
        self, sets: Sequence[Sequence[str]], run: Run | None = None
    ) -> list[NDArray[np.int64]]:
        """How often each combination of values was reported: one axis per column."""
        for columns in sets:
            refuse_many_cells(self.design.size(columns))
        self._require_one_group(run)
        found = self.rows.engine.tabulate([list(s) for s in sets], run or Run())
        return [
            self._fill_cells([self.design.question(c) for c in columns], cells)
            for columns, cells in zip(sets, found, strict=True)
        ]

    def list_distinct(
        self, columns: Sequence[str], run: Run | None = None
    ) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
        """Every row that was reported, once, by its codes; and how often it was."""
        self._require_one_group(run)
        (cells,) = self.rows.engine.tabulate([list(columns)], run or Run())
        texts = list(zip(*(values for values, _ in cells), strict=True))
        texts = texts or [()] * len(columns)
        # Where one group is asked of each person, the others are missing: -1.
        skip = self.design.one_of
        found = {
            c: _find_codes(self.design.question(c), t, skip=skip)
            for c, t in zip(columns, texts, strict=True)
        }
        return found, np.array([n for _, n in cells], dtype=np.int64)

    def _fill_cells(
        self, questions: Sequence[Question], cells: Cells
    ) -> NDArray[np.int64]:
        if self.design.one_of:  # other rows were asked something else
            cells = [(values, n) for values, n in cells if None not in values]
        counts = np.zeros([len(q) for q in questions], dtype=np.int64)
        if not cells:
            return counts
        texts = zip(*(values for values, _ in cells), strict=True)
        at = [_find_codes(q, list(t)) for q, t in zip(questions, texts, strict=True)]
        # Another spelling of a number is the same value: cells may meet.
        np.add.at(counts, tuple(at), np.array([n for _, n in cells]))
        return counts


def _find_codes(
    question: Question, texts: Sequence[str | None], *, skip: bool = False
) -> NDArray[np.int64]:
    """The places of many texts among the values; each text is looked up once."""
    places = {text: find_code(question, text) for text in dict.fromkeys(texts)}
    if skip and None in places:
        places[None] = -1
    if None in places.values():
        _refuse_value(question)
    return np.array([places[text] for text in texts], dtype=np.int64)


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
    refuse_many_cells(cells)


def refuse_many_cells(cells: int) -> None:
    """Refuse a table that would not fit into memory."""
    if cells > MOST_CELLS:
        raise TooLarge(
            f"Shares of {cells:,} combinations are not estimable at once; ask about "
            "fewer columns."
        )
