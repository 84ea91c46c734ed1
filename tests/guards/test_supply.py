"""Licences, the bill of materials and vulnerabilities: `make audit` can fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from email.message import Message
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "dependencies"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The scripts import each other as they do when they run."""
    monkeypatch.syspath_prepend(str(FOLDER))

    def take(name: str) -> ModuleType:
        return import_module(name)

    yield take
    for name in ("closure", "licences", "vulnerabilities"):
        sys.modules.pop(name, None)


# Vulnerabilities --------------------------------------------------------------------

SKIPPED = {"name": "click", "skip_reason": "Dependency not found and not audited"}
CLEAN = {"name": "click", "version": "8.5.1", "vulns": []}
BAD = {
    "name": "rich",
    "version": "15.0",
    "vulns": [{"id": "CVE-1", "fix_versions": ["15.1"], "aliases": []}],
}


def reply(*listed: dict[str, Any]) -> str:
    return json.dumps({"dependencies": listed, "fixes": []})


@pytest.mark.parametrize(
    ("output", "code", "words"),
    [
        (reply(CLEAN), 0, "none in 1 packages"),
        (reply(CLEAN, BAD), 1, "rich 15.0: CVE-1, mended in 15.1"),
        (reply(SKIPPED, BAD), 1, "CVE-1"),
        (reply(SKIPPED, CLEAN), 3, "COULD NOT ASK"),
        (reply(SKIPPED), 3, "COULD NOT ASK"),
        (reply(), 3, "COULD NOT ASK"),
        ("", 3, "ConnectionError: nobody there"),
        ("null", 3, "COULD NOT ASK"),
    ],
)
def test_what_was_not_asked_is_no_pass(
    load: Any, output: str, code: int, words: str
) -> None:
    """pip-audit ends with 0 where the index knows none of the packages."""
    script = load("vulnerabilities")
    said = "Traceback\nConnectionError: nobody there"
    text, found = script.conclude([script.read_reply(output, said, "osv")])
    assert code == found
    assert words in text


def test_the_second_service_may_answer_for_the_first(load: Any) -> None:
    script = load("vulnerabilities")
    replies = [
        script.read_reply(text, "", "x") for text in (reply(SKIPPED), reply(CLEAN))
    ]
    assert 0 == script.conclude(replies)[1]
    replies = [
        script.read_reply(text, "", "x") for text in (reply(SKIPPED), reply(BAD))
    ]
    assert 1 == script.conclude(replies)[1]


# What privet needs ------------------------------------------------------------------


def package(*requires: str) -> Any:
    return SimpleNamespace(requires=list(requires))


def test_extras_and_markers_are_followed_as_pip_does(load: Any) -> None:
    script = load("closure")
    installed = {
        "a": package("b", "t; extra == 'tests'", "w; sys_platform == 'nowhere'"),
        "b": package("c[more]"),
        "c": package("d; extra == 'more'", "e; extra == 'most'", "gone"),
        **{name: package() for name in ("d", "e", "t", "w", "other")},
    }
    needs = [script.Requirement("A"), script.Requirement("missing")]
    found = script.find_needed(needs, installed)
    assert {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": set()} == found


def test_the_core_needs_what_is_installed_here(load: Any) -> None:
    script = load("closure")
    core = {r.name for r in script.read_needs(extras=False)}
    more = {r.name for r in script.read_needs(extras=True)}
    assert {"attrs", "click", "duckdb", "numpy", "pyarrow", "rich"} == core
    assert core < more
    installed = {name: distribution(name) for name in (*core, "pygments", "hypothesis")}
    found = script.find_needed(script.read_needs(extras=False), installed)
    assert "pygments" in found
    assert "hypothesis" not in found


# Licences ---------------------------------------------------------------------------


def metadata(**keys: Any) -> Message:
    found = Message()
    for key, values in keys.items():
        for value in values if isinstance(values, list) else [values]:
            found[key.replace("_", "-")] = value
    return found


@pytest.mark.parametrize(
    ("keys", "shipped", "problem"),
    [
        ({"License_Expression": "MIT"}, True, ""),
        ({"License_Expression": "GPL-3.0-only OR MIT"}, True, ""),
        ({"License_Expression": "GPL-3.0-only AND MIT"}, True, "GPL-3.0-only AND MIT"),
        ({"License_Expression": "MPL-2.0"}, False, ""),
        ({"License_Expression": "MPL-2.0"}, True, "MPL-2.0"),
        ({"License_Expression": "Apache-2.0 WITH LLVM-exception"}, True, ""),
        ({"License": "MIT"}, True, ""),
        ({"License": "Wine"}, True, "Wine"),
        ({"License": "UNKNOWN"}, True, "states none"),
        ({}, True, "states none"),
        ({"Classifier": "License :: OSI Approved :: BSD License"}, True, ""),
        (
            {"License": "MIT", "Classifier": "License :: OSI Approved :: MIT License"},
            True,
            "",
        ),
        (
            {"Classifier": "License :: OSI Approved :: GNU GPL"},
            False,
            "GNU GPL",
        ),
    ],
)
def test_only_listed_licences_pass(
    load: Any, keys: dict[str, Any], shipped: bool, problem: str
) -> None:
    script = load("licences")
    found = script.judge(
        "x", SimpleNamespace(metadata=metadata(**keys)), shipped=shipped
    )
    assert bool(problem) == bool(found)
    assert problem in "".join(found)


def test_a_package_that_is_not_there_does_not_pass(load: Any) -> None:
    assert ["x is locked, but not installed: its licence cannot be read."] == load(
        "licences"
    ).judge("x", None, shipped=True)
