"""Ask for known vulnerabilities of everything that is locked: `make audit`.

pip-audit asks the Python package index, or else OSV. Where neither can be asked, that
is said and is no pass: pip-audit alone skips what it cannot find, and ends with 0.
Exit codes: 0 none known, 1 some known, 3 could not ask.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SERVICES = ("pypi", "osv")
KNOWN, UNASKED = 1, 3


@dataclass(frozen=True)
class Reply:
    """What a service said of some packages."""

    asked: int
    """How many packages it knows."""
    skipped: tuple[str, ...]
    """Packages it could not be asked about, and why."""
    known: tuple[str, ...]
    """Vulnerabilities: package, version, identifier, and where it is mended."""


def main() -> int:
    """Ask one service after the other until one answers for every package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--offline-allowed",
        action="store_true",
        help="end with 0 if nobody could be asked; it is said all the same",
    )
    parser.add_argument("--osv-url", help="where OSV answers, such as a mirror's query")
    asked = parser.parse_args()
    locks, replies = sorted(HERE.glob("*.txt")), []
    for service in SERVICES:
        more = (
            ["--osv-url", asked.osv_url] if asked.osv_url and service == "osv" else []
        )
        replies.append(merge([ask(service, lock, more) for lock in locks]))
        if not replies[-1].skipped:
            break
    text, code = conclude(replies)
    print(text)
    return 0 if code == UNASKED and asked.offline_allowed else code


def ask(service: str, lock: Path, more: Sequence[str] = ()) -> Reply:
    """What a service knows about the packages of a lock."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "-r", str(lock), "--disable-pip"),
            *("--require-hashes", "--progress-spinner=off", "--format=json"),
            *("--timeout=20", f"--vulnerability-service={service}", *more),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return read_reply(done.stdout, done.stderr, service)


def merge(replies: Sequence[Reply]) -> Reply:
    """What a service said of several locks."""
    return Reply(
        sum(r.asked for r in replies),
        tuple(line for r in replies for line in r.skipped),
        tuple(line for r in replies for line in r.known),
    )


def read_reply(output: str, said: str, service: str) -> Reply:
    """pip-audit's report; without one, nothing was asked."""
    try:
        listed = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = (said.strip().splitlines() or ["no answer"])[-1]
        return Reply(0, (f"{service}: {reason[:200]}",), ())
    skipped = [f"{service}: {d['skip_reason']}" for d in listed if "skip_reason" in d]
    answered = [d for d in listed if "skip_reason" not in d]
    if not listed:
        skipped = [f"{service}: no package was looked at"]
    return Reply(len(answered), tuple(skipped), tuple(_list_known(answered)))


def _list_known(listed: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for package in listed:
        for found in package["vulns"]:
            mended = ", ".join(found.get("fix_versions") or ["no version yet"])
            name = f"{package['name']} {package['version']}"
            yield f"{name}: {found['id']}, mended in {mended}"


def conclude(replies: Sequence[Reply]) -> tuple[str, int]:
    """What is said in the end, and the exit code."""
    known = sorted({line for reply in replies for line in reply.known})
    best = min(replies, key=lambda r: (len(r.skipped), -r.asked))
    if known:
        return "\n".join(["Known vulnerabilities:", *known]), KNOWN
    if not best.skipped:
        return f"Known vulnerabilities: none in {best.asked} packages.", 0
    reasons = [reply.skipped[0] for reply in replies if reply.skipped]
    return (
        "Known vulnerabilities: COULD NOT ASK, so nothing is said about them.\n"
        + "\n".join(reasons)
        + "\nRun `make audit` where the package index or OSV can be reached."
    ), UNASKED


if __name__ == "__main__":
    sys.exit(main())
