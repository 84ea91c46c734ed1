"""The intent of a commit: what will be moved where, written down before anything is.

A release, its custody record and its ledger entry may be on three file systems, which
no single step can change together. So the claim beside the release says first what is
to come; claims in custody and ledger say the same. Then names change, the release's
last. Whoever finds the claim of a process that died finishes what it began if the
release is there, and undoes it otherwise.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import PrivacyWarning, PrivetError
from privet.languages import mark, say, translate
from privet.release.atomic_folder import (
    hash_text,
    move_back,
    remove_tree,
    save,
    sync,
)
from privet.release.commit.claims import (
    Busy,
    Claim,
    hold_claim,
    read_claim,
    take_claim,
)
from privet.release.commit.interrupts import Interrupts
from privet.release.verify import MANIFEST, digest

if TYPE_CHECKING:
    from privet.release.ledger import Ledger, LedgerEntry, PendingEntry

CUSTODY_CLAIM, LEDGER_CLAIM = ".custody-commit", ".ledger-commit"
"""The claims of a custody folder and of a ledger, inside it."""

TOKEN = re.compile(r"[0-9a-f]{12}")


def place_claim(folder: Path) -> Path:
    """The claim of a release, beside its folder."""
    return folder.with_name(f".{folder.name}.release-commit")


@dataclass(frozen=True)
class Intent:
    """What a commit is about to do; no cell of anybody is in it."""

    token: str
    """What the names of all that is not in its place yet end with."""
    folder: Path
    """Where the release is to appear."""
    manifest: str
    """The digest of its manifest."""
    custody: Path
    """The folder of its private record."""
    kept: Mapping[str, str]
    """The digests of the files that are kept there, by name."""
    over: tuple[str, ...] = ()
    """Those of them that replace others."""
    made: tuple[Path, ...] = ()
    """Folders that are made for custody, the innermost first."""
    ledger: Path | None = None
    """The ledger it is entered in."""
    number: int = 0
    """The number of its entry there."""
    spent: bool = False
    """Whether its noise took from a privacy budget."""
    inode: int = 0
    """What tells its folder from an equal one that is there already."""

    @property
    def partial(self) -> Path:
        """The folder it is written to before it appears."""
        return self.folder.with_name(f".{self.folder.name}.partial-{self.token}")

    @property
    def appeared(self) -> bool:
        """Whether the release is in its place."""
        path = self.folder / MANIFEST
        if not path.is_file() or digest(path) != self.manifest:
            return False
        return not self.inode or self.folder.stat().st_ino == self.inode

    def fresh(self, name: str) -> Path:
        """A file of custody before it gets its name."""
        return self.custody / f".{name}.new-{self.token}"

    def old(self, name: str) -> Path:
        """The file that it replaces, until the release is there."""
        return self.custody / f".{name}.old-{self.token}"

    def to_dict(self) -> dict[str, Any]:
        """For the claims."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        found["made"] = [str(p) for p in self.made]
        found["kept"], found["over"] = dict(self.kept), list(self.over)
        paths = {k: str(v) for k, v in found.items() if isinstance(v, Path)}
        return {"intent": found | paths}

    @classmethod
    def from_claim(cls, content: Mapping[str, Any] | None) -> Intent | None:
        """What a claim says; None: it says nothing that makes sense."""
        try:
            stated = dict((content or {})["intent"])
            for key in ("folder", "custody", "ledger"):
                if stated[key] is not None:
                    stated[key] = Path(stated[key])
            stated["made"] = tuple(map(Path, stated["made"]))
            stated["over"] = tuple(stated["over"])
            found = cls(**stated)
            return found if found._makes_sense() else None
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _makes_sense(self) -> bool:
        """Claims may come with what somebody sent: no path leads out of its folder."""
        plain = all(Path(n).name == n and n not in ("", "..") for n in self.kept)
        above = {self.custody, *self.custody.parents}
        return (
            TOKEN.fullmatch(self.token) is not None
            and plain
            and set(self.over) <= self.kept.keys()
            and set(self.made) <= above
            and isinstance(self.number, int)
            and self.folder.is_absolute()
        )


