"""How every release is opened: `load`, and `verify` as a recipient would.

Both recount: the files are opened, the promises judged on them, and everything is
compared with the manifest. What is of one kind of release only is in its `files.py`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import attrs

from privet.engine.export.file_kinds import EXACT
from privet.engine.protocol import Listener, Run
from privet.engine.sources.find_source import Source, TextOptions, find_source
from privet.engine.sources.joined_columns import JoinedColumn, join_columns
from privet.engine.sources.text_files import FILES
from privet.errors import InputError, MissingExtra, PrivetError
from privet.findings import Audit
from privet.policy import Accepted, Measure, Policy, Promise
from privet.release.audit import audit_settled
from privet.release.integrity.bounded_json import parse_bounded
from privet.release.integrity.inventory import (
    Inventory,
    NotRegular,
    read_regular,
    take_inventory,
)
from privet.release.integrity.parquet_bounds import find_excess
from privet.release.integrity.signature import (
    SIGNATURE,
    Given,
    PublicKey,
    Signature,
    check_signature,
    load_public_keys,
)
from privet.release.integrity.statements import (
    JUDGED,
    check_digest,
    compare_exposure,
    compare_findings,
    compare_statements,
)
from privet.release.kinds import ReleaseKind, Verification, import_kind
from privet.release.manifest import check_form
from privet.release.note import NOTE
from privet.table import ReleasedAs, Table, open_table
from privet.values.adversaries import KINDS
from privet.values.beliefs import read_limit
from privet.values.schema import Bins, Roles

MANIFEST, CUSTODY = "release.json", "custody.json"

OWN = (MANIFEST, NOTE, SIGNATURE)
"""What a release holds besides the files its manifest lists."""

MOST_MANIFEST_BYTES = 2**24
"""A manifest of a thousand columns has one."""

SignedBy = PublicKey | Given | Iterable[PublicKey | Given]
"""One public key or several."""


@dataclass(frozen=True)
class Examined:
    """A folder that says it is a release, before anything in it is opened."""

    content: Mapping[str, Any]
    """Its manifest, whose form is right."""
    problems: tuple[str, ...]
    """What is not as the manifest says."""
    opens: bool
    """Whether its files are there, and may be opened."""
    inventory: Inventory
    """The files as they were."""
    signature: Signature | None
    """Who signed it."""


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


def load(
    folder: str | PathLike[str], *, signed_by: SignedBy = (), **options: Any
) -> Any:
    """Open a release from its public files: a `Release`, a `ClassifierRelease`, or
    `Responses`.

    Everything must be as the manifest says: digests, rows, columns, and the promises,
    which are recounted. `verify` tells all of it at once instead of raising. One of the
    public keys that `signed_by` names must have signed it.
    """
    opened = Path(folder).expanduser()
    _settle_interrupted(opened)
    given = examine(opened, signed_by)
    if given.problems:
        raise InputError("\n".join(given.problems))
    place, content = given.inventory.folder, given.content
    found = recount(place, content, **options)
    if problems := [*found.problems, *given.inventory.find_changes()]:
        found.close()
        raise InputError("\n".join(problems))
    return found.kind.restore(
        found.shown,
        policy=found.policy,
        audit=found.audit,
        method=content["method"],
        manifest=content,
        folder=place,
    )


def verify(
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str] | None = None,
    signed_by: SignedBy = (),
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
    signed_by
        Public keys, or their files, one of which must have signed it.
    progress
        Takes `Progress` events.
    options
        How to open the table, as `read` takes them.
    """
    kept = None if custody is None else Path(custody).expanduser()
    opened = Path(folder).expanduser()
    _settle_interrupted(opened, kept)
    given = examine(opened, signed_by)
    place, content = given.inventory.folder, given.content
    proof = import_kind(content["kind"]).prove
    problems = [] if kept is None or proof else compare_record(place, kept)
    problems += given.problems
    found = None
    if given.opens:
        try:
            with closing(
                recount(place, content, progress=progress, **options)
            ) as found:
                problems += found.problems
                if kept is not None and proof:
                    problems += proof(found.shown, kept, content)
        except MissingExtra:  # says nothing of the release
            raise
        except PrivetError as error:
            problems, found = [*problems, str(error)], None
        problems += given.inventory.find_changes()
    return Verification(
        tuple(problems),
        found.audit if found else None,
        unpromised=found is not None and found.audit is None,
        signature=given.signature,
    )


def examine(folder: Path, signed_by: SignedBy = ()) -> Examined:
    """Look at a folder as if an enemy had made it, before anything in it is opened.

    What its manifest says of itself comes first: files are looked at only if that fits.
    """
    keys = load_public_keys(signed_by)
    data = _read_bytes(folder)
    content = _parse_manifest(data)
    signature, problems = check_signature(folder, data, keys)
    changed = check_digest(content)
    found = take_inventory(folder, content["files"], OWN)
    problems += [*changed, *found.problems]
    opens = found.whole and not changed
    if opens:
        excess = _find_excess(folder, content)
        opens, problems = not excess, [*problems, *excess]
    return Examined(content, tuple(problems), opens, found, signature)


def _find_excess(folder: Path, content: Mapping[str, Any]) -> list[str]:
    """Tables that would unpack to more than they can hold."""
    tables = [f for f in content["files"] if f["path"].lower().endswith(".parquet")]
    return [p for f in tables for p in find_excess(folder / f["path"], f["rows"])]


