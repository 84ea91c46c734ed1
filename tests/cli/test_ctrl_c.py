"""Ctrl-C that something forgot is pressed again; one that was heard is not."""

from __future__ import annotations

import subprocess
import sys

START = """
import os, signal, sys, time
from privet.cli import ctrl_c
ctrl_c.listen()
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))
"""

FORGOTTEN = """
try:
    os.kill(os.getpid(), signal.SIGINT)
    work(1)
except KeyboardInterrupt:
    pass  # as compiled code does
try:
    work(20)
except KeyboardInterrupt:
    ctrl_c.rest()
    print("heard")
    work(1.5)
    print("and no more")
"""

THROWN_AWAY = """
class Held:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        work(0.1)
Held()
try:
    work(20)
except KeyboardInterrupt:
    print("heard")
"""

CLEANING = """
try:
    os.kill(os.getpid(), signal.SIGINT)
    work(1)
except KeyboardInterrupt:
    work(1.5)
    print("cleaned up")
"""


def run(script: str) -> str:
    """What a script prints that works, and gets Ctrl-C."""
    # Who starts this in the background may have switched Ctrl-C off for it.
    on = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.run(
        [sys.executable, "-c", on + START + script],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout


def test_what_was_forgotten_is_pressed_again() -> None:
    assert "heard\nand no more\n" == run(FORGOTTEN)


def test_what_was_raised_while_an_object_goes_is_pressed_again() -> None:
    assert "heard\n" == run(THROWN_AWAY)


def test_cleaning_up_is_left_alone() -> None:
    assert "cleaned up\n" == run(CLEANING)


def test_where_it_was_switched_off_it_stays_off() -> None:
    off = "signal.signal(signal.SIGINT, signal.SIG_IGN)\nctrl_c.listen()\n"
    pressed = "os.kill(os.getpid(), signal.SIGINT)\nwork(1)\nprint('done')\n"
    assert "done\n" == run(off + pressed)
