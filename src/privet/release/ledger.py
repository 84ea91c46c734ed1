"""The ledger: a private folder that knows every release about the same people.

An entry has what later judging needs: the outline of what was released, where it went,
and a keyed digest per person, so that new, kept and gone can be told. Entries are
chained by codes that need the ledger's key: one that was changed, taken out or put in
by hand is noticed. An entry is written before its release appears and completed after:
one that was never completed counts as released, which is the safe side.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from privet.display import Reportable
from privet.engine.digests import KEY_LETTERS, Overlap, compare_digests
from privet.errors import InputError
from privet.release.atomic_folder import as_json, save, sync
from privet.release.commit.claims import Busy, Claim, take_claim
from privet.release.commit.interrupts import Interrupts
from privet.release.joint.outlines import ReleaseOutline
from privet.release.verify import digest

LEDGER, KEY, HEAD, ENTRIES = "ledger.json", "key", "head.json", "entries"
"""What a ledger's folder holds."""

ENTRY, PEOPLE, SHOWN, COMPLETE = (
    "entry.json",
    "people.parquet",
    "shown.parquet",
    "complete",
)
"""What an entry's folder holds: the last two not always."""

VERSION = 1
"""The form of the folder."""


# Values -----------------------------------------------------------------------------


@dataclass(frozen=True)
class LedgerEntry:
    """One release, as far as later ones must know it."""

    outline: ReleaseOutline
    """What it shows of each column."""
    title: str = ""
    """What it is called."""
    made: str = ""
    """When, in UTC."""
    place: str = ""
    """The folder or file it was released to."""
    manifest: str = ""
    """The digest of its manifest; empty: others published it."""
    custody: str = ""
    """The folder of its private record."""
    columns: tuple[str, ...] = ()
    """The columns of the private table that digests of rows are of."""
    person: tuple[str, ...] = ()
    """The columns that tell people apart; empty: the whole row does."""
    people: int | None = None
    """How many people it is about; None: nobody knows."""
    assumed: str = ""
    """What had to be assumed, of what others published."""
    number: int = 0
    """Its place in the ledger, from 1; others are not entered."""
    complete: bool = True
    """Whether its release was seen to appear; if not, it counts as released."""
    folder: Path | None = field(default=None, repr=False)
    """Where its digests are."""
    mac: str = field(default="", repr=False)
    """The code that proves it."""

    @property
    def name(self) -> str:
        """How reports call it."""
        what = self.title or Path(self.place).name or self.outline.kind
        return f"{self.number}. {what}" if self.number > 0 else what

    @property
    def digests(self) -> Path | None:
        """The file of digests, where there is one."""
        return None if self.folder is None or not self.columns else self.folder / PEOPLE

    def compare_people(self, digests: Path) -> Overlap:
        """Who of a table whose digests were made alike is in this release."""
        assert self.digests is not None
        return compare_digests(self.digests, digests)

    def to_dict(self) -> dict[str, Any]:
        """For the entry's file; what places and codes say is not in it."""
        return {
            "kind": self.outline.kind,
            "title": self.title,
            "made": self.made,
            "place": self.place,
            "manifest_sha256": self.manifest,
            "custody": self.custody,
            "outline": self.outline.to_dict(),
            "columns": list(self.columns),
            "person": list(self.person),
            "people": self.people,
            "assumed": self.assumed,
        }

    @property
    def loss(self) -> Mapping[str, str] | None:
        """What its noise costs, as `PrivacyLoss` writes it; None: it has none."""
        return self.outline.loss

    def summarise(self) -> dict[str, Any]:
        """What a list of entries says of it; nothing about a person."""
        return {
            "number": self.number,
            "kind": self.outline.kind,
            **({"loss": dict(self.loss)} if self.loss else {}),
            "title": self.title,
            "made": self.made,
            "place": self.place,
            "custody": self.custody,
            "people": self.people,
            "columns": list(self.outline.columns),
            "complete": self.complete,
            "assumed": self.assumed,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **more: Any) -> LedgerEntry:
        """Read what `to_dict` wrote."""
        return cls(
            outline=ReleaseOutline.from_dict(content["outline"]),
            title=content["title"],
            made=content["made"],
            place=content["place"],
            manifest=content["manifest_sha256"],
            custody=content["custody"],
            columns=tuple(content["columns"]),
            person=tuple(content["person"]),
            people=content["people"],
            assumed=content["assumed"],
            **more,
        )


