"""Other programs: what they are given, what they give back, and how they may fail."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.comparison.peers.coded_table import CodedTable
from privet.comparison.peers.labelled_cells import LabelledCells
from privet.comparison.peers.peer_trial import PEERS, _read_answer
from privet.engine.protocol import Run
from privet.microdata.information_loss.loss_measures import measure_cells

from .tables import CANARY, make_policy, read_rows

K = pv.Policy(measures=[pv.Measure(k_anonymity=3)])


def code(seed: int, **more: Any) -> tuple[CodedTable, pv.Table]:
    table = read_rows(seed, **more)
    return CodedTable.build(table, K, "ill"), table


def write_answer(folder: Path, name: str, lines: list[list[object]]) -> None:
    text = "\n".join(",".join(map(str, line)) for line in lines)
    (folder / name).write_text(text + "\n", encoding="utf-8")


# What is given ----------------------------------------------------------------------


def test_codes_are_given_and_no_text_of_a_cell(tmp_path: Path) -> None:
    coded, table = code(0, canary=CANARY)
    coded.write(tmp_path, {"k": 3, "l": None, "t": None, "suppress": 0.0, "memory": 1})
    table.close()
    texts = {p.name: p.read_text(encoding="ascii") for p in tmp_path.iterdir()}
    words = (CANARY, "Ayr", "Bonn", "cook", "judge", "asthma", "yes")
    assert [] == [w for text in texts.values() for w in words if w in text]
    head, *rows = texts["rows.csv"].splitlines()
    assert ("q0,q1,q2,s", 60) == (head, len(rows))
    levels = [line.split(";") for line in texts["q1.csv"].splitlines()]
    assert {f"v{i}" for i in range(4)} == {line[0] for line in levels}
    assert 1 == len({line[-1] for line in levels})
    numbers = json.loads(texts["request.json"])["numbers"]
    assert numbers[0] == sorted(numbers[0])
    assert [None, None] == numbers[1:]
    assert "k=3\nl=\nt=\n" in texts["request.properties"]


# What comes back --------------------------------------------------------------------


def measure_by_hand(cells: LabelledCells) -> tuple[float, int, int]:
    """NCP, changed cells and the smallest group, row by row."""
    rows, lost, changed = len(cells.there), 0.0, 0
    groups: dict[tuple[Any, ...], int] = {}
    for row in range(rows):
        key = []
        for column, shown in zip(cells.table.known, cells.shown, strict=True):
            size, most = len(column.domain), len(column.domain) - 1
            places = shown.places[int(shown.label[row])]
            wide = most if not cells.there[row] else len(places) - 1
            lost += wide / most if most else 0
            changed += (not cells.there[row]) or len(places) > 1
            key.append(places)
            assert size > max(places)
        if cells.there[row]:
            groups[tuple(key)] = groups.get(tuple(key), 0) + 1
    # Other columns change where a row is left out.
    changed += (len(cells.table.rows.domains) - len(cells.shown)) * int(
        (~cells.there).sum()
    )
    return lost / rows / len(cells.shown), changed, min(groups.values())


@pytest.mark.parametrize("seed", range(6))
def test_names_and_groups_by_brute_force(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    coded, table = code(seed)
    rows = [r for r in range(60) if rng.random() < 0.9]
    if seed % 2:
        level = [rng.randrange(len(c.levels)) for c in coded.known]
        names = [c.name_places(i) for c, i in zip(coded.known, level, strict=True)]
        lines: list[list[object]] = [
            [r, *(n[int(c[r])] for n, c in zip(names, coded.rows.codes, strict=False))]
            for r in rows
        ]
        starred = [["*"] * 3 if rng.random() < 0.1 else line[1:] for line in lines]
        lines = [[r, *cells] for r, cells in zip(rows, starred, strict=True)]
        write_answer(tmp_path, "labels.csv", [["row", "q0", "q1", "q2"], *lines])
    else:
        grouped = [[r, rng.randrange(8)] for r in rows]
        write_answer(tmp_path, "groups.csv", [["row", "group"], *grouped])
    cells = _read_answer(coded, tmp_path, frozenset())
    ncp, changed, smallest = measure_by_hand(cells)
    found = measure_cells(cells, "pays", Run())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        judged = cells.judge(table, make_policy("9/10"))
    table.close()
    assert ncp == pytest.approx(float(found.ncp or 0), abs=1e-12)
    assert changed == found.cells_changed
    assert 60 - len(rows) == found.rows_left_out
    by_kind = {f.promise.name: f for f in judged.findings}
    assert smallest == by_kind["k_anonymity at least 3"].value
    assert judged.exposure is not None


def test_a_level_for_everybody_is_measured_as_our_own(tmp_path: Path) -> None:
    """What full-domain search chose, handed in as if somebody else had."""
    coded, table = code(2)
    release = pv.publish(table, K, method=pv.FullDomain())
    assert release.utility is not None
    assert release.grouped is not None
    widths = {c.name: c.ncp for c in release.utility.columns}
    lines: list[list[object]] = [[r] for r in range(60)]
    for column, codes in zip(coded.known, coded.rows.codes, strict=False):
        most = len(column.domain) - 1
        for level in range(len(column.levels)):
            node = column.levels[level][codes]
            size = np.array([(column.levels[level] == n).sum() for n in node])
            if Fraction(int((size - 1).sum()), most * 60) == widths[column.domain.name]:
                break
        names = column.name_places(level)
        for line, value in zip(lines, codes.tolist(), strict=True):
            line.append(names[value])
    write_answer(tmp_path, "labels.csv", [["row", "q0", "q1", "q2"], *lines])
    cells = _read_answer(coded, tmp_path, frozenset())
    own = release.utility.to_dict()
    theirs = measure_cells(cells, "pays", Run()).to_dict()
    table.close()
    for key in ("ncp", "cells_changed", "groups", "discernibility", "bits_kept"):
        assert own[key] == theirs[key], key


ODD: dict[str, list[list[object]]] = {
    "row too many": [["row", "group"], [60, 0]],
    "row below": [["row", "group"], [-1, 0]],
    "row twice": [["row", "group"], [1, 0], [1, 1]],
    "no number": [["row", "group"], ["x", 0]],
    "too short": [["row", "group"], [1]],
    "not ascii": [["row", "group"], ["ä", 0]],
    "nothing": [["row", "group"]],
    "empty": [],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_answers_are_refused(tmp_path: Path, name: str) -> None:
    coded, table = code(0)
    table.close()
    write_answer(tmp_path, "groups.csv", ODD[name])
    with pytest.raises(pv.InputError, match=r"does not fit|releases nobody"):
        _read_answer(coded, tmp_path, frozenset())


def test_names_that_are_not_true_are_refused(tmp_path: Path) -> None:
    coded, table = code(0)
    table.close()
    own = int(coded.rows.codes[1][0])
    other = next(v for v in range(4) if v != own)
    for name in (f"v{other}", "v99", "", "l9n0"):
        lines: list[list[object]] = [["row", "q0", "q1", "q2"], [0, "*", name, "*"]]
        write_answer(tmp_path, "labels.csv", lines)
        with pytest.raises(pv.InputError, match="does not fit"):
            _read_answer(coded, tmp_path, frozenset())


# Programs ---------------------------------------------------------------------------

FAKES = {
    "anonypy": """
