"""No base or no input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "no-declarations",
    Severity.INFO,
    "no base or no input",
    demand="The sheet declares with `base` what can be true, and with `input` what can be done.",
    why="Both can be worked out here. Systems that turn rules into networks cannot do without.",
    source=VALIDATOR,
    bad="(init (lamp on))",
    good="(base (lamp on))\n(base (lamp off))\n(input white switch)\n(init (lamp on))",
    mends=("base", "input"),
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a sheet that leaves out `base` or `input`."""
    missing = [
        word for word, key in (("base", ("base", 1)), ("input", ("input", 2))) if key not in sheet.heads
    ]
    if missing and sheet.program.rules:
        yield _CODE.found(
            f"the sheet does not declare {' and '.join(missing)}: systems that build networks need it",
            sheet.start,
            hint="(base (control white)), (input white noop): what can be true, what can be done",
        )


CHECK: Final = Check(
    (_CODE,),
    _check,
)
