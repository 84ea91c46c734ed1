"""Columns of a table with hidden values that are written otherwise than as labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from privet.engine.protocol import Run, Spread
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.microdata.release import Release
from privet.microdata.written_columns import (
    COLUMNS,
    NULL,
    WITH_ENDS,
    choose_type,
    find_types,
    spread_hidden,
    spread_range,
)


def list_changed(release: Release) -> dict[str, Hide | Cut]:
    """What is done to the columns that do not show all of their values."""
    recipe = release.recipe or Recipe()
    shown = release._table.relabels
    return {c: how for c, how in recipe.columns.items() if c in shown}


def spread_suppressed(release: Release, run: Run) -> dict[str, Spread]:
    """What is written in place of labels: the ends of intervals, or empty cells."""
    return dict(_list_spread(release, run))


def _list_spread(release: Release, run: Run) -> Iterator[tuple[str, Spread]]:
    recipe, table = release.recipe or Recipe(), replace(release._table, relabels={})
    if recipe.ranges != COLUMNS and recipe.hidden != NULL:
        return
    changed = list_changed(release)
    domains, own = table.domains(list(changed), run), find_types(table)
    for c, how in changed.items():
        domain = domains[c]
        texts = dict.fromkeys(release._table.relabels[c].texts)
        type_ = choose_type(domain.kind, domain.labels, own.get(c))
        if isinstance(how, Cut) and how.after:
            if recipe.ranges == COLUMNS and domain.kind in WITH_ENDS:
                yield c, spread_range(c, texts, "intervals", type_)
        elif recipe.hidden == NULL:
            yield c, spread_hidden(c, texts, recipe.marker, type_)
