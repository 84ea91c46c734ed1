"""The few statements engines are asked to run, and how dialects differ.

Columns of the source are called c0, c1, … here and their codes k0, k1, …, so that
no name and no value of the user's table ever enters the text of a statement. Our own
tables begin with pv_, since views of a user's database may look for theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple


@dataclass(frozen=True)
class Dialect:
    """What engines spell differently."""

    same: str
    """NULL-safe equality of {a} and {b}."""
    text: str
    """The type of text."""
    big: str
    """The type of 64-bit integers."""
    hash: str
    """A hash of {columns} as a non-negative integer."""
    grouping_sets: bool
    """Whether one statement with grouping sets beats one statement per set."""
    distinct: str = "count(DISTINCT {column})"
    """About how many different values a {column} has, where there are many rows."""
    small: str = ""
    """What tells the planner that {tables} are small."""
    sorts: bool = True
    """Whether counts are sorted there; else here."""
    at_hand: bool = False
    """Whether its rows are in this process, so that they can be added up here."""


DUCKDB = Dialect(
    same="{a} IS NOT DISTINCT FROM {b}",
    text="VARCHAR",
    big="BIGINT",
    hash="hash({columns})",
    grouping_sets=True,
    distinct="approx_count_distinct({column})",
    at_hand=True,
)

PARTS = (1, 8, 64, 512)
"""Into how many parts rows are cut where a result does not fit, one after the other."""


class Part(NamedTuple):
    """The rows whose hash, divided by `of`, leaves `number`."""

    number: int
    of: int

    @property
    def is_whole(self) -> bool:
        """Whether all rows are in it."""
        return self.of == 1

    @property
    def words(self) -> str:
        """How progress calls it.

        >>> Part(1, 8).words
        'part 2 of 8'
        """
        return f"part {self.number + 1} of {self.of}"

    def only(self, key: str) -> str:
        """The condition on a hash; empty for all rows.

        >>> Part(1, 8).only("hash(k0)")
        'WHERE hash(k0) % 8 = 1'
        """
        return "" if self.is_whole else f"WHERE {key} % {self.of} = {self.number}"


def quoted(name: str) -> str:
    """An identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text, for paths and options only; cells never enter a statement."""
    return "'" + text.replace("'", "''") + "'"


def mask(inside: Sequence[int], among: Sequence[int]) -> int:
    """The number GROUPING_ID gives rows of this grouping set.

    A bit per column, the last one lowest, set where the column is not grouped by: of
    columns 0, 1, 2 the set (0, 2) leaves out 1, so its bits are 010.

    >>> mask([0, 2], among=[0, 1, 2])
    2
    """
    return sum(1 << i for i, c in enumerate(reversed(among)) if c not in inside)


def select_values(columns: Sequence[int], source: str) -> str:
    """The distinct values of each column, and the number of rows, in one scan."""
    names = ", ".join(f"c{c}" for c in columns)
    sets = ", ".join([*(f"(c{c})" for c in columns), "()"])
    return (
        f"SELECT {names}, GROUPING_ID({names}) AS g, count(*) AS n FROM {source} "
        f"GROUP BY GROUPING SETS ({sets})"
    )


def count_sampled(sets: Sequence[Collection[int]], source: str, rows: int) -> str:
    """How many combinations of each set of columns a few rows have, about.

    Eight times faster than exact numbers, and nothing but the time depends on them.
    """
    used = ", ".join(f"c{c}" for c in sorted(set().union(*sets)))
    asked = ["count(*)"]
    for s in sets:
        names = ", ".join(f"c{c}" for c in sorted(s))
        asked.append(f"approx_count_distinct(hash({names}))")
    return f"SELECT {', '.join(asked)} FROM (SELECT {used} FROM {source} LIMIT {rows})"


def count_cells(sets: Sequence[Sequence[int]], source: str) -> str:
    """The combinations of each set of columns, counted and marked by GROUPING_ID."""
    used = sorted({c for s in sets for c in s})
    names = ", ".join(f"c{c}" for c in used)
    if len(sets) == 1:
        counted = f"{names}, 0 AS g, count(*) AS n"
        return f"SELECT {counted} FROM {source} GROUP BY {names}"
    wanted = ", ".join("(" + ", ".join(f"c{c}" for c in s) + ")" for s in sets)
    return (
        f"SELECT {names}, GROUPING_ID({names}) AS g, count(*) AS n FROM {source} "
        f"GROUP BY GROUPING SETS ({wanted})"
    )


def select_keys(
    sets: Sequence[Sequence[int]], sizes: Mapping[int, int], rows: str, dialect: Dialect
) -> str:
    """The codes of each row as one integer per set of columns."""
    chosen = ", ".join(
        f"{packed(s, sizes, dialect)} AS key{i}" for i, s in enumerate(sets)
    )
    return f"SELECT {chosen} FROM ({rows})"


def select_values_in_part(
    column: int, part: Part, dialect: Dialect, source: str = "pv_people"
) -> str:
    """The distinct values of a column in one hash partition, counted."""
    c = f"c{column}"
    only = part.only(hashed([c], dialect))
    return f"SELECT {c} AS v, count(*) AS n FROM {source} {only} GROUP BY {c}"


def coded(
    dictionaries: Mapping[int, str], source: str, extra: str, dialect: Dialect
) -> str:
    """The rows of the source with small integers in place of values."""
    codes = [f"d{c}.code AS k{c}" for c in dictionaries]
    joins = [
        f"JOIN {table} d{c} ON {dialect.same.format(a=f's.c{c}', b=f'd{c}.v')}"
        for c, table in dictionaries.items()
    ]
    chosen = ", ".join([*codes, *([extra] if extra else [])]) or "1 AS nothing"
    small = hint_small([f"d{c}" for c in dictionaries], dialect)
    return f"SELECT {small}{chosen} FROM {source} s {' '.join(joins)}"


def code_all(tables: Mapping[int, str], source: str, dialect: Dialect) -> str:
    """The codes of all rows; a value that has none is an error at once."""
    codes = [f"coalesce(d{c}.code, error('no code')) AS k{c}" for c in tables]
    return _select_codes(codes, tables, source, dialect)


def code_cells(tables: Mapping[int, str], cells: str, dialect: Dialect) -> str:
    """The codes of combinations, -1 where a column is not among those of its set."""
    codes = [f"coalesce(CAST(d{c}.code AS {dialect.big}), -1) AS k{c}" for c in tables]
    return _select_codes(["s.g", *codes, "s.n"], tables, cells, dialect)


def _select_codes(
    chosen: Sequence[str], tables: Mapping[int, str], source: str, dialect: Dialect
) -> str:
    """Rows beside their codes, whether they have any or not."""
    joins = [
        f"LEFT JOIN {table} d{c} ON {dialect.same.format(a=f's.c{c}', b=f'd{c}.v')}"
        for c, table in tables.items()
    ]
    return f"SELECT {', '.join(chosen)} FROM {source} s {' '.join(joins)}"


def hint_small(tables: Sequence[str], dialect: Dialect) -> str:
    """What tells the planner that tables are small."""
    return dialect.small.format(tables=", ".join(tables)) if tables else ""


def packed(columns: Sequence[int], sizes: Mapping[int, int], dialect: Dialect) -> str:
    """Codes as one integer in mixed radix, the last column varying fastest.

    >>> packed([0, 3, 4], {0: 3, 3: 4, 4: 2}, DUCKDB)
    '((CAST(k0 AS BIGINT) * 4 + k3) * 2 + k4)'
    """
    first, *others = [f"k{c}" for c in columns] or ["0"]
    key = f"CAST({first} AS {dialect.big})"
    for c, code in zip(columns[1:], others, strict=True):
        key = f"({key} * {max(sizes[c], 1)} + {code})"
    return key


def unpacked(column: int, sizes: Mapping[int, int]) -> str:
    """The code of one of the columns of a key, which have these sizes, in order.

    >>> unpacked(3, {0: 3, 3: 4, 4: 2})
    'CAST(key // 2 % 4 AS UTINYINT)'
    """
    behind = list(sizes)[list(sizes).index(column) + 1 :]
    step = prod(max(sizes[c], 1) for c in behind)
    size = max(sizes[column], 1)
    return f"CAST(key // {step} % {size} AS {code_type(size)})"


def count_sets(
    sets: Sequence[Sequence[int]],
    sizes: Mapping[int, int],
    rows: str,
    amounts: Mapping[str, str],
    dialect: Dialect,
) -> str:
    """Counts of several sets of codes in one statement, as packed keys in order.

    Rows are marked by GROUPING_ID; sorting here is parallel and may spill.
    """
    used = sorted({c for s in sets for c in s})
    names = ", ".join(f"k{c}" for c in used)
    wanted = ", ".join("(" + ", ".join(f"k{c}" for c in s) + ")" for s in sets)
    keys = " ".join(
        f"WHEN {mask(s, used)} THEN {packed(s, sizes, dialect)}" for s in sets
    )
    return (
        f"SELECT g, CASE g {keys} END AS key, {', '.join(amounts)} FROM ("
        f"SELECT {names}, GROUPING_ID({names}) AS g, {_name_amounts(amounts)} "
        f"FROM ({rows}) "
        f"GROUP BY GROUPING SETS ({wanted}) HAVING {amounts['n']} > 0) ORDER BY g, key"
    )


def count_set(
    columns: Sequence[int],
    key: str,
    rows: str,
    amounts: Mapping[str, str],
    part: str,
    dialect: Dialect,
) -> str:
    """Counts of one set of codes, perhaps of one hash partition only.

    With a key, as packed keys in order where engines sort well; without one, as codes
    in any order.
    """
    names = ", ".join(f"k{c}" for c in columns)
    grouped = f"GROUP BY {names} " if names else ""
    chosen = f"{names}, " if names else ""
    counted = (
        f"SELECT {chosen}{_name_amounts(amounts)} FROM ({rows}) r {part} "
        f"{grouped}HAVING {amounts['n']} > 0"
    )
    if not key:
        return counted
    order = "ORDER BY key" if dialect.sorts else ""
    return f"SELECT {key} AS key, {', '.join(amounts)} FROM ({counted}) c {order}"


def count_packed(
    rows: str,
    values: int,
    amounts: Mapping[str, str],
    part: Part,
    dialect: Dialect,
) -> str:
    """Counts of packed keys in one hash partition of the groups, in order.

    The last column varies fastest, so keys that differ in it only are one group: with
    5 values, keys 35 to 39 are group 7.
    """
    group = hashed([f"key // {max(values, 1)}"], dialect)
    return (
        f"SELECT key, {_name_amounts(amounts)} FROM {rows} {part.only(group)} "
        f"GROUP BY key HAVING {amounts['n']} > 0 ORDER BY key"
    )


def hashed(columns: Sequence[str], dialect: Dialect) -> str:
    """A number that depends on some columns only, and scatters them."""
    return dialect.hash.format(columns=", ".join(columns))


def amounts(unit: bool, weight: bool, dialect: Dialect) -> dict[str, str]:
    """What is counted: people (a missing unit is one person), weights, or rows.

    Beside people the rows they have, by which one sees that none is missing.
    """
    if unit:
        people = "(count(DISTINCT u) + CAST(count(*) > count(u) AS INTEGER))"
        return {"n": people, "r": "count(*)"}
    if weight:
        return {"n": f"CAST(sum(w) AS {dialect.big})"}
    return {"n": "count(*)"}


def _name_amounts(amounts: Mapping[str, str]) -> str:
    return ", ".join(f"{amount} AS {name}" for name, amount in amounts.items())


def describe(
    column: str,
    source: str,
    more: Sequence[str],
    precise: bool,
    dialect: Dialect = DUCKDB,
) -> str:
    """Rows, present values, different values, and more numbers of one column."""
    distinct = "count(DISTINCT {column})" if precise else dialect.distinct
    asked = ["count(*)", f"count({column})", distinct.format(column=column), *more]
    return f"SELECT {', '.join(asked)} FROM {source}"


def stacked(columns: Sequence[str], source: str) -> str:
    """The values v of several columns below each other, with the column's number i."""
    values = ", ".join(columns)
    return (
        f"(SELECT unnest([{values}]) AS v, unnest(range({len(columns)})) AS i "
        f"FROM {source})"
    )


