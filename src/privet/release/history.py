"""A release and its history: judged together with every earlier one that is known.

Earlier releases come from a ledger, or from custody folders that a policy names. Which
of them are of the same rows, and which of other deliveries, is told by digests of rows.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privet.engine.digests import KEY_LETTERS, DigestQuery, Overlap
from privet.engine.protocol import Run
from privet.engine.scratch import ScratchFolder
from privet.errors import InputError, TooLarge
from privet.findings import Audit, Finding, Verdict
from privet.languages import translate
from privet.policy import Measure, Policy, Promise
from privet.release.atomic_folder import save
from privet.release.custody_record import (
    describe_bins,
    describe_source,
    list_digested,
    now,
)
from privet.release.joint.computable import is_computable
from privet.release.joint.joint_results import JointQuestion, JointResult
from privet.release.joint.joint_verdict import judge_together
from privet.release.joint.outlines import ReleaseOutline
from privet.release.kinds import JointParts, import_kind
from privet.release.ledger import KEY, PEOPLE, Ledger, LedgerEntry
from privet.release.verify import MANIFEST, digest
from privet.report import joint_reasons as joint_words
from privet.report import ledger_words as words
from privet.table import Table

SAME, OTHER, UNKNOWN = "same rows", "other delivery", "unknown"
"""How an earlier release relates to the private table of the new one."""

THIS = "this release"
"""What the new release is called among the others."""

HOMES = {"table": "groups"}
"""The kind that judges an outline, where it is called otherwise."""


@dataclass(frozen=True)
class EarlierRelease:
    """A release that is out already, and what it has to do with the new one."""

    entry: LedgerEntry
    """What is known of it."""
    relation: str
    """`SAME`, `OTHER` or `UNKNOWN`."""
    outline: ReleaseOutline
    """What it shows, with a name and rows that can be compared."""
    overlap: Overlap | None = None
    """Who of the new table is in it, where digests tell."""

    @property
    def apart(self) -> bool:
        """Whether it is about nobody of the new table."""
        return self.overlap is not None and not self.overlap.people

    @property
    def changed(self) -> int:
        """People of the new table who are in it with another row, if names tell."""
        seen = self.overlap
        return 0 if seen is None else max(0, seen.people - seen.kept)

    def to_dict(self) -> dict[str, Any]:
        """For machines; nothing about a person."""
        seen = self.overlap
        told = {} if seen is None else {"kept": seen.kept, "new": seen.new}
        gone = {} if seen is None else {"gone": seen.gone}
        return {
            "release": self.entry.name,
            "kind": self.outline.kind,
            "relation": self.relation,
            "complete": self.entry.complete,
            **told,
            **gone,
        }


@dataclass(frozen=True, eq=False)
class History:
    """What is known of earlier releases, and what they add to the new one."""

    outline: ReleaseOutline | None = None
    """What the new release shows."""
    table: Table | None = field(default=None, repr=False)
    """The private table it is made from."""
    ledger: Ledger | None = None
    """The ledger that knows the others, and where it will be entered."""
    earlier: tuple[EarlierRelease, ...] = ()
    """The releases it was judged with."""
    together: Audit | None = None
    """What somebody could learn who has all of them; None: there is nothing to judge.
    """
    notes: tuple[str, ...] = ()
    """What must be said of what was not judged."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found about each promise."""
        return self.together.findings if self.together else ()

    @property
    def known(self) -> bool:
        """Whether anything is known of earlier releases, even that there is none."""
        return self.ledger is not None or bool(self.earlier)

    @property
    def verdict(self) -> Verdict:
        """What they come to together; safe where there are none."""
        found = {f.verdict for f in self.findings}
        grave = (Verdict.BREACH, Verdict.UNDECIDED)
        return next((v for v in grave if v in found), Verdict.SAFE)

    @property
    def safe(self) -> bool:
        """Whether nothing stands against the release."""
        return self.verdict is Verdict.SAFE

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        earlier = [e.to_dict() for e in self.earlier]
        return {
            "ledger": None if self.ledger is None else str(self.ledger.folder),
            "releases": earlier,
            "verdict": self.verdict.value,
            "findings": [f.to_dict() for f in self.findings],
            "words": [
                *words.describe_history(known=self.known, earlier=earlier),
                *map(translate, self.notes),
            ],
        }

    def build_record(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """What the custody record keeps of it: how it may be told from others.

        `own` is what the record says besides; files it digested are not read again.
        """
        if self.outline is None or self.table is None:
            return {"history": self.to_dict()}
        return {
            "outline": self.outline.to_dict(),
            "rows_from": describe_source(self.table, list_digested(own)),
            "ledger": None if self.ledger is None else str(self.ledger.folder),
            "history": self.to_dict(),
        }

    def draft_entry(
        self, title: str, place: Path, custody: Path, manifest: str
    ) -> LedgerEntry:
        """The entry of a release that is about to appear."""
        assert self.outline is not None
        assert self.table is not None
        columns, person = choose_columns(self.table)
        return LedgerEntry(
            self.outline,
            title=title,
            made=now(),
            place=str(place),
            manifest=manifest,
            custody=str(custody),
            columns=columns,
            person=person,
            people=count_people(self.table, Run()),
        )

    def write_files(self, folder: Path) -> None:
        """The digests of an entry, and what judging its kind needs besides."""
        assert self.ledger is not None
        self.write_digests_to(folder, self.ledger.folder / KEY)

    def write_digests_to(self, folder: Path, key: Path) -> None:
        """The same by any key."""
        assert self.table is not None
        assert self.outline is not None
        columns, person = choose_columns(self.table)
        write_digests(self.table, folder / PEOPLE, read_key(key), columns, person)
        keep = _require_joint(self.outline.kind).keep
        if keep is not None:
            keep(self.table, self.outline, folder, self.earlier, key)


# People -----------------------------------------------------------------------------


def list_open(lines: Sequence[str], history: History | None) -> list[str]:
    """What no promise covers, given what is known of earlier releases."""
    known = history is not None and history.ledger is not None
    return words.list_not_promised(lines, known=known)


def choose_columns(table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a row is told by, and what a person; nothing: by the whole row."""
    roles = table.roles
    columns = tuple(c for c in table.schema.names if c != roles.weight)
    if table.person is not None and table.person.by is not None:
        return columns, (table.person.by,)
    person = (roles.unit,) if roles.unit else roles.identifier
    return columns, tuple(person)


def count_people(table: Table, run: Run) -> int | None:
    """How many rows there are; None where a weight says how many people a row is."""
    return None if table.roles.weight else table.engine.rows(run)


def write_digests(
    table: Table,
    path: Path,
    key: str,
    columns: Sequence[str],
    person: Sequence[str],
    run: Run | None = None,
) -> None:
    """Write the digests of a table's people."""
    weight = table.roles.weight
    query = DigestQuery(str(path), key, tuple(columns), tuple(person), weight)
    table.engine.digest(query, run or Run())


def read_key(file: Path) -> str:
    """The key that a file holds."""
    return file.read_text(encoding="ascii").strip()


def relate_entry(
    entry: LedgerEntry, table: Table, key: str, run: Run
) -> EarlierRelease:
    """Whether an earlier release is of the same rows as a table, or of others."""
    known, needed = set(table.schema.names), {*entry.columns, *entry.person}
    if entry.digests is None or not needed <= known:
        return place_entry(entry, UNKNOWN, None)
    with ScratchFolder() as scratch:
        path = scratch / PEOPLE
        write_digests(table, path, key, entry.columns, entry.person, run)
        overlap = entry.compare_people(path)
    return place_entry(entry, SAME if overlap.same_rows else OTHER, overlap)


def place_entry(
    entry: LedgerEntry, relation: str, overlap: Overlap | None
) -> EarlierRelease:
    """An earlier release with a name and rows that can be compared."""
    rows = {SAME: SAME, OTHER: f"delivery {entry.name}", UNKNOWN: ""}[relation]
    outline = replace(entry.outline, name=entry.name, rows=rows)
    return EarlierRelease(entry, relation, outline, overlap)


# Judging ----------------------------------------------------------------------------


def judge_history(
    outline: ReleaseOutline, table: Table, policy: Policy, run: Run
) -> History:
    """Judge a new release of a table together with all earlier ones that are known."""
    roles = table.roles
    named = (*roles.quasi, *roles.other, *filter(None, [roles.target]))
    known = [c for c in dict.fromkeys(named) if c not in roles.sensitive]
    outline = replace(outline, more={**outline.more, "known": known})
    new = replace(outline, name=THIS, rows=SAME)
    folder = policy.ledger_folder()
    ledger = None if folder is None else Ledger.open(folder)
    bare = History(outline, table, ledger)
    if not policy.earlier and not (ledger and ledger.entries):
        return bare
    with ScratchFolder() as scratch:
        place = scratch
        # Beside what is made for a while, so that one key serves all digests.
        made = ledger.key if ledger else secrets.token_hex(KEY_LETTERS // 2)
        save(key := place / KEY, made, private=True)
        earlier = _list_earlier(policy, ledger, table, new, key, run)
        settled = tuple(_settle(e, table, new, run) for e in earlier)
        open_ = tuple(e for e in settled if not _is_composed(new, e.outline, policy))
        told = _Judging(table, policy, new, open_, key, run).judge() if open_ else ()
    judged = Audit(told) if told else None
    notes = _note_measures(policy, new, open_) if open_ else ()
    notes += _note_budget(policy, new, settled)
    return replace(bare, earlier=settled, together=judged, notes=notes)


def _note_budget(
    policy: Policy, new: ReleaseOutline, earlier: Sequence[EarlierRelease]
) -> tuple[str, ...]:
    """What limits releases with noise together, or would."""
    if new.loss is None or all(e.outline.loss is None for e in earlier):
        return ()
    return (words.UNBUDGETED if policy.budget is None else words.COMPOSED,)


def _is_composed(new: ReleaseOutline, old: ReleaseOutline, policy: Policy) -> bool:
    """Whether two releases are limited together by a budget: both have noise."""
    noisy = new.loss is not None and old.loss is not None
    return policy.budget is not None and noisy


def _note_measures(
    policy: Policy, new: ReleaseOutline, earlier: Sequence[EarlierRelease]
) -> tuple[str, ...]:
    """That measures are of one file, where another one tells something besides."""
    measured = policy.measures and new.kind in ("table", "groups")
    if not measured or any(is_computable(new, e.outline) for e in earlier):
        return ()
    return (words.MEASURES_ALONE,)


def leave_history(
    release: object, policy: Policy, why: str = words.ROWS_ELSEWHERE
) -> History:
    """What is known of a release whose private rows are not at hand, or not in time.

    One that is the only one in the ledger was judged with nothing else.
    """
    folder = policy.ledger_folder()
    ledger = None if folder is None else Ledger.open(folder)
    place = getattr(release, "folder", None)
    own = digest(place / MANIFEST) if isinstance(place, Path) else ""
    others = [e for e in ledger.entries if e.manifest != own] if ledger else []
    if not others and not policy.earlier:
        return History(ledger=ledger)
    earlier = tuple(place_entry(e, UNKNOWN, None) for e in others)
    found = _leave_all(policy, why)
    return History(ledger=ledger, earlier=earlier, together=Audit(found))


def _leave_all(policy: Policy, why: str) -> tuple[Finding, ...]:
    """Every promise and measure, left open."""
    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    return tuple(Finding(p, Verdict.UNDECIDED, note=why) for p in stated)


def _list_earlier(
    policy: Policy,
    ledger: Ledger | None,
    table: Table,
    new: ReleaseOutline,
    key: Path,
    run: Run,
) -> list[EarlierRelease]:
    from privet.release.named_custody import relate_custody

    found = []
    for entry in ledger.entries if ledger else ():
        assert ledger is not None
        found.append(relate_entry(entry, table, ledger.key, run))
    told = [e for e in found if e.overlap is not None]
    if told and all(e.apart for e in told):
        assert ledger is not None
        raise InputError(
            f"The ledger {str(ledger.folder)!r} must be of the people of {table.words};"
            " nobody of them is in it. Name the ledger of this table, or make a new "
            "one."
        )
    listed = {e.entry.custody for e in found}
    for custody in policy.custodies():
        if str(custody.resolve()) not in listed:
            found.append(relate_custody(custody, table, new, key, run))
    return found


def _settle(
    earlier: EarlierRelease, table: Table, new: ReleaseOutline, run: Run
) -> EarlierRelease:
    """The outline with what only the private table tells; other bins: unknown rows."""
    if earlier.relation != SAME:
        return earlier
    columns = earlier.outline.columns.items()
    if any(shown.base != _find_base(c, table, new) for c, shown in columns):
        outline = replace(earlier.outline, rows="")
        return replace(earlier, relation=UNKNOWN, outline=outline)
    complete = _require_joint(earlier.outline.kind).complete
    return replace(earlier, outline=complete(earlier.outline, table, run))


def _find_base(column: str, table: Table, new: ReleaseOutline) -> str | None:
    """The bins of a column now; None: it is none of the table's."""
    if column not in table.schema.names:
        return None
    if column in new.columns:
        return new.columns[column].base
    return describe_bins(table.roles.bins.get(column))


def _require_joint(kind: str) -> JointParts:
    joint = import_kind(HOMES.get(kind, kind)).joint
    assert joint is not None
    return joint


@dataclass(frozen=True, eq=False)
class _Judging:
    """One new release, the earlier ones, and the promises."""

    table: Table
    policy: Policy
    new: ReleaseOutline
    earlier: tuple[EarlierRelease, ...]
    key: Path
    run: Run

    def judge(self) -> tuple[Finding, ...]:
        """A finding for each promise: the gravest of all ways to look at them."""
        own = _require_joint(self.new.kind)
        new = own.complete(self.new, self.table, self.run)
        same = [e for e in self.earlier if e.relation == SAME]
        others = [e for e in self.earlier if e.relation != SAME]
        questions = self._ask()
        if not questions:
            return tuple(self._leave_measures(new))
        found = self._judge_all(new, same, others, questions)
        found = [
            Finding(q.promise, Verdict.UNDECIDED, note=q.open) if q.open else f
            for f, q in zip(found, questions, strict=True)
        ]
        guesses = [replace(q, known=q.guessed) for q in questions if q.guessed]
        if not guesses:
            return tuple(found)
        more = iter(self._judge_all(new, same, others, guesses))
        return tuple(
            _weigh_guess(f, next(more)) if q.guessed else f
            for f, q in zip(found, questions, strict=True)
        )

    def _judge_all(
        self,
        new: ReleaseOutline,
        same: Sequence[EarlierRelease],
        others: Sequence[EarlierRelease],
        questions: Sequence[JointQuestion],
    ) -> list[Finding]:
        """With releases of the same rows, and with other deliveries."""
        found = [self._judge_same(new, same, questions)] if same else []
        if others:
            # What is out already tells all of the new one: with that it is judged.
            out = (e for e in same if is_computable(new, e.outline))
            source = next(out, None)
            shown = new if source is None else source.outline
            beside = [e for e in same if e is not source]
            found.append(self._judge_others(shown, beside, others, questions))
        return [
            max(each, key=lambda f: _GRAVITY.index(f.verdict))
            for each in zip(*found, strict=True)
        ]

    def _ask(self) -> list[JointQuestion]:
        """The promises that any of these releases is about, as questions."""
        kinds = {HOMES.get(o.kind, o.kind) for o in self._outlines}
        of: dict[str, list[Promise]] = defaultdict(list)
        for promise in self.policy.promises:
            about = [k for k in promise.against.looks_at if k in kinds]
            if about:
                of[about[0]].append(promise)
        asked: list[JointQuestion] = []
        for kind, promises in of.items():
            ask = _require_joint(kind).ask
            found = ask(promises, self.table, self.policy.accepted) if ask else None
            asked += found or [JointQuestion(p) for p in promises]
        stated = list(self.policy.promises)
        asked.sort(key=lambda q: stated.index(q.promise))
        return [self._know_more(q) for q in asked]

    def _know_more(self, question: JointQuestion) -> JointQuestion:
        """Somebody who has the earlier releases may know what was known there, too.

        Jobs may be known when jobs are released, and cities when cities are: who has
        both releases may know both.
        """
        roles = self.table.roles
        now = {*roles.quasi, *roles.other, question.about}
        now |= {c for s in question.known for c in s}
        then = [c for e in self.earlier for c in e.outline.more.get("known", ())]
        more = [c for c in dict.fromkeys(then) if c not in now]
        more = [c for c in more if c in self.table.schema.names]
        if not more or not question.known:
            return question
        known, guessed = (
            (*sets, *(tuple(dict.fromkeys((*s, *more))) for s in sets))
            for sets in (question.known, question.guessed)
        )
        return replace(question, known=known, guessed=guessed)

    @property
    def _outlines(self) -> list[ReleaseOutline]:
        return [*(e.outline for e in self.earlier), self.new]

    def _leave_measures(self, new: ReleaseOutline) -> list[Finding]:
        """Measures are of one file; without a promise nothing is known of several."""
        if any(is_computable(new, e.outline) for e in self.earlier):
            return []
        return [
            Finding(m, Verdict.UNDECIDED, note=words.MEASURE)
            for m in self.policy.measures
        ]

    # The same rows ------------------------------------------------------------------

    def _judge_same(
        self,
        new: ReleaseOutline,
        same: Sequence[EarlierRelease],
        questions: Sequence[JointQuestion],
    ) -> list[Finding]:
        outlines = [*(e.outline for e in same), new]
        try:
            results = self._judge_together(outlines, questions)
        except TooLarge as error:
            return [
                Finding(q.promise, Verdict.UNDECIDED, note=str(error))
                for q in questions
            ]
        return [
            self._judge_as_one(r, outlines) if r.ask == "views" else self._accept(r, q)
            for r, q in zip(results, questions, strict=True)
        ]

    def _judge_together(
        self, outlines: Sequence[ReleaseOutline], questions: Sequence[JointQuestion]
    ) -> list[JointResult]:
        count = _require_joint("groups").count
        assert count is not None
        linkers = [q for q in questions if q.known]
        rows = count(self.table, outlines, linkers, self.run) if linkers else None
        return judge_together(
            outlines,
            questions,
            rows,
            several_rows=bool(self.table.roles.unit),
            check=self.run.check,
        )

    def _judge_as_one(
        self, result: JointResult, outlines: Sequence[ReleaseOutline]
    ) -> Finding:
        join = _require_joint("views").join
        assert join is not None
        views = [o for o in outlines if o.kind == "views"]
        return join(self.table, views, result.promise, self.run)

    def _accept(self, result: JointResult, question: JointQuestion) -> Finding:
        """What only matched rows tell may be accepted by name."""
        finding = result.to_finding()
        if result.verdict is not Verdict.UNDECIDED or not result.acceptable:
            return finding
        for entry in self.policy.accepted:
            named = entry.of == result.acceptable and entry.about == question.about
            if named and entry.covers(result.matched_beyond):
                told = f"{translate(finding.note)} {words.say_accepted(entry.why)}"
                return replace(finding, verdict=Verdict.SAFE, note=told)
        return finding

    # Other rows ---------------------------------------------------------------------

    def _judge_others(
        self,
        new: ReleaseOutline,
        same: Sequence[EarlierRelease],
        others: Sequence[EarlierRelease],
        questions: Sequence[JointQuestion],
    ) -> list[Finding]:
        deliver = _require_joint(new.kind).deliver
        tables = {o.outline.kind for o in others} | {new.kind} == {"table"}
        counted = all(e.relation == OTHER for e in others)
        if deliver and tables and counted:
            told = [e for e in same if not is_computable(e.outline, new)]
            if told:
                return self._leave(questions, words.say_mixed(told[0].entry.name))
            return self._deliver(deliver, new, others, questions)
        return self._leave_apart(new, others, questions)

    def _deliver(
        self,
        deliver: Callable[..., list[JointResult]],
        new: ReleaseOutline,
        others: Sequence[EarlierRelease],
        questions: Sequence[JointQuestion],
    ) -> list[Finding]:
        """Deliveries over time, as far as there is arithmetic: linkers, a row each."""
        if self.table.roles.unit:
            return self._leave(questions, joint_words.ONE_PERSON_SEVERAL_ROWS)
        linkers = [q for q in questions if q.known]
        results = deliver(self.table, new, others, linkers, self.key, self.run)
        judged = iter(
            [self._accept(r, q) for r, q in zip(results, linkers, strict=True)]
        )
        (left,) = self._leave(questions[:1], joint_words.INSIDER)
        return [
            next(judged) if q.known else replace(left, promise=q.promise)
            for q in questions
        ]

    def _leave(self, questions: Sequence[JointQuestion], why: str) -> list[Finding]:
        return [Finding(q.promise, Verdict.UNDECIDED, note=why) for q in questions]

    def _leave_apart(
        self,
        new: ReleaseOutline,
        others: Sequence[EarlierRelease],
        questions: Sequence[JointQuestion],
    ) -> list[Finding]:
        """What is of other rows is left open, unless answers of other people."""
        apart = [frozenset((e.outline.name, new.name)) for e in others if e.apart]
        found = []
        for question in questions:
            results = [
                judge_together([e.outline, new], [question], apart=apart)[0]
                for e in others
            ]
            worst = max(results, key=lambda r: _GRAVITY.index(r.verdict))
            found.append(worst.to_finding())
        return found


def _weigh_guess(found: Finding, guess: Finding) -> Finding:
    """What columns nearly tell may leave a promise open, and never accuses."""
    fine = (Verdict.SAFE, Verdict.NOT_APPLICABLE)
    if found.verdict not in fine or guess.verdict in fine:
        return found
    note = f"{translate(guess.note)} {translate(joint_words.NEARLY_TOLD)}"
    return replace(guess, verdict=Verdict.UNDECIDED, witness=None, note=note)


_GRAVITY = (
    Verdict.NOT_APPLICABLE,
    Verdict.SAFE,
    Verdict.NOT_COVERED,
    Verdict.UNDECIDED,
    Verdict.BREACH,
)
