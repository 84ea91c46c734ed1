"""Dates, decimals and zones in national spelling: read rightly, or asked."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import pyreadstat
import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from privet.engine.duckdb.engine import DuckDB
from privet.engine.protocol import Run

pytestmark = pytest.mark.engines

CASES = int(os.environ.get("PRIVET_CASES", "12"))


def write(path: Path, cells: list[str], *, delimiter: str = ";") -> Path:
    """A file with one column of these cells, and another one."""
    lines = [f"x{delimiter}who", *(f"{cell}{delimiter}p" for cell in cells)]
    path.write_text("\n".join(lines) + "\n")
    return path


def read_values(path: Path, **options: Any) -> tuple[str, list[str | None]]:
    """The kind of the first column, and its values."""
    with pv.read(path, **options) as table:
        domain = table.domains(["x"])["x"]
        return domain.kind, list(domain.labels)


# Dates ------------------------------------------------------------------------------


def fits(text: str, order: str) -> bool:
    """The slow definition: whether a date can be read in an order."""
    first, second, year = (int(part) for part in text.replace("/", ".").split("."))
    day, month = (first, second) if order == "dmy" else (second, first)
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def test_orders_are_those_that_all_dates_have(tmp_path: Path) -> None:
    rng = random.Random(19)
    for case in range(CASES):
        order = rng.choice(["%d.%m.%Y", "%m/%d/%Y"])
        first = date(1980, 1, 1) + timedelta(rng.randrange(9000))
        days = [first + timedelta(rng.randrange(9)) for _ in range(5)]
        cells = [day.strftime(order) for day in days]
        path = write(tmp_path / f"{case}.csv", cells)
        known = [o for o in ("dmy", "mdy") if all(fits(c, o) for c in cells)]
        same = all(c[:2] == c[3:5] for c in cells)
        if len(known) > 1 and not same:
            with pytest.raises(pv.InputError, match=r"order of day and month.*'x'"):
                pv.read(path)
            said = "dmy" if order.startswith("%d") else "mdy"
            kind, values = read_values(path, dates=said)
        else:
            kind, values = read_values(path)
        assert ("date", sorted({str(d) for d in days})) == (kind, values)


def test_an_order_that_is_asked_shows_no_cell(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ["03.04.1980", "05.06.1981"])
    with pytest.raises(pv.InputError) as caught:
        pv.read(path)
    assert "1980" not in str(caught.value)
    assert ("text", ["03.04.1980", "05.06.1981"]) == read_values(path, dates="text")
    assert ("date", ["1980-03-04", "1981-05-06"]) == read_values(path, dates="mdy")


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1999/12/31", "2000/1/2"], "date", ["1999-12-31", "2000-01-02"]),
        (
            ["31.12.1999 23:59", "1.1.2000"],
            "datetime",
            ["1999-12-31 23:59:00", "2000-01-01 00:00:00"],
        ),
        (["05.05.1980", ""], "date", [None, "1980-05-05"]),
        (["31.12.1999", "soon"], "text", ["31.12.1999", "soon"]),
        (["31.12.1999", "12/31/1999"], "text", ["12/31/1999", "31.12.1999"]),
        (["31.12.99"], "text", ["31.12.99"]),
        (["31.02.1999", "30.03.1999"], "text", ["30.03.1999", "31.02.1999"]),
    ],
)
def test_dates(tmp_path: Path, cells: list[str], kind: str, values: list[str]) -> None:
    assert (kind, values) == read_values(write(tmp_path / "t.csv", cells))


def test_where_takes_a_date_as_the_file_writes_it(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ["31.12.1999", "30.12.1999", "31.12.1999"])
    for spelled in ("31.12.1999", "1999-12-31"):
        with pv.read(path, where={"x": spelled}) as table:
            assert 2 == len(table)


def test_dates_can_be_binned(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ["31.12.1999", "30.12.2009", "31.12.1989"])
    with pv.read(path, quasi="x", bins={"x": ["2000-01-01"]}) as table:
        assert 3 == len(table.domains(["x"])["x"])


def test_a_column_is_read_as_a_whole(tmp_path: Path) -> None:
    cells = ["01.02.1999"] * 3000 + ["31.12.1999"]
    path = write(tmp_path / "t.csv", cells)
    assert ("date", ["1999-02-01", "1999-12-31"]) == read_values(path)
    path = write(tmp_path / "u.csv", [*cells, "later"])
    assert "text" == read_values(path)[0]


# Zones ------------------------------------------------------------------------------


def test_times_with_zones_are_times(tmp_path: Path) -> None:
    rng = random.Random(3)
    moments, cells = [], []
    for _ in range(50):
        zone = timezone(timedelta(minutes=30 * rng.randrange(-20, 20)))
        moment = datetime(2017, 1, 14, tzinfo=UTC) + timedelta(
            seconds=rng.randrange(10**7)
        )
        spelled = moment.astimezone(zone).isoformat()
        moments.append(f"{moment:%Y-%m-%d %H:%M:%S}")
        cells.append(spelled.replace("+00:00", "Z"))
    kind, values = read_values(write(tmp_path / "t.csv", cells))
    assert ("datetime", sorted(set(moments))) == (kind, values)


@pytest.mark.parametrize("zone", ["+0100", " +01:00", " +0100", "+01", " +01"])
def test_zones_are_written_in_several_ways(tmp_path: Path, zone: str) -> None:
    """R, Ruby and BigQuery write them so; they were texts, every one a label."""
    path = write(tmp_path / "t.csv", [f"2017-01-14 05:38:21{zone}"])
    assert ("datetime", ["2017-01-14 04:38:21"]) == read_values(path)


@pytest.mark.parametrize("zone", ["Z", " Z", " UTC", "UTC", " GMT"])
def test_names_of_universal_time_are_zones(tmp_path: Path, zone: str) -> None:
    path = write(tmp_path / "t.csv", [f"2017-01-14T05:38{zone}"])
    assert ("datetime", ["2017-01-14 05:38:00"]) == read_values(path)


def test_times_with_and_without_zones_are_not_mixed(tmp_path: Path) -> None:
    cells = ["2017-01-14T05:38:21Z", "2017-01-14T05:38:21"]
    assert "text" == read_values(write(tmp_path / "t.csv", cells))[0]


def test_zones_in_json(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('[{"x": "2017-01-14T05:38:21Z"}, {"x": null}]')
    assert ("datetime", [None, "2017-01-14 05:38:21"]) == read_values(path)


# Decimals ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["3,14", "2", "-0,5"], "number", ["-0.5", "2", "3.14"]),
        (["1.234,5", "1.234,75"], "number", ["1234.5", "1234.75"]),
        (["1234,567", "1,234"], "number", ["1.234", "1234.567"]),
        (["1,234,567", "12"], "integer", ["12", "1234567"]),
        (["1,234.5", "12"], "number", ["12", "1234.5"]),
        (["1.234.567", "12"], "integer", ["12", "1234567"]),
        (["3,14", "many"], "text", ["3,14", "many"]),
        (["01,5", "02,5"], "text", ["01,5", "02,5"]),
    ],
)
def test_decimals(
    tmp_path: Path, cells: list[str], kind: str, values: list[str]
) -> None:
    assert (kind, values) == read_values(write(tmp_path / "t.csv", cells))


def test_a_comma_that_may_be_either_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ["1,234", "5,678"])
    with pytest.warns(pv.PrivacyWarning, match=r"left as texts in 'x'.*--decimal"):
        assert ("text", ["1,234", "5,678"]) == read_values(path)
    assert ("number", ["1.234", "5.678"]) == read_values(path, decimal=",")
    assert ("integer", ["1234", "5678"]) == read_values(path, decimal=".")
    assert ("text", ["1,234", "5,678"]) == read_values(path, decimal="text")


def test_a_point_beside_decimal_commas_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x;y\n1.234;3,14\n5.678;2,5\n")
    with pytest.warns(pv.PrivacyWarning, match="point is read as that of decimals"):
        assert ("number", ["1.234", "5.678"]) == read_values(path)
    assert ("integer", ["1234", "5678"]) == read_values(path, decimal=",")


def test_a_point_in_a_file_with_semicolons_is_told(tmp_path: Path) -> None:
    """Whoever parts cells by semicolons may group thousands by points."""
    path = tmp_path / "t.csv"
    path.write_text("x;y\n1.234;a\n5.678;b\n")
    with pytest.warns(pv.PrivacyWarning, match=r"decimals in 'x'.*semicolons"):
        assert ("number", ["1.234", "5.678"]) == read_values(path)
    assert ("number", ["1.234", "5.678"]) == read_values(path, decimal=".")
    assert ("integer", ["1234", "5678"]) == read_values(path, decimal=",")


@pytest.mark.parametrize("cells", [["0.125", "5.678"], ["1.25", "5.678"], ["12", "5"]])
def test_points_that_cannot_group_thousands_are_not_told(
    tmp_path: Path, cells: list[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x;y\n" + "".join(f"{cell};a\n" for cell in cells))
    assert set(cells) == set(read_values(path)[1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dates": "ydm"}, "dates must be one of 'dmy', 'mdy', 'ymd', 'text'"),
        ({"decimal": ";"}, "decimal must be one of"),
        ({"encoding": "rot13"}, "encoding must be one that Python knows"),
        ({"encoding": "klingon"}, "encoding must be one that Python knows"),
    ],
)
def test_options_are_checked(
    tmp_path: Path, options: dict[str, str], words: str
) -> None:
    with pytest.raises(pv.InputError, match=words):
        pv.read(write(tmp_path / "t.csv", ["1"]), **options)


# Missing values ---------------------------------------------------------------------


def test_codes_of_missing_values_are_listed_and_stay_values(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,job,change\n39,Cook,-9\nNA,.,5\n-99,Smith,-3\n41,?,1\n")
    with pv.read(path) as table:
        assert isinstance(table.engine, DuckDB)
        listed = table.engine.list_missing_codes(Run())
        assert {"NA", ".", "?", "-99"} == set(listed)
        assert {"-99", "NA"} < set(table.domains(["age"])["age"].labels)
    with pv.read(path, null=["NA", "-99"]) as table:
        assert "integer" == table.domains(["age"])["age"].kind


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["31/12/2020", "05/06/2020"], {"dates": "mdy"}),
        (["1,5", "2,75"], {"decimal": "."}),
    ],
)
def test_what_was_said_and_does_not_fit_is_told(
    tmp_path: Path, cells: list[str], said: dict[str, str]
) -> None:
    path = write(tmp_path / "t.csv", cells)
    with pytest.warns(pv.PrivacyWarning, match="left as texts in 'x'") as told:
        assert ("text", sorted(cells)) == read_values(path, **said)
    assert not any(cell in str(told[0].message) for cell in cells)


def test_an_order_that_is_said_leaves_years_first_alone(tmp_path: Path) -> None:
    """Who said which of day and month comes first lost the dates of other columns."""
    path = write(tmp_path / "t.csv", ["2020/12/31", "2020/1/3"])
    assert ("date", ["2020-01-03", "2020-12-31"]) == read_values(path, dates="dmy")


# Other files, and frames ------------------------------------------------------------

UNCLEAR = ["03/04/2020", "05/06/2020"]


def write_unclear(folder: Path, ending: str) -> Path:
    """A file with dates that both orders fit, as its own library writes it."""
    path, frame = folder / f"t{ending}", pd.DataFrame({"x": UNCLEAR, "who": ["p", "q"]})
    if ending == ".xlsx":
        frame.to_excel(path, index=False)
    elif ending == ".sav":
        pyreadstat.write_sav(frame, path)
    elif ending in (".db", ".sqlite"):
        with closing(sqlite3.connect(path)) as database:
            frame.to_sql("t", database, index=False)
    else:
        frame.to_json(path, orient="records", lines=ending == ".jsonl")
    return path


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".db", ".sqlite", ".json"])
def test_what_is_asked_can_be_answered_in_every_file(
    tmp_path: Path, ending: str
) -> None:
    """It was asked for --dates, which was refused: nobody could read such files."""
    path = write_unclear(tmp_path, ending)
    with pytest.raises(pv.InputError, match="--dates dmy"):
        read_values(path)
    assert ("date", ["2020-04-03", "2020-06-05"]) == read_values(path, dates="dmy")
    assert ("date", ["2020-03-04", "2020-05-06"]) == read_values(path, dates="mdy")
    assert ("text", UNCLEAR) == read_values(path, dates="text")


@pytest.mark.parametrize("ending", [".xlsx", ".db", ".jsonl"])
def test_a_draft_remembers_the_answer_of_every_file(
    tmp_path: Path, ending: str
) -> None:
    path, policy = write_unclear(tmp_path, ending), tmp_path / "p.toml"
    drafted = CliRunner().invoke(
        cli, ["init", str(path), "--dates", "dmy", "-o", str(policy)]
    )
    assert 0 == drafted.exit_code, drafted.output
    assert {"dates": "dmy"} == dict(pv.Policy.load(policy).file)
    audited = CliRunner().invoke(cli, ["audit", str(path), "-p", str(policy)])
    assert 2 != audited.exit_code, audited.output


def test_texts_of_pandas_are_respelled_as_those_of_files_are() -> None:
    frame = pd.DataFrame({"x": ["1,5", "2,25"], "day": ["31.12.2020", "01.02.2021"]})
    with pv.read(frame) as table:
        domains = table.domains(["x", "day"])
    assert ("number", ["1.5", "2.25"]) == (domains["x"].kind, [*domains["x"].labels])
    assert "date" == domains["day"].kind
    with pv.read(frame, dates="text", decimal="text") as table:
        assert {"text"} == {d.kind for d in table.domains(["x", "day"]).values()}


def test_a_policy_answers_for_a_frame_of_pandas() -> None:
    frame = pd.DataFrame({"x": UNCLEAR, "ill": ["y", "n"]})
    policy = pv.Policy(
        pv.Promise(pv.Linker(["x"]), pv.Ceiling("1/2"), "ill"),
        pv.Roles(quasi="x", sensitive="ill"),
    )
    with pytest.raises(pv.InputError, match="dates='dmy'"):
        pv.audit(frame, policy)
    told = pv.audit(frame, attrs.evolve(policy, file={"dates": "dmy"}))
    assert told.worst.witness.knows == {"x": "2020-04-03"}


def test_answers_stay_what_the_design_lists() -> None:
    frame = pd.DataFrame({"x": ["1,5", "2,5", "1,5"]})
    design = pv.RandomizedResponse(truth="9/10", values={"x": ["1,5", "2,5"]})
    estimates = pv.estimate(design.fit(frame).transform(frame), design)
    told = [estimates.share(x=value).value for value in ("1,5", "2,5")]
    assert 1 == pytest.approx(sum(told))


def test_months_and_intervals_of_pandas_are_not_their_numbers() -> None:
    """Beside a column of Arrow, months were the integers that count them."""
    frame = pd.DataFrame(
        {
            "x": pd.period_range("2020-01", periods=2, freq="M"),
            "cut": pd.cut([1, 2], 2),
            "objects": [1, "a"],
        }
    )
    with pytest.warns(pv.PrivacyWarning, match="objects"), pv.read(frame) as table:
        months, cut = table.domains(["x", "cut"]).values()
    assert ("text", ["2020-01", "2020-02"]) == (months.kind, list(months.labels))
    assert ["(0.999, 1.5]", "(1.5, 2.0]"] == list(cut.labels)
