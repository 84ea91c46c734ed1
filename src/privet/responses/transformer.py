"""`RandomizedResponse`: disguises frames in memory, and fits into a pipeline.

Each answer by itself, or groups together as in the one-group and two-group schemes.
Zhan, Chang, Matwin 2004, sections 3.2 and 3.3.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Mapping, MutableMapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from privet.engine.randomise.exact_sampling import Codes, RandomBits
from privet.engine.randomise.randomise_rows import MARK
from privet.errors import ColumnNotFound, InputError, suggest_names, warn
from privet.languages import mark, say
from privet.responses.channels import Channel, Flip, KAry, Keep
from privet.responses.design import Design, Group, Question, design_of
from privet.responses.disguise import disguise_codes, disguise_record
from privet.responses.release import find_code
from privet.values.exact import Number, fraction
from privet.values.known_cells import as_cell
from privet.values.schema import as_names

MARKED = MARK.decode()
TWICE = mark(
    "These rows are disguised already. Disguising them again does not undo anything, "
    "but estimates must take both disguises into account; if they are a second answer "
    "of the same people, both answers together reveal more than either."
)


class RandomizedResponse:
    """Disguise every answer with exact chances, each by itself unless told otherwise.

    Works on pandas, polars and pyarrow tables and on arrays; has `fit` and `transform`
    as scikit-learn expects, but does not need it.

    Parameters
    ----------
    truth
        With which probability an answer is reported as it is.
    channels
        Other channels for some columns, such as ``{"job": Replace(0.5)}``; None for
        columns that are public.
    groups
        Lists of yes-or-no columns that are kept or flipped together, as the paper does.
        It warns: a joint flip publishes which answers agree.
    values
        The values of a column, declared beforehand. Without them zeros and ones, or
        true and false, are assumed; other values are taken from the data, with a
        warning.
    bins
        Cut points of numeric columns.
    design
        Instead of all of these: a `Design`.
    seed
        For tests only: whoever knows it can undo the disguise.

    Examples
    --------
    >>> import pyarrow as pa
    >>> disguise = RandomizedResponse(truth=1)
    >>> disguise.transform(pa.table({"smokes": [0, 1, 1]}))["smokes"].to_pylist()
    [0, 1, 1]
    """

    def __init__(
        self,
        truth: Number | None = None,
        *,
        channels: Mapping[str, Channel | None] | None = None,
        groups: Sequence[Sequence[str]] | None = None,
        values: Mapping[str, Sequence[object]] | None = None,
        bins: Mapping[str, Sequence[Any]] | None = None,
        design: Design | None = None,
        seed: int | None = None,
    ) -> None:
        self.truth = truth
        self.channels = channels
        self.groups = groups
        self.values = values
        self.bins = bins
        self.design = design
        self.seed = seed

    # What scikit-learn asks for -----------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments it was made with."""
        names = ("truth", "channels", "groups", "values", "bins", "design", "seed")
        return {n: getattr(self, n) for n in names}

    def set_params(self, **params: Any) -> RandomizedResponse:
        """Change arguments."""
        for name, value in params.items():
            if name not in self.get_params():
                raise InputError(
                    f"A parameter must be one of {', '.join(self.get_params())}; "
                    f"got {name!r}."
                )
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(categorical=True, string=True),
            requires_fit=False,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> RandomizedResponse:
        """A copy that keeps the design: what was disguised stays estimable."""
        found = type(self)(**self.get_params())
        if hasattr(self, "design_"):
            found.design_ = self.design_
        return found

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns; a disguise keeps them."""
        return np.array(self.design_.columns, dtype=object)

    def __repr__(self) -> str:
        given = {n: v for n, v in self.get_params().items() if v is not None}
        shown = ", ".join(f"{n}={v!r}" for n, v in given.items())
        return f"RandomizedResponse({shown})"

    # The work -----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> RandomizedResponse:
        """Settle the design: which values each column may have."""
        frame = as_arrow(X)
        self.design_ = self.design or self._make_design(frame)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Settle the design, then disguise."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """The rows, disguised; a frame of the same kind."""
        frame = as_arrow(X)
        if not hasattr(self, "design_"):
            self.fit(X)
        design = self.design_
        if is_marked(X):
            warn(TWICE)
        _refuse_other_columns(design, frame.column_names)
        true = {c: encode_truths(design.question(c), frame[c]) for c in design.columns}
        seed = None if self.seed is None else str(self.seed).encode()
        found = disguise_codes(design, true, RandomBits(seed))
        columns = {
            c: decode_answers(design.question(c), frame[c].type, found[c])
            for c in frame.column_names
        }
        return as_frame_like(X, pa.table(columns))

    def answer(
        self,
        record: Mapping[str, object],
        memory: MutableMapping[str, Any] | None = None,
    ) -> dict[str, str | None]:
        """One person's report; None for what this person is not asked.

        With a memory (any dictionary that is kept on the respondent's side) the same
        answers are always reported the same way, so that asking again reveals no more.
        It holds a random key and no answer; forget it after the last report, since
        whoever has both the key and a report can leave out some answers. Without a
        memory every report spends ε once more.
        """
        design = design_of(self)
        if not isinstance(record, Mapping):
            raise InputError(
                "A record must be a dictionary, an answer by question; got "
                f"{type(record).__name__}."
            )
        stated: dict[str, object] = {}
        for column, value in record.items():
            question = design.question(column)
            stated[column] = question.values[encode_truth(question, value)]
        seed = None if self.seed is None else str(self.seed).encode()
        return disguise_record(design, stated, memory, RandomBits(seed))

    def _make_design(self, frame: pa.Table) -> Design:
        columns = frame.column_names
        for given, what in (
            (self.channels, "channels"),
            (self.values, "values"),
            (self.bins, "bins"),
        ):
            for c in given or ():
                if c not in columns:
                    raise ColumnNotFound(
                        f"Column {c!r} of {what} must exist in the rows. "
                        f"{suggest_names(str(c), columns)}"
                    )
        questions = [self._make_question(c, frame[c]) for c in columns]
        flipped = [tuple(g) for g in self.groups or ()]
        joint = {c for g in flipped for c in g}
        groups = [Group(g, Flip(self._require_truth())) for g in flipped]
        groups += [Group(c, self._choose_channel(c)) for c in columns if c not in joint]
        return Design(questions, groups)

    def _require_truth(self) -> Number:
        if self.truth is None:
            raise InputError(
                "A disguise must have truth, a channel per column, or a design."
            )
        return self.truth

    def _choose_channel(self, column: str) -> Channel:
        if self.channels is not None and column in self.channels:
            return self.channels[column] or Keep()
        return KAry(self._require_truth())

    def _make_question(self, column: str, cells: pa.ChunkedArray) -> Question:
        if self.bins is not None and column in self.bins:
            return Question(column, bins=self.bins[column])
        if self.values is not None and column in self.values:
            return Question(column, self.values[column])
        if pa.types.is_nested(cells.type):
            raise InputError(f"Column {column!r} must hold single values, not several.")
        found = cells.unique().to_pylist()
        if pa.types.is_boolean(cells.type):
            return Question(column, ["false", "true"])
        if set(found) <= {0, 1}:
            return Question(column, ["0", "1"])
        warn(
            say(
                "The values of {column} were taken from the data: a rare one "
                "tells that somebody has it. Declare them with values, or "
                "use bins.",
                column=repr(column),
            )
        )
        return Question(column, sorted((v for v in found if v is not None), key=str))


def _refuse_other_columns(design: Design, columns: Sequence[str]) -> None:
    if set(columns) != set(design.columns):
        raise InputError(
            f"The rows must have the columns of the design, {', '.join(design.columns)}"
            f"; got {', '.join(columns)}."
        )


def as_arrow(frame: Any) -> pa.Table:
    """A frame or an array as columns, each with a name of its own."""
    found = _convert(frame)
    as_names(found.column_names, "columns of the rows")
    return found


def _convert(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    if hasattr(frame, "columns") and hasattr(frame, "dtypes"):
        names = [str(c) for c in frame.columns]
        cells = [frame.iloc[:, i] for i in range(len(names))]
        return pa.table(
            [_make_cells(c, n) for c, n in zip(cells, names, strict=True)], names=names
        )
    array = np.asarray(frame)
    if array.ndim != 2:
        raise InputError(
            "Rows must be a table, or an array with one row per person and one column "
            f"per question; got {array.ndim} dimensions."
        )
    names = [f"x{i}" for i in range(array.shape[1])]
    return pa.table(
        [_make_cells(array[:, i], n) for i, n in enumerate(names)], names=names
    )


def _make_cells(values: Any, name: str) -> pa.Array:
    """Cells of one kind; nobody's cell is quoted."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        raise InputError(
            f"Column {name!r} must hold cells of one kind: text, numbers or dates. "
            "Make its cells text first."
        ) from None