# Drafts -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Draft:
    """A release that is being written, in a folder beside its place."""

    folder: Path
    """Where it is written."""
    token: str
    """What tells this commit from others."""
    claim: Claim = field(repr=False)
    """The claim of its place."""
    interrupts: Interrupts = field(repr=False)
    """How Ctrl-C is heard meanwhile."""


@contextmanager
def make_draft(folder: Path) -> Iterator[Draft]:
    """A new folder beside the given one, which is gone in the end unless it appeared.

    Its place is claimed all the time, so there is one writer at most: what others
    left is removed first.
    """
    with Interrupts() as interrupts, ExitStack() as stack:
        interrupts.hold()
        claim = take_claim(place_claim(folder))
        stack.callback(claim.let_go)
        _settle_found(claim, folder)
        token = secrets.token_hex(6)
        partial = folder.with_name(f".{folder.name}.partial-{token}")
        stack.callback(_remove_draft, partial, claim)
        partial.mkdir(mode=0o700)
        interrupts.let()
        try:
            yield Draft(partial, token, claim, interrupts)
        finally:
            interrupts.hold()


def _remove_draft(partial: Path, claim: Claim) -> None:
    """What cannot be removed now is known by the claim, which stays."""
    if not remove_tree(partial):
        claim.keep = True


# Commits ----------------------------------------------------------------------------


@dataclass(frozen=True)
class NewEntry:
    """What a release is entered with in its ledger."""

    ledger: Ledger
    """The ledger it was judged with."""
    entry: LedgerEntry
    """What is entered."""
    write_files: Callable[[Path], None]
    """Writes the digests of people, and what judging its kind needs."""
    spent: bool
    """Whether its noise took from a privacy budget."""


class Commit:
    """A commit that is going on, and the claims it holds."""

    def __init__(self, intent: Intent, draft: Draft) -> None:
        self.intent = intent
        self.draft = draft
        self._claims: list[Claim] = []

    def begin(self) -> None:
        """Say what will come, beside the release first; make the custody folder."""
        intent = self.intent
        self.draft.claim.write(intent.to_dict())
        sync(intent.folder.parent)
        intent.custody.mkdir(parents=True, exist_ok=True, mode=0o700)
        claim = self._take(intent.custody / CUSTODY_CLAIM)
        settle_claim(claim)
        claim.write(intent.to_dict())
        sync(intent.custody)

    def draft_entry(self, new: NewEntry) -> tuple[PendingEntry, LedgerEntry]:
        """Write the entry of the ledger, where nobody reads it; this may take long."""
        assert self.intent.ledger is not None
        claim = self._take(self.intent.ledger / LEDGER_CLAIM)
        pending = new.ledger.draft_entry(new.entry, claim)
        claim.write(self.intent.to_dict())
        sync(self.intent.ledger)
        self.draft.interrupts.let()
        added = pending.write(new.write_files)
        self.draft.interrupts.hold()
        return pending, added

    def _take(self, path: Path) -> Claim:
        from privet.release.ledger import explain_busy_ledger

        try:
            claim = take_claim(path)
        except Busy:
            if path.name == LEDGER_CLAIM:
                raise explain_busy_ledger(path.parent) from None
            raise
        self._claims.append(claim)
        return claim

    def settle(self) -> bool:
        """Finish or undo; whether the release is there.

        What cannot be done now, the next one does who comes by: the claims stay.
        """
        claims = [*self._claims, self.draft.claim]
        before = [claim.keep for claim in claims]
        for claim in claims:
            claim.keep = True
        try:
            appeared = settle(self.intent)
            for claim, keep in zip(claims, before, strict=True):
                claim.keep = keep
        except (OSError, PrivetError):
            appeared = self.intent.appeared
        finally:
            for claim in self._claims:
                claim.let_go()
        if not appeared and not self.draft.claim.keep:
            remove_made_folders(self.intent)
        return appeared


# Custody ----------------------------------------------------------------------------


