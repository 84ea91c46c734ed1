"""Naive Bayesian classifier from disguised data: pairs of attribute and class suffice.

Learnt from multivariate randomized response; with the class public, by the formula that
fits it (the paper's Eq. 2 does not), and with estimates that stay shares.
Zhan, Chang, Matwin 2004, section 3.4.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.protocol import Run
from privet.engine.randomise.exact_sampling import Codes
from privet.errors import (
    EmptyTable,
    InputError,
    PrivacyWarning,
    PrivetError,
)
from privet.responses.accuracy import (
    HOW_NAMED,
    LABEL,
    ScoredClassifier,
    estimate_accuracy,
    find_class,
    score_counted,
    score_second_class,
)
from privet.responses.channel_inverse import (
    invert_channel,
    invert_in_floats,
    maximise_likelihood,
)
from privet.responses.channels import Channel, Flip, KAry, Keep, Replace
from privet.responses.design import Design, MarginalChannel, Question, design_of
from privet.responses.design_misfit import rate_columns
from privet.responses.estimate import Estimate
from privet.responses.release import Responses
from privet.responses.transformer import (
    as_arrow,
    decode_answers,
    encode_answers,
    encode_truth,
)
from privet.table import Table
from privet.values.known_cells import as_cell

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
    target
        The class's question, where `y` has no name of its own.
    public_class
        Whether the class is no question of the design and was not disguised.
    smoothing
        Added to each count, as far as the disguise leaves counts worth something.
    paper
        As the paper does it: linear estimates, cut off at one in a million.
    """

    def __init__(
        self,
        disguise: Any = None,
        *,
        target: str | None = None,
        public_class: bool = False,
        smoothing: float = 1.0,
        paper: bool = False,
    ) -> None:
        self.disguise = disguise
        self.target = target
        self.public_class = public_class
        self.smoothing = smoothing
        self.paper = paper

    def fit(self, X: Any, y: Any = None) -> DisguisedNaiveBayes:
        """Learn from disguised records.

        `X` holds the attributes and `y` the classes; or `X` is `Responses`, or a
        `Table` of any size, and `y` the name of its class, all else being attributes.
        Columns are found in the design by their names, and so is the class: a class
        without a name is refused, since a disguised one would be taken as it is.
        """
        if isinstance(X, Responses | Table):
            return self.fit_rows(X, y)
        design = design_of(self.disguise)
        frame = as_arrow(X)
        if y is None:
            raise InputError(f"Labels must be given beside records. {HOW_NAMED}.")
        _refuse_odd(self.smoothing, len(frame), len(y))
        name = find_class(design, y, self.target, public=self.public_class)
        self.class_column_ = name
        self.columns_ = tuple(frame.column_names)
        _refuse_attributes(self.columns_, name)
        self.classes_, label = _encode_classes(design, name, y)
        counts = {
            c: _count_pairs(design.question(c), frame[c], label, len(self.classes_))
            for c in self.columns_
        }
        known = label[label >= 0]
        self._learn(design, np.bincount(known, minlength=len(self.classes_)), counts)
        return self

    def fit_rows(
        self,
        rows: Responses | Table,
        target: str | None = None,
        *,
        attributes: Sequence[str] | None = None,
        run: Run | None = None,
    ) -> DisguisedNaiveBayes:
        """Learn from disguised rows of any size, which are counted where they are.

        `misfit_` says afterwards whether they look disguised by the design.
        """
        given = rows.design if isinstance(rows, Responses) else self.disguise
        design = design_of(given if self.disguise is None else self.disguise)
        responses = Responses(rows if isinstance(rows, Table) else rows.rows, design)
        name = target if target is not None else self.target
        if not isinstance(name, str):
            raise InputError(f"The class must be named; got {name!r}. {HOW_NAMED}")
        question = design.question(name)
        others = [c for c in design.columns if c != name]
        self.disguise, self.class_column_ = design, name
        self.columns_ = tuple(others if attributes is None else attributes)
        for c in self.columns_:
            design.question(c)
        _refuse_attributes(self.columns_, name)
        values = _read_values(question, responses.rows)
        rank = np.argsort(values, kind="stable")
        self.classes_ = values[rank]
        sets = [[name], *([c, name] for c in self.columns_)]
        whole, *pairs = responses.count_columns(sets, run)
        if not whole.sum():
            raise EmptyTable("Records must be there to learn from; there are none.")
        counts = dict(zip(self.columns_, (p[:, rank] for p in pairs), strict=True))
        self._learn(design, whole[rank], counts)
        reported = {c: table.sum(axis=1) for c, table in counts.items()}
        self.misfit_ = rate_columns(design, {**reported, name: whole})
        return self

    # Learning -----------------------------------------------------------------------

    def _learn(
        self,
        design: Design,
        classes: NDArray[np.int64],
        counts: Mapping[str, NDArray[np.int64]],
    ) -> None:
        """Probabilities from counts of classes, and of values with classes."""
        if len(self.classes_) < 2:
            raise InputError("A class must have at least two values; got one.")
        self.n_features_in_ = len(self.columns_)
        self.log_prior_ = np.log(self._estimate_priors(design, classes.astype(float)))
        self.log_likelihood_ = {
            c: np.log(self._estimate_conditional(design, c, table))
            for c, table in counts.items()
        }

    def _find_disguised_class(self, design: Design) -> str | None:
        name = self.class_column_
        return None if name is None or name in design.public else name

    def _sort_codes(self, design: Design) -> Codes:
        """The code of each class among the values of its question."""
        return _place_classes(design, self.class_column_, self.classes_)

    def _estimate_priors(self, design: Design, counts: Floats) -> Floats:
        """P(class) from the class alone."""
        name = self._find_disguised_class(design)
        if name is None:
            return self._smooth(counts / counts.sum(), counts.sum())
        pieces = design.pieces([name])
        order = self._sort_codes(design)
        # Counts come by class, the channel works by the values of its question.
        values = np.empty_like(_require_size(counts, pieces))
        values[order] = counts
        shares = maximise_likelihood(pieces, values)[order]
        return self._smooth(shares, counts.sum() * _measure_worth(pieces[0]))

    def _estimate_conditional(
        self, design: Design, column: str, counts: NDArray[np.int64]
    ) -> Floats:
        """P(value | class), one row per value."""
        name = self._find_disguised_class(design)
        if name is None:
            pieces = design.pieces([column])
            columns = [
                self._estimate_column(pieces, counts[:, c])
                for c in range(counts.shape[1])
            ]
            return np.stack(columns, axis=1)
        order = self._sort_codes(design)
        by_value = np.empty_like(counts)
        by_value[:, order] = counts
        return self._estimate_joint(design, column, name, by_value)[:, order]

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
        codes = {c: encode_records(design.question(c), frame[c]) for c in self.columns_}
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
        self._refuse_other_class(design, y)
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

    def _refuse_other_class(self, design: Design, y: Any) -> None:
        """The labels of a test set are those that were learnt."""
        target, public = self.target or self.class_column_, self.class_column_ is None
        found = find_class(design, y, target, public=public)
        if found != self.class_column_:
            raise InputError(
                f"Labels must be of the class that was learnt, {self.class_column_!r}; "
                f"got {found!r}."
            )

    # In and out ---------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """What was learnt, for a file: estimates from disguised records only."""
        self._refuse_unfitted()
        if self.class_column_ is None:
            raise InputError(
                "A model must have a class that is a question of its design to be "
                "written; this one was learnt with public_class."
            )
        return {
            "kind": MODEL,
            "design": design_of(self.disguise).to_dict(),
            "class": self.class_column_,
            **_describe_type(self.classes_),
            "classes": [as_cell(c) for c in self.classes_.tolist()],
            "log_prior": self.log_prior_.tolist(),
            "log_likelihood": {
                c: told.tolist() for c, told in self.log_likelihood_.items()
            },
        }

    @classmethod
    def from_dict(cls, stated: Any) -> DisguisedNaiveBayes:
        """The model that keys describe; see `to_dict`."""
        try:
            return _read_model(cls(), stated)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = str(error) if isinstance(error, PrivetError) else "keys are missing"
            raise InputError(
                f"A model must be one that privet learn wrote; this is none: {why}."
            ) from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as a JSON file, which must not exist yet."""
        with Path(path).open("x", encoding="utf-8") as file:
            json.dump(self.to_dict(), file, ensure_ascii=False, indent=1)
            file.write("\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> DisguisedNaiveBayes:
        """Read a model from the file it was saved to."""
        try:
            stated = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError(
                f"The model {str(path)!r} must be a JSON file that privet learn wrote; "
                "it is none."
            ) from None
        return cls.from_dict(stated)

    def score_rows(
        self,
        rows: Responses | Table,
        *,
        confidence: float = 0.95,
        run: Run | None = None,
    ) -> Estimate:
        """The accuracy on the true records behind disguised rows of any size.

        `misfit_` says afterwards whether they look disguised by the design.
        """
        self._refuse_unfitted()
        design = design_of(self.disguise)
        if isinstance(rows, Responses) and rows.design.to_dict() != design.to_dict():
            raise InputError(
                "Rows must be disguised by the design the model was learnt with; "
                "these are by another one."
            )
        if self.class_column_ is None:
            raise InputError("The class must be a question of the design to be scored.")
        responses = Responses(rows if isinstance(rows, Table) else rows.rows, design)
        scored = ScoredClassifier(
            self.columns_,
            self.class_column_,
            lambda columns: self._mark_correct(design, columns),
            lambda table: self._score_by_halves(
                design, table, self._find_disguised_class(design), order
            ),
        )
        order = self._sort_codes(design)
        found, reported = score_counted(
            scored, responses, confidence=confidence, run=run
        )
        self.misfit_ = rate_columns(design, reported)
        return found

    def _mark_correct(
        self, design: Design, columns: Sequence[str]
    ) -> NDArray[np.bool_]:
        """Whether the prediction is right, for every record: one axis per column."""
        names = [c for c in columns if c != self.class_column_]
        scores: Floats = np.zeros([1] * len(names) + [len(self.classes_)])
        for i, c in enumerate(names):
            shape = [1] * len(names) + [len(self.classes_)]
            shape[i] = len(design.question(c))
            scores = scores + self.log_likelihood_[c].reshape(shape)
        best = self._sort_codes(design)[np.argmax(scores + self.log_prior_, axis=-1)]
        right = best[..., None] == np.arange(len(self.classes_))
        at = list(columns).index(str(self.class_column_))
        return np.moveaxis(right, -1, at)

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


# Names, files, pieces ---------------------------------------------------------------

MODEL = "privet disguised naive Bayes 1"
"""What the file of a model says it is."""


def _refuse_attributes(columns: Sequence[str], name: str | None) -> None:
    if not columns or name in columns or len(set(columns)) < len(columns):
        raise InputError(
            "Attributes must be questions beside the class, each once; got "
            f"{', '.join(columns) or 'none'}."
        )


def _count_pairs(
    question: Question, cells: Any, label: Codes, classes: int
) -> NDArray[np.int64]:
    """How often each value came with each class."""
    codes = encode_with_missing(question, cells)
    both = (codes >= 0) & (label >= 0)
    counts = np.zeros((len(question), classes), dtype=np.int64)
    # (values, classes); `+=` would count rows of the same pair once.
    np.add.at(counts, (codes[both], label[both]), 1)
    return counts


def _read_model(model: DisguisedNaiveBayes, stated: Any) -> DisguisedNaiveBayes:
    if stated["kind"] != MODEL:
        raise InputError(f"its kind is {stated['kind']!r}")
    with warnings.catch_warnings():  # said when the model was learnt
        warnings.simplefilter("ignore", PrivacyWarning)
        design = Design.from_dict(stated["design"])
    model.disguise, model.class_column_ = design, stated["class"]
    values = design.question(stated["class"]).values
    if sorted(values) != sorted(stated["classes"]):
        raise InputError("its classes are not the values of their question")
    model.classes_ = _read_texts(stated["classes"], stated.get("type"))
    model.log_prior_ = np.array(stated["log_prior"], dtype=float)
    told = {c: np.array(t, float) for c, t in stated["log_likelihood"].items()}
    for c, table in told.items():
        if table.shape != (len(design.question(c)), len(values)):
            raise InputError(f"the table of {c!r} does not fit the design")
    if model.log_prior_.shape != (len(values),) or not all(
        np.isfinite(t).all() for t in (model.log_prior_, *told.values())
    ):
        raise InputError("its numbers do not fit the design")
    model.log_likelihood_, model.columns_ = told, tuple(told)
    _refuse_attributes(model.columns_, stated["class"])
    model.n_features_in_ = len(told)
    return model


TYPES = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
}
"""Classes that are no texts, and how they are read from their texts."""


def _read_texts(texts: Sequence[str], type_: str | None) -> NDArray[Any]:
    """Classes as what they were when they were learnt; texts unless a type is said."""
    cells = pa.array(texts, pa.string())
    found = cells if type_ is None else cells.cast(TYPES[type_])
    return np.array(found.to_pylist())


def _describe_type(classes: NDArray[Any]) -> dict[str, str]:
    """What the classes are, where they are no texts."""
    kinds = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}
    kind = kinds.get(classes.dtype.kind)
    return {} if kind is None else {"type": kind}


def _read_values(question: Question, rows: Table) -> NDArray[Any]:
    """The values of a question as its column holds them, where they are all such."""
    kind = next(c.kind for c in rows.schema.columns if c.name == question.name)
    if question.bins is None and kind in TYPES:
        try:
            found = _read_texts(question.values, kind)
        except pa.ArrowInvalid:
            return np.array(question.values)
        if [as_cell(v) for v in found.tolist()] == list(question.values):
            return found
    return np.array(question.values)


def encode_records(question: Question, cells: Any) -> Codes:
    """The place of each true answer; numbers are binned as the design bins them."""
    if question.bins is None:
        return encode_with_missing(question, cells)
    distinct = cells.unique()
    known = {v: _bin_answer(question, v) for v in distinct.to_pylist()}
    return np.array([known[v] for v in cells.to_pylist()], dtype=np.int64)


def _bin_answer(question: Question, value: Any) -> int:
    if value is None:
        return -1 if question.missing is None else question.code(None)
    if isinstance(value, str) and value in question.values:
        return question.code(value)
    return encode_truth(question, value)


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