def code_values(values: str, order: Sequence[str], size: int | None = None) -> str:
    """The code of each value: values are numbered in their order, NULL first."""
    by = ", ".join(f"{part} NULLS FIRST" for part in order)
    return (
        f"SELECT v, CAST(dense_rank() OVER (ORDER BY {by}) - 1 AS {code_type(size)}) "
        f"AS code FROM {values}"
    )


def code_type(size: int | None) -> str:
    """The narrowest type of so many codes: each row is joined to one per column."""
    if size is None or size > 2**16:
        return "UINTEGER"
    return "UTINYINT" if size <= 2**8 else "USMALLINT"


def recoded(table: str, new: str) -> str:
    """The values of a dictionary with other codes."""
    return f"SELECT d.v, m.new AS code FROM {table} d JOIN {new} m ON d.code = m.old"


def select_labels(table: str, text: str, before: str = "", only: str = "") -> str:
    """One text per code, as the source wrote it; JSON is a type of its own."""
    label = f"CAST(min({text}) AS VARCHAR) AS label"
    return f"SELECT {before}code, {label} FROM {table} {only} GROUP BY code"


def shuffled(rows: str, drawn: str) -> str:
    """Rows in the order of a number drawn for each."""
    return f"SELECT * FROM ({rows}) ORDER BY {drawn}(1)"


