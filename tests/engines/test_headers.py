"""A file without a header: a person's row is never taken for names of columns."""

from __future__ import annotations

import csv
import io
import os
import traceback
from pathlib import Path
from typing import Any

import pytest
from sklearn import datasets

import privet as pv
from privet.engine.sources.header_line import weigh_header

pytestmark = pytest.mark.engines

DATA = os.environ.get("PRIVET_DATA")

ROWS: dict[str, str] = {
    "numbers and texts": "39,Bonn,flu\n40,Köln,none\n41,Bonn,flu\n",
    "a blank after each comma": "39, State-gov, M\n50, Private, F\n38, Private, M\n",
    "blanks": "A11 6 A34 1169 1\nA12 48 A32 5951 2\nA14 12 A34 2096 1\n",
    "tabs": "39\tBonn\tflu\n40\tKöln\tflu\n",
    "semicolons": "39;Bonn;flu\n40;Köln;flu\n",
    "a missing value first": "?,Bonn,flu\n40,?,flu\n?,Köln,none\n",
    "dates": "Ann,1980-01-31\nBob,1975-12-01\n",
    "codes of one length": "b,u,g\na,u,p\nb,y,g\n",
    "texts that stand below again": "Clerk,UK\nTrader,US\nClerk,Canada\n",
    "texts in quotes": '"Ann, M","Bonn","12"\n"Bob","Köln","13"\n',
    "one column of numbers": "12\n13\n15\n",
    "addresses": "a1@x.org,W1\nb@y.org,W2\nc@z.org,W7\nd@z.org,E1\n",
    "a value twice": "none,none,flu\nyes,no,flu\n",
    "only a few numbers missing": "12,x\n,y\n14,z\nNA,x\n",
    "percent and money": "$12.50,15%\n$13.00,20%\n$9,3%\n",
}

NAMED: dict[str, str] = {
    "numbers and texts": "age,city,ill\n39,Bonn,flu\n40,Köln,none\n",
    "a blank after each comma": "age, work, sex\n39, State-gov, M\n50, Private, M\n",
    "blanks": "status months credit\nA11 6 1169\nA12 48 5951\n",
    "texts only": "job,country\nClerk,UK\nTrader,US\nClerk,Canada\n",
    "one row": "name,town\nAnn,Bonn\n",
    "an index without a name": ",age,city\n0,39,Bonn\n1,40,Köln\n",
    "years in a row": "country,1990,1991,1992,1993,1994\nUK,5,6,7,8,9\nUS,1,2,3,4,5\n",
    "numbers in a row": "0,1,2,3,4,5\n0.5,3,9,8,1,2\n0.7,4,4,1,1,3\n",
    "a name that is a value too": "y,week,dose\ny,0,12\nn,2,15\ny,4,9\n",
    "capitals": "SEX,AGE\nM,39\nF,40\n",
    "one column": "name\nAnn\nBob\n",
    "a name is missing": "job,,ill\na,b,c\n",
    "names of two words": "full name\nAnn Smith\nBob Jones\n",
    "all values missing": "a,b\n?,?\n?,?\n",
}


