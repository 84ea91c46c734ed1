"""The demonstration: a hospital's table, its policy, and what an audit finds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pyarrow.csv as pa_csv

from privet.audits import audit
from privet.demo.patients import POLICY, patients
from privet.errors import InputError
from privet.finding import Audit
from privet.policy import Policy
from privet.table import read

MARK = ".privet-demo"
"""A file that says a folder was made here and may be replaced."""


def tell(
    folder: Path, *, rows: int, replace: bool, show: Callable[[Audit], None]
) -> None:
    """Make the table and the policy in a folder, and show an audit of them."""
    _prepare(folder, replace)
    table, policy = folder / "patients.csv", folder / "policy.toml"
    pa_csv.write_csv(patients(rows), table)
    policy.write_text(POLICY, encoding="utf-8")
    click.echo(f"Made {table}: {rows:,} patients who never lived.")
    click.echo(f"Made {policy}: what the hospital promises its patients.\n")
    click.echo(f"privet audit {table} -p {policy}\n")
    with read(table) as people:
        show(audit(people, Policy.load(policy)))


def _prepare(folder: Path, replace: bool) -> None:
    if folder.exists() and any(folder.iterdir()):
        if not (replace and (folder / MARK).exists()):
            raise InputError(
                f"{str(folder)!r} must not exist yet, or hold an earlier demo that "
                "--replace may write over."
            )
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).touch()
    except OSError as error:
        raise InputError(
            f"{str(folder)!r} must be a folder that can be made: {error.strerror}."
        ) from None
