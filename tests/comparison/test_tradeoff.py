"""The trade-off: every point is what compare finds; looser limits never cost more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from privet.comparison.limit_grid import LimitGrid, parse_sweep
from privet.comparison.method_figures import MethodResult
from privet.comparison.result_file import digest_counts
from privet.comparison.tradeoff import TradeoffPoint, keep_best
from privet.engine.protocol import Progress, Run

from .tables import CANARY, make_policy, make_rows, read_rows

METHODS = ["disclosure", "mondrian", "same-cuts", "full-domain"]
LIMITS = ["2/5", "1/2", "3/5", "4/5", "1"]


def sweep(table: pv.Table, policy: pv.Policy, **more: Any) -> pv.Tradeoff:
    given = {"swept": "nobody is sure", "over": LIMITS, "methods": METHODS, **more}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        return pv.Tradeoff.of(table, policy, **given)


@pytest.mark.parametrize("seed", range(3))
def test_points_are_what_publish_finds_and_never_worsen(seed: int) -> None:
    with read_rows(seed) as table:
        found = sweep(table, make_policy(k=None))
        assert found.complete
        for point in found.points:
            policy = make_policy(point.limit, None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pv.PrivacyWarning)
                alone = pv.compare(table, policy, methods=point.method)[point.method]
            assert alone.verdict == point.result.verdict, point
            assert alone["ncp"] == point.result["ncp"] or not alone.kept
    assert any(p.taken_over for p in found.points)
    for method in METHODS:
        curve = [best for _, best in found.curve(method)]
        reached = [b for b in curve if b is not None]
        assert [None] * (len(curve) - len(reached)) + reached == curve
        assert sorted(reached, reverse=True) == reached


def test_a_release_found_at_a_stricter_limit_counts_for_looser_ones() -> None:
    def make(limit: int, ncp: float | None) -> TradeoffPoint:
        verdict, figures = ("infeasible", {}) if ncp is None else ("safe", {"ncp": ncp})
        result = MethodResult("m", "", verdict=verdict, figures=figures)
        return TradeoffPoint(Fraction(limit), "m", result)

    limits = [Fraction(n) for n in (5, 4, 3, 2, 1)]  # the loosest first
    values = [0.3, None, 0.2, 0.4, None]
    points = [make(int(n), v) for n, v in zip(limits, values, strict=True)]
    found = list(keep_best(points, limits, "ncp"))
    assert [0.2, 0.2, 0.2, 0.4, None] == [p.best for p in found]
    assert [3, 3, 3, 2, None] == [p.best_at for p in found]
    assert [0.3, None, 0.2, 0.4, None] == [p.value for p in found]


def test_more_is_better_of_some_figures() -> None:
    with read_rows(1) as table:
        found = sweep(table, make_policy(k=2), by="bits_kept")
    for method in METHODS:
        reached = [b for _, b in found.curve(method) if b is not None]
        assert sorted(reached) == reached


def test_k_l_t_and_c_are_swept() -> None:
    measures = [
        pv.Measure(k_anonymity=2),
        pv.Measure(distinct_l_diversity=2, about="ill"),
        pv.Measure(t_closeness="0.4", about="ill", name="close"),
        pv.Measure(recursive_l_diversity=2, c=3, about="ill"),
    ]
    policy = pv.Policy(measures=measures)
    given: dict[str, Any] = {"methods": "mondrian"}
    with read_rows(0) as table:
        for name, over, key in [
            ("k_anonymity", [2, 5], "k_anonymity"),
            ("distinct_l_diversity", [2, 3], "distinct_l_diversity"),
            ("close", ["0.3", "0.5"], "t_closeness"),
            ("recursive_l_diversity.c", ["3/2", 4], "recursive_l_diversity.c"),
        ]:
            found = sweep(table, policy, swept=name, over=over, **given)
            assert key == found.key
            assert 2 == len(found.points)
            loose, strict = (p.best for p in found.points)
            assert loose is not None
            assert strict is None or loose <= strict
    assert [Fraction(4), Fraction(3, 2)] == list(found.limits)


def test_the_strictest_is_last() -> None:
    policy = make_policy(k=3)
    assert (2, 3, 5) == LimitGrid.build(policy, "k_anonymity", [5, 2, 3, 2]).limits
    grid = LimitGrid.build(policy, "nobody is sure", ["0.1", 0.5])
    assert (Fraction(1, 2), Fraction(1, 10)) == grid.limits
    changed = grid.set_limit(Fraction(1, 10)).promises[0].limit
    assert pv.Ceiling("1/10") == changed
    named = LimitGrid.build(policy, "k_anonymity", [7]).set_limit(Fraction(7))
    assert "k_anonymity at least 7" == named.measures[0].name


def test_sweeps_are_parsed() -> None:
    tenths = [Fraction(n, 10) for n in range(1, 10)]
    assert ("a=b", tenths) == parse_sweep("a=b=0.1:0.9:0.1")
    assert ("k", [2, 3, 4]) == parse_sweep("k=2:4")
    assert ("k", [Fraction(1, 3), 4]) == parse_sweep("k=1/3, 4")


@pytest.mark.parametrize(
    "text", ["k", "=3", "k=", "k=3:2:1", "k=1:2:0", "k=1:2:3:4", "k=x", "k=0:1:1e-9"]
)
def test_odd_sweeps_are_refused(text: str) -> None:
    with pytest.raises(pv.InputError):
        parse_sweep(text)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"swept": "nobdy is sure"}, "Did you mean 'nobody is sure'"),
        ({"over": []}, "from 1 to 1000 limits"),
        ({"over": "0.2:0.8:0.1"}, "over must be a list"),
        ({"over": ["3/2"]}, "at_most must be"),
        ({"swept": "k_anonymity", "over": ["3/2"]}, "k_anonymity must be a whole"),
        ({"methods": ["views"]}, "must publish tables"),
        ({"by": "beauty"}, "by must be a figure"),
    ],
)
def test_nonsense_is_refused(more: Any, words: str) -> None:
    with read_rows(0) as table, pytest.raises(pv.InputError, match=words):
        sweep(table, make_policy(k=3), **more)


def test_what_no_table_is_judged_by_is_refused() -> None:
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(2), name="b")
    shift = pv.Promise(pv.Bayesian(), pv.Shift("0.5", "0.8"), name="s")
    for stated in (promise, shift):
        with pytest.raises(pv.InputError, match="judged on tables"):
            LimitGrid.build(pv.Policy([stated]), stated.name, [2])


def test_it_shows_itself() -> None:
    with read_rows(0, canary=CANARY) as table:
        found = sweep(table, make_policy())
    told = found.explain()
    assert "nobody is sure" in told
    texts = [told, json.dumps(found.to_dict(), allow_nan=False), repr(found)]
    texts += [found.to_frame().to_csv(), str(found.to_arrow().to_pylist())]
    assert all(CANARY not in text for text in texts)
    assert all(len(line) <= 80 for line in told.splitlines())
    assert len(LIMITS) * len(METHODS) == len(found.to_frame())


# Resumption -------------------------------------------------------------------------


def strip_times(found: pv.Tradeoff) -> list[Any]:
    return [
        (p.limit, p.method, p.best, p.best_at, p.result.verdict) for p in found.points
    ]


def test_what_is_known_is_not_worked_out_again(tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    with read_rows(0, canary=CANARY) as table:
        first = sweep(table, make_policy(), resume=file)
        size = file.stat().st_size
        again = sweep(table, make_policy(), resume=file)
        assert size == file.stat().st_size
        wider = sweep(table, make_policy(), resume=file, over=[*LIMITS, "9/10"])
    assert strip_times(first) == strip_times(again)
    assert first.points[0].result == again.points[0].result
    assert len(wider.points) == len(first.points) + len(METHODS)
    content = file.read_text(encoding="utf-8")
    assert CANARY not in content
    assert "asthma" not in content
    assert 0o600 == file.stat().st_mode & 0o777


def test_another_table_policy_or_version_is_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, lines = tmp_path / "sweep.jsonl", []
    given: Any = {"resume": file, "methods": "mondrian", "over": ["3/4"]}

    def count_lines() -> int:
        return len(file.read_text(encoding="utf-8").splitlines())

    with read_rows(0) as table, read_rows(1) as other:
        for which, policy in [
            *((table, make_policy()), (other, make_policy())),
            *((table, make_policy(k=2)), (table, make_policy())),
        ]:
            sweep(which, policy, **given)
            lines.append(count_lines())
        monkeypatch.setattr(pv, "__version__", "9.9")
        sweep(table, make_policy(), **given)
        lines.append(count_lines())
    assert [2, 3, 4, 4, 5] == lines


def test_the_digest_is_of_counts() -> None:
    rows = make_rows(0)
    order = list(range(len(rows)))[::-1]
    roles: Any = {"quasi": ["age", "town", "job"], "sensitive": "ill", "other": "pays"}

    def digest(found: Any, **more: Any) -> bytes:
        with pv.read(found, identifier="name", **{**roles, **more}) as table:
            return digest_counts(table, Run())

    same = digest(rows)
    assert same == digest(rows.take(order))
    names = rows.column_names.index("name")
    assert same == digest(rows.set_column(names, "name", [["x"] * len(rows)]))
    town = rows.column_names.index("town")
    cells = rows["town"].to_pylist()
    changed = [*cells[:-1], "Cork" if cells[-1] != "Cork" else None]
    assert same != digest(rows.set_column(town, "town", [changed]))
    missing = ["" if v is None else v for v in cells]
    assert same != digest(rows.set_column(town, "town", [missing]))
    assert same != digest(rows, quasi=["age", "town"], drop="job")


def test_a_stranger_cannot_put_results_in(tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    given: Any = {"resume": file, "methods": "mondrian", "over": ["1/10"]}
    with read_rows(0) as table:
        honest = sweep(table, make_policy(), **given)
        assert not honest.points[0].result.kept
        head, line = file.read_text(encoding="utf-8").splitlines()
        forged = json.loads(line)
        forged["result"] |= {"verdict": "safe", "figures": {"ncp": 0.0}}
        odd = ["[]", "{", "1e999", '{"key": 1, "seal": 2, "result": {}}', "[" * 10**5]
        text = "\n".join([head, json.dumps(forged), *odd])
        file.write_text(text, encoding="utf-8")
        again = sweep(table, make_policy(), **given)
        third = sweep(table, make_policy(), **given)
    assert not again.points[0].result.kept
    assert again.points[0].result == third.points[0].result


def test_files_that_are_no_results_are_left_alone(tmp_path: Path) -> None:
    other, link = tmp_path / "other.txt", tmp_path / "link"
    other.write_text("mine\n")
    link.symlink_to(tmp_path / "elsewhere")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with read_rows(0) as table:
        for path in (other, link, tmp_path, pipe, tmp_path / "no" / "file"):
            with pytest.raises(pv.InputError, match="must"):
                sweep(table, make_policy(), resume=path)
    assert "mine\n" == other.read_text()
    assert not (tmp_path / "elsewhere").exists()


PROGRAM = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
import privet as pv
from tests.comparison.tables import make_policy, read_rows
from tests.comparison.test_tradeoff import LIMITS, METHODS

def stop(event):
    if event.doing == "trade-off" and event.statement == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

with read_rows(0) as table:
    pv.Tradeoff.of(table, make_policy(), "nobody is sure", LIMITS, methods=METHODS,
                   resume=sys.argv[1], progress=stop)
"""


