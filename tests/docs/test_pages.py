"""Pages point at what exists, say what the code says, and load nothing from afar."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import examples
import pytest

from privet.findings import Basis, Verdict
from privet.values.adversaries import KINDS

ROOT = examples.ROOT
SOURCE = ROOT / "src" / "privet"
OURS = [
    *ROOT.glob("*.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]+)?\)")
PLACE = re.compile(r"`([\w/]+\.py): ?([\w.]+)`")


def relative(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", OURS, ids=relative)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    links = [m[1] for m in LINK.finditer(page.read_text(encoding="utf-8"))]
    local = [link for link in links if "://" not in link]
    assert [] == [link for link in local if not (page.parent / link).exists()]


def names(file: Path) -> set[str]:
    """Functions, classes and their methods of a source file, and its constants."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        if isinstance(node, ast.ClassDef):
            inside = (n for n in node.body if isinstance(n, ast.FunctionDef))
            found |= {f"{node.name}.{n.name}" for n in inside}
    return found


PLACES = [
    (relative(page), m[1], m[2])
    for page in OURS
    for m in PLACE.finditer(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "file", "name"), PLACES)
def test_places_in_the_code_exist(page: str, file: str, name: str) -> None:
    assert name in names(SOURCE / file), f"{page} names {file}:{name}"


def test_the_paper_s_page_names_places() -> None:
    pages = {page for page, _, _ in PLACES}
    assert "docs/explanation/handicapping-confidence.md" in pages


def contributing() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_contributing_names_every_room() -> None:
    """The table of rooms has all of them, and none that is not there."""
    table = contributing().split("| room, from the top")[1].split("\n\n")[0]
    first = [line.split("|")[1] for line in table.splitlines()[2:]]
    named = {word for cell in first for word in re.findall(r"`([\w.]+/?)`", cell)}
    rooms = {f"{p.parent.name}/" for p in SOURCE.glob("*/__init__.py")}
    assert rooms | {p.name for p in SOURCE.glob("[a-z]*.py")} == named
    inner = set(re.findall(r"`(\w+/)`", table)) - named
    assert [] == [room for room in inner if not list(SOURCE.glob(f"*/{room}"))]


def test_contributing_tells_every_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M))
    told = set(re.findall(r"^\| `make ([a-z-]+)`", contributing(), re.M))
    assert targets - {"setup"} == told


def test_recipes_name_places() -> None:
    """Each recipe leads somewhere that a test checks."""
    recipes = contributing().split("## How to add …")[1].split("\n\n**")[1:]
    assert len(recipes) >= 8
    for recipe in recipes:
        assert re.search(r"`[\w/]+\.(?:py|toml)|`_HOMES`|`make bench", recipe), recipe


FILES = [
    (relative(page), m[1])
    for page in OURS
    for m in re.finditer(r"`((?:\w+/)*\w+\.py)`", page.read_text(encoding="utf-8"))
    if "/" in m[1] or page.parent.name == "explanation"  # elsewhere: readers' own files
]


@pytest.mark.parametrize(("page", "file"), FILES)
def test_files_that_are_named_exist(page: str, file: str) -> None:
    assert (SOURCE / file).exists() or (ROOT / file).exists(), page


def glossary() -> dict[str, str]:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", text, flags=re.M)[1:]
    return {p.partition("\n")[0]: p.partition("\n")[2].strip() for p in parts}


WORDS = (
    "adversary, audit, basis, belief, bins, breach, ceiling, counts, custody, finding, "
    "group, identifier, infeasible, insider, interval, k-anonymity, limit, linker, "
    "manifest, marker, measure, move, policy, posterior, prior, promise, publisher, "
    "purpose, quasi-identifier, ratio, recipe, reconstructor, release, role, safe, "
    "sensitive, shift, sign-off, table, target, top-down disclosure, undecided, unit, "
    "verdict, weight, witness"
)


@pytest.mark.parametrize("word", [*WORDS.split(", "), *KINDS, *Verdict])
def test_the_glossary_has_the_word(word: str) -> None:
    assert word in {w.lower() for w in glossary()}


@pytest.mark.parametrize("word", glossary())
def test_the_glossary_gives_an_example(word: str) -> None:
    assert "xample" in glossary()[word]


def test_the_glossary_is_in_order() -> None:
    words = [w.lower() for w in glossary()]
    assert sorted(words) == words


def test_the_glossary_knows_every_basis() -> None:
    assert all(f"`{basis}`" in glossary()["Basis"] for basis in Basis)


def test_decisions_are_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = (folder / "index.md").read_text(encoding="utf-8")
    records = sorted(p.name for p in folder.glob("0*.md"))
    assert [f"{i:04}" for i in range(1, len(records) + 1)] == [r[:4] for r in records]
    assert [] == [r for r in records if r not in listed]


def test_the_changelog_knows_this_version() -> None:
    import privet

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {privet.__version__}" in text


def test_make_targets_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, flags=re.M))
    text = "\n".join(p.read_text(encoding="utf-8") for p in OURS)
    code = re.findall(r"`make ([\w-]+)`", text)
    typed = re.findall(r"^make ([\w-]+)(?:$| +#)", text, flags=re.M)
    named = {*code, *typed}
    assert named <= targets


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a broken link or a page left out is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return folder


def test_the_site_loads_nothing_from_afar(site: Path) -> None:
    loads = re.compile(
        r'<(?:script|img|iframe|link)\b[^>]*?(?:src|href)="?(?:https?:)?//[^">\s]+'
    )
    pages = list(site.rglob("*.html"))
    assert pages
    assert [] == [m[0] for p in pages for m in loads.finditer(p.read_text("utf-8"))]


def test_the_site_leaves_the_tools_out(site: Path) -> None:
    assert [] == list(site.rglob("*.py"))
    assert (site / "reference" / "policy.schema.json").exists()
