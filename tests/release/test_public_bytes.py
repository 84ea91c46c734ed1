"""Public files tell nothing but their rows: no order, statistics, entries or times.

Two private tables that give the same released rows must give the same files, but for
the order of rows, which is drawn. Every page of Parquet and every line of CSV is looked
at.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from release import golden_cases as cases
from release.parquet_bytes import describe_file, list_chunks

Rows = list[tuple[Any, ...]]

pytestmark = pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")


def frame(rows: Rows, *names: str) -> pa.Table:
    return pa.table({n: [row[i] for row in rows] for i, n in enumerate(names)})


def shuffled(rows: Rows) -> Rows:
    """In an order that private rows may have."""
    return random.Random(len(rows)).sample(rows, len(rows))


# Pairs of tables that release the same ------------------------------------------------


def hide(rows: Rows, folder: Path, form: str) -> None:
    names = ("job", "town", "ill")
    table = pv.read(frame(rows, *names), quasi=["job", "town"], sensitive="ill")
    promises = [
        pv.Promise(pv.Linker(["job", "town"]), pv.Ceiling("1/2"), {"ill": "x"}, "x")
    ]
    accepted = {"ill": "only x is private"}
    with table:
        release = pv.publish(table, promises)
        assert release.recipe is not None
        assert {"job": ("a", "b")} == {c: tuple(v) for c, v in release.hidden.items()}
        release.write(
            folder / "out", custody=folder / "vault", format=form, accept=accepted
        )


def hidden_pair() -> tuple[Rows, Rows]:
    """Whoever is `a` or `b` is shown as ⊥; how many are which stays private."""
    common = [("c", "=s", "y"), ("d", "t,u", "y"), ("c", "t,u", None)] * 40
    one = [("a", "=s", "x")] * 30 + [("b", "=s", "y")] * 50
    other = [("b", "=s", "x")] * 30 + [("a", "=s", "y")] * 50
    return common + one, shuffled(other + common)


def group(rows: Rows, folder: Path, form: str) -> None:
    table = pv.read(frame(rows, "age", "ill"), quasi="age", sensitive="ill")
    stated = [pv.Measure(k_anonymity=12), pv.Promise(pv.Insider(), pv.Ceiling("9/10"))]
    with table:
        release = pv.publish(table, stated, method=pv.Mondrian())
        release.write(folder / "out", custody=folder / "vault", format=form)


def grouped_pair() -> tuple[Rows, Rows]:
    """Ages 20 and 21 are shown as a range, in each table by other people."""
    ill = ["z", "m", "a", None]

    def fill(first: int, second: int) -> Rows:
        found: Rows = []
        for low in (20, 40):
            people = [low] * first + [low + 1] * second
            found += [(age, ill[i % 4]) for i, age in enumerate(people)]
        return found

    return fill(7, 5), shuffled(fill(5, 7))


def view(rows: Rows, folder: Path, form: str) -> None:
    table = pv.read(
        frame(rows, "name", "age", "ill"),
        identifier="name",
        sensitive="ill",
        other="age",
    )
    with table:
        shown = pv.Views(table, ["name", "age"], ["age", "ill"])
        promise = pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("3/5"))
        release = pv.publish(shown, [promise])
        release.write(folder / "out", custody=folder / "vault", format=form)


def viewed_pair() -> tuple[Rows, Rows]:
    """Who has what is not released; only ages link the views."""
    one = [(f"n{i}", 20 + i // 4, "xy"[i % 2]) for i in range(8)]
    other = [(f"n{i}", 20 + i // 4, "yx"[i % 2]) for i in range(8)]
    return one, shuffled(other)


def classify(rows: Rows, folder: Path, form: str) -> None:
    model = pv.ClassifierViews.from_counts(
        dict(Counter(r[2] for r in rows)),
        {
            name: {
                value: dict(Counter(r[2] for r in rows if r[i] == value))
                for value in sorted({r[i] for r in rows})
            }
            for i, name in enumerate(("home", "age"))
        },
    )
    release = pv.publish(model, [pv.Promise(pv.Bayesian(), pv.Ratio(3))])
    accept = {"inversion": "a test"}
    out, vault = folder / "out", folder / "vault"
    release.write(out, custody=vault, counts=True, rows=400, accept=accept)


def classified_pair() -> tuple[Rows, Rows]:
    """The same counts of home by pay and of age by pay; other people."""
    one = [("W", "40", "h"), ("P", "30", "h"), ("W", "30", "l"), ("P", "40", "l")] * 5
    other = [("W", "30", "h"), ("P", "40", "h"), ("W", "40", "l"), ("P", "30", "l")] * 5
    return one, other


def answer(rows: Rows, folder: Path, form: str) -> None:
    questions = [pv.Question("smokes", ["no", "yes"]), pv.Question("sex", ["f", "m"])]
    groups = [pv.Group(c, pv.Flip("0.6")) for c in ("smokes", "sex")]
    policy = pv.Policy(promises=(pv.Promise(pv.Bayesian(), pv.Ratio(5), "smokes"),))
    with pv.read(frame(rows, "smokes", "sex")) as table:
        pv.disguise(
            table,
            pv.Design(questions, groups),
            folder / "out",
            custody=folder / "vault",
            policy=policy,
            format=form,
        ).close()


def answered_pair() -> tuple[Rows, Rows]:
    """Disguised rows are drawn; both answers occur in 200 of them."""
    return [("no", "f")] * 150 + [("yes", "m")] * 50, [("yes", "f")] * 200


PAIRS: dict[str, tuple[Callable[[], tuple[Rows, Rows]], Callable[..., None]]] = {
    "hidden": (hidden_pair, hide),
    "grouped": (grouped_pair, group),
    "views": (viewed_pair, view),
    "classifier": (classified_pair, classify),
    "responses": (answered_pair, answer),
}
DRAWN = ("classifier", "responses")
"""Where rows themselves are drawn."""


ALL = [
    (k, f) for k in PAIRS for f in ("parquet", "csv") if (k, f) != ("classifier", "csv")
]


@pytest.fixture(scope="module", params=ALL, ids="-".join)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Path]:
    """The kind, and the releases of two private tables."""
    kind, form = request.param
    make, write = PAIRS[kind]
    places = [tmp_path_factory.mktemp(kind) for _ in range(2)]
    for rows, place in zip(make(), places, strict=True):
        write(rows, place, form)
    return kind, places[0] / "out", places[1] / "out"


def without_digests(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    del content["digest"]
    for file in content["files"]:
        del file["sha256"], file["bytes"]
    return dict(content)


def test_manifests_and_notes_are_the_same(pair: tuple[str, Path, Path]) -> None:
    _, one, other = pair
    assert without_digests(one) == without_digests(other)
    notes = [(folder / "README.txt").read_bytes() for folder in (one, other)]
    assert notes[0] == notes[1]
    assert sorted(p.name for p in one.iterdir()) == sorted(
        p.name for p in other.iterdir()
    )


def forget_draws(told: dict[str, Any]) -> dict[str, Any]:
    """Without what depends on drawn rows."""
    for _, _, column in told["columns"]:
        del column["statistics"]
    return told


def test_parquet_tells_nothing_but_rows(pair: tuple[str, Path, Path]) -> None:
    kind, one, other = pair
    for path in one.glob("*.parquet"):
        first, second = describe_file(path), describe_file(other / path.name)
        if kind in DRAWN:
            first, second = forget_draws(first), forget_draws(second)
        else:
            rows = [
                sorted(zip(*(c.rows for c in list_chunks(p)), strict=True), key=repr)
                for p in (path, other / path.name)
            ]
            assert rows[0] == rows[1]
        assert first == second


def test_csv_tells_nothing_but_rows(pair: tuple[str, Path, Path]) -> None:
    kind, one, other = pair
    for path in one.glob("*.csv"):
        data = [path.read_bytes(), (other / path.name).read_bytes()]
        lines = [text.split(b"\n") for text in data]
        assert lines[0][0] == lines[1][0]
        assert b"" == lines[0][-1] == lines[1][-1]
        if kind in DRAWN:
            assert set(lines[0]) == set(lines[1])
        else:
            assert sorted(lines[0]) == sorted(lines[1])


def test_json_is_the_same(pair: tuple[str, Path, Path]) -> None:
    _, one, other = pair
    for name in ("scorecard.json", "counts.json"):
        if (one / name).exists():
            assert (one / name).read_bytes() == (other / name).read_bytes()


# One release --------------------------------------------------------------------------


def list_public() -> Iterator[Path]:
    yield from (p for p in Path("out").iterdir() if p.suffix == ".parquet")


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
def test_dictionaries_and_statistics_are_those_of_the_rows(
    case: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases.lay_out_files()
    case()
    public = design_values()
    for path in list_public():
        for chunk in list_chunks(path):
            told = [v for v in chunk.rows if v is not None]
            if chunk.dictionary is not None:
                allowed = [list(dict.fromkeys(told)), sorted(set(told))]
                allowed.append(public.get(chunk.name, []))
                assert chunk.dictionary in allowed
            stats = chunk.told["statistics"]
            if stats is not None and stats["has_min_max"]:
                assert min(told) == stats["min"]
                assert max(told) == stats["max"]
                assert len(chunk.rows) - len(told) == stats["null_count"]
                assert stats["distinct_count"] in (None, len(set(told)))


def design_values() -> dict[str, list[str]]:
    """The values that a design declares, which is public, in its order."""
    content = json.loads(Path("out/release.json").read_text(encoding="utf-8"))
    if "design" not in content:
        return {}
    design = pv.Design.from_dict(content["design"])
    return {c: list(design.question(c).values) for c in design.columns}


def test_labels_of_groups_stand_in_the_order_of_the_alphabet(tmp_path: Path) -> None:
    """Values stand by falling frequency while groups are made; nobody may see that."""
    many = {"m": 50, "z": 40, "a": 30, "k": 20, "b": 10}
    jobs = [job for job, n in many.items() for _ in range(n)]
    rows = [(job, f"{'qwerty'[i % 6]}") for i, job in enumerate(jobs)]
    table = pv.read(frame(rows, "job", "ill"), quasi="job", sensitive="ill")
    stated = [pv.Measure(k_anonymity=25), pv.Promise(pv.Insider(), pv.Ceiling("9/10"))]
    with table:
        release = pv.publish(table, stated, method=pv.Mondrian())
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    found = {c.name: c for c in list_chunks(tmp_path / "out" / "table.parquet")}
    assert found["job"].dictionary is not None
    assert len(found["job"].dictionary) > 1
    for chunk in found.values():
        assert sorted({v for v in chunk.rows if v is not None}) == chunk.dictionary


@pytest.mark.parametrize(
    "case",
    [cases.disclosed_csv, cases.views_csv, cases.classifier_rows, cases.responses_csv],
    ids=lambda case: case.__name__,
)
def test_no_public_file_has_a_time_or_a_place(
    case: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases.lay_out_files()
    case()
    today = datetime.now(UTC)
    marks = [today.strftime(f).encode() for f in ("%Y-%m-%d", "%Y%m%d", "%d.%m.%Y")]
    marks += [str(tmp_path).encode(), b"vault", b"A. Steward"]
    for path in Path("out").iterdir():
        data = path.read_bytes()
        assert [] == [mark for mark in marks if mark in data]
