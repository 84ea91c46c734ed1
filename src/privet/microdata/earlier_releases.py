"""What earlier releases of the same rows add: a bound for somebody who has them all.

Nobody can match the rows of releases better than by everything they show, so the table
in which each value is shown as all of them show it bounds what can be learnt.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.engine.protocol import Relabel, Run
from privet.errors import InputError
from privet.findings import Audit, Basis, Finding, Verdict
from privet.microdata.recipe import Recipe
from privet.policy import Promise
from privet.policy.promises import select_promises
from privet.release.audit import audit
from privet.release.custody_record import describe_source
from privet.release.verify import CUSTODY
from privet.table import Table

OTHER_ROWS = (
    "An earlier release was made from other rows, or with other bins; what they give "
    "away together cannot be told."
)
WITHIN = (
    "Even somebody who could match the rows of the releases would stay within the "
    "limit."
)
NOT_BOUNDED = (
    "Somebody who could match the rows of the releases might go beyond the limit. "
    "Whether anybody can is not known."
)


def judge_together(
    table: Table,
    recipe: Recipe,
    promises: Sequence[Promise],
    custodies: Sequence[str | Path],
    run: Run,
) -> Audit:
    """Judge promises against somebody who has this release and the earlier ones."""
    linkers = select_promises("groups", promises)
    records = [read_custody(Path(custody)) for custody in custodies]
    if not all(_has_same_rows(table, record) for record in records):
        return Audit(
            tuple(Finding(p, Verdict.UNDECIDED, note=OTHER_ROWS) for p in linkers)
        )
    recipes = [recipe, *(Recipe.from_dict(record["recipe"]) for record in records)]
    with warnings.catch_warnings(action="ignore"):
        found = audit(
            _combine_releases(table, recipes, run), linkers, progress=run.listener
        )
    return Audit(tuple(_weaken_to_bound(f) for f in found.findings))


def read_custody(path: Path) -> dict[str, Any]:
    """The private record of a release, from its folder or the file itself."""
    file = path / CUSTODY if path.is_dir() else path
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = None
    if not isinstance(record, dict) or record.get("custody") != 1:
        raise InputError(
            f"{str(file)!r} must be the custody record of a release made here; it "
            "cannot be read as one."
        )
    return record


def _has_same_rows(table: Table, record: Mapping[str, Any]) -> bool:
    rows = describe_source(table)
    return bool(rows["files"]) and rows == record.get("rows_from")


def _combine_releases(table: Table, recipes: Sequence[Recipe], run: Run) -> Table:
    """The rows with each value as all releases together show it.

    A column that one of them shows as it is, is shown as it is.
    """
    shared = [c for c in recipes[0].columns if all(c in r.columns for r in recipes)]
    plain = replace(table, relabels={})
    bins = table.roles.bins
    domains = plain.domains(shared, run)
    shown = [recipe.relabels(domains, bins) for recipe in recipes]
    return plain.relabelled(
        {c: Relabel(_combine_texts([s[c] for s in shown]), bins.get(c)) for c in shared}
    )


def _combine_texts(relabels: Sequence[Relabel]) -> tuple[str, ...]:
    texts = zip(*(r.texts for r in relabels), strict=True)
    return tuple(json.dumps(several, ensure_ascii=False) for several in texts)


def _weaken_to_bound(finding: Finding) -> Finding:
    """A bound may acquit, never accuse."""
    if finding.verdict is Verdict.SAFE:
        return replace(finding, basis=Basis.BOUND, witness=None, note=WITHIN)
    return replace(
        finding,
        verdict=Verdict.UNDECIDED,
        basis=Basis.BOUND,
        witness=None,
        note=NOT_BOUNDED,
    )
