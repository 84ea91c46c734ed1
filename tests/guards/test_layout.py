"""The house: rooms of a moderate size, names that stand once, and imports one way."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "privet"
MODULES = [
    p
    for p in sorted(SOURCE.rglob("*.py"))
    if p.name not in ("__init__.py", "__main__.py")
]
FOLDERS = sorted({p.parent for p in MODULES})

MOST_MODULES = 20
MOST_EXCEPTIONS = 10

SLICES = ("microdata", "views", "classifier", "responses")
FRONT = ("release", "audit", "publish", "files", "report", "charts")
"""What every kind of release has, in a file of that name, or in a folder."""

SHARED_NAMES = {*FRONT, "engine", "kernels"}
"""Names that several modules may have; commands may be called as anything else is."""

NOUNS = {"encoding", "planning", "recoding", "rounding", "sampling", "counting"}
"""Words of the field that end as gerunds do."""

PARTICIPLES = re.compile(
    r"(?:\w+ing|\w+ed|held|kept|shown|drawn|told|done|known|built)"
)


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", FOLDERS, ids=relative)
def test_no_room_is_a_heap(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES


@pytest.mark.parametrize("kind", SLICES)
def test_every_kind_of_release_has_the_same_front(kind: str) -> None:
    files = {p.stem for p in (SOURCE / kind).glob("*.py")}
    folders = {p.parent.name for p in (SOURCE / kind).glob("*/__init__.py")}
    assert set(FRONT) <= files | folders


def test_a_module_name_stands_once() -> None:
    named = [p.stem for p in MODULES if p.parent != SOURCE / "cli"]
    twice = {name for name, n in Counter(named).items() if n > 1}
    assert set() == twice - SHARED_NAMES


def test_a_class_name_stands_once() -> None:
    found = Counter(
        node.name
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(tree(file))
        if isinstance(node, ast.ClassDef)
    )
    assert [] == [name for name, n in found.items() if n > 1]


@pytest.mark.parametrize("file", [*MODULES, *FOLDERS], ids=relative)
def test_modules_are_named_by_nouns(file: Path) -> None:
    """The last word counts: `disguised_naive_bayes` is a noun, `disguised` is not."""
    word = file.stem.split("_")[-1]
    assert word in NOUNS or not PARTICIPLES.fullmatch(word)


def test_no_listed_noun_is_out_of_use() -> None:
    words = {p.stem.split("_")[-1] for p in [*MODULES, *FOLDERS]}
    assert set() == NOUNS - words


CONVERSIONS = {
    *("asking", "binned", "coded", "counted", "finding", "guarded", "hashed"),
    *("numbered", "packed", "prepared", "protected", "quoted", "ranking", "recoded"),
    *("relabelled", "restricted", "rounded", "settled", "shortened", "showing"),
    *("shuffled", "smoothed", "sorted", "stacked", "told", "unguarded", "unpacked"),
    *("unrelated", "unrestricted", "widened", "closing", "bring", "hoeffding"),
}
"""One thing as another, words of the field, and verbs that only look like one."""


def functions() -> set[str]:
    """The names of all functions, without underscores, that are no properties."""
    return {
        node.name.strip("_")
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(tree(file))
        if isinstance(node, ast.FunctionDef)
        and not any("property" in ast.dump(d) for d in node.decorator_list)
        and not node.name.startswith("__")
    }


def test_functions_are_verbs() -> None:
    """A bare participle says nothing: `_judged`, `kept`, `_shown`."""
    bare = {name for name in functions() if PARTICIPLES.fullmatch(name)}
    assert CONVERSIONS == {name for name in bare if "_" not in name}


def test_no_module_hides_a_public_name() -> None:
    """`privet/audit.py` would replace the function `privet.audit` once imported."""
    import privet

    top = {p.stem for p in SOURCE.glob("*.py")} | {p.name for p in SOURCE.iterdir()}
    assert set() == top & set(privet.__all__)


def contract() -> dict[str, list[str]]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (found,) = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return dict(found)


def test_slices_are_independent_and_layers_go_one_way() -> None:
    """What the contract says; that it holds is tested in `test_imports.py`."""
    layers = contract()["layers"]
    assert " | ".join(f"privet.{kind}" for kind in SLICES) in layers
    named = {part.strip() for layer in layers for part in layer.split("|")}
    rooms = {f"privet.{p.parent.name}" for p in SOURCE.glob("*/__init__.py")}
    files = {f"privet.{p.stem}" for p in SOURCE.glob("[a-z]*.py")}
    assert rooms | files == named


def test_exceptions_are_few_and_each_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = text.split("ignore_imports = [")[1].split("\n]")[0].strip().splitlines()
    listed = [line for line in block if not line.strip().startswith("#")]
    assert len(contract()["ignore_imports"]) == len(listed) <= MOST_EXCEPTIONS
    assert block[0].strip().startswith("#")


# The words of the papers ------------------------------------------------------------

WORDS = {
    "equivalence class": "values/equivalence_classes.py",
    "template": "microdata/suppression/templates.py",
    "QID": "microdata/suppression/templates.py",
    "suppression": "microdata/suppression/__init__.py",
    "InfoGain": "microdata/suppression/top_down_disclosure.py",
    "PrivLoss": "microdata/suppression/top_down_disclosure.py",
    "generalisation": "microdata/generalisation/publish.py",
    "bucketization": "microdata/generalisation/forms.py",
    "SkylineAnonymize": "microdata/generalisation/mondrian.py",
    "background knowledge": "microdata/skyline/background_knowledge.py",
    "SkylineCheck": "microdata/skyline/skyline.py",
    "SkylineFind": "microdata/skyline/skyline_find.py",
    "congregation": "microdata/skyline/skyline.py",
    "CF1": "microdata/skyline/closed_forms.py",
    "CF5": "microdata/skyline/closed_forms.py",
    "possible world": "views/audit.py",
    "interesting world": "views/counting/bipartite_covers.py",
    "association cover": "views/sql/some_associations.py",
    "connectivity graph": "views/sql/all_associations.py",
    "secret query": "views/sql/secret_query.py",
    "amplification": "classifier/amplification.py",
    "NBC-equivalen": "classifier/transforms/safety_transform.py",
    "r-closeness": "classifier/transforms/r_closeness.py",
    "channel": "responses/channels.py",
    "Warner": "responses/channels.py",
    "one-group": "responses/channels.py",
    "two-group": "responses/design.py",
}
"""Where somebody who knows a paper looks, and finds the word."""


@pytest.mark.parametrize("word", WORDS)
def test_the_word_of_the_paper_leads_to_its_file(word: str) -> None:
    text = " ".join((SOURCE / WORDS[word]).read_text(encoding="utf-8").split())
    assert word.lower() in text.lower()
