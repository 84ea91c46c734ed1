"""Views as a release: written without duplicates, recounted, loaded and verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from privet.engine.protocol import Listener, Run, WriteQuery
from privet.errors import EngineError, Infeasible, InputError, PrivetError
from privet.findings import Audit, Basis, Verdict
from privet.microdata.earlier_releases import same_source
from privet.microdata.files import Destination
from privet.microdata.recipe import Recipe
from privet.policy import Policy, View
from privet.policy.policy import Stated, policy_of
from privet.release.atomic_folder import beside, sync
from privet.release.audit import audit as judge
from privet.release.audit import bound
from privet.release.manifest import WrittenFile, columns_of, manifest
from privet.release.note import note
from privet.release.verify import Verification, changed_files, digest, policy_from
from privet.release.write import (
    _place,
    appear,
    explained,
    files_of,
    now,
    policy_text,
    refuse_place,
)
from privet.table import Table
from privet.values.adversaries import Reconstructor
from privet.views.files import differences, open_views, opened_views
from privet.views.release import Views

NOT_PROMISED = (
    "protection against somebody who holds some tables for likelier than others",
    "protection against somebody who knows what people have, or have not",
    "protection against a second release of the same people",
)
"""What no promise about views covers."""

FLOOR = (
    "Make the shared columns coarser (bins), or share fewer of them.",
    "Leave the private column, or the one that names people, out of the views.",
    "Let privet propose other views: privet views TABLE -p POLICY --propose.",
)


@dataclass(frozen=True, eq=False)
class ViewsRelease:
    """Views that keep every promise, before and after they are written."""

    views: Views
    """What is released."""
    policy: Policy
    """What was promised."""
    audit: Audit
    """What an adversary could learn from it."""
    method: str = "views"
    """How it was made."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The public document; empty until it is written."""

    @property
    def table(self) -> Table:
        """The rows behind the views, or those of all their files."""
        return self.views.table

    @property
    def safe(self) -> bool:
        """Whether every promise that applies is kept."""
        return self.audit.safe

    def __repr__(self) -> str:
        return f"ViewsRelease({self.views!r}, {self.audit.verdict.value})"

    def write(
        self,
        folder: str | PathLike[str],
        *,
        custody: str | PathLike[str],
        format: str | None = None,  # noqa: A002 - the word users know
        replace: bool = False,
        progress: Listener | None = None,
    ) -> ViewsRelease:
        """Write a file per view to a new folder, whole or not at all."""
        return _write(self, folder, custody, format, replace, Run(progress))


def publish_views(
    views: Views,
    promises: Stated,
    *,
    progress: Listener | None = None,
) -> ViewsRelease:
    """Release views as they are, if they keep every promise; else `Infeasible`."""
    policy = policy_of(promises, views.roles)
    if policy is not promises:
        policy = replace(policy, views=views.views)
    _refuse_unjudged(policy)
    views = Views(bound(views.table, policy), *views.views)
    found = judge(views, [*policy.promises, *policy.measures], progress=progress)
    broken = [
        f for f in found.findings if f.verdict in (Verdict.BREACH, Verdict.UNDECIDED)
    ]
    if broken:
        reached = broken[0].belief.posterior if broken[0].belief else None
        raise Infeasible(
            f"The views do not keep {broken[0].promise.name!r}. "
            f"{'' if reached is None else f'It comes to {float(reached):.3g}. '}"
            f"{broken[0].note}".strip(),
            promise=broken[0].promise,
            best=reached,
            advice=FLOOR,
        )
    for finding in found.findings:
        if finding.basis is Basis.SAMPLED:
            raise Infeasible(
                f"Views must keep {finding.promise.name!r} by proof to be released; "
                "here only draws of tables say so, and nobody could recount those.",
                promise=finding.promise,
                best=finding.belief.posterior if finding.belief else None,
                advice=FLOOR,
            )
    return ViewsRelease(views, policy, found)


def _refuse_unjudged(policy: Policy) -> None:
    """Files without duplicates cannot be recounted for those who see duplicates."""
    for promise in policy.promises:
        known = promise.against
        if isinstance(known, Reconstructor) and known.model == "bag":
            raise InputError(
                "Views are released without duplicates, so a promise must not be of "
                f"the bag model; {promise.name!r} is. Take another model."
            )


# Writing ----------------------------------------------------------------------------


