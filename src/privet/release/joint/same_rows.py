"""Releases of the same rows: how sure somebody is who has the files and nothing else.

Each release shows raw values as labels: the value itself, an interval, a marker for all
that is hidden, or nothing at all (one label) where it lacks the column. A world gives
every person a raw row such that all files come out as they are; all worlds are equally
likely. Who can match the rows sees the common refinement, which is one ordinary count;
neither attacker bounds the other, so both are judged.

People move between labels of two releases only within a *component*: for each column
the labels that raw values link, directly or through others. A column whose labels are
all linked alike in a component is *free*: there the rows of one file meet those of the
other as in a shuffle, and A of n rows meet B of n in A B / n people on average. For the
other columns the number of people on each link follows from the margins if the links
have no cycle, and is averaged over the tables with these margins otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from privet.errors import InputError, TooLarge

Labels = tuple[int, ...]
"""A label per column, or the label of each raw value."""
Link = tuple[Labels, Labels]
"""Labels of the first release and of the second that some people have."""

MOST_TABLES = 1_000_000
"""Tables with given margins that are averaged over, per component."""


@dataclass(frozen=True)
class JointColumn:
    """A column as each release shows it.

    >>> JointColumn("age", ((0, 0, 1), (0, 1, 1))).blocks
    (0, 0, 0)
    """

    name: str
    labels: tuple[Labels, ...]
    """For each release the label of each raw value; all 0 where it has no column."""

    @cached_property
    def blocks(self) -> Labels:
        """The block of each raw value: what labels link, in all releases together."""
        block = list(range(len(self.labels[0])))
        for shown in self.labels:
            first: dict[int, int] = {}
            for value, label in enumerate(shown):
                at, with_it = _root(block, value), first.setdefault(label, value)
                block[at] = _root(block, with_it)
        return tuple(_root(block, value) for value in range(len(block)))

    @cached_property
    def block_of(self) -> tuple[dict[int, int], ...]:
        """For each release the block of each label."""
        # Values with one label are in one block: any of them tells it.
        return tuple(dict(zip(s, self.blocks, strict=True)) for s in self.labels)

    @cached_property
    def weights(self) -> Counter[tuple[int, int]]:
        """How many raw values the first two releases show by each pair of labels."""
        return Counter(zip(*self.labels[:2], strict=True))

    def is_free(self, block: int) -> bool:
        """Whether every pair of labels is linked, in the same proportions everywhere.

        Rank one: w(a, b) w(c, d) = w(a, d) w(c, b).
        """
        rows = [{s for s, b in of.items() if b == block} for of in self.block_of[:2]]
        w, a, b = self.weights, min(rows[0]), min(rows[1])
        return w[a, b] > 0 and all(
            w[c, d] * w[a, b] == w[a, d] * w[c, b] for c, d in product(*rows)
        )


def _root(block: list[int], value: int) -> int:
    while block[value] != value:
        # Each value points past its parent, which keeps the next walk short.
        block[value] = block[block[value]]
        value = block[value]
    return value


@dataclass(frozen=True, eq=False)
class SameRows:
    """Two files, or more, of the same rows, as counts of label tuples."""

    columns: tuple[JointColumn, ...]
    """Every column of any release, the sensitive one included."""
    files: tuple[Mapping[Labels, int], ...]
    """For each release, how many rows show each tuple of labels."""

    def __post_init__(self) -> None:
        first, *others = self._people
        if any(first != other for other in others):
            raise InputError(
                "Releases must show the same rows to be judged together; these do not."
            )

    def _component(self, k: int, row: Labels) -> Labels:
        """The block of each column in which a row of release k lies."""
        return tuple(c.block_of[k][s] for c, s in zip(self.columns, row, strict=True))

    @cached_property
    def _people(self) -> tuple[Counter[Labels], ...]:
        """For each release, how many people are in each component."""
        found: tuple[Counter[Labels], ...] = tuple(Counter() for _ in self.files)
        for k, file in enumerate(self.files):
            for row, n in file.items():
                found[k][self._component(k, row)] += n
        return found

    @cached_property
    def _bound_columns(self) -> dict[Labels, tuple[int, ...]]:
        """The columns that are not free, component by component."""
        free = [{b: c.is_free(b) for b in set(c.blocks)} for c in self.columns]
        return {
            component: tuple(i for i, b in enumerate(component) if not free[i][b])
            for component in self._people[0]
        }

    @cached_property
    def _links(self) -> dict[Labels, _Links]:
        """The people on each link of each component, on average over worlds."""
        margins: tuple[dict[Labels, Counter[Labels]], ...] = (
            defaultdict(Counter),
            defaultdict(Counter),
        )
        for k, file in enumerate(self.files[:2]):
            for row, n in file.items():
                component = self._component(k, row)
                margins[k][component][self._pick_bound(component, row)] += n
        return {
            component: _Links(
                margins[0][component],
                margins[1][component],
                [self.columns[i].weights for i in self._bound_columns[component]],
            )
            for component in self._people[0]
        }

    def _pick_bound(self, component: Labels, row: Labels) -> Labels:
        return tuple(row[i] for i in self._bound_columns[component])

    def judge_knowledge(self, known: Sequence[str], about: str) -> KnownColumns:
        """Judge somebody who knows raw values of these columns."""
        names = [c.name for c in self.columns]
        return KnownColumns(
            self, tuple(names.index(c) for c in known), names.index(about)
        )


@dataclass(frozen=True, eq=False)
class KnownColumns:
    """What somebody who knows some columns of a person makes of the files."""

    releases: SameRows
    known: tuple[int, ...]
    about: int

    @cached_property
    def _rows(self) -> tuple[dict[Labels, list[tuple[Labels, Labels, int, int]]], ...]:
        """For each release: component, bound labels, label asked about and people of
        the rows with given labels of the known columns.
        """
        found: list[dict[Labels, list[tuple[Labels, Labels, int, int]]]] = []
        for k, file in enumerate(self.releases.files):
            at: dict[Labels, list[tuple[Labels, Labels, int, int]]] = defaultdict(list)
            for row, n in file.items():
                component = self.releases._component(k, row)
                bound = self.releases._pick_bound(component, row)
                at[tuple(row[i] for i in self.known)].append(
                    (component, bound, row[self.about], n)
                )
            found.append(at)
        return tuple(found)

    def _select(
        self, k: int, values: Labels
    ) -> dict[int, dict[Labels, Counter[Labels]]]:
        """Rows of release k that fit these raw values: label asked about, component,
        bound labels, people.
        """
        columns = [self.releases.columns[i] for i in self.known]
        labels = tuple(c.labels[k][v] for c, v in zip(columns, values, strict=True))
        found: dict[int, dict[Labels, Counter[Labels]]] = {}
        for component, bound, label, n in self._rows[k].get(labels, ()):
            cell = found.setdefault(label, {}).setdefault(component, Counter())
            cell[bound] += n
        return found

    def beliefs(self, values: Labels) -> dict[int, Fraction]:
        """How sure one is of each raw value of a person with these known values.

        Of two releases; nothing if no row fits.

        Raises
        ------
        TooLarge
            Where too many tables have the margins of the files.
        """
        first, second = (self._select(k, values) for k in range(2))
        asked = self.releases.columns[self.about]
        expected = {
            pair: self._expect_people(first.get(pair[0], {}), second.get(pair[1], {}))
            for pair in asked.weights
        }
        total = sum(expected.values())
        return {
            # Raw values with the same two labels share these people equally.
            value: expected[pair] / (asked.weights[pair] * total)
            for value, pair in enumerate(zip(*asked.labels[:2], strict=True))
            if total
        }

    def _expect_people(
        self,
        first: Mapping[Labels, Mapping[Labels, int]],
        second: Mapping[Labels, Mapping[Labels, int]],
    ) -> Fraction:
        """X: people who fit in both files, on average over worlds."""
        total = Fraction(0)
        for component in first.keys() & second.keys():
            links = self.releases._links[component]
            for (a, n), (b, m) in product(
                first[component].items(), second[component].items()
            ):
                if on_link := links.people.get((a, b)):
                    # Of the links' people the first file's n rows are n / n_1(a).
                    people, shares = on_link.as_integer_ratio()
                    shares *= links.first[a] * links.second[b]
                    total += Fraction(people * n * m, shares)
        return total

    def bounds(self, values: Labels) -> dict[int, Fraction]:
        """No belief about who has which labels makes one surer of a value than this.

        Of any number of releases; raw values with the same labels are equally likely.
        In one component of n people with A_k rows of a label
        in release k, between max(0, sum A_k - (K - 1) n) and min A_k people have it in
        all of them.
        """
        fits = [self._select(k, values) for k in range(len(self.releases.files))]
        asked = self.releases.columns[self.about]
        least: dict[Labels, int] = {}
        most: dict[Labels, int] = {}
        for labels in set(zip(*asked.labels, strict=True)):
            least[labels] = most[labels] = 0
            shown = [f.get(s, {}) for f, s in zip(fits, labels, strict=True)]
            for component in set.intersection(*(set(s) for s in shown)):
                counts = [sum(s[component].values()) for s in shown]
                people = self.releases._people[0][component]
                # 8 and 7 of 10 people: from 5 to 7 of them are in both.
                least[labels] += max(0, sum(counts) - (len(fits) - 1) * people)
                most[labels] += min(counts)
        others = sum(least.values())
        return {
            value: Fraction(most[labels], most[labels] + others - least[labels])
            for value, labels in enumerate(zip(*asked.labels, strict=True))
            if most[labels]
        }


@dataclass(frozen=True, eq=False)
class _Links:
    """The labels of one component's bound columns, and who has which pair of them."""

    first: Counter[Labels]
    """How many rows of the first file have each tuple of labels."""
    second: Counter[Labels]
    weights: Sequence[Mapping[tuple[int, int], int]]
    """Of each bound column, how many raw values have each pair of labels."""

    def _weigh(self, a: Labels, b: Labels) -> int:
        return prod(
            w[p] for w, p in zip(self.weights, zip(a, b, strict=True), strict=True)
        )

    @cached_property
    def people(self) -> dict[Link, Fraction]:
        """The people on each link, on average over worlds."""
        pairs = [
            (a, b) for a, b in product(self.first, self.second) if self._weigh(a, b)
        ]
        settled, open_pairs = _strip_leaves(self.first, self.second, pairs)
        if not open_pairs:
            return settled
        return settled | self._average_tables(settled, open_pairs)

    def _average_tables(
        self, settled: Mapping[Link, Fraction], pairs: Sequence[Link]
    ) -> dict[Link, Fraction]:
        """The mean over tables with what is left of the margins, each as often as
        there are worlds with it: the product of w**T / T! over links.
        """
        rows, columns = Counter(self.first), Counter(self.second)
        for (a, b), n in settled.items():
            rows[a] -= int(n)
            columns[b] -= int(n)
        total, sums = Fraction(0), dict.fromkeys(pairs, Fraction(0))
        weights = [self._weigh(a, b) for a, b in pairs]
        for number, table in enumerate(_list_tables(pairs, rows, columns)):
            if number == MOST_TABLES:
                raise TooLarge(
                    f"At most {MOST_TABLES} tables can be averaged over; more have the "
                    "margins that the releases show."
                )
            chance = Fraction(1)
            for w, t in zip(weights, table, strict=True):
                for i in range(1, t + 1):
                    # w**t / t!: two people on a link of one raw value, 1/2.
                    chance *= Fraction(w, i)
            total += chance
            for pair, t in zip(pairs, table, strict=True):
                sums[pair] += chance * t
        return {pair: n / total for pair, n in sums.items()}


