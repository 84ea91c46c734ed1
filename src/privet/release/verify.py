"""How every release is opened: `load`, and `verify` as a recipient would.

Both recount: the files are opened, the promises judged on them, and everything is
compared with the manifest. What is of one kind of release only is in its `files.py`.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import attrs

from privet.engine.protocol import Listener
from privet.engine.sources.find_source import Source, TextOptions, find_source
from privet.engine.sql import literal
from privet.errors import InputError, PrivetError
from privet.findings import Audit, Finding
from privet.policy import Measure, Policy, Promise
from privet.release.audit import audit
from privet.release.kinds import ReleaseKind, Verification, import_kind
from privet.release.manifest import check_form, public_finding
from privet.table import ReleasedAs, Table, open_table
from privet.values.adversaries import KINDS
from privet.values.beliefs import read_limit
from privet.values.schema import Roles

MANIFEST, CUSTODY = "release.json", "custody.json"


@dataclass(frozen=True, eq=False)
class Recount:
    """A release as its files have it, recounted."""

    kind: ReleaseKind
    """What was released."""
    shown: Any
    """What is in the files: a table, views, a scorecard, disguised rows."""
    policy: Policy | None
    """What the manifest promises; None: nothing that could be judged."""
    audit: Audit | None
    """The promises, judged on the files."""
    problems: list[str]
    """What is not as the manifest says."""

    def close(self) -> None:
        """Let go of the files."""
        self.kind.close(self.shown)


def load(folder: str | PathLike[str], **options: Any) -> Any:
    """Open a release from its public files: a `Release`, a `ClassifierRelease`, or
    `Responses`.

    Everything must be as the manifest says: digests, rows, columns, and the promises,
    which are recounted. `verify` tells all of it at once instead of raising.
    """
    place = Path(folder).expanduser()
    content = read_manifest(place)
    for problem in find_changed_files(place, content):
        raise InputError(problem)
    found = recount(place, content, **options)
    if found.problems:
        found.close()
        raise InputError("\n".join(found.problems))
    return found.kind.restore(
        found.shown,
        policy=found.policy,
        audit=found.audit,
        method=content.get("method", ""),
        manifest=content,
        folder=place,
    )


def verify(
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str] | None = None,
    progress: Listener | None = None,
    **options: Any,
) -> Verification:
    """Recount a release against its manifest, from the files alone.

    Parameters
    ----------
    folder
        The release.
    custody
        The private record: the manifest must be the one it was written for, to the
        byte. Of a classifier, the proof that predictions are the original's, too.
    progress
        Takes `Progress` events.
    options
        How to open the table, as `read` takes them.
    """
    place = Path(folder).expanduser()
    content = read_manifest(place)
    kept = None if custody is None else Path(custody).expanduser()
    proof = import_kind(content["kind"]).prove
    problems = [] if kept is None or proof else compare_record(place, kept)
    problems += find_changed_files(place, content)
    if any("must exist" in p for p in problems):
        return Verification(tuple(problems), None)
    try:
        with closing(recount(place, content, progress=progress, **options)) as found:
            problems += found.problems
            if kept is not None and proof:
                problems += proof(found.shown, kept, content)
    except PrivetError as error:
        return Verification((*problems, str(error)), None)
    return Verification(tuple(problems), found.audit, unpromised=found.audit is None)


def recount(
    folder: Path,
    content: Mapping[str, Any],
    *,
    progress: Listener | None = None,
    **options: Any,
) -> Recount:
    """Open the files of a release, judge its promises on them, and compare."""
    kind = import_kind(content["kind"])
    claims = [*content["promises"], *content.get("measures", ())]
    policy = None if kind.unpromised and not claims else read_policy(content)
    shown = kind.open(folder, content, **options)
    try:
        found = None
        if policy is not None:
            stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
            found = audit(shown, stated, progress=progress)
        problems = kind.find_differences(shown, folder, content)
        problems += compare_findings(claims, found.findings if found else ())
    except BaseException:
        kind.close(shown)
        raise
    return Recount(kind, shown, policy, found, problems)


# Files ------------------------------------------------------------------------------


def open_files(
    path: Path,
    roles: Roles,
    *,
    guarded: bool,
    shown: ReleasedAs | None = None,
    **options: Any,
) -> Table:
    """The released file as a table, with the roles that are left."""
    released = Roles(
        quasi=roles.quasi,
        sensitive=roles.sensitive,
        target=roles.target,
        weight=roles.weight,
    )
    source = find_exact_source(path, guarded)
    if released.weight not in (source.names or ()):  # rows are written one by one
        released = attrs.evolve(released, weight=None)
    return replace(open_table(source, released, **options), shown=shown)


def find_exact_source(path: Path, guarded: bool) -> Source:
    """The one file of a release; the folder's name is neither pattern nor data."""
    try:
        source = find_source(path, text=TextOptions(delimiter=",", guarded=guarded))
    except UnicodeDecodeError:  # names of columns that are none
        raise InputError(f"File {path.name!r} must be a table; it is not.") from None
    exactly = glob.escape(str(path)) + ("/*.parquet" if path.is_dir() else "")
    plain, file = literal(str(path)), literal(exactly)
    if path.suffix.lower() == ".parquet":
        scan = f"read_parquet({file}, hive_partitioning = false)"
    else:
        scan = source.scan.replace(plain, file, 1)
        scan = scan.removesuffix(")") + ", hive_partitioning = false)"
    return replace(source, scan=scan)


