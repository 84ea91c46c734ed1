"""The survey service: what it takes, what it refuses, what survives, how much."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

import duckdb
import pytest

import privet as pv
from privet.responses.collect.service import Service
from privet.responses.collect.store import Store, digest_token, read_answers

DESIGN = pv.Design(
    [pv.Question("smokes", ["no", "yes"]), pv.Question("town", ["N", "S", 'Ü, "x"'])],
    [pv.Group("smokes", pv.KAry(0.8)), pv.Group("town", pv.KAry(0.6))],
    title="Habits",
)
GOOD = {"smokes": "yes", "town": 'Ü, "x"'}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    found = Service(("127.0.0.1", 0), Store(tmp_path / "a.duckdb", DESIGN))
    Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()
    found.store.close()


def post(
    service: Service,
    body: object,
    *,
    path: str = "/answers",
    kind: str = "application/json",
) -> tuple[int, str]:
    port = service.server_address[1]
    con = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    con.request("POST", path, raw, {"Content-Type": kind})
    answer = con.getresponse()
    text = answer.read().decode()
    con.close()
    return answer.status, text


def test_an_answer_is_kept(service: Service) -> None:
    assert 201 == post(service, {"report": GOOD})[0]
    assert 1 == len(read_answers(service.store.path).rows)


BAD: dict[str, object] = {
    "not json": b"\xff{",
    "deep": b"[" * 300,
    "a list": [],
    "no report": {},
    "more": {"report": GOOD, "more": 1},
    "a question too few": {"report": {"smokes": "yes"}},
    "a question too many": {"report": {**GOOD, "x": "1"}},
    "no answer": {"report": {**GOOD, "smokes": "perhaps"}},
    "a number": {"report": {**GOOD, "smokes": 1}},
    "nothing": {"report": {**GOOD, "smokes": None}},
    "a bad token": {"report": GOOD, "token": 7},
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_report_is_refused(service: Service, name: str) -> None:
    status, text = post(service, BAD[name])
    assert 400 == status
    assert "perhaps" not in text
    with pytest.raises(pv.EmptyTable):
        read_answers(service.store.path)


def test_other_requests_are_refused(service: Service) -> None:
    assert 415 == post(service, {"report": GOOD}, kind="text/plain")[0]
    assert 404 == post(service, {"report": GOOD}, path="/elsewhere")[0]
    assert 413 == post(service, b" " * (service.largest + 1))[0]
    port = service.server_address[1]
    for head in (b"", b"Content-Length: -1\r\n", b"Content-Length: 9999999999\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            raw.sendall(
                b"POST /answers HTTP/1.1\r\nHost: x\r\n"
                b"Content-Type: application/json\r\n" + head + b"\r\n"
            )
            assert raw.recv(100).split()[1] in (b"411", b"413")


def raw(service: Service, *lines: str, body: str = "") -> bytes:
    """Bytes as they are, and everything that comes back until the end."""
    with socket.create_connection(service.server_address[:2], timeout=20) as con:
        con.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        found = b""
        while part := con.recv(65536):
            found += part
        return found


JSON = "Content-Type: application/json"
INSIDE = "POST /answers HTTP/1.1\r\nHost: x\r\n" + JSON


@pytest.mark.parametrize(
    "lines",
    [
        ("POST /answers HTTP/1.1", "Host: x", JSON, "Transfer-Encoding: chunked"),
        (
            "POST /answers HTTP/1.1",
            "Host: x",
            JSON,
            "Content-Length: 5",
            "Transfer-Encoding: chunked",
        ),
        (
            "POST /answers HTTP/1.1",
            "Host: x",
            JSON,
            "Content-Length: 5",
            "Content-Length: 90",
        ),
        ("GET / HTTP/1.1", "Host: x", "Content-Length: 200"),
        ("GET / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked"),
        ("POST /answers HTTP/1.1", "Host: x", JSON, "Content-Length: -1"),
        ("POST /answers HTTP/1.1", "Host: x", JSON, "Content-Length: ٣"),
        ("POST /answers HTTP/1.1", "Host: x", JSON, "Content-Length: 99999999999"),
    ],
)
def test_no_request_is_read_inside_of_another(
    service: Service, lines: tuple[str, ...]
) -> None:
    """What a proxy takes for a body must not be taken for the next request here."""
    body = json.dumps({"report": GOOD})
    hidden = f"{INSIDE}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    found = raw(service, *lines, body=hidden)
    assert 1 == found.count(b"HTTP/1.1 ")
    assert b"201" not in found.split(b"\r\n")[0]
    assert 0 == len(duckdb_rows(service))


def duckdb_rows(service: Service) -> list[object]:
    with duckdb.connect(str(service.store.path), read_only=True) as con:
        return con.execute("SELECT * FROM answers").fetchall()


def test_slow_connections_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who send a byte now and then do not keep others out."""
    from privet.responses.collect import service as module

    monkeypatch.setattr(module, "AT_ONCE", 2)
    monkeypatch.setattr(module, "LONGEST", 0.5)
    found = Service(("127.0.0.1", 0), Store(tmp_path / "a.duckdb", DESIGN))
    Thread(target=found.serve_forever, daemon=True).start()
    slow = [socket.create_connection(found.server_address[:2]) for _ in range(2)]
    try:
        for con in slow:
            con.sendall(b"POST /answers HTTP/1.1\r\nX")
        sleep(0.6)
        assert 201 == post(found, {"report": GOOD})[0]
    finally:
        for con in slow:
            con.close()
        found.shutdown()
        found.server_close()
        found.store.close()


