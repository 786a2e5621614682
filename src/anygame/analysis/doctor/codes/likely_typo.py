"""A name used once that is nearly another one."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.code import PRACTICE, Check, Code
from anygame.language.diagnostics import Severity, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.analysis.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

__all__ = ["CHECK"]

_SHORTEST_TYPO: Final = 4
_COMMON: Final = 3
_NEARNESS: Final = 0.8
_MOST_COMPARED: Final = 400

_CODE: Final = Code(
    "likely-typo",
    Severity.INFO,
    "a name used once that is nearly another one",
    demand="A name that is used once is not nearly one that is used often.",
    why="Nothing tells a misspelt name from a new one but that nobody else knows it.",
    source=PRACTICE,
    bad="(colour yellow)\n(best yellow)\n(warm yellow)\n(bright yelow)",
    good="(colour yellow)\n(best yellow)\n(warm yellow)\n(bright yellow)",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report constants and functions used once, where a name used often is like them."""
    names = [name for name in sheet.names if name.kind in {"constant", "function"}]
    counts = Counter(name.text for name in names)
    common = [
        text for text, count in counts.most_common(_MOST_COMPARED) if count >= _COMMON and _is_word(text)
    ]
    rare = [name for name in names if counts[name.text] == 1 and _is_word(name.text)]
    for name in rare[:_MOST_COMPARED]:
        near = [
            text
            for text in get_close_matches(name.text, common, n=3, cutoff=_NEARNESS)
            if text.lower() != name.text.lower()
        ]
        if near:
            yield _CODE.found(
                f"{shown(name.text)} is used nowhere else, but {shown(near[0])} is, {counts[near[0]]} times",
                name.span,
                hint=shown(near[0]),
            )


def _is_word(text: str) -> bool:
    return len(text) >= _SHORTEST_TYPO and not any(map(str.isdigit, text))


CHECK: Final = Check((_CODE,), _check, needs_all=False)
