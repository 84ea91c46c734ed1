"""What a released table or groups show of each column, as a ledger keeps it.

The ledger keeps the recipe, not the values it merges: those are found again in the
private table when a later release is judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from privet.engine.protocol import Run
from privet.errors import NoAudit
from privet.microdata.generalisation.forms import GENERALISED, GroupedForm
from privet.microdata.generalised_values import Bools, find_allowed_values
from privet.microdata.recipe import Recipe
from privet.microdata.release import Release
from privet.release.budget import refuse_noiseless
from privet.release.custody_record import describe_bins
from privet.release.history import judge_history
from privet.release.joint.outlines import Box, ReleaseOutline, ShownColumn
from privet.table import Table

MOST_BOXES = 300
"""Groups whose boxes are kept; more are too many to be compared with others."""


def outline_value(value: Release | Table) -> ReleaseOutline:
    """What a release shows, or a table if it were released as it is."""
    return outline_table(value) if isinstance(value, Table) else outline_release(value)


def outline_release(release: Release) -> ReleaseOutline:
    """What a table or groups show; whose rows they are is for the ledger to tell."""
    if release.grouped is not None:
        return _outline_groups(release, release.grouped)
    recipe = release.recipe or Recipe()
    return ReleaseOutline(
        name="",
        kind="table",
        rows="",
        columns=_outline_columns(release._private, release.columns()),
        more={"recipe": recipe.to_dict()},
    )


def outline_table(table: Table) -> ReleaseOutline:
    """What a table would show if it were released as it is."""
    roles = table.roles
    hidden = {*roles.withheld, roles.unit, roles.weight}
    names = tuple(c for c in table.schema.names if c not in hidden)
    return ReleaseOutline(
        "", "table", "", _outline_columns(table, names), more={"recipe": None}
    )


def _outline_columns(table: Table, names: tuple[str, ...]) -> dict[str, ShownColumn]:
    bins, weight = table.roles.bins, table.roles.weight
    return {
        c: ShownColumn(base=describe_bins(bins.get(c))) for c in names if c != weight
    }


def judge_release(release: Release, run: Run) -> Release:
    """The release with what earlier ones add to it."""
    refuse_noiseless(release.policy, "A table")
    outline = outline_release(release)
    found = judge_history(outline, release._private, release.policy, run)
    return replace(release, history=found)


def complete_outline(outline: ReleaseOutline, table: Table, run: Run) -> ReleaseOutline:
    """An outline with the values that its recipe merges, found in the private table."""
    stated = outline.more.get("recipe")
    if not stated:
        return outline
    recipe = Recipe.from_dict(stated)
    names = [c for c in recipe.columns if c in table.schema.names]
    plain = replace(table, relabels={})
    domains = plain.domains(names, run)
    merged = {
        c: replace(outline.columns[c], merged=_merge_alike(domains[c].labels, r.texts))
        for c, r in recipe.relabels(domains, table.roles.bins).items()
        if c in outline.columns
    }
    return replace(outline, columns={**outline.columns, **merged})


def _merge_alike(
    labels: Sequence[str | None], texts: tuple[str | None, ...]
) -> tuple[tuple[str | None, ...], ...]:
    """Values that are shown by one text; a value of its own is shown as it is.

    >>> _merge_alike(["17", "18", "40"], ("up to 18", "up to 18", "above 18"))
    (('17', '18'),)
    """
    found: dict[str | None, list[str | None]] = defaultdict(list)
    for label, text in zip(labels, texts, strict=True):
        found[text].append(label)
    return tuple(tuple(v) for v in found.values() if len(v) > 1)


# Groups -----------------------------------------------------------------------------


def _outline_groups(release: Release, grouped: GroupedForm) -> ReleaseOutline:
    """Groups as boxes; what is no box is told as changed, and never compared."""
    table = release._private
    names = tuple(c for c in release.columns() if c in table.schema.names)
    boxes = _list_boxes(grouped)
    return ReleaseOutline(
        name="",
        kind="groups",
        rows="",
        columns=_outline_columns(table, names),
        transformed=not boxes,
        boxes=boxes,
    )


def _list_boxes(grouped: GroupedForm) -> tuple[Box, ...]:
    """The values each group allows, where everybody is in one box and nobody in two."""
    partition = grouped.partition
    several = len(partition) > MOST_BOXES
    if (
        grouped.form != GENERALISED
        or partition.suppressed
        or partition.starred
        or several
    ):
        return ()
    try:
        shown = [
            [find_allowed_values(text, a.domain) for text in labels.texts]
            for a, labels in zip(partition.attributes, partition.labels, strict=True)
        ]
    except NoAudit:  # the node of a hierarchy, or a value that nobody has
        return ()
    masks = [
        [
            of[int(labels.of[group])]
            for of, labels in zip(shown, partition.labels, strict=True)
        ]
        for group in range(len(partition))
    ]
    if any(_overlap(one, other) for one, other in combinations(masks, 2)):
        return ()
    return tuple(
        {
            a.name: tuple(a.domain[int(c)] for c in mask.nonzero()[0])
            for a, mask in zip(partition.attributes, group, strict=True)
        }
        for group in masks
    )


def _overlap(one: Sequence[Bools], other: Sequence[Bools]) -> bool:
    return all((a & b).any() for a, b in zip(one, other, strict=True))
