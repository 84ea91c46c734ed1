"""The policy: promises, roles and purpose in one value, read from a file.

What a policy asks of columns is held against the table it is bound to; promises may
also be handed over without a policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import attrs

from privet.display import Displayed
from privet.errors import InputError, PolicyError, Problem, suggest_names
from privet.policy.acceptance import (
    Accepted,
    DerivedColumn,
    accepted_of,
    derived_of,
)
from privet.policy.measures import Measure
from privet.policy.promises import (
    Promise,
    Purpose,
    Signoff,
    View,
    is_query,
    read_values,
    select_promises,
    views_of,
)
from privet.values.beliefs import Ceiling
from privet.values.frozen_dict import FrozenDict
from privet.values.noise.declared_domain import DeclaredDomain, read_domains
from privet.values.noise.differential_privacy import DifferentialPrivacy
from privet.values.noise.privacy_budget import PrivacyBudget
from privet.values.person_rows import PersonRows, read_person
from privet.values.schema import SEVERAL, Roles, Schema, as_names
from privet.values.visible_text import require_encodable

# A policy held against a table ------------------------------------------------------

Named = tuple[str, Sequence[str]]
"""A key that names columns, and the columns."""


def find_misfits(policy: Policy, roles: Roles, columns: Sequence[str]) -> list[Problem]:
    """What a policy asks of columns that are not there, or not meant for it."""
    problems = [
        Problem(
            f"{key} must name columns of the table; got {name!r}. "
            f"{suggest_names(name, columns)}",
            key,
        )
        for key, names in _list_named_columns(policy, roles)
        for name in names
        if name not in columns
    ]
    if policy.person is not None:
        problems += _find_person_misuse(policy.person, roles)
    for i, promise in enumerate(policy.promises, 1):
        if select_promises("groups", [promise]):
            problems += _find_misuse(f"promise[{i}]", promise, roles)
    return problems


def _find_person_misuse(person: PersonRows, roles: Roles) -> Iterator[Problem]:
    """What of people does not go with the roles of their columns."""
    if person.by is None and roles.unit is None:
        return  # the table may say who is who
    try:
        person.resolve(roles)
    except InputError as error:
        yield Problem(f"person: {error}", "person")


def _list_named_columns(policy: Policy, roles: Roles) -> Iterator[Named]:
    for role in SEVERAL:
        yield f"columns.{role}", getattr(roles, role)
    for role in ("target", "unit", "weight"):
        name = getattr(roles, role)
        yield f"columns.{role}", [name] if name else []
    free: dict[str, Mapping[str, Any]] = {
        "bins": roles.bins,
        "where": policy.where,
        "hierarchy": policy.hierarchies,
        "domain": policy.domain,
    }
    for section, named in free.items():
        for column in named:
            yield f"{section}.{column}", [column]
    if policy.person is not None:
        yield "person.by", [policy.person.by] if policy.person.by else []
        yield "person.order", policy.person.order
        for key, column in policy.person.list_ruled():
            yield f"person.{key}", [column]
    for i, view in enumerate(policy.views, 1):
        yield f"view[{i}].columns", view.columns
    for i, accepted in enumerate(policy.accepted, 1):
        yield f"accepted[{i}].about", [accepted.about] if accepted.about else []
    for rule in policy.derived:
        yield f"derived.{rule.column}", [rule.column, *rule.by]
    for i, promise in enumerate(policy.promises, 1):
        yield f"promise[{i}].knows", promise.against.list_known_columns()
        if "column" in promise.against.about_is:  # and not a class of a classifier
            yield f"promise[{i}].about", _find_about_columns(promise)


def _find_about_columns(promise: Promise) -> Sequence[str]:
    if "query" in promise.against.about_is and is_query(promise.about):
        return ()
    if isinstance(promise.about, dict):
        return tuple(promise.about)
    return (promise.about,) if isinstance(promise.about, str) else ()


def _find_misuse(at: str, promise: Promise, roles: Roles) -> Iterator[Problem]:
    """What would be refused when the promise is judged, said with its line."""
    known = promise.against.list_known_columns()
    about = _find_about_columns(promise) or roles.sensitive
    counted = {roles.unit, roles.weight}
    rules = [
        ("knows", "must not hold an identifier", known, roles.identifier),
        ("knows", "must not hold a column that is dropped", known, roles.drop),
        ("knows", "must not hold the unit or weight", known, counted),
        ("knows", "must not hold what the promise is about", known, about),
        ("about", "must not be an identifier", about, roles.identifier),
        ("about", "must not be a column that is dropped", about, roles.drop),
        ("about", "must not be the unit or weight", about, counted),
    ]
    for key, rule, given, wrong in rules:
        if bad := [n for n in given if n in wrong]:
            got = ", ".join(map(repr, bad))
            yield Problem(f"{at}.{key} {rule}; got {got}.", f"{at}.{key}")
    yield from _find_missing(at, promise, roles)


def _find_missing(at: str, promise: Promise, roles: Roles) -> Iterator[Problem]:
    if not _find_about_columns(promise) and len(roles.sensitive) != 1:
        got = ", ".join(map(repr, roles.sensitive)) or "none"
        yield Problem(
            f"{at}.about must name a column unless one is sensitive; got {got}.",
            f"{at}.about",
        )
    if promise.against.knows_quasi and not (roles.quasi or roles.other):
        yield Problem(
            f"{at}.knows must name columns unless some are quasi; got none.",
            f"{at}.knows",
        )
    if not isinstance(promise.limit, Ceiling):
        key = next(iter(promise.limit.to_dict()))
        yield Problem(
            f"{at} must be limited by at_most or below against a "
            f"{promise.against.kind}; got {key}.",
            f"{at}.{key}",
        )


# The policy -------------------------------------------------------------------------


@dataclass(frozen=True)
class Origin:
    """Where a policy was read, for messages."""

    file: str
    """The file's name."""
    text: str
    """What it says."""


