"""How much faster SkylineCheck is than a dynamic program, as the talk shows it.

    python studies/skyline_speed.py

1 to 5 million rows in 100,000 groups, made up, with 30 skewed values. An insider's
worst case by the congregation property beside the dynamic program of Martin et al.,
which tries every way to spread people over groups; both compiled, on groups that are
counted already. The program is slow: for the most knowing insiders it is timed on a
tenth of the groups, and scaled, which is fair because its time is so much per group.
Both run on one machine in one run, so that their ratio is kept; seconds are not. Chen,
Ramakrishnan, LeFevre 2007, talk: "Efficiency of SkylineCheck".
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import result_files
import uci

import privet as pv

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ROWS = uci.sized((1, 2, 3, 4, 5), (0.02,))
"""Millions of rows, as on the slide."""
KNOWN = ((10, 10, 10), (10, 5, 5), (0, 5, 5), (10, 2, 2))
"""Values ruled out, people known, people with the same value; the slide's is first."""
MOST_WHOLE = 5
"""The dynamic program is run on all groups for insiders who know so many people."""
PART = 10


def import_benchmark(name: str) -> Any:
    """A benchmark: that of the skyline has the data and the dynamic program."""
    sys.path.insert(0, str(BENCHMARKS))
    place = BENCHMARKS / f"{name}.py"
    spec = spec_from_file_location(f"{name}_benchmark", place)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[spec.name] = found  # where its dataclasses look for their module
    spec.loader.exec_module(found)
    return found


def judge(groups: pv.Groups, who: tuple[int, int, int]) -> float:
    """The worst belief, by SkylineCheck."""
    return float(pv.belief(groups, pv.Insider(*who)).posterior)


def compare(bench: Any, millions: float) -> Iterator[result_files.Row]:
    """Both ways, for each insider: how many times faster ours is."""
    path = bench.make(int(millions * 1_000_000))
    groups, rows = bench.groups_of(path), bench.Ranked.of(path)
    run = bench.program()
    for l, k, m in KNOWN:
        part = 1 if m <= MOST_WHOLE else PART
        some = rows.few(len(rows) // part)
        found: list[float] = []

        def by_program(some: Any = some, l: int = l, m: int = m) -> float:
            args = (some.start, some.value, some.count, some.total, some.tail(l))
            return float(run(*args, bench.VALUES, m))

        def by_check(who: tuple[int, int, int] = (l, k, m)) -> float:
            return judge(groups, who)

        by_check()  # compiles it
        run(*_few(rows, l), bench.VALUES, m)
        slow = bench.cpu(lambda f=found, p=by_program: f.append(p()), 1) * part
        own = bench.cpu(by_check)
        if part == 1:
            assert abs(1 / (1 + found[0]) - by_check()) < 1e-9, "the program disagrees"
        yield {"rows": millions, "l": l, "k": k, "m": m, "times": slow / own}


def _few(rows: Any, l: int) -> tuple[Any, ...]:
    few = rows.few(10)
    return few.start, few.value, few.count, few.total, few.tail(l)


def main() -> int:
    """Time both ways for every number of rows."""
    bench = import_benchmark("skyline")
    speed = []
    for millions in ROWS:
        for row in compare(bench, millions):
            speed.append(row)
            who = (row["l"], row["k"], row["m"])
            print(f"{millions:g} million rows, {who}: {row['times']:,.0f} times faster")
    command = "python studies/skyline_speed.py"
    result = result_files.Result.of(command, {"speed": speed}, {"speed": None})
    return 0 if result_files.keep("skyline_speed", result) else 1


if __name__ == "__main__":
    sys.exit(main())
