"""The ``explain-code`` command: what a code of a diagnostic means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from anygame.cli.options import Command, Status, argument, command_options
from anygame.doctor import CODES
from anygame.errors import QueryError
from anygame.language.diagnostics import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Iterable


def known_code(text: str) -> str:
    """Return a code as it is spelled.

    Raises:
        QueryError: there is no such code.
    """
    plain = text.strip().lower()
    if plain in CODES:
        return plain
    begun = [code for code in CODES if plain and code.startswith(plain)]
    near = begun[:3] or get_close_matches(plain, CODES, n=3)
    advice = did_you_mean(near, "`anygame explain-code` lists them all")
    raise QueryError(f"there is no code {shown(text)}{advice}")


def known_codes(texts: Iterable[str]) -> frozenset[str]:
    """Return the codes in texts that hold some each, with commas between them; raises as `known_code`."""
    return frozenset(known_code(code) for text in texts for code in text.split(",") if code.strip())


@command_options
class _Options:
    code: str | None = argument("CODE", nargs="?", help="without it, all codes are listed")


def run(options: _Options) -> int:
    """Print what a code means, or all codes."""
    if options.code is None:
        width = max(map(len, CODES))
        for code in sorted(CODES):
            print(f"{code:{width}}  {CODES[code].title}")
        return Status.OK
    print(CODES[known_code(options.code)].text)
    return Status.OK


COMMAND = Command(_Options, run, "It says what the rule is, why GDL has it, and gives examples.\n")
