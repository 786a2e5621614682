"""Diagnostics for a terminal, with colours for severity, place and mark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.boards import Piece
from anygame.language.diagnostics import format_diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.boards import Line
    from anygame.language.diagnostics import Diagnostic

_STYLES: Final = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_HEAD: Final = re.compile(r"((?:\S+:\d+:\d+: )?)(error|warning|info)(\[[a-z-]+\])(: .*)", re.DOTALL)
_MARK: Final = re.compile(r"( +\| )( *\^~*)")
_REMARK: Final = re.compile(r"((?:\S+:\d+:\d+: )?)(note|  try)(: .*)", re.DOTALL)


def diagnostic_lines(diagnostic: Diagnostic) -> list[Line]:
    """Return the lines of `format_diagnostic`, with styles."""
    return [list(_pieces(line)) for line in format_diagnostic(diagnostic).split("\n")]


def _pieces(line: str) -> Iterator[Piece]:
    if match := _HEAD.fullmatch(line):
        place, severity, code, message = match.groups()
        style = _STYLES[severity]
        yield from (Piece(place, "bold"), Piece(severity, style), Piece(code, style), Piece(message, "bold"))
    elif match := _MARK.fullmatch(line):
        yield from (Piece(match[1]), Piece(match[2], "bold green"))
    elif match := _REMARK.fullmatch(line):
        yield from (Piece(match[1]), Piece(match[2], "bold cyan" if match[2] == "note" else "green"))
        yield Piece(match[3])
    else:
        yield Piece(line)
