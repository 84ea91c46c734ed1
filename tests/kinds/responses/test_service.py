"""The survey service: what it takes, what it refuses, what survives, how much."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from privet.responses.channels import Keep
from privet.responses.collect.connections import ConnectionLimits
from privet.responses.collect.service import Service
from privet.responses.collect.store import Store, open_database, read_answers
from privet.responses.collect.submission import Submission, digest_token, largest_body
from privet.responses.planning import plan_design

DESIGN = pv.Design(
    [pv.Question("smokes", ["no", "yes"]), pv.Question("town", ["N", "S", 'Ü, "x"'])],
    [pv.Group("smokes", pv.KAry(0.8)), pv.Group("town", pv.KAry(0.6))],
    title="Habits",
)
GOOD = {"smokes": "yes", "town": 'Ü, "x"'}


@contextmanager
def serving(store: Store, host: str = "127.0.0.1", **more: Any) -> Iterator[Service]:
    """A service that runs, in a thread of its own."""
    found = Service((host, 0), store, **more)
    thread = Thread(target=found.run, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.stop()
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with serving(Store(tmp_path / "a.duckdb", DESIGN)) as found:
        yield found


def new(report: object = GOOD, **more: object) -> dict[str, object]:
    """A submission that nobody made before."""
    return {"report": report, "submission": secrets.token_hex(16), **more}


def post(
    service: Service | At,
    body: object,
    *,
    path: str = "/answers",
    kind: str = "application/json",
) -> tuple[int, str]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    # Closed too where the service is killed: an open socket is told in a later test.
    with closing(connect(service, 30)) as con:
        con.request("POST", path, raw, {"Content-Type": kind})
        answer = con.getresponse()
        return answer.status, answer.read().decode()


def connect(service: Service | At, timeout: float) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(*service.server_address[:2], timeout=timeout)


class At:
    """A service in another process."""

    def __init__(self, port: int) -> None:
        self.server_address = ("127.0.0.1", port)


def rows_of(path: Path) -> list[Any]:
    with open_database(path, read_only=True) as con:
        return con.execute("SELECT * FROM answers").fetchall()


# What is taken and what is not ------------------------------------------------------


def test_an_answer_is_kept(service: Service) -> None:
    assert 201 == post(service, new())[0]
    assert 1 == len(read_answers(service.store.path).rows)


BAD: dict[str, object] = {
    "not json": b"\xff{",
    "deep": b"[" * 300,
    "a long number": b"1" * 300,
    "a list": [],
    "no report": {},
    "more": new(more=1),
    "a question too few": new({"smokes": "yes"}),
    "a question too many": new({**GOOD, "x": "1"}),
    "no answer": new({**GOOD, "smokes": "perhaps"}),
    "a number": new({**GOOD, "smokes": 1}),
    "nothing": new({**GOOD, "smokes": None}),
    "a bad token": new(token=7),
    "half a letter": new(token="\ud800"),
    "a long token": new(token="x" * 101),
    "no key": {"report": GOOD},
    "a short key": {"report": GOOD, "submission": "perhaps"},
    "a long key": {"report": GOOD, "submission": "0" * 33},
    "a key that is none": {"report": GOOD, "submission": 7},
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_report_is_refused(service: Service, name: str) -> None:
    status, text = post(service, BAD[name])
    assert 400 == status
    assert "must" in json.loads(text)["message"]
    assert "perhaps" not in text
    with pytest.raises(pv.EmptyTable):
        read_answers(service.store.path)


def test_other_requests_are_refused(service: Service) -> None:
    assert 415 == post(service, new(), kind="text/plain")[0]
    assert 404 == post(service, new(), path="/elsewhere")[0]
    assert 413 == post(service, b" " * (largest_body(DESIGN) + 1))[0]
    assert raw(service, *POST).startswith(b"HTTP/1.1 411")
    long = raw(service, *POST, "Content-Length: 999999999")
    assert long.startswith(b"HTTP/1.1 413")
    assert [] == rows_of(service.store.path)


def raw(service: Service, *lines: str, body: str = "") -> bytes:
    """Bytes as they are, and everything that comes back until the end."""
    with socket.create_connection(service.server_address[:2], timeout=20) as con:
        con.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        found = b""
        with suppress(ConnectionResetError):
            while part := con.recv(65536):
                found += part
        return found


JSON = "Content-Type: application/json"
LOCAL = "Host: localhost"
POST = ("POST /answers HTTP/1.1", LOCAL, JSON)


@pytest.mark.parametrize(
    "lines",
    [
        (*POST, "Transfer-Encoding: chunked"),
        (*POST, "Content-Length: 5", "Transfer-Encoding: chunked"),
        (*POST, "Content-Length: 5", "Content-Length: 90"),
        (*POST, "Content-Length: -1"),
        (*POST, "Content-Length: +5"),
        (*POST, "Content-Length: ٣"),
        (*POST, "Content-Length: 99999999999"),
        ("GET / HTTP/1.1", LOCAL, "Content-Length: 300"),
        ("GET / HTTP/1.1", LOCAL, "Content-Length: 5"),
        ("GET / HTTP/1.1", LOCAL, "Transfer-Encoding: chunked"),
        ("GET /answers HTTP/1.1", LOCAL, "Content-Length: 5"),
        ("GET / HTTP/1.1", "Host: elsewhere", "Content-Length: 5"),
    ],
)
def test_no_request_is_read_inside_of_another(
    service: Service, lines: tuple[str, ...]
) -> None:
    """What a proxy takes for a body must not be taken for the next request here."""
    body = json.dumps(new())
    inside = "\r\n".join([*POST, f"Content-Length: {len(body)}", "", body])
    found = raw(service, *lines, body=inside)
    assert 1 == found.count(b"HTTP/1.1 ")
    assert b"201" not in found.split(b"\r\n")[0]
    assert 0 == len(rows_of(service.store.path))


def test_requests_that_follow_each_other_are_answered_in_turn(service: Service) -> None:
    """A client that does not wait for replies gets them all."""
    body = json.dumps(new())
    take = "\r\n".join([*POST, f"Content-Length: {len(body)}", "", body])
    last = "\r\n".join(["GET /survey.css HTTP/1.1", LOCAL, "Connection: close", "", ""])
    found = raw(service, "HEAD / HTTP/1.1", LOCAL, body=take + last)
    states = [part.split()[0] for part in found.split(b"HTTP/1.1 ")[1:]]
    assert [b"200", b"201", b"200"] == states


@pytest.mark.parametrize(
    "text",
    ["\x00\x01 CANARY", "CANARY", "GET / HTTP/9.9 CANARY", "GET /CANARY\x00 HTTP/1.1"],
)
def test_nonsense_is_told_nothing(service: Service, text: str) -> None:
    found = raw(service, text, "Host: localhost").decode()
    assert found.startswith("HTTP/1.1 400")
    assert "must be HTTP/1.1" in found
    assert "content-security-policy" in found.lower()
    assert "CANARY" not in found


def ask(
    service: Service | At, method: str, path: str, **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    with closing(connect(service, 10)) as con:
        con.request(method, path, headers=headers)
        answer = con.getresponse()
        return answer, answer.read()


PAGES = ("/", "/survey.js", "/outbox.js", "/draws.js", "/survey.css", "/design.json")


@pytest.mark.parametrize("path", [*PAGES, "/nowhere"])
def test_pages_come_with_strict_headers(service: Service, path: str) -> None:
    answer, content = ask(service, "GET", path)
    assert (404 if path == "/nowhere" else 200) == answer.status
    assert content
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "no-store" == answer.headers["Cache-Control"]
    assert "no-referrer" == answer.headers["Referrer-Policy"]
    assert "nosniff" == answer.headers["X-Content-Type-Options"]
    assert answer.headers["Set-Cookie"] is None
    assert answer.headers["Server"] is None


@pytest.mark.parametrize("path", [*PAGES, "/nowhere"])
def test_the_head_of_a_page_is_that_of_the_page(service: Service, path: str) -> None:
    page, content = ask(service, "GET", path)
    head, nothing = ask(service, "HEAD", path)
    assert (page.status, b"") == (head.status, nothing)
    assert str(len(content)) == head.headers["Content-Length"]
    dated = {"date"}
    assert [h for h in page.headers.items() if h[0] not in dated] == [
        h for h in head.headers.items() if h[0] not in dated
    ]


def test_files_beside_the_page_are_not_served(service: Service) -> None:
    for path in (
        "/../store.py",
        "/%2e%2e/store.py",
        "/static/survey.js",
        "//survey.js",
    ):
        assert 404 == ask(service, "GET", path)[0].status


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "CANARY"])
@pytest.mark.parametrize("path", ["/", "/answers", "/CANARY", "/answers/?CANARY"])
def test_errors_quote_nothing(service: Service, method: str, path: str) -> None:
    answer, content = ask(service, method, path)
    there = path in ("/", "/answers")
    assert (405 if there else 404) == answer.status
    assert ("POST" in json.loads(content)["message"]) is there
    assert "CANARY" not in content.decode() + str(answer.headers)
    assert "Location" not in answer.headers


# By which name ----------------------------------------------------------------------

NAMES = {
    "127.0.0.1": 200,
    "127.0.0.1:8610": 200,
    "localhost": 200,
    "LOCALHOST.:1": 200,
    "[::1]:8610": 200,
    "survey.example.org": 200,
    "evil.example": 421,
    "evil.example:8610": 421,
    "localhost.evil.example": 421,
    "127.0.0.1.evil.example": 421,
    "localhost@evil.example": 421,
    "": 421,
}


@pytest.mark.parametrize("host", NAMES)
def test_nothing_is_served_under_another_name(tmp_path: Path, host: str) -> None:
    """A name of somebody else's that is turned to this machine reads nothing."""
    store = Store(tmp_path / "a.duckdb", DESIGN)
    with serving(store, names=["Survey.example.org"]) as found:
        for path in PAGES:
            answer, content = ask(found, "GET", path, Host=host)
            assert NAMES[host] == answer.status
            assert "evil" not in content.decode()
        body = json.dumps(new())
        lines = (*POST[:1], f"Host: {host}", JSON, f"Content-Length: {len(body)}")
        got = raw(found, *lines, "Connection: close", body=body)
        wanted = 201 if NAMES[host] == 200 else 421
        assert f"HTTP/1.1 {wanted}" in got.decode()
    assert (wanted == 201) == bool(rows_of(store.path))


