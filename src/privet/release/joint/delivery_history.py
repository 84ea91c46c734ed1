"""Deliveries over time, judged: who came, stayed and left, and what subtracting shows.

Between two deliveries people come and go. *Parts*: somebody who knows that a person is
new, stayed or left looks among those; within the limit, every delivery and the union
are. *Visible difference*: whoever subtracts the files sees newcomers and leavers, up to
rows that cancel. Where one delivery shows more than the other, what is told coarsely of
a part is spread over what the finer file shows. Of three and more deliveries each pair
is judged, everybody by the deliveries they are in, and whoever is known to have come
and left in between.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from privet.errors import InputError, TooLarge
from privet.findings import Basis, Verdict
from privet.release.joint.changed_rows import ChangedRows
from privet.release.joint.deliveries import (
    Cell,
    Deliveries,
    Group,
    Weights,
    share_groups,
)
from privet.release.joint.deliveries import Part as SeenPart
from privet.release.joint.joint_results import (
    JointQuestion,
    JointResult,
    JointWitness,
    require_ceiling,
)
from privet.release.joint.outlines import Value
from privet.release.joint.same_rows import JointColumn, Labels
from privet.release.joint.surest_values import Members, SurestValues
from privet.report import joint_reasons as words
from privet.values.beliefs import Belief, Ceiling

Presence = tuple[int, ...]
"""The deliveries that hold a person's row, in order."""
Shares = Mapping[Group, Mapping[Any, Fraction]]

SEEN: tuple[SeenPart, ...] = ("new", "gone", "kept")


def is_coarser(one: Labels, other: Labels) -> bool:
    """Whether labels follow from others: what those show alike, these do.

    >>> is_coarser((0, 0, 0, 3), (0, 0, 2, 3)), is_coarser((0, 1), (0, 0))
    (True, False)
    """
    seen: dict[int, int] = {}
    return all(seen.setdefault(b, a) == a for a, b in zip(one, other, strict=True))


@dataclass
class _Side:
    """The worst case of one way to look at deliveries."""

    limit: Ceiling
    asked: SurestValues
    worst: Fraction = Fraction(0)
    known: tuple[str, ...] = ()
    """The columns known now."""
    case: tuple[str, tuple[str, ...], Group, Members] | None = None
    """Which part, columns, group, and value or values of a window."""
    beyond: int = 0
    """People of whom too much is told; who is in several parts counts in each."""

    def add_people(
        self, what: str, part: Mapping[Labels, int], read: Callable[[Labels], Cell]
    ) -> None:
        """Take whole people, and count those in groups beyond the limit."""
        shares = share_groups(part, read)
        self.add(what, shares)
        surest = {group: self.asked.find(values) for group, values in shares.items()}
        beyond = {
            group
            for group, best in surest.items()
            if best is not None and not self.limit.holds(Belief(0, best[1]))
        }
        self.beyond += sum(n for row, n in part.items() if read(row)[0] in beyond)

    def add(self, what: str, shares: Shares) -> None:
        for group, values in shares.items():
            best = self.asked.find(values)
            if best is not None and best[1] > self.worst:
                self.worst = best[1]
                self.case = what, self.known, group, best[0]

    @property
    def holds(self) -> bool:
        return self.limit.holds(Belief(0, self.worst))


