"""What an earlier release of the same rows adds for somebody who has both.

Nobody can match the rows of two releases better than by everything both show, so the
table in which each value is shown as both releases show it bounds what can be learnt.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.adversary import Linker
from privet.audits import audit
from privet.engines.base import Relabel, Run
from privet.errors import InputError
from privet.finding import Audit, Basis, Finding, Verdict
from privet.policy import Promise
from privet.publishers.reading import digest
from privet.releases.recipe import Recipe
from privet.table import Table

CUSTODY = "custody.json"

OTHER_ROWS = (
    "The earlier release was made from other rows, or with other bins; what both give "
    "away together cannot be told."
)
WITHIN = (
    "Even somebody who could match the rows of both releases would stay within the "
    "limit."
)
NOT_BOUNDED = (
    "Somebody who could match the rows of both releases might go beyond the limit. "
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
    linkers = [p for p in promises if isinstance(p.against, Linker)]
    findings: list[Finding] = []
    for custody in custodies:
        record = read_custody(Path(custody))
        if not _same_rows(table, record):
            findings += [
                Finding(p, Verdict.UNDECIDED, note=OTHER_ROWS) for p in linkers
            ]
            continue
        both = _both(table, recipe, Recipe.from_dict(record["recipe"]), run)
        with warnings.catch_warnings(action="ignore"):
            found = audit(both, linkers, progress=run.listener)
        findings += [_bounded(f) for f in found.findings]
    return Audit(tuple(findings))


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


def same_source(table: Table) -> dict[str, Any]:
    """What tells the rows of a table from others: files, filter and bins."""
    where = table.options.get("where") or {}
    return {
        "files": sorted(digest(Path(p)) for p in table.source.paths),
        "table": table.source.scan if table.source.attach else "",
        "where": {c: sorted(map(str, v)) for c, v in sorted(where.items())},
        "bins": {c: b.to_list() for c, b in sorted(table.roles.bins.items())},
    }


def _same_rows(table: Table, record: Mapping[str, Any]) -> bool:
    rows = same_source(table)
    return bool(rows["files"]) and rows == record.get("rows_from")


def _both(table: Table, new: Recipe, old: Recipe, run: Run) -> Table:
    """The rows with each value as both releases show it."""
    shared = [c for c in new.columns if c in old.columns]
    plain = replace(table, relabels={})
    domains = plain.domains(shared, run)
    bins = table.roles.bins
    first, second = old.relabels(domains, bins), new.relabels(domains, bins)
    return plain.relabelled(
        {c: Relabel(_pairs(first[c], second[c]), bins.get(c)) for c in shared}
    )


def _pairs(first: Relabel, second: Relabel) -> tuple[str, ...]:
    pairs = zip(first.texts, second.texts, strict=True)
    return tuple(json.dumps(pair, ensure_ascii=False) for pair in pairs)


def _bounded(finding: Finding) -> Finding:
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
