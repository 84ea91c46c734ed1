"""What is not TOML is said with its line, in words a steward understands."""

from __future__ import annotations

import pytest

from policy.examples import DESIGN
from privet import Policy, PolicyError
from privet.policy.toml import find_line, locate_keys


def problem(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text, file="p.toml")
    (one,) = caught.value.problems
    return one.words("p.toml")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a = 1\nb = linker", 2, 'text must stand in "quotes"'),
        ("a = .5", 1, 'text must stand in "quotes"'),
        ("a = 1\n\na = 2", 3, "this key stands here for the second time"),
        ("[columns]\n[columns]", 2, "this section stands here for the second time"),
        ("[columns]\n\nquasi", 3, "a line must be a [section] or key = value"),
        ("= 5", 1, "a line must be a [section] or key = value"),
        ("a = [1,\n2\n", 2, "unclosed array"),
        ('a = "x', 1, "unterminated string"),
        ('a = "x\ny"', 1, "illegal character '\\n'"),
        (f"a = {'1' * 5000}", 1, "a number has too many digits"),
        (f"a = {'[' * 5000}", 1, "brackets are nested too deeply"),
    ],
)
def test_syntax(text: str, line: int, words: str) -> None:
    said = problem(text)
    assert said.startswith(f"p.toml:{line}: A policy must be TOML; got ")
    assert said.endswith(f": {words}.") or words in said


def test_the_line_itself_is_quoted() -> None:
    assert "got 'against = linker # who?'" in problem("  against = linker # who?  ")


# Lines ------------------------------------------------------------------------------


def test_lines_of_the_design() -> None:
    lines = locate_keys(DESIGN)
    assert {
        "title": 1,
        "columns": 2,
        "columns.target": 6,
        "promise[1]": 8,
        "promise[1].about": 12,
        "promise[1].about.bankruptcy": 12,
        "promise[2].below": 22,
        "promise[3].to": 30,
        "measure[1].k_anonymity": 33,
        "purpose.utility": 36,
    }.items() <= lines.items()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("# [columns]\n\n", {}),
        ("a.b = 1", {"a": 1, "a.b": 1}),
        ('"a.b" = 1', {"a.b": 1}),
        ("a = [\n 1, # one\n\n 2,\n]\nb = 1", {"a": 1, "b": 6}),
        ('a = """\n[x]\nb = 1\n"""\nc = 1', {"a": 1, "c": 5}),
        ("[[p]]\n[[p]]\nx = 1\n", {"p[1]": 1, "p[2]": 2, "p[2].x": 3}),
        ("[[p]]\n[p.q]\nx = 1\n", {"p[1]": 1, "p[1].q": 2, "p[1].q.x": 3}),
        (
            "p = [{ x = 1 }, { y = 2 }]",
            {"p[1]": 1, "p[1].x": 1, "p[2]": 1, "p[2].y": 1},
        ),
        ("a = 1\r\nb = 2\r\n", {"a": 1, "b": 2}),
        ("a = '\u2028\u0085'\nb = 2", {"a": 1, "b": 2}),
        ("[a.b]\nc = 1", {"a.b": 1, "a.b.c": 2}),
    ],
)
def test_lines(text: str, expected: dict[str, int]) -> None:
    assert expected == locate_keys(text)


def test_the_line_of_what_is_missing_is_that_of_what_is_around() -> None:
    lines = {"promise[1]": 4, "promise[1].about": 6}
    assert 6 == find_line("promise[1].about.x", lines)
    assert 4 == find_line("promise[1].at_most", lines)
    assert 4 == find_line("promise", lines)
    assert None is find_line("purpose", lines)
    assert None is find_line("", lines)


def test_long_policies_are_located_fast() -> None:
    promise = '[[promise]]\nname = "{}"\nagainst = "linker"\nat_most = 0.5\n'
    text = "".join(promise.format(i) for i in range(1_000))
    assert 3_999 == locate_keys(text)["promise[1000].against"]
