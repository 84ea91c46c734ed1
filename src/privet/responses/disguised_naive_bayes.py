"""Naive Bayesian classifier from disguised data: pairs of attribute and class suffice.

Learnt from multivariate randomized response; with the class public, by the formula that
fits it (the paper's Eq. 2 does not), and with estimates that stay shares.
Zhan, Chang, Matwin 2004, section 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.randomise.exact_sampling import Codes
from privet.errors import EmptyTable, InputError
from privet.responses.accuracy import LABEL, estimate_accuracy, score_second_class
from privet.responses.channel_inverse import (
    invert_channel,
    invert_in_floats,
    maximise_likelihood,
)
from privet.responses.channels import Channel, Flip, KAry, Keep, Replace
from privet.responses.design import Design, MarginalChannel, Question, design_of
from privet.responses.estimate import Estimate
from privet.responses.transformer import as_arrow, decode_answers, encode_answers

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ImportError:  # it learns and predicts without scikit-learn, too

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands for scikit-learn's."""

    class ClassifierMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's."""


FLOOR = 1e-6
"""The least probability in the paper's mode."""

Floats = NDArray[np.float64]


class DisguisedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A naive Bayes classifier learnt from disguised records alone.

    Parameters
    ----------
    disguise
        The `Design` of the records, or the `RandomizedResponse` that disguised them.
    smoothing
        Added to each count, as far as the disguise leaves counts worth something.
    paper
        As the paper does it: linear estimates, cut off at one in a million.
    """

    def __init__(
        self, disguise: Any = None, *, smoothing: float = 1.0, paper: bool = False
    ) -> None:
        self.disguise = disguise
        self.smoothing = smoothing
        self.paper = paper

    def fit(self, X: Any, y: Any) -> DisguisedNaiveBayes:
        """Learn from disguised records.

        Columns are found in the design by their names. So is the class: if `y` has
        the name of a question it is taken as disguised, otherwise as it is.
        """
        design = design_of(self.disguise)
        frame = as_arrow(X)
        _refuse_odd(self.smoothing, len(frame), len(y))
        name = getattr(y, "name", None)
        self.class_column_ = name if name in design.columns else None
        self.columns_ = tuple(frame.column_names)
        self.n_features_in_ = len(self.columns_)
        self.classes_, label = _encode_classes(design, self.class_column_, y)
        if len(self.classes_) < 2:
            raise InputError("A class must have at least two values; got one.")
        self.log_prior_ = np.log(self._estimate_priors(design, label))
        self.log_likelihood_ = {
            c: np.log(self._estimate_conditional(design, c, frame[c], label))
            for c in self.columns_
        }
        return self

    # Learning -----------------------------------------------------------------------

    def _find_disguised_class(self, design: Design) -> str | None:
        name = self.class_column_
        return None if name is None or name in design.public else name

    def _estimate_priors(self, design: Design, label: Codes) -> Floats:
        """P(class) from the class alone."""
        k, name = len(self.classes_), self._find_disguised_class(design)
        counts = np.bincount(label[label >= 0], minlength=k).astype(float)
        if name is None:
            return self._smooth(counts / counts.sum(), counts.sum())
        pieces = design.pieces([name])
        shares = maximise_likelihood(pieces, _require_size(counts, pieces))
        return self._smooth(shares, counts.sum() * _measure_worth(pieces[0]))

    def _estimate_conditional(
        self, design: Design, column: str, cells: Any, label: Codes
    ) -> Floats:
        """P(value | class), one row per value."""
        question = design.question(column)
        codes = encode_with_missing(question, cells)
        both = (codes >= 0) & (label >= 0)
        shape = len(question), len(self.classes_)
        counts = np.zeros(shape, dtype=np.int64)
        # (values, classes); `+=` would count rows of the same pair once.
        np.add.at(counts, (codes[both], label[both]), 1)
        name = self._find_disguised_class(design)
        if name is None:
            pieces = design.pieces([column])
            columns = [
                self._estimate_column(pieces, counts[:, c]) for c in range(shape[1])
            ]
            return np.stack(columns, axis=1)
        return self._estimate_joint(design, column, name, counts)

    def _estimate_column(self, pieces: Any, counts: NDArray[np.int64]) -> Floats:
        """P(value | class) where the class is public: one channel, one class."""
        n = counts.sum()
        tensor = _require_size(counts, pieces)
        if self.paper:
            shares = invert_channel(pieces, tensor / max(n, 1))
            return np.asarray(np.clip(shares, FLOOR, 1 - FLOOR))
        return self._smooth(
            maximise_likelihood(pieces, tensor), n * _measure_worth(pieces[0])
        )

    def _estimate_joint(
        self, design: Design, column: str, name: str, counts: NDArray[np.int64]
    ) -> Floats:
        """P(value | class) where both are disguised: the likeliest table of pairs."""
        pieces = design.pieces([column, name])
        order = [c for p in pieces for c in p.columns]
        if set(order) != {column, name}:
            raise InputError(
                f"{column!r} and {name!r} must be estimable without other columns; "
                "their group has a matrix of its own."
            )
        # Pieces come in the order of the design: (values, classes), or the other way
        # round; one axis if a group holds both.
        turned = counts if order[0] == column else counts.T
        tensor = turned.reshape([p.size for p in pieces])
        table = (
            invert_channel(pieces, tensor / tensor.sum())
            if self.paper
            else maximise_likelihood(pieces, tensor)
        )
        table = table.reshape(turned.shape)
        table = table if order[0] == column else table.T
        total = table.sum(axis=0)
        worth = float(np.prod([_measure_worth(p) for p in pieces]))
        if self.paper:
            shares = table / np.where(total == 0, 1, total)
            return np.asarray(np.clip(shares, FLOOR, 1 - FLOOR))
        n = counts.sum()
        columns = [
            self._smooth(
                table[:, c] / total[c] if total[c] > 0 else table[:, c],
                n * total[c] * worth,
            )
            for c in range(table.shape[1])
        ]
        return np.stack(columns, axis=1)

    def _smooth(self, shares: Floats, effective: float) -> Floats:
        """Laplace's rule, by how many plain answers the disguised ones are worth."""
        if self.paper:
            return np.asarray(np.clip(shares, FLOOR, 1 - FLOOR))
        k = len(shares)
        kept = shares if shares.sum() > 0 else np.full(k, 1 / k)
        # 100 answers at truth 0.8 are worth 36: a share of 0 becomes 1/38.
        alpha = max(self.smoothing, 1e-9)
        return np.asarray((kept * effective + alpha) / (effective + k * alpha))

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "classes_"):
            raise InputError("A classifier must have learnt first: call fit.")

    # Predicting ---------------------------------------------------------------------

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """The logarithm of P(class) P(values | class), up to what all classes share."""
        self._refuse_unfitted()
        design, frame = design_of(self.disguise), as_arrow(X)
        if tuple(frame.column_names) != self.columns_:
            raise InputError(
                f"Records must have the columns {', '.join(self.columns_)}; got "
                f"{', '.join(frame.column_names)}."
            )
        codes = {
            c: encode_with_missing(design.question(c), frame[c]) for c in self.columns_
        }
        return self._score_classes(codes, len(frame))

    def _score_classes(self, codes: Mapping[str, Codes], n: int) -> Floats:
        found: Floats = np.tile(self.log_prior_, (n, 1))
        for c in self.columns_:
            told = np.vstack([self.log_likelihood_[c], np.zeros(len(self.classes_))])
            found += told[codes[c]]  # the last row is for what is missing
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class; of equally likely ones the first."""
        best = np.argmax(self.predict_joint_log_proba(X), axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class."""
        scores = self.predict_joint_log_proba(X)
        shares: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def score_disguised(
        self,
        X: Any,
        y: Any,
        *,
        confidence: float = 0.95,
    ) -> Estimate:
        """The accuracy on the true records behind a disguised test set."""
        self._refuse_unfitted()
        design, frame = design_of(self.disguise), as_arrow(X)
        records = {
            c: encode_answers(design.question(c), frame[c]) for c in self.columns_
        }
        _, place = _encode_classes(design, self.class_column_, y, self.classes_)
        if (place < 0).any():
            raise InputError("Labels of a test set must not be missing.")
        order = _place_classes(design, self.class_column_, self.classes_)

        def is_correct(table: dict[str, Codes]) -> NDArray[np.bool_]:
            scores = self._score_classes(table, len(table[LABEL]))
            return np.asarray(order[np.argmax(scores, axis=1)] == table[LABEL])

        name = self._find_disguised_class(design)
        return estimate_accuracy(
            design,
            records,
            order[place],
            name,
            is_correct,
            confidence=confidence,
            shortcut=lambda table: self._score_by_halves(design, table, name, order),
        )

    def _score_by_halves(
        self, design: Design, table: dict[str, Codes], name: str | None, order: Codes
    ) -> Floats | None:
        """What each record counts, by halves of its columns; None where that fails."""
        own = next((g for g in design.groups if name in g.columns), None)
        if len(self.classes_) != 2 or (own and set(own.columns) & set(self.columns_)):
            return None
        odds = {c: told[:, 1] - told[:, 0] for c, told in self.log_likelihood_.items()}
        bias = float(self.log_prior_[1] - self.log_prior_[0])
        second = score_second_class(design, self.columns_, table, odds, bias)
        if second is None:
            return None
        label = table[LABEL]
        if name is None:
            return np.where(label == order[1], second, 1 - second)
        (piece,) = design.pieces([name])
        undone = invert_in_floats(piece.channel, piece.size)
        # M⁻¹[true label][reported label], where the true one is predicted.
        right = undone[order[1]][label] * second + undone[order[0]][label] * (
            1 - second
        )
        return np.asarray(right)


