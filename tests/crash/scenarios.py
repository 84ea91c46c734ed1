"""Release commands of every kind, and what must be true after whatever happened."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import privet as pv
from privet.cli import cli
from release.golden_cases import lay_out_files

LEFT = re.compile(r"\.partial-|\.old-|\.new|\.gone|-commit|probe")
"""Names of what must never stay."""

PLACES = ("-o", "out", "--custody", "safe/vault")

GROUPS = """\
measure = [{ k_anonymity = 2 }]

[[promise]]
against = "linker"
about = { bankruptcy = "Discharged" }
at_most = 0.8

[columns]
quasi = ["job", "country", "child"]
sensitive = ["bankruptcy"]
other = ["rating"]
weight = "count"
"""

COMMANDS: dict[str, tuple[str, ...]] = {
    "disclosure": ("publish", "bank.csv", "-p", "loans.toml", "--format", "csv"),
    "workbook": ("publish", "bank.csv", "-p", "loans.toml", "--format", "xlsx"),
    "groups": ("publish", "bank.csv", "-p", "groups.toml", "--method", "mondrian"),
    "views": ("views", "clinic.csv", "-p", "clinic.toml"),
    "classifier": ("classifier", "pay.csv", "-p", "pay.toml", "--bits", "4"),
    "noise": (
        "classifier",
        "pay.csv",
        "-p",
        "noise.toml",
        "--bits",
        "4",
        "--epsilon",
        "1",
    ),
    "responses": (
        *("disguise", "habits.csv", "-d", "habits.toml", "-p", "factors.toml"),
        *("--drop", "name"),
    ),
}


@dataclass(frozen=True)
class Scenario:
    """One command, in a folder of its own."""

    kind: str
    ledger: bool
    replace: bool

    @property
    def name(self) -> str:
        parts = [self.kind, "ledger" if self.ledger else "", "fresh"]
        parts[2] = "replace" if self.replace else "fresh"
        return " ".join(filter(None, parts))

    @property
    def spends(self) -> bool:
        """Whether its noise stays spent once it is entered."""
        return self.kind == "noise" and self.ledger

    def words(self) -> list[str]:
        """The command; an old release has no entry, so that a second one is judged as
        the first."""
        ledger = ("--ledger", "ledger") if self.ledger else ()
        over = ("--replace",) if self.replace else ()
        return [*COMMANDS[self.kind], *PLACES, *ledger, *over]

    def lay_out(self) -> None:
        """Tables, policies, an empty ledger, and the release that is to be replaced."""
        lay_out_files()
        Path("groups.toml").write_text(GROUPS, encoding="utf-8")
        pv.Ledger.create("ledger")
        if self.replace:
            assert 0 == run([*COMMANDS[self.kind], *PLACES])
            mark = {
                "old": True,
                **json.loads(Path("safe/vault/custody.json").read_text()),
            }
            Path("safe/vault/custody.json").write_text(json.dumps(mark), "utf-8")


def run(words: list[str]) -> int:
    """The exit code of a command, in this process."""
    try:
        cli(words, prog_name="privet")
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def list_tree(place: Path) -> dict[str, str]:
    """Every file and folder, with the digests of files."""
    return {
        str(p.relative_to(place)): hashlib.sha256(p.read_bytes()).hexdigest()
        if p.is_file()
        else ""
        for p in sorted(place.rglob("*"))
    }


def restore(place: Path, copy: Path) -> None:
    """Put a folder back as it was."""
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(copy, place, dirs_exist_ok=True)


def find_problems(scenario: Scenario, *, deep: bool) -> list[str]:
    """What is wrong in the current folder: a release and a record that do not match."""
    found = [f"left: {n}" for n in list_tree(Path()) if LEFT.search(n)]
    out, vault = Path("out"), Path("safe/vault")
    there = (out / "release.json").is_file()
    kept = (vault / "custody.json").is_file()
    if there != kept:
        found.append(f"release {there}, custody {kept}")
    if not there and (scenario.replace or out.exists() or Path("safe").exists()):
        found.append("neither the old release nor the new one, or an empty folder")
    if there and kept:
        record = json.loads((vault / "custody.json").read_text("utf-8"))
        if record["manifest_sha256"] != hash_file(out / "release.json"):
            found.append("the record is of another release")
        for file in json.loads((out / "release.json").read_text("utf-8"))["files"]:
            if file["sha256"] != hash_file(out / file["path"]):
                found.append(f"{file['path']} is not whole")
        if deep and not pv.verify(out, custody=vault).good:
            found.append("does not verify")
    return [*found, *_find_ledger_problems(scenario)]


def _find_ledger_problems(scenario: Scenario) -> list[str]:
    entries = pv.Ledger.open("ledger").entries
    new = is_new()
    if new and scenario.ledger:
        last = entries[-1] if entries else None
        fits = last and last.complete
        fits = fits and last.manifest == hash_file(Path("out/release.json"))
        return [] if fits else ["a release that the ledger does not know"]
    if entries and not scenario.spends:
        return ["an entry of a release that never was"]
    return (
        ["a complete entry of no release"] if any(e.complete for e in entries) else []
    )


def is_new() -> bool:
    """Whether the release of the command is there, and not the one before it."""
    record = Path("safe/vault/custody.json")
    return record.is_file() and "old" not in json.loads(record.read_text("utf-8"))


def has_appeared() -> bool:
    """Whether the new release is at its place, with its record."""
    manifest = Path("out/release.json")
    if not is_new() or not manifest.is_file():
        return False
    record = json.loads(Path("safe/vault/custody.json").read_text("utf-8"))
    return bool(record["manifest_sha256"] == hash_file(manifest))


def hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
