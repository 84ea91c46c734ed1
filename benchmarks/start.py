"""How long it takes to begin: `privet --help` and `import privet`.

    python benchmarks/start.py

The bars: the help at most three times `import click`, the import at most 1.5 times
`import duckdb, numpy`. Each is the least of ten starts of the interpreter.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from measure import judged, sized

STARTS = sized(10, 2)


def seconds(*command: str) -> float:
    """The least time of several runs; others share the machine."""
    times = []
    for _ in range(STARTS):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return min(times)


def compare(what: str, ours: float, than: str, floor: float, bar: float) -> bool:
    """Print one line; whether it is within the bar."""
    ratio = ours / floor
    print(f"  {what} {ours:.3f} s, {than} {floor:.3f} s: {ratio:.2f} (bar {bar})")
    return ratio <= bar


def main() -> int:
    python, privet = sys.executable, str(Path(sys.executable).with_name("privet"))
    print(f"least of {STARTS} starts")
    good = [
        compare(
            "privet --help",
            seconds(privet, "--help"),
            "import click",
            seconds(python, "-c", "import click"),
            3,
        ),
        compare(
            "import privet",
            seconds(python, "-c", "import privet"),
            "import duckdb, numpy",
            seconds(python, "-c", "import duckdb, numpy"),
            1.5,
        ),
    ]
    return judged(all(good))


if __name__ == "__main__":
    sys.exit(main())
