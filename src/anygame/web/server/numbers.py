"""Numbers that strangers send, in addresses and forms: read here alone, and strictly.

`int` and `float` read more than is meant: digits of all scripts but not each, underscores, ``nan``; and they
refuse with errors of their own what is too long.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Final

from starlette.convertors import Convertor, register_url_convertor

from anygame.web.server.processes import MatchFaultError

#: Digits of a whole number: versions are milliseconds since 1970 and have 13.
_MOST_DIGITS: Final = 15
_COUNT: Final = re.compile(rf"[0-9]{{1,{_MOST_DIGITS}}}")
#: A decimal number as a form of a browser sends it.
_DECIMAL: Final = re.compile(r"-?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")


def read_count(text: str, what: str) -> int:
    """Return a whole number, 0 or more.

    Args:
        text: as it was sent.
        what: it is, for people.

    Raises:
        MatchFaultError: it is none, or has more digits than any number here.

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
    """Return a time in seconds: what was asked for, or the nearest of the bounds.

    Args:
        text: as it was sent.
        what: it is, for people.
        least: seconds.
        most: seconds.

    Raises:
        MatchFaultError: it is no number.

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
    """Reads ``{name:count}`` in an address. What is no row of digits is no such address."""

    regex = "[0-9]+"

    def convert(self, value: str) -> int:
        return read_count(value, "the number in the address")

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("count", _Count())
