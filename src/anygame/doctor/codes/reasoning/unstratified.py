"""Rules depend on each other through a negation."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import STRATA, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "unstratified",
    Severity.ERROR,
    "rules depend on each other through a negation",
    demand="No rule depends on its own negation.",
    why=(
        "(<= p (not q)) with (<= q (not p)) has two meanings, (<= p (not p)) none. GDL asks that "
        "relations can be computed in layers, negations looking down only. Here single rules count, not "
        "names."
    ),
    source=STRATA,
    bad="(<= p (not q))\n(<= q (not p))",
    good="(<= p (not q))\n(<= q (true r))",
)
