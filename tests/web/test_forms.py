"""Forms as strangers send them: read in steps that grow no faster than their bytes, or refused before."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")

from python_multipart.multipart import FormParser
from starlette.requests import Request

from anygame.web.server import bodies
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

    scope: dict[str, Any] = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
    return asyncio.run(read_form(Request(scope, receive)))


def _part(name: str, value: bytes, more: str = "") -> bytes:
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + value + b"\r\n"


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return what the parser of forms has told of: a field or file for each part that it went through."""
    told: list[object] = []

    def noting(kind: str, on_field: Any, on_file: Any, *arguments: Any, **options: Any) -> FormParser:
        def noted(heard: Any) -> Any:
            def hear(part: object) -> None:
                told.append(part)
                heard(part)

            return hear

        return FormParser(kind, noted(on_field), noted(on_file), *arguments, **options)

    monkeypatch.setattr(bodies, "FormParser", noting)
    return told


def test_fields_and_files_are_texts_and_an_empty_file_does_not_count() -> None:
    body = _part("text", "(role ä)\r\n".encode()) + _part("file", b"", '; filename=""')
    body += _part("file", b"\xef\xbb\xbf(role x)", '; filename="x.kif"\r\nContent-Type: text/plain')
    body += _part("text", b"") + b"--b--\r\n"
    assert _read(_MULTIPART, body) == {"text": "(role ä)\r\n", "file": "(role x)", "file_name": "x.kif"}
    assert _read(_URLENCODED, b"text=%28role+%C3%A4%29&empty=") == {"text": "(role ä)", "empty": ""}


def test_no_more_parts_are_gone_through_than_a_form_may_have(parts: list[object]) -> None:
    body = _part("a", b"") * (_BYTES // len(_part("a", b"")))
    with pytest.raises(MatchFaultError, match="more than 1,000 fields"):
        _read(_MULTIPART, body)
    assert len(parts) == 1_001


@pytest.mark.parametrize(
    "body",
    [
        b"--b\r\n\r\n\r\n" * (_BYTES // 9),
        b"--b\r\n" + b"x: y\r\n" * (_BYTES // 6),
        b"--b\r\nx: " + b"y" * _BYTES,
        b"\r\n" * (_BYTES // 2),
        b"".join(
            b"--b\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (depth, depth)
            for depth in range(3_000)
        ),
    ],
    ids=["parts without names", "many headers", "a long header", "no part", "nested"],
)
def test_a_form_that_is_none_is_refused_where_that_is_seen(body: bytes, parts: list[object]) -> None:
    with pytest.raises(MatchFaultError, match="the form cannot be read"):
        _read(_MULTIPART, body)
    assert len(parts) <= 1


def test_what_looks_like_parts_inside_a_part_is_its_text(parts: list[object]) -> None:
    inner = b"--c\r\n\r\n\r\n" * (_BYTES // 10)
    body = _part("text", inner, "\r\nContent-Type: multipart/mixed; boundary=c") + b"--b--\r\n"
    assert _read(_MULTIPART, body) == {"text": inner.decode()}
    assert len(parts) == 1


def test_no_more_fields_are_decoded_than_a_form_may_have() -> None:
    with pytest.raises(MatchFaultError, match="more than 1,000 fields"):
        _read(_URLENCODED, b"a=b&" * (_BYTES // 4))


@pytest.mark.parametrize(
    ("kind", "body"),
    [(_URLENCODED, b"text=" + b"%" * _BYTES), (_MULTIPART, _part("text", b"\r\n--bX" * 100_000) + b"--b--")],
)
def test_a_long_form_is_read_outside_of_the_loop(
    kind: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noting(*arguments: Any) -> dict[str, str]:
        threads.append(threading.current_thread())
        return parse(*arguments)

    parse = bodies.parse_form
    monkeypatch.setattr(bodies, "parse_form", noting)
    _read(kind, body)
    _read(kind, _part("text", b"short") + b"--b--" if kind == _MULTIPART else b"text=short")
    assert [thread is threading.main_thread() for thread in threads] == [False, True]


@pytest.mark.parametrize("kind", [_MULTIPART, _URLENCODED, f"{_MULTIPART}; charset=punycode"])
def test_a_text_that_is_not_utf_8_is_refused(kind: str) -> None:
    body = _part("text", b"abc\xff") + b"--b--" if kind != _URLENCODED else b"text=abc%FF"
    with pytest.raises(MatchFaultError, match="expected UTF-8 text: byte 3 cannot be read"):
        _read(kind, body)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("", "expected a form, found no content type"),
        ("application/json", "expected a form, found 'application/json'"),
        ("multipart/form-data", "the form cannot be read: it names no boundary"),
        (f"multipart/form-data; boundary={'b' * 300}", "the form cannot be read: "),
    ],
)
def test_what_is_no_form_is_told(kind: str, reason: str) -> None:
    with pytest.raises(MatchFaultError, match=reason):
        _read(kind, b"--b--")


def test_a_form_that_is_cut_off_is_refused() -> None:
    with pytest.raises(MatchFaultError, match="its last boundary is missing"):
        _read(_MULTIPART, _part("text", b"(role x)"))
