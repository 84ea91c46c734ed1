"""Wang, Lakshmanan 2006: its numbers, and what it gets wrong (errata E1 to E12)."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pyarrow as pa
import pytest

import privet as pv
from oracle import tables
from privet.demo.tables import clinic_path
from privet.views.counting import bipartite_covers
from privet.views.counting import share as chances

pytestmark = pytest.mark.engines

FIGURE_1 = (["name", "age"], ["age", "job", "problem"])
GEORGE = {"name": "George", "problem": "HIV"}


@pytest.fixture
def patients():
    with pv.read(str(clinic_path()), identifier="name", sensitive="problem") as table:
        yield table


def opened(rows, **roles):
    columns = {c: pa.array([r[c] for r in rows], pa.string()) for c in rows[0]}
    return pv.read(pa.table(columns), **roles)


def rows_of(text: str, names: str):
    keys = names.split()
    return [dict(zip(keys, line.split(), strict=True)) for line in text.split(",")]


TWO = rows_of("a1 b1 c1, a2 b1 c2", "A B C")


# The paper's numbers ----------------------------------------------------------------


def test_the_counts_of_the_paper():
    assert 265 == bipartite_covers.upw(3, 3)
    assert 161 == bipartite_covers.uiw(3, 3)
    assert 7 == bipartite_covers.upw(2, 2)
    assert 5 == bipartite_covers.uiw(2, 2)


def test_figure_2():
    views = pv.Views(opened(TWO), ["A", "B"], ["B", "C"])
    about = {"A": "a1", "C": "c1"}
    assert Fraction(5, 7) == pv.belief(views, pv.Reconstructor(), about).posterior
    one = pv.Reconstructor(one_row_per_id=True)
    assert Fraction(1, 2) == pv.belief(views, one, about).posterior


def test_george_and_hiv(patients):
    views = pv.Views(patients, *FIGURE_1)
    found = pv.belief(views, pv.Reconstructor(), GEORGE)
    assert Fraction(161, 265) == found.posterior
    restricted = pv.Reconstructor(model="restricted")
    assert Fraction(1, 3) == pv.belief(views, restricted, GEORGE).posterior


def test_george_and_hiv_in_words(patients):
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7"), GEORGE)
    found = pv.audit(pv.Views(patients, *FIGURE_1), promise)
    assert found.safe
    assert (
        "265 tables would give these two views; in 161 of them George has HIV: 61 %. "
        "If each name has one row: 1 in 3." in found.worst.explain()
    )


def test_the_connectivity_graph_and_the_cover(patients):
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7"), GEORGE)
    witness = pv.audit(pv.Views(patients, *FIGURE_1), promise).worst.witness
    assert ((3, 3),) == witness.sizes
    assert {"Cold", "Diarrhea", "HIV"} == set(witness.cover)
    assert ({"age": "45"},) == witness.keys


def test_alan_does_not_have_hiv(patients):
    about = {"name": "Alan", "problem": "HIV"}
    views = pv.Views(patients, *FIGURE_1)
    assert 0 == pv.belief(views, pv.Reconstructor(), about).posterior


def test_the_printed_double_sum_equals_the_single_one():
    for m in range(1, 9):
        for n in range(1, 9):
            assert printed(m, n) == bipartite_covers.upw(m, n)


def printed(m: int, n: int) -> int:
    """Lemma 5.2 as it stands in the paper."""
    if m == 1 or n == 1:
        return 1
    total = (-1) ** (m + 1) * m + (-1) ** (n + 1) * n + (-1) ** (m + n + 1) * m * n
    for i in range(2, m + 1):
        for j in range(2, n + 1):
            sign = (-1) ** (m + n - i - j)
            total += comb(m, m - i) * comb(n, n - j) * sign * (2 ** (i * j) - 1)
    return total


# Errata -----------------------------------------------------------------------------


def test_e1_the_number_of_worlds_is_a_product_over_keys():
    rows = rows_of("a x f, b x g, c y f, d y g", "who x ill")
    views = (["who", "x"], ["x", "ill"])
    assert 49 == sum(1 for _ in tables.worlds(rows, views))
    found = pv.belief(
        pv.Views(opened(rows), *views), pv.Reconstructor(), {"who": "a", "ill": "f"}
    )
    assert Fraction(5, 7) == found.posterior


def test_e1_words_do_not_claim_more_tables_than_there_are():
    rows = rows_of("a x f, b x g, c y f, d y g", "who x ill")
    views = pv.Views(opened(rows), ["who", "x"], ["x", "ill"])
    promise = pv.Promise(
        pv.Reconstructor(), pv.Ceiling("0.8"), {"who": "a", "ill": "f"}
    )
    said = pv.audit(views, promise).worst.explain()
    assert said.startswith("Where x is x, 7 tables would give these two views; in 5")


def test_e2_nodes_merged_by_projection(patients):
    rows = rows_of(
        "John 45 Prof Diarrhea, George 45 Prof HIV, Sarah 45 Eng Cold, "
        "John 45 Prof Cold",
        "name age job problem",
    )
    views = pv.Views(opened(rows), *FIGURE_1)

    def share(problem, worlds):
        against = pv.Reconstructor(worlds=worlds)
        return pv.belief(views, against, {"name": "John", "problem": problem}).posterior

    assert Fraction(161, 265) == share("Cold", "projected")
    assert Fraction(1817, 2161) == share("Cold", "full")
    assert Fraction(1265, 2161) == share("HIV", "full")


def test_e3_hidden_columns_would_make_worlds_unbounded():
    """An edge weighs 2**d - 1 if a column in no view has d possible values."""
    assert Fraction(19, 23) == bipartite_covers.weighted_rho(2, 2, Fraction(2**2 - 1))
    assert Fraction(1055, 1087) == bipartite_covers.weighted_rho(
        2, 2, Fraction(2**5 - 1)
    )


def test_e4_and_e11_one_property_is_meant_in_the_table():
    assert 4 == bipartite_covers.rpw(2, 2)
    assert 2 == bipartite_covers.riw(2, 2)
    assert bipartite_covers.fpw(3, 2) == 2 * (
        bipartite_covers.fpw(2, 2) + bipartite_covers.fpw(2, 1)
    )


def test_e5_false_associations_are_found_through_the_views():
    views = pv.Views(opened(TWO), ["A", "B"], ["B", "C"])
    found = pv.belief(views, pv.Reconstructor(), {"A": "a1", "C": "c2"})
    assert Fraction(5, 7) == found.posterior


def test_e6_missing_keys_are_a_key():
    rows = [
        {"who": "a", "x": None, "ill": "f"},
        {"who": "b", "x": None, "ill": "g"},
    ]
    views = pv.Views(opened(rows), ["who", "x"], ["x", "ill"])
    found = pv.belief(views, pv.Reconstructor(), {"who": "a", "ill": "g"})
    assert Fraction(5, 7) == found.posterior


def test_e7_wildcards_are_audited_one_by_one(patients):
    views = pv.Views(patients, *FIGURE_1)
    about = "select Name, Problem from T where Problem = 'HIV'"
    found = pv.belief(views, pv.Reconstructor(), about)
    assert Fraction(161, 265) == found.posterior


def test_e8_restricted_worlds_at_size_one():
    assert 1 == bipartite_covers.riw(2, 1)
    assert 1 == bipartite_covers.riw(3, 1)
    assert 0 == bipartite_covers.upw(3, 0) == bipartite_covers.upw(0, 3)


def test_e9_one_person_with_two_properties_refutes_the_model():
    rows = rows_of("a x f, a x g", "who x ill")
    views = pv.Views(opened(rows), ["who", "x"], ["x", "ill"])
    about = {"who": "a", "ill": "f"}
    promise = pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("0.9"), about)
    found = pv.audit(views, promise)
    assert pv.Verdict.UNDECIDED is found.verdict
    assert "refute" in found.findings[0].note
    with pytest.raises(pv.NoAudit, match="refute"):
        pv.belief(views, pv.Reconstructor("restricted"), about)


def test_e10_the_intersection_counts_not_the_cover():
    rows = rows_of("i x flu, j x hiv, k x cold, i y flu, l y asthma", "who x ill")
    views = pv.Views(opened(rows), ["who", "x"], ["x", "ill"])
    restricted = pv.Reconstructor("restricted")
    found = pv.belief(views, restricted, {"who": "i", "ill": "flu"})
    assert Fraction(1) == found.posterior
    assert 0 == pv.belief(views, restricted, {"who": "i", "ill": "hiv"}).posterior


def test_e12_the_floor_is_explained_with_other_figures_beside(patients):
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("1/2"), GEORGE)
    found = pv.audit(pv.Views(patients, *FIGURE_1), promise).findings[0]
    assert pv.Verdict.BREACH is found.verdict
    assert "no limit of 1/2 or less can be kept" in found.note
    assert Fraction(1, 3) == found.witness.shares["restricted"]
    assert Fraction(1, 3) == found.witness.shares["bag"]


# Future work ------------------------------------------------------------------------


def test_future_work_1_the_paper_s_sum_in_floats_is_useless():
    assert Fraction(2, 3) < chances.key_share(2, 100).low < Fraction(67, 100)


def test_two_keys_of_one_person():
    rows = rows_of("i x p, j x q, i y p, k y q, l y r", "who x ill")
    views = pv.Views(opened(rows), ["who", "x"], ["x", "ill"])
    found = pv.belief(views, pv.Reconstructor(), {"who": "i", "ill": "p"})
    assert 1 - Fraction(2, 7) * Fraction(104, 265) == found.posterior


def test_future_work_2_a_chain_is_not_one_in_n():
    rows = rows_of("a0 b0 c0 d0, a1 b0 c0 d1, a0 b0 c1 d2, a2 b1 c0 d0", "who b c ill")
    views = pv.Views(opened(rows), ["who", "b"], ["b", "c"], ["c", "ill"])

    def shares(model):
        return [
            pv.belief(
                views, pv.Reconstructor(model), {"who": "a0", "ill": f"d{k}"}
            ).posterior
            for k in range(3)
        ]

    assert [Fraction(n, 103) for n in (61, 61, 71)] == shares("unrestricted")
    assert [Fraction(n, 17) for n in (5, 5, 7)] == shares("restricted")
