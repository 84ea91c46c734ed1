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


# Whole records, whatever hangs together ---------------------------------------------


def whole_reports(design: pv.Design, record: Record) -> dict[tuple, Fraction]:
    """Every report of one record; with `one_of` it names the group that was asked."""
    if not design.one_of:
        return dict(reports(design, record))
    at = {c: i for i, c in enumerate(design.columns)}
    secret = [g for g in design.groups if not isinstance(g.channel, Keep)]
    public = tuple(record[at[c]] for c in design.public)
    found = {}
    for i, group in enumerate(secret):
        sizes = [len(design.question(c)) for c in group.columns]
        mine = tuple(record[at[c]] for c in group.columns)
        for values, p in of_group(mine, sizes, group.channel).items():
            if p:
                found[(i, *values, *public)] = p / len(secret)
    return found


def partly_seen(
    design: pv.Design, record: Record, columns: Sequence[str]
) -> dict[tuple, Fraction]:
    """Every report of one record as far as some columns show it."""
    at = [design.columns.index(c) for c in columns]
    found: dict[tuple, Fraction] = {}
    for y, p in reports(design, record).items():
        key = tuple(y[i] for i in at)
        found[key] = found.get(key, Fraction(0)) + p
    return found


def most_believed(
    design: pv.Design,
    column: str,
    prior: Sequence[Fraction],
    likelihoods: Callable[[Record], dict[tuple, Fraction]] | None = None,
    known: Mapping[int, int] | None = None,
) -> list[tuple[Fraction, Fraction]]:
    """The highest and the lowest posterior of each answer, over all joint priors.

    A joint prior is a number per record, and the posterior of a value is a quotient of
    two sums over them: it is largest where each answer's share lies on one record. All
    such choices are tried, given what is public, which everybody knows.
    """
    told_by = likelihoods or (lambda r: whole_reports(design, r))
    i = design.columns.index(column)
    public = [j for j, c in enumerate(design.columns) if c in design.public]
    records = [
        r
        for r in product(*(range(len(q)) for q in design.questions))
        if all(r[j] == v for j, v in (known or {}).items())
    ]
    best = [[Fraction(0), Fraction(1)] for _ in prior]
    for given in {tuple(r[j] for j in public) for r in records}:
        some = [r for r in records if tuple(r[j] for j in public) == given]
        likely = {r: told_by(r) for r in some}
        for y in {y for told in likely.values() for y in told}:
            by = [
                [likely[r].get(y, Fraction(0)) for r in some if r[i] == v]
                for v in range(len(prior))
            ]
            for choice in product(*({*chances} for chances in by)):
                joint = [p * q for p, q in zip(prior, choice, strict=True)]
                if total := sum(joint):
                    for v, p in enumerate(joint):
                        best[v][0] = max(best[v][0], p / total)
                        best[v][1] = min(best[v][1], p / total)
    return [(high, low) for high, low in best]
