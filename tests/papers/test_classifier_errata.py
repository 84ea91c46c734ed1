"""Where Mozafari and Zaniolo 2009 had to be corrected: each counterexample runs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import pytest

import privet as pv
from oracle.classifiers import (
    Cells,
    Sizes,
    difference,
    posterior,
    ranking,
    scores_of,
    tables,
)
from oracle.test_classifiers import named
from privet.classifier.amplification import (
    amplification,
    breach_amplification,
    paper_amplification,
)
from privet.classifier.possible_tables import find_worst_odds, posterior_worlds
from privet.classifier.scores import Scores, scores_from_counts
from privet.classifier.transforms.extended_safety_transform import (
    bound_of_statement_14,
    find_flipped_row,
    run_paper_est,
)
from privet.classifier.transforms.r_closeness import find_least_r, least_r_for_top
from privet.classifier.transforms.zero_counts import replace_zeros

NINE: tuple[Sizes, Cells] = ((4, 5), [[[2, 1], [2, 4]], [[2, 1], [2, 4]]])
SIX: tuple[Sizes, Cells] = ((3, 3), [[[1, 2], [2, 1]], [[1, 2], [2, 1]]])
THREE: tuple[Sizes, Cells] = ((2, 1), [[[2, 1]], [[1, 0], [1, 1]]])


def ratios_within(sizes: Sizes, cells: Cells, limit: float) -> bool:
    """The paper's condition (9): all ratios of counts of two classes."""
    rows = [*(row for table in cells for row in table), list(sizes)]
    return all(a <= limit * b for row in rows for a in row for b in row)


# Figure 3, Statement 5 ----------------------------------------------------------------


def printed_step_1(sizes: Sizes, cells: Cells) -> Cells:
    """Figure 3 as printed, with the largest s it allows, halved."""
    table = [[[Fraction(n) for n in row] for row in t] for t in cells]
    k = len(sizes)
    for c in reversed(range(k)):
        for i, attribute in enumerate(table):
            for row in attribute:
                if not row[c]:
                    others = prod(
                        max(r[c] for r in t) for j, t in enumerate(table) if j != i
                    )
                    row[c] = (
                        min(
                            prod(min(r[d] for r in t if r[d]) for t in table) / others
                            for d in range(k)
                            if d != c
                        )
                        / 2
                    )
    return table


def test_step_1_forgets_the_class_sizes() -> None:
    sizes, cells = THREE
    filled = printed_step_1(sizes, cells)
    flipped = [
        row
        for row in product(range(1), range(2))
        if difference(
            scores_of(sizes, cells, row), scores_of(sizes, filled, row), "full"
        )
    ]
    assert [(0, 0)] == flipped
    ours = replace_zeros(scores_from_counts(sizes, cells), "full")
    for row in product(range(1), range(2)):
        known = dict(enumerate(row))
        assert not difference(scores_of(sizes, cells, row), ours.of(known), "full")


def hard_zeros(k: int, n: int = 3, rows: int = 40) -> Scores:
    """Every value that class c never has, class c - 1 has once; and so on downwards."""
    cells: Cells = []
    for _ in range(n):
        table = [[0] * k for _ in range(k + 1)]
        for level in range(1, k):
            for c in range(level):
                table[level - 1][c] = 1
        for c in range(k):
            table[k - 1][c] = 20 if c == k - 1 else 1
            table[k][c] = rows - sum(table[t][c] for t in range(k))
        cells.append(table)
    return scores_from_counts((rows,) * k, cells)


def bits(filled: Scores) -> int:
    small = min(x for t in filled.factors for row in t for x in row)
    return small.denominator.bit_length() - small.numerator.bit_length()


