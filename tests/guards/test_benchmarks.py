"""Benchmarks and studies use privet as its users do: through the public door only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import privet as pv

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("studies/*.py")])
EXCEPTIONS: dict[str, str] = {
    "privet.microdata.utility": "a study of errors grows the trees the product grows",
    "privet.values.contingency": "the columns of these trees",
}
"""What else a file may import, and why."""
DEEPER = "privet."
MODULE = re.compile(r"privet(\.\w+)+")


def beyond_the_door(text: str) -> list[str]:
    """What a file takes from privet that is not in `privet.__all__`."""
    nodes = list(ast.walk(ast.parse(text)))
    return [*imported(nodes), *attributes(nodes), *quoted(nodes)]


def imported(nodes: list[ast.AST]) -> Iterator[str]:
    """Modules below the door, and names the door does not have."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("privet."))
        elif isinstance(node, ast.ImportFrom) and node.module == "privet":
            yield from (a.name for a in node.names if a.name not in pv.__all__)
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(DEEPER):
            yield str(node.module)


def attributes(nodes: list[ast.AST]) -> Iterator[str]:
    """Modules reached as attributes of the door: `pv.values`."""
    imports = [a for n in nodes if isinstance(n, ast.Import) for a in n.names]
    doors = {a.asname or a.name for a in imports if a.name == "privet"}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=door), attr=name):
                if door in doors and name not in pv.__all__:
                    yield f"{door}.{name}"


def quoted(nodes: list[ast.AST]) -> Iterator[str]:
    """Modules named in a text, to be imported or patched."""
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if MODULE.fullmatch(text):
                if text.split(".")[1] not in pv.__all__:
                    yield text


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_only_the_public_door_is_used(file: Path) -> None:
    found = set(beyond_the_door(file.read_text(encoding="utf-8")))
    assert set() == found - set(EXCEPTIONS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import privet as pv\npv.audit\npv.Linker", []),
        ("from privet import audit", []),
        ("import privet.values.jit", ["privet.values.jit"]),
        ("from privet.release import publish", ["privet.release"]),
        ("from privet import release", ["release"]),
        ("import privet as pv\npv.values.jit.SWITCH", ["pv.values"]),
        ("patch('privet.release.write')", ["privet.release.write"]),
        (
            "def f():\n    from privet.demo.tables import bank_path",
            ["privet.demo.tables"],
        ),
    ],
)
def test_what_is_beyond_is_found(text: str, found: list[str]) -> None:
    assert found == beyond_the_door(text)


def test_every_benchmark_and_study_is_run_small() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    made = dict(line.split(" := ", 1) for line in lines if " := " in line)
    for folder, variable in (("benchmarks", "SMOKE"), ("studies", "SMALL")):
        scripts = {
            f.stem
            for f in (ROOT / folder).glob("*.py")
            if '__name__ == "__main__"' in f.read_text(encoding="utf-8")
        }
        assert scripts == set(made[variable].split())
