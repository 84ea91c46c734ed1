"""Publish answers: disguise every row by randomized response, as the design says."""

from __future__ import annotations

from contextlib import suppress
from os import PathLike
from pathlib import Path
from warnings import warn

from privet.engine.protocol import Listener, Run
from privet.engine.randomise.randomise_rows import MARK
from privet.errors import Infeasible, InputError, PrivacyWarning
from privet.findings import Audit, Verdict
from privet.policy import Policy
from privet.release.audit import audit
from privet.release.destination import resolve_destination
from privet.release.verify import is_release, read_manifest
from privet.release.write import write
from privet.responses.design import Design
from privet.responses.files import ResponsesParts, open_responses
from privet.responses.release import Responses
from privet.responses.transformer import TWICE
from privet.table import Table


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
    found = _judge_policy(design, policy)
    destination = resolve_destination(folder, custody, format)
    if is_disguised(table):
        warn(TWICE, PrivacyWarning, stacklevel=2)
    parts = ResponsesParts(table, design, policy, found)
    content = write(parts, destination, replace=replace, run=Run(progress))
    return open_responses(destination.folder, content)


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


def _judge_policy(design: Design, policy: Policy | None) -> Audit | None:
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
