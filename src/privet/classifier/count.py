"""NBC-enabling views counted on a table: one statement, integers only.

Mozafari, Zaniolo 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.classifier.class_labels import TEXT, recognise_classes
from privet.classifier.encoding import sort_values
from privet.classifier.noise.bounded_count import count_bounded, is_bounded
from privet.classifier.release import (
    Attribute,
    ClassifierViews,
    Holders,
    Value,
    order,
    smoothing_of,
)
from privet.engine.protocol import CountQuery, Run
from privet.errors import EmptyTable, InputError
from privet.table import Table, require_columns
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import Number
from privet.values.noise.differential_privacy import DifferentialPrivacy
from privet.values.schema import as_names as names_of

BETWEEN = " + "
"""Between the values of several columns that make one class."""

Integers = NDArray[np.int64]


def count_views(
    table: Table,
    *,
    target: str | Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    precedence: Sequence[str] | None = None,
    smoothing: Number = 0,
    drop_missing_target: bool = False,
    privacy: DifferentialPrivacy | None = None,
    run: Run | None = None,
) -> ClassifierViews:
    """Count the NBC-enabling views of a table: what a naive Bayes classifier needs.

    Parameters
    ----------
    table
        The private table.
    target
        The column to predict, or several whose values together are the class; the
        table's own target by default.
    attributes
        The columns to predict it from; every quasi column by default.
    precedence
        Classes in the order in which they win ties; the others follow by name.
    smoothing
        Added to every count when scores are made.
    drop_missing_target
        Leave out rows without a class, and tell how many; otherwise they are refused.
    privacy
        How many rows of one person count, and how much each; noise is added later.
    run
        Who listens, and when to stop.
    """
    targets = _resolve_targets(table, target)
    columns = _resolve_attributes(table, attributes, targets)
    if privacy is not None:
        views = _count_privately(
            table, columns, targets, privacy, run or Run(), drop=drop_missing_target
        )
        asked = names_of(precedence, "precedence", noun="class")
        return replace(views, smoothing=smoothing_of(smoothing), precedes=asked)
    _refuse_unit(table)
    views = _count_tables(
        table, columns, targets, precedence, run or Run(), drop=drop_missing_target
    )
    return replace(views, smoothing=smoothing_of(smoothing))


def _count_tables(
    table: Table,
    columns: Sequence[str],
    targets: Sequence[str],
    precedence: Sequence[str] | None,
    run: Run,
    *,
    drop: bool,
) -> ClassifierViews:
    tallies = [CountQuery((c, *targets[:-1]), targets[-1]) for c in columns]
    parts: dict[CountQuery, list[EquivalenceClasses]] = {t: [] for t in tallies}
    for tally, part in table.count(tallies, run):
        parts[tally].append(part)
    tables = [_count_cells(parts[t], t) for t in tallies]
    dropped = _refuse_missing(tables[0], targets, drop=drop)
    counted = [_sort_cells(cells) for cells in tables]
    labels = order(counted[0][1], precedence)
    return ClassifierViews(
        BETWEEN.join(targets),
        labels,
        tuple(
            _make_attribute(table, _index_domains(parts[t][0])[t.by[0]], used)
            for t, (used, _, _) in zip(tallies, counted, strict=True)
        ),
        tuple(int(counted[0][2][:, counted[0][1].index(c)].sum()) for c in labels),
        tuple(
            tuple(map(tuple, n[:, [found.index(c) for c in labels]].tolist()))
            for _, found, n in counted
        ),
        undecided=table.schema.list_undecided(),
        precedes=tuple(precedence or ()),
        target_type=_recognise_target(targets, parts[tallies[0]][0].about, labels),
        dropped=dropped,
    )


# Where one person may add so much ---------------------------------------------------


def _count_privately(
    table: Table,
    columns: Sequence[str],
    targets: Sequence[str],
    privacy: DifferentialPrivacy,
    run: Run,
    *,
    drop: bool,
) -> ClassifierViews:
    """Counts to which one person adds no more than the privacy loss is planned for."""
    if not is_bounded(table, privacy):
        return _count_tables(table, columns, targets, None, run, drop=drop)
    found = count_bounded(table, columns, targets, privacy, run)
    _refuse_dropped(targets, found.missing, bool(found.labels), drop=drop)
    texts = {label: BETWEEN.join(map(str, label)) for label in found.labels}
    labels = order(texts.values(), None)
    known = [sort_values(list(people)) for people in found.values]
    cells = [
        _arrange(counts, values, {t: label for label, t in texts.items()}, labels)
        for counts, values in zip(found.cells, known, strict=True)
    ]
    bins = table.roles.bins
    return ClassifierViews(
        BETWEEN.join(targets),
        labels,
        tuple(
            Attribute(
                c, tuple(v), "text", tuple(bins[c].to_list() if c in bins else ())
            )
            for c, v in zip(columns, known, strict=True)
        ),
        tuple(sum(column) for column in zip(*cells[0], strict=True)),
        tuple(cells),
        undecided=table.schema.list_undecided(),
        rows_per_person=privacy.rows_per_person,
        heaviest=privacy.most,
        holders=Holders(
            tuple(found.values), {texts[t]: n for t, n in found.labels.items()}
        ),
        dropped=found.missing,
    )


def _arrange(
    counts: Mapping[tuple[Value, tuple[Value, ...]], Fraction],
    values: Sequence[Value],
    labels: Mapping[str, tuple[Value, ...]],
    ordered: Sequence[str],
) -> tuple[tuple[Fraction, ...], ...]:
    """Counts by value and class, in order."""
    none = Fraction(0)
    return tuple(
        tuple(counts.get((v, labels[c]), none) for c in ordered) for v in values
    )


def _resolve_targets(
    table: Table, target: str | Sequence[str] | None
) -> tuple[str, ...]:
    found = names_of(target if target is not None else table.roles.target, "target")
    if not found:
        raise InputError("A classifier must have a target; declare one, or name it.")
    require_columns(found, table.schema, "target")
    _refuse_roles(table, found, "target")
    return found


def _resolve_attributes(
    table: Table, attributes: Sequence[str] | None, targets: Sequence[str]
) -> tuple[str, ...]:
    chosen = (
        table.roles.quasi if attributes is None else names_of(attributes, "attributes")
    )
    found = tuple(c for c in chosen if c not in targets or attributes is not None)
    if not found:
        raise InputError(
            "A classifier must look at some columns: declare quasi columns, or name "
            "attributes."
        )
    require_columns(found, table.schema, "attributes")
    _refuse_roles(table, found, "attributes")
    if both := [c for c in found if c in targets]:
        raise InputError(f"attributes must not hold the target {both[0]!r}.")
    return found


def _recognise_target(
    targets: Sequence[str], domain: Domain, labels: Sequence[str]
) -> str:
    """What the classes are; several columns that are joined are texts."""
    return recognise_classes(labels, domain.kind) if len(targets) == 1 else TEXT


def _refuse_roles(table: Table, columns: Sequence[str], what: str) -> None:
    roles = table.roles
    for c in columns:
        if c in (*roles.withheld, roles.unit, roles.weight):
            raise InputError(
                f"{what} must not hold identifiers, dropped columns, the unit or the "
                f"weight; {c!r} is one. It is never released."
            )


def _refuse_unit(table: Table) -> None:
    if table.roles.unit:
        raise InputError(
            "A table must have one row per person for a classifier; unit "
            f"{table.roles.unit!r} says it may have several. Say in [person] of the "
            "policy how rows become people. With noise it may have several: give "
            "epsilon, and rows_per_person."
        )


def _index_domains(part: EquivalenceClasses) -> dict[str, Domain]:
    return {d.name: d for d in (*part.by, part.about)}


Cells = dict[tuple[int, str | None], int]
"""Rows by the code of a value and by class; None: without a class."""


def _count_cells(parts: Sequence[EquivalenceClasses], tally: CountQuery) -> Cells:
    """Rows per value and class."""
    cells: Cells = {}
    for part in parts:
        domains = _index_domains(part)
        by = zip(part.by, part.keys.columns(), strict=True)
        # `keys` has a code per group; taken by `group`, one per line of counts.
        codes = {d.name: keys[part.group].tolist() for d, keys in by}
        codes[part.about.name] = part.value.tolist()
        targets = [(domains[c], codes[c]) for c in (*tally.by[1:], tally.about)]
        for row, (v, n) in enumerate(
            zip(codes[tally.by[0]], part.n.tolist(), strict=True)
        ):
            key = v, _join_class([d[code[row]] for d, code in targets])
            cells[key] = cells.get(key, 0) + n
    return cells


def _join_class(values: Sequence[str | None]) -> str | None:
    """The class that several columns make; None where one of them is missing."""
    known = [v for v in values if v is not None]
    return BETWEEN.join(known) if len(known) == len(values) else None


def _refuse_missing(cells: Cells, targets: Sequence[str], *, drop: bool) -> int:
    """How many rows have no class; an error unless they may be left out."""
    missing = sum(n for (_, label), n in cells.items() if label is None)
    _refuse_dropped(targets, missing, missing < sum(cells.values()), drop=drop)
    return missing


def _refuse_dropped(
    targets: Sequence[str], missing: int, others: bool, *, drop: bool
) -> None:
    """An error where rows without a class may not be left out, or are all there are."""
    named = " and ".join(map(repr, targets))
    if missing and not drop:
        raise InputError(
            f"Target {named} must have a value in every row; {missing:,} "
            f"{'has' if missing == 1 else 'have'} none. Fill it, or leave those rows "
            "out with --drop-missing-target (drop_missing_target=True)."
        )
    if not others:
        raise EmptyTable(f"Target {named} must have a value in some row; none has.")


def _sort_cells(cells: Cells) -> tuple[list[int], list[str], Integers]:
    """The codes of the values, the classes, and a count for each pair."""
    kept = {(v, label): n for (v, label), n in cells.items() if label is not None}
    used, labels = (sorted(set(each)) for each in zip(*kept, strict=True))
    at = {v: i for i, v in enumerate(used)}
    column = {label: j for j, label in enumerate(labels)}
    counts = np.zeros((len(used), len(labels)), dtype=np.int64)
    for (v, label), n in kept.items():
        counts[at[v], column[label]] = n
    return used, labels, counts


def _make_attribute(table: Table, domain: Domain, used: Sequence[int]) -> Attribute:
    bins = table.roles.bins.get(domain.name)
    return Attribute(
        domain.name,
        tuple(domain[t] for t in used),
        domain.kind,
        tuple(bins.to_list()) if bins else (),
    )
