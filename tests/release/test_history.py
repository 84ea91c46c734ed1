"""Attacks on a release with its history: each was called safe once, and is not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.joint_counts import ask_promises

HIV = {"ill": "hiv"}
ROLES = pv.Roles(identifier="name", quasi="job", sensitive="ill")

Columns = dict[str, list[Any]]


def promise(
    level: str = "1/2", against: pv.Adversary | None = None, **about: Any
) -> pv.Promise:
    return pv.Promise(against or pv.Linker(), pv.Ceiling(level), about or HIV)


class Office:
    """A steward with one ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        pv.Ledger.create(folder / "ledger")
        self.number = 0

    def policy(self, *promises: pv.Promise, **more: Any) -> pv.Policy:
        ledger = str(self.folder / "ledger")
        return pv.Policy(promises=promises, ledger=ledger, **{"roles": ROLES, **more})

    def publish(self, rows: Columns, *promises: pv.Promise, **more: Any) -> pv.Release:
        policy = self.policy(*promises, **more)
        release = pv.publish(pv.read(pa.table(rows)), policy)
        self.number += 1
        release.write(
            self.folder / f"out-{self.number}",
            custody=self.folder / f"vault-{self.number}",
        )
        return release

    def audit(self, rows: Columns, *promises: pv.Promise, **more: Any) -> pv.Audit:
        policy = self.policy(*promises, **more)
        return pv.audit(pv.read(pa.table(rows)), policy)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


MAY: Columns = {
    "name": list("abcdefgh"),
    "job": ["cook"] * 8,
    "ill": ["hiv", "ok"] * 4,
}


def test_an_insider_of_two_deliveries_is_left_open(office: Office) -> None:
    office.publish(MAY, promise("3/4"))
    june = {
        "name": [*MAY["name"], "i", "j"],
        "job": ["cook"] * 10,
        "ill": [*MAY["ill"], "hiv", "hiv"],
    }
    insider = promise("3/4", pv.Insider(rules_out=0))
    found = office.audit(june, insider)
    assert pv.Verdict.UNDECIDED is found.verdict
    assert found.history is not None
    assert "insider" in found.history.findings[0].note


def test_people_with_several_rows_are_left_open_across_deliveries(
    office: Office,
) -> None:
    """Both newcomers have hiv in one of two rows: 2 of 2 people, though 2 of 4 rows."""
    office.publish(MAY, promise("3/4"))
    june = {
        "name": [*MAY["name"], *"ijij"],
        "job": ["cook"] * 12,
        "ill": [*MAY["ill"], "hiv", "hiv", "ok", "ok"],
    }
    roles = pv.Roles(unit="name", quasi="job", sensitive="ill")
    found = office.audit(june, promise("3/4"), roles=roles)
    assert pv.Verdict.UNDECIDED is found.verdict


BEFORE: Columns = {
    "name": list("abcdefgh"),
    "job": list("xxxxyyyy"),
    "ill": ["hiv", "flu", "ok", "flu", "ok", "ok", "flu", "flu"],
}
AFTER: Columns = {
    "name": list("acdefghi"),
    "job": list("yxxyyyyy"),
    "ill": ["hiv", "ok", "flu", "ok", "ok", "flu", "flu", "ok"],
}
"""Ann went from x to y, Ben of x left and a new one came to y: of those who left x one
in two has hiv, and of those who came to y; only hiv is in both."""


def test_who_moved_and_kept_a_value_is_looked_for_in_both_groups(
    office: Office,
) -> None:
    office.publish(BEFORE, promise("3/4"))
    with pytest.raises(pv.NotTogether, match="how a person's row changed"):
        office.publish(AFTER, promise("1/2"))
    accepted = pv.Accepted("ill", of="matching", up_to=0, why="few")
    with pytest.raises(pv.NotTogether):
        office.publish(AFTER, promise("1/2"), accepted=[accepted])
    accepted = pv.Accepted("ill", of="matching", up_to=1, why="one person moved")
    assert office.publish(AFTER, promise("1/2"), accepted=[accepted]).safe


def test_without_names_a_changed_row_is_one_that_left_and_one_that_came(
    office: Office,
) -> None:
    roles = pv.Roles(quasi="job", sensitive="ill", drop="name")
    # The first letter of a name is no name: two people may share it.
    office.publish(BEFORE, promise("3/4"), roles=roles)
    assert office.publish(AFTER, promise("1/2"), roles=roles).safe


TWO_FILES: Columns = {
    "name": [f"n{i}" for i in range(7)],
    "a": list("0111110"),
    "b": list("xxyxyyx"),
    "t": list("BBBBGGB"),
    "ill": ["ok", "ok", "hiv", "ok", "hiv", "ok", "ok"],
}


