"""Discovery: which known columns give away which values, and how surely.

Every minimal rule (columns → value) of a table beyond a confidence: what a linker who
knows the columns learns of somebody, whether anybody promised to limit it or not.
Wang, Fung, Yu 2007, §3 (inferences and their confidence).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privet.display import Displayed
from privet.engine.protocol import (
    ENOUGH_ROWS,
    LIMIT,
    CountUnit,
    HoldingEngine,
    Listener,
    Run,
    limit_time,
)
from privet.errors import InputError, NoAudit, Stopped
from privet.findings import Witness
from privet.languages import say
from privet.microdata.discovery.levelwise_search import (
    Columns,
    FoundRule,
    LevelwiseSearch,
    Sought,
)
from privet.microdata.linkage import check_known, read_released_about, say_never_occurs
from privet.microdata.written_columns import MARKER
from privet.policy import Policy, Promise
from privet.policy.promises import read_values
from privet.release.audit import bind_table
from privet.table import Table, require_columns
from privet.values.adversaries import Linker
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain
from privet.values.exact import MAX_COUNT, Number, fraction
from privet.values.schema import as_names

if TYPE_CHECKING:
    from rich.console import RenderableType

CONFIDENCE = Fraction(1, 2)
"""More likely than not: what a rule must exceed unless another confidence is asked for.
"""

MOST_RESERVE = 2.0
"""Seconds of a time limit that are kept for telling what was found."""

ORDERS = ("people", "lift")
"""How rules may be ranked."""

Asked = str | Sequence[str] | Mapping[str, object] | None
"""Columns that may be given away, or single values of some."""


@dataclass(frozen=True)
class Inference:
    """One minimal rule (columns → value): who knows the columns learns the value."""

    columns: tuple[str, ...]
    """What somebody knows, in the order of the table."""
    witness: Witness
    """The group that gives most away, of those with enough people, and everybody."""
    people: int
    """People in groups that are beyond the confidence and large enough; somebody with
    several rows is counted in each of their groups."""
    groups: int
    """How many groups these are."""
    audited: Fraction
    """What an audit of the same promise finds: small groups count there, too. The
    confidence itself at a support of 1."""

    @property
    def about(self) -> str:
        """The column that is given away."""
        return self.witness.column

    @property
    def value(self) -> str | None:
        """The value that is given away; None: that it is missing."""
        return self.witness.value

    @property
    def confidence(self) -> Fraction:
        """How sure somebody can be who knows the columns."""
        return self.witness.belief.posterior

    @property
    def floor(self) -> Fraction:
        """The share in everybody: what hiding all columns reaches, and nothing less."""
        return self.witness.belief.prior

    @property
    def lift(self) -> Fraction:
        """How many times the share in everybody the confidence is."""
        return self.confidence / self.floor

    def to_promise(self, at_most: Number) -> Promise:
        """The promise that nobody learns this."""
        # A bare "*" would mean every value.
        value: Any = [self.value] if self.value == "*" else self.value
        against = Linker(knows=self.columns)
        return Promise(against, Ceiling(at_most), {self.about: value})

    def to_dict(self) -> dict[str, Any]:
        """For machines, probabilities as fractions in text."""
        from privet.microdata.discovery.report import describe_rule

        return {
            "columns": list(self.columns),
            "about": {self.about: self.value},
            "confidence": str(self.confidence),
            "floor": str(self.floor),
            "lift": str(self.lift),
            "people": self.people,
            "groups": self.groups,
            "audited": str(self.audited),
            "witness": self.witness.to_dict(),
            "words": describe_rule(self),
        }


@dataclass(frozen=True)
class Commonplace:
    """A value so common that no column is needed to believe it."""

    about: str
    """The column."""
    value: str | None
    """The value."""
    part: int
    """People who have it …"""
    whole: int
    """… out of everybody."""

    @property
    def share(self) -> Fraction:
        """How sure somebody is who knows nothing."""
        return Fraction(self.part, self.whole)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {"about": {self.about: self.value}, "share": str(self.share)}


@dataclass(frozen=True)
class Discovery(Displayed):
    """Which inferences a table allows; sensitive, for it quotes."""

    rules: tuple[Inference, ...]
    """Every minimal rule that was found, by people, then by lift."""
    everybody: tuple[Commonplace, ...]
    """Values beyond the confidence in everybody, which nothing that is hidden helps."""
    confidence: Fraction
    """What a rule exceeds."""
    columns: int
    """Known columns of a rule, at the most."""
    support: int
    """People of a group, at the least."""
    known: Mapping[str, tuple[str, ...]]
    """For each column that was looked at, the columns that may be known."""
    people: int
    """Everybody."""
    counted: str
    """What the counts count: rows or people."""
    sets: Mapping[int, tuple[int, int]]
    """By number of columns, how many sets were looked at, and how many there are."""
    ended: str = "finished"
    """"finished", "time", "interrupted" or "rules": too many to keep."""
    notes: tuple[str, ...] = ()
    """What else must be said."""

    @property
    def complete(self) -> bool:
        """Whether every set was looked at."""
        return self.ended == "finished"

    def rank(self, by: str = "people", top: int | None = None) -> list[Inference]:
        """The rules by how many people they are about, or by their lift; the first."""
        if by not in ORDERS:
            raise InputError(f"by must be one of {ORDERS}; got {by!r}.")
        if by == "lift":
            ranked = sorted(self.rules, key=lambda r: (-r.lift, -r.people))
        else:
            ranked = list(self.rules)
        return ranked if top is None else ranked[: require_whole("top", top, 0)]

    def promises(
        self,
        top: int | None = None,
        *,
        at_most: Number | None = None,
        by: str = "people",
    ) -> list[Promise]:
        """The rules as promises that each is limited, the first so many.

        Audited, each has the worst case that `audited` says. They are limited to the
        confidence unless another level is given.
        """
        level = self.confidence if at_most is None else at_most
        made = [rule.to_promise(level) for rule in self.rank(by, top)]
        return list(_name_apart(made))

    def to_toml(
        self,
        top: int | None = None,
        *,
        at_most: Number | None = None,
        by: str = "people",
    ) -> str:
        """The same as text to paste into a policy file."""
        from privet.microdata.discovery.report import write_promises

        return write_promises(self.promises(top, at_most=at_most, by=by))

    def matrix(self) -> dict[str, dict[str, int | None]]:
        """Which columns give away which: the fewest columns of a rule with both.

        1: the column alone gives some value away; 2: with one other; None: no rule.
        """
        fewest: dict[tuple[str, str], int] = {}
        for rule in self.rules:
            for column in rule.columns:
                at = column, rule.about
                fewest[at] = min(fewest.get(at, len(rule.columns)), len(rule.columns))
        return {
            c: {a: fewest.get((c, a)) for a, own in self.known.items() if c in own}
            for c in self.list_known()
        }

    def list_known(self) -> list[str]:
        """Every column that may be known; in the order of the table, where all may be
        given away.
        """
        used = {c for own in self.known.values() for c in own}
        named = (*self.known, *(c for own in self.known.values() for c in own))
        return [c for c in dict.fromkeys(named) if c in used]

    def to_dict(self) -> dict[str, Any]:
        """For machines, probabilities as fractions in text."""
        from privet.microdata.discovery import report

        return report.summarise_discovery(self)

    def explain(self, top: int = 10, *, by: str = "people") -> str:
        """The first rules and the picture in plain words."""
        from privet.microdata.discovery import report

        return report.discovery_as_text(self, top, by)

    def __repr__(self) -> str:
        from privet.microdata.discovery import report

        return f"Discovery({report.write_headline(self)})"

    def __rich__(self) -> RenderableType:
        from privet.microdata.discovery import report

        return report.as_rich(self)


def _name_apart(promises: Sequence[Promise]) -> Iterator[Promise]:
    """The same promises, none called as another: a policy asks for that."""
    seen: dict[str, int] = {}
    for promise in promises:
        seen[promise.name] = times = seen.get(promise.name, 0) + 1
        if times == 1:
            yield promise
        else:
            name = f"{promise.name} ({times})"
            yield Promise(promise.against, promise.limit, promise.about, name)


# The verb -----------------------------------------------------------------------------


def discover(
    table: Table,
    policy: Policy | None = None,
    *,
    about: Asked = None,
    known: str | Sequence[str] | None = None,
    every: bool = False,
    confidence: Number = CONFIDENCE,
    columns: int = 3,
    support: int = 1,
    max_seconds: float | None = None,
    progress: Listener | None = None,
) -> Discovery:
    """Find every minimal rule (columns → value) of a table beyond a confidence.

    Parameters
    ----------
    table
        The rows, as they are.
    policy
        Gives columns their roles, and says which rows are meant.
    about
        What may be given away: a column, several, or values such as
        ``{"ill": ["HIV", "cancer"]}``. The sensitive columns unless you say so.
    known
        The columns somebody may know. All that are published and not sensitive unless
        you say so.
    every
        Look at each column that is published, whoever knows any of the others.
    confidence
        A rule is surer than this: somebody's value is more likely than not.
    columns
        How many columns somebody knows at the most.
    support
        Groups of fewer people are not looked at.
    max_seconds
        Stop after this time, with what is found, which is final.
    progress
        Takes `Progress` events.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from privet import read
    >>> jobs, ill = ["Cook", "Cook", "Judge", "Judge"], ["flu", "flu", "no", "asthma"]
    >>> people = read(pa.table({"job": jobs, "ill": ill}), quasi="job", sensitive="ill")
    >>> [(r.columns, r.value, r.confidence, r.floor) for r in discover(people).rules]
    [(('job',), 'flu', Fraction(1, 1), Fraction(1, 2))]
    """
    if not isinstance(table, Table):
        raise NoAudit(f"Rules are found in tables; got a {type(table).__name__}.")
    if table.shown is not None:
        raise NoAudit("Rules are found in tables; a release in groups shows others.")
    if not isinstance(policy, Policy | None):
        raise InputError(f"policy must be a Policy; got a {type(policy).__name__}.")
    bound = table if policy is None else bind_table(table, policy)
    asked = _choose_columns(bound, about, known, every)
    level = fraction(confidence, "confidence")
    if not 0 < level < 1:
        raise InputError(f"confidence must be above 0 and below 1; got {confidence}.")
    sizes = require_whole("columns", columns, 1), require_whole("support", support, 1)
    with limit_time(max_seconds):
        return _search(bound, asked, level, sizes, _start_run(progress))


def _start_run(progress: Listener | None) -> Run:
    """A run that ends a little before the time limit: rules must still be told."""
    limit = LIMIT.get()
    if limit is None:
        return Run(progress)
    reserve = min(MOST_RESERVE, (limit.end - limit.began) / 10)
    return Run(progress, limit.end - reserve)


def require_whole(name: str, value: Any, least: int) -> int:
    """A number of something must be whole."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number from {least}; got {value!r}.")
    return min(value, MAX_COUNT)


