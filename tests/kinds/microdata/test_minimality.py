"""Whoever knows the method: a worked example, its grants, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.minimality.minimality import measure_cheaply, read_dictionaries
from privet.microdata.report import as_text, summarise_release

FOUR = {
    "job": ["Clerk", "Clerk", "Baker", "Clerk"],
    "town": ["Rome", "Oslo", "Bonn", "Bonn"],
    "ill": ["no", "no", "no", "yes"],
}
HALF = pv.Promise(
    pv.Linker(["job", "town"]), pv.Ceiling("1/2"), {"ill": "yes"}, name="half"
)


def read(columns: dict[str, list[Any]], **roles: Any) -> pv.Table:
    quasi = [c for c in columns if c not in ("ill", "rating")]
    return pv.read(pa.table(columns), quasi=quasi, sensitive="ill", **roles)


def find(found: Any, **knows: str) -> pv.Belief:
    return next(b.belief for b in found.beliefs if dict(b.knows) == knows)


def test_the_method_gives_a_clerk_away() -> None:
    """Of eight tables one is left: the file says 1/2, the method 1."""
    release = pv.publish(read(FOUR), HALF)
    assert {"town": ["Bonn", "Rome"]} == release.hidden
    assert release.audit.safe
    found = pv.Minimality().attack(release)
    assert (8, 1) == (found.tables, found.fitting)
    assert pv.Belief("1/2", 1) == find(found, job="Clerk", town="Bonn")
    assert pv.Belief("1/2", 0) == find(found, job="Clerk", town="Rome")
    assert found.worst is not None
    assert found.worst.beyond
    assert (found.worst,) == found.beyond


def test_a_larger_dictionary() -> None:
    """The ill clerk and the baker share a town, the well clerk has another one, which
    comes after Oslo in the alphabet: 2 towns, and 3 that are left for the others.
    """
    release = pv.publish(read(FOUR), HALF)
    towns = ["Bonn", "Oslo", "Rome", "Turin", None]
    found = pv.Minimality(domain={"town": towns}).attack(release)
    assert 4 * 4 * 4 == found.tables
    assert 2 * 3 == found.fitting
    assert pv.Belief("1/2", 1) == find(found, job="Clerk", town="Bonn")
    assert pv.Belief("1/2", "1/4") == find(found, job="Clerk", town="Rome")


def test_without_the_method_it_is_what_an_audit_counts() -> None:
    release = pv.publish(read(FOUR), HALF)
    found = pv.Minimality().attack(release)
    highest = max(b.belief.prior for b in found.beliefs)
    assert release.audit.worst.belief is not None
    assert release.audit.worst.belief.posterior == highest


def test_from_the_folder_with_the_custody_record(tmp_path: Path) -> None:
    made = pv.publish(read(FOUR), HALF)
    made.write(tmp_path / "out", custody=tmp_path / "vault")
    release = pv.load(tmp_path / "out")
    with pytest.raises(pv.InputError, match=r"domain must list the values .*'town'"):
        pv.Minimality().attack(release)
    known = read_dictionaries(tmp_path / "vault")
    assert {"town": ("Bonn", "Rome", "Oslo")} == known
    found = pv.Minimality(domain=known).attack(release)
    assert pv.Minimality().attack(made).to_dict() == found.to_dict()


def test_groups_from_the_folder(tmp_path: Path) -> None:
    ages = {
        "age": [2, 3, 1, 2, 2, 1],
        "ill": ["yes", "yes", "no", "no", "no", "no"],
    }
    limit = pv.Promise(pv.Linker(["age"]), pv.Ceiling("2/3"), {"ill": "yes"})
    made = pv.publish(read(ages), limit, method=pv.Mondrian())
    made.write(tmp_path / "out", custody=tmp_path / "vault")
    known = read_dictionaries(tmp_path / "vault")
    found = pv.Minimality(domain=known).attack(pv.load(tmp_path / "out"))
    assert pv.Minimality().attack(made).to_dict() == found.to_dict()
    assert found.fitting < found.tables


def test_intervals_from_the_folder(tmp_path: Path) -> None:
    ages = {
        "age": [20, 30, 40, 50, 60, None],
        "ill": ["no", "yes", "no", "no", "yes", "no"],
    }
    limit = pv.Promise(pv.Linker(["age"]), pv.Ceiling("1/2"), {"ill": "yes"})
    made = pv.publish(read(ages), limit)
    assert made.intervals is not None
    assert made.intervals["age"]
    made.write(tmp_path / "out", custody=tmp_path / "vault")
    values = ["20", "30", "40", "50", "60", None]
    found = pv.Minimality(domain={"age": values}).attack(pv.load(tmp_path / "out"))
    assert pv.Minimality().attack(made).to_dict() == found.to_dict()


BINS = {"age": [30, 50, 60]}


def test_bins_are_cut_in_their_own_order() -> None:
    """Of four below 50 two are ill: 6 of 9 tables would break the promise below 30."""
    ages = {
        "age": [10, 20, 30, 40, 50, 60, 70, 80],
        "ill": ["yes", "yes", "no", "no", "no", "yes", "no", "no"],
    }
    limit = pv.Promise(pv.Linker(["age"]), pv.Ceiling("1/2"), {"ill": "yes"})
    method = pv.TopDownDisclosure(ordered=["age"])
    release = pv.publish(read(ages, bins=BINS), limit, method=method)
    assert {"age": [None, "30 to below 50", "50 to below 60"]} == release.intervals
    found = pv.Minimality().attack(release)
    assert (9, 6) == (found.tables, found.fitting)


def test_empty_bins_hide_no_value() -> None:
    """60 of 200 tables have two bins, of which 48 are not told apart."""
    ages = {"age": [30, 70, 30, 70, 70], "ill": ["yes", "no", "yes", "no", "yes"]}
    limit = pv.Promise(pv.Linker(["age"]), pv.Ceiling("2/3"), {"ill": "yes"})
    method = pv.TopDownDisclosure(ordered=["age"], split="infogain")
    stated = [limit, pv.Measure(k_anonymity=2)]
    release = pv.publish(read(ages, bins=BINS), stated, method=method)
    assert {"age": []} == release.intervals
    bins = ["below 30", "30 to below 50", "50 to below 60", "60 and more"]
    found = pv.Minimality(domain={"age": bins}).attack(release)
    assert (200, 48) == (found.tables, found.fitting)


def test_missing_values_that_nobody_has_are_not_hidden() -> None:
    """Where hidden cells are empty, they would be hidden, too."""
    ages = {"age": [30, 70, 30, 70, 70], "ill": ["yes", "no", "yes", "no", "yes"]}
    limit = pv.Promise(pv.Linker(["age"]), pv.Ceiling("2/3"), {"ill": "yes"})
    found = []
    for hidden in ("marker", "null"):
        method = pv.TopDownDisclosure(ordered=(), hidden=hidden)
        release = pv.publish(read(ages, bins=BINS), limit, method=method)
        own = pv.Minimality(domain={"age": ["30 to below 50", "60 and more"]})
        found.append(own.attack(release).to_dict())
    assert found[0] == found[1]


def test_too_many_tables() -> None:
    """Refused before anything is listed, with their number."""
    rows = {c: v * 30 for c, v in FOUR.items()}
    release = pv.publish(read(rows), HALF)
    with pytest.raises(pv.TooLarge, match=r"at most 1,000 .* there would be 29,791"):
        pv.Minimality(most=1000).attack(release)


def test_stops_in_time() -> None:
    rows = {c: v * 30 for c, v in FOUR.items()}
    release = pv.publish(read(rows), HALF)
    with pytest.raises(pv.Stopped):
        pv.Minimality().attack(release, max_seconds=0.05)


def test_columns_the_method_does_not_look_at_may_have_hierarchies() -> None:
    above = {"Rome": ["south", "*"], "Bonn": ["north", "*"], "Oslo": ["north", "*"]}
    promise = pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/4"), {"ill": "yes"})
    plain = pv.TopDownDisclosure()
    graded = pv.TopDownDisclosure(hierarchies={"town": above})
    made = [pv.publish(read(FOUR), promise, method=m) for m in (plain, graded)]
    assert {"job": ["Baker", "Clerk"]} == made[1].hidden == made[0].hidden
    found = [pv.Minimality().attack(release).to_dict() for release in made]
    assert found[0] == found[1]


def test_other_options_give_no_table() -> None:
    release = pv.publish(read(FOUR), HALF)
    other = pv.Minimality(method=pv.TopDownDisclosure(keep=["town"]))
    with pytest.raises(pv.InputError, match="it does for none"):
        other.attack(release)


@pytest.mark.parametrize(
    ("domain", "error"),
    [({"town": "Bonn"}, "must be a list of values"), ({"town": []}, "must be a list")],
)
def test_domains_must_be_lists(domain: Any, error: str) -> None:
    with pytest.raises(pv.InputError, match=error):
        pv.Minimality(domain=domain)


def test_a_domain_without_a_value_for_a_cell() -> None:
    release = pv.publish(read(FOUR), HALF)
    with pytest.raises(pv.InputError, match="must have a value for every cell"):
        pv.Minimality(domain={"town": ["Oslo"]}).attack(release)


def test_recipes_have_no_method() -> None:
    release = pv.publish(read(FOUR), HALF)
    again = pv.publish(read(FOUR), HALF, recipe=release.recipe)
    with pytest.raises(pv.NoAudit, match="got 'recipe'"):
        pv.Minimality().attack(again)


def test_buckets_and_weights_are_refused() -> None:
    buckets = pv.publish(read(FOUR), HALF, method=pv.Mondrian(form="buckets"))
    with pytest.raises(pv.NoAudit, match="generalised"):
        pv.Minimality().attack(buckets)
    heavy = read({**FOUR, "rating": [1, 2, 1, 1]}, weight="rating")
    with pytest.raises(pv.NoAudit, match="one row per person"):
        pv.Minimality().attack(pv.publish(heavy, HALF))


def test_the_report_of_a_release_names_it_with_the_figure() -> None:
    told = summarise_release(pv.publish(read(FOUR), HALF))
    text = as_text(told)
    assert "Not covered: someone who knows how it was chosen what to hide." in text
    assert "Of 8 tables that this file allows, 1 would give it." in text
    assert "100 % sure (1) that ill is yes; from the file alone 50 % (1/2)" in text
    assert 1 == told["method_known"]["fitting"]


def test_the_report_of_a_large_release_has_no_figure() -> None:
    rows = {c: v * 30 for c, v in FOUR.items()}
    release = pv.publish(read(rows), HALF)
    assert measure_cheaply(release) is None
    assert "can be counted for small releases only" in as_text(
        summarise_release(release)
    )


def test_nothing_hidden_nothing_to_say() -> None:
    loose = pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/2"), {"ill": "yes"})
    told = summarise_release(pv.publish(read(FOUR), loose))
    assert told["method_known"] is None