def encode_answers(question: Question, cells: pa.ChunkedArray | pa.Array) -> Codes:
    """The place of each answer among the question's values; an error if it has none."""
    found = pa.chunked_array(cells) if isinstance(cells, list) else cells
    packed = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    if pa.types.is_nested(packed.type):
        raise InputError(
            f"Answers to {question.name!r} must be single values, not several."
        )
    if not pa.types.is_dictionary(packed.type):
        packed = packed.dictionary_encode(null_encoding="encode")
    places = [_encode_value(question, v) for v in packed.dictionary.to_pylist()]
    index = packed.indices
    if index.null_count:
        places.append(_encode_value(question, None))
        index = index.fill_null(len(places) - 1)
    found_codes: Codes = np.array(places, dtype=np.int64)[
        index.to_numpy(zero_copy_only=False)
    ]
    return found_codes


def encode_truths(question: Question, cells: pa.ChunkedArray) -> Codes:
    """The place of each true answer among the values; numbers are binned."""
    if question.bins is None:
        return encode_answers(question, cells)
    place = {v: encode_truth(question, v) for v in cells.unique().to_pylist()}
    return np.array([place[v] for v in cells.to_pylist()], dtype=np.int64)


def encode_truth(question: Question, value: Any) -> int:
    """The place of one true answer among the values; a number is binned."""
    if question.bins is None or value is None:
        return _encode_value(question, value)
    edges: list[Any] = list(question.bins.edges)
    kind = Fraction if isinstance(edges[0], Fraction) else date
    return bisect_right(edges, _to_edge(question, value, kind))


