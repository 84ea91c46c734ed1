"""The JSON page: what ``--json`` prints, field by field."""

from __future__ import annotations

from typing import Any

import privet as pv
from making.json_fields import (
    COMMANDS,
    DETAIL_FIELDS,
    EXPOSURE_FIELDS,
    FIELDS,
    FINDING_FIELDS,
    WITNESS_FIELDS,
)
from making.markdown import fields, page, shown
from making.release_page import PUBLISHED
from privet.demo.tables import bank_path

SAMPLE = PUBLISHED.replace('target    = "rating"\n', "").replace("0.75", "0.5")
"""The policy of the release's page, and stricter."""


def sample() -> dict[str, Any]:
    """The audit of the bank table that the page shows."""
    with pv.read(str(bank_path())) as table:
        return pv.audit(table, pv.Policy.from_toml(SAMPLE)).to_dict()


def json_page() -> str:
    """What ``--json`` prints, and ``to_dict`` returns."""
    commands = [
        part
        for name, meanings in COMMANDS.items()
        for part in (f"## `privet {name} --json`", fields(meanings))
    ]
    return page(
        "JSON output",
        "`privet audit --json` and `privet views --json` print one object. "
        "`Audit.to_dict()` returns the same in Python. Probabilities are fractions in "
        'text, such as `"4/5"`, so that nothing is rounded; `fractions.Fraction` reads '
        "them. Other commands print other objects, [further "
        "down](#privet-init-json).",
        "The output quotes the private table. Keep it where the table is kept.",
        "A dot means *inside*: `points.belief` is the `belief` of each of the "
        "`points`. A star stands for any name, such as that of a column.",
        "## The object",
        fields(FIELDS),
        "## A finding",
        fields(FINDING_FIELDS),
        "## A witness",
        fields(WITNESS_FIELDS),
        "## Details",
        fields(DETAIL_FIELDS),
        "## Exposure",
        fields(EXPOSURE_FIELDS),
        "## An example",
        f"The bank table of the tutorial, with this policy:\n\n```toml\n{SAMPLE}```",
        shown(sample()),
        *commands,
    )
