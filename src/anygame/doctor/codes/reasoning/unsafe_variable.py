"""No positive literal of the body binds a variable."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "unsafe-variable",
    Severity.ERROR,
    "no positive literal of the body binds a variable",
    demand=(
        "Every variable of a head, a negation or a `distinct` stands in a positive literal of the body too."
    ),
    why=(
        "Otherwise the rule speaks of infinitely many terms, and its meaning depends on who reads it. "
        "Systems that go on nevertheless drop such a literal without a word."
    ),
    source=GDL,
    bad="(<= (legal ?r noop) (true waiting))",
    good="(<= (legal ?r noop) (role ?r) (true waiting))",
    mends=("role", "negation", "distinct", "binding", "domain"),
)