def _search(
    table: Table,
    asked: _Choice,
    level: Fraction,
    sizes: tuple[int, int],
    run: Run,
) -> Discovery:
    """Search; who stops it before everybody is counted gets `Stopped`, for nothing."""
    domains = table.domains(asked.list_columns(table), run)
    asked, notes = _leave_out_telling(table, asked, domains, run)
    notes += _note_oddities(asked, domains)
    sought = Sought(asked.known, asked.values, level, *sizes)
    held = _hold(table, asked.list_columns(table), run)
    search = LevelwiseSearch(held, sought, run)
    search.count_everybody(domains)
    notes += _note_never(asked, search)
    ended = "finished"
    try:
        search.walk()
    except Stopped:
        ended = "time"
    except KeyboardInterrupt:
        ended = "interrupted"
    if ended == "finished" and search.is_full:
        ended = "rules"
    return _put_together(table, sought, search, ended, tuple(notes))


def _hold(table: Table, columns: Sequence[str], run: Run) -> Table:
    """The table with the codes of its rows in memory, where that can be."""
    engine = table.engine
    if not isinstance(engine, HoldingEngine):
        return table
    amount = CountUnit(table.roles.unit, table.roles.weight)
    held = engine.hold_rows(columns, amount, table.recodings, run)
    return table if held is None else replace(table, engine=held)


