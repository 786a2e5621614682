r"""Framing of one HTTP message without I/O, using h11, with repairs for old programs.

The caller passes bytes and times, and polls for the message. At the time `RequestFraming.due`, the caller
polls again even if no bytes have arrived. Normally, the HTTP framing defines the end of a body. But old
programs count characters instead of bytes, or send no length and wait for the answer. Therefore, a request is
also complete when its parentheses are closed and no bytes follow for a moment. If the stated length is too
short, the request is read until its parentheses are closed.

>>> framing = RequestFraming(limit=1000)
>>> framing.receive(b"POST / HTTP/1.0\r\n\r\n(PLAY m.1", now=5.0)
>>> framing.receive(b" NIL)", now=6.5)
>>> framing.poll(now=6.6).content
b'(PLAY m.1 NIL)'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from anygame.errors import needing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


#: Maximum number of bytes read from a stream at a time.
CHUNK: Final = 16_384
#: Maximum number of bytes of the head of a message. Real heads have several hundred bytes.
_LONGEST_HEAD: Final = 16_384
_END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
#: Maximum number of bytes of an unfinished mark for the end of a head, such as ``\n\r`` of ``\n\r\n``.
_LONGEST_PARTIAL_END: Final = 2
#: Number of seconds without a byte after which a message without open parentheses counts as complete. This
#: time is much longer than the gaps between packets, and much shorter than any clock.
_SILENCE: Final = 0.5
#: Maximum number of HTTP chunks of a body. One chunk of each packet is not counted.
_MOST_CHUNKS: Final = 5000
#: Number of bytes of a body that are passed to ``refusal``, enough for the first words of a message.
_ENOUGH_TO_JUDGE: Final = 65_536


class HttpError(Exception):
    """The message is not HTTP, is too large, or is refused.

    ``status`` is the status code for the client. ``reply`` is the answer to a refused message, else None.
    """

    def __init__(self, message: str, status: int = 400, reply: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Body:
    """A complete message. A response has an empty method and target."""

    method: str
    target: str
    content: bytes
    #: Time of arrival of the first bytes.
    arrived: float
    #: Whether the body exceeded the limit; ``content`` then ends at the limit.
    is_cut: bool = False


def need_h11() -> Any:
    """Return the module h11. Raises MissingExtraError if h11 is not installed."""
    with needing("match", "playing over the network needs h11, which is not installed"):
        import h11
    return h11


class _Content:
    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.is_cut = False
        self.limit = limit
        self._depth = 0
        self._has_list = False

    def add(self, piece: bytes | bytearray) -> None:
        room = self.limit - len(self.data)
        self.is_cut = self.is_cut or len(piece) > room
        kept = piece[:room]
        self.data += kept
        self._has_list = self._has_list or b"(" in kept
        self._depth += kept.count(b"(") - kept.count(b")")

    @property
    def is_plausible(self) -> bool:
        """Whether no parenthesis is open, which is necessary for a complete body."""
        return self._depth <= 0

    @property
    def is_message(self) -> bool:
        """Whether the body is a closed list, and therefore complete."""
        return self._has_list and self._depth <= 0


class _Framing:
    """Base class of requests and responses."""

    def __init__(self, limit: int) -> None:
        self._h11 = need_h11()
        self._content = _Content(limit)
        self._head: bytearray | None = bytearray()
        #: Number of bytes that have been searched for the end of the head.
        self._searched = 0
        self._chunks = 0
        self._connection: Any = None
        self._arrived = 0.0
        self._heard = 0.0
        self._is_closed = False

    def receive(self, data: bytes, now: float) -> None:
        """Add bytes that have arrived. An empty argument marks the end of the connection."""
        self._arrived = self._arrived or now
        self._heard = now
        self._is_closed = self._is_closed or not data
        if self._head is None:
            self._take(data)
        else:
            self._head += data if self._head else data.lstrip(b"\r\n")

    def _take(self, data: bytes) -> None:
        self._connection.receive_data(data)

    def _has_head(self) -> bool:
        """Return whether the head is complete. The complete head is passed to h11 once."""
        if self._head is None:
            return True
        end = _END_OF_HEAD.search(self._head, self._searched)
        self._searched = max(0, len(self._head) - _LONGEST_PARTIAL_END)
        if (end.start() if end else len(self._head)) > _LONGEST_HEAD:
            raise HttpError(f"the HTTP head has more than {_LONGEST_HEAD:,} bytes")
        if end:
            data, self._head = bytes(self._head), None
            self._open(data[: end.end()], data[end.end() :])
            # h11 needs a separate call for the end of the connection.
            if self._is_closed:
                self._take(b"")
            return True
        if self._is_closed:
            raise HttpError(
                "the message is not HTTP" if self._head else "the connection was closed without data"
            )
        return False

    def _open(self, head: bytes, rest: bytes) -> None:
        raise NotImplementedError

    def _first_event(self, data: bytes) -> Any:
        """Pass the first bytes to h11; return the request, or the response after informational responses."""
        self._connection.receive_data(data)
        try:
            event = self._connection.next_event()
            while isinstance(event, self._h11.InformationalResponse):
                event = self._connection.next_event()
        except self._h11.RemoteProtocolError as error:
            raise HttpError(f"the message is not HTTP: {error}") from error
        if not isinstance(event, self._h11.Request | self._h11.Response):
            raise HttpError("the message is not HTTP")
        return event

    def _framed(self) -> bool | None:
        """Read the body using h11: return True if it is complete, False if invalid, None if unfinished."""
        begun = self._chunks
        while not self._content.is_cut:
            try:
                event = self._connection.next_event()
            except self._h11.RemoteProtocolError:
                return False
            if isinstance(event, self._h11.Data):
                self._content.add(event.data)
                self._chunks += 1
                if self._chunks > _MOST_CHUNKS:
                    raise HttpError(f"the message has more than {_MOST_CHUNKS:,} chunks", 413)
            elif event is self._h11.NEED_DATA:
                # One chunk of each packet is not counted, because every packet of a body adds a chunk.
                self._chunks = max(begun, self._chunks - 1)
                return None
            else:
                return isinstance(event, self._h11.EndOfMessage)
        return False


class RequestFraming(_Framing):
    """One request, whose body has at most ``limit`` bytes.

    ``refusal`` is called with the beginning of a long body, and returns the answer to a refused message.
    """

    def __init__(self, limit: int, refusal: Callable[[bytes], str | None] = lambda _: None) -> None:
        super().__init__(limit)
        #: Whether the client waits for status 100 before it sends the body.
        self.wants_continue = False
        self._refusal: Callable[[bytes], str | None] | None = refusal
        self._method = ""
        self._target = ""
        self._has_length = False
        #: Whether the body is read without h11, because its HTTP framing is wrong or missing.
        self._is_unframed = False

    @property
    def due(self) -> float | None:
        """The time at which to poll again even if no bytes arrive; None to wait for more bytes."""
        if self._head is not None:
            return None
        if self._is_unframed:
            waits = not self._has_length and not self._content.is_plausible
        else:
            waits = not self._content.is_message
        return None if waits else self._heard + _SILENCE

    def poll(self, now: float) -> Body | None:
        """Return the request; None if it is incomplete. Raises HttpError."""
        if not self._has_head():
            return None
        is_silent = self.due is not None and now >= self.due
        is_whole = self._is_whole(is_silent=is_silent)
        if self._content.is_cut:
            raise HttpError(f"the request has more than {self._content.limit:,} bytes", 413)
        if self._refusal is not None and len(self._content.data) > _ENOUGH_TO_JUDGE:
            reply = self._refusal(bytes(self._content.data[:_ENOUGH_TO_JUDGE]))
            self._refusal = None
            if reply is not None:
                raise HttpError("a long message was refused", 200, reply)
        if not is_whole:
            return None
        return Body(self._method, self._target, bytes(self._content.data), self._arrived)

    def _open(self, head: bytes, rest: bytes) -> None:
        self._connection = self._h11.Connection(self._h11.SERVER)
        request = self._first_event(mend_request(head) + rest)
        self.wants_continue = self._connection.they_are_waiting_for_100_continue
        self._method = request.method.decode().upper()
        self._target = request.target.decode("latin-1")
        self._has_length = any(
            name in (b"content-length", b"transfer-encoding") for name, _ in request.headers
        )

    def _take(self, data: bytes) -> None:
        if self._is_unframed:
            self._content.add(data)
        else:
            super()._take(data)

    def _is_whole(self, *, is_silent: bool) -> bool:
        if self._method != "POST":
            return True
        if not self._is_unframed:
            is_framed = self._framed()
            if is_framed is None and not (is_silent and self._content.is_message):
                return False
            if is_framed and self._has_length and self._content.is_plausible:
                return True
            self._is_unframed = True
            self._content.add(self._connection.trailing_data[0])
            is_silent = False
        return self._content.is_message or self._is_closed or is_silent


class ResponseFraming(_Framing):
    """One response to a POST request. A body is read up to ``limit`` bytes."""

    def poll(self) -> Body | None:
        """Return the response; None if it is incomplete. Raises HttpError if it is invalid."""
        if not self._has_head():
            return None
        is_whole = self._framed()
        if is_whole is None:
            return None
        if not is_whole and not self._content.is_cut:
            raise HttpError("the connection was closed before the reply was complete")
        return Body("", "", bytes(self._content.data), self._arrived, self._content.is_cut)

    def _open(self, head: bytes, rest: bytes) -> None:
        h11 = self._h11
        self._connection = h11.Connection(h11.CLIENT)
        self._connection.send(
            h11.Request(method="POST", target="/", headers=[("Host", "player"), ("Content-Length", "0")])
        )
        self._connection.send(h11.EndOfMessage())
        self._first_event(_join(*_split(head)) + rest)


#: Pattern of a header line. A value begins with a non-blank character, so that blanks cause no backtracking.
_HEADER: Final = re.compile(
    rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*:[ \t]*((?:[^\x00-\x20\x7f][^\x00-\x08\x0a-\x1f\x7f]*)?)"
)
_NEGATIVE: Final = re.compile(rb"-\d+\s*")
_REQUEST_LINE: Final = re.compile(rb"(\S+) (.*?)( HTTP/\d\.\d)\s*")
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    503: "Service Unavailable",
}
_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]+")


def format_request(text: bytes, host: str, receiver: str) -> bytes:
    """Return the head and body of a request, as the reference manager sends them."""
    head = (
        "POST / HTTP/1.0\r\n"
        "Accept: text/delim\r\n"
        f"Host: {_printable(host)}\r\n"
        "Sender: GAMESERVER\r\n"
        f"Receiver: {_printable(receiver)}\r\n"
        "Content-Type: text/acl\r\n"
        f"Content-Length: {len(text)}\r\n"
        "\r\n"
    )
    return head.encode() + text


def format_response(text: bytes, status: int = 200, *, head_only: bool = False) -> bytes:
    """Return the head and body of a response, as reference players send them, with CORS headers."""
    head = (
        f"HTTP/1.0 {status} {_REASONS[status]}\r\n"
        "Content-type: text/acl\r\n"
        f"Content-length: {len(text)}\r\n"
        "Connection: close\r\n"
        "Access-Control-Allow-Origin: *\r\n"
        "Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n"
        "Access-Control-Allow-Headers: Content-Type\r\n"
        "Access-Control-Allow-Age: 86400\r\n"
        "\r\n"
    )
    return head.encode() + (b"" if head_only else text)


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub(" ", text).strip()[:200]


def mend_request(head: bytes) -> bytes:
    """Return the head of a request, repaired for h11.

    Old programs send heads that h11 rejects. They contain

    - blank lines before the first line,
    - HTTP/1.1 without ``Host``,
    - a GET request with blanks in the message,
    - invalid header lines, which are dropped, or a blank before the colon,
    - a negative ``Content-Length``, which the reference manager treats as a missing length.
    """
    first, headers = _split(head)
    line = _REQUEST_LINE.fullmatch(first)
    if line:
        target = quote(line[2].strip(), safe="%/?&=+:;,@!$'()*~-._")
        first = line[1] + b" " + (target.encode() or b"/") + line[3]
    if b"host" not in headers:
        headers[b"host"] = b"localhost"
    return _join(first, headers)


def _split(head: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Return the first line, and the first valid header of each name."""
    lines = re.split(rb"\r?\n", head.strip(b"\r\n"))
    headers: dict[bytes, bytes] = {}
    for line in lines[1:]:
        header = _HEADER.fullmatch(line.rstrip())
        if header and not (header[1].lower() == b"content-length" and _NEGATIVE.fullmatch(header[2])):
            headers.setdefault(header[1].lower(), header[2])
    return lines[0].rstrip(), headers


def _join(first: bytes, headers: Mapping[bytes, bytes]) -> bytes:
    return b"\r\n".join([first, *(name + b": " + value for name, value in headers.items())]) + b"\r\n\r\n"
