"""Bodies of requests: forms of browsers, with or without files.

Strangers write them, so the number of parts is bounded. Each part counts as text, whatever its content type,
so parts cannot nest.
"""

from __future__ import annotations

import asyncio
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import FormParser, parse_options_header
from starlette.convertors import Convertor, register_url_convertor

from anygame.web.server.processes import MatchFaultError

if TYPE_CHECKING:
    from python_multipart.multipart import Field, File
    from starlette.requests import Request


#: Maximum digits of a whole number; versions, milliseconds since 1970, have 13.
_MOST_DIGITS: Final = 15
_COUNT: Final = re.compile(rf"[0-9]{{1,{_MOST_DIGITS}}}")
#: A decimal number in a form of a browser.
_DECIMAL: Final = re.compile(r"-?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")


def read_count(text: str, what: str) -> int:
    """Read a whole number, 0 or more.

    Raises:
        MatchFaultError: the text is no such number, or has more than 15 digits.

    >>> read_count("12", "the step")
    12
    >>> read_count("²", "the step")
    Traceback (most recent call last):
    anygame.web.server.processes.MatchFaultError: the step should be a whole number, found '²'
    """
    if not _COUNT.fullmatch(text):
        raise MatchFaultError(f"{what} should be a whole number{_found(text)}")
    return int(text)


def read_seconds(text: str, what: str, least: float, most: float) -> float:
    """Read a time in seconds, and clip it to bounds.

    Args:
        text: text of the request.
        what: name of the time, for people.
        least: lower bound in seconds.
        most: upper bound in seconds.

    Raises:
        MatchFaultError: the text is not a finite number.

    >>> read_seconds("2.5", "the clock", 0.1, 60), read_seconds("1e9", "the clock", 0.1, 60)
    (2.5, 60)
    """
    found = float(text) if _DECIMAL.fullmatch(text) else None
    if found is None or not isfinite(found):
        raise MatchFaultError(f"{what} should be a number of seconds{_found(text)}")
    return min(max(found, least), most)


def _found(text: str) -> str:
    if len(text) > _MOST_DIGITS and text.isascii() and text.isdigit():
        return f" of at most {_MOST_DIGITS} digits, found {len(text):,}"
    return f", found {text[:60]!r}"


class _Count(Convertor[int]):
    """Reads ``{name:count}`` in a route, a row of digits."""

    regex = "[0-9]+"

    def convert(self, value: str) -> int:
        return read_count(value, "the number in the address")

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("count", _Count())


#: Maximum fields of a form: one a role, and a few more.
_MOST_FIELDS: Final = 1_000
#: Maximum bytes of a form that is parsed in the event loop, in a few milliseconds. Moves need less.
_AT_ONCE: Final = 16_384
#: Executor that parses longer forms, one at a time; each takes at most a second of CPU time.
_READER: Final = ThreadPoolExecutor(1, "forms")
_URLENCODED: Final = b"application/x-www-form-urlencoded"
_MULTIPART: Final = b"multipart/form-data"

# Strangers must not fill the log; errors in a form go to its sender.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; a file gives its text, and its name as ``NAME_name``. Skips empty files.

    Raises MatchFaultError if the body is no form, has too many fields, or is not UTF-8 text.
    """
    kind = request.headers.get("content-type", "")
    body = await request.body()
    if len(body) <= _AT_ONCE:
        return parse_form(kind, body)
    return await asyncio.get_running_loop().run_in_executor(_READER, parse_form, kind, body)


def parse_form(kind: str, body: bytes) -> dict[str, str]:
    """Return the fields of a form from its content type and its bytes; see `read_form`."""
    name, options = parse_options_header(kind)
    try:
        if name == _MULTIPART:
            return _multipart(options.get(b"boundary"), body)
        if name == _URLENCODED:
            return _urlencoded(body)
    except UnicodeDecodeError as error:
        raise MatchFaultError(f"expected UTF-8 text: byte {error.start} cannot be read") from error
    found = repr(kind[:60]) if kind else "no content type"
    raise MatchFaultError(f"expected a form, found {found}")


def _urlencoded(body: bytes) -> dict[str, str]:
    text = body.decode()
    if text.count("&") >= _MOST_FIELDS:
        raise _too_many()
    return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))


def _multipart(boundary: bytes | None, body: bytes) -> dict[str, str]:
    if not boundary:
        raise MatchFaultError("the form cannot be read: it names no boundary")
    parts: list[tuple[bytes, bytes]] = []
    ends: list[bool] = []

    def keep(name: bytes | None, value: bytes | None) -> None:
        if len(parts) == _MOST_FIELDS:
            raise _too_many()
        parts.append((name or b"", value or b""))

    def keep_field(field: Field) -> None:
        keep(field.field_name, field.value)

    def keep_file(file: File) -> None:
        file.file_object.seek(0)
        keep(file.field_name, file.file_object.read())
        keep((file.field_name or b"") + b"_name", (file.file_name or b"").decode(errors="replace").encode())

    try:
        parser = FormParser(
            _MULTIPART.decode(), keep_field, keep_file, lambda: ends.append(True), boundary=boundary,
            config={"MAX_MEMORY_FILE_SIZE": len(body) + 1},
        )  # fmt: skip
        parser.write(body)
    except FormParserError as error:
        raise MatchFaultError(f"the form cannot be read: {str(error)[:200]}") from error
    if not ends:
        raise MatchFaultError("the form cannot be read: its last boundary is missing")
    fields: dict[str, str] = {}
    for name, value in parts:
        text = value.decode("utf-8-sig")
        if text or name.decode() not in fields:
            fields[name.decode()] = text
    return fields


def _too_many() -> MatchFaultError:
    return MatchFaultError(f"the form has more than {_MOST_FIELDS:,} fields")