def list_missing_folders(folder: Path) -> tuple[Path, ...]:
    """The folders that must be made for one, the innermost first."""
    return tuple(p for p in (folder, *folder.parents) if not p.exists())


def save_fresh(intent: Intent, texts: Mapping[str, str]) -> None:
    """Write the files of custody, under names that nobody reads."""
    replaced = [n for n in texts if (intent.custody / n).exists()]
    if set(replaced) - set(intent.over):
        raise FileExistsError(errno.EEXIST, "")
    for name, text in texts.items():
        save(intent.fresh(name), text, private=True)


def place_files(intent: Intent) -> None:
    """Give the files of custody their names; what they replace is kept for now."""
    for name in intent.kept:
        if name in intent.over:
            os.replace(intent.custody / name, intent.old(name))  # noqa: PTH105 - everywhere
        os.replace(intent.fresh(name), intent.custody / name)  # noqa: PTH105
    sync(intent.custody)


def _settle_custody(intent: Intent, *, appeared: bool) -> None:
    """Keep the new files and forget the old ones, or the other way round."""
    for name, sha256 in intent.kept.items():
        place, fresh, old = intent.custody / name, intent.fresh(name), intent.old(name)
        if appeared:
            if fresh.exists():
                os.replace(fresh, place)  # noqa: PTH105
            old.unlink(missing_ok=True)
            continue
        fresh.unlink(missing_ok=True)
        if old.exists():
            os.replace(old, place)  # noqa: PTH105
        elif name not in intent.over and place.exists() and digest(place) == sha256:
            place.unlink()
    if not appeared:
        sync(intent.custody)


# Settling ---------------------------------------------------------------------------


def settle(intent: Intent) -> bool:
    """Finish a commit if its release is there, undo it otherwise; whether it is.

    May be done again at any time: what is settled is left as it is. Custody and ledger
    are touched only where they say the same.
    """
    from privet.release.ledger import settle_entry

    appeared = intent.appeared
    if _agrees(intent, intent.custody / CUSTODY_CLAIM):
        _settle_custody(intent, appeared=appeared)
    if intent.ledger is not None and _agrees(intent, intent.ledger / LEDGER_CLAIM):
        settle_entry(
            intent.ledger,
            intent.number,
            intent.manifest,
            seen=appeared,
            spent=intent.spent,
        )
    move_back(intent.partial, intent.folder, appeared=appeared)
    return appeared


def _agrees(intent: Intent, path: Path) -> bool:
    """Whether the claim of another folder says that it is part of this commit."""
    said = Intent.from_claim(read_claim(path))
    return said is not None and said.token == intent.token


def _is_empty(path: Path) -> bool:
    """Whether somebody died who had claimed a folder, but said nothing yet."""
    with suppress(OSError):
        return stat.S_ISREG(path.lstat().st_mode) and not path.lstat().st_size
    return False


def remove_made_folders(intent: Intent) -> None:
    """Remove the folders that were made for custody, where they are empty."""
    for path in intent.made:
        with suppress(OSError):  # not empty
            path.rmdir()


# Recovery ---------------------------------------------------------------------------


def recover(
    release: Path | None = None,
    custody: Path | None = None,
    ledger: Path | None = None,
) -> None:
    """Settle what processes that died left in any of these folders, and say so.

    What a living process does is left alone, and so is what may not be written to.
    """
    places = [place_claim(release)] if release and release.name else []
    for inside, name in ((custody, CUSTODY_CLAIM), (ledger, LEDGER_CLAIM)):
        if inside is not None and (inside / name).exists():
            said = Intent.from_claim(read_claim(inside / name))
            if said is not None and said.folder.parent.is_dir():
                places.append(place_claim(said.folder))
            places.append(inside / name)
    for place in dict.fromkeys(places):
        with suppress(Busy, OSError):
            if place.exists():
                _recover_claim(place)


