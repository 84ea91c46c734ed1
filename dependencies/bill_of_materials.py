"""Build the wheel with its bill of materials, as CycloneDX: `make wheel`.

The bill lists what privet and its extras need, each with version, licence and what it
needs itself; tools for development are left out. It is put into the wheel
(`.dist-info/sboms/`, PEP 770) and beside it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from closure import find_needed, list_installed, read_needs
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
BILL = Path("build") / "privet.cdx.json"
"""Where the bill is built; its name within the wheel is the same."""


def main(environment: str, folder: str, *more: str) -> None:
    """Make the bill of what is installed, and the wheel with it."""
    python = f"{environment}/bin/python"
    bill = keep_needed(list_components(python, more), [environment, *more])
    bill["metadata"]["component"]["version"] = ask_version(python)
    text = json.dumps(bill, indent=1, sort_keys=True) + "\n"
    require_valid(text)
    (ROOT / BILL).parent.mkdir(exist_ok=True)
    (ROOT / BILL).write_text(text, encoding="utf-8")
    wheel = build_wheel(ROOT / folder)
    require_inside(wheel, text)
    shutil.copy(ROOT / BILL, wheel.with_suffix(".cdx.json"))
    print(f"{wheel.name}: {len(bill['components'])} components in its bill.")


# The bill ---------------------------------------------------------------------------


def list_components(python: str, more: Iterable[str]) -> dict[str, Any]:
    """Everything that is installed, as cyclonedx-py tells it; `more` are folders."""
    command = ["-m", "cyclonedx_py", "environment", "--output-reproducible"]
    done = subprocess.run(
        [
            *(sys.executable, *command, "--pyproject", "pyproject.toml"),
            *("--mc-type", "library", "--of", "JSON", python),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(more)},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def keep_needed(listed: dict[str, Any], folders: Iterable[str]) -> dict[str, Any]:
    """The bill without what only developers need; what extras bring is optional."""
    installed = list_installed(folders)
    core, needs = read_needs(extras=False), read_needs(extras=True)
    if missing := [r.name for r in core if canonicalize_name(r.name) not in installed]:
        raise SystemExit(f"Installed must be all that privet needs; not {missing}.")
    required, wanted = find_needed(core, installed), find_needed(needs, installed)
    parts = {canonicalize_name(c["name"]): c for c in listed["components"]}
    refs = {name: parts[name]["bom-ref"] for name in wanted}
    kept = [
        {**parts[name], "scope": "required" if name in required else "optional"}
        for name in sorted(wanted)
    ]
    root = listed["metadata"]["component"]["bom-ref"]
    own = {canonicalize_name(r.name) for r in needs} & wanted.keys()
    tree = {root: own} | {refs[name]: inner for name, inner in wanted.items()}
    edges = [
        {"ref": ref, "dependsOn": sorted(refs[n] for n in inner)}
        for ref, inner in sorted(tree.items())
    ]
    return {**listed, "components": kept, "dependencies": edges}


def ask_version(python: str) -> str:
    """The version of privet that is installed."""
    question = "import privet; print(privet.__version__)"
    return subprocess.check_output(
        [python, "-c", question], cwd=ROOT, text=True
    ).strip()


def require_valid(text: str) -> None:
    """The bill must be CycloneDX by its schema."""
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"The bill must be CycloneDX 1.6; it is not: {error}")


# The wheel --------------------------------------------------------------------------


def build_wheel(folder: Path) -> Path:
    """The wheel; no package is fetched for it."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "build", "--wheel", "--no-isolation"),
            *("--outdir", str(folder)),
        ],
        env={**os.environ, "PRIVET_BILL": str(BILL)},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def require_inside(wheel: Path, text: str) -> None:
    """The wheel must hold the bill."""
    with zipfile.ZipFile(wheel) as archive:
        found = [n for n in archive.namelist() if ".dist-info/sboms/" in n]
        if [text] != [archive.read(n).decode() for n in found]:
            raise SystemExit(f"The wheel must hold its bill; it holds {found}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