def test_a_request_must_name_one_host(service: Service) -> None:
    assert b"421" in raw(service, "GET / HTTP/1.0")
    assert b"400" in raw(service, "GET / HTTP/1.1", LOCAL, LOCAL)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.9"])
def test_where_it_listens_it_is_served(tmp_path: Path, host: str) -> None:
    """The address that is announced works."""
    store = Store(tmp_path / "a.duckdb", DESIGN)
    with serving(store, host=host) as found:
        at = found.url.removeprefix("http://").removesuffix("/")
        assert 200 == ask(found, "GET", "/", Host=at)[0].status
        assert 200 == ask(found, "GET", "/", Host=host)[0].status


def test_listening_everywhere_needs_a_name(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb", DESIGN)
    for host in ("0.0.0.0", "0"):
        with pytest.raises(pv.InputError, match="--name"):
            Service((host, 0), store)
    with pytest.raises(pv.InputError, match="without scheme"):
        Service(("127.0.0.1", 0), store, names=["https://survey.example.org"])
    store.close()


# Slow, idle and many ----------------------------------------------------------------


def hold(service: Service, number: int, text: bytes) -> list[socket.socket]:
    """Connections that began something and go no further."""
    held = []
    for _ in range(number):
        con = socket.create_connection(service.server_address[:2], timeout=20)
        con.sendall(text)
        held.append(con)
    return held


SLOW = {
    "silent": b"",
    "half a line": b"POST /ans",
    "half a head": b"POST /answers HTTP/1.1\r\nHost: localhost\r\nX",
    "half a body": "\r\n".join([*POST, "Content-Length: 90", "", "{"]).encode(),
    "one request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("kind", SLOW)
def test_slow_connections_keep_nobody_out(service: Service, kind: str) -> None:
    """More than there is room for, as they come, long before they are dropped."""
    held = hold(service, 400, SLOW[kind])
    start = monotonic()
    try:
        for _ in range(3):
            assert 201 == post(service, new())[0]
        assert monotonic() - start < 5
    finally:
        for con in held:
            con.close()


def is_closed(con: socket.socket) -> bool:
    con.settimeout(20)
    try:
        while con.recv(65536):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize("kind", SLOW)
def test_slow_connections_end(tmp_path: Path, kind: str) -> None:
    """Whoever sends a byte now and then is not waited for."""
    limits = ConnectionLimits(request_seconds=0.6, idle_seconds=1)
    with serving(Store(tmp_path / "a.duckdb", DESIGN), limits=limits) as found:
        (con,) = hold(found, 1, SLOW[kind])
        start = monotonic()
        with suppress(OSError):
            for _ in range(30):
                con.sendall(b"" if kind in ("silent", "one request") else b"x")
                sleep(0.05)
        assert is_closed(con)
        assert monotonic() - start < 5
        con.close()


def test_replies_that_nobody_reads_end(tmp_path: Path) -> None:
    """Requests without end and no reply read, until no more fits anywhere."""
    limits = ConnectionLimits(request_seconds=0.6, idle_seconds=1)
    requests = b"GET /survey.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200_000
    with (
        serving(Store(tmp_path / "a.duckdb", DESIGN), limits=limits) as found,
        socket.socket() as con,
    ):
        con.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        con.connect(found.server_address[:2])
        con.settimeout(20)
        start = monotonic()
        with pytest.raises(ConnectionError):
            con.sendall(requests)
        assert monotonic() - start < 15


def test_an_address_with_many_connections_gives_way(tmp_path: Path) -> None:
    """One connection from elsewhere is kept, though it is the oldest."""
    limits = ConnectionLimits(connections=10)
    with serving(Store(tmp_path / "a.duckdb", DESIGN), limits=limits) as found:
        port = found.server_address[1]
        other = socket.create_connection(
            ("127.0.0.1", port), source_address=("127.0.0.9", 0), timeout=20
        )
        other.sendall(b"GET / HTTP/1.1\r\n")
        held = hold(found, 40, b"GET / HT")
        other.sendall(b"Host: localhost\r\nConnection: close\r\n\r\n")
        assert other.recv(100).startswith(b"HTTP/1.1 200")
        assert is_closed(held[0])
        for con in (other, *held):
            con.close()


def test_what_is_being_answered_is_not_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ConnectionLimits(connections=4)
    store = Store(tmp_path / "a.duckdb", DESIGN)
    busy = Event()
    write = store._write
    monkeypatch.setattr(store, "_write", lambda w: (busy.wait(10), write(w)))
    with serving(store, limits=limits) as found, ThreadPoolExecutor(4) as pool:
        kept = [pool.submit(post, found, new()) for _ in range(3)]
        sleep(0.5)
        held = hold(found, 20, b"GET")
        busy.set()
        assert [201] * 3 == [k.result()[0] for k in kept]
        for con in held:
            con.close()


# Once -------------------------------------------------------------------------------


def test_a_repeated_submission_is_stored_once(service: Service) -> None:
    body = new()
    replies = {post(service, body) for _ in range(3)}
    changed = {**body, "report": {"smokes": "no", "town": "N"}}
    replies.add(post(service, changed))
    assert {(201, '{"message": "Kept."}')} == replies
    assert [tuple(GOOD.values())] == rows_of(service.store.path)


def test_a_repeated_submission_is_stored_once_by_many_at_once(service: Service) -> None:
    bodies = [new() for _ in range(5)]
    with ThreadPoolExecutor(16) as pool:
        states = list(pool.map(lambda i: post(service, bodies[i % 5])[0], range(80)))
    assert {201} == set(states)
    assert 5 == len(rows_of(service.store.path))


def test_a_reply_that_is_lost_does_not_count_twice(service: Service) -> None:
    """Hang up before the reply, ask again later, and again after a restart."""
    body = json.dumps(new())
    with socket.create_connection(service.server_address[:2]) as con:
        lines = [*POST, f"Content-Length: {len(body)}", "", body]
        con.sendall("\r\n".join(lines).encode())
    end = monotonic() + 20
    while not rows_of(service.store.path) and monotonic() < end:
        sleep(0.05)
    assert 201 == post(service, body.encode())[0]
    service.stop()
    with serving(Store(service.store.path, DESIGN)) as again:
        assert 201 == post(again, body.encode())[0]
    assert 1 == len(rows_of(service.store.path))


def test_what_was_not_kept_in_time_is_never_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was told to try again is not counted twice."""
    from privet.responses.collect import store as module

    monkeypatch.setattr(module, "WAIT", 0.3)
    store = Store(tmp_path / "a.duckdb", DESIGN)
    busy = Event()
    write = store._write
    monkeypatch.setattr(store, "_write", lambda w: (busy.wait(10), write(w)))
    with serving(store) as found, ThreadPoolExecutor(2) as pool:
        first = pool.submit(post, found, new())
        sleep(0.2)
        second = pool.submit(post, found, new({**GOOD, "smokes": "no"}))
        assert 503 == second.result()[0]
        busy.set()
        assert 201 == first.result()[0]
    assert [("yes", 'Ü, "x"')] == rows_of(store.path)


# Invitations ------------------------------------------------------------------------


def test_tokens_are_wanted_after_the_last_is_used(tmp_path: Path) -> None:
    """A survey that is started again does not take answers from anybody."""
    store = Store(tmp_path / "a.duckdb", DESIGN)
    assert not store.wants_tokens
    (token,) = store.issue(1)
    store.submit(Submission(GOOD, b"key", digest_token(token))).result(30)
    assert store.wants_tokens
    store.close()
    again = Store(tmp_path / "a.duckdb", DESIGN)
    assert again.wants_tokens
    again.close()


def test_a_token_is_used_once_by_many_at_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb", DESIGN)
    (token,) = store.issue(1)
    with serving(store, tokens=True) as found, ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda _: post(found, new(token=token))[0], range(8)))
    assert [201, *[403] * 7] == sorted(states)
    assert 1 == len(rows_of(store.path))


def test_a_lost_reply_does_not_cost_the_invitation(tmp_path: Path) -> None:
    """The same submission again is kept; another one with the same token is not."""
    store = Store(tmp_path / "a.duckdb", DESIGN)
    (token,) = store.issue(1)
    with serving(store, tokens=True) as found:
        body = new(token=token)
        assert [201, 201] == [post(found, body)[0] for _ in range(2)]
        assert 403 == post(found, new(token=token))[0]
    assert 1 == len(rows_of(store.path))


def test_invitations(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb", DESIGN)
    one, other = store.issue(2)
    with serving(store, tokens=True) as found:
        assert 403 == post(found, new())[0]
        assert 403 == post(found, new(token="made up"))[0]
        assert 400 == post(found, new({}, token=one))[0]  # not used up by that
        assert 201 == post(found, new(token=one))[0]
        assert 403 == post(found, new(token=one))[0]
        assert 201 == post(found, new(token=other))[0]
    assert 2 == len(read_answers(store.path).rows)
    assert one.encode() not in store.path.read_bytes()


# What is kept -----------------------------------------------------------------------


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


def test_nothing_is_logged(service: Service, capfd: pytest.CaptureFixture[str]) -> None:
    post(service, new())
    post(service, b"nonsense")
    ask(service, "GET", "/nowhere")
    raw(service, "\x00\x01 nonsense")
    with socket.create_connection(service.server_address[:2]) as con:
        con.sendall("\r\n".join([*POST, "Content-Length: 90", "", "{"]).encode())
    with socket.create_connection(service.server_address[:2]) as con:
        lines = ("GET / HTTP/1.1", LOCAL, "Connection: Upgrade", "Upgrade: websocket")
        con.sendall("\r\n".join([*lines, "", "\x00 nonsense"]).encode())
    post(service, new())
    service.stop()
    sleep(0.5)
    assert ("", "") == capfd.readouterr()


def test_only_the_report_is_kept(service: Service) -> None:
    body = new()
    post(service, body)
    with open_database(service.store.path, read_only=True) as con:
        columns = con.execute("DESCRIBE answers").fetchall()
        tables = {t[0] for t in con.execute("SHOW TABLES").fetchall()}
    assert ["smokes", "town"] == [c[0] for c in columns]
    of_privet = {"design", "issued", "submissions", "tokens"}
    assert {"answers", *(f"privet_{name}" for name in of_privet)} == tables
    assert str(body["submission"]).encode() not in service.store.path.read_bytes()


def test_another_design_is_refused(tmp_path: Path) -> None:
    Store(tmp_path / "a.duckdb", DESIGN).close()
    other = pv.Design(DESIGN.questions, [pv.Group(["smokes", "town"], pv.KAry(0.5))])
    with pytest.raises(pv.InputError, match="same design"):
        Store(tmp_path / "a.duckdb", other)
    Store(tmp_path / "a.duckdb", DESIGN).close()


def test_a_store_of_an_earlier_version_is_continued(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb", DESIGN)
    store.submit(Submission(GOOD, b"key")).result(30)
    store.close()
    with duckdb.connect(str(store.path)) as con:
        con.execute("DROP TABLE privet_submissions")
    with serving(Store(store.path, DESIGN)) as found:
        assert 201 == post(found, new())[0]
    assert 2 == len(rows_of(store.path))


def test_one_question_per_person(tmp_path: Path) -> None:
    design = pv.Design(DESIGN.questions, DESIGN.groups, one_of=True)
    store = Store(tmp_path / "a.duckdb", design)
    with serving(store) as found:
        assert 400 == post(found, new(GOOD))[0]
        assert 400 == post(found, new({"smokes": None, "town": None}))[0]
        assert 201 == post(found, new({"smokes": "yes", "town": None}))[0]
        assert 201 == post(found, new({"smokes": None, "town": "N"}))[0]
    seen = read_answers(store.path)
    assert 1 == pv.estimate(seen, design).share(smokes="yes").n


def test_what_is_public_is_asked_of_everybody_besides(tmp_path: Path) -> None:
    questions = [*DESIGN.questions, pv.Question("ward", ["A", "B"])]
    groups = [*DESIGN.groups, pv.Group("ward", Keep())]
    design = pv.Design(questions, groups, one_of=True)
    store = Store(tmp_path / "a.duckdb", design)
    bad = [
        {"smokes": "yes", "town": None, "ward": None},
        {"smokes": None, "town": None, "ward": "A"},
        {"smokes": "yes", "town": "N", "ward": "A"},
    ]
    with serving(store) as found:
        assert [400] * 3 == [post(found, new(report))[0] for report in bad]
        assert 201 == post(found, new({**GOOD, "town": None, "ward": "A"}))[0]
        assert 201 == post(found, new({**GOOD, "smokes": None, "ward": "B"}))[0]
    seen = pv.estimate(read_answers(store.path), design)
    assert (2, Fraction(1, 2)) == (seen.share(ward="A").n, seen.share(ward="A").value)
    assert 1 == seen.share(smokes="yes", ward="A").n


def test_estimates_do_not_wait_until_everything_was_asked(tmp_path: Path) -> None:
    """One answer to one of two questions: the other is left out, and told."""
    design = pv.Design(DESIGN.questions, DESIGN.groups, one_of=True)
    store = Store(tmp_path / "a.duckdb", design)
    with serving(store) as found:
        assert 201 == post(found, new({"smokes": "yes", "town": None}))[0]
    seen = pv.estimate(read_answers(store.path), design).every_share()
    assert (["smokes"], 1) == (list(seen), seen["smokes"]["yes"].n)
    told = CliRunner().invoke(cli, ["estimate", str(store.path)])
    assert 0 == told.exit_code, told.output
    assert "town: nobody was asked this yet." in told.output
    shown = json.loads(
        CliRunner().invoke(cli, ["estimate", str(store.path), "--json"]).output
    )
    assert ["town"] == shown["unasked"]


def test_a_plan_with_public_questions_is_served(tmp_path: Path) -> None:
    """From the plan to the estimate: one question each, and the ward of everybody."""
    questions = [*DESIGN.questions, pv.Question("ward", ["A", "B"])]
    open_ = pv.Group("ward", Keep())
    design = plan_design(pv.Design(questions, [*DESIGN.groups, open_]), "1").design
    assert design.one_of
    with started(tmp_path, design=design) as (_, at):
        told = json.loads(ask(at, "GET", "/design.json")[1])
        assert ["even", "even", "public"] == [g["kind"] for g in told["groups"]]
        # e is 2.718: from 1 in 10 to 24 %, from 1 in 2 to 74 %, however asked.
        assert {"tenth": 24, "half": 74} == told["told"]
        disguise = pv.RandomizedResponse(design=design)
        for i in range(20):
            true = {"smokes": "yes", "town": "S", "ward": "AB"[i % 2]}
            assert 201 == post(at, new(disguise.answer(true)))[0]
    seen = pv.estimate(read_answers(tmp_path / "a.duckdb"), design)
    assert (20, 0.5) == (seen.share(ward="A").n, seen.share(ward="A").value)
    assert 20 == seen.share(smokes="no").n + seen.share(town="N").n


def test_a_survey_must_disguise_something(tmp_path: Path) -> None:
    open_ = [pv.Group(q.name, Keep()) for q in DESIGN.questions]
    with pytest.raises(pv.InputError, match="disguise something"):
        Store(tmp_path / "a.duckdb", pv.Design(DESIGN.questions, open_))
    assert not (tmp_path / "a.duckdb").exists()


# Kills, stops, load, other processes, a full disk -----------------------------------

RUN = """
import sys
from privet.cli import cli
{before}
cli(sys.argv[1:], prog_name="privet")
"""


@contextmanager
def started(
    folder: Path, *more: str, before: str = "", design: pv.Design = DESIGN
) -> Iterator[tuple[subprocess.Popen[str], At]]:
    """`privet collect` in another process."""
    (folder / "design.toml").write_text(design.to_toml(), encoding="utf-8")
    where = ("-o", str(folder / "a.duckdb"), "--port", "0")
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", RUN.format(before=before)),
            *("collect", str(folder / "design.toml"), *where, *more),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        yield process, At(int(line.split("127.0.0.1:")[1].split("/")[0]))
    finally:
        process.kill()
        process.communicate()


def test_confirmed_answers_survive_kill_9(tmp_path: Path) -> None:
    kept = 0
    bodies = [new() for _ in range(200)]
    with started(tmp_path) as (process, at), ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(post, at, body) for body in bodies]
        while sum(f.done() for f in futures) < 80:
            sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        for future in futures:
            with suppress(OSError, http.client.HTTPException):
                kept += future.result()[0] == 201
    assert 80 <= kept
    assert kept <= len(read_answers(tmp_path / "a.duckdb").rows) <= kept + 8
    with started(tmp_path) as (_, at), ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda body: post(at, body)[0], bodies))
    assert {201} == set(states)
    assert 200 == len(read_answers(tmp_path / "a.duckdb").rows)  # each of them once


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_answers_what_is_here(tmp_path: Path, how: signal.Signals) -> None:
    """Slow and idle connections do not delay it; what was confirmed is kept."""
    with started(tmp_path) as (process, at), ThreadPoolExecutor(8) as pool:
        service: Any = at
        held = [c for text in SLOW.values() for c in hold(service, 3, text)]
        futures = [pool.submit(post, at, new()) for _ in range(100)]
        while sum(f.done() for f in futures) < 30:
            sleep(0.01)
        start = monotonic()
        process.send_signal(how)
        assert process.stderr is not None
        said = process.stderr.read()
        assert 0 == process.wait(30)
        assert monotonic() - start < 6
        kept = 0
        for future in futures:
            with suppress(OSError, http.client.HTTPException):
                kept += future.result()[0] == 201
        for con in held:
            con.close()
    assert said.endswith("The survey is closed. What was confirmed is kept.\n")
    assert "Traceback" not in said
    assert kept == len(read_answers(tmp_path / "a.duckdb").rows)


def test_estimates_while_answers_come_in_under_load(tmp_path: Path) -> None:
    """480 answers over 16 connections, estimated from another process meanwhile."""
    seen = []

    def many(at: At, number: int) -> int:
        done = 0
        with closing(connect(at, 60)) as con:
            for i in range(number):
                town = "N" if i % 2 else "S"
                body = json.dumps(new({"smokes": "yes", "town": town}))
                head = {"Content-Type": "application/json"}
                con.request("POST", "/answers", body, head)
                answer = con.getresponse()
                answer.read()
                done += answer.status == 201
        return done

    with started(tmp_path) as (process, at), ThreadPoolExecutor(16) as pool:
        start = monotonic()
        futures = [pool.submit(many, at, 30) for _ in range(16)]
        while not all(f.done() for f in futures):
            with suppress(pv.EmptyTable):
                found = read_answers(tmp_path / "a.duckdb")
                seen.append(pv.estimate(found, DESIGN).share(smokes="yes").n)
                found.close()
            sleep(0.1)
        kept = sum(f.result() for f in futures)
        seconds = monotonic() - start
        process.send_signal(signal.SIGINT)
        assert 0 == process.wait(30)
    assert 16 * 30 == kept
    assert kept == len(read_answers(tmp_path / "a.duckdb").rows)
    assert seen == sorted(seen)
    assert seconds < 120


def test_two_services_write_one_store(tmp_path: Path) -> None:
    """What is sent to both is stored once."""
    bodies = [new() for _ in range(24)]
    with (
        started(tmp_path) as (_, one),
        started(tmp_path) as (_, other),
        ThreadPoolExecutor(16) as pool,
    ):
        ways = [(at, body) for body in bodies for at in (one, other)]
        states = list(pool.map(lambda way: post(*way)[0], ways))
    assert {201} == set(states)
    assert 24 == len(read_answers(tmp_path / "a.duckdb").rows)


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""


@pytest.mark.parametrize("room", [0, 100, 1], ids=["none", "little", "for the log"])
def test_a_full_disk_loses_nothing(tmp_path: Path, room: int) -> None:
    """Files may not grow; whoever was told to try again is kept when they may.

    Nothing fits; the head of DuckDB's log fits; all of the log, but not the table.
    """
    bodies = [new() for _ in range(32)]

    def states(at: At, part: list[dict[str, object]]) -> list[int]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda body: post(at, body)[0], part))

    with started(tmp_path) as (_, at):
        assert {201} == set(states(at, bodies[:16]))
    size = room if room != 1 else (tmp_path / "a.duckdb").stat().st_size
    with started(tmp_path, before=FULL.format(size=size)) as (_, at):
        found = states(at, bodies[16:])
        assert 200 == ask(at, "GET", "/")[0].status  # it goes on
    assert ({201} if room == 1 else {503}) == set(found)
    kept = 16 + found.count(201)
    assert kept == len(read_answers(tmp_path / "a.duckdb").rows)
    with started(tmp_path) as (_, at):
        assert {201} == set(states(at, bodies))
    assert 32 == len(read_answers(tmp_path / "a.duckdb").rows)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "design.toml").write_text(DESIGN.to_toml(), encoding="utf-8")
        where = ("-o", str(tmp_path / "a.duckdb"), "--port", str(port))
        done = subprocess.run(
            [
                *(sys.executable, "-c", RUN.format(before="")),
                *("collect", str(tmp_path / "design.toml"), *where),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert 2 == done.returncode
    assert "a port that is free" in done.stderr


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, missing: str
) -> None:
    (tmp_path / "design.toml").write_text(DESIGN.to_toml(), encoding="utf-8")
    code = RUN.format(before=f"sys.modules[{missing!r}] = None")
    words = ("collect", str(tmp_path / "design.toml"), "-o", str(tmp_path / "a.duckdb"))
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert 2 == done.returncode
    assert "pip install 'privet[collect]'" in done.stderr
    assert not (tmp_path / "a.duckdb").exists()