def _read_promises(stated: Promise | Sequence[Promise]) -> tuple[Promise, ...]:
    return _require_all(stated, Promise)


def _read_measures(stated: Measure | Sequence[Measure]) -> tuple[Measure, ...]:
    return _require_all(stated, Measure)


def _require_all(stated: Any, kind: type) -> tuple[Any, ...]:
    several = tuple(stated) if isinstance(stated, Sequence) else (stated,)
    for one in several:
        if not isinstance(one, kind):
            name = kind.__name__
            raise InputError(f"A {name.lower()} must be a {name}; got {one!r}.")
    return several


def _read_where(where: Mapping[str, object]) -> FrozenDict[str, tuple[str | None, ...]]:
    if not isinstance(where, Mapping) or not all(isinstance(c, str) for c in where):
        raise InputError(f"where must be a value or several per column; got {where!r}.")
    found = {c: read_values(v, f"where {c!r}") for c, v in where.items()}
    return FrozenDict(
        {c: v if isinstance(v, tuple) else (v,) for c, v in found.items()}
    )


def _require_files(files: Mapping[str, str | Path]) -> FrozenDict[str, str]:
    fits = isinstance(files, Mapping) and all(
        isinstance(c, str) and isinstance(f, str | Path) and str(f)
        for c, f in files.items()
    )
    if not fits:
        raise InputError(f"hierarchies must be a file per column; got {files!r}.")
    return FrozenDict({c: str(f) for c, f in files.items()})


FILE_KEYS = ("delimiter", "encoding", "header", "names", "null", "dates", "decimal")
"""What a policy says of a text file."""


def _read_file(stated: Mapping[str, Any]) -> FrozenDict[str, Any]:
    known = isinstance(stated, Mapping) and set(stated) <= set(FILE_KEYS)
    if not known:
        raise InputError(
            f"file must be a table of {', '.join(FILE_KEYS)}; got {stated!r}."
        )
    found = {k: stated[k] for k in FILE_KEYS if stated.get(k) not in (None, (), [])}
    for key in found.keys() & {"names", "null"}:
        found[key] = as_names(found[key], key)
    return FrozenDict(found)


