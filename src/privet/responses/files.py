"""Opening disguised files: loaded and verified against what their manifest says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.engine.protocol import Run
from privet.errors import InputError
from privet.findings import Audit
from privet.release.audit import audit
from privet.release.kinds import Form, Verification
from privet.release.verify import (
    MANIFEST,
    changed_files,
    open_files,
    policy_from,
    unlike_findings,
    unlike_record,
)
from privet.responses.design import Design
from privet.responses.release import Responses, code_of
from privet.values.schema import Roles

FORM: Form = {"files": lambda c: len(c["files"]) == 1}
"""What must hold of the manifest of disguised rows."""


def load_responses(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> Responses:
    """Disguised rows from their public files; an error where something differs."""
    problems = changed_files(folder, content)
    if problems:
        raise InputError(problems[0])
    responses = _opened(folder, content, **options)
    if problems := _differences(responses, content):
        responses.close()
        raise InputError("\n".join(problems))
    return responses


def _opened(folder: Path, content: Mapping[str, Any], **options: Any) -> Responses:
    stated = content.get("design")
    if not isinstance(stated, Mapping):
        raise InputError(f"{MANIFEST} of disguised rows must hold their design.")
    path = folder / content["files"][0]["path"]
    table = open_files(path, Roles(), guarded="escaped" in content, **options)
    try:
        found = Responses(table, Design.from_dict(stated))
    except BaseException:
        table.close()
        raise
    return replace(found, manifest=dict(content))


def _differences(responses: Responses, content: Mapping[str, Any]) -> list[str]:
    problems = misfits(responses, content["files"][0]["rows"], Run())
    if content.get("privacy") != privacy(responses.design):
        problems.append("privacy must be what the design gives; it is not.")
    found = _judged(responses, content)
    findings = found.findings if found else ()
    return problems + unlike_findings(content["promises"], findings)


def _judged(responses: Responses, content: Mapping[str, Any]) -> Audit | None:
    if not content["promises"]:
        return None
    return audit(responses, list(policy_from(content).promises))


def verify_responses(
    folder: Path, content: Mapping[str, Any], custody: Path | None, **options: Any
) -> Verification:
    """Recount disguised rows against their manifest."""
    problems = unlike_record(folder, custody) + changed_files(folder, content)
    if any("must exist" in p for p in problems):
        return Verification(tuple(problems), None)
    try:
        responses = _opened(folder, content, **options)
    except InputError as error:
        return Verification((*problems, str(error)), None)
    try:
        problems += _differences(responses, content)
        found = _judged(responses, content)
        return Verification(tuple(problems), found, unpromised=found is None)
    finally:
        responses.close()


def misfits(responses: Responses, rows: int, run: Run) -> list[str]:
    """What does not fit the design: rows, columns, values."""
    table, design = responses.rows, responses.design
    problems = []
    if (found := table.engine.rows(run)) != rows:
        problems.append(f"The table must have {rows} rows; it has {found}.")
    if set(table.schema.names) != set(design.columns):
        problems.append("The table must have the columns the design names.")
        return problems
    cells = table.engine.tabulate([[c] for c in design.columns], run)
    for column, values in zip(design.columns, cells, strict=True):
        question = design.question(column)
        for (value,), _ in values:
            missing = design.one_of and value is None
            if not missing and code_of(question, value) is None:
                problems.append(
                    f"Column {column!r} must hold values that the design declares."
                )
                break
    return problems


def privacy(design: Design) -> dict[str, Any]:
    """What the design gives away at most: e^ε of the record and of each column."""
    grown = design.growth()
    secret = [c for c in design.columns if c not in design.public]
    return {
        "growth": None if grown is None else str(grown),
        "epsilon": None if grown is None else round(design.epsilon(), 6),
        "columns": {c: _shown(design.growth([c])) for c in secret},
        "public": list(design.public),
    }


def _shown(grown: Any) -> str | None:
    return None if grown is None else str(grown)
