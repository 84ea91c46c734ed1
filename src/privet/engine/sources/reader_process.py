"""A process of its own that reads files of other programs and hands rows over.

Their readers are large libraries in C and Rust that read files of strangers. Here a
crash, a file that asks for all memory, or a call that hears no Ctrl-C hurts nobody: the
process has a limit, and is ended from outside. It is asked by one line of JSON, and
answers with one line of JSON and a stream of Arrow.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, Any

import pyarrow as pa

from privet.errors import EmptyTable, InputError

READERS = {
    "spreadsheet": "privet.engine.sources.spreadsheets",
    "statistics": "privet.engine.sources.statistics_files",
    "sqlite": "privet.engine.sources.sqlite_files",
}
"""The module that has the `read_records` of each kind of file."""


@dataclass(frozen=True)
class Records:
    """The rows of a file, some at a time, and what it says of them."""

    names: tuple[str, ...]
    """The columns."""
    schema: pa.Schema
    """Their types, under the names c0, c1, …"""
    batches: Iterator[pa.RecordBatch]
    """The rows."""
    mixed: tuple[int, ...] = ()
    """Columns of texts that may mean more."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the file says of columns, in words."""


Read = Callable[[Mapping[str, Any]], Records]
"""Reads the file that a request names."""


def answer(request: Mapping[str, Any], out: IO[bytes]) -> None:
    """Hand the rows over that are asked for, or say why not."""
    limit_memory(request["memory"])
    try:
        read: Read = import_module(READERS[request["reader"]]).read_records
        found = read(request)
        head = {"names": found.names, "mixed": found.mixed, "labels": found.labels}
        _say(out, head)
        with pa.ipc.new_stream(out, found.schema) as stream:
            for batch in found.batches:
                stream.write_batch(batch)
        _say(out, {})
    except (InputError, MemoryError) as error:
        _say(out, _describe(error))
    except BrokenPipeError:
        raise
    except Exception:  # what it says may quote people's data
        _say(out, {"ended": True})


def _say(out: IO[bytes], words: Mapping[str, Any]) -> None:
    out.write(json.dumps(words).encode() + b"\n")
    out.flush()


def _describe(error: BaseException) -> dict[str, Any]:
    if isinstance(error, MemoryError):
        return {"memory": True}
    return {"error": str(error), "empty": isinstance(error, EmptyTable)}


def limit_memory(most: int) -> None:
    """Ask for no more memory than that, where the system can be told."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


HEAVY = ("pandas", "polars")
"""Packages that others import where they can, for what nobody asks here."""


class _Missing:
    """Lets the heavy packages seem not to be installed."""

    def find_spec(self, name: str, *_: object) -> None:
        """Nothing, unless it is one of them."""
        if name in HEAVY:
            raise ModuleNotFoundError(name=name)


def main() -> None:
    """Answer the request on standard input."""
    sys.meta_path.insert(0, _Missing())
    request = json.loads(sys.stdin.buffer.readline())
    with suppress(BrokenPipeError):
        answer(request, sys.stdout.buffer)


if __name__ == "__main__":
    main()
