"""Disguised files as releases: written whole, recounted, loaded and verified."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any
from warnings import warn

from privet.engine.protocol import Listener, Run
from privet.engine.randomise.randomise_rows import MARK
from privet.errors import EngineError, Infeasible, InputError, PrivacyWarning
from privet.findings import Audit, Verdict
from privet.policy import Policy, Promise
from privet.release.atomic_folder import beside, sync
from privet.release.audit import audit
from privet.release.manifest import VERSION, WrittenFile, public_finding
from privet.release.verify import digest, is_release, open_files, read_manifest
from privet.release.write import (
    Destination,
    appear,
    destination,
    explained,
    files_of,
    now,
    policy_text,
    refuse_place,
)
from privet.responses.design import Design
from privet.responses.disguise import binned, plan_randomisation
from privet.responses.files import load_responses, misfits, privacy
from privet.responses.release import Responses
from privet.responses.transformer import TWICE
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


def disguise(
    table: Table,
    design: Design,
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str],
    policy: Policy | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    replace: bool = False,
    progress: Listener | None = None,
) -> Responses:
    """Disguise a table of any size and write it as a release, whole or not at all.

    Parameters
    ----------
    table
        The true answers.
    design
        What is asked and how it is disguised; columns it does not name stay here.
    folder, custody
        Where the release goes, and where the private record is kept.
    policy
        Promises against a Bayesian that the design must keep.
    format
        ``"parquet"`` or ``"csv"``.
    replace
        Whether to write over an earlier release.
    progress
        Takes `Progress` events.
    """
    run = Run(progress)
    found = _promised(design, policy)
    place = destination(folder, custody, format)
    refuse_place(place, replace)
    if is_disguised(table):
        warn(TWICE, PrivacyWarning, stacklevel=2)
    with explained(place), beside(place.folder) as partial:
        written = _write(table, design, place, partial, run)
        _recount(design, place, partial, written, run)
        content = _manifest(design, policy, written, found, place)
        record = _record(table, design, policy, content)
        appear(partial, place, content, note(content), record, replace=replace)
    return load_responses(place.folder, content)


def is_disguised(table: Table) -> bool:
    """Whether the rows come from a file that says it is disguised."""
    for path in map(Path, table.source.paths):
        if is_release(path.parent):
            with suppress(InputError):
                if read_manifest(path.parent)["kind"] == "responses":
                    return True
        if path.suffix.lower() == ".parquet" and path.is_file():
            from pyarrow import parquet

            if MARK in (parquet.read_schema(path).metadata or {}):
                return True
    return False


def _promised(design: Design, policy: Policy | None) -> Audit | None:
    """The policy's promises, judged on the design before anything is drawn."""
    if policy is None:
        return None
    found = audit(design, list(policy.promises))
    broken = [f for f in found.findings if f.verdict is Verdict.BREACH]
    if broken:
        belief = broken[0].belief
        raise Infeasible(
            f"The design does not keep {broken[0].promise.name!r}: "
            f"{broken[0].explain()}",
            promise=broken[0].promise,
            best=belief.posterior if belief else None,
            advice=(
                "Disguise more: lower the truth of the design's questions.",
                "privet plan tells which truth a wanted ε needs.",
            ),
        )
    return found


# Writing ----------------------------------------------------------------------------


def _write(
    table: Table, design: Design, place: Destination, partial: Path, run: Run
) -> WrittenFile:
    path = partial / place.file
    plan = plan_randomisation(table, design, str(path), place.format, run=run)
    try:
        rows = table.engine.draw(plan, binned(table, design).recodings, run)
    except EngineError as error:
        if "moved" not in str(error):  # not about files at all
            raise
        raise OSError(errno.EIO, "") from None
    sync(path)
    return WrittenFile(place.file, rows, digest(path))


def _recount(
    design: Design, place: Destination, partial: Path, written: WrittenFile, run: Run
) -> None:
    """What was written must have its rows, and values of the design only."""
    path = partial / place.file
    with open_files(path, Roles(), guarded=place.format == "csv") as rows:
        problems = misfits(Responses(rows, design), written.rows, run)
    if problems:
        raise EngineError(
            "What was written does not recount to what the design says; nothing is "
            "released. Please report this as a bug."
        )


def _manifest(
    design: Design,
    policy: Policy | None,
    written: WrittenFile,
    found: Audit | None,
    place: Destination,
) -> dict[str, Any]:
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
        "columns": {c: _column(design, c) for c in design.columns},
        "method": "randomized response",
        "design": design.to_dict(),
        "privacy": privacy(design),
        "promises": [public_finding(f) for f in promises],
        "not_promised": list(NOT_PROMISED),
    }
    if place.format == "csv":
        content["escaped"] = (
            "Text that begins with = + - @ ', a tab or a line break has a ' in front; "
            "take one off."
        )
    return content


def _column(design: Design, column: str) -> dict[str, Any]:
    return {
        "type": "text",
        "shown_as": "as it is" if column in design.public else "disguised",
    }


def note(content: Mapping[str, Any]) -> str:
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
            f"the odds of anything about its person by {_about(told['growth'])} at "
            "most."
        ]
    lines += ["", "What is not promised"]
    lines += [f"- {line[0].upper()}{line[1:]}." for line in content["not_promised"]]
    lines += ["", "Estimate from it: privet estimate <this folder>"]
    lines += ["Recount it yourself: privet verify <this folder>", ""]
    return "\n".join(lines)


def _about(growth: str) -> str:
    from privet.values.exact import as_float, fraction

    return f"{as_float(fraction(growth)):.4g}"


def _record(
    table: Table, design: Design, policy: Policy | None, content: dict[str, Any]
) -> dict[str, Any]:
    """What the steward keeps: where the truth is, and how it was disguised."""
    return {
        "custody": 1,
        "sensitive": "This file tells where the true answers are. It never travels.",
        "made": now(),
        "source": files_of(table),
        "rows": content["files"][0]["rows"],
        "engine": {table.engine.name: table.engine.version},
        "method": content["method"],
        "design": design.to_dict(),
        "draws": "From the operating system's secure source; they were not kept.",
        "policy": None if policy is None else policy_text(policy),
    }
