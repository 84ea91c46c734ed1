"""A view that is published: some columns of the table, without duplicates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from privet.errors import InputError
from privet.values.schema import names


@dataclass(frozen=True)
class View:
    """Some columns of a table, published together.

    >>> View(["name", "age"])
    View(columns=('name', 'age'), name='')
    """

    columns: tuple[str, ...]
    """Which columns."""
    name: str = ""
    """What the view is called; the name of its file."""

    def __post_init__(self) -> None:
        columns = names(self.columns, "the columns of a view")
        if not columns:
            raise InputError("A view must have columns; got none.")
        object.__setattr__(self, "columns", columns)
        if not isinstance(self.name, str) or not _is_plain(self.name):
            raise InputError(
                "The name of a view must be letters, digits, dots, - and _, since its "
                f"file is called so; got {self.name!r}."
            )

    def to_dict(self) -> dict[str, Any]:
        """The view as a policy writes it."""
        named = {"name": self.name} if self.name else {}
        return named | {"columns": list(self.columns)}


def _is_plain(name: str) -> bool:
    letters = name.replace("-", "").replace("_", "").replace(".", "").replace(" ", "")
    return not name or (letters.isalnum() and not name.startswith((".", " ")))


def views_of(stated: Any) -> tuple[View, ...]:
    """Views from views or lists of columns; each called by its own name."""
    if isinstance(stated, str | View) or not hasattr(stated, "__iter__"):
        raise InputError(f"views must be several lists of columns; got {stated!r}.")
    made = [v if isinstance(v, View) else View(v) for v in stated]
    called = [v.name or f"view-{i}" for i, v in enumerate(made, 1)]
    if twice := next((n for n in called if called.count(n) > 1), None):
        raise InputError(f"Each view must have its own name; got {twice!r} twice.")
    folded = [n.casefold() for n in called]
    if len(set(folded)) < len(folded):
        raise InputError("Names of views must differ in more than capital letters.")
    return tuple(View(v.columns, n) for v, n in zip(made, called, strict=True))


def is_query(about: object) -> bool:
    """Whether a promise is about a secret query rather than a column.

    >>> is_query("select name, problem from T"), is_query("problem")
    (True, False)
    """
    return isinstance(about, str) and bool(
        re.match(r"\s*(select|with|from)\s", about, re.IGNORECASE)
    )
