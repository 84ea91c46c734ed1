"""Likelihood bounds: how likely a report is, at most and at least, for each answer.

Noise is drawn independently, answers are not: a report on one question speaks of every
other that hangs together with it. So the bounds run over whole records. For a report y
and an answer v, ``high[v]`` is the largest and ``low[v]`` the least P(y | record) among
the records with that answer. A prior that puts all of v on the likeliest of them, and
all else on the least likely, is the worst there is, and it is attained.
Zhan, Chang, Matwin 2004, section 3, corrected as documented; Evfimievski, Gehrke,
Srikant 2003.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from fractions import Fraction
from itertools import product
from math import prod

from privet.errors import InputError, TooLarge, suggest_names
from privet.responses.channels import Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import Design, Group, MarginalChannel, Question
from privet.values.adversaries import Bayesian

MOST_CASES = 2_000_000
"""Reports and knowledge that are tried on one channel."""


@dataclass(frozen=True)
class ReportCase:
    """One report that somebody may see, and how likely it is for each answer."""

    high: tuple[Fraction, ...]
    """Its probability for the likeliest record with each answer, up to a factor."""
    low: tuple[Fraction, ...]
    """The same for the least likely record with each answer."""
    sees: Mapping[str, str] = field(default_factory=dict)
    """The report."""
    knows: Mapping[str, str] = field(default_factory=dict)
    """What is known besides."""


Known = Mapping[str, int | None]
"""Columns that say nothing more, by their true code; None: any, the worst counts."""


def list_cases(design: Design, column: str, against: Bayesian) -> Iterator[ReportCase]:
    """Every report that bears on a column, at its worst.

    Whoever sees it may know how all answers hang together. Columns that are known, or
    declared unrelated, say nothing more; of unrelated companions in the column's own
    group the worst value counts.
    """
    sees = {c: design.question(c).code(v) for c, v in (against.sees or {}).items()}
    shown = None if against.sees is None else sees
    if column in design.public:
        yield from _list_public_cases(design, column, shown)
        return
    known = find_known(design, column, against)
    secret = [g for g in design.groups if not isinstance(g.channel, Keep)]
    if design.one_of:
        for group in secret:
            if not _is_left_out(design, group, shown):
                yield from _list_asked_cases(design, group, column, known, shown)
        return
    others = [g for g in secret if column not in g.columns]
    found = [_find_sharpest(design, g, known, shown) for g in others]
    own = next(g for g in secret if column in g.columns)
    for case in _list_own_cases(design, own, column, known, shown):
        yield _join_cases(case, [c for c in found if c is not None])


def find_known(design: Design, column: str, against: Bayesian) -> Known:
    """The columns whose reports say nothing more about one, by what is stated.

    A number of columns is at most so many, so knowing none of them counts, which is
    the worst; a victim's own values and named columns are known.
    """
    found: dict[str, int | None] = {}
    if against.unrelated is True:
        found = dict.fromkeys(c for c in design.columns if c != column)
    elif against.unrelated:
        found = dict.fromkeys(_require_questions(design, against.unrelated))
    if isinstance(against.knows, Mapping):
        named = _require_questions(design, against.knows)
        found |= {c: design.question(c).code(against.knows[c]) for c in named}
    elif isinstance(against.knows, tuple):
        found |= dict.fromkeys(_require_questions(design, against.knows))
    return {c: v for c, v in found.items() if c != column}


def _require_questions(design: Design, names: Iterable[str]) -> list[str]:
    return [design.question(c).name for c in names]


def _is_left_out(design: Design, group: Group, shown: Mapping[str, int] | None) -> bool:
    """Whether a report names another group of a design that asks one of them."""
    secret = set(shown or ()) - set(design.public)
    return not secret <= set(group.columns)


def _list_asked_cases(
    design: Design,
    group: Group,
    column: str,
    known: Known,
    shown: Mapping[str, int] | None,
) -> Iterator[ReportCase]:
    """Where one group is asked: what it says of the column, asked or not."""
    if column in group.columns:
        yield from _list_own_cases(design, group, column, known, shown)
        return
    # Somebody may know how the column hangs together with what was asked instead.
    case, k = _find_sharpest(design, group, known, shown), len(design.question(column))
    if case is not None:
        yield changed(case, high=case.high * k, low=case.low * k)


def _list_public_cases(
    design: Design, column: str, shown: Mapping[str, int] | None
) -> Iterator[ReportCase]:
    question = design.question(column)
    seen = range(len(question)) if shown is None else [shown.get(column)]
    for y in seen:
        if y is None:
            yield _say_nothing(question, {})
            continue
        likely = tuple(Fraction(x == y) for x in range(len(question)))
        yield ReportCase(likely, likely, {column: question.values[y]})


def _say_nothing(question: Question, sees: Mapping[str, str]) -> ReportCase:
    even = (Fraction(1),) * len(question)
    return ReportCase(even, even, sees)


# One group --------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupReports:
    """The reports of one group, and what they are asked about."""

    questions: tuple[Question, ...]
    """The columns that are reported, the last varying fastest."""
    column: str | None
    """The one it is about; None: another, which hangs together with them."""
    known: Known
    """Those of them that say nothing more."""
    seen: Mapping[str, int]
    """Those of them whose report is given."""

    @property
    def answers(self) -> int:
        """How many answers the column has."""
        return next((len(q) for q in self.questions if q.name == self.column), 1)

    @property
    def free(self) -> bool:
        """Whether records with one answer, and what is known, may still differ."""
        fixed = {self.column, *self.known}
        return prod(len(q) for q in self.questions if q.name not in fixed) > 1

    @property
    def contradicted(self) -> bool:
        """Whether a report is given that cannot be the truth."""
        return any(
            v is not None and self.seen.get(c, v) != v for c, v in self.known.items()
        )

    def list_answers(self) -> Sequence[int]:
        """What may be reported of the column."""
        if self.column is not None and self.column in self.seen:
            return [self.seen[self.column]]
        return range(self.answers)

    def choose_report(self, answer: int) -> dict[str, int]:
        """A report with some answer in which all that is known is reported truly."""
        told = {c: v for c, v in self.known.items() if v is not None} | {**self.seen}
        own = {} if self.column is None else {self.column: answer}
        return {q.name: 0 for q in self.questions} | told | own

    def label(self, report: Mapping[str, int]) -> dict[str, str]:
        """A report in words."""
        return {q.name: q.values[report[q.name]] for q in self.questions}

    def label_known(self, truth: Mapping[str, int]) -> dict[str, str]:
        """What is known of the group, in words."""
        return {
            q.name: q.values[truth[q.name]]
            for q in self.questions
            if q.name in self.known
        }


def _list_own_cases(
    design: Design,
    group: Group,
    column: str | None,
    known: Known,
    shown: Mapping[str, int] | None,
) -> Iterator[ReportCase]:
    """What the reports of one group say of a column, or of one beside it."""
    piece, seen = _cut_group(design, group, shown)
    if piece is None:
        if column is not None:
            yield _say_nothing(design.question(column), {})
        return
    inside = column if column in piece.columns else None
    own = GroupReports(
        tuple(design.question(c) for c in piece.columns),
        inside,
        {c: v for c, v in known.items() if c in piece.columns},
        seen,
    )
    for case in _list_channel_cases(piece, own):
        if any(case.high):  # otherwise nobody can give this report
            k = len(design.question(column)) if column and not inside else 1
            yield changed(case, high=case.high * k, low=case.low * k)


def _cut_group(
    design: Design, group: Group, shown: Mapping[str, int] | None
) -> tuple[MarginalChannel | None, dict[str, int]]:
    """The channel of what is seen of a group, and what is seen; None: nothing is."""
    if shown is None:
        size = design.size(group.columns)
        return MarginalChannel(group.columns, size, group.channel), {}
    seen = {c: shown[c] for c in group.columns if c in shown}
    return (design.piece(group, list(seen)) if seen else None), seen


def _list_channel_cases(
    piece: MarginalChannel, own: GroupReports
) -> Iterator[ReportCase]:
    match piece.channel:
        case Flip(truth=truth):
            yield from _list_flipped_cases(own, truth)
        case KAry(truth=truth) as channel:
            other = channel.other(piece.size)
            for answer in own.list_answers():
                yield from _bound_even(own, own.choose_report(answer), truth, other)
        case Replace(truth=truth) as channel:
            shares = channel.shares(piece.size)
            for answer in own.list_answers():
                report, share = _choose_rarest(own, answer, shares)
                rest = (1 - truth) * share
                yield from _bound_even(own, report, truth + rest, rest)
        case Matrix(rows=rows):
            yield from _list_matrix_cases(own, rows)


def _bound_even(
    own: GroupReports, report: Mapping[str, int], same: Fraction, other: Fraction
) -> Iterator[ReportCase]:
    """A report that has one chance where it is true, and another everywhere else."""
    high, low = [other] * own.answers, [other] * own.answers
    at = 0 if own.column is None else report[own.column]
    if not own.contradicted:
        # Records with this answer: the one reported, and others where some are free.
        high[at] = max(same, other) if own.free else same
        low[at] = min(same, other) if own.free else same
    told = {c: v for c, v in own.known.items() if v is not None}
    knows = own.label_known({**report, **told})
    sees = own.label(report)
    yield ReportCase(tuple(high), tuple(low), sees, knows)
    # A companion whose truth may be any may also be reported untruly: all the rest is
    # as likely then. Yes to two answers at 7/8 where the other is known to be no: 1/2.
    for q in own.questions:
        if own.known.get(q.name, 0) is None:
            untrue = {q.name: (report[q.name] + 1) % len(q)}
            even = (other,) * own.answers
            yield ReportCase(
                even, even, sees, own.label_known({**report, **told, **untrue})
            )
            return


def _choose_rarest(
    own: GroupReports, answer: int, shares: Sequence[Fraction]
) -> tuple[dict[str, int], Fraction]:
    """The report with an answer that is drawn most seldom where it is not true."""
    told = own.choose_report(answer)
    fixed = {c for c, v in own.known.items() if v is not None} | {*own.seen}
    fixed |= {own.column} if own.column else set()
    ranges = [
        [told[q.name]] if q.name in fixed else range(len(q)) for q in own.questions
    ]
    if len(set(shares)) == 1:
        return told, shares[0]
    sizes = [len(q) for q in own.questions]
    steps = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    best = min(
        product(*ranges),
        key=lambda y: shares[sum(s * v for s, v in zip(steps, y, strict=True))],
    )
    at = sum(s * v for s, v in zip(steps, best, strict=True))
    names = [q.name for q in own.questions]
    return dict(zip(names, best, strict=True)), shares[at]


def _list_flipped_cases(own: GroupReports, truth: Fraction) -> Iterator[ReportCase]:
    """All kept or all turned round: what is known of a companion tells which."""
    chances = [(truth, 1 - truth)]  # of a report that is true, and of its opposite
    if own.known:
        chances = [(truth, Fraction(0)), (Fraction(0), 1 - truth)]
    for turned, (kept, round_) in enumerate(chances):
        for answer in own.list_answers():
            true, report = _turn_known(own, own.choose_report(answer), turned)
            if any(own.seen.get(c, v) != v for c, v in report.items()):
                continue
            likely = (kept, round_) if not answer else (round_, kept)
            inside = own.column is not None
            high: tuple[Fraction, ...] = likely if inside else (max(likely),)
            low: tuple[Fraction, ...] = likely if inside else (min(likely),)
            if own.free and len(own.questions) > 1:  # records that are neither
                low = (Fraction(0),) * len(high)
            elif not own.free:
                low = high
            yield ReportCase(high, low, own.label(report), own.label_known(true))


def _turn_known(
    own: GroupReports, report: dict[str, int], turned: int
) -> tuple[dict[str, int], dict[str, int]]:
    """What is true of known companions, and a report that was kept or turned."""
    true, told = dict(report), dict(report)
    for c, v in own.known.items():
        if v is not None:
            true[c], told[c] = v, v ^ turned
        else:  # any truth will do: the one that fits what is seen
            told[c] = report[c]
            true[c] = report[c] ^ turned
    return true, told


def _list_matrix_cases(
    own: GroupReports, rows: Sequence[Sequence[Fraction]]
) -> Iterator[ReportCase]:
    """Any channel: every report and everything known is tried."""
    records = list(product(*(range(len(q)) for q in own.questions)))
    if len(records) ** 2 > MOST_CASES:
        raise TooLarge(
            f"A channel over {len(records):,} values has too many cases to be tried."
        )
    names = [q.name for q in own.questions]
    place = names.index(own.column) if own.column else None
    parts: dict[tuple[int, ...], list[list[int]]] = {}
    at = [i for i, c in enumerate(names) if c in own.known]
    for i, x in enumerate(records):
        fixed = tuple(x[j] for j in at)
        cells = parts.setdefault(fixed, [[] for _ in range(own.answers)])
        cells[0 if place is None else x[place]].append(i)
    wanted = [own.known[names[j]] for j in at]
    for sees, row in _list_matrix_reports(own, rows, records):
        for fixed, cells in parts.items():
            if any(w not in (None, v) for w, v in zip(wanted, fixed, strict=True)):
                continue
            likely = [[row[i] for i in cell] for cell in cells]
            truth = {names[j]: v for j, v in zip(at, fixed, strict=True)}
            yield ReportCase(
                tuple(map(max, likely)),
                tuple(map(min, likely)),
                sees,
                own.label_known(truth),
            )


def _list_matrix_reports(
    own: GroupReports,
    rows: Sequence[Sequence[Fraction]],
    records: Sequence[tuple[int, ...]],
) -> Iterator[tuple[dict[str, str], Sequence[Fraction]]]:
    """Every report and its chances; those that look the same, added up."""
    names = [q.name for q in own.questions]
    alike = [
        (y, row)
        for y, row in zip(records, rows, strict=True)
        if all(y[names.index(c)] == v for c, v in own.seen.items())
    ]
    if not own.seen:
        for y, row in alike:
            yield own.label(dict(zip(names, y, strict=True))), row
        return
    seen = [q for q in own.questions if q.name in own.seen]
    rows_alike = zip(*(row for _, row in alike), strict=True)
    likely = [sum(chances, Fraction(0)) for chances in rows_alike]
    yield {q.name: q.values[own.seen[q.name]] for q in seen}, likely


# Several groups ---------------------------------------------------------------------


def _find_sharpest(
    design: Design, group: Group, known: Known, shown: Mapping[str, int] | None
) -> ReportCase | None:
    """The report of another group that tells two records apart best, if any does."""
    if set(group.columns) <= set(known):
        return None
    cases = _list_own_cases(design, group, None, known, shown)
    return max(cases, key=_rate_case, default=None)


def _rate_case(case: ReportCase) -> tuple[bool, Fraction]:
    (high,), (low,) = case.high, case.low
    return (False, high / low) if low else (True, Fraction(0))


def _join_cases(own: ReportCase, others: Sequence[ReportCase]) -> ReportCase:
    """What one group says of a column, with what all others say of the record."""
    sees, factor = dict(own.sees), Fraction(1)
    for other in others:
        sees |= other.sees
        (high,), (low,) = other.high, other.low
        factor *= high / low if low else 1
    certain = not all(other.low[0] for other in others)
    least = (Fraction(0),) * len(own.low) if certain else own.low
    return ReportCase(tuple(h * factor for h in own.high), least, sees, own.knows)


def read_prior(question: Question, against: Bayesian) -> list[Fraction]:
    """The stated prior over a question's answers."""
    if not isinstance(against.prior, Mapping):
        return [Fraction(1, len(question))] * len(question)
    for value in against.prior:
        if value not in question.values:
            raise InputError(
                f"prior must be over the answers to {question.name!r}; got {value!r}. "
                f"{suggest_names(value, question.values)}"
            )
    return [against.prior.get(v, Fraction(0)) for v in question.values]