@dataclass(frozen=True, eq=False)
class DeliveryHistory:
    """Everybody ever delivered: how each delivery shows values, and who is in which."""

    columns: tuple[JointColumn, ...]
    """Every released column; its labels in each delivery, for all values ever seen."""
    people: Mapping[Presence, Mapping[Labels, int]]
    """For each set of deliveries, the raw rows of the people who are in just these; a
    changed row is one that left and one that came."""
    names: tuple[str, ...]
    """What the deliveries are called, the first one first."""
    values: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    """The raw values of columns, for witnesses."""
    changed: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """For two deliveries, people who are known to be in both, with another row."""

    def __post_init__(self) -> None:
        shown = {len(c.labels) for c in self.columns}
        if shown - {len(self.names)}:
            raise InputError("Each column must have labels for each delivery.")
        if any(not p or list(p) != sorted(set(p)) for p in self.people):
            raise InputError("People must be in one delivery at least, named in order.")

    # Rows as deliveries show them ---------------------------------------------------

    def _show(self, k: int, row: Labels) -> Labels:
        return tuple(c.labels[k][v] for c, v in zip(self.columns, row, strict=True))

    def _count(self, k: int, chosen: Callable[[Presence], bool]) -> Counter[Labels]:
        """People of some presence, as delivery k shows them."""
        found: Counter[Labels] = Counter()
        for presence, rows in self.people.items():
            if chosen(presence):
                for row, n in rows.items():
                    found[self._show(k, row)] += n
        return found

    def find_coarser(self, i: int, j: int) -> int | None:
        """The delivery that shows less in every column; None: neither does."""
        for one, other in ((j, i), (i, j)):
            if all(is_coarser(c.labels[one], c.labels[other]) for c in self.columns):
                return one
        return None

    def find_coarsest(self) -> int | None:
        """The delivery that shows least of all."""
        for k in range(len(self.names) - 1, -1, -1):
            labels = [(c.labels[k], shown) for c in self.columns for shown in c.labels]
            if all(is_coarser(own, other) for own, other in labels):
                return k
        return None

    # Judging ------------------------------------------------------------------------

    def judge(
        self, question: JointQuestion, *, newest_only: bool = False
    ) -> JointResult:
        """Judge one promise against somebody who has all deliveries.

        With `newest_only` pairs of earlier deliveries, judged before, are left out.
        """
        limit = require_ceiling(question)
        if not self._shows_plainly(question.about):
            told = words.say_not_plain(question.about)
            return JointResult(
                question.promise, Verdict.UNDECIDED, reason=told, between=self.names
            )
        try:
            asked = SurestValues.of(question, self.values.get(question.about, ()))
        except InputError as error:
            return JointResult(
                question.promise,
                Verdict.UNDECIDED,
                reason=str(error),
                between=self.names,
            )
        judged = _Judged(*(_Side(limit, asked) for _ in range(4)))
        for known in question.known:
            judged.look_at(known)
            reader = self._read(known, question.about)
            reason = self._judge_pairs(reader, judged, newest_only)
            reason = reason or self._judge_times(reader, judged)
            if reason:
                return JointResult(
                    question.promise,
                    Verdict.UNDECIDED,
                    reason=reason,
                    between=self.names,
                )
        return self._conclude(question, judged)

    def _shows_plainly(self, about: str) -> bool:
        """Whether every delivery shows the column as it is."""
        plain = tuple(range(len(self._column(about).blocks)))
        return all(shown == plain for shown in self._column(about).labels)

    def _column(self, name: str) -> JointColumn:
        return next(c for c in self.columns if c.name == name)

    def _read(self, known: Sequence[str], about: str) -> Callable[[Labels], Cell]:
        names = [c.name for c in self.columns]
        at, asked = [names.index(c) for c in known], names.index(about)
        return lambda row: (tuple(row[i] for i in at), row[asked])

    def _judge_pairs(
        self, read: Callable[[Labels], Cell], judged: _Judged, newest_only: bool
    ) -> str:
        last = len(self.names) - 1
        for i, j in combinations(range(len(self.names)), 2):
            if newest_only and j != last:
                continue
            coarse = self.find_coarser(i, j)
            if coarse is None:
                return words.say_incomparable((self.names[i], self.names[j]))
            self._judge_pair(i, j, coarse, read, judged)
        return ""

    def _judge_pair(
        self,
        i: int,
        j: int,
        coarse: int,
        read: Callable[[Labels], Cell],
        judged: _Judged,
    ) -> None:
        new = self._count(coarse, lambda p: j in p and i not in p)
        kept = self._count(coarse, lambda p: i in p and j in p)
        gone = self._count(coarse, lambda p: i in p and j not in p)
        pair = Deliveries(kept + gone, new + kept, kept.total(), read)
        for what, part in (("new", new), ("kept", kept), ("gone", gone)):
            judged.parts.add_people(what, part, read)
        if many := self.changed.get((i, j), 0):
            self._judge_changed(ChangedRows(gone, new, many, read), judged)
        for seen in SEEN:
            judged.add_seen(pair, seen)
        fine = i if coarse == j else j
        if any(c.labels[fine] != c.labels[coarse] for c in self.columns):
            own: SeenPart = "gone" if fine == i else "new"
            parts = {"kept": kept, own: gone if fine == i else new}
            self._judge_fine(pair, self._map_rows(fine, coarse), parts, judged)

    def _judge_changed(self, changed: ChangedRows, judged: _Judged) -> None:
        """Who knows what a person was before and is now, and that a value stayed."""
        side = judged.parts
        try:
            worst = changed.find_worst(side.asked.matters)
        except TooLarge:
            worst = Fraction(1)
        if side.asked.windows is not None:  # values are compared one by one there
            worst = Fraction(1)
        if worst > side.worst:
            side.worst, side.case = worst, ("changed", side.known, (), ())
        if not side.limit.holds(Belief(0, worst)):
            side.beyond += changed.many

    def _map_rows(self, fine: int, coarse: int) -> Counter[tuple[Labels, Labels]]:
        """The rows of one delivery, as it shows them and as the other one would."""
        found: Counter[tuple[Labels, Labels]] = Counter()
        for presence, rows in self.people.items():
            if fine in presence:
                for row, n in rows.items():
                    found[self._show(fine, row), self._show(coarse, row)] += n
        return found

    def _judge_fine(
        self,
        pair: Deliveries,
        file: Counter[tuple[Labels, Labels]],
        parts: Mapping[SeenPart, Counter[Labels]],
        judged: _Judged,
    ) -> None:
        """One file shows more than the other: spread what is told of a part over it."""
        whole: Counter[Labels] = Counter()
        for (_, told), n in file.items():
            whole[told] += n

        def spread(part: Weights) -> Shares:
            found: dict[Labels, Fraction] = defaultdict(Fraction)
            for (row, told), n in file.items():
                found[row] += Fraction(n) * part.get(told, 0) / whole[told]
            return share_groups(found, pair.read)

        for what, people in parts.items():
            judged.parts.add(what, spread(people))
            try:
                judged.seen.add(what, spread(pair.expect_people(what)))
            except TooLarge:
                judged.bound.worst = Fraction(1)

    def _judge_times(self, read: Callable[[Labels], Cell], judged: _Judged) -> str:
        """Three and more: everybody by their deliveries, and who came and left."""
        if len(self.names) <= 2:
            return ""
        coarsest = self.find_coarsest()
        if coarsest is None:
            return words.say_incomparable(self.names)
        for presence in self.people:
            part = self._count(coarsest, presence.__eq__)
            judged.parts.add_people("in some deliveries only", part, read)
        return self._judge_stays(coarsest, read, judged)

    def _judge_stays(
        self, coarsest: int, read: Callable[[Labels], Cell], judged: _Judged
    ) -> str:
        """Known to have come at i and left after j: X, those kept, Z over each B."""
        steps = [
            self._step(k, k + 1, coarsest, read) for k in range(len(self.names) - 1)
        ]
        files = [
            self._count(coarsest, lambda p, k=k: k in p)  # type: ignore[misc]
            for k in range(len(self.names))
        ]
        for i in range(1, len(self.names) - 1):
            weights: dict[Labels, Fraction] = {
                row: Fraction(n) for row, n in steps[i - 1].difference("new").items()
            }
            for j in range(i, len(self.names) - 1):
                gone = steps[j].difference("gone")
                told = {
                    row: n * gone[row] / files[j][row] for row, n in weights.items()
                }
                if any(s.cancelled for s in steps[i - 1 : j + 1]):
                    if self._count(coarsest, tuple(range(i, j + 1)).__eq__):
                        return words.say_cancelled(self.names[i], self.names[j])
                    continue
                judged.seen.add("came and left", share_groups(told, read))
                weights = {
                    row: n * (files[j][row] - gone[row]) / files[j][row]
                    for row, n in weights.items()
                    if files[j][row] > gone[row]
                }
        return ""

    def _step(
        self, i: int, j: int, coarse: int, read: Callable[[Labels], Cell]
    ) -> Deliveries:
        both = self._count(coarse, lambda p: i in p and j in p)
        first, second = (self._count(coarse, lambda p, k=k: k in p) for k in (i, j))  # type: ignore[misc]
        return Deliveries(first, second, both.total(), read)

    def _conclude(self, question: JointQuestion, judged: _Judged) -> JointResult:
        found = JointResult(
            question.promise,
            Verdict.SAFE,
            files=max(judged.seen.worst, judged.bound.worst),
            basis=Basis.EXACT if judged.is_exact else Basis.BOUND,
            matching=judged.parts.worst,
            matched_beyond=judged.parts.beyond,
            between=self.names,
            reason=words.WITHIN_DELIVERIES,
        )
        if not judged.seen.holds:
            what = judged.seen.case[0] if judged.seen.case else ""
            return replace(
                found,
                verdict=Verdict.BREACH,
                files=judged.seen.worst,
                basis=Basis.EXACT,
                witness=self._find_witness(question, judged.seen),
                reason=words.say_difference_beyond(what, judged.seen.worst),
            )
        if not (judged.bound.holds and judged.least.holds):
            told = words.say_difference_bounded(
                max(judged.bound.worst, judged.least.worst)
            )
            return replace(found, verdict=Verdict.UNDECIDED, reason=told)
        if not judged.parts.holds:
            what = judged.parts.case[0] if judged.parts.case else ""
            return replace(
                found,
                verdict=Verdict.UNDECIDED,
                reason=words.say_part_beyond(what, judged.parts.worst),
                acceptable="matching",
            )
        return found

    def _find_witness(
        self, question: JointQuestion, side: _Side
    ) -> JointWitness | None:
        """Whom the files tell most of; a value stands for those shown like it."""
        if side.case is None or not {question.about, *side.case[1]} <= set(self.values):
            return None
        _, known, group, members = side.case
        assert isinstance(group, tuple)
        knows = {
            c: self.values[c][label] for c, label in zip(known, group, strict=True)
        }
        value, window = side.asked.name(members)
        return JointWitness(knows, question.about, value, window=window)


@dataclass(frozen=True)
class _Judged:
    """What was seen so far, in the ways a verdict needs apart."""

    seen: _Side
    """What files tell exactly."""
    bound: _Side
    """What they tell at most, where rows cancel."""
    least: _Side
    """What they tell somebody who assumes that as few as possible came and went."""
    parts: _Side
    """Who knows who is new, stayed or left."""

    @property
    def is_exact(self) -> bool:
        """Whether no bound is above what is known exactly."""
        return self.seen.worst >= self.bound.worst

    def look_at(self, known: tuple[str, ...]) -> None:
        """Which columns are known from now on."""
        for side in (self.seen, self.bound, self.least, self.parts):
            side.known = known

    def add_seen(self, pair: Deliveries, part: SeenPart) -> None:
        """Take what subtracting two files shows of newcomers, or leavers."""
        if not pair.cancelled:
            self.seen.add(part, pair.beliefs(part))
            return
        self.least.add(part, share_groups(pair.difference(part), pair.read))
        self.bound.add(part, pair.bounds(part))
        try:
            self.seen.add(part, pair.beliefs(part))
        except TooLarge:
            return