def test_what_was_not_kept_in_time_is_never_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was told to try again is not counted twice."""
    from privet.responses.collect import store as module

    monkeypatch.setattr(module, "WAIT", 0.3)
    found = Service(("127.0.0.1", 0), Store(tmp_path / "a.duckdb", DESIGN))
    Thread(target=found.serve_forever, daemon=True).start()
    busy = Event()
    write = found.store._write

    def slowly(waiting: list[object]) -> None:
        busy.wait(10)
        write(waiting)

    monkeypatch.setattr(found.store, "_write", slowly)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(post, found, {"report": GOOD})
        sleep(0.2)
        second = pool.submit(post, found, {"report": {**GOOD, "smokes": "no"}})
        assert 503 == second.result()[0]
        busy.set()
        assert 201 == first.result()[0]
    found.shutdown()
    found.server_close()
    found.store.close()
    assert [("yes", 'Ü, "x"')] == duckdb_rows(found)


def test_tokens_are_wanted_after_the_last_is_used(tmp_path: Path) -> None:
    """A survey that is started again does not take answers from anybody."""
    store = Store(tmp_path / "a.duckdb", DESIGN)
    assert not store.wants_tokens
    (token,) = store.issue(1)
    store.add(GOOD, digest_token(token))
    assert store.wants_tokens
    store.close()
    again = Store(tmp_path / "a.duckdb", DESIGN)
    assert again.wants_tokens
    again.close()


def test_a_token_is_used_once_by_many_at_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb", DESIGN)
    (token,) = store.issue(1)
    found = Service(("127.0.0.1", 0), store, tokens=True)
    Thread(target=found.serve_forever, daemon=True).start()
    body = {"report": GOOD, "token": token}
    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda _: post(found, body)[0], range(8)))
    found.shutdown()
    found.server_close()
    store.close()
    assert [201, *[403] * 7] == sorted(states)
    assert 1 == len(duckdb_rows(found))


@pytest.mark.parametrize("content", [b"", b"hello", b"a,b\n1,2\n"])
def test_other_files_are_refused_at_once(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    start = monotonic()
    with pytest.raises(pv.InputError, match="it is another file"):
        Store(path, DESIGN)
    with pytest.raises(pv.InputError, match="it is another file"):
        read_answers(path)
    with pytest.raises(pv.InputError, match="folder that exists"):
        Store(tmp_path / "no" / "a.duckdb", DESIGN)
    assert content == path.read_bytes()
    assert monotonic() - start < 5


def test_pages_come_with_strict_headers(service: Service) -> None:
    con = http.client.HTTPConnection(*service.server_address[:2], timeout=10)
    for path in ("/", "/survey.js", "/draws.js", "/survey.css", "/design.json"):
        con.request("GET", path)
        answer = con.getresponse()
        assert 200 == answer.status
        assert answer.read()
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "no-store" == answer.headers["Cache-Control"]
        assert answer.headers["Set-Cookie"] is None
    con.request("GET", "/../store.py")
    assert 404 == con.getresponse().status
    con.close()


def test_nothing_is_logged(service: Service, capfd: pytest.CaptureFixture[str]) -> None:
    post(service, {"report": GOOD})
    post(service, b"nonsense")
    with socket.create_connection(service.server_address[:2]) as raw:
        raw.sendall(b"\x00\x01 nonsense\r\n\r\n")
    assert ("", "") == capfd.readouterr()


def test_only_the_report_is_kept(service: Service) -> None:
    post(service, {"report": GOOD})
    with duckdb.connect(str(service.store.path), read_only=True) as con:
        columns = con.execute("DESCRIBE answers").fetchall()
        tables = {t[0] for t in con.execute("SHOW TABLES").fetchall()}
    assert ["smokes", "town"] == [c[0] for c in columns]
    assert {"answers", "privet_design", "privet_issued", "privet_tokens"} == tables


def test_invitations(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb", DESIGN)
    one, other = store.issue(2)
    found = Service(("127.0.0.1", 0), store, tokens=True)
    Thread(target=found.serve_forever, daemon=True).start()
    try:
        assert 403 == post(found, {"report": GOOD})[0]
        assert 403 == post(found, {"report": GOOD, "token": "made up"})[0]
        assert (
            400 == post(found, {"report": {}, "token": one})[0]
        )  # not used up by that
        with ThreadPoolExecutor(8) as pool:
            bodies = [{"report": GOOD, "token": one}] * 8
            status = sorted(pool.map(lambda b: post(found, b)[0], bodies))
        assert [201, *[403] * 7] == status
        assert 201 == post(found, {"report": GOOD, "token": other})[0]
        assert 2 == len(read_answers(store.path).rows)
        assert one.encode() not in store.path.read_bytes()
    finally:
        found.shutdown()
        found.server_close()
        store.close()


def test_another_design_is_refused(tmp_path: Path) -> None:
    Store(tmp_path / "a.duckdb", DESIGN).close()
    other = pv.Design(DESIGN.questions, [pv.Group(["smokes", "town"], pv.KAry(0.5))])
    with pytest.raises(pv.InputError, match="same design"):
        Store(tmp_path / "a.duckdb", other)
    Store(tmp_path / "a.duckdb", DESIGN).close()


RUN = """
import sys
from privet.cli import cli
cli(sys.argv[1:], prog_name="privet")
"""


def started(folder: Path, *more: str) -> tuple[subprocess.Popen[str], int]:
    (folder / "design.toml").write_text(DESIGN.to_toml(), encoding="utf-8")
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            RUN,
            "collect",
            str(folder / "design.toml"),
            "-o",
            str(folder / "a.duckdb"),
            "--port",
            "0",
            *more,
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    return process, int(line.split("127.0.0.1:")[1].split("/")[0])


class At:
    """A service in another process."""

    def __init__(self, port: int) -> None:
        self.server_address = ("127.0.0.1", port)


def test_confirmed_answers_survive_kill_9(tmp_path: Path) -> None:
    process, port = started(tmp_path)
    kept = 0
    try:
        with ThreadPoolExecutor(8) as pool:
            futures = [
                pool.submit(post, At(port), {"report": GOOD}) for _ in range(400)
            ]
            while sum(f.done() for f in futures) < 150:
                sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            for future in futures:
                with suppress(OSError, http.client.HTTPException):
                    kept += future.result()[0] == 201
    finally:
        process.kill()
        process.communicate()
    assert 150 <= kept
    assert kept <= len(read_answers(tmp_path / "a.duckdb").rows) <= kept + 8


def test_estimates_while_answers_come_in_under_load(tmp_path: Path) -> None:
    """480 answers over 16 connections, estimated from another process meanwhile."""
    process, port = started(tmp_path)
    seen = []

    def many(number: int) -> int:
        con = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        done = 0
        for i in range(number):
            town = "N" if i % 2 else "S"
            body = json.dumps({"report": {"smokes": "yes", "town": town}})
            con.request("POST", "/answers", body, {"Content-Type": "application/json"})
            answer = con.getresponse()
            answer.read()
            done += answer.status == 201
        con.close()
        return done

    try:
        start = monotonic()
        with ThreadPoolExecutor(16) as pool:
            futures = [pool.submit(many, 30) for _ in range(16)]
            while not all(f.done() for f in futures):
                try:
                    found = read_answers(tmp_path / "a.duckdb")
                    seen.append(pv.estimate(found, DESIGN).share(smokes="yes").n)
                    found.close()
                except pv.EmptyTable:
                    pass
                sleep(0.1)
            kept = sum(f.result() for f in futures)
        seconds = monotonic() - start
        process.send_signal(signal.SIGINT)
        process.wait(30)
    finally:
        process.kill()
        process.communicate()
    assert 16 * 30 == kept
    assert kept == len(read_answers(tmp_path / "a.duckdb").rows)
    assert seen == sorted(seen)
    assert seconds < 120


def test_one_question_per_person(tmp_path: Path) -> None:
    design = pv.Design(DESIGN.questions, DESIGN.groups, one_of=True)
    store = Store(tmp_path / "a.duckdb", design)
    found = Service(("127.0.0.1", 0), store)
    Thread(target=found.serve_forever, daemon=True).start()
    try:
        assert 400 == post(found, {"report": GOOD})[0]
        assert 400 == post(found, {"report": {"smokes": None, "town": None}})[0]
        assert 201 == post(found, {"report": {"smokes": "yes", "town": None}})[0]
        assert 201 == post(found, {"report": {"smokes": None, "town": "N"}})[0]
        seen = read_answers(store.path)
        assert 1 == pv.estimate(seen, design).share(smokes="yes").n
    finally:
        found.shutdown()
        found.server_close()
        store.close()
