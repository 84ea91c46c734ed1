"""NBC-enabling views: class sizes and counts of value and class, with their columns.

They are all a naive Bayes classifier is made of, and all that is published of it.
Mozafari, Zaniolo 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from privet.classifier.class_labels import TEXT, name_kind, read_classes, text_of
from privet.classifier.scores import Scores, scores_with_smoothing
from privet.display import Displayed
from privet.errors import InputError, find_nearest, suggest_names
from privet.values import exact
from privet.values.exact import Number

Value = str | None
"""A value as text; None: missing."""


@dataclass(frozen=True)
class Attribute:
    """A column a classifier looks at."""

    name: str
    """As the table calls it."""
    values: tuple[Value, ...]
    """The values it takes, as texts; None: missing."""
    kind: str = "text"
    """What the texts are, as `values/schema.py: KINDS` has it."""
    edges: tuple[str, ...] = ()
    """Public cut points, where the values are bins."""

    def __post_init__(self) -> None:
        if len(set(self.values)) < len(self.values) or not self.values:
            raise InputError(f"Attribute {self.name!r} must have values, each once.")

    def code(self, value: object) -> int | None:
        """Where a value stands; None if it never occurs."""
        return self._codes.get(value)  # type: ignore[call-overload, no-any-return]

    @cached_property
    def _codes(self) -> dict[Value, int]:
        return {v: t for t, v in enumerate(self.values)}


def index_of(attributes: Sequence[Attribute], name: str) -> int:
    """Where an attribute stands; an error where there is none."""
    names = [a.name for a in attributes]
    if name not in names:
        raise InputError(
            f"Attribute {name!r} must be one the classifier looks at. "
            f"{suggest_names(name, names)}"
        )
    return names.index(name)


def describe_known(
    attributes: Sequence[Attribute], known: Mapping[int, int]
) -> dict[str, Value]:
    """What is known of a person by index, in names and values."""
    return {attributes[i].name: attributes[i].values[t] for i, t in known.items()}


Label = str
"""A class, by its name."""

MOST_CELLS = 5_000_000
"""Counts of one classifier; a column with more values than that is no attribute."""


@dataclass(frozen=True)
class Holders:
    """How many people have each value of each attribute, and each class."""

    values: tuple[Mapping[Value, int], ...]
    """People by value, for every attribute."""
    labels: Mapping[Label, int]
    """People by class."""


@dataclass(frozen=True, eq=False)
class ClassifierViews(Displayed):
    """The counts a naive Bayes classifier is made of.

    >>> v = ClassifierViews.from_counts({"50K": 2, "70K": 5},
    ...     {"Adr": {"W": {"50K": 1, "70K": 4}, "P": {"50K": 1, "70K": 1}}})
    >>> v.predict({"Adr": "W"}), v.posterior({"Adr": "W"})["70K"]
    ('70K', Fraction(4, 5))
    """

    target: str
    """What is predicted."""
    labels: tuple[Label, ...]
    """The classes by precedence, the weakest first: of equal scores the last wins."""
    attributes: tuple[Attribute, ...]
    """The columns that predict it."""
    sizes: tuple[Any, ...]
    """Rows per class, in the order of `labels`."""
    cells: tuple[tuple[tuple[Any, ...], ...], ...]
    """Rows per attribute, value and class."""
    smoothing: Fraction = Fraction(0)
    """Added to every cell when scores are made of the counts."""
    prior: tuple[Fraction, ...] | None = None
    """A class prior in place of the sizes, in the order of `labels`."""
    undecided: tuple[str, ...] = ()
    """Columns of the table that have no role; nothing is written while there are."""
    target_type: str = TEXT
    """What the classes are: text, integer, number or boolean; labels name them."""
    dropped: int = 0
    """Rows that were left out, since they have no class."""
    precedes: tuple[Label, ...] = ()
    """Classes that were asked to win ties, the first first."""
    rows_per_person: int = 1
    """How many rows of one person were counted at most."""
    heaviest: Fraction | None = Fraction(1)
    """How much one of these rows counts at most; None: nobody limited it."""
    holders: Holders | None = None
    """How many people have each value and class, where counts do not tell."""

    def __post_init__(self) -> None:
        _refuse_odd(self)

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes in the order of their names."""
        return tuple(sorted(self.labels))

    @property
    def precedence(self) -> tuple[Label, ...]:
        """The classes in the order in which they win ties."""
        return self.labels[::-1]

    @property
    def rows(self) -> Any:
        """How many rows were counted."""
        return sum(self.sizes)

    @property
    def whole(self) -> bool:
        """Whether every count is a whole number."""
        return all(Fraction(p).denominator == 1 for p in self.sizes) and all(
            Fraction(n).denominator == 1
            for table in self.cells
            for row in table
            for n in row
        )

    @cached_property
    def scores(self) -> Scores:
        """The exact scores these counts amount to."""
        return scores_with_smoothing(self.sizes, self.cells, self.smoothing, self.prior)

    @classmethod
    def from_counts(
        cls,
        sizes: Mapping[Any, int],
        counts: Mapping[str, Mapping[Value, Mapping[Any, int]]],
        *,
        target: str = "class",
        precedence: Sequence[Any] | None = None,
        smoothing: Number = 0,
    ) -> ClassifierViews:
        """Counts written out: rows per class, and per attribute, value and class.

        Classes are texts, or all of them whole numbers, numbers or truth values.
        """
        if not isinstance(sizes, Mapping) or not isinstance(counts, Mapping):
            raise InputError(
                "Counts must be rows per class, and per attribute, value and class; "
                f"got {type(sizes).__name__} and {type(counts).__name__}."
            )
        kind = name_kind(np.array(list(sizes)))
        sizes = _name_classes(sizes)
        counts = {
            name: {v: _name_classes(row) for v, row in values.items()}
            for name, values in counts.items()
        }
        asked = tuple(str(text_of(c)) for c in precedence or ())
        labels = order(sizes, asked)
        attributes = tuple(Attribute(name, tuple(v)) for name, v in counts.items())
        unknown = {c for v in counts.values() for row in v.values() for c in row} - set(
            labels
        )
        if unknown:
            first = sorted(unknown)[0]
            raise InputError(
                f"Counts must be of classes with rows; got {first!r}. "
                f"{suggest_names(first, labels)}"
            )
        return cls(
            target,
            labels,
            attributes,
            tuple(sizes[c] for c in labels),
            tuple(
                tuple(tuple(row.get(c, 0) for c in labels) for row in values.values())
                for values in counts.values()
            ),
            smoothing=smoothing_of(smoothing),
            precedes=asked,
            target_type=kind,
        )

    def smoothed(self, smoothing: Number = 1) -> ClassifierViews:
        """The same counts, with this much added to every cell for the scores."""
        return replace(self, smoothing=smoothing_of(smoothing))

    def over(self, names: Sequence[str]) -> ClassifierViews:
        """The classifier that looks at some of the attributes only."""
        at = [self.victim_index(n) for n in names]
        return replace(
            self,
            attributes=tuple(self.attributes[i] for i in at),
            cells=tuple(self.cells[i] for i in at),
        )

    @property
    def model(self) -> Scores:
        """The same scores, where what is not known is summed over."""
        return self.scores.normalised

    @property
    def slack(self) -> Fraction:
        """How far a posterior of the scores may be off: they are exact."""
        return Fraction(0)

    @property
    def model_slack(self) -> Fraction:
        """How far one of the model may be off: it is exact, too."""
        return Fraction(0)

    @property
    def counted(self) -> ClassifierViews | None:
        """Itself where whole counts are published as they are, for averaging."""
        plain = not self.smoothing and self.prior is None
        return self if plain and self.whole else None

    # One victim -----------------------------------------------------------------------

    def victim_index(self, name: str) -> int:
        """Where an attribute stands; an error where there is none."""
        return index_of(self.attributes, name)

    def victim(self, known: Mapping[str, Value]) -> dict[int, int]:
        """What is known of a person, by index; every value must occur."""
        found = {}
        for name, value in known.items():
            i = self.victim_index(name)
            t = self.attributes[i].code(value)
            if t is None:
                raise InputError(
                    f"What is known must occur in the counts; {name!r} has no such "
                    "value."
                )
            found[i] = t
        return found

    def told(self, known: Mapping[int, int]) -> dict[str, Value]:
        """What is known of a person, in names and values."""
        return describe_known(self.attributes, known)

    def predict(self, known: Mapping[str, Value]) -> Label:
        """The best label for the values known; others do not count."""
        return self.labels[self.scores.ranking(self.victim(known))[0]]

    def posterior(self, known: Mapping[str, Value]) -> dict[Label, Fraction]:
        """What somebody believes who knows this of a random row."""
        found = self.scores.posterior(self.victim(known))
        if found is None:
            raise InputError("Somebody must fit what is known; nobody does.")
        return dict(zip(self.labels, found, strict=True))

    # In and out -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """For the custody record: every count."""
        return {
            "target": self.target,
            **describe_type(self.target_type),
            "labels": list(self.labels),
            "attributes": [
                {
                    "name": a.name,
                    "kind": a.kind,
                    "values": list(a.values),
                    **({"edges": list(a.edges)} if a.edges else {}),
                }
                for a in self.attributes
            ],
            "sizes": [_format_count(p) for p in self.sizes],
            "cells": [
                [[_format_count(n) for n in row] for row in t] for t in self.cells
            ],
            "smoothing": str(self.smoothing),
            "prior": None if self.prior is None else [str(p) for p in self.prior],
            **({"dropped": self.dropped} if self.dropped else {}),
        }

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> ClassifierViews:
        """Read what `to_dict` wrote."""
        prior = stated["prior"]
        return cls(
            stated["target"],
            tuple(stated["labels"]),
            tuple(
                Attribute(
                    a["name"],
                    tuple(a["values"]),
                    a.get("kind", "text"),
                    tuple(a.get("edges", ())),
                )
                for a in stated["attributes"]
            ),
            tuple(_parse_count(p) for p in stated["sizes"]),
            tuple(
                tuple(tuple(_parse_count(n) for n in row) for row in table)
                for table in stated["cells"]
            ),
            Fraction(stated["smoothing"]),
            None if prior is None else tuple(Fraction(p) for p in prior),
            precedes=tuple(reversed(stated["labels"])),
            target_type=stated.get("target_type", TEXT),
            dropped=int(stated.get("dropped", 0)),
        )

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.attributes)
        return (
            f"ClassifierViews({names} → {self.target}: {len(self.labels)} classes, "
            f"{self.rows} rows)"
        )