def test_the_target_is_known_across_releases_too(office: Office) -> None:
    """Whoever knows a, b and the target t holds 5/6 by both files."""
    first = pv.Roles(identifier="name", quasi="b", sensitive="ill", drop=["a", "t"])
    second = pv.Roles(
        identifier="name", quasi="a", sensitive="ill", drop="b", target="t"
    )
    office.publish(TWO_FILES, promise("4/5"), roles=first)
    with pytest.raises(pv.NotTogether) as told:
        office.publish(TWO_FILES, promise("4/5"), roles=second)
    (finding,) = told.value.findings
    assert pv.Verdict.BREACH is finding.verdict
    assert Fraction(5, 6) == finding.belief.posterior


def test_a_promise_that_names_the_target_is_the_one_that_covers(
    office: Office,
) -> None:
    """A lower limit for those who do not know the target is not held against others."""
    first = pv.Roles(identifier="name", quasi="b", sensitive="ill", drop=["a", "t"])
    second = pv.Roles(
        identifier="name", quasi="a", sensitive="ill", drop="b", target="t"
    )
    office.publish(TWO_FILES, promise("4/5"), roles=first)
    stated = promise("4/5"), promise("0.95", pv.Linker(knows=["a", "t"]))
    accepted = [pv.Accepted("ill", of="matching", why="rows are in random order")]
    assert office.publish(TWO_FILES, *stated, roles=second, accepted=accepted).safe


def test_nothing_new_is_still_held_against_a_lower_limit(office: Office) -> None:
    """The new ones are 2 of 3: within 9/10, when both were out; not within 1/2."""
    may = {
        "name": list("abcdefgh"),
        "job": list("xxxxyyyy"),
        "ill": ["hiv", "flu", "ok", "flu", "hiv", "ok", "flu", "flu"],
    }
    june = {
        "name": [*may["name"], *"ijk"],
        "job": [*may["job"], *"xxx"],
        "ill": [*may["ill"], "hiv", "hiv", "ok"],
    }
    for rows in (may, june, june):
        office.publish(rows, promise("9/10"))
    with pytest.raises(pv.NotTogether, match=r"66\.7 %"):
        office.publish(june, promise("1/2"))


def test_what_columns_tell_is_known_across_deliveries(office: Office) -> None:
    """A cook is always of ward 1: who knows the job knows the ward."""
    rows = {
        "name": list("abcdefgh"),
        "job": ["cook"] * 4 + ["spy"] * 4,
        "ward": list("11112222"),
        "ill": ["hiv", "ok"] * 4,
    }
    later = {
        "name": [*rows["name"], *"ijkl"],
        "job": [*rows["job"], "cook", "cook", "spy", "spy"],
        "ward": [*rows["ward"], *"1122"],
        "ill": [*rows["ill"], "hiv", "hiv", "ok", "ok"],
    }
    roles = pv.Roles(identifier="name", quasi="job", other="ward", sensitive="ill")
    told = pv.DerivedColumn("ward", "job")
    stated = promise("3/4", pv.Linker(knows=["job"])), promise("1")
    more = {
        "roles": roles,
        "derived": [told],
        "accepted": [pv.Accepted("ill", why="a test")],
    }
    table = pv.read(pa.table(later)).with_roles(roles)
    (asked, _) = ask_promises(stated, replace(table, derived=(told,)))
    assert (("job",), ("job", "ward")) == asked.known
    office.publish(rows, *stated, **more)
    with pytest.raises(pv.NotTogether, match="100 %"):
        office.publish(later, *stated, **more)


def test_time_runs_out_while_releases_are_judged(office: Office) -> None:
    office.publish(MAY, promise("3/4"))
    policy = office.policy(promise("3/4"))
    table = pv.read(pa.table(MAY))
    found = pv.audit(table, policy, max_seconds=1e-9)
    assert pv.Verdict.UNDECIDED is found.verdict


def test_measures_are_of_one_file_and_the_report_says_so(office: Office) -> None:
    """Two by job and two by city; nobody is like another in both."""
    rows = {
        "name": list("abcd"),
        "job": list("xxyy"),
        "city": list("uvuv"),
        "ill": ["hiv", "ok", "ok", "hiv"],
    }
    more = {"measures": [pv.Measure(k_anonymity=2)]}
    jobs = pv.Roles(identifier="name", quasi="job", drop="city", sensitive="ill")
    cities = pv.Roles(identifier="name", quasi="city", drop="job", sensitive="ill")
    office.publish(rows, promise("0.95"), roles=jobs, **more)
    accepted = [pv.Accepted("ill", of="matching", why="a test")]
    second = office.publish(
        rows, promise("0.95"), roles=cities, accepted=accepted, **more
    )
    assert second.history is not None
    assert any("this file alone" in w for w in second.history.to_dict()["words"])
    again = office.publish(
        rows, promise("0.95"), roles=cities, accepted=accepted, **more
    )
    assert again.history is not None
    assert () == again.history.notes
