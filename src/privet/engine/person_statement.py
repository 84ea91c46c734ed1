"""The statement that makes one row per person of several, in DuckDB's SQL.

It groups the rows once. Cells of the first row come from one row: where several rows
have the same place in the order, the least of them by those cells is taken, so that
neither chance nor the order of a file decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from privet.engine import text_types
from privet.errors import InputError
from privet.values.person_rows import PersonRows
from privet.values.schema import Column

ROWS = "pv_rows"
"""What the statement calls the number of a person's rows."""

ORDERED = ("integer", "number", "date", "datetime")
"""Kinds whose order everybody agrees on."""

CASTS = {"integer": "HUGEINT", "date": "DATE", "datetime": "TIMESTAMP"}
"""What texts of a kind are compared as."""


@dataclass(frozen=True)
class PeopleAsked:
    """What is asked of an engine whose rows become people."""

    person: PersonRows
    """What is taken of each column; it says who is who."""
    withheld: tuple[str, ...] = ()
    """Columns that are never shown, of which any cell does."""
    only: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Only people with these values, once they are one row each."""


@dataclass(frozen=True)
class PersonCell:
    """A cell of a row `s`, as the statement compares and shows it."""

    at: int
    """The column's position."""
    kind: str
    """What its values are; of texts, what all of them allow."""
    textual: bool = False
    """Whether it arrives as a text that may mean more."""
    json: bool = False
    """Whether that text is JSON."""

    @property
    def cell(self) -> str:
        """As it is."""
        return f"s.c{self.at}"

    @property
    def _text(self) -> str:
        return text_types.text_of(self.cell, textual=True, json=self.json)

    @property
    def key(self) -> str:
        """What orders values, and is the same for equal ones: 1.50 and 1.5."""
        if not self.textual or self.kind == "text":
            return self.cell
        if self.kind == "number":
            same = text_types.normalise_number(self._text)
            return f"struct_pack(d := TRY_CAST({self._text} AS DOUBLE), n := {same})"
        return f"TRY_CAST({self._text} AS {CASTS[self.kind]})"

    @property
    def _shown(self) -> str:
        """One text for all spellings of a value, as its source writes texts."""
        if self.kind == "integer":
            return f"CAST({self.key} AS VARCHAR)"
        if self.kind == "datetime":
            mark = "chr(34)" if self.json else "''"
            return f"concat({mark}, CAST({self.key} AS VARCHAR), {mark})"
        if self.kind != "number":
            return self.cell
        short = f"CAST(TRY_CAST({self._text} AS DOUBLE) AS VARCHAR)"
        same = text_types.normalise_number
        return (
            f"CASE WHEN {same(short)} = {same(self._text)} "
            f"THEN regexp_replace({short}, '\\.0$', '') ELSE {self.cell} END"
        )

    @property
    def is_plain(self) -> bool:
        """Whether cells are compared and shown as they are."""
        return not self.textual or (self.kind in ("text", "date") and not self.json)

    @property
    def member(self) -> str:
        """What stands for a value among others: its order, and how it is shown."""
        if self.is_plain:
            return self.cell
        return f"struct_pack(k := {self.key}, t := {self._shown})"

    def show_member(self, member: str) -> str:
        """A member as it is shown."""
        return member if self.is_plain else f"{member}.t"


