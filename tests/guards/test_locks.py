"""The locks: all that pyproject.toml asks for, by version and hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "dependencies").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS: dict[str, list[str]] = PROJECT["dependency-groups"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

ENTRY = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>[^\\]+?))?"
    r"(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)
PYTHONS = ("3.11.7", "3.12.1", "3.13.0", "3.14.0")


def read(group: str) -> list[re.Match[str]]:
    text = (ROOT / "dependencies" / f"{group}.txt").read_text(encoding="utf-8")
    return list(ENTRY.finditer(text))


def find_pins(group: str, name: str) -> list[re.Match[str]]:
    return [m for m in read(group) if m["name"] == canonicalize_name(name)]


def test_each_group_has_its_lock() -> None:
    assert set(GROUPS) == {lock.stem for lock in LOCKS}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.stem)
def test_a_lock_is_versions_and_hashes_alone(lock: Path) -> None:
    """No index, no address, no path, no package that could be replaced unseen."""
    text = lock.read_text(encoding="utf-8")
    entries = list(ENTRY.finditer(text))
    assert text == "".join(m.group() for m in entries)
    assert entries
    assert not re.search(r"https?:|file:|index-url|find-links|@|/", text)


STATED = [
    *(("dev", r) for r in PROJECT["project"]["dependencies"]),
    *(("dev", r) for r in PROJECT["build-system"]["requires"]),
    *((group, r) for group, listed in GROUPS.items() for r in listed),
]


@pytest.mark.parametrize(("group", "stated"), STATED, ids=lambda s: s)
def test_what_the_project_asks_for_is_locked(group: str, stated: str) -> None:
    """After a change of pyproject.toml: `make lock`."""
    wanted = Requirement(stated)
    pins = find_pins(group, wanted.name)
    fitting = [m for m in pins if wanted.specifier.contains(Version(m["version"]))]
    assert fitting
    if not wanted.marker:
        assert pins == fitting


EXTRAS = {
    "learn": "dev",
    "fast": "dev",
    "collect": "dev",
    "sign": "dev",
    "files": "dev",
    "report": "dev",
    "spark": "places",
    "postgres": "places",
}
"""Where the packages of an extra are locked."""


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_an_extra_brings_is_locked(extra: str) -> None:
    for stated in PROJECT["project"]["optional-dependencies"][extra]:
        wanted = Requirement(stated)
        pins = find_pins(EXTRAS[extra], wanted.name)
        assert pins
        assert all(wanted.specifier.contains(Version(m["version"])) for m in pins)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.stem)
def test_no_package_twice_on_any_python(lock: Path, python: str) -> None:
    here = {"python_full_version": python, "python_version": python.rsplit(".", 1)[0]}
    names = [
        m["name"]
        for m in read(lock.stem)
        if not m["marker"] or Marker(m["marker"]).evaluate(here)
    ]
    assert len(names) == len(set(names))


def test_nothing_is_installed_without_a_lock() -> None:
    """privet itself is the one exception; it is here."""
    commands = [c for c in MAKEFILE.splitlines() if "pip install" in c]
    plain = [c for c in commands if not c.startswith("INSTALL")]
    assert ["--editable ."] == [c[-12:] for c in plain]
    assert all("--no-deps --no-build-isolation" in c for c in plain)
    assert "--require-hashes" in next(c for c in commands if c.startswith("INSTALL"))
    used = [c for c in MAKEFILE.splitlines() if "$(INSTALL)" in c]
    assert all(c.split()[-1].startswith("$(LOCKS)/") for c in used)
    assert len(used) == len(LOCKS)