def require_folders(folders: str | Iterable[str]) -> tuple[str, ...]:
    """Custody folders, each once."""
    found = as_names(folders, "earlier", noun="folder")
    if "" in found:
        raise InputError("earlier must be folders; got ''.")
    return found


_KINDS: dict[str, tuple[Any, str]] = {
    "roles": (Roles, "Roles"),
    "purpose": (Purpose, "a Purpose"),
    "title": (str, "text"),
    "ledger": (str, "the path of a folder"),
    "signoff": (Signoff | None, "a Signoff"),
    "privacy": (DifferentialPrivacy | None, "a DifferentialPrivacy"),
    "budget": (PrivacyBudget | None, "a PrivacyBudget"),
}


@attrs.frozen
class Policy(Displayed):
    """Promises, measures, the roles of columns, and the purpose."""

    promises: tuple[Promise, ...] = attrs.field(default=(), converter=_read_promises)
    """What must hold; each has its own name."""
    roles: Roles = attrs.field(factory=Roles)
    """What the columns are for."""
    measures: tuple[Measure, ...] = attrs.field(default=(), converter=_read_measures)
    """Familiar measures that must be reached."""
    purpose: Purpose = attrs.field(factory=Purpose)
    """What the analyst wants."""
    where: Mapping[str, tuple[str | None, ...]] = attrs.field(
        factory=dict, converter=_read_where
    )
    """Which rows are meant, as texts; empty: all of them."""
    title: str = ""
    """What the release is called."""
    hierarchies: Mapping[str, str] = attrs.field(factory=dict, converter=_require_files)
    """Files with value hierarchies, by column."""
    views: tuple[View, ...] = attrs.field(default=(), converter=views_of)
    """What is published as views, each with its own columns."""
    earlier: tuple[str, ...] = attrs.field(default=(), converter=require_folders)
    """Custody folders of earlier releases that somebody may have too."""
    ledger: str = ""
    """The folder of the ledger, which knows every release about the same people."""
    accepted: tuple[Accepted, ...] = attrs.field(default=(), converter=accepted_of)
    """What is not promised, and accepted all the same by somebody."""
    derived: tuple[DerivedColumn, ...] = attrs.field(default=(), converter=derived_of)
    """Columns that follow from others, or that are said not to."""
    file: Mapping[str, Any] = attrs.field(factory=dict, converter=_read_file)
    """How its text file is read, as `read` takes it; empty: as it seems to be."""
    signoff: Signoff | None = None
    """Who answers for the release."""
    privacy: DifferentialPrivacy | None = None
    """Noise on the counts of a classifier; None: none, unless it is asked for."""
    domain: Mapping[str, DeclaredDomain] = attrs.field(
        factory=dict, converter=read_domains
    )
    """The values columns may have, said without looking at the table."""
    budget: PrivacyBudget | None = None
    """How much all releases in the ledger may tell of any one person."""
    person: PersonRows | None = attrs.field(default=None, converter=read_person)
    """How several rows of a person become one; None: rows stay as they are."""
    origin: Origin | None = attrs.field(default=None, eq=False, repr=False)
    """Where it was read."""

    def __attrs_post_init__(self) -> None:
        for what, (kind, words) in _KINDS.items():
            if not isinstance(value := getattr(self, what), kind):
                raise InputError(f"{what} must be {words}; got {value!r}.")
        require_encodable(self.title, "title")
        if self.privacy is not None and (self.privacy.domain or self.privacy.seed):
            raise InputError(
                "privacy of a policy must have no domain and no seed: a policy has "
                "domains of its own, and no seeds."
            )
        called = [p.name for p in self.promises] + [m.name for m in self.measures]
        if not called:
            raise InputError("A policy must hold a promise or a measure; got none.")
        if twice := sorted({n for n in called if called.count(n) > 1}):
            raise InputError(
                "Each promise must have its own name; got "
                + ", ".join(f"{n!r} twice" for n in twice)
                + "."
            )

    def promises_about(self, kind: str) -> list[Promise]:
        """The promises about a kind of release: "groups", "views", "classifier" …"""
        return select_promises(kind, self.promises)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file; every problem in it is reported at once."""
        return cls.from_toml(_read_text(Path(path)), file=str(path))

    @classmethod
    def from_toml(cls, text: str, *, file: str = "") -> Policy:
        """Read a policy from TOML."""
        from privet.policy.toml import parse

        return attrs.evolve(parse(text, file), origin=Origin(file, text))

    def to_toml(self) -> str:
        """Write the policy as TOML; reading it back gives an equal policy."""
        from privet.policy.toml import write

        return write(self)

    def to_dict(self) -> dict[str, Any]:
        """For machines: what is promised, and its file as text."""
        from importlib import import_module

        found: dict[str, Any] = import_module("privet.report.charts").summarise_policy(
            self
        )
        return found

    def ledger_folder(self) -> Path | None:
        """The folder of the ledger, relative to the policy file; None without one."""
        return self._resolve_path(self.ledger) if self.ledger else None

    def custodies(self) -> list[Path]:
        """The custody folders of earlier releases; relative to the policy file."""
        return [self._resolve_path(c) for c in self.earlier]

    def hierarchy_files(self) -> dict[str, Path]:
        """The files of value hierarchies; relative to the policy file."""
        return {c: self._resolve_path(path) for c, path in self.hierarchies.items()}

    def domains(self) -> dict[str, DeclaredDomain]:
        """The declared domains, those from files read; relative to the policy file."""
        return {c: d.resolve(c, self._resolve_path("")) for c, d in self.domain.items()}

    def _resolve_path(self, path: str) -> Path:
        base = Path(self.origin.file).parent if self.origin else Path()
        return base / Path(path).expanduser()

    def bind(self, schema: Schema, beside: Sequence[str] = ()) -> Roles:
        """The roles of this policy for a table with these columns and those beside it.

        A policy that names none leaves the table its own. Every column that does not
        exist, or is used for what it is not for, is reported at once, with its line.
        """
        roles = schema.roles if self.roles == Roles() else self.roles
        names = tuple(dict.fromkeys((*schema.names, *beside)))
        problems = find_misfits(self, roles, names)
        if not problems:
            return roles
        if self.origin is None:
            raise PolicyError(problems)
        raise PolicyError(locate_problems(problems, self.origin.text), self.origin.file)


def locate_problems(problems: Sequence[Problem], text: str) -> list[Problem]:
    """Problems with the lines of the text they are about, in its order."""
    from privet.policy.toml import find_line, locate_keys

    lines = locate_keys(text)
    found = [replace(p, line=find_line(p.key, lines)) for p in problems]
    return sorted(found, key=lambda p: p.line or 0)


def _read_text(path: Path) -> str:
    what = f"Policy file {str(path)!r}"
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{what} must exist. {_suggest_files(path)}") from None
    except IsADirectoryError:
        raise InputError(f"{what} must be a file; it is a folder.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{what} must be UTF-8 text; it is not. Save it as UTF-8."
        ) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{what} must be readable; got: {why}.") from None


def _suggest_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {str(path.parent)!r} does not exist either."
    beside = sorted(p.name for p in path.parent.glob("*.toml"))
    return suggest_names(path.name, beside) if beside else "Draft one with: privet init"


Stated = Policy | Promise | Sequence[Promise | Measure]
"""What is promised."""


def as_policy(promises: Stated, roles: Roles | None = None) -> Policy:
    """A policy as it is; promises and measures as one, with the roles of a table."""
    if isinstance(promises, Policy):
        return promises
    one = isinstance(promises, Promise | Measure)
    stated = [promises] if one else list(promises)  # type: ignore[arg-type]
    return Policy(
        promises=tuple(p for p in stated if isinstance(p, Promise)),
        measures=tuple(p for p in stated if isinstance(p, Measure)),
        roles=roles or Roles(),
    )
