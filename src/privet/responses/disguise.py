"""Disguising answers by randomized response: frames, one record, or a file of any size.

Draws are exact and come from the secure source.
Zhan, Chang, Matwin 2004, section 3.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
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
        RandomisedColumns(
            g.columns, _choose_disguise(design, g), isinstance(g.channel, Keep)
        )
        for g in design.groups
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
    reported the same way again: asking often does not reveal more. It holds a random
    key and no answer; yet it belongs on the respondent's side, since somebody who has
    it and the report can leave out answers that would have been reported otherwise.
    """
    kept: MutableMapping[str, Any] = {} if memory is None else memory
    key = _recall_key(kept, bits or RandomBits())
    text = json.dumps(design.to_dict(), sort_keys=True)
    # Reports are drawn per design: with other chances they are drawn anew.
    survey = hashlib.sha256(text.encode()).hexdigest()[:16]
    groups = plan_columns(design)
    if design.one_of:
        open_to_draw = [g for g in groups if not g.always]
        drawn = _derive_bits(key, ["privet-asked-1", survey]).draw_below(
            len(open_to_draw), 1
        )
        one = open_to_draw[int(drawn[0])]
        groups = tuple(g for g in groups if g.always or g is one)
    found: dict[str, str | None] = dict.fromkeys(design.columns)
    for group in groups:
        true = [design.question(c).code(record.get(c)) for c in group.columns]
        asked = ["privet-disguise-1", survey, list(group.columns), true, 0]
        codes = group.disguise(
            [np.array([code]) for code in true], _derive_bits(key, asked)
        )
        reports = dict(zip(group.columns, codes, strict=True))
        found |= _decode_labels(design, reports)
    return found


KEY = "key"
"""Where a memory holds its key."""


def _recall_key(memory: MutableMapping[str, Any], bits: RandomBits) -> bytes:
    """32 random bytes, drawn the first time."""
    if isinstance(memory, MutableMapping):
        if KEY not in memory:
            memory[KEY] = bits.draw_words(16).tobytes().hex()
        with suppress(TypeError, ValueError):
            if len(key := bytes.fromhex(memory[KEY])) == 32:
                return key
    raise InputError(
        "A memory must be a dictionary as it was left the last time, or an empty one; "
        "this one has another key."
    )


def _derive_bits(key: bytes, about: list[Any]) -> RandomBits:
    """Chance that is always the same for a question and an answer to it."""
    text = json.dumps(about, separators=(",", ":"))
    return RandomBits(hmac.digest(key, text.encode("ascii"), "sha256"))


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
