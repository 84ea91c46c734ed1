"""Stars: K views that share one key; their worlds over whole tuples in closed form.

Wang, Lakshmanan 2006, section 6, leave K views as future work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

from privet.errors import InputError, TooLarge
from privet.views.counting import bipartite_covers
from privet.views.counting.share import Share, harris_bounds, union_bound
from privet.views.private_associations import PrivateAssociation
from privet.views.sql.view_tuples import ViewTuples

Key = tuple[set[int], set[int], tuple[int, ...]]
"""The people and values of a key, and how many tuples each view has in it."""


@dataclass(frozen=True)
class Star:
    """Views that share one key and nothing else."""

    keys: list[Key]
    """What is in each key."""

    def find_supported(self) -> set[tuple[int, int]]:
        """Who can meet which value at all."""
        return {
            (i, p) for people, values, _ in self.keys for i in people for p in values
        }

    def shares(self, person: int, value: int) -> list[Share]:
        """The share in each key in which they can meet."""
        return [
            star_share(sizes)
            for people, values, sizes in self._near.get(person, ())
            if value in values
        ]

    @cached_property
    def _near(self) -> dict[int, list[Key]]:
        found: dict[int, list[Key]] = defaultdict(list)
        for key in self.keys:
            for i in key[0]:
                found[i].append(key)
        return dict(found)


def find_star(secret: PrivateAssociation, seen: Sequence[ViewTuples]) -> Star | None:
    """The star that views make, if they make one."""
    columns = [set(t.columns) for t in seen]
    key = set.intersection(*columns)
    rest = [c - key for c in columns]
    if sum(map(len, rest)) != len(set.union(*rest)):
        return None
    if {secret.person} not in rest or {secret.secret} not in rest:
        return None
    # False sorts first: the view of people, that of values, then the others.
    order = sorted(
        range(len(rest)),
        key=lambda k: (rest[k] != {secret.person}, rest[k] != {secret.secret}, k),
    )
    tables = [_group_by_key(seen[k], sorted(key)) for k in order]
    if any(set(t) != set(tables[0]) for t in tables):
        raise InputError("Views must be of one table: their keys must be the same.")
    return Star(
        [
            (
                {row[0] for row in tables[0][k]},
                {row[0] for row in tables[1][k]},
                tuple(len(t[k]) for t in tables),
            )
            for k in sorted(tables[0])
        ]
    )


def _group_by_key(
    table: ViewTuples, key: Sequence[str]
) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    at = [table.columns.index(c) for c in key]
    rest = [j for j in range(len(table.columns)) if j not in at]
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
    for row in table.rows:
        found[tuple(row[j] for j in at)].add(tuple(row[j] for j in rest))
    return found


@lru_cache(maxsize=10_000)
def star_share(sizes: tuple[int, ...]) -> Share:
    """UIW/UPW of a key: exact, or by Harris and a union bound over its tuples."""
    try:
        return Share.of(bipartite_covers.star_rho(sizes))
    except TooLarge:
        pass
    first, second, *others = sizes
    each = prod(others)  # join tuples of one person and one value
    # By how many join tuples are left, without those of the pair: view tuples.
    left = Counter({(second - 1) * each: 1, second * each: first - 1})
    left += Counter({(first - 1) * each: 1, first * each: second - 1})
    for n in others:
        # Sizes (2, 3, 4): 24 join tuples, 6 for each of the 4, and 5 without the pair.
        left[(first * second - 1) * each // n] += n
    return harris_bounds(each, union_bound(left))
