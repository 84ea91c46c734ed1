"""What mkdocs calls while it builds the site: the gallery's pictures are drawn here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The gallery with its pictures; every other page as it is."""
    if page.file.src_uri != "gallery.md":
        return markdown
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        from making.gallery import gallery_page
    finally:
        sys.path.pop(0)
    return gallery_page(markdown)
