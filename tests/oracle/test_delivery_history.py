"""Deliveries over time: verdicts against a listing of who may be who."""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import pytest

import privet as pv
from privet.findings import Basis, Verdict
from privet.release.joint.delivery_history import DeliveryHistory
from privet.release.joint.joint_results import JointQuestion
from privet.release.joint.same_rows import JointColumn, Labels

CASES = int(os.environ.get("PRIVET_CASES", "240"))

Links = frozenset[tuple[int, int]]
Shares = dict[object, dict[int, Fraction]]
NAMES = ("a", "b", "s")
VALUES = {"a": ["p", "q", "r"], "b": ["x", "y"], "s": ["0", "1"]}


def ask(known: tuple[str, ...], limit: str, value: str | None = None) -> JointQuestion:
    about = {"s": value or "*"}
    promise = pv.Promise(pv.Linker(knows=list(known)), pv.Ceiling(limit), about)
    return JointQuestion(promise, (known,), "s", None if value is None else (value,))


def history(
    people: Mapping[tuple[int, ...], Sequence[Labels]],
    labels: Mapping[str, Sequence[Labels]] | None = None,
    deliveries: int = 2,
) -> DeliveryHistory:
    """Rows of codes; what is not given is shown as it is."""
    columns = []
    for c in NAMES:
        plain = tuple(range(len(VALUES[c])))
        shown = (labels or {}).get(c, [plain] * deliveries)
        columns.append(JointColumn(c, tuple(shown)))
    return DeliveryHistory(
        tuple(columns),
        {p: Counter(rows) for p, rows in people.items()},
        tuple(f"d{k}" for k in range(deliveries)),
        VALUES,
    )


def list_matchings(
    first: Sequence[Labels], second: Sequence[Labels], size: int
) -> Iterator[Links]:
    """Every way to say which rows that look alike are the same people's."""

    def go(i: int, free: frozenset[int], left: int) -> Iterator[Links]:
        if left > len(first) - i:
            return
        if i == len(first):
            yield frozenset()
            return
        yield from go(i + 1, free, left)
        for j in free if left else ():
            if second[j] == first[i]:
                for rest in go(i + 1, free - {j}, left - 1):
                    yield rest | {(i, j)}

    for links in go(0, frozenset(range(len(second))), size):
        if len(links) == size:
            yield links


def share(found: Mapping[object, Counter[int]]) -> Shares:
    return {
        g: {v: Fraction(n, c.total()) for v, n in c.items()} for g, c in found.items()
    }


def list_beliefs(
    shown: DeliveryHistory, known: Sequence[int], i: int, j: int
) -> Iterator[Shares]:
    """What two files tell of who is new, gone, in both: all matchings alike."""
    rows = [
        [r for p, c in shown.people.items() if k in p for r in Counter(c).elements()]
        for k in (i, j)
    ]
    coarse = shown.find_coarser(i, j)
    assert coarse is not None
    told = [[shown._show(coarse, r) for r in file] for file in rows]
    own = [
        [shown._show(k, r) for r in file] for k, file in zip((i, j), rows, strict=True)
    ]
    stayed = sum(
        sum(Counter(c).values()) for p, c in shown.people.items() if i in p and j in p
    )
    found: list[dict[object, Counter[int]]] = [defaultdict(Counter) for _ in range(4)]
    for links in list_matchings(told[0], told[1], stayed):
        for side in (0, 1):
            linked = {link[side] for link in links}
            for at, row in enumerate(own[side]):
                group = tuple(row[c] for c in known)
                found[2 * (at in linked) + side][group][row[-1]] += 1
    return map(share, found)


def judge(shown: DeliveryHistory, question: JointQuestion) -> tuple[Fraction, bool]:
    """The worst belief of a listing over pairs of deliveries."""
    at = [NAMES.index(c) for c in question.known[0]]
    worst = Fraction(0)
    last = len(shown.names)
    for i in range(last):
        for j in range(i + 1, last):
            for shares in list_beliefs(shown, at, i, j):
                for values in shares.values():
                    worst = max([worst, *values.values()])
    return worst, True


def draw_rows(draw: random.Random, most: int) -> list[Labels]:
    return [
        (draw.randrange(3), draw.randrange(2), draw.randrange(2))
        for _ in range(draw.randint(0, most))
    ]


