"""The made-up hospital: its shape, its skews, its planted breach, and its policy."""

from __future__ import annotations

import csv
import hashlib
import json
import statistics
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from importlib.resources import as_file
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.demo.patients import (
    COLUMNS,
    DIAGNOSES,
    GIVEN_NAMES,
    OCCUPATIONS,
    POLICY,
    SURNAMES,
    WARDS,
    ZIPS,
    make_patients,
)
from privet.demo.tables import bank_path
from privet.policy import Policy

if TYPE_CHECKING:
    import pyarrow as pa

Cells = dict[str, list[Any]]
Toml = dict[str, Any]

SIZES_AND_SEEDS = [
    (100, 20_240_501),
    (101, 1),
    (999, 2),
    (5_000, 3),
    (20_000, 4),
    (50_000, 5),
]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """The table everybody gets who asks for nothing special."""
    return make_patients()


@pytest.fixture(scope="module")
def cells(table: pa.Table) -> Cells:
    """The same as plain Python lists."""
    return columns_of(table)


@pytest.fixture(scope="module")
def policy() -> Toml:
    """The policy that comes with the table."""
    return tomllib.loads(POLICY)


def columns_of(table: pa.Table) -> Cells:
    return {name: table.column(name).to_pylist() for name in table.column_names}


def shares(
    known: Iterable[Any], diagnoses: Sequence[str], value: str = "HIV"
) -> dict[Any, Fraction]:
    """How many of those who look alike have the illness: counted the slow way."""
    groups = list(known)
    sizes = Counter(groups)
    cases = Counter(
        group
        for group, diagnosis in zip(groups, diagnoses, strict=True)
        if diagnosis == value
    )
    return {group: Fraction(cases[group], sizes[group]) for group in sizes}


def drawn_before(seen: Cells) -> Cells:
    """What is drawn before the diagnosis is."""
    return {name: column for name, column in seen.items() if name != "outcome"}


def binned(cells: Cells, policy: Toml) -> Cells:
    """What a linker sees: dates by their public bins, everything else as it is."""
    seen = {name: cells[name] for name in policy["columns"]["quasi"]}
    for name in seen.keys() & policy["bins"].keys():
        edges = [date.fromisoformat(edge) for edge in policy["bins"][name]]
        seen[name] = [bisect_right(edges, day) for day in cells[name]]
    return seen


