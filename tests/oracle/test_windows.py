"""Windows of a number equal their definition: in audits, searches and releases."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from oracle import windows as definition
from privet.microdata.recipe import Cut, Hide
from privet.microdata.suppression.cubes.window_cube import WindowCube
from privet.release.joint.joint_results import JointQuestion
from privet.release.joint.surest_values import SurestValues
from privet.values.contingency import Domain
from privet.values.windows import Windows, Within

CASES = int(os.environ.get("PRIVET_CASES", "24"))
WIDTHS = ["1", "2.5", "10", "1/3", "10 %", "50 %", "100 %", "12.5 %"]
NUMBERS = ["-11", "-10", "-2.5", "-0.1", "0", "0.1", "0.11", "1", "2", "2.2", "3", "11"]


def about(within: str) -> dict[str, dict[str, str]]:
    return {"pay": {"within": within}}


def groups_of(histograms: list[dict[str, int]]) -> pv.Groups:
    return pv.Groups.from_histograms(histograms, about="pay")


def random_histogram(dice: random.Random, most: int = 5) -> dict[str, int]:
    chosen = dice.sample(NUMBERS, dice.randint(1, most))
    return {x: dice.randint(1, 3) for x in chosen}


def test_the_vectors_of_two_groups() -> None:
    first = dict.fromkeys(["1", "5", "11", "12", "30"], 1)
    groups = groups_of([first, {"2": 2, "40": 1, "41": 1}])
    found = pv.belief(groups, pv.Linker(), about=about("10"))
    assert Fraction(3, 5) == found.posterior
    assert Fraction(3, 5) == definition.belief(list(groups.histograms()), "10")


def test_taking_single_rows_out_can_make_others_surer() -> None:
    three, two = groups_of([{"1": 1, "2": 1, "9": 1}]), groups_of([{"1": 1, "2": 1}])
    sure = [pv.belief(g, pv.Linker(), about=about("1")) for g in (three, two)]
    assert [Fraction(2, 3), Fraction(1)] == [s.posterior for s in sure]


@pytest.mark.parametrize("seed", range(CASES))
def test_beliefs_of_linkers_and_insiders(seed: int) -> None:
    dice = random.Random(seed)
    histograms = [random_histogram(dice) for _ in range(dice.randint(1, 3))]
    groups, width = groups_of(histograms), dice.choice(WIDTHS)
    for l, k in [(0, 0), (1, 0), (0, 2), (2, 1), (3, 0)]:
        who = pv.Insider(rules_out=l, knows_others=k) if l or k else pv.Linker()
        found = pv.belief(groups, who, about=about(width))
        expected = definition.belief(list(groups.histograms()), width, l, k)
        assert expected == found.posterior, (histograms, width, l, k)


@pytest.mark.parametrize("seed", range(CASES))
def test_companions_are_bounded(seed: int) -> None:
    """Each window by itself is a value, whose exact belief is known; see `skyline`."""
    dice = random.Random(seed)
    histograms = [random_histogram(dice, 4) for _ in range(dice.randint(1, 3))]
    width, l, k = dice.choice(WIDTHS), dice.randint(0, 1), dice.randint(0, 2)
    who = pv.Insider(rules_out=l, knows_others=k, same_as=dice.randint(1, 2))
    promise = pv.Promise(who, pv.Ceiling(1), about(width))
    (found,) = pv.audit(groups_of(histograms), [promise]).findings
    worst = Fraction(0)
    for window in definition.list_windows({t for h in histograms for t in h}, width):
        merged = []
        for histogram in histograms:
            own: dict[str, int] = {}
            for text, n in histogram.items():
                name = "W" if definition.lies(window, text) else text
                own[name] = own.get(name, 0) + n
            merged.append(own)
        exact = pv.belief(groups_of(merged), who, about={"pay": "W"}).posterior
        worst = max(worst, exact)
    assert found.belief is not None
    assert worst <= found.belief.posterior
    if found.basis.value == "exact":
        assert worst == found.belief.posterior
    else:
        assert found.at_least is not None
        assert found.at_least <= worst


@pytest.mark.parametrize("seed", range(CASES))
def test_merging_never_raises_and_parting_never_lowers(seed: int) -> None:
    dice = random.Random(seed)
    parts = [random_histogram(dice) for _ in range(3)]
    whole: dict[str, int] = {}
    for part in parts:
        for text, n in part.items():
            whole[text] = whole.get(text, 0) + n
    width = about(dice.choice(WIDTHS))
    who = pv.Insider(
        rules_out=dice.randint(0, 2),
        knows_others=dice.randint(0, 2),
        same_as=dice.randint(0, 2),
    )
    for adversary in (pv.Linker(), who):
        merged = pv.belief(groups_of([whole]), adversary, about=width)
        apart = pv.belief(groups_of(parts), adversary, about=width)
        assert merged.posterior <= apart.posterior


# Tables -----------------------------------------------------------------------------


def random_rows(dice: random.Random, most: int = 12) -> list[tuple[str, str, object]]:
    return [
        (dice.choice("xyz"), dice.choice("pq"), dice.choice([*NUMBERS, None]))
        for _ in range(dice.randint(2, most))
    ]


def frame(rows: list[tuple[str, str, object]], kind: str) -> pa.Table:
    read = {"decimal": Decimal, "double": float}[kind]
    pay = [None if r[2] is None else read(r[2]) for r in rows]
    form = pa.decimal128(8, 3) if kind == "decimal" else pa.float64()
    a, b = ([r[i] for r in rows] for i in (0, 1))
    return pa.table({"a": a, "b": b, "pay": pa.array(pay, form)})


@pytest.mark.engines
@pytest.mark.parametrize("seed", range(max(CASES // 5, 1)))
def test_tables_with_missing_numbers_decimals_and_doubles(seed: int) -> None:
    dice = random.Random(seed)
    rows, kind = random_rows(dice), dice.choice(["decimal", "double"])
    width = dice.choice(WIDTHS)
    with pv.read(frame(rows, kind), quasi=["a", "b"], sensitive="pay") as table:
        for knows, at in ((["a"], (0, 2)), (["b"], (1, 2)), (["a", "b"], (0, 1, 2))):
            linker = pv.Linker(knows=knows)
            found = pv.belief(table, linker, about=about(width))
            expected = definition.share([tuple(r[i] for i in at) for r in rows], width)
            assert expected == found.posterior
        one = pv.belief(table, pv.Linker(knows_any=1), about=about(width)).posterior
        assert one == max(
            definition.share([(r[i], r[2]) for r in rows], width) for i in (0, 1)
        )


@pytest.mark.engines
def test_a_double_is_compared_as_it_is_shown() -> None:
    # 0.1 + 0.2 is shown as 0.30000000000000004: more than 0.2 from 0.1.
    pay = pa.table({"a": ["x"] * 3, "pay": [0.1, 0.3, 0.1 + 0.2]})
    with pv.read(pay, quasi=["a"], sensitive="pay") as table:
        found = pv.belief(table, pv.Linker(), about=about("0.2"))
    assert Fraction(2, 3) == found.posterior


# Several releases -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(CASES))
def test_beliefs_in_values_add_up_to_those_in_windows(seed: int) -> None:
    dice = random.Random(seed)
    values = dice.sample([*NUMBERS, None], dice.randint(1, 8))
    width = dice.choice(WIDTHS)
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), about(width))
    question = JointQuestion(promise, about="pay", within=Within.read(width))
    parts = [dice.randint(0, 5) for _ in values]
    whole = sum(parts) or 1
    beliefs = {i: Fraction(n, whole) for i, n in enumerate(parts)}
    found = SurestValues.of(question, values).find(beliefs)
    listed = [
        sum((beliefs[i] for i, v in enumerate(values) if definition.lies(w, v)), 0)
        for w in definition.list_windows(values, width)
    ]
    assert max(listed, default=0) == (0 if found is None else found[1])


# Disclosure -------------------------------------------------------------------------


def brute(rows: list[tuple[int, int, str]], width: str) -> Fraction:
    return definition.share(rows, width)


@pytest.mark.parametrize("seed", range(CASES))
def test_looking_ahead_equals_showing_each_value(seed: int) -> None:
    """Conf once each value were shown, or each cut made, and whether that is beyond."""
    dice = random.Random(seed)
    width, limit = dice.choice(WIDTHS), pv.Ceiling(dice.choice(["1/2", "2/3"]))
    rows = [
        (dice.randrange(4), dice.randrange(3), dice.choice(NUMBERS))
        for _ in range(dice.randint(2, 14))
    ]
    domain = Domain("pay", sorted({r[2] for r in rows}), "number")
    found = Windows.of(domain, Within.read(width))
    counts: dict[tuple[int, int, str], int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    cells = sorted(counts)
    first = [i == 0 or cells[i - 1][:2] != c[:2] for i, c in enumerate(cells)]
    people = [sum(r[:2] == c[:2] for r in rows) for c in cells]
    cube = WindowCube(
        [0, 1],
        [np.array([c[j] for c in cells]) for j in (0, 1)],
        np.zeros(len(cells), dtype=np.int64),
        np.where(first, people, 0),
        found.place[[domain.code(c[2]) for c in cells]],
        np.array([counts[c] for c in cells]),
        found,
        [limit],
    )
    ordered = [dice.random() < 0.5, dice.random() < 0.5]
    shown: list[set[int]] = [set(), set()]
    for _ in range(5):
        now = brute(show(rows, shown, ordered), width)
        assert [now] == cube.confidences
        wanted = [np.ones(4, dtype=bool), np.ones(3, dtype=bool)]
        ahead = cube.look_ahead(cube.view(), wanted, ordered)
        moves = []
        for a, size in ((0, 4), (1, 3)):
            for x in range(size):
                if x in shown[a]:
                    continue
                more = [s | ({x} if i == a else set()) for i, s in enumerate(shown)]
                after = brute(show(rows, more, ordered), width)
                told = Fraction(ahead[a].confidence[0, x]).limit_denominator(1000)
                assert after == max(now, told)
                if limit.holds(pv.Belief(0, now)):
                    assert limit.holds(pv.Belief(0, after)) == (not ahead[a].broken[x])
                moves.append((a, x))
        if not moves:
            return
        a, x = dice.choice(moves)
        low = x
        if ordered[a]:
            low = max([c + 1 for c in shown[a] if c < x], default=0)
        shown[a].add(x)
        cube.split(a, low, x)


def show(
    rows: list[tuple[int, int, str]], shown: list[set[int]], ordered: list[bool]
) -> list[tuple[int, int, str]]:
    """Rows as they look: hidden values are -1, intervals their number of cuts."""
    looks = []
    for *codes, pay in rows:
        own = [
            sum(c < x for c in s) if cut else (x if x in s else -1)
            for x, s, cut in zip(codes, shown, ordered, strict=True)
        ]
        looks.append((own[0], own[1], pay))
    return looks


@pytest.mark.engines
@pytest.mark.parametrize("seed", range(max(CASES // 6, 1)))
def test_disclosure_is_safe_and_shows_all_that_may_be_shown(
    seed: int, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    rows = [
        (dice.choice("vwxyz"), dice.randrange(8), dice.choice(NUMBERS))
        for _ in range(dice.randint(12, 40))
    ]
    columns = list(zip(*rows, strict=True))
    width = dice.choice(["1", "10 %", "50 %"])
    table = pa.table(
        {
            "a": columns[0],
            "b": pa.array(columns[1], pa.int64()),
            "pay": pa.array([Decimal(x) for x in columns[2]], pa.decimal128(8, 3)),
        }
    )
    whole = definition.share([(r[2],) for r in rows], width)
    limit = min(whole + Fraction(1, 4), Fraction(9, 10))
    promise = pv.Promise(pv.Linker(), pv.Ceiling(limit), about(width))
    with pv.read(table, quasi=["a", "b"], sensitive="pay") as private:
        made = pv.publish(private, [promise], method=pv.TopDownDisclosure())
        made.write(tmp_path / "out", custody=tmp_path / "vault")
    released = pv.load(tmp_path / "out")
    assert pv.audit(released, [promise]).safe
    how = made.recipe.columns
    names = {"a": 0, "b": 1}

    def label(column: str, value: object, more: object = None) -> object:
        own = how.get(column)
        if isinstance(own, Hide):
            return "⊥" if str(value) in own.hidden and value != more else value
        if isinstance(own, Cut):
            cuts = {int(c) for c in own.after} | ({more} if more is not None else set())
            return sum(c < value for c in cuts)
        return value

    def judge(column: str = "", more: object = None) -> Fraction:
        shown = [
            (
                *(
                    label(c, r[i], more if c == column else None)
                    for c, i in names.items()
                ),
                r[2],
            )
            for r in rows
        ]
        return definition.share(shown, width)

    assert judge() <= limit
    assert made.audit.worst.belief.posterior == judge()
    for column, own in how.items():
        if isinstance(own, Hide):
            values = [v for v in own.hidden if len(own.hidden) > 1]
        else:
            there = sorted({r[1] for r in rows})
            values = [v for v in there[:-1] if str(v) not in own.after]
        for value in values:
            assert judge(column, value) > limit, (column, value)


@pytest.mark.engines
@pytest.mark.parametrize("seed", range(max(CASES // 6, 1)))
def test_groups_are_safe_by_what_was_written(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    rows = [
        (dice.choice("vwxyz"), dice.randrange(8), dice.choice(NUMBERS))
        for _ in range(dice.randint(20, 50))
    ]
    columns = list(zip(*rows, strict=True))
    table = pa.table(
        {
            "a": columns[0],
            "b": pa.array(columns[1], pa.int64()),
            "pay": pa.array([float(x) for x in columns[2]], pa.float64()),
        }
    )
    width, l, k = dice.choice(["1", "50 %"]), dice.randint(0, 1), dice.randint(0, 1)
    whole = {x: columns[2].count(x) for x in set(columns[2])}
    limit = min(definition.belief([whole], width, l, k) + Fraction(1, 4), Fraction(1))
    who = pv.Insider(rules_out=l, knows_others=k) if l or k else pv.Linker()
    promise = pv.Promise(who, pv.Ceiling(limit), about(width))
    method = pv.Mondrian(same_cuts=dice.random() < 0.5)
    with pv.read(table, quasi=["a", "b"], sensitive="pay") as private:
        made = pv.publish(private, [promise], method=method)
        made.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").good
    written = pv.load(tmp_path / "out")
    worst = definition.belief(list(written.table.groups().histograms()), width, l, k)
    assert worst <= limit
    assert worst == pv.audit(written, [promise]).worst.belief.posterior


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "sav"])
def test_a_column_without_any_number_has_no_windows(tmp_path: Path, form: str) -> None:
    """A CSV file does not tell that nothing is a number: nothing could be released."""
    rows = {"age": [30, 31, 32], "pay": pa.array([None] * 3, pa.float64())}
    with pv.read(pa.table(rows), quasi="age", sensitive="pay") as table:
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), about("10 %"))
        release = pv.publish(table, promise)
        release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
    assert pv.verify(tmp_path / "out").good


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "sav", "dta"])
def test_windows_of_moments_with_a_zone_are_recounted(
    tmp_path: Path, form: str
) -> None:
    """Where a file has them as texts nothing could be released."""
    moments = [datetime(2017, 1, 1 + 2 * i, 5, 38, tzinfo=UTC) for i in range(12)]
    rows = pa.table({"age": [1, 2, 3] * 4, "at": moments})
    with pv.read(rows, quasi="age", sensitive="at") as table:
        asked = {"at": {"within": "6 days"}}
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), asked)
        release = pv.publish(table, promise)
        release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
    found = pv.verify(tmp_path / "out")
    assert found.good
    assert Fraction(1, 2) == found.audit.worst.belief.posterior
