"""Top-down disclosure: the paper's examples, and what is wrong in it, by numbers.

Wang, Fung, Yu 2007. T1 to T12 are the errata that the explanation page lists.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from oracle.disclosure import Disclosure, Template
from release.examples import bank, discharged

PAPER = pv.TopDownDisclosure(paper=True)


def shown(release: pv.Release) -> list[tuple[str, str | None]]:
    return [(s.column, s.value) for s in release.steps]


def keeps_all(release: pv.Release) -> bool:
    """Whether its templates hold; they are all that the paper promises."""
    return all(f.verdict is pv.Verdict.SAFE for f in release.audit.findings)


# The running example ----------------------------------------------------------------

FIVE = [
    ("job", "Cook"),
    ("job", "Artist"),
    ("job", "Doctor"),
    ("country", "US"),
    ("country", "France"),
]


def test_section_4_scores_step_by_step() -> None:
    release = pv.publish(bank(), [discharged("3/4")], method=PAPER)
    assert FIVE == shown(release)
    expected = [
        (0.27837, Fraction(1, 24), 0.26723, Fraction(1, 4)),
        (0.21417, Fraction(1, 16), 0.20157, Fraction(5, 16)),
        (0.19920, Fraction(3, 16), 0.16775, Fraction(1, 2)),
        (0.11261, Fraction(0), 0.11261, Fraction(1, 2)),
        (0.51780, Fraction(0), 0.51780, Fraction(1, 2)),
    ]
    for (gain, loss, score, after), step in zip(expected, release.steps, strict=True):
        assert pytest.approx(gain, abs=5e-6) == step.gain
        assert pytest.approx(float(loss)) == step.loss
        assert pytest.approx(score, abs=5e-6) == step.score
        assert (after,) == step.confidences


def test_table_2_is_what_the_algorithm_gives() -> None:
    release = pv.publish(bank(), [discharged("3/4")], method=PAPER)
    expected = {"job": ["Clerk", "Trader"], "country": ["Canada", "UK"]}
    assert expected == release.hidden


def test_example_3_two_templates_at_one_half() -> None:
    promises = [discharged("1/2"), discharged("1/2", "job", "child")]
    release = pv.publish(bank(), promises, method=PAPER)
    assert [*FIVE, ("child", "No"), ("child", "Yes")] == shown(release)
    assert pytest.approx(0.00180, abs=5e-6) == release.steps[5].gain
    expected = {"job": ["Clerk", "Trader"], "country": ["Canada", "UK"]}
    assert expected == release.hidden


def test_infeasible_below_five_in_24() -> None:
    with pytest.raises(pv.Infeasible) as caught:
        pv.publish(bank(), [discharged("1/5")])
    assert Fraction(5, 24) == caught.value.best
    assert keeps_all(pv.publish(bank(), [discharged("5/24")]))


def test_greedy_is_not_optimal() -> None:
    """v0 has 3 rows, all with pi; a 3, b 2, c 2 without. Best: show b and c."""
    values = ["v0"] * 3 + ["a"] * 3 + ["b"] * 2 + ["c"] * 2
    table = pv.read(
        pa.table({"j": values, "s": ["pi"] * 3 + ["no"] * 7}), quasi="j", sensitive="s"
    )
    promise = pv.Promise(pv.Linker("j"), pv.Ceiling("1/2"), {"s": "pi"})
    release = pv.publish(table, [promise], method=PAPER)
    assert [("j", "a")] == shown(release)
    assert pytest.approx(3 / (1 + 9 / 70)) == release.steps[0].score
    mended = pv.publish(table, [promise])
    assert {"j": ["a", "v0"]} == mended.hidden
    counts = Counter(values)
    best = max(
        sum(counts[v] for v in show)
        for show in subsets("abc")
        if 2 * 3 <= sum(counts[v] for v in counts if v not in show)
    )
    assert (4, 3) == (best, counts["a"])


def subsets(values: str) -> list[tuple[str, ...]]:
    sizes = range(len(values) + 1)
    return list(chain.from_iterable(combinations(values, k) for k in sizes))


# Errata -----------------------------------------------------------------------------


def test_t1_and_t2_more_could_be_shown_and_fewer_cells_suffice() -> None:
    paper = pv.publish(bank(), [discharged("3/4")], method=PAPER)
    maximal = pv.publish(bank(), [discharged("3/4")])
    assert {"country": ["Canada", "UK"]} == maximal.hidden
    assert Fraction(2, 3) == maximal.audit.worst.belief.posterior
    assert 20 == sum(paper.hidden_cells().values())
    assert 10 == sum(maximal.hidden_cells().values())


T3 = [
    (1, 0, 0, 2, 0, 2), (3, 0, 1, 1, 0, 2), (3, 1, 3, 2, 1, 4), (3, 1, 2, 0, 1, 2),
    (0, 0, 2, 1, 1, 4), (2, 1, 2, 0, 0, 1), (0, 0, 1, 2, 1, 2), (1, 1, 3, 1, 1, 2),
    (1, 2, 1, 2, 1, 3), (2, 0, 1, 1, 1, 4), (1, 0, 3, 1, 1, 2), (1, 3, 3, 2, 1, 4),
]  # fmt: skip


def test_t3_a_redundant_template_changes_the_result() -> None:
    names = ["A0", "A1", "A2", "S", "C"]
    columns = list(zip(*T3, strict=True))
    texts = {c: [str(v) for v in columns[i]] for i, c in enumerate(names)}
    table = pv.read(
        pa.table({**texts, "n": list(columns[5])}),
        quasi=["A0", "A1", "A2"],
        sensitive="S",
        target="C",
        weight="n",
    )

    def promise(*known: str) -> pv.Promise:
        return pv.Promise(pv.Linker(known), pv.Ceiling("1/2"), {"S": "0"})

    two = [promise("A0", "A1"), promise("A2")]
    first = pv.publish(table, two, method=PAPER)
    second = pv.publish(table, [*two, promise("A0")], method=PAPER)
    assert ["1", "2"] == first.hidden["A0"]
    assert ["2", "3"] == second.hidden["A0"]
    # Redundant it is: who keeps {A0, A1} -> 0 keeps {A0} -> 0 as well.
    (found,) = pv.audit(first.table, [promise("A0")]).findings
    assert pv.Verdict.SAFE is found.verdict


def test_t4_the_longer_template_must_hold_with_a_limit_at_least_as_low() -> None:
    """Knowing more never makes the worst case lower, so equal limits do as well."""
    table = bank()
    less = pv.audit(table, [discharged("1", "job")]).worst.belief.posterior
    more = pv.audit(table, [discharged("1", "job", "country")]).worst.belief.posterior
    assert (Fraction(2, 3), Fraction(4, 5)) == (less, more)


def test_t5_a_group_nobody_is_in_is_no_group() -> None:
    """Showing Canada splits no Cook off: nobody is both. There is no 0 of 0."""
    release = pv.publish(bank(), [discharged("1")])
    assert {} == release.hidden
    groups = release.table.groups("bankruptcy")
    assert all(sum(h.values()) > 0 for h in groups.histograms())
    assert Fraction(4, 5) == release.audit.worst.belief.posterior
    assert 6 == len(groups)  # of 5 jobs, 4 countries and 2 answers


def test_t6_a_lone_hidden_value_is_as_good_as_shown() -> None:
    """Of one column with k values there are 2**k - k releases, not 2**k."""
    for k in range(1, 6):
        values = "abcde"[:k]
        partitions = {
            frozenset(hidden) if len(hidden) > 1 else frozenset()
            for hidden in subsets(values)
        }
        assert 2**k - k == len(partitions)
    table = pv.read(
        pa.table({"j": ["a", "b"], "s": ["x", "y"]}), quasi="j", sensitive="s"
    )
    one = pv.Promise(pv.Linker("j"), pv.Ceiling("1"), {"s": "x"})
    stopped = pv.publish(table, [one], watcher=lambda _: False)
    assert {} == stopped.hidden


def test_t7_a_value_must_pass_every_template() -> None:
    """UK passes {country} at 9/10, but not {job, country} at 3/4 as well."""
    loose = discharged("9/10", "country")
    alone = pv.publish(bank(), [loose])
    both = pv.publish(bank(), [loose, discharged("3/4")])
    assert {} == alone.hidden
    assert ["Canada", "UK"] == both.hidden["country"]
    assert keeps_all(both)


def test_t8_looking_ahead_needs_no_copy_of_the_tree() -> None:
    """What was foreseen of every move is what counting the released rows finds."""
    names = ("job", "country", "child", "s", "class", "n")
    rows = [dict(zip(names, row, strict=True)) for row in bank_rows()]
    template = Template(("job", "country"), "s", "Discharged", Fraction(3, 4))
    by_hand = Disclosure(rows, [template], "class").run()
    release = pv.publish(bank(), [discharged("3/4")], method=PAPER)
    now = Fraction(5, 24)
    for expected, step in zip(by_hand.steps, release.steps, strict=True):
        assert expected.confidences == step.confidences
        assert pytest.approx(float(step.confidences[0] - now), abs=1e-12) == step.loss
        (now,) = step.confidences


def bank_rows() -> list[tuple[Any, ...]]:
    from privet.demo.tables import bank_path

    lines = bank_path().read_text().splitlines()[1:]
    cells = [line.split(",") for line in lines]
    return [(*row[:5], int(row[5])) for row in cells]


def test_t9_each_set_of_columns_is_counted_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two short sets of columns never need the groups over their union."""
    counted = set()

    def count(table: pv.Table, tallies: Any, run: Any = None) -> Any:
        counted.update(t.by for t in tallies)
        return plain(table, tallies, run)

    plain = pv.Table.count
    monkeypatch.setattr(pv.Table, "count", count)
    promises = [discharged("3/4", "job"), discharged("3/4", "country", "child")]
    release = pv.publish(bank(), promises)
    assert {("job",), ("country", "child")} <= counted
    assert {"job", "country", "child"} not in [set(by) for by in counted]
    assert all(2 == len(s.confidences) for s in release.steps)


