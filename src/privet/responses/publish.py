"""Publish answers: disguise every row by randomized response, as the design says."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace as changed
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

import attrs

from privet.engine.protocol import Listener, Run
from privet.engine.randomise.randomise_rows import MARK
from privet.engine.sources.dataframes import is_frame, list_frame_options
from privet.errors import (
    Infeasible,
    InputError,
    NotCovered,
    NotTogether,
    PrivacyWarning,
)
from privet.findings import Audit, Verdict
from privet.policy import Policy, Promise
from privet.policy.toml import write_sections
from privet.release.audit import audit
from privet.release.budget import refuse_noiseless
from privet.release.destination import resolve_destination
from privet.release.gate import require_asked
from privet.release.history import History, judge_history
from privet.release.integrity.signature import Signer
from privet.release.verify import is_release, read_manifest
from privet.release.write import write
from privet.report.ledger_words import say_not_together
from privet.responses.audit import bound_odds
from privet.responses.design import Design
from privet.responses.files import (
    ResponsesParts,
    open_responses,
    outline_responses,
)
from privet.responses.release import Responses
from privet.responses.transformer import TWICE
from privet.table import Table, read
from privet.values.adversaries import Collector
from privet.values.schema import Roles

if TYPE_CHECKING:
    from privet.release.verb_types import Frame
else:  # for whoever reads the hints while running
    Frame = object


def disguise(
    table: Table | Frame,
    design: Design,
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str],
    policy: Policy | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    replace: bool = False,
    sign: Signer = None,
    progress: Listener | None = None,
) -> Responses:
    """Disguise a table of any size and write it as a release, whole or not at all.

    Parameters
    ----------
    table
        The true answers; or a frame of pandas, polars, pyarrow or DuckDB.
    design
        What is asked and how it is disguised. Columns it does not name stay here; each
        of them must have a role in the table or the policy, such as `drop`.
    folder, custody
        Where the release goes, and where the private record is kept.
    policy
        Promises against a Bayesian that the design must keep; nothing is written
        without one.
    format
        ``"parquet"``, ``"csv"``, ``"xlsx"``, ``"sav"`` or ``"dta"``; see `write`.
    replace
        Whether to write over an earlier release.
    sign
        A `SigningKey`, or the file of one.
    progress
        Takes `Progress` events.
    """
    table = table if isinstance(table, Table) else _open_frame(table)
    table = _gather_people(table, policy)
    require_asked(table.schema, design.columns, policy.roles if policy else Roles())
    found = _judge_policy(design, policy)
    destination = resolve_destination(folder, custody, format)
    if is_disguised(table):
        warn(TWICE, PrivacyWarning, stacklevel=2)
    history = _judge_history(table, design, policy, Run(progress))
    parts = ResponsesParts(table, design, policy, found, history)
    content = write(parts, destination, replace=replace, run=Run(progress), sign=sign)
    written = open_responses(destination.folder, content)
    return changed(written, history=history)


def _open_frame(frame: object) -> Table:
    if is_frame(frame):  # answers are what the design lists, letter by letter
        spelled = "text" if list_frame_options(frame) else None
        return read(frame, dates=spelled, decimal=spelled)
    raise InputError(
        "The answers must be a Table, such as read() opens, or a frame; got "
        f"{type(frame).__name__}."
    )


def _gather_people(table: Table, policy: Policy | None) -> Table:
    """One row per person, where the policy says how; what is dropped stays so."""
    if policy is None or policy.person is None:
        return table
    roles = policy.bind(table.schema)
    more = tuple(c for c in table.roles.drop if not roles.role(c))
    roles = attrs.evolve(roles, drop=(*roles.drop, *more))
    return table.with_roles(roles).per_person(policy.person)


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


def _judge_history(
    table: Table, design: Design, policy: Policy | None, run: Run
) -> History:
    """What earlier releases of the same people add; what is not safe is not written."""
    if policy is not None:
        refuse_noiseless(policy, "Disguised answers")
    if policy is None or not (policy.ledger or policy.earlier):
        return History()
    bound = table.with_roles(policy.bind(table.schema)).per_person(policy.person)
    found = judge_history(outline_responses(design), bound, policy, run)
    if not found.safe:
        told = [f for f in found.findings if f.verdict is found.verdict]
        said = [f"{f.promise.name}: {f.verdict.value}. {f.note}" for f in told]
        raise NotTogether("\n".join([say_not_together(found.verdict), *said]), told)
    return found


def _refuse_unpromised(design: Design, policy: Policy | None) -> None:
    """Disguised answers are written only under a promise about them."""
    if policy is not None and _list_bayesian(policy):
        return
    raise NotCovered(NO_PROMISE + _draft_promise(design))


def _draft_promise(design: Design) -> str:
    """What the design keeps, as a policy writes it."""
    kept = _suggest(design)
    return KEPT + write_sections({"promise": kept}) if kept else NOTHING_KEPT


def _list_bayesian(policy: Policy) -> list[Promise]:
    stated = policy.promises_about("responses")
    return [p for p in stated if not isinstance(p.against, Collector)]


NO_PROMISE = (
    "Disguised answers must be written under a promise against a Bayesian; the policy "
    "has none. "
)
NO_REAL_PROMISE = (
    "Disguised answers must be written under a promise that forbids something; the "
    "policy's forbid nothing, so keeping them proves nothing. "
)
KEPT = "What this design keeps, to be put into a policy:\n"
NOTHING_KEPT = (
    "This design limits no factor for every prior belief: promise at_most about a "
    "question, with a prior, or disguise its questions one by one."
)


def _suggest(design: Design) -> list[dict[str, Any]]:
    """A promise per question that the design keeps, however answers hang together."""
    found = []
    for column in design.columns:
        question, moved = design.question(column), [Fraction(1)]
        for value in range(len(question)):
            moved += bound_odds(design, column, value)  # type: ignore[arg-type]
        if None not in moved:
            stated = {"against": "bayesian", "about": column}
            found.append({**stated, "within": str(max(moved))})
    return found


def _judge_policy(design: Design, policy: Policy | None) -> Audit:
    """The policy's promises, judged on the design before anything is drawn."""
    _refuse_unpromised(design, policy)
    assert policy is not None
    # What is promised against a collector is judged on the rows, once they are drawn.
    others = [p for p in policy.promises if not isinstance(p.against, Collector)]
    found = audit(design, others)
    against = (Verdict.BREACH, Verdict.UNDECIDED)
    broken = [f for f in found.findings if f.verdict in against]
    if broken:
        belief = broken[0].belief
        raise Infeasible(
            f"The design does not keep {broken[0].promise.name!r}: "
            f"{broken[0].explain()}",
            promise=broken[0].promise,
            best=belief.posterior if belief else None,
            advice=(
                "Disguise more: lower the truth of the design's questions.",
                "If other answers say nothing about this one, declare it in the "
                "promise: unrelated = true, or the questions that do not.",
                "privet plan tells which truth a wanted ε needs.",
            ),
        )
    if not found.safe:
        raise NotCovered(NO_REAL_PROMISE + _draft_promise(design))
    return found
