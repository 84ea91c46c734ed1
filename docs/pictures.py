"""What mkdocs calls while it builds the site: its pictures are drawn here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def beside() -> Iterator[None]:
    """The tools of the documentation are found beside this file."""
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        yield
    finally:
        sys.path.pop(0)


def on_pre_build(**_: Any) -> None:
    """Pictures that are kept as files must be what the code makes today."""
    with beside():
        from making import page_pictures, screens
    made_by = {"make docs-pages": screens, "make pictures": page_pictures}
    for command, kind in made_by.items():
        if stale := kind.list_stale():
            raise ValueError(
                f"Pictures must be what the code makes; {', '.join(stale)} in "
                f"docs/assets must be made anew: {command}."
            )


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """A page with the figures it asks for; the gallery with its pictures."""
    with beside():
        from making.figures import with_figures
        from making.gallery import gallery_page
    if page.file.src_uri == "gallery.md":
        return gallery_page(markdown)
    return with_figures(markdown)
