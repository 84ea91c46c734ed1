"""JSON that strangers wrote: bounded before it is parsed, and read one way only.

Size and nesting are looked at first. A key that stands twice, a number that is none or
has more digits than any count, a text that is no Unicode: all of them mean different
things to different readers, and privet writes none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

MOST_DEPTH = 32
"""Brackets within brackets; a manifest has eight or so."""

MOST_DIGITS = 18
"""Of an integer; a count of people has ten."""

_TEXTS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(set(range(256)) - set(_STEPS))


def parse_bounded(data: bytes, *, digits: int = MOST_DIGITS) -> Any:
    """The value of a JSON document; `ValueError` says what is wrong with it.

    >>> parse_bounded(b'{"rows": 24}')
    {'rows': 24}
    >>> parse_bounded(b'{"rows": 24, "rows": 42}')
    Traceback (most recent call last):
    ValueError: it has a key twice
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValueError("it begins with a byte order mark")
    if measure_depth(data) > MOST_DEPTH:
        raise ValueError(f"it is nested more than {MOST_DEPTH} deep")
    try:
        content = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_refuse_twice,
            parse_constant=_refuse_constant,
            parse_int=_limit_digits(digits),
            parse_float=_refuse_infinite,
        )
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise ValueError("it has text that is no Unicode") from None
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("it is no JSON") from None
    return content


def measure_depth(data: bytes) -> int:
    r"""How deep brackets are nested, those in texts aside; nothing is parsed.

    >>> measure_depth(rb'{"a": [1, "[[[ \" [", []]}')
    3
    """
    brackets = _TEXTS.sub(b"", data).translate(None, _NO_BRACKETS)
    return max(accumulate(_STEPS[b] for b in brackets), default=0)


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _refuse_constant(_name: str) -> Any:
    raise ValueError("it has a number that is none")


def _limit_digits(most: int) -> Callable[[str], int]:
    def read_integer(text: str) -> int:
        if len(text) > most:
            raise ValueError(f"it has a number of more than {most} digits")
        return int(text)

    return read_integer


def _refuse_infinite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("it has a number that is none")
    return number
