"""How every release is written: `write`, top to bottom.

Files, manifest and note are written to a folder beside the destination, opened and
recounted there as a recipient would, by the very code of `verify`, and then moved to
their place whole, after the private record. What is of one kind of release only is in
the `ReleaseParts` of its `files.py`.
"""

from __future__ import annotations

import errno
import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace as changed
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

from privet.engine.export.file_kinds import EXACT
from privet.engine.protocol import Listener, Run, limit_time
from privet.engine.scratch import ScratchFolder
from privet.errors import (
    EngineError,
    InputError,
    NotCovered,
    NotTogether,
    PrivacyWarning,
)
from privet.findings import Audit, Verdict
from privet.languages import PUBLIC, mark, speak
from privet.release.atomic_folder import as_json, move, save, sync
from privet.release.commit.intent import (
    Commit,
    Draft,
    Intent,
    NewEntry,
    describe_kept,
    list_missing_folders,
    make_draft,
    place_files,
    recover,
    save_fresh,
)
from privet.release.commit.released_rows import ReleasedRows, StoredRows, open_stored
from privet.release.destination import (
    Destination,
    explain_refusals,
    refuse_destination,
    refuse_foreign,
    resolve_destination,
)
from privet.release.history import History
from privet.release.integrity.inventory import measure_file
from privet.release.integrity.signature import (
    SIGNATURE,
    Signer,
    SigningKey,
    load_signing_key,
)
from privet.release.kinds import find_judging_kind, find_sentences, import_kind
from privet.release.manifest import ManifestEntries, WrittenFile, build_manifest
from privet.release.note import NOTE
from privet.release.verify import CUSTODY, MANIFEST, digest, examine, recount
from privet.report.ledger_words import say_not_together
from privet.values.visible_text import escape_controls


class ReleaseParts(ABC):
    """What one kind of release does of its own, in the order `write` asks for it.

    A draft is the destination with the folder that is worked in for its folder.
    """

    promised: ClassVar[str] = "what was promised"
    """What the files must recount to."""

    @property
    def several(self) -> str:
        """What is to be written, where it is several files, which need a folder."""
        return ""

    def resolve(
        self,
        folder: str | PathLike[str],
        custody: str | PathLike[str],
        format_: str | None,
    ) -> Destination:
        """Where it goes, as it was named."""
        return resolve_destination(folder, custody, format_)

    def refuse(self) -> None:  # noqa: B027 - some refuse nothing
        """Raise `InputError` where there is nothing that may be written."""

    @abstractmethod
    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """Write everything but manifest and note."""

    @abstractmethod
    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """What is said of it in the manifest."""

    @abstractmethod
    def build_record(
        self, content: Mapping[str, Any], found: Audit | None
    ) -> dict[str, Any]:
        """What the steward keeps, given the manifest and the recount."""

    @property
    def history(self) -> History | None:
        """What it was judged with, and the ledger it is entered in."""
        return None

    @property
    def spends(self) -> bool:
        """Whether its noise took from a privacy budget, which stays spent."""
        return False

    def list_private_texts(self) -> dict[str, str]:
        """Other files that are kept beside the record, by name."""
        return {}


def write(
    parts: ReleaseParts,
    destination: Destination,
    *,
    replace: bool,
    run: Run,
    sign: Signer = None,
) -> dict[str, Any]:
    """Write a release, whole or not at all; its manifest comes out."""
    key = load_signing_key(sign)
    history = parts.history
    ledger = history.ledger if history else None
    recover(destination.folder, destination.custody, ledger.folder if ledger else None)
    rehearse(parts, destination, replace=replace)
    with explain_refusals(destination), make_draft(destination.folder) as made:
        draft = changed(destination, folder=made.folder)
        content, found = write_draft(parts, draft, run, key)
        own = parts.build_record(content, found)
        record = {
            "custody": 1,
            **own,
            **(history.build_record(own) if history else {}),
            "manifest_sha256": digest(draft.folder / MANIFEST),
        }
        kept = {**parts.list_private_texts(), CUSTODY: as_json(record)}
        entry = _draft_entry(parts, destination, content, record)
        run.check()
        appear(made, destination, kept, replace=replace, entry=entry)
    return content


def write_draft(
    parts: ReleaseParts, draft: Destination, run: Run, key: SigningKey | None = None
) -> tuple[dict[str, Any], Audit | None]:
    """Write all that is public of a release, and recount it: manifest and audit."""
    files = parts.write_files(draft, run)
    with speak(PUBLIC), _refuse_miscounted(parts.promised, draft.format):
        entries = parts.describe(draft, files, run)
        content = build_manifest(entries, files, escaped=draft.format == "csv")
        save(draft.folder / MANIFEST, as_json(content))
        note = import_kind(entries.kind).note(content)
        save(draft.folder / NOTE, escape_controls(note))
        if key is not None:
            signed = key.sign((draft.folder / MANIFEST).read_bytes())
            save(draft.folder / SIGNATURE, signed)
        found = _read_back(draft.folder, run)
    return content, found


