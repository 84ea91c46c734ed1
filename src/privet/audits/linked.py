"""More than two views that bear on an association: exactly where it can be counted.

A chain of three views by its graph, several views on one key by a closed sum, small
joins by listing; otherwise a share lies between proved bounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod

from privet.audits import covers
from privet.audits.chained import Chain, chain_of
from privet.audits.chances import BITS, Share, either
from privet.audits.confidence import Warn
from privet.audits.judging import finding, nobody, prior, undecided
from privet.audits.reduced import Part
from privet.audits.secrets import Secret
from privet.audits.tuples import Joined, Row, check_covered, join, parts
from privet.counts import Domain
from privet.engines.base import Run
from privet.engines.tuples import Tuples, null_code
from privet.errors import InputError, TooLarge
from privet.finding import Finding, Reconstruction, Verdict
from privet.releases.views import Views

MOST_TUPLES = 200_000
"""Tuples of a view that are looked at."""

MOST_PAIRS = 20_000
"""Associations that are judged one by one."""

BETWEEN = (
    "Tables behind {n} such views are too many to count; the share lies between {low} "
    "and {high}."
)
TWO_ONLY = (
    "A secret query with a condition is judged on two views only; {n} bear on it."
)
MODEL = (
    "The {model} model is counted for more than two views only where few tuples are "
    "joined."
)


def judge(
    views: Views, secret: Secret, reduced: Sequence[Part], run: Run, warn: Warn
) -> Finding:
    """Judge one promise on views that no two of them answer."""
    if secret.condition is not None:
        return undecided(secret, TWO_ONLY.format(n=len(reduced)))
    if secret.against.model == "bag":
        return undecided(secret, "The bag model is counted for two views only.")
    seen = [
        views.tuples(p.number, sorted(p.columns), run, most=MOST_TUPLES)
        for p in reduced
    ]
    return _Linked(secret, reduced, seen, warn).finding()


@dataclass(frozen=True)
class _Linked:
    """Several views in codes."""

    secret: Secret
    reduced: Sequence[Part]
    seen: Sequence[Tuples]
    warn: Warn

    def finding(self) -> Finding:
        secret = self.secret
        pairs = list(self._pairs())
        if not pairs:
            self._warn_of_strangers()
            return nobody(secret)
        shares = [(self._share(i, p), i, p) for i, p in pairs]
        if any(s is None for s, _, _ in shares):
            return undecided(secret, MODEL.format(model=secret.against.model))
        known = [(s, i, p) for s, i, p in shares if s is not None]
        worst, person, value = max(known, key=lambda k: (k[0].high, k[0].low))
        surest = max(known, key=lambda k: k[0].low)[0]
        if surest.beyond(secret.limit):  # certain, even if another might be worse
            worst = replace(worst, low=max(worst.low, surest.low))
        above = [(i, p) for s, i, p in known if s.beyond(secret.limit)]
        before = prior(secret, *self._overall())
        low, high = (f"{float(x):.6f}" for x in (worst.low, worst.high))
        note = BETWEEN.format(n=len(self.seen), low=low, high=high)
        return finding(
            secret,
            worst,
            before,
            self._witness(worst, person, value, before),
            bounded=True,
            notes=[] if worst.exact else [note],
            verdict_=Verdict.BREACH if above else None,
            counts=(len(pairs), len(above), len({i for i, _ in above})),
        )

    # Which associations -------------------------------------------------------------

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Associations that the join supports and the promise is about."""
        secret = self.secret
        people = self._asked(secret.person, secret.people)
        values = self._asked(secret.secret, secret.values)
        number = 0
        for i, p in sorted(self._supported):
            if (people is None or i in people) and (values is None or p in values):
                if i == self._missing(secret.person):
                    continue
                if values is None and p == self._missing(secret.secret):
                    continue
                number += 1
                if number > MOST_PAIRS:
                    raise TooLarge(
                        f"At most {MOST_PAIRS} associations of more than two views are "
                        "judged one by one; there are more. Name some of them in about."
                    )
                yield i, p

    def _asked(
        self, column: str, values: tuple[object, ...] | None
    ) -> set[int | None] | None:
        if values is None:
            return None
        return {self._domain(column).code(v) for v in values}

    def _domain(self, column: str) -> Domain:
        return next(t.domains[column] for t in self.seen if column in t.columns)

    def _missing(self, column: str) -> int | None:
        return null_code(self._domain(column))

    def _warn_of_strangers(self) -> None:
        secret = self.secret
        asked = ((secret.person, secret.people), (secret.secret, secret.values))
        for column, values in asked:
            for v in values or ():
                if self._domain(column).code(v) is None:
                    self.warn(f"Value {v!r} never occurs in column {column!r}.")

    def _overall(self) -> tuple[int, int]:
        """How many people and values there are."""
        person, secret = (
            {
                row[t.columns.index(c)]
                for t in self.seen
                if c in t.columns
                for row in t.rows
            }
            for c in (self.secret.person, self.secret.secret)
        )
        return len(person), len(secret)

    # Shares -------------------------------------------------------------------------

    def _share(self, person: int, value: int) -> Share | None:
        if self.secret.against.model == "unrestricted":
            if self._chain is not None:
                return self._chained(person, value)
            if self._star is not None:
                return self._starred(person, value)
            near = [j for j in self._parts if j.mask(person, value)]
            return either(j.share(person, value) for j in near)
        return self._one_value(person, value)

    def _one_value(self, person: int, value: int) -> Share | None:
        """Other models: where all that concerns the person is one small part."""
        near = [j for j in self._parts if j.mask(person)]
        if len(near) != 1 or not near[0].small:
            return None
        how = getattr(near[0], self.secret.against.model)
        found: Fraction | None = how(person, value)
        return None if found is None else Share.of(found)

    @cached_property
    def _rows(self) -> list[list[Row]]:
        return [
            [dict(zip(t.columns, row, strict=True)) for row in t.rows]
            for t in self.seen
        ]

    @cached_property
    def _joined(self) -> list[tuple[Row, tuple[int, ...]]]:
        found = join(self._rows)
        if not check_covered(found, self._rows):
            raise InputError(
                "Views must be of one table: every tuple of one view must fit tuples "
                "of the others; some do not."
            )
        return found

    @cached_property
    def _parts(self) -> list[Joined]:
        return parts(self._joined, self.secret.person, self.secret.secret)

    @cached_property
    def _supported(self) -> set[tuple[int, int]]:
        if self._chain is not None:
            return self._chain.supported()
        if self._star is not None:
            return {
                (i, p)
                for people, values, _ in self._star
                for i in people
                for p in values
            }
        person, secret = self.secret.person, self.secret.secret
        return {(row[person], row[secret]) for row, _ in self._joined}

    # Chains -------------------------------------------------------------------------

    @cached_property
    def _chain(self) -> Chain | None:
        return chain_of(self.secret, self.seen)

    def _chained(self, person: int, value: int) -> Share:
        assert self._chain is not None
        found = self._chain.shares(person, value)
        if any(s is None for s in found):
            near = [j for j in self._parts if j.mask(person, value)]
            return either(j.share(person, value) for j in near)
        return either(Share.of(s) for s in found if s is not None)

    # Several views on one key ---------------------------------------------------------

    @cached_property
    def _star(self) -> list[tuple[set[int], set[int], tuple[int, ...]]] | None:
        """The people, values and sizes of each key of views with one key in common."""
        columns = [set(t.columns) for t in self.seen]
        key = set.intersection(*columns)
        rest = [c - key for c in columns]
        if sum(map(len, rest)) != len(set.union(*rest)):
            return None
        if {self.secret.person} not in rest or {self.secret.secret} not in rest:
            return None
        order = sorted(
            range(len(rest)),
            key=lambda k: (
                rest[k] != {self.secret.person},
                rest[k] != {self.secret.secret},
                k,
            ),
        )
        tables = [_by_key(self.seen[k], sorted(key)) for k in order]
        if any(set(t) != set(tables[0]) for t in tables):
            raise InputError("Views must be of one table: their keys must be the same.")
        return [
            (
                {row[0] for row in tables[0][k]},
                {row[0] for row in tables[1][k]},
                tuple(len(t[k]) for t in tables),
            )
            for k in sorted(tables[0])
        ]

    def _starred(self, person: int, value: int) -> Share:
        assert self._star is not None
        near = [s for i, p, s in self._star if person in i and value in p]
        return either(_star_share(sizes) for sizes in near)

    # What is told -------------------------------------------------------------------

    def _witness(
        self, worst: Share, person: int, value: int, before: Share
    ) -> Reconstruction:
        secret = self.secret
        cover = sorted({p for i, p in self._supported if i == person})
        labels = self._domain(secret.secret)
        return Reconstruction(
            knows={secret.person: self._domain(secret.person)[person]},
            column=secret.secret,
            value=labels[value],
            part=worst.high.numerator,
            whole=worst.high.denominator,
            prior_part=before.high.numerator,
            prior_whole=before.high.denominator,
            counted="tables",
            model=secret.against.model,
            views=len(self.seen),
            cover=tuple(labels[p] for p in cover[:20]),
            covered=len(cover),
            shares={secret.against.model: worst.high},
            listed=True,
        )


def _by_key(
    table: Tuples, key: Sequence[str]
) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    at = [table.columns.index(c) for c in key]
    rest = [j for j in range(len(table.columns)) if j not in at]
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
    for row in table.rows:
        found[tuple(row[j] for j in at)].add(tuple(row[j] for j in rest))
    return found


def _star_share(sizes: tuple[int, ...]) -> Share:
    """Exact, or by Harris and a union bound over the tuples of the key."""
    try:
        return Share.of(covers.star_rho(sizes))
    except TooLarge:
        pass
    first, second, *others = sizes
    each, scale = prod(others), 1 << BITS
    counts = [(1, (second - 1) * each), (first - 1, second * each)]
    counts += [(1, (first - 1) * each), (second - 1, first * each)]
    counts += [(n, (first * second - 1) * each // n) for n in others]
    delta = Fraction(sum(t * max(scale >> k, 1) for t, k in counts), scale)
    miss = Fraction(1, 1 << each) if each < BITS else Fraction(0)
    low = 1 - Fraction(1, 1 << min(each, BITS))
    return Share(low, 1 - miss * max(Fraction(0), 1 - delta))
