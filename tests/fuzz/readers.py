"""The readers of privet, each as a function of bytes, and what may come out of them.

Only privet's own errors may: no crash, no hang, no cell of anybody in a message, and
nothing left behind. `CANARY` is planted in people's cells.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa
from click.testing import CliRunner

import privet as pv
from fuzz import http_reader, seeds
from privet.cli import cli

CANARY = seeds.CANARY
SLOWEST = 15.0
"""Seconds that one input may take, on a busy machine."""


@dataclass(frozen=True)
class Fault:
    """Something that must not happen."""

    kind: str
    """Crash, cell, slow, or left."""
    place: str
    """What tells it from others: the error and where it was raised."""
    told: str
    """All there is to say."""


@dataclass(frozen=True)
class Reader:
    """Something that reads what strangers or clumsy hands wrote."""

    read: Callable[[bytes, Path], Sequence[str]]
    """Reads bytes, with a folder to work in; gives what it said."""
    seeds: Callable[[], Sequence[bytes]]
    """Good inputs."""
    words: Sequence[bytes]
    """Words of its language."""
    canary_inside: bool = False
    """Whether people's cells are in the input itself."""


def attempt(reader: Reader, data: bytes) -> Fault | None:
    """Read; None: it was read, or refused in privet's own words."""
    warm_up(reader)
    before = _list_temporary()
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    began = monotonic()
    try:
        said = _listen(reader, data, folder)
    except Exception as error:
        return _describe_crash(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if CANARY in said and (reader.canary_inside or CANARY.encode() not in data):
        return Fault("cell", said[:20], said)
    if (took := monotonic() - began) > SLOWEST:
        return Fault("slow", "slow", f"{took:.0f} seconds")
    if left := _list_temporary() - before:
        return Fault("left", "left", f"left behind: {sorted(left)}")
    return None


@cache
def warm_up(reader: Reader) -> None:
    """Open what is opened once: tables, releases, the service."""
    for data in reader.seeds():
        with tempfile.TemporaryDirectory() as folder:
            _listen(reader, data, Path(folder))


def close_all() -> None:
    """Close what was opened once."""
    if _loans.cache_info().currsize:
        _loans().close()
    if _views.cache_info().currsize:
        _views().table.close()
    if http_reader.open_survey.cache_info().currsize:
        http_reader.open_survey().stop()
    for opened in (_loans, _views, _releases, warm_up, http_reader.open_survey):
        opened.cache_clear()


def _list_temporary() -> set[str]:
    """What privet has left where temporary files are."""
    places = Path(tempfile.gettempdir()).glob("privet*")
    return {place.name for place in places}


def _listen(reader: Reader, data: bytes, folder: Path) -> str:
    """Everything that is said while reading: errors, warnings, problems."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", pv.PrivacyWarning)
        try:
            said = list(reader.read(data, folder))
        except pv.PrivetError as error:
            said = [repr(error), *traceback.format_exception(error)]
    return "\n".join([*said, *(str(w.message) for w in caught)])


def _describe_crash(error: Exception) -> Fault:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f"{os.sep}privet{os.sep}" in f.filename] or frames
    place = f"{type(error).__name__} {Path(ours[-1].filename).name}:{ours[-1].lineno}"
    return Fault("crash", place, "".join(traceback.format_exception(error)))


# Policies ---------------------------------------------------------------------------


@cache
def _loans() -> pv.Table:
    rows = ["Clerk", "Clerk", "Trader", "Trader", CANARY]
    return pv.read(
        pa.table(
            {
                "name": [CANARY, "b", "c", "d", "e"],
                "job": rows,
                "country": ["UK", "UK", "Canada", "UK", "UK"],
                "age": [20, 30, 40, None, 50],
                "bankruptcy": ["Never", "Discharged", "Never", CANARY, "Never"],
                "rating": ["G", "B", "G", "B", "G"],
            }
        )
    )


def read_policy(data: bytes, folder: Path) -> Sequence[str]:
    """Read a policy, write it, read it back, and audit a table by it."""
    path = folder / "policy.toml"
    path.write_bytes(data)
    policy = pv.Policy.load(path)
    again = pv.Policy.from_toml(policy.to_toml())
    assert policy == again, "a policy must survive being written"
    pv.audit(_loans(), policy).explain()
    return ()


# Designs ----------------------------------------------------------------------------


def read_design(data: bytes, folder: Path) -> Sequence[str]:
    """Read a design as TOML or as JSON, write it, read it back, and tell its ε."""
    path = folder / ("design.json" if data.lstrip()[:1] == b"{" else "design.toml")
    path.write_bytes(data)
    design = pv.Design.load(path)
    again = folder / "again.toml"
    again.write_text(design.to_toml(), encoding="utf-8")
    assert design == pv.Design.load(again), "a design must survive being written"
    design.epsilon()
    return ()


# Secret queries ---------------------------------------------------------------------


@cache
def _views() -> pv.Views:
    table = pv.read(
        pa.table(
            {
                "name": [CANARY, "George", "John", "Sarah"],
                "age": [30, 30, 45, 45],
                "born": pa.array([0, 1, 2, 3], pa.date32()),
                "problem": ["flu", CANARY, "HIV", None],
            }
        ),
        identifier="name",
        sensitive="problem",
        other=["age", "born"],
    )
    return pv.Views(table, ["name", "age"], ["age", "born", "problem"])


def read_query(data: bytes, folder: Path) -> Sequence[str]:
    """Ask what two views tell about a secret query."""
    text = data.decode("utf-8", "surrogateescape")
    promise = pv.Promise(pv.Reconstructor("unrestricted"), pv.Ceiling("1/2"), text)
    pv.audit(_views(), [promise]).explain()
    return ()


# Manifests --------------------------------------------------------------------------


@cache
def _releases() -> Sequence[Path]:
    """A release of each kind, written once; a manifest begins with its number."""
    place = Path(tempfile.mkdtemp(prefix="releases"))
    for number, make in enumerate(seeds.RELEASES):
        (place / str(number)).mkdir()
        make(place / str(number))
    return [place / str(n) / "out" for n in range(len(seeds.RELEASES))]


def list_manifests() -> Sequence[bytes]:
    """The manifests that privet wrote."""
    return [
        str(n).encode() + (folder / "release.json").read_bytes()
        for n, folder in enumerate(_releases())
    ]


def read_manifest(data: bytes, folder: Path) -> Sequence[str]:
    """Verify a release whose manifest somebody else wrote, and load it."""
    number = int(data[:1]) % len(_releases()) if data[:1].isdigit() else 0
    out = Path(shutil.copytree(_releases()[number], folder / "out"))
    (out / "release.json").write_bytes(data[1:])
    said = list(pv.verify(out).problems)
    if not said:
        opened = pv.load(out)
        getattr(opened, "close", lambda: None)()
    return said


# Text files -------------------------------------------------------------------------

HEADER = b"name,age,zip,problem\n"
ROLES: dict[str, Any] = {
    "identifier": "name",
    "quasi": ["age", "zip"],
    "sensitive": "problem",
}


def read_csv(data: bytes, folder: Path) -> Sequence[str]:
    """Audit a table whose rows are broken; or draft a policy for any file at all."""
    path = folder / "people.csv"
    kind, body = data[:1], data[1:]
    if kind == b"w":
        path.write_bytes(body)
        return _draft(path)
    path.write_bytes(HEADER + body)
    more: dict[str, Any] = {"bins": {"age": [30, 50]}} if kind == b"b" else {}
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "problem")
    with pv.read(path, **ROLES, **more, threads=1) as table:
        pv.audit(table, [promise]).explain()
    return ()


def _draft(path: Path) -> Sequence[str]:
    """What `privet init` says beside the draft; the first line may be a header."""
    done = CliRunner().invoke(cli, ["init", str(path), "-o", f"{path}.toml"])
    if done.exit_code == 70 or not isinstance(done.exception, SystemExit | None):
        raise AssertionError(f"exit code {done.exit_code}: {done.output[:3000]}")
    first = path.read_bytes().splitlines()[:1]
    return [] if any(CANARY.encode() in line for line in first) else [done.output]


# Files of other programs ------------------------------------------------------------


def read_foreign(data: bytes, folder: Path) -> Sequence[str]:
    """Audit a file of another format; its ending stands before its bytes."""
    ending, _, body = data.partition(b"\n")
    name = ending.decode("ascii", "replace")
    path = folder / ("people" + (name if name in seeds.FOREIGN else ".csv"))
    path.write_bytes(body)
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "problem")
    try:
        with pv.read(path, quasi="age", sensitive="problem", **LIMITS) as table:
            pv.audit(table, [promise]).explain()
    except pv.PrivetError as error:
        if CANARY in repr(error) and _calls_columns_so(path):
            return ()
        raise
    return ()


LIMITS: dict[str, Any] = {
    "spill_limit": "50MB",
    "memory_limit": "500MB",
    "threads": 1,
}


def _calls_columns_so(path: Path) -> bool:
    """Whether a file has the canary where columns are named: that may be shown."""
    if path.suffix == ".csv":
        return CANARY.encode() in path.read_bytes().splitlines()[0]
    try:
        with pv.read(path, **LIMITS) as table:
            return any(CANARY in name for name in table.schema.names)
    except pv.PrivetError:
        return False


# All of them ------------------------------------------------------------------------

READERS = {
    "policy": Reader(read_policy, seeds.policies, seeds.POLICY_WORDS),
    "design": Reader(read_design, seeds.designs, seeds.DESIGN_WORDS),
    "query": Reader(read_query, lambda: seeds.QUERIES, seeds.QUERY_WORDS),
    "manifest": Reader(read_manifest, list_manifests, seeds.MANIFEST_WORDS),
    "csv": Reader(read_csv, lambda: seeds.TABLES, seeds.TABLE_WORDS, True),
    "foreign": Reader(read_foreign, seeds.foreign_files, seeds.FOREIGN_WORDS, True),
    "http": Reader(
        http_reader.read_request, lambda: seeds.REQUESTS, seeds.REQUEST_WORDS, True
    ),
}
