"""Puts a bill of materials into the wheel, where PRIVET_BILL names one (PEP 770).

`make wheel` does; a plain build or an editable install has none.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BillHook(BuildHookInterface):
    """A step of the build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the file, if there is one; it goes to `.dist-info/sboms/`."""
        if bill := os.environ.get("PRIVET_BILL"):
            build_data["sbom_files"].append(bill)