@dataclass(frozen=True)
class PersonStatement:
    """One row per person: c0, c1, … as before, and how many rows they had."""

    person: PersonRows
    columns: Sequence[Column]
    cells: Sequence[PersonCell]
    withheld: Sequence[str] = ()

    @property
    def by(self) -> int:
        """The position of the column that tells people apart."""
        assert self.person.by is not None
        return self._find(self.person.by).at

    def _find(self, name: str) -> PersonCell:
        return next(
            x for x, c in zip(self.cells, self.columns, strict=True) if c.name == name
        )

    def find_rule(self, name: str) -> str:
        """What is taken of a column: of those never shown the first row's cell."""
        if name == self.person.by:
            return "by"
        rule = self.person.find_rule(name)
        return rule or ("any" if name in self.withheld else "same")

    def _list(self, *rules: str) -> list[PersonCell]:
        names = [c.name for c in self.columns]
        return [self._find(n) for n in names if self.find_rule(n) in rules]

    def refuse_kinds(self) -> None:
        """Order, least and most must be of values whose order everybody agrees on."""
        for name in self.person.order:
            if (kind := self._find(name).kind) not in ORDERED:
                raise InputError(
                    f"order of person must be columns of numbers or dates; {name!r} "
                    f"holds values of kind {kind}. Dates must be written 2024-03-31."
                )
        for rule in ("least", "most"):
            for name in getattr(self.person, rule):
                if (kind := self._find(name).kind) not in (*ORDERED, "boolean"):
                    raise InputError(
                        f"{rule} of person must be columns of numbers, dates or "
                        f"truths; {name!r} holds values of kind {kind}. Take its "
                        "commonest, first or last value, or the set of them."
                    )
        for name in self.person.set:
            if self._find(name).kind == "other":
                raise InputError(
                    "set of person must be columns of single values; "
                    f"{name!r} holds lists or the like already."
                )

    # The statement ------------------------------------------------------------------

    def write(self, source: str) -> str:
        """What is selected of the rows of a source."""
        inner = [f"s.c{self.by} AS c{self.by}", f"count(*) AS {ROWS}"]
        outer = [f"c{self.by}", ROWS]
        for x in self._list("least", "most", "commonest", "set", "count", "same"):
            rule = self.find_rule(self.columns[x.at].name)
            select, shown = getattr(self, f"_take_{rule}")(x)
            inner.append(f"{select} AS c{x.at}")
            outer.append(f"{shown} AS c{x.at}")
        for x in self._list("same"):
            inner.append(f"{_varies(x)} AS d{x.at}")
            outer.append(f"d{x.at}")
        for end, cells in self._list_ends().items():
            inner.append(self._take_row(end, cells))
            outer += [f"{_quote(end)}.c{x.at} AS c{x.at}" for x in cells]
            outer += [] if end == "any" else [f"{_quote(end)}.place AS {end}_at"]
        grouped = f"SELECT {', '.join(inner)} FROM {source} s GROUP BY s.c{self.by}"
        return f"SELECT {', '.join(outer)} FROM ({grouped})"

    def _list_ends(self) -> dict[str, list[PersonCell]]:
        """The cells of the first row, of the last one, and of any."""
        ends = {rule: self._list(rule) for rule in ("first", "last", "any")}
        return {rule: cells for rule, cells in ends.items() if cells}

    def _write_order(self, end: str) -> str:
        """What orders a person's rows; rows without it are neither first nor last."""
        test = "IS NOT NULL" if end == "last" else "IS NULL"
        keys = [self._find(name).key for name in self.person.order]
        pairs = [f"n{i} := {k} {test}, o{i} := {k}" for i, k in enumerate(keys)]
        return f"struct_pack({', '.join(pairs)})"

    def _take_row(self, end: str, cells: Sequence[PersonCell]) -> str:
        chosen = ", ".join(f"c{x.at} := {x.cell}" for x in cells)
        if end != "any":
            chosen += f", place := {self._write_order(end)}"
        test = "IS NOT NULL" if end == "last" else "IS NULL"
        ties = ", ".join(
            f"t{x.at} := {x.cell} {test}, v{x.at} := {x.cell}" for x in cells
        )
        keys = f"struct_pack({ties})"
        if end != "any":
            keys = f"struct_pack(o := {self._write_order(end)}, t := {keys})"
        take = "arg_max" if end == "last" else "arg_min"
        return f"{take}(struct_pack({chosen}), {keys}) AS {_quote(end)}"

    def _take_same(self, x: PersonCell) -> tuple[str, str]:
        return f"min({x.cell})", f"c{x.at}"

    def _take_count(self, x: PersonCell) -> tuple[str, str]:
        counted = f"count({x.cell})"
        return (f"CAST({counted} AS VARCHAR)" if x.json else counted), f"c{x.at}"

    def _take_least(self, x: PersonCell) -> tuple[str, str]:
        return self._take_end("arg_min", x), f"c{x.at}"

    def _take_most(self, x: PersonCell) -> tuple[str, str]:
        return self._take_end("arg_max", x), f"c{x.at}"

    def _take_end(self, take: str, x: PersonCell) -> str:
        if not x.textual:
            return f"{take.removeprefix('arg_')}({x.cell})"
        place = f"struct_pack(k := {x.key}, t := {x.cell})"
        return f"{take}({x.cell}, {place}) FILTER (WHERE {x.cell} IS NOT NULL)"

    def _take_commonest(self, x: PersonCell) -> tuple[str, str]:
        """How often each value occurs; then the least of those that do most often."""
        often = f"histogram({x.member}) FILTER (WHERE {x.cell} IS NOT NULL)"
        ranked = (
            f"list_transform(map_entries(c{x.at}), "
            "lambda e: struct_pack(n := -CAST(e.value AS BIGINT), m := e.key))"
        )
        return often, x.show_member(f"list_sort({ranked})[1].m")

    def _take_set(self, x: PersonCell) -> tuple[str, str]:
        every = f"list(DISTINCT {x.member}) FILTER (WHERE {x.cell} IS NOT NULL)"
        shown = f"list_sort(c{x.at})"
        if not x.is_plain:
            shown = f"list_transform({shown}, lambda e: e.t)"
        shown = f"coalesce({shown}, [])"
        if x.json:
            shown = f"concat('[', array_to_string({shown}, ','), ']')"
        return every, shown

    # What is counted of it ------------------------------------------------------------

    def count_varying(self) -> dict[str, str]:
        """How many people have several values of each column without a rule."""
        return {
            self.columns[x.at].name: f"CAST(count(*) FILTER (WHERE d{x.at}) AS BIGINT)"
            for x in self._list("same")
        }

    def count_tied(self, source: str, people: str) -> str:
        """How many people had several rows in the first or last place that differ."""
        tests = []
        for end in ("first", "last"):
            cells = self._list(end)
            if not cells:
                continue
            place = f"{self._write_order(end)} IS NOT DISTINCT FROM p.{end}_at"
            other = " OR ".join(f"{x.cell} IS DISTINCT FROM p.c{x.at}" for x in cells)
            tests.append(f"({place} AND ({other}))")
        if not tests:
            return ""
        return (
            f"SELECT count(DISTINCT s.c{self.by}) AS n FROM {source} s "
            f"JOIN {people} p ON s.c{self.by} = p.c{self.by} WHERE {' OR '.join(tests)}"
        )