def test_full_replacements_grow_with_a_power_of_the_classes() -> None:
    """n^|C| log M bits are inherent for the full ranking; positive+top needs few."""
    full = [bits(replace_zeros(hard_zeros(k), "full")) for k in (2, 3, 4)]
    top = [bits(replace_zeros(hard_zeros(k), "positive+top")) for k in (2, 3, 4)]
    assert 2.9 * full[0] < full[1]
    assert 2.9 * full[1] < full[2]
    assert top[1] == top[2] < full[2] / 2


# Section 3 ----------------------------------------------------------------------------


def test_attributes_are_not_as_private_as_the_class() -> None:
    views = named((3, 3), [[[2, 2], [1, 1]]])
    assert 1 == amplification(views.scores).odds  # safe for every amplification
    assert Fraction(2, 3) == views.scores.normalised.factors[0][0][0]  # the attribute


# Lemmas 2, 3, Corollary 4 -------------------------------------------------------------


def test_equation_7_is_right_but_not_sharp() -> None:
    shift = pv.Shift("1/4", "2/3")
    assert 4 == paper_amplification(shift, 3)
    assert 6 == breach_amplification(shift)


def test_lemma_3_nine_rows() -> None:
    sizes, cells = NINE
    assert ratios_within(sizes, cells, 4 ** (1 / 2))
    assert 5 == amplification(scores_from_counts(sizes, cells)).odds
    shares = posterior(sizes, cells, {0: 0, 1: 0}, "worlds")
    assert shares is not None
    assert Fraction(34, 5) == max(shares) / min(shares)


def test_lemma_3_six_rows() -> None:
    sizes, cells = SIX
    assert ratios_within(sizes, cells, 4 ** (1 / 2))
    shares = posterior(sizes, cells, {0: 0, 1: 0}, "worlds")
    assert shares is not None
    assert Fraction(23, 4) == max(shares) / min(shares)


@pytest.mark.parametrize("case", [NINE, SIX])
def test_lemma_3_corrected(case: tuple[Sizes, Cells]) -> None:
    """With m attributes the exponent is 1/(2m - 1)."""
    sizes, cells = case
    rows = [*(row for table in cells for row in table), list(sizes)]
    rho = max(Fraction(a, b) for row in rows for a in row for b in row)
    assert amplification(scores_from_counts(sizes, cells)).odds <= rho ** (
        2 * len(cells) - 1
    )


def test_the_worst_victim_need_not_be_known_in_full() -> None:
    sizes = (5, 5)
    cells = [[[1, 1], [4, 4]], [[4, 1], [1, 4]], [[3, 3], [2, 2]]]
    views = named(sizes, cells)
    found = find_worst_odds(views, scores_from_counts(sizes, cells), (0, 1))
    assert (6, {0: 0, 1: 0}) == (found.least, found.known)
    assert 4 == amplification(scores_from_counts(sizes, cells)).odds
    every = [
        p[0] / p[1]
        for row in product(range(2), repeat=3)
        if (p := posterior_worlds(views, dict(enumerate(row)))) and p[1]
    ]
    assert Fraction(165, 32) == max(every)


# Section 6.2.2 and 6.3 ----------------------------------------------------------------


def test_a_larger_error_for_the_higher_class_does_not_keep_ties() -> None:
    """4 * 4 = 2 * 8, but not after adding 0.1 and 0.09."""
    assert 4 * 4 == 2 * 8
    assert Fraction("4.1") ** 2 < Fraction("2.09") * Fraction("8.09")
    assert Fraction("1.41") * Fraction("2.83") == Fraction("3.9903")


def test_the_paper_flattens_what_is_safe() -> None:
    views = named((10, 10), [[[9, 9], [1, 1]], [[9, 9], [1, 1]]])
    promise = pv.Promise(pv.Bayesian(), pv.Shift("1/101", "1/2"))
    assert 100 == breach_amplification(promise.limit)
    assert 1 == pv.publish(views, promise).exponent
    paper = pv.publish(
        views, promise, method=pv.SafetyTransform(mode="paper", zeros="positive")
    )
    assert paper.exponent < 1


