"""Adult and Breast-Cancer in zeros and ones, as the paper's experiment needs them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import uci
from numpy.typing import NDArray

CANCER = "breast-cancer-wisconsin.data"
DIGEST = "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64"

ORDERS = {
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov "
    "State-gov Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc "
    "9th 7th-8th 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool",
    "marital-status": "Married-civ-spouse Divorced Never-married Separated Widowed "
    "Married-spouse-absent Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial "
    "Prof-specialty Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing "
    "Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "native-country": "United-States Cambodia England Puerto-Rico Canada Germany "
    "Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras "
    "Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
    "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua "
    "Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong "
    "Holand-Netherlands",
}
"""The values of Adult's nominal columns, in the order its documentation lists them."""

Bits = NDArray[np.int64]


@dataclass(frozen=True)
class Binary:
    """A table of zeros and ones, split once."""

    name: str
    """What it is called."""
    train: Bits
    """Records to learn from, one row each."""
    labels: Bits
    """Their classes."""
    test: Bits
    """Records to test on."""
    answers: Bits
    """Their classes."""

    @property
    def majority(self) -> float:
        """How often the more frequent class of the test records occurs."""
        return max(self.answers.mean(), 1 - self.answers.mean())


def find_folder() -> Path | None:
    """The folder with the data; None where a file is missing."""
    folder = uci.find_folder()
    return folder if folder and (folder / CANCER).is_file() else None


def adult(
    folder: Path, mode: str, rows: int = 10_000, *, literal: bool = False
) -> Binary:
    """The first rows of Adult; positive is an income above 50K.

    `literal` takes values above the median of two-valued columns, too, which makes
    `sex` constant.
    """
    lines = _lines(folder / "adult.data")[:rows]
    labels = np.array([line[-1] == ">50K" for line in lines]).astype(int)
    names = uci.ADULT.columns[:-1]
    columns = [
        _bits([line[j] for line in lines], ORDERS.get(name, "").split(), mode, literal)
        for j, name in enumerate(names)
    ]
    title = f"Adult, {mode}{', sex constant' if literal else ''}"
    return _split(title, np.stack(columns, axis=1), labels)


def cancer(folder: Path, mode: str, *, number: bool) -> Binary:
    """Breast-Cancer Wisconsin; with the sample number, as the paper counts columns."""
    lines = _lines(folder / CANCER)
    labels = np.array([line[-1] == "4" for line in lines]).astype(int)
    first = 0 if number else 1
    columns = [_bits([line[j] for line in lines], [], mode) for j in range(first, 10)]
    name = f"Breast-Cancer, {mode}{', with number' if number else ''}"
    return _split(name, np.stack(columns, axis=1), labels)


def _lines(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8") as file:
        rows = csv.reader(file, skipinitialspace=True)
        return [row for row in rows if row]


def _bits(cells: list[str], order: list[str], mode: str, literal: bool = False) -> Bits:
    """Values above the middle of the range, or above the median; missing is 0."""
    known = {v: float(i) for i, v in enumerate(order, 1)}
    codes = np.array(
        [np.nan if c == "?" else known[c] if order else float(c) for c in cells]
    )
    there = codes[~np.isnan(codes)]
    two = len(np.unique(there)) == 2 and not literal
    middle = (there.min() + there.max()) / 2
    cut = middle if mode == "midrange" or two else np.median(there)
    return np.nan_to_num(codes, nan=-np.inf).__gt__(cut).astype(int)


def _split(name: str, records: Bits, labels: Bits) -> Binary:
    order = np.random.default_rng(0).permutation(len(labels))
    train = order[: round(2 * len(labels) / 3)]
    test = order[len(train) :]
    return Binary(name, records[train], labels[train], records[test], labels[test])