import os, shutil, time
class Preserver:
    def __init__(self, frame, columns, sensitive):
        self.modrian, self.frame = self, frame
    def partition(self, k, l, p):
        seen = os.environ.get("PEER_SEEN")
        if seen:
            shutil.copytree(".", seen)
        time.sleep(float(os.environ.get("PEER_SLEEP", "0")))
        if os.environ.get("PEER_FAILS"):
            raise RuntimeError("no")
        order = list(self.frame.sort_values("q0").index)
        cut = [order[i:i + k] for i in range(0, len(order), k)]
        if len(cut) > 1 and len(cut[-1]) < k:
            cut[-2:] = [cut[-2] + cut[-1]]
        return cut
""",
    "pycanon": "",
    "pycanon/anonymity": """
def k_anonymity(frame, quasi):
    return int(frame.groupby(quasi).size().min())
def l_diversity(frame, quasi, about):
    return int(frame.groupby(quasi)["s"].nunique().min())
def t_closeness(frame, quasi, about):
    return 0.5
""",
    "anjana": "",
    "anjana/anonymity": """
import os
if os.environ.get("PEER_LACKS"):
    import what_it_needs
def k_anonymity(frame, ident, quasi, k, most, levels):
    print("chatter")
    assert type(frame[quasi[0]].values).__name__ == "ndarray"
    if most > 50:
        return frame[:0]
    found = frame.copy()
    for c in quasi:
        top = max(levels[c])
        of = dict(zip(levels[c][0], levels[c][top]))
        found[c] = [of[v] for v in found[c]]
    return found[1:]
