"""A name with characters beyond A-Z a-z 0-9 _ + -."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.language.diagnostics import Severity, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_ORDINARY: Final = re.compile(r"[A-Za-z0-9_+-]+")

_CODE: Final = Code(
    "unusual-character",
    Severity.INFO,
    "a name with characters beyond A-Z a-z 0-9 _ + -",
    demand="Names are made of letters, digits, _ + and -.",
    why="Players exchange moves as plain text, and not all read other characters.",
    source=VALIDATOR,
    bad="(init (caf\N{LATIN SMALL LETTER E WITH ACUTE} open))",
    good="(init (cafe open))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each unusual name once."""
    reported = set()
    for name in sheet.names:
        if not _ORDINARY.fullmatch(name.text) and name.text not in reported:
            reported.add(name.text)
            odd = sorted(set(_ORDINARY.sub("", name.text)))
            yield _CODE.found(
                f"the name {shown(name.text)} has {shown(' '.join(odd))} in it; others may not read it",
                name.span,
                hint="letters, digits, _ and - only",
            )


CHECK: Final = Check((_CODE,), _check, needs_all=False)
