"""Breach probabilities of K > 2 views: exact where possible worlds can be counted.

A chain of three views is counted by its connectivity graph, several views on one key by
a closed sum (a star), small joins by listing every possible world; otherwise the share
of interesting worlds lies between proved bounds, or, where those say little, between
bounds that draws of possible worlds give.
Wang, Lakshmanan 2006, section 6, leave K views as future work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from privet.engine.protocol import Run
from privet.errors import TooLarge
from privet.findings import Finding, Reconstruction, Verdict
from privet.languages import mark, say
from privet.release.kinds import Warn
from privet.values.contingency import Domain
from privet.views.counting.chains import Chain, find_chain
from privet.views.counting.elimination import Budget
from privet.views.counting.general_join import MOST_JOINED, GeneralJoin, Pair, Row
from privet.views.counting.sampling import ERROR, make_key
from privet.views.counting.share import Share, combine_independent
from privet.views.counting.stars import Star, find_star
from privet.views.private_associations import PrivateAssociation, RemainingView
from privet.views.release import Views
from privet.views.sql.secret_query import LabelledTuples
from privet.views.sql.view_tuples import ViewTuples, null_code
from privet.views.verdict import (
    DISTINCT,
    MOST_TOLD,
    NOT_COUNTED,
    describe_association,
    explain_no_table,
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

DRAWN = mark(
    "Tables behind {n} such views are too many to count, so {draws} of them were "
    "drawn at random, all equally likely{seed}; the share lies between {low} and "
    "{high}, but for a chance of {error}."
)


def judge_many_views(
    views: Views,
    secret: PrivateAssociation,
    reduced: Sequence[RemainingView],
    run: Run,
    warn: Warn,
) -> Finding:
    """Judge one promise on K views, no two of which answer it."""
    if secret.model == "bag" and views.marker:
        return make_undecided(secret, DISTINCT)
    seen = [
        views.tuples(p.number, sorted(p.columns), run, most=MOST_TUPLES)
        for p in reduced
    ]
    test = _ConditionTest(views, secret, seen, run) if secret.condition else None
    return judge_tuples(secret, seen, run, warn, test)


Test = Callable[[Sequence[Row]], set[int]]
"""Takes the tuples of a join; the numbers of those that satisfy what is asked."""


def judge_tuples(
    secret: PrivateAssociation,
    seen: Sequence[ViewTuples],
    run: Run,
    warn: Warn,
    test: Test | None = None,
) -> Finding:
    """Judge one promise on the tuples of its views, wherever they come from."""
    return _ManyViewsJudge(secret, seen, run, warn, test).judge()


@dataclass(frozen=True)
class _ConditionTest:
    """Which tuples of a join satisfy the condition of a secret query."""

    views: Views
    secret: PrivateAssociation
    seen: Sequence[ViewTuples]
    run: Run

    def __call__(self, joined: Sequence[Row]) -> set[int]:
        used = sorted(self.secret.list_used_columns())
        domains = {
            c: next(t.domains[c] for t in self.seen if c in t.columns) for c in used
        }
        keys = [tuple(row[c] for c in used) for row in joined]
        different = list(dict.fromkeys(keys))
        session = self.views.engine.session
        recodings = self.views.table.recodings
        condition = self.secret.condition
        assert condition is not None
        with LabelledTuples(session, domains, recodings, different, self.run) as listed:
            fitting = {different[n] for n in condition.find_satisfying(listed)}
        return {at for at, key in enumerate(keys) if key in fitting}


@dataclass
class _ManyViewsJudge:
    """One promise on the coded tuples of several views."""

    secret: PrivateAssociation
    seen: Sequence[ViewTuples]
    run: Run
    warn: Warn
    test: Test | None = None
    draws: int = field(default=0)

    def judge(self) -> Finding:
        secret = self.secret
        if secret.model == "functional" and not (fits := self._general.is_functional()):
            note = (
                self._explain_uncounted() if fits is None else explain_no_table(secret)
            )
            return make_undecided(secret, note)
        pairs = list(self._list_pairs())
        refuted = self._find_refuted() if secret.model == "restricted" else set()
        notes = [explain_refuted(secret, len(refuted))] if refuted else []
        if not pairs:
            self._warn_of_strangers()
            return (
                make_undecided(secret, notes[0]) if notes else make_unsupported(secret)
            )
        shares, lost = self._collect_shares(pairs)
        if lost and not notes:
            notes = [explain_refuted(secret, len({i for i, _ in lost}))]
        if len(shares) + len(lost) < len(pairs):
            return make_undecided(secret, self._explain_uncounted())
        if not shares:
            return make_undecided(secret, notes[0])
        return self._make_finding(pairs, shares, notes)

    def _explain_uncounted(self) -> str:
        return say(NOT_COUNTED, n=len(self.seen), model=self.secret.model)

    def _find_refuted(self) -> set[int]:
        """People asked for whom the views refute to have one value only."""
        people = self._encode_values(self.secret.person, self.secret.people)
        source = self._chain if self._is_large else self._general
        assert source is not None
        missing = self._missing_code(self.secret.person)
        return {
            i
            for i in source.find_refuted()
            if i != missing and (people is None or i in people)
        }

    @property
    def _is_large(self) -> bool:
        """Whether there is a chain whose join is too large to be looked at."""
        return self._chain is not None and self._chain.tuples > MOST_JOINED

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
        seed = say(" (seed {seed})", seed=self.run.seed)
        seed = "" if self.run.seed is None else seed
        told = {
            "draws": f"{self.draws:,}",
            "seed": seed,
            "error": f"{float(ERROR):.0e}",
        }
        return [say(DRAWN, n=n, low=low, high=high, **told)]

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
        asked = [(secret.person, v) for v in secret.people or ()]
        asked += [(secret.secret, v) for v in secret.values or ()]
        asked += secret.list_equalities()
        for column, value in dict.fromkeys(asked):
            if self._domain(column).code(value) is None:
                told = {"value": repr(value), "column": repr(column)}
                self.warn(say("Value {value} never occurs in column {column}.", **told))

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
        if self._is_large:
            return False, None
        counted, share = getattr(self._general, model)(person, value)
        return counted, None if share is None else Share.of(share)

    def _find_unrestricted_share(self, person: int, value: int) -> Share:
        if self._star is not None:
            return combine_independent(self._star.shares(person, value))
        if self._chain is None:
            return self._general.share(person, value)
        # The bounds of a chain come from its graph; nothing has to be joined for them.
        if self._is_large:
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
        if self._is_large:
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
        return GeneralJoin(
            rows,
            self.secret.person,
            self.secret.secret,
            self.test,
            [t.times for t in self.seen],
            Budget(check=self.run.check),
        )

    @cached_property
    def _chain(self) -> Chain | None:
        """The chain they make, where nothing is asked that it does not tell."""
        if self.test is not None or self.secret.model in ("functional", "bag"):
            return None
        return find_chain(self.secret, self.seen)

    @cached_property
    def _star(self) -> Star | None:
        if self.test is not None or self.secret.model != "unrestricted":
            return None
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
