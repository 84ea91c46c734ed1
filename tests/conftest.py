"""What all tests share."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Engines start and stop inside examples; their time says nothing about the law. In CI
# the examples are the same each time: what it refuses can be seen again at a desk,
# where new ones are drawn with every run.
settings.register_profile(
    "privet",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("privet")

# A shell without job control switches Ctrl-C off for what it starts in the background,
# and whatever is started from here would be deaf to it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NOBODY = 65534

APART = ("spark", "postgres", "forgeries")
"""Marks of tests that need a server, or minutes; they run when they are asked for."""


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave tests that run apart out unless the run is about them."""
    asked = config.getoption("markexpr")
    apart = [m for m in APART if m not in asked]
    left_out = [i for i in items if any(i.get_closest_marker(m) for m in apart)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [i for i in items if i not in set(left_out)]


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