def _write(
    release: ViewsRelease,
    folder: str | PathLike[str],
    custody: str | PathLike[str],
    format_: str | None,
    replace_: bool,
    run: Run,
) -> ViewsRelease:
    place = _place(folder, custody, format_)
    _refuse(release, place, replace_)
    with explained(place), beside(place.folder) as partial:
        written = [_file(release, v, place, partial, run) for v in release.views.views]
        content = _manifest(release, place, written)
        found = _recount(release, partial, content, run)
        record = _record(release, found)
        appear(partial, place, content, note(content), record, replace=replace_)
    return replace(release, manifest=content)


def _refuse(release: ViewsRelease, place: Destination, replace_: bool) -> None:
    if place.named:
        raise InputError(
            "Views must be written to a folder; got the name of a file, "
            f"{place.file!r}."
        )
    refuse_place(place, replace_)
    if release.views.marker:
        raise InputError(
            "A release that was loaded from files is written already; copy the folder."
        )
    if not release.safe:
        raise InputError("A release must keep every promise to be written.")


def _file(
    release: ViewsRelease, view: View, place: Destination, partial: Path, run: Run
) -> WrittenFile:
    table, name = release.views.table, f"{view.name}.{place.format}"
    path = partial / name
    columns = tuple(c for c in table.schema.names if c in view.columns)
    writing = WriteQuery(
        str(path), place.format, columns, distinct=True, only=table.roles.weight
    )
    rows = table.engine.write(writing, table.recodings, run)
    sync(path)
    return WrittenFile(name, rows, digest(path))


def _manifest(
    release: ViewsRelease, place: Destination, written: Sequence[WrittenFile]
) -> dict[str, Any]:
    from privet import __version__

    table, views = release.views.table, release.views
    kinds = {c.name: c.kind for c in table.schema.columns}
    names = [c for c in views.columns if c in kinds]
    columns = columns_of(table.schema, names, kinds, Recipe(), {})
    for name in table.relabels.keys() & columns.keys():
        columns[name]["shown_as"] = "levels"
    content = manifest(
        version=__version__,
        title=release.policy.title,
        method=release.method,
        files=written,
        columns=columns,
        weight=None,
        escaped=place.format == "csv",
        audit=release.audit,
        more={
            "kind": "views",
            "views": [v.to_dict() for v in views.views],
            "not_promised": list(NOT_PROMISED),
        },
    )
    return {k: v for k, v in content.items() if k != "measures"}


def _recount(
    release: ViewsRelease, partial: Path, content: Mapping[str, Any], run: Run
) -> Audit:
    """Read what was written, as a stranger would, and judge it again."""
    try:
        with opened_views(partial, content) as views:
            promises = list(release.policy.promises)
            found = judge(views, promises, progress=run.listener)
            problems = differences(views, found, content)
    except InputError:
        problems = [""]
    if problems:
        raise EngineError(
            "What was written does not recount to what was promised; nothing is "
            "released. Please report this as a bug."
        )
    return found


def _record(release: ViewsRelease, found: Audit) -> dict[str, Any]:
    """What the steward keeps: source, witnesses, versions, times."""
    table = release.views.table
    return {
        "custody": 1,
        "sensitive": "This file quotes the private table. It never travels.",
        "made": now(),
        "source": files_of(table),
        "rows": table.engine.rows(Run()),
        "rows_from": same_source(table),
        "engine": {table.engine.name: table.engine.version},
        "signoff": release.policy.signoff.to_dict() if release.policy.signoff else None,
        "method": release.method,
        "policy": policy_text(release.policy),
        "after": found.to_dict(),
    }


# Loading ----------------------------------------------------------------------------


def load_views(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> ViewsRelease:
    """Views from their public files; an error where something differs."""
    for problem in changed_files(folder, content):
        raise InputError(problem)
    views = open_views(folder, content, **options)
    policy = policy_from(content)
    try:
        found = judge(views, list(policy.promises))
        problems = differences(views, found, content)
    except BaseException:
        views.table.close()
        raise
    if problems:
        views.table.close()
        raise InputError("\n".join(problems))
    method = content.get("method", "views")
    return ViewsRelease(views, policy, found, method, manifest=content)


def verify_views(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> Verification:
    """Recount views against their manifest."""
    problems = changed_files(folder, content)
    if any("must exist" in p for p in problems):
        return Verification(tuple(problems), None)
    try:
        with opened_views(folder, content, **options) as views:
            found = judge(views, list(policy_from(content).promises))
            problems += differences(views, found, content)
    except PrivetError as error:
        return Verification((*problems, str(error)), None)
    return Verification(tuple(problems), found)
