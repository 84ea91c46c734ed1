"""What the method tells, against every private table, listed and published slowly."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from oracle.disclosure import Disclosure, Template
from oracle.test_exchange import take_over
from oracle.test_sweeps import Rule, build
from privet.engine.protocol import CountQuery
from privet.microdata.suppression.disclosure_orders import try_orders
from privet.microdata.suppression.exchange import improve
from privet.release.refine import refine

CASES = int(os.environ.get("PRIVET_CASES", "12"))

Person = tuple[Any, ...]


def slow_beliefs(
    raw: Sequence[Person], names: Sequence[str], case: Disclosure
) -> tuple[int, dict[tuple[Any, ...], tuple[Fraction, Fraction]]]:
    """Every way to give the people behind the file their rows, one by one.

    How many ways fit, and the shares of each value among those who have what is known:
    in all ways, and in those that the method turns into this very file.
    """
    shown = publish(raw, names, case)
    assert shown is not None
    dictionary = {j: sorted({r[i] for r in raw}) for i, j in enumerate(names)}
    cells = [options(row, names, shown, dictionary, case) for row in shown]
    everybody: Counter[Any] = Counter()
    likely: Counter[Any] = Counter()
    fitting = 0
    for world in product(*cells):
        everybody.update(world)
        again = publish(world, names, case)
        if again is not None and again == shown and hides_alike(world, raw, shown):
            fitting += 1
            likely.update(world)
    return fitting, dict(compare(everybody, likely, names, case))


def publish(
    rows: Sequence[Person], names: Sequence[str], case: Disclosure
) -> list[Person] | None:
    """What the definition of top-down disclosure shows for each row."""
    made = Disclosure(
        [{**dict(zip(names, r, strict=True)), "f": "", "n": 1} for r in rows],
        case.templates,
        case.target,
        ordered=case.ordered,
        utility=case.utility,
        split=case.split,
    )
    if not made.feasible():
        return None
    if all(t.holds(made.confidence(t, made.rows)) for t in made.templates):
        return list(rows)  # safe as it is, and published so
    if case.split == "infogain":
        made.run()
    else:
        sweep(made)
    return [show(r, names, made) for r in rows]


def sweep(made: Disclosure) -> None:
    """The same in sweeps, which have an oracle of their own."""
    rules = [Rule(t.qid, (t.value,), t.limit, t.strict) for t in made.templates]
    state = build(made, rules)
    try_orders(state, refine(state), weighted=None)
    improve(state, thorough=False)
    take_over(made, state)


def show(row: Person, names: Sequence[str], made: Disclosure) -> Person:
    cells = []
    for j, value in zip(names, row, strict=True):
        if j in made.cuts:
            ends = sorted(made.cuts[j])
            place = sum(value > e for e in ends)
            low, high = [None, *ends][place], [*ends, None][place]
            alike = {r[j] for r in made.rows if sum(r[j] > e for e in ends) == place}
            label = ("⊥",) if not ends else (low, high)
            cells.append(value if len(alike) == 1 else label)
        elif value in made.hidden.get(j, ()) and len(made.hidden[j]) > 1:
            cells.append("⊥")
        else:
            cells.append(value)
    return tuple(cells)


def hides_alike(
    world: Sequence[Person], raw: Sequence[Person], shown: Sequence[Person]
) -> bool:
    """The manifest tells how many values of a column are hidden."""

    def hidden(rows: Sequence[Person]) -> list[int]:
        return [
            len({r[i] for r, s in zip(rows, shown, strict=True) if s[i] in MARKS})
            for i in range(len(shown[0]))
        ]

    return hidden(world) == hidden(raw)


MARKS = ("⊥", ("⊥",))


def options(
    row: Person,
    names: Sequence[str],
    shown: Sequence[Person],
    dictionary: dict[str, list[Any]],
    case: Disclosure,
) -> list[Person]:
    cells = []
    for i, (j, label) in enumerate(zip(names, row, strict=True)):
        if label == "⊥":
            seen = {s[i] for s in shown}
            cells.append([v for v in dictionary[j] if v not in seen])
        elif label == ("⊥",):
            cells.append(dictionary[j])
        elif isinstance(label, tuple):
            low, high = label
            cells.append(
                [
                    v
                    for v in dictionary[j]
                    if (low is None or v > low) and (high is None or v <= high)
                ]
            )
        else:
            cells.append([label])
    return list(product(*cells))


def compare(
    everybody: Counter[Any],
    likely: Counter[Any],
    names: Sequence[str],
    case: Disclosure,
) -> Iterator[tuple[tuple[Any, ...], tuple[Fraction, Fraction]]]:
    for t in case.templates:
        at, about = [names.index(j) for j in t.qid], names.index(t.column)
        for known in {tuple(r[i] for i in at) for r in everybody}:
            shares = []
            for worlds in (everybody, likely):
                fit = [
                    (r, n)
                    for r, n in worlds.items()
                    if known == tuple(r[i] for i in at)
                ]
                whole = sum(n for _, n in fit)
                part = sum(n for r, n in fit if r[about] == t.value)
                shares.append(Fraction(part, whole) if whole else None)
            if shares[1] is not None and any(shares):
                yield (t.qid, tuple(map(str, known)), t.value), (shares[0], shares[1])


def random_people(dice: random.Random, *, ordered: bool) -> list[Person]:
    first = [1, 2, 3][: dice.randint(2, 3)] if ordered else ["p", "q", "r"]
    second = ["x", "y", "z"][: dice.randint(1, 3)]
    ill = ["hiv", *dice.choices(["hiv", "ok", "ok"], k=dice.randint(2, 5))]
    return [
        (dice.choice(first), dice.choice(second), s, dice.choice(["good", "bad"]))
        for s in ill
    ]


def random_case(dice: random.Random, *, ordered: bool) -> Disclosure:
    sets = [("a", "b"), ("a", "b"), ("a",), ("b",)]
    templates = {
        qid: Template(
            qid, "s", "hiv", Fraction(dice.randint(3, 8), 10), dice.random() < 0.3
        )
        for qid in dice.sample(sets, dice.randint(1, 2))
    }
    return Disclosure(
        [],
        list(templates.values()),
        "k",
        ordered=frozenset("a") if ordered else frozenset(),
        utility=dice.choice(["information", "distortion"]),
    )


NAMES = ["a", "b", "s", "k"]

EXAMPLE = [
    ("Clerk", "Rome", "ok", "good"),
    ("Clerk", "Oslo", "ok", "good"),
    ("Baker", "Bonn", "ok", "good"),
    ("Clerk", "Bonn", "hiv", "good"),
]
"""Four people of whom the method gives one away; see the page of the paper."""


def list_cases(
    dice: random.Random, *, ordered: bool
) -> Iterator[tuple[list[Person], Disclosure]]:
    if not ordered:
        half = Template(("a", "b"), "s", "hiv", Fraction(1, 2))
        yield EXAMPLE, Disclosure([], [half], "k", utility="distortion")
    while True:
        case = random_case(dice, ordered=ordered)
        yield random_people(dice, ordered=ordered), case


@pytest.mark.parametrize("split", ["infogain", "valid"])
@pytest.mark.parametrize("ordered", [False, True])
def test_equals_every_world_published_slowly(ordered: bool, split: str) -> None:
    """One by one as the paper does it, and in sweeps."""
    dice = random.Random(f"minimality {ordered}")
    cases = list_cases(dice, ordered=ordered)
    compared = moved = 0
    while compared < CASES:
        raw, case = next(cases)
        case.split = split
        known = {j for t in case.templates for j in t.qid}
        used = [j for j in NAMES if j in known or j in "sk"]
        at = [NAMES.index(j) for j in used]
        people = [tuple(r[i] for i in at) for r in raw]
        shown = publish(people, used, case)
        if shown is None or shown == people:
            continue
        if (found := attack(people, used, case)) is None:
            continue
        compared += 1
        fitting, beliefs = slow_beliefs(people, used, case)
        mine = {
            (tuple(b.knows), tuple(map(str, b.knows.values())), b.value): (
                b.belief.prior,
                b.belief.posterior,
            )
            for b in found.beliefs
        }
        assert beliefs == mine
        assert 1 <= found.fitting <= min(found.tables, fitting)
        moved += any(before != after for before, after in mine.values())
    # Exchanges of few values leave little to be told by what was not chosen.
    assert moved or (ordered, split) == (True, "valid")


def attack(people: Sequence[Person], names: Sequence[str], case: Disclosure) -> Any:
    columns = {j: [r[i] for r in people] for i, j in enumerate(names)}
    quasi = [j for j in names if j in "ab"]
    table = pv.read(pa.table(columns), quasi=quasi, sensitive="s", target="k")
    promises = [
        pv.Promise(
            pv.Linker(t.qid),
            pv.Ceiling(below=t.limit) if t.strict else pv.Ceiling(t.limit),
            {"s": "hiv"},
            name=f"{t.qid}",
        )
        for t in case.templates
    ]
    paper = case.split == "infogain"
    method = pv.TopDownDisclosure(utility=case.utility, paper=paper)
    release = pv.publish(table, promises, method=method)
    try:
        return pv.Minimality(most=150).attack(release)
    except pv.TooLarge:
        return None


# Groups -----------------------------------------------------------------------------

SIX = [(2, "hiv"), (3, "hiv"), (1, "ok"), (2, "ok"), (2, "ok"), (1, "ok")]
"""People aged 1 to 3 of whom the cuts of Mondrian tell something."""


@pytest.mark.parametrize("case", range(max(CASES // 5, 3)))
def test_groups_equal_every_table_published(case: int) -> None:
    """Mondrian on every table, through the front door, and the rows compared."""
    dice = random.Random(f"minimality in groups {case}")
    ill = ["hiv", "ok", "ok", *dice.choices(["hiv", "ok"], k=dice.randint(0, 2))]
    raw = [(dice.choice([1, 2, 3]), s) for s in ill] if case else SIX
    limit = pv.Ceiling(dice.choice(["3/5", "2/3", "3/4"]) if case else "2/3")
    stated = pv.Promise(pv.Linker(["a"]), limit, {"s": "hiv"})
    file = group(raw, stated)
    found = pv.Minimality().attack(pv.publish(read(raw), stated, method=MONDRIAN))
    before: Counter[Person] = Counter()
    for label, s in file.elements():
        inside = [v for v in {a for a, _ in raw} if allows(label, v)]
        before.update({(v, s): Fraction(1, len(inside)) for v in inside})
    fitting = list_fitting_slowly(raw, file, stated)
    assert len(fitting) == found.fitting
    expected: Counter[Person] = Counter()
    for table in fitting:
        worlds = factorial(len(raw))
        for n in Counter(table).values():
            worlds //= factorial(n)
        expected.update({r: n * worlds for r, n in Counter(table).items()})
    for b in found.beliefs:
        (a,) = map(int, b.knows.values())
        slow = [share(counts, a, b.value) for counts in (before, expected)]
        assert slow == [b.belief.prior, b.belief.posterior]
    if not case:
        assert any(b.belief.prior != b.belief.posterior for b in found.beliefs)


MONDRIAN = pv.Mondrian()


def list_fitting_slowly(
    raw: Sequence[Person], file: Counter[tuple[str, str]], stated: pv.Promise
) -> list[tuple[Person, ...]]:
    ages = sorted({a for a, _ in raw})
    tables = {
        tuple(sorted(zip(chosen, (s for _, s in raw), strict=True)))
        for chosen in product(ages, repeat=len(raw))
    }
    possible = [t for t in sorted(tables) if may_lie_behind(t, file)]
    return [t for t in possible if group(t, stated) == file]


def read(rows: Sequence[Person]) -> pv.Table:
    columns = {"a": [a for a, _ in rows], "s": [s for _, s in rows]}
    return pv.read(pa.table(columns), quasi="a", sensitive="s")


def group(rows: Sequence[Person], stated: pv.Promise) -> Counter[tuple[str, str]]:
    """The rows that Mondrian shows."""
    release = pv.publish(read(rows), stated, method=MONDRIAN)
    found: Counter[tuple[str, str]] = Counter()
    for _, batch in release._table.count([CountQuery(("a",), "s")]):
        for g in range(len(batch)):
            (code,) = batch.keys[g]
            for value, n in batch.histogram(g).items():
                found[str(batch.by[0][code]), str(value)] += n
    return found


def allows(label: str, value: int) -> bool:
    if label.startswith("["):
        low, high = map(int, label[1:-1].split(","))
        return low <= value <= high
    return label == "*" or int(label) == value


def may_lie_behind(table: Sequence[Person], file: Counter[tuple[str, str]]) -> bool:
    """Whether the rows can be dealt to the labels: tried in every order."""
    labels = list(file.elements())
    return any(
        all(t == s and allows(label, a) for (a, t), (label, s) in zip(p, labels))  # noqa: B905
        for p in permutations(table)
    )


def share(counts: Counter[Person], a: int, value: str | None) -> Fraction:
    whole = sum(n for (known, _), n in counts.items() if known == a)
    return Fraction(counts[a, value]) / whole


def test_tables_are_counted_before_they_are_listed() -> None:
    """Eight hidden columns of twenty values were listed: 20 to the 8th, for one row."""
    columns = {f"q{j}": [str((i * (j + 3)) % 20) for i in range(20)] for j in range(8)}
    rows = pa.table({**columns, "ill": ["x"] * 9 + ["y"] * 11})
    promise = pv.Promise(pv.Linker(), pv.Ceiling("11/20"), "ill")
    with pv.read(rows, quasi=list(columns), sensitive="ill") as table:
        release = pv.publish(table, promise)
        with pytest.raises(pv.TooLarge, match=r"there would be about 10\^"):
            pv.Minimality().attack(release)
