"""How a document becomes a file: which form it takes, whole or not at all, and over
nothing.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from privet.display import DOCUMENT_HOMES
from privet.errors import InputError
from privet.release.atomic_folder import save, sync
from privet.release.handover.release_report import note_release
from privet.report.documents.dataset_description import (
    as_json_ld,
    describe_as_croissant,
    describe_as_dcat,
    require_stated,
)
from privet.report.documents.document import Document
from privet.report.documents.html import write_html
from privet.report.documents.record import write_json, write_markdown

WRITERS: Mapping[str, Callable[[Document], str]] = {
    "html": write_html,
    "json": write_json,
    "markdown": write_markdown,
}
"""The forms of a report or a note."""

DESCRIPTIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "croissant": describe_as_croissant,
    "dcat": describe_as_dcat,
}
"""How catalogues describe what is released; public, always."""

FORMATS = (*WRITERS, *DESCRIPTIONS)

ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".md": "markdown",
    ".markdown": "markdown",
}
"""What the name of a file says of its form."""


def hand_over(
    value: Any,
    path: str | PathLike[str],
    *,
    form: str | None = None,
    public: bool = False,
    replace: bool = False,
    state: Mapping[str, str] | None = None,
    **known: Any,
) -> Path:
    """Write the report of a value, or the public note of a release, to one file."""
    place = Path(path).expanduser()
    chosen = choose_form(place, form)
    refuse_existing(place, replace=replace)
    if state and chosen not in DESCRIPTIONS:
        raise InputError("state goes with croissant and dcat only.")
    public = public or chosen in DESCRIPTIONS
    text = _write_text(value, chosen, public=public, state=state or {}, **known)
    place_file(place, text, private=not public, replace=replace)
    return place


def choose_form(path: Path, form: str | None) -> str:
    """The form that was asked for, or that the file's name says."""
    chosen = form or ENDINGS.get(path.suffix.lower())
    if chosen is None:
        raise InputError(
            f"The name of a report must end in one of {', '.join(ENDINGS)}, or its "
            f"format be given; got {path.name!r}. Formats are {', '.join(FORMATS)}."
        )
    if chosen not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}; got {chosen!r}.")
    return chosen


def _write_text(
    value: Any, form: str, *, public: bool, state: Mapping[str, str], **known: Any
) -> str:
    if not public:
        return WRITERS[form](find_maker(value)(value, **known))
    if not hasattr(value, "manifest"):
        raise InputError(
            "A public note must be of a release; got "
            f"{type(value).__name__}, which is private."
        )
    note = note_release(value)
    if form in WRITERS:
        return WRITERS[form](note)
    stated = require_stated(state)
    return as_json_ld(DESCRIPTIONS[form](value.manifest, note, stated))


def find_maker(value: object) -> Callable[..., Document]:
    """What makes the private report of a value."""
    for kind in type(value).__mro__:
        if kind.__name__ in DOCUMENT_HOMES:
            home = import_module(DOCUMENT_HOMES[kind.__name__])
            found: Callable[..., Document] = home.DOCUMENTS[kind.__name__]
            return found
    raise InputError(f"{type(value).__name__} has no report.")


# Files ------------------------------------------------------------------------------


def refuse_existing(path: Path, *, replace: bool) -> None:
    """Nothing is written over, unless that was asked for; a folder never is."""
    if path.is_dir():
        raise InputError(f"A report must be a file; {str(path)!r} is a folder.")
    if not replace and os.path.lexists(path):
        raise InputError(
            f"{str(path)!r} must not exist yet; nothing is written over. Choose "
            "another name, or ask for it to be replaced."
        )


def place_file(path: Path, text: str, *, private: bool, replace: bool) -> None:
    """Let a file appear whole under its name; a private one for its owner alone."""
    draft = path.with_name(f".{path.name[:80]}.{secrets.token_hex(8)}")
    try:
        save(draft, text, private=private)
        if replace:
            draft.replace(path)
        else:
            _name_file(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    with suppress(OSError):
        sync(path.parent)


def _name_file(draft: Path, path: Path) -> None:
    """Give a file its name unless somebody was faster, on disks without links, too."""
    try:
        os.link(draft, path)
    except FileExistsError:
        refuse_existing(path, replace=False)
        raise
    except OSError:
        refuse_existing(path, replace=False)
        draft.rename(path)
