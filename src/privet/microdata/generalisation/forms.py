"""The two forms of a release in groups: generalisation, and bucketization (Anatomy).

Generalised: one table that shows ranges and sets in place of the quasi-identifiers'
values. Buckets: one table with everybody's known values and group, another with each
group's sensitive values and how many people have them; nothing tells who has which.
Here are also the files they are written to.
Xiao, Tao 2006, Anatomy; Chen, LeFevre, Ramakrishnan 2007, "Theoretical Framework".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import Relabel, Spread
from privet.engine.sources.dataframes import Stream, StreamColumn
from privet.errors import InputError
from privet.languages import mark
from privet.microdata.generalisation.distinct_rows import (
    PartitionRows,
    sum_partition_rows,
)
from privet.microdata.generalisation.domain_order import TREE, OrderedDomain
from privet.microdata.generalisation.partition import (
    Partition,
    explain_labels,
    explain_levels,
)
from privet.microdata.generalisation.splits.split_task import COLUMN, CUT, LEFT
from privet.microdata.generalised_values import ANY
from privet.microdata.list_columns import LISTS, write_lists
from privet.microdata.recipe import NOT_PROMISED
from privet.microdata.written_columns import (
    COLUMNS,
    LABELS,
    NULL,
    choose_type,
    describe_ends,
    find_types,
    spread_hidden,
    spread_range,
)
from privet.table import ReleasedAs, Table, open_table
from privet.values.arrays import Ints
from privet.values.contingency import Domain
from privet.values.schema import Roles

GENERALISED, BUCKETS = "generalised", "buckets"
FORMS = (GENERALISED, BUCKETS)
PEOPLE, VALUES = "people", "values"
"""The tables of buckets."""

NOT_PROMISED_OF_GROUPS = (
    *NOT_PROMISED[:3],
    mark(
        "protection against somebody who draws conclusions from where groups were not "
        "split"
    ),
    mark(
        "protection against somebody who finds some of a group's values likelier for a "
        "person than others beforehand"
    ),
)
"""The same for releases in groups."""


@dataclass(frozen=True, eq=False)
class File:
    """A table to be written."""

    stem: str
    """The file's name without its ending."""
    table: Table
    """Its rows, in a column of their own how often each is written."""
    times: str
    """That column; written only where the source had multiplicities itself."""
    weight: str | None = None
    """The column of multiplicities that is written."""
    at_hand: InMemory | None = None
    spread: Mapping[str, Spread] = field(default_factory=dict)
    """Columns in whose place others are written."""
    types: Mapping[str, str] = field(default_factory=dict)
    """The types of columns that show single values, as the source has them."""

    @cached_property
    def counts(self) -> Table:
        """The same rows, counted from memory."""
        return replace(self.table, engine=self.at_hand or self.table.engine)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are written."""
        names = self.table.schema.names
        return tuple(c for c in names if c != self.times or c == self.weight)


@dataclass(frozen=True, eq=False)
class GroupedForm:
    """A partition in one of its forms."""

    partition: Partition
    """The groups."""
    form: str
    """`GENERALISED` or `BUCKETS`."""
    files: tuple[File, ...]
    """The tables; promises are judged on the last."""
    kinds: Mapping[str, str]
    """What kind of values each known column has."""
    coarse: tuple[str, ...] = ()
    """The columns that show more than one value at a time."""
    rows: PartitionRows | None = None
    """Of generalised tables: the different rows of each group."""

    @property
    def table(self) -> Table:
        """What promises are judged on."""
        return self.files[-1].table

    def close(self) -> None:
        """Let go of the tables."""
        for file in self.files:
            file.table.close()

    def describe_columns(self, stated: Mapping[str, Any]) -> dict[str, Any]:
        """What the manifest says of each column, given its role and type."""
        found = {c: dict(about) for c, about in stated.items()}
        for c in self.kinds:
            found[c]["type"] = self.kinds[c]
        shown = {a.name: _describe_labels(a) for a in self.partition.attributes}
        for c in self.coarse:
            found[c]["shown_as"] = shown[c]
            found[c] |= self._describe_written(c)
        if self.form == BUCKETS:
            people, values = self.files
            found[self.table.roles.quasi[0]] = {"role": "group", "type": "integer"}
            found[values.times] = {"role": "weight", "type": "integer"}
            for c in values.columns[1:]:
                found[c]["file"] = values.stem
            for c in people.columns[1:]:
                found[c]["file"] = people.stem
        return found

    def _describe_written(self, column: str) -> dict[str, Any]:
        """How a column that does not show its values is written, if not as labels."""
        spread = self.files[-1].spread.get(column)
        if spread is not None and spread.names == (column,):
            return {"written_as": NULL}
        return describe_ends(spread)

    def describe_form(self) -> dict[str, Any]:
        """What the manifest says of the form."""
        lines = list(NOT_PROMISED_OF_GROUPS)
        said: dict[str, Any] = {"form": self.form, "not_promised": lines}
        if self.form == BUCKETS:
            values = self.files[-1]
            return said | {"group": self.table.roles.quasi[0], "count": values.times}
        if self.partition.choice is not None:
            chosen = self.partition.choice.to_public()
            return said | {"labels": explain_levels(), "chosen": chosen}
        texts = [t for labels in self.partition.labels for t in labels.texts]
        return said | {"labels": explain_labels(texts)}

    def describe_recipe(self) -> dict[str, Any]:
        """How the groups were made, for the custody record."""
        columns = {
            a.name: [a.domain[int(c)] for c in a.codes]
            for a in self.partition.attributes
        }
        partition = self.partition
        chosen: dict[str, Any] = {}
        if partition.choice is not None:
            names = zip(partition.attributes, partition.names_of, strict=True)
            chosen = {
                "chosen": partition.choice.to_dict(),
                "labels": {a.name: list(own) for a, own in names},
            }
        starred = {}
        if partition.starred_lines:
            starred = {"starred": list(partition.starred_lines)}
        return {
            "recipe": "groups",
            **chosen,
            "columns": columns,
            "tree": {
                "column": self.partition.tree[:, COLUMN].tolist(),
                "cut": self.partition.tree[:, CUT].tolist(),
                "left": self.partition.tree[:, LEFT].tolist(),
            },
            **starred,
            "same_cuts": [block.tolist() for block in self.partition.blocks_of],
            "hidden": {
                a.name: [a.texts[p] for p in sorted(a.hidden)]
                for a in self.partition.attributes
                if a.hidden
            },
        }


# From a partition to tables ---------------------------------------------------------


def _describe_labels(attribute: OrderedDomain) -> str:
    if attribute.kind == TREE:
        return "levels"
    return "ranges" if attribute.as_ranges else "sets"


def build_form(
    partition: Partition, table: Table, form: str, ranges: str = LABELS
) -> GroupedForm:
    """The tables that show a partition of a table."""
    kinds = {a.name: a.domain.kind for a in partition.attributes}
    rows = None
    if form == BUCKETS:
        files, coarse = _bucketize(partition, table)
    else:
        files, coarse, rows = _generalise(partition, table, ranges)
    own = find_types(table)
    files = tuple(_keep_types(file, own, coarse) for file in files)
    return GroupedForm(partition, form, files, kinds, coarse, rows)


def _keep_types(file: File, own: Mapping[str, str], coarse: Sequence[str]) -> File:
    """With the types that columns have in the source, where they show single values."""
    plain = {c: t for c, t in own.items() if c in file.columns and c not in coarse}
    return replace(file, types={c: t for c, t in plain.items() if c != file.weight})


def _generalise(
    partition: Partition, table: Table, ranges: str
) -> tuple[tuple[File, ...], tuple[str, ...], PartitionRows]:
    known = len(partition.attributes)
    behind = range(known, known + len(partition.others))
    group, codes, n = sum_partition_rows(partition, list(behind))
    columns: dict[str, StreamColumn] = {}
    coarse: list[str] = []
    spread: dict[str, Spread] = {}
    own = find_types(table)
    for attribute, labels in zip(partition.attributes, partition.labels, strict=True):
        name, domain = attribute.name, attribute.domain
        texts = _find_single_values(attribute, labels.texts)
        kind = "text" if texts is None else domain.kind
        of = labels.of.astype(_choose_dtype(len(labels.texts)))
        columns[name] = StreamColumn(name, texts or labels.texts, of, group, kind)
        if texts is None:
            coarse.append(name)
            spread |= _spread_labels(partition, attribute, labels.texts, ranges, own)
    for domain, code in zip(partition.others, codes, strict=True):
        columns[domain.name] = _build_plain_column(write_lists(table, domain), code)
    roles = attrs.evolve(_select_released(table.roles), quasi=tuple(_list_quasi(table)))
    shown = ReleasedAs(roles.quasi, roles.quasi)
    file = _build_file("table", columns, n, roles, table, shown, coarse=coarse)
    # As narrow as they are written: the codes themselves take more room.
    beside = [columns[domain.name].numbers for domain in partition.others]
    rows = PartitionRows(group, beside, n)
    return (replace(file, spread=spread),), tuple(coarse), rows


def _find_single_values(
    attribute: OrderedDomain, labels: Sequence[str | None]
) -> list[str | None] | None:
    """The values that labels mean, if each means a single one; None: some mean more."""
    values = dict(zip(attribute.spelled, attribute.texts, strict=True))
    if attribute.kind == TREE and {t for ns in attribute.names[1:] for t in ns} & set(
        values
    ):
        return None
    if all(text is None or text in values for text in labels):
        return [None if text is None else values[text] for text in labels]
    return None


def _spread_labels(
    partition: Partition,
    attribute: OrderedDomain,
    labels: Sequence[str | None],
    ranges: str,
    own: Mapping[str, str],
) -> dict[str, Spread]:
    """What is written in place of the labels of a column, if not they."""
    name, domain = attribute.name, attribute.domain
    if attribute.as_ranges and ranges == COLUMNS:
        type_ = choose_type(domain.kind, domain.labels, own.get(name))
        return {name: spread_range(name, labels, "ranges", type_)}
    if not (partition.blank and ANY in labels):
        return {}
    single = _find_single_values(attribute, [t for t in labels if t != ANY])
    type_ = ""
    if single is not None:
        type_ = choose_type(domain.kind, domain.labels, own.get(name))
    return {name: spread_hidden(name, labels, ANY, type_)}


def _bucketize(
    partition: Partition, table: Table
) -> tuple[tuple[File, ...], tuple[str, ...]]:
    roles, known = table.roles, len(partition.attributes)
    if not roles.sensitive:
        raise InputError("Buckets must have sensitive columns; none is declared.")
    of = {d.name: known + j for j, d in enumerate(partition.others)}
    name = _find_free_name("group", table.schema.names)
    kept = [d for d in partition.others if d.name not in roles.sensitive]
    group, codes, n = sum_partition_rows(
        partition, [*range(known), *(of[d.name] for d in kept)]
    )
    numbers = [str(g + 1) for g in range(len(partition))]
    columns = {name: StreamColumn(name, numbers, group, kind="integer")}
    for attribute, position in zip(partition.attributes, codes, strict=False):
        domain = attribute.domain
        columns[domain.name] = _build_plain_column(domain, attribute.codes[position])
    for domain, code in zip(kept, codes[known:], strict=True):
        columns[domain.name] = _build_plain_column(write_lists(table, domain), code)
    target = roles.target if roles.target in columns else None
    shown_roles = Roles(quasi=roles.quasi, other=roles.other, target=target)
    people = _build_file(PEOPLE, columns, n, shown_roles, table, None)
    secret = [d for d in partition.others if d.name in roles.sensitive]
    group, codes, n = sum_partition_rows(partition, [of[d.name] for d in secret])
    columns = {name: StreamColumn(name, numbers, group, kind="integer")}
    for domain, code in zip(secret, codes, strict=True):
        columns[domain.name] = _build_plain_column(write_lists(table, domain), code)
    judged = Roles(quasi=(name,), sensitive=roles.sensitive)
    beside = tuple(d.name for d in kept)
    shown = ReleasedAs(tuple(_list_quasi(table)), (name,), beside)
    values = _build_file(VALUES, columns, n, judged, table, shown, counted="count")
    return (people, values), ()


def _list_quasi(table: Table) -> Iterator[str]:
    return (c for c in table.schema.names if c in table.roles.quasi)


def _select_released(roles: Roles) -> Roles:
    return Roles(
        quasi=roles.quasi,
        sensitive=roles.sensitive,
        other=roles.other,
        target=roles.target,
    )


def _build_plain_column(domain: Domain, code: Ints) -> StreamColumn:
    """A column that shows its values; those that nobody has any more are left out."""
    used = np.zeros(len(domain), dtype=bool)
    used[code] = True
    texts = [domain[int(c)] for c in np.flatnonzero(used)]
    # Of codes 0 1 2 with nobody at 1, 2 becomes 1.
    number = (np.cumsum(used) - 1).astype(_choose_dtype(len(texts)))
    lists = domain.kind == LISTS
    kind = "text" if lists else domain.kind
    return StreamColumn(domain.name, texts, number[code], kind=kind, lists=lists)


def _choose_dtype(values: int) -> type[np.signedinteger[Any]]:
    """The narrowest integers that number so many values."""
    if values <= 2**15:
        return np.int8 if values <= 2**7 else np.int16
    return np.int32 if values <= 2**31 else np.int64


def _build_file(
    stem: str,
    columns: Mapping[str, StreamColumn],
    n: Ints,
    roles: Roles,
    table: Table,
    shown: ReleasedAs | None,
    counted: str = "",
    coarse: Sequence[str] = (),
) -> File:
    """A table of rows and how often each is written, in the source's order."""
    own = table.roles.weight
    times = own or _find_free_name(counted or "people", table.schema.names)
    written = own or counted or None
    names = [c for c in columns if c not in table.schema.names]
    names += [c for c in table.schema.names if c in columns]
    people = StreamColumn(times, (), n.astype(np.int64, copy=False))
    stream = Stream([*(columns[c] for c in names), people])
    options = {k: v for k, v in table.options.items() if k not in ("where", "people")}
    opened = open_table(
        stream.as_source("the release"), attrs.evolve(roles, weight=times), **options
    )
    # Texts are looked up when they are written; until then they are numbers.
    looked_up = {c: Relabel(tuple(columns[c].texts)) for c in names if columns[c].coded}
    opened = replace(
        opened.relabelled(looked_up),
        shown=shown,
        rules=table.rules,
        coarse=dict.fromkeys(coarse),
        json_lists=frozenset(c for c in names if columns[c].lists),
    )
    domains = [Domain(c, columns[c].texts, columns[c].kind) for c in names]
    codes = [columns[c].in_rows() for c in names]
    return File(stem, opened, times, written and times, InMemory(domains, codes, n))


def _find_free_name(name: str, taken: Sequence[str]) -> str:
    """A name for a column that is none yet."""
    folded = {t.casefold() for t in taken}
    while name.casefold() in folded:
        name += "_"
    return name


@contextmanager
def closing(grouped: GroupedForm) -> Iterator[None]:
    """Let go of the tables if something goes wrong."""
    try:
        yield
    except BaseException:
        grouped.close()
        raise
