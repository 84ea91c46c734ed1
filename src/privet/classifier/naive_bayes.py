"""Naive Bayesian classifier (NBC) for categories, which keeps counts and never rows.

Needs the extra `learn`. Mozafari, Zaniolo 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from privet.classifier.class_labels import TEXT, name_kind, read_classes, text_of
from privet.classifier.count import BETWEEN, count_views
from privet.classifier.encoding import (
    Encoder,
    bin_values,
    encode_column,
    sort_bins,
    sort_values,
)
from privet.classifier.predict import posteriors_of_rows, predict_classes
from privet.classifier.release import (
    Attribute,
    ClassifierViews,
    Holders,
    from_categorical,
    order,
    to_exact_count,
)
from privet.classifier.sklearn_compat import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_is_fitted,
    check_sample_weight,
    column_or_1d,
    require_sklearn,
    validate_data,
)
from privet.errors import InputError
from privet.table import require_columns
from privet.values import exact
from privet.values.schema import Bins

if TYPE_CHECKING:
    from privet.table import Table
    from privet.values.noise.differential_privacy import DifferentialPrivacy


BINS = "bins must be edges per column such as {'age': [18, 65]}."


class NaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A naive Bayes classifier for categories, exact to the last tie.

    Parameters
    ----------
    alpha
        Added to every count; 1 by default, 0 leaves counts as they are.
    class_prior
        Probabilities of the classes, in the order of `classes_`; None: as counted.
    precedence
        Classes in the order in which they win ties; by default that of `classes_`.
    bins
        Public cut points per column, by name or position: ``{"age": [18, 65]}``.
    privacy
        A `DifferentialPrivacy` the counts are meant for: how many rows of one person
        count, and how much each. The noise itself is added when it is published.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([["W", 40], ["W", 30], ["P", 30]]), ["rich", "rich", "poor"]
    >>> NaiveBayes().fit(X, y).predict([["P", 30], ["W", 99]])
    array(['poor', 'rich'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        alpha: Any = 1,
        class_prior: Any = None,
        precedence: Any = None,
        bins: Any = None,
        privacy: Any = None,
    ) -> None:
        require_sklearn()
        self.alpha = alpha
        self.class_prior = class_prior
        self.precedence = precedence
        self.bins = bins
        self.privacy = privacy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # Learning -------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayes:
        """Count a table of attributes and its classes; a missing value is a value."""
        self._forget()
        return self._learn(X, y, None, sample_weight, reset=True)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
    ) -> NaiveBayes:
        """Add the counts of some more rows; name all classes in the first call."""
        first = not hasattr(self, "_counted")
        if first and classes is None:
            raise ValueError("classes must be given in the first call to partial_fit.")
        return self._learn(X, y, classes, sample_weight, reset=first)

    def fit_table(
        self,
        table: Table,
        *,
        target: str | Sequence[str] | None = None,
        attributes: Sequence[str] | None = None,
        drop_missing_target: bool = False,
    ) -> NaiveBayes:
        """Count a table where it lies, in one scan; no row is fetched.

        Parameters
        ----------
        table
            The private table.
        target
            The column to predict, or several that are joined; the table's own target.
        attributes
            The columns to predict it from; every quasi column.
        drop_missing_target
            Leave out rows without a class, instead of refusing them; how many is in
            `views_.dropped`.
        """
        self._forget()
        views = count_views(
            self._apply_bins(table),
            target=target,
            attributes=attributes,
            precedence=[str(text_of(c)) for c in (self.precedence or ())],
            smoothing=_read_alpha(self.alpha),
            drop_missing_target=drop_missing_target,
            privacy=self.privacy,
        )
        names = [a.name for a in views.attributes]
        self.classes_ = np.sort(read_classes(views.labels, views.target_type))
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        if (given := self._read_prior()) is not None:  # in the order of the names
            at = self._locate_labels(views)
            views = replace(views, prior=tuple(given[c] for c in at))
        return self._store_views(views)

    def _apply_bins(self, table: Table) -> Table:
        """The table with the classifier's own bins beside its own."""
        if self.bins is None:
            return table
        if not isinstance(self.bins, Mapping):
            raise InputError(BINS)
        require_columns([str(c) for c in self.bins], table.schema, "bins")
        roles = table.roles
        return table.with_roles(attrs.evolve(roles, bins={**roles.bins, **self.bins}))

    @classmethod
    def from_sklearn(cls, model: Any) -> NaiveBayes:
        """A classifier with the counts of a fitted `CategoricalNB`."""
        views = from_categorical(model)
        made = cls(alpha=views.smoothing)
        made.classes_ = np.asarray(model.classes_)
        made.n_features_in_ = len(views.attributes)
        return made._store_views(views)

    def _forget(self) -> None:
        for name in ("_counted", "views_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)

    def _learn(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        *,
        reset: bool,
    ) -> NaiveBayes:
        y = _join_labels(y)
        matrix, y = validate_data(
            self, X, y, reset=reset, dtype=None, ensure_all_finite="allow-nan"
        )
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        weights = check_sample_weight(sample_weight, matrix, dtype=np.float64)
        if (weights < 0).any():
            raise ValueError("sample_weight must not be negative.")
        limited = sample_weight is None
        if self.privacy is not None and self.privacy.heaviest is not None:
            weights, limited = _clip_weights(weights, self.privacy), True
        used = weights > 0
        if not used.any():
            raise ValueError("sample_weight must leave some rows.")
        matrix, y, weights = matrix[used], y[used], weights[used]
        if reset:
            self.classes_ = np.unique(y if classes is None else classes)
            self._counted = _RunningCounts(len(self.classes_), matrix.shape[1])
        self._counted.limited &= limited
        self._counted.add(
            self._encode_columns(matrix), self._locate_classes(y), weights
        )
        return self._store_views(self._make_views())

    def _locate_classes(self, y: NDArray[Any]) -> NDArray[np.int64]:
        at = np.searchsorted(self.classes_, y)
        at = np.clip(at, 0, len(self.classes_) - 1)
        if (self.classes_[at] != y).any():
            raise ValueError("y must hold classes named in the first call only.")
        return at

    def _encode_columns(
        self, matrix: NDArray[Any]
    ) -> list[tuple[list[str | None], NDArray[np.int64]]]:
        found = []
        edges = self._read_edges(matrix.shape[1])
        for i in range(matrix.shape[1]):
            values, codes = encode_column(matrix[:, i])
            found.append(
                (bin_values(values, edges[i]) if i in edges else values, codes)
            )
        return found

    def _read_edges(self, columns: int) -> dict[int, tuple[str, ...]]:
        if self.bins is None:
            return {}
        if not isinstance(self.bins, Mapping):
            raise InputError(BINS)
        names = list(getattr(self, "feature_names_in_", range(columns)))
        found = {}
        for column, given in self.bins.items():
            at = names.index(column) if column in names else column
            if not isinstance(at, int) or not 0 <= at < columns:
                raise InputError(f"bins must be of columns of X; got {column!r}.")
            bins = given if isinstance(given, Bins) else Bins(list(given))
            found[at] = tuple(bins.to_list())
        return found

    def _make_views(self) -> ClassifierViews:
        texts = [str(text_of(c)) for c in self.classes_.tolist()]
        if len(set(texts)) < len(texts):
            raise InputError("Classes must differ as texts; two are written alike.")
        wanted = [str(text_of(c)) for c in (self.precedence or ())]
        named = [*wanted, *(c for c in texts if c not in wanted)]
        there = [c for c, n in zip(texts, self._counted.sizes, strict=True) if n]
        for c in wanted:
            if c not in texts:
                raise InputError(f"precedence must hold classes; got {c!r}.")
        labels = order(there, [c for c in named if c in there])
        names = [str(n) for n in getattr(self, "feature_names_in_", ())]
        names = names or [f"x{i}" for i in range(self._counted.columns)]
        views = self._counted.to_views(
            names,
            labels,
            [texts.index(c) for c in labels],
            edges=self._read_edges(len(names)),
            smoothing=_read_alpha(self.alpha),
            prior=self._read_prior(),
        )
        return replace(
            views,
            target_type=name_kind(self.classes_),
            precedes=tuple(wanted),
            heaviest=self._find_heaviest(),
        )

    def _find_heaviest(self) -> Fraction | None:
        """How much one row counts at most; None: nobody limited it."""
        if not self._counted.limited:
            return None
        return Fraction(1) if self.privacy is None else Fraction(self.privacy.most)

    def _read_prior(self) -> list[Fraction] | None:
        if self.class_prior is None:
            return None
        given = [exact.fraction(p, "class_prior") for p in self.class_prior]
        if len(given) != len(self.classes_) or any(p <= 0 for p in given):
            raise InputError("class_prior must be a positive number for every class.")
        return given

    def _store_views(self, views: ClassifierViews) -> NaiveBayes:
        self.views_ = views
        self.class_count_ = np.zeros(len(self.classes_))
        self.class_count_[self._locate_labels(views)] = [float(n) for n in views.sizes]
        return self

    # Predicting -----------------------------------------------------------------------

    def _encode_rows(self, X: Any) -> NDArray[np.int64]:
        check_is_fitted(self, "views_")
        matrix = validate_data(
            self, X, reset=False, dtype=None, ensure_all_finite="allow-nan"
        )
        return Encoder(self.views_.attributes).encode(matrix)

    def _locate_labels(self, views: ClassifierViews) -> NDArray[np.int64]:
        """Where each of the views' labels stands in `classes_`."""
        if views.target_type != TEXT:
            values = read_classes(views.labels, views.target_type)
            return np.searchsorted(self.classes_, values)
        texts = [str(text_of(c)) for c in self.classes_.tolist()]
        return np.array([texts.index(c) for c in views.labels])

    def predict(self, X: Any) -> NDArray[Any]:
        """The best class of each row; ties are decided exactly, by precedence."""
        found = (
            predict_classes(self.views_.scores, self._encode_rows(X))
            if _require_fitted(self)
            else None
        )
        answer: NDArray[Any] = self.classes_[self._locate_labels(self.views_)[found]]
        return answer

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The belief in each class, in the order of `classes_`."""
        codes = self._encode_rows(X)
        found = posteriors_of_rows(self.views_.scores, codes)
        shares = np.zeros((len(codes), len(self.classes_)))
        shares[:, self._locate_labels(self.views_)] = found
        return shares

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Natural logarithms of the beliefs."""
        with np.errstate(divide="ignore"):
            found: NDArray[np.float64] = np.log(self.predict_proba(X))
        return found


def _clip_weights(
    weights: NDArray[np.float64], privacy: DifferentialPrivacy
) -> NDArray[np.float64]:
    """Weights within their limit, on the grid."""
    distinct, at = np.unique(weights, return_inverse=True)
    clipped = np.array([float(privacy.clip(w)) for w in distinct.tolist()])
    return clipped[at.ravel()]


def _require_fitted(model: NaiveBayes) -> bool:
    check_is_fitted(model, "views_")
    return True


def _read_alpha(alpha: Any) -> Fraction:
    found = exact.fraction(alpha, "alpha")
    if found < 0:
        raise InputError(f"alpha must not be negative; got {alpha!r}.")
    return found


def _join_labels(y: Any) -> Any:
    """Several columns of classes as one label."""
    if y is None:
        return y
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] > 1:
        rows = [[str(text_of(v)) for v in row] for row in array.tolist()]
        return np.array([BETWEEN.join(row) for row in rows])
    return y