def ages(cells: Cells) -> list[int]:
    """Whole years at admission, nearly."""
    dates = zip(cells["birth_date"], cells["admitted"], strict=True)
    return [(admitted - born).days // 365 for born, admitted in dates]


def share(chosen: Iterable[bool]) -> float:
    return statistics.fmean(map(float, chosen))


def where(cells: Cells, column: str, keep: Callable[[Any], bool]) -> Cells:
    """The rows whose cell in a column is wanted."""
    rows = [at for at, cell in enumerate(cells[column]) if keep(cell)]
    return {name: [values[at] for at in rows] for name, values in cells.items()}


# --- Shape --------------------------------------------------------------------


def test_columns_and_types(table: pa.Table) -> None:
    expected = {
        "patient_id": "string",
        "name": "string",
        "birth_date": "date32[day]",
        "sex": "string",
        "zip": "string",
        "occupation": "string",
        "admitted": "date32[day]",
        "ward": "string",
        "diagnosis": "string",
        "insurance": "string",
        "nights": "int32",
        "cost": "double",
        "outcome": "string",
    }
    assert expected == {field.name: str(field.type) for field in table.schema}
    assert list(expected) == list(COLUMNS)


def test_default_size(table: pa.Table) -> None:
    assert 50_000 == table.num_rows


@pytest.mark.parametrize("rows", [100, 101, 1_234, 60_000])
def test_any_size_from_a_hundred(rows: int) -> None:
    made = make_patients(rows)
    assert rows == made.num_rows
    made.validate(full=True)


@pytest.mark.parametrize("rows", [99, 0, -5])
def test_too_small_is_refused(rows: int) -> None:
    with pytest.raises(ValueError, match=f"rows must be at least 100; got {rows}"):
        make_patients(rows)


def test_default_table_is_valid(table: pa.Table) -> None:
    table.validate(full=True)


# --- The same seed, the same table --------------------------------------------


def test_same_seed_same_table() -> None:
    assert make_patients(3_000, seed=7).equals(make_patients(3_000, seed=7))


def test_default_seed_is_the_written_one() -> None:
    assert make_patients(500, seed=20_240_501).equals(make_patients(500))


def test_another_seed_changes_every_drawn_column() -> None:
    one, other = make_patients(3_000, seed=7), make_patients(3_000, seed=8)
    same = {name for name in COLUMNS if one.column(name).equals(other.column(name))}
    assert {"patient_id"} == same


def test_bytes_are_those_of_every_other_machine() -> None:
    """A pinned digest: whoever changes the table on purpose changes it here."""
    rows = zip(*columns_of(make_patients(2_000)).values(), strict=True)
    text = "\n".join("|".join(map(str, row)) for row in rows)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert "e5f5e9581d5a0b68" == digest[:16]


def test_first_row_in_plain_sight() -> None:
    (row,) = make_patients(100).slice(0, 1).to_pylist()
    assert "P0012345" == row["patient_id"]
    assert "Hugo Jensen" == row["name"]
    assert "1959-08-20" == row["birth_date"].isoformat()


# --- Who they are -------------------------------------------------------------


def test_patient_ids_differ_and_look_alike(cells: Cells) -> None:
    ids = cells["patient_id"]
    assert 50_000 == len(set(ids))
    assert all(text[0] == "P" and len(text) == 8 for text in ids)
    assert all(text[1:].isdecimal() for text in ids)


def test_patient_ids_are_in_no_order(cells: Cells) -> None:
    ids = cells["patient_id"]
    rises = share(left < right for left, right in pairwise(ids))
    assert rises < 0.9
    assert sorted(ids) != ids


def test_some_patient_ids_begin_with_zeros(cells: Cells) -> None:
    assert any(text.startswith("P00") for text in cells["patient_id"])


def test_names_are_given_and_family_names(cells: Cells) -> None:
    given, surnames = GIVEN_NAMES.split(), SURNAMES.split()
    parts = [name.split(" ") for name in cells["name"]]
    assert set(given) == {first for first, _ in parts}
    assert set(surnames) == {last for _, last in parts}


def test_given_names_fit_the_sex(cells: Cells) -> None:
    given = GIVEN_NAMES.split()
    names: dict[str, set[str]] = {"F": set(), "M": set(), "X": set()}
    for name, sex in zip(cells["name"], cells["sex"], strict=True):
        names[sex].add(name.split(" ")[0])
    assert set(given[:30]) == names["F"]
    assert set(given[30:]) == names["M"]
    assert names["X"] & names["F"]
    assert names["X"] & names["M"]


def test_given_names_repeat_nowhere() -> None:
    assert 60 == len(GIVEN_NAMES.split()) == len(set(GIVEN_NAMES.split()))


def test_some_names_are_common(cells: Cells) -> None:
    surnames = Counter(name.split(" ")[1] for name in cells["name"])
    (_, most), *_, (_, least) = surnames.most_common()
    assert most > 5 * least


def test_sexes(cells: Cells) -> None:
    counts = Counter(cells["sex"])
    assert {"F", "M", "X"} == set(counts)
    assert 0.5 < counts["F"] / 50_000 < 0.54
    assert 50 < counts["X"] < 300


def test_ages_are_those_of_a_hospital(cells: Cells) -> None:
    years = ages(cells)
    assert 0 <= min(years)
    assert 90 < max(years) < 100
    assert 0.05 < share(age < 18 for age in years) < 0.15
    assert 0.25 < share(age >= 65 for age in years) < 0.45


def test_everybody_is_born_before_admission(cells: Cells) -> None:
    dates = zip(cells["birth_date"], cells["admitted"], strict=True)
    assert all(born < admitted for born, admitted in dates)


def test_zips_are_text_of_five_digits(cells: Cells) -> None:
    zips = {code for code in cells["zip"] if code is not None}
    assert all(len(code) == 5 and code.isdecimal() for code in zips)
    assert set(ZIPS) == zips


def test_zips_keep_their_leading_zeros(cells: Cells) -> None:
    zips = [code for code in cells["zip"] if code is not None]
    assert "01234" in zips
    assert 0.5 < share(code.startswith("0") for code in zips) < 0.9


def test_zips_are_a_few_hundred_and_skewed(cells: Cells) -> None:
    counts = Counter(code for code in cells["zip"] if code is not None)
    tenth = [many for _, many in counts.most_common(len(counts) // 10)]
    assert 200 < len(counts) < 500
    assert sum(tenth) > 0.3 * 50_000
    assert counts.most_common(1)[0][1] > 20 * min(counts.values())


def test_every_zip_is_listed_once() -> None:
    assert len(set(ZIPS)) == len(ZIPS)


def test_occupations_are_about_forty_and_skewed(cells: Cells) -> None:
    counts = Counter(job for job in cells["occupation"] if job is not None)
    assert set(OCCUPATIONS) == set(counts)
    assert 38 <= len(counts) <= 46
    assert "Retired" == counts.most_common(1)[0][0]
    assert min(counts.values()) < 100
    assert max(counts.values()) > 5_000


def test_occupations_depend_on_age(cells: Cells) -> None:
    pairs = list(zip(cells["occupation"], ages(cells), strict=True))
    assert all(age < 30 for job, age in pairs if job == "Pupil")
    assert all(age > 41 for job, age in pairs if job == "Retired")
    children = [job for job, age in pairs if age < 16]
    assert {"Pupil", None} == set(children)


def test_insurances(cells: Cells) -> None:
    expected = {"Public", "Employer", "Private", "Self-pay", "Military", None}
    assert expected == set(cells["insurance"])
    old = where(cells, "birth_date", lambda born: born < date(1940, 1, 1))
    public = share(kind == "Public" for kind in cells["insurance"])
    assert share(kind == "Public" for kind in old["insurance"]) > public + 0.2


# --- What is missing ----------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "least", "most"),
    [
        ("occupation", 0.06, 0.12),
        ("insurance", 0.01, 0.03),
        ("zip", 0.005, 0.02),
    ],
)
def test_missing_where_reality_has_gaps(
    cells: Cells, column: str, least: float, most: float
) -> None:
    assert least < share(cell is None for cell in cells[column]) < most


def test_missing_nowhere_else(table: pa.Table) -> None:
    gaps = {name for name in COLUMNS if table.column(name).null_count}
    assert {"occupation", "insurance", "zip"} == gaps


# --- What happened to them ----------------------------------------------------


def test_admissions_fill_two_years(cells: Cells) -> None:
    counts = Counter(cells["admitted"])
    first, last = date(2022, 5, 1), date(2024, 4, 30)
    assert (first, last) == (min(counts), max(counts))
    assert (last - first + timedelta(days=1)).days == len(counts)


def test_diagnoses_are_about_25_and_strongly_skewed(cells: Cells) -> None:
    counts = Counter(cells["diagnosis"])
    assert set(DIAGNOSES) == set(counts)
    assert 23 <= len(counts) <= 28
    assert counts.most_common(1)[0][1] > 20 * min(counts.values())


def test_hiv_is_rare_and_there(cells: Cells) -> None:
    assert 0.001 < share(name == "HIV" for name in cells["diagnosis"]) < 0.01


@pytest.mark.parametrize(
    ("diagnosis", "never"), [("Childbirth", "M"), ("Prostate cancer", "F")]
)
def test_diagnoses_fit_the_sex(cells: Cells, diagnosis: str, never: str) -> None:
    ill = where(cells, "diagnosis", lambda name: name == diagnosis)
    assert len(ill["sex"]) > 100
    assert never not in ill["sex"]


def test_mothers_are_neither_children_nor_old(cells: Cells) -> None:
    mothers = where(cells, "diagnosis", lambda name: name == "Childbirth")
    assert 16 <= min(ages(mothers))
    assert max(ages(mothers)) <= 45


@pytest.mark.parametrize(
    ("younger", "older"),
    [
        ("Asthma", "COPD"),
        ("Appendicitis", "Heart failure"),
        ("Other fracture", "Hip fracture"),
        ("Depression", "Stroke"),
    ],
)
def test_diagnoses_depend_on_age(cells: Cells, younger: str, older: str) -> None:
    young = where(cells, "diagnosis", lambda name: name == younger)
    old = where(cells, "diagnosis", lambda name: name == older)
    assert statistics.median(ages(young)) + 20 < statistics.median(ages(old))


def test_wards(cells: Cells) -> None:
    assert 12 == len(WARDS)
    assert set(WARDS) == set(cells["ward"])


def test_children_lie_together(cells: Cells) -> None:
    born = zip(cells["ward"], cells["birth_date"], strict=True)
    assert all(
        (ward == "Paediatrics") == (day >= date(2006, 1, 1)) for ward, day in born
    )


def test_wards_fit_the_diagnosis(cells: Cells) -> None:
    grown = where(cells, "ward", lambda ward: ward != "Paediatrics")
    ill = where(grown, "diagnosis", lambda name: name == "Depression")
    assert 0.8 < share(ward == "Psychiatry" for ward in ill["ward"]) < 1
    assert "Surgery" not in ill["ward"]


def test_nights_are_skewed(cells: Cells) -> None:
    nights = cells["nights"]
    assert 0 == min(nights)
    assert 60 < max(nights) <= 90
    assert statistics.median(nights) <= 4 < statistics.fmean(nights)


def test_severe_illness_takes_longer(cells: Cells) -> None:
    stroke = where(cells, "diagnosis", lambda name: name == "Stroke")
    asthma = where(cells, "diagnosis", lambda name: name == "Asthma")
    assert statistics.median(asthma["nights"]) < statistics.median(stroke["nights"])


def test_costs_are_whole_cents(cells: Cells) -> None:
    assert all(cost == round(cost, 2) for cost in cells["cost"])
    assert 0 < min(cells["cost"])


def test_costs_grow_with_the_nights(cells: Cells) -> None:
    assert 0.9 < statistics.correlation(cells["nights"], cells["cost"]) < 1


def test_outcomes(cells: Cells) -> None:
    counts = Counter(cells["outcome"])
    assert {"home", "care home", "died"} == set(counts)
    assert 0.8 < counts["home"] / 50_000 < 0.95
    assert 0.01 < counts["died"] / 50_000 < 0.1
    assert 0.02 < counts["care home"] / 50_000 < 0.15


def test_outcomes_depend_on_the_diagnosis(cells: Cells) -> None:
    stroke = where(cells, "diagnosis", lambda name: name == "Stroke")
    arthrosis = where(cells, "diagnosis", lambda name: name == "Arthrosis")
    dead = share(end == "died" for end in arthrosis["outcome"])
    assert share(end == "died" for end in stroke["outcome"]) > 5 * dead


def test_outcomes_depend_on_age(cells: Cells) -> None:
    pneumonia = where(cells, "diagnosis", lambda name: name == "Pneumonia")
    old = where(pneumonia, "birth_date", lambda born: born < date(1940, 1, 1))
    young = where(pneumonia, "birth_date", lambda born: born > date(1980, 1, 1))
    for end in ("died", "care home"):
        rare = share(outcome == end for outcome in young["outcome"])
        assert share(outcome == end for outcome in old["outcome"]) > 3 * rare


# --- The planted breach -------------------------------------------------------


def fire_fighters(cells: Cells) -> list[int]:
    """Rows of the planted group."""
    pairs = zip(cells["zip"], cells["occupation"], strict=True)
    return [at for at, pair in enumerate(pairs) if pair == ("04417", "Fire fighter")]


def test_eight_of_nine_fire_fighters(cells: Cells) -> None:
    ill = [cells["diagnosis"][at] for at in fire_fighters(cells)]
    assert {"HIV": 8, "Back pain": 1} == Counter(ill)


def test_planted_people_are_not_in_one_place(cells: Cells) -> None:
    rows = fire_fighters(cells)
    gaps = {after - before for before, after in pairwise(rows)}
    assert {50_000 // 9} == gaps


def test_planted_people_could_work(cells: Cells) -> None:
    years = ages(cells)
    planted = [years[at] for at in fire_fighters(cells)]
    assert 25 < min(planted)
    assert max(planted) < 65


def test_planted_town_is_small_but_has_others(cells: Cells) -> None:
    assert 20 < cells["zip"].count("04417") < 60


def test_fire_fighters_elsewhere_are_ordinary(cells: Cells) -> None:
    others = where(cells, "zip", lambda code: code != "04417")
    firemen = where(others, "occupation", lambda job: job == "Fire fighter")
    assert len(firemen["zip"]) > 200
    assert share(name == "HIV" for name in firemen["diagnosis"]) < 0.05


@pytest.mark.parametrize(("rows", "seed"), SIZES_AND_SEEDS)
def test_planted_group_is_the_one_worst(rows: int, seed: int) -> None:
    cells = columns_of(make_patients(rows, seed=seed))
    known = zip(cells["zip"], cells["occupation"], strict=True)
    found = shares(known, cells["diagnosis"])
    assert Fraction(8, 9) == found.pop(("04417", "Fire fighter"))
    assert max(found.values()) <= Fraction(1, 4)


def test_some_other_groups_have_cases_too(cells: Cells) -> None:
    """Otherwise the planted group would be too easy to find."""
    known = zip(cells["zip"], cells["occupation"], strict=True)
    found = shares(known, cells["diagnosis"])
    assert sum(belief > 0 for belief in found.values()) > 50


def test_missing_counts_as_an_ordinary_value() -> None:
    cells = columns_of(make_patients(50_000, seed=11))
    known = list(zip(cells["zip"], cells["occupation"], strict=True))
    found = shares(known, cells["diagnosis"])
    partly = [belief for pair, belief in found.items() if None in pair]
    assert len(partly) > 100
    assert 0 < max(partly) <= Fraction(1, 4)


def test_planted_pair_is_the_worst_of_all_pairs(cells: Cells, policy: Toml) -> None:
    seen = binned(cells, policy)
    assert 7 == len(seen)
    worst = {
        (left, right): max(
            shares(
                zip(seen[left], seen[right], strict=True), cells["diagnosis"]
            ).values()
        )
        for left, right in combinations(seen, 2)
    }
    assert Fraction(8, 9) == worst.pop(("zip", "occupation"))
    assert max(worst.values()) < Fraction(8, 9)


@pytest.mark.parametrize(("rows", "seed"), SIZES_AND_SEEDS)
def test_pairs_without_the_planted_people_are_thin(
    rows: int, seed: int, policy: Toml
) -> None:
    """No pair of facts gives an ordinary patient's HIV away, at any size."""
    cells = columns_of(make_patients(rows, seed=seed))
    planted = set(fire_fighters(cells))
    seen = binned(cells, policy)
    thin = set(combinations(drawn_before(seen), 2))
    assert 15 == len(thin)
    for left, right in combinations(seen, 2):
        pairs = list(zip(seen[left], seen[right], strict=True))
        touched = {pairs[at] for at in planted}
        found = shares(pairs, cells["diagnosis"])
        rest = [belief for pair, belief in found.items() if pair not in touched]
        # The outcome follows from the illness: there, only the promise's limit holds.
        limit = Fraction(1, 4) if (left, right) in thin else Fraction(1, 2)
        assert max(rest, default=Fraction(0)) <= limit


# --- Its policy ---------------------------------------------------------------


def test_policy_is_one_that_privet_reads(policy: Toml) -> None:
    read = Policy.from_toml(POLICY)
    assert policy["title"] == read.title
    assert [each["name"] for each in policy["promise"]] == [
        promise.name for promise in read.promises
    ]
    assert tuple(policy["columns"]["quasi"]) == read.roles.quasi


def test_policy_names_columns_that_exist(policy: Toml, table: pa.Table) -> None:
    named = policy["columns"]
    lists = [named[role] for role in ("identifier", "quasi", "sensitive", "drop")]
    assert set(table.column_names) == set(chain(*lists))
    assert {named["target"], *policy["bins"]} <= set(named["quasi"])


def test_policy_roles_exclude_each_other(policy: Toml) -> None:
    named = policy["columns"]
    roles = ("identifier", "quasi", "sensitive", "drop")
    lists = list(chain.from_iterable(named[role] for role in roles))
    assert len(lists) == len(set(lists))


def test_policy_roles(policy: Toml) -> None:
    assert ["patient_id", "name"] == policy["columns"]["identifier"]
    assert ["diagnosis"] == policy["columns"]["sensitive"]
    assert "outcome" == policy["columns"]["target"]
    assert ["ward", "nights", "cost"] == policy["columns"]["drop"]
    facts = "birth_date sex zip occupation insurance admitted outcome"
    assert facts.split() == policy["columns"]["quasi"]


def test_policy_edges_rise_and_are_round(policy: Toml) -> None:
    assert {"birth_date", "admitted"} == set(policy["bins"])
    for edges in policy["bins"].values():
        assert sorted(set(edges)) == edges
    for name in ("birth_date", "admitted"):
        days = [date.fromisoformat(edge) for edge in policy["bins"][name]]
        assert all(day.day == 1 and day.month in (1, 7) for day in days)


def test_policy_edges_are_no_extremes_of_the_data(policy: Toml, cells: Cells) -> None:
    for name, days in policy["bins"].items():
        edges = [date.fromisoformat(day) for day in days]
        assert min(cells[name]) < edges[0]
        assert edges[-1] < max(cells[name])


def test_policy_bins_all_hold_people(policy: Toml, cells: Cells) -> None:
    for name, edges in policy["bins"].items():
        dates = isinstance(edges[0], str)
        cuts = [date.fromisoformat(edge) for edge in edges] if dates else edges
        filled = {bisect_right(cuts, cell) for cell in cells[name]}
        assert set(range(len(edges) + 1)) == filled


def test_policy_promises_are_about_linkers(policy: Toml) -> None:
    for promise in policy["promise"]:
        assert "linker" == promise["against"]
        assert 0 < promise["at_most"] < 1
        assert not {"knows", "knows_any"} <= promise.keys()
    first, last = policy["promise"][:4], policy["promise"][4]
    assert [{"diagnosis": "HIV"}] * 4 == [promise["about"] for promise in first]
    assert "diagnosis" == last["about"]


def test_policy_ends_with_promises_about_all_known_columns(policy: Toml) -> None:
    few, full = policy["promise"][:3], policy["promise"][3:]
    assert all("knows" in promise or "knows_any" in promise for promise in few)
    assert 2 == len(full)
    assert not any("knows" in promise or "knows_any" in promise for promise in full)
    assert [{"k_anonymity": 5}] == policy["measure"]


def test_policy_promises_have_different_names(policy: Toml) -> None:
    names = [promise["name"] for promise in policy["promise"]]
    assert 5 == len(names) == len(set(names))


def worst_belief(promise: Toml, cells: Cells, policy: Toml) -> Fraction:
    """The belief of the promise's best informed adversary, by brute force."""
    seen = binned(cells, policy)
    about = promise["about"]
    values = DIAGNOSES if about == "diagnosis" else [about["diagnosis"]]
    sets = (
        list(combinations(seen, promise["knows_any"]))
        if "knows_any" in promise
        else [promise.get("knows", list(seen))]
    )
    return max(
        belief
        for names in sets
        for value in values
        for belief in shares(
            zip(*(seen[name] for name in names), strict=True), cells["diagnosis"], value
        ).values()
    )


def test_policy_has_broken_promises_and_a_kept_one(policy: Toml, cells: Cells) -> None:
    beliefs = [worst_belief(each, cells, policy) for each in policy["promise"]]
    limits = [Fraction(str(each["at_most"])) for each in policy["promise"]]
    assert [Fraction(8, 9), Fraction(8, 9)] == beliefs[:2]
    kept = [belief <= limit for belief, limit in zip(beliefs, limits, strict=True)]
    assert [False, False, True, False, False] == kept
    assert [1, 1] == beliefs[3:]


def test_kept_promise_leaves_ample_room(policy: Toml, cells: Cells) -> None:
    belief = worst_belief(policy["promise"][2], cells, policy)
    assert 0 < belief < Fraction(1, 20)


@pytest.mark.parametrize("seed", [1])
def test_promises_fare_alike_with_other_seeds(seed: int, policy: Toml) -> None:
    cells = columns_of(make_patients(50_000, seed=seed))
    broken, pairs, kept, *full = policy["promise"]
    assert Fraction(8, 9) == worst_belief(broken, cells, policy)
    assert Fraction(8, 9) <= worst_belief(pairs, cells, policy)
    assert worst_belief(kept, cells, policy) <= Fraction(1, 4)
    assert [1, 1] == [worst_belief(each, cells, policy) for each in full]


@pytest.mark.parametrize(("rows", "seed"), [(1_000, 20_240_501), (5_000, 1)])
def test_a_release_covers_everybody(rows: int, seed: int, tmp_path: Path) -> None:
    """Counted in the file itself: nobody is alone, and nothing is certain."""
    with pv.read(make_patients(rows, seed=seed)) as people:
        release = pv.publish(people, Policy.from_toml(POLICY), method=pv.Mondrian())
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    checked = pv.verify(tmp_path / "out")
    assert checked.good
    content = json.loads((tmp_path / "out" / "release.json").read_text("utf-8"))
    assert 0 == content["exposure"]["unique"]
    assert 0 == content["exposure"]["columns"]["diagnosis"]["certain"]
    shown = pq.read_table(tmp_path / "out" / "table.parquet")
    assert not {"ward", "nights", "cost", "name", "patient_id"} & {*shown.column_names}
    facts = [name for name in shown.column_names if name != "diagnosis"]
    assert 7 == len(facts)
    cells = columns_of(shown)
    groups = list(zip(*(map(str, cells[name]) for name in facts), strict=True))
    assert rows == len(groups)
    assert 5 <= min(Counter(groups).values())
    for value in DIAGNOSES:
        limit = Fraction(1, 10) if value == "HIV" else Fraction(1, 2)
        assert max(shares(groups, cells["diagnosis"], value).values()) <= limit


# --- The bank of the paper ----------------------------------------------------


@pytest.fixture(scope="module")
def bank() -> list[dict[str, str]]:
    """Table 1 of Wang, Fung, Yu 2007, one dictionary per row."""
    with as_file(bank_path()) as path, path.open(newline="") as file:
        return list(csv.DictReader(file))


def customers(bank: list[dict[str, str]], **wanted: str) -> int:
    """Add up the customers who look as wanted."""
    return sum(int(row["count"]) for row in bank if wanted.items() <= row.items())


def test_bank_columns(bank: list[dict[str, str]]) -> None:
    expected = ["job", "country", "child", "bankruptcy", "rating", "count"]
    assert expected == list(bank[0])


def test_bank_has_24_customers(bank: list[dict[str, str]]) -> None:
    assert 24 == customers(bank)
    assert (15, 9) == (customers(bank, rating="G"), customers(bank, rating="B"))


def test_bank_four_of_five_british_traders(bank: list[dict[str, str]]) -> None:
    """The paper's Example 1: support 5, confidence 80 %; prior 5 of 24."""
    traders = {"job": "Trader", "country": "UK"}
    assert 5 == customers(bank, **traders)
    assert 4 == customers(bank, **traders, bankruptcy="Discharged")
    assert 5 == customers(bank, bankruptcy="Discharged")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (("Cook", "US", "No", "Current"), 0, 4),
        (("Artist", "France", "No", "Current"), 1, 3),
        (("Doctor", "US", "Yes", "Never"), 4, 2),
        (("Trader", "UK", "No", "Discharged"), 4, 0),
        (("Trader", "UK", "No", "Never"), 1, 0),
        (("Trader", "Canada", "No", "Never"), 1, 0),
        (("Clerk", "Canada", "No", "Never"), 3, 0),
        (("Clerk", "Canada", "No", "Discharged"), 1, 0),
    ],
)
def test_bank_rows_of_the_paper(
    bank: list[dict[str, str]], kind: tuple[str, ...], good: int, bad: int
) -> None:
    wanted = dict(zip(("job", "country", "child", "bankruptcy"), kind, strict=True))
    assert good == customers(bank, **wanted, rating="G")
    assert bad == customers(bank, **wanted, rating="B")


def test_bank_only_doctors_have_children(bank: list[dict[str, str]]) -> None:
    assert {"Doctor"} == {row["job"] for row in bank if row["child"] == "Yes"}


def test_bank_rows_differ_and_stand_for_somebody(bank: list[dict[str, str]]) -> None:
    kinds = {tuple(row.values())[:-1] for row in bank}
    assert 10 == len(bank) == len(kinds)
    assert all(int(row["count"]) > 0 for row in bank)
