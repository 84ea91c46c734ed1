"""Another program tried on a private table, its answer judged and measured by us.

It is asked for what it understands of the policy: k-anonymity, distinct l-diversity,
t-closeness. Whether its answer keeps the policy, our audit says.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np

from privet.comparison.method_figures import MethodResult, list_table_figures
from privet.comparison.method_trial import Trial, describe_audit, describe_refusal
from privet.comparison.peers.coded_table import CodedTable, KnownColumn
from privet.comparison.peers.labelled_cells import LabelledCells, NamedColumn
from privet.comparison.peers.peer_process import (
    MEMORY,
    PeerFailed,
    find_command,
    run_process,
)
from privet.engine.protocol import Run
from privet.engine.scratch import ScratchFolder
from privet.errors import InputError, PrivetError, suggest_names
from privet.languages import mark, say
from privet.microdata.information_loss.loss_measures import measure_cells
from privet.policy import Measure, Policy
from privet.policy.measures import AT_LEAST
from privet.values.arrays import Flags, Ints
from privet.values.exact import Number, fraction

PEERS = {
    "arx": "ARX: one level of each hierarchy",
    "anjana": "ANJANA: one level of each hierarchy",
    "anonypy": "anonypy: groups with ranges of their own",
    "pycanon": "pyCANON: measures, and changes nothing",
}
"""The programs that can be run, and what they do."""

UNDERSTOOD = {"k": "k_anonymity", "l": "distinct_l_diversity", "t": "t_closeness"}
"""The measures they know."""

LEAST = 2
"""The k that is asked for where the policy has none."""

WORDS = {
    "not-installed": "It must be installed for {python}: pip install {name}.",
    "no-solution": mark("It found no release that reaches what it was asked for."),
}
"""What a program's one word means."""


@dataclass(frozen=True)
class PeerSettings:
    """How other programs are called."""

    suppress: Number = 0
    """The share of the people that they may suppress."""
    python: str | None = None
    """The Python that has them; None: this one."""
    arx_jar: str | None = None
    """The jar of ARX; None: the one that PRIVET_ARX names."""


def require_peers(names: str | Sequence[str]) -> tuple[str, ...]:
    """The programs that were asked for."""
    several = [names] if isinstance(names, str) else list(names)
    for name in several:
        if name not in PEERS:
            raise InputError(
                f"peers must be other programs; got {name!r}. "
                f"{suggest_names(str(name), [*PEERS])}"
            )
    return tuple(dict.fromkeys(several))


def try_peer(trial: Trial, name: str, settings: PeerSettings) -> MethodResult:
    """What another program reaches, or why it reaches nothing."""
    began, worked = monotonic(), process_time()
    blank = MethodResult(name, PEERS[name], by=name)
    try:
        with ScratchFolder(trial.table.options.get("spill")) as folder:
            result = _run(trial, blank, folder, settings)
    except (PrivetError, MemoryError) as error:
        result = replace(blank, **describe_refusal(error))
    spent, cpu = monotonic() - began, process_time() - worked
    figures = {**result.figures, "seconds": spent}
    return replace(result, seconds=spent, cpu_seconds=cpu, figures=figures)


def _run(
    trial: Trial, blank: MethodResult, folder: Path, settings: PeerSettings
) -> MethodResult:
    command = find_command(blank.name, settings.python, settings.arx_jar)
    asked, about, note = _read_policy(trial.policy, trial.table.roles.sensitive)
    coded = CodedTable.build(trial.table, trial.policy, about)
    share = float(fraction(settings.suppress, "suppress"))
    coded.write(folder, {**asked, "suppress": share, "memory": MEMORY})
    run_process(command, folder, Run())
    made_by = _read_version(blank.name, folder)
    _refuse_failure(blank.name, folder, command[0])
    if (folder / "measured.csv").is_file():
        return replace(blank, **_tell_measured(folder), by=made_by)
    cells = _read_answer(coded, folder, frozenset(trial.table.roles.bins))
    return replace(_judge(trial, blank, cells, note), by=made_by)