DECIMAL = r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?"
"""What a number looks like. With a leading zero it is a code, such as a zip code."""

FORMULA = "=+-@\t\r'"
"""What a cell must not begin with, lest a spreadsheet computes it."""


def guarded(cell: str) -> str:
    """A text that begins like a formula gets a quote in front; numbers do not."""
    text = f"CAST({cell} AS VARCHAR)"
    starts = " OR ".join(f"starts_with({text}, chr({ord(c)}))" for c in FORMULA)
    number = (
        f"regexp_full_match({text}, '{DECIMAL}') "
        f"AND TRY_CAST({text} AS DOUBLE) IS NOT NULL"
    )
    return (
        f"CASE WHEN ({starts}) AND NOT ({number}) "
        f"THEN concat(chr(39), {text}) ELSE {text} END"
    )


def unguarded(cell: str) -> str:
    """What `guarded` did, undone."""
    return (
        f"CASE WHEN starts_with({cell}, chr(39)) THEN substr({cell}, 2) ELSE {cell} END"
    )


def guarded_name(name: str) -> str:
    """The name of a column, which stands in a cell of its own.

    >>> guarded_name("=1+1"), guarded_name("age")
    ("'=1+1", 'age')
    """
    return f"'{name}" if name.startswith(tuple(FORMULA)) else name


def unguarded_name(name: str) -> str:
    """What `guarded_name` did, undone."""
    return name.removeprefix("'")


def copy(select: str, path: str, format_: str) -> str:
    """Write what is selected to a new file."""
    options = {
        "parquet": "FORMAT parquet, COMPRESSION zstd",
        "csv": "FORMAT csv, HEADER true",
    }
    return f"COPY ({select}) TO {literal(path)} ({options[format_]})"
