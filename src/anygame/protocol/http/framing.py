r"""Where one HTTP message ends, from bytes and times alone: a mended head, a body framed by h11, old habits.

As in h11 itself, nothing here reads a socket or a clock: bytes and the time are given, and `due` says when
to ask again although nothing came. A body is whole when its framing says so. Old programs get lengths wrong:
they count characters, or give none and wait for the answer. So a request is also whole when its parentheses
close and nothing more comes for a moment; and one that its length cuts off is read on until they close.

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


#: Bytes that are taken from a stream at a time: what they hold is read while others wait.
CHUNK: Final = 16_384
#: Bytes of a head. Those of the field have some hundreds.
_LONGEST_HEAD: Final = 16_384
_END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
#: Bytes of an end that may have come, but for its last one.
_LONGEST_END: Final = 2
#: Seconds of silence after which a message that could be whole is taken as whole: much longer than the gaps
#: between packets, and short beside any clock.
_SILENCE: Final = 0.5
#: Chunks of a body that come together, beyond one for each time that something came: large ones are few.
_MOST_CHUNKS: Final = 5000
#: Bytes of a body after which it is asked whether it is wanted. Its first word is there by then.
_ENOUGH_TO_JUDGE: Final = 65_536


class HttpError(Exception):
    """What came is not HTTP, or is too large.

    Attributes:
        status: the status code that says so to a client.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class UnwantedError(HttpError):
    """Whoever sends has begun a long message that nobody wants; ``reply`` is the answer to it."""

    def __init__(self, message: str, reply: str) -> None:
        super().__init__(message, 200)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Body:
    """What a message said.

    Attributes:
        method: of a request; empty for a response.
        target: of a request: the path with its query.
        content: the body, at most as long as was asked for.
        arrived: when its first bytes came.
        is_cut: whether there was more of it.
    """

    method: str
    target: str
    content: bytes
    arrived: float
    is_cut: bool = False


def need_h11() -> Any:
    """Return the library that frames HTTP.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needing("match", "playing over the network needs h11, which is not installed"):
        import h11
    return h11


class _Content:
    """A body as it grows, up to a bound."""

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
        """Whether this could be all: nothing is left open."""
        return self._depth <= 0

    @property
    def is_message(self) -> bool:
        """Whether this must be all: a list, and it is closed."""
        return self._has_list and self._depth <= 0


class _Framing:
    """What requests and responses have in common: a head, and a body that h11 frames."""

    def __init__(self, limit: int) -> None:
        self._h11 = need_h11()
        self._content = _Content(limit)
        self._head: bytearray | None = bytearray()
        #: Bytes of the head in which no end was found.
        self._searched = 0
        self._chunks = 0
        self._connection: Any = None
        self._arrived = 0.0
        self._heard = 0.0
        self._is_closed = False

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes; none for the end of the connection."""
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
        """Read the head, as soon as it is there."""
        if self._head is None:
            return True
        found = _END_OF_HEAD.search(self._head, self._searched)
        self._searched = max(0, len(self._head) - _LONGEST_END)
        if (found.start() if found else len(self._head)) > _LONGEST_HEAD:
            raise HttpError(f"the head has more than {_LONGEST_HEAD:,} bytes")
        if found:
            data, self._head = bytes(self._head), None
            self._open(data[: found.end()], data[found.end() :])
            # h11 must learn of the end apart from the bytes before it.
            if self._is_closed:
                self._take(b"")
            return True
        if self._is_closed:
            raise HttpError(
                "what came is not HTTP" if self._head else "the connection was closed without a byte"
            )
        return False

    def _open(self, head: bytes, rest: bytes) -> None:
        raise NotImplementedError

    def _first_event(self, data: bytes) -> Any:
        """Give h11 a head and what follows; return the request or the final response."""
        self._connection.receive_data(data)
        try:
            event = self._connection.next_event()
            while isinstance(event, self._h11.InformationalResponse):
                event = self._connection.next_event()
        except self._h11.RemoteProtocolError as error:
            raise HttpError(f"what came is not HTTP: {error}") from error
        if not isinstance(event, self._h11.Request | self._h11.Response):
            raise HttpError("what came is not HTTP")
        return event

    def _framed(self) -> bool | None:
        """Read on as the framing goes: whether it says that the body is whole; None if more may come."""
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
                # The first one may be no more than a packet.
                self._chunks = max(begun, self._chunks - 1)
                return None
            else:
                return isinstance(event, self._h11.EndOfMessage)
        return False


