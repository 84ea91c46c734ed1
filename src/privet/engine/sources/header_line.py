"""The header of a text file: whether its first line names columns, or is a person.

Who takes somebody's row for a header writes it into the policy, publishes it as names
of columns and quotes it in messages. So a line that may be a row is never shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from privet.engine.sources.source import TextOptions
from privet.errors import InputError

NUMBER = re.compile(
    r"[+-]?[$€£]?([0-9][0-9,]*([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?%?"
)
MOMENT = re.compile(
    r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ][0-9:.]+(Z|[+-][0-9:]+)?)?"
    r"|[0-9]{1,2}:[0-9]{2}(:[0-9.]+)?"
)
MISSING = frozenset({"", "?", "-", ".", "na", "n/a", "nan", "null", "none", "nil"})
"""What often stands for a missing value, in small letters."""

MOSTLY = 9, 10
"""A column is of a kind if so many of its values are."""

MANY = 5
"""So many columns numbered one after the other are names, such as years."""

MOST_RECORDS = 1_000
"""So many records are looked at to tell a header from a row."""

ENOUGH = 3
"""So many values tell what all values of a column have in common."""


@dataclass(frozen=True)
class HeaderEvidence:
    """What speaks for a header, and what for a row."""

    names: int = 0
    """Columns whose first text is of another kind than those below it."""
    row: int = 0
    """Columns whose first text is of the same kind, or stands below again."""
    unlike: int = 0
    """Columns of texts whose first lacks what all below have."""
    alike: int = 0
    """Columns of texts whose first has what all below have."""
    twice: bool = False
    """Whether the first line has a text twice."""

    @property
    def is_doubtful(self) -> bool:
        """Whether the first line may be a row."""
        if self.names != self.row:
            return self.row > self.names
        if self.names:
            return self.alike >= self.unlike
        return self.twice or self.alike > self.unlike

    @property
    def is_sure(self) -> bool:
        """Whether the first line is surely names."""
        return self.names > 0 and not self.row


def weigh_header(
    records: Sequence[Sequence[str]], null: Collection[str] = ()
) -> HeaderEvidence:
    """Compare the first record of a file with those below it.

    >>> weigh_header([["age", "job"], ["31", "cook"], ["40", "cook"]]).is_doubtful
    False
    >>> weigh_header([["31", "cook"], ["40", "cook"], ["52", "smith"]]).is_doubtful
    True
    """
    first, *below = [[cell.strip() for cell in record] for record in records]
    below = [record for record in below if len(record) == len(first)]
    if not below:
        return HeaderEvidence()
    missing = MISSING | {text.casefold() for text in null}
    columns = list(zip(*below, strict=True))
    found = [
        _weigh_column(text, column, missing)
        for text, column in zip(first, columns, strict=True)
    ]
    if _are_numbered(first):
        found = [f for f, text in zip(found, first, strict=True) if not text.isdigit()]
    counted = Counter(found)
    filled = [text for text in first if text]
    return HeaderEvidence(
        **{kind: counted[kind] for kind in ("names", "row", "unlike", "alike")},
        twice=len(set(filled)) < len(filled),
    )


def decide_header(
    records: Sequence[Sequence[str]], text: TextOptions, place: str
) -> bool:
    """Whether the first record names the columns; where that is in doubt, ask."""
    if text.header is not None:
        return text.header
    evidence = weigh_header(records, text.null)
    if text.names is None:
        if evidence.is_doubtful:
            raise InputError(describe_doubt(place))
        unnamed = count_unnamed(records)
        below = unnamed and weigh_header(records[1:], text.null).is_sure
        if below or unnamed * 2 >= len(records[0]) > 1:
            raise InputError(_describe_title(place, unnamed))
        return True
    if list(text.names) == [c.strip() for c in records[0]]:
        return True
    if evidence.is_sure:
        raise InputError(
            f"The first line of {place!r} seems to name columns. Say "
            "--header (header=True) too if your names are to take its place, or "
            "--no-header (header=False) if it is a row like the others."
        )
    return False


def describe_doubt(place: str) -> str:
    """The question whether a file has a header; what may be a person is not shown."""
    return (
        f"The first line of {place!r} must be known to name columns or to be a row; it "
        "looks like the rows below it, and is not shown for that. Say --header "
        "(header=True) if it names columns, --no-header (header=False) if it is a row, "
        "or --names a,b,c (names=[...]) to name the columns of a file without a header."
    )


def count_unnamed(records: Sequence[Sequence[str]]) -> int:
    """Columns that the first record leaves without a name, though they have values.

    The first column may be: programs write the numbers of rows so.

    >>> count_unnamed([["Patients", ""], ["job", "age"], ["Cook", "39"]])
    1
    >>> count_unnamed([["", "age", ""], ["1", "39", ""], ["2", "40", ""]])
    0
    """
    first, *below = records
    empty = [i for i, cell in enumerate(first) if i and not cell.strip()]
    return sum(any(r[i].strip() for r in below if len(r) > i) for i in empty)


def _describe_title(place: str, unnamed: int) -> str:
    return (
        f"The first line of {place!r} must name all columns; number of those with "
        f"values below it and no name in it, as below a title: {unnamed}. Take away "
        "what stands above the names, or say --header (header=True) if it is the "
        "names: the others are called column2 and so on. Say --no-header "
        "(header=False) if it is a row."
    )


def fill_names(
    first: Sequence[str], text: TextOptions, words: str, *, header: bool
) -> list[str]:
    """The names of the columns: those that were given, the header's, or numbers."""
    if text.names is not None and len(text.names) != len(first):
        raise InputError(
            f"names must be one for each of the {len(first)} columns of {words}; got "
            f"{len(text.names)}."
        )
    if text.names is not None:
        return list(text.names)
    return [c if header and c else f"column{i + 1}" for i, c in enumerate(first)]


