"""Heads of HTTP messages: how ours are written, and how those of old programs are mended for h11.

Programs of the field are older than the grammar that h11 keeps. What it would refuse and they send:

- blank lines before the first line,
- HTTP/1.1 without ``Host``,
- a request by GET whose message has blanks in it,
- header lines that are none, or with a blank before the colon: they are left out,
- a negative ``Content-Length``, which the reference manager takes for none.

Lines that end in LF alone, and replies to the end of the connection, h11 reads by itself. Ours are HTTP/1.0,
which is what both kinds of old client expect: ``Content-Length`` is always there, and the connection closes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """Return a request of the reference manager's form, head and body.

    Args:
        text: the message.
        host: of the player.
        receiver: the player's name.
    """
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
    """Return the head of a request so that h11 can read it, where that is possible."""
    first, headers = _split(head)
    found = _REQUEST_LINE.fullmatch(first)
    if found:
        target = quote(found[2].strip(), safe="%/?&=+:;,@!$'()*~-._")
        first = found[1] + b" " + (target.encode() or b"/") + found[3]
    if b"host" not in headers:
        headers[b"host"] = b"localhost"
    return _join(first, headers)


def mend_response(head: bytes) -> bytes:
    """Return the head of a response so that h11 can read it, where that is possible."""
    return _join(*_split(head))


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
