"""What studies found, in small files beside them, from which the site draws figures.

    studies/results/NAME.json

A file has the command that made it, the rows of each figure, and how far a number may
move before that is told. The data that the studies read is nobody's to pass on; the
files hold averages, counts of a whole table and seconds, and no row of anybody.
`keep` renews a file where the same command is run again; with PRIVET_RENEW=1, where
it is a run of another size, too.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uci

FOLDER = Path(__file__).parent / "results"
DIGITS = 5
"""Significant digits of a number that is kept."""

Row = dict[str, Any]
"""One point of a figure: words, whole numbers, shares; None where there is nothing."""


@dataclass(frozen=True)
class Result:
    """The numbers behind the figures of one study."""

    command: str
    """What makes them."""
    tolerance: Mapping[str, float | None]
    """How far the numbers of a figure may move; None: as they will, as seconds do."""
    figures: Mapping[str, Sequence[Row]]
    """The rows of each figure."""

    @classmethod
    def of(
        cls,
        command: str,
        figures: Mapping[str, Iterable[Mapping[str, Any]]],
        tolerance: Mapping[str, float | None],
    ) -> Result:
        """Numbers as a file keeps them."""
        assert set(figures) == set(tolerance)
        kept = {name: [shorten(row) for row in rows] for name, rows in figures.items()}
        return cls(command, dict(tolerance), kept)


def shorten(row: Mapping[str, Any]) -> Row:
    """A row whose numbers have few digits.

    >>> shorten({"data": "CRX", "error": 0.1542553191489, "hidden": float("nan")})
    {'data': 'CRX', 'error': 0.15426, 'hidden': None}
    """
    return {name: _short(value) for name, value in row.items()}


def _short(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


# Files ------------------------------------------------------------------------------


def read(name: str, folder: Path = FOLDER) -> Result:
    """A result that was kept."""
    told = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return Result(told["command"], told["tolerance"], told["figures"])


def write(name: str, result: Result, folder: Path = FOLDER) -> None:
    """A file that is easily compared: a line for each row."""
    head = {"command": result.command, "tolerance": result.tolerance}
    lines = [json.dumps(head, ensure_ascii=False, indent=2)[:-2] + ',\n  "figures": {']
    for i, (figure, rows) in enumerate(result.figures.items(), 1):
        points = ",\n".join(f"      {json.dumps(r, ensure_ascii=False)}" for r in rows)
        comma = "," if i < len(result.figures) else ""
        lines.append(f'    "{figure}": [\n{points}\n    ]{comma}')
    folder.mkdir(exist_ok=True)
    text = "\n".join([*lines, "  }", "}", ""])
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def keep(name: str, result: Result, folder: Path = FOLDER) -> bool:
    """Renew a result by one of the same command; whether nothing has moved much."""
    if uci.SMOKE:
        return True
    path = folder / f"{name}.json"
    before = read(name, folder) if path.exists() else None
    renew = os.environ.get("PRIVET_RENEW") == "1"
    if before is not None and before.command != result.command and not renew:
        print(f"{path.name} is left as it is: `{before.command}` makes it.")
        return True
    moved = list_moves(before, result) if before is not None else []
    write(name, result, folder)
    print("\n".join([f"Kept: {path.name}.", *moved]))
    return renew or not moved


def list_moves(before: Result, after: Result) -> list[str]:
    """What differs by more than it may, in words."""
    if set(before.figures) != set(after.figures):
        return [f"The figures were {list(before.figures)}."]
    return [
        line
        for figure, rows in after.figures.items()
        for line in _compare(
            figure, before.figures[figure], rows, after.tolerance[figure]
        )
    ]


def _compare(
    figure: str, before: Sequence[Row], after: Sequence[Row], most: float | None
) -> list[str]:
    if len(before) != len(after):
        return [f"{figure}: {len(before)} rows before, {len(after)} now."]
    return [
        f"{figure}: {name} was {old[name]}, is {value} ({_place(row)})."
        for old, row in zip(before, after, strict=True)
        for name, value in row.items()
        if not _is_near(old.get(name), value, most)
    ]


def _is_near(old: Any, new: Any, most: float | None) -> bool:
    if isinstance(old, float | int) and isinstance(new, float | int):
        # Both were cut to few digits.
        return most is None or abs(old - new) <= most + 10**-DIGITS * abs(old)
    return bool(old == new)


def _place(row: Row) -> str:
    words = [str(v) for v in row.values() if not isinstance(v, float)]
    return ", ".join(words)