def _weigh_column(first: str, column: Sequence[str], missing: Collection[str]) -> str:
    """What one column tells: one of the counts of `HeaderEvidence`, or nothing."""
    values = [v for v in column if v.casefold() not in missing]
    if first.casefold() in missing:
        return "row" if len(values) < len(column) else ""
    if not values:
        return ""
    kind, own = _find_kind(values), _recognise(first)
    if kind != "text":
        return {kind: "row", "text": "names"}.get(own, "")
    if first in values:
        return "row"
    return _compare_shapes(first, values)


def _find_kind(values: Sequence[str]) -> str:
    """The kind that nearly all texts have."""
    kind, times = Counter(map(_recognise, values)).most_common(1)[0]
    some, of = MOSTLY
    return kind if times * of >= len(values) * some else "text"


def _recognise(text: str) -> str:
    if NUMBER.fullmatch(text):
        return "number"
    return "moment" if MOMENT.fullmatch(text) else "text"


def _are_numbered(first: Sequence[str]) -> bool:
    """Whether columns are called 0, 1, 2 … or by years one after the other."""
    numbers = [
        int(text) for text in first if text.isdecimal() and len(text) < ENOUGH**2
    ]
    steps = {b - a for a, b in pairwise(numbers)}
    return len(numbers) >= MANY and steps == {1}


Shape = Callable[[str], bool]
"""Whether a text has something."""

SHAPES: tuple[Shape, ...] = (
    lambda text: any(letter.isdigit() for letter in text),
    lambda text: " " in text,
    lambda text: "@" in text,
    lambda text: any(letter in "<>=+/:#&" for letter in text),
)
"""What texts may have in common, and names of columns seldom have."""

CAPITALS: tuple[Shape, ...] = (str.isupper, lambda text: text[:1].isupper())
"""What names of columns often have, too."""


def _compare_shapes(first: str, values: Sequence[str]) -> str:
    """Whether a text has what all others have and not every text has."""
    if len(set(values)) < ENOUGH:
        return ""
    common = [shape for shape in SHAPES if all(map(shape, values))]
    lengths = {len(v) for v in values}
    if not common and len(lengths) == 1:
        common.append(lambda text: len(text) in lengths)
    written = [shape for shape in CAPITALS if all(map(shape, values))]
    if not all(shape(first) for shape in (*common, *written)):
        return "unlike"
    return "alike" if common else ""