def _settle_interrupted(folder: Path, custody: Path | None = None) -> None:
    """Finish or undo what a writer began who died, before anything is read."""
    from privet.release.commit.intent import recover

    recover(folder.resolve(), None if custody is None else custody.resolve())


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
            found = audit_settled(shown, stated, policy, run=Run(progress))
        problems = kind.find_differences(shown, folder, content)
        problems += compare_findings(claims, found.findings if found else ())
        problems += compare_exposure(content, found.exposure if found else None)
        problems += _find_misstatements(kind, shown, folder, content)
    except BaseException:
        kind.close(shown)
        raise
    return Recount(kind, shown, policy, found, problems)


def _find_misstatements(
    kind: ReleaseKind, shown: Any, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """What a manifest and its note must not say, or say so that nobody can read it."""
    try:
        with _refuse_malformed("part"):
            return compare_statements(kind, shown, folder, content)
    except InputError as error:
        return [str(error)]


# Files ------------------------------------------------------------------------------


def open_files(
    path: Path,
    roles: Roles,
    *,
    guarded: bool,
    shown: ReleasedAs | None = None,
    joined: Mapping[str, JoinedColumn] | None = None,
    **options: Any,
) -> Table:
    """The released file as a table, with the roles that are left.

    Columns that stand there in several are read as the one they are.
    """
    released = Roles(
        quasi=roles.quasi,
        sensitive=roles.sensitive,
        other=roles.other,
        target=roles.target,
        weight=roles.weight,
    )
    source = find_exact_source(path, guarded)
    if joined:
        source = join_columns(source, joined)
    if released.weight not in (source.names or ()):  # rows are written one by one
        released = attrs.evolve(released, weight=None)
    return replace(open_table(source, released, **options), shown=shown)


def find_exact_source(path: Path, guarded: bool) -> Source:
    """The one file of a release; the folder's name is neither pattern nor data."""
    text = TextOptions(
        delimiter=",",
        encoding="utf-8",
        header=True,
        guarded=guarded,
        dates="text",
        decimal="text",
    )
    if path.suffix.lower().removeprefix(".") in EXACT:
        from privet.engine.export.exact_files import convert_to_parquet

        stored, folder = convert_to_parquet(path)
        source = find_exact_source(stored, guarded=False)
        return replace(source, words=repr(path.name), kept=folder)
    try:
        source = find_source(path, text=text)
    except UnicodeDecodeError:  # names of columns that are none
        raise InputError(f"File {path.name!r} must be a table; it is not.") from None
    scan = f"read_parquet({FILES}, hive_partitioning = false)"
    if path.suffix.lower() != ".parquet":
        scan = source.scan.removesuffix(")") + ", hive_partitioning = false)"
    return replace(source, scan=scan)


def find_unbinned(table: Table, content: Mapping[str, Any]) -> list[str]:
    """Columns that are said to be shown in fixed ranges, and are not."""
    stated = {
        c: Bins(about["bins"]).labels()
        for c, about in content["columns"].items()
        if "bins" in about and "shown_as" not in about and c in table.schema.names
    }
    shown = table.domains(list(stated), Run()) if stated else {}
    return [
        f"Column {c!r} must be shown in the ranges that the manifest states."
        for c, labels in stated.items()
        if not {*shown[c].labels} <= {None, *labels}
    ]


def is_release(path: str | PathLike[str]) -> bool:
    """Whether a folder holds a release, or says so."""
    return os.path.lexists(Path(path) / MANIFEST)  # a link is refused, not followed


def read_manifest(folder: Path) -> dict[str, Any]:
    """The public document of a release."""
    return _parse_manifest(_read_bytes(folder))


def _read_bytes(folder: Path) -> bytes:
    """The manifest as it is in its file."""
    try:
        return read_regular(folder / MANIFEST, MOST_MANIFEST_BYTES)
    except FileNotFoundError:
        raise InputError(
            f"{str(folder)!r} must be the folder of a release; it has no {MANIFEST}."
        ) from None
    except NotRegular as error:
        raise InputError(f"{MANIFEST} must be a regular file; it is {error}.") from None
    except ValueError as error:
        raise InputError(f"{MANIFEST} must be a manifest; {error}.") from None
    except OSError:
        raise InputError(f"{MANIFEST} must be readable; it is not.") from None


def _parse_manifest(data: bytes) -> dict[str, Any]:
    try:
        content = parse_bounded(data)
    except ValueError as error:
        raise InputError(f"{MANIFEST} must be readable JSON; {error}.") from None
    return check_form(content)


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
        other=select_columns("other"),
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
        accepted=tuple(_read_accepted(a) for a in content.get("accepted", ())),
    )


_LIMITS = ("at_most", "below", "from", "to", "within", "exactly")


def _read_promise(stated: Mapping[str, Any]) -> Promise:
    keys = {k: v for k, v in stated.items() if k not in (*_LIMITS, *JUDGED)}
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


def _read_accepted(stated: Mapping[str, Any]) -> Accepted:
    with _refuse_malformed("accepted entry"):
        return Accepted(**stated)


def _read_measure(stated: Mapping[str, Any]) -> Measure:
    with _refuse_malformed("measure"):
        return Measure(**{k: v for k, v in stated.items() if k not in JUDGED})


@contextmanager
def _refuse_malformed(what: str) -> Iterator[None]:
    """What the manifest says must make sense."""
    try:
        yield
    except (PrivetError, KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"Each {what} of {MANIFEST} must be one that privet wrote; one is not."
        ) from None


# Custody ----------------------------------------------------------------------------


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
