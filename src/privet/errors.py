"""The exceptions privet raises, and how they help.

::

    PrivetError
      InputError (ValueError)   ColumnNotFound, RoleConflict, EmptyTable
      PolicyError (ValueError)  every problem of a policy, with file, line, key, rule
      NoAudit (TypeError)       no arithmetic for this release and this adversary
      Breach                    raised only by ``require_safe()``
      Infeasible                no release keeps every promise
      NotCovered                nobody promised it, and nobody accepted it
      NotTogether               broken, or undecided, with earlier releases
      TooLarge                  an enumeration was refused
      Stopped                   the time limit ran out before the answer
      EngineError               the engine failed
      MissingExtra (ImportError)  an optional dependency is not installed
    PrivacyWarning              a choice that weakens a promise

A message reads: *subject* must *rule*; got *value*. What exists, or what to do.
Column names, thresholds and counts may be printed; cells of people never.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any


class PrivetError(Exception):
    """Whatever privet raises on purpose."""


class InputError(PrivetError, ValueError):
    """An argument or a file is not what the function takes."""


class ColumnNotFound(InputError):
    """A column is named that the table does not have."""


class RoleConflict(InputError):
    """A column has two roles that exclude each other."""


class EmptyTable(InputError):
    """A table without rows: there is nobody to protect and nothing to count."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a policy."""

    rule: str
    """What must hold, what came, and what exists."""
    key: str = ""
    """Dotted name of the key, such as ``promise[2].at_most``."""
    line: int | None = None
    """Line in the file, counted from 1; None where there is no file."""

    def words(self, file: str) -> str:
        """One line: ``policy.toml:12: promise[2].at_most must …``."""
        place = f"{file}:{self.line}: " if self.line else (f"{file}: " if file else "")
        return place + self.rule


class PolicyError(PrivetError, ValueError):
    """A policy that cannot be used; carries every problem found in it."""

    def __init__(self, problems: Sequence[Problem], file: str = "") -> None:
        self.problems = tuple(problems)
        self.file = file
        first = self.problems[0]
        self.line, self.key, self.rule = first.line, first.key, first.rule
        super().__init__("\n".join(p.words(file) for p in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.file)


class NoAudit(PrivetError, TypeError):
    """No arithmetic exists for this pair of release and adversary."""


class Breach(PrivetError):
    """A promise is broken; ``findings`` says which and how."""

    def __init__(self, message: str, findings: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class Infeasible(PrivetError):
    """No release keeps the promise; carries the best that can be reached."""

    def __init__(
        self,
        message: str,
        *,
        promise: Any = None,
        best: Any = None,
        advice: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.promise = promise
        self.best = best
        self.advice = tuple(advice)


class NotCovered(PrivetError):
    """A release tells what no promise covers, and nobody accepted that by name."""

    def __init__(self, message: str, findings: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class NotTogether(PrivetError):
    """Together with earlier releases a promise is broken, or cannot be decided."""

    def __init__(self, message: str, findings: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class TooLarge(PrivetError):
    """An enumeration was refused; the message says how large it would be."""


class Undecided(TooLarge):
    """Whether a promise can be kept was not settled; carries what is known of it."""

    def __init__(
        self,
        message: str,
        *,
        promise: Any = None,
        best: Any = None,
        needed: Any = None,
        advice: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.promise = promise
        self.best = best
        self.needed = needed
        self.advice = tuple(advice)


class Stopped(PrivetError):
    """The time limit ran out before the answer was there."""


class EngineError(PrivetError):
    """The engine failed; its own message is kept only if it can show no cell."""


class MissingExtra(PrivetError, ImportError):
    """An optional dependency is needed here and is not installed."""


class PrivacyWarning(UserWarning):
    """A choice that weakens a promise, or one that probably is a slip."""


def warn(words: str) -> None:
    """Warn of something; the warning points at whoever called privet."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(words, PrivacyWarning, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == "privet" or module.startswith("privet.")


def find_nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known names that look like `name`, the likeliest first.

    >>> find_nearest("bankrupcy", ["job", "bankruptcy", "rating"])
    ['bankruptcy']
    """
    by_fold = {k.casefold(): k for k in known}
    close = get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.6)
    return [by_fold[k] for k in close]


def suggest_names(name: str, known: Sequence[str], most: int = 12) -> str:
    """The sentence that ends an error about a name that is not there.

    >>> suggest_names("jop", ["job", "country"])
    "Did you mean 'job'?"
    >>> suggest_names("x", ["job", "country"])
    "There are 'job', 'country'."
    """
    if close := find_nearest(name, known):
        return "Did you mean " + " or ".join(repr(c) for c in close) + "?"
    if not known:
        return "There are none."
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return "There are " + ", ".join(repr(k) for k in known[:most]) + f"{more}."
