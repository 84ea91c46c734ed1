"""What all tests share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Engines start and stop inside examples; their time says nothing about the law.
settings.register_profile(
    "privet", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("privet")

NOBODY = 65534


@pytest.fixture
def ordinary() -> Iterator[Path]:
    """A folder of an ordinary user, as whom the test runs: root may do anything."""
    place = Path(tempfile.mkdtemp(prefix="privet-ordinary-"))
    root = os.geteuid() == 0
    if root:
        os.chown(place, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield place
    finally:
        if root:
            os.seteuid(0)
        place.chmod(0o700)
        shutil.rmtree(place)
