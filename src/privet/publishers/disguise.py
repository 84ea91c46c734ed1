"""Disguising answers: frames in memory, one record, or a file of any size.

Zhan, Chang, Matwin 2004, section 3; draws are exact and come from the secure source.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from privet.engines import chance
from privet.engines.base import Run
from privet.engines.chance import Bits, Codes, Disguise
from privet.engines.draws import Drawing, Drawn, disguised
from privet.errors import InputError
from privet.releases.channels import Flip, KAry, Keep, Matrix, Replace
from privet.releases.design import Design, Group
from privet.releases.responses import code_of
from privet.table import Table, require_columns


def drawn(design: Design) -> tuple[Drawn, ...]:
    """What is done to each group of a design."""
    return tuple(Drawn(g.columns, _disguise(design, g)) for g in design.groups)


def _disguise(design: Design, group: Group) -> Disguise:
    sizes = [len(design.question(c)) for c in group.columns]
    match group.channel:
        case Keep():
            return chance.kept
        case Flip(truth=truth):
            return chance.flipped(truth)
        case KAry(truth=truth):
            return chance.even(truth, sizes)
        case Replace(truth=truth) as channel:
            shares = channel.shares(design.size(group.columns))
            return chance.replaced(truth, shares, sizes)
        case Matrix(rows=rows):
            return chance.by_matrix(list(zip(*rows, strict=True)), sizes)
    raise AssertionError(group.channel)


def disguise_codes(
    design: Design, true: Mapping[str, Codes], bits: Bits
) -> dict[str, Codes]:
    """The reports for some rows of codes; -1 where a row does not report a column."""
    return disguised(true, drawn(design), bits, one_of=design.one_of)


def answer(
    design: Design,
    record: Mapping[str, object],
    memory: MutableMapping[str, Any] | None = None,
) -> dict[str, str | None]:
    """One person's report.

    With a memory, a group of questions that was answered the same way before is
    reported the same way again: asking often does not reveal more.
    """
    true = {
        c: np.array([design.question(c).code(record.get(c))]) for c in design.columns
    }
    if memory is None:
        return _labels(design, disguise_codes(design, true, Bits()))
    if design.one_of:
        raise InputError(
            "A memory must be used with designs that ask everybody everything."
        )
    found: dict[str, str | None] = {}
    for group in drawn(design):
        key = repr(
            [(c, design.question(c).values[int(true[c][0])]) for c in group.columns]
        )
        if key not in memory:
            reports = group.disguise([true[c] for c in group.columns], Bits())
            memory[key] = _labels(
                design, dict(zip(group.columns, reports, strict=True))
            )
        found |= memory[key]
    return {c: found[c] for c in design.columns}


def _labels(design: Design, codes: Mapping[str, Codes]) -> dict[str, str | None]:
    return {
        c: None if code[0] < 0 else design.question(c).values[int(code[0])]
        for c, code in codes.items()
    }


# Files ------------------------------------------------------------------------------


def drawing(
    table: Table,
    design: Design,
    path: str,
    format_: str,
    *,
    bits: Bits | None = None,
    run: Run | None = None,
) -> Drawing:
    """What the engine shall draw and write; every value must be declared."""
    require_columns(design.columns, table.schema, "the design")
    domains = binned(table, design).domains(list(design.columns), run)
    codes = {c: _codes(design, c, list(d.labels)) for c, d in domains.items()}
    return Drawing(
        path,
        format_,
        design.columns,
        {q.name: q.values for q in design.questions},
        codes,
        drawn(design),
        design.one_of,
        bits,
    )


def binned(table: Table, design: Design) -> Table:
    """The table with the design's cut points, and no others."""
    from dataclasses import replace

    bins = {q.name: q.bins for q in design.questions if q.bins is not None}
    roles = replace(table.roles, bins=bins)
    return table.with_roles(roles)


def _codes(design: Design, column: str, labels: Sequence[str | None]) -> Codes:
    question = design.question(column)
    found = [code_of(question, label) for label in labels]
    # Bins have a code for missing values whether there are any or not.
    if None in found and not (question.bins and found.index(None) == 0):
        wrong = sum(code is None for code in found)
        raise InputError(
            f"Column {column!r} must hold values that the design declares; {wrong} of "
            f"its {len(found)} values are not declared"
            f"{', a missing one among them' if None in labels else ''}. Add them to "
            "the design, or say with missing what a missing answer counts as."
        )
    return np.array([-2 if code is None else code for code in found], dtype=np.int64)