@dataclass(frozen=True)
class Ledger(Reportable):
    """Every release about the same people, as a private folder keeps them.

    >>> import tempfile
    >>> ledger = Ledger.create(Path(tempfile.mkdtemp()) / "ledger")
    >>> ledger, Ledger.open(ledger.folder).entries
    (Ledger(0 releases), ())
    """

    folder: Path
    """Where it is; nobody else may read it."""
    key: str
    """What its digests and codes depend on."""
    entries: tuple[LedgerEntry, ...] = ()
    """The releases, the first first."""

    def __repr__(self) -> str:
        several = "1 release" if len(self) == 1 else f"{len(self)} releases"
        return f"Ledger({several})"

    def __len__(self) -> int:
        return len(self.entries)

    def to_dict(self) -> dict[str, Any]:
        """For machines: what is known of each release, and nothing of a person."""
        entries = [e.summarise() for e in self.entries]
        return {"ledger": str(self.folder), "releases": entries}

    @property
    def head(self) -> str:
        """What tells this state of the ledger from others."""
        return self.entries[-1].mac if self.entries else ""

    @classmethod
    def create(cls, folder: str | PathLike[str]) -> Ledger:
        """Make an empty ledger in a new folder, which nobody else may read."""
        place = Path(folder).expanduser().resolve()
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise InputError(
                f"{str(place)!r} must not exist yet to become a ledger; it does."
            )
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.chmod(0o700)
        key = secrets.token_hex(KEY_LETTERS // 2)
        (place / ENTRIES).mkdir(mode=0o700)
        save(place / KEY, key + "\n", private=True)
        made = cls(place, key)
        _write_head(made)
        # The last file: a folder without it is no ledger yet.
        save(place / LEDGER, as_json({"ledger": VERSION}), private=True)
        sync(place)
        return made

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Ledger:
        """Read a ledger, and make sure that nothing was changed in it."""
        place = Path(folder).expanduser().resolve()
        if not place.is_dir():
            raise InputError(
                f"The ledger {str(place)!r} must exist; it does not. Make it with: "
                f"privet ledger new {place}"
            )
        from privet.release.commit.intent import recover

        recover(ledger=place)
        return _read_ledger(place)

    @classmethod
    def is_ledger(cls, folder: str | PathLike[str]) -> bool:
        """Whether a folder holds a ledger."""
        return (Path(folder) / LEDGER).is_file()

    def find_release(self, manifest: str) -> LedgerEntry | None:
        """The entry of a release, by the digest of its manifest."""
        found = (e for e in self.entries if e.manifest == manifest and manifest)
        return next(found, None)

    def add(
        self, file: str | PathLike[str], *, of: Any = None, title: str = ""
    ) -> Ledger:
        """Enter a table or a view that others published; the ledger with it comes out.

        Parameters
        ----------
        file
            What was published: a file, or the folder of a release.
        of
            The private table whose rows it shows as they are. Without one, whether it
            is about the same people is not known, and later releases stay undecided.
        title
            What it is called.
        """
        from privet.release.foreign_release import enter_published

        return enter_published(self, file, of=of, title=title)

    def enter(self, entry: LedgerEntry, write_files: Callable[[Path], None]) -> None:
        """Enter what is released already.

        `write_files` puts digests into the new entry's folder.
        """
        from privet.release.commit.intent import LEDGER_CLAIM

        with _explain_use(self.folder), Interrupts() as interrupts, ExitStack() as last:
            interrupts.hold()
            claim = take_claim(self.folder / LEDGER_CLAIM)
            last.callback(claim.let_go)
            pending = self.draft_entry(entry, claim)
            last.callback(finish_entry, self.folder, pending.number)
            claim.write({"number": pending.number})
            interrupts.let()
            try:
                added = pending.write(write_files)
            finally:
                interrupts.hold()
            pending.place(added)
            interrupts.late = True

    def draft_entry(self, entry: LedgerEntry, claim: Claim) -> PendingEntry:
        """An entry that is about to be placed, by whoever holds the ledger's claim."""
        from privet.release.commit.intent import settle_claim

        settle_claim(claim)
        now = _read_ledger(self.folder)
        if now.head != self.head or len(now) != len(self):
            raise InputError(
                f"The ledger {str(self.folder)!r} must not change while a release "
                "is made; another one was entered meanwhile. Publish it again: it "
                "will be judged with that one, too."
            )
        return PendingEntry(now, entry)


@dataclass(frozen=True)
class PendingEntry:
    """An entry on its way into a ledger whose claim is held."""

    ledger: Ledger
    """The ledger without it."""
    entry: LedgerEntry
    """What is entered."""

    @property
    def number(self) -> int:
        """Its place in the ledger."""
        return len(self.ledger) + 1

    @property
    def _draft(self) -> Path:
        """Where it is before it counts; there is one at a time."""
        return self.ledger.folder / ENTRIES / f".{_name_folder(self.number)}.new"

    def write(self, write_files: Callable[[Path], None]) -> LedgerEntry:
        """Write it where nobody reads it yet; the entry with its code comes out."""
        draft = self._draft
        draft.mkdir(mode=0o700)
        write_files(draft)
        files = {p.name: digest(p) for p in sorted(draft.iterdir())}
        for name in files:
            (draft / name).chmod(0o600)
            sync(draft / name)
        content = {**self.entry.to_dict(), "files": files, "before": self.ledger.head}
        mac = _code(self.ledger.key, content)
        save(draft / ENTRY, as_json({**content, "mac": mac}), private=True)
        sync(draft)
        return replace(self.entry, number=self.number, complete=False, mac=mac)

    def place(self, added: LedgerEntry) -> None:
        """Let it count: as released, even before it is known to be complete."""
        place = self.ledger.folder / ENTRIES
        self._draft.rename(place / _name_folder(self.number))
        sync(place)
        _write_head(replace(self.ledger, entries=(*self.ledger.entries, added)))


# Codes ------------------------------------------------------------------------------


def _code(key: str, content: Any) -> str:
    """What only the owner of the key can write below this content."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hmac.new(bytes.fromhex(key), text.encode(), hashlib.sha256).hexdigest()


def _explain_change(place: Path, what: str) -> InputError:
    return InputError(
        f"The ledger {str(place)!r} must be as privet wrote it; {what}. Restore it "
        "from a backup: what was released is not forgotten by others."
    )


# Reading ----------------------------------------------------------------------------


def _read_ledger(place: Path) -> Ledger:
    stated = _read_json(place, place / LEDGER)
    if stated.get("ledger") != VERSION:
        raise InputError(
            f"The ledger {str(place)!r} must be of form {VERSION}; it is of "
            f"{stated.get('ledger')!r}. Another version of privet wrote it."
        )
    ledger = Ledger(place, _read_key(place))
    head = _read_json(place, place / HEAD)
    if head.get("mac") != _code(ledger.key, [head.get("entries"), head.get("last")]):
        raise _explain_change(place, f"{HEAD} was changed, or half-written")
    found = tuple(_list_entries(ledger))
    # A writer who died between an entry and the head leaves one that counts as well.
    if len(found) not in (head["entries"], head["entries"] + 1):
        raise _explain_change(place, "entries are missing, or were added by hand")
    before = found[: head["entries"]]
    if head["last"] != (before[-1].mac if before else ""):
        raise _explain_change(place, "its last entry is another one")
    return replace(ledger, entries=found)


def _read_key(place: Path) -> str:
    try:
        key = (place / KEY).read_text(encoding="ascii").strip()
        bytes.fromhex(key)
    except (OSError, ValueError):
        raise _explain_change(place, "its key cannot be read") from None
    if len(key) != KEY_LETTERS:
        raise _explain_change(place, "its key is not whole")
    return key


def _read_json(place: Path, file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        where = file.relative_to(place)
        raise _explain_change(place, f"{str(where)!r} is missing, or half-written")
    return content


def _list_entries(ledger: Ledger) -> Iterator[LedgerEntry]:
    place, last = ledger.folder, ""
    try:
        folders = sorted(p for p in (place / ENTRIES).iterdir() if _is_numbered(p))
    except OSError:
        raise _explain_change(place, "its entries are missing") from None
    for number, folder in enumerate(folders, 1):
        if folder.name != _name_folder(number):
            raise _explain_change(place, f"entry {number} is missing")
        yield (entry := _read_entry(ledger, folder, number, last))
        last = entry.mac


def _is_numbered(folder: Path) -> bool:
    return not folder.name.startswith(".")


def _name_folder(number: int) -> str:
    return f"{number:06}"


def _read_entry(ledger: Ledger, folder: Path, number: int, last: str) -> LedgerEntry:
    place = ledger.folder
    content = _read_json(place, folder / ENTRY)
    mac = content.pop("mac", "")
    if mac != _code(ledger.key, content) or content.get("before") != last:
        raise _explain_change(place, f"entry {number} was changed")
    for name, sha256 in content["files"].items():
        if not (folder / name).is_file() or digest(folder / name) != sha256:
            raise _explain_change(place, f"{name!r} of entry {number} was changed")
    return LedgerEntry.from_dict(
        content,
        number=number,
        complete=_is_complete(ledger, folder, mac),
        folder=folder,
        mac=mac,
    )


def _is_complete(ledger: Ledger, folder: Path, mac: str) -> bool:
    try:
        stated = (folder / COMPLETE).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    return hmac.compare_digest(stated, _code(ledger.key, ["complete", mac]))


# Writing ----------------------------------------------------------------------------


@contextmanager
def _explain_use(place: Path) -> Iterator[None]:
    try:
        yield
    except Busy:
        raise explain_busy_ledger(place) from None


def explain_busy_ledger(place: Path) -> InputError:
    """What to say where another release is just being entered."""
    return InputError(
        f"The ledger {str(place)!r} must not be in use; another release is being "
        "entered. Wait for it, and publish again."
    )


def _write_head(ledger: Ledger) -> None:
    """Say how many entries there are, in one go."""
    _write_count(ledger.folder, ledger.key, len(ledger), ledger.head)


def _write_count(place: Path, key: str, entries: int, last: str) -> None:
    mac = _code(key, [entries, last])
    _save_over(place / HEAD, as_json({"entries": entries, "last": last, "mac": mac}))


def _save_over(path: Path, text: str) -> None:
    """Write a file that is the old one or the new one at any time."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    save(fresh, text, private=True)
    os.replace(fresh, path)  # noqa: PTH105 - over the old one, on every system
    sync(path.parent)


# Settling ---------------------------------------------------------------------------


def settle_entry(
    place: Path, number: int, manifest: str, *, seen: bool, spent: bool
) -> None:
    """Complete the entry of a release that was seen, or take it back.

    One whose noise is spent stays although nobody saw its release: it counts.
    """
    _remove_drafts(place)
    found = _peek(place, number)
    if found.get("manifest_sha256") != manifest:
        return
    if seen:
        _complete(place, number, found["mac"])
    if seen or spent:
        _count(place, number, found["mac"])
    else:
        _withdraw(place, number, found["before"])


def finish_entry(place: Path, number: object) -> None:
    """Complete the last entry, of what others published; or remove its draft."""
    _remove_drafts(place)
    if isinstance(number, int) and (found := _peek(place, number)):
        _complete(place, number, found["mac"])
        _count(place, number, found["mac"])


def _peek(place: Path, number: int) -> dict[str, Any]:
    """What an entry says; empty: there is none."""
    folder = place / ENTRIES / _name_folder(number)
    return _read_json(place, folder / ENTRY) if folder.is_dir() else {}


def _remove_drafts(place: Path) -> None:
    """Remove what is no entry yet, or none any more."""
    for folder in (place / ENTRIES).glob(".*"):
        shutil.rmtree(folder, ignore_errors=True)
    (place / f".{HEAD}.new").unlink(missing_ok=True)


def _complete(place: Path, number: int, mac: str) -> None:
    """Mark an entry; what is not marked counts as released as well."""
    path = place / ENTRIES / _name_folder(number) / COMPLETE
    if not path.exists():
        _save_over(path, _code(_read_key(place), ["complete", mac]) + "\n")


def _count(place: Path, number: int, mac: str) -> None:
    """The head may not count an entry yet that stays."""
    if _read_json(place, place / HEAD).get("entries") == number - 1:
        _write_count(place, _read_key(place), number, mac)


def _withdraw(place: Path, number: int, before: str) -> None:
    """Take the last entry back, whose release never appeared.

    The head goes first: who dies in between leaves an entry that counts.
    """
    _write_count(place, _read_key(place), number - 1, before)
    folder = place / ENTRIES / _name_folder(number)
    gone = folder.with_name(f".{folder.name}.gone")
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
    sync(gone.parent)