def _name_classes(rows: Mapping[Any, Any]) -> dict[Label, Any]:
    """Rows by the names of classes, whatever these are."""
    return {str(text_of(c)): n for c, n in rows.items()}


def describe_type(target_type: str) -> dict[str, str]:
    """What a file says of the classes, where they are no texts."""
    return {} if target_type == TEXT else {"target_type": target_type}


def order(
    labels: Iterable[Label], precedence: Sequence[Label] | None
) -> tuple[Label, ...]:
    """The classes, the weakest first; by default the first in the alphabet wins.

    >>> order(["a", "b"], None), order(["a", "b"], ["b"])
    (('b', 'a'), ('a', 'b'))
    """
    known = sorted(labels)
    first = list(precedence or ())
    for label in first:
        if label not in known or first.count(label) > 1:
            close = find_nearest(str(label), [c for c in known if c != label])
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise InputError(
                f"precedence must hold classes, each once; got {label!r}.{hint}"
            )
    return tuple(reversed([*first, *(c for c in known if c not in first)]))


def smoothing_of(value: Number) -> Fraction:
    """What is added to every count, as a fraction; not negative."""
    found = exact.fraction(value, "smoothing")
    if found < 0:
        raise InputError(
            f"smoothing must not be negative; got {exact.quote_value(value)}."
        )
    return found