def test_t10_a_fixed_attribute_raises_the_floor() -> None:
    """Child stays as it is: of 18 rows without a child 5 are discharged, not of 24."""
    method = pv.TopDownDisclosure(keep=("child",))
    promise = discharged("1/4", "job", "child")
    with pytest.raises(pv.Infeasible) as caught:
        pv.publish(bank(), [promise], method=method)
    assert Fraction(5, 18) == caught.value.best
    least = discharged("5/18", "job", "child")
    assert keeps_all(pv.publish(bank(), [least], method=method))
    assert keeps_all(pv.publish(bank(), [promise]))


def test_t12_every_manifest_says_what_is_not_covered(tmp_path: Path) -> None:
    everything = discharged("3/4", "job", "country", "child", "rating")
    paper = pv.publish(bank(), [discharged("3/4"), everything], method=PAPER)
    written = paper.write(tmp_path / "out", custody=tmp_path / "vault")
    said = " ".join(written.manifest["not_promised"])
    for hole in ("other columns", "second release", "several rows", "were chosen"):
        assert hole in said
        assert hole in (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")


def test_t12_a_limit_of_one_allows_certainty() -> None:
    """A group of one with the value: any limit below 1 forbids it, 1 does not."""
    table = pv.read(
        pa.table({"j": ["a", "b", "b"], "s": ["x", "y", "y"]}), quasi="j", sensitive="s"
    )
    linker = pv.Linker("j")
    certain = pv.publish(table, [pv.Promise(linker, pv.Ceiling("1"), {"s": "x"})])
    assert (1, {}) == (certain.audit.worst.belief.posterior, certain.hidden)
    unsure = pv.publish(table, [pv.Promise(linker, pv.Ceiling("0.99"), {"s": "x"})])
    assert {"j": ["a", "b"]} == unsure.hidden


# Table 3 ----------------------------------------------------------------------------

SHA256 = {
    "crx.data": "fff49bc186cbddb3ace7371d40d9fbbb3af4f126019c13ff3f562249b1454f4d",
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
}
LIMITS = ["0.1", "0.3", "0.5", "0.7", "0.9"]


def uci(name: str) -> Path:
    path = Path(os.environ.get("PRIVET_DATA", "")) / name
    if "PRIVET_DATA" not in os.environ or not path.is_file():
        pytest.skip(
            f"Needs {name} of the UCI Machine Learning Repository (Adult, Credit "
            "Approval, Statlog German Credit) in the folder that PRIVET_DATA names."
        )
    assert SHA256[name] == hashlib.sha256(path.read_bytes()).hexdigest()
    return path


def inferences(
    rows: list[list[str]], masking: list[int], sensitive: list[int]
) -> list[int]:
    """Inferences with a confidence above each limit, by privet's counts."""
    columns = {f"a{i}": [r[i] for r in rows] for i in {*masking, *sensitive}}
    known = [f"a{i}" for i in masking]
    promises = [
        pv.Promise(pv.Linker(known), pv.Ceiling("1"), {f"a{i}": value})
        for i in sensitive
        for value in rare_half([r[i] for r in rows])
    ]
    table = pv.read(
        pa.table(columns), quasi=known, sensitive=[f"a{i}" for i in sensitive]
    )
    found = [0] * len(LIMITS)
    for at, limit in enumerate(LIMITS):
        stated = [pv.Promise(p.against, pv.Ceiling(limit), p.about) for p in promises]
        audit = pv.audit(table, stated)
        found[at] = sum(f.groups_above for f in audit.findings)
    return found


def rare_half(values: list[str]) -> list[str]:
    """The half of the values that is least frequent, rounded down."""
    counts = Counter(values)
    return sorted(counts, key=lambda v: (counts[v], v))[: len(counts) // 2]


def test_table_3_japanese_credit_screening() -> None:
    rows = [line.split(",") for line in uci("crx.data").read_text().split()]
    complete = [r for r in rows if "?" not in r]
    assert 653 == len(complete)
    top4 = [8, 9, 6, 5]
    others = [0, 3, 4, 11, 12]
    assert [40, 27, 15, 8, 6] == inferences(complete, others, top4)


def test_table_3_german_credit() -> None:
    lines = uci("german.data").read_text().splitlines()
    rows = [line.split() for line in lines]
    assert 1000 == len(rows)
    top6 = [0, 2, 5, 13, 3, 9]
    others = [6, 8, 11, 14, 16, 18, 19]
    assert [496, 337, 174, 162, 161] == inferences(rows, others, top6)


def test_t11_the_row_of_adult_does_not_come_out() -> None:
    """Neither with the missing values left out of both files, nor of the first one."""
    paper = [1333, 786, 365, 324, 318]
    train, test = (
        [line.split(", ") for line in uci(name).read_text().splitlines() if "," in line]
        for name in ("adult.data", "adult.test")
    )
    both = [[r for r in rows if "?" not in r] for rows in (train, train + test)]
    assert [30_162, 45_222] == [len(rows) for rows in both]
    top4 = [5, 7, 3, 9]  # marital status, relationship, education, sex
    others = [1, 6, 8, 13]
    found = [inferences(rows, others, top4) for rows in both]
    expected = [[1619, 1079, 581, 506, 470], [1992, 1238, 640, 537, 494]]
    assert expected == found
    assert paper not in found