def _put_together(
    table: Table,
    sought: Sought,
    search: LevelwiseSearch,
    ended: str,
    notes: tuple[str, ...],
) -> Discovery:
    sets = {n: (search.looked[n], sought.count_sets(n)) for n in sought.list_sizes()}
    if all(looked == of for looked, of in sets.values()):
        ended = "finished"
    rules = [_build_rule(table, rule, search) for rule in search.rules]
    place = {c: i for i, c in enumerate(table.schema.names)}
    rules.sort(
        key=lambda r: (
            -r.people,
            -r.lift,
            len(r.columns),
            [place[c] for c in r.columns],
        )
    )
    first = next(iter(search.everybody.values()))
    return Discovery(
        tuple(rules),
        tuple(_list_commonplaces(sought, search)),
        sought.confidence,
        sought.columns,
        sought.support,
        dict(sought.known),
        int(first.total[0]),
        table.counted,
        sets,
        ended,
        notes,
    )


def _build_rule(table: Table, rule: FoundRule, search: LevelwiseSearch) -> Inference:
    everybody, case = search.everybody[rule.about], rule.case
    at = everybody.value == case.rank[-1]
    witness = Witness(
        knows=dict(zip(rule.columns, case.known, strict=True)),
        column=rule.about,
        value=case.value,
        part=case.part,
        whole=case.whole,
        prior_part=int(everybody.n[at].sum()),
        prior_whole=int(everybody.total[0]),
        counted=table.counted,
    )
    return Inference(rule.columns, witness, rule.people, rule.groups, rule.audited)


def _list_commonplaces(
    sought: Sought, search: LevelwiseSearch
) -> Iterator[Commonplace]:
    for column, batch in search.everybody.items():
        whole, asked = int(batch.total[0]), search.select_asked(column, batch.about)
        for code, n in zip(batch.value.tolist(), batch.n.tolist(), strict=True):
            if asked[code] and Fraction(n, whole) > sought.confidence:
                yield Commonplace(column, batch.about[code], n, whole)


