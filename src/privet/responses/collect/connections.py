"""Connections that are slow, idle or many do not keep others out.

uvicorn waits for a request as long as somebody cares to send it. Here a request must
arrive in time, whole, and its reply be read in time. Where all room is taken, the
address that holds most of it gives way: of its connections the one that has been
waiting longest, and none that is being answered.
"""

from __future__ import annotations

import json
from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections import Counter
from typing import Any, ClassVar

import attrs
import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from privet.responses.collect.survey_page import HEADERS


@attrs.frozen
class ConnectionLimits:
    """How long, and how many."""

    connections: int = 256
    """Connections that are open at once."""
    request_seconds: float = 10.0
    """A request must be here after so long, from its first byte to its last."""
    answer_seconds: float = 60.0
    """A reply must be made after so long."""
    idle_seconds: int = 5
    """A connection without a request is closed after so long."""
    head_bytes: int = 16_384
    """A request's lines before its body must be shorter."""


class LimitedProtocol(H11Protocol):
    """One connection, watched."""

    limits: ClassVar[ConnectionLimits] = ConnectionLimits()

    @property
    def is_answering(self) -> bool:
        """Whether a whole request is here, and its reply waits for us, not for them."""
        cycle = self.cycle
        waits = cycle and not cycle.response_complete and not cycle.more_body
        return bool(waits and not self.flow.write_paused)

    @property
    def is_idle(self) -> bool:
        """Whether nothing of a request is here."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Somebody came."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._began = False
        self._watch: TimerHandle | None = None
        self._check_time()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody left."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something of a request came."""
        if self.is_idle and not self._began:
            self._began, self.since = True, self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """A reply was made; whether it is read is watched, too."""
        self._began, self.since = False, self.loop.time()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Close; a request that is here is answered first."""
        if self.is_answering:
            super().shutdown()
        elif self.is_idle and self.transport.get_write_buffer_size():
            self.transport.close()
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Say that this is no request, in our words and with our headers."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        content = json.dumps({"message": "The request must be HTTP/1.1."}).encode()
        headers = [
            *HEADERS.items(),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(content))),
            ("Connection", "close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=content),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _check_time(self) -> None:
        """Drop the connection if it is too late, else look again when it would be."""
        patience = (
            self.limits.answer_seconds
            if self.is_answering
            else self.limits.request_seconds
        )
        left = self.since + patience - self.loop.time()
        if left <= 0:
            self.transport.abort()
        else:
            wait = min(left, self.limits.request_seconds)
            self._watch = self.loop.call_later(wait, self._check_time)

    def _make_room(self) -> None:
        """Drop a connection where there are too many."""
        there = [
            c
            for c in self.connections
            if isinstance(c, LimitedProtocol) and not c.transport.is_closing()
        ]
        if len(there) <= self.limits.connections:
            return
        held = Counter(c.address for c in there)
        waiting = [c for c in there if c is not self and not c.is_answering]
        if waiting:
            last = max(waiting, key=lambda c: (held[c.address], -c.since))
            last.transport.abort()
        else:
            self.transport.abort()

    @property
    def address(self) -> str:
        """Where it comes from; known as long as it is open, and written nowhere."""
        return self.client[0] if self.client else ""


def limit_connections(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """What uvicorn makes of each connection."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})


def silence(loop: AbstractEventLoop, context: dict[str, Any]) -> None:
    """Somebody hung up, or sent nonsense: nothing is logged."""
