"""Codes of diagnostics as people type them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from anygame.doctor import CODES
from anygame.errors import QueryError
from anygame.language.diagnostics import shown

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
    advice = f"did you mean {' or '.join(near)}?" if near else "`anygame explain-code` lists them all"
    raise QueryError(f"there is no code {shown(text)}; {advice}")


def known_codes(texts: Iterable[str]) -> frozenset[str]:
    """Return the codes in texts that hold some each, with commas between them; raises as `known_code`."""
    return frozenset(known_code(code) for text in texts for code in text.split(",") if code.strip())
