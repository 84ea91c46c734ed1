"""A file of results, so that a sweep which was stopped goes on where it was.

A line per result, written whole or not at all; what a crash tore is read as if it were
not there. Nothing in the file is believed that is not sealed: a result is kept under a
key and with a seal that only somebody who has the table can make, since both are worked
out with a digest of its counts, which is not in the file. No cell is in it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import privet
from privet.comparison.candidate_methods import Candidate
from privet.comparison.counted_rows import count_distinct
from privet.comparison.method_figures import MethodResult
from privet.engine.protocol import Run
from privet.errors import InputError
from privet.policy import Policy
from privet.release.integrity.bounded_json import parse_bounded
from privet.table import Table
from privet.values.contingency import Domain, sum_equal_rows

HEAD = {"privet": "results of a sweep", "format": 1}
"""The first line of a file."""

MOST_BYTES = 64 * 2**20
"""A larger file is not ours."""


class ResultFile:
    """The results of earlier runs on the same counts, and those of this one."""

    def __init__(self, path: str | os.PathLike[str], secret: bytes) -> None:
        self._path, self._secret = Path(path), secret
        self._known = self._read()

    def __len__(self) -> int:
        return len(self._known)

    def find(self, policy: Policy, candidate: Candidate) -> MethodResult | None:
        """What a method reached under a policy; None: nobody knows."""
        content = self._known.get(self._make_key(policy, candidate))
        if content is None:
            return None
        with suppress(TypeError):
            return MethodResult.from_dict(content)
        return None

    def keep(self, policy: Policy, candidate: Candidate, result: MethodResult) -> None:
        """Write one more line; a crash leaves all lines before it as they are."""
        key, content = self._make_key(policy, candidate), result.to_dict()
        line = {"key": key, "seal": self._seal(key, content), "result": content}
        self._append(_write_line(line))
        self._known[key] = content

    def _make_key(self, policy: Policy, candidate: Candidate) -> str:
        """Everything a result depends on, beside the table."""
        files = {
            column: hashlib.sha256(path.read_bytes()).hexdigest()
            for column, path in sorted(policy.hierarchy_files().items())
        }
        told = [privet.__version__, policy.to_toml(), files]
        told += [candidate.name, candidate.publishes, repr(candidate.method)]
        return self._sign(json.dumps(told, sort_keys=True))

    def _seal(self, key: str, content: Mapping[str, Any]) -> str:
        return self._sign(json.dumps([key, content], sort_keys=True))

    def _sign(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, data, hashlib.sha256).hexdigest()

    # The file itself ------------------------------------------------------------------

    def _read(self) -> dict[str, Any]:
        data = _read_regular(self._path)
        if data is None:
            self._append(_write_line(HEAD))
            return {}
        first, *lines = data.split(b"\n")
        if _parse(first) != HEAD:
            raise InputError(
                f"The file {str(self._path)!r} must hold results of a sweep; it holds "
                "something else, and is left as it is. Name another one."
            )
        if lines and lines[-1]:  # a crash tore the last line; what follows is a new one
            self._append(b"\n")
        found = (_parse(line) for line in lines if line)
        return {f["key"]: f["result"] for f in found if self._is_ours(f)}

    def _is_ours(self, line: Any) -> bool:
        if not isinstance(line, dict) or set(line) != {"key", "seal", "result"}:
            return False
        texts = isinstance(line["key"], str) and isinstance(line["seal"], str)
        if not texts or not isinstance(line["result"], dict):
            return False
        made = self._seal(line["key"], line["result"])
        return hmac.compare_digest(made.encode(), line["seal"].encode())

    def _append(self, data: bytes) -> None:
        try:
            handle = _open_private(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            raise _refuse(self._path, error.strerror) from None
        with os.fdopen(handle, "ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _write_line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True).encode() + b"\n"


def _parse(line: bytes) -> Any:
    with suppress(ValueError):
        return parse_bounded(line, digits=40)
    return None


def _open_private(path: Path, flags: int) -> int:
    """Open a file that nobody else may read, and no link to another one."""
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(None, "it is no ordinary file")
    return handle


def _read_regular(path: Path) -> bytes | None:
    """What a file holds; None: there is none, or it is empty."""
    try:
        handle = _open_private(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refuse(path, error.strerror) from None
    with os.fdopen(handle, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _refuse(path, "it is too large")
    return data or None


def _refuse(path: Path, why: str | None) -> InputError:
    return InputError(
        f"The file of results {str(path)!r} must be an ordinary file that can be "
        f"written; got: {why}."
    )


# What was counted -------------------------------------------------------------------


def digest_counts(table: Table, run: Run) -> bytes:
    """A digest of how many rows have which values in the columns that are published.

    The order of rows, and columns that are never published, do not matter.
    """
    roles = table.roles
    left_out = {*roles.withheld, roles.unit, roles.weight}
    names = sorted(c for c in table.schema.names if c not in left_out)
    digest = hashlib.sha256(repr((names, table.roles)).encode())
    if not names:
        return digest.digest()
    rows = count_distinct(table, names, run)
    ranks = [_rank_labels(domain, digest) for domain in rows.domains]
    lines = [rank[code] for rank, code in zip(ranks, rows.codes, strict=True)]
    found, people = sum_equal_rows(lines, [len(d) for d in rows.domains], rows.n)
    order = np.lexsort(found[::-1])
    for column in (*found, people):
        digest.update(np.asarray(column)[order].astype("<i8").tobytes())
    return digest.digest()


def _rank_labels(domain: Domain, digest: Any) -> Any:
    """The place of each value among all, sorted; the values go into the digest."""
    labels = [(v is not None, v or "") for v in domain.labels]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    for at in order:
        there, text = labels[at]
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d %d " % (there, len(data)) + data)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels))
    return rank
