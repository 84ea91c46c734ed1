"""Between Python, numpy and Arrow without pandas.

pyarrow's own conversions import pandas wherever it is installed, even if nobody uses
it, which takes longer than most audits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def frame(**columns: pa.Array) -> pa.Table:
    """A table of these columns."""
    return pa.Table.from_arrays(list(columns.values()), list(columns))


def texts(values: Iterable[str | None]) -> pa.Array:
    """Texts, some of them perhaps missing.

    >>> texts(["Größe", None, ""]).to_pylist()
    ['Größe', None, '']
    """
    known = [None if v is None else v.encode() for v in values]
    ends = accumulate((len(v or b"") for v in known), initial=0)
    buffers = [
        np.packbits(np.array([v is not None for v in known], bool), bitorder="little"),
        np.fromiter(ends, dtype=np.int64, count=len(known) + 1),
        b"".join(v or b"" for v in known),
    ]
    return pa.Array.from_buffers(
        pa.large_string(), len(known), [pa.py_buffer(b) for b in buffers]
    )


def integers(values: NDArray[Any]) -> pa.Array:
    """Integers, none of them missing.

    >>> integers(np.arange(3)).to_pylist()
    [0, 1, 2]
    """
    whole = np.ascontiguousarray(values)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(whole.dtype), len(whole), [None, pa.py_buffer(whole)]
    )


def mask_values(values: pa.Array, missing: NDArray[np.bool_]) -> pa.Array:
    """The same numbers, some of them missing.

    >>> mask_values(integers(np.arange(3)), np.array([False, True, False])).to_pylist()
    [0, None, 2]
    """
    known = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(
        values.type, len(values), [known, *values.buffers()[1:]]
    )


def lists(values: Sequence[Sequence[int]]) -> pa.Array:
    """Lists of integers.

    >>> lists([[1, 2], []]).to_pylist()
    [[1, 2], []]
    """
    ends = np.cumsum([0, *map(len, values)]).astype(np.int32)
    inside = np.fromiter((v for some in values for v in some), np.int32)
    return pa.ListArray.from_arrays(integers(ends), integers(inside))


def numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """The numbers of a column, none of them missing.

    >>> numbers(pa.chunked_array([[1, 2], [3]]))
    array([1, 2, 3])
    """
    parts: list[NDArray[Any]] = [np.from_dlpack(part) for part in column.chunks]
    if len(parts) == 1:
        return parts[0]
    empty = np.empty(0, dtype=column.type.to_pandas_dtype())
    return np.concatenate([empty, *parts])