def _read_policy(
    policy: Policy, sensitive: Sequence[str]
) -> tuple[dict[str, Any], str | None, str]:
    """What a program is asked for, about which column, and what it is not told."""
    asked: dict[str, Any] = {}
    used: list[Measure] = []
    for key, kind in UNDERSTOOD.items():
        own = [m for m in policy.measures if m.kind == kind and m.distance == "equal"]
        strict = max if own and own[0].sense == AT_LEAST else min
        chosen = strict(own, key=lambda m: m.level) if own else None
        asked[key] = None if chosen is None else _as_number(chosen.level)
        used += own
    asked["k"] = asked["k"] or LEAST
    named = next((m.about for m in used if m.about), None)
    about = named or (sensitive[0] if sensitive else None)
    left = len(policy.promises) + len(policy.measures) - len(used)
    told = say("It knows nothing of {n} of the promises.", n=left)
    note = told if left else ""
    return asked, about, note


def _as_number(level: Any) -> int | float:
    return int(level) if level.denominator == 1 else float(level)


def _read_version(name: str, folder: Path) -> str:
    file = folder / "version.txt"
    text = file.read_text("ascii")[:40] if file.is_file() else ""
    return f"{name} {text}".strip()


def _refuse_failure(name: str, folder: Path, python: str) -> None:
    file = folder / "failed.txt"
    if file.is_file():
        words = WORDS.get(file.read_text("ascii").strip(), mark("It failed."))
        raise PeerFailed(words.format(name=name, python=python))


def _tell_measured(folder: Path) -> dict[str, Any]:
    """What a program measures of the table as it is."""
    lines = _read_csv(folder / "measured.csv")
    told = {line[0]: float(line[1]) for line in list(lines)[1:]}
    if not set(told) <= set(UNDERSTOOD):
        raise PeerFailed(ODD)
    words = ", ".join(f"{key} = {value:g}" for key, value in told.items())
    return {
        "verdict": "not applicable",
        "reason": say(
            "It changes nothing; of the table as it is it says {words}.", words=words
        ),
    }


# The answer -------------------------------------------------------------------------

ODD = mark("It gave an answer that does not fit the table.")


def _read_csv(path: Path) -> Iterator[list[str]]:
    try:
        with path.open(encoding="ascii", newline="") as file:
            yield from csv.reader(file)
    except (OSError, UnicodeDecodeError, csv.Error):
        raise PeerFailed(ODD) from None


def _read_answer(
    coded: CodedTable, folder: Path, binned: frozenset[str]
) -> LabelledCells:
    """Names or groups per row; rows that are not there are left out."""
    try:
        if (folder / "groups.csv").is_file():
            shown, there = _read_groups(coded, folder / "groups.csv")
        else:
            shown, there = _read_labels(coded, folder / "labels.csv")
    except (ValueError, IndexError, KeyError):
        raise PeerFailed(ODD) from None
    if not there.any():
        raise PeerFailed(mark("It releases nobody."))
    return LabelledCells(coded, shown, there, binned)


def _read_numbers(coded: CodedTable, lines: Sequence[Sequence[str]]) -> Ints:
    """The rows that an answer speaks of, each once."""
    rows = np.array([int(line[0]) for line in lines], dtype=np.int64)
    many = len(coded.rows.n)
    if len(rows) and (rows.min() < 0 or rows.max() >= many):
        raise IndexError
    if len(np.unique(rows)) != len(rows):
        raise ValueError
    return rows


