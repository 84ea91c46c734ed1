"""A marker planted in people's cells shows in no error, log, event or leftover."""

from __future__ import annotations

import logging
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv

pytestmark = pytest.mark.engines

CANARY = "CANARY-7f3a"


def bad_byte(folder: Path) -> Any:
    rows = b"x,ok\n" * 60_000 + CANARY.encode() + b",\xff\n"
    (folder / "t.csv").write_bytes(b"a,s\n" + rows)
    return {"source": folder / "t.csv"}


def ragged_late(folder: Path) -> Any:
    text = "a,s\n" + "x,ok\n" * 60_000 + f"{CANARY},b,c\n"
    (folder / "t.csv").write_text(text)
    return {"source": folder / "t.csv"}


def bad_weight(folder: Path) -> Any:
    (folder / "t.csv").write_text(f"a,s,n\nx,ok,1\ny,ok,{CANARY}\n")
    return {"source": folder / "t.csv", "weight": "n"}


def bad_bin(folder: Path) -> Any:
    (folder / "t.csv").write_text(f"a,s\n1,ok\n{CANARY},ok\n")
    return {"source": folder / "t.csv", "bins": {"a": [5]}}


def bad_json(folder: Path) -> Any:
    (folder / "t.jsonl").write_text(f'{{"a":"x","s":"ok"}}\n{{"a":"{CANARY}",\n')
    return {"source": folder / "t.jsonl"}


def torn_parquet(folder: Path) -> Any:
    table = pa.table(
        {"a": [CANARY] * 1000, "s": [CANARY + str(i) for i in range(1000)]}
    )
    pq.write_table(table, folder / "t.parquet", compression="none")
    content = (folder / "t.parquet").read_bytes()
    middle = len(content) // 2
    torn = content[: middle - 500] + b"\x00" * 1000 + content[middle + 500 :]
    (folder / "t.parquet").write_bytes(torn)
    return {"source": folder / "t.parquet"}


def mixed_objects(folder: Path) -> Any:
    class Odd:
        def __str__(self) -> str:
            raise ValueError(CANARY)

    frame = pd.DataFrame({"a": ["x", CANARY], "s": [Odd(), CANARY]}, dtype=object)
    return {"source": frame}


def gone(folder: Path) -> Any:
    path = folder / "t.csv"
    path.write_text(f"a,s\n{CANARY},{CANARY}\n")
    return {"source": path, "meanwhile": path.unlink}


FAILING: list[Callable[[Path], Any]] = [
    bad_byte,
    ragged_late,
    bad_weight,
    bad_bin,
    bad_json,
    torn_parquet,
    mixed_objects,
    gone,
]


def everything_said(error: BaseException) -> str:
    seen, chain = set(), [error]
    said = ["".join(traceback.format_exception(error))]
    while chain:
        e = chain.pop()
        if e is not None and id(e) not in seen:
            seen.add(id(e))
            said += [str(e), repr(e), repr(getattr(e, "args", ""))]
            chain += [e.__cause__, e.__context__]
    return "\n".join(said)


