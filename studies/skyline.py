"""The case study of the privacy skyline: Adult in (3,6)-diverse groups.

    PRIVET_DATA=folder python studies/skyline.py

The 45,222 complete rows of both Adult files, sensitive occupation, are put into groups
that are (3,6)-diverse. What could an insider still learn? The slides list seven most
knowing insiders who stay below 95 %: (l, k, m) values ruled out, people known, people
with the same value. Chen, Ramakrishnan, LeFevre 2007, talk.
"""

from __future__ import annotations

import sys
from collections import Counter
from time import process_time

import result_files
import uci

import privet as pv

QUASI = (
    *("age", "workclass", "education", "marital-status"),
    *("relationship", "race", "sex", "native-country"),
)
SENSITIVE = "occupation"
CONFIDENCE = "0.95"
SLIDES = [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 2), (2, 1, 3), (4, 0, 3), (3, 0, 4)]
"""The seven points of the slides, which do not say which columns make the groups."""
DIVERSE = pv.Measure(recursive_l_diversity=6, c=3)
"""(3,6)-diversity: the point (4,0,0) at 3/4."""


def table(folder: object) -> pv.Table:
    """The complete rows with the columns of the study."""
    data = uci.ADULT.with_numbers()
    rows = uci.read_rows(data, folder)  # type: ignore[arg-type]
    rows = rows.select([*QUASI, SENSITIVE])
    rows = rows.take(list(range(0, len(rows), uci.sized(1, 10))))
    age = rows.column_names.index("age")
    rows = rows.set_column(age, "age", rows["age"].cast("int64"))
    return pv.read(rows, quasi=QUASI, sensitive=SENSITIVE)


def found(people: pv.Table) -> tuple[pv.Release, list[tuple[int, int, int]]]:
    """The release, and its skyline at the slides' confidence."""
    release = pv.publish(people, [DIVERSE], method=pv.Mondrian())
    frontier = pv.skyline(release.table.groups(SENSITIVE), confidence=CONFIDENCE)
    return release, sorted(tuple(point) for point in frontier.points)


def below(point: tuple[int, ...], points: list[tuple[int, int, int]]) -> bool:
    """Whether an insider who knows at least as much is still unsure."""
    return any(all(a <= b for a, b in zip(point, p, strict=True)) for p in points)


def culprits(
    release: pv.Release, points: list[tuple[int, int, int]]
) -> list[tuple[tuple[int, int, int], list[int], float]]:
    """The group in which an insider is surest, if all they know is about it."""
    groups = list(release.table.groups(SENSITIVE).histograms())
    shapes = {tuple(sorted(h.values(), reverse=True)) for h in groups}
    rows = []
    for point in points:
        who = pv.Insider(*point)
        surest = max(shapes, key=lambda shape: (_sure(shape, who), shape))
        rows.append((point, list(surest), _sure(surest, who)))
    return rows


def _sure(shape: tuple[int, ...], who: pv.Insider) -> float:
    values = {str(i): n for i, n in enumerate(shape)}
    return float(pv.belief(pv.Groups.from_histograms([values]), who).posterior)


def case_study(
    sizes: list[int], points: list[tuple[int, int, int]]
) -> result_files.Result:
    """The points of both skylines, and what the groups are like."""
    corners = [
        {"of": name, "l": l, "k": k, "m": m}
        for name, several in (("here", points), ("slides", sorted(SLIDES)))
        for l, k, m in several
    ]
    often = Counter(sizes)
    groups = [{"size": size, "groups": often[size]} for size in sorted(often)]
    command = "python studies/skyline.py"
    figures = {"corners": corners, "groups": groups}
    return result_files.Result.of(command, figures, dict.fromkeys(figures, 0.0))


def main() -> int:
    """Make the groups and compare their skyline with the slides'."""
    folder = uci.find_checked()
    if folder is None:
        return 0
    start = process_time()
    with table(folder) as people:
        rows = len(people)
        release, points = found(people)
    groups = release.table.groups(SENSITIVE)
    sizes = [sum(group.values()) for group in groups.histograms()]
    print(f"Adult: {rows:,} complete rows, sensitive {SENSITIVE}, {len(QUASI)} columns")
    print(f"{len(sizes):,} groups of {min(sizes)} to {max(sizes)} people, all of them")
    print("(3,6)-diverse. Who stays below 95 %, as (l, k, m):")
    print(f"  here    {points}")
    print(f"  slides  {sorted(SLIDES)}")
    safe = [p for p in SLIDES if below(p, points)]
    print(f"{len(safe)} of the 7 points of the slides are safe here as well.")
    print("The others fail in groups that are skewed, though (3,6)-diverse:")
    for point, counts, belief in culprits(
        release, [p for p in SLIDES if p not in safe]
    ):
        print(f"  {point}: {belief:.1%} in a group with the counts {counts}")
    beyond = [p for p in points if not below(p, SLIDES)]
    print(f"Beyond the slides' points: {beyond or 'none'}")
    print(f"{process_time() - start:.1f} CPU seconds.")
    return 0 if result_files.keep("skyline", case_study(sizes, points)) else 1


if __name__ == "__main__":
    sys.exit(main())
