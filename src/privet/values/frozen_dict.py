"""A dictionary that never changes, so that values which hold one can be hashed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NoReturn, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dictionary made once.

    >>> hash(FrozenDict(job="Cook")) == hash(FrozenDict({"job": "Cook"}))
    True
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def _refuse(self, *_args: object, **_keys: object) -> NoReturn:
        raise TypeError("A value must not be changed; make a new one instead.")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse
