"""Survey service on loopback: a page, its design, and a place for disguised answers.

Answers are disguised in the browser, before they are sent; a report must look as the
design says, and nothing of it is ever quoted. Python's own HTTP server does: it speaks
to a reverse proxy or to this machine, one small request at a time. Nothing about who
asks is written anywhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from socket import SHUT_RDWR, socket
from threading import BoundedSemaphore
from time import monotonic
from typing import Any

from privet.responses.channels import Channel, Flip, KAry, Keep, Matrix, Replace
from privet.responses.collect.store import RefusedToken, Store, digest_token
from privet.responses.design import Design, Group, Question
from privet.values.exact import as_float

LONGEST_TOKEN = 100


# What a report must look like -------------------------------------------------------


class MalformedReport(Exception):
    """A request that is not a report; says which rule it breaks."""


def largest_body(design: Design) -> int:
    """How many bytes a report may have, generously."""
    widest = sum(
        len(json.dumps(q.name)) + max(len(json.dumps(v)) for v in q.values) + 8
        for q in design.questions
    )
    return 2 * widest + 400


def parse_report(
    body: bytes, design: Design
) -> tuple[dict[str, str | None], str | None]:
    """The report and the token of a request; or `MalformedReport`."""
    try:
        content = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise MalformedReport("The request must be JSON.") from None
    if not isinstance(content, dict) or not set(content) <= {"report", "token"}:
        raise MalformedReport(
            "The request must hold a report, and a token where needed."
        )
    token = content.get("token")
    if token is not None and not (
        isinstance(token, str) and 0 < len(token) <= LONGEST_TOKEN
    ):
        raise MalformedReport("The token must be text.")
    return _check_report(content.get("report"), design), token


def _check_report(report: Any, design: Design) -> dict[str, str | None]:
    if not isinstance(report, dict) or set(report) != set(design.columns):
        raise MalformedReport("The report must hold every question, and no other.")
    for question in design.questions:
        value = report[question.name]
        if value is None and design.one_of:
            continue
        if not isinstance(value, str) or value not in question.values:
            raise MalformedReport("Every answer must be one of the declared values.")
    if design.one_of:
        given = {c for c, v in report.items() if v is not None}
        if given not in [set(g.columns) for g in design.groups]:
            raise MalformedReport("The report must answer one group of questions.")
    return report


# What the browser needs -------------------------------------------------------------


def describe_for_browser(
    design: Design, survey: str, *, tokens: bool
) -> dict[str, Any]:
    """The design with chances as whole numbers, which a browser can draw exactly."""
    return {
        "title": design.title or "Survey",
        "survey": survey,
        "tokens": tokens,
        "one_of": design.one_of,
        "questions": [
            {
                "name": q.name,
                "ask": q.ask or q.name,
                "values": list(q.values),
                "edges": _list_edges(q),
            }
            for q in design.questions
        ],
        "groups": [_describe_group(design, g) for g in design.groups],
    }


def _list_edges(question: Question) -> list[float] | None:
    """Cut points of a number that is asked for; dates are asked for by their range."""
    if question.bins is None:
        return None
    edges = [e for e in question.bins.edges if isinstance(e, Fraction)]
    return [as_float(e) for e in edges] or None


def _describe_group(design: Design, group: Group) -> dict[str, Any]:
    size = design.size(group.columns)
    grown = group.channel.growth(size)
    return {
        "columns": list(group.columns),
        "growth": None if grown is None else float(grown),
        **_describe_channel(group.channel, size),
    }


def _describe_channel(channel: Channel, size: int) -> Mapping[str, Any]:
    match channel:
        case Keep():
            return {"kind": "public"}
        case Flip(truth=p) | KAry(truth=p):
            kind = "flip" if isinstance(channel, Flip) else "even"
            return {"kind": kind, "keep": str(p.numerator), "of": str(p.denominator)}
        case Replace(truth=p):
            return {
                "kind": "replace",
                "keep": str(p.numerator),
                "of": str(p.denominator),
                "instead": _to_whole_numbers(channel.shares(size)),
            }
        case Matrix(rows=rows):
            columns = zip(*rows, strict=True)
            return {
                "kind": "matrix",
                "columns_of": [_to_whole_numbers(c) for c in columns],
            }
    raise AssertionError(channel)


def _to_whole_numbers(shares: Any) -> list[str]:
    """Shares over one denominator, as whole numbers."""
    from math import lcm

    whole = lcm(*(s.denominator for s in shares))
    return [str(s.numerator * (whole // s.denominator)) for s in shares]


# The server -------------------------------------------------------------------------

SECONDS = 10
"""A connection that is silent for longer is dropped."""

LONGEST = 60
"""Seconds; an older connection is dropped where others wait for room."""

AT_ONCE = 64
"""Requests that are served at the same time."""

FILES = {
    "/": ("survey.html", "text/html; charset=utf-8"),
    "/survey.js": ("survey.js", "text/javascript; charset=utf-8"),
    "/draws.js": ("draws.js", "text/javascript; charset=utf-8"),
    "/survey.css": ("survey.css", "text/css; charset=utf-8"),
}

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@lru_cache
def _read_static(name: str) -> bytes:
    return (resources.files("privet.responses.collect") / "static" / name).read_bytes()


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Service
    timeout = SECONDS
    protocol_version = "HTTP/1.1"
    server_version = "privet"
    sys_version = ""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing is logged: addresses would tell who answered."""

    def do_GET(self) -> None:
        """The page and what it needs."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # what follows is not read as a request
        if self.path == "/design.json":
            self._send(HTTPStatus.OK, self.server.shown, "application/json")
        elif self.path in FILES:
            name, kind = FILES[self.path]
            self._send(HTTPStatus.OK, _read_static(name), kind)
        else:
            self._say(HTTPStatus.NOT_FOUND, "There is no such page.")

    def do_POST(self) -> None:
        """Take a report."""
        if self.path != "/answers":
            self._drop(HTTPStatus.NOT_FOUND, "There is no such page.")
            return
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip()
        if kind != "application/json":
            self._drop(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A report must be JSON.")
            return
        sizes = self.headers.get_all("Content-Length", [])
        size = sizes[0] if len(sizes) == 1 else ""
        coded = "Transfer-Encoding" in self.headers
        if coded or not size.isascii() or not size.isdigit():
            self._drop(HTTPStatus.LENGTH_REQUIRED, "The length must be stated.")
            return
        if len(size) > 9 or int(size) > self.server.largest:
            self._drop(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The report is too large.")
            return
        self._take(self.rfile.read(int(size)))

    def _take(self, body: bytes) -> None:
        store = self.server.store
        try:
            report, token = parse_report(body, store.design)
            if self.server.tokens and token is None:
                self._say(HTTPStatus.FORBIDDEN, "An invitation is needed.")
                return
            wanted = token is not None and self.server.tokens
            store.add(report, digest_token(token or "") if wanted else None)
        except MalformedReport as error:
            self._say(HTTPStatus.BAD_REQUEST, str(error))
        except RefusedToken:
            self._say(HTTPStatus.FORBIDDEN, "The invitation is unknown, or was used.")
        except Exception:  # whatever it is, it is not told to strangers
            self._say(
                HTTPStatus.SERVICE_UNAVAILABLE, "The answer was not kept. Try again."
            )
        else:
            self._say(HTTPStatus.CREATED, "Kept.")

    def _drop(self, status: HTTPStatus, text: str) -> None:
        """Refuse without reading what was sent."""
        self.close_connection = True
        self._say(status, text)

    def _say(self, status: HTTPStatus, text: str) -> None:
        content = json.dumps({"message": text}).encode()
        self._send(status, content, "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


class Service(ThreadingHTTPServer):
    """A survey that is open."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], store: Store, *, tokens: bool = False
    ) -> None:
        self.store = store
        self.tokens = tokens
        self.largest = largest_body(store.design)
        text = json.dumps(store.design.to_dict(), sort_keys=True)
        survey = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.shown = json.dumps(
            describe_for_browser(store.design, survey, tokens=tokens),
            ensure_ascii=False,
        ).encode()
        self._room = BoundedSemaphore(AT_ONCE)
        self._since: dict[socket, float] = {}
        super().__init__(address, Handler)

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a request, once there is room."""
        while not self._room.acquire(timeout=1):
            self._make_room()
        self._since[request] = monotonic()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._since.pop(request, None)
            self._room.release()
            raise

    def _make_room(self) -> None:
        """Drop connections that were open for too long, however busy they look."""
        for request, since in list(self._since.items()):
            if monotonic() - since > LONGEST:
                with suppress(OSError):
                    request.shutdown(SHUT_RDWR)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Make room afterwards."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._since.pop(request, None)
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Somebody hung up, or sent nonsense: nothing is logged."""


Ready = Callable[[str], None]


def serve(service: Service, ready: Ready) -> None:
    """Serve until interrupted; what was confirmed is kept in any case."""
    ready(service.url)
    try:
        service.serve_forever(poll_interval=0.2)
    finally:
        service.server_close()
        service.store.close()
