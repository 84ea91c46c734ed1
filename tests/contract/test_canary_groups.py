"""Insiders and groups quote nobody either, in errors or in what is left behind."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from contract.test_canary import CANARY, everything_said

pytestmark = pytest.mark.engines

ROWS = {
    "name": [f"{CANARY}-{i}" for i in range(12)],
    "town": [f"{CANARY} {i % 4}" for i in range(12)],
    "ill": [f"{CANARY}-{i % 3}" for i in range(12)],
}
K = pv.Measure(k_anonymity=3)


def opened(**more: Any) -> pv.Table:
    roles = {"identifier": "name", "quasi": "town", "sensitive": "ill"}
    return pv.read(pa.table(ROWS), **{**roles, **more})


def knows_somebody_else() -> None:
    insider = pv.Insider(knows_others={"Ed": "Flu"}, victim="Ann")
    pv.belief(opened(), insider, about={"ill": "Flu"})


def knows_a_name_of_many() -> None:
    twice = {**ROWS, "name": ["Ann"] * 12}
    with pv.read(
        pa.table(twice), identifier="name", quasi="town", sensitive="ill"
    ) as table:
        pv.belief(table, pv.Insider(same_as=["Ann"], victim="Ann"), about={"ill": "x"})


def several_values_each() -> None:
    table = opened(unit="town", quasi=(), identifier=())
    pv.skyline(table, confidence="0.9")


def a_hierarchy_with_gaps() -> None:
    method = pv.Mondrian(hierarchies={"town": {"Leeds": ["UK"]}})
    pv.publish(opened(), [K], method=method)


def an_order_with_gaps() -> None:
    pv.publish(opened(), [K], method=pv.Mondrian(order={"town": ["Leeds"]}))


def more_than_there_are() -> None:
    pv.publish(opened(), [pv.Measure(k_anonymity=13)], method=pv.Mondrian())


def nowhere_to_write() -> None:
    release = pv.publish(opened(), [K], method=pv.Mondrian())
    place = Path(tempfile.gettempdir())
    release.write(place / "no" / "such" / "place", custody=place / "vault")


FAILING = [
    knows_somebody_else,
    knows_a_name_of_many,
    several_values_each,
    a_hierarchy_with_gaps,
    an_order_with_gaps,
    more_than_there_are,
    nowhere_to_write,
]


@pytest.mark.parametrize("fail", FAILING)
def test_what_fails_quotes_nobody(
    fail: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises((pv.PrivetError, OSError)) as error:
            fail()
    out = capfd.readouterr()
    said = [everything_said(error.value), caplog.text, out.out, out.err]
    said += [str(w.message) for w in caught]
    assert CANARY not in "\n".join(said)
