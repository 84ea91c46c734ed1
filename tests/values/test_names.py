"""Names that are not there are answered with names that are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import find_nearest, suggest_names


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("bankrupcy", ["job", "bankruptcy"], ["bankruptcy"]),
        ("JOB", ["job", "country"], ["job"]),
        ("Größe", ["grösse", "alter"], ["grösse"]),
        ("zzz", ["job", "country"], []),
        ("", ["job"], []),
        ("job", [], []),
    ],
)
def test_nearest(name: str, known: list[str], expected: list[str]) -> None:
    assert expected == find_nearest(name, known)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("jop", ["job", "country"], "Did you mean 'job'?"),
        ("col1", ["col2", "col3"], "Did you mean 'col3' or 'col2'?"),
        ("?", ["job", "country"], "There are 'job', 'country'."),
        ("?", [], "There are none."),
    ],
)
def test_what_exists(name: str, known: list[str], expected: str) -> None:
    assert expected == suggest_names(name, known)


def test_long_lists_are_cut() -> None:
    many = [f"column{i}" for i in range(20)]
    assert suggest_names("?", many).endswith("'column11' and 8 more.")


@given(st.lists(st.text(max_size=8), min_size=1, unique_by=str.casefold))
def test_a_name_is_nearest_to_itself(known: list[str]) -> None:
    for name in known:
        assert not name or name == find_nearest(name, known)[0]
