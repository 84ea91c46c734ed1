"""What estimators take from scikit-learn, or what says that it is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from privet.errors import MissingExtra


class MissingBaseEstimator:
    """Stands for scikit-learn's classes until it is installed."""


def _import_optional(module: str, name: str, instead: Any = None) -> Any:
    try:
        return getattr(import_module(module), name)
    except ImportError:
        return instead


class MissingClassifierMixin:
    """The same for another one: a class has no base twice."""


BaseEstimator: Any = _import_optional(
    "sklearn.base", "BaseEstimator", MissingBaseEstimator
)
ClassifierMixin: Any = _import_optional(
    "sklearn.base", "ClassifierMixin", MissingClassifierMixin
)
check_classification_targets: Any = _import_optional(
    "sklearn.utils.multiclass", "check_classification_targets"
)
check_is_fitted: Any = _import_optional("sklearn.utils.validation", "check_is_fitted")
check_sample_weight: Any = _import_optional(
    "sklearn.utils.validation", "_check_sample_weight"
)
column_or_1d: Any = _import_optional("sklearn.utils.validation", "column_or_1d")
validate_data: Any = _import_optional("sklearn.utils.validation", "validate_data")


def require_sklearn() -> None:
    """Say what to install where scikit-learn is missing."""
    if validate_data is None:
        raise MissingExtra(
            "NaiveBayes needs scikit-learn: pip install 'privet[learn]'. Counts "
            "(ClassifierViews), audits and releases do without it."
        )
