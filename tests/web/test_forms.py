"""Forms as strangers send them: read, or refused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")

from starlette.exceptions import HTTPException
from starlette.requests import Request

from anygame.web.server.bodies import read_form
from anygame.web.server.processes import MatchFaultError

if TYPE_CHECKING:
    from starlette.types import Message

_MULTIPART = "multipart/form-data; boundary=b"
_URLENCODED = "application/x-www-form-urlencoded"
_BYTES = 2 * 2**20


def _read(kind: str, body: bytes) -> dict[str, str]:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", kind.encode())]
    scope: dict[str, Any] = {"type": "http", "method": "POST", "headers": headers, "app": None}
    return asyncio.run(read_form(Request(scope, receive)))


def _part(name: str, value: bytes, more: str = "") -> bytes:
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + value + b"\r\n"


def test_fields_and_files_are_texts_and_an_empty_file_does_not_count() -> None:
    body = _part("text", "(role ä)\r\n".encode()) + _part("file", b"", '; filename=""')
    body += _part("file", b"\xef\xbb\xbf(role x)", '; filename="x.kif"\r\nContent-Type: text/plain')
    body += _part("text", b"") + b"--b--\r\n"
    assert _read(_MULTIPART, body) == {"text": "(role ä)\r\n", "file": "(role x)", "file_name": "x.kif"}
    body = b"text=%28role+%C3%A4%29&empty="
    assert _read(f"{_URLENCODED};charset=UTF-8", body) == {"text": "(role ä)", "empty": ""}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (_MULTIPART, _part("a", b"") * (_BYTES // len(_part("a", b"")))),
        (_URLENCODED, b"a=b&" * (_BYTES // 4)),
    ],
)
def test_a_form_of_too_many_fields_is_refused(kind: str, body: bytes) -> None:
    with pytest.raises(HTTPException, match="Maximum number of fields is 1000"):
        _read(kind, body)


@pytest.mark.parametrize(
    "body",
    [
        b"--b\r\n\r\n\r\n" * (_BYTES // 9),
        b"--b\r\n" + b"x: y\r\n" * (_BYTES // 6),
        b"--b\r\nx: " + b"y" * _BYTES,
        b"".join(
            b"--b\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (depth, depth)
            for depth in range(3_000)
        ),
    ],
    ids=["parts without names", "many headers", "a long header", "nested"],
)
def test_a_form_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(HTTPException) as caught:
        _read(_MULTIPART, body)
    assert caught.value.status_code == 400


def test_nested_multipart_text_is_plain_text() -> None:
    inner = b"--c\r\n\r\n\r\n" * (_BYTES // 10)
    body = _part("text", inner, "\r\nContent-Type: multipart/mixed; boundary=c") + b"--b--\r\n"
    assert _read(_MULTIPART, body) == {"text": inner.decode()}


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(MatchFaultError, match="expected UTF-8 text: byte 3 cannot be read"):
        _read(_MULTIPART, _part("file", b"abc\xff", '; filename="x.kif"') + b"--b--")


def test_an_encoding_of_quadratic_time_is_refused() -> None:
    with pytest.raises(MatchFaultError, match="without a charset"):
        _read(f"{_MULTIPART}; charset=punycode", _part("text", b"-" * _BYTES) + b"--b--")


def test_a_body_that_is_not_a_form_has_no_fields() -> None:
    assert _read("application/json", b"{}") == {}
    with pytest.raises(HTTPException, match="boundary"):
        _read("multipart/form-data", b"--b--")
