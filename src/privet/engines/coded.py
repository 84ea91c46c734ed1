"""Writing rows whose long texts are looked up last: the file holds each text once."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from privet.engines import arrays, sql
from privet.engines.base import Run
from privet.engines.session import ROWS_AT_ONCE
from privet.engines.writing import Writer


class CodedWriter(Writer):
    """Writes a Parquet file from codes, which are sorted and joined as integers."""

    def _statement(self, drawn: str, run: Run) -> str:
        """The rows to write, codes in place of texts that have some."""
        types = self._types(run)
        cells = [self._coded(c, types) for c in self._writing.columns]
        return self._rows(cells, f"({sql.shuffled(self._repeated(), drawn)})")

    def _looked_up(self, c: int) -> str:
        return ""

    def _coded(self, name: str, types: Mapping[str, str]) -> str:
        c = self._position(name)
        if c not in self._dictionaries:
            return self._cell(name, types)
        missing = self._dictionaries[c].domain.code(None)
        code = f"CAST(d{c}.code AS INTEGER)"
        return code if missing is None else f"NULLIF({code}, {missing})"

    def _copied(self, statement: str) -> int:
        """Write what a statement selects; how many rows that are."""
        reader = self._session.con.sql(statement).to_arrow_reader(ROWS_AT_ONCE)
        texts = [self._texts(name) for name in self._writing.columns]
        kinds = [
            field.type if text is None else pa.dictionary(pa.int32(), text.type)
            for field, text in zip(reader.schema, texts, strict=True)
        ]
        schema = pa.schema(list(zip(self._writing.columns, kinds, strict=True)))
        rows = 0
        try:
            with pq.ParquetWriter(
                self._writing.path,
                schema,
                compression="zstd",
                store_schema=False,
                write_statistics=False,  # as long as everything else, for nobody
            ) as file:
                for batch in reader:
                    found = [
                        column
                        if text is None
                        else pa.DictionaryArray.from_arrays(column, text)
                        for column, text in zip(batch.columns, texts, strict=True)
                    ]
                    file.write_batch(pa.RecordBatch.from_arrays(found, schema=schema))
                    rows += len(batch)
        finally:
            reader.close()  # an open reader would block the connection
        return rows

    def _texts(self, name: str) -> pa.Array | None:
        made = self._dictionaries.get(self._position(name))
        if made is None:
            return None
        labels = ["" if text is None else text for text in made.domain.labels]
        return arrays.texts(labels).cast(pa.string())
