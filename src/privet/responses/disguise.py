"""Disguising answers by randomized response: frames, one record, or a file of any size.

Draws are exact and come from the secure source.
Zhan, Chang, Matwin 2004, section 3.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import attrs
import numpy as np

from privet.engine.protocol import Run
from privet.engine.randomise import exact_sampling
from privet.engine.randomise.exact_sampling import Codes, Disguise, RandomBits
from privet.engine.randomise.randomise_rows import (
    Randomisation,
    RandomisedColumns,
    disguise_rows,
)
from privet.errors import InputError
from privet.responses.channels import Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import Design, Group
from privet.responses.release import find_code
from privet.table import Table, require_columns


def plan_columns(design: Design) -> tuple[RandomisedColumns, ...]:
    """What is done to each group of a design."""
    return tuple(
        RandomisedColumns(g.columns, _choose_disguise(design, g)) for g in design.groups
    )


def _choose_disguise(design: Design, group: Group) -> Disguise:
    sizes = [len(design.question(c)) for c in group.columns]
    match group.channel:
        case Keep():
            return exact_sampling.report_truth
        case Flip(truth=truth):
            return exact_sampling.flip_all(truth)
        case KAry(truth=truth):
            return exact_sampling.draw_evenly(truth, sizes)
        case Replace(truth=truth) as channel:
            shares = channel.shares(design.size(group.columns))
            return exact_sampling.replace_by_draw(truth, shares, sizes)
        case Matrix(rows=rows):
            # Column x of M: how likely each report is where x is true.
            return exact_sampling.draw_by_matrix(list(zip(*rows, strict=True)), sizes)
    raise AssertionError(group.channel)


def disguise_codes(
    design: Design, true: Mapping[str, Codes], bits: RandomBits
) -> dict[str, Codes]:
    """The reports for some rows of codes; -1 where a row does not report a column."""
    return disguise_rows(true, plan_columns(design), bits, one_of=design.one_of)


def disguise_record(
    design: Design,
    record: Mapping[str, object],
    memory: MutableMapping[str, Any] | None = None,
    bits: RandomBits | None = None,
) -> dict[str, str | None]:
    """One person's report.

    With a memory, a group of questions that was answered the same way before is
    reported the same way again: asking often does not reveal more. It belongs on the
    respondent's side: it holds what is true.
    """
    kept: MutableMapping[str, Any] = {} if memory is None else memory
    source = bits or RandomBits()
    text = json.dumps(design.to_dict(), sort_keys=True)
    # Reports are kept per design: with other chances they are drawn anew.
    survey = hashlib.sha256(text.encode()).hexdigest()[:16]
    groups = plan_columns(design)
    if design.one_of:
        key = f"{survey}:asked"
        if key not in kept:
            kept[key] = int(source.draw_below(len(groups), 1)[0])
        groups = groups[kept[key] : kept[key] + 1]
    found: dict[str, str | None] = dict.fromkeys(design.columns)
    for group in groups:
        true = [design.question(c).code(record.get(c)) for c in group.columns]
        key = f"{survey}:{json.dumps([group.columns, true])}"
        if key not in kept:
            codes = group.disguise([np.array([code]) for code in true], source)
            reports = dict(zip(group.columns, codes, strict=True))
            kept[key] = _decode_labels(design, reports)
        found |= kept[key]
    return found


def _decode_labels(design: Design, codes: Mapping[str, Codes]) -> dict[str, str | None]:
    return {
        c: None if code[0] < 0 else design.question(c).values[int(code[0])]
        for c, code in codes.items()
    }


# Files ------------------------------------------------------------------------------


def plan_randomisation(
    table: Table,
    design: Design,
    path: str,
    format_: str,
    *,
    bits: RandomBits | None = None,
    run: Run | None = None,
) -> Randomisation:
    """What the engine shall draw and write; every value must be declared."""
    require_columns(design.columns, table.schema, "the design")
    domains = binned(table, design).domains(list(design.columns), run)
    codes = {c: _encode_labels(design, c, list(d.labels)) for c, d in domains.items()}
    return Randomisation(
        path,
        format_,
        design.columns,
        {q.name: q.values for q in design.questions},
        codes,
        plan_columns(design),
        design.one_of,
        bits,
    )


def binned(table: Table, design: Design) -> Table:
    """The table with the design's cut points, and no others."""
    bins = {q.name: q.bins for q in design.questions if q.bins is not None}
    roles = attrs.evolve(table.roles, bins=bins)
    return table.with_roles(roles)


def _encode_labels(design: Design, column: str, labels: Sequence[str | None]) -> Codes:
    question = design.question(column)
    found = [find_code(question, label) for label in labels]
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
