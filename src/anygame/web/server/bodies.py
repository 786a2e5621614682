"""Bodies of requests: forms as browsers send them, with files or without.

Strangers write them. Parts are read one after the other, to a bound on their number; what a part holds is
its text, whatever it says of itself, so that nothing nests.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import FormParser, parse_options_header

from anygame.web.server.processes import MatchFaultError

if TYPE_CHECKING:
    from python_multipart.multipart import Field, File
    from starlette.requests import Request

#: Fields of one form: a role each, and few more.
_MOST_FIELDS: Final = 1_000
#: Bytes of a form that is read at once, which takes some milliseconds at worst: forms of moves are shorter.
_AT_ONCE: Final = 16_384
#: Reads longer forms, one after the other: a second of the processor for one as long as may be, at worst.
_READER: Final = ThreadPoolExecutor(1, "forms")
_URLENCODED: Final = b"application/x-www-form-urlencoded"
_MULTIPART: Final = b"multipart/form-data"

# Strangers shall not fill the log: what is wrong with a form is told to who sent it.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a file, its text. An empty file does not count.

    Raises:
        MatchFaultError: it is no form, has too many fields, or is not UTF-8 text.
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
    return MatchFaultError(f"the form has more than {_MOST_FIELDS:,} fields, which are not read")
