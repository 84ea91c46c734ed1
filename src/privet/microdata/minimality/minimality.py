"""Minimality: what knowing our own method adds to a release; a red team.

Every hidden value would have broken a promise, and every move was the best one: that is
knowledge too. The attacker sees the released file, the manifest and the policy, knows
the method with its order of moves, and is granted the public dictionary: which values a
column may have. They list the private tables that could lie behind the file, run the
method on each, and keep those that give exactly this release. All ways to give people
the rows of those tables are equally likely, as everywhere in privet. Without the
method, every value behind a label is equally likely: the confidence an audit counts.

An attack may accuse; that it finds nothing proves nothing. Tables become so many that
this is for small releases only.
Wong, Fu, Wang, Pei 2007, "Minimality Attack in Privacy Preserving Data Publishing".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import attrs

from privet.engine.protocol import Run
from privet.errors import InputError, NoAudit, Stopped, TooLarge
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.linkage import TemplateQuery
from privet.microdata.minimality.fitting_tables import (
    Secret,
    list_fitting,
    list_secrets,
)
from privet.microdata.minimality.release_view import (
    Method,
    ReleaseView,
    Row,
    Values,
    view_release,
)
from privet.microdata.recipe import UNCHANGED, Hide, Recipe
from privet.microdata.release import Release
from privet.microdata.suppression.publish import (
    TopDownDisclosure,
    choose_method,
)
from privet.microdata.written_columns import NULL
from privet.policy import Policy, Promise
from privet.release.manifest import RECIPE
from privet.values.beliefs import Belief
from privet.values.frozen_dict import FrozenDict

MOST_TABLES = 100_000
"""Tables that are listed; more are refused."""

CHEAP_TABLES, CHEAP_ROWS, CHEAP_SECONDS = 256, 60, 2
"""What is listed without being asked for."""


# What is found ----------------------------------------------------------------------


@dataclass(frozen=True)
class MethodBelief:
    """How sure somebody is of one person's value, without the method and with it."""

    promise: Promise
    """The promise it is held against."""
    knows: Mapping[str, str | None]
    """What is known of the person, before anything was hidden."""
    column: str
    """What the belief is about."""
    value: str | None
    """The value believed."""
    belief: Belief
    """From the file alone (prior), and with the method (posterior)."""

    @property
    def beyond(self) -> bool:
        """Whether the promise's limit is passed by whoever knows the method."""
        return not self.promise.limit.holds(self.belief)

    def to_dict(self) -> dict[str, Any]:
        """For machines, probabilities as fractions in text."""
        return {
            "promise": self.promise.name,
            "knows": dict(self.knows),
            "about": {self.column: self.value},
            "without": str(self.belief.prior),
            "with": str(self.belief.posterior),
            "limit": self.promise.limit.to_dict(),
            "beyond": self.beyond,
        }


@dataclass(frozen=True)
class OriginalTables:
    """The tables that may lie behind a release, and what follows. Sensitive."""

    tables: int
    """How many the file allows."""
    fitting: int
    """For how many of them the method gives exactly this release."""
    beliefs: tuple[MethodBelief, ...]
    """What is believed of whom, the gravest first."""

    @property
    def worst(self) -> MethodBelief | None:
        """The belief to look at first; None where no promise is about anybody."""
        return self.beliefs[0] if self.beliefs else None

    @property
    def beyond(self) -> tuple[MethodBelief, ...]:
        """The beliefs that pass a limit."""
        return tuple(b for b in self.beliefs if b.beyond)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "basis": "attack",
            "tables": self.tables,
            "fitting": self.fitting,
            "beliefs": [b.to_dict() for b in self.beliefs],
        }


# The attacker -----------------------------------------------------------------------


def _read_domain(
    given: Mapping[str, Sequence[str | None]] | None,
) -> FrozenDict[str, Values]:
    named = dict(given or {})
    for column, values in named.items():
        if isinstance(values, str) or not values:
            raise InputError(
                f"domain of {column!r} must be a list of values; got {values!r}."
            )
    return FrozenDict({c: tuple(dict.fromkeys(v)) for c, v in named.items()})


@attrs.frozen(kw_only=True)
class Minimality:
    """Somebody who knows the method, and which values each column may have.

    >>> Minimality(domain={"job": ["Clerk", "Trader"]}).words()
    'someone who knows how values were chosen to be hidden'
    """

    domain: Mapping[str, Values] = attrs.field(default=None, converter=_read_domain)
    """Public dictionaries: the values a column may have; None: missing. Of a release
    that was just made, the table's own values are taken where nothing is given."""
    method: Method | None = None
    """How the release was made; None: as it says itself, with the usual options."""
    most: int = MOST_TABLES
    """How many tables are listed at most."""

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        return "someone who knows how values were chosen to be hidden"

    def attack(
        self,
        release: Release,
        policy: Policy | None = None,
        *,
        max_seconds: float | None = None,
        run: Run | None = None,
    ) -> OriginalTables:
        """List the tables behind a release, and what they make of its promises.

        Parameters
        ----------
        release
            What was published, just made or loaded.
        policy
            What it was made under; None: the promises of the release itself.
        max_seconds
            Stop after this time.
        run
            Instead: a piece of work that this is part of.
        """
        stated = policy or release.policy
        work = run or Run.start(None, max_seconds)
        method = self.method or _find_method(release, stated)
        view = view_release(release, stated, method, self.domain, work)
        found = list_fitting(view, self.most, work)
        if not found.fitting:
            raise InputError(
                "The method must give this release for some table; it does for none. "
                "The release was made with other options or another policy, or the "
                "search was stopped; or the dictionaries lack values."
            )
        beliefs = sorted(_compare_beliefs(view, found.expected), key=_gravity)
        return OriginalTables(found.tables, found.fitting, tuple(beliefs))


