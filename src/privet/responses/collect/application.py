"""The survey as a web application: which requests are answered, and with what.

Errors are short sentences that quote nothing of the request. No cookie is set, nothing
is logged, and a request under another name than those the survey is served under is
refused: a page elsewhere whose name is turned to this machine reads nothing here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from privet.responses.collect import store as storage
from privet.responses.collect.store import RefusedToken, Store
from privet.responses.collect.submission import (
    MalformedReport,
    Submission,
    largest_body,
    parse_submission,
)
from privet.responses.collect.survey_page import (
    FILES,
    HEADERS,
    describe_for_browser,
    read_static,
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

NO_PAGE = "There is no such page."
NO_HOST = "The survey must be asked for by the name it is served under."
NO_METHOD = "Pages must be asked for with GET or HEAD, and answers sent with POST."


class Refusal(Exception):
    """A request that is refused, with a status and the rule it breaks."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status


def reply(status: HTTPStatus, text: str) -> Response:
    """A sentence for whoever asks."""
    content = json.dumps({"message": text}).encode()
    return Response(content, status, media_type="application/json")


# What is answered -------------------------------------------------------------------


class SurveyRoutes:
    """The page, the design, and a place for disguised answers."""

    def __init__(self, store: Store, *, tokens: bool) -> None:
        self._store = store
        self._tokens = tokens
        self._largest = largest_body(store.design)
        self._design = json.dumps(
            describe_for_browser(store.design, tokens=tokens), ensure_ascii=False
        ).encode()

    def build(self) -> Starlette:
        """The application."""
        pages = [Route(path, self._show, methods=["GET"]) for path in FILES]
        app = Starlette(
            routes=[
                *pages,
                Route("/design.json", self._describe, methods=["GET"]),
                Route("/answers", self._take, methods=["POST"]),
            ],
            exception_handlers={
                HTTPException: _explain_routing,
                Refusal: _explain_refusal,
                Exception: _say_sorry,
            },
        )
        app.router.redirect_slashes = False  # a redirection would quote the request
        return app

    async def _show(self, request: Request) -> Response:
        name, kind = FILES[request.scope["path"]]
        return Response(read_static(name), media_type=kind)

    async def _describe(self, request: Request) -> Response:
        return Response(self._design, media_type="application/json")

    async def _take(self, request: Request) -> Response:
        """Take a report; what was confirmed is on the disk."""
        self._check_size(request)
        try:
            submission = parse_submission(await request.body(), self._store.design)
        except MalformedReport as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, str(error)) from None
        if self._tokens and submission.token is None:
            raise Refusal(HTTPStatus.FORBIDDEN, "An invitation is needed.")
        if not self._tokens:
            submission = Submission(submission.report, submission.key)
        try:
            await _keep(self._store, submission)
        except RefusedToken:
            raise Refusal(
                HTTPStatus.FORBIDDEN, "The invitation is unknown, or was used."
            ) from None
        except Exception:  # whatever it is, it is not told to strangers
            raise Refusal(
                HTTPStatus.SERVICE_UNAVAILABLE, "The answer was not kept. Try again."
            ) from None
        return reply(HTTPStatus.CREATED, "Kept.")

    def _check_size(self, request: Request) -> None:
        """Refuse before anything is read."""
        kind = request.headers.get("Content-Type", "").partition(";")[0].strip()
        if kind != "application/json":
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A report must be JSON.")
        sizes = request.headers.getlist("Content-Length")
        if len(sizes) != 1 or "Transfer-Encoding" in request.headers:
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "The length must be stated.")
        if len(sizes[0]) > 9 or int(sizes[0]) > self._largest:
            raise Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The report must be shorter."
            )


async def _keep(store: Store, submission: Submission) -> None:
    """Wait until it is on the disk; what waited too long is taken back."""
    done = store.submit(submission)
    try:
        kept = asyncio.shield(asyncio.wrap_future(done))
        await asyncio.wait_for(kept, storage.WAIT)
    except TimeoutError:
        if done.cancel():
            raise
        await asyncio.wrap_future(done)  # it is being written: wait how that ends


# What is refused --------------------------------------------------------------------


async def _explain_routing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return reply(HTTPStatus.NOT_FOUND, NO_PAGE)
    found = reply(HTTPStatus.METHOD_NOT_ALLOWED, NO_METHOD)
    found.headers.update(error.headers or {})
    return found


async def _explain_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return reply(error.status, str(error))


async def _say_sorry(request: Request, error: Exception) -> Response:
    return reply(HTTPStatus.INTERNAL_SERVER_ERROR, "This did not work. Try again.")


class Gate:
    """Whatever comes passes here: names are checked, headers added."""

    def __init__(self, app: Starlette, names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(names)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        seen = _Body(scope, receive)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _guard_headers(message["headers"], seen)
            await send(message)

        if _read_host(scope) not in self._names:
            refused = reply(HTTPStatus.MISDIRECTED_REQUEST, NO_HOST)
            await refused(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, seen.receive, send_guarded)
        except ClientDisconnect:
            return  # somebody hung up; nothing is logged


class _Body:
    """Knows whether all that was sent with a request was read."""

    def __init__(self, scope: Message, receive: Receive) -> None:
        named = {name for name, _ in scope["headers"]}
        self.unread = bool(named & {b"content-length", b"transfer-encoding"})
        self._receive = receive

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            self.unread = False
        return message


def _guard_headers(
    given: Collection[tuple[bytes, bytes]], seen: _Body
) -> list[tuple[bytes, bytes]]:
    found = list(given)
    found += [(n.lower().encode(), v.encode()) for n, v in HEADERS.items()]
    if seen.unread:  # what follows is never read as the next request
        found.append((b"connection", b"close"))
    return found


def _read_host(scope: Message) -> str:
    """The name a request was sent to, without the port."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1:
        return ""
    text: str = hosts[0].decode("latin-1").lower()
    if text.startswith("["):
        return text.partition("]")[0].removeprefix("[")
    return text.partition(":")[0].removesuffix(".")
