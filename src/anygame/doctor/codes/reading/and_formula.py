"""`and` is KIF but not GDL."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "and-formula",
    Severity.WARNING,
    "`and` is KIF but not GDL",
    demand="A body is a list of formulas, all of which must hold; there is no `and`.",
    why=(
        "Systems that know none take `and` for a relation that nobody defines, and it is false. Here it "
        "is read as what it says."
    ),
    source=GDL,
    bad="(<= terminal (and (true over) (true done)))",
    good="(<= terminal (true over) (true done))",
)
