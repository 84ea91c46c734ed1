"""The two documents of a release: the public manifest and the private custody record.

The manifest holds nothing that is not in the release or in the public policy; not even
which values are hidden, only how many. The custody record never travels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from privet.errors import InputError
from privet.findings import Audit, Finding
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.policy import Measure, Promise
from privet.values.schema import Schema

KINDS = ("groups", "classifier", "responses", "views")
"""What releases there are."""

VERSION = 1
"""The form of the manifest."""

NOT_PROMISED = (
    "protection against somebody who knows other columns than the promise names",
    "protection against a second release of the same people",
    "protection of people who have several rows",
    "protection against somebody who draws conclusions from how values were chosen to "
    "be hidden",
)
"""What no promise of this kind covers; said in every manifest."""

NOT_PROMISED_OF_GROUPS = (
    *NOT_PROMISED[:3],
    "protection against somebody who draws conclusions from where groups were not "
    "split",
    "protection against somebody who finds some of a group's values likelier for a "
    "person than others beforehand",
)
"""The same for releases in groups."""


NOT_PROMISED_OF_CLASSIFIERS = (
    "that nobody learns the prediction for a person: it is the same as the original's",
    "protection of the attributes: only the class is covered",
    "protection against somebody who works out the original counts from how the "
    "release was made, which the class sizes and patience may be enough for",
    "protection against somebody who knows rows of the table, or has a second release",
)
"""What no promise about a classifier covers; said in every manifest."""

FLATTENED = (
    "Its probabilities are flattened: thresholds other than the most likely class, and "
    "calibration, are not the original's."
)
"""What users of a published classifier must know."""


@dataclass(frozen=True)
class WrittenFile:
    """A file of a release."""

    path: str
    """Its name within the release."""
    rows: int
    """How many rows it has."""
    sha256: str
    """The digest of its bytes."""

    def to_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {"path": self.path, "rows": self.rows, "sha256": self.sha256}


def columns_of(
    schema: Schema,
    released: Sequence[str],
    kinds: Mapping[str, str],
    recipe: Recipe,
    hidden: Mapping[str, int],
) -> dict[str, Any]:
    """What the manifest says of each column."""
    found: dict[str, Any] = {}
    for name in released:
        about: dict[str, Any] = {"role": schema.role(name) or None, "type": kinds[name]}
        if name == schema.roles.target and about["role"] != "target":
            about["target"] = True
        if name in schema.roles.bins:
            about["bins"] = schema.roles.bins[name].to_list()
        match recipe.columns.get(name):
            case Hide():
                about |= {"hidden_values": hidden[name], "shown_as": recipe.marker}
            case Cut(after=after) if after:
                about |= {"shown_as": "intervals"}
            case Cut():
                about |= {"hidden_values": hidden[name], "shown_as": recipe.marker}
        found[name] = {k: v for k, v in about.items() if v is not None}
    return found


def against(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Who must not learn it, under one key.

    >>> against({"against": "linker", "knows": ["job", "country"]})
    {'linker': ['job', 'country']}
    >>> against({"against": "linker", "knows_any": 2})
    {'linker': {'knows_any': 2}}
    """
    known = {k: v for k, v in stated.items() if k != "against"}
    return {stated["against"]: known["knows"] if set(known) == {"knows"} else known}


def public_finding(finding: Finding) -> dict[str, Any]:
    """A promise with its verdict, without the witness."""
    stated = finding.promise.to_dict()
    if isinstance(finding.promise, Promise):
        known = finding.promise.against.to_dict()
        rest = {k: v for k, v in stated.items() if k not in known and k != "name"}
        stated = {"name": stated["name"], "against": against(known), **rest}
    judged: dict[str, Any] = {"verdict": finding.verdict.value}
    if finding.basis is not None:
        judged["basis"] = finding.basis.value
    if finding.belief is not None:
        judged["worst"] = str(finding.belief.posterior)
    if finding.value is not None:
        judged["measured"] = str(finding.value)
    return stated | judged


