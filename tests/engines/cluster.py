"""A real Spark cluster on the loopback: a master and workers as separate processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import pytest

from engines.servers import QUICK, free_port, seeing_tests

PATIENCE = 240
"""Seconds that anything may take on a busy machine."""


class Cluster:
    """One master, and workers that can be killed."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self._folder = folder
        self._home = Path(pyspark.__file__).parent
        self._port = free_port()
        self.master = f"spark://127.0.0.1:{self._port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        deploy = "org.apache.spark.deploy"
        self._start(
            "master",
            f"{deploy}.master.Master",
            *("--host", "127.0.0.1", "--port", self._port, "--webui-port", free_port()),
        )

    def add_worker(self) -> None:
        """One more machine with one core."""
        name = f"worker-{len(self.workers)}"
        worker = self._start(
            name,
            "org.apache.spark.deploy.worker.Worker",
            *("--host", "127.0.0.1", "--cores", 1, "--memory", "700m"),
            *("--work-dir", self._folder / name, "--webui-port", free_port()),
            self.master,
        )
        self.workers.append(worker)

    def kill_worker(self) -> None:
        """Lose a machine that works: the worker and its executor, at once."""
        for worker in self.workers:
            if worker.poll() is None and (executors := children(worker.pid)):
                for pid in (worker.pid, *executors):
                    os.kill(pid, signal.SIGKILL)
                worker.wait()
                return
        raise AssertionError("no worker has an executor")

    def _start(self, name: str, *words: object) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self._folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
        }
        with (self._folder / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(
                [str(self._home / "bin" / "spark-class"), *map(str, words)],
                env=environment,
                stdout=log,
                stderr=log,
            )
        self._processes.append(started)
        return started

    def stop(self) -> None:
        """End what we started."""
        for process in reversed(self._processes):
            for pid in (*children(process.pid), process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def children(parent: int) -> list[int]:
    """The processes a process started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(status.parent.name))
    return found


class Job:
    """A driver in a process of its own, told what to do line by line."""

    def __init__(self, script: Path, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(script), *words],
            env={"PYSPARK_PYTHON": sys.executable, **os.environ, **seeing_tests()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: Queue[str | None] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self._page = self.answer()["page"]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def tell(self, what: str) -> None:
        """Say what to do."""
        assert self._process.stdin is not None
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """The next line that is an answer."""
        try:
            while (line := self._lines.get(timeout=PATIENCE)) is not None:
                if line.startswith("{"):
                    return json.loads(line)
        except Empty:
            self.stop()
            raise AssertionError("the driver did not answer in time") from None
        raise AssertionError("the driver died")

    def ask(self, path: str) -> Any:
        """What Spark tells of the application."""
        with urllib.request.urlopen(f"{self._page}/{path}", timeout=30) as page:
            return json.load(page)

    def wait(self, happened: Callable[[], Any], what: str) -> Any:
        """Wait until something is so."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(OSError, ValueError):
                if found := happened():
                    return found
            time.sleep(0.02)
        raise AssertionError(f"never happened: {what}")

    def executors(self) -> int:
        """How many machines work."""
        found = self.ask("executors")
        return sum(e["isActive"] and e["id"] != "driver" for e in found)

    def counting(self) -> bool:
        """Whether a stage of several tasks is in the middle of its work."""
        stages = self.ask("stages?status=active")
        return any(s["numTasks"] >= 4 and s["numCompleteTasks"] for s in stages)

    def tried_again(self) -> int:
        """How many tasks failed, and stages began anew, so far."""
        stages = self.ask("stages")
        return sum(s["attemptId"] + s["numFailedTasks"] for s in stages)

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not read any more
                pipe.close()  # type: ignore[union-attr]


def writing(folder: Path, pattern: str) -> bool:
    """Whether some tasks have written their part of a folder, and others have not."""
    return any(folder.glob(f"{pattern}/_temporary/0/task_*"))


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster with two workers."""
    pytest.importorskip("pyspark")
    made = Cluster(folder)
    try:
        for _ in range(2):
            made.add_worker()
        yield made
    finally:
        made.stop()
