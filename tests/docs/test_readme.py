"""Every example of the README and of the guides runs, and prints what it says."""

from __future__ import annotations

import difflib
from pathlib import Path

import examples
import pytest


def relative(page: Path) -> str:
    return str(page.relative_to(examples.ROOT))


@pytest.mark.parametrize("page", examples.pages(), ids=relative)
def test_examples_print_what_the_page_says(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    today = examples.run(page)
    difference = difflib.unified_diff(
        written.splitlines(), today.splitlines(), "the page", "today", lineterm=""
    )
    assert written == today, "\n".join(
        [*difference, "", "Take it over: python docs/examples.py --write"]
    )


def test_every_guide_has_pages() -> None:
    folders = {p.parent.name for p in examples.pages()}
    assert {"tutorials", "how-to", "explanation"} <= folders


def test_the_readme_shows_the_paper_s_numbers() -> None:
    text = (examples.ROOT / "README.md").read_text(encoding="utf-8")
    assert "Belief(prior=Fraction(5, 24), posterior=Fraction(4, 5))" in text
    assert "4 of 5" in text


# What runs the examples must itself notice an untruth.


def run(tmp_path: Path, *lines: str) -> str:
    page = tmp_path / "page.md"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return examples.run(page)


def test_a_wrong_output_is_replaced(tmp_path: Path) -> None:
    assert ">>> 1 + 1\n2\n" in run(tmp_path, "```pycon", ">>> 1 + 1", "3", "```")


def test_a_dialogue_remembers(tmp_path: Path) -> None:
    text = run(tmp_path, "```pycon", ">>> x = 2", "```", "", "```pycon", ">>> x", "```")
    assert text.endswith(">>> x\n2\n```\n")


def test_blank_lines_are_output(tmp_path: Path) -> None:
    typed = [">>> print('a\\n\\nb')", "a", "", "b", ">>> 1", "1"]
    page = ["```pycon", *typed, "```"]
    assert "\n".join(page) + "\n" == run(tmp_path, *page)


def test_an_exception_ends_with_its_message(tmp_path: Path) -> None:
    text = run(tmp_path, "```pycon", ">>> 1 / 0", "```")
    assert "Traceback (most recent call last):\n  ...\nZeroDivisionError" in text


def test_a_titled_block_is_a_file(tmp_path: Path) -> None:
    file = ['```text title="a.txt"', "hello", "```", ""]
    text = run(tmp_path, *file, "```console", "$ cat a.txt", "```")
    assert text.endswith("$ cat a.txt\nhello\n```\n")


def test_a_shell_remembers_the_exit_code(tmp_path: Path) -> None:
    text = run(tmp_path, "```console", "$ (exit 3)", "$ echo $?", "```")
    assert "$ echo $?\n3\n" in text


def test_the_bank_is_at_hand(tmp_path: Path) -> None:
    text = run(tmp_path, "```console", "$ head -1 bank.csv", "```")
    assert "job,country,child,bankruptcy,rating,count" in text


def test_a_python_block_must_be_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must have a title"):
        run(tmp_path, "```python", "x = 1", "```")


def test_a_dialogue_must_begin_with_a_prompt(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must begin with"):
        run(tmp_path, "```console", "ls", "```")