""",
}


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of the same names that do as little as they can."""
    home = tmp_path / "fakes"
    for name, text in FAKES.items():
        (home / name).mkdir(parents=True)
        (home / name / "__init__.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(home))
    return home


def compare(table: pv.Table, policy: pv.Policy, **more: Any) -> pv.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        return pv.compare(table, policy, **{"methods": "mondrian", **more})


def test_programs_stand_in_the_same_table(fakes: Path) -> None:
    with read_rows(0, canary=CANARY) as table:
        found = compare(table, K, peers=["anonypy", "anjana", "pycanon"])
    anonypy, anjana = found["anonypy"], found["anjana"]
    assert anonypy.kept, anonypy
    assert "3" == anonypy.promises["k_anonymity at least 3"]["value"]
    assert anjana.kept, anjana
    assert (1.0, 1) == (anjana["ncp"], anjana["rows_left_out"])
    assert "not applicable" == found["pycanon"].verdict
    assert "k = 1, l = 1, t = 0.5" in found["pycanon"].reason
    assert {"anonypy", "anjana", "mondrian"} <= set(found.explain().split())
    assert CANARY not in json.dumps(found.to_dict()) + found.explain()


def test_our_audit_judges_them(fakes: Path) -> None:
    with read_rows(0) as table:
        found = compare(table, make_policy("1/2"), peers=["anonypy"])["anonypy"]
    assert "breach" == found.verdict
    assert "It knows nothing of 1 of the promises." == found.reason


def test_who_is_missing_gives_a_sentence(tmp_path: Path) -> None:
    with read_rows(0) as table:
        found = compare(
            table,
            K,
            peers=["anonypy", "arx"],
            arx_jar=str(tmp_path / "no.jar"),
            peer_python=sys.executable,
        )
        other = compare(table, K, peers="anonypy", peer_python=str(tmp_path / "none"))
    assert "pip install anonypy" in found["anonypy"].reason
    assert "must exist" in found["arx"].reason
    assert "must be one that runs" in other["anonypy"].reason
    assert found.complete
    assert found.best is not None


def test_who_lacks_something_is_not_installed(
    fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEER_LACKS", "1")
    with read_rows(0) as table:
        found = compare(table, K, peers="anjana")["anjana"]
    assert "pip install anjana" in found.reason


def test_people_with_several_rows_are_not_handed_over(fakes: Path) -> None:
    rows = pa.table({"id": [1, 1, 2, 3], "a": [1, 1, 2, 3], "s": [*"xyxy"]})
    with pv.read(rows, unit="id", quasi="a", sensitive="s") as table:
        found = compare(table, K, peers="anonypy")["anonypy"]
    assert ("refused", True) == (found.verdict, "one row per person" in found.reason)


def test_who_is_unknown_is_refused() -> None:
    with (
        read_rows(0) as table,
        pytest.raises(pv.InputError, match="Did you mean 'arx'"),
    ):
        pv.compare(table, K, peers="arxx")


def test_no_solution_and_failures_are_told(
    fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEER_FAILS", "1")
    with read_rows(0) as table:
        found = compare(table, K, peers=["anonypy", "anjana"], suppress="0.9")
    assert "It ended with an error (exit code 1)." == found["anonypy"].reason
    assert "no release that reaches" in found["anjana"].reason


def test_nothing_private_is_given_or_left(
    fakes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, spill = tmp_path / "seen", tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setenv("PEER_SEEN", str(seen))
    monkeypatch.setattr("tempfile.tempdir", str(spill))
    with read_rows(0, canary=CANARY) as table:
        compare(table, K, peers="anonypy")
    given = "".join(p.read_text() for p in seen.iterdir() if p.is_file())
    assert "v0" in given
    assert CANARY not in given
    assert "asthma" not in given
    assert [] == [p for p in spill.rglob("*") if "rows" in p.name]


def test_a_program_that_hangs_is_ended(
    fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEER_SLEEP", "600")
    began = monotonic()
    with read_rows(0) as table:
        found = compare(table, K, peers="anonypy", methods=["buckets"], max_seconds=20)
    assert monotonic() - began < 60
    assert "stopped" == found["anonypy"].verdict
    assert found["buckets"].kept
    assert not found.complete


@pytest.mark.skipif(
    "PRIVET_PEERS" not in os.environ,
    reason="PRIVET_PEERS must name a Python with anonypy, anjana and pycanon",
)
def test_the_real_programs() -> None:
    with read_rows(1, 200) as table:
        found = compare(
            table,
            K,
            peers=["anonypy", "anjana", "pycanon"],
            peer_python=os.environ["PRIVET_PEERS"],
            suppress="0.05",
        )
    for name in ("anonypy", "anjana"):
        assert found[name].kept, found[name]
        assert found[name].by != name  # it says its version
    assert "k = 1" in found["pycanon"].reason


# ARX --------------------------------------------------------------------------------

STUBS: dict[str, str] = {
    "ARXAnonymizer": "public ARXResult anonymize(Data d, ARXConfiguration c)"
    " { return new ARXResult(d, c); }",
    "ARXConfiguration": "public int models; public double share;"
    " public static ARXConfiguration create() { return new ARXConfiguration(); }"
    " public void addPrivacyModel(Object m) { models++; }"
    " public void setSuppressionLimit(double s) { share = s; }"
    " public void setQualityModel(Object m) {}",
    "ARXResult": "Data d; ARXConfiguration c; ARXResult(Data d, ARXConfiguration c)"
    " { this.d = d; this.c = c; }"
    " public boolean isResultAvailable() { return c.share < 0.5; }"
    " public DataHandle getOutput(boolean fork) { return new DataHandle(d); }",
    "AttributeType": "public static final AttributeType SENSITIVE_ATTRIBUTE ="
    " new AttributeType(), INSENSITIVE_ATTRIBUTE = new AttributeType();"
    " public static class Hierarchy extends AttributeType { public String[][] rows;"
    " public static Hierarchy create(String[][] rows) { Hierarchy h = new Hierarchy();"
    " h.rows = rows; return h; } }",
    "Data": "public java.util.List<String> lines; Definition definition ="
    " new Definition(); public static Data create(String path,"
    " java.nio.charset.Charset set, char between) throws java.io.IOException {"
    " Data d = new Data(); d.lines = java.nio.file.Files.readAllLines("
    "java.nio.file.Path.of(path), set); return d; }"
    " public Definition getDefinition() { return definition; }"
    " public static class Definition {"
    " java.util.Map<String, AttributeType> types = new java.util.HashMap<>();"
    " public void setAttributeType(String c, AttributeType t) { types.put(c, t); } }",
    "DataHandle": "Data d; DataHandle(Data d) { this.d = d; }"
    " public int getNumRows() { return d.lines.size() - 1; }"
    " public int getColumnIndexOf(String c) {"
    ' return java.util.Arrays.asList(d.lines.get(0).split(",")).indexOf(c); }'
    " public boolean isOutlier(int row) { return row == 0; }"
    " public String getValue(int row, int column) {"
    ' String value = d.lines.get(row + 1).split(",")[column];'
    ' String name = d.lines.get(0).split(",")[column];'
    " for (String[] line : ((AttributeType.Hierarchy)"
    " d.definition.types.get(name)).rows)"
    " if (line[0].equals(value)) return line[line.length - 1]; return null; }",
    "criteria.KAnonymity": "public KAnonymity(int k) {}",
    "criteria.DistinctLDiversity": "public DistinctLDiversity(String a, int l) {}",
    "criteria.EqualDistanceTCloseness": "public EqualDistanceTCloseness(String a,"
    " double t) {}",
    "metric.Metric": "public static Metric createLossMetric() { return null; }",
}
"""The part of ARX that the driver calls; it shows the top of every hierarchy."""


@pytest.fixture
def stub_jar(tmp_path: Path) -> Path:
    home = tmp_path / "stubs"
    files = []
    for name, body in STUBS.items():
        *below, last = name.split(".")
        package = ".".join(["org.deidentifier.arx", *below])
        file = home.joinpath(*package.split("."), f"{last}.java")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"package {package};\npublic class {last} {{ {body} }}\n")
        files.append(str(file))
    out, jar = tmp_path / "classes", tmp_path / "arx.jar"
    subprocess.run(["javac", "-d", str(out), *files], check=True, capture_output=True)
    shutil.make_archive(str(jar.with_suffix("")), "zip", out)
    jar.with_suffix(".zip").rename(jar)
    return jar


@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a Java compiler")
def test_the_driver_of_arx_gives_and_takes_what_it_should(stub_jar: Path) -> None:
    measures = [
        pv.Measure(k_anonymity=3),
        pv.Measure(distinct_l_diversity=2, about="ill"),
        pv.Measure(t_closeness="1/2", about="ill"),
    ]
    policy = pv.Policy(measures=measures)
    with read_rows(0) as table:
        found = compare(table, policy, peers="arx", arx_jar=str(stub_jar))["arx"]
        none = compare(
            table, policy, peers="arx", arx_jar=str(stub_jar), suppress="0.6"
        )["arx"]
    assert found.kept, found
    assert (1.0, 0) == (found["ncp"], found["rows_left_out"])
    assert "no release that reaches" in none.reason


def test_every_program_has_its_words() -> None:
    assert {"arx", "anjana", "anonypy", "pycanon"} == set(PEERS)
