"""Time and peak memory of a piece of work, each in a process of its own.

PRIVET_SMOKE=1 makes every benchmark small: all of its work and its checks, in seconds.
Bars are not judged then, for ratios of tiny sizes mean nothing.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

SMOKE = os.environ.get("PRIVET_SMOKE") == "1"
"""Whether this is a small run; what it starts sees the same variable."""

# What is measured keeps its modules compiled, as whoever installed privet does: where
# this is set, each start would compile them anew, which takes a third of a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

T = TypeVar("T")


def sized(full: T, small: T) -> T:
    """What a benchmark uses, and what it uses in a small run."""
    return small if SMOKE else full


TIMES = sized(3, 1)
"""How often something is timed, the best of which counts; others share the machine."""


def judged(good: bool) -> int:
    """Say whether the bars were kept; the exit code."""
    if SMOKE:
        print("a small run; bars are not judged")
        return 0
    print("within the bars" if good else "OVER THE BAR")
    return 0 if good else 1


@dataclass(frozen=True)
class Cost:
    """What one run cost."""

    seconds: float
    """Wall clock."""
    cpu: float
    """CPU seconds of the process."""
    peak: float
    """Peak memory in MiB above what the process had before the work."""

    def __str__(self) -> str:
        return f"{self.seconds:6.2f} s  {self.cpu:6.2f} cpu-s  {self.peak:7.0f} MiB"


def peak() -> float:
    """The most memory this process has held so far, in MiB.

    Linux tells it of the program alone; elsewhere it begins with that of the parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(x.split(":", 1) for x in status.read_text().splitlines())
        if "VmHWM" in lines:
            return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def costs(work: Callable[[], object]) -> Cost:
    """Run work once in this process."""
    before, wall, cpu = peak(), time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu, peak() - before)


def cpu(work: Callable[[], object], times: int = TIMES) -> float:
    """The fewest CPU seconds of a few runs."""
    return min(costs(work).cpu for _ in range(times))


def apart(script: str, *arguments: str) -> Cost:
    """Run a script of this folder in a new process; it prints its cost as JSON."""
    done = subprocess.run(
        [sys.executable, script, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def best(runs: list[Cost]) -> Cost:
    """The least times of several runs; memory is that of the largest."""
    seconds, cpu_ = min(r.seconds for r in runs), min(r.cpu for r in runs)
    return Cost(seconds, cpu_, max(r.peak for r in runs))


def in_turns(script: str, floor: str, ours: str, path: str) -> tuple[Cost, Cost]:
    """The best of each in turn, since the machine may be busy now and then."""
    pairs = side_by_side(script, floor, ours, path, TIMES)
    return best([f for f, _ in pairs]), best([o for _, o in pairs])


def side_by_side(
    script: str, floor: str, ours: str, path: str, times: int
) -> list[tuple[Cost, Cost]]:
    """Both, one right after the other, so that what slows one down slows the other."""
    return alternate(
        lambda: apart(script, floor, path), lambda: apart(script, ours, path), times
    )


def alternate(
    floor: Callable[[], Cost], ours: Callable[[], Cost], times: int
) -> list[tuple[Cost, Cost]]:
    """Pairs of both; the one that comes second comes first next time.

    A machine that becomes slower and slower would make whatever comes second look slow.
    """
    pairs = []
    for number in range(times):
        if number % 2:
            second, first = ours(), floor()
        else:
            first, second = floor(), ours()
        pairs.append((first, second))
    return pairs


def median_ratio(pairs: list[tuple[Cost, Cost]]) -> float:
    """How many times the CPU time of the floor: of half of the pairs, not more."""
    return median(ours.cpu / floor.cpu for floor, ours in pairs)


def start(
    work: dict[str, Callable[[str], object]], main: Callable[[int], int], rows: int
) -> None:
    """As a shell calls a benchmark: all of it, or one piece of its work by name."""
    if len(sys.argv) == 3:
        _, name, path = sys.argv
        print(json.dumps(asdict(costs(lambda: work[name](path)))))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else rows))


def folder() -> Path:
    """Where generated files are kept between runs."""
    place = Path(sized("build/benchmarks", "build/benchmarks/small"))
    place.mkdir(parents=True, exist_ok=True)
    return place