def _recover_claim(place: Path) -> None:
    """Settle what one claim says, whose owner is dead."""
    with Interrupts() as interrupts:
        interrupts.hold()
        with hold_claim(place) as claim:
            if place.name in (CUSTODY_CLAIM, LEDGER_CLAIM):
                settle_claim(claim)
            else:
                name = place.name[1:].removesuffix(".release-commit")
                _settle_found(claim, place.with_name(name))


def _settle_found(claim: Claim, folder: Path) -> None:
    """Settle what a dead writer of a release left, and say so."""
    intent = Intent.from_claim(claim.found)
    left = list(_list_partials(folder))
    told = say(NOT_WRITTEN, folder=repr(str(folder))) if left else ""
    if intent is not None and intent.folder == folder:
        claim.keep = True  # until all is settled
        with _hold_others(intent):
            appeared = settle(intent)
        if not appeared:
            remove_made_folders(intent)
        claim.keep = False
        told = _describe(intent, appeared=appeared)
    removed = [remove_tree(path) for path in left]
    if not all(removed):
        claim.keep = True
    if told:
        warnings.warn(told, PrivacyWarning, stacklevel=2)


def settle_claim(claim: Claim) -> None:
    """Settle what a dead process said in the claim of a custody folder or a ledger."""
    if claim.found is None:
        return
    claim.keep = True
    intent = Intent.from_claim(claim.found)
    if intent is not None:
        _settle_elsewhere(intent)
    elif claim.path.name == LEDGER_CLAIM:
        from privet.release.ledger import finish_entry

        finish_entry(claim.path.parent, claim.found.get("number"))
    claim.keep = False


def _settle_elsewhere(intent: Intent) -> None:
    """Settle a commit from where its release is: the claim there is the last to go."""
    place = place_claim(intent.folder)
    if not place.parent.is_dir():
        raise OSError(errno.ENOENT, UNREACHABLE.format(str(place.parent)))
    if place.exists():
        with hold_claim(place) as claim:
            _settle_found(claim, intent.folder)
    elif any(intent.fresh(n).exists() or intent.old(n).exists() for n in intent.kept):
        settle(intent)  # somebody removed the claim by hand


@contextmanager
def _hold_others(intent: Intent) -> Iterator[None]:
    """Hold the claims of custody and ledger that are part of a commit; they go."""
    places = [intent.custody / CUSTODY_CLAIM]
    places += [intent.ledger / LEDGER_CLAIM] if intent.ledger else []
    with ExitStack() as stack:
        claims = []
        for place in places:
            if _agrees(intent, place) or _is_empty(place):
                with suppress(Busy):  # by ourselves
                    claims.append(take_claim(place))
                    stack.callback(claims[-1].let_go)
        for claim in claims:
            claim.keep = True
        yield
        for claim in claims:
            claim.keep = False


def _list_partials(folder: Path) -> Iterable[Path]:
    """What writers of a release left beside it; the claim says that none is alive."""
    prefix = f".{folder.name}.partial-"
    for path in folder.parent.iterdir():
        if path.name.startswith(prefix) and path.is_dir() and not path.is_symlink():
            yield path


# Saying so --------------------------------------------------------------------------

NOT_WRITTEN = mark(
    "A release to {folder} was stopped while it was written; what it left was removed."
)
UNDONE = mark(
    "A release to {folder} was stopped before it appeared; what it left was "
    "removed, and everything is as it was before."
)
DONE = mark(
    "A release to {folder} was stopped after it appeared; the rest was done now."
)
SPENT = mark("Its noise stays spent: the ledger counts it as released.")
UNREACHABLE = "the release that was begun must be settled first; cannot reach {0!r}"


def _describe(intent: Intent, *, appeared: bool) -> str:
    folder = repr(str(intent.folder))
    if appeared:
        return say(DONE, folder=folder)
    undone = say(UNDONE, folder=folder)
    if not (intent.spent and intent.ledger):
        return undone
    return f"{undone} {translate(SPENT)}"


def describe_kept(texts: Mapping[str, str]) -> dict[str, str]:
    """The digests of texts that are about to be files."""
    return {name: hash_text(text) for name, text in texts.items()}