def _format_count(n: Any) -> Any:
    return int(n) if Fraction(n).denominator == 1 else str(n)


def _parse_count(n: Any) -> Any:
    return n if isinstance(n, int) else Fraction(n)


def _refuse_odd(views: ClassifierViews) -> None:
    if len(set(views.labels)) < len(views.labels) or not views.labels:
        raise InputError("A classifier must have classes, each once.")
    read_classes(views.labels, views.target_type)
    names = [a.name for a in views.attributes]
    if len(set(names)) < len(names):
        raise InputError("A classifier must look at each attribute once.")
    _refuse_shape(views)
    _refuse_negative(views)
    for attribute, table in zip(views.attributes, views.cells, strict=True):
        found = [sum(column) for column in zip(*table, strict=True)]
        if found != list(views.sizes):
            raise InputError(
                f"The counts of attribute {attribute.name!r} must add up to the rows "
                f"of each class, {_join_counts(views.sizes)}; got "
                f"{_join_counts(found)}."
            )


def _refuse_shape(views: ClassifierViews) -> None:
    rows = [len(a.values) for a in views.attributes]
    classes = {len(views.labels), len(views.sizes), *_widths(views)}
    if rows != [len(t) for t in views.cells] or len(classes) > 1:
        raise InputError("Counts must be given for every class and value, once each.")


