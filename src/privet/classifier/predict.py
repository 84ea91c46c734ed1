"""Predictions for many rows; and a published classifier as scikit-learn knows them.

Floats predict where they are sure, fractions elsewhere. `PublishedNaiveBayes` needs the
extra `learn`. Mozafari, Zaniolo 2009, section 3, equation (2).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.classifier.class_labels import read_classes
from privet.classifier.encoding import Encoder
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import GUARD, Floats, Known, Scores
from privet.classifier.sklearn_compat import (
    BaseEstimator,
    ClassifierMixin,
    require_sklearn,
)
from privet.errors import InputError

Codes = NDArray[np.int64]


class Ranking(Protocol):
    """What ranks classes exactly."""

    def ranking(self, known: Known) -> list[int]:
        """The classes for values by index, the best first."""


def predict_classes(
    scores: Scores, codes: Codes, exactly: Ranking | None = None
) -> NDArray[np.int64]:
    """The best class of each row, exactly; code -1 is a value that tells nothing."""
    logs = log_scores_of_rows(scores, codes)
    # argmax takes the first of equals; from the back that is the last class.
    best: NDArray[np.int64] = logs.shape[1] - 1 - np.argmax(logs[:, ::-1], axis=1)
    if logs.shape[1] == 1 or not len(logs):
        return best
    top = np.sort(logs, axis=1)
    with np.errstate(invalid="ignore"):
        close = ~(top[:, -1] - top[:, -2] > GUARD * (1 + codes.shape[1]))
    # (different rows, attributes), and for each close row which of them it is.
    rows, first = np.unique(codes[close], axis=0, return_inverse=True)
    judge = exactly if exactly is not None else scores
    answers = [judge.ranking(_to_known(row))[0] for row in rows]
    if answers:
        best[close] = np.array(answers)[first.ravel()]
    return best


def _to_known(row: Codes) -> dict[int, int]:
    return {i: t for i, t in enumerate(row.tolist()) if t >= 0}


def log_scores_of_rows(scores: Scores, codes: Codes) -> Floats:
    """Binary logarithms of the scores of each row."""
    found = np.tile(scores.log_weights, (len(codes), 1))
    for i, table in enumerate(scores.log_factors):
        padded = np.vstack([table, np.zeros(scores.classes)])  # the last is for -1
        found += padded[codes[:, i]]
    return found


def posteriors_of_rows(scores: Scores, codes: Codes) -> Floats:
    """Beliefs of each row; where nothing fits, the prediction is certain."""
    logs = log_scores_of_rows(scores, codes)
    none = np.isneginf(logs).all(axis=1)
    # All scores are 0: of such ties the last class wins, so it gets everything.
    logs[none, -1] = 0
    found = np.exp2(logs - logs.max(axis=1, keepdims=True))
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


# A published classifier -------------------------------------------------------------


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
        self._require_card()
        return self

    def _require_card(self) -> Scorecard:
        if self.scorecard is None:
            raise InputError("scorecard must be given; a release's classifier() does.")
        return self.scorecard

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in order, as what they were: texts, numbers or truth values."""
        return np.sort(_read_labels(self._require_card()))

    @property
    def n_features_in_(self) -> int:
        """How many columns a row must have."""
        return len(self._require_card().attributes)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns a frame must have."""
        return np.array([a.name for a in self._require_card().attributes], dtype=object)

    def _encode_rows(self, X: Any) -> NDArray[np.int64]:
        card = self._require_card()
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
        return Encoder(card.attributes).encode(matrix)

    def predict(self, X: Any) -> NDArray[Any]:
        """The best class of each row, exactly as the scorecard says."""
        card = self._require_card()
        found = predict_classes(_apply_rule(card), self._encode_rows(X), card)
        answer: NDArray[Any] = _read_labels(card)[found]
        return answer

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The published beliefs, which are flattened, in the order of `classes_`."""
        card = self._require_card()
        found = posteriors_of_rows(card.scores, self._encode_rows(X))
        shares: NDArray[np.float64] = found[:, np.argsort(_read_labels(card))]
        return shares


def _read_labels(card: Scorecard) -> NDArray[Any]:
    """The classes in the order of the card."""
    return read_classes(card.labels, card.target_type)


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


def _apply_rule(card: Scorecard) -> Scores:
    """Scores in the order of predictions: with the declared rule."""
    if card.rule is None:
        return card.scores
    weights = [card.power(t) for t in card.totals({})]
    return Scores(tuple(weights), card.scores.factors, realistic=True)
