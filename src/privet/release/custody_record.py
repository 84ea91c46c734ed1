"""What custody records of every kind say: the private rows, the policy, the time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from privet.engine.protocol import Run
from privet.errors import InputError
from privet.policy import Policy
from privet.release.verify import digest
from privet.table import Table
from privet.values.schema import Bins


def describe_table(table: Table) -> dict[str, Any]:
    """The private table: its files, its rows, and what counted them."""
    made, files = table.people_made, digest_files(table)
    return {
        "source": files,
        "rows": table.engine.rows(Run()),
        **({"people": made.to_dict()} if made else {}),
        "rows_from": describe_source(table, files),
        "engine": {table.engine.name: table.engine.version},
    }


def now() -> str:
    """When something was made, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest_files(table: Table) -> list[dict[str, str]]:
    """The files a table was read from, and their digests."""
    return [{"path": p, "sha256": digest(Path(p))} for p in table.source.paths]


def list_digested(record: Mapping[str, Any]) -> Iterable[Mapping[str, str]]:
    """The files that a custody record has digests of, where it lists them so."""
    files = record.get("source")
    return files if isinstance(files, list) else ()


def describe_source(
    table: Table, digested: Iterable[Mapping[str, str]] = ()
) -> dict[str, Any]:
    """What tells the rows of a table from others: files, filter and bins.

    Files that were `digested` for the same record are not read again.
    """
    known = {file["path"]: file["sha256"] for file in digested}
    where = table.options.get("where") or {}
    how = table.source.text.to_dict()
    return {
        **({"reading": how} if how else {}),
        "files": sorted(known.get(p) or digest(Path(p)) for p in table.source.paths),
        "table": table.source.table,
        "where": {c: sorted(map(str, v)) for c, v in sorted(where.items())},
        "bins": {c: b.to_list() for c, b in sorted(table.roles.bins.items())},
        **({"person": table.person.to_dict()} if table.person else {}),
    }


def describe_bins(bins: Bins | None) -> str:
    """The bins of a column as a text that can be compared; empty: none."""
    return "" if bins is None else json.dumps(bins.to_list())


def record_accepted(policy: Policy) -> dict[str, Any]:
    """What was accepted, why and by whom; nothing where nothing was."""
    entries = [a.to_dict() for a in policy.accepted]
    return {"accepted": entries} if entries else {}


def policy_text(policy: Policy) -> Any:
    """The policy as it was written, or as a file would have it."""
    if policy.origin:
        return policy.origin.text
    try:
        return policy.to_toml()
    except InputError:  # a promise about missing values, which TOML cannot write
        promises = [p.to_dict() for p in policy.promises]
        return promises + [m.to_dict() for m in policy.measures]
