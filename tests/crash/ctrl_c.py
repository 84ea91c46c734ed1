"""Ctrl-C at random moments of every release command; part of `make test-crash`.

A command that is stopped ends with 130 and leaves everything as it was; one that is
not stopped any more ends with 0 and a whole release. There is nothing between.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

import privet as pv
from crash.scenarios import LEFT, list_tree

ROWS = 60_000
SOON = 2.0
"""Seconds within which a command has ended after Ctrl-C."""

POLICY = """\
[columns]
quasi = ["job", "city", "age"]
sensitive = ["ill"]
target = "sex"

[[promise]]
against = "linker"
about = { ill = "a" }
at_most = 0.8

[[promise]]
name = "all columns"
against = "linker"
knows = ["job", "city", "age", "sex"]
about = { ill = "a" }
at_most = 0.8

[[promise]]
name = "no mind is moved"
against = "bayesian"
about = "sex"
from = 0.51
to = 0.9

[[accepted]]
of = "inversion"
why = "nobody lives here"
who = "nobody"
"""

GROUPS = """\
measure = [{ k_anonymity = 5 }]

[columns]
quasi = ["job", "city", "age"]
sensitive = ["ill"]
other = ["sex"]

[[promise]]
against = "linker"
about = { ill = "a" }
at_most = 0.8
"""

VIEWS = """\
view = [{ name = "homes", columns = ["city"] }, { name = "ills", columns = ["ill"] }]

[columns]
identifier = ["city"]
sensitive = ["ill"]
other = ["job", "age", "sex"]

[[promise]]
against = "reconstructor"
model   = "restricted"
at_most = 0.5
"""

DESIGN = """\
question = [
    { name = "sex", values = ["f", "m"], truth = 0.6 },
    { name = "ill", values = ["a", "b", "c", "d"], truth = 0.6 },
]
"""

ANSWERS = """\
promise = [
    { against = "bayesian", about = "sex", within = 9 },
    { against = "bayesian", about = "ill", within = 9 },
]
"""

DROP = ("--drop", "job", "--drop", "city", "--drop", "age")

COMMANDS: dict[str, tuple[str, ...]] = {
    "disclosure": ("publish", "people.csv", "-p", "policy.toml", "--format", "csv"),
    "groups": ("publish", "people.csv", "-p", "groups.toml", "--method", "mondrian"),
    "views": ("views", "people.csv", "-p", "views.toml"),
    "classifier": ("classifier", "people.csv", "-p", "policy.toml", "--bits", "4"),
    "responses": (
        *("disguise", "people.csv", "-d", "design.toml", "-p", "answers.toml"),
        *DROP,
    ),
}


def lay_out(place: Path) -> None:
    """A table that takes seconds to be counted, searched and written."""
    dice = np.random.default_rng(7)
    letters = np.array(list("abcd"))
    table = pa.table(
        {
            "job": dice.integers(0, 60, ROWS),
            "city": dice.integers(0, 300, ROWS),
            "age": dice.integers(18, 90, ROWS),
            "sex": np.array(["f", "m"])[dice.integers(0, 2, ROWS)],
            "ill": letters[dice.integers(0, 4, ROWS)],
        }
    )
    csv.write_csv(table, place / "people.csv")
    texts = {
        "policy.toml": POLICY,
        "groups.toml": GROUPS,
        "views.toml": VIEWS,
        "design.toml": DESIGN,
        "answers.toml": ANSWERS,
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")


def start(place: Path, kind: str, *, replace: bool) -> subprocess.Popen[bytes]:
    """One command, in a group of its own."""
    over = ("--replace",) if replace else ()
    words = [*COMMANDS[kind], "-o", "out", "--custody", "vault", *over]
    return subprocess.Popen(
        [sys.executable, "-m", "privet", *words],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - there are no threads here
    )


def hear_ctrl_c() -> None:
    """Who starts this in the background may have switched Ctrl-C off for it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def press(
    place: Path, kind: str, *, replace: bool, after: float
) -> tuple[int, float, str]:
    """Ctrl-C after so many seconds: how it ended, how long that took, what it said."""
    process = start(place, kind, replace=replace)
    with process:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        said = process.communicate(timeout=120)[1].decode()
    return process.returncode, time.monotonic() - begin, said


def find_problem(
    place: Path, before: dict[str, str], old: dict[str, str], code: int
) -> str:
    """What is wrong after a command ended; empty: nothing."""
    now = list_tree(place)
    left = [n for n in now if LEFT.search(n)]
    if left:
        return f"left {left[0]}"
    if code in (130, -signal.SIGINT):  # what a shell calls 130 both times
        return "" if now == before else "stopped, yet something changed"
    if code != 0:
        return f"ended with {code}"
    if {k: v for k, v in now.items() if k.startswith("out/")} == old:
        return "ended with 0, yet nothing was released"
    good = pv.verify(place / "out", custody=place / "vault").good
    return "" if good else "ended with 0, yet the release does not verify"


def try_kind(place: Path, kind: str, moments: int, dice: random.Random) -> list[str]:
    """A command once without Ctrl-C, then so many times with it."""
    begin, found, slowest, stopped = time.monotonic(), [], 0.0, 0
    process = start(place, kind, replace=False)
    said = process.communicate()[1].decode()
    if process.returncode:
        return [f"{kind}: {said}"]
    whole = time.monotonic() - begin
    copy = place.with_name("copy")
    for moment in range(moments):
        replace = moment % 2 == 1
        if not replace:
            for name in ("out", "vault"):
                shutil.rmtree(place / name, ignore_errors=True)
        elif not (place / "out").exists():
            shutil.copytree(copy / "out", place / "out")
            shutil.copytree(copy / "vault", place / "vault")
        if replace:
            shutil.rmtree(copy, ignore_errors=True)
            for name in ("out", "vault"):
                shutil.copytree(place / name, copy / name)
        elif moment == 0:
            done = start(place, kind, replace=False)
            done.communicate()
            for name in ("out", "vault"):
                shutil.copytree(place / name, copy / name)
                shutil.rmtree(place / name)
        before = list_tree(place)
        old = {k: v for k, v in before.items() if k.startswith("out/")}
        after = dice.uniform(0, whole * 1.05)
        code, took, said = press(place, kind, replace=replace, after=after)
        slowest, stopped = max(slowest, took if code else 0.0), stopped + bool(code)
        told = f"{kind}, Ctrl-C after {after:.2f} s of {whole:.2f} s"
        if problem := find_problem(place, before, old, code):
            found.append(f"{told}: {problem}. {said}")
        if code and took > SOON and not is_crowded():
            found.append(f"{told}: took {took:.1f} s to stop. {said}")
    print(
        f"{kind}: {moments} times Ctrl-C within {whole:.1f} s, {stopped} stopped, the "
        f"slowest after {slowest:.2f} s",
        flush=True,
    )
    if moments and not stopped:
        found.append(f"{kind}: Ctrl-C stopped nothing")
    return found


def is_crowded() -> bool:
    """Whether others use the machine so much that seconds mean nothing."""
    return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)


def main(moments: int = 100) -> int:
    dice = random.Random(os.environ.get("PRIVET_SEED", ""))
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="privet-ctrl-c-") as folder:
        for kind in COMMANDS:
            place = Path(folder) / kind / "place"
            place.mkdir(parents=True)
            lay_out(place)
            problems += try_kind(place, kind, moments // len(COMMANDS), dice)
    for problem in problems:
        print(f"PROBLEM {problem}")
    print(f"{moments} times Ctrl-C, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
