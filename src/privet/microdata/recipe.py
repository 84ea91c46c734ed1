"""A recipe: the suppression and intervals a release shows for values; private.

A recipe can be applied again to a later delivery of the same table. What that delivery
shows is audited afresh; a recipe carries no promise by itself.
Wang, Fung, Yu 2007, §3.2 (suppression), §6 (intervals).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from privet.engine.protocol import Relabel
from privet.errors import InputError
from privet.languages import mark
from privet.microdata.written_columns import (
    HIDDEN,
    LABELS,
    MARKED,
    MARKER,
    NULL,
    RANGES,
    require_choice,
)
from privet.release.manifest import RECIPE
from privet.values.contingency import Domain
from privet.values.exact import fraction
from privet.values.schema import KINDS, Bins

UNCHANGED = "as it is"
"""How a table is made that keeps every promise without any change."""

SEVERAL_ROWS = mark("protection of people who have several rows")

NOT_PROMISED = (
    mark("protection against somebody who knows other columns than the promise names"),
    mark("protection against a second release of the same people"),
    SEVERAL_ROWS,
    mark(
        "protection against somebody who draws conclusions from how values "
        "were chosen to be hidden"
    ),
)
"""What no promise of this kind covers; said in every manifest."""

Values = tuple[str | None, ...]
"""Values of a column as the source writes them; None: missing."""


@dataclass(frozen=True)
class Hide:
    """Suppression: some values of a column are hidden, the others shown.

    A value that was never seen when the recipe was made is hidden too: nobody judged
    it, and one more value behind the marker never raises a confidence.

    >>> later = Domain("job", ["Clerk", "Cook", "Spy"])
    >>> Hide(("Clerk",), shown=("Cook",)).texts(later, "⊥")
    ['⊥', 'Cook', '⊥']
    """

    hidden: Values
    """The hidden values."""
    shown: Values | None = None
    """The values that were seen and shown; None: all that are not hidden."""
    called: Mapping[str | None, str] = field(default_factory=dict)
    """What values are called that are shown by a node of their hierarchy."""

    def texts(self, domain: Domain, marker: str) -> list[str | None]:
        """What is shown for each value."""
        hidden = set(self.hidden)
        shown = None if self.shown is None else set(self.shown)

        def is_shown(label: str | None) -> bool:
            return label not in hidden if shown is None else label in shown

        return [
            self.called.get(label) or (label if is_shown(label) else marker)
            for label in domain.labels
        ]

    def show(self, domain: Domain, marker: str) -> list[str | None]:
        """What is written for each value: the same."""
        return self.texts(domain, marker)

    def to_dict(self) -> dict[str, Any]:
        """For the recipe file."""
        shown = {} if self.shown is None else {"show": list(self.shown)}
        # A list of pairs: a value may be missing, which no key of JSON can be.
        pairs = [[value, name] for value, name in self.called.items()]
        called = {"call": pairs} if pairs else {}
        return {"hide": list(self.hidden), **shown, **called}


@dataclass(frozen=True)
class Cut:
    """Discretization: an ordered column as intervals that end at these values.

    Values that are new, or gone, do not matter: every value has its interval.

    >>> later = Domain("age", ["17", "40"], "integer")
    >>> Cut(("18", "65")).texts(later, "⊥")
    ['up to 18', 'above 18 up to 65']
    """

    after: Values
    """The last value of each interval but the last, in order."""
    kind: str | None = None
    """The kind of values that were cut; None: whatever the column holds."""
    alone: Values = ()
    """Values that stood alone in their intervals, and are shown as long as they do."""

    def show(self, domain: Domain, marker: str) -> list[str | None]:
        """What is written for each value: alone in its interval, the value itself.

        Which values are told apart is as `texts` says it, whatever they are called.

        >>> few = Domain("age", ["18", "40", "60"], "integer")
        >>> Cut(("18",), alone=("18",)).show(few, "⊥")
        ['18', 'above 18', 'above 18']
        """
        texts = self.texts(domain, marker)
        often, alone = Counter(texts), set(self.alone)
        return [
            label if often[text] == 1 and label in alone else text
            for label, text in zip(domain.labels, texts, strict=True)
        ]

    def texts(self, domain: Domain, marker: str) -> list[str | None]:
        """The interval of each value; the marker where nothing is cut."""
        if not self.after:
            return [marker] * len(domain)
        ends, labels = self._find_ends(domain), label_intervals(self.after)
        if self.after[0] is not None and domain.code(None) is not None:
            labels[0] = f"missing or {labels[0]}"
        return [labels[bisect_left(ends, code)] for code in range(len(domain))]

    def _find_ends(self, domain: Domain) -> list[int]:
        """The code of the last value of each interval but the last; -1: none."""
        if {self.kind or domain.kind, domain.kind} not in _ALIKE:
            raise self._other_kind(domain)
        codes = [domain.code(value) for value in self.after]
        found = [code for code in codes if code is not None]
        if len(found) == len(codes):
            return found
        # An end that no row has now: of 17 and 40 one is up to 18 (code 0), two are up
        # to 65 (code 1).
        place = choose_order(domain.kind)
        try:
            at = [place(label) for label in domain.labels]
            return [sum(v <= place(end) for v in at) - 1 for end in self.after]
        except ValueError:
            raise self._other_kind(domain) from None

    def _other_kind(self, domain: Domain) -> InputError:
        return InputError(
            f"Column {domain.name!r} must still hold values of kind "
            f"{self.kind or domain.kind} to be cut as before; it does not. Publish it "
            "anew instead of applying the recipe."
        )

    def to_dict(self) -> dict[str, Any]:
        """For the recipe file."""
        kind = {} if self.kind is None else {"kind": self.kind}
        alone = {"alone": list(self.alone)} if self.alone else {}
        return {"cut_after": list(self.after), **kind, **alone}


def shows_labels(how: Hide | Cut) -> bool:
    """Whether a column shows labels for several values each, hidden ones aside."""
    return bool(how.called) if isinstance(how, Hide) else bool(how.after)


Place = Callable[[str | None], tuple[int, Any]]


def choose_order(kind: str) -> Place:
    """What orders values of a kind as engines do: missing first, no number last."""
    readers: dict[str, Callable[[str], Any]] = {
        "integer": fraction,
        "number": fraction,
        "date": date.fromisoformat,
        "datetime": datetime.fromisoformat,
    }
    read = readers.get(kind, str)

    def place(label: str | None) -> tuple[int, Any]:
        if label is None:
            return 0, 0
        if kind == "number" and label.lower() in _FAR:
            return _FAR[label.lower()], 0
        return 2, read(label)

    return place


def sort_values(values: Sequence[str | None], kind: str) -> list[str | None]:
    """Values of a kind in the order engines give them.

    >>> sort_values(["10", None, "9"], "integer")
    [None, '9', '10']
    """
    return sorted(values, key=choose_order(kind))


_ALIKE = [{"integer", "number"}, *({kind} for kind in KINDS)]
"""Kinds whose values have one order."""

_FAR = {"-inf": 1, "inf": 3, "nan": 4}
"""Where engines put numbers that are none."""


def list_places(cut: Cut, kind: str) -> list[str | None]:
    """A value in each interval of a cut: its ends, and one beyond the last.

    >>> list_places(Cut(("18", "65")), "integer")
    ['18', '65', '66']
    """
    if not cut.after or cut.after[-1] is None:
        return list(cut.after)
    beyond = {"date": "9999-12-31", "datetime": "9999-12-31 00:00:00"}
    last = cut.after[-1]
    if kind in ("integer", "number") and last.lower() not in _FAR:
        return [*cut.after, str(int(fraction(last)) + 1)]
    return [*cut.after, beyond.get(kind, last + "\U0010ffff")]


def label_intervals(ends: Sequence[str | None]) -> list[str]:
    """Intervals in words, from the values they end at; nothing else is told.

    >>> label_intervals(["18", "65"])
    ['up to 18', 'above 18 up to 65', 'above 65']
    >>> label_intervals([None, "65"])
    ['missing', 'up to 65', 'above 65']
    """
    labels, before = [], None
    for end in ends:
        if end is None:
            labels.append("missing")
        else:
            low = f"above {before} " if before is not None else ""
            labels.append(f"{low}up to {end}")
        before = end
    labels.append(f"above {before}" if before is not None else "not missing")
    return labels


@dataclass(frozen=True)
class Recipe:
    """What is shown of each column that is not shown as it is."""

    columns: Mapping[str, Hide | Cut] = field(default_factory=dict)
    """What is hidden or cut, by column."""
    marker: str = MARKER
    """How a hidden value is shown."""
    hidden: str = MARKED
    """How hidden cells are written: as the "marker", or "null", like missing ones."""
    ranges: str = LABELS
    """How intervals are written: as "labels", or as "columns" with their ends."""

    def __post_init__(self) -> None:
        require_choice(self.hidden, "hidden", HIDDEN)
        require_choice(self.ranges, "ranges", RANGES)
        text = isinstance(self.marker, str) and self.marker
        if not (text and self.marker.isprintable() and text == text.strip()):
            raise InputError(
                f"marker must be a visible text without blanks around it; "
                f"got {self.marker!r}."
            )

    def relabels(
        self, domains: Mapping[str, Domain], bins: Mapping[str, Bins]
    ) -> dict[str, Relabel]:
        """The recipe for a table with these values; all shown as they are: nothing."""
        shown = {
            c: self._show_values(how, domains[c])
            for c, how in self.columns.items()
            if c in domains
        }
        return {
            c: Relabel(tuple(texts), bins.get(c))
            for c, texts in shown.items()
            if texts != list(domains[c].labels)
        }

    def hide_missing(self, domains: Mapping[str, Domain]) -> Recipe:
        """Where hidden cells are empty, missing values are hidden with the others.

        Nobody can tell them apart then: they are one value to whoever reads the file.
        """
        if self.hidden != NULL:
            return self
        columns = {
            c: _add_missing(how)
            if isinstance(how, Hide) and domains[c].code(None) is not None
            else how
            for c, how in self.columns.items()
        }
        return replace(self, columns=columns)

    def _show_values(self, how: Hide | Cut, domain: Domain) -> list[str | None]:
        if domain.code(self.marker) is not None:
            raise InputError(
                f"marker must not be a value of the table; {self.marker!r} is one of "
                f"column {domain.name!r}. Choose another marker."
            )
        if isinstance(how, Hide) and self.marker in how.called.values():
            raise InputError(
                f"marker must not be a label of the table; {self.marker!r} is a node "
                f"of the hierarchy of column {domain.name!r}. Choose another marker."
            )
        return how.show(domain, self.marker)

    def to_dict(self) -> dict[str, Any]:
        """For the recipe file."""
        columns = {c: how.to_dict() for c, how in self.columns.items()}
        stated = {"recipe": 1, "marker": self.marker, "columns": columns}
        usual = {"hidden": MARKED, "ranges": LABELS}
        own = {"hidden": self.hidden, "ranges": self.ranges}
        return stated | {k: v for k, v in own.items() if v != usual[k]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Recipe:
        """Read what `to_dict` wrote."""
        if not isinstance(content, Mapping) or content.get("recipe") != 1:
            raise _no_recipe()
        columns = content.get("columns")
        if not isinstance(columns, Mapping):
            raise _no_recipe()
        return cls(
            {c: _read_column(how) for c, how in columns.items()},
            content.get("marker", MARKER),
            content.get("hidden", MARKED),
            content.get("ranges", LABELS),
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Recipe:
        """Read the recipe of a release from its custody folder, or from its file.

        It is applied to a later delivery by ``publish(..., recipe=)``: values that
        were hidden stay hidden; of a column with hidden values, those never seen
        before are hidden too; of all other columns, new values are shown. The result
        is audited afresh, and refused where a promise breaks.
        """
        file = Path(path).expanduser()
        file = file / RECIPE if file.is_dir() else file
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise InputError(
                f"{str(file)!r} must be a recipe that privet wrote; it cannot be read."
            ) from None
        return cls.from_dict(content)


def _add_missing(how: Hide) -> Hide:
    if None in how.hidden or not how.hidden:
        return how
    shown = None if how.shown is None else tuple(v for v in how.shown if v is not None)
    return Hide((None, *how.hidden), shown, how.called)


def _no_recipe() -> InputError:
    return InputError("A recipe must be a file that privet wrote; this is none.")


def _read_column(stated: object) -> Hide | Cut:
    """What is done to one column, as a recipe file says it."""
    if not isinstance(stated, Mapping):
        raise _no_recipe()
    if "cut_after" in stated:
        kind = stated.get("kind")
        if kind is not None and not isinstance(kind, str):
            raise _no_recipe()
        alone = _read_values(stated.get("alone", []))
        return Cut(_read_values(stated["cut_after"]), kind, alone)
    shown = stated.get("show")
    return Hide(
        _read_values(stated.get("hide")),
        None if shown is None else _read_values(shown),
        _read_called(stated.get("call", [])),
    )


def _read_called(pairs: object) -> dict[str | None, str]:
    """What values are called, as a recipe file says it."""
    if not isinstance(pairs, list):
        raise _no_recipe()
    found = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise _no_recipe()
        value, name = _read_values(pair)
        if not name:
            raise _no_recipe()
        found[value] = name
    return found


def _read_values(values: object) -> Values:
    if not isinstance(values, list):
        raise _no_recipe()
    if not all(v is None or isinstance(v, str) for v in values):
        raise _no_recipe()
    return tuple(values)
