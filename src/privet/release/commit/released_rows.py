"""The rows of a release as frames: what its files hold, or would hold, in memory.

They are never taken from the private table. What is not written yet is drafted to a
folder of our own by the code that writes releases, read back and recounted there; what
was loaded is read from its files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.engine.protocol import Run, WriteQuery
from privet.engine.scratch import ScratchFolder
from privet.errors import InputError, MissingExtra
from privet.release.verify import open_files
from privet.table import Table
from privet.values.schema import Roles

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET = ".parquet"


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The files of a release as Parquet, where they can be read again."""

    files: Mapping[str, Path]
    """By name: ``table``, or that of a view, or those of buckets."""
    kept: ScratchFolder | None = None
    """The folder they are in, which lives as long as this does; None: the release's."""
    content: Mapping[str, Any] | None = None
    """The manifest of what was drafted."""

    def choose(self, name: str | None) -> Path:
        """The one file, or the one that was named."""
        names = ", ".join(map(repr, self.files))
        if name is None and len(self.files) == 1:
            return next(iter(self.files.values()))
        if name is None:
            raise InputError(
                f"file must name one of the tables of the release; it has {names}."
            )
        if name not in self.files:
            raise InputError(
                f"file must be one of the tables of the release, {names}; got {name!r}."
            )
        return self.files[name]

    def open(self, name: str | None) -> Any:
        """The rows as a dataset of Arrow."""
        from pyarrow import dataset

        return dataset.dataset(str(self.choose(name)), format="parquet")

    def stream(self) -> pa.RecordBatchReader:
        """The rows of the one file, some at a time."""
        import pyarrow as pa

        rows = self.open(None)

        def read_batches() -> Iterator[pa.RecordBatch]:
            own = self  # the folder lives until the last row was read
            yield from rows.to_batches()
            del own

        return pa.RecordBatchReader.from_batches(rows.schema, read_batches())


def open_stored(folder: Path, content: Mapping[str, Any]) -> StoredRows:
    """The files of a release that was loaded; what is not Parquet is made so."""
    paths = [folder / file["path"] for file in content["files"]]
    if all(path.suffix.lower() == PARQUET for path in paths):
        return StoredRows({path.stem: path for path in paths})
    scratch = ScratchFolder()
    try:
        found = {}
        for path in paths:
            with open_files(path, Roles(), guarded="escaped" in content) as table:
                found[path.stem] = store_table(table, scratch, path.stem)
    except BaseException:
        scratch.close()
        raise
    return StoredRows(found, scratch)


def store_table(table: Table, scratch: ScratchFolder, stem: str) -> Path:
    """The rows of a public table as Parquet, with texts as what they mean."""
    path = scratch.path / f"{stem}{PARQUET}"
    query = WriteQuery(str(path), "parquet", table.schema.names)
    table.engine.write(query, table.recodings, Run())
    return path


class ReleasedRows:
    """What is released, as a frame of any library."""

    @abstractmethod
    def _store_rows(self) -> StoredRows:
        """The files, where they can be read."""

    def to_arrow(self, file: str | None = None) -> pa.Table:
        """The released rows as a table of pyarrow, as `write` would write them.

        The same values, types and columns, in random order. `file` names one of
        several tables: a view, or ``people`` and ``values`` of buckets. What may not
        be written is refused here, too. Nothing is recorded: only a written release
        has a manifest, a custody record and an entry in the ledger.
        """
        stored = self._store_rows()
        return stored.open(file).to_table()

    def to_pandas(self, file: str | None = None) -> Any:
        """The released rows as a pandas DataFrame, as `to_arrow` has them.

        Integers and truth stay what they are where values are missing.
        """
        found = self.to_arrow(file)
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("to_pandas needs pandas: pip install pandas.") from None
        import pyarrow as pa

        whole = {
            pa.int64(): pd.Int64Dtype(),
            pa.int32(): pd.Int32Dtype(),
            pa.int16(): pd.Int16Dtype(),
            pa.int8(): pd.Int8Dtype(),
            pa.uint64(): pd.UInt64Dtype(),
            pa.uint32(): pd.UInt32Dtype(),
            pa.uint16(): pd.UInt16Dtype(),
            pa.uint8(): pd.UInt8Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        return found.to_pandas(types_mapper=whole.get)

    def to_polars(self, file: str | None = None) -> Any:
        """The released rows as a polars DataFrame, as `to_arrow` has them."""
        found = self.to_arrow(file)
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("to_polars needs polars: pip install polars.") from None
        return pl.from_arrow(found)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._store_rows().stream().__arrow_c_stream__(requested_schema)
