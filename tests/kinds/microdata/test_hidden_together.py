"""Columns that undo hiding: known ones tell shown ones, shown ones tell hidden ones."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.dependence import told_columns

HIDING = pv.TopDownDisclosure(ordered=())
TWO_THIRDS = pv.Ceiling("2/3")
PARTS = ("month", "day", "hour")


def make_flights(rows: int = 1500, hours: int = 700) -> dict[str, list[Any]]:
    """Made-up flights: an hour of a day, its parts, and a carrier."""
    draw = np.random.default_rng(4)
    drawn = np.sort(draw.integers(0, hours, rows)).tolist()
    times = [datetime(2024, 1, 20) + timedelta(hours=h) for h in drawn]
    return {
        "time_hour": times,
        "month": [t.month for t in times],
        "day": [t.day for t in times],
        "hour": [t.hour for t in times],
        "carrier": draw.choice(["AA", "UA", "DL"], rows, p=[0.5, 0.3, 0.2]).tolist(),
    }


@pytest.fixture(scope="module")
def flights() -> dict[str, list[Any]]:
    return make_flights()


def read(columns: dict[str, list[Any]], known: Sequence[str], **more: Any) -> pv.Table:
    others = [c for c in columns if c not in (*known, "carrier", *more.values())]
    return pv.read(
        pa.table(columns), quasi=known, other=others, sensitive="carrier", **more
    )


def write_policy(
    table: pv.Table,
    knows: Sequence[str],
    limit: pv.Ceiling = TWO_THIRDS,
    **more: Any,
) -> pv.Policy:
    """A promise against whoever knows some columns; the rest is accepted."""
    return pv.Policy(
        promises=pv.Promise(pv.Linker(knows=knows), limit, "carrier"),
        roles=table.roles,
        accepted=pv.Accepted("carrier", why="only these columns are looked at here"),
        **more,
    )


DENIED = [
    pv.DerivedColumn(c, "time_hour", denied="as it was before rules were looked for")
    for c in PARTS
]


def group_file(folder: Path, columns: Sequence[str]) -> Fraction:
    """The worst belief of whoever groups the released file by some columns."""
    (path,) = folder.glob("table*")
    table = pv.read(str(path)).engine.sample_rows(
        [*columns, "carrier"], {}, 10**6, pv.engine.protocol.Run()
    )
    groups: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    rows = zip(*(table.codes[c].tolist() for c in (*columns, "carrier")), strict=True)
    for *key, value in rows:
        groups[tuple(key)][value] += 1
    return max(Fraction(max(g.values()), sum(g.values())) for g in groups.values())


def release(
    columns: dict[str, list[Any]], known: Sequence[str], out: Path, **more: Any
) -> pv.Release:
    table = read(columns, known)
    made = pv.publish(table, write_policy(table, known, **more), method=HIDING)
    made.write(out, custody=out.parent / "custody")
    return made


# Down -------------------------------------------------------------------------------


def test_before_parts_of_a_time_undo_its_hiding(
    flights: dict[str, list[Any]], tmp_path: Path
) -> None:
    made = release(flights, ["time_hour"], tmp_path / "out", derived=DENIED)
    assert pv.Verdict.SAFE is made.audit.findings[0].verdict
    assert Fraction(1) == group_file(tmp_path / "out", ["time_hour", *PARTS])


def test_now_they_are_hidden_as_far_as_it_takes(
    flights: dict[str, list[Any]], tmp_path: Path
) -> None:
    made = release(flights, ["time_hour"], tmp_path / "out")
    (found, *_) = made.audit.findings
    assert (pv.Verdict.SAFE, "exact") == (found.verdict, found.basis)
    assert set(PARTS) == set(found.details["derived"]["columns"])
    assert "month follows from time_hour (0 of 1,500 checks fail)" in found.explain()
    assert group_file(tmp_path / "out", ["time_hour", *PARTS]) == found.belief.posterior
    assert pv.verify(tmp_path / "out").good
    stated = json.loads((tmp_path / "out" / "release.json").read_text())["derived"]
    for c in PARTS:
        assert {"column": c, "by": ["time_hour"], "exact": True} in stated


def test_a_finished_file_is_judged_by_its_own_counts(
    flights: dict[str, list[Any]], tmp_path: Path
) -> None:
    release(flights, ["time_hour"], tmp_path / "out", derived=DENIED)
    (path,) = (tmp_path / "out").glob("table*")
    with pv.read(str(path), quasi="time_hour", sensitive="carrier") as table:
        (found, *_) = pv.audit(
            table, pv.Promise(pv.Linker(knows="time_hour"), TWO_THIRDS, "carrier")
        ).findings
        stated = [pv.DerivedColumn(c, "time_hour") for c in PARTS]
        policy = pv.Policy(promises=found.promise, roles=table.roles, derived=stated)
        (told, *_) = pv.audit(table, policy).findings
    assert (pv.Verdict.BREACH, "exact") == (told.verdict, told.basis)
    assert Fraction(1) == told.belief.posterior
    assert found.verdict in (pv.Verdict.BREACH, pv.Verdict.UNDECIDED)


def test_the_same_in_a_table_of_a_few_rows() -> None:
    columns = {
        "day": ["1", "1", "2", "2", "3", "3", "4", "4"],
        "week": ["A", "A", "A", "A", "B", "B", "B", "B"],
        "carrier": ["AA", "AA", "AA", "UA", "UA", "UA", "UA", "AA"],
    }
    table = read(columns, ["day"])
    limit = pv.Ceiling("1/2")
    stated = pv.DerivedColumn("week", "day")
    denied = pv.DerivedColumn("week", "day", denied="weeks are numbered at random")
    before = pv.publish(table, write_policy(table, ["day"], limit, derived=denied))
    # Days 1 and 3 look alike, two AA of four; but day 1 is in week A, and 3 in B.
    assert {"day": ["1", "3"]} == before.hidden
    after = pv.publish(table, write_policy(table, ["day"], limit, derived=stated))
    assert {"day", "week"} == set(after.hidden or ())
    old = pv.publish(
        table, write_policy(table, ["day"], limit, derived=denied), recipe=before.recipe
    )
    assert old.audit.safe
    with pytest.raises(pv.Infeasible, match="it comes to 1"):
        pv.publish(
            table,
            write_policy(table, ["day"], limit, derived=stated),
            recipe=before.recipe,
        )


def test_what_is_told_nearly_always_leaves_open_and_never_accuses() -> None:
    draw = np.random.default_rng(3)
    place = draw.integers(0, 12, 1200)
    region = np.where(draw.random(1200) < 0.01, draw.integers(0, 4, 1200), place // 3)
    odd = region != place // 3
    columns = {
        "place": [f"p{p}" for p in place],
        "region": [f"r{r}" for r in region],
        "carrier": np.where(odd, "AA", draw.choice(["AA", "UA"], 1200)).tolist(),
    }
    table = read(columns, ["place"])
    (found, *_) = pv.audit(table, write_policy(table, ["place"])).findings
    assert (pv.Verdict.UNDECIDED, "bound") == (found.verdict, found.basis)
    assert Fraction(1) == found.belief.posterior
    assert found.at_least is not None
    assert found.at_least < Fraction(2, 3)
    assert "region follows from place" in found.explain()
    (rule,) = [r for r in found.details["derived"]["rules"] if r["column"] == "region"]
    assert not rule["exact"]
    denied = pv.DerivedColumn("region", "place", denied="regions were made up")
    policy = write_policy(table, ["place"], derived=denied)
    assert pv.Verdict.SAFE is pv.audit(table, policy).findings[0].verdict
    made = pv.publish(table, write_policy(table, ["place"]))
    assert pv.Verdict.SAFE is made.audit.findings[0].verdict


def test_a_linker_who_knows_any_two_knows_what_they_tell(
    flights: dict[str, list[Any]],
) -> None:
    table = read(flights, ["time_hour", "hour"])
    promise = pv.Promise(pv.Linker(knows_any=1), TWO_THIRDS, "carrier")
    made = pv.publish(table, [promise], method=HIDING)
    (found, *_) = made.audit.findings
    assert pv.Verdict.SAFE is found.verdict
    assert set(PARTS) <= set(found.details["derived"]["columns"])


def test_nothing_is_counted_where_every_column_is_known_or_asked_about(
    flights: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told_columns, "find_rules", None)
    columns = {c: flights[c] for c in ("month", "hour", "carrier")}
    table = read(columns, ["month", "hour"])
    found = pv.audit(table, write_policy(table, ["month", "hour"]))
    assert {} == found.findings[0].details


def test_too_few_rows_are_told() -> None:
    columns = {
        "day": ["1", "1", "2", "2"],
        "week": ["A", "A", "B", "B"],
        "carrier": ["AA", "UA", "AA", "UA"],
    }
    table = read(columns, ["day"])
    (found, *_) = pv.audit(table, write_policy(table, ["day"])).findings
    told = found.details["derived"]
    assert [{"column": "week", "by": ["day"], "checks": 2}] == told["too_few_rows"]
    assert "Too few rows to tell whether week follows." in found.explain()


# Up ---------------------------------------------------------------------------------


def test_what_tells_a_hidden_value_is_hidden_with_it(
    flights: dict[str, list[Any]], tmp_path: Path
) -> None:
    made = release(flights, ["hour"], tmp_path / "out", limit=pv.Ceiling("0.55"))
    hidden = made.hidden or {}
    assert 1 < len(hidden["hour"]) < 24
    for time in flights["time_hour"]:
        together = str(time.hour) in hidden["hour"]
        assert together == (str(time) in hidden["time_hour"])
    (found, *_) = made.audit.findings
    assert (pv.Verdict.SAFE, "exact") == (found.verdict, found.basis)
    assert pv.verify(tmp_path / "out").good


def test_a_file_that_hides_apart_is_left_open(
    flights: dict[str, list[Any]], tmp_path: Path
) -> None:
    limit = pv.Ceiling("0.55")
    denied = pv.DerivedColumn("hour", "time_hour", denied="as it was before")
    release(flights, ["hour"], tmp_path / "out", limit=limit, derived=denied)
    (path,) = (tmp_path / "out").glob("table*")
    with pv.read(str(path), quasi="hour", sensitive="carrier") as table:
        policy = pv.Policy(
            promises=pv.Promise(pv.Linker(knows="hour"), limit, "carrier"),
            roles=table.roles,
            derived=pv.DerivedColumn("hour", "time_hour"),
        )
        (found, *_) = pv.audit(table, policy).findings
    assert (pv.Verdict.UNDECIDED, "bound") == (found.verdict, found.basis)
    assert found.at_least is not None
    assert limit.holds(pv.Belief(0, found.at_least))
    assert "shows through" in found.explain()


def test_columns_by_which_others_show_through_are_named() -> None:
    """Age is blurred, but follows from what groups show beside it."""
    draw = np.random.default_rng(3)
    entry, stay = draw.integers(900, 940, 300), draw.integers(1, 9, 300)
    columns = {
        "age": (entry + stay).tolist(),
        "entry": entry.tolist(),
        "stay": stay.tolist(),
        "dead": draw.choice(["yes", "no"], 300).tolist(),
    }
    with pv.read(
        pa.table(columns), quasi="age", sensitive="dead", other=["entry", "stay"]
    ) as table:
        promise = pv.Promise(pv.Linker(knows="age"), pv.Ceiling("0.9"), "dead")
        with pytest.raises(pv.Infeasible) as found:
            pv.publish(table, promise, method=pv.Mondrian())
    with pv.read(
        pa.table(columns), quasi="age", sensitive=["dead", "entry", "stay"]
    ) as table:
        with pytest.raises(pv.Infeasible) as hidden:
            pv.publish(table, promise)
    step, *_ = found.value.advice
    assert "Declare 'entry' or 'stay' as quasi" in step
    assert "it tells 'age'" in step
    step, *others = hidden.value.advice
    assert "Let values of 'entry' and 'stay' be hidden, too" in step
    assert not any("Raise the limit to at least 1." in other for other in others)


def test_intervals_are_cut_alike_where_that_can_be() -> None:
    draw = np.random.default_rng(8)
    birth = np.sort(draw.integers(1940, 2000, 900))
    columns = {
        "age": (2024 - birth).tolist(),
        "birth": birth.tolist(),
        "carrier": np.where(draw.random(900) < 0.6, "AA", "UA").tolist(),
    }
    table = read(columns, ["age"])
    made = pv.publish(table, write_policy(table, ["age"], pv.Ceiling("0.65")))
    cuts = made.intervals or {}
    assert len(cuts["age"]) == len(cuts["birth"]) > 0
    ends = sorted(2024 - int(v or 0) for v in cuts["age"])
    # Up to 40 years are those born from 1984 on, so after 1983.
    assert [e - 1 for e in ends] == [int(v or 0) for v in cuts["birth"]]


def test_of_two_columns_that_tell_a_third_one_is_hidden() -> None:
    draw = np.random.default_rng(2)
    a, b = draw.integers(0, 12, 2000), draw.integers(0, 12, 2000)
    c = (a * 5 + b * 7) % 13
    odd = draw.random(2000) < np.where(c == 3, 0.9, 0.5)
    columns = {
        "a": [f"a{v}" for v in a],
        "b": [f"b{v}" for v in b],
        "c": [f"c{v}" for v in c],
        "carrier": np.where(odd, "AA", "UA").tolist(),
    }
    table = read(columns, ["c"])
    made = pv.publish(table, write_policy(table, ["c"]))
    hidden = made.hidden or {}
    assert "c3" in hidden["c"]
    assert 12 == max(len(hidden.get("a", ())), len(hidden.get("b", ())))
    assert pv.Verdict.SAFE is made.audit.findings[0].verdict


def test_a_target_that_tells_is_taken_as_known() -> None:
    draw = np.random.default_rng(5)
    grade = draw.integers(0, 6, 800)
    columns = {
        "school": [f"s{g // 2}" for g in grade],
        "grade": [f"g{g}" for g in grade],
        "carrier": np.where(draw.random(800) < 0.5, "AA", "UA").tolist(),
    }
    table = read(columns, ["school"], target="grade")
    made = pv.publish(table, write_policy(table, ["school"]))
    assert pv.Verdict.SAFE is made.audit.findings[0].verdict
    assert "grade" not in (made.hidden or {})


def test_groups_beside_a_column_that_tells_them_are_not_called_safe() -> None:
    draw = np.random.default_rng(8)
    birth = draw.integers(1940, 2000, 300)
    columns = {
        "age": (2024 - birth).tolist(),
        "birth": birth.tolist(),
        "carrier": np.where(draw.random(300) < 0.5, "AA", "UA").tolist(),
    }
    table = read(columns, ["age"])
    with pytest.raises(pv.Infeasible, match="it comes to"):
        pv.publish(table, write_policy(table, ["age"]), method=pv.Mondrian())
    why = "years of birth were drawn at random"
    denied = [
        pv.DerivedColumn("birth", "age", denied=why),
        pv.DerivedColumn("age", "birth", denied=why),
    ]
    policy = write_policy(table, ["age"], derived=denied)
    made = pv.publish(table, policy, method=pv.Mondrian())
    assert pv.Verdict.SAFE is made.audit.findings[0].verdict


def test_a_manifest_with_rules_that_are_none_is_refused(
    flights: dict[str, list[Any]], tmp_path: Path
) -> None:
    release(flights, ["time_hour"], tmp_path / "out")
    file = tmp_path / "out" / "release.json"
    content = json.loads(file.read_text())
    content["derived"] = [{"column": "month", "by": [], "exact": True}]
    file.write_text(json.dumps(content))
    with pytest.raises(pv.InputError, match="derived"):
        pv.verify(tmp_path / "out")