def _widths(views: ClassifierViews) -> set[int]:
    return {len(row) for table in views.cells for row in table}


def _refuse_negative(views: ClassifierViews) -> None:
    if any(p <= 0 for p in views.sizes):
        raise InputError("Each class must have rows; leave out those without.")
    for table in views.cells:
        if any(n < 0 for row in table for n in row):
            raise InputError("A count must not be negative.")
    if sum(len(t) for t in views.cells) * len(views.labels) > MOST_CELLS:
        raise InputError(
            f"A classifier must have at most {MOST_CELLS:,} counts. Bin the columns "
            "with many values, or leave them out."
        )


def _join_counts(counts: Sequence[Any]) -> str:
    return ", ".join(str(n) for n in counts)


def from_categorical(model: Any, names: Sequence[str] | None = None) -> ClassifierViews:
    """The counts of a fitted scikit-learn `CategoricalNB`; its values are codes."""
    counts = getattr(model, "category_count_", None)
    if counts is None:
        raise InputError(
            "A model must be a fitted NaiveBayes or CategoricalNB; got "
            f"{type(model).__name__}."
        )
    kind = name_kind(np.asarray(model.classes_))
    classes = [str(text_of(c)) for c in np.asarray(model.classes_).tolist()]
    given = getattr(model, "feature_names_in_", None) if names is None else names
    names = [f"x{i}" for i in range(len(counts))] if given is None else list(given)
    labels = order(classes, None)
    at = [classes.index(c) for c in labels]
    prior = np.exp(np.asarray(model.class_log_prior_))
    fitted = bool(getattr(model, "fit_prior", True)) and model.class_prior is None
    return ClassifierViews(
        "class",
        labels,
        tuple(
            Attribute(str(n), tuple(map(str, range(table.shape[1]))), "integer")
            for n, table in zip(names, counts, strict=True)
        ),
        tuple(to_exact_count(float(model.class_count_[c])) for c in at),
        tuple(
            tuple(
                tuple(to_exact_count(float(table[c, t])) for c in at)
                for t in range(table.shape[1])
            )
            for table in counts
        ),
        exact.fraction(float(model.alpha)),
        None if fitted else tuple(Fraction(float(prior[c])) for c in at),
        target_type=kind,
    )


def to_exact_count(n: float) -> int | Fraction:
    """A count as an integer, or as the fraction its digits mean.

    >>> to_exact_count(3.0), to_exact_count(0.5)
    (3, Fraction(1, 2))
    """
    return int(n) if float(n).is_integer() else exact.fraction(float(n))
