"""Bodies of requests: forms as browsers send them, with files or without."""

from __future__ import annotations

from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from anygame.web.server.processes import MatchFaultError

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["read_form"]

#: Fields of one form: a role each, and few more.
_MOST_FIELDS: Final = 1_000


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a file, its text. An empty file does not count.

    Raises:
        MatchFaultError: it is no form, has too many fields, or is not UTF-8 text.
        TooLargeError: it is too large; see `anygame.web.server.guards`.
    """
    body = await request.body()
    kind = request.headers.get("content-type", "")
    try:
        if kind.startswith("multipart/form-data"):
            return _multipart(kind, body)
        if kind.startswith("application/x-www-form-urlencoded"):
            return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except UnicodeDecodeError as error:
        raise MatchFaultError(f"expected UTF-8 text: byte {error.start} cannot be read") from error
    except ValueError as error:
        raise MatchFaultError(f"the form cannot be read: {error}") from error
    raise MatchFaultError(f"expected a form, found {kind[:60] or 'no content type'!r}")


def _multipart(kind: str, body: bytes) -> dict[str, str]:
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    fields: dict[str, str] = {}
    for part in list(message.iter_parts())[:_MOST_FIELDS] if message.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(data, bytes) and (data or name not in fields):
            fields[name] = data.decode("utf-8-sig")
    return fields
