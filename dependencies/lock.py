"""Write the locks: every dependency by its version and the hashes of its files.

`make lock` calls it. One lock serves every platform and every Python that privet
supports; neither an index nor a path stands in it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
GROUPS = ("dev", "fuzz", "audit", "places", "old-duckdb")
"""Groups of pyproject.toml, each with its lock; `dev` has what privet needs, too."""

OPTIONS = (
    *("--quiet", "--no-config", "--upgrade", "--universal", "--python-version=3.11"),
    *("--generate-hashes", "--no-annotate", "--no-header"),
    *("--no-emit-index-url", "--no-emit-find-links"),
)


def main() -> None:
    """Resolve each group."""
    for group in GROUPS:
        project = [str(HERE.parent / "pyproject.toml")] if group == "dev" else []
        target = f"--output-file={HERE / group}.txt"
        subprocess.run(
            [
                *(sys.executable, "-m", "uv", "pip", "compile", *project),
                *(f"--group={group}", *OPTIONS, target),
            ],
            check=True,
            cwd=HERE.parent,
        )


if __name__ == "__main__":
    main()
