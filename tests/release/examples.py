"""Small tables that the tests of releases share."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

import privet as pv
from privet.demo.tables import bank_path

DISCHARGED = {"bankruptcy": "Discharged"}


def bank(path: str = str(bank_path()), **roles: Any) -> pv.Table:
    """The bank customers of the paper's Table 1."""
    stated = {
        "quasi": ["job", "country", "child"],
        "sensitive": "bankruptcy",
        "target": "rating",
        "weight": "count",
    }
    return pv.read(path, **(stated | roles))


def discharged(limit: str, *knows: str) -> pv.Promise:
    linker = pv.Linker(knows or ["job", "country"])
    return pv.Promise(linker, pv.Ceiling(limit), DISCHARGED)


def covering(limit: str, *knows: str) -> pv.Promise:
    """Against somebody who has every known column; it leaves as much to be shown."""
    known = knows or ("job", "country", "child", "rating")
    return pv.Promise(pv.Linker(known), pv.Ceiling(limit), DISCHARGED, "all columns")


def bank_release(limit: str = "3/4") -> pv.Release:
    return pv.publish(bank(), [discharged(limit), covering(limit)])


@cache
def released(limit: str = "3/4") -> pv.Release:
    """The same, made once for all tests of a process."""
    return bank_release(limit)


def written(place: Path, form: str = "parquet") -> Path:
    """A release of the bank customers in a folder; its custody is beside it."""
    released().write(place / "out", custody=place / "vault", format=form)
    return place / "out"


@cache
def _original(form: str) -> TemporaryDirectory[str]:
    place = TemporaryDirectory()
    written(Path(place.name), form)
    return place


def copied(place: Path, form: str = "parquet") -> Path:
    """A copy of a written release, to be changed; quicker than writing it anew."""
    return Path(shutil.copytree(Path(_original(form).name) / "out", place / "out"))


def jobs(values: list[str | None], ill: list[str | None], **more: Any) -> pv.Table:
    table = pa.table({"job": values, "ill": ill})
    return pv.read(table, quasi="job", sensitive="ill", **more)
