"""Tables of the same rows, judged: by their files alone, and by matched rows.

Groups and untransformed counts are tables too. Files alone beyond the limit, exactly,
are a breach; matched rows alone beyond it leave the question open; a bound may acquit
and never accuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from privet.errors import InputError, TooLarge
from privet.findings import Basis, Verdict
from privet.release.joint.joint_results import (
    JointQuestion,
    JointResult,
    JointWitness,
    leave_open,
    require_ceiling,
)
from privet.release.joint.junction_tree import ReleaseTree, find_tree
from privet.release.joint.labelled_rows import JointTable, LabelledRows, split_files
from privet.release.joint.outlines import ReleaseOutline
from privet.release.joint.same_rows import KnownColumns, Labels
from privet.release.joint.surest_values import Members, SurestValues
from privet.report import joint_reasons as words
from privet.values.beliefs import Belief, Ceiling


@dataclass
class _Worst:
    """The worst case so far of one way to judge."""

    limit: Ceiling
    belief: Fraction | None = None
    known: tuple[str, ...] = ()
    values: Labels = ()
    members: Members = ()
    beyond: int = 0

    def add(
        self,
        found: dict[int, Fraction],
        asked: SurestValues,
        known: tuple[str, ...],
        values: Labels,
        people: int,
    ) -> None:
        """Take one person's beliefs to heart."""
        surest = asked.find(found)
        if surest is None:
            return
        members, belief = surest
        if not self.limit.holds(Belief(0, belief)):
            self.beyond += people
        if self.belief is None or belief > self.belief:
            self.belief, self.known, self.values = belief, known, values
            self.members = members

    @property
    def holds(self) -> bool:
        """Whether the worst is within the limit."""
        return self.belief is None or self.limit.holds(Belief(0, self.belief))


@dataclass(frozen=True)
class _TableBeliefs:
    """The worst by files, where it is exact and where it is bounded; by matching."""

    exact: _Worst
    bound: _Worst
    matching: _Worst

    @property
    def files(self) -> _Worst:
        """The case that decides: an exact breach, else whatever is worst."""
        if not self.exact.holds or self.bound.belief is None:
            return self.exact
        exact = self.exact.belief
        return self.bound if exact is None or exact < self.bound.belief else self.exact


def judge_tables(
    question: JointQuestion,
    left: Sequence[ReleaseOutline],
    rows: LabelledRows,
    check: Callable[[], None],
) -> JointResult:
    """Files that count rows, by worlds; and somebody who can match their rows."""
    joint = JointTable(rows, tuple(f for r in left for f in split_files(r)))
    limit = require_ceiling(question)
    try:
        beliefs = FileBeliefs(joint)
        found = _TableBeliefs(_Worst(limit), _Worst(limit), _Worst(limit))
        asked = SurestValues.of(question, joint.source.list_values(question.about))
        for known in question.known:
            placed, about = joint.place_known(known), question.about
            for values, people, matched in joint.list_persons(placed, about):
                check()
                sure, is_exact = beliefs.find(placed, about, values)
                person = placed, values, people
                (found.exact if is_exact else found.bound).add(sure, asked, *person)
                found.matching.add(matched, asked, *person)
    except InputError as error:
        return leave_open(question, left, str(error))
    return _conclude(question, left, joint, found)


class FileBeliefs:
    """What the files alone tell: exactly where there is a closed form, else bounded."""

    def __init__(self, joint: JointTable) -> None:
        self.joint = joint
        self.exact = joint.has_nested_boxes
        self._tree: ReleaseTree | None = None
        if len(joint.files) != 2 and self.exact:
            tree = find_tree(joint.columns)
            self.exact = tree is not None
            if tree is not None:
                self._tree = ReleaseTree(joint.same_rows, tree)
        self._known: dict[tuple[tuple[str, ...], str], KnownColumns] = {}

    def find(
        self, known: tuple[str, ...], about: str, values: Labels
    ) -> tuple[dict[int, Fraction], bool]:
        """How sure one is of each raw value, and whether exactly or at most."""
        if self._tree is not None:
            names = [c.name for c in self.joint.columns]
            at = [names.index(c) for c in known]
            return self._tree.beliefs(at, names.index(about), values), True
        asked = known, about
        if asked not in self._known:
            self._known[asked] = self.joint.same_rows.judge_knowledge(*asked)
        if self.exact:
            try:
                return self._known[asked].beliefs(values), True
            except TooLarge:
                pass
        return self._known[asked].bounds(values), False


