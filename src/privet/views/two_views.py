"""Breach probabilities of two views: every private association at once, or some.

The possible worlds of two views factor over the keys of their join, and in one key all
associations are alike. So every association in the unrestricted model is judged by the
sizes of keys: floats choose where they are far from each other, exact shares decide,
and people in several keys are looked at only where bounds leave a doubt. Some
associations, and the other attack models (restricted; also functional and bag, which
the paper does not have), are judged by listing where people and values meet.
Wang, Lakshmanan 2006, sections 3.2 and 5; corrected as documented.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import comb, exp2, isinf, log1p, log2, prod
from typing import Any

import attrs

from privet.errors import TooLarge
from privet.findings import Finding, Reconstruction, Verdict
from privet.languages import say
from privet.release.kinds import Warn
from privet.values.beliefs import Ceiling
from privet.views.counting import bipartite_covers
from privet.views.counting.share import (
    BITS,
    Share,
    block_share,
    combine_independent,
    edges_share,
    harris_bounds,
    key_share,
    log2_excess,
)
from privet.views.private_associations import PrivateAssociation
from privet.views.release import OpenViews
from privet.views.sql.all_associations import (
    CLOSE,
    AllAssociations,
    AssociationPairs,
    Bound,
    KeySizes,
)
from privet.views.sql.join import JoinedViews
from privet.views.sql.one_association import AssociationKind, Example, Meeting
from privet.views.sql.people_alike import PeopleAlike
from privet.views.sql.some_associations import ListedAssociations, SomeAssociations
from privet.views.sql.view_tuples import ViewPair
from privet.views.verdict import (
    DISTINCT,
    MOST_TOLD,
    describe_association,
    explain_no_table,
    explain_refuted,
    format_share,
    make_finding,
    make_undecided,
    make_unsupported,
    prior_share,
)

SMALL = 100_000
"""Rows of tables whose other keys are looked at for a sentence."""

LOOK = 100
"""Kinds of associations after which it is looked whether to stop."""

MOST_EXACT = 64
"""Factors that are multiplied out exactly."""

MOST_LISTED = 200_000
"""Associations that are listed where tuples are told apart by other columns too."""


def suits(secret: PrivateAssociation, sides: ViewPair) -> bool:
    """Whether worlds of two views come apart into keys here."""
    more = bool(sides.left or sides.right)  # columns that tell tuples apart
    if secret.model == "functional":
        return not more
    return not more or secret.condition is None or secret.model == "unrestricted"


def judge_two_views(
    views: OpenViews, secret: PrivateAssociation, sides: ViewPair, warn: Warn
) -> Finding | None:
    """Judge one promise on two views, or on one that shows both columns.

    None where people tie the keys together, so that they are not counted one by one.
    """
    full = bool(sides.left or sides.right)
    with views.relate(sides) as relation:
        model = secret.model
        if model == "bag" and relation.sides.marker:
            return make_undecided(secret, DISTINCT)
        if model == "functional":
            if relation.count_crowded():
                return make_undecided(secret, explain_no_table(secret))
            if relation.count_spread():
                return None
        if secret.everything and model == "unrestricted":
            if not full:
                return EveryAssociation(relation, secret).judge()
            if (found := _judge_by_size(relation, secret)) is not None:
                return found
        return _judge_some(relation, secret, full, warn)


def _judge_by_size(relation: JoinedViews, secret: PrivateAssociation) -> Finding | None:
    """Every association over whole tuples, where there are too many to list them."""
    size = relation.count_whole_tuples()
    if size.pairs <= MOST_LISTED:
        return None
    if not size.merged:  # nobody has two tuples in a key: as without other columns
        return EveryAssociation(relation, secret).judge()
    floor = harris_bounds(size.supports, Fraction(1))
    if not floor.is_beyond(secret.limit):
        raise TooLarge(
            f"Associations over whole tuples are listed up to {MOST_LISTED:,}; there "
            f"are {size.pairs:,}."
        )
    people, values = relation.count_overall()
    return make_finding(
        secret,
        floor,
        prior_share(secret, people, values),
        None,
        bounded=True,
        counts=(size.pairs, 0, people),
    )


# Some associations ------------------------------------------------------------------


def _judge_some(
    relation: JoinedViews, secret: PrivateAssociation, full: bool, warn: Warn
) -> Finding:
    model = secret.model
    asked = _ask_for(relation, secret, full)
    answers = asked.list_for_model(model)
    kinds = answers.fetch_kinds()
    lost = asked.count_refuted() if model == "restricted" else 0
    notes = [explain_refuted(secret, lost)] if lost else []
    if not kinds:
        _warn_of_strangers(relation, secret, warn)
        return make_undecided(secret, notes[0]) if lost else make_unsupported(secret)
    known = []
    for at, kind in enumerate(kinds):
        if at % LOOK == 0:
            relation.run.check()
        if (share := answer(model, kind)) is not None:
            known.append((share, kind))
    if not known:
        return make_undecided(secret, notes[0])
    worst, kind = _find_surest(known)
    above = [k for s, k in known if s.is_beyond(secret.limit)]
    overall = relation.keep("overall", asked.count_overall)
    before = prior_share(secret, *overall)
    one = answers.find_one(kind)
    witness = make_witness(secret, worst, kind, one.fetch_example(), before)
    if not full:
        witness = attrs.evolve(witness, alone=_is_alone(relation, witness))
    surest = _list_surest(answers, known)
    if isinstance(asked, PeopleAlike):
        witness = with_others(witness, one.find_kind, relation)
    elif secret.condition is None:
        witness = add_other_models(relation, witness, full)
    doubt = lost and not worst.is_beyond(secret.limit)
    return make_finding(
        secret,
        worst,
        before,
        witness,
        notes=notes,
        bounded=not worst.exact
        and worst.high - worst.low > Fraction(1, 1 << BITS // 2),
        verdict_=Verdict.UNDECIDED if doubt else None,
        details={"associations": surest},
        counts=(
            sum(k.pairs for k in kinds),
            sum(k.pairs for k in above),
            answers.count_people([k.number for k in above]),
        ),
    )


def _ask_for(
    relation: JoinedViews, secret: PrivateAssociation, full: bool
) -> SomeAssociations | PeopleAlike:
    """Those asked for; where that is everybody, people who are alike as one."""
    if secret.people is None and secret.condition is None and not full:
        return PeopleAlike(relation, secret.values)
    return SomeAssociations(
        relation,
        secret.people,
        secret.values,
        every_key=secret.model in ("restricted", "functional"),
        full=full,
        condition=secret.condition,
    )


def _find_surest(
    known: Sequence[tuple[Share, AssociationKind]],
) -> tuple[Share, AssociationKind]:
    """The surest kind, and of those alike the first; floats leave few to compare."""
    # A larger fraction is never a smaller float, so the largest is among these.
    floats = [float(share.high) for share, _ in known]
    top = max(floats)
    few = [one for one, f in zip(known, floats, strict=True) if f == top]
    return max(few, key=lambda sk: (sk[0].high, sk[0].low, -sk[1].number))


def _list_surest(
    answers: ListedAssociations, known: Sequence[tuple[Share, AssociationKind]]
) -> list[dict[str, Any]]:
    """The surest associations, true or not: the answer does not depend on that."""
    by_kind = {kind.number: share for share, kind in _select_first(known, MOST_TOLD)}
    order = sorted({s.high for s in by_kind.values()}, reverse=True)
    place = {high: at for at, high in enumerate(order)}
    ranks = {number: place[share.high] for number, share in by_kind.items()}
    return [
        describe_association(
            one.person,
            one.secret,
            by_kind[one.number],
            **({} if one.held is None else {"in_table": one.held}),
        )
        for one in answers.fetch_first(ranks, MOST_TOLD)
    ]


def _select_first(
    known: Sequence[tuple[Share, AssociationKind]], most: int
) -> list[tuple[Share, AssociationKind]]:
    """The kinds that hold the first so many associations, and those as sure."""
    floats = [float(share.high) for share, _ in known]
    order = sorted(range(len(known)), key=lambda at: -floats[at])
    pairs, last = 0, floats[order[-1]]
    for at in order:
        pairs += known[at][1].pairs
        if pairs >= most:
            last = floats[at]
            break
    return [one for one, f in zip(known, floats, strict=True) if f >= last]


def _warn_of_strangers(
    relation: JoinedViews, secret: PrivateAssociation, warn: Warn
) -> None:
    """Say which of the values asked for never occur."""
    cells = dict(zip(relation.sides.key, relation.keys, strict=True))
    cells |= {secret.person: "i", secret.secret: "p"}
    asked = [(secret.person, v) for v in secret.people or ()]
    asked += [(secret.secret, v) for v in secret.values or ()]
    asked += [(c, v) for c, v in secret.list_equalities() if c in cells]
    for name, value in dict.fromkeys(asked):
        test = relation.build_condition(name, [value], cells[name])
        side = int(cells[name] == "p")
        found = relation.fetch_one(
            f"SELECT count(*) AS n FROM ({relation.rows(side)}) WHERE {test}"
        )
        if not found["n"]:
            told = {"value": repr(value), "column": repr(name)}
            warn(say("Value {value} never occurs in column {column}.", **told))


# Attack models ----------------------------------------------------------------------


def answer(model: str, kind: AssociationKind) -> Share | None:
    """Interesting among possible worlds, for a kind; None: the model has no world."""
    return MODELS[model](kind)


def _unrestricted(kind: AssociationKind) -> Share:
    """UIW/UPW: all possible worlds count; keys are independent."""
    assert kind.meetings is not None
    return combine_independent(_meeting_share(meeting) for meeting in kind.meetings)


def _meeting_share(meeting: Meeting) -> Share:
    # A key of m x n nodes, s of them the person's, t the value's; masks of s bits say
    # which of these s x t edges are asked for, if not all are.
    m, n, s, t, *more = meeting
    if not more or (len(more[0]) == t and set(more[0]) == {(1 << s) - 1}):
        return block_share(m, n, s, t)
    try:
        avoided = bipartite_covers.count_covers_avoiding_edges(m, n, more[0])
    except TooLarge:
        return edges_share(m, n, more[0])
    return Share.of(1 - Fraction(avoided, bipartite_covers.upw(m, n)))


def _restricted(kind: AssociationKind) -> Share | None:
    """RIW/RPW: only worlds in which this person has one value."""
    meetings = [k for ks, _ in kind.candidates for k in ks]
    alike = all(tuple(k[2:4]) == (1, 1) for k in meetings)
    weight = _is_possible if alike else _count_restricted_worlds
    total = sum(n * weight(ks) for ks, n in kind.candidates)
    if not total:
        return None
    part = 0 if kind.meetings is None else weight(kind.meetings)
    return _make_share(part, total)


@lru_cache(maxsize=10_000)
def _make_share(part: int, whole: int) -> Share:
    return Share.of(Fraction(part, whole))


def _is_possible(meetings: Sequence[Meeting]) -> int:
    """Where nobody has two nodes, every candidate has as many worlds, or none."""
    # Who is alone in a key of several values has them all: RPW(1, n) = 0.
    return int(all(k[0] >= 2 or k[1] == 1 for k in meetings))


def _count_restricted_worlds(meetings: Sequence[Meeting]) -> int:
    """Restricted interesting worlds: a person has this value only."""
    if any(k[0] * k[1] > 4_000 for k in meetings):
        raise TooLarge(
            "The restricted model over whole tuples is counted in keys of at most 4000 "
            "pairs of tuples; one has more. Ask with worlds = 'projected'."
        )
    return prod(bipartite_covers.count_covers_with_one_value(*k[:4]) for k in meetings)


def _functional(kind: AssociationKind) -> Share:
    """Only worlds in which everybody has one value."""
    assert kind.meetings is not None
    # Values are alike: of 6 maps of 3 people onto 2 values 3 give somebody the first.
    # No key has more values than people: that was looked at before.
    ((_, n, *_),) = kind.meetings
    return Share.of(Fraction(1, n))


def _bag(kind: AssociationKind) -> Share:
    """Views published with their duplicates."""
    assert kind.meetings is not None
    return combine_independent(_bag_share(*meeting[:3]) for meeting in kind.meetings)


@lru_cache(maxsize=100_000)
def _bag_share(rows: int, having: int, own: int) -> Share:
    """Rows matched at random; a long product is enclosed instead of multiplied out."""
    # The same both ways: C(4 - 2, 1) / C(4, 1) = C(4 - 1, 2) / C(4, 2) = 1/2.
    few, other = sorted((having, own))
    if rows - other < few:
        return Share.of(Fraction(1))
    if few <= MOST_EXACT:
        return Share.of(1 - Fraction(comb(rows - other, few), comb(rows, few)))
    low = high = 1 << BITS  # of C(rows - other, few) / C(rows, few), factor by factor
    for j in range(few):
        top, bottom = rows - other - j, rows - j
        low, high = low * top // bottom, -(-high * top // bottom)
        if high <= 1:
            break
    scale = 1 << BITS
    return Share(1 - Fraction(high, scale), 1 - Fraction(low, scale))


MODELS: dict[str, Callable[[AssociationKind], Share | None]] = {
    "unrestricted": _unrestricted,
    "restricted": _restricted,
    "functional": _functional,
    "bag": _bag,
}


# Witnesses --------------------------------------------------------------------------


def make_witness(
    secret: PrivateAssociation,
    worst: Share,
    kind: AssociationKind,
    example: Example,
    before: Share,
) -> Reconstruction:
    """The association that decides, its association cover, and by which counts."""
    meetings = kind.meetings or ()
    part, whole = _count_worlds(secret.model, worst, meetings)
    shares = {secret.model: worst.high}
    sizes: tuple[tuple[int, int], ...] = ()
    if secret.model in ("unrestricted", "restricted", "functional"):
        sizes = tuple((int(k[0]), int(k[1])) for k in meetings)
    return Reconstruction(
        knows={secret.person: example.person},
        column=secret.secret,
        value=example.secret,
        part=part,
        whole=whole,
        prior_part=before.high.numerator,
        prior_whole=before.high.denominator,
        counted="tables",
        model=secret.model,
        views=1 if secret.published else 2,
        keys=example.keys,
        sizes=sizes,
        cover=example.shown,
        covered=example.cover,
        shares=shares,
        listed=True,
    )


def add_other_models(
    relation: JoinedViews, witness: Reconstruction, full: bool
) -> Reconstruction:
    """The same association as other attack models see it."""
    person = [witness.knows[relation.sides.person]]
    if not full:
        relation.look_at_person(person[0])
    asked = SomeAssociations(
        relation, person, [witness.value], every_key=True, full=full
    )
    return with_others(witness, asked.find_kind, relation)


def _is_alone(relation: JoinedViews, witness: Reconstruction) -> bool:
    """Whether no other key leaves a choice; not looked for in large tables."""
    total = relation.projection.total
    if total is None or total > SMALL:
        return False
    with_choices = sum(m > 1 and n > 1 for m, n in witness.sizes)
    return with_choices == relation.count_with_choices()


def with_others(
    witness: Reconstruction,
    find_kind: Callable[[str], AssociationKind | None],
    relation: JoinedViews,
) -> Reconstruction:
    """A witness with the shares of other attack models, where they are known."""
    marked = bool(relation.sides.marker)
    wanted = ["unrestricted", "restricted", *([] if marked else ["bag"])]
    shares = dict(witness.shares)
    for model in wanted:
        kind = find_kind(model) if model not in shares else None
        with suppress(TooLarge):
            if kind is not None:
                found = answer(model, kind)
                shares[model] = None if found is None else found.high
    return attrs.evolve(witness, shares={m: shares[m] for m in MODELS if m in shares})


def _count_worlds(
    model: str, worst: Share, meetings: Sequence[Meeting]
) -> tuple[int, int]:
    """Interesting and possible worlds; as a share where they are not counted."""
    plain = model == "unrestricted" and all(len(k) == 4 for k in meetings)
    if plain and worst.exact and sum(k[0] * k[1] for k in meetings) <= 10_000:
        whole = prod(bipartite_covers.upw(k[0], k[1]) for k in meetings)
        return whole - prod(
            bipartite_covers.count_covers_avoiding(*k) for k in meetings
        ), whole
    return worst.high.numerator, worst.high.denominator


# Every association ------------------------------------------------------------------

AT_ONCE = 1000
"""People in several keys who are looked at together, at first."""

HISTOGRAM = tuple(map(Fraction, ("1", "0.9", "0.75", "0.6", "0.55", "0.51", "0.5")))
"""Where risks are cut for a report: from each of these to below the one before."""

WORST_KEYS = 10
"""Keys a report lists."""


class EveryAssociation:
    """All associations of two views in the unrestricted attack model."""

    def __init__(self, relation: JoinedViews, secret: PrivateAssociation) -> None:
        self._relation, self._secret = relation, secret
        self._all = relation.keep("all", lambda: AllAssociations(relation))
        # One per kind of key. Of 2 x 2, where the share is 5/7: log2(3/7) and log(4/7).
        self._excess = [log2_excess(*_as_pair(s)) for s in self._all.sizes]
        self._parts = [_log_double_miss(e) for e in self._excess]

    def judge(self) -> Finding:
        """The surest association, and how many people are beyond the limit."""
        if not self._all.sizes:
            return make_unsupported(self._secret)
        limit = self._secret.limit
        beyond = [
            _passes_limit(s, e, limit)
            for s, e in zip(self._all.sizes, self._excess, strict=True)
        ]
        at = self._find_worst_sizes()
        worst, pair = key_share(*_as_pair(self._all.sizes[at])), None
        several = self._all.count_several()
        people = sum(
            s.single for s, b in zip(self._all.sizes, beyond, strict=True) if b
        )
        if several:
            self._all.judge_several(self._parts, beyond)
            people += self._all.count_surely_beyond() + self._count_doubtful(limit)
            worst, pair = self._find_worst_pair(worst, Bound(1, self._parts[at]))
        before = key_share(*self._all.count_overall())
        details = self._collect_details(several)
        return make_finding(
            self._secret,
            worst,
            before,
            self._make_witness(worst, pair, at, before),
            counts=(
                sum(s.keys for s in self._all.sizes),
                sum(s.keys for s, b in zip(self._all.sizes, beyond, strict=True) if b),
                people,
            ),
            details=details,
        )

    def _find_worst_sizes(self) -> int:
        """Where the share is largest; floats choose, exact shares decide."""
        top = max(self._excess)
        close = [i for i, e in enumerate(self._excess) if e >= top - CLOSE]
        shares = [key_share(*_as_pair(self._all.sizes[i])) for i in close]
        best = max(shares, key=lambda s: (s.high, s.low))
        return close[shares.index(best)]

    # People in several keys ---------------------------------------------------------

    def _combine_keys(self, pair: AssociationPairs) -> Share:
        return combine_independent(
            key_share(*_as_pair(self._all.sizes[z])) for z in pair.kinds
        )

    def _bound(self, pair: AssociationPairs) -> Bound:
        return Bound(len(pair.kinds), sum(self._parts[z] for z in pair.kinds))

    def _count_doubtful(self, limit: Ceiling) -> int:
        """People whose keys are each within the limit, but not together."""
        # At 3/4 a chance to miss below 1/4 is beyond; logarithms of keys just add up.
        bound = log1p(-float(limit.level)) if limit.level < 1 else float("-inf")
        some = bound if isinf(bound) else bound + CLOSE
        pairs = [p for p in self._all.find_doubtful(some) if len(p.kinds) > 1]
        bad = [p.kinds for p in pairs if self._is_beyond(p, bound, limit)]
        return self._all.count_people_with(bad)

    def _is_beyond(self, pair: AssociationPairs, bound: float, limit: Ceiling) -> bool:
        found = self._bound(pair).log
        if not isinf(bound) and abs(found - bound) > CLOSE:
            return found < bound
        return bool(self._combine_keys(pair).is_beyond(limit))

    def _find_worst_pair(
        self, worst: Share, best: Bound
    ) -> tuple[Share, AssociationPairs | None]:
        """The surest association of somebody in several keys, if it is surer still."""
        found, most = None, AT_ONCE
        while worst.low < 1:
            pairs = self._all.fetch_contenders(best, most)
            if pairs is None:
                break
            close = self._select_surest(pairs)
            if close and (surest := min(close, key=self._chance_to_miss)):
                combined = self._combine_keys(surest)
                if combined.high > worst.high:
                    worst, found, best = combined, surest, self._bound(surest)
            most *= 8
        return worst, found

    def _chance_to_miss(self, pair: AssociationPairs) -> int:
        """The chance to miss it in all of its keys, to more digits than floats have."""
        # In units of 2**-BITS, as integers: floats would tie where keys are large.
        product = 1 << BITS
        for z in pair.kinds:
            missed = 1 - key_share(*_as_pair(self._all.sizes[z])).high
            product = product * ((missed.numerator << BITS) // missed.denominator)
            product >>= BITS
        return product

    def _select_surest(
        self, pairs: Sequence[AssociationPairs]
    ) -> list[AssociationPairs]:
        """Of each number of keys those that floats do not tell from the surest."""
        top: dict[int, float] = {}
        bounds = [self._bound(p) for p in pairs]
        for bound in bounds:
            top[bound.keys] = min(top.get(bound.keys, 0.0), bound.part)
        # Parts are negative: beside -2 stays what is at most -2 (1 - 1e-9).
        return [
            pair
            for pair, bound in zip(pairs, bounds, strict=True)
            if bound.keys > 1 and bound.part <= top[bound.keys] * (1 - CLOSE)
        ]

    # What is told -------------------------------------------------------------------

    def _make_witness(
        self, worst: Share, pair: AssociationPairs | None, at: int, before: Share
    ) -> Reconstruction:
        """The association that attains it, with what other models say about it."""
        relation = self._relation
        if pair is None:
            person, value = self._all.look_at_sizes(*_as_pair(self._all.sizes[at]))
            asked = SomeAssociations(relation, [person], [value], every_key=True)
            answers = asked.list_for_model("unrestricted")
            one = answers.find_one(answers.fetch_kinds()[0])
        else:
            one = self._all.find_association(pair.person, pair.secret)
        kind, example = one.find_kind("unrestricted"), one.fetch_example()
        witness = make_witness(self._secret, worst, kind, example, before)
        told = with_others(witness, one.find_kind, relation)
        return attrs.evolve(told, listed=False)

    def _collect_details(self, several: int) -> dict[str, object]:
        shares = [_approximate_share(e) for e in self._excess]
        order = sorted(range(len(shares)), key=self._gravity)
        worst = self._all.list_worst_keys(order[:WORST_KEYS], WORST_KEYS)
        return {
            "people_in_several_keys": several,
            "histogram": _histogram(self._all.sizes, shares),
            "worst_keys": [self._describe_key(key) for key in worst],
        }

    def _gravity(self, at: int) -> tuple[int, float, int]:
        """What is certain first; then what one row per person cannot explain."""
        people, values = _as_pair(self._all.sizes[at])
        rank = 0 if values == 1 else 1 if people == 1 else 2
        return rank, -self._excess[at], at

    def _describe_key(self, key: dict[str, Any]) -> dict[str, object]:
        """A key as every model sees it, whoever is in no other key."""
        at = key["kind"]
        people, values = _as_pair(self._all.sizes[at])
        one = people > 1 or values == 1
        return {
            "key": key["key"],
            "people": people,
            "values": values,
            "unrestricted": format_share(key_share(people, values)),
            "log2_excess": self._excess[at],
            "restricted": str(Fraction(1, values)) if one else None,
            "functional": str(Fraction(1, values)) if people >= values else None,
            "bag": None if key["often"] is None else str(key["often"]),
        }


def _as_pair(sizes: KeySizes) -> tuple[int, int]:
    return sizes.people, sizes.secrets


def _approximate_share(log2_excess: float) -> float:
    return 0.5 + 0.5 * exp2(max(log2_excess, -1000))


def _log_double_miss(log2_excess: float) -> float:
    """The logarithm of 2 (1 - share), from that of 2 share - 1."""
    part = exp2(max(log2_excess, -1000))
    return float("-inf") if part >= 1 else log1p(-part)


def _passes_limit(sizes: KeySizes, log2_excess: float, limit: Ceiling) -> bool:
    """Whether a share passes the limit: by floats unless they are too close."""
    need = 2 * limit.level - 1
    if need <= 0:  # no share is as low as that
        return True
    # A share above 3/4 has 2 share - 1 above 1/2, a logarithm above -1.
    bound = log2(need.numerator) - log2(need.denominator)
    if abs(log2_excess - bound) > CLOSE:
        return log2_excess > bound
    found = key_share(*_as_pair(sizes)).is_beyond(limit)
    return True if found is None else found


def _histogram(
    sizes: Sequence[KeySizes], shares: Sequence[float]
) -> list[dict[str, object]]:
    """Keys and pairs by how sure one can be of a pair, certain ones first."""
    found: list[dict[str, object]] = []
    rest = list(zip(sizes, shares, strict=True))
    for level in HISTOGRAM:
        here = [s for s, p in rest if p >= level]
        rest = [(s, p) for s, p in rest if p < level]
        found.append(
            {
                "from": str(level),
                "keys": sum(s.keys for s in here),
                "associations": sum(s.pairs for s in here),
            }
        )
    return found
