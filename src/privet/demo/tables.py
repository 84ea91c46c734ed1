"""Where the papers' own tables are, as files that come with the package."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def bank_path() -> Traversable:
    """Point at the loans of 24 bank customers, one row per kind of customer.

    The column ``count`` says how many customers a row stands for.
    Wang, Fung, Yu 2007, Table 1.
    """
    return files("privet.demo") / "bank.csv"


def clinic_path() -> Traversable:
    """Wang, Lakshmanan 2006, Figure 1: five patients, their ages, jobs and problems."""
    return files("privet.demo") / "clinic.csv"
