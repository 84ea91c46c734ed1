"""Pictures of what a terminal shows, for pages that are read as files.

A forge shows the README without building anything, so these pictures are kept in
`docs/assets`. They are no drawings: the command is run in a terminal of its own, and
what it printed becomes SVG, with whatever fonts the reader has. `make docs` and a test
make them anew and fail where a kept one is not what the command prints today;
`make docs-pages` writes them.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path

from rich.console import Console
from rich.text import Text

from privet.demo.tables import bank_path

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "docs" / "assets"
WIDTH = 92
"""Letters in a line."""
FONTS = (
    "ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace"
)
"""What most machines have; nothing is loaded."""
FORMAT = """\
<svg role="img" viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg">
<title>{told}</title>
<style>
.{{unique_id}}-matrix {{{{ font-family: {fonts}; font-size: {{char_height}}px; }}}}
.{{unique_id}}-title {{{{ font: bold 18px sans-serif; }}}}
{{styles}}
</style>
<defs>
<clipPath id="{{unique_id}}-clip-terminal">
<rect x="0" y="0" width="{{terminal_width}}" height="{{terminal_height}}" />
</clipPath>
{{lines}}
</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})"
clip-path="url(#{{unique_id}}-clip-terminal)">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""
"""The frame: rich's own loads its font from elsewhere."""


# One picture --------------------------------------------------------------------------


def draw_audit() -> str:
    """The README's first example, as a steward sees it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    policy = re.search(r'```toml title="policy.toml"\n(.*?)```', text, re.S)
    assert policy is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "policy.toml").write_text(policy[1], encoding="utf-8")
        (Path(folder) / "bank.csv").write_bytes(bank_path().read_bytes())
        words = ["audit", "bank.csv", "-p", "policy.toml"]
        printed = run_in_terminal(words, Path(folder))
    return draw_screen("$ privet " + " ".join(words), printed, title="privet audit")


SCREENS: Mapping[str, Callable[[], str]] = {"terminal.svg": draw_audit}
"""Every picture that is kept, by its file in `docs/assets`."""


# How it is made -----------------------------------------------------------------------


def run_in_terminal(words: list[str], folder: Path, width: int = WIDTH) -> str:
    """What privet prints on a terminal of that width, its colours as signs."""
    ours, theirs = pty.openpty()
    environment = {
        **{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM")},
        "TERM": "xterm-256color",
        "COLUMNS": str(width),
        "LINES": "60",
        "PYTHONUTF8": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "privet", *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    found = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    process.wait()
    return found.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 2**16)
    except OSError:  # Linux says so where the other end is closed
        return b""


def draw_screen(typed: str, printed: str, *, title: str, width: int = WIDTH) -> str:
    """A terminal in which something was typed, and what it answered, as SVG."""
    console = Console(
        record=True, width=width, file=io.StringIO(), force_terminal=True, height=60
    )
    console.print(Text(typed, style="bold"), highlight=False)
    console.print(Text.from_ansi(printed.rstrip("\n")), highlight=False)
    said = escape(f"A terminal. {typed[2:]} answers: {' '.join(plain(printed))}")
    frame = FORMAT.format(told=said.replace("{", "").replace("}", ""), fonts=FONTS)
    svg = console.export_svg(title=title, code_format=frame, unique_id="screen")
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


def plain(printed: str, most: int = 6) -> list[str]:
    """The first lines that were printed, without colours; they are read out."""
    lines = [line.strip() for line in Text.from_ansi(printed).plain.splitlines()]
    return [line for line in lines if line][:most]


# All of them --------------------------------------------------------------------------


def list_stale(folder: Path = ASSETS) -> list[str]:
    """Pictures that are missing, or not what the code makes today."""
    return [
        name
        for name, draw in SCREENS.items()
        if not (folder / name).is_file()
        or (folder / name).read_text(encoding="utf-8") != draw()
    ]


def write_screens(folder: Path = ASSETS) -> list[str]:
    """Write those that are not current; which they were."""
    stale = list_stale(folder)
    for name in stale:
        (folder / name).write_text(SCREENS[name](), encoding="utf-8")
    return stale