def _to_edge(question: Question, value: Any, kind: type) -> Any:
    """A cell as what the cut points are; nobody's cell is quoted."""
    try:
        if kind is Fraction:
            return fraction(value)
        found = value if isinstance(value, date) else date.fromisoformat(str(value))
        return found.date() if isinstance(found, datetime) else found
    except ValueError:
        raise InputError(
            f"Answers to {question.name!r} must be numbers or dates to be binned."
        ) from None


def _encode_value(question: Question, value: Any) -> int:
    try:
        label = None if value is None else as_cell(value)
    except InputError:
        raise InputError(
            f"Answers to {question.name!r} must be text, numbers or dates, one each."
        ) from None
    found = find_code(question, label)
    return question.code(label) if found is None else found


def decode_answers(question: Question, kind: Any, codes: Codes) -> pa.Array:
    """Values of a question as cells of a kind; none where the code is negative."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    values = pa.array(question.values, pa.string())
    if question.bins is None:
        values = _cast_values(values, kind)
    index = pa.array(codes, mask=codes < 0)
    return values.take(index)


def _cast_values(values: pa.Array, kind: Any) -> pa.Array:
    """Values as cells of a kind, if it holds all of them apart; otherwise as text.

    A column of numbers does not hold a declared "unknown", one of nothing but missing
    cells holds no value at all, and one of fractions takes "1" and "1.0" for one.
    """
    try:
        if pa.types.is_decimal(kind):
            found = pa.array([Decimal(v) for v in values.to_pylist()], kind)
        else:
            found = values.cast(kind)
    except (pa.ArrowException, InvalidOperation):
        return values
    return found if len(found.unique()) == len(values) else values


def is_marked(frame: Any) -> bool:
    """Whether a frame says that it is disguised already."""
    if MARKED in getattr(frame, "attrs", {}):
        return True
    return isinstance(frame, pa.Table) and MARK in (frame.schema.metadata or {})


def as_frame_like(frame: Any, found: pa.Table) -> Any:
    """Disguised columns as the kind of frame they came from."""
    if isinstance(frame, pa.Table):
        return found.replace_schema_metadata({MARK: b"1"})
    module = type(frame).__module__.split(".")[0]
    if module == "polars":
        import polars

        return polars.from_arrow(found)
    if module == "pandas":
        shown = found.to_pandas()
        if len(shown) == len(frame):
            shown = shown.set_index(frame.index)
        shown.columns = frame.columns
        shown.attrs[MARKED] = secrets.token_hex(4)
        return shown
    columns = [found[c].to_numpy() for c in found.column_names]
    return np.column_stack(columns).astype(np.asarray(frame).dtype)
