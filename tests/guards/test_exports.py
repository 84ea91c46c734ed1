"""One door: what `privet` offers is sorted, complete, importable and documented."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import privet

NAMES = [name for name in privet.__all__ if name != "__version__"]


def test_names_are_sorted_and_stand_once() -> None:
    assert sorted(set(privet.__all__)) == privet.__all__


def test_names_are_complete() -> None:
    assert {*privet._HOMES, "__version__"} == set(privet.__all__)


def test_dir_is_what_there_is() -> None:
    assert privet.__all__ == dir(privet)


def test_a_star_imports_everything() -> None:
    space: dict[str, object] = {}
    exec("from privet import *", space)
    assert set(privet.__all__) <= set(space)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_and_says_what_it_is(name: str) -> None:
    found = getattr(privet, name)
    home = importlib.import_module(f"privet.{privet._HOMES[name]}")
    assert found is getattr(home, name)
    assert (inspect.getdoc(found) or "").strip()


def public(found: object) -> list[tuple[str, object]]:
    """The methods and properties of a class that its users see."""
    own = vars(found) if inspect.isclass(found) else {}
    return [
        (name, getattr(found, name))
        for name, value in own.items()
        if not name.startswith("_")
        and isinstance(value, property | classmethod | staticmethod | type(public))
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_method_says_what_it_does(name: str) -> None:
    members = public(getattr(privet, name))
    assert [] == [n for n, member in members if not inspect.getdoc(member)]


def test_type_checkers_see_the_same_names() -> None:
    """The lines for type checkers cannot drift from the lazy table."""
    source = Path(privet.__file__).read_text(encoding="utf-8")
    block = source.split("if TYPE_CHECKING:")[1].split("\n\n\n")[0]
    space: dict[str, object] = {}
    exec("if True:" + block, space)
    assert set(NAMES) == {n for n in space if not n.startswith("__")}


def test_names_that_are_not_there_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Linkr'"):
        privet.Linkr  # noqa: B018 - that is the point


def test_python_suggests_the_nearest_name() -> None:
    line = "import privet; privet.Linkr"
    result = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, check=False
    )
    assert "Did you mean: 'Linker'?" in result.stderr


@pytest.mark.parametrize("name", ["read", "audit", "belief", "publish", "load"])
def test_options_of_verbs_are_keyword_only(name: str) -> None:
    parameters = inspect.signature(getattr(privet, name)).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    optional = [p.name for p in positional if p.default is not p.empty]
    assert optional in ([], ["about"])


def test_annotations_of_verbs_can_be_read() -> None:
    for name in ("audit", "belief", "read"):
        assert typing.get_type_hints(getattr(privet, name))
