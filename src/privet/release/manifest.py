"""The two documents of a release: the public manifest and the private custody record.

The manifest holds nothing that is not in the release or in the public policy; not even
which values are hidden, only how many. The custody record never travels.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privet.errors import InputError
from privet.findings import Audit, Finding
from privet.languages import mark
from privet.policy import Measure, Promise
from privet.release.kinds import HOMES, import_kind
from privet.report.ledger_words import list_not_promised
from privet.values.schema import KINDS, Schema

RECIPE = "recipe.json"
"""What is kept beside the custody record of a table: how values are hidden."""

VERSION = 1
"""The form of the manifest."""

DIGEST = "digest"
"""The key of what the manifest says of itself."""

ESCAPED = mark(
    "Text that begins with = + - @ ', a tab or a line break has a ' in front; "
    "take one off."
)
"""What is said of CSV."""

COMMON_KEYS = (
    *("privet", "manifest", "kind", "title", "files", "columns", "method"),
    *("promises", "not_promised", DIGEST),
)
"""What every manifest says, whatever it is about."""

MOST_CLAIMS = 1_000
"""Promises that are recounted; each takes a count of its own."""

ENDINGS = (".parquet", ".csv", ".xlsx", ".sav", ".dta", ".json")
"""What the files of a release may be; a database, say, would be opened otherwise."""


@dataclass(frozen=True)
class WrittenFile:
    """A file of a release."""

    path: str
    """Its name within the release."""
    rows: int
    """How many rows it has."""
    size: int
    """How many bytes it has."""
    sha256: str
    """The digest of its bytes."""

    def to_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "path": self.path,
            "rows": self.rows,
            "bytes": self.size,
            "sha256": self.sha256,
        }


def describe_columns(
    schema: Schema,
    released: Sequence[str],
    kinds: Mapping[str, str],
    shown: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """What the manifest says of each column; `shown` says how, where not as it is."""
    found: dict[str, Any] = {}
    for name in released:
        about: dict[str, Any] = {"role": schema.role(name) or None, "type": kinds[name]}
        if name == schema.roles.target and about["role"] != "target":
            about["target"] = True
        if name in schema.roles.bins:
            about["bins"] = schema.roles.bins[name].to_list()
        about |= (shown or {}).get(name, {})
        found[name] = {k: v for k, v in about.items() if v is not None}
    return found


def state_adversary(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Who must not learn it, under one key.

    >>> state_adversary({"against": "linker", "knows": ["job", "country"]})
    {'linker': ['job', 'country']}
    >>> state_adversary({"against": "linker", "knows_any": 2})
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
        stated = {"name": stated["name"], "against": state_adversary(known), **rest}
    judged: dict[str, Any] = {"verdict": finding.verdict.value}
    if finding.basis is not None:
        judged["basis"] = finding.basis.value
    if finding.belief is not None:
        judged["worst"] = str(finding.belief.posterior)
    if finding.value is not None:
        judged["measured"] = str(finding.value)
    return stated | judged


def public_measures(audit: Audit) -> list[dict[str, Any]]:
    """The measures of an audit, each with its verdict."""
    return [public_finding(f) for f in audit.findings if isinstance(f.promise, Measure)]


@dataclass(frozen=True)
class ManifestEntries:
    """What one kind of release says of itself in its manifest."""

    kind: str
    """What is released."""
    title: str
    """The title of the policy, or of the survey."""
    columns: Mapping[str, Any]
    """What is said of each column."""
    method: str
    """How it was made."""
    audit: Audit | None
    """The promises, as they were judged; None: there are none."""
    not_promised: Sequence[str]
    """What no promise of this kind covers."""
    how: Mapping[str, Any] = field(default_factory=dict)
    """What only this kind tells of the method; stands beside it."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What only this kind has besides; stands after the promises."""


def build_manifest(
    entries: ManifestEntries, files: Sequence[WrittenFile], *, escaped: bool
) -> dict[str, Any]:
    """The public document."""
    from privet import __version__

    findings = entries.audit.findings if entries.audit else ()
    promises = [f for f in findings if isinstance(f.promise, Promise)]
    content: dict[str, Any] = {
        "privet": __version__,
        "manifest": VERSION,
        "kind": entries.kind,
        "title": entries.title,
        "files": [f.to_dict() for f in files],
        "columns": dict(entries.columns),
        "method": entries.method,
        **entries.how,
        "promises": [public_finding(f) for f in promises],
        "not_promised": list(entries.not_promised),
        **entries.more,
    }
    if escaped:
        content["escaped"] = ESCAPED
    return {**content, DIGEST: digest_content(content)}