def test_it_goes_on_after_a_kill(tmp_path: Path) -> None:
    file, root = tmp_path / "sweep.jsonl", Path(__file__).parents[2]
    words = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(file), "6"]
    done = subprocess.run(words, cwd=root, check=False, capture_output=True)
    assert -signal.SIGKILL == done.returncode, done.stderr
    lines = file.read_bytes().splitlines(keepends=True)
    assert 6 == len(lines)  # a head and five results
    file.write_bytes(b"".join(lines)[:-40])  # and the last one is torn
    asked: list[str] = []
    with read_rows(0) as table:
        found = sweep(table, make_policy(), resume=file)
        plain = sweep(table, make_policy(), progress=lambda e: asked.append(e.doing))
    assert strip_times(plain) == strip_times(found)
    again = [json.loads(x) for x in file.read_bytes().splitlines() if x.endswith(b"}")]
    keys = [line["key"] for line in again[1:]]
    assert len(set(keys)) == len(keys) == len(LIMITS) * len(METHODS)
    assert "trade-off" in asked


def test_ctrl_c_and_time_give_what_is_ready() -> None:
    def stop(event: Progress) -> None:
        if event.statement == 4:
            signal.raise_signal(signal.SIGINT)

    with read_rows(0) as table:
        found = sweep(table, make_policy(), progress=stop)
        short = sweep(table, make_policy(), max_seconds=0.001)
    assert ("interrupted", 3) == (found.ended, len(found.points))
    assert not found.complete
    assert "Not everything was tried" in found.explain()
    assert not short.complete
    early = MethodResult("m", "", verdict="stopped")
    point = TradeoffPoint(Fraction(1), "m", early)
    assert not pv.Tradeoff("x", "at_most", (Fraction(1),), ("m",), (point,)).complete


def test_what_was_stopped_early_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    with read_rows(0, 600) as table:
        sweep(table, make_policy(), resume=file, max_seconds=0.5)
        whole = sweep(table, make_policy(), resume=file)
        plain = sweep(table, make_policy())
    assert strip_times(plain) == strip_times(whole)
