"""Writes the reference pages from the code itself; run by ``make docs-pages``.

`pages` gives every page as text, so that a test can tell whether the files are
current. What cannot be read off the code (an example per policy key, the meaning of
each field of the JSON output) stands in `making`, a file per page, and a test fails
where one is missing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from making.command_page import command_page
from making.exit_page import exit_page
from making.json_page import json_page
from making.policy_page import policy_page
from making.python_page import python_page
from making.release_page import release_page
from making.screens import write_screens

from privet.policy.file_keys import schema
from privet.report.documents.record import load_schema

REFERENCE = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """Every generated file of the reference, by its name."""
    return {
        "python.md": python_page(),
        "command-line.md": command_page(),
        "policy.md": policy_page(),
        "policy.schema.json": json.dumps(schema(), indent=2) + "\n",
        "report.schema.json": json.dumps(load_schema(), indent=2) + "\n",
        "exit-codes.md": exit_page(),
        "json.md": json_page(),
        "release.md": release_page(),
    }


def main() -> int:
    """Write every page and every kept picture that is not current."""
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        path = REFERENCE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written: docs/reference/{name}")
    for name in write_screens():
        print(f"written: docs/assets/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
