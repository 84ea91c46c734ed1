"""The demonstration: a hospital's table, its policy, an audit, and a safe release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shlex import join

import pyarrow.csv as pa_csv

from privet.demo.patients import POLICY, make_patients
from privet.errors import InputError
from privet.findings import Audit
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.report import as_text, summarise_release
from privet.microdata.skyline.report import write_headline
from privet.microdata.skyline.skyline_find import skyline
from privet.policy import Policy
from privet.release.audit import audit, bind_table
from privet.release.publish import publish
from privet.release.verify import verify
from privet.table import read

MARK = ".privet-demo"
"""A file that says a folder was made here and its files may be replaced."""


def tell(
    folder: Path,
    *,
    rows: int,
    replace: bool,
    say: Callable[[str], None],
    show: Callable[[Audit], None],
    emit: Callable[[str], None],
) -> None:
    """Make the table and the policy in a folder, audit them, and make a release."""
    _prepare(folder, replace)
    table, policy = folder / "patients.csv", folder / "policy.toml"
    pa_csv.write_csv(make_patients(rows), table)
    policy.write_text(POLICY, encoding="utf-8")
    say(f"Made {table}: {rows:,} patients who never lived.")
    say(f"Made {policy}: what the hospital promises its patients.")
    call = [str(table), "-p", str(policy)]
    say(f"\n{join(['privet', 'audit', *call])}\n")
    stated = Policy.load(policy)
    with read(table) as people:
        show(audit(people, stated))
        say(f"\n{join(['privet', 'skyline', *call])}\n")
        emit(f"\n{write_headline(skyline(bind_table(people, stated), '0.95'))}\n")
        out, vault = folder / "release", folder / "custody"
        places = ["-o", str(out), "--custody", str(vault)]
        how = ["--method", "mondrian"]
        say(f"\n{join(['privet', 'publish', *call, *places, *how])}\n")
        release = publish(people, stated, method=Mondrian())
        release.write(out, custody=vault, replace=replace)
        emit(as_text(summarise_release(release)))
    say(f"\n{join(['privet', 'verify', str(out)])}\n")
    emit("Verified." if verify(out).good else "Refused.")


def _prepare(folder: Path, replace: bool) -> None:
    """A folder of our own; what else is in it stays as it is."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ours = (folder / MARK).exists()
        if any(folder.iterdir()) and not (replace and ours):
            hint = "Give --replace to write over it." if ours else "Name another one."
            what = "holds an earlier demo" if ours else "holds something else"
            raise InputError(
                f"Folder {str(folder)!r} must be new or empty; it {what}. {hint}"
            )
        (folder / MARK).touch()
    except OSError as error:
        raise InputError(
            f"Folder {str(folder)!r} must be one that can be made; "
            f"got: {error.strerror}."
        ) from None
