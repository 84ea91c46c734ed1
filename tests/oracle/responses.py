"""Randomized response by its definition: every disguise of small tables is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import privet as pv
from privet.responses.channels import Keep

Record = tuple[int, ...]
"""The codes of the columns of a design, in their order."""

Outcomes = dict[Record, Fraction]
"""Every report there may be, with its probability."""


def of_group(values: Record, sizes: Sequence[int], channel: object) -> Outcomes:
    """The reports of one group, as the papers describe the device."""
    everything = list(product(*(range(s) for s in sizes)))
    match channel:
        case Keep():
            return {values: Fraction(1)}
        case pv.Flip(truth=p):
            turned = tuple(1 - v for v in values)
            return {values: p, turned: 1 - p}
        case pv.KAry(truth=p):
            others = [v for v in everything if v != values]
            rest = {v: (1 - p) / len(others) for v in others}
            return {values: p, **rest}
        case pv.Replace(truth=p, instead=q):
            drawn = q or [Fraction(1, len(everything))] * len(everything)
            found = {
                v: (1 - p) * share for v, share in zip(everything, drawn, strict=True)
            }
            found[values] += p
            return found
        case pv.Matrix(rows=rows):
            x = everything.index(values)
            return {v: rows[y][x] for y, v in enumerate(everything)}
    raise AssertionError(channel)


def reports(design: pv.Design, record: Record) -> Outcomes:
    """Every report of one record, with its probability."""
    at = {c: i for i, c in enumerate(design.columns)}
    found: Outcomes = {record: Fraction(1)}
    for group in design.groups:
        sizes = [len(design.question(c)) for c in group.columns]
        mine = tuple(record[at[c]] for c in group.columns)
        fresh: Outcomes = {}
        for values, p in of_group(mine, sizes, group.channel).items():
            for row, q in found.items():
                new = list(row)
                for c, v in zip(group.columns, values, strict=True):
                    new[at[c]] = v
                key = tuple(new)
                fresh[key] = fresh.get(key, Fraction(0)) + p * q
        found = fresh
    return {r: p for r, p in found.items() if p}


def disguises(
    design: pv.Design, rows: Sequence[Record]
) -> Iterator[tuple[list[Record], Fraction]]:
    """Every disguise of a table, with its probability."""
    each = [list(reports(design, r).items()) for r in rows]
    for choice in product(*each):
        p = Fraction(1)
        for _, q in choice:
            p *= q
        yield [r for r, _ in choice], p


def tables(
    shares: Mapping[Record, Fraction], n: int
) -> Iterator[tuple[list[Record], Fraction]]:
    """Every table of n people drawn from a population, with its probability."""
    for rows in product(shares, repeat=n):
        p = Fraction(1)
        for r in rows:
            p *= shares[r]
        if p:
            yield list(rows), p


def expectation(
    of: Callable[[list[Record]], Fraction],
    worlds: Iterator[tuple[list[Record], Fraction]],
) -> Fraction:
    """The mean of a number over all worlds; their probabilities must sum to 1."""
    total, mean = Fraction(0), Fraction(0)
    for rows, p in worlds:
        total += p
        mean += p * of(rows)
    assert 1 == total
    return mean


def posterior(
    design: pv.Design, prior: Mapping[Record, Fraction], seen: Record
) -> dict[Record, Fraction]:
    """Bayes' rule over whole records."""
    joint = {x: p * reports(design, x).get(seen, Fraction(0)) for x, p in prior.items()}
    total = sum(joint.values())
    return {x: p / total for x, p in joint.items()} if total else {}


def growth(design: pv.Design) -> Fraction | None:
    """e^ε over all pairs of records that agree in what is public, and all reports."""
    columns = design.columns
    records = list(product(*(range(len(design.question(c))) for c in columns)))
    public = [i for i, c in enumerate(columns) if c in design.public]
    most = Fraction(1)
    for x in records:
        for other in records:
            if any(x[i] != other[i] for i in public):
                continue
            mine, theirs = reports(design, x), reports(design, other)
            for y, p in mine.items():
                if y not in theirs:
                    return None
                most = max(most, p / theirs[y])
    return most