def _varies(x: PersonCell) -> str:
    """Whether a person's rows differ; a missing value is one, too."""
    key = x.key
    return (
        f"(min({key}) IS DISTINCT FROM max({key}) "
        f"OR count({x.cell}) NOT IN (0, count(*)))"
    )


def _quote(name: str) -> str:
    """`first`, `last` and `any` are functions elsewhere."""
    return f'"{name}"'


# What is refused --------------------------------------------------------------------


def refuse_nobody(nobody: int, rows: int, by: str) -> None:
    """Every row must be somebody's."""
    if nobody:
        raise InputError(
            f"Every row must say whose it is; {nobody:,} of {rows:,} rows have nothing "
            f"in {by!r}. They may be one person's or many people's: fill the column, "
            "or leave those rows out."
        )


def refuse_varying(varying: Mapping[str, int], people: int) -> None:
    """A column without a rule must be the same in all rows of a person."""
    wrong = {c: n for c, n in varying.items() if n}
    if wrong:
        told = ", ".join(
            f"{c!r} (it differs for {n:,} of {people:,} people)"
            for c, n in wrong.items()
        )
        raise InputError(
            "A column must have a rule in person where a person's rows differ; none "
            f"has {told}. Take its first, last, least, most or commonest value, the "
            "set or the count of them; or drop the column."
        )