# Pieces -----------------------------------------------------------------------------


def _refuse_odd(smoothing: Any, rows: int, labels: int) -> None:
    if not isinstance(smoothing, int | float) or not 0 <= smoothing < np.inf:
        raise InputError(f"smoothing must be a number from 0 on; got {smoothing!r}.")
    if rows != labels:
        raise InputError(
            f"Records and labels must be as many; got {rows:,} and {labels:,}."
        )
    if not rows:
        raise EmptyTable("Records must be there to learn from; there are none.")


def encode_with_missing(question: Question, cells: Any) -> Codes:
    """The place of each answer; -1 where there is none."""
    if not cells.null_count or question.missing is not None:
        return encode_answers(question, cells)
    there = cells.is_valid().to_numpy(zero_copy_only=False)
    found = np.full(len(cells), -1, dtype=np.int64)
    found[there] = encode_answers(question, cells.drop_null())
    return found


def _encode_classes(
    design: Design, name: str | None, y: Any, known: NDArray[Any] | None = None
) -> tuple[NDArray[Any], Codes]:
    """The classes, and the place of each label among them; -1 where it is missing."""
    cells = y.to_arrow() if hasattr(y, "to_arrow") else pa.array(y, from_pandas=True)
    if name is None:
        if cells.null_count:
            raise InputError("Labels must not be missing; one is.")
        plain = np.asarray(y)
        classes = np.unique(plain) if known is None else known
        place = np.searchsorted(classes, plain)
        if (classes[np.minimum(place, len(classes) - 1)] != plain).any():
            raise InputError("Labels must be classes that were learnt; one is not.")
        return classes, place.astype(np.int64)
    question = design.question(name)
    order = np.arange(len(question))
    values = decode_answers(question, cells.type, order).to_numpy(zero_copy_only=False)
    rank = np.argsort(values, kind="stable")
    # rank: the code of each class in order; place, its inverse: code to class.
    place = np.empty_like(rank)
    place[rank] = order
    codes = encode_with_missing(question, cells)
    return values[rank], np.where(codes < 0, -1, place[codes]).astype(np.int64)


def _place_classes(design: Design, name: str | None, classes: NDArray[Any]) -> Codes:
    """The place of each class among the values of its question."""
    if name is None:
        return np.arange(len(classes))
    return encode_answers(design.question(name), pa.array(classes))


def _require_size(counts: Any, pieces: Any) -> Any:
    """Counts of one column as what its piece needs."""
    if len(counts) != pieces[0].size:
        raise InputError(
            f"{pieces[0].columns[0]!r} must be estimable without the other columns of "
            "its group; a matrix over the group does not allow that."
        )
    return counts


def _measure_worth(piece: MarginalChannel) -> float:
    """How much of a plain answer a disguised one is worth, at the least."""
    channel: Channel = piece.channel
    match channel:
        case Keep():
            return 1.0
        case Flip(truth=p):
            return float((2 * p - 1) ** 2)
        case KAry(truth=p) as even:
            return float((p - even.other(piece.size)) ** 2)
        case Replace(truth=p):
            return float(p**2)
    # The least singular value: errors grow by at most 1 over it.
    rows = np.array(channel.matrix(piece.size), dtype=float)
    return float(np.linalg.svd(rows, compute_uv=False)[-1] ** 2)