def rehearse(
    parts: ReleaseParts, destination: Destination | None, *, replace: bool
) -> None:
    """Refuse what must not be written, or not there; nothing is touched.

    A dry run does no more than this, and has a destination only if one was named.
    """
    if destination is not None:
        if destination.named and parts.several:
            raise InputError(
                f"{parts.several} must be written to a folder; got the name of a "
                f"file, {destination.file!r}."
            )
        refuse_destination(destination, replace)
    parts.refuse()


def _draft_entry(
    parts: ReleaseParts,
    destination: Destination,
    content: Mapping[str, Any],
    record: Mapping[str, Any],
) -> NewEntry | None:
    """What enters a release in its ledger; None: there is none."""
    history = parts.history
    if history is None or history.ledger is None:
        return None
    entry = history.draft_entry(
        content["title"],
        destination.folder,
        destination.custody,
        record["manifest_sha256"],
    )
    return NewEntry(history.ledger, entry, history.write_files, parts.spends)


def _read_back(partial: Path, run: Run) -> Audit | None:
    """Read what was written, as a stranger would, and judge it again."""
    given = examine(partial)
    if not given.opens:
        raise InputError("\n".join(given.problems))
    listener = None if run.listener is None else _name_phase(run.listener)
    with closing(recount(partial, given.content, progress=listener)) as found:
        problems = [*given.problems, *found.problems]
    if problems:
        raise InputError("\n".join(problems))
    return found.audit


def _name_phase(listener: Listener) -> Listener:
    """What is counted again is told as reading back."""
    return lambda event: listener(changed(event, doing=f"reading back: {event.doing}"))


@contextmanager
def _refuse_miscounted(promised: str, format_: str) -> Iterator[None]:
    """A publisher never signs its own work: what cannot be recounted is no release."""
    try:
        yield
    except InputError:
        raise EngineError(
            f"What was written does not recount to {promised}; nothing is released. "
            "Please report this as a bug."
            + (" Write Parquet meanwhile." if format_ in EXACT else "")
        ) from None


def appear(
    draft: Draft,
    destination: Destination,
    kept: Mapping[str, str],
    *,
    replace: bool,
    entry: NewEntry | None = None,
) -> None:
    """Let a release appear whole, with what is kept of it in custody and its entry in
    the ledger; or none of them.

    This is the only place where any does. What will be done is on the disk before
    anything is; names change last, and the release's after all others.
    """
    sync(draft.folder)
    intent = _state_intent(draft, destination, kept, replace=replace, entry=entry)
    commit = Commit(intent, draft)
    try:
        draft.interrupts.hold()
        commit.begin()
        pending = None if entry is None else commit.draft_entry(entry)
        save_fresh(intent, kept)
        refuse_foreign(destination.folder, replace)
        draft.interrupts.let()
        draft.interrupts.hold()
        if pending is not None:
            pending[0].place(pending[1])
        place_files(intent)
        move(draft.folder, destination.folder, replace=replace)
    except BaseException:
        draft.interrupts.hold()
        if not commit.settle():
            raise
    else:
        commit.settle()
    draft.interrupts.late = True


def _state_intent(
    draft: Draft,
    destination: Destination,
    kept: Mapping[str, str],
    *,
    replace: bool,
    entry: NewEntry | None,
) -> Intent:
    custody = destination.custody
    there = tuple(n for n in kept if (custody / n).exists()) if replace else ()
    return Intent(
        draft.token,
        destination.folder,
        digest(draft.folder / MANIFEST),
        custody,
        describe_kept(kept),
        over=there,
        made=list_missing_folders(custody),
        ledger=entry.ledger.folder if entry else None,
        number=len(entry.ledger) + 1 if entry else 0,
        spent=entry.spent if entry else False,
        inode=draft.folder.stat().st_ino,
    )


def refuse_release(*, made: bool, audit: Audit | None, history: History | None) -> None:
    """Only what was made here, and keeps every promise, is written."""
    if not made:
        raise InputError(
            "A release that was loaded from files is written already; copy the folder."
        )
    if audit is not None and not audit.safe:
        if audit.verdict is Verdict.NOT_APPLICABLE:
            raise NotCovered(_say_unpromised(audit), audit.findings)
        raise InputError(
            "A release must keep every promise to be written; "
            f"{audit.worst.promise.name!r} is {audit.worst.verdict.value}."
        )
    if history is not None and not history.safe:
        told = [f for f in history.findings if f.verdict is history.verdict]
        said = [f"{f.promise.name}: {f.verdict.value}. {f.note}" for f in told]
        raise NotTogether("\n".join([say_not_together(history.verdict), *said]), told)


