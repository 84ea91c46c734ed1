"""Crash, Ctrl-C and errors at every file-system call of a commit; `make test-crash`.

Each command is run until its release is about to appear. Then a child is forked for
each call that follows: it is killed before the call, or gets Ctrl-C or an error there.
Whatever is left then must be one of two whole states, once the next command came by.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from crash.calls import Calls, fail, interrupt, kill
from crash.scenarios import (
    COMMANDS,
    Scenario,
    find_problems,
    has_appeared,
    is_new,
    list_tree,
    restore,
    run,
)
from privet.release import write as writing
from privet.release.commit import intent as intents
from privet.release.commit.claims import fcntl, take_claim
from privet.release.commit.interrupts import LAST, Interrupts
from privet.release.kinds import list_kinds

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
SECONDS = "PRIVET_CRASH_SECONDS"
"""After how many seconds no more commands are begun; which are, is drawn then."""

STOPPED, REFUSED, TRIED = 130, 2, 7
"""What children end with: stopped, refused, and the call was never reached."""

Act = tuple[str, Callable[[], None], bool]
"""What happens: its name, the act, and whether it happens from then on."""

ACTS: tuple[Act, ...] = (
    ("kill", kill, False),
    ("ctrl-c", interrupt, False),
    ("ctrl-c twice", interrupt, True),
    *((os.strerror(code), fail(code), False) for code in ERRORS),
    ("dead disk", fail(errno.EIO), True),
)


class Prepared:
    """A command whose release is about to appear, and children that let it."""

    def __init__(self, scenario: Scenario, place: Path) -> None:
        self.scenario = scenario
        self.place = place
        self.copy = place.with_name(f"{place.name}-copy")
        self.begin = place.with_name(f"{place.name}-begin")
        self.before: dict[str, str] = {}
        self.points: Counter[str] = Counter()
        self.problems: list[str] = []
        self.given: dict[str, Any] = {}

    def enumerate_from(
        self, draft: Any, destination: Any, kept: Any, *, replace: bool, entry: Any
    ) -> None:
        """In place of `appear`: try it at every call, in children."""
        fcntl.flock(draft.claim.handle, fcntl.LOCK_UN)
        if entry is not None:
            entry = self._draw_ahead(entry)
        self.given = {
            "draft": draft,
            "destination": destination,
            "kept": kept,
            "replace": replace,
            "entry": entry,
        }
        shutil.copytree(self.place, self.copy)
        # A commit with a ledger makes all the calls of one without, and more.
        chosen = ACTS if self.scenario.ledger else (ACTS[0], ACTS[1], ACTS[-1])
        for act in chosen:
            for n in range(1, 1000):
                restore(self.place, self.copy)
                code = self._wait(self._fork(n, act))
                if code == TRIED:
                    break
                self.points[act[0]] += 1
                if os.environ.get("PRIVET_DEBUG"):
                    print(
                        act[0],
                        n,
                        code,
                        round(time.monotonic(), 1),
                        file=TOLD,
                        flush=True,
                    )
                self._check(code, f"{self.scenario.name}, {act[0]} at {n}", n)

        if self.scenario.ledger and (self.scenario.replace or self.scenario.spends):
            self._crash_twice(self.points["kill"])

    def _crash_twice(self, points: int) -> None:
        """A kill, and another one at every call of settling what the first left."""
        for first in range(1, points + 1, 5):
            for n in range(1, 1000):
                restore(self.place, self.copy)
                self._wait(self._fork(first, ACTS[0]))
                if self._wait(self._fork_recovery(n)) == TRIED:
                    break
                self.points["second kill"] += 1
                told = f"{self.scenario.name}, kill at {first}, then at {n}"
                self.problems += [f"{told}: {p}" for p in CHECKER.ask(self, -1)]

    def _fork_recovery(self, n: int) -> int:
        if child := os.fork():
            return child
        calls = Calls(n, kill, onwards=False)
        try:
            calls.install()
            with warnings.catch_warnings(action="ignore"):
                writing.recover(Path("out").resolve(), Path("safe/vault").resolve())
        finally:
            os._exit(TRIED)

    def stop_everywhere(self) -> None:
        """Ctrl-C at every call of the whole command, from its first word."""
        calls = Calls(-1, interrupt, onwards=False)
        calls.install()
        plain = self.place.with_name("plain")
        shutil.copytree(self.place, plain)
        LAST.set(True)  # as the program itself does
        for n in range(1, 1000):
            restore(self.place, plain)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            calls.seen, calls.at = 0, n
            with warnings.catch_warnings(action="ignore"):
                code = run(self.scenario.words())
            reached, calls.at = calls.seen >= n, -1
            if not reached:
                break
            self.points["ctrl-c anywhere"] += 1
            told = f"{self.scenario.name}, ctrl-c anywhere at {n}"
            self._check(code, told, -1)

    def _draw_ahead(self, entry: Any) -> Any:
        """No engine runs in a child that was forked: digests are made once, here."""
        ahead = self.place.with_name(f"{self.place.name}-digests")
        ahead.mkdir()
        entry.write_files(ahead)

        def copy_files(folder: Path) -> None:
            for path in sorted(ahead.iterdir()):
                shutil.copyfile(path, folder / path.name)

        return replace(entry, write_files=copy_files)

    def _fork(self, n: int, act: Act) -> int:
        if child := os.fork():
            return child
        calls = Calls(n, act[1], onwards=act[2])
        code = 1
        try:
            code = self._appear(calls)
            code = TRIED if calls.seen < n else code
        finally:
            os._exit(code)

    def _appear(self, calls: Calls) -> int:
        """What `write` does from here on, as a process of its own."""
        draft = self.given["draft"]
        try:
            with Interrupts() as interrupts, ExitStack() as stack:
                interrupts.hold()
                claim = take_claim(draft.claim.path)
                stack.callback(claim.let_go)
                stack.callback(intents._remove_draft, draft.folder, claim)
                calls.install()
                interrupts.let()
                own = replace(draft, claim=claim, interrupts=interrupts)
                try:
                    APPEAR(**(self.given | {"draft": own}))
                finally:
                    interrupts.hold()
        except KeyboardInterrupt:
            return STOPPED
        except Exception:
            return REFUSED
        return 0

    def _wait(self, child: int) -> int:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    def _check(self, code: int, told: str, n: int) -> None:
        if code == -signal.SIGKILL:
            self.problems += [f"{told}: {p}" for p in CHECKER.ask(self, n)]
            same = list_tree(self.place) == self.before
            if not same and not is_new() and not self.scenario.spends:
                self.problems.append(f"{told}: not as it was before")
            return
        if code not in (0, STOPPED, REFUSED):
            self.problems.append(f"{told}: ended with {code}")
        if list_tree(self.place) != self.before or code == 0:
            # What could not be undone is settled by the next command.
            self.problems += [f"{told}: {p}" for p in CHECKER.ask(self, -1)]
        if (code == 0) != is_new():
            self.problems.append(f"{told}: ended with {code}, yet the other is there")


APPEAR = writing.appear
TOLD = os.fdopen(os.dup(2), "w")
"""Where to tell how far it is, with PRIVET_DEBUG."""


# Another process --------------------------------------------------------------------


class Checker:
    """A process in which no engine runs; its children look at what is left."""

    def start(self) -> None:
        """Before anything else runs in this process; what commands need is loaded."""
        list_kinds()
        for name in ("duckdb", "pyarrow.parquet", "privet.cli", "numba"):
            import_module(name)
        asks, self._ask = os.pipe()
        self._answer, answers = os.pipe()
        if os.fork() == 0:
            os.close(self._ask)  # or nobody would ever have asked the last question
            with os.fdopen(asks, encoding="utf-8") as questions:
                for line in questions:
                    child = os.fork()
                    if child == 0:
                        _answer_and_exit(line.rstrip("\n"), answers)
                    os.waitpid(child, 0)
            os._exit(0)
        self._answers = os.fdopen(self._answer, encoding="utf-8")

    def ask(self, prepared: Prepared, n: int) -> list[str]:
        """What is wrong in a folder; n chooses which command comes by first."""
        s = prepared.scenario
        flags = f"{s.kind}\t{int(s.ledger)}\t{int(s.replace)}\t{n}\t{prepared.place}\n"
        os.write(self._ask, flags.encode())
        found = self._answers.readline().rstrip("\n")
        return [p for p in found.split("\t") if p]


CHECKER = Checker()


def _answer_and_exit(line: str, answers: int) -> None:
    kind, ledger, over, n, place = line.split("\t")
    scenario = Scenario(kind, ledger == "1", over == "1")
    os.chdir(place)
    hush()
    problems = ["the checker failed"]
    try:
        with warnings.catch_warnings(action="ignore"):
            problems = list(look(scenario, int(n)))
    except BaseException as error:
        problems = [f"the checker failed: {error!r}"]
    finally:
        os.write(answers, ("\t".join(problems) + "\n").encode())
        os._exit(0)


def look(scenario: Scenario, n: int) -> Iterator[str]:
    """Let a command come by that touches what is left; then look."""
    first = n % 8
    if first == 1 and Path("out").exists():
        run(["verify", "out", "--custody", "safe/vault", "-q"])
    if first == 3 and scenario.ledger:
        run(["ledger", "ledger", "-q"])
    if first == 5:  # the same command again, without anything between
        yield from run_again(scenario)
    else:  # what was not looked at yet
        writing.recover(Path("out").resolve(), Path("safe/vault").resolve())
    yield from find_problems(scenario, deep=first == 1)


def run_again(scenario: Scenario) -> Iterator[str]:
    """The same command must succeed, unless its release is there already."""
    there = has_appeared()
    code = run(scenario.words())
    entered = scenario.spends and bool(list(Path("ledger/entries").glob("0*")))
    if there:  # then it is judged with itself, or refused
        return
    if code not in ((0, 3) if entered else (0,)):
        yield f"the same command again ended with {code}"


def hush() -> None:
    """Commands answer to nobody here."""
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)


# All of them ------------------------------------------------------------------------


def list_scenarios() -> list[Scenario]:
    """With a ledger and without; noise needs one, a format makes no difference."""
    return [
        Scenario(kind, ledger, over)
        for kind in COMMANDS
        for ledger in (False, True)
        for over in (False, True)
        if ledger is not {"noise": False, "workbook": True}.get(kind)
    ]


def try_scenario(scenario: Scenario) -> Prepared:
    place = Path(tempfile.mkdtemp(prefix="privet-crash-")) / "place"
    place.mkdir()
    os.chdir(place)
    prepared = Prepared(scenario, place)
    scenario.lay_out()
    prepared.before = list_tree(place)
    shutil.copytree(place, prepared.begin)
    writing.appear = prepared.enumerate_from
    try:
        said = os.dup(1)
        hush()
        code = run(scenario.words())
    finally:
        os.dup2(said, 1)
        writing.appear = APPEAR
    if not prepared.points:
        prepared.problems.append(
            f"{scenario.name}: nothing was tried, ended with {code}"
        )
    if scenario.ledger and scenario.replace:
        restore(place, prepared.begin)
        said = os.dup(1)
        hush()
        prepared.stop_everywhere()
        os.dup2(said, 1)
    os.chdir("/")
    shutil.rmtree(place.parent, ignore_errors=True)
    return prepared


def main(names: list[str]) -> int:
    """Each scenario in a process of its own, two at a time."""
    if names:
        CHECKER.start()
        chosen = [s for s in list_scenarios() if s.name in names]
        found = [try_scenario(s) for s in chosen]
        for prepared in found:
            counts = ", ".join(f"{n} {what}" for what, n in prepared.points.items())
            print(f"{prepared.scenario.name}: {counts or 'no point'}", flush=True)
            for problem in prepared.problems:
                print(f"PROBLEM {problem}", flush=True)
        return any(p.problems or not p.points for p in found)
    return run_all()


def run_all() -> int:
    begin, codes, points = time.monotonic(), [], 0
    waiting = [s.name for s in list_scenarios()]
    limit = float(os.environ.get(SECONDS) or "inf")
    if limit < float("inf"):
        random.shuffle(waiting)
    running: list[subprocess.Popen[str]] = []
    while True:
        late = time.monotonic() - begin >= limit
        while waiting and not late and len(running) < (os.cpu_count() or 1):
            words = [sys.executable, "-m", "crash.enumeration", waiting.pop(0)]
            running.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        if not running:
            break
        done = running.pop(0)
        told = done.communicate()[0]
        print(told, end="", flush=True)
        codes.append(done.returncode)
        lines = [x for x in told.splitlines() if not x.startswith("PROBLEM")]
        points += sum(
            int(w) for x in lines for w in x.replace(",", " ").split() if w.isdigit()
        )
    if waiting:
        print(f"NOT TRIED, since {limit:.0f} s were over: {', '.join(waiting)}")
    seconds = time.monotonic() - begin
    bad = sum(map(bool, codes))
    print(
        f"{points} points in {len(codes)} commands, {bad} with a problem; "
        f"{seconds:.0f} s"
    )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
