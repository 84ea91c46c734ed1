"""The driver of programs in Python; another Python runs it, without privet.

It gets the name of a program and a folder. In the folder are `request.json`, `rows.csv`
(a line per row: names of known values, and the code of a sensitive one) and a file of
levels per column, as ARX reads them. It leaves `version.txt`, and `labels.csv` (row and
a name per column), `groups.csv` (row and group) or `measured.csv`; or `failed.txt` with
one word.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout, suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

NOT_INSTALLED, NO_SOLUTION = "not-installed", "no-solution"
"""What a driver may say of its failure; texts of other programs are not passed on."""


def read_request(folder: Path) -> dict[str, Any]:
    """What is asked for."""
    found: dict[str, Any] = json.loads((folder / "request.json").read_text("ascii"))
    return found


def read_rows(folder: Path) -> list[list[str]]:
    """The head and the rows."""
    with (folder / "rows.csv").open(encoding="ascii", newline="") as file:
        return list(csv.reader(file))


def read_levels(folder: Path, column: str) -> list[list[str]]:
    """The names of all values, a list per level."""
    with (folder / f"{column}.csv").open(encoding="ascii", newline="") as file:
        return [list(level) for level in zip(*csv.reader(file, delimiter=";"))]  # noqa: B905


def write_lines(
    path: Path, heads: Sequence[str], lines: Iterable[Sequence[object]]
) -> None:
    """A file of the answer."""
    with path.open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(lines)


def limit_memory(most: int) -> None:
    """Ask for no more memory than that, where the system can be told."""
    with suppress(ImportError, ValueError, OSError):
        resource = import_module("resource")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run_anonypy(folder: Path, request: dict[str, Any]) -> bool:
    """Mondrian: which rows it puts into which group."""
    pandas = import_module("pandas")
    preserver = import_module("anonypy").Preserver
    head, *rows = read_rows(folder)
    frame = pandas.DataFrame(rows, columns=head)
    for column, numbers in zip(request["quasi"], request["numbers"], strict=True):
        if numbers is None:
            frame[column] = frame[column].astype("category")
        else:
            frame[column] = [numbers[int(name[1:])] for name in frame[column]]
    frame["s"] = frame["s"].astype("category")
    found = preserver(frame, request["quasi"], "s").modrian.partition(
        int(request["k"]), int(request["l"] or 0), float(request["t"] or 0)
    )
    lines = ((row, group) for group, rows in enumerate(found) for row in rows)
    write_lines(folder / "groups.csv", ["row", "group"], lines)
    return True


def run_anjana(folder: Path, request: dict[str, Any]) -> bool:
    """Levels of hierarchies: what each row shows then."""
    pandas, numpy = import_module("pandas"), import_module("numpy")
    anjana = import_module("anjana.anonymity")
    with suppress(Exception):  # it takes arrays of numpy only, no texts of pandas 3
        pandas.set_option("future.infer_string", False)
    head, *rows = read_rows(folder)
    frame = pandas.DataFrame(rows, columns=head)
    frame["row"] = range(len(frame))
    quasi, k, most = (
        request["quasi"],
        int(request["k"]),
        100 * float(request["suppress"]),
    )
    levels = {
        c: {i: numpy.array(names) for i, names in enumerate(read_levels(folder, c))}
        for c in quasi
    }
    with redirect_stdout(io.StringIO()):
        if request["t"]:
            level = float(request["t"])
            found = anjana.t_closeness(frame, [], quasi, "s", k, level, most, levels)
        elif request["l"]:
            level = int(request["l"])
            found = anjana.l_diversity(frame, [], quasi, "s", k, level, most, levels)
        else:
            found = anjana.k_anonymity(frame, [], quasi, k, most, levels)
    if not len(found):
        return False
    lines = found[["row", *quasi]].itertuples(index=False, name=None)
    write_lines(folder / "labels.csv", ["row", *quasi], lines)
    return True


def run_pycanon(folder: Path, request: dict[str, Any]) -> bool:
    """Which k, l and t it measures."""
    pandas, anonymity = import_module("pandas"), import_module("pycanon.anonymity")
    head, *rows = read_rows(folder)
    frame, quasi = pandas.DataFrame(rows, columns=head), request["quasi"]
    found = [
        ("k", anonymity.k_anonymity(frame, quasi)),
        ("l", anonymity.l_diversity(frame, quasi, ["s"])),
        ("t", anonymity.t_closeness(frame, quasi, ["s"])),
    ]
    write_lines(folder / "measured.csv", ["measure", "value"], found)
    return True


Program = Callable[[Path, dict[str, Any]], bool]

PROGRAMS: dict[str, Program] = {
    "anonypy": run_anonypy,
    "anjana": run_anjana,
    "pycanon": run_pycanon,
}
"""What is driven; a program says whether it found an answer."""


def drive(package: str, folder: Path) -> None:
    """Do the work in a folder; say in a word why it failed."""
    request = read_request(folder)
    limit_memory(int(request["memory"]))
    try:
        import_module(package)
    except ImportError:
        (folder / "failed.txt").write_text(NOT_INSTALLED, "ascii")
        return
    with suppress(ImportError):  # a package without its papers
        (folder / "version.txt").write_text(version(package), "ascii")
    try:
        solved = PROGRAMS[package](folder, request)
    except ImportError:  # it is there without something that it needs
        (folder / "failed.txt").write_text(NOT_INSTALLED, "ascii")
        return
    if not solved:
        (folder / "failed.txt").write_text(NO_SOLUTION, "ascii")


if __name__ == "__main__":
    drive(sys.argv[1], Path(sys.argv[2]))