# Counts so far ----------------------------------------------------------------------


class _RunningCounts:
    """Counts so far: per column a histogram of classes for every value."""

    def __init__(self, classes: int, columns: int) -> None:
        self.classes, self.columns = classes, columns
        self.limited = True
        self.sizes = np.zeros(classes)
        self.people = np.zeros(classes, dtype=np.int64)
        self.held: list[dict[str | None, int]] = [{} for _ in range(columns)]
        self.cells: list[dict[str | None, NDArray[np.float64]]] = [
            {} for _ in range(columns)
        ]

    def add(
        self,
        columns: Sequence[tuple[list[str | None], NDArray[np.int64]]],
        y: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None:
        """Count some more rows."""
        self.sizes += np.bincount(y, weights, self.classes)
        self.people += np.bincount(y, minlength=self.classes)
        for held, (values, codes) in zip(self.held, columns, strict=True):
            often = np.bincount(codes, minlength=len(values)).tolist()
            for value, n in zip(values, often, strict=True):
                held[value] = held.get(value, 0) + n
        for cells, (values, codes) in zip(self.cells, columns, strict=True):
            found = np.zeros((len(values), self.classes))
            # (values, classes); `+=` would count a pair that occurs twice only once.
            np.add.at(found, (codes, y), weights)
            for value, row in zip(values, found, strict=True):
                if row.any():
                    cells[value] = cells.get(value, 0) + row

    def to_views(
        self,
        names: Sequence[str],
        labels: tuple[str, ...],
        at: Sequence[int],
        *,
        edges: Mapping[int, tuple[str, ...]],
        smoothing: Fraction,
        prior: Sequence[Fraction] | None,
    ) -> ClassifierViews:
        """The counts as views."""
        values = [
            sort_bins(list(cells), edges[i]) if i in edges else sort_values(list(cells))
            for i, cells in enumerate(self.cells)
        ]
        attributes = tuple(
            Attribute(name, tuple(v), "number", edges.get(i, ()))
            for i, (name, v) in enumerate(zip(names, values, strict=True))
        )
        tables = tuple(
            tuple(tuple(to_exact_count(float(cells[v][c])) for c in at) for v in known)
            for cells, known in zip(self.cells, values, strict=True)
        )
        sums = [sum(row[c] for row in tables[0]) for c in range(len(at))]
        return ClassifierViews(
            "class",
            labels,
            attributes,
            tuple(sums),
            tables,
            smoothing,
            None if prior is None else tuple(prior[c] for c in at),
            holders=Holders(
                tuple(self.held),
                {c: int(self.people[i]) for c, i in zip(labels, at, strict=True)},
            ),
        )
