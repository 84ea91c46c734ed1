"""Ways to break an input: by words and lines, and JSON by its tree.

Bytes alone seldom get past a parser; pieces of real files do.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

PIECE = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|[A-Za-z_][A-Za-z0-9_.]*|-?[0-9][0-9A-Za-z_.+]*|\s+|.', re.S
)
"""A text in quotes, a word, a number, white space, or any other byte."""

ODD: tuple[bytes, ...] = (
    *(b"", b"0", b"-1", b"-0", b"1.0", b"1e400", b"1e-400", b"nan", b"inf", b"-inf"),
    *(b"1/0", b"1/2", b"0/1", b"50 %", b"2/1", b"1e999999", b"0x10", b"1_0", b"true"),
    *(b"9" * 400, b"9" * 5000, b"0." + b"0" * 5000 + b"1", b"1/" + b"9" * 5000),
    *(b"0." + b"7" * 5000, b"0." + b"3" * 90, b"0." + b"37" * 1000),
    *(b"18446744073709551616", b"-9223372036854775809", b"99999999999", b"1000000"),
    *(b"null", b"false", b'""', b"[]", b"{}", b"[[", b"]]", b"{", b"}", b"[", b"]"),
    *(b'"\\ud800"', b'"\\u0000"', b"\xff", b"\x00", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
    *("\u202e".encode(), "\u0130".encode(), "e\u0301".encode(), "\u2028".encode()),
    *(b"\x1b[2J", b"\r", b"\n", b"\r\n", b"\t", b"'", b'"', b'"""', b"'''", b"\\"),
    *(b",", b";", b"=", b".", b":", b"#", b"*", b"-", b"--", b"/*", b"%", b"\x7f"),
    *(b"1979-05-27", b"9999-12-31", b"25:00:00", b"0000-00-00", b"x" * 3000),
    *(b"[" * 1500, b"{" * 1500, b'{"a":' * 1500, b"(" * 1500, b"../x", b"/dev/null"),
)
"""What readers stumble over."""

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**63, 10**400, 0.5, 1e300, float("nan")),
    *(float("inf"), "", "x", "*", "1/2", "1/0", "9" * 5000, "\ud800", "\x00", "../x"),
    *([], {}, [[]], [None], {"": None}, ["x", "x"], {"x": {"x": []}}, "\u202e", "/"),
    *("safe", "exact", "linker", "insider", "quasi", "sensitive", "table.csv", 10**9),
)


def mutate(data: bytes, rng: random.Random, words: Sequence[bytes]) -> bytes:
    """The input with a few pieces changed; as JSON by its tree where it is some."""
    if rng.random() < 0.5 and (changed := _mutate_json(data, rng)) is not None:
        return changed
    pieces = PIECE.findall(data) or [b""]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        _change_pieces(pieces, rng, words)
    return b"".join(pieces)


def _change_pieces(
    pieces: list[bytes], rng: random.Random, words: Sequence[bytes]
) -> None:
    """One change: another piece, one more, fewer, the same again, or two swapped."""
    at = rng.randrange(len(pieces)) if pieces else 0
    end = min(len(pieces), at + rng.choice((1, 1, 2, 4, 12)))
    new = rng.choice((rng.choice(words), rng.choice(ODD), rng.choice(pieces or ODD)))
    match rng.randrange(6):
        case 0 | 1:
            pieces[at : at + 1] = [new]
        case 2:
            pieces[at:at] = [new]
        case 3:
            del pieces[at:end]
        case 4:
            pieces[at:at] = pieces[at:end] * rng.choice((1, 2, 40))
        case _ if pieces:
            other = rng.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]


# JSON -------------------------------------------------------------------------------


def _mutate_json(data: bytes, rng: random.Random) -> bytes | None:
    """What begins a JSON object is kept: it chooses the case."""
    start = data.find(b"{")
    if not 0 <= start <= 2:
        return None
    try:
        content = json.loads(data[start:])
        if not _change_tree(content, rng):
            return None
        told = json.dumps(content).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):  # no JSON, or deeper than Python's stack
        return None
    return data[:start] + told


def _change_tree(content: Any, rng: random.Random) -> bool:
    """Change a few places; whether there were any."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = _list_places(content)
        if not places:
            return False
        _change_place(*rng.choice(places), rng, places)
    return True


Place = tuple[Any, Any]
"""A container, and the key or the number of what is in it."""


def _list_places(node: Any) -> list[Place]:
    items: Any = ()
    if isinstance(node, dict):
        items = node.items()
    elif isinstance(node, list):
        items = enumerate(node)
    return [p for k, v in items for p in [(node, k), *_list_places(v)]]


def _change_place(
    inside: Any, key: Any, rng: random.Random, places: Sequence[Place]
) -> None:
    match rng.randrange(6):
        case 0 | 1 | 2:
            # A copy: changed in its turn, a shared list would come to hold itself.
            inside[key] = deepcopy(rng.choice(ODD_VALUES))
        case 3:
            del inside[key]
        case 4:
            other, at = rng.choice(places)
            inside[key] = json.loads(json.dumps(other[at]))
        case _ if isinstance(inside, dict):
            inside[rng.choice(("x", "", "\u202e", "role", "columns"))] = inside.pop(key)
        case _:
            inside.insert(0, json.loads(json.dumps(inside[key])))
