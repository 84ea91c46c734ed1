"""The files of disguised rows: written, recounted, loaded and verified."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.engine.protocol import Run
from privet.errors import EngineError, InputError, PrivetError
from privet.findings import Audit
from privet.policy import Policy, Promise
from privet.release.atomic_folder import sync
from privet.release.audit import audit
from privet.release.kinds import Form, Verification
from privet.release.manifest import VERSION, WrittenFile, public_finding
from privet.release.verify import (
    MANIFEST,
    compare_findings,
    compare_record,
    digest,
    find_changed_files,
    open_files,
    read_policy,
)
from privet.release.write import Destination, digest_files, now, policy_text
from privet.responses.design import Design
from privet.responses.disguise import binned, plan_randomisation
from privet.responses.release import Responses, find_code
from privet.table import Table
from privet.values.schema import Roles

NOT_PROMISED = (
    "protection of somebody who answers again: every further report about the same "
    "truth spends ε once more, unless the same report is given again",
    "protection of columns that the design calls public",
    "protection against somebody who knows how answers depend on each other, beyond ε "
    "of the whole record",
    "anonymity: the promise holds even where it is known whose row is whose, and does "
    "not hide whose it is",
)
"""What a disguise does not cover; said in every manifest."""

FORM: Form = {
    "files": lambda c: len(c["files"]) == 1,
    "form": lambda c: False,  # which is about tables
}
"""What must hold of the manifest of disguised rows."""


def load_responses(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> Responses:
    """Disguised rows from their public files; an error where something differs."""
    problems = find_changed_files(folder, content)
    if problems:
        raise InputError(problems[0])
    responses = _open_responses(folder, content, **options)
    if problems := _list_differences(responses, content):
        responses.close()
        raise InputError("\n".join(problems))
    return responses


def _open_responses(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> Responses:
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


def _list_differences(responses: Responses, content: Mapping[str, Any]) -> list[str]:
    problems = find_misfits(responses, content["files"][0]["rows"], Run())
    if content.get("privacy") != describe_privacy(responses.design):
        problems.append("privacy must be what the design gives; it is not.")
    found = _judge_promises(responses, content)
    findings = found.findings if found else ()
    return problems + compare_findings(content["promises"], findings)


def _judge_promises(responses: Responses, content: Mapping[str, Any]) -> Audit | None:
    if not content["promises"]:
        return None
    return audit(responses, list(read_policy(content).promises))


def verify_responses(
    folder: Path, content: Mapping[str, Any], custody: Path | None, **options: Any
) -> Verification:
    """Recount disguised rows against their manifest."""
    problems = compare_record(folder, custody) + find_changed_files(folder, content)
    if any("must exist" in p for p in problems):
        return Verification(tuple(problems), None)
    try:
        with closing(_open_responses(folder, content, **options)) as responses:
            problems += _list_differences(responses, content)
            found = _judge_promises(responses, content)
    except PrivetError as error:
        return Verification((*problems, str(error)), None)
    return Verification(tuple(problems), found, unpromised=found is None)


def find_misfits(responses: Responses, rows: int, run: Run) -> list[str]:
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
            if not missing and find_code(question, value) is None:
                problems.append(
                    f"Column {column!r} must hold values that the design declares."
                )
                break
    return problems


def describe_privacy(design: Design) -> dict[str, Any]:
    """What the design gives away at most: e^ε of the record and of each column."""
    grown = design.growth()
    secret = [c for c in design.columns if c not in design.public]
    return {
        "growth": None if grown is None else str(grown),
        "epsilon": None if grown is None else round(design.epsilon(), 6),
        "columns": {c: _format_growth(design.growth([c])) for c in secret},
        "public": list(design.public),
    }


def _format_growth(grown: Any) -> str | None:
    return None if grown is None else str(grown)


# Writing ----------------------------------------------------------------------------


def write_rows(
    table: Table, design: Design, destination: Destination, partial: Path, run: Run
) -> WrittenFile:
    """Draw a report for every row, and write it."""
    path = partial / destination.file
    plan = plan_randomisation(table, design, str(path), destination.format, run=run)
    try:
        rows = table.engine.draw(plan, binned(table, design).recodings, run)
    except EngineError as error:
        if "moved" not in str(error):  # not about files at all
            raise
        raise OSError(errno.EIO, "") from None
    sync(path)
    return WrittenFile(destination.file, rows, digest(path))


def recount(
    design: Design,
    destination: Destination,
    partial: Path,
    written: WrittenFile,
    run: Run,
) -> None:
    """What was written must have its rows, and values of the design only."""
    path = partial / destination.file
    with open_files(path, Roles(), guarded=destination.format == "csv") as rows:
        problems = find_misfits(Responses(rows, design), written.rows, run)
    if problems:
        raise EngineError(
            "What was written does not recount to what the design says; nothing is "
            "released. Please report this as a bug."
        )


def build_manifest(
    design: Design,
    policy: Policy | None,
    written: WrittenFile,
    found: Audit | None,
    destination: Destination,
) -> dict[str, Any]:
    """The public document."""
    from privet import __version__

    findings = found.findings if found else ()
    promises = [f for f in findings if isinstance(f.promise, Promise)]
    title = design.title or (policy.title if policy else "")
    content: dict[str, Any] = {
        "privet": __version__,
        "manifest": VERSION,
        "kind": "responses",
        "title": title,
        "files": [written.to_dict()],
        "columns": {c: _describe_column(design, c) for c in design.columns},
        "method": "randomized response",
        "design": design.to_dict(),
        "privacy": describe_privacy(design),
        "promises": [public_finding(f) for f in promises],
        "not_promised": list(NOT_PROMISED),
    }
    if destination.format == "csv":
        content["escaped"] = (
            "Text that begins with = + - @ ', a tab or a line break has a ' in front; "
            "take one off."
        )
    return content


def _describe_column(design: Design, column: str) -> dict[str, Any]:
    return {
        "type": "text",
        "shown_as": "as it is" if column in design.public else "disguised",
    }


def write_note(content: Mapping[str, Any]) -> str:
    """What the recipients should know, from the public manifest alone."""
    told = content["privacy"]
    lines = [content["title"] or "Disguised answers", ""]
    lines += ["This is a public note; it tells nothing that is not in the release."]
    lines += ["", "What was changed"]
    lines += [
        "- Every answer was disguised by chance, as the design in release.json "
        "says. No single row can be relied on; shares of many rows can be estimated.",
    ]
    if told["public"]:
        lines += [f"- Not disguised, since public: {', '.join(told['public'])}."]
    if "escaped" in content:
        lines += [f"- {content['escaped']}"]
    lines += ["", "What is promised"]
    if told["growth"] is None:
        lines += ["- Nothing about whole records: ε is infinite."]
    else:
        lines += [
            f"- ε of a whole record is {told['epsilon']:.3g}: seeing a row multiplies "
            f"the odds of anything about its person by {_round(told['growth'])} at "
            "most."
        ]
    lines += ["", "What is not promised"]
    lines += [f"- {line[0].upper()}{line[1:]}." for line in content["not_promised"]]
    lines += ["", "Estimate from it: privet estimate <this folder>"]
    lines += ["Recount it yourself: privet verify <this folder>", ""]
    return "\n".join(lines)


def _round(growth: str) -> str:
    from privet.values.exact import as_float, fraction

    return f"{as_float(fraction(growth)):.4g}"


def build_custody_record(
    table: Table, design: Design, policy: Policy | None, content: dict[str, Any]
) -> dict[str, Any]:
    """What the steward keeps: where the truth is, and how it was disguised."""
    return {
        "custody": 1,
        "sensitive": "This file tells where the true answers are. It never travels.",
        "made": now(),
        "source": digest_files(table),
        "rows": content["files"][0]["rows"],
        "engine": {table.engine.name: table.engine.version},
        "method": content["method"],
        "design": design.to_dict(),
        "draws": "From the operating system's secure source; they were not kept.",
        "policy": None if policy is None else policy_text(policy),
    }