def test_it_can_be_reversed() -> None:
    views = named((7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]])
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.51", "0.6"))
    found = pv.Inverter({"c0": 7, "c1": 9}).attack(
        pv.publish(views.smoothed(), promise)
    )
    assert 1 == found.right(views)


# Section 6.3, Lemma 10 ----------------------------------------------------------------


def test_k_sind_is_empty() -> None:
    """No table lacks a row of a class and has it as well, as Definition 3 asks."""
    sizes, cells = SIX
    found = 0
    for table in tables(sizes, cells):
        rows = [(p, 0) for p in zip(*table[0], strict=True)]
        first, second = rows[0], rows[1]
        swapped = {(first[0], second[1]), (second[0], first[1])}
        for other in tables(sizes, cells):
            there = {(p, c) for c in (0, 1) for p in zip(*other[c], strict=True)}
            found += not {first, second} & there and swapped <= there
    assert 0 == found


# Section 7 ----------------------------------------------------------------------------


def test_adding_small_numbers_does_not_break_ties_the_right_way() -> None:
    """Section 7.2: P = 20, 4 * 4 = 2 * 8; 0.09 and 0.1 are added to all counts."""
    sizes, cells = (20, 20), [[[4, 2], [16, 18]], [[4, 8], [16, 12]]]
    before = scores_of(sizes, cells, (0, 0))
    assert before[0] == before[1]
    assert 1 == ranking(before)[0]  # the higher class wins the tie
    tied = (Fraction("16.09") * Fraction("1.09"), Fraction("4.1") ** 2)
    assert tied[0] > tied[1]  # 16 * 1 = 4 * 4: the lower class wins now


def test_lemma_12_the_least_ratio_is_not_that_of_the_largest_counts() -> None:
    """M1/M2 = 6/3 allows a split in two; the least ratio is 3/2, and a row flips."""
    sizes, cells = (4, 8), [[[1, 6], [3, 2]]]
    before = scores_of(sizes, cells, (1,))
    split = [[[Fraction(1, 2), 6], [Fraction(3, 2), 2]]]
    after = scores_of((2, 8), split, (1,))
    assert (0, 1) == (ranking(before)[0], ranking(after)[0])


def test_lemma_13_both_checks_pass_and_the_result_flips() -> None:
    """(1, 4), (20, 5); F = 2:1; delta = 1; k = 2: 2 * sqrt(4/2) > sqrt(5)."""
    scores = named((5, 25), [[[1, 20], [4, 5]]]).scores
    prior = [Fraction(2, 3), Fraction(1, 3)]
    found = run_paper_est(scores, (5, 25), prior, Fraction(2), power=1, root=2)
    assert found.splits
    assert found.merges
    assert {0: 1} == find_flipped_row(scores, found)
    assert 1 == scores.ranking({0: 1})[0]


def test_statement_14_never_certifies_anything_useful() -> None:
    assert 7 * 10**12 < bound_of_statement_14(3, Fraction(3))


def test_r_of_1_3_on_a_prior_of_three_quarters_cannot_be() -> None:
    """Whoever is predicted >50K needs r = 2, and the averaging adversary 4/3."""
    prior = [Fraction(3, 4), Fraction(1, 4)]
    assert 2 == least_r_for_top(prior, 1)
    views = named((30, 10), [[[25, 2], [5, 8]]])
    assert 1 == views.scores.ranking({0: 1})[0]
    assert 2 == find_least_r(views.scores, prior).r
    low, high = Fraction(27, 40), Fraction(21, 26)
    r = Fraction("1.3")
    assert (low, high) == (1 - r * prior[1], 1 - prior[1] / r)
    assert low > Fraction(1, 2)  # <=50K is always likelier
    # Averaging over worlds: X_1 >= X_0 makes the odds more than 1/2, p more than 1/3.
    assert Fraction(1, 3) / prior[1] == Fraction(4, 3) > r
