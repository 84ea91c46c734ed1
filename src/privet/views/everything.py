"""Every association of two views at once, in the unrestricted model.

Floats choose where they are far from each other, exact shares decide; people in
several keys are looked at only where bounds leave a doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import exp2, isinf, log1p, log2
from typing import Any

from privet.findings import Finding, Reconstruction
from privet.values.beliefs import Ceiling
from privet.views.counting.share import BITS, Share, either, excess, share
from privet.views.private_associations import Secret
from privet.views.sql.all_associations import AllAssociations
from privet.views.sql.join import Relation
from privet.views.sql.sizes import CLOSE, AssociationPairs, Bound, KeySizes
from privet.views.sql.some_associations import SomeAssociations
from privet.views.two_views import with_others, witness_of
from privet.views.verdict import finding, nobody, written

AT_ONCE = 1000
"""People in several keys who are looked at together, at first."""

HISTOGRAM = tuple(map(Fraction, ("1", "0.9", "0.75", "0.6", "0.55", "0.51", "0.5")))
"""Where risks are cut for a report: from each of these to below the one before."""

WORST_KEYS = 10
"""Keys a report lists."""


class EveryAssociation:
    """All associations of two views in the unrestricted model."""

    def __init__(self, relation: Relation, secret: Secret) -> None:
        self._relation, self._secret = relation, secret
        self._all = AllAssociations(relation)
        self._excess = [_log2_excess(s) for s in self._all.sizes]
        self._parts = [_missing(e) for e in self._excess]

    def finding(self) -> Finding:
        """The surest association, and how many people are beyond the limit."""
        if not self._all.sizes:
            return nobody(self._secret)
        limit = self._secret.limit
        beyond = [
            _beyond(s, e, limit)
            for s, e in zip(self._all.sizes, self._excess, strict=True)
        ]
        at = self._worst_sizes()
        worst, pair = share(*_pair(self._all.sizes[at])), None
        several = self._all.several()
        people = sum(
            s.single for s, b in zip(self._all.sizes, beyond, strict=True) if b
        )
        if several:
            self._all.judge_several(self._parts, beyond)
            people += self._all.surely_beyond() + self._doubtful(limit)
            worst, pair = self._worst_pair(worst, Bound(1, self._parts[at]))
        before = share(*self._all.overall())
        details = self._details(several)
        return finding(
            self._secret,
            worst,
            before,
            self._witness(worst, pair, at, before),
            counts=(
                sum(s.keys for s in self._all.sizes),
                sum(s.keys for s, b in zip(self._all.sizes, beyond, strict=True) if b),
                people,
            ),
            details=details,
        )

    def _worst_sizes(self) -> int:
        """Where the share is largest; floats choose, exact shares decide."""
        top = max(self._excess)
        close = [i for i, e in enumerate(self._excess) if e >= top - CLOSE]
        shares = [share(*_pair(self._all.sizes[i])) for i in close]
        best = max(shares, key=lambda s: (s.high, s.low))
        return close[shares.index(best)]

    # People in several keys ---------------------------------------------------------

    def _combined(self, pair: AssociationPairs) -> Share:
        return either(share(*_pair(self._all.sizes[z])) for z in pair.kinds)

    def _bound(self, pair: AssociationPairs) -> Bound:
        return Bound(len(pair.kinds), sum(self._parts[z] for z in pair.kinds))

    def _doubtful(self, limit: Ceiling) -> int:
        """People whose keys are each within the limit, but not together."""
        bound = log1p(-float(limit.level)) if limit.level < 1 else float("-inf")
        some = bound if isinf(bound) else bound + CLOSE
        pairs = [p for p in self._all.doubtful(some) if len(p.kinds) > 1]
        bad = [p.kinds for p in pairs if self._is_beyond(p, bound, limit)]
        return self._all.people_with(bad)

    def _is_beyond(self, pair: AssociationPairs, bound: float, limit: Ceiling) -> bool:
        found = self._bound(pair).log
        if not isinf(bound) and abs(found - bound) > CLOSE:
            return found < bound
        return bool(self._combined(pair).beyond(limit))

    def _worst_pair(
        self, worst: Share, best: Bound
    ) -> tuple[Share, AssociationPairs | None]:
        """The surest association of somebody in several keys, if it is surer still."""
        found, most = None, AT_ONCE
        while worst.low < 1:
            pairs = self._all.contenders(best, most)
            if pairs is None:
                break
            close = self._surest(pairs)
            if close and (surest := min(close, key=self._missed)):
                combined = self._combined(surest)
                if combined.high > worst.high:
                    worst, found, best = combined, surest, self._bound(surest)
            most *= 8
        return worst, found

    def _missed(self, pair: AssociationPairs) -> int:
        """The chance to miss it in all of its keys, to more digits than floats have."""
        product = 1 << BITS
        for z in pair.kinds:
            missed = 1 - share(*_pair(self._all.sizes[z])).high
            product = product * ((missed.numerator << BITS) // missed.denominator)
            product >>= BITS
        return product

    def _surest(self, pairs: Sequence[AssociationPairs]) -> list[AssociationPairs]:
        """Of each number of keys those that floats do not tell from the surest."""
        top: dict[int, float] = {}
        bounds = [self._bound(p) for p in pairs]
        for bound in bounds:
            top[bound.keys] = min(top.get(bound.keys, 0.0), bound.part)
        return [
            pair
            for pair, bound in zip(pairs, bounds, strict=True)
            if bound.keys > 1 and bound.part <= top[bound.keys] * (1 - CLOSE)
        ]

    # What is told -------------------------------------------------------------------

    def _witness(
        self, worst: Share, pair: AssociationPairs | None, at: int, before: Share
    ) -> Reconstruction:
        """The association that attains it, with what other models say about it."""
        secret = self._secret
        if pair is None:
            person, value = self._all.look_at_sizes(*_pair(self._all.sizes[at]))
        else:
            person, value = pair.person, pair.secret
            self._all.look_at_person(person)
        asked = SomeAssociations(self._relation, [person], [value], every_key=True)
        marked = bool(self._relation.sides.marker)
        answers = asked.answers("unrestricted")
        (kind,) = answers.kinds()
        witness = witness_of(secret, worst, kind, answers.example(kind), before)
        return replace(with_others(witness, asked, marked=marked), listed=False)

    def _details(self, several: int) -> dict[str, object]:
        shares = [_rough(e) for e in self._excess]
        order = sorted(range(len(shares)), key=self._gravity)
        worst = self._all.worst_keys(order[:WORST_KEYS], WORST_KEYS)
        return {
            "people_in_several_keys": several,
            "histogram": _histogram(self._all.sizes, shares),
            "worst_keys": [self._key(key) for key in worst],
        }

    def _gravity(self, at: int) -> tuple[int, float, int]:
        """What is certain first; then what one row per person cannot explain."""
        people, values = _pair(self._all.sizes[at])
        rank = 0 if values == 1 else 1 if people == 1 else 2
        return rank, -self._excess[at], at

    def _key(self, key: dict[str, Any]) -> dict[str, object]:
        """A key as every model sees it, whoever is in no other key."""
        at = key["kind"]
        people, values = _pair(self._all.sizes[at])
        one = people > 1 or values == 1
        return {
            "key": key["key"],
            "people": people,
            "values": values,
            "unrestricted": written(share(people, values)),
            "log2_excess": self._excess[at],
            "restricted": str(Fraction(1, values)) if one else None,
            "functional": str(Fraction(1, values)) if people >= values else None,
            "bag": None if key["often"] is None else str(key["often"]),
        }


def _pair(sizes: KeySizes) -> tuple[int, int]:
    return sizes.people, sizes.secrets


def _log2_excess(sizes: KeySizes) -> float:
    f, e = excess(sizes.people, sizes.secrets)
    return e + log2(f)


def _rough(log2_excess: float) -> float:
    return 0.5 + 0.5 * exp2(max(log2_excess, -1000))


def _missing(log2_excess: float) -> float:
    """The logarithm of 2 (1 - share), from that of 2 share - 1."""
    part = exp2(max(log2_excess, -1000))
    return float("-inf") if part >= 1 else log1p(-part)


def _beyond(sizes: KeySizes, log2_excess: float, limit: Ceiling) -> bool:
    """Whether a share passes the limit: by floats unless they are too close."""
    need = 2 * limit.level - 1
    if need <= 0:  # no share is as low as that
        return True
    bound = log2(need.numerator) - log2(need.denominator)
    if abs(log2_excess - bound) > CLOSE:
        return log2_excess > bound
    found = share(*_pair(sizes)).beyond(limit)
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