def _read_labels(
    coded: CodedTable, path: Path
) -> tuple[tuple[NamedColumn, ...], Flags]:
    """A name per cell; it must stand for the value that the row has."""
    _, *lines = _read_csv(path)
    rows = _read_numbers(coded, lines)
    there = np.zeros(len(coded.rows.n), dtype=bool)
    there[rows] = True
    shown = []
    for i, column in enumerate(coded.known):
        meanings = column.list_meanings()
        meanings["*"] = tuple(range(len(column.domain)))
        names = list(meanings)
        number = {name: at for at, name in enumerate(names)}
        label = np.zeros(len(there), dtype=np.int64)
        label[rows] = [number[line[i + 1]] for line in lines]
        made = _number_sets(label, [meanings[name] for name in names])
        _require_true(made, coded.rows.codes[i], rows)
        shown.append(made)
    return tuple(shown), there


def _number_sets(label: Ints, places: Sequence[tuple[int, ...]]) -> NamedColumn:
    """Names that stand for the same values are one; those nobody has are dropped."""
    numbers: dict[tuple[int, ...], int] = {}
    used = np.unique(label).tolist()
    change = np.zeros(len(places), dtype=np.int64)
    for old in used:
        change[old] = numbers.setdefault(places[old], len(numbers))
    return NamedColumn(change[label], tuple(numbers))


def _require_true(column: NamedColumn, codes: Ints, rows: Ints) -> None:
    """What is shown of a row must be true of it."""
    size = int(codes.max(initial=0)) + 1
    allowed = np.zeros((len(column.places), size), dtype=bool)
    for at, places in enumerate(column.places):
        allowed[at, [p for p in places if p < size]] = True
    if not allowed[column.label[rows], codes[rows]].all():
        raise ValueError


def _read_groups(
    coded: CodedTable, path: Path
) -> tuple[tuple[NamedColumn, ...], Flags]:
    """A group per row: of numbers it shows the range, of others the set of values."""
    _, *lines = _read_csv(path)
    rows = _read_numbers(coded, lines)
    there = np.zeros(len(coded.rows.n), dtype=bool)
    there[rows] = True
    given = np.array([int(line[1]) for line in lines], dtype=np.int64)
    group = np.unique(given, return_inverse=True)[1]
    shown = []
    for column, codes in zip(coded.known, coded.rows.codes, strict=False):
        places = _list_shown(column, group, codes[rows])
        label = np.zeros(len(there), dtype=np.int64)
        label[rows] = group
        shown.append(_number_sets(label, places))
    return tuple(shown), there


def _list_shown(column: KnownColumn, group: Ints, codes: Ints) -> list[tuple[int, ...]]:
    """By group, the values that its cell stands for."""
    many = int(group.max()) + 1
    pairs = np.unique(np.stack([group, codes]), axis=1)
    first = np.searchsorted(pairs[0], np.arange(many + 1))
    found = [pairs[1, a:b] for a, b in pairwise(first)]
    if column.numbers is None:
        return [tuple(places.tolist()) for places in found]
    return [tuple(range(int(p[0]), int(p[-1]) + 1)) for p in found]


def _judge(
    trial: Trial, blank: MethodResult, cells: LabelledCells, note: str
) -> MethodResult:
    policy = trial.policy
    told = describe_audit(cells.judge(trial.table, policy), exposure=True)
    if told["verdict"] in ("safe", "not covered") and (policy.ledger or policy.earlier):
        told["verdict"], note = "undecided", EARLIER
    utility = measure_cells(cells, trial.table.roles.target, Run())
    numbers = utility.to_dict()
    figures = {**told["figures"], **list_table_figures(numbers, told["exposure"])}
    if utility.ncp is not None:
        figures["ncp"] = float(utility.ncp)
    hidden: Mapping[str, Any] = {
        c: {"cells": v["cells_changed"], "ncp": v["ncp"]}
        for c, v in numbers["columns"].items()
        if v["cells_changed"]
    }
    return replace(
        blank,
        **{**told, "figures": figures},
        utility=numbers,
        hidden=hidden,
        reason=note,
    )


EARLIER = mark("What it adds to earlier releases is not judged.")