def measure_cheaply(release: Release) -> OriginalTables | None:
    """What a release that was just made tells who knows the method, if it is small."""
    if release.folder is not None or release._private.engine.rows(Run()) > CHEAP_ROWS:
        return None
    attacker = Minimality(most=CHEAP_TABLES)
    try:
        return attacker.attack(release, max_seconds=CHEAP_SECONDS)
    except (TooLarge, Stopped, NoAudit, InputError):
        return None


def read_dictionaries(custody: str | PathLike[str]) -> dict[str, Values]:
    """The values that columns have, as far as a custody folder names them."""
    file = Path(custody).expanduser() / RECIPE
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and content.get("recipe") == "groups":
        return {c: tuple(values) for c, values in content["columns"].items()}
    recipe = Recipe.load(file)
    return {
        c: (*how.hidden, *(how.shown or ()))
        for c, how in recipe.columns.items()
        if isinstance(how, Hide)
    }


def _gravity(found: MethodBelief) -> tuple[Any, ...]:
    """Beyond the limit first, then the surest, then whom the method tells most of."""
    before, after = found.belief.prior, found.belief.posterior
    person = [(c, v is not None, v or "") for c, v in found.knows.items()]
    return not found.beyond, -after, before - after, person, found.value or ""


def _shows_levels(release: Release) -> bool:
    """Whether values are shown by nodes of a hierarchy."""
    own = release.recipe.columns.values() if release.recipe else ()
    if any(isinstance(how, Hide) and how.called for how in own):
        return True
    columns = release.manifest.get("columns", {}).values() if release.folder else ()
    return any(about.get("shown_as") == "levels" for about in columns)


def _find_method(release: Release, policy: Policy) -> Method:
    """The method a release names, with the options it shows or usual ones."""
    if _shows_levels(release):
        raise NoAudit(
            "A release must show values or intervals to ask what its method tells; it "
            "shows levels of a hierarchy."
        )
    if isinstance(release.made_by, TopDownDisclosure | Mondrian):
        return release.made_by
    if release.method == Mondrian.kind:
        return Mondrian().for_policy(policy.hierarchy_files())
    if release.method not in (TopDownDisclosure.kind, UNCHANGED):
        raise NoAudit(
            "A release must be made by top-down disclosure or Mondrian to ask what its "
            f"method tells; got {release.method!r}."
        )
    columns = release.manifest.get("columns", {}).values()
    empty = any(a.get("written_as") == NULL for a in columns)
    shown = [a.get("shown_as") for a in columns if "written_as" not in a]
    marked = [s for s in shown if s not in (None, "intervals")]
    options = {"marker": marked[0]} if marked else {}
    options |= {"hidden": NULL} if empty else {}
    return choose_method(policy, release._table, **options)


# Beliefs ----------------------------------------------------------------------------


def _compare_beliefs(
    view: ReleaseView, expected: Mapping[Row, int]
) -> Iterator[MethodBelief]:
    """Everybody who may be there, for everything that is promised."""
    # Without the method: of n rows alike with d options, n/d people have each.
    before: dict[Row, Fraction] = {}
    for alike in view.classes:
        for row in alike.options:
            share = Fraction(alike.n, len(alike.options))
            before[row] = before.get(row, Fraction(0)) + share
    for question in view.questions:
        for tally in question.tallies:
            for secret in list_secrets(view, question):
                yield from _compare_groups(
                    view, question, tally.by, secret, before, expected
                )


def _compare_groups(
    view: ReleaseView,
    question: TemplateQuery,
    known: Sequence[str],
    secret: tuple[Secret, str | None],
    before: Mapping[Row, Fraction],
    expected: Mapping[Row, int],
) -> Iterator[MethodBelief]:
    at = [view.names.index(c) for c in known]
    about = view.names.index(question.column)
    sums: dict[Row, list[Fraction]] = {}
    for row, share in before.items():
        group = sums.setdefault(tuple(row[i] for i in at), [Fraction(0)] * 4)
        group[0] += share
        group[1] += expected[row]
        if row[about] in secret[0]:
            group[2] += share
            group[3] += expected[row]
    for cells, (all_before, all_after, some_before, some_after) in sums.items():
        if all_after and (some_before or some_after):
            yield MethodBelief(
                question.promise,
                FrozenDict(zip(known, cells, strict=True)),
                question.column,
                secret[1],
                Belief(some_before / all_before, some_after / all_after),
            )
