"""Breach probabilities of K > 2 views: exact where possible worlds can be counted.

A chain of three views is counted by its connectivity graph, several views on one key by
a closed sum (a star), small joins by listing every possible world; otherwise the share
of interesting worlds lies between proved bounds, or, where those say little, between
bounds that draws of possible worlds give.
Wang, Lakshmanan 2006, section 6, leave K views as future work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from privet.engine.protocol import Run
from privet.errors import TooLarge
from privet.findings import Finding, Reconstruction, Verdict
from privet.release.kinds import Warn
from privet.values.contingency import Domain
from privet.views.counting.chains import Chain, find_chain
from privet.views.counting.general_join import MOST_JOINED, GeneralJoin, Pair, Row
from privet.views.counting.sampling import ERROR, make_key
from privet.views.counting.share import Share, combine_independent
from privet.views.counting.stars import Star, find_star
from privet.views.private_associations import PrivateAssociation, RemainingView
from privet.views.release import Views
from privet.views.sql.view_tuples import ViewTuples, null_code
from privet.views.verdict import (
    MOST_TOLD,
    describe_association,
    explain_refuted,
    format_bounds,
    make_finding,
    make_undecided,
    make_unsupported,
    prior_share,
)

MOST_TUPLES = 200_000
"""Tuples of a view that are looked at."""

MOST_PAIRS = 20_000
"""Associations that are judged one by one."""

DRAWN = (
    "Tables behind {n} such views are too many to count, so {draws:,} of them were "
    "drawn at random, all equally likely{seed}; the share lies between {low} and "
    "{high}, but for a chance of {error}."
)
TWO_ONLY = (
    "A secret query with a condition is judged on two views only; {n} bear on it."
)
MODEL = (
    "The {model} model is counted for more than two views only where few tuples are "
    "joined."
)


def judge_many_views(
    views: Views,
    secret: PrivateAssociation,
    reduced: Sequence[RemainingView],
    run: Run,
    warn: Warn,
) -> Finding:
    """Judge one promise on K views, no two of which answer it."""
    if secret.condition is not None:
        return make_undecided(secret, TWO_ONLY.format(n=len(reduced)))
    if secret.model == "bag":
        return make_undecided(secret, "The bag model is counted for two views only.")
    seen = [
        views.tuples(p.number, sorted(p.columns), run, most=MOST_TUPLES)
        for p in reduced
    ]
    return _ManyViewsJudge(secret, seen, run, warn).judge()


@dataclass
class _ManyViewsJudge:
    """One promise on the coded tuples of several views."""

    secret: PrivateAssociation
    seen: Sequence[ViewTuples]
    run: Run
    warn: Warn
    draws: int = field(default=0)

    def judge(self) -> Finding:
        secret = self.secret
        pairs = list(self._list_pairs())
        if not pairs:
            self._warn_of_strangers()
            return make_unsupported(secret)
        shares, lost = self._collect_shares(pairs)
        notes = [explain_refuted(secret, len({i for i, _ in lost}))] if lost else []
        if len(shares) + len(lost) < len(pairs):
            return make_undecided(secret, MODEL.format(model=secret.model))
        if not shares:
            return make_undecided(secret, notes[0])
        return self._make_finding(pairs, shares, notes)

    def _make_finding(
        self, pairs: Sequence[Pair], shares: Mapping[Pair, Share], notes: list[str]
    ) -> Finding:
        secret = self.secret
        (person, value), worst = max(
            shares.items(), key=lambda k: (k[1].high, k[1].low, -k[0][0], -k[0][1])
        )
        surest = max(s.low for s in shares.values())
        above = [pair for pair, s in shares.items() if s.is_beyond(secret.limit)]
        if above:  # certain, even if another might be worse
            worst = replace(worst, low=max(worst.low, surest))
        if any(s.sampled for s in shares.values()):
            worst = replace(worst, sampled=True)
        before = prior_share(secret, *self._count_overall())
        doubt = notes and not above
        return make_finding(
            secret,
            worst,
            before,
            self._make_witness(worst, person, value, before),
            bounded=True,
            notes=[*notes, *self._describe_draws(worst)],
            verdict_=Verdict.BREACH if above else Verdict.UNDECIDED if doubt else None,
            counts=(len(pairs), len(above), len({i for i, _ in above})),
            details=self._collect_details(shares),
        )

    def _describe_draws(self, worst: Share) -> list[str]:
        if not worst.sampled:
            return []
        low, high = format_bounds(worst)
        n = len(self.seen)
        seed = "" if self.run.seed is None else f" (seed {self.run.seed})"
        told = {"draws": self.draws, "seed": seed, "error": f"{float(ERROR):.0e}"}
        return [DRAWN.format(n=n, low=low, high=high, **told)]

    def _collect_details(self, shares: Mapping[Pair, Share]) -> dict[str, Any]:
        labels = self._domain(self.secret.person), self._domain(self.secret.secret)
        surest = sorted(shares.items(), key=lambda s: (-s[1].high, s[0]))[:MOST_TOLD]
        told: dict[str, Any] = {
            "associations": [
                describe_association(labels[0][i], labels[1][p], s)
                for (i, p), s in surest
            ]
        }
        if any(s.sampled for s in shares.values()):
            told |= {"draws": self.draws, "error": str(ERROR), "seed": self.run.seed}
        return told

    # Which associations -------------------------------------------------------------

    def _list_pairs(self) -> Iterator[tuple[int, int]]:
        """Private associations that the join supports and the promise is about."""
        secret = self.secret
        people = self._encode_values(secret.person, secret.people)
        values = self._encode_values(secret.secret, secret.values)
        number = 0
        for i, p in sorted(self._supported):
            if (people is None or i in people) and (values is None or p in values):
                if i == self._missing_code(secret.person):
                    continue
                if values is None and p == self._missing_code(secret.secret):
                    continue
                number += 1
                if number > MOST_PAIRS:
                    raise TooLarge(
                        f"At most {MOST_PAIRS} associations of more than two views are "
                        "judged one by one; there are more. Name some of them in about."
                    )
                yield i, p

    def _encode_values(
        self, column: str, values: tuple[object, ...] | None
    ) -> set[int | None] | None:
        if values is None:
            return None
        return {self._domain(column).code(v) for v in values}

    def _domain(self, column: str) -> Domain:
        return next(t.domains[column] for t in self.seen if column in t.columns)

    def _missing_code(self, column: str) -> int | None:
        return null_code(self._domain(column))

    def _warn_of_strangers(self) -> None:
        secret = self.secret
        asked = ((secret.person, secret.people), (secret.secret, secret.values))
        for column, values in asked:
            for v in values or ():
                if self._domain(column).code(v) is None:
                    self.warn(f"Value {v!r} never occurs in column {column!r}.")

    def _count_overall(self) -> tuple[int, int]:
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

    def _collect_shares(
        self, pairs: Sequence[Pair]
    ) -> tuple[dict[Pair, Share], list[Pair]]:
        """The shares that are known, and the associations no table of the model has."""
        known: dict[Pair, Share] = {}
        lost: list[Pair] = []
        for pair in pairs:
            self.run.check()
            counted, share = self._find_share(*pair)
            if counted and share is None:
                lost.append(pair)
            elif share is not None:
                known[pair] = share
        return self._draw_undecided(pairs, known, lost), lost

    def _find_share(self, person: int, value: int) -> tuple[bool, Share | None]:
        """Whether it is counted or bounded; None where no table is left."""
        model = self.secret.model
        if model == "unrestricted":
            return True, self._find_unrestricted_share(person, value)
        chain = self._chain if model == "restricted" else None
        if chain and (found := chain.restricted(person, value)) is not None:
            part, whole = found
            return True, Share.of(Fraction(part, whole)) if whole else None
        if self._chain is not None and self._chain.tuples > MOST_JOINED:
            return False, None
        counted, share = getattr(self._general, model)(person, value)
        return counted, None if share is None else Share.of(share)

    def _find_unrestricted_share(self, person: int, value: int) -> Share:
        if self._star is not None:
            return combine_independent(self._star.shares(person, value))
        if self._chain is None:
            return self._general.share(person, value)
        # The bounds of a chain come from its graph; nothing has to be joined for them.
        if self._chain.tuples > MOST_JOINED:
            return combine_independent(self._chain.bound_share(person, value))
        found = self._chain.shares(person, value)
        if any(s is None for s in found):
            return self._general.share(person, value)
        return combine_independent(s for s in found if s is not None)

    def _draw_undecided(
        self, pairs: Sequence[Pair], known: dict[Pair, Share], lost: Sequence[Pair]
    ) -> dict[Pair, Share]:
        """Draws, where bounds decide nothing."""
        limit, model = self.secret.limit, self.secret.model
        if self._star is not None and model == "unrestricted":
            return known
        if self._chain is not None and self._chain.tuples > MOST_JOINED:
            return known
        key, check = make_key(self.run.seed), self.run.check
        if model == "restricted" and len(known) + len(lost) < len(pairs):
            left = [p for p in pairs if p not in known and p not in set(lost)]
            found, self.draws = self._general.draw_restricted(left, key, check)
            return known | {pair: s for pair, s in found.items() if s is not None}
        open_ = limit.level == 1 and not limit.strict  # every bound keeps that
        wide = [
            pair
            for pair, s in known.items()
            if not s.exact
            and (open_ or s.is_beyond(limit) is None)
            and self._general.is_wide(*pair)
        ]
        broken = any(s.is_beyond(limit) for s in known.values())
        if model != "unrestricted" or not wide or broken:
            return known
        found_, self.draws = self._general.draw_shares(wide, key, check)
        return known | found_

    @cached_property
    def _general(self) -> GeneralJoin:
        rows: list[list[Row]] = [
            [dict(zip(t.columns, row, strict=True)) for row in t.rows]
            for t in self.seen
        ]
        return GeneralJoin(rows, self.secret.person, self.secret.secret)

    @cached_property
    def _chain(self) -> Chain | None:
        return find_chain(self.secret, self.seen)

    @cached_property
    def _star(self) -> Star | None:
        return None if self._chain is not None else find_star(self.secret, self.seen)

    @cached_property
    def _supported(self) -> set[Pair]:
        return (self._chain or self._star or self._general).find_supported()

    # What is told -------------------------------------------------------------------

    def _make_witness(
        self, worst: Share, person: int, value: int, before: Share
    ) -> Reconstruction:
        """The surest association, with its association cover."""
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
            model=secret.model,
            views=len(self.seen),
            cover=tuple(labels[p] for p in cover[:20]),
            covered=len(cover),
            shares={secret.model: worst.high},
            listed=True,
        )