def _strip_leaves(
    first: Mapping[Labels, int], second: Mapping[Labels, int], pairs: Sequence[Link]
) -> tuple[dict[Link, Fraction], list[Link]]:
    """Links whose people follow from the margins, and those in cycles.

    A label with one link left sends everybody along it. Ages 1..3 shown as {1, 2}, {3}
    by one file and {1}, {2, 3} by the other, 5 + 5 and 4 + 6 people: {3} has one link,
    so 5 people of {2, 3} are there, the sixth is on {1, 2}-{2, 3}, and 4 on {1, 2}-{1}.
    """
    left: dict[tuple[int, Labels], int] = {(0, a): n for a, n in first.items()}
    left |= {(1, b): n for b, n in second.items()}
    links: dict[tuple[int, Labels], set[Link]] = defaultdict(set)
    for a, b in pairs:
        links[0, a].add((a, b))
        links[1, b].add((a, b))
    settled: dict[Link, Fraction] = {}
    leaves = [end for end, of in links.items() if len(of) == 1]
    while leaves:
        end = leaves.pop()
        if len(links[end]) != 1:
            continue
        (link,) = links[end]
        other = (1, link[1]) if end[0] == 0 else (0, link[0])
        settled[link] = Fraction(left[end])
        left[other] -= left[end]
        left[end] = 0
        links[end].clear()
        links[other].discard(link)
        if len(links[other]) == 1:
            leaves.append(other)
    return settled, [p for p in pairs if p not in settled]


def _list_tables(
    pairs: Sequence[Link], rows: Mapping[Labels, int], columns: Mapping[Labels, int]
) -> Iterator[list[int]]:
    """Every way to put people on links such that both margins come out."""
    left: dict[tuple[int, Labels], int] = {(0, a): rows[a] for a, _ in pairs}
    left |= {(1, b): columns[b] for _, b in pairs}
    last = {(side, p[side]): i for i, p in enumerate(pairs) for side in (0, 1)}
    table = [0] * len(pairs)

    def fill(i: int) -> Iterator[list[int]]:
        if i == len(pairs):
            yield list(table)
            return
        ends = (0, pairs[i][0]), (1, pairs[i][1])
        most = min(left[e] for e in ends)
        # The last link of a label takes all that is left of it.
        least = max((left[e] for e in ends if last[e] == i), default=0)
        # Empty where a label has more left than the other end of its last link.
        for n in range(least, most + 1):
            table[i] = n
            for e in ends:
                left[e] -= n
            yield from fill(i + 1)
            for e in ends:
                left[e] += n
        table[i] = 0

    return fill(0)
