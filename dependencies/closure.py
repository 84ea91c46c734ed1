"""What privet and its extras need, at first hand or at second, of what is installed.

Extras and markers are followed as pip does: that attrs can be tested with Hypothesis
does not make Hypothesis a part of privet.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def list_installed(folders: Iterable[str]) -> dict[str, Distribution]:
    """What is installed in environments and folders, by name."""
    places = [str(p) for f in folders for p in (*Path(f).glob("lib/python*/site-*"), f)]
    return {canonicalize_name(d.name): d for d in distributions(path=places)}


def read_needs(*, extras: bool) -> list[Requirement]:
    """The requirements that privet states, with those of its extras or without."""
    stated = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = [r for extra in stated["optional-dependencies"].values() for r in extra]
    needs = [Requirement(r) for r in (*stated["dependencies"], *optional * extras)]
    return [r for r in needs if r.name != "privet"]


def find_needed(
    needs: Iterable[Requirement], installed: Mapping[str, Distribution]
) -> dict[str, set[str]]:
    """Each package that is needed and installed, with those it needs itself."""
    found: dict[str, set[str]] = {}
    waiting, seen = list(needs), set()
    while waiting:
        need = waiting.pop()
        name = canonicalize_name(need.name)
        key = (name, frozenset(need.extras))
        if key in seen or name not in installed:
            continue
        seen.add(key)
        inner = _list_inner(installed[name], need.extras)
        there = {canonicalize_name(r.name) for r in inner} & installed.keys()
        found.setdefault(name, set()).update(there)
        waiting += inner
    return found


def _list_inner(package: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """What a package needs here, with some of its extras."""
    stated = [Requirement(r) for r in package.requires or ()]
    wanted = ["", *extras]
    return [
        r
        for r in stated
        if r.marker is None or any(r.marker.evaluate({"extra": e}) for e in wanted)
    ]
