"""Releases of the same rows, judged together, against a listing of all worlds."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, prod

import pytest

import privet as pv
from privet.findings import Basis, Verdict
from privet.release.joint.computable import drop_computable, is_computable
from privet.release.joint.joint_results import JointQuestion, JointResult
from privet.release.joint.joint_verdict import judge_together
from privet.release.joint.labelled_rows import LabelledRows
from privet.release.joint.outlines import ReleaseOutline, ShownColumn

CASES = int(os.environ.get("PRIVET_CASES", "240"))

Row = tuple[str, ...]
Rows = Sequence[Row]
File = Counter[tuple[object, ...]] | set[tuple[object, ...]]


def show(release: ReleaseOutline, names: Sequence[str], rows: Rows) -> list[File]:
    """The files of a release."""
    found: list[File] = []
    for together in release.told_together:
        shown = Counter(
            tuple(label(release, c, row[names.index(c)], row, names) for c in together)
            for row in rows
        )
        found.append(shown if release.counted else set(shown))
    return found


def label(
    release: ReleaseOutline, column: str, value: str, row: Row, names: Sequence[str]
) -> object:
    if column in release.boxed:
        return next(
            i
            for i, box in enumerate(release.boxes)
            if all(row[names.index(c)] in box[c] for c in box)
        )
    merged = release.columns[column].merged
    return next((i for i, m in enumerate(merged) if value in m), value)


def list_worlds(
    releases: Sequence[ReleaseOutline],
    names: Sequence[str],
    sizes: Sequence[Row],
    rows: Rows,
) -> Iterator[tuple[int, Rows]]:
    """Every table of raw rows that gives all files, and in how many ways people may
    have its rows."""
    raw = list(product(*sizes))
    files: list[tuple[bool, dict[Row, int], list[int] | set[int]]] = []
    for release in releases:
        for k in range(len(release.told_together)):
            cells: dict[object, int] = {}
            shown = {}
            for row in raw:
                (cell,) = show(release, names, [row])[k]
                shown[row] = cells.setdefault(cell, len(cells))
            told = sorted(shown[r] for r in rows)
            wanted = told if release.counted else set(told)
            files.append((release.counted, shown, wanted))
    for world in combinations_with_replacement(raw, len(rows)):
        for counted, shown, wanted in files:
            told = [shown[r] for r in world]
            if (sorted(told) if counted else set(told)) != wanted:
                break
        else:
            same = prod(factorial(n) for n in Counter(world).values())
            yield factorial(len(world)) // same, world


def believe(
    worlds: Sequence[tuple[int, Rows]], known: Sequence[int], about: int
) -> dict[Row, dict[str, Fraction]]:
    found: dict[Row, Counter[str]] = {}
    for ways, world in worlds:
        for row in world:
            key = tuple(row[i] for i in known)
            found.setdefault(key, Counter())[row[about]] += ways
    return {
        k: {v: Fraction(n, c.total()) for v, n in c.items()} for k, c in found.items()
    }


def match(
    releases: Sequence[ReleaseOutline], names: Sequence[str], rows: Rows, known: Row
) -> Fraction:
    """The largest share of a value among rows that all releases show alike on what is
    known; the value asked about is shown by all."""
    groups: dict[object, Counter[str]] = {}
    for row in rows:
        key = tuple(
            label(r, c, row[names.index(c)], row, names)
            for r in releases
            for c in known
            if c in r.columns
        )
        groups.setdefault(key, Counter())[row[-1]] += 1
    return max(Fraction(max(g.values()), g.total()) for g in groups.values())


def count(names: Sequence[str], sizes: Sequence[Row], rows: Rows) -> LabelledRows:
    coded = Counter(
        tuple(s.index(v) for s, v in zip(sizes, row, strict=True)) for row in rows
    )
    return LabelledRows(tuple(names), tuple(sizes), coded)


def table(name: str, columns: dict[str, ShownColumn], **more: object) -> ReleaseOutline:
    kind = more.pop("kind", "table")
    return ReleaseOutline(name, kind, "rows", columns, **more)  # type: ignore[arg-type]


def draw_column(draw: random.Random, values: Row) -> ShownColumn | None:
    kind = draw.choice(["shown", "hidden", "cut", "any", "lacking", "shown"])
    if kind == "lacking":
        return None
    if kind == "shown":
        return ShownColumn()
    if kind == "hidden":
        return ShownColumn((hidden,) if (hidden := pick(draw, values)) else ())
    if kind == "cut":
        at = draw.randint(1, len(values))
        return ShownColumn(tuple(p for p in (values[:at], values[at:]) if p))
    parts: dict[int, list[str]] = {}
    for v in values:
        parts.setdefault(draw.randrange(2), []).append(v)
    return ShownColumn(tuple(map(tuple, parts.values())))


def pick(draw: random.Random, values: Row) -> Row:
    return tuple(v for v in values if draw.random() < 0.5)


def draw_release(
    draw: random.Random, name: str, names: Sequence[str], sizes: Sequence[Row]
) -> ReleaseOutline:
    columns = {
        c: shown
        for c, values in zip(names[:-1], sizes, strict=False)
        if (shown := draw_column(draw, values)) is not None
    }
    columns[names[-1]] = ShownColumn()
    kind = draw.choice(["table"] * 5 + ["classifier", "views", "bag"])
    if kind == "table" or len(columns) < 2:
        return table(name, columns)
    if kind == "classifier":
        sets = tuple((c, names[-1]) for c in columns if c != names[-1])
        return table(name, columns, kind="classifier", sets=sets)
    if kind == "bag":
        return table(name, columns, kind="views")
    plain = dict.fromkeys(columns, ShownColumn())
    return table(name, plain, kind="views", counted=False)


SIZES = [
    (("p", "q", "r"), ("0", "1")),
    (("p", "q"), ("x", "y"), ("0", "1")),
    (("p", "q", "r"), ("x", "y"), ("0", "1")),
    (("p", "q", "r", "t"), ("0", "1")),
    (("p", "q"), ("x", "y"), ("m", "n"), ("0", "1")),
]


def ask(
    names: Sequence[str], known: Row, limit: str, value: str | None = None
) -> JointQuestion:
    promise = pv.Promise(
        pv.Linker(knows=list(known)), pv.Ceiling(limit), {names[-1]: value or "*"}
    )
    values = None if value is None else (value,)
    return JointQuestion(promise, (known,), names[-1], values)


@pytest.mark.parametrize("releases", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_belief_is_beyond_the_limit_where_it_is_safe(
    seed: int, releases: int
) -> None:
    """Files alone: exact beliefs equal a listing, bounds hold, verdicts follow."""
    draw = random.Random(seed * 10 + releases)
    seen: Counter[Verdict] = Counter()
    for _ in range(CASES // 8):
        sizes = draw.choice(SIZES)
        names = [f"c{i}" for i in range(len(sizes))]
        most = {6: 6, 8: 5, 12: 4, 16: 4}[prod(map(len, sizes))]
        rows = [tuple(map(draw.choice, sizes)) for _ in range(draw.randint(1, most))]
        shown = [draw_release(draw, f"r{k}", names, sizes) for k in range(releases)]
        known = tuple(c for c in names[:-1] if draw.random() < 0.7)
        limit = draw.choice(["1/2", "2/3", "3/4", "9/10"])
        (found,) = judge_together(
            shown, [ask(names, known, limit)], count(names, sizes, rows)
        )
        at = [names.index(c) for c in known]
        worlds = list(list_worlds(shown, names, sizes, rows))
        slow = believe(worlds, at, len(names) - 1)
        worst = max(max(slow[tuple(row[i] for i in at)].values()) for row in rows)
        seen[found.verdict] += 1
        if found.basis is Basis.EXACT:
            assert worst == found.files
        elif found.files is not None:
            assert worst <= found.files
        if found.verdict is Verdict.SAFE:
            assert worst <= Fraction(limit)
        if found.verdict is Verdict.BREACH:
            assert worst > Fraction(limit)
        if found.matching is not None and not found.nothing_new:
            left = drop_computable(shown)
            assert match(left, names, rows, known) == found.matching
    assert {Verdict.SAFE, Verdict.BREACH} <= set(seen)


@pytest.mark.parametrize("seed", range(4))
def test_what_can_be_computed_changes_no_belief(seed: int) -> None:
    draw = random.Random(70 + seed)
    some = 0
    for _ in range(CASES // 4):
        sizes = draw.choice(SIZES)
        names = [f"c{i}" for i in range(len(sizes))]
        most = {6: 6, 8: 5, 12: 4, 16: 4}[prod(map(len, sizes))]
        rows = [tuple(map(draw.choice, sizes)) for _ in range(draw.randint(1, most))]
        first, later = (draw_release(draw, n, names, sizes) for n in "ab")
        if not is_computable(later, first):
            continue
        some += 1
        known = range(len(names) - 1)
        both, alone = (
            believe(list(list_worlds(r, names, sizes, rows)), known, len(names) - 1)
            for r in ([first, later], [first])
        )
        assert alone == both
    assert some > CASES // 40


# Vectors ----------------------------------------------------------------------------


def judge(
    rows: Rows, releases: Sequence[ReleaseOutline], question: JointQuestion
) -> JointResult:
    names = [question.about] if not rows else [*"abs"][-len(rows[0]) :]
    sizes = [tuple(dict.fromkeys(r[i] for r in rows)) for i in range(len(names))]
    (found,) = judge_together(releases, [question], count(names, sizes, rows))
    return found


def job_and_city() -> list[Row]:
    rows: list[Row] = [("T", "U", "hiv"), ("T", "U", "ok")] * 5
    rows += [("A", "V", "hiv")] * 5
    for cell in product("ABC", "VWX"):
        rows += [(*cell, "ok")] * 10
    return rows


S = ShownColumn()


def test_two_safe_tables_give_19_of_21_together() -> None:
    """Each within 1/2, matched rows within 1/2; before, that was called safe."""
    one, two = table("jobs", {"a": S, "s": S}), table("cities", {"b": S, "s": S})
    question = ask("abs", ("a", "b"), "1/2", "hiv")
    found = judge(job_and_city(), [one, two], question)
    assert (Verdict.BREACH, Basis.EXACT) == (found.verdict, found.basis)
    assert (Fraction(19, 21), Fraction(1, 2)) == (found.files, found.matching)
    assert found.witness is not None
    assert {"a": "T", "b": "U"} == found.witness.knows
    assert (("jobs", 5, 10), ("cities", 5, 10)) == found.witness.counts
    alone = judge(job_and_city(), [one, two], ask("abs", ("a",), "1/2", "hiv"))
    assert (Verdict.SAFE, Fraction(1, 2)) == (alone.verdict, alone.files)


def test_matched_rows_alone_beyond_the_limit_are_open() -> None:
    rows = [("p", "x", "1"), ("p", "y", "0"), ("q", "x", "0"), ("q", "y", "1")]
    one, two = table("1", {"a": S, "s": S}), table("2", {"b": S, "s": S})
    found = judge(rows, [one, two], ask("abs", ("a", "b"), "1/2"))
    assert (Verdict.UNDECIDED, "matching") == (found.verdict, found.acceptable)
    assert (Fraction(1, 2), Fraction(1), 4) == (
        found.files,
        found.matching,
        found.matched_beyond,
    )
    assert "Who can tell which rows" in found.to_finding().note


def test_counts_of_a_classifier_are_a_star() -> None:
    rows = [*[("p", "x", "1")] * 2, ("p", "y", "0"), *[("q", "x", "0")] * 2]
    rows += [("q", "y", "1")]
    model = table(
        "model",
        {"a": S, "b": S, "s": S},
        kind="classifier",
        sets=(("a", "s"), ("b", "s")),
    )
    classes = table("classes", {"s": S})
    found = judge(rows, [classes, model], ask("abs", ("a", "b"), "1/2", "1"))
    assert (Fraction(2, 3), Fraction(1)) == (found.files, found.matching)
    assert Verdict.BREACH is found.verdict


def test_groups_that_are_nested_are_exact_and_others_bounded() -> None:
    rows = [("p", "x", "1"), ("p", "y", "0"), ("q", "x", "0"), ("q", "y", "0")]
    shown = {"a": S, "b": S, "s": S}

    def boxes(*parts: str) -> ReleaseOutline:
        cells = [dict(zip("ab", map(tuple, p.split()), strict=True)) for p in parts]
        return table("groups", shown, kind="groups", boxes=tuple(cells))

    by_a = table("table", {"a": S, "s": S})
    question = ask("abs", ("a", "b"), "1/2", "1")
    nested = judge(rows, [boxes("p x", "p y", "q xy"), by_a], question)
    assert (True, Fraction(1)) == (nested.nothing_new, nested.files)
    found = judge(rows, [boxes("p xy", "q xy"), table("t", {"s": S})], question)
    assert (True, Fraction(1, 2)) == (found.nothing_new, found.files)
    crossing = judge(rows, [boxes("pq x", "pq y"), by_a], question)
    assert (Basis.BOUND, Verdict.UNDECIDED) == (crossing.basis, crossing.verdict)
    some = judge(rows, [boxes("pq x", "pq y"), by_a], ask("abs", ("a",), "1/2"))
    assert (Verdict.UNDECIDED, None) == (some.verdict, some.files)


def test_a_table_and_views() -> None:
    """The table hides who is who; the views show that b = x goes with s = 1."""
    rows = [("p", "x", "1"), ("p", "y", "0"), ("q", "y", "0"), ("q", "x", "1")]
    first = table("table", {"a": S, "s": S})
    views = table("views", {"b": S, "s": S}, kind="views", counted=False)
    question = ask("abs", ("a", "b"), "1/2", "1")
    found = judge(rows, [first, views], question)
    assert (Verdict.BREACH, Fraction(1)) == (found.verdict, found.files)
    nothing = table("v", {"a": S, "s": S}, kind="views", counted=False)
    again = judge(rows, [first, nothing], ask("abs", ("a",), "1/2", "1"))
    assert (Verdict.SAFE, True) == (again.verdict, again.nothing_new)


def answers(name: str, gamma: str, **more: object) -> ReleaseOutline:
    return table(
        name,
        {"s": S},
        kind="responses",
        transformed=True,
        gamma=Fraction(gamma),
        **more,
    )


def test_disguised_answers_that_can_be_attributed() -> None:
    """Group 1, 0; truth with 3/4; answers 1, 0: 9/10, by gamma 3 squared."""
    rows = [("p", "x", "1"), ("p", "x", "0")]
    first = table("table", {"a": S, "s": S})
    question = ask("abs", ("a",), "17/20", "1")
    found = judge(rows, [first, answers("survey", "3", attributable=True)], question)
    assert (Verdict.UNDECIDED, Fraction(9, 10)) == (found.verdict, found.files)
    loose = judge(
        rows,
        [first, answers("survey", "3", attributable=True)],
        ask("abs", ("a",), "9/10", "1"),
    )
    assert Verdict.SAFE is loose.verdict
    unknown = judge(rows, [first, answers("survey", "3")], question)
    assert (Verdict.SAFE, True) == (unknown.verdict, unknown.nothing_new)


def test_answers_of_the_same_people_multiply() -> None:
    promise = pv.Promise(pv.Bayesian(prior="any"), pv.Shift("1/10", "1/2"), "s")
    twice = [answers("may", "2"), answers("june", "3")]
    (found,) = judge_together(twice, [JointQuestion(promise)])
    assert Verdict.SAFE is found.verdict  # 6 < 9
    (more,) = judge_together([*twice, answers("july", "2")], [JointQuestion(promise)])
    assert Verdict.UNDECIDED is more.verdict


OTHERS = {
    "transformed classifier": table(
        "m", {"b": S, "s": S}, kind="classifier", transformed=True
    ),
    "views, in groups": table("v", {"b": S, "s": S}, kind="views", counted=False),
}


@pytest.mark.parametrize("other", OTHERS)
def test_pairs_without_arithmetic_are_named(other: str) -> None:
    rows = [("p", "x", "1"), ("q", "y", "0")]
    first = table("t", {"a": S, "s": S})
    if "groups" in other:
        boxes = ({"a": ("p", "q")},)
        first = table("t", {"a": S, "s": S}, kind="groups", boxes=boxes)
    found = judge(rows, [first, OTHERS[other]], ask("abs", ("a",), "1/2"))
    assert (Verdict.UNDECIDED, {"t", OTHERS[other].name}) == (
        found.verdict,
        set(found.between),
    )
    assert "cannot be told" in found.reason


def test_insiders_and_people_with_several_rows_are_left_open() -> None:
    rows = count("as", [("p",), ("0", "1")], [("p", "0"), ("p", "1")])
    one, two = table("1", {"a": S, "s": S}), table("2", {"b": S, "s": S})
    insider = JointQuestion(pv.Promise(pv.Insider(), pv.Ceiling("1/2"), "s"))
    (found,) = judge_together([one, two], [insider], rows)
    assert (Verdict.UNDECIDED, True) == (found.verdict, "insider" in found.reason)
    (again,) = judge_together([one, one], [insider], rows)
    assert (True, True) == (again.nothing_new, again.passes)
    question = ask("as", ("a",), "1/2")
    (several,) = judge_together([one, two], [question], rows, several_rows=True)
    assert "several rows" in several.reason


def test_other_rows_are_asked_of_their_parts() -> None:
    one = ReleaseOutline("may", "table", "rows of may", {"a": S})
    two = ReleaseOutline("june", "table", "rows of june", {"a": S})
    (found,) = judge_together([one, two], [ask("as", ("a",), "1/2")])
    assert (Verdict.UNDECIDED, "deliveries") == (found.verdict, found.ask)
    survey = ReleaseOutline("survey", "responses", "x", {"a": S}, transformed=True)
    apart = [frozenset(("survey", "june"))]
    (alone,) = judge_together([survey, two], [ask("as", ("a",), "1/2")], apart=apart)
    assert (True, True) == (alone.nothing_new, alone.passes)


def test_views_are_judged_by_their_own_kind() -> None:
    one = table("1", {"a": S, "s": S}, kind="views", counted=False)
    two = table("2", {"b": S, "s": S}, kind="views", counted=False)
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"), "s")
    (found,) = judge_together([one, two], [JointQuestion(promise)])
    assert "views" == found.ask


def test_outlines_survive_a_ledger() -> None:
    outline = table(
        "t",
        {"a": ShownColumn((("p", None),), "[1, 2]"), "s": S},
        kind="groups",
        boxes=({"a": ("p", None)},),
        gamma=Fraction(3, 2),
        more={"recipe": {"recipe": 1}},
    )
    again = ReleaseOutline.from_dict(outline.to_dict())
    assert outline.to_dict() == again.to_dict()
    assert outline.columns == again.columns


@pytest.mark.parametrize("seed", range(12))
def test_groups_of_other_columns_than_those_of_another_release(seed: int) -> None:
    """Boxes over a beside boxes over a and b; b is shown as it is, or not at all."""
    draw, sizes = random.Random(seed), SIZES[2]
    rows = [tuple(map(draw.choice, sizes)) for _ in range(draw.randint(3, 5))]
    shown = {"a": S, "s": S} | ({"b": S} if seed % 2 else {})
    some = ({"a": ("p", "q")}, {"a": ("r",)})
    both = ({"a": ("p",), "b": ("x", "y")}, {"a": ("q", "r"), "b": ("x", "y")})
    releases = [
        table("first", shown, kind="groups", boxes=some),
        table("second", {"a": S, "b": S, "s": S}, kind="groups", boxes=both),
    ]
    question = ask("abs", ("a", "b"), "1")
    (found,) = judge_together(releases, [question], count("abs", sizes, rows))
    slow = believe(list(list_worlds(releases, "abs", sizes, rows)), (0, 1), 2)
    worst = max(max(slow[row[:2]].values()) for row in rows)
    assert found.files is not None
    assert worst <= found.files
    if found.basis is Basis.EXACT:
        assert worst == found.files


def test_groups_tell_no_column_that_a_later_release_shows_as_it_is() -> None:
    """The first release shows nothing but s; the later one that b = x goes with 1."""
    rows = [("p", "x", "1"), *(("p", "y", "0"),) * 2, *(("q", "y", "0"),) * 2]
    shown = {"a": S, "b": S, "s": S}
    all_ = ({"a": ("p", "q"), "b": ("x", "y")},)
    releases = [
        table("first", shown, kind="groups", boxes=all_),
        table("later", shown, kind="groups", boxes=({"a": ("p", "q")},)),
    ]
    found = judge(rows, releases, ask("abs", ("a", "b"), "4/5"))
    assert (Verdict.BREACH, Fraction(1)) == (found.verdict, found.files)
    assert not is_computable(releases[1], releases[0])


def group_by(columns: str, *parts: str, more: str = "") -> ReleaseOutline:
    """Groups of boxes over some columns, with others beside them as they are."""
    cells = [dict(zip(columns, map(tuple, p.split()), strict=True)) for p in parts]
    shown = dict.fromkeys([*columns, *more, "s"], S)
    return table(f"by {columns}", shown, kind="groups", boxes=tuple(cells))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (group_by("ab", "p x", "p y", "q xy"), group_by("ac", "p uv", "q u", "q v")),
        (group_by("ab", "p xy", "q xy"), group_by("c", "u", "v")),
        (group_by("ab", "p x", "p y", "q xy", more="c"), group_by("c", "uv")),
        (group_by("ab", "p xy", "q xy", more="c"), group_by("ac", "pq u", "pq v")),
    ],
)
def test_groups_over_different_columns_are_judged_together(
    first: ReleaseOutline, second: ReleaseOutline
) -> None:
    rows = [
        ("p", "x", "u", "1"),
        ("p", "y", "v", "0"),
        ("q", "x", "u", "0"),
        ("q", "y", "v", "1"),
        ("q", "y", "u", "0"),
    ]
    sizes = [("p", "q"), ("x", "y"), ("u", "v"), ("0", "1")]
    releases = [first, second]
    listed = believe(list(list_worlds(releases, "abcs", sizes, rows)), (0, 1, 2), 3)
    worst = max(share for own in listed.values() for share in own.values())
    asked = ask("abcs", ("a", "b", "c"), "9/10")
    (found,) = judge_together(releases, [asked], count("abcs", sizes, rows))
    if found.basis is Basis.EXACT:
        assert worst == found.files
    if found.verdict is Verdict.SAFE:
        assert worst <= Fraction(9, 10)
    assert found.files is None or worst <= found.files
    assert match(releases, "abcs", rows, ("a", "b", "c")) == found.matching