def _say_unpromised(audit: Audit) -> str:
    """That nothing is promised of a release, and why not."""
    notes = dict.fromkeys(f.note for f in audit.findings if f.note)
    return " ".join(
        [
            "A release must be written under a promise that says something of it; the "
            "policy has none.",
            *notes,
            "State one that does.",
        ]
    )


def refuse_uncovered(found: Audit) -> None:
    """What no promise covers, and nobody accepted by name, is not written."""
    if not found.uncovered:
        return
    told = [f.explain() for f in found.uncovered]
    steps = [step for f in found.uncovered for step in find_sentences(f).repairs(f)]
    raise NotCovered("\n".join([*told, *steps]), found.uncovered)


# Tables -----------------------------------------------------------------------------


NOT_ENTERED = mark(
    "These rows are not entered in the ledger: later releases do not know of them. "
    "Write the release, and hand out what was written."
)


class TableRelease(ReleasedRows):
    """A release that is written as one table or several."""

    manifest: Mapping[str, Any]
    """The public document; empty until it is written."""
    folder: Path | None
    """Where it was loaded from; None: it was made here."""

    @cached_property
    def _drafted(self) -> StoredRows:
        """The files as they would be written, recounted; nothing of them appears."""
        scratch = ScratchFolder()
        folder = scratch.path / "release"
        folder.mkdir()
        place = Destination(folder, "table.parquet", "parquet", scratch.path / "none")
        try:
            content, _ = write_draft(self._find_parts(), place, Run())
        except BaseException:
            scratch.close()
            raise
        paths = [folder / file["path"] for file in content["files"]]
        return StoredRows({path.stem: path for path in paths}, scratch, content)

    def _find_parts(self) -> ReleaseParts:
        found = find_judging_kind(self)
        assert found is not None
        return found[0].parts(self)

    def _store_rows(self) -> StoredRows:
        if self.folder is not None:
            return open_stored(self.folder, self.manifest)
        parts = self._find_parts()
        parts.refuse()
        ledger = parts.history.ledger if parts.history else None
        if ledger is not None and not self.manifest:
            warnings.warn(NOT_ENTERED, PrivacyWarning, stacklevel=3)
        return self._drafted

    def accept(self, accept: Mapping[str, str]) -> Self:
        """The release with something accepted that no promise covers, and why."""
        raise InputError(
            f"accept must be left out where nothing can be accepted; got {accept!r}."
        )

    def write(
        self,
        folder: str | PathLike[str],
        *,
        custody: str | PathLike[str],
        format: str | None = None,  # noqa: A002 - the word users know
        replace: bool = False,
        accept: Mapping[str, str] | None = None,
        sign: Signer = None,
        max_seconds: float | None = None,
        progress: Listener | None = None,
    ) -> Self:
        """Write the release to a new folder, whole or not at all.

        What was written is read back and audited before it counts as a release. What
        no promise covers is written only if `accept` names the column and says why.
        `format` is ``"parquet"``, ``"csv"``, ``"xlsx"`` (Excel), ``"sav"`` (SPSS) or
        ``"dta"`` (Stata); the last three need the extra ``files``, and refuse what they
        would change. `sign` is a `SigningKey`, or the file of one.
        What takes longer than `max_seconds` is `Stopped`; then nothing is written.
        """
        released = self if accept is None else self.accept(accept)
        parts = released._find_parts()
        destination = parts.resolve(folder, custody, format)
        with limit_time(max_seconds):
            content = write(
                parts, destination, replace=replace, run=Run(progress), sign=sign
            )
        itself: Any = released  # a dataclass, which has a manifest
        written: Self = changed(itself, manifest=content)
        return written


def write_table(path: Path, write_rows: Callable[[], int]) -> WrittenFile:
    """Have an engine write a table, and make sure that it is on the disk."""
    try:
        rows = write_rows()
    except EngineError as error:
        _probe_disk(path.parent)
        if "moved" not in str(error):  # not about files at all
            raise
        raise OSError(errno.EIO, "") from None
    for part in sorted(path.iterdir()) if path.is_dir() else ():
        sync(part)
    sync(path)
    return describe_file(path, rows)


def _probe_disk(folder: Path) -> None:
    """Raise what the disk says, where it is the disk that takes no more."""
    if shutil.disk_usage(folder).free < 2**24:
        raise OSError(errno.ENOSPC, "")
    (folder / "probe").write_bytes(bytes(2**20))


def describe_file(path: Path, rows: int = 0) -> WrittenFile:
    """A file that was written, with its size and digest."""
    found = measure_file(path)
    return WrittenFile(path.name, rows, found.size, found.sha256)
