"""Survey service: starlette answers, uvicorn listens, one store keeps.

Answers are disguised in the browser before they are sent; nothing about who asks is
written anywhere. It speaks to a reverse proxy or to this machine.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import current_thread, main_thread
from typing import Any

from privet.errors import InputError, MissingExtra
from privet.responses.collect.store import Store

try:
    import uvicorn

    from privet.responses.collect.application import Gate, SurveyRoutes
    from privet.responses.collect.connections import (
        ConnectionLimits,
        limit_connections,
        silence,
    )
except ImportError:
    raise MissingExtra(
        "A survey is served by starlette and uvicorn; one of them is not installed. "
        "Install privet with the extra collect: pip install 'privet[collect]'."
    ) from None

QUEUE = 128
"""Connections that wait until they are looked at."""

LEAVE = 8
"""Seconds in which requests that are here are answered after a stop."""


class Service:
    """A survey that is open.

    Parameters
    ----------
    address
        The host and the port to listen on; port 0 takes any that is free.
    store
        Where answers go.
    tokens
        Whether an answer needs an invitation.
    names
        Further names that respondents reach it by, such as that of a proxy.
    limits
        How long and how many connections may be.
    """

    def __init__(
        self,
        address: tuple[str, int],
        store: Store,
        *,
        tokens: bool = False,
        names: Collection[str] = (),
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.store = store
        self._socket = _listen(address)
        self.server_address: tuple[str, int] = self._socket.getsockname()[:2]
        try:
            served = list_names({address[0], self.server_address[0]}, names)
        except InputError:
            self._socket.close()
            raise
        self._server = uvicorn.Server(
            _configure(
                Gate(SurveyRoutes(store, tokens=tokens).build(), served),
                ConnectionLimits() if limits is None else limits,
            )
        )

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = self.server_address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    def run(self) -> None:
        """Serve until stopped; what was confirmed is kept in any case."""
        try:
            asyncio.run(self._serve())
        finally:
            self._socket.close()
            self.store.close()

    async def _serve(self) -> None:
        asyncio.get_running_loop().set_exception_handler(silence)
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Answer the requests that are here, and end; from any thread."""
        self._server.should_exit = True


def _configure(app: Gate, limits: ConnectionLimits) -> uvicorn.Config:
    """The server without logs, lookups and whatever a survey has no use for."""
    config = uvicorn.Config(
        app,
        http=limit_connections(limits),
        ws="none",
        lifespan="off",
        loop="asyncio",
        interface="asgi3",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        backlog=QUEUE,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=LEAVE,
        h11_max_incomplete_event_size=limits.head_bytes,
    )
    for name in ("uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        # Addresses would tell who answered.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return config


def _listen(address: tuple[str, int]) -> socket.socket:
    host, port = address
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server(address, family=family, backlog=QUEUE)
    except (OSError, UnicodeError):
        raise InputError(
            f"The survey must have an address of this machine and a port that is free; "
            f"got {host!r} and {port}. Name another with --host or --port."
        ) from None


def list_names(hosts: Collection[str], names: Collection[str]) -> frozenset[str]:
    """The names a survey is served under: where it listens, and those it was told."""
    given = {name.lower().removesuffix(".") for name in names}
    for name in given:
        if not name or set(name) & set("/:@#? ") or not name.isascii():
            raise InputError(
                f"A name must be that of a host, without scheme and port; got {name!r}."
            )
    places = [place for host in hosts if (place := _read_address(host))]
    if any(place.is_unspecified for place in places) and not given:
        raise InputError(
            "Listening on every address must come with the name that respondents reach "
            "the survey by; a request under another name is refused. Give it with "
            "--name."
        )
    near = any(place.is_loopback or place.is_unspecified for place in places)
    here = {"localhost", "127.0.0.1", "::1"} if near else set()
    return frozenset({*(host.lower() for host in hosts), *given, *here} - {""})


def _read_address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None  # a name


Ready = Callable[[str], None]


def serve(service: Service, ready: Ready) -> None:
    """Serve until Ctrl-C or until the process is told to end; both raise the same."""
    with _end_politely():
        ready(service.url)
        service.run()


@contextmanager
def _end_politely() -> Iterator[None]:
    """Take a request to end, as service managers send it, for Ctrl-C."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