def digest_content(content: Mapping[str, Any]) -> str:
    """The SHA-256 of everything a manifest says, its own digest aside.

    Of the JSON text with sorted keys and without spaces, in UTF-8.
    """
    said = {key: value for key, value in content.items() if key != DIGEST}
    text = json.dumps(
        said, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# Reading ----------------------------------------------------------------------------


def check_form(content: Any) -> dict[str, Any]:
    """Refuse what is not a manifest this version understands."""
    if not isinstance(content, dict) or "manifest" not in content:
        raise InputError(
            "release.json must be a manifest that privet wrote; it is not."
        )
    if not is_count(content["manifest"]) or content["manifest"] != VERSION:
        raise InputError(
            f"The manifest must be of form {VERSION}; got {content['manifest']!r}. "
            "Another version of privet wrote it."
        )
    missing = [k for k in COMMON_KEYS if k not in content]
    if missing:
        raise InputError(
            f"release.json must describe a release; it lacks {', '.join(missing)}."
        )
    if content["kind"] not in tuple(HOMES):
        raise InputError(
            f"The release must be one of {', '.join(HOMES)}; it is of kind "
            f"{content['kind']!r}."
        )
    kind = import_kind(content["kind"])
    if strange := set(content) - {*COMMON_KEYS, *kind.keys, "escaped"}:
        raise InputError(
            f"release.json must say what privet says of {content['kind']}; it has "
            f"{len(strange)} other keys, such as {min(strange)!r}."
        )
    # In this order: later parts lean on earlier ones.
    for key in dict.fromkeys((*_FORM, *kind.form)):
        fits = [form[key] for form in (_FORM, kind.form) if key in form]
        if key in content and not all(check(content) for check in fits):
            raise InputError(
                f"{key} of release.json must be as privet writes it; it is not."
            )
    return content


def restate_open(lines: Sequence[str], content: Mapping[str, Any]) -> list[str]:
    """What no promise covers: as it is said with a ledger, or else without one."""
    plain, known = (list_not_promised(lines, known=k) for k in (False, True))
    return known if content["not_promised"] == known else plain


def is_list(values: Any) -> bool:
    """Whether a part of a manifest is a list of dictionaries."""
    return isinstance(values, list) and all(isinstance(v, dict) for v in values)


def _is_file(stated: Mapping[str, Any]) -> bool:
    counted = is_count(stated.get("rows")) and is_count(stated.get("bytes"))
    digest = isinstance(stated.get("sha256"), str) and len(stated) == len(_FILE_KEYS)
    return _is_name(stated.get("path")) and counted and digest


_FILE_KEYS = ("path", "rows", "bytes", "sha256")


def is_count(number: Any) -> bool:
    """Whether a part of a manifest is a whole number that can be one of things."""
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def _is_name(path: Any) -> bool:
    """Whether a path is a plain file name that leads nowhere else."""
    if not isinstance(path, str) or not path or path.startswith("."):
        return False
    plain = not any(letter in path for letter in "/\\:\0")
    return plain and path != "release.json" and path.lower().endswith(ENDINGS)


def _are_different(files: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no file is listed twice, on disks that know no case, too."""
    names = {file["path"].casefold() for file in files}
    return len(names) == len(files)


def _is_version(text: Any) -> bool:
    """Whether a text is a number of a version, such as 0.1.0 or 1.2.0rc1."""
    return isinstance(text, str) and bool(
        re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}((a|b|rc|\.dev|\.post)\d{1,4})*", text)
    )


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(v, str) for v in values)


_COLUMN: dict[str, Callable[[Any], bool]] = {
    "role": lambda value: isinstance(value, str),
    "type": lambda value: value in tuple(KINDS),
    "target": lambda value: value is True,
    "bins": _are_texts,
    "hidden_values": is_count,
    "shown_as": lambda value: isinstance(value, str),
    "written_as": lambda value: value == "null" or _are_texts(value),
    "file": lambda value: isinstance(value, str),
    "values": is_count,
    "lists": lambda value: value in ("typed", "json"),
}
"""What may be said of a column."""


def _are_columns(columns: Any) -> bool:
    return isinstance(columns, dict) and all(map(_is_about, columns.values()))


def _is_about(about: Any) -> bool:
    known = isinstance(about, dict) and "type" in about and set(about) <= set(_COLUMN)
    return known and all(_COLUMN[key](value) for key, value in about.items())


def _is_column(name: Any, content: Mapping[str, Any]) -> bool:
    return isinstance(name, str) and name in content["columns"]


_FORM: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "files": lambda c: (
        is_list(c["files"])
        and bool(c["files"])
        and all(map(_is_file, c["files"]))
        and _are_different(c["files"])
    ),
    "columns": lambda c: _are_columns(c["columns"]) and bool(c["columns"]),
    "promises": lambda c: is_list(c["promises"]) and len(c["promises"]) <= MOST_CLAIMS,
    "measures": lambda c: is_list(c["measures"]) and len(c["measures"]) <= MOST_CLAIMS,
    "not_promised": lambda c: _are_texts(c["not_promised"]),
    "privet": lambda c: _is_version(c["privet"]),
    "digest": lambda c: isinstance(c["digest"], str),
    "escaped": lambda c: c["escaped"] == ESCAPED,
    "method": lambda c: isinstance(c["method"], str),
    "title": lambda c: isinstance(c["title"], str),
    "weight": lambda c: _is_column(c["weight"], c),
    "form": lambda c: c["form"] in ("generalised", "buckets"),
    "group": lambda c: _is_column(c["group"], c) and _is_column(c.get("count"), c),
    "labels": lambda c: isinstance(c["labels"], dict),
    "derived": lambda c: is_list(c["derived"]),
    "exposure": lambda c: isinstance(c["exposure"], dict),
    "accepted": lambda c: is_list(c["accepted"]),
}
"""What must hold of each part of a manifest."""
