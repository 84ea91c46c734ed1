"""Fuzz all readers, so many seconds in all: `make fuzz`.

Ends with 1 if anything but a clear error came out, and says how to see it again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOUND = HERE.parents[1] / "build" / "fuzz"
READERS = {"policy": 2, "design": 1, "query": 1, "manifest": 3, "csv": 4, "http": 1}
READERS["foreign"] = 4
"""Each with its share of the time: what opens files anew is slower."""


def main() -> int:
    """Each reader in a process of its own, for its share of the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", help=f"some of {', '.join(READERS)}")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    asked = parser.parse_args()
    readers = {name: READERS[name] for name in asked.readers or READERS}
    shutil.rmtree(FOUND, ignore_errors=True)
    share = asked.seconds / sum(readers.values())
    bad = [r for r, n in readers.items() if not fuzz(r, int(share * n), asked.seed)]
    if bad:
        print(f"Not only clear errors: {', '.join(bad)}. Each input is in {FOUND};")
        print("mend it, and put the input into tests/fuzz/corpus: it is a test then.")
    return bool(bad)


def fuzz(reader: str, seconds: int, seed: int) -> bool:
    """Whether a reader gave nothing but clear errors."""
    folder = FOUND / reader
    # In CI the same inputs come each time: what is refused there can be seen again.
    fresh = 1 if "CI" in os.environ else int.from_bytes(os.urandom(3), "big") + 1
    seed = seed or fresh
    command = [sys.executable, str(HERE / "target.py"), reader, str(folder)]
    done = subprocess.run(
        [*command, f"--seconds={max(1, seconds)}", f"--seed={seed}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "PRIVET_DEBUG": "1"},
        check=False,
    )
    tried = re.findall(r"number_of_executed_units: *(\d+)", done.stdout)
    ended = done.returncode == 0 and bool(tried)
    print(f"{reader}: {tried[-1] if tried else '?'} inputs, seed {seed}", flush=True)
    if not ended:
        print(f"{reader} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    told = sorted(folder.glob("*.txt"))
    for file in told:
        print(f"--- {file.with_suffix('')}\n{file.read_text('utf-8')[-1500:]}")
    return ended and not told


if __name__ == "__main__":
    sys.exit(main())
