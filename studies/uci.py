"""Benchmark tables of the UCI Machine Learning Repository, as studies use them.

They are not part of this repository: PRIVET_DATA names the folder they are in.
PRIVET_SMOKE=1 makes every study small: all of its work, in seconds, on less data.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

SMOKE = os.environ.get("PRIVET_SMOKE") == "1"
"""Whether this is a small run; what it starts sees the same variable."""

T = TypeVar("T")


def sized(full: T, small: T) -> T:
    """What a study uses, and what it uses in a small run."""
    return small if SMOKE else full


VARIABLE = "PRIVET_DATA"
MISSING = "?"
PART, WEIGHT = "part", "n"

DIGESTS = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "crx.data": "fff49bc186cbddb3ace7371d40d9fbbb3af4f126019c13ff3f562249b1454f4d",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
}
"""SHA-256 of the files as the repository distributes them."""

HOW_TO_GET = (
    f"Set {VARIABLE} to a folder with {', '.join(DIGESTS)}, as the UCI Machine "
    "Learning Repository distributes them: Adult (doi:10.24432/C5XW20), Credit "
    "Approval (doi:10.24432/C5FS30), Statlog German Credit (doi:10.24432/C5NC77)."
)
"""What to do where the data is not."""


class WrongData(Exception):
    """A file that is not the one the numbers belong to."""


@dataclass(frozen=True)
class DataSet:
    """A table, its split into a training and a testing part, and what to do with it."""

    name: str
    """As the paper calls it."""
    files: tuple[str, ...]
    """The files, one below the other."""
    columns: tuple[str, ...]
    """Their columns; no file has a header."""
    categorical: tuple[str, ...]
    """The columns the paper uses."""
    numeric: tuple[str, ...]
    """Those it leaves out."""
    target: str
    """The class."""
    train: int
    """How many rows, from the top and with the incomplete ones, are for training."""
    top: tuple[str, ...]
    """The columns that tell most about the class, by the paper's ranking."""
    thresholds: tuple[str, ...]
    """The highest confidences allowed, as the paper chose them."""
    delimiter: str = ","
    """What stands between fields."""
    used: tuple[str, ...] = ()
    """The columns in use: the categorical ones unless said otherwise."""

    def __post_init__(self) -> None:
        if not self.used:
            object.__setattr__(self, "used", self.categorical)

    def with_numbers(self) -> DataSet:
        """The same with the numeric columns, which the paper leaves out."""
        used = (*self.categorical, *self.numeric)
        return replace(self, name=f"{self.name} + numbers", used=used)


CRX = DataSet(
    "CRX",
    ("crx.data",),
    tuple(f"A{i}" for i in range(1, 17)),
    ("A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"),
    ("A2", "A3", "A8", "A11", "A14", "A15"),
    target="A16",
    train=490,
    top=("A9", "A10", "A7", "A6"),
    thresholds=("0.5", "0.7", "0.9"),
)
ADULT = DataSet(
    "Adult",
    ("adult.data", "adult.test"),
    (
        *("age", "workclass", "fnlwgt", "education", "education-num"),
        *("marital-status", "occupation", "relationship", "race", "sex"),
        *("capital-gain", "capital-loss", "hours-per-week", "native-country"),
        "income",
    ),
    (
        *("workclass", "education", "marital-status", "occupation"),
        *("relationship", "race", "sex", "native-country"),
    ),
    # Not fnlwgt, a survey weight, nor education-num, which is education again.
    ("age", "capital-gain", "capital-loss", "hours-per-week"),
    target="income",
    train=32_561,
    top=("marital-status", "relationship", "education", "sex"),
    thresholds=("0.1", "0.3", "0.5", "0.7", "0.9"),
)
GERMAN = DataSet(
    "German",
    ("german.data",),
    (
        *("account", "duration", "history", "purpose", "amount", "savings"),
        *("employment", "rate", "status", "debtors", "residence", "property"),
        *("age", "installments", "housing", "credits", "job", "dependents"),
        *("telephone", "foreign", "class"),
    ),
    (
        *("account", "history", "purpose", "savings", "employment", "status"),
        *("debtors", "property", "installments", "housing", "job", "telephone"),
        "foreign",
    ),
    ("duration", "amount", "rate", "residence", "age", "credits", "dependents"),
    target="class",
    train=666,
    top=("account", "history", "savings", "installments", "purpose", "debtors"),
    thresholds=("0.3", "0.5", "0.7", "0.9"),
    delimiter=" ",
)
ALL = {data.name: data for data in (CRX, ADULT, GERMAN)}


def find_folder() -> Path | None:
    """The folder with the data; None where there is none or a file is missing."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    folder = Path(named)
    return folder if all((folder / f).is_file() for f in DIGESTS) else None


def find_checked() -> Path | None:
    """The folder with the right data; where there is none, that is said."""
    folder = find_folder()
    if folder is None:
        print(f"Skipped: the data is not here. {HOW_TO_GET}")
    else:
        check(folder)
    return folder


def check(folder: Path, digests: dict[str, str] = DIGESTS) -> None:
    """Refuse files that are not the ones the numbers belong to."""
    for file, digest in digests.items():
        found = hashlib.sha256((folder / file).read_bytes()).hexdigest()
        if found != digest:
            raise WrongData(
                f"{file} must have the SHA-256 {digest}; got {found}. {HOW_TO_GET}"
            )


def read_rows(data: DataSet, folder: Path) -> pa.Table:
    """Every complete row: the columns in use, the class, and the part it belongs to."""
    kept: dict[str, list[str]] = {c: [] for c in (*data.used, data.target, PART)}
    for i, row in enumerate(_rows(data, folder)):
        named = dict(zip(data.columns, row, strict=True))
        if MISSING in row:
            continue
        named[data.target] = named[data.target].rstrip(".")  # adult.test: "<=50K."
        named[PART] = "train" if i < data.train else "test"
        for column, cells in kept.items():
            cells.append(named[column])
    numbers = {c: [float(v) for v in kept[c]] for c in data.used if c in data.numeric}
    return pa.table(kept | numbers)


def read_weighted(data: DataSet, folder: Path) -> pa.Table:
    """The same with rows that look alike put together, and how many they are."""
    rows = read_rows(data, folder)
    counted = rows.group_by(rows.column_names).aggregate([([], "count_all")])
    return counted.rename_columns([*rows.column_names, WEIGHT])


def _rows(data: DataSet, folder: Path) -> Iterator[list[str]]:
    for file in data.files:
        with (folder / file).open(newline="", encoding="utf-8") as lines:
            reader = csv.reader(
                lines, delimiter=data.delimiter, skipinitialspace=data.delimiter == ","
            )
            # adult.test begins with a comment, and files end with an empty line.
            yield from (row for row in reader if row and not row[0].startswith("|"))
