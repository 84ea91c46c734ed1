"""Two files of the same rows: the fast beliefs equal a listing of all worlds."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest

from privet.errors import InputError
from privet.release.joint.same_rows import JointColumn, Labels, SameRows

Rows = Sequence[Labels]

CASES = int(os.environ.get("PRIVET_CASES", "64"))


def show(columns: Sequence[JointColumn], k: int, rows: Rows) -> Counter[Labels]:
    """The file of release k."""
    return Counter(
        tuple(c.labels[k][v] for c, v in zip(columns, row, strict=True)) for row in rows
    )


def release(columns: Sequence[JointColumn], rows: Rows) -> SameRows:
    kinds = range(len(columns[0].labels))
    return SameRows(tuple(columns), tuple(show(columns, k, rows) for k in kinds))


def list_worlds(releases: SameRows, people: int) -> Iterator[Rows]:
    """Every way to give each person a raw row such that all files come out."""
    columns = releases.columns
    raw = list(product(*(range(len(c.labels[0])) for c in columns)))
    kinds = range(len(releases.files))
    for world in product(raw, repeat=people):
        if all(show(columns, k, world) == releases.files[k] for k in kinds):
            yield world


def believe(
    worlds: Sequence[Rows], known: Labels, values: Labels, about: int
) -> dict[int, Fraction]:
    """The share of (world, person) with these known values who have each value."""
    found: Counter[int] = Counter()
    for world in worlds:
        for row in world:
            if tuple(row[i] for i in known) == values:
                found[row[about]] += 1
    return {v: Fraction(n, found.total()) for v, n in found.items()}


def draw_labels(draw: random.Random, size: int) -> Labels:
    """All shown, some hidden as one, intervals, any labels, or no column."""
    kind = draw.choice(["shown", "hidden", "cut", "any", "lacking"])
    if kind == "shown":
        return tuple(range(size))
    if kind == "hidden":
        hidden = [draw.random() < 0.5 for _ in range(size)]
        return tuple(size if h else v for v, h in enumerate(hidden))
    if kind == "cut":
        edge = draw.randrange(size)
        return tuple(int(v > edge) for v in range(size))
    if kind == "any":
        return tuple(draw.randrange(size) for _ in range(size))
    return (0,) * size


def draw_case(
    draw: random.Random, releases: int = 2
) -> tuple[tuple[JointColumn, ...], Rows]:
    sizes = draw.choice([(3, 2), (2, 2, 2), (3, 1, 2), (4, 2), (3, 2, 2)])
    columns = tuple(
        JointColumn(f"c{i}", tuple(draw_labels(draw, n) for _ in range(releases)))
        for i, n in enumerate(sizes)
    )
    people = draw.randint(1, 5 if prod(sizes) <= 8 else 4)
    return columns, [tuple(draw.randrange(n) for n in sizes) for _ in range(people)]


def prod(sizes: Sequence[int]) -> int:
    return len(list(product(*map(range, sizes))))


@pytest.mark.parametrize("seed", range(8))
def test_beliefs_equal_a_listing_of_all_worlds(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(CASES // 8):
        columns, rows = draw_case(draw)
        releases = release(columns, rows)
        worlds = list(list_worlds(releases, len(rows)))
        about = len(columns) - 1
        known = tuple(i for i in range(about) if draw.random() < 0.7)
        judged = releases.judge_knowledge(
            [columns[i].name for i in known], columns[-1].name
        )
        for values in {tuple(row[i] for i in known) for row in rows}:
            slow = believe(worlds, known, values, about)
            fast = judged.beliefs(values)
            assert slow == {v: b for v, b in fast.items() if b}
            most = judged.bounds(values)
            assert all(b <= most[v] for v, b in slow.items())


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_for_three_releases_in_every_single_world(seed: int) -> None:
    """Whichever world it is: of those who fit in all files no larger share has v."""
    draw = random.Random(100 + seed)
    for _ in range(CASES // 8):
        columns, rows = draw_case(draw, releases=3)
        releases = release(columns, rows)
        judged = releases.judge_knowledge(
            [c.name for c in columns[:-1]], columns[-1].name
        )
        worlds = list(list_worlds(releases, len(rows)))
        for values in {row[:-1] for row in rows}:
            most = judged.bounds(values)
            for world in worlds:
                fitting = [r for r in world if look_alike(columns, r[:-1], values)]
                for v, b in believe([fitting], (), (), len(columns) - 1).items():
                    assert b <= most[v]


def look_alike(columns: Sequence[JointColumn], one: Labels, other: Labels) -> bool:
    """Whether no release tells these values apart."""
    together = zip(columns, one, other, strict=False)
    return all(shown[a] == shown[b] for c, a, b in together for shown in c.labels)


def test_files_alone_may_tell_more_than_matched_rows() -> None:
    """Job in one release, city in the other: matched 1/2, by the files 19/21."""
    t, a, b, c = range(4)
    rows: list[Labels] = [(t, 0, 1)] * 5 + [(t, 0, 0)] * 5 + [(a, 1, 1)] * 5
    for job, city in product((a, b, c), (1, 2, 3)):
        rows += [(job, city, 0)] * 10
    job = JointColumn("job", (tuple(range(4)), (0,) * 4))
    city = JointColumn("city", ((0,) * 4, tuple(range(4))))
    hiv = JointColumn("hiv", ((0, 1), (0, 1)))
    judged = release([job, city, hiv], rows).judge_knowledge(["job", "city"], "hiv")
    assert Fraction(19, 21) == judged.beliefs((t, 0))[1]
    assert Fraction(19, 91) == judged.beliefs((a, 1))[1]
    assert Fraction(1) == judged.bounds((t, 0))[1]
    alone = release([job, city, hiv], rows).judge_knowledge(["job"], "hiv")
    assert Fraction(1, 2) == alone.beliefs((t,))[1]


def test_different_values_hidden_in_a_column_that_both_show() -> None:
    p, q, r = range(3)
    x, y, z = range(3)
    rows: list[Labels] = [
        *[(p, x, 0), (p, x, 1), (p, z, 0), (p, z, 0)],
        *[(q, z, 0), (r, x, 0), (r, x, 1), (r, y, 1)],
    ]
    a = JointColumn("a", ((p, 9, 9), (9, q, 9)))
    b = JointColumn("b", ((x, y, z), (0, 0, 0)))
    s = JointColumn("s", ((0, 1), (0, 1)))
    judged = release([a, b, s], rows).judge_knowledge(["a", "b"], "s")
    assert Fraction(2, 3) == judged.beliefs((r, x))[1]


def test_files_of_other_rows_are_refused() -> None:
    a = JointColumn("a", ((0, 1), (0, 1)))
    with pytest.raises(InputError, match="must show the same rows"):
        SameRows((a,), ({(0,): 2}, {(0,): 1, (1,): 1}))
