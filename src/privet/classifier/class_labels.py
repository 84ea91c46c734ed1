"""Classes as the texts that counts are kept by, and as what they were before.

An estimator of scikit-learn answers with what it was taught: 0 and 1 are no texts. The
counts and the scorecard have classes by name, and say beside them what the names are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError

TEXT = "text"
"""What classes are unless something else is said."""

TRUTHS = {"true": True, "false": False}
"""Truth values by name; a file may write them with capitals."""


def text_of(value: Any) -> str | None:
    """A cell as text, the same for equal numbers; None: missing.

    >>> text_of(39), text_of(39.0), text_of(0.5), text_of(True), text_of(float("nan"))
    ('39', '39', '0.5', 'true', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        if value != value:  # noqa: PLR0124 - not a number
            return None
        whole = float(value).is_integer()
        return str(int(value)) if whole else repr(float(value))
    found = str(value)
    return None if found in ("<NA>", "NaT", "nan") else found


def name_kind(classes: NDArray[Any]) -> str:
    """What classes are, as an array has them: numbers, truth values, or texts.

    >>> name_kind(np.array([0, 1])), name_kind(np.array(["0", "1"]))
    ('integer', 'text')
    """
    kinds = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}
    # Columns of pandas that may be missing come as Python's own values.
    held = np.array(classes.tolist()) if classes.dtype.kind == "O" else classes
    return kinds.get(held.dtype.kind, TEXT)


def recognise_classes(labels: Sequence[str], kind: str) -> str:
    """What the classes of a column are whose values are of a kind.

    Texts that are not each another number, such as 1 and 1.0, stay texts. A file of
    texts says of True and False only that they are texts; they are truth values.

    >>> recognise_classes(["1", "2"], "integer"), recognise_classes(["1"], "date")
    ('integer', 'text')
    >>> recognise_classes(["True", "False"], "text")
    'boolean'
    """
    found = "boolean" if {c.lower() for c in labels} == set(TRUTHS) else kind
    if found == TEXT or found not in READERS:
        return TEXT
    try:
        read_classes(labels, found)
    except InputError:
        return TEXT
    return found


def recognise_names(labels: Sequence[str]) -> str:
    """What classes are by their names alone, where no cell may be looked at.

    >>> recognise_names(["0", "1"]), recognise_names(["0", "0.5"])
    ('integer', 'number')
    >>> recognise_names(["01", "02"]), recognise_names(["true", "false"])
    ('text', 'boolean')
    """
    for kind in ("integer", "number"):
        plain = recognise_classes(labels, kind) == kind
        if plain and [text_of(c) for c in read_classes(labels, kind)] == list(labels):
            return kind
    return recognise_classes(labels, TEXT)


def read_classes(labels: Sequence[str], kind: str) -> NDArray[Any]:
    """Classes as what they were, in the order of their names.

    >>> read_classes(["10", "9"], "integer").tolist()
    [10, 9]
    """
    if kind not in READERS:
        raise InputError(
            f"The type of a target must be {', '.join(READERS)}; got {kind!r}."
        )
    try:
        found = READERS[kind](labels)
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"Classes of type {kind} must be written as such.") from None
    if kind != TEXT and len(np.unique(found)) < len(found):
        raise InputError(f"Classes of type {kind} must differ; two are the same.")
    return found


def _read_integers(labels: Sequence[str]) -> NDArray[Any]:
    whole = [int(c) for c in labels]
    return np.array(whole, np.int64 if max(whole) < 2**63 else np.uint64)


def _read_numbers(labels: Sequence[str]) -> NDArray[Any]:
    numbers = [float(c) for c in labels]
    if not all(map(isfinite, numbers)):
        raise ValueError("a number that is none")
    return np.array(numbers)


def _read_truths(labels: Sequence[str]) -> NDArray[Any]:
    return np.array([TRUTHS[c.lower()] for c in labels])


READERS: Mapping[str, Callable[[Sequence[str]], NDArray[Any]]] = {
    TEXT: np.array,
    "integer": _read_integers,
    "number": _read_numbers,
    "boolean": _read_truths,
}
"""How classes of each type are read from their names."""
