"""Parsing of numbers and forms in requests."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Final

from starlette.convertors import Convertor, register_url_convertor

from anygame.web.server.processes import MatchFaultError

if TYPE_CHECKING:
    from starlette.requests import Request


#: Maximum number of digits of a whole number. Versions (milliseconds since 1970) have 13 digits.
_MOST_DIGITS: Final = 15
_COUNT: Final = re.compile(rf"[0-9]{{1,{_MOST_DIGITS}}}")
#: Pattern of a decimal number in a form, as browsers write numbers.
_DECIMAL: Final = re.compile(r"-?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")
#: Maximum number of fields of a form, more than one for each role.
_MOST_FIELDS: Final = 1_000
_URLENCODED: Final = "application/x-www-form-urlencoded"
#: Maximum size in bytes of a field, which is never reached, since guards limit the size of bodies.
_LONGEST_FIELD: Final = 2**30


def read_count(text: str, what: str) -> int:
    """Read a whole number of at most 15 digits. Raises MatchFaultError.

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
    """Read a finite number of seconds, and clip the number to the bounds. Raises MatchFaultError.

    >>> read_seconds("2.5", "the clock", 0.1, 60), read_seconds("1e9", "the clock", 0.1, 60)
    (2.5, 60)
    """
    value = float(text) if _DECIMAL.fullmatch(text) else None
    if value is None or not isfinite(value):
        raise MatchFaultError(f"{what} should be a number of seconds{_found(text)}")
    return min(max(value, least), most)


def _found(text: str) -> str:
    if len(text) > _MOST_DIGITS and text.isascii() and text.isdigit():
        return f" of at most {_MOST_DIGITS} digits, found {len(text):,}"
    return f", found {text[:60]!r}"


class _Count(Convertor[int]):
    """Type ``count`` of path parameters: a whole number."""

    regex = "[0-9]+"

    def convert(self, value: str) -> int:
        return read_count(value, "the number in the address")

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("count", _Count())


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form. An uploaded file NAME gives two fields: NAME (text) and NAME_name.

    Raises MatchFaultError if a file is not UTF-8 text, and HTTPException if the body is not a form.
    """
    # A charset is refused, since several encodings take quadratic time to decode. Browsers send none.
    kind = request.headers.get("content-type", "").lower()
    if "charset" in kind and not kind.startswith(_URLENCODED):
        raise MatchFaultError("expected a form without a charset, because forms are read as UTF-8")
    fields: dict[str, str] = {}
    async with request.form(max_fields=_MOST_FIELDS, max_part_size=_LONGEST_FIELD) as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields.setdefault(name, value)
            elif value.size:
                fields[name] = _text(await value.read())
                fields[f"{name}_name"] = value.filename or ""
    return fields


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MatchFaultError(f"expected UTF-8 text: byte {error.start} cannot be read") from error
