"""What generalised values mean: which values of a column a label stands for.

`generalisation/partition.py` writes the labels, and says their grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from privet.errors import NoAudit
from privet.values.contingency import Domain

ANY, MISSING = "*", "missing"
"""What is written for any value, and for none."""

BEGINS = "begins with"
"""What is written before the beginnings of values."""

Bools = NDArray[np.bool_]


def find_allowed_values(label: str | None, domain: Domain) -> Bools:
    """Which values of a column a label allows.

    >>> town = Domain("town", [None, "Ayr", "Bonn", "Cork"])
    >>> find_allowed_values("not {Ayr, missing}", town).tolist()
    [False, False, True, True]
    >>> age = Domain("age", ["30", "40", "60"], "integer")
    >>> find_allowed_values("[30, 40]", age).tolist()
    [True, True, False]
    >>> find_allowed_values("missing or begins with {A, Co}", town).tolist()
    [True, True, False, True]
    """
    either = f"{MISSING} or "
    if label is not None and label.startswith(either):
        return _mark_values([None], domain) | find_allowed_values(
            label.removeprefix(either), domain
        )
    if label is not None and label.startswith("not {"):
        return ~find_allowed_values(label.removeprefix("not "), domain)
    if label == ANY:
        return np.ones(len(domain), dtype=bool)
    if label is not None and label.startswith(f"{BEGINS} {{"):
        begin = [t for t in _parse_values(label.removeprefix(f"{BEGINS} ")) if t]
        return np.array(
            [v is not None and v.startswith(tuple(begin)) for v in domain.labels]
        )
    if label is not None and label.startswith("["):
        low, high = (_find_code(end, domain) for end in label[1:-1].split(", "))
        code = np.arange(len(domain))
        return np.asarray((low <= code) & (code <= high))
    return _mark_values([None] if label is None else list(_parse_values(label)), domain)


def _mark_values(values: Sequence[str | None], domain: Domain) -> Bools:
    found = np.zeros(len(domain), dtype=bool)
    for value in values:
        if value is not None or domain.code(None) is not None:
            found[_find_code(value, domain)] = True
    return found


def _find_code(value: str | None, domain: Domain) -> int:
    code = domain.code(value)
    if code is None:
        raise NoAudit(
            f"A label of column {domain.name!r} must mean values that a population "
            "has; one is the name of a hierarchy's node, or nobody has its value. "
            "Audit the table the release was made from."
        )
    return code


def _parse_values(text: str) -> Iterator[str | None]:
    """One value or those of a set: quoted as JSON where they could be misread."""
    text = text[1:-1] if text.startswith("{") else text
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        if text[at] == '"':
            value, end = decoder.raw_decode(text, at)
            yield str(value)
        else:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            yield None if text[at:end] == MISSING else text[at:end]
        at = end + len(", ")
