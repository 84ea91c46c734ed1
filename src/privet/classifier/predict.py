"""A published classifier as scikit-learn knows classifiers; needs the extra `learn`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.classifier.encoding import Encoder
from privet.classifier.predicting import exp_rows, predicted
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import Scores
from privet.classifier.sklearn_compat import (
    BaseEstimator,
    ClassifierMixin,
    require_sklearn,
)
from privet.errors import InputError


class PublishedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that was published as a scorecard: it predicts, and learns no more.

    Its predictions are those of the original; its probabilities are flattened, so
    thresholds other than the best class, and calibration, are not.
    """

    def __init__(self, scorecard: Scorecard | None = None) -> None:
        require_sklearn()
        self.scorecard = scorecard

    def __sklearn_is_fitted__(self) -> bool:
        return self.scorecard is not None

    def fit(self, X: Any = None, y: Any = None) -> PublishedNaiveBayes:
        """Nothing to learn: it is published as it is."""
        self._card()
        return self

    def _card(self) -> Scorecard:
        if self.scorecard is None:
            raise InputError("scorecard must be given; a release's classifier() does.")
        return self.scorecard

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes by name."""
        return np.array(sorted(self._card().labels))

    @property
    def n_features_in_(self) -> int:
        """How many columns a row must have."""
        return len(self._card().attributes)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns a frame must have."""
        return np.array([a.name for a in self._card().attributes], dtype=object)

    def _codes(self, X: Any) -> NDArray[np.int64]:
        card = self._card()
        names = [a.name for a in card.attributes]
        if hasattr(X, "columns") and set(names) <= set(map(str, X.columns)):
            X = X[names]
            columns = [np.asarray(X[name], dtype=object) for name in names]
            matrix = np.empty((len(columns[0]), len(names)), dtype=object)
            for i, column in enumerate(columns):
                matrix[:, i] = column
        else:
            _check_named(X, names)
            matrix = np.asarray(X)
        if matrix.ndim != 2 or matrix.shape[1] != len(names):
            raise InputError(
                f"X must have the columns {', '.join(map(repr, names))}, in this order."
            )
        return Encoder(card.attributes).codes(matrix)

    def predict(self, X: Any) -> NDArray[Any]:
        """The best class of each row, exactly as the scorecard says."""
        card = self._card()
        found = predicted(_ranked(card), self._codes(X), card)
        answer: NDArray[Any] = np.array(card.labels)[found]
        return answer

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The published beliefs, which are flattened, in the order of `classes_`."""
        card = self._card()
        found = exp_rows(card.scores, self._codes(X))
        at = [card.labels.index(c) for c in self.classes_]
        shares: NDArray[np.float64] = found[:, at]
        return shares


def _check_named(X: Any, names: list[str]) -> None:
    """Columns that have other names are not taken for those that are missing.

    Counts of an array have no names; x0, x1, … stand for them.
    """
    given = [c for c in getattr(X, "columns", ()) if isinstance(c, str)]
    missing = [n for n in names if n not in given]
    if given and missing and names != [f"x{i}" for i in range(len(names))]:
        raise InputError(
            f"X must have the columns {', '.join(map(repr, names))}; there is no "
            f"{' and no '.join(map(repr, missing))}."
        )


def _ranked(card: Scorecard) -> Scores:
    """Scores in the order of predictions: with the declared rule."""
    if card.rule is None:
        return card.scores
    weights = [card.power(t) for t in card.totals({})]
    return Scores(tuple(weights), card.scores.factors, realistic=True)