def draw_labels(draw: random.Random, deliveries: int) -> dict[str, list[Labels]]:
    """Column a as each delivery shows it, coarser and coarser or finer and finer."""
    steps: list[Labels] = [(0, 1, 2)]
    for _ in range(deliveries - 1):
        steps.append(draw.choice([steps[-1], (0, 1, 1), (0, 0, 0)]))
    order: dict[Labels, int] = {(0, 1, 2): 0, (0, 1, 1): 1, (0, 0, 0): 2}
    steps.sort(key=order.__getitem__, reverse=draw.random() < 0.4)
    return {"a": steps}


@pytest.mark.parametrize("seed", range(6))
def test_no_belief_is_beyond_the_limit_where_two_deliveries_are_safe(seed: int) -> None:
    draw = random.Random(seed)
    seen: Counter[Verdict] = Counter()
    for _ in range(CASES // 6):
        sizes: list[tuple[Labels, int]] = [((0,), 3), ((0, 1), 4), ((1,), 3)]
        people = {p: rows for p, most in sizes if (rows := draw_rows(draw, most))}
        shown = history(people, draw_labels(draw, 2))
        known = draw.choice([("a", "b"), ("a",), ("b",), ()])
        question = ask(known, draw.choice(["1/2", "2/3", "3/4", "9/10"]))
        found = shown.judge(question)
        worst, _ = judge(shown, question)
        seen[found.verdict] += 1
        assert found.files is not None
        assert worst <= found.files
        if found.basis is Basis.EXACT and found.verdict is not Verdict.UNDECIDED:
            assert worst == found.files
        if found.verdict is Verdict.SAFE:
            assert question.promise.limit.holds(pv.Belief(0, worst))
            parts = list_parts(shown, known)
            assert all(question.promise.limit.holds(pv.Belief(0, b)) for b in parts)
        if found.verdict is Verdict.BREACH:
            assert not question.promise.limit.holds(pv.Belief(0, worst))
    assert len(seen) >= 2


def list_parts(shown: DeliveryHistory, known: Sequence[str]) -> Iterator[Fraction]:
    """Shares among those who came, stayed or left, as the coarser delivery shows."""
    coarse, at = shown.find_coarser(0, 1), [NAMES.index(c) for c in known]
    assert coarse is not None
    for rows in shown.people.values():
        groups: dict[object, Counter[int]] = defaultdict(Counter)
        for raw, n in rows.items():
            row = shown._show(coarse, raw)
            groups[tuple(row[i] for i in at)][row[-1]] += n
        for values in share(groups).values():
            yield from values.values()


@pytest.mark.parametrize("deliveries", [3, 4])
def test_who_came_and_left_in_between(deliveries: int) -> None:
    """Chains of matchings, each delivery with the next; where nothing cancels."""
    draw = random.Random(deliveries)
    checked = 0
    for _ in range(CASES):
        spans = [(i, j) for i in range(deliveries) for j in range(i, deliveries)]
        people = {
            tuple(range(i, j + 1)): rows
            for i, j in spans
            if (rows := draw_rows(draw, 2 if deliveries == 3 else 1))
        }
        shown = history(people, deliveries=deliveries)
        known = draw.choice([("a", "b"), ("a",), ("b",), ()])
        steps = [
            shown._step(k, k + 1, 0, lambda r: (r, 0)) for k in range(deliveries - 1)
        ]
        if any(step.cancelled for step in steps):
            continue
        worst = list_stays(shown, [NAMES.index(c) for c in known], deliveries)
        if worst is None:
            continue
        checked += 1
        found = shown.judge(ask(known, "3/4"))
        assert found.files is not None
        assert worst <= found.files
        if found.verdict is Verdict.SAFE:
            assert worst <= Fraction(3, 4)
        alone = shown.judge(ask(known, str(worst)))
        exact = alone.basis is Basis.EXACT  # no rows of the first and last cancel
        if exact and judge(shown, ask(known, "1"))[0] <= worst < 1:
            assert worst == alone.files
    assert checked > CASES // 60


def list_stays(
    shown: DeliveryHistory, known: Sequence[int], deliveries: int
) -> Fraction | None:
    """The worst belief about who came at i and left after j, by listing all chains."""
    files = [
        [
            shown._show(k, r)
            for p, c in shown.people.items()
            if k in p
            for r in Counter(c).elements()
        ]
        for k in range(deliveries)
    ]
    steps = []
    for k, (one, other) in enumerate(pairwise(files)):
        stayed = sum(
            sum(Counter(c).values())
            for p, c in shown.people.items()
            if k in p and k + 1 in p
        )
        found = list(list_matchings(one, other, stayed))
        if len(found) > 60:
            return None
        steps.append(found)
    counts: dict[tuple[int, int, object], Counter[int]] = defaultdict(Counter)
    for i in range(1, deliveries - 1):
        for j in range(i, deliveries - 1):
            count_chains(files, steps, known, i, j, counts)
    shares = share(counts)  # type: ignore[arg-type]
    return max((b for v in shares.values() for b in v.values()), default=None)


def count_chains(
    files: Sequence[Sequence[Labels]],
    steps: Sequence[Sequence[Links]],
    known: Sequence[int],
    i: int,
    j: int,
    counts: dict[tuple[int, int, object], Counter[int]],
) -> None:
    # Matchings of different steps are independent: weigh each row by shares.
    def chance(k: int, at: int, side: int) -> Fraction:
        return Fraction(
            sum(at in {link[side] for link in m} for m in steps[k]), len(steps[k])
        )

    new = [1 - chance(i - 1, at, 1) for at in range(len(files[i]))]
    for k in range(i, j):
        follows = [Fraction(0)] * len(files[k + 1])
        for m in steps[k]:
            for a, b in m:
                follows[b] += new[a] / len(steps[k])
        new = follows
    scale = 1
    weights = [n * (1 - chance(j, at, 0)) for at, n in enumerate(new)]
    for n in weights:
        scale = scale * n.denominator
    for at, n in enumerate(weights):
        row = files[j][at]
        if n:
            group = tuple(row[c] for c in known)
            counts[i, j, group][row[-1]] += int(n * scale)


# Vectors ----------------------------------------------------------------------------


def test_a_single_newcomer_is_seen_by_subtraction() -> None:
    """The recommended recipe again: each file is safe, their difference is one row."""
    stayed = [(0, 0, 0)] * 3 + [(0, 0, 1)]
    found = history({(0, 1): stayed, (1,): [(0, 0, 1)]}).judge(
        ask(("a", "b"), "1/2", "1")
    )
    assert (Verdict.BREACH, Fraction(1)) == (found.verdict, found.files)
    assert found.witness is not None
    assert {"a": "p", "b": "x"} == found.witness.knows
    assert "subtracts the deliveries" in found.reason


def test_enough_newcomers_are_safe() -> None:
    stayed = [(0, 0, 0)] * 3 + [(0, 0, 1)]
    came = [(0, 0, 0), (0, 0, 1)]
    found = history({(0, 1): stayed, (1,): came}).judge(ask(("a", "b"), "1/2", "1"))
    assert (Verdict.SAFE, Fraction(1, 2)) == (found.verdict, found.files)


def test_fine_groups_told_as_one_when_they_left() -> None:
    """Groups w: 0 0 1 1 and x: 0 0; 0 and 1 left, told as one: in w, 1 with 2/3."""
    fine, coarse = (0, 1, 2), (0, 0, 2)
    stayed = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 0)]
    left = [(0, 0, 0), (0, 0, 1)]
    shown = history({(0, 1): stayed, (0,): left}, {"a": [fine, coarse]})
    found = shown.judge(ask(("a",), "1/2", "1"))
    assert (Verdict.BREACH, Fraction(2, 3)) == (found.verdict, found.files)


def test_rows_that_cancel_leave_it_open() -> None:
    """One with 1 came, one with 1 left, another 1 came: at most, and on average."""
    people = {(0, 1): [(0, 0, 0)] * 2, (0,): [(0, 0, 1)], (1,): [(0, 0, 1)] * 2}
    found = history(people).judge(ask(("a",), "9/10", "1"))
    assert Verdict.UNDECIDED is found.verdict
    strict = history(people).judge(ask(("a",), "1/2", "1"))
    assert (Verdict.BREACH, Fraction(3, 5)) == (strict.verdict, strict.files)


def test_recipes_that_cross_are_left_open() -> None:
    labels = {"a": [(0, 0, 2), (0, 1, 1)]}
    found = history({(0, 1): [(0, 0, 0), (1, 0, 1)]}, labels).judge(ask(("a",), "1"))
    assert (Verdict.UNDECIDED, None) == (found.verdict, found.files)
    assert "neither shows everywhere less" in found.reason


def test_a_column_that_is_not_shown_plainly_is_left_open() -> None:
    found = history({(0, 1): [(0, 0, 0)]}, {"s": [(0, 1), (0, 0)]}).judge(
        ask(("a",), "1/2")
    )
    assert "not shown as it is" in found.reason
