"""Files hold what their definition says: values as they are, ends of ranges, nothing.

Each written file is read by another library and compared, as a multiset of rows, with
what a plain loop makes of the private rows.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.microdata.generalised_values import find_allowed_values
from privet.microdata.recipe import Cut, Hide

CASES = int(os.environ.get("PRIVET_CASES", "4"))
Row = tuple[Any, ...]

TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int16(), [-3, 0, 7, 12, None]),
    "half": (pa.float64(), [0.5, -1.25, 3.0, 1e-7, None]),
    "small": (pa.float32(), [0.1, 2.5, None]),
    "money": (pa.decimal128(7, 2), [Decimal("1.50"), Decimal("-20.05"), None]),
    "day": (pa.date32(), [dt.date(1999, 12, 31), dt.date(2020, 2, 29), None]),
    "time": (
        pa.timestamp("us"),
        [dt.datetime(2020, 1, 1, 5, 6, 7), dt.datetime(2021, 1, 1, 0, 0, 0, 120), None],
    ),
    "flag": (pa.bool_(), [True, False, None]),
    "job": (pa.string(), ["Cook", "a, b", "missing", "", "*", "=1+1", None]),
    "same": (pa.int32(), [4]),
    "never": (pa.int32(), [None]),
}


def draw(dice: random.Random, names: list[str], rows: int) -> pa.Table:
    columns = {
        c: pa.array([dice.choice(TYPES[c][1]) for _ in range(rows)], TYPES[c][0])
        for c in names
    }
    ill = pa.array([dice.choice(["flu", "hiv", "none"]) for _ in range(rows)])
    return pa.table({**columns, "ill": ill})


def write(release: pv.Release, folder: Path, form: str) -> pa.Table:
    """Write, verify and read again, by another library."""
    folder.mkdir(parents=True, exist_ok=True)
    covered = release.accept({"ill": "made up"})
    covered.write(folder / "out", custody=folder / "vault", format=form)
    found = pv.verify(folder / "out")
    assert () == found.problems
    return read(folder / "out" / f"table.{form}")


def read(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path)
    names = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    texts = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    return pyarrow.csv.read_csv(path, convert_options=texts)


def count(table: pa.Table) -> Counter[Row]:
    return Counter(zip(*(c.to_pylist() for c in table.columns), strict=True))


# Safe as it is ----------------------------------------------------------------------

EVERY_METHOD: list[Any] = [
    None,
    pv.TopDownDisclosure(maximal=False),
    pv.TopDownDisclosure(paper=True),
    pv.TopDownDisclosure(utility="distortion", split="infogain"),
    pv.TopDownDisclosure(ordered=(), weighted=True),
    pv.TopDownDisclosure(hidden="null", ranges="columns", marker="#"),
    pv.Mondrian(),
    pv.Mondrian(same_cuts=True),
    pv.Mondrian(form="buckets"),
    pv.Mondrian(suppress="0.2", hidden="null", ranges="columns"),
]


@pytest.mark.parametrize("number", range(len(EVERY_METHOD)))
def test_a_safe_table_is_published_as_it_is(number: int, tmp_path: Path) -> None:
    dice = random.Random(number)
    table = draw(dice, list(TYPES), 30)
    promise = pv.Promise(pv.Linker(["same"]), pv.Ceiling("9/10"), "ill")
    source = pv.read(table, quasi=list(TYPES), sensitive="ill")
    release = pv.publish(source, [promise], method=EVERY_METHOD[number])
    shown = write(release, tmp_path / "a", "parquet")
    assert table.schema.names == shown.schema.names
    assert table.schema.types == shown.schema.types
    assert count(table) == count(shown)
    manifest = json.loads((tmp_path / "a" / "out" / "release.json").read_text())
    assert "as it is" == release.method == manifest["method"]
    assert not [a for a in manifest["columns"].values() if "shown_as" in a]
    assert "- Nothing." in (tmp_path / "a" / "out" / "README.txt").read_text()
    write(release, tmp_path / "b", "csv")


@pytest.mark.parametrize("method", [None, pv.Mondrian()])
def test_texts_of_a_safe_file_stay_as_they_are(method: Any, tmp_path: Path) -> None:
    lines = ["year,size,day,ill", "1999,1.50,2020-01-02,a", "2001,7e3,2020-01-03,b"]
    lines += ["1999,,2020-01-02,b", "2001,7e3,2020-01-03,a"]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    table = pv.read(tmp_path / "in.csv", quasi=["year", "size", "day"], sensitive="ill")
    promise = pv.Promise(pv.Linker(["year"]), pv.Ceiling("1/2"), "ill")
    release = pv.publish(table, [promise], method=method)
    release.accept({"ill": "made up"}).write(
        tmp_path / "out", custody=tmp_path / "vault", format="csv"
    )
    shown = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert lines[0] == shown[0]
    assert sorted(lines[1:]) == sorted(shown[1:])


# Top-down disclosure ----------------------------------------------------------------


def random_release(
    dice: random.Random, **options: Any
) -> tuple[pa.Table, pv.Release] | None:
    names = dice.sample(["whole", "half", "day", "time", "job", "flag", "same"], 3)
    table = draw(dice, names, dice.randint(4, 25))
    source = pv.read(table, quasi=names, sensitive="ill")
    limit = pv.Ceiling(f"{dice.randint(4, 9)}/10")
    promise = pv.Promise(pv.Linker(names), limit, {"ill": dice.choice(["*", "hiv"])})
    try:
        method = pv.TopDownDisclosure(**options)
        return table, pv.publish(source, [promise], method=method)
    except pv.Infeasible:
        return None


def order(value: Any) -> tuple[bool, Any]:
    return value is not None, value


def show_label(value: Any, values: list[Any], how: Any, text: Callable[[Any], Any]):
    """What a column shows for a value, by definition: a label, or the value."""
    if how is None:
        return "value", value
    if isinstance(how, Hide):
        return ("hidden", None) if text(value) in how.hidden else ("value", value)
    ends = [v for v in values if text(v) in how.after]
    place = sum(order(value) > order(e) for e in ends)
    alike = [v for v in values if sum(order(v) > order(e) for e in ends) == place]
    if len(alike) == 1:
        return "value", value
    if not ends:
        return "hidden", None
    low = ends[place - 1] if place else None
    high = ends[place] if place < len(ends) else None
    return "range", (low, high, None in alike)


def as_text(column: str, source: pv.Table) -> Callable[[Any], Any]:
    """How privet writes a value of a column."""
    labels = list(source.domains([column])[column].labels)

    def text(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, dt.datetime):
            return str(value)
        if isinstance(value, float):
            return next(t for t in labels if t is not None and float(t) == value)
        return str(value)

    return text


def expect_rows(table: pa.Table, release: pv.Release) -> Counter[Row]:
    """The rows with typed ends and empty cells, by definition."""
    assert release.recipe is not None
    plain = pv.read(table)
    columns = []
    for name in table.column_names:
        cells = table[name].to_pylist()
        if name == "ill":
            columns.append(cells)
            continue
        how, text = release.recipe.columns.get(name), as_text(name, plain)
        values = sorted(set(cells), key=order)
        shown = [show_label(v, values, how, text) for v in cells]
        missing = any(kind == "value" and v is None for kind, v in shown) or any(
            kind == "range" and v[2] for kind, v in shown
        )
        if isinstance(how, Cut) and any(kind == "range" for kind, _ in shown):
            ends = [v if kind == "range" else (v, v, v is None) for kind, v in shown]
            columns += [[e[i] for e in ends] for i in range(3 if missing else 2)]
        else:
            columns.append([v for _, v in shown])
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize("seed", range(CASES))
def test_a_file_with_types_holds_what_the_definition_says(
    seed: int, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    made = random_release(dice, hidden="null", ranges="columns")
    if made is None:
        return
    table, release = made
    shown = write(release, tmp_path, "parquet")
    assert expect_rows(table, release) == count(shown)
    for name, type_ in zip(shown.schema.names, shown.schema.types, strict=True):
        own = name.removesuffix("_from").removesuffix("_to")
        wanted = (
            pa.bool_() if name.endswith("_missing") else table.schema.field(own).type
        )
        assert wanted == type_


@pytest.mark.parametrize("seed", range(CASES))
def test_every_form_is_judged_alike(seed: int, tmp_path: Path) -> None:
    worst = set()
    for ranges in ("labels", "columns"):
        for form in ("csv", "parquet"):
            made = random_release(random.Random(100 + seed), ranges=ranges)
            if made is None:
                return
            write(made[1], tmp_path / ranges / form, form)
            loaded = pv.load(tmp_path / ranges / form / "out")
            belief = loaded.audit.findings[0].belief
            worst.add(None if belief is None else belief.posterior)
    assert 1 == len(worst)


def list_finer(recipe: pv.Recipe, table: pv.Table) -> Iterator[pv.Recipe]:
    """Every recipe that shows one more value, or cuts once more."""
    for name, how in recipe.columns.items():
        labels = list(table.domains([name])[name].labels)
        if isinstance(how, Hide):
            for value in how.hidden if len(how.hidden) > 1 else ():
                hidden = tuple(v for v in how.hidden if v != value)
                finer = Hide(hidden, (*(how.shown or ()), value))
                yield pv.Recipe({**recipe.columns, name: finer}, recipe.marker)
            continue
        for value in labels[:-1]:
            if value not in how.after:
                after = tuple(v for v in labels if v in (*how.after, value))
                finer_cut = Cut(after, how.kind)
                yield pv.Recipe({**recipe.columns, name: finer_cut}, recipe.marker)


@pytest.mark.parametrize("seed", range(CASES))
def test_every_value_that_may_be_shown_is_shown(seed: int) -> None:
    made = random_release(random.Random(200 + seed))
    if made is None:
        return
    table, release = made
    if release.ended != "finished":
        assert "together" == release.ended
        return
    source = pv.read(table, quasi=table.column_names[:-1], sensitive="ill")
    assert release.recipe is not None
    for finer in list_finer(release.recipe, source):
        with pytest.raises(pv.Infeasible):
            pv.publish(source, release.policy, recipe=finer)


def test_a_search_that_stops_early_says_so() -> None:
    table = pa.table({"n": [1, 2, 3, 4] * 3, "ill": ["a", "a", "b", "c"] * 3})
    source = pv.read(table, quasi="n", sensitive="ill", target=None)
    promise = pv.Promise(pv.Linker(["n"]), pv.Ceiling("3/4"), "ill")
    full = pv.publish(source, [promise])
    assert "finished" == full.ended
    few = pv.publish(source, [promise], method=pv.TopDownDisclosure(split="infogain"))
    assert few.ended in ("finished", "chosen")
    if few.intervals != full.intervals and few.ended == "finished":
        assert list(list_finer(few.recipe or pv.Recipe(), source)) != []


# Missing values that look hidden ----------------------------------------------------


def test_missing_values_are_hidden_where_hidden_cells_are_empty(tmp_path: Path) -> None:
    jobs = ["a"] * 4 + ["b"] * 4 + [None] * 4 + ["c"] * 8
    ill = ["x"] * 4 + list("xyzw") + list("yzwv") + list("uuvvwwyz")
    source = pv.read(pa.table({"job": jobs, "ill": ill}), quasi="job", sensitive="ill")
    promise = pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/2"), "ill")
    empty = pv.publish(source, [promise], method=pv.TopDownDisclosure(hidden="null"))
    assert empty.hidden is not None
    assert None in empty.hidden["job"]
    shown = write(empty, tmp_path, "parquet")
    groups: dict[Any, list[str]] = {}
    for job, value in zip(*(c.to_pylist() for c in shown.columns), strict=True):
        groups.setdefault(job, []).append(value)
    most = max(max(Counter(g).values()) / len(g) for g in groups.values())
    belief = pv.load(tmp_path / "out").audit.findings[0].belief
    assert belief is not None
    assert most == float(belief.posterior)


# Mondrian ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(CASES))
def test_every_value_of_a_group_fits_its_label(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    rows = 80
    letters = "abcdef"
    codes = ["".join(dice.choices(letters, k=4)) for _ in range(60)]
    table = pa.table(
        {
            "code": [dice.choice([*codes, None]) for _ in range(rows)],
            "n": [dice.choice([None, *range(40)]) for _ in range(rows)],
            "ill": [dice.choice("xyz") for _ in range(rows)],
        }
    )
    source = pv.read(table, quasi=["code", "n"], sensitive="ill")
    method = pv.Mondrian(
        same_cuts=dice.random() < 0.3,
        hidden=dice.choice(["marker", "null"]),
        ranges=dice.choice(["labels", "columns"]),
    )
    measure = pv.Measure(k_anonymity=dice.choice([5, 20, 40]))
    release = pv.publish(source, [measure], method=method)
    partition = release.grouped.partition
    for d, attribute in enumerate(partition.attributes):
        labels = partition.labels[d]
        for group, (start, stop, _) in enumerate(partition.leaves.tolist()):
            label = labels.texts[int(labels.of[group])]
            assert label is None or label.count(",") < 12
            fits = find_allowed_values(label, attribute.domain)
            own = attribute.codes[partition.cells[start:stop, d].astype(int)]
            assert fits[own].all()
    write(release, tmp_path, dice.choice(["csv", "parquet"]))
    loaded = pv.load(tmp_path / "out")
    assert release.audit.findings[0].value == loaded.audit.findings[0].value


def test_groups_with_one_label_are_one_group_to_the_reader(tmp_path: Path) -> None:
    """Two towns of 13 streets each, of which nothing but the town can be named."""
    names = [f"{town}{i:02}" for town in "AB" for i in range(26)]
    table = pa.table({"street": names * 2, "ill": (["x", "y"] * 52)})
    source = pv.read(table, quasi="street", sensitive="ill")
    release = pv.publish(source, [pv.Measure(k_anonymity=26)], method=pv.Mondrian())
    shown = write(release, tmp_path, "csv")
    counts = Counter(shown["street"].to_pylist())
    assert min(counts.values()) == release.audit.findings[0].value
    assert all(len(label) < 200 for label in counts)


@pytest.mark.parametrize("method", [pv.TopDownDisclosure(), pv.Mondrian()])
def test_a_table_that_is_safe_from_insiders_is_published_as_it_is(method: Any) -> None:
    """Top-down disclosure has nothing to hide from them, and need not."""
    ill = ["flu", "hiv", "cold", "none"] * 4
    table = pv.read(
        pa.table({"age": [30] * 16, "ill": ill}), quasi="age", sensitive="ill"
    )
    promise = pv.Promise(pv.Insider(1, 1, 0), pv.Ceiling("0.9"), "ill")
    release = pv.publish(table, promise, method=method)
    assert "as it is" == release.method
    assert {30} == set(release.to_arrow()["age"].to_pylist())


@pytest.mark.parametrize(
    "method", [pv.TopDownDisclosure(), pv.Mondrian(), pv.FullDomain()]
)
def test_a_safe_table_without_quasi_columns_is_published_as_it_is(method: Any) -> None:
    rows = pa.table({"age": [30] * 4, "ill": ["x", "y"] * 2})
    table = pv.read(rows, other="age", sensitive="ill")
    kept = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "ill")
    assert "as it is" == pv.publish(table, kept, method=method).method
    broken = pv.Promise(pv.Linker(), pv.Ceiling("1/3"), "ill")
    with pytest.raises((pv.InputError, pv.Infeasible), match=r"hiding values|quasi"):
        pv.publish(table, broken, method=method)


def test_disclosure_names_the_method_for_measures_that_do_not_lead() -> None:
    rows = pa.table({"age": [30, 31], "ill": ["x", "y"]})
    table = pv.read(rows, quasi="age", sensitive="ill")
    measure = pv.Measure(delta_disclosure="0.5", missing="drop")
    with pytest.raises(pv.NoAudit, match="--method mondrian"):
        pv.publish(table, measure, method=pv.TopDownDisclosure())