@pytest.mark.parametrize("make", FAILING)
def test_a_failing_engine_quotes_nobody(
    make: Callable[[Path], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    caplog.set_level(logging.DEBUG)
    options = make(tmp_path)
    source, meanwhile = options.pop("source"), options.pop("meanwhile", None)
    events: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(pv.PrivetError) as error:  # noqa: PT012
            with pv.read(source, quasi="a", sensitive="s", **options) as table:
                if meanwhile:
                    meanwhile()
                pv.belief(table, pv.Linker(), progress=lambda e: events.append(repr(e)))
    out = capfd.readouterr()
    said = "\n".join(
        [everything_said(error.value), *events, caplog.text, out.out, out.err]
        + [str(w.message) for w in caught]
    )
    assert CANARY not in said
    assert [] == list((tmp_path / "temp").iterdir())


class Recorder:
    """A connection that remembers every statement."""

    def __init__(self, con: Any, said: list[str]) -> None:
        self.con, self.said = con, said

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.con, name)
        if name not in ("sql", "execute"):
            return found

        def run(statement: str, *rest: Any) -> Any:
            self.said.append(statement)
            return found(statement, *rest)

        return run


def test_values_never_enter_the_text_of_a_statement(tmp_path: Path) -> None:
    sick = [CANARY + "'", None]
    table = pa.table(
        {"a": [CANARY, CANARY, "x", "x"], "s": sick * 2, "k": list("uuvv")}
    )
    said: list[str] = []
    roles = {"quasi": "a", "sensitive": "s", "target": "k"}
    with pv.read(table, where={"a": [CANARY, "x"]}, **roles) as people:
        session = people.engine.session  # type: ignore[attr-defined]
        session.con = Recorder(session.con, said)
        known = pv.Linker(["a", "k"])
        promise = pv.Promise(known, pv.Ceiling("1/2"), {"s": CANARY + "'"})
        pv.audit(people, promise)
        release = pv.publish(people, promise)
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert len(said) > 10
    assert [] == [statement for statement in said if CANARY in statement]


# Disguised answers ------------------------------------------------------------------

DESIGN = """
[[question]]
name = "s"
values = ["no", "yes"]
truth = 0.8

[[question]]
name = "n"
bins = [5]
truth = 0.8
"""
POLICY = """
[[promise]]
against = "bayesian"
about = "s"
within = 4
unrelated = true
"""
UNDECLARED = {
    "a value": f"s,n,id\nyes,1,{CANARY}\n{CANARY},2,x\n",
    "a number": f"s,n,id\nyes,1,{CANARY}\nno,{CANARY},x\n",
    "a missing one": f"s,n,id\nyes,,{CANARY}\n,2,{CANARY}\n",
    "a line too long": "s,n,id\n" + "yes,1,x\n" * 40_000 + f"{CANARY},1,x,{CANARY}\n",
}


def commanded(*words: str) -> tuple[int, str]:
    """A command as a user runs it, and everything it said."""
    from click.testing import CliRunner

    from privet.cli import cli

    found = CliRunner().invoke(cli, words)
    said = [found.output, found.stderr]
    return found.exit_code, "".join(said) + (
        everything_said(found.exception) if found.exception else ""
    )


@pytest.mark.parametrize("why", UNDECLARED)
def test_disguising_quotes_nobody(
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What the design does not declare is refused, and nothing is left."""
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)
    Path("d.toml").write_text(DESIGN)
    Path("p.toml").write_text(POLICY)
    Path("a.csv").write_text(UNDECLARED[why])
    stated = ("-d", "d.toml", "-p", "p.toml", "--drop", "id")
    places = ("-o", "out", "--custody", "vault")
    code, said = commanded("disguise", "a.csv", *stated, *places)
    assert 2 == code
    assert "must be written under a promise" not in said
    assert "role" not in said
    assert CANARY not in said + caplog.text
    code, said = commanded("estimate", "a.csv", "-d", "d.toml")
    assert 2 <= code
    assert CANARY not in said + caplog.text
    assert {"a.csv", "d.toml", "p.toml"} == {p.name for p in tmp_path.iterdir()}
    frame = pd.DataFrame({"s": ["yes", CANARY], "n": [1, 2]})
    with pytest.raises(pv.InputError) as error:
        pv.RandomizedResponse(design=pv.Design.load("d.toml")).transform(frame)
    assert CANARY not in everything_said(error.value)


def test_what_a_design_does_not_name_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.toml").write_text(DESIGN)
    Path("p.toml").write_text(POLICY)
    Path("a.csv").write_text(f"s,n,id\nyes,1,{CANARY}\nno,7,x\n")
    for form, folder in (("csv", "out"), ("parquet", "out2")):
        places = ("-o", folder, "--custody", f"vault-{folder}", "--format", form)
        stated = ("disguise", "a.csv", "-d", "d.toml", "-p", "p.toml")
        code, said = commanded(*stated, *places)
        assert 2 == code
        assert CANARY not in said
        assert not Path(folder).exists()
        code, said = commanded(*stated, "--drop", "id", *places)
        assert 0 == code, said
        for words in (("estimate", folder), ("verify", folder), ("audit", folder)):
            assert CANARY not in commanded(*words)[1]
    Path("a.csv").unlink()
    left = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(left) > 6
    assert [] == [p for p in left if CANARY.encode() in p.read_bytes()]


def test_a_survey_keeps_nothing_that_it_refuses(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Reports that are none, with a canary everywhere one can be put."""
    import http.client
    import json
    import threading
    from urllib.parse import urlsplit

    from privet.responses.collect.service import Service
    from privet.responses.collect.store import Store

    caplog.set_level(logging.DEBUG)
    question = pv.Question("s", ["no", "yes"])
    design = pv.Design([question], [pv.Group("s", pv.KAry("0.8"))])
    store = Store(tmp_path / "a.duckdb", design)
    service = Service(("127.0.0.1", 0), store)
    worker = threading.Thread(target=service.run, daemon=True)
    worker.start()
    said = ""
    good = {"report": {"s": "yes"}}
    bodies: list[Any] = [
        {"report": {"s": CANARY}},
        {"report": {CANARY: "yes"}},
        {**good, CANARY: 1},
        {**good, "token": CANARY * 20},
        CANARY,
    ]
    try:
        for body in bodies:
            con = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=10)
            head = {"Content-Type": "application/json", "X-Name": CANARY}
            con.request("POST", "/answers", json.dumps(body), head)
            answer = con.getresponse()
            assert 400 == answer.status
            said += answer.read().decode()
            con.request("GET", f"/{CANARY}?{CANARY}", headers=head)
            said += con.getresponse().read().decode()
            con.close()
    finally:
        service.stop()
        worker.join(timeout=20)
        store.close()
    out = capfd.readouterr()
    assert CANARY not in said + caplog.text + out.out + out.err
    files = [p for p in tmp_path.iterdir() if p.is_file()]
    assert [] == [p for p in files if CANARY.encode() in p.read_bytes()]
