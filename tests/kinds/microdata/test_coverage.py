"""What no promise covers is NOT COVERED until somebody accepts it by name."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import privet as pv

ROWS = {
    "job": ["Cook", "Cook", "Cook", "Cook", "Spy", "Spy", "Spy", "Spy"],
    "age": ["20", "20", "40", "40", "20", "20", "40", "40"],
    "ill": ["flu", "hiv", "flu", "hiv", "flu", "hiv", "hiv", "hiv"],
}
"""Jobs alone leave one in two and three in four; a Spy of 40 has hiv for sure."""


def read(**roles: object) -> pv.Table:
    given = {"quasi": ["job", "age"], "sensitive": "ill", **roles}
    columns = dict(ROWS)
    for extra in ("ward", "grade", "cost"):
        if any(extra in str(v) for v in given.values()):
            columns[extra] = ["a", "b", "a", "b", "a", "b", "a", "b"]
    return pv.read(pa.table(columns), **given)


def promise(level: str = "4/5", **given: object) -> pv.Promise:
    adversary = given.pop("against", None) or pv.Linker(**given)
    return pv.Promise(adversary, pv.Ceiling(level), {"ill": "hiv"})


JOB = promise(knows=["job"])


def list_uncovered(found: pv.Audit) -> list[pv.Finding]:
    assert {f.verdict for f in found.uncovered} <= {pv.Verdict.NOT_COVERED}
    return list(found.uncovered)


def test_a_promise_about_some_known_columns_does_not_cover() -> None:
    found = pv.audit(read(), [JOB])
    assert [pv.Verdict.SAFE] == [f.verdict for f in found.findings]
    assert ["safe", "not covered"] == [
        f["verdict"] for f in found.to_dict()["findings"]
    ]
    assert pv.Verdict.NOT_COVERED is found.verdict
    assert not found.safe
    (line,) = list_uncovered(found)
    assert 2 == line.people_above
    assert "it concerns 2 of 8 people" in line.explain()


def test_a_linker_who_has_all_known_columns_covers() -> None:
    found = pv.audit(read(), [promise("1", knows=["job"]), promise(knows_any=2)])
    assert pv.Verdict.BREACH is found.verdict
    assert [] == list_uncovered(found)
    assert [] == list_uncovered(pv.audit(read(), [promise()]))


def test_a_limit_of_1_covers_nothing() -> None:
    assert 1 == len(list_uncovered(pv.audit(read(), [promise("1")])))


def test_an_insider_covers_whose_groups_are_all_known_columns() -> None:
    insider = promise(against=pv.Insider())
    assert [] == list_uncovered(pv.audit(read(), [insider]))


def test_an_insider_does_not_cover_a_column_beside_the_groups_that_tells() -> None:
    # Within a job and an age, the ward tells who has which.
    insider = promise(against=pv.Insider())
    found = pv.audit(read(other="ward"), [insider])
    assert 1 == len(list_uncovered(found))
    assert 5 == list_uncovered(found)[0].people_above


def test_a_column_beside_the_groups_that_adds_nothing_is_covered_by_count() -> None:
    # Limit 1 for certainty aside: nobody with the target too is beyond 4/5 of flu.
    rows = {
        "job": ["Cook"] * 4,
        "grade": ["a", "a", "b", "b"],
        "ill": ["flu", "hiv", "flu", "hiv"],
    }
    table = pv.read(pa.table(rows), quasi="job", sensitive="ill", target="grade")
    found = pv.audit(table, [promise()])
    assert ("job", "grade") == found.exposure.columns[0].known
    assert found.safe


def test_the_target_is_known_unless_it_is_asked_about() -> None:
    found = pv.audit(read(target="grade"), [promise(knows=["job", "age"])])
    assert 1 == len(list_uncovered(found))
    table = pv.read(pa.table(ROWS), quasi=["job", "age"], sensitive="ill", target="ill")
    assert ("job", "age") == pv.audit(table, [promise()]).exposure.columns[0].known


def test_each_value_that_promises_name_must_be_covered() -> None:
    flu = pv.Promise(pv.Linker(knows=["job"]), pv.Ceiling("4/5"), {"ill": "flu"})
    assert 1 == len(list_uncovered(pv.audit(read(), [promise(), flu])))
    all_flu = pv.Promise(pv.Linker(), pv.Ceiling("4/5"), {"ill": "flu"})
    assert [] == list_uncovered(pv.audit(read(), [promise(), all_flu]))


def test_every_sensitive_column_must_be_covered() -> None:
    found = pv.audit(read(sensitive=["ill", "cost"]), [promise()])
    assert ["cost"] == [f.promise.about for f in list_uncovered(found)]


def test_a_measure_covers_nothing() -> None:
    found = pv.audit(read(), [pv.Measure(k_anonymity=2)])
    assert pv.Verdict.NOT_COVERED is found.verdict


def test_without_exposure_only_what_is_promised_counts() -> None:
    found = pv.audit(read(target="grade"), [promise()], exposure=False)
    assert found.exposure is None
    assert 1 == len(list_uncovered(found))  # the target may tell more; nobody counted
    assert "not counted" in list_uncovered(found)[0].explain()
    assert any("not counted" in note for note in found.notes)


# Accepting ------------------------------------------------------------------------


def as_policy(**accepted: object) -> pv.Policy:
    entry = pv.Accepted("ill", **{"why": "they agreed", "who": "Ada B.", **accepted})
    roles = pv.Roles(quasi=["job", "age"], sensitive=["ill"])
    return pv.Policy(promises=[JOB], roles=roles, accepted=[entry])


def test_an_accepted_column_is_no_longer_uncovered() -> None:
    found = pv.audit(read(), as_policy(up_to=2))
    assert found.safe
    assert "Accepted of ill, up to 2 people: they agreed" in found.explain()


def test_more_people_than_were_accepted_are_not_covered_again() -> None:
    found = pv.audit(read(), as_policy(up_to=1))
    assert pv.Verdict.NOT_COVERED is found.verdict
    assert "Accepted were 1" in list_uncovered(found)[0].explain()


def test_nothing_is_written_until_it_is_accepted(tmp_path: Path) -> None:
    release = pv.publish(read(), [JOB])
    assert pv.Verdict.NOT_COVERED is release.verdict
    assert 2 == release.exposure.columns[0].certain
    out, vault = tmp_path / "out", tmp_path / "vault"
    with pytest.raises(pv.NotCovered, match="No promise limits how sure of ill") as e:
        release.write(out, custody=vault)
    assert 'about = "ill"\nup_to = 2' in str(e.value)
    assert [] == list(tmp_path.iterdir())
    written = release.write(out, custody=vault, accept={"ill": "they agreed"})
    assert [{"about": "ill", "of": "linkage", "why": "they agreed"}] == (
        written.manifest["accepted"]
    )
    assert pv.verify(out).good


def test_the_note_says_why_and_custody_alone_who(tmp_path: Path) -> None:
    out, vault = tmp_path / "out", tmp_path / "vault"
    pv.publish(read(), as_policy(up_to=2)).write(out, custody=vault)
    public = "".join(
        p.read_text("utf-8", errors="replace") for p in out.iterdir() if p.is_file()
    )
    assert "they agreed" in (out / "README.txt").read_text()
    assert "Ada B." not in public
    record = json.loads((vault / "custody.json").read_text())
    assert "Ada B." == record["accepted"][0]["who"]


def test_accepting_a_column_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pv.InputError, match="accept must name columns"):
        pv.publish(read(), [JOB]).write(
            tmp_path / "out", custody=tmp_path / "vault", accept={"job": "x"}
        )


# Verifying ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["exposure"].update(unique=1),
        lambda c: c["exposure"]["columns"]["ill"].update(certain=0),
        lambda c: c["exposure"]["columns"]["ill"]["beyond"][0].update(people=0),
        lambda c: c["exposure"].update(columns={}),
        lambda c: c.pop("exposure"),
        lambda c: c.update(exposure={}),
        lambda c: c.pop("accepted"),
        lambda c: c["accepted"][0].update(up_to=1),
        lambda c: c.update(accepted=[{"about": 3}]),
        lambda c: c.update(accepted="ill"),
    ],
)
def test_what_a_manifest_says_of_exposure_is_recounted(
    tmp_path: Path, change: object
) -> None:
    out = tmp_path / "out"
    pv.publish(read(), as_policy(up_to=2)).write(out, custody=tmp_path / "vault")
    assert pv.verify(out).good
    content = json.loads((out / "release.json").read_text())
    change(content)  # type: ignore[operator]
    (out / "release.json").write_text(json.dumps(content))
    with suppress(pv.InputError):  # what is no manifest at all is said at once
        assert not pv.verify(out).good
