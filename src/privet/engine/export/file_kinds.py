"""Kinds of values in files of Excel, SPSS and Stata, which know few of them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

EXACT = {"xlsx": "Excel", "sav": "SPSS", "dta": "Stata"}
"""Formats that are written and read like this, and what people call them."""

KINDS: Mapping[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
}
"""What columns of these files may hold, and how that is handed over."""

ROWS = 20_000
"""Rows that are written, or read, together."""

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
_LONG = ("UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM")
_CASTS = {
    "BOOLEAN": ("{cell}", "boolean"),
    "BIGINT": ("{cell}", "integer"),
    **dict.fromkeys(_WHOLE, ("CAST({cell} AS BIGINT)", "integer")),
    **dict.fromkeys(_LONG, ("CAST({cell} AS VARCHAR)", "integer")),
    "DOUBLE": ("{cell}", "number"),
    # By its text: 0.1 of 32 bits is 0.10000000149 otherwise.
    "FLOAT": ("CAST(CAST({cell} AS VARCHAR) AS DOUBLE)", "number"),
    "DECIMAL": ("CAST({cell} AS VARCHAR)", "number"),
    "DATE": ("{cell}", "date"),
    "TIMESTAMP": ("{cell}", "datetime"),
    "TIMESTAMP_S": ("CAST({cell} AS TIMESTAMP)", "datetime"),
    "TIMESTAMP_MS": ("CAST({cell} AS TIMESTAMP)", "datetime"),
    "TIMESTAMP_NS": ("{cell}", "datetime"),  # as pandas has them; a part is refused
}
"""What is selected for a cell of each type of DuckDB, and the kind it has then."""


def select_exactly(cell: str, type_: str) -> tuple[str, str]:
    """What is selected for a cell, and its kind; what has no kind of its own is text.

    >>> select_exactly("o1", "INTEGER"), select_exactly("o2", "UUID")
    (('CAST(o1 AS BIGINT)', 'integer'), ('CAST(o2 AS VARCHAR)', 'text'))
    """
    name = type_.split("(", maxsplit=1)[0] if not type_.endswith("]") else ""
    cast, kind = _CASTS.get(name, ("CAST({cell} AS VARCHAR)", "text"))
    return cast.format(cell=cell), kind


def kind_of_values(type_: pa.DataType) -> str:
    """The kind of Arrow values."""
    for fits, kind in (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
        (pa.types.is_date, "date"),
        (pa.types.is_timestamp, "datetime"),
    ):
        if fits(type_):
            return kind
    return "text"
