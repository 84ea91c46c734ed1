"""Deliveries of one table over time, counted: who is in which, as each of them shows.

Of the new delivery the rows are at hand; of earlier ones the ledger has what they
showed, by the deliveries before that had the same row. Who left is what an earlier file
shows less those who stayed. A label stands for any of its values.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privet.engine.digests import RowMarks, compare_digests
from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import InputError, TooLarge
from privet.findings import Verdict
from privet.microdata.recipe import Cut, Recipe, list_places
from privet.release.joint.delivery_history import DeliveryHistory, Presence
from privet.release.joint.joint_results import JointQuestion, JointResult
from privet.release.joint.outlines import ReleaseOutline
from privet.release.joint.same_rows import JointColumn, Labels
from privet.report import joint_reasons
from privet.report import ledger_words as words
from privet.table import Table, open_table
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

if TYPE_CHECKING:
    from privet.release.history import EarlierRelease

SHOWN, SEEN, PEOPLE = "shown.parquet", "\x1fseen", "\x1fpeople"
"""The file of an entry, and its columns besides those that are released."""

Value = str | None


class Misfit(Exception):
    """Earlier files do not fit the digests; why is in the message."""


MOST_ROWS = 2_000_000
"""Different rows that are compared; more would need more memory than there is."""


# Rows by the deliveries that have them ----------------------------------------------


def _mark(
    table: Table, files: Sequence[Path], columns: Sequence[str], key: Path
) -> tuple[Table, list[str]]:
    """The rows with columns that say how often each file of digests has them."""
    if table.source.address is not None:
        raise Misfit(words.REMOTE)
    names = [f"\x1fin {i}" for i in range(len(files))]
    marks = RowMarks(tuple(names), tuple(map(str, files)), tuple(columns), str(key))
    source = replace(table.source, marks=marks)
    return open_table(source, table.roles, **table.options), names


def _count_marked(
    table: Table,
    files: Sequence[Path],
    columns: Sequence[str],
    shown: Mapping[str, Sequence[int]],
    key: Path,
    run: Run,
) -> Counter[tuple[Labels, frozenset[int]]]:
    """People by the codes of some columns, and by the files that have their row.

    The first file is the table's own. Of equal rows as many as a file has are in it: 3
    of which the other file has 2 are 2 in both and 1 in the first only.
    """
    digested = [c for c in table.schema.names if c != table.roles.weight]
    marked, names = _mark(table, files, digested, key)
    found: Counter[tuple[Labels, frozenset[int]]] = Counter()
    with marked:
        for codes, people in count_codes(marked, [*columns, *names], shown, run):
            row, (own, *others) = codes[: len(columns)], codes[len(columns) :]
            before = 0
            for end in sorted({own, *(n for n in others if 0 < n < own)}):
                seen = frozenset(i for i, n in enumerate(others) if n >= end)
                found[row, seen] += people * (end - before) // own
                before = end
    return found


def count_codes(
    table: Table,
    columns: Sequence[str],
    stands: Mapping[str, Sequence[int]],
    run: Run,
) -> Iterator[tuple[Labels, int]]:
    """People by the code, in the plain table, of the value that stands for theirs."""
    bins = table.roles.bins
    relabels = {
        c: Relabel(tuple(map(str, stands[c])), bins.get(c))
        for c in columns
        if c in stands
    }
    *by, about = columns
    counted = 0
    query = CountQuery(tuple(by), about)
    for _, part in table.relabelled(relabels).count([query], run):
        counted += len(part.n)
        if counted > MOST_ROWS:
            raise TooLarge(
                f"Releases have more than {MOST_ROWS:,} different rows; that is too "
                "many to be judged together."
            )
        yield from _decode(part)


def _decode(part: EquivalenceClasses) -> Iterator[tuple[Labels, int]]:
    texts = [*part.by, part.about]
    groups = [codes[part.group] for codes in part.keys.columns()]
    meant = [np.array([int(t or 0) for t in d.labels], dtype=np.int64) for d in texts]
    columns = [m[c] for m, c in zip(meant, [*groups, part.value], strict=True)]
    rows = zip(*(c.tolist() for c in columns), strict=True)
    yield from zip(rows, part.n.tolist(), strict=True)


# What an entry keeps ----------------------------------------------------------------


def keep_shown(
    table: Table,
    outline: ReleaseOutline,
    folder: Path,
    earlier: Sequence[EarlierRelease],
    key: Path,
) -> None:
    """Write what a table shows, counted by the earlier deliveries with the same row."""
    if outline.kind != "table" or table.source.address is not None:
        return
    columns = [c for c in table.schema.names if c in outline.columns]
    plain, run = replace(table, relabels={}), Run()
    domains = plain.domains(columns, run)
    texts = _show_values(outline, domains)
    before = [e for e in earlier if is_comparable(e, table)]
    files = [folder / "people.parquet", *(_require_digests(e) for e in before)]
    stands = {c: _number_texts(texts[c]) for c in columns}
    try:
        found = _count_marked(plain, files, columns, stands, key, run)
    except TooLarge:
        return  # too many to be compared with a later delivery, which is told then
    numbers = [e.entry.number for e in before]
    lines = [
        ([texts[c][v] for c, v in zip(columns, row, strict=True)], seen, n)
        for (row, seen), n in found.items()
    ]
    arrays = {
        c: pa.array([row[i] for row, _, _ in lines], pa.string())
        for i, c in enumerate(columns)
    }
    arrays[SEEN] = pa.array(
        [json.dumps(sorted(numbers[i] for i in seen)) for _, seen, _ in lines]
    )
    arrays[PEOPLE] = pa.array([n for _, _, n in lines], pa.int64())
    pq.write_table(pa.table(arrays), folder / SHOWN)


def is_comparable(earlier: EarlierRelease, table: Table) -> bool:
    """Whether rows of a table can be told in another delivery of it."""
    own = [c for c in table.schema.names if c != table.roles.weight]
    entry = earlier.entry
    return (
        earlier.relation == "other delivery"
        and earlier.outline.kind == "table"
        and list(entry.columns) == own
    )


def _require_digests(earlier: EarlierRelease) -> Path:
    assert earlier.entry.digests is not None
    return earlier.entry.digests


def _show_values(
    outline: ReleaseOutline, domains: Mapping[str, Domain]
) -> dict[str, list[Value]]:
    """What a release shows for each value of its columns."""
    recipe = _read_recipe(outline)
    return {
        c: (
            [_drop_missing(t) for t in how.texts(d, recipe.marker)]
            if (how := recipe.columns.get(c))
            else list(d.labels)
        )
        for c, d in domains.items()
    }


def _read_recipe(outline: ReleaseOutline) -> Recipe:
    stated = outline.more.get("recipe")
    return Recipe.from_dict(stated) if stated else Recipe()


def _drop_missing(text: Value) -> Value:
    """An interval is called alike whether or not some value is missing."""
    return None if text is None else text.removeprefix("missing or ")


def _number_texts(texts: Sequence[Value]) -> list[int]:
    """The first code with the same text, for each: a a b gives 0 0 2."""
    first: dict[Value, int] = {}
    return [first.setdefault(text, code) for code, text in enumerate(texts)]


# Judging ----------------------------------------------------------------------------


def judge_deliveries(
    table: Table,
    new: ReleaseOutline,
    earlier: Sequence[EarlierRelease],
    questions: Sequence[JointQuestion],
    key: Path,
    run: Run,
) -> list[JointResult]:
    """Judge a new delivery together with earlier ones."""
    names = (*(e.entry.name for e in earlier), new.name)
    try:
        counts = _DeliveryCounts(table, new, tuple(earlier), key, run)
        history = counts.build(names)
        return [history.judge(q, newest_only=True) for q in questions]
    except (Misfit, TooLarge, InputError) as error:
        told = str(error)
    return [
        JointResult(q.promise, Verdict.UNDECIDED, reason=told, between=names)
        for q in questions
    ]


@dataclass(frozen=True, eq=False)
class _DeliveryCounts:
    """The new delivery, the earlier ones, and the values that any of them has."""

    table: Table
    new: ReleaseOutline
    earlier: tuple[EarlierRelease, ...]
    key: Path
    run: Run

    def build(self, names: tuple[str, ...]) -> DeliveryHistory:
        """Everybody ever delivered, by the deliveries they are in."""
        self._refuse()
        people: dict[Presence, Counter[Labels]] = defaultdict(Counter)
        pools = self._read_pools()
        last = len(self.earlier)
        for (row, seen), n in self._count_new().items():
            people[(*sorted(seen), last)][row] += n
            for i in seen:
                before = frozenset(s for s in seen if s < i)
                self._take(pools[i], self._show(i, row), before, n)
        for presence, rows in self._place_gone(pools).items():
            people[presence].update(rows)
        columns = tuple(
            JointColumn(c, tuple(self._labels(k)[c] for k in range(last + 1)))
            for c in self.columns
        )
        changed = {(i, last): e.changed for i, e in enumerate(self.earlier)}
        return DeliveryHistory(
            columns, people, names, self._universe_labels, changed=changed
        )

    def _refuse(self) -> None:
        for e in self.earlier:
            if not is_comparable(e, self.table) or e.entry.folder is None:
                raise Misfit(
                    joint_reasons.say_other_rows((e.entry.name, self.new.name))
                )
            if not (e.entry.folder / SHOWN).is_file():
                raise Misfit(words.say_not_counted(e.entry.name))
            if any(
                s.base != self.new.columns[c].base
                for c, s in e.outline.columns.items()
                if c in self.new.columns
            ):
                raise Misfit(
                    joint_reasons.say_other_rows((e.entry.name, self.new.name))
                )
        for i, one in enumerate(self.earlier):
            for other in self.earlier[:i]:
                files = _require_digests(one), _require_digests(other)
                if compare_digests(*files).same_rows:
                    raise Misfit(words.say_mixed(other.entry.name))

    # Values -------------------------------------------------------------------------

    @cached_property
    def outlines(self) -> list[ReleaseOutline]:
        """Of every delivery, the new one last."""
        return [*(e.outline for e in self.earlier), self.new]

    @cached_property
    def columns(self) -> list[str]:
        """Every column that some delivery shows."""
        shown = {c for o in self.outlines for c in o.columns}
        return [c for c in self.table.schema.names if c in shown]

    @cached_property
    def _domains(self) -> dict[str, Domain]:
        plain = replace(self.table, relabels={})
        return plain.domains(self.columns, self.run)

    @cached_property
    def _files(self) -> list[dict[str, list[Any]]]:
        """What each earlier delivery showed."""
        found = []
        for e in self.earlier:
            assert e.entry.folder is not None
            found.append(pq.read_table(e.entry.folder / SHOWN).to_pydict())
        if sum(len(f[PEOPLE]) for f in found) > MOST_ROWS:
            raise TooLarge(words.MANY_ROWS)
        return found

    @cached_property
    def universe(self) -> dict[str, Domain]:
        """The values of each column that any delivery has, in their order."""
        return {c: self._gather_values(c) for c in self.columns}

    @cached_property
    def _universe_labels(self) -> dict[str, Sequence[Value]]:
        return {c: list(d.labels) for c, d in self.universe.items()}

    def _gather_values(self, column: str) -> Domain:
        domain = self._domains[column]
        values = set(domain.labels)
        for outline, file in zip(self.outlines, self._files, strict=False):
            how = _read_recipe(outline).columns.get(column)
            if how is None:
                values |= set(file.get(column, ()))
            elif isinstance(how, Cut):
                values |= set(list_places(how, domain.kind))
            else:
                values |= {*how.hidden, *(how.shown or ()), *how.called}
        return Domain(column, _order(values, domain.kind), domain.kind)

    def _labels(self, k: int) -> dict[str, Labels]:
        return self._shown[k]

    @cached_property
    def _texts(self) -> list[dict[str, list[Value]]]:
        return [_show_values(o, self.universe) for o in self.outlines]

    @cached_property
    def _shown(self) -> list[dict[str, Labels]]:
        """For each delivery and column the label of each value; 0 where it lacks it."""
        return [
            {
                c: tuple(_number_texts(texts[c]))
                if c in outline.columns
                else (0,) * len(self.universe[c])
                for c in self.columns
            }
            for outline, texts in zip(self.outlines, self._texts, strict=True)
        ]

    def _show(self, k: int, row: Labels) -> Labels:
        return tuple(
            self._shown[k][c][v] for c, v in zip(self.columns, row, strict=True)
        )

    # People -------------------------------------------------------------------------

    def _count_new(self) -> Counter[tuple[Labels, frozenset[int]]]:
        """The new delivery by values, and by the earlier ones that have the row."""
        own = self.key.with_name("own.parquet")
        own.unlink(missing_ok=True)
        from privet.release.history import choose_columns, read_key, write_digests

        columns, person = choose_columns(self.table)
        write_digests(self.table, own, read_key(self.key), columns, person, self.run)
        at = {
            c: [self.universe[c].code(v) or 0 for v in self._domains[c].labels]
            for c in self.columns
        }
        # Of values that every delivery shows alike one stands for all.
        first = {c: self._merge_values(c) for c in self.columns}
        shown = {c: [first[c][v] for v in at[c]] for c in self.columns}
        files = [own, *(_require_digests(e) for e in self.earlier)]
        plain = replace(self.table, relabels={})
        return _count_marked(plain, files, self.columns, shown, self.key, self.run)

    def _merge_values(self, column: str) -> list[int]:
        labels = zip(*(s[column] for s in self._shown), strict=True)
        first: dict[tuple[int, ...], int] = {}
        return [first.setdefault(seen, v) for v, seen in enumerate(labels)]

    def _read_pools(self) -> list[Counter[tuple[Labels, frozenset[int]]]]:
        """Of each earlier delivery, the people who are not placed yet."""
        place = {e.entry.number: i for i, e in enumerate(self.earlier)}
        pools = []
        for k, file in enumerate(self._files):
            codes = [self._read_codes(k, c, file) for c in self.columns]
            pool: Counter[tuple[Labels, frozenset[int]]] = Counter()
            lines = zip(zip(*codes, strict=True), file[SEEN], file[PEOPLE], strict=True)
            for row, seen, n in lines:
                known = frozenset(place[i] for i in json.loads(seen) if i in place)
                pool[row, known] += n
            pools.append(pool)
        return pools

    def _read_codes(
        self, k: int, column: str, file: Mapping[str, list[Any]]
    ) -> Iterator[int]:
        """The first value that a delivery shows by each text of its file."""
        if column not in file:
            return iter([0] * len(file[PEOPLE]))
        first: dict[Value, int] = {}
        for code, text in enumerate(self._texts[k][column]):
            first.setdefault(text, code)
        missing = {t for t in file[column] if t not in first}
        if missing:
            raise Misfit(words.say_not_counted(self.earlier[k].entry.name))
        return (first[t] for t in file[column])

    def _take(
        self,
        pool: Counter[tuple[Labels, frozenset[int]]],
        row: Labels,
        seen: frozenset[int],
        n: int,
    ) -> None:
        pool[row, seen] -= n
        if pool[row, seen] < 0:
            raise Misfit(words.DIFFERENT_FILES)

    def _place_gone(
        self, pools: Sequence[Counter[tuple[Labels, frozenset[int]]]]
    ) -> dict[Presence, Counter[Labels]]:
        """Who is in earlier deliveries only: each row of a later one is somebody's of
        those before that have it, and looks there as the later one shows.

        Whose it is does not matter, as long as both files come out: parts are judged by
        what the coarser of two files shows.
        """
        found: dict[Presence, Counter[Labels]] = defaultdict(Counter)
        for k, pool in enumerate(pools):
            at = self._index_people(found, k)
            for (row, seen), n in pool.items():
                if not seen:
                    found[k,][row] += n
                    continue
                self._extend(found, at.get((tuple(sorted(seen)), row), []), k, seen, n)
        return found

    def _index_people(
        self, found: Mapping[Presence, Counter[Labels]], k: int
    ) -> dict[tuple[Presence, Labels], list[Labels]]:
        at: dict[tuple[Presence, Labels], list[Labels]] = defaultdict(list)
        for presence, rows in found.items():
            for row in rows:
                at[presence, self._show(k, row)].append(row)
        return at

    def _extend(
        self,
        found: dict[Presence, Counter[Labels]],
        rows: Sequence[Labels],
        k: int,
        seen: frozenset[int],
        n: int,
    ) -> None:
        """Let so many people of earlier deliveries be in this one, too."""
        before = tuple(sorted(seen))
        for row in rows:
            some = min(n, found[before][row])
            if some:
                found[before][row] -= some
                found[*before, k][row] += some
                n -= some
            if not n:
                return
        if n:
            raise Misfit(words.DIFFERENT_FILES)


def _order(values: set[Value], kind: str) -> list[Value]:
    from privet.microdata.recipe import choose_order

    place = choose_order(kind)
    try:
        return sorted(values, key=place)
    except ValueError:
        return sorted(values, key=lambda v: (v is not None, v or ""))