def is_release(path: str | PathLike[str]) -> bool:
    """Whether a folder holds a release."""
    return (Path(path) / MANIFEST).is_file()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The public document of a release."""
    if not is_release(folder):
        raise InputError(
            f"{str(folder)!r} must be the folder of a release; it has no {MANIFEST}."
        )
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        raise InputError(f"{MANIFEST} must be readable JSON; it is not.") from None
    return check_form(content)


def find_changed_files(folder: Path, content: Mapping[str, Any]) -> list[str]:
    """Files that are missing, or not what they were."""
    problems = []
    for file in content["files"]:
        path = folder / file["path"]
        if not os.path.exists(path):  # noqa: PTH110 - of an impossible name, too
            problems.append(f"File {file['path']!r} of the release must exist.")
        elif digest(path) != file["sha256"]:
            problems.append(
                f"File {file['path']!r} must be as it was released; its digest differs."
            )
    return problems


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes; of a folder, that of what sha256sum lists.

    ``cd table.parquet && sha256sum * | sha256sum`` gives the same.
    """
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file())
        lines = (f"{digest(p)}  {p.relative_to(path)}\n" for p in inside)
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_roles(content: Mapping[str, Any]) -> Roles:
    """What the columns of a released table are for, as its manifest says."""

    def select_columns(role: str) -> tuple[str, ...]:
        columns = content["columns"].items()
        return tuple(c for c, about in columns if about.get("role") == role)

    targets = [c for c, about in content["columns"].items() if about.get("target")]
    return Roles(
        quasi=select_columns("quasi"),
        sensitive=select_columns("sensitive"),
        target=next(iter([*select_columns("target"), *targets]), None),
        weight=content.get("weight"),
    )


def read_policy(content: Mapping[str, Any]) -> Policy:
    """The promises a manifest states."""
    return Policy(
        promises=tuple(_read_promise(p) for p in content["promises"]),
        measures=tuple(_read_measure(m) for m in content.get("measures", ())),
        roles=read_roles(content),
        title=content.get("title", ""),
    )


_LIMITS = ("at_most", "below", "from", "to", "within")
_JUDGED = ("verdict", "basis", "worst", "measured")


def _read_promise(stated: Mapping[str, Any]) -> Promise:
    keys = {k: v for k, v in stated.items() if k not in (*_LIMITS, *_JUDGED)}
    name, about = keys.pop("name", ""), keys.pop("about", None)
    with _refuse_malformed("promise"):
        kind, known = _read_adversary(keys.pop("against"), keys)
        maker: Any = KINDS[kind]
        limit = read_limit({k: stated[k] for k in _LIMITS if k in stated})
        return Promise(maker(**known), limit, about, name)


def _read_adversary(against: Any, keys: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The kind of adversary and what it knows, under one key or beside it."""
    if isinstance(against, str):
        return against, keys
    ((kind, known),) = against.items()
    return kind, {**keys, **(known if isinstance(known, dict) else {"knows": known})}


def _read_measure(stated: Mapping[str, Any]) -> Measure:
    with _refuse_malformed("measure"):
        return Measure(**{k: v for k, v in stated.items() if k not in _JUDGED})


@contextmanager
def _refuse_malformed(what: str) -> Iterator[None]:
    """What the manifest says must make sense."""
    try:
        yield
    except (PrivetError, KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"Each {what} of {MANIFEST} must be one that privet wrote; one is not."
        ) from None


# Comparing --------------------------------------------------------------------------


def compare_record(folder: Path, custody: Path) -> list[str]:
    """Whether the manifest is, to the byte, the one a custody record was kept for."""
    try:
        record = json.loads((custody / CUSTODY).read_text(encoding="utf-8"))
        kept = record["manifest_sha256"]
    except (ValueError, OSError, RecursionError, KeyError, TypeError):
        raise InputError(
            f"custody must be the folder of a {CUSTODY} that privet wrote; got "
            f"{str(custody)!r}."
        ) from None
    if digest(folder / MANIFEST) == kept:
        return []
    return [f"{MANIFEST} must be the one the custody record was kept for; it is not."]


def compare_findings(
    claims: Sequence[Mapping[str, Any]], findings: Sequence[Finding]
) -> list[str]:
    """Promises and measures that do not recount to what a manifest says of them."""
    problems = []
    for claim, found in zip(claims, findings, strict=True):
        recounted = public_finding(found)
        if any(claim.get(key) != recounted.get(key) for key in _JUDGED):
            problems.append(
                f"Promise {found.promise.name!r} must recount to what the manifest "
                f"says: {_format_claim(claim)}; it is {_format_claim(recounted)}."
            )
    return problems


def _format_claim(claim: Mapping[str, Any]) -> str:
    """A verdict and its number; "safe at 1/2 (exact)"."""
    number = claim.get("worst", claim.get("measured", "no number"))
    return f"{claim.get('verdict')} at {number} ({claim.get('basis')})"