class RequestFraming(_Framing):
    """One request.

    Args:
        limit: bytes of the body that are accepted.
        refusal: takes how a long body begins; returns what to answer where it is not wanted, or None.
    """

    def __init__(self, limit: int, refusal: Callable[[bytes], str | None] = lambda _: None) -> None:
        super().__init__(limit)
        #: Whether the client waits to be asked for the body.
        self.wants_continue = False
        self._refusal: Callable[[bytes], str | None] | None = refusal
        self._method = ""
        self._target = ""
        self._has_length = False
        #: Whether h11 has been left behind: its framing was wrong, or said too little.
        self._is_beyond = False

    @property
    def due(self) -> float | None:
        """When to poll again although nothing has come; None for not before something has."""
        if self._head is not None:
            return None
        if self._is_beyond:
            waits = not self._has_length and not self._content.is_plausible
        else:
            waits = not self._content.is_message
        return None if waits else self._heard + _SILENCE

    def poll(self, now: float) -> Body | None:
        """Return the request when it is whole, None before.

        Raises:
            HttpError: it is none, or too large, or not wanted.
        """
        if not self._has_head():
            return None
        is_silent = self.due is not None and now >= self.due
        is_whole = self._is_whole(is_silent=is_silent)
        if self._content.is_cut:
            raise HttpError(f"the request has more than {self._content.limit:,} bytes", 413)
        self._check_wanted()
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
        if self._is_beyond:
            self._content.add(data)
        else:
            super()._take(data)

    def _is_whole(self, *, is_silent: bool) -> bool:
        if self._method != "POST":
            return True
        if not self._is_beyond:
            is_framed = self._framed()
            if is_framed is None and not (is_silent and self._content.is_message):
                return False
            if is_framed and self._has_length and self._content.is_plausible:
                return True
            self._is_beyond = True
            self._content.add(self._connection.trailing_data[0])
            is_silent = False
        return self._content.is_message or self._is_closed or is_silent

    def _check_wanted(self) -> None:
        if self._refusal is not None and len(self._content.data) > _ENOUGH_TO_JUDGE:
            reply = self._refusal(bytes(self._content.data[:_ENOUGH_TO_JUDGE]))
            self._refusal = None
            if reply is not None:
                raise UnwantedError("a long message that is not wanted", reply)


class ResponseFraming(_Framing):
    """One response, as the answer to a request by POST. Its status and version do not matter.

    Args:
        limit: bytes of the body that are kept; no more is read.
    """

    def poll(self) -> Body | None:
        """Return the response when it is whole, None before.

        Raises:
            HttpError: it is none, or its end is missing.
        """
        if not self._has_head():
            return None
        is_whole = self._framed()
        if is_whole is None:
            return None
        if not is_whole and not self._content.is_cut:
            raise HttpError("the connection was closed before the whole reply had come")
        return Body("", "", bytes(self._content.data), self._arrived, self._content.is_cut)

    def _open(self, head: bytes, rest: bytes) -> None:
        h11 = self._h11
        self._connection = h11.Connection(h11.CLIENT)
        self._connection.send(
            h11.Request(method="POST", target="/", headers=[("Host", "player"), ("Content-Length", "0")])
        )
        self._connection.send(h11.EndOfMessage())
        self._first_event(_join(*_split(head)) + rest)


#: A value begins with what is no blank: blanks that could be taken either way would be tried both ways.
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
    """Return a request of the reference manager's form, head and body."""
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
    """Return a response of a reference player's form, head and body; pages of other origins may read it."""
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
    """Return the head of a request, mended for h11 where it can be.

    Programs of the field are older than the grammar that h11 keeps. What it would refuse and they send:

    - blank lines before the first line,
    - HTTP/1.1 without ``Host``,
    - a request by GET whose message has blanks in it,
    - header lines that are none, or with a blank before the colon: they are left out,
    - a negative ``Content-Length``, which the reference manager takes for none.

    Lines that end in LF alone, and replies to the end of the connection, h11 reads by itself. Ours are
    HTTP/1.0, which is what both kinds of old client expect: ``Content-Length`` is always there, and the
    connection closes.
    """
    first, headers = _split(head)
    found = _REQUEST_LINE.fullmatch(first)
    if found:
        target = quote(found[2].strip(), safe="%/?&=+:;,@!$'()*~-._")
        first = found[1] + b" " + (target.encode() or b"/") + found[3]
    if b"host" not in headers:
        headers[b"host"] = b"localhost"
    return _join(first, headers)


def _split(head: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Return the first line, and the headers that can be read, the first of each name."""
    lines = re.split(rb"\r?\n", head.strip(b"\r\n"))
    headers: dict[bytes, bytes] = {}
    for line in lines[1:]:
        found = _HEADER.fullmatch(line.rstrip())
        if found and not (found[1].lower() == b"content-length" and _NEGATIVE.fullmatch(found[2])):
            headers.setdefault(found[1].lower(), found[2])
    return lines[0].rstrip(), headers


def _join(first: bytes, headers: Mapping[bytes, bytes]) -> bytes:
    return b"\r\n".join([first, *(name + b": " + value for name, value in headers.items())]) + b"\r\n\r\n"
