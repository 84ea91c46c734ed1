"""What `make fuzz` found stays mended, and the fuzzer sees what it must."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from fuzz import http_reader
from fuzz.mutations import ODD, ODD_VALUES, mutate
from fuzz.readers import CANARY, READERS, Reader, attempt, close_all
from fuzz.run import READERS as FUZZED
from fuzz.target import read_corpus

CORPUS = Path(__file__).parent / "corpus"
FOUND = [(reader, p) for reader in READERS for p in sorted(CORPUS.glob(f"{reader}/*"))]


@pytest.fixture(autouse=True, scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A place of our own, in which leftovers are ours; the service ends with it."""
    before = tempfile.tempdir
    tempfile.tempdir = str(tmp_path_factory.mktemp("temporary"))
    yield
    close_all()
    tempfile.tempdir = before


@pytest.mark.parametrize(
    ("reader", "file"), FOUND, ids=[f"{r}-{p.name}" for r, p in FOUND]
)
def test_what_was_found_is_mended(reader: str, file: Path) -> None:
    assert None is attempt(READERS[reader], file.read_bytes())


@pytest.mark.parametrize("reader", READERS)
def test_good_inputs_and_a_few_broken_ones(reader: str) -> None:
    """The same few each time; `make fuzz` looks for others."""
    seeds, rng = READERS[reader].seeds(), random.Random(17)
    broken = [mutate(rng.choice(seeds), rng, READERS[reader].words) for _ in range(8)]
    for data in [*seeds, *broken]:
        assert None is attempt(READERS[reader], data)


def test_every_reader_is_fuzzed() -> None:
    assert set(READERS) == set(FUZZED)
    folders = {p.name for p in CORPUS.iterdir()}
    assert folders <= set(READERS)
    assert {len(read_corpus(r)) > 0 for r in folders} <= {True}


def test_the_manifests_are_of_good_releases(tmp_path: Path) -> None:
    """Broken ones would be refused before anything is read."""
    for i, data in enumerate(READERS["manifest"].seeds()):
        (tmp_path / str(i)).mkdir()
        assert [] == READERS["manifest"].read(data, tmp_path / str(i))


def test_the_service_takes_good_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that refuses everything would be hard to break."""
    monkeypatch.setattr(http_reader, "WAIT", http_reader.PATIENCE)
    answers = [READERS["http"].read(d, tmp_path)[0] for d in READERS["http"].seeds()]
    codes = [answer.split(" ")[1] for answer in answers]
    assert ["200", "200"] == codes[:2]
    assert {"200", "201"} & set(codes[3:5])
    assert "400" == codes[5]


# The fuzzer itself: what must not happen is seen when it does ------------------------


def wrong(data: bytes, folder: Path) -> list[str]:
    return [str({}[data])]


def leaky(data: bytes, folder: Path) -> list[str]:
    raise pv.InputError(f"age must be a number; got {CANARY}.")


def leaky_warning(data: bytes, folder: Path) -> list[str]:
    from privet.errors import warn

    warn(f"{CANARY} is rare.")
    return []


def untidy(data: bytes, folder: Path) -> list[str]:
    tempfile.mkdtemp(prefix="privet-")
    return []


@pytest.mark.parametrize(
    ("read", "kind"),
    [(wrong, "crash"), (leaky, "cell"), (leaky_warning, "cell"), (untidy, "left")],
)
def test_a_fault_is_seen(read: Any, kind: str) -> None:
    fault = attempt(Reader(read, lambda: (), ()), b"x")
    assert fault is not None
    assert kind == fault.kind


def test_a_clear_error_is_no_fault() -> None:
    def clear(data: bytes, folder: Path) -> list[str]:
        raise pv.InputError("age must be a number; it is not.")

    assert None is attempt(Reader(clear, lambda: (), ()), b"x")


def test_inputs_are_broken_in_many_ways() -> None:
    rng, seed = random.Random(5), b'{"a": [1, {"b": "x"}], "c": null}'
    made = {mutate(seed, rng, (b"word",)) for _ in range(300)}
    assert len(made) > 150
    assert any(b"word" in m for m in made)
    assert any(odd in m for odd in ODD if len(odd) > 100 for m in made)


def test_changes_of_json_keep_the_odd_values_as_they_are() -> None:
    """A list that is shared between inputs could come to hold itself."""
    before, rng = repr(ODD_VALUES), random.Random(5)
    data = b'{"x": [[null], {"": null}]}'
    for _ in range(3000):
        data = mutate(data, rng, (b"word",))[:4000]
        data = data if data.startswith(b"{") else b'{"x": [[null], {"": null}]}'
    assert before == repr(ODD_VALUES)


@pytest.mark.parametrize("depth", range(300, 1000, 50))
def test_changes_bear_json_that_is_as_deep_as_the_stack(depth: int) -> None:
    data, rng = b'{"x":' * depth + b"1" + b"}" * depth, random.Random(depth)
    assert all(mutate(data, rng, (b"word",)) for _ in range(20))
