"""Files are short, functions shorter, and each says what it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "privet"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 700, 60


def relative(file: Path) -> str:
    return str(file.relative_to(SOURCE))


def own_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of code: neither the docstring nor the signature, which may be long."""
    first = function.body[0]
    if ast.get_docstring(function) and len(function.body) > 1:
        first = function.body[1]
    return (function.end_lineno or 0) - first.lineno + 1


@pytest.mark.parametrize("file", FILES, ids=relative)
def test_files(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= LONGEST_FILE
    assert ast.get_docstring(tree), "A file's first line says what it is."
    if file.name != "__init__.py":
        assert "from __future__ import annotations" in text
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [f.name for f in functions if own_lines(f) > LONGEST_FUNCTION]
    assert [] == long
