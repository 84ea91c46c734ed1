"""Fuzz one reader for a time: by coverage with atheris, the service by chance alone.

What is found is kept once per place in the code, smallest input first, and fuzzing
goes on; only a hang or a lack of memory ends it.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
from pathlib import Path
from time import monotonic

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

MOST_BYTES = 30_000


def main() -> None:
    """Parse, and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader")
    parser.add_argument("found", type=Path, help="the folder for what is found")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    asked.found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        tempfile.tempdir = temporary
        if asked.reader == "http":
            fuzz_by_chance(asked)
        else:
            fuzz_by_coverage(asked)


class Findings:
    """Faults by their place, each with its smallest input, as files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, int] = {}
        self.tried = 0

    def try_input(self, reader: object, data: bytes) -> None:
        """Read an input; a fault is kept."""
        from fuzz.readers import attempt

        self.tried += 1
        fault = attempt(reader, data)  # type: ignore[arg-type]
        if fault is None:
            return
        name = hashlib.sha256(f"{fault.kind} {fault.place}".encode()).hexdigest()[:12]
        if len(data) < self._known.get(name, MOST_BYTES * 99):
            self._known[name] = len(data)
            (self._folder / name).write_bytes(data)
            told = f"{fault.kind}: {fault.place}\n\n{fault.told}"
            (self._folder / f"{name}.txt").write_text(told, "utf-8", "replace")


def fuzz_by_chance(asked: argparse.Namespace) -> None:
    """Seeds, and changes of them; what runs in another process has no coverage."""
    from fuzz.mutations import mutate
    from fuzz.readers import READERS

    reader, rng = READERS[asked.reader], random.Random(asked.seed)
    found, known = Findings(asked.found), [*reader.seeds(), *read_corpus(asked.reader)]
    end = monotonic() + asked.seconds
    for data in known:
        found.try_input(reader, data)
    while monotonic() < end:
        found.try_input(reader, mutate(rng.choice(known), rng, reader.words))
    print(f"stat::number_of_executed_units: {found.tried}", flush=True)


def fuzz_by_coverage(asked: argparse.Namespace) -> None:
    """Atheris keeps what reaches new code, and changes that."""
    import atheris

    with atheris.instrument_imports(include=["privet", "tomllib", "json"]):
        from fuzz.mutations import mutate
        from fuzz.readers import READERS, warm_up

        warm_up(READERS[asked.reader])
    reader, found = READERS[asked.reader], Findings(asked.found)

    def change(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.25:
            return bytes(atheris.Mutate(data, most))
        return mutate(data, rng, reader.words)[:most]

    corpus = Path(tempfile.mkdtemp(prefix="corpus"))
    for data in [*reader.seeds(), *read_corpus(asked.reader)]:
        (corpus / hashlib.sha256(data).hexdigest()).write_bytes(data)
    options = [
        *(f"-max_total_time={asked.seconds}", f"-seed={asked.seed}"),
        *("-timeout=60", "-rss_limit_mb=4000", f"-max_len={MOST_BYTES}"),
        *("-len_control=0", f"-artifact_prefix={asked.found}/", "-print_final_stats=1"),
    ]
    atheris.Setup(
        [sys.argv[0], *options, str(corpus)],
        lambda data: found.try_input(reader, data),
        custom_mutator=change,
    )
    atheris.Fuzz()  # ends the process


def read_corpus(reader: str) -> list[bytes]:
    """What was found before."""
    return [p.read_bytes() for p in sorted((HERE / "corpus" / reader).glob("*"))]


if __name__ == "__main__":
    main()
