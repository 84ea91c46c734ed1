"""Columns that undo hiding: which released rows fit what somebody knows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import privet as pv

CASES = int(os.environ.get("PRIVET_CASES", "40"))

Planted = dict[str, tuple[tuple[str, ...], Callable[..., int]]]
"""What follows from what, and how."""

NAMES = ("a", "b", "c", "d", "e")


def plant(draw: np.random.Generator) -> Planted:
    """b follows from a, d from b, e from a and c; by functions drawn at random."""
    one, two = draw.integers(0, 3, 6), draw.integers(0, 2, 3)
    both = draw.integers(0, 3, (6, 3))
    return {
        "b": (("a",), lambda a: int(one[a])),
        "d": (("b",), lambda b: int(two[b])),
        "e": (("a", "c"), lambda a, c: int(both[a, c])),
    }


def derive(free: dict[str, int], planted: Planted) -> dict[str, int]:
    row = dict(free)
    for column, (by, follow) in planted.items():
        row[column] = follow(*(row[c] for c in by))
    return row


def draw_case(
    seed: int,
) -> tuple[dict[str, list[str]], pv.Table, pv.Policy, Planted, Sequence[str]]:
    draw = np.random.default_rng(seed)
    planted, n = plant(draw), int(draw.integers(6, 30))
    rows = [
        derive({"a": int(draw.integers(6)), "c": int(draw.integers(3))}, planted)
        for _ in range(n)
    ]
    text = "v{}" if draw.random() < 0.5 else "{}"  # numbers are cut, texts hidden
    columns = {c: [text.format(r[c]) for r in rows] for c in NAMES}
    columns["s"] = draw.choice(["0", "1", "2"], n, p=[0.5, 0.3, 0.2]).tolist()
    frame = {
        c: [int(v) for v in vs] if text == "{}" else vs for c, vs in columns.items()
    }
    known = draw.permutation(NAMES)[: draw.integers(1, 4)].tolist()
    target = str(draw.choice(NAMES)) if draw.random() < 0.2 else None
    if target in known:
        target = None
    others = [c for c in NAMES if c not in known and c != target]
    table = pv.read(
        pa.table(frame), quasi=known, other=others, sensitive="s", target=target
    )
    limit = str(draw.choice(["1/2", "3/5", "2/3", "3/4", "4/5"]))
    policy = pv.Policy(
        promises=pv.Promise(pv.Linker(knows=known), pv.Ceiling(limit), "s"),
        roles=table.roles,
        derived=[pv.DerivedColumn(c, by) for c, (by, _) in planted.items()],
    )
    return columns, table, policy, planted, known


def show(release: pv.Release) -> dict[str, dict[int, str]]:
    """The text that is shown for each value of each column."""
    plain = replace(release._table, relabels={})
    domains = plain.domains(NAMES)
    texts = {}
    for c in NAMES:
        relabel = release._table.relabels.get(c)
        shown = domains[c].labels if relabel is None else relabel.texts
        values = [int(str(v).removeprefix("v")) for v in domains[c].labels]
        texts[c] = dict(zip(values, map(str, shown), strict=True))
    return texts


def list_beliefs(
    rows: Sequence[dict[str, int]],
    secrets: Sequence[str],
    texts: dict[str, dict[int, str]],
    planted: Planted,
    known: Sequence[str],
) -> Iterator[Fraction]:
    """How sure of each person somebody is who knows some columns, and what follows."""
    released = Counter(
        (tuple(texts[k][r[k]] for k in NAMES), s)
        for r, s in zip(rows, secrets, strict=True)
    )
    means = {
        c: {t: {v for v, shown in of.items() if shown == t} for t in of.values()}
        for c, of in texts.items()
    }
    for r in rows:
        told = close({k: r[k] for k in known}, planted)
        seen: Counter[str] = Counter()
        for (labels, s), n in released.items():
            shown = dict(zip(NAMES, labels, strict=True))
            if all(texts[c][v] == shown[c] for c, v in told.items()) and may_be(
                told, {c: means[c][t] for c, t in shown.items()}, planted
            ):
                seen[s] += n
        yield Fraction(max(seen.values()), sum(seen.values()))


def close(told: dict[str, int], planted: Planted) -> dict[str, int]:
    """The known values with all that follow from them."""
    for column, (by, follow) in planted.items():
        if column not in told and all(c in told for c in by):
            told[column] = follow(*(told[c] for c in by))
    return told


def may_be(told: dict[str, int], means: dict[str, set[int]], planted: Planted) -> bool:
    """Whether what a row shows may come with the known values, by rules both ways.

    Two columns tell something only where both are known, or shown as they are; then
    what they tell must be shown, too.
    """
    possible = {c: {told[c]} if c in told else set(v) for c, v in means.items()}
    for column, (by, follow) in planted.items():
        if all(c in told for c in by):
            continue
        if len(by) > 1 and any(len(possible[c]) > 1 for c in by):
            continue
        follows = {follow(*v) for v in product(*(possible[c] for c in by))}
        possible[column] = possible[column] & follows
        if not possible[column]:
            return False
    return True


@pytest.mark.parametrize("seed", range(CASES))
def test_nobody_is_surer_than_promised_through_columns_that_follow(seed: int) -> None:
    columns, table, policy, planted, known = draw_case(seed)
    try:
        release = pv.publish(table, policy)
    except pv.Infeasible:
        return
    (found, *_) = release.audit.findings
    assert found.verdict is pv.Verdict.SAFE
    texts = show(release)
    whole = {c: [int(v.removeprefix("v")) for v in columns[c]] for c in NAMES}
    rows = [{c: whole[c][i] for c in NAMES} for i in range(len(columns["s"]))]
    beliefs = list(list_beliefs(rows, columns["s"], texts, planted, known))
    assert found.promise.limit.holds(pv.Belief(0, max(beliefs)))