def write(folder: Path, text: str, name: str = "people.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def labels(table: pv.Table, column: str) -> tuple[str | None, ...]:
    return tuple(table.domains([column])[column].labels)


@pytest.mark.parametrize("kind", ROWS)
def test_a_first_row_is_asked_about_and_never_shown(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, ROWS[kind])
    with pytest.raises(pv.InputError) as raised:
        pv.read(path)
    said = "".join(traceback.format_exception(raised.value))
    for option in ("--header", "--no-header", "--names a,b,c"):
        assert option in said
    first = ROWS[kind].split("\n", maxsplit=1)[0]
    for cell in next(csv.reader(io.StringIO(first.replace(" ", ",")))):
        assert len(cell) < 4 or cell not in said


@pytest.mark.parametrize("kind", NAMED)
def test_real_headers_are_not_doubted(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, NAMED[kind])
    with pv.read(path) as table:
        assert NAMED[kind].count("\n") - 1 == len(table)


def test_the_answers_to_the_question(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS["numbers and texts"])
    with pv.read(path, header=True) as table:
        assert (("39", "Bonn", "flu"), 2) == (table.schema.names, len(table))
    with pv.read(path, header=False) as table:
        assert ("column1", "column2", "column3") == table.schema.names
        assert 3 == len(table)
    with pv.read(path, names=["age", "city", "ill"]) as table:
        assert (("age", "city", "ill"), 3) == (table.schema.names, len(table))
        assert ("39", "40", "41") == labels(table, "age")
    with pv.read(path, names=["age", "city", "ill"], header=True) as table:
        assert (("age", "city", "ill"), 2) == (table.schema.names, len(table))


def test_blanks_after_commas_belong_to_them(tmp_path: Path) -> None:
    path = write(tmp_path, NAMED["a blank after each comma"])
    with pv.read(path) as table:
        assert ("age", "work", "sex") == table.schema.names
        assert ("Private", "State-gov") == labels(table, "work")
    some = write(tmp_path, "a,b\n1, x\n2,y\n", "some.csv")
    with pv.read(some) as table:  # one without: the blank is part of the text
        assert (" x", "y") == labels(table, "b")


def test_names_for_a_file_that_has_some_are_asked_about(tmp_path: Path) -> None:
    path = write(tmp_path, NAMED["numbers and texts"])
    with pytest.raises(pv.InputError, match=r"seems to name columns.*--no-header"):
        pv.read(path, names=["a", "b", "c"])
    with pv.read(path, names=["age", "city", "ill"]) as table:  # the same ones
        assert 2 == len(table)
    with pytest.raises(pv.InputError, match=r"for each of the 3 columns.*got 2"):
        pv.read(path, names=["a", "b"], header=True)


@pytest.mark.parametrize("wrong", ["x", [], ["a", ""], 7])
def test_names_must_be_names(tmp_path: Path, wrong: Any) -> None:
    path = write(tmp_path, NAMED["numbers and texts"])
    with pytest.raises(pv.InputError, match="names must be a list of column names"):
        pv.read(path, names=wrong)


def test_names_are_not_a_header(tmp_path: Path) -> None:
    path = write(tmp_path, NAMED["numbers and texts"])
    with pytest.raises(pv.InputError, match="header must be true, false or left out"):
        pv.read(path, header=["a", "b", "c"])  # type: ignore[arg-type]
    for given in ({"header": False}, {"names": ["a"]}):
        with pytest.raises(pv.InputError, match="must be left out"):
            pv.read(write(tmp_path, '{"a": 1}\n', "a.jsonl"), **given)  # type: ignore[arg-type]


def test_a_header_that_stands_twice_is_not_shown(tmp_path: Path) -> None:
    """It was quoted in the error about names that must differ."""
    path = write(tmp_path, "Miller,none,none\nSmith,yes,no\nJones,no,no\n")
    with pytest.raises(pv.InputError) as raised:
        pv.read(path)
    assert "none" not in str(raised.value)
    with pytest.raises(pv.InputError, match="must differ; 'none' stands"):
        pv.read(path, header=True)


def test_what_a_release_has_is_never_asked_about(tmp_path: Path) -> None:
    """The file of a release has a header, whatever it looks like."""
    path = write(tmp_path, "1,2\n1,2\n2,2\n1,3\n2,3\n")
    promise = pv.Promise(pv.Linker(["1"]), pv.Ceiling("1/2"), "2")
    with pv.read(path, quasi="1", sensitive="2", header=True) as table:
        made = pv.publish(table, [promise])
        made.write(tmp_path / "out", custody=tmp_path / "vault", format="csv")
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


@pytest.mark.parametrize("start", ['{"name": ', '[{"name": ', ' \ufeff{ "name": '])
def test_objects_are_not_taken_for_a_header(tmp_path: Path, start: str) -> None:
    """Their first line is a person."""
    path = tmp_path / "people.csv"
    path.write_text(f'{start}"KZQ-canary", "age": 31}}\n', encoding="utf-8")
    for header in (None, True, False):
        with pytest.raises(pv.InputError, match=r"begins like JSON.*\.jsonl") as caught:
            pv.read(path, quasi="age", header=header)
        assert "KZQ" not in str(caught.value)


@pytest.mark.skipif(DATA is None, reason="PRIVET_DATA is not set")
@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        ("adult.data", 15, 32561),
        ("crx.data", 16, 690),
        ("german.data", 21, 1000),
        ("breast-cancer-wisconsin.data", 11, 699),
    ],
)
def test_files_everybody_knows(name: str, columns: int, rows: int) -> None:
    assert DATA is not None
    path = Path(DATA) / name
    with pytest.raises(pv.InputError, match="--no-header"):
        pv.read(path)
    with pv.read(path, header=False) as table:
        assert (columns, rows) == (len(table.schema.names), len(table))


TABLES = ("iris", "wine", "breast_cancer", "diabetes", "digits")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("index", [True, False])
def test_tables_of_scikit_learn(name: str, index: bool) -> None:
    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame.head(200)
    for header in (True, False):
        text = frame.to_csv(header=header, index=index)
        found = weigh_header(list(csv.reader(io.StringIO(text))))
        assert header != found.is_doubtful
