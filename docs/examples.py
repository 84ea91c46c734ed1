"""The examples of the documentation: found, run, compared, or written anew.

A page is one session in one empty folder that holds ``bank.csv``, from top to bottom:

- a block with a title, such as ``toml title="policy.toml"``, is a file; it is written;
- a ``pycon`` block is a dialogue with ``>>>``: each statement, then what it shows;
- a ``console`` block is a dialogue with ``$``: each command, then what it prints.

Blocks in other languages are only read by people. Output is compared exactly; only
the middle of a Python traceback is left out, as ``...``.

``python docs/examples.py`` compares; ``--write`` puts today's output into the pages.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BANK = ROOT / "src" / "privet" / "demo" / "bank.csv"
FENCE = re.compile(r"^```(?P<info>\w[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)
TITLE = re.compile(r'title="([^"]+)"')
MARK = "== the command above has ended =="


@dataclass(frozen=True)
class Step:
    """One thing typed, and what it prints."""

    typed: tuple[str, ...]
    """The lines with their prompts."""
    output: str
    """What follows them, without the last line break."""

    def source(self, prompts: tuple[str, ...]) -> str:
        """What was typed, without the prompts."""
        return "\n".join(_without(line, prompts) for line in self.typed) + "\n"

    def text(self) -> str:
        """The step as a page shows it."""
        return "\n".join([*self.typed, *([self.output] if self.output else [])]) + "\n"


def pages() -> list[Path]:
    """The pages whose examples are run."""
    folders = ("tutorials", "how-to", "explanation")
    found = [p for f in folders for p in sorted((ROOT / "docs" / f).glob("*.md"))]
    return [ROOT / "README.md", ROOT / "docs" / "index.md", *found]


def run(page: Path) -> str:
    """The page's text with the output its examples have today."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(BANK, folder)
        names: dict[str, Any] = {"__name__": "__main__"}
        return FENCE.sub(lambda block: _block(block, Path(folder), names), text)


def _block(block: re.Match[str], folder: Path, names: dict[str, Any]) -> str:
    info, body = block["info"], block["body"]
    language = info.split()[0]
    if title := TITLE.search(info):
        (folder / title[1]).write_text(body, encoding="utf-8")
        return block[0]
    if language == "python":
        raise ValueError(f"A python block must have a title, or be pycon:\n{body}")
    if language == "pycon":
        with chdir(folder):
            steps = [_python(s, names) for s in split(body, (">>> ", "... "))]
    elif language == "console":
        steps = _console(list(split(body, ("$ ", "> "))), folder)
    else:
        return block[0]
    return f"```{info}\n" + "".join(s.text() for s in steps) + "```"


def split(body: str, prompts: tuple[str, ...]) -> Iterator[Step]:
    """The steps of a dialogue; the first prompt begins one, the second goes on."""
    begin, go_on = prompts
    typed: list[str] = []
    output: list[str] = []
    for line in body.splitlines():
        if line.startswith(begin):
            if typed:
                yield _step(typed, output)
            typed, output = [line], []
        elif not typed:
            raise ValueError(f"A dialogue must begin with {begin!r}; got {line!r}.")
        elif not output and (line + " ").startswith(go_on):
            typed.append(line)
        else:
            output.append(line)
    if typed:
        yield _step(typed, output)


def _step(typed: list[str], output: list[str]) -> Step:
    return Step(tuple(typed), "\n".join(output).rstrip("\n"))


def _without(line: str, prompts: tuple[str, ...]) -> str:
    return next((line[len(p) :] for p in prompts if line.startswith(p)), "")


def _python(step: Step, names: dict[str, Any]) -> Step:
    shown = io.StringIO()
    with redirect_stdout(shown), redirect_stderr(shown):
        try:
            code = compile(step.source((">>> ", "... ")), "<example>", "single")
            exec(code, names)
        except Exception as error:
            print("Traceback (most recent call last):\n  ...")
            print("".join(traceback.format_exception_only(error)), end="")
    return replace(step, output=shown.getvalue().rstrip("\n"))


def _console(steps: list[Step], folder: Path) -> list[Step]:
    """Run the commands in one shell, so that ``$?`` means what it says."""
    script = "".join(
        f"{s.source(('$ ', '> '))}code=$?; echo '{MARK}'; (exit $code)\n" for s in steps
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    outputs = done.stdout.split(f"{MARK}\n")[: len(steps)]
    return [
        replace(s, output=text.rstrip("\n"))
        for s, text in zip(steps, outputs, strict=True)
    ]


def _environment() -> dict[str, str]:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    kept = {k: v for k, v in os.environ.items() if k in ("HOME", "PYTHONPATH")}
    return kept | {"PATH": path, "LANG": "C.UTF-8", "COLUMNS": "88"}


def main(write: bool) -> int:
    """Compare every page with what it would say today, or write it."""
    stale = 0
    for page in pages():
        text = run(page)
        if text == page.read_text(encoding="utf-8"):
            continue
        stale += 1
        print("written:" if write else "not current:", page.relative_to(ROOT))
        if write:
            page.write_text(text, encoding="utf-8")
    return 0 if write else stale


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