def _conclude(
    question: JointQuestion,
    left: Sequence[ReleaseOutline],
    joint: JointTable,
    beliefs: _TableBeliefs,
) -> JointResult:
    """Files beyond the limit: a breach if exact. Matching alone: open."""
    names, files, matching = (
        tuple(r.name for r in left),
        beliefs.files,
        beliefs.matching,
    )
    sure, matched = files.belief or Fraction(0), matching.belief or Fraction(0)
    exact = files is beliefs.exact
    found = JointResult(
        question.promise,
        Verdict.SAFE,
        files=sure,
        basis=Basis.EXACT if exact else Basis.BOUND,
        matching=matched,
        people_beyond=files.beyond,
        matched_beyond=matching.beyond,
        between=names,
        reason=words.WITHIN if len(left) > 1 else "",
    )
    if files.belief is not None:
        found = replace(
            found,
            witness=_find_witness(joint, files, question),
            prior=_find_prior(joint, files, question.about),
        )
    if not files.holds:
        if exact:
            told = words.say_files_beyond(sure, matched if len(left) > 1 else None)
            return replace(found, verdict=Verdict.BREACH, reason=told)
        told = words.say_bound_beyond(names, sure)
        return replace(found, verdict=Verdict.UNDECIDED, reason=told)
    if not matching.holds:
        told = words.say_matching_beyond(sure, matched, not exact)
        return replace(
            found, verdict=Verdict.UNDECIDED, reason=told, acceptable="matching"
        )
    return found


def _find_witness(
    joint: JointTable, worst: _Worst, question: JointQuestion
) -> JointWitness:
    names, about = [c.name for c in joint.columns], question.about
    at = [names.index(c) for c in worst.known]
    knows = {
        c: joint.source.list_values(c)[v]
        for c, v in zip(worst.known, worst.values, strict=True)
        if c in joint.plain
    }
    counts = []
    for k, file in enumerate(joint.files):
        labels = [
            joint.columns[i].labels[k][v] for i, v in zip(at, worst.values, strict=True)
        ]
        asked = names.index(about)
        shown = {joint.columns[asked].labels[k][v] for v in worst.members}
        part = whole = 0
        for row, n in joint.same_rows.files[k].items():
            if all(row[i] == s for i, s in zip(at, labels, strict=True)):
                whole += n
                part += n if row[asked] in shown else 0
        counts.append((file.name, part, whole))
    values = SurestValues.of(question, joint.source.list_values(about))
    value, window = values.name(worst.members)
    return JointWitness(knows, about, value, tuple(counts), window)


def _find_prior(joint: JointTable, worst: _Worst, about: str) -> Fraction:
    return sum(
        (_find_share(joint, value, about) for value in worst.members), Fraction(0)
    )


def _find_share(joint: JointTable, value: int, about: str) -> Fraction:
    """The share of one value in everybody; those shown alike are equally likely."""
    column = next(c for c in joint.columns if c.name == about)
    shown = tuple(s[value] for s in column.labels)
    names = [c.name for c in joint.columns]
    at = names.index(about)
    alike = sum(
        n
        for row, n in joint.rows.items()
        if tuple(s[row[at]] for s in column.labels) == shown
    )
    together = list(zip(*column.labels, strict=True)).count(shown)
    return Fraction(alike, joint.source.people * together)
