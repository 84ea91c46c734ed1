"""Whatever a file says, it is a policy or its problems are listed; nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.examples import DESIGN
from policy.test_schema import VALIDATOR, as_json
from privet import Policy, PolicyError
from privet.policy.file_keys import FREE, LISTS, SECTIONS
from privet.policy.toml import as_toml, quote_key

atoms = st.one_of(
    st.sampled_from(["linker", "insider", "bayesian", "reconstructor", "uniform", "x"]),
    st.sampled_from(["1/2", "50 %", "bag", "rows", "information", "2020-01-01", "*"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.integers(-2, 3),
    st.decimals(-1, 2, places=2),
    st.booleans(),
)
some = st.lists(atoms, max_size=3)
tables = st.dictionaries(
    st.sampled_from(["a", "b", "job", ""]), atoms | some, max_size=2
)
values = atoms | some | tables


def section(name: str) -> st.SearchStrategy[dict[str, Any]]:
    known = list(SECTIONS.get(name, {"age": None, "year": None}))
    return st.dictionaries(st.sampled_from([*known, "wibble"]), values, max_size=5)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Files with sections and keys of a policy, and anything in them."""
    parts = [f"title = {as_toml(draw(values))}\n"] if draw(st.booleans()) else []
    for name in draw(st.permutations([*filter(None, SECTIONS), *FREE, "wobble"])):
        heads = ["[[{}]]"] if name in LISTS else ["[{}]"]
        for head in heads * draw(st.integers(0, 2 if name in LISTS else 1)):
            lines = [
                f"{quote_key(k)} = {as_toml(v)}" for k, v in draw(section(name)).items()
            ]
            parts.append("\n".join([head.format(name), *lines]) + "\n")
    return "\n".join(parts)


def read(text: str) -> Policy | PolicyError:
    try:
        return Policy.from_toml(text)
    except PolicyError as error:
        return error


@settings(max_examples=120)
@given(files())
def test_any_sections(text: str) -> None:
    found = read(text)
    if isinstance(found, Policy):
        assert found == Policy.from_toml(found.to_toml())
        assert VALIDATOR.is_valid(as_json(text))
        return
    lines = [p.line for p in found.problems]
    assert lines
    assert all(n is None or 1 <= n <= text.count("\n") + 1 for n in lines)
    assert len(found.problems) == len(set(found.problems))


@settings(max_examples=100)
@given(st.data())
def test_any_damage(data: st.DataObject) -> None:
    """A good file with a piece cut out or something put in."""
    start = data.draw(st.integers(0, len(DESIGN)))
    end = data.draw(st.integers(start, min(len(DESIGN), start + 30)))
    piece = data.draw(st.text(max_size=3) | st.sampled_from(["[[", '"""', "=", "\n"]))
    assert read(DESIGN[:start] + piece + DESIGN[end:])


@given(st.text())
def test_any_text(text: str) -> None:
    assert read(text)