# Which columns ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Choice:
    """The columns that may be given away, and for each those that may be known."""

    known: Mapping[str, Columns]
    values: Mapping[str, tuple[object, ...] | None]
    named: frozenset[str]
    """Columns that somebody named; none of them is left out."""

    def list_columns(self, table: Table) -> list[str]:
        """All of them, in the order of the table."""
        used = {*self.known, *(c for own in self.known.values() for c in own)}
        return [c for c in table.schema.names if c in used]


def _choose_columns(
    table: Table, about: Asked, known: str | Sequence[str] | None, every: bool
) -> _Choice:
    if every and (about is not None or known is not None):
        raise InputError("every must not be given with about or known; it is all.")
    values = _read_about(table, about, every)
    chosen = None if known is None else as_names(known, "known")
    if chosen is not None:
        require_columns(chosen, table.schema, "known")
    found: dict[str, Columns] = {}
    for column in values:
        own = chosen if chosen is not None else _list_known(table, column, every)
        own = tuple(c for c in table.schema.names if c in own and c != column)
        check_known(own, column, table)
        if not own and not every:
            raise InputError(
                f"known must hold a column beside {column!r}; there is none. Declare "
                "quasi columns, or name those that somebody may know."
            )
        found[column] = own
    named = (*table.roles.columns(), *(chosen or ()), *(() if every else values))
    return _Choice(found, values, frozenset(named))


def _read_about(
    table: Table, about: Asked, every: bool
) -> dict[str, tuple[object, ...] | None]:
    """The columns that may be given away, and the values of each that matter."""
    if every:
        return dict.fromkeys(_list_published(table))
    if about is None:
        if not table.roles.sensitive:
            raise InputError(
                "about must name what may be given away, since no column is declared "
                "sensitive. Give a policy, or a column, or ask for every column."
            )
        return dict.fromkeys(
            c for c in table.schema.names if c in table.roles.sensitive
        )
    if isinstance(about, Mapping):
        stated = dict(about)
    else:
        stated = dict.fromkeys(as_names(about, "about"), "*")
    if not stated:
        raise InputError("about must name a column; got none.")
    found: dict[str, tuple[object, ...] | None] = {}
    for column, given in stated.items():
        promise = Promise(Linker(), Ceiling(1), column)
        read_released_about(promise, table)  # the column must be there, and be shown
        values = read_values(given, f"about {column!r}")
        several = values if isinstance(values, tuple) else (values,)
        found[column] = None if values == "*" else several
    return found


def _list_published(table: Table) -> list[str]:
    """Columns that a release could show, in the order of the table."""
    roles = table.roles
    gone = {*roles.withheld, roles.unit, roles.weight}
    return [c for c in table.schema.names if c not in gone]


def _list_known(table: Table, column: str, every: bool) -> list[str]:
    """What may be known: all that is published, but for what nobody should learn."""
    secret = () if every else table.roles.sensitive
    target = table.roles.target
    return [
        c
        for c in _list_published(table)
        if c != column and (c not in secret or c == target)
    ]


def _leave_out_telling(
    table: Table, asked: _Choice, domains: Mapping[str, Domain], run: Run
) -> tuple[_Choice, list[str]]:
    """Without columns that nobody named and that tell nearly every row apart."""
    rows = table.engine.rows(run)
    telling = [
        c
        for c, d in domains.items()
        if c not in asked.named and rows >= ENOUGH_ROWS and len(d) * 10 >= rows * 9
    ]
    notes = [
        say(
            "Column {column} was left out: nearly every row has a value of "
            "its own there. Name it as known to look at it; declare it an "
            "identifier otherwise.",
            column=repr(c),
        )
        for c in telling
    ]
    known = {
        a: tuple(c for c in own if c not in telling)
        for a, own in asked.known.items()
        if a not in telling
    }
    if not any(known.values()):
        raise InputError(
            "known must hold columns that several people share a value of; there is "
            "none beside those that tell nearly every row apart."
        )
    values = {a: asked.values[a] for a in known}
    return _Choice(known, values, asked.named), notes


def _note_oddities(asked: _Choice, domains: Mapping[str, Domain]) -> list[str]:
    """What a rule would not say of a table that hides values already."""
    hidden = [c for c, d in domains.items() if d.code(MARKER) is not None]
    if not hidden:
        return []
    return [
        say(
            "Columns that hide values ({columns}) are taken as they are: "
            "{marker} is a value like others here. Audit for what shows "
            "through.",
            columns=", ".join(map(repr, hidden)),
            marker=MARKER,
        )
    ]


def _note_never(asked: _Choice, search: LevelwiseSearch) -> list[str]:
    """Values that were asked for and never occur."""
    return [
        say_never_occurs(value, search.everybody[column].about)
        for column, values in asked.values.items()
        for value in values or ()
        if search.everybody[column].about.code(value) is None
    ]