def manifest(
    *,
    version: str,
    title: str,
    method: str,
    files: Sequence[WrittenFile],
    columns: Mapping[str, Any],
    weight: str | None,
    escaped: bool,
    audit: Audit,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The public document; `more` is what only some kinds of releases have."""
    promises = [f for f in audit.findings if isinstance(f.promise, Promise)]
    measures = [f for f in audit.findings if isinstance(f.promise, Measure)]
    content: dict[str, Any] = {
        "privet": version,
        "manifest": VERSION,
        "kind": "groups",
        "title": title,
        "files": [f.to_dict() for f in files],
        "columns": dict(columns),
        "method": method,
        "promises": [public_finding(f) for f in promises],
        "not_promised": list(NOT_PROMISED),
    }
    content |= more or {}
    if measures:
        content["measures"] = [public_finding(f) for f in measures]
    if weight:
        content["weight"] = weight
    if escaped:
        content["escaped"] = (
            "Text that begins with = + - @ ', a tab or a line break has a ' in front; "
            "take one off."
        )
    return content


# Reading ----------------------------------------------------------------------------


def check_form(content: Any) -> dict[str, Any]:
    """Refuse what is not a manifest this version understands."""
    if not isinstance(content, dict) or "manifest" not in content:
        raise InputError(
            "release.json must be a manifest that privet wrote; it is not."
        )
    if content["manifest"] != VERSION:
        raise InputError(
            f"The manifest must be of form {VERSION}; got {content['manifest']!r}. "
            "Another version of privet wrote it."
        )
    missing = [k for k in ("kind", "files", "columns", "promises") if k not in content]
    if missing or content["kind"] not in KINDS:
        raise InputError(
            f"release.json must describe a table; it lacks {', '.join(missing)}."
            if missing
            else f"The release must be one of {', '.join(KINDS)}; it is of kind "
            f"{content['kind']!r}."
        )
    for key, fits in _FORM.items():  # in this order: later parts lean on earlier ones
        if key in content and not fits(content):
            raise InputError(
                f"{key} of release.json must be as privet writes it; it is not."
            )
    return content


def _is_list(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(v, dict) for v in values)


def _is_file(stated: Mapping[str, Any]) -> bool:
    rows, sha256 = stated.get("rows"), stated.get("sha256")
    counted = isinstance(rows, int) and not isinstance(rows, bool) and rows >= 0
    return _is_name(stated.get("path")) and counted and isinstance(sha256, str)


def _is_name(path: Any) -> bool:
    """Whether a path is a plain file name that leads nowhere else."""
    if not isinstance(path, str) or not path or path.startswith("."):
        return False
    return not any(letter in path for letter in "/\\:\0")


ROLES = (None, "quasi", "sensitive", "target", "weight", "group")
"""What columns of a table or of buckets may be for."""


def _are_columns(columns: Any, kind: str) -> bool:
    return isinstance(columns, dict) and all(
        isinstance(about, dict) and (kind != "groups" or about.get("role") in ROLES)
        for about in columns.values()
    )


def _is_column(name: Any, content: Mapping[str, Any]) -> bool:
    return isinstance(name, str) and name in content["columns"]


def _files_of(content: Mapping[str, Any]) -> int:
    """How many files a release of this kind has."""
    if content["kind"] == "views":
        return len(content["views"]) if _are_views(content.get("views")) else -1
    return 2 if content.get("form") == "buckets" else 1


def _are_views(views: Any) -> bool:
    return _is_list(views) and all(
        isinstance(v.get("name"), str) and isinstance(v.get("columns"), list)
        for v in views
    )


_FORM: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "files": lambda c: (
        _is_list(c["files"])
        and (c["kind"] == "classifier" or len(c["files"]) == _files_of(c))
        and bool(c["files"])
        and all(map(_is_file, c["files"]))
    ),
    "columns": lambda c: _are_columns(c["columns"], c["kind"]) and bool(c["columns"]),
    "promises": lambda c: _is_list(c["promises"]),
    "measures": lambda c: _is_list(c["measures"]),
    "not_promised": lambda c: isinstance(c["not_promised"], list),
    "method": lambda c: isinstance(c["method"], str),
    "title": lambda c: isinstance(c["title"], str),
    "weight": lambda c: _is_column(c["weight"], c),
    "form": lambda c: c["form"] in ("generalised", "buckets"),
    "group": lambda c: _is_column(c["group"], c) and _is_column(c.get("count"), c),
    "labels": lambda c: isinstance(c["labels"], dict),
}
"""What must hold of each part of a manifest."""
