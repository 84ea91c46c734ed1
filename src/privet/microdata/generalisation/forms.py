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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import Relabel
from privet.engine.sources.dataframes import Stream, StreamColumn
from privet.errors import InputError
from privet.microdata.generalisation.distinct_rows import sum_partition_rows
from privet.microdata.generalisation.domain_order import TREE, OrderedDomain
from privet.microdata.generalisation.kernels import COLUMN, CUT, LEFT
from privet.microdata.generalisation.partition import GRAMMAR, Partition
from privet.microdata.recipe import NOT_PROMISED
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
    "protection against somebody who draws conclusions from where groups were not "
    "split",
    "protection against somebody who finds some of a group's values likelier for a "
    "person than others beforehand",
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

    @property
    def table(self) -> Table:
        """What promises are judged on."""
        return self.files[-1].table

    def describe_columns(self, stated: Mapping[str, Any]) -> dict[str, Any]:
        """What the manifest says of each column, given its role and type."""
        found = {c: dict(about) for c, about in stated.items()}
        for c in self.kinds:
            found[c]["type"] = self.kinds[c]
        shown = {a.name: _describe_labels(a) for a in self.partition.attributes}
        for c in self.coarse:
            found[c]["shown_as"] = shown[c]
        if self.form == BUCKETS:
            people, values = self.files
            found[self.table.roles.quasi[0]] = {"role": "group", "type": "integer"}
            found[values.times] = {"role": "weight", "type": "integer"}
            for c in values.columns[1:]:
                found[c]["file"] = values.stem
            for c in people.columns[1:]:
                found[c]["file"] = people.stem
        return found

    def describe_form(self) -> dict[str, Any]:
        """What the manifest says of the form."""
        said = {"form": self.form, "not_promised": list(NOT_PROMISED_OF_GROUPS)}
        if self.form == BUCKETS:
            values = self.files[-1]
            return said | {"group": self.table.roles.quasi[0], "count": values.times}
        return said | {"labels": dict(GRAMMAR)}

    def describe_recipe(self) -> dict[str, Any]:
        """How the groups were made, for the custody record."""
        columns = {
            a.name: [a.domain[int(c)] for c in a.codes]
            for a in self.partition.attributes
        }
        return {
            "recipe": "groups",
            "columns": columns,
            "tree": {
                "column": self.partition.tree[:, COLUMN].tolist(),
                "cut": self.partition.tree[:, CUT].tolist(),
                "left": self.partition.tree[:, LEFT].tolist(),
            },
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


def build_form(partition: Partition, table: Table, form: str) -> GroupedForm:
    """The tables that show a partition of a table."""
    shapes = {GENERALISED: _generalise, BUCKETS: _bucketize}
    kinds = {a.name: a.domain.kind for a in partition.attributes}
    files, coarse = shapes[form](partition, table)
    return GroupedForm(partition, form, files, kinds, coarse)


def _generalise(
    partition: Partition, table: Table
) -> tuple[tuple[File, ...], tuple[str, ...]]:
    known = len(partition.attributes)
    behind = range(known, known + len(partition.others))
    group, codes, n = sum_partition_rows(partition, list(behind))
    columns, coarse = {}, []
    for attribute, labels in zip(partition.attributes, partition.labels, strict=True):
        name, domain = attribute.name, attribute.domain
        exactly = set(labels.texts) <= set(domain.labels)
        kind = domain.kind if exactly else "text"
        of = labels.of.astype(_choose_dtype(len(labels.texts)))
        columns[name] = StreamColumn(name, labels.texts, of, group, kind)
        coarse += [] if exactly else [name]
    for domain, code in zip(partition.others, codes, strict=True):
        columns[domain.name] = _build_plain_column(domain, code)
    roles = attrs.evolve(_select_released(table.roles), quasi=tuple(_list_quasi(table)))
    shown = ReleasedAs(roles.quasi, roles.quasi)
    file = _build_file("table", columns, n, roles, table, shown, coarse=coarse)
    return (file,), tuple(coarse)


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
        columns[domain.name] = _build_plain_column(domain, code)
    target = roles.target if roles.target in columns else None
    shown_roles = Roles(quasi=roles.quasi, other=roles.other, target=target)
    people = _build_file(PEOPLE, columns, n, shown_roles, table, None)
    secret = [d for d in partition.others if d.name in roles.sensitive]
    group, codes, n = sum_partition_rows(partition, [of[d.name] for d in secret])
    columns = {name: StreamColumn(name, numbers, group, kind="integer")}
    for domain, code in zip(secret, codes, strict=True):
        columns[domain.name] = _build_plain_column(domain, code)
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
    return StreamColumn(domain.name, texts, number[code], kind=domain.kind)


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
    stream = Stream(
        [*(columns[c] for c in names), StreamColumn(times, (), n.astype(np.int64))]
    )
    options = {k: v for k, v in table.options.items() if k != "where"}
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
        for file in grouped.files:
            file.table.close()
        raise
