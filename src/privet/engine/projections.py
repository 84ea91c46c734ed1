"""Some columns of an engine's rows, as statements of its DuckDB session call them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from privet.engine.counting.weights import check_weights
from privet.engine.dictionaries import Dictionaries, Dictionary
from privet.engine.duckdb.session import Session
from privet.engine.protocol import NameList, Recodings, Run
from privet.engine.sources.source import Source
from privet.values.schema import Column


@dataclass(eq=False)
class Projection:
    """How statements call the columns of a source, and how their values are shown."""

    session: Session
    """Where statements run."""
    columns: Sequence[Column]
    """All columns of the source."""
    source: Source
    """Where the rows come from."""
    dictionaries: Dictionaries
    """The codes of values."""

    people = "pv_people"
    """The rows."""
    holds_codes = False
    """Whether rows hold codes instead of values."""

    @cached_property
    def _at(self) -> dict[str, int]:
        return {c.name: i for i, c in enumerate(self.columns)}

    @property
    def total(self) -> int | None:
        """How many rows the source has, where that is known by now."""
        return self.session.total

    def code_needed(
        self, names: NameList, recodings: Recodings, run: Run
    ) -> dict[str, Dictionary]:
        """Dictionaries of what cannot be compared as it stands: texts, recodings."""
        wanted = [n for n in dict.fromkeys(names) if self._is_coded(n, recodings)]
        made = self.dictionaries.code_columns(
            [self._at[n] for n in wanted], recodings, run
        )
        return {n: made[self._at[n]] for n in wanted}

    def code_all(
        self, names: NameList, recodings: Recodings, run: Run
    ) -> dict[str, Dictionary]:
        """Dictionaries of all of these columns."""
        made = self.dictionaries.code_columns(
            [self._at[n] for n in names], recodings, run
        )
        return {n: made[self._at[n]] for n in names}

    def _is_coded(self, name: str, recodings: Recodings) -> bool:
        return name in recodings or self.source.is_text(self._at[name])

    def position(self, name: str) -> int:
        """The number of a column."""
        return self._at[name]

    def weight(self, name: str | None) -> str:
        """How many rows a row `s` stands for, by a column of multiplicities."""
        return f"CAST(s.c{self._at[name]} AS BIGINT)" if name else "1"

    def kind(self, name: str) -> str:
        """What values a column holds."""
        return self.columns[self._at[name]].kind

    def type_of(self, name: str) -> str:
        """The engine's own type of a column."""
        described = self.session.ask("DESCRIBE SELECT * FROM pv_people")
        found: str = described["column_type"][self._at[name]].as_py()
        return found

    def check_weight(self, name: str, run: Run) -> None:
        """A column of multiplicities must hold whole numbers."""
        at = self._at[name]
        check_weights(self.session, at, self.columns[at], run, (1, 2))

    def close(self) -> None:
        """Drop what was made for it."""

    def __enter__(self) -> Projection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
