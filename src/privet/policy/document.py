"""The policy: promises, roles and purpose in one value, read from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from privet.adversary import Linker
from privet.errors import InputError, PolicyError, Problem, what_exists
from privet.policy.promise import Measure, Promise, Purpose
from privet.roles import Roles, Schema


@dataclass(frozen=True)
class Origin:
    """Where a policy was read, for messages."""

    file: str
    """The file's name."""
    text: str
    """What it says."""


@dataclass(frozen=True)
class Policy:
    """Promises, measures, the roles of columns, and the purpose."""

    promises: tuple[Promise, ...]
    """What must hold."""
    roles: Roles = field(default_factory=Roles)
    """What the columns are for."""
    measures: tuple[Measure, ...] = ()
    """Familiar measures that must be reached."""
    purpose: Purpose = field(default_factory=Purpose)
    """What the analyst wants."""
    where: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Which rows are meant; empty: all of them."""
    title: str = ""
    """What the release is called."""
    origin: Origin | None = field(default=None, compare=False, repr=False)
    """Where it was read."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "promises", tuple(self.promises))
        object.__setattr__(self, "measures", tuple(self.measures))

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file; every problem in it is reported at once."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            near = _policies_beside(Path(path))
            raise InputError(f"Policy file {str(path)!r} must exist. {near}") from None
        except (OSError, UnicodeDecodeError):
            raise InputError(
                f"Policy file {str(path)!r} must be a readable UTF-8 text file."
            ) from None
        return cls.from_toml(text, file=str(path))

    @classmethod
    def from_toml(cls, text: str, *, file: str = "") -> Policy:
        """Read a policy from TOML."""
        from privet.policy.reading import parse

        return replace(parse(text, file), origin=Origin(file, text))

    def to_toml(self) -> str:
        """Write the policy as TOML; reading it back gives an equal policy."""
        from privet.policy.writing import write

        return write(self)

    def bind(self, schema: Schema) -> Roles:
        """The roles of this policy for a table with these columns.

        Every column that does not exist, or is used for what it is not for, is
        reported at once, with its line.
        """
        problems = misfits(self, schema.names)
        if problems:
            raise PolicyError(self._located(problems), self._file)
        return self.roles

    @property
    def _file(self) -> str:
        return self.origin.file if self.origin else ""

    def _located(self, problems: Sequence[Problem]) -> list[Problem]:
        if self.origin is None:
            return list(problems)
        from privet.policy.lines import line_of, lines_of

        lines = lines_of(self.origin.text)
        return [replace(p, line=line_of(p.key, lines)) for p in problems]


def _policies_beside(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {str(path.parent)!r} does not exist either."
    beside = sorted(p.name for p in path.parent.glob("*.toml"))
    return what_exists(path.name, beside) if beside else "Draft one with: privet init"


def misfits(policy: Policy, columns: Sequence[str]) -> list[Problem]:
    """What a policy asks of columns that are not there, or not meant for it."""
    problems = []
    for key, names in _named(policy):
        problems += [
            Problem(
                f"{key} must name columns of the table; got {name!r}. "
                f"{what_exists(name, columns)}",
                key,
            )
            for name in names
            if name not in columns
        ]
    for i, promise in enumerate(policy.promises, 1):
        problems += _misused(f"promise[{i}]", promise, policy.roles)
    return problems


def _named(policy: Policy) -> list[tuple[str, tuple[str, ...]]]:
    """Every key that names columns, with the columns."""
    roles = policy.roles
    found = [
        (f"columns.{r}", getattr(roles, r))
        for r in ("identifier", "quasi", "sensitive")
    ]
    singles = [
        (f"columns.{r}", getattr(roles, r)) for r in ("target", "unit", "weight")
    ]
    found += [(key, (name,)) for key, name in singles if name]
    found += [(f"bins.{c}", (c,)) for c in roles.bins]
    found += [(f"where.{c}", (c,)) for c in policy.where]
    for i, promise in enumerate(policy.promises, 1):
        if isinstance(promise.against, Linker):
            found.append((f"promise[{i}].knows", promise.against.knows or ()))
            if isinstance(promise.about, dict):
                found.append((f"promise[{i}].about", tuple(promise.about)))
            if isinstance(promise.about, str):
                found.append((f"promise[{i}].about", (promise.about,)))
    return found


def _misused(at: str, promise: Promise, roles: Roles) -> list[Problem]:
    if not isinstance(promise.against, Linker):
        return []
    about = promise.about
    columns = (
        (about,)
        if isinstance(about, str)
        else (tuple(about) if isinstance(about, dict) else roles.sensitive)
    )
    known = promise.against.knows or ()
    rules = [
        (
            f"{at}.knows",
            "must not hold an identifier",
            set(known) & set(roles.identifier),
        ),
        (
            f"{at}.about",
            "must not be an identifier",
            set(columns) & set(roles.identifier),
        ),
        (
            f"{at}.knows",
            "must not hold what the promise is about",
            set(known) & set(columns),
        ),
    ]
    return [
        Problem(f"{key} {rule}; got {', '.join(map(repr, sorted(bad)))}.", key)
        for key, rule, bad in rules
        if bad
    ]
